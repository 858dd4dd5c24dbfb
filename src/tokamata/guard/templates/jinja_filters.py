"""Filters and tests of values that are not known, by name.

A filter that is in neither table is named as not followed, whatever it is applied to.
"""

from __future__ import annotations

import json
import operator
import types
from collections.abc import Callable
from typing import Any

import jinja2
import jinja2.filters
from markupsafe import Markup

from tokamata.guard.templates.decisions import MOST_ITEMS, MOST_LENGTH, Run, Unfollowed
from tokamata.guard.templates.jinja_formats import formatted_by_percent
from tokamata.guard.templates.json_texts import json_text
from tokamata.guard.templates.steps import Step
from tokamata.guard.templates.texts import (
    Count,
    JsonObject,
    Parts,
    Raises,
    Symbolic,
    Text,
    joined,
    step_on,
    symbols_in,
)

__all__ = ["FOLLOWED_FILTERS", "KNOWN_FILTERS", "followed_test", "weigh"]

# Filters of jinja2 that work as they are: on known values, or on containers whatever is in them.
KNOWN_FILTERS = {
    **dict.fromkeys(
        [
            *(
                "abs",
                "capitalize",
                "center",
                "e",
                "escape",
                "filesizeformat",
                "float",
                "forceescape",
                "indent",
            ),
            *("int", "lower", "replace", "round", "safe", "string", "title", "trim", "truncate", "upper"),
            "wordcount",
        ],
        "values",
    ),
    **dict.fromkeys(
        [
            *(
                "batch",
                "count",
                "dictsort",
                "first",
                "groupby",
                "items",
                "last",
                "length",
                "list",
                "map",
                "max",
            ),
            *(
                "min",
                "reject",
                "rejectattr",
                "reverse",
                "select",
                "selectattr",
                "slice",
                "sort",
                "sum",
                "unique",
            ),
        ],
        "containers",
    ),
}


def weigh(run: Run, value: Any) -> None:
    """Bounds a value as a tree: lists that contain a list twice double with each step."""
    if isinstance(value, str):
        run.admit(len(value))
    elif isinstance(value, int):
        run.admit(value.bit_length(), "a number", MOST_ITEMS)
    elif isinstance(value, (list, tuple, dict)):
        count, size, pending = 0, 0, [value]
        while pending:
            one = pending.pop()
            if isinstance(one, (list, tuple, dict)):
                count += len(one)
                if count > MOST_ITEMS:
                    break
                pending.extend(one)
                if isinstance(one, dict):
                    pending.extend(one.values())
            elif isinstance(one, str):
                size += len(one)
        run.admit(count, "a container", MOST_ITEMS)
        run.admit(size, "the texts of a container", MOST_LENGTH)
        run.tick(count // 10)


def _call(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    try:
        return function(*args, **kwargs)
    except TypeError as error:
        raise Raises(error) from error


def _refuse_unknown(run: Run, name: str, values: Any) -> None:
    for _ in symbols_in(values, run):
        raise Unfollowed(f"the filter {name} with an argument that depends on a slot")


def _tojson(run: Run, context: Any, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    def options(
        ensure_ascii: Any = False, indent: Any = None, separators: Any = None, sort_keys: Any = False
    ) -> dict[str, Any]:
        return {
            "ensure_ascii": ensure_ascii,
            "indent": indent,
            "separators": tuple(separators) if isinstance(separators, list) else separators,
            "sort_keys": sort_keys,
        }

    chosen = _call(options, args, kwargs)
    _refuse_unknown(run, "tojson", list(chosen.values()))
    indent = chosen["indent"]
    width = len(indent) if isinstance(indent, str) else indent if isinstance(indent, int) else 0
    run.admit(width, "an indentation", 1000)
    weigh(run, value)
    if any(True for _ in symbols_in(value, run)):
        # bool and text options alone: others, such as an undefined value, mean what json makes of them.
        if not all(option is None or type(option) in (bool, int, str, tuple) for option in chosen.values()):
            raise Unfollowed("the filter tojson with unusual options")
        return json_text(run, value, chosen)
    try:
        text = json.dumps(value, **chosen)
    except (TypeError, ValueError) as error:
        raise Raises(error) from error
    run.admit(len(text))
    return text


def _as_text(run: Run, context: Any, value: Any) -> Any:
    """The text of a container with slots, which filters of texts take in its place."""
    if isinstance(value, (list, tuple, dict)) and any(True for _ in symbols_in(value, run)):
        return context.environment.written(value)
    return value


def _trim(run: Run, context: Any, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    value = _as_text(run, context, value)
    if not isinstance(value, Text):
        return NotImplemented
    chars = _call(lambda chars=None: chars, args, kwargs)
    if isinstance(chars, Symbolic):
        raise Unfollowed("the filter trim with characters that depend on a slot")
    if not (chars is None or isinstance(chars, str)):
        raise Raises(TypeError("strip arg must be None or str"))
    return value.stripped(None if chars is None else str(chars), True, True)


def _of_text(follow: Callable[[Text], Any]) -> Any:
    def followed(run: Run, context: Any, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not isinstance(value, Text) or args or kwargs:
            return NotImplemented
        return follow(value)

    return followed


def _unmarked(text: Text) -> Text:
    if text.is_html:
        raise Unfollowed("a filter of a slot's text that |safe has marked")
    return text


def _string(run: Run, context: Any, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if isinstance(value, JsonObject) and not args and not kwargs:
        return value.written(Step("str value"))
    value = _as_text(run, context, value)
    return value if isinstance(value, Text) and not args and not kwargs else NotImplemented


def _replace(run: Run, context: Any, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    value = _as_text(run, context, value)
    if not isinstance(value, Text):
        return NotImplemented
    old, new, count = _call(lambda old, new, count=None: (old, new, count), args, kwargs)
    _refuse_unknown(run, "replace", [old, new, count])
    if not (isinstance(old, str) and isinstance(new, str) and (count is None or type(count) is int)):
        raise Unfollowed("the filter replace with arguments that are no texts")
    return Text(run, value.pieces).replaced(str(old), str(new), -1 if count is None else count)


def _length(run: Run, context: Any, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if isinstance(value, Text):
        return Count(run, value.longer_than)
    if isinstance(value, Parts):
        return value.count()
    if isinstance(value, types.GeneratorType):
        raise Raises(TypeError("object of type 'generator' has no len()"))
    return NotImplemented


def _end(index: int) -> Any:
    def followed(run: Run, context: Any, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if isinstance(value, Parts):
            part = value.item(index)
            return jinja2.Undefined("the sequence is empty") if part is None else part
        if isinstance(value, Text) and not value.is_html:
            if not value:
                return jinja2.Undefined("the sequence is empty")
            return step_on(value, Step("slice", (index, index + 1 or None, None)))
        return NotImplemented

    return followed


def _join(run: Run, context: Any, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    separator, attribute = _call(lambda d="", attribute=None: (d, attribute), args, kwargs)
    if isinstance(separator, Symbolic) or isinstance(attribute, Symbolic):
        raise Unfollowed("the filter join with an argument that depends on a slot")
    if isinstance(value, Parts) and attribute is None and isinstance(separator, str):
        if value.method == "split" and value.separator is not None:
            step = Step("replace", (value.separator, str(separator), value.most))
            return step_on(value.text, step)
        raise Unfollowed("the filter join of the words of a slot's text")
    if isinstance(value, Symbolic):
        raise Unfollowed(f"the filter join of {value.NOUN}")
    environment = context.environment
    if attribute is not None:
        value = map(jinja2.filters.make_attrgetter(environment, attribute), value)
    try:
        items = iter(value)
    except TypeError as error:
        raise Raises(error) from error
    separator = str(separator)
    parts: list[str | Text] = []
    for item in items:
        parts += [separator, environment.written(item)] if parts else [environment.written(item)]
        run.tick()
    return joined(run, parts)


def _default(run: Run, context: Any, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    default, boolean = _call(lambda default_value="", boolean=False: (default_value, boolean), args, kwargs)
    is_missing = isinstance(value, jinja2.Undefined) or (boolean and not value)
    return default if is_missing else value


def _format(run: Run, context: Any, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if not isinstance(value, str):
        return NotImplemented
    if args and kwargs:
        raise jinja2.exceptions.FilterArgumentError("can't handle positional and keyword arguments")
    return formatted_by_percent(run, value, kwargs or args)


def _indent(run: Run, context: Any, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if not isinstance(value, Text):
        return NotImplemented
    given = _call(lambda width=4, first=False, blank=False: (width, first, blank), args, kwargs)
    _refuse_unknown(run, "indent", list(given))
    width = given[0]
    if not (isinstance(width, str) or (type(width) is int and width <= 1000)):
        raise Unfollowed("the filter indent with an unusual width")
    return step_on(_unmarked(value), Step("jinja indent", (width, bool(given[1]), bool(given[2]))))


FOLLOWED_FILTERS: dict[str, Callable[..., Any]] = {
    "tojson": _tojson,
    "trim": _trim,
    "upper": _of_text(lambda text: _unmarked(text).each(Step("upper"))),
    "lower": _of_text(lambda text: step_on(_unmarked(text), Step("lower"))),
    "capitalize": _of_text(lambda text: step_on(_unmarked(text), Step("capitalize"))),
    "title": _of_text(lambda text: step_on(_unmarked(text), Step("jinja title"))),
    "safe": _of_text(lambda text: Text(text.run, text.pieces, True)),
    "e": _of_text(Text.escaped),
    "escape": _of_text(Text.escaped),
    "string": _string,
    "replace": _replace,
    "length": _length,
    "count": _length,
    "first": _end(0),
    "last": _end(-1),
    "join": _join,
    "d": _default,
    "default": _default,
    "format": _format,
    "indent": _indent,
}

_WITH_TEXTS = (str, int, float, type(None), range, jinja2.Undefined, Symbolic)


def refuse_objects(run: Run, values: Any) -> None:
    """Refuses values whose texts are addresses in memory, such as methods, within containers as well.

    Raises:
        Unfollowed: there is one.
    """
    pending = [values]
    while pending:
        run.tick()
        one = pending.pop()
        if isinstance(one, (list, tuple)):
            pending.extend(one)
        elif isinstance(one, dict):
            pending += [*one, *one.values()]
        elif not isinstance(one, _WITH_TEXTS):
            raise Unfollowed(f"the text of a {type(one).__name__}")


def _of_texts(followed: Callable[..., Any] | None) -> Callable[..., Any]:
    """A filter that makes a text of any value."""

    def applied(run: Run, context: Any, value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        refuse_objects(run, [value, *args, *kwargs.values()])
        return NotImplemented if followed is None else followed(run, context, value, args, kwargs)

    return applied


FOLLOWED_FILTERS.update(
    {
        name: _of_texts(FOLLOWED_FILTERS.get(name))
        for name in [*(name for name, kind in KNOWN_FILTERS.items() if kind == "values"), "format"]
    }
)

_TRUE_OF: dict[type, set[str]] = {
    Text: {"defined", "string", "iterable", "sequence"},
    JsonObject: {"defined", "mapping", "iterable", "sequence"},
    Parts: {"defined", "iterable", "sequence"},
    Count: {"defined", "integer", "number"},
}
_BY_TYPE = {
    *("defined", "undefined", "none", "boolean", "false", "true", "integer", "float", "string", "mapping"),
    *("number", "sequence", "iterable", "callable"),
}


def followed_test(name: str, function: Callable[..., Any], value: Symbolic, args: tuple[Any, ...]) -> bool:
    """Whether an unknown value passes a test."""
    if type(value) in _TRUE_OF and name in _BY_TYPE and not args:
        return name in _TRUE_OF[type(value)]
    if name == "escaped" and isinstance(value, Text):
        return value.is_html
    if name in ("defined", "undefined"):
        return name == "defined"
    if (
        function in (operator.eq, operator.ne, operator.gt, operator.ge, operator.lt, operator.le)
        and len(args) == 1
    ):
        return bool(function(value, args[0]))
    raise Unfollowed(f"the test {name} of {value.NOUN}")


# A text marked by |safe stays what it is for Python.
assert issubclass(Markup, str)
