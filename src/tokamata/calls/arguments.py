"""Checks of the arguments of public functions, and short descriptions of them for messages.

A function checks its arguments before it works.  Calls made for every token (``mask``, ``advance``,
``fill_mask``) rely on the engine's conversion, which raises the same error.
"""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import keyword
import operator
import os
import re
import types
import typing
from collections.abc import Iterable, Mapping
from typing import Any

from tokamata.errors import ArgumentError, shown_argument

__all__ = [
    "advice_on_constraint",
    "checked_bounds",
    "checked_choice",
    "checked_flag",
    "checked_instance",
    "checked_list",
    "checked_name",
    "checked_number",
    "checked_text",
    "checked_threads",
    "checked_whole",
    "clipped",
    "no_attribute",
]

_LONGEST_DESCRIPTION = 400  # characters of a description of a constraint


def checked_instance(
    argument: str, value: Any, kind: type | tuple[type, ...], expected: str = "", hint: str = ""
) -> None:
    """Refuses a value that is not an instance of a class.

    Args:
        argument: the name of the argument.
        value: its value.
        kind: the class, or several.
        expected: how a message describes the class; by default, with its name.
        hint: what the caller should do.
    """
    if isinstance(value, kind):
        return
    names = [one.__name__ for one in (kind if isinstance(kind, tuple) else (kind,))]
    expected = expected or f"{'an' if names[0][0] in 'AEIOU' else 'a'} {names[0]}"
    if not hint and "Constraint" in names:
        hint = advice_on_constraint(value)
    raise ArgumentError(argument, shown_argument(value), expected, hint)


def advice_on_constraint(value: Any) -> str:
    """How to make a constraint of a value that is none, or ``""``."""
    if isinstance(value, str) and not isinstance(value, enum.Enum):
        if value.lstrip().startswith("{"):
            return "write tokamata.json_schema(…) for the text of a schema, tokamata.literal(…) for any text"
        return "write tokamata.literal(…) for a text, tokamata.regex(…) for a pattern"
    if isinstance(value, bytes):
        return "decode it, and write tokamata.literal(…) for a text"
    if isinstance(value, bool):
        return "write tokamata.type(bool) for a truth value, tokamata.json_schema(…) for a schema"
    if isinstance(value, (int, float)) and not isinstance(value, enum.Enum):
        return f"write tokamata.literal({str(value)!r}), or tokamata.type(Literal[…]) for values"
    if hasattr(value, "constraint") and hasattr(value, "matcher"):
        return "pass its .constraint, which is not compiled"
    if hasattr(value, "compiled") and hasattr(value, "advance"):
        return "pass its .compiled"
    if isinstance(value, type):
        return f"write tokamata.type({value.__name__})"
    if typing.get_origin(value) is not None:
        return "write tokamata.type(…) for a type"
    if isinstance(value, dict):
        return "write tokamata.json_schema(…) for a schema"
    if isinstance(value, enum.Enum):
        return f"write tokamata.type({type(value).__name__})"
    if isinstance(value, (list, tuple, set, frozenset)):
        if any(isinstance(one, (dict, types.FunctionType)) for one in value):
            return "write tokamata.tool_calls(…) for a list of tools"
        if any(isinstance(one, type) for one in value):
            return "write A | B for one of several types"
        return "write tokamata.choice(…) for one of some texts"
    if isinstance(value, re.Pattern):
        return "write tokamata.regex(…) with its .pattern and its .flags"
    if dataclasses.is_dataclass(value) or hasattr(type(value), "model_fields"):
        return f"write tokamata.type({type(value).__name__}), with the class and not an object of it"
    if isinstance(value, os.PathLike):
        return "write tokamata.grammar(path), or tokamata.json_schema(path.read_text())"
    if isinstance(value, (types.FunctionType, types.BuiltinFunctionType)):
        return "write tokamata.type(…) for the arguments of a function"
    return ""


def checked_choice(argument: str, value: Any, known: Iterable[str]) -> None:
    """Refuses a value that is not one of the known words."""
    if not (isinstance(value, str) and value in known):
        raise ArgumentError(argument, shown_argument(value), " or ".join(f'"{word}"' for word in known))


def checked_flag(argument: str, value: Any) -> None:
    """Refuses a value that is not a ``bool``: ``"no"`` would be true."""
    checked_instance(argument, value, bool, "True or False")


def checked_whole(
    argument: str, value: Any, least: int | None = None, most: int | None = None, hint: str = ""
) -> int:
    """``value`` as an ``int`` of at least ``least`` and below ``most``; numpy's integers are accepted."""
    expected = "a whole number" if least is None else f"a whole number, at least {least}"
    try:
        number = operator.index(value)
    except TypeError:
        raise ArgumentError(argument, shown_argument(value), expected, hint) from None
    if most is not None and number >= most:
        raise ArgumentError(argument, shown_argument(number), f"{expected} and below {most:,}", hint)
    if least is not None and number < least:
        raise ArgumentError(argument, shown_argument(number), expected, hint)
    return number


def checked_number(argument: str, value: Any, least: float, most: float = float("inf")) -> float:
    """A number within bounds, as a ``float``; single numbers of numpy and torch are accepted."""
    number = value.item() if getattr(value, "shape", None) == () else value
    if not isinstance(number, bool) and isinstance(number, (int, float)) and least <= number <= most:
        with contextlib.suppress(OverflowError):  # an int above all floats
            return float(number)
    bounds = f"from {least} to {most}" if most < float("inf") else f"of at least {least}"
    raise ArgumentError(argument, shown_argument(value), f"a number {bounds}")


def checked_list(argument: str, value: Any, expected: str, hint: str = "") -> list[Any]:
    """The items of ``value``, which must be an iterable other than ``str`` and ``bytes``."""
    if not isinstance(value, (str, bytes)):
        try:
            items: Iterable[Any] = iter(value)
        except TypeError:
            pass  # refused below
        else:
            return list(items)
    raise ArgumentError(argument, shown_argument(value), expected, hint)


def checked_text(text: Any, argument: str = "text") -> bytes:
    """The UTF-8 of a text; refuses surrogates."""
    checked_instance(argument, text, str)
    try:
        return bytes(text.encode())
    except UnicodeEncodeError as error:
        raise ArgumentError(
            argument,
            f"one with the surrogate U+{ord(text[error.start]):04X} at position {error.start}",
            "valid text",
            "remove it",
        ) from None


def checked_threads(threads: Any) -> int:
    """The largest number of threads; for ``None``, one for each processor that this process may use."""
    if threads is None:
        affinity = getattr(os, "sched_getaffinity", None)
        threads = len(affinity(0)) if affinity else os.cpu_count() or 1
    return checked_whole("threads", threads, 1, 1 << 16)


def checked_name(argument: str, value: Any, taken: Iterable[str]) -> None:
    """Refuses a name that cannot be the field of a value, or that is taken."""
    checked_instance(argument, value, str)
    if not value.isidentifier() or keyword.iskeyword(value) or value.startswith("_"):
        raise ArgumentError(
            argument, shown_argument(value), "an identifier, not a keyword, that does not begin with _"
        )
    if value in taken:
        raise ArgumentError(argument, shown_argument(value), "a name that a tuple does not have already")


def checked_bounds(minimum: Any, maximum: Any) -> tuple[int, int | None]:
    """The bounds of a repetition, as whole numbers."""
    least = checked_whole("minimum", minimum, 0, 1 << 62)
    if maximum is None:
        return least, None
    return least, checked_whole("maximum", maximum, least, 1 << 62)


def no_attribute(owner: object, name: str, advice: Mapping[str, str]) -> AttributeError:
    """About an attribute that an object does not have; says what to write, where that is known."""
    message = f"{type(owner).__name__!r} object has no attribute {name!r}"
    hint = advice.get(name)
    return AttributeError(f"{message}; {hint}" if hint else message, name=name, obj=owner)


def clipped(text: str, longest: int = _LONGEST_DESCRIPTION) -> str:
    """A description of at most ``longest`` characters."""
    return text if len(text) <= longest else text[: longest - 1] + "…"
