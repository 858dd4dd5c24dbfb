"""Broken texts by kind of mistake, what a careful reader takes them to mean, and what tokamata makes of them.

    python -m tests.support.repair.kinds                              # right of all, by kind
    python -m tests.support.repair.kinds --collection families        # texts in the style of models
    python -m tests.support.repair.kinds --split dev --failing        # the wrong ones, with their edits
    python -m tests.support.repair.kinds --renew                      # after a change of the costs

``tests/data/repair`` has four collections: ``kinds`` (one kind of mistake in each short text), ``long`` (the
same in texts of up to 1.2 kB), ``pairs`` (two kinds in one text) and ``families`` (texts in the style of
model families).  Each case was written from its text and its schema, and checked a second time, without what
an engine makes of it.  Therefore its accepted values change only when a reader finds them wrong.  A part of
each collection is held out: costs and rewrites are not chosen by it.  The program counts how many of these
cases are right, and does not show their answers.

``--renew`` writes ``wrong.json``: the names of the cases that come back wrong, which a test compares.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import tokamata as tk
from tests.support.paths import DATA
from tests.support.repair.library_cases import constraint_of

COLLECTIONS = ("kinds", "long", "pairs", "families")
SPLITS = ("dev", "held_out")
# The bounds on states make the answers of searches that do not end the same on any machine.  The test of the
# stored names takes the first, for it runs with the ordinary tests; counts are those of the second.
LIMITS = tk.Limits(states=600, seconds=120)
AMPLE_LIMITS = tk.Limits(states=20_000, seconds=120)
_FOLDER = DATA / "repair"
_KINDS_FILES = {"dev": ("dev.json", "dev2.json", "dev3.json", "dev4.json"), "held_out": ("held_out.json",)}
_FILES = {
    "long": ("kinds/long.json",),
    "pairs": ("kinds/pairs.json", "kinds/pairs2.json", "kinds/pairs3.json", "kinds/pairs4.json"),
    "families": ("families.json",),
}
_WRONG = _FOLDER / "kinds" / "wrong.json"


class KindCase(NamedTuple):
    """A broken text, and what it means.

    Attributes:
        name: ``SPLIT/KIND/NUMBER``, distinct in a collection.
        kind: the mistake, the two mistakes, or the model family.
        split: ``dev`` or ``held_out``.
        input: the text.
        schema: JSON Schema; ``None``: any JSON.
        accept: the right values.
        refuses: whether an error is right too.
        keeps: pieces of ``input`` that a repaired text contains.
    """

    name: str
    kind: str
    split: str
    input: str
    schema: Any
    accept: tuple[Any, ...]
    refuses: bool
    keeps: tuple[str, ...]

    def is_right(self, text: str | None) -> bool:
        """Whether a text has a right value; ``None``: an engine has refused."""
        if text is None:
            return self.refuses
        try:
            value = json.loads(text, parse_constant=_refused)
        except ValueError:
            return False
        return comparable(value) in map(comparable, self.accept)

    def keeps_spelling(self, text: str) -> bool:
        """Whether a text spells what the broken one spelled already in the same way."""
        return all(piece in text for piece in self.keeps)


def cases_of(collection: str) -> list[KindCase]:
    """All cases of a collection, the ones for development first."""
    return [
        KindCase(
            f"{split}/{kind}/{number}",
            kind,
            split,
            case["input"],
            case["schema"],
            tuple(case["accept"]),
            case.get("refuses", False),
            tuple(case.get("keeps", ())),
        )
        for split in SPLITS
        for kind, number, case in _numbered(_stored(collection, split))
    ]


def comparable(value: Any) -> str:
    """A text that is the same for equal JSON values: numbers by value, names in any order."""
    return json.dumps(_with_integers(value), sort_keys=True)


def repaired(case: KindCase, limits: tk.Limits) -> tk.Repair[Any] | None:
    """What tokamata makes of a text; ``None``: it refuses."""
    try:
        return _constraint(json.dumps(case.schema)).repair(case.input, limits=limits)
    except tk.NoRepairError:
        return None


def is_ours_right(case: KindCase, repair: tk.Repair[Any] | None) -> bool:
    """Whether a repair has a right value, in the spelling of the text."""
    if repair is None:
        return case.is_right(None)
    return case.is_right(repair.text) and case.keeps_spelling(repair.text)


def wrong_names() -> dict[str, list[str]]:
    """The stored names of cases that come back wrong, by collection."""
    found: dict[str, list[str]] = json.loads(_WRONG.read_text("utf-8"))
    return found


def peers() -> dict[str, Callable[[KindCase], str | None]]:
    """json_repair, if it is installed: without and with its reading by schema."""
    if find_spec("json_repair") is None:
        return {}
    import json_repair

    def answer(case: KindCase, **options: Any) -> str | None:
        try:
            found: Any = json_repair.repair_json(case.input, ensure_ascii=False, **options)
        except Exception:  # any error of the peer is a refusal
            return None
        return found or None  # an empty text: it has found no JSON

    return {
        "json_repair": lambda case: answer(case),
        "json_repair, schema": lambda case: answer(
            case, **({} if case.schema is None else {"schema": case.schema})
        ),
    }


def main() -> None:
    """The program."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--collection", choices=COLLECTIONS, default="kinds")
    parser.add_argument("--split", choices=SPLITS, help="only this half")
    parser.add_argument("--failing", action="store_true", help="the wrong cases of the half for development")
    parser.add_argument("--renew", action="store_true", help=f"write {_WRONG.name}")
    options = parser.parse_args()
    if options.renew:
        _renew()
        return
    if options.failing and options.split == "held_out":
        parser.error("cases that are held out are counted, not shown; use --split dev")
    cases = [case for case in cases_of(options.collection) if options.split in (None, case.split)]
    if options.failing:
        _show_failing(case for case in cases if case.split == "dev")
    else:
        _show_counts(cases)


def _refused(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _with_integers(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _with_integers(each) for name, each in value.items()}
    if isinstance(value, list):
        return list(map(_with_integers, value))
    return int(value) if isinstance(value, float) and value.is_integer() else value


@cache
def _constraint(schema: str) -> tk.Constraint[Any]:
    value = json.loads(schema)
    return constraint_of(None) if value is None else tk.json_schema(value)


def _stored(collection: str, split: str) -> list[Any]:
    if collection == "kinds":
        return [case for file in _KINDS_FILES[split] for case in _read(_FOLDER / "kinds" / file)]
    return [case for file in _FILES[collection] for case in _read(_FOLDER / file) if case["split"] == split]


def _read(path: Path) -> list[Any]:
    cases: list[Any] = json.loads(path.read_text("utf-8"))["cases"]
    return cases


def _numbered(cases: Iterable[Any]) -> Iterator[tuple[str, int, Any]]:
    counts: dict[str, int] = {}
    for case in cases:
        kind = case["kind"]
        counts[kind] = counts.get(kind, 0) + 1
        yield kind, counts[kind], case


def _renew() -> None:
    wrong = {
        collection: [
            case.name for case in cases_of(collection) if not is_ours_right(case, repaired(case, LIMITS))
        ]
        for collection in COLLECTIONS
    }
    _WRONG.write_text(json.dumps(wrong, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _show_failing(cases: Iterable[KindCase]) -> None:
    for case in cases:
        repair = repaired(case, AMPLE_LIMITS)
        if is_ours_right(case, repair):
            continue
        print(f"{case.name}\n  input   {case.input!r}")
        if case.schema is not None:
            print(f"  schema  {json.dumps(case.schema, ensure_ascii=False)}")
        accepted = [json.dumps(value, ensure_ascii=False) for value in case.accept]
        print("  right   " + " | ".join(accepted + ["a refusal"] * case.refuses))
        for piece in case.keeps:
            print(f"  keeps   {piece}")
        if repair is None:
            print("  ours    refused")
            continue
        print(f"  ours    {repair.text!r}, cost {repair.cost}{'' if repair.optimal else ', not proven'}")
        for edit in repair.edits:
            print(f"    {edit.begin}: {edit.name} {edit.removed!r} -> {edit.written!r} ({edit.cost})")


def _show_counts(cases: list[KindCase]) -> None:
    engines: dict[str, Callable[[KindCase], bool]] = {
        "tokamata": lambda case: is_ours_right(case, repaired(case, AMPLE_LIMITS))
    }
    for name, answer in peers().items():
        engines[name] = lambda case, answer=answer: case.is_right(answer(case))  # type: ignore[misc]
    rows = [(case, [is_right(case) for is_right in engines.values()]) for case in cases]
    print(f"{'':<44}{'cases':>6}  " + "  ".join(engines))
    for split, of_split in groupby(rows, lambda row: row[0].split):
        found = list(of_split)
        for kind in dict.fromkeys(case.kind for case, _ in found):
            _show_row(kind, [right for case, right in found if case.kind == kind], list(engines))
        _show_row(f"all of {split}", [right for _, right in found], list(engines))
        print()


def _show_row(title: str, answers: list[list[bool]], engines: list[str]) -> None:
    counts = [sum(right) for right in zip(*answers, strict=True)]
    cells = [f"{count:>{len(name)}}" for count, name in zip(counts, engines, strict=True)]
    print(f"{title:<44}{len(answers):>6}  " + "  ".join(cells))


if __name__ == "__main__":
    main()
