"""The stages of a grammar: a text is loaded once, whatever is asked of its constraint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tokamata as tk
from tests.support.vocabularies import BYTE_VOCABULARY
from tokamata.patterns.grammars.files import lark_loader
from tokamata.resources.later import Later
from tokamata.resources.limits import Watch

LIST = 'start: "[" [NAME ("," NAME)*] "]"\nNAME: /[a-z]+/\n%ignore " "\n'
BLOCKS = """
start: line+
line: NAME ":" _NL _INDENT line+ _DEDENT | NAME _NL
NAME: /[a-z]+/
_NL: /(\\r?\\n[\\t ]*)+/
%declare _INDENT _DEDENT
"""
WITHOUT_TEXTS = 'start: "a" start\n'


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that lark's loader has read."""
    texts: list[str] = []
    load = lark_loader.loaded

    def noted(text: str, *arguments: Any) -> Any:
        texts.append(text)
        return load(text, *arguments)

    monkeypatch.setattr(lark_loader, "loaded", noted)
    return texts


def asked(constraint: tk.GrammarConstraint, text: str) -> None:
    """Asks all that is found from a stage of a grammar, some of it twice."""
    constraint.compile(BYTE_VOCABULARY).matcher().mask  # noqa: B018
    for _ in range(2):
        constraint.parse(text)
        constraint.report()
        constraint.determinism()


@pytest.mark.parametrize("lexer", ["characters", "dynamic", "basic", "contextual", "longest"])
def test_a_lark_text_is_loaded_once(lexer: Any, loaded: list[str]) -> None:
    constraint = tk.grammar(LIST, lexer=lexer)
    asked(constraint, "[a,bc]")
    constraint.pushdown_automaton()
    assert loaded == [LIST]


def test_blocks_are_loaded_once(loaded: list[str]) -> None:
    asked(tk.grammar(BLOCKS), "a:\n  b\n")
    assert loaded == [BLOCKS]


@pytest.mark.parametrize("lexer", ["dynamic", "contextual"])
def test_a_grammar_without_texts_is_loaded_once(lexer: Any, loaded: list[str]) -> None:
    constraint = tk.grammar(WITHOUT_TEXTS, lexer=lexer)
    for _ in range(2):
        with pytest.raises(tk.EmptyConstraintError, match="start"):
            constraint.compile(BYTE_VOCABULARY)
    assert loaded == [WITHOUT_TEXTS]


def test_a_file_and_its_imports_are_read_once(loaded: list[str], tmp_path: Path) -> None:
    (tmp_path / "names.lark").write_text("NAME: /[a-z]+/\n", encoding="utf-8")
    path = tmp_path / "list.lark"
    path.write_text('start: NAME ("," NAME)*\n%import .names.NAME\n', encoding="utf-8")
    constraint = tk.grammar(path, lexer="contextual")
    for file in tmp_path.iterdir():
        file.unlink()
    asked(constraint, "a,bc")
    assert len(loaded) == 1


def test_what_fails_is_tried_again() -> None:
    calls: list[Watch] = []

    def find(watch: Watch) -> int:
        calls.append(watch)
        if len(calls) == 1:
            raise tk.Cancelled("the first call")
        return 7

    later, second = Later(find), Watch()
    with pytest.raises(tk.Cancelled):
        later(Watch())
    assert [later(second), later(Watch())] == [7, 7]
    assert calls[1:] == [second]
