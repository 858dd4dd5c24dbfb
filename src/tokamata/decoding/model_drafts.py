"""Drafts of a smaller model: one with the same tokens, or one with a tokenizer of its own.

A model with other tokens drafts text.  It reads the text so far in its tokens, and writes its most probable
tokens under the same constraint, compiled for its own vocabulary.  What it has written is then encoded by the
large model's tokenizer, and is a guess like any other (:mod:`tokamata.decoding.drafts`)::

    the large model's tokens    na|me| is
    the text                    name is
    the smaller model's tokens  name| is          and then  | An|n
    the guess                                               | Ann

Cost: the text is encoded anew for each draft; the smaller model reads only what has changed.
Source: Timor et al. 2025, string-level exact match.
Not taken: drawing from a distribution of texts, which would need the probability of a text in both
tokenizations.
"""

# transformers has no usable types for models and tokenizers, hence `Any` for the two.

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tokamata.constraints.given import constraint_and_limits
from tokamata.decoding.drafts import Draft, Drafter, Guess
from tokamata.decoding.hosts import vocabulary_of
from tokamata.decoding.jump import spelled_tokens
from tokamata.decoding.reader import Reader
from tokamata.decoding.sampling import NoChoice, Sampler
from tokamata.matching.masks import allocate_mask, apply_mask
from tokamata.matching.matchers import CompiledConstraint, Matcher

if TYPE_CHECKING:
    import torch

    from tokamata.vocabulary import Vocabulary

__all__ = ["OtherTokens", "Smaller"]


class Smaller(Drafter):
    """Drafts what a smaller model draws, under the same mask and the same warps."""

    def __init__(self, model: Any, sampler: Sampler, vocabulary: Vocabulary) -> None:
        self._reader, self._sampler = Reader(model, vocabulary.width), sampler
        self._width, self._stop = vocabulary.width, vocabulary.stop

    def draft(self, tokens: list[int], matcher: Matcher | None, most: int, budget: int) -> Draft:
        """A draft of at most ``most`` tokens."""
        fork = None if matcher is None else matcher.fork()
        masks = None if fork is None else allocate_mask(most + 1, self._width)
        drafted: list[int] = []
        probabilities: list[torch.Tensor] = []
        while True:
            place = len(drafted)
            if fork is not None and masks is not None:
                fork.fill_mask(masks[place], budget - place)
            is_over = drafted[-1:] and drafted[-1] in self._stop
            if place == most or is_over or (fork is not None and fork.is_finished):
                break
            logits = self._reader.logits(tokens + drafted)
            if masks is not None:
                apply_mask(logits, masks[place])
            try:
                token, drawn_from = self._sampler.drawn(logits)
            except NoChoice:  # the smaller model has no probabilities here: the large one chooses
                break
            drafted.append(token)
            probabilities.append(drawn_from)
            if fork is not None:
                assert fork.advance(token)  # its mask allows it
        return Draft(drafted, None if masks is None else masks[: len(drafted) + 1], probabilities)


class OtherTokens(Guess):
    """Drafts the text that a model with another tokenizer writes.

    Args:
        model: the smaller model.
        tokenizer: its own tokenizer.
        own_tokenizer: that of the large model.
        vocabulary: that of the large model.
        constraint: that of the text; ``None``: the text is free.

    Raises:
        UnspellableError, VocabularyError: the constraint has no text in the smaller model's tokens, or names
            a control token that it lacks.
    """

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        own_tokenizer: Any,
        vocabulary: Vocabulary,
        constraint: CompiledConstraint[Any] | None,
    ) -> None:
        self._tokenizer, self._own_tokenizer = tokenizer, own_tokenizer
        self._own = vocabulary
        self._vocabulary = vocabulary_of(model, tokenizer)
        self._reader = Reader(model, self._vocabulary.width)
        self._compiled: CompiledConstraint[Any] | None = None
        if constraint is not None:
            plain, limits = constraint_and_limits(constraint)
            self._compiled = plain.compile(self._vocabulary, limits=limits)

    def _guessed(self, tokens: list[int], matcher: Matcher | None, most: int) -> list[int]:
        written = len(tokens) if matcher is None else len(tokens) - len(matcher.tokens)
        ids = self._encoded(self._bytes(tokens[:written]), special=True)
        theirs = None
        if matcher is not None and self._compiled is not None:
            of_text = self._encoded(matcher.text, special=False)
            theirs = self._compiled.matcher()
            if ids is None or of_text is None or not theirs.advance_all(of_text):
                return []
            ids += of_text
        if not ids:
            return []
        text = self._written(ids, theirs, most)
        try:
            text.decode()
        except UnicodeDecodeError as error:  # a free text, or one that ends within a code point
            text = text[: error.start]
        return spelled_tokens(text, self._own_tokenizer, self._own)

    def _written(self, ids: list[int], matcher: Matcher | None, most: int) -> bytes:
        """The text of the most probable tokens."""
        text = b""
        row = allocate_mask(1, self._vocabulary.width)
        for _ in range(most):
            if matcher is not None and matcher.is_finished:
                break
            logits = self._reader.logits(ids)
            if matcher is not None:
                matcher.fill_mask(row[0])
                apply_mask(logits, row[0])
            token = int(logits.argmax())
            if token in self._vocabulary.stop or logits[token] == float("-inf") or logits.isnan().any():
                break
            if matcher is not None and not matcher.advance(token):
                break
            ids = [*ids, token]
            text += self._vocabulary[token] or b""
        return text

    def _bytes(self, tokens: list[int]) -> bytes:
        return b"".join(self._own[token] or b"" for token in tokens if token < self._own.width)

    def _encoded(self, text: bytes, special: bool) -> list[int] | None:
        """The smaller model's tokens; ``None`` where the text ends within a code point."""
        try:
            decoded = text.decode()
        except UnicodeDecodeError:
            return None
        ids = self._tokenizer(decoded, add_special_tokens=special)["input_ids"]
        return [int(token) for token in ids]
