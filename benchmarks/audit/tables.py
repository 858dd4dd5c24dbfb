"""The tables of the audits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.common.report import Report
from tokamata.audit.findings import Kind

_NOTES = (
    "An engine is too strict by a schema if it refuses a valid instance, and every other text of its value "
    "that was tried: up to 27 styles in the order of the text, 27 in that of the schema, and a search for "
    "an order that the engine takes. It is too loose if its own masks let an instance be written to its end "
    "that is invalid. `jsonschema-rs` judges both. Where its verdict depends on whether `format` is "
    "asserted, no engine is blamed.",
    "Differences are no errors: the engine takes the value in another style, or treats `format` as an "
    "annotation.",
    "An audit that finds nothing proves nothing: the texts are a sample.",
)
_SHOWN = 4
_KINDS = (
    (Kind.TOO_STRICT, "schemas with a valid value refused"),
    (Kind.TOO_LOOSE, "schemas with an invalid instance accepted"),
    (Kind.NOT_JSON, "schemas with text that is not JSON accepted"),
    (Kind.DEAD_END, "schemas with a dead end"),
    (Kind.CONTRADICTION, "schemas where mask and advance differ"),
    (Kind.CRASH, "crashes"),
    (Kind.HANG, "no answer in time"),
    (Kind.ERROR, "exceptions after compiling"),
)


def report_of(facts: dict[str, str], records: Sequence[dict[str, Any]]) -> Report:
    """Tables over all records; and by the schemas that every engine has."""
    report = Report(facts)
    engines = list(dict.fromkeys(one["engine"] for one in records))
    by_engine = {name: [one for one in records if one["engine"] == name] for name in engines}
    common = (
        set.intersection(*({one["id"] for one in ones} for ones in by_engine.values())) if engines else set()
    )
    report.add(
        "Each engine, by the schemas that it was audited by",
        pd.DataFrame(_rows(by_engine), dtype=object),
        _NOTES,
    )
    if any(len(ones) != len(common) for ones in by_engine.values()):
        shared = {name: [one for one in ones if one["id"] in common] for name, ones in by_engine.items()}
        report.add(
            f"By the {len(common):,} schemas that all of them were audited by",
            pd.DataFrame(_rows(shared), dtype=object),
        )
    report.add(
        "Invalid instances accepted: schemas, by the keyword that refuses the instance", _keywords(by_engine)
    )
    for name in engines:
        if any(one["findings"] for one in by_engine[name]):
            report.add(f"{name}: witnesses", _witnesses(by_engine[name]))
    report.is_wrong = any(one["findings"] for one in by_engine.get("tokamata", ()))
    return report


def _rows(by_engine: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    columns = {name: _column(ones) for name, ones in by_engine.items()}
    titles = list(dict.fromkeys(title for column in columns.values() for title in column))
    return [
        {"": title, **{name: column.get(title, 0) for name, column in columns.items()}} for title in titles
    ]


def _column(ones: list[dict[str, Any]]) -> dict[str, Any]:
    kinds = [Counter(found["kind"] for found in one["findings"]) for one in ones]
    compiled = [one for one in ones if not one["refused"] and not _broke_in_compiling(one)]
    differences: Counter[str] = Counter()
    for one in compiled:
        differences.update(dict.fromkeys(one["differences"], 1))
    seconds = [one["compile_seconds"] * 1e3 for one in compiled] or [float("nan")]
    return {
        "schemas": len(ones),
        "compiled": len(compiled),
        "refused when compiled": sum(bool(one["refused"]) for one in ones),
        "not judged: `jsonschema-rs` refuses the schema": sum(bool(one["judge_refused"]) for one in compiled),
        **{title: sum(kind.value in found for found in kinds) for kind, title in _KINDS},
        "**schemas with any of these**": sum(bool(one["findings"]) for one in ones),
        "compiled, and nothing found": sum(not one["findings"] for one in compiled),
        **{f"difference: {name} (schemas)": count for name, count in differences.most_common(8)},
        "masks compared": sum(one["masks"] for one in ones),
        "bits refused that the reference allows": sum(one["refused_bits"] for one in ones),
        "bits allowed that the reference refuses": sum(one["allowed_bits"] for one in ones),
        "texts judged": sum(one["judged"] for one in ones),
        "texts judged for a schema, median": float(np.median([one["judged"] for one in compiled] or [0])),
        "compiling, median ms": float(np.median(seconds)),
    }


def _broke_in_compiling(one: dict[str, Any]) -> bool:
    return any(found["reason"].endswith(", compiling") for found in one["findings"])


def _keywords(by_engine: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    counts: dict[str, Counter[str]] = {}
    for name, ones in by_engine.items():
        for one in ones:
            found = [finding for finding in one["findings"] if finding["kind"] == Kind.TOO_LOOSE.value]
            for keyword in {finding["reason"].rsplit("/", 1)[-1] for finding in found}:
                counts.setdefault(keyword, Counter())[name] += 1
    order = sorted(counts, key=lambda keyword: -counts[keyword].total())
    return [{"keyword": keyword, **{name: counts[keyword][name] for name in by_engine}} for keyword in order]


def _witnesses(ones: list[dict[str, Any]]) -> list[dict[str, str]]:
    """The shortest of each kind, of different schemas."""
    rows = []
    for kind, _ in _KINDS:
        shortest: dict[str, dict[str, Any]] = {}
        for one in ones:
            found = [finding for finding in one["findings"] if finding["kind"] == kind.value]
            if found:
                shortest[one["id"]] = min(found, key=lambda finding: len(finding["witness"]))
        by_length = sorted(shortest.items(), key=lambda entry: (len(entry[1]["witness"]), entry[0]))
        for schema, finding in by_length[:_SHOWN]:
            witness = finding["witness"].encode("unicode_escape").decode()
            rows.append(
                {
                    "kind": kind.value,
                    "schema": schema,
                    "witness": f"`` {witness[:120]} ``" if witness else "",
                    "reason": finding["reason"][:160],
                }
            )
    return rows
