"""``tk.sample`` on random finite languages, models and settings, against the listed law.

    python -m fuzz.fuzz_sampling --seconds 3600 --seed 1

Every sample must be a final path, with the model's own log-probability.  Exact samples are compared with the
law by chi-square, and the mean weights of the other methods with the evidence.  Each comparison may fail by
chance: one of a million by chi-square; a mean, where it is nine standard errors and 5 % off.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

import tokamata as tk
from fuzz import timed
from tests.support.models.enumerated import Language, Path, Prefixed, law, log_probability

PROMPT = (0,)
_SELDOM = 0.05


@dataclass
class Tally(timed.Tally):
    """What was done: languages, samples, and the comparisons of laws and of evidence."""

    languages: int = 0
    samples: int = 0
    laws: int = 0
    means: int = 0


def language(draw: random.Random) -> Language:
    """Some texts of two letters, in tokens of one to three, and tokens that no text has."""
    texts: set[str] = set()
    for _ in range(draw.randint(1, 12)):
        texts.add("".join(draw.choices("ab", k=draw.randint(1, 5))))
    longer = {"".join(draw.choices("ab", k=draw.randint(2, 3))).encode() for _ in range(draw.randint(0, 3))}
    tokens = [b"a", b"b", *sorted(longer), *[b"x", b"yy"][: draw.randint(0, 2)]]
    draw.shuffle(tokens)
    return Language("random", "|".join(sorted(texts)), tuple(sorted(texts)), tuple(tokens))


def check(draw: random.Random, tally: Tally) -> None:
    """One language and one model, by each method."""
    one = language(draw)
    model = Prefixed(one.stop + 1, draw.randrange(1 << 30), draw.choice((0.3, 1.0, 2.0)))
    least = min(len(path) + (path[-1] != one.stop) for path in one.paths(99))
    budget = least + draw.choice((0, 0, 1, 2, 9))
    settings: dict[str, Any] = {
        "temperature": draw.choice((0.5, 1.0, 3.0)),
        "memory_bytes": draw.choice((1, 3000, 20_000, 1 << 28)),
        "max_new_tokens": budget,
        "max_forward_passes": 1_000_000,
    }
    exact, evidence = law(one, model, PROMPT, budget, settings["temperature"])
    if evidence < 0.01:  # exact samples would take long
        return
    tally.languages += 1
    found: Counter[Path] = Counter()
    for _ in range(10):
        samples = tk.sample(model, None, [0], one.compiled, 10, seed=draw.randrange(1 << 30), **settings)
        found.update(paths_of(samples, exact, model, settings["temperature"], tally))
    tally.laws += 1
    assert p_value(exact, found) > 1e-6, (one, settings)
    for method in ("local", "asap", "smc"):
        estimates = []
        for _ in range(20):
            settings["resample_below"] = draw.choice((0.0, 0.5, 1.0))
            seed = draw.randrange(1 << 30)
            samples = tk.sample(model, None, [0], one.compiled, 5, method=method, seed=seed, **settings)
            paths_of(samples, exact, model, settings["temperature"], tally)
            estimates.append(math.exp(samples.log_evidence) / evidence)
        tally.means += 1
        # Means of a few draws do not show texts that are drawn seldom: so much may be missing.
        error = _SELDOM + 9 * float(np.std(estimates, ddof=1)) / math.sqrt(len(estimates))
        assert abs(float(np.mean(estimates)) - 1) < error, (method, one, settings, np.mean(estimates))


def paths_of(
    samples: tk.Samples[Any], exact: dict[Path, float], model: Prefixed, temperature: float, tally: Tally
) -> list[Path]:
    """The paths of samples, each of which is checked."""
    found = []
    for one in samples:
        path = (*one.tokens, *(() if one.stop_token is None else (one.stop_token,)))
        assert path in exact, path
        assert math.isclose(one.log_probability, log_probability(model, PROMPT, path, temperature))
        found.append(path)
    tally.samples += len(found)
    return found


def p_value(exact: dict[Path, float], found: Counter[Path]) -> float:
    """By chi-square; paths that are expected fewer than ten times are one class."""
    count = sum(found.values())
    common = [path for path, share in exact.items() if share * count >= 10]
    seen, expected = [found[path] for path in common], [exact[path] * count for path in common]
    if (rest := count - sum(expected)) >= 1:
        seen.append(count - sum(seen))
        expected.append(rest)
    if len(seen) < 2:
        return 1.0
    return float(stats.chisquare(seen, np.array(expected) * sum(seen) / sum(expected)).pvalue)


def run(seconds: float, seed: int) -> Tally:
    """Languages for so many seconds.

    Raises:
        AssertionError: a sample is wrong, or the law is not met; the turn says how to come there again.
    """
    tally = Tally()
    for turn in timed.turns(seconds):
        with timed.naming(f"seed {seed}, turn {turn}", tally):
            check(random.Random(f"{seed} {turn}"), tally)
    return tally


if __name__ == "__main__":
    timed.main(__doc__, run)
