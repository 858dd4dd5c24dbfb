"""Trials: one engine, one pattern, from text to first mask, and then along texts.

A trial compiles the pattern and fills the first mask, walks the texts (states never seen, but for
the first), and walks them again (states seen before).  Engines take turns, in an order that moves
on with every round, so that whatever drifts hits all alike.  In its turn an engine compiles twice:
the first time the processor's caches hold what the others have left there, which is reported apart;
the second counts.  Where compiling takes so long that this makes no difference, once is enough.
The first round warms up: its figures are kept apart, and in it the texts are checked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from benchmarks.common.engines import Engine, RefusedError, Session
from benchmarks.common.masks import Bits, bits_of, differences
from benchmarks.common.patterns import Case
from benchmarks.common.report import ranks
from benchmarks.common.timing import clock, quiet
from benchmarks.common.tokenizers import Tokenizer

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
class Result:
    """All trials of one engine with one pattern; times in nanoseconds.

    Attributes:
        times: by what they are:

            - ``first mask``: pattern text to first mask; ``compile`` and ``mask`` are its two parts;
            - ``after others``: the same right after another engine's turn;
            - ``whole``: pattern text to the end of the first text, a mask at each step;
            - ``first call``: pattern text to first mask in the round that warms up;
            - ``new fill``, ``new step``: along a text, in states not seen before: a mask, and a mask with the
              token after it;
            - ``seen fill``, ``seen step``: the same in states seen before.
        refused: what the engine says to a pattern that it does not take.
        wrong: a text that it did not accept though it matches.
        spent_s: time that all trials took.
        walked_s: of which walking.
    """

    times: dict[str, list[int]] = field(default_factory=dict)
    refused: str | None = None
    wrong: str | None = None
    spent_s: float = 0.0
    walked_s: float = 0.0

    def add(self, what: str, *times: int) -> None:
        """Adds samples."""
        self.times.setdefault(what, []).extend(times)

    def ranks(self, what: str, names: Sequence[str], clock_ns: float) -> dict[str, float]:
        """Statistics in microseconds, less the cost of reading the clock."""
        readings = 2 if what in ("first mask", "after others", "new step", "seen step") else 1
        return ranks(self.times.get(what, []), names, 0.0 if what == "whole" else readings * clock_ns)


def run_case(
    case: Case,
    engines: Mapping[str, Engine],
    tokenizer: Tokenizer,
    runs: int,
    budget: Budget,
    step: Callable[[str], None],
) -> tuple[dict[str, Result], list[str]]:
    """All trials of one pattern.

    Args:
        case: the pattern.
        engines: those that take turns, by name; tokamata is among them.
        tokenizer: the vocabulary.
        runs: trials of each engine that count.
        budget: when an engine has had enough.
        step: called after each round.

    Returns:
        Results by engine, and notes on how first masks differ from tokamata's.
    """
    results = {name: Result() for name in engines}
    names = list(engines)
    texts = [tokenizer.encode(text, case.longest) for text in case.texts]
    masks: dict[str, Bits] = {}
    for round_ in range(runs + 1):
        shift = round_ % len(names)
        for name in [*names[shift:], *names[:shift]]:
            result, trials = results[name], len(results[name].times.get("first mask", ()))
            if result.refused or (result.spent_s > budget.seconds and trials >= LEAST_TRIALS):
                continue
            compile_ = partial(_compile, engines[name], case.pattern)
            start = clock()
            try:
                if round_ == 0:
                    masks[name] = _first_trial(compile_, engines[name], texts, result, tokenizer)
                else:
                    _trial(compile_, texts, result, budget)
            except (RefusedError, RuntimeError, ValueError) as error:
                result.refused = " ".join(str(error).split())[:200]
            result.spent_s += (clock() - start) / 1e9
        step(case.name)
    return results, differences(case, masks, tokenizer)


_Compile = Callable[[], tuple[Session, int, int]]


def _first_trial(
    compile_: _Compile, engine: Engine, texts: list[list[int]], result: Result, tokenizer: Tokenizer
) -> Bits:
    """Warms up, and checks; returns the first mask."""
    with quiet():
        session, compiling, mask_ns = compile_()
        result.add("first call", compiling + mask_ns)
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


def _trial(compile_: _Compile, texts: list[list[int]], result: Result, budget: Budget) -> None:
    with quiet():
        session, compiling, mask = compile_()
        result.add("after others", compiling + mask)
        if compiling + mask < WARM_BELOW_NS:
            del session
            session, compiling, mask = compile_()
        result.add("first mask", compiling + mask)
        result.add("compile", compiling)
        result.add("mask", mask)
        if result.walked_s > budget.walking_seconds:
            return
        start = clock()
        for place, tokens in enumerate(texts):
            session.restart()
            steps = _walk(session, tokens, result, "new", skip=1)
            if place == 0:
                result.add("whole", compiling + mask + sum(steps))
        for tokens in texts * WARM_WALKS:
            session.restart()
            _walk(session, tokens, result, "seen", skip=0)
        result.walked_s += (clock() - start) / 1e9


def _compile(engine: Engine, pattern: str) -> tuple[Session, int, int]:
    """Pattern text to matcher, and first mask: the session, and the time of each."""
    start = clock()
    session = engine.regex(pattern)
    compiled = clock()
    session.fill()
    end = clock()
    return session, compiled - start, end - compiled


def _walk(session: Session, tokens: list[int], result: Result, states: str, skip: int) -> list[int]:
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
    result.add(f"{states} fill", *fills[skip:])
    result.add(f"{states} step", *steps[skip:])
    return steps[skip:]
