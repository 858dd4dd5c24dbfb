"""The rules of grammars with a lexer, kept on disk: the same texts in the next process, or absent."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

import tokamata as tk
from tests.support.masks import allowed
from tests.support.vocabularies import BYTE_VOCABULARY
from tokamata.patterns.grammars import kept_rules
from tokamata.patterns.grammars.rules import expressions
from tokamata.patterns.grammars.rules.expressions import journal_of, made_by
from tokamata.resources.limits import Watch

LEXERS = ["dynamic", "basic", "contextual", "longest"]
CALLS = """
start: statement+
statement: NAME "=" value ";" | "if" value "{" statement* "}"
value: NAME | NUMBER | NAME "(" [value ("," value)*] ")"
NAME: /[a-z]+(?!\\w)/
NUMBER: /[0-9]+/
%ignore " "
"""
BLOCKS = """
start: _NL* line+
line: NAME ":" _NL _INDENT line+ _DEDENT | NAME _NL
NAME: /[a-z]+/
_NL: /(\\r?\\n[\\t ]*)+/
%ignore " "
%declare _INDENT _DEDENT
"""
TEXT = "if f(a, 12) { b = c; }"
LINES = "a:\n  b:\n    c\n  d\ne\n"


@pytest.fixture
def folder(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where rules are kept, however fast they were found."""
    monkeypatch.setattr(kept_rules, "LEAST_SECONDS", 0.0)
    return cache / "tokamata-derived" / "grammars"


@pytest.fixture
def found_once(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The lexers under which rules were found."""
    found: list[str] = []
    without_lexer = kept_rules.without_lexer

    def noted(grammar: object, lexer: str, watch: object) -> object:
        found.append(lexer)
        return without_lexer(grammar, lexer, watch)  # type: ignore[arg-type]

    monkeypatch.setattr(kept_rules, "without_lexer", noted)
    return found


def masks(constraint: tk.Constraint[object], text: str) -> list[set[int]]:
    """The masks along a text, and whether it is one of the constraint's."""
    matcher = constraint.compile(BYTE_VOCABULARY).matcher()
    found = []
    for byte in text.encode():
        found.append(allowed(matcher))
        matcher.advance(byte)
    return [*found, allowed(matcher)]


@pytest.mark.parametrize("lexer", LEXERS)
@pytest.mark.parametrize(("source", "text"), [(CALLS, TEXT), (BLOCKS, LINES)])
def test_kept_rules_have_the_same_masks(
    source: str, text: str, lexer: str, folder: Path, found_once: list[str]
) -> None:
    if source == BLOCKS and lexer == "dynamic":
        with pytest.raises(tk.GrammarError):  # it has no blocks
            tk.grammar(source, lexer="dynamic")
        return
    first = tk.grammar(source, lexer=lexer)  # type: ignore[arg-type]
    assert found_once == [lexer]
    second = tk.grammar(source, lexer=lexer)  # type: ignore[arg-type]
    assert found_once == [lexer]
    assert len(list(folder.iterdir())) == 1
    assert masks(first, text) == masks(second, text)
    assert first.report() == second.report()
    assert first.parse(text) == second.parse(text)
    if source == CALLS:
        automata = [one.pushdown_automaton() for one in (first, second)]
        assert repr(automata[0]) == repr(automata[1])


def test_a_damaged_file_counts_as_absent(folder: Path, found_once: list[str]) -> None:
    expected = masks(tk.grammar(CALLS), TEXT)
    (path,) = folder.iterdir()
    whole = path.read_bytes()
    for body in (
        b"",
        b"[]",
        b"{}",
        b'[["union",[99]]]',
        b'[["nothing",[]]]',
        b'[["concat",[-99]]]',
        b"[1]",
        b"\xff",
    ):
        path.write_bytes(hashlib.sha256(body).digest() + body)
        tk.forget_constraints()
        assert masks(tk.grammar(CALLS), TEXT) == expected
        assert path.read_bytes() == whole
    for data in (b"", whole[:-1], whole + b" ", whole[:40] + b"x" + whole[41:]):
        path.write_bytes(data)
        tk.forget_constraints()
        assert masks(tk.grammar(CALLS), TEXT) == expected
        assert path.read_bytes() == whole
    assert len(found_once) == 13


@pytest.mark.parametrize(
    "other",
    [
        CALLS.replace("[0-9]+", "[0-8]+"),
        CALLS.replace('%ignore " "', '%ignore "  "'),
        CALLS.replace("statement+", "statement"),
        CALLS.replace("NUMBER:", "NUMBER.2:"),
        CALLS.replace("(?!\\w)/", "(?!\\w)/i"),
        CALLS.replace('"if"', '"if"i'),
    ],
)
def test_another_grammar_has_another_file(other: str, folder: Path) -> None:
    assert other != CALLS
    tk.grammar(CALLS)
    tk.grammar(other)
    assert len(list(folder.iterdir())) == 2


def test_each_lexer_has_a_file_of_its_own(folder: Path) -> None:
    for lexer in LEXERS:
        tk.grammar(CALLS, lexer=lexer)  # type: ignore[arg-type]
    assert len(list(folder.iterdir())) == len(LEXERS)


def test_an_imported_file_is_part_of_the_grammar(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "words.lark").write_text("WORD: /[a-z]+/\n")
    main = tmp_path / "main.lark"
    main.write_text("start: WORD+\n%import .words.WORD\n%ignore /,/\n")
    assert tk.grammar(main).parse("ab,c")
    (tmp_path / "words.lark").write_text("WORD: /[0-9]+/\n")
    assert masks(tk.grammar(main), "12")
    with pytest.raises(tk.ParseError):
        tk.grammar(main).parse("ab")
    assert len(list(folder.iterdir())) == 2


def test_the_name_of_a_file_depends_on_all_code_that_reads_grammars() -> None:
    code = kept_rules._code().decode()
    assert "kept_rules.py" in code
    assert os.path.join("lexer", "lexed.py") in code
    assert os.path.join("rules", "lowering.py") in code


def test_what_a_file_does_not_say_is_not_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tk.grammar("start: NAME @item\nNAME: /[a-z]+/", constraints={"item": tk.regex("[0-9]")})
    tk.grammar('start: %json {"type": "integer"} ";"')
    tk.grammar(CALLS, lexer="characters")
    monkeypatch.setenv("TOKAMATA_CACHE", "off")
    tk.grammar(CALLS)
    assert not folder.exists()


def test_what_is_found_fast_is_found_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_rules, "LEAST_SECONDS", 3600.0)
    tk.grammar(CALLS)
    assert not folder.exists()


def test_making_a_program_again_can_be_stopped() -> None:
    cancel = tk.CancelToken()
    cancel.cancel()
    with pytest.raises(tk.Cancelled):
        made_by([["epsilon", []]] * 300, [], Watch(tk.Limits(), cancel))


def test_a_program_has_plain_values_alone() -> None:
    given = [tk.regex("[a-z]+")._expression]
    with journal_of(given) as journal:
        made = expressions.concat(
            [given[0], expressions.repeat(expressions.code_points([(48, 57)]), 0, None)]
        )
        foreign = expressions.union([made, tk.regex("x")._expression])
    unnoted = expressions.concat([made])
    program = journal.program(made)
    assert json.loads(json.dumps(program)) == [
        ["code_points", [], [[48, 57]]],
        ["repeat", [1], 0, None],
        ["concat", [0, 2]],
    ]
    assert journal.program(foreign) is None
    assert journal.program(unnoted) is None
