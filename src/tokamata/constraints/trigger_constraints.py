"""Free text with triggers: tags, and text in which they may appear.

    call = tk.tag("<call>", tk.json_schema(schema), "</call>")
    tk.triggered([call]).parse('It is <call>{"a": 1}</call>, I think.')
    # ["It is ", Tag("<call>", {"a": 1}, "</call>"), ", I think."]

A *tag* is a constraint between a beginning and an end.  A *trigger* begins some tags: once the free text has
it, one of these tags must follow.  :mod:`tokamata.patterns.free_text` defines which free text there may be.

In the beginning and the end of a tag, a control token of the vocabulary may stand for its name.  Which texts
are accepted does not change: that is decided by how they are spelled.  Free text has no control tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

import tokamata._core as _core
from tokamata.calls.arguments import (
    checked_flag,
    checked_instance,
    checked_list,
    checked_text,
    checked_whole,
    clipped,
)
from tokamata.calls.equal_calls import read_once
from tokamata.calls.keywords import checked_call
from tokamata.constraints.constraint import Constraint
from tokamata.constraints.extension_constraints import TokenConstraint, spelled_text
from tokamata.constraints.given import Untyped, constraint_of
from tokamata.constraints.text_constraints import choice
from tokamata.errors import ArgumentError, shown_argument
from tokamata.patterns.free_text import Border, free_text, without_phrases
from tokamata.patterns.phrase_trie import PhraseTrie
from tokamata.resources.limits import CancelToken, Limits, Watch
from tokamata.values.forms import Concatenated, Converted, Plain

__all__ = [
    "Tag",
    "TagConstraint",
    "between",
    "dispatched",
    "in_order",
    "tag",
    "text_without",
    "triggered",
]

_T = TypeVar("_T")


class Tag(NamedTuple):
    """The value of a tag.

    Attributes:
        begin: the text that begins it; ``""`` where a token was given in place of a text.
        content: the value between.
        end: the text that ends it; ``""`` where a token was given in place of a text.
    """

    begin: str
    content: Any
    end: str


NOTHING = Border()


class TagConstraint(Constraint[Tag]):
    """Texts between a beginning and an end; made by :func:`tag`.

    Attributes:
        begin: the text that all of them begin with; ``None`` if that is a given control token.
    """

    __slots__ = ("begin",)

    def __init__(
        self, begin: str | Constraint[Any], whole: Constraint[Any], convert: Callable[[Any], Tag], name: str
    ) -> None:
        """``whole``: its texts; ``convert`` makes a tag of their values."""
        form = Converted(whole._form, convert)
        super().__init__(whole._expression, name, made_by="in order", operands=whole._operands, form=form)
        self.begin = begin if isinstance(begin, str) else None


@checked_call
@read_once
def text_without(
    phrases: Iterable[str],
    *,
    most_characters: int | None = None,
    limits: Limits | None = None,
    cancel: CancelToken | None = None,
) -> Constraint[str]:
    """Any text in which none of the phrases appears.

    Cost: linear in the characters of the phrases.

    Args:
        phrases: texts of at least one character.
        most_characters: how many code points a text may have; ``None`` means no bound.
        limits: ``seconds`` bounds the time for reading the phrases; ``Limits()`` by default.
        cancel: stops the reading, from another thread.

    Raises:
        ArgumentError: a phrase is not a text, is empty, or contains a surrogate; the bound is below 0.
        LimitExceeded, Cancelled: the reading was stopped.
    """
    watch = Watch(limits, cancel)
    checked = _checked_phrases("phrases", phrases, watch)
    if most_characters is not None:
        most_characters = checked_whole("most_characters", most_characters, 0, 1 << 31)
    shown = ", ".join(repr(phrase)[:40] for phrase in checked[:4]) + (", …" if len(checked) > 4 else "")
    made: Constraint[str] = Constraint(
        free_text(without_phrases(checked, watch=watch), (), most_characters),
        clipped(f"text_without([{shown}])"),
        form=Plain(),
    )
    return made._made_by(text_without, checked, most_characters=most_characters, limits=limits)


@checked_call
def tag(
    begin: str | Constraint[Any],
    content: Constraint[Any] | type | Untyped | None,
    end: str | Constraint[Any] | Sequence[str],
    *,
    limits: Limits | None = None,
    cancel: CancelToken | None = None,
) -> TagConstraint:
    """A constraint between a beginning and an end; its value is a :class:`Tag`.

    A text such as ``<|channel|>final<|message|>`` is spelled text; and where the vocabulary has control
    tokens whose names stand in it, each of them may stand for its name.  A :func:`tokamata.control_token` is
    that token alone, and never spelled.

    Args:
        begin: a text, or a :func:`tokamata.control_token`.
        content: what is between: a constraint, or a type or a schema that means one; ``None`` for any text up
            to where an end appears first.
        end: a text, several texts, or a :func:`tokamata.control_token`.
        limits: ``seconds`` and ``memory_bytes`` bound the reading of several ends; ``Limits()`` by default.
        cancel: stops the reading, from another thread.

    Raises:
        ArgumentError: an argument has another type; ``content`` is ``None``, and an end is empty.
        LimitExceeded, Cancelled: the reading was stopped.
    """
    watch = Watch(limits, cancel)
    _check_edge("begin", begin)
    if not isinstance(end, (list, tuple)):
        _check_edge("end", end)
    within: Constraint[Any] | None = None
    if content is not None:
        within = constraint_of("content", content, "a constraint, a type, a schema, or None")
    name = clipped(f"tag({_shown(begin)}, {'None' if within is None else repr(within)}, {_shown(end)})")
    call = begin, within, list(end) if isinstance(end, (list, tuple)) else end
    first = spelled_text(begin) if isinstance(begin, str) else begin
    if within is None and isinstance(end, Constraint):
        within = text_without([])
    if within is not None:
        whole = in_order([first, within.captured("content"), _ends(end, watch)], name)
        made = TagConstraint(begin, whole, lambda parts: Tag(*parts), name)
        return made._made_by(tag, *call, limits=limits)
    ends = list(dict.fromkeys(_checked_phrases("end", [end] if isinstance(end, str) else end, watch)))
    groups = PhraseTrie(ends, watch).by_heads(ends)
    parts = without_phrases(ends, watch=watch)
    rest = between([(_any_text(parts, heads), spelled_text(*some)) for heads, some in groups])
    made = TagConstraint(begin, in_order([first, rest], name), lambda parts: Tag(parts[0], *parts[1]), name)
    return made._made_by(tag, *call, limits=limits)


@checked_call
def triggered(
    tags: Iterable[TagConstraint],
    *,
    triggers: Iterable[str] | None = None,
    at_least_one: bool = False,
    stop_after_first: bool = False,
    excludes: Iterable[str] = (),
    limits: Limits | None = None,
    cancel: CancelToken | None = None,
) -> Constraint[list[Any]]:
    """Free text in which tags may appear.

    The value is a list: pieces of free text, and the values of tags, in order; empty pieces are left out.

    No trigger appears in the free text, also not across its border to a tag.  Where two triggers end at one
    position, the longer one counts.

    Args:
        tags: made by :func:`tag`.  One that begins with a given control token is its own trigger.
        triggers: texts with which tags begin.  By default, the beginnings of the tags.  A trigger with which
            no tag begins does not appear.
        at_least_one: the text begins with a tag, and free text follows.
        stop_after_first: nothing follows the first tag.
        excludes: phrases that do not appear in the free text.
        limits: ``seconds`` and ``memory_bytes`` bound the reading of the triggers; ``Limits()`` by default.
        cancel: stops the reading, from another thread.

    Raises:
        ArgumentError: an argument has another type; a tag begins with no trigger, or with several; a trigger
            contains another one before its end, or an excluded phrase, so that it could never appear.
        LimitExceeded, Cancelled: the reading was stopped.
    """
    watch = Watch(limits, cancel)
    known = checked_list("tags", tags, "a list of tags")
    for one in known:
        checked_instance("a tag", one, TagConstraint, "a tag, as tag(begin, content, end) makes it")
    starts = [one.begin for one in known if one.begin is not None]
    given = list(dict.fromkeys(starts if triggers is None else _checked_phrases("triggers", triggers, watch)))
    if "" in given:
        raise ArgumentError("a tag", "one that begins with an empty text", "a tag with a beginning")
    checked_flag("at_least_one", at_least_one)
    checked_flag("stop_after_first", stop_after_first)
    wanted = set(given)
    branches = [(_trigger_of(one, wanted, watch), one) for one in known]
    excluded = _checked_phrases("excludes", excludes, watch)
    made = dispatched(
        branches,
        given,
        excluded,
        at_least_one=at_least_one,
        stop_after_first=stop_after_first,
        name=clipped(f"triggered of {len(known)} tags"),
        watch=watch,
    )
    return made._made_by(
        triggered,
        known,
        triggers=None if triggers is None else given,
        at_least_one=at_least_one,
        stop_after_first=stop_after_first,
        excludes=excluded,
        limits=limits,
    )


def dispatched(
    branches: Sequence[tuple[str | None, Constraint[Any]]],
    triggers: Sequence[str],
    excludes: Sequence[str],
    *,
    at_least_one: bool,
    stop_after_first: bool,
    name: str,
    watch: Watch,
    after: Border = NOTHING,
    free: Constraint[str] | None = None,
) -> Constraint[list[Any]]:
    """Free text in which some branches may appear.

    Args:
        branches: each with the trigger that all its texts begin with; ``None`` if that is a control token.
        triggers: all of them.
        excludes: phrases that do not appear in the free text.
        at_least_one, stop_after_first, name: as for :func:`triggered`.
        watch: stops the work.
        after: what follows the whole.
        free: replaces the free text, for branches without triggers.
    """
    never = frozenset((*excludes, *after.phrases))
    phrases = tuple(dict.fromkeys((*triggers, *excludes, *after.phrases)))
    trie = PhraseTrie(phrases, watch)
    for one in triggers:
        if found := trie.within(one, never):
            raise ArgumentError(
                "triggers", f"{one!r:.80}, which contains {found!r:.80}", "triggers that can appear"
            )

    texts = without_phrases(phrases, watch=watch) if free is None else []

    def text(before: tuple[str, ...]) -> Constraint[str]:
        return _any_text(texts, before) if free is None else free

    last = text(after.heads)
    if not branches:
        return _listed([last], name, lambda parts: [*parts] if parts[0] else [])
    by_trigger: dict[str | None, list[Constraint[Any]]] = {}
    for trigger, branch in branches:
        by_trigger.setdefault(trigger, []).append(branch)
    groups: list[tuple[tuple[str, ...], Sequence[str | None]]] = [((), [None]), *trie.by_heads(triggers)]
    steps = []
    for before, some in groups:
        watch.check()
        if tags := [branch for trigger in some for branch in by_trigger.get(trigger, ())]:
            step: Constraint[Any] = in_order(
                [text(before).captured("text"), choice(tags).captured("tag")], "free text, then a tag"
            )
            steps.append(step)
    several, first = choice(steps), choice([branch for _, branch in branches])
    if stop_after_first:
        if at_least_one:
            return _listed([first], name, list)
        return _listed([choice([several, last])], name, lambda parts: _flat([parts[0]]))
    rest = [several.repeat().captured("tags"), last]
    if at_least_one:
        return _listed([first, *rest], name, lambda parts: [parts[0], *_flat([*parts[1], parts[2]])])
    return _listed(rest, name, lambda parts: _flat([*parts[0], parts[1]]))


def in_order(parts: Sequence[Constraint[_T]], name: str) -> Constraint[Any]:
    """The parts one after another, as ``+`` has them, but never flat: a part that is a sequence stays one."""
    expression = _core.concat([_core.scope(part._expression) for part in parts])
    form = Concatenated([part._option for part in parts])
    return Constraint(expression, name, made_by="in order", operands=tuple(parts), form=form)


def between(options: Sequence[tuple[Constraint[Any], Constraint[str]]]) -> Constraint[Any]:
    """Some content, then an end; its value is a pair.

    Args:
        options: contents, each with the ends that may follow it.
    """
    pairs = [
        in_order([content.captured("content"), end.captured("end")], "content, then an end")
        for content, end in options
    ]
    return pairs[0] if len(pairs) == 1 else choice(pairs)


def _any_text(parts: Sequence[_core.Expression], heads: tuple[str, ...]) -> Constraint[str]:
    """Text without phrases that may stand before what has these heads."""
    return Constraint(free_text(parts, heads), "any text", form=Plain())


def _listed(parts: list[Constraint[Any]], name: str, convert: Any) -> Constraint[list[Any]]:
    whole = in_order(parts, name)
    form = Converted(whole._form, convert)
    return Constraint(whole._expression, name, made_by="in order", operands=whole._operands, form=form)


def _flat(pieces: Iterable[Any]) -> list[Any]:
    """Free text and pairs of free text and a tag, as one list without empty texts."""
    found: list[Any] = []
    for piece in pieces:
        if isinstance(piece, str):
            found.append(piece)
        else:
            found.extend(piece)
    return [piece for piece in found if not (isinstance(piece, str) and piece == "")]


def _check_edge(argument: str, edge: Any) -> None:
    """Refuses what is neither a text nor a control token: free text might contain it."""
    checked_instance(argument, edge, (str, TokenConstraint), "a str, or what control_token() returns")
    if isinstance(edge, str):
        checked_text(edge, argument)


def _ends(end: Any, watch: Watch) -> Constraint[Any]:
    if isinstance(end, Constraint):
        return end
    if isinstance(end, str):
        return spelled_text(end)
    ends = checked_list("end", end, "a text, a list of texts, or a constraint")
    for one in ends:
        watch.check()
        checked_text(one, "end")
    if not ends:
        raise ArgumentError("end", "an empty list", "a text, a list of texts, or a constraint")
    return spelled_text(*ends)


def _trigger_of(one: TagConstraint, triggers: Container[str], watch: Watch) -> str | None:
    watch.check()
    if one.begin is None:
        return None
    some = [one.begin[:end] for end in range(1, len(one.begin) + 1) if one.begin[:end] in triggers]
    if len(some) != 1:
        found = f"one that begins with {one.begin!r:.80}, as {len(some)} of the triggers do"
        hint = "leave out triggers=, or add a beginning of the tag" if not some else "leave out all but one"
        raise ArgumentError("a tag", found, "one that begins with exactly one of the triggers", hint)
    return some[0]


def _checked_phrases(argument: str, phrases: Any, watch: Watch) -> list[str]:
    hint = f"write [{phrases!r:.40}]" if isinstance(phrases, str) else ""
    checked = checked_list(argument, phrases, "a list of texts", hint)
    for phrase in checked:
        watch.check()
        if not checked_text(phrase, argument):
            raise ArgumentError(argument, "one with an empty text", "texts of at least one character")
    return checked


def _shown(edge: Any) -> str:
    return repr(edge) if isinstance(edge, (str, Constraint)) else shown_argument(edge)
