"""A repair as JSON, for programs that read the output of ``tokamata repair --json``."""

from __future__ import annotations

from typing import Any

from tokamata.repair.edits import Edit
from tokamata.repair.losses import ContentChange
from tokamata.repair.results import Margin, Repair

__all__ = ["as_json"]


def as_json(place: str, repair: Repair[Any] | None, margin: Margin | None, why: str) -> dict[str, Any]:
    """All that is known of a repair; or why there is none.

    Offsets count bytes of the broken text.  Bytes that are no UTF-8 are written as ``\\xff``.

    Args:
        place: the text: a file, and the line where each line is a text.
        repair: the repair; ``None``: there is none.
        margin: its margin, if it was to be found.
        why: why there is none.
    """
    if repair is None:
        return {"place": place, "error": why}
    record: dict[str, Any] = {
        "place": place,
        "text": repair.text,
        "cost": repair.cost,
        "lower_bound": repair.lower_bound,
        "optimal": repair.optimal,
        "edits": [_plain(edit) for edit in repair.edits],
        "lost": [_plain(one) for one in repair.lost],
        "invented": [_plain(one) for one in repair.invented],
        "changed": [_plain(one) for one in repair.changed],
    }
    if margin is not None:
        record["margin"] = margin._asdict()
    return record


def _plain(entry: Edit | ContentChange) -> dict[str, Any]:
    return {
        name: value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else value
        for name, value in entry._asdict().items()
    }
