"""Compares which texts tables call canonical with small tokenizers that normalize, and their masks.

    python -m fuzz.fuzz_normalizers --seconds 3600 --seed 1

In each turn: a random tokenizer (``tests/support/tokenizers/random_normalizers.py``), or a small
SentencePiece model, which is refused by name, or whose own program encodes all texts of up to three
characters, and random longer ones.  The tables must spell those that come back as they were, with the same
tokens, and no others.  Then patterns are tried as in ``fuzz.fuzz_canonical``, so that masks, ends and budgets
are compared in the states after charsmaps and stripped ends.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import tokamata as tk
from fuzz import fuzz_canonical, timed
from tests.support.texts import all_texts
from tests.support.tokenizers.random_normalizers import random_normalizer
from tests.support.tokenizers.spelled import spelled
from tests.support.tokenizers.trained_sentence_piece import trained
from tokamata.tokenization.canonical import tokenization_of

LONGEST = 3  # characters of the texts that are all encoded
LONGER = 400  # random texts, of up to nine characters
PATTERNS = 4


@dataclass
class Tally(timed.Tally):
    """Tokenizers compared, and refused by reason; texts compared, and how many of them are canonical."""

    compared: int = 0
    texts: int = 0
    canonical: int = 0
    masks: int = 0
    walks: int = 0
    refused: dict[str, int] = field(default_factory=dict)


class Judge(fuzz_canonical.Judge):
    """The program of a tokenizer with a random normalizer."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.tokenizer, self.alphabet = random_normalizer(seed)
        self.vocabulary = tk.Vocabulary.load(self.tokenizer, stop=())


def texts_of(judge: Judge, draw: random.Random) -> list[str]:
    """All short texts, and random longer ones, some of them around an added token."""
    texts = all_texts(judge.alphabet, LONGEST)
    few = judge.alphabet[:3]
    for _ in range(LONGER):
        letters = few if draw.random() < 0.4 else judge.alphabet
        text = "".join(draw.choices(letters, k=draw.randint(LONGEST + 1, 9)))
        at = draw.randrange(len(text))
        texts.append(f"{text[:at]}<m>{text[at:]}" if draw.random() < 0.2 else text)
    return texts


def check_texts(judge: Judge, texts: list[str], tally: Tally) -> None:
    """The tables spell a text as the program does, or not at all if it does not come back."""
    for text in texts:
        theirs = judge.canonical(text)
        ours = spelled(judge.vocabulary, text)
        assert ours == theirs, (judge.seed, text, ours, theirs)
        tally.texts += 1
        tally.canonical += theirs is not None


class PieceJudge(Judge):
    """The program of a small BPE model of SentencePiece, whose normalizer is drawn."""

    def __init__(self, seed: int) -> None:
        import sentencepiece

        self.seed = seed
        draw = random.Random(seed)
        known = ["abe", "bee", "caf\xe9", "\u2194x", "fi", "a\u0323b", "e\u0301"]
        model = trained(
            (" ".join(draw.choices(known, k=6)) for _ in range(50)),
            model_type="bpe",
            vocab_size=draw.choice([285, 300, 330]),
            byte_fallback=True,
            normalization_rule_name=draw.choice(["nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf", "identity"]),
            add_dummy_prefix=draw.random() < 0.6,
            remove_extra_whitespaces=draw.random() < 0.6,
        )
        self.tokenizer = sentencepiece.SentencePieceProcessor(model_proto=model)
        self.vocabulary = tk.Vocabulary.load(self.tokenizer, stop=())
        letters = " abe\u0301\xe9\u0323\u2194\u0338\u304b\u3099\u200d\t\uff21\ufb01"
        self.alphabet = "".join(draw.sample(letters, draw.choice([5, 7])))

    def canonical(self, text: str) -> tuple[int, ...] | None:
        """The tokens of a text; ``None`` where they do not come back as it."""
        tokens: list[int] = self.tokenizer.encode(text)
        comes_back = self.decoded(tokens) == text and all(self.vocabulary[one] is not None for one in tokens)
        return tuple(tokens) if comes_back else None

    def decoded(self, tokens: list[int]) -> str:
        """The text of tokens."""
        text: str = self.tokenizer.decode(tokens)
        return text


def try_one(number: int, draw: random.Random, tally: Tally) -> None:
    """One tokenizer."""
    judge = PieceJudge(number) if number % 5 == 0 else Judge(number)
    try:
        tokenization_of(judge.vocabulary)
    except tk.UnsupportedTokenizerError as error:
        reason = f"{error.part}: {error.reason:.40}"
        tally.refused[reason] = tally.refused.get(reason, 0) + 1
        return
    tally.compared += 1
    check_texts(judge, texts_of(judge, draw), tally)
    short = judge.all_texts() if len(judge.alphabet) < 6 else []
    counts = fuzz_canonical.Tally()
    for _ in range(PATTERNS if short else 0):
        fuzz_canonical.try_one(judge, short, draw, counts)
    tally.masks += counts.masks
    tally.walks += counts.walks


def run(seconds: float, seed: int) -> Tally:
    """Fuzzes for so long; returns what was done."""
    draw = random.Random(seed)
    tally = Tally()
    for _ in timed.turns(seconds):
        number = draw.randrange(1 << 32)
        with timed.naming(f"the tokenizer of seed {number}", tally):
            try_one(number, draw, tally)
    return tally


if __name__ == "__main__":
    timed.main(__doc__, run)
