"""What an audit finds, and how it is counted.

A *finding* is an error with a witness that the judge, or the engine's own masks, prove.  A *difference* has a
reason that is no error: a restriction of style, or an annotation.  What nobody has judged is *unjudged*.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

__all__ = ["Audit", "Finding", "Kind"]


class Kind(str, Enum):
    """What an engine does wrong."""

    TOO_STRICT = "refuses a valid instance"
    """A valid instance, of whose value the engine takes no text that was tried."""
    TOO_LOOSE = "accepts an invalid instance"
    """The engine's masks allow a whole text whose value the judge refuses."""
    NOT_JSON = "accepts text that is not JSON"
    DEAD_END = "dead end"
    """After text that its masks allow, no token is allowed, and the text may not end."""
    CONTRADICTION = "mask and advance differ"
    """A token that the mask allows is refused when it is given."""
    CRASH = "crash"
    HANG = "no answer"
    ERROR = "exception"


@dataclass(frozen=True)
class Finding:
    """One error.

    Attributes:
        kind: what is wrong.
        prefix: the text up to the bit that is wrong.
        token: the token of that bit; ``None`` for the end of a text, and where a text is wrong as a whole.
        token_text: its bytes.
        witness: the whole text.
        reason: what the judge says, or how the engine ended.
        place: JSON Pointer to the keyword by which the judge refuses the witness; ``""`` where it accepts it.
    """

    kind: Kind
    prefix: bytes
    token: int | None
    token_text: bytes
    witness: bytes
    reason: str
    place: str = ""

    def is_like(self, other: Finding) -> bool:
        """Whether both show the same error, as far as can be said without looking into the engine."""
        if self.kind is not other.kind:
            return False
        if self.place:
            return self.place == other.place
        return self.token == other.token and (self.token is not None or self.witness == other.witness)

    def as_json(self) -> dict[str, Any]:
        """For machines; bytes that are not UTF-8 are written as ``\\\\xff``."""
        return {
            "kind": self.kind.value,
            "prefix": _shown(self.prefix),
            "token": self.token,
            "token_text": _shown(self.token_text),
            "witness": _shown(self.witness),
            "reason": self.reason,
            "place": self.place,
        }


@dataclass
class Audit:
    """The audit of an engine by one schema.

    Attributes:
        engine, reference: their names.
        refused: why the engine does not take the schema; ``""`` where it does.
        reference_refused, judge_refused: the same of the reference, and of the judge.
        compile_seconds: how long the engine took to compile.
        seconds: how long the audit took.
        texts: texts that were compared.
        masks: masks that were compared, bit by bit.
        refused_bits, allowed_bits: bits that the engine has clear and the reference set, and the reverse.
        judged: differing bits and texts that were judged.
        findings: errors of the engine.
        differences: how often what is no error was the reason, by reason.
        unjudged: how often there was no verdict, by reason.
        examples: the first text for each of these reasons.
        reference_findings: errors of the reference.
        is_interrupted: whether it was cancelled.
    """

    engine: str
    reference: str
    refused: str = ""
    reference_refused: str = ""
    judge_refused: str = ""
    compile_seconds: float = 0.0
    seconds: float = 0.0
    texts: int = 0
    masks: int = 0
    refused_bits: int = 0
    allowed_bits: int = 0
    judged: int = 0
    findings: list[Finding] = field(default_factory=list)
    differences: Counter[str] = field(default_factory=Counter)
    unjudged: Counter[str] = field(default_factory=Counter)
    examples: dict[str, bytes] = field(default_factory=dict)
    reference_findings: list[Finding] = field(default_factory=list)
    is_interrupted: bool = False

    def count(self, kind: Kind) -> int:
        """How many findings are of a kind."""
        return sum(one.kind is kind for one in self.findings)

    def note(self, counts: Counter[str], reason: str, text: bytes) -> None:
        """Count a reason, of :attr:`differences` or of :attr:`unjudged`."""
        counts[reason] += 1
        self.examples.setdefault(reason, text)

    def as_json(self) -> dict[str, Any]:
        """For machines."""
        found = dict(vars(self))
        for name in ("findings", "reference_findings"):
            found[name] = [one.as_json() for one in found[name]]
        found["examples"] = {reason: _shown(text) for reason, text in self.examples.items()}
        return json.loads(json.dumps(found))  # type: ignore[no-any-return]


def _shown(text: bytes) -> str:
    return text.decode("utf-8", "backslashreplace")
