"""What is measured: the patterns, the texts that are walked, and tokamata's targets."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Case:
    """A pattern, and texts that it matches.

    Attributes:
        name: what tables call it.
        pattern: the regular expression, as every engine gets it.
        texts: what is walked token by token; empty where only the first mask is of interest.
        longest: how many bytes the tokens of the texts may have; ``None`` is without bound.
        ours: what tokamata gets in the place of the pattern, where that is something else.
        is_schema: the pattern is the text of a JSON Schema.
    """

    name: str
    pattern: str
    texts: tuple[str, ...] = ()
    longest: int | None = None
    ours: str | None = None
    is_schema: bool = False

    def pattern_for(self, engine: str) -> str:
        """What the engine of that name gets."""
        return self.ours if engine == "tokamata" and self.ours is not None else self.pattern


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

# Appendix C.4.5; nothing in it is required.
_CHARACTER = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "class": {"type": "string", "enum": ["Warrior", "Rogue", "Sorceror"]},
        "life": {"type": "integer"},
        "mana": {"type": "integer"},
        "equipment": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "durability": {"type": "integer"},
                    "quality": {"type": "string", "enum": ["Normal", "Magic", "Unique"]},
                },
            },
        },
    },
}
JSON_OBJECT = Case(
    "JSON object",
    json.dumps(_CHARACTER),
    (
        '{"name": "Mordenkainen", "class": "Sorceror", "life": 42, "mana": 350, "equipment": '
        '[{"name": "Staff of Power", "durability": 20, "quality": "Unique"}, '
        '{"name": "Robe", "durability": 7, "quality": "Normal"}]}',
    ),
    is_schema=True,
)

# As table 2 has them: quoted text by the extension, which is tokamata's own pattern for it.
TABLE_2 = (*PAPER[:3], replace(PAPER[3], ours="(?P<QUOTED_TEXT>)"), JSON_OBJECT)

# Two of them again, with digits that mean the same to every engine, since not all read \d alike.
LIKE_FOR_LIKE = tuple(
    Case(f"{case.name}, [0-9]", case.pattern.replace(r"\d", "[0-9]"), case.texts) for case in PAPER[1:3]
)

# States in which most of a vocabulary is allowed, or a class of many code points.
WIDE = tuple(Case(pattern, pattern) for pattern in (r"(.|\n)*", r'[^"]*', r"[a-z]*", r"\w*", r".{2,}"))

# The wide states that the target for first sight is about.
WIDE_WITH_TARGET = (r"(.|\n)*", r'[^"]*')

SMALL_BOUND = r"[a-z]{0,4}"
LARGE_BOUND = r"[a-z]{0,100000}"


# What the project has set itself for these.
COMPILE_AND_MASK_US = 200.0
FILL_OVER_COPY_US = 0.3
MASK_VIEW_US = 0.3
FILL_AND_ADVANCE_US = 2.2
VIEW_AND_ADVANCE_US = 0.6
WIDE_FIRST_MASK_US = 300.0
LOAD_S = 1.5
TRIE_MS = 150.0
TRIE_MB = 64.0
IMPORT_MS = 150.0
# "In the time of" the small bound: within what two runs of the same thing differ by.
BOUND_RATIO = 1.25
