"""``'…%s…' % value`` and ``'…{}…'.format(value)`` of known texts, with values that may depend on slots."""

from __future__ import annotations

import re
import string
from typing import Any

import jinja2
from jinja2.sandbox import SandboxedFormatter
from markupsafe import Markup

from tokamata.guard.templates.decisions import MOST_NUMBER, OverBudget, Run, Unfollowed
from tokamata.guard.templates.texts import Raises, Symbolic, Text, joined, symbols_in

__all__ = ["formatted", "formatted_by_percent"]


def formatted_by_percent(run: Run, text: str, values: Any) -> str | Text:
    """``text % values``.

    Raises:
        Raises: Python raises as well.
        Unfollowed: a slot is formatted otherwise than by ``%s``.
        OverBudget: the result would be too long.
    """
    is_unknown = any(True for _ in symbols_in(values, run))
    if not is_unknown:
        _bound(run, text, text.count("%"), values)
        if "*" in text:
            raise Unfollowed("a format with a width among its values")
        try:
            result: str = text % values
            return result
        except (TypeError, ValueError, LookupError, OverflowError) as error:
            raise Raises(error) from error
    if isinstance(text, Markup):
        raise Unfollowed("the formatting of a text that |safe has marked")
    given = list(values) if isinstance(values, tuple) else [values]
    parts: list[str | Text] = []
    for part in re.split("(%.?)", text, flags=re.DOTALL):
        if part == "%s":
            if not given:
                raise Raises(TypeError("not enough arguments for format string"))
            parts.append(_plain(given.pop(0)))
        elif part == "%%":
            parts.append("%")
        elif part.startswith("%"):
            raise Unfollowed(f"the format {part} with a slot among its values")
        else:
            parts.append(part)
    if given:
        raise Raises(TypeError("not all arguments converted during string formatting"))
    return joined(run, parts)


def formatted(
    run: Run, environment: Any, text: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> str | Text:
    """``text.format(*args, **kwargs)``; raises as :func:`formatted_by_percent` does."""
    values = [*args, *kwargs.values()]
    is_unknown = any(True for value in values for _ in symbols_in(value, run))
    try:
        fields = list(string.Formatter().parse(text))
    except ValueError as error:
        raise Raises(error) from error
    if any(spec and "{" in spec for _, _, spec, _ in fields):
        raise Unfollowed("a format with a width among its values")
    if any(
        name is not None and not name.isidentifier() and not name.isdecimal() and name
        for _, name, *_ in fields
    ):
        raise Unfollowed("a format that reads a member of a value")
    if not is_unknown:
        _bound(run, text, len(fields), values)
        try:
            return SandboxedFormatter(environment).vformat(text, args, kwargs)
        except jinja2.TemplateError:
            raise
        except (TypeError, ValueError, LookupError, AttributeError, OverflowError) as error:
            raise Raises(error) from error
    parts: list[str | Text] = []
    following = 0
    for literal, name, spec, conversion in fields:
        parts.append(literal)
        if name is None:
            continue
        if (
            spec
            or conversion not in (None, "s")
            or not (name == "" or name.isidentifier() or name.isdecimal())
        ):
            raise Unfollowed(f"the format {{{name}}} with a slot among its values")
        try:
            if name == "":
                value, following = args[following], following + 1
            else:
                value = args[int(name)] if name.isdecimal() else kwargs[name]
        except LookupError as error:
            raise Raises(error) from error
        parts.append(_plain(value))
    return joined(run, parts)


def _plain(value: Any) -> str | Text:
    if isinstance(value, Text) or (isinstance(value, str) and not isinstance(value, Markup)):
        return value
    if type(value) in (int, float, bool, type(None)):
        return str(value)
    noun = value.NOUN if isinstance(value, Symbolic) else f"a {type(value).__name__}"
    raise Unfollowed(f"the formatting of {noun}")


def _bound(run: Run, text: str, count: int, values: Any) -> None:
    if any(len(number) > 6 or int(number) > MOST_NUMBER for number in re.findall(r"\d+", text)):
        raise OverBudget(f"it formats by a number beyond {MOST_NUMBER:,}")
    pending, size = [values], 0
    while pending:
        one = pending.pop()
        run.tick()
        if isinstance(one, (list, tuple)):
            pending.extend(one)
        elif isinstance(one, dict):
            pending.extend(one.values())
        elif isinstance(one, str):
            size += len(one)
        elif not (one is None or isinstance(one, (int, float, range, jinja2.Undefined))):
            raise Unfollowed(f"the formatting of a {type(one).__name__}")  # an address in memory
    run.admit(len(text) + count * size)
