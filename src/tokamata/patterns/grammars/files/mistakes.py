"""What is probably meant by a text that cannot be read as a grammar.

====================================  =========================================================
``root ::= "a"``, given as Lark       GBNF: pass ``syntax="gbnf"``
``start: "a"``, given as GBNF         a Lark file: leave out ``syntax="gbnf"``
``expr : term ;``                     ANTLR
``<expr> ::= <term>``                 BNF
``rule = "a" / %x62``                 ABNF
``grammars/query.lark``               the path of a file: pass a ``pathlib.Path``
``{"type": "object"}``                a JSON Schema
``[a-z]+``                            no rule at all: a regular expression
====================================  =========================================================

Only a text that was refused is examined, so no grammar is refused for its looks.  A file of several styles is
of the one that was requested, and the odd rule is at fault.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from itertools import islice
from typing import NamedTuple

from tokamata.errors import GrammarError

__all__ = ["explained", "nearest"]

_LONGEST_NAME = 100  # to be compared with others
_MOST_NAMES = 2_000  # that are compared with a misspelled one

_PATH = re.compile(r"[^\n\"'|]*[^\n\"'|\s]\.(?:lark|gbnf|ebnf|bnf|abnf|g4|g|txt|grammar)")
_LARK = re.compile(
    r"^[ \t]*(?:[?!]*_?[A-Za-z]\w*(?:\{[^}\n]*\})?(?:\.\d+)?(?:\[[^\]\n]*\])?[ \t]*(?P<sign>:)(?![:=])"
    r"|(?P<directive>%(?:import|ignore|declare)\b))",
    re.MULTILINE,
)
_GBNF = re.compile(r"^[ \t]*(?P<name>[A-Za-z0-9_][\w.-]*)\s*(?P<sign>::=)", re.MULTILINE)
_BNF = re.compile(r"^[ \t]*<(?P<name>[^<>\n]+)>\s*(?P<sign>::=|:=|=|:|->|→)", re.MULTILINE)
_OTHER = re.compile(r"^[ \t]*(?P<name>[A-Za-z_][\w-]*)[ \t]*(?P<sign>:=|=/|=|->|→)(?!=)", re.MULTILINE)
_SET = re.compile(r"\[[^\[\]\"\n/]*\]")
_EXPRESSION = re.compile(r"(?=.*[\[\\(.*+?|])(?:\(\?:|[^\n\":=])+")
_ANTLR = re.compile(r"^[ \t]*(?:(?:lexer|parser)[ \t]+)?(?P<sign>grammar)[ \t]+\w+[ \t]*;", re.MULTILINE)
_SEMICOLON = re.compile(
    r"^[^\n\"'/#:]*:(?:[^\n\"';/#]|\"[^\"\n]*\"|'[^'\n]*')*(?P<sign>;)[ \t]*$", re.MULTILINE
)


class _Meant(NamedTuple):
    position: int
    reason: str
    hint: str


@contextmanager
def explained(text: str, syntax: str) -> Iterator[None]:
    """Replaces the error of a grammar by one that says what it probably is, if that can be seen.

    Args:
        text: the grammar that is read.
        syntax: ``"lark"`` or ``"gbnf"``.
    """
    try:
        yield
    except GrammarError as error:
        if error.grammar != text:  # of a grammar within this one
            raise
        for look in _LOOKS:
            found = look(text, syntax, error.position)
            if found is not None:
                raise GrammarError(text, *found) from error
        raise


def nearest(name: str, names: Iterable[str]) -> str:
    """The name that is most like another; ``""`` if none is."""
    if len(name) > _LONGEST_NAME:
        return ""
    others = {other.lower(): other for other in islice(names, _MOST_NAMES) if len(other) <= _LONGEST_NAME}
    return next((others[found] for found in get_close_matches(name.lower(), others, 1)), "")


def _defined(name: str, syntax: str) -> str:
    """How a rule is defined."""
    name = name.strip().replace(" ", "_").replace("-", "_") if syntax == "lark" else name.strip()
    return f"{name.lower()}: …" if syntax == "lark" else f"{name} ::= …"


def _of_path(text: str, syntax: str, position: int) -> _Meant | None:
    shown = text.strip()
    if not _PATH.fullmatch(shown) or "::=" in shown:
        return None
    expanded = ".expanduser()" if shown.startswith("~") else ""
    hint = f"pass pathlib.Path({shown!r:.200}){expanded}"
    return _Meant(0, "this looks like the path of a file, not like a grammar", hint)


def _of_json(text: str, syntax: str, position: int) -> _Meant | None:
    if not re.match(r'\s*\{\s*"', text):
        return None
    hint = "tk.json_schema takes a schema; within a Lark file, write start: %json {…}"
    return _Meant(text.index("{"), "this looks like JSON, not like a grammar", hint)


def _of_set(text: str, syntax: str, position: int) -> _Meant | None:
    """A set of characters in a rule of Lark, where brackets say that an item is optional."""
    if syntax != "lark":
        return None
    begin = text.rfind("\n", 0, position) + 1
    for found in _SET.finditer(text, begin):
        if found.start() <= position < found.end() and re.search(r"\\|\w-\w|\[\^", found.group()):
            reason = "[…] is an optional item, and no set of characters"
            return _Meant(found.start(), reason, f"write /{found.group():.80}/")
    return None


def _of_bnf(text: str, syntax: str, position: int) -> _Meant | None:
    found = _BNF.search(text)
    if found is None:
        return None
    reason = "this looks like BNF: names of rules stand without < and >"
    return _Meant(found.start("name") - 1, reason, f"write {_defined(found['name'], syntax)}")


def _of_gbnf_or_lark(text: str, syntax: str, position: int) -> _Meant | None:
    is_antlr = _ANTLR.search(text) or _SEMICOLON.search(text)
    lark, gbnf = _LARK.search(text), _GBNF.search(text)
    if is_antlr or (lark is None and gbnf is None):
        return None
    if syntax == "lark" and gbnf is not None:
        if lark is None:
            return _Meant(
                gbnf.start("sign"),
                "this is GBNF, not a Lark file",
                "pass syntax='gbnf'; on the command line, let the file be named .gbnf",
            )
        reason = "'::=' defines rules of GBNF, and ':' those of Lark"
        return _Meant(gbnf.start("sign"), reason, f"write {_defined(gbnf['name'], syntax)}")
    if syntax == "gbnf" and lark is not None:
        at = lark.start("directive") if lark["sign"] is None else lark.start("sign")
        if gbnf is None:
            return _Meant(
                at,
                "this is a Lark file, not GBNF",
                "leave out syntax='gbnf'; on the command line, let the file be named .lark",
            )
        if lark["sign"] is not None:
            return _Meant(at, "':' defines rules of Lark, and '::=' those of GBNF", "write ::= here")
    return None


def _of_antlr(text: str, syntax: str, position: int) -> _Meant | None:
    found = _ANTLR.search(text)
    if found is not None:
        hint = f"write rules as {_defined('name', syntax)} without ';', and texts in double quotes"
        return _Meant(found.start("sign"), "this looks like a grammar of ANTLR", hint)
    found = _SEMICOLON.search(text)
    if found is None or text[position : position + 1] not in (":", ";"):
        return None
    hint = f"write rules as {_defined('name', syntax)} without ';', and texts in double quotes"
    return _Meant(found.start("sign"), "no ';' ends a rule", hint)


def _of_other_signs(text: str, syntax: str, position: int) -> _Meant | None:
    found = _OTHER.search(text)
    if found is None or _LARK.search(text) or _GBNF.search(text):
        return None
    sign = "'::='" if syntax == "gbnf" else "':'"
    reason = f"{found['sign']!r} defines no rule; {sign} does"
    hint = f"write {_defined(found['name'], syntax)}"
    if re.search(r"%[xdb][0-9A-Fa-f]|\s/\s|\*[A-Z]|=/", text):
        reason = f"this looks like ABNF: {reason}"
        hint += ", and | between alternatives"
    return _Meant(found.start("sign"), reason, hint)


def _without_rules(text: str, syntax: str, position: int) -> _Meant | None:
    if not _EXPRESSION.fullmatch(text.strip()) or _OTHER.search(text):
        return None
    rule = 'write a rule: root ::= "text"' if syntax == "gbnf" else "write a rule: start: /…/"
    return _Meant(0, "there is no rule here", f"{rule}; tk.regex takes a regular expression")


_LOOKS: tuple[Callable[[str, str, int], _Meant | None], ...] = (
    _of_path,
    _of_json,
    _without_rules,
    _of_set,
    _of_bnf,
    _of_gbnf_or_lark,
    _of_antlr,
    _of_other_signs,
)
