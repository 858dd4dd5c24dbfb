"""What names in annotations mean: forward references, type variables, and the wrappers around types.

``typing`` and ``typing_extensions`` each have forms of their own for the same things, so forms are known by
their names.
"""

from __future__ import annotations

import builtins
import sys
import types
import typing
from collections.abc import Mapping
from typing import Any, ForwardRef, TypeVar

__all__ = ["arguments_of", "evaluated", "hints_of", "shown", "unwrapped"]

_WRAPPERS = frozenset({"Required", "NotRequired", "ReadOnly", "Final", "ClassVar"})

Scope = Mapping[Any, Any]  # what type variables stand for


def shown(given: Any) -> str:
    """How errors name a type."""
    name = getattr(given, "__name__", None)
    is_class = isinstance(given, type) and typing.get_origin(given) is None  # Python 3.10: so is list[int]
    is_named = is_class or isinstance(given, types.FunctionType)  # whose repr has an address
    text = name if is_named and isinstance(name, str) else repr(given)
    return text if len(text) <= 120 else text[:119] + "…"


def form(given: Any) -> str:
    """The name of the form that an annotation is of, such as ``Required``; ``""`` where it is of none."""
    origin = typing.get_origin(given) or given
    name = getattr(origin, "_name", None)
    return name if isinstance(name, str) else ""


def unwrapped(given: Any) -> tuple[Any, set[str], list[Any]]:
    """An annotation without what stands around its type: that, the names of the forms, and the metadata."""
    forms: set[str] = set()
    metadata: list[Any] = []
    while True:
        if hasattr(given, "__metadata__") and hasattr(given, "__origin__"):
            metadata[:0] = given.__metadata__
            given = given.__origin__
        elif (name := form(given)) in _WRAPPERS and typing.get_args(given):
            forms.add(name)
            given = typing.get_args(given)[0]
        elif type(given).__name__ == "InitVar":
            forms.add("InitVar")
            given = given.type
        else:
            return given, forms, metadata


def hints_of(owner: Any) -> dict[str, Any]:
    """The annotations of a class or a function, with all names in them resolved.

    Raises:
        NameError: a name that its module does not have.
    """
    classes = list(reversed(owner.__mro__)) if isinstance(owner, type) else []
    local: dict[str, Any] = {}
    for one in [*classes, owner]:
        local.update({parameter.__name__: parameter for parameter in getattr(one, "__type_params__", ())})
        local[getattr(one, "__name__", "")] = one
    try:
        return typing.get_type_hints(owner, None, local, include_extras=True)
    except TypeError:  # Python 3.10 takes no InitVar by name
        hints: dict[str, Any] = {}
        for one in classes:
            for name, given in vars(one).get("__annotations__", {}).items():
                hints[name] = evaluated(given, one.__module__, local) if isinstance(given, str) else given
        return hints


def evaluated(given: Any, module: str | None, local: Mapping[str, Any] | None = None) -> Any:
    """What a reference by name means in a module, and among some more names."""
    text = given.__forward_arg__ if isinstance(given, ForwardRef) else given
    names = dict(vars(sys.modules[module])) if module in sys.modules else dict(vars(builtins))
    # It stands in the caller's own code; typing.get_type_hints evaluates it as well.
    return eval(text, names, local)


def arguments_of(given: Any, outer: Scope) -> dict[Any, Any]:
    """What the type variables of a class stand for, its bases' among them.

    ``given`` is the class, or the class with arguments; ``outer`` says what variables in those mean.
    """
    scope: dict[Any, Any] = {}
    origin = typing.get_origin(given) or given
    parameters: Any = getattr(origin, "__type_params__", None) or getattr(origin, "__parameters__", ())
    for parameter, argument in zip(parameters, typing.get_args(given), strict=False):
        scope[parameter] = _substituted(argument, outer)
    for base in getattr(origin, "__orig_bases__", ()):
        if isinstance(typing.get_origin(base), type) and typing.get_origin(base).__name__ not in (
            "Generic",
            "Protocol",
        ):
            for parameter, argument in arguments_of(base, scope).items():
                scope.setdefault(parameter, argument)
    return scope


def _substituted(argument: Any, scope: Scope) -> Any:
    """An argument without the variables that the scope knows."""
    if isinstance(argument, TypeVar):
        return scope.get(argument, argument)
    inner = getattr(argument, "__parameters__", ())
    if inner and typing.get_origin(argument) is not None and any(one in scope for one in inner):
        return argument[tuple(scope.get(one, one) for one in inner)]
    return argument


def is_union(given: Any) -> bool:
    """Whether an annotation is ``A | B``, however that is written."""
    return typing.get_origin(given) in (typing.Union, types.UnionType)
