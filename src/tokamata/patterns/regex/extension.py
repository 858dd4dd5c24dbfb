"""Extensions: specially named groups whose meaning a callback gives.

Problem: some languages are easy to make and hard to spell as a regular expression, such as all
substrings of a text.  The paper *Automata-based constraints for language model decoding* (2024,
section 2.5) writes them as groups with special names: ``(?P<SUBSTRING_OF>abc)``.

Example::

    def shout(call: ExtensionCall) -> _core.Expression:
        return call.compile(call.argument.upper(), 0)

    to_expression("(?P<SHOUT>a|b)!", extensions={"SHOUT": shout})    # as A!|B!

They are written so in the dialect of ECMA-262 too, where nothing else begins with ``(?P``.

The argument is raw: it ends at the parenthesis that matches the group's own, where escaped ones and
those in classes do not count, as in any group.  What it means is up to the callback.  Groups with
other names are ordinary groups; one with a name of capitals and nothing in it is an error, as it
would be an extension that is misspelt.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import tokamata._core as _core
from tokamata.errors import LimitExceeded, PatternError, PatternSyntaxError

__all__ = ["OPENING", "ExtensionCall", "Extensions", "refuse_unknown_extension"]

OPENING = "(?P<"  # in every dialect
_CAPITALS = re.compile("[A-Z][A-Z0-9_]+")


@dataclass(frozen=True)
class ExtensionCall:
    """One use of an extension in a pattern.

    Attributes:
        name: the name of the group.
        argument: the text between ``>`` and the matching ``)``, as it stands in the pattern.
        pattern: the whole pattern.
        position: where in it the group begins.
        argument_position: where in it the argument begins.
        flags: the flags of ``re`` that hold there.
        dialect: the name of the pattern's dialect.
    """

    name: str
    argument: str
    pattern: str
    position: int
    argument_position: int
    flags: int
    dialect: str
    _parse: Callable[[str, int], _core.Expression] = field(repr=False, compare=False)
    _unescape: Callable[[str, int], str] = field(repr=False, compare=False)

    def compile(self, text: str, offset: int) -> _core.Expression:
        """The expression of a part of the argument that is itself a pattern.

        It is in the same dialect and under the same flags, may use extensions, and matches as a part
        of the whole does: its lookarounds see the whole text.

        Args:
            text: the part.
            offset: where it begins in ``argument``; errors are shown there.

        Raises:
            PatternError, LimitExceeded: as for any pattern, with the place in the whole pattern.
        """
        place = self.argument_position + offset
        try:
            return self._parse(text, place)
        except PatternError as error:
            raise type(error)(self.pattern, place + error.position, error.reason, error.hint) from None
        except LimitExceeded as error:
            place += error.position or 0
            raise LimitExceeded(error.limit, error.bound, self.pattern, place) from None

    def unescape(self, text: str, offset: int) -> str:
        """A part of the argument as a plain text.

        Every character stands for itself, ``.`` and ``(`` too, but a backslash escapes as it does in
        the dialect: ``\\n``, ``\\)``, ``\\x41``.

        Raises:
            PatternSyntaxError: an escape that does not stand for one character.
        """
        return self._unescape(text, self.argument_position + offset)

    def error(self, reason: str, hint: str = "", offset: int | None = None) -> PatternSyntaxError:
        """An error to be raised: at the group, or ``offset`` characters into the argument."""
        place = self.position if offset is None else self.argument_position + offset
        return PatternSyntaxError(self.pattern, place, reason, hint)


Extensions: TypeAlias = Mapping[str, Callable[[ExtensionCall], _core.Expression]]


def refuse_unknown_extension(pattern: str, position: int, name: str, extensions: Extensions) -> None:
    """Raises for an empty group whose name is that of no extension, but could be meant as one."""
    if _CAPITALS.fullmatch(name):
        hint = f"the extensions are {', '.join(sorted(extensions))}"
        raise PatternSyntaxError(pattern, position, f"unknown extension {name[:40]!r}", hint)
