"""Two features of JSON Schema in one schema, walked by values that are nearly equal: no mask may be slow.

    python -m fuzz.fuzz_pairs --cases 10000 --seed 1 --jobs 2

Features that are cheap alone may be expensive together.  A case draws two features, a place where they meet
(``tests/support/schemas/drawn_features.py``), values, and options: spelling, white space, order of names,
canonical tokens, a budget of the tokens that are left.  Values are walked token by token, in a process of
their own.  A case is a finding where

- a mask takes over 20 ms of processor time; or compiling and the first mask, or another call, over 200 ms;
- the constraint holds over 100 MB;
- a limit is met, or the process ends;
- a value is refused that the judges call valid, or accepted where they call it invalid
  (``schema_judges.py``).

A case that is too slow is measured again in a fresh process, because other work may have slowed it down; the
shorter times count.  The worst findings of each pair are made smaller: keywords and parts of values are left
out while a case stays a finding.  All findings are written as lines of JSON.  A case is found again by its
number:

    python -m fuzz.fuzz_pairs --seed 1 --only 4711

The exit status is 1 where more than one case of a thousand is too slow or too large, or any is wrong.
"""

from __future__ import annotations

import argparse
import gzip
import json
import multiprocessing
import os
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, TextIO, get_args

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

import tokamata as tk
from fuzz.fuzz_instances import changed, names_in, with_integers, written
from fuzz.schema_exactness import Encode
from tests.support.guarded import Died, Guarded
from tests.support.masks import has
from tests.support.paths import SHARED
from tests.support.schemas import json_texts
from tests.support.schemas.drawn_features import FEATURES, PLACES
from tests.support.schemas.schema_judges import Judges, JudgesDiffer, NoVerdict
from tests.support.vocabularies import cut
from tokamata.constraints.json_options import Spelling

MASK_S = 0.020
CALL_S = 0.200
MEMORY_BYTES = 100_000_000
WRONG = ("refused", "accepted", "bit", "error")  # findings that no machine excuses
ALLOWED_SHARE = 0.001  # of findings that are not
LIMITS = tk.Limits(seconds=20.0)  # as by default, but for the time
NOISE = 4.0  # times as long as on an idle machine is nothing that other work explains
ENOUGH_S = 1.5  # of processor time, after which a case is not walked any further
HUNG_S = 60.0
CANDIDATES = 6  # values of which some are walked
WALKED = 3  # of a case
MOST_TOKENS = 150  # of all values of a case
SMALLER_TRIES = 80
SMALLER_S = 30.0
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")  # in texts of JSON, which have it in strings alone


@dataclass(frozen=True)
class Case:
    """What is tried.

    Attributes:
        number, one, other, place: how it was drawn.
        schema, values: some of the values are walked.
        style: for ``tk.json_schema``.
        tokenization: for ``compile``.
        budget: whether masks have a budget of the tokens that are left.
        pieces: whether texts are cut into tokens at random; else by the tokenizer.
    """

    number: int
    one: str
    other: str
    place: str
    schema: Any
    values: list[Any]
    style: dict[str, str]
    tokenization: str = "any"
    budget: bool = False
    pieces: bool = False


@dataclass
class Outcome:
    """What became of a case; times in seconds of the processor.

    Attributes:
        case: the case.
        mask, mask_at: the slowest mask but the first, and the text before it.
        first: compiling and the first mask.
        call, call_at: the slowest call of another kind.
        memory_bytes, states: the most that the constraint held.
        tokens, valid, invalid, unjudged: of the values that were walked.
        unread: why the schema was not taken; empty where it was.
        wrong: what is wrong, by its kind.
        text: the value that was walked when the slowest mask was made.
        smaller: a smaller case that is a finding too.
    """

    case: Case
    mask: float = 0.0
    mask_at: str = ""
    first: float = 0.0
    call: float = 0.0
    call_at: str = ""
    memory_bytes: int = 0
    states: int = 0
    tokens: int = 0
    valid: int = 0
    invalid: int = 0
    unjudged: int = 0
    unread: str = ""
    wrong: dict[str, str] = field(default_factory=dict)
    text: str = ""
    smaller: Case | None = None

    def excess(self, slack: float) -> dict[str, float]:
        """How many times each bound is exceeded, by the kind of finding; infinite for what is wrong."""
        found = {
            "mask": self.mask / (MASK_S * slack),
            "first mask": self.first / (CALL_S * slack),
            "call": self.call / (CALL_S * slack),
            "memory": self.memory_bytes / MEMORY_BYTES,
        }
        return {kind: times for kind, times in found.items() if times > 1} | dict.fromkeys(
            self.wrong, float("inf")
        )

    def line(self, slack: float) -> dict[str, Any]:
        """What a file of findings says of it."""
        shown: dict[str, Any] = {"number": self.case.number, "kinds": sorted(self.excess(slack))}
        shown |= {"mask_ms": round(self.mask * 1e3, 1), "first_ms": round(self.first * 1e3, 1)}
        shown |= {"call_ms": round(self.call * 1e3, 1), "memory_mb": round(self.memory_bytes / 1e6, 1)}
        shown |= {
            "states": self.states,
            "mask_at": self.mask_at,
            "call_at": self.call_at,
            "wrong": self.wrong,
        }
        return {**shown, "case": asdict(self.case), "smaller": self.smaller and asdict(self.smaller)}


def spellings() -> tuple[str, ...]:
    """All that the package has."""
    return get_args(Spelling)


def drawn_case(seed: int, number: int, features: tuple[str, ...] = FEATURES) -> Case:
    """The case of a number.

    Args:
        seed: of the campaign.
        number: of the case.
        features: those to draw from; with two, this pair.
    """
    draw = random.Random(f"{seed} {number}")
    one, other = draw.choice(features), draw.choice(features)
    if len(features) == 2:
        one, other = features
    place = draw.choice(list(PLACES))
    drawn = PLACES[place](draw, one, other).mostly_valid()
    schema = drawn.whole()
    values = draw.sample(drawn.values, min(CANDIDATES, len(drawn.values)))
    values += [changed(value, draw, names_in(schema)) for value in values[:2]]
    style = {
        "spelling": draw.choice(spellings()),
        "whitespace": draw.choice(["natural", "natural", "compact", "any"]),
        "property_order": draw.choice(["any", "any", "any", "schema"]),
    }
    tokenization = draw.choice(["any", "any", "any", "canonical"])
    pieces = tokenization == "any" and draw.random() < 0.15
    return Case(number, one, other, place, schema, values, style, tokenization, draw.random() < 0.3, pieces)


def several_members(value: Any) -> bool:
    """Whether it has an object with more than one member."""
    if isinstance(value, dict):
        return len(value) > 1 or any(map(several_members, value.values()))
    return isinstance(value, list) and any(map(several_members, value))


def text_of(value: Any, style: tk.constraints.json_constraints.Style, draw: random.Random) -> str:
    """The value in a layout and a spelling of the style."""
    if style.spelling != "any":
        value = with_integers(value)
    text = written(value, style, draw)
    if style.spelling == "natural" and draw.random() < 0.5:
        text = _BEYOND_ASCII.sub(lambda match: json.dumps(match[0])[1:-1], text)
    return text


class Walker:
    """Compiles cases and walks their values.

    Args:
        vocabulary: of a tokenizer.
        encode: the tokenizer's own program.
    """

    def __init__(self, vocabulary: tk.Vocabulary, encode: Encode) -> None:
        self._vocabulary, self._encode = vocabulary, encode

    def __call__(self, case: Case) -> Outcome:
        """What became of it."""
        found = Outcome(case)
        try:
            self._try(case, found)
        except tk.LimitExceeded as error:
            found.wrong["limit"] = f"{error}, after {found.text[-80:]!r}"
        except (tk.EmptyConstraintError, tk.UnspellableError) as error:
            if found.valid:
                found.wrong["refused"] = f"{type(error).__name__}: {error}"
        except tk.TokamataError as error:
            found.unread = f"{type(error).__name__}: {error}"
        except Exception as error:  # an error that is not of tokamata's own is a defect
            found.wrong["error"] = f"{type(error).__name__}: {error}"
        return found

    def _try(self, case: Case, found: Outcome) -> None:
        constraint = tk.json_schema(case.schema, **case.style)
        draw = random.Random(case.number)
        walks: list[tuple[str, bool | None]] = []
        for value, verdict in self._judged(case, found):
            text = text_of(value, constraint.style, draw)
            unordered = verdict and case.style["property_order"] == "schema" and several_members(value)
            walks.append((text, None if unordered else verdict))
        found.valid = sum(verdict is True for _, verdict in walks)
        start = time.thread_time()
        constraint = tk.json_schema(case.schema, **case.style)
        compiled = constraint.compile(self._vocabulary, limits=LIMITS, tokenization=case.tokenization)
        found.first = time.thread_time() - start
        left = MOST_TOKENS
        for text, verdict in walks:
            found.text = text
            tokens = cut(self._vocabulary, text.encode(), draw) if case.pieces else self._encode(text)
            self._walk(compiled, tokens[:left], verdict if len(tokens) <= left else None, case.budget, found)
            left -= len(tokens)
            if left <= 0 or time.thread_time() - start > ENOUGH_S:
                break

    @staticmethod
    def _judged(case: Case, found: Outcome) -> list[tuple[Any, bool | None]]:
        """Values to walk, valid ones first, with what the judges say of them."""
        judges = Judges(case.schema, formats=True)
        by_verdict: dict[bool | None, list[Any]] = {True: [], False: [], None: []}
        for value in case.values:
            exact = json_texts.read(json.dumps(value))
            try:
                verdict: bool | None = judges.by_validators(exact)
                # Formats are the engine's in the table, and of other makes in the validators.
                if verdict is not judges.by_table(exact):
                    verdict = None
            except (NoVerdict, JudgesDiffer):
                verdict = None
            by_verdict[verdict].append(value)
        found.unjudged = len(by_verdict[None])
        chosen = [(value, True) for value in by_verdict[True][: WALKED - 1]]
        more = [(value, verdict) for verdict in (False, None) for value in by_verdict[verdict]]
        return [*chosen, *more[: WALKED - len(chosen)]]

    def _walk(
        self, compiled: Any, tokens: list[int], verdict: bool | None, budget: bool, found: Outcome
    ) -> None:
        matcher, row = compiled.matcher(), compiled.allocate_mask()[0]
        began = time.thread_time()
        found.invalid += verdict is False
        for place in range(len(tokens) + 1):
            before = matcher.text.decode(errors="replace")
            start = time.thread_time()
            try:
                if budget:
                    matcher.fill_mask(row, budget=max(1, len(tokens) - place))
                mask = row if budget else matcher.mask
            except tk.BudgetError:
                if verdict:
                    found.wrong["budget"] = f"no text fits after {before!r}"
                budget, mask = False, matcher.mask
            except tk.LimitExceeded:
                self._note_mask(time.thread_time() - start, before, found)
                raise
            self._note_mask(time.thread_time() - start, before, found)
            found.memory_bytes = max(found.memory_bytes, compiled.memory_bytes)
            found.states = max(found.states, compiled.states)
            if place == len(tokens):
                break
            if time.thread_time() - began > ENOUGH_S:
                return
            start = time.thread_time()
            taken = matcher.advance(tokens[place])
            took = time.thread_time() - start
            if took > found.call:
                found.call, found.call_at = took, f"advance after {before!r}"
            if has(mask, tokens[place]) != taken:
                if not budget:
                    found.wrong["bit"] = f"token {tokens[place]} after {before!r}"
                elif verdict:
                    found.wrong["budget"] = f"token {tokens[place]} after {before!r}"
            found.tokens += 1
            if not taken:
                if verdict:
                    found.wrong["refused"] = f"{found.text!r}, valid, at {before!r}"
                return
        if verdict is not None and matcher.is_accepting != verdict:
            found.wrong["refused" if verdict else "accepted"] = repr(found.text)

    @staticmethod
    def _note_mask(took: float, before: str, found: Outcome) -> None:
        """The first mask of a constraint counts with its compilation."""
        if not found.tokens and not found.mask_at:
            found.first += took
            found.mask_at = " "
        elif took > found.mask:
            found.mask, found.mask_at = took, before


class Trials:
    """Cases in a process of their own, which is started again where it ends.

    Args:
        walker: of all cases.
        slack: by which times are multiplied before they count, on a machine with other work.
    """

    def __init__(self, walker: Walker, slack: float) -> None:
        self._guarded, self._slack = Guarded(walker, HUNG_S), slack

    def __call__(self, case: Case) -> Outcome:
        """The outcome; times are the shorter ones of two trials where one is too long."""
        first = self._once(case)
        slow = [first.excess(self._slack).get(kind, 0.0) for kind in ("mask", "first mask", "call")]
        if not 1 < max(slow) < NOISE:
            return first
        self.close()
        again = self._once(case)
        if "died" in again.wrong:
            return first
        times = {name: min(getattr(first, name), getattr(again, name)) for name in ("mask", "first", "call")}
        return replace(first, **times)

    def _once(self, case: Case) -> Outcome:
        try:
            outcome: Outcome = self._guarded(case)
        except Died as error:
            outcome = Outcome(case, wrong={"died": str(error)})
        return outcome

    def smaller(self, outcome: Outcome) -> Case:
        """The case without whatever it does not need to stay a finding of the same kind."""
        excess = outcome.excess(self._slack)
        kind = max(excess, key=lambda name: excess[name])
        least = 1.0 if excess[kind] == float("inf") else max(1.0, excess[kind] / 3)

        def still(case: Case) -> bool:
            return self._once(case).excess(self._slack).get(kind, 0) >= least

        best, end, tries = outcome.case, time.monotonic() + SMALLER_S, 0
        for value in best.values:
            if len(best.values) > 1 and still(replace(best, values=[value])):
                best = replace(best, values=[value])
                break
        found = True
        while found:
            found = False
            for case in smaller_cases(best):
                tries += 1
                if tries > SMALLER_TRIES or time.monotonic() > end:
                    return best
                if still(case):
                    best, found = case, True
                    break
        return best

    def close(self) -> None:
        """Ends the process."""
        self._guarded.close()


def smaller_cases(case: Case) -> Iterator[Case]:
    """Cases that lack one thing, the largest things first."""
    if case.budget:
        yield replace(case, budget=False)
    if case.tokenization != "any":
        yield replace(case, tokenization="any")
    if case.pieces:
        yield replace(case, pieces=False)
    for name, plain in (("spelling", "plain"), ("whitespace", "natural"), ("property_order", "any")):
        if case.style[name] != plain:
            yield replace(case, style={**case.style, name: plain})
    for schema in smaller_values(case.schema):
        yield replace(case, schema=schema)
    for values in smaller_values(case.values):
        if values:
            yield replace(case, values=values)


def smaller_values(value: Any) -> Iterator[Any]:
    """The value without one of its members or elements, wherever it lies, or without half of them."""
    if isinstance(value, dict):
        for name in value:
            yield {other: inner for other, inner in value.items() if other != name}
        for name, inner in value.items():
            yield from ({**value, name: less} for less in smaller_values(inner))
    elif isinstance(value, list):
        if len(value) > 3:
            yield value[: len(value) // 2]
        for index in range(min(len(value), 8)):
            yield value[:index] + value[index + 1 :]
        for index, inner in enumerate(value[:8]):
            yield from ([*value[:index], less, *value[index + 1 :]] for less in smaller_values(inner))


@dataclass
class Report:
    """All that was found.

    Attributes:
        slack: see :class:`Trials`.
        cases, unread: how many; how many schemas were not taken.
        tokens, valid, invalid, unjudged: of the values that were walked.
        pairs: cases of each pair of features.
        findings: the outcomes that exceed a bound or are wrong.
        masks, firsts: the times of all cases.
    """

    slack: float
    cases: int = 0
    unread: int = 0
    tokens: int = 0
    valid: int = 0
    invalid: int = 0
    unjudged: int = 0
    pairs: Counter[tuple[str, ...]] = field(default_factory=Counter)
    findings: list[Outcome] = field(default_factory=list)
    masks: list[float] = field(default_factory=list)
    firsts: list[float] = field(default_factory=list)

    def add(self, outcome: Outcome) -> None:
        """Counts a case."""
        self.cases += 1
        self.unread += bool(outcome.unread)
        for name in ("tokens", "valid", "invalid", "unjudged"):
            setattr(self, name, getattr(self, name) + getattr(outcome, name))
        self.pairs[pair_of(outcome)] += 1
        self.masks.append(outcome.mask)
        self.firsts.append(outcome.first)
        if outcome.excess(self.slack):
            self.findings.append(outcome)

    def worst(self) -> list[Outcome]:
        """Findings, the worst first; one of each pair and kind."""
        found: dict[tuple[Any, ...], Outcome] = {}
        order = sorted(self.findings, key=lambda one: -max(one.excess(self.slack).values()))
        for outcome in order:
            excess = outcome.excess(self.slack)
            found.setdefault((pair_of(outcome), max(excess, key=lambda kind: excess[kind])), outcome)
        return list(found.values())

    def counts(self) -> Counter[str]:
        """How many cases have a finding of each kind."""
        return Counter(kind for one in self.findings for kind in one.excess(self.slack))

    @property
    def wrong(self) -> int:
        """How many cases are wrong, not only slow."""
        return sum(not set(WRONG).isdisjoint(one.wrong) for one in self.findings)

    def failed(self) -> bool:
        """Whether there is too much of it."""
        return self.wrong > 0 or len(self.findings) > self.cases * ALLOWED_SHARE


def pair_of(outcome: Outcome) -> tuple[str, ...]:
    """The two features, in alphabetical order."""
    return tuple(sorted((outcome.case.one, outcome.case.other)))


def loaded(path: Path, stop: str) -> tuple[tk.Vocabulary, Encode]:
    """A ``tokenizer.json`` with gzip: its vocabulary with the tables of canonical tokens, and its program."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    from tokenizers import Tokenizer  # late: a test passes its own

    text = gzip.decompress(path.read_bytes())
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "tokenizer.json"
        file.write_bytes(text)
        vocabulary = tk.Vocabulary.load(file, stop=[stop])
        tk.literal("a").compile(vocabulary, tokenization="canonical")  # reads the file, for all processes
    own = Tokenizer.from_str(text.decode())
    return vocabulary, lambda line: list(own.encode(line, add_special_tokens=False).ids)


def _work(walker: Walker, slack: float, cases: list[Case], results: Any) -> None:
    """One of several processes that try cases: each has a process of its own for them."""
    trials = Trials(walker, slack)
    try:
        for case in cases:
            results.put(trials(case))
    except KeyboardInterrupt:
        pass
    finally:
        trials.close()


def run(
    cases: list[Case], walker: Walker, slack: float = 1.0, jobs: int = 1, lines: TextIO | None = None
) -> Report:
    """Tries all cases.

    Args:
        cases: in their order.
        walker: tries one.
        slack: by which times are multiplied before they count.
        jobs: processes that work at once.
        lines: gets each finding as soon as it is known.
    """
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    workers = [
        context.Process(target=_work, args=(walker, slack, cases[index::jobs], results))
        for index in range(jobs)
    ]
    for worker in workers:
        worker.start()
    report = Report(slack)
    columns = [BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.description}")]
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=lines is None) as progress:
        task = progress.add_task("", total=len(cases))
        for _ in cases:
            outcome = results.get()
            report.add(outcome)
            if lines is not None and outcome.excess(slack):
                write(outcome, slack, lines)
            found = f"{len(report.findings):,} findings, {report.wrong:,} wrong"
            progress.update(task, advance=1, description=found)
    for worker in workers:
        worker.join()
    return report


def write(outcome: Outcome, slack: float, lines: TextIO) -> None:
    """A finding as a line of JSON."""
    lines.write(json.dumps(outcome.line(slack), ensure_ascii=False) + "\n")
    lines.flush()


def show(report: Report, console: Console, most: int) -> None:
    """The counts and the worst findings."""
    console.print(
        f"{report.cases:,} cases of {len(report.pairs):,} pairs, {report.unread:,} not taken; "
        f"{report.tokens:,} tokens; values: {report.valid:,} valid, {report.invalid:,} invalid, "
        f"{report.unjudged:,} not judged"
    )
    for name, times in (("mask", report.masks), ("first mask", report.firsts)):
        ordered = sorted(times)
        shares = ", ".join(
            f"{share:g} %: {ordered[min(len(ordered) - 1, int(len(ordered) * share / 100))] * 1e3:,.1f} ms"
            for share in (50, 90, 99, 99.9, 100)
        )
        console.print(f"worst {name} of a case: {shares}")
    console.print(
        f"{len(report.findings):,} findings, {report.wrong:,} of them wrong: {dict(report.counts())}"
    )
    table = Table("case", "features", "place", "kind", "mask ms", "first ms", "MB", "schema, value, options")
    for outcome in report.worst()[:most]:
        case = outcome.smaller or outcome.case
        options = {**case.style, "tokenization": case.tokenization, "budget": case.budget}
        shown = [brief(part)[:700] for part in (case.schema, case.values[:1])]
        other = " ".join(f"{name}={value}" for name, value in options.items() if value not in _USUAL)
        table.add_row(
            str(outcome.case.number),
            f"{outcome.case.one}, {outcome.case.other}",
            outcome.case.place,
            ", ".join(outcome.wrong)
            or max(outcome.excess(report.slack).items(), key=lambda item: item[1])[0],
            f"{outcome.mask * 1e3:,.0f}",
            f"{outcome.first * 1e3:,.0f}",
            f"{outcome.memory_bytes / 1e6:,.0f}",
            "\n".join([*shown, other, *(f"{name}: {text}"[:200] for name, text in outcome.wrong.items())]),
        )
    console.print(table)
    pairs = Counter(pair_of(one) for one in report.findings)
    table = Table("features", "findings", "cases")
    for pair, count in pairs.most_common(20):
        table.add_row(", ".join(pair), f"{count:,}", f"{report.pairs[pair]:,}")
    console.print(table)


def brief(value: Any) -> str:
    """As JSON, long lists by their first elements."""
    text = json.dumps(_shortened(value), ensure_ascii=False)
    return text.replace('"…"', "…")


def _shortened(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _shortened(inner) for name, inner in value.items()}
    if isinstance(value, list):
        more = [f"{len(value)} in all", "…"] if len(value) > 12 else []
        return [*map(_shortened, value[:5] if more else value), *more]
    return value


_USUAL = ("plain", "natural", "any", False)


def main() -> int:
    """The program."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="processes at once (default: %(default)s)")
    parser.add_argument("--slack", type=float, default=1.0, help="multiplies the bounds of time")
    parser.add_argument("--smaller", type=int, default=20, help="so many findings are made smaller")
    parser.add_argument("--only", type=int, nargs="+", help="the cases of these numbers")
    parser.add_argument("--features", nargs="+", choices=FEATURES, default=FEATURES)
    parser.add_argument("--out", type=Path, default=Path("build/fuzz_pairs.jsonl"))
    parser.add_argument("--tokenizer", type=Path, default=SHARED / "tokenizers/llama-3.1.json.gz")
    parser.add_argument("--stop", default="<|eot_id|>", help="the tokenizer's stop token")
    options = parser.parse_args()
    numbers = options.only or range(options.cases)
    cases = [drawn_case(options.seed, number, tuple(options.features)) for number in numbers]
    walker = Walker(*loaded(options.tokenizer, options.stop))
    start = time.monotonic()
    options.out.parent.mkdir(parents=True, exist_ok=True)
    with options.out.open("w", encoding="utf-8") as lines:
        report = run(cases, walker, options.slack, options.jobs, lines)
    trials = Trials(walker, options.slack)
    for outcome in report.worst()[: options.smaller]:
        outcome.smaller = trials.smaller(outcome)
    trials.close()
    with options.out.open("w", encoding="utf-8") as lines:  # again, with what was made smaller
        for outcome in report.findings:
            write(outcome, options.slack, lines)
    console = Console(width=None if sys.stdout.isatty() else 180)
    show(report, console, max(10, options.smaller))
    console.print(f"in {time.monotonic() - start:,.0f} s; findings are in {options.out}")
    return int(report.failed())


if __name__ == "__main__":
    sys.exit(main())
