"""Compiles and walks constraints under limits far too small: nothing dies, and nothing is wrong afterwards.

    python -m fuzz.fuzz_limits --seconds 3600 --seed 1

Five of six constraints are random patterns and lookarounds, the others JSON Schemas: random ones,
MaskBench's, and some that keep what was written. Each is walked once under wide limits. Then it is
compiled with 1/40, 2/40, ... of the memory that this took, and of the states, for one thread and for
three, and every matcher is led along the same tokens. Each call answers what it answered under wide
limits, or raises ``LimitExceeded`` with the bound; a call that raised is made again, and the matcher is
what it was. At last the constraint has its masks under wide limits again, in the vocabulary that all
attempts have shared: nothing half made was kept there.

All of it happens in a process of its own, since what is looked for ends processes.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

import tokamata as tk
from fuzz import timed
from fuzz.fuzz_schemas import LIMITS, VOCABULARIES, Mask, real_vocabularies
from tests.support.guarded import Died, Guarded
from tests.support.masks import allowed
from tests.support.paths import MASKBENCH
from tests.support.patterns.judged import random_judged
from tests.support.patterns.lookarounds import random_lookaround
from tests.support.schemas.schema_sources import Schemas

STEPS = 12
SHARES = 40
THREADS = (1, 3)
PATIENCE = 60.0  # seconds of a walk: on a busy machine it takes longer than the walk under wide limits
HUNG_S = 120.0
MEMORY_BYTES = 4 << 30  # of the process
OPEN: list[Any] = [  # elements that must differ, and names that are not declared, are kept in the state
    {"type": "array", "uniqueItems": True},
    {"type": "object", "additionalProperties": {"type": "array", "uniqueItems": True}},
    {"type": "object", "propertyNames": {"minLength": 2}},
    {},
]
JSON_SIGNS = frozenset(b'{}[]":, 01')


@dataclass
class Tally(timed.Tally):
    """What was done: constraints, those that are none under wide limits; attempts, those that met a bound."""

    tried: int = 0
    skipped: int = 0
    attempts: int = 0
    exceeded: int = 0


@dataclass
class Subject:
    """A constraint, its tokens, its masks before each of them, and what it all took, under wide limits."""

    constraint: tk.Constraint
    needs: dict[str, int] = field(default_factory=dict)
    tokens: list[int] = field(default_factory=list)
    masks: list[Mask] = field(default_factory=list)


@dataclass(frozen=True)
class Attempt:
    """One constraint by its number, and which share it has of what it needs; without a limit, all."""

    number: int
    limit: str = ""
    share: int = SHARES
    threads: int = 1


class Trials:
    """What the process does: it makes a subject from its number, and keeps the last one.

    Args:
        seed: of all subjects.
        vocabularies: pairs of equal ones.  In the first of a pair subjects are walked under wide limits, in
            the second under small ones.
        schemas: where they come from.
    """

    def __init__(
        self, seed: int, vocabularies: list[tuple[tk.Vocabulary, tk.Vocabulary]], schemas: Schemas
    ) -> None:
        self._seed, self._vocabularies, self._schemas = seed, vocabularies, schemas
        self._number = -1
        self._subject: Subject | None = None

    def __call__(self, attempt: Attempt) -> str:
        """What became of it: ``skipped``, ``exceeded``, ``done``, or what is wrong."""
        try:
            subject = self._subject_of(attempt.number)
            return attempted(subject, attempt, self._pair[1]) if subject else "skipped"
        except AssertionError as error:
            return f"wrong: {error}"
        except Exception as error:  # what is not LimitExceeded should not come
            return f"wrong: {type(error).__name__}: {error}"

    def _subject_of(self, number: int) -> Subject | None:
        if number != self._number:
            self._number = number
            chooser = random.Random(f"{self._seed} {number}")
            self._pair = chooser.choice(self._vocabularies)
            try:
                self._subject = walked(self._constraint(chooser), self._pair[0], chooser)
            except tk.TokamataError:
                self._subject = None
        return self._subject

    def _constraint(self, chooser: random.Random) -> tk.Constraint:
        kind = chooser.random()
        if kind < 1 / 6:
            order: Any = chooser.choice(["schema", "any"])
            schema = chooser.choice(OPEN) if kind < 1 / 24 else self._schemas(chooser)
            return tk.json_schema(schema, property_order=order)
        if kind < 1 / 3:
            return tk.regex(random_lookaround(chooser)[0].written)
        return random_judged(chooser, chooser.choice([0, 0, 1])).constraint


def walked(constraint: tk.Constraint, vocabulary: tk.Vocabulary, chooser: random.Random) -> Subject:
    """A random walk under wide limits; in JSON, half of the tokens are of JSON's own signs."""
    found = Subject(constraint)
    compiled = constraint.compile(vocabulary, limits=LIMITS)
    matcher = compiled.matcher()
    for _ in range(STEPS):
        mask = matcher.mask
        live = sorted(allowed(matcher) - set(vocabulary.stop))
        found.masks.append(mask)
        if not live:
            break
        signs = [token for token in live if JSON_SIGNS.issuperset(vocabulary[token] or b"a")]
        token = chooser.choice(signs if signs and chooser.random() < 0.5 else live)
        assert matcher.advance(token), (matcher.text, token)
        found.tokens.append(token)
    found.needs = {"memory_bytes": compiled.memory_bytes, "states": compiled.states}
    return found


def attempted(subject: Subject, attempt: Attempt, vocabulary: tk.Vocabulary) -> str:
    """Compiles under small limits, walks in each thread, and says whether a bound was met."""
    limits = replace(LIMITS, seconds=PATIENCE)
    if attempt.limit:
        bound = max(1, subject.needs[attempt.limit] * attempt.share // SHARES)
        limits = tk.Limits(seconds=PATIENCE, **{attempt.limit: bound})
    try:
        tk.forget_constraints()  # or it would begin with the states of the wide one
        compiled = subject.constraint.compile(vocabulary, limits=limits)
    except tk.LimitExceeded as error:
        check_error(error, limits, attempt)
        return "exceeded"
    outcomes: list[str] = []

    def work() -> None:
        try:
            outcomes.append("done" if walk(compiled, subject, attempt) else "exceeded")
        except Exception as error:  # it would be lost in the thread
            outcomes.append(f"wrong under {limits}: {type(error).__name__}: {error}")

    threads = [threading.Thread(target=work) for _ in range(attempt.threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # "wrong" sorts last, and "exceeded" after "done".
    return max(outcomes)


def walk(compiled: tk.CompiledConstraint, subject: Subject, attempt: Attempt) -> bool:
    """One matcher along the tokens; whether it came to their end."""
    matcher = compiled.matcher()
    for number, mask in enumerate(subject.masks):
        calls: list[Callable[[], None]] = [lambda at=mask: check_mask(matcher, at)]
        if number < len(subject.tokens):
            calls.append(lambda at=subject.tokens[number]: check_advance(matcher, at))
        for call in calls:
            if not (answered(call, matcher, attempt) or answered(call, matcher, attempt)):
                matcher.rollback(number)
                usable = answered(lambda: check_mask(matcher, subject.masks[0]), matcher, attempt)
                # States that nobody holds are given up, so that there is room for the first one again; of
                # memory, tables remain, so that a bound just above them leaves no room.
                held = number == 0 or attempt.threads > 1 or attempt.limit != "states"
                assert usable or held, "no room after a rollback"
                return False
    return True


def answered(call: Callable[[], None], matcher: tk.Matcher, attempt: Attempt) -> bool:
    """Makes a call; if it meets a bound, the matcher is what it was."""
    before = matcher.tokens
    try:
        call()
    except tk.LimitExceeded as error:
        check_error(error, matcher.compiled.limits, attempt)
        assert matcher.tokens == before, (matcher.tokens, before)
        assert matcher.fork().text == matcher.text
        return False
    return True


def check_error(error: tk.LimitExceeded, limits: tk.Limits, attempt: Attempt) -> None:
    """It names the limit, and its bound; no other limit is met."""
    assert error.limit == attempt.limit, error
    assert error.bound == getattr(limits, error.limit), error


def check_mask(matcher: tk.Matcher, expected: Mask) -> None:
    """The mask is the one under wide limits."""
    assert np.array_equal(matcher.mask, expected), f"another mask after {matcher.text!r}"


def check_advance(matcher: tk.Matcher, token: int) -> None:
    """A token of the mask is taken."""
    assert matcher.advance(token), f"token {token} refused after {matcher.text!r}"


def attempts(number: int) -> list[Attempt]:
    """All of one subject: small bounds first; at last, under wide limits."""
    small = [(limit, share) for limit in ("memory_bytes", "states") for share in range(1, SHARES + 1)]
    return [Attempt(number, *one, threads) for threads in THREADS for one in small] + [Attempt(number)]


def pairs(real: bool) -> list[tuple[tk.Vocabulary, tk.Vocabulary]]:
    """Small vocabularies that have every byte; with ``real``, also real ones where they are."""

    def small() -> list[tk.Vocabulary]:
        return [tk.Vocabulary.load([*tokens, None], stop=[len(tokens)]) for tokens in VOCABULARIES[:2]]

    found = list(zip(small(), small(), strict=True))
    return found + list(zip(real_vocabularies(), real_vocabularies(), strict=True)) if real else found


def run(seconds: float, seed: int, real: bool = True) -> Tally:
    """Fuzzes for so long; returns what was done.

    Args:
        seconds: for how long.
        seed: of everything.
        real: real vocabularies and schemas are used too, where they are on the machine.
    """
    tally = Tally()
    trials = Trials(seed, pairs(real), Schemas(MASKBENCH if real else None))
    with Guarded(trials, HUNG_S, MEMORY_BYTES) as guarded:
        for turn in timed.turns(seconds):
            tally.tried = turn
            for attempt in attempts(tally.tried):
                try:
                    outcome = guarded(attempt)
                except Died as error:
                    outcome = f"wrong: {error}"
                if outcome == "skipped":
                    tally.skipped += 1
                    break
                tally.attempts += 1
                tally.exceeded += outcome == "exceeded"
                assert not outcome.startswith("wrong"), f"seed {seed}, {attempt}: {outcome}"
    return tally


if __name__ == "__main__":
    timed.main(__doc__, run)
