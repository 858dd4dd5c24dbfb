"""What masks are made of: schemas of MaskBench, grammars, and patterns that are hard to mask in time."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import tokamata as tk
from benchmarks.common.schemas import load
from benchmarks.common.tokenizers import Tokenizer
from benchmarks.grammars.__main__ import GRAMMARS
from benchmarks.growth.cases import BOUNDS, PATTERN_SIZES

__all__ = ["GROUPS", "Case", "cases"]

ANY, CANONICAL, BUDGET, LEAST = "any tokens", "canonical", "budget", "min_tokens"


@dataclass(frozen=True)
class Case:
    """A constraint, and texts that a model would write.

    Attributes:
        name: its name, for what is told of the slowest.
        group: the row of the table.
        make: makes the constraint.
        texts: in tokens; walks follow one where they can.
        canonical: whether tokens are the tokenizer's own.
        budget: whether the number of tokens is bounded.
        least: the least number of tokens.
    """

    name: str
    group: str
    make: Callable[[], tk.Constraint]
    texts: list[list[int]]
    canonical: bool = False
    budget: bool = False
    least: int = 0


GROUPS = ("MaskBench", "grammars", "hostile")
_GRAMMARS = ("json", "c", "java")
_GRAMMAR_TEXTS = {
    "json": '{"name": "Ada", "born": [1815, {"in": "London"}], "alive": false}',
    "c": "int area(int width, int height)\n{\n    int result = width * height;\n    return result;\n}",
    "java": "public class Area { int area(int width) { return width * 2; } }",
}
_HOSTILE = {
    "[ab]*a[ab]{900}|x": "aab" * 20,
    "([a-z]{4})*": "abcdefgh" * 4,
    r"(?=.*[0-9])(?=.*[A-Z])(?!.*(.)\1)[\w ]{8,40}": "Abc1 def2 Ghij",
    "(?:[^b]*b){1000}": "abcb" * 10,
    "(?:a|b|ab|ba|aba){1,200}": "ababab" * 5,
    r"\w+( \w+)*": "The quick brown fox jumps",
    r"(.|\n)*": "Whatever is written here\n",
    r"(?s:(?!.*secret).*)": "some text of many words",
}


def cases(group: str, options: Namespace, tokenizer: Tokenizer) -> Iterator[Case]:
    """The cases of a group, each in every mode."""
    if group == "MaskBench":
        for schema in load(options.schemas, options.count or 10**9, options.seed, tokenizer):
            make = partial(tk.json_schema, schema.text)
            texts = [text for text, valid in zip(schema.ordered, schema.valid, strict=True) if valid][:2]
            yield from _modes(schema.name, group, make, texts)
        return
    if group == "grammars":
        for name in _GRAMMARS:
            make = partial(tk.grammar, (GRAMMARS / f"{name}.lark").read_text(encoding="utf-8"))
            yield from _modes(name, group, make, [tokenizer.encode_as_model(_GRAMMAR_TEXTS[name])] * 8)
        return
    for pattern, text in _HOSTILE.items():
        yield from _modes(pattern, group, partial(tk.regex, pattern), [tokenizer.encode_as_model(text)] * 4)
    for family in (*PATTERN_SIZES, *BOUNDS):
        for size in family.sizes:
            if size <= 10_000:
                texts = [tokenizer.encode_as_model(family.text(size))] * 2
                yield from _modes(f"{family.name}, n = {size}", group, family.prepare(size), texts)


def _modes(
    name: str, group: str, make: Callable[[], tk.Constraint], texts: list[list[int]]
) -> Iterator[Case]:
    yield Case(name, f"{group}, {ANY}", make, texts)
    yield Case(name, f"{group}, {BUDGET}", make, texts, budget=True)
    yield Case(name, f"{group}, {CANONICAL}", make, texts, canonical=True)
    yield Case(name, f"{group}, {LEAST}", make, texts, least=8)
