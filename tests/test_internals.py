"""docs/internals.md and docs/rooms.md say where things are: each place that they name is there."""

import re

import pytest

from tests.support.paths import ROOT
from tools.make_rooms import ROOMS, rooms

PLACE = re.compile(r"`([a-z_]+/[a-z_0-9/]*[a-z_0-9](?:\.[a-z]+)?)/?`")
PLACES = sorted(set(PLACE.findall((ROOT / "docs" / "internals.md").read_text(encoding="utf-8"))))


def test_there_are_places() -> None:
    assert len(PLACES) > 50


@pytest.mark.parametrize("place", PLACES)
def test_each_place_is_there(place: str) -> None:
    folders = (ROOT, ROOT / "core", ROOT / "src" / "tokamata")
    assert any(
        (folder / place).exists() or any((folder / place).parent.glob(f"{(folder / place).name}.[chp]*"))
        for folder in folders
    )


def test_the_map_is_up_to_date() -> None:
    assert ROOMS.read_text(encoding="utf-8") == rooms(), "python -m tools.make_rooms"


def test_each_file_says_what_it_is() -> None:
    text = rooms()
    files = [*(ROOT / "core").rglob("*.hpp"), *(ROOT / "src").rglob("*.py")]
    assert len(files) > 500
    assert [file for file in files if f"- `{file.stem}`: " not in text] == []
