"""Values of texts that are not complete: :func:`partial_value`, and models for them: :func:`partial`.

Problem.  An application shows an answer while it is written.  ``{"name": "Paul Kl`` is no JSON, and no
instance of a model that requires more.
Example.  The value of that text is ``{"name": "Paul Kl"}``, and ``partial(Painter)`` makes an instance of it
whose other fields are ``None``.
How.  The tracker of :mod:`.json_events` knows which containers are open and what is in them.  A partial
model is one with the same fields, each of which may be missing.
Cost.  Linear in the text, and a copy of the open containers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from types import UnionType
from typing import Annotated, Any, ForwardRef, Literal, Union, get_args, get_origin
from uuid import UUID

from tokamata.errors import ArgumentError, MissingExtraError, shown_argument
from tokamata.values.json_events import JsonTracker

__all__ = ["PartialJson", "is_written_as_str", "lenient", "may_be", "options_of", "partial", "partial_value"]


def partial_value(text: str | bytes) -> Any:
    """The value of a JSON text that is not complete; ``None``: there is none yet.

        tk.partial_value('{"name": "Paul Kl')        # {"name": "Paul Kl"}

    What is open is taken as it is: strings as far as they go, numbers as far as they are numbers, literals
    by their first letter, objects and arrays with what is in them.  A member without a value is left out.

    Args:
        text: a beginning of a JSON text.  One that no JSON begins with has no particular value, or none.

    Raises:
        ArgumentError: it is neither a str nor bytes.
    """
    if not isinstance(text, (str, bytes, bytearray)):
        raise ArgumentError("text", shown_argument(text), "a str, or bytes")
    data = text.encode("utf-8", "replace") if isinstance(text, str) else bytes(text)
    try:
        return PartialJson().value(data, b"")
    except (ValueError, ArithmeticError):  # of a string or a number that is none
        return None


class PartialJson:
    """The value of a JSON text that grows; what was read is not read again."""

    def __init__(self) -> None:
        self._tracker = JsonTracker(0, None)
        self._read = 0

    def value(self, certain: bytes | bytearray, rest: bytes) -> Any:
        """The value of both together; ``certain`` begins with that of the last call."""
        if len(certain) > self._read:
            self._tracker.feed(certain, len(certain), [])
            self._read = len(certain)
        tracker, text = self._tracker, certain
        if rest:
            tracker, text = tracker.fork(), bytes(certain) + rest
            tracker.feed(text, len(text), [])
        return tracker.value_so_far(text)


def partial(model: type[Any]) -> type[Any]:
    """A pydantic model with the fields of another one, each of which may be missing; then it is ``None``.

        Partial = tk.partial(Painter)
        Partial.model_validate(stream.value)         # Painter's fields as far as they are there

    Models within it are partial too: in lists, dictionaries and unions; tuples and sets become lists.  Of
    several models, it is the one that no ``Literal`` of the value contradicts; as long as a ``Literal`` that
    says which one is missing, the value is ``None``.  The validators of a model do not hold for what is not
    complete, and are left out.  A value that its field does not take, or not yet, is ``None``, such as
    ``"expr"`` of ``Literal["expressionism"]``.  Two calls return one class.

    Args:
        model: a class of pydantic's ``BaseModel``.

    Raises:
        ArgumentError: it is no such class.
        MissingExtraError: pydantic is not installed.
    """
    try:
        from pydantic import BaseModel
    except ImportError as error:
        raise MissingExtraError("pydantic", "pydantic", "tokamata.partial(…)") from error
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        raise ArgumentError("model", shown_argument(model), "a class of pydantic's BaseModel")
    return _partial_model(model)


@lru_cache(maxsize=256)
def _partial_model(model: type[Any]) -> type[Any]:
    made: dict[type[Any], Any] = {}  # a name while the model is made: models may contain themselves
    _add(model, made)
    names = {one.__name__: one for one in made.values()}
    for one in made.values():
        one.model_rebuild(_types_namespace=names)
    partial_model: type[Any] = made[model]
    return partial_model


def _add(model: type[Any], made: dict[type[Any], Any]) -> Any:
    from pydantic import ConfigDict, Field, RootModel, create_model

    if model in made:
        return made[model]
    name = "Partial" + re.sub(r"\W", "_", model.__name__)  # Box[int] has brackets
    while name in map(_name_of, made.values()):
        name += "_"
    made[model] = ForwardRef(name)
    fields: dict[str, Any] = {}
    aliases = set()
    for field_name, field in model.model_fields.items():
        alias = field.validation_alias or field.alias
        given = Field(default=None, validation_alias=alias) if alias else Field(default=None)
        fields[field_name] = _partial_type(field.annotation, made), given
        aliases |= {alias} if isinstance(alias, str) and alias != field_name else set()
    if issubclass(model, RootModel):
        made[model] = create_model(name, __base__=RootModel, __module__=model.__module__, **fields)
        return made[model]
    # A name that is the alias of another field means that one.
    by_name = aliases.isdisjoint(fields)
    config = ConfigDict(populate_by_name=by_name, arbitrary_types_allowed=True)
    made[model] = create_model(name, __config__=config, __module__=model.__module__, **fields)
    return made[model]


def _name_of(made: Any) -> str:
    return made.__forward_arg__ if isinstance(made, ForwardRef) else made.__name__


def _partial_type(given: Any, made: dict[type[Any], Any]) -> Any:
    """The type of values that may not be complete: ``None`` stands for what is no such value, or not yet."""
    return lenient(_inner_type(given, made))


def _inner_type(given: Any, made: dict[type[Any], Any]) -> Any:
    from pydantic import BaseModel

    if isinstance(given, type) and issubclass(given, BaseModel):
        return _add(given, made)
    if isinstance(getattr(given, "type_ref", None), str):  # a generic model within itself, as pydantic has it
        return _add_within_itself(given.type_ref, made)
    origin, arguments = get_origin(given), get_args(given)
    if origin is Annotated:
        return _inner_type(arguments[0], made)
    if origin in (list, set, frozenset, Sequence) and arguments:
        return list[_partial_type(arguments[0], made)]  # type: ignore[misc]
    if origin is tuple and arguments:
        inner = tuple(_inner_type(one, made) for one in arguments if one is not ...)
        return list[lenient(Union[inner])]  # type: ignore[misc]  # noqa: UP007 - of a tuple of types
    if origin in (dict, Mapping) and arguments:
        return dict[arguments[0], _partial_type(arguments[1], made)]  # type: ignore[misc,valid-type]
    if origin in (Union, UnionType):
        union: Any = Union[tuple(_inner_type(one, made) for one in arguments)]  # noqa: UP007
        options = options_of(given)
        models = [one for one in options if isinstance(one, type) and issubclass(one, BaseModel)]
        if len(models) > 1:
            return _chosen(union, models, made)
        return _read_as_json(union) if not models and any(map(is_written_as_str, options)) else union
    return given


def is_written_as_str(given: Any) -> bool:
    """Whether values that are no ``str`` are strings in JSON, such as dates."""
    return given in (bytes, date, datetime, time, timedelta, Decimal, UUID)


def _read_as_json(union: Any) -> Any:
    """A union of which pydantic chooses by other rules in JSON: there, ``date | str`` takes dates first."""
    from pydantic import TypeAdapter, WrapValidator

    adapter = TypeAdapter(union)

    def read(value: Any, validate: Any) -> Any:
        return adapter.validate_json(json.dumps(value)) if isinstance(value, str) else validate(value)

    return Annotated[union, WrapValidator(read)]


def _add_within_itself(reference: str, made: dict[type[Any], Any]) -> Any:
    """The partial model of a reference to a generic model; any JSON where it is not clear which one it is.

    Args:
        reference: ``"module.Box:<id of Box>[module.Item:<id of Item>]"``.
    """
    known = [(one, one.__pydantic_generic_metadata__) for one in made]
    boxes = [(one, of) for one, of in known if f":{id(of['origin'])}[" in reference]
    exact = [one for one, of in boxes if all(f":{id(argument)}" in reference for argument in of["args"])]
    found = exact if len(boxes) > 1 else [one for one, _ in boxes]
    return made[found[0]] if len(found) == 1 else Any


def _chosen(union: Any, models: list[type[Any]], made: dict[type[Any], Any]) -> Any:
    """A union of models, of which the ``Literal`` fields choose one."""
    from pydantic import WrapValidator

    def chosen(value: Any, validate: Any) -> Any:
        if not isinstance(value, Mapping):
            return validate(value)
        fitting = [one for one in models if may_be(one, value)]
        if len(fitting) > 1 and any(_lacks_literal(one, value) for one in fitting):
            return None
        known = [sum(_member_name(one, name) in value for name in one.model_fields) for one in fitting]
        return made[fitting[known.index(max(known))]].model_validate(value) if fitting else None

    return Annotated[union, WrapValidator(chosen)]


def may_be(model: Any, members: Mapping[str, Any]) -> bool:
    """Whether an object may be that of a model: no ``Literal`` field contradicts its members."""
    for name, field in model.model_fields.items():
        member, literals = _member_name(model, name), _literals(field.annotation)
        if literals and member in members and members[member] not in literals:
            return False
    return True


def _lacks_literal(model: Any, members: Mapping[str, Any]) -> bool:
    """Whether a required ``Literal`` field is missing."""
    return any(
        field.is_required() and _literals(field.annotation) and _member_name(model, name) not in members
        for name, field in model.model_fields.items()
    )


def _member_name(model: Any, name: str) -> Any:
    """The name of a field in JSON; that of several names is an object of pydantic's."""
    field = model.model_fields[name]
    alias = field.validation_alias or field.alias or name
    return alias if isinstance(alias, str) else name


def _literals(given: Any) -> list[Any]:
    """The values of a ``Literal``, as JSON has them; none if it is another type."""
    options = options_of(given)
    if any(get_origin(one) is not Literal for one in options):
        return []
    values = [value for one in options for value in get_args(one)]
    return [value.value if isinstance(value, Enum) else value for value in values]


def options_of(given: Any) -> list[Any]:
    """The alternatives of a type, without annotations and ``None``."""
    while get_origin(given) is Annotated:
        given = get_args(given)[0]
    if get_origin(given) in (Union, UnionType):
        return [one for each in get_args(given) if each is not type(None) for one in options_of(each)]
    return [given]


def lenient(given: Any) -> Any:
    """The type, with ``None`` for what is no such value."""
    from pydantic import ValidationError, WrapValidator

    def validated(value: Any, validate: Any) -> Any:
        try:
            return validate(value)
        except (ValidationError, RecursionError):  # pydantic itself refuses what nests too deeply
            return None

    return Annotated[Union[given, None], WrapValidator(validated)]  # noqa: UP007 - of a ForwardRef too
