"""Which conversations show all that a template does, however long a conversation is.

**Problem.**  A claim about all conversations, such as "a turn that is appended changes nothing before it", is
proved for conversations of finitely many shapes, and then for all lengths by induction.  Which shapes
suffice?

**Theorem.**  Let a template go through the messages once, and let its loop read

- the message i, its predecessor and its successor: ``loop.previtem``, ``loop.last``,
- the first messages by constant indices, the parity of i, comparisons of i and of the length with constants,
- namespaces.

Then what it writes for message i is a function of its *configuration*: the kinds of the first messages and of
those around i; the parity and the saturated value of i; the variables of the top level, with the namespaces
that they hold, at the head of iteration i; the answers about texts of those messages and of the messages in
these variables; and what was left open before the loop, which may choose another one.  Variables that a loop
sets end with the iteration, and templates cannot change lists or dictionaries, so nothing else lasts.  Two
values are the same here only if no template can tell them apart: ``1`` is not ``True``, and the first message
is another one than the message of the iteration.
The configuration of the next message is a function of that of message i and of the kind of the message after
the next.

If the configurations that conversations reach are finitely many, a breadth-first search reaches each of
them. Its *representatives* are conversations in which the last message, and the last before it that wrote
something, have configurations that they had in none before; the last two, if some messages write nothing.
What is written for a message in any conversation, with what is written before and after it, is therefore
written in a representative or in one that is longer by a turn.  An appended turn changes what was written
before it in any conversation only if it does in one of these, since message i is written without reading
beyond the next.

**Example.**  ChatML with turns of a user and of an assistant has 4 configurations of two messages in a row.
The conversations of one and two turns represent them; with their extensions they are 2 + 4 + 8.  A template
that counts turns in a namespace never closes.

**Cost.**  A run for each representative and kind of turn.

**Not settled** are templates outside of this form, each with its reason: those that read the last message or
filter the messages before the loop, such as Qwen 3's search for the last question, or go through the messages
twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import jinja2
import jinja2.runtime
from jinja2 import nodes

from tokamata.guard.templates.decisions import Run, Trace
from tokamata.guard.templates.pieces import Condition, Slot, Source, sources_of
from tokamata.guard.templates.shapes import Shape
from tokamata.guard.templates.texts import JsonObject, Text

__all__ = ["Outside", "Reads", "configuration", "described", "is_silent", "reads_of"]

_MOST_CONSTANT = 3
_FREE = {"last", "nextitem"}
_OTHERS = {"cycler": "cycler", "joiner": "joiner"}


_CAPTURES = (
    nodes.AssignBlock,
    nodes.CallBlock,
    nodes.FilterBlock,
    nodes.Block,
)  # what is within is not put out at once


class Outside(Exception):
    """The template is not of the form that the theorem is about."""

    def __init__(self, what: str, line: int, node: nodes.Node | None = None) -> None:
        super().__init__(what, line)
        self.what = what
        self.line = line
        self.node = node

    def __str__(self) -> str:
        return self.what


@dataclass
class Reads:
    """What a template reads of a conversation, besides the message of an iteration and the next.

    Attributes:
        head: how many messages it reads by constant indices.
        most: the index, or the length, from which on positions are alike.
        back: how many messages before the one of an iteration.
        parity: whether it asks for the parity of an index.
    """

    head: int = 0
    most: int = 0
    back: int = 0
    parity: bool = False


def reads_of(tree: nodes.Template) -> Reads:
    """What a template reads of a conversation.

    Raises:
        Outside: it reads more than the theorem allows.
    """
    return _Reader(tree).reads


class _Reader:
    def __init__(self, tree: nodes.Template) -> None:
        self.reads = Reads()
        self._names = {"messages"}
        # By how much an index in a variable may be less than that of the message.
        self._shift = sum(isinstance(one.arg, nodes.Slice) for one in tree.find_all(nodes.Getitem))
        self._loop_name = ""
        assigned = [one for one in tree.find_all(nodes.Assign) if isinstance(one.target, nodes.Name)]
        for _ in range(len(assigned) + 1):
            before = len(self._names)
            for one in assigned:
                assert isinstance(one.target, nodes.Name)
                if self._is_conversation(one.node):
                    self._names.add(one.target.name)
            if len(self._names) == before:
                break
        self._is_reassigned = any(
            name.name == "messages" and name.ctx != "load" for name in tree.find_all(nodes.Name)
        )
        self._visit(tree, "")

    def _is_conversation(self, node: nodes.Node | None) -> bool:
        if isinstance(node, nodes.Name):
            return node.ctx == "load" and node.name in self._names
        if isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Slice):
            return self._is_conversation(node.node)
        if isinstance(node, nodes.CondExpr):
            return self._is_conversation(node.expr1) or self._is_conversation(node.expr2)
        return False

    def _index(self, node: nodes.Node, shift: int) -> int | None:
        """A small index of a message."""
        if isinstance(node, nodes.Const) and type(node.value) is int and 0 <= node.value <= _MOST_CONSTANT:
            self.reads.head = max(self.reads.head, node.value + 1 + shift)
            self.reads.most = max(self.reads.most, node.value + 1 + shift)
            return node.value
        return None

    def _is_all(self, node: nodes.Node) -> bool:
        """Whether a conversation is that of the caller, from its first message."""
        return isinstance(node, nodes.Name) and node.name == "messages" and not self._is_reassigned

    def _is_bound(self, node: nodes.Node) -> bool:
        """Whether it is a small number, which a position is compared with."""
        if isinstance(node, nodes.Const) and type(node.value) is int and 0 <= node.value <= _MOST_CONSTANT:
            self.reads.most = max(self.reads.most, node.value + 1 + self._shift)  # equal or greater
            return True
        return False

    def _visit(self, node: nodes.Node, loop: str) -> None:
        """Checks a part; ``loop`` is the kind of the innermost loop: ``"messages"``, ``"other"`` or none."""
        if isinstance(node, nodes.For):
            self._visit_for(node, loop)
        elif isinstance(node, nodes.Assign) and self._is_conversation(node.node):
            if loop or not isinstance(node.target, nodes.Name):
                where = "variable of a loop" if loop else "namespace"
                raise Outside(f"a part of the conversation in a {where}", node.lineno, node)
            self._visit_parts(node, loop)
        elif self._is_conversation(node):
            self._visit_value(node, loop)
        elif isinstance(node, nodes.Getitem) and self._is_conversation(node.node):
            self._visit_value(node.node, loop)
            self._visit_index(node, loop)
        elif isinstance(node, nodes.Compare) and len(node.ops) == 1:
            sides = (node.expr, node.ops[0].expr)
            for one, other in (sides, sides[::-1]):
                if self._is_position(one, loop) and self._is_bound(other):
                    return
            self._visit_parts(node, loop)
        elif isinstance(node, nodes.Mod) and self._is_index(node.left, loop):
            if not (isinstance(node.right, nodes.Const) and node.right.value == 2):
                raise Outside("an index modulo another number than 2", node.lineno, node)
            self.reads.parity = True
        elif isinstance(node, (nodes.Getattr, nodes.Getitem)) and _is_loop(node.node) and loop == "messages":
            name = node.attr if isinstance(node, nodes.Getattr) else getattr(node.arg, "value", None)
            if name == "previtem":
                self.reads.back = max(self.reads.back, 1)
            elif name == "first":
                self.reads.most = max(self.reads.most, 2 + self._shift)
            elif name not in _FREE:
                raise Outside(
                    f"loop.{name} other than in a comparison with a small number", node.lineno, node
                )
        elif isinstance(node, nodes.Name) and node.ctx == "load" and node.name in _OTHERS:
            raise Outside(f"a {node.name}, which has a state", node.lineno, node)
        elif _is_loop(node) and loop == "messages":
            raise Outside("the loop as a value", node.lineno, node)
        elif isinstance(node, nodes.Macro):
            for name in node.find_all(nodes.Name):
                if name.name in self._names and name.ctx == "load":
                    raise Outside("a macro that reads the conversation", name.lineno, name)
            self._visit_parts(node, loop or "other")  # ``loop`` is that of the loop around it
        elif isinstance(node, _CAPTURES) and not loop:
            self._visit_parts(node, "other")
        elif isinstance(node, nodes.Test) and self._is_conversation(node.node):
            if node.name not in ("defined", "undefined", "none", "iterable", "sequence", "string", "mapping"):
                raise Outside(f"the test {node.name} of the conversation", node.lineno, node)
        else:
            self._visit_parts(node, loop)

    def _visit_parts(self, node: nodes.Node, loop: str) -> None:
        for part in node.iter_child_nodes():
            is_truth = isinstance(node, (nodes.If, nodes.Not)) or (
                isinstance(node, nodes.CondExpr) and part is node.test
            )
            if isinstance(part, nodes.Name) and self._is_conversation(part):
                if not is_truth and not (isinstance(node, nodes.Assign) and part is node.node):
                    raise Outside("the conversation as a whole", part.lineno or node.lineno, part)
            elif self._is_conversation(part) and not (isinstance(node, nodes.Assign) and part is node.node):
                raise Outside("a part of the conversation as a whole", part.lineno or node.lineno, part)
            else:
                self._visit(part, loop)

    def _visit_value(self, node: nodes.Node, loop: str) -> None:
        """A conversation, or a part of it that begins at a constant index."""
        if isinstance(node, nodes.Getitem):
            assert isinstance(node.arg, nodes.Slice)
            if node.arg.stop is not None or node.arg.step is not None:
                raise Outside("a slice of the conversation that does not go to its end", node.lineno, node)
            if node.arg.start is not None and self._index(node.arg.start, self._shift) not in (0, 1):
                raise Outside("a slice of the conversation from another index than 1", node.lineno, node)
            self._visit_value(node.node, loop)
        elif isinstance(node, nodes.CondExpr):
            self._visit(node.test, loop)
            for part in (node.expr1, node.expr2):
                if part is not None:
                    (self._visit_value if self._is_conversation(part) else self._visit)(part, loop)

    def _visit_index(self, node: nodes.Getitem, loop: str) -> None:
        index, is_all = node.arg, self._is_all(node.node)
        if self._index(index, 0 if is_all else self._shift) is not None:
            return
        offset = 0
        if (
            isinstance(index, (nodes.Add, nodes.Sub))
            and isinstance(index.right, nodes.Const)
            and type(index.right.value) is int
        ):
            offset = index.right.value if isinstance(index, nodes.Add) else -index.right.value
            index = index.left
        if self._is_index(index, loop):
            assert isinstance(index, nodes.Getattr)
            offset += index.attr == "index"
            is_same = isinstance(node.node, nodes.Name) and node.node.name == self._loop_name
            if -1 <= offset <= 1 and (is_same or is_all):
                shift = 0 if is_same else self._shift  # the loop may go through a part of the messages
                self.reads.back = max(self.reads.back, shift - min(offset, 0))
                return
        raise Outside(
            "a message by an index that is neither small nor next to that of the loop", node.lineno, node
        )

    def _is_index(self, node: nodes.Node, loop: str) -> bool:
        return (
            isinstance(node, nodes.Getattr)
            and _is_loop(node.node)
            and loop == "messages"
            and node.attr in ("index", "index0")
        )

    def _is_position(self, node: nodes.Node, loop: str) -> bool:
        if isinstance(node, nodes.Filter) and node.name in ("length", "count") and node.node is not None:
            if self._is_conversation(node.node):
                self._visit_value(node.node, loop)
                return True
            return False
        return self._is_index(node, loop)

    def _visit_for(self, node: nodes.For, loop: str) -> None:
        if not self._is_conversation(node.iter):
            self._visit(node.iter, loop)
            for part in node.body:
                self._visit(part, "other")
            # In these, ``loop`` is that of the loop around it.
            for part in [*node.else_, *([node.test] if node.test else [])]:
                self._visit(part, loop or "other")
            return
        if loop:
            raise Outside("a loop over the conversation within another loop or a block", node.lineno, node)
        if node.test is not None or node.recursive:
            raise Outside("a loop over some messages of the conversation", node.lineno, node)
        if not isinstance(node.target, nodes.Name):
            raise Outside("a loop over the fields of messages", node.lineno, node)
        self._visit_value(node.iter, loop)
        self._loop_name = node.iter.name if isinstance(node.iter, nodes.Name) else ""
        for part in node.body:
            self._visit(part, "messages")
        for part in node.else_:
            self._visit(part, loop)


def _is_loop(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Name) and node.name == "loop" and node.ctx == "load"


def described(trace: Trace, variables: dict[str, Any], index: int, back: int) -> Any:
    """What the variables of the top level hold at the head of an iteration, with distances for messages.

    Args:
        trace: of the run.
        variables: the variables.
        index: of the message.
        back: how many messages before it an iteration reads.
    """
    seen: dict[int, int] = {}
    return tuple(
        (name, _described(value, trace, (index, back), seen, 0)) for name, value in sorted(variables.items())
    )


def described_answers(conditions: list[Condition], index: int, reads: Reads, state: Any = ()) -> Any:
    """The answers about the messages around one and in a state, and about what all iterations read.

    Raises:
        Outside: an answer relates a text that is read later to one that is not.
    """
    first, held = max(reads.head, 2), {index - back for back in _held(state)}
    around = index, reads.back
    found = []
    for condition in conditions:
        argument = condition.argument if isinstance(condition.argument, tuple) else ()
        sources = [*sources_of(condition.subject), *sources_of(argument)]
        near = {source.index in held or _is_near(source, index, first, reads.back) for source in sources}
        if len(near) > 1:
            raise Outside("an answer about the texts of two messages", condition.line)
        if True in near:
            found.append(
                (
                    condition.kind,
                    tuple(_described_pieces(condition.subject, around)),
                    _described_argument(condition.argument, around),
                    condition.holds,
                )
            )
    return frozenset(found)


def _held(state: Any) -> Iterator[int]:
    """How far back the messages are that a described state holds."""
    if isinstance(state, tuple):
        if len(state) == 2 and state[0] == "back" and type(state[1]) is int:
            yield state[1]
        for part in state:
            yield from _held(part)


def _is_near(source: Source, index: int, first: int, back: int) -> bool:
    if source.origin == "message":
        return source.index < first or -back <= source.index - index <= 1
    return source.origin != "unknown"  # which is asked once


def is_silent(run: Run) -> bool:
    """Whether a message, other than the last, wrote nothing."""
    assert run.trace is not None
    heads = run.trace.heads
    return any(one[2] == other[2] for one, other in pairwise(heads))


def configuration(shape: Shape, run: Run, reads: Reads, neighbours: int) -> Any:
    """The configurations of the last message, and of so many before it that wrote something.

    Raises:
        Outside: the run has shown that the template is not of the form that the theorem is about.
    """
    trace, turns, length = run.trace, shape.turns, len(shape.turns)
    assert trace is not None
    indices = [head[0] for head in trace.heads]
    if indices != sorted(set(indices)):
        raise Outside("more than one loop over the conversation", 0)
    if trace.reads_from_the_end:
        raise Outside("a message by an index from the end", 0)

    heads, count = trace.heads, len(trace.heads)
    before = [at for at in range(count - 1) if heads[at][2] < heads[at + 1][2]][-neighbours:]
    # Silent messages in between that change nothing: then a message alone determines the state after it, and
    # the answers about it need not be remembered.
    is_calm = all(
        heads[at][1] == heads[at + 1][1]
        for at in range(before[0] if before else 0, count - 1)
        if at not in before
    )

    def of(at: int) -> Any:
        index, state, _, asked = heads[at]
        return (
            turns[max(index - reads.back, 0) : index + 2],
            index % 2 if reads.parity else 0,
            min(index, reads.most),
            reads.back and min(at, reads.back),  # so many have an iteration before it
            state,
            described_answers(run.conditions[:asked] if is_calm else run.conditions, index, reads, state),
        )

    # What is left open before the loop may choose another loop, or where it begins.
    asked = heads[0][3] if heads else len(run.conditions)
    chosen = tuple(each.holds for each in run.conditions[:asked] if _is_open(each))
    around = (turns[: reads.head], min(length, reads.most), turns[-1], chosen, tuple(indices[:1]))
    if not count:
        return around, described_answers(run.conditions, length - 1, reads)
    return around, is_calm, length - indices[-1], of(count - 1), tuple(map(of, before))


def _is_open(condition: Condition) -> bool:
    return any(source.origin == "unknown" for source in sources_of(condition.subject))


def _described_argument(argument: Any, around: tuple[int, int]) -> Any:
    if isinstance(argument, tuple) and any(isinstance(piece, Slot) for piece in argument):
        return tuple(_described_pieces(argument, around))
    return argument


def _described(value: Any, trace: Trace, around: tuple[int, int], seen: dict[int, int], depth: int) -> Any:
    if depth > 20:
        raise Outside("a namespace with deeply nested values", 0)
    if value is None or isinstance(value, (str, int)):
        return type(value).__name__, value
    if isinstance(value, float):
        return "float", repr(value)  # 0.0 equals -0.0
    if isinstance(value, Text):
        return ("text", value.is_html, *_described_pieces(value.pieces, around))
    if isinstance(value, JsonObject):
        return ("json", *_described_pieces((value.slot,), around))
    if id(value) in trace.indices:  # its kind need not be that of a message around this one
        where = _distance(trace.indices[id(value)], *around)
        return "message", where, _described(dict(value), trace, around, seen, depth + 1)
    if depth == 0 and isinstance(value, list) and value and all(id(one) in trace.indices for one in value):
        # It is the same for all iterations: a part that goes to the end, or made of the first messages.
        return ("messages", *_distance(trace.indices[id(value[0])], *around))
    if depth == 0 and isinstance(value, jinja2.runtime.Macro):
        return ("macro", value.name)  # the same for all iterations
    if isinstance(value, (list, tuple)):
        return (type(value).__name__, *(_described(one, trace, around, seen, depth + 1) for one in value))
    if isinstance(value, dict):
        return (
            "dict",
            *(
                tuple(_described(one, trace, around, seen, depth + 1) for one in item)
                for item in value.items()
            ),
        )
    if isinstance(value, jinja2.Undefined):
        return "undefined", value._undefined_exception.__name__  # some raise an error where others do not
    if isinstance(value, jinja2.utils.Namespace):
        if id(value) in seen:  # two variables may hold the same
            return ("namespace", seen[id(value)])
        seen[id(value)] = len(seen)
        attributes = jinja2.utils.Namespace.__getattribute__(value, "_Namespace__attrs")
        return ("namespace", _described(attributes, trace, around, seen, depth + 1))
    raise Outside(f"a namespace that holds a {type(value).__name__}", 0)


def _described_pieces(pieces: tuple[Any, ...], around: tuple[int, int]) -> Iterator[Any]:
    for piece in pieces:
        if not isinstance(piece, Slot):
            yield piece
        elif isinstance(piece.source, Source):
            source = piece.source
            where = _distance(source.index, *around) if source.origin == "message" else (source.index,)
            yield (source.origin, where, source.role, source.field, piece.steps)
        else:
            yield ("concatenation", tuple(_described_pieces(piece.source, around)), piece.steps)


def _distance(of: int, index: int, back: int) -> tuple[Any, ...]:
    """Where a message is, seen from another one; one of the first may be near, or farther than it reads."""
    return ("first", of, min(index - of, back + 1)) if of < 2 else ("back", index - of)
