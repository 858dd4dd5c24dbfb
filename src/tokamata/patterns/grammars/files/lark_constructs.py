"""What the constructs of the dialect become in a grammar: terminals, and embedded texts.

:mod:`.lark_dialect` took them out of the file; lark's loader has read the rest, with the leaves of all
formulas.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import tokamata._core as _core
from tokamata.errors import GrammarError
from tokamata.patterns.extensions import any_token, control_token, text_token
from tokamata.patterns.grammars.files.formula_automata import automaton_of
from tokamata.patterns.grammars.files.formulas import Formula, expression_of, postorder
from tokamata.patterns.grammars.files.lark_dialect import Construct, Translation
from tokamata.patterns.grammars.rules import rule_trees as trees
from tokamata.resources.limits import Limits, Watch, core_limits

__all__ = ["Constructs", "Embed", "embedded", "some_of", "tokens_of"]

# The texts of ``%json``, ``%lark`` and ``@name``: by what it is, its content, and how errors are made of a
# reason and a hint.
Embed: TypeAlias = Callable[[str, Any, Callable[[str, str], GrammarError]], _core.Expression]

_MOST_TOKENS = 10_000  # of a set
_ANY_WIDTH = (1 << 32) - 1  # as lark has it


class Constructs:
    """The nodes of the constructs.

    Args:
        translation: the file, and what was taken out of it.
        text: the file as it was.
        terminal_of: a terminal that lark has read, by its name; it may be empty.
        lexer: the one that the grammar will be read by.
        embed: the texts of other constraints.
        watch: stops the work.
    """

    def __init__(
        self,
        translation: Translation,
        text: str,
        terminal_of: Callable[[str], trees.Terminal],
        lexer: str,
        embed: Embed,
        watch: Watch,
    ) -> None:
        self._translation = translation
        self._text = text
        self._terminal_of = terminal_of
        self._has_lexer = lexer != "characters"
        self._embed = embed
        self._watch = watch
        self._formulas: dict[str, trees.Terminal] = {}
        self._nodes: dict[str, trees.Node] = {}

    def node(self, name: str) -> trees.Node:
        """What stands in place of a terminal: itself, or what the dialect has there."""
        if name not in self._nodes:
            given = self._translation.constructs.get(name)
            self._nodes[name] = (
                optional(self.terminal(name), self._watch) if given is None else self._embedded(given)
            )
        return self._nodes[name]

    def terminal(self, name: str) -> trees.Terminal:
        """A terminal, with operators or without; it may be empty."""
        if name not in self._translation.formulas:
            return self._terminal_of(name)
        if name not in self._formulas:
            self._define(name)
        return self._formulas[name]

    # ---- terminals with operators ----

    def _define(self, name: str) -> None:
        """Makes a terminal, and those that its formula names before it."""
        open_names = [name]
        on_path: list[str] = []
        while open_names:
            current = open_names[-1]
            missing = [
                leaf
                for leaf in _leaves(self._translation.formulas[current])
                if leaf in self._translation.formulas and leaf not in self._formulas
            ]
            if missing and current not in on_path:
                on_path.append(current)
                open_names += missing
            elif missing:
                raise self._error(current, f"the terminal {current} is made of itself")
            else:
                open_names.pop()
                if current not in self._formulas:
                    self._formulas[current] = self._made(current)

    def _made(self, name: str) -> trees.Terminal:
        formula = self._translation.formulas[name]
        leaves = {leaf: self.terminal(leaf) for leaf in _leaves(formula)}
        texts = self._texts(formula)
        if not _is_regular(texts):
            hint = "write %regex in a rule, where no lexer reads it"
            raise self._error(name, f"the substrings in the terminal {name} have too many chunks", hint)
        pattern = None
        if self._has_lexer:
            read = {leaf: terminal.pattern for leaf, terminal in leaves.items() if terminal.pattern}
            pattern = trees.Pattern(
                self._translation.sources[name],
                0,
                None,
                self._translation.priorities.get(name, 0),
                _ANY_WIDTH,
                automaton_of(formula, read, self._watch),
            )
        return trees.Terminal(name, texts, (), pattern)

    def _texts(self, formula: Formula) -> _core.Expression:
        texts = {leaf: self.terminal(leaf).expression for leaf in _leaves(formula)}
        return _core.scope(expression_of(formula, texts, core_limits(Limits()), self._watch))

    # ---- embedded texts ----

    def _embedded(self, given: Construct) -> trees.Node:
        def fault(reason: str, hint: str) -> GrammarError:
            return GrammarError(self._text, given.position, reason, hint)

        if given.kind == "token":
            name, texts = given.content, tokens_of(given.content, fault)
        elif given.kind == "formula":
            name, texts = "%regex", self._texts(given.content)
        elif given.kind == "rule":
            name, texts = str(given.name), self._ruled(given)
        else:
            name = f"@{given.content}" if given.kind == "name" else f"%{given.kind}"
            texts = self._embed(given.kind, given.content, fault)
        return embedded(name, _core.scope(texts), given.position, self._watch)

    def _ruled(self, construct: Construct) -> _core.Expression:
        """The texts of a rule with attributes."""
        given = construct.attributes
        assert given is not None
        texts = self._texts(construct.content)
        if not _is_regular(texts):
            hint = "write %regex in a rule of its own"
            raise self._error(construct.name, "the substrings in this rule have too many chunks", hint)
        if given.suffix is not None:
            texts = _lazy(_core.concat([texts, self._ending(given.suffix)]))
        elif given.is_lazy:
            texts = _lazy(texts)
        if given.stop is not None:
            stopped = _core.concat([texts, self._ending(given.stop), _core.text()])
            texts = _core.intersect([texts, _core.complement(stopped)])
        if given.max_tokens is not None:
            texts = _core.intersect([texts, _core.repeat(text_token(), 0, given.max_tokens)])
        return texts

    def _ending(self, name: str) -> _core.Expression:
        """The texts of the terminal that ends a rule, except for the empty one."""
        return some_of(self.terminal(name).expression, self._watch)

    def _error(self, name: str, reason: str, hint: str = "") -> GrammarError:
        return GrammarError(self._text, max(self._text.find(name), 0), reason, hint)


def embedded(name: str, texts: _core.Expression, position: int, watch: Watch) -> trees.Node:
    """Texts that no lexer reads, as a node of a grammar."""
    is_optional = has_empty(texts, watch)
    some = some_of(texts, watch)
    fits = _fits_rules(some)
    if not fits and is_optional:
        some = texts
    node = trees.Embedded(name, some, fits and not texts.has_rules, fits, position)
    return trees.Choice((node, trees.Sequence(()))) if is_optional else node


def optional(terminal: trees.Terminal, watch: Watch) -> trees.Node:
    """A terminal that may be empty, as one that may not, or nothing."""
    if not has_empty(terminal.expression, watch):
        return terminal
    some = replace(terminal, expression=some_of(terminal.expression, watch), texts=())
    return trees.Choice((some, trees.Sequence(()))) if terminal.texts != ("",) else trees.Sequence(())


def has_empty(texts: _core.Expression, watch: Watch) -> bool:
    """Whether the empty text is one of some."""
    return trees.shortest(_core.intersect([texts, _core.epsilon()]), watch) is not None


def some_of(texts: _core.Expression, watch: Watch) -> _core.Expression:
    """The texts that are not empty."""
    if not has_empty(texts, watch):
        return texts
    return _core.intersect([texts, _core.complement(_core.epsilon())])


def _is_regular(texts: _core.Expression) -> bool:
    """Whether some texts are a regular set: no rules, no control tokens."""
    return not texts.has_rules and _fits_rules(texts)


def _fits_rules(texts: _core.Expression) -> bool:
    """Whether rules of the engine may contain some texts."""
    try:
        _core.rules([_core.concat([_core.literal(b" "), texts])], _core.reference(0))
    except _core.RuleSetError:
        return False
    return True


def _lazy(texts: _core.Expression) -> _core.Expression:
    """The texts that do not begin with a shorter one."""
    longer = _core.concat([texts, _core.repeat(_core.code_points([(0, 0x10FFFF)]), 1, None)])
    return _core.intersect([texts, _core.complement(longer)])


def _leaves(formula: Formula) -> list[str]:
    return [part.source for part in postorder(formula) if part.operator == "leaf"]


def tokens_of(source: str, fault: Callable[[str, str], GrammarError]) -> _core.Expression:
    """``<name>``, or by ids ``<[5]>`` and ``<[5-7,9]>``; ``<[^5]>`` for all others, ``<[*]>`` for any."""
    if not source.startswith("<["):
        return control_token(source)
    inner = source[2:-2]
    if inner == "*":
        return any_token()
    ranges = _ranges(inner.removeprefix("^"), fault)
    if inner.startswith("^"):
        return any_token(ranges)
    ids = sorted({token for low, high in ranges for token in range(low, high + 1)})
    return _core.union([control_token(token) for token in ids])


def _ranges(entries: str, fault: Callable[[str, str], GrammarError]) -> list[tuple[int, int]]:
    """Ids and ranges of ids."""
    found_ranges: list[tuple[int, int]] = []
    for entry in entries.split(","):
        found = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9}))?", entry)
        if found is None:
            raise fault(f"{entry!r} is no id, and no range of ids", "write <[5]> or <[5-7,9]>")
        low, high = int(found[1]), int(found[2] or found[1])
        if high < low:
            raise fault(f"the range {entry} ends before it begins", "swap the two ids")
        found_ranges.append((low, high))
        if sum(high - low + 1 for low, high in found_ranges) > _MOST_TOKENS:
            raise fault(f"this set has more than {_MOST_TOKENS:,} tokens", "list fewer")
    return found_ranges
