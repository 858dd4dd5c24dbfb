"""Renderings of a template: pieces that are literal texts or slots, under conditions on the slots.

ChatML's ``{{ '<|im_start|>user\\n' + content | trim + '<|im_end|>' }}`` for the first message becomes ::

    ('<|im_start|>user\\n',
     Slot(Source('message', 0, 'user', 'content'), (Step('strip', (None,)),)),
     '<|im_end|>')

A slot stands for every text.  Its steps say what the template makes of the text; the conditions of the
rendering say for which texts the template takes this path.  The conditions of the renderings of one
conversation exclude each other, and together they cover all texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tokamata.guard.templates.steps import STRIPS, Step

__all__ = [
    "Condition",
    "Piece",
    "Rendering",
    "Slot",
    "Source",
    "Unsettled",
    "concretized",
    "sources_of",
]


@dataclass(frozen=True)
class Source:
    """Where a value comes from that a template does not determine.

    Attributes:
        origin: ``"message"``, ``"tool"``, ``"variable"`` (of the caller) or ``"date"``; within the package
            also ``"unknown"``, an answer that a widened template leaves open.
        index: the index of the message or the tool, from 0; -1 for others.
        role: of the message, or ``""``.
        field: the path within the message or the tool, such as ``"content"``, ``"content.0.text"`` or
            ``"tool_calls.0.function.arguments"``; the name of a variable; the format of a date.
        kind: ``"text"``, or ``"json"`` for a JSON object, which a first step makes a text.
    """

    origin: Literal["message", "tool", "variable", "date", "unknown"]
    index: int
    role: str
    field: str
    kind: Literal["text", "json"] = "text"

    def __str__(self) -> str:
        where = f"{self.origin} {self.index}" if self.index >= 0 else self.origin
        return f"{where}: {self.role} {self.field}" if self.role else f"{where}: {self.field}"


@dataclass(frozen=True)
class Slot:
    """An occurrence of a value in a rendering.

    Attributes:
        source: the value; or pieces whose concatenation is the text that the steps apply to, where they
            cannot be applied to each piece alone (``(a + b)[:10]``).
        steps: what the template applies to it, in order.
    """

    source: Source | tuple[Piece, ...]
    steps: tuple[Step, ...] = ()

    @property
    def effect(self) -> Literal["identity", "trimmed left", "trimmed right", "trimmed", "changed"]:
        """What happens to the text; trimmed means white space alone, as ``str.strip`` defines it."""
        if not self.steps:
            return "identity" if isinstance(self.source, Source) else "changed"
        left = right = False
        for step in self.steps:
            if step.name not in STRIPS or step.arguments != (None,) or not isinstance(self.source, Source):
                return "changed"
            sides = STRIPS[step.name]
            left, right = left or sides[0], right or sides[1]
        if left and right:
            return "trimmed"
        return "trimmed left" if left else "trimmed right"

    def __str__(self) -> str:
        source = self.source if isinstance(self.source, Source) else " + ".join(map(_shown, self.source))
        return "{" + " | ".join([str(source), *map(str, self.steps)]) + "}"


Piece = str | Slot


def _shown(piece: Piece) -> str:
    return repr(piece) if isinstance(piece, str) else str(piece)


def concretized(pieces: tuple[Piece, ...], values: Mapping[Source, Any]) -> str:
    """The text of pieces for values of all sources.

    Raises:
        KeyError: a source has no value.
        IndexError: the values contradict the conditions of the rendering.
    """
    texts = []
    for piece in pieces:
        if isinstance(piece, Slot):
            value = (
                values[piece.source]
                if isinstance(piece.source, Source)
                else concretized(piece.source, values)
            )
            for step in piece.steps:
                value = step.apply(value)
            texts.append(value)
        else:
            texts.append(piece)
    return "".join(texts)


def sources_of(pieces: tuple[Piece, ...]) -> Iterator[Source]:
    """The sources in pieces, in order, repeated as they occur."""
    for piece in pieces:
        if isinstance(piece, Slot):
            if isinstance(piece.source, Source):
                yield piece.source
            else:
                yield from sources_of(piece.source)


@dataclass(frozen=True)
class Condition:
    """An answer to a question that a template asks about a text.

    Each is a regular language of the subject, except ``"equals"`` with pieces as its argument.

    Attributes:
        kind: ``"equals"``, ``"contains"``, ``"starts with"``, ``"ends with"``; ``"longer than"`` so many code
            points; ``"more parts than"``: ``text.split(separator, most)`` has more items than the argument
            ``(name of the method, separator, most, count)`` says; ``"is true"``: a JSON value is not empty.
        subject: the text that the question is about; mostly a single slot.
        argument: a text, a number, or pieces.
        holds: the answer.
        line: the line of the template that asks first; equal conditions may have different lines.
    """

    kind: str
    subject: tuple[Piece, ...]
    argument: Any
    holds: bool = True
    line: int = field(default=0, compare=False)

    def is_true_of(self, values: Mapping[Source, Any]) -> bool:
        """Whether the answer is right for these values of the sources."""
        return decided(self, values) == self.holds

    def __str__(self) -> str:
        subject = " + ".join(map(_shown, self.subject))
        argument = " + ".join(map(_shown, self.argument)) if _is_pieces(self) else repr(self.argument)
        return f"{subject} {self.kind} {argument}: {'yes' if self.holds else 'no'}"


def _is_pieces(condition: Condition) -> bool:
    return condition.kind == "equals" and isinstance(condition.argument, tuple)


def decided(condition: Condition, values: Mapping[Source, Any]) -> bool:
    """The answer to the question of a condition for these values, whatever the condition says."""
    if condition.kind == "is true":
        (slot,) = condition.subject
        assert isinstance(slot, Slot)
        assert isinstance(slot.source, Source)
        return bool(values[slot.source])
    text, argument = concretized(condition.subject, values), condition.argument
    if condition.kind == "equals":
        return text == (concretized(argument, values) if isinstance(argument, tuple) else argument)
    if condition.kind == "contains":
        return str(argument) in text
    if condition.kind == "starts with":
        return text.startswith(argument)
    if condition.kind == "ends with":
        return text.endswith(argument)
    if condition.kind == "longer than":
        return len(text) > int(argument)
    assert condition.kind == "more parts than"
    method, separator, most, count = argument
    return len(getattr(text, method)(separator, most)) > int(count)


@dataclass(frozen=True)
class Unsettled:
    """What could not be followed exactly.

    Attributes:
        what: the operation, such as ``"iteration over the characters of a slot"``.
        line: the line of the template, from 1; 0 if it has none.
    """

    what: str
    line: int

    def __str__(self) -> str:
        return f"line {self.line}: {self.what}" if self.line else self.what


@dataclass(frozen=True)
class Rendering:
    """What a template writes for a conversation on one path.

    Attributes:
        pieces: the text; for a rendering that is refused or unsettled, what was written before.
        conditions: the answers that lead to this path.
        refused: the message if the template raises an exception on this path; otherwise ``None``.
        unsettled: what could not be followed on this path; ``None`` if the rendering is exact.
    """

    pieces: tuple[Piece, ...]
    conditions: tuple[Condition, ...]
    refused: str | None = None
    unsettled: Unsettled | None = None

    def holds_for(self, values: Mapping[Source, Any]) -> bool:
        """Whether the template takes this path for these values."""
        return all(condition.is_true_of(values) for condition in self.conditions)

    def text(self, values: Mapping[Source, Any]) -> str:
        """The rendered text for these values, whose path this must be."""
        return concretized(self.pieces, values)

    @property
    def slots(self) -> tuple[Slot, ...]:
        """The slots, in order; a slot may occur more than once."""
        return tuple(piece for piece in self.pieces if isinstance(piece, Slot))

    def __str__(self) -> str:
        parts = [" + ".join(map(_shown, self.pieces)) or "''"]
        parts += [f"  if {condition}" for condition in self.conditions]
        if self.refused is not None:
            parts.append(f"  refused: {self.refused}")
        if self.unsettled is not None:
            parts.append(f"  not settled: {self.unsettled}")
        return "\n".join(parts)
