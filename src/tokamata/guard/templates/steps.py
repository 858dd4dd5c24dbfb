"""Steps: the functions that a template applies to the text of a slot, such as ``strip`` or ``split(…)[-1]``.

A step is data: a name, arguments and, for a function that returns a list, the index of the part that is
taken. :meth:`Step.apply` computes exactly what Python or jinja2 compute::

    Step("strip", (None,)).apply(" a\\n") == "a"
    Step("split", ("</think>", -1), part=-1).apply("hm</think>yes") == "yes"

Functions of JSON values (``json value``, ``str value``) begin a chain of steps; all others take a text.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["STRIPS", "Step"]

STRIPS = {"strip": (True, True), "lstrip": (True, False), "rstrip": (False, True)}


def _json_value(value: Any, depth: int, **options: Any) -> str:
    """A JSON value as ``json.dumps`` writes it within so many arrays and objects."""
    text = json.dumps(value, **options)
    indent = options.get("indent")
    if indent is None or not depth:
        return text
    unit = indent if isinstance(indent, str) else " " * indent
    return text.replace("\n", "\n" + unit * depth)  # a string of JSON has no raw line feed


def _html(text: str) -> str:
    from markupsafe import escape

    return str(escape(text))


def _jinja_title(text: str) -> str:
    from jinja2.filters import do_title

    return do_title(text)


def _jinja_indent(text: str, width: int | str, first: bool, blank: bool) -> str:
    from jinja2.filters import do_indent

    return do_indent(text, width, first, blank)


def _jinja_replace(text: str, old: str, new: str, count: int) -> str:
    return text.replace(old, new, count)


def _slice(text: str, start: int | None, stop: int | None, step: int | None) -> str:
    return text[start:stop:step]


# What is no method of str.
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "slice": _slice,
    "json text": lambda text, ensure_ascii: json.dumps(text, ensure_ascii=ensure_ascii)[1:-1],
    "json value": _json_value,
    "str value": str,
    "repr": repr,
    "html": _html,
    "jinja title": _jinja_title,
    "jinja indent": _jinja_indent,
}


@dataclass(frozen=True)
class Step:
    """A function that is applied to a text.

    Attributes:
        name: a method of ``str``, or ``"slice"`` (``text[start:stop:step]``), ``"json text"`` (``json.dumps``
            without the quotation marks), ``"repr"``, ``"json value"`` and ``"str value"`` (of a JSON value),
            ``"html"`` (``markupsafe.escape``), ``"jinja title"``, ``"jinja indent"``.
        arguments: its arguments; those of ``strip``, ``split`` and ``replace`` are complete.
        options: arguments by name, sorted.
        part: which item is taken if the function returns a list.
    """

    name: str
    arguments: tuple[Any, ...] = ()
    options: tuple[tuple[str, Any], ...] = ()
    part: int | None = None

    def apply(self, text: Any) -> str:
        """The text that the step makes of a text, or of a JSON value if it is the first step of one.

        Raises:
            IndexError: there is no such part; the conditions of a rendering exclude it.
        """
        function = _FUNCTIONS.get(self.name) or getattr(str, self.name)
        result = function(text, *self.arguments, **dict(self.options))
        return str(result if self.part is None else result[self.part])

    def __str__(self) -> str:
        options = [f"{name}={value!r}" for name, value in self.options]
        called = f"{self.name}({', '.join([*map(repr, self.arguments), *options])})"
        return called if self.part is None else f"{called}[{self.part}]"
