"""A program in a process of its own, spoken to in lines of JSON: one that needs other packages, or may die.

While one side works the other waits without using the processor.
"""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import IO, Any

_SHOWN = 800  # bytes of what it has written to stderr


class ChildError(Exception):
    """The process has ended, or said something that is not an answer; the message has its last words."""


class ChildTimeoutError(ChildError):
    """The process has not answered in time, and was ended."""


class Child:
    """A running program that answers each line that it gets with lines of its own.

    What it answers is a JSON object; one with the key ``error`` raises :class:`ChildError`.
    """

    def __init__(
        self, command: Sequence[str], name: str, environment: Mapping[str, str] | None = None
    ) -> None:
        self.name = name
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # closed by close()
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            encoding="utf-8",
            env=environment,
        )
        self._lines: queue.Queue[str | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def ask(self, request: dict[str, Any], timeout_s: float) -> dict[str, Any]:
        """Sends a request and waits for its answer; raises as :meth:`receive` does."""
        self.send(request)
        return self.receive(timeout_s)

    def send(self, request: dict[str, Any]) -> None:
        """Sends a request.

        Raises:
            ChildError: the process has ended.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        except OSError:
            raise ChildError(f"{self.name} has ended: {self._last_words()}") from None

    def receive(self, timeout_s: float) -> dict[str, Any]:
        """The next answer.

        Raises:
            ChildTimeoutError: there is none within ``timeout_s`` seconds; the process is ended.
            ChildError: the process has ended, or says that it failed.
        """
        try:
            line = self._lines.get(timeout=timeout_s)
        except queue.Empty:
            self.close()
            raise ChildTimeoutError(f"{self.name}: no answer within {timeout_s:g} s") from None
        if line is None:
            raise ChildError(f"{self.name} has ended: {self._last_words()}")
        try:
            answer: dict[str, Any] = json.loads(line)
        except ValueError:
            raise ChildError(f"{self.name} says {line[:_SHOWN]!r}, which is not JSON") from None
        if "error" in answer:
            raise ChildError(f"{self.name}: {answer['error']}")
        return answer

    def close(self) -> None:
        """Ends the process."""
        self._process.kill()
        self._process.wait()
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):  # what it has not read any more
                self._process.stdin.close()

    def __enter__(self) -> Child:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def _last_words(self) -> str:
        status = self._process.wait()
        self._errors.seek(0)
        words = self._errors.read().decode(errors="replace").strip()[-_SHOWN:]
        return f"exit status {status}" + (f", {words}" if words else "")
