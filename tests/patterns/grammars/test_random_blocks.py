"""Random grammars with blocks, line breaks, brackets and lookarounds, against lark with its Indenter."""

from __future__ import annotations

import random
from collections.abc import Callable

import lark
import numpy as np
import pytest
from lark.indenter import DedentError, PythonIndenter

import tokamata as tk
from tests.support.masks import allowed, bits
from tests.support.matchers import takes
from tests.support.texts import all_texts
from tests.support.vocabularies import bytes_and
from tokamata.patterns.grammars.lexer import widths

VOCABULARY = bytes_and(b"\n  ", b"a\n", b"  a", b"\n\n ", b"\na\n a", b"(\n", b"b)\n", b"\n#a\n ", b"\n\t")
LINE_BREAKS = [
    r"/(\r?\n[\t ]*)+/",
    r"/\n[\t ]*/",
    r"(/\n[ ]*/ | COMMENT)+",
    r"/(\n *(#[^\n]*)?)+/",
    r"/\n *b?/",
    r"/( *\n)+ */",
    r"/(\n *#?)+(?=a)|\n */",
    r"/\n *(?!b)/",
    r"/(\n[ ]*)+?/",
]
WORDS = ["/[ab]/", "/[ab]+/", "/b+/", "/a(?=b)/", r"/b\b/", "/ab*/", "/b(?! )/", r"/a\n?/"]
IGNORED = ["", '" "', r"/[\t ]+/", r"/\\\n/", "/ +b?/", r"/ (?!\n)/", "COMMENT"]
WITH_BLOCKS = [
    "x _NEWLINE _INDENT y+ _DEDENT",
    '"a" _NEWLINE [_INDENT start+ _DEDENT]',
    "_NEWLINE _INDENT y _DEDENT _NEWLINE?",
    "_INDENT x _DEDENT y",
    '"(" W x ")"',
    "_NEWLINE",
]
LETTERS = ["ab \n", "a(\n )", "ab#\n ", "a\t \n", "b\\\n a"]
PARTS = ["a", "b", "a", "\n", "\n ", "\n  ", "\n   ", "(", ")", " ", "#", "\n#\n", "\n\t"]


def sequence(draw: random.Random, depth: int = 0) -> str:
    return " ".join(item(draw, depth) for _ in range(draw.randint(1, 3)))


def item(draw: random.Random, depth: int) -> str:
    kind = draw.random()
    if kind < 0.28 or depth == 3:
        return draw.choice(['"a"', '"b"', "W"])
    if kind < 0.42:
        return "_NEWLINE"
    if kind < 0.55:
        return f"_INDENT {sequence(draw, depth + 1)} _DEDENT"
    if kind < 0.62:
        return f'"(" {sequence(draw, depth + 1)} ")"'
    if kind < 0.80:
        return draw.choice(["start", "x", "y"])
    return f"({sequence(draw, depth + 1)}){draw.choice('?*+')}"


def grammar_and_judge(draw: random.Random) -> tuple[str, str, Callable[[str], bool]]:
    """A grammar that lark takes, its lexer, and whether lark reads a text."""
    while True:
        rules = []
        for name in ("start", "x", "y"):
            options = [sequence(draw) for _ in range(draw.randint(1, 3))]
            options += [draw.choice(WITH_BLOCKS)] if name == "start" else [""] * (draw.random() < 0.25)
            rules.append(f"{name}: {' | '.join(options)}\n")
        ignored = draw.choice(IGNORED)
        rules += [f"_NEWLINE: {draw.choice(LINE_BREAKS)}\n", f"W: {draw.choice(WORDS)}\n"]
        rules += ["COMMENT: /#[^\\n]*/\n", f"%ignore {ignored}\n" if ignored else ""]
        grammar = "".join([*rules, "%declare _INDENT _DEDENT\n"])
        lexer = draw.choice(["contextual", "contextual", "basic"])
        try:
            parser = lark.Lark(
                grammar,
                parser="lalr" if lexer == "contextual" else "earley",
                lexer=lexer,  # type: ignore[arg-type]
                postlex=PythonIndenter(),
            )
        except lark.exceptions.LarkError:
            continue

        def is_text(text: str, parser: lark.Lark = parser) -> bool:
            try:
                parser.parse(text)
            except (lark.UnexpectedInput, DedentError, AssertionError, IndexError):
                return False
            return True

        return grammar, lexer, is_text


@pytest.mark.parametrize("seed", [*range(14), 446])  # 446: masks of other rests of the stack were taken
def test_texts_and_masks(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(widths, "WIDEST", 24)  # wider than any of these texts
    draw = random.Random(seed)
    grammar, lexer, is_text = grammar_and_judge(draw)
    letters = draw.choice(LETTERS)
    texts = all_texts(letters, 5 if len(letters) < 5 else 4)
    texts += ["".join(draw.choices(PARTS, k=draw.randint(4, 10))) for _ in range(300)]
    texts = [text for text in texts if text.count("\t") < 3]
    try:
        constraint = tk.grammar(grammar, lexer=lexer).compile(VOCABULARY)  # type: ignore[arg-type]
    except tk.EmptyConstraintError:
        assert not any(map(is_text, texts))
        return
    matcher = constraint.matcher()
    assert [text for text in texts if takes(matcher, text.encode()) != is_text(text)] == []
    for _ in range(3):
        written = walked(constraint, draw)
        assert is_text(written), written


def walked(constraint: tk.CompiledConstraint, draw: random.Random) -> str:
    """A text of at most twenty tokens, along whose way each mask has the tokens that can be read."""
    matcher = constraint.matcher()
    row = np.zeros_like(matcher.mask)
    for left in range(20, 0, -1):
        readable = {
            token
            for token, text in enumerate(VOCABULARY.tokens)
            if text is not None and all(map(matcher.fork().advance, text))
        }
        assert allowed(matcher) - set(VOCABULARY.stop) == readable
        matcher.fill_mask(row, budget=left)
        tokens = sorted(bits(row) - set(VOCABULARY.stop))
        if not tokens or (matcher.is_accepting and draw.random() < 0.1):
            break
        blanks = [token for token in tokens if token >= 256 or token in (0x0A, 0x20)]
        assert matcher.advance(draw.choice(blanks if blanks and draw.random() < 0.6 else tokens))
    assert matcher.is_accepting
    return matcher.text.decode()
