"""Constraints on texts of a context-free grammar."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from tokamata.arguments import checked_choice, checked_text, clipped
from tokamata.constraint import Constraint
from tokamata.errors import ArgumentError, GrammarError, shown_argument
from tokamata.limits import CancelToken, Limits, Watch, checked_limits
from tokamata.patterns.grammars import lower_grammar, read_gbnf
from tokamata.values.forms import Plain

__all__ = ["grammar"]


def grammar(
    source: str | os.PathLike[str],
    *,
    syntax: Literal["gbnf"],
    start: str = "root",
    limits: Limits | None = None,
    cancel: CancelToken | None = None,
) -> Constraint[str]:
    r"""The texts of a context-free grammar.

        arithmetic = tk.grammar('''
            root ::= root [-+*/] root | "(" root ")" | [0-9]+
        ''', syntax="gbnf")

    Any grammar will do: rules may begin with themselves, be ambiguous, accept the empty text, or refer to
    each other in a cycle.  Rules that accept no text, and rules that nothing refers to, are never written.

    Args:
        source: the grammar; or the path of its file, in UTF-8, as a ``pathlib.Path``.
        syntax: ``"gbnf"``, the grammars of llama.cpp (docs/grammars.md).  Each character stands for itself:
            there is no lexer, and nothing is ignored.
        start: the name of the rule that a text is of.
        limits: ``seconds`` bounds the time for reading it, ``depth`` how deep groups may nest; ``Limits()``
            by default.
        cancel: stops the reading, from another thread.

    Raises:
        ArgumentError: an argument has a wrong type or value.
        GrammarError: the text does not follow the syntax, or a rule is defined twice or not at all; the file
            is not UTF-8.
        OSError: the file cannot be read.
        LimitExceeded, Cancelled: groups nest too deep, or the reading was stopped.
    """
    checked_choice("syntax", syntax, ("gbnf",))
    checked_text(start, "start")
    if isinstance(source, os.PathLike):
        text, name = _content(Path(source)), Path(source).name
    elif isinstance(source, str):
        checked_text(source, "source")
        text, name = source, repr(source)
    else:
        raise ArgumentError("source", shown_argument(source), "the text of a grammar, or a pathlib.Path")
    watch = Watch(limits, cancel)
    rules = read_gbnf(text, start, checked_limits(limits).depth, watch)
    return Constraint(lower_grammar(rules, watch), clipped(f"grammar({name})"), form=Plain())


def _content(path: Path) -> str:
    data = path.read_bytes()
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        before = data[: error.start].decode()
        reason = f"{path.name} is not UTF-8 after this"
        raise GrammarError(before, len(before), reason, "save it as UTF-8") from None
