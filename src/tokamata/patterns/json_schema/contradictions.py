"""Which keywords of a schema leave no value: a few that contradict each other.

Problem.  A schema of a thousand lines has no value.  Which of its lines are at fault?

Method.  Keywords are left out as long as what is left has no value either, first many at once, then fewer:
what stays is a set of keywords that have no value together, and of which none can be spared (Zeller and
Hildebrandt, *Simplifying and Isolating Failure-Inducing Input*, 2002).  A keyword is left out only where that
widens what the schema means, in schemas that stand under no negation, so that those which stay are truly to
blame.

Example.  ``{"type": "object", "properties": {"a": {"enum": []}, "b": {"enum": []}}, "required": ["a"]}``:
``type`` and ``required`` at the root, ``enum`` at ``/properties/a``.

Cost.  For ``k`` keywords of ``n`` about ``2 k log n`` readings of the schema, each with one question; after
``_MOST_QUESTIONS`` of them, or when time is up, the answer is what was found so far: more than is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import tokamata._core as _core
from tokamata.errors import LimitExceeded
from tokamata.patterns.json_schema.reader import Options, Reader
from tokamata.patterns.json_schema.unevaluated import unevaluated

if TYPE_CHECKING:
    from tokamata.patterns.json_schema.table import Table

__all__ = ["Blamed", "blamed"]

_MOST_QUESTIONS = 400  # whether some keywords leave a value
_Unit = tuple[int, str]  # a schema, by identity, and a keyword of it

# Keywords that are one statement: the first of them that stands in a schema stands for all.
_TOGETHER = (
    ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minProperties", "maxProperties"),
    ("contains", "minContains", "maxContains"),
    ("if", "then", "else"),
    ("prefixItems", "items", "additionalItems"),
)
_WAYS = ("$ref", "$dynamicRef", "$recursiveRef")  # which only lead to what is to blame


class Blamed(NamedTuple):
    """A schema that has a part in a contradiction.

    Attributes:
        pointer: JSON Pointer to it.
        keywords: those of its keywords that have.
    """

    pointer: str
    keywords: tuple[str, ...]


def blamed(schema: Any, options: Options, is_empty: Callable[[_core.ValueTable, int], bool]) -> list[Blamed]:
    """Keywords that have no value together, by the schema that they stand in; none where nothing was found.

    Args:
        schema: one that can be read, and has no value.
        options: how it was read; the watch ends the search.
        is_empty: whether a node of a table has no value; may raise :class:`tokamata.LimitExceeded`.
    """
    if schema is False:
        return [Blamed("", ())]
    search = _Search(schema, options, is_empty)
    try:
        if not search.is_empty(set()):
            return []
        search.minimize()
    except LimitExceeded:
        pass  # what was found so far is true as well
    return search.found()


class _Search:
    """What was left out so far, and what is left then.

    Attributes:
        dropped: the keywords that were left out; without them there is no value either.
        units: the others that say something, in the order in which they are read.
    """

    def __init__(
        self, schema: Any, options: Options, is_empty: Callable[[_core.ValueTable, int], bool]
    ) -> None:
        self._schema, self._options, self._ask = schema, options, is_empty
        self._questions = 0
        self._reader: Reader | None = None
        self.dropped: set[_Unit] = set()
        self.units: dict[_Unit, dict[str, Any]] = {}

    def is_empty(self, dropped: set[_Unit]) -> bool:
        """Whether no value is left without these; if so, they are left out from now on."""
        self._questions += 1
        table = _core.ValueTable()
        reader = _Widened(self._schema, table, self._options, dropped)
        if not self._ask(table, reader.whole()):
            return False
        self.dropped, self.units, self._reader = dropped, reader.units, reader
        return True

    def minimize(self) -> None:
        """Leaves out what can be: halves of all, then quarters, at last single ones."""
        size = len(self.units)
        while size > 1 and self._questions < _MOST_QUESTIONS:
            size = (size + 1) // 2
            needed: set[_Unit] = set()  # what was tried in vain at this size
            while self._questions < _MOST_QUESTIONS:
                chunk = [unit for unit in self.units if unit not in needed][:size]
                if not chunk:
                    break
                if not self.is_empty(self.dropped.union(chunk)):
                    needed.update(chunk)

    def found(self) -> list[Blamed]:
        """What is left, without keywords that only lead to it."""
        if self._reader is None:
            return []
        places = self._reader.places
        pointers = {unit: places.pointer(schema) for unit, schema in self.units.items()}
        by_pointer: dict[str, list[str]] = {}
        for unit, schema in self.units.items():
            pointer, keyword = pointers[unit], unit[1]
            group = next((group for group in _TOGETHER if keyword in group), (keyword,))
            shown = [one for one in group if one in schema]
            inside = tuple(f"{pointer}/{one}/" for one in shown)
            leads = any(f"{other}/".startswith(inside) for other in pointers.values())
            if not leads and (keyword not in _WAYS or self._ends_at_false(schema, keyword)):
                by_pointer.setdefault(pointer, []).extend(shown)
        return [Blamed(pointer, tuple(keywords)) for pointer, keywords in by_pointer.items()]

    def _ends_at_false(self, schema: dict[str, Any], keyword: str) -> bool:
        """Whether a reference leads to the schema ``false``, which has no keyword to blame."""
        assert self._reader is not None
        targets = (scope.targets.get((keyword, schema[keyword])) for scope in self._reader.references.scopes)
        return any(found is not None and found[0] is False for found in targets)


class _Widened(Reader):
    """A reading without some keywords, where no negation stands above them.

    Attributes:
        units: the keywords that it had and that say something, each with its schema.
    """

    def __init__(self, schema: Any, table: Table, options: Options, dropped: set[_Unit]) -> None:
        self._dropped = dropped
        self.units: dict[_Unit, dict[str, Any]] = {}
        super().__init__(schema, table, options, polar=True)

    def _made(self, schema: dict[str, Any]) -> int:
        if not self.positive:
            return super()._made(schema)
        operands: list[int] = []
        keywords = self.effective(schema)
        for keyword in keywords:
            self._say(schema, keyword, operands, self.handlers[keyword], schema[keyword])
        for keyword in ("unevaluatedProperties", "unevaluatedItems"):
            if keyword in keywords and self.scope.dialect.unevaluated:
                self._say(schema, keyword, operands, unevaluated, keyword)
        return self.all_of(operands) if operands else self.anything

    def _say(
        self,
        schema: dict[str, Any],
        keyword: str,
        operands: list[int],
        handler: Callable[..., None],
        given: Any,
    ) -> None:
        """Has a keyword say what it says, unless it is left out."""
        unit = (id(schema), keyword)
        if unit in self._dropped:
            return
        count = len(operands)
        known = unit in self.units
        self.units[unit] = schema  # before those of the schemas within it
        handler(self, schema, given, operands)
        if len(operands) == count and not known:
            del self.units[unit]
