"""The cases of other libraries' tests, JSONTestSuite's files, and valid JSON, which must not change."""

from __future__ import annotations

import json
from typing import Any

from benchmarks.common.report import Report, Target
from benchmarks.repair.engines import NO_SCHEMA, OURS, Engine
from benchmarks.repair.instances import Instance
from tests.support.repair.library_cases import LIBRARIES, library_cases, suite_cases, value_of

__all__ = ["add_libraries", "add_valid_texts"]

_REPEATED = {"y_object_duplicated_key.json", "y_object_duplicated_key_and_value.json"}


def add_libraries(report: Report, engines: dict[str, Engine], most: int | None) -> None:
    """The table of all cases that are not JSON, or have a schema; ``most`` bounds those of each library.

    An engine that knows no schema gets the text alone.
    """
    rows: list[dict[str, Any]] = []
    for library in LIBRARIES:
        cases = [case for case in library_cases(library) if not case.is_json or case.schema is not None][
            :most
        ]
        schemas = [NO_SCHEMA if case.schema is None else json.loads(case.schema) for case in cases]
        valued = sum(case.has_value for case in cases)
        cells: dict[str, Any] = {"cases of": library, "texts": len(cases), "with a value": valued}
        for name, engine in engines.items():
            texts = [answer.text for answer in engine([case.input for case in cases], schemas)]
            pairs = list(zip(cases, texts, strict=True))
            expected = sum(case.is_expected(text) for case, text in pairs)
            read = sum(case.is_read(text) for case, text in pairs)
            cells[f"{name}, as expected %"] = round(100 * expected / max(valued, 1), 1)
            cells[f"{name}, by readings %"] = round(100 * read / max(valued, 1), 1)
            is_json = sum(value_of(text) is not None for text in texts)
            cells[f"{name}, JSON %"] = round(100 * is_json / max(len(cases), 1), 1)
        rows.append(cells)
    broken = [text.decode("utf-8", "replace") for _, text, is_json in suite_cases() if not is_json][:most]
    cells = {"cases of": "JSONTestSuite, n_*", "texts": len(broken), "with a value": 0}
    for name, engine in engines.items():
        answers = engine(broken, [NO_SCHEMA] * len(broken))
        is_json = sum(value_of(answer.text) is not None for answer in answers)
        cells[f"{name}, JSON %"] = round(100 * is_json / max(len(broken), 1), 1)
    rows.append(cells)
    notes = [
        "as expected: the value that the library expects, of the texts with a value",
        "by readings: another value that two readers accept for what the writer meant",
    ]
    report.add("Cases of the libraries' tests", rows, notes)


def add_valid_texts(
    report: Report, instances: list[Instance], engines: dict[str, Engine], most: int | None
) -> None:
    """Whether valid JSON comes back byte for byte."""
    suite = [
        text.decode("utf-8") for name, text, is_json in suite_cases() if is_json and name not in _REPEATED
    ]
    written = [json.dumps(instance.value, ensure_ascii=False) for instance in instances]
    rows: list[dict[str, Any]] = []
    for title, texts in (
        ("JSONTestSuite, y_*", suite[:most]),
        ("instances", list(dict.fromkeys(written))[:most]),
    ):
        cells: dict[str, Any] = {"texts of": title, "texts": len(texts)}
        for name, engine in engines.items():
            answers = engine(texts, [NO_SCHEMA] * len(texts))
            kept = sum(answer.text == text for answer, text in zip(answers, texts, strict=True))
            cells[f"{name} %"] = round(100 * kept / max(len(texts), 1), 1)
            if name == OURS:
                report.targets.append(
                    Target(
                        f"{title}, byte for byte", 100 * kept / max(len(texts), 1), 100.0, "%", at_least=True
                    )
                )
        rows.append(cells)
    report.add("Valid JSON that comes back byte for byte", rows)
