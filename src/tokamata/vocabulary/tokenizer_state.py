"""Notices that a tokenizer has changed since its tokens were read.

A vocabulary is kept as long as its tokenizer exists, and its pipeline is read when it is first needed.  A
tokenizer may be changed in between: ``add_tokens``, another normalizer, another model.

What can be read in less than a millisecond is compared: the definitions of normalizer, pre-tokenizer, decoder
and post-processor; the added tokens with their flags; the options of the model, its size, and for some tokens
their texts and what the model makes of these texts.  Of a model of up to ``_MOST_READ`` tokens, all is
compared.

Not noticed, since reading a whole model takes 0.1 s and more: a larger model of the same type, size and
options that differs only in other tokens or merges.  With canonical tokenization the self-test looks for such
a change (:mod:`tokamata.tokenization.self_test`).  Of more than ``_MOST_COMPARED`` added tokens, only the
number is compared.  Parts that are written in Python have no definition to compare.
"""

# transformers has no usable types for tokenizers, hence `Any`.

from __future__ import annotations

from operator import attrgetter
from typing import Any
from weakref import WeakKeyDictionary

__all__ = ["TokenizerState"]

_MOST_COMPARED = 400  # added tokens
_MOST_READ = 4096  # tokens of a model that is read as a whole
_SAMPLED = 64  # tokens of a tokenizer that are compared, evenly spread
_PARTS = ("normalizer", "pre_tokenizer", "decoder", "post_processor")
_flags_of = attrgetter("content", "special", "single_word", "lstrip", "rstrip", "normalized")
# Options of BPE, WordPiece, WordLevel and Unigram, as far as the package tokenizers shows them.
_OPTIONS = (
    *("dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix", "fuse_unk", "byte_fallback"),
    *("ignore_merges", "max_input_chars_per_word", "alpha", "nbest_size", "unk_id"),
)
_RANDOM = ("dropout", "alpha", "nbest_size")
_RARE = "\U0010fffd"  # no token has it: it shows what the model makes of unknown text


class TokenizerState:
    """What a tokenizer was when it was read: one of `tokenizers` or `transformers`."""

    def __init__(self, tokenizer: Any) -> None:
        backend = _backend(tokenizer)
        self._has_many = backend is not None and _has_many_added(backend)
        self._facts = self._facts_of(tokenizer)

    def is_of(self, tokenizer: Any) -> bool:
        """Whether the tokenizer is as it was, as far as it is noticed."""
        return self._facts_of(tokenizer) == self._facts

    def digest(self) -> bytes:
        """A digest of what is compared, the same in another process."""
        import hashlib

        return hashlib.sha256(repr(self._facts).encode()).digest()

    def _facts_of(self, tokenizer: Any) -> tuple[Any, ...]:
        backend = _backend(tokenizer)
        if backend is None:  # one written in Python
            inner = (getattr(tokenizer, "sp_model", None), getattr(tokenizer, "tokenizer", None))
            return len(tokenizer), repr(getattr(tokenizer, "added_tokens_decoder", None)), inner
        parts = tuple(_definition(getattr(backend, part)) for part in _PARTS)
        return *parts, self._added(backend), _model_facts(backend.model, backend.get_vocab_size(False))

    def _added(self, backend: Any) -> Any:
        if self._has_many:
            return backend.get_vocab_size(True)
        added = backend.get_added_tokens_decoder()
        return list(added), list(map(_flags_of, added.values()))


# Backends by whether they had many added tokens when they were first seen; counting 6,000 takes 5 ms.
_many: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()


def _has_many_added(backend: Any) -> bool:
    try:
        known = _many.get(backend)
    except TypeError:  # old versions of the package have no weak references
        return len(backend.get_added_tokens_decoder()) > _MOST_COMPARED
    if known is None:
        known = _many[backend] = len(backend.get_added_tokens_decoder()) > _MOST_COMPARED
    return known


def _backend(tokenizer: Any) -> Any:
    """The ``tokenizers.Tokenizer`` of a tokenizer, or ``None``."""
    if type(tokenizer).__module__.partition(".")[0] == "tokenizers":
        return tokenizer
    return getattr(tokenizer, "backend_tokenizer", None)


def _definition(part: Any) -> Any:
    if part is None:
        return None
    try:
        return part.__getstate__()
    except Exception:  # the package raises bare Exception for a part written in Python
        return type(part)


def _model_facts(model: Any, size: int) -> tuple[Any, ...]:
    options = {name: getattr(model, name, None) for name in _OPTIONS}
    if size <= _MOST_READ:
        return type(model), _definition(model)
    texts = [model.id_to_token(size * place // _SAMPLED) for place in range(_SAMPLED)]
    texts += [model.id_to_token(token) for token in range(max(0, size - 4), size)]
    made = []
    if not any(options[name] for name in _RANDOM):  # otherwise each call makes something else of a text
        made = [_tokens(model, text) for text in (_RARE, *filter(None, texts))]
    return type(model), size, options, texts, made


def _tokens(model: Any, text: str) -> Any:
    try:
        return [token.id for token in model.tokenize(text)]
    except Exception as error:  # the package raises bare Exception for text that it cannot read
        return str(error)
