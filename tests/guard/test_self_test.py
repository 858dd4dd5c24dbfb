"""The self-test: honest tokenizers pass it, and each injected fault is found and named."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tiktoken
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
from transformers import PreTrainedTokenizerFast

import tokamata as tk
from tests.support.models.small_models import MERGES, SPECIAL, small_model, small_tokenizer
from tests.support.texts import all_texts
from tests.support.tokenizers.canonical_tokenizers import SOURCES, Source
from tests.support.tokenizers.random_tokenizers import ALPHABETS, JSON_ALPHABETS, random_tokenizer
from tests.support.tokenizers.real_tokenizers import package_file
from tests.support.tokenizers.spelled import spelled
from tokamata.decoding.hosts import vocabulary_of
from tokamata.guard.self_test import plan, self_test
from tokamata.guard.token_edges import TokenEdges
from tokamata.tokenization import self_test as tests
from tokamata.tokenization.adversarial_texts import adversarial_texts
from tokamata.tokenization.running import RunningTokenizer
from tokamata.tokenization.unicode_set import CATEGORIES, adversaries

ANYTHING = tk.regex("(?s:.*)")


@pytest.fixture(autouse=True)
def folder(cache: Path) -> Path:
    """Where passed tests are kept; nothing of another test is."""
    return cache / "tokamata-derived" / "self-tests"


# ---- tokenizers that pass ----


# One of each package and model; fuzz/real_tokenizers.py tests all of them.
FEW = ("bert", "gpt2", "llama-2", "mistral-sp", "tekken")


@pytest.mark.parametrize("source", [source for source in SOURCES if source.name in FEW], ids=str)
def test_real_tokenizers_pass(source: Source) -> None:
    vocabulary = source.judged().vocabulary
    live = vocabulary.pipeline and vocabulary.pipeline.program()
    outcome = self_test(live or package_file(source.package, source.file, source.document), vocabulary)
    assert outcome.mismatch is None
    assert outcome
    assert outcome.texts > 2000
    assert outcome.tokens > 8000


def test_a_large_tokenizer_passes(qwen: Tokenizer) -> None:
    assert self_test(qwen, TokenEdges.of(qwen).vocabulary)


@pytest.mark.parametrize("seed", range(900, 903))
def test_random_tokenizers_pass(seed: int) -> None:
    for alphabets in (ALPHABETS, JSON_ALPHABETS):
        tokenizer, _ = random_tokenizer(seed, alphabets)
        outcome = self_test(tokenizer)
        assert outcome.mismatch is None, (seed, outcome.mismatch)


@pytest.mark.parametrize("seed", [5, 6])
def test_a_tokenizer_without_a_token_for_the_sign_of_spaces(seed: int) -> None:
    """It writes the bytes of ``▁``, which come back as ``▁``: texts with it are canonical, or (6) none is."""
    tokenizer, _ = random_tokenizer(seed, JSON_ALPHABETS)
    assert tokenizer.token_to_id("▁") is None
    assert self_test(tokenizer).mismatch is None
    ids = tokenizer.encode("▁a").ids
    again = tokenizer.encode(tokenizer.decode(ids)).ids
    constraint = tk.literal(tokenizer.decode(ids))
    vocabulary = tk.Vocabulary.load(tokenizer, stop=())
    if again == ids:
        assert constraint.compile(vocabulary, tokenization="canonical").matcher().forced_tokens() == ids
    else:
        with pytest.raises(tk.NoncanonicalError):
            constraint.compile(vocabulary, tokenization="canonical").matcher()


def test_the_texts_depend_on_the_vocabulary_and_the_seed_alone() -> None:
    tokens = tk.Vocabulary.load(small_tokenizer()).tokens
    names = {1: "<eos>", 2: "\ud800", 3: "x" * 5000}
    first, second = (adversarial_texts(tokens, names, 3, 200) for _ in range(2))
    assert first == second != adversarial_texts(tokens, names, 4, 200)
    assert len(set(first)) == len(first) > 250
    assert max(map(len, first)) < 400
    assert all(text.encode() for text in first)
    for few in ([], [None], [b"\xff"], [b"a"]):
        assert len(adversarial_texts(few, {}, 3, 100)) > 100


def test_each_entry_of_the_unicode_set_is_tested() -> None:
    """By letters and digits, and before, after and within a name or a structural text."""
    names = {256: "<|start|>", 257: "<eos>"}
    texts = adversarial_texts([bytes([byte]) for byte in range(256)], names, 7, 0)
    entries = [one.text for one in adversaries() if one.text is not None]
    assert len(entries) > 200
    boundaries = [*names.values(), "<|im_end|>", '":', "</think>", "::=", "[/INST]", "\n\n"]
    used = set()
    for entry in entries:
        assert any(f"a{entry}b" in text and f"1{entry}2{entry}" in text for text in texts), ascii(entry)
        by = [
            boundary
            for boundary in boundaries
            for middle in (len(boundary) // 2,)
            if f"{entry}{boundary}{entry}{boundary[:middle]}{entry}{boundary[middle:]}" in texts
        ]
        assert by, ascii(entry)
        used.update(by)
    assert used == set(boundaries)


# ---- injected faults ----


class Random(PreTrainedTokenizerFast):  # type: ignore[misc]
    """Breaks a tie at random: two backends differ in the order of two merges."""

    draw = random.Random(5)
    other: Any = None

    def __call__(self, text: str, **settings: Any) -> Any:
        if self.draw.random() < 0.5:
            return {"input_ids": self.other.encode(text, add_special_tokens=False).ids}
        return super().__call__(text, **settings)


def with_merges(merges: list[tuple[str, str]], **options: Any) -> models.BPE:
    """The model of the small tokenizer, with other merges of the same tokens."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    pieces = [*SPECIAL, *alphabet, *("".join(merge.split()) for merge in MERGES), "ðŁ"]
    return models.BPE(vocab={piece: token for token, piece in enumerate(pieces)}, merges=merges, **options)


PAIRS: list[tuple[str, str]] = [*(tuple(merge.split()) for merge in MERGES), ("ð", "Ł")]  # type: ignore[list-item]


def swapped(first: int, second: int) -> list[tuple[str, str]]:
    pairs = list(PAIRS)
    pairs[first], pairs[second] = pairs[second], pairs[first]
    return pairs


def set_model(merges: list[tuple[str, str]]) -> Callable[[Any], None]:
    return lambda tokenizer: setattr(tokenizer.backend_tokenizer, "model", with_merges(merges))


def set_normalizer(normalizer: Any) -> Callable[[Any], None]:
    return lambda tokenizer: setattr(tokenizer.backend_tokenizer, "normalizer", normalizer)


def set_dropout(tokenizer: Any) -> None:
    tokenizer.backend_tokenizer.model.dropout = 0.5


CONTROLS = Regex("[\\x00-\\x08\\x0e-\\x1f\u200d]")
FAULTS: dict[str, tuple[Callable[[Any], None], str]] = {
    # "twone" is tw, one: o n comes before tw o.
    "two merges swapped": (set_model(swapped(7, 10)), "cuts the text into other tokens"),
    "a merge is gone": (set_model(PAIRS[:4] + PAIRS[5:]), "cuts the text into other tokens"),
    "the last merge is gone": (set_model(PAIRS[:-1]), "cuts the text into other tokens"),
    "lower case": (set_normalizer(normalizers.Lowercase()), "changes the text to"),
    "NFKC": (set_normalizer(normalizers.NFKC()), "changes the text to"),
    "NFC": (set_normalizer(normalizers.NFC()), "changes the text to"),
    "a filter of controls": (set_normalizer(normalizers.Replace(CONTROLS, "")), "changes the text to"),
    "an added token": (lambda each: each.add_tokens(["1 "]), "which the vocabulary of 272 tokens lacks"),
    "a special token": (
        lambda each: each.add_tokens([AddedToken(" \n", special=True)], special_tokens=True),
        "which the vocabulary of 272 tokens lacks",
    ),
    "BPE dropout": (set_dropout, "not deterministic"),
    "another pre-tokenizer": (
        lambda each: setattr(
            each.backend_tokenizer, "pre_tokenizer", pre_tokenizers.ByteLevel(add_prefix_space=True)
        ),
        "changes the text to",
    ),
    "names of control tokens as text": (
        lambda each: setattr(each.backend_tokenizer, "encode_special_tokens", True),
        "cuts the text into other tokens",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_found_and_named(fault: str) -> None:
    """The vocabulary was loaded and compiled before."""
    change, reason = FAULTS[fault]
    tokenizer = small_tokenizer()
    vocabulary = tk.Vocabulary.load(tokenizer)
    ANYTHING.compile(vocabulary, tokenization="canonical")
    change(tokenizer)
    outcome = self_test(tokenizer, vocabulary)
    mismatch = outcome.mismatch
    assert mismatch is not None
    assert not outcome
    assert reason in mismatch.reason
    assert mismatch.program.startswith("transformers")
    assert mismatch.program in str(mismatch)
    assert_true(mismatch, tokenizer, is_random=fault == "BPE dropout")
    with pytest.raises(tk.TokenizerMismatchError):
        ANYTHING.compile(vocabulary, tokenization="canonical")
    ANYTHING.compile(vocabulary)
    with pytest.raises(tk.TokenizerMismatchError):
        plan(tokenizer, vocabulary)


@pytest.mark.parametrize("category", [name for name in CATEGORIES if name != "no UTF-8"])
def test_a_filter_of_one_entry_of_the_unicode_set_is_found(category: str) -> None:
    entries = [one.text for one in adversaries() if one.category == category and one.text is not None]
    entry = random.Random(category).choice(entries)
    honest, filtering = small_tokenizer(), small_tokenizer()
    set_normalizer(normalizers.Replace(entry, ""))(filtering)
    mismatch = self_test(filtering, tk.Vocabulary.load(honest)).mismatch
    assert mismatch is not None, ascii(entry)
    assert entry in mismatch.text
    assert "changes the text to" in mismatch.reason


def assert_true(mismatch: tk.TokenizerMismatchError, tokenizer: Any, is_random: bool = False) -> None:
    """What the error says is so: the program writes these tokens, the former one wrote the others."""
    theirs, ours = mismatch.theirs, mismatch.ours
    assert theirs is not None
    assert ours != theirs
    assert is_random or list(theirs) == RunningTokenizer(tokenizer).encode(mismatch.text)
    if ours is not None:
        assert list(ours) == RunningTokenizer(small_tokenizer()).encode(mismatch.text)
        place = mismatch.position
        assert place is not None
        assert ours[:place] == theirs[:place]
        assert ours[place : place + 1] != theirs[place : place + 1]


def test_random_ties() -> None:
    tokenizer = Random(tokenizer_object=small_tokenizer().backend_tokenizer)
    other = small_tokenizer().backend_tokenizer
    other.model = with_merges(swapped(7, 10))
    Random.other = other
    mismatch = self_test(tokenizer).mismatch
    assert mismatch is not None
    assert "not deterministic" in mismatch.reason
    with pytest.raises(tk.TokenizerMismatchError):
        ANYTHING.compile(tk.Vocabulary.load(tokenizer, stop=()), tokenization="canonical")


@pytest.mark.parametrize("seed", range(12))
def test_other_merges_of_random_lists(seed: int) -> None:
    """Two neighbours in the list are swapped, or one merge is gone: found if texts of ten letters show it."""
    draw = random.Random(seed)
    letters = "abc"
    pieces, pairs = list(letters), []
    while len(pairs) < 12:
        left, right = draw.choice(pieces), draw.choice(pieces)
        if left + right not in pieces:
            pieces.append(left + right)
            pairs.append((left, right))
    pieces += sorted(set(pre_tokenizers.ByteLevel.alphabet()) - set(pieces))

    def made(merges: list[tuple[str, str]]) -> Tokenizer:
        vocab = {piece: token for token, piece in enumerate(pieces)}
        tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=merges))
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        tokenizer.decoder = decoders.ByteLevel()
        return tokenizer

    tokenizer = made(pairs)
    vocabulary = tk.Vocabulary.load(tokenizer, stop=())
    for _ in range(4):
        place = draw.randrange(len(pairs) - 1)
        others = [*pairs[:place], pairs[place + 1], pairs[place], *pairs[place + 2 :]]
        if draw.random() < 0.3:
            others = [*pairs[:place], *pairs[place + 1 :]]
        try:
            changed = made(others)
        except Exception:  # a merge of a merge that is gone
            continue
        texts = ["".join(draw.choices(letters, k=10)) for _ in range(400)]
        shown = [text for text in texts if changed.encode(text).ids != tokenizer.encode(text).ids]
        mismatch = self_test(changed, vocabulary).mismatch
        assert (mismatch is not None) or len(shown) < 4, (seed, place, shown[:3])
        if mismatch is not None:
            assert changed.encode(mismatch.text).ids != tokenizer.encode(mismatch.text).ids


class Faulty(tiktoken.Encoding):  # type: ignore[misc]
    """An encoding with a fault."""

    fault: Callable[[str, list[int]], Any] = staticmethod(lambda text, ids: ids)

    def encode(self, text: str, **settings: Any) -> Any:
        return type(self).fault(text, super().encode(text, **settings))


def faulty(fault: Callable[[str, list[int]], Any]) -> Faulty:
    kind: Any = type("Faulty", (Faulty,), {"fault": staticmethod(fault)})
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256, b"abc": 257, b" a": 258}
    return kind("x", pat_str=r"\p{L}+|\s+|[^\p{L}\s]+", mergeable_ranks=ranks, special_tokens={"<end>": 259})


def _raising(text: str, ids: list[int]) -> Any:
    if "\u200d" in text:
        raise RuntimeError("no joiners")
    return ids


class PanicException(BaseException):
    """What an error of Rust looks like."""


def _panicking(text: str, ids: list[int]) -> Any:
    if "\u200d" in text:
        raise PanicException("index out of bounds")
    return ids


ANSWERS: dict[str, tuple[Callable[[str, list[int]], Any], str]] = {
    "raises": (_raising, "RuntimeError: no joiners"),
    "panics": (_panicking, "PanicException: index out of bounds"),
    "ids out of range": (lambda text, ids: [*ids, 10**9] if "ab" in text else ids, "token 1000000000 at"),
    "negative ids": (lambda text, ids: [-1, *ids] if "ab" in text else ids, "token -1 at 0"),
    "huge ids": (lambda text, ids: [2**70] if "ab" in text else ids, "which the vocabulary"),
    "no ids": (lambda text, ids: ["a"] if "ab" in text else ids, "TypeError"),
    "nothing": (lambda text, ids: None, "TypeError"),
    "no tokens": (lambda text, ids: [] if "ab" in text else ids, "changes the text to ''"),
    "a control token": (
        lambda text, ids: [259, *ids] if "ab" in text else ids,
        "the control token <end> at 0",
    ),
    "joiners are left out": (
        lambda text, ids: [each for each in ids if each != 0xE2] if "\u200d" in text else ids,
        "changes the text to",
    ),
}


@pytest.mark.parametrize("fault", ANSWERS)
def test_answers_that_are_no_tokens_of_the_text(fault: str) -> None:
    answer, reason = ANSWERS[fault]
    encoding = faulty(answer)
    mismatch = self_test(encoding).mismatch
    assert mismatch is not None
    assert reason in mismatch.reason, mismatch.reason
    vocabulary = tk.Vocabulary.load(encoding, stop=())
    with pytest.raises(tk.TokenizerMismatchError):
        ANYTHING.compile(vocabulary, tokenization="canonical")
    assert self_test(faulty(lambda text, ids: ids))


def test_a_program_that_refuses_unknown_characters() -> None:
    """Unigram without ``unk_id`` writes no tokens for them, and neither do the tables."""
    vocab = {"▁": 0, "a": 1, "b": 2, "▁ab": 3}
    tokenizer = Tokenizer(models.Unigram([(text, -1.0 - number) for text, number in vocab.items()]))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    assert self_test(tokenizer)
    vocabulary = tk.Vocabulary.load(tokenizer, stop=())
    for text in all_texts("abc ", 3):
        if "c" in text:
            with pytest.raises(Exception, match="unk_id"):
                tokenizer.encode(text)
            assert spelled(vocabulary, text) is None
        else:
            tokens = tokenizer.encode(text).ids
            assert spelled(vocabulary, text) == (tuple(tokens) if tokenizer.decode(tokens) == text else None)
    with pytest.raises(tk.UnspellableError):
        tk.regex("ac").compile(vocabulary, tokenization="canonical")


def test_interrupts_are_not_caught() -> None:
    def interrupted(text: str, ids: list[int]) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        self_test(faulty(interrupted))


def test_a_tokenizer_that_changes_during_the_test() -> None:
    """To what agrees with each text that follows: only the state shows it."""
    tokenizer = small_tokenizer()
    vocabulary = tk.Vocabulary.load(tokenizer)
    texts = iter(range(10**9))

    class Changing(RunningTokenizer):
        def encode(self, text: str) -> list[int]:
            if next(texts) == 500:
                tokenizer.add_tokens(["a token that no text of the test has"])
            return super().encode(text)

    mismatch = tests.self_test(vocabulary, Changing(tokenizer)).mismatch
    assert mismatch is not None
    assert "while it was tested" in mismatch.reason


# ---- when it runs ----


def test_generate_tests_its_tokenizer() -> None:
    """A change that shows itself: the vocabulary is loaded again, if no constraint was compiled for it."""
    tokenizer = small_tokenizer()
    model = small_model(len(tokenizer))
    constraint = tk.regex("[aA]b")
    compiled = constraint.compile(vocabulary_of(model, tokenizer), tokenization="canonical")
    for given in (constraint, compiled):
        assert tk.generate(model, tokenizer, "x", given, tokenization="canonical", seed=1).text
    tokenizer.backend_tokenizer.normalizer = normalizers.Lowercase()
    assert tk.generate(model, tokenizer, "x", constraint, tokenization="canonical", seed=1).text == "ab"
    with pytest.raises(tk.TokenizerMismatchError):
        tk.generate(model, tokenizer, "x", compiled, seed=1)


class Hidden(PreTrainedTokenizerFast):  # type: ignore[misc]
    """Its parts are what they were; a switch changes what it writes."""

    other: Any = None

    def __call__(self, text: Any, **settings: Any) -> Any:
        if self.other is not None:
            return {"input_ids": self.other.encode(text, add_special_tokens=False).ids}
        return super().__call__(text, **settings)


def test_a_change_that_only_the_texts_show() -> None:
    """Between two calls; the state is the same, so each call tests other texts until one shows it."""
    tokenizer = Hidden(tokenizer_object=small_tokenizer().backend_tokenizer, eos_token="<eos>")
    vocabulary = tk.Vocabulary.load(tokenizer)
    tests.check_running(vocabulary, tokenizer)
    tests.check_running(vocabulary, tokenizer)
    other = small_tokenizer().backend_tokenizer
    other.model = with_merges(swapped(7, 10))
    tokenizer.other = other

    def calls() -> None:
        for _ in range(60):
            tests.check_running(vocabulary, tokenizer)

    for _ in range(3):
        with pytest.raises(tk.TokenizerMismatchError, match="other tokens"):
            calls()


def test_a_change_stays_found(folder: Path) -> None:
    """A kept verdict is of what the tokenizer was; the text that showed the change is in the next tests."""
    backend = small_tokenizer().backend_tokenizer
    vocabulary = tk.Vocabulary.load(backend, stop=())
    tests.check_running(vocabulary, backend)
    assert len(list(folder.iterdir())) == 1
    tables = tests.keyed_tokenization(vocabulary)[0]
    facts = RunningTokenizer(backend).facts()
    with pytest.MonkeyPatch.context() as patch:
        # A change that no text of the whole test shows, and that cannot be noticed.
        original = RunningTokenizer.encode

        def encode(self: RunningTokenizer, text: str) -> list[int]:
            return [5] if text == "only this one" else original(self, text)

        patch.setattr(RunningTokenizer, "encode", encode)
        running = RunningTokenizer(backend)
        judge = tests._Judge(vocabulary, tables, running.program, running.encode)
        assert judge.first_mismatch(["only this one"]) is not None
        with patch.context() as drawn:
            drawn.setattr(tests, "drawn_texts", lambda *_: iter(["only this one"]))
            with pytest.raises(tk.TokenizerMismatchError):
                tests.check_running(vocabulary, backend)
        for _ in range(3):
            with pytest.raises(tk.TokenizerMismatchError):
                tests.check_running(vocabulary, backend)
        with pytest.raises(tk.TokenizerMismatchError):
            ANYTHING.compile(vocabulary, tokenization="canonical")
    assert RunningTokenizer(backend).facts() == facts
    tests.check_running(vocabulary, backend)


def test_generate_refuses_what_only_the_texts_show() -> None:
    """What the methods of a class do is in no definition: the vocabulary, loaded again, is the same."""
    tokenizer = Hidden(tokenizer_object=small_tokenizer().backend_tokenizer, eos_token="<eos>")
    model = small_model(len(tokenizer))
    constraint = tk.regex("twone")
    assert tk.generate(model, tokenizer, [5], constraint, tokenization="canonical").text == "twone"
    tokenizer.other = small_tokenizer().backend_tokenizer
    tokenizer.other.normalizer = normalizers.Lowercase()

    def calls() -> None:
        for _ in range(20):
            tk.generate(model, tokenizer, [5], constraint, tokenization="canonical")

    with pytest.raises(tk.TokenizerMismatchError, match="changes the text"):
        calls()
    assert tk.generate(model, tokenizer, [5], constraint).text == "twone"


def test_generate_follows_another_model_of_the_same_size() -> None:
    """Of more tokens than are read as a whole: all pairs of seventy letters, in either order."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    letters = [letter for letter in alphabet if letter.isascii()][:70]
    pairs = [(first, second) for first in letters for second in letters]
    vocab = {piece: token for token, piece in enumerate(["<eos>", *alphabet, *(a + b for a, b in pairs)])}
    backend = Tokenizer(models.BPE(vocab=vocab, merges=pairs))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    backend.decoder = decoders.ByteLevel()
    backend.add_special_tokens(["<eos>"])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="<eos>")
    model = small_model(len(tokenizer), eos=0)
    first = vocabulary_of(model, tokenizer)
    constraint = tk.regex("@AB")

    def written() -> list[int]:
        line_end = [vocab["Ċ"]]
        return list(tk.generate(model, tokenizer, line_end, constraint, tokenization="canonical").tokens)

    def read() -> list[int]:
        return list(tokenizer("@AB", add_special_tokens=False)["input_ids"])

    assert written() == read() == [vocab["@A"], vocab["B"]]
    tokenizer.backend_tokenizer.model = models.BPE(vocab=vocab, merges=pairs[::-1])
    assert vocabulary_of(model, tokenizer) is first  # nothing that is read in a millisecond has changed
    assert read() == [vocab["@"], vocab["AB"]]
    assert written() == read()
    assert vocabulary_of(model, tokenizer) is not first


def test_a_file_against_a_live_tokenizer(tmp_path: Path) -> None:
    """A constraint that was compiled for a file, and a tokenizer that differs from it in one merge."""
    tokenizer = small_tokenizer()
    file = tmp_path / "tokenizer.json"
    tokenizer.backend_tokenizer.save(str(file))
    vocabulary = tk.Vocabulary.load(file, stop="<eos>")
    assert self_test(file)
    assert self_test(tokenizer, vocabulary)
    compiled = tk.regex("twone").compile(vocabulary, tokenization="canonical")
    model = small_model(len(tokenizer))
    assert tk.generate(model, tokenizer, "x", compiled).text == "twone"
    tokenizer.backend_tokenizer.model = with_merges(swapped(7, 10))
    with pytest.raises(tk.TokenizerMismatchError):
        tk.generate(model, tokenizer, "x", compiled)


def test_what_needs_no_test(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Other constraints, lists of tokens, files: no program runs."""

    def refused(*_: Any) -> Any:
        raise AssertionError("a program was run")

    monkeypatch.setattr(tests, "self_test", refused)
    tokenizer = small_tokenizer()
    file = tmp_path / "tokenizer.json"
    tokenizer.backend_tokenizer.save(str(file))
    ANYTHING.compile(tk.Vocabulary.load(tokenizer))
    ANYTHING.compile(tk.Vocabulary.load([b"a", None], stop=1))
    ANYTHING.compile(tk.Vocabulary.load(file, stop=()), tokenization="canonical")
    with pytest.raises(AssertionError, match="a program was run"):
        ANYTHING.compile(tk.Vocabulary.load(tokenizer), tokenization="canonical")


def test_a_tokenizer_is_not_kept_alive() -> None:
    import gc
    import weakref

    tokenizer = small_tokenizer()
    model = small_model(len(tokenizer))
    vocabulary = vocabulary_of(model, tokenizer)
    tests.check_running(vocabulary, tokenizer)
    gone = weakref.ref(tokenizer)
    del tokenizer
    gc.collect()
    assert gone() is None
    ANYTHING.compile(vocabulary, tokenization="canonical")


# ---- policies ----


def test_policies() -> None:
    tokenizer = small_tokenizer()
    vocabulary = tk.Vocabulary.load(tokenizer)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert plan(tokenizer, on_mismatch="any").tokenization == "canonical"
        assert plan(tokenizer, vocabulary, on_mismatch="bytes", protected=['"']).spans is None
    tokenizer.backend_tokenizer.normalizer = normalizers.Lowercase()
    with pytest.raises(tk.TokenizerMismatchError):
        plan(tokenizer, vocabulary)
    with pytest.warns(tk.TokenizerMismatchWarning, match="all tokens that spell a text are admitted"):
        chosen = plan(tokenizer, vocabulary, on_mismatch="any")
    assert chosen.tokenization == "any"
    assert chosen.spans is None
    assert chosen.mismatch is not None
    with pytest.warns(tk.TokenizerMismatchWarning, match="single bytes"):
        chosen = plan(tokenizer, vocabulary, on_mismatch="bytes", protected=["abc"])
    assert chosen.tokenization == "any"
    assert chosen.spans is not None
    assert len(chosen.spans.single_bytes("abc")) == 3
    assert plan(tokenizer).tokenization == "canonical"  # the vocabulary of what it is now


def test_wrong_arguments() -> None:
    tokenizer = small_tokenizer()
    for wrong in (
        {"on_mismatch": "ignore"},
        {"on_mismatch": "bytes"},
        {"on_mismatch": "bytes", "protected": [""]},
    ):
        with pytest.raises(tk.ArgumentError):
            plan(tokenizer, **wrong)  # type: ignore[arg-type]
    for source in ([b"a"], "tokenizer.json", None):
        with pytest.raises(tk.ArgumentError, match="a live tokenizer"):
            plan(source)
    with pytest.raises(tk.UnsupportedTokenizerError):
        self_test(Tokenizer(models.Unigram([("a", -1.0), ("<unk>", -2.0)], 1, False)))


def test_a_file_without_its_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tokamata.tokenization import running

    file = tmp_path / "tokenizer.json"
    small_tokenizer().backend_tokenizer.save(str(file))

    def missing(file: Path, content: bytes) -> Any:
        raise ImportError

    monkeypatch.setitem(running._LOADERS, "tokenizer.json", ("tokenizers", missing))
    outcome = self_test(file)
    assert not outcome
    assert outcome.mismatch is None
    assert outcome.texts == 0
    assert "no program to test with" in outcome.reason
    assert "tokamata[tokenizers]" in outcome.reason
