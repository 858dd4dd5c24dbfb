"""``unevaluatedProperties`` and ``unevaluatedItems`` (core 11 of 2020-12, 9.3 of 2019-09).

Problem: they are about the keys, or items, that nothing else in the schema has spoken of, where "else" counts
those subschemas alone that hold of the value at hand: of ``anyOf``, ``oneOf``, ``if``, ``dependentSchemas``,
through references, at any depth.

Method: what may have been evaluated is a list of *options*, each a list of nodes and what is evaluated if
these hold.  The keyword then means: for some option, its nodes hold, and all keys that it does not
evaluate are in the keyword's schema.  That more may hold than an option says does no harm, since more is
evaluated then, and less is asked; so an option need not say what does not hold, and nothing is negated but
the condition of an ``else``.

Example: ``{"properties": {"a": true}, "anyOf": [{"properties": {"b": …}}, {"required": ["a"]}],
"unevaluatedProperties": false}`` has the options ``([], a)`` and ``([first of anyOf], a b)``.

Cost: options multiply, one factor for each combination; beyond ``MOST_OPTIONS`` the keyword is refused.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Protocol

from tokamata.patterns.json_schema.key_languages import other_keys

if TYPE_CHECKING:
    from tokamata.patterns.json_schema.keyword_reader import KeywordReader
    from tokamata.patterns.json_schema.scopes import Scope

__all__ = ["MOST_OPTIONS", "unevaluated"]

MOST_OPTIONS = 4096  # cases of one keyword
_MOST_NESTING = 40  # of schemas in place: references may lead back
_MOST_WORK = 2_000_000  # names and patterns that are put together

# The nodes that a case holds for, and what is evaluated in it: names and patterns of keys; or a count of
# first items and nodes whose items are evaluated wherever they are.  ``None`` is everything.
_Option = tuple[tuple[int, ...], Any]


def unevaluated(reader: KeywordReader, schema: dict[str, Any], keyword: str, operands: list[int]) -> None:
    """Adds what the keyword says, when all else of the schema is read."""
    node = reader.read(schema[keyword])
    if node == reader.anything:
        return
    try:
        alternatives = _alternatives(reader, schema, keyword, node)
    except _RefusedError as error:
        operands.append(reader.refuse(schema, keyword, str(error)))
        return
    if alternatives:
        operands.append(reader.any_of(alternatives))


def _alternatives(reader: KeywordReader, schema: dict[str, Any], keyword: str, node: int) -> list[int]:
    """The nodes of the options; none where everything is evaluated."""
    kind: _Kind = _KEYS if keyword == "unevaluatedProperties" else _ITEMS
    alternatives = []
    for conditions, evaluated in _Collecting(reader, kind, keyword).options(schema, True):
        parts = list(conditions)
        if evaluated is not None:
            parts.append(kind.rest(reader, evaluated, node))
        if not parts:
            return []
        alternatives.append(reader.all_of(parts))
    return alternatives


class _RefusedError(Exception):
    """Why it cannot be enforced."""


class _Kind(Protocol):
    """What keys and items have in common."""

    nothing: Any

    def local(self, reader: KeywordReader, schema: dict[str, Any], keywords: Collection[str]) -> Any:
        """What the keywords of a schema evaluate themselves."""

    def joined(self, evaluated: list[Any]) -> Any:
        """What at least one evaluates; none of them evaluates everything."""

    def size(self, evaluated: Any) -> int:
        """How much it takes to say it."""

    def rest(self, reader: KeywordReader, evaluated: Any, node: int) -> int:
        """All that is not evaluated is in the node."""


class _KeyKind:
    nothing = (frozenset[str](), frozenset[str]())

    def local(self, reader: KeywordReader, schema: dict[str, Any], keywords: Collection[str]) -> Any:
        if "additionalProperties" in keywords or "unevaluatedProperties" in keywords:
            return None
        names = frozenset(schema["properties"]) if "properties" in keywords else frozenset[str]()
        patterns = (
            frozenset(schema["patternProperties"]) if "patternProperties" in keywords else frozenset[str]()
        )
        return names, patterns

    def joined(self, evaluated: list[Any]) -> Any:
        return frozenset().union(*[one[0] for one in evaluated]), frozenset().union(
            *[one[1] for one in evaluated]
        )

    def size(self, evaluated: Any) -> int:
        return 1 if evaluated is None else len(evaluated[0]) + len(evaluated[1])

    def rest(self, reader: KeywordReader, evaluated: Any, node: int) -> int:
        others = other_keys(reader, sorted(evaluated[0]), sorted(evaluated[1]), node)
        if isinstance(others, str):
            raise _RefusedError(others)
        return others


class _ItemKind:
    nothing = (0, frozenset[int]())

    def local(self, reader: KeywordReader, schema: dict[str, Any], keywords: Collection[str]) -> Any:
        dialect = reader.scope.dialect
        if "unevaluatedItems" in keywords or (
            dialect.prefix_keyword == "prefixItems" and "items" in keywords
        ):
            return None
        count = 0
        if dialect.prefix_keyword in keywords:
            prefix = schema[dialect.prefix_keyword]
            if type(prefix) is not list or dialect.rest_keyword in keywords:
                return None
            count = len(prefix)
        found = frozenset[int]()
        if dialect.sees_contains and "contains" in keywords:
            found = frozenset((reader.read(schema["contains"]),))
        return count, found

    def joined(self, evaluated: list[Any]) -> Any:
        return max(one[0] for one in evaluated), frozenset().union(*[one[1] for one in evaluated])

    def size(self, evaluated: Any) -> int:
        return 1 if evaluated is None else len(evaluated[1])

    def rest(self, reader: KeywordReader, evaluated: Any, node: int) -> int:
        count, found = evaluated
        rest = reader.any_of([*sorted(found), node])
        return reader.table.items([reader.anything] * count, rest)


_KEYS, _ITEMS = _KeyKind(), _ItemKind()


class _Collecting:
    """One descent through a schema and all that is about the same value."""

    def __init__(self, reader: KeywordReader, kind: _Kind, keyword: str) -> None:
        self._reader = reader
        self._kind = kind
        self._keyword = keyword
        self._nesting = 0
        self._work = 0
        self._known: dict[tuple[int, int], list[_Option]] = {}  # by schema and scope

    def options(self, schema: Any, asking: bool = False) -> list[_Option]:
        """The options of a schema that holds."""
        if type(schema) is not dict:
            return [((), self._kind.nothing)]
        self._nesting += 1
        if self._nesting > _MOST_NESTING:
            raise _RefusedError("what is about the same value nests too deep, or leads back to itself")
        with self._reader.inside(schema):
            key = (id(schema), id(self._reader.scope))
            if key not in self._known:
                self._known[key] = self._made(schema, asking)
        self._nesting -= 1
        return self._known[key]

    def _made(self, schema: dict[str, Any], asking: bool) -> list[_Option]:
        keywords = self._reader.effective(schema)
        own = [keyword for keyword in keywords if not asking or keyword != self._keyword]
        surely = [self._kind.local(self._reader, schema, own)]
        choices = []
        if surely[0] is not None:
            for keyword in keywords:
                for factor in self._factors(schema, keyword):
                    if len(factor) == 1 and not factor[0][0]:
                        surely.append(factor[0][1])
                    else:
                        choices.append(factor)
        if any(evaluated is None for evaluated in surely):
            return [((), None)]
        options: list[_Option] = [((), self._kind.joined(surely))]
        for factor in choices:
            options = self._product(options, factor)
        return options

    def _factors(self, schema: dict[str, Any], keyword: str) -> list[list[_Option]]:
        """What a keyword evaluates through other schemas: a list of independent choices."""
        value = schema[keyword]
        if keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
            target, scope = self._reader.target(schema, keyword)
            return [self._within(scope, target)]
        if keyword == "allOf":
            return [self.options(one) for one in value]
        if keyword == "anyOf":
            return [self._perhaps(one) for one in value]
        if keyword == "oneOf":  # of which exactly one holds, so that they are alternatives to each other
            choices = [self._perhaps(one) for one in value]
            useful = [option for options in choices for option in options[1:]]
            none = [] if all(len(options) > 1 for options in choices) else [choices[0][0]]
            return [none + useful]
        if keyword == "if":
            return [self._condition(schema)]
        if keyword == "dependentSchemas":
            factors = []
            for name, inner in value.items():
                options = self.options(inner)
                if any(evaluated != self._kind.nothing for _, evaluated in options):
                    present = self._reader.table.has(name)
                    held = [((present, *conditions), evaluated) for conditions, evaluated in options]
                    factors.append([((), self._kind.nothing), *held])
            return factors
        return []

    def _within(self, scope: Scope, target: Any) -> list[_Option]:
        with self._reader.within(scope):
            return self.options(target)

    def _perhaps(self, schema: Any) -> list[_Option]:
        """Nothing; or, if the schema holds, one of its options that evaluate something."""
        options = self.options(schema)
        useful = [option for option in options if option[1] != self._kind.nothing]
        if not useful:
            return [((), self._kind.nothing)]
        node = self._reader.read(schema)
        held = [((node, *conditions), evaluated) for conditions, evaluated in useful]
        return [((), self._kind.nothing), *held]

    def _condition(self, schema: dict[str, Any]) -> list[_Option]:
        """The condition holds, with what it and ``then`` evaluate; or it fails, with what ``else`` does."""
        options: list[_Option] = [((), self._kind.nothing)]
        held = self._product(self.options(schema["if"]), self.options(schema.get("then", True)))
        useful = [option for option in held if option[1] != self._kind.nothing]
        if useful:
            node = self._reader.read(schema["if"])
            options += [((node, *conditions), evaluated) for conditions, evaluated in useful]
        failed = [
            option for option in self.options(schema.get("else", True)) if option[1] != self._kind.nothing
        ]
        if failed:
            node = self._reader.table.negate(self._reader.read_negated(schema["if"]))
            options += [((node, *conditions), evaluated) for conditions, evaluated in failed]
        return options

    def _product(self, options: list[_Option], factor: list[_Option]) -> list[_Option]:
        count = len(options) * len(factor)
        self._work += count + sum(self._kind.size(evaluated) for _, evaluated in options) * len(factor)
        if count > MOST_OPTIONS or self._work > _MOST_WORK:
            raise _RefusedError(f"what else speaks of these has more than {MOST_OPTIONS:,} cases")
        found: dict[_Option, None] = {}
        for conditions, evaluated in options:
            for more, also in factor:
                both = None if evaluated is None or also is None else self._kind.joined([evaluated, also])
                together = conditions + tuple(node for node in more if node not in conditions)
                found[(together, both)] = None
        return list(found)
