"""The value of a text under a schema, with json_repair's conventions for what a text lacks.

The engine finds the nearest text that the schema accepts.  Around it, this module decides what the engine
cannot know: JSON within a string is read where the schema wants an object or an array; a value that was made
up becomes the one that the schema names; a required member that the text lacks is an error, or the default
that the schema names.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple, NoReturn

from tokamata.compat.actions import action, actions
from tokamata.compat.json_spans import Path, path_at, shown_path
from tokamata.compat.options import Answer, Options
from tokamata.compat.schema_values import (
    disallowed,
    filled_in,
    missing,
    proposed,
    schema_at,
    strings_for_containers,
)
from tokamata.compat.searches import (
    DROPPED,
    FORBIDDEN,
    PLAIN_COSTS,
    SALVAGE_VALUE_COSTS,
    SCHEMA_COSTS,
    VALUE_COSTS,
    accepts,
    bytes_of,
    constraint_of,
    found_repair,
    json_grammar,
    made_up_in,
    parsed_json,
    value_of,
)
from tokamata.constraints.json_constraints import JsonConstraint
from tokamata.errors import ArgumentError, LimitExceeded
from tokamata.repair.results import Repair
from tokamata.values.forms import Reading

__all__ = ["answer_under_schema"]

_SECONDS_FOR_VALUES = 0.25  # of a search; and as much again for so many bytes:
_BYTES_FOR_SECONDS = 20_000
_NONE: Any = object()


class _Work(NamedTuple):
    """A call: the constraint of its schema, its options, and what it has done."""

    constraint: JsonConstraint[Any]
    options: Options
    log: list[dict[str, str]]


def answer_under_schema(text: str | bytes, parsed: tuple[Any] | None, options: Options) -> Answer:
    """The value of a text under a schema.

    The value of JSON is fitted to the schema.  So is that of broken JSON, as the cheapest repair has it.
    Where that fails, the schema takes part in the search: it may show what the text means.
    """
    work = _Work(constraint_of(options.schema, options), options, [])
    if parsed is not None:
        # The last of names that stand twice counts, as for json.loads.
        if not options.skips_json_loads and accepts(work.constraint, parsed[0], options):
            return Answer(parsed[0], [])
        return _with_defaults(_fitted(parsed[0], work), work)
    broken = bytes_of(text)
    plain = found_repair(json_grammar(options, start="any"), broken, options, PLAIN_COSTS)
    refused: ArgumentError | None = None
    if not made_up_in(plain):
        work.log.extend(actions(broken, plain.edits))
        try:
            return _with_defaults(_fitted(value_of(plain.text), work), work)
        except ArgumentError as error:
            refused = error
            work.log.clear()
    try:
        found = found_repair(work.constraint, broken, options, SCHEMA_COSTS)
    except LimitExceeded:
        if refused is not None:
            raise refused from None
        raise
    work.log.extend(actions(broken, found.edits))
    return _with_defaults(_completed(found, work), work)


def _fitted(value: Any, work: _Work) -> Any:
    """A value that the schema accepts, by edits of whole values; changes the value that it was given.

    Raises:
        ArgumentError: there is none without new content.
    """
    value = _unwrapped(value, work)
    for *outer, last in disallowed(work.options.schema, value):
        del _at(value, outer)[last]
        work.log.append(action(f"dropped {shown_path((*outer, last))}, which the schema forbids"))
    value = _with_required(value, work)
    costs = SALVAGE_VALUE_COSTS if work.options.is_salvage else VALUE_COSTS
    while True:
        text = json.dumps(value).encode()
        watch = work.options.watch
        limits, cancel = watch.within(watch.limits)
        refused_at = work.constraint._refused_at(
            "read", text, Reading(work.constraint.pattern, limits, cancel)
        )
        if refused_at is None:
            return value
        found = work.constraint.repair(
            text, costs=costs, deadline_seconds=_seconds_for(text), limits=limits, cancel=cancel
        )
        if found.cost < FORBIDDEN:
            work.log.extend(actions(text, found.edits))
            if not work.options.is_salvage:
                _refuse_dropped(text, found)
            return _completed(found, work)
        path = path_at(text, refused_at)
        element = max((place for place, step in enumerate(path) if isinstance(step, int)), default=-1)
        if element < 0 or not work.options.is_salvage:
            for lacking in missing(work.options.schema, value, knows_typos=False):
                _refuse_missing(lacking, work.options.is_salvage)
            _refuse_value(path, json.dumps(_at(value, path)))
        *outer, last = path[: element + 1]
        del _at(value, outer)[last]
        work.log.append(action(f"dropped {shown_path(path[: element + 1])}, which does not fit the schema"))


def _seconds_for(text: bytes) -> float:
    return _SECONDS_FOR_VALUES * (1 + len(text) / _BYTES_FOR_SECONDS)


def _completed(found: Repair[Any], work: _Work) -> Any:
    """The value of a repair, with what the schema proposes for what was made up."""
    value = value_of(found.text)
    is_salvage = work.options.is_salvage
    for one in made_up_in(found):
        work.options.watch.check()
        if one.lost:
            _refuse_value(one.path, one.lost.decode("utf-8", "replace"))
        is_missing = not one.has_name and not (one.path and isinstance(one.path[-1], int))
        if is_missing and not (one.path and is_salvage):
            _refuse_missing(one.path, is_salvage)
        if not _proposal_taken(value, one.path, is_missing, work) and is_missing:
            _refuse_missing(one.path, is_salvage)
    return value


def _unwrapped(value: Any, work: _Work) -> Any:
    """A value in which JSON within a string is itself, where the schema wants an object or an array."""
    options = work.options
    for path in strings_for_containers(options.schema, value):
        inner = _at(value, path)
        parsed = parsed_json(inner)
        if parsed is None and options.is_salvage and inner.lstrip().startswith(("{", "[")):
            found = found_repair(json_grammar(options), bytes_of(inner), options, PLAIN_COSTS)
            parsed = (value_of(found.text),)
        if parsed is None or not isinstance(parsed[0], (dict, list)):
            continue
        work.log.append(action(f"read the JSON in the string at {shown_path(path)}"))
        if not path:
            return parsed[0]
        *outer, last = path
        _at(value, outer)[last] = parsed[0]
    return value


def _with_required(value: Any, work: _Work) -> Any:
    """A value with the required members that it lacks, where no name in it can be meant.

    The search would make them up as well.  To write a member where the text has none is dear, so that all
    cheaper edits would be searched before.
    """
    options = work.options
    for path in missing(options.schema, value, knows_typos=True):
        proposals = proposed(options.schema, schema_at(options.schema, path), is_safe=True)
        proposal = next(proposals, _NONE) if options.is_salvage else _NONE
        if proposal is _NONE:
            _refuse_missing(path, options.is_salvage)
        *outer, last = path
        _at(value, outer)[last] = proposal
        work.log.append(action(f"wrote {proposal!r:.60} as the value of {shown_path(path)}"))
    return value


def _proposal_taken(value: Any, path: Path, is_safe: bool, work: _Work) -> bool:
    """Whether the schema proposes another value for one that was made up, and accepts it there."""
    if not path:
        return False
    *outer, last = path
    options, container, repaired = work.options, _at(value, outer), _at(value, path)
    for container[last] in proposed(options.schema, schema_at(options.schema, path), is_safe=is_safe):
        if accepts(work.constraint, value, options):
            work.log.append(action(f"wrote {container[last]!r:.60} as the value of {shown_path(path)}"))
            return True
    container[last] = repaired
    return False


def _with_defaults(value: Any, work: _Work) -> Answer:
    """The answer, with the defaults of optional members that it lacks."""
    added = filled_in(work.options.schema, value, work.options.watch)
    if added and not accepts(work.constraint, value, work.options):
        for *outer, last in reversed(added):
            _at(value, outer).pop(last, None)
        added = []
    work.log.extend(action(f"filled in the default of {shown_path(path)}") for path in added)
    return Answer(value, work.log)


def _refuse_value(path: Path, value: str) -> NoReturn:
    hint = "use tokamata.json_schema(schema).repair(text), which replaces it and shows that in its edits"
    raise ArgumentError(
        "json_str", f"one with {value:.40} at {shown_path(path)}", "a text whose values fit the schema", hint
    )


def _refuse_dropped(text: bytes, found: Repair[Any]) -> None:
    for edit in found.edits:
        if edit.name == DROPPED:
            _refuse_value(path_at(text, edit.end - 1), edit.removed.strip(b" ,").decode())


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
