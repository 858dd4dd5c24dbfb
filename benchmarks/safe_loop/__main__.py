"""The safe loop: faults that are injected, deadlines that are kept, where the time goes, and how it grows.

    python -m benchmarks.safe_loop
    python -m benchmarks.safe_loop --quick

A model that wants to write an instance of a schema of MaskBench takes a fixed time for each call
(``models.py``); the tokens are Llama 3.1's.

1. **Causes.** Logits that are not numbers, logits that were filtered before the mask, banned tokens of the
   instance's canonical spelling, a validator that refuses every second value.  A text is *completed* if it is
   a generation, *unsafe* if the constraint does not accept it.
2. **Deadlines.** With ``finish`` each text is to be accepted by the judge and late by one call at most; with
   ``abstain`` the share of short texts that is not finished in time.
3. **Phases.** Where the time of a text goes.
4. **Growth.** Steps of the loop without a model, by states of a regular expression and by depth of JSON.

Example of what is compared: Xu, *OIP-CAD*, sections 9.7 and 9.8 and table 6.
"""

from __future__ import annotations

import json
import random
import time
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
import transformers

import tokamata as tk
from benchmarks.common import environment
from benchmarks.common.program import parser_for, progress, run
from benchmarks.common.report import Report, Target, ranks
from benchmarks.common.tokenizers import load_known
from benchmarks.repair.instances import load
from benchmarks.safe_loop.models import Fault, Writer, filtered, not_numbers, sound

_CALL_SECONDS = 0.004
_DEADLINES_MS = (5, 10, 20, 40, 80, 160)
_BUDGET = 200
_SHORT = 24  # tokens of a text that ends within the longest deadline
_PROMPT = [791, 311]
_STOP = "<|end_of_text|>"


class Case(NamedTuple):
    """A constraint, and the tokens of a text that it accepts."""

    constraint: tk.Constraint[Any]
    tokens: list[int]


def main() -> int:
    """The program."""
    return run(measure, parser_for(__doc__).parse_args())


def measure(options: Namespace, work: Path) -> Report:
    """All tables."""
    known = load_known("llama-3.1", options.tokenizers, work)
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=str(known.path), eos_token=_STOP)
    count = options.count or (4 if options.quick else 60)
    cases, short = (_cases(options, tokenizer, count, most) for most in (_BUDGET // 2, _SHORT))
    report = Report(environment.describe())
    _causes(report, cases, tokenizer)
    _deadlines(report, cases, short, tokenizer, (10, 80) if options.quick else _DEADLINES_MS)
    _growth(report, tokenizer, 1_000 if options.quick else 50_000, 100 if options.quick else 10_000)
    return report


def _cases(options: Namespace, tokenizer: Any, count: int, most: int) -> list[Case]:
    """So many cases, whose texts have fewer than ``most`` tokens."""
    instances = load(options.schemas, is_training=False)
    random.Random(f"{options.seed} safe loop").shuffle(instances)
    cases: list[Case] = []
    for instance in instances:
        if len(cases) == count:
            break
        text = json.dumps(instance.value, ensure_ascii=False)
        try:
            constraint = tk.json_schema(instance.schema)
            if not constraint.accepts(text):  # another order, or another spelling
                continue
        except tk.TokamataError:
            continue
        tokens = tokenizer(text, add_special_tokens=False)["input_ids"]
        if len(tokens) < most:
            cases.append(Case(constraint, tokens))
    return cases


def _written(
    case: Case, tokenizer: Any, seed: int, fault: Fault, seconds: float = 0.0, **settings: Any
) -> Any:
    model = Writer(len(tokenizer), [*case.tokens, tokenizer.eos_token_id], len(_PROMPT), seed, seconds, fault)
    settings = {"max_new_tokens": _BUDGET, "seed": seed, "policy": tk.Policy(), **settings}
    return tk.generate(model, tokenizer, list(_PROMPT), case.constraint, **settings)


def _causes(report: Report, cases: list[Case], tokenizer: Any) -> None:
    rows, phases = [], []
    for name, fault, settings in (
        ("none", sound, {}),
        ("logits not numbers", not_numbers, {}),
        ("logits filtered", filtered, {}),
        ("banned tokens", sound, {"bans": True}),
        ("validator", sound, {"validator": True}),
    ):
        for tokenization in ("any", "canonical"):
            results, spans = [], []
            for seed, case in _shown(cases, f"{name}, {tokenization}"):
                extra: dict[str, Any] = {"tokenization": tokenization}
                if "bans" in settings:
                    extra["banned_tokens"] = _banned(case, tokenizer, seed)
                if "validator" in settings:
                    extra["validators"] = [lambda value: hash(json.dumps(value, sort_keys=True)) % 2 == 0]
                begin = time.perf_counter()
                try:
                    results.append((case, _written(case, tokenizer, seed, fault, **extra)))
                except (tk.UnspellableError, tk.NoncanonicalError):
                    continue  # no text is left: refused before the model is called
                spans.append(time.perf_counter() - begin)
            rows.append(_row(name, tokenization, results))
            phases.append(_phases(name, tokenization, results, spans))
    report.add(
        f"Injected causes: {len(cases)} texts each",
        rows,
        [
            "Calls whose banned tokens leave no text are refused before the model is called, and left out.",
            "A validator refuses half of all values, by a hash.",
        ],
    )
    report.add("Milliseconds of a text, median", phases, ["forward: the model, which is a random one here."])
    unsafe = sum(row["unsafe"] for row in rows)
    report.is_wrong = unsafe > 0
    for row in rows:
        if row["cause"] not in ("none", "validator"):
            what = f"completed: {row['cause']}, {row['tokenization']}"
            report.targets.append(Target(what, row["completed %"], 99, "%", at_least=True))
    report.targets.append(Target("unsafe texts", unsafe, 0, ""))


def _shown(cases: list[Case], title: str) -> Iterator[tuple[int, Case]]:
    """The cases with their numbers, and a bar."""
    with progress(title, len(cases)) as advance:
        for seed, case in enumerate(cases):
            yield seed, case
            advance(title)


def _banned(case: Case, tokenizer: Any, seed: int) -> list[int]:
    """A tenth of the tokens of the wanted text, at least one; none that are single bytes."""
    vocabulary = tk.Vocabulary.load(tokenizer)
    long = sorted({token for token in case.tokens if len(vocabulary[token] or b"") > 1})
    return random.Random(seed).sample(long, max(1, len(long) // 10)) if long else []


def _row(name: str, tokenization: str, results: list[tuple[Case, Any]]) -> dict[str, Any]:
    whole = [(case, result) for case, result in results if isinstance(result, tk.Generation)]
    detours = [switch for _, result in results for switch in result.switches if switch.state == "shadow"]
    return {
        "cause": name,
        "tokenization": tokenization,
        "texts": len(results),
        "completed %": 100 * len(whole) / max(1, len(results)),
        "unsafe": sum(not _is_safe(case, result) for case, result in whole),
        "by detours alone %": 100
        * sum(all(switch.state == "shadow" for switch in result.switches) for _, result in whole)
        / max(1, len(whole)),
        "detours": len(detours),
        "bytes of a detour": float(np.mean([len(one.data) for one in detours])) if detours else float("nan"),
        "repaired or closed": sum(
            any(switch.state != "shadow" for switch in result.switches) for _, result in whole
        ),
    }


def _is_safe(case: Case, result: tk.Generation[Any]) -> bool:
    """Whether the constraint accepts the text; a repair keeps the white space of the text that it repairs."""
    if result.repair is None:
        return case.constraint.accepts(result.text)
    try:
        result.parse()
    except tk.ParseError:
        return False
    return True


def _phases(
    name: str, tokenization: str, results: list[tuple[Case, Any]], spans: list[float]
) -> dict[str, Any]:
    timings = [result.timing for _, result in results]

    def median(*fields: str) -> float:
        return 1e3 * float(np.median([sum(getattr(one, field) for field in fields) for one in timings]))

    return {
        "cause": name,
        "tokenization": tokenization,
        "forward": median("prompt_seconds", "model_seconds"),
        "mask": median("constraint_seconds"),
        "drawing": median("sampling_seconds"),
        "backoff": median("backoff_seconds"),
        "repair": median("repair_seconds"),
        "compile": median("compile_seconds"),
        "all": 1e3 * float(np.median(spans)),
    }


def _deadlines(
    report: Report, cases: list[Case], short: list[Case], tokenizer: Any, deadlines_ms: tuple[int, ...]
) -> None:
    rows, late_ms, valid = [], [], 0
    for case in (*cases, *short):  # what is made once for a constraint
        _written(case, tokenizer, 0, sound)
    for deadline_ms in deadlines_ms:
        finished: list[Any] = []
        abstained, late = 0, []
        timed: dict[str, Any] = {"deadline_seconds": deadline_ms / 1e3}
        for seed, case in _shown(cases, f"{deadline_ms} ms, finish"):
            begin = time.perf_counter()
            result = _written(case, tokenizer, seed, sound, _CALL_SECONDS, **timed)
            late.append(1e3 * (time.perf_counter() - begin) - deadline_ms)
            finished.append(isinstance(result, tk.Generation) and case.constraint.accepts(result.text))
        policy = tk.Policy(on_deadline="abstain")
        for seed, case in _shown(short, f"{deadline_ms} ms, abstain"):
            other = _written(case, tokenizer, seed, sound, _CALL_SECONDS, policy=policy, greedy=True, **timed)
            abstained += isinstance(other, tk.Abstention)
        late_ms += late
        valid += sum(finished)
        rows.append(
            {
                "deadline, ms": deadline_ms,
                "finish: accepted %": 100 * sum(finished) / len(cases),
                "finish: late by, p50": float(np.median(late)),
                "p99": float(np.percentile(late, 99, method="inverted_cdf")),
                "largest": max(late),
                "abstain: abstained %": 100 * abstained / len(short),
            }
        )
    lengths = sorted(len(case.tokens) for case in short)
    notes = [
        f"A call of the model takes {1e3 * _CALL_SECONDS:g} ms; a negative figure is not late.",
        f"Abstain: {len(short)} texts of {lengths[0]} to {lengths[-1]} tokens, median "
        f"{lengths[len(lengths) // 2]}; greedy.",
    ]
    report.add("Deadlines", rows, notes)
    share = 100 * valid / (len(cases) * len(deadlines_ms))
    report.targets.append(Target("accepted by the deadline", share, 100, "%", at_least=True))
    over = float(np.percentile(late_ms, 99, method="inverted_cdf"))
    report.targets.append(Target("late, p99", over, 1e3 * _CALL_SECONDS + 1, "ms"))


def _growth(report: Report, tokenizer: Any, states: int, depth: int) -> None:
    """Masks and steps without a model."""
    vocabulary = tk.Vocabulary.load(tokenizer)
    rows = []
    for size in [one for one in (10, 100, 1_000, 10_000, 50_000) if one <= states]:
        words = "|".join(f"w{number}x" for number in range(size // 5))  # five states a word, shared ends
        constraint = tk.regex(f"(({words}) )*")
        rows.append(_walked(f"{size:,} states", constraint, vocabulary, random.Random(1)))
    nested = tk.json_schema(
        {"$defs": {"a": {"type": "array", "items": {"$ref": "#/$defs/a"}}}, "$ref": "#/$defs/a"}
    )
    for size in [one for one in (2, 8, 32, 1_000, 10_000) if one <= max(depth, 32)]:
        compiled = nested.compile(vocabulary)
        matcher = compiled.matcher()
        token = tokenizer("[", add_special_tokens=False)["input_ids"][0]
        times = []
        row = compiled.allocate_mask()
        for _ in range(size):
            begin = time.perf_counter_ns()
            matcher.fill_mask(row[0])
            assert matcher.advance(token)
            times.append(time.perf_counter_ns() - begin)
        rows.append({"": f"depth {size:,}", "steps": size, **ranks(times[size // 2 :])})
    report.add("A mask and a step, µs, by size", rows)


def _walked(
    name: str, constraint: tk.Constraint[Any], vocabulary: tk.Vocabulary, draw: random.Random
) -> dict[str, Any]:
    compiled = constraint.compile(vocabulary)
    matcher, row = compiled.matcher(), compiled.allocate_mask()
    times = []
    for step in range(2_000):
        begin = time.perf_counter_ns()
        matcher.fill_mask(row[0])
        spent = time.perf_counter_ns() - begin
        allowed = np.flatnonzero(np.unpackbits(row[0].view(np.uint8), bitorder="little"))
        allowed = allowed[allowed != vocabulary.stop[0]]
        token = int(allowed[draw.randrange(len(allowed))])
        begin = time.perf_counter_ns()
        assert matcher.advance(token)
        if step >= 1_000:
            times.append(spent + time.perf_counter_ns() - begin)
    return {"": name, "steps": len(times), **ranks(times)}


if __name__ == "__main__":
    torch.set_num_threads(1)
    raise SystemExit(main())
