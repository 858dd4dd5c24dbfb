"""Measurements of tokamata without peers: masks against a bare copy, large bounds, loading and importing."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import repeat

import numpy as np
from cases import LARGE_BOUND, PAPER, SMALL_BOUND, Case
from engines import Tokamata
from timing import Loop, Summary, clock, quiet, summarize, time_loops
from tokenizer import KNOWN, Tokenizer
from trials import Result, Walk

import tokamata as tk
from tokamata import _core

_CALLS = 500
_PASSES = 20
NARROW_WIDTH = 128_256  # Llama 3.1's; here the first tokens of Gemma 3


COPY, FILL, VIEW = "np.copyto(row, source)", "m.fill_mask(row)", "m.mask"
FILL_STEP, VIEW_STEP = "m.fill_mask(row) + m.advance", "m.mask + m.advance"

# ---- masks of states seen before --------------------------------------------------------------


def narrow_vocabulary(tokenizer: Tokenizer) -> tk.Vocabulary:
    """The first 128,256 tokens, with the same stop tokens."""
    return tk.Vocabulary.load(
        list(tokenizer.vocabulary.tokens[:NARROW_WIDTH]), stop=tokenizer.vocabulary.stop
    )


def seen_masks(vocabulary: tk.Vocabulary, runs: int) -> dict[str, Summary]:
    """A bare copy of a row, ``fill_mask`` and ``m.mask`` in a state seen before; per call.

    What is called is looked up outside of the loop, but for ``m.mask``, which is a property.
    """
    compiled = tk.regex(PAPER[1].pattern).compile(vocabulary)
    matcher = compiled.matcher()
    mask = compiled.allocate_mask()
    row, source = mask[0], np.array(matcher.mask)
    copyto, fill = np.copyto, matcher.fill_mask

    def copy() -> None:
        for _ in repeat(None, _CALLS):
            copyto(row, source)

    def assign() -> None:
        for _ in repeat(None, _CALLS):
            row[:] = source

    def fill_mask() -> None:
        for _ in repeat(None, _CALLS):
            fill(row)

    def view() -> None:
        for _ in repeat(None, _CALLS):
            matcher.mask  # noqa: B018  # reading it is what is measured

    def empty() -> None:
        for _ in repeat(None, _CALLS):
            pass

    loops: dict[str, Loop] = {
        COPY: copy,
        "row[:] = source": assign,
        FILL: fill_mask,
        VIEW: view,
    }
    return time_loops(loops, empty, _CALLS, runs)


def seen_steps(case: Case, tokenizer: Tokenizer, runs: int) -> dict[str, Summary]:
    """Walks of a text whose states were all seen before; per step, without making the matchers."""
    compiled = tk.regex(case.pattern).compile(tokenizer.vocabulary)
    return time_steps(compiled, [tokenizer.encode(text) for text in case.texts], _PASSES, runs)


def time_steps(
    compiled: tk.CompiledConstraint, texts: Sequence[Sequence[int]], passes: int, runs: int
) -> dict[str, Summary]:
    """Walks of texts, ``passes`` times each in a run; per step, without making the matchers.

    Returns:
        By what is called, ``m.fill_mask(row) + m.advance`` and ``m.mask + m.advance``.
    """
    row = compiled.allocate_mask()[0]
    walks: list[tuple[tk.Matcher, Sequence[int]]] = []

    def prepare() -> None:
        walks[:] = [(compiled.matcher(), tokens) for _ in range(passes) for tokens in texts]

    def fill_and_advance() -> None:
        for matcher, tokens in walks:
            fill, advance = matcher.fill_mask, matcher.advance
            for token in tokens:
                fill(row)
                advance(token)

    def view_and_advance() -> None:
        for matcher, tokens in walks:
            advance = matcher.advance
            for token in tokens:
                matcher.mask  # noqa: B018  # reading it is what is measured
                advance(token)

    def empty() -> None:
        for matcher, tokens in walks:
            advance = matcher.advance  # noqa: F841  # as in the others
            for _ in tokens:
                pass

    steps = passes * sum(map(len, texts))
    loops: dict[str, Loop] = {FILL_STEP: fill_and_advance, VIEW_STEP: view_and_advance}
    return time_loops(loops, empty, steps, runs, prepare)


# ---- large bounds -----------------------------------------------------------------------------


def bounds(tokenizer: Tokenizer, runs: int) -> tuple[dict[str, Result], Walk]:
    """``[a-z]{0,4}`` and ``[a-z]{0,100000}`` in turns, and 200 steps in the second."""
    engine = Tokamata(tokenizer)
    results = {pattern: Result() for pattern in (SMALL_BOUND, LARGE_BOUND)}
    walk = Walk()
    words = tokenizer.encode("thequickbrownfoxjumpsoverthelazydogand" * 40)[:200]
    with quiet():
        for round_ in range(runs + 1):
            for pattern, result in results.items():
                start = clock()
                session = engine.compile(pattern)
                compiled = clock()
                session.fill()
                end = clock()
                if round_ == 0:
                    result.first = end - start
                    continue
                result.both.append(end - start)
                result.compiling.append(compiled - start)
                result.mask.append(end - compiled)
            for token in words:  # in LARGE_BOUND, which came last
                start = clock()
                session.fill()
                filled = clock()
                taken = session.advance(token)
                end = clock()
                if taken is not True:
                    raise AssertionError(f"{LARGE_BOUND} refuses {tokenizer.vocabulary[token]!r}")
                walk.fill.append(filled - start)
                walk.step.append(end - start)
    return results, walk


# ---- loading and importing --------------------------------------------------------------------


@dataclass(frozen=True)
class Loading:
    """What it takes to load the vocabulary.

    Attributes:
        whole: ``Vocabulary.load`` of the file, and the trie.
        reading: the first alone.
        trie: the second alone: ``_core.Vocabulary`` from the list of tokens.
        trie_bytes: what the trie occupies.
        trie_nodes: its size.
    """

    whole: Summary | None
    reading: Summary | None
    trie: Summary | None
    trie_bytes: int
    trie_nodes: int


def loading(tokenizer: Tokenizer, runs: int, say: Callable[[str], None]) -> Loading:
    """Loads the vocabulary again and again, from a file that the system has in its cache."""
    whole, reading, trie = [], [], []
    for round_ in range(runs):
        with quiet():
            start = clock()
            vocabulary = tk.Vocabulary.load(tokenizer.path, stop=KNOWN["gemma-3"].stop)
            loaded = clock()
            core = vocabulary.core
            end = clock()
        whole.append(end - start)
        reading.append(loaded - start)
        tokens, stop, width = list(vocabulary.tokens), list(vocabulary.stop), vocabulary.width
        with quiet():
            start = clock()
            core = _core.Vocabulary(tokens, stop, width)
            trie.append(clock() - start)
        say(f"loading: {round_ + 1} of {runs}")
    return Loading(summarize(whole), summarize(reading), summarize(trie), core.trie_bytes, core.trie_nodes)


def importing(runs: int) -> dict[str, Summary]:
    """Fresh processes that import, in turns, less the same process that imports nothing."""
    programs = {"": "pass", "import numpy": "import numpy", "import tokamata": "import tokamata"}
    samples: dict[str, list[int]] = {name: [] for name in programs}
    for _ in range(runs + 1):
        for name, program in programs.items():
            start = time.perf_counter_ns()
            subprocess.run([sys.executable, "-c", program], check=True)
            samples[name].append(time.perf_counter_ns() - start)
    bare = summarize(samples.pop("")[1:])
    cost = bare.median_us * 1e3 if bare else 0.0
    return {name: found for name, values in samples.items() if (found := summarize(values[1:], cost))}
