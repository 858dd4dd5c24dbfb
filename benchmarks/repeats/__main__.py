"""The same constraint again: what a repeated request costs, and what is kept for it.

    python -m benchmarks.repeats                       # Llama 3.1
    python -m benchmarks.repeats --quick

A server gets one schema from many callers, as text or as a dict.  Each request here reads the schema,
compiles it, makes a matcher and fills the first mask; the text or the dict is another object each time.
"""

from __future__ import annotations

import gc
import json
import random
import sys
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import tokamata as tk
from benchmarks.common import environment
from benchmarks.common.program import is_installed, parser_for, progress, run
from benchmarks.common.replaying import memory_mb
from benchmarks.common.report import Report, Target, ranks
from benchmarks.common.timing import clock, clock_cost_ns, quiet
from benchmarks.common.tokenizers import Tokenizer, load_known
from tokamata.calls.equal_calls import READ
from tokamata.matching.compositions import COMPOSED

_SIZES_KB = (0.1, 1, 10, 100, 1000)
_SCHEMAS = (10, 100, 1000, 10_000)
_FIRST_US, _FOR_A_KB_US, _MASK_US = 15.0, 2.0, 0.9


def main() -> int:
    """The program."""
    return run(measure, parser_for(__doc__).parse_args())


def measure(options: Namespace, work: Path) -> Report:
    """All parts."""
    facts = environment.describe("one thread is used")
    tokenizer = load_known("llama-3.1", options.tokenizers, work)
    facts["vocabulary"] = f"{tokenizer.vocabulary!r}, from {tokenizer.origin}"
    tokenizer.vocabulary.core  # noqa: B018  (made here, so that no request pays for it)
    runs = 20 if options.quick else 200
    sizes = _SIZES_KB[:3] if options.quick else _SIZES_KB
    counts = _SCHEMAS[:2] if options.quick else _SCHEMAS
    repeats = _Repeats(tokenizer, runs)
    hosts = repeats.hosts()
    with progress("repeats", len(hosts) * len(sizes) + 1 + len(counts)) as step:
        first = pd.DataFrame(
            [row for name in hosts for size in sizes for row in repeats.first(name, size, step)]
        )
        masks = repeats.masks(step)
        growth = pd.DataFrame([repeats.growth(count, step) for count in counts])
    report = Report(facts)
    report.add(
        "1. First mask of a repeated request (µs)",
        first,
        [
            "*first* is the first request with the schema, the others are repetitions.",
            "The target is 15 µs, 2 µs for each kB of schema, and what *json.dumps* takes for the same dict.",
        ],
    )
    report.add("2. Masks of a whole text (µs, mean)", masks, ["An instance of each schema, token by token."])
    report.add(
        "3. Many different schemas",
        growth,
        [
            "*kept* is how many of them are found again, *MB* what is counted of what is kept; *first* and"
            " *again* are requests with schemas that are new, and that were used last (µs, median)."
        ],
    )
    worst = first.assign(share=first["p50"] / first["target"])["share"].max()
    report.targets = [
        Target("repeated request, share of the target, worst row", float(worst), 1.0, ""),
        Target("masks of a repeated request", float(masks["again"].median()), _MASK_US, "µs"),
        Target("states and masks kept", float(growth["MB of states"].max()), 537.0, "MB"),
        Target("what was read and kept", float(growth["MB of what was read"].max()), 135.0, "MB"),
    ]
    return report


class _Repeats:
    def __init__(self, tokenizer: Tokenizer, runs: int) -> None:
        self._tokenizer = tokenizer
        self._vocabulary = tokenizer.vocabulary
        self._runs = runs
        self._cost_ns = clock_cost_ns()

    def hosts(self) -> dict[str, Callable[[Any], object]]:
        """What a request does in each host, given a schema."""
        row = np.zeros((1, (self._vocabulary.width + 31) // 32), np.int32)

        def plain(schema: Any) -> None:
            tk.json_schema(schema).compile(self._vocabulary).matcher().fill_mask(row[0])

        hosts: dict[str, Callable[[Any], object]] = {"tk.json_schema": plain}

        def response(schema: Any) -> None:
            given = {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}
            tk.response_format(given).compile(self._vocabulary).matcher().fill_mask(row[0])

        hosts["tk.response_format"] = response
        if is_installed("transformers", "torch"):
            from tokamata.integrations.transformers import ConstraintLogitsProcessor

            def processor(schema: Any) -> None:
                ConstraintLogitsProcessor(tk.json_schema(schema).compile(self._vocabulary))

            hosts["transformers, the processor"] = processor
        from tokamata.integrations.vllm.constraints import constraint_of

        def vllm(schema: Any) -> None:
            text = schema if isinstance(schema, str) else json.dumps(schema)
            constraint_of("json", text).compile(self._vocabulary).matcher().fill_mask(row[0])

        hosts["vLLM, the grammar"] = vllm
        return hosts

    def first(self, host: str, size_kb: float, step: Callable[[str], None]) -> list[dict[str, Any]]:
        """Requests with a schema of a size, as text and as a dict."""
        request = self.hosts()[host]
        text = json.dumps(_schema_of(int(size_kb * 1000)))
        rows = []
        for form in ("text", "dict"):
            tk.forget_constraints()
            runs = max(5, int(self._runs / max(1.0, size_kb / 10)))
            given = [_again(text) if form == "text" else json.loads(text) for _ in range(runs + 1)]
            with quiet():
                samples = [_timed(request, one) for one in given]
                dumps = min(_timed(json.dumps, one) for one in given[:5]) if form == "dict" else 0
            target = _FIRST_US + _FOR_A_KB_US * len(text) / 1000 + dumps / 1000
            found = ranks(samples[1:], ("p50", "p90"), self._cost_ns)
            rows.append(
                {"host": host, "kB": len(text) / 1000, "as": form, "first": samples[0] / 1000, **found}
                | {"json.dumps": dumps / 1000 if form == "dict" else None, "target": target}
            )
        step(f"{host}, {size_kb} kB")
        return rows

    def masks(self, step: Callable[[str], None]) -> pd.DataFrame:
        """All masks of a text: in the first request, in its second pass, and in a second request."""
        rows = []
        mask = np.zeros((1, (self._vocabulary.width + 31) // 32), np.int32)[0]
        for size in (100, 1000, 10_000):
            schema = _schema_of(size)
            tokens = self._tokenizer.encode(json.dumps(_instance_of(schema)))

            def walk(compiled: tk.CompiledConstraint[Any], tokens: list[int] = tokens) -> float:
                matcher = compiled.matcher()
                spent = 0
                for token in tokens:
                    begin = clock()
                    matcher.fill_mask(mask)
                    spent += clock() - begin
                    assert matcher.advance(token)
                return (spent / len(tokens) - self._cost_ns) / 1000

            tk.forget_constraints()
            with quiet():
                first = tk.json_schema(json.dumps(schema)).compile(self._vocabulary)
                rows.append(
                    {"kB": len(json.dumps(schema)) / 1000, "tokens": len(tokens), "first": walk(first)}
                )
                rows[-1]["second pass"] = min(walk(first) for _ in range(5))
                del first
                again = [tk.json_schema(json.dumps(schema)).compile(self._vocabulary) for _ in range(5)]
                rows[-1]["again"] = sorted(map(walk, again))[2]
        step("masks")
        return pd.DataFrame(rows)

    def growth(self, count: int, step: Callable[[str], None]) -> dict[str, Any]:
        """Requests with as many different schemas, each of about 1 kB."""
        tk.forget_constraints()
        request = self.hosts()["tk.json_schema"]
        texts = [json.dumps({**_schema_of(1000), "title": f"schema {number}"}) for number in range(count)]
        with quiet():
            new = [_timed(request, text) for text in texts]
            last = [_timed(request, _again(text)) for text in texts[-5:] * 10]
        gc.collect()
        found: dict[str, Any] = {
            "schemas": count,
            "kept": len(COMPOSED),
            "MB of states": COMPOSED.memory_bytes / 1e6,
            "MB of what was read": READ.memory_bytes / 1e6,
            "MB of the process": memory_mb(),
            "first": ranks(new, ("p50",), self._cost_ns)["p50"],
            "again": ranks(last, ("p50",), self._cost_ns)["p50"],
        }
        step(f"{count} schemas")
        return found


def _timed(call: Callable[[Any], object], given: Any) -> int:
    begin = clock()
    call(given)
    return clock() - begin


def _again(text: str) -> str:
    """An equal text that is another object, whose hash is not known yet."""
    return text.encode().decode()


def _schema_of(size: int) -> dict[str, Any]:
    """An object whose schema has about so many bytes."""
    draw = random.Random(size)
    members: dict[str, Any] = {}
    length = 80
    while length < size or not members:
        name = f"{draw.choice(('name', 'count', 'list', 'state'))}_{len(members)}"
        members[name] = draw.choice(
            (
                {"type": "string"},
                {"type": "integer", "minimum": 0},
                {"type": "array", "items": {"type": "string"}},
                {"enum": ["open", "closed"]},
            )
        )
        length += len(json.dumps({name: members[name]}))
    return {"type": "object", "properties": members, "required": [next(iter(members))]}


def _instance_of(schema: dict[str, Any]) -> dict[str, Any]:
    values = {"string": "A word or two", "integer": 17, "array": ["one", "two"], None: "open"}
    return {name: values[member.get("type")] for name, member in list(schema["properties"].items())[:20]}


if __name__ == "__main__":
    sys.exit(main())
