"""The pipeline of a ``tokenizer.json`` whose model is byte-pair encoding.

Each part of the file is followed as in the package `tokenizers`, whose Rust source is the specification.
Unknown parts are refused by name.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

import tokamata._core as _core
from tokamata.tokenization.pipelines.atoms import atoms_of_texts
from tokamata.tokenization.pipelines.pipeline import AddedToken, BytePairs, Normalizer, Pipeline, Splitting
from tokamata.tokenization.pipelines.tokenizer_json_normalizer import read_normalizer
from tokamata.tokenization.pipelines.tokenizer_json_parts import added_tokens, kind_of, refusal, vocab_of
from tokamata.tokenization.pretokenizers.classes import CODE_POINTS, HuggingFaceEngine
from tokamata.tokenization.pretokenizers.regex import classes_of, compile_regex, escaped
from tokamata.vocabulary.byte_alphabet import byte_level_bytes
from tokamata.vocabulary.sections import Section, flattened, refuse

if TYPE_CHECKING:
    from tokamata.tokenization.pretokenizers.classes import Flags

# The regex of GPT-2, by which `ByteLevel` splits if its `use_regex` is true.
_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def byte_pair_pipeline(file: Section, tokens: list[bytes | None]) -> Pipeline:
    """The pipeline of a parsed ``tokenizer.json`` whose model is byte-pair encoding.

    Arguments and errors are those of :func:`.tokenizer_json.pipeline_from_tokenizer_json`.
    """
    engine = HuggingFaceEngine()
    normalizer = read_normalizer(file, engine)
    parts = flattened(file, "pre_tokenizer", "pretokenizers")
    splits, normalizer = read_pre_tokenizer(parts, normalizer, engine)
    if normalizer.prefix != "none" and not all(split.keeps_gaps or split.members for split in splits):
        raise refusal("pre-tokenizer", "a split that may leave out the space that is put before a text")
    is_byte_level = any(part.kind == "ByteLevel" for part in parts)
    model = _byte_pairs(file.section("model"), tokens, is_byte_level, normalizer)
    if not is_byte_level:
        check_decoder(vocab_of(file.section("model")), tokens, model.byte_tokens, normalizer)
    added = added_tokens(file, tokens, normalizer)
    check_added(added, tokens, model.in_model != 0)
    return Pipeline(engine, normalizer, tuple(splits), model, added)


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
                if splits:
                    raise refusal("pre-tokenizer", "ByteLevel puts a space before every piece")
                normalizer = _prefixed(normalizer, "missing", is_decoded=False)
            if part.flag("use_regex", True):
                splits.append(Splitting(_GPT2))
        elif kind == "Digits":
            digits = engine.runs_of(engine.package.pre_tokenizers.Digits(individual_digits=False))
            one = "[digit]" if part.flag("individual_digits", False) else "[digit]+"
            splits.append(Splitting(one, members={"[digit]": digits}))
        elif kind == "Punctuation":
            marks = engine.runs_of(engine.package.pre_tokenizers.Punctuation("contiguous"))
            splits.append(_behaved("[mark]", part.text("behavior", "Isolated"), {"[mark]": marks}))
        elif kind == "WhitespaceSplit":
            white = engine.removed_by(engine.package.pre_tokenizers.WhitespaceSplit())
            splits.append(Splitting("[white]", keeps_matches=False, members={"[white]": white}))
        elif kind == "Whitespace":
            splits.append(_words(engine))
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


def _words(engine: HuggingFaceEngine) -> Splitting:
    """Words and runs of other characters, without white space."""
    whitespace = engine.package.pre_tokenizers.Whitespace()
    word, white = engine.words_of(whitespace), engine.removed_by(whitespace)
    members = {"[word]": word, "[other]": ~word & ~white}
    return Splitting("[word]+|[other]+", keeps_gaps=False, members=members)


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


def _byte_pairs(
    model: Section, tokens: list[bytes | None], is_byte_level: bool, normalizer: Normalizer
) -> BytePairs:
    if (kind := kind_of(model)) != "BPE":
        raise refusal("model", kind)
    for name in ("dropout", "continuing_subword_prefix", "end_of_word_suffix"):
        if value := model.fields.get(name):
            raise refusal("model", f"{name} = {value!r:.40}")
    vocab = vocab_of(model)
    left, right, result, rank = _merges(model.items("merges"), vocab)
    in_model = np.zeros(len(tokens), dtype=np.uint8)
    ids = np.fromiter(vocab.values(), dtype=np.int64, count=len(vocab))
    in_model[ids[ids < len(tokens)]] = 1
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
