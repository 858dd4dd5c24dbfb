"""The cases of other libraries' own tests, and how tokamata's repairs of them are judged.

    python -m tests.support.repair.library_cases                    # a table: a row for each library
    python -m tests.support.repair.library_cases --failing baml     # each case that comes back wrong
    python -m tests.support.repair.library_cases --renew            # after a change: the list of these

``tests/data/repair/LIBRARY/cases.json`` holds the cases.  A case says what its library makes of a text; a
case without that is one where the library raises, or returns an empty text.  Some cases also have *readings*:
other values that a careful reader takes for what the writer meant.  Two readers gave them, without an answer
of any library; a value is listed if both accept it, with a reason of ``REASONS``.

A repair counts as *expected* if its value is the library's, as *read* if it is one of the readings, and as
*wrong* otherwise.  ``tests/data/repair/wrong.json`` lists the wrong ones, and the tests hold that list.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple

import tokamata as tk
from tests.support.paths import DATA

LIBRARIES = (
    "json_repair",
    "jsonrepair",
    "baml",
    "best_effort_json_parser",
    "jaison",
    "json5",
    "json_fixer",
    "langchain",
    "partial_json_parser",
    "vercel_ai",
)
# The bound on states makes the answers of searches that do not end the same on any machine.
LIMITS = tk.Limits(states=3000, seconds=120)
REASONS = {
    "ambiguous": "the text does not decide between the two values",
    "as it stands": "the text, or the part in question, is JSON, and the library changes its value",
    "content": "the library drops content that the writer wrote, or finds no value in it",
    "convention": "nothing is written, and what stands for it is the library's own convention",
    "garbage": "no reader can say what was meant; the library's value does not count",
    "invented": "the library's value holds content that nobody wrote",
    "type": "the text is a spelling of another type: a number with zeros before it, a null of Python",
    "white space": "the library strips white space within a string",
}
"""Why a reader takes another value than the library's."""
_WRONG = DATA / "repair" / "wrong.json"


class LibraryCase(NamedTuple):
    """A text of a library's tests.

    Attributes:
        library: one of ``LIBRARIES``.
        name: the name of the test and the number of the case within it; no two cases of a library share it.
        input: the text.
        schema: the JSON Schema that the library's test has, as a JSON text; ``None``: any JSON.
        expected: the JSON text that the library makes of it; ``None``: it raises, or finds nothing.
        readings: JSON texts of other values that both readers accept.
        reason: why they do, of ``REASONS``; ``None`` if they agree with the library.
    """

    library: str
    name: str
    input: str
    schema: str | None
    expected: str | None
    readings: tuple[str, ...]
    reason: str | None

    @property
    def is_json(self) -> bool:
        """Whether the text is JSON as it is."""
        return value_of(self.input) is not None

    @property
    def has_value(self) -> bool:
        """Whether the library or a reader says what the value is."""
        return self.reason != "garbage" and (self.expected is not None or bool(self.readings))

    def is_expected(self, text: str | None) -> bool:
        """Whether a text has the value that the library expects."""
        return self._is(text, [self.expected])

    def is_read(self, text: str | None) -> bool:
        """Whether a text has the value of a reading."""
        return self._is(text, self.readings)

    def _is(self, text: str | None, others: Iterable[str | None]) -> bool:
        written = value_of(text, has_nulls=self.schema is None)
        return written is not None and written in {
            value_of(other, has_nulls=self.schema is None) for other in others
        }


class Judgement(NamedTuple):
    """A case and what tokamata made of it; ``repair`` is ``None`` where a limit was passed."""

    case: LibraryCase
    repair: tk.Repair[Any] | None

    @property
    def text(self) -> str | None:
        """The repaired text."""
        return None if self.repair is None else self.repair.text

    @property
    def verdict(self) -> str:
        """``expected``, ``read``, ``wrong``, or ``no value`` where nobody says what the value is."""
        if not self.case.has_value:
            return "no value"
        if self.case.is_expected(self.text):
            return "expected"
        if self.case.is_read(self.text):
            return "read"
        return "wrong"


@cache
def library_cases(library: str, is_partial: bool = False) -> list[LibraryCase]:
    """All cases of a library; with ``is_partial`` only those of texts that are still being written."""
    cases: list[LibraryCase] = []
    numbers: dict[str, int] = {}
    for case in json.loads((DATA / "repair" / library / "cases.json").read_text("utf-8"))["cases"]:
        if case.get("partial", False) is not is_partial:
            continue
        number = numbers[case["test"]] = numbers.get(case["test"], 0) + 1
        schema = case.get("schema")
        cases.append(
            LibraryCase(
                library,
                f"{case['test']} {number}",
                case["input"],
                None if schema is None else json.dumps(schema),
                case["expected"],
                tuple(case.get("readings", ())),
                case.get("reason"),
            )
        )
    return cases


def suite_cases() -> list[tuple[str, bytes, bool]]:
    """JSONTestSuite's files: name, bytes, and whether they are JSON; a byte that is not UTF-8 is 0xFF."""
    content = json.loads((DATA / "json_test_suite" / "test_parsing.json").read_text("utf-8"))
    return [
        (
            case["name"],
            (case["input"] * case.get("times", 1) + case.get("then", ""))
            .encode("utf-8")
            .replace("\ufffd".encode(), b"\xff"),
            case["name"].startswith("y_"),
        )
        for case in content["cases"]
    ]


def value_of(text: str | None, has_nulls: bool = True) -> str | None:
    """The value of a JSON text, as a text that is the same for equal values; ``None`` if it is not JSON.

    Numbers are equal by value (1 and 1.0), the order of members does not count.  Without ``has_nulls`` a
    member that is null is the same as none: BAML's optional fields do not distinguish them.
    """
    try:
        return None if text is None else _canonical(text, has_nulls)
    except ValueError:
        return None
    except RecursionError:  # arrays in arrays: all but the inner hundred are taken off, if they are closed
        assert text is not None
        outer = len(text) - len(text.lstrip("[")) - 100
        if outer <= 0 or not text.endswith("]" * outer):
            return None
        inner = value_of(text[outer:-outer], has_nulls)
        return None if inner is None else "[" * outer + inner + "]" * outer


def _canonical(text: str, has_nulls: bool) -> str:
    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        return {name: value for name, value in pairs if has_nulls or value is not None}

    value = json.loads(text, parse_constant=_refused, parse_float=_number, object_pairs_hook=members)
    return json.dumps(value, sort_keys=True)


def _number(digits: str) -> int | float:
    number = float(digits)
    return int(number) if number.is_integer() else number


def _refused(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


@cache
def constraint_of(schema: str | None) -> tk.Constraint[Any]:
    """What a case is repaired into: any JSON, or what its schema accepts in any order of members."""
    if schema is None:
        return tk.json(whitespace="any", spelling="any")
    return tk.json_schema(
        json.loads(schema), property_order="any", whitespace="any", spelling="any", strict=False
    )


def judged(cases: Iterable[LibraryCase]) -> Iterator[Judgement]:
    """Repairs the cases."""
    for case in cases:
        try:
            yield Judgement(case, constraint_of(case.schema).repair(case.input, limits=LIMITS))
        except tk.LimitExceeded:
            yield Judgement(case, None)


def wrong_cases() -> dict[str, list[str]]:
    """The names of the cases that are known to come back wrong, by library."""
    found: dict[str, list[str]] = json.loads(_WRONG.read_text("utf-8"))
    return found


def _print_table() -> None:
    columns = ["cases", "no value", "expected", "read", "wrong"]
    print(
        f"{'library':24}" + "".join(f"{title:>12}" for title in (*columns, "expected %", "read %", "right %"))
    )
    for library in LIBRARIES:
        judgements = list(judged(library_cases(library)))
        verdicts = [found.verdict for found in judgements]
        counts = [len(verdicts), *(verdicts.count(column) for column in columns[1:])]
        valued = max(counts[0] - counts[1], 1)
        shares = [100 * right / valued for right in (counts[2], counts[3], counts[2] + counts[3])]
        print(f"{library:24}" + "".join(f"{count:12}" for count in counts), end="")
        print("".join(f"{share:12.1f}" for share in shares), end="  ")
        reasons = Counter(found.case.reason for found in judgements if found.verdict == "read")
        print(", ".join(f"{reason} {count}" for reason, count in reasons.most_common()), flush=True)


def _print_failing(library: str) -> None:
    for case, repair in judged(library_cases(library)):
        if Judgement(case, repair).verdict != "wrong":
            continue
        print(f"--- {case.name}")
        _print_lines("text", case.input)
        if case.schema is not None:
            _print_lines("schema", case.schema)
        _print_lines("right", *filter(None, (case.expected, *case.readings)))
        if repair is None:
            _print_lines("ours", "passed a limit")
            continue
        _print_lines("ours", repair.text)
        title = f"cost {repair.cost}{'' if repair.optimal else ' unproven'}"
        _print_lines("edits", f"{title}: {'; '.join(map(_shown, _runs(repair.edits)))}")


def _runs(edits: Iterable[tk.Edit]) -> Iterator[tk.Edit]:
    """The edits; neighbours of one name are one."""
    before: tk.Edit | None = None
    for edit in edits:
        if before is not None and (before.name, before.end) == (edit.name, edit.begin):
            before = before._replace(
                end=edit.end, removed=before.removed + edit.removed, written=before.written + edit.written
            )
            continue
        if before is not None:
            yield before
        before = edit
    if before is not None:
        yield before


def _shown(edit: tk.Edit) -> str:
    removed, written = (part.decode("utf-8", "replace") or "∅" for part in (edit.removed, edit.written))
    return f"{edit.name} at {edit.begin}: {removed} → {written}"


def _print_lines(title: str, *texts: str) -> None:
    for text in texts:
        shown = text.replace("\n", "⏎")
        print(f"{title:7}{shown if len(shown) <= 600 else shown[:400] + ' […] ' + shown[-200:]}")


def _renew() -> None:
    found = {
        library: [one.case.name for one in judged(library_cases(library)) if one.verdict == "wrong"]
        for library in LIBRARIES
    }
    _WRONG.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """The program."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument("--failing", choices=LIBRARIES, help="print each case that counts as wrong")
    chosen.add_argument("--renew", action="store_true", help="write the list of wrong cases")
    options = parser.parse_args()
    if options.failing is not None:
        _print_failing(options.failing)
    elif options.renew:
        _renew()
    else:
        _print_table()


if __name__ == "__main__":
    main()
