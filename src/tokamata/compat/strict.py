"""What ``strict=True`` refuses: texts whose repair loses, invents or rearranges something."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NoReturn

from tokamata.compat.json_spans import shown_path
from tokamata.compat.made_up import MadeUp
from tokamata.errors import ArgumentError
from tokamata.repair.edits import Edit
from tokamata.repair.results import Repair

__all__ = ["refuse_if_strict"]

_NEVER_ADDED = b":{["
_STRUCTURE = re.compile(rb'[\[\]{}"]')
_CONTENT = re.compile(rb"[0-9A-Za-z\x80-\xff]")
# The names of edits that may drop words or marks: what stands around a value, and ways of writing it.
_HARMLESS = re.compile(r"prose|comment|fence|ellipsis|escape")


def refuse_if_strict(found: Repair[Any], lacking: Sequence[MadeUp]) -> None:
    """Raises :class:`.ArgumentError` for a repair that strict mode does not make.

    Args:
        found: the repair.
        lacking: its values that were made up.
    """
    if lacking:
        _refuse(f"one that lacks the value of {shown_path(lacking[0].path)}")
    for edit in found.edits:
        for mark in _NEVER_ADDED:
            if edit.written.count(mark) > edit.removed.count(mark):
                _refuse(f"one that lacks {chr(mark)!r} at byte {edit.begin}")
        if not _HARMLESS.search(edit.name) and _loses(edit):
            shown = edit.removed.decode("utf-8", "replace")[:40]
            _refuse(f"one with {shown!r} in excess at byte {edit.begin}")
    json.loads(found.text, object_pairs_hook=_checked_names)


def _loses(edit: Edit) -> bool:
    """Whether an edit drops content, or a mark of structure."""
    if edit.name == "remove":
        return bool(_STRUCTURE.search(edit.removed) or _CONTENT.search(edit.removed))
    return len(_STRUCTURE.findall(edit.removed)) > len(_STRUCTURE.findall(edit.written))


def _checked_names(pairs: list[tuple[str, Any]]) -> None:
    names = {name for name, _ in pairs}
    if len(names) < len(pairs):
        _refuse("one with a repeated name")
    if "" in names:
        _refuse("one with an empty name")


def _refuse(what: str) -> NoReturn:
    hint = "pass strict=False, or decide by the edits of tokamata.json().repair(text)"
    raise ArgumentError("json_str", what, "a text that strict=True admits", hint)
