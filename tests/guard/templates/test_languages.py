"""Languages of slots: they have each text that a template writes there; exact ones have no others."""

from __future__ import annotations

import random
from itertools import product

import pytest

from tests.guard.templates.test_following import SHAPE
from tests.guard.templates.test_renderings import content, read
from tests.support.templates.expressions import drawn_template
from tests.support.templates.judge import draws
from tokamata.guard.templates.languages import slot_language, source_language
from tokamata.guard.templates.pieces import Condition, Slot, concretized
from tokamata.guard.templates.reading import read_template
from tokamata.guard.templates.shapes import Shape
from tokamata.guard.templates.steps import Step

STRIP, LSTRIP, RSTRIP = (Step(name, (None,)) for name in ("strip", "lstrip", "rstrip"))
CONTENT = content(0, "user")
SOURCE = CONTENT.source


def last(separator: str) -> Step:
    return Step("split", (separator, -1), part=-1)


def first(separator: str) -> Step:
    return Step("split", (separator, -1), part=0)


def having(kind: str, argument: object, holds: bool = True, *steps: Step) -> Condition:
    return Condition(kind, (Slot(SOURCE, steps),), argument, holds)


# Steps, conditions, and whether the language is exact.  Texts are over "ab /\n".
CASES: list[tuple[tuple[Step, ...], tuple[Condition, ...], bool]] = [
    ((), (), True),
    ((STRIP,), (), True),
    ((LSTRIP,), (), True),
    ((RSTRIP, Step("lstrip", ("\n",))), (), True),
    ((Step("strip", ("ab",)),), (), True),
    ((), (having("contains", "ab"),), True),
    ((), (having("contains", "ab", False), having("equals", "", False)), True),
    ((), (having("starts with", "a"), having("ends with", "a")), True),
    ((), (having("longer than", 2),), True),
    ((), (having("more parts than", ("split", "a", -1, 2)),), True),
    ((), (having("more parts than", ("split", "aa", -1, 1), False),), True),
    ((), (having("equals", "", True, STRIP),), True),
    ((), (having("equals", "", False, STRIP),), True),
    ((), (having("starts with", "a", True, STRIP),), True),
    ((), (having("ends with", "b", True, LSTRIP),), True),
    ((), (having("starts with", "b", True, RSTRIP),), True),
    ((), (having("equals", "b", True, last("/")),), True),
    ((), (having("contains", "a", True, first("/")),), True),
    ((), (having("contains", "a", False, first("/"), STRIP),), True),
    ((), (having("contains", "a", True, Step("replace", ("b", "a", -1))),), False),
    ((STRIP,), (having("contains", "ab"),), False),
    ((STRIP,), (having("contains", "ab", False),), True),
    ((STRIP,), (having("equals", "", False, STRIP),), False),
    ((last("/"),), (), True),
    ((last("/"),), (having("contains", "/"),), True),
    ((last("/"), Step("lstrip", ("\n",))), (having("contains", "/"),), True),
    ((last("/"), STRIP), (having("contains", "/"), having("contains", "b", False)), True),
    ((first("/"), RSTRIP), (having("contains", "/"),), True),
    ((STRIP, last("/")), (), False),
    ((last("aa"),), (), True),
    ((first("/"), last("a"), STRIP), (), True),
    ((Step("split", ("/", 1), part=1),), (having("contains", "/"),), False),
    ((Step("rsplit", ("/", 1), part=-1),), (having("contains", "/"),), True),
    ((Step("slice", (1, None, None)),), (having("contains", "ab", False),), False),
    ((Step("upper"),), (), False),
    ((Step("json text", (False,)),), (), True),
    ((Step("json text", (True,)),), (), False),
    ((Step("html"),), (), True),
]
TEXTS = ["".join(chars) for size in range(6) for chars in product("ab /\n", repeat=size)]


@pytest.mark.parametrize(("steps", "conditions", "is_exact"), CASES)
def test_languages_by_enumeration(
    steps: tuple[Step, ...], conditions: tuple[Condition, ...], is_exact: bool
) -> None:
    """All texts of up to 5 characters, as sources and as results."""
    slot = Slot(SOURCE, steps)
    found = slot_language(slot, conditions)
    assert found.is_exact is is_exact
    sources = [text for text in TEXTS if all(one.is_true_of({SOURCE: text}) for one in conditions)]
    results = {concretized((slot,), {SOURCE: text}) for text in sources}
    assert all(found.texts.accepts(text) for text in results)
    if is_exact and not any(step.name in ("json text", "html") for step in steps):
        # A result of 4 characters has a source of at most 5 here: a separator of one more.
        short = [text for text in TEXTS if len(text) <= 4 - 2 * (("aa", -1) in [s.arguments for s in steps])]
        assert {text for text in short if found.texts.accepts(text)} == {
            text for text in results if text in short
        }


@pytest.mark.parametrize("seed", range(3))
def test_languages_of_random_templates(seed: int) -> None:
    chooser = random.Random(seed)
    checked = 0
    for _ in range(15):
        template = read_template(drawn_template(chooser))
        renderings = template.renderings(SHAPE)
        for values in draws(SHAPE, renderings, chooser, 5):
            for rendering in renderings:
                if rendering.unsettled is None and rendering.holds_for(values):
                    for slot in rendering.slots:
                        text = concretized((slot,), values)
                        assert slot_language(slot, rendering.conditions).texts.accepts(text), (slot, text)
                        checked += 1
    assert checked > 50


def test_json_and_html() -> None:
    escaped = slot_language(Slot(SOURCE, (Step("json text", (False,)),))).texts
    for point in [*range(0x100), 0x2028, 0xFFFF, 0x1F600]:
        assert escaped.accepts(Step("json text", (False,)).apply(chr(point)))
    for text in ('"', "\n", "\\", "\\x", "\\u0041", "\\u000a"):
        assert not escaped.accepts(text)
    html = slot_language(Slot(SOURCE, (Step("html"),))).texts
    assert [html.accepts(text) for text in ("a&lt;b", "a<b", "&x;")] == [True, False, False]


def test_impossible_paths_have_no_source() -> None:
    conditions = (having("equals", "", True, STRIP), having("longer than", 0), having("contains", "a"))
    assert bool(source_language(SOURCE, conditions[:2]).texts.is_empty()) is False
    assert bool(source_language(SOURCE, conditions).texts.is_empty()) is True


def test_white_space_is_that_of_python() -> None:
    language = slot_language(Slot(SOURCE, (STRIP,))).texts
    for point in range(0x110000):
        if chr(point).isspace():
            assert not language.accepts(chr(point))
    assert all(language.accepts(chr(point)) for point in (0x200B, 0x180E, 0xFEFF, 0x1B, 0x21))


def test_qwen_without_its_reasoning() -> None:
    """What stands in an earlier answer has no end of a reasoning, and does not begin with a line feed."""
    for rendering in read("qwen").renderings(Shape.of("user", "assistant", "user")):
        for slot in rendering.slots:
            if any(step.name == "split" and step.part == -1 for step in slot.steps) and "<think>" not in str(
                slot
            ):
                language = slot_language(slot, rendering.conditions)
                assert not language.texts.accepts("a</think>b")
                assert not language.texts.accepts("\nb")
                assert language.texts.accepts("b</think")
