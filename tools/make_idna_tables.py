"""Makes the table of IDNA 2008's rules for single code points.

Problem: Unicode labels consist of code points that RFC 5892 derives from Unicode properties.  They are
checked by properties that no pattern can name (bidirectional classes, joining types, combining classes) and
by the normalization form NFC.  All of these go into ``idna.bin``, about 10 kB.

Example::

    python tools/make_idna_tables.py         # needs npm, and a node of Unicode 17.0; writes idna.bin

Source: the npm package that ``make_unicode_tables.py`` names, with the data files of unicode.org (Unicode
License v3, see LICENSES/); the sets of ``tokamata.patterns.unicode``; and the normalization of pairs of code
points in Node.js, which determines the order of combining classes and the pairs that compose.

Format of ``idna.bin``: zlib of lines, each a name, a tab, and the boundaries of a set (first code point of
each range, then first code point past it) as differences in base 36, with spaces between them.

======================  ==============================================================================
``pvalid``              PVALID, RFC 5892, section 3
``virama``              canonical combining class 9
``joins_next``          PVALID, of joining type L or D
``joins_previous``      PVALID, of joining type R or D
``transparent``         PVALID, of joining type T
``bidi=L``, …           PVALID or allowed by context, of that bidirectional class
``order=1``, …          PVALID marks that are reordered, by rank of their combining class
``base j``, ``mark j``  bases, and all marks and signs that compose with any of them in the form NFC
======================  ==============================================================================
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

from tokamata.patterns.unicode import UNICODE_VERSION, named_set
from tools.make_unicode_tables import DATA_PACKAGE, VERSION

OUTPUT = Path(__file__).parent.parent / "src/tokamata/patterns/unicode/idna.bin"

LETTERS_AND_DIGITS = (
    "Lowercase_Letter", "Uppercase_Letter", "Other_Letter", "Decimal_Number", "Modifier_Letter",
    "Nonspacing_Mark", "Spacing_Mark",
)  # fmt: skip
IGNORABLE = ("Default_Ignorable_Code_Point", "White_Space", "Noncharacter_Code_Point")
IGNORABLE_BLOCKS = (
    "Combining_Diacritical_Marks_For_Symbols", "Musical_Symbols", "Ancient_Greek_Musical_Notation",
)  # fmt: skip
OLD_HANGUL = ((0x1100, 0x11FF), (0xA960, 0xA97C), (0xD7B0, 0xD7C6), (0xD7CB, 0xD7FB))
EXCEPTIONS = {0xDF, 0x3C2, 0x6FD, 0x6FE, 0xF0B, 0x3007}
BY_CONTEXT = {0xB7, 0x375, 0x5F3, 0x5F4, 0x30FB, *range(0x660, 0x66A), *range(0x6F0, 0x6FA)}
DISALLOWED = {0x640, 0x7FA, 0x302E, 0x302F, *range(0x3031, 0x3036), 0x303B}
JOINERS = {0x200C, 0x200D}
ASCII = {ord(letter) for letter in "-0123456789abcdefghijklmnopqrstuvwxyz"}

READER = """
if (process.versions.unicode !== '17.0') throw Error('this needs a node of Unicode 17.0');
const data = process.argv[1] + '/node_modules/@unicode/unicode-VERSION/';
const {points, marks} = JSON.parse(require('fs').readFileSync(0));
(async () => {
  const sets = async (property, values) => Object.fromEntries(await Promise.all(values.map(async value =>
    [value, (await import(`${data}${property}/${value}/ranges.mjs`)).default.map(r => [r.begin, r.end])])));
  const index = (await import(data + 'index.mjs')).default; const text = String.fromCodePoint; const changed
  = (a, b) => (text(a) + text(b)).normalize('NFC') !== text(a) + text(b); const moved = (a, b) => [text(a) +
  text(b), text(b) + text(a)].map(pair => pair.normalize('NFD')); // A mark has a combining class if some
  other one changes places with it. const reordered = marks.filter(a => [0x5B0, 0x301].some(b => { const [x,
  y] = moved(a, b); return x === y; })); const before = (a, b) => changed(b, a) && !changed(a, b); const
  composing = {}; for (const base of points) {
    const bad = marks.filter(mark => changed(base, mark));
    if (bad.length) composing[base] = bad;
  }
  console.log(JSON.stringify({
    bidi: await sets('Bidi_Class', index.Bidi_Class), joining: await sets('Joining_Type', index.Joining_Type),
    composing, reordered, before: reordered.map(a => reordered.filter(b => before(a, b)).length),
  }));
})();
""".replace("VERSION", VERSION)


def points(name: str) -> set[int]:
    """The code points of a named set."""
    return {point for start, end in named_set(name) for point in range(start, end + 1)}


def pvalid() -> set[int]:
    """The code points that RFC 5892 calls PVALID.

    Code points are unstable under NFKC and case folding if both together change them.  Ignorable ones are
    excluded anyway.
    """
    letters = set().union(*(points(f"General_Category={name}") for name in LETTERS_AND_DIGITS))
    letters -= points("Changes_When_NFKC_Casefolded=Yes").union(
        *(points(f"{name}=Yes") for name in IGNORABLE)
    )
    letters -= set().union(*(points(f"Block={name}") for name in IGNORABLE_BLOCKS))
    letters -= {point for start, end in OLD_HANGUL for point in range(start, end + 1)}
    return (letters - DISALLOWED - BY_CONTEXT) | EXCEPTIONS | ASCII


def main() -> None:
    """Derive the sets, write them."""
    assert UNICODE_VERSION == VERSION
    valid = pvalid()
    marks = points("General_Category=Mark") & valid
    late = marks | {0x16D67, 0x16D68}  # two letters that compose with the letter before them
    data = read(sorted(valid), sorted(late))
    assert not any(c in valid for c in set(range(0x1161, 0x1176)) | set(range(0x11A8, 0x11C3)))
    sets: dict[str, set[int]] = {"pvalid": valid}
    orders = dict(zip(data["reordered"], data["before"], strict=True))
    sets["virama"] = {mark for mark, rank in orders.items() if rank == orders[0x94D]}
    joining = {name: members(ranges) & valid for name, ranges in data["joining"].items()}
    sets["joins_next"] = joining["Left_Joining"] | joining["Dual_Joining"]
    sets["joins_previous"] = joining["Right_Joining"] | joining["Dual_Joining"]
    sets["transparent"] = joining["Transparent"]
    for name, ranges in data["bidi"].items():
        found = members(ranges) & (valid | BY_CONTEXT | JOINERS)
        if found:
            sets[f"bidi={name}"] = found
    for rank, before in enumerate(sorted(set(orders.values()), reverse=True)):
        sets[f"order={rank}"] = {mark for mark, count in orders.items() if count == before}
    for number, (bases, found) in enumerate(connected(data["composing"], set(orders))):
        sets[f"base {number}"], sets[f"mark {number}"] = bases, found
    lines = [f"{name}\t{packed(found)}" for name, found in sets.items()]
    content = zlib.compress("\n".join(lines).encode(), 9)
    OUTPUT.write_bytes(content)
    print(f"{OUTPUT}: {len(sets)} sets, {len(content)} bytes")


def connected(composing: dict[str, list[int]], reordered: set[int]) -> list[tuple[set[int], set[int]]]:
    """Groups of bases and the marks that compose with them; bases with a common mark are in one group."""
    groups: list[tuple[set[int], set[int]]] = []
    for base, found in composing.items():
        if int(base) in reordered:
            continue  # two marks that change places
        bases, marks = {int(base)}, set(found)
        for group in [group for group in groups if group[1] & marks]:
            groups.remove(group)
            bases |= group[0]
            marks |= group[1]
        groups.append((bases, marks))
    return groups


def read(valid: list[int], marks: list[int]) -> dict:
    """The data that Node.js reads from the package and computes."""
    with tempfile.TemporaryDirectory() as folder:
        install = ["npm", "install", "--silent", "--no-save", "--prefix", folder, DATA_PACKAGE]
        subprocess.run(install, check=True, stdout=sys.stderr)
        question = json.dumps({"points": valid, "marks": marks})
        command = ["node", "-e", READER, folder]
        return json.loads(
            subprocess.run(command, check=True, input=question, text=True, capture_output=True).stdout
        )


def members(ranges: list[list[int]]) -> set[int]:
    """The code points of half-open ranges."""
    return {point for start, end in ranges for point in range(start, end)}


def packed(found: set[int]) -> str:
    """The boundaries of a set, as differences in base 36."""
    edges = sorted({p for p in found if p - 1 not in found} | {p + 1 for p in found if p + 1 not in found})
    return " ".join(base36(b - a) for a, b in zip([0, *edges], edges, strict=False))


def base36(number: int) -> str:
    """A number in the digits that ``int(text, 36)`` reads."""
    digits = ""
    while number or not digits:
        number, digit = divmod(number, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
    return digits


if __name__ == "__main__":
    main()
