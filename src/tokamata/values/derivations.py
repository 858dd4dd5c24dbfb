"""Values of a grammar's texts: lark's trees, and the values of captured parts.

Problem.  The engine accepts a text and does not say which rule has which part of it.
How.  :mod:`tokamata.patterns.grammars.parsing.earley` finds the first derivation.  Its terminals are those of
the grammar with what is ignored after them; splitters read them, from each position at which they may begin.
The derivation is then folded from its leaves to its root.

Worked example.  ``start: pair ("," pair)*`` and ``pair[capture]: NAME "=" NUMBER``, of ``a=1, b=2``: the
derivation has two pairs, so the value is ``{"pair": ["a=1", "b=2"]}``.

Cost.  That of the derivation.  The automata of terminals are made again for each reading, with its limits.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import tokamata._core as _core
from tokamata.errors import ParseError
from tokamata.patterns.grammars.parsing.earley import Constituent, first_derivation
from tokamata.patterns.grammars.rules import rule_trees as trees
from tokamata.patterns.grammars.rules.productions import Builder, Productions, WorkAccount
from tokamata.resources.limits import Watch
from tokamata.values.forms import (
    Alternatives,
    Checked,
    Concatenated,
    Form,
    Option,
    Plain,
    Reading,
    Split,
    Value,
)
from tokamata.values.parts import Captures

if TYPE_CHECKING:
    from tokamata.patterns.grammars.parsing.lark_trees import TreeShapes

__all__ = ["Capture", "CapturedParts", "Derivations", "LarkTree", "ReadByLark"]

_AHEAD = 64  # bytes that a terminal is tried on at first


class DerivedPart(NamedTuple):
    """A part of a text.

    Attributes:
        name: of the rule or the terminal that derives it.
        begin, end: where it is, in bytes, without what is ignored after it.
        value: what it was folded to.
    """

    name: str
    begin: int
    end: int
    value: Any


class _Folding(Protocol):
    """Makes values of the parts of a text."""

    def terminal(self, name: str, begin: int, end: int) -> Any:
        """The value of a terminal's text."""

    def rule(self, name: str, begin: int, end: int, parts: list[DerivedPart]) -> Any:
        """The value of a rule's text, which consists of some parts."""


class _Leaf(NamedTuple):
    """A terminal.

    Attributes:
        name: its name.
        texts: its texts, with what is ignored after them.
        own: splits off what is ignored; ``None``: nothing is.
        may_be_empty: whether it may have no text, such as a control token.
    """

    name: str
    texts: Split
    own: Split | None
    may_be_empty: bool


class Derivations:
    """Finds derivations of texts.

    Args:
        grammar: makes the rules, with the lexer in them.
        has_numbers: whether the name of each rule ends with a blank and a number.
    """

    def __init__(self, grammar: Callable[[Watch], trees.Grammar], has_numbers: bool) -> None:
        self._grammar = grammar
        self._has_numbers = has_numbers
        self._leaves: list[_Leaf] = []
        self._productions: Productions | None = None

    def folded(self, text: bytes, reading: Reading, folding: _Folding) -> DerivedPart:
        """What the first derivation of a text is folded to.

        Raises:
            ParseError: there is none.
            LimitExceeded, Cancelled: the work was stopped.
        """
        account = WorkAccount(reading.limits, reading.cancel)
        if self._productions is None:
            self._leaves, self._productions = _plain(self._grammar(account.watch), account)
        terminals = _Terminals(self._leaves, text, reading)
        root = None
        if self._productions is not None:
            root = first_derivation(self._productions, terminals.ends, len(text), account)
        if root is None:
            raise ParseError("", "the terminals of the grammar do not make up this text")
        return self._fold(root, terminals, folding)

    def _fold(self, root: Constituent, terminals: _Terminals, folding: _Folding) -> DerivedPart:
        assert self._productions is not None
        labels = self._productions.labels
        found: list[list[DerivedPart]] = [[]]  # of each rule that is open
        waiting: list[tuple[Constituent, bool]] = [(root, False)]
        while waiting:
            node, is_done = waiting.pop()
            if node.symbol >= 0:
                name, end = self._leaves[node.symbol].name, terminals.own_end(node)
                found[-1].append(DerivedPart(name, node.begin, end, folding.terminal(name, node.begin, end)))
            elif not is_done and labels[~node.symbol].kind == "rule":
                found.append([])
                waiting.append((node, True))
            if is_done:
                parts = found.pop()
                name = labels[~node.symbol].name
                name = name.rpartition(" ")[0] if self._has_numbers else name
                some = [part for part in parts if part.end > part.begin]
                begin, end = (some[0].begin, some[-1].end) if some else (node.begin, node.begin)
                found[-1].append(DerivedPart(name, begin, end, folding.rule(name, begin, end, parts)))
            else:
                waiting += [(child, False) for child in reversed(node.children)]
        return found[0][0]


class _Terminals:
    """Where the terminals of a grammar end in a text."""

    def __init__(self, leaves: list[_Leaf], text: bytes, reading: Reading) -> None:
        self._leaves = leaves
        self._text = text
        self._reading = reading
        self._begins: dict[tuple[int, int], bool] = {}  # by terminal and byte

    def ends(self, terminal: int, at: int) -> Iterator[int]:
        """Where the texts of a terminal end that begin at a position."""
        leaf = self._leaves[terminal]
        if leaf.may_be_empty:
            yield at
        if at == len(self._text):
            return
        splitter = self._reading.splitter(leaf.texts)
        key = (terminal, self._text[at])
        if key not in self._begins:
            self._begins[key] = splitter.split(self._text[at : at + 1])[1] == 1
        if not self._begins[key]:
            return
        size = _AHEAD
        while (reached := splitter.split(self._text[at : at + size])[1]) == size:
            size *= 4
        split = splitter.begin()
        for end in range(at + 1, at + reached + 1):
            split.feed(self._text[end - 1 : end])
            if split.end() is not None:
                yield end

    def own_end(self, node: Constituent) -> int:
        """Where a terminal ends, and what is ignored begins."""
        own = self._leaves[node.symbol].own
        if own is None or node.begin == node.end:
            return node.end
        borders = self._reading.splitter(own).split(self._text[node.begin : node.end])[0]
        return node.begin + own.found(borders)[1][1]


def _plain(grammar: trees.Grammar, account: WorkAccount) -> tuple[list[_Leaf], Productions | None]:
    """The terminals and the productions of a grammar."""
    leaves: list[_Leaf] = []
    numbers: dict[int, int] = {}

    def terminal(node: trees.Node) -> trees.Node:
        return (
            trees.Terminal(node.name, node.expression, own=node.own)
            if isinstance(node, trees.Embedded)
            else node
        )

    def number(_: Builder, node: trees.Terminal) -> int:
        if id(node) not in numbers:
            numbers[id(node)] = len(leaves)
            texts = Alternatives([Option(node.expression, Plain())])
            own = None
            if node.own is not None:
                own = Concatenated([Option(node.own, Plain()), Option(_core.text(), Plain())])
            may_be_empty = bool(node.expression.control_tokens) or node.expression.sees_edges
            leaves.append(_Leaf(node.name, texts, own, may_be_empty))
        return numbers[id(node)]

    rules = {name: trees.rewritten(body, terminal) for name, body in grammar.rules.items()}
    plain = trees.Grammar(rules, grammar.start)
    productions = Builder(plain, number, "left", account).productions(
        len(trees.children_first(rules.values()))
    )
    return leaves, productions


# ---- trees ----


class ReadByLark(Checked):
    """Texts that lark's own parser reads, as a ``lark.Tree``.

    Args:
        tree_of: makes the tree of a text; ``None`` where lark's parser fails.
        other: reads these texts; ``None``: nothing does.
    """

    __slots__ = ("_other", "_tree_of")

    def __init__(self, tree_of: Callable[[str, Watch], Any], other: Form | None) -> None:
        self._tree_of = tree_of
        self._other = other

    def read(self, text: bytes, reading: Reading) -> Value:
        """The tree."""
        watch = Watch(reading.limits, reading.cancel)
        tree = self._tree_of(text.decode(), watch)
        if tree is not None:
            return Value(tree, {})
        if self._other is None:
            raise ParseError("", "lark's parser fails on this text")
        limits, cancel = watch.within(reading.limits)
        return self._other.read(text, Reading(reading.pattern, limits, cancel))


class LarkTree(Form):
    """Texts of a Lark file, as a ``lark.Tree``.

    Args:
        derivations: those of its texts.
        shapes: makes what lark makes of its rules.
    """

    __slots__ = ("_derivations", "_shapes")

    def __init__(self, derivations: Derivations, shapes: Callable[[], TreeShapes]) -> None:
        self._derivations = derivations
        self._shapes = shapes

    def read(self, text: bytes, reading: Reading) -> Value:
        """The tree."""
        root = self._derivations.folded(text, reading, _TreeFolding(self._shapes(), text))
        return Value(root.value[-1], {})


class _TreeFolding:
    """Each part becomes a list of values: most become one."""

    def __init__(self, shapes: TreeShapes, text: bytes) -> None:
        self._shapes = shapes
        self._text = text
        self._places = _Places(text)

    def terminal(self, name: str, begin: int, end: int) -> list[Any]:
        places = (self._places.of(begin), self._places.of(end))
        return [self._shapes.token(name, self._text[begin:end].decode(), *places)]

    def rule(self, name: str, begin: int, end: int, parts: list[DerivedPart]) -> list[Any]:
        values = [value for part in parts for value in part.value]
        if name == "":  # what is ignored at the start, and the start rule
            return values
        if not self._shapes.has(name):  # a terminal that may be empty
            return values or self.terminal(name, begin, end)
        return [self._shapes.tree(name, tuple(self._shown(part) for part in parts), values)]

    def _shown(self, part: DerivedPart) -> str:
        return self._shapes.shown(part.name)


class _Places:
    """Positions in bytes as positions in characters."""

    def __init__(self, text: bytes) -> None:
        self._characters = [0]  # by byte, how many characters begin before it
        self._lines = [0]  # where lines begin
        for at, byte in enumerate(text):
            self._characters.append(self._characters[-1] + (byte & 0xC0 != 0x80))
            if byte == 0x0A:
                self._lines.append(at + 1)

    def of(self, at: int) -> tuple[int, int, int]:
        """The character, the line and the column; the last two from 1 on."""
        line = bisect_right(self._lines, at)
        first = self._characters[self._lines[line - 1]]
        return self._characters[at], line, self._characters[at] - first + 1


# ---- captures ----


class Capture(NamedTuple):
    """What a rule captures.

    Attributes:
        names: of the captured values.
        form: reads the rule's text and has them; ``None``: the text itself is the only one.
    """

    names: tuple[str, ...]
    form: Form | None = None


class CapturedParts(Form):
    """Texts of a grammar, as the values of its captured parts: :class:`.Captures`.

    Args:
        derivations: those of its texts.
        captures: by rule.
        rules: of the grammar, before its lexer.
        start: the rule that a text is of.
    """

    __slots__ = ("_captures", "_derivations", "_several", "_single")

    def __init__(
        self,
        derivations: Derivations,
        captures: Mapping[str, Capture],
        rules: Mapping[str, trees.Node],
        start: str,
    ) -> None:
        self._derivations = derivations
        self._captures = captures
        counts = _counts(captures, rules, start)
        self._single = [name for name, count in counts.items() if count < 2]
        self._several = [name for name, count in counts.items() if count > 1]

    def read(self, text: bytes, reading: Reading) -> Value:
        """The values."""
        folding = _CaptureFolding(self._captures, text, reading)
        self._derivations.folded(text, reading, folding)
        places = _Places(text)
        found = Captures()
        found.update(dict.fromkeys(self._single), **{name: [] for name in self._several})
        for name, value, begin, end in sorted(folding.found, key=lambda capture: (capture[2], -capture[3])):
            place = (places.of(begin)[0], places.of(end)[0])
            if name in self._several:
                found[name].append(value)
                found.positions.setdefault(name, []).append(place)
            else:
                found[name] = value
                found.positions[name] = [place]
        return Value(found, {})


class _CaptureFolding:
    def __init__(self, captures: Mapping[str, Capture], text: bytes, reading: Reading) -> None:
        self._captures = captures
        self._text = text
        self._reading = reading
        self.found: list[tuple[str, Any, int, int]] = []

    def terminal(self, name: str, begin: int, end: int) -> None:
        """No value."""

    def rule(self, name: str, begin: int, end: int, parts: list[DerivedPart]) -> None:
        """No value; what the rule captures is noted."""
        capture = self._captures.get(name)
        if capture is None:
            return
        text = self._text[begin:end]
        if capture.form is None:
            values = {capture.names[0]: text.decode()}
        else:
            values = capture.form.read(text, self._reading).captures
        self.found += [(key, value, begin, end) for key, value in values.items()]


def _counts(captures: Mapping[str, Capture], rules: Mapping[str, trees.Node], start: str) -> dict[str, int]:
    """How often a text may have each captured value: at most 0, 1 or 2, which stands for any more.

    The least fixed point over the rules.
    """
    names = tuple(dict.fromkeys(name for capture in captures.values() for name in capture.names))
    none = (0,) * len(names)
    own = {
        rule: tuple(int(rule in captures and name in captures[rule].names) for name in names)
        for rule in rules
    }
    found = dict.fromkeys(rules, none)
    nodes = {rule: trees.children_first([body]) for rule, body in rules.items()}
    is_changed = True
    while is_changed:
        is_changed = False
        for rule, inside in nodes.items():
            made: dict[int, tuple[int, ...]] = {}
            for node in inside:
                made[id(node)] = _counts_of(node, made, found, none)
            counts = tuple(min(2, sum(pair)) for pair in zip(own[rule], made[id(rules[rule])], strict=True))
            is_changed = is_changed or counts != found[rule]
            found[rule] = counts
    return dict(zip(names, found[start], strict=True))


def _counts_of(
    node: trees.Node,
    made: Mapping[int, tuple[int, ...]],
    rules: Mapping[str, tuple[int, ...]],
    none: tuple[int, ...],
) -> tuple[int, ...]:
    """Of a node whose children are counted."""
    if isinstance(node, trees.Reference):
        return rules[node.rule]
    children = [made[id(child)] for child in node.children]
    if isinstance(node, trees.Choice):
        return tuple(map(max, *children)) if len(children) > 1 else (*children, none)[0]
    if isinstance(node, trees.Repeat):
        most = 2 if node.maximum is None else min(2, node.maximum)
        return tuple(min(2, most * count) for count in children[0])
    if isinstance(node, trees.Sequence):
        return tuple(min(2, sum(counts)) for counts in zip(none, *children, strict=True))
    return none
