"""Jumping: writes the tokens of forced text without calling the model.

Problem: every accepted text continues with the bytes ``forced``; the bytes after them are unknown.  Which
tokens does the tokenizer write in every such text?  Not all tokens of ``forced`` itself: with the merges
"a b", "n g" and "i ng" the text "abi" is ``ab|i``, but "abing" is ``ab|ing``.  A model has hardly ever seen a
token ``i`` there, and would continue badly.

A border is *safe* if no token of the vocabulary can straddle it: begin before it, agree with ``forced`` up to
its end, and end after the border.

    forced   a b i        border 2: no token begins with "b" or "ab" and continues with "i": safe
    borders     2 3       border 3, the end: "ing" may begin at 2 and end after 3: not safe
    tokens   ab |i        so "ab" is written, and the model chooses the next token

Claim: up to a safe border, the tokenizer writes the same tokens whatever follows ``forced``.  Every
tokenization of the whole text has a border there, and
    - byte-pair encoding never merges across it (the result would be a token that straddles it), and merges
      to its left and to its right are independent;
    - the longest match from the left never crosses it, so it does not depend on the bytes after it;
    - the most probable tokenization (Unigram) consists of those of the left part and of the right part.
A pre-tokenizer cuts the text first, from left to right; the end of a piece before the border does not depend
on the bytes that follow.  Exceptions are pre-tokenizers that look ahead, such as ``\\s+(?!\\S)``: whitespace
at the end of ``forced`` loses its last code point to a following word.  This concerns only the border at the
end of ``forced``, which a token of a space and a letter straddles in all known vocabularies.  In a vocabulary
without one, the tokens could differ from the tokenizer's; the text would still be right, since the matcher
checks each token.

So the tokens of ``forced`` up to its last safe border are written; all of them if nothing can follow
``forced``, which is then the end of the text.  It does not suffice to check the tokens that cross the end of
``forced``: with the merges "c d", "b c" and "a b", in this order, "abc" is ``a|bc`` and only "cd" crosses its
end, but "abcd" is ``ab|cd``.

Cost: one encoding of ``forced``, and for each examined border a binary search per byte of the longest token.
Rejected: encoding ``forced`` up to each position from which a token may cross the end, and keeping the common
tokens.  It is exact too, but takes several encodings instead of one; on 28 texts with the vocabularies of
DeepSeek V3 and Gemma 3, it gave the same tokens.
"""

# transformers has no usable types for tokenizers, hence `Any`.

from __future__ import annotations

import codecs
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from tokamata.decoding.token_prefixes import token_prefixes
from tokamata.vocabulary import Vocabulary

if TYPE_CHECKING:
    from tokamata.matching.matchers import Matcher

__all__ = ["certain_tokens", "safe_count", "spelled_tokens"]

# Some tokenizers (Llama 2's) add a space at the start of every text, but not after a line feed.
_LEADS = ("", "\n")


def certain_tokens(matcher: Matcher, tokenizer: Any) -> list[int]:
    """Return the tokens that ``tokenizer`` writes next in every text that a matcher accepts.

    Args:
        matcher: the text so far; it is not advanced.
        tokenizer: called like transformers' tokenizers, with ``add_special_tokens=False``.

    Returns:
        Tokens that spell a prefix of ``matcher.forced_text()``.  The list is empty if nothing is certain, if
        the text so far ends inside a code point, or if the tokenizer changes the text (for example, to
        lower case).

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
    """Return how many of ``tokens``, which spell a prefix of ``forced``, end at or before a safe border."""
    prefixes = token_prefixes(vocabulary)
    borders = list(accumulate(len(_bytes(vocabulary, token)) for token in tokens))
    safe = (
        count for count in range(len(tokens), 0, -1) if not prefixes.straddles(forced, borders[count - 1])
    )
    return next(safe, 0)


def _ends_text(matcher: Matcher, tokens: list[int]) -> bool:
    """Whether the text is complete after ``tokens``, and nothing can follow."""
    fork = matcher.fork()
    return all(map(fork.advance, tokens)) and fork.is_finished


def spelled_tokens(forced: bytes, tokenizer: Any, vocabulary: Vocabulary) -> list[int]:
    """Return the tokens of ``forced`` in the middle of a text, up to the first with other bytes."""
    if not forced or 0x80 <= forced[0] < 0xC0:
        return []
    # Without an incomplete code point at the end.
    text = codecs.getincrementaldecoder("utf-8")().decode(forced)
    best: list[int] = []
    spelled = 0
    for lead in _LEADS:
        tokens = [int(token) for token in tokenizer(lead + text, add_special_tokens=False)["input_ids"]]
        found: list[int] = []
        end = 0
        for token in _after(lead, tokens, vocabulary):
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


def _after(lead: str, tokens: list[int], vocabulary: Vocabulary) -> list[int]:
    """Return the tokens after the first that ends with ``lead``."""
    if not lead:
        return tokens
    ends = (i + 1 for i, token in enumerate(tokens) if _bytes(vocabulary, token).endswith(lead.encode()))
    return tokens[next(ends, len(tokens)) :]


def _bytes(vocabulary: Vocabulary, token: int) -> bytes:
    return (vocabulary[token] if token < vocabulary.width else None) or b""
