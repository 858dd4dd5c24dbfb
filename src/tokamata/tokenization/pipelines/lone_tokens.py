r"""Added tokens with ``single_word``: texts that are cut out only where no word character stands beside them.

Problem.  The program looks for the texts of added tokens from left to right, the longest first, and goes on
after each.  It drops a text with ``single_word`` if the character before it or after it matches ``\w``; what
overlaps with the dropped text is not found either.

Example, ``<m>``: of ``a <m> <m>b``, only the first one becomes the token.  So ``Ġ``, ``<m>`` is canonical,
and ``a``, ``<m>`` is not; and the second one is written with ordinary tokens.

How.  If no occurrence of another added text can overlap with such a text, its neighbours alone decide
whether it is found.  The automaton of a text follows occurrences and neighbours
(``pretokenizers/lone_words.py``).

Overlaps.  ``data`` and ``dataset`` may both have ``single_word``.  Where the longer one is met, the shorter
one is not looked for; it would be dropped anyway, since a word character follows.  So each occurrence is
followed by itself if this holds for each pair of texts: what begins later, or is shorter, is dropped by a
neighbour within the other.  Proof: an occurrence that its neighbours allow, and that is not found, overlaps
with one that was met before; but then it has such a neighbour.  For other pairs it depends on the text
farther left which of the two is found; these are refused.

What is seen.  A token with ``normalized`` is looked for later, in what the others leave of the text, so it
does not see them: beside them a text ends.  All others see the whole text.

Dropped texts belong to the model.  If it may write the token itself (``ab`` from ``a``, ``b``), a sequence of
tokens does not say where it was cut out; these are refused too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from tokamata.errors import UnsupportedTokenizerError
from tokamata.tokenization.pipelines.pipeline import Normalizer
from tokamata.tokenization.pretokenizers.classes import (
    CODE_POINTS,
    hugging_face_tokenizers,
    sample_points,
    spread,
)
from tokamata.vocabulary.sections import Section

if TYPE_CHECKING:
    from tokamata.tokenization.pretokenizers.classes import Flags

__all__ = ["check_lone_tokens", "word_characters"]

# Files come from strangers.  Gemma 3 has 6,415 added tokens, of 31 characters at most.
_MOST_LENGTH = 128
_MOST_CHARACTERS = 4_000  # of all of them
_MOST_LETTERS = 200  # different ones: each is a symbol of the automata
_MOST_PAIRS = 200_000  # of one and any other added token


def check_lone_tokens(
    document: Section, entries: Sequence[dict[str, Any]], normalizer: Normalizer, keeps_spaces: bool
) -> None:
    """Refuses added tokens with ``single_word`` whose neighbours do not decide by themselves.

    Args:
        document: the parsed file.
        entries: all added tokens, as listed in the file.
        normalizer: what happens to the text between added tokens.
        keeps_spaces: whether the white space of a text is in its tokens.

    Raises:
        UnsupportedTokenizerError: there is one.
    """
    lone = [entry for entry in entries if entry.get("single_word")]
    if not lone:
        return
    if not keeps_spaces:
        raise _refused(lone[0], "and the decoder writes spaces between words, which are other neighbours")
    if sum(len(entry["content"]) for entry in lone) > _MOST_CHARACTERS:
        raise _refused(lone[0], f"and those that are have more than {_MOST_CHARACTERS:,} characters")
    if len({letter for entry in lone for letter in entry["content"]}) > _MOST_LETTERS:
        raise _refused(lone[0], f"and those that are have more than {_MOST_LETTERS} different characters")
    if len(lone) * len(entries) > _MOST_PAIRS:
        raise _refused(lone[0], f"and one of {len(lone):,}, beside {len(entries):,} added tokens")
    is_word = word_characters()
    for entry in lone:
        if len(entry["content"]) > _MOST_LENGTH:
            raise _refused(entry, f"and has more than {_MOST_LENGTH} characters")
        if entry.get("normalized") and normalizer.spaces and is_word[ord(normalizer.spaces)]:
            raise _refused(entry, f"and spaces are replaced by the word character {normalizer.spaces!r}")
        if entry.get("rstrip") and normalizer.prefix != "none" and not normalizer.prefix_once:
            raise _refused(entry, "and rstrip, and the tokenizer puts a space before the text after it")
        for other in entries:
            if _depends(entry, other, is_word):
                what = f"and {other['content']!r:.40} may share characters with it"
                raise _refused(entry, f"{what}: it depends on the text before which of them is found")
    _check_models(document.section("model"), lone)


def _depends(lone: dict[str, Any], other: dict[str, Any], is_word: Flags) -> bool:
    """Whether a lone text covers a part of another one that its neighbours allow."""
    first, second = lone["content"], other["content"]
    if second[0] not in first and first[0] not in second:
        return False
    if bool(lone.get("normalized")) != bool(other.get("normalized")):
        return next(_shared(first, second), next(_shared(second, first), None)) is not None
    if not other.get("single_word"):
        return next(_shared(first, second), None) is not None

    def is_dropped(begin: int) -> bool:
        end = begin + len(second)
        return (begin > 0 and bool(is_word[ord(first[begin - 1])])) or (
            end < len(first) and bool(is_word[ord(first[end])])
        )

    return not all(is_dropped(begin) for begin in _shared(first, second))


def _shared(first: str, second: str) -> Iterator[int]:
    """Where the second text may begin within the first one, or at its start if it is shorter."""
    for begin in range(len(first)):
        rest = first[begin:]
        if rest.startswith(second) if len(second) < len(rest) else begin > 0 and second.startswith(rest):
            yield begin


def _check_models(model: Section, lone: Sequence[dict[str, Any]]) -> None:
    vocab = model.fields.get("vocab")
    if isinstance(vocab, list):  # Unigram
        pieces = [piece[0] for piece in vocab]
        for entry in lone:
            if any(entry["content"] in piece for piece in pieces):
                raise _refused(entry, "and is in a piece of the model, which writes it elsewhere")
        return
    merges: list[Any] = model.fields.get("merges") or []
    merged = {"".join(merge) if isinstance(merge, list) else merge.replace(" ", "") for merge in merges}
    for entry in lone:
        content = entry["content"]
        is_written = len(content) == 1 or content in merged or model.fields.get("ignore_merges")
        if is_written and content in model.section("vocab").fields:
            raise _refused(entry, "and is a token of the model, which writes it elsewhere")
        if content == model.fields.get("unk_token"):
            raise _refused(entry, "and the model writes it for unknown characters")


@cache
def word_characters() -> Flags:
    r"""The code points that are word characters beside added tokens; the program itself says so.

    They are those of ``\w`` in Rust's regexes, and not those of the regexes of pre-tokenizers.

    Raises:
        MissingExtraError: `tokenizers` is not installed.
    """
    tokenizers = hugging_face_tokenizers()
    program = tokenizers.Tokenizer(tokenizers.models.WordLevel({"?": 0}, unk_token="?"))
    content = "<>"
    added = tokenizers.AddedToken(content, single_word=True, normalized=False)
    program.add_special_tokens([added])
    points = sample_points()
    # A line end stands before each, so that the character after it decides.
    encoding = program.encode("".join(f"{content}{chr(point)}\n" for point in points.tolist()))
    token = program.token_to_id(content)
    begins = [begin for one, (begin, _) in zip(encoding.ids, encoding.offsets, strict=True) if one == token]
    flags = np.zeros(CODE_POINTS, dtype=bool)
    flags[points] = True
    flags[points[np.array(begins, dtype=np.int64) // (len(content) + 2)]] = False
    flags = spread(flags)
    flags.flags.writeable = False
    return flags


def _refused(entry: dict[str, Any], what: str) -> UnsupportedTokenizerError:
    return UnsupportedTokenizerError("added tokens", f"{entry['content']!r:.40} is single_word, {what}")
