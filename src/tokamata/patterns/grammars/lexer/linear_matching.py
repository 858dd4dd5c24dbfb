r"""Matches of terminals, in time linear in the text.

Problem.  ``re`` tries one alternative after the other: on ``aaa…a``, ``/(a|a)*b/`` takes time 2^n, and
nothing stops it.  lark's parsers call it at every position.
How.  Most terminals are *deterministic*: after each character, at most one place of the expression reads the
next one.  ``re`` never goes back far in these, and lark keeps it for them.  For other terminals, the threads
of :mod:`.threads` find the match that ``re`` prefers, as they do for masks.  The lists of threads are states,
and the state after a state and a character is kept.

Worked example.  ``/[0-9]+(\.[0-9]+)?/`` is deterministic.  ``/.*?;/`` is not: ``.`` and ``;`` read ``;``.

Source.  Brüggemann-Klein and Wood, *One-unambiguous regular languages*, 1998 (deterministic expressions).
Cost.  A look-up for each character; a list of threads for each new pair of a state and a character.
Rejected: the timeout of the module ``regex``, which is not always installed.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from tokamata.patterns.grammars.lexer.conditions import ALWAYS, NEVER, Condition
from tokamata.patterns.grammars.lexer.threads import END, Past, Places, Thread
from tokamata.resources.bounded_steps import step
from tokamata.resources.limits import Watch

__all__ = ["LinearPattern"]

_START = -1  # before the first character
_MOST_PATHS = 10_000  # that re may try in an expression without loops
_MOST_STEPS = 10_000  # that are kept


_State: TypeAlias = tuple[tuple[int, ...], bool]  # places in order; whether a match ends


class _Match(NamedTuple):
    """A match, with the members of one of ``re`` that lark reads."""

    text: str
    begin: int
    stop: int
    lastgroup: str

    def group(self, _: int = 0) -> str:
        """Its text."""
        return self.text[self.begin : self.stop]

    def end(self) -> int:
        """Where it ends."""
        return self.stop


class _Around(threading.local):
    """The text of a match, as far as its assertions have seen it."""

    def __init__(self, start: Past) -> None:
        self.text = ""
        self.pasts = [start]  # by position


class LinearPattern:
    """An expression, as ``re.compile`` makes it for lark.

    Args:
        name: of the terminal.
        regex, flags: the expression.
        watch: stops the construction.
    """

    def __init__(self, name: str, regex: str, flags: int, watch: Watch) -> None:
        self._name = name
        self._places = Places(watch)
        self._begun = self._places.add(regex, flags)
        self._steps: dict[tuple[tuple[int, ...], str], _State] = {}
        self._around = _Around(self._places.start)

    def is_deterministic(self) -> bool:
        """Whether ``re`` takes linear time; no, for expressions with assertions, which see other texts."""
        return not self._begun.sees_around and _is_deterministic(self._places, self._begun.place)

    def match(self, text: str, begin: int = 0, end: int | None = None) -> _Match | None:
        """The match at a position that ``re.match`` prefers; ``end`` is the end of the text."""
        stop = self._end(text, begin)
        return None if stop is None else _Match(text, begin, stop, self._name)

    def _end(self, text: str, begin: int) -> int | None:
        if text is not self._around.text:
            self._around.text = text
            del self._around.pasts[1:]
        state, is_end = self._state(self._places.reached(self._begun.place, self._past(begin)), begin)
        found = begin if is_end else None
        for at in range(begin, len(text)):
            if not state:
                break
            step()
            state, is_end = self._after(state, at)
            if is_end:
                found = at + 1
        return found

    def _after(self, state: tuple[int, ...], at: int) -> _State:
        """The state after the character at a position."""
        character = self._around.text[at]
        kept = self._steps.get((state, character))
        if kept is not None:
            return kept
        past = self._past(at + 1)
        symbol = self._places.alphabet.symbol(ord(character))
        threads = [thread for place in state for thread in self._places.after(place, symbol, past)]
        made = self._state(threads, at + 1)
        if not self._begun.sees_around:  # with assertions it depends on the text around
            if len(self._steps) == _MOST_STEPS:
                self._steps.clear()
            self._steps[state, character] = made
        return made

    def _state(self, threads: Iterable[Thread], at: int) -> _State:
        """The places that threads wait at, up to one that has ended."""
        places: dict[int, None] = {}
        for place, condition in threads:
            if place not in places and self._holds(condition, at):
                if place == END:
                    return tuple(places), True
                places[place] = None
        return tuple(places), False

    def _holds(self, condition: Condition, at: int) -> bool:
        """Whether the text from a position on fulfils a condition."""
        text = self._around.text
        while condition not in (ALWAYS, NEVER):
            if at == len(text):
                return self._places.holds_at_end(condition)
            step()
            symbol = self._places.alphabet.symbol(ord(text[at]))
            condition = self._places.condition_after(condition, symbol, self._past(at + 1))
            at += 1
        return condition == ALWAYS

    def _past(self, at: int) -> Past:
        text, pasts = self._around.text, self._around.pasts
        if not self._places.sees_past:
            return pasts[0]
        while len(pasts) <= at:
            step(1)
            symbol = self._places.alphabet.symbol(ord(text[len(pasts) - 1]))
            pasts.append(self._places.past_after(pasts[-1], symbol))
        return pasts[at]


def _is_deterministic(places: Places, begin: int) -> bool:
    """Whether ``re`` tries few paths of an expression without assertions, whatever the text is."""
    past = places.start
    following: dict[int, list[int]] = {}  # after each place, those that may read the next character
    waiting = [(_START, places.reached(begin, past))]
    is_one = True
    while waiting:
        step()
        at, threads = waiting.pop()
        following[at] = [place for place in dict.fromkeys(thread.place for thread in threads) if place != END]
        is_one = is_one and not _overlap(places.mask(place) for place in following[at])
        for place in following[at]:
            if place not in following:
                following[place] = []
                symbol = places.mask(place).bit_length() - 1
                waiting.append((place, places.after(place, symbol, past)))
    return is_one or _paths(following, _START) <= _MOST_PATHS


def _overlap(masks: Iterable[int]) -> bool:
    """Whether a symbol is in two of some sets."""
    found = 0
    for mask in masks:
        if found & mask:
            return True
        found |= mask
    return False


def _paths(following: dict[int, list[int]], begin: int) -> float:
    """How many paths of a graph begin at a node."""
    counts: dict[int, float] = {}
    open_nodes: set[int] = set()
    waiting = [begin]
    while waiting:
        node = waiting[-1]
        missing = [other for other in following[node] if other not in counts]
        if node in counts or not missing:
            waiting.pop()
            open_nodes.discard(node)
            counts[node] = 1 + sum(counts[other] for other in following[node])
        elif node in open_nodes and not open_nodes.isdisjoint(missing):
            return math.inf  # a loop
        else:
            open_nodes.add(node)
            waiting += missing
    return counts[begin]
