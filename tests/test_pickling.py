"""Pickling and copying: constraints, what they are made of, results, errors; here and in another process."""

from __future__ import annotations

import copy
import dataclasses
import enum
import inspect
import json
import multiprocessing
import pickle
import random
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tokamata as tk
from tests.support.constraints import MAKERS, OPERATORS, SCHEMA, WEATHER, Made, Painter
from tests.support.masks import allowed
from tests.support.vocabularies import BYTES
from tokamata import errors, guard
from tokamata.calls.recipes import Shared, steps_of
from tokamata.matching import matchers as matching
from tokamata.vocabulary import vocabulary as vocabularies

NAMES = {"<image>": 256, "<end>": 257, "<|vision_start|>": 258, "<|image_pad|>": 259, "<|vision_end|>": 260}


def vocabulary() -> tk.Vocabulary:
    """Every byte, control tokens, some of them those of an image, and words."""
    return tk.Vocabulary.load(
        [*BYTES, *(None for _ in NAMES), b"abc", b'{"', b"</"], stop="<end>", control_tokens=NAMES
    )


VOCABULARY = vocabulary()


@pytest.fixture
def nothing_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process forgets what its pickles stand for, as another one does not know it."""
    for module in (matching, vocabularies):
        monkeypatch.setattr(module, "_SHARED", _Forgetful(1))


class _Forgetful(Shared[Any]):
    def note(self, key: Any, value: Any) -> None:
        """Nothing is kept."""


def again(value: Any, protocol: int = pickle.DEFAULT_PROTOCOL) -> Any:
    return pickle.loads(pickle.dumps(value, protocol))


def walk(constraint: tk.Constraint[Any], seed: int = 1, steps: int = 12) -> list[tuple[int, set[int]]]:
    """Tokens drawn from the masks of a matcher, each with the mask before it."""
    matcher = constraint.compile(VOCABULARY).matcher()
    draw = random.Random(seed)
    found = []
    for _ in range(steps):
        mask = allowed(matcher)
        token = draw.choice(sorted(mask))
        found.append((token, mask))
        matcher.advance(token)
    return found


def observed(made: Made) -> Any:
    """What a user sees of a constraint, as values that can be compared."""
    constraint = made.constraint
    values = [constraint.parse(text) for text in made.texts]
    reported = [tuple(entry) for entry in constraint.report()]
    return type(constraint).__name__, repr(constraint), reported, values, walk(constraint)


# ---- constraints -------------------------------------------------------------------------------


def test_every_function_that_makes_a_constraint_is_here() -> None:
    makers = set()
    for name in [*tk.__all__, "json", "type"]:
        value = getattr(tk, name)
        if inspect.isfunction(value):
            result = str(value.__annotations__.get("return", ""))
            if re.match(r"(Json|Tag|Grammar)?Constraint\b|Concatenation\b", result):
                makers.add(name)
    assert makers == set(MAKERS) - set(OPERATORS)
    methods = {
        name
        for name, value in vars(tk.Constraint).items()
        if inspect.isfunction(value)
        and not (name.startswith("_") and not name.startswith("__"))
        and not name.startswith("__r")  # of other objects, which are refused
        and re.match("Constraint|Concatenation|Any", str(value.__annotations__.get("return", "")))
    }
    operators = {"+": "__add__", "|": "__or__", "&": "__and__", "-": "__sub__", "~": "__invert__"}
    assert methods == {operators.get(name, name) for name in OPERATORS}


@pytest.mark.parametrize("name", MAKERS)
def test_a_constraint_is_the_same_after_pickling(name: str) -> None:
    for made in MAKERS[name]():
        expected = observed(made)
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            twin = again(made.constraint, protocol)
            assert (type(twin), repr(twin)) == (type(made.constraint), repr(made.constraint))
        assert observed(Made(twin, made.texts)) == expected
        assert repr(again(twin)) == repr(made.constraint)
        assert copy.copy(made.constraint) is copy.deepcopy(made.constraint) is made.constraint


def observed_of_pickle(given: tuple[bytes, tuple[str, ...]]) -> bytes:
    """What another process sees of a constraint; of a compiled one, also whether two unpicklings are one."""
    data, texts = given
    value = pickle.loads(data)
    if isinstance(value, tk.CompiledConstraint):
        return pickle.dumps((pickle.loads(data) is value, value.limits, masks_of(value)))
    return pickle.dumps(observed(Made(value, texts)))


def masks_of(compiled: tk.CompiledConstraint[Any]) -> list[set[int]]:
    matcher = compiled.matcher()
    masks = []
    for token in b'{"a": 7':
        masks.append(allowed(matcher))
        matcher.advance(token)
    return masks


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_another_process_has_the_same(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "12345")
    made = [one for make in MAKERS.values() for one in make()]
    compiled = tk.json_schema(SCHEMA).compile(VOCABULARY, limits=tk.Limits(states=10_000))
    given = [(pickle.dumps(one.constraint), one.texts) for one in made]
    given += [(pickle.dumps(compiled), ())] * 2
    with multiprocessing.get_context(method).Pool(1) as pool:
        found = [pickle.loads(one) for one in pool.map(observed_of_pickle, given, chunksize=50)]
        with pytest.raises(tk.ParseError) as raised:
            pool.apply(compiled.constraint.parse, ("[",))
        with pytest.raises(tk.ParseError) as expected:
            compiled.constraint.parse("[")
        assert vars(raised.value) == vars(expected.value)
    assert found[: len(made)] == list(map(observed, made))
    assert found[len(made) :] == [(True, compiled.limits, masks_of(compiled))] * 2


def test_constraints_in_other_objects() -> None:
    shared = tk.json_schema(SCHEMA)
    first, second, third = again([shared, shared, shared.optional()])
    assert first is second
    assert third.parse("") is None
    assert repr(third) == f"{first!r}.optional()"


def test_a_constraint_without_a_recipe_says_so() -> None:
    inner = tk.think_first(tk.json())._operands[0]
    with pytest.raises(errors.PicklingError, match="make it with the functions"):
        pickle.dumps(inner)


def test_what_a_caller_changes_later_changes_nothing() -> None:
    schema, tools, options, ends = json.loads(json.dumps([SCHEMA, [WEATHER], ["a", "b"], ["</a>", "!"]]))
    tag = {"type": "structural_tag", "format": {"type": "const_string", "value": "x"}}
    choice = {"type": "function", "function": {"name": "weather"}}
    named = {"one": tk.literal("a")}
    made = [
        tk.json_schema(schema),
        tk.response_format({"type": "json_schema", "schema": schema}),
        tk.tool_call(tools),
        tk.tool_calls(tools, tool_choice=choice, format="function"),
        tk.structural_tag(tag),
        tk.choice(options),
        tk.text_without(options),
        tk.tag("<a>", None, ends),
        tk.delimited_subsequence_of(items := [tk.literal("a")], tk.literal(",")),
        tk.grammar("start: @one", constraints=named),
    ]
    before = [(pickle.dumps(one), one.report()) for one in made]
    schema["properties"]["a"]["type"] = "string"
    schema.clear()
    tools[0]["function"]["parameters"]["properties"].clear()
    tools.append(tools[0])
    tag["format"] = {}
    choice["function"] = {}
    for one in (options, ends, items, named):
        one.clear()
    assert [(pickle.dumps(one), one.report()) for one in made] == before


def test_texts_travel_without_their_classes() -> None:
    class Local(str, enum.Enum):
        RED = "red"

    match = tk.regex("(?P<name>a+)").parse("aa")
    for constraint in (tk.choice(list(Local)), tk.literal(Local.RED), tk.literal(match), tk.regex(Local.RED)):
        twin = again(constraint)
        assert twin.is_equivalent_to(constraint)
        values = [one for step in steps_of(constraint) for one in (step if type(step) is list else step[1])]
        assert {type(one) for one in values if isinstance(one, str)} == {str}
    text = bytearray(b'{"const": 1}')
    constraint = tk.json_schema(text)
    text[:] = b'{"const": 2}'
    assert again(constraint).is_equivalent_to(tk.json_schema({"const": 1}))


def test_limits_travel_and_cancel_tokens_do_not() -> None:
    token = tk.CancelToken()
    limits = tk.Limits(depth=40)
    for constraint in (
        tk.regex("a", limits=limits, cancel=token),
        tk.json_schema({"const": 1}, limits=limits, cancel=token),
        tk.type(int, limits=limits, cancel=token),
        tk.grammar('start: "a"', limits=limits, cancel=token),
        tk.substring_of("abc", limits=limits, cancel=token),
    ):
        steps = steps_of(constraint)
        assert [step[2]["limits"] for step in steps if type(step) is tuple] == [limits]
        assert again(constraint).is_equivalent_to(constraint)


def test_types_and_functions_travel_by_name() -> None:
    @dataclasses.dataclass
    class Local:
        name: str

    with pytest.raises((AttributeError, pickle.PicklingError), match="Local"):
        pickle.dumps(tk.type(Local))
    assert again(tk.type(Painter)).parse('{"name": "", "born": 1}') == Painter("", 1)


def test_documents_of_registries_travel() -> None:
    referencing = pytest.importorskip("referencing")
    dialect = "https://json-schema.org/draft/2020-12/schema"
    whole = {"$schema": dialect, "type": "integer"}
    own = {"$schema": dialect, "$id": "urn:own", "$vocabulary": {}}
    fetched: list[str] = []

    def fetch(uri: str) -> Any:
        fetched.append(uri)
        return referencing.Resource.from_contents({"urn:whole": whole, "urn:own": own}[uri])

    registry = referencing.Registry(retrieve=fetch)
    schema = {"$schema": "urn:own", "items": {"$ref": "urn:whole"}, "type": "array"}
    constraint = tk.json_schema(schema, registry=registry)
    whole["type"] = "string"
    fetched.clear()
    twin = again(again(constraint))
    assert (twin.report(), twin.parse("[1, 2]")) == (constraint.report(), [1, 2])
    assert walk(twin) == walk(constraint)
    assert fetched == []


@pytest.mark.parametrize("lexer", ["characters", "dynamic", "basic", "contextual", "longest"])
def test_grammars_take_their_files_along(lexer: Any, tmp_path: Path) -> None:
    (tmp_path / "main.lark").write_text("%import .words.WORD\n%import common.WS\nstart: WORD+\n%ignore WS\n")
    (tmp_path / "words.lark").write_text('WORD: "word" | "other"\n')
    constraint = tk.grammar(tmp_path / "main.lark", lexer=lexer)
    for path in tmp_path.iterdir():
        path.unlink()
    twin = again(constraint)
    assert repr(twin) == "grammar(main.lark)"
    assert twin.report() == constraint.report()
    assert twin.parse("word other") == constraint.parse("word other")
    assert str(twin.determinism()) == str(constraint.determinism())


def test_rules_that_refer_to_each_other() -> None:
    first, second = tk.rule("first"), tk.rule("second")
    first.define("(" + second + ")" | tk.literal(""))
    second.define("[" + first.repeat(0, 2).captured("inner") + "]")
    twin = again(first)
    assert again(tk.grammar(first)).parse("([([])])") == tk.grammar(twin).parse("([([])])")
    both = again([first, {"second": second}])
    assert [type(both[0]), type(both[1]["second"])] == [tk.Rule, tk.Rule]
    undefined = again(tk.rule("later"))
    assert tk.grammar(undefined.define("x")).parse("x") == "x"
    assert copy.deepcopy(first) is first


# ---- depth and growth --------------------------------------------------------------------------


def chain(operator: str, count: int) -> tk.Constraint[Any]:
    made: tk.Constraint[Any] = tk.regex("[a-z]*")
    for number in range(count):
        other = tk.literal(f"w{number}")
        joined = {"+": made.__add__, "|": made.__or__, "&": made.__and__, "-": made.__sub__}[operator]
        made = joined(other)
    return made


@pytest.mark.parametrize("operator", ["+", "|", "&", "-"])
def test_long_chains_are_linear(operator: str) -> None:
    sizes = [len(pickle.dumps(chain(operator, count))) for count in (100, 1000)]
    assert sizes[1] < 11 * sizes[0]
    whole = chain(operator, 10_000 if operator == "+" else 2000)
    assert len(steps_of(whole)) == len(whole._operands) + 1
    assert not hasattr(whole, "_kept_call")  # its operands say all
    twin = again(whole)
    assert (repr(twin), len(twin._operands)) == (repr(whole), len(whole._operands))


def test_chains_of_json_and_of_rules_hold_no_prefixes() -> None:
    whole: tk.Constraint[Any] = tk.json()
    word, phrase = tk.rule("word"), tk.rule("word") + ""
    phrase = word + "0"
    for number in range(1, 50):
        whole = whole & tk.json_schema({"minLength": number})
        phrase = phrase + str(number)
    assert len(steps_of(whole)) == 1 + 2 * 49 + 1  # json(), schemas and what they make, the chain
    assert len(steps_of(phrase)) == 1 + 50 + 1
    assert again(whole).is_equivalent_to(whole)


def test_a_recipe_holds_what_the_caller_gave_and_no_copy() -> None:
    text = "abc" * 1000
    assert tk.substring_of(text)._call().arguments[0] is text
    assert tk.json_schema(json.dumps(SCHEMA)) is not None
    schema = tk.json_schema(SCHEMA)
    assert schema._reading is not None
    assert schema._call().arguments[0] is schema._reading.schema


def test_deep_constraints() -> None:
    constraint: tk.Constraint[Any] = tk.literal("a")
    for number in range(300):
        constraint = constraint.optional() if number % 2 else constraint.repeat(1, 1)
    assert repr(again(constraint)) == repr(constraint)


def test_deep_and_circular_schemas() -> None:
    circular: dict[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
    circular["properties"]["a"] = circular
    constraint = tk.json_schema(circular)
    circular.clear()
    twin = again(constraint)
    assert twin.parse('{"a": {"a": {}}}') == {"a": {"a": {}}}
    assert twin._call().arguments[0]["properties"]["a"] is not circular
    assert twin.report() == constraint.report()
    deep = inner = {}
    for _ in range(3000):
        inner["properties"] = {"a": {}}
        inner = inner["properties"]["a"]
    inner["type"] = "null"
    given = tk.json_schema(deep, limits=tk.Limits(depth=10_000))
    innermost = again(given)._call().arguments[0]
    for _ in range(3000):
        innermost = innermost["properties"]["a"]
    assert innermost == {"type": "null"}


# ---- compiled constraints ----------------------------------------------------------------------


def test_pickles_of_one_compiled_constraint_share_it() -> None:
    compiled = tk.json_schema(SCHEMA).compile(VOCABULARY)
    assert again(compiled) is compiled
    assert copy.copy(compiled) is copy.deepcopy(compiled) is compiled
    data = pickle.dumps(tk.json_schema(SCHEMA).compile(VOCABULARY))  # nothing keeps the original
    first, second = pickle.loads(data), pickle.loads(data)
    assert first is second
    assert again(first) is first
    assert first.vocabulary is VOCABULARY


def test_a_process_keeps_the_last_objects() -> None:
    shared: Shared[Any] = Shared(2)
    made: list[int] = []

    def get(key: int) -> Any:
        return shared.get(key, lambda: made.append(key) or tk.literal("a").compile(VOCABULARY))

    first = get(1)
    assert get(1) is first
    for key in (2, 3, 2, 3, 1):  # the first is still in use here, and the others are the last two
        get(key)
    assert made == [1, 2, 3]
    del first
    for key in (3, 4, 1, 3):  # each new one takes the place of the oldest
        get(key)
    assert made == [1, 2, 3, 4, 1, 3]


def test_compiled_constraints_keep_their_options(nothing_shared: None) -> None:
    limits = tk.Limits(states=1000)
    compiled = tk.json_schema(SCHEMA).compile(VOCABULARY, limits=limits, start_of_text=True)
    twin = again(compiled)
    assert twin is not compiled
    assert (twin.limits, twin.tokenization, twin._start_of_text) == (limits, "any", True)
    assert allowed(twin.matcher()) == allowed(compiled.matcher())
    assert twin.parse('{"a": 4}') == {"a": 4}


# ---- what belongs to its process ---------------------------------------------------------------


@pytest.mark.parametrize("make", [pickle.dumps, copy.copy, copy.deepcopy])
def test_what_cannot_be_pickled_says_what_can(make: Any) -> None:
    matcher = tk.regex("a").compile(VOCABULARY).matcher()
    with pytest.raises(tk.PicklingError, match="fork") as caught:
        make(matcher)
    assert caught.value.what == "a Matcher"
    with pytest.raises(tk.PicklingError, match="in each process"):
        make(tk.CancelToken())


# ---- results -----------------------------------------------------------------------------------


def compiled_letters() -> tk.CompiledConstraint[Any]:
    return tk.regex("[a-z]{3}").compile(VOCABULARY)


def events() -> list[tk.Event]:
    matcher = tk.json_schema(SCHEMA).compile(VOCABULARY).matcher()
    assert all(map(matcher.advance, b'{"a": 7}'))
    return matcher.events()


RESULTS: dict[str, Callable[[], Any]] = {
    "Answer": lambda: tk.json().is_subset_of(tk.json_schema(SCHEMA)),
    "Repair": lambda: tk.json_schema(SCHEMA).repair('{"a": 7, "b": ['),
    "Reward": lambda: tk.json_schema(SCHEMA).reward('{"a": 7, "b": ['),
    "an accepted text": lambda: tk.json_schema(SCHEMA).repair('{"a": 7}'),
    "TokenRepair": lambda: compiled_letters().repair([97, 98]),
    "Explanation": lambda: compiled_letters().matcher().explain(256),
    "MaskReport": lambda: compiled_letters().matcher().mask_report(),
    "Preparation": lambda: compiled_letters().prepare(),
    "report": lambda: tk.json_schema(SCHEMA).report(),
    "events": events,
    "Step": lambda: tk.Step(3, b"a", "a", -0.5, False, tuple(events())),
    "Limits": lambda: tk.Limits(states=5),
    "EditCosts": lambda: tk.EditCosts(insert={"ab": 3}, rewrites=[tk.Rewrite("x", b"y", b"z", 1)]),
    "DEFAULT_COSTS": lambda: tk.DEFAULT_COSTS,
    "TokenCosts": lambda: tk.TokenCosts(insert=2),
    "Sampling": lambda: tk.Sampling(seed=3),
    "ToolFormat": lambda: tk.ToolFormat("<{name}>", "</>", "<", ";"),
    "TokenAutomaton": lambda: compiled_letters().token_automaton(),
    "PushdownAutomaton": lambda: tk.grammar('start: "a" start "b" | "c"').pushdown_automaton(),
}


def agrees(result: Any) -> None:
    """A result equals its copies."""
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        twin = again(result, protocol)
        assert twin == result
        assert (type(twin), repr(twin)) == (type(result), repr(result))
    assert copy.deepcopy(result) == copy.copy(result) == result


@pytest.mark.parametrize("name", RESULTS)
def test_results_are_equal_after_pickling(name: str) -> None:
    result = RESULTS[name]()
    agrees(result)
    if dataclasses.is_dataclass(result):
        assert not isinstance(result, type)
        assert list(dataclasses.asdict(result)) == [one.name for one in dataclasses.fields(result)]


@pytest.mark.parametrize("name", MAKERS)
def test_values_are_equal_after_pickling(name: str) -> None:
    for made in MAKERS[name]():
        for text in made.texts:
            agrees(made.constraint.parse(text))


def test_certificates_hold_after_pickling(nothing_shared: None) -> None:
    constraint = tk.json_schema(SCHEMA)
    for repair in (
        constraint.repair('{"aa": 7, b: [1'),
        constraint.reward("{'a': 7").repair,
        tk.regex("[a-z]{3}").compile(VOCABULARY).repair([97, 98]),
    ):
        twin = again(repair)
        assert twin.certificate.verify()
        worse = dataclasses.replace(twin.certificate, lower_bound=twin.cost + 1)
        assert not worse.verify()
    assert again(constraint.repair("{'a': 7")).value == {"a": 7}


def test_coupled_repairs(nothing_shared: None) -> None:
    pytest.importorskip("scipy")
    repair = tk.regex("(ab)*").repair("aab", at_most={"remove": 0})
    twin = again(repair)
    assert twin == repair
    assert twin.certificate.verify()
    assert dataclasses.asdict(repair)["program"] == dataclasses.asdict(twin.program)


def test_derivations_may_nest_deep() -> None:
    found = tk.grammar('start: start "+" start | "1"').determinism()
    assert str(again(found)) == str(copy.deepcopy(found)) == str(found)
    deep = found.derivations[0]
    for _ in range(5000):
        deep = tk.Derivation("start", "1", (deep, tk.Derivation("", "+", None)))
    assert str(again(deep)) == str(deep)


def test_rewards_of_tokens() -> None:
    found = tk.regex("[0-9]{2}").compile(VOCABULARY).process_rewards([[48, 65], [48, 49]])
    twin = again(found)
    for field in dataclasses.fields(found):
        assert np.array_equal(getattr(twin, field.name), getattr(found, field.name))


def generation(constraint: Any, **fields: Any) -> tk.Generation[Any]:
    return tk.Generation('{"a": 7}', [1, 2], 257, -0.5, "stop", [3], "", 0, tk.Timing(), constraint, **fields)


def test_generations_are_small_and_parse() -> None:
    constraint = tk.json_schema(SCHEMA)
    for given in (constraint, constraint.compile(VOCABULARY)):
        result = generation(given)
        twin = again(result)
        assert twin == result
        assert twin.parse() == result.parse() == {"a": 7}
        assert isinstance(twin.constraint, tk.JsonConstraint)
        assert len(pickle.dumps(result)) < 1000
        assert dataclasses.asdict(result)["text"] == '{"a": 7}'
    with pytest.raises(tk.NoValuesError):
        again(generation(None)).parse()


# ---- errors ------------------------------------------------------------------------------------

ERRORS: dict[str, tuple[Any, ...]] = {
    "ArgumentError": ("text", "7", "a str", "write it"),
    "BudgetError": (3, 7),
    "BusyError": ("ab",),
    "CompiledFileError": ("x.tokamata", "it is damaged", "save it again"),
    "ContextError": (3,),
    "EmptyConstraintError": ("no text", ("/a", "/b")),
    "EndlessStackError": (("a", "b"), True),
    "ForkError": ("ab",),
    "GrammarError": ("start: a\nb", 9, "no rule", "define it"),
    "LengthError": ("a", 5),
    "TooManyTextsError": ("a", 1 << 70, 5, "ask for fewer"),
    "LimitExceeded": ("states", 5, "ab", 1, False),
    "MachineFileError": (3, "x" * 90, "a state"),
    "MissingExtraError": ("lark", "lark", "a grammar"),
    "NoRepairError": ({"remove": 0}, 7),
    "NoValuesError": (),
    "NoncanonicalError": ("a", True),
    "NondeterministicError": (3, "a", (("b",), ("c", "d"))),
    "NotSubsequentialError": ((1,), ((2,), (3,)), (), ((), ()), "two outputs"),
    "NotRegularError": ("a", 0, "no", "hint"),
    "ParseError": ("byte 3", "wrong"),
    "PatternError": ("a(", 1, "open", "close it"),
    "PatternSyntaxError": ("a(", 1, "open"),
    "OverlappingSpansError": ((0, 2), (1, 3)),
    "PicklingError": ("a Matcher", "fork it"),
    "NoTokenError": ("banned", "every token is banned", 3, "abc"),
    "RefusedError": ("too small", SimpleNamespace(text="12"), ("a refusal",)),
    "RepairRefusedError": (tk.json().repair("[1, 2 //x"), {"lost": (1, 0)}),
    "SamplingStopped": ("the work was cancelled", "call it again", (1, 2)),
    "SchemaError": ("/a", "type", "7", "a string"),
    "SchemaWarning": ("/a", "minLenght", "minLength", "a slip", 2),
    "SeamError": (("a", "b"), guard.Verdict("they are alike", "not settled", reason="a limit was met")),
    "TemplateError": (3, "it has no end", "add it"),
    "TokenizerMismatchError": ("tokenizers 1", "ab", 0, (3,), (1, 2), "it cuts the text"),
    "TokenizerMismatchWarning": ("tokenizers 1", "it cuts the text", "all tokens are admitted"),
    "UnigramModelError": (3, "its text is empty", "leave it out"),
    "UnknownPropertyError": ("no such property",),
    "UnknownTokenError": ("<x>", "none", ("<y>",)),
    "UnsupportedPatternError": ("a", 0, "no"),
    "UnsupportedSchemaError": ("/a", "format", "unknown"),
    "UnsupportedTokenizerError": ("model", "unknown"),
    "UnsupportedTypeError": ("int", "A.b", "no"),
}
ALL_ERRORS = {
    name: value
    for name, value in vars(errors).items()
    if isinstance(value, type) and issubclass(value, Exception)
}


@pytest.mark.parametrize("name", ALL_ERRORS)
def test_errors_keep_their_facts(name: str) -> None:
    kind = ALL_ERRORS[name]
    if "__init__" in vars(kind):
        assert name in ERRORS, "give arguments of this class"
    error = kind(*ERRORS.get(name, ("a message",)))
    error.note = "of the caller"
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        for twin in (again(error, protocol), copy.copy(error), copy.deepcopy(error)):
            assert type(twin) is kind
            assert (str(twin), vars(twin), twin.args) == (str(error), vars(error), error.args)


def test_pickles_of_errors_do_not_name_files() -> None:
    assert {kind.__module__ for kind in ALL_ERRORS.values()} == {"tokamata.errors"}
    kept = b"ctokamata.errors\nParseError\n(Vbyte 3\nVwrong\ntR."  # of protocol 0
    error = pickle.loads(kept)
    assert type(error) is errors.ParseError
    assert (error.place, error.reason) == ("byte 3", "wrong")


def test_errors_of_the_engine() -> None:
    limits = tk.Limits(states=3)
    with pytest.raises(tk.LimitExceeded) as caught:
        tk.regex("[a-z]{9}|(ab|cd)*").compile(VOCABULARY, limits=limits).token_automaton()
    assert vars(again(caught.value)) == vars(caught.value)
