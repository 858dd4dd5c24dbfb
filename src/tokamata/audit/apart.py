"""An object in a process of its own, which may crash or hang without ending this one.

    engine = Apart(make_engine, vocabulary, ready_seconds=300)
    engine.call("compile", 10.0, schema)      # raises Hung or Crashed; the next call starts a new process

The process is spawned, not forked: a fork would copy the threads' locks of every library that is loaded here.
What the object prints goes to a file, of which a crash shows the end.

Time limits are of the processor time of that process, where the system reports it (``/proc``): on a busy
machine an engine is not said to hang because it waits for its turn.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType
from typing import IO, Any

__all__ = ["Apart", "Broken", "Crashed", "Hung", "Raised"]

_LAST_WORDS_BYTES = 300  # of what a process wrote before it ended
_LONGEST_WAIT = 10  # times its seconds, for a process that waits for the processor


class Broken(Exception):
    """A call without a result; the message says why, in one line."""


class Hung(Broken):
    """There was no answer in time; the process was ended."""


class Crashed(Broken):
    """The process has ended by itself."""


class Raised(Broken):
    """The object raised an exception that it should not raise; the process goes on."""


class Apart:
    """Calls methods of ``make(*arguments)``, which lives in another process.

    Args:
        make: what makes the object; pickled by its name.
        arguments: pickled.
        ready_seconds: within which the object must be made.
        memory_bytes: what the process may map; ``None`` for no bound.  Without effect on Windows.
    """

    def __init__(
        self,
        make: Callable[..., Any],
        *arguments: Any,
        ready_seconds: float = 300.0,
        memory_bytes: int | None = 16 << 30,
    ) -> None:
        self._make, self._arguments = make, arguments
        self._ready_seconds, self._memory_bytes = ready_seconds, memory_bytes
        self._process: multiprocessing.process.BaseProcess | None = None
        self._pipe: Connection | None = None
        self._output: IO[bytes] | None = None

    @property
    def is_running(self) -> bool:
        """Whether the process has what earlier calls left in it."""
        return self._process is not None

    def start(self) -> None:
        """Start the process, if it does not run.

        Raises:
            Broken: the object could not be made.
        """
        if self._process is not None:
            return
        context = multiprocessing.get_context("spawn")
        self._pipe, inner = context.Pipe()
        self._output = tempfile.NamedTemporaryFile(prefix="tokamata-audit-")  # noqa: SIM115  # see close()
        arguments = (inner, self._output.name, self._memory_bytes, self._make, self._arguments)
        self._process = context.Process(target=_serve, args=arguments, daemon=True)
        self._process.start()
        inner.close()
        try:
            self._receive(self._ready_seconds)
        except Broken:
            self.close()
            raise

    def call(self, method: str, seconds: float, *arguments: Any) -> Any:
        """The result of a method, whose arguments and result are pickled.

        Raises:
            Hung, Crashed: there is none; the next call has a new process and a new object.
            Raised: the object raised an exception.
        """
        self.start()
        assert self._pipe is not None
        try:
            self._pipe.send((method, arguments))
        except OSError:
            raise self._crashed() from None
        return self._receive(seconds)

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None
        if self._pipe is not None:
            self._pipe.close()
        if self._output is not None:
            with contextlib.suppress(OSError):  # Windows keeps a file that another process has just held
                self._output.close()
        self._pipe = self._output = None

    def __enter__(self) -> Apart:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _receive(self, seconds: float) -> Any:
        assert self._pipe is not None
        try:
            if not self._is_answered(seconds):
                self.close()
                raise Hung(f"no answer within {seconds:.3g} s")
            is_result, value = self._pipe.recv()
        except (EOFError, OSError):
            raise self._crashed() from None
        except KeyboardInterrupt:
            self.close()  # an answer that comes later would be taken for that of the next call
            raise
        if not is_result:
            raise Raised(value)
        return value

    def _is_answered(self, seconds: float) -> bool:
        """Whether an answer comes while the process works for so long, or waits for ten times as long."""
        assert self._pipe is not None
        assert self._process is not None
        begun, used = time.monotonic(), _processor_seconds(self._process.pid)
        while not self._pipe.poll(min(0.2, seconds)):
            passed = time.monotonic() - begun
            now = _processor_seconds(self._process.pid)
            if used is not None and now is not None and passed < _LONGEST_WAIT * seconds:
                passed = now - used
            if passed >= seconds:
                return False
        return True

    def _crashed(self) -> Crashed:
        assert self._process is not None
        assert self._output is not None
        self._process.join(5.0)
        code = self._process.exitcode
        if code is not None and code < 0:
            reason = f"the process was ended by {_signal_name(-code)}"
        else:
            reason = f"the process ended with exit status {code}"
        self._output.seek(0, os.SEEK_END)
        self._output.seek(max(0, self._output.tell() - _LAST_WORDS_BYTES))
        words = " ".join(self._output.read().decode(errors="replace").split())
        self.close()
        return Crashed(reason + (f": {words}" if words else ""))


def _processor_seconds(process: int | None) -> float | None:
    """How long a process has worked; ``None`` where the system does not say."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / float(os.sysconf("SC_CLK_TCK"))
    except (OSError, ValueError, IndexError, AttributeError):
        return None


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _serve(
    pipe: Connection, output: str, memory_bytes: int | None, make: Callable[..., Any], arguments: Any
) -> None:
    """The other process: makes the object, then answers calls until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes of a terminal
    threading.Thread(target=_end_with_parent, daemon=True).start()
    descriptor = os.open(output, os.O_WRONLY | os.O_APPEND)
    for standard in (1, 2):
        os.dup2(descriptor, standard)
    _bound_memory(memory_bytes)
    made = _answer(pipe, make, arguments)
    with contextlib.suppress(EOFError, OSError):
        while True:
            method, given = pipe.recv()
            _answer(pipe, getattr(made, method), given, is_sent=True)


def _end_with_parent() -> None:
    """However the process that waits for answers has ended: work without end would go on for ever."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    multiprocessing.connection.wait([parent.sentinel])
    os._exit(1)


def _answer(pipe: Connection, function: Callable[..., Any], given: Any, is_sent: bool = False) -> Any:
    """Call, and send the result; of the object itself only that it is made."""
    try:
        result = function(*given)
    except BaseException as error:  # panics of Rust are no Exception
        words = " ".join(str(error).split())[:_LAST_WORDS_BYTES]
        pipe.send((False, f"{type(error).__name__}: {words}" if words else type(error).__name__))
        if not is_sent:
            sys.exit(1)
        return None
    pipe.send((True, result if is_sent else None))
    return result


def _bound_memory(memory_bytes: int | None) -> None:
    if memory_bytes is None or sys.platform == "win32":
        return
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
