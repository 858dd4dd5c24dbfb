"""The cases of json_repair's and jsonrepair's own tests, and where tokamata's answer is another one.

    python -m tests.support.repair.library_cases     # after a change of the costs: the differences anew

``tests/data/repair/LIBRARY/cases.json`` has them.  A case says what the library makes of a text.  Where
tokamata's value differs, the case has a reason.  ``REASONS`` explains the reasons; ``_reason`` proposes one
for a new difference, and whoever changes the costs reviews the proposals in the diff.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import tokamata as tk
from tests.support.paths import DATA

LIBRARIES = ("json_repair", "jsonrepair")
# The bound on states makes the answers of searches that do not end the same on any machine.
LIMITS = tk.Limits(states=3000, seconds=120)
REASONS = {
    "no answer": "the library raises or finds nothing; a constraint always has a nearest text",
    "repeated name": "tokamata.json() accepts no object with a repeated name; the library keeps one member",
    "ellipsis": "the library leaves out `...`; for tokamata it is a text without quotes",
    "concatenation": "the library joins strings at a `+` of JavaScript; no edit does that",
    "call": "the library drops a call or the parentheses of a tuple around a value; no edit does that",
    "white space": "the library drops white space that JSON keeps, or blanks that it does not know",
    "no value": "a value is missing: the library writes null or an empty text, tokamata another one",
    "text or number": "a malformed number or word becomes a value of another type",
    "text at the root": "a quote before the whole text is dear, since prose would become a string",
    "escape": "the library guesses what an escape that JSON does not have was to mean",
    "content": "the library removes content that tokamata keeps",
    "search": "the search does not end within the limits",
    "costs": "the default costs make another text nearer, as its certificate proves",
}


class LibraryCase(NamedTuple):
    """A text of a library's tests.

    Attributes:
        library: one of ``LIBRARIES``.
        test: the name of the test.
        input: the text.
        expected: the JSON text that the library makes of it; ``None``: it raises, or finds nothing.
        differs: why tokamata's value is another one, of ``REASONS``; ``None``: it is the same.
    """

    library: str
    test: str
    input: str
    expected: str | None
    differs: str | None

    @property
    def is_json(self) -> bool:
        """Whether the text is JSON as it is."""
        return value_of(self.input) is not None

    def is_expected(self, text: str | None) -> bool:
        """Whether a text has the value that the library expects."""
        written = value_of(text)
        return written is not None and written == value_of(self.expected)


def library_cases(library: str) -> list[LibraryCase]:
    """All cases of a library."""
    content = _content(library)
    return [
        LibraryCase(library, case["test"], case["input"], case["expected"], case.get("differs"))
        for case in content["cases"]
    ]


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


def value_of(text: str | None) -> str | None:
    """The value of a JSON text, as a text that is the same for equal values; ``None`` if it is not JSON."""
    try:
        return None if text is None else json.dumps(json.loads(text, parse_constant=_refused), sort_keys=True)
    except ValueError:
        return None
    except RecursionError:  # arrays in arrays: all but the inner hundred are taken off, if they are closed
        assert text is not None
        outer = len(text) - len(text.lstrip("[")) - 100
        if outer <= 0 or not text.endswith("]" * outer):
            return None
        inner = value_of(text[outer:-outer])
        return None if inner is None else "[" * outer + inner + "]" * outer


def _refused(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def json_constraint() -> tk.Constraint[Any]:
    """What the cases are repaired into."""
    return tk.json(whitespace="any", spelling="any")


def _content(library: str) -> Any:
    return json.loads((DATA / "repair" / library / "cases.json").read_text("utf-8"))


def _reason(case: LibraryCase, text: str, is_optimal: bool) -> str:
    for reason, fits in _SIGNS.items():
        if fits(case, text):
            return reason
    return "costs" if is_optimal else "search"


def _letters(text: str | None) -> str:
    return re.sub(r"\\[nrt]|[\W_]+", "", text or "")


def _types(text: str | None) -> list[str]:
    """The scalars of a text, by type."""
    found: list[str] = []

    def enter(value: Any) -> None:
        if isinstance(value, dict):
            list(map(enter, value.values()))
        elif isinstance(value, list):
            list(map(enter, value))
        else:
            found.append(type(value).__name__)

    enter(json.loads(text or "0"))
    return found


_SIGNS: dict[str, Callable[[LibraryCase, str], bool]] = {
    "no answer": lambda case, text: case.expected is None,
    "repeated name": lambda case, text: value_of(case.input) is not None or "duplicate" in case.test,
    "ellipsis": lambda case, text: "..." in case.input and "..." not in (case.expected or ""),
    "concatenation": lambda case, text: "+" in case.input and "+" not in (case.expected or ""),
    "call": lambda case, text: "(" in case.input and "(" not in (case.expected or ""),
    "white space": lambda case, text: (
        re.search(r"[^\S \t\r\n]|[\u180e\u200b\ufeff]", case.input) is not None
        or re.sub(r"\s|\\n", "", case.expected or "") == re.sub(r"\s|\\n", "", text)
    ),
    "escape": lambda case, text: (
        re.search(r'\\(?:[^"\\/bfnrtu]|u(?![0-9a-fA-F]{4}))|\\"', case.input) is not None
    ),
    "no value": lambda case, text: (
        re.search(r'null|(?<!\\)""', case.expected or "") is not None
        and re.search(r'null|""', case.input) is None
        and _letters(case.expected).replace("null", "") == _letters(text)
    ),
    "text at the root": lambda case, text: (
        (case.expected or "").strip()[:1] == '"' and case.input.strip()[:1] not in '"{['
    ),
    "text or number": lambda case, text: (
        len(_types(case.expected)) == len(_types(text)) and _types(case.expected) != _types(text)
    ),
    "content": lambda case, text: len(_letters(case.expected)) + 2 < len(_letters(text)),
}


def main() -> None:
    """Writes the differences of all cases."""
    constraint = json_constraint()
    for library in LIBRARIES:
        content = _content(library)
        for stated, case in zip(content["cases"], library_cases(library), strict=True):
            found = constraint.repair(case.input, limits=LIMITS)
            known = stated.pop("differs", None)
            if not case.is_expected(found.text):
                stated["differs"] = known or _reason(case, found.text, found.optimal)
        content["reasons"] = REASONS
        cases = content.pop("cases")
        head = json.dumps(content, ensure_ascii=False, indent=1).removesuffix("\n}")
        lines = ",\n".join("  " + json.dumps(case, ensure_ascii=False) for case in cases)
        path = DATA / "repair" / library / "cases.json"
        path.write_text(f'{head},\n "cases": [\n{lines}\n ]\n}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
