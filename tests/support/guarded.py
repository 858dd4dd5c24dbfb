"""A function in a process of its own, which may hang or crash and is then started again.

The process is forked, so that what is loaded before (a vocabulary, a tokenizer) costs nothing again.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import resource
import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any


class Died(Exception):
    """The process hung or crashed; the message says which."""


class Guarded:
    """Calls ``work(argument)`` in the process; what it takes and returns is pickled.

    Args:
        work: the function.
        timeout_s: after which a call has hung.
        memory_bytes: what the process may map besides what it shares with this one; beyond that, memory runs
            out in it.
    """

    def __init__(self, work: Callable[[Any], Any], timeout_s: float, memory_bytes: int = 12 << 30) -> None:
        self._work, self._timeout_s, self._memory_bytes = work, timeout_s, memory_bytes
        self._context = multiprocessing.get_context("fork")
        self._process: multiprocessing.process.BaseProcess | None = None

    def __call__(self, argument: Any) -> Any:
        """The result.

        Raises:
            Died: there is none; the next call has a new process.
        """
        if self._process is None:
            self._pipe, inner = self._context.Pipe()
            self._process = self._context.Process(target=self._serve, args=(inner,), daemon=True)
            self._process.start()
            inner.close()
        self._pipe.send(argument)
        if not self._pipe.poll(self._timeout_s):
            self.close()
            raise Died(f"hung: no answer within {self._timeout_s:g} s")
        try:
            return self._pipe.recv()
        except (EOFError, ConnectionResetError):
            self._process.join()
            status = self._process.exitcode or 0
            self.close()
            name = signal.Signals(-status).name if status < 0 else f"exit status {status}"
            raise Died(f"crashed: {name}") from None

    def close(self) -> None:
        """Ends the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._pipe.close()
            self._process = None

    def __enter__(self) -> Guarded:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _serve(self, pipe: Connection) -> None:
        limit = _mapped_bytes() + self._memory_bytes
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        with contextlib.suppress(EOFError, KeyboardInterrupt):
            while True:
                pipe.send(self._work(pipe.recv()))


def _mapped_bytes() -> int:
    """The address space of this process; 0 where the machine does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except OSError:
        return 0
    return pages * resource.getpagesize()
