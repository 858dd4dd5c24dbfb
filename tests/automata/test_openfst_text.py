"""OpenFst's text form: both ways, through pynini's own compiler and printer, and broken files."""

from __future__ import annotations

import contextlib
import random
from typing import Any

import pytest

import tokamata as tk
from tests.support.automata.machines import from_pynini, pynini, random_acceptor, random_transducer, to_pynini
from tests.support.vocabularies import BYTES
from tokamata.automata import (
    BYTE_NAMES,
    EPSILON,
    Acceptor,
    TokenAutomaton,
    Transducer,
    detokenizer,
    equivalent,
    minimize,
    symbol_table,
    trim,
)
from tokamata.errors import LimitExceeded, MachineError, MachineFileError


def compile_text(text: str, acceptor: bool, **symbols: Any) -> Any:
    """pynini's machine of a text, by OpenFst's own reader."""
    pywrapfst = pytest.importorskip("pywrapfst", reason="pywrapfst comes with pynini")
    compiler = pywrapfst.Compiler(acceptor=acceptor, keep_state_numbering=True, **symbols)
    compiler.write(text)
    return pynini().Fst.from_pywrapfst(compiler.compile())


def test_round_trips() -> None:
    draw = random.Random(1)
    for _ in range(500):
        acceptor = minimize(random_acceptor(draw))
        assert Acceptor.from_openfst(acceptor.to_openfst()) == acceptor
        transducer = trim(random_transducer(draw))
        if transducer.states > 1 and transducer.start == 0:
            assert Transducer.from_openfst(transducer.to_openfst()) == transducer


def transitions(fst: Any) -> set[tuple[int, int, int, int]]:
    return {(s, arc.ilabel - 1, arc.olabel - 1, arc.nextstate) for s in fst.states() for arc in fst.arcs(s)}


def test_openfst_reads_what_we_write() -> None:
    draw = random.Random(2)
    for _ in range(500):
        acceptor = random_acceptor(draw)
        compiled = compile_text(acceptor.to_openfst(), acceptor=True)
        assert set(from_pynini(compiled).transitions) == set(acceptor.transitions)
        assert from_pynini(compiled).accepting == acceptor.accepting
        transducer = random_transducer(draw)
        compiled = compile_text(transducer.to_openfst(), acceptor=False)
        assert transitions(compiled) == set(transducer.transitions)
        assert compiled.start() == transducer.start


def test_we_read_what_openfst_prints() -> None:
    draw = random.Random(3)
    for _ in range(300):
        acceptor = random_acceptor(draw)
        printed = to_pynini(acceptor).print(acceptor=True)
        if printed and acceptor.start == 0:
            assert equivalent(Acceptor.from_openfst(printed), acceptor)
            assert equivalent(
                Acceptor.from_openfst(to_pynini(acceptor).print(acceptor=True, show_weight_one=True)),
                acceptor,
            )
        transducer = trim(random_transducer(draw))
        if transducer.accepting and transducer.start == 0:
            assert Transducer.from_openfst(to_pynini(transducer).print()) == transducer


def test_bytes_have_pyninis_labels_without_a_shift() -> None:
    acceptor = Acceptor.from_strings(["foo", "fé"])
    assert pynini().equivalent(
        compile_text(acceptor.to_openfst(shift=0), acceptor=True), pynini().union("foo", "fé").optimize()
    )
    printed = pynini().accep("ab").print(acceptor=True)
    assert Acceptor.from_openfst(printed, shift=0) == Acceptor.from_strings(["ab"])


def test_names_and_their_tables() -> None:
    tokens = detokenizer([b" a", b"b\n", b"b\n", b"c"])
    table = symbol_table(tokens.input_names)
    assert table == "<eps>\t0\n␣a\t1\nb\\n\t2\nb\\n#2\t3\nc\t4\n"
    bytes_table = symbol_table(BYTE_NAMES)
    text = tokens.to_openfst(named=True)
    read = Transducer.from_openfst(text, table, bytes_table)
    assert read == tokens
    assert (read.input_names, read.output_names) == (
        dict(tokens.input_names) | {2: "b\\n#2"},
        BYTE_NAMES,
    )
    module = pynini()
    symbols = [module.SymbolTable() for _ in range(2)]
    for which, one in enumerate((table, bytes_table)):
        for line in one.splitlines():
            name, label = line.split("\t")
            symbols[which].add_symbol(name, int(label))
    compiled = compile_text(text, acceptor=False, isymbols=symbols[0], osymbols=symbols[1])
    assert transitions(compiled) == set(tokens.transitions)


def test_names_with_white_space_are_escaped() -> None:
    names = {0: "a b", 1: "c\td", 2: "", 3: "<eps>", 4: "\u3000", 5: r"a\x20b", 6: "#2", 7: "e"}
    machine = Acceptor.from_transitions([(0, s, 0) for s in names], [0], names=names)
    table = symbol_table(names)
    assert Acceptor.from_openfst(machine.to_openfst(named=True), table) == machine
    assert len({line.split("\t")[0] for line in table.splitlines()}) == 9


def test_empty_machines() -> None:
    assert Acceptor.from_openfst("") == Acceptor.from_openfst("\n \t\n") == Acceptor.empty()
    lonely = Acceptor.from_transitions([(1, 5, 2)], [2])
    assert lonely.to_openfst() == "0\tInfinity\n1\t2\t6\n2\n"
    assert Acceptor.from_openfst(lonely.to_openfst()) == lonely
    assert compile_text(lonely.to_openfst(), acceptor=True).start() == 0


def test_weights_of_unweighted_machines() -> None:
    text = "0 1 3 0\n0\t1\t4\t0.0\r\n1 -0\n2 0e0\n0 Infinity\n"
    assert Acceptor.from_openfst(text) == Acceptor.from_transitions([(0, 2, 1), (0, 3, 1)], [1, 2])
    transducer = Transducer.from_openfst("0 1 3 0 0\n1\n")
    assert transducer == Transducer.from_transitions([(0, 2, EPSILON, 1)], [1])


def test_states_are_numbered_anew() -> None:
    """A file of one line must not make a billion states."""
    machine = Acceptor.from_openfst("2147483000 7 1\n7\n")
    assert machine == Acceptor.from_transitions([(1, 0, 0)], [0], start=1)


@pytest.mark.parametrize(
    ("text", "line", "found", "expected"),
    [
        ("0 1 2\nx 1 2\n", 2, "x", "number of a state"),
        ("0 1 2\n\n\n-1\n", 4, "-1", "number of a state"),
        ("0 1.5 2\n", 1, "1.5", "number of a state"),
        ("0 ٣ 2\n", 1, "٣", "number of a state"),
        ("99999999999 1 2\n", 1, "99999999999", "0 to 2147483646"),
        (f"{'9' * 10**6} 1 2\n", 1, "9" * 59 + "…", "number of a state"),
        ("0 1 a\n", 1, "a", "a label: 0 for epsilon, or 1 to"),
        ("0 1 -3\n", 1, "-3", "a label"),
        ("0 1 4294967296\n", 1, "4294967296", "a label"),
        ("0 1 97 97\n", 1, "97", "belongs to a transducer"),
        ("0 1 97 0.5\n", 1, "0.5", "have no weights"),
        ("0 nan\n", 1, "nan", "no weight"),
        ("0 1 2 0 0\n", 1, "0 1 2 0 0", "source, target and label"),
        ("0 1 2\x0b3\n", 1, "2\x0b3", "a label"),
    ],
)
def test_broken_acceptors(text: str, line: int, found: str, expected: str) -> None:
    with pytest.raises(MachineFileError, match=expected) as caught:
        Acceptor.from_openfst(text)
    assert (caught.value.line, caught.value.found) == (line, found)
    assert str(caught.value).startswith(f"line {line} of the OpenFst text is ")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0 1 2\n", "source, target, input and output"),
        ("0 1 2 3 1\n", "no weight"),
        ("0 1 2 b\n", "a label"),
        ("0 1 2 3 0 0\n", "source, target, input and output"),
    ],
)
def test_broken_transducers(text: str, expected: str) -> None:
    with pytest.raises(MachineFileError, match=expected):
        Transducer.from_openfst(text)


@pytest.mark.parametrize(
    ("table", "line", "expected"),
    [
        ("<eps> 0\na b 1\n", 2, "a name and a label"),
        ("<eps>\n", 1, "a name and a label"),
        ("a 1\nb 1\n", 2, "no earlier line has"),
        ("a 1\na 2\n", 2, "no earlier line has"),
        ("a one\n", 1, "a label"),
        ("b 1\n", 1, "a name of the table"),
    ],
)
def test_broken_tables(table: str, line: int, expected: str) -> None:
    with pytest.raises(MachineFileError, match=expected) as caught:
        Acceptor.from_openfst("0 1 a\n1\n", table)
    assert caught.value.line == line


def test_reading_is_bounded() -> None:
    text = "".join(f"{n} {n + 1} 1\n" for n in range(1000))
    with pytest.raises(LimitExceeded):
        Acceptor.from_openfst(text, limits=tk.Limits(states=999))
    with pytest.raises(LimitExceeded):
        Acceptor.from_openfst(text, limits=tk.Limits(memory_bytes=10_000))


def test_noise_is_read_or_refused() -> None:
    draw = random.Random(4)
    refused = 0
    for _ in range(3000):
        text = "".join(draw.choice("0011223   \t\n\n.-a\x00é") for _ in range(draw.randint(0, 12)))
        for kind in (Acceptor, Transducer):
            with contextlib.suppress(MachineFileError):
                refused += 1
                kind.from_openfst(text)
                refused -= 1
    assert 1000 < refused < 5000


def test_symbols_that_have_no_label() -> None:
    zero = Acceptor.from_transitions([(0, 0, 0)], [0])
    with pytest.raises(MachineError, match="symbol 0 would have the label 0"):
        zero.to_openfst(shift=0)
    with pytest.raises(MachineError, match="has no name"):
        zero.to_openfst(named=True)
    with pytest.raises(MachineError, match="would have the label 0"):
        symbol_table({0: "a"}, shift=0)
    assert zero.to_openfst() == "0\t0\t1\n0\n"


# ---- automata over tokens ----------------------------------------------------------------------

TOKENS = [*BYTES, b"ab", b" a", b"a", b"20", None]
STOP = len(TOKENS) - 1


@pytest.mark.parametrize("pattern", ["a", "(ab| a)*", "[0-9]{1,3}", "[^a]{2}", "(?:a|ab)(?:c|bcd)d*", ""])
def test_automata_over_tokens_are_read_back(pattern: str) -> None:
    vocabulary = tk.Vocabulary.load(TOKENS, stop=[STOP], width=len(TOKENS) + 5)
    automaton = tk.regex(pattern).compile(vocabulary).token_automaton()
    read = TokenAutomaton.from_openfst(automaton.to_openfst(), vocabulary.width, [STOP])
    assert read == automaton
    assert (
        TokenAutomaton.from_openfst(automaton.to_openfst(7), vocabulary.width, [STOP], shift=7) == automaton
    )
    for state in range(automaton.states):
        assert (read.mask(state) == automaton.mask(state)).all()
    names = {token: automaton.name(token) for token in range(vocabulary.width)}
    named = TokenAutomaton.from_openfst(
        automaton.to_openfst(named=True), vocabulary.width, [STOP], symbol_table(names)
    )
    assert named == automaton
    assert named.name(ord("b")) == "b"


def test_what_is_read_as_an_automaton_over_tokens_is_the_smallest() -> None:
    text = "0 1 1\n0 2 2\n1 3 3\n2 4 3\n3\n4\n5 0 1\n"
    assert TokenAutomaton.from_openfst(text, 3).states == 3
    empty = TokenAutomaton.from_openfst("", 3, [2])
    assert (empty.states, empty.shortest()) == (1, None)
    weighted = TokenAutomaton.from_openfst("0 1 1 0\n1 0\n", 1)
    assert weighted.accepts([0])


@pytest.mark.parametrize(
    ("text", "width", "stop", "expected"),
    [
        ("0 1 1\n0 2 1\n1\n2\n", 5, [], "deterministic"),
        ("0 1 0\n1\n", 5, [], "deterministic"),
        ("0 1 9\n1\n", 5, [], "token 8 of the text is outside of the width, 5"),
        ("0 1 1\n1\n", 5, [0], "stop token 0 has transitions"),
        ("0 1 1\n1\n", 5, [7], "stop token 7 is outside"),
        ("0 1 x\n1\n", 5, [], "line 1 of the OpenFst text is 'x'; expected a label"),
        ("0 1 1 2\n1\n", 5, [], "belongs to a transducer"),
        ("0 1 1\n1 0.5\n", 5, [], "have no weights"),
        ("0 1\tone 1\n", 5, [], "line 1"),
        ("", -1, [], "width must be a whole number"),
        ("", 1 << 40, [], "width must be a whole number"),
        ("", "5", [], "width must be a whole number"),
        (b"0 1 1", 5, [], "text must be OpenFst's text, a str, not b'0 1 1'"),
        ("", 5, 5, "stop_tokens must be a list"),
    ],
)
def test_broken_automata_over_tokens(text: Any, width: Any, stop: Any, expected: str) -> None:
    with pytest.raises(tk.TokamataError, match=expected):
        TokenAutomaton.from_openfst(text, width, stop)


def test_noise_is_no_automaton_over_tokens_or_is_read() -> None:
    draw = random.Random(6)
    for _ in range(2000):
        text = "".join(draw.choice("0011223   \t\n\n.-a\x00é") for _ in range(draw.randint(0, 12)))
        with contextlib.suppress(MachineError):
            automaton = TokenAutomaton.from_openfst(text, 4)
            assert TokenAutomaton.from_openfst(automaton.to_openfst(), 4) == automaton


def test_reading_an_automaton_over_tokens_is_bounded() -> None:
    text = "".join(f"{n} {n + 1} 1\n" for n in range(1000))
    with pytest.raises(LimitExceeded):
        TokenAutomaton.from_openfst(text, 1, limits=tk.Limits(states=999))
