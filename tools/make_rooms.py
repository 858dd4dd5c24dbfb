"""The map of the sources, ``docs/rooms.md``: each file with the first sentence of its header.

    python -m tools.make_rooms    # after files were added, moved or given another header

A C++ file is named by its header; a file without one speaks for itself.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

__all__ = ["ROOMS", "rooms"]

_ROOT = Path(__file__).parents[1]
ROOMS = _ROOT / "docs" / "rooms.md"
_HEADER = """# Rooms

Every file of the engine and of the package, with the first sentence of its header. \
[Internals](internals.md) follows a mask through them, [Design](../DESIGN.md) says why they are so. \
Made by `python -m tools.make_rooms`.
"""
_SENTENCE = re.compile(r".+?[.?!…](?= |$)")


def rooms() -> str:
    """The text of the page."""
    text = [_HEADER]
    for top, suffixes in (("core", (".hpp", ".cpp")), ("src", (".py",))):
        folders = {file.parent for file in (_ROOT / top).rglob("*") if file.suffix in suffixes}
        for folder in sorted(folders):
            text += [f"\n## {folder.relative_to(_ROOT).as_posix()}\n", *_entries(folder, suffixes)]
    return "\n".join(text) + "\n"


def _entries(folder: Path, suffixes: tuple[str, ...]) -> list[str]:
    files: dict[str, Path] = {}
    for suffix in suffixes:  # a header before the file that it is the header of
        for file in sorted(folder.glob(f"*{suffix}")):
            files.setdefault(file.stem, file)
    said = {stem: _first_sentence(file) for stem, file in sorted(files.items())}
    return [f"- `{stem}`: {sentence}" for stem, sentence in said.items() if sentence]


def _first_sentence(file: Path) -> str:
    source = file.read_text(encoding="utf-8")
    if file.suffix == ".py":
        said = ast.get_docstring(ast.parse(source)) or ""
    else:
        lines = []
        for line in source.splitlines():
            if not line.startswith("//"):
                break
            lines.append(line[2:].strip())
        said = "\n".join(lines)
    paragraph = " ".join(said.split("\n\n")[0].split())
    paragraph = re.sub(r"``(.+?)``|:\w+:`~?\.*(.+?)`", lambda role: f"`{role[1] or role[2]}`", paragraph)
    sentence = _SENTENCE.match(paragraph)
    return sentence[0] if sentence else paragraph


if __name__ == "__main__":
    ROOMS.write_text(rooms(), encoding="utf-8")
