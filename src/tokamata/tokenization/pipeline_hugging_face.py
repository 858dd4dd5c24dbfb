"""The pipeline of a ``tokenizer.json``, the file of Hugging Face's `tokenizers`.

What each part of the file does is what that package does (its Rust source is the specification); what
is not known here is refused by its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from tokamata import _core
from tokamata.errors import UnsupportedTokenizerError, VocabularyError
from tokamata.tokenization.atoms import atoms_of_texts
from tokamata.tokenization.pipeline import AddedToken, BytePairs, Normalizer, Pipeline, Splitting
from tokamata.tokenization.pretokenizer_classes import CODE_POINTS, HuggingFaceEngine
from tokamata.vocabulary.byte_alphabet import byte_level_bytes

# What `ByteLevel` splits by where it is asked to: GPT-2's regex.
_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def pipeline_from_tokenizer_json(document: dict[str, Any], tokens: list[bytes | None]) -> Pipeline:
    """The pipeline of a parsed ``tokenizer.json``.

    Args:
        document: the parsed file, which a vocabulary was read from.
        tokens: the bytes of every token of that vocabulary.

    Raises:
        UnsupportedTokenizerError: a part is not one that can be followed.
        VocabularyError: the model contradicts itself.
        MissingExtraError: `tokenizers` is not installed.
    """
    if is_word_piece(document["model"]):
        from tokamata.tokenization.pipeline_word_piece import word_piece_pipeline  # it needs this module

        return word_piece_pipeline(document, tokens)
    engine = HuggingFaceEngine()
    normalizer = _normalizer(document.get("normalizer"), engine)
    parts = list(flattened(document.get("pre_tokenizer"), "pretokenizers"))
    splits, normalizer = _splits(parts, normalizer, engine)
    is_byte_level = any(part["type"] == "ByteLevel" for part in parts)
    model = _byte_pairs(document["model"], tokens, is_byte_level, normalizer)
    added = added_tokens(document, tokens, normalizer)
    return Pipeline(engine, normalizer, tuple(splits), model, added)


def is_word_piece(model: dict[str, Any]) -> bool:
    """Whether a model is WordPiece; old files do not name theirs."""
    kind: str = model.get("type", "WordPiece" if "max_input_chars_per_word" in model else "BPE")
    return kind == "WordPiece"


def flattened(part: Any, inner: str) -> Iterator[dict[str, Any]]:
    """The parts of a possibly nested sequence, in order."""
    if part is None:
        return
    if part["type"] == "Sequence":
        for one in part[inner]:
            yield from flattened(one, inner)
    else:
        yield part


# ---- the normalizer -----------------------------------------------------------------------------


def _normalizer(part: Any, engine: HuggingFaceEngine) -> Normalizer:
    normalizers = engine.package.normalizers
    form: Callable[[str], str] | None = None
    single: list[Any] = []
    spaces = prefix = ""
    for one in flattened(part, "normalizers"):
        kind = one["type"]
        if kind in ("NFC", "NFKC"):
            if single:
                raise refusal("normalizer", f"{kind} behind {type(single[-1]).__name__}")
            form = getattr(normalizers, kind)().normalize_str
        elif kind == "Lowercase":
            single.append(normalizers.Lowercase())
        elif kind == "Replace" and one["pattern"] == {"String": " "} and len(one["content"]) == 1:
            spaces = one["content"]
        elif kind == "Prepend" and not spaces:
            prefix = one["prepend"]
        else:
            raise refusal("normalizer", f"{kind} {one!r:.200}")
    if prefix and prefix != (spaces or " "):
        raise refusal("normalizer", f"it prepends {prefix!r:.40}, which is no space")
    keeps = normalizers.Sequence(single).normalize_str if single else None
    return Normalizer(form, keeps, spaces, "always" if prefix else "none")


# ---- the pre-tokenizer --------------------------------------------------------------------------


def _splits(
    parts: list[dict[str, Any]], normalizer: Normalizer, engine: HuggingFaceEngine
) -> tuple[list[Splitting], Normalizer]:
    splits: list[Splitting] = []
    for part in parts:
        kind = part["type"]
        if kind == "Split":
            splits.append(_split(part))
        elif kind == "ByteLevel":
            if part.get("add_prefix_space", True):
                if splits:
                    raise refusal("pre-tokenizer", "ByteLevel puts a space before every piece")
                normalizer = _prefixed(normalizer, "missing", is_decoded=False)
            if part.get("use_regex", True):
                splits.append(Splitting(_GPT2))
        elif kind == "Digits":
            digits = engine.runs_of(engine.package.pre_tokenizers.Digits(individual_digits=False))
            one = "[digit]" if part["individual_digits"] else "[digit]+"
            splits.append(Splitting(one, members={"[digit]": digits}))
        elif kind == "Punctuation":
            marks = engine.runs_of(engine.package.pre_tokenizers.Punctuation("contiguous"))
            splits.append(_behaved("[mark]", part.get("behavior", "Isolated"), {"[mark]": marks}))
        elif kind == "Metaspace":
            normalizer = _metaspace(part, normalizer)
            if part.get("split", True):
                mark = part["replacement"]
                splits.append(Splitting(f"{mark}[^{mark}]*|[^{mark}]+"))
        else:
            raise refusal("pre-tokenizer", f"{kind} {part!r:.200}")
    return splits, normalizer


def _metaspace(part: dict[str, Any], normalizer: Normalizer) -> Normalizer:
    scheme = part.get("prepend_scheme", "always" if part.get("add_prefix_space", True) else "never")
    if normalizer.spaces or normalizer.prefix != "none":
        raise refusal("pre-tokenizer", "Metaspace behind a normalizer that replaces spaces")
    replaced = Normalizer(normalizer.form, normalizer.keeps, part["replacement"])
    return replaced if scheme == "never" else _prefixed(replaced, "missing", True, scheme == "first")


def _prefixed(normalizer: Normalizer, prefix: Any, is_decoded: bool, once: bool = False) -> Normalizer:
    if normalizer.prefix != "none":
        raise refusal("pre-tokenizer", "two parts that put a space before the text")
    return Normalizer(normalizer.form, normalizer.keeps, normalizer.spaces, prefix, is_decoded, once)


def _split(part: dict[str, Any]) -> Splitting:
    pattern = part["pattern"]
    regex = pattern["Regex"] if "Regex" in pattern else _escaped(pattern["String"])
    behavior, inverted = part["behavior"], part.get("invert", False)
    if behavior == "Isolated":
        return Splitting(regex)
    if behavior == "Removed" and inverted:
        return Splitting(regex, keeps_gaps=False)
    if inverted:
        raise refusal("pre-tokenizer", f"Split that is inverted and {behavior}")
    return _behaved(regex, behavior, {}, is_one=len(pattern.get("String", "")) == 1)


def _behaved(one: str, behavior: str, members: dict[str, Any], is_one: bool = True) -> Splitting:
    """A split by a regex, as one whose matches are pieces; ``is_one``: it matches one code point."""
    if behavior == "Isolated":
        return Splitting(one, members=members)
    if behavior == "Contiguous":
        return Splitting(f"(?:{one})+", members=members)
    if behavior in ("MergedWithPrevious", "MergedWithNext") and is_one and not members:
        rest = f"[^{one}]"
        merged = f"{rest}*{one}|{rest}+" if behavior == "MergedWithPrevious" else f"{one}{rest}*|{rest}+"
        return Splitting(merged)
    raise refusal("pre-tokenizer", f"a split by {one!r:.100} that is {behavior}")


def _escaped(text: str) -> str:
    return "".join("\\" + c if c in r"\.[]{}()*+?|^$-&" else c for c in text)


# ---- the model ----------------------------------------------------------------------------------


def _byte_pairs(
    model: dict[str, Any], tokens: list[bytes | None], is_byte_level: bool, normalizer: Normalizer
) -> BytePairs:
    kind = model.get("type", "BPE")
    if kind != "BPE":
        raise refusal("model", str(kind))
    for name in ("dropout", "continuing_subword_prefix", "end_of_word_suffix"):
        if model.get(name):
            raise refusal("model", f"{name} = {model[name]!r:.40}")
    vocab: dict[str, int] = model["vocab"]
    left, right, result, rank = _merges(model["merges"], vocab)
    in_model = np.zeros(len(tokens), dtype=np.uint8)
    ids = np.fromiter(vocab.values(), dtype=np.int64, count=len(vocab))
    in_model[ids[ids < len(tokens)]] = 1
    byte_tokens: dict[int, int] = {}
    if model.get("byte_fallback"):
        names = {byte: f"<0x{byte:02X}>" for byte in range(256)}
        byte_tokens = {byte: vocab[name] for byte, name in names.items() if name in vocab}
    atom_offsets, atoms = atoms_of_texts(vocab, len(tokens), byte_tokens.values())
    characters = [text for text in vocab if len(text) == 1]
    lacks = np.zeros(CODE_POINTS, dtype=bool)
    unknown = np.zeros(CODE_POINTS, dtype=bool)
    if is_byte_level:
        known = {byte_level_bytes(text)[0] for text in characters}
        unknown = _with_bytes(set(range(256)) - known)
    else:
        lacks[:] = True
        lacks[[ord(text) for text in characters]] = False
        unwritten = _with_bytes(set(range(256)) - set(byte_tokens))
        if normalizer.spaces:  # where that lacks, its bytes are written, and do not come back as a space
            unwritten[0x20] = lacks[0x20] = lacks[ord(normalizer.spaces)]
        unknown = lacks & unwritten
        lacks &= ~unwritten
    return BytePairs(
        left,
        right,
        result,
        rank,
        atom_offsets,
        atoms,
        in_model,
        byte_tokens,
        lacks,
        unknown,
        bool(model.get("ignore_merges")),
    )


def _merges(merges: list[Any], vocab: dict[str, int]) -> tuple[Any, Any, Any, Any]:
    """The merges as arrays; of a pair that is named twice the last counts, as in the package."""
    left, right, result = _core.merge_ids(merges, vocab)
    if len(left) < len(merges):
        raise VocabularyError(
            f"merge {len(left)} of the model, {merges[len(left)]!r:.80}, is not of tokens of its vocabulary; "
            "the file is damaged, or was put together from two tokenizers"
        )
    pairs = (left.astype(np.uint64) << np.uint64(32)) | right
    kept = np.arange(len(pairs), dtype=np.uint32)
    in_order = np.sort(pairs)
    if (in_order[1:] == in_order[:-1]).any():
        _, from_behind = np.unique(pairs[::-1], return_index=True)
        kept = np.sort(len(pairs) - 1 - from_behind).astype(np.uint32)
    return left[kept], right[kept], result[kept], kept


def _with_bytes(missing: set[int]) -> Any:
    """The code points whose UTF-8 has one of these bytes."""
    flags = np.zeros(CODE_POINTS, dtype=bool)
    # Bytes that no UTF-8 has need not be there.
    if not missing - {0xC0, 0xC1, *range(0xF5, 0x100)}:
        return flags
    for point in range(CODE_POINTS):
        if not 0xD800 <= point < 0xE000 and not missing.isdisjoint(chr(point).encode()):
            flags[point] = True
    return flags


# ---- added tokens -------------------------------------------------------------------------------


def added_tokens(
    document: dict[str, Any], tokens: list[bytes | None], normalizer: Normalizer
) -> tuple[AddedToken, ...]:
    """The added tokens of a file that a text can hold."""
    found = []
    for entry in document.get("added_tokens") or ():
        content, token = entry["content"], entry["id"]
        if not content or token >= len(tokens):
            continue
        for name in ("single_word", "lstrip", "rstrip"):
            if entry.get(name):
                raise refusal("added tokens", f"{content!r:.40} is {name}")
        if normalizer.spaces and normalizer.spaces in content:
            continue  # a text has spaces there, and never this
        if entry.get("normalized") and normalizer.prefix == "always":
            raise refusal("added tokens", f"{content!r:.40} is matched behind a prefix")
        found.append(AddedToken(token, content.encode()))
    return tuple(found)


def refusal(part: str, reason: str) -> UnsupportedTokenizerError:
    """The error for a part that cannot be followed."""
    return UnsupportedTokenizerError(part, reason)
