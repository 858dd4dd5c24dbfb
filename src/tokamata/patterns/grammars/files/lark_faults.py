"""Faults of syntax in Lark files: what is wrong where lark's loader stopped reading.

    Unexpected token Token('_NL', '\\n') …     this group is never closed, at its bracket
    Expecting option ("|") or a new rule …     ? stands before rules, not before terminals

The loader's words are guesses, made from examples.  The text itself shows more.
"""

from __future__ import annotations

import re

from tokamata.errors import GrammarError
from tokamata.patterns.grammars.files.lark_dialect_tokens import DialectToken
from tokamata.patterns.grammars.files.lark_source import LarkSource
from tokamata.patterns.grammars.files.mistakes import nearest

__all__ = ["fault_of_syntax"]

_DIRECTIVES = ("%import", "%ignore", "%declare", "%override", "%extend")
_CLOSING = {"(": ")", "[": "]", "{": "}"}
_QUOTES = "'‘’“”„«»`"
_STRING = re.compile(r'"(?:\\"|\\\\|[^"\n])*?"')


def fault_of_syntax(file: LarkSource, position: int, said: str) -> GrammarError:
    """What is wrong where reading stopped; ``said``: the loader's words."""
    for look in (_of_directives, _of_brackets, _of_names, _of_characters, _of_statements):
        found = look(file, position)
        if found is not None:
            return found
    if re.match("Unexpected (input|token)|Expecting a value", said):
        return file.error(position, f"{_shown(file.text, position)} cannot stand here")
    return file.error(position, said[:1].lower() + said[1:])


def _shown(text: str, position: int) -> str:
    """What stands at a position."""
    if position >= len(text) or text[position] == "\n":
        return "the end of the line" if position < len(text) else "the end of the file"
    found = re.compile(r"\w+|.").match(text, position)
    return repr(found.group()) if found else repr(text[position])


def _of_brackets(file: LarkSource, position: int) -> GrammarError | None:
    """Brackets that are not closed, or never opened."""
    opened: list[DialectToken] = []
    for token in file.statement_at(position):
        if token.position > position:
            break
        if token.kind == "sign" and token.text in _CLOSING:
            opened.append(token)
        elif token.kind == "sign" and token.text in _CLOSING.values():
            if opened and _CLOSING[opened[-1].text] == token.text:
                opened.pop()
            elif token.position == position and opened:
                return file.error(opened[-1].position, "this group is never closed", _to_close(opened[-1]))
            elif token.position == position:
                return file.error(
                    position, f"no group is open that this {token.text!r} could close", "remove it"
                )
    at_end = not file.text[position:].strip() or file.text[position] == "\n"
    if opened and at_end:
        return file.error(opened[-1].position, "this group is never closed", _to_close(opened[-1]))
    return None


def _to_close(opening: DialectToken) -> str:
    return f"close it by {_CLOSING[opening.text]!r}; it ends with its line, unless the next one begins with |"


def _of_directives(file: LarkSource, position: int) -> GrammarError | None:
    """Directives that do not exist."""
    statement = file.statement_at(position)
    if not statement or not statement[0].text.startswith("%") or statement[0].text in _DIRECTIVES:
        return None
    text = statement[0].text
    near = nearest(text, _DIRECTIVES)
    hint = f"write {near}" if near else f"the directives are {', '.join(_DIRECTIVES)}"
    return file.error(statement[0].position, f"there is no {text}", hint)


def _of_names(file: LarkSource, position: int) -> GrammarError | None:
    """Names in mixed case, with digits first, with a modifier that they cannot have."""
    text = file.text
    if found := re.compile(r"([?!]+)\s*(_?[A-Z]\w*)").match(text, position):
        reason = f"{found[1]} stands before rules, not before terminals"
        return file.error(position, reason, f"write {found[2]}: …")
    begin = position
    while begin and re.match(r"\w", text[begin - 1]):
        begin -= 1
    found = re.compile(r"\w+").match(text, begin)
    if found is None or position > found.end():
        return None
    name = found.group()
    if text[begin - 1 : begin] in ('"', "/", "%"):
        return None
    if name[0].isdigit() and not name.isdigit():
        return file.error(begin, f"{name!r} is no name: names begin with a letter", "rename it")
    if name != name.lower() and name != name.upper():
        hint = f"write {name.lower()} for a rule, {name.upper()} for a terminal"
        return file.error(begin, f"the name {name!r} is in upper and lower case", hint)
    if not name.isascii():
        return file.error(
            begin, f"{name!r} is no name: names are of ASCII letters, digits and _", "rename it"
        )
    return None


def _of_characters(file: LarkSource, position: int) -> GrammarError | None:
    """Characters that mean something in other syntaxes."""
    text = file.text
    character = text[position : position + 1]
    rest = text[position:].split("\n", 1)[0]
    if character and character in _QUOTES:
        found = re.match(r"(.)(.*?)['‘’“”„«»`]", rest)
        shown = f'"{found[2]}"' if found and '"' not in found[2] else '"…"'
        return file.error(position, "texts stand in double quotes", f"write {shown}")
    if character == '"' and not _STRING.match(rest):
        return file.error(
            position, "this text has no closing quote on its line", 'write \\" for a quote within'
        )
    if re.match(r"/(?!(?:\\/|\\\\|[^/])*/)", rest):
        hint = "write \\/ for a slash within"
        return file.error(position, "this expression has no closing slash on its line", hint)
    if character == "\\":
        return file.error(position, "an expression stands between slashes", r"write /\d+/, for example")
    said = _CHARACTERS.get(character)
    return None if said is None else file.error(position, *said)


_CHARACTERS = {
    ";": ("no ';' ends a rule", "leave it out"),
    ",": ("items follow each other without commas", "leave it out"),
    "=": ("'=' defines no rule; ':' does", "write ':'"),
    "!": ("! stands before the name of a rule where it is defined", "write it there, or leave it out"),
    "^": ("^ stands in an expression alone", "write /^…/"),
    "$": ("$ stands in an expression alone", "write /…$/"),
    "{": ("{ begins no item", 'write (…)* to repeat a group, or "{" for the character'),
    "<": ("< begins no control token here", 'write <name>, or "<" for the character'),
    "*": ("nothing stands before * to be repeated", "write it after an item, or after a group: (…)*"),
    "+": ("nothing stands before + to be repeated", "write it after an item, or after a group: (…)+"),
    "?": ("nothing stands before ? to be optional", "write it after an item, or after a group: (…)?"),
}


def _of_statements(file: LarkSource, position: int) -> GrammarError | None:
    """Statements without a colon, aliases without a name, lines that go on."""
    text = file.text
    statement = file.statement_at(position)
    before = [token for token in statement if token.position < position]
    rest = text[position:]
    if before and before[-1].text == "->":
        hint = f"write -> {rest.split()[0].lower()}" if re.match(r"\w", rest) else "write -> name"
        return file.error(position, "a name in lower case is expected after ->", hint)
    if before and before[-1].text == "%ignore":
        return file.error(position, "a terminal is expected after %ignore", 'write %ignore " "')
    if before and before[-1].text == "%import":
        return file.error(position, "a name is expected after %import", "write %import common.NUMBER")
    if [token.text for token in before] in [["import"], ["ignore"], ["declare"]]:
        word = before[0].text
        return file.error(before[0].position, f"{word} is a directive", f"write %{word}")
    if before and before[-1].text == "." and re.match(r"\w", rest):
        return file.error(position, "a priority is a number", f"write {before[0].text}.2: …")
    if len(before) == 1 and before[0].kind == "name":
        name = before[0].text
        hint = f"write {name}: …"
        if text[before[0].position - 1 : before[0].position].isspace():
            hint += "; to go on with the line before, begin the line with |"
        return file.error(position, f"':' is expected here, after {name}", hint)
    begins_line = not text[text.rfind("\n", 0, position) + 1 : position].strip()
    if begins_line and re.match(r"[\"/(\[]", rest):
        hint = "let the line begin with |, or write it on the line before"
        if not statement or len(list(file.statements())) == 1:
            hint = "write start: …"
        return file.error(position, "a rule or a terminal is expected here", hint)
    if re.match(r"\.\d", rest):
        return file.error(position, "a priority stands where the name is defined", "write name.2: …")
    if rest.startswith("..") or (before and before[-1].text == ".."):
        return file.error(position, "a range is of two texts of one character", 'write "a".."z"')
    if rest.startswith(":"):
        return file.error(
            position, "a ':' stands after the name of a rule alone", "begin a rule on a line of its own"
        )
    return None
