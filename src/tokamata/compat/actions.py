"""What a repair has done, in the form of json_repair's log: a text and its surroundings for each action."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tokamata.repair.edits import Edit

__all__ = ["action", "actions"]

_AROUND = 10  # bytes of the broken text on each side
_LONGEST_SHOWN = 60  # bytes of an edit


def actions(broken: bytes, edits: Sequence[Edit]) -> list[dict[str, str]]:
    """An entry for each edit; insertions side by side are one."""
    return [
        action(_text(edit), broken[max(edit.begin - _AROUND, 0) : edit.end + _AROUND])
        for edit in _joined(edits)
    ]


def action(text: str, context: bytes = b"") -> dict[str, str]:
    """An entry of the log."""
    return {"text": text, "context": context.decode("utf-8", "replace")}


def _joined(edits: Sequence[Edit]) -> Iterator[Edit]:
    last: Edit | None = None
    for edit in edits:
        if edit.removed == edit.written:
            continue  # a byte in doubt, which was kept
        if last is not None and last.name == edit.name == "insert" and last.begin == edit.begin:
            last = last._replace(written=last.written + edit.written)
            continue
        if last is not None and last.name == edit.name == "remove" and last.end == edit.begin:
            last = last._replace(removed=last.removed + edit.removed, end=edit.end)
            continue
        if last is not None:
            yield last
        last = edit
    if last is not None:
        yield last


def _text(edit: Edit) -> str:
    if edit.name == "insert":
        return f"inserted {_shown(edit.written)}"
    if edit.name == "remove":
        return f"removed {_shown(edit.removed)}"
    became = f"became {_shown(edit.written)}" if edit.written else "was removed"
    return f"{edit.name}: {_shown(edit.removed)} {became}"


def _shown(part: bytes) -> str:
    text = part[:_LONGEST_SHOWN].decode("utf-8", "replace")
    return repr(text if len(part) <= _LONGEST_SHOWN else text + "…")
