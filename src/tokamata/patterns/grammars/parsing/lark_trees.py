"""Trees as lark makes them, of derivations that lark did not find.

lark shapes a tree by the alternative that a rule has: ``?rule`` with one child is that child, ``_rule`` gives
its children to the rule around it, texts such as ``","`` are left out, ``-> name`` renames it.  Its own
callbacks do so; they are found by the names of the symbols that an alternative consists of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

__all__ = ["TreeShapes"]


class TreeShapes:
    """What lark makes of the alternatives of a grammar's rules.

    Args:
        rules: those of lark's loader.
        shown: the names of terminals in derivations and trees, where they differ from those of lark's loader.
    """

    def __init__(self, rules: Iterable[Any], shown: Mapping[str, str]) -> None:
        import lark
        from lark.parse_tree_builder import ParseTreeBuilder

        builder: Any = ParseTreeBuilder  # it has no types
        callbacks = builder(
            rules, lark.Tree, propagate_positions=True, maybe_placeholders=True
        ).create_callback()
        self._shown = shown
        self._made: dict[tuple[str, tuple[str, ...]], Callable[[list[Any]], Any]] = {}
        for rule, callback in callbacks.items():
            names = tuple(self.shown(symbol.name) for symbol in rule.expansion)
            self._made.setdefault((rule.origin.name, names), callback)
        self._rules = {rule for rule, _ in self._made}

    def has(self, rule: str) -> bool:
        """Whether lark knows a rule."""
        return rule in self._rules

    def shown(self, name: str) -> str:
        """The name of a symbol in trees."""
        return self._shown.get(name, name)

    def tree(self, rule: str, names: tuple[str, ...], values: list[Any]) -> Any:
        """What a rule becomes, whose symbols have some names and values."""
        return self._made[rule, names](values)

    def token(self, name: str, text: str, begin: tuple[int, int, int], end: tuple[int, int, int]) -> Any:
        """A token; ``begin`` and ``end`` are positions in characters, with line and column from 1 on."""
        import lark

        return lark.Token(self.shown(name), text, *begin, end[1], end[2], end[0])
