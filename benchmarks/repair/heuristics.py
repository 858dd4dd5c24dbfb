"""What the heuristics of paper 004 would save: ``python -m benchmarks.repair.heuristics``.

Nodes that A* expands are counted for each estimate, in two products that are searched in Python:

- lexemes: JSON of up to three levels as an acceptor over eight lexemes, each edit at 1, with the estimates of
  ``tokamata.automata.estimates`` as they are.  A text has one or two lost, doubled or exchanged lexemes.
- bytes: a machine of JSON that is written in ``bytes_of_json.py``, plain costs, and texts with the mistakes
  of ``corruptions.py``.  Here the brackets count up to the price of an edit that changes which bytes are
  lexemes (a quote).  "best" is the exact distance up to that price: no estimate that is made of lexemes can
  be more.

The sum of the estimates is counted too, although it proves nothing.  Counts are the same on every machine.
"""

from __future__ import annotations

import heapq
import json
import math
import random
import statistics
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import tokamata as tk
from benchmarks.common import environment
from benchmarks.common.program import parser_for, run
from benchmarks.common.report import Report
from benchmarks.repair.bytes_of_json import PLAIN_COSTS, ByteProduct
from benchmarks.repair.corruptions import STRUCTURE, corrupted
from tokamata.automata import Acceptor
from tokamata.automata.correction import Prices
from tokamata.automata.estimates import TypeFlow, bracket_estimate, by_length

LEXEMES = "{}[]:,sn"  # s: a string; n: a number or a literal
PAIRS = {"{": "}", "[": "]"}
DEPTH = 3
PRICES = Prices()
Estimate = Callable[[int, int], float]


def lexeme_machine() -> tuple[Acceptor, list[str]]:
    """JSON over lexemes, and the open brackets of each state."""

    def targets(mode: str, stack: str) -> Iterator[tuple[str, str, str]]:
        if mode in ("value", "first"):
            yield from ((lexeme, "after", stack) for lexeme in "sn")
            if len(stack) < DEPTH:
                yield "{", "first name", stack + "{"
                yield "[", "first", stack + "["
        if mode in ("name", "first name"):
            yield "s", "colon", stack
        if mode == "colon":
            yield ":", "value", stack
        if mode == "after" and stack:
            yield ",", "name" if stack[-1] == "{" else "value", stack
        if stack and mode in ("after", "first name" if stack[-1] == "{" else "first"):
            yield PAIRS[stack[-1]], "after", stack[:-1]

    numbers = {("value", ""): 0}
    arcs, open_ = [], [("value", "")]
    while open_:
        state = open_.pop()
        for lexeme, *target in targets(*state):
            after = (target[0], target[1])
            if after not in numbers:
                numbers[after] = len(numbers)
                open_.append(after)
            arcs.append((numbers[state], LEXEMES.index(lexeme), numbers[after]))
    stacks = [stack for _, stack in numbers]
    return Acceptor.from_transitions(arcs, [numbers["after", ""]], 0, len(numbers)), stacks


def lexeme_text(draw: random.Random, length: int) -> str:
    """Broken JSON over lexemes."""

    def value(depth: int) -> str:
        kind = draw.random()
        if depth == DEPTH or kind < 0.4:
            return draw.choice("sn")
        parts = [value(depth + 1) for _ in range(draw.randrange(1, 5))]
        return "{" + ",".join("s:" + part for part in parts) + "}" if kind < 0.8 else f"[{','.join(parts)}]"

    parts: list[str] = []
    while sum(map(len, parts)) < length:
        parts.append(value(1))
    text = f"[{','.join(parts)}]"
    for _ in range(draw.choice([1, 1, 2])):
        at, kind = draw.randrange(len(text)), draw.randrange(3)
        changed = "" if kind == 0 else 2 * text[at] if kind == 1 else draw.choice(LEXEMES)
        text = text[:at] + changed + text[at + 1 :]
    return text


def expansions(acceptor: Acceptor, symbols: list[int], prices: Prices, estimate: Estimate) -> tuple[int, int]:
    """The cost that A* finds, and how many nodes it expands."""
    start = (0, acceptor.start)
    best, done, open_ = {start: 0}, set(), [(estimate(*start), 0, *start)]
    while open_:
        _, _, position, state = heapq.heappop(open_)
        if (position, state) in done:
            continue
        done.add((position, state))
        cost, is_within = best[position, state], position < len(symbols)
        if not is_within and state in acceptor.accepting:
            return cost, len(done)
        steps = [(position + 1, state, prices.remove)] if is_within else []
        for symbol, target in acceptor.rows[state]:
            steps.append((position, target, prices.insert))
            if is_within:
                steps.append((position + 1, target, 0 if symbol == symbols[position] else prices.replace))
        for to, target, paid in steps:
            if cost + paid < best.get((to, target), math.inf):
                best[to, target] = cost + paid
                done.discard((to, target))
                heapq.heappush(open_, (cost + paid + estimate(to, target), -to, to, target))
    raise AssertionError("there is always a repair")


class LexemeProduct:
    """A text of lexemes and the machine, with the three estimates of each node."""

    def __init__(self, text: str) -> None:
        (self.acceptor, self.stacks), self.text = lexeme_machine(), text
        self.symbols = [LEXEMES.index(lexeme) for lexeme in text]
        self.lengths = by_length(self.acceptor, self.symbols, PRICES)
        self.flow = TypeFlow(self.acceptor, {}, self.symbols, PRICES)
        self.known: dict[tuple[int, int], tuple[float, float, float]] = {}

    def estimates(self, position: int, state: int) -> tuple[float, float, float]:
        """Of the lengths, the types and the brackets."""
        if (position, state) not in self.known:
            opened = {kind: self.stacks[state].count(kind) for kind in PAIRS}
            self.known[position, state] = (
                self.lengths[position][state],
                self.flow.least(state, Counter(self.symbols[position:])),
                bracket_estimate(self.text[position:], opened, PAIRS, PRICES),
            )
        return self.known[position, state]

    def counts(self) -> dict[str, int]:
        """How many nodes A* expands with each combination, and whether the sum finds a dearer repair."""
        chosen: dict[str, Callable[[tuple[float, float, float]], float]] = {
            "none": lambda three: 0,
            "auto": lambda three: three[0],
            "max(auto, struct)": lambda three: max(three[0], three[2]),
            "max(auto, type)": lambda three: max(three[:2]),
            "max of three": max,
            "sum of three": sum,
        }
        costs, counts = {}, {}
        for name, choose in chosen.items():
            estimate = _chosen(self.estimates, choose)
            costs[name], counts[name] = expansions(self.acceptor, self.symbols, PRICES, estimate)
        dearer = costs.pop("sum of three") > costs["none"]
        assert len(set(costs.values())) == 1
        return {**counts, "dearer by the sum": int(dearer)}


def _chosen(
    estimates: Callable[[int, int], tuple[float, float, float]],
    choose: Callable[[tuple[float, float, float]], float],
) -> Estimate:
    return lambda position, state: choose(estimates(position, state))


def of_lexemes(texts: int, length: int) -> dict[str, list[int]]:
    """The counts of the first product."""
    counts: dict[str, list[int]] = {}
    for seed in range(texts):
        for name, count in LexemeProduct(lexeme_text(random.Random(seed), length)).counts().items():
            counts.setdefault(name, []).append(count)
    return counts


def json_value(draw: random.Random, length: int) -> list[object]:
    """JSON of about so many bytes."""
    rows: list[object] = []
    while len(json.dumps(rows)) < length:
        name = draw.choice(["Ann Lee", "Bob"])
        rows.append(
            {"id": draw.randrange(1000), "name": name, "tags": ["x y z", draw.random() < 0.5], "in": {}}
        )
    return rows


def of_bytes(texts: int, length: int) -> dict[str, dict[str, list[int]]]:
    """The counts of the second product, by kind of mistake."""
    counts: dict[str, dict[str, list[int]]] = {}
    for kind in STRUCTURE:
        if kind in ("prose", "names unquoted", "single quotes"):
            continue  # they take many edits of single bytes
        for seed in range(texts):
            draw = random.Random(seed)
            made = corrupted(json_value(draw, length), (kind,), draw)
            if made is None:
                continue
            constraint = tk.json(whitespace="any", spelling="any")
            repair = constraint.repair(made.broken, costs=PLAIN_COSTS)
            found = ByteProduct(made.broken.encode()).counts(repair.cost)
            assert found.pop("cost") == repair.cost
            for name, count in {"engine": repair.expansions, **found}.items():
                counts.setdefault(kind, {}).setdefault(name, []).append(count)
    return counts


def row_of(title: str, counts: dict[str, list[int]]) -> dict[str, object]:
    """One line of a table: the median of each estimate, and how often the sum has found a dearer repair."""
    dearer = counts.get("dearer by the sum")
    medians = {
        name: round(statistics.median(values))
        for name, values in counts.items()
        if name != "dearer by the sum"
    }
    sums = {} if dearer is None else {"the sum is dearer %": 100 * sum(dearer) / len(dearer)}
    return {"texts of": title, "texts": len(next(iter(counts.values()))), **medians, **sums}


def measure(options: Namespace, _: Path) -> Report:
    """Both tables."""
    report = Report(environment.describe())
    texts = options.count or (1 if options.quick else 6)
    every: dict[str, list[int]] = {}
    rows = []
    for kind, counts in of_bytes(texts, 100 if options.quick else 1000).items():
        rows.append(row_of(kind, counts))
        for name, values in counts.items():
            every.setdefault(name, []).extend(values)
    report.add(
        "Nodes expanded over bytes of JSON of 1 kB, medians", [*rows, row_of("all kinds", every)], _OF_BYTES
    )
    rows = [
        row_of(f"{length} lexemes", of_lexemes(2 * texts, length))
        for length in ((20,) if options.quick else (60, 200))
    ]
    report.add("Nodes expanded over lexemes of JSON, medians", rows, _OF_LEXEMES)
    return report


_OF_BYTES = [
    "*Engine*: the nodes that the engine's search expands, which makes edges in steps of their cost.  The "
    "other columns are A\\* in Python.  *Best*: the exact distance up to the price of a quote."
]
_OF_LEXEMES = [
    "*Auto*, *type*, *struct*: by the lengths, the bag of types and the brackets "
    "(`tokamata.automata.estimates`).  The maximum is admissible.  The sum is not: it may find a dearer "
    "repair, and then its count says nothing."
]


def main() -> int:
    """The program."""
    return run(measure, parser_for(__doc__ or "").parse_args())


if __name__ == "__main__":
    sys.exit(main())
