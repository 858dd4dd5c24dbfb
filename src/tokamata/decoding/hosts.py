"""Reads the vocabulary, the width and the stop tokens from a transformers model and its tokenizer.

The tokenizer names the tokens.  The model has the width of the logits (often padded to a round
number) and further stop tokens.
"""

# transformers and torch have no usable types for these attributes, hence `Any`: the model is any
# object with the interface of transformers' causal language models.

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

from tokamata.errors import ArgumentError, shown_argument
from tokamata.vocabulary import Vocabulary
from tokamata.vocabulary.misfits import check_tokenizer
from tokamata.vocabulary.sources import read_source
from tokamata.vocabulary.tokenizer_state import TokenizerState

__all__ = ["check_host", "check_model", "forget_vocabulary", "logits_width", "stop_tokens", "vocabulary_of"]

_TOKENIZER = "the tokenizer of the model, one of transformers"
_MODEL = "a causal language model of transformers"
_ORDER = "the order is model, tokenizer, prompt, constraint"
_CLIENTS = ("openai", "anthropic", "ollama", "litellm", "instructor")
_Key = tuple[int | None, tuple[int, ...]]
_loaded: WeakKeyDictionary[Any, tuple[_Key, TokenizerState, Vocabulary]] = WeakKeyDictionary()


def logits_width(model: Any) -> int | None:
    """Return the number of logits of ``model``, or ``None`` if it does not declare it."""
    get_head = None if isinstance(model, type) else getattr(model, "get_output_embeddings", None)
    weight = getattr(get_head() if callable(get_head) else None, "weight", None)
    if weight is not None:
        return int(weight.shape[0])
    config = getattr(model, "config", None)
    get_text_config = getattr(config, "get_text_config", None)
    width = getattr(get_text_config() if callable(get_text_config) else config, "vocab_size", None)
    return None if width is None else int(width)


def stop_tokens(model: Any, tokenizer: Any) -> tuple[int, ...]:
    """Return the tokens that end a text: those of the model's generation config, and the tokenizer's."""
    found: set[int] = set()
    for holder in (getattr(model, "generation_config", None), tokenizer):
        ids = getattr(holder, "eos_token_id", None)
        if isinstance(ids, Iterable):
            found.update(int(token) for token in ids)
        elif ids is not None:
            found.add(int(ids))
    return tuple(sorted(found))


def vocabulary_of(model: Any, tokenizer: Any) -> Vocabulary:
    """Load the vocabulary of ``tokenizer``, with the width and the stop tokens of ``model``.

    Ids without logits (such as the last of Gemma 3's tokenizer) are omitted, since the model cannot
    write them.  The vocabulary is kept as long as the tokenizer exists and has not changed
    (:mod:`tokamata.vocabulary.tokenizer_state`).

    Raises:
        ArgumentError: ``tokenizer`` is not a tokenizer of transformers, or clearly that of another model.
        VocabularyError: tokenizers of this type cannot be read.
    """
    check_host(model, tokenizer)
    _check_tokenizer(tokenizer)
    width = logits_width(model)
    stop = tuple(token for token in stop_tokens(model, tokenizer) if width is None or token < width)
    key = (width, stop)
    kept = _loaded.get(tokenizer)
    if kept is not None and kept[0] == key and kept[1].is_of(tokenizer):
        return kept[2]
    state = TokenizerState(tokenizer)
    table = read_source(tokenizer, want_stop=False)
    if width is not None:
        check_tokenizer(table.tokens, width)
    # Cut first: Vocabulary refuses a width that cuts off text tokens.
    vocabulary = Vocabulary(replace(table, tokens=table.tokens[:width], stop=stop), width)
    _loaded[tokenizer] = (key, state, vocabulary)
    return vocabulary


def forget_vocabulary(tokenizer: Any) -> None:
    """Forget what is kept of a tokenizer, which has changed in a way that cannot be seen in a millisecond."""
    _loaded.pop(tokenizer, None)


def check_host(model: Any, tokenizer: Any) -> None:
    """Refuse what is no model or no tokenizer, or one of another package, and say what to pass.

    Raises:
        ArgumentError: names the argument, and the package.
    """
    for name, value in (("model", model), ("tokenizer", tokenizer)):
        package, kind = type(value).__module__.partition(".")[0], type(value).__name__
        if package == "llama_cpp":
            raise ArgumentError(
                name,
                f"{kind} of llama-cpp-python",
                _MODEL if name == "model" else _TOKENIZER,
                "compile the constraint for Vocabulary.load(llama), and apply the masks of its matcher in a "
                "logits_processor of llama.create_completion",
            )
        if package == "tokenizers" and name == "tokenizer":
            raise ArgumentError(
                name,
                f"{kind} of the package tokenizers",
                _TOKENIZER,
                "wrap it in transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token=…)",
            )


def check_model(model: Any) -> None:
    """Refuse what cannot be called as a model, and say what to pass.

    Raises:
        ArgumentError: it is a name, a class, a pipeline, a tokenizer or the client of a server.
    """
    package = type(model).__module__
    is_pipeline = package.startswith("transformers.pipelines")
    is_tokenizer = hasattr(model, "batch_decode")
    if callable(model) and not (isinstance(model, type) or is_pipeline or is_tokenizer):
        return
    hint = ""
    if isinstance(model, (str, type)):
        hint = "load it with transformers.AutoModelForCausalLM.from_pretrained"
    elif is_pipeline:
        hint = "pass its .model and its .tokenizer"
    elif is_tokenizer:
        hint = _ORDER
    elif package.partition(".")[0] in _CLIENTS:
        hint = "tokamata needs the logits of each step, which a server does not give"
    raise ArgumentError("model", shown_argument(model), _MODEL, hint)


def _check_tokenizer(tokenizer: Any) -> None:
    is_name, is_class = isinstance(tokenizer, str), isinstance(tokenizer, type)
    is_vocabulary = isinstance(tokenizer, Vocabulary)
    if hasattr(tokenizer, "__len__") and not (is_name or is_class or is_vocabulary):
        return
    hint = ""
    if is_name or is_class:
        hint = "load it with transformers.AutoTokenizer.from_pretrained"
    elif is_vocabulary:
        hint = "pass the tokenizer that the vocabulary was loaded from"
    elif hasattr(tokenizer, "get_output_embeddings"):
        hint = _ORDER
    raise ArgumentError("tokenizer", shown_argument(tokenizer), _TOKENIZER, hint)
