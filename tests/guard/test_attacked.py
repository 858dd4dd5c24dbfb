"""What attacks on verdicts found: false proofs and false witnesses, each with the text that shows it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

import tokamata as tk
from tests.support.tokenizers.small_tokenizers import FUSE, LLAMA_2, added, document
from tokamata import guard


def made(vocab: str, merges: list[str], names: dict[str, bool], **parts: Any) -> Tokenizer:
    """A tokenizer of characters, whose added tokens are special or not."""
    texts = [*vocab, *("".join(pair.split()) for pair in merges)]
    tokens = {text: token for token, text in enumerate(dict.fromkeys(texts))}
    numbers = {name: tokens.get(name, len(tokens) + number) for number, name in enumerate(names)}
    entries = [added(token, name, names[name]) for name, token in numbers.items()]
    pairs = [pair.split() for pair in merges]
    made = document(tokens, parts.pop("decoder", FUSE), entries, merges=pairs)
    return Tokenizer.from_str(json.dumps({**made, **parts}))


@pytest.mark.parametrize("pattern", ["a|ba", "aa?", "[ab]{1,2}", " ?a"])
def test_boundaries_with_one_byte_and_more(pattern: str) -> None:
    """The search refused them: "a path returns to the prefix"."""
    own = made("ab ", ["b a"], {})
    found = guard.boundary(own, tk.regex(pattern))
    assert found.reproduced
    assert found.crossed_left.outcome == ("witness" if pattern != "[ab]{1,2}" else found.crossed_left.outcome)


def test_a_model_that_writes_a_control_token() -> None:
    """``ab`` is special, and merges make it."""
    own = made("abc", ["a b"], {"ab": True, "<c>": True})
    apart = guard.boundary(own, "ab", control_tokens="text").from_text
    assert apart.witness is not None
    assert apart.witness.tokens == (own.token_to_id("ab"),)
    assert apart.witness.replayed
    assert guard.boundary(own, "<c>", control_tokens="text").from_text.outcome == "proved"


def test_a_character_that_only_a_control_token_spells() -> None:
    """No text with it has tokens of text."""
    own = made("ab", ["a b"], {"a": True})
    found = guard.boundary(own, "a", control_tokens="text")
    assert found.from_text.outcome == "witness"
    assert found.reproduced.outcome == "not settled"


def test_a_control_token_for_unknown_characters() -> None:
    own = made("ab", ["a b"], {"?": True})
    unknown = json.loads(own.to_str())
    unknown["model"]["vocab"]["?"] = own.token_to_id("?")
    unknown["model"]["unk_token"] = "?"
    witness = guard.boundary(
        Tokenizer.from_str(json.dumps(unknown)), "?", control_tokens="text"
    ).from_text.witness
    assert witness is not None
    assert own.token_to_id("?") in witness.tokens


def test_an_added_token_that_takes_a_part_of_a_name() -> None:
    """``aba`` is cut out before NFC, but not the second one in ``ababa`` before a mark."""
    nfc = {"type": "NFC"}
    own = made("ab<>\u0301\xe1", [], {"aba": True, "<b>": True}, normalizer=nfc)
    text = "ababa\u0301"
    assert own.encode(text).tokens == ["aba", "b", "\xe1"]
    assert guard.boundary(own, "aba").kept.outcome == "not settled"
    assert guard.boundary(own, "<b>").kept.outcome == "proved"


def test_an_added_token_that_is_not_special_is_cut_out_too() -> None:
    """``>`` and U+0338 are composed by NFC, but ``<b>`` is cut out before."""
    for is_special in (True, False):
        own = made("ab<>\u0338", [], {"<b>": is_special}, normalizer={"type": "NFC"})
        assert own.encode("<b>\u0338").tokens == ["<b>", "\u0338"]
        assert guard.boundary(own, "<b>").kept.outcome == "proved"
        text = guard.boundary(own, "<b>", control_tokens="text").kept
        assert text.outcome == ("witness" if is_special else "proved")


@pytest.mark.parametrize(
    ("special", "other", "text"), [("a<<", "a<", "a<<"), ("<ab", "ab", "<ab"), ("<a", "ab", "<ab")]
)
def test_names_that_share_characters_with_other_added_tokens(special: str, other: str, text: str) -> None:
    """As text, the name is found first and left as it is, so the other token is not found."""
    own = made("ab<", [], {special: True, other: False})
    own.encode_special_tokens = True
    assert own.token_to_id(other) not in own.encode(text).ids
    with pytest.raises(tk.UnsupportedTokenizerError, match="may share characters"):
        guard.seams(own, ["a", tk.regex("b*")])
    with pytest.raises(tk.TokenizerMismatchError):  # it reads no control tokens
        guard.boundary(own, "<", control_tokens="read")
    own.encode_special_tokens = False
    assert guard.boundary(own, "<", control_tokens="read").reproduced


def test_an_added_token_with_a_space_where_each_text_gets_one() -> None:
    """It is cut out before the space is put there: ``ab`` is not `` ab``."""
    spaces = [
        {"type": "Prepend", "prepend": "▁"},
        {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
    ]
    normalizer = {"type": "Sequence", "normalizers": spaces}
    own = made("▁ab", [], {" ab": True}, normalizer=normalizer, decoder=LLAMA_2)
    assert own.encode("ab").tokens == ["▁", "a", "b"]
    with pytest.raises(tk.UnsupportedTokenizerError, match="begins with a space"):
        guard.boundary(own, "a")


@pytest.mark.parametrize("before", ["x", "bx", "bbx", "bbbx", "xxx"])
def test_a_token_that_is_third_where_the_texts_are_given(before: str) -> None:
    own = made("abxy", ["x y"], {})
    assert own.encode(before + "y").tokens[-1] == "xy"
    assert guard.boundary(own, "y", within=tk.literal(before + "y")).crossed_left.outcome == "witness"


@pytest.mark.parametrize("before", ["bx", "bbx"])
def test_a_seam_that_a_third_token_crosses(before: str) -> None:
    """In the shortest text, with ``a``, no token does."""
    own = made("abxy", ["x y"], {})
    assert guard.seams(own, [before, tk.regex("a|y")]).outcome == "witness"


def split_at(pattern: str) -> dict[str, Any]:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


def test_several_tokens_that_may_stand_before_one() -> None:
    """After ``o`` the added token ``ol`` is read, after ``y`` the merge ``lb``."""
    own = made("soylb", ["l b"], {"ol": False}, pre_tokenizer=split_at(r"s[oy]{2}lb|[\s\S]"))
    assert own.encode("soylb").tokens == ["s", "o", "y", "lb"]
    found = guard.boundary(own, "b")
    assert found.crossed_left.witness is not None
    assert found.crossed_left.witness.replayed
    assert not found.one_token


@pytest.mark.parametrize("letters", ["soq", "sqo"])
def test_the_first_token_that_may_stand_before_one_binds_what_follows(letters: str) -> None:
    """An acute accent composes with ``o``, although another mark is between, and not with ``q``."""
    mark, acute = "\u0316", "\u0301"
    pattern = split_at(f"s[oq]{mark}{mark}{acute}|[\\s\\S]")
    merges = [f"{mark} {mark}"]
    own = made(letters + mark + acute, merges, {}, pre_tokenizer=pattern, normalizer={"type": "NFC"})
    assert own.encode(f"sq{mark}{mark}{acute}").tokens == ["s", "q", mark + mark, acute]
    found = guard.boundary(own, mark + acute).crossed_left
    assert found.witness is not None
    assert found.witness.replayed


@pytest.mark.parametrize("known", ["", "".join(map(chr, range(0x80, 0xC0)))])
def test_byte_tokens_before_a_deep_token(known: str) -> None:
    """Places within characters that the vocabulary lacks have numbers of their own."""
    texts = ["s", "l", "b", *known, "lb", *(f"<0x{byte:02X}>" for byte in range(256))]
    tokens = {text: token for token, text in enumerate(texts)}
    decoder = {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, FUSE]}
    definition = document(tokens, decoder, [], merges=[["l", "b"]], byte_fallback=True)
    definition["pre_tokenizer"] = split_at("s\u00e9lb|[\\s\\S]")
    own = Tokenizer.from_str(json.dumps(definition))
    assert own.encode("s\u00e9lb").tokens == ["s", "<0xC3>", "<0xA9>", "lb"]
    found = guard.boundary(own, "b").crossed_left
    assert found.witness is not None
    assert found.witness.replayed


def test_an_added_token_that_is_decoded_to_no_text() -> None:
    """Byte-level decoders take ``\u00e9`` for the byte E9."""
    letters = {letter: token for token, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    own = Tokenizer(models.BPE(letters, []))
    own.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    own.decoder = decoders.ByteLevel()
    own.add_tokens(["\u00e9b"])
    assert own.decode(own.encode("\u00e9b").ids) == "\ufffdb"
    assert guard.boundary(own, "b").crossed_left.outcome == "proved"


def test_seams_where_merges_make_a_control_token() -> None:
    """The whole is written with the control token, and is in no table; a rarer text of the slot shows it."""
    own = made("ab ", ["a b", "ab b"], {"abb": True})
    parts = ["a", tk.regex("a{3}|b{2} "), "a"]
    assert guard.RunningTokenizer(own).encode_text("abb a") != [
        *own.encode("a").ids, *own.encode("bb ").ids, *own.encode("a").ids
    ]  # fmt: skip
    assert guard.seams(own, parts).outcome != "proved"
    assert guard.seams(made("ab ", ["a b"], {"abb": True}), ["a", tk.regex("a+"), "a"]).outcome == "proved"


def test_an_added_token_that_begins_with_a_name() -> None:
    """It is found where a template writes the control token, and a text goes on."""
    own = made("ea", [], {"<e>": True, "<e>a": False})
    assert own.encode("<e>a").ids == [own.token_to_id("<e>a")]
    with pytest.raises(tk.UnsupportedTokenizerError, match="may share characters"):
        guard.seams(own, ["<e>", tk.regex("a+")])
