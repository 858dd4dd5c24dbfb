"""What the tests of values share with those of patterns: a JavaScript engine, where there is one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "patterns"))

from javascript import JavaScript, running


@pytest.fixture(scope="module")
def javascript() -> Iterator[JavaScript]:
    yield from running()
