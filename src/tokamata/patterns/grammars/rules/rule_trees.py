"""A grammar as the front ends produce it: rules as trees over terminals and references.

Example.  ``list: "[" (NAME ("," NAME)*)? "]"`` is::

    Sequence((
        Terminal('"["', …),
        Repeat(Sequence((NAME, Repeat(Sequence((Terminal('","', …), NAME)), 0, None))), 0, 1),
        Terminal('"]"', …),
    ))

Trees are immutable and may share nodes.  They may nest deeper than Python's stack, so no pass recurses:
:func:`children_first` lists the nodes of a tree in an order in which passes can compute them.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias, cast

import tokamata._core as _core
from tokamata.patterns.unicode import Ranges
from tokamata.resources.limits import Limits, Watch, core_limits

__all__ = [
    "Automaton", "Block", "Choice", "Edges", "Embedded", "Grammar", "Indentation", "Lookahead", "Margin",
    "Node", "Pattern", "Reference", "Repeat", "Sequence", "Terminal", "children_first", "quoted",
    "rewritten", "shortest", "tree_size", "with_children",
]  # fmt: skip


Edges: TypeAlias = Mapping[int, Ranges]  # the characters that lead to a state


@dataclass(frozen=True, eq=False)
class Automaton:
    """A deterministic automaton over characters; state 0 is the first, and every state leads to an end.

    Attributes:
        edges: by state, the characters that lead to each other state.
        accepting: the states in which a text may end.
    """

    edges: tuple[Edges, ...]
    accepting: frozenset[int]

    def after(self, state: int, character: int) -> int | None:
        """The state after a character; ``None`` if no text goes on with it."""
        for target, ranges in self.edges[state].items():
            if any(low <= character <= high for low, high in ranges):
                return target
        return None

    def accepts(self, text: str) -> bool:
        """Whether it has a text."""
        state: int | None = 0
        for character in text:
            if state is None:
                return False
            state = self.after(state, ord(character))
        return state in self.accepting


@dataclass(frozen=True)
class Pattern:
    """What a lexer needs to know of a terminal.

    Attributes:
        regex: a regular expression of Python.
        flags: of those of ``re``.
        text: the text that it stands for, if the grammar writes it as a text, also if in any case.
        priority: lexers try higher ones first.
        width: no text of it is longer, in characters.
        automaton: its texts, if it is no expression; ``regex`` is then what the grammar writes.
    """

    regex: str
    flags: int
    text: str | None
    priority: int
    width: int
    automaton: Automaton | None = None


@dataclass(frozen=True, eq=False)
class Terminal:
    """A regular set of texts, none of them empty.

    Attributes:
        name: its name in the grammar, or its source if it has none.
        expression: the set.
        texts: all of its texts, if the grammar lists them.
        pattern: how lexers read it, in grammars that have a lexer.
        context: the names of the terminals that a contextual lexer looks for after it.
        is_bracketed: whether line breaks after it are ignored, since a bracket is open.
        own: the texts without what is ignored after them, if ``expression`` has both.
    """

    name: str
    expression: _core.Expression
    texts: tuple[str, ...] = ()
    pattern: Pattern | None = None
    context: frozenset[str] | None = None
    is_bracketed: bool = False
    own: _core.Expression | None = None

    @property
    def children(self) -> tuple[Node, ...]:
        """None."""
        return ()

    def shown(self, words: Container[str]) -> str:
        """What a reader of the file knows it by: its name if that is one of some words, or what it is.

        lark's loader calls ``")"`` in a rule ``RPAR``, and ``"use("`` ``__ANON_0``.
        """
        pattern = self.pattern
        if pattern is None or self.name in words:
            return self.name
        flags = "".join(letter for letter in "imsx" if pattern.flags & re.RegexFlag[letter.upper()])
        if pattern.text is not None:
            return quoted(pattern.text) + flags
        return f"/{_printable(pattern.regex):.60}/{flags}" if self.name.startswith("__") else self.name


@dataclass(frozen=True, eq=False)
class Embedded:
    """Texts of another constraint, which no lexer reads.

    Attributes:
        name: what the grammar writes.
        expression: the texts; none of them is empty if rules of the engine may contain it.
        is_regular: whether the texts are a regular set.
        is_of_rules: whether rules of the engine may contain it.
        position: where the grammar writes it.
        own: as that of a terminal.
    """

    name: str
    expression: _core.Expression
    is_regular: bool
    is_of_rules: bool
    position: int
    own: _core.Expression | None = None

    @property
    def children(self) -> tuple[Node, ...]:
        """None."""
        return ()

    def may_begin(self, ranges: Ranges, watch: Watch) -> bool:
        """Whether a text begins with one of some characters."""
        begun = _core.concat([_core.code_points(ranges), _core.anything()])
        return shortest(_core.intersect([self.expression, begun]), watch) is not None


@dataclass(frozen=True, eq=False)
class Reference:
    """A text of a rule."""

    rule: str

    @property
    def children(self) -> tuple[Node, ...]:
        """None."""
        return ()


@dataclass(frozen=True, eq=False)
class Sequence:
    """The items in order; without items, the empty text."""

    children: tuple[Node, ...]


@dataclass(frozen=True, eq=False)
class Choice:
    """Any one of the items; without items, no text."""

    children: tuple[Node, ...]


@dataclass(frozen=True, eq=False)
class Repeat:
    """The body, ``minimum`` to ``maximum`` times; ``None`` means no bound."""

    body: Node
    minimum: int
    maximum: int | None

    @property
    def children(self) -> tuple[Node, ...]:
        """The body."""
        return (self.body,)


@dataclass(frozen=True, eq=False)
class Lookahead:
    """The empty text, where the next terminal is one of some; ``$END`` among them stands for the end.

    Grammars with a contextual lexer have it, where a parser does not try all that the rules say.
    """

    terminals: frozenset[str]

    @property
    def children(self) -> tuple[Node, ...]:
        """None."""
        return ()


@dataclass(frozen=True, eq=False)
class Block:
    """A text of a rule whose lines are indented further than those around it."""

    rule: str

    @property
    def children(self) -> tuple[Node, ...]:
        """None."""
        return ()


@dataclass(frozen=True)
class Margin:
    """What a line break ends with, as wide as the block is indented (:mod:`.line_breaks`).

    Attributes:
        line_break: the number of the line break.
        ends: what the lexer knows after it: conditions and pasts.
    """

    line_break: int
    ends: frozenset[tuple[Any, Any]]

    @property
    def children(self) -> tuple[Node, ...]:
        """None."""
        return ()


Node: TypeAlias = Terminal | Embedded | Reference | Sequence | Choice | Repeat | Lookahead | Block | Margin


class Indentation(NamedTuple):
    """How a grammar reads indentation, as lark's ``Indenter`` has it.

    Attributes:
        newline, indent, dedent: the terminals of line breaks, and of the begin and the end of a block.
        opening, closing: the terminals between which line breaks are ignored.
        tab: how many columns a tab counts.
    """

    newline: str
    indent: str
    dedent: str
    opening: frozenset[str]
    closing: frozenset[str]
    tab: int


@dataclass(frozen=True)
class Grammar:
    """Rules, and what may stand between their terminals.

    Attributes:
        rules: the body of each rule, by name.
        start: the name of the rule that a text is of.
        ignored: terminals that may stand before, between and after all others.
        terminals: in the order of their definition, if the grammar has a lexer.
        context: the names of the terminals that a contextual lexer looks for first.
        indentation: if it marks blocks.
        text: the file that errors show.
        is_factored: whether alternatives with a common beginning or end are written once.
    """

    rules: Mapping[str, Node]
    start: str
    ignored: tuple[Terminal, ...] = ()
    terminals: tuple[Terminal, ...] = ()
    context: frozenset[str] | None = None
    indentation: Indentation | None = None
    text: str = ""
    is_factored: bool = False

    @property
    def words(self) -> frozenset[str]:
        """The names, and other words, that the file has."""
        return frozenset(re.findall(r"\w+", self.text))


def quoted(text: str) -> str:
    """A text in double quotes, as a grammar writes it."""
    return '"' + _printable(text.replace("\\", "\\\\").replace('"', '\\"')) + '"'


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def shortest(expression: _core.Expression, watch: Watch) -> bytes | None:
    """A shortest text of an expression; ``None`` if it has none."""
    limits, cancel = watch.within(Limits())
    return _core.shortest_text(expression, core_limits(limits), cancel, None, False)


def children_first(roots: Iterable[Node]) -> list[Node]:
    """All nodes of some trees once, each after its children."""
    order: list[Node] = []
    seen: set[int] = set()
    stack: list[Node | None] = list(roots)
    while stack:
        node = stack.pop()
        if node is None:  # all children of the next one are done
            order.append(cast(Node, stack.pop()))
        elif id(node) not in seen:
            seen.add(id(node))
            children = node.children
            if children:
                stack += (node, None)
                stack += children
            else:
                order.append(node)
    return order


def tree_size(root: Node, sizes: Mapping[str, int]) -> int:
    """The nodes of a tree, those that are shared counted each time; ``sizes`` are those of some rules."""
    found: dict[int, int] = {}
    for node in children_first([root]):
        own = sizes.get(node.rule, 1) if isinstance(node, Reference) else 1
        found[id(node)] = own + sum(found[id(child)] for child in node.children)
    return found[id(root)]


def rewritten(root: Node, leaf: Callable[[Node], Node]) -> Node:
    """A tree with other leaves, such as terminals and references; parts in which none is another stay."""
    made: dict[int, Node] = {}
    for node in children_first([root]):
        if isinstance(node, (Sequence, Choice, Repeat)):
            children = tuple([made[id(child)] for child in node.children])
            is_same = all(map(operator.is_, children, node.children))
            made[id(node)] = node if is_same else with_children(node, children)
        else:
            made[id(node)] = leaf(node)
    return made[id(root)]


def with_children(node: Node, children: tuple[Node, ...]) -> Node:
    """An inner node with other children."""
    if isinstance(node, Repeat):
        return Repeat(children[0], node.minimum, node.maximum)
    assert isinstance(node, (Sequence, Choice)), node
    return type(node)(children)
