"""Derivations, the trees and the captured values that are made of them.

Judges: a search through all derivations for random grammars; lark's own trees for the lexers that lark has.
"""

from __future__ import annotations

import itertools
import pickle
import random
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import lark
import pytest

import tokamata as tk
from tokamata.constraints.grammar_constraints import _form_of
from tokamata.patterns.grammars import read_lark
from tokamata.patterns.grammars.parsing.earley import Constituent, first_derivation
from tokamata.patterns.grammars.rules.productions import Label, Productions, WorkAccount, reduced
from tokamata.resources.limits import Limits, Watch
from tokamata.values.forms import Reading

GRAMMARS = Path(__file__).parents[2] / "data" / "grammars" / "syncode"
SUMS = r"""
    start: sum
    ?sum: product | sum "+" product -> add | sum "-" product -> subtract
    ?product: atom | product "*" atom -> multiply
    ?atom: NUMBER -> number | "-" atom -> negate | "(" sum ")" | NAME ["!" NAME] | list
    list: "[" (sum ("," sum)*)? "]" | _marked
    !_marked: "<" NAME ">"
    NAME: /[a-zé]+/
    NUMBER: /[0-9]+/
    COMMENT: /#[^\n]*/
    %ignore /[ \n]+/
    %ignore COMMENT
"""

# ---- the first derivation ----

Shape = Any  # (symbol, begin, end, shapes)


def random_productions(rng: random.Random) -> Productions | None:
    """Over two terminals, possibly ambiguous, cyclic and with rules that derive the empty text."""
    rules = rng.randint(1, 4)
    alternatives: list[list[tuple[int, ...]]] = []
    for _ in range(rules):
        options = [
            tuple(
                rng.choice([0, 1, *(~rule for rule in range(rules))])
                for _ in range(rng.choice([0, 1, 2, 2, 3]))
            )
            for _ in range(rng.randint(1, 3))
        ]
        alternatives.append(list(dict.fromkeys(options)))
    labels = [Label("rule", str(number)) for number in range(rules)]
    return reduced(labels, alternatives, 2, WorkAccount(None, None))


def shape_of(node: Constituent) -> Shape:
    return node.symbol, node.begin, node.end, tuple(map(shape_of, node.children))


def parsed(productions: Productions, text: str) -> Shape | None:
    def ends(terminal: int, at: int) -> list[int]:
        return [at + 1] if text[at : at + 1] == "ab"[terminal] else []

    found = first_derivation(productions, ends, len(text), WorkAccount(None, None))
    return None if found is None else shape_of(found)


def is_cyclic(productions: Productions) -> bool:
    """Whether a rule derives itself, surrounded by nothing."""
    leads = {
        (number, ~symbol)
        for number, options in enumerate(productions.alternatives)
        for symbols in options
        for place, symbol in enumerate(symbols)
        if symbol < 0 and all(map(productions.is_nullable, symbols[:place] + symbols[place + 1 :]))
    }
    for middle, first, last in itertools.product(range(len(productions.labels)), repeat=3):
        if (first, middle) in leads and (middle, last) in leads:
            leads.add((first, last))
    return any((number, number) in leads for number in range(len(productions.labels)))


def searched(productions: Productions, text: str) -> Shape | None:
    """The first derivation by trying all; for grammars without cycles."""

    @cache
    def symbol(symbol: int, begin: int, end: int) -> Shape | None:
        if symbol >= 0:
            return (symbol, begin, end, ()) if text[begin:end] == "ab"[symbol] else None
        for symbols in productions.alternatives[~symbol]:
            if (children := sequence(symbols, begin, end)) is not None:
                return symbol, begin, end, children
        return None

    @cache
    def sequence(symbols: tuple[int, ...], begin: int, end: int) -> tuple[Shape, ...] | None:
        if not symbols:
            return () if begin == end else None
        last = end - productions.length(symbols[1:])
        for border in range(last, begin + productions.length(symbols[:1]) - 1, -1):
            rest = sequence(symbols[1:], border, end)
            if rest is not None and (first := symbol(symbols[0], begin, border)) is not None:
                return first, *rest
        return None

    return symbol(~0, 0, len(text))


def is_derivation(productions: Productions, shape: Shape, text: str) -> bool:
    symbol, begin, end, children = shape
    if symbol >= 0:
        return bool(text[begin:end] == "ab"[symbol])
    borders = [begin, *(child[2] for child in children)]
    return (
        tuple(child[0] for child in children) in productions.alternatives[~symbol]
        and [child[1] for child in children] == borders[:-1]
        and borders[-1] == end
        and all(is_derivation(productions, child, text) for child in children)
    )


def test_the_first_derivation_is_found() -> None:
    rng = random.Random(71)
    judged = cyclic = 0
    texts = ["".join(text) for length in range(6) for text in itertools.product("ab", repeat=length)]
    for _ in range(600):
        productions = random_productions(rng)
        if productions is None:
            continue
        has_cycle = is_cyclic(productions)
        for text in texts:
            found = parsed(productions, text)
            if has_cycle:
                cyclic += found is not None
                assert found is None or is_derivation(productions, found, text)
            else:
                judged += found is not None
                assert found == searched(productions, text), (productions.alternatives, text)
    assert min(judged, cyclic) > 1_000


def test_cyclic_grammars_derive_what_they_accept() -> None:
    """A chart finds all texts: those of ``s: s s | s | "a" | ""`` are any number of ``a``."""
    productions = reduced([Label("rule", "s")], [[(~0, ~0), (~0,), (0,), ()]], 2, WorkAccount(None, None))
    assert productions is not None
    for length in range(8):
        found = parsed(productions, "a" * length)
        assert found is not None
        assert is_derivation(productions, found, "a" * length)
    assert parsed(productions, "ab") is None


# ---- trees ----


def own_tree(source: str, lexer: str, text: str, start: str = "start") -> Any:
    """The tree of the own parser, also where ``parse`` leaves it to lark's."""
    file = read_lark(source, None, start, lexer, lambda *_: pytest.fail("nothing is embedded"), Watch())
    reading = Reading("", Limits(), None)
    return _form_of(file, lexer).read(text.encode(), reading).value


def positions(tree: Any) -> list[Any]:
    """All names and positions in a tree."""
    if isinstance(tree, lark.Token):
        place = (tree.start_pos, tree.end_pos, tree.line, tree.column, tree.end_line, tree.end_column)
        return [tree.type, str(tree), *place]
    if tree is None:
        return [None]
    meta = tree.meta
    place = () if meta.empty else (meta.start_pos, meta.end_pos, meta.line, meta.end_column)
    return [str(tree.data), *place, *map(positions, tree.children)]


@pytest.mark.parametrize("lexer", ["basic", "dynamic"])
@pytest.mark.parametrize(
    "text",
    ["1", " 1+2*(3 -é)", "[]", "[1, [ab!c],--2 ]# end", "<é>", "a\n+ [b #x\n, c!é]\n* 12 "],
)
def test_trees_are_those_of_lark(lexer: Any, text: str) -> None:
    parser = lark.Lark(SUMS, parser="earley", lexer=lexer, propagate_positions=True)
    assert positions(own_tree(SUMS, lexer, text)) == positions(parser.parse(text))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("json", '{"a": [1, -2.5e3, "x"], "b": {"b": null}}'),
        ("c", "int main(int a) { int b = 3; while (a < b) { a = a + f(b); } return a; }"),
    ],
)
def test_trees_of_larger_grammars_are_those_of_lark(name: str, text: str) -> None:
    source = (GRAMMARS / f"{name}.lark").read_text(encoding="utf-8")
    parser = lark.Lark(source, parser="earley", lexer="basic", propagate_positions=True)
    assert positions(own_tree(source, "basic", text)) == positions(parser.parse(text))


def test_random_texts_have_the_trees_of_lark() -> None:
    """Texts of sums, drawn at random; the grammar is not ambiguous."""
    rng = random.Random(72)

    def drawn(depth: int) -> str:
        kind = rng.randrange(7) if depth else 0
        inner = [drawn(depth - 1) for _ in range(rng.randint(0, 3))] if depth else []
        first = inner[0] if inner else str(rng.randrange(100))
        return [
            rng.choice(["1", "23", "é", "ab!c", "<x>", "[]"]),
            f"({first})",
            f"[{', '.join(inner)}]",
            f"-{first}",
            rng.choice(["+", "-", "*", " + #c\n"]).join(["1", *inner]),
            f" {first} ",
            f"({first}) * ({first})",
        ][kind]

    parser = lark.Lark(SUMS, parser="lalr", lexer="basic", propagate_positions=True)
    for _ in range(150):
        text = drawn(rng.randint(0, 4))
        assert positions(own_tree(SUMS, "basic", text)) == positions(parser.parse(text)), text


@pytest.mark.parametrize("lexer", ["characters", "longest"])
def test_lexers_that_lark_lacks_have_trees(lexer: Any) -> None:
    tree = tk.grammar(SUMS, lexer=lexer).parse(" 1+ab*2 # so")
    (add,) = tree.children
    assert (add.data, [child.data for child in add.children]) == ("add", ["number", "multiply"])
    (number,) = add.children[0].children
    assert (number.type, number, number.start_pos, number.end_pos) == ("NUMBER", "1", 1, 2)


def test_ambiguous_texts_have_the_first_tree() -> None:
    """The longest text for what comes first, so operators join to the left; then the first alternative."""
    source = 'start: s\n?s: s "+" s -> add | s "*" s -> multiply | N\nN: /[0-9]/\n'
    tree = tk.grammar(source, lexer="characters").parse("1+2*3+4")
    assert tree.children[0].data == "add"
    assert [str(leaf) for leaf in tree.children[0].children[0].scan_values(lambda _: True)] == ["1", "2", "3"]
    source = "start: a | b\na: /x+/\nb: /x/ /x/\n"
    assert tk.grammar(source, lexer="characters").parse("xx").children[0].data == "a"


def test_files_beyond_lark_have_trees() -> None:
    source = r"""
        start: call*
        call: NAME "(" [value ("," value)*] ")" @end
        value: %json {"type": "integer"} | WORD
        NAME: /[a-z]+/ - "if"
        WORD: /[A-Z]+/
        %ignore " "
    """
    grammar = tk.grammar(source, constraints={"end": tk.regex("[;.]?")})
    tree = grammar.parse("f(12, A ); ifx()")
    first, second = tree.children
    assert [leaf and str(leaf) for leaf in first.scan_values(lambda leaf: leaf)] == ["f", "12", "A", ";"]
    assert first.children[1].children[0].type == "%json"
    assert first.children[-1].type == "@end"
    assert [str(leaf) for leaf in second.scan_values(lambda leaf: leaf is not None)] == ["ifx", ""]


def test_texts_that_are_none_are_refused_where_they_end() -> None:
    with pytest.raises(tk.ParseError, match="byte 3"):
        tk.grammar(SUMS, lexer="longest").parse("1+ )")
    with pytest.raises(tk.ParseError, match="not complete"):
        tk.grammar(SUMS, lexer="longest").parse("1+")


def test_long_and_deep_texts_have_trees() -> None:
    grammar = tk.grammar(SUMS, lexer="longest")
    tree = grammar.parse("[" + ",".join(["a"] * 2_000) + "]")
    assert len(tree.children[0].children) == 2_000
    node = grammar.parse("(" * 2_000 + "[1]" + ")" * 2_000).children[0]
    assert node.data == "list"
    deep = tk.grammar('start: "(" start ")" | "x"', lexer="longest")
    node, depth = deep.parse("(" * 20_000 + "x" + ")" * 20_000), 0
    while node.children:
        (node,), depth = node.children, depth + 1
    assert depth == 20_000


def test_parsing_is_bounded() -> None:
    grammar = tk.grammar('start: "a" start | "a" start "b" | "a"', lexer="characters")
    with pytest.raises(tk.LimitExceeded):
        grammar.parse("a" * 5_000, limits=tk.Limits(seconds=0.3))
    token = tk.CancelToken()
    token.cancel()
    with pytest.raises(tk.Cancelled):
        grammar.parse("aaa", cancel=token)


@pytest.mark.parametrize(
    ("source", "lexer"),
    [
        ("start: /a/ start |", "dynamic"),
        ("start: start start | /a/", "dynamic"),
        ("start: (/a/ | /b/)*", "dynamic"),
        ("start: /a/ start |", "basic"),
        ("start: (/a/ | /b/)*", "contextual"),
        ("start: /b/\n%ignore /a/", "contextual"),
        ("start: " + "/a/ " * 3_000, "dynamic"),
    ],
)
def test_reading_by_lark_is_bounded(source: str, lexer: Any) -> None:
    grammar = tk.grammar(source, lexer=lexer)
    text = "a" * 200_000
    with pytest.raises(tk.LimitExceeded) as caught:
        grammar.parse(text, limits=Limits(seconds=0.1, memory_bytes=1 << 40))
    assert caught.value.limit == "seconds"
    with pytest.raises(tk.LimitExceeded) as caught:
        grammar.parse(text, limits=Limits(memory_bytes=200_000))
    assert caught.value.limit == "memory_bytes"
    cancel = tk.CancelToken()
    timer = threading.Timer(0.1, cancel.cancel)
    timer.start()
    with pytest.raises(tk.Cancelled):
        grammar.parse(text, limits=Limits(memory_bytes=1 << 40), cancel=cancel)
    timer.join()


def test_lark_is_as_it_was_after_a_limit() -> None:
    grammar = tk.grammar("start: /a/ start |")
    for seconds in (0.001, 0.01, 0.02):
        with pytest.raises(tk.LimitExceeded):
            grammar.parse("a" * 2_000, limits=Limits(seconds=seconds))
        assert grammar.parse("aa") == lark.Lark("start: /a/ start |").parse("aa")


def test_limits_of_one_thread_are_not_those_of_another() -> None:
    grammar = tk.grammar("start: (/a/ | /b/)*")
    grammar.parse("ab")
    with ThreadPoolExecutor(4) as threads:
        limits = [Limits(seconds=0.02), Limits(seconds=60)] * 2
        results = [threads.submit(grammar.parse, "ab" * 600, limits=given) for given in limits]
        for given, result in zip(limits, results, strict=True):
            if given.seconds < 1:
                assert isinstance(result.exception(), tk.LimitExceeded)
            else:
                assert len(result.result().children) == 1_200


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("start: a | s\ns: start\na: /a/\n", "a"),
        ("start: T | T r\nr: start | r | T\nT: /a/\n", "aa"),
        ("start: x |\nx: start x | T |\nT: /a/\n", "a"),
        # lark asks to report a bug.
        ("start: A | B r | x C\nr: A B x | x | start\nx: C\nA: /a+/\nB: /a/\nC: /b+/\n%ignore C", "ab"),
    ],
)
def test_rules_that_derive_themselves_have_trees(source: str, text: str) -> None:
    assert tk.grammar(source).parse(text).data == "start"


def test_random_texts_end_in_trees_or_typed_errors() -> None:
    outcomes = {"tree": 0, "error": 0}
    for seed in range(60):
        draw = random.Random(seed)
        rules = ["start", "x", "y"]
        lines = [
            f"{rule}: "
            + " | ".join(
                " ".join(draw.choice([*rules, "S", "T"]) for _ in range(draw.choice([0, 1, 1, 2, 3])))
                for _ in range(draw.randint(1, 3))
            )
            for rule in rules
        ]
        source = "\n".join([*lines, "S: /a+/", "T: /[ab]/", draw.choice(["", "%ignore S"])])
        try:
            grammar = tk.grammar(source, lexer=draw.choice(["dynamic", "basic"]))  # type: ignore[arg-type]
        except tk.GrammarError:
            continue
        for text in ("", "a", "b", "ab", "ba", "aab"):
            try:
                assert grammar.parse(text) is not None
                outcomes["tree"] += 1
            except tk.TokamataError:
                outcomes["error"] += 1
    assert min(outcomes.values()) > 50


# ---- captured values ----


def test_rules_capture_their_texts() -> None:
    grammar = tk.grammar(r"""
        start: head pair ("," pair)* note?
        head[capture="title"]: NAME ":"
        pair[capture]: NAME "=" NUMBER
        note[capture]: "!" NAME
        NAME: /[a-z]+/
        NUMBER: /[0-9]+/
        %ignore " "
    """)
    found = grammar.parse("x : a = 1 , bé=22".replace("é", "e") + " ")
    assert found == {"title": "x :", "pair": ["a = 1", "be=22"], "note": None}
    assert found.positions == {"title": [(0, 3)], "pair": [(4, 9), (12, 17)]}
    assert grammar.parse("x:a=1!b")["note"] == "!b"
    copy = pickle.loads(pickle.dumps(found))
    assert (copy, copy.positions) == (found, found.positions)


@pytest.mark.parametrize(
    ("rules", "text", "value"),
    [
        ("start: x\nx[capture]: /a/", "a", {"x": "a"}),
        ('start: "(" start ")" | x\nx[capture]: /a/', "((a))", {"x": "a"}),  # at most once in any text
        ('start: "(" start start ")" | x\nx[capture]: /a/', "a", {"x": ["a"]}),
        ('start: x | "b"\nx[capture]: /a/', "b", {"x": None}),
        ('start: x | "b" y\nx[capture="n"]: /a/\ny[capture="n"]: /c/', "bc", {"n": "c"}),
        ("start: x{0,3}\nx[capture]: /a/", "aa", {"x": ["a", "a"]}),
        ('start: x ";" tail\nx[capture, stop=";"]: /.*/\ntail: /.*/', "ab;c;", {"x": "ab"}),
        ('start[capture]: "é" x\nx[capture]: "ü"', "éü", {"start": "éü", "x": "ü"}),
        ("start: outer-rule\nouter-rule[capture]: /a/", "a", {"outer-rule": "a"}),
    ],
)
def test_values_are_single_where_they_can_only_be_so(rules: str, text: str, value: object) -> None:
    assert tk.grammar(rules).parse(text) == value


def test_control_tokens_are_not_in_a_captured_text() -> None:
    grammar = tk.grammar(r"""
        start: <think> thought </think> answer
        thought[capture]: /[a-z ]+/
        answer[capture]: %json {"type": "array", "items": {"type": "integer"}}
    """)
    assert grammar.parse("so be it[1, 2]") == {"thought": "so be it", "answer": "[1, 2]"}


def test_parts_of_rules_are_captured() -> None:
    item = tk.rule("item")
    pair = tk.regex("[0-9]+").captured("number") + tk.literal(":") + tk.regex("[a-z]+").captured("word")
    item.define(pair | "(" + item + ("," + item).repeat() + ")")
    found = tk.grammar(item).parse("(1:a,(22:b))")
    assert found == {"number": ["1", "22"], "word": ["a", "b"]}
    assert found.positions["number"] == [(1, 2), (6, 8)]
    numbers = tk.rule("numbers")
    numbers.define(tk.type(int).captured("number") + ("," + numbers).optional())
    assert tk.grammar(numbers).parse("1,-2") == {"number": [1, -2]}
    whole = tk.rule("whole")
    whole.define("<" + item.captured("inner") + ">")
    assert tk.grammar(whole).parse("<1:a>") == {"inner": "1:a", "number": ["1"], "word": ["a"]}
    sequence = tk.literal("# ") + tk.grammar(whole).captured("parts")
    assert sequence.parse("# <1:a>").parts["word"] == ["a"]


def test_compiled_constraints_have_captured_values() -> None:
    vocabulary = tk.Vocabulary.load([bytes([value]) for value in range(256)] + [None], stop=256)
    grammar = tk.grammar('start: x ("," x)*\nx[capture]: /[a-z]+/')
    assert grammar.compile(vocabulary).parse("a,bc") == {"x": ["a", "bc"]}


@pytest.mark.parametrize("name", ["", 3])
def test_captures_have_names(name: Any) -> None:
    with pytest.raises(tk.ArgumentError):
        tk.rule("x").captured(name)


def test_grammars_within_others_capture_nothing() -> None:
    with pytest.raises(tk.GrammarError, match="captures nothing"):
        tk.grammar('start: %lark {\nstart: x\nx[capture]: "a"\n}\n')
