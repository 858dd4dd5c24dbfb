"""Derivations, LL(1) and LR(1) by their definitions, without the library, for small grammars.

A plain grammar is a dictionary: for each rule, its alternatives, each a tuple of names of rules and letters.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from itertools import product

from tokamata.patterns.grammars.rules.rule_trees import (
    Choice,
    Grammar,
    Node,
    Reference,
    Repeat,
    Sequence,
    Terminal,
)

Plain = dict[str, list[tuple[str, ...]]]
END = "$"


def all_texts(longest: int, letters: str = "ab") -> Iterator[str]:
    """The shorter ones first."""
    for length in range(longest + 1):
        for chosen in product(letters, repeat=length):
            yield "".join(chosen)


# ---- counting derivations: 0, 1, or 2 for more ----


def derivations(grammar: Grammar, text: str) -> int:
    """How many derivations a text has, at most 2, as the least fixed point over the parts of the text.

    Alternatives of a rule or a group that are the same symbols are one, and so are nested sequences.
    """
    counts: dict[tuple[str, int, int], int] = {}
    spans = [(i, j) for i in range(len(text) + 1) for j in range(i, len(text) + 1)]

    def of_symbol(node: Node, i: int, j: int) -> int:
        if isinstance(node, Reference):
            return counts.get((node.rule, i, j), 0)
        if isinstance(node, Terminal):
            return int(text[i:j] in node.texts)
        return counts.get((f"group {id(node)}", i, j), 0)

    def of_sequence(symbols: tuple[Node, ...], i: int, j: int) -> int:
        ways = {i: 1}
        for symbol in symbols:
            after: dict[int, int] = {}
            for at, count in ways.items():
                for end in range(at, j + 1):
                    if more := count * of_symbol(symbol, at, end):
                        after[end] = min(2, after.get(end, 0) + more)
            ways = after
        return ways.get(j, 0)

    def of_repeat(node: Repeat, i: int, j: int) -> int:
        body = (node.body,) if isinstance(node.body, (Terminal, Reference)) else _flat(node.body)
        item = body[0] if len(body) == 1 else node.body
        total = 0
        bound = (len(text) + 2 + node.minimum) if node.maximum is None else node.maximum
        for rounds in range(node.minimum, bound + 1):
            total = min(2, total + of_sequence((item,) * rounds, i, j))
        return total

    bodies: dict[str, Node] = dict(grammar.rules)
    for body in grammar.rules.values():
        for node in _groups(body):
            bodies[f"group {id(node)}"] = node
    options = {
        name: [] if isinstance(body, Repeat) and name.startswith("group ") else _alternatives(body)
        for name, body in bodies.items()
    }
    while True:
        before = dict(counts)
        for name, body in bodies.items():
            for i, j in spans:
                if isinstance(body, Repeat) and name.startswith("group "):
                    found = of_repeat(body, i, j)
                else:
                    found = sum(of_sequence(symbols, i, j) for symbols in options[name])
                if found:
                    counts[name, i, j] = min(2, found)
        if counts == before:
            return counts.get((grammar.start, 0, len(text)), 0)


def _flat(node: Node) -> tuple[Node, ...]:
    if isinstance(node, Sequence):
        return tuple(part for child in node.children for part in _flat(child))
    return (node,)


def _alternatives(node: Node) -> list[tuple[Node, ...]]:
    options = [node]
    found: dict[tuple[object, ...], tuple[Node, ...]] = {}
    while options:
        option = options.pop()
        if isinstance(option, Choice):
            options += option.children
        else:
            symbols = _flat(option)
            found[tuple(part.rule if isinstance(part, Reference) else id(part) for part in symbols)] = symbols
    return list(found.values())


def _groups(body: Node) -> Iterator[Node]:
    """Choices and repetitions, and bodies of repetitions, which are symbols of their own."""
    open_nodes = [body]
    while open_nodes:
        node = open_nodes.pop()
        if isinstance(node, (Choice, Repeat, Sequence)):
            yield node
            open_nodes += node.children


# ---- plain grammars ----


def plain(grammar: Grammar) -> Plain:
    """Of a grammar whose rules are choices of sequences; without what is in no derivation."""

    def name(node: Node) -> str:
        return node.rule if isinstance(node, Reference) else node.texts[0]  # type: ignore[union-attr]

    rules = {
        rule: list(dict.fromkeys(tuple(map(name, symbols)) for symbols in _alternatives(body)))
        for rule, body in grammar.rules.items()
    }
    productive: set[str] = set()
    while True:
        found = {
            rule
            for rule, options in rules.items()
            if any(all(part not in rules or part in productive for part in option) for option in options)
        }
        if found == productive:
            break
        productive = found
    rules = {
        rule: [
            option for option in options if all(part not in rules or part in productive for part in option)
        ]
        for rule, options in rules.items()
    }
    reached = [grammar.start]
    for rule in reached:
        reached += {part for option in rules[rule] for part in option if part in rules} - set(reached)
    return {rule: rules[rule] for rule in reached}


def _firsts(grammar: Plain) -> dict[str, set[str]]:
    """What a rule may begin with; ``""``: it may be empty."""
    found: dict[str, set[str]] = {rule: set() for rule in grammar}
    while True:
        before = {rule: set(first) for rule, first in found.items()}
        for rule, options in grammar.items():
            for option in options:
                found[rule] |= first_of(option, found)
        if found == before:
            return found


def first_of(symbols: tuple[str, ...], firsts: dict[str, set[str]]) -> set[str]:
    result: set[str] = set()
    for symbol in symbols:
        first = firsts.get(symbol, {symbol})
        result |= first - {""}
        if "" not in first:
            return result
    return result | {""}


def is_ll1(grammar: Plain, start: str, most: int = 3_000) -> bool:
    """Whether no left sentential form leaves two alternatives for its first rule: forms up to a number.

    Two alternatives are possible in ``w A σ`` if both, with σ after them, may begin with the same letter or
    be empty.  Only the letters that σ begins with matter, so forms are shortened after a few symbols.
    """
    firsts = _firsts(grammar)
    seen = {(start,)}
    waiting = [(start,)]
    while waiting and len(seen) < most:
        form = waiting.pop(0)
        head, rest = form[0], form[1:]
        if head not in grammar:
            reached = [rest]
        else:
            options = grammar[head]
            begins = [first_of(option + rest, firsts) for option in options]
            if any(one & other for i, one in enumerate(begins) for other in begins[:i]):
                return False
            reached = [option + rest for option in options]
        for after in reached:
            if after and len(after) <= 12 and after not in seen:
                seen.add(after)
                waiting.append(after)
    return True


def shortest_conflict(grammar: Plain, start: str) -> int | None:
    """The length of a shortest prefix with a conflict in the canonical LR(1) automaton; ``None``: LR(1)."""
    firsts = _firsts(grammar)
    lengths = _lengths(grammar)

    def closure(items: frozenset[tuple[str, tuple[str, ...], int, str]]) -> frozenset:
        found = set(items)
        waiting = list(items)
        while waiting:
            _, symbols, dot, follow = waiting.pop()
            if dot < len(symbols) and symbols[dot] in grammar:
                for letter in first_of((*symbols[dot + 1 :], follow), firsts):
                    for option in grammar[symbols[dot]]:
                        item = (symbols[dot], option, 0, letter)
                        if item not in found:
                            found.add(item)
                            waiting.append(item)
        return frozenset(found)

    first = closure(frozenset({("", (start,), 0, END)}))
    distances = {first: 0}
    waiting = [first]
    worst = None
    while waiting:
        state = min(waiting, key=distances.__getitem__)
        waiting.remove(state)
        ends = [follow for _, symbols, dot, follow in state if dot == len(symbols)]
        reads = {symbols[dot] for _, symbols, dot, _ in state if dot < len(symbols)}
        if len(set(ends)) < len(ends) or set(ends) & reads:
            return distances[state]
        for symbol in reads:
            after = closure(
                frozenset(
                    (left, symbols, dot + 1, follow)
                    for left, symbols, dot, follow in state
                    if dot < len(symbols) and symbols[dot] == symbol
                )
            )
            distance = distances[state] + lengths.get(symbol, 1)
            if after not in distances or distance < distances[after]:
                distances[after] = distance
                if after not in waiting:
                    waiting.append(after)
    return worst


def _lengths(grammar: Plain) -> dict[str, int]:
    found = dict.fromkeys(grammar, 10**9)
    while True:
        before = dict(found)
        for rule, options in grammar.items():
            for option in options:
                length = reduce(lambda total, part: total + found.get(part, 1), option, 0)
                found[rule] = min(found[rule], length)
        if found == before:
            return found
