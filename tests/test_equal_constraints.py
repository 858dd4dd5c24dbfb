"""Equal constraints are read and compiled once; limits, cancel tokens and stops stay with each caller."""

from __future__ import annotations

import dataclasses
import gc
import json
import multiprocessing
import os
import pickle
import random
import sys
import threading
import time
import warnings
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypedDict

import numpy as np
import pytest

import tokamata as tk
from tests.support.constraints import MAKERS
from tests.support.masks import allowed
from tests.support.vocabularies import BYTE_VOCABULARY, bytes_and
from tokamata.calls.equal_calls import READ, _written, key_of
from tokamata.calls.recipes import Made, steps_of
from tokamata.matching import compositions
from tokamata.matching.compositions import COMPOSED
from tokamata.resources.memo import Memo

pytestmark = pytest.mark.shared_states

SCHEMA = {"type": "object", "properties": {"a": {"enum": [1, "b"]}, "c": {"type": "integer"}}}
GROWING = "[ab]*a[ab]{16}"  # has a state for every sequence of 16 letters


def compiled(pattern: str = GROWING, **options: Any) -> tk.CompiledConstraint[Any]:
    return tk.regex(pattern).compile(BYTE_VOCABULARY, **options)


def share(one: tk.CompiledConstraint[Any], other: tk.CompiledConstraint[Any]) -> bool:
    return one._composed is other._composed


def write(matcher: tk.Matcher, count: int, seed: int) -> int:
    """Advances by letters; returns how many were taken before a limit was passed."""
    draw = random.Random(seed)
    for number in range(count):
        try:
            assert matcher.advance(draw.choice(b"ab"))
        except tk.LimitExceeded:
            return number
    return count


# ---- what is equal -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", MAKERS)
def test_equal_calls_make_equal_keys(name: str) -> None:
    """And so share states; of functions, rules and types in Python's syntax the object alone is equal."""
    for one, other in zip(MAKERS[name](), MAKERS[name](), strict=True):
        first, second = one.constraint, other.constraint
        is_same = first is second or consists_of_data(first)
        assert (key_of(first) == key_of(second)) == is_same
        assert (key_of(pickle.loads(pickle.dumps(first))) == key_of(first)) == consists_of_data(first)


def consists_of_data(constraint: tk.Constraint[Any]) -> bool:
    """Types count as their schemas, which are data."""
    made: list[Any] = []
    for step in steps_of(constraint):
        if type(step) is tuple and step[0] is tk.type:
            made += [None if step[2:] == () or "syntax" not in step[2] else ...]
        elif type(step) is tuple:
            made += [*step[1], *(step[2].values() if len(step) > 2 else ())]
        else:
            made += step.values() if type(step) is dict else step
    plain = (str, bytes, int, float, type(None), tk.Limits)
    return all(isinstance(value, (*plain, Made)) for value in made) and not any(
        type(step) is tuple and step[0] is tk.rule.__globals__["Rule"] for step in steps_of(constraint)
    )


READ_ONCE: list[Callable[[], tk.Constraint[Any]]] = [
    lambda: tk.json_schema(SCHEMA),
    lambda: tk.json_schema(json.dumps(SCHEMA)),
    lambda: tk.json_schema(json.dumps(SCHEMA).encode()),
    lambda: tk.json_schema(SCHEMA, property_order="any", limits=tk.Limits(seconds=9)),
    lambda: tk.json(max_depth=2),
    lambda: tk.regex("a+", 2),
    lambda: tk.choice(["a", "b"]),
    lambda: tk.grammar('root ::= "a"', syntax="gbnf"),
    lambda: tk.response_format({"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA}}),
    lambda: tk.structural_tag({"type": "structural_tag", "format": {"type": "const_string", "value": "x"}}),
    lambda: tk.tool_call([{"name": "f", "parameters": SCHEMA}]),
    lambda: tk.tool_calls([{"name": "f", "parameters": SCHEMA}]),
    lambda: tk.substring_of("abc"),
    lambda: tk.text_without(["abc"]),
]


@pytest.mark.parametrize("make", READ_ONCE, ids=range(len(READ_ONCE)))
def test_an_equal_call_finds_the_constraint(make: Callable[[], tk.Constraint[Any]]) -> None:
    made = make()
    assert make() is made
    first, second = made.compile(BYTE_VOCABULARY), make().compile(BYTE_VOCABULARY)
    assert share(first, second)
    assert (first._is_first, second._is_first) == (True, False)
    tk.forget_constraints()
    assert make() is not made
    assert key_of(make()) == key_of(made)


NEARLY_EQUAL: list[tuple[Any, Any]] = [
    ({"const": 1}, {"const": 1.5}),
    ({"const": 1}, {"const": True}),
    ({"const": 0}, {"const": False}),
    ({"const": 1}, {"const": "1"}),
    ({"enum": ["a", "b"]}, {"enum": ["b", "a"]}),
    ({"enum": [1]}, {"enum": [1, 2]}),
    (True, {"const": 1}),
    (True, False),
    (
        {"properties": {"a": {}, "b": {}}, "required": ["a", "b"]},
        {"properties": {"b": {}, "a": {}}, "required": ["a", "b"]},
    ),
    ({"minLength": 1}, {"maxLength": 1}),
    ({"type": "string"}, {"type": "string", "title": ""}),
]


@pytest.mark.parametrize("one", NEARLY_EQUAL, ids=lambda pair: str(pair)[:40])
@pytest.mark.parametrize("written", [json.dumps, lambda schema: schema])
def test_nearly_equal_schemas_are_apart(one: tuple[Any, Any], written: Any) -> None:
    left, right = (tk.json_schema(written(schema)) for schema in one)
    assert key_of(left) != key_of(right)
    tk.forget_constraints()
    alone = tk.json_schema(written(one[1]))
    assert alone.is_equivalent_to(right)
    assert key_of(alone) == key_of(right)


def test_equal_numbers_of_other_types_are_apart() -> None:
    """Their texts are the same; but 1 and 1.0 as names of a dict, and a text and its bytes, are not equal."""
    keys = {key_of(tk.json_schema(schema)) for schema in ({"const": 1}, {"const": 1.0}, {"const": True})}
    assert len(keys) == 3
    text = '{"const": 1}'
    assert len({key_of(tk.json_schema(schema)) for schema in (text, text.encode(), {"const": 1})}) == 3
    for _ in range(2):
        with pytest.raises(tk.TokamataError):
            tk.json_schema({"properties": {1: {}}})  # type: ignore[dict-item]
        tk.json_schema({"properties": {"1": {}}})
        with pytest.raises(tk.TokamataError):
            tk.json_schema({"const": float("nan")})
        with pytest.raises(tk.TokamataError):
            tk.json_schema({"const": b"a"})
    with pytest.raises(tk.TokamataError):
        tk.json_schema(1)  # type: ignore[arg-type]
    assert tk.json_schema(True).accepts("1")
    with pytest.raises(tk.TokamataError):
        tk.json_schema(1)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "options",
    [
        {"property_order": "any"},
        {"whitespace": "any"},
        {"spelling": "any"},
        {"formats": "annotate"},
        {"strict": False},
        {"unknown": "ignore"},
    ],
    ids=str,
)
def test_options_keep_constraints_apart(options: dict[str, Any]) -> None:
    plain, other = tk.json_schema(SCHEMA), tk.json_schema(SCHEMA, **options)
    assert plain is not other
    assert key_of(plain) != key_of(other)
    assert tk.json_schema(SCHEMA) is plain


def test_subclasses_of_dict_and_str_are_read_each_time() -> None:
    class Text(str):
        """A text that may hold more."""

    schema = OrderedDict(SCHEMA)
    assert tk.json_schema(schema) is not tk.json_schema(schema)
    assert key_of(tk.json_schema(schema)) == key_of(tk.json_schema(SCHEMA))
    assert tk.regex(Text("a")) is not tk.regex(Text("a"))
    assert share(tk.regex(Text("a")).compile(BYTE_VOCABULARY), tk.regex("a").compile(BYTE_VOCABULARY))


def test_what_may_change_is_known_by_the_object() -> None:
    def tool(a: int) -> None:
        """A tool."""

    for make in (lambda: tk.type(int, syntax="python"), lambda: tk.tool_call(tool)):
        one, other = make(), make()
        assert one is not other
        assert key_of(one) != key_of(other)
        assert share(one.compile(BYTE_VOCABULARY), one.compile(BYTE_VOCABULARY))
        assert share(
            (one + tk.literal("x")).compile(BYTE_VOCABULARY), (one + tk.literal("x")).compile(BYTE_VOCABULARY)
        )
        assert not share(one.compile(BYTE_VOCABULARY), other.compile(BYTE_VOCABULARY))


def test_types_with_equal_schemas_share_states_and_have_their_own_values() -> None:
    def local(annotation: Any) -> Any:
        return dataclasses.make_dataclass("Local", [("a", annotation)])

    first, second, third = local(int), local(int), local(str)
    one, again, other, apart = tk.type(first), tk.type(first), tk.type(second), tk.type(third)
    compiled_one = one.compile(BYTE_VOCABULARY)
    for same in (again, other):
        assert same is not one
        assert share(compiled_one, same.compile(BYTE_VOCABULARY))
    assert not share(compiled_one, apart.compile(BYTE_VOCABULARY))
    assert share((one + one).compile(BYTE_VOCABULARY), (again + other).compile(BYTE_VOCABULARY))
    for constraint, cls in ((one, first), (again, first), (other, second)):
        value = constraint.compile(BYTE_VOCABULARY).parse('{"a": 1}')
        assert type(value) is cls
    assert type(apart.parse('{"a": "1"}')) is third
    assert key_of(tk.type(first, property_order="any")) != key_of(one)


def test_a_class_that_has_changed_is_read_again() -> None:
    class Changing(TypedDict):
        a: int

    assert tk.type(Changing).accepts('{"a": 1}')
    before = tk.type(Changing).compile(BYTE_VOCABULARY)
    Changing.__annotations__["a"] = str
    after = tk.type(Changing)
    assert after.accepts('{"a": "1"}')
    assert not after.accepts('{"a": 1}')
    assert not share(before, after.compile(BYTE_VOCABULARY))


def test_compositions_are_equal_where_their_parts_are() -> None:
    def make(text: str = "a", most: int | None = 3) -> tk.Constraint[Any]:
        inner = tk.choice(["x", tk.json_schema({"const": text})])
        return (tk.literal("<") + inner.repeat(0, most).captured("parts") | tk.json()) - tk.literal("1")

    assert share(make().compile(BYTE_VOCABULARY), make().compile(BYTE_VOCABULARY))
    assert not share(make().compile(BYTE_VOCABULARY), make("b").compile(BYTE_VOCABULARY))
    assert not share(make().compile(BYTE_VOCABULARY), make(most=None).compile(BYTE_VOCABULARY))
    deep: tk.Constraint[Any] = tk.literal("a")
    for _ in range(3000):
        deep = deep.optional()
    assert isinstance(key_of(deep), bytes)


def test_vocabularies_and_options_keep_states_apart() -> None:
    one, other = bytes_and(b"ab"), bytes_and(b"ab")
    made = tk.regex("[ab]*")
    first = made.compile(one)
    assert share(first, made.compile(one))
    for options in ({"start_of_text": True}, {"limits": tk.Limits(depth=50)}):
        assert not share(first, made.compile(one, **options))  # type: ignore[arg-type]
        assert share(made.compile(one, **options), made.compile(one, **options))  # type: ignore[arg-type]
    assert not share(first, made.compile(other))
    assert share(first, made.compile(one, limits=tk.Limits(states=50, seconds=1)))


def test_a_repeated_request_makes_no_states() -> None:
    first = tk.json_schema(json.dumps(SCHEMA)).compile(BYTE_VOCABULARY)
    text = b'{"a": "b", "c": 12}'
    matcher = first.matcher()
    rows = []
    for byte in text:
        rows.append(matcher.mask.copy())
        assert matcher.advance(byte)
    states, held = first.states, first.memory_bytes
    del first, matcher
    second = tk.json_schema(json.dumps(SCHEMA)).compile(BYTE_VOCABULARY)
    matcher = second.matcher()
    for byte, row in zip(text, rows, strict=True):
        assert np.array_equal(matcher.mask, row)
        assert matcher.advance(byte)
    assert (second.states, second.memory_bytes) == (states, held)


def test_canonical_tokenization_is_shared(tokenizer: Any) -> None:
    vocabulary = tk.Vocabulary.load(tokenizer)
    first, second = (tk.json_schema(SCHEMA).compile(vocabulary, tokenization="canonical") for _ in range(2))
    assert share(first, second)
    assert not share(first, tk.json_schema(SCHEMA).compile(vocabulary))
    assert allowed(first.matcher()) == allowed(second.matcher())


# ---- what stays with a caller ------------------------------------------------------------------


@pytest.mark.parametrize("large_first", [True, False])
@pytest.mark.parametrize(
    ("limit", "small"), [("states", 300), ("memory_bytes", 400_000)], ids=["states", "memory"]
)
def test_callers_with_other_limits_share_no_failure(limit: str, small: int, large_first: bool) -> None:
    def large() -> tk.CompiledConstraint[Any]:
        return compiled()

    def tight() -> tk.CompiledConstraint[Any]:
        return compiled(limits=tk.Limits(**{limit: small}))  # type: ignore[arg-type]

    one, other = (large(), tight()) if large_first else tuple(reversed((tight(), large())))
    assert share(one, other)
    begun, grown = other.matcher(), one.matcher()
    assert write(begun, 20, 5) == 20
    assert write(grown, 2000, 1) == 2000
    states, row = one.states, grown.mask.copy()
    assert one.memory_bytes > 400_000

    # What the other one has made is no failure: there is as much room as alone.
    assert write(begun, 40, 6) == 40
    judge = tk.regex(GROWING + "(?:)").compile(BYTE_VOCABULARY).matcher()
    assert write(judge, 20, 5) + write(judge, 40, 6) == 60
    assert begun.text == judge.text
    assert np.array_equal(begun.mask, judge.mask)
    late = tight().matcher()
    assert write(late, 40, 7) == 40

    # Its own work is, and the other caller notices nothing.
    matcher = other.matcher()
    assert write(matcher, 100_000, 3) < 100_000
    assert len(matcher.text) == len(matcher.tokens) > 0
    assert getattr(other, limit) <= small * 1.1
    assert states <= one.states < states + 100  # what was made until there were too many
    assert np.array_equal(grown.mask, row)
    assert write(grown, 100, 2) == 100
    assert compiled().limits == tk.Limits()


def test_seconds_are_those_of_each_caller() -> None:
    slow = compiled()
    assert write(slow.matcher(), 3000, 1) == 3000
    with pytest.raises(tk.LimitExceeded, match="seconds"):
        tk.regex(GROWING + "x").compile(BYTE_VOCABULARY, limits=tk.Limits(seconds=1e-9))
    hasty = compiled(limits=tk.Limits(seconds=1e-9))  # found, which takes no time
    assert share(slow, hasty)
    assert write(hasty.matcher(), 100, 1) == 100  # known steps take none either
    assert write(hasty.matcher(), 100_000, 2) < 100_000
    assert write(slow.matcher(), 1000, 2) == 1000


def test_depth_is_judged_for_each_caller() -> None:
    nested = "a"
    for _ in range(60):
        nested = f"(?:{nested}b)*"
    for _ in range(2):
        tk.regex(nested).compile(BYTE_VOCABULARY)
        with pytest.raises(tk.LimitExceeded, match="depth"):
            tk.regex(nested).compile(BYTE_VOCABULARY, limits=tk.Limits(depth=20))
        deep = '{"items": ' * 40 + "{}" + "}" * 40
        tk.json_schema(deep)
        with pytest.raises(tk.LimitExceeded, match="depth"):
            tk.json_schema(deep, limits=tk.Limits(depth=20))


def test_each_constraint_keeps_the_limits_of_its_call() -> None:
    limits = tk.Limits(depth=40)
    for make in (tk.regex, lambda text, **options: tk.json_schema({"const": text}, **options)):
        wide, narrow, again = make("a"), make("a", limits=limits), make("a", limits=limits)
        assert narrow is again
        assert wide is not narrow
        assert "limits" not in wide._call().options
        assert narrow._call().options["limits"] == limits
        assert share(
            wide.compile(BYTE_VOCABULARY, limits=limits), narrow.compile(BYTE_VOCABULARY, limits=limits)
        )


def test_a_cancel_token_is_that_of_one_caller() -> None:
    cancel = tk.CancelToken()
    first, second = compiled(cancel=cancel), compiled()
    assert share(first, second)
    mine, other = first.matcher(), second.matcher()
    assert write(mine, 300, 1) == 300
    cancel.cancel()
    with pytest.raises(tk.Cancelled):
        write(mine, 10_000, 2)
    assert write(other, 2000, 3) == 2000
    with pytest.raises(tk.Cancelled):
        compiled(cancel=cancel)
    for make in (tk.regex, tk.json_schema):
        text = '{"const": "a"}'
        made = make(text, cancel=tk.CancelToken())  # type: ignore[operator]
        assert make(text) is made  # type: ignore[operator]
        with pytest.raises(tk.Cancelled):
            make(text, cancel=cancel)  # type: ignore[operator]
        with pytest.raises(tk.ArgumentError):
            make(text, cancel=1)  # type: ignore[operator]


def test_what_is_shared_holds_no_cancel_token() -> None:
    class Token(tk.CancelToken):
        """One that can be referred to weakly."""

    schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": {"pattern": "a+"}}}
    makers: list[Callable[..., tk.Constraint[Any]]] = [
        lambda **given: tk.regex("a|b", **given),
        lambda **given: tk.json_schema(schema, **given),
        lambda **given: tk.tool_calls([{"name": "f", "parameters": schema}], **given),
        lambda **given: tk.substring_of("abc", **given),
        lambda **given: tk.grammar('start: "a" %json {"type": "string"}', **given),
    ]
    for make in makers:
        token = Token()
        gone = weakref.ref(token)
        kept = make(cancel=token).compile(BYTE_VOCABULARY, cancel=token)
        core = kept._composed
        del kept, token
        gc.collect()
        assert gone() is None, make
        assert core.core.states > 0
        assert make().compile(BYTE_VOCABULARY).matcher() is not None


def test_stop_tokens_are_those_of_each_matcher() -> None:
    vocabulary = tk.Vocabulary.load([*(bytes([value]) for value in range(256)), None, None], stop=[256])
    one, other = (tk.regex("a*").compile(vocabulary) for _ in range(2))
    assert share(one, other)
    assert 257 in allowed(one.matcher(stop=[257]))
    assert 257 not in allowed(other.matcher())
    assert 256 in allowed(other.matcher())


def test_warnings_are_given_to_each_caller() -> None:
    slip = {"type": "object", "propertys": {}}
    tools = [{"name": "f", "parameters": slip}]
    for _ in range(3):
        for make, place in (
            (lambda: tk.json_schema(slip), ""),
            (lambda: tk.response_format({"type": "json_schema", "json_schema": {"schema": slip}}), None),
            (lambda: tk.tool_call(tools), "/0/parameters"),
            (lambda: tk.tool_calls(tools), "/0/parameters"),
        ):
            with pytest.warns(tk.SchemaWarning) as seen:
                make()
            assert len(seen) == 1
            assert seen[0].filename == __file__
            assert isinstance(seen[0].message, tk.SchemaWarning)
            assert seen[0].message.pointer == ("/json_schema/schema" if place is None else place)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(tk.SchemaWarning):
                tk.json_schema(slip)
            tk.json_schema(SCHEMA)


def test_errors_are_not_kept() -> None:
    kept = len(READ), len(COMPOSED)
    for _ in range(2):
        with pytest.raises(tk.SchemaError):
            tk.json_schema({"type": "nothing"})
        with pytest.raises(tk.PatternSyntaxError):
            tk.regex("(")
    assert (len(READ), len(COMPOSED)) == kept
    for _ in range(2):
        with pytest.raises(tk.EmptyConstraintError, match="leave no value together"):
            tk.json_schema({"type": "string", "enum": [1]}).compile(BYTE_VOCABULARY)
    assert not compositions._under_way


# ---- memory ------------------------------------------------------------------------------------


def test_a_memo_is_bounded_by_what_its_values_hold_now() -> None:
    sizes = dict.fromkeys("abcdefgh", 10)
    memo: Memo[str] = Memo(45, sizes.__getitem__)
    for name in "abcd":
        assert memo.keep(name, name) == name
    assert memo.keep("a", "b") == "a"  # the first stays
    assert memo.get("a") == "a"
    memo.keep("e", "e")  # takes the place of b, which was not used for longest
    assert [name for name in "abcde" if memo.get(name)] == ["a", "c", "d", "e"]
    sizes["e"] = 30
    assert memo.get("e") == "e"  # now d and e are left
    assert (len(memo), memo.memory_bytes) == (2, 40)
    sizes["d"] = 1000
    assert memo.get("e") == "e"
    memo.drop(lambda key: key == "e")
    assert memo.memory_bytes == 1000
    memo.keep("f", "f")
    assert [name for name in "abcdef" if memo.get(name)] == ["f"]
    sizes["g"] = 100
    assert memo.keep("g", "g") == "g"  # too large by itself
    memo.clear()
    assert (len(memo), memo.memory_bytes) == (0, 0)


def test_memos_are_bounded_and_what_goes_is_freed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(COMPOSED, "_most_bytes", 1_000_000)
    monkeypatch.setattr(READ, "_most_bytes", 1_000_000)
    cores = []
    for number in range(200):
        made = tk.json_schema({"const": f"x{number}", "title": "t" * 100}).compile(BYTE_VOCABULARY)
        _ = made.matcher().mask  # it has grown since it was kept
        cores.append(weakref.ref(made._composed))
        assert READ.memory_bytes <= 1_000_000
        assert COMPOSED._total <= 1_000_000
    assert COMPOSED.memory_bytes < 1_500_000  # read now
    made = tk.json().compile(BYTE_VOCABULARY)
    cores.append(weakref.ref(made._composed))
    assert COMPOSED.memory_bytes <= 1_000_000
    del made
    gc.collect()
    alive = sum(core() is not None for core in cores)
    assert 0 < alive == len(COMPOSED) < 200
    assert 0 < len(READ) < 200
    grown = compiled()
    write(grown.matcher(), 3000, 1)
    monkeypatch.setattr(COMPOSED, "_most_bytes", 200_000)
    assert grown.memory_bytes > 200_000
    assert share(grown, compiled())  # too large to be kept, but still in use
    assert share(grown, compiled())
    assert COMPOSED.memory_bytes <= 200_000
    gone = weakref.ref(grown._composed)
    del grown
    assert gone() is None


def test_a_vocabulary_takes_along_what_was_compiled_for_it() -> None:
    vocabulary = bytes_and(b"xyz")
    core = weakref.ref(tk.regex("[xyz]*").compile(vocabulary)._composed)
    kept = len(COMPOSED)
    gc.collect()
    assert core() is not None
    gone = weakref.ref(vocabulary)
    del vocabulary
    gc.collect()
    assert (gone(), core(), len(COMPOSED)) == (None, None, kept - 1)


def test_forgetting_leaves_what_is_in_use() -> None:
    before = compiled()
    matcher = before.matcher()
    assert write(matcher, 50, 1) == 50
    tk.forget_constraints()
    assert (len(READ), len(COMPOSED)) == (0, 0)
    after = compiled()
    assert not share(before, after)
    assert write(matcher, 50, 2) == 50


# ---- threads and processes ---------------------------------------------------------------------


def test_callers_at_the_same_time_compile_once(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[int] = []
    make = compositions.Composition._compiled

    def slowly(self: Any, *arguments: Any) -> Any:
        counted.append(1)
        time.sleep(0.05)
        return make(self, *arguments)

    monkeypatch.setattr(compositions.Composition, "_compiled", slowly)
    gate = threading.Barrier(6)
    found: list[tk.CompiledConstraint[Any]] = []

    def ask() -> None:
        gate.wait()
        found.append(compiled())

    run(ask, 6)
    assert counted == [1]
    assert len(found) == 6
    assert all(share(found[0], one) for one in found)
    assert sum(one._is_first for one in found) == 1


def test_who_waits_has_limits_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first is cancelled while it compiles: others stop waiting when theirs are over, or compile."""
    begun, go_on = threading.Event(), threading.Event()
    cancel = tk.CancelToken()
    make = compositions.Composition._compiled

    def slowly(self: Any, watch: Any, *arguments: Any) -> Any:
        if watch.cancel is cancel:
            begun.set()
            go_on.wait()
            watch.check()
        return make(self, watch, *arguments)

    monkeypatch.setattr(compositions.Composition, "_compiled", slowly)
    outcome: list[Any] = []

    def first() -> None:
        with pytest.raises(tk.Cancelled):
            compiled(cancel=cancel)
        outcome.append("cancelled")

    thread = threading.Thread(target=first)
    thread.start()
    begun.wait()
    with pytest.raises(tk.LimitExceeded, match="seconds"):
        compiled(limits=tk.Limits(seconds=0.01))
    mine = tk.CancelToken()
    threading.Timer(0.02, mine.cancel).start()
    with pytest.raises(tk.Cancelled):
        compiled(cancel=mine)
    waiting = threading.Thread(target=lambda: outcome.append(compiled()))
    waiting.start()
    cancel.cancel()
    go_on.set()
    thread.join()
    waiting.join()
    assert "cancelled" in outcome
    [made] = [one for one in outcome if one != "cancelled"]
    assert share(made, compiled())


def test_threads_find_and_forget_at_once() -> None:
    texts = [json.dumps({"const": number}) for number in range(8)]
    failures: list[str] = []

    def ask() -> None:
        draw = random.Random(threading.get_ident())
        for _ in range(60):
            number = draw.randrange(8)
            made = tk.json_schema(texts[number])
            matcher = made.compile(BYTE_VOCABULARY).matcher()
            if made.parse(str(number)) != number or ord(str(number)) not in allowed(matcher):
                failures.append(texts[number])
            if draw.random() < 0.05:
                tk.forget_constraints()

    run(ask, 4)
    assert failures == []


def run(task: Callable[[], object], count: int) -> None:
    threads = [threading.Thread(target=task) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_process_waits_for_no_thread_of_its_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = threading.Event(), threading.Event()
    make = compositions.Composition._compiled
    parent = os.getpid()

    def slowly(self: Any, *arguments: Any) -> Any:
        if os.getpid() == parent:
            begun.set()
            go_on.wait()
        return make(self, *arguments)

    monkeypatch.setattr(compositions.Composition, "_compiled", slowly)
    known = tk.regex("known")
    thread = threading.Thread(target=compiled)
    thread.start()
    begun.wait()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python 3.12 warns of forks beside threads
        with multiprocessing.get_context("fork").Pool(1) as pool:
            found = pool.apply_async(_found_in_child, (known,)).get(timeout=30)
    go_on.set()
    thread.join()
    assert found == (True, True)


def _found_in_child(known: tk.Constraint[Any]) -> tuple[bool, bool]:
    return compiled()._is_first, tk.regex("known") is known or sys.platform != "linux" or bool(known)


def test_batches_of_equal_constraints() -> None:
    """Their matchers share a lock, and so are kept on one thread."""
    made = [compiled(limits=tk.Limits(seconds=number + 1)) for number in range(40)]
    matchers = [one.matcher() for one in made]
    for number, matcher in enumerate(matchers):
        assert write(matcher, number, number) == number
    mask = made[0].allocate_mask(len(matchers))
    tk.fill_masks(matchers, mask, threads=4)
    judge = tk.regex(GROWING + "(?:)").compile(BYTE_VOCABULARY)
    for number, row in enumerate(mask):
        alone = judge.matcher()
        assert write(alone, number, number) == number
        assert np.array_equal(alone.mask, row)


def test_a_dict_that_stands_for_many_objects_has_no_key() -> None:
    """2^30 of them; and one that contains itself, and one that nests deeper than Python's stack."""
    many: dict[str, Any] = {"type": "any_text"}
    for _ in range(30):
        many = {"a": many, "b": many}
    circle: dict[str, Any] = {}
    circle["a"] = circle
    deep: dict[str, Any] = {}
    for _ in range(100_000):
        deep = {"a": deep}
    for given in (many, circle, deep):
        assert _written(given) is None
    shared = {"enum": ["a"]}
    assert _written([shared, shared]) == _written([{"enum": ["a"]}, {"enum": ["a"]}])
