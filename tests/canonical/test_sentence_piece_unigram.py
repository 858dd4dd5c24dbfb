"""Canonical masks of SentencePiece's own Unigram models, against its program: short texts and long ones."""

from __future__ import annotations

import itertools
import os
import random
import re
from collections.abc import Sequence
from typing import Any

import pytest

import tokamata as tk
from fuzz.canonical_exactness import completeness, soundness
from tests.support.masks import bits
from tests.support.texts import all_texts
from tests.support.tokenizers.canonical_tokenizers import Judged
from tests.support.tokenizers.exhaustive_cases import Case, at
from tests.support.tokenizers.trained_sentence_piece import trained
from tests.support.tokenizers.unigram_models import (
    BYTE,
    CONTROL,
    NORMAL,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
    Piece,
    model_file,
)
from tokamata.tokenization.adversarial_texts import CORPUS
from tokamata.tokenization.canonical import why_unguarded

sentencepiece = pytest.importorskip("sentencepiece", reason="sentencepiece is an extra")

_CASES = int(os.environ.get("TOKAMATA_CASES", "24"))
SIGN = "\u2581"
PATTERNS = ["(?s:.*)", "[ab]{2,3} ?[ab]*", "(a|ab)*", "b?(ab){0,2}a?", "a*b*"]


def random_model(seed: int, scale: float = 1.0, enclosing: tuple[str, ...] = ()) -> Any:
    """A processor whose scores often tie, and always round; and letters for its texts.

    ``enclosing``: user-defined pieces with characters that are no pieces.
    """
    draw = random.Random(seed)
    letters = draw.choice(["ab", "ab", "a1", "a\u00e9"])
    grain = scale * draw.choice([0.1, 0.3, 0.7, 1.0])
    texts = dict.fromkeys([SIGN, *letters])
    for _ in range(draw.randrange(1, 14)):
        texts["".join(draw.choices(letters + SIGN, k=draw.randrange(2, 5)))] = None
    pieces: list[Piece] = [("<unk>", 0.0, UNKNOWN), ("</s>", 0.0, CONTROL)]
    for text in texts:
        kinds = [NORMAL] if len(text) == 1 else [NORMAL] * 8 + [USER_DEFINED, UNUSED]
        longer = 1 if len(text) == 1 else draw.choice([0.5, 1, 1.5, 2])
        pieces.append((text, -grain * draw.randrange(1, 12) * longer, draw.choice(kinds)))
    pieces += [(text, 0.0, USER_DEFINED) for text in enclosing]
    if draw.random() < 0.3 and not enclosing:
        pieces += [(f"<0x{byte:02X}>", 0.0, BYTE) for byte in range(256)]
    settings = {"adds_space": draw.random() < 0.5, "removes_spaces": draw.random() < 0.5}
    data = model_file(pieces, writes_sign=True, **settings)
    return sentencepiece.SentencePieceProcessor(model_proto=data), letters + " "


def spells(processor: Any, tokens: list[int], text: str) -> bool:
    """Whether tokens are what the program makes of a text, and say it."""
    return bool(processor.unk_id() not in tokens and processor.decode(tokens) == text)


def cases(processor: Any, letters: str) -> list[Case]:
    vocabulary = tk.Vocabulary.load(processor, stop=())
    found = []
    for pattern in PATTERNS:
        constraint = tk.regex(f"(?=[{letters}]{{0,5}}\\Z)(?:{pattern})")
        texts = filter(re.compile(pattern).fullmatch, all_texts(letters, 5))
        encoded = ((text, processor.encode(text)) for text in texts)
        sequences = frozenset(tuple(tokens) for text, tokens in encoded if spells(processor, tokens, text))
        found.append(Case(vocabulary, constraint, sequences))
    return found


@pytest.mark.parametrize("seed", range(_CASES))
def test_every_mask(seed: int) -> None:
    for case in cases(*random_model(seed)):
        start = case.matcher()
        assert (start is not None) == bool(case.sequences), case.constraint
        if start is None:
            continue
        places = sorted(case.following)
        for place in random.Random(seed).sample(places, min(20, len(places))):
            matcher = at(start, place)
            assert bits(matcher.mask) == case.following[place], (case.constraint, place)
            assert matcher.is_accepting == (place in case.sequences), (case.constraint, place)
            assert len(matcher.shortest_completion()) == min(map(len, case.rests(place)))
            assert matcher.forced_tokens() == forced(case, place)


def forced(case: Case, place: tuple[int, ...]) -> list[int]:
    found = list(place)
    while tuple(found) not in case.sequences and len(case.following[tuple(found)]) == 1:
        found += case.following[tuple(found)]
    return found[len(place) :]


@pytest.mark.parametrize("seed", range(_CASES // 3))
def test_characters_that_only_user_defined_pieces_have(seed: int) -> None:
    """T5 has ``<extra_id_0>``, and no ``<``."""
    processor, letters = random_model(seed, enclosing=("<a>", "<<>", "<2"))
    vocabulary = tk.Vocabulary.load(processor, stop=())
    matcher = tk.regex("(?s:.*)").compile(vocabulary, tokenization="canonical").matcher()
    texts = list(all_texts(letters[:1] + " <>2", 5))
    encoded = {text: tuple(processor.encode(text)) for text in texts}
    sequences = {tokens for text, tokens in encoded.items() if spells(processor, list(tokens), text)}
    assert sum("<" in text for text in texts if encoded[text] in sequences) > 30
    for place in random.Random(seed).sample(sorted(sequences), min(60, len(sequences))):
        assert at(matcher.fork(), place).is_accepting
    for text in random.Random(seed).sample(texts, 200):
        canonical = tk.regex(re.escape(text))
        try:
            tokens = tuple(canonical.compile(vocabulary, tokenization="canonical").matcher().forced_tokens())
            assert tokens == encoded[text]
            is_canonical = True
        except (tk.NoncanonicalError, tk.EmptyConstraintError, tk.UnspellableError):
            is_canonical = False
        assert is_canonical == spells(processor, list(encoded[text]), text)


def test_characters_that_only_user_defined_pieces_have_decide_what_lives() -> None:
    """``b`` leads nowhere: ``<b`` has no tokens, and two spaces are one."""
    pieces: list[Piece] = [("<unk>", 0.0, UNKNOWN), ("<a\u2581>", 0.0, USER_DEFINED)]
    pieces += [(text, -1.0, NORMAL) for text in (SIGN, "a", "b", "ab")]
    data = model_file(pieces, writes_sign=True, removes_spaces=True)
    vocabulary = tk.Vocabulary.load(sentencepiece.SentencePieceProcessor(model_proto=data), stop=())
    texts = {text: token for token, text in enumerate(vocabulary.tokens)}
    for pattern, firsts in {
        "b(<b|  a)|ab": [b"ab"],
        "b(<a >|  a)|ab": [b"ab", b"b"],
        "b(<a >  |  a)|ab": [b"ab"],
    }.items():
        matcher = tk.regex(pattern).compile(vocabulary, tokenization="canonical").matcher()
        assert bits(matcher.mask) == {texts[first] for first in firsts}, pattern


@pytest.mark.parametrize(
    ("enclosing", "others"), [(("a<",), ()), (("<a", "<ab"), ()), (("<a>",), (">a",)), (("<a>",), ("b<",))]
)
def test_user_defined_pieces_that_others_overlap(enclosing: tuple[str, ...], others: tuple[str, ...]) -> None:
    assert_refused([SIGN, "a", "b", *others], enclosing, "is no piece itself")


@pytest.mark.parametrize("enclosing", [["<" + 200 * "a" + ">"], [f"<{number}>" for number in range(20_000)]])
def test_too_many_characters_of_sentinels(enclosing: list[str]) -> None:
    assert_refused([SIGN, *"a0123456789"], enclosing, "too many or too long")


def assert_refused(normal: Sequence[str], enclosing: Sequence[str], reason: str) -> None:
    """Such normal and user-defined pieces are refused by name."""
    pieces: list[Piece] = [("<unk>", 0.0, UNKNOWN), *((text, -1.0, NORMAL) for text in normal)]
    pieces += [(text, 0.0, USER_DEFINED) for text in enclosing]
    processor = sentencepiece.SentencePieceProcessor(model_proto=model_file(pieces, writes_sign=True))
    vocabulary = tk.Vocabulary.load(processor, stop=())
    with pytest.raises(tk.UnsupportedTokenizerError, match=reason):
        tk.regex("a").compile(vocabulary, tokenization="canonical")


@pytest.mark.parametrize("seed", range(_CASES))
def test_long_texts(seed: int) -> None:
    """With such scores a sum is subtracted after some dozen tokens, and again."""
    processor, letters = random_model(seed, scale=[1.0, 37.77, 311.3][seed % 3])
    draw = random.Random(seed)
    text = re.sub(" +", " ", "".join(draw.choices(letters, k=600))).strip()
    ids = processor.encode(text)
    assert spells(processor, ids, text)
    vocabulary = tk.Vocabulary.load(processor, stop=())
    matcher = tk.regex("(?s:.*)").compile(vocabulary, tokenization="canonical").matcher()
    for place, token in enumerate(ids):
        if place % 60 == 0:
            allowed = bits(matcher.mask)
            for other in range(2, min(len(vocabulary), 30)):
                longer = [*ids[:place], other]
                # What ends with a space may be followed by something, and its own text may not.
                if vocabulary[other] and not vocabulary[other].endswith(b" "):
                    assert (other in allowed) == (processor.encode(processor.decode(longer)) == longer)
        assert matcher.advance(token), (place, token)


@pytest.mark.parametrize("grain", [37.77, 311.3])
def test_sentinels_of_long_texts(grain: float) -> None:
    """Behind ``<``, which is no piece, a sum may be one that is subtracted."""
    draw = random.Random(5)
    texts = [SIGN, "a", "b", *("".join(draw.choices("ab", k=draw.randrange(2, 5))) for _ in range(12))]
    scores = {text: draw.choice([0, 0.01, 0.004, 0.0039]) - grain * len(text) for text in texts}
    pieces: list[Piece] = [("<unk>", 0.0, UNKNOWN), ("<a>", 0.0, USER_DEFINED), ("<<>", 0.0, USER_DEFINED)]
    pieces += [(text, score, NORMAL) for text, score in scores.items()]
    processor = sentencepiece.SentencePieceProcessor(model_proto=model_file(pieces, writes_sign=True))
    vocabulary = tk.Vocabulary.load(processor, stop=())
    compiled = tk.regex("(?s:.*)").compile(vocabulary, tokenization="canonical")
    for _ in range(6):
        text = "".join(draw.choices(["a", "b", "<a>", "<<>"], k=6000))
        ids = processor.encode(text)
        assert spells(processor, ids, text)
        assert compiled.matcher().advance_all(ids)


@pytest.mark.parametrize("seed", range(_CASES))
def test_ends_of_long_texts(seed: int) -> None:
    """What may follow 400 characters, where only some texts are left."""
    processor, letters = random_model(seed, scale=[1.0, 37.77, 311.3][seed % 3])
    draw = random.Random(seed)
    before = re.sub(" +", " ", "".join(draw.choices(letters, k=400))).strip()
    texts = [before + rest for rest in all_texts(letters[:2], 4) if rest]
    encoded = {text: processor.encode(text) for text in texts}
    sequences = [tokens for text, tokens in encoded.items() if spells(processor, tokens, text)]
    vocabulary = tk.Vocabulary.load(processor, stop=())
    constraint = tk.regex(re.escape(before) + f"[{letters[:2]}]{{1,4}}")
    start = constraint.compile(vocabulary, tokenization="canonical").matcher()
    case = Case(vocabulary, constraint, frozenset(map(tuple, sequences)))
    shared = _common_beginning(sequences)
    assert len(shared) > 50
    assert all(map(start.advance, shared))
    for place, following in case.following.items():
        if len(place) >= len(shared):
            matcher = at(start.fork(), place[len(shared) :])
            assert bits(matcher.mask) == following
            assert matcher.is_accepting == (place in case.sequences)


def _common_beginning(sequences: list[list[int]]) -> list[int]:
    columns = zip(*sequences, strict=False)
    return [each[0] for each in itertools.takewhile(lambda tokens: len(set(tokens)) == 1, columns)]


def judged(**options: Any) -> Judged:
    processor = sentencepiece.SentencePieceProcessor(
        model_proto=trained(CORPUS * 3, model_type="unigram", vocab_size=1600, **options)
    )
    return Judged(tk.Vocabulary.load(processor, stop=()), processor.encode, processor.decode)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"normalization_rule_name": "nfkc_cf"},
        {"byte_fallback": True, "character_coverage": 0.98},
        {"user_defined_symbols": ["<eop>", ".", "--"]},
        {"split_by_whitespace": False, "remove_extra_whitespaces": False, "add_dummy_prefix": False},
    ],
    ids=["nmt_nfkc", "nfkc_cf", "byte fallback", "user-defined", "pieces with spaces"],
)
def test_trained_models(options: dict[str, Any]) -> None:
    case = judged(**options)
    complete = completeness(case, 4000, seed=1)
    assert not complete.failures, complete.failures[:3]
    sound = soundness(case, 400, seed=1)
    assert not sound.failures, sound.failures[:3]
    assert why_unguarded(case.vocabulary) == "its model is Unigram"
