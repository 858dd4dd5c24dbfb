"""Structural tags: the JSON form in which vLLM, SGLang and xgrammar describe tagged text.

    tk.structural_tag({"type": "structural_tag", "format": {
        "type": "triggered_tags", "triggers": ["<call"],
        "tags": [{"type": "tag", "begin": "<call>", "content": {"type": "json_schema", "json_schema": {}},
                  "end": "</call>"}]}})

The form is that of xgrammar 0.2.8.  Each format becomes a constraint of the algebra; what follows a format
decides which free text it may have (:class:`_After`).  docs/tools.md lists every format, its value, and where
the texts differ from those of xgrammar.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import tokamata._core as _core
from tokamata.arguments import clipped
from tokamata.constraint import Constraint
from tokamata.errors import (
    ArgumentError,
    GrammarError,
    LimitExceeded,
    PatternError,
    PatternSyntaxError,
    SchemaError,
    UnsupportedSchemaError,
)
from tokamata.extension_constraints import TokenConstraint
from tokamata.form_members import (
    bound_of,
    flag_of,
    list_of,
    object_of,
    refuse_others,
    text_of,
    texts_of,
    token_of,
    tokens_of,
    valid,
    whole_of,
)
from tokamata.grammar_constraints import grammar
from tokamata.json_constraints import constraint_of_schema
from tokamata.json_options import Formats, JsonOptions, PropertyOrder, Spelling, Unknown, Whitespace
from tokamata.limits import checked_limits
from tokamata.patterns import extensions
from tokamata.patterns.free_text import free_text, heads_before
from tokamata.patterns.json_schema.text import shown
from tokamata.schema_places import within
from tokamata.text_constraints import choice, literal, regex
from tokamata.trigger_constraints import Border, Tag, between, dispatched, in_order
from tokamata.values.forms import Converted, Plain

if TYPE_CHECKING:
    from tokamata.limits import CancelToken, Limits

__all__ = ["structural_tag"]

_OPTIONAL = {"optional": (0, 1), "plus": (1, None), "star": (0, None)}


class _After(NamedTuple):
    """What follows a format.

    Attributes:
        border: the texts; free text has none of them.
        tokens: the tokens, by name or id; free tokens are none of them.
    """

    border: Border = Border()
    tokens: tuple[str | int, ...] = ()


_NOTHING = _After()


def structural_tag(
    given: Mapping[str, Any] | str,
    *,
    property_order: PropertyOrder = "schema",
    whitespace: Whitespace = "natural",
    spelling: Spelling = "plain",
    formats: Formats = "assert",
    strict: bool = True,
    unknown: Unknown = "warn",
    limits: Limits | None = None,
    cancel: CancelToken | None = None,
) -> Constraint[Any]:
    """The texts that a structural tag describes.

    =============================================================  =======================================
    ``{"type": "structural_tag", "format": {…}}``                  a format, in the form of xgrammar 0.2.8
    ``{"type": "structural_tag", "structures": […], "triggers"…}``  the older form: triggered tags of JSON
    =============================================================  =======================================

    The value of a tag is a :class:`tokamata.Tag`, that of text with triggers a list of texts and tags, and
    that of other formats the value of the constraint that they describe.

    Args:
        given: the structural tag, or its JSON text.
        property_order, whitespace, spelling, formats, strict, unknown, limits, cancel: as for
            :func:`json_schema`;
            they hold for every schema in it.  ``limits.depth`` bounds how deep formats nest too.

    Raises:
        SchemaError: it is not a structural tag; the pointer leads from its root to the format.
        UnsupportedSchemaError: a format or a schema in it cannot be enforced.
        LimitExceeded, Cancelled: as for :func:`json_schema`.
    """
    options = JsonOptions(property_order, whitespace, spelling, formats, strict, limits, cancel, unknown)
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            raise SchemaError("", "", "a text that is not JSON", "a structural tag") from None
    tag = object_of(given, "", "a structural tag: an object")
    if tag.get("type", "structural_tag") != "structural_tag":
        raise SchemaError("", "type", shown(tag["type"]), '"structural_tag"')
    reader = _Reader(options)
    if "format" not in tag and "structures" in tag:
        refuse_others(tag, "", ("type", "structures", "triggers"))
        return reader.legacy(tag)
    refuse_others(tag, "", ("type", "format"))
    if "format" not in tag:
        raise SchemaError("", "format", "missing", "a format")
    return reader.read(tag["format"], "/format", _NOTHING, 0)


class _Reader:
    """Reads formats."""

    def __init__(self, options: JsonOptions) -> None:
        self._options = options
        self._depth = checked_limits(options.limits).depth
        self._readers: dict[str, tuple[tuple[str, ...], Callable[..., Constraint[Any]]]] = {
            "const_string": (("value",), self._const_string),
            "json_schema": (
                ("json_schema", "style", "any_order", "max_whitespace_cnt", "excludes"),
                self._json_schema,
            ),
            "grammar": (("grammar",), self._grammar),
            "regex": (("pattern",), self._regex),
            "any_text": (("excludes", "max_tokens", "max_chars"), self._any_text),
            "token": (("token",), self._token),
            "exclude_token": (("exclude_tokens",), self._exclude_token),
            "any_tokens": (("exclude_tokens", "max_tokens"), self._any_tokens),
            "sequence": (("elements",), self._sequence),
            "or": (("elements",), self._or),
            "optional": (("content",), self._repetition),
            "plus": (("content",), self._repetition),
            "star": (("content",), self._repetition),
            "repeat": (("min", "max", "content"), self._repetition),
            "tag": (("begin", "content", "end"), self._tag),
            "triggered_tags": (
                ("triggers", "tags", "at_least_one", "stop_after_first", "excludes"),
                self._triggered,
            ),
            "tags_with_separator": (
                ("tags", "separator", "at_least_one", "stop_after_first"),
                self._separated,
            ),
            "dispatch": (("rules", "loop", "excludes"), self._dispatch),
            "token_triggered_tags": (
                ("trigger_tokens", "tags", "exclude_tokens", "at_least_one", "stop_after_first"),
                self._token_triggered,
            ),
            "token_dispatch": (("rules", "loop", "exclude_tokens"), self._token_dispatch),
        }

    def read(self, given: Any, place: str, after: _After, depth: int) -> Constraint[Any]:
        """The constraint of a format that something follows."""
        if depth > self._depth:
            raise LimitExceeded("depth", self._depth)
        format = object_of(given, place, "a format: an object")
        kind = format.get("type")
        if not (isinstance(kind, str) and kind in self._readers):
            found = shown(kind) if "type" in format else "missing"
            raise SchemaError(place, "type", found, " or ".join(f'"{name}"' for name in self._readers))
        keywords, reader = self._readers[kind]
        refuse_others(format, place, ("type", *keywords))
        return reader(format, place, after, depth)

    def legacy(self, given: Mapping[str, Any]) -> Constraint[Any]:
        """The older form, as triggered tags."""
        tags = []
        for index, one in enumerate(list_of(given, "", "structures")):
            place = f"/structures/{index}"
            structure = object_of(one, place, "an object")
            refuse_others(structure, place, ("begin", "schema", "end"))
            begin, end = text_of(structure, place, "begin"), text_of(structure, place, "end")
            if "schema" not in structure:
                raise SchemaError(place, "schema", "missing", "a JSON Schema")
            with within(f"{place}/schema"):
                content = constraint_of_schema(structure["schema"], self._options)
            tags.append((begin, self._tag_of(begin, content, [end])))
        return self._triggered_of(given, "", tags, _NOTHING, False, False, [])

    # ---- single formats -----------------------------------------------------------------------

    def _const_string(self, given: Mapping[str, Any], place: str, *_: Any) -> Constraint[Any]:
        return literal(text_of(given, place, "value", may_be_empty=True))

    def _json_schema(self, given: Mapping[str, Any], place: str, *_: Any) -> Constraint[Any]:
        style = given.get("style", "json")
        if style != "json":
            reason = f'the style {shown(style)} writes no JSON; only "json" is supported'
            raise UnsupportedSchemaError(place, "style", reason)
        for keyword, neutral in (("max_whitespace_cnt", None), ("excludes", [])):
            if given.get(keyword, neutral) != neutral:
                reason = (
                    "leave it out: the option whitespace bounds white space"
                    if neutral is None
                    else ("write it as a pattern of the schema")
                )
                raise UnsupportedSchemaError(place, keyword, reason)
        if "json_schema" not in given:
            raise SchemaError(place, "json_schema", "missing", "a JSON Schema")
        options = self._options
        if flag_of(given, place, "any_order"):
            options = options.with_order("any")
        with within(f"{place}/json_schema"):
            return constraint_of_schema(given["json_schema"], options)

    def _grammar(self, given: Mapping[str, Any], place: str, *_: Any) -> Constraint[Any]:
        source = text_of(given, place, "grammar")
        try:
            return grammar(source, syntax="gbnf", limits=self._options.limits, cancel=self._options.cancel)
        except GrammarError as error:
            expected = f"a grammar of GBNF: at line {error.line}, column {error.column}, {error.reason}"
            raise SchemaError(place, "grammar", shown(source), expected) from error

    def _regex(self, given: Mapping[str, Any], place: str, *_: Any) -> Constraint[Any]:
        pattern = text_of(given, place, "pattern", may_be_empty=True)
        try:
            return regex(pattern, limits=self._options.limits, cancel=self._options.cancel)
        except PatternSyntaxError as error:
            expected = f"a regular expression: {error.reason} at position {error.position}"
            raise SchemaError(place, "pattern", shown(pattern), expected) from error
        except PatternError as error:
            raise UnsupportedSchemaError(place, "pattern", error.reason) from error

    # ---- free text and tokens -----------------------------------------------------------------

    def _any_text(self, given: Mapping[str, Any], place: str, after: _After, _: int) -> Constraint[Any]:
        phrases = (*texts_of(given, place, "excludes"), *after.border.phrases)
        most_characters, most = bound_of(given, place, "max_chars"), bound_of(given, place, "max_tokens")
        units = None if most is None else _core.repeat(extensions.text_token(), 0, most)
        heads = after.border.heads
        return Constraint(free_text(phrases, heads, most_characters, units), "any_text", form=Plain())

    def _token(self, given: Mapping[str, Any], place: str, *_: Any) -> Constraint[Any]:
        return _one_token(token_of(given.get("token"), place, "token"))

    def _exclude_token(self, given: Mapping[str, Any], place: str, after: _After, _: int) -> Constraint[Any]:
        excluded = tokens_of(given, place, "exclude_tokens")
        return TokenConstraint(_token_but(excluded), "exclude_token")

    def _any_tokens(self, given: Mapping[str, Any], place: str, after: _After, _: int) -> Constraint[Any]:
        excluded = [*tokens_of(given, place, "exclude_tokens"), *after.tokens]
        return _free_tokens(excluded, after.border, bound_of(given, place, "max_tokens"))

    # ---- combinations -------------------------------------------------------------------------

    def _sequence(self, given: Mapping[str, Any], place: str, after: _After, depth: int) -> Constraint[Any]:
        elements = list_of(given, place, "elements", least=1)
        last = len(elements) - 1
        parts = [
            self.read(one, f"{place}/elements/{index}", after if index == last else _NOTHING, depth + 1)
            for index, one in enumerate(elements)
        ]
        return in_order(parts, clipped(f"sequence of {len(parts)}"))

    def _or(self, given: Mapping[str, Any], place: str, after: _After, depth: int) -> Constraint[Any]:
        return choice(
            [
                self.read(one, f"{place}/elements/{index}", after, depth + 1)
                for index, one in enumerate(list_of(given, place, "elements", least=1))
            ]
        )

    def _repetition(self, given: Mapping[str, Any], place: str, after: _After, depth: int) -> Constraint[Any]:
        if "content" not in given:
            raise SchemaError(place, "content", "missing", "a format")
        content = self.read(given["content"], f"{place}/content", after, depth + 1)
        if given["type"] == "optional":
            return content.optional()
        if given["type"] != "repeat":
            return content.repeat(*_OPTIONAL[given["type"]])
        low, high = whole_of(given, place, "min", 0), whole_of(given, place, "max", -1)
        if -1 < high < low:
            raise SchemaError(place, "max", str(high), f"-1, or at least {low}")
        return content.repeat(low, None if high == -1 else high)

    # ---- tags ---------------------------------------------------------------------------------

    def _tag(self, given: Any, place: str, after: _After, depth: int) -> Constraint[Any]:
        return self._read_tag(given, place, after, depth)[1]

    def _read_tag(
        self, given: Any, place: str, after: _After, depth: int
    ) -> tuple[str | int | None, Constraint[Any]]:
        """The text or the token that a tag begins with, and the tag."""
        tag = object_of(given, place, "a tag: an object")
        if tag.get("type", "tag") != "tag":
            raise SchemaError(place, "type", shown(tag["type"]), '"tag"')
        refuse_others(tag, place, ("type", "begin", "content", "end"))
        if "content" not in tag:
            raise SchemaError(place, "content", "missing", "a format")
        inside = f"{place}/content"
        start = tag.get("begin")
        begin: Constraint[Any]
        if isinstance(start, Mapping):
            start = token_of(object_of(start, f"{place}/begin", "").get("token"), f"{place}/begin", "token")
            begin, key = _one_token(start), start
        else:
            key = text_of(tag, place, "begin", may_be_empty=True)
            begin = literal(key)
        end = tag.get("end")
        if isinstance(end, Mapping):
            token = token_of(end.get("token"), f"{place}/end", "token")
            content = self.read(tag["content"], inside, _After(Border(), (token,)), depth + 1)
            pair = in_order([content.captured("content"), _one_token(token).captured("end")], "a tag's rest")
            return key, _as_tag(in_order([begin, pair], "tag"))
        ends = [end] if isinstance(end, str) else list_of(tag, place, "end", least=1)
        for one in ends:
            if not isinstance(one, str):
                raise SchemaError(place, "end", shown(one), "a text, a list of texts, or a token")
            valid(one, place, "end")
        phrases = tuple(dict.fromkeys(one for one in ends if one))
        if "" in ends:
            phrases += after.border.phrases
        heads = heads_before([one for one in ends if one], phrases)
        borders = []
        for one in dict.fromkeys(ends):
            before = heads[one] if one else after.border.heads
            borders.append((Border(phrases, before), one))
        tokens = after.tokens if "" in ends else ()

        def inner(border: Border) -> Constraint[Any]:
            return self.read(tag["content"], inside, _After(border, tokens), depth + 1)

        return key, _as_tag(in_order([begin, between(borders, inner)], "tag"))

    def _tag_of(self, begin: str, content: Constraint[Any], ends: list[str]) -> Constraint[Any]:
        pair = in_order([content.captured("content"), choice(ends).captured("end")], "a tag's rest")
        return _as_tag(in_order([literal(begin), pair], "tag"))

    def _tags(
        self, given: Mapping[str, Any], place: str, after: _After, depth: int
    ) -> list[tuple[str | int | None, Constraint[Any]]]:
        return [
            self._read_tag(one, f"{place}/tags/{index}", after, depth + 1)
            for index, one in enumerate(list_of(given, place, "tags"))
        ]

    def _triggered(self, given: Mapping[str, Any], place: str, after: _After, depth: int) -> Constraint[Any]:
        at_least_one = flag_of(given, place, "at_least_one")
        stop_after_first = flag_of(given, place, "stop_after_first")
        tags = self._tags(given, place, after if stop_after_first else _NOTHING, depth)
        excludes = texts_of(given, place, "excludes")
        return self._triggered_of(given, place, tags, after, at_least_one, stop_after_first, excludes)

    def _triggered_of(
        self,
        given: Mapping[str, Any],
        place: str,
        tags: Sequence[tuple[Any, Constraint[Any]]],
        after: _After,
        at_least_one: bool,
        stop_after_first: bool,
        excludes: list[str],
    ) -> Constraint[Any]:
        triggers = list(dict.fromkeys(texts_of(given, place, "triggers", least=1)))
        branches = []
        wanted = set(triggers)
        for index, (begin, tag) in enumerate(tags):
            where = f"{place}/tags/{index}" if "tags" in given else f"/structures/{index}"
            if not isinstance(begin, str):
                raise SchemaError(where, "begin", "a token", "a text, which begins with a trigger")
            some = [begin[:end] for end in range(1, len(begin) + 1) if begin[:end] in wanted]
            if len(some) != 1:
                found = f"{shown(begin)}, which begins with {len(some)} of the triggers"
                raise SchemaError(where, "begin", found, "a text that begins with one trigger")
            branches.append((some[0], tag))
        try:
            return dispatched(
                branches,
                triggers,
                excludes,
                at_least_one=at_least_one,
                stop_after_first=stop_after_first,
                name=clipped(f"triggered_tags of {len(tags)}"),
                after=after.border,
            )
        except ArgumentError as error:
            raise SchemaError(place, "triggers", error.found, error.expected) from None

    def _separated(self, given: Mapping[str, Any], place: str, after: _After, depth: int) -> Constraint[Any]:
        tags = [tag for _, tag in self._tags(given, place, after, depth)]
        if not tags:
            raise SchemaError(place, "tags", "an empty list", "a list of at least one tag")
        separator = literal(text_of(given, place, "separator", may_be_empty=True))
        most = 1 if flag_of(given, place, "stop_after_first") else None
        return choice(tags).separated_by(separator, int(flag_of(given, place, "at_least_one")), most)

    def _dispatch(self, given: Mapping[str, Any], place: str, after: _After, depth: int) -> Constraint[Any]:
        branches, triggers = [], []
        is_loop = flag_of(given, place, "loop", True)
        for index, rule in enumerate(list_of(given, place, "rules", least=1)):
            where = f"{place}/rules/{index}"
            if not (
                isinstance(rule, (list, tuple)) and len(rule) == 2 and isinstance(rule[0], str) and rule[0]
            ):
                raise SchemaError(where, "", shown(rule), "a text and a format")
            valid(rule[0], where, "0")
            content = self.read(rule[1], f"{where}/1", _NOTHING if is_loop else after, depth + 1)
            branches.append((rule[0], self._tag_of(rule[0], content, [""])))
            triggers.append(rule[0])
        try:
            return dispatched(
                branches,
                list(dict.fromkeys(triggers)),
                texts_of(given, place, "excludes"),
                at_least_one=False,
                stop_after_first=not is_loop,
                name=clipped(f"dispatch of {len(branches)}"),
                after=after.border,
            )
        except ArgumentError as error:
            raise SchemaError(place, "rules", error.found, error.expected) from None

    def _token_triggered(
        self, given: Mapping[str, Any], place: str, after: _After, depth: int
    ) -> Constraint[Any]:
        triggers = tokens_of(given, place, "trigger_tokens")
        is_last = flag_of(given, place, "stop_after_first")
        tags = self._tags(given, place, after if is_last else _NOTHING, depth)
        for index, (begin, _) in enumerate(tags):
            if begin not in triggers or not isinstance(given["tags"][index].get("begin"), Mapping):
                where = f"{place}/tags/{index}"
                raise SchemaError(where, "begin", shown(begin), "a token that is one of the triggers")
        excluded = [*triggers, *tokens_of(given, place, "exclude_tokens"), *after.tokens]
        return dispatched(
            [(None, tag) for _, tag in tags],
            (),
            (),
            at_least_one=flag_of(given, place, "at_least_one"),
            stop_after_first=is_last,
            name=clipped(f"token_triggered_tags of {len(tags)}"),
            free=_free_tokens(excluded, after.border, None),
        )

    def _token_dispatch(
        self, given: Mapping[str, Any], place: str, after: _After, depth: int
    ) -> Constraint[Any]:
        branches: list[tuple[None, Constraint[Any]]] = []
        triggers: list[str | int] = []
        is_loop = flag_of(given, place, "loop", True)
        for index, rule in enumerate(list_of(given, place, "rules", least=1)):
            where = f"{place}/rules/{index}"
            if not (isinstance(rule, (list, tuple)) and len(rule) == 2):
                raise SchemaError(where, "", shown(rule), "a token and a format")
            triggers.append(token_of(rule[0], where, "0"))
            content = self.read(rule[1], f"{where}/1", _NOTHING if is_loop else after, depth + 1)
            pair = in_order([content.captured("content"), literal("").captured("end")], "a tag's rest")
            branches.append((None, _as_tag(in_order([_one_token(triggers[-1]), pair], "tag"))))
        excluded = [*triggers, *tokens_of(given, place, "exclude_tokens"), *after.tokens]
        return dispatched(
            branches,
            (),
            (),
            at_least_one=False,
            stop_after_first=not is_loop,
            name=clipped(f"token_dispatch of {len(branches)}"),
            free=_free_tokens(excluded, after.border, None),
        )


# ---- tokens -----------------------------------------------------------------------------------


def _one_token(token: str | int) -> Constraint[str]:
    if isinstance(token, int):
        return TokenConstraint(partial(extensions.control_token, token), f"token {token}")
    return TokenConstraint(partial(extensions.named_token, token), clipped(f"token {token!r}"))


def _token_but(excluded: Sequence[str | int]) -> Callable[..., _core.Expression]:
    names = [token for token in excluded if isinstance(token, str)]
    return partial(extensions.token_but, names, [token for token in excluded if isinstance(token, int)])


def _free_tokens(excluded: Sequence[str | int], border: Border, most: int | None) -> Constraint[str]:
    token = _token_but(excluded)

    def make(**tokens: Any) -> _core.Expression:
        return free_text(border.phrases, border.heads, None, _core.repeat(token(**tokens), 0, most))

    return TokenConstraint(make, "any_tokens")


def _as_tag(whole: Constraint[Any]) -> Constraint[Any]:
    """A pair of a beginning and of a pair of content and end, as a tag."""
    form = Converted(whole._form, lambda parts: Tag(parts[0], *parts[1]))
    return Constraint(whole._expression, "tag", made_by="in order", operands=whole._operands, form=form)
