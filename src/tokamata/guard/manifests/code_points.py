"""What a tokenizer does to each code point: the normalizer alone, and the whole program.

Problem: there are 1,112,064 code points, and a call of a program takes 10 µs.  Those that no version of
Unicode assigns behave alike, so each plane has a few samples (``tokenization/pretokenizers/classes.py``),
which leaves 208,540.

Method: the program first encodes lines of 64 code points, with line feeds between them, and decodes them
again.  The code points of a line that comes back as it was are kept by the program.  Those of all other lines
are encoded one by one, as ``1c1``: two digits, which compose with nothing, keep a space at an end apart from
a space that the tokenizer puts before a text.  (Another character is taken if the tokenizer has no digits.)

    c          encode("1c1")                  what is said of it
    U+200D     as encode("11")                it vanishes
    ☃          with the unknown token         unknown
    A          decodes to "1a1"               changed
    中         decodes to "1 中 1"            spaced: the same apart from spaces

Cost: 0.5 s for a byte-level tokenizer, 5 s for BERT, which changes almost every line.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from unicodedata import category

from tokamata.guard.manifests.facts import Fact, counted, not_measured, shown_point
from tokamata.guard.manifests.subject import Subject
from tokamata.tokenization.pretokenizers.classes import sample_points
from tokamata.tokenization.running import RunningTokenizer

__all__ = ["CodePoints", "code_point_facts", "code_points", "sampled_points"]

_IN_LINE = 64
_BASES = "1023456789.-_!#zb"
_HOW = (
    "each of {count:,} code points, all assigned ones and samples of the rest, in lines of {line}; those of "
    "lines that change also as {frame}"
)


@dataclass(frozen=True)
class CodePoints:
    """What the program does to code points.

    Attributes:
        count: how many it was given.
        base: what stands on both sides of a code point that is tried apart: a digit or such that the
            program knows, and ``""`` if it knows none.
        vanishing: those of which it writes nothing.
        unknown: those for which it writes its unknown token.
        changed: those that come back as another text, by code point.
        spaced: those that come back with other spaces around them, and are otherwise the same.
        ids: all tokens that were written.
    """

    count: int
    base: str = "1"
    vanishing: list[int] = field(default_factory=list)
    unknown: list[int] = field(default_factory=list)
    changed: dict[int, str] = field(default_factory=dict)
    spaced: list[int] = field(default_factory=list)
    ids: set[int] = field(default_factory=set)

    @property
    def how(self) -> str:
        """How they were measured."""
        return _HOW.format(count=self.count, line=_IN_LINE, frame=repr(self.framed("c")))

    def framed(self, text: str) -> str:
        """A text between two bases."""
        return self.base + text + self.base


def sampled_points() -> list[int]:
    """The code points that programs are given, without the line feed."""
    return [point for point in sample_points().tolist() if point != 0x0A]


def code_points(program: RunningTokenizer) -> CodePoints:
    """What a program does to each code point.

    Raises:
        ProgramFailed: the program raised an error.
    """
    points = sampled_points()
    lines = [points[begin : begin + _IN_LINE] for begin in range(0, len(points), _IN_LINE)]
    found = CodePoints(len(points), _base_of(program))
    texts = ["\n".join(map(chr, line)) for line in lines]
    written = program.encode_many(texts)
    for ids in written:
        found.ids.update(ids)
    read = program.decode_many(written)
    single = [p for line, text, back in zip(lines, texts, read, strict=True) if back != text for p in line]
    nothing = program.encode(found.framed(""))
    alone = [found.framed(chr(point)) for point in single]
    written = program.encode_many(alone)
    for point, text, ids, back in zip(single, alone, written, program.decode_many(written), strict=True):
        found.ids.update(ids)
        if ids == nothing:
            found.vanishing.append(point)
        elif program.unknown is not None and program.unknown in ids:
            found.unknown.append(point)
        elif back == text:
            continue
        elif back.replace(" ", "") == text.replace(" ", ""):
            found.spaced.append(point)
        else:
            found.changed[point] = back.removeprefix(found.base).removesuffix(found.base)
    return found


def _base_of(program: RunningTokenizer) -> str:
    """A character that composes with nothing, and that the program has a token for."""
    return next(
        (base for base in _BASES if program.unknown not in (ids := program.encode(base * 2)) and ids), ""
    )


def _listed(subject: Subject, found: CodePoints, points: list[int], says: str) -> Fact:
    """A fact that lists code points: their number, by category, the first ones, and a digest of all."""
    names = [shown_point(point) for point in points]
    value = counted(names, names)
    if not points:
        return Fact(value, found.how)
    value["categories"] = dict(sorted(Counter(category(chr(point)) for point in points).items()))
    witness = subject.witness(found.framed(chr(points[0])), says.format(names[0]), len(found.base))
    return Fact(value, found.how, None, witness)


def code_point_facts(subject: Subject, found: CodePoints | None, reason: str) -> dict[str, Fact]:
    """The facts about filters, unknown text and bytes.

    Args:
        subject: the tokenizer.
        found: what its program does to code points; ``None`` if that was not measured.
        reason: why it was not.
    """
    if found is None:
        return {name: not_measured(reason) for name in ("filtered", "unknown", "changed_points")}
    changed = [f"{shown_point(point)} {after!a}" for point, after in found.changed.items()]
    witness = None
    if found.changed:
        text = found.framed(chr(next(iter(found.changed))))
        witness = subject.witness(text, "it is decoded to another text", len(found.base))
    how = found.how + "; what they are decoded to"
    without = f"the tokens are those of {found.framed('')!r}"
    return {
        "filtered": _listed(subject, found, found.vanishing, f"{{}} vanishes: {without}"),
        "unknown": _listed(subject, found, found.unknown, "{} becomes the unknown token"),
        "changed_points": Fact(counted(changed, changed), how, None, witness),
    }
