"""Boundaries and seams of models of words, judged by the tokenizer's own program."""

from __future__ import annotations

import itertools
import json
import random
import re
from collections.abc import Iterator
from typing import Any

import pytest
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers

import tokamata as tk
from fuzz import fuzz_boundaries
from tests.support.texts import all_texts
from tests.support.tokenizers.real_tokenizers import REAL
from tests.support.tokenizers.written_texts import WrittenTexts, is_violated, occurrences
from tokamata import guard
from tokamata.guard.byte_languages import ByteLanguage
from tokamata.guard.token_edges import ControlTokens, TokenEdges

ANY = tk.regex("(?s:.*)")
READINGS: tuple[ControlTokens, ...] = ("read", "text")
QUESTIONS = {"crossed_left": "left", "crossed_right": "right", "one_token": "one token"}


def words(
    *texts: str, cut: Any = None, normalizer: Any = None, added: tuple[str | AddedToken, ...] = ()
) -> Tokenizer:
    """A tokenizer with these tokens, ``[UNK]``, ``[CLS]``, ``[SEP]``, and others that are added."""
    vocab = {text: token for token, text in enumerate(["[UNK]", "[CLS]", "[SEP]", *texts])}
    made = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]"))
    made.pre_tokenizer = cut or pre_tokenizers.BertPreTokenizer()
    made.decoder = decoders.WordPiece(cleanup=False)
    if normalizer is not None:
        made.normalizer = normalizer
    made.add_special_tokens(["[UNK]", "[CLS]", "[SEP]"])
    made.add_tokens([each if isinstance(each, AddedToken) else raw(each) for each in added])
    return made


def raw(name: str) -> AddedToken:
    """One that is cut out before the normalizer."""
    return AddedToken(name, normalized=False)


def letters(alphabet: str) -> list[str]:
    return [*alphabet, *("##" + letter for letter in alphabet)]


PLAIN = words(*letters("playsuntheig"), ".", "play", "un", "the", "##ing", "##play", "##pl")


def ids_of(own: Tokenizer, text: str, names_are_text: bool = True) -> list[int]:
    program = Tokenizer.from_str(own.to_str())
    program.encode_special_tokens = names_are_text
    ids: list[int] = program.encode(text, add_special_tokens=False).ids
    return ids


# ---- boundaries ---------------------------------------------------------------------------------


@pytest.mark.parametrize("reading", READINGS)
def test_the_space_before_a_word_belongs_to_its_token(reading: ControlTokens) -> None:
    found = guard.boundary(PLAIN, "play", control_tokens=reading)
    assert found.crossed_left.witness is not None
    assert found.crossed_left.witness.replayed
    in_two = guard.boundary(PLAIN, "play", within=tk.regex("the play"), control_tokens=reading)
    assert in_two.crossed_left.witness is not None
    assert in_two.crossed_left.witness.pieces == (b"the", b" play")
    assert found.reproduced.reason == "such as b'play'"
    spaced = guard.boundary(PLAIN, " the", control_tokens=reading)
    assert spaced.outcome == "not settled"  # the normalizer is run, and not read
    assert spaced.crossed_left.outcome == "proved"
    sign = guard.boundary(PLAIN, ".", control_tokens=reading)
    assert sign.crossed_left.witness is not None
    assert sign.crossed_left.witness.pieces[-1] == b" ."
    assert sign.crossed_right.outcome == "proved"


def test_texts_that_are_decoded_with_other_spaces_are_not_reproduced() -> None:
    for text in ("a.", "  ", ".a", " \n", "##"):
        assert "decoded to another text" in guard.boundary(PLAIN, text).reproduced.reason
    assert guard.boundary(words("a"), " ").reproduced.reason == "such as b'a a'"


def judged(own: Tokenizer, alphabet: str, boundaries: list[str], longest: int = 5) -> int:
    """Holds verdicts against all short texts; how many are refuted by one."""
    refuted = 0
    for reading in READINGS:
        edges = TokenEdges.of(own, reading)
        written = WrittenTexts(own, alphabet, longest, reading == "text", edges.pieces_of)
        for b in boundaries:
            found = guard.boundary(own, b, control_tokens=reading)
            for name, question in QUESTIONS.items():
                refuting = [
                    text
                    for text, borders in written.reproduced.items()
                    if any(is_violated(borders, *span, question) for span in occurrences(text, [b]))  # type: ignore[arg-type]
                ]
                verdict = getattr(found, name)
                assert verdict.outcome in ("proved", "witness"), (b, name, verdict)
                assert not (refuting and verdict), (b, name, refuting)
                refuted += bool(refuting)
                if verdict.witness is not None:
                    assert verdict.witness.replayed
                    assert b"".join(verdict.witness.pieces) == verdict.witness.text
    return refuted


def test_a_token_that_continues_words_may_stand_first() -> None:
    """Where the pre-tokenizer leaves ``##s`` whole, the model looks it up, and the decoder keeps its mark."""
    own = words(*letters("as#"), "##sa", "a#", cut=pre_tokenizers.WhitespaceSplit())
    assert ids_of(own, "##s a") == [own.token_to_id("##s"), own.token_to_id("a")]
    found = guard.boundary(own, "##s")
    assert found.reproduced.reason == "such as b'##s'"
    assert found.crossed_left.witness is not None
    assert found.crossed_left.witness.pieces == (b"a#", b"#", b"s")
    assert found.crossed_right.witness is not None
    assert found.crossed_right.witness.pieces == (b"##sa",)
    within = guard.boundary(own, "s", within=tk.regex("##s a"))
    assert within.crossed_left.witness is not None
    assert within.crossed_left.witness.pieces == (b"##s", b" a")
    boundaries = ["##s", "#", "##", "s", "s a", "#s", "sa", "a##", "###"]
    assert judged(own, "as# ", boundaries) > 20


def test_a_vocabulary_without_tokens_that_begin_words() -> None:
    own = words("##a", "###", "##.", cut=pre_tokenizers.WhitespaceSplit())
    assert judged(own, "a#. ", ["a", ".", "##", "aa#", "#a"]) > 8


def test_what_follows_a_mark_has_tokens_too() -> None:
    """``##ba`` has none, since none begins with ``##ba`` or is ``##b``."""
    own = words("a", "b", "##a", "##ab", "##bb", "b#", "##c", cut=pre_tokenizers.WhitespaceSplit())
    assert judged(own, "ab#", ["##a", "##b", "#a", "b", "##"], longest=6) > 5


def test_after_a_mark_only_the_rest_of_its_token_follows() -> None:
    own = words("a", "##a", "##b", "b", cut=pre_tokenizers.WhitespaceSplit(), added=("b",))
    assert judged(own, "ab# ", ["##", "## ", "##b", "##a", "#a b", "#ab"]) > 5


def test_an_added_token_may_have_letters_that_no_other_token_has() -> None:
    own = words("a", "##a", added=("<x>",))
    found = guard.boundary(own, "x")
    assert found.crossed_left.witness is not None
    assert found.crossed_left.witness.pieces == (b"<x>",)
    assert judged(own, "<x>a ", ["x", "<x>", "a <", "> a"], longest=6) > 10


def test_an_added_token_with_other_letters_beside_byte_pairs() -> None:
    own = Tokenizer(models.BPE({"a": 0, "b": 1, "ab": 2, "<unk>": 3}, [("a", "b")], unk_token="<unk>"))
    own.decoder = decoders.Fuse()
    own.add_special_tokens(["<unk>"])
    own.add_tokens([raw("xay")])
    assert ids_of(own, "axayb") == [0, 4, 1]
    assert guard.boundary(own, "a").crossed_left.outcome == "witness"
    assert guard.boundary(own, "x").crossed_right.outcome == "witness"


def test_a_control_token_that_the_model_finds_in_words() -> None:
    cut = pre_tokenizers.WhitespaceSplit()
    own = words(*letters("[UNK]"), cut=cut)
    assert ids_of(own, "[UNK]") == [0]
    assert guard.boundary(own, "K").reproduced.outcome == "proved"
    with pytest.raises(tk.UnsupportedTokenizerError, match="the model finds it in words"):
        guard.boundary(own, "K", control_tokens="text")
    with pytest.raises(tk.UnsupportedTokenizerError, match="the model finds it in words"):
        guard.seams(own, [ANY])
    apart = words(*letters("[UNK]"))  # the brackets are words of their own
    assert judged(apart, "[UN] ", ["[", "N]", "U"], longest=4) > 2


def test_whether_a_model_writes_control_tokens_by_itself() -> None:
    found = guard.boundary(PLAIN, "[SEP]", control_tokens="text").from_text
    assert found.outcome == "proved"
    unknown = guard.boundary(PLAIN, "[UNK]", control_tokens="text").from_text
    assert unknown.witness is not None
    assert unknown.witness.replayed
    found = guard.boundary(words("a", cut=pre_tokenizers.WhitespaceSplit()), "[SEP]", control_tokens="text")
    assert found.from_text.witness is not None  # the whole name is looked up
    assert found.from_text.witness.text == b"[SEP]"
    assert guard.boundary(PLAIN, "[SEP]").from_text.outcome == "witness"


@pytest.mark.parametrize("seed", [3, 2_000_024, 2_000_031])
def test_small_tokenizers(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz_boundaries, "LONGEST", 4)
    campaign = fuzz_boundaries.Campaign(tally := fuzz_boundaries.Tally(), boundaries=5, templates=4)
    campaign.tokenizer("WordPiece", seed)
    assert not tally.faults  # they are printed
    assert tally.outcomes["crossed_left: witness"] + tally.outcomes["crossed_left: proved"] >= 5


def test_a_real_tokenizer() -> None:
    own = Tokenizer.from_file(str(next(real for real in REAL if real.name == "minilm").path()))
    for reading in READINGS:
        for b in ("playing", "un", "the cat"):
            found = guard.boundary(own, b, control_tokens=reading)
            for verdict in (found.crossed_left, found.crossed_right, found.one_token):
                assert verdict.witness is not None
                assert verdict.witness.replayed
        assert "decoded to another" in guard.boundary(own, "##s", control_tokens=reading).reproduced.reason
        assert guard.boundary(own, " the", control_tokens=reading).crossed_left.outcome == "proved"
    assert guard.seams(own, ["[CLS]question: ", ANY, " context: ", ANY, "[SEP]"]).outcome == "proved"
    assert guard.seams(own, ["[CLS]", ANY, "[SEP]"]).outcome == "proved"
    witness = guard.seams(own, ["user", ANY]).stretches[0].verdict.witness
    assert witness is not None
    assert witness.replayed


# ---- seams --------------------------------------------------------------------------------------


def differing(own: Tokenizer, parts: list[str], alphabet: str, longest: int = 4) -> Iterator[tuple[str, ...]]:
    """Texts of all parts whose tokens are not those of the whole, whether or not they are reproduced."""
    program = Tokenizer.from_str(own.to_str())
    program.encode_special_tokens = True
    texts = list(all_texts(alphabet, longest))
    choices = [[text for text in texts if re.fullmatch(part, text)] for part in parts]
    cases = [
        values for values in itertools.product(*choices) if len("".join(values)) <= longest + len(parts) - 1
    ]
    flat = [text for values in cases for text in ("".join(values), *values)]
    encodings: Any = program.encode_batch_fast(flat, add_special_tokens=False)
    ids = iter([encoding.ids for encoding in encodings])
    for values in cases:
        whole = next(ids)
        if whole != [token for _ in values for token in next(ids)]:
            yield values


LOWER = normalizers.BertNormalizer(clean_text=True, lowercase=True)
SEAMS: dict[str, tuple[Tokenizer, str]] = {
    "bert": (words(*letters("ab"), ".", "!", normalizer=LOWER), "aA. \x0b"),
    "names": (words(*letters("ab"), ".", added=("a.b", "..", "b<")), "ab.<"),
    "late names": (words(*letters("ab"), ".", normalizer=LOWER, added=(AddedToken("a.b"),)), "aAB."),
    "a normal form": (words(*letters("ae\xe9"), "<", ">", normalizer=normalizers.NFC()), "e\u0301<\u0338"),
    "split at white space": (words(*letters("a."), cut=pre_tokenizers.WhitespaceSplit()), "a. \n"),
    "runs of signs": (words(*letters("a.!"), cut=pre_tokenizers.Whitespace()), "a.! "),
    "stuck": (words("a", "ab", "##c", "b", "c", "."), "abc."),
    "marks": (words("a", "##a", "#", "##s", cut=pre_tokenizers.WhitespaceSplit()), "a#s "),
    "accents": (words(*letters("ae"), ".", normalizer=normalizers.BertNormalizer()), "ae\u0301."),
}
TEMPLATES = [
    (".*", ".*"),
    (".*", "\\.", ".*"),
    ("a+", "\\.", "a+"),
    (".*\\.", "b.*"),
    ("[^.]*[.]", "[.].*"),
    (".*", "\\s.*"),
    (".* ", ".*"),
    ("[aA]\\.", "[bB]"),
    ("a?", "[.]?", "b?"),
    ("a", "[.]", "b"),
    ("a", "[.]b?", "[^.]?"),
    ("[.]", "a", "[.]", "b?"),
    ("<", "[^a]*"),
    ("a", "[^a].*"),
    ("[ae]*", "[^ae]"),
]


@pytest.mark.parametrize("name", SEAMS)
def test_seams_are_judged_by_all_texts(name: str) -> None:
    own, alphabet = SEAMS[name]
    outcomes = set()
    for template in TEMPLATES:
        slots = [tk.regex(f"(?s:{part})") for part in template]
        verdict = guard.seams(own, slots).stretches[0].verdict
        outcomes.add(verdict.outcome)
        found = next(differing(own, [f"(?s:{part})" for part in template], alphabet), None)
        assert not (found and verdict), (template, found, verdict)
        if verdict.witness is not None:
            assert verdict.witness.replayed
            assert ids_of(own, verdict.witness.text.decode()) == list(verdict.witness.tokens)
    assert "witness" in outcomes
    if name not in ("late names", "split at white space", "marks"):
        assert "proved" in outcomes


def test_seams_that_are_safe() -> None:
    own = words(*letters("abc"), ".", ":", normalizer=LOWER)
    for template in (["a:", ANY], [ANY, " b"], ["a\n", ANY, "\n", ANY], [ANY, ".", ANY], ["[CLS]", ANY]):
        assert guard.seams(own, template).outcome == "proved", template
    for template in (["a", ANY], [ANY, ANY], ["a", tk.regex("[.]?"), "b"]):
        assert guard.seams(own, template).outcome == "witness", template


def test_a_character_that_the_normalizer_removes_joins_words() -> None:
    own = words(*letters("ab"), normalizer=LOWER)
    found = guard.seams(own, ["a", tk.regex("(?s:\\s.*)"), " b"]).stretches[0].verdict
    assert found.witness is not None
    assert found.witness.text.startswith(b"a\x0b")


def test_slots_are_encoded_apart() -> None:
    own = words(*letters("abc"), ".", ":")
    ids = guard.encode(own, ["[CLS]a: ", ANY, " b: ", ANY, "[SEP]"], ["a [SEP]", "c  .a"])
    names = [own.id_to_token(token) for token in ids]
    assert names[0] == "[CLS]"
    assert names.count("[SEP]") == 1
    own.encode_special_tokens = True
    assert ids[1:-1] == own.encode("a: a [SEP] b: c  .a", add_special_tokens=False).ids
    with pytest.raises(tk.SeamError):
        guard.encode(own, ["a", ANY], ["b"])


def test_a_file_has_the_same_answers(tmp_path: Any) -> None:
    own = words(*letters("ab"), ".")
    path = tmp_path / "tokenizer.json"
    path.write_text(own.to_str())
    assert guard.boundary(path, "ab") == guard.boundary(own, "ab")
    assert guard.seams(path, ["a", ANY]).stretches == guard.seams(own, ["a", ANY]).stretches
    document = json.loads(own.to_str())
    del document["pre_tokenizer"]
    path.with_name("other.json").write_text(json.dumps({**document, "pre_tokenizer": None}))
    with pytest.raises(tk.UnsupportedTokenizerError):
        guard.boundary(path.with_name("other.json"), "ab")


# ---- languages ----------------------------------------------------------------------------------

LETTERS = "ab\xe9\u4e2d "
PATTERNS = [
    "L*",
    "a*",
    "[b\xe9\u4e2d ]*",
    "(?:ab|\xe9)*",
    "\xe9L|b",
    "[a\xe9]+b?",
    " L*|\u4e2d",
    "(?:a|\u4e2d)?[a\xe9]",
    "(?:)",
]


def test_first_and_last_characters_of_a_language() -> None:
    draw = random.Random(5)
    for pattern in (each.replace("L", f"[{LETTERS}]") for each in PATTERNS):
        language = ByteLanguage.of("b", tk.regex(pattern), None)
        members = [text for text in all_texts(LETTERS, 4, 1) if re.fullmatch(pattern, text)]
        for size in range(len(LETTERS) + 1):
            some = set(draw.sample(LETTERS, size))
            for at_start in (True, False):
                ends = {text[0 if at_start else -1] for text in members}
                assert language.has_only([*map(ord, some), 0x20AC], at_start) == (ends <= some)
        for text in all_texts(LETTERS, 2, 1):
            for at_start in (True, False):
                meets = str.startswith if at_start else str.endswith
                found = language.shortest_with([text.encode()], at_start)
                sizes = [len(member.encode()) for member in members if meets(member, text)]
                assert (None if found is None else len(found)) == min(sizes, default=None)
                assert found is None or (
                    meets(found.decode(), text) and re.fullmatch(pattern, found.decode())
                )
    assert not ByteLanguage.of("b", tk.regex("(?s:.*)"), None).has_only(range(0xD000), at_start=False)
