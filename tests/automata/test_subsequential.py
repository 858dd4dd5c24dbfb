"""Subsequential transducers against their definition and pynini; paper 004, section 3.6 and appendix B."""

from __future__ import annotations

import pickle
import random
from xml.etree import ElementTree

import pytest

import tokamata as tk
from tests.support.automata.machines import (
    all_strings,
    language,
    pynini,
    random_acceptor,
    random_transducer,
    relation,
    to_pynini,
)
from tests.support.automata.subsequentials import (
    Word,
    all_subsequentials,
    function_of,
    pynini_outputs,
    random_subsequential,
    separators,
    signed_decimals,
)
from tokamata.automata import (
    BYTE_NAMES,
    EPSILON,
    Acceptor,
    PushdownAutomaton,
    SubsequentialTransducer,
    Transducer,
    compose,
    determinize,
    image,
    inverse_image,
    is_empty,
    is_functional,
    minimize,
    onward,
    product,
    project,
    trim,
    two_outputs,
    two_runs,
    untwinned,
)
from tokamata.errors import LimitExceeded, MachineError

STRINGS = all_strings(2, 5)
ONES = [(0,) * length for length in range(7)]


def applied(transducer: SubsequentialTransducer, strings: list[Word]) -> dict[Word, Word]:
    found = {string: transducer.apply(string) for string in strings}
    return {string: output for string, output in found.items() if output is not None}


# ---- appendix B ---------------------------------------------------------------------------------


def test_004_appendix_b() -> None:
    normal = separators()
    values = {"1,234.": "1234.0", "-1,000.50": "-1000.50", "12": "12", "1.2.3": "1.2.3", "--1": "--1"}
    for text, value in values.items():
        assert normal.apply(text) == tuple(value.encode())
    assert [normal.apply(text) for text in ("", ",1", "1,", "1,,2", "1.-")] == [None] * 5
    decimals = compose(normal, signed_decimals())
    assert {text for text in values if decimals.apply(text) is not None} == {"1,234.", "-1,000.50", "12"}
    smallest = minimize(decimals)
    assert smallest.states == 6
    assert smallest.apply("-1,000.50") == tuple(b"-1000.50")
    assert two_runs(decimals) is None
    written = inverse_image(normal, signed_decimals())
    assert written.is_deterministic
    assert [written.accepts(text) for text in ("1,234.", "1.2.3", "-1")] == [True, False, True]
    values_of = image(normal, written)
    assert [values_of.accepts(text) for text in ("1234.0", "1,234", "-1", "1234.")] == [
        True,
        False,
        True,
        False,
    ]


def test_004_appendix_b_is_drawn() -> None:
    drawing = onward(separators()).to_svg()
    texts = [e.text for e in ElementTree.fromstring(drawing).iter("{http://www.w3.org/2000/svg}text")]
    assert sorted(texts) == sorted([*"0123", "→ 0", *["0–9"] * 4, ".:.", "“,”:ε", "-:-"])
    held = separators().to_svg()
    assert "→ .0" in held
    assert "3 → 1: 0:.0, 1:.1, " in held
    begins = SubsequentialTransducer.from_transitions(
        [(0, 7, [8, 9], 0)], {0: [5]}, initial_output=[6], output_names={5: "five", 6: "6", 8: "8", 9: "nine"}
    )
    assert "6 → → five" in begins.to_svg()
    assert "7:8 nine" in begins.to_svg()
    assert '0 [label="0 6 → → five", shape=doublecircle, style=bold]' in begins.to_dot()
    long = SubsequentialTransducer.from_transitions([], {0: "x" * 10**5}, output_names=BYTE_NAMES)
    assert len(long.to_svg()) < 1000


# ---- operations ---------------------------------------------------------------------------------


def check_operations(machine: SubsequentialTransducer, strings: list[Word]) -> None:
    function = function_of(machine, strings)
    assert applied(machine, strings) == function
    early, smallest = onward(machine), minimize(machine)
    for same in (trim(machine), early, smallest):
        assert function_of(same, strings) == function
        assert same.states <= machine.states
    assert onward(early) == early
    assert minimize(smallest) == minimize(early) == smallest
    assert onward(smallest) == smallest
    assert is_empty(project(machine, "input")) == (not smallest.accepting)


def prefix_of_all(outputs: list[Word]) -> Word:
    if not outputs:
        return ()
    least, greatest = min(outputs), max(outputs)
    same = [a == b for a, b in zip(least, greatest, strict=False)]
    return least[: same.index(False) if False in same else len(same)]


def test_all_of_two_states() -> None:
    """The smallest one has a state for each rest of the function, less what all its outputs begin with."""
    by_function: dict[tuple[tuple[Word, Word], ...], SubsequentialTransducer] = {}
    for machine in all_subsequentials():
        check_operations(machine, ONES)
        function = function_of(machine, ONES)
        smallest = minimize(machine)
        assert by_function.setdefault(tuple(function.items()), smallest) == smallest
        rests = set()
        for length in range(3):  # a state is reached by at most one symbol; rests are compared on four
            rest = {string[length:]: output for string, output in function.items() if len(string) >= length}
            rest = {string: output for string, output in rest.items() if len(string) <= 4}
            if rest:
                early = prefix_of_all(list(rest.values()))
                rests.add(tuple((string, output[len(early) :]) for string, output in rest.items()))
        assert smallest.states == max(len(rests), 1)
    assert len(by_function) > 200


def test_random_ones() -> None:
    draw = random.Random(47)
    for _ in range(60):
        check_operations(random_subsequential(draw), STRINGS)


def test_onward_writes_as_early_as_possible() -> None:
    """After each prefix, exactly what all outputs from there on begin with has been written."""
    draw = random.Random(48)
    longer = all_strings(2, 8)
    for _ in range(40):
        machine = onward(random_subsequential(draw, most=3))
        function = function_of(machine, longer)
        for prefix in all_strings(2, 2):
            outputs = [output for string, output in function.items() if string[: len(prefix)] == prefix]
            state, written = machine.start, machine.initial_output
            for symbol in prefix:
                step = machine.step(state, symbol)
                if step is None:
                    assert not outputs
                    break
                written, state = written + step[0], step[1]
            else:
                assert prefix_of_all(outputs) == written or not machine.accepting


def test_onward_of_a_long_chain() -> None:
    """Everything is certain before the input, and outputs are not copied for each state."""
    count = 3000
    arcs = [(i, 0, [1, 2], i + 1) for i in range(count)]
    chain = onward(SubsequentialTransducer.from_transitions(arcs, [count]), tk.Limits(memory_bytes=1 << 24))
    assert chain.initial_output == (1, 2) * count
    assert all(output == () for _, _, output, _ in chain.transitions)


def test_pynini_agrees() -> None:
    pynini()
    draw = random.Random(49)
    strings = all_strings(2, 4)
    for _ in range(25):
        machine, other = random_subsequential(draw), random_subsequential(draw)
        theirs = to_pynini(machine.to_transducer())
        both = compose(machine, other)
        composed = pynini().compose(theirs.copy().arcsort("olabel"), to_pynini(other.to_transducer()))
        for string in strings:
            for ours, fst in ((machine, theirs), (both, composed), (minimize(both), composed)):
                output = ours.apply(string)
                assert pynini_outputs(fst, string) == (set() if output is None else {output})


def test_composition() -> None:
    draw = random.Random(50)
    for _ in range(100):
        first, second = random_subsequential(draw), random_subsequential(draw)
        acceptor = random_acceptor(draw, most=4, symbols=2)
        values = function_of(first, STRINGS)
        through = function_of(second, values.values())
        expected = {x: through[y] for x, y in values.items() if y in through}
        assert function_of(compose(first, second), STRINGS) == expected
        before, after = compose(acceptor, first), compose(first, acceptor)
        accepted = language(acceptor, STRINGS)
        assert function_of(before, STRINGS) == {x: y for x, y in values.items() if x in accepted}
        kept = language(acceptor, values.values())
        assert function_of(after, STRINGS) == {x: y for x, y in values.items() if y in kept}
        assert language(inverse_image(first, acceptor), STRINGS) == {
            x for x, y in values.items() if y in kept
        }
        assert language(image(first, acceptor), kept) >= {values[x] for x in accepted & values.keys()} & kept


def test_composition_with_general_machines() -> None:
    draw = random.Random(51)
    for _ in range(60):
        machine, other = random_subsequential(draw, most=3), random_transducer(draw, most=3)
        general = machine.to_transducer()
        assert relation(compose(machine, other), 3) == relation(compose(general, other), 3)
        assert relation(compose(other, machine), 3) == relation(compose(other, general), 3)
        acceptor = random_acceptor(draw, most=3, symbols=2)
        for images in (image, inverse_image):
            found = images(machine, acceptor)
            assert language(found, STRINGS) == language(images(general, acceptor), STRINGS)
    stack = PushdownAutomaton.from_transitions([(0, POP, (), (), 1)], [1])
    doubled = SubsequentialTransducer.from_transitions([(0, 3, [POP], 1)], [1])
    assert compose(doubled, stack).accepts([3])


POP = 4


def test_images_of_relations() -> None:
    draw = random.Random(52)
    short = all_strings(2, 3)
    for _ in range(100):
        transducer, acceptor = random_transducer(draw, most=3), random_acceptor(draw, most=3, symbols=2)
        pairs = relation(transducer, 3)
        accepted = language(acceptor, short)
        assert language(image(transducer, acceptor), short) >= {y for x, y in pairs if x in accepted}
        assert language(inverse_image(transducer, acceptor), short) >= {x for x, y in pairs if y in accepted}
        for y in language(image(transducer, acceptor), short):
            between = compose(compose(acceptor, transducer), Acceptor.from_strings([y]))
            assert not is_empty(project(between, "input"))


# ---- values, limits, errors ---------------------------------------------------------------------


def test_they_are_values() -> None:
    machine = separators()
    assert machine == SubsequentialTransducer(
        machine.rows, machine.accepting, 0, (), machine.final_outputs, None, None
    )
    assert machine != onward(machine)
    assert pickle.loads(pickle.dumps(machine)) == machine
    assert hash(machine) == hash(separators())
    assert repr(machine) == "<SubsequentialTransducer of 4 states and 43 transitions>"
    assert machine.step(1, 44) == ((), 2)
    assert machine.step(1, 45) is None
    assert Transducer.from_openfst(machine.to_openfst()).size == machine.to_transducer().size == 53 + 2
    for same in (onward(machine), minimize(machine), compose(machine, machine), machine.to_transducer()):
        assert same.input_names is same.output_names is BYTE_NAMES


def test_nothing_is_accepted() -> None:
    empty = SubsequentialTransducer.from_transitions([(0, 0, [1], 1)], {}, initial_output=[1], states=2)
    smallest = minimize(empty)
    assert smallest == SubsequentialTransducer(((),), frozenset())
    assert (smallest.initial_output, empty.apply([])) == ((), None)
    assert determinize(empty.to_transducer()) == smallest
    never = compose(
        SubsequentialTransducer.from_transitions([], [0], initial_output=[5], states=1), separators()
    )
    assert never.apply([]) is None
    assert never.states == 1


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: arcs_of((0, 1, "a", 0), (0, 1, "b", 0)), "two transitions of state 0 read 1"),
        (lambda: arcs_of((0, 1, "a", 0), (0, 1, "a", 1)), "two transitions of state 0 read 1"),
        (lambda: arcs_of((0, EPSILON, "a", 0)), "-1 cannot be a symbol"),
        (lambda: arcs_of((0, 1, [EPSILON], 0)), "empty string"),
        (lambda: arcs_of((0, 1, [1 << 31], 0)), "cannot be a symbol"),
        (lambda: arcs_of((0, 1, "", 7), states=2), "to 7"),
        (lambda: SubsequentialTransducer(((),), frozenset(), 0, (), ((1,),)), "does not accept"),
        (lambda: SubsequentialTransducer(((),), frozenset([0]), 0, (), ((1,), ())), "2 final outputs"),
        (lambda: SubsequentialTransducer(((),), frozenset([0]), 0, (-1,)), "-1 cannot"),
    ],
)
def test_machines_that_cannot_be(make: object, words: str) -> None:
    with pytest.raises(MachineError, match=words):
        make()  # type: ignore[operator]


def arcs_of(*arcs: tuple[int, int, object, int], states: int | None = None) -> SubsequentialTransducer:
    return SubsequentialTransducer.from_transitions(arcs, [0], states=states)  # type: ignore[arg-type]


def doubling() -> SubsequentialTransducer:
    return SubsequentialTransducer.from_transitions([(0, 0, [0, 0], 0)], [0])


def test_limits_hold() -> None:
    """Compositions of n transducers that double their input write 2**n symbols for one."""
    limits = tk.Limits(memory_bytes=1 << 22)
    machine = doubling()
    for _ in range(14):
        machine = compose(machine, doubling(), limits)
    long = SubsequentialTransducer.from_transitions([(0, 0, [1] * 1000, 0)], [0])
    few = tk.Limits(states=50)
    chain = SubsequentialTransducer.from_transitions([(i, 0, [0], i + 1) for i in range(99)], [99])
    hostile = Acceptor.from_transitions(
        [(0, 1, 0), (0, 0, 0), (0, 1, 1), *((i, x, i + 1) for i in range(1, 40) for x in (0, 1))], [40]
    )
    everything = SubsequentialTransducer.from_transitions([(0, x, [x], 0) for x in (0, 1)], [0])
    for call in (
        lambda: compose(compose(machine, doubling(), limits), doubling(), limits),
        lambda: long.apply([0] * 1000, limits),
        lambda: long.to_transducer(few),
        lambda: long.to_transducer(tk.Limits(memory_bytes=1 << 16)),
        lambda: project(long, "output", few),
        lambda: onward(chain, few),
        lambda: minimize(chain, few),
        lambda: compose(chain, chain, few),
        lambda: compose(everything, hostile, few),
        lambda: inverse_image(everything, hostile, few),
        lambda: image(chain, hostile, few),
        lambda: determinize(chain.to_transducer(), few),
        lambda: two_outputs(chain, few),
        lambda: two_runs(chain, few),
        lambda: untwinned(chain, few),
        lambda: SubsequentialTransducer.from_transitions([(0, 0, [1] * 10**5, 0)], [0], limits=limits),
        lambda: SubsequentialTransducer.from_transitions([(0, 0, [], 10**9)], [0]),
    ):
        with pytest.raises(LimitExceeded):
            call()


# ---- what 004 claims ----------------------------------------------------------------------------


def test_004_functional_is_not_the_twinning_property() -> None:
    """Definition 5: "functional (twinning property)"; and a deterministic transducer has both anyway."""
    a, b, c, x, y = b"abcxy"
    held = Transducer.from_transitions(
        [(0, a, x, 1), (0, a, y, 2), (1, a, x, 1), (2, a, y, 2), (1, b, EPSILON, 3), (2, c, EPSILON, 3)], [3]
    )
    assert is_functional(held)
    assert untwinned(held) is not None
    two = Transducer.from_transitions([(0, a, x, 1), (0, a, y, 1)], [1])
    assert not is_functional(two)
    assert untwinned(two) is None
    draw = random.Random(53)
    for _ in range(100):
        machine = random_subsequential(draw)
        assert two_outputs(machine) is None
        assert untwinned(machine) is None


def test_004_theorem_3_the_product_is_as_deterministic_as_the_acceptor() -> None:
    a = 0
    copy = SubsequentialTransducer.from_transitions([(0, a, [a], 0)], [0])
    assert onward(copy) == trim(copy) == copy
    two_arcs = Acceptor.from_transitions([(0, a, 1), (0, a, 2)], [1, 2])
    plain = compose(copy.to_transducer(), two_arcs)
    found = two_runs(plain)
    assert found is not None
    assert found.string == (a,)  # two transitions for one symbol
    assert is_functional(plain)  # and one output all the same, since that of the transducer is one
    assert compose(copy, two_arcs).rows == ((((a, (a,)), 1),), ())


def test_004_theorem_3_onwardness_is_not_needed() -> None:
    draw = random.Random(54)
    for _ in range(100):
        machine, acceptor = random_subsequential(draw), random_acceptor(draw, most=4, symbols=2)
        late, early = compose(machine, acceptor), compose(onward(machine), acceptor)
        assert minimize(late) == minimize(early)
        assert two_runs(late) is None


def test_004_theorem_3_an_ambiguous_grammar_has_one_output() -> None:
    """S: S S | 1.  Many derivations of 111, and one value of 1,1,1: what the transducer writes."""
    grammar = tk.grammar('start: start start | "1"').pushdown_automaton()
    deterministic = tk.grammar('start: "1" start | "1"').pushdown_automaton()
    normal = separators()
    through = compose(normal, grammar)
    for text in ("1", "1,1", "1,1,1", "111", "1,", "12", "1."):
        value = normal.apply(text)
        accepted = value is not None and deterministic.accepts(value)
        assert through.accepts(text) == accepted
        values = [y for y in (b"1", b"11", b"111") if is_written(normal, text, y)]
        assert values == ([bytes(value or b"")] if accepted else [])
    assert tk.grammar('start: start start | "1"').determinism().derivations


def is_written(machine: SubsequentialTransducer, text: str, value: bytes) -> bool:
    inputs = inverse_image(machine, Acceptor.from_strings([value]))
    return not is_empty(product(inputs, Acceptor.from_strings([text])))
