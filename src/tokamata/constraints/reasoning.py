"""Think first: reasoning in free text, then a constraint.

    answer = tk.think_first(Painter)
    answer.parse('Born 1879.</think>{"name": "Klee", "born": 1879}').answer      # Painter("Klee", 1879)

The reasoning ends with the first end tag.  A budget leaves room for the constraint: the mask of a matcher
with a budget has the tokens after which the end tag and a complete answer still fit.  While the reasoning is
open, a typical answer has to fit, and not only the shortest one (:mod:`tokamata.matching.thoughts`,
:mod:`.typical_texts`).
"""

from __future__ import annotations

from typing import Any, TypeVar, overload

import tokamata._core as _core
from tokamata.calls.arguments import checked_instance, checked_text, checked_whole, clipped
from tokamata.calls.keywords import checked_call
from tokamata.constraints.constraint import Concatenation, Constraint
from tokamata.constraints.extension_constraints import TokenConstraint, named_text, spelled_text
from tokamata.constraints.given import Untyped, ValueT, constraint_of
from tokamata.constraints.text_constraints import regex
from tokamata.constraints.trigger_constraints import in_order
from tokamata.errors import ArgumentError
from tokamata.patterns.extensions import text_until
from tokamata.patterns.free_text import free_text, without_phrases
from tokamata.patterns.phrase_trie import PhraseTrie
from tokamata.resources.limits import Watch
from tokamata.values.denotation import Thought
from tokamata.values.forms import Framed, Plain
from tokamata.values.parts import Parts

__all__ = ["think_first"]

_T = TypeVar("_T")
_MOST_TOKENS = 1 << 31  # of a budget: the engine counts in 64 bits


class _Reasoned(Concatenation[str, _T]):
    """Reasoning, then an answer."""

    __slots__ = ("_thought",)

    def __init__(self, whole: Constraint[Any], thought: Thought) -> None:
        self._thought = thought
        form = Framed(whole._form, _as_pair)
        super().__init__(
            whole._expression, whole.pattern, made_by="in order", operands=whole._operands, form=form
        )


@overload
def think_first(
    answer: Constraint[ValueT] | type[ValueT],
    *,
    begin: str | Constraint[str] | None = None,
    end: str | Constraint[str] = "</think>",
    most_characters: int | None = None,
    most_tokens: int | None = None,
    answer_tokens: int | None = None,
) -> Concatenation[str, ValueT]: ...
@overload
def think_first(
    answer: Untyped,
    *,
    begin: str | Constraint[str] | None = None,
    end: str | Constraint[str] = "</think>",
    most_characters: int | None = None,
    most_tokens: int | None = None,
    answer_tokens: int | None = None,
) -> Concatenation[str, Any]: ...
@checked_call
def think_first(
    answer: Constraint[Any] | type | Untyped,
    *,
    begin: str | Constraint[str] | None = None,
    end: str | Constraint[str] = "</think>",
    most_characters: int | None = None,
    most_tokens: int | None = None,
    answer_tokens: int | None = None,
) -> Concatenation[str, Any]:
    """Reasoning until its end tag, then the answer.

    The value is a pair with the names ``reasoning``, a ``str`` without the tags, and ``answer``.  At most two
    line feeds between the end tag and the answer belong to neither.

    A tag may be text, or a control token.  Text such as ``"</think>"`` is spelled text, in one token or
    several; and where the vocabulary has control tokens whose names stand in it, each may stand for its name.
    Either ends the reasoning, and the reasoning contains neither.  :func:`tokamata.control_token` is the
    control token alone; spelled text of the same look is then part of the reasoning.

    Args:
        answer: what follows the reasoning: a constraint, or a type or a schema that means one.
        begin: the tag that the text begins with; ``None`` if the prompt has it already, as the templates of
            most models do.
        end: the tag that ends the reasoning.
        most_characters: how many code points the reasoning may have; ``None`` means no bound.
        most_tokens: how many tokens the reasoning may have, with its tags; ``None`` means no bound.  A token
            that ends it and begins the answer counts.  If the tags alone need more, they follow each other at
            once.  Like a budget, it is not a part of the pattern: it holds for matchers, where
            this constraint is compiled, alone or as a part of a concatenation, and not for
            :meth:`~tokamata.Constraint.accepts`.
        answer_tokens: how many tokens of a budget the reasoning leaves for the answer, at least.  If the
            budget does not have so many, the answer gets all but the tags.  ``None``: those of a typical
            answer, up to three quarters of the budget.  JSON is typical with all properties that its schema
            declares, strings of six words, numbers of four digits and arrays of three elements, within the
            bounds, examples and enumerations of the schema.  Of other answers, twice the shortest one is,
            and eight tokens more than it at least.

    Raises:
        ArgumentError: an argument has another type; a tag is empty; a bound is below 0, or one of tokens
            below 1.
    """
    then: Constraint[Any] = constraint_of("answer", answer)
    if most_characters is not None:
        most_characters = checked_whole("most_characters", most_characters, 0, 1 << 31)
    if most_tokens is not None:
        most_tokens = checked_whole("most_tokens", most_tokens, 1, _MOST_TOKENS)
    if answer_tokens is not None:
        answer_tokens = checked_whole("answer_tokens", answer_tokens, 1, _MOST_TOKENS)
    parts: list[Constraint[Any]] = [] if begin is None else [_tag("begin", begin)]
    closing = _tag("end", end)
    if isinstance(end, str):
        [(heads, _)] = PhraseTrie([end], Watch()).by_heads([end])
        thought = free_text(without_phrases([end]), heads, most_characters)
        ended = in_order([_reasoning(thought), closing], "reasoning")
        if most_characters is None:  # the same texts; the masks at the border take a tenth of the time
            first: Constraint[Any] = Constraint(text_until(end), "reasoning", form=ended._form)
            ended = first | in_order([_reasoning(thought), named_text(end)], "reasoning")
    else:
        ended = in_order(
            [_reasoning(free_text(without_phrases([]), (), most_characters)), closing], "reasoning"
        )
    parts.append(ended)
    spelled = end if isinstance(end, str) else ""
    bounds = Thought(tuple(parts), spelled, most_tokens, answer_tokens, then._typical_text())
    parts += [regex("\n{0,2}"), then.captured("answer")]
    made = _Reasoned[Any](in_order(parts, clipped(f"think_first({then!r})")), bounds)
    return made._made_by(
        think_first,
        then,
        begin=begin,
        end=end,
        most_characters=most_characters,
        most_tokens=most_tokens,
        answer_tokens=answer_tokens,
    )


def _reasoning(expression: _core.Expression) -> Constraint[str]:
    return Constraint[str](expression, "reasoning", form=Plain()).captured("reasoning")


def _as_pair(parts: Any) -> Parts[Any]:
    reasoning, answer = parts[-3][0], parts[-1]
    return Parts((reasoning, answer), {"reasoning": reasoning, "answer": answer})


def _tag(argument: str, tag: str | Constraint[Any]) -> Constraint[Any]:
    checked_instance(argument, tag, (str, TokenConstraint), "a str, or what control_token() returns")
    if not isinstance(tag, str):
        return tag
    if not checked_text(tag, argument):
        raise ArgumentError(argument, "an empty one", "a text of at least one character")
    return spelled_text(tag)
