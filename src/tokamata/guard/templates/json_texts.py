"""``tojson`` for values with slots: what ``json.dumps`` writes, with slots for what is not known.

{"name": Text, "arguments": JsonObject}
{"name": "⟨name | json text⟩", "arguments": ⟨arguments | json value⟩}
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tokamata.guard.templates.decisions import Run
from tokamata.guard.templates.steps import Step
from tokamata.guard.templates.texts import JsonObject, Raises, Symbolic, Text, joined

__all__ = ["json_text"]


def json_text(run: Run, value: Any, options: dict[str, Any]) -> str | Text:
    """A value in JSON, as ``json.dumps(value, **options)`` writes it.

    Raises:
        Raises: ``json.dumps`` raises as well.
        Unfollowed: a value that depends on a slot and has no JSON text here.
    """
    return joined(run, _parts(run, value, options, 0))


def _parts(run: Run, value: Any, options: dict[str, Any], depth: int) -> Iterator[str | Text]:
    run.tick()
    if isinstance(value, Text):
        step = Step("json text", (options["ensure_ascii"],))
        yield from ('"', value.each(step), '"')
    elif isinstance(value, JsonObject):
        yield value.written(Step("json value", (depth,), tuple(sorted(options.items()))))
    elif isinstance(value, Symbolic):
        str(value)  # names what is not followed
    elif isinstance(value, dict):
        members = sorted(value.items()) if options["sort_keys"] else list(value.items())
        yield from _nested(run, "{}", members, options, depth)
    elif isinstance(value, (list, tuple)):
        yield from _nested(run, "[]", list(value), options, depth)
    else:
        try:
            yield json.dumps(value, **options)
        except (TypeError, ValueError) as error:
            raise Raises(error) from error


def _nested(
    run: Run, brackets: str, items: list[Any], options: dict[str, Any], depth: int
) -> Iterator[str | Text]:
    indent, separators = options["indent"], options["separators"]
    if not items:
        yield brackets
        return
    unit = indent if indent is None or isinstance(indent, str) else " " * indent
    comma, colon = separators or ((", ", ": ") if indent is None else (",", ": "))
    line = "" if unit is None else "\n" + unit * (depth + 1)
    yield brackets[0] + line
    for position, item in enumerate(items):
        if position:
            yield comma + line
        if brackets == "{}":
            key, item = item
            yield _key(key, options) + colon
        yield from _parts(run, item, options, depth + 1)
    yield ("" if unit is None else "\n" + unit * depth) + brackets[1]


def _key(key: Any, options: dict[str, Any]) -> str:
    try:
        text = json.dumps({key: 0}, ensure_ascii=options["ensure_ascii"])
    except (TypeError, ValueError) as error:
        raise Raises(error) from error
    return text[1 : text.rindex(":")]
