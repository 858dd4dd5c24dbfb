"""The patterns of Koo, Liu and He (2024), appendix C.4, and texts that they match."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """A pattern, and texts that it matches.

    Attributes:
        name: what tables call it.
        pattern: the regular expression, as every engine gets it.
        texts: what is walked token by token; empty where only the first mask is of interest.
        longest: how many bytes the tokens of the texts may have; ``None`` is without bound.
    """

    name: str
    pattern: str
    texts: tuple[str, ...] = ()
    longest: int | None = None


_QUOTED = (
    '"The quick brown fox jumps over the lazy dog, while 42 engineers measure how long every step of it '
    'takes; \\"Repeat it twenty times,\\" says one of them, \\"and quote the median.\\""'
)

# Appendix C.4 of Koo, Liu & He, Automata-based constraints for language model decoding.  The
# fourth is the regex that the paper gives for Outlines, `QUOTED_TEXT` being an extension of its own
# system.  In the text of the paper at hand it reads `" *(?:[^\s"\\]|\\["n\\])?(?: [^\s"\\]|\\["n\\])*"`,
# which has suffered: it refuses the paper's own example, `"foo"`.  What is used here has the same
# parts and accepts it.
PAPER = (
    Case(
        "multiple choice",
        r"Red|Orange|Yellow|Green|Blue|Indigo|Violet",
        ("Red", "Orange", "Yellow", "Green", "Blue", "Indigo", "Violet"),
        longest=1,  # each is one token of Gemma 3, which would leave a single step
    ),
    Case(
        "ISO date-time",
        r"\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\d([+][0-2]\d:[0-5]\d|Z)",
        ("2024-05-17T12:34:56+02:00",),
    ),
    Case(
        "IP address",
        r"((25[0-5]|2[0-4]\d|[01]?\d\d?)\.){3}(25[0-5]|2[0-4]\d|[01]?\d\d?)",
        ("192.168.100.254",),
    ),
    Case(
        "quoted text",
        r'" *(?:[^\s"\\]|\\["n\\])(?: *(?:[^\s"\\]|\\["n\\]))*"',
        (_QUOTED,),
    ),
)
