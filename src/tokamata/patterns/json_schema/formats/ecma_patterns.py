r"""Regular expressions of ECMA-262 under flag ``u``, as texts.

Source: ECMA-262, 2024, section 22.2.1 (the grammar, and the early errors after it).

Example: ``^(?:[a-z]+\d{2,3}|\u{1F600})*$``; not ``\a``, ``a**``, ``[z-a]``, ``x{3,2}``, ``(?=a)*``, ``\1``.

The grammar nests, and some of its errors compare numbers, code points or names; no regular language says
all of it.  What is in the language is a pattern.  What is left out:

================  ======================================================================================
groups            in groups more than :data:`DEPTH` deep; more than one with a name; one with a name beside
                  references by number; names with escapes
``\1``            unless so many groups that stand in no other end before it; ``\10`` and beyond
``\k<name>``      unless it stands in no group, behind the group, and the name is a letter of ASCII or ``_``
``{n,m}``         leading zeros; a first bound of more than nine digits; bounds of equally many digits, unless
                  of two, or of three of which the first two are greater in the second
``[x-y]``         what :mod:`.ecma_ranges` leaves out
in classes        ranges from ``^`` without a backslash; ``\0`` that begins no range
later editions    modifiers (``(?i:…)``), groups of one name in several alternatives
================  ======================================================================================
"""

from __future__ import annotations

import tokamata._core as _core
from tokamata.patterns.json_schema.formats.ecma_classes import character_class, escape
from tokamata.patterns.regex import to_expression
from tokamata.patterns.regex.classes import normalize
from tokamata.patterns.unicode import named_set

__all__ = ["DEPTH", "regex"]

DEPTH = 8  # of groups in each other
MOST_REFERENCE = 9  # the number of a group that is referred to
MOST_DIGITS = 9  # of a bound of a quantifier

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz"


def regex() -> _core.Expression:
    """The patterns that JavaScript takes under flag ``u``, except for those that are left out."""
    grammar = _Grammar()
    return _core.union([grammar.with_numbers(), grammar.with_name(), grammar.with_reference_to_name()])


def _literal(text: str) -> _core.Expression:
    return _core.literal(text.encode())


def _any(*options: _core.Expression) -> _core.Expression:
    return _core.repeat(_core.union(list(options)), 0, None)


class _Grammar:
    r"""The grammar, piece by piece.

    A *pattern* is terms and bars, one after the other.  What must not be followed by a digit (``\0``,
    ``\1``) is a term with its quantifier, or is followed by a term that begins otherwise, or ends the
    pattern.
    """

    def __init__(self) -> None:
        quantifier = to_expression(_quantifier())
        self._quantifier = quantifier
        self._maybe_quantifier = _core.union([_core.epsilon(), quantifier])
        atom = _core.union([to_expression(r"[^\^$\\.*+?()\[\]{}|0-9]|\."), escape(), character_class()])
        self._plain = [self._quantified(atom), to_expression(r"[\^$|]|\\[bB]")]
        self._digit = self._quantified(to_expression("[0-9]"))
        self._closing = _literal(")")
        self._open = to_expression(r"\((?:\?:)?")
        self._look = to_expression(r"\(\?<?[=!]")
        self._patterns = [self._nested(numbers) for numbers in range(MOST_REFERENCE + 1)]

    def _quantified(self, atom: _core.Expression) -> _core.Expression:
        return _core.concat([atom, self._maybe_quantifier])

    def _terms(self, numbers: int, inner: _core.Expression | None) -> _core.Expression:
        """Terms with references up to a number, and with groups around ``inner``."""
        before_no_digit = [_literal(r"\0"), *(_literal(f"\\{number}") for number in range(1, numbers + 1))]
        number = _core.union(before_no_digit)
        terms = [*self._plain, _core.concat([number, self._quantifier])]
        if inner is not None:
            terms += [self._group(self._open, inner), _core.concat([self._look, inner, self._closing])]
        numbers_and_term = _core.concat([_core.repeat(number, 0, None), _core.union(terms)])
        return _core.concat([_any(numbers_and_term, self._digit), _core.repeat(number, 0, None)])

    def _group(self, opening: _core.Expression, inner: _core.Expression) -> _core.Expression:
        return self._quantified(_core.concat([opening, inner, self._closing]))

    def _nested(self, numbers: int) -> list[_core.Expression]:
        """Patterns with references up to a number, by depth."""
        patterns = [self._terms(numbers, None)]
        for _ in range(DEPTH):
            patterns.append(self._terms(numbers, patterns[-1]))
        return patterns

    def with_numbers(self) -> _core.Expression:
        """Patterns without names; before each reference are at least as many groups as its number."""
        whole = self._patterns[MOST_REFERENCE][-1]
        for numbers in range(MOST_REFERENCE - 1, -1, -1):
            patterns = self._patterns[numbers]
            group = self._group(_literal("("), patterns[-2])
            whole = _core.concat([patterns[-1], _core.union([_core.epsilon(), _core.concat([group, whole])])])
        return whole

    def with_name(self) -> _core.Expression:
        """Patterns with one name, and without references."""
        plain = self._patterns[0]
        opening = _core.concat([_literal("(?<"), _name(), _literal(">")])
        named = self._group(opening, plain[0])
        for depth in range(1, DEPTH + 1):
            before, inner = plain[depth - 1], _core.concat([plain[depth - 1], named, plain[depth - 1]])
            around = [self._group(self._open, inner), _core.concat([self._look, inner, self._closing])]
            named = _core.union([self._group(opening, before), *around])
        return _core.concat([plain[-1], named, plain[-1]])

    def with_reference_to_name(self) -> _core.Expression:
        """Patterns with a group named by a letter, and references behind it."""
        plain = self._patterns[0]
        ways = []
        for letter in _LETTERS:
            group = self._group(_literal(f"(?<{letter}>"), plain[-2])
            reference = self._quantified(_literal(f"\\k<{letter}>"))
            ways.append(
                _core.concat([group, plain[-1], _core.repeat(_core.concat([reference, plain[-1]]), 1, None)])
            )
        return _core.concat([plain[-1], _core.union(ways)])


def _name() -> _core.Expression:
    first = normalize([*named_set("ID_Start=Yes"), (0x24, 0x24), (0x5F, 0x5F)])
    rest = normalize([*named_set("ID_Continue=Yes"), (0x24, 0x24), (0x200C, 0x200D)])
    return _core.concat([_core.code_points(first), _any(_core.code_points(rest))])


def _quantifier() -> str:
    """A quantifier; of ``{n,m}`` those whose bounds are in order, as far as they are compared."""
    forms = ["0,(?:0|[1-9][0-9]*)"]
    for first in range(1, 10):
        forms.append(f"{first},(?:[{first}-9]|[1-9][0-9]+)")
        for second in range(10):
            greater = f"{first}[{second}-9]" + (f"|[{first + 1}-9][0-9]" if first < 9 else "")
            forms.append(f"{first}{second},(?:{greater}|[1-9][0-9]{{2,}})")
            longer = f"{first}[{second + 1}-9][0-9]|" if second < 9 else ""
            longer += f"[{first + 1}-9][0-9]{{2}}|" if first < 9 else ""
            forms.append(f"{first}{second}[0-9],(?:{longer}[1-9][0-9]{{3,}})")
    for length in range(4, MOST_DIGITS + 1):
        forms.append(f"[1-9][0-9]{{{length - 1}}},[1-9][0-9]{{{length},}}")
    return rf"(?:[*+?]|\{{(?:[0-9]+,?|{'|'.join(forms)})\}})\??"
