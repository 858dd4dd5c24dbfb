"""Errors of explicit machines."""

from __future__ import annotations

from tokamata.errors.base import TokamataError


class MachineError(TokamataError, ValueError):
    """An inconsistent explicit machine: a state, a symbol or a table contradicts the rest."""


class MachineFileError(MachineError):
    """Text in OpenFst's format that cannot be read.

    Attributes:
        line: the number of the line, from 1.
        found: the line or field there, shortened.
        expected: what should be there.
    """

    def __init__(self, line: int, found: str, expected: str) -> None:
        found = found if len(found) <= 60 else found[:59] + "…"
        super().__init__(line, found, expected)
        self.line = line
        self.found = found
        self.expected = expected

    def _message(self) -> str:
        return f"line {self.line} of the OpenFst text is {self.found!r}; expected {self.expected}"


class EndlessStackError(MachineError):
    """A push-down automaton that pushes or pops without end while it reads nothing.

    Attributes:
        symbols: the names of what each round pushes, or pops.
        is_push: whether it pushes.
    """

    def __init__(self, symbols: tuple[str, ...], is_push: bool) -> None:
        super().__init__(symbols, is_push)
        self.symbols = symbols
        self.is_push = is_push

    def _message(self) -> str:
        shown = ", ".join(repr(name[:60]) for name in self.symbols[:5])
        what = (
            f"{shown} can be pushed without end before a symbol is read (a rule begins with itself)"
            if self.is_push
            else f"{shown} can be popped any number of times before a symbol is read"
        )
        return f"{what}, so its transitions cannot be contracted; PushdownMatcher follows them as they are"


class NondeterministicError(MachineError):
    """A push-down automaton that is not deterministic, where a deterministic one is needed.

    Attributes:
        state: a state with two transitions that can be taken on one stack.
        symbol: the name of the symbol that both read.
        popped: the names of what each of the two pops.
    """

    def __init__(self, state: int, symbol: str, popped: tuple[tuple[str, ...], tuple[str, ...]]) -> None:
        super().__init__(state, symbol, popped)
        self.state = state
        self.symbol = symbol
        self.popped = popped

    def _message(self) -> str:
        first, second = (", ".join(name[:60] for name in names) or "nothing" for names in self.popped)
        return (
            f"two transitions of state {self.state} read {self.symbol[:60]!r}, and one stack allows both: "
            f"one pops {first}, the other {second}; rewrite the grammar, or use PushdownMatcher, which "
            "follows both"
        )


class NotSubsequentialError(MachineError):
    """A transducer that no subsequential transducer is equal to.

    Attributes:
        string: an input.
        outputs: two different outputs for it; with a loop, what two runs have written after it.
        loop: an input that may follow any number of times; empty if the transducer is not functional.
        loop_outputs: what each run writes for one repetition of it.
        reason: the same in words, with the names of symbols.
    """

    def __init__(
        self,
        string: tuple[int, ...],
        outputs: tuple[tuple[int, ...], tuple[int, ...]],
        loop: tuple[int, ...],
        loop_outputs: tuple[tuple[int, ...], tuple[int, ...]],
        reason: str,
    ) -> None:
        super().__init__(string, outputs, loop, loop_outputs, reason)
        self.string = string
        self.outputs = outputs
        self.loop = loop
        self.loop_outputs = loop_outputs
        self.reason = reason

    def _message(self) -> str:
        return f"no subsequential transducer writes the same: {self.reason}"
