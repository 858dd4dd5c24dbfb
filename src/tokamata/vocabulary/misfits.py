"""Vocabularies that do not fit: for another number of logits, or without stop tokens.

Most models have some hundred or thousand logits more than their tokenizer has tokens, since wide matrices are
padded to round sizes (Qwen 3: 151,936 for 151,669; CodeGen: 51,200 for 50,295).  Some have a few less, for
tokens that are no text (Gemma 3: 262,144 for 262,145).  A larger difference is that of another model.
"""

from __future__ import annotations

import sys
import warnings

from tokamata.errors import ArgumentError, MaskError, VocabularyWarning
from tokamata.vocabulary.end_of_generation import ENDS
from tokamata.vocabulary.token_table import TokenBytes, TokenTable

__all__ = ["check_logits", "check_tokenizer", "warn_if_far_wider", "warn_without_stop"]

_MOST_PADDING = 1024  # ids that one may have more than the other,
_PADDING_SHARE = 8  # or an eighth of these


def warn_if_far_wider(tokens: int, logits: int) -> None:
    """Warn if a model has many more logits than padding explains.

    Args:
        tokens: the number of tokens of the vocabulary.
        logits: the number of logits.
    """
    if _is_far(tokens, logits):
        _warn(
            f"the vocabulary has {tokens:,} tokens, and the model {logits:,} logits, which is more than "
            "padding explains; pass the tokenizer of this model, not of another one"
        )


def check_tokenizer(tokens: TokenBytes, logits: int) -> None:
    """Compare the tokens of a tokenizer, which are cut at the number of logits, with that number.

    Raises:
        ArgumentError: many tokens that are text have no logit.
    """
    cut = sum(token is not None for token in tokens[logits:])
    if cut and _is_far(logits, logits + cut):
        raise ArgumentError(
            "tokenizer",
            f"one with {len(tokens):,} tokens, for a model with {logits:,} logits",
            "the tokenizer of the model",
        )
    if cut:
        _warn(
            f"the tokenizer has {len(tokens):,} tokens, and the model {logits:,} logits, so it cannot write "
            f"{cut:,} tokens that are text; pass the tokenizer of this model, or resize its embeddings"
        )
    warn_if_far_wider(len(tokens), logits)


def check_logits(tokens: int, width: int, logits: int) -> None:
    """Compare the vocabulary of a compiled constraint with the number of logits of the model.

    Args:
        tokens, width: of the vocabulary.
        logits: the number of logits.

    Raises:
        MaskError: the vocabulary is wider.
    """
    if logits < width:
        raise MaskError(
            f"the logits have {logits:,} entries, and the vocabulary of the constraint {width:,}; compile it "
            f"for the tokenizer of this model, Vocabulary.load(tokenizer, width={logits})"
        )
    warn_if_far_wider(tokens, logits)


def warn_without_stop(table: TokenTable, where: str) -> None:
    """Warn that a vocabulary has no stop tokens, and suggest some."""
    names = [name for name in table.names.values() if name in ENDS][:4]
    example = f", perhaps stop={names}" if names else ""
    _warn(
        f"{where} names no stop tokens, so no mask allows a text to end that can go on; pass "
        f"stop= with their ids or names{example}, or stop=() if the vocabulary needs none"
    )


def _is_far(fewer: int, more: int) -> bool:
    return more - fewer > max(_MOST_PADDING, fewer // _PADDING_SHARE)


def _warn(message: str) -> None:
    """A warning at the line outside of this package that has led here."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("tokamata."):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, VocabularyWarning, stacklevel=level)
