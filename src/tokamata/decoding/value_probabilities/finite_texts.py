"""All texts of a constraint that has finitely many, and few enough.

Problem.  Probabilities of values need the list of values.  A constraint may have one text, a million, or
infinitely many, and only its automaton knows.

How.  The constraint is composed with a vocabulary whose tokens are the 256 bytes, and its texts are read off
the masks, breadth first; bytes that are forced are read together::

    tk.choice(["on", "off"])      live prefixes       texts so far
                                  ""
                                  "o"
                                  "on" "off"
                                                      "on" "off"

Masks are exact, so every live prefix leads to a text of its own: prefixes and texts so far together never
outnumber the texts of the constraint.  More than the bound of them prove that there are too many, before all
are enumerated.  An infinite constraint gets there too, since its prefixes never end.

Cost: a step of the engine for each byte of each text, without what texts share; 0.4 s for 10,000 words.
Rejected: the closed form of the automaton, which grammars and JSON need not have; it only counts what was
refused, for the message.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from tokamata.constraints.json_constraints import JsonConstraint
from tokamata.errors import LimitExceeded, TooManyTextsError
from tokamata.matching.masks import allowed_tokens
from tokamata.resources.limits import CancelToken, Limits, Watch
from tokamata.vocabulary import Vocabulary

if TYPE_CHECKING:
    from tokamata.constraints.constraint import Constraint
    from tokamata.matching.matchers import CompiledConstraint

__all__ = ["STOP", "byte_vocabulary", "finite_texts"]

STOP = 256  # the stop token of byte_vocabulary, after the bytes
_COUNTING = Limits(states=20_000, memory_bytes=1 << 27, seconds=2.0)


@cache
def byte_vocabulary() -> Vocabulary:
    """The 256 bytes as tokens, and a stop token."""
    return Vocabulary.load([*(bytes([value]) for value in range(256)), None], stop=STOP)


def finite_texts(constraint: Constraint[Any], most: int, watch: Watch) -> list[bytes]:
    """All texts, shorter ones first, then by their bytes.

    Args:
        constraint: one whose texts do not depend on tokens.
        most: how many there may be.
        watch: bounds the work.

    Raises:
        TooManyTextsError: there are more; the error says how many, if that can be counted.
        AlgebraError: a text of the constraint needs tokens (control tokens, token edges).
        EmptyConstraintError: there is no text.
        LimitExceeded, Cancelled: the work was stopped.
    """
    constraint._refuse_tokens("the probability of values")
    limits, cancel = watch.within(watch.limits)
    compiled = constraint.compile(byte_vocabulary(), limits=limits, cancel=cancel)
    open_ones = [(b"", compiled.matcher())]
    found: list[bytes] = []
    while open_ones:
        following = []
        for text, matcher in open_ones:
            watch.check()
            bytes_after = allowed_tokens(matcher.mask).tolist()
            for byte in bytes_after:
                if byte == STOP:
                    found.append(text)
                    watch.hold(len(text))
                    continue
                data = bytes([byte]) if len(bytes_after) > 1 else matcher.forced_text()
                fork = matcher.fork()
                fork.advance_all(list(data))
                following.append((text + data, fork))
            if len(found) + len(following) > most:
                raise TooManyTextsError(
                    constraint.pattern, _counted(constraint, cancel), most, _advice(constraint)
                )
        open_ones = following
    return sorted(found, key=lambda text: (len(text), text))


def _counted(constraint: Constraint[Any], cancel: CancelToken | None) -> int | None:
    """How many texts there are; -1 for infinitely many, ``None`` where that is not known."""
    try:
        compiled = constraint.compile(byte_vocabulary(), limits=_COUNTING, cancel=cancel)
        return _paths(compiled)
    except LimitExceeded:
        return None


def _paths(compiled: CompiledConstraint[Any]) -> int:
    """The number of accepting paths of the closed form; -1 if it has a cycle.

    The automaton is trimmed, so every cycle is on a path; and deterministic, so every text has one path.
    """
    automaton = compiled.token_automaton()
    counts: dict[int, int] = {}
    under_way: set[int] = set()
    stack = [automaton.start]
    while stack:
        state = stack[-1]
        if state in counts:
            stack.pop()
            continue
        targets = {target: len(tokens) for target, tokens in automaton.rows(state).items()}
        missing = [target for target in targets if target not in counts]
        if state not in under_way:
            under_way.add(state)
            if any(target in under_way for target in missing):
                return -1
            stack.extend(missing)
        else:
            ends = int(automaton.accepting[state])
            counts[state] = ends + sum(size * counts[target] for target, size in targets.items())
            stack.pop()
    return counts[automaton.start]


def _advice(constraint: Constraint[Any]) -> str:
    if isinstance(constraint, JsonConstraint):
        return (
            'pass spelling="plain" and whitespace="compact", with which a value has few texts, or ask for '
            "fewer values"
        )
    return "give a constraint with fewer texts"
