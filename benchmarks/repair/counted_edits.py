"""How often each edit was made, and how often it could have been, on texts whose meaning is known.

Problem.  A cost is 1,000 times the negative natural logarithm of a frequency.  The frequency of an edit is
the number of times that it undoes a mistake, divided by the number of places where it could be made.
Example.  ``{"a": 1,}`` was meant as ``{"a": 1}``.  The repair into the meant text drops a trailing comma.
That pattern was found once and taken once; a colon could have been inserted at 8 places, and was at none.

How.  The broken text is repaired into the meant text alone, in any white space, by :func:`meant_as`.  Edits
are counted by *kind*: each rewrite, each doubt, typos, and for single bytes each key of the cost mappings.
What could have been done is counted in the broken text:

- a rewrite or a doubt wherever its pattern is found; the other outcome of a doubt is that the byte goes;
- an insertion of one of n bytes in n ways at each position within the text; before it in n ways; after it
  in n ways, and once more after each byte that was appended;
- a removal at each byte of the kind.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import tokamata as tk
from benchmarks.repair.corruptions import LEXEME
from tokamata.repair.costs import TextCosts

__all__ = [
    "Counts",
    "Kind",
    "KnownText",
    "costs_by_kind",
    "fitted_cost",
    "is_possible",
    "meant_as",
    "with_costs",
]

_BLANKS = "[ \\t\\r\\n]*"
_MAPPINGS = ("insert", "prepend", "append", "resume", "remove")


class Kind(NamedTuple):
    """What is counted together.

    Attributes:
        group: a mapping of :class:`tokamata.EditCosts`, ``"rewrites"``, ``"doubts"`` or ``"typo"``.
        key: of the mapping; the number of the rewrite or the doubt; 0.
    """

    group: str
    key: str | int


_TYPO = Kind("typo", 0)


class KnownText(NamedTuple):
    """A broken text and what it was meant as.

    Attributes:
        broken: the text.
        meant: the constraint that the meant text alone satisfies.
        words: what the schema lists, if the text has one, as part of costs.
    """

    broken: str
    meant: tk.Constraint[Any]
    words: Any = None


def meant_as(text: str) -> tk.Constraint[Any]:
    """A JSON text as it is, but in any white space."""
    solid = [re.escape(lexeme) for lexeme in LEXEME.findall(text) if not lexeme.isspace()]
    return tk.regex(_BLANKS.join(["", *solid, ""]))


def costs_by_kind(costs: tk.EditCosts) -> dict[Kind, int]:
    """The cost of each kind."""
    found = {Kind(name, key): cost for name in _MAPPINGS for key, cost in getattr(costs, name).items()}
    found |= {Kind("rewrites", number): one.cost for number, one in enumerate(costs.rewrites)}
    found |= {Kind("doubts", number): one.cost for number, one in enumerate(costs.doubts)}
    return found | {_TYPO: costs.typo or 0}


def fitted_cost(made: int, possible: int) -> int:
    """The cost of an edit that was made so often, and could have been: Krichevsky and Trofimov's estimate."""
    return round(-1000 * math.log((made + 0.5) / (possible + 1)))


def with_costs(costs: tk.EditCosts, changed: Mapping[Kind, int]) -> tk.EditCosts:
    """The costs with other ones of some kinds."""
    parts: dict[str, Any] = {
        name: {key: changed.get(Kind(name, key), cost) for key, cost in getattr(costs, name).items()}
        for name in _MAPPINGS
    }
    for group in ("rewrites", "doubts"):
        parts[group] = [
            one._replace(cost=changed.get(Kind(group, number), one.cost))
            for number, one in enumerate(getattr(costs, group))
        ]
    return replace(costs, **parts, typo=changed.get(_TYPO, costs.typo))


def is_possible(kind: Kind, costs: tk.EditCosts, broken: str, words: Any = None) -> bool:
    """Whether an edit of a kind can be made in a text, so that its cost may matter there."""
    if kind.group not in ("rewrites", "doubts", "typo"):
        return True
    priced = (replace(costs, words=words) if words is not None else costs).of_text(broken.encode())
    if kind.group == "doubts":
        return costs.doubts[int(kind.key)] in priced.doubts.values()
    entry = len(costs.rewrites) if kind == _TYPO else kind.key
    return any(priced.rewrites[number][4] == entry for number in range(len(priced.rewrites)))


@dataclass
class Counts:
    """What was counted in some texts.

    Attributes:
        made: how often each kind of edit was made.
        possible: how often it could have been.
        texts: how many were repaired into what they mean.
        cost: of all these repairs.
        unread: texts whose cheapest repair was not proven in time.
    """

    made: Counter[Kind] = field(default_factory=Counter)
    possible: Counter[Kind] = field(default_factory=Counter)
    texts: int = 0
    cost: int = 0
    unread: int = 0

    def add(self, text: KnownText, costs: tk.EditCosts, seconds: float) -> None:
        """Counts one more text."""
        known = replace(costs, words=text.words) if text.words is not None else costs
        found = text.meant.repair(text.broken, costs=known, deadline_seconds=seconds)
        if not found.optimal:
            self.unread += 1
            return
        self.texts += 1
        self.cost += found.cost
        priced = known.of_text(text.broken.encode())
        self._add_bytes(costs, priced, found.edits)
        for number in range(len(priced.rewrites)):
            begin, end, written, cost, entry = priced.rewrites[number]
            kind = Kind("rewrites", entry) if entry < len(costs.rewrites) else _TYPO
            self.possible[kind] += 1
            name = priced.names[entry]
            self.made[kind] += any(
                (edit.begin, edit.end, edit.written, edit.cost, edit.name)
                == (begin, end, written, cost, name)
                for edit in found.edits
            )
        kept = {edit.begin for edit in found.edits if edit.removed == edit.written}
        for position, doubt in priced.doubts.items():
            kind = Kind("doubts", costs.doubts.index(doubt))
            self.possible[kind] += 1
            self.made[kind] += position in kept

    def _add_bytes(self, costs: tk.EditCosts, priced: TextCosts, edits: Sequence[tk.Edit]) -> None:
        """Edits of single bytes."""
        text = priced.text
        after = "append" if priced.tables[2] == costs.tables(b"]")[2] else "resume"
        keys = {
            name: {byte: key for key in getattr(costs, name) for byte in key.encode()} for name in _MAPPINGS
        }
        positions = Counter({"insert": max(len(text) - 1, 0), "prepend": 1, after: 1})
        for edit in edits:
            if edit.name == "insert":
                at = "prepend" if edit.begin == 0 else after if edit.begin == len(text) else "insert"
                positions[at] += at != "insert"
                # What a mapping does not name has the cost of ``insert``.
                for name in dict.fromkeys((at, "append", "insert") if at == "resume" else (at, "insert")):
                    if edit.written[0] in keys[name]:
                        self.made[Kind(name, keys[name][edit.written[0]])] += 1
                        break
            elif edit.name == "remove" and edit.removed[0] in keys["remove"]:
                self.made[Kind("remove", keys["remove"][edit.removed[0]])] += 1
        for name, count in positions.items():
            for key in getattr(costs, name):
                self.possible[Kind(name, key)] += count * len(key)
        for byte in text:
            if byte in keys["remove"]:
                self.possible[Kind("remove", keys["remove"][byte])] += 1
