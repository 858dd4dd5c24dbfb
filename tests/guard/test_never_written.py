"""Tokens that no text yields, against all texts of small tokenizers."""

from __future__ import annotations

import itertools
import unicodedata

import pytest
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers

from tests.support.tokenizers.random_tokenizers import random_tokenizer
from tokamata.guard.manifests.subject import Subject
from tokamata.guard.manifests.unwritten import code_point_ranges, fates, is_in_utf8, proofs

LONGEST = 5
SEEDS = 10


def test_no_text_yields_what_is_proved_never_to_be_written() -> None:
    """Every text of up to five characters: for no token that occurs does any proof hold."""
    used: set[str] = set()
    for seed in range(SEEDS):
        tokenizer, alphabet = random_tokenizer(seed)
        subject = Subject(tokenizer)
        if subject.tables[0] is None:
            continue
        letters = alphabet[:4]
        texts = [
            "".join(text)
            for size in range(1, LONGEST + 1)
            for text in itertools.product(letters, repeat=size)
        ]
        texts += ["<>", "<a>", "aba", "b ", "bb", "<s>", "<unk>"]
        encoded = tokenizer.encode_batch(texts, add_special_tokens=False)
        seen = {token for one in encoded for token in one.ids}
        for name, holds in proofs(subject):
            wrong = [t for t in seen if subject.vocabulary[t] and holds(t, subject.vocabulary[t] or b"")]
            assert not wrong, (seed, name, wrong)
        proved, rest = fates(subject, set())
        used |= set(proved.values())
        assert not seen & set(proved)
        assert len(rest) <= 12, (seed, [subject.vocabulary.name(token) for token in rest])
    assert {"no UTF-8", "merges", "byte", "pre-tokens"} <= used


def byte_fallback(ignore_merges: bool, merges: list[tuple[str, str]], extra: list[str]) -> Tokenizer:
    names = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), *"<>0123456789ABCDEFx!", *extra]
    model = models.BPE(
        vocab={name: token for token, name in enumerate(names)},
        merges=merges,
        unk_token="<unk>",
        byte_fallback=True,
        ignore_merges=ignore_merges,
    )
    made = Tokenizer(model)
    made.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Fuse()])
    return made


def test_names_of_bytes_that_are_written_as_such() -> None:
    """The text ``<0xC0>`` becomes this token if a piece of text that is a token needs no merges."""
    for ignore_merges in (False, True):
        made = byte_fallback(ignore_merges, [], [])
        token = made.token_to_id("<0xC0>")
        assert (made.encode("<0xC0>").ids == [token]) is ignore_merges
        proved, rest = fates(Subject(made), set())
        assert (token in proved) is not ignore_merges
        assert (token in rest) is ignore_merges


def test_merges_of_bytes() -> None:
    """Two tokens of bytes may be merged to one, whose own text would be cut into twelve characters."""
    made = byte_fallback(False, [("<0xC3>", "<0xA9>")], ["<0xC3><0xA9>"])
    token = made.token_to_id("<0xC3><0xA9>")
    assert made.encode("é").ids == [token]
    assert token not in fates(Subject(made), set())[0]


def test_normalizers_that_write_what_they_change() -> None:
    """NFKC after ``Lowercase`` makes H of U+210C, and the next pass would make h of it."""
    made = Tokenizer(models.WordPiece({"[UNK]": 0, "h": 1, "##h": 2, "H": 3, "##H": 4}, unk_token="[UNK]"))
    made.pre_tokenizer, made.decoder = pre_tokenizers.BertPreTokenizer(), decoders.WordPiece()
    made.add_special_tokens(["[UNK]"])
    made.normalizer = normalizers.Sequence([normalizers.Lowercase(), normalizers.NFKC()])
    assert made.encode("ℌ").ids == [3]
    assert fates(Subject(made), set())[0] == {}
    made.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    assert made.encode("ℌ").ids == [1]
    assert set(fates(Subject(made), set())[0]) == {3, 4}


def test_what_is_in_utf8() -> None:
    """By brute force: every part of the UTF-8 of some code points, and all short byte strings against it."""
    points = [0x24, 0x7F, 0x80, 0x7FF, 0x800, 0xFFF, 0x1000, 0xCFFF, 0xD000, 0xD7FF, 0xE000, 0xFFFF]
    points += [0x10000, 0x3FFFF, 0x40000, 0xFFFFF, 0x100000, 0x10FFFF, 0x20AC, 0x1F600]
    for first, second in itertools.product(points, repeat=2):
        data = (chr(first) + chr(second)).encode()
        for begin in range(len(data)):
            for end in range(begin + 1, len(data) + 1):
                assert is_in_utf8(data[begin:end])
    wrong_ones = (
        b"\xc0",
        b"\xc1\x80",
        b"\xf5",
        b"\xed\xa0",
        b"\xe0\x80",
        b"\xf4\x90",
        b"\xc3a",
        b"\x80\x80\x80\x80",
    )
    for wrong in wrong_ones:
        assert not is_in_utf8(wrong)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_ranges_of_code_points_that_are_cut_off(size: int) -> None:
    beginnings: dict[bytes, list[int]] = {}
    for point in itertools.chain(
        range(0x80, 0xD800, 7), range(0xE000, 0x110000, 61), (0xD7FF, 0x10FFFF, 0x800)
    ):
        data = chr(point).encode()
        if len(data) > size:
            beginnings.setdefault(data[:size], []).append(point)
    for beginning, points in beginnings.items():
        (found,) = code_point_ranges(b"\xbf" + beginning)
        assert found[0] <= min(points)
        assert max(points) <= found[1]
        assert all(chr(edge).encode().startswith(beginning) for edge in found)
        for outside in (found[0] - 1, found[1] + 1):
            if outside < 0x110000 and unicodedata.category(chr(outside)) != "Cs":
                assert not chr(outside).encode().startswith(beginning)
