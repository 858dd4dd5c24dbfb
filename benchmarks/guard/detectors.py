"""The detectors of paper 004 against the exact answer, and the size of their Merge-DAG.

python -m benchmarks.guard.detectors
python -m benchmarks.guard.detectors --quick

1. *Small random tokenizers* of byte-pair encoding, proper and improper lists, with and without ties.  False
   negatives and false positives of Det_3, Det_4 and Det_5, by the number of tokens of the boundary: against
   brute force over all strings of six tokens and all orders of ties, and against the exact answer for the
   tokenizer, which breaks ties by position.  A false positive of the second kind is a violation that only
   another order of ties shows.
2. *Merge-DAGs* of real vocabularies: V_L, E_L, memory and build time, with the limit that ends each of them.
   The graph of all strings has no room for them; the one around a boundary has the strings that contain it.

Times are those of plain Python, on a machine that may do other things: orders of magnitude.
"""

from __future__ import annotations

import random
import sys
from argparse import Namespace
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.common import environment
from benchmarks.common.program import progress, run
from benchmarks.common.report import Report
from benchmarks.guard.chosen import chosen_merges, parser_with_only
from benchmarks.guard.real_merges import RealMerges
from tests.support.automata.tokenizations import Bpe, random_bpe
from tokamata import Limits
from tokamata.tokenization import MergeGraph, TwoNeighbours, detect_crossing, first_improper

_HORIZONS = (3, 4, 5)
_BRUTE = 6  # tokens of the strings of brute force, as in the paper's section 9
_SMALL = Limits(states=150_000)
_REAL = Limits(states=1_000_000, seconds=20)
_BOUNDARIES = ("{", '":', "<|im_end|>")


def main() -> int:
    """The program; its exit status is 1 if a detector contradicts brute force or the theorem."""
    return run(measure, parser_with_only(__doc__).parse_args())


def measure(options: Namespace, work: Path) -> Report:
    """Both parts."""
    report = Report(environment.describe())
    count = options.count or (60 if options.quick else 1_500)
    small = Small(random.Random(options.seed))
    with progress("small tokenizers", count) as step:
        for _ in range(count):
            small.one()
            step(f"{small.boundaries} boundaries")
    report.is_wrong = bool(small.wrong)
    report.facts["seed"] = str(options.seed)
    notes = [f"{small.unsettled} boundaries whose graph met a limit are left out."]
    notes += [f"WRONG: {one}" for one in small.wrong[:5]]
    report.add("False negatives and positives on small tokenizers", small.rows(), notes)
    rows: list[dict[str, Any]] = []
    for tokenizer, merges in chosen_merges("graphs", options, "gpt2" if options.quick else None):
        if merges is not None:
            rows += graphs(tokenizer, merges)
    report.add("Merge-DAGs of real vocabularies", rows)
    return report


class Small:
    """Random tokenizers and boundaries, and what each detector says of them."""

    def __init__(self, draw: random.Random) -> None:
        self._draw = draw
        self.boundaries = self.unsettled = 0
        self.wrong: list[str] = []
        self._counts: Counter[tuple[str, int, int, str]] = Counter()

    def one(self) -> None:
        """One tokenizer, three boundaries."""
        draw = self._draw
        bpe = random_bpe(draw, draw.choice(["ab", "abc"]), draw.choice([2, 4]), longest=4, shuffled=0.6)
        if len(set(bpe.merges)) < len(bpe.merges):
            return
        tied = draw.random() < 0.3
        ranks = [draw.randrange(1 + len(bpe.merges) // 2) for _ in bpe.merges] if tied else None
        for _ in range(3):
            letters = [bpe.vocabulary[letter].decode() for letter in bpe.letters]
            self._boundary(bpe, ranks, bpe.text("".join(draw.choices(letters, k=draw.randint(1, 4)))))

    def _boundary(self, bpe: Bpe, ranks: list[int] | None, inside: list[int]) -> None:
        graph = MergeGraph(bpe.letters, bpe.merges, _BRUTE, ranks, around=inside, limits=_SMALL)
        found = detect_crossing(graph, inside)
        if graph.limit is not None and found.min_safe_L is None:
            self.unsettled += 1
            return
        self.boundaries += 1
        two = TwoNeighbours(bpe.letters, bpe.merges)
        own = len(two.encode(inside))
        kind = "ties" if ranks else "proper" if first_improper(bpe.merges) is None else "improper"
        exact = two.crossed(inside) is not None
        brute = found.min_safe_L is not None
        if ranks is None and exact and own < _BRUTE and not brute:
            self.wrong.append(f"{bpe} {inside}: the theorem finds a text, and six tokens do not")
        key = kind, own
        self._counts[(*key, 0, "boundaries")] += 1
        self._counts[(*key, 0, "violated")] += brute
        self._counts[(*key, 0, "needs own + 1")] += found.min_safe_L == own + 1
        for horizon in _HORIZONS:
            rejects = found.rejects(horizon)
            self._counts[(*key, horizon, "missed")] += brute and not rejects
            if ranks is None:
                self._counts[(*key, horizon, "FN")] += exact and not rejects
                self._counts[(*key, horizon, "FP")] += rejects and not exact

    def rows(self) -> list[dict[str, Any]]:
        """A row for each kind of list and number of tokens of the boundary."""
        rows = []
        for kind, own in sorted({(kind, own) for kind, own, *_ in self._counts}):
            row: dict[str, Any] = {"merges": kind, "tokens of b": own}
            for name in ("boundaries", "violated", "needs own + 1"):
                row[name] = self._counts[kind, own, 0, name]
            for horizon in _HORIZONS:
                row[f"Det_{horizon} misses"] = self._counts[kind, own, horizon, "missed"]
                if kind != "ties":
                    fn, fp = (self._counts[kind, own, horizon, name] for name in ("FN", "FP"))
                    row[f"Det_{horizon} FN/FP"] = f"{fn}/{fp}"
            rows.append(row)
        return rows


def graphs(tokenizer: str, merges: RealMerges) -> list[dict[str, Any]]:
    """The graph of all strings of up to three tokens, and those around boundaries."""
    rows = []
    for text in (None, *_BOUNDARIES):
        around = None if text is None else merges.in_characters(text)
        if text is not None and around is None:
            continue
        graph = MergeGraph(merges.characters, merges.merges, 3, merges.ranks, around, _REAL)
        found = detect_crossing(graph, around) if around is not None else None
        rows.append(
            {
                "tokenizer": tokenizer,
                "around": text,
                "V": graph.V,
                "E": graph.E,
                "configurations": graph.configurations,
                "memory, MB": graph.memory_bytes / 1e6,
                "build, ms": graph.build_ms,
                "look, ms": None if found is None else found.milliseconds,
                "min_safe_L": None if found is None else found.min_safe_L,
                "limit": graph.limit or "none: complete",
            }
        )
    return rows


if __name__ == "__main__":
    sys.exit(main())
