"""Unicode properties, from one version of Unicode whatever Python runs.

Problem: ``\\w`` of Python 3.10 and of Python 3.14 differ by thousands of letters.  A constraint must
not depend on that, so sets of code points come from a table of tokamata's own.

Example::

    property_ranges("Script=Greek")[:2]     # ((0x370, 0x373), (0x375, 0x377))
    named_set("python=d")[0]                # (0x30, 0x39): the digits 0 to 9

Source: ``unicode.bin``, which ``tools/make_unicode_tables.py`` generates; its format is described
there.  Names are matched as UAX #44 (rule LM3) asks and as the PyPI module ``regex`` does: case,
spaces, ``-`` and ``_`` do not count.

Cost: nothing is read when this is imported.  The first lookup reads 57 kB (about 0.3 ms), each set
is unpacked when first needed (``\\w``, of 783 ranges: 0.2 ms), names are indexed when the first
``\\p{…}`` is met (2 ms).
"""

from __future__ import annotations

import os
import re
import struct
import zlib
from functools import cache
from itertools import accumulate, pairwise
from typing import NamedTuple

from tokamata.errors import InstallationError, UnknownPropertyError

__all__ = [
    "UNICODE_VERSION", "Ranges", "alias_lines", "all_but", "case_orbits", "loose", "named_set",
    "property_ranges", "valued",
]  # fmt: skip

UNICODE_VERSION = "17.0.0"

Ranges = tuple[tuple[int, int], ...]  # inclusive, sorted, disjoint, not adjacent

_YES_NO = dict.fromkeys(["y", "yes", "t", "true"], True) | dict.fromkeys(["n", "no", "f", "false"], False)
_NEUTRAL = str.maketrans("", "", " -_\t")


class _Table(NamedTuple):
    content: bytes
    places: dict[str, tuple[int, int]]  # name of a set -> where its packed form begins and ends
    aliases: bytes


@cache
def _table() -> _Table:
    with open(os.path.join(os.path.dirname(__file__), "unicode.bin"), "rb") as file:
        content = file.read()
    header = f"TOKAMATA UNICODE {UNICODE_VERSION}\n".encode()
    if not content.startswith(header):
        raise InstallationError("unicode.bin is not of this version of tokamata; install tokamata again")
    sections, end = [], len(header)
    for _ in range(3):
        (size,) = struct.unpack_from("<I", content, end)
        sections.append(content[end + 4 : end + 4 + size])
        end += 4 + size
    names = zlib.decompress(sections[0]).decode().split("\n")
    sizes = zlib.decompress(sections[1])
    ends = list(accumulate(struct.unpack(f"<{len(names)}I", sizes), initial=end))
    return _Table(content, dict(zip(names, pairwise(ends), strict=True)), sections[2])


def _numbers(name: str) -> list[int]:
    """The numbers of one packed set."""
    table = _table()
    start, end = table.places[name]
    planes = zlib.decompress(table.content[start:end])
    count = len(planes) // 3
    words = bytearray(4 * count)
    for i in range(3):
        words[i::4] = planes[i * count : (i + 1) * count]
    return list(accumulate(struct.unpack(f"<{count}I", words)))


@cache
def named_set(name: str) -> Ranges:
    """The set that the table holds under exactly this name, such as ``"General_Category=Letter"``."""
    numbers = _numbers(name)
    return tuple(zip(numbers[::2], [end - 1 for end in numbers[1::2]], strict=True))


@cache
def case_orbits(rule: str = "case") -> dict[int, tuple[int, ...]]:
    """The code points that are equal where case does not count.

    For each one that has others equal to it: all of them, itself included.

    Args:
        rule: ``"case"``, as under ``re.IGNORECASE``, or ``"fold"``, by simple case folding alone, as
            under the flags ``iu`` of ECMA-262.
    """
    modulus = 1 << 24  # the second half of the numbers begins again below the first
    numbers = [number % modulus for number in _numbers(rule)]
    half = len(numbers) // 2
    orbits: dict[int, list[int]] = {}
    for point, orbit in zip(numbers[:half], numbers[half:], strict=True):
        orbits.setdefault(orbit, []).append(point)
    return {point: members for orbit in orbits.values() for members in (tuple(orbit),) for point in members}


def property_ranges(name: str) -> Ranges:
    """The set that ``\\p{name}`` denotes; it may contain surrogates.

    Args:
        name: ``Lu``, ``Greek``, ``Script=Greek``, ``scx:Grek``, ``Alphabetic``, ``Alphabetic=No``,
            ``InBasicLatin``, ``Any``; a leading ``^`` negates.

    Raises:
        UnknownPropertyError: no such property or value.
    """
    negated = name.startswith("^")
    left, separator, right = name[negated:].replace(":", "=", 1).partition("=")
    found = _with_value(left, right) if separator else _bare(left)
    return all_but(found) if negated else found


def _with_value(left: str, right: str) -> Ranges:
    properties = _names()[""]
    name = properties.get(loose(left)) or properties.get(loose(left).removeprefix("is"))
    if name is None:
        raise UnknownPropertyError(_unknown("property", left, properties))
    values = _names().get("Script" if name == "Script_Extensions" else name)
    if values is None:
        truth = _YES_NO.get(loose(right))
        if truth is None:
            raise UnknownPropertyError(f"the property {name} is either Yes or No, not {right!r}")
        return named_set(f"{name}=Yes") if truth else all_but(named_set(f"{name}=Yes"))
    value = values.get(loose(right))
    if value is None:
        raise UnknownPropertyError(_unknown(f"value of {name}", right, values))
    return valued(name, value)


def _bare(name: str) -> Ranges:
    plain = loose(name)
    special = {"any": ((0, 0x10FFFF),), "ascii": ((0, 0x7F),)}.get(plain)
    if special is not None:
        return special
    if plain == "assigned":
        return all_but(named_set("General_Category=Unassigned"))
    for candidate in (plain, plain.removeprefix("is")):
        for property_name in ("General_Category", "Script", "Block"):
            value = _names()[property_name].get(candidate)
            if value is not None:
                return valued(property_name, value)
        binary = _names()[""].get(candidate)
        if binary is not None and binary not in _names() and binary != "Script_Extensions":
            return named_set(f"{binary}=Yes")
    block = _names()["Block"].get(plain.removeprefix("in")) if plain.startswith("in") else None
    if block is None:
        known = [alias for names in _names().values() for alias in names]
        raise UnknownPropertyError(_unknown("property", name, known))
    return valued("Block", block)


def valued(property_name: str, value: str) -> Ranges:
    """The set of a property that has named values."""
    if property_name == "Script_Extensions" and f"{property_name}={value}" not in _table().places:
        property_name = "Script"  # the table leaves out what is the same for both
    return named_set(f"{property_name}={value}")


def alias_lines() -> list[tuple[str, str, str]]:
    """Property (``""``: the name of a property itself), alias, canonical name; all as Unicode spells them."""
    lines = zlib.decompress(_table().aliases).decode().split("\n")
    return [(fields[0], fields[1], fields[2]) for fields in (line.split("\t") for line in lines)]


@cache
def _names() -> dict[str, dict[str, str]]:
    """Property -> loose alias -> canonical name of a value; under ``""`` those of the properties."""
    names: dict[str, dict[str, str]] = {"": {}, "General_Category": {"l&": "Cased_Letter"}}
    for property_name, alias, name in alias_lines():
        names.setdefault(property_name, {})[loose(alias)] = name
    names["Script"].setdefault("zzzz", "Unknown")
    return names


def loose(name: str) -> str:
    """A name with what does not count left out."""
    return name.translate(_NEUTRAL).lower()


def all_but(ranges: Ranges) -> Ranges:
    """All other code points, surrogates included."""
    starts = [0, *(end + 1 for _, end in ranges)]
    ends = [*(start - 1 for start, _ in ranges), 0x10FFFF]
    return tuple((start, end) for start, end in zip(starts, ends, strict=True) if start <= end)


def _unknown(kind: str, name: str, known: object) -> str:
    from difflib import get_close_matches

    near = get_close_matches(loose(name)[:40], list(known), 3)  # type: ignore[call-overload]
    shown = re.sub(r"[^ -~]", "?", name[:40])
    return f"unknown Unicode {kind} {shown!r}" + (f"; near it are {', '.join(near)}" if near else "")
