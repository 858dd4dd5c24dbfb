"""Grammars written in Python."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import tokamata as tk
from tests.support.matchers import is_text_of


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


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tk.grammar(tk.rule("x")), "'x' .*define|define.*'x'"),
        (lambda: arithmetic().define("a"), "no second definition"),
        (lambda: tk.rule("a") + 5, "a rule, a text or a constraint"),
        (lambda: tk.grammar(nested(tk.json())), r"json\(\) cannot stand in a, which refers to itself within"),
        (lambda: tk.grammar(nested(tk.control_token("<x>"))), "cannot stand in a"),
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
