"""Trials: one engine, one pattern, from text to first mask, and then along texts.

A trial compiles the pattern and fills the first mask, walks the texts (states never seen, but for
the first), and walks them again (states seen before).  Engines take turns, in an order that moves
on with every round, so that whatever drifts hits all alike.  In its turn an engine compiles twice:
the first time the processor's caches hold what the others have left there, which is reported apart;
the second counts.  Where compiling takes so long that this makes no difference, once is enough.
The first round warms up: its figures are kept apart, and in it the texts are checked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from agreement import Bits, Difference, bits_of, differences
from cases import Case
from engines import Engine, RefusedError, Session
from timing import clock, quiet
from tokenizer import Tokenizer

WARM_BELOW_NS = 50_000_000
"""An engine that takes longer than this from text to first mask fills the caches by itself."""
LEAST_TRIALS = 3
WARM_WALKS = 2


@dataclass(frozen=True)
class Budget:
    """When an engine has had enough of a pattern.

    Attributes:
        seconds: after which it is given no more trials, once it has three.
        walking_seconds: after which its trials end with the first mask.
    """

    seconds: float
    walking_seconds: float


@dataclass
class Walk:
    """Times of single steps, in nanoseconds, each with the cost of reading the clock in it once.

    ``step`` is ``fill`` plus ``advance`` of the same step, and has it twice.
    """

    fill: list[int] = field(default_factory=list)
    step: list[int] = field(default_factory=list)


@dataclass
class Result:
    """All trials of one engine with one pattern; times in nanoseconds.

    Attributes:
        both: pattern text to first mask.
        compiling: the part up to a matcher.
        mask: the part after that.
        after_others: pattern text to first mask, right after another engine's turn.
        whole: pattern text to the end of the first text, a mask at each step.
        first: pattern text to first mask in the round that warms up.
        cold: steps in states that were not seen before.
        warm: steps in states that were.
        refused: what the engine says to a pattern that it does not take.
        wrong: what it did not accept though it matches.
        spent_s: time that all trials took.
        walked_s: of which walking.
    """

    both: list[int] = field(default_factory=list)
    compiling: list[int] = field(default_factory=list)
    mask: list[int] = field(default_factory=list)
    after_others: list[int] = field(default_factory=list)
    whole: list[int] = field(default_factory=list)
    first: int | None = None
    cold: Walk = field(default_factory=Walk)
    warm: Walk = field(default_factory=Walk)
    refused: str | None = None
    wrong: str | None = None
    spent_s: float = 0.0
    walked_s: float = 0.0


def run_case(
    case: Case,
    engines: Sequence[Engine],
    tokenizer: Tokenizer,
    runs: int,
    budget: Budget,
    say: Callable[[str], None],
) -> tuple[dict[str, Result], list[Difference]]:
    """All trials of one pattern.

    Args:
        case: the pattern.
        engines: those that take turns.
        tokenizer: the vocabulary.
        runs: trials of each engine that count.
        budget: when an engine has had enough.
        say: told how it goes.

    Returns:
        Results by engine, and how first masks differ from tokamata's.
    """
    results = {engine.name: Result() for engine in engines}
    texts = [tokenizer.encode(text, case.longest) for text in case.texts]
    masks: dict[str, Bits] = {}
    for round_ in range(runs + 1):
        shift = round_ % len(engines)
        for engine in [*engines[shift:], *engines[:shift]]:
            result = results[engine.name]
            if result.refused or (result.spent_s > budget.seconds and len(result.both) >= LEAST_TRIALS):
                continue
            pattern = case.pattern_for(engine.name)
            start = clock()
            try:
                if round_ == 0:
                    masks[engine.name] = _first_trial(engine, pattern, texts, result, tokenizer)
                else:
                    _trial(engine, pattern, texts, result, budget)
            except (RefusedError, RuntimeError, ValueError) as error:
                result.refused = " ".join(str(error).split())[:200]
                say(f"{case.name}: {engine.name} refuses it: {result.refused}")
            result.spent_s += (clock() - start) / 1e9
        say(f"{case.name}: round {round_} of {runs}")
    return results, differences(case, masks, tokenizer)


def _first_trial(
    engine: Engine, pattern: str, texts: list[list[int]], result: Result, tokenizer: Tokenizer
) -> Bits:
    """Warms up, and checks; returns the first mask."""
    with quiet():
        start = clock()
        session = engine.compile(pattern)
        session.fill()
        result.first = clock() - start
    mask = bits_of(engine.row, tokenizer)
    for tokens in texts:
        session.restart()
        result.wrong = result.wrong or _check(session, tokens, tokenizer)
    return mask


def _check(session: Session, tokens: list[int], tokenizer: Tokenizer) -> str | None:
    """Walks a text that matches; says where it is not accepted."""
    text = b"".join(tokenizer.vocabulary[token] or b"" for token in tokens)
    for place, token in enumerate(tokens):
        try:
            session.fill()
            refused = session.advance(token) is False
        except (RuntimeError, ValueError):
            refused = True
        if refused:
            return f"{text!r}: token {place}, {tokenizer.vocabulary[token]!r}, is refused"
    session.fill()  # some know only then where they are
    return None if session.is_accepting() else f"{text!r} is not accepted at its end"


def _trial(engine: Engine, pattern: str, texts: list[list[int]], result: Result, budget: Budget) -> None:
    with quiet():
        session, compiling, mask = _compile(engine, pattern)
        result.after_others.append(compiling + mask)
        if compiling + mask < WARM_BELOW_NS:
            del session
            session, compiling, mask = _compile(engine, pattern)
        result.both.append(compiling + mask)
        result.compiling.append(compiling)
        result.mask.append(mask)
        if result.walked_s > budget.walking_seconds:
            return
        start = clock()
        for place, tokens in enumerate(texts):
            session.restart()
            steps = _walk(session, tokens, result.cold, skip=1)
            if place == 0:
                result.whole.append(compiling + mask + sum(steps))
        for tokens in texts * WARM_WALKS:
            session.restart()
            _walk(session, tokens, result.warm, skip=0)
        result.walked_s += (clock() - start) / 1e9


def _compile(engine: Engine, pattern: str) -> tuple[Session, int, int]:
    """Pattern text to matcher, and first mask: the session, and the time of each."""
    start = clock()
    session = engine.compile(pattern)
    compiled = clock()
    session.fill()
    end = clock()
    return session, compiled - start, end - compiled


def _walk(session: Session, tokens: list[int], walk: Walk, skip: int) -> list[int]:
    """One text, whose first ``skip`` steps are walked and not recorded; returns the time of the others."""
    fill, advance = session.fill, session.advance
    fills, steps = [], []
    for token in tokens:
        start = clock()
        fill()
        filled = clock()
        advance(token)
        end = clock()
        fills.append(filled - start)
        steps.append(end - start)
    walk.fill += fills[skip:]
    walk.step += steps[skip:]
    return steps[skip:]
