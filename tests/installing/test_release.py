"""What the release workflow builds, as far as that can be known without its machines."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
import yaml

import tokamata as tk
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


@pytest.mark.parametrize(
    ("tag", "is_right"), [("v{}", True), ("v{}1", False), ("v0.0.1", False), ("{}", True)]
)
def test_the_tag_is_the_version(tag: str, is_right: bool) -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())
    [step] = [
        step for step in workflow["jobs"]["sdist"]["steps"] if step.get("name") == "the tag is the version"
    ]
    env = {**os.environ, "GITHUB_REF_NAME": tag.format(tk.__version__)}
    result = subprocess.run(["bash", "-ec", step["run"]], cwd=ROOT, env=env, capture_output=True, check=False)
    assert (result.returncode == 0) is is_right


def test_release_has_a_machine_for_each_system() -> None:
    workflow = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())
    entries = workflow["jobs"]["wheels"]["strategy"]["matrix"]["include"]
    assert [entry["system"] for entry in entries] == [
        "linux-x86-64", "linux-arm64", "macos-x86-64", "macos-arm64", "windows-x86-64",
    ]  # fmt: skip
    assert set(workflow["jobs"]["publish"]["needs"]) == {"wheels", "sdist"}
