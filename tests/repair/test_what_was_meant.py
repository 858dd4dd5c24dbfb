"""Texts that people have reported, each with the value that a careful reader takes it to mean."""

import json
from typing import Any

import pytest

import tokamata as tk
from tokamata.repair.default_costs import DEFAULT_COSTS


def members(**types: Any) -> dict[str, Any]:
    schemas = {name: {"type": one} if isinstance(one, str) else one for name, one in types.items()}
    return {
        "type": "object",
        "properties": schemas,
        "required": list(schemas),
        "additionalProperties": False,
    }


NULLABLE = {"type": ["string", "null"]}
STRINGS = {"type": "array", "items": {"type": "string"}}
INTEGERS = members(x="integer", y="integer")

ROWS = {"type": "array", "items": members(k="string")}

CASES: list[tuple[str, Any, list[Any]]] = [
    ('{"y": 99.95}', members(y="integer"), [{"y": 99}, {"y": 100}]),
    ('{"y": 3.7}', members(y="integer"), [{"y": 3}, {"y": 4}]),
    ('{"a": 1, "a": 2}', None, [{"a": 2}]),
    ('{"x": "hello", "y": 3, "y": 4}', members(x="string", y="integer"), [{"x": "hello", "y": 4}]),
    ('{"c": "text\n## Sub\n", "n": 1}', None, [{"c": "text\n## Sub\n", "n": 1}]),
    ('{"c": "x = 1\n# note\ny = 2", "n": 1}', None, [{"c": "x = 1\n# note\ny = 2", "n": 1}]),
    ("{'a': (1, 2), 'b': 3}", None, [{"a": [1, 2], "b": 3}]),
    ("{'a': {1, 2}, 'b': None}", None, [{"a": [1, 2], "b": None}]),
    ("{1: 'x', 2: 'y'}", None, [{"1": "x", "2": "y"}]),
    ("{'at': datetime.date(2026, 11, 27)}", None, [{"at": "2026-11-27"}]),
    ('{\\"a\\": \\"b\\"}', None, [{"a": "b"}]),
    ('{"a"：1，"b"：2}', None, [{"a": 1, "b": 2}]),
    ("[−3, ３]", None, [[-3, 3]]),
    ('{"k": "one"} {"k": "two"}', members(k="string"), [{"k": "two"}]),
    ('<think>{"k": 1}</think> So: {"k": "two"}', members(k="string"), [{"k": "two"}]),
    ('See [1] for {more}: {"k": "one"}', members(k="string"), [{"k": "one"}]),
    ("[1, 2, 3]", STRINGS, [["1", "2", "3"]]),
    ("a, b, c", STRINGS, [["a", "b", "c"]]),
    ("- a\n- b", STRINGS, [["a", "b"]]),
    ('{"x": +5, "y": 0x1F}', INTEGERS, [{"x": 5, "y": 31}]),
    ('{"x": 07, "y": 1}', INTEGERS, [{"x": 7, "y": 1}]),
    ('{"t": 12:30}', members(t="string"), [{"t": "12:30"}]),
    ('{"t": ...}', members(t=NULLABLE), [{"t": None}]),
    ('{"n": 1.234,56}', members(n="number"), [{"n": 1234.56}]),
    ('{"t": 5/8}', members(t="string"), [{"t": "5/8"}]),
    ('{"n": 5/8}', members(n="number"), [{"n": 0.625}]),
    ('{"s": """one\ntwo""", "n": 1}', None, [{"s": "one\ntwo", "n": 1}]),
    ("{s: `one`, t: '\\xe9', u: 'it''s'}", None, [{"s": "one", "t": "é", "u": "it's"}]),
    ('{"t": "a watcher"rating": 4}', None, [{"t": "a watcher", "rating": 4}]),
    ("x: hello\ny: 3", members(x="string", y="integer"), [{"x": "hello", "y": 3}]),
    ("<x>hello</x><y>3</y>", members(x="string", y="integer"), [{"x": "hello", "y": 3}]),
    ('f(x="hello", y=3)', members(x="string", y="integer"), [{"x": "hello", "y": 3}]),
    ('{"a": 1}', members(a="integer", b=NULLABLE), [{"a": 1, "b": None}]),
    ('{"a": 1, "b":', members(a="integer", b=NULLABLE), [{"a": 1, "b": None}]),
    ('{"n": 1.5k}', members(n="integer"), [{"n": 1500}]),
    ('{"n": "$2.5 million"}', members(n="number"), [{"n": 2_500_000}]),
    ('{"n": 300 K}', members(n="number"), [{"n": 300}]),  # kelvins
    ('{"n": 3 + 2*4}', members(n="integer"), [{"n": 11}]),
    ('{"n": 3 + 2*4}', members(n="string"), [{"n": "3 + 2*4"}]),
    ('{"n": "8/10"}', members(n="integer"), [{"n": 8}]),
    ('{"n": drei, "m": "Seven"}', members(n="integer", m="number"), [{"n": 3, "m": 7}]),
    ('{"n": "drei", "m": ✗}', members(n="string", m="boolean"), [{"n": "drei", "m": False}]),
    ("[0,5; 1,25; 3]", {"type": "array", "items": {"type": "number"}}, [[0.5, 1.25, 3]]),
    ("[1 2]", None, [[1, 2]]),
    ("[{a: 1} {a: 2}]", None, [[{"a": 1}, {"a": 2}]]),
    ('{"x": "one\\n- two"}', members(x="string"), [{"x": "one\n- two"}]),
    ('["' + "line\n" * 20 + '"]', None, [["line\n" * 20]]),
    ('{"x": "3. FC Köln"}', members(x=STRINGS), [{"x": ["3. FC Köln"]}]),
    ('[{"k": "one"}, {"k": "two"}]', members(rows=ROWS), [{"rows": [{"k": "one"}, {"k": "two"}]}]),
    ('The rows:\n[{"k": "one"}]', members(rows=ROWS), [{"rows": [{"k": "one"}]}]),
    ('{"rows": [{"k": "one"}]}', ROWS, [[{"k": "one"}]]),
    ('{"result": {"k": "one"}}', members(k="string"), [{"k": "one"}]),
    ('{"status": "ok", "data": {"k": "one"}, "took": 3}', members(k="string"), [{"k": "one"}]),
    ('{"k": "one", "data": {"k": "two"}}', members(k="string"), [{"k": "one"}]),
    ("{'x': '- it\\'s\\n- two'}", members(x=STRINGS), [{"x": ["it's", "two"]}]),
    ('{"x": "one; two"}', members(x=STRINGS), [{"x": ["one", "two"]}]),
    ('{"n": "€ 12,50"}', members(n="number"), [{"n": 12.5}]),
    ('{"x": "-"}', members(x={"type": ["number", "null"]}), [{"x": None}]),
    ('{"x": "No, never"}', members(x="boolean"), [{"x": False}]),
    (r'{"p": "C:\Users\new"}', None, [{"p": r"C:\Users\new"}]),
    ("{‘a’: ‘it’s’, ‘b’: 2}", None, [{"a": "it’s", "b": 2}]),
    ("{a: 'x' + 'y'}", None, [{"a": "xy"}]),
    ("{at: new Date('2024-01-05')}", None, [{"at": "2024-01-05"}]),
    ("It is cold.", members(answer="string"), [{"answer": "It is cold."}]),
]


@pytest.mark.parametrize(("broken", "schema", "meant"), CASES)
def test_what_was_meant(broken: str, schema: Any, meant: list[Any]) -> None:
    constraint = tk.json() if schema is None else tk.json_schema(schema)
    repair = constraint.repair(broken)
    assert json.loads(repair.text) in meant
    assert repair.optimal
    assert repair.certificate.flaw() is None


@pytest.mark.parametrize(
    ("broken", "repaired"),
    [
        ('{"a": "caf\\u00e9"', '{"a": "caf\\u00e9"}'),
        ('{"a": "café"', '{"a": "café"}'),
        ('{"a": 1.50, "b": 1e3', '{"a": 1.50, "b": 1e3}'),
    ],
)
def test_of_two_spellings_the_text_keeps_its_own(broken: str, repaired: str) -> None:
    assert tk.json(spelling="any").repair(broken).text == repaired


@pytest.mark.parametrize(
    ("broken", "meant"),
    [
        ("""{'a': {'b' 5.0,}, 'c': 'd'}""", {"a": {"b": 5.0}, "c": "d"}),
        ("""{"a": "x, 'b': 'y', 'c': 1}""", {"a": "x", "b": "y", "c": 1}),
        ("""{a: "x, b: 'y', c: 'z'}""", {"a": "x", "b": "y", "c": "z"}),
        ("""{'a': "x\n  'b': 'y'\n}""", {"a": "x", "b": "y"}),
        ("""{\n a: "x,\n  b: "y",\n c: 1\n}""", {"a": "x", "b": "y", "c": 1}),
        ("""{'a': 'x' b: 'y'}""", {"a": "x", "b": "y"}),
        ("""{'a': 1, "b: 'y', 'c': 'z'}""", {"a": 1, "b": "y", "c": "z"}),
        ("""{"a": 1, "b "y", "c": "z"}""", {"a": 1, "b": "y", "c": "z"}),
        ("""["x,\n  'y'\n]""", ["x", "y"]),
        ("""{'a': 'x'\n```\n\nThat is all.""", {"a": "x"}),
        ("""a: "x", b: 1}""", {"a": "x", "b": 1}),
        ("""a: "x",\nb: 1,\n}""", {"a": "x", "b": 1}),
    ],
)
def test_lost_quotes_colons_and_brackets_beside_other_mistakes(broken: str, meant: Any) -> None:
    assert tk.json().repair(broken).value == meant


def test_modes_say_where_an_edit_may_be_made() -> None:
    """``b`` becomes ``c`` within parentheses alone."""
    modes = (
        tk.EditMode("outside", {"(": "inside"}),
        tk.EditMode("inside", {")": "outside"}),
    )
    costs = tk.EditCosts(
        other=100, modes=modes, rewrites=[tk.Rewrite("c for b", rb"b", b"c", 1, ("inside",))]
    )
    both = tk.regex(r"c\(c\)|b\(c\)")
    assert both.repair("b(b)", costs=costs).cost == 1
    repair = tk.regex(r"c\(c\)").repair("b(b)", costs=costs)
    assert (repair.cost, sorted(edit.name for edit in repair.edits)) == (201, ["c for b", "insert", "remove"])
    assert repair.certificate.verify()


def test_a_rewrite_leads_to_the_mode_that_it_names() -> None:
    """A string that begins with an apostrophe ends with one, and not with a quotation mark."""
    modes = (tk.EditMode("outside"), tk.EditMode("quoted", keep={'"': None}))
    rewrites = [
        tk.Rewrite("open", rb"'", b"<", 1, ("outside",), "quoted"),
        tk.Rewrite("close", rb"'", b">", 1, ("quoted",), "outside"),
        tk.Rewrite("mark", rb'"', b"~", 1, ("quoted",)),
    ]
    costs = tk.EditCosts(other=100, modes=modes, rewrites=rewrites)
    repair = tk.regex(r'(<[^<>]*>|[a-z"])*').repair("""a'b"c'd"e""", costs=costs)
    assert repair.text == 'a<b~c>d"e'
    assert repair.cost == 3
    assert repair.certificate.verify()


def test_a_price_of_keeping_a_byte_is_an_edit() -> None:
    costs = tk.EditCosts(other=100, modes=(tk.EditMode("any", keep={"b": 7}),))
    repair = tk.regex("abc").repair("ab", costs=costs)
    assert [(edit.name, edit.cost) for edit in repair.edits] == [("keep", 7), ("insert", 100)]
    assert repair.certificate.verify()


def test_a_finder_finds_what_no_pattern_finds() -> None:
    def halves(text: bytes, words: object) -> list[tk.FoundRewrite]:
        return [tk.FoundRewrite("drop the first half", 0, len(text) // 2, b"", 1)]

    costs = tk.EditCosts(other=100, finders=(tk.RewriteFinder("halves", halves),))
    repair = tk.regex("bb").repair("aabb", costs=costs)
    assert [(edit.name, edit.removed, edit.cost) for edit in repair.edits] == [
        ("drop the first half", b"aa", 1)
    ]
    assert repair.certificate.verify()


def test_modes_that_do_not_exist_are_refused() -> None:
    one = tk.EditMode("one")
    for make in (
        lambda: tk.EditCosts(modes=(one, one)),
        lambda: tk.EditCosts(modes=(one._replace(after={"a": "two"}),)),
        lambda: tk.EditCosts(modes=(one._replace(keep={"a": -1}),)),
        lambda: tk.EditCosts(modes=(one,), rewrites=[tk.Rewrite("x", b"a", b"b", 1, ("two",))]),
        lambda: tk.EditCosts(modes=(one,), rewrites=[tk.Rewrite("x", b"a", b"b", 1, (), "two")]),
        lambda: tk.EditCosts(modes=(one,), doubts=[tk.Doubt("x", b"a", 1, ("two",))]),
        lambda: tk.EditCosts(modes=[tk.EditMode(str(number)) for number in range(17)]),
    ):
        with pytest.raises(tk.ArgumentError):
            make()
    lost = tk.RewriteFinder("lost", lambda text, words: [tk.FoundRewrite("x", 0, 1, b"", 1, ("two",))])
    with pytest.raises(tk.ArgumentError, match="'lost' in 'two'"):
        tk.regex("b").repair("ab", costs=tk.EditCosts(finders=(lost,)))


def test_each_mode_of_the_default_costs_can_be_left() -> None:
    """From each mode something leads outside of strings: what is inserted, or a rewrite that names it."""
    outside = DEFAULT_COSTS.modes[0].name
    leads = {
        (mode.name, then)
        for mode in DEFAULT_COSTS.modes
        for then in (*mode.after.values(), *mode.inserted.values(), mode.otherwise)
        if then
    }
    leads |= {(name, one.then) for one in DEFAULT_COSTS.rewrites for name in one.within if one.then}
    known = {outside}
    while True:
        more = {source for source, then in leads if then in known} - known
        if not more:
            break
        known |= more
    assert known == {mode.name for mode in DEFAULT_COSTS.modes}
