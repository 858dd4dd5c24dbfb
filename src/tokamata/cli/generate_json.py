"""A generation as JSON, for programs that read the output of ``tokamata generate --json``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from tokamata.decoding import Generation, Step, Wanted

__all__ = ["as_json"]


def as_json(
    result: Generation[Any],
    steps: Sequence[Step] | None,
    refusal: str | None,
    free: Generation[Any] | None,
    matches: Callable[[Generation[Any]], bool],
) -> dict[str, Any]:
    """A text and all that is known of it, with the same keys in the same order always.

    Args:
        result: the text that is held to the constraint.
        steps: its tokens with what the model wanted; ``None`` if that was not requested.
        refusal: why validators in Python refuse it; ``None`` where they take it.
        free: the text without the constraint; ``None`` if it was not requested.
        matches: whether a text matches the constraint.
    """
    return {
        **_text(result, matches),
        "refused": refusal,
        "steps": None if steps is None else list(map(_step, steps)),
        "without": None if free is None else _text(free, matches),
    }


def _text(result: Generation[Any], matches: Callable[[Generation[Any]], bool]) -> dict[str, Any]:
    return {
        "text": result.text,
        "matches": matches(result),
        "finish_reason": result.finish_reason,
        "tokens": result.tokens,
        "stop_token": result.stop_token,
        "log_probability": _finite(result.log_probability),
        "prompt_tokens": result.prompt_tokens,
        "healed": result.healed,
        "jumped": result.jumped,
        "timing": asdict(result.timing),
    }


def _step(step: Step) -> dict[str, Any]:
    return {
        "token": step.token,
        "text": _shown(step.data),
        "log_probability": _finite(step.log_probability),
        "jumped": step.jumped,
        "legal_mass": step.legal_mass,
        "wanted": None if step.wanted is None else _wanted(step.wanted),
    }


def _wanted(wanted: Wanted) -> dict[str, Any]:
    text = None if wanted.data is None else _shown(wanted.data)
    return {"token": wanted.token, "text": text, "probability": wanted.probability}


def _shown(data: bytes) -> str:
    """Bytes of a token, which may begin or end within a character."""
    return data.decode("utf-8", "backslashreplace")


def _finite(number: float) -> float | None:
    """JSON has no infinity."""
    return number if math.isfinite(number) else None
