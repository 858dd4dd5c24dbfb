"""A slow matcher of grammars in ABNF (RFC 5234), the judge of formats that RFCs define so.

A rule matches at a place with a set of ends, found by trying everything: no tables, no order of alternatives.

Example: ``Grammar("pair = 1*digit ':' [pair]").accepts("pair", "1:22:")``.  Strings stand in single quotes,
case does not count in them; ``[a-z]`` is a class as ``re`` has it; ``/`` separates alternatives; ``2*4x``
is two to four times ``x``, ``[x]`` with spaces inside an optional one; rules are separated by lines.
"""

from __future__ import annotations

import re
from functools import lru_cache

_TOKENS = re.compile(r"\s*(\d*\*\d*|\d+(?=[\w(\[<'])|'[^']*'|<\[(?:[^\\\]]|\\.)*\]>|[\w-]+|[()\[\]/])")


class Grammar:
    """Rules by name."""

    def __init__(self, text: str) -> None:
        self._rules: dict[str, object] = {}
        for line in text.strip().splitlines():
            name, _, body = line.partition("=")
            self._rules[name.strip()] = _Reader(body).alternatives()
        self._classes = lru_cache(maxsize=None)(re.compile)

    def accepts(self, rule: str, text: str) -> bool:
        self._text = text
        self._known: dict[tuple[int, int], frozenset[int]] = {}
        return len(text) in self._ends(self._rules[rule], 0)

    def _ends(self, node: object, place: int) -> frozenset[int]:
        key = (id(node), place)
        if key not in self._known:
            self._known[key] = frozenset()  # left recursion would end here; there is none
            self._known[key] = frozenset(self._found(node, place))
        return self._known[key]

    def _found(self, node: object, place: int) -> set[int]:
        assert isinstance(node, tuple)
        kind, *parts = node
        if kind == "rule":
            return set(self._ends(self._rules[parts[0]], place))
        if kind == "string":
            found = self._text[place : place + len(parts[0])].lower() == parts[0].lower()
            return {place + len(parts[0])} if found else set()
        if kind == "class":
            found = self._classes(parts[0]).fullmatch(self._text[place : place + 1])
            return {place + 1} if found else set()
        if kind == "or":
            return {end for part in parts for end in self._ends(part, place)}
        if kind == "then":
            ends = {place}
            for part in parts:
                ends = {end for start in ends for end in self._ends(part, start)}
            return ends
        low, high, body = parts
        ends, all_ends = {place}, {place} if low == 0 else set()
        seen: set[int] = set()
        for count in range(1, (high or len(self._text) + 1) + 1):
            ends = {end for start in ends for end in self._ends(body, start)}
            if count >= low:
                if ends <= seen:
                    break
                seen |= ends
                all_ends |= ends
        return all_ends


class _Reader:
    """Reads the right-hand side of a rule."""

    def __init__(self, body: str) -> None:
        self._tokens: list[str] = []
        place = 0
        while found := _TOKENS.match(body, place):
            self._tokens.append(found[1])
            place = found.end()
        assert not body[place:].strip(), body

    def alternatives(self) -> object:
        options = [self._sequence()]
        while self._tokens and self._tokens[0] == "/":
            self._tokens.pop(0)
            options.append(self._sequence())
        return ("or", *options)

    def _sequence(self) -> object:
        items = []
        while self._tokens and self._tokens[0] not in "/)]":
            items.append(self._item())
        return ("then", *items)

    def _item(self) -> object:
        token = self._tokens.pop(0)
        if "*" in token and not token.startswith(("'", "<")):
            low, _, high = token.partition("*")
            return ("times", int(low or 0), int(high) if high else None, self._item())
        if token.isdigit():
            return ("times", int(token), int(token), self._item())
        if token in "([":
            inside = self.alternatives()
            self._tokens.pop(0)
            return inside if token == "(" else ("times", 0, 1, inside)
        if token[0] == "'":
            return ("string", token[1:-1])
        return ("class", token[1:-1]) if token[0] == "<" else ("rule", token)
