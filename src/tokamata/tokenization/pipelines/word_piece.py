"""The pipeline of a WordPiece tokenizer, BERT's, or a WordLevel one, from its ``tokenizer.json``.

The normalizer and the pre-tokenizer are local here.  Except for the order of marks, the normalizer changes
each code point independently of its neighbours; and whether two neighbours stay in one word depends only on
these two.  So both are run on the code points of the vocabulary and on pairs of them, instead of being
reimplemented.  Parts that are not known to be local are refused by name.

Example, BERT: ``A`` becomes ``a``, so no text with it is canonical; ``中`` gets spaces around it, so it is a
word of its own; ``!!`` becomes two words, and so does ``a!``; ``ab`` stays one.

A word without tokens becomes the unknown token, which does not decode to that word.  Usually, every code
point of a token is a token by itself, both at the beginning of a word and after it; then longest match always
finds tokens.  This holds for BERT's vocabularies.  For others, the words with tokens are found by an
automaton of the whole vocabulary, if that is small (``Lexicon``).

WordLevel is the same with whole words alone: a word is a token, or has none.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import tokamata._core as _core
from tokamata.errors import UnsupportedTokenizerError
from tokamata.tokenization.pipelines.pipeline import AddedToken, Normalizer, Pipeline, WordPieces
from tokamata.tokenization.pipelines.stripping_tokens import WHITE_SPACE
from tokamata.tokenization.pipelines.tokenizer_json_parts import added_tokens, kind_of, refusal, vocab_of
from tokamata.tokenization.pretokenizers.classes import CODE_POINTS, HuggingFaceEngine
from tokamata.tokenization.pretokenizers.word_machine import Lexicon
from tokamata.vocabulary.sections import Section, flattened

_FORMS = ("NFC", "NFD", "NFKC", "NFKD")
_NORMALIZERS = ("BertNormalizer", "Lowercase", "StripAccents", *_FORMS)
_PRE_TOKENIZERS = ("BertPreTokenizer", "Whitespace", "WhitespaceSplit", "Punctuation", "Digits")
# A mark of class 240, the highest.
_HIGHEST_MARK = "\u0345"
_MOST_STATES = 20_000  # a code point of each kind, times the longest word
_NOT_IN_WORDS = _core.WordRole.NONE.value
_BEGINS = _core.WordRole.BEGINS.value
_CONTINUES = _core.WordRole.CONTINUES.value


class _Model(NamedTuple):
    """The fields of a model.

    Attributes:
        vocab: its tokens.
        unknown: the token that it writes for a word without tokens.
        mark: the prefix of tokens that continue a word; ``""`` if there are none.
        most: the largest number of code points of a word.
    """

    vocab: dict[str, int]
    unknown: str
    mark: str
    most: int


def word_piece_pipeline(document: Section, tokens: list[bytes | None]) -> Pipeline:
    """The pipeline of a parsed ``tokenizer.json`` whose model is WordPiece or WordLevel.

    Args:
        document: the parsed file.
        tokens: the bytes of every token of the vocabulary that was read from it.

    Raises:
        UnsupportedTokenizerError: a part is not supported.
        MissingExtraError: `tokenizers` is not installed.
    """
    engine = HuggingFaceEngine()
    model = _model(document.section("model"))
    mark = model.mark
    _check_decoder(document.fields.get("decoder"), mark)
    normalize, pre_tokenize = _program(document, engine)
    texts = {
        token: text
        for text, token in model.vocab.items()
        if token < len(tokens) and tokens[token] is not None
    }
    letters = _Letters(_spelled(texts.values(), mark), normalize, pre_tokenize)
    words = _words(model, texts, letters, len(tokens))
    entries = document.fields.get("added_tokens") or ()
    if any(entry.get("lstrip") or entry.get("rstrip") for entry in entries):
        _check_white_space(letters)
    added = added_tokens(document, tokens, Normalizer(), keeps_spaces=False)
    separators = "".join(each for each in _spaces() if pre_tokenize(normalize(f"a{each}a")) == ["a", "a"])
    names = {entry.token: entry.text.decode() for entry in added}
    looked_up = [
        token
        for token, name in names.items()
        if name == model.unknown or (name in model.vocab and len(pre_tokenize(name)) == 1)
    ]
    words = replace(
        words,
        separators=separators,
        has_late_names=any(entry.get("normalized") for entry in entries),
        looked_up=tuple(looked_up),
    )
    _check_added(document, added, normalize, mark, letters.is_part(mark))
    _check_unknown(model, added, normalize, pre_tokenize)
    form = _form(flattened(document, "normalizer", "normalizers"), letters)
    unguarded = ""
    if not mark:
        unguarded = "its model has whole words"
    elif any(entry.get("lstrip") or entry.get("rstrip") for entry in entries):
        unguarded = "some of its added tokens swallow white space"
    return Pipeline(engine, Normalizer(form), (), words, added, unguarded)


def _model(section: Section) -> _Model:
    if kind_of(section) == "WordLevel":
        vocab = vocab_of(section)
        return _Model(vocab, section.text("unk_token", "<unk>"), "", max(map(len, vocab), default=0))
    return _Model(
        vocab_of(section),
        section.text("unk_token", "[UNK]"),
        section.text("continuing_subword_prefix", "##"),
        section.whole("max_input_chars_per_word", 100),
    )


# ---- requirements -------------------------------------------------------------------------------


def _check_decoder(decoder: Any, mark: str) -> None:
    if not mark:
        if decoder is not None:
            raise refusal("decoder", f"{decoder!r:.100} does not write words with a space between them")
        return
    kind = decoder.get("type") if isinstance(decoder, dict) else None
    if kind != "WordPiece" or decoder.get("prefix", "##") != mark:
        raise refusal("decoder", f"{decoder!r:.100} does not undo a model whose mark is {mark!r:.40}")


def _check_added(
    document: Section,
    added: tuple[AddedToken, ...],
    normalize: Callable[[str], str],
    mark: str,
    is_part: bool,
) -> None:
    """Requires that an added token is found in the decoded text, as one of its words."""
    contents = {token.text.decode() for token in added}
    late = {e["content"] for e in document.fields.get("added_tokens") or () if e.get("normalized")} & contents
    for content in sorted(contents):
        name = f"{content!r:.40}"
        if any(character.isspace() for character in content):
            raise refusal("added tokens", f"{name} has whitespace")
        if mark and content.startswith(mark):
            raise refusal("added tokens", f"{name} begins with the mark of continuations")
        if is_part and not set(mark).isdisjoint(content):
            raise refusal("added tokens", f"{name} may begin in the mark of continuations")
        if content in late and normalize(content) != content:
            raise refusal("added tokens", f"{name} is matched in normalized text, but is not normalized")
        if content in late and any(other in content for other in contents - late):
            raise refusal("added tokens", f"a part of {name} is cut out before it")


def _check_white_space(letters: _Letters) -> None:
    """Requires that no word has white space, which an added token swallows; what is between words is lost."""
    for letter in WHITE_SPACE:
        if letter in letters.kinds:
            raise refusal("added tokens", f"some swallow white space, and {letter!r} may be in words")


def _check_unknown(
    model: _Model,
    added: tuple[AddedToken, ...],
    normalize: Callable[[str], str],
    pre_tokenize: Callable[[str], list[str]],
) -> None:
    """Requires that no other word becomes the unknown token and decodes to itself."""
    unknown = model.unknown
    if any(token.text.decode() == unknown for token in added):
        return
    words = pre_tokenize(normalize(unknown))
    if len(words) == 1 and (words[0] != unknown or len(unknown) > model.most):
        raise refusal(
            "model",
            f"{unknown!r:.40} is written for unknown words, but has no tokens; make it an added token",
        )


# ---- the normalizer and the pre-tokenizer, run --------------------------------------------------


def _program(
    document: Section, engine: HuggingFaceEngine
) -> tuple[Callable[[str], str], Callable[[str], list[str]]]:
    """The normalizer and the pre-tokenizer of a file, as functions."""
    for part, inner, known in (
        ("normalizer", "normalizers", _NORMALIZERS),
        ("pre_tokenizer", "pretokenizers", _PRE_TOKENIZERS),
    ):
        for one in flattened(document, part, inner):
            merges = one.text("behavior", "").startswith("Merged")
            if one.kind not in known or merges:
                raise refusal(part.replace("_", "-"), f"{one.kind} {one!r:.200} before WordPiece")
    shell: dict[str, Any] = {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": document.fields.get("normalizer"),
        "pre_tokenizer": document.fields.get("pre_tokenizer"),
        "model": {
            "type": "WordPiece",
            "unk_token": "?",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 1,
            "vocab": {"?": 0},
        },
    }
    try:
        tokenizer = engine.package.Tokenizer.from_str(json.dumps(shell))
    except Exception as error:  # the package raises a bare Exception
        raise UnsupportedTokenizerError("pipeline", f"its engine refuses it: {error}") from None
    normalizer, cutter = tokenizer.normalizer, tokenizer.pre_tokenizer
    if cutter is None or cutter.pre_tokenize_str(" "):
        raise refusal("pre-tokenizer", "it does not split words at spaces")
    normalize = normalizer.normalize_str if normalizer is not None else str
    return normalize, lambda text: [piece for piece, _ in cutter.pre_tokenize_str(text)]


def _form(parts: list[Section], letters: _Letters) -> Callable[[str], str] | None:
    """The function that brings texts into a normal form; ``None`` if it only changes single code points."""
    names = [name for one in parts for name in _form_of(one)]
    if len(names) > 1:
        raise refusal("normalizer", f"{names[0]} and then {names[1]}")
    if not names:
        return None
    normalize = _normalizing(names[0])
    texts = [f"x{_HIGHEST_MARK}{letter}" for letter in letters.kinds]
    if names[0] in ("NFD", "NFKD") and all(normalize(text) == text for text in texts):
        return None  # nothing composes, and no marks are reordered
    return normalize


@cache
def _normalizing(form: str) -> Callable[[str], str]:
    """One object for each normal form: :func:`.normal_forms.normal_form` keeps its tables."""
    normalize: Callable[[str], str] = getattr(HuggingFaceEngine().package.normalizers, form)().normalize_str
    return normalize


@cache
def _spaces() -> tuple[str, ...]:
    return tuple(filter(str.isspace, map(chr, range(CODE_POINTS))))


def _form_of(part: Section) -> list[str]:
    if part.kind in _FORMS:
        return [part.kind]
    if part.kind != "BertNormalizer":
        return []
    option = "strip_accents" if part.fields.get("strip_accents") is not None else "lowercase"
    return ["NFD"] if part.flag(option, False) else []


class _Letters:
    """The code points of words, found by running the normalizer and the pre-tokenizer on them and on pairs.

    Attributes:
        kinds: the kind of each code point that can be in a word, from 1; see ``WordPieces``.
        alone: the code points that are words of their own.
    """

    def __init__(
        self,
        letters: Iterable[str],
        normalize: Callable[[str], str],
        pre_tokenize: Callable[[str], list[str]],
    ) -> None:
        self.kinds: dict[str, int] = {}
        self.alone: set[str] = set()
        first: list[str] = []  # of each kind
        for letter in sorted(letters):
            spread = normalize(letter)
            if spread.strip(" ") != letter or pre_tokenize(letter) != [letter]:
                continue
            if spread != letter or len(pre_tokenize(letter * 2)) > 1:
                self.alone.add(letter)
                self.kinds[letter] = 1  # any; it has no neighbours
                continue
            kind = next(
                (k for k, other in enumerate(first) if len(pre_tokenize(letter + other)) == 1), len(first)
            )
            if kind == len(first):
                first.append(letter)
            self.kinds[letter] = kind + 1

    def is_word(self, text: str) -> bool:
        """Whether a text is one word, with or without tokens."""
        return text in self.alone or self.is_part(text)

    def is_part(self, text: str) -> bool:
        """Whether a text can be part of a longer word."""
        kinds = {self.kinds.get(letter, 0) for letter in text}
        return len(kinds) == 1 and 0 not in kinds and self.alone.isdisjoint(text)


def _spelled(texts: Iterable[str], mark: str) -> set[str]:
    return {letter for text in texts for letter in text.removeprefix(mark)} | set(mark)


# ---- the model ----------------------------------------------------------------------------------


def _words(model: _Model, texts: dict[int, str], letters: _Letters, size: int) -> WordPieces:
    mark, most = model.mark, model.most
    if most * max(letters.kinds.values(), default=0) > _MOST_STATES:
        raise refusal("model", f"max_input_chars_per_word = {most}")
    roles = np.full(size, _NOT_IN_WORDS, dtype=np.uint8)
    # The code points that begin words in some token, and those after the first.
    firsts: set[str] = set()
    later: set[str] = set()
    for token, text in texts.items():
        if mark and text == mark and letters.is_word(mark):
            raise refusal("model", f"{mark!r:.40} is a token, and a word")
        if mark and text.startswith(mark):
            if letters.is_part(text.removeprefix(mark)):
                roles[token] = _CONTINUES
                later.update(text.removeprefix(mark))
        elif letters.is_word(text):
            roles[token] = _BEGINS
            firsts.add(text[0])
            later.update(text[1:])
    known = set(texts.values())
    gets_stuck = (
        not mark
        or any(letter not in known for letter in firsts)
        or any(mark + letter not in known for letter in later)
    )
    written = mark if letters.is_part(mark) else ""
    kinds = np.zeros(CODE_POINTS, dtype=np.uint16)
    flags: dict[str, Any] = {}
    for letter, kind in letters.kinds.items():
        kinds[ord(letter)] = kind
    for name, chosen in (("alone", letters.alone), ("begins", firsts), ("continues", later)):
        flags[name] = np.zeros(CODE_POINTS, dtype=bool)
        flags[name][[ord(letter) for letter in chosen]] = True
    lexicon, after_mark = _lexicons(texts, roles, mark, written) if gets_stuck else (None, None)
    return WordPieces(written, roles, most, kinds, **flags, lexicon=lexicon, after_mark=after_mark)


def _lexicons(
    texts: dict[int, str], roles: npt.NDArray[np.uint8], mark: str, written: str
) -> tuple[Lexicon, Lexicon | None]:
    """That of words, and that of what follows a mark at the start of a text, if it may stand there."""
    rest = {token: text[len(mark) :].encode() for token, text in texts.items() if roles[token] == _CONTINUES}
    first = {token: text.encode() for token, text in texts.items() if roles[token] == _BEGINS}
    if written:
        first.update((token, texts[token].encode()) for token in rest)
    return Lexicon(first, rest, rest), Lexicon(rest, rest, ()) if written else None
