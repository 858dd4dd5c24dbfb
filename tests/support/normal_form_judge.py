"""Judges what the guard says of normal forms, by ``unicodedata.normalize`` on all texts of a small alphabet.

The alphabets are taken from ``HOSTILE``: marks of many classes, jamo, compositions and their parts,
exclusions, singletons, compatibility characters, and ASCII.
"""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Iterator
from itertools import product
from typing import Literal

from tokamata.guard.normalization import Normalization, normalization
from tokamata.guard.rewritings import rewriting_of_form

Form = Literal["NFC", "NFD", "NFKC", "NFKD"]
FORMS: tuple[Form, ...] = ("NFC", "NFD", "NFKC", "NFKD")

HOSTILE = "".join(
    dict.fromkeys(
        # marks: classes 230, 216, 220, 202, 1, 240, 233, 232, 234; singletons, and U+0344 of two
        "\u0300\u0301\u0302\u0304\u0306\u0307\u0308\u030a\u030c\u0313\u0314\u0342\u031b\u0316\u0323\u0324\u0325"
        "\u032d\u0331\u0327\u0328\u0321\u0322\u0338\u0334\u0335\u0336\u0345\u035c\u0360\u0315\u0340\u0341\u0343"
        "\u0344\u0488\u20d2\u20dd\u302e"
        # marks of Hebrew, Arabic, India, Thai and Tibet, and what they compose with
        "\u05b0\u05b1\u05b9\u05bc\u05c1\u05c2\u064b\u064e\u0651\u0653\u0654\u0655\u0670\u093c\u094d\u0915\u0958"
        "\u09bc\u09be\u09c7\u09cb\u09cc\u09d7\u09a1\u09dc\u0b47\u0b3e\u0b56\u0bc6\u0bbe\u0bca\u0cc6\u0cc2\u0cd5"
        "\u0cca\u0ccb\u0d46\u0d3e\u0d4a\u0dd9\u0dca\u0dcf\u0ddc\u0ddd\u0dda\u0e38\u0e48\u0f71\u0f72\u0f74\u0f73"
        "\u0f75\u0f80\u0f81\u0fb2\u0fb3\u0f76\u0f77\u0f78\u0f79\u0f39\u0f42\u0f43\u0fb7\u1025\u102e\u1026\u1037"
        # jamo, syllables, kana
        "\u1100\u1102\u1161\u1162\u11a7\u11a8\u11ab\uac00\uac01\uac04\ub098\ub099\u3131\u314f\uffa1\uffc2\u3200"
        "\u326e\u3099\u309a\u304b\u304c\u306f\u3070\u3071\uff9e\uff9f\uff76\u30ac\u30ab\u309b\u309c"
        # Latin and Greek
        "\u212b\xc5\u212a\u2126\u03a9\xe9\xe8\xea\u1ebf\u1ec7\u1eb9\u0229\u1e69\u1e63\u1e61\u1e0b\u1e11\u01b0\u01a1"
        "\u1ee9\xaa\xba\xb4\xa8\u0385\u1fef\u1fee\u037e\u0387\u0374\u02b9\u1f71\u03ac\u03b1\u1f00\u1f80\u1fb3"
        "\u1fb4\u1fb7\u1e9b\u017f\u1e9a\xdf\u0130\u0131\u01c4\u01c5\u01c6\u0132"
        # structure, as other characters
        "\u2329\u3008\u232a\u2260\u226e\u226f\u2a74\u2a75\u2a76\uff1c\uff1d\uff1e\ufe64\ufe65\ufe66\uff5c\uff3f"
        "\uff0c\ufe10\ufe50\ufb01\ufb03\u2024\u2025\u2026\u203c\u2049\xbd\u2155\u2102\u210c\xa0\u2002\u3000"
        "\u2017\u203e\ufdfa\ufe70\ufe71\ufe72\ufc5e\ufc60\ufb1d\ufb1f\ufb2a\ufb2c\ufb2e\ufb4c\ufb31\u2adc\u2add"
        # beyond the first plane, and CJK
        "\U0001d15e\U0001d157\U0001d165\U0001d15f\U0001d16e\U0001d1bb\U000110ba\U000110b9\U0001109a\U00011131"
        "\U00011127\U00011132\U000114b9\U000114ba\U000114bb\U000114b0\U0002f800\u4e3d\uf900\u8c48"
        # ASCII, and others that nothing changes
        "<>=|_,;:!.#\"'{}[]() \n\x00aeAEKxsfikn1/\u2581\ufffd\u200d\U0001f600"
    )
)


def boundaries(rng: random.Random, count: int) -> Iterator[str]:
    """Texts of up to four code points, most of them in one of the forms."""
    for _ in range(count):
        points = [rng.choice(HOSTILE) for _ in range(rng.choice([1, 1, 2, 2, 2, 3, 3]))]
        if rng.random() < 0.3:
            points[0] = rng.choice("aexs=<>|")
        text = "".join(points)
        yield (unicodedata.normalize(rng.choice(FORMS), text) if rng.random() < 0.7 else text)[:4]


def judge(boundary: str, form: Form, rng: random.Random, texts: int) -> Normalization:
    """The guard's verdicts, after both have been compared with what ``unicodedata`` does to many texts.

    Args:
        boundary: up to four code points.
        form: the normal form.
        rng: draws the alphabet.
        texts: about how many texts of each length are tried.

    Raises:
        AssertionError: a proof is refuted, or a witness is not real or not the shortest and smallest.
    """
    found = normalization(boundary, rewriting_of_form(form))
    _judge_kept(found, boundary, form, rng)
    _judge_not_made(found, boundary, form, rng, texts)
    return found


def _judge_kept(found: Normalization, boundary: str, form: Form, rng: random.Random) -> None:
    def breaks(left: str, right: str) -> bool:
        apart = unicodedata.normalize(form, left) + boundary + unicodedata.normalize(form, right)
        return unicodedata.normalize(form, left + boundary + right) != apart

    said = (form, ascii(boundary), found.kept)
    witness = found.kept.witness
    if witness is None:
        assert found.kept.outcome == "proved", said
        assert not any(breaks(point, "") or breaks("", point) for point in HOSTILE), said
        points = _alphabet(boundary, form, rng, 12)
        sides = ["", *points, *map("".join, product(points, repeat=2))]
        for left in sides:
            assert not any(breaks(left, right) for right in rng.sample(sides, 12)), said
        return
    text = witness.text.decode()
    begin = len(witness.text[: witness.position].decode())
    left, right = text[:begin], text[begin + len(boundary) :]
    assert text == left + boundary + right, said
    assert breaks(left, right), said
    if left or right:
        assert len(left + right) == 1, said
        assert not breaks("", ""), said
        others = [point + boundary for point in HOSTILE if breaks(point, "")]
        others += [boundary + point for point in HOSTILE if breaks("", point)]
        assert text <= min(others, default=text), said


def _judge_not_made(found: Normalization, boundary: str, form: Form, rng: random.Random, texts: int) -> None:
    def makes(text: str) -> bool:
        return boundary in unicodedata.normalize(form, text) and boundary not in text

    verdict = found.not_made
    said = (form, ascii(boundary), verdict)
    text = verdict.witness.text.decode() if verdict.witness is not None else None
    assert text is None or makes(text), said
    longest = min(len(boundary) + 2, 4) if text is None else min(len(text), 4)
    few = _alphabet(boundary, form, rng, max(5, int(texts ** (1 / longest))))
    for length in range(1, longest + 1):
        points = sorted(HOSTILE if len(HOSTILE) ** length <= 2 * texts else few)
        best = next(filter(makes, map("".join, product(points, repeat=length))), None)
        if best is not None:
            if text is None:
                assert verdict.outcome == "not settled", (*said, ascii(best))
            else:
                assert (len(text), text) <= (length, best), (*said, ascii(best))
            return


def _alphabet(boundary: str, form: Form, rng: random.Random, size: int) -> list[str]:
    """The code points of a text and its decomposition, hostile ones that share some, and a few others."""
    decomposed: Form = "NFKD" if "K" in form else "NFD"
    parts = unicodedata.normalize(decomposed, boundary)
    own = list(dict.fromkeys(boundary + parts))
    related = [p for p in HOSTILE if not set(parts).isdisjoint(unicodedata.normalize(decomposed, p))]
    others = list(HOSTILE)
    rng.shuffle(related)
    rng.shuffle(others)
    chosen = list(dict.fromkeys([*own, *related[: max(2, size - len(own) - max(3, size // 4))], *others]))
    return chosen[: max(size, len(own) + 2)]


def attack(boundary: str, form: Form, rng: random.Random, texts: int) -> Normalization:
    """The guard's verdicts on a text of any length, after texts drawn to refute them.

    The texts are the boundary with code points replaced, decomposed, swapped, joined, added and left out.

    Raises:
        AssertionError: a proof is refuted, or a text that was drawn is a shorter or smaller witness.
    """
    found = normalization(boundary, rewriting_of_form(form))
    said = (form, ascii(boundary), found)
    witness = found.not_made.witness
    best = witness.text.decode() if witness is not None else None
    alphabet = _alphabet(boundary, form, rng, 40)
    for _ in range(texts):
        text = _drawn(boundary, form, alphabet, rng)
        if boundary in unicodedata.normalize(form, text) and boundary not in text:
            assert not found.not_made, (*said, ascii(text))
            assert best is None or (len(best), best) <= (len(text), text), (*said, ascii(text))
        if found.kept:
            left, right = (
                "".join(rng.choices(alphabet, k=rng.randint(0, 3))) for _ in range(2)
            )  # fmt: skip
            apart = unicodedata.normalize(form, left) + boundary + unicodedata.normalize(form, right)
            assert unicodedata.normalize(form, left + boundary + right) == apart, (
                *said,
                ascii((left, right)),
            )
    return found


def _drawn(boundary: str, form: Form, alphabet: list[str], rng: random.Random) -> str:
    points = list(boundary)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        at = rng.randrange(len(points) + 1)
        change = rng.randrange(6)
        if change == 0:
            points[at:at] = rng.choice(alphabet)
        elif change == 1:
            points[at : at + 1] = rng.choice(alphabet)
        elif change == 2:
            points[at : at + rng.randint(2, 3)] = rng.choice(alphabet)
        elif change == 3:
            points[at : at + 2] = reversed(points[at : at + 2])
        else:
            other: Form = rng.choice(["NFC", "NFD"] if form in ("NFC", "NFD") else FORMS)
            end = at + rng.randint(1, 3)
            points[at:end] = unicodedata.normalize(other, "".join(points[at:end]))
    return "".join(points)
