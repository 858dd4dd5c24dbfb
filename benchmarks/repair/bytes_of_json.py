"""A machine of JSON over bytes, and the nodes that a search for a repair expands under some estimates.

The machine is the language of ``tk.json(whitespace="any", spelling="any")``, but that names may be equal.
The product with a text and plain costs is explored up to the cost of the repair; then each estimate is
counted.  The default costs have rewrites that change brackets at prices of their own, and would need other
estimates.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter

from tokamata.repair.costs import EditCosts

State = tuple[str, str]  # a mode, and the open brackets
Node = tuple[int, State]

# Removing is dearer than inserting, so that what was written stays.
PLAIN_COSTS = EditCosts(other=1000, remove=dict.fromkeys(map(chr, range(256)), 1500))
_PAIRS = {"{": "}", "[": "]"}
_BLANKS = " \t\r\n"
_NUMBERS = {
    "-": {"0": "0", "123456789": "d"},
    "0": {".": ".", "eE": "e"},
    "d": {"0123456789": "d", ".": ".", "eE": "e"},
    ".": {"0123456789": "f"},
    "f": {"0123456789": "f", "eE": "e"},
    "e": {"0123456789": "x", "+-": "+"},
    "+": {"0123456789": "x"},
    "x": {"0123456789": "x"},
}
_ENDS = "0dfx"  # of a number
# What is missing in each mode, without the brackets.
_MISSING = {
    "V": 1,
    "A": 0,
    "O": 0,
    "K": 4,
    ":": 2,
    "E": 0,
    "-": 1,
    ".": 1,
    "e": 1,
    "+": 1,
    **dict.fromkeys(_ENDS, 0),
}
_WRITTEN = '"\\{}[]:,-+.0eatrufnls '  # one byte of each class that a repair may insert


def after(state: State, byte: str) -> State | None:
    """The state after a byte; ``None``: it is not JSON."""
    mode, stack = state
    kind = mode[0]
    if kind in "sk":
        return _in_string(mode, stack, byte)
    if kind == "l":
        return (("E" if len(mode) == 2 else "l" + mode[2:]), stack) if byte == mode[1] else None
    if kind in _NUMBERS:
        for digits, target in _NUMBERS[kind].items():
            if byte in digits:
                return target, stack
        return after(("E", stack), byte) if kind in _ENDS else None
    if byte in _BLANKS:
        return state
    if byte in "]}" and stack and _PAIRS[stack[-1]] == byte and mode in ("E", "A" if byte == "]" else "O"):
        return "E", stack[:-1]
    if kind in "OK":
        return ("k", stack) if byte == '"' else None
    if kind == ":":
        return ("V", stack) if byte == ":" else None
    if kind == "E":
        return ("K" if stack[-1] == "{" else "V", stack) if byte == "," and stack else None
    begun = {'"': "s", "t": "lrue", "f": "lalse", "n": "lull", "-": "-", "0": "0", "{": "O", "[": "A"}.get(
        byte
    )
    begun = "d" if byte in "123456789" else begun
    return None if begun is None else (begun, stack + byte if byte in "{[" else stack)


def _in_string(mode: str, stack: str, byte: str) -> State | None:
    kind, rest = mode[0], mode[1:]
    if rest == "\\":
        if byte == "u":
            return kind + "4", stack
        return (kind, stack) if byte in '"\\/bfnrt' else None
    if rest:
        left = int(rest) - 1
        return (kind + (str(left) if left else ""), stack) if byte in "0123456789abcdefABCDEF" else None
    if byte == '"':
        return (":" if kind == "k" else "E"), stack
    if byte == "\\":
        return kind + "\\", stack
    return (kind, stack) if byte >= " " else None


def missing(state: State) -> int:
    """How many bytes the shortest text of a state has."""
    mode, stack = state
    if mode[0] in "sk":
        own = 1 if mode[0] == "s" else 3
        own += 0 if len(mode) == 1 else 1 if mode[1] == "\\" else int(mode[1])
    else:
        own = len(mode) - 1 if mode[0] == "l" else _MISSING[mode[0]]
    return own + len(stack)


class ByteProduct:
    """A text and the machine, with plain costs."""

    def __init__(self, text: bytes) -> None:
        self.text = text.decode("latin-1")
        self.tables = PLAIN_COSTS.tables(text)
        self.append = min(self.tables[2])
        self.growth = min([*self.tables[0], *self.tables[1], *self.tables[2]])
        # A quote or a backslash more or less changes which bytes of the rest are brackets.
        changing = min(self.tables[1][ord('"')], self.tables[3][ord('"')], self.tables[1][ord("\\")])
        self.changing = [changing] * len(self.text) + [math.inf]
        self.brackets: dict[tuple[int, str], tuple[Counter[str], Counter[str]]] = {}

    def by_length(self, position: int, state: State) -> float:
        """The estimate of the engine."""
        rest = len(self.text) - position
        more = missing(state) - rest
        return 0 if more <= 0 else more * (self.append if rest == 0 else self.growth)

    def by_brackets(self, position: int, state: State) -> float:
        """The brackets that are unmatched in the rest, up to the price of changing which there are."""
        mode, stack = state
        within = ("\\" if mode[1:] == "\\" else '"') if mode[0] in "sk" else ""
        if (position, within) not in self.brackets:
            self.brackets[position, within] = self._unmatched(position, within)
        opened, closed = self.brackets[position, within]
        lost = sum(opened.values()) + sum(max(0, stack.count(kind) - closed[kind]) for kind in _PAIRS)
        spare = sum(max(0, closed[kind] - stack.count(kind)) for kind in _PAIRS)
        return min(
            self.changing[position], self.tables[2][ord("]")] * lost + self.tables[3][ord("]")] * spare
        )

    def _unmatched(self, position: int, within: str) -> tuple[Counter[str], Counter[str]]:
        opened, closed = Counter[str](), Counter[str]()
        for byte in self.text[position:]:
            if within == "\\":
                within = '"'
            elif within:
                within = "\\" if byte == "\\" else "" if byte == '"' else within
            elif byte == '"':
                within = '"'
            elif byte in _PAIRS:
                opened[byte] += 1
            elif byte in "]}":
                kind = "[" if byte == "]" else "{"
                (opened if opened[kind] else closed)[kind] += -1 if opened[kind] else 1
        return opened, closed

    def edges(self, position: int, state: State) -> list[tuple[int, State, int]]:
        """Where a node leads, and at what cost."""
        found = []

        def lead(to: int, written: str, cost: int) -> None:
            target: State | None = state
            for byte in written:
                target = target and after(target, byte)
            if target is not None:
                found.append((to, target, cost))

        if position < len(self.text):
            byte = self.text[position]
            lead(position + 1, byte, 0)
            lead(position + 1, "", self.tables[3][ord(byte)])
        table = self.tables[2 if position == len(self.text) else 0 if position == 0 else 1]
        for byte in _WRITTEN:
            lead(position, byte, table[ord(byte)])
        return found

    def counts(self, most: int) -> dict[str, int]:
        """How many nodes are below the cost of the repair with each estimate.

        Args:
            most: no repair that is looked for costs more.
        """
        start: Node = (0, ("V", ""))
        best, done = {start: 0}, dict[Node, int]()
        into: dict[Node, list[tuple[Node, int]]] = {}
        open_ = [(0, start)]
        cost, ends = most, []
        while open_:
            paid, node = heapq.heappop(open_)
            if node in done or paid > cost:
                continue
            done[node] = paid
            position, (mode, stack) = node
            if position == len(self.text) and not stack and mode in ("E", *_ENDS):
                cost = min(cost, paid)
                ends.append(node)
            for to, target, more in self.edges(*node):
                after_it = (to, target)
                if paid + more > cost:
                    continue
                into.setdefault(after_it, []).append((node, more))
                if paid + more < best.get(after_it, math.inf):
                    best[after_it] = paid + more
                    heapq.heappush(open_, (paid + more, after_it))
        left = self._distances(ends, into)
        counts = Counter[str]()
        for (position, state), paid in done.items():
            auto, struct = self.by_length(position, state), self.by_brackets(position, state)
            exact = min(left.get((position, state), math.inf), self.changing[position])
            counts["none"] += paid < cost
            counts["auto"] += paid + auto < cost
            counts["max(auto, struct)"] += paid + max(auto, struct) < cost
            counts["sum of both"] += paid + auto + struct < cost
            counts["max(auto, best)"] += paid + max(auto, exact) < cost
            # Both properties, where the exact distance is known.
            assert max(auto, struct) <= left.get((position, state), math.inf), (position, state)
        return {"cost": cost, **counts}

    def _distances(self, ends: list[Node], into: dict[Node, list[tuple[Node, int]]]) -> dict[Node, int]:
        left, open_ = dict.fromkeys(ends, 0), [(0, end) for end in ends]
        while open_:
            paid, node = heapq.heappop(open_)
            if paid > left[node]:
                continue
            for source, more in into.get(node, ()):
                if paid + more < left.get(source, math.inf):
                    left[source] = paid + more
                    heapq.heappush(open_, (paid + more, source))
        return left
