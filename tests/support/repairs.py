"""What holds of every repair, whatever the constraint: checked from its edits, without the search."""

from __future__ import annotations

import random
from collections.abc import Sequence

import tokamata as tk
from tokamata.automata import EPSILON, Acceptor
from tokamata.automata.correction import Prices

LETTERS = "abc"


def as_bytes(text: str | bytes) -> bytes:
    return text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text


def applied(broken: bytes, edits: Sequence[tk.Edit]) -> bytes:
    """A text after edits, each of which has to fit it."""
    text, position = bytearray(), 0
    for edit in edits:
        assert position <= edit.begin <= edit.end <= len(broken), edit
        assert broken[edit.begin : edit.end] == edit.removed, edit
        assert edit.cost >= 0, edit
        text += broken[position : edit.begin] + edit.written
        position = edit.end
    return bytes(text + broken[position:])


def check_repair(repair: tk.Repair[object], broken: str | bytes) -> None:
    """The edits give the text, their costs add up to no less than the bound, and the certificate holds."""
    assert repair.certificate.broken == as_bytes(broken)
    assert applied(as_bytes(broken), repair.edits) == repair.text.encode()
    assert repair.cost == sum(edit.cost for edit in repair.edits)
    assert 0 <= repair.lower_bound <= repair.cost
    assert repair.optimal == (repair.lower_bound == repair.cost)
    assert repair.certificate.flaw() is None


def uniform_costs(prices: Prices) -> tk.EditCosts:
    """The costs of the oracles: one price for each of three edits."""
    every = "".join(map(chr, range(128)))
    return tk.EditCosts(
        other=prices.remove, insert={every: prices.insert}, remove={every: prices.remove},
        replace=prices.replace,
    )  # fmt: skip


def random_costs(draw: random.Random) -> tk.EditCosts:
    """Few distinct prices, 0 among them, so that there are ties; rewrites and doubts of letters and JSON."""

    def price() -> int:
        return draw.choice([0, 1, 1, 2, 3, 1000, 1_000_000_000])

    def some() -> dict[str, int]:
        return {draw.choice(['"', "{}[]", ":,", "abc", " \n", "é", "\0"]): price() for _ in range(3)}

    patterns = [b"a+", b"b", b"[{}]", b'"', b"\\s+", b"(?<=a)b*", b"[^a-z]", b""]
    written = [
        b"",
        b"a",
        b'"',
        b"[1]",
        b"\\g<0>\\g<0>",
        lambda match: None if len(match[0]) % 2 else match[0][::-1],
    ]
    return tk.EditCosts(
        other=price(), insert=some(), prepend=some(), append=some(), remove=some(),
        replace=draw.choice([None, price()]),
        rewrites=[
            tk.Rewrite(f"rewrite {number}", draw.choice(patterns), draw.choice(written), price())
            for number in range(draw.randrange(4))
        ],
        doubts=[tk.Doubt("doubt", draw.choice(patterns), price()) for _ in range(draw.randrange(3))],
    )  # fmt: skip


def regex_of(acceptor: Acceptor) -> str | None:
    """A regular expression for an acceptor over :data:`LETTERS`, by removing its states one by one."""
    start, end = acceptor.states, acceptor.states + 1
    edges: dict[tuple[int, int], str] = {}

    def add(source: int, target: int, text: str) -> None:
        known = edges.get((source, target))
        edges[source, target] = text if known is None else f"(?:{known}|{text})"

    for source, symbol, target in acceptor.transitions:
        add(source, target, "" if symbol == EPSILON else LETTERS[symbol])
    add(start, acceptor.start, "")
    for state in acceptor.accepting:
        add(state, end, "")
    for state in range(acceptor.states):
        loop = edges.pop((state, state), None)
        turns = "" if loop is None else f"(?:{loop})*"
        into = [(s, text) for (s, t), text in edges.items() if t == state]
        out = [(t, text) for (s, t), text in edges.items() if s == state]
        for source, before in into:
            for target, after in out:
                add(source, target, f"(?:{before}){turns}(?:{after})")
        for key in [key for key in edges if state in key]:
            del edges[key]
    return edges.get((start, end))
