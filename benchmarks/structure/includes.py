"""Which files of the core include a header, directly or through others."""

from __future__ import annotations

import re
from collections import Counter

from benchmarks.structure.state import CPP, State, is_in

__all__ = ["reach"]

_INCLUDE = re.compile(rb'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def reach(state: State, folder: str = "core") -> tuple[Counter[str], int]:
    """By header, from how many .cpp files of a folder it is reached; and how many there are.

    Paths are from ``folder``, as in ``#include``.
    """
    includes = {
        path.removeprefix(f"{folder}/"): [one.decode() for one in _INCLUDE.findall(source)]
        for path, source in state.items()
        if is_in(path, folder) and path.endswith(CPP)
    }
    found: Counter[str] = Counter()
    files = [path for path in includes if path.endswith(".cpp")]
    for path in files:
        reached: set[str] = set()
        open_ones = [path]
        while open_ones:
            new = [one for one in includes.get(open_ones.pop(), ()) if one not in reached]
            reached.update(new)
            open_ones += new
        found.update(reached)
    return found, len(files)
