"""A text to follow for each regex: a string of the tests that it matches, else one that tokamata makes."""

from __future__ import annotations

import random
import re
import warnings
from dataclasses import dataclass

import numpy as np

import tokamata as tk
from benchmarks.common.engines import ECMA
from benchmarks.common.masks import Bits, bits_of
from benchmarks.common.tokenizers import Tokenizer
from benchmarks.schema_regexes.patterns import SchemaPattern
from benchmarks.schema_regexes.searching import as_whole_match

MOST_TEXTS = 3
LONGEST = 200
_MOST_TOKENS = 12
_STOP_SHARE = 0.2


@dataclass
class Reference:
    """A regex and the texts that are followed in it.

    Attributes:
        pattern: as schemas have it.
        whole: as engines that match whole texts get it.
        texts: what it matches.
        is_generated: whether tokamata made the texts; else they are strings of valid instances in which
            Python's ``re`` finds the pattern too.
        refused: what tokamata says where it does not take the pattern; ``texts`` is empty then, unless the
            tests have some.
    """

    pattern: str
    whole: str
    texts: list[str]
    is_generated: bool = False
    refused: str | None = None

    def pattern_for(self, engine: str) -> str:
        """What the engine of that name gets."""
        return self.pattern if engine == ECMA else self.whole


def references(patterns: list[SchemaPattern], tokenizer: Tokenizer, seed: int) -> list[Reference]:
    """The texts of each regex; the same for the same seed."""
    plain = _plain(tokenizer)
    found = []
    for number, one in enumerate(patterns):
        rng = random.Random(f"{seed}:{number}")
        reference = Reference(one.pattern, as_whole_match(one.pattern), _matching(one, rng))
        try:
            constraint = tk.regex(reference.pattern, dialect="ecma")
            if not reference.texts:
                reference.is_generated = True
                compiled = constraint.compile(tokenizer.vocabulary)
                reference.texts = [_generated(compiled, tokenizer, plain, rng)]
        except tk.TokamataError as error:
            reference.refused = " ".join(str(error).split())[:300]
        found.append(reference)
    return found


def _matching(one: SchemaPattern, rng: random.Random) -> list[str]:
    """Strings of valid instances in which ``re`` finds the pattern; none where it does not take it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about brackets in classes, which mean themselves here
        try:
            judge = re.compile(one.pattern)
        except re.error:
            return []
    fitting = [text for text in one.texts if len(text) <= LONGEST and judge.search(text)]
    return rng.sample(fitting, min(MOST_TEXTS, len(fitting)))


def _plain(tokenizer: Tokenizer) -> Bits:
    """Which tokens are printable ASCII: ``bool[width]``."""
    plain = np.zeros(tokenizer.vocabulary.width, dtype=np.bool_)
    for token, value in enumerate(tokenizer.vocabulary.tokens):
        plain[token] = bool(value) and all(0x20 <= byte < 0x7F for byte in value or b"")
    return plain


def _generated(compiled: tk.CompiledConstraint, tokenizer: Tokenizer, plain: Bits, rng: random.Random) -> str:
    """A random walk, of printable ASCII where there is a choice, and then the shortest way to the end."""
    matcher = compiled.matcher()
    for _ in range(_MOST_TOKENS):
        if matcher.is_accepting and rng.random() < _STOP_SHARE:
            break
        allowed = bits_of(matcher.mask, tokenizer)
        choices = np.flatnonzero(allowed & plain)
        choices = choices if choices.size else np.flatnonzero(allowed)
        if not choices.size:
            break
        matcher.advance(int(choices[rng.randrange(choices.size)]))
    rest = b"".join(tokenizer.vocabulary[token] or b"" for token in matcher.shortest_completion())
    return (matcher.text + rest).decode()
