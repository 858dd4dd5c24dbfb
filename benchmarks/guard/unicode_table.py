"""Table 2 of paper 004 in kind: the Unicode set around boundaries, under normal forms and flags.

Each entry stands before, after and within each boundary, and in place of a part of it that a normal form
makes of the entry.  A normal form, or none, is applied before the tokenizer, and the tokenizer's own program
encodes the result.  What it does to the boundary is counted (:mod:`benchmarks.guard.observations`), beside

* what the guard says of the boundary: no border is crossed, the boundary is kept, and it is not made, in any
  text.  *Unsafe* is a text that contradicts a proof of one of these, whether or not the others are proved; or
  that is damaged although all three are.  It has to be 0;
* what Det_3, Det_4 and Det_5 say of it;
* guarded spans as the fallback, for a sample of the texts whose boundary is not proved to be safe: whether
  the boundary is then written in tokens of its own, and what that costs.
"""

from __future__ import annotations

import time
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Literal

import tokamata as tk
from benchmarks.guard.boundary_table import HORIZONS, NEVER, Detectors, control_names, rejects
from benchmarks.guard.observations import Damage, Program, damage
from benchmarks.guard.subjects import AS_IT_IS, Subject
from tokamata import guard
from tokamata.guard.token_edges import ControlTokens
from tokamata.guard.verdicts import Outcome, worst
from tokamata.tokenization.unicode_set import Adversary, around

Form = Literal["none", "NFC", "NFD", "NFKC", "NFKD"]
FORMS: tuple[Form, ...] = ("none", "NFC", "NFD", "NFKC", "NFKD")
READINGS: tuple[ControlTokens, ...] = ("text", "read")
BOUNDARIES = ("<|im_end|>", "</think>", "::=", '":', "```", "[/INST]")
_EVERY = 29  # texts of which one is also written with guarded spans
_MOST_EXAMPLES = 5


def measure(subject: Subject, detectors: Detectors, quick: bool) -> dict[str, Any]:
    """Counts by reading, form and category, in values of JSON."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    delays: dict[str, list[float]] = defaultdict(list)
    wrong: list[dict[str, str]] = []
    own = control_names(subject)
    boundaries = list(dict.fromkeys([*BOUNDARIES[: 2 if quick else None], *own[:1]]))
    for reading in READINGS:
        # Assumption (iv) of the paper: control tokens have no part in merges.
        is_apart = set(own) if reading == "read" else set()
        least = {text: NEVER if text in is_apart else detectors.least(text) for text in boundaries}
        program = Program(subject.source, subject.vocabulary, reading)
        for boundary in boundaries:
            found = guard.boundary(subject.source, boundary, control_tokens=reading)
            fallback = None
            if subject.flags == AS_IT_IS and reading == "text":
                fallback = _Fallback(subject.vocabulary, program, boundary)
            texts = list(variants(boundary))
            for form in FORMS:
                claims = Claims(found, boundary, form)
                for number, (text, entry) in enumerate(texts):
                    written = text if form == "none" else unicodedata.normalize(form, text)
                    done = program.damage(boundary.encode(), text, written)
                    key = f"{reading}|{form}|{entry.category}"
                    here = counts[key]
                    here["texts"] += 1
                    here[claims.outcome] += 1
                    here.update(done)
                    here["damaged"] += bool(done)
                    here["claims proved"] += claims.proved
                    if done and claims.refuted(done, program.reproduces(written)):
                        here["unsafe"] += 1
                        wrong.append({"boundary": boundary, "text": ascii(text), "key": key, "is": str(done)})
                    for horizon in HORIZONS:
                        rejected = rejects(least[boundary], horizon)
                        if rejected is None:
                            continue
                        here[f"Det_{horizon} texts"] += 1
                        here[f"Det_{horizon} unsafe"] += bool(done) and not rejected
                        here[f"Det_{horizon} FN"] += "crossed" in done and not rejected
                        here[f"Det_{horizon} FP"] += rejected and claims.outcome == "proved"
                    if fallback and form == "none" and claims.outcome != "proved" and number % _EVERY == 0:
                        outcome, delay = fallback.outcome(text)
                        here["fallback texts"] += 1
                        here[f"fallback {outcome}"] += 1
                        if outcome == "right":
                            delays[entry.category].append(delay)
    return {
        "counts": {key: dict(one) for key, one in counts.items()},
        "delays": dict(delays),
        "wrong": wrong[:_MOST_EXAMPLES],
    }


def variants(boundary: str) -> Iterator[tuple[str, Adversary]]:
    """The texts of one boundary, each with its entry."""
    for text, entry in around([boundary]):
        if text != entry.text:
            yield text, entry
            continue
        made = unicodedata.normalize("NFKC", text)
        if made and made != text and made in boundary:
            yield boundary.replace(made, text), entry
            yield f"a{boundary.replace(made, text, 1)}a", entry


class Claims:
    """What the guard says of a boundary where a normal form comes before the tokenizer.

    Attributes:
        outcome: of all claims together.
        proved: how many of the three are proved.
    """

    def __init__(self, found: guard.Boundary, boundary: str, form: Form) -> None:
        before = None if form == "none" else guard.normalization(boundary, guard.rewriting_of_form(form))
        self._crossed = worst([found.crossed_left, found.crossed_right])
        self._kept = worst([found.kept, *([before.kept] if before else [])])
        self._not_made = worst([found.not_made, *([before.not_made] if before else [])])
        outcomes: list[Outcome] = [self._crossed, self._kept, self._not_made]
        self.outcome: Outcome = max(outcomes, key=("proved", "not settled", "witness").index)
        self.proved = outcomes.count("proved")

    def refuted(self, done: Damage, is_reproduced: bool) -> bool:
        """Whether what a program does contradicts a proof, or happens where everything is proved.

        Args:
            done: what it does.
            is_reproduced: whether its tokens are those of the text that they spell: of others, such as the
                name of a control token that a normalizer has made, a proof about borders says nothing.
        """
        if done and self.outcome == "proved":
            return True
        return (
            ("crossed" in done and is_reproduced and self._crossed == "proved")
            or ("destroyed" in done and self._kept == "proved")
            or ("made" in done and self._not_made == "proved")
        )


class _Fallback:
    """A boundary in guarded spans."""

    def __init__(self, vocabulary: tk.Vocabulary, program: Program, boundary: str) -> None:
        self._program, self._boundary = program, boundary
        self._spans: guard.GuardedSpans | None = None
        with suppress(tk.UnspellableError):
            self._spans = guard.GuardedSpans(vocabulary, [boundary])

    def outcome(self, text: str) -> tuple[str, float]:
        """``right``, ``refused`` or ``wrong``; and how many milliseconds it takes beyond a plain one."""
        if self._spans is None:
            return "refused", 0.0
        encode = self._program.encode
        begin = time.process_time()
        encode(text)
        middle = time.process_time()
        try:
            ids = self._spans.encode(text, lambda part: encode(part) or [])
        except tk.UnspellableError:
            return "refused", 0.0
        delay = 1e3 * (time.process_time() - middle - (middle - begin))
        pieces, _ = self._program.laid_out(ids)
        is_right = b"".join(pieces) == text.encode() and not damage(
            self._boundary.encode(), text.encode(), pieces
        )
        return ("right" if is_right else "wrong"), delay
