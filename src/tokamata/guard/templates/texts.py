"""Values that a template computes with and that are not known: texts, counts, lists of parts, JSON objects.

None of them is a ``str``, an ``int`` or a ``dict``.  C code that expects one, such as ``str.join``, ``%`` or
the lookup of a key, therefore meets an object whose every special method either follows the operation exactly
or raises :class:`Unfollowed`.  Nothing can read a wrong concrete value from it.

Where a text is a concatenation, operations are resolved on its literal parts as far as they go.  For example,
``(' ' + content + '\\n<|im_end|>').lstrip()`` asks whether ``content`` is white space alone; if not, the
result is ``content.lstrip() + '\\n<|im_end|>'``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NoReturn

from tokamata.guard.templates.decisions import MOST_NUMBER, MOST_PIECES, Run, Unfollowed
from tokamata.guard.templates.pieces import Piece, Slot
from tokamata.guard.templates.steps import STRIPS, Step

__all__ = [
    *("HTML_FILTERS", "Count", "JsonObject", "Method", "Parts", "Raises", "Symbolic", "Text"),
    *("joined", "step_on", "symbols_in"),
]


# Their values are ``Markup``, whether or not texts are escaped.
HTML_FILTERS = frozenset(["e", "escape", "forceescape", "safe"])


def _unfollowed(name: str, what: str) -> Any:
    def method(self: Symbolic, *args: Any, **kwargs: Any) -> NoReturn:
        raise Unfollowed(f"{what} of {self.NOUN}")

    method.__name__ = name
    return method


class Raises(Exception):
    """What Python would raise as well: an operation that no text allows, such as adding a number."""


class Symbolic:
    """An unknown value; every operation that a subclass does not follow is named.

    Attributes:
        run: the path that it belongs to.
    """

    NOUN = "a value"
    __slots__ = ("run",)

    def __init__(self, run: Run) -> None:
        self.run = run

    __hash__ = _unfollowed("__hash__", "the lookup by the value")
    __eq__ = _unfollowed("__eq__", "a comparison")
    __ne__ = _unfollowed("__ne__", "a comparison")
    __bool__ = _unfollowed("__bool__", "the truth")
    __str__ = _unfollowed("__str__", "the text")
    __repr__ = _unfollowed("__repr__", "the representation")
    __format__ = _unfollowed("__format__", "the formatting")
    __html__ = _unfollowed("__html__", "the escaping")
    __len__ = _unfollowed("__len__", "the length")
    __iter__ = _unfollowed("__iter__", "an iteration over the items")
    __contains__ = _unfollowed("__contains__", "a search in the items")
    __getitem__ = _unfollowed("__getitem__", "an item")
    __int__ = _unfollowed("__int__", "the number")
    __float__ = _unfollowed("__float__", "the number")
    __index__ = _unfollowed("__index__", "the number")
    __lt__ = _unfollowed("__lt__", "the order")
    __le__ = _unfollowed("__le__", "the order")
    __gt__ = _unfollowed("__gt__", "the order")
    __ge__ = _unfollowed("__ge__", "the order")
    __call__ = _unfollowed("__call__", "a call")
    __reversed__ = _unfollowed("__reversed__", "the reverse")
    __abs__ = __neg__ = __pos__ = __round__ = _unfollowed("__abs__", "arithmetic")
    __add__ = __radd__ = __sub__ = __rsub__ = _unfollowed("__add__", "arithmetic")
    __mul__ = __rmul__ = __mod__ = __rmod__ = _unfollowed("__mul__", "arithmetic")
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = _unfollowed("__truediv__", "arithmetic")
    __pow__ = __rpow__ = _unfollowed("__pow__", "arithmetic")


def joined(run: Run, parts: Iterable[str | Text]) -> str | Text:
    """The concatenation of texts that are put out or converted: a ``str`` if all are, never ``Markup``."""
    pieces: list[Piece] = []
    length = 0
    for part in parts:
        # What is added to a Markup would be escaped: pieces are plain texts.
        for piece in part.pieces if isinstance(part, Text) else (str.__str__(part),):
            if isinstance(piece, Slot):
                pieces.append(piece)
            elif pieces and isinstance(pieces[-1], str):
                pieces[-1] += piece
            elif piece:
                pieces.append(piece)
            length += len(piece) if isinstance(piece, str) else 1
    run.admit(length)
    run.admit(len(pieces), "a sequence of pieces", MOST_PIECES)
    if not any(isinstance(piece, Slot) for piece in pieces):
        return "".join(map(str, pieces))
    return Text(run, tuple(pieces))


class Text(Symbolic):
    """A text with at least one slot.

    Attributes:
        pieces: literal texts, not empty and no two in a row, and slots.
        is_html: whether it is ``Markup``, after ``|safe``: what is added to it is escaped.
    """

    NOUN = "a slot's text"
    __slots__ = ("is_html", "pieces")

    def __init__(self, run: Run, pieces: tuple[Piece, ...], is_html: bool = False) -> None:
        super().__init__(run)
        self.pieces = pieces
        self.is_html = is_html

    @property
    def slot(self) -> Slot | None:
        """The slot if the text is nothing else."""
        (first, *others) = self.pieces
        return first if isinstance(first, Slot) and not others else None

    def __bool__(self) -> bool:
        if any(isinstance(piece, str) for piece in self.pieces):
            return True
        return not all(self.run.ask("equals", (piece,), "") for piece in self.pieces)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Text):
            if self.pieces == other.pieces:
                return True
            return self.run.ask("equals", self.pieces, other.pieces)
        return self._equals(str(other)) if isinstance(other, str) else False

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = Symbolic.__hash__

    def _equals(self, text: str) -> bool:
        pieces = list(self.pieces)
        if isinstance(pieces[0], str):
            if not text.startswith(pieces[0]):
                return False
            text = text[len(pieces.pop(0)) :]  # type: ignore[arg-type]
        if isinstance(pieces[-1], str):
            if not text.endswith(pieces[-1]):
                return False
            text = text[: len(text) - len(pieces.pop())]  # type: ignore[arg-type]
        return self.run.ask("equals", tuple(pieces), text)

    def __contains__(self, needle: object) -> bool:
        if isinstance(needle, Text):
            if needle.pieces == self.pieces:
                return True
            raise Unfollowed("the search for a slot's text in another")
        if not isinstance(needle, str):
            raise Raises(TypeError("'in <string>' requires string as left operand"))
        return self.contains(str(needle))

    def contains(self, needle: str) -> bool:
        """Whether a literal text occurs in this one."""
        if not needle or any(isinstance(piece, str) and needle in piece for piece in self.pieces):
            return True
        slots = [piece for piece in self.pieces if isinstance(piece, Slot)]
        if any(self.run.ask("contains", (slot,), needle) for slot in slots):
            return True
        return self._may_straddle(needle) and self.run.ask("contains", self.pieces, needle)

    def _may_straddle(self, needle: str) -> bool:
        """Whether the needle may occur across the border of a slot."""
        for one, other in zip(self.pieces, self.pieces[1:], strict=False):
            for cut in range(1, len(needle)):
                ends = not isinstance(one, str) or one.endswith(needle[:cut]) or needle[:cut].endswith(one)
                begins = (
                    not isinstance(other, str)
                    or other.startswith(needle[cut:])
                    or needle[cut:].startswith(other)
                )
                if ends and begins:
                    return True
        return False

    def starts_with(self, prefix: str) -> bool:
        """Whether it begins with a literal text."""
        pieces = list(self.pieces)
        if isinstance(pieces[0], str):
            first = pieces.pop(0)
            assert isinstance(first, str)
            if len(first) >= len(prefix):
                return first.startswith(prefix)
            if not prefix.startswith(first):
                return False
            prefix = prefix[len(first) :]
        return not prefix or self.run.ask("starts with", tuple(pieces), prefix)

    def ends_with(self, suffix: str) -> bool:
        """Whether it ends with a literal text."""
        pieces = list(self.pieces)
        if isinstance(pieces[-1], str):
            last = pieces.pop()
            assert isinstance(last, str)
            if len(last) >= len(suffix):
                return last.endswith(suffix)
            if not suffix.endswith(last):
                return False
            suffix = suffix[: len(suffix) - len(last)]
        return not suffix or self.run.ask("ends with", tuple(pieces), suffix)

    def longer_than(self, length: int) -> bool:
        """Whether it has more code points."""
        length -= sum(len(piece) for piece in self.pieces if isinstance(piece, str))
        slots = tuple(piece for piece in self.pieces if isinstance(piece, Slot))
        if length < 0:
            return True
        if length == 0:
            return not all(self.run.ask("equals", (slot,), "") for slot in slots)
        return self.run.ask("longer than", slots, length)

    def stripped(self, chars: str | None, left: bool, right: bool) -> str | Text:
        """What ``strip`` leaves, on either or both sides."""
        if self.slot is not None:
            return self._slot_stripped(self.slot, chars, left, right)
        if self.is_html:
            raise Unfollowed("the trimming of a concatenation that |safe has marked")
        pieces = list(self.pieces)
        if left:
            pieces = self._stripped_side(pieces, chars, "lstrip", 0)
        if right and pieces:
            pieces = self._stripped_side(pieces, chars, "rstrip", -1)
        return joined(self.run, (p if isinstance(p, str) else Text(self.run, (p,)) for p in pieces))

    def _slot_stripped(self, slot: Slot, chars: str | None, left: bool, right: bool) -> str | Text:
        if slot.steps and slot.steps[-1].name in STRIPS and slot.steps[-1].arguments == (chars,):
            done = STRIPS[slot.steps[-1].name]
            slot = Slot(slot.source, slot.steps[:-1])
            left, right = left or done[0], right or done[1]
        name = "strip" if left and right else "lstrip" if left else "rstrip"
        return Text(self.run, (Slot(slot.source, (*slot.steps, Step(name, (chars,)))),), self.is_html)

    def _stripped_side(self, pieces: list[Piece], chars: str | None, name: str, end: int) -> list[Piece]:
        """Strips one side: of the last piece that is not stripped away."""
        while pieces:
            piece = pieces.pop(end)
            if isinstance(piece, str):
                rest: Piece = getattr(piece, name)(chars)
            else:
                left, right = STRIPS[name]
                trimmed = self._slot_stripped(piece, chars, left, right)
                assert isinstance(trimmed, Text)
                assert trimmed.slot is not None
                rest = trimmed.slot
                if pieces and self.run.ask("equals", (rest,), ""):
                    continue
            if rest != "":
                pieces.insert(0 if end == 0 else len(pieces), rest)
                break
        return pieces

    def split(self, method: str, separator: str | None, most: int) -> list[str | Text] | Parts:
        """What ``split`` or ``rsplit`` gives; a list where the separator is known not to occur."""
        absent = separator is not None and self.run.known("contains", self.pieces, separator) is False
        return (
            [self]
            if absent or (most == 0 and separator is not None)
            else Parts(self, method, separator, most)
        )

    def replaced(self, old: str, new: str, count: int = -1) -> Text:
        """What ``replace`` makes of it: the same where the old text is known not to occur."""
        if old and self.run.known("contains", self.pieces, old) is False:
            return self
        return step_on(self, Step("replace", (old, new, max(count, -1))))

    def escaped(self) -> Text:
        """The text for HTML."""
        if self.is_html:
            return self
        pieces = [
            Step("html").apply(piece)
            if isinstance(piece, str)
            else Slot(piece.source, (*piece.steps, Step("html")))
            for piece in self.pieces
        ]
        return Text(self.run, tuple(pieces), True)

    def each(self, step: Step) -> str | Text:
        """A step that maps each code point for itself, applied to every piece."""
        return joined(
            self.run,
            (
                step.apply(piece)
                if isinstance(piece, str)
                else Text(self.run, (Slot(piece.source, (*piece.steps, step)),))
                for piece in self.pieces
            ),
        )


def step_on(text: Text, step: Step) -> Text:
    """A step on the text as a whole."""
    slot = text.slot
    if slot is not None:
        return Text(text.run, (Slot(slot.source, (*slot.steps, step)),))
    return Text(text.run, (Slot(text.pieces, (step,)),))


class Count(Symbolic):
    """A whole number that is not known, such as the length of a text: only comparisons are followed."""

    NOUN = "a length that depends on a slot's text"
    __slots__ = ("_more",)

    def __init__(self, run: Run, more: Callable[[int], bool]) -> None:
        super().__init__(run)
        self._more = more

    def _beyond(self, other: object) -> bool:
        if type(other) not in (int, bool):
            raise Unfollowed(f"a comparison of {self.NOUN} with another value than a number")
        assert isinstance(other, int)
        return other < 0 or self._more(other)

    def __gt__(self, other: object) -> bool:
        return self._beyond(other)

    def __ge__(self, other: object) -> bool:
        return self._beyond(other - 1 if isinstance(other, int) else other)

    def __lt__(self, other: object) -> bool:
        return not self >= other

    def __le__(self, other: object) -> bool:
        return not self > other

    def __eq__(self, other: object) -> bool:
        return self >= other and not self > other

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = Symbolic.__hash__

    def __bool__(self) -> bool:
        return self > 0


class Parts(Symbolic):
    """The list that ``split`` or ``rsplit`` makes of a text."""

    NOUN = "the parts of a slot's text"
    __slots__ = ("method", "most", "separator", "text")

    def __init__(self, text: Text, method: str, separator: str | None, most: int) -> None:
        super().__init__(text.run)
        self.text = text
        self.method = method
        self.separator = separator
        self.most = most

    def more_than(self, count: int) -> bool:
        """Whether there are more parts."""
        if count == 0 and self.separator is not None:
            return True
        if 0 <= self.most < count:
            return False
        if count == 1 and self.separator is not None:
            return self.text.contains(self.separator)
        argument = (self.method, self.separator, self.most, count)
        return self.run.ask("more parts than", self.text.pieces, argument)

    def item(self, index: int) -> str | Text | None:
        """The part with an index; ``None`` if there is none."""
        if abs(index) > MOST_NUMBER or not self.more_than(index if index >= 0 else -index - 1):
            return None
        separator = self.separator
        if separator is not None and self.run.known("contains", self.text.pieces, separator) is False:
            return self.text if index in (0, -1) else None
        return step_on(self.text, Step(self.method, (separator, self.most), part=index))

    def count(self) -> Count:
        """The length of the list."""
        return Count(self.run, self.more_than)

    def __bool__(self) -> bool:
        return self.more_than(0)

    def listed(self) -> list[str | Text]:
        """The parts, if the separator does not occur on this path."""
        if self.separator is None or self.more_than(1):
            raise Unfollowed(f"a loop over {self.NOUN}")
        return [self.text]


class JsonObject(Symbolic):
    """A JSON object with unknown members."""

    NOUN = "a JSON object"
    __slots__ = ("slot",)

    def __init__(self, run: Run, slot: Slot) -> None:
        super().__init__(run)
        self.slot = slot

    def __bool__(self) -> bool:
        return self.run.ask("is true", (self.slot,), None)

    def written(self, step: Step) -> Text:
        """Its text by a first step."""
        return Text(self.run, (Slot(self.slot.source, (step,)),))


# Methods of str that give a text, and that map each code point for itself.
_EACH = {"upper"}  # lower is not: the sigma at the end of a word
_WHOLE = {
    *("lower", "capitalize", "title", "swapcase", "casefold", "replace", "removeprefix", "removesuffix"),
    *("center", "ljust", "rjust", "zfill", "expandtabs"),
}


class Method(Symbolic):
    """A method of a text, which a template may call."""

    NOUN = "a method of a slot's text"
    __slots__ = ("name", "text")

    def __init__(self, text: Text, name: str) -> None:
        super().__init__(text.run)
        self.text = text
        self.name = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The result of the method.

        Raises:
            Raises: ``str`` raises as well with these arguments.
            Unfollowed: the method is not followed.
        """
        name, text, run = self.name, self.text, self.run
        if text.is_html and name not in STRIPS:
            raise Unfollowed(f"the method {name} of a slot's text that |safe has marked")
        args, kwargs = _plain(name, args, kwargs)
        try:
            getattr("a b", name)(*args, **kwargs)
        except (TypeError, ValueError, LookupError) as error:
            if name not in ("index", "rindex"):  # whose error depends on the text
                raise Raises(error) from error
        if name in STRIPS:
            left, right = STRIPS[name]
            return text.stripped(args[0] if args else None, left, right)
        if name in ("startswith", "endswith") and len(args) == 1:
            options = args[0] if isinstance(args[0], tuple) else args
            question = text.starts_with if name == "startswith" else text.ends_with
            return any(question(option) for option in options)
        if name in ("split", "rsplit"):
            separator = args[0] if args else kwargs.get("sep")
            most = args[1] if len(args) > 1 else kwargs.get("maxsplit", -1)
            return text.split(name, separator, max(most, -1))
        if name == "splitlines":
            raise Unfollowed("the lines of a slot's text")
        if name == "count" and len(args) == 1 and args[0]:
            return Count(run, lambda count: Parts(text, "split", args[0], -1).more_than(count + 1))
        if name in ("find", "index"):
            return Position(text, name, *args)
        if name in _EACH:
            return text.each(Step(name))
        if name == "replace" and not kwargs:
            return text.replaced(*args)
        if name in _WHOLE:
            return step_on(text, Step(name, args, tuple(sorted(kwargs.items()))))
        raise Unfollowed(f"the method {name} of a slot's text")


_EQUALITY = _unfollowed("__eq__", "a comparison")


class Position(Symbolic):
    """Where a literal text is found in a text; only whether it is found is followed."""

    NOUN = "a position in a slot's text"
    __slots__ = ("_is_found",)

    def __init__(self, text: Text, name: str, needle: str, *bounds: int) -> None:
        super().__init__(text.run)
        if name != "find" or bounds:
            raise Unfollowed(f"the method {name} of a slot's text")
        self._is_found = text.contains(needle)

    def __eq__(self, other: object) -> bool:
        return not self._is_found if self._is_minus_one(other) else bool(_EQUALITY(self))

    def __ne__(self, other: object) -> bool:
        return self._is_found if self._is_minus_one(other) else bool(_EQUALITY(self))

    def __gt__(self, other: object) -> bool:
        return self._is_found if self._is_minus_one(other) else Symbolic.__gt__(self, other)

    def __ge__(self, other: object) -> bool:
        return self._is_found if other == 0 else Symbolic.__ge__(self, other)

    def __lt__(self, other: object) -> bool:
        return not self._is_found if other == 0 else Symbolic.__lt__(self, other)

    @staticmethod
    def _is_minus_one(other: object) -> bool:
        return type(other) is int and other == -1

    __hash__ = Symbolic.__hash__


def _plain(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, Any]:
    """Arguments of a method as plain values, if they are known and small."""

    def checked(value: Any) -> Any:
        if isinstance(value, Symbolic):
            raise Unfollowed(f"an argument of {name} that depends on a slot's text")
        if isinstance(value, str):
            return str(value)
        if isinstance(value, int) and abs(value) > MOST_NUMBER:
            raise Unfollowed(f"an argument of {name} beyond {MOST_NUMBER:,}")
        return tuple(map(checked, value)) if isinstance(value, tuple) else value

    return tuple(map(checked, args)), {key: checked(value) for key, value in kwargs.items()}


def symbols_in(value: Any, run: Run) -> Iterator[Symbolic]:
    """The unknown values within a value, through lists, tuples and dictionaries."""
    pending = [value]
    while pending:
        run.tick()
        one = pending.pop()
        if isinstance(one, Symbolic):
            yield one
        elif isinstance(one, (list, tuple)):
            pending.extend(one)
        elif isinstance(one, dict):
            pending.extend(one.values())
