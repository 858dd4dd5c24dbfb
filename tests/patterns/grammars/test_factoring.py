"""Factored rules have the texts of the rules, and the shapes that people write."""

from __future__ import annotations

import random

import pytest

import tokamata as tk
from tests.support.grammars import A, B, random_grammar, short_texts, show
from tests.support.vocabularies import bytes_and
from tokamata.patterns.grammars.rules.factoring import LARGEST_INLINED, factored
from tokamata.patterns.grammars.rules.rule_trees import (
    Choice,
    Grammar,
    Node,
    Reference,
    Repeat,
    Sequence,
    Terminal,
    children_first,
    tree_size,
)
from tokamata.resources.limits import Watch


def alternatives(*options: str) -> Choice:
    """Sequences of ``a`` and ``b``, and of rules by other letters."""
    symbols = {"a": A, "b": B}
    return Choice(
        tuple(
            Sequence(tuple(symbols.get(letter) or Reference(letter) for letter in option))
            for option in options
        )
    )


def written(node: Node) -> str:
    """A regular expression over the letters of :func:`alternatives`."""
    if isinstance(node, Sequence):
        return "".join(map(written, node.children))
    if isinstance(node, Choice):
        return f"({'|'.join(map(written, node.children))})"
    if isinstance(node, Repeat):
        bounds = {(0, 1): "?", (0, None): "*", (1, None): "+"}[node.minimum, node.maximum]
        return (
            f"({written(node.body)}){bounds}" if len(written(node.body)) > 1 else written(node.body) + bounds
        )
    if isinstance(node, Reference):
        return node.rule
    assert isinstance(node, Terminal), node
    return node.texts[0]


@pytest.mark.parametrize(
    ("options", "result"),
    [
        (("ab", "aa"), "a(b|a)"),
        (("ba", "aa", "xya"), "(b|a|xy)a"),
        (("a", "ab"), "ab?"),
        (("a", "ba"), "b?a"),
        (("y", "ay", "by", "aby"), "a?b?y"),
        (("ab", "axb", "axyb"), "a(xy?)?b"),
        (("xa", "xb", "ya", "yb"), "(x|y)(a|b)"),
        (("", "a"), "a?"),
        (("a",), "a"),
        (("a", "a"), "a"),
    ],
)
def test_alternatives(options: tuple[str, ...], result: str) -> None:
    assert written(factored({"s": alternatives(*options)}, Watch())["s"]) == result


@pytest.mark.parametrize("more", [("bp", "mbp"), ("bp", "bpm")])
def test_rules_that_repeat_are_repetitions(more: tuple[str, ...]) -> None:
    rules = {"s": alternatives("aa", "apa", "apma"), "m": alternatives(*more), "p": alternatives("ab", "bsb")}
    found = factored(rules, Watch())
    assert written(found["s"]) == "a(p(bp)*)?a"
    assert written(found["m"]) == "(bp)+"


@pytest.mark.parametrize(
    ("rules", "result"),
    [
        ({"c": ("", "ac")}, "a*"),
        ({"c": ("a", "bac", "abc")}, "((ab|ba))*a"),  # all is regular
        ({"c": ("axc", "a"), "x": ("xb", "bxa", "b")}, "a(xa)*"),
        ({"c": ("axc", "bx", ""), "x": ("axb", "a")}, "(ax)*(bx)?"),
        ({"c": ("axc", "ax", "ab"), "x": ("axb", "a")}, "a(xc?|b)"),  # rounds and ends begin alike
        ({"c": ("acbc", "")}, "(acb)*"),  # brackets
        ({"c": ("", "ad", "c"), "d": ("bc",)}, "(a(ba)*b)?"),
        ({"c": ("b", "ad"), "d": ("a", "bc")}, None),
        ({"c": ("cac", "b")}, "(cac|b)"),  # it begins with itself
        ({"c": ("axd", "a"), "d": ("bxc", "b"), "x": ("axb", "a")}, "a(xd)?"),  # not regular
        ({"c": ("ac",)}, "ac"),  # no text
    ],
)
def test_rules_that_end_with_themselves(rules: dict[str, tuple[str, ...]], result: str | None) -> None:
    bodies: dict[str, Node] = {name: alternatives(*options) for name, options in rules.items()}
    found = factored(bodies, Watch())
    if result is None:
        assert not any(isinstance(node, Reference) for node in children_first([found["c"]]))
    else:
        assert written(found["c"]) == result


@pytest.mark.parametrize("seed", range(20))
def test_the_texts_of_rules_that_end_with_each_other_stay(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(10):
        rules: dict[str, Node] = {}
        for name in "stu":
            options = {
                "".join(draw.choices("abbx", k=draw.randrange(3))) + draw.choice(("", "", *"stus"))
                for _ in range(draw.randrange(1, 5))
            }
            rules[name] = alternatives(*sorted(options))
        rules["x"] = alternatives("a", draw.choice(("ab", "asb", "axb")))
        result = Grammar(factored(rules, Watch()), "s")
        assert short_texts(result, 6) == short_texts(Grammar(rules, "s"), 6), rules


def test_rules_that_repeat_each_other_stay_rules() -> None:
    rules = {"m": alternatives("an", "man"), "n": alternatives("bm", "nbm")}
    found = factored(rules, Watch())
    assert {"n"} <= {node.rule for node in children_first([found["m"]]) if isinstance(node, Reference)}
    assert not any(
        isinstance(node, Repeat) and node.maximum is None for node in children_first(found.values())
    )


@pytest.mark.parametrize("seed", range(60))
def test_the_texts_stay(seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(10):
        grammar = random_grammar(draw)
        result = Grammar(factored(grammar.rules, Watch()), grammar.start)
        assert short_texts(result, 6) == short_texts(grammar, 6), show(grammar)


@pytest.mark.parametrize("seed", range(20))
def test_the_texts_of_alternatives_stay(seed: int) -> None:
    """Short alternatives over few symbols, which have much in common."""
    draw = random.Random(seed)
    for _ in range(40):
        options = {"".join(draw.choices("abcd", k=draw.randrange(5))) for _ in range(draw.randrange(1, 9))}
        rules = {
            "s": alternatives(*sorted(options)),
            "c": alternatives("a", "ca"),
            "d": alternatives("b", "bd", "a"),
        }
        result = Grammar(factored(rules, Watch()), "s")
        assert short_texts(result, 6) == short_texts(Grammar(rules, "s"), 6), options


def test_optional_parts_are_not_multiplied() -> None:
    """lark writes twelve of them as 4,096 alternatives."""
    letters = "cdefghijklmn"
    options = [""]
    for letter in letters:
        options = [option + more for option in options for more in ("", letter)]
    rules = {"s": alternatives(*(option + "a" for option in options))} | dict.fromkeys(
        letters, alternatives("b")
    )
    assert written(factored(rules, Watch())["s"]) == "".join(f"{letter}?" for letter in letters) + "a"


def test_alternatives_within_each_other_are_not_deep() -> None:
    options = ["ab" * length for length in range(700)]
    found = factored({"s": alternatives(*options)}, Watch())
    constraint = tk.grammar("root ::= " + " | ".join(f'"{option}"' for option in options[1:]), syntax="gbnf")
    matcher = constraint.compile(bytes_and()).matcher()
    assert tree_size(found["s"], {}) > 700
    matcher.advance_all(list(options[-1].encode()))
    assert matcher.is_accepting


def test_what_is_inlined_is_small() -> None:
    """Each rule repeats the next one twice: written out, the first would have 2⁴⁰ of the last."""
    count = 40
    rules: dict[str, Node] = {}
    for number in range(count):
        body = Sequence((Reference(str(number + 1)), Reference(str(number + 1))))
        rules[str(number)] = Choice((body, Sequence((Reference(str(number)), *body.children))))
    rules[str(count)] = A
    found = factored(rules, Watch())
    assert max(tree_size(body, {}) for body in found.values()) <= 3 * LARGEST_INLINED
