"""The extensions of paper 002 as functions that make constraints.

:mod:`tokamata.patterns.extensions` defines each of them, and how it is written as a group of a regular
expression.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import tokamata._core as _core
from tokamata.calls.arguments import checked_list, checked_text, checked_whole, clipped
from tokamata.calls.equal_calls import read_once
from tokamata.calls.keywords import checked_call
from tokamata.constraints.constraint import Constraint
from tokamata.constraints.given import ValueT, constraint_of
from tokamata.errors import ArgumentError
from tokamata.patterns import extensions as expressions
from tokamata.resources.limits import CancelToken, Limits, checked_cancel, checked_limits
from tokamata.values.denotation import subsequence
from tokamata.values.forms import Form, Option, Plain, Spelled

__all__ = [
    "control_token",
    "delimited_list",
    "delimited_subsequence_of",
    "image",
    "paragraph_token",
    "quoted_text",
    "substring_of",
    "text_token",
    "text_until",
    "unquoted_text",
]

_T = TypeVar("_T")


class TokenConstraint(Constraint[str]):
    """A constraint on single tokens, which is made a second time when it is compiled, and to read texts.

    Args:
        make: makes its expression.
        name: describes it.
        form: how its texts are read; as they are by default.
        is_spelled: control tokens may stand in its texts for their names.
    """

    __slots__ = ("_make",)

    def __init__(
        self,
        make: Callable[..., _core.Expression],
        name: str,
        form: Form | None = None,
        *,
        is_spelled: bool = False,
    ) -> None:
        super().__init__(make(), name, form=form or Plain(), is_spelled=is_spelled)
        self._make = make

    def _with_tokens(self, tokens: expressions.Tokens) -> Option | None:
        if not (self._is_spelled or tokens.are_marks):
            return self._option
        return Option(self._make(tokens=tokens), self._form)


def quoted_text() -> Constraint[str]:
    """A string in double quotes on one line; a backslash escapes any character except a line break."""
    return _plain(expressions.quoted_text(), "quoted_text()")._made_by(quoted_text)


def unquoted_text() -> Constraint[str]:
    """A plain scalar of YAML's block style: no quotes needed, on one line, no spaces at either end."""
    return _plain(expressions.unquoted_text(), "unquoted_text()")._made_by(unquoted_text)


@checked_call
def control_token(token: str | int) -> Constraint[str]:
    """A control token itself, never text that looks like it.

    Args:
        token: its name, or its id.  Compiling checks that the vocabulary has it.

    Raises:
        ArgumentError: it is neither a name nor an id; the name contains a surrogate, or the id is below 0 or
            at least 2^31.
    """
    if isinstance(token, str):
        checked_text(token, "token")
        name = clipped(f"control_token({token!r})")
        made = TokenConstraint(partial(expressions.control_token, token), name)
        return made._made_by(control_token, token)
    key = int(checked_whole("token", token, 0, 1 << 31, "give the name or the id of a control token"))
    made = TokenConstraint(partial(expressions.control_token, key), f"control_token({key})")
    return made._made_by(control_token, key)


def spelled_text(*texts: str) -> Constraint[str]:
    """One of some texts, in which a control token of the vocabulary may stand for its name.

    Its value is the text, whichever way it was written.
    """
    name = f"literal({texts[0]!r})" if len(texts) == 1 else f"choice of {len(texts):,} ({texts[0]!r}, …)"
    make = partial(expressions.spelled_text, texts)
    return TokenConstraint(make, clipped(name), Spelled(), is_spelled=True)


def named_text(text: str) -> Constraint[str]:
    """A text in which one or more control tokens of the vocabulary stand for their names."""
    make = partial(expressions.named_text, text)
    return TokenConstraint(make, clipped(f"named_text({text!r})"), Spelled(), is_spelled=True)


def image() -> Constraint[str]:
    """An image: the control token that begins one, those that make it up, and the one that ends it.

    Compiling finds these tokens by name, for the vocabularies of known families.  For others, use
    :func:`control_token`.
    """
    return _plain(expressions.image(), "image()")._made_by(image)


def text_token() -> Constraint[str]:
    """One text token, whatever its bytes; together with the texts around it, it must be valid UTF-8."""
    return _plain(expressions.text_token(), "text_token()")._made_by(text_token)


def paragraph_token() -> Constraint[str]:
    """One text token without a line feed or a carriage return."""
    return _plain(expressions.paragraph_token(), "paragraph_token()")._made_by(paragraph_token)


@checked_call
def text_until(phrase: str) -> Constraint[str]:
    """Text that ends with ``phrase``, which appears nowhere in it before.

    Raises:
        ArgumentError: the phrase is not a ``str``, is empty, or contains a surrogate.
    """
    if not checked_text(phrase, "phrase"):
        raise ArgumentError("phrase", "an empty one", "a text of at least one character")
    return _plain(expressions.text_until(phrase), f"text_until({phrase!r})")._made_by(text_until, phrase)


@checked_call
@read_once
def substring_of(
    text: str, *, limits: Limits | None = None, cancel: CancelToken | None = None
) -> Constraint[str]:
    """Any substring of ``text``, including the empty one.

    Cost: linear.  A text of a million bytes takes a second or two, and about 100 MB during construction.

    Args:
        text: the text.
        limits: ``memory_bytes`` and ``seconds`` bound the construction; ``Limits()`` by default.
        cancel: stops the work, from another thread.

    Raises:
        ArgumentError: the text is not a ``str``, contains a surrogate, or has more than 2^28 bytes.
        LimitExceeded, Cancelled: it is too long for the limits, or the work was stopped.
    """
    if (size := len(checked_text(text))) > 1 << 28:
        raise ArgumentError("text", f"one of {size:,} bytes", "of 2^28 bytes at most")
    expression = expressions.substring_of(text, checked_limits(limits), checked_cancel(cancel))
    return _plain(expression, f"substring_of({text[:400]!r})")._made_by(substring_of, text, limits=limits)


@checked_call
def delimited_list(
    item: Constraint[ValueT] | type[ValueT] | dict[str, Any],
    delimiter: Constraint[Any],
    minimum: int = 1,
    maximum: int | None = None,
) -> Constraint[list[ValueT]]:
    """``minimum`` to ``maximum`` texts of ``item`` with one of ``delimiter`` between each two; a list.

    Raises:
        ArgumentError: item or delimiter is no constraint, nor a type or a schema that means one; or the
            bounds are not whole numbers with ``0 <= minimum <= maximum``.
    """
    items: Constraint[ValueT] = constraint_of("item", item)
    return items.separated_by(constraint_of("delimiter", delimiter), minimum, maximum)


@checked_call
def delimited_subsequence_of(
    items: Sequence[Constraint[ValueT] | type[ValueT] | dict[str, Any]], delimiter: Constraint[Any]
) -> Constraint[list[ValueT | None]]:
    """One or more of the items, in their order, each at most once, with a delimiter between each two.

    The value is a list with an entry for each item: its value, or ``None`` if it was left out.

    Raises:
        ArgumentError: an item or the delimiter is no constraint, nor a type or a schema that means one; there
            is no item, or more than ``expressions.MOST_ITEMS`` of them.
    """
    listed = checked_list("items", items, "a list of constraints")
    parts: list[Constraint[Any]] = [constraint_of("an item", item) for item in listed]
    delimiter = constraint_of("delimiter", delimiter)
    if not 1 <= len(parts) <= expressions.MOST_ITEMS:
        expected = f"a list of 1 to {expressions.MOST_ITEMS:,} constraints"
        raise ArgumentError("items", f"one of {len(parts):,}", expected)
    whole = subsequence([item._option for item in parts], delimiter._expression)
    made: Constraint[list[ValueT | None]] = Constraint(
        whole.expression,
        clipped(f"delimited_subsequence_of of {len(parts)} items"),
        made_by="subsequence",
        operands=(*parts, delimiter),
        form=whole.form,
    )
    return made._made_by(delimited_subsequence_of, parts, delimiter)


def _plain(expression: _core.Expression, name: str) -> Constraint[str]:
    """Texts whose value is the text."""
    return Constraint(expression, clipped(name), form=Plain())
