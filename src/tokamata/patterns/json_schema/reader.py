"""From a JSON Schema to a table of nodes.

Problem: a schema is a graph, since references lead anywhere, back too.  Every schema of it becomes one
node, for each scope (:mod:`.references`) in which it is read; a schema that is under way when a reference
leads to it is reserved, and defined when it is done.

Example: ``{"properties": {"next": {"$ref": "#"}}, "required": ["value"]}`` becomes

====  ========================  ================================================
0     reserve()                 the reference to the root, which is under way
1     property("next", 0)
2     has("value")
3     all_of([1, 2])            the root
0     define(0, 3)
====  ========================  ================================================

A schema is read by looking each of its keywords up in the dialect's table and calling what is found there.
Schemas nest in Python's stack down to ``MOST_FRAMES``; what lies deeper is reserved and read later, so
that no nesting exhausts the stack.

What cannot be enforced stops the reading, or is left out (``strict=False``) such that the whole only
widens: where an odd number of negations stands above, what is left out becomes no value at all.  Schemas
are therefore read twice over, once for each sign, if they have both negations and something that depends
on the sign; most have not, and are read once.

Cost: linear in the schemas that references reach from the root, for each scope; nothing is done for the
report, or for pointers in errors, until they are needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from tokamata.errors import LimitExceeded, SchemaError, UnsupportedSchemaError
from tokamata.patterns.json_schema.advice import advice_on_no_schema, advice_on_value
from tokamata.patterns.json_schema.faults import Fault, NotASchema
from tokamata.patterns.json_schema.loops import refuse_loops
from tokamata.patterns.json_schema.places import Places
from tokamata.patterns.json_schema.references import References
from tokamata.patterns.json_schema.scopes import Scope
from tokamata.patterns.json_schema.slips import ANNOTATIONS, Noted
from tokamata.patterns.json_schema.table import Table
from tokamata.patterns.json_schema.unevaluated import unevaluated
from tokamata.resources.limits import Watch

if TYPE_CHECKING:
    import referencing

__all__ = ["MOST_FRAMES", "Options", "Reader"]

MOST_FRAMES = 50  # schemas under way in Python's stack, each of about three frames

_UNDER_WAY = -1  # in a memo; a number below it says which node was reserved meanwhile


class Options(NamedTuple):
    """What the caller chose."""

    asserts_formats: bool
    strict: bool
    registry: referencing.Registry[Any] | None
    depth: int
    watch: Watch


class Reader:
    """One reading of a schema: what is under way, and what was made.

    Attributes:
        root: the schema at the root; ``options``: what the caller chose.
        table: where nodes are made.
        scope: the scope of the schema under way; ``handlers`` is what its dialect does with keywords.
        polar: schemas are read once for each sign; ``positive`` is the sign of the schema under way.
        negated: some schema is negated.
        depends_on_sign: something was read that means one thing where it is negated, another where it is not.
        relaxed: what was left out, and why, by the identity of the schema and the keyword.
        noted: the keywords that may be slips, judged when all is read.
        anything, nothing: nodes that all share.
        type_nodes: nodes of types, by name.
        masks: memo of :mod:`.apart`.
        asserts_formats: whether ``format`` is an assertion.
        depth: how deep values may nest.
        watch: stops the reading; asked at every schema.
        strict: whether what cannot be enforced is an error.
    """

    def __init__(self, schema: Any, table: Table, options: Options, polar: bool = False) -> None:
        self.root = schema
        self.table = table
        self.options = options
        self.asserts_formats = options.asserts_formats
        self.strict = options.strict
        self.depth = options.depth
        self.watch = options.watch
        self.polar = polar
        self.positive = True
        self.negated = False
        self.depends_on_sign = False
        self.relaxed: dict[tuple[int, str], str] = {}
        self.noted: list[Noted] = []
        self.anything = table.any_value()
        self.nothing = table.no_value()
        self.type_nodes: dict[str, int] = {}
        self.masks: dict[tuple[int, int], int] = {}
        self._integral: int | None = None
        self._frames = 0
        self._deferred: list[tuple[dict[str, Any], Scope, bool, int]] = []
        self._returns: list[tuple[dict[str, Any], Scope]] = []  # where references lead back to
        self._places: Places | None = None
        try:
            self.references = References(schema, options.registry)
        except Fault as fault:
            raise SchemaError("", fault.keyword, fault.found, fault.expected) from None
        self.scope = self.references.start
        self.handlers = self.scope.handlers
        self._memo = self.scope.memos[0]

    def whole(self) -> int:
        """Reads the root and all that it leads to; returns its node."""
        try:
            if self.depth < 2 * MOST_FRAMES and self.places.deepest > self.depth:
                raise LimitExceeded("depth", self.depth)  # which is seen later only where reading goes deep
            root = self.read(self.root)
            while self._deferred:
                self._read_deferred(*self._deferred.pop())
            if self._returns:
                refuse_loops(self, self._returns)
        except Fault as fault:
            self._refuse_fault(fault)
        except NotASchema as fault:
            self._refuse_value(fault)
        return root

    # ---- schemas ------------------------------------------------------------------------------

    def read(self, schema: Any) -> int:
        """The node of a schema, in the scope under way."""
        if type(schema) is not dict:
            if schema is True:
                return self.anything
            if schema is False:
                return self.nothing
            raise NotASchema(schema)
        if self.scope.id_keyword in schema:
            scope = self.references.scope_at(self.scope, schema)
            if scope is not self.scope:
                with self.within(scope):
                    return self._known_or_made(schema)
        return self._known_or_made(schema)

    def _known_or_made(self, schema: dict[str, Any]) -> int:
        """The node of a schema, unless it was read before; reserved if it is under way, or too deep."""
        key, memo = id(schema), self._memo
        node = memo.get(key)
        if node is not None:
            if node < 0:
                self._returns.append((schema, self.scope))
                if node == _UNDER_WAY:
                    node = memo[key] = _UNDER_WAY - 1 - self.table.reserve()
                return _UNDER_WAY - 1 - node
            return node
        if self._frames >= MOST_FRAMES:
            return self._defer(schema)
        memo[key] = _UNDER_WAY
        self._frames += 1
        node = self._made(schema)
        self._frames -= 1
        reserved = memo[key]
        if reserved != _UNDER_WAY:
            self.table.define(_UNDER_WAY - 1 - reserved, node)
        memo[key] = node
        return node

    def _made(self, schema: dict[str, Any]) -> int:
        """The node of a schema, made of its keywords."""
        self.watch.check()
        operands: list[int] = []
        dialect = self.scope.dialect
        if dialect.lone_references and "$ref" in schema:
            return self.read_reference(schema, "$ref")
        handlers = self.handlers
        for keyword, value in schema.items():
            handler = handlers.get(keyword)
            if handler is not None:
                handler(self, schema, value, operands)
            elif keyword not in ANNOTATIONS:
                self.note(schema, keyword)
        if dialect.unevaluated:
            for keyword in ("unevaluatedProperties", "unevaluatedItems"):
                if keyword in schema and keyword in handlers:
                    unevaluated(self, schema, keyword, operands)
        if len(operands) == 1:
            return operands[0]
        return self.table.all_of(operands) if operands else self.anything

    def read_reference(self, schema: dict[str, Any], keyword: str) -> int:
        """The node of the schema that a reference leads to."""
        target, scope = self.references.target(self.scope, schema, keyword)
        if type(target) is not dict:
            return self.anything if target else self.nothing
        if scope is self.scope:
            return self._known_or_made(target)
        with self.within(scope):
            return self._known_or_made(target)

    def read_negated(self, schema: Any) -> int:
        """The node of a schema that stands under a negation."""
        self.negated = True
        if not self.polar:
            return self.read(schema)
        self._turn()
        node = self.read(schema)
        self._turn()
        return node

    # ---- scopes and signs ---------------------------------------------------------------------

    @contextmanager
    def within(self, scope: Scope) -> Iterator[None]:
        """Reads in another scope."""
        outer = self.scope
        self._enter(scope)
        try:
            yield
        finally:
            self._enter(outer)

    @contextmanager
    def inside(self, schema: dict[str, Any]) -> Iterator[None]:
        """Reads in the scope of a schema, which may have an id."""
        outer = self.scope
        if outer.id_keyword in schema:
            self._enter(self.references.scope_at(outer, schema))
        try:
            yield
        finally:
            self._enter(outer)

    def effective(self, schema: dict[str, Any]) -> list[str]:
        """The keywords of a schema that say something in the dialect under way."""
        if self.scope.dialect.lone_references and "$ref" in schema:
            return ["$ref"]
        handlers = self.handlers
        return [keyword for keyword in schema if keyword in handlers]

    def target(self, schema: dict[str, Any], keyword: str) -> tuple[Any, Scope]:
        """Where a reference leads, and the scope there."""
        return self.references.target(self.scope, schema, keyword)

    def _enter(self, scope: Scope) -> None:
        self.scope = scope
        self.handlers = scope.handlers
        self._memo = scope.memos[not self.positive]

    def _turn(self) -> None:
        self.positive = not self.positive
        self._memo = self.scope.memos[not self.positive]

    # ---- nodes --------------------------------------------------------------------------------

    def integral(self) -> int:
        """The node of all integers."""
        if self._integral is None:
            self._integral = self.table.integral()
        return self._integral

    def all_of(self, nodes: list[int]) -> int:
        """All of at least one node."""
        return nodes[0] if len(nodes) == 1 else self.table.all_of(nodes)

    def any_of(self, nodes: list[int]) -> int:
        """Any of at least one node."""
        return nodes[0] if len(nodes) == 1 else self.table.any_of(nodes)

    def refuse(self, schema: dict[str, Any], keyword: str, reason: str) -> int:
        """What stands for a keyword that cannot be enforced, where it may be left out."""
        if self.strict:
            raise UnsupportedSchemaError(self.pointer(schema), keyword, reason)
        self.depends_on_sign = True
        self.relaxed[(id(schema), keyword)] = reason.partition("\n")[0]
        return self.anything if self.positive else self.nothing

    def note(self, schema: dict[str, Any], keyword: str) -> None:
        """Remembers a keyword that may be a slip."""
        self.noted.append(Noted(schema, keyword, self.scope.dialect))

    # ---- nesting ------------------------------------------------------------------------------

    def _defer(self, schema: dict[str, Any]) -> int:
        """Puts a schema off until Python's stack is empty again."""
        if self.places.deepest > self.depth:
            raise LimitExceeded("depth", self.depth)
        number = self.table.reserve()
        self._memo[id(schema)] = number
        self._deferred.append((schema, self.scope, self.positive, number))
        self._returns.append((schema, self.scope))
        return number

    def _read_deferred(self, schema: dict[str, Any], scope: Scope, positive: bool, number: int) -> None:
        self.positive = positive
        self._enter(scope)
        self._frames = 1
        self.table.define(number, self._made(schema))
        self._frames = 0

    # ---- errors -------------------------------------------------------------------------------

    @property
    def places(self) -> Places:
        """Where everything stands."""
        if self._places is None or self._places.count != len(self.references.documents):
            self._places = Places(self.references.documents)
        return self._places

    def pointer(self, schema: Any) -> str:
        """JSON Pointer to a schema."""
        return self.places.pointer(schema)

    def _refuse_fault(self, fault: Fault) -> NoReturn:
        cause = fault.__cause__
        expected = fault.expected + advice_on_value(fault.keyword, fault.value)
        raise SchemaError(self.pointer(fault.schema), fault.keyword, fault.found, expected) from cause

    def _refuse_value(self, fault: NotASchema) -> NoReturn:
        pointer, found = self.places.pointer_to_value(fault.value, self.references.scopes)
        expected = "a schema: an object, true or false" + advice_on_no_schema(fault.value, pointer)
        raise SchemaError(pointer, "", found, expected) from None
