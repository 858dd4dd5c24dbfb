"""How a constraint takes a text as JSON, for programs that read the output of ``tokamata mask --json``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from tokamata.cli.mask_rows import Row
from tokamata.matching.matchers import Matcher
from tokamata.vocabulary import Vocabulary

__all__ = ["as_json"]


def as_json(
    vocabulary: Vocabulary, matcher: Matcher, tokens: Sequence[int], rows: Sequence[Row], why: bool
) -> dict[str, Any]:
    """Each position of the text, why a token is refused, and all that may follow; always the same keys.

    Args:
        vocabulary: of the tokens.
        matcher: where it stands after the last row.
        tokens: those of the whole text.
        rows: the positions that were reached.
        why: whether each position says how its mask came about.
    """
    taken, last = len(rows) - 1, rows[-1]
    return {
        "taken": taken == len(tokens),
        "accepted": taken == len(tokens) and last.accepting,
        "width": vocabulary.width,
        "tokens": [_piece(vocabulary, token) for token in tokens],
        "positions": [_position(row, why) for row in rows],
        "refusal": None if taken == len(tokens) else _refusal(matcher, tokens[taken], taken),
        "allowed": last.allowed.tolist(),
        "shortest_completion": matcher.shortest_completion(),
    }


def _piece(vocabulary: Vocabulary, token: int) -> dict[str, Any]:
    data = vocabulary[token]
    return {"token": token, "text": vocabulary.name(token) if data is None else _shown(data)}


def _position(row: Row, why: bool) -> dict[str, Any]:
    return {
        "accepted": row.accepting,
        "allowed": len(row.allowed),
        "forced": _shown(row.forced),
        "mask": asdict(row.report) if why else None,
    }


def _refusal(matcher: Matcher, token: int, index: int) -> dict[str, Any]:
    explanation = matcher.explain(token)
    return {
        "index": index,
        "token": token,
        "offset": explanation.offset,
        "rule": explanation.rule,
        "says": str(explanation),
    }


def _shown(data: bytes) -> str:
    """Bytes of a token, which may begin or end within a character."""
    return data.decode("utf-8", "backslashreplace")
