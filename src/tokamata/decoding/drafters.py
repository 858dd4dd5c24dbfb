"""The drafter that a caller asks for."""

# transformers has no usable types for models and tokenizers, hence `Any` for the two.

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tokamata.decoding.drafts import Certain, Drafter, Repeated
from tokamata.decoding.model_drafts import OtherTokens, Smaller
from tokamata.errors import ArgumentError, shown_argument

if TYPE_CHECKING:
    from tokamata.decoding.sampling import Sampler
    from tokamata.matching.matchers import Matcher
    from tokamata.vocabulary import Vocabulary

__all__ = ["check_draft", "drafter_of"]

_EXPECTED = (
    '"constraint", "prompt", a causal language model with the same tokens, or a pair of any and its tokenizer'
)


def check_draft(draft: Any) -> None:
    """Refuses what is no drafter."""
    if isinstance(draft, str):
        is_known = draft in ("constraint", "prompt")
    elif isinstance(draft, tuple):
        is_known = len(draft) == 2 and all(map(callable, draft))
    else:
        is_known = draft is None or callable(draft)
    if not is_known:
        raise ArgumentError("draft", shown_argument(draft), _EXPECTED)


def drafter_of(
    draft: Any, tokenizer: Any, sampler: Sampler, vocabulary: Vocabulary, matcher: Matcher | None
) -> Drafter | None:
    """The drafter of a text.

    Args:
        draft: the argument of :func:`tokamata.stream`.
        tokenizer: that of the model.
        sampler: that of the text.
        vocabulary: that of the model.
        matcher: at the start of the text; ``None`` if it is free.

    Raises:
        TokamataError: the text cannot be written with the tokenizer of the draft's model.
    """
    if draft is None:
        return None
    if isinstance(draft, tuple):
        smaller, its_tokenizer = draft
        constraint = None if matcher is None else matcher.compiled
        return OtherTokens(smaller, its_tokenizer, tokenizer, vocabulary, constraint)
    if isinstance(draft, str):
        return Certain(tokenizer) if draft == "constraint" else Repeated()
    return Smaller(draft, sampler, vocabulary)
