"""The value of a text at every step while it is written, for a constraint on JSON.

Problem.  An application shows a typed answer while it is written, and reads its value after each token.  To
parse and validate the text each time takes quadratic time.
Example.  After ``{"name": "Paul Kl`` the value is ``PartialPainter(name="Paul Kl", born=None)``; after
``ee", "born": 18`` it is ``PartialPainter(name="Paul Klee", born=None)``, since more digits may follow.
How.  The tracker of :mod:`.json_events` reads each byte once.  For each open container there is a *level*,
which holds the values of its closed members as their type has them.  Each member is validated once for each
container around it, when the value is first read after it has closed; an instance is then made of the levels
without validation.
Cost.  Nothing, unless the value is read.  All readings together: each byte is decoded once, each member is
validated once for each container around it, and each reading copies the references in the open containers
and the string that is open.

A value depends on the text alone, not on how it was cut into tokens.  It has what no later byte can change: a
number, a date or a ``Literal`` when it has ended; a ``str`` as far as it goes; one of several models once a
``Literal`` says which.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Literal, get_args, get_origin

from tokamata.values.json_events import Event, JsonState, JsonTracker, decoded, open_literal
from tokamata.values.partial_values import is_written_as_str, lenient, may_be, options_of, partial

__all__ = ["GrowingValue"]


class GrowingValue:
    """The values of a text that grows.

    Args:
        is_json: whether the text is JSON; otherwise its value is the text.
        given: the type of the whole; a class of pydantic's ``BaseModel`` has instances of its partial model,
            and a list of such ones too.  Of other types, values are those of ``json.loads``.
    """

    def __init__(self, is_json: bool, given: Any = None) -> None:
        self._is_json = is_json
        self._given = given
        self._text = bytearray()
        self._end = 0  # up to where the tracker has read
        self._begin()

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (self._is_json, self._given, bytes(self._text))

    def add(self, data: bytes) -> None:
        """More of the text."""
        self._text += data

    def place(self, shown: int, events: Sequence[Event], start_of: Callable[[str], int | None]) -> int:
        """What :meth:`at` needs for the value now.

        Args:
            shown: how many bytes of the text count.
            events: those since the last call, with deltas.
            start_of: where the captured part of a name begins, once that is certain.
        """
        return shown

    def at(self, end: int) -> Any:
        """The value of the first ``end`` bytes; ``None``: there is none yet."""
        if not self._is_json:
            return self._text[:end].decode("utf-8", "ignore")
        if end < self._end:
            self._begin()
        self._tracker.feed(self._text, end, [])
        self._end = end
        return self._value(self._tracker.state)

    def _begin(self) -> None:
        self._tracker = JsonTracker(0, None)
        self._levels: list[_Level] = []
        self._string = (-1, 0, "")  # the open one: its offset, and up to where it is decoded
        self._whole: list[Any] = []  # once it has closed

    def _value(self, state: JsonState) -> Any:
        if state.is_whole:
            if not self._whole:
                whole = _whole_type(self._given)
                self._whole.append(state.value if whole is None else _adapter(whole)(state.value))
            return self._whole[0]
        self._follow(state)
        has_value, value = self._open_value(state)
        for level in reversed(self._levels):
            has_value, value = level.value(has_value, value)
        return value if has_value else None

    def _follow(self, state: JsonState) -> None:
        """Brings the levels to the containers that are open now."""
        chain = []
        container = state.container
        while container is not None:
            chain.append(container)
            container = container.outer
        chain.reverse()
        kept = 0
        while kept < min(len(chain), len(self._levels)) and self._levels[kept].start == chain[kept].start:
            kept += 1
        del self._levels[kept:]
        for number, one in enumerate(chain):
            if number == len(self._levels):
                plan = self._levels[-1].plan_within() if self._levels else self._first_plan()
                self._levels.append(_Level(one.start, one.is_object, plan))
            self._levels[number].take(one.members, one.name if one.is_object else one.size)

    def _first_plan(self) -> _Plan | None:
        whole = _whole_type(self._given)
        return _PLAIN if whole is None else _plan_of(whole)

    def _open_value(self, state: JsonState) -> tuple[bool, Any]:
        """Whether a scalar that is open has a value already, and the value."""
        plan, name = (self._levels[-1].plan, self._levels[-1].name) if self._levels else (_PLAIN, "")
        if not self._levels and _whole_type(self._given) is not None:
            return False, None  # of a RootModel, which is made at its end
        if state.is_in_scalar:
            has_value, value = open_literal(self._text[state.start])
            return has_value and plan is not None, value if plan is None else plan.typed(name, value)
        if not state.is_in_string or plan is None or not plan.takes_str(name):
            return False, None
        start, end, text = self._string
        if start != state.start:
            end, text = state.start + 1, ""
        new, end = decoded(self._text, end, state.at)
        self._string = state.start, end, text + new
        return True, text + new


def _again(is_json: bool, given: Any, text: bytes) -> GrowingValue:
    made = GrowingValue(is_json, given)
    made.add(text)
    return made


class _Level:
    """A container that is open, with the values of its members as their types have them.

    Attributes:
        start: the offset of its first byte.
        plan: how its members are typed; ``None``: it has no value yet.
        name: the name or the number of the next member, or of the one that is open.
    """

    def __init__(self, start: int, is_object: bool, plan: _Plan | None) -> None:
        self.start = start
        self.plan = plan if plan is not None and plan.is_object in (is_object, None) else None
        self._choice = self.plan if isinstance(self.plan, _Choice) else None
        self._given: dict[str, Any] = {}  # the members before it is known which model they are of
        if self._choice is not None:
            self.plan = self._choice.chosen({})
        self.name: str | int = ""
        self._members: dict[str, Any] | list[Any] = {} if is_object else []
        self._seen: tuple[Any, ...] | None = None

    def take(self, members: tuple[Any, ...] | None, name: str | int) -> None:
        """Adds the members that have closed since, which are linked from the last to the first."""
        new = []
        link = members
        while link is not self._seen and link is not None:
            link, member, value = link
            new.append((member, value))
        new.reverse()
        if self._choice is not None and self.plan is None:
            self._given.update(new)
            self.plan, new = self._choice.chosen(self._given), list(self._given.items())
        if self.plan is not None:
            for member, value in new:
                self._add(self._members, member, self.plan.typed(member, value))
        self._seen, self.name = members, name

    def plan_within(self) -> _Plan | None:
        """The plan of the container that is open within it."""
        return None if self.plan is None else self.plan.within(self.name)

    def value(self, has_more: bool, value: Any) -> tuple[bool, Any]:
        """Whether the container has a value, with a member that is open, and the value."""
        if self.plan is None:
            return False, None
        members = self._members.copy()
        if has_more:
            self._add(members, self.name, value)
        return True, self.plan.made(members)

    @staticmethod
    def _add(members: dict[str, Any] | list[Any], name: str | int, value: Any) -> None:
        if isinstance(members, dict):
            members[str(name)] = value
        else:
            members.append(value)


class _Plan:
    """How a container of plain JSON becomes what its type has for it; other types are derived.

    Attributes:
        is_object: whether it is an object; ``None``: it may be an array, too.
    """

    is_object: bool | None = None

    def typed(self, name: str | int, value: Any) -> Any:
        """The value of a member that has closed."""
        return value

    def takes_str(self, name: str | int) -> bool:
        """Whether a member may be any ``str``."""
        return True

    def within(self, name: str | int) -> _Plan | None:
        """The plan of a member that is a container; ``None``: it has no value before it closes."""
        return self

    def made(self, members: Any) -> Any:
        """The container of typed members."""
        return members


_PLAIN = _Plan()


class _Elements(_Plan):
    """A list, or a dictionary with any names, whose members have one type."""

    def __init__(self, element: Any, is_object: bool) -> None:
        self.is_object = is_object
        self._adapter = _adapter(element)
        self._takes_str = _takes_str(element)
        self._element = element
        self._within: list[_Plan | None] = []

    def typed(self, name: str | int, value: Any) -> Any:
        return self._adapter(value)

    def takes_str(self, name: str | int) -> bool:
        return self._takes_str

    def within(self, name: str | int) -> _Plan | None:
        if not self._within:
            self._within.append(_plan_of(self._element))
        return self._within[0]


class _Fields(_Plan):
    """An instance of a partial model."""

    is_object = True

    def __init__(self, model: Any) -> None:
        self._empty = model.model_construct()
        self._names: dict[str, str] = {}
        for name, field in model.model_fields.items():
            self._names[field.validation_alias or name] = name
        self._types = {name: field.annotation for name, field in model.model_fields.items()}
        self._takes_str = {name for name, given in self._types.items() if _takes_str(given)}
        self._adapters: dict[str, Callable[[Any], Any]] = {}
        self._plans: dict[str, _Plan | None] = {}

    def typed(self, name: str | int, value: Any) -> Any:
        field = self._names.get(str(name))
        if field is None:
            return value  # it is left out
        if field not in self._adapters:
            self._adapters[field] = _adapter(self._types[field])
        return self._adapters[field](value)

    def takes_str(self, name: str | int) -> bool:
        return self._names.get(str(name)) in self._takes_str

    def within(self, name: str | int) -> _Plan | None:
        field = self._names.get(str(name))
        if field is None:
            return None
        if field not in self._plans:
            self._plans[field] = _plan_of(self._types[field])
        return self._plans[field]

    def made(self, members: Any) -> Any:
        fields = {self._names[name]: value for name, value in members.items() if name in self._names}
        # Not by model_construct: it reads names as aliases too, and has parameters of its own.
        return self._empty.model_copy(update=fields)


class _Choice(_Plan):
    """One of several models, or of a model and scalars."""

    is_object = True

    def __init__(self, models: list[Any], root: Any = None) -> None:
        self._models, self._root = models, root

    def within_root(self, root: Any) -> _Choice:
        """The same for a RootModel of one of the models."""
        return _Choice(self._models, root)

    def chosen(self, members: dict[str, Any]) -> _Plan | None:
        """The plan of the only model that some members do not contradict; ``None``: there are more."""
        fitting = [one for one in self._models if may_be(one, members)]
        plan = _plan_of_model(fitting[0]) if len(fitting) == 1 else None
        return plan if plan is None or self._root is None else _Root(self._root, plan)


class _Root(_Plan):
    """An instance of the partial model of a RootModel."""

    def __init__(self, model: Any, inner: _Plan) -> None:
        self._model, self._inner = model, inner
        self.is_object = inner.is_object

    def typed(self, name: str | int, value: Any) -> Any:
        return self._inner.typed(name, value)

    def takes_str(self, name: str | int) -> bool:
        return self._inner.takes_str(name)

    def within(self, name: str | int) -> _Plan | None:
        return self._inner.within(name)

    def made(self, members: Any) -> Any:
        return self._model.model_construct(self._inner.made(members))


@lru_cache(maxsize=256)
def _plan_of_model(model: Any) -> _Plan | None:
    """``None`` where a field is not the member of one name."""
    if _is_root(model):
        inner = _plan_of(model.model_fields["root"].annotation)
        if isinstance(inner, _Choice):
            return inner.within_root(model)
        return None if inner is None else _Root(model, inner)
    aliases = [field.validation_alias for field in model.model_fields.values()]
    return _Fields(model) if all(one is None or isinstance(one, str) for one in aliases) else None


def _plan_of(given: Any) -> _Plan | None:
    """The plan of a type of partial values; ``None``: it has no value before it closes."""
    options = options_of(given)
    if len(options) != 1:
        models = [one for one in options if _is_model(one)]
        others = [one for one in options if not _is_model(one)]
        is_known = models and not any(map(_is_root, models)) and all(map(_is_scalar, others))
        return _Choice(models) if is_known else None
    kind, arguments = get_origin(options[0]) or options[0], get_args(options[0])
    if kind is Any or (kind in (list, dict) and not arguments):
        return _PLAIN
    if _is_model(kind):
        return _plan_of_model(kind)
    if kind is list:
        return _Elements(arguments[0], is_object=False)
    if kind is dict and arguments[0] is str:
        return _Elements(arguments[1], is_object=True)
    return None


def _is_scalar(given: Any) -> bool:
    return given in (str, int, float, bool) or get_origin(given) is Literal


def _takes_str(given: Any) -> bool:
    """Whether any ``str`` is a value of a type."""
    options = options_of(given)
    return any(one in (str, Any) for one in options) and not any(map(is_written_as_str, options))


def _is_model(given: Any) -> bool:
    try:
        from pydantic import BaseModel
    except ImportError:
        return False
    return isinstance(given, type) and issubclass(given, BaseModel)


def _is_root(given: Any) -> bool:
    from pydantic import RootModel

    return _is_model(given) and issubclass(given, RootModel)


def _whole_type(given: Any) -> Any:
    """The type of partial values of a type; ``None``: what ``json.loads`` has."""
    if _is_model(given):
        return partial(given)
    if get_origin(given) is list and get_args(given):
        element: Any = _whole_type(get_args(given)[0])
        return None if element is None else list[element]
    return None


def _adapter(given: Any) -> Callable[[Any], Any]:
    """Makes a value of a type of partial values; ``None`` where it is no such value."""
    from pydantic import TypeAdapter

    made: Callable[[Any], Any] = TypeAdapter(lenient(given)).validate_python
    return made
