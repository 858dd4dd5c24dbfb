"""The canonical tokens of one text by the engine's tables, to compare with a tokenizer's own program."""

from __future__ import annotations

import tokamata as tk
import tokamata._core as _core
from tokamata.resources.limits import core_limits
from tokamata.tokenization.canonical import tokenization_of

_LIMITS = core_limits(tk.Limits(seconds=20.0))


def spelled(vocabulary: tk.Vocabulary, text: str) -> tuple[int, ...] | None:
    """The tokens of a text, or ``None`` if no canonical sequence spells it."""
    try:
        shared = _core.SharedConstraint(
            _core.strings([text]),
            vocabulary.core,
            vocabulary.start_core,
            {},
            _LIMITS,
            None,
            "text",
            True,
            tokenization_of(vocabulary),
        )
        constraint = _core.Constraint(shared, _LIMITS, None, "text", True, 0.0)
        return tuple(_core.Matcher(constraint, [], [], [], None, 0).forced_tokens())
    except (tk.NoncanonicalError, tk.UnspellableError):
        return None
