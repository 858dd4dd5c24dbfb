"""The pipeline of a ``tokenizer.json`` whose model is byte-pair encoding.

Each part of the file is followed as in the package `tokenizers`, whose Rust source is the specification.
Unknown parts are refused by name.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

import tokamata._core as _core
from tokamata.tokenization.pipelines.atoms import atoms_of_texts
from tokamata.tokenization.pipelines.marked_words import Mark, mark_of
from tokamata.tokenization.pipelines.pipeline import (
    AddedToken,
    BytePairs,
    Normalizer,
    Pipeline,
    Splitting,
    UInt32,
)
from tokamata.tokenization.pipelines.stripping_tokens import WHITE_SPACE
from tokamata.tokenization.pipelines.tokenizer_json_normalizer import read_normalizer
from tokamata.tokenization.pipelines.tokenizer_json_parts import added_tokens, kind_of, refusal, vocab_of
from tokamata.tokenization.pretokenizers.classes import (
    CODE_POINTS,
    HuggingFaceEngine,
    sample_points,
    spread,
)
from tokamata.tokenization.pretokenizers.regex import classes_of, compile_regex, escaped
from tokamata.vocabulary.byte_alphabet import byte_level_bytes
from tokamata.vocabulary.sections import Section, flattened, refuse

if TYPE_CHECKING:
    from tokamata.tokenization.pretokenizers.classes import Flags

# The regex of GPT-2, by which `ByteLevel` splits if its `use_regex` is true.
_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"

# Why the guard proves nothing: it takes a text that is not canonical to be cut as others are.
_UNGUARDED_MARKS = "its model marks characters of words, for which its decoder writes spaces"
_UNGUARDED_STRIPS = "some of its added tokens swallow white space"
_UNGUARDED_SPACES = "its pre-tokenizer puts a space before each piece"

# A piece that begins with a space; what begins otherwise is a gap.
_SPACED = r" [\s\S]*"


def byte_pair_pipeline(file: Section, tokens: list[bytes | None]) -> Pipeline:
    """The pipeline of a parsed ``tokenizer.json`` whose model is byte-pair encoding.

    Arguments and errors are those of :func:`.tokenizer_json.pipeline_from_tokenizer_json`.
    """
    engine = HuggingFaceEngine()
    parts = flattened(file, "pre_tokenizer", "pretokenizers")
    is_byte_level = any(part.kind == "ByteLevel" for part in parts)
    section = file.section("model")
    if kind_of(section) != "BPE":
        raise refusal("model", kind_of(section))
    mark = mark_of(section, is_byte_level)
    normalizer = read_normalizer(file, engine, writes_spaces=mark is not None)
    splits, normalizer = read_pre_tokenizer(parts, normalizer, engine)
    if normalizer.prefix != "none" and not all(split.keeps_gaps or split.members for split in splits):
        raise refusal("pre-tokenizer", "a split that may leave out the space that is put before a text")
    _check_deterministic(section)
    if mark is not None:
        if normalizer.prefix != "none" or normalizer.spaces:
            raise refusal(
                "normalizer", f"it changes spaces, and the model marks words with {mark.text!r:.40}"
            )
        model = _marked_pairs(section, mark, tokens)
        added = _added_between_words(file, tokens, normalizer, mark)
        if normalizer.isolated is not None:
            splits.insert(0, Splitting("[sign]", members={"[sign]": normalizer.isolated}))
        return Pipeline(engine, normalizer, tuple(splits), model, added, _UNGUARDED_MARKS)
    model = _byte_pairs(section, tokens, is_byte_level, normalizer)
    if not is_byte_level:
        check_decoder(vocab_of(section), tokens, model.byte_tokens, normalizer)
    added = added_tokens(file, tokens, normalizer)
    check_added(added, tokens, model.in_model != 0)
    unguarded = _UNGUARDED_STRIPS if any(one.forbidden for one in added) else ""
    if any(split.regex == _SPACED for split in splits):
        unguarded = _UNGUARDED_SPACES
    return Pipeline(engine, normalizer, tuple(splits), model, added, unguarded)


def byte_pair_normalizer(file: Section) -> Normalizer:
    """The normalizer of a parsed ``tokenizer.json`` whose model is not WordPiece, without the other parts.

    Raises:
        UnsupportedTokenizerError: the normalizer or the pre-tokenizer is not supported.
        MissingExtraError: `tokenizers` is not installed.
    """
    engine = HuggingFaceEngine()
    parts = flattened(file, "pre_tokenizer", "pretokenizers")
    return read_pre_tokenizer(parts, read_normalizer(file, engine), engine)[1]


# ---- the pre-tokenizer --------------------------------------------------------------------------


def read_pre_tokenizer(
    parts: list[Section], normalizer: Normalizer, engine: HuggingFaceEngine
) -> tuple[list[Splitting], Normalizer]:
    """The splits of a pre-tokenizer, and the normalizer with what the pre-tokenizer does to spaces."""
    splits: list[Splitting] = []
    is_in_bytes = False
    for part in parts:
        kind = part.kind
        known = len(splits)
        if is_in_bytes and kind in ("ByteLevel", "Metaspace"):
            raise refusal("pre-tokenizer", f"{kind} after ByteLevel")
        if kind == "Split":
            splits.append(_split(part))
        elif kind == "ByteLevel":
            if part.flag("add_prefix_space", True):
                if not splits:
                    normalizer = _prefixed(normalizer, "missing", is_decoded=False)
                elif normalizer.prefix != "none" or normalizer.spaces:
                    raise refusal("pre-tokenizer", "ByteLevel puts a space before every piece")
                elif not all(split.keeps_gaps for split in splits):
                    what = "ByteLevel puts a space before every piece, which may be one that was left out"
                    raise refusal("pre-tokenizer", what)
                else:
                    # A piece without a space at its start gets one, and so does the text that is decoded.
                    splits.append(Splitting(_SPACED, keeps_gaps=False))
            if part.flag("use_regex", True):
                splits.append(Splitting(_GPT2))
        elif kind in ("WhitespaceSplit", "Whitespace", "BertPreTokenizer"):
            splits += _word_splits(kind)
        elif kind == "Digits":
            digits = engine.runs_of(engine.package.pre_tokenizers.Digits(individual_digits=False))
            one = "[digit]" if part.flag("individual_digits", False) else "[digit]+"
            splits.append(Splitting(one, members={"[digit]": digits}))
        elif kind == "Punctuation":
            marks = engine.runs_of(engine.package.pre_tokenizers.Punctuation("contiguous"))
            splits.append(_behaved("[mark]", part.text("behavior", "Isolated"), {"[mark]": marks}))
        elif kind == "Metaspace":
            is_of_words = parts[0].kind == "WhitespaceSplit" and part is parts[1]
            if splits and not is_of_words:  # they see spaces, and each piece gets one more
                raise refusal("pre-tokenizer", "Metaspace after a split")
            normalizer = _metaspace(part, normalizer, is_of_words)
            if is_of_words:
                splits = [_spaced_words(part, engine)]
            elif part.flag("split", True):
                mark = part.character("replacement")
                splits.append(Splitting(f"{mark}[^{mark}]*|[^{mark}]+"))
        else:
            raise refusal("pre-tokenizer", f"{kind} {part!r:.200}")
        if is_in_bytes:
            splits[known:] = [_of_bytes(split, engine) for split in splits[known:]]
        is_in_bytes = is_in_bytes or kind == "ByteLevel"
    return splits, normalizer


def _of_bytes(split: Splitting, engine: HuggingFaceEngine) -> Splitting:
    """A split that sees the characters which ByteLevel writes for bytes, as one of the characters before.

    Those of ASCII, without space, are written as they are.  A class with others may cut within characters.
    """
    others = [ord(letter) for letter in engine.package.pre_tokenizers.ByteLevel.alphabet() if letter > "~"]
    members = {}
    for cls in classes_of(compile_regex(split.regex, engine.dollar_is_end)):
        flags = split.members[cls] if cls in split.members else engine.members(cls)
        if flags[others].any():
            what = f"a split by {split.regex!r:.60} after ByteLevel, which may cut within characters"
            raise refusal("pre-tokenizer", what)
        members[cls] = flags & (np.arange(CODE_POINTS) <= ord("~"))
        members[cls][: ord("!")] = False
    return replace(split, members=members)


@cache
def _word_splits(kind: str) -> tuple[Splitting, ...]:
    """The splits of a pre-tokenizer that leaves out white space, and may cut some characters from words."""
    engine = HuggingFaceEngine()
    cutter = getattr(engine.package.pre_tokenizers, kind)()
    points = sample_points()
    # Each character stands between two letters, at an odd place.
    text = "a".join(["", *map(chr, points.tolist()), ""])
    is_word, is_mark = np.zeros(CODE_POINTS, dtype=bool), np.zeros(CODE_POINTS, dtype=bool)
    for _, (begin, end) in cutter.pre_tokenize_str(text):
        is_alone = end - begin == 1 and begin % 2 == 1
        (is_mark if is_alone else is_word)[points[begin // 2 : end // 2]] = True
    word, mark = f"[{kind}Word]", f"[{kind}Mark]"  # classes of all splits have different names
    members = {word: spread(is_word), mark: spread(is_mark)}
    if kind == "BertPreTokenizer":
        kept = f"[{kind}Kept]"
        words = Splitting(f"{kept}+", keeps_gaps=False, members={kept: members[word] | members[mark]})
        return words, Splitting(mark, members=members)
    return (Splitting(f"{word}+|{mark}+", keeps_gaps=False, members=members),)


def _spaced_words(part: Section, engine: HuggingFaceEngine) -> Splitting:
    """Words without white space, each with the sign for a space before it."""
    sign = np.zeros(CODE_POINTS, dtype=bool)
    sign[ord(part.character("replacement"))] = True
    white = engine.removed_by(engine.package.pre_tokenizers.WhitespaceSplit())
    members = {"[sign]": sign, "[letter]": ~white & ~sign}
    return Splitting("[sign][letter]+", keeps_gaps=False, members=members)


def _metaspace(part: Section, normalizer: Normalizer, is_of_words: bool) -> Normalizer:
    scheme = part.text("prepend_scheme", "always" if part.flag("add_prefix_space", True) else "never")
    if scheme not in ("always", "first", "never"):
        part.refuse("prepend_scheme", '"always", "first" or "never"')
    if is_of_words and scheme != "always":
        raise refusal("pre-tokenizer", f"Metaspace after WhitespaceSplit with the scheme {scheme}")
    if normalizer.spaces or normalizer.prefix != "none":
        raise refusal("pre-tokenizer", "Metaspace after a normalizer that replaces spaces")
    replaced = replace(normalizer, spaces=part.character("replacement"))
    return replaced if scheme == "never" else _prefixed(replaced, "missing", True, scheme == "first")


def _prefixed(normalizer: Normalizer, prefix: Any, is_decoded: bool, once: bool = False) -> Normalizer:
    if normalizer.prefix != "none":
        raise refusal("pre-tokenizer", "two parts that put a space before the text")
    return replace(normalizer, prefix=prefix, prefix_is_decoded=is_decoded, prefix_once=once)


def _split(part: Section) -> Splitting:
    pattern = part.section("pattern")
    regex = pattern.text("Regex") if "Regex" in pattern.fields else escaped(pattern.text("String"))
    behavior, inverted = part.text("behavior"), part.flag("invert", False)
    if behavior == "Isolated":
        return Splitting(regex)
    if behavior == "Removed":
        return Splitting(regex, keeps_gaps=not inverted, keeps_matches=inverted)
    if inverted:
        raise refusal("pre-tokenizer", f"Split that is inverted and {behavior}")
    return _behaved(regex, behavior, {}, is_one=len(pattern.text("String", "")) == 1)


def _behaved(one: str, behavior: str, members: dict[str, Any], is_one: bool = True) -> Splitting:
    """A split with a behavior, as one whose matches are pieces; ``is_one``: it matches one code point."""
    if behavior == "Isolated":
        return Splitting(one, members=members)
    if behavior == "Contiguous":
        return Splitting(f"(?:{one})+", members=members)
    if behavior in ("MergedWithPrevious", "MergedWithNext") and is_one and not members:
        rest = f"[^{one}]"
        merged = f"{rest}*{one}|{rest}+" if behavior == "MergedWithPrevious" else f"{one}{rest}*|{rest}+"
        return Splitting(merged)
    raise refusal("pre-tokenizer", f"a split by {one!r:.100} that is {behavior}")


# ---- the model ----------------------------------------------------------------------------------


def _check_deterministic(model: Section) -> None:
    if dropout := model.fields.get("dropout"):
        what = "it leaves out merges at random, so no tokens are those of a text"
        raise refusal("model", f"dropout = {dropout!r:.40}: {what}")


def _byte_pairs(
    model: Section, tokens: list[bytes | None], is_byte_level: bool, normalizer: Normalizer
) -> BytePairs:
    vocab = vocab_of(model)
    left, right, result, rank = _merges(model.items("merges"), vocab)
    in_model = _in_model(vocab, len(tokens))
    if normalizer.spaces:  # no text that is encoded has a space
        in_model[[token for text, token in vocab.items() if " " in text and token < len(tokens)]] = 0
    byte_tokens: dict[int, int] = {}
    if model.flag("byte_fallback", False):
        names = {byte: f"<0x{byte:02X}>" for byte in range(256)}
        byte_tokens = {byte: vocab[name] for byte, name in names.items() if name in vocab}
    atom_offsets, atoms = atoms_of_texts(vocab, len(tokens), byte_tokens.values())
    characters = [text for text in vocab if len(text) == 1]
    lacks = np.zeros(CODE_POINTS, dtype=bool)
    unknown = np.zeros(CODE_POINTS, dtype=bool)
    if is_byte_level:
        known = {byte_level_bytes(text)[0] for text in characters}
        unknown = with_bytes(set(range(256)) - known)
    else:
        lacks[:] = True
        lacks[[ord(text) for text in characters]] = False
        unwritten = with_bytes(set(range(256)) - set(byte_tokens))
        if normalizer.spaces:  # without its token, its bytes are written, which do not decode to a space
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
        model.flag("ignore_merges", False),
    )


def _marked_pairs(model: Section, mark: Mark, tokens: list[bytes | None]) -> BytePairs:
    vocab = vocab_of(model)
    merges = _last_of_each(*mark.merges(model.items("merges"), vocab))
    atoms = mark.atoms(vocab, tokens)
    spacing = mark.spacing(vocab, tokens)
    unknown = ~(spacing.outer | spacing.inner)
    unknown[0x20] = False
    lacks = np.zeros(CODE_POINTS, dtype=bool)
    in_model = _in_model(vocab, len(tokens))
    return BytePairs(*merges, *atoms, in_model, {}, lacks, unknown, False, spacing)


def _in_model(vocab: dict[str, int], size: int) -> Any:
    in_model = np.zeros(size, dtype=np.uint8)
    ids = np.fromiter(vocab.values(), dtype=np.int64, count=len(vocab))
    in_model[ids[ids < size]] = 1
    return in_model


def _added_between_words(
    file: Section, tokens: list[bytes | None], normalizer: Normalizer, mark: Mark
) -> tuple[AddedToken, ...]:
    """The added tokens, which the decoder writes as it writes words."""
    added = added_tokens(file, tokens, normalizer, keeps_spaces=False)
    for one in added:
        name = f"{one.text.decode()!r:.40}"
        if one.is_late and normalizer.isolated is not None and _has(one.text, normalizer.isolated):
            raise refusal("added tokens", f"{name} is found in normalized texts, where it has spaces")
        if mark.text.encode() in one.text:
            raise refusal("added tokens", f"{name} has the mark of characters of words")
        if not mark.is_suffix and not set(WHITE_SPACE).isdisjoint(one.text.decode()):
            raise refusal("added tokens", f"{name} has whitespace")
        if tokens[one.token] not in (None, one.text if mark.is_suffix else b" " + one.text):
            raise refusal("added tokens", f"{name} is decoded to {tokens[one.token]!r:.40}")
    return added


def _has(text: bytes, letters: Flags) -> bool:
    return any(letters[ord(letter)] for letter in text.decode())


def check_decoder(
    vocab: dict[str, int], tokens: list[bytes | None], byte_tokens: dict[int, int], normalizer: Normalizer
) -> None:
    """Checks that the decoder undoes what the normalizer does, and nothing else.

    A decoder that writes a space for ``▁`` where no normalizer writes ``▁`` for a space changes texts.
    """
    of_bytes = set(byte_tokens.values())
    for text, token in vocab.items():
        decoded = tokens[token] if token < len(tokens) else None
        if decoded is None or token in of_bytes:
            continue
        written = text.replace(normalizer.spaces, " ") if normalizer.spaces else text
        if decoded != written.encode("utf-8", "surrogatepass"):
            raise refusal(
                "decoder", f"it decodes {text!r:.40} to {decoded!r:.40}, which is written otherwise"
            )


def check_added(added: tuple[AddedToken, ...], tokens: list[bytes | None], in_model: Flags) -> None:
    """Checks that added tokens are decoded to their texts.

    What is decoded to no text is in none, unless the model writes the same token.
    """
    for one in added:
        decoded = tokens[one.token]
        if decoded in (None, one.text) or (not in_model[one.token] and not _is_utf8(decoded)):
            continue
        raise refusal("added tokens", f"{one.text.decode()!r:.40} is decoded to {decoded!r:.40}")


def _is_utf8(text: bytes | None) -> bool:
    return text is not None and text.decode("utf-8", "replace").encode() == text


def _merges(merges: list[Any], vocab: dict[str, int]) -> tuple[Any, Any, Any, Any]:
    """The merges as arrays; if a pair is listed twice, the last one counts, as in the package."""
    left, right, result = _core.merge_ids(merges, vocab)
    if len(left) < len(merges):
        number = len(left)
        expected = "a pair of tokens of the vocabulary, whose joined text is one too"
        refuse(f"model.merges[{number}]", merges[number], expected)
    return _last_of_each(left, right, result)


def _last_of_each(left: UInt32, right: UInt32, result: UInt32) -> tuple[UInt32, UInt32, UInt32, UInt32]:
    """Merges without the earlier ones of a pair, and their ranks."""
    pairs = (left.astype(np.uint64) << np.uint64(32)) | right
    kept = np.arange(len(pairs), dtype=np.uint32)
    in_order = np.sort(pairs)
    if (in_order[1:] == in_order[:-1]).any():
        _, from_end = np.unique(pairs[::-1], return_index=True)
        kept = np.sort(len(pairs) - 1 - from_end).astype(np.uint32)
    return left[kept], right[kept], result[kept], kept


# By the length of the UTF-8, one to four bytes: the end of its code points, the high bits of its first byte.
_LENGTHS = ((0x80, 0), (0x800, 0xC0), (0x10000, 0xE0), (CODE_POINTS, 0xF0))


def with_bytes(missing: set[int]) -> Any:
    """The code points whose UTF-8 has one of these bytes."""
    lacks = np.zeros(256, dtype=bool)
    lacks[list(missing)] = True
    flags = np.zeros(CODE_POINTS, dtype=bool)
    begin = 0
    for later_bytes, (end, mark) in enumerate(_LENGTHS):
        rest = np.arange(begin, end)
        for _ in range(later_bytes):
            flags[begin:end] |= lacks[0x80 | rest & 0x3F]
            rest >>= 6
        flags[begin:end] |= lacks[mark | rest]
        begin = end
    flags[0xD800:0xE000] = False
    return flags
