"""The judge of renderings: transformers itself renders the template with texts that were drawn.

The renderings of a shape must be a partition: for any texts, the conditions of exactly one hold, and what
transformers writes is that rendering's text, or an exception where the rendering is refused.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any
from unittest import mock

from transformers.utils import chat_template_utils

from tokamata.guard.templates.pieces import Condition, Rendering, Slot, Source, sources_of
from tokamata.guard.templates.reading import Template
from tokamata.guard.templates.shapes import Shape

__all__ = ["Differs", "compare", "draws", "rendered", "shape_sources"]

SPACES = ["", " ", "\n", "\n\n", "\t", "\u00a0", "\u2003", "\x1c", "\x85", "\u200b", "\r\n"]
WORDS = [
    *(
        "a",
        "Hello",
        "ß",
        "Σ",
        "İ",
        "{",
        "}",
        "{{ x }}",
        "{% if %}",
        "%s",
        '"',
        "'",
        "\\",
        "<b>&amp;</b>",
        "\x00",
        "🙂",
    ),
    *(
        "</think>",
        "<think>",
        "<tool_response>",
        "</tool_response>",
        "<|im_end|>",
        "<|im_start|>",
        "user\n",
        "[/INST]",
    ),
    *("<end_of_turn>", "<|eot_id|>", "/no_think", "e\u0301", "None", "0", "</s>"),
]
NOW = datetime(2026, 2, 3, 4, 5, 6)


class Differs(AssertionError):
    """A rendering that is not what transformers writes."""


class _Clock(datetime):
    @classmethod
    def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]
        return NOW


def needles(renderings: Iterable[Rendering]) -> list[str]:
    """Texts that the conditions and steps name."""
    found: set[str] = set()

    def collect(value: object) -> None:
        if isinstance(value, str):
            found.add(value)
        elif isinstance(value, (tuple, list)):
            for item in value:
                collect(item)
        elif isinstance(value, Slot):
            collect([step.arguments for step in value.steps])
            if isinstance(value.source, tuple):
                collect(value.source)

    for rendering in renderings:
        for condition in rendering.conditions:
            collect(condition.argument)
            collect([piece for piece in condition.subject if isinstance(piece, Slot)])
        collect(list(rendering.slots))
    return sorted(needle for needle in found if len(needle) < 200)


def drawn_text(chooser: random.Random, words: Sequence[str]) -> str:
    """A text, hostile more often than not."""
    chosen = [chooser.choice(SPACES)]
    for _ in range(chooser.choice([0, 0, 1, 1, 1, 2, 3, 5])):
        chosen.append(chooser.choice(words if chooser.random() < 0.7 else SPACES))
    if chooser.random() < 0.5:
        chosen.append(chooser.choice(SPACES))
    return "".join(chosen) if chooser.random() < 0.8 else "".join(chosen).strip()


def drawn_json(chooser: random.Random, words: Sequence[str], depth: int = 2) -> Any:
    """A JSON object."""

    def value(depth: int) -> Any:
        kind = chooser.randrange(7 if depth else 5)
        if kind == 5:
            return [value(depth - 1) for _ in range(chooser.randrange(3))]
        if kind == 6:
            return drawn_json(chooser, words, depth - 1)
        return (chooser.choice(words), chooser.randrange(-9, 99), 0.5, True, None)[kind]

    return {chooser.choice(words): value(depth) for _ in range(chooser.randrange(4))}


def shape_sources(shape: Shape) -> list[Source]:
    """The sources of a shape's own values."""
    found: dict[Source, None] = {}

    def note(source: Source) -> str:
        found[source] = None
        return ""

    shape.inputs(note)
    return list(found)


def draws(
    shape: Shape, renderings: Sequence[Rendering], chooser: random.Random, count: int
) -> Iterator[dict[Source, Any]]:
    """Values of all sources; half of them are led to the conditions of a rendering."""
    words = WORDS + 3 * needles(renderings)
    sources = shape_sources(shape)
    dates = {
        source
        for rendering in renderings
        for pieces in (rendering.pieces, *(condition.subject for condition in rendering.conditions))
        for source in sources_of(pieces)
        if source.origin == "date"
    }
    for _ in range(count):
        values = {
            source: drawn_json(chooser, words) if source.kind == "json" else drawn_text(chooser, words)
            for source in sources
        }
        if renderings and chooser.random() < 0.6:
            for condition in chooser.choice(renderings).conditions:
                _lead(values, condition, chooser)
        for source in dates:
            values[source] = NOW.strftime(source.field)
        yield values


def _lead(values: dict[Source, Any], condition: Condition, chooser: random.Random) -> None:
    """Changes one value so that a condition may hold."""
    slots = [piece for piece in condition.subject if isinstance(piece, Slot)]
    if not slots or not isinstance(slots[0].source, Source) or not isinstance(condition.argument, (str, int)):
        return
    source, argument = slots[0].source, condition.argument
    if source.kind == "json" or source not in values:
        return
    text = values[source]
    if isinstance(argument, int):
        values[source] = "x" * (argument + condition.holds)
    elif condition.kind == "equals":
        values[source] = argument if condition.holds else text or "x"
    elif condition.holds:
        values[source] = {
            "starts with": argument + text,
            "ends with": text + argument,
        }.get(condition.kind, chooser.choice([text + argument, argument + text, text + argument + text]))
    elif argument:
        values[source] = text.replace(argument, "")


def rendered(template: Template, shape: Shape, values: Mapping[Source, Any]) -> str | None:
    """What transformers writes; ``None`` if an exception ends it."""
    inputs = shape.inputs(lambda source: values[source])
    messages, tools = inputs.pop("messages"), inputs.pop("tools")
    with mock.patch.object(chat_template_utils, "datetime", _Clock):
        try:
            (text,), _ = chat_template_utils.render_jinja_template(
                conversations=[messages],
                tools=tools,
                chat_template=template.source,
                **{**template.special_tokens, **inputs},
            )
        except Exception:
            return None
    return text


def compare(
    template: Template, shape: Shape, renderings: Sequence[Rendering], values: Mapping[Source, Any]
) -> Rendering:
    """Compares one draw; returns the rendering whose conditions hold.

    Raises:
        Differs: none or several hold, or the text is another.
    """
    taken = [rendering for rendering in renderings if rendering.holds_for(values)]
    if len(taken) > 1 and taken[-1].unsettled is not None and not taken[-1].conditions:
        taken.pop()  # it stands for those that were not enumerated
    if len(taken) != 1:
        raise Differs(f"{len(taken)} renderings of {shape} hold for {values}")
    (rendering,) = taken
    if rendering.unsettled is None:
        expected = rendered(template, shape, values)
        found = None if rendering.refused is not None else rendering.text(values)
        if found != expected:
            raise Differs(f"{shape}\n{values}\n{rendering}\nfound    {found!r}\nexpected {expected!r}")
    return rendering
