"""What most JSON Schemas share, computed before the first request.

What a vocabulary does within a string, a number or a name is kept with the vocabulary, for all constraints.
The first text that comes to it pays for it: up to 25 ms for one mask of Gemma 3, in which all requests of the
engine wait.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tokamata.constraints.json_constraints import json_schema
from tokamata.matching.masks import allocate_mask
from tokamata.resources.limits import CancelToken
from tokamata.vocabulary import Vocabulary

__all__ = ["VALUE", "warm_up"]

_SCHEMAS: list[dict[str, Any]] = [
    {"type": "object"},
    {
        "properties": {
            "text": {"type": "string"},
            "short": {"type": "string", "maxLength": 50},
            "some": {"type": "string", "minLength": 1},
            "count": {"type": "integer"},
            "share": {"type": "number"},
            "rank": {"type": "integer", "minimum": 0},
            "when": {"type": "string", "format": "date-time"},
            "day": {"type": "string", "format": "date"},
            "list": {"type": "array", "items": {"type": "string"}},
            "kind": {"enum": ["a", "b", None]},
            "flag": {"type": "boolean"},
        },
        "required": ["text"],
    },
]
VALUE = json.dumps(
    {
        "text": "a b",
        "short": "a",
        "some": "a b",
        "count": 12,
        "share": -1.5,
        "rank": 3,
        "when": "2026-11-25T12:30:00.5+01:00",
        "day": "2026-11-25",
        "list": ["a", "b"],
        "kind": None,
        "flag": True,
        "other": {"inner": [0, "a"]},
    }
)
"""A value of each of the schemas."""


def warm_up(vocabulary: Vocabulary, tokens: Sequence[int], cancel: CancelToken) -> None:
    """Compute the masks along a value, with and without a budget.

    Args:
        vocabulary: where the results are kept.
        tokens: those of ``VALUE``.
        cancel: ends it from another thread.

    Raises:
        Cancelled: it was ended.
        TokamataError: the vocabulary cannot spell JSON.
    """
    row = allocate_mask(1, vocabulary.width)[0]
    for schema in _SCHEMAS:
        matcher = json_schema(schema).compile(vocabulary, cancel=cancel).matcher()
        for place, token in enumerate(tokens):
            matcher.fill_mask(row)
            matcher.fill_mask(row, len(tokens) - place)
            if not matcher.advance(token):
                break
