"""Repairs of token sequences: against all accepted sequences, and against Wagner's table."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterable, Iterator
from typing import Any, Literal

import pytest

import tokamata as tk
from tests.support.masks import bits
from tests.support.tokenizers.exhaustive_cases import cases as canonical_cases
from tests.support.vocabularies import bytes_and
from tokamata.automata.correction import Prices, correction

Tokens = tuple[int, ...]

# Two ids for one text, and a stop token.
_SMALL = tk.Vocabulary.load([b"a", b"b", b"ab", b"ba", b"c", b"a", None], stop=6)
_FINITE = ["ab", "a?b?c?", "(ab|ba|c){1,2}", "(a|b){2}c|", "(?=.*c)[abc]{1,3}", "(?!aa)[ab]{2,3}"]
_ENDLESS = ["(ab)+", "[abc]*c", "(a|bc)*", "(?!.*aa)[ab]*", "c*(ab)*c"]
_COSTS: list[Any] = [
    tk.TokenCosts(),
    tk.TokenCosts(replace=None),
    tk.TokenCosts(insert=2, remove=3, replace=4),
    tk.TokenCosts(insert=1, remove=0, replace=1),
    tk.TokenCosts(insert=0, remove=2, replace=1),
]


def accepted(compiled: tk.CompiledConstraint[Any], longest: int) -> Iterator[Tokens]:
    """All accepted sequences up to a length, as matchers allow them."""
    open_ = [compiled.matcher()]
    while open_:
        matcher = open_.pop()
        tokens = tuple(matcher.tokens)
        if matcher.is_accepting:
            yield tokens
        for token in bits(matcher.mask) - set(compiled.vocabulary.stop) if len(tokens) < longest else ():
            further = matcher.fork()
            assert further.advance(token)
            open_.append(further)


def cheapest(given: Tokens, wanted: Tokens, costs: Any) -> tuple[int, int]:
    """The least cost of edits from one sequence to another; of these the fewest tokens that are not kept."""
    row = [(costs.insert * written, 0) for written in range(len(wanted) + 1)]
    for token in given:
        above, row = row, [(row[0][0] + costs.remove, row[0][1] + 1)]
        for index, written in enumerate(wanted):
            options = [
                (row[index][0] + costs.insert, row[index][1]),
                (above[index + 1][0] + costs.remove, above[index + 1][1] + 1),
            ]
            if token == written:
                options.append(above[index])
            elif costs.replace is not None:
                options.append((above[index][0] + costs.replace, above[index][1] + 1))
            row.append(min(options))
    return row[-1]


def nearest(given: Tokens, sequences: Iterable[Tokens], costs: Any) -> tuple[int, Tokens]:
    """The cost and the sequence that a repair must give."""
    (cost, _), _, found = min((cheapest(given, one, costs), len(one), one) for one in sequences)
    return cost, found


def drawn(draw: random.Random, width: int, longest: int) -> Tokens:
    return tuple(draw.randrange(width) for _ in range(draw.randrange(longest + 1)))


@pytest.mark.parametrize("pattern", _FINITE)
def test_all_sequences_of_finite_patterns(pattern: str) -> None:
    compiled = tk.regex(pattern).compile(_SMALL)
    sequences = list(accepted(compiled, 9))
    draw = random.Random(pattern)
    for costs in _COSTS:
        for given in [(), *(drawn(draw, 6, 5) for _ in range(60))]:
            found = compiled.repair(given, costs=costs)
            assert (found.cost, found.tokens) == nearest(given, sequences, costs), (given, costs)
            assert found.optimal
            assert found.lower_bound == found.cost
            assert found.certificate.flaw() is None


@pytest.mark.parametrize("pattern", _ENDLESS)
def test_sequences_of_endless_patterns(pattern: str) -> None:
    """No answer is longer than the sequence and its cost in insertions."""
    compiled = tk.regex(pattern).compile(_SMALL)
    sequences = list(accepted(compiled, 4))
    draw = random.Random(pattern)
    for costs in _COSTS[:3]:
        for given in [(), *(drawn(draw, 6, 3) for _ in range(40))]:
            found = compiled.repair(given, costs=costs)
            if len(given) + found.cost // costs.insert <= 4:
                assert (found.cost, found.tokens) == nearest(given, sequences, costs), (given, costs)
            assert found.certificate.verify()


@pytest.mark.parametrize("seed", range(12))
def test_wagners_table(seed: int) -> None:
    draw = random.Random(seed)
    for pattern in _FINITE + _ENDLESS:
        compiled = tk.regex(pattern).compile(_SMALL)
        acceptor = compiled.token_automaton().to_acceptor()
        prices = Prices(draw.randrange(4), draw.randrange(4), draw.randrange(6))
        given = drawn(draw, 6, 30)
        found = compiled.repair(given, costs=tk.TokenCosts(*prices))
        assert found.cost == correction(acceptor, given, prices)
        assert found.optimal
        assert compiled.token_automaton().accepts(found.tokens)
        assert found.certificate.flaw() is None


@pytest.mark.parametrize("seed", range(12))
def test_canonical_sequences(seed: int) -> None:
    """All canonical sequences of finite patterns, for random tokenizers."""
    draw = random.Random(seed)
    for case in canonical_cases(seed):
        if case.matcher() is None:
            continue
        compiled = case.constraint.compile(case.vocabulary, tokenization="canonical")
        for _ in range(8):
            given = drawn(draw, len(case.vocabulary), 4)
            costs = draw.choice(_COSTS)
            found = compiled.repair(given, costs=costs)
            # Of equal costs any may be the answer: the search is first among all tokenizations.
            assert found.cost == nearest(given, case.sequences, costs)[0], (given, costs)
            assert found.optimal
            assert found.tokens in case.sequences
            assert cheapest(given, found.tokens, costs)[0] == found.cost
            assert found.certificate.flaw() is None


def test_an_accepted_text_in_other_tokens_is_not_canonical() -> None:
    for case in canonical_cases(3):
        if case.matcher() is None:
            continue
        canonical = case.constraint.compile(case.vocabulary, tokenization="canonical")
        any_tokens = case.constraint.compile(case.vocabulary)
        for sequence in sorted(case.sequences)[:20]:
            assert canonical.repair(sequence).edits == ()
            assert any_tokens.repair(sequence).edits == ()


def test_control_tokens_and_stop_tokens() -> None:
    vocabulary = tk.Vocabulary.load([b"a", b"b", None, None], stop=3, control_tokens={"<sep>": 2})
    compiled = (tk.regex("a+") + tk.control_token("<sep>") + tk.regex("b")).compile(vocabulary)
    found = compiled.repair([0, 1, 3])
    assert (found.tokens, found.cost) == ((0, 2, 1, 3), 1)
    assert found.edits == (tk.TokenEdit("insert", 1, None, 2, 1),)
    assert found.certificate.verify()
    # A stop token within the text is removed, or another one stands in its place.
    assert compiled.repair([0, 3, 1]).tokens == (0, 2, 1)
    assert compiled.repair([3, 3]).tokens == (0, 2, 1, 3, 3)


def test_edits_lead_to_the_answer() -> None:
    compiled = tk.regex("abc(ab)*").compile(_SMALL)
    found = compiled.repair([0, 4, 3, 2, 2])
    assert found.tokens == (0, 1, 4, 2, 2)
    assert [edit.name for edit in found.edits] == ["insert", "remove"]
    assert sum(edit.cost for edit in found.edits) == found.cost == 2


def test_ties() -> None:
    # One token is wrong: removed, it leaves the shorter text.
    assert tk.regex("a*").compile(_SMALL).repair([0, 1, 0]).tokens == (0, 0)
    # 0 and 5 are both `a`.
    assert tk.regex("a").compile(_SMALL).repair([]).tokens == (0,)
    assert tk.regex("a").compile(_SMALL).repair([5]).edits == ()
    # An insertion keeps all; a replacement costs the same, and does not.
    assert tk.regex("ab|b").compile(tk.Vocabulary.load([b"a", b"b"], stop=())).repair([0]).tokens == (0, 1)


def test_forged_certificates() -> None:
    certificate = tk.regex("ab").compile(_SMALL).repair([0, 0, 1]).certificate
    assert certificate.verify()
    forged: dict[str, dict[str, Any]] = {
        "the lower bound is above the cost": {"lower_bound": 2},
        "the costs of the edits do not add up": {"cost": 3},
        "the edits do not lead to the repaired sequence": {"tokens": (2,)},
        "the edit at token 0 is not made at this cost": {"costs": tk.TokenCosts(remove=2)},
        "the edit at token 0 does not fit the sequence": {"given": (1, 0, 1)},
        "the edit at token 0 is out of order": {"edits": certificate.edits * 2},
    }
    for flaw, changed in forged.items():
        assert dataclasses.replace(certificate, **changed).flaw() == flaw
    refused = dataclasses.replace(certificate, tokens=(0, 0, 1), edits=(), cost=0, lower_bound=0)
    assert refused.flaw() == "the constraint does not accept the repaired sequence"
    dear = tk.regex("a|aaa").compile(_SMALL).repair([0, 0]).certificate
    whole = [tk.TokenEdit("remove", i, 0, None, 1) for i in range(2)]
    edits = (*whole, tk.TokenEdit("insert", 2, None, 0, 1))
    forged_bound = dataclasses.replace(dear, tokens=(0,), edits=edits, cost=3, lower_bound=2)
    assert forged_bound.flaw() == "a repair costs less than the lower bound"
    assert dataclasses.replace(forged_bound, lower_bound=1).verify()


def test_limits_and_deadlines() -> None:
    compiled = tk.regex("([a-z]{3}-[0-9]{3};)*").compile(bytes_and(b"abc", b"123;"))
    draw = random.Random(0)
    given = [draw.randrange(256) for _ in range(20_000)]
    found = compiled.repair(given, deadline_seconds=0)
    assert not found.optimal
    assert 0 < found.lower_bound < found.cost
    assert compiled.token_automaton().accepts(found.tokens)
    small = compiled.repair(given, limits=tk.Limits(memory_bytes=100_000))
    assert 0 < small.lower_bound < small.cost
    cancelled = tk.CancelToken()
    cancelled.cancel()
    with pytest.raises(tk.Cancelled):
        compiled.repair(given, cancel=cancelled)
    with pytest.raises(tk.Cancelled):
        found.certificate.flaw(cancel=cancelled)
    with pytest.raises(tk.LimitExceeded):
        found.certificate.flaw(limits=tk.Limits(seconds=1e-6))
    with pytest.raises(tk.LimitExceeded):
        tk.regex("[a-z]{1000}").compile(bytes_and(), limits=tk.Limits(states=100)).repair([97])


def test_growth() -> None:
    """A tenth of the tokens takes a tenth of the nodes."""
    compiled = tk.regex("([a-z]+, )*[a-z]+\\.").compile(bytes_and(b", ", b"word", b"other"))
    expansions = []
    for length in (10, 100, 1000, 10_000):
        given = [257, 256] * (length // 2) + [257, 46]
        given[length // 2] = 33  # one wrong token
        found = compiled.repair(given)
        assert (found.cost, found.optimal) == (1, True)
        expansions.append(found.expansions)
    assert expansions[-1] < 11 * expansions[-2] < 130 * expansions[-3]


def test_wrong_arguments() -> None:
    compiled = tk.regex("ab").compile(_SMALL)
    with pytest.raises(tk.TokenIdError):
        compiled.repair([7])
    with pytest.raises(tk.ArgumentError, match="tokens"):
        compiled.repair("ab")  # type: ignore[arg-type]
    with pytest.raises(tk.ArgumentError, match="costs"):
        compiled.repair([0], costs=tk.DEFAULT_COSTS)  # type: ignore[arg-type]
    for by_type in ({"letters": 1}, {"other": 1, "vowels": 2}, {"other": -1}):
        with pytest.raises(tk.ArgumentError, match="insert"):
            tk.TokenCosts(insert=by_type)
    with pytest.raises(tk.ArgumentError, match="weight"):
        compiled.repair([0], weight=0.5)
    for wrong in (-1, 1.5, None, 1_000_000_001):
        with pytest.raises(tk.ArgumentError, match="insert"):
            tk.TokenCosts(insert=wrong)  # type: ignore[arg-type]
    with pytest.raises(tk.ArgumentError, match="deadline_seconds"):
        compiled.repair([0], deadline_seconds=-1)


# Pieces of JSON, some of which several tokens spell.
_PIECES = [
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b",",
    b'"',
    b"a",
    b"b",
    b"1",
    b'{"',
    b'":',
    b'"a"',
    b"1,",
    b"],",
    b"[[",
    None,
]
_JSON = tk.Vocabulary.load(_PIECES, stop=len(_PIECES) - 1)
_NAMES = {
    "type": "object",
    "patternProperties": {"^[ab]{1,2}$": {"const": 1}},
    "additionalProperties": False,
}
_UNIQUE = {"type": "array", "items": {"enum": [1, 11, "a"]}, "uniqueItems": True}
_RULES: dict[str, tuple[tk.Constraint[Any], int]] = {  # and how long sequences are enumerated
    "arrays": (tk.json_schema({"type": "array", "items": {"$ref": "#"}}, whitespace="compact"), 6),
    "names that differ": (tk.json_schema(_NAMES, whitespace="compact"), 7),
    "elements that differ": (tk.json_schema(_UNIQUE, whitespace="compact"), 6),
    "members": (
        tk.json_schema(
            {"properties": {"a": {"const": 1}, "b": {"type": "array", "maxItems": 1, "items": {"const": 1}}},
             "type": "object", "required": ["a"], "additionalProperties": False},
            whitespace="compact",
        ),
        7,
    ),
    "grammar": (tk.grammar('start: "{" start "}" | "[" start "]" | "a" | "a" "," start'), 6),
    "a type": (tk.type(list[list[Literal[1]]], whitespace="compact"), 6),
}  # fmt: skip


@pytest.mark.parametrize("name", _RULES)
def test_rules_against_all_sequences(name: str) -> None:
    constraint, longest = _RULES[name]
    compiled = constraint.compile(_JSON)
    sequences = list(accepted(compiled, longest))
    draw = random.Random(name)
    judged = 0
    for number in range(60):
        given = drawn(draw, 16, 4) if number % 2 else broken(draw.choice(sequences), draw, 16)
        costs = _COSTS[number % 3]
        found = compiled.repair(given, costs=costs)
        assert found.optimal
        assert found.certificate.flaw() is None
        assert matched(compiled, found.tokens)
        if len(given) + found.cost // costs.insert > longest:
            continue  # a nearer one may be longer than all that are enumerated
        judged += 1
        cost, nearest_one = nearest(given, sequences, costs)
        assert found.cost == cost, given
        assert cheapest(given, found.tokens, costs)[0] == cost
        if name not in ("names that differ", "elements that differ"):
            assert found.tokens == nearest_one, given
    assert judged > 15


def broken(sequence: Tokens, draw: random.Random, width: int) -> Tokens:
    """A sequence with up to three tokens changed."""
    tokens = list(sequence)
    for _ in range(draw.randrange(4)):
        at = draw.randrange(len(tokens) + 1)
        tokens[at : at + draw.randrange(2)] = [draw.randrange(width)] * draw.randrange(2)
    return tuple(tokens)


def matched(compiled: tk.CompiledConstraint[Any], tokens: Tokens) -> bool:
    """Whether a matcher takes a sequence as a whole."""
    matcher = compiled.matcher()
    return all(matcher.advance(token) for token in tokens) and matcher.is_accepting


def test_each_answer_is_better_and_its_bound_holds() -> None:
    compiled = _RULES["members"][0].compile(_JSON)
    draw, steps = random.Random(4), 0
    for _ in range(30):
        given = drawn(draw, 16, 14)
        best = compiled.repair(given)
        answers = list(compiled.repairs(given, weight=10))
        assert (answers[-1].cost, answers[-1].lower_bound) == (best.cost, best.cost)
        costs = [answer.cost for answer in answers]
        assert costs == sorted(costs, reverse=True)
        steps += len(set(costs)) > 1
        for answer in answers:
            assert answer.lower_bound <= best.cost
            assert answer.certificate.flaw() is None
    assert steps > 3


def test_costs_by_type() -> None:
    vocabulary = tk.Vocabulary.load(
        [b"a", b"1", b" 2", b" ", b",", "é".encode(), None, None], stop=7, control_tokens={"<sep>": 6}
    )
    costs = tk.TokenCosts(
        insert={"control": 9, "space": 2, "digits": 4, "letters": 5, "other": 3},
        remove={"digits": 1, "other": 6},
        replace=None,
    )
    assert hash(costs) == hash(dataclasses.replace(costs))
    for text, written, cost in (
        ("a", 0, 5),
        ("é", 5, 5),
        ("1", 1, 4),
        (" 2", 2, 4),
        (" ", 3, 2),
        (",", 4, 3),
    ):
        compiled = tk.regex(text).compile(vocabulary)
        found = compiled.repair([], costs=costs)
        assert (found.tokens, found.cost) == ((written,), cost)
        assert found.certificate.verify()
    assert tk.control_token("<sep>").compile(vocabulary).repair([], costs=costs).cost == 9
    # The digit is removed, and not the letter.
    found = tk.regex("a|1").compile(vocabulary).repair([0, 1], costs=costs)
    assert (found.tokens, found.cost, found.optimal) == ((0,), 1, True)
    assert dataclasses.replace(found.certificate, costs=tk.TokenCosts()).flaw() is None
    dear = dataclasses.replace(costs, remove=2)
    assert "is not made at this cost" in str(dataclasses.replace(found.certificate, costs=dear).flaw())
    # The plain costs after those by type: rows are made again.
    assert tk.regex("a|1").compile(vocabulary).repair([0, 1]).tokens == (0,)


@pytest.mark.parametrize("is_own", [False, True])
def test_costs_by_type_against_all_sequences(is_own: bool) -> None:
    own = _JSON.types({"digits": tk.regex("1"), "letters": tk.regex("[ab]")}) if is_own else None
    draw = random.Random(9)
    compiled = _RULES["members"][0].compile(_JSON)
    sequences = list(accepted(compiled, 6))
    types = {
        token: "digits" if piece == b"1" else "letters" if piece in (b"a", b"b") else "other"
        for token, piece in enumerate(_PIECES)
    }
    for _ in range(40):
        insert, remove = (
            {kind: draw.randint(1, 4) for kind in ("digits", "letters", "other")} for _ in range(2)
        )
        given = drawn(draw, 16, 3)
        found = compiled.repair(given, costs=tk.TokenCosts(insert, remove, None, own))
        assert found.certificate.flaw() is None
        priced = min(priced_distance(given, one, types, insert, remove) for one in sequences)
        assert found.cost <= priced
        if len(found.tokens) <= 6:
            assert found.cost == priced


def test_types_of_ones_own_are_those_of_one_vocabulary() -> None:
    vocabulary = tk.Vocabulary.load([b"1", b"a", b"b", None], stop=3)
    types = vocabulary.types({"first": tk.regex("[1a]"), "second": tk.regex("[ab]")})
    costs = tk.TokenCosts(insert={"first": 4, "second": 2, "other": 9}, types=types)
    compiled = tk.regex("a|b").compile(vocabulary)
    assert (compiled.repair([], costs=costs).tokens, compiled.repair([], costs=costs).cost) == ((2,), 2)
    assert tk.regex("a").compile(vocabulary).repair([], costs=costs).cost == 4  # of two types the first
    with pytest.raises(tk.ArgumentError, match="first, second, other"):
        tk.TokenCosts(insert={"digits": 4, "other": 9}, types=types)
    with pytest.raises(tk.ArgumentError, match="another vocabulary"):
        tk.regex("1").compile(tk.Vocabulary.load([b"1"], stop=())).repair([], costs=costs)


def priced_distance(
    given: Tokens, wanted: Tokens, types: dict[int, str], insert: dict[str, int], remove: dict[str, int]
) -> int:
    """The least cost of removals and insertions."""
    row = [sum(insert[types[token]] for token in wanted[:count]) for count in range(len(wanted) + 1)]
    for token in given:
        above, row = row, [row[0] + remove[types[token]]]
        for index, written in enumerate(wanted):
            kept = [above[index]] if token == written else []
            row.append(
                min(row[index] + insert[types[written]], above[index + 1] + remove[types[token]], *kept)
            )
    return row[-1]


def test_limits_hold_under_rules() -> None:
    compiled = tk.json().compile(bytes_and())
    given = list(b'{"a": [1, 2, {"b": "' * 40)
    quick = compiled.repair(given, deadline_seconds=0)
    assert 0 <= quick.lower_bound <= quick.cost
    assert matched(compiled, quick.tokens)
    small = compiled.repair(given, limits=tk.Limits(memory_bytes=1 << 20))
    assert matched(compiled, small.tokens)
    assert small.certificate.flaw() is None
    cancelled = tk.CancelToken()
    cancelled.cancel()
    with pytest.raises(tk.Cancelled):
        compiled.repair([97] * 1000, cancel=cancelled)


def test_a_sequence_that_was_cut_off_is_closed() -> None:
    compiled = tk.json().compile(bytes_and())
    found = compiled.repair(list(b'{"a": [1, 2'))
    assert bytes(found.tokens) == b'{"a": [1, 2]}'
    assert (found.cost, found.optimal) == (2, True)
    assert next(iter(compiled.repairs(list(b'{"a": [1, 2')))).cost == 2  # the first answer is that already


@pytest.mark.parametrize(("given", "cost"), [(b'{"a": 1, "a": 2}', 1), (b'{"a": 1 "a": 2}', 2)])
def test_a_name_that_was_written_before(given: bytes, cost: int) -> None:
    """Every letter of a name leads to a place of its own: not all are tried, and one edit is proven."""
    compiled = tk.json().compile(bytes_and(b'":', b'", "'))
    found = compiled.repair(list(given))
    assert (found.cost, found.lower_bound) == (cost, 1)
    assert matched(compiled, found.tokens)
    assert found.certificate.flaw() is None
