"""Grammars with blocks that are told by indentation, against lark's parser with its Indenter."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from pathlib import Path

import lark
import numpy as np
import pytest
from lark.indenter import DedentError, PythonIndenter

import tokamata as tk
from tests.support.masks import allowed, bits
from tests.support.matchers import is_text_of, takes, write
from tests.support.mutations import mutated
from tests.support.texts import all_texts
from tests.support.vocabularies import BYTE_VOCABULARY, bytes_and
from tokamata.patterns.grammars.lexer import widths

PYTHON = Path(lark.__file__).parent / "grammars" / "python.lark"
TREE = r"""
start: _NL* tree
tree: NAME _NL [_INDENT tree+ _DEDENT]
NAME: /[ab]+/
%declare _INDENT _DEDENT
%ignore " "
_NL: /(\r?\n[\t ]*)+/
"""
# With comments within line breaks and without, and brackets in which there are none.
CALLS = r"""
start: (_NEWLINE | statement)*
statement: call _NEWLINE | "i" block
block: call _NEWLINE | _NEWLINE _INDENT statement+ _DEDENT
call: "a" ["(" [call ("," call)*] ")"]
_NEWLINE: (/\r?\n[\t ]*/ | COMMENT)+
COMMENT: /#[^\n]*/
%ignore /[\t ]+/
%ignore /\\[\t ]*\n/
%ignore COMMENT
%declare _INDENT _DEDENT
"""
# A block may be empty, and may follow a block; a line break may stand alone.
LOOSE = r"""
start: item*
item: "a" | _NEWLINE | _INDENT item* _DEDENT | "(" item* ")" | pair
pair: _NEWLINE _INDENT "b" _DEDENT "b"
_NEWLINE: /\n[ ]*/
%declare _INDENT _DEDENT
"""
# Blocks are declared, and no rule that is reached has them: lark's Indenter reads all the same.
DECLARED = r"""
start: item+
item: "a" | "b" | "(" item* ")"
block: _NEWLINE _INDENT start _DEDENT
_NEWLINE: /\n[ ]*/
%declare _INDENT _DEDENT
"""
FLAT = DECLARED.replace('"b"', "_NEWLINE")
GRAMMARS = {"tree": TREE, "calls": CALLS, "loose": LOOSE, "declared": DECLARED, "flat": FLAT}
PROGRAM = """def f(x, y=(1,
   2)):
    # a comment

    if x:
        return [a for a in y
           if a]
    else:
      z = {
'a': 1}
    while True: pass
@f
class A(B):
\tdef g(self): return 1
\tx = 3
\tasync def h():
\t\tawait x

try:
    y = '''
  text
''' + "\\n"  # the end
except E as e:
    y = \\
 2
finally: pass
match x:
    case [1, 2]: a
    case _:
        b
print(f)
"""


@cache
def judge(grammar: str, lexer: str = "contextual") -> Callable[[str], bool]:
    """Whether lark reads a text of a grammar, or of its grammar of Python."""

    class Indenter(PythonIndenter):
        NL_type = "_NL" if "_NL:" in grammar else "_NEWLINE"

    is_python = grammar == str(PYTHON)
    # An Earley parser reads what LALR(1) cannot; the lexer is the same.
    parser = lark.Lark(
        PYTHON.read_text() if is_python else grammar,
        parser="lalr" if lexer == "contextual" else "earley",
        lexer=lexer,
        postlex=Indenter(),
        start="file_input" if is_python else "start",
    )

    def is_text(text: str) -> bool:
        try:
            parser.parse(text)
        except (lark.UnexpectedInput, DedentError, AssertionError, IndexError):
            return False
        return True

    return is_text


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of a few columns, so that large grammars load soon."""
    monkeypatch.setattr(widths, "WIDEST", 17)


@cache
def compiled(grammar: str, lexer: str | None = None) -> tk.CompiledConstraint:
    return tk.grammar(grammar, lexer=lexer).compile(BYTE_VOCABULARY)  # type: ignore[arg-type]


def differences(grammar: str, lexer: str | None, texts: list[str]) -> list[tuple[str, bool]]:
    is_text = judge(grammar, lexer or "contextual")
    compile_ = compiled(grammar, lexer)
    found = [(text, is_text(text)) for text in texts]
    assert any(is_one for _, is_one in found)
    assert not all(is_one for _, is_one in found)
    return [(text, is_one) for text, is_one in found if takes(compile_.matcher(), text.encode()) != is_one]


@pytest.mark.parametrize(
    ("name", "lexer", "letters", "longest"),
    [
        ("tree", None, "a \n", 8),
        ("tree", None, "a \n\t", 6),
        ("tree", "basic", "a \n\r", 6),
        ("calls", None, "ai \n", 7),
        ("calls", None, "a(\n) ", 6),
        ("calls", None, "a#\n ", 6),
        ("calls", "basic", "ai\n #", 5),
        ("loose", "basic", "ab \n", 6),
        ("loose", "basic", "a( \n)", 5),
        ("loose", "longest", "ab \n", 5),
        ("declared", None, "a(\n) b", 5),
        ("declared", "basic", "a(\n) b", 5),
        ("flat", None, "a(\n) ", 6),
        ("flat", "basic", "a(\n) ", 5),
    ],
)
def test_all_short_texts(name: str, lexer: str | None, letters: str, longest: int) -> None:
    grammar = GRAMMARS[name]
    of_judge = "basic" if lexer == "longest" else lexer  # of these terminals, both read the same
    texts = all_texts(letters, longest)
    is_text, matcher_of = judge(grammar, of_judge or "contextual"), compiled(grammar, lexer)
    expected = {text for text in texts if is_text(text)}
    found = [text for text in texts if takes(matcher_of.matcher(), text.encode()) != (text in expected)]
    assert not found
    assert len(expected) > 20


@pytest.mark.parametrize("name", ["tree", "calls"])
@pytest.mark.parametrize("seed", range(4))
def test_random_programs_and_their_mutations(name: str, seed: int) -> None:
    draw = random.Random(seed)
    texts = []
    for _ in range(60):
        text = "".join(_lines(draw, draw.choice(["", "  ", "\t"]), 3, name == "calls"))
        texts += [text, text.rstrip("\n")]
        for _ in range(5):
            changed = mutated(text.encode(), draw)
            try:
                texts.append(changed.decode())
            except UnicodeDecodeError:
                assert not takes(compiled(GRAMMARS[name]).matcher(), changed)
    assert differences(GRAMMARS[name], None, texts) == []


def _lines(draw: random.Random, margin: str, depth: int, is_calls: bool) -> list[str]:
    """Lines with blocks of random widths; the first line has no margin."""
    found = []
    outer = margin if depth < 3 else ""
    for number in range(draw.randint(1, 3)):
        blank = draw.choice(["", "", "\n", f"{outer} \n"])
        if is_calls:
            call = draw.choice(["a", "a()", "a(a,\n  a)", "a(#\n)", "a \\\n"])
            comment = draw.choice(["", "", " # a b", "  "])
        else:
            call, comment = draw.choice(["a", "b"]), draw.choice(["", " "])
        has_block = depth > 0 and draw.random() < 0.5
        head = "i" if is_calls and has_block else call
        found.append(f"{outer}{head}{comment}\n{blank}")
        if has_block:
            inner = outer + draw.choice([" ", "  ", "\t", "    "])
            found += (
                _lines(draw, inner, depth - 1, is_calls) if depth < 3 else _lines(draw, inner, 2, is_calls)
            )
        elif is_calls and draw.random() < 0.2:
            found.append(f"{outer}i a\n")
        if not is_calls and depth == 3:
            break
        assert number >= 0
    return found


@pytest.mark.usefixtures("narrow")
@pytest.mark.slow
def test_python_and_its_mutations() -> None:
    is_text = judge(str(PYTHON))
    python = tk.grammar(PYTHON, start="file_input").compile(BYTE_VOCABULARY, limits=tk.Limits(seconds=120))
    assert is_text(PROGRAM)
    write(python.matcher(), PROGRAM)
    draw = random.Random(7)
    accepted = 0
    for _ in range(200):
        changed = mutated(PROGRAM.encode(), draw)
        try:
            expected = is_text(changed.decode())
        except UnicodeDecodeError:
            expected = False
        accepted += expected
        assert takes(python.matcher(), changed) == expected, changed
    assert accepted > 20


def test_masks_have_the_tokens_that_lead_to_a_text() -> None:
    vocabulary = bytes_and(b"\n  ", b"\n    ", b"a\n", b"  a", b"\n\n ", b"a\n  a\n", b" \n", b"\na\n a")
    matcher_of = tk.grammar(TREE).compile(vocabulary)
    texts = {text for text in all_texts("a \n", 9) if judge(TREE)(text)}
    prefixes = {text[:end] for text in texts for end in range(len(text) + 1)}
    for prefix in all_texts("a \n", 6):  # three more letters end any text
        matcher = matcher_of.matcher()
        is_prefix = all(map(matcher.advance, prefix.encode()))
        assert is_prefix == (prefix in prefixes), prefix
        if not is_prefix:
            continue
        for token, text in enumerate(vocabulary.tokens):
            if text is not None:
                assert (token in allowed(matcher)) == leads_on(matcher, text), (prefix, text)


def leads_on(matcher: tk.Matcher, text: bytes) -> bool:
    fork = matcher.fork()
    return all(map(fork.advance, text))


def test_the_tree_of_a_text_has_its_blocks() -> None:
    tree = tk.grammar(TREE).parse("a\n  b\n  a\n")
    assert [len(one.children) for one in tree.children[0].find_data("tree")] == [1, 1, 3]
    with pytest.raises(tk.ParseError, match="indented"):
        tk.grammar(TREE).parse("a\n    b\n  a\n")


def test_blocks_are_at_most_so_wide() -> None:
    deep = f"a\n{' ' * widths.WIDEST}b\n"
    assert is_text_of(tk.grammar(TREE), deep)
    assert not is_text_of(tk.grammar(TREE), f"a\n{' ' * (widths.WIDEST + 1)}b\n")
    assert str(widths.WIDEST) in str(tk.grammar(TREE).report())


def test_a_text_ends_where_its_budget_ends() -> None:
    matcher = tk.grammar(CALLS).compile(BYTE_VOCABULARY).matcher()
    draw = random.Random(3)
    row = np.zeros_like(matcher.mask)
    for left in range(40, 0, -1):
        matcher.fill_mask(row, budget=left)
        tokens = sorted(bits(row) - set(BYTE_VOCABULARY.stop))
        if not tokens:
            break
        assert matcher.advance(draw.choice(tokens))
    assert matcher.is_accepting
    assert judge(CALLS)(matcher.text.decode())


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("_NL", "LINE"), "_NEWLINE or _NL"),
        (("tree+ _DEDENT", "tree+"), "a block that does not begin and end in it"),
        (("[_INDENT tree+", "[tree+"), "a block that does not begin and end in it"),
        (("[_INDENT tree+ _DEDENT]", "(_INDENT tree)*"), "of tree has a block that does not begin and end"),
        (("%declare _INDENT _DEDENT", "%declare _INDENT"), "_DEDENT"),
        (("_DEDENT]\n", "]\n"), "a block that does not"),
        (("NAME _NL", '"(" NAME _NL'), "a bracket that does not begin and end in it"),
    ],
)
def test_files_that_are_no_grammars_with_blocks(change: tuple[str, str], reason: str) -> None:
    with pytest.raises(tk.GrammarError, match=reason):
        tk.grammar(TREE.replace(*change), lexer="basic")


@pytest.mark.parametrize("lexer", ["dynamic", "characters"])
def test_lexers_that_read_no_line_breaks(lexer: str) -> None:
    with pytest.raises(tk.GrammarError, match="cannot tell _INDENT"):
        tk.grammar(TREE, lexer=lexer)  # type: ignore[arg-type]


@pytest.mark.parametrize("names", ["_INDENT", "_DEDENT"])
def test_one_of_both_names_is_declared(names: str) -> None:
    with pytest.raises(tk.GrammarError, match=rf"{names} is declared without its partner"):
        tk.grammar(f'start: "a" _NL\n_NL: /\\n */\n%declare {names}\n', lexer="basic")


def test_names_in_comments_are_not_declared() -> None:
    for comment in ("# %declare _INDENT", "// %declare _INDENT", '%ignore " " // _INDENT'):
        constraint = tk.grammar(f'start: "a" "b"\n{comment}\n')
        assert constraint.report()[0].reason.startswith("dynamic")
        assert is_text_of(constraint, "ab")


@pytest.mark.usefixtures("narrow")
@pytest.mark.slow
def test_rules_of_another_grammar_need_its_names() -> None:
    names = "suite, _INDENT, _DEDENT, _NEWLINE"
    suite = tk.grammar(f'%import python ({names})\nstart: "a" suite\n%ignore " "\n')
    compiled_suite = suite.compile(BYTE_VOCABULARY)
    assert takes(compiled_suite.matcher(), b"a\n  x = 1\n  y\n")
    assert not takes(compiled_suite.matcher(), b"a\n  x = 1\n y\n")
    with pytest.raises(tk.GrammarError, match=r"import _INDENT with the rule"):
        tk.grammar('%import python.suite\nstart: "a" suite\n')


@pytest.mark.parametrize("lexer", [None, "basic"])
def test_what_is_beyond_lark_has_no_blocks(lexer: str | None) -> None:
    with pytest.raises(tk.GrammarError, match="indentation must use lark's syntax alone"):
        tk.grammar(TREE.replace("/[ab]+/", '/[ab]+/ - "ab"'), lexer=lexer)  # type: ignore[arg-type]


def test_errors_show_the_line_of_the_rule() -> None:
    with pytest.raises(tk.GrammarError) as caught:
        tk.grammar(TREE.replace("tree+ _DEDENT", "tree+"))
    assert caught.value.line == 3


def test_determinism_is_that_of_the_terminals() -> None:
    assert tk.grammar(TREE).determinism().kind == "top-down"
    answer = tk.grammar(TREE.replace("tree+", "tree* tree*"), lexer="basic").determinism()
    assert answer.kind == "unknown"
    assert "blocks" in answer.reason
