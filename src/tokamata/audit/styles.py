"""Other texts of the same JSON value: other white space, another order of members, another spelling.

An engine may refuse a text for its style alone.  That is a restriction, and most of them are documented; it
is no error as long as the engine takes *some* text of the value.  So a text that an engine refuses is written
in other styles, the fewest differences first, and the engine reads them:

    {"b":1.0, "a":2}     refused at "b"
    {"b":1.0,"a":2}      refused: not the white space
    {"b":1,"a":2}        refused: not the spelling
    {"a":2,"b":1.0}      taken: the property order alone was the reason

The first order to be tried is that of the schema.  Then one is searched, member by member (`_OrderSearch`):
insertion into a list, with the engine as the comparison.  That is no full search: of n members there are n!
orders.  A value is called refused if this finds none.

A text in the same spelling, white space and order may be taken in other tokens: of a forced text, llguidance
allows the tokens that its tokenizer writes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import product
from typing import Any

from tokamata.audit.declared_order import in_order

__all__ = ["Accepted", "Tree", "read_tree", "written_otherwise"]

_LEXEME = re.compile(
    r"[ \t\n\r]*([\[\]{}:,]|true|false|null"
    r'|"(?:[^"\\\x00-\x1f]|\\.)*"'
    r"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?)"
)
_CONTROL = re.compile("[\x7f-\x9f]")  # what json.dumps writes as it is
_MOST_READS = 600  # by the engine, in the search for one text
_MOST_NESTING = 60  # of brackets
_MOST_DIGITS = 400  # of a number that is written without an exponent

Read = Callable[[Sequence[bytes]], "list[int]"]
"""How many bytes of each text an engine takes, ``-1`` for a whole text; up to the first such."""


@dataclass(frozen=True)
class Tree:
    """A JSON value as it is written.

    Attributes:
        kind: ``"{"``, ``"["``, or ``""`` for a leaf.
        raw: the text of a leaf.
        names: the names of members, as they are written.
        parts: the members' values, or the elements.
    """

    kind: str
    raw: str = ""
    names: tuple[str, ...] = ()
    parts: tuple[Tree, ...] = ()


@dataclass(frozen=True)
class Accepted:
    """A text of the same value that the engine takes.

    Attributes:
        text: the text.
        changed: what differs from the first text: ``"white space"``, ``"spelling"``, ``"property order"``.
    """

    text: bytes
    changed: tuple[str, ...]


def read_tree(text: str) -> Tree | None:
    """The value of a JSON text as it is written; ``None`` where it nests too deep."""
    lexemes = [match.group(1) for match in _LEXEME.finditer(text)]
    try:
        tree, end = _parsed(lexemes, 0, 0)
    except (IndexError, RecursionError):
        return None
    return tree if end == len(lexemes) else None


def _parsed(lexemes: list[str], at: int, depth: int) -> tuple[Tree, int]:
    if depth > _MOST_NESTING:
        raise RecursionError
    kind = lexemes[at]
    if kind not in "[{":
        return Tree("", kind), at + 1
    at += 1
    names: list[str] = []
    parts: list[Tree] = []
    while lexemes[at] not in "]}":
        if lexemes[at] == ",":
            at += 1
        if kind == "{":
            names.append(lexemes[at])
            at += 2
        part, at = _parsed(lexemes, at, depth + 1)
        parts.append(part)
    return Tree(kind, "", tuple(names), tuple(parts)), at + 1


# ---- writing ----------------------------------------------------------------------------------

_SPACES = {"compact": (",", ":", None), "spaced": (", ", ": ", None), "indented": (",", ": ", 2)}


def _texts(tree: Tree, space: str, spaces: Any, depth: int = 0) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The pieces of the text, each with the path of the part that it belongs to."""
    if not tree.kind:
        yield tree.raw, ()
        return
    comma, colon, indent = spaces
    close = "}" if tree.kind == "{" else "]"

    def line(level: int) -> str:
        return "" if indent is None or not tree.parts else "\n" + " " * (indent * level)

    yield tree.kind, ()
    for index, part in enumerate(tree.parts):
        yield ("" if index == 0 else comma) + line(depth + 1), (index,)
        if tree.kind == "{":
            yield tree.names[index] + colon, (index,)
        for piece, path in _texts(part, space, spaces, depth + 1):
            yield piece, (index, *path)
    yield line(depth) + close, ()


def written(tree: Tree, space: str) -> bytes:
    """The text of a tree, ``"compact"``, ``"spaced"`` or ``"indented"``."""
    return "".join(piece for piece, _ in _texts(tree, space, _SPACES[space])).encode("utf-8", "replace")


def _respelled(tree: Tree, spelling: _Spelling) -> Tree:
    of_strings, of_numbers = spelling
    if tree.kind:
        names = tuple(of_strings(name) for name in tree.names)
        return replace(tree, names=names, parts=tuple(_respelled(part, spelling) for part in tree.parts))
    if tree.raw[0] == '"':
        return replace(tree, raw=of_strings(tree.raw))
    return replace(tree, raw=of_numbers(tree.raw)) if tree.raw[0] in "-0123456789" else tree


def _plain_string(raw: str) -> str:
    """Without escapes but of quotes, backslashes and controls; lone surrogates stay, since UTF-8 has none."""
    plain = _CONTROL.sub(_escape, json.dumps(json.loads(raw), ensure_ascii=False))
    return raw if any("\ud800" <= one <= "\udfff" for one in plain) else plain


def _ascii_string(raw: str) -> str:
    """With escapes of all beyond ASCII too."""
    return _CONTROL.sub(_escape, json.dumps(json.loads(raw)))


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def _digits(raw: str) -> str:
    """A number without an exponent."""
    value = Decimal(raw)
    if value == 0:
        return "0"
    if abs(value.adjusted()) > _MOST_DIGITS:
        return _by_exponent(value)
    digits = format(value, "f")
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


def _float(raw: str) -> str:
    """A number as ``json.dumps`` writes it."""
    value = Decimal(raw)
    digits = repr(float(value))
    return digits if digits[-1].isdigit() and Decimal(digits) == value else _by_exponent(value)


def _by_exponent(value: Decimal) -> str:
    sign, figures, exponent = value.as_tuple()
    mantissa = "".join(map(str, figures)).rstrip("0")
    point = len(figures) - 1 + int(exponent)
    return "-" * sign + mantissa[0] + ("." + mantissa[1:]) * (len(mantissa) > 1) + f"e{point:+d}"


def _own(raw: str) -> str:
    return raw


_Spelling = tuple[Callable[[str], str], Callable[[str], str]]  # of strings, of numbers
_SPELLINGS: tuple[_Spelling, ...] = tuple(
    product((_own, _plain_string, _ascii_string), (_own, _digits, _float))
)


# ---- searching --------------------------------------------------------------------------------


def written_otherwise(text: bytes, schema: Any, read: Read, *, searches: bool = True) -> Accepted | None:
    """A text of the same value that an engine takes; ``None`` where none was found.

    Args:
        text: a JSON text; it is the first that is tried, perhaps in other tokens than before.
        schema: the schema, for the order in which it declares names.
        read: asks the engine.
        searches: whether other orders than that of the text and that of the schema are searched.
    """
    tree = read_tree(text.decode())
    if tree is None:
        return Accepted(text, ()) if read([text]) == [-1] else None
    own = next((space for space in _SPACES if written(tree, space) == text), "")
    in_own_spelling = [_Tried(text, tree, own or "compact", ())]
    for space in _SPACES:
        one = _tried(tree, tree, space, own)
        if all(one.text != other.text for other in in_own_spelling):
            in_own_spelling.append(one)
    found = _first_taken(in_own_spelling, read)
    if isinstance(found, Accepted):
        return found
    known = {one.text for one in in_own_spelling}
    respelled = {
        one.text: one
        for spelling, space in product(_SPELLINGS, _SPACES)
        if (one := _tried(tree, _respelled(tree, spelling), space, own)).text not in known
    }
    others = sorted(respelled.values(), key=lambda one: len(one.changed))
    found = _better(found, others, read)
    declared = in_order(schema, _value(tree))
    if not isinstance(found, Accepted) and _like(tree, declared) != tree:
        tried = [*in_own_spelling, *others]
        found = _better(found, [_moved(one, _like(one.tree, declared)) for one in tried], read)
    if isinstance(found, Accepted):
        return found
    if not (searches and _has_orders(tree)):
        return None
    best = found[1]
    ordered = _OrderSearch(read, best.space).found(_like(best.tree, declared))
    changed = tuple(dict.fromkeys((*best.changed, "property order")))
    return None if ordered is None else Accepted(ordered, changed)


@dataclass(frozen=True)
class _Tried:
    text: bytes
    tree: Tree
    space: str
    changed: tuple[str, ...]


def _tried(tree: Tree, other: Tree, space: str, own: str) -> _Tried:
    changed = ("white space",) * (space != own) + ("spelling",) * (other != tree)
    return _Tried(written(other, space), other, space, changed)


def _moved(one: _Tried, tree: Tree) -> _Tried:
    changed = tuple(dict.fromkeys((*one.changed, "property order")))
    return _Tried(written(tree, one.space), tree, one.space, changed)


def _first_taken(tried: Sequence[_Tried], read: Read) -> Accepted | tuple[float, _Tried]:
    """The first text that is taken; else the share of the best one that was, and which it is."""
    taken = read([one.text for one in tried])
    if taken[-1] == -1:
        one = tried[len(taken) - 1]
        return Accepted(one.text, one.changed)
    shares = [count / max(1, len(one.text)) for count, one in zip(taken, tried, strict=True)]
    best = max(range(len(shares)), key=lambda number: shares[number])
    return shares[best], tried[best]


def _better(
    found: tuple[float, _Tried], tried: Sequence[_Tried], read: Read
) -> Accepted | tuple[float, _Tried]:
    """The first text that is taken; else the better one of these and of what was found before."""
    now = _first_taken(tried, read) if tried else found
    return now if isinstance(now, Accepted) else max(found, now, key=lambda one: one[0])


def _has_orders(tree: Tree) -> bool:
    return len(tree.names) > 1 or any(map(_has_orders, tree.parts))


class _Searched(Exception):
    """As many texts were read as a search may read."""


class _OrderSearch:
    """Writes a value member by member, in an order that an engine takes.

    Each text that is read is a beginning.  The next member is the first one whose name is taken after those
    that are written.  Where none is, one is inserted before members that are written already.
    """

    def __init__(self, read: Read, space: str) -> None:
        self._read = read
        self._comma, self._colon, self._indent = _SPACES[space]
        self._left = _MOST_READS

    def found(self, tree: Tree) -> bytes | None:
        """The whole text."""
        try:
            text = self._written(tree, "", 0)
        except _Searched:
            return None
        if text is None or self._read([_bytes(text)]) != [-1]:
            return None
        return _bytes(text)

    def _takes(self, text: str) -> bool:
        if self._left == 0:
            raise _Searched
        self._left -= 1
        data = _bytes(text)
        [taken] = self._read([data])
        return taken == -1 or taken == len(data)

    def _line(self, depth: int) -> str:
        return "" if self._indent is None else "\n" + " " * (self._indent * depth)

    def _written(self, tree: Tree, before: str, depth: int) -> str | None:
        """The text up to the end of a value, after what is written before it."""
        if not tree.kind:
            return before + tree.raw if self._takes(before + tree.raw) else None
        close = "}" if tree.kind == "{" else "]"
        if not tree.parts:
            text: str | None = before + tree.kind + close
        elif tree.kind == "[":
            text = before + "["
            for index, part in enumerate(tree.parts):
                start = text + (self._comma if index else "") + self._line(depth + 1)
                text = self._written(part, start, depth + 1)
                if text is None:
                    return None
            text += self._line(depth) + close
        else:
            members = self._members(tree, before + "{", depth + 1)
            text = None if members is None else members + self._line(depth) + close
        return text if text is not None and self._takes(text) else None

    def _members(self, tree: Tree, before: str, depth: int) -> str | None:
        placed: list[str] = []
        left = list(zip(tree.names, tree.parts, strict=True))

        def joined(members: Sequence[str]) -> str:
            return before + self._comma.join(self._line(depth) + member for member in members)

        def member(at: int, name: str, part: Tree) -> str | None:
            start = joined([*placed[:at], ""])
            opening = name + self._colon
            text = self._written(part, start + opening, depth) if self._takes(start + opening) else None
            return None if text is None else text[len(start) :]

        while left:
            for at in range(len(placed), -1, -1):
                for number, (name, part) in enumerate(left):
                    text = member(at, name, part)
                    if text is None:
                        continue
                    now = [*placed[:at], text, *placed[at:]]
                    if at == len(placed) or self._takes(joined(now)):
                        placed = now
                        del left[number]
                        break
                else:
                    continue
                break
            else:
                return None
        return joined(placed)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _value(tree: Tree) -> Any:
    if tree.kind == "{":
        return {json.loads(name): _value(part) for name, part in zip(tree.names, tree.parts, strict=True)}
    if tree.kind == "[":
        return [_value(part) for part in tree.parts]
    return json.loads(tree.raw)


def _like(tree: Tree, value: Any) -> Tree:
    """The tree with members in the order of its value."""
    if tree.kind == "[":
        parts = (_like(part, one) for part, one in zip(tree.parts, value, strict=True))
        return replace(tree, parts=tuple(parts))
    if tree.kind != "{":
        return tree
    by_name = {json.loads(name): (name, part) for name, part in zip(tree.names, tree.parts, strict=True)}
    names = tuple(by_name[name][0] for name in value)
    return replace(tree, names=names, parts=tuple(_like(by_name[name][1], value[name]) for name in value))
