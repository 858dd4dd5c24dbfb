"""Errors of lark's loader in our words: what is wrong, where, and what to do.

    Rule 'A' used but not defined (in rule start)     there is no terminal 'A', at its use in start
    Recursion in terminal 'B' (recursion is only …    the terminal B is made of itself, at its definition

The loader's messages name a rule, and not where the file has it.  Messages about syntax, which name a
place, go to :mod:`.lark_faults`.
"""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Callable
from pathlib import Path

from tokamata.errors import GrammarError, PatternError
from tokamata.patterns.grammars.files.lark_dialect_tokens import DialectToken
from tokamata.patterns.grammars.files.lark_faults import fault_of_syntax
from tokamata.patterns.grammars.files.lark_source import LarkSource, kind_of
from tokamata.patterns.grammars.files.mistakes import nearest
from tokamata.patterns.grammars.lexer.lexer_configurations import END_OF_TEXT
from tokamata.patterns.regex.parser import parse

__all__ = [
    "accepts_empty",
    "bad_expression",
    "error_of_lark",
    "no_start",
    "not_imported",
    "not_read",
    "wrong_expression",
]

_RANGE = re.compile(r'"((?:\\.|[^"\\\n])*)"\s*\.\.\s*"((?:\\.|[^"\\\n])*)"')


def error_of_lark(error: Exception, text: str) -> GrammarError:
    """The error of a file that lark's loader refuses.

    Args:
        error: the loader's.
        text: the file as the loader has it.
    """
    said = str(error).strip()
    file = LarkSource(text)
    for pattern, explain in _SAID.items():
        if found := re.search(pattern, said):
            return explain(file, *found.groups())
    if found := re.search(r",? *at line (\d+),? column (\d+)", said):
        line, column = int(found[1]), int(found[2])
        before = text.split("\n")[: line - 1]
        position = sum(len(passed) + 1 for passed in before) + column - 1
        return fault_of_syntax(file, min(max(position, 0), len(text)), said[: found.start()].strip())
    names = re.findall(r"'([A-Za-z_][A-Za-z0-9_]*)'", said)
    return file.error(file.definition(*names), said)


def accepts_empty(terminal: str, text: str) -> GrammarError:
    """That a terminal accepts the empty text."""
    file = LarkSource(text)
    hint = "let it have at least one character, and make it optional where it is used"
    if terminal.startswith("__"):  # lark's name for an expression within a rule
        for token in file.tokens:
            if token.kind == "regex" and _accepts_nothing(token.text):
                return file.error(token.position, f"{token.text:.80} accepts the empty text", hint)
        return file.error(0, "an expression in a rule accepts the empty text", hint)
    return file.error(file.definition(terminal), f"the terminal {terminal} accepts the empty text", hint)


def _accepts_nothing(written: str) -> bool:
    """Whether an expression between slashes accepts the empty text."""
    end = written.rindex("/")
    flags = re.VERBOSE if "x" in written[end:] else 0
    try:
        return re.fullmatch(written[1:end], "", flags) is not None
    except re.error:
        return False


def wrong_expression(name: str, expression: str, text: str, error: PatternError) -> GrammarError:
    """That the expression of a terminal is none, or is not supported."""
    file = LarkSource(text)
    shown = expression.encode(errors="backslashreplace").decode()  # it may have a lone surrogate
    what = f"/{shown:.200}/" if name.startswith("__") else f"the terminal {name} is /{shown:.200}/"
    begin = text.find(f"/{expression}/")
    position = file.definition(name) if begin < 0 else begin + 1 + error.position
    return file.error(position, f"{what}: {error.reason}", error.hint)


def _is_undefined(file: LarkSource, name: str, within: str) -> GrammarError:
    """That a rule or terminal is used and not defined."""
    position = file.use(within, name)
    before = [token for token in file.tokens if token.position < position]
    if before and before[-1].text == "->":
        hint = "it names a whole alternative of a rule: put it at the end of one, outside of groups"
        return file.error(before[-1].position, "-> cannot stand in a group", hint)
    if name in file.imported:
        grammar, position = file.imported[name]
        near = nearest(name, _names_of_library(grammar))
        hint = f"the name that comes nearest is {near}" if near else "define it here"
        return file.error(position, f"the grammar {grammar} has no {kind_of(name)} {name!r}", hint)
    flagged = next((one for one in file.tokens if one.kind == "regex" and one.text.endswith(name)), None)
    if position == 0 and flagged is not None:
        reason = f"{name!r} is no flag of an expression"
        hint = f"the flags are i, m, s, u and x; for the rule {name}, write a blank before it"
        return file.error(flagged.position + flagged.text.rindex("/") + 1, reason, hint)
    return file.error(position, f"there is no {kind_of(name)} {name!r}", _how_to_define(file, name))


def _how_to_define(file: LarkSource, name: str) -> str:
    other = next((one for one in file.defined if one.lower() == name.lower()), None)
    if other is not None:
        return f"there is {other}: names of rules are in lower case, those of terminals in upper case"
    if name in _names_of_library("common"):
        return f"import it: %import common.{name}"
    define = f"define it: {name}: " + ("/…/" if kind_of(name) == "terminal" else "…")
    near = nearest(name, [*file.defined, *file.imported])
    return f"{define}; or is it {near}?" if near else define


def _libraries() -> list[str]:
    """The grammars that come with lark."""
    import lark

    return sorted(path.stem for path in (Path(lark.__file__).parent / "grammars").glob("*.lark"))


def _names_of_library(grammar: str) -> list[str]:
    """What a grammar defines that comes with lark; nothing if it does not."""
    import lark

    if grammar not in _libraries():
        return []
    text = (Path(lark.__file__).parent / "grammars" / f"{grammar}.lark").read_text(encoding="utf-8")
    return LarkSource(text).defined


def not_imported(text: str, grammar: str) -> GrammarError:
    """That the file of a grammar to be imported cannot be read; ``grammar``: its name, without a folder."""
    file = LarkSource(text)
    name = grammar.removesuffix(".lark")
    position = max(text.find("%import"), 0)
    for statement in file.statements():
        if statement[0].text == "%import" and name in [token.text for token in statement]:
            position = statement[0].position
    near = nearest(name, _libraries())
    hint = f"is it {near}? " if near else ""
    hint += (
        f"lark's own grammars are {', '.join(_libraries())}; files are imported from the grammar's folder, "
        "so pass it as a pathlib.Path"
    )
    return file.error(position, f"the grammar {grammar} cannot be imported", hint)


def not_read(text: str, error: Exception) -> GrammarError:
    """That lark's loader fails on a file, and not with an error of its own."""
    file = LarkSource(text)
    if any(_alias_of(statement) is not None for statement in file.statements()):
        return _alias_in_terminal(file)
    reason = f"lark's loader cannot read it: {str(error) or type(error).__name__}"
    return file.error(0, reason, "it may use a name or a template where none can stand")


def _template_is_undefined(file: LarkSource, name: str, _: str, within: str) -> GrammarError:
    hint = f"define it: {name}{{x}}: …"
    return file.error(file.use(within, name), f"there is no template {name!r}", hint)


def _wrong_arguments(file: LarkSource, name: str, wanted: str, given: str, within: str) -> GrammarError:
    reason = f"the template {name} is given {given} arguments, where it takes {wanted}"
    return file.error(file.use(within, name), reason, "give it an argument for each parameter")


def _is_defined_twice(file: LarkSource, kind: str, name: str) -> GrammarError:
    hint = "remove one of them, or join them by |"
    return file.error(file.second_definition(name), f"the {kind.lower()} {name!r} is defined twice", hint)


def _not_to_ignore(file: LarkSource, names: str) -> GrammarError:
    name = sorted(re.findall(r"'(\w+)'", names))[0]
    hint = _how_to_define(file, name)
    return file.error(file.use("", name), f"there is no terminal {name!r} to be ignored", hint)


def _rule_in_terminal(file: LarkSource, rule: str, terminal: str) -> GrammarError:
    position = file.use(terminal, rule)
    if terminal.startswith("__IGNORE"):
        reason = f"%ignore takes terminals, and {rule} is a rule"
        return file.error(position, reason, f"define a terminal, in upper case: {rule.upper()}: …")
    reason = f"the terminal {terminal} is made of the rule {rule}"
    hint = (
        f"terminals are made of terminals: define {rule.upper()}: …, or make {terminal} a rule, in lower case"
    )
    return file.error(position, reason, hint)


def _recursive_terminal(file: LarkSource, name: str) -> GrammarError:
    hint = f"rules alone may refer to themselves: write it as a rule, in lower case: {name.lower()}: …"
    return file.error(file.definition(name), f"the terminal {name} is made of itself", hint)


def _written(file: LarkSource, terminal: str) -> str:
    """A terminal as the file writes it: lark calls ``"+"`` in a rule ``PLUS``."""
    import lark.load_grammar

    names = getattr(lark.load_grammar, "_TERMINAL_NAMES", {})
    if any(token.text == terminal for token in file.tokens):
        return terminal
    for token in file.tokens:
        text = token.text.strip('"')
        if token.kind == "text" and terminal in (text.upper(), names.get(text)):
            return token.text
    return "one of its texts"


def _collision(file: LarkSource, before: str, found: str) -> GrammarError:
    first, second = sorted(re.findall(r"<(\S+) : ", found)[:2])
    what = "the end" if before == END_OF_TEXT else _written(file, before)
    said = f"lark's LALR parser cannot tell {first} from {second} before {what}"
    return file.error(file.definition(first), said, "lexer='basic' has no such limit")


def _empty_text(file: LarkSource) -> GrammarError:
    position = next((token.position for token in file.tokens if token.text in ('""', '""i', "//")), 0)
    hint = 'leave it out: an alternative may be empty, as in start: "a" |'
    return file.error(position, "the empty text is no terminal", hint)


def _line_break(file: LarkSource) -> GrammarError:
    tokens = (token for token in file.tokens if token.kind == "regex" and "\n" in token.text)
    position = next((token.position for token in tokens), 0)
    hint = "write \\n for it; if it ends with its line, close it by a slash there"
    return file.error(position, "an expression has a line break", hint)


def _bad_range(file: LarkSource, low: str, high: str) -> GrammarError:
    found = re.search(rf"~\s*{low}\s*\.\.\s*{high}", file.text)
    reason = f"the lower bound {low} is above the upper bound {high}"
    return file.error(found.start() if found else 0, reason, f"write ~{high}..{low}")


def _nothing_imported(file: LarkSource, grammar: str) -> GrammarError:
    hint = f"write %import {grammar}.NAME"
    if grammar in _names_of_library("common"):
        hint = f"write %import common.{grammar}"
    position = next((token.position for token in file.tokens if token.text == grammar), 0)
    return file.error(position, f"no name is imported from {grammar}", hint)


def _alias_in_terminal(file: LarkSource) -> GrammarError:
    aliases = (alias for statement in file.statements() if (alias := _alias_of(statement)) is not None)
    hint = "-> names alternatives of rules: leave it out, or make it a rule, in lower case"
    return file.error(next(aliases, 0), "a terminal has no names for alternatives", hint)


def _alias_of(statement: list[DialectToken]) -> int | None:
    """Where a terminal has the name of an alternative."""
    if kind_of(statement[0].text) == "rule":
        return None
    return next((token.position for token in statement if token.text == "->"), None)


def _inlined(file: LarkSource) -> GrammarError:
    found = re.search(r"\?!?_[a-z]", file.text)
    reason = "a rule whose name begins with _ cannot have ? before it"
    return file.error(found.start() if found else 0, reason, "leave out one of them")


def _reserved(file: LarkSource, name: str) -> GrammarError:
    reason = f"names that begin with two underscores are lark's own: {name}"
    return file.error(file.definition(name), reason, "rename it")


def no_start(name: str, text: str) -> GrammarError:
    """That there is no rule to start with."""
    return _no_start(LarkSource(text), name)


def _no_start(file: LarkSource, name: str) -> GrammarError:
    if name in file.defined and kind_of(name) == "rule":
        hint = f"define a rule that uses it: {name}: other{{…}}"
        return file.error(file.definition(name), f"{name!r} is a template, and no rule to start with", hint)
    rules = [one for one in file.defined if kind_of(one) == "rule"]
    reason = f"there is no rule {name!r} to start with"
    if not rules:
        is_terminal = name.upper() in file.defined
        hint = (
            f"names of rules are in lower case: write {name}: …" if is_terminal else f"define it: {name}: …"
        )
        return file.error(0, reason, hint)
    return file.error(
        0, reason, f"the rules are: {', '.join(rules[:8])}; pass start='{rules[0]}', or rename it"
    )


def bad_expression(text: str, expression: str, said: str) -> GrammarError:
    """That an expression is none; ``said``: the words of ``re``."""
    begin = text.find(f"/{expression}/")
    if begin >= 0:
        reason = f"/{expression:.200}/ is no regular expression"
        try:
            parse(expression)
        except PatternError as error:
            return GrammarError(text, begin + 1 + error.position, f"{reason}: {error.reason}", error.hint)
        return GrammarError(text, begin + 1, f"{reason}: {said}")
    for found in _RANGE.finditer(text):  # lark writes it as a set
        if f"[{found[1]}-{found[2]}]" == expression:
            reason = f"the range {found.group()} ends before it begins"
            return GrammarError(text, found.start(), reason, f'write "{found[2]}".."{found[1]}"')
    return GrammarError(
        text, max(text.find(expression), 0), f"/{expression}/ is no regular expression: {said}"
    )


def _not_compiled(file: LarkSource, expression: str) -> GrammarError:
    try:
        re.compile(expression)
    except re.error as error:
        return bad_expression(file.text, expression, str(error))
    return bad_expression(file.text, expression, "lark cannot compile it")


def _bad_range_of_texts(file: LarkSource) -> GrammarError:
    wrong = [one for one in _RANGE.finditer(file.text) if len(one[1]) != 1 or len(one[2]) != 1]
    position = wrong[0].start() if wrong else 0
    return file.error(position, "a range is of two texts of one character", 'write "a".."z"')


def _bad_escape(file: LarkSource, literal: str) -> GrammarError:
    position = max(file.text.find(literal), 0)
    return file.error(position, f"{literal} ends within an escape", "write \\\\ for a backslash")


def _not_extended(file: LarkSource, word: str, kind: str, name: str) -> GrammarError:
    reason = (
        f"the {kind} {name} cannot be {'extended' if word == 'extend' else 'overridden'}: it is not imported"
    )
    return file.error(file.definition(name), reason, f"import it before: %import ….{name}")


_SAID: dict[str, Callable[..., GrammarError]] = {
    r"zero-width terminals\. \((\w+):": lambda file, name: accepts_empty(name, file.text),
    r"Cannot compile token \w+: (['\"].*['\"])": lambda file, shown: _not_compiled(file, literal_eval(shown)),
    r"Terminals cannot be empty \((\w+)\)": lambda file, name: accepts_empty(name, file.text),
    r"Using an undefined rule: NonTerminal\('(.*)'\)": _no_start,
    r"Reduce/Reduce collision in Terminal\('(.*?)'\) between([\s\S]*)": _collision,
    r"Template '(\w+)' used but not defined \(in (\w+) (\w+)\)": _template_is_undefined,
    r"Wrong number of template arguments used for (\w+) \(expected (\d+), got (\d+)\) \(in \w+ (\w+)\)": (
        _wrong_arguments
    ),
    r"'(\w+)' used but not defined \(in \w+ (\w+)\)": _is_undefined,
    r"Terminal used but not defined: (\w+)()": _is_undefined,
    r"(Rule|Terminal) '(\w+)' defined more than once": _is_defined_twice,
    r"Terminals (\{.*\}) were marked to ignore but were not defined": _not_to_ignore,
    r"Rules aren't allowed inside terminals \(NonTerminal\('(\w+)'\) in (\w+)\)": _rule_in_terminal,
    r"Recursion in terminal '(\w+)'": _recursive_terminal,
    r"Empty terminals are not allowed": _empty_text,
    r"You can only use newlines in regular expressions": _line_break,
    r"Bad Range for .* \((\d+)\.\.(\d+) isn't allowed\)": _bad_range,
    r'Error trying to process rule "range"': _bad_range_of_texts,
    r"Nothing was imported from grammar `(\w+)`": _nothing_imported,
    r"Aliasing not allowed in terminals": _alias_in_terminal,
    r"Inlined rules \(_rule\) cannot use the \?rule modifier": _inlined,
    r"Names starting with double-underscore are reserved \(Error at (\w+)\)": _reserved,
    r"Literal ended unexpectedly \(bad escaping\): `(?:'|\")?(.*?)(?:'|\")?`": _bad_escape,
    r"Can't (extend|override) (rule|terminal) (\w+) as it wasn't defined before": _not_extended,
}
