"""A wheel, made from what is compiled already, and an environment with it and its dependencies alone."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import venv
from importlib import metadata
from pathlib import Path

import pytest

from tests.support.paths import ROOT


def pip(*arguments: str | Path) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *map(str, arguments)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of this checkout.  Nothing is compiled again: the set-up uses the same build folder.

    Processes of pytest-xdist share that folder, so the first makes the wheel, and the others wait for it.
    """
    pytest.importorskip("scikit_build_core", reason="scikit-build-core is not installed")
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = shared / "wheel"
    with (shared / "wheel.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", folder, ROOT)
    (wheel,) = folder.iterdir()
    return wheel


@pytest.fixture(scope="session")
def base_python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with the wheel and its dependencies, which are copied from this one."""
    folder = tmp_path_factory.mktemp("base")
    venv.create(folder, symlinks=sys.platform != "win32")
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    pip("--python", python, "install", "--no-index", "--no-deps", wheel)
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    result = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    for name in ("numpy", "platformdirs"):
        for file in metadata.files(name) or []:
            if ".." not in file.parts:  # a script
                target = Path(result.stdout.strip(), file)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file.locate(), target)
    return python
