"""The grammars that lark's own tests load, and their texts: lark is the judge, under each of its lexers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import lark
import pytest

import tokamata as tk
from tests.support.matchers import takes
from tests.support.paths import DATA
from tests.support.vocabularies import BYTE_VOCABULARY

FOLDER = DATA / "grammars/lark/tests"
CASES = {case["name"]: case for case in json.loads((FOLDER / "tests.json").read_text("utf-8"))["grammars"]}
LEXERS = ["dynamic", "basic", "contextual"]

# What lark reads and we refuse.
REFUSED = {
    "backwards_custom_lexer": "is declared and has no definition",  # for lexers written in Python
    "custom_input": "is declared and has no definition",
}
# lark's LALR parser reduces an empty rule for ever, whatever the text.
ENDLESS = {("resolve_ambiguity_with_shared_node", "contextual")}


def source_of(case: dict[str, Any]) -> tuple[str, Path | None]:
    if "file" not in case:
        return case["grammar"], None
    path = FOLDER / case["file"]
    return path.read_text("utf-8"), path


def larks(case: dict[str, Any], lexer: str) -> lark.Lark | None:
    """lark's parser, if it reads the grammar."""
    source, path = source_of(case)
    try:
        return lark.Lark(
            source,
            parser="lalr" if lexer == "contextual" else "earley",
            lexer=lexer,  # type: ignore[arg-type]
            start=case.get("start", "start"),
            source_path=str(path) if path else None,
            regex="\\p" in source,
        )
    except Exception:  # its errors have many types
        return None


def is_text(parser: lark.Lark, text: str) -> bool:
    try:
        parser.parse(text)
    except lark.UnexpectedInput:
        return False
    except RuntimeError as error:  # lark has found several derivations, and asks to report that
        if "multiple start symbol" not in str(error):
            raise
    return True


def and_near(texts: list[str]) -> list[str]:
    """Texts, and those where one character is left out or written twice."""
    near = [
        text[:place] + changed + text[place + 1 :]
        for text in texts
        if len(text) <= 20
        for place in range(len(text))
        for changed in ("", text[place] * 2)
    ]
    return sorted({*texts, *near})


@pytest.mark.parametrize("lexer", LEXERS)
@pytest.mark.parametrize("name", CASES)
def test_what_lark_accepts_is_accepted(name: str, lexer: Any) -> None:
    case = CASES[name]
    source, path = source_of(case)
    parser = larks(case, lexer)
    if parser is None or name in REFUSED:
        with pytest.raises(tk.GrammarError, match=REFUSED.get(name)):
            tk.grammar(path or source, lexer=lexer, start=case.get("start"))
        return
    constraint = tk.grammar(path or source, lexer=lexer, start=case.get("start"))
    try:
        matcher = constraint.compile(BYTE_VOCABULARY).matcher()
    except tk.EmptyConstraintError:
        matcher = None
    if (name, lexer) in ENDLESS:
        assert matcher is None
        return
    for text in and_near(case["texts"]):
        accepted = matcher is not None and takes(matcher, text.encode())
        assert accepted == is_text(parser, text), text


def test_the_grammar_of_grammars_accepts_what_lark_accepts() -> None:
    path = Path(lark.__file__).parent / "grammars/lark.lark"
    parser = lark.Lark.open(str(path), parser="lalr", lexer="contextual")
    matcher = tk.grammar(path, lexer="contextual").compile(BYTE_VOCABULARY).matcher()
    verdicts = []
    for case in CASES.values():
        source, _ = source_of(case)
        verdicts.append(is_text(parser, source))
        assert takes(matcher, source.encode()) == verdicts[-1], source
    assert 200 < sum(verdicts) < len(verdicts)


def test_texts_have_as_many_terminals_as_a_large_count_says() -> None:
    matcher = tk.grammar('start: "A"~8191', lexer="basic").compile(BYTE_VOCABULARY).matcher()
    assert not takes(matcher, b"A" * 8190)
    assert takes(matcher, b"A" * 8191)
    assert not takes(matcher, b"A" * 8192)


def test_the_cases_are_complete() -> None:
    assert len(CASES) == 263
    read = sum(larks(case, "dynamic") is not None for case in CASES.values() if case["texts"])
    files = {case["file"] for case in CASES.values() if "file" in case}
    assert (read, len(files)) == (195, 12)
