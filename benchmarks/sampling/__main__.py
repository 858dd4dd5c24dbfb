"""Sampling without bias: how far from the target law, at what cost, and how both grow.

    python -m benchmarks.sampling --plot sampling.svg
    python -m benchmarks.sampling --quick
    python -m benchmarks.sampling.gemma         # calls and seconds for each exact sample of Gemma 3 270M

The languages are listed (`languages.py`), so the target law is known.  Models are random functions of the
whole prefix, of which calls alone are counted.
"""

from __future__ import annotations

import gc
import math
import sys
import time
import tracemalloc
from argparse import Namespace
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import tokamata as tk
from benchmarks.common import environment, plots
from benchmarks.common.program import parser_for, progress, run
from benchmarks.common.report import Report, Target
from benchmarks.sampling.languages import Case, cases
from benchmarks.sampling.peers import Cars, passes_of_rejection
from tests.support.models.enumerated import Path as Tokens
from tests.support.models.enumerated import Prefixed, distance, law
from tokamata.decoding.results import Timing
from tokamata.decoding.start import Options, tasks_of
from tokamata.decoding.unbiased.law import Law
from tokamata.decoding.unbiased.prefix_tree import PrefixTree
from tokamata.decoding.unbiased.walks import walk

_PROMPT = (0,)
_SIZES = (10, 20, 50, 100, 200, 500, 1000, 2000)
_GROWTH = (10, 100, 1_000, 10_000)
_LINES = ("local", "asap", "exact", "smc", "local, weights", "asap, weights")
_OF_ASAP = "of ASAp's first 2,000 by counting"
_ROWS = {"exact, nothing ahead": 0, "exact, forced text ahead": 1, "exact": 8}


def main() -> int:
    """The program."""
    return run(measure, parser_for(__doc__).parse_args())


def measure(options: Namespace, work: Path) -> Report:
    """Everything."""
    facts = environment.describe("one thread is used")
    repeats = options.count or (3 if options.quick else 10)
    some = cases()[:3] if options.quick else cases()
    distances, passes = [], []
    with progress("sampling", 2 * len(some) + len(_GROWTH)) as step:
        for case in some:
            step(f"{case.language.name}, distances")
            distances.append(_distances(case, repeats, options.seed))
        for case in some:
            step(f"{case.language.name}, calls")
            passes.append(_passes(case, repeats, options.seed))
        growth = []
        for count in _GROWTH[: 3 if options.quick else 4]:
            step(f"growth, {count:,}")
            growth += _growth(count, options.seed)
    report = Report(facts)
    frame = pd.concat(distances)
    notes = [
        f"Total variation distance of the samples to the target law, means over {repeats} seeds. 'chance': "
        "as many independent samples, drawn from the list of all texts.",
        "'weights': samples count by their weights; those of smc always do. 'probabilities': different texts "
        "count by the model's probabilities of them, so only texts that were not drawn are missing. 'asap, "
        "next': the law of ASAp's next text, without the noise of sampling; for exact this is 0.",
    ]
    for size in (200, 2000):
        report.add(f"Total variation distance at {size:,} samples", _at(frame, size), notes)
    report.add(
        "Calls of the model for each exact sample",
        pd.concat(passes),
        [
            f"Means over {repeats} seeds; nothing is known at the start. 'rejection': the expected number. "
            "'CARS' calls the model for each token of each attempt, as its program does; 'CARS, kept' keeps "
            "what the model said after each prefix, as ours does. 'tokens read' are those of exact, padding "
            "included."
        ],
    )
    report.add(
        "Growth with the number of samples",
        growth,
        [
            "Texts of `[a-z]{1,12}` in tokens of one and two letters. Time without the model, and the "
            "largest memory that Python held more than before, results included."
        ],
    )
    report.targets += _targets(frame, pd.concat(passes))
    report.keep("distances", frame)

    def picture(path: Path) -> None:
        _draw(frame, facts, path)

    report.picture = picture
    return report


# ---- distances ----------------------------------------------------------------------------------------


def _distances(case: Case, repeats: int, seed: int) -> pd.DataFrame:
    """Mean distances by method and number of samples."""
    language, model = case.language, case.model
    exact, evidence = law(language, model, _PROMPT, case.budget)
    rows: list[dict[str, Any]] = []
    for repeat in range(repeats):
        settings = {"max_new_tokens": case.budget, "seed": seed + repeat}
        for method in ("local", "asap", "exact"):
            drawn = _sample(case, max(_SIZES), method=method, **settings)
            for weighted in (False, True) if method != "exact" else (False,):
                name = f"{method}, weights" if weighted else method
                for size in _SIZES:
                    found = distance(exact, _shares(drawn[:size], weighted))
                    rows.append({"method": name, "samples": size, "distance": found})
            for size in _SIZES if method != "local" else ():
                found = distance(exact, _by_probability(drawn[:size]))
                rows.append({"method": f"{method}, probabilities", "samples": size, "distance": found})
        for size in _SIZES:
            drawn = _sample(case, size, method="smc", **settings)
            found = distance(exact, _shares(drawn[:], True))
            rows.append({"method": "smc", "samples": size, "distance": found})
        random = np.random.default_rng(seed + repeat)
        chosen = random.choice(len(exact), max(_SIZES), p=list(exact.values()))
        paths = list(exact)
        for size in _SIZES:
            shares = {paths[i]: count / size for i, count in Counter(chosen[:size].tolist()).items()}
            rows.append({"method": "chance", "samples": size, "distance": distance(exact, shares)})
        if repeat == 0:
            rows += _next_walks(case, seed, exact)
    frame = pd.DataFrame(rows).groupby(["method", "samples"], sort=False)["distance"].mean().reset_index()
    frame.insert(0, "language", language.name)
    frame["evidence"] = evidence
    return frame


def _next_walks(case: Case, seed: int, exact: dict[Tokens, float]) -> list[dict[str, Any]]:
    """How far the law of ASAp's next walk is, after so many."""
    tree, stop = _tree(case, 1)
    random = np.random.default_rng(seed)
    rows = []
    for count in range(max(_SIZES) + 1):
        if count in _SIZES:
            found = _law_of_next(tree, case, exact)
            rows.append({"method": "asap, next", "samples": count, "distance": distance(exact, found)})
        walk(tree, stop, random, learns=True, rejects=False)
    return rows


def _law_of_next(tree: PrefixTree, case: Case, exact: dict[Tokens, float]) -> dict[Tokens, float]:
    """The probability of each path in ASAp's next walk; masses at unknown prefixes are the model's."""
    nexts: dict[Tokens, set[int]] = {}
    for path in exact:
        for place, token in enumerate(path):
            nexts.setdefault(path[:place], set()).add(token)
    known: dict[Tokens, tuple[dict[int, float], float]] = {}

    def scores(path: Tokens, node: Any) -> tuple[dict[int, float], float]:
        if path not in known:
            softmax = case.model.logits(_PROMPT + path).double().softmax(-1)
            found = {}
            for token in nexts[path]:
                child = None if node is None else node.child(token)
                found[token] = float(softmax[token]) * (1.0 if child is None else math.exp(child.bound))
            known[path] = found, sum(found.values())
        return known[path]

    result = {}
    for path in exact:
        node, share = tree.root, 1.0
        for place, token in enumerate(path):
            found, total = scores(path[:place], node)
            share *= found[token] / total
            node = None if node is None else node.child(token)
        result[path] = share
    return result


def _sample(case: Case, count: int, **settings: Any) -> tk.Samples[Any]:
    return tk.sample(case.model, None, list(_PROMPT), case.language.compiled, count, **settings)


def _shares(samples: tuple[tk.Sample[Any], ...], weighted: bool) -> dict[Tokens, float]:
    logs = np.array([one.log_weight if weighted else 0.0 for one in samples])
    weights = np.exp(logs - logs.max())
    found: dict[Tokens, float] = Counter()
    for one, weight in zip(samples, weights / weights.sum(), strict=True):
        found[(*one.tokens, *(() if one.stop_token is None else (one.stop_token,)))] += float(weight)
    return found


def _by_probability(samples: tuple[tk.Sample[Any], ...]) -> dict[Tokens, float]:
    """The law of the different texts alone, in proportion to the model's probabilities of them."""
    found = {
        (*one.tokens, *(() if one.stop_token is None else (one.stop_token,))): math.exp(one.log_probability)
        for one in samples
    }
    total = sum(found.values())
    return {path: share / total for path, share in found.items()}


def _at(frame: pd.DataFrame, size: int) -> pd.DataFrame:
    table = frame[frame["samples"] == size].pivot_table(
        index=["language"], columns="method", values="distance", sort=False
    )
    columns = [*_LINES, "asap, probabilities", "exact, probabilities", "chance", "asap, next"]
    return table[[one for one in columns if one in table]].map(lambda value: f"{value:.3f}").reset_index()


# ---- calls --------------------------------------------------------------------------------------------


def _tree(case: Case, rows: int) -> tuple[PrefixTree, frozenset[int]]:
    timing = Timing()
    [task] = tasks_of(
        case.model, None, [list(_PROMPT)], [case.language.compiled], Options(case.budget), timing
    )
    tree = PrefixTree(
        Law(task, 1.0),
        case.model,
        learns=True,
        rows=rows,
        memory_bytes=1 << 28,
        allow=lambda _: None,
        timing=timing,
    )
    return tree, frozenset({case.language.stop})


def _passes(case: Case, repeats: int, seed: int) -> pd.DataFrame:
    """Calls for each sample, by method and number of samples."""
    rows = []
    sizes = (1, 10, 100, 1000)
    expected = passes_of_rejection(case.language, case.model, _PROMPT, case.budget)
    for size in sizes:
        found: dict[str, list[float]] = {}
        for repeat in range(repeats if size < 1000 else max(1, repeats // 5)):
            for name, ahead in _ROWS.items():
                tree, stop = _tree(case, ahead)
                random = np.random.default_rng(seed + repeat)
                left = size
                while left:
                    left -= walk(tree, stop, random, learns=True, rejects=True) is not None
                found.setdefault(name, []).append(tree.reader.calls / size)
                if ahead == max(_ROWS.values()):
                    found.setdefault("tokens read", []).append(tree.reader.positions / size)
            cars = Cars(case.language, case.model, _PROMPT, case.budget, seed + repeat)
            for _ in range(size):
                cars.sample()
            found.setdefault("CARS", []).append(cars.passes / size)
            found.setdefault("CARS, kept", []).append(cars.new_passes / size)
        row = {"language": case.language.name, "samples": size, "rejection": expected}
        columns = ["CARS", "CARS, kept", *_ROWS, "tokens read"]
        rows.append(row | {name: float(np.mean(found[name])) for name in columns})
    return pd.DataFrame(rows)


def _targets(distances: pd.DataFrame, passes: pd.DataFrame) -> list[Target]:
    ratios = passes["exact"] / passes[["CARS", "CARS, kept"]].min(axis=1)
    found = [
        Target("calls for each exact sample, ours / CARS that keeps prefixes: mean over languages and sizes",
               float(np.exp(np.log(ratios).mean())), 1.0, ""),
        Target("the same, at most", float(ratios.max()), 1.0, ""),
    ]  # fmt: skip
    counted = []
    for name, part in distances.groupby("language", sort=False):
        at = part.set_index(["method", "samples"])["distance"]
        by_asap = at["asap", 2000]
        counted.append(at["exact", 200] / by_asap)
        share = float(at["exact, probabilities", 200] / by_asap)
        found.append(
            Target(f"{name}: error of 200 exact samples with probabilities / {_OF_ASAP}", share, 1.0, "")
        )
    least = f"least of all languages: error of 200 exact samples by counting / {_OF_ASAP}"
    return [*found, Target(least, float(min(counted)), 1.0, "")]


# ---- growth -------------------------------------------------------------------------------------------


def _growth(count: int, seed: int) -> list[dict[str, Any]]:
    """Time and memory of each method for so many samples of a large language."""
    letters = [bytes([97 + i]) for i in range(26)]
    tokens = [*letters, *(bytes([97 + i, 97 + (7 * i + j) % 26]) for i in range(26) for j in range(2))]
    vocabulary = tk.Vocabulary.load([*tokens, b"1", b"2", None], stop=[len(tokens) + 2])
    compiled = tk.regex("[a-z]{1,12}").compile(vocabulary)
    rows = []
    for method in ("local", "asap", "exact", "smc"):
        model = Prefixed(vocabulary.width, seed, 2.0, {vocabulary.width - 1: 3.0})
        settings: dict[str, Any] = {"method": method, "max_new_tokens": 14, "seed": seed}
        first = tk.sample(model, None, [0], compiled, count, **settings)  # the model's numbers are made here
        gc.collect()
        start = time.perf_counter()
        drawn = tk.sample(model, None, [0], compiled, count, **settings)
        seconds = time.perf_counter() - start - drawn.timing.model_seconds - drawn.timing.prompt_seconds
        tracemalloc.start()
        held = tk.sample(model, None, [0], compiled, count, **settings)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert first == drawn == held
        rows.append(
            {
                "method": method,
                "samples": count,
                "calls": drawn.forward_passes,
                "attempts": drawn.attempts,
                "seconds without the model": seconds,
                "µs for each sample": seconds / count * 1e6,
                "MB": peak / 1e6,
                "effective size": drawn.effective_size,
            }
        )
    return rows


# ---- the picture --------------------------------------------------------------------------------------


def _draw(frame: pd.DataFrame, facts: dict[str, str], path: Path) -> None:
    names = list(dict.fromkeys(frame["language"]))
    figure, axes = plots.subplots(-(-len(names) // 2), 2, (10, 3.4 * -(-len(names) // 2)))
    for axis, name in zip(axes.flat, names, strict=False):
        part = frame[frame["language"] == name]
        for i, method in enumerate((*_LINES[:4], "asap, weights")):
            one = part[part["method"] == method]
            plots.line(axis, i, one["samples"], one["distance"], method)
        plots.log_axes(axis, f"samples, {name}", "distance to the target law")
    for axis in list(axes.flat)[len(names) :]:
        axis.set_visible(False)
    plots.save(figure, path, f"Total variation distance, means. {facts['processor']}, {facts['date']}")


if __name__ == "__main__":
    sys.exit(main())
