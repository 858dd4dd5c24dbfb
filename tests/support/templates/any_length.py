"""The judge of conversations of any length: drawn conversations, rendered by transformers.

Around each message, one of the renderings has to have the text that was written, with some text for its
unknown slots.  Where that rendering has no tainted slot, the text of the message stands in its own slots
alone."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from tests.support.templates.judge import drawn_text, rendered
from tokamata.guard.templates.pieces import Rendering, Slot, Source, concretized, sources_of
from tokamata.guard.templates.reading import Around, Template
from tokamata.guard.templates.shapes import Shape, Turn
from tokamata.guard.templates.unknowns import is_tainted

__all__ = ["check_appended", "check_around", "drawn_conversation"]

ROLES = ["system", "user", "assistant", "tool"]
WORDS = ["a", "b", "<think>", "</think>", "<|im_end|>", "\n", " ", "user\n", "{", '"', "</s>", "/think", "1"]
_MARK = "\u2603\u2604"


def drawn_conversation(
    chooser: random.Random, roles: Sequence[str], most: int = 6
) -> tuple[Shape, list[str]]:
    """Turns, and their texts."""
    turns = tuple(Turn(chooser.choice(roles)) for _ in range(chooser.randint(1, most)))
    if chooser.random() < 0.6 and {"user", "assistant"} <= set(roles):  # as most templates want it
        turns = tuple(Turn(("user", "assistant")[at % 2]) for at in range(len(turns)))
        if chooser.random() < 0.5 and "system" in roles:
            turns = (Turn("system"), *turns)
    shape = Shape(turns, add_generation_prompt=chooser.random() < 0.3)
    return shape, [drawn_text(chooser, WORDS) for _ in turns]


def written(template: Template, shape: Shape, texts: Sequence[str]) -> str | None:
    """What transformers writes."""
    values = {
        Source("message", index, turn.role, "content"): text
        for index, (turn, text) in enumerate(zip(shape.turns, texts, strict=True))
    }
    return rendered(template, shape, values)


def pattern_of(rendering: Rendering, content: Source, text: str) -> str | None:
    """A regular expression for the texts of a rendering; ``None`` if its conditions do not hold."""
    values = {content: text}
    try:
        if not rendering.holds_for(values):
            return None
        parts = [
            re.escape(piece)
            if isinstance(piece, str)
            else "(?s:.*)"
            if any(source.origin in ("unknown", "date") for source in sources_of((piece,)))
            else re.escape(concretized((piece,), values))
            for piece in rendering.pieces
        ]
    except IndexError:
        return None
    return "".join(parts)


def check_around(
    template: Template, found: Sequence[Around], shape: Shape, texts: list[str], index: int
) -> None:
    """Checks one conversation around one of its messages."""
    whole = written(template, shape, texts)
    if whole is None:
        return
    around = found[min(index, 2)]
    content, role = around.content, shape.turns[index].role
    assert content.role == role
    possible = [one for one in around.renderings if one.refused is None]
    if any(one.unsettled is not None for one in possible):
        return
    fitting = [
        one
        for one in possible
        if (pattern := pattern_of(one, content, texts[index])) is not None and re.fullmatch(pattern, whole)
    ]
    assert fitting, (shape, texts, index, whole, [str(one) for one in possible])
    if any(is_tainted(slot) for one in possible for slot in one.slots):
        return
    # The text of the message stands in its own slots alone.
    marked = written(template, shape, [*texts[:index], _MARK, *texts[index + 1 :]])
    if marked is not None:
        counts = {
            sum(1 for slot in one.slots if content in sources_of((slot,)))
            for one in possible
            if (pattern := pattern_of(one, content, _MARK)) is not None and re.fullmatch(pattern, marked)
        }
        assert marked.count(_MARK) in counts, (shape, index, marked, counts)


def check_appended(
    pairs: Sequence[tuple[Rendering, Rendering]], template: Template, shape: Shape, texts: list[str]
) -> None:
    """Checks the last message of a conversation, if the pairs say that another one changes nothing."""
    last = len(shape.turns) - 2
    short = Shape(shape.turns[:-1])
    one, other = written(template, short, texts[:-1]), written(template, shape, texts)
    if one is None or other is None:
        return
    before = [pair for pair in pairs if pair[0].refused is None and pair[1].refused is None]
    content = Source("message", min(last, 2), shape.turns[last].role, "content")
    own = [
        pair for pair in before if any(slot.source == content for slot in (*pair[0].slots, *pair[1].slots))
    ]
    if own and all(is_kept(*pair) for pair in before):
        assert other.startswith(one), (shape, texts, one, other)


def is_kept(before: Rendering, after: Rendering) -> bool:
    """Whether the first rendering is a prefix of the second."""
    if before.unsettled is not None or after.unsettled is not None:
        return False
    first, second = (
        [item for piece in each.pieces for item in ([piece] if isinstance(piece, Slot) else piece)]
        for each in (before, after)
    )
    return second[: len(first)] == first
