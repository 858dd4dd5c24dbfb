"""Unicode properties as ECMA-262 names them in ``\\p{…}`` under flag ``u``.

Problem: ECMA-262 takes far fewer names than UAX #44 allows, and only as they are spelled there: not
``\\p{greek}``, not ``\\p{IsGreek}``, not ``\\p{Block=…}``.  A schema with another name is not valid, and is
told what it means.

Example: ``ecma_property("Script=Greek")`` and ``ecma_property("sc=Grek")`` are the same set.

Source: ECMA-262, tables "Non-binary Unicode property aliases" and "Binary Unicode property aliases"
(section 22.2.1 of the 2024 edition).  All that they list is there; the properties of strings, such as
``RGI_Emoji``, belong to flag ``v``, and are refused.  ``WSpace`` is taken as V8 takes it, though the table
has only ``White_Space`` and ``space``.

Cost: the first name that is looked up splits 1,700 lines of aliases, once (1 ms).
"""

from __future__ import annotations

from functools import cache
from typing import NoReturn

from tokamata.errors import UnknownPropertyError
from tokamata.patterns.unicode import Ranges, alias_lines, all_but, loose, named_set, valued

__all__ = ["ecma_property", "ecma_property_names"]

_BINARY = frozenset(
    [
        "ASCII_Hex_Digit", "Alphabetic", "Any", "ASCII", "Assigned", "Bidi_Control", "Bidi_Mirrored",
        "Case_Ignorable", "Cased", "Changes_When_Casefolded", "Changes_When_Casemapped",
        "Changes_When_Lowercased", "Changes_When_NFKC_Casefolded", "Changes_When_Titlecased",
        "Changes_When_Uppercased", "Dash", "Default_Ignorable_Code_Point", "Deprecated", "Diacritic",
        "Emoji", "Emoji_Component", "Emoji_Modifier", "Emoji_Modifier_Base", "Emoji_Presentation",
        "Extended_Pictographic", "Extender", "Grapheme_Base", "Grapheme_Extend", "Hex_Digit",
        "IDS_Binary_Operator", "IDS_Trinary_Operator", "ID_Continue", "ID_Start", "Ideographic",
        "Join_Control", "Logical_Order_Exception", "Lowercase", "Math", "Noncharacter_Code_Point",
        "Pattern_Syntax", "Pattern_White_Space", "Quotation_Mark", "Radical", "Regional_Indicator",
        "Sentence_Terminal", "Soft_Dotted", "Terminal_Punctuation", "Unified_Ideograph", "Uppercase",
        "Variation_Selector", "White_Space", "XID_Continue", "XID_Start",
    ]
)  # fmt: skip
_SHORT = {"gc": "General_Category", "sc": "Script", "scx": "Script_Extensions"}
_VALUED = {**_SHORT, **{name: name for name in _SHORT.values()}}
_OF_STRINGS = frozenset(
    [
        "Basic_Emoji", "Emoji_Keycap_Sequence", "RGI_Emoji", "RGI_Emoji_Flag_Sequence",
        "RGI_Emoji_Modifier_Sequence", "RGI_Emoji_Tag_Sequence", "RGI_Emoji_ZWJ_Sequence",
    ]
)  # fmt: skip


def ecma_property(name: str) -> Ranges:
    """The set that ``\\p{name}`` denotes; it may contain surrogates.

    Raises:
        KeyError: ECMA-262 has no such property or value; the argument is a sentence that says more.
    """
    left, separator, right = name.partition("=")
    if separator:
        property_name = _VALUED.get(left)
        if property_name is None:
            _refuse(name, "only General_Category, Script and Script_Extensions have values there")
        values = "General_Category" if property_name == "General_Category" else "Script"
        value = _aliases()[values].get(right)
        if value is None:
            _refuse(name)
        return valued(property_name, value)
    value = _aliases()["General_Category"].get(name)
    if value is not None:
        return valued("General_Category", value)
    binary = _aliases()[""].get(name, name)
    if binary not in _BINARY:
        _refuse(name)
    if binary in ("Any", "ASCII"):
        return ((0, 0x10FFFF),) if binary == "Any" else ((0, 0x7F),)
    if binary == "Assigned":
        return all_but(named_set("General_Category=Unassigned"))
    return named_set(f"{binary}=Yes")


@cache
def _aliases() -> dict[str, dict[str, str]]:
    """Property -> alias -> canonical name of a value; under ``""`` those of the properties."""
    names: dict[str, dict[str, str]] = {}
    for property_name, alias, name in alias_lines():
        names.setdefault(property_name, {})[alias] = name
    names["Script"].setdefault("Zzzz", "Unknown")
    return names


def ecma_property_names() -> list[str]:
    """All that may stand in ``\\p{…}``, in order: ``Greek`` only with ``Script=`` before it."""
    aliases = _aliases()
    names = {*_BINARY, *(alias for alias, name in aliases[""].items() if name in _BINARY)}
    names |= aliases["General_Category"].keys()
    for alias, property_name in _VALUED.items():
        values = aliases["General_Category" if property_name == "General_Category" else "Script"]
        names |= {f"{alias}={value}" for value in values}
    return sorted(names)


def _refuse(name: str, why: str = "") -> NoReturn:
    """Raises for a name that ECMA-262 does not have, with what was probably meant."""
    shown = "".join(letter if letter.isascii() and letter.isprintable() else "?" for letter in name[:40])
    if name in _OF_STRINGS:
        why = "it is a property of strings, which takes flag v"
    why = why or _meant(name) or "names are exact: case, _ and prefixes count"
    raise UnknownPropertyError(f"unknown Unicode property {shown!r} in ECMA-262; {why}")


def _meant(name: str) -> str:
    """What to write for a name that is only spelled differently, or ``""``."""
    wanted = loose(name.partition("=")[2] or name)
    for property_name, alias, canonical in alias_lines():
        if loose(alias) not in (wanted, wanted.removeprefix("is")):
            continue
        if property_name == "Script" or property_name == "General_Category":
            return f"write \\p{{{property_name}={canonical}}}"
        if property_name == "" and canonical in _BINARY:
            return f"write \\p{{{canonical}}}"
    return ""
