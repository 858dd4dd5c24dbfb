"""Packs the Unicode Character Database into one file for tokamata.

Problem: character classes must be the same on every Python, so they cannot come from
``unicodedata``, whose version is the interpreter's.  The data comes from npm instead, in the
version :data:`VERSION`, and goes into ``unicode.bin``, about 60 kB.

Example::

    python tools/make_unicode_tables.py            # needs node and npm; writes unicode.bin

Source: the npm packages named below, with the data files of unicode.org (Unicode License v3, see
LICENSES/).  Derived here, by the rules in the documentation of CPython: ``\\w`` is
``str.isalnum`` (general categories L* and N*: every code point with a numeric type outside L* is
in N*); ``\\s`` is ``str.isspace`` (general category Zs, or bidirectional class WS, B or S); case
orbits are the classes of "same lower case" and "lower case letters with the same full upper
case", which ``re.IGNORECASE`` compares.  Folding orbits are the classes of the same simple case
folding (statuses C and S of CaseFolding.txt), which ECMA-262 compares under the flags ``iu``.

Format of ``unicode.bin``, all numbers little-endian::

    "TOKAMATA UNICODE 17.0.0\\n"     the version is checked when loading
    u32 n, then n bytes               zlib: names of the sets, a line each
    u32 m, then m bytes               zlib: u32 sizes in bytes of the packed sets, in that order
    u32 k, then k bytes               zlib: aliases, a line each: property, alias, canonical name
    the packed sets

A packed set is the zlib form of its boundaries (first code point of each range, then first code
point past it), as differences, in three planes: all low bytes, all middle bytes, all high bytes.
Both kinds of orbits are packed in the same way, as code points in order followed by their orbit numbers.
"""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import tempfile
import zlib
from collections import defaultdict
from pathlib import Path
from typing import Any

VERSION = "17.0.0"
DATA_PACKAGE = f"@unicode/unicode-{VERSION}@2.1.0"
ALIAS_PACKAGES = ("unicode-property-aliases@3.0.0", "unicode-property-value-aliases@4.0.0")
OUTPUT = Path(__file__).parent.parent / "src/tokamata/patterns/unicode/unicode.bin"

# Not properties of single code points that a pattern may name, or deprecated contributions to others.
SKIPPED = {"InCB", "NFKC_Simple_Casefold", "Any", "Assigned", "ASCII"}

READER = """
const root = process.argv[1] + '/node_modules/';
const data = root + '@unicode/unicode-VERSION/';
const index = (await import(data + 'index.mjs')).default;
const out = {sets: {}};
for (const property of ['General_Category', 'Script', 'Script_Extensions', 'Block',
                        'Binary_Property', 'Bidi_Class']) {
  out.sets[property] = {};
  for (const value of index[property]) {
    const ranges = (await import(`${data}${property}/${value}/ranges.mjs`)).default;
    out.sets[property][value] = ranges.map(r => [r.begin, r.end]);
  }
}
const map = async path => [...(await import(`${data}${path}/code-points.mjs`)).default];
out.lower = await map('Simple_Case_Mapping/Lowercase');
out.upper = await map('Simple_Case_Mapping/Uppercase');
out.full_lower = await map('Special_Casing/Lowercase');
out.full_upper = await map('Special_Casing/Uppercase');
out.fold = [...await map('Case_Folding/C'), ...await map('Case_Folding/S')];
out.aliases = [...(await import(root + 'unicode-property-aliases/index.mjs')).default];
const values = (await import(root + 'unicode-property-value-aliases/index.mjs')).default;
out.values = [...values].map(([property, names]) => [property, [...names]]);
console.log(JSON.stringify(out));
""".replace("VERSION", VERSION)

Ranges = list[tuple[int, int]]  # first code point, first code point past the range


def main() -> None:
    """Fetch the packages, derive the tables, write them."""
    with tempfile.TemporaryDirectory() as folder:
        install = ["npm", "install", "--silent", "--no-save", "--prefix", folder]
        subprocess.run([*install, DATA_PACKAGE, *ALIAS_PACKAGES], check=True, stdout=sys.stderr)
        command = ["node", "--input-type=module", "-e", READER, folder]
        data = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    sets = named_sets(data["sets"])
    sets["case"] = case_orbits(data)
    sets["fold"] = fold_orbits(data)
    content = pack(sets, alias_lines(data, set(sets)))
    OUTPUT.write_bytes(content)
    print(f"{OUTPUT}: {len(sets)} sets, {len(content)} bytes")


def named_sets(raw: dict[str, dict[str, Ranges]]) -> dict[str, list[int]]:
    """The boundaries of every set that is kept, by name (``property=value``)."""
    sets: dict[str, list[int]] = {}
    categories = raw["General_Category"]
    spaces = [raw["Bidi_Class"][name] for name in ("White_Space", "Paragraph_Separator", "Segment_Separator")]
    letters = [ranges for name, ranges in categories.items() if name in ("Letter", "Number")]
    sets["python=d"] = merge([categories["Decimal_Number"]])
    sets["python=w"] = merge([*letters, [(ord("_"), ord("_") + 1)]])
    sets["python=s"] = merge([categories["Space_Separator"], *spaces])
    for value, ranges in categories.items():
        sets[f"General_Category={value}"] = merge([ranges])
    for value, ranges in raw["Script"].items():
        sets[f"Script={value}"] = merge([ranges])
    for value, ranges in raw["Script_Extensions"].items():
        if merge([ranges]) != sets[f"Script={value}"]:
            sets[f"Script_Extensions={value}"] = merge([ranges])
    for value, ranges in raw["Block"].items():
        sets[f"Block={value}"] = merge([ranges])
    for value, ranges in raw["Binary_Property"].items():
        if value not in SKIPPED:
            sets[f"{value}=Yes"] = merge([ranges])
    return sets


def merge(parts: list[Ranges]) -> list[int]:
    """Boundaries of a union of sets: starts and ends alternate, ascending."""
    boundaries: list[int] = []
    for start, end in sorted((start, end) for ranges in parts for start, end in ranges):
        if boundaries and start <= boundaries[-1]:
            boundaries[-1] = max(boundaries[-1], end)
        else:
            boundaries += (start, end)
    return boundaries


def case_orbits(data: dict[str, Any]) -> list[int]:
    """Code points that ``re.IGNORECASE`` treats as equal: all in order, then their orbit numbers."""
    lower = {point: first(to) for source in ("lower", "full_lower") for point, to in data[source]}
    upper = {point: many(to) for source in ("upper", "full_upper") for point, to in data[source]}
    capitals = {point for to in upper.values() for point in to}
    points = sorted(lower.keys() | upper.keys() | set(lower.values()) | capitals)
    parent = {point: point for point in points}

    def root(point: int) -> int:
        while parent[point] != point:
            point = parent[point]
        return point

    for point in points:
        parent[root(point)] = root(lower.get(point, point))
    by_upper: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for point in points:
        by_upper[upper.get(point, (point,))].append(lower.get(point, point))
    for same in by_upper.values():
        for point in same:
            parent[root(point)] = root(same[0])
    return numbered({point: root(point) for point in points})


def fold_orbits(data: dict[str, Any]) -> list[int]:
    """Code points with the same simple case folding, in the form of :func:`case_orbits`."""
    folded = {point: first(to) for point, to in data["fold"]}
    points = sorted(folded.keys() | set(folded.values()))
    return numbered({point: folded.get(point, point) for point in points})


def numbered(roots: dict[int, int]) -> list[int]:
    """The code points that share a root with others, in order, then the numbers of their roots."""
    orbits: dict[int, list[int]] = defaultdict(list)
    for point, root in roots.items():
        orbits[root].append(point)
    several = sorted(orbit for orbit in orbits.values() if len(orbit) > 1)
    number = {point: i for i, orbit in enumerate(several) for point in orbit}
    return [*sorted(number), *(number[point] for point in sorted(number))]


def first(value: int | list[int]) -> int:
    """The first code point of a mapping to one or several."""
    return value if isinstance(value, int) else value[0]


def many(value: int | list[int]) -> tuple[int, ...]:
    """A mapping to one or several code points as a tuple."""
    return (value,) if isinstance(value, int) else tuple(value)


def alias_lines(data: dict[str, Any], sets: set[str]) -> list[str]:
    """Lines ``property, alias, name``; with property ``""`` for names of properties themselves."""
    kept = {name.partition("=")[0] for name in sets} | {"Script_Extensions"}
    lines = {f"\t{name}\t{name}" for name in kept if name not in ("python", "case", "fold")}
    lines |= {f"\t{alias}\t{name}" for alias, name in data["aliases"] if name in kept}
    for name in sets:
        property_name, _, value = name.partition("=")
        if property_name in ("General_Category", "Script", "Block"):
            lines.add(f"{property_name}\t{value}\t{value}")
    for property_name, values in data["values"]:
        if property_name in ("General_Category", "Script", "Block"):
            lines |= {f"{property_name}\t{a}\t{v}" for a, v in values if f"{property_name}={v}" in sets}
    return sorted(lines)


def pack(sets: dict[str, list[int]], aliases: list[str]) -> bytes:
    """The bytes of the file."""
    packed = [zlib.compress(planes(numbers), 9) for numbers in sets.values()]
    names = "\n".join(sets).encode()
    sizes = struct.pack(f"<{len(packed)}I", *map(len, packed))
    content = f"TOKAMATA UNICODE {VERSION}\n".encode()
    for section in (names, sizes, "\n".join(aliases).encode()):
        squeezed = zlib.compress(section, 9)
        content += struct.pack("<I", len(squeezed)) + squeezed
    return content + b"".join(packed)


def planes(numbers: list[int]) -> bytes:
    """Differences modulo 2**24 as three planes of bytes."""
    differences = [(b - a) % (1 << 24) for a, b in zip([0, *numbers], numbers, strict=False)]
    return bytes(d >> shift & 0xFF for shift in (0, 8, 16) for d in differences)


if __name__ == "__main__":
    main()
