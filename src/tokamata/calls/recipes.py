"""Recipes: the calls that made an object, listed in order, which pickles hold in place of expressions.

Problem.  A constraint consists of expressions of the engine, which are shared and large, and of functions
that read values.  Another process makes the same constraint from the same arguments, which have about 100
bytes for a small one.

Example.  ``(tk.literal("a") | tk.json()).repeat(2)`` is a list of steps.  ``@n`` is what step ``n`` made::

    0  literal("a")
    1  json(whitespace="natural", spelling="natural")
    2  joined("|", @0, @1)
    3  Constraint.repeat(@2, 2, None)

How.  Each constraint keeps its last call (:class:`Call`), whose arguments hold the constraints before it.
:func:`steps_of` lists all calls, each once and after those of its arguments.  Lists and dicts are steps too,
since a schema may nest as deep as it likes, and may contain itself.  So nothing here recurses, and pickle
does not either.

Cost.  Linear in the calls and in what is in their arguments.  A constraint keeps a reference to its
arguments; only what the caller could change is copied (:func:`copied`).

Not taken.  The engine's expressions, written out: a schema of some hundred bytes makes tables of a megabyte,
and the functions that read values would still be missing.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar
from weakref import WeakValueDictionary

from tokamata.errors import PicklingError

__all__ = [
    "Call",
    "Made",
    "Remade",
    "Shared",
    "chain_of",
    "copied",
    "made_by_steps",
    "plain_text",
    "steps_of",
]

_T = TypeVar("_T")
_R = TypeVar("_R", bound="Remade")


_NO_OPTIONS: Mapping[str, Any] = {}


class Call(NamedTuple):
    """A call that makes an object.

    Attributes:
        make: what is called; pickle writes its name.
        arguments, options: of the call; nobody changes them afterwards.
    """

    make: Callable[..., Any]
    arguments: tuple[Any, ...]
    options: Mapping[str, Any] = _NO_OPTIONS


class Remade:
    """An object that pickles as the call that made it.

    A copy of it is the object itself: it does not change, or its identity is what it is known by.
    """

    __slots__ = ("_kept_call", "_kept_key")
    _kept_call: Call
    _kept_key: Hashable  # of what has a key (tokamata.calls.equal_calls)
    _has_key = False

    def _made_by(self: _R, make: Callable[..., Any], *arguments: Any, **options: Any) -> _R:
        """Keeps the call that made it, and returns it.  Options that are ``None`` have that by default."""
        given = {name: value for name, value in options.items() if value is not None}
        self._kept_call = Call(make, tuple(map(plain_text, arguments)), given or _NO_OPTIONS)
        return self

    def _call(self) -> Call:
        """The call that makes it."""
        try:
            return self._kept_call
        except AttributeError:
            advice = "make it with the functions of tokamata, which keep their arguments"
            raise PicklingError(f"{self!r:.200}", advice) from None

    def _last_call(self) -> Call | None:
        """A second call, with itself as an argument, for objects that refer to each other in a circle."""
        return None

    def __reduce__(self) -> tuple[Callable[[list[Any]], Any], tuple[list[Any]]]:
        """For pickling."""
        return made_by_steps, (steps_of(self),)

    def __copy__(self: _R) -> _R:
        return self

    def __deepcopy__(self: _R, memo: dict[int, Any]) -> _R:
        return self


class Made:
    """Stands for what a step has made.

    Attributes:
        number: of the step.
    """

    __slots__ = ("number",)

    def __init__(self, number: int = -1) -> None:
        self.number = number

    def __reduce__(self) -> tuple[type[Made], tuple[int]]:
        return Made, (self.number,)


def steps_of(root: Remade) -> list[Any]:
    """The steps that make an object; :func:`made_by_steps` takes them.

    A step is a call, as a tuple of a function, arguments and perhaps options; or a list or a dict.
    """
    return _Writer().steps_of(root)


class _Writer:
    """Lists the steps of one object."""

    def __init__(self) -> None:
        self._steps: list[Any] = []
        self._made: dict[int, Made] = {}  # by the identity of the object
        self._calls: list[Call] = []  # so that no identity is given to another object
        self._pending: list[Callable[[], None]] = []  # what is to be done, the next at the end

    def steps_of(self, root: Remade) -> list[Any]:
        self._open(root)
        while self._pending:
            self._pending.pop()()
        return self._steps

    def _open(self, value: Any) -> None:
        """Plans the steps of an object, unless it is one that pickle writes by itself."""
        if id(value) in self._made:
            return
        if isinstance(value, Remade):
            self._made[id(value)] = made = Made()
            last = value._last_call()
            if last is None:
                self._plan_call(value._call(), made)
            else:  # what it refers to may refer to it
                self._close_call(value._call(), made)
                self._plan_call(last, Made())
        elif type(value) is dict or type(value) is list:
            self._made[id(value)] = made = Made()
            self._pending.append(partial(self._close_container, value, made))
            self._plan(value.values() if type(value) is dict else value)

    def _plan_call(self, call: Call, made: Made) -> None:
        self._calls.append(call)
        self._pending.append(partial(self._close_call, call, made))
        self._plan([*call.arguments, *call.options.values()])

    def _plan(self, values: Iterable[Any]) -> None:
        for value in reversed([*values]):
            if isinstance(value, (Remade, dict, list)):
                self._pending.append(partial(self._open, value))

    def _close_call(self, call: Call, made: Made) -> None:
        arguments = tuple(map(self._written, call.arguments))
        options = {name: self._written(value) for name, value in call.options.items()}
        self._add((call.make, arguments, options) if options else (call.make, arguments), made)

    def _close_container(self, value: Any, made: Made) -> None:
        if type(value) is dict:
            self._add({key: self._written(one) for key, one in value.items()}, made)
        else:
            self._add([self._written(one) for one in value], made)

    def _add(self, step: Any, made: Made) -> None:
        made.number = len(self._steps)
        self._steps.append(step)

    def _written(self, value: Any) -> Any:
        return self._made.get(id(value), value)


def made_by_steps(steps: list[Any]) -> Any:
    """The object that steps make; lists and dicts among them become parts of it."""
    made = list(steps)  # a list or a dict is in place before it is filled

    def read(value: Any) -> Any:
        return made[value.number] if type(value) is Made else value

    for number, step in enumerate(steps):
        if type(step) is dict:
            for key in step:
                step[key] = read(step[key])
        elif type(step) is list:
            step[:] = map(read, step)
        else:
            make, arguments, *options = step
            given = {name: read(value) for name, value in options[0].items()} if options else {}
            made[number] = make(*map(read, arguments), **given)
    return made[-1]


def chain_of(value: Remade, make: Callable[..., Any], key: Any) -> tuple[Any, ...]:
    """The operands of a chain that ``make(key, *operands)`` makes, or the object itself.

    Where a chain grows in a loop, a call with its last prefix as argument would keep all prefixes.
    """
    call: Call | None = getattr(value, "_kept_call", None)
    if call is None or call.make is not make or call.arguments[0] != key:
        return (value,)
    return call.arguments[1:]


def plain_text(value: Any) -> Any:
    """A text without its class, such as an enumeration, and without what that holds; else the value."""
    return str.__str__(value) if isinstance(value, str) else value


def copied(value: Any) -> Any:
    """A copy of a value like JSON, in plain dicts and lists, that its caller cannot change.

    What else it holds is shared with the original.  It may nest deeper than Python's stack, and contain
    itself.
    """
    copies: dict[int, Any] = {}
    waiting: list[tuple[Any, Any]] = []  # what is not copied yet, and its copy

    def copy_of(one: Any) -> Any:
        copy = copies.get(id(one))
        if copy is None:
            kind = type(one)  # known without a search of base classes, as a rule
            if kind is dict or (kind is not list and isinstance(one, Mapping)):
                copy = {}
            elif kind is list or isinstance(one, (list, tuple)):
                copy = []
            else:
                return bytes(one) if kind is bytearray else one
            copies[id(one)] = copy
            waiting.append((one, copy))
        return copy

    result = copy_of(value)
    while waiting:
        one, copy = waiting.pop()
        if type(copy) is dict:
            copy.update(one)
            for key, inner in copy.items():
                if type(inner) not in _LEAVES:
                    copy[key] = copy_of(inner)
        else:
            copy.extend([inner if type(inner) in _LEAVES else copy_of(inner) for inner in one])
    return result


_LEAVES = frozenset({str, int, float, bool, type(None)})  # most values


class Shared(Generic[_T]):
    """Objects that several pickles of one process stand for, so that each is made once.

    Args:
        most: how many that were unpickled are kept, the last ones, although nothing else refers to them.

    No lock: a process may be forked while another thread unpickles.  Two threads that unpickle one object at
    the same time may both make it; both get the first.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: WeakValueDictionary[Hashable, _T] = WeakValueDictionary()
        self._last: tuple[_T, ...] = ()

    def note(self, key: Hashable, value: _T) -> None:
        """An object that is being pickled."""
        self._known[key] = value

    def get(self, key: Hashable, make: Callable[[], _T]) -> _T:
        """The object of a key, made if this process has none."""
        value = self._known.get(key)
        if value is None:
            value = self._known.setdefault(key, make())
        others = [one for one in self._last if one is not value]
        self._last = (*others, value)[-self._most :]
        return value
