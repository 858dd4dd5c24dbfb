"""Calls that make equal constraints: they are read once, and known by one key.

Problem.  A server is sent the same schemas again and again.  To read one takes from 0.2 ms to a second, and
who reads it again has another object, for which all states and masks are made again.

Example.  A second call with an equal text finds the constraint of the first::

    tk.json_schema('{"type": "string"}') is tk.json_schema('{"type": "string"}')      # True

How.  The key of a call is the name of the function and its arguments, as :mod:`pickle` writes them; nothing
reads them back.  It has the type of each value, so 1, 1.0 and True differ, a text differs from bytes, and
names keep their order.  What is not plain data is refused: functions, classes, constraints, paths,
registries, subclasses of dict.  Calls with such arguments are made each time, since what they mean may
change.  The limits are in the key, because a constraint keeps them and its pickles take them along.  A cancel
token is not.

The key of a constraint (:func:`key_of`) is that of the call that made it, without limits.  A constraint in an
argument stands there with its own key.  Where a call has no key, its constraint has one that no other has.

A dict of few objects may stand for 2^30: each may be in it twice, at every level.  All are written out, so
that equal dicts have equal keys.  Beyond ``_MOST_WRITTEN`` bytes the writing ends, and there is no key.

What failed is not kept.  Warnings are given to each caller.

Cost.  For a text of n kB: a copy, a hash and a comparison, together below 1 µs a kB.

Not taken.  ``json.dumps`` as the key of a dict: it writes the key 1 as the key "1", and takes longer.
:mod:`marshal`, which writes all 2^30 objects before it returns.
"""

from __future__ import annotations

import functools
import itertools
import pickle
from collections.abc import Callable, Hashable, Iterator
from hashlib import sha256
from typing import Any, NamedTuple, ParamSpec, TypeVar

from tokamata.calls.recipes import Call, Remade
from tokamata.calls.schema_places import noted_slips, warn_of
from tokamata.errors import Cancelled, PicklingError, SchemaWarning
from tokamata.resources.limits import Limits, checked_cancel
from tokamata.resources.memo import Memo

__all__ = ["READ", "key_of", "read_once"]

_P = ParamSpec("_P")
_T = TypeVar("_T")

_PROTOCOL = 4  # of pickle
_MOST_BYTES = 128 << 20  # of all that is kept, as estimated below
_BYTES_OF_A_CALL = 12_000  # of what was read, as measured for schemas
_BYTES_OF_KEY_BYTE = 42  # and for each byte of a key
_MOST_WRITTEN = _MOST_BYTES // _BYTES_OF_KEY_BYTE  # of a key; what has more would not be kept
_unique = itertools.count()


class _Read(NamedTuple):
    """What a call has read.

    Attributes:
        made: the constraint.
        slips: of which to warn, with pointers that begin where the call is.
        memory_bytes: about.
    """

    made: Any
    slips: tuple[SchemaWarning, ...]
    memory_bytes: int


READ: Memo[_Read] = Memo(_MOST_BYTES, lambda read: read.memory_bytes)


def read_once(make: Callable[_P, _T]) -> Callable[_P, _T]:
    """A function that makes constraints, so that equal calls give the same one.

    Its options ``limits`` and ``cancel``, if it has them, are given by name.
    """
    name = _name_of(make)

    @functools.wraps(make)
    def found_or_made(*arguments: _P.args, **options: _P.kwargs) -> _T:
        key = _key_of_call(name, arguments, options)
        if key is None:
            return make(*arguments, **options)
        known = READ.get(key)
        if known is None:
            with noted_slips() as slips:
                made = make(*arguments, **options)
            size = _BYTES_OF_A_CALL + _BYTES_OF_KEY_BYTE * len(key)
            known = READ.keep(key, _Read(made, tuple(slips), size))
        else:
            given: Any = options.get("cancel")
            cancel = checked_cancel(given)
            if cancel is not None and cancel.cancelled:
                raise Cancelled("the CancelToken was cancelled; nothing was made")
            warn_of(known.slips)
        found: _T = known.made
        return found

    return found_or_made


def key_of(constraint: Remade) -> Hashable:
    """The key of a constraint: equal for constraints that equal calls made.

    Without recursion: constraints nest deeper than Python's stack.
    """
    waiting = [constraint]
    while waiting:
        one = waiting[-1]
        if hasattr(one, "_kept_key"):
            waiting.pop()
            continue
        try:
            call = one._call()
        except PicklingError:
            one._kept_key = next(_unique)
            continue
        unknown = [inner for inner in _inner(call) if not hasattr(inner, "_kept_key")]
        if unknown:
            waiting += unknown
        else:
            one._kept_key = _key_of_recipe(call)
    return constraint._kept_key


def _key_of_call(name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> bytes | None:
    """``None`` if there are arguments other than plain data."""
    limits = options.get("limits")
    if "limits" in options or "cancel" in options:
        options = {key: value for key, value in options.items() if key not in ("limits", "cancel")}
        if limits is not None:
            if type(limits) is not Limits:
                return None
            options["limits"] = limits.states, limits.memory_bytes, limits.seconds, limits.depth
    return _written((name, arguments, sorted(options.items())))


def _key_of_recipe(call: Call) -> Hashable:
    options = [(name, value) for name, value in sorted(call.options.items()) if name != "limits"]
    whole = (_name_of(call.make), call.arguments, options)
    written = _written(whole)
    if written is None:
        written = _written(_with_keys(whole))
    return next(_unique) if written is None else sha256(written).digest()


class _Refused(Exception):
    """A value is not plain data, or too long."""


class _Parts(list[bytes]):
    """What a pickler writes, up to a bound."""

    __slots__ = ("_left",)

    def __init__(self) -> None:
        self._left = _MOST_WRITTEN

    def write(self, part: bytes) -> None:
        self._left -= len(part)
        if self._left < 0:
            raise _Refused
        self.append(bytes(part))


class _Pickler(pickle.Pickler):
    """Writes plain data alone."""

    def reducer_override(self, value: Any) -> Any:
        """Called for all other values."""
        if value is ...:
            return NotImplemented
        raise _Refused


def _written(value: Any) -> bytes | None:
    """Plain data as bytes, the same for equal values alone; ``None`` for all else, or if it is too long."""
    parts = _Parts()
    pickler = _Pickler(parts, _PROTOCOL)
    pickler.fast = True  # no references to what was written before: they depend on which objects are the same
    try:
        pickler.dump(value)
    except (_Refused, ValueError, RecursionError):  # ValueError: a value contains itself
        return None
    return b"".join(parts)


def _name_of(make: Callable[..., Any]) -> str:
    return f"{make.__module__}.{getattr(make, '__qualname__', '')}"


def _inner(call: Call) -> Iterator[Remade]:
    """The constraints among the arguments of a call, and in lists and dicts among them."""
    for value in (*call.arguments, *call.options.values()):
        if isinstance(value, (list, tuple, dict)):
            parts = value.values() if isinstance(value, dict) else value
            yield from (one for one in parts if isinstance(one, Remade) and one._has_key)
        elif isinstance(value, Remade) and value._has_key:
            yield value


def _with_keys(value: Any, depth: int = 4) -> Any:
    """The same with keys in place of constraints; an ellipsis before each, since no plain data has one."""
    if isinstance(value, Remade) and value._has_key:
        return ..., value._kept_key
    if depth and type(value) in (list, tuple):
        return [_with_keys(one, depth - 1) for one in value]
    if depth and type(value) is dict:
        return [..., *((key, _with_keys(one, depth - 1)) for key, one in value.items())]
    return value
