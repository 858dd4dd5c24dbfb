"""``generate`` and ``mask`` with JSON Schema and Python types, with a small model in a folder."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.support.paths import ROOT
from tokamata.cli.app import app

MODULE = """
from __future__ import annotations
import dataclasses, enum
class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"
@dataclasses.dataclass
class Thing:
    color: Color
    flags: tuple[bool, bool]
    within: Thing | None = None
@dataclasses.dataclass
class Flat:
    color: Color
    flags: tuple[bool, bool]
@dataclasses.dataclass
class Never:
    flag: bool
    def __post_init__(self) -> None:
        raise ValueError("never right")
class Outer:
    Inner = Flat
def broken(*rest): ...
"""
EXAMPLES = ROOT / "examples"
SCHEMA = '{"type": "object", "properties": {"on": {"type": "boolean"}}, "additionalProperties": false}'


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plain_terminal: None) -> Path:
    """A folder with a module of types."""
    (tmp_path / "things_of_cli.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "schema.json").write_text(SCHEMA, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "things_of_cli", raising=False)
    return tmp_path


def call(*arguments: str | Path, columns: int = 160) -> Result:
    command = ["generate", "--prompt", "x", *map(str, arguments)]
    return CliRunner().invoke(app, command, env={"COLUMNS": str(columns)})


@pytest.mark.parametrize("schema", ["schema.json", SCHEMA])
def test_schema(model_folder: Path, schema: str) -> None:
    result = call("--schema", schema, "--model", model_folder, "--seed", "1")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout).get("on") in (True, False, None)


def test_styles(model_folder: Path) -> None:
    styles = ("--whitespace", "compact", "--order", "any", "--spelling", "plain")
    result = call("--schema", SCHEMA, "-m", model_folder, *styles, "--seed", "1")
    assert " " not in result.stdout
    assert result.stdout.strip() in ("{}", '{"on":true}', '{"on":false}')


@pytest.mark.parametrize(
    "name", ["things_of_cli:Thing", "things_of_cli.py:Thing", "things_of_cli:Outer.Inner"]
)
def test_type(model_folder: Path, name: str) -> None:
    result = call("--type", name, "-m", model_folder, "--seed", "1", "--max-new-tokens", "200")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["color"] in ("red", "blue")
    assert "color=<Color." in result.stderr


def test_type_in_python_syntax(model_folder: Path) -> None:
    result = call("--type", "things_of_cli:Flat", "--syntax", "python", "-m", model_folder, "--seed", "1")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("Flat(color=Color.")
    assert "Flat(" in result.stderr


def test_compare(model_folder: Path) -> None:
    result = call(
        "--type",
        "things_of_cli:Flat",
        "-m",
        model_folder,
        "--seed",
        "1",
        "--compare",
        "--max-new-tokens",
        "80",
    )
    assert result.exit_code == 0, result.output
    assert "without the type" in result.stdout
    assert "with the type" in result.stdout
    assert "Flat(" in result.stderr


def test_validators_that_refuse(model_folder: Path) -> None:
    result = call("--type", "things_of_cli:Never", "-m", model_folder, "--seed", "1")
    assert result.exit_code == 1
    assert "never right" in result.stderr
    assert "Traceback" not in result.output
    as_json = call("--type", "things_of_cli:Never", "-m", model_folder, "--seed", "1", "--json")
    assert as_json.exit_code == 1
    found = json.loads(as_json.stdout)
    assert (found["matches"], found["refused"]) == (True, "ValueError: never right")


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("sum.lark", 'start: N ("+" N)*\nN: /[0-9]{1,3}/\n%ignore " "'),
        ("sum.gbnf", 'root ::= n ("+" n)*\nn ::= [0-9]{1,3}'),
    ],
)
def test_grammar(model_folder: Path, here: Path, name: str, source: str) -> None:
    (here / name).write_text(source, encoding="utf-8")
    result = call("--grammar", name, "-m", model_folder, "--seed", "1", "--max-new-tokens", "12")
    assert result.exit_code == 0, result.output
    assert re.fullmatch(r"\s*\d{1,3}(\s*\+\s*\d{1,3})*\s*", result.stdout)
    shown = mask("--grammar", name, "--text", "1+", "-v", model_folder)
    assert shown.exit_code == 0, shown.output
    assert mask("--grammar", name, "--text", "+", "-v", model_folder).exit_code == 1


def test_a_grammar_with_a_lexer(model_folder: Path, here: Path) -> None:
    (here / "if.lark").write_text('start: "if" NAME\nNAME: /[a-z]+/\n%ignore " "', encoding="utf-8")
    arguments = ("--grammar", "if.lark", "--text", "ifx", "-v", model_folder)
    assert mask(*arguments).exit_code == 0
    assert mask(*arguments, "--lexer", "basic").exit_code == 1


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ((), "give one of --regex, --schema, --type and --grammar: the constraint"),
        (("--grammar", "nowhere.lark"), "cannot be read"),
        (("--grammar", "schema.json"), "at line 1, column 1"),
        (("--regex", "a", "--lexer", "basic"), "goes with --grammar"),
        (("--grammar", "a.lark", "--order", "any"), "how JSON is written"),
        (("--regex", "a", "--schema", "true"), "not both --regex and --schema"),
        (("--schema", "nowhere.json"), "cannot be read"),
        (("--schema", '{"type": 3}'), "the keyword 'type'"),
        (
            ("--schema", "things_of_cli.py"),
            "--schema 'things_of_cli.py': in the schema",
        ),
        (("--type", "Thing"), "module:Class"),
        (("--type", "no_module_of_this_name:Thing"), "cannot be imported"),
        (("--type", "nowhere.py:Thing"), "no file"),
        (("--type", "things_of_cli:Nothing"), "has no 'Nothing'"),
        (("--type", "things_of_cli:Thng"), "did you mean 'Thing'?"),
        (("--type", "things_of_cli.Thing"), "perhaps 'things_of_cli:Thing'"),
        (("--type", "things_of_cli:broken"), "keyword"),
        (("--type", "things_of_cli:Flat", "--syntax", "python", "--order", "any"), "how JSON is written"),
        (("--regex", "a", "--spelling", "any"), "how JSON is written"),
        (("--regex", "a", "--syntax", "json"), "goes with --type"),
        (("--schema", "true", "--order", "some"), "some"),
    ],
)
def test_wrong_options(arguments: tuple[str, ...], what: str) -> None:
    """Both commands name them before a model is loaded."""
    for result in (call(*arguments, "--model", "/nowhere"), mask(*arguments, "--vocabulary", "/nowhere")):
        assert result.exit_code == 2
        assert what in result.stderr
        assert "Traceback" not in result.output


def mask(*arguments: str | Path, columns: int = 160) -> Result:
    return CliRunner().invoke(app, ["mask", *map(str, arguments)], env={"COLUMNS": str(columns)})


@pytest.mark.parametrize(
    ("options", "what", "good", "bad"),
    [
        (("--schema", "schema.json"), "schema", '{"on": true}', '{"off'),
        (("--schema", SCHEMA, "--whitespace", "compact"), "schema", '{"on":true}', '{"on": '),
        (("--type", "things_of_cli:Flat"), "type", '{"color": "red", "flags": [true, true]}', '{"flags'),
        (("--type", "things_of_cli:Flat", "--order", "any"), "type", '{"flags": [true', '{"other'),
        (("--type", "things_of_cli:Color", "--syntax", "python"), "type", "Color.BLUE", "'blue'"),
        (("--schema", '{"const": "é"}', "--spelling", "any"), "schema", '"\\u00e9"', '"\\u00ea"'),
    ],
)
def test_mask(model_folder: Path, options: tuple[str, ...], what: str, good: str, bad: str) -> None:
    """Whatever ``generate`` is held to, ``mask`` shows."""
    taken = mask(*options, "--text", good, "--vocabulary", model_folder)
    assert taken.exit_code == 0, taken.output
    assert taken.stdout.startswith(what)
    assert options[1] in taken.stdout
    assert "allowed next" in taken.stdout
    refused = mask(*options, "--text", bad, "--vocabulary", model_folder)
    assert refused.exit_code == 1, refused.output
    assert "refused at token" in refused.stdout


@pytest.mark.parametrize("command", ["generate", "mask"])
def test_help_names_them_all(command: str) -> None:
    result = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "120"})
    for option in ("--schema", "--type", "--syntax", "--order", "--whitespace", "--spelling"):
        assert option in result.stdout


@pytest.mark.parametrize(
    ("option", "name", "shown"),
    [("--schema", "person.json", "languages"), ("--type", "painter.py:Painter", "Painter(")],
)
def test_the_examples_that_the_demo_runs(model_folder: Path, option: str, name: str, shown: str) -> None:
    example = f"{EXAMPLES / name}"
    result = call(option, example, "-m", model_folder, "--seed", "1", "--compare", "--max-new-tokens", "200")
    assert result.exit_code == 0, result.output
    assert shown in result.output
