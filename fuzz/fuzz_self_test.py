"""Random tokenizers pass their self-test; with other merges they do so only if no text of it shows these.

    python -m fuzz.fuzz_self_test --seconds 3600 --seed 1

In each turn: a random tokenizer, of any family, whose own program must agree with its tables on each text,
where names of control tokens are read and where they are ordinary text, or one of whose parts is refused; and
the same tokenizer with two merges in each other's place, or with one less.  If the self-test reports a
difference, the two programs must differ on its text, and its facts must be those of the programs.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass

from tokenizers import Tokenizer

import tokamata as tk
from fuzz import timed
from tests.support.tokenizers.random_tokenizers import JSON_ALPHABETS, random_tokenizer
from tests.support.tokenizers.tokenizer_families import FAMILIES, of_family
from tokamata.tokenization.running import RunningTokenizer
from tokamata.tokenization.self_test import self_test, tested_text_tokenization


def changed(tokenizer: Tokenizer, draw: random.Random) -> Tokenizer | None:
    """The tokenizer with other merges, or ``None`` if it has none to change."""
    document = json.loads(tokenizer.to_str())
    merges = document["model"].get("merges") or []
    if len(merges) < 2:
        return None
    if draw.random() < 0.5:
        merges.pop(draw.randrange(len(merges)))
    else:
        first, second = draw.sample(range(len(merges)), 2)
        merges[first], merges[second] = merges[second], merges[first]
    return Tokenizer.from_str(json.dumps(document))


@dataclass
class Tally(timed.Tally):
    """How many tokenizers passed, were refused, and how many of the changed ones were found and not found."""

    passed: int = 0
    refused: int = 0
    found: int = 0
    not_found: int = 0


def try_one(draw: random.Random, tally: Tally) -> None:
    """One tokenizer, and itself with other merges."""
    number, family = draw.randrange(1 << 32), draw.choice([None, *FAMILIES])
    tokenizer, _ = of_family(family, number) if family else random_tokenizer(number, JSON_ALPHABETS)
    vocabulary = tk.Vocabulary.load(tokenizer, stop=())
    own = RunningTokenizer(tokenizer)
    try:
        outcome = self_test(vocabulary, own)
        assert outcome, (family, number, outcome.mismatch)
        tested_text_tokenization(vocabulary)
    except tk.UnsupportedTokenizerError:
        tally.refused += 1
        return
    tally.passed += 1
    other = changed(tokenizer, draw)
    if other is None:
        return
    theirs = RunningTokenizer(other)
    mismatch = self_test(vocabulary, theirs).mismatch
    if mismatch is None:
        tally.not_found += 1
        return
    tally.found += 1
    written = theirs.encode(mismatch.text)
    assert list(mismatch.theirs or ()) == written, mismatch
    assert written != own.encode(mismatch.text), mismatch
    assert mismatch.ours is None or list(mismatch.ours) == own.encode(mismatch.text), mismatch


def run(seconds: float, seed: int) -> Tally:
    """Fuzzes for so long; returns what was done."""
    draw = random.Random(seed)
    tally = Tally()
    for turn in timed.turns(seconds):
        with timed.naming(f"turn {turn} of seed {seed}", tally):
            try_one(draw, tally)
    return tally


if __name__ == "__main__":
    timed.main(__doc__, run)
