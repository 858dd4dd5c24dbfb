"""What stands between the terminals of a grammar: texts that its lexer reads and forgets.

Worked example.  With ``%ignore " "`` and ``%ignore "#"``, after a terminal come any number of both.  A lexer
with ``%ignore /#.*/`` besides reads ``#`` so only where nothing of its line follows: what is ignored leaves
conditions as any terminal does, so the texts lead from one configuration to others.

**Terminals that rules read and that are ignored too.**  What becomes of such a text depends on the lexer:

* ``"dynamic"``: it is read, or it is ignored.  At each position, lark's Earley parser (``scan`` in
  ``lark/parsers/xearley.py``) tries every terminal that a rule expects and every ignored one.  Each has the
  one text that ``re.match`` prefers there, whichever becomes of it.  So the text is never divided:
  ``start: T T`` with ``T: /a+/`` and ``%ignore T`` accepts nothing, since the first ``T`` takes every ``a``.
* ``"basic"``, ``"contextual"``, ``"longest"``: it is ignored, and no rule reads it.  The lexer drops its
  tokens before a parser sees them.  One exception: lark's lexers read a text such as ``"if"`` as a name, and
  give it its own name afterwards.  Such a token is not dropped, even with ``%ignore "if"``.
* ``"characters"``: any of its texts may be read, and any number of them ignored.
"""

from __future__ import annotations

from collections.abc import Sequence

import tokamata._core as _core
from tokamata.patterns.grammars.lexer.lexer_configurations import Configuration
from tokamata.patterns.grammars.lexer.lexers import Lexer
from tokamata.patterns.grammars.rules import expressions
from tokamata.patterns.grammars.rules import rule_trees as trees
from tokamata.patterns.grammars.rules.elimination import eliminated
from tokamata.resources.limits import Watch

__all__ = ["IgnoredTexts", "as_node"]

_Ends = frozenset[Configuration]
# At least one ignored terminal, if there are such texts; and whether there may be none.
_Texts = tuple["_core.Expression | None", bool]


class IgnoredTexts:
    """The texts that may be ignored from a configuration.

    Args:
        lexer: reads them.
        ignored: the terminals.
        newline: one that is ignored within brackets; ``None``: there is none.
        watch: stops the work.
    """

    def __init__(
        self, lexer: Lexer, ignored: Sequence[trees.Terminal], newline: trees.Terminal | None, watch: Watch
    ) -> None:
        self._lexer = lexer
        self._watch = watch
        in_brackets = [*ignored, *([] if newline is None else [newline])]
        self._terminals = {"outside": list(ignored), "brackets": in_brackets}
        self._after: dict[Configuration, _Ends] = {}
        self._texts: dict[tuple[Configuration, _Ends], _core.Expression | None] = {}

    def after(self, configuration: Configuration) -> _Ends:
        """The configurations that any number of ignored terminals lead to, this one included."""
        if configuration not in self._after:
            found, open_ones = {configuration}, [configuration]
            while open_ones:
                before = open_ones.pop()
                for terminal in self._of(before):
                    for end in self._lexer.ends(terminal, before, is_ignored=True) - found:
                        found.add(end)
                        open_ones.append(end)
            self._after[configuration] = frozenset(found)
        return self._after[configuration]

    def between(self, before: Configuration, wanted: _Ends) -> _Texts:
        """What may be ignored from a configuration to those that are wanted, and whether nothing may."""
        names = frozenset(terminal.name for terminal in self._of(before))
        start = self._lexer.reduced_text(before, names)
        ends = self._after_some(start) & wanted
        key = (start, ends)
        if key not in self._texts:
            some = self._some(start, ends)
            self._texts[key] = None if some is None else expressions.terminal(some)
        return self._texts[key], before in wanted

    def _of(self, before: Configuration) -> list[trees.Terminal]:
        return self._terminals.get(before.line.kind, [])

    def _after_some(self, before: Configuration) -> _Ends:
        return frozenset(
            after
            for terminal in self._of(before)
            for end in self._lexer.ends(terminal, before, is_ignored=True)
            for after in self.after(end)
        )

    def _some(self, before: Configuration, ends: _Ends) -> _core.Expression | None:
        """At least one ignored terminal, from a configuration to one of others."""
        if not ends:
            return None
        numbers: dict[Configuration, int] = {}
        edges: list[dict[int, _core.Expression]] = [{}]
        open_ones = [(before, 0)]
        while open_ones:
            source, number = open_ones.pop()
            by_target: dict[Configuration, list[_core.Expression]] = {}
            for terminal in self._of(source):
                for end in self._lexer.ends(terminal, source, is_ignored=True):
                    texts = self._lexer.language(terminal, source, frozenset([end]), is_ignored=True)
                    by_target.setdefault(end, []).append(texts)
            for end, texts_of_end in by_target.items():
                if end not in numbers:
                    numbers[end] = len(edges)
                    edges.append({})
                    open_ones.append((end, numbers[end]))
                edges[number][numbers[end]] = expressions.union(texts_of_end)
        if ends == {before}:
            # Rounds that lead back, one or more: so what may follow a blank is what may follow none.
            edges[numbers[before]] = {}
            return expressions.repeat(eliminated(edges, {numbers[before]}, self._watch), 1, None)
        return eliminated(edges, {numbers[end] for end in ends}, self._watch)


def as_node(texts: _Texts) -> trees.Node:
    """Ignored texts within a rule; no text if there are none."""
    some, may_be_empty = texts
    options: list[trees.Node] = [
        *([] if some is None else [trees.Terminal("ignored", some)]),
        *([trees.Sequence(())] if may_be_empty else []),
    ]
    return options[0] if len(options) == 1 else trees.Choice(tuple(options))
