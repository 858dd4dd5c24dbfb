"""Manifests: of small tokenizers with known faults, of sources without a program, and of broken ones."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers

from tests.support.vocabularies import BYTES
from tokamata.errors import ArgumentError, MissingExtraError, VocabularyError
from tokamata.guard.manifest import Manifest, cheap_facts, differences, manifest
from tokamata.guard.manifests import normal_form
from tokamata.guard.manifests.chance import chance_facts
from tokamata.guard.manifests.controls import behaviors, control_facts
from tokamata.guard.manifests.merges import joined, merge_facts
from tokamata.guard.manifests.normal_form import FORMS, form_of, normal_form_facts, pairs
from tokamata.guard.manifests.spaces import space_facts
from tokamata.guard.manifests.subject import Subject
from tokamata.tokenization import encode_one_at_a_time, merge_list
from tokamata.tokenization.running import ProgramFailed, RunningTokenizer

LETTERS = sorted(pre_tokenizers.ByteLevel.alphabet())


def byte_level(merges: list[tuple[str, str]] | None = None, vocab: dict[str, int] | None = None) -> Tokenizer:
    vocab = vocab or {letter: token for token, letter in enumerate(LETTERS)}
    for left, right in merges or ():
        vocab.setdefault(left + right, len(vocab))
    made = Tokenizer(models.BPE(vocab=vocab, merges=merges or []))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.decoder = decoders.ByteLevel()
    return made


@pytest.fixture(scope="module")
def measured() -> Manifest:
    made = byte_level([("a", "b"), ("ab", "c"), ("Ã", "©")])
    made.add_special_tokens([AddedToken("<|im_end|>", special=True, normalized=False)])
    made.normalizer = normalizers.NFC()
    return manifest(made)


def test_a_whole_manifest(measured: Manifest) -> None:
    facts = measured.facts
    assert facts["family"].value == "tokenizer.json"
    assert facts["model"].value == "BPE"
    assert facts["normal_form"].value == facts["normal_form"].stated == "NFC"
    assert facts["merges"].value == {"count": 3, "proper": True}
    assert facts["greedy"].value is True
    assert facts["filtered"].value["count"] == facts["unknown"].value["count"] == 0
    assert facts["round_trip"].value is False
    assert facts["round_trip"].witness is not None
    assert len(facts["round_trip"].witness.text.decode()) == 1
    assert facts["rare_points"].value == {"written_as": ["bytes"], "single_bytes": 256}
    assert facts["byte_fallback"].value is facts["byte_fallback"].stated is False
    assert facts["unsettled_tokens"].value["count"] == 0
    assert {name: fact.value for name, fact in measured.assumptions.items()} == {
        **dict.fromkeys(("i", "ii", "iii", "iv", "vi", "vii"), True),
        "v": False,
        "viii": None,
    }
    assert measured.contradictions == []
    assert set(measured.versions) == {"tokamata", "tokenizers", "unicodedata"}
    assert measured.digest is not None


def test_json_is_stable_and_ascii(measured: Manifest) -> None:
    text = measured.to_json()
    assert text.isascii()
    value = json.loads(text)
    assert value == measured.to_value()
    assert list(value) == ["format", "digest", "versions", "assumptions", "facts"]
    assert list(value["facts"]) == sorted(value["facts"])
    assert all(fact["how"] for fact in [*value["facts"].values(), *value["assumptions"].values()])
    outside = json.dumps({**value, "versions": {}})
    assert sys.prefix not in outside
    assert str(Path.cwd()) not in outside


def test_differences(measured: Manifest) -> None:
    assert differences(measured, json.loads(measured.to_json())) == []
    value = json.loads(measured.to_json())
    value["facts"]["greedy"]["value"] = False
    del value["facts"]["unknown"]
    assert differences(measured, value) == [
        "facts.greedy.value: true and false",
        "facts.unknown: only in the first",
    ]
    wrong: Any = {"a": 1}
    with pytest.raises(ArgumentError, match="second must be a Manifest"):
        differences(measured, wrong)


# ---- single facts -----------------------------------------------------------------------------


@pytest.fixture
def few_points(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A thousand code points instead of all, two of them newer than the program's tables."""
    ranges = ((0x20, 0x390), (0xE80, 0xF00), (0x1AB0, 0x1B00), (0x1DC0, 0x1E00), (0x2A60, 0x2A80))
    points = [point for begin, end in (*ranges, (0xAC00, 0xAC20)) for point in range(begin, end)]
    monkeypatch.setattr("tokamata.guard.manifests.normal_form.sampled_points", lambda: points)
    pairs.cache_clear()
    yield
    pairs.cache_clear()


@pytest.mark.parametrize(
    ("name", "form"),
    [("NFC", "NFC"), ("NFD", "NFD"), ("NFKC", "NFKC"), ("NFKD", "NFKD"), ("Nmt", "other")],
)
@pytest.mark.usefixtures("few_points")
def test_normal_forms_are_told_apart(name: str, form: str) -> None:
    made = byte_level()
    made.normalizer = getattr(normalizers, name)()
    facts = normal_form_facts(Subject(made))
    assert facts["normal_form"].value == form
    assert facts["normal_form"].stated == (name if form != "other" else None)
    assert facts["normalized_points"].value["count"] > 0


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.usefixtures("few_points")
def test_inert_points_are_complete(form: Any) -> None:
    """Random texts: the program's form is Python's if these code points are private ones."""
    normalize = getattr(normalizers, form)().normalize_str
    points = [
        p for p in normal_form.sampled_points() if unicodedata.category(chr(p)) not in ("Cn", "Cs", "Co")
    ]
    texts = [*map(chr, points), *pairs()]
    found, inert, _ = form_of(texts, [normalize(f"1{text}1")[1:-1] for text in texts])
    assert found == form
    late = "a\u0345\u0eba"  # the second mark is of Unicode 12, and of a lower class
    assert ("\u0eba" in inert) == (normalize(late) == late)
    marks = [point for point in points if unicodedata.combining(chr(point))]
    hidden = {ord(letter): 0xF0000 + number for number, letter in enumerate(inert)}
    shown = {private: point for point, private in hidden.items()}
    draw = random.Random(f"inert {form}")
    for _ in range(3000):
        letters = [draw.choice(draw.choice((points, marks, marks))) for _ in range(draw.randrange(1, 8))]
        text = "".join(map(chr, letters))
        expected = unicodedata.normalize(form, text.translate(hidden)).translate(shown)
        assert normalize(text) == expected, ascii(text)


@pytest.mark.usefixtures("few_points")
def test_a_normalizer_that_is_almost_nfc() -> None:
    """One code point apart, and inert nowhere: another normalizer."""
    made = byte_level()
    made.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Replace("é", "e")])
    facts = normal_form_facts(Subject(made))
    assert facts["normal_form"].value == "other"
    assert facts["inert_points"].value["count"] == 0
    assert 0 < facts["form_differences"].value["NFC"] < 100


@pytest.mark.parametrize("seed", range(20))
def test_the_plain_encoder_is_the_oracle_of_the_papers(seed: int) -> None:
    draw = random.Random(seed)
    vocabulary = [b"a", b"b", b"c"]
    pairs: list[tuple[bytes, bytes]] = []
    for _ in range(8):
        pair = draw.choice(vocabulary), draw.choice(vocabulary)
        if pair not in pairs and len(b"".join(pair)) <= 6:
            pairs.append(pair)
            vocabulary += [b"".join(pair)] * (b"".join(pair) not in vocabulary)
    draw.shuffle(pairs)
    merges = merge_list(pairs, vocabulary)
    ranks = {(merge.left, merge.right): (rank, merge.token) for rank, merge in reversed([*enumerate(merges)])}
    for _ in range(50):
        units = [draw.randrange(3) for _ in range(draw.randrange(1, 9))]
        assert joined(units, lambda left, right: ranks.get((left, right))) == encode_one_at_a_time(
            merges, units
        )


def test_improper_and_repeated_merges() -> None:
    improper = byte_level(
        [("a", "b"), ("c", "d")], {**{x: i for i, x in enumerate(LETTERS)}, "ab": 256, "abc": 257}
    )
    document = json.loads(improper.to_str())
    document["model"]["merges"] = [["ab", "c"], ["a", "b"]]
    facts = merge_facts(Subject(Tokenizer.from_str(json.dumps(document))))
    assert facts["merges"].value["proper"] is False
    assert facts["merges"].value["first_improper"] == {
        "merge": 0,
        "left": "ab",
        "right": "c",
        "part": "ab",
        "made_by": 1,
    }
    assert facts["greedy"].value is True


def test_prefix_spaces() -> None:
    made = byte_level()
    assert space_facts(Subject(made))["add_prefix_space"].value == "never"
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True, use_regex=False)
    found = space_facts(Subject(made))["add_prefix_space"]
    assert found.value == found.stated == "missing"


@pytest.mark.parametrize("named", [256, 200])
def test_byte_fallback_is_measured(named: int) -> None:
    """A file that states it, but lacks the tokens for some bytes, writes its unknown token."""
    vocab = {"<unk>": 0, "a": 1, **{f"<0x{byte:02X}>": byte + 2 for byte in range(named)}}
    made = Tokenizer(models.BPE(vocab=vocab, merges=[], unk_token="<unk>", byte_fallback=True))
    made.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Fuse()])
    facts = cheap_facts(Subject(made))
    assert facts["byte_fallback"].stated is True
    assert facts["byte_fallback"].differs == (named < 256)
    assert facts["rare_points"].value["written_as"] == ["bytes" if named == 256 else "unknown token"]


def test_control_tokens_by_their_behavior() -> None:
    made = byte_level()
    made.add_special_tokens([AddedToken("<|a|>", special=True), AddedToken("<b>", rstrip=True, special=True)])
    made.add_tokens([AddedToken("<c>", special=False), AddedToken("word", single_word=True)])
    subject = Subject(made)
    assert subject.program is not None
    found = {
        one.name: found
        for one, found in zip(
            subject.control_tokens, behaviors(subject.program, subject.control_tokens).values(), strict=True
        )
    }
    assert found["<|a|>"] == (True, True, (), False)
    assert found["<b>"] == (True, True, ("right",), False)
    assert found["<c>"] == (True, True, (), True)  # it is text, so the mode of ordinary text keeps it
    assert found["word"] == (True, False, (), False)
    value = control_facts(subject)["control_behavior"].value
    assert [group["tokens"]["count"] for group in value] == [1, 1, 1, 1]


def test_names_that_overlap() -> None:
    made = byte_level()
    made.add_special_tokens(["<a>", "<a><b>", "xyz", "zxy"])
    found = control_facts(Subject(made))["overlapping"]
    assert found.value == {"within": 1, "crossing": 2}  # xy z xy, zxy z, and <a> in <a><b>
    assert found.witness is not None
    assert found.witness.text == b"<a><b>"


def test_settings_that_are_random() -> None:
    sentencepiece = pytest.importorskip("sentencepiece", reason="sentencepiece is an extra")
    from tests.support.tokenizers.real_tokenizers import package_file

    path = str(package_file("mistral_common", "data/tokenizer.model.v1"))
    settings = {"enable_sampling": True, "alpha": 0.3, "nbest_size": -1}
    facts = chance_facts(Subject(sentencepiece.SentencePieceProcessor(model_file=path, **settings)))
    assert facts["stochastic_settings"].value == settings
    assert facts["stochastic"].value is True
    facts = chance_facts(Subject(sentencepiece.SentencePieceProcessor(model_file=path)))
    assert (facts["stochastic_settings"].value, facts["stochastic"].value) == ({}, False)


def test_flags_of_transformers_that_do_nothing() -> None:
    """transformers 5 takes ``clean_up_tokenization_spaces=True`` for BPE, and ignores it."""
    transformers = pytest.importorskip("transformers", reason="transformers is an extra")
    for flag in (False, True):
        given = transformers.PreTrainedTokenizerFast(
            tokenizer_object=byte_level(),
            eos_token="<end>",
            clean_up_tokenization_spaces=flag,
            split_special_tokens=flag,
        )
        facts = cheap_facts(Subject(given))
        found = facts["clean_up_tokenization_spaces"]
        cleaned = given.decode(given.encode("a , b", add_special_tokens=False)) == "a, b"
        assert (found.value, found.stated, found.differs) == (cleaned, flag, cleaned != flag)
        found = facts["split_special_tokens"]
        assert (found.value, found.stated) == (flag, flag)
        assert given.backend_tokenizer.encode_special_tokens is flag


# ---- sources without a program, and broken ones -------------------------------------------------


def test_a_list_of_bytes_has_no_program() -> None:
    found = manifest([*BYTES, None])
    assert found.digest is None
    assert all(fact.value is None for fact in found.assumptions.values())
    assert found.facts["normal_form"].how.startswith("not measured: a list has no program")
    assert found.facts["partial_tokens"].value["count"] == 128
    assert found.facts["tokens"].value["ids"] == len(BYTES) + 1


def test_a_file_of_ranks_has_no_regex(tmp_path: Path) -> None:
    path = tmp_path / "ranks.tiktoken"
    path.write_bytes(b"".join(base64.b64encode(bytes([byte])) + b" %d\n" % byte for byte in range(256)))
    found = manifest(path)
    assert found.digest == hashlib.sha256(path.read_bytes()).hexdigest()
    assert found.facts["normal_form"].value is None
    assert "pass the object that encodes" in found.facts["normal_form"].how
    assert found.facts["tokens"].value["of_text"] == 256


def test_a_package_that_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "tokenizer.json"
    byte_level([("a", "b")]).save(str(path))
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(MissingExtraError):
        RunningTokenizer(path)
    found = manifest(path)
    assert found.facts["normal_form"].how == "not measured: the package 'tokenizers' is not installed"
    assert found.facts["merges"].value == {"count": 1, "proper": True}  # the file has them
    assert found.digest is not None


@pytest.mark.parametrize("kept", [0.02, 0.5, 0.98])
def test_files_that_are_cut_off(tmp_path: Path, kept: float) -> None:
    path = tmp_path / "tokenizer.json"
    text = byte_level([("a", "b")]).to_str()
    path.write_text(text[: int(len(text) * kept)])
    with pytest.raises(VocabularyError):
        manifest(path)


def test_programs_that_raise() -> None:
    """A model without a token for unknown words raises a bare ``Exception``."""
    made = Tokenizer(models.WordLevel({"a": 0, "b": 1}, unk_token="missing"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    program = RunningTokenizer(made)
    assert program.encode("a b") == [0, 1]
    with pytest.raises(
        ProgramFailed, match=r"tokenizers .* fails on 'c': Exception: WordLevel error"
    ) as caught:
        program.encode("c")
    assert (caught.value.program, caught.value.given) == (program.program, "'c'")
    found = manifest(made)
    assert found.facts["stochastic"].value is None
    assert found.facts["stochastic"].how.startswith("not measured: tokenizers ")
    assert found.facts["filtered"].value is None
    assert found.facts["normal_form"].value == "none"  # the normalizer raises nothing
    assert {name: fact.value for name, fact in found.assumptions.items()} == {
        **dict.fromkeys(("i", "ii", "iii", "iv", "vi", "vii", "viii")),
        "v": True,
    }


def test_panics_are_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    class PanicException(BaseException):
        pass

    def panic(self: Any, text: Any) -> Any:
        raise PanicException("index out of range")

    program = RunningTokenizer(byte_level())
    monkeypatch.setattr(type(program._adapter), "encode", panic)
    monkeypatch.setattr(type(program._adapter), "encode_many", panic)
    with pytest.raises(ProgramFailed, match="PanicException: index out of range"):
        program.encode("a")
    with pytest.raises(ProgramFailed, match="one of 2 texts from 'a': PanicException"):
        program.encode_many(["a", "b"])

    def stopped(self: Any, text: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(type(program._adapter), "encode", stopped)
    with pytest.raises(KeyboardInterrupt):
        program.encode("a")


def test_control_tokens_without_a_name(tmp_path: Path) -> None:
    document = json.loads(byte_level().to_str())
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    document["added_tokens"] = [{"id": 256, "content": "", "special": True, **flags}]
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(document))
    facts = cheap_facts(Subject(path))
    assert facts["empty_names"].value is not None
    assert facts["control_behavior"].value == []


def test_what_the_object_was_is_left_alone() -> None:
    made = byte_level()
    made.enable_truncation(3)
    made.enable_padding()
    before = made.to_str()
    facts = cheap_facts(Subject(made))
    assert facts["truncation"].value == 3
    assert made.to_str() == before
    assert len(made.encode("abcdef").ids) == 3
    assert made.encode_special_tokens is False


def test_very_many_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tokamata.guard.manifests.controls._MOST_COMPARED", 20)
    made = byte_level()
    made.add_special_tokens(["<a>", "<b>", "<c>"])
    assert control_facts(Subject(made))["overlapping"].how == "2 names; 1 others are too long or too many"


def test_names_that_nobody_expects() -> None:
    """Names of 100,000 characters, names that a normalizer makes equal, and names within names."""
    made = byte_level()
    made.normalizer = normalizers.Lowercase()
    made.add_tokens([AddedToken(name, normalized=True) for name in ("AB", "ab", "aB", "abab", "ba")])
    made.add_special_tokens(["x" * 100_000, "y" * 300])
    facts = control_facts(Subject(made))
    assert facts["control_tokens"].value["count"] == 7
    assert facts["overlapping"].how == "5 names; 2 others are too long or too many"
    assert len(json.dumps([fact.to_json() for fact in facts.values()])) < 5000
