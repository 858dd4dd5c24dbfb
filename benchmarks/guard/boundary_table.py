"""Table 1 of paper 004 in kind: boundaries of one tokenizer, by its detectors and by the guard.

For each boundary, where names of control tokens are ordinary text:

* *Det_3, Det_4, Det_5*: the least number of tokens that spell a text with a crossed border, by
  :mod:`benchmarks.guard.windows`.  They know the merges, and no regexes, normalizers or added tokens;
* *the guard*: the verdicts ``crossed_left`` and ``crossed_right`` of ``guard.boundary``;
* *the judge*: the tokenizer's own program.  It has to cross the border in the witness, and may not in any
  text that is drawn to refute a proof.

And for the tokenizer's own control tokens, where their names are read: the same verdicts of the guard.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.guard.attacks import Attacker
from benchmarks.guard.observations import UNKNOWN, Program
from benchmarks.guard.real_merges import merges_of
from benchmarks.guard.subjects import Subject
from benchmarks.guard.windows import Windows
from tests.support.tokenizers.manifest_sources import MANIFESTS
from tokamata import guard
from tokamata.guard.token_edges import ControlTokens

HORIZONS = (3, 4, 5)
NEVER, UNSETTLED, UNWRITTEN = "never crossed", "not settled", "not written"
_MOST_OWN = 12  # control tokens of one tokenizer


class Detectors:
    """The detectors of one tokenizer with merges.

    Attributes:
        build_ms: the time to sort its tokens.
    """

    def __init__(self, subject: Subject) -> None:
        begin = time.process_time()
        self._merges = merges_of(subject.vocabulary)
        if self._merges is not None:
            self._windows = Windows(self._merges.texts, self._merges.schedules)
            self._merges.open_tokens  # noqa: B018  # kept from now on
        self.build_ms = 1e3 * (time.process_time() - begin)

    def least(self, boundary: str) -> int | str:
        """The L of the first detector that rejects a boundary, or why there is none."""
        inside = None if self._merges is None else self._merges.in_characters(boundary)
        if inside is None or self._merges is None:
            return UNWRITTEN
        if not self._merges.is_crossed(self._merges.schedules.leftmost(inside)):
            return NEVER
        least = self._windows.least(inside)
        return UNSETTLED if least is None else least


def rejects(least: int | str, horizon: int) -> bool | None:
    """Whether Det_L rejects a boundary; ``None`` if that is not known."""
    if least in (UNSETTLED, UNWRITTEN):
        return None
    return isinstance(least, int) and least <= horizon


def measure(
    subject: Subject, detectors: Detectors, boundaries: Sequence[str], draws: int, seed: int
) -> dict[str, Any]:
    """What all say of the boundaries, in values of JSON."""
    draw = random.Random(f"{subject.name} {seed}")
    attacker = Attacker(subject.vocabulary, draw)
    begin = time.process_time()
    guard.boundary(subject.source, "|", control_tokens="text")
    cold_ms = 1e3 * (time.process_time() - begin)
    program = Program(subject.source, subject.vocabulary, "text")
    rows = []
    for text in boundaries:
        least, det_ms = _timed(detectors.least, text)
        row = _guarded(subject, program, attacker, text, "text", draws)
        rows.append(row | {"least": least, "det_ms": det_ms})
    program = Program(subject.source, subject.vocabulary, "read")
    names = control_names(subject)
    some = names[:: -(-len(names) // _MOST_OWN) or 1]
    own = [_guarded(subject, program, attacker, name, "read", draws) for name in some]
    facts = {"cold_ms": cold_ms, "build_ms": detectors.build_ms, "manifest": manifest_of(subject.name)}
    return {**facts, "rows": rows, "own": own}


def control_names(subject: Subject) -> list[str]:
    """The names of the control tokens that the program reads in a text; not those of unknown tokens."""
    running = guard.RunningTokenizer(subject.source)
    vocabulary = subject.vocabulary
    controls = [token for token, text in enumerate(vocabulary.tokens) if text is None]
    names = {vocabulary.name(token): token for token in controls}
    return [name for name, token in names.items() if name not in UNKNOWN and running.encode(name) == [token]]


def manifest_of(name: str) -> dict[str, Any] | None:
    """The columns of the paper's table 1, from the measured manifest; ``None`` if there is none."""
    path = MANIFESTS / f"{name}.json"
    if not path.exists():
        return None
    found = json.loads(path.read_bytes())
    facts = {key: fact["value"] for key, fact in found["facts"].items()}
    return {
        "versions": found["versions"],
        "model": facts["model"],
        "normal form": facts["normal_form"],
        "byte fallback": facts["byte_fallback"],
        "filtered": (facts["filtered"] or {}).get("count", 0),
        "space before": facts["add_prefix_space"],
        "false": [key for key, one in found["assumptions"].items() if one["value"] is False],
    }


def _guarded(
    subject: Subject, program: Program, attacker: Attacker, text: str, reading: ControlTokens, draws: int
) -> dict[str, Any]:
    """The guard's verdicts of one boundary, and what the program says of them."""
    found, guard_ms = _timed(guard.boundary, subject.source, text, control_tokens=reading)
    sides = {"left": found.crossed_left, "right": found.crossed_right}
    data = text.encode()
    confirmed = all(
        "crossed" in program.damage(data, verdict.witness.text.decode())
        for verdict in sides.values()
        if verdict.witness is not None
    )
    proved = [side for side, verdict in sides.items() if verdict]
    drawn = attacker.texts(text, draws) if proved else ()
    attacks = refuted = 0
    refutation = None
    for attack in drawn:
        attacks += 1
        pieces, _ = program.laid_out(program.encode(attack) or [])
        if _crossed(data, attack.encode(), pieces, proved):
            refuted += 1
            refutation = refutation or attack
    return {
        "boundary": text,
        **{side: verdict.outcome for side, verdict in sides.items()},
        "one_token": found.one_token.outcome,
        "from_text": found.from_text.outcome,
        "confirmed": confirmed,
        "attacks": attacks,
        "refuted": refuted,
        "refutation": refutation,
        "guard_ms": guard_ms,
    }


def _crossed(boundary: bytes, text: bytes, pieces: list[bytes], sides: list[str]) -> bool:
    """Whether a border on one of the sides is crossed in a text that is reproduced."""
    if b"".join(pieces) != text:
        return False
    borders, at = {0}, 0
    for piece in pieces:
        at += len(piece)
        borders.add(at)
    start = text.find(boundary)
    while start >= 0:
        if "left" in sides and start not in borders:
            return True
        if "right" in sides and start + len(boundary) not in borders:
            return True
        start = text.find(boundary, start + 1)
    return False


def _timed(call: Callable[..., Any], *arguments: object, **settings: object) -> tuple[Any, float]:
    begin = time.process_time()
    found = call(*arguments, **settings)
    return found, 1e3 * (time.process_time() - begin)
