"""What errors say to somebody who made a common mistake: each names what to do instead."""

from __future__ import annotations

import dataclasses
import enum
import io
import operator
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, Optional

import pytest

import tokamata as tk
from tests.support.vocabularies import BYTES


class Style(enum.Enum):
    CUBISM = "cubism"


@dataclasses.dataclass
class Painter:
    name: str


@dataclasses.dataclass(frozen=True)
class Point:
    x: int


given: Any = tk  # mistakes are mistakes to a type checker as well
R: Any = tk.regex("a")
SCHEMA: Any = {"type": "string"}
DEFINED = {"$defs": {"N": {"enum": ["a"]}}}
UNSATISFIABLE = {"properties": {"a": {"type": "string", "minLength": 5, "maxLength": 2}}, "required": ["a"]}
BOTH = ("'type' and 'minLength' and 'maxLength' at /properties/a",)
VOCABULARY = tk.Vocabulary.load([*BYTES, None], stop=[256])


def unsatisfiable() -> tk.JsonConstraint[Any]:
    return tk.json_schema({"type": "object", **UNSATISFIABLE})


def generate(constraint: Any, **settings: Any) -> Any:
    return given.generate(None, None, "x", constraint, **settings)


def several(constraint: Any, **settings: Any) -> Any:
    return given.generate(None, None, ["x", "y"], constraint, **settings)


def processor_class() -> Any:
    from tokamata.integrations.transformers import ConstraintLogitsProcessor

    return ConstraintLogitsProcessor


def given_processor(constraint: Any) -> Any:
    return processor_class()(constraint)


def repair_json(**settings: Any) -> Any:
    anything: Any = tk.json()
    return anything.repair("{", **settings)


def feed_after_the_end() -> None:
    stream = tk.json().repair_stream()
    stream.finish()
    stream.feed("}")


COMPILED: Any = R.compile(VOCABULARY)


class Undecorated:
    x: int


@dataclasses.dataclass
class WithoutTypes:
    x = 1


def several_names(*names: str) -> None:
    """A tool whose arguments have no names."""


def weather(city: str) -> None:
    """A tool."""


MISTAKES: dict[str, tuple[Callable[[], Any], type[Exception], tuple[str, ...]]] = {
    # An object in place of its class, and what is no type at all.
    "type(object)": (lambda: given.type(Painter("a")), tk.UnsupportedTypeError, ("pass the class Painter",)),
    "type(frozen)": (lambda: given.type(Point(1)), tk.UnsupportedTypeError, ("pass the class Point",)),
    "type(member)": (lambda: given.type(Style.CUBISM), tk.UnsupportedTypeError, ("pass the class Style",)),
    "type(int)": (lambda: given.type(5), tk.UnsupportedTypeError, ("pass the class int",)),
    "type(inner)": (lambda: given.type(list[Painter("a")]), tk.UnsupportedTypeError, ("the class Painter",)),
    "type(list)": (lambda: given.type([int]), tk.UnsupportedTypeError, ("list[int]", "tokamata.choice")),
    "type(dict)": (
        lambda: given.type({"type": "object"}),
        tk.UnsupportedTypeError,
        ("tokamata.json_schema",),
    ),
    # What means no constraint by itself.
    "generate(object)": (lambda: generate(Painter("a")), tk.ArgumentError, ("tokamata.type(Painter)",)),
    "generate(member)": (lambda: generate(Style.CUBISM), tk.ArgumentError, ("tokamata.type(Style)",)),
    "generate(bool)": (lambda: generate(True), tk.ArgumentError, ("tokamata.json_schema",)),
    "generate(str)": (lambda: generate("a+"), tk.ArgumentError, ("tokamata.regex", "tokamata.literal")),
    "generate(re)": (lambda: generate(re.compile("a")), tk.ArgumentError, ("tokamata.regex",)),
    "generate(path)": (lambda: generate(Path("a.lark")), tk.ArgumentError, ("tokamata.grammar(path)",)),
    "generate(function)": (lambda: generate(print), tk.ArgumentError, ("tokamata.type(…)",)),
    "generate(list)": (lambda: generate(["a", "b"]), tk.ArgumentError, ("tokamata.choice(…)",)),
    "generate(response format)": (
        lambda: generate({"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA}}),
        tk.ArgumentError,
        ("tokamata.response_format(…)",),
    ),
    "generate(tool)": (
        lambda: generate({"type": "function", "function": {"name": "f"}}),
        tk.ArgumentError,
        ("tokamata.tool_calls([…])",),
    ),
    "generate(tools)": (
        lambda: generate([{"type": "function", "function": {"name": "f"}}]),
        tk.ArgumentError,
        ("tokamata.tool_calls(…)",),
    ),
    "generate(set)": (lambda: generate({"a", "b"}), tk.ArgumentError, ("tokamata.choice(…)",)),
    "generate(tuple)": (lambda: generate(("a", "b")), tk.ArgumentError, ("tokamata.choice(…)",)),
    "generate(several, list)": (
        lambda: several(["a", "b"]),
        tk.ArgumentError,
        ("one for each of the 2 prompts", "tokamata.choice(…)"),
    ),
    "generate(several, set)": (
        lambda: several({"a", "b"}),
        tk.ArgumentError,
        ("one for each of the 2 prompts", "tokamata.choice(…)"),
    ),
    "generate(several, str)": (lambda: several("a"), tk.ArgumentError, ("tokamata.literal",)),
    "generate(several, one bad)": (lambda: several([R, "a"]), tk.ArgumentError, ("constraint 1: ",)),
    "generate(several, bad type)": (
        lambda: several([R, dict[str, bytes | re.Pattern[str]]]),
        tk.UnsupportedTypeError,
        ("constraint 1: ",),
    ),
    "generate(several, bad schema)": (
        lambda: several([{"type": "strnig"}, R]),
        tk.SchemaError,
        ("constraint 0: ",),
    ),
    "generate(several, too few)": (
        lambda: several([R]),
        tk.ArgumentError,
        ("one for each of the 2 prompts", "a list of 1"),
    ),
    "sample(str)": (lambda: given.sample(None, None, "x", "a", 2), tk.ArgumentError, ("tokamata.literal",)),
    "beam_search(str)": (
        lambda: given.beam_search(None, None, "x", "a"),
        tk.ArgumentError,
        ("tokamata.literal",),
    ),
    "probabilities(list)": (
        lambda: given.probabilities(None, None, "x", ["a"]),
        tk.ArgumentError,
        ("tokamata.choice",),
    ),
    "think_first(str)": (lambda: given.think_first("a"), tk.ArgumentError, ("tokamata.literal",)),
    "tag(str)": (lambda: given.tag("<a>", "x", "</a>"), tk.ArgumentError, ("tokamata.literal",)),
    "grammar(constraints)": (
        lambda: given.grammar("start: @a", constraints={"a": "x"}),
        tk.ArgumentError,
        ("constraints['a']", "tokamata.literal"),
    ),
    "ConstraintLogitsProcessor(class)": (
        lambda: given_processor(Style),
        tk.ArgumentError,
        ("tokamata.type(Style), and compile it",),
    ),
    "ConstraintLogitsProcessor(dict)": (
        lambda: given_processor(SCHEMA),
        tk.ArgumentError,
        ("tokamata.json_schema(…)", "compile it"),
    ),
    # Grammars in the other syntax, and paths.
    "grammar(GBNF)": (
        lambda: given.grammar('root ::= "a" b\nb ::= [a-z]'),
        tk.GrammarError,
        ("this is GBNF", "syntax='gbnf'"),
    ),
    "grammar(Lark)": (
        lambda: given.grammar('start: "a" b\nb: /x/', syntax="gbnf"),
        tk.GrammarError,
        ("this is a Lark file", "leave out syntax='gbnf'"),
    ),
    "grammar(path)": (
        lambda: given.grammar("examples/query.lark"),
        tk.GrammarError,
        ("looks like the path", "pathlib.Path('examples/query.lark')"),
    ),
    "json_schema(class)": (lambda: given.json_schema(Painter), tk.ArgumentError, ("tokamata.type(Painter)",)),
    "json_schema(alias)": (lambda: given.json_schema(list[int]), tk.ArgumentError, ("tokamata.type",)),
    "json_schema(path)": (lambda: given.json_schema("schema.json"), tk.SchemaError, ("looks like a path",)),
    "json_schema(folder)": (lambda: given.json_schema("a/b"), tk.SchemaError, ("looks like a path",)),
    "json_schema(yaml)": (lambda: given.json_schema(r"C:\my files\a.yaml"), tk.SchemaError, ("like a path",)),
    "choice(enum)": (lambda: given.choice(Style), tk.ArgumentError, ("tokamata.type(Style)",)),
    "choice(members)": (
        lambda: given.choice(["a", Style.CUBISM]),
        tk.ArgumentError,
        ("option 1", "type(Style)"),
    ),
    "choice(objects)": (
        lambda: given.choice(["a", Painter("b")]),
        tk.ArgumentError,
        ("option 1", "tokamata.type(Painter), with the class"),
    ),
    # Operators, from both sides.
    "str +": (lambda: "b" + R, tk.ArgumentError, ("left-hand side of +", "tokamata.literal")),
    "str |": (lambda: "b" | R, tk.ArgumentError, ("left-hand side of |", "tokamata.literal")),
    "str &": (lambda: "b" & R, tk.ArgumentError, ("left-hand side of &", "tokamata.literal")),
    "str -": (lambda: "b" - R, tk.ArgumentError, ("left-hand side of -", "tokamata.literal")),
    "+ str": (lambda: R + "b", tk.ArgumentError, ("right-hand side of +", "tokamata.literal")),
    "class |": (lambda: Painter | R, tk.ArgumentError, ("left-hand side of |", "tokamata.type(Painter)")),
    "| class": (lambda: R | Painter, tk.ArgumentError, ("right-hand side of |", "tokamata.type(Painter)")),
    "dict |": (lambda: SCHEMA | R, tk.ArgumentError, ("tokamata.json_schema",)),
    "- dict": (lambda: R - SCHEMA, tk.ArgumentError, ("tokamata.json_schema",)),
    "list +": (lambda: operator.add(["a"], R), tk.ArgumentError, ("tokamata.choice",)),
    "separated_by(str)": (lambda: R.separated_by(","), tk.ArgumentError, ("tokamata.literal",)),
    # Settings of other libraries, and misspelt ones.
    "max_tokens": (lambda: generate(R, max_tokens=3), tk.ArgumentError, ("generate()", "max_new_tokens?")),
    "max_length": (lambda: generate(R, max_length=3), tk.ArgumentError, ("generate()", "max_new_tokens?")),
    "temprature": (lambda: generate(R, temprature=1.0), tk.ArgumentError, ("generate()", "temperature?")),
    "topk": (lambda: generate(R, topk=3), tk.ArgumentError, ("did you mean top_k?",)),
    "max_tokens, several": (lambda: several(R, max_tokens=3), tk.ArgumentError, ("max_new_tokens?",)),
    "max_tokens, stream": (
        lambda: given.stream(None, None, "x", R, max_tokens=3),
        tk.ArgumentError,
        ("stream()", "max_new_tokens?"),
    ),
    "max_tokens, sample": (
        lambda: given.sample(None, None, "x", R, 2, max_tokens=3),
        tk.ArgumentError,
        ("sample()", "max_new_tokens?"),
    ),
    "num_beams": (
        lambda: given.beam_search(None, None, "x", R, num_beams=3),
        tk.ArgumentError,
        ("beam_search()", "did you mean beams?"),
    ),
    "max_pases": (
        lambda: given.probabilities(None, None, "x", R, max_forward_pases=3),
        tk.ArgumentError,
        ("probabilities()", "max_forward_passes?"),
    ),
    "response_model": (
        lambda: given.generate(None, None, "x", response_model=Painter),
        tk.ArgumentError,
        ("generate()", "did you mean constraint?"),
    ),
    # What is no option, no type and no text.
    "choice(int)": (lambda: given.choice([1, 2]), tk.ArgumentError, ("option 0", "tokamata.literal('1')")),
    "choice(bool)": (lambda: given.choice([True]), tk.ArgumentError, ("tokamata.type(bool)",)),
    "choice(bytes)": (lambda: given.choice([b"a"]), tk.ArgumentError, ("decode it",)),
    "choice(dict)": (lambda: given.choice({"a": 1}), tk.ArgumentError, ("list(…)", "tokamata.json_schema")),
    "choice(Literal)": (lambda: given.choice(Literal["a"]), tk.ArgumentError, ("tokamata.type(…)",)),
    "literal(list)": (lambda: given.literal(["a"]), tk.ArgumentError, ("tokamata.choice",)),
    "regex(list)": (lambda: given.regex(["a"]), tk.ArgumentError, ("join patterns by |",)),
    "regex(dict)": (lambda: given.regex({}), tk.ArgumentError, ("tokamata.json_schema",)),
    "generate(JSON text)": (
        lambda: generate('{"type": "null"}'),
        tk.ArgumentError,
        ("tokamata.json_schema(…)",),
    ),
    "generate(matcher)": (lambda: generate(COMPILED.matcher()), tk.ArgumentError, ("pass its .compiled",)),
    "generate(types)": (lambda: generate((int, str)), tk.ArgumentError, ("A | B",)),
    "think_first(compiled)": (
        lambda: given.think_first(COMPILED),
        tk.ArgumentError,
        ("pass its .constraint",),
    ),
    "type(tuple)": (lambda: given.type((int, str)), tk.UnsupportedTypeError, ("A | B", "tuple[A, B]")),
    "type(Optional)": (lambda: given.type(Optional), tk.UnsupportedTypeError, ("Optional[int]",)),
    "type(undecorated)": (
        lambda: given.type(Undecorated),
        tk.UnsupportedTypeError,
        ("put @dataclasses.dataclass before the class",),
    ),
    "type(without types)": (
        lambda: given.type(WithoutTypes),
        tk.UnsupportedTypeError,
        ("it has no fields", "x: int = …"),
    ),
    "type(constraint)": (lambda: given.type(R), tk.UnsupportedTypeError, ("it is a constraint already",)),
    "type(complex)": (
        lambda: given.type(complex),
        tk.UnsupportedTypeError,
        ("docs/types.md lists the types",),
    ),
    "type(*names)": (lambda: given.type(several_names), tk.UnsupportedTypeError, ("name all arguments",)),
    # Patterns of other languages.
    "\\h": (lambda: given.regex(r"\h"), tk.PatternSyntaxError, (r"write [ \t] for blanks",)),
    "\\K": (lambda: given.regex(r"a\Kb"), tk.PatternSyntaxError, ("the whole text is matched",)),
    "\\p{Foo}": (lambda: given.regex(r"\p{Foo}"), tk.PatternSyntaxError, (r"such as \p{L}",)),
    "{3,1}": (lambda: given.regex("a{3,1}"), tk.PatternSyntaxError, ("write {1,3}",)),
    "START": (lambda: given.grammar('START: "x"'), tk.GrammarError, ("in lower case: write start",)),
    "@nmae": (
        lambda: given.grammar("start: @nmae", constraints={"name": R}),
        tk.GrammarError,
        ("constraints={'nmae': …}", "or is it @name?"),
    ),
    # Tools, tags and repairs.
    "tools(format)": (
        lambda: given.tool_calls([weather], format="qwen3coder"),
        tk.ArgumentError,
        ('did you mean "qwen3_coder"?',),
    ),
    "tool_choice: name": (
        lambda: given.tool_calls([weather], tool_choice="weather"),
        tk.ArgumentError,
        ('write {"type": "function", "function": {"name": "weather"}}',),
    ),
    "tool_choice: none": (
        lambda: given.tool_calls([weather], tool_choice="none"),
        tk.ArgumentError,
        ("leave out the tools",),
    ),
    "tool_choice: any": (
        lambda: given.tool_calls([weather], tool_choice="any"),
        tk.ArgumentError,
        ('write "required"',),
    ),
    "tool_choice: unknown": (
        lambda: given.tool_calls([weather], tool_choice={"type": "function", "function": {"name": "wether"}}),
        tk.ArgumentError,
        ("the tools are: weather",),
    ),
    "trigger": (
        lambda: given.triggered([tk.tag("<a>", None, "</a>")], triggers=["<b"]),
        tk.ArgumentError,
        ("exactly one of the triggers", "leave out triggers="),
    ),
    "strict=True": (lambda: repair_json(strict=True), tk.ArgumentError, ("strict=tokamata.RepairBounds()",)),
    "at_most: delete": (
        lambda: repair_json(at_most={"delete": 1}),
        tk.ArgumentError,
        ("did you mean remove?",),
    ),
    "at_most: unknown": (
        lambda: repair_json(at_most={"x": 1}),
        tk.ArgumentError,
        ("insert, remove, replace",),
    ),
    "feed after finish": (lambda: feed_after_the_end(), tk.ArgumentError, ("make another one",)),
    "sum": (lambda: sum([R, R]), tk.ArgumentError, ("functools.reduce(operator.add",)),
    "*": (lambda: R * 3, tk.ArgumentError, ("constraint.repeat(3, 3)",)),
    "parse(fence)": (
        lambda: tk.json().parse("```json\n{}\n```"),
        tk.ParseError,
        ("repair(text) reads JSON within a fence",),
    ),
    # Sources of vocabularies.
    "load(name)": (
        lambda: given.Vocabulary.load("meta-llama/Llama-3.1-8B"),
        tk.VocabularyError,
        ("a name on the Hub", "AutoTokenizer.from_pretrained"),
    ),
    "load(class)": (lambda: given.Vocabulary.load(Painter), tk.VocabularyError, ("the class Painter",)),
    # Schemas: what was meant by a value, and where a schema is.
    "type: str": (lambda: given.json_schema({"type": "str"}), tk.SchemaError, ('write "string"',)),
    "type: int": (lambda: given.json_schema({"type": int}), tk.SchemaError, ('write "integer"',)),
    "type: STRING": (lambda: given.json_schema({"type": "STRING"}), tk.SchemaError, ('write "string"',)),
    "type: any": (lambda: given.json_schema({"type": "any"}), tk.SchemaError, ("leave the keyword out",)),
    "type: json_schema": (
        lambda: given.json_schema({"type": "json_schema", "json_schema": {}}),
        tk.SchemaError,
        ("tokamata.response_format",),
    ),
    "type: function": (
        lambda: given.json_schema({"type": "function", "function": {}}),
        tk.SchemaError,
        ("tokamata.tool_calls",),
    ),
    "properties: name": (
        lambda: given.json_schema({"properties": {"a": "string"}}),
        tk.SchemaError,
        ("/properties/a", 'write {"type": "string"}'),
    ),
    "properties: class": (
        lambda: given.json_schema({"properties": {"a": float}}),
        tk.SchemaError,
        ("/properties/a", 'write {"type": "number"}'),
    ),
    "properties: required": (
        lambda: given.json_schema({"properties": {"a": {}, "required": ["a"]}}),
        tk.SchemaError,
        ("stands beside 'properties'",),
    ),
    "required: text": (lambda: given.json_schema({"required": "a"}), tk.SchemaError, ('write ["a"]',)),
    "enum: set": (lambda: given.json_schema({"enum": {"a"}}), tk.SchemaError, ("write a list",)),
    "enum: Enum": (lambda: given.json_schema({"enum": Style}), tk.SchemaError, ("tokamata.type(Style)",)),
    "minimum: text": (lambda: given.json_schema({"minimum": "3"}), tk.SchemaError, ("a number; write 3",)),
    "schema: object": (
        lambda: given.json_schema(Painter("a")),
        tk.ArgumentError,
        ("tokamata.type(Painter)",),
    ),
    "schema: method": (lambda: given.json_schema("".upper), tk.ArgumentError, ("call it",)),
    "schema: file": (lambda: given.json_schema(io.StringIO("{}")), tk.ArgumentError, ("pass its .read()",)),
    "schema: address": (
        lambda: given.json_schema("https://example.org/a.json"),
        tk.SchemaError,
        ("nothing is fetched",),
    ),
    "schema: repr": (
        lambda: given.json_schema("{'type': 'null'}"),
        tk.SchemaError,
        ("pass the dict itself",),
    ),
    "schema: cut off": (
        lambda: given.json_schema('{"type": "nu'),
        tk.SchemaError,
        ("check that the text is whole",),
    ),
    "schema: empty": (lambda: given.json_schema(""), tk.SchemaError, ("not an empty text",)),
    # Which keywords leave no value, wherever that is found.
    "empty, compile": (lambda: unsatisfiable().compile(VOCABULARY), tk.EmptyConstraintError, BOTH),
    "empty, repair": (lambda: unsatisfiable().repair("x"), tk.EmptyConstraintError, BOTH),
    "empty, repairs": (lambda: list(unsatisfiable().repairs("x")), tk.EmptyConstraintError, BOTH),
    "empty, reward": (lambda: unsatisfiable().reward("x"), tk.EmptyConstraintError, BOTH),
    "empty, at_most": (
        lambda: unsatisfiable().repair("x", at_most={"remove": 0}),
        tk.EmptyConstraintError,
        BOTH,
    ),
    "empty, distinct": (
        lambda: list(unsatisfiable().repairs("x", distinct=True)),
        tk.EmptyConstraintError,
        BOTH,
    ),
    # What a refused repair has lost, where, and where to read it.
    "strict": (
        lambda: tk.json().repair("[1 /* one */ ]", strict=tk.RepairBounds()),
        tk.RepairRefusedError,
        ("lost 1 (at most 0)", "b'one'", "at byte 6", ".repair of this error", "tk.RepairBounds"),
    ),
    "empty, operands": (
        lambda: (R & tk.regex("b")).repair("x"),
        tk.EmptyConstraintError,
        ("tokamata.regex('a') and tokamata.regex('b')",),
    ),
    # Patterns in schemas show where they are wrong.
    "pattern": (
        lambda: given.json_schema({"pattern": r"^(?P<y>\d{4})$"}),
        tk.UnsupportedSchemaError,
        ("position 1 of the pattern\n    ^(?P<y>\\d{4})$\n     ^\n", "(?<name>…)"),
    ),
    "patternProperties": (
        lambda: given.json_schema({"patternProperties": {r"^(?P<y>\d)$": {"type": "null"}}}),
        tk.UnsupportedSchemaError,
        ("\n    ^(?P<y>\\d)$\n     ^\n", "(?<name>…)"),
    ),
    # References without the "#", or into another document's folder.
    "$ref, no #": (
        lambda: given.json_schema({"$ref": "/$defs/N", **DEFINED}),
        tk.SchemaError,
        ("#/$defs/N",),
    ),
    "$ref, no #/": (
        lambda: given.json_schema({"$ref": "$defs/N", **DEFINED}),
        tk.SchemaError,
        ("#/$defs/N",),
    ),
    "$ref, name": (lambda: given.json_schema({"$ref": "N", **DEFINED}), tk.SchemaError, ("write #/$defs/N",)),
    "$ref, OpenAPI": (
        lambda: given.json_schema({"$ref": "#/components/schemas/N", **DEFINED}),
        tk.SchemaError,
        ("write #/$defs/N",),
    ),
    "$ref, definitions": (
        lambda: given.json_schema({"$ref": "#/definitions/N", **DEFINED}),
        tk.SchemaError,
        ("write #/$defs/N",),
    ),
    # Keywords of earlier drafts.
    "exclusiveMinimum": (
        lambda: given.json_schema({"minimum": 0, "exclusiveMinimum": True}),
        tk.SchemaError,
        ("draft 4", '"$schema": "http://json-schema.org/draft-04/schema#"'),
    ),
    "required": (
        lambda: given.json_schema({"properties": {"a": {"required": True}}}),
        tk.SchemaError,
        ("/properties/a", "in the object's schema"),
    ),
    "items": (lambda: given.json_schema({"items": [{}]}), tk.SchemaError, ("prefixItems",)),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_what_is_said(mistake: str) -> None:
    call, kind, wanted = MISTAKES[mistake]
    with pytest.raises(kind) as caught:
        call()
    assert isinstance(caught.value, tk.TokamataError)
    for words in wanted:
        assert words in str(caught.value)


def test_an_argument_that_has_no_counterpart_gets_no_advice() -> None:
    for call in (
        lambda: given.probabilities(None, None, "x", R, max_tokens=3),
        lambda: given.generate(None, None, "x", R, wibble=3),
        lambda: generate(Optional),
    ):
        with pytest.raises(tk.ArgumentError) as caught:
            call()
        assert caught.value.hint == ""


def test_a_file_of_git_lfs_and_an_empty_one(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\n")
    (tmp_path / "empty.json").touch()
    with pytest.raises(tk.VocabularyError, match="git lfs pull"):
        tk.Vocabulary.load(tmp_path)
    with pytest.raises(tk.VocabularyError, match="the file is empty"):
        tk.Vocabulary.load(tmp_path / "empty.json")


def test_a_folder_that_does_not_exist_is_named_without_the_unfinished_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="the folder does not exist; make it first") as caught:
        COMPILED.save(tmp_path / "missing" / "a.compiled")
    assert caught.value.filename == str(tmp_path / "missing")


def test_a_posix_class_is_no_class_of_letters_in_python() -> None:
    with pytest.warns(FutureWarning, match="no class of letters") as caught:
        assert not tk.regex("[[:alpha:]]+").accepts("Paul")
    assert caught[0].filename == __file__


ATTRIBUTES: dict[str, tuple[Callable[[], Any], str]] = {
    "matcher": (lambda: R.matcher, "constraint.compile(vocabulary).matcher(…)"),
    "mask": (lambda: R.mask, "constraint.compile(vocabulary).matcher().mask"),
    "save": (lambda: R.save, "constraint.compile(vocabulary).save(…)"),
    "fullmatch": (lambda: R.fullmatch, "accepts(text)"),
    "compile": (lambda: COMPILED.compile, "it is compiled; call matcher()"),
    "accepts": (lambda: COMPILED.accepts, "compiled.constraint.accepts(…)"),
    "advance": (lambda: COMPILED.advance, "compiled.matcher().advance"),
    "captured": (lambda: tk.think_first(SCHEMA).parse('</think>"a"').value, "there are reasoning, answer"),
}


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_attributes_that_something_else_has(name: str) -> None:
    with pytest.raises(AttributeError) as caught:
        ATTRIBUTES[name][0]()
    assert ATTRIBUTES[name][1] in str(caught.value)


def test_other_attributes_get_no_advice() -> None:
    for owner in (R, COMPILED):
        with pytest.raises(AttributeError, match=r"has no attribute 'wibble'$"):
            owner.wibble  # noqa: B018
        assert not hasattr(owner, "__wibble__")


def test_a_reference_without_a_near_definition_gets_no_advice() -> None:
    for reference in ("https://example.org/N", "M", "#/$defs/M", "other.json#/$defs/N"):
        with pytest.raises(tk.SchemaError) as caught:
            tk.json_schema({"$ref": reference, **DEFINED})
        assert "write #" not in str(caught.value)


def test_a_field_of_pydantic_that_no_schema_describes() -> None:
    pydantic = pytest.importorskip("pydantic", reason="pydantic is an extra")
    text = pydantic.Json[list[int]]
    inner = pydantic.create_model("Inner", j=(text, ...))
    plain = pydantic.create_model("Plain", a=(int, ...), j=(text, ...))
    outer = pydantic.create_model("Outer", a=(int, ...), inner=(list[inner], ...))
    assert place_of(plain) == "Plain.j"
    assert place_of(outer).endswith("Inner.j")
    assert (
        place_of(pydantic.dataclasses.dataclass(dataclasses.make_dataclass("Data", [("k", text)])))
        == "Data.k"
    )


def place_of(given: Any) -> str:
    with pytest.raises(tk.UnsupportedTypeError) as caught:
        tk.type(given)
    assert caught.value.place in str(caught.value)
    return caught.value.place


def refusal(constraint: tk.Constraint[Any], text: str) -> tk.Explanation:
    """Why the first byte of a text that is refused is refused."""
    matcher = constraint.compile(VOCABULARY).matcher()
    for byte in text.encode():
        if not matcher.advance(byte):
            return matcher.explain(byte)
    raise AssertionError("the text is accepted")


WEATHER = {
    "properties": {"outlook": {"type": "string"}, "temp": {"type": "number"}, "tag": {"type": "null"}},
    "required": ["outlook", "temp"],
}
LATE = (
    '"outlook" is required and stands before names that begin with "t": write it first; property_order="any"'
)
CLOSED = {**WEATHER, "additionalProperties": False}
TWICE = '"outlook" was written before'


@pytest.mark.parametrize(
    ("schema", "text", "hint"),
    [
        (WEATHER, '{"temp": 1.5, "outlook": "x"}', LATE),
        (WEATHER, '{"x": 1}', LATE.replace('"t"', '"x"')),
        (WEATHER, '{"outlook": "x", "x": 1}', LATE.replace('"t"', '"x"').replace("outlook", "temp")),
        (WEATHER, '{"outlook": "x", "tag": null}', LATE.replace('"t"', '"ta"').replace("outlook", "temp")),
        (WEATHER, '{"out": 1}', LATE.replace('names that begin with "t"', '"out"')),
        ({"items": WEATHER}, '[{"outlook": "", "temp": 1}, {"temp": 1.5}]', LATE),
        ({"properties": {"w": WEATHER}}, '{"w": {"temp": 1}}', LATE),
        (WEATHER, '{"outlook": 1}', ""),
        (WEATHER, '{"outlook": "x", "outlook": 1}', TWICE),
        (CLOSED, '{"outlook": "x", "outlook": 1}', TWICE),
        (CLOSED, '{"outlook": "x", "temp": 1, "outlook": 1}', TWICE),
        (CLOSED, '{"outlook": "x", "temp": 1, "q": 1}', ""),
        (CLOSED, '{"outlook" 1', ""),
    ],
)
def test_names_that_are_refused(schema: dict[str, Any], text: str, hint: str) -> None:
    for order in ("schema", "any"):
        constraint = tk.json_schema({"type": ["object", "array"], **schema}, property_order=order)
        try:
            found = refusal(constraint, text)
        except AssertionError:
            assert order == "any"
            continue
        assert found.hint.startswith(hint if order == "schema" or hint == TWICE else "")
        assert bool(found.hint) == bool(hint and (order == "schema" or hint == TWICE))
        assert found.hint in str(found)
