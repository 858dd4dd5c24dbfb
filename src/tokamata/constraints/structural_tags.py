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

from collections.abc import Callable, Generator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import tokamata._core as _core
from tokamata.calls.arguments import clipped
from tokamata.calls.equal_calls import read_once
from tokamata.calls.keywords import checked_call
from tokamata.calls.recipes import copied
from tokamata.calls.schema_places import within
from tokamata.constraints.constraint import Constraint
from tokamata.constraints.extension_constraints import TokenConstraint, spelled_text
from tokamata.constraints.form_members import (
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
from tokamata.constraints.grammar_constraints import grammar
from tokamata.constraints.json_constraints import constraint_of_schema
from tokamata.constraints.json_options import (
    Formats,
    JsonOptions,
    PropertyOrder,
    Spelling,
    Unknown,
    Whitespace,
)
from tokamata.constraints.tagged_constraints import constraint_of_tagged
from tokamata.constraints.text_constraints import choice, literal, regex
from tokamata.constraints.trigger_constraints import Tag, between, dispatched, in_order
from tokamata.errors import (
    ArgumentError,
    GrammarError,
    LimitExceeded,
    PatternError,
    PatternSyntaxError,
    SchemaError,
    UnsupportedSchemaError,
)
from tokamata.patterns import extensions
from tokamata.patterns.free_text import Border, free_text, without_phrases
from tokamata.patterns.json_schema.text import parse_schema, shown
from tokamata.patterns.phrase_trie import PhraseTrie
from tokamata.patterns.tagged.styles import STYLES
from tokamata.resources.limits import Watch, checked_limits
from tokamata.values.forms import Converted, Plain

if TYPE_CHECKING:
    from tokamata.resources.limits import CancelToken, Limits

__all__ = ["structural_tag"]

_ENGINE = extensions.EngineTokens()
_FORMAT_BYTES = 16 << 10  # of the constraint of a format, about
# Formats that end with free text.
_ENDLESS = {
    *("any_text", "any_tokens", "triggered_tags", "dispatch"),
    *("token_triggered_tags", "token_dispatch"),
}
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


class _Inner(NamedTuple):
    """A format within another one, as its reader requests it.

    Attributes:
        given: the format.
        place: JSON Pointer to it.
        after: what follows it.
    """

    given: Any
    place: str
    after: _After = _NOTHING


_T = TypeVar("_T")
# The steps of a reader: it requests formats, is sent their constraints, and returns its own.
_Steps = Generator[_Inner, Any, _T]


@checked_call
@read_once
def structural_tag(
    given: Mapping[str, Any] | str,
    *,
    property_order: PropertyOrder = "schema",
    whitespace: Whitespace = "natural",
    spelling: Spelling = "natural",
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

    In a beginning, an end, a trigger, a separator and a ``const_string``, a control token of the vocabulary
    may stand for its name, as in :func:`tag`.

    Args:
        given: the structural tag, or its JSON text.
        property_order, whitespace, spelling, formats, strict, unknown, limits, cancel: as for
            :func:`json_schema`; they hold for every schema in it, and for the whole.  ``limits.depth``
            bounds how deep formats nest too.

    Raises:
        SchemaError: it is not a structural tag; the pointer leads from its root to the format.
        UnsupportedSchemaError: a format or a schema in it cannot be enforced.
        LimitExceeded, Cancelled: as for :func:`json_schema`.
    """
    options = JsonOptions(property_order, whitespace, spelling, formats, strict, limits, cancel, unknown)
    given = document = copied(given)
    if isinstance(document, str):
        document = parse_schema(document, checked_limits(limits).depth)
    tag = object_of(document, "", "a structural tag: an object")
    if tag.get("type", "structural_tag") != "structural_tag":
        raise SchemaError("", "type", shown(tag["type"]), '"structural_tag"')
    return _read(tag, options)._made_by(structural_tag, given, **options.given())


def _read(tag: Mapping[str, Any], options: JsonOptions) -> Constraint[Any]:
    """The constraint of a structural tag in either form."""
    reader = _Reader(options)
    if "format" not in tag and "structures" in tag:
        refuse_others(tag, "", ("type", "structures", "triggers"))
        return reader.legacy(tag)
    refuse_others(tag, "", ("type", "format"))
    if "format" not in tag:
        raise SchemaError("", "format", "missing", "a format")
    return reader.read(tag["format"], "/format")


class _Reader:
    """Reads formats.

    A reader that needs a format within its own one yields it.  So formats nest as deep as the limits allow,
    without recursion.  A format is read once for each thing that may follow it: otherwise tags with two ends
    would read their contents twice at each level.
    """

    def __init__(self, options: JsonOptions) -> None:
        self._options = options
        self._watch = Watch(options.limits, options.cancel)
        self._read: dict[tuple[str, _After], Constraint[Any]] = {}
        self._texts: dict[tuple[tuple[str, ...], int | None], list[_core.Expression]] = {}
        self._readers: dict[
            str, tuple[tuple[str, ...], Callable[..., Constraint[Any] | _Steps[Constraint[Any]]]]
        ] = {
            "const_string": (("value",), self._const_string),
            "json_schema": (
                ("json_schema", "style", "any_order", "max_whitespace_cnt", "excludes"),
                self._json_schema,
            ),
            "qwen_xml_parameter": (("json_schema",), self._qwen_xml_parameter),
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

    def read(self, given: Any, place: str) -> Constraint[Any]:
        """The constraint of a format."""
        steps = [self._steps(_Inner(given, place))]
        made: Constraint[Any] | None = None
        while True:
            self._watch.check()
            try:
                inner = steps[-1].send(made)
            except StopIteration as done:
                whole: Constraint[Any] = done.value
                made = whole
                steps.pop()
                if not steps:
                    return whole
                continue
            if len(steps) > self._watch.limits.depth:
                raise LimitExceeded("depth", self._watch.limits.depth)
            steps.append(self._steps(inner))
            made = None

    def _steps(self, inner: _Inner) -> _Steps[Constraint[Any]]:
        """The steps that lead to the constraint of a format."""
        given, place, after = inner
        if (place, after) not in self._read:
            format = object_of(given, place, "a format: an object")
            kind = format.get("type")
            if not (isinstance(kind, str) and kind in self._readers):
                found = shown(kind) if "type" in format else "missing"
                raise SchemaError(place, "type", found, " or ".join(f'"{name}"' for name in self._readers))
            keywords, reader = self._readers[kind]
            refuse_others(format, place, ("type", *keywords))
            self._watch.hold(_FORMAT_BYTES)
            made = reader(format, place, after)
            self._read[place, after] = made if isinstance(made, Constraint) else (yield from made)
        return self._read[place, after]

    def legacy(self, given: Mapping[str, Any]) -> Constraint[Any]:
        """The older form, as triggered tags."""
        tags = []
        for index, one in enumerate(list_of(given, "", "structures")):
            self._watch.check()
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
        return spelled_text(text_of(given, place, "value", may_be_empty=True))

    def _json_schema(self, given: Mapping[str, Any], place: str, *_: Any) -> Constraint[Any]:
        style = given.get("style", "json")
        if style != "json" and not (isinstance(style, str) and style in STYLES):
            expected = " or ".join(f'"{name}"' for name in ("json", *STYLES))
            raise SchemaError(place, "style", shown(style), expected)
        return self._values(given, place, style)

    def _qwen_xml_parameter(self, given: Mapping[str, Any], place: str, *_: Any) -> Constraint[Any]:
        return self._values(given, place, "qwen_xml")

    def _values(self, given: Mapping[str, Any], place: str, style: str) -> Constraint[Any]:
        if "json_schema" not in given:
            raise SchemaError(place, "json_schema", "missing", "a JSON Schema")
        options = self._options.of_format(
            flag_of(given, place, "any_order"),
            bound_of(given, place, "max_whitespace_cnt"),
            texts_of(given, place, "excludes"),
        )
        with within(f"{place}/json_schema"):
            if style == "json":
                return constraint_of_schema(given["json_schema"], options)
            return constraint_of_tagged(given["json_schema"], style, options)

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

    def _any_text(self, given: Mapping[str, Any], place: str, after: _After) -> Constraint[Any]:
        phrases = (*texts_of(given, place, "excludes"), *after.border.phrases)
        most_characters, most = bound_of(given, place, "max_chars"), bound_of(given, place, "max_tokens")
        key = phrases, most
        if key not in self._texts:  # that of many tags is the same
            units = None if most is None else _core.repeat(extensions.text_token(), 0, most)
            self._texts[key] = without_phrases(phrases, units, watch=self._watch)
        text = free_text(self._texts[key], after.border.heads, most_characters)
        return Constraint(text, "any_text", form=Plain())

    def _token(self, given: Mapping[str, Any], place: str, *_: Any) -> Constraint[Any]:
        return _one_token(token_of(given.get("token"), place, "token"))

    def _exclude_token(self, given: Mapping[str, Any], place: str, *_: Any) -> Constraint[Any]:
        excluded = tokens_of(given, place, "exclude_tokens")
        return TokenConstraint(_token_but(excluded), "exclude_token")

    def _any_tokens(self, given: Mapping[str, Any], place: str, after: _After) -> Constraint[Any]:
        excluded = [*tokens_of(given, place, "exclude_tokens"), *after.tokens]
        return _free_tokens(excluded, after.border, bound_of(given, place, "max_tokens"))

    # ---- combinations -------------------------------------------------------------------------

    def _sequence(self, given: Mapping[str, Any], place: str, after: _After) -> _Steps[Constraint[Any]]:
        elements = list_of(given, place, "elements", least=1)
        last = len(elements) - 1
        parts = []
        for index, one in enumerate(elements):
            parts.append(
                (yield _Inner(one, f"{place}/elements/{index}", after if index == last else _NOTHING))
            )
        return in_order(parts, clipped(f"sequence of {len(parts)}"))

    def _or(self, given: Mapping[str, Any], place: str, after: _After) -> _Steps[Constraint[Any]]:
        options = []
        for index, one in enumerate(list_of(given, place, "elements", least=1)):
            options.append((yield _Inner(one, f"{place}/elements/{index}", after)))
        return choice(options)

    def _repetition(self, given: Mapping[str, Any], place: str, after: _After) -> _Steps[Constraint[Any]]:
        if "content" not in given:
            raise SchemaError(place, "content", "missing", "a format")
        content: Constraint[Any] = yield _Inner(given["content"], f"{place}/content", after)
        if given["type"] == "optional":
            return content.optional()
        if given["type"] != "repeat":
            return content.repeat(*_OPTIONAL[given["type"]])
        low, high = whole_of(given, place, "min", 0), whole_of(given, place, "max", -1)
        if -1 < high < low:
            raise SchemaError(place, "max", str(high), f"-1, or at least {low}")
        return content.repeat(low, None if high == -1 else high)

    # ---- tags ---------------------------------------------------------------------------------

    def _tag(self, given: Any, place: str, after: _After) -> _Steps[Constraint[Any]]:
        _, tag = yield from self._read_tag(given, place, after)
        return tag

    def _read_tag(
        self, given: Any, place: str, after: _After
    ) -> _Steps[tuple[str | int | None, Constraint[Any]]]:
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
            begin = spelled_text(key)
        end = tag.get("end")
        if isinstance(end, Mapping):
            token = token_of(end.get("token"), f"{place}/end", "token")
            content = yield _Inner(tag["content"], inside, _After(Border(), (token,)))
            return key, _as_tag(in_order([begin, between([(content, _one_token(token))])], "tag"))
        ends = [end] if isinstance(end, str) else list_of(tag, place, "end", least=1)
        for one in ends:
            if not isinstance(one, str):
                raise SchemaError(place, "end", shown(one), "a text, a list of texts, or a token")
            valid(one, place, "end")
        if not _is_open(tag["content"]):
            content = yield _Inner(tag["content"], inside)
            pair = content, spelled_text(*dict.fromkeys(ends))
            return key, _as_tag(in_order([begin, between([pair])], "tag"))
        texts = list(dict.fromkeys(one for one in ends if one))
        is_open = "" in ends
        phrases = tuple(dict.fromkeys((*texts, *after.border.phrases))) if is_open else tuple(texts)
        groups = dict(PhraseTrie(phrases, self._watch).by_heads(texts))
        if is_open:
            groups.setdefault(after.border.heads, []).append("")
        options = []
        for heads, some in groups.items():
            border = _After(Border(phrases, heads), after.tokens if is_open else ())
            content = yield _Inner(tag["content"], inside, border)
            options.append((content, spelled_text(*some)))
        return key, _as_tag(in_order([begin, between(options)], "tag"))

    def _tag_of(self, begin: str, content: Constraint[Any], ends: list[str]) -> Constraint[Any]:
        return _as_tag(in_order([spelled_text(begin), between([(content, spelled_text(*ends))])], "tag"))

    def _tags(
        self, given: Mapping[str, Any], place: str, after: _After
    ) -> _Steps[list[tuple[str | int | None, Constraint[Any]]]]:
        tags = []
        for index, one in enumerate(list_of(given, place, "tags")):
            tags.append((yield from self._read_tag(one, f"{place}/tags/{index}", after)))
        return tags

    def _triggered(self, given: Mapping[str, Any], place: str, after: _After) -> _Steps[Constraint[Any]]:
        at_least_one = flag_of(given, place, "at_least_one")
        stop_after_first = flag_of(given, place, "stop_after_first")
        tags = yield from self._tags(given, place, after if stop_after_first else _NOTHING)
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
            self._watch.check()
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
                watch=self._watch,
                after=after.border,
            )
        except ArgumentError as error:
            raise SchemaError(place, "triggers", error.found, error.expected) from None

    def _separated(self, given: Mapping[str, Any], place: str, after: _After) -> _Steps[Constraint[Any]]:
        tags = [tag for _, tag in (yield from self._tags(given, place, after))]
        if not tags:
            raise SchemaError(place, "tags", "an empty list", "a list of at least one tag")
        separator = spelled_text(text_of(given, place, "separator", may_be_empty=True))
        most = 1 if flag_of(given, place, "stop_after_first") else None
        return choice(tags).separated_by(separator, int(flag_of(given, place, "at_least_one")), most)

    def _dispatch(self, given: Mapping[str, Any], place: str, after: _After) -> _Steps[Constraint[Any]]:
        branches, triggers = [], []
        is_loop = flag_of(given, place, "loop", True)
        for index, rule in enumerate(list_of(given, place, "rules", least=1)):
            where = f"{place}/rules/{index}"
            if not (
                isinstance(rule, (list, tuple)) and len(rule) == 2 and isinstance(rule[0], str) and rule[0]
            ):
                raise SchemaError(where, "", shown(rule), "a text and a format")
            valid(rule[0], where, "0")
            content = yield _Inner(rule[1], f"{where}/1", _NOTHING if is_loop else after)
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
                watch=self._watch,
                after=after.border,
            )
        except ArgumentError as error:
            raise SchemaError(place, "rules", error.found, error.expected) from None

    def _token_triggered(
        self, given: Mapping[str, Any], place: str, after: _After
    ) -> _Steps[Constraint[Any]]:
        triggers = tokens_of(given, place, "trigger_tokens")
        is_last = flag_of(given, place, "stop_after_first")
        tags = yield from self._tags(given, place, after if is_last else _NOTHING)
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
            watch=self._watch,
            free=_free_tokens(excluded, after.border, None),
        )

    def _token_dispatch(self, given: Mapping[str, Any], place: str, after: _After) -> _Steps[Constraint[Any]]:
        branches: list[tuple[None, Constraint[Any]]] = []
        triggers: list[str | int] = []
        is_loop = flag_of(given, place, "loop", True)
        for index, rule in enumerate(list_of(given, place, "rules", least=1)):
            where = f"{place}/rules/{index}"
            if not (isinstance(rule, (list, tuple)) and len(rule) == 2):
                raise SchemaError(where, "", shown(rule), "a token and a format")
            triggers.append(token_of(rule[0], where, "0"))
            content = yield _Inner(rule[1], f"{where}/1", _NOTHING if is_loop else after)
            rest = between([(content, literal(""))])
            branches.append((None, _as_tag(in_order([_one_token(triggers[-1]), rest], "tag"))))
        excluded = [*triggers, *tokens_of(given, place, "exclude_tokens"), *after.tokens]
        return dispatched(
            branches,
            (),
            (),
            at_least_one=False,
            stop_after_first=not is_loop,
            name=clipped(f"token_dispatch of {len(branches)}"),
            watch=self._watch,
            free=_free_tokens(excluded, after.border, None),
        )


def _is_open(format: Any) -> bool:
    """Whether a format may end with free text, which depends on what follows; found without reading it whole.

    Otherwise the format is the same before all ends of a tag, and is made once for all of them.
    """
    waiting, seen = [format], set()
    while waiting:
        one = waiting.pop()
        if id(one) in seen or not isinstance(one, Mapping):
            continue
        seen.add(id(one))
        kind = one.get("type")
        if kind in _ENDLESS:
            return True
        tags = one.get("tags") if kind == "tags_with_separator" else [one] if kind == "tag" else []
        for tag in tags if isinstance(tags, (list, tuple)) else ():
            end = tag.get("end") if isinstance(tag, Mapping) else None
            if end == "" or (isinstance(end, (list, tuple)) and "" in end):
                return True
        elements = one.get("elements")
        if kind in ("sequence", "or") and isinstance(elements, (list, tuple)):
            waiting += elements[-1:] if kind == "sequence" else elements
        elif kind in (*_OPTIONAL, "repeat"):
            waiting.append(one.get("content"))
    return False


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

    def make(tokens: extensions.Tokens = _ENGINE) -> _core.Expression:
        units = _core.repeat(token(tokens=tokens), 0, most)
        parts = without_phrases(border.phrases, units, tokens.spelled)
        return free_text(parts, border.heads, spelled=tokens.spelled)

    return TokenConstraint(make, "any_tokens", is_spelled=bool(border.phrases))


def _as_tag(whole: Constraint[Any]) -> Constraint[Any]:
    """A pair of a beginning and of a pair of content and end, as a tag."""
    form = Converted(whole._form, lambda parts: Tag(parts[0], *parts[1]))
    return Constraint(whole._expression, "tag", made_by="in order", operands=whole._operands, form=form)
