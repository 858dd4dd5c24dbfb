"""Work that stopped: at a limit, when cancelled, or because something else works on the same."""

from __future__ import annotations

from tokamata.errors.base import TokamataError
from tokamata.errors.showing import caret

# The deepest nesting of operators and regular expressions, whatever the caller's limit: the engine's
# Expression::kMaximumDepth, which keeps recursion within the stack.
MOST_DEPTH = 2000


class LimitExceeded(TokamataError, RuntimeError):
    """Work stopped because it exceeded one of the caller's :class:`tokamata.Limits`, or a fixed bound.

    The object of the call is unchanged and usable.

    Attributes:
        limit: the field of ``Limits`` that was exceeded: ``"states"``, ``"memory_bytes"``,
            ``"seconds"`` or ``"depth"``; or ``"deadline_seconds"``, if the call was given that.
        bound: its value.
        pattern: the pattern that was worked on, or ``None`` if it has no text.
        position: offset into ``pattern`` of the part that grew, or ``None``.
        is_fixed: whether the bound is fixed, so that no ``Limits`` raise it.
    """

    def __init__(
        self,
        limit: str,
        bound: float,
        pattern: str | None = None,
        position: int | None = None,
        is_fixed: bool = False,
    ) -> None:
        is_fixed = is_fixed or (limit == "depth" and bound == MOST_DEPTH)
        super().__init__(limit, bound, pattern, position, is_fixed)
        self.limit = limit
        self.bound = bound
        self.pattern = pattern
        self.position = position
        self.is_fixed = is_fixed

    def _message(self) -> str:
        message = f"the limit {self.limit}={self.bound:.12g} was exceeded"
        if self.pattern is not None and self.position is not None:
            message += f", mostly by the part of the pattern at position {self.position}\n"
            message += caret(self.pattern, self.position)
        if self.limit == "deadline_seconds":
            return message + "\ncall it again, which goes on with what was made, or give it more time"
        if self.is_fixed:
            return message + "\nsimplify the pattern: this bound is the same for all Limits"
        return message + "\nsimplify the pattern, or pass a larger tokamata.Limits"


class Cancelled(TokamataError, RuntimeError):
    """Work stopped because its :class:`tokamata.CancelToken` was cancelled.

    The object of the call is unchanged and usable.
    """


class ForkError(TokamataError, RuntimeError):
    """The process was forked while another thread worked on what the call needs.

    Only the thread that forks goes on in the new process, so the copy there may be half changed.  Compile
    the constraint again in the new process, or fork while no thread works on it.

    Attributes:
        pattern: the constraint, as text; ``None`` where it has none.
    """

    def __init__(self, pattern: str | None) -> None:
        super().__init__(pattern)
        self.pattern = pattern

    def _message(self) -> str:
        return (
            f"the process was forked while another thread worked on {self.pattern!r:.200}; "
            "compile it again in this process"
        )


class BusyError(TokamataError, RuntimeError):
    """A handler of signals used a constraint on which the call that it interrupted works.

    Attributes:
        pattern: the constraint, as text; ``None`` where it has none.
    """

    def __init__(self, pattern: str | None) -> None:
        super().__init__(pattern)
        self.pattern = pattern

    def _message(self) -> str:
        return (
            f"the call that the signal interrupted works on {self.pattern!r:.200}; "
            "use another constraint in the handler, or set a flag there"
        )
