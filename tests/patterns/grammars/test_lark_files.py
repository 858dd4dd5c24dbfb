"""Lark files: what is read, what masks lead to, and what is refused."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import lark
import pytest

import tokamata as tk
from tests.support.masks import allowed
from tests.support.matchers import is_text_of
from tests.support.paths import DATA
from tests.support.vocabularies import bytes_and
from tokamata.patterns.extensions import EXTENSIONS

FOLDER = DATA / "grammars"
FILES = {
    path.relative_to(FOLDER).as_posix(): path
    for path in sorted(FOLDER.rglob("*.lark"))
    # They have no rule named start, and are there to be imported.
    if path.stem not in ("multiple2", "multiple3", "no_newline_at_end", "negative_priority")
    and FOLDER / "lark/tests" not in path.parents  # those of test_lark_suite.py
}


@pytest.mark.parametrize("lexer", ["dynamic", "basic", "contextual"])
@pytest.mark.parametrize("name", FILES)
def test_texts_by_masks_are_texts_of_the_file(name: str, lexer: str) -> None:
    path = FILES[name]
    parser = lark.Lark.open(str(path), parser="lalr" if lexer == "contextual" else "earley", lexer=lexer)
    compiled = tk.grammar(path, lexer=lexer).compile(bytes_and(b"int ", b"if (", b"){", b"; ", b'": "'))  # type: ignore[arg-type]
    for seed in range(6):
        draw = random.Random(seed)
        matcher = compiled.matcher()
        for _ in range(40):
            tokens = sorted(allowed(matcher) - set(compiled.vocabulary.stop))
            if not tokens:
                break
            assert matcher.advance(draw.choice(tokens))
        for token in matcher.shortest_completion():
            assert matcher.advance(token)
        assert matcher.is_accepting
        text = matcher.text.decode()
        try:
            parser.parse(text)
        except lark.UnexpectedInput as error:
            pytest.fail(f"lark refuses {text!r}: {error}")


@pytest.mark.parametrize(
    ("source", "line", "column", "reason"),
    [
        ("", 1, 1, "there is no rule 'start' to start with"),
        ('b: "a"', 1, 1, "there is no rule 'start' to start with"),
        ('start: b\nb: "x', 2, 4, "no closing quote on its line"),
        ("start a", 1, 7, "':' is expected here, after start"),
        ('start: "a" b', 1, 12, "there is no rule 'b'"),
        ("start: X\nX: /a*/", 2, 1, "the terminal X accepts the empty text"),
        ("start: X\nX: /(a/", 2, 5, "missing )"),
        ("start: X\nX: /(a)\\1/", 2, 8, "no regular language"),
        ('start: "\\ud800"', 1, 1, "lone surrogate"),
        ("%declare X\nstart: X", 1, 10, "is declared and has no definition"),
        ("%import .other.x\nstart: x", 1, 1, "other.lark cannot be imported"),
        ("%import common.NONE\nstart: NONE", 1, 16, "the grammar common has no terminal 'NONE'"),
        ("start: X\nX: Y\nY: X", 2, 1, "is made of itself"),
        ('start: t{"a"}', 1, 8, "there is no template 't'"),
        ('start: "a"~3..1', 1, 11, "the lower bound 3 is above the upper bound 1"),
        ("start: /a/l", 1, 1, "no regular expression"),
        # lark's loader fails on these, and not with an error of its own.
        ('start: "a"\n%declare foo', 1, 1, "lark's loader cannot read it"),
        ('start: A\nA: t{"x"}\nt{q}: q /b/ q', 1, 1, "lark's loader cannot read it"),
        ('start: A\nA: "a"* ("b"?c".."e")+', 1, 1, "lark's loader cannot read it"),
        ('start: "r"\n%ignore<[*]> " "', 1, 1, "lark's loader cannot read it"),
        ("start: " + "(" * 3_000 + '"a"' + ")" * 3_000, 1, 1, "nest too deep"),
    ],
)
def test_what_is_no_grammar_is_refused_with_its_place(
    source: str, line: int, column: int, reason: str
) -> None:
    with pytest.raises(tk.GrammarError) as caught:
        tk.grammar(source)
    assert (caught.value.line, caught.value.column) == (line, column)
    assert reason in caught.value.reason


@pytest.mark.parametrize("lexer", ["characters", "dynamic", "basic", "contextual", "longest"])
def test_terminals_that_accept_the_empty_text_are_refused(lexer: Any) -> None:
    with pytest.raises(tk.GrammarError, match="the terminal A accepts the empty text"):
        tk.grammar("start: A\nA: /a*/", lexer=lexer)


def test_long_rules_are_read_in_time_linear_in_their_length() -> None:
    """lark's own parsers take 90 s for 1,000 symbols."""
    source = "start: " + "A B " * 400 + "\nA: /a+/\nB: /b+/"
    assert is_text_of(tk.grammar(source, limits=tk.Limits(seconds=10)), "aab" * 400)


@pytest.mark.parametrize("lexer", ["dynamic", "basic", "contextual"])
def test_categories_of_unicode_are_read_and_parsed(lexer: Any) -> None:
    """``re`` has none, so that lark needs the module regex."""
    grammar = tk.grammar('start: "É" NAME\nNAME: /\\p{Lu}\\p{Ll}*/', lexer=lexer)
    assert is_text_of(grammar, "ÉÑandú")
    assert grammar.parse("ÉÑandú").children == ["Ñandú"]
    assert not is_text_of(grammar, "Éñandú")


@pytest.mark.parametrize("lexer", ["dynamic", "contextual"])
def test_no_import_leads_out_of_the_folder(tmp_path: Path, lexer: Any) -> None:
    folder = tmp_path / "folder"
    (folder / "below").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    for file in (
        tmp_path / "secret.lark",
        tmp_path / "outside" / "secret.lark",
        folder / "below" / "digit.lark",
    ):
        file.write_text("X: /[0-9]/", encoding="utf-8")
    (folder / "file.lark").symlink_to("../secret.lark")
    (folder / "linked").symlink_to(tmp_path / "outside")
    (folder / "below" / "deep.lark").write_text("%import .up.X\nY: X", encoding="utf-8")
    (folder / "below" / "up.lark").symlink_to(tmp_path / "secret.lark")
    (folder / "within.lark").symlink_to("below/digit.lark")
    (tmp_path / "entry").symlink_to(folder)

    def grammar(imported: str, name: str = "X") -> tk.Constraint:
        path = tmp_path / "entry" / "main.lark"
        path.write_text(f"%import {imported}.{name}\nstart: {name}", encoding="utf-8")
        return tk.grammar(path, lexer=lexer)

    for inside in (".within", ".below.digit"):
        assert is_text_of(grammar(inside), "7")
    for outside, name in ((".file", "X"), (".linked.secret", "X"), (".below.deep", "Y")):
        with pytest.raises(tk.GrammarError, match="leads out of the folder") as caught:
            grammar(outside, name)
        assert (caught.value.line, caught.value.column) == (1, 1)
    for no_syntax in ("..secret", "/secret", f"{tmp_path}/secret"):
        with pytest.raises(tk.GrammarError):
            grammar(no_syntax)


def test_a_file_imports_others_of_its_folder(tmp_path: Path) -> None:
    (tmp_path / "digits.lark").write_text("digits: /[0-9]/+", encoding="utf-8")
    path = tmp_path / "list.lark"
    path.write_text('%import .digits.digits\nstart: digits ("," digits)*', encoding="utf-8")
    assert is_text_of(tk.grammar(path), "1,22,3")
    # A text has no folder: a stranger's grammar must not read files.
    with pytest.raises(tk.GrammarError, match="cannot be imported"):
        tk.grammar(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("source", "accepted", "refused"),
    [
        ('start: "a"~2..3 ["b"]', ["aa", "aaab"], ["a", "aaaa"]),
        ('start: _list{"x"}\n_list{item}: item ("," item)*', ["x", "x,x"], ["x,"]),
        ("start: WORD\n%import common.WORD", ["abc"], ["a1"]),
        ("start: NUMBER\n%import common.NUMBER\n%override NUMBER: /[0-9]/", ["1"], ["12", "1.5"]),
        ('start: A\nA: "a"\n%extend A: "b"', ["a", "b"], ["ab"]),
        ('start: "A"i "ß"i', ["aß", "Aß"], ["ass"]),
        ('start: "x" -> named\n     | "y"', ["x", "y"], ["xy"]),
        ("start: /a.b/s | /(?# a comment) c d/x", ["a\nb", "cd"], ["c d"]),
        ('start: "a".."c"+', ["abc"], ["d"]),
        ('start: start "+" start | "1"', ["1", "1+1+1"], ["1+"]),
        ('start: "a" | b\nb: "(" b ")"', ["a"], ["(", "(a)"]),
    ],
)
def test_the_syntax_means(source: str, accepted: list[str], refused: list[str]) -> None:
    constraint = tk.grammar(source)
    assert [text for text in accepted if not is_text_of(constraint, text)] == []
    assert [text for text in refused if is_text_of(constraint, text)] == []


# ---- extensions of regular expressions ----


@pytest.mark.parametrize("lexer", ["characters", "dynamic", "basic", "contextual", "longest"])
@pytest.mark.parametrize("name", sorted(EXTENSIONS))
def test_extensions_are_refused_in_terminals(name: str, lexer: Any) -> None:
    with pytest.raises(tk.GrammarError) as caught:
        tk.grammar(f'start: "(?P<{name}>)" T\nT: /[a](?P<{name}>+)/ "b"\n', lexer=lexer)
    error = caught.value
    assert error.reason == f"the extension (?P<{name}>…) cannot stand in a terminal"
    assert (error.line, error.column) == (2, 8)
    assert "write @name in a rule" in error.hint


@pytest.mark.parametrize(
    ("source", "line", "column", "reason"),
    [
        ("start: /(?P<TEXT_UNTIL>END)/", 1, 9, "the extension (?P<TEXT_UNTIL>…)"),
        ("start: T\nT: /a/ & ~/b(?P<SUBSTRING_OF>b)/", 2, 13, "the extension (?P<SUBSTRING_OF>…)"),
        ("start: x\nx[stop=/(?P<IMAGE>)/]: /a+/", 2, 9, "the extension (?P<IMAGE>…)"),
        ("start: %lark { start: /(?P<TEXT_TOKEN>)/ }", 1, 10, "the extension (?P<TEXT_TOKEN>…)"),
        ("start: /a/ /a #(?P<IMAGE>)\n (?P<IMAGE>)/x", 2, 2, "the extension (?P<IMAGE>…)"),
        ("start: /(?P<QUOTED_TEX>)/", 1, 9, "unknown extension 'QUOTED_TEX'"),
    ],
)
def test_extensions_are_refused_with_their_place(source: str, line: int, column: int, reason: str) -> None:
    with pytest.raises(tk.GrammarError) as caught:
        tk.grammar(source)
    assert caught.value.reason.startswith(reason)
    assert (caught.value.line, caught.value.column) == (line, column)


def test_extensions_are_refused_in_a_file_that_is_imported(tmp_path: Path) -> None:
    (tmp_path / "other.lark").write_text("T: /(?P<TEXT_UNTIL>END)/", encoding="utf-8")
    (tmp_path / "first.lark").write_text("start: T\n%import .other.T", encoding="utf-8")
    with pytest.raises(tk.GrammarError, match="in the terminal T, the extension"):
        tk.grammar(tmp_path / "first.lark")


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ('start: "(?P<IMAGE>)"', "(?P<IMAGE>)"),
        ("start: /[(?P<IMAGE>]+/", "(?P<IMAGE>"),
        ("start: /\\(\\?P<IMAGE>/", "(?P<IMAGE>"),
        ("start: /a/  // as /(?P<IMAGE>)/", "a"),
        ("start: /(?P<year>\\d+)/", "2026"),
        ("start: /(?P<YEAR>\\d+)/", "2026"),
    ],
)
def test_what_is_no_extension_is_read(source: str, text: str) -> None:
    assert is_text_of(tk.grammar(source), text)
