"""From types to shapes.

Problem: annotations say what a value is in the many forms of ``typing``, by name, generically, and
recursively; :mod:`.shapes` knows few.

Example: ``dict[str, list[Annotated[int, Gt(0)]]]`` is a ``Mapping`` from ``String()`` to a ``Collection`` of
``Integer(gt=0)``.

Each class, with the arguments it has, becomes one record, so that recursive types are cycles.  What pydantic
defines becomes a :class:`Foreign`, which is not looked into; only Python's own syntax, which pydantic does
not know, asks for the fields of models too (``opens_models``).
"""

from __future__ import annotations

import collections
import collections.abc
import dataclasses
import decimal
import enum
import functools
import inspect
import json
import types
import typing
from collections.abc import Callable
from typing import Any, ForwardRef, TypeVar

from tokamata.errors import LimitExceeded, UnsupportedTypeError
from tokamata.patterns.python_types import shapes
from tokamata.patterns.python_types.annotations import bounds_of, is_of_pydantic, unread
from tokamata.patterns.python_types.names import (
    Scope,
    arguments_of,
    evaluated,
    hints_of,
    is_union,
    shown,
    unwrapped,
)
from tokamata.patterns.python_types.texts import text_type

__all__ = ["TypeReader", "spelled"]

_LISTS = (
    *(list, collections.abc.Sequence, collections.abc.MutableSequence, collections.abc.Iterable),
    *(collections.abc.Collection, collections.abc.Reversible),
)
_COLLECTIONS: dict[Any, tuple[str, Callable[[list[Any]], Any], bool]] = {
    **dict.fromkeys(_LISTS, ("list", list, False)),
    set: ("set", set, True),
    collections.abc.Set: ("set", set, True),
    collections.abc.MutableSet: ("set", set, True),
    frozenset: ("frozenset", frozenset, True),
    collections.deque: ("deque", collections.deque, False),
}
_MAPPINGS: dict[Any, tuple[str, Callable[[dict[Any, Any]], Any]]] = {
    dict: ("dict", dict),
    collections.abc.Mapping: ("dict", dict),
    collections.abc.MutableMapping: ("dict", dict),
    collections.OrderedDict: ("OrderedDict", collections.OrderedDict),
}
_MOST_RECORDS = 10_000  # classes of one type: generics may make new ones for ever


class TypeReader:
    """Reads types; each class once.

    Attributes:
        strict: whether what cannot be enforced is an error.
        opens_models: whether the fields of pydantic's models are read, too.
        relaxed: what was left out: the place, and why.
    """

    def __init__(self, strict: bool = True, opens_models: bool = False) -> None:
        self.strict = strict
        self.opens_models = opens_models
        self.relaxed: list[tuple[str, str]] = []
        self._named: dict[Any, shapes.Shape] = {}
        self._path: list[str] = []
        self._modules: list[str | None] = [None]

    def read(self, given: Any, scope: Scope | None = None) -> shapes.Shape:
        """The shape of a type.

        Raises:
            UnsupportedTypeError: it, or one within it, cannot be written.
            LimitExceeded: it nests too deep.
        """
        try:
            return self._read(given, scope or {})
        except RecursionError:
            raise LimitExceeded("depth", len(self._path), is_fixed=True) from None

    # ---- forms --------------------------------------------------------------------------------

    def _read(self, given: Any, scope: Scope) -> shapes.Shape:
        inner, _, metadata = unwrapped(given)
        if isinstance(inner, (str, ForwardRef)):
            inner = self._evaluated(inner)
            if hasattr(inner, "__metadata__") or isinstance(inner, (str, ForwardRef)):
                return self._read(typing.Annotated[(inner, *metadata)] if metadata else inner, scope)
        if (advice := _advice_on_value(inner)) is not None:
            self._fail(inner, advice)
        if isinstance(inner, TypeVar):
            return self._read_variable(inner, metadata, scope)
        if hasattr(inner, "__supertype__"):  # NewType
            return self._read(_annotated(inner.__supertype__, metadata), scope)
        if _is_alias(inner):
            return self._read_alias(inner, metadata, scope)
        if not self.opens_models and (is_of_pydantic(metadata) or _is_model(inner)):
            return self._foreign(_annotated(inner, metadata))
        if (odd := unread(metadata)) is not None:
            self._refuse(inner, f"{odd!r:.80} cannot be enforced")
        bounds = bounds_of(metadata)
        if is_union(inner):
            return self._read_union(inner, metadata, scope)
        if typing.get_origin(inner) is not None and _named(inner) == "Literal":
            return shapes.Choices(self._literals(inner), shown(inner))
        return self._read_class(inner, bounds, scope)

    def _read_variable(self, variable: TypeVar, metadata: list[Any], scope: Scope) -> shapes.Shape:
        if variable in scope and scope[variable] is not variable:
            return self._read(_annotated(scope[variable], metadata), scope)
        if variable.__constraints__:
            return shapes.Union(
                [self._read(_annotated(one, metadata), scope) for one in variable.__constraints__]
            )
        bound = getattr(variable, "__default__", None)
        if bound is None or type(bound).__name__ in ("NoDefaultType", "_NoDefaultType"):
            bound = variable.__bound__
        return self._read(_annotated(Any if bound is None else bound, metadata), scope)

    def _read_alias(self, alias: Any, metadata: list[Any], scope: Scope) -> shapes.Shape:
        origin = typing.get_origin(alias) or alias
        inner = arguments_of(alias, scope)
        key = _key(origin, *inner.values(), *metadata)
        if key in self._named:
            return self._named[key]
        shape = self._named[key] = shapes.Alias(origin.__name__)
        with self._inside(origin.__name__, getattr(origin, "__module__", None)):
            try:
                value = origin.__value__
            except NameError as error:
                self._refuse_name(alias, error)
            shape.target = self._read(_annotated(value, metadata), {**scope, **inner})
        return shape

    def _read_union(self, given: Any, metadata: list[Any], scope: Scope) -> shapes.Shape:
        """Bounds around a union are those of each of its members but ``None``."""
        members = [
            self._read(one if one is types.NoneType else _annotated(one, metadata), scope)
            for one in typing.get_args(given)
        ]
        return shapes.Union(members)

    def _literals(self, given: Any) -> list[shapes.Option]:
        options: list[shapes.Option] = []
        for value in typing.get_args(given):
            if isinstance(value, enum.Enum):
                options += [one for one in self._members(type(value)) if one.value is value]
            elif isinstance(value, bytes):
                options.append(shapes.Option(value.decode("utf-8", "replace"), value, (repr(value),)))
            else:
                options.append(shapes.Option(value, value, spelled(value)))
        return options

    # ---- classes ------------------------------------------------------------------------------

    def _read_class(self, given: Any, bounds: shapes.Bounds, scope: Scope) -> shapes.Shape:
        origin, arguments = typing.get_origin(given) or given, typing.get_args(given)
        if origin is Any or origin is object:
            return shapes.Anything()
        if origin is None or origin is types.NoneType:
            return shapes.Choices([shapes.Option(None, None, ("None",))], "None")
        if origin in _COLLECTIONS:
            name, make, is_set = _COLLECTIONS[origin]
            return shapes.Collection(name, make, self._argument(arguments, 0, scope), bounds, is_set)
        if origin is tuple:
            return self._read_tuple(given, arguments, bounds, scope)
        if origin in _MAPPINGS:
            name, construct = _MAPPINGS[origin]
            key = self._read(arguments[0], scope) if arguments else shapes.String()
            return shapes.Mapping(name, construct, key, self._argument(arguments, 1, scope), bounds)
        if not isinstance(origin, type):
            return self._read_callable(given)
        if issubclass(origin, enum.Enum):
            return shapes.Choices(self._members(origin), origin.__name__)
        simple = _simple(origin, bounds)
        if simple is not None:
            return self._bounded(simple, origin, bounds)
        return self._read_fields(given, origin, scope)

    def _bounded(self, shape: shapes.Shape, origin: type, bounds: shapes.Bounds) -> shapes.Shape:
        if isinstance(shape, (shapes.Text, shapes.Boolean)) and bounds.of_numbers:
            self._refuse(origin, "bounds on values that are no numbers cannot be enforced")
        return shape

    def _argument(self, arguments: tuple[Any, ...], index: int, scope: Scope) -> shapes.Shape:
        return self._read(arguments[index], scope) if len(arguments) > index else shapes.Anything()

    def _read_tuple(
        self, given: Any, arguments: tuple[Any, ...], bounds: shapes.Bounds, scope: Scope
    ) -> shapes.Shape:
        if not arguments:
            is_empty = given is not tuple and given is not typing.Tuple  # noqa: UP006
            return (
                shapes.Row([]) if is_empty else shapes.Collection("tuple", tuple, shapes.Anything(), bounds)
            )
        if len(arguments) == 2 and arguments[1] is Ellipsis:
            return shapes.Collection("tuple", tuple, self._read(arguments[0], scope), bounds)
        *first, last = arguments
        rest = _unpacked(last)
        if any(_unpacked(one) is not None for one in first):
            self._fail(given, "a tuple of any length has to stand at its end")
        items = [self._read(one, scope) for one in (first if rest is not None else arguments)]
        return shapes.Row(items, None if rest is None else self._read(rest, scope), bounds)

    def _members(self, cls: type[enum.Enum]) -> list[shapes.Option]:
        """Members by value, as pydantic has them; by name where a value is nothing that JSON has."""
        name = cls.__name__
        by_value = all(
            isinstance(one.value, (str, int, float, bool, types.NoneType)) and one.value == one.value
            for one in cls
        )
        return [
            shapes.Option(_plain(one.value) if by_value else one.name, one, (f"{name}.{one.name}",))
            for one in cls
        ]

    def _read_fields(self, given: Any, origin: type, scope: Scope) -> shapes.Shape:
        """Classes with fields; each once for the arguments that it has."""
        inner = arguments_of(given, scope)
        key = _key(origin, *inner.values())
        if key in self._named:
            return self._named[key]
        if len(self._named) > _MOST_RECORDS:
            raise LimitExceeded("depth", _MOST_RECORDS, is_fixed=True)
        reader: Callable[[type, Scope, shapes.Record], None]
        if dataclasses.is_dataclass(origin):
            reader = self._read_dataclass
        elif _is_typed_dict(origin):
            reader = self._read_typed_dict
        elif issubclass(origin, tuple) and hasattr(origin, "_fields"):
            reader = self._read_named_tuple
        elif self.opens_models and hasattr(origin, "model_fields"):
            reader = self._read_model
        else:
            return self._read_callable(given)
        record = self._named[key] = shapes.Record(origin.__name__, lambda fields: origin(**fields))
        with self._inside(origin.__name__, origin.__module__):
            try:
                reader(origin, {**scope, **inner}, record)
            except NameError as error:
                self._refuse_name(given, error)
        return record

    def _field(self, name: str, hint: Any, required: bool, scope: Scope, keyword: str = "") -> shapes.Field:
        with self._inside(name, self._modules[-1]):
            return shapes.Field(name, self._read(hint, scope), required, keyword or name)

    def _read_dataclass(self, cls: type, scope: Scope, record: shapes.Record) -> None:
        hints = hints_of(cls)
        fields: dict[str, dataclasses.Field[Any]] = cls.__dataclass_fields__  # type: ignore[attr-defined]
        untyped = [name for name, value in vars(cls).items() if name[:1] != "_" and not _is_method(value)]
        if not fields and untyped:
            self._fail(cls, f"it has no fields; give {untyped[0]!r} a type: {untyped[0]}: int = …")
        for name, one in fields.items():  # InitVars too, which dataclasses.fields leaves out
            hint = hints.get(name, one.type)
            _, forms, _ = unwrapped(hint)
            if (
                "ClassVar" in forms
                or typing.get_origin(hint) is typing.ClassVar
                or hint is typing.ClassVar
                or not one.init
            ):
                continue
            required = one.default is dataclasses.MISSING and one.default_factory is dataclasses.MISSING
            record.fields.append(self._field(name, hint, required, scope))

    def _read_typed_dict(self, cls: type, scope: Scope, record: shapes.Record) -> None:
        record.form = "dict"
        record.build = dict
        required_keys: frozenset[str] = cls.__required_keys__  # type: ignore[attr-defined]
        for name, hint in hints_of(cls).items():
            _, forms, _ = unwrapped(hint)
            required = "Required" in forms or (name in required_keys and "NotRequired" not in forms)
            record.fields.append(self._field(name, hint, required, scope))

    def _read_named_tuple(self, cls: type, scope: Scope, record: shapes.Record) -> None:
        record.form = "array"
        hints = hints_of(cls)
        defaults: dict[str, Any] = cls._field_defaults  # type: ignore[attr-defined]
        for name in cls._fields:  # type: ignore[attr-defined]
            record.fields.append(self._field(name, hints.get(name, Any), name not in defaults, scope))

    def _read_model(self, cls: Any, scope: Scope, record: shapes.Record) -> None:
        """The fields of a pydantic model, as its constructor is called."""
        record.build = cls.model_validate
        by_alias = cls.model_config.get("validate_by_alias", True)
        for name, info in cls.model_fields.items():
            keyword = info.validation_alias if by_alias and isinstance(info.validation_alias, str) else name
            if not keyword.isidentifier():
                self._fail(cls, f"the alias {keyword!r:.60} cannot be written as the name of an argument")
            hint = _annotated(info.annotation, info.metadata)
            record.fields.append(self._field(keyword, hint, info.is_required(), scope))
        if set(cls.model_fields) == {"root"} and getattr(cls, "__pydantic_root_model__", False):
            self._fail(cls, "a RootModel has no fields to write; use what it holds")

    # ---- functions ----------------------------------------------------------------------------

    def _read_callable(self, given: Any) -> shapes.Shape:
        """The arguments of a function, by keyword."""
        if isinstance(given, type) or not callable(given) or typing.get_origin(given) is not None:
            self._fail(given, _advice_on_class(given))
        function = given.func if isinstance(given, functools.partial) else given
        name = getattr(function, "__name__", type(function).__name__)
        try:
            signature = inspect.signature(given)
            hints = hints_of(function if hasattr(function, "__annotations__") else type(function).__call__)
        except NameError as error:
            self._refuse_name(given, error)
        except (TypeError, ValueError) as error:
            self._fail(given, f"it has no signature to read ({error})")
        record = shapes.Record(name, dict)
        with self._inside(name, getattr(function, "__module__", None)):
            for one in signature.parameters.values():
                hint = hints.get(one.name, Any)
                if one.kind in (one.POSITIONAL_ONLY, one.VAR_POSITIONAL):
                    reason = f"the argument {one.name!r} cannot be given by keyword; name all arguments"
                    self._fail(given, reason)
                elif one.kind is one.VAR_KEYWORD:
                    record.extra = self._read(hint, {})
                else:
                    record.fields.append(self._field(one.name, hint, one.default is one.empty, {}))
        return record

    # ---- pydantic -----------------------------------------------------------------------------

    def _foreign(self, given: Any) -> shapes.Shape:
        from tokamata.patterns.python_types.pydantic_models import adapter_of

        return shapes.Foreign(adapter_of(given, self._place()), shown(given))

    # ---- inner --------------------------------------------------------------------------------

    def _evaluated(self, given: Any) -> Any:
        try:
            return evaluated(given, self._modules[-1])
        except NameError as error:
            self._refuse_name(given, error)
        except SyntaxError:
            self._fail(given, "it is no annotation")

    def _inside(self, name: str, module: str | None) -> _Inside:
        return _Inside(self._path, self._modules, name, module)

    def _place(self) -> str:
        return ".".join(self._path[-8:])

    def _fail(self, given: Any, reason: str) -> typing.NoReturn:
        raise UnsupportedTypeError(shown(given), self._place(), reason)

    def _refuse(self, given: Any, reason: str) -> None:
        """What cannot be enforced is an error, or left out."""
        if self.strict:
            self._fail(given, f"{reason}; pass strict=False to leave it out")
        self.relaxed.append((self._place(), reason))

    def _refuse_name(self, given: Any, error: NameError) -> typing.NoReturn:
        advice = "; define it in the module, or pass the type itself and not its name"
        raise UnsupportedTypeError(shown(given), self._place(), f"{error}{advice}") from None


def _is_method(value: Any) -> bool:
    return callable(value) or isinstance(value, (property, classmethod, staticmethod))


def _advice_on_value(given: Any) -> str | None:
    """What to pass in place of a value that is no type; ``None`` for what may be one."""
    kind = type(given)
    if isinstance(given, type) or given is None:
        return None
    if given in (typing.Optional, typing.Union):
        return f"it needs arguments: {given._name}[int]"
    if isinstance(given, tuple):
        return "it is a tuple; write A | B for one of several types, tuple[A, B] for a tuple"
    if isinstance(given, dict):
        return "it is a dict; tokamata.json_schema(…) reads a JSON Schema"
    if isinstance(given, list):
        return "it is a list; pass a type such as list[int]; tokamata.choice(…) takes a list of texts"
    is_value = isinstance(given, (int, float, complex, bytes, enum.Enum)) or dataclasses.is_dataclass(given)
    if is_value or kind.__hash__ is None or hasattr(kind, "model_fields"):
        return f"it is an object of the class {kind.__name__}; pass the class {kind.__name__}"
    return None


def _advice_on_class(given: Any) -> str:
    """Why the values of a type have no form, and what to do."""
    if isinstance(given, type) and given.__bases__ == (object,) and inspect.get_annotations(given):
        return "it has annotations, and is no dataclass; put @dataclasses.dataclass before the class"
    if hasattr(given, "compile") and hasattr(given, "pattern") and not isinstance(given, type):
        return "it is a constraint already; use it as it is"
    return "its values have no form as text; docs/types.md lists the types that have one"


class _Inside:
    """Notes where reading is."""

    def __init__(self, path: list[str], modules: list[str | None], name: str, module: str | None) -> None:
        self._path, self._modules, self._name, self._module = path, modules, name, module

    def __enter__(self) -> None:
        self._path.append(self._name)
        self._modules.append(self._module)

    def __exit__(self, kind: object, error: object, _: object) -> None:
        if kind is not RecursionError:  # whose path the error has
            self._path.pop()
        self._modules.pop()


def _simple(cls: type, bounds: shapes.Bounds) -> shapes.Shape | None:
    """Types without parts."""
    if cls is bool:
        return shapes.Boolean()
    if cls is int:
        return shapes.Integer(bounds)
    if cls is float:
        return shapes.Float(bounds)
    if cls is str:
        return shapes.String(bounds)
    if cls is decimal.Decimal:
        return shapes.Written(bounds)
    kind = text_type(cls)
    return None if kind is None else shapes.Text(kind, cls, bounds)


def _annotated(given: Any, metadata: list[Any]) -> Any:
    return typing.Annotated[(given, *metadata)] if metadata else given


def _key(*parts: Any) -> tuple[Any, ...]:
    """What a shape is known by; parts without a hash by how they are shown."""
    try:
        hash(parts)
    except TypeError:
        return tuple(map(repr, parts))
    return parts


def _named(given: Any) -> str:
    origin = typing.get_origin(given)
    return str(getattr(origin, "_name", None) or getattr(origin, "__name__", ""))


def _is_alias(given: Any) -> bool:
    return type(typing.get_origin(given) or given).__name__ == "TypeAliasType"


def _is_typed_dict(cls: type) -> bool:
    return issubclass(cls, dict) and hasattr(cls, "__required_keys__")


def _is_model(given: Any) -> bool:
    """Whether pydantic has the say about a class."""
    origin = typing.get_origin(given) or given
    return isinstance(origin, type) and (
        hasattr(origin, "__get_pydantic_core_schema__") or "__pydantic_core_schema__" in vars(origin)
    )


def _unpacked(given: Any) -> Any:
    """What ``*tuple[X, ...]`` repeats; ``None`` where it is no such thing."""
    is_unpacked = getattr(given, "__unpacked__", False) or _named(given) == "Unpack"
    if not is_unpacked:
        return None
    inner = given if getattr(given, "__unpacked__", False) else typing.get_args(given)[0]
    arguments = typing.get_args(inner)
    return arguments[0] if len(arguments) == 2 and arguments[1] is Ellipsis else None


def _plain(value: Any) -> Any:
    """The value of a member without the class that it may have beside ``Enum``."""
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return value if type(value) is kind else kind(value)
    return value


def spelled(value: Any) -> tuple[str, ...]:
    """How Python has a constant: in either quotes, where it is a string."""
    if not isinstance(value, str):
        return (repr(value),)
    plain = value.encode("unicode_escape").decode()
    double, single = plain.replace('"', '\\"'), plain.replace("'", "\\'")
    ways = (repr(value), json.dumps(value, ensure_ascii=False), f'"{double}"', f"'{single}'")
    return tuple(dict.fromkeys(ways))
