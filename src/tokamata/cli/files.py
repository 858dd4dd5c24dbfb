"""The files that ``tokamata repair`` reads, and where it writes.

A folder that somebody else has made may contain links.  A link that leads out of it is never read, nor
written through: neither in the folder that is repaired, nor in the one that the texts go to.
"""

from __future__ import annotations

import codecs
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tokamata.cli.constraints import OptionError

__all__ = ["Source", "Sources", "destinations", "read", "sources_of", "write"]

_STANDARD_INPUT = Path("-")
_LINES = (".jsonl", ".ndjson")
_JSON = (".json", *_LINES)
_SHOWN = 200  # characters of a path in messages


@dataclass(frozen=True)
class Source:
    """One file, or standard input.

    Attributes:
        path: the file; ``None`` for standard input.
        within: its path below the folder that was named, or its name; what it is called below ``--output``.
        has_lines: whether each line is a text; otherwise the whole is one.
    """

    path: Path | None
    within: Path
    has_lines: bool

    @property
    def name(self) -> str:
        """The source, for people."""
        return "standard input" if self.path is None else str(self.path)


class Sources(NamedTuple):
    """What the inputs name.

    Attributes:
        found: the sources, in the order of the inputs; those of a folder by their paths.
        left_out: links in folders that lead out of them.
    """

    found: list[Source]
    left_out: list[Path]


def sources_of(inputs: Sequence[Path], has_lines: bool, is_json: bool) -> Sources:
    """All sources of the inputs.

    Args:
        inputs: files, folders, and ``-`` for standard input, which is also meant where there are none.
        has_lines: each line of every source is a text; otherwise only in files that are named so.
        is_json: of a folder, only files with the names of JSON are taken; otherwise all.

    Raises:
        OptionError: an input does not exist, a folder has no such file, or standard input is named twice.
    """
    found: list[Source] = []
    left_out: list[Path] = []
    for given in inputs or [_STANDARD_INPUT]:
        if given == _STANDARD_INPUT:
            if any(source.path is None for source in found):
                raise OptionError("standard input can be read once; give - once")
            found.append(Source(None, Path("standard_input"), has_lines))
        elif given.is_dir():
            within, outside = _files_of(given, is_json)
            left_out += outside
            found += [Source(given / path, path, has_lines or path.suffix in _LINES) for path in within]
        elif given.exists():
            found.append(Source(given, Path(given.name), has_lines or given.suffix in _LINES))
        else:
            raise OptionError(f"there is no file or folder {str(given)!r:.{_SHOWN}}")
    return Sources(found, left_out)


def _files_of(folder: Path, is_json: bool) -> tuple[list[Path], list[Path]]:
    """The files below a folder that are not hidden, as paths from there, and the links that lead out of it.

    A link to a file that is found anyhow is not listed again.
    """
    found: list[Path] = []
    for place, folders, names in os.walk(folder):
        folders[:] = (name for name in folders if not name.startswith("."))
        paths = (Path(place, name) for name in names if not name.startswith("."))
        found += [path for path in paths if path.is_file() and (not is_json or path.suffix in _JSON)]
    left_out = sorted(path for path in found if not _is_within(path, folder))
    outside = set(left_out)
    files = {path.resolve() for path in found if not path.is_symlink()}
    kept = [
        path for path in found if path not in outside and not (path.is_symlink() and path.resolve() in files)
    ]
    if not kept:
        what = f"no file that ends in {', '.join(_JSON)}" if is_json else "no file"
        links = ", but links that lead out of it" if left_out else ""
        raise OptionError(f"the folder {str(folder)!r:.{_SHOWN}} has {what}{links}; name the files to repair")
    return sorted(path.relative_to(folder) for path in kept), left_out


def _is_within(path: Path, folder: Path) -> bool:
    """Whether a path leads into a folder once its links are followed."""
    return path.resolve().is_relative_to(folder.resolve())


def destinations(
    sources: Sequence[Source], inputs: Sequence[Path], in_place: bool, output: Path | None
) -> list[Path] | None:
    """Where each source is written; ``None``: to standard output.

    One file goes to the file ``output``, or into the folder of that name; several, or a folder, go into the
    folder ``output``, under their own names.

    Raises:
        OptionError: the options contradict each other, the folder to write into does not exist, or two files
            would become one.
    """
    if in_place and output is not None:
        raise OptionError("--in-place and --output say both where to write; give one of them")
    if in_place:
        if any(source.path is None for source in sources):
            raise OptionError("--in-place needs files; standard input has no place")
        return [source.path for source in sources if source.path is not None]
    if output is None:
        return None
    is_folder = len(sources) > 1 or any(given.is_dir() for given in inputs) or output.is_dir()
    if is_folder and output.exists() and not output.is_dir():
        raise OptionError(f"several files go into a folder, and --output {str(output)!r:.{_SHOWN}} is a file")
    folder = output if is_folder else output.parent
    if not folder.is_dir():
        raise OptionError(f"the folder {str(folder)!r:.{_SHOWN}} of --output does not exist; make it first")
    targets = [output / source.within for source in sources] if is_folder else [output]
    if is_folder and (outside := next((one for one in targets if not _is_within(one, output)), None)):
        raise OptionError(f"{str(outside)!r:.{_SHOWN}} is a link that leads out of --output; remove it")
    if twice := _doubled(targets):
        raise OptionError(f"two of the files would be written to {str(twice)!r:.{_SHOWN}}; repair one alone")
    return targets


def _doubled(paths: Iterable[Path]) -> Path | None:
    seen: set[Path] = set()
    for path in paths:
        if path in seen:
            return path
        seen.add(path)
    return None


def read(source: Source) -> bytes:
    """What a source contains.

    Raises:
        OptionError: it cannot be read.
    """
    if source.path is None:
        return sys.stdin.buffer.read()
    try:
        data = source.path.read_bytes()
    except OSError as error:
        raise OptionError(f"{source.name!r:.{_SHOWN}} cannot be read: {error.strerror}") from None
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise OptionError(f"{source.name!r:.{_SHOWN}} is UTF-16; save it as UTF-8")
    return data


def write(path: Path, data: bytes) -> None:
    """Write a file, the whole or nothing: what was there stays until all of the new content is.

    Permissions stay as they were, and a link goes on leading to the file.

    Raises:
        OptionError: it cannot be written.
    """
    unfinished: Path | None = None
    try:
        path = path.resolve()
        if path.exists() and not path.is_file():  # a device or a pipe, which must not be replaced by a file
            path.write_bytes(data)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".tokamata-", delete=False) as file:
            unfinished = Path(file.name)
            file.write(data)
        if path.exists():
            shutil.copymode(path, unfinished)
        else:
            unfinished.chmod(0o666 & ~_umask())
        unfinished.replace(path)
    except OSError as error:
        if unfinished is not None:
            unfinished.unlink(missing_ok=True)
        raise OptionError(f"{str(path)!r:.{_SHOWN}} cannot be written: {error.strerror}") from None


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
