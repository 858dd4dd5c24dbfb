"""What an sdist and a wheel hold, and that the wheel works where nothing else is installed."""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

import tokamata as tk
from tools.make_wheel import (
    ROOT,
    WHEEL_OPTIONS,
    faults_of_core,
    faults_of_sdist,
    faults_of_wheel,
    make_sdist,
)

pytestmark = pytest.mark.slow  # a wheel is made


def test_wheel_works_without_a_compiler_and_without_extras(base_python: Path) -> None:
    result = subprocess.run(
        [base_python, "-I", ROOT / "tools/try_wheel.py"],
        env={"PATH": str(base_python.parent), "CC": "false", "CXX": "false", "TOKAMATA_CACHE": ""},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stdout + result.stderr
    assert "works with Python" in result.stdout


def test_wheel_holds_what_is_used_and_nothing_else(wheel: Path) -> None:
    assert faults_of_wheel(wheel) == []


def changed(wheel: Path, folder: Path, without: str = "", **added: str) -> Path:
    """The wheel less the files that end in ``without``, and with others; double underscores are slashes."""
    copy = folder / wheel.name
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(copy, "w") as new:
        for name in old.namelist():
            if not (without and name.endswith(without)):
                new.writestr(name, old.read(name))
        for name, text in added.items():
            new.writestr(name.replace("__", "/"), text)
    return copy


@pytest.mark.parametrize(
    "lost", ["py.typed", "_core.pyi", "unicode.bin", "idna.bin", "nanobind.txt", "entry_points.txt"]
)
def test_lost_files_are_found(wheel: Path, tmp_path: Path, lost: str) -> None:
    (fault,) = faults_of_wheel(changed(wheel, tmp_path, without=lost))
    assert fault.startswith("lacks ")
    assert fault.endswith(lost)


@pytest.mark.parametrize("name", ["core__arena.cpp", "tests__test_masks.py", "tokamata__notes.txt"])
def test_other_files_are_found(wheel: Path, tmp_path: Path, name: str) -> None:
    assert faults_of_wheel(changed(wheel, tmp_path, **{name: ""})) == [f"holds {name.replace('__', '/')}"]


def test_metadata_is_checked(wheel: Path, tmp_path: Path) -> None:
    lines = ["numpy>=1.24", "platformdirs>=4", "referencing", 'torch==2.13.0; extra == "transformers"']
    text = "\n".join(f"Requires-Dist: {line}" for line in lines)
    info = f"tokamata-{tk.__version__}.dist-info"
    bad = changed(wheel, tmp_path, without="METADATA", **{f"{info}__METADATA": text})
    pinned, base = faults_of_wheel(bad)
    assert pinned == 'pins a version: torch==2.13.0; extra == "transformers"'
    assert base == "needs ['numpy', 'platformdirs', 'referencing'] at run time, not ['numpy', 'platformdirs']"


def test_metadata_name_pythons_licences_and_extras(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith("METADATA"))
        metadata = Parser().parsestr(archive.read(name).decode())
    assert metadata["Version"] == tk.__version__
    classifiers = metadata.get_all("Classifier", [])
    assert {f"Programming Language :: Python :: 3.{minor}" for minor in range(10, 15)} <= set(classifiers)
    assert metadata["Requires-Python"] == ">=3.10"
    assert metadata["License-Expression"] == "Apache-2.0 AND BSD-3-Clause AND MIT AND Unicode-3.0"
    assert len(metadata.get_all("License-File", [])) == 4
    documented = (ROOT / "docs/installing.md").read_text()
    for extra in metadata.get_all("Provides-Extra", []):
        assert f"| `{extra}` |" in documented


def test_sdist_holds_what_a_wheel_is_made_from(wheel: Path, tmp_path: Path) -> None:
    del wheel  # it needs scikit-build-core, as an sdist does
    pytest.importorskip("build", reason="build is not installed")
    sdist = make_sdist(tmp_path)
    assert faults_of_sdist(sdist) == []
    assert sdist.stat().st_size < 2_050_000
    copy = tmp_path / "copy.tar.gz"
    with tarfile.open(sdist) as old, tarfile.open(copy, "w:gz") as new:
        for member in old.getmembers():
            data = (old.extractfile(member) or io.BytesIO()).read()
            if member.name.endswith("core/common/ids.hpp"):
                data = data.replace(b"\n", b" \n", 1)
                member.size = len(data)
            new.addfile(member, io.BytesIO(data))
    assert faults_of_sdist(copy) == ["holds another core/common/ids.hpp"]


def test_a_compiled_core_has_the_options_of_a_wheel_and_is_newer_than_its_sources(tmp_path: Path) -> None:
    pytest.importorskip("ninja", reason="ninja is not installed")
    library, source, cache = (tmp_path / name for name in ("libcore.a", "core.cpp", "CMakeCache.txt"))
    rule = "rule copy\n  command = cp $in $out\nbuild libcore.a: copy core.cpp\n"
    (tmp_path / "build.ninja").write_text(rule)
    source.write_text("one")
    cache.write_text("\n".join(["", *WHEEL_OPTIONS, ""]))
    (fault,) = faults_of_core(library)
    assert fault.startswith("older than its sources")
    subprocess.run([Path(sys.executable).with_name("ninja"), "-C", tmp_path], check=True, capture_output=True)
    assert faults_of_core(library) == []
    cache.write_text(cache.read_text().replace("CHECKS:BOOL=OFF", "CHECKS:BOOL=ON"))
    assert faults_of_core(library) == ["compiled without TOKAMATA_CHECKS:BOOL=OFF"]


def test_what_the_makefile_builds_with_is_what_is_declared() -> None:
    tomllib = pytest.importorskip("tomllib", reason="tomllib comes with Python 3.11")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert set(project["build-system"]["requires"]) <= set(project["dependency-groups"]["build"])
