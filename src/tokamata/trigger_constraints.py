"""Free text with triggers: tags, and text in which they may appear.

    call = tk.tag("<call>", tk.json_schema(schema), "</call>")
    tk.triggered([call]).parse('It is <call>{"a": 1}</call>, I think.')
    # ["It is ", Tag("<call>", {"a": 1}, "</call>"), ", I think."]

A *tag* is a constraint between a beginning and an end.  A *trigger* begins some tags: once the free text has
it, one of these tags must follow.  :mod:`tokamata.patterns.free_text` defines which free text there may be.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

import tokamata._core as _core
from tokamata.arguments import (
    checked_flag,
    checked_instance,
    checked_list,
    checked_text,
    checked_whole,
    clipped,
)
from tokamata.constraint import Constraint
from tokamata.errors import ArgumentError, shown_argument
from tokamata.extension_constraints import TokenConstraint
from tokamata.patterns.free_text import free_text, heads_before, phrase_within
from tokamata.text_constraints import choice, literal
from tokamata.values.forms import Concatenated, Converted, Plain

__all__ = [
    "Border",
    "Tag",
    "TagConstraint",
    "any_text",
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
        begin: the text that begins it; ``""`` for a control token.
        content: the value between.
        end: the text that ends it; ``""`` for a control token.
    """

    begin: str
    content: Any
    end: str


class Border(NamedTuple):
    """What follows free text.

    Attributes:
        phrases: appear nowhere before.
        heads: do not end the free text (:func:`.heads_before`).
    """

    phrases: tuple[str, ...] = ()
    heads: tuple[str, ...] = ()


NOTHING = Border()


class TagConstraint(Constraint[Tag]):
    """Texts between a beginning and an end; made by :func:`tag`.

    Attributes:
        begin: the text that all of them begin with; ``None`` if they begin with a control token.
    """

    __slots__ = ("begin",)

    def __init__(
        self, begin: str | Constraint[Any], whole: Constraint[Any], convert: Callable[[Any], Tag], name: str
    ) -> None:
        """``whole``: its texts; ``convert`` makes a tag of their values."""
        form = Converted(whole._form, convert)
        super().__init__(whole._expression, name, made_by="in order", operands=whole._operands, form=form)
        self.begin = begin if isinstance(begin, str) else None


def text_without(phrases: Iterable[str], *, most_characters: int | None = None) -> Constraint[str]:
    """Any text in which none of the phrases appears.

    Args:
        phrases: texts of at least one character.
        most_characters: how many code points a text may have; ``None`` means no bound.

    Raises:
        ArgumentError: a phrase is not a text, is empty, or contains a surrogate; the bound is below 0.
    """
    checked = _checked_phrases("phrases", phrases)
    if most_characters is not None:
        most_characters = checked_whole("most_characters", most_characters, 0, 1 << 31)
    shown = ", ".join(repr(phrase)[:40] for phrase in checked[:4]) + (", …" if len(checked) > 4 else "")
    made: Constraint[str] = Constraint(
        free_text(checked, (), most_characters), clipped(f"text_without([{shown}])"), form=Plain()
    )
    return made._made_by(text_without, checked, most_characters=most_characters)


def tag(
    begin: str | Constraint[Any],
    content: Constraint[Any] | None,
    end: str | Constraint[Any] | Sequence[str],
) -> TagConstraint:
    """A constraint between a beginning and an end; its value is a :class:`Tag`.

    Args:
        begin: a text, or a :func:`tokamata.control_token`.  A text is spelled: a control token of this name
            is another thing, which the text does not admit.
        content: what is between; ``None`` for any text up to where an end appears first.
        end: a text, several texts, or a :func:`tokamata.control_token`.

    Raises:
        ArgumentError: an argument has another type; ``content`` is ``None``, and an end is empty.
    """
    _check_edge("begin", begin)
    if not isinstance(end, (list, tuple)):
        _check_edge("end", end)
    name = clipped(f"tag({_shown(begin)}, {'None' if content is None else repr(content)}, {_shown(end)})")
    call = begin, content, list(end) if isinstance(end, (list, tuple)) else end
    first = literal(begin) if isinstance(begin, str) else begin
    if content is None and isinstance(end, Constraint):
        content = text_without([])
    if content is not None:
        checked_instance("content", content, Constraint, "a Constraint or None")
        whole = in_order([first, content.captured("content"), _ends(end)], name)
        return TagConstraint(begin, whole, lambda parts: Tag(*parts), name)._made_by(tag, *call)
    ends = _checked_phrases("end", [end] if isinstance(end, str) else end)
    heads = heads_before(ends, ends)
    rest = between([(Border(tuple(ends), heads[one]), one) for one in ends], any_text)
    made = TagConstraint(begin, in_order([first, rest], name), lambda parts: Tag(parts[0], *parts[1]), name)
    return made._made_by(tag, *call)


def triggered(
    tags: Iterable[TagConstraint],
    *,
    triggers: Iterable[str] | None = None,
    at_least_one: bool = False,
    stop_after_first: bool = False,
    excludes: Iterable[str] = (),
) -> Constraint[list[Any]]:
    """Free text in which tags may appear.

    The value is a list: pieces of free text, and the values of tags, in order; empty pieces are left out.

    No trigger appears in the free text, also not across its border to a tag.  Where two triggers end at one
    position, the longer one counts.

    Args:
        tags: made by :func:`tag`.  One that begins with a control token is its own trigger.
        triggers: texts with which tags begin.  By default, the beginnings of the tags.  A trigger with which
            no tag begins does not appear.
        at_least_one: the text begins with a tag, and free text follows.
        stop_after_first: nothing follows the first tag.
        excludes: phrases that do not appear in the free text.

    Raises:
        ArgumentError: an argument has another type; a tag begins with no trigger, or with several; a trigger
            contains another one before its end, or an excluded phrase, so that it could never appear.
    """
    known = checked_list("tags", tags, "a list of tags")
    for one in known:
        checked_instance("a tag", one, TagConstraint, "a tag, as tag(begin, content, end) makes it")
    starts = [one.begin for one in known if one.begin is not None]
    given = list(dict.fromkeys(starts if triggers is None else _checked_phrases("triggers", triggers)))
    if "" in given:
        raise ArgumentError("a tag", "one that begins with an empty text", "a tag with a beginning")
    checked_flag("at_least_one", at_least_one)
    checked_flag("stop_after_first", stop_after_first)
    wanted = set(given)
    branches = [(_trigger_of(one, wanted), one) for one in known]
    excluded = _checked_phrases("excludes", excludes)
    made = dispatched(
        branches,
        given,
        excluded,
        at_least_one=at_least_one,
        stop_after_first=stop_after_first,
        name=clipped(f"triggered of {len(known)} tags"),
    )
    return made._made_by(
        triggered,
        known,
        triggers=None if triggers is None else given,
        at_least_one=at_least_one,
        stop_after_first=stop_after_first,
        excludes=excluded,
    )


def dispatched(
    branches: Sequence[tuple[str | None, Constraint[Any]]],
    triggers: Sequence[str],
    excludes: Sequence[str],
    *,
    at_least_one: bool,
    stop_after_first: bool,
    name: str,
    after: Border = NOTHING,
    free: Constraint[str] | None = None,
) -> Constraint[list[Any]]:
    """Free text in which some branches may appear.

    Args:
        branches: each with the trigger that all its texts begin with; ``None`` if that is a control token.
        triggers: all of them.
        excludes: phrases that do not appear in the free text.
        at_least_one, stop_after_first, name: as for :func:`triggered`.
        after: what follows the whole.
        free: replaces the free text, for branches without triggers.
    """
    never = (*excludes, *after.phrases)
    phrases = tuple(dict.fromkeys((*triggers, *never)))
    wanted, unwanted = set(triggers), set(never)
    for one in triggers:
        if found := phrase_within(one, wanted, unwanted):
            raise ArgumentError(
                "triggers", f"{one!r:.80}, which contains {found!r:.80}", "triggers that can appear"
            )
    heads = heads_before(triggers, phrases)
    groups: dict[tuple[str, ...], list[Constraint[Any]]] = {}
    for trigger, branch in branches:
        groups.setdefault(() if trigger is None else heads[trigger], []).append(branch)

    def text(before: tuple[str, ...]) -> Constraint[str]:
        if free is not None:
            return free
        return Constraint(free_text(phrases, before), "free text", form=Plain())

    last = text(after.heads)
    if not branches:
        return _listed([last], name, lambda parts: [*parts] if parts[0] else [])
    steps = [
        in_order([text(before).captured("text"), choice(some).captured("tag")], "free text, then a tag")
        for before, some in groups.items()
    ]
    step, first = choice(steps), choice([branch for _, branch in branches])
    if stop_after_first:
        if at_least_one:
            return _listed([first], name, list)
        return _listed([choice([step, last])], name, lambda parts: _flat([parts[0]]))
    rest = [step.repeat().captured("tags"), last]
    if at_least_one:
        return _listed([first, *rest], name, lambda parts: [parts[0], *_flat([*parts[1], parts[2]])])
    return _listed(rest, name, lambda parts: _flat([*parts[0], parts[1]]))


def in_order(parts: Sequence[Constraint[_T]], name: str) -> Constraint[Any]:
    """The parts one after another, as ``+`` has them, but never flat: a part that is a sequence stays one."""
    expression = _core.concat([_core.scope(part._expression) for part in parts])
    form = Concatenated([part._option for part in parts])
    return Constraint(expression, name, made_by="in order", operands=tuple(parts), form=form)


def between(ends: Sequence[tuple[Border, str]], content: Any) -> Constraint[Any]:
    """Some content, then one of the ends; its value is a pair.

    Args:
        ends: each with the border that it makes.
        content: makes the content before a border.
    """
    groups: dict[Border, list[str]] = {}
    for border, end in ends:
        groups.setdefault(border, []).append(end)
    pairs = [
        in_order([content(border).captured("content"), choice(some).captured("end")], "content, then an end")
        for border, some in groups.items()
    ]
    return pairs[0] if len(pairs) == 1 else choice(pairs)


def any_text(after: Border) -> Constraint[str]:
    """Any text that may stand before a border."""
    return Constraint(free_text(after.phrases, after.heads), "any text", form=Plain())


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


def _ends(end: Any) -> Constraint[Any]:
    if isinstance(end, Constraint):
        return end
    if isinstance(end, str):
        return literal(end)
    ends = checked_list("end", end, "a text, a list of texts, or a constraint")
    for one in ends:
        checked_text(one, "end")
    return choice(ends)


def _trigger_of(one: TagConstraint, triggers: Container[str]) -> str | None:
    if one.begin is None:
        return None
    some = [one.begin[:end] for end in range(1, len(one.begin) + 1) if one.begin[:end] in triggers]
    if len(some) != 1:
        found = f"one that begins with {one.begin!r:.80}, which has {len(some)} of the triggers"
        raise ArgumentError("a tag", found, "a tag that begins with one trigger")
    return some[0]


def _checked_phrases(argument: str, phrases: Any) -> list[str]:
    hint = f"write [{phrases!r:.40}]" if isinstance(phrases, str) else ""
    checked = checked_list(argument, phrases, "a list of texts", hint)
    for phrase in checked:
        if not checked_text(phrase, argument):
            raise ArgumentError(argument, "one with an empty text", "texts of at least one character")
    return checked


def _shown(edge: Any) -> str:
    return repr(edge) if isinstance(edge, (str, Constraint)) else shown_argument(edge)
