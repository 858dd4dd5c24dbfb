"""What was done to make a mask, for those who wonder why it took its time.

    print(compiled.matcher().mask_report())

A mask is known, or that of a state which is alike, or it is made by one of several makers
(``core/composition/mask_work.hpp``).  Each of them counts what it does, always; a report is the difference of
two counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["MaskReport"]


@dataclass(frozen=True)
class MaskReport:
    """How masks came about: of one matcher's next mask, or of all masks of a compiled constraint.

    A mask may be made of others: with a schema, of those of several readings.  So there may be more masks
    than were requested.

    Attributes:
        masks: how many were made by each maker, without those that made none.  ``"walk"``: the vocabulary's
            trie, with the automaton.  ``"classes"``: classes of tokens that the pattern does not tell apart.
            ``"factors"``: wide classes of characters, which constraints share.  ``"segments"``: segments of
            terminals and of rules.  ``"stack memo"``: the mask of an expression that begins alike.
            ``"union"``: the masks of several readings.  ``"language"``: rules within a regular language.
            ``"canonical"``: hypotheses of the tokenizer.
        known: masks that were there.
        alike: masks that another state had, which is alike.
        segments_found, segments_made: segments of terminals and rules that were used.
        states: that were added to the automaton.
        nodes: of tries that were walked.
        alternatives: of rules that were followed.
        unverified: tokens that the exact state had to judge, one after another.
        seconds: that masks took which were not known, in all.
        segment_seconds, unverified_seconds: of these, for segments, and for unverified tokens.
    """

    masks: dict[str, int]
    known: int
    alike: int
    segments_found: int
    segments_made: int
    states: int
    nodes: int
    alternatives: int
    unverified: int
    seconds: float
    segment_seconds: float
    unverified_seconds: float

    @property
    def is_known(self) -> bool:
        """Whether no mask was made."""
        return not self.masks and not self.alike

    def __str__(self) -> str:
        rows = [
            (
                "masks",
                ", ".join(f"{count:,} by {maker}" for maker, count in self.masks.items()) or "none made",
            )
        ]
        rows += [(name, f"{getattr(self, name):,}") for name in _COUNTS if getattr(self, name)]
        times = [(name.removesuffix("_seconds"), getattr(self, name)) for name in _TIMES]
        rows += [
            ("time" if name == "seconds" else f"  {name}", f"{1e6 * seconds:,.1f} µs")
            for name, seconds in times
            if seconds
        ]
        return "\n".join(f"{name.replace('_', ' '):<16}{value}" for name, value in rows)


_COUNTS = (
    "known",
    "alike",
    "segments_found",
    "segments_made",
    "states",
    "nodes",
    "alternatives",
    "unverified",
)
_TIMES = ("seconds", "segment_seconds", "unverified_seconds")


def report_of(work: dict[str, Any]) -> MaskReport:
    """The report of what the engine has counted."""
    return MaskReport(**{**work, "masks": {maker: count for maker, count in work["masks"].items() if count}})
