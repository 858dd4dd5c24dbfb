"""What else can be asked of a canonical constraint: control tokens, batches, forks, limits, refusals."""

from __future__ import annotations

import random
import threading
from collections.abc import Sequence
from typing import Any

import pytest

import tokamata as tk
from tests.support.masks import allowed
from tests.support.matchers import step
from tests.support.tokenizers.canonical_tokenizers import SOURCES, Judged
from tests.support.tokenizers.random_tokenizers import random_tokenizer


@pytest.fixture(scope="module")
def gpt2() -> Judged:
    return next(source for source in SOURCES if source.name == "gpt2").judged()


def test_control_tokens_stand_between_texts(gpt2: Judged) -> None:
    vocabulary = gpt2.vocabulary
    end = vocabulary.control_token("<|endoftext|>")
    constraint = tk.regex("  ") + tk.control_token("<|endoftext|>") + tk.regex(" x")
    matcher = constraint.compile(vocabulary, tokenization="canonical").matcher()
    tokens = [*gpt2.encode("  "), end, *gpt2.encode(" x")]
    assert gpt2.encode("  <|endoftext|> x") == tokens
    assert matcher.forced_tokens() == tokens
    assert all(map(matcher.advance, tokens))
    assert matcher.is_accepting


def test_a_name_in_a_tag_is_its_control_token(gpt2: Judged) -> None:
    """The tokenizer writes the name as the control token, so no other spelling is canonical."""
    vocabulary = gpt2.vocabulary
    name = "<|endoftext|>"
    for constraint in (
        tk.tag(f"{name}to=", tk.regex("[a-z]+"), name),
        tk.triggered([tk.tag(f"{name}to=", None, [name, "!"])]),
    ):
        text = f"{name}to=print{name}"
        tokens = gpt2.encode(text)
        assert vocabulary.control_token(name) == tokens[0]
        spelled = [*gpt2.encode("<|end"), *gpt2.encode("oftext|>to=print"), tokens[-1]]
        canonical = constraint.compile(vocabulary, tokenization="canonical")
        matcher = canonical.matcher()
        assert canonical.matcher().validate(spelled) < len(spelled)
        for token in tokens:
            assert token in allowed(matcher)
            assert matcher.advance(token)
        assert matcher.is_accepting
        assert matcher.parse() == constraint.parse(text)
        every = constraint.compile(vocabulary).matcher()
        assert all(map(every.advance, spelled))
        assert every.parse() == constraint.parse(text)


def test_a_control_token_is_no_text(gpt2: Judged) -> None:
    with pytest.raises(tk.NoncanonicalError, match="added token"):
        tk.regex(r"<\|endoftext\|>").compile(gpt2.vocabulary, tokenization="canonical")
    safe = tk.regex(r"<\|end[a-z]*\|>").compile(gpt2.vocabulary, tokenization="canonical").matcher()
    tokens = gpt2.encode("<|endof|>")
    assert all(map(safe.advance, tokens))


def test_forks_and_rollbacks(gpt2: Judged) -> None:
    draw = random.Random(5)
    matcher = tk.regex("(?s:.*)").compile(gpt2.vocabulary, tokenization="canonical").matcher()
    masks = [matcher.mask.copy()]
    for _ in range(30):
        assert step(matcher, draw)
        masks.append(matcher.mask.copy())
    fork = matcher.fork()
    for mask in reversed(masks[:-1]):
        matcher.rollback(1)
        assert (matcher.mask == mask).all()
    assert (fork.mask == masks[-1]).all()


def test_batches_and_threads(gpt2: Judged) -> None:
    patterns = ["(?s:.*)", '"[^"]*"', "[a-z ]{1,20}", r"\d{4}-\d{2}"]
    compiled = [tk.regex(p).compile(gpt2.vocabulary, tokenization="canonical") for p in patterns]
    matchers = [one.matcher() for one in compiled for _ in range(4)]
    rows = compiled[0].allocate_mask(len(matchers))
    tk.fill_masks(matchers, rows, threads=2)
    for row, matcher in zip(rows, matchers, strict=True):
        assert (row == matcher.mask).all()

    wrong = []

    def walk(seed: int) -> None:
        draw = random.Random(seed)
        for number in range(8):
            matcher = compiled[number % len(compiled)].matcher()
            for _ in range(6):
                if not step(matcher, draw):
                    break
            if matcher.is_accepting and not gpt2.is_canonical(matcher.tokens):
                wrong.append(matcher.tokens)

    threads = [threading.Thread(target=walk, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize(
    ("limits", "limit"),
    [
        (tk.Limits(seconds=1e-6), "seconds"),
        (tk.Limits(states=3), "states"),
        (tk.Limits(memory_bytes=50_000), "memory_bytes"),
    ],
    ids=["seconds", "states", "memory"],
)
def test_limits_hold(gpt2: Judged, limits: tk.Limits, limit: str) -> None:
    """None of them has room for a single mask, however fast the machine is."""
    constraint = tk.regex("([a-z]{1,40} ){1,40}[0-9]{3}") & ~tk.regex("(?s:.*)ab{30}(?s:.*)")

    def first_mask() -> None:
        _ = constraint.compile(gpt2.vocabulary, tokenization="canonical", limits=limits).matcher().mask

    with pytest.raises(tk.LimitExceeded) as caught:
        first_mask()
    assert caught.value.limit == limit


def test_what_is_refused() -> None:
    vocabulary = tk.Vocabulary.load([b"a", b"b", None], stop=[2])
    with pytest.raises(tk.UnsupportedTokenizerError, match="pipeline") as caught:
        tk.regex("a").compile(vocabulary, tokenization="canonical")
    assert caught.value.part == "pipeline"
    assert tk.regex("a").compile(vocabulary).matcher([0, 1]).mask.any()  # contexts make no difference there
    with pytest.raises(ValueError, match="canonical"):
        tk.regex("a").compile(vocabulary, tokenization="mine")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "part", "reason"),
    [
        ({"dropout": 0.1}, "model", "dropout"),
        ({"end_of_word_suffix": "</w>", "ignore_merges": True}, "model", "end_of_word_suffix"),
    ],
)
def test_models_that_cannot_be_followed(change: dict[str, object], part: str, reason: str) -> None:
    import json

    from tokamata.tokenization.pipelines.tokenizer_json import pipeline_from_tokenizer_json

    document = json.loads(random_tokenizer(0)[0].to_str())
    document["model"].update(change)
    with pytest.raises(tk.UnsupportedTokenizerError, match=reason) as caught:
        pipeline_from_tokenizer_json(document, [b"x"] * 300)
    assert caught.value.part == part


@pytest.mark.parametrize("merge", [["no", "such"], ["a", "b", "c"], "ab", 5, ["Ġ", "zzz"]])
def test_merges_that_contradict_the_vocabulary(merge: object) -> None:
    import json

    from tokamata.tokenization.pipelines.tokenizer_json import pipeline_from_tokenizer_json

    document = json.loads(random_tokenizer(0)[0].to_str())
    document["model"]["merges"].append(merge)
    with pytest.raises(tk.VocabularyError, match="merge"):
        pipeline_from_tokenizer_json(document, [b"x"] * 300)


@pytest.mark.parametrize("is_added", [True, False])
@pytest.mark.parametrize("is_removed", [True, False])
@pytest.mark.parametrize("part", ["Prepend", "Metaspace"])
def test_a_decoder_and_the_first_space(part: str, is_added: bool, is_removed: bool) -> None:
    """A decoder must remove the space that is put before a text, and no other: no table fits the others.

    ``xa`` is one token, unless a space comes before it.
    """
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

    pieces = ["<unk>", "\u2581", "x", "a", "\u2581x", "xa"]
    vocab = {piece: token for token, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.BPE(vocab, [("\u2581", "x"), ("x", "a")], unk_token="<unk>"))
    if part == "Metaspace":
        schemes = ["always" if each else "never" for each in (is_added, is_removed)]
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=schemes[0], split=False)
        tokenizer.decoder = decoders.Metaspace(prepend_scheme=schemes[1])
    else:
        sign = [normalizers.Prepend("\u2581")] if is_added else []
        tokenizer.normalizer = normalizers.Sequence([*sign, normalizers.Replace(" ", "\u2581")])
        strip = [decoders.Strip(" ", 1, 0)] if is_removed else []
        tokenizer.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.Fuse(), *strip])
    vocabulary = tk.Vocabulary.load(tokenizer, stop=())

    def written() -> list[int]:
        return tk.literal("xa").compile(vocabulary, tokenization="canonical").matcher().forced_tokens()

    if is_added == is_removed:
        ids = tokenizer.encode("xa").ids
        assert tokenizer.decode(ids) == "xa"
        assert written() == ids == ([4, 3] if is_added else [5])
    else:
        with pytest.raises(tk.UnsupportedTokenizerError, match="space") as caught:
            written()
        assert caught.value.part == "decoder"


def _changed(normalizer: Any, pre_tokenizer: Any, decoder: Any, added: Sequence[str] = ()) -> Any:
    """A tokenizer of single characters and one merge, with other parts."""
    from tokenizers import AddedToken, Tokenizer, models

    names = {byte: f"<0x{byte:02X}>" for byte in range(256)}
    vocab = {
        piece: token for token, piece in enumerate(["<unk>", "\u2581", "a", "b", "\u2581a", *names.values()])
    }
    model = models.BPE(vocab, [("\u2581", "a")], unk_token="<unk>", byte_fallback=True)
    tokenizer = Tokenizer(model)
    tokenizer.normalizer, tokenizer.pre_tokenizer, tokenizer.decoder = normalizer, pre_tokenizer, decoder
    tokenizer.add_special_tokens([AddedToken(content, normalized=False) for content in added])
    return tokenizer


def test_a_decoder_that_writes_spaces_for_a_sign_that_nothing_writes() -> None:
    """``▁`` is decoded to a space, but a space is written as its byte: no text is spelled with ``▁``."""
    from tokenizers import decoders

    parts = [decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse()]
    tokenizer = _changed(None, None, decoders.Sequence(parts))
    assert tokenizer.encode("a b").tokens == ["a", "<0x20>", "b"]
    with pytest.raises(tk.UnsupportedTokenizerError, match="written otherwise") as caught:
        tk.literal("a b").compile(tk.Vocabulary.load(tokenizer, stop=()), tokenization="canonical")
    assert caught.value.part == "decoder"


def test_an_added_token_with_a_space_where_each_text_gets_one() -> None:
    """It is cut out before the space is put there, so the text does not begin with it."""
    from tokenizers import decoders, pre_tokenizers

    sign = pre_tokenizers.Metaspace(prepend_scheme="always", split=False)
    back = [decoders.Metaspace(prepend_scheme="always"), decoders.ByteFallback(), decoders.Fuse()]
    tokenizer = _changed(None, sign, decoders.Sequence(back), added=[" "])
    assert tokenizer.encode("ab").tokens == ["\u2581a", "b"]
    with pytest.raises(tk.UnsupportedTokenizerError, match="begins with a space") as caught:
        tk.literal("ab").compile(tk.Vocabulary.load(tokenizer, stop=()), tokenization="canonical")
    assert caught.value.part == "added tokens"


@pytest.mark.parametrize("forms", [("NFKC", "NFC"), ("NFC", "NFKC"), ("NFC", "NFC")])
def test_two_normal_forms(forms: tuple[str, str]) -> None:
    """A text is canonical if none of them changes it."""
    from tokenizers import decoders, normalizers

    normalizer = normalizers.Sequence([getattr(normalizers, form)() for form in forms])
    tokenizer = _changed(normalizer, None, decoders.Sequence([decoders.ByteFallback(), decoders.Fuse()]))
    vocabulary = tk.Vocabulary.load(tokenizer, stop=())
    for text in ("a\xa0b", "\ufb01", "e\u0301", "\xe9", "\u2126"):
        ids = tokenizer.encode(text).ids
        if normalizer.normalize_str(text) == text:
            compiled = tk.literal(text).compile(vocabulary, tokenization="canonical")
            assert compiled.matcher().forced_tokens() == ids
        else:
            with pytest.raises(tk.NoncanonicalError):
                tk.literal(text).compile(vocabulary, tokenization="canonical")


@pytest.mark.parametrize(
    ("form", "content", "text"), [("NFC", "e\u0301", "\xe9"), ("Lowercase", "<S>", "<s>")]
)
def test_an_added_token_that_the_normalizer_changes(form: str, content: str, text: str) -> None:
    """It is found in a text that its content does not spell."""
    from tokenizers import AddedToken, decoders, normalizers

    decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Fuse()])
    tokenizer = _changed(getattr(normalizers, form)(), None, decoder)
    tokenizer.add_tokens([AddedToken(content, normalized=True)])
    assert tokenizer.encode(text).ids == [tokenizer.get_vocab_size() - 1]
    with pytest.raises(tk.UnsupportedTokenizerError, match="is normalized") as caught:
        tk.literal(text).compile(tk.Vocabulary.load(tokenizer, stop=()), tokenization="canonical")
    assert caught.value.part == "added tokens"


@pytest.mark.parametrize("scheme", ["always", "first", "never"])
def test_metaspace_after_a_split(scheme: str) -> None:
    """The split sees spaces, not their sign; and pieces get a space of their own."""
    from tokenizers import decoders, pre_tokenizers

    sign = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=False)
    splits = pre_tokenizers.Sequence([pre_tokenizers.Split(" ", "isolated"), sign])
    decoder = decoders.Sequence([decoders.Metaspace(prepend_scheme=scheme), decoders.ByteFallback()])
    tokenizer = _changed(None, splits, decoder)
    assert "\u2581a" in tokenizer.get_vocab()
    assert tokenizer.encode(" a").tokens != ["\u2581a"]
    with pytest.raises(tk.UnsupportedTokenizerError, match="after a split") as caught:
        tk.literal(" a").compile(tk.Vocabulary.load(tokenizer, stop=()), tokenization="canonical")
    assert caught.value.part == "pre-tokenizer"


def test_a_split_that_leaves_out_every_text() -> None:
    """It keeps what it matches alone, but sees no spaces, since the normalizer has replaced them."""
    from tokenizers import decoders, normalizers, pre_tokenizers

    split = pre_tokenizers.Split("a b", "removed", invert=True)
    back = [decoders.Replace("\u2581", " "), decoders.ByteFallback(), decoders.Fuse()]
    tokenizer = _changed(normalizers.Replace(" ", "\u2581"), split, decoders.Sequence(back))
    assert tokenizer.encode("a b").ids == []
    with pytest.raises(tk.UnsupportedTokenizerError, match="leaves out") as caught:
        tk.literal("a b").compile(tk.Vocabulary.load(tokenizer, stop=()), tokenization="canonical")
    assert caught.value.part == "pre-tokenizer"


@pytest.mark.parametrize(("first", "later"), [(" ", " e"), ("e", " e"), ("ex", " e")])
def test_added_tokens_that_are_found_in_two_passes(first: str, later: str) -> None:
    """Those that are normalized are found in what the others leave, wherever they stand."""
    from tokenizers import AddedToken, decoders

    tokenizer = _changed(None, None, decoders.Sequence([decoders.ByteFallback(), decoders.Fuse()]))
    tokenizer.add_tokens([AddedToken(first, normalized=False), AddedToken(later, normalized=True)])
    assert tokenizer.token_to_id(first) in tokenizer.encode(" ex").ids
    with pytest.raises(tk.UnsupportedTokenizerError, match="found later") as caught:
        tk.literal("a").compile(tk.Vocabulary.load(tokenizer, stop=()), tokenization="canonical")
    assert caught.value.part == "added tokens"


def test_an_added_token_that_is_decoded_otherwise() -> None:
    """The decoder of byte-level tokenizers takes the letter for a byte."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    letters = {letter: token for token, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    tokenizer = Tokenizer(models.BPE(letters, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_tokens(["\xe9"])
    assert tokenizer.encode("\xe9").ids == [letters["\xe9"]]
    assert tokenizer.decode([letters["\xe9"]]) == "\ufffd"
    with pytest.raises(tk.UnsupportedTokenizerError, match="is decoded to") as caught:
        tk.literal("a").compile(tk.Vocabulary.load(tokenizer, stop=()), tokenization="canonical")
    assert caught.value.part == "added tokens"


def test_a_split_that_may_leave_out_the_first_space() -> None:
    from tokenizers import decoders, normalizers, pre_tokenizers

    sign = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    back = [
        decoders.Replace("\u2581", " "),
        decoders.ByteFallback(),
        decoders.Fuse(),
        decoders.Strip(" ", 1, 0),
    ]
    tokenizer = _changed(sign, pre_tokenizers.Split("a", "removed", invert=True), decoders.Sequence(back))
    assert tokenizer.encode("a").tokens == ["a"]
    with pytest.raises(tk.UnsupportedTokenizerError, match="leave out the space") as caught:
        tk.literal("a").compile(tk.Vocabulary.load(tokenizer, stop=()), tokenization="canonical")
    assert caught.value.part == "pre-tokenizer"
