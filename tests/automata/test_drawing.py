"""Drawings: well-formed, complete, readable on any background, bounded, without overlaps."""

from __future__ import annotations

import random
import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from tests.support.automata.figures import FIGURE_4, FOO_D, foo_d
from tests.support.automata.machines import random_acceptor, random_transducer
from tests.support.automata.pushdowns import FIGURE_6, random_pushdown
from tests.support.automata.subsequentials import random_subsequential
from tokamata.automata import (
    BYTE_NAMES,
    EPSILON,
    Acceptor,
    PushdownAutomaton,
    Transducer,
    compose,
    contract_epsilon,
    detokenizer,
)
from tokamata.automata.drawing import svg
from tokamata.automata.drawing.layout import Layout, lay_out, layers_of
from tokamata.automata.symbols import enumerate_names, show, summarize

SVG = "{http://www.w3.org/2000/svg}"


def texts(drawing: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(drawing).iter(f"{SVG}text")]


def test_a_drawing_shows_every_state_and_edge() -> None:
    drawing = FOO_D.to_svg()
    root = ElementTree.fromstring(drawing)
    assert sorted(texts(drawing)) == sorted([*"01234", "102", "111", "111", "102", "100"])
    assert len(list(root.iter(f"{SVG}circle"))) == 6  # the accepting state has two
    assert len([p for p in root.iter(f"{SVG}path") if p.get("fill")]) == 5  # an arrow for each edge
    assert [g.get("stroke-width") for g in root.iter(f"{SVG}g") if g.get("stroke")] == ["3.0"] + ["1.3"] * 4
    assert FOO_D._repr_svg_() == drawing


def test_labels_name_bytes_tokens_and_pairs() -> None:
    machine = Acceptor.from_transitions(
        [*((0, s, 1) for s in (*range(97, 123), *range(48, 58))), (1, EPSILON, 0)], [1], names=BYTE_NAMES
    )
    assert {"0–9, a–z", "ε"} <= set(texts(machine.to_svg()))
    assert "f:f, d:d, o:o" in texts(detokenizer(FIGURE_4).to_svg())
    assert {"foo", "food, d"} <= set(texts(foo_d(names=FIGURE_4).to_svg()))
    case = Transducer.from_transitions([(0, s, s - 32, 0) for s in b"abc"], [0], 0, 1, BYTE_NAMES, BYTE_NAMES)
    assert "a:A, b:B, c:C" in texts(case.to_svg())
    same = Transducer.from_transitions([(0, s, s, 0) for s in b"abcd"], [0], 0, 1, BYTE_NAMES, BYTE_NAMES)
    assert "a–d" in texts(same.to_svg())
    gone = Transducer.from_transitions(
        [(0, s, EPSILON, 0) for s in b"abcd"], [0], 0, 1, BYTE_NAMES, BYTE_NAMES
    )
    assert "a–d:ε" in texts(gone.to_svg())


def test_labels_say_what_is_popped_and_pushed() -> None:
    """Figures 6 and 7 of 002."""
    drawing = FIGURE_6.to_svg()
    pop, push = 'ε ↑S: "a" S • "b"', 'ε ↓S: "a" S • "b"'
    assert sorted(texts(drawing)) == sorted([*"01234", "a", "b", push, pop, pop, "ε ↑[•]", "ε ↑[•]"])
    assert FIGURE_6.to_dot().count("->") == 7
    assert FIGURE_6._repr_svg_() == drawing
    tokens = contract_epsilon(compose(detokenizer([b"a", b"b", b"bb"]), FIGURE_6))
    assert '>1 → 1: a ↓S: "a" S • "b"<' in tokens.to_svg()
    assert '>2 → 2: b ↑S: "a" S • "b", bb ↑S: "a" S • "b" ↑S: "a" S • "b"<' in tokens.to_svg()
    unnamed = PushdownAutomaton.from_transitions([(0, s, (1, 2), (3,), 0) for s in b"abc"], [0])
    assert "97–99 ↑1 ↑2 ↓3" in texts(unnamed.to_svg())
    digits = [(0, s, (), (0,), 1) for s in b"0123456789"]
    named = PushdownAutomaton.from_transitions(digits, [1], names=BYTE_NAMES, stack_names={0: "r"})
    assert "0–9 ↓r" in texts(named.to_svg())


@pytest.mark.parametrize(
    ("symbols", "names", "text"),
    [
        (range(256), BYTE_NAMES, r"\x00–\xff"),
        (sorted(b" \t\na,-"), BYTE_NAMES, r"\t, \n, ␣, “,”, -, a"),
        (b"ab", BYTE_NAMES, "a, b"),
        (range(1000, 2000), None, "1000–1999"),
        ([5], {}, "5"),
        ([EPSILON, 0], None, "ε, 0"),
        (range(4), {0: "the", 1: "of", 2: "and", 3: "to"}, "the, of, and, to"),
        (range(500), {n: f"token{n}" for n in range(500)}, "token0, token1, token2, … (500)"),
        ([0, 1, 2], {0: "ε", 1: "", 2: "–"}, "ε, , –"),
    ],
)
def test_sets_of_symbols_in_few_words(symbols: object, names: object, text: str) -> None:
    assert summarize(symbols, names) == text  # type: ignore[arg-type]


def test_names_that_would_mislead_are_quoted() -> None:
    assert [show(name) for name in (b"", b",", "–", "ε", b":", b"a,")] == [
        "“”",
        "“,”",
        "“–”",
        "“ε”",
        "“:”",
        "a,",
    ]
    assert show("\x00\u202e\ud800 \x7f") == r"\x00\u202e\ud800␣\x7f"
    assert enumerate_names(["x" * 1000], 1) == "x" * 20 + "…" + "x" * 20


def test_hostile_names_cannot_leave_the_drawing() -> None:
    names = {0: "</text><script>", 1: "]]>&\"'", 2: "\x00\x08\ud800\uffff", 3: "漢字" * 50}
    machine = Acceptor.from_transitions([(0, s, s % 2) for s in names], [1], names=names)
    root = ElementTree.fromstring(machine.to_svg())
    assert {element.tag.removeprefix(SVG) for element in root.iter()} == {
        *("svg", "title", "g", "path", "circle", "text")
    }
    machine.to_svg().encode()
    dot = machine.to_dot().replace(r"\\", "").replace(r"\"", "")
    assert all(line.count('"') in (0, 2, 4) for line in dot.splitlines())
    dot.encode()


def test_random_machines_are_drawn_whole() -> None:
    draw = random.Random(1)
    for _ in range(150):
        for machine in (
            random_acceptor(draw, most=15),
            random_transducer(draw, most=12),
            random_pushdown(draw),
            random_subsequential(draw, most=10),
        ):
            root = ElementTree.fromstring(machine.to_svg())
            ends = {(source, target) for source, *_, target in machine.transitions}
            circles = list(root.iter(f"{SVG}circle"))
            assert len(circles) == machine.states + len(machine.accepting)
            assert len([p for p in root.iter(f"{SVG}path") if p.get("fill")]) == len(ends)
            left, top, width, height = map(float, root.get("viewBox", "").split())
            numbers = [float(c.get(k, "")) for c in circles for k in ("cx", "cy")]
            assert all(left <= x <= left + width for x in numbers[::2])
            assert all(top <= y <= top + height for y in numbers[1::2])


def random_layout(draw: random.Random) -> Layout:
    states = draw.randint(1, 15)
    edges = [(draw.randrange(states), draw.randrange(states)) for _ in range(draw.randint(0, 30))]
    sizes = [(30.0, draw.choice([15.0, 49.0]), draw.choice([15.0, 31.0])) for _ in range(states)]
    labels = [(draw.uniform(10, 200), 16.0, 2.0) for _ in edges]
    return lay_out(layers_of(states, 0, edges), sizes, edges, labels)


def test_nothing_lies_on_anything_else() -> None:
    """States, labels and lines have boxes, and no two boxes of a layer overlap; layers do not either."""
    draw = random.Random(2)
    for _ in range(300):
        layout = random_layout(draw)
        layers: dict[int, list[tuple[float, float]]] = {}
        spans: dict[int, list[float]] = {}
        for point in layout.points:
            layers.setdefault(point.layer, []).append((point.y - point.above, point.y + point.below))
            spans.setdefault(point.layer, []).extend((point.x - point.width / 2, point.x + point.width / 2))
        for boxes in layers.values():
            boxes.sort()
            assert all(a[1] < b[0] + 1e-6 for a, b in pairwise(boxes))
            assert boxes[0][0] >= -1e-6
            assert boxes[-1][1] <= layout.height + 1e-6
        ordered = [spans[layer] for layer in sorted(spans)]
        assert all(max(a) < min(b) for a, b in pairwise(ordered))
        assert max(ordered[-1]) <= layout.width + 1e-6


def test_edges_lead_on_but_for_those_of_cycles() -> None:
    """In a machine without cycles every edge goes to the right; each cycle has one that does not."""
    draw = random.Random(3)
    for _ in range(200):
        states = draw.randint(2, 12)
        edges = [tuple(sorted(draw.sample(range(states), 2))) for _ in range(20)]
        names = draw.sample(range(states), states)
        renamed = [(names[s], names[t]) for s, t in edges]
        layers = layers_of(states, names[0], renamed)
        assert all(layers[s] < layers[t] for s, t in renamed)
    ring = [(i, (i + 1) % 5) for i in range(5)]
    layers = layers_of(5, 2, ring)
    assert sum(layers[s] > layers[t] for s, t in ring) == 1
    assert layers[2] == 0


def test_large_machines_are_described() -> None:
    chain = Acceptor.from_transitions([(i, 0, i + 1) for i in range(400)], [400])
    drawing = chain.to_svg()
    assert "Acceptor: 401 states, 400 transitions" in texts(drawing)
    assert any("minimize()" in text for text in texts(drawing))
    assert "<circle" not in drawing
    assert chain.to_svg(max_states=401).count("<circle") == 402
    dense = Acceptor.from_transitions([(i, i, j) for i in range(40) for j in range(40)], [0])
    assert "<circle" not in dense.to_svg()
    back = Acceptor.from_transitions([(i, s, (i + 1) * s) for i in range(290) for s in (0, 1)], [0])
    assert "<circle" not in back.to_svg()  # few states, but lines that cross all of them
    assert back.to_dot().count("->") == 580


def test_colours_can_be_read_on_white_and_on_black() -> None:
    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    used = {svg.STATE_COLOUR, svg.EDGE_COLOUR, svg.LABEL_COLOUR}
    assert set(re.findall(r"#[0-9a-f]{6}", FOO_D.to_svg())) == used
    for colour in used:
        for background in ("#ffffff", "#111111"):
            light, dark = sorted((luminance(colour), luminance(background)), reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= 4


def test_graphviz() -> None:
    machine = Acceptor.from_transitions([(0, 1, 1), (1, 0, 1)], [1], names={0: 'a"b', 1: "\\n"})
    assert machine.to_dot() == (
        "digraph {\n  rankdir=LR\n  node [shape=circle]\n"
        '  0 [label="0", style=bold]\n  1 [label="1", shape=doublecircle]\n'
        '  0 -> 1 [label="\\\\n"]\n  1 -> 1 [label="a\\"b"]\n}\n'
    )
    assert foo_d(names=FIGURE_4).to_dot().count("->") == 9


def test_wide_letters_have_room() -> None:
    assert svg.columns("漢字ab") == 6
    narrow, wide = (
        Acceptor.from_transitions([(0, 0, 1)], [1], names={0: text}).to_svg() for text in ("ab", "漢字")
    )
    width = [float(ElementTree.fromstring(drawing).get("width", "")) for drawing in (narrow, wide)]
    assert width[1] > width[0]
