"""What the release workflow builds, as far as that can be known without its machines."""

from __future__ import annotations

import subprocess
import sys

import pytest
import yaml

from tools.make_wheel import ROOT

PYTHONS = ("cp310", "cp311", "cp312", "cp313", "cp314")


@pytest.mark.parametrize(
    ("platform", "machine", "system"),
    [
        ("linux", "x86_64", "manylinux_x86_64"),
        ("linux", "aarch64", "manylinux_aarch64"),
        ("macos", "x86_64", "macosx_x86_64"),
        ("macos", "arm64", "macosx_arm64"),
        ("windows", "AMD64", "win_amd64"),
    ],
)
def test_one_wheel_for_each_python_and_system(platform: str, machine: str, system: str) -> None:
    pytest.importorskip("cibuildwheel", reason="cibuildwheel is not installed")
    options = ("--print-build-identifiers", "--platform", platform, "--archs", machine)
    command = [sys.executable, "-m", "cibuildwheel", *options, str(ROOT)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == [f"{python}-{system}" for python in PYTHONS]


def test_release_has_a_machine_for_each_system() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())
    entries = workflow["jobs"]["wheels"]["strategy"]["matrix"]["include"]
    assert [entry["system"] for entry in entries] == [
        "linux-x86-64", "linux-arm64", "macos-x86-64", "macos-arm64", "windows-x86-64",
    ]  # fmt: skip
    assert set(workflow["jobs"]["publish"]["needs"]) == {"wheels", "sdist"}
