"""What the tests of the patterns share: a JavaScript engine, where there is one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from javascript import JavaScript, running


@pytest.fixture(scope="module")
def javascript() -> Iterator[JavaScript]:
    yield from running()
