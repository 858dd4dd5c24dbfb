"""Detokenizing transducers, and the closed form of paper 002 made by composition."""

from __future__ import annotations

import random

import pytest

from tests.support.automata.figures import FIGURE_4, FOO_D, LETTER_O, D, F
from tests.support.automata.machines import from_pynini, isomorphic, pynini, smallest, to_pynini
from tests.support.automata.token_products import (
    from_product,
    product_rows,
    random_bytes_acceptor,
    random_vocabulary,
)
from tokamata.automata import (
    BYTE_NAMES,
    EPSILON,
    Acceptor,
    Transducer,
    compose,
    detokenizer,
    invert,
    minimize,
    project,
    remove_epsilon,
    strings,
)
from tokamata.errors import LimitExceeded, MachineError
from tokamata.resources.limits import Limits


def closed_form(vocabulary: list[bytes | None], acceptor: Acceptor) -> Acceptor:
    return minimize(project(compose(detokenizer(vocabulary), acceptor), "input"))


def test_figure_4() -> None:
    """One state for each beginning of a token but the whole: root, f, fo, foo and o."""
    expected = Transducer.from_transitions(
        [
            *((0, 0, F, 0), (0, EPSILON, F, 1), (1, EPSILON, LETTER_O, 2), (2, 1, LETTER_O, 0)),
            *((2, EPSILON, LETTER_O, 3), (3, 2, D, 0), (0, 3, D, 0)),
            *((0, 4, LETTER_O, 0), (0, EPSILON, LETTER_O, 4), (4, 5, LETTER_O, 0)),
        ],
        [0],
    )
    assert detokenizer(FIGURE_4) == expected


def test_figure_4_transduces_sequences_of_tokens_into_their_bytes() -> None:
    machine = detokenizer(FIGURE_4)
    for sequence in ([], [1], [0, 4, 4], [0, 5, 2], [3, 3, 1]):
        written = project(compose(Acceptor.from_strings([sequence]), machine), "output")
        assert list(strings(written, 50)) == [tuple(b"".join(FIGURE_4[token] for token in sequence))]


def test_figure_5() -> None:
    """(foo)+d over the tokens: the same text in several ways, and food across the parts of the pattern."""
    automaton = closed_form(FIGURE_4, FOO_D)
    texts = {b"".join(FIGURE_4[t] for t in tokens) for tokens in strings(automaton, 4)}
    assert texts == {b"food", b"foofood", b"foofoofood", b"foofoofoofood"}
    ways = [tokens for tokens in strings(automaton, 4) if b"".join(FIGURE_4[t] for t in tokens) == b"food"]
    assert ways == [(2,), (1, 3), (0, 5, 3), (0, 4, 4, 3)]
    assert automaton.states == 5


def test_tokens_without_bytes_are_not_read() -> None:
    machine = detokenizer([b"a", b"", None, b"b"])
    assert {read for _, read, _, _ in machine.transitions} == {0, 3}
    assert detokenizer({7: b"a", 2: None}) == Transducer.from_transitions([(0, 7, 97, 0)], [0])
    assert detokenizer([]).states == 1


def test_names_are_those_of_tokens_and_bytes() -> None:
    machine = detokenizer([b" a\n", b"\xff", "é".encode(), b","])
    assert machine.input_names == {0: r"␣a\n", 1: r"\xff", 2: "é", 3: "“,”"}
    assert machine.output_names is BYTE_NAMES


def test_detokenizers_are_bounded() -> None:
    with pytest.raises(LimitExceeded):
        detokenizer([b"abcdef" * 100], Limits(states=100))
    with pytest.raises(MachineError):
        detokenizer({-3: b"a"})


def test_lemma_4_1_of_paper_000() -> None:
    """Composed with a minimal acceptor, the lexicon is deterministic once epsilon is gone."""
    draw = random.Random(1)
    for _ in range(100):
        vocabulary = random_vocabulary(draw, 20)
        vocabulary = [*dict.fromkeys(vocabulary)]  # a lexicon is a set: no text twice
        acceptor = minimize(random_bytes_acceptor(draw))
        lexicon = invert(detokenizer(vocabulary))
        assert remove_epsilon(project(compose(acceptor, lexicon), "output")).is_deterministic


def test_composition_gives_the_token_sequences_of_accepted_texts() -> None:
    """By definition: run every short token sequence through the byte acceptor."""
    draw = random.Random(2)
    for _ in range(150):
        vocabulary = random_vocabulary(draw, 6)
        acceptor = random_bytes_acceptor(draw, 5)
        text = [token for token, bytes_ in enumerate(vocabulary) if bytes_]
        expected = []
        sequences: list[tuple[int, ...]] = [()]
        for _ in range(4):
            accepted = (s for s in sequences if acceptor.accepts(b"".join(vocabulary[t] or b"" for t in s)))
            expected += accepted
            sequences = [(*s, token) for s in sequences for token in text]
        assert list(strings(closed_form(vocabulary, acceptor), 3)) == expected


@pytest.mark.parametrize(("tokens", "machines"), [(8, 500), (60, 120), (300, 30), (3000, 3)])
def test_the_closed_form_three_ways(tokens: int, machines: int) -> None:
    """Our composition, pynini's, and rows from a product: the same automaton, state for state."""
    module = pynini()
    draw = random.Random(tokens)
    for _ in range(machines):
        vocabulary = random_vocabulary(draw, tokens, b"abcd"[: draw.randint(1, 4)])
        acceptor = random_bytes_acceptor(draw, 8, b"abcd")
        ours = closed_form(vocabulary, acceptor)
        lexicon, pattern = to_pynini(detokenizer(vocabulary)), to_pynini(acceptor)
        composed = module.compose(lexicon.arcsort("olabel"), pattern.arcsort("ilabel"))
        theirs = from_pynini(smallest(module.project(composed, "input")))
        assert isomorphic(ours, theirs)
        rows, accepting = product_rows(acceptor, vocabulary)
        automaton = from_product(rows, accepting, len(vocabulary), draw)
        assert automaton.to_acceptor() == ours  # the same numbers too: breadth first, by least token
        assert isomorphic(automaton.to_acceptor(), theirs)
