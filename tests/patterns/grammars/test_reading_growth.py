"""How the work of reading a grammar grows with its terminals: steps are counted, no time is measured."""

from __future__ import annotations

import pytest

import tokamata as tk
from tests.support.matchers import takes
from tokamata.resources.limits import Watch

LEXERS = ["characters", "dynamic", "basic", "contextual", "longest"]


def alike(count: int) -> str:
    """Terminals that begin and go on alike, so that each may be taken for each other."""
    rules = "start: (" + "|".join(f"T{i}" for i in range(count)) + ")+\n"
    return rules + "".join(f"T{i}: /x{i}[a-z]*y/\n" for i in range(count))


def keywords(count: int) -> str:
    """A name that excludes keywords by a lookahead."""
    words = "|".join(f"k{i:b}" for i in range(count))
    return f'start: (NAME | "=")+\nNAME: /(?!(?:{words})\\b)[a-z_][a-z0-9_]*\\b/i\n%ignore " "'


def steps(source: str, lexer: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """How often the work is checked: at each state, symbol, node and rule."""
    counted = 0

    def check(self: Watch) -> None:
        nonlocal counted
        counted += 1

    with monkeypatch.context() as patch:
        patch.setattr(Watch, "check", check)
        tk.grammar(source, lexer=lexer)  # type: ignore[arg-type]
    return counted


@pytest.mark.parametrize("lexer", LEXERS)
def test_similar_terminals_take_steps_in_proportion(lexer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    few, many = (steps(alike(count), lexer, monkeypatch) for count in (10, 40))
    assert many <= 5 * few  # n to the power of 1.16; pairs would be 16


@pytest.mark.parametrize("lexer", ["dynamic", "basic", "contextual"])
def test_a_name_without_keywords_takes_steps_in_proportion(
    lexer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    few, many = (steps(keywords(count), lexer, monkeypatch) for count in (16, 64))
    assert many <= 6 * few


@pytest.mark.parametrize("lexer", LEXERS)
def test_similar_terminals_are_told_apart(lexer: str, byte_vocabulary: tk.Vocabulary) -> None:
    compiled = tk.grammar(alike(12), lexer=lexer).compile(byte_vocabulary)  # type: ignore[arg-type]
    for text in ("x1y", "x11y", "x1ayx0y", "x1yay"):
        assert takes(compiled.matcher(), text.encode()), text
    for text in ("x12y", "x1", "x1yx", "y"):
        assert not takes(compiled.matcher(), text.encode()), text
