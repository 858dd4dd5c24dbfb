"""Grammars by how a parser can read them: against definitions by brute force, lark, and textbook cases."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import lark
import pytest
from lark.parsers.lalr_analysis import LALR_Analyzer

import tokamata as tk
from tests.support.derivation_oracles import all_texts, derivations, is_ll1, plain, shortest_conflict
from tests.support.grammars import is_text_of_rules, random_grammar, short_texts, show, small_grammars
from tests.support.lark_grammars import random_lark
from tests.support.paths import ROOT
from tokamata.patterns.grammars.diagnosis import determinism
from tokamata.patterns.grammars.diagnosis.determinism import Determinism, diagnosed
from tokamata.patterns.grammars.diagnosis.named_derivations import Derivation
from tokamata.patterns.grammars.rules.rule_trees import Grammar
from tokamata.resources.limits import Watch

SYNCODE = ROOT / "tests" / "data" / "grammars" / "syncode"


def of(source: str, lexer: str | None = None) -> Determinism:
    if "::=" in source:
        return tk.grammar(source, syntax="gbnf").determinism()
    return tk.grammar(source, lexer=lexer).determinism()  # type: ignore[arg-type]


def checked(grammar: Grammar, longest: int) -> str | None:
    """What is said of a grammar over ``a`` and ``b``, against the derivations of its short texts."""
    try:
        found = diagnosed(grammar, "characters", None, None)
    except tk.EmptyConstraintError:
        assert not short_texts(grammar, longest)
        return None
    case = (show(grammar), str(found))
    if found.kind == "ambiguous":
        (text,) = found.texts
        first, second = found.derivations
        assert str(first) != str(second), case
        assert first.text == second.text == text, case
        assert len(text) > 8 or derivations(grammar, text) == 2, case
        assert all(derivations(grammar, short) < 2 for short in all_texts(min(longest, len(text) - 1))), case
    elif found.kind == "conflict":
        after = len(found.prefix)
        one, other = found.texts
        assert one.startswith(found.prefix), case
        assert one[: after + 1] == other[: after + 1], case
        assert is_text_of_rules(grammar, one), case
        assert is_text_of_rules(grammar, other), case
        assert found.actions[0] != found.actions[1], case
    else:
        assert found.kind in ("top-down", "LR(1)"), case
        assert all(derivations(grammar, text) < 2 for text in all_texts(longest)), case
    return found.kind


def check_definitions(grammar: Grammar, kind: str | None) -> None:
    """The same against the definitions of LL(1) and LR(1)."""
    if kind is None:
        return
    rules, case = plain(grammar), (show(grammar), kind)
    conflict = shortest_conflict(rules, grammar.start)
    assert (conflict is None) == (kind in ("top-down", "LR(1)")), case
    if kind == "conflict":
        found = diagnosed(grammar, "characters", None, None)
        assert len(found.prefix) == conflict, case
    if all(len({option[:1] for option in options}) == len(options) for options in rules.values()):
        assert is_ll1(rules, grammar.start) == (kind == "top-down"), case


@pytest.fixture
def few_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Grammars with a conflict and no ambiguous text are searched for less long."""
    monkeypatch.setattr(determinism, "_MOST_PAIRS", 2_000)


@pytest.mark.usefixtures("few_pairs")
@pytest.mark.parametrize(("size", "rules"), [(1, 1), (2, 1), (3, 1), (4, 1), (2, 2)])
def test_all_small_grammars(size: int, rules: int) -> None:
    for grammar in small_grammars(size, rules):
        check_definitions(grammar, checked(grammar, 4))


@pytest.mark.usefixtures("few_pairs")
@pytest.mark.parametrize(("size", "rules"), [(3, 2), (4, 2), (5, 1), (3, 3)])
def test_some_of_the_larger_grammars(size: int, rules: int) -> None:
    draw = random.Random(size * 10 + rules)
    kinds = set()
    share = {(3, 2): 0.1, (4, 2): 0.006, (5, 1): 0.1, (3, 3): 0.004}[size, rules]
    for grammar in small_grammars(size, rules):
        if draw.random() < share:
            kind = checked(grammar, 4)
            check_definitions(grammar, kind)
            kinds.add(kind)
    assert {"top-down", "ambiguous"} <= kinds


@pytest.mark.usefixtures("few_pairs")
@pytest.mark.parametrize("seed", range(100))
def test_repetitions_and_groups(seed: int) -> None:
    checked(random_grammar(random.Random(seed)), 4)


# ---- lark ----

LETTERS = ["A", "B", "C"]


def random_rules(draw: random.Random) -> str:
    """``start`` ends with a letter of its own: lark overlooks conflicts with the end of the text."""
    rules = ["s", "x", "y"][: draw.randint(1, 3)]
    lines = ["start: s D"]
    for rule in rules:
        options = {
            " ".join(draw.choice(LETTERS * 2 + rules) for _ in range(draw.choice([0, 1, 2, 2, 3])))
            for _ in range(draw.randint(1, 3))
        }
        lines.append(f"{rule}: {' | '.join(sorted(options))}")
    return "\n".join(lines + [f'{letter}: "{letter.lower()}"' for letter in [*LETTERS, "D"]])


@pytest.mark.usefixtures("few_pairs")
def test_what_is_lalr_for_lark_is_lr() -> None:
    """lark's own analysis, which refuses reduce/reduce conflicts and, if strict, shift/reduce ones."""
    kinds: Counter[tuple[bool, str]] = Counter()
    for seed in range(300):
        source = random_rules(random.Random(seed))
        try:
            analyzer = LALR_Analyzer(lark.Lark(source).parser.parser_conf, strict=True)
        except lark.exceptions.GrammarError:
            continue  # a rule is not used
        try:
            ours = of(source, "basic").kind
        except tk.EmptyConstraintError:
            continue
        try:
            analyzer.compute_lalr()
            is_lalr = True
        except lark.exceptions.GrammarError:
            is_lalr = False
        kinds[is_lalr, ours] += 1
        if is_lalr:
            assert ours in ("top-down", "LR(1)"), source
        elif ours in ("top-down", "LR(1)"):  # LALR(1) merges states that LR(1) keeps apart
            rules = plain(tk.grammar(source, lexer="characters")._stages.lexed(Watch()))
            assert shortest_conflict(rules, "start") is None, source
    assert {(True, "top-down"), (True, "LR(1)"), (False, "ambiguous"), (False, "conflict")} <= set(kinds)
    assert kinds[False, "top-down"] + kinds[False, "LR(1)"] > 0


def is_cyclic(derivation: Derivation, around: tuple[tuple[str, str], ...] = ()) -> bool:
    """Whether a rule derives itself: lark's forest has no such derivation."""
    here = (derivation.name, derivation.text)
    if derivation.children is None:
        return False
    return here in around or any(is_cyclic(child, (*around, here)) for child in derivation.children)


def names(derivation: Derivation) -> str:
    """A derivation without its texts."""
    return derivation.name + str([names(child) for child in derivation.children or ()])


@pytest.mark.usefixtures("few_pairs")
@pytest.mark.parametrize("lexer", ["basic", "dynamic"])
def test_terminals_that_overlap(lexer: str) -> None:
    """lark's Earley parser finds several trees for an ambiguous text, and one for all texts of others.

    Where only the borders of ignored text differ, its trees may be equal.
    """
    kinds: Counter[str] = Counter()
    for seed in range(150):
        source = random_lark(random.Random(seed), has_looks=False)
        try:
            found = of(source, lexer)
            parser = lark.Lark(source, lexer=lexer, ambiguity="explicit", keep_all_tokens=True)  # type: ignore[arg-type]
        except (tk.TokamataError, lark.exceptions.LarkError):
            continue
        kinds[found.kind] += 1

        def trees(text: str, parser: lark.Lark = parser) -> int:
            try:
                return 2 if list(parser.parse(text).find_data("_ambig")) else 1
            except lark.exceptions.LarkError:
                return 0
            except RuntimeError:  # lark's own, where the start is complete with and without ignored text
                return -1

        case = (source, str(found))
        if found.kind in ("top-down", "LR(1)"):
            assert all(trees(text) < 2 for text in all_texts(4, "abc ")), case
        elif found.kind == "conflict":
            assert all(trees(text) == 1 for text in found.texts), case
        elif not any(map(is_cyclic, found.derivations)):
            first, second = map(names, found.derivations)
            assert first == second or trees(found.texts[0]) in (-1, 2), case
    assert set(kinds) == {"top-down", "LR(1)", "conflict", "ambiguous"}


# ---- textbook cases ----

EXPRESSION = 'root ::= root "+" t | t\nt ::= t "*" f | f\nf ::= "(" root ")" | [0-9]+'
NOT_SLR = 'root ::= l "=" r | r\nl ::= "*" r | "i"\nr ::= l'
NOT_LALR = 'root ::= "a" x "d" | "b" y "d" | "a" y "e" | "b" x "e"\nx ::= "c"\ny ::= "c"'


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ('root ::= "(" root ")" root | ""', "top-down"),
        ('root ::= "[" (root ("," root)*)? "]" | [a-z]+', "top-down"),
        ('root ::= "a" "b" | "a" "c"', "top-down"),  # both begin with a: factored
        (EXPRESSION, "LR(1)"),
        (NOT_SLR, "LR(1)"),
        (NOT_LALR, "LR(1)"),
    ],
)
def test_deterministic(source: str, kind: str) -> None:
    assert of(source).kind == kind


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ('root ::= root root | "a"', "aaa"),
        ('root ::= "i" root | "i" root "e" root | "x"', "iixex"),
        ('root ::= root "+" root | "(" root ")" | "1"', "1+1+1"),
        ("root ::= root | [0-9]", "0"),
        ('root ::= ("a"?)*', ""),
        ('root ::= "a"? "a"?', "a"),
        ('root ::= x y\nx ::= "a"*\ny ::= "a"* "b"', "ab"),
    ],
)
def test_ambiguous(source: str, text: str) -> None:
    found = of(source)
    assert found.kind == "ambiguous"
    assert found.texts == (text,)
    assert str(found.derivations[0]) != str(found.derivations[1])


def test_derivations_are_written_on_one_line() -> None:
    found = of('root ::= root "+" root | "1" | "(" root ")"')
    left, right = sorted(map(str, found.derivations))
    assert left == 'root(root("1") "+" root(root("1") "+" root("1")))'
    assert right == 'root(root(root("1") "+" root("1")) "+" root("1"))'
    child = found.derivations[0].children
    assert child is not None
    assert [part.text for part in child] in (["1", "+", "1+1"], ["1+1", "+", "1"])


def test_palindromes_have_a_conflict_and_no_ambiguous_text() -> None:
    found = of('root ::= "a" root "a" | "b" root "b" | ""')
    assert found.kind == "conflict"
    assert found.prefix == "a"
    assert set(found.texts) == {"aa", "aaaa"}
    assert str(found) == (
        "not LR(1): after 'a', root ends or is empty, as in 'aa', or the terminal \"a\" begins, as in 'aaaa'"
    )


def test_repetitions_are_rules_of_their_own() -> None:
    """Before the first ``a``, whether the repetition is empty is open; lark's loader distributes it."""
    assert of('root ::= "a"* "a"').texts == ("a", "aa")
    assert of('start: "a"* "a"', "basic").kind == "LR(1)"


def test_two_symbols_of_lookahead() -> None:
    found = of('root ::= x "cd" | y "ce"\nx ::= "a"\ny ::= "a"')
    assert found.kind == "conflict"
    assert (found.prefix, found.texts) == ("a", ("acd", "ace"))
    assert found.actions == ("x ends", "y ends")


def test_rules_of_python() -> None:
    expression = tk.rule("expression")
    expression.define(tk.regex("[0-9]+") | expression + "-" + expression)
    found = tk.grammar(expression).determinism()
    assert found.texts == ("0-0-0",)
    assert "ambiguous" in str(found)


# ---- lexers ----

IF = """
    start: "if" start ["else" start] | NAME
    NAME: /[a-z]+/
    %ignore " "
"""


def test_symbols_depend_on_the_lexer() -> None:
    """Where terminals do not compete, ``if`` may begin a name; elsewhere the dangling ``else`` is left."""
    for lexer in ("characters", "dynamic"):
        found = of(IF, lexer)
        assert (found.symbols, found.texts) == ("characters", ("ifa",))
    for lexer in ("basic", "contextual", "longest"):
        found = of(IF, lexer)
        assert (found.symbols, found.texts) == ("terminals", ("if if a else a",))
        assert tk.grammar(IF, lexer=lexer).parse(found.texts[0])


def test_a_conflict_over_terminals() -> None:
    source = """
        start: x "=" A | y "=" B
        x: A
        y: A
        A: /a+/
        B: /b+/
        %ignore " "
    """
    found = of(source, "longest")
    assert (found.kind, found.prefix) == ("conflict", "A")
    assert [text.replace(" ", "") for text in found.texts] == ["a=a", "a=b"]


def test_no_text_of_terminals_is_no_witness() -> None:
    """``X Y`` is ambiguous over terminals, and the lexer reads no text so: every ``b`` belongs to ``X``."""
    source = """
        start: p | q | "c"
        p: X Y
        q: X Y
        X: /ab*/
        Y: /b/
    """
    found = of(source, "longest")
    assert (found.kind, found.texts) == ("conflict", ())
    assert of(source, "characters").texts == ("ab",)


def test_repetitions_of_lark_files_are_read_from_the_top_down() -> None:
    source = """
        start: "[" [start ("," start)*] "]" | NAME+
        NAME: /[a-z]/
    """
    for lexer in ("characters", "basic"):
        assert of(source, lexer).kind == "top-down"


@pytest.mark.parametrize(
    ("name", "lexer", "kind"),
    [
        ("json.lark", "basic", "top-down"),
        ("json.lark", "dynamic", "LR(1)"),
        ("c.lark", "longest", "LR(1)"),
        ("c.lark", "dynamic", "ambiguous"),
        ("java.lark", "basic", "ambiguous"),
        ("java.lark", "contextual", "ambiguous"),
    ],
)
def test_real_grammars(name: str, lexer: str, kind: str) -> None:
    grammar = tk.grammar(SYNCODE / name, lexer=lexer)  # type: ignore[arg-type]
    found = grammar.determinism()
    assert found.kind == kind
    if name == "c.lark" and kind == "ambiguous":
        path = SYNCODE / name
        parser = lark.Lark(path.read_text(), parser="earley", lexer=lexer, ambiguity="explicit")  # type: ignore[arg-type]
        tree = parser.parse(found.texts[0])
        assert list(tree.find_data("_ambig")), found.texts[0]


# ---- constraints within grammars ----


def test_regular_constraints_are_read_character_by_character() -> None:
    source = """
        start: @word start | @word
        NEVER: "?"
    """
    word = {"word": tk.regex("[a-z]+")}
    found = tk.grammar(source, constraints=word).determinism()
    assert (found.kind, found.texts) == ("ambiguous", ("aa",))
    assert tk.grammar(source, constraints={"word": tk.regex("[a-z]")}).determinism().kind == "LR(1)"
    found = tk.grammar(source, constraints=word, lexer="basic").determinism()
    assert (found.kind, found.reason) == ("unknown", "@word is not read by the lexer")


@pytest.mark.parametrize("part", ["%json {}", "<think>", '%lark { start: "a" start "b" | "c" }'])
def test_constraints_without_an_answer(part: str) -> None:
    found = of(f'start: "x" {part}')
    assert found.kind == "unknown"
    assert "is not read by the lexer" in str(found)


# ---- bounds ----


def test_limits_give_no_answer() -> None:
    grammar = tk.grammar(EXPRESSION, syntax="gbnf")
    for limits in (tk.Limits(states=10), tk.Limits(memory_bytes=1000), tk.Limits(seconds=1e-9)):
        found = grammar.determinism(limits=limits)
        assert (found.kind, found.texts) == ("unknown", ())
        assert "was reached before an answer" in str(found)


def test_cancelling() -> None:
    cancel = tk.CancelToken()
    cancel.cancel()
    with pytest.raises(tk.Cancelled):
        tk.grammar(EXPRESSION, syntax="gbnf").determinism(cancel=cancel)


def test_no_text() -> None:
    with pytest.raises(tk.EmptyConstraintError):
        tk.grammar('root ::= "a" root', syntax="gbnf").determinism()


def test_deep_grammars_need_no_stack() -> None:
    chain = "\n".join(f"r{i} ::= r{i + 1}" for i in range(5_000))
    found = of(f'root ::= r0 r0\n{chain}\nr5000 ::= "a" | "a" "a"')
    assert found.texts == ("aaa",)
    assert str(found.derivations[0]).count("(") > 5_000
    nested = "(" * 900 + '"a"?' + ")*" * 900
    assert of(f"root ::= {nested}").kind == "ambiguous"


def test_states_that_explode_end_at_the_limits() -> None:
    """The canonical automaton has a state for each subset of the letters read."""
    letters = "abcdefghijklmnopqrst"
    options = " | ".join(f'"{x}" r{x}' for x in letters)
    rules = "\n".join(
        f"r{x} ::= "
        + " | ".join([f'"{y}" r{x}' for y in letters if y != x] + [f'"." n{x} "{x}"'])
        + f'\nn{x} ::= "n"'
        for x in letters
    )
    merged = "root ::= " + " | ".join(f"s{x}" for x in letters)
    starts = "\n".join(f"s{x} ::= r{x}" for x in letters)
    found = tk.grammar(f"{merged}\n{starts}\n{rules}\nunused ::= {options}", syntax="gbnf").determinism(
        limits=tk.Limits(states=300)
    )
    assert found.kind == "unknown"


def test_the_first_of_many_alternatives() -> None:
    """As many terminals as symbols of a machine word, and more."""
    letters = [chr(number) for number in range(0x3041, 0x3041 + 80)]
    assert of("root ::= " + " | ".join(f'"{letter}" root' for letter in letters) + ' | ""').kind == "top-down"


@pytest.mark.parametrize("lexer", ["characters", "dynamic", "basic", "longest"])
def test_rules_with_the_same_texts_are_kept_apart(lexer: Any) -> None:
    """The engine makes such rules one, and then the text has one derivation."""
    found = tk.grammar('start: a | b\na: "1"\nb: "1"\n', lexer=lexer).determinism()
    assert found.kind == "ambiguous"
    assert found.texts == ("1",)
    assert sorted(map(str, found.derivations)) == ['start(a("1"))', 'start(b("1"))']
