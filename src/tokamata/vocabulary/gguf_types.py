"""The types of tokens as llama.cpp sets them when it loads a GGUF file.

``tokenizer.ggml.token_type`` has a type for each token, and llama.cpp changes some of them by the tokens'
texts: what ends a generation or belongs to fill-in-the-middle becomes a control token, which prints nothing
and is cut out of texts; four tokens of gpt-oss become user-defined ones, which print their texts.  For
Gemma 3:

    212 </s> has the type of text in the file, since it is HTML's; to llama.cpp it is a control token

A fill-in-the-middle token that the file does not declare is found by its text.  If several tokens have one of
these texts, llama.cpp takes the first in the order of a hash table, which is not known here.

Source: ``llama_vocab::impl::load`` in llama.cpp's ``src/llama-vocab.cpp``, as of llama-cpp-python 0.3.36.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from tokamata.vocabulary.end_of_generation import ENDS, FILL_IN
from tokamata.vocabulary.sentence_piece import PieceType

__all__ = ["FILL_IN_KEYS", "LoadedTypes", "loaded_types"]

_SHOWN = ("<|channel|>", "<|message|>", "<|start|>", "<|constrain|>")
# The keys that declare a token, the deprecated ones last, and the texts by which it is found otherwise.
_FOUND_BY_TEXT: list[tuple[tuple[str, ...], tuple[str, ...]]] = [
    (
        ("fim_pre_token_id", "prefix_token_id"),
        (
            *("<|fim_prefix|>", "<fim-prefix>", "<fim_prefix>", "<｜fim▁begin｜>", "<PRE>", "▁<PRE>"),
            *("<|code_prefix|>", "<|prefix|>"),
        ),
    ),
    (
        ("fim_suf_token_id", "suffix_token_id"),
        (
            *("<|fim_suffix|>", "<fim-suffix>", "<fim_suffix>", "<｜fim▁hole｜>", "<SUF>", "▁<SUF>"),
            *("<|code_suffix|>", "<|suffix|>"),
        ),
    ),
    (
        ("fim_mid_token_id", "middle_token_id"),
        (
            *("<|fim_middle|>", "<fim-middle>", "<fim_middle>", "<｜fim▁end｜>", "<MID>", "▁<MID>"),
            *("<|code_middle|>", "<|middle|>"),
        ),
    ),
    *(((key,), texts) for key, texts in FILL_IN.items()),
]
FILL_IN_KEYS = tuple(key for keys, _ in _FOUND_BY_TEXT for key in keys)


class LoadedTypes(NamedTuple):
    """The types of a file's tokens in llama.cpp.

    Attributes:
        kinds: the type of each token, a ``PieceType``.
        unsettled: the texts of tokens that may or may not be control tokens.
    """

    kinds: list[int]
    unsettled: tuple[str, ...]


def loaded_types(
    texts: Sequence[bytes], kinds: Sequence[int], declared: Collection[str], stop: Collection[int]
) -> LoadedTypes:
    """The types of tokens after loading.

    Args:
        texts: the text of each token.
        kinds: the type of each token in the file.
        declared: those of ``FILL_IN_KEYS`` that the file declares with a token.
        stop: the tokens that end a text (:mod:`.end_of_generation`).
    """
    watched = ENDS.union(_SHOWN, *(names for _, names in _FOUND_BY_TEXT))
    wanted = {text.encode() for text in watched}
    ids = {text.decode(): token for token, text in enumerate(texts) if text in wanted}
    changed = list(kinds)
    for text in ENDS & ids.keys():
        changed[ids[text]] = PieceType.CONTROL
    unsettled: list[str] = []
    for keys, names in _FOUND_BY_TEXT:
        found = [name for name in names if name in ids]
        if not found or any(key in declared for key in keys):
            continue
        others = [name for name in found if changed[ids[name]] != PieceType.CONTROL]
        if len(found) == 1:
            changed[ids[found[0]]] = PieceType.CONTROL
        elif others:
            unsettled += others
    for text in _SHOWN:
        if text in ids:
            changed[ids[text]] = PieceType.USER_DEFINED
    if "<|end|>" in ids and ids["<|end|>"] not in stop:
        changed[ids["<|end|>"]] = PieceType.USER_DEFINED  # it ends a message within an answer
    if "</s>" in ids and ids["</s>"] not in stop:
        changed[ids["</s>"]] = PieceType.NORMAL
    return LoadedTypes(changed, tuple(unsettled))
