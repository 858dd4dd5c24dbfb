"""From the text of a regular expression to its syntax tree.

Problem: which language does a pattern denote, and where exactly is it wrong?  The standard library's
parser is not used: its trees give no positions, it knows no ``\\p{…}``, it recurses, it changes with
the version of Python, and it is not public.

Example::

    parse("a(b|[0-9])*?").root       # Concat(0, [Literal(0, "a"), Repeat(1, Union(…), 0, None)])

Method: one loop over tokens (see :mod:`.tokens`), each handled as the dialect's table says
(:mod:`.dialect`); the tree grows in a :class:`.Builder`.

Cost: linear in the pattern; about 0.6 µs for a token.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import tokamata._core as _core
from tokamata.errors import ArgumentError, LimitExceeded, PatternSyntaxError, UnsupportedPatternError
from tokamata.patterns.regex import ecma, python
from tokamata.patterns.regex.builder import MAX_DEPTH, Builder
from tokamata.patterns.regex.dialect import Dialect
from tokamata.patterns.regex.extension import OPENING, ExtensionCall, Extensions
from tokamata.patterns.regex.lower import lower_tree
from tokamata.patterns.regex.syntax import Extension, Literal, Tree

if TYPE_CHECKING:
    from tokamata.resources.limits import Watch

__all__ = ["DIALECTS", "parse"]

MAX_NESTED = 20  # each takes some frames of Python's own stack, and reads its argument again

DIALECTS = {dialect.name: dialect for dialect in (python.DIALECT, ecma.DIALECT)}


def parse(
    pattern: str,
    flags: int = 0,
    depth: int = MAX_DEPTH,
    dialect: str = "python",
    extensions: Extensions | None = None,
    parent: Builder | None = None,
    watch: Watch | None = None,
    keeps_groups: bool = False,
) -> Tree:
    """The syntax tree of ``pattern``.

    Args:
        pattern: a regular expression.
        flags: of those of ``re``.
        depth: how many groups may be open at once.
        dialect: ``"python"`` or ``"ecma"``.
        extensions: callbacks of specially named groups, by name.
        parent: what builds the pattern around it, where it is part of an extension's argument.
        watch: stops the reading.
        keeps_groups: whether the tree is to say which text a named group matched.

    Raises:
        PatternSyntaxError: it is not a regular expression.
        NotRegularError: it uses what no regular language can say.
        UnsupportedPatternError: it uses what is not about the language, or is too large.
        LimitExceeded: it nests too deep.
        ArgumentError: wrong flags.
    """
    table = DIALECTS[dialect]
    _check_flags(flags, table)
    if not pattern.isascii():
        _refuse_surrogates(pattern)
    builder = Builder(pattern, flags, table, depth, extensions, parent, watch, keeps_groups)
    watch = builder.watch
    handlers, ignore_case, literal = table.handlers, table.ignore_case, Builder.literal
    if _needs_scan(builder):
        for position, token in _scan(builder):
            if watch is not None:
                watch.check()
            handlers.get(token[0], literal)(builder, token, position)
        return builder.finish()
    position = 0
    for token in table.tokens.findall(pattern):
        handler = handlers.get(token[0])
        if handler is not None:
            if watch is not None:
                watch.check()
            handler(builder, token, position)
        elif builder.flags & ignore_case:
            builder.literal(token, position)
        else:  # most tokens: the call is saved
            builder.items.append(Literal(position, token))
        position += len(token)
    return builder.finish()


def _check_flags(flags: int, table: Dialect) -> None:
    if flags & ~table.flags:
        known = [f"re.{letter}" for letter in "IMSXAU" if table.flags & re.RegexFlag[letter]]
        wrong = re.RegexFlag(flags & ~table.flags)
        raise ArgumentError("flags", repr(wrong), f"of {', '.join(known[:-1])} and {known[-1]}")
    if flags & re.ASCII and flags & re.UNICODE:
        hint = "they are incompatible, and re.UNICODE is the default"
        raise ArgumentError("flags", "both", "re.ASCII or re.UNICODE", hint)


def _refuse_surrogates(pattern: str) -> None:
    try:
        pattern.encode()
    except UnicodeEncodeError as error:
        reason = f"lone surrogate U+{ord(pattern[error.start]):04X}"
        hint = "a constraint is a set of valid Unicode texts; remove it"
        raise PatternSyntaxError(pattern, error.start, reason, hint) from None


def _needs_scan(builder: Builder) -> bool:
    """Whether what a token is depends on what was read before it."""
    table, pattern = builder.dialect, builder.pattern
    if builder.flags & table.verbose or (builder.extensions and OPENING in pattern):
        return True
    return bool(table.may_be_verbose and "(?" in pattern and table.may_be_verbose.search(pattern))


def _scan(builder: Builder) -> Iterator[tuple[int, str]]:
    """The tokens and their places, where flag ``x`` may change and extensions may occur.

    Extensions are given to the builder here.
    """
    pattern, table = builder.pattern, builder.dialect
    extensions = builder.extensions or {}
    position, end = 0, len(pattern)
    while position < end:
        tokens = (table.verbose_tokens if builder.flags & table.verbose else None) or table.tokens
        found = tokens.match(pattern, position)
        assert found is not None, "the last alternative takes anything"
        token = found.group()
        name = token[len(OPENING) : -1] if token.startswith(OPENING) else ""
        if name in extensions:
            start = found.end()
            position = _argument_end(pattern, position, start, tokens)
            builder.extension(_extension(builder, name, found.start(), start, position))
            position += 1
        else:
            yield position, token
            position = found.end()


def _argument_end(pattern: str, opened: int, start: int, tokens: re.Pattern[str]) -> int:
    """Where the parenthesis stands that closes the extension which begins at ``opened``."""
    depth, position = 1, start
    while found := tokens.match(pattern, position):
        token = found.group()
        if token == ")":
            depth -= 1
            if depth == 0:
                return position
        elif token[:1] == "(" and token[-1] != ")":  # (?i) and comments are whole tokens
            depth += 1
        if not token:
            break
        position = found.end()
    hint = "in an extension's argument, write \\( \\) \\[ for the characters themselves"
    raise PatternSyntaxError(pattern, opened, "missing ), unterminated extension", hint)


def _extension(builder: Builder, name: str, opened: int, start: int, end: int) -> Extension:
    """The node of an extension whose argument stands from ``start`` to ``end``."""
    assert builder.extensions is not None
    pattern, flags, table = builder.pattern, builder.flags, builder.dialect
    if builder.outer + len(builder.stack) >= builder.depth:
        raise LimitExceeded("depth", builder.depth, pattern, opened, is_fixed=True)
    if builder.nested >= MAX_NESTED:
        reason = f"extensions in extensions more than {MAX_NESTED} deep"
        raise UnsupportedPatternError(pattern, opened, reason)
    builder.group_count += 1

    def compiled(text: str, place: int) -> _core.Expression:
        tree = parse(text, flags, builder.depth, table.name, builder.extensions, builder)
        return lower_tree(tree, part_at=place, watch=builder.watch)

    unescape = partial(_unescape, builder)
    argument = pattern[start:end]
    call = ExtensionCall(name, argument, pattern, opened, start, flags, table.name, compiled, unescape)
    return Extension(opened, builder.extensions[name](call))


def _unescape(builder: Builder, text: str, position: int) -> str:
    """``text``, which stands at ``position``, with its escapes resolved."""

    def character(escape: re.Match[str]) -> str:
        place = position + escape.start()
        point = builder.dialect.code_point(builder.pattern, place, escape.group())
        if 0xD800 <= point <= 0xDFFF:
            raise PatternSyntaxError(builder.pattern, place, f"lone surrogate U+{point:04X}")
        return chr(point)

    return builder.dialect.escapes.sub(character, text)
