"""What the tests of the patterns share: a JavaScript engine, where there is one."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from javascript import JavaScript


@pytest.fixture(scope="module")
def javascript() -> Iterator[JavaScript]:
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node on this machine, the judge of what JavaScript accepts")
    judge = JavaScript(node)
    yield judge
    judge.close()
