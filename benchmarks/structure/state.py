"""A state of the sources: the working tree, or a revision."""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

__all__ = ["CPP", "ROOT", "State", "formatted", "is_in", "of_revision", "of_working_tree"]

ROOT = Path(__file__).parents[2]
CPP = (".cpp", ".hpp")
_SUFFIXES = (*CPP, ".py", ".pyi")

State = dict[str, bytes]
"""The files of C++ and Python by their path from the root."""


def is_in(path: str, folder: str) -> bool:
    """Whether a path is within a folder, at any depth."""
    return path.startswith(f"{folder}/")


def of_working_tree() -> State:
    """What git follows or would follow, as it is on disk."""
    listed = _git("ls-files", "--cached", "--others", "--exclude-standard", "-z").decode().split("\0")
    files = {name: ROOT / name for name in listed if name.endswith(_SUFFIXES)}
    return {name: path.read_bytes() for name, path in sorted(files.items()) if path.is_file()}


def of_revision(revision: str) -> State:
    """The files of a commit.

    Raises:
        OSError: git does not know it.
    """
    with tarfile.open(fileobj=io.BytesIO(_git("archive", revision))) as archive:
        members = sorted((one for one in archive if one.isfile()), key=lambda one: one.name)
        read = {one.name: archive.extractfile(one) for one in members if one.name.endswith(_SUFFIXES)}
        return {name: content.read() for name, content in read.items() if content is not None}


def formatted(state: State) -> State:
    """The state with its C++ as clang-format writes it, by the configuration of the working tree."""
    beside = Path(sys.executable).with_name("clang-format")
    program = str(beside) if beside.is_file() else shutil.which("clang-format")
    if program is None:
        raise OSError("clang-format is not installed; pip install --group test")
    with TemporaryDirectory(prefix="tokamata-structure-") as name:
        folder = Path(name)
        shutil.copy(ROOT / ".clang-format", folder)
        paths = {path: folder / path for path in state if path.endswith(CPP)}
        for path, copy in paths.items():
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(state[path])
        subprocess.run([program, "-i", *paths.values()], cwd=folder, check=True)
        return state | {path: copy.read_bytes() for path, copy in paths.items()}


def _git(*command: str) -> bytes:
    ran = subprocess.run(["git", "-C", str(ROOT), *command], capture_output=True, check=False)
    if ran.returncode != 0:
        raise OSError(ran.stderr.decode(errors="replace").strip())
    return ran.stdout
