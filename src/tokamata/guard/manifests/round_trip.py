"""Round trip: whether decoding the tokens of a text gives the text back.

Tried are, in this order, so that the witness is a shortest one of its set: the code points that failed in
another text (``code_points.py``), alone and between digits; all texts of two characters from an alphabet of
spaces, marks and structure; names of control tokens; the adversarial set around boundaries; and seeded texts.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product

from tokamata.guard.manifests.code_points import CodePoints
from tokamata.guard.manifests.facts import Fact, not_measured
from tokamata.guard.manifests.subject import Subject
from tokamata.guard.probe_texts import texts
from tokamata.tokenization.unicode_set import around

__all__ = ["round_trip_fact"]

_ALPHABET = " \n\t\r\u00a0\u200b\u200d\ufeff\u0301\u0338\u3000\u2581aA1é.,'\"<{中한ﬁ😀"
_TEXTS = 500
_SEED = 49
_SETS = f"code points, pairs, names of control tokens, the adversarial set, texts of seed {_SEED}"
_LONGEST = 256  # characters of a name
_MOST_ALONE = 4096  # code points that are known to fail


def round_trip_fact(subject: Subject, points: CodePoints | None) -> Fact:
    """Whether all tried texts come back, or the shortest that does not.

    Args:
        subject: the tokenizer.
        points: what its program does to code points.

    Raises:
        ProgramFailed: the program raised an error.
    """
    program = subject.program
    if program is None or points is None:
        return not_measured(subject.no_program)
    failing = sorted({*points.vanishing, *points.unknown, *points.changed, *points.spaced})
    tried = points.count
    for batch in _batches(subject, points, [chr(point) for point in failing[:_MOST_ALONE]]):
        tried += len(batch)
        read = program.decode_many(program.encode_many(batch))
        failed = [(text, back) for text, back in zip(batch, read, strict=True) if text != back]
        if failed:
            text, back = min(failed, key=lambda pair: len(pair[0]))
            says = f"it is decoded to {_beginning(back)}"
            return Fact(
                False, f"{tried:,} texts until one failed: {_SETS}", None, subject.witness(text, says)
            )
    return Fact(True, f"{tried:,} texts: {_SETS}")


def _batches(subject: Subject, points: CodePoints, singles: list[str]) -> Iterator[list[str]]:
    yield singles
    yield [points.framed(single) for single in singles]
    yield ["".join(pair) for pair in product(_ALPHABET, repeat=2)]
    yield [one.name for one in subject.control_tokens if 0 < len(one.name) <= _LONGEST][:_MOST_ALONE]
    yield [text for text, _ in around(("<|im_end|>", "{", '"'))]
    yield list(islice(texts(_SEED, list(subject.vocabulary.tokens)), _TEXTS))


def _beginning(text: str) -> str:
    return f"{text!a:.100}"
