"""docs/internals.md says where things are: each place that it names is there."""

import re

import pytest

from tests.support.paths import ROOT

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
