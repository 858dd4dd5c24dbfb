"""The folders of core/ are rooms: each includes only those below it, and only one knows of JSON."""

import re
from pathlib import Path

import pytest

from tests.support.paths import ROOT

CORE = ROOT / "core"
# What each folder may include, besides itself.  DESIGN.md draws it.
BELOW = {
    "common": set(),
    "expression": {"common"},
    "programs": {"common", "expression"},
    "json": {"common", "expression"},
    "vocabulary": {"common"},
    "composition": {"common", "expression", "vocabulary"},
    "canonical": {"common", "expression", "vocabulary", "composition"},
    "repair": {"common", "expression", "programs", "vocabulary", "composition", "canonical"},
    "following": {"common", "expression", "vocabulary", "composition", "canonical"},
    "matching": {"common", "expression", "vocabulary", "composition", "following"},
}
BELOW["bindings"] = {*BELOW}
KNOW_JSON = {"json", "bindings"}
WORDS_OF_JSON = re.compile(r"json|schema|quot(e|ing)|bracket|backslash|propert(y|ies)", re.IGNORECASE)
PUNCTUATION_OF_JSON = re.compile(r"""'(?:"|\\\\|[\[\]{}])'""")  # character literals
COMMENT = re.compile(r"//[^\n]*")


def sources(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.suffix in {".hpp", ".cpp"})


def includes(path: Path) -> list[str]:
    return re.findall(r'^#include "([^"]+)"', path.read_text(encoding="utf-8"), re.MULTILINE)


def test_every_folder_is_named() -> None:
    assert {path.name for path in CORE.iterdir() if path.is_dir()} == set(BELOW)


def test_no_folder_is_below_itself() -> None:
    placed: set[str] = set()
    for folder, below in BELOW.items():  # in an order in which each comes after those below it
        assert below <= placed, folder
        placed.add(folder)


@pytest.mark.parametrize("folder", BELOW)
def test_includes_point_down(folder: str) -> None:
    for path in sources(CORE / folder):
        for name in includes(path):
            assert (CORE / name).is_file(), f"{path}: {name}"
            assert name.split("/")[0] in BELOW[folder] | {folder}, f"{path}: {name}"


@pytest.mark.parametrize("folder", sorted(set(BELOW) - KNOW_JSON))
def test_only_one_folder_knows_of_json(folder: str) -> None:
    for path in sources(CORE / folder):
        assert not WORDS_OF_JSON.search(path.name), path
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            code = COMMENT.sub("", line)  # examples in comments may be of JSON
            assert not WORDS_OF_JSON.search(code), f"{path}:{number}: {line}"
            assert not PUNCTUATION_OF_JSON.search(code), f"{path}:{number}: {line}"
