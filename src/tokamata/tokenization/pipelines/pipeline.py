"""A tokenizer's pipeline: what it does to a text before and while it makes tokens of it.

``encode`` runs four things: added tokens are cut out of the text, the rest is normalized, cut into
pre-tokens, and each pre-token is made tokens by the model.  Here they are as values that every family of
tokenizers is read into; ``tokenization/tables.py`` makes the engine's tables of them.

What cannot be followed is refused when it is read, by the name of the part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from tokamata.errors import VocabularyError

if TYPE_CHECKING:
    from tokamata.tokenization.pretokenizers.classes import Engine, Flags
    from tokamata.tokenization.pretokenizers.word_machine import Lexicon

UInt32 = npt.NDArray[np.uint32]


@dataclass(frozen=True)
class Normalizer:
    """What is done to a text before it is cut.

    Attributes:
        form: a function that brings a text into NFC or NFKC, or ``None``.
        keeps: a function that gives, for each of many code points, what it becomes by itself, where the
            normalizer changes single code points (lowercase, accents); ``None`` where it does not.
        spaces: the character that a space is replaced by and decoded from (``"▁"``), or ``""``.
        prefix: whether a space is put before a text: not at all; always (and the decoder takes it
            away again); or only where there is none yet.
        prefix_is_decoded: whether the decoder takes the prefix away.
        prefix_once: whether that holds for the start of a text alone, and not behind added tokens.
    """

    form: Callable[[str], str] | None = None
    keeps: Callable[[str], str] | None = None
    spaces: str = ""
    prefix: Literal["none", "always", "missing"] = "none"
    prefix_is_decoded: bool = True
    prefix_once: bool = False


@dataclass(frozen=True)
class Splitting:
    """One split of a pre-tokenizer.

    Attributes:
        regex: the regex of its matches.
        keeps_gaps: whether what lies between matches is a piece of its own, or lost.
        members: code points of classes that the regex names and no engine knows, by name.
    """

    regex: str
    keeps_gaps: bool = True
    members: dict[str, Flags] = field(default_factory=dict)


@dataclass(frozen=True)
class BytePairs:
    """Byte-pair encoding.

    Attributes:
        left, right, result, rank: the merges, ``uint32[merges]`` each: tokens, and the order.
        atom_offsets, atoms: for each token the tokens that its text is cut into before any merge; none where
            the text has a part that is none.  Token ``t`` has ``atoms[atom_offsets[t]:atom_offsets[t + 1]]``.
        in_model: for each token, whether it is one of the model's.
        byte_tokens: the tokens of single bytes that stand for what the vocabulary lacks, by byte.
        lacks: which code points have no token of their own and are written with byte tokens.
        unknown: which code points cannot be written at all.
        ignore_merges: whether a pre-token that is a token is taken whole, whatever the merges make of it.
    """

    left: UInt32
    right: UInt32
    result: UInt32
    rank: UInt32
    atom_offsets: UInt32
    atoms: UInt32
    in_model: npt.NDArray[np.uint8]
    byte_tokens: dict[int, int]
    lacks: Flags
    unknown: Flags
    ignore_merges: bool


@dataclass(frozen=True)
class WordPieces:
    """Longest match, over words that stand apart in a text.

    A word is what the pre-tokenizer leaves whole; decoded words have a space between them.

    Attributes:
        mark: what the tokens that continue a word are written with (``"##"``); ``""`` where no word can
            begin so.
        roles: for each token, whether it is in no word (0), begins words (1), or continues them (2).
        most: the most code points of a word.
        kinds: ``uint16[0x110000]``: code points of one kind stay together in a word; 0: they are in none.
        alone: which code points are words of their own.
        begins, continues: which code points a word may begin with, and go on with, so that tokens can be
            found for it.
        lexicon: which words of these have tokens; ``None`` where all have.
    """

    mark: str
    roles: npt.NDArray[np.uint8]
    most: int
    kinds: npt.NDArray[np.uint16]
    alone: Flags
    begins: Flags
    continues: Flags
    lexicon: Lexicon | None = None


@dataclass(frozen=True)
class AddedToken:
    """A text that is cut out before anything else, and the token that it becomes."""

    token: int
    text: bytes


@dataclass(frozen=True)
class Pipeline:
    """All of it.

    Attributes:
        engine: what runs its regexes.
        normalizer: what is done to a text first.
        splits: the splits of the pre-tokenizer, in order; none where the model is of words.
        model: what makes tokens of a pre-token.
        added: the added tokens that any text can hold.
    """

    engine: Engine
    normalizer: Normalizer
    splits: tuple[Splitting, ...]
    model: BytePairs | WordPieces
    added: tuple[AddedToken, ...]


@contextmanager
def contradictions_refused() -> Iterator[None]:
    """Around a call of the engine, which checks whether tables fit each other and the vocabulary.

    Raises:
        VocabularyError: they do not, since the tokenizer's file says two things that exclude each other.
    """
    try:
        yield
    except ValueError as error:
        raise VocabularyError(f"the tokenizer contradicts itself ({error}); download it again") from None
