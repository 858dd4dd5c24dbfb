"""Constraints whose texts are the members of an object between tags, as models write the arguments of a call.

    <parameter=city>
    Bern
    </parameter>

:mod:`tokamata.patterns.tagged.styles` describes the styles, and what a text denotes.  This module makes the
expressions of a style's pieces, from which the engine makes its rules (``core/json/tag_style.hpp``).

**Texts of strings.**  A string is its own text, so it must not contain what ends a value too early: with the
closing after it, the first such text is the closing.  Example: ``a < b`` can be written, ``</parameter>``
cannot.  In JSON values the same holds of the spellings of strings: ``"</parameter>"`` is written as
``"\\u003c/parameter>"``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import tokamata._core as _core
from tokamata.calls.arguments import clipped
from tokamata.constraints.constraint import Constraint
from tokamata.constraints.json_options import JsonOptions
from tokamata.constraints.text_constraints import regex
from tokamata.errors import UnsupportedSchemaError
from tokamata.patterns import extensions
from tokamata.patterns.free_text import without_phrases
from tokamata.patterns.json_schema import ReadSchema, ReportEntry
from tokamata.patterns.json_schema.text import beginning, escaped, read_json
from tokamata.patterns.tagged.styles import STYLES, TagStyle
from tokamata.values.forms import Option
from tokamata.values.tagged import Tagged

if TYPE_CHECKING:
    from tokamata.patterns.extensions import Tokens

__all__ = ["TaggedConstraint", "constraint_of_tagged", "texts_without"]

_BITS = {"null": 1, "boolean": 6, "number": 8, "string": 16, "array": 32, "object": 64}
_ENGINE = extensions.EngineTokens()
_BLANK = _core.strings([" ", "\t", "\n", "\r"])


class TaggedConstraint(Constraint[Any]):
    """The objects of a schema whose members stand between tags; made by :func:`constraint_of_tagged`.

    Attributes:
        style: of the tags.
    """

    __slots__ = ("_make", "_reading", "style")

    def __init__(
        self,
        table: _core.ValueTable,
        root: int,
        style: TagStyle,
        options: JsonOptions,
        name: str,
        reading: ReadSchema,
        reader: Callable[[str], Any] = read_json,
    ) -> None:
        """``root``: a node of the table; ``reader`` makes the value of an object, given as JSON."""
        _check_names(reading.schema, style)
        _check_inner_names(table.words()[0], style)
        if style.items is not None and options.strict:
            _check_elements(reading.schema, style)
        self._make = partial(_expression, table, root, style, options)
        self._reading = reading
        self.style = style
        orders = dict.fromkeys((options.property_order, "any"))
        texts = [table.texts(root, order, "any", "any") for order in orders]
        super().__init__(
            self._make(), name, form=Tagged(style, reader, texts, reading.schema), is_spelled=True
        )

    def _own_report(self) -> list[ReportEntry]:
        return self._reading.report()

    def _read_texts(self) -> _core.Expression:
        """In any style of JSON, white space and order: a text of others is read, however it is written."""
        return self._make(is_loose=True)

    def _with_tokens(self, tokens: Tokens) -> Option:
        return Option(self._make(tokens=tokens), self._form)


def constraint_of_tagged(
    schema: dict[str, Any] | bool | str | bytes,
    style: str | TagStyle,
    options: JsonOptions,
) -> TaggedConstraint:
    """The objects of a schema, written between tags.

    Args:
        schema: as for :func:`tokamata.json_schema`; nobody changes it.
        style: of the tags, or its name.
        options: how the schema is read, and how JSON values are written.

    Raises:
        UnsupportedSchemaError: a name that is required cannot be written in the style, or a name ends the
            value around it; or ``uniqueItems`` in a style that writes elements between tags.
        SchemaError, LimitExceeded, Cancelled: as for :func:`tokamata.json_schema`.
    """
    chosen = STYLES[style] if isinstance(style, str) else style
    table = _core.ValueTable()
    reading = options.read(schema, table)
    shown = schema[:400] if isinstance(schema, str) else beginning(schema, 400)
    name = clipped(f"{chosen.name}({' '.join(str(shown).split())})")
    return TaggedConstraint(table, reading.root, chosen, options, name, reading)


def _check_names(schema: Any, style: TagStyle) -> None:
    """Refuses names that are required at the root and cannot be written."""
    required = schema.get("required") if isinstance(schema, dict) else None
    for name in required if isinstance(required, list) else ():
        if isinstance(name, str) and _written(name, style) is None:
            reason = f"the style {style.name} cannot write the name {clipped(repr(name))}"
            raise UnsupportedSchemaError("", "required", reason)


def _check_inner_names(names: Sequence[str], style: TagStyle) -> None:
    """Refuses declared names that would end the value that they stand in."""
    for name in names if style.ends else ():
        if re.search("|".join(style.ends), name):
            reason = f"in the style {style.name}, the name {clipped(repr(name))} ends the value around it"
            raise UnsupportedSchemaError("", "properties", reason)


def _check_elements(schema: Any, style: TagStyle) -> None:
    """Refuses ``uniqueItems`` in a style that writes the elements of arrays between tags.

    The rules remember elements as JSON alone.  A constant with such a member is refused too.
    """
    waiting = [("", schema)]
    while waiting:
        place, value = waiting.pop()
        if isinstance(value, dict):
            if value.get("uniqueItems") is True:
                reason = f"the style {style.name} cannot enforce it: elements stand between tags there"
                raise UnsupportedSchemaError(place, "uniqueItems", reason)
            waiting += [(f"{place}/{escaped(str(name))}", inner) for name, inner in value.items()]
        elif isinstance(value, list):
            waiting += [(f"{place}/{index}", inner) for index, inner in enumerate(value)]


def _written(name: str, style: TagStyle) -> str | None:
    """A declared name between tags; ``None`` if it cannot be written."""
    if not re.fullmatch(style.names, name) or re.search("|".join(style.ends), name):
        return None
    return "".join(style.escapes.get(character, character) for character in name)


def texts_without(patterns: Sequence[str], texts: _core.Expression | None = None) -> _core.Expression:
    """Those of some texts, or of all, in which no pattern matches."""
    all_texts = _core.text() if texts is None else texts
    if not patterns:
        return all_texts
    phrases = [phrase for one in patterns for phrase in _phrases(one)]
    if texts is None and None not in phrases:
        parts = without_phrases(phrases)  # type: ignore[arg-type]  # none is None
        return parts[0] if len(parts) == 1 else _core.intersect(parts)
    anything = _core.anything()
    ends = _core.union([regex(one)._expression for one in patterns])
    return _core.intersect([all_texts, _core.complement(_core.concat([anything, ends, anything]))])


def _phrases(pattern: str) -> list[str | None]:
    """The texts of a pattern that has few; otherwise ``None``."""
    if pattern == re.escape(literal := re.sub(r"\\(.)", r"\1", pattern)):
        return [literal]
    return [None]


def _expression(
    table: _core.ValueTable,
    root: int,
    style: TagStyle,
    options: JsonOptions,
    tokens: Tokens = _ENGINE,
    is_loose: bool = False,
) -> _core.Expression:
    if is_loose:
        options = replace(options, property_order="any", whitespace="any", spelling="any")
    if options.excludes:
        style = replace(style, ends=(*style.ends, *map(re.escape, options.excludes)))
    pieces = _Pieces(style, options, tokens).made(table.words()[0])
    most = options.most_blanks
    return table.tagged_texts(
        root, options.property_order, options.whitespace, options.spelling, most, pieces
    )


class _Pieces:
    """The expressions of the pieces of a style."""

    def __init__(self, style: TagStyle, options: JsonOptions, tokens: Tokens) -> None:
        self._style = style
        self._tokens = tokens
        self._most = options.most_blanks
        self._whitespace = options.whitespace
        self._between = self._blanks(style.between)

    def made(self, names: Sequence[str]) -> dict[str, Any]:
        style = self._style
        closing, _, after_name = style.closing.partition("{name}")
        free = texts_without(style.ends)
        # The first text that ends a value is that with which the closing begins.
        found = next(end for end in range(1, len(closing) + 1) if _ends(closing[:end], style))
        first, rest = closing[: found - 1], closing[found - 1 :]
        begun = texts_without(style.ends, _core.concat([_core.text(), _core.literal(first.encode())]))
        around = self._blanks(style.around)
        is_any = self._whitespace == "any"
        written = {name: text for name in names if (text := _written(name, style)) is not None}
        return {
            "opening": self._tokens.spelled([style.opening]),
            "name_end": style.attributes["string"].encode()[0],
            "types": self._types(),
            "closing": _core.literal(closing.encode()),
            "named_closing": None if self._tokens is _ENGINE else self._tokens.named(closing),
            "strings": free,
            "closed_strings": _core.concat([begun, _core.literal(rest.encode())]),
            "after_name": after_name,
            "is_marked": style.is_marked,
            "trimmed": _core.literal(b"\n") if style.drops_line_feeds else None,
            "misread": [(_BITS[kind], regex(one)._expression) for kind, one in style.misread.items()],
            "within": free if style.ends else None,
            "between": self._between,
            "before": _core.epsilon() if is_any else around,  # JSON has its own
            "after": around,
            "names": self._names(),
            "written_names": written,
        }

    def _blanks(self, natural: str) -> _core.Expression:
        """Blanks at one position, by the options."""
        if self._whitespace == "compact":
            return _core.epsilon()
        if self._whitespace == "any":
            return _core.repeat(_BLANK, 0, self._most)
        blanks = regex(natural)._expression
        if self._most is None:
            return blanks
        return _core.intersect([blanks, _core.repeat(_core.code_points([(0, 0x10FFFF)]), 0, self._most)])

    def _types(self) -> list[tuple[int, str, _core.Expression, _core.Expression | None]]:
        """Types of values that are written alike: bits, form, what is before a member, and an element."""
        items, forms = self._style.items, {"string": "text"}
        if items is not None:
            forms |= {"array": "elements", "object": "members"}
        masks: dict[tuple[str, str, str], int] = {}
        for kind, attributes in self._style.attributes.items():
            key = (
                forms.get(kind, "json"),
                attributes,
                "" if items is None else items.opening + items.attributes[kind],
            )
            masks[key] = masks.get(key, 0) | _BITS[kind]
        return [
            (mask, form, self._attributes(text[1:]), self._attributes(element) if element else None)
            for (form, text, element), mask in masks.items()
        ]

    def _attributes(self, text: str) -> _core.Expression:
        """What is before a value; of a member, what follows the character that ends its name."""
        first, *others = text.split("{blanks}")
        parts = [self._tokens.spelled([first])]
        for other in others:
            parts += [self._between, self._tokens.spelled([other])]
        return _core.concat(parts)

    def _names(self) -> _core.Expression:
        """Of names that are not declared: those that are written as they are."""
        style = self._style
        special = {*style.escapes, "\\", chr(style.attributes["string"].encode()[0])}
        names = _core.intersect([regex(style.names)._expression, _without_characters(special)])
        return texts_without(style.ends, names)


def _ends(text: str, style: TagStyle) -> bool:
    """Whether a text contains what ends a value."""
    return re.search("|".join(style.ends), text) is not None


def _without_characters(special: set[str]) -> _core.Expression:
    """Texts that are not empty and have none of some characters."""
    ranges, low = [], 0
    for point in sorted(map(ord, special)):
        if low < point:
            ranges.append((low, point - 1))
        low = point + 1
    return _core.repeat(_core.code_points([*ranges, (low, 0x10FFFF)]), 1, None)
