"""The pipeline of a GGUF file: canonical sequences are those of llama.cpp's own tokenizers.

llama.cpp does not run a model's ``tokenizer.json``.  It has a few programs, which the metadata choose and
configure, and their tokens differ from those of other programs on some texts: Qwen's texts are not brought
into NFC, and each pre-tokenizer has llama.cpp's own regexes (:mod:`.gguf_patterns`).

    tokenizer.ggml.model = gpt2    BPE by merges, over pieces that the pre-tokenizer cuts
    tokenizer.ggml.model = gemma4  BPE by merges, over lines in which ▁ stands for a space
    tokenizer.ggml.model = llama   BPE by scores, over whole texts in which ▁ stands for a space

**Tokens that are cut out first** are control, user-defined and unknown ones, by their types after loading
(:mod:`tokamata.vocabulary.gguf_types`).  llama.cpp looks for them one after the other, the longest first; the
engine takes the leftmost match, and the longest of these.  Both find the same unless a token begins before
another one, shares characters with it, and is no longer:

    ab  and  bcd  in  abcd:   llama.cpp finds  bcd  first, the engine finds  ab

If two tokens do that, and no longer token begins with the first, the file is refused.

**BPE by merges.** The tokens of characters are joined by rank, as everywhere.  Of a pair that is listed
twice, the first counts (the last one, in Hugging Face's program).  Tokens are in the byte-level alphabet; or,
with ``gemma4`` and some other pre-tokenizers, they are plain text, and what is no token is written in bytes.

**BPE by scores.** Two neighbours are joined if their joined text is a token, whatever its type; the highest
score first, then the leftmost.  What is no token is written in bytes.  If ``add_space_prefix`` is set, each
text gets a space, also after each token that was cut out.

Types do not matter for merges, so tokens without a text may come of them: unused ones, and control tokens
whose names stand for other letters.  Such files are refused.

Source: ``src/llama-vocab.cpp`` of llama.cpp, as of llama-cpp-python 0.3.36, whose program is compared by
``fuzz/llama_cpp_exactness.py``.

Rejected: the pipeline of the ``tokenizer.json`` that a model comes with.  Its masks would not be those of the
program that runs the model.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

import tokamata._core as _core
from tokamata.errors import UnsupportedTokenizerError, VocabularyError
from tokamata.tokenization.pipelines.atoms import atoms_of_texts
from tokamata.tokenization.pipelines.byte_pairs import with_bytes
from tokamata.tokenization.pipelines.gguf_patterns import named_pre_tokenizer
from tokamata.tokenization.pipelines.pipeline import (
    AddedToken,
    BytePairs,
    Normalizer,
    Pipeline,
    Splitting,
    UInt32,
    contradictions_refused,
)
from tokamata.tokenization.pipelines.ranks import merges_of_ranks
from tokamata.tokenization.pretokenizers.classes import CODE_POINTS
from tokamata.tokenization.pretokenizers.llama_cpp_classes import LlamaCppEngine
from tokamata.vocabulary.byte_alphabet import byte_level_bytes, is_byte_level_text
from tokamata.vocabulary.gguf_file import TOKEN_KEYS, GgufTokens, tokens_of
from tokamata.vocabulary.gguf_metadata import Value, metadata_of
from tokamata.vocabulary.sentence_piece import PieceType

__all__ = ["normalizer_from_gguf", "pipeline_from_gguf"]

_MERGES, _SCORES = "tokenizer.ggml.merges", "tokenizer.ggml.scores"
_NAME, _ARCHITECTURE = "general.name", "general.architecture"
_KEYS = (*TOKEN_KEYS, _MERGES, _SCORES, _NAME, _ARCHITECTURE)
_WHERE = "the GGUF file"
_SIGN = "▁"
_CUT_OUT = (PieceType.CONTROL, PieceType.USER_DEFINED, PieceType.UNKNOWN)
_SHOWN = PieceType.USER_DEFINED
_MOST_LETTERS = 1 << 24  # each beginning of a text that is cut out is looked up: Gemma 3 has 200,000 letters
_MOST_CUTS = 1 << 28  # and each cut of a token in two, by scores: Gemma 3 has 15 million
_MOST_OVERLAPS = 1 << 20  # pairs of tokens that are compared; Gemma 3 has 2,000
# llama.cpp gives attributes to tokens by these parts of names.
_JINA = ("jina-v2-de", "jina-v2-es", "jina-v2-code")
_MASKED = ("nomic-bert-moe", "jina-bert-v3")
_KEEP_SPACES = (b"<unk>", b"<s>", b"<|endoftext|>")  # of Phi 3
_WHITE = (b" ", b"\t", b"\n", b"\v", b"\f", b"\r")  # to isspace of C
_UNGUARDED = "its program is llama.cpp, with which the guard was not compared"


def pipeline_from_gguf(head: bytes, tokens: list[bytes | None]) -> Pipeline:
    """The pipeline of a GGUF file.

    Args:
        head: the bytes of the file up to the end of its metadata.
        tokens: the bytes of every token of the vocabulary.

    Raises:
        UnsupportedTokenizerError: a part is not supported.
        VocabularyError: the file is damaged, or llama.cpp would not load it.
    """
    metadata = metadata_of(head, _KEYS, _WHERE)
    read = tokens_of(metadata, _WHERE)
    _check_distinct(read.texts)
    _check_settled(read, metadata)
    normalizer = _normalizer(read)
    added = _added(read, tokens, normalizer)
    if _swallow(read, metadata):
        added = _swallowing(read, added, normalizer)
    if read.family == "llama":
        return Pipeline(
            LlamaCppEngine(), normalizer, (), _by_scores(read, metadata, tokens), added, _UNGUARDED
        )
    pre_tokenizer = named_pre_tokenizer(read.pre)
    splits = tuple(map(Splitting, pre_tokenizer.regexes))
    if read.is_byte_level:
        model = _by_merges(read, metadata, tokens, pre_tokenizer.ignores_merges)
    else:
        model = _by_plain_merges(read, metadata, tokens)
    return Pipeline(LlamaCppEngine(), normalizer, splits, model, added, _UNGUARDED)


def normalizer_from_gguf(head: bytes) -> Normalizer:
    """The normalizer of a GGUF file, without the other parts.

    Raises as :func:`pipeline_from_gguf` does.
    """
    return _normalizer(tokens_of(metadata_of(head, TOKEN_KEYS, _WHERE), _WHERE))


def _normalizer(read: GgufTokens) -> Normalizer:
    if read.is_byte_level:
        return Normalizer()
    if read.family in ("gpt2", "gemma4"):
        return Normalizer(spaces=_SIGN)
    if read.family == "llama":
        return Normalizer(spaces=_SIGN, prefix="always" if read.drops_space else "none")
    what = f"llama.cpp's own program for {read.family}, with a normalizer and a search of its own"
    raise UnsupportedTokenizerError("model", what)


def _text(metadata: dict[str, Value], key: str) -> str:
    value = metadata.get(key, b"")
    if not isinstance(value, bytes):
        raise VocabularyError(f"{_WHERE}: {key} is {value!r:.40}, not a string")
    return value.decode("utf-8", "replace")


def _check_distinct(texts: list[bytes]) -> None:
    if len(set(texts)) == len(texts):
        return
    first: dict[bytes, int] = {}
    for token, text in enumerate(texts):
        if text in first:
            what = f"tokens {first[text]} and {token} are both {text!r:.40}, so llama.cpp stops"
            raise UnsupportedTokenizerError("model", what)
        first[text] = token


def _check_settled(read: GgufTokens, metadata: dict[str, Value]) -> None:
    """Refuses tokens whose attributes depend on a hash table, or on names of models."""
    if read.unsettled:
        what = f"several tokens of fill-in-the-middle are found by their texts, {read.unsettled[0]!r:.40} too"
        raise UnsupportedTokenizerError("added tokens", f"{what}; the file declares none of them")
    architecture = _text(metadata, _ARCHITECTURE)
    mask = ""
    if any(part in read.pre for part in _JINA) or any(part in architecture for part in _MASKED):
        mask = "<mask>"
    elif "modern-bert" in _text(metadata, _NAME).lower() and not _swallow(read, metadata):
        mask = "[MASK]"
    if mask and mask.encode() in read.texts:
        raise UnsupportedTokenizerError("added tokens", f"{mask} swallows white space in llama.cpp")


def _swallow(read: GgufTokens, metadata: dict[str, Value]) -> bool:
    """Whether tokens that are cut out swallow the white space after them, as with Phi 3."""
    architecture, name = _text(metadata, _ARCHITECTURE), _text(metadata, _NAME).lower()
    if any(part in read.pre for part in _JINA) or any(part in architecture for part in _MASKED):
        return False
    return "phi-3" in name or "phi3" in name


# ---- tokens that are cut out --------------------------------------------------------------------


def _added(read: GgufTokens, tokens: list[bytes | None], normalizer: Normalizer) -> tuple[AddedToken, ...]:
    found: list[AddedToken] = []
    for token, (text, kind) in enumerate(zip(read.texts, read.kinds, strict=True)):
        if kind not in _CUT_OUT or token >= len(tokens):
            continue
        shown = text.decode("utf-8", "replace")
        if shown.encode() != text:
            raise UnsupportedTokenizerError("added tokens", f"{text!r:.40} is not UTF-8")
        if text[:1] == b" " and normalizer.prefix != "none":
            what = f"{shown!r:.40} begins with a space, and the tokenizer puts a space before each text"
            raise UnsupportedTokenizerError("added tokens", what)
        if normalizer.spaces and normalizer.spaces in shown:
            if kind == PieceType.USER_DEFINED:
                what = f"{shown!r:.40} has the sign that stands for a space"
                raise UnsupportedTokenizerError("added tokens", what)
            text = b""  # no canonical text has the sign, so the token only stands between texts
        elif tokens[token] not in (None, text):
            raise _other_tokens(token)
        found.append(AddedToken(token, text))
    named = [one.text for one in found if one.text]
    if sum(len(text) ** 2 for text in named) > _MOST_LETTERS:
        raise UnsupportedTokenizerError("added tokens", f"{len(named):,} texts, which are too long together")
    _check_order(named)
    # Where names of control tokens are ordinary text, these are the only ones.
    _check_order([text for text, kind in zip(read.texts, read.kinds, strict=True) if kind == _SHOWN])
    return tuple(found)


def _swallowing(
    read: GgufTokens, added: tuple[AddedToken, ...], normalizer: Normalizer
) -> tuple[AddedToken, ...]:
    """The same tokens, where they swallow the white space after them: see :mod:`.stripping_tokens`."""
    if missing := {b"</s>", *_KEEP_SPACES} - set(read.texts):
        what = f"it has no {min(missing).decode()}, so llama.cpp does not load a model with the name of Phi 3"
        raise UnsupportedTokenizerError("added tokens", what)
    if first := next((one.text for one in added if one.text[:1] in _WHITE), None):
        what = f"{first.decode()!r:.40} begins with white space, which tokens before it swallow"
        raise UnsupportedTokenizerError("added tokens", what)
    has_prefix = normalizer.prefix != "none"
    space = b" " if has_prefix else b""  # the space that is put there is decoded, and swallowed
    return tuple(
        one
        if not one.text or one.text in _KEEP_SPACES
        else replace(one, forbidden=tuple(one.text + space + white for white in _WHITE), begins=has_prefix)
        for one in added
    )


def _other_tokens(token: int) -> VocabularyError:
    return VocabularyError(f"{_WHERE}: token {token} has another text in it; load the vocabulary again")


def _check_order(texts: list[bytes]) -> None:
    """Refuses texts of which the longest is not found where the leftmost is: see the top of this file."""
    whole = set(texts)
    by_beginning: dict[bytes, list[bytes]] = {}
    for text in texts:
        for size in range(1, len(text)):
            by_beginning.setdefault(text[:size], []).append(text)
    pairs = 0
    for first in texts:
        for start in range(1, len(first)):
            for second in by_beginning.get(first[start:], ()):
                pairs += 1
                if pairs > _MOST_OVERLAPS:
                    raise UnsupportedTokenizerError("added tokens", "too many of them share characters")
                if len(first) > len(second) or first == second:
                    continue
                joined = first[:start] + second
                if any(joined[:size] in whole for size in range(len(first) + 1, len(joined) + 1)):
                    continue  # a longer token begins where the first does
                shown = [text.decode("utf-8", "replace") for text in (first, second)]
                what = f"{shown[0]!r:.40} may overlap {shown[1]!r:.40}, which llama.cpp finds first"
                raise UnsupportedTokenizerError("added tokens", what)


# ---- models -------------------------------------------------------------------------------------


def _by_merges(
    read: GgufTokens,
    metadata: dict[str, Value],
    tokens: list[bytes | None],
    ignores_merges: bool,
) -> BytePairs:
    ids: dict[str, int] = {}
    for token, (text, kind) in enumerate(zip(read.texts, read.kinds, strict=True)):
        spelled = text.decode("utf-8", "replace")
        value = byte_level_bytes(spelled) if is_byte_level_text(spelled) else None
        if kind == PieceType.BYTE:
            raise UnsupportedTokenizerError("model", f"the byte {spelled!r:.40} in a byte-level vocabulary")
        if value is None or token >= len(tokens):
            continue  # no piece of a text is written so
        if tokens[token] not in (None, value):
            if kind != PieceType.USER_DEFINED:
                raise _other_tokens(token)
            what = f"{spelled!r:.40} is text, and is also what bytes {value!r:.40} are written with"
            raise UnsupportedTokenizerError("added tokens", what)
        ids[spelled] = token
    merges = _merges(read, metadata, ids)
    _check_silent(read, merges[2], lambda token: not read.texts[token].isascii())
    in_model = np.zeros(len(tokens), dtype=np.uint8)
    in_model[list(ids.values())] = 1
    missing = set(range(256)) - {byte_level_bytes(text)[0] for text in ids if len(text) == 1}
    if missing and ignores_merges:
        what = f"a piece may become a token with the byte {min(missing):#04x}, which has no token of its own"
        raise UnsupportedTokenizerError("model", what)
    unknown = with_bytes(missing)
    lacks = np.zeros(CODE_POINTS, dtype=bool)
    atoms = atoms_of_texts(ids, len(tokens))
    return BytePairs(*merges, *atoms, in_model, {}, lacks, unknown, ignores_merges)


def _by_plain_merges(read: GgufTokens, metadata: dict[str, Value], tokens: list[bytes | None]) -> BytePairs:
    ids, byte_tokens = _plain_tokens(read, tokens)
    merges = _merges(read, metadata, ids)
    _check_silent(read, merges[2], lambda token: _SIGN.encode() in read.texts[token])
    model = _with_bytes(merges, ids, byte_tokens, len(tokens))
    return model if read.pre == "sarvam-moe" else _with_line_ends(read, model, ids)


def _with_line_ends(read: GgufTokens, model: BytePairs, ids: dict[str, int]) -> BytePairs:
    """The model, where a piece of line ends that is a token becomes it, whatever the merges.

    The engine has this rule for all pieces or for none.  So the other tokens that merges do not make are not
    in the model: they are never written.
    """
    ends = [token for text, token in ids.items() if len(text) > 1 and not text.strip("\n")]
    if all(read.kinds[token] in _CUT_OUT for token in ends):
        return model
    if "\n" not in ids:
        raise UnsupportedTokenizerError("model", "several line ends are a token, and one is none")
    with contradictions_refused():
        made = _core.merge_tables(
            model.left, model.right, model.result, model.rank, model.atom_offsets, model.atoms
        )
    in_model = model.in_model.copy()
    in_model[np.setdiff1d(made["unmade"], ends)] = 0
    return replace(model, in_model=in_model, ignore_merges=True)


def _merges(read: GgufTokens, metadata: dict[str, Value], ids: dict[str, int]) -> tuple[Any, Any, Any, Any]:
    listed = metadata.get(_MERGES)
    if listed is None and read.pre == "kimi-k2":
        listed = []
    if not isinstance(listed, list) or not all(isinstance(merge, bytes) for merge in listed):
        raise VocabularyError(f"{_WHERE}: {_MERGES} is missing, or not a list of strings")
    texts = [merge.decode("utf-8", "replace") for merge in listed]  # type: ignore[union-attr]  # just checked
    left, right, made = _core.merge_ids(texts, ids)
    ranks = np.arange(len(texts), dtype=np.uint32)
    if len(left) < len(texts):
        possible = _possible(texts, ids, read.is_byte_level)
        left, right, made = _core.merge_ids([texts[rank] for rank in possible], ids)
        ranks = np.array(possible, dtype=np.uint32)
    return left, right, made, ranks  # of a pair that is there twice, the engine takes the first


def _possible(merges: list[str], ids: dict[str, int], is_byte_level: bool) -> list[int]:
    """The ranks of the merges of tokens to a token; refuses one of other texts that may occur in a piece."""

    def may_occur(part: str) -> bool:
        """Whether a piece may have such a part: a character, or what merges of tokens make."""
        return part in ids or (len(part) == 1 and (is_byte_level_text(part) or not is_byte_level))

    found: list[int] = []
    for rank, merge in enumerate(merges):
        left, space, right = merge[1:].partition(" ")
        left = merge[:1] + left
        if left in ids and right in ids and left + right in ids:
            found.append(rank)
        elif space and may_occur(left) and may_occur(right):
            what = f"the merge {rank} of {left!r:.40} and {right!r:.40}, which are not three tokens"
            raise UnsupportedTokenizerError("model", what)
    return found


def _by_scores(read: GgufTokens, metadata: dict[str, Value], tokens: list[bytes | None]) -> BytePairs:
    scores = _scores(metadata, len(read.texts))
    ids, byte_tokens = _plain_tokens(read, tokens)
    if sum(len(text) ** 2 for text in ids) > _MOST_CUTS:
        raise UnsupportedTokenizerError("model", f"its tokens have up to {max(map(len, ids)):,} characters")
    _check_characters(ids)
    _check_byte_names(ids, byte_tokens)
    _, order = np.unique(-scores, return_inverse=True)
    merges = merges_of_ranks(ids, {text: int(order[token]) for text, token in ids.items()})
    _check_silent(read, merges[2], lambda token: _SIGN.encode() in read.texts[token])
    return _with_bytes(merges, ids, byte_tokens, len(tokens))


def _plain_tokens(read: GgufTokens, tokens: list[bytes | None]) -> tuple[dict[str, int], dict[int, int]]:
    """The tokens that are written as plain text with ▁ for a space, and those of single bytes."""
    ids: dict[str, int] = {}
    byte_tokens: dict[int, int] = {}
    names = {b"<0x%02X>" % byte: byte for byte in range(256)}
    for token, (text, kind) in enumerate(zip(read.texts, read.kinds, strict=True)):
        if text in names or kind == PieceType.BYTE:
            if kind != PieceType.BYTE or text not in names:
                what = f"{text!r:.40} is a byte token by its name or its type, but not by both"
                raise UnsupportedTokenizerError("model", what)
            if token < len(tokens):
                byte_tokens[names[text]] = token
            continue
        spelled = text.decode("utf-8", "replace")
        if spelled.encode() != text or " " in spelled or token >= len(tokens):
            continue  # no text is written so: ▁ stands for spaces
        if tokens[token] not in (None, spelled.replace(_SIGN, " ").encode()):
            raise _other_tokens(token)
        ids[spelled] = token
    if _SIGN not in ids or tokens[ids[_SIGN]] is None:
        raise UnsupportedTokenizerError("model", f"it has no token {_SIGN!r} for a space")
    return ids, byte_tokens


def _with_bytes(
    merges: tuple[UInt32, UInt32, UInt32, UInt32],
    ids: dict[str, int],
    byte_tokens: dict[int, int],
    size: int,
) -> BytePairs:
    """The model of plain tokens, in which code points without a token are written in bytes."""
    in_model = np.zeros(size, dtype=np.uint8)
    in_model[[*ids.values(), *byte_tokens.values()]] = 1
    lacks = np.ones(CODE_POINTS, dtype=bool)
    lacks[[ord(text) for text in ids if len(text) == 1]] = False
    lacks[0x20] = False
    unwritten = with_bytes(set(range(256)) - byte_tokens.keys())
    atoms = atoms_of_texts(ids, size, byte_tokens.values())
    return BytePairs(*merges, *atoms, in_model, byte_tokens, lacks & ~unwritten, lacks & unwritten, False)


def _scores(metadata: dict[str, Value], size: int) -> Any:
    listed = metadata.get(_SCORES, [0.0] * size)
    if not isinstance(listed, list) or len(listed) < size:
        raise VocabularyError(f"{_WHERE}: {_SCORES} is not one number for each token")
    if any(isinstance(score, (bytes, bool)) for score in listed):
        raise VocabularyError(f"{_WHERE}: {_SCORES} is not a list of numbers")
    with np.errstate(over="ignore"):
        scores = np.array(listed[:size], dtype=np.float64).astype(np.float32)
    if np.isnan(scores).any():
        token = int(np.isnan(scores).argmax())
        raise UnsupportedTokenizerError("model", f"the score of token {token} is not a number")
    return scores


def _check_silent(read: GgufTokens, made: UInt32, is_spelled: Callable[[int], bool]) -> None:
    """Refuses tokens without a text that merges make: then there are texts without canonical tokens.

    Args:
        read: the tokens of the file.
        made: the tokens that merges make.
        is_spelled: whether the name of a token in the file may be that of another text, so that this token is
            not cut out there.
    """
    for token in np.unique(made).tolist():
        kind = read.kinds[token]
        if kind in (PieceType.UNUSED, PieceType.UNDEFINED) or (
            kind in (PieceType.CONTROL, PieceType.UNKNOWN) and is_spelled(token)
        ):
            what = f"{read.texts[token].decode()!r:.40} has no text, and merges make it"
            raise UnsupportedTokenizerError("model", what)


def _check_characters(ids: dict[str, int]) -> None:
    """Refuses tokens that are joined from a character without a token, which would be written in bytes."""
    missing = set("".join(ids)) - ids.keys()
    for text in ids if missing else ():
        for character, rest in ((text[0], text[1:]), (text[-1], text[:-1])):
            if character in missing and (rest in ids or len(rest) == 1):
                what = f"{character!r} is joined to {text!r:.40}, and is no token itself"
                raise UnsupportedTokenizerError("model", what)


def _check_byte_names(ids: dict[str, int], byte_tokens: dict[int, int]) -> None:
    """Refuses tokens that join to the name of a byte: that text would become the byte."""
    for byte in byte_tokens:
        name = f"<0x{byte:02X}>"
        for cut in range(1, len(name)):
            if all(part in ids or len(part) == 1 for part in (name[:cut], name[cut:])):
                what = f"{name[:cut]!r} and {name[cut:]!r} are joined to {name}, which stands for a byte"
                raise UnsupportedTokenizerError("model", what)
