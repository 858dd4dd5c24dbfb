"""Compares the masks of two engines along texts of a schema, and has a judge say which of them is wrong.

**The problem.**  A mask has a bit for each of 100,000 tokens.  Where two engines differ, one of them may be
wrong, or the two differ in what they mean to allow.  No engine can say which.

**What is proven.**  The engine that allows a token finishes a text with it: the witness.  The judge
(`judging`), which knows no engine, says whether the schema accepts its value.

    schema {"type": "integer", "maximum": 5}; both engines have read nothing

    the candidate refuses "5"   the reference finishes: 5     valid     the candidate is too strict
    the candidate allows "6"    the candidate finishes: 6     invalid   the candidate is too loose
    the candidate refuses " "   the reference finishes: " 5"  valid     but the candidate takes "5", which is
                                                                        the same value: its style, no error
    the candidate allows "-"    the candidate has no token that goes on: a dead end

So an error of the reference is found as one of the candidate is: what it allows and the judge refuses, and
what it refuses and the judge accepts.  Bits that no witness decides are counted as unjudged.

**Which texts.**  Instances that the caller has, valid and invalid; then, in turns, texts that the candidate
writes under its own masks, and texts that the reference writes (`walks`).  Each is cut into tokens in more
than one way.  Along each, all bits are counted, and some are judged: of each text ``_BITS_OF_A_TEXT`` in each
direction.

**Cost.**  A text of n tokens takes 2 n masks; a judged bit takes one more text, and up to 700 where a value
seems to be refused (`styles`).  The audit ends when its time is up.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tokamata.audit.apart import Broken, Crashed, Hung
from tokamata.audit.findings import Audit, Finding, Kind
from tokamata.audit.judging import Judgement, Verdict
from tokamata.audit.sides import Bounds, Process, Side, SideBroken
from tokamata.audit.spelling import Speller
from tokamata.audit.styles import written_otherwise
from tokamata.audit.walks import Followed, Writing, Written
from tokamata.matching.masks import allowed_tokens
from tokamata.vocabulary import Vocabulary

__all__ = ["Auditor", "Instance"]

_BITS_OF_A_TEXT = 6  # judged, in each direction
_MOST_TOKENS = 1000  # of an instance; the masks of a longer one are not compared
_EXPLORED = (0, 1, 2, 4, 8, 16, 32)  # tokens before a text is led to its end; one is drawn
_JUDGE_SECONDS = 10.0  # for a schema, or for a few instances


@dataclass(frozen=True)
class Instance:
    """A value, and whether the schema accepts it."""

    value: Any
    is_valid: bool


@dataclass(eq=False)
class Auditor:
    """Audits schemas, one after another, with the same two engines.

    Attributes:
        candidate, reference: the engines.
        judge: has a :class:`.Judge`.
        vocabulary: the tokens.
        seed: of all that is drawn.
        progress: called with the share of the time that has passed.
    """

    candidate: Side
    reference: Side
    judge: Process
    vocabulary: Vocabulary
    seed: int = 0
    progress: Callable[[float], None] = lambda share: None

    def __post_init__(self) -> None:
        self.speller = Speller(self.vocabulary)

    def close(self) -> None:
        """End all processes."""
        for process in (self.candidate.process, self.reference.process, self.judge):
            process.close()

    def audit(self, schema: str, bounds: Bounds, instances: Sequence[Instance] = ()) -> Audit:
        """Audit the candidate by one schema.

        An engine that crashes or hangs ends the audit with that finding.  Ctrl-C ends it with what was found
        so far, and ``is_interrupted``.
        """
        run = _Run(self, schema, bounds)
        start = time.monotonic()
        try:
            run.run(instances)
        except KeyboardInterrupt:
            run.audit.is_interrupted = True
        run.audit.seconds = time.monotonic() - start
        return run.audit


class _Run:
    """One schema."""

    def __init__(self, auditor: Auditor, schema: str, bounds: Bounds) -> None:
        self._candidate, self._reference = candidate, reference = auditor.candidate, auditor.reference
        self.audit = Audit(candidate.name, reference.name)
        self._judge_process = auditor.judge
        self._speller, self._vocabulary = auditor.speller, auditor.vocabulary
        self._schema, self._bounds, self._progress = schema, bounds, auditor.progress
        self._rng = random.Random(auditor.seed)
        self._read_schema: Any = None
        self._has_reference = True
        self._start = self._end = 0.0
        self._judgements: dict[bytes, Judgement] = {}
        self._strict: set[tuple[str, bytes]] = set()
        candidate.bounds = reference.bounds = bounds

    # ---- the course -----------------------------------------------------------------------

    def run(self, instances: Sequence[Instance]) -> None:
        try:
            if not self._begin():
                return
            self._start = time.monotonic()
            self._end = self._start + self._bounds.seconds
            for instance in instances:
                if self._is_over():
                    return
                self._check_instance(instance)
            rounds = 0
            while not self._is_over() and rounds != self._bounds.rounds:
                self._round()
                rounds += 1
        except SideBroken as broken:
            self._note_broken(broken)

    def _begin(self) -> bool:
        """Compile; whether there is something to audit."""
        try:
            self._read_schema = json.loads(self._schema)
        except (ValueError, RecursionError) as error:
            self.audit.judge_refused = str(error)
        try:
            self.audit.judge_refused = self._judge_process.call("take", _JUDGE_SECONDS, self._schema)
        except Broken as error:
            self.audit.judge_refused = str(error)
        self._candidate.start()
        begun = time.monotonic()
        self.audit.refused = self._candidate.compile(self._schema)
        self.audit.compile_seconds = time.monotonic() - begun
        if self.audit.refused:
            return False
        try:
            self.audit.reference_refused = self._reference.compile(self._schema)
        except SideBroken as broken:
            self.audit.reference_refused = str(broken)
        self._has_reference = not self.audit.reference_refused
        return True

    def _is_over(self) -> bool:
        now = time.monotonic()
        self._progress(min(1.0, (now - self._start) / self._bounds.seconds))
        return now >= self._end or bool(
            self._has_enough(Kind.TOO_STRICT) and self._has_enough(Kind.TOO_LOOSE)
        )

    def _has_enough(self, kind: Kind) -> bool:
        return self.audit.count(kind) >= self._bounds.enough

    def _note_broken(self, broken: SideBroken) -> None:
        """A crash of the candidate is a finding; one of the reference ends the comparison."""
        kinds = {Crashed: Kind.CRASH, Hung: Kind.HANG}
        kind = kinds.get(type(broken.error), Kind.ERROR)
        found = Finding(kind, broken.text, None, b"", broken.text, f"{broken.error}, {broken.doing}")
        is_candidate = broken.side is self._candidate
        (self.audit.findings if is_candidate else self.audit.reference_findings).append(found)

    def _check_instance(self, instance: Instance) -> None:
        """Both ways: a valid one must be writable in some style, an invalid one in none."""
        try:
            text = json.dumps(instance.value, ensure_ascii=False).encode()
        except (UnicodeEncodeError, RecursionError):
            self.audit.note(self.audit.unjudged, "instance that UTF-8 cannot write", b"")
            return
        wanted = Verdict.VALID if instance.is_valid else Verdict.INVALID
        judgement = self._judged(text)
        if judgement.verdict is not wanted:
            reason = f"instance said to be {wanted.value}: {judgement.verdict.value}"
            self.audit.note(self.audit.unjudged, reason, text)
            return
        tokens = self._speller.longest(text)
        if tokens is None:
            return
        self.audit.judged += 1
        if instance.is_valid:
            self._compare_along(tokens)
            followed = self._candidate.follow(tokens, False)
            if followed.taken < len(tokens) or not followed.may_end:
                self._blame_strict(self._candidate, tokens, followed.taken)
            return
        taken = written_otherwise(text, self._read_schema, self._reader(self._candidate), searches=False)
        if taken is not None:
            self._add(
                self._candidate, Kind.TOO_LOOSE, b"", None, taken.text, judgement.reason, judgement.place
            )

    def _round(self) -> None:
        """A text of each engine, and the bits along it."""
        how = Writing(self._rng.getrandbits(32), self._rng.choice(_EXPLORED))
        sides = [self._candidate, *([self._reference] if self._has_reference else [])]
        for side in sides:
            [written] = side.write([([], how)])
            self._judge_written(side, [(written, None)])
            tokens = written.tokens
            again = (
                self._speller.at_random(side.text_of(tokens), self._rng) if self._rng.random() < 0.3 else None
            )
            if self._is_over():
                return
            self._compare_along(again or tokens)
            if self._is_over():
                return

    # ---- bits ------------------------------------------------------------------------------

    def _compare_along(self, tokens: list[int]) -> None:
        """Count the bits that differ along a text, and judge some of them."""
        tokens = tokens[:_MOST_TOKENS]
        mine = self._candidate.follow(tokens, True)
        self.audit.texts += 1
        self.audit.masks += mine.taken + 1
        self._note_problem(self._candidate, mine, tokens)
        if not self._has_reference:
            return
        theirs = self._reference.follow(tokens, True)
        self._note_problem(self._reference, theirs, tokens)
        assert mine.masks is not None
        assert theirs.masks is not None
        count = min(mine.taken, theirs.taken) + 1
        refused = theirs.masks[:count] & ~mine.masks[:count]
        allowed = mine.masks[:count] & ~theirs.masks[:count]
        ends_refused = [index for index in range(count) if theirs.ends[index] and not mine.ends[index]]
        ends_allowed = [index for index in range(count) if mine.ends[index] and not theirs.ends[index]]
        self.audit.refused_bits += _bit_count(refused) + len(ends_refused)
        self.audit.allowed_bits += _bit_count(allowed) + len(ends_allowed)
        both = (
            (self._candidate, allowed, ends_allowed, Kind.TOO_LOOSE),
            (self._reference, refused, ends_refused, Kind.TOO_STRICT),
        )
        for allows, bits, ends, kind in both:
            if self._has_enough(kind) or self._is_over():
                continue
            found = [(Written(tokens[:index], "ended"), index) for index in ends[:2]]
            chosen = self._chosen(bits)
            asked = [
                ([*tokens[:index], token], Writing(self._rng.getrandbits(32), 0, most=index + 80))
                for index, token in chosen
            ]
            if asked:
                written = allows.write(asked)
                found += [(one, index) for one, (index, _) in zip(written, chosen, strict=True)]
            self._judge_written(allows, found)

    def _note_problem(self, side: Side, followed: Followed, tokens: list[int]) -> None:
        text = side.text_of(tokens[: followed.taken])
        if followed.problem == "dead end":
            self._add(side, Kind.DEAD_END, text, None, text, "no token is allowed, and the text may not end")
        elif followed.problem:
            self._add(side, Kind.CONTRADICTION, text, tokens[followed.taken], text, "advance refuses it")

    def _chosen(self, bits: npt.NDArray[np.int32]) -> list[tuple[int, int]]:
        """Positions and tokens to be judged: none of which an error is known, matters of style last."""
        known = {one.token for one in (*self.audit.findings, *self.audit.reference_findings)}
        rows = np.flatnonzero(bits.any(axis=1)).tolist()
        self._rng.shuffle(rows)
        found = []
        for index in rows[:_BITS_OF_A_TEXT]:
            tokens = allowed_tokens(bits[index]).tolist()
            drawn = [token for token in self._rng.sample(tokens, min(8, len(tokens))) if token not in known]
            drawn.sort(key=self._is_style)
            found += [(index, token) for token in drawn[: 1 + (len(rows) < 3)]]
        return found[:_BITS_OF_A_TEXT]

    def _is_style(self, token: int) -> bool:
        value = self._vocabulary[token] or b""
        return b"\\" in value or any(byte in b" \n\r\t" for byte in value)

    # ---- judging ---------------------------------------------------------------------------

    def _judge_written(self, writes: Side, found: Sequence[tuple[Written, int | None]]) -> None:
        """Judge what an engine let be written.

        Args:
            writes: that engine.
            found: texts, each with the index of the token, or the end, that the other engine refuses;
                ``None`` where it was not asked yet.
        """
        self._judge([writes.text_of(one.tokens) for one, _ in found if one.outcome == "ended"])
        for one, index in found:
            tokens, text = one.tokens, writes.text_of(one.tokens)
            if one.outcome == "ended":
                self._judge_text(writes, tokens, index)
            elif one.outcome == "dead end":
                reason = "no token is allowed, and the text may not end"
                self._add(writes, Kind.DEAD_END, text, None, text, reason)
            elif one.outcome == "contradiction":
                prefix = writes.text_of(tokens[:-1])
                self._add(writes, Kind.CONTRADICTION, prefix, tokens[-1], text, "advance refuses it")
            elif index is not None:
                self.audit.note(self.audit.unjudged, "no end found", text)

    def _judge_text(self, writes: Side, tokens: list[int], index: int | None) -> None:
        """Judge a whole text that one engine allows, and the other perhaps refuses at a token."""
        other = self._reference if writes is self._candidate else self._candidate
        text = writes.text_of(tokens)
        judgement = self._judged(text)
        verdict = judgement.verdict
        self.audit.judged += 1
        prefix = text if index is None else writes.text_of(tokens[:index])
        token = tokens[index] if index is not None and index < len(tokens) else None
        if verdict is Verdict.INVALID:
            self._add(writes, Kind.TOO_LOOSE, prefix, token, text, judgement.reason, judgement.place)
        elif verdict is Verdict.NOT_JSON:
            self._add(writes, Kind.NOT_JSON, prefix, token, text, judgement.reason)
        elif verdict is Verdict.VALID:
            if other is self._reference and not self._has_reference:
                return
            if index is None:
                followed = other.follow(tokens, False)
                if followed.taken == len(tokens) and followed.may_end:
                    return
                index = followed.taken
            self._blame_strict(other, tokens, index)
        elif writes is self._reference:
            return
        elif verdict in (Verdict.FORMAT, Verdict.REPEATED_NAME):
            self.audit.note(self.audit.differences, verdict.value, text)
        else:
            self.audit.note(self.audit.unjudged, judgement.reason[:80] or verdict.value, text)

    def _blame_strict(self, side: Side, tokens: list[int], index: int) -> None:
        """A valid text that an engine refuses at a token: its style, or its value."""
        text = side.text_of(tokens)
        key = (side.name, text)
        if key in self._strict or (side is self._candidate and self._has_enough(Kind.TOO_STRICT)):
            return
        self._strict.add(key)
        taken = written_otherwise(text, self._read_schema, self._reader(side))
        if taken is not None:
            if side is self._candidate:
                reason = ", ".join(sorted(taken.changed)) or "tokenization"
                self.audit.note(self.audit.differences, reason, text)
            return
        token = tokens[index] if index < len(tokens) else None
        reason = "valid, and refused in every style that was tried"
        self._add(side, Kind.TOO_STRICT, side.text_of(tokens[:index]), token, text, reason)

    def _reader(self, side: Side) -> Callable[[Sequence[bytes]], list[int]]:
        def read(texts: Sequence[bytes]) -> list[int]:
            spelled = [self._speller.longest(text) or [] for text in texts]
            taken = side.read(spelled)
            return [
                len(side.text_of(tokens[:count])) if count >= 0 else (-1 if tokens else 0)
                for tokens, count in zip(spelled, taken, strict=False)
            ]

        return read

    def _judged(self, text: bytes) -> Judgement:
        self._judge([text])
        return self._judgements[text]

    def _judge(self, texts: Sequence[bytes]) -> None:
        """Have the judge read those that it has not read."""
        new = [text for text in dict.fromkeys(texts) if text not in self._judgements]
        if not new:
            return
        try:
            self._judgements.update(zip(new, self._answers(new), strict=True))
        except Broken as error:
            if len(new) == 1:
                self._judgements[new[0]] = Judgement(Verdict.UNCLEAR, str(error))
                return
            for text in new:
                self._judge([text])

    def _answers(self, texts: list[bytes]) -> list[Judgement]:
        if self.audit.judge_refused:
            return [Judgement(Verdict.UNCLEAR, "the judge does not take the schema")] * len(texts)
        if not self._judge_process.is_running:
            self._judge_process.call("take", _JUDGE_SECONDS, self._schema)
        found: list[Judgement] = self._judge_process.call("judge", _JUDGE_SECONDS, texts)
        return found

    def _add(
        self,
        side: Side,
        kind: Kind,
        prefix: bytes,
        token: int | None,
        witness: bytes,
        reason: str,
        place: str = "",
    ) -> None:
        """Note an error; of those that seem to be the same, the one with the shortest witness."""
        found = self.audit.findings if side is self._candidate else self.audit.reference_findings
        one = Finding(kind, prefix, token, self._bytes(token), witness, reason, place)
        like = next((index for index, other in enumerate(found) if one.is_like(other)), None)
        if like is not None:
            found[like] = min(found[like], one, key=lambda finding: len(finding.witness))
        elif sum(other.kind is kind for other in found) < self._bounds.enough:
            found.append(one)

    def _bytes(self, token: int | None) -> bytes:
        return b"" if token is None else self._vocabulary[token] or b""


_COUNTS = np.array([byte.bit_count() for byte in range(256)], dtype=np.uint8)


def _bit_count(words: npt.NDArray[np.int32]) -> int:
    return int(_COUNTS[words.view(np.uint8)].sum(dtype=np.int64))
