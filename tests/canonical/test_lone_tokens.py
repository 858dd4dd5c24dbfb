"""Added tokens with ``single_word``: what the tables say of their neighbours, by the program's own word.

Random ones are the family *lone tokens* of ``test_rare_families.py``.
"""

from __future__ import annotations

import itertools

import pytest
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers

import tokamata as tk
from tests.support.masks import bits
from tokamata import guard
from tokamata.tokenization.canonical import text_tokenization_of, tokenization_of
from tokamata.tokenization.pipelines.lone_tokens import word_characters

_MERGES = [("a", "b"), ("c", "d")]


def _tokenizer(*added: AddedToken, **model: bool) -> Tokenizer:
    """Single bytes and two merges, beside added tokens."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    texts = [*letters, *(left + right for left, right in _MERGES), "<in>"]
    vocab = {text: token for token, text in enumerate(texts)}
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=_MERGES, **model))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([one for one in added if one.special])
    tokenizer.add_tokens([one for one in added if not one.special])
    return tokenizer


def _lone(content: str, normalized: bool = False, special: bool = False, **strips: bool) -> AddedToken:
    return AddedToken(content, single_word=True, normalized=normalized, special=special, **strips)


def _plain(content: str, normalized: bool = False) -> AddedToken:
    return AddedToken(content, normalized=normalized)


def _reason(tokenizer: Tokenizer) -> str:
    with pytest.raises(tk.UnsupportedTokenizerError) as caught:
        tokenization_of(tk.Vocabulary.load(tokenizer, stop=()))
    return caught.value.reason


_SETS = {
    "a name": [_lone("<m>")],
    "a control token": [_lone("<m>", special=True), _lone("dc"), _plain("-")],
    "a word": [_lone("word"), _plain("<x>"), _plain("the")],
    "two words": [_lone("dc"), _lone("ea"), _plain("-")],
    "words that overlap": [_lone("dcd"), _lone("dcdc"), _lone("ed"), _lone("cd-ec"), _plain("x")],
    "a longer one that is found wherever it stands": [_lone("<m>"), _plain("<m>-"), _plain("d<")],
    "one that swallows space before it": [_lone("<m>", lstrip=True), _plain("the "), _plain("-")],
    "one that swallows space after it": [_lone("<m>", rstrip=True), _plain("the"), _plain("- ")],
    "one that is found late": [_lone("<m>", normalized=True), _plain("dc"), _plain("-"), _plain("ea", True)],
    "early and late ones": [_lone("<m>"), _lone("dc", normalized=True), _plain("ea", True), _plain("-")],
    "a late one that ends with space": [_lone("<m>", lstrip=True, rstrip=True), _plain("- ", True)],
    "one of the vocabulary": [_lone("<in>"), _plain("the")],
    "other letters": [_lone("\u0416"), _lone("\u0301"), _plain("\u200d")],
}


@pytest.mark.parametrize("name", _SETS)
def test_short_sequences(name: str) -> None:
    """A sequence of tokens is canonical if, and only if, its text is encoded to it."""
    added = [one.content for one in _SETS[name]]
    tokenizer = _tokenizer(*_SETS[name])
    vocabulary = tk.Vocabulary.load(tokenizer, stop=())
    tables = tokenization_of(vocabulary)
    letters = dict.fromkeys("".join(added) + "a- <")
    ids = {token for text in letters for token in tokenizer.encode(text, add_special_tokens=False).ids}
    tokens = sorted(ids | {tokenizer.token_to_id(text) for text in added})
    texts = [text or tokenizer.id_to_token(token).encode() for token, text in enumerate(vocabulary.tokens)]
    # Some that spell the first added text, and what may stand around it.
    first = tokenizer.encode(f"a{added[0]}a", add_special_tokens=False).ids[1:-1]
    sides = [[], *([token] for token in tokens)]
    sequences = [*itertools.product(tokens, repeat=2), *itertools.product(tokens, repeat=3)]
    sequences += [(*left, *first, *right) for left in sides for right in sides]
    count = {True: 0, False: 0}
    for sequence in sequences:
        try:
            text = b"".join(texts[token] for token in sequence).decode()
            theirs = tokenizer.encode(text, add_special_tokens=False).ids == list(sequence)
        except UnicodeDecodeError:
            theirs = False
        count[theirs] += 1
        assert (tables.first_noncanonical(list(sequence)) is None) == theirs, text
    assert min(count.values()) > 20


def test_what_is_dropped_is_ordinary_text() -> None:
    tokenizer = _tokenizer(_lone("<m>"))
    vocabulary = tk.Vocabulary.load(tokenizer, stop=())
    mask = tokenizer.token_to_id("<m>")
    spelled = [tokenizer.token_to_id(letter) for letter in "<m>"]
    letter, sign = tokenizer.token_to_id("a"), tokenizer.token_to_id("-")
    matcher = tk.regex("-<m>(?s:.*)").compile(vocabulary, tokenization="canonical").matcher()
    assert matcher.advance(sign)
    assert bits(matcher.mask) == {mask, spelled[0]}
    for token in spelled:
        assert matcher.advance(token)
    # A word character has to follow.
    assert not matcher.is_accepting
    assert letter in bits(matcher.mask)
    assert not {sign, mask, spelled[0]} & bits(matcher.mask)
    only = tk.regex("-<m>").compile(vocabulary, tokenization="canonical").matcher()
    assert only.forced_tokens() == [sign, mask]
    with pytest.raises(tk.NoncanonicalError):
        tk.regex("-<m>-").compile(vocabulary, tokenization="canonical").matcher([sign, *spelled])


def test_word_characters_are_those_of_the_program() -> None:
    tokenizer = _tokenizer(_lone("<m>"))
    mask = tokenizer.token_to_id("<m>")
    is_word = word_characters()
    for point in [*range(0x800), *range(0x1F00, 0x2200), 0x3042, 0xFE0F, 0x1D7CE, 0x1F600, 0xE0100, 0x10FFFF]:
        for text in f"{chr(point)}<m>", f"<m>{chr(point)}":
            assert (mask in tokenizer.encode(text).ids) != is_word[point], hex(point)


def test_which_are_refused() -> None:
    def refused(*added: AddedToken, **model: bool) -> str:
        return _reason(_tokenizer(*added, **model))

    overlap = "may share characters with it"
    assert f"'b>' {overlap}" in refused(_lone("<b>"), _plain("b>"))
    assert f"'>>' {overlap}" in refused(_lone("<b>"), _plain(">>"))
    assert f"'<b>' {overlap}" in refused(_lone("<b>"), _lone("<b>-"))
    assert f"'--' {overlap}" in refused(_lone("--"))
    assert f"'d' {overlap}" in refused(_lone("ded"), _plain("d"))
    assert f"'d' {overlap}" in refused(_lone("e-d"), _lone("d"))
    assert f"'ded' {overlap}" in refused(_lone("ded"), _lone("d", normalized=True))
    assert "is a token of the model" in refused(_lone("ab"))
    assert "is a token of the model" in refused(_lone("a"))
    assert "is a token of the model" in refused(_lone("<in>"), ignore_merges=True)
    assert "more than 128 characters" in refused(_lone("<" * 128 + ">"))
    assert "more than 4,000 characters" in refused(*(_lone(f"<{number:0100}>") for number in range(40)))
    assert "beside 3,003 added tokens" in refused(
        *(_lone(f"<{number}>") for number in range(100)), *(_plain(f"[{number}]") for number in range(2903))
    )
    wide = "".join(map(chr, range(0x4E00, 0x4E00 + 240)))
    assert "more than 200 different characters" in refused(_lone(wide[:120]), _lone(wide[120:]))
    spaced = _tokenizer(_lone("<m>", normalized=True))
    spaced.normalizer = normalizers.Replace(" ", "\u0120")
    spaced.pre_tokenizer = None  # type: ignore[assignment]
    spaced.decoder = decoders.Replace("\u0120", " ")
    assert "spaces are replaced by the word character" in _reason(spaced)


def test_the_guard_proves_nothing_of_these() -> None:
    tokenizer = _tokenizer(_lone("<m>", special=True))
    with pytest.raises(tk.UnsupportedTokenizerError, match="some of its added tokens are single words"):
        guard.boundary(tokenizer, "<m>")
    with pytest.raises(tk.UnsupportedTokenizerError, match="single_word depends on what is cut out"):
        text_tokenization_of(tk.Vocabulary.load(tokenizer, stop=()))
