"""A tokenizer's pipeline as values, for every family of tokenizers.

``encode`` has four steps: added tokens are cut out of the text, the rest is normalized and cut into
pre-tokens, and the model encodes each pre-token.  ``tokenization/tables.py`` makes the engine's tables of
these values.

Parts that are not supported are refused, by name, when a tokenizer is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from tokamata.errors import VocabularyError
from tokamata.tokenization.pipelines.unigram_scores import Scores

if TYPE_CHECKING:
    from tokamata.tokenization.pipelines.charsmaps import Charsmap
    from tokamata.tokenization.pretokenizers.classes import Engine, Flags
    from tokamata.tokenization.pretokenizers.word_machine import Lexicon

UInt32 = npt.NDArray[np.uint32]


@dataclass(frozen=True)
class Normalizer:
    """The changes to a text before it is cut.

    Attributes:
        form: a function that brings a text into a normal form of Unicode, or ``None``.
        keeps: a function that changes single code points (lowercase, accents) in a text of many; ``None``
            if the normalizer changes none.
        form_is_first: whether the normal form comes before the changes of single code points.
        spaces: the character that replaces a space, and is decoded to one (``"▁"``), or ``""``.
        prefix: whether a space is put before a text: never; always (and the decoder removes it); or only
            if the text does not begin with one.
        prefix_is_decoded: whether the decoder removes the prefix.
        prefix_once: whether only the start of a text gets a prefix, and not the text after added tokens.
        goes_on: whether added tokens are cut out of the normalized text, so that their own spaces are spaces
            of the text, and nothing begins after them.
        charsmap: a table of replacements; ``None`` if there is none.
        by_clusters: the program of the charsmap, if it finds keys where clusters begin (Hugging Face's);
            ``None`` if it finds each key (SentencePiece's).
        absent: splits whose matches are replaced, so that no text has one.
        strips: whether white space is removed at the start, and at the end of a text.
        white: what is white space there: ``bool[0x110000]``; ``None`` if nothing is removed.
        isolated: the code points that get spaces around them, where the white space between words is lost
            anyway, so that each is a word; ``None`` if there are none.
    """

    form: Callable[[str], str] | None = None
    keeps: Callable[[str], str] | None = None
    form_is_first: bool = True
    spaces: str = ""
    prefix: Literal["none", "always", "missing"] = "none"
    prefix_is_decoded: bool = True
    prefix_once: bool = False
    goes_on: bool = False
    charsmap: Charsmap | None = None
    by_clusters: Callable[[str], str] | None = None
    absent: tuple[Splitting, ...] = ()
    strips: tuple[bool, bool] = (False, False)
    white: Flags | None = None
    isolated: Flags | None = None

    @property
    def has_contexts(self) -> bool:
        """Whether it changes code points by what is around them, besides a normal form."""
        return self.charsmap is not None or bool(self.absent) or any(self.strips)


@dataclass(frozen=True)
class Splitting:
    """One split of a pre-tokenizer.

    Attributes:
        regex: the regex of its matches.
        keeps_gaps: whether the text between matches is a piece of its own, or is removed.
        keeps_matches: whether matches are pieces; if they are removed, no text has one, and nothing is cut.
        members: the code points of classes in the regex that no engine knows, by name.
    """

    regex: str
    keeps_gaps: bool = True
    keeps_matches: bool = True
    members: dict[str, Flags] = field(default_factory=dict)


@dataclass(frozen=True)
class Spacing:
    """Where the space between words is in the texts of tokens, if the decoder writes it for marks.

    Attributes:
        side: the side of its word.
        outer, inner: which code points may stand beside that space, and elsewhere in a word.
    """

    side: Literal["before", "after"]
    outer: Flags
    inner: Flags


@dataclass(frozen=True)
class BytePairs:
    """Byte-pair encoding.

    Attributes:
        left, right, result, rank: the merges, ``uint32[merges]`` each: tokens, and the order.
        atom_offsets, atoms: for each token the tokens of its characters, before any merge; none if a
            character has no token.  Token ``t`` has ``atoms[atom_offsets[t]:atom_offsets[t + 1]]``.
        in_model: for each token, whether the model has it.
        byte_tokens: the tokens of single bytes, by byte, which write code points without a token.
        lacks: which code points have no token of their own and are written with byte tokens.
        unknown: which code points cannot be written.
        ignore_merges: whether a pre-token that is a token becomes that token, whatever the merges.
        spacing: where spaces are, if the tokens of words have them; ``None`` if a text is written as it is.
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
    spacing: Spacing | None = None


@dataclass(frozen=True)
class WordPieces:
    """Longest match within words.

    A word is a text that the pre-tokenizer does not cut; decoded words have a space between them.

    Attributes:
        mark: the prefix of tokens that continue a word (``"##"``); ``""`` if no word can begin with it.
        roles: for each token a ``_core.WordRole``: it is in no word, begins words, or continues them.
        most: the largest number of code points of a word.
        kinds: ``uint16[0x110000]``: all code points of a word have the same kind; 0: they are in no word.
        alone: which code points are words of their own.
        begins, continues: which code points a word with tokens may begin with, and continue with.
        lexicon: decides which of these words have tokens; ``None`` if all have.
        after_mark: the same for what follows a mark at the start of a text.
        separators: white space that is in no word, whatever stands around it.
        has_late_names: whether some added tokens are cut out of the normalized text: their letters may come
            from others.
        looked_up: added tokens that the model may write by itself: it finds their names at the beginning of
            words, or writes them for words without tokens.
    """

    mark: str
    roles: npt.NDArray[np.uint8]
    most: int
    kinds: npt.NDArray[np.uint16]
    alone: Flags
    begins: Flags
    continues: Flags
    lexicon: Lexicon | None = None
    after_mark: Lexicon | None = None
    separators: str = " "
    has_late_names: bool = False
    looked_up: tuple[int, ...] = ()


@dataclass(frozen=True)
class Unigram:
    """A Unigram model: a pre-token is cut into the pieces with the highest sum of scores.

    Attributes:
        scores: the scores of the tokens.
        byte_tokens: the tokens of single bytes, by byte, which write code points without a piece.
        lacks: which code points have no piece of their own and are written with byte tokens.
        unknown: which code points cannot be written.
        enclosing: pieces with characters that are no pieces, and are written within these alone.
        enclosed: these characters.
    """

    scores: Scores
    byte_tokens: dict[int, int]
    lacks: Flags
    unknown: Flags
    enclosing: tuple[str, ...] = ()
    enclosed: frozenset[str] = frozenset()


@dataclass(frozen=True)
class AddedToken:
    """A text that is cut out before anything else, and the token that it becomes.

    Attributes:
        token: the token.
        text: the text.
        forbidden: longer texts that stand in no canonical text, since the token swallows white space.
        begins: whether a text begins anew after it, as after a control token: it swallows the space that is
            put before a text, so that this is not put twice.
        is_late: whether it is found in the normalized text, in what others leave of it.
        is_lone: whether it is cut out only where no word character stands beside it.
        bars_white: for one that is lone, whether white space may not stand before it, and after it.
    """

    token: int
    text: bytes
    forbidden: tuple[bytes, ...] = ()
    begins: bool = False
    is_late: bool = False
    is_lone: bool = False
    bars_white: tuple[bool, bool] = (False, False)


@dataclass(frozen=True)
class Pipeline:
    """All steps of a tokenizer.

    Attributes:
        engine: runs its regexes.
        normalizer: the changes to a text before it is cut.
        splits: the splits of the pre-tokenizer, in order; none for a model of words.
        model: encodes pre-tokens.
        added: the added tokens that can occur in a text.
        unguarded: why the guard proves nothing of the tokenizer; ``""`` if it does.
    """

    engine: Engine
    normalizer: Normalizer
    splits: tuple[Splitting, ...]
    model: BytePairs | Unigram | WordPieces
    added: tuple[AddedToken, ...]
    unguarded: str = ""


@contextmanager
def contradictions_refused() -> Iterator[None]:
    """For calls of the engine, which checks that tables are consistent with each other and the vocabulary.

    Raises:
        VocabularyError: they are not, since the tokenizer's file contradicts itself.
    """
    try:
        yield
    except ValueError as error:
        raise VocabularyError(f"the tokenizer contradicts itself ({error}); download it again") from None


def first_shared(names: list[bytes], texts: list[bytes]) -> tuple[bytes, bytes] | None:
    """A name, and a text that is found within it or begins within it.

    Where programs find the two kinds one after the other, it is not the leftmost of such a pair that counts.
    """
    whole = set(texts) - {b""}
    begun = {text[:size]: text for text in whole for size in range(1, len(text))}
    for name in names:
        for start in range(len(name)):
            found = next(
                (name[start:end] for end in range(start + 1, len(name) + 1) if name[start:end] in whole), None
            )
            found = found or (begun.get(name[start:]) if start else None)
            if found is not None:
                return name, found
    return None
