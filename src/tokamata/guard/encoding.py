"""Encodes the texts of a template's slots apart, where that is proved to change no token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tokamata.calls.arguments import checked_list, checked_text
from tokamata.constraints.constraint import Constraint
from tokamata.errors import ArgumentError, SeamError, VocabularyError, shown_argument
from tokamata.guard.seams import joined_literals, seams
from tokamata.guard.token_edges import TokenEdges
from tokamata.resources.limits import CancelToken, Limits

__all__ = ["encode"]


def encode(
    tokenizer: object,
    template: Sequence[str | Constraint[Any]],
    values: Sequence[str],
    *,
    limits: Limits | None = None,
    cancel: CancelToken | None = None,
) -> list[int]:
    """The token ids of a template with texts in its slots, each encoded apart.

    ::

        any_text = tk.regex("(?s:.*)")
        guard.encode(tokenizer, ["<|im_start|>", any_text, "<|im_end|>"], [question])

    Control tokens come from the literals of the template alone: in a slot their names are ordinary text.  The
    ids are those of the whole text, whatever the other slots have, which :func:`tokamata.guard.seams` proves.

    Args:
        tokenizer: any source that ``Vocabulary.load`` takes, and that can run.
        template: literal texts, and the constraints of the slots.
        values: a text for each slot, in order.
        limits, cancel: as for :func:`tokamata.guard.seams`.

    Raises:
        SeamError: it is not proved that the parts can be encoded one by one; it has the verdict.
        ArgumentError: the number of values is not that of the slots, or a text is not one of its slot.
        VocabularyError: the tokenizer has no program here, or one that reads control tokens in every text.
        UnsupportedTokenizerError, LimitExceeded, Cancelled: as :func:`tokamata.guard.seams`.
    """
    texts: list[str] = checked_list("values", values, "a list of texts")
    for text in texts:
        checked_text(text, "values")
    slots = [part for part in template if not isinstance(part, str)]
    if len(texts) != len(slots):
        raise ArgumentError("values", f"{len(texts)} texts", f"a text for each of the {len(slots)} slots")
    for stretch in seams(tokenizer, template, limits=limits, cancel=cancel).stretches:
        if not stretch.verdict:
            raise SeamError(stretch.parts, stretch.verdict)
    edges = TokenEdges.of(tokenizer, "text")
    ids: list[int] = []
    remaining = iter(texts)
    for part in joined_literals(template):
        if isinstance(part, str):
            for text, is_control in edges.split_controls(part):
                ids += [edges.control_names[text]] if is_control else _encoded(edges, text)
            continue
        text = next(remaining)
        if not part.accepts(text):
            raise ArgumentError("values", shown_argument(text), f"a text that {part} accepts")
        ids += _encoded(edges, text)
    return ids


def _encoded(edges: TokenEdges, text: str) -> list[int]:
    if not text:
        return []
    if edges.running is None:
        raise VocabularyError(f"the tokenizer cannot encode a text here: {edges.why_not_running}")
    ids = edges.running.encode_text(text)
    if ids is None:
        raise VocabularyError(
            f"{edges.running.program} cannot keep names of control tokens as ordinary text; pass a tokenizer "
            "of the package tokenizers, transformers or tiktoken"
        )
    return ids
