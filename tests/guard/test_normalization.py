"""Claims about normalizers, for all texts: proofs survive, witnesses are real and the shortest.

The judges are ``unicodedata`` and the package `tokenizers`, on all texts of small alphabets.
"""

from __future__ import annotations

import json
import random
import re
import sys
import time
import unicodedata
from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any

import pytest

import tokamata as tk
from fuzz import fuzz_normalization
from tests.support.normal_form_judge import FORMS, HOSTILE, Form, attack, boundaries, judge
from tests.support.tokenizers.real_tokenizers import REAL, Real
from tokamata.errors import ArgumentError
from tokamata.guard import preimages, rewritings
from tokamata.guard.normalization import normalization
from tokamata.guard.rewritings import (
    Rewriting,
    rewriting_of,
    rewriting_of_form,
    rewriting_of_normalizer,
    rewriting_of_program,
)
from tokamata.guard.verdicts import Verdict
from tokamata.tokenization.pipelines.pipeline import Normalizer
from tokamata.tokenization.pipelines.tokenizer_json import (
    normalizer_from_tokenizer_json,
    program_of_normalizer,
)

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is an extra")


def text_of(verdict: Verdict) -> str | None:
    return verdict.witness.text.decode() if verdict.witness is not None else None


def outcomes(boundary: str | tuple[str, ...], rewriting: Rewriting) -> tuple[str | None, str | None]:
    """The witnesses of both claims, or ``None`` where they are proved."""
    found = normalization(boundary, rewriting)
    for verdict in found:
        assert verdict.outcome != "not settled", verdict
        assert bool(verdict) == (verdict.witness is None)
        assert verdict.claim
        assert verdict.witness is not None or verdict.reason
    return text_of(found.kept), text_of(found.not_made)


# ---- what the errata say -------------------------------------------------------------------------


def test_e9_canonical_composition_destroys_the_end_of_a_control_token() -> None:
    found = normalization("<|im_end|>", rewriting_of_form("NFC"))
    assert text_of(found.kept) == "<|im_end|>\u0338"
    assert found.kept.witness is not None
    assert found.kept.witness.position == 0
    assert "which does not have '<|im_end|>' there" in found.kept.witness.says
    assert found.not_made.outcome == "proved"


@pytest.mark.parametrize("point", "=<>")
def test_e9_structure_with_a_slash_is_another_character(point: str) -> None:
    assert outcomes(point, rewriting_of_form("NFC"))[0] == point + "\u0338"
    assert outcomes(point, rewriting_of_form("NFD"))[0] is None


def test_e9_compatibility_makes_structure_of_what_is_not_canonically_equivalent() -> None:
    assert outcomes("::=", rewriting_of_form("NFKC")) == ("::=\u0338", "\u2a74")
    assert outcomes("::=", rewriting_of_form("NFC")) == ("::=\u0338", None)


def test_e9_thirteen_code_points_make_a_comma() -> None:
    spellings = rewriting_of_form("NFKC").both
    assert spellings is not None
    assert len(spellings.containing[","]) == 13
    assert all("," in unicodedata.normalize("NFKC", point) for point in spellings.containing[","])
    assert outcomes(",", rewriting_of_form("NFKC")) == (None, "\ufe10")


# ---- cases -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "boundary", "kept", "made"),
    [
        ("NFC", ";", None, "\u037e"),  # a singleton
        ("NFC", "K", "K\u0301", "\u212a"),
        ("NFC", "\xe9", "\xe9\u0323", "e\u0301"),  # a lower mark goes first
        ("NFD", "\xe9", "\xe9", None),  # not in the form
        ("NFD", "e\u0301", "e\u0301\u0316", "\xe9"),
        ("NFC", "\uac01", None, "\uac00\u11a8"),  # Hangul by rule
        ("NFC", "\uac00", "\uac00\u11a8", "\u1100\u1161"),
        ("NFC", "\u1161", "\u1100\u1161", None),  # a vowel composes with what is before it
        ("NFC", "x\u0323", "x\u0323\u0307", "x\u0300\u0323"),  # another mark stands between
        ("NFD", "x\u0323\u0301", "x\u0323\u0301\u0316", "x\u0301\u0323"),  # order
        ("NFC", "\u0958", "\u0958", None),  # excluded from composition
        ("NFC", "\u0915\u093c", "\u0915\u093c\u0334", "\u0958"),
        ("NFKC", "fi", "fi\u0300", "\ufb01"),
        ("NFKC", "ab", "ab\u0307", "a\u1d47"),  # not \xaab
        ("NFC", "\u3008\u3008", None, "\u2329\u2329"),  # smaller than \u2329\u3008
        ("NFC", "\u0229", "\u0229\u0306", "e\u0327"),
    ],
)  # fmt: skip
def test_a_case(form: str, boundary: str, kept: str | None, made: str | None) -> None:
    assert outcomes(boundary, rewriting_of_form(form)) == (kept, made)


def test_several_texts_have_a_shortest_witness_of_any() -> None:
    nfkc = rewriting_of_form("NFKC")
    assert outcomes(("<|im_end|>", "|"), nfkc) == ("<|im_end|>\u0338", "\uff5c")
    assert outcomes(("[", "]"), rewriting_of_form("NFC")) == (None, None)
    assert normalization((), nfkc).kept


def test_a_proof_is_one_over_all_single_code_points() -> None:
    """Not only over those of an alphabet: the whole of Unicode, before, after, and alone."""
    nfkc = rewriting_of_form("NFKC")
    for boundary in ("[/INST]", "|", "\U0001f600", "\uac01"):
        assert outcomes(boundary, nfkc)[0] is None
        for point in map(chr, [*range(0xD800), *range(0xE000, 0x20000)]):
            own = unicodedata.normalize("NFKC", point)
            both = unicodedata.normalize("NFKC", f"{boundary}{point}{boundary}")
            assert both == boundary + own + boundary, ascii((boundary, point))


@pytest.mark.parametrize("form", FORMS)
def test_the_spellings_are_those_of_all_code_points(form: Form) -> None:
    spellings = rewriting_of_form(form).form
    assert spellings is not None
    decomposed: Form = "NFKD" if "K" in form else "NFD"
    text = [chr(point) for point in range(sys.maxunicode + 1) if not 0xD800 <= point < 0xE000]
    changed = {p: d for p in text if (d := unicodedata.normalize(decomposed, p)) != p}
    assert spellings.spelled == changed
    assert spellings.classes == {p: c for p in text if (c := unicodedata.combining(p)) and p not in changed}
    for point, spelling in changed.items():
        assert point in spellings.beginning[spelling[0]]
        assert all(point in spellings.containing[part] for part in spelling)
    assert all(points == sorted(points) for points in spellings.containing.values())
    assert all(points == sorted(points) for points in spellings.beginning.values())
    assert sum(map(len, spellings.beginning.values())) == len(changed)
    assert sum(map(len, spellings.containing.values())) == sum(len(set(d)) for d in changed.values())


def test_code_points_that_touch_their_neighbours_are_known() -> None:
    """No other code point is changed by what is before it, or by what is after it."""
    for form in FORMS:
        spellings = rewriting_of_form(form).form
        assert spellings is not None
        before, after = set(spellings.before), set(spellings.after)
        for left, right in product(HOSTILE, repeat=2):
            if not spellings.are_apart(left, right):
                assert left in before, (form, ascii(left + right))
                assert right in after, (form, ascii(left + right))


# ---- the judge -------------------------------------------------------------------------------------


def test_hostile_texts_of_all_forms() -> None:
    rng = random.Random(20261127)
    counted = [0, 0]
    for boundary in boundaries(rng, 120):
        for form in FORMS:
            found = judge(boundary, form, rng, 2_000)
            for index, verdict in enumerate(found):
                counted[index] += verdict.outcome == "proved"
            if found.not_made.outcome == "not settled":
                assert unicodedata.combining(unicodedata.normalize("NFKD", boundary)[0]), ascii(boundary)
    assert min(counted) > 60


def test_longer_texts_are_attacked() -> None:
    rng = random.Random(20261128)
    structure = [
        "<|im_end|>",
        "</s>",
        "x\u0323\u0301",
        ";K",
        "\u1100\u1161\u11a8",
        "\u0fb2\u0f71\u0f80",
        "fi",
    ]
    for _ in range(60):
        form = rng.choice(FORMS)
        parts = rng.choices(structure, k=rng.randint(1, 3))
        attack(unicodedata.normalize(form, "".join(parts) + rng.choice(HOSTILE)), form, rng, 300)


def test_fuzzing() -> None:
    tally = fuzz_normalization.run(seconds=1, seed=20261127, texts=2_000)
    assert tally.tried > 0


BREAKS: list[tuple[str, Callable[..., Any]]] = [
    ("tolerates", lambda self, after: True),
    ("separating", lambda self: []),
]


@pytest.mark.parametrize(("method", "wrong"), BREAKS, ids=[name for name, _ in BREAKS])
def test_the_judge_finds_a_broken_search(
    method: str, wrong: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preimages._Search, method, wrong)

    def judge_some() -> None:
        for form, boundary in product(FORMS, ("e", "\uac00", "<", "x\u0323")):
            found = judge(boundary, form, random.Random(1), 40_000)
            assert found.not_made.outcome != "not settled"

    with pytest.raises(AssertionError):
        judge_some()


# ---- vowel signs that compose with themselves, of Unicode 16 -----------------------------------------

# Two of VOWEL are PAIR, OTHER and VOWEL are ONE, and ONE and VOWEL are TWO.
OTHER, VOWEL, PAIR, ONE, TWO = "\U00016d63\U00016d67\U00016d68\U00016d69\U00016d6a"
KIRAT_RAI = {PAIR: VOWEL * 2, ONE: OTHER + VOWEL, TWO: OTHER + VOWEL * 2}


def kirat_rai_decomposed(text: str) -> str:
    return unicodedata.normalize("NFD", "".join(KIRAT_RAI.get(point, point) for point in text))


def kirat_rai(text: str) -> str:
    composed = {spelling: point for point, spelling in KIRAT_RAI.items()}
    text = unicodedata.normalize("NFC", kirat_rai_decomposed(text))
    text = "".join(KIRAT_RAI.get(point, point) for point in text)  # Python may know them or not
    longest_first = sorted(composed, key=len, reverse=True)
    return re.sub("|".join(longest_first), lambda match: composed[match[0]], text)


def test_vowel_signs_that_shift_their_neighbours_are_not_settled() -> None:
    spellings = rewritings._form_spellings(kirat_rai, kirat_rai_decomposed)
    rewriting = Rewriting("Unicode 16", kirat_rai, form=spellings, both=spellings)
    texts = [
        "".join(points)
        for n in (1, 2, 3, 4)
        for points in product(f"{OTHER}{VOWEL}{PAIR}{ONE}{TWO}z", repeat=n)
    ]
    results = [(text, kirat_rai(text)) for text in texts]
    shifted = VOWEL + PAIR + "z"
    assert kirat_rai(shifted) == PAIR + VOWEL + "z"
    assert normalization(VOWEL + "z", rewriting).not_made.outcome == "not settled"
    for boundary in texts[:258]:
        found = normalization(boundary, rewriting)
        made = [text for text, result in results if boundary in result and boundary not in text]
        if found.not_made:
            assert not made, (ascii(boundary), ascii(made[0]))
        elif found.not_made.witness is not None:
            shortest = min(made, key=lambda text: (len(text), text))
            assert text_of(found.not_made) == shortest, (ascii(boundary), ascii(shortest))
        if found.kept:
            for left, right in product(["", *texts[:6], VOWEL + PAIR, OTHER + PAIR], repeat=2):
                apart = kirat_rai(left) + boundary + kirat_rai(right)
                assert kirat_rai(left + boundary + right) == apart, ascii((left, boundary, right))


# ---- tokenizers ------------------------------------------------------------------------------------

NFC, NFKC, LOWER = {"type": "NFC"}, {"type": "NFKC"}, {"type": "Lowercase"}
SPACES = {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}
PREPEND = {"type": "Prepend", "prepend": "\u2581"}


def metaspace(scheme: str) -> dict[str, Any]:
    return {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": scheme, "split": False}


def byte_level(prefix: bool) -> dict[str, Any]:
    return {"type": "ByteLevel", "add_prefix_space": prefix, "trim_offsets": True, "use_regex": False}


PIPELINES: dict[str, tuple[list[dict[str, Any]], dict[str, Any] | None]] = {
    "nothing": ([], None),
    "nfc": ([NFC], byte_level(False)),
    "nfkc, a space if it is missing": ([NFKC], byte_level(True)),
    "spaces": ([SPACES], None),
    "a space always, spaces": ([PREPEND, SPACES], None),
    "nfc, spaces": ([NFC, SPACES], None),
    "spaces, then nfkc": ([SPACES, NFKC], None),
    "nfkc, metaspace": ([NFKC], metaspace("always")),
    "metaspace, first": ([], metaspace("first")),
    "metaspace, never": ([NFC], metaspace("never")),
    "lowercase": ([LOWER], None),
    "lowercase, metaspace": ([LOWER], metaspace("first")),
    "nfc, lowercase": ([NFC, LOWER], None),
    "nfkc, lowercase, spaces": ([NFKC, LOWER, SPACES], None),
}  # fmt: skip
# H and U+0331 have no composition; h and U+0331 have one, U+1E96.
FEW = " \u2581aAk\u212aKe\xe9\u0301=\u0338\uff1d\xa0\u0130iHh\u0331\u1e96"


def program(normalizer: list[dict[str, Any]], pre_tokenizer: dict[str, Any] | None) -> dict[str, Any]:
    return {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": {"type": "Sequence", "normalizers": normalizer} if normalizer else None,
        "pre_tokenizer": pre_tokenizer,
        "model": {"type": "BPE", "vocab": {}, "merges": []},
    }


def reader(document: dict[str, Any]) -> Callable[[str], str]:
    """What the model of a tokenizer reads, decoded, by the package's own program."""
    tokenizer = tokenizers.Tokenizer.from_str(json.dumps(document))
    normalizer, cutter = tokenizer.normalizer, tokenizer.pre_tokenizer
    is_byte_level = "ByteLevel" in json.dumps(document)
    writes_spaces = "\u2581" in json.dumps(document, ensure_ascii=False)

    def read(text: str) -> str:
        text = normalizer.normalize_str(text) if normalizer is not None else text
        if cutter is not None:
            text = "".join(piece for piece, _ in cutter.pre_tokenize_str(text))
        if is_byte_level:
            text = tokenizers.decoders.ByteLevel().decode([text])
        return text.replace("\u2581", " ") if writes_spaces else text

    return read


@pytest.mark.parametrize("name", PIPELINES)
def test_normalizers_of_tokenizers_against_their_own_program(name: str) -> None:
    document = program(*PIPELINES[name])
    rewriting = rewriting_of_normalizer(normalizer_from_tokenizer_json(document))
    assert not rewriting.unread
    read = reader(document)
    is_composed = rewriting.both is None
    texts = ["".join(points) for length in (1, 2, 3) for points in product(sorted(FEW), repeat=length)]
    results = [(text, read(text)) for text in texts]
    rng = random.Random(name)
    for boundary in [*sorted(FEW), "h\u0331", *rng.sample([text for text in texts if len(text) > 1], 24)]:
        found = normalization(boundary, rewriting)
        said = (ascii(boundary), found)
        if not is_composed:
            assert found.kept.outcome != "not settled", said
            begins_with_mark = unicodedata.combining(boundary[0]) and rewriting.form is not None
            assert begins_with_mark or found.not_made.outcome != "not settled", said
        made = [text for text, result in results if boundary in result and boundary not in text]
        witness = text_of(found.not_made)
        if witness is None:
            assert not made or found.not_made.outcome == "not settled", (*said, ascii(made[0]))
        else:
            assert boundary in read(witness), said
            assert boundary not in witness, said
            best = min(made, default=witness, key=lambda text: (len(text), text))
            assert is_composed or (len(witness), witness) <= (len(best), best), (*said, ascii(best))
        apart = "\ue000"  # changes with nothing
        changed = [
            left + boundary + right
            for left in ("x", *FEW)
            for right in ("", *FEW)
            if read(left + boundary + right) != read(left + apart + right).replace(apart, boundary)
        ]
        witness = text_of(found.kept)
        if witness is None:
            assert not changed or found.kept.outcome == "not settled", (*said, ascii(changed[0]))
        elif len(witness) > len(boundary):
            assert boundary not in read(witness) or witness in changed, said
        else:
            assert witness == boundary, said
            assert boundary not in read("x" + boundary), said


# Witnesses for <|im_end|>; those of the others are not settled, or none.
OF_IM_END = {"qwen-3": ("<|im_end|>\u0338", None), "anthropic": ("<|im_end|>\u0338", "<|im_end|\ufe65")}
# Their files take a second and more to make; fuzz/real_tokenizers.py tests them.  Qwen 3 stays: it has NFC.
LARGE = ("gemma-3", "llama-3.1", "o200k-hf")


@pytest.mark.parametrize("real", [real for real in REAL if real.name not in LARGE], ids=str)
@pytest.mark.filterwarnings("ignore")
def test_real_tokenizers(real: Real) -> None:
    vocabulary = tk.Vocabulary.load(real.path())
    rewriting = rewriting_of(vocabulary)
    assert rewriting_of(vocabulary) is rewriting
    boundaries = ("<|im_end|>", "[/INST]", "::=", " user", "\u2581", "A", "\xe9")
    found = {boundary: normalization(boundary, rewriting) for boundary in boundaries}
    source = vocabulary.pipeline
    if source is None:
        for verdict in (verdict for pair in found.values() for verdict in pair):
            assert verdict.outcome == "not settled"
            assert verdict.reason.startswith("pipeline: ")
        return
    assert tuple(map(text_of, found["<|im_end|>"])) == OF_IM_END.get(real.name, (None, None))
    if source.family != "tokenizer.json":
        assert all(all(pair) for pair in found.values())
        return
    document = json.loads(source.content())
    cutter = document["pre_tokenizer"] if not rewriting.unread else None
    read = reader(program([], None) | {"normalizer": document["normalizer"], "pre_tokenizer": cutter})
    for boundary, (kept, not_made) in found.items():
        assert rewriting.unread or "not settled" not in (kept.outcome, not_made.outcome)
        if (text := text_of(kept)) is not None:
            assert boundary not in read(text)
        if (text := text_of(not_made)) is not None:
            assert boundary in read(text)
            assert boundary not in text


# ---- normalizers that are only run -----------------------------------------------------------------


@cache
def bert() -> Rewriting:
    return rewriting_of_program(tokenizers.normalizers.BertNormalizer().normalize_str, "it is not read")


def test_e25_bert_removes_control_and_format_characters() -> None:
    change = bert().change
    assert change is not None
    assert change("a\x07b\u200d") == "ab"
    assert outcomes_of_program("ab") == (None, "AB")
    assert outcomes_of_program("[]") == (None, "[\x00]")
    assert outcomes_of_program("<>") == (None, "<\u226f")  # it strips accents
    assert outcomes_of_program("[SEP]") == ("[SEP]", None)


def outcomes_of_program(boundary: str) -> tuple[str | None, str | None]:
    found = normalization(boundary, bert())
    for verdict in found:
        assert verdict.outcome in ("witness", "not settled")
        assert verdict.outcome == "witness" or verdict.reason == "it is not read"
    return text_of(found.kept), text_of(found.not_made)


@pytest.mark.parametrize(
    "make",
    [
        lambda: tokenizers.normalizers.Strip(),
        lambda: tokenizers.normalizers.Replace(tokenizers.Regex(" {2,}"), " "),
        lambda: tokenizers.normalizers.Prepend("\u2581"),
        lambda: tokenizers.normalizers.StripAccents(),
        lambda: tokenizers.normalizers.Nmt(),
    ],
)
def test_what_is_not_read_is_never_proved(make: Callable[[], Any]) -> None:
    change = make().normalize_str
    rewriting = rewriting_of_program(change, "Strip")
    for boundary in ("ab", " a", "a b", "\xe9", "<|im_end|>", "="):
        kept, not_made = normalization(boundary, rewriting)
        assert not kept
        assert not not_made
        if (text := text_of(kept)) is not None:
            assert boundary in text
            assert boundary not in change(text)
        if (text := text_of(not_made)) is not None:
            assert boundary not in text
            assert boundary in change(text)


def test_what_is_written_for_a_space_is_one() -> None:
    normalizers = tokenizers.normalizers
    change = normalizers.Sequence([normalizers.Replace(" ", "\u0120"), normalizers.Strip()]).normalize_str
    kept, not_made = normalization("a b", rewriting_of_program(change, "it is not read"))
    assert kept.outcome == "not settled"
    assert text_of(not_made) == "a\u0120b"


@pytest.mark.parametrize("part", [{"type": "ByteLevel"}, {"type": "Unknown"}, {"type": "Replace"}])
def test_a_normalizer_that_spells_bytes_or_is_refused_is_not_run(part: dict[str, Any]) -> None:
    assert program_of_normalizer(program([NFC, part], None)) is None
    assert program_of_normalizer(program([NFC], None)) is not None


# ---- bad input and limits --------------------------------------------------------------------------


@pytest.mark.parametrize("boundary", ["", "\ud800", "a\udfff", ("ab", "")])
def test_texts_that_are_empty_or_have_surrogates_are_refused(boundary: str | tuple[str, ...]) -> None:
    with pytest.raises(ArgumentError, match="boundary must be a text"):
        normalization(boundary, rewriting_of_form("NFC"))


def test_an_unknown_form_is_refused() -> None:
    with pytest.raises(ArgumentError, match="one of NFC, NFD, NFKC, NFKD"):
        rewriting_of_form("NFX")


@pytest.mark.parametrize(
    "boundary",
    [
        "ab" * 100_000,
        "a" + "\u0301" * 40,
        "a" + "\u0334\u0327\u0323\u0301" * 500,
        "a"
        + "".join(
            sorted(
                {p for p in HOSTILE if unicodedata.combining(p)}, key=lambda p: (unicodedata.combining(p), p)
            )
        ),
    ],
    ids=["letters", "one mark", "four marks", "many marks"],
)
def test_long_texts_are_not_settled_at_once(boundary: str) -> None:
    for form in FORMS:
        begin = time.process_time()
        for verdict in normalization(boundary, rewriting_of_form(form)):
            assert verdict.outcome == "not settled"
            assert "more than" in verdict.reason
        assert time.process_time() - begin < 2


@pytest.mark.parametrize("form", ["NFC", "NFKD"])
def test_the_longest_texts_take_bounded_time(form: Form) -> None:
    some = dict.fromkeys(unicodedata.combining(p) for p in HOSTILE)
    marks = [next(p for p in HOSTILE if unicodedata.combining(p) == cls) for cls in sorted(some) if cls][:30]
    for text in ("[(|)]" * 100, "x" + "".join(marks), "<|" * 200 + "x" + "\u0301" * 32):
        boundary = unicodedata.normalize(form, text)
        begin = time.process_time()
        normalization(boundary, rewriting_of_form(form))
        assert time.process_time() - begin < 8


def test_single_changes_after_a_normal_form_that_are_not_composed_are_not_proved() -> None:
    document = program([NFC, LOWER], None)
    rewriting = rewriting_of_normalizer(normalizer_from_tokenizer_json(document))
    assert outcomes("[|]", rewriting) == (None, None)  # lowercase has no part in it
    assert outcomes("ab", rewriting) == ("ab\u0307", "AB")


def test_lowercase_may_write_what_is_not_in_the_normal_form() -> None:
    rewriting = rewriting_of_normalizer(normalizer_from_tokenizer_json(program([NFC, LOWER], None)))
    assert outcomes("h\u0331", rewriting) == ("h\u0331", "H\u0331")


def test_a_map_that_undoes_the_normal_form_is_not_settled() -> None:
    undo = {0xE9: "e\u0301"}
    form = rewritings._package_form("NFC")
    rewriting = rewriting_of_normalizer(Normalizer(form, keeps=lambda text: text.translate(undo)))
    kept, not_made = normalization("e\u0301", rewriting)
    assert kept.outcome == "not settled"
    assert text_of(not_made) == "\xe9"


def test_a_map_may_write_what_it_changes() -> None:
    rotate = str.maketrans("abc", "bcc")
    rewriting = rewriting_of_normalizer(Normalizer(keeps=lambda text: text.translate(rotate)))
    assert outcomes("a", rewriting) == ("a", None)  # written for nothing
    assert normalization("b", rewriting).not_made.outcome == "not settled"  # written for a
    assert outcomes("c", rewriting) == (None, "b")


def test_tables_are_made_once() -> None:
    assert rewriting_of_form("NFC") is rewriting_of_form("NFC")
    form = rewritings._package_form("NFC")
    assert rewriting_of_normalizer(Normalizer(form)).form is rewriting_of_normalizer(Normalizer(form)).form
