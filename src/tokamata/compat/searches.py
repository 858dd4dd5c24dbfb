"""The searches for the nearest JSON text: the costs of each, and how long it may take.

JSON.  Without a schema, it is a grammar.  :func:`tokamata.json` refuses names that stand twice, and so
remembers the names of an object; each text then has states of its own, and a repair takes twice as long.
Here, of names that stand twice the last one counts, as for ``json.loads``.

Weights.  A search that follows its best attempt has an answer sooner and its proof later.  On texts of 1 kB
with one to three mistakes, the weight 2 proves its answer as fast as 1.  Where many edits are needed, it
expands a million nodes before it has an answer, and 5 has one after some thousand.  So a text gets 0.25 s
with the first and 1.75 s with the second; one that has no answer then gets the first one that is found.  The
answer depends on the clock only where the proof takes longer than that.  A weight of 10 is too much: to take
a rewrite, which reads several bytes at once, it leaves the path that keeps them for nothing.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Literal

from tokamata.compat.made_up import MadeUp, made_up
from tokamata.compat.options import Options
from tokamata.constraints.constraint import Constraint
from tokamata.constraints.grammar_constraints import GrammarConstraint, grammar
from tokamata.constraints.json_constraints import JsonConstraint, json_schema
from tokamata.errors import LimitExceeded, ParseError
from tokamata.repair.costs import EditCosts, Rewrite
from tokamata.repair.default_costs import DEFAULT_COSTS
from tokamata.repair.results import Repair

__all__ = [
    "CLOSING_COSTS",
    "DROPPED",
    "FORBIDDEN",
    "PLAIN_COSTS",
    "SALVAGE_VALUE_COSTS",
    "SCHEMA_COSTS",
    "VALUE_COSTS",
    "accepts",
    "bytes_of",
    "constraint_of",
    "found_repair",
    "json_grammar",
    "made_up_in",
    "parsed_json",
    "value_of",
]

_WEIGHTS = ((2.0, 0.25), (5.0, 1.75))  # each with its seconds
_LAST_WEIGHT = 3.0
_ORDER_MARK = "\ufeff".encode()

_JSON = r"""
root   ::= ws (object | array) ws
any    ::= ws value ws
value  ::= object | array | string | number | "true" | "false" | "null"
object ::= "{" ws (member ("," ws member)*)? "}"
member ::= string ws ":" ws value ws
array  ::= "[" ws (value ws ("," ws value ws)*)? "]"
string ::= "\"" ([^"\\\x00-\x1F] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4}))* "\""
number ::= "-"? ("0" | [1-9] [0-9]*) ("." [0-9]+)? ([eE] [+-]? [0-9]+)?
ws     ::= [ \t\r\n]*
"""

# Without a schema there are no words to know, and no string is to be of another type.
PLAIN_COSTS = replace(
    DEFAULT_COSTS,
    typo=None,
    firm=0,
    rewrites=[one for one in DEFAULT_COSTS.rewrites if not one.name.startswith("string as a ")],
)

FORBIDDEN = 10_000_000  # what an edit of a byte costs that is not made
_REWRITES_ALONE = replace(
    DEFAULT_COSTS,
    other=FORBIDDEN,
    insert={},
    prepend={},
    append={},
    resume={},
    remove={},
    doubts=(),
)
# For the first part of a text without mistakes: nothing but its end is edited.
CLOSING_COSTS = replace(
    _REWRITES_ALONE,
    append=DEFAULT_COSTS.append,
    resume=DEFAULT_COSTS.resume,
    rewrites=[
        one for one in DEFAULT_COSTS.rewrites if one.name in ("drop a last comma", "drop half an escape")
    ],
)

_SCALAR = rb'(?:"(?:[^"\\]|\\.)*"|[^\s\[\]{},:"]+)'
_VALUE = rb"(?<=[:\[,]\s)" + _SCALAR
# With a schema, a member without a value may have one of any type, and words and numbers stand for booleans.
SCHEMA_COSTS = replace(
    DEFAULT_COSTS,
    rewrites=(
        *DEFAULT_COSTS.rewrites,
        *(
            Rewrite("write a missing value", rb":(?=\s*(?:[,}]|\Z))", b":" + value, 1300)
            for value in (b'""', b"0", b"false", b"[]", b"{}")
        ),
        Rewrite("a word as true", rb'"(?i:true|yes|y|on|1)"', b"true", 2500),
        Rewrite("a word as false", rb'"(?i:false|no|n|off|0)"', b"false", 2500),
        Rewrite("a number as true", rb"(?<=[:\[,\s])1(?:\.0+)?(?=\s*[,}\]])", b"true", 2500),
        Rewrite("a number as false", rb"(?<=[:\[,\s])0(?:\.0+)?(?=\s*[,}\]])", b"false", 2500),
    ),
)

# For a text that is JSON already, whose values alone the schema refuses: no single byte is edited.
VALUE_COSTS = replace(
    _REWRITES_ALONE,
    rewrites=(
        *SCHEMA_COSTS.rewrites,
        Rewrite("an array of one", _VALUE + rb"(?=\s*[,}\]])", rb"[\g<0>]", 4000),
    ),
)
DROPPED = "drop an element"
# An element is dropped where no other edit keeps what it says.
_ELEMENT = rb"(?:\{[^{}\[\]]*\}|" + _SCALAR + rb")"
SALVAGE_VALUE_COSTS = replace(
    VALUE_COSTS,
    rewrites=(
        *VALUE_COSTS.rewrites,
        Rewrite(DROPPED, rb",\s*" + _ELEMENT + rb"(?=\s*[,\]])", b"", 20_000),
        Rewrite(DROPPED, rb"(?<=\[)" + _ELEMENT + rb"(?:\s*,|(?=\s*\]))", b"", 20_000),
    ),
)


def parsed_json(text: str | bytes) -> tuple[Any] | None:
    """What ``json.loads`` makes of a text; ``None`` if it refuses it."""
    try:
        return (json.loads(text),)
    except (ValueError, RecursionError):
        return None


def bytes_of(text: str | bytes) -> bytes:
    """A text as UTF-8, without a byte order mark; half of a surrogate pair is U+FFFD."""
    if isinstance(text, bytes):
        return text.removeprefix(_ORDER_MARK)
    try:
        return text.encode().removeprefix(_ORDER_MARK)
    except UnicodeEncodeError:
        pairs = text.encode("utf-16-le", "surrogatepass")
        return pairs.decode("utf-16-le", "replace").encode().removeprefix(_ORDER_MARK)


def constraint_of(schema: Any, options: Options) -> JsonConstraint[Any]:
    """Of equal schemas it is the same one, with the automaton of the repairs before."""
    return json_schema(
        schema,
        property_order="any",
        whitespace="any",
        spelling="any",
        formats="annotate",
        strict=False,
        unknown="ignore",
        limits=options.watch.limits,
        cancel=options.watch.cancel,
    )


def json_grammar(options: Options, *, start: Literal["root", "any"] = "root") -> GrammarConstraint:
    """All JSON texts, or those of objects and arrays; names may stand twice."""
    return grammar(
        _JSON, syntax="gbnf", start=start, limits=options.watch.limits, cancel=options.watch.cancel
    )


def found_repair(
    constraint: Constraint[Any], broken: bytes, options: Options, costs: EditCosts
) -> Repair[Any]:
    """The cheapest repair; where that takes longer than two seconds, the best or the first one.

    Raises:
        EmptyConstraintError: no text is accepted.
        LimitExceeded, Cancelled: the search was stopped before it had an answer.
    """
    watch, best = options.watch, None
    for weight, seconds in _WEIGHTS:
        limits, cancel = watch.within(watch.limits)
        try:
            found = constraint.repair(
                broken, costs=costs, weight=weight, deadline_seconds=seconds, limits=limits, cancel=cancel
            )
        except LimitExceeded as error:
            if error.limit != "seconds":
                raise
            continue  # to find what the costs say of a long text takes longer than that
        if best is None or found.optimal or found.cost < best.cost:
            best = found
        if found.optimal:
            break
    if best is None or _gave_up(best):
        limits, cancel = watch.within(watch.limits)
        best = next(
            constraint.repairs(broken, costs=costs, weight=_LAST_WEIGHT, limits=limits, cancel=cancel)
        )
        if _gave_up(best):
            raise LimitExceeded("seconds", watch.limits.seconds)
    return best


def _gave_up(found: Repair[Any]) -> bool:
    """Whether the answer is the one that removes the whole text because the time was over."""
    return found.first_feasible_us is None and not found.optimal


def value_of(text: str) -> Any:
    """The value of a repaired text.

    Raises:
        ParseError: Python makes no value of it: a number has too many digits, or it nests too deep.
    """
    try:
        return json.loads(text)
    except ValueError as error:
        raise ParseError("", f"no value of Python: {error}") from None
    except RecursionError:
        raise ParseError("", "the value nests deeper than Python's stack") from None


def made_up_in(found: Repair[Any]) -> list[MadeUp]:
    """The values of a repair that stand nowhere in the broken text."""
    return made_up(found.text.encode(), found.edits) if found.edits else []


def accepts(constraint: JsonConstraint[Any], value: Any, options: Options) -> bool:
    """Whether a constraint has a value."""
    try:
        limits, cancel = options.watch.within(options.watch.limits)
        constraint.parse(json.dumps(value), limits=limits, cancel=cancel)
    except ParseError:
        return False
    return True
