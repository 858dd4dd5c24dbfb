"""The value of a text under a schema, with json_repair's conventions for what a text lacks.

The engine finds the nearest text that the schema accepts.  Around it, this module decides what the engine
cannot know: JSON within a string is read where the schema wants an object or an array; a value that was made
up becomes the one that the schema names; a required member that the text lacks is an error, or the default
that the schema names.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NoReturn

from tokamata.compat.actions import action, actions
from tokamata.compat.made_up import MadeUp, Path, shown_path
from tokamata.compat.options import Answer, Options
from tokamata.compat.schema_values import filled_in, missing, proposed, schema_at, strings_for_containers
from tokamata.compat.searches import (
    PLAIN_COSTS,
    SALVAGE_COSTS,
    SCHEMA_COSTS,
    accepts,
    bytes_of,
    constraint_of,
    found_repair,
    json_grammar,
    made_up_in,
    parsed_json,
    value_of,
)
from tokamata.errors import ArgumentError, LimitExceeded
from tokamata.json_constraints import JsonConstraint
from tokamata.limits import Watch

__all__ = ["answer_under_schema"]

Log = list[dict[str, str]]
_NONE: Any = object()


def answer_under_schema(text: str | bytes, parsed: tuple[Any] | None, options: Options) -> Answer:
    """The value of a text under a schema.

    The cheapest JSON text is also the cheapest that the schema accepts, if it accepts it.  Otherwise the
    search is made again with the schema.
    """
    watch = Watch(options.limits, options.cancel)
    constraint = constraint_of(options.schema, options)
    costs = SALVAGE_COSTS if options.is_salvage else SCHEMA_COSTS
    log: Log = []
    if parsed is None:
        broken = bytes_of(text)
        plain = found_repair(json_grammar(options, start="any"), broken, options, PLAIN_COSTS)
        log += actions(broken, plain.edits)
        if not made_up_in(plain):
            value = _unwrapped(value_of(plain.text), options, log)
            if accepts(constraint, value, options):
                return _with_defaults(constraint, value, options, watch, log)
        try:
            found = found_repair(constraint, broken, options, costs)
            log.clear()
        except LimitExceeded:
            parsed = (value_of(plain.text),)  # its members, at least, are known
    if parsed is not None:
        # The last of names that stand twice counts, as for json.loads.
        value = _with_required(_unwrapped(parsed[0], options, log), options, log)
        broken = json.dumps(value).encode()
        found = found_repair(constraint, broken, options, costs)
        if not found.edits and not log:
            return Answer(value, [])
    log += actions(broken, found.edits)
    value = value_of(found.text)
    for one in made_up_in(found):
        watch.check()
        if one.lost:
            _refuse_value(one)
        is_missing = not one.has_name and not (one.path and isinstance(one.path[-1], int))
        if is_missing and not (one.path and options.is_salvage):
            _refuse_missing(one.path, options.is_salvage)
        if not _proposal_taken(constraint, value, one.path, is_missing, options, log) and is_missing:
            _refuse_missing(one.path, options.is_salvage)
    return _with_defaults(constraint, value, options, watch, log)


def _unwrapped(value: Any, options: Options, log: Log) -> Any:
    """A value in which JSON within a string is itself, where the schema wants an object or an array."""
    for path in strings_for_containers(options.schema, value):
        inner = _at(value, path)
        parsed = parsed_json(inner)
        if parsed is None and options.is_salvage and inner.lstrip().startswith(("{", "[")):
            found = found_repair(json_grammar(options), bytes_of(inner), options, PLAIN_COSTS)
            parsed = (value_of(found.text),)
        if parsed is None or not isinstance(parsed[0], (dict, list)):
            continue
        log.append(action(f"read the JSON in the string at {shown_path(path)}"))
        if not path:
            return parsed[0]
        *outer, last = path
        _at(value, outer)[last] = parsed[0]
    return value


def _with_required(value: Any, options: Options, log: Log) -> Any:
    """A value with the required members that it lacks, where no name in it can be meant.

    The search would make them up as well.  To write a member where the text has none is dear, so that all
    cheaper edits would be searched before.
    """
    for path in missing(options.schema, value):
        proposals = proposed(options.schema, schema_at(options.schema, path), is_safe=True)
        proposal = next(proposals, _NONE) if options.is_salvage else _NONE
        if proposal is _NONE:
            _refuse_missing(path, options.is_salvage)
        *outer, last = path
        _at(value, outer)[last] = proposal
        log.append(action(f"wrote {proposal!r:.60} as the value of {shown_path(path)}"))
    return value


def _proposal_taken(
    constraint: JsonConstraint[Any], value: Any, path: Path, is_safe: bool, options: Options, log: Log
) -> bool:
    """Whether the schema proposes another value for one that was made up, and accepts it there."""
    if not path:
        return False
    *outer, last = path
    container, repaired = _at(value, outer), _at(value, path)
    for container[last] in proposed(options.schema, schema_at(options.schema, path), is_safe=is_safe):
        if accepts(constraint, value, options):
            log.append(action(f"wrote {container[last]!r:.60} as the value of {shown_path(path)}"))
            return True
    container[last] = repaired
    return False


def _with_defaults(
    constraint: JsonConstraint[Any], value: Any, options: Options, watch: Watch, log: Log
) -> Answer:
    added = filled_in(options.schema, value, watch)
    if added and not accepts(constraint, value, options):
        for *outer, last in reversed(added):
            _at(value, outer).pop(last, None)
        added = []
    log += [action(f"filled in the default of {shown_path(path)}") for path in added]
    return Answer(value, log)


def _refuse_value(one: MadeUp) -> NoReturn:
    lost = one.lost.decode("utf-8", "replace")[:40]
    hint = "use tokamata.json_schema(schema).repair(text), which replaces it and shows that in its edits"
    found = f"one with {lost!r} at {shown_path(one.path)}"
    raise ArgumentError("json_str", found, "a text whose values fit the schema", hint)


def _refuse_missing(path: Path, is_salvage: bool) -> NoReturn:
    hint = "use tokamata.json_schema(schema).repair(text), which makes it up and shows that in its edits"
    if path and not is_salvage:
        hint = f'pass schema_repair_mode="salvage" if the schema names a value, or {hint}'
    found = f"one without {shown_path(path)}" if path else "one without a value"
    raise ArgumentError("json_str", found, "a text with all required members", hint)


def _at(value: Any, path: Iterable[str | int]) -> Any:
    for step in path:
        value = value[step]
    return value
