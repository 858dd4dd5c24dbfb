"""Facts: one measured value each, with how it was measured.

    Fact("NFC", how="all 208,540 sampled code points and 21,133 pairs", stated="NFC")

A value is JSON.  ``None`` is not a value: it says that the fact was not measured, and ``how`` says why.
Where the tokenizer's file states the value too, both stand side by side, and a difference is reported.
A witness is a text that shows it, as the program writes it.

What was observed on examples is never more than that: ``how`` names the set, and whether it is the whole.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tokamata.guard.verdicts import Witness

__all__ = ["Fact", "Json", "counted", "not_measured", "shown_bytes", "shown_point", "shown_witness"]

Json = Any  # None, a bool, a number, a text, or lists and objects of these

_FIRST = 8  # entries of a long list that are written out
_LONGEST = 4096  # bytes of a text that is written out
_SHOWN = 120  # characters of an entry, and of a longer text


@dataclass(frozen=True)
class Fact:
    """One measured value.

    Attributes:
        value: the value, in JSON; ``None`` if it was not measured.
        how: how it was measured, over which set; or why it was not.
        stated: what the tokenizer's file or object states; ``None`` if it states nothing.
        witness: a text that shows the value, if there is one.
    """

    value: Json
    how: str
    stated: Json = None
    witness: Witness | None = None

    @property
    def differs(self) -> bool:
        """Whether the program does something else than its file states."""
        return self.value is not None and self.stated is not None and self.value != self.stated

    def to_json(self) -> dict[str, Json]:
        """The fact as an object; fields without a value are left out."""
        found: dict[str, Json] = {"value": self.value, "how": self.how}
        if self.stated is not None:
            found["stated"] = self.stated
        if self.differs:
            found["differs"] = True
        if self.witness is not None:
            found["witness"] = shown_witness(self.witness)
        return found


def not_measured(reason: str, stated: Json = None) -> Fact:
    """A fact that could not be measured, and why."""
    return Fact(None, f"not measured: {reason}", stated)


def shown_witness(witness: Witness) -> dict[str, Json]:
    """A witness in JSON."""
    return {
        "text": shown_bytes(witness.text),
        "tokens": list(witness.tokens),
        "pieces": [shown_bytes(piece) for piece in witness.pieces],
        "position": witness.position,
        "says": witness.says,
        "replayed": witness.replayed,
    }


def shown_bytes(data: bytes) -> Json:
    """Bytes as text, or as ``{"hex": …}`` where they are not UTF-8; the beginning alone of very long ones."""
    if len(data) > _LONGEST:
        return {"bytes": len(data), "beginning": data[:_SHOWN].decode("utf-8", "replace")}
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"hex": data.hex()}


def shown_point(point: int) -> str:
    """A code point as ``U+0041``."""
    return f"U+{point:04X}"


def counted(entries: Sequence[Json], lines: Iterable[str]) -> dict[str, Json]:
    """A long list: how many entries, the first of them, and a digest of all.

    Args:
        entries: all entries, in order.
        lines: one line for each, for the digest.
    """
    digest = hashlib.sha256()
    for line in lines:
        digest.update(line.encode("utf-8", "surrogatepass") + b"\n")
    found: dict[str, Json] = {"count": len(entries), "first": [_clipped(entry) for entry in entries[:_FIRST]]}
    if len(entries) > _FIRST:
        found["sha256"] = digest.hexdigest()
    return found


def _clipped(entry: Json) -> Json:
    return f"{entry[:_SHOWN]}…" if isinstance(entry, str) and len(entry) > _SHOWN else entry
