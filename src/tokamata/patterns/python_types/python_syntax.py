"""From shapes to expressions whose texts are Python: constructor calls, and the displays of containers.

Example: a dataclass ``Point`` with ``x: int`` and ``label: str = ""`` has the texts ``Point(x=1)`` and
``Point(x=1, label='a')``.

How values are written, which is how ``repr`` writes them as far as it writes Python:

===============================  =========================================================================
records, functions               ``Point(x=1, y=2)``: by keyword, in their order, those with defaults or not
typed dictionaries               ``{'title': 'Alien'}``, the same way
lists, tuples, dictionaries      ``[1, 2]``, ``(1, 2)``, ``(1,)``, ``{'a': 1}``; a space behind each comma
sets                             ``{1, 2}``, ``set()``, ``frozenset({1})``, ``frozenset()``
strings                          ``'it is'``, ``"it's"``, ``'say "hi"'``; escapes as ``repr`` or JSON has
numbers                          as in JSON
members of enums                 ``Color.RED``
dates and the like               ``datetime.date(2024, 2, 29)`` or ``date(2024, 2, 29)``
what has a string                ``UUID('…')``, ``Decimal('1.5')``, ``Path('a/b')``, ``IPv4Address('::1')``
===============================  =========================================================================

Strings that a pattern or a format binds are in double quotes with the escapes of JSON, or in single quotes
without any.  That keys and elements of sets differ is not asked; Python takes the last, or one of them.

A recursive type becomes rules (``core/expression/expression_rules.hpp``): a shape that is met again while it
is being written is a rule, and is referred to by number.  Strings, numbers and the like then stay whole, so
that what they do to a vocabulary is asked once for all places where they may stand.  Everything else is
regular.

Cost: linear in the type; every shape is written once, or twice where it is recursive, and shared.

Source: *Automata-based constraints for language model decoding* (2024), section 5.2.
"""

from __future__ import annotations

import datetime
import pathlib
from collections.abc import Callable, Iterable
from decimal import Decimal
from functools import cache
from typing import Any, NoReturn

import tokamata._core as _core
from tokamata.errors import UnsupportedTypeError
from tokamata.patterns.json_schema.formats import format_language
from tokamata.patterns.json_schema.keywords.strings import pattern_expression
from tokamata.patterns.python_types import shapes
from tokamata.patterns.python_types.reading import spelled
from tokamata.patterns.python_types.texts import DURATION_UNITS, decimal_pattern
from tokamata.patterns.regex import to_expression

__all__ = ["constructors", "expression_of_shape"]

_INTEGER = "0|-?[1-9][0-9]*"
_FLOAT = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[Ee][+-]?[0-9]+)?"

# In strings: what stands for itself but the quotes, and escapes of code points that are no surrogates.
_ITSELF = r"[^'\"\\\x00-\x1f]"
_HEX = "[0-9A-Fa-f]"
_ESCAPE = (
    rf"\\(?:['\"\\nrtbf]|x{_HEX}{{2}}|u(?:[0-9A-Ca-cE-Fe-f]{_HEX}{{3}}|[Dd][0-7]{_HEX}{{2}})"
    rf"|U00(?:0[1-9A-Fa-f]|10){_HEX}{{4}})"
)
_BYTE = r"[ !#-&(-\[\]-~]"
_BYTE_ESCAPE = rf"\\(?:['\"\\nrt]|x{_HEX}{{2}})"

# Dates as arguments, without zeros in front.
_LEAP_YEAR = (
    "(?:[48]|[2468][048]|[13579][26]|[1-9][0-9]?(?:0[48]|[2468][048]|[13579][26])|[48]00"
    "|(?:[2468][048]|[13579][26])00)"
)
_DATE = (
    "(?:[1-9][0-9]{0,3}, (?:(?:1|3|5|7|8|10|12), (?:[1-9]|[12][0-9]|3[01])"
    "|(?:4|6|9|11), (?:[1-9]|[12][0-9]|30)"
    f"|2, (?:[1-9]|1[0-9]|2[0-8]))|{_LEAP_YEAR}, 2, 29)"
)
_SIXTY = "[1-5]?[0-9]"
_ZONE = (
    r"(?:, tzinfo=(?:datetime\.)?timezone(?:\.utc"
    r"|\((?:datetime\.)?timedelta\((?:days=-1, )?seconds=(?:[1-9]|[1-9][0-9]{1,3}|[1-7][0-9]{4}"
    r"|8[0-5][0-9]{3}|86[0-3][0-9]{2})\)\)))?"
)
_CLOCK = rf"(?:1?[0-9]|2[0-3]), {_SIXTY}(?:, {_SIXTY}(?:, (?:0|[1-9][0-9]{{0,5}}))?)?"
_NATURAL = "(?:0|[1-9][0-9]{0,5})"
_DAYS = "(?:0|-?[1-9][0-9]{0,7})"


def expression_of_shape(shape: shapes.Shape) -> _core.Expression:
    """The Python expressions that stand for the values of a shape.

    Raises:
        UnsupportedTypeError: it has values without such a form, or begins with itself.
    """
    plain = _Writer()
    expression = plain.write(shape)
    if not plain.rules:
        return expression
    writer = _Writer(keeps_whole=True)
    start = writer.write(shape)
    bodies = [writer.bodies[number] for number in range(len(writer.rules))]
    try:
        return _core.rules(bodies, start)
    except _core.RuleSetError:  # all else is not written in a way that could be none
        reason = "it is one of its own alternatives, with nothing to write between"
        raise UnsupportedTypeError(shape.described, "", reason) from None


def constructors(shape: shapes.Text) -> tuple[str, ...]:
    """The names by which values are made that are written as strings in JSON."""
    if shape.cls.__module__ == "datetime":
        return (f"datetime.{shape.kind.name}", shape.kind.name)
    if shape.cls is pathlib.Path:
        return ("Path", type(pathlib.Path()).__name__)
    return (shape.kind.name,)


class _Writer:
    """One expression under way.

    Attributes:
        rules: the numbers of shapes that were met again while they were written.
        bodies: what these are, by number.
    """

    def __init__(self, keeps_whole: bool = False) -> None:
        self.rules: dict[int, int] = {}
        self.bodies: dict[int, _core.Expression] = {}
        self._keeps_whole = keeps_whole
        self._written: dict[int, _core.Expression] = {}
        self._under_way: set[int] = set()

    def write(self, shape: shapes.Shape) -> _core.Expression:
        key = id(shape)
        if key in self._written:
            return self._written[key]
        if key in self._under_way:
            return _core.reference(self.rules.setdefault(key, len(self.rules)))
        self._under_way.add(key)
        written = _WRITERS[type(shape)](self, shape)
        self._under_way.discard(key)
        if self._keeps_whole and isinstance(shape, _WHOLE):
            written = _core.terminal(written)
        if key in self.rules:
            self.bodies[self.rules[key]] = written
            written = _core.reference(self.rules[key])
        self._written[key] = written
        return written

    def record(self, shape: shapes.Record) -> _core.Expression:
        if shape.extra is not None:
            self._refuse(shape, "fields of any names have no form in Python syntax")
        fields = []
        for field in shape.fields:
            if shape.form == "dict":
                name = _core.concat([_either(spelled(field.name)), _literal(": ")])
            else:
                name = _literal(f"{field.name}=")
            fields.append((_core.concat([name, self.write(field.shape)]), field.required))
        inside = _subsequence(fields)
        if shape.form == "dict":
            return _around("{", inside, "}")
        return _around(f"{constructor_name(shape)}(", inside, ")")

    def collection(self, shape: shapes.Collection) -> _core.Expression:
        low, high = shape.bounds.min_length or 0, shape.bounds.max_length
        if shape.is_set and low > 1:
            self._refuse(shape, "that its elements differ, and so how many there are, cannot be enforced")
        item = self.write(shape.item)
        some = _listed(item, max(low, 1), high)
        empty = low == 0
        if shape.name == "tuple":
            one = _core.concat([item, _literal(",")])
            ways = [_listed(item, max(low, 2), high)] if high is None or high >= 2 else []
            ways += [one] if low <= 1 and high != 0 else []
            ways += [_core.epsilon()] if empty else []
            return _around("(", _core.union(ways), ")")
        if shape.is_set:
            whole = _around("{", some, "}")
            if shape.name == "frozenset":
                whole = _around("frozenset(", whole, ")")
            return _core.union([whole, _literal(f"{shape.name}()")]) if empty else whole
        whole = _around("[", _core.union([some, _core.epsilon()]) if empty else some, "]")
        return whole if shape.name == "list" else _around(f"{shape.name}(", whole, ")")

    def row(self, shape: shapes.Row) -> _core.Expression:
        count = len(shape.items)
        parts: list[_core.Expression] = []
        for at, item in enumerate(shape.items):
            parts += [_literal(", ")] * (at > 0) + [self.write(item)]
        if shape.rest is None:
            parts += [_literal(",")] * (count == 1)
            return _around("(", _core.concat(parts), ")")
        low = max((shape.bounds.min_length or 0) - count, 0)
        high = None if shape.bounds.max_length is None else shape.bounds.max_length - count
        more = _core.concat([_literal(", "), self.write(shape.rest)])
        ends = [_core.repeat(more, max(low, 1), high)]
        if low == 0:
            ends.append(_literal("," if count == 1 else ""))
        return _around("(", _core.concat([*parts, _core.union(ends)]), ")")

    def mapping(self, shape: shapes.Mapping) -> _core.Expression:
        low, high = shape.bounds.min_length or 0, shape.bounds.max_length
        if low > 1:
            self._refuse(shape, "that its keys differ, and so how many there are, cannot be enforced")
        entry = _core.concat([self.write(shape.key), _literal(": "), self.write(shape.value)])
        some = _listed(entry, max(low, 1), high)
        whole = _around("{", some if low else _core.union([some, _core.epsilon()]), "}")
        return whole if shape.name == "dict" else _around(f"{shape.name}(", whole, ")")

    def string(self, shape: shapes.String) -> _core.Expression:
        bounds = shape.bounds
        if bounds.pattern is None:
            return _free_string(bounds.min_length or 0, bounds.max_length)
        language = _of_pattern(bounds)
        if isinstance(language, str):
            self._refuse(shape, language)
        return _bound_string(language)

    def text(self, shape: shapes.Text) -> _core.Expression:
        names = _either(constructors(shape))
        if shape.cls is bytes:
            low, high = shape.bounds.min_length or 0, shape.bounds.max_length
            single, double = (f"(?:{_BYTE}|{quote}|{_BYTE_ESCAPE})" for quote in ('"', "'"))
            ways = [("b'", single, "'"), ('b"', double, '"')]
            return _core.union(
                [
                    _around(opening, _core.repeat(_regex(unit), low, high), closing)
                    for opening, unit, closing in ways
                ]
            )
        arguments = _ARGUMENTS.get(shape.cls)
        if arguments is not None:
            return _around(_core.concat([names, _literal("(")]), _regex(arguments), ")")
        language = format_language(shape.kind.format) if shape.kind.format else None
        if language is None and shape.kind.pattern:
            language = _core.scope(to_expression(shape.kind.pattern))
        string = _free_string(0, None) if language is None else _bound_string(language)
        return _around(_core.concat([names, _literal("(")]), string, ")")

    def written(self, shape: shapes.Written) -> _core.Expression:
        bounds = shape.bounds
        if bounds.of_numbers and (bounds.max_digits is not None or bounds.decimal_places is not None):
            self._refuse(shape, "bounds on its value and on its digits cannot both be enforced")
        language = _bounded_number(bounds, integral=False) if bounds.of_numbers else _of_digits(bounds)
        return _around("Decimal(", _bound_string(language), ")")

    def alias(self, shape: shapes.Alias) -> _core.Expression:
        assert shape.target is not None
        return self.write(shape.target)

    def anything(self, shape: shapes.Shape) -> _core.Expression:
        self._refuse(shape, "any value has no end, which Python syntax cannot be yet; write it in JSON")

    def _refuse(self, shape: shapes.Shape, reason: str) -> NoReturn:
        raise UnsupportedTypeError(shape.described, "", reason)


def language_of_values(shape: shapes.Shape) -> _core.Expression | None:
    """The values of a shape within its bounds, each as itself, without quotes; ``None``: all of its type."""
    if isinstance(shape, (shapes.Float, shapes.Integer)) and shape.bounds.of_numbers:
        return _bounded_number(shape.bounds, isinstance(shape, shapes.Integer), spelling="any")
    if isinstance(shape, shapes.Written) and shape.bounds != shapes.NO_BOUNDS:
        if shape.bounds.of_numbers:
            return _bounded_number(shape.bounds, integral=False, spelling="any")
        return _of_digits(shape.bounds)
    if isinstance(shape, shapes.String) and shape.bounds.pattern is not None:
        language = _of_pattern(shape.bounds)
        return None if isinstance(language, str) else language
    if isinstance(shape, shapes.String) and shape.bounds.of_lengths:
        return _with_length(_regex("(?s:.*)"), shape.bounds)
    return None


def constructor_name(shape: shapes.Record) -> str:
    """What stands before the bracket: the name of the class, without what a generic one was given."""
    return shape.name.partition("[")[0]


# ---- numbers ------------------------------------------------------------------------------------


def _number(bounds: shapes.Bounds, pattern: str, integral: bool) -> _core.Expression:
    return _bounded_number(bounds, integral) if bounds.of_numbers else _regex(pattern)


def _bounded_number(bounds: shapes.Bounds, integral: bool, spelling: str = "plain") -> _core.Expression:
    """Numbers within bounds, as JSON writes them, which is as Python reads them."""
    low, low_excluded = _tighter(bounds.ge, bounds.gt, max)
    high, high_excluded = _tighter(bounds.le, bounds.lt, min)
    multiple = None if bounds.multiple_of is None else _decimal(bounds.multiple_of)
    return _core.numbers(
        None if low is None else str(low),
        low_excluded,
        None if high is None else str(high),
        high_excluded,
        None if multiple is None else str(multiple),
        integral,
        integral,  # with digits alone
        spelling,
    )


def _of_digits(bounds: shapes.Bounds) -> _core.Expression:
    """Decimals of so many digits."""
    return _regex(decimal_pattern(bounds.max_digits, bounds.decimal_places))


def _tighter(
    included: Any, excluded: Any, stricter: Callable[[Decimal, Decimal], Decimal]
) -> tuple[Decimal | None, bool]:
    """The stricter of two bounds, and whether it is excluded itself."""
    if included is None or excluded is None:
        given = included if excluded is None else excluded
        return (None if given is None else _decimal(given)), excluded is not None
    first, second = _decimal(included), _decimal(excluded)
    return stricter(first, second), stricter(first, second) == second


def _decimal(bound: Any) -> Decimal:
    return Decimal(str(bound))


# ---- strings ------------------------------------------------------------------------------------


def _free_string(low: int, high: int | None) -> _core.Expression:
    """Any string of so many code points, in either quotes."""
    single = _core.repeat(_regex(f'{_ITSELF}|"|{_ESCAPE}'), low, high)
    double = _core.repeat(_regex(f"{_ITSELF}|'|{_ESCAPE}"), low, high)
    return _core.union([_around("'", single, "'"), _around('"', double, '"')])


def _bound_string(language: _core.Expression) -> _core.Expression:
    """The strings of a language: in double quotes escaped as in JSON, in single quotes without escapes."""
    double = _core.spelled_in_json(language, False)
    single = _core.intersect([language, _regex(f'(?:{_ITSELF}|")*')])
    return _core.union([_around('"', double, '"'), _around("'", _core.scope(single), "'")])


def _of_pattern(bounds: shapes.Bounds) -> _core.Expression | str:
    """Strings of a pattern, of so many code points; or why there is no such language."""
    assert bounds.pattern is not None
    language = pattern_expression(bounds.pattern)
    return language if isinstance(language, str) else _with_length(language, bounds)


def _with_length(language: _core.Expression, bounds: shapes.Bounds) -> _core.Expression:
    if not bounds.of_lengths:
        return language
    length = _core.repeat(_regex("(?s:.)"), bounds.min_length or 0, bounds.max_length)
    return _core.scope(_core.intersect([language, length]))


# ---- parts --------------------------------------------------------------------------------------


@cache
def _regex(pattern: str) -> _core.Expression:
    return _core.scope(to_expression(pattern))


def _literal(text: str) -> _core.Expression:
    return _core.literal(text.encode())


def _either(texts: Iterable[str]) -> _core.Expression:
    return _core.union([_literal(text) for text in texts])


def _around(opening: str | _core.Expression, inside: _core.Expression, closing: str) -> _core.Expression:
    first = _literal(opening) if isinstance(opening, str) else opening
    return _core.concat([first, inside, _literal(closing)])


def _listed(item: _core.Expression, low: int, high: int | None) -> _core.Expression:
    """``low`` to ``high`` items, at least one, with commas between them."""
    if high == 0:
        return _core.empty()
    more = _core.repeat(_core.concat([_literal(", "), item]), low - 1, None if high is None else high - 1)
    return _core.concat([item, more])


def _subsequence(fields: list[tuple[_core.Expression, bool]]) -> _core.Expression:
    """Fields in their order with commas between them, those that are not required or not.

    Behind a first field each further one brings its comma; so the first is chosen, among those up to the
    first that is required, and what may follow it is shared by all choices.
    """
    follows = [_core.epsilon()]  # by how many fields are left
    for item, required in reversed(fields):
        more = _core.concat([_literal(", "), item])
        follows.append(_core.concat([more if required else _core.repeat(more, 0, 1), follows[-1]]))
    ways = []
    for at, (item, required) in enumerate(fields):
        ways.append(_core.concat([item, follows[len(fields) - at - 1]]))
        if required:
            break
    else:
        ways.append(_core.epsilon())
    return _core.union(ways)


_ARGUMENTS: dict[type, str] = {
    datetime.date: _DATE,
    datetime.datetime: f"{_DATE}(?:, {_CLOCK}{_ZONE})?",
    datetime.time: f"{_CLOCK}{_ZONE}",
    datetime.timedelta: "0|"
    + "|".join(
        (f"{unit}={_DAYS}" if unit == "days" else f"{unit}={_NATURAL}")
        + "".join(f"(?:, {later}={_NATURAL})?" for later in DURATION_UNITS[at + 1 :])
        for at, unit in enumerate(DURATION_UNITS)
    ),
}

_WHOLE = (shapes.Float, shapes.Integer, shapes.String, shapes.Text, shapes.Written)

_WRITERS: dict[type, Callable[[_Writer, Any], _core.Expression]] = {
    shapes.Alias: _Writer.alias,
    shapes.Anything: _Writer.anything,
    shapes.Boolean: lambda _, shape: _either(("True", "False")),
    shapes.Choices: lambda _, shape: _core.strings(
        [way for option in shape.options for way in option.spelled]
    ),
    shapes.Collection: _Writer.collection,
    shapes.Float: lambda _, shape: _number(shape.bounds, _FLOAT, integral=False),
    shapes.Integer: lambda _, shape: _number(shape.bounds, _INTEGER, integral=True),
    shapes.Mapping: _Writer.mapping,
    shapes.Record: _Writer.record,
    shapes.Row: _Writer.row,
    shapes.String: _Writer.string,
    shapes.Text: _Writer.text,
    shapes.Union: lambda writer, shape: _core.union([writer.write(member) for member in shape.members]),
    shapes.Written: _Writer.written,
}
