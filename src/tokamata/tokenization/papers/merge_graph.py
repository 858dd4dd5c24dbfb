"""The Merge-DAG of 004: all short strings of tokens, and every greedy schedule of each.

Section 3.3 defines a graph G_τ "whose nodes are byte strings concatenated from up to L tokens; edges apply a
single ranked merge valid under some greedy schedule".  A merge never changes the string, only how it is cut.
So the graph has one component for each string; its nodes are the configurations of that string, and its edges
are steps of :mod:`.schedules`.  For the merges (b,c), (x,b) and (a,a), two of the components are::

    x b c  ─(b,c)─▶  x bc                 a a a  ─(a,a)─▶  aa a
                                                └──(a,a)─▶  a aa

A border between two characters is *crossed* in a string if some schedule ends with a token that has
characters on both sides.  For each string the graph keeps these borders and the least number of tokens that
spell the string, which is all that the detectors of :mod:`.detectors` need.

Figures of section 3.3: V_L is the number of strings, and E_L the number of pairs of a string and a merge that
some schedule of it applies; so E_L is at most the number of merges times V_L, as printed.

The strings of up to L of K tokens are about K^L: 10^9 of two tokens for the smallest vocabulary of the paper,
which reports 1.1·10^5 to 3.4·10^5 of three.  So the graph of a real vocabulary cannot be built.  A graph that
meets one of its limits holds the strings of the fewest tokens, and names the limit.

Schedules differ in the order in which they join the pairs of a run, so a run of n equal characters has
exponentially many configurations.  A string with more than 10,000 of them is left out, and counts as a limit.

Cost: for each string, the number of its configurations times the square of its length.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter

from tokamata.automata.account import Account
from tokamata.automata.drawing import svg
from tokamata.automata.drawing.diagram import Diagram, Edge
from tokamata.errors import LimitExceeded, MachineError
from tokamata.resources.limits import Limits
from tokamata.tokenization.papers.merges import Merge, spellings
from tokamata.tokenization.papers.schedules import Configuration, Schedules

Characters = tuple[int, ...]

_MOST_OF_A_STRING = 10_000  # configurations
_Component = dict[Configuration, list[tuple[Merge, Configuration]]]


@dataclass(frozen=True)
class String:
    """What the graph keeps of a string.

    Attributes:
        tokens: the least number of tokens that spell it.
        crossed: bit ``i`` is set if a token of some schedule has characters ``i - 1`` and ``i``.
        merges: how many different merges its schedules apply.
        configurations: how many configurations its schedules have.
    """

    tokens: int
    crossed: int
    merges: int
    configurations: int


class MergeGraph:
    """G_τ of 004, section 3.3: the strings of up to ``horizon`` tokens, with all of their schedules.

    Args:
        characters: the ids of all characters.
        merges: in order of priority.
        horizon: L, the largest number of tokens of a string.
        ranks: the rank of each merge; merges of one rank are ties.  By default, there are none.
        around: if given, only strings that contain it.
        limits: ``states`` bounds the configurations of all strings.  At a limit the graph is left incomplete.

    Raises:
        VocabularyError: two merges make the same token from different texts.
        MachineError: the horizon is below 1, or ``around`` is empty.

    Attributes:
        horizon: L.
        around: the text that each string contains, if one was given.
        strings: V_L, by the characters of each string.
        limit: the limit that was met, as a sentence; ``None`` if the graph is complete.
        build_ms: the time that it took, in milliseconds.
    """

    def __init__(
        self,
        characters: Iterable[int],
        merges: Sequence[Merge],
        horizon: int,
        ranks: Sequence[int] | None = None,
        around: Sequence[int] | None = None,
        limits: Limits | None = None,
    ) -> None:
        if horizon < 1 or (around is not None and not around):
            raise MachineError(
                f"there are no strings of {horizon} tokens around the characters {around}; pass a horizon "
                "of at least 1, and at least one character or None"
            )
        began = perf_counter()
        self.horizon = horizon
        self.around = None if around is None else tuple(around)
        self.strings: dict[Characters, String] = {}
        self.limit: str | None = None
        self._schedules = Schedules(merges, ranks)
        self._texts = spellings(merges, characters)
        account = Account(limits)
        left_out: set[Characters] = set()
        try:
            for count, string in _strings(list(self._texts.values()), horizon, self.around, account):
                if string in self.strings or string in left_out:
                    continue
                component = _component(self._schedules, string, account)
                if component is None:
                    left_out.add(string)
                else:
                    self.strings[string] = self._examined(component, count)
        except LimitExceeded as error:
            self.limit = str(error).partition("\n")[0]
        if left_out and self.limit is None:
            self.limit = f"strings with more than {_MOST_OF_A_STRING:,} configurations: {len(left_out):,}"
        self.build_ms = 1000 * (perf_counter() - began)

    @property
    def V(self) -> int:  # the name in the paper
        """V_L: the number of strings."""
        return len(self.strings)

    @property
    def E(self) -> int:
        """E_L: the number of pairs of a string and a merge that some schedule of it applies."""
        return sum(string.merges for string in self.strings.values())

    @property
    def configurations(self) -> int:
        """The number of configurations of all strings."""
        return sum(string.configurations for string in self.strings.values())

    @property
    def memory_bytes(self) -> int:
        """The bytes of the strings and of what is kept of them."""
        kept = sum(
            sys.getsizeof(key) + sys.getsizeof(value.__dict__) + 48 for key, value in self.strings.items()
        )
        return kept + sys.getsizeof(self.strings)

    def steps(self, characters: Sequence[int]) -> _Component:
        """The component of a string: from each configuration, the merges that may come next.

        Raises:
            MachineError: the string is not in the graph.
        """
        if tuple(characters) not in self.strings:
            raise MachineError(
                f"the string of the characters {list(characters)} is not in this graph, whose strings are "
                f"spelled by at most {self.horizon} tokens; build the graph with a larger horizon"
            )
        return _component(self._schedules, tuple(characters), Account()) or {}

    def diagram(self, characters: Sequence[int], names: dict[int, str]) -> Diagram:
        """The drawing of a string's component, as data: each configuration is written below its state.

        Args:
            characters: the string.
            names: how a token is written.

        Raises:
            MachineError: the string is not in the graph.
        """
        component = self.steps(characters)
        number = {configuration: index for index, configuration in enumerate(component)}
        labels: dict[tuple[int, int], list[str]] = {}
        for configuration, following in component.items():
            for merge, after in following:
                between = number[configuration], number[after]
                labels.setdefault(between, []).append(f"({names[merge.left]}, {names[merge.right]})")
        edges = tuple(
            Edge(*between, " ".join(dict.fromkeys(found)), " ".join(found))
            for between, found in sorted(labels.items())
        )
        ends = frozenset(number[configuration] for configuration, after in component.items() if not after)
        notes = {index: " ".join(names[token] for token in one) for one, index in number.items()}
        return Diagram("MergeGraph", len(component), 0, ends, edges, len(edges), notes)

    def to_svg(self, characters: Sequence[int], names: dict[int, str]) -> str:
        """That drawing; ends of schedules have a double circle."""
        return svg.draw(self.diagram(characters, names))

    def _examined(self, component: _Component, count: int) -> String:
        crossed = 0
        merges: set[Merge] = set()
        for configuration, following in component.items():
            merges.update(merge for merge, _ in following)
            if not following:
                crossed |= self._inner(configuration)
        return String(count, crossed, len(merges), len(component))

    def _inner(self, configuration: Configuration) -> int:
        """The borders inside the tokens of a configuration, as bits."""
        crossed, at = 0, 0
        for token in configuration:
            size = len(self._texts[token])
            crossed |= ((1 << (size - 1)) - 1) << (at + 1)
            at += size
        return crossed


def _component(schedules: Schedules, string: Characters, account: Account) -> _Component | None:
    """All configurations of a string, and what may follow each; ``None`` if they are too many."""
    component: _Component = {}
    waiting = [string]
    while waiting:
        configuration = waiting.pop()
        if configuration in component:
            continue
        if len(component) == _MOST_OF_A_STRING:
            return None
        account.add_states(1, len(configuration))
        component[configuration] = [
            (Merge(configuration[index], configuration[index + 1], after[index]), after)
            for index, after in schedules.steps(configuration)
        ]
        waiting += [after for _, after in reversed(component[configuration])]
    return component


def _strings(
    texts: list[Characters], horizon: int, around: Characters | None, account: Account
) -> Iterator[tuple[int, Characters]]:
    """The strings of up to ``horizon`` tokens and the number of these, those of fewer tokens first."""
    if around is None:
        last: dict[Characters, None] = {(): None}
        seen: set[Characters] = set()
        for count in range(1, horizon + 1):
            following: dict[Characters, None] = {}
            for string in last:
                for text in texts:
                    account.work()
                    longer = string + text
                    if longer not in seen:
                        seen.add(longer)
                        following[longer] = None
                        yield count, longer
            last = following
        return
    for count in range(1, horizon + 1):
        for covering in range(1, count + 1):
            for cover in _covers(texts, around, covering, account):
                for before in range(count - covering + 1):
                    for left in _products(texts, before, account):
                        for right in _products(texts, count - covering - before, account):
                            yield count, left + cover + right


def _covers(
    texts: list[Characters], inside: Characters, count: int, account: Account
) -> Iterator[Characters]:
    """The strings of ``count`` tokens that contain ``inside``, each token with a part of it."""
    size = len(inside)
    if count == 1:
        for text in texts:
            account.work()
            if any(text[i : i + size] == inside for i in range(len(text) - size + 1)):
                yield text
        return
    for cut in range(1, size - count + 2):
        firsts = [text for text in texts if len(text) >= cut and text[-cut:] == inside[:cut]]
        for middle, end in _middles(texts, inside, cut, count - 2):
            rest = inside[end:]
            lasts = [text for text in texts if text[: len(rest)] == rest]
            for first in firsts:
                for last in lasts:
                    account.work()
                    yield first + middle + last


def _middles(
    texts: list[Characters], inside: Characters, start: int, count: int
) -> Iterator[tuple[Characters, int]]:
    """``count`` tokens that spell a part of ``inside`` from ``start``, with something left after them."""
    if not count:
        yield (), start
        return
    for text in texts:
        end = start + len(text)
        if end < len(inside) and inside[start:end] == text:
            for rest, last in _middles(texts, inside, end, count - 1):
                yield text + rest, last


def _products(texts: list[Characters], count: int, account: Account) -> Iterator[Characters]:
    if not count:
        yield ()
        return
    for text in texts:
        for rest in _products(texts, count - 1, account):
            account.work()
            yield text + rest
