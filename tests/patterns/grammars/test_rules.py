"""Grammars written in Python."""

from __future__ import annotations

import functools
import operator
import random
from collections.abc import Callable
from typing import Any

import pytest

import tokamata as tk
from tests.support.masks import allowed
from tests.support.matchers import is_text_of
from tests.support.texts import all_texts


def arithmetic() -> tk.Rule:
    expression = tk.rule("expression")
    return expression.define(
        tk.regex("[0-9]+") | expression + "+" + expression | "(" + expression + ")" | "-" + expression
    )


def nested(constraint: tk.Constraint) -> tk.Rule:
    rule = tk.rule("a")
    return rule.define(constraint | "(" + rule + ")")


def test_rules_that_repeat_themselves_contain_any_constraint() -> None:
    """JSON, another grammar, and an expression that may be empty, in a list that is written three times."""
    item = tk.rule("item")
    item.define(tk.json_schema({"type": "integer"}) | tk.grammar(nested(tk.literal("x"))) | tk.regex("y?"))
    left, right, looped = tk.rule("left"), tk.rule("right"), tk.rule("looped")
    left.define(item | left + "," + item)
    right.define(item | item + "," + right)
    looped.define(item + ("," + item).repeat())
    for rule in (left, right, looped):
        constraint = tk.grammar(rule)
        for text, is_text in [("1,((x)),y", True), ("", True), (",", True), ("1x", False), ("((x),1", False)]:
            assert is_text_of(constraint, text) == is_text, (rule, text)


def test_rules_refer_to_each_other() -> None:
    item, items = tk.rule("item"), tk.rule("items")
    item.define(tk.choice(["a", "b"]) | "[" + items + "]")
    items.define(item + ("," + item).repeat())
    constraint = tk.grammar(items)
    for text, is_text in [
        ("a", True),
        ("a,b", True),
        ("[a,[b]],a", True),
        ("[]", False),
        ("a,", False),
        ("", False),
    ]:
        assert is_text_of(constraint, text) == is_text
    assert constraint.parse("a,b") == "a,b"


@pytest.mark.parametrize(
    ("text", "is_text"), [("1", True), ("1+(-2+3)", True), ("--1", True), ("1+", False), ("()", False)]
)
def test_operators_mean_what_those_of_constraints_mean(text: str, is_text: bool) -> None:
    assert is_text_of(tk.grammar(arithmetic()), text) == is_text


def test_repetitions_and_constraints_that_may_be_empty() -> None:
    pair = tk.rule("pair")
    pair.define(tk.regex("a*") + tk.rule("end").define("b").repeat(1, 2) + pair.optional() | "")
    constraint = tk.grammar(pair)
    texts = ["", "b", "aab", "abb", "abab", "bbb", "a", "ba"]
    assert [text for text in texts if is_text_of(constraint, text)] == ["", "b", "aab", "abb", "abab", "bbb"]


def random_rules(draw: random.Random) -> tuple[dict[str, tk.Rule], dict[str, tk.Rule]]:
    """Rules that use four others, and the same rules with grammars in place of these."""
    plain: dict[str, tk.Rule] = {}
    split: dict[str, tk.Rule] = {}

    def items(names: list[str]) -> list[list[str]]:
        ways = [[draw.choice(names) for _ in range(draw.randint(1, 3))] for _ in range(draw.randint(1, 2))]
        return [*ways, [draw.choice("ab")]]

    def phrase(ways: list[list[str]], rules: dict[str, tk.Rule]) -> Any:
        options = [[rules.get(name) or tk.literal(name) for name in way] for way in ways]
        sequences = [functools.reduce(operator.add, option) for option in options]
        return functools.reduce(operator.or_, sequences)

    for group, names in (("inner", "wx"), ("outer", "yz")):
        bodies = {name: items([*names, *plain, *"abc"]) for name in names}
        for rules in (plain, split):
            rules.update({name: tk.rule(name) for name in names})
            for name in names:
                rules[name].define(phrase(bodies[name], rules))
        if group == "inner":
            split.update({name: tk.grammar(split[name]) for name in names})  # type: ignore[misc]
    return plain, split


def test_grammars_stand_in_rules_of_any_kind() -> None:
    """Grammars within rules: the masks of random walks are those of one grammar with all of the rules."""
    draw = random.Random(81)
    vocabulary = tk.Vocabulary.load([*(text.encode() for text in all_texts("abc", 3, 1)), None], stop=39)
    masks = 0
    for _ in range(60):
        plain, split = random_rules(draw)
        whole, parts = (tk.grammar(rules["y"]).compile(vocabulary) for rules in (plain, split))
        for _ in range(3):
            first, second = whole.matcher(), parts.matcher()
            for _ in range(12):
                assert allowed(first) == allowed(second)
                masks += 1
                token = draw.choice(sorted(allowed(first)))
                assert first.advance(token)
                assert second.advance(token)
                if first.is_finished:
                    break
    assert masks > 900


def test_grammars_stand_in_rules_of_files() -> None:
    word = tk.rule("word")
    words = {"word": tk.grammar(word.define("<" + word + ">" | tk.regex("[a-z]")))}
    source = 'start: "(" start ")" | "[" @word "]" | NAME "=" @word\nNAME: /[0-9]+/\n%ignore " "\n'
    for lexer in ("dynamic", "characters", "longest", "basic"):
        constraint = tk.grammar(source, lexer=lexer, constraints=words)  # type: ignore[arg-type]
        for text in ("([ <<x>> ])", "( (1= a) )", "[a]"):
            assert is_text_of(constraint, text), (lexer, text)
        for text in ("([<x])", "<x>", "(1=)", "[< x>]"):
            assert not is_text_of(constraint, text), (lexer, text)
        assert constraint.determinism().kind == "unknown"
    with pytest.raises(tk.NotRegularError):
        constraint.pushdown_automaton()
    nested = 'start: "(" start ")" | %lark {\nstart: "[" start "]" | /[0-9]+/\n}\n'
    assert is_text_of(tk.grammar(nested), "(([[12]]))")
    assert not is_text_of(tk.grammar(nested), "([(1)])")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tk.grammar(tk.rule("x")), "'x' .*define|define.*'x'"),
        (lambda: arithmetic().define("a"), "no second definition"),
        (lambda: tk.rule("a") + 5, "a rule, a text or a constraint"),
        (
            lambda: tk.grammar(nested(tk.control_token("<x>"))),
            "cannot stand in a, which refers to itself within",
        ),
        (lambda: tk.rule("a") + tk.rule("a"), "different names"),
        (
            lambda: tk.grammar(
                tk.rule("a").define("(" + tk.rule("b").define("x" + tk.rule("a").define("y")))
            ),
            "named",
        ),
        (lambda: arithmetic().repeat(3, 1), "at least 3"),
        (lambda: tk.rule(5), "name"),  # type: ignore[arg-type]
    ],
)
def test_what_is_wrong_is_told(make: Callable[[], object], message: str) -> None:
    with pytest.raises(tk.ArgumentError, match=message):
        make()
