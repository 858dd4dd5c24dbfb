"""Steps of lark's loops, which limits bound.

Problem.  lark's loader and parsers know no limits, and their loops are in functions that nothing can be given
to.  Another thread or process cannot be stopped, or leaves its work behind.
How.  These loops ask objects that they are given: they iterate over the symbols of a rule, ask terminals for
their patterns, visit trees, and make nodes and tokens.  Here are such objects; each question is a step
(:mod:`tokamata.resources.bounded_steps`), and every few steps time, memory and cancellation are checked.

Cost.  A tenth of lark's time.
Rejected: a trace function (``sys.setprofile``), which makes lark twice as slow and takes the place of
profilers and debuggers.
"""

# lark's loader has no types.
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lark import Lark, Token
from lark.lexer import TerminalDef
from lark.parsers.earley_forest import StableSymbolNode

from tokamata.resources.bounded_steps import step

__all__ = ["ITEMS_OF_TOKEN", "CountedTerminal", "Stepping", "Symbols", "with_steps"]

ITEMS_OF_TOKEN = 5
_ITEMS_OF_FAMILY = 12  # of a derivation in lark's parse forest, with its node


class Symbols(list[Any]):
    """The symbols of a rule; whoever iterates over them, or takes one, makes a step."""

    __slots__ = ()

    def __iter__(self) -> Iterator[Any]:
        step()
        return super().__iter__()

    def __getitem__(self, index: Any) -> Any:
        step()
        return super().__getitem__(index)


class CountedTerminal(TerminalDef):
    """A terminal; whoever asks for its pattern makes a step."""

    @property
    def pattern(self) -> Any:
        """Its regular expression."""
        step()
        return self._pattern

    @pattern.setter
    def pattern(self, pattern: Any) -> None:
        self._pattern = pattern


class Stepping:
    """A visitor or transformer of lark that makes a step at each tree.

    Attributes:
        items: that it makes of a tree.
    """

    items = 0

    def _call_userfunc(self, *arguments: Any) -> Any:
        step(self.items)
        return super()._call_userfunc(*arguments)  # type: ignore[misc]


class _Node(StableSymbolNode):
    """A node of lark's parse forest, which counts what it contains."""

    __slots__ = ()

    def add_family(self, *arguments: Any) -> None:
        step(_ITEMS_OF_FAMILY)
        super().add_family(*arguments)

    @property
    def children(self) -> Any:
        """Its derivations."""
        step()
        return super().children


def with_steps(parser: Lark) -> Lark:
    """The same parser, which makes a step at each token, or at each node of its forest."""
    if parser.options.parser == "earley":
        parser.parser.parser.SymbolNode = _Node
    if parser.options.lexer != "dynamic":
        parser.lexer_conf.callbacks.update({terminal.name: _counted for terminal in parser.terminals})
    return parser


def _counted(token: Token) -> Token:
    step(ITEMS_OF_TOKEN)
    return token
