"""The self-test of tokenizers by the size of the vocabulary: time, memory, and how many faults it finds.

    python -m benchmarks.guard.self_test [--sizes 1000 10000 100000 262145] [--faults 20] [--seed 1]

The tokenizers are byte-level BPE with merges that are drawn.  A *fault* is one merge that is gone, or two
that share a token and have changed places, where the text of both shows it.  It is found at once if the whole
test finds it, or later by one of 300 further calls, each of which tests some texts more.  Times are those of
the processor.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import time
import tracemalloc
from collections.abc import Callable
from tempfile import TemporaryDirectory

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers

import tokamata as tk
from tokamata.tokenization import self_test as tests
from tokamata.tokenization.canonical import tokenization_of
from tokamata.tokenization.running import RunningTokenizer

Merges = list[tuple[str, str]]
Fault = Callable[[Merges, random.Random], tuple[Merges, str]]

_ROUNDS = 5
_CALLS = 300
_LONGEST = 10  # characters of a token
_SPLIT = Regex(r" ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+")


def drawn_merges(size: int, draw: random.Random) -> Merges:
    """Merges of letters, most of them of short tokens, until there are so many tokens."""
    pieces = ["Ġ", *"abcdefghijklmnopqrstuvwxyz"]
    known, merges = set(pieces), []
    while len(merges) < size - 256:
        # Early tokens are joined more often, as in a trained vocabulary.
        left, right = (pieces[int(len(pieces) * draw.random() ** 2)] for _ in range(2))
        text = left + right
        if text in known or len(text) > _LONGEST or "Ġ" in right:
            continue
        known.add(text)
        pieces.append(text)
        merges.append((left, right))
    return merges


def made(merges: Merges, order: Merges) -> Tokenizer:
    """A tokenizer with the tokens of some merges, and the same or other merges in this order."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocab = {piece: token for token, piece in enumerate([*alphabet, *(a + b for a, b in merges)])}
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=order))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(_SPLIT, "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def one_gone(merges: Merges, draw: random.Random) -> tuple[Merges, str]:
    """One merge less, and a text that shows it."""
    place = draw.randrange(len(merges))
    return [*merges[:place], *merges[place + 1 :]], "".join(merges[place])


def two_swapped(merges: Merges, draw: random.Random) -> tuple[Merges, str]:
    """Two merges (x, y) and (y, z) in each other's place, and the text xyz."""
    by_left: dict[str, list[int]] = {}
    for place, (left, _) in enumerate(merges):
        by_left.setdefault(left, []).append(place)
    while True:
        first = draw.randrange(len(merges))
        others = by_left.get(merges[first][1], [])
        if not others:
            continue
        second = draw.choice(others)
        order = list(merges)
        order[first], order[second] = order[second], order[first]
        return order, "".join(merges[first]) + merges[second][1]


def median_ms(call: Callable[[], object]) -> float:
    """The median time of some calls on the processor, in milliseconds."""
    times = []
    for _ in range(_ROUNDS):
        begin = time.process_time()
        call()
        times.append(1e3 * (time.process_time() - begin))
    return statistics.median(times)


def found(
    merges: Merges, tokenizer: Tokenizer, vocabulary: tk.Vocabulary, fault: object, draw: random.Random
) -> int | None:
    """After how many calls a fault is found, 0 for the whole test; ``None`` for none of the calls."""
    while True:
        order, text = fault(merges, draw)
        try:
            other = made(merges, order)
        except Exception:  # a merge of a token that is made no more
            continue
        shown = text.replace("Ġ", " ")
        if other.encode(shown).ids != tokenizer.encode(shown).ids:
            break
    running = RunningTokenizer(other)
    if tests.self_test(vocabulary, running).mismatch is not None:
        return 0
    tests._known[vocabulary] = tests._Known(lambda: other, running.facts(), tests.count(1))
    for call in range(1, _CALLS + 1):
        try:
            tests.check_running(vocabulary, other)
        except tk.TokenizerMismatchError:
            return call
    return None


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 10_000, 100_000, 262_145])
    parser.add_argument("--faults", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with TemporaryDirectory() as cache:
        os.environ["TOKAMATA_CACHE"] = cache
        print("  tokens  texts  test ms  disk ms  call ms  peak MB  faults found")
        for size in given.sizes:
            _measure(size, given.faults, random.Random(given.seed))


def _measure(size: int, faults: int, draw: random.Random) -> None:
    merges = drawn_merges(size, draw)
    tokenizer = made(merges, merges)
    vocabulary = tk.Vocabulary.load(tokenizer, stop=())
    tokenization_of(vocabulary)
    running = RunningTokenizer(tokenizer)
    outcome = tests.self_test(vocabulary, running)
    assert outcome, outcome.mismatch
    whole = median_ms(lambda: tests.self_test(vocabulary, running))
    tracemalloc.start()
    tests.self_test(vocabulary, running)
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    tests._tested(vocabulary, tokenizer)

    def from_disk() -> None:
        tests._known.pop(vocabulary, None)
        assert tests._tested(vocabulary, tokenizer)

    disk = median_ms(from_disk)
    call = median_ms(lambda: tests.check_running(vocabulary, tokenizer))
    shares = []
    for fault in (one_gone, two_swapped):
        calls = [found(merges, tokenizer, vocabulary, fault, draw) for _ in range(faults)]
        later = sum(1 for each in calls if each)
        name = fault.__name__.replace("_", " ")
        shares.append(f"{name}: {calls.count(0)} of {faults} at once, {later} by later calls")
    print(f"{size:>8,} {outcome.texts:>6,} {whole:>8.1f} {disk:>8.2f} {call:>8.2f} {peak:>8.1f}", end="  ")
    print("; ".join(shares))


if __name__ == "__main__":
    main()
