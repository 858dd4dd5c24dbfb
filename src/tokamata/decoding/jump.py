"""Jumping: the tokens of a text that is certain, without asking the model for them.

Problem.  Every accepted text goes on with the bytes ``forced``, and what follows these is unknown.  Which
tokens would the tokenizer write, whatever follows?  Not all of those that it makes of ``forced``: with the
merges "a b", "n g" and "i ng" the text "abi" is ``ab|i``, and "abing" is ``ab|ing``.  A token ``i`` there is
one that the model has hardly ever seen, and would go on from badly.

A border is *safe* where no token of the vocabulary can straddle it: begin before it, agree with ``forced``
as far as that goes, and end after it.

    forced   a b i        border 2: no token begins with "b" or "ab" and goes on with "i": safe
    borders     2 3       border 3, the end: "ing" may begin at 2 and end after 3: not safe
    tokens   ab |i        so "ab" is taken, and the model chooses how to go on from there

Claim.  Up to a safe border the tokenizer writes the same tokens whatever follows ``forced``.  For every way
of cutting the whole text into tokens has a border there, and
    - byte-pair encoding never merges across it (the merge would be a token that straddles it), and merges
      to its left and to its right do not see each other;
    - the longest match from the left never reaches across it, so that what lies behind is not looked at;
    - the most probable cut (Unigram) is the most probable cut of the left part and that of the right part.
A pre-tokenizer cuts the text first, from left to right, and a piece that it cuts off before the border ends
where it does whatever follows.  The exception are those that look ahead, as ``\\s+(?!\\S)`` does: a run of
white space at the end of ``forced`` loses its last code point to a word that follows.  The border that this
is about is the end of ``forced``, which a space and a letter straddle in all vocabularies known.  Did none,
the tokens could differ from the tokenizer's own; the text would still be right, since the matcher takes
each token.

So the tokens of ``forced`` up to the last border that is safe are taken; all of them where nothing can
follow ``forced``, since the tokenizer is then asked about the very text.  It is not enough to ask for tokens
that go past the end of ``forced``: with the merges "c d", "b c" and "a b", in this order, "abc" is ``a|bc``,
only "cd" goes past its end, and yet "abcd" is ``ab|cd``.

Cost: one encoding of ``forced``, and for each border tried a binary search per byte of the longest token.
Not taken: encoding ``forced`` up to every place where a token may go past the end, and keeping the tokens
that all of these have in common.  It is exact too, and takes the same tokens on the texts that were tried
with the vocabularies of DeepSeek V3 and Gemma 3 (28 texts), for several encodings instead of one.
"""

# transformers has no usable types for tokenizers, hence `Any`.

from __future__ import annotations

import codecs
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from tokamata.decoding.token_prefixes import token_prefixes
from tokamata.vocabulary import Vocabulary

if TYPE_CHECKING:
    from tokamata.matching import Matcher

__all__ = ["certain_tokens", "safe_count", "spelled_tokens"]

# Some tokenizers (Llama 2's) begin every text with a space of their own.  Behind a line end they do not.
_LEADS = ("", "\n")


def certain_tokens(matcher: Matcher, tokenizer: Any) -> list[int]:
    """Return the tokens that ``tokenizer`` writes next in every text that a matcher accepts.

    Args:
        matcher: the text so far; it is not moved.
        tokenizer: called as transformers' tokenizers are, with ``add_special_tokens=False``.

    Returns:
        Tokens whose bytes ``matcher.forced_text()`` begins with.  None where nothing is certain, where the
        text so far ends inside a code point, or where the tokenizer changes what it is given (as one that
        lowers case does).

    Raises:
        LimitExceeded, Cancelled: the constraint's work was stopped.
    """
    vocabulary = matcher.compiled.vocabulary
    forced = matcher.forced_text()
    tokens = spelled_tokens(forced, tokenizer, vocabulary)
    if tokens and _ends_text(matcher, tokens):
        return tokens
    return tokens[: safe_count(tokens, forced, vocabulary)]


def safe_count(tokens: list[int], forced: bytes, vocabulary: Vocabulary) -> int:
    """Return how many of ``tokens``, which spell the beginning of ``forced``, lie before a safe border."""
    prefixes = token_prefixes(vocabulary)
    borders = list(accumulate(len(_bytes(vocabulary, token)) for token in tokens))
    safe = (
        count for count in range(len(tokens), 0, -1) if not prefixes.straddles(forced, borders[count - 1])
    )
    return next(safe, 0)


def _ends_text(matcher: Matcher, tokens: list[int]) -> bool:
    """Whether the text is whole behind ``tokens``, and nothing can follow."""
    fork = matcher.fork()
    return all(map(fork.advance, tokens)) and fork.is_finished


def spelled_tokens(forced: bytes, tokenizer: Any, vocabulary: Vocabulary) -> list[int]:
    """Return the tokens of ``forced`` in the middle of a text, up to the first that does not spell it."""
    if not forced or 0x80 <= forced[0] < 0xC0:
        return []
    text = codecs.getincrementaldecoder("utf-8")().decode(forced)  # a code point that is cut is left out
    best: list[int] = []
    spelled = 0
    for lead in _LEADS:
        tokens = [int(token) for token in tokenizer(lead + text, add_special_tokens=False)["input_ids"]]
        found: list[int] = []
        end = 0
        for token in _behind(lead, tokens, vocabulary):
            data = _bytes(vocabulary, token)
            if not data or not forced.startswith(data, end):
                break
            found.append(token)
            end += len(data)
        if end > spelled:
            best, spelled = found, end
        if end == len(text.encode()):
            break
    return best


def _behind(lead: str, tokens: list[int], vocabulary: Vocabulary) -> list[int]:
    """Return the tokens behind the first that ends with ``lead``."""
    if not lead:
        return tokens
    ends = (i + 1 for i, token in enumerate(tokens) if _bytes(vocabulary, token).endswith(lead.encode()))
    return tokens[next(ends, len(tokens)) :]


def _bytes(vocabulary: Vocabulary, token: int) -> bytes:
    return (vocabulary[token] if token < vocabulary.width else None) or b""
