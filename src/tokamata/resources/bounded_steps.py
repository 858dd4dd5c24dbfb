"""Steps of work in Python, which the limits of a call bound wherever it works.

A loop that nothing can be given to, such as one of lark, or one that runs too often to be given anything,
makes steps; what it does in a thread counts for the call that entered :func:`bounded` there.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tokamata.errors import LimitExceeded
from tokamata.resources.limits import Watch

__all__ = ["BYTES_OF_ITEM", "bounded", "step"]

BYTES_OF_ITEM = 100  # of trees, symbols and names
_STEPS_OF_A_CHECK = 64  # between two readings of the clock


class _Use(threading.local):
    """What the call that runs in this thread has used."""

    watch: Watch | None = None
    steps = 0
    items = 0


_use = _Use()


@contextmanager
def bounded(watch: Watch) -> Iterator[None]:
    """Bounds what lark does in this thread."""
    before = (_use.watch, _use.steps, _use.items)
    _use.watch, _use.steps, _use.items = watch, 0, 0
    try:
        watch.check()
        yield
    finally:
        _use.watch, _use.steps, _use.items = before


def step(items: int = 0) -> None:
    """One step of a loop, that makes some items of about 100 bytes.

    Raises:
        LimitExceeded, Cancelled: the call has used too much.
    """
    watch = _use.watch
    if watch is None:
        return
    _use.steps += 1
    _use.items += items
    if _use.steps % _STEPS_OF_A_CHECK == 0 or items > _STEPS_OF_A_CHECK:
        watch.check()
        if _use.items * BYTES_OF_ITEM > watch.limits.memory_bytes:
            raise LimitExceeded("memory_bytes", watch.limits.memory_bytes)
