"""The extensions of paper 002 as functions that make constraints.

What each denotes, and how it is written as a group of a regular expression, stands in
:mod:`tokamata.patterns.extensions`.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence

from tokamata import _core
from tokamata.arguments import checked_text, clipped
from tokamata.constraint import Constraint
from tokamata.limits import CancelToken, Limits
from tokamata.patterns import extensions as expressions

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


def quoted_text() -> Constraint:
    """A string in double quotes on one line; a backslash escapes any one character but a line break."""
    return Constraint(expressions.quoted_text(), "quoted_text()")


def unquoted_text() -> Constraint:
    """A plain scalar as YAML has it in a block: no quotes needed, on one line, no spaces at either end."""
    return Constraint(expressions.unquoted_text(), "unquoted_text()")


def control_token(token: str | int) -> Constraint:
    """A control token itself, never text that looks like it.

    Args:
        token: its name, or its id.  Whether the vocabulary has it is seen when compiling.

    Raises:
        TypeError: it is neither a name nor an id.
        ValueError: the name holds a surrogate, or the id is below 0 or past 2^31.
    """
    if isinstance(token, str):
        checked_text(token)
        return Constraint(expressions.control_token(token), clipped(f"control_token({token!r})"))
    key = int(operator.index(token))  # True is 1
    if not 0 <= key < 1 << 31:
        raise ValueError("the id of a control token is a whole number from 0 to below 2^31")
    return Constraint(expressions.control_token(key), f"control_token({key})")


def image() -> Constraint:
    """An image: the control token that begins one, those that make it up, and the one that ends it.

    Which tokens these are is decided for each vocabulary; for one whose images are not known, say it
    with :func:`control_token`.
    """
    return Constraint(expressions.image(), "image()")


def text_token() -> Constraint:
    """One text token, whatever its bytes; what is around it must leave the whole valid UTF-8."""
    return Constraint(expressions.text_token(), "text_token()")


def paragraph_token() -> Constraint:
    """One text token without a line feed or a carriage return."""
    return Constraint(expressions.paragraph_token(), "paragraph_token()")


def text_until(phrase: str) -> Constraint:
    """Text that ends with ``phrase``, which appears nowhere in it before.

    Raises:
        ValueError: the phrase is empty, or holds a surrogate.
    """
    if not checked_text(phrase):
        raise ValueError("text_until needs a phrase of at least one character")
    return Constraint(expressions.text_until(phrase), clipped(f"text_until({phrase!r})"))


def substring_of(text: str, *, limits: Limits | None = None, cancel: CancelToken | None = None) -> Constraint:
    """Any substring of ``text``, the empty one too.

    Linear: a text of a million bytes takes a second or two, and some 100 MB while it is made.

    Args:
        text: the text.
        limits: ``memory_bytes`` and ``seconds`` bound what is made of it; ``Limits()`` by default.
        cancel: stops the work, from another thread.

    Raises:
        ValueError: the text holds a surrogate, or has more than 2^28 bytes.
        LimitExceeded, Cancelled: it is too long for the limits, or the work was stopped.
    """
    if len(checked_text(text)) > 1 << 28:
        raise ValueError(f"substring_of takes a text of 2^28 bytes at most, not of {len(text.encode()):,}")
    expression = expressions.substring_of(text, limits, cancel)
    return Constraint(expression, clipped(f"substring_of({text[:400]!r})"))


def delimited_list(
    item: Constraint, delimiter: Constraint, minimum: int = 1, maximum: int | None = None
) -> Constraint:
    """``minimum`` to ``maximum`` texts of ``item`` with one of ``delimiter`` between each two.

    Raises:
        TypeError: item or delimiter is no :class:`tokamata.Constraint`.
        ValueError: the bounds are not whole numbers with ``0 <= minimum <= maximum``.
    """
    _check_constraints("delimited_list", item, delimiter)
    return item.separated_by(delimiter, minimum, maximum)


def delimited_subsequence_of(items: Sequence[Constraint], delimiter: Constraint) -> Constraint:
    """One or more of the items, in their order, each at most once, with a delimiter between each two.

    Raises:
        TypeError: an item or the delimiter is no :class:`tokamata.Constraint`.
        ValueError: there is no item, or more than ``expressions.MOST_ITEMS`` of them.
    """
    _check_constraints("delimited_subsequence_of", *items, delimiter)
    if not 1 <= len(items) <= expressions.MOST_ITEMS:
        most = f"{expressions.MOST_ITEMS:,}"
        raise ValueError(f"delimited_subsequence_of takes 1 to {most} items, not {len(items):,}")
    expression = expressions.delimited_subsequence_of(
        [_core.scope(item._expression) for item in items], _core.scope(delimiter._expression)
    )
    return Constraint(expression, clipped(f"delimited_subsequence_of of {len(items)} items"))


def _check_constraints(function: str, *given: object) -> None:
    for value in given:
        if not isinstance(value, Constraint):
            advice = "; write tokamata.literal(…) for a text" if isinstance(value, str) else ""
            raise TypeError(f"{function} takes constraints, not {type(value).__name__}{advice}")
