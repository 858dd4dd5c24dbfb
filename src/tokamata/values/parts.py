"""The values of regular expressions, sequences and grammars: groups, tuples with names, captures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, SupportsIndex, overload

from tokamata.values.variadic import TypeVarTuple, Unpack

__all__ = ["Captures", "Match", "Parts"]

_Ts = TypeVarTuple("_Ts")
_Groups = Mapping[str, "str | None"]


class Match(str):
    """The text that a regular expression matched: a ``str`` with named groups.

        date = tk.regex(r"(?P<year>\\d{4})-(?P<month>\\d\\d)").parse("2026-11")
        date == "2026-11"      # True
        date["year"]           # "2026"

    Groups are those that ``re.fullmatch`` finds (``re.search`` in the dialect of ECMA-262); the first access
    computes them.
    """

    __slots__ = ("_groups",)
    _groups: _Groups | Callable[[], _Groups]

    def __new__(cls, text: str, groups: _Groups | Callable[[], _Groups]) -> Match:
        """``groups``: the texts of groups by name, or a function that finds them."""
        match = super().__new__(cls, text)
        match._groups = groups
        return match

    def groupdict(self) -> dict[str, str | None]:
        """The named groups; ``None`` for one that took no part in the match.

        Raises:
            LimitExceeded, Cancelled: the work was stopped.
        """
        if callable(self._groups):
            self._groups = self._groups()
        return dict(self._groups)

    @overload
    def __getitem__(self, key: SupportsIndex | slice) -> str: ...
    @overload
    def __getitem__(self, key: str) -> str | None: ...
    def __getitem__(self, key: SupportsIndex | slice | str) -> str | None:
        """For a name, the group; for a number or a slice, a piece of the text.

        Raises:
            IndexError: there is no group with this name.
        """
        if not isinstance(key, str):
            return super().__getitem__(key)
        groups = self.groupdict()
        if key not in groups:
            raise IndexError(f"no group is named {key!r:.80}; the groups are {', '.join(groups) or 'none'}")
        return groups[key]

    def __reduce__(self) -> tuple[type[Match], tuple[str, dict[str, str | None]]]:
        """For pickling and copying."""
        return Match, (str(self), self.groupdict())


class Parts(tuple[Unpack[_Ts]]):
    """The values of a sequence's parts, in order: a tuple whose captured parts have names.

    value = (tk.literal("Age: ") + tk.type(int).captured("age")).parse("Age: 42")
    value.age              # 42
    value == ("Age: ", 42)
    """

    _fields: dict[str, Any]

    def __new__(cls, values: Iterable[Any], fields: Mapping[str, Any]) -> Parts[Unpack[_Ts]]:
        """``fields``: the values of captured parts, by name."""
        parts = super().__new__(cls, values)
        parts._fields = dict(fields)
        return parts

    def __getattr__(self, name: str) -> Any:
        """The value of the part captured under this name; ``None`` for an alternative not taken."""
        try:
            return self.__dict__["_fields"][name]
        except KeyError:
            known = f"; there are {', '.join(self._fields)}" if self.__dict__.get("_fields") else ""
            raise AttributeError(f"no part was captured as {name!r}{known}") from None

    def __dir__(self) -> list[str]:
        """The attributes, including the names of captured parts."""
        return [*super().__dir__(), *self._fields]

    def __reduce__(self) -> tuple[type[Parts[Unpack[_Ts]]], tuple[tuple[Any, ...], dict[str, Any]]]:
        """For pickling and copying."""
        return type(self), (self[:], self._fields)

    def asdict(self) -> dict[str, Any]:
        """The values of the captured parts, by name."""
        return dict(self._fields)

    def __repr__(self) -> str:
        fields = "".join(f", {name}={value!r}" for name, value in self._fields.items())
        return f"Parts({super().__repr__()}{fields})"


class Captures(dict[str, Any]):
    """The values of the captured parts of a grammar's text, by name.

    A part that a text has at most once has its value, or ``None`` if the text does not have it; a part that a
    text may have several times has a list.  Parts are in the order in which they begin.

        tk.grammar(source).parse("a=1, b=2")["pair"]    # ["a=1", "b=2"]

    Attributes:
        positions: by name, where each of its parts begins and ends, in characters.
    """

    def __init__(
        self, values: Mapping[str, Any] = {}, positions: Mapping[str, list[tuple[int, int]]] = {}
    ) -> None:
        """``values``, ``positions``: as above."""
        super().__init__(values)
        self.positions = dict(positions)
