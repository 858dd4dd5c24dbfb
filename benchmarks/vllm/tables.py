"""Tables and targets of what the back ends have written."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from jsonschema.validators import validator_for

from benchmarks.common.report import Report, Target, ranks

if TYPE_CHECKING:
    from benchmarks.vllm.__main__ import Written

_OURS, _PEER = "tokamata", "guidance"


def add_tables(report: Report, written: Sequence[Written]) -> None:
    """Fill a report; it is wrong if a text of ours is invalid."""
    runs = sorted({(one.drafted, one.batch > 1) for one in written})
    names = list(dict.fromkeys(one.backend for one in written))

    def of(name: str, drafted: bool | None = None, is_batch: bool | None = None) -> list[Written]:
        return [
            one
            for one in written
            if one.backend == name and drafted in (None, one.drafted) and is_batch in (None, one.batch > 1)
        ]

    def rows(row: Callable[[list[Written]], dict[str, Any]]) -> list[dict[str, Any]]:
        return [
            {"requests": _run_name(drafted, is_batch), "back end": name, **row(of(name, drafted, is_batch))}
            for drafted, is_batch in runs
            for name in names
        ]

    report.add(
        "Schemas: from their text to a grammar (ms)",
        [{"back end": name, **_compile(of(name))} for name in names],
    )
    report.add(
        "Time to the first token (ms)",
        rows(_first),
        ["From the request to its first token: the check of the schema, the grammar, the prompt, one step."],
    )
    report.add(
        "Masks: processor time for each token (µs) and of the longest call (ms); wall time of a token (ms)",
        rows(_steps),
        [
            "Mask: all calls of the grammar, divided by the tokens: drafts checked, rows made, tokens read, "
            "drafts taken back. No schema was seen before, so masks are computed, not found."
        ],
    )
    report.add("Texts", [{"back end": name, **_texts(of(name))} for name in names])
    report.targets = _targets({name: of(name) for name in names})
    report.is_wrong = bool(_texts(of(_OURS))["invalid"])


def _run_name(drafted: bool, is_batch: bool) -> str:
    return f"{'eight' if is_batch else 'one'} at once{', with drafts' if drafted else ''}"


def _compile(written: list[Written]) -> dict[str, Any]:
    times = [taken / 1e3 for one in written for taken in one.answer["compile"]]
    return {"schemas": len(times), **ranks(times, ("p50", "p90", "largest"))}


def _first(written: list[Written]) -> dict[str, Any]:
    firsts = [result["first"] for result in _results(written) if result["first"] is not None]
    return ranks([taken / 1e3 for taken in firsts], ("p50", "p90", "largest"))


def _steps(written: list[Written]) -> dict[str, Any]:
    tokens = _tokens(written)
    return {
        "tokens": tokens,
        "mask": _mask_us(written),
        "mask, p50 of runs": _median_mask_us(written),
        "longest call": max((one.answer["longest"] for one in written), default=0) / 1e6,
        "wall": sum(one.answer["wall"] for one in written) / tokens / 1e6,
    }


def _texts(written: list[Written]) -> dict[str, Any]:
    pairs = [
        (json.loads(case.schema), result)
        for one in written
        for case, result in zip(one.cases, one.answer["results"], strict=True)
    ]
    return {
        "requests": len(pairs),
        "refused": sum(result["refused"] is not None for _, result in pairs),
        "failed": sum(
            result["reason"] not in ("stop", "length") and result["refused"] is None for _, result in pairs
        ),
        "cut off": sum(result["reason"] == "length" for _, result in pairs),
        "finished": sum(result["reason"] == "stop" for _, result in pairs),
        "invalid": sum(
            result["reason"] == "stop" and not _is_valid(schema, result) for schema, result in pairs
        ),
    }


def _is_valid(schema: Any, result: dict[str, Any]) -> bool:
    try:
        value = json.loads(result["text"])
    except ValueError:
        return False
    return bool(validator_for(schema)(schema).is_valid(value))


def _results(written: list[Written]) -> list[dict[str, Any]]:
    return [result for one in written for result in one.answer["results"]]


def _tokens(written: list[Written]) -> int:
    return sum(result["tokens"] for result in _results(written))


def _mask_us(written: list[Written]) -> float:
    return float(sum(one.answer["mask"] for one in written) / max(_tokens(written), 1) / 1e3)


def _median_mask_us(written: list[Written]) -> float:
    """Over the runs: a text that nears its end can cost as much as all others together."""
    return float(np.median([_mask_us([one]) for one in written if _tokens([one])] or [np.nan]))


def _targets(by_name: dict[str, list[Written]]) -> list[Target]:
    ours, peer = by_name.get(_OURS, []), by_name.get(_PEER, [])
    if not ours:
        return []
    texts = _texts(ours)
    targets = [
        Target("texts cut off", texts["cut off"], 0, ""),
        Target("invalid texts", texts["invalid"], 0, ""),
    ]
    if peer:
        compiling = _compile(ours)["p50"] / _compile(peer)["p50"]
        targets += [
            Target(
                "mask time of a token, mean, of guidance's", _mask_us(ours) / _mask_us(peer), 0.1, "times"
            ),
            Target("the same, median of runs", _median_mask_us(ours) / _median_mask_us(peer), 0.1, "times"),
            Target("compiling, median, of guidance's", compiling, 0.5, "times"),
        ]
    return targets
