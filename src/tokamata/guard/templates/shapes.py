"""Shapes of conversations: which turns there are and which fields they have, without their texts.

    Shape.of("system", "user", "assistant", add_generation_prompt=True)
    Shape((Turn("user"), Turn("assistant", content=None, tool_calls=1), Turn("tool")), tools=1)

The inputs of a template are those that ``apply_chat_template`` of transformers gives it: ``tools`` and
``documents`` are ``None`` if there are none, and a turn's reasoning stands in ``reasoning_content`` and
``thinking``.  Variables that the caller does not pass are not defined.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tokamata.errors import ArgumentError
from tokamata.guard.templates.pieces import Source

__all__ = ["Shape", "Turn"]

_MOST_TURNS = 100


@dataclass(frozen=True)
class Turn:
    """One message.

    Attributes:
        role: as the template compares it, such as ``"user"``.
        content: ``"text"``: a text; a tuple of types: a list of parts, of which those of type ``"text"`` have
            a text; ``None``: the message has no content.
        reasoning: whether it has a text of reasoning.
        tool_calls: how many tools it calls; each call has a text as its name, one as its id, and a JSON
            object as its arguments.
        arguments: names of the members of each call's arguments, with unknown texts as their values, for
            templates that go through the members; ``None``: the object is unknown as a whole.
        texts: other fields that hold texts, such as ``"name"`` or ``"tool_call_id"``.
    """

    role: str
    content: str | tuple[str, ...] | None = "text"
    reasoning: bool = False
    tool_calls: int = 0
    arguments: tuple[str, ...] | None = None
    texts: tuple[str, ...] = ()

    @property
    def text_field(self) -> str:
        """The path to the first text of its content."""
        return "content" if isinstance(self.content, str) else "content.0.text"

    def __post_init__(self) -> None:
        if not (self.content is None or self.content == "text" or isinstance(self.content, tuple)):
            expected = '"text", a tuple of types of parts, or None'
            raise ArgumentError("Turn.content", repr(self.content)[:80], expected)


@dataclass(frozen=True)
class Shape:
    """A conversation without its texts, and the other inputs of a template.

    Attributes:
        turns: the messages.
        tools: how many tools there are, each with a text as its name, one as its description, and a JSON
            object as its parameters; or the tools themselves, as JSON values without slots.
        add_generation_prompt: whether the model is to go on.
        variables: values of other variables that the caller passes, such as ``{"enable_thinking": False}``.
        text_variables: names of other variables that hold unknown texts.
    """

    turns: tuple[Turn, ...]
    tools: int | tuple[Mapping[str, Any], ...] = 0
    add_generation_prompt: bool = False
    variables: Mapping[str, Any] = field(default_factory=dict)
    text_variables: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= len(self.turns) <= _MOST_TURNS:
            raise ArgumentError("Shape.turns", f"{len(self.turns)} turns", f"1 to {_MOST_TURNS} turns")

    @classmethod
    def of(cls, *roles: str, add_generation_prompt: bool = False) -> Shape:
        """A plain conversation: each message has a text as its content."""
        return cls(tuple(Turn(role) for role in roles), add_generation_prompt=add_generation_prompt)

    def first(self, turns: int) -> Shape:
        """The shape of the first turns."""
        return replace(self, turns=self.turns[:turns])

    def inputs(self, value_of: Callable[[Source], Any]) -> dict[str, Any]:
        """The variables of a template, with a value for each source.

        The same function makes the inputs of a symbolic run and those of a real one.
        """
        variables = {name: value_of(Source("variable", -1, "", name)) for name in self.text_variables}
        return {
            "messages": [_message(index, turn, value_of) for index, turn in enumerate(self.turns)],
            "tools": _tools(self.tools, value_of),
            "documents": None,
            "add_generation_prompt": self.add_generation_prompt,
            **self.variables,
            **variables,
        }


def _message(index: int, turn: Turn, value_of: Callable[[Source], Any]) -> dict[str, Any]:
    def text(path: str) -> Any:
        return value_of(Source("message", index, turn.role, path))

    message: dict[str, Any] = {"role": turn.role}
    if turn.content == "text":
        message["content"] = text("content")
    elif turn.content is not None:
        message["content"] = [
            {"type": kind, "text": text(f"content.{number}.text")} if kind == "text" else {"type": kind}
            for number, kind in enumerate(turn.content)
        ]
    if turn.tool_calls:
        message["tool_calls"] = [
            {
                "id": text(f"tool_calls.{number}.id"),
                "type": "function",
                "function": {
                    "name": text(f"tool_calls.{number}.function.name"),
                    "arguments": value_of(
                        Source("message", index, turn.role, f"tool_calls.{number}.function.arguments", "json")
                    )
                    if turn.arguments is None
                    else {
                        name: text(f"tool_calls.{number}.function.arguments.{name}")
                        for name in turn.arguments
                    },
                },
            }
            for number in range(turn.tool_calls)
        ]
    message.update({name: text(name) for name in turn.texts})
    if turn.reasoning:
        reasoning = text("reasoning_content")
        message = {"thinking": reasoning, **message, "reasoning_content": reasoning}
    return message


def _tools(tools: int | tuple[Mapping[str, Any], ...], value_of: Callable[[Source], Any]) -> list[Any] | None:
    if not isinstance(tools, int):
        return [_copied(tool) for tool in tools]
    return [
        {
            "type": "function",
            "function": {
                "name": value_of(Source("tool", number, "", "function.name")),
                "description": value_of(Source("tool", number, "", "function.description")),
                "parameters": value_of(Source("tool", number, "", "function.parameters", "json")),
            },
        }
        for number in range(tools)
    ] or None


def _copied(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _copied(item) for key, item in value.items()}
    return [_copied(item) for item in value] if isinstance(value, (list, tuple)) else value
