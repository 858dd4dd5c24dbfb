"""Recursive types in Python's own syntax: to any depth, with masks that never lie about a step."""

from __future__ import annotations

import dataclasses
import random
from functools import cache
from typing import Annotated, Any, NamedTuple, Optional, TypedDict

import annotated_types as at
import pydantic
import pytest
from typing_extensions import NotRequired, TypeAliasType

import tokamata as tk
from tests.support.masks import bits
from tests.support.matchers import accepts, step, write
from tests.support.types.python_source import source
from tests.support.types.type_cases import Box, Json, Node
from tests.support.types.type_cases import Tree as TreeAlias
from tests.support.types.type_walks import drawn, every_byte
from tests.support.vocabularies import bytes_and


@dataclasses.dataclass
class Tree:
    value: int
    children: list[Tree] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Even:
    name: str
    odd: Odd | None = None


@dataclasses.dataclass
class Odd:
    even: Even
    share: Annotated[float, at.Interval(ge=0, lt=1)] = 0.5


class Folder(pydantic.BaseModel):
    name: Annotated[str, pydantic.StringConstraints(pattern="^[a-z]+$")]
    inside: dict[str, Folder] = {}
    owner: Optional[Folder] = None  # noqa: UP045


class Link(NamedTuple):
    head: int
    tail: Link | None


class Menu(TypedDict):
    title: str
    entries: NotRequired[list[Menu | Action]]


class Action(TypedDict):
    title: str
    entries: list[Menu | Action]
    hidden: NotRequired[bool]


@dataclasses.dataclass(frozen=True)
class Leaf:
    number: int


@dataclasses.dataclass(frozen=True)
class Sum:
    left: Leaf | Sum | Product
    right: Leaf | Sum | Product


@dataclasses.dataclass(frozen=True)
class Product:
    factors: tuple[Leaf | Sum | Product, ...]


@dataclasses.dataclass(frozen=True)
class Bag:
    bags: frozenset[Bag] = frozenset()
    pair: tuple[int, Bag] | None = None


@dataclasses.dataclass
class Endless:
    next: Endless


KINDS: dict[str, Any] = {
    "dataclass": Tree,
    "one with much of everything": Node,
    "two that hold each other": Even,
    "a list of them": list[Odd],
    "models": Folder,
    "named tuple": Link,
    "typed dictionaries that begin alike": Menu | Action,
    "union": Sum | Leaf | Product,
    "sets and tuples": Bag,
    "alias": Json,
    "generic alias": TreeAlias[int],
    "generic class": Box[Tree],
}
VALUES: dict[str, list[Any]] = {
    "dataclass": [Tree(1), Tree(-5, [Tree(0), Tree(7, [Tree(8)])])],
    "two that hold each other": [Even("a"), Even("b", Odd(Even("'", Odd(Even('"')))))],
    "a list of them": [[], [Odd(Even("x")), Odd(Even("y", Odd(Even("z"), 0.25)))]],
    "models": [
        Folder(name="a"),
        Folder(name="a", inside={"b": Folder(name="b", inside={"ü": Folder(name="c")})}),
    ],
    "named tuple": [Link(1, None), Link(1, Link(2, Link(3, None)))],
    "typed dictionaries that begin alike": [
        {"title": "a"},
        {"title": "a", "entries": [{"title": "b"}, {"title": "c", "entries": [], "hidden": True}]},
    ],
    "union": [
        Leaf(3),
        Sum(Leaf(1), Product((Leaf(2), Sum(Leaf(3), Leaf(4))))),
        Product(()),
        Product((Leaf(1),)),
    ],
    "sets and tuples": [Bag(), Bag(frozenset({Bag(), Bag(pair=(1, Bag()))}), (2, Bag(frozenset({Bag()}))))],
    "generic class": [Box(Tree(1, [Tree(2)]), "é")],
}


@cache
def constraint_of(name: str) -> tk.Constraint:
    return tk.type(KINDS[name], syntax="python")


@pytest.mark.parametrize("name", VALUES)
def test_what_repr_writes_is_accepted_and_read_back(name: str) -> None:
    constraint = constraint_of(name)
    for value in VALUES[name]:
        text = source(value)
        assert accepts(constraint, text), text
        assert constraint.parse(text) == value
        for place in range(1, len(text), 3):
            assert not accepts(constraint, text[:place])


@pytest.mark.parametrize("name", KINDS)
def test_texts_from_masks_are_read_back(name: str) -> None:
    constraint = constraint_of(name)
    for seed in range(12):
        text = drawn(constraint, seed, 20 * (1 + seed % 4))
        value = constraint.parse(text)
        if name == "models":  # whose repr leaves out nothing that was given, and no more
            text = "Folder(" + text.partition("(")[2]
        assert constraint.parse(source(value)) == value, text
        assert accepts(constraint, source(value)), text


@pytest.mark.parametrize("name", KINDS)
def test_masks_are_what_steps_say(name: str) -> None:
    vocabulary = words_of_python()
    for seed in range(4):
        draw = random.Random(f"{name} {seed}")
        matcher = constraint_of(name).compile(vocabulary).matcher()
        for _ in range(25):
            allowed = bits(matcher.mask)
            for token in range(vocabulary.width):
                if token in vocabulary.stop:
                    assert (token in allowed) == matcher.is_accepting
                elif matcher.fork().advance(token) != (token in allowed):
                    raise AssertionError((matcher.text, vocabulary[token]))
            tokens = sorted(token for token in allowed if token >= 256 and token not in vocabulary.stop)
            tokens = tokens if tokens and draw.random() < 0.7 else sorted(allowed - set(vocabulary.stop))
            if not tokens:
                break
            assert matcher.advance(draw.choice(tokens))


@cache
def words_of_python() -> tk.Vocabulary:
    """Every byte, and tokens such as tokenizers have that were trained on code."""
    given = (
        r"( = [ ] )]) )) ([ [[ (value value= =[ 1, 12 }) }} '} ': {' None Tree( children =Tree (left= Leaf("
        r" Sum( left number=1 (Leaf title entries':_[{' frozenset({ Bag(bags=frozenset({ pair=( é () ), (),"
        r" odd=Odd( even= \n \ ,_ ':_[ )),_"
    )
    words = [word.replace("_", " ") for word in given.split(" ")]
    return bytes_and(*map(str.encode, words))


# ---- depth ----------------------------------------------------------------------------------------


def nested(depth: int) -> str:
    return "Tree(value=1, children=[" * depth + "Tree(value=2)" + "])" * depth


def depth_of(tree: Tree) -> int:
    depth = 0
    while tree.children:
        tree, depth = tree.children[0], depth + 1
    return depth


def test_any_depth() -> None:
    constraint = tk.type(Tree, syntax="python")
    compiled = constraint.compile(every_byte())
    for depth in (1, 250, 1000, 5000):
        matcher = compiled.matcher()
        write(matcher, nested(depth))
        assert matcher.is_finished
        tree = compiled.parse(nested(depth))
        assert depth_of(tree) == depth
        while tree.children:  # from the top, since a chain of so many is freed by recursion
            tree = tree.children.pop()
    with pytest.raises(tk.ParseError, match="its end"):
        constraint.parse(nested(1000)[:-1])
    with pytest.raises(tk.ParseError) as caught:
        constraint.parse(nested(1000).replace("2", "'2'"))
    assert (
        caught.value.place
        == f"line 1, column {1000 * len('Tree(value=1, children=[') + len('Tree(value=') + 1}"
    )


def test_deep_texts_roll_back_and_fork() -> None:
    matcher = tk.type(Tree, syntax="python").compile(words_of_python()).matcher()
    front = b"Tree(value=1, children=["
    masks = {}
    for depth in range(300):
        masks[depth] = bits(matcher.mask)
        write(matcher, front)
    other = matcher.fork()
    write(other, b"])" * 300)
    assert other.is_finished
    for depth in reversed(range(300)):
        matcher.rollback(len(front))
        assert bits(matcher.mask) == masks[depth]


def test_readings_of_alike_types_do_not_multiply() -> None:
    constraint = tk.type(Menu | Action, syntax="python")
    limits = tk.Limits(states=20_000, memory_bytes=60_000_000, seconds=60)
    matcher = constraint.compile(every_byte(), limits=limits).matcher()
    front, back = "{'title': 'a', 'entries': [", "], 'hidden': True}"
    for _ in range(60):
        write(matcher, front)
    assert bits(matcher.mask)
    write(matcher, back * 60)
    assert matcher.is_finished
    value = constraint.parse(front * 60 + back * 60)
    for _ in range(60):
        assert value["hidden"]
        value = value["entries"][0] if value["entries"] else None
    assert value is None


# ---- what goes with masks -------------------------------------------------------------------------


def test_budgets_are_kept() -> None:
    compiled = tk.type(Tree, syntax="python").compile(words_of_python())
    for seed in range(5):
        draw = random.Random(seed)
        matcher = compiled.matcher()
        row = compiled.allocate_mask()
        for left in range(60, 0, -1):
            matcher.fill_mask(row[0], budget=left)
            tokens = sorted(bits(row) - set(compiled.vocabulary.stop))
            if not tokens:
                break
            assert matcher.advance(draw.choice(tokens))
        assert matcher.is_accepting


def test_a_text_is_brought_to_its_end() -> None:
    matcher = tk.type(Tree, syntax="python").compile(words_of_python()).matcher()
    write(matcher, b"Tree(value=1, children=[Tree(value")
    tokens = matcher.shortest_completion()
    assert b"".join(words_of_python()[token] or b"" for token in tokens) in (
        b"=%d)])" % digit for digit in range(10)
    )
    assert matcher.forced_text() == b"="


def test_canonical_tokens() -> None:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    alphabet = {letter: at for at, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    merges = [
        ("T", "r"),
        ("Tr", "ee"),
        ("e", "e"),
        ("v", "a"),
        ("=", "["),
        ("]", ")"),
        ("]", "),"),
        (")", ","),
        (",", "Ġ"),
        ("1", "2"),
    ]
    for left, right in merges:
        for part in (left, right, left + right):
            alphabet.setdefault(part, len(alphabet))
    tokenizer = Tokenizer(models.BPE(vocab=alphabet, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    constraint = tk.type(Tree, syntax="python")
    vocabulary = tk.Vocabulary.load(tokenizer, stop=())
    compiled = constraint.compile(vocabulary, tokenization="canonical")
    for text in (
        nested(0),
        nested(3),
        "Tree(value=12, children=[Tree(value=-1), Tree(value=0, children=[])])",
    ):
        matcher = compiled.matcher()
        for token in tokenizer.encode(text).ids:
            assert token in bits(matcher.mask), (text, matcher.text, token)
            assert matcher.advance(token)
        assert matcher.is_accepting
    for seed in range(3):
        draw = random.Random(seed)
        matcher = compiled.matcher()
        for _ in range(30):
            if not step(matcher, draw):
                break
        ids = list(matcher.tokens)
        whole = tokenizer.encode(tokenizer.decode(ids)).ids
        assert whole[: len(ids) - 1] == ids[:-1]


# ---- what is refused ------------------------------------------------------------------------------

Itself = TypeAliasType("Itself", "int | Itself")
Between = TypeAliasType("Between", "int | list[Between]")


def test_types_that_begin_with_themselves() -> None:
    with pytest.raises(tk.UnsupportedTypeError, match="one of its own alternatives"):
        tk.type(Itself, syntax="python")
    assert tk.type(Between, syntax="python").parse("[[1], 2]") == [[1], 2]


def test_a_type_without_values() -> None:
    constraint = tk.type(Endless, syntax="python")
    with pytest.raises(tk.EmptyConstraintError):
        constraint.compile(every_byte())


def test_parsed_white_space_and_brackets() -> None:
    constraint = tk.type(Tree, syntax="python")
    assert constraint.parse(
        "Tree(\n  value = (1), # one\n  children = [\n    Tree ( value=- 2 , ) ,\n  ]\n)\n"
    ) == Tree(1, [Tree(-2)])
    for text in (
        "Tree(value=1,,)",
        "Tree(,value=1)",
        "Tree(value=)",
        "Tree(value=1 children=[])",
        "Tree(value=1])",
        "(Tree)(value=1)",
        "Tree(value=1)(value=1)",
        "Tree(value==1)",
        "Tree(value:1)",
        "Tree(value=1).value",
        "Tree..x",
        "",
        "Tree(value={1: 2, 3})",
        "Tree(value={1, 2: 3})",
        "Tree(value=1, children=[Tree(value=1),,])",
        "Tree(value=--1)",
        "Tree(value=1_)",
    ):
        with pytest.raises(tk.ParseError):
            constraint.parse(text)
