"""The command line, with a small model in a model_folder, at several widths and without colours."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len
from typer.testing import CliRunner, Result

import tokamata as tk
from tokamata.cli import generate as generate_command
from tokamata.cli.app import app
from tokamata.cli.console import Screen
from tokamata.display.texts import shown_bytes, shown_text

WORDS = r"(one|two|the)( (one|two|the)){2,5}"


pytestmark = pytest.mark.usefixtures("plain_terminal")


def call(*arguments: str | Path, columns: int = 100, **env: str) -> Result:
    return CliRunner().invoke(
        app, [str(argument) for argument in arguments], env={"COLUMNS": str(columns), **env}
    )


def in_colour(*arguments: str | Path, columns: int = 100, **env: str) -> Result:
    """Call as on a terminal with all colours."""
    env = {"FORCE_COLOR": "1", "COLORTERM": "truecolor", "TERM": "xterm-256color", **env}
    return call(*arguments, columns=columns, **env)


def frames(result: Result) -> list[str]:
    """What a display that is drawn again and again shows one after another."""
    return re.split(r"(?:\x1b\[\d*[AK]|\r)+", result.stdout)


def last_frame(result: Result) -> str:
    return frames(result)[-1]


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)


def test_version() -> None:
    result = call("--version")
    assert result.exit_code == 0
    assert result.output == f"tokamata {tk.__version__}\n"


def test_generate_writes_the_text_and_nothing_else_to_standard_output(model_folder: Path) -> None:
    result = call("generate", "--regex", WORDS, "--prompt", "x", "--model", model_folder, "--seed", "1")
    assert result.exit_code == 0, result.output
    assert re.fullmatch(WORDS, result.stdout.removesuffix("\n"))
    assert "log-probability" in result.stderr
    assert "tokens/s" in result.stderr
    assert "loading the weights" in result.stderr
    again = call("generate", "-r", WORDS, "-p", "x", "-m", model_folder, "--seed", "1")
    assert again.stdout == result.stdout


def test_generate_in_colour_shows_token_borders(model_folder: Path) -> None:
    result = in_colour("generate", "-r", "[0-9]{6}", "-p", "x", "-m", model_folder, "--greedy")
    assert result.exit_code == 0, result.output
    backgrounds = re.findall(r"\x1b\[[0-9;]*48;2;(\d+;\d+;\d+)m", last_frame(result))
    assert len(set(backgrounds)) == 2
    assert all(a != b for a, b in itertools.pairwise(backgrounds))
    plain = in_colour("generate", "-r", "[0-9]{6}", "-p", "x", "-m", model_folder, "--greedy", NO_COLOR="1")
    assert "48;2" not in plain.stdout
    assert "\x1b[4m" in plain.stdout  # every second token underlined


def test_generate_says_what_the_model_wanted(model_folder: Path) -> None:
    command = ("generate", "-r", "the one [0-9]{2}", "-p", "x", "-m", model_folder, "--seed", "1")
    result = call(*command, "--why")
    assert result.exit_code == 0, result.output
    plain_result = call(*command)
    assert result.stdout == plain_result.stdout
    assert "wanted" not in plain_result.stderr
    heads, *_ = [line for line in result.stderr.splitlines() if "legal mass" in line]
    assert [cell.strip() for cell in heads.strip("┃").split("┃")] == [
        *("#", "token", "probability", "legal mass", "wanted", "with")
    ]
    rows = [line for line in result.stderr.splitlines() if line.startswith("│")]
    tokens = [row.split("│")[2].strip() for row in rows]
    assert "".join(tokens).replace("␣", " ") == result.stdout.removesuffix("\n")
    assert all("%" in row.split("│")[4] or "e-" in row.split("│")[4] for row in rows)
    jumped = call(*command, "--why", "--jump")
    assert "jumped" in jumped.stderr
    both = call(*command, "--why", "--compare")
    assert both.stderr.count("legal mass") == 1


def test_generate_sampling_options(model_folder: Path) -> None:
    one = ("generate", "-r", WORDS, "-p", "x", "-m", model_folder)
    greedy = call(*one, "--greedy").stdout
    assert greedy == call(*one, "--top-k", "1").stdout == call(*one, "--temperature", "0").stdout
    assert call(*one, "--temperature", "-1").exit_code == 2
    assert call(*one, "--top-k", "0").exit_code == 2


@pytest.mark.parametrize("compare", [(), ("--compare",)])
def test_a_budget_that_is_too_small(model_folder: Path, compare: tuple[str, ...]) -> None:
    """The digits 1234 are a token, so that 500 take 125."""
    command = ("generate", "-r", "[0-9]{500}", "-p", "x", "-m", model_folder, "--max-new-tokens", "3")
    result = call(*command, *compare)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "BudgetError" in result.stderr
    assert "use --max-new-tokens 125 or more" in result.stderr
    assert "Traceback" not in result.output


def test_the_text_is_whole_within_the_budget(model_folder: Path) -> None:
    command = ("generate", "-r", "(one )*the end", "-p", "x", "-m", model_folder)
    for most in (7, 8, 20):
        result = call(*command, "--max-new-tokens", str(most), "--temperature", "9", "--seed", "1")
        assert result.exit_code == 0, result.output
        assert re.fullmatch("(one )*the end", result.stdout.removesuffix("\n"))
        tokens, left = map(int, re.findall(r"(\d+) (?:tokens|left) ", result.stderr)[:2])
        assert left == most - tokens


def test_a_terminal_shows_how_many_tokens_are_left(model_folder: Path) -> None:
    result = in_colour(
        "generate", "-r", "[0-9]{6}", "-p", "a prompt: ", "-m", model_folder, "--max-new-tokens", "9"
    )
    assert result.exit_code == 0, result.output
    shown = [tuple(map(int, pair)) for pair in re.findall(r"(\d+) tokens left, (\d+) needed", result.stdout)]
    assert [left for left, _ in shown] == list(range(8, 8 - len(shown), -1))
    assert all(needed <= left for left, needed in shown)
    assert shown[-1][1] == 0
    final = plain(last_frame(result))
    assert re.fullmatch("a prompt: [0-9]{6}", final.strip())


def test_a_text_longer_than_the_terminal(model_folder: Path) -> None:
    """Its end is shown while it grows, and in the end all of it."""
    result = in_colour("generate", "-r", "a{200}b", "-p", "x", "-m", model_folder, columns=20, LINES="6")
    assert result.exit_code == 0, result.output
    assert max(plain(frame).count("\n") for frame in frames(result)[:-1]) <= 6
    assert re.fullmatch("xa{200}b", "".join(plain(last_frame(result)).split()))


def test_jump_and_heal(model_folder: Path) -> None:
    command = ("generate", "-r", "c the one [0-9]{2}", "-p", "x ab", "-m", model_folder, "--seed", "1")
    result = call(*command, "--jump", "--heal")
    assert result.exit_code == 0, result.output
    assert re.fullmatch("c the one [0-9]{2}\n", result.stdout)
    assert re.search(r"\d+ jumped", result.stderr)
    compared = call(*command, "--jump", "--heal", "--compare")
    assert compared.exit_code == 0, compared.output
    assert "with the pattern ✓" in compared.stdout
    assert "without the pattern ✗" in compared.stdout


@pytest.mark.parametrize("columns", [30, 60, 100, 200])
def test_compare(model_folder: Path, columns: int) -> None:
    result = call(
        "generate", "-r", WORDS, "-p", "x", "-m", model_folder, "--seed", "1", "--compare", columns=columns
    )
    assert result.exit_code == 0, result.output
    assert "without the pattern ✗" in result.stdout
    assert "with the pattern ✓" in result.stdout
    assert max(map(cell_len, result.stdout.splitlines())) <= columns  # combining marks have no width


def test_chat_templates(model_folder: Path, model: Any, tokenizer: Any, tmp_path: Path) -> None:
    refused = call("generate", "-r", "a", "-p", "x", "-m", model_folder, "--chat")
    assert refused.exit_code == 2
    assert "no chat template" in refused.stderr

    from tokamata.cli.loading import chat_tokens

    tokenizer = type(tokenizer).from_pretrained(model_folder)
    tokenizer.chat_template = "{% for m in messages %}<bos>{{ m.content }}<end_of_turn>{% endfor %}"
    assert chat_tokens(tokenizer, "hi", None) == [
        2,
        *tokenizer("hi", add_special_tokens=False)["input_ids"],
        3,
    ]
    assert chat_tokens(tokenizer, "hi", False) == "hi"


@pytest.mark.parametrize("columns", [30, 60, 100, 200])
def test_mask(model_folder: Path, columns: int) -> None:
    result = call("mask", "-r", "(one|two) (1|2)+!?", "-t", "one 12", "-v", model_folder, columns=columns)
    assert result.exit_code == 0, result.output
    assert max(map(len, result.stdout.splitlines())) <= columns
    assert "allowed next" in result.stdout.replace("\n", " ") or columns == 30
    assert "<eos>" in result.stdout
    if columns >= 100:
        rows = [line for line in result.stdout.splitlines() if line.startswith("│") and line.count("│") == 8]
        assert [row.split("│")[2].strip() for row in rows] == ["start", "one", "␣", "12"]
        assert [row.split("│")[4].strip() for row in rows] == ["·", "·", "·", "✓"]


def test_mask_says_why(model_folder: Path) -> None:
    result = call(
        "mask", "-r", "(one|two) [0-9]{3}", "-t", "one 12", "-v", model_folder, "--why", columns=140
    )
    assert "mask by" in result.stdout
    assert "segments made" in result.stdout
    assert re.search(r"│ start .*│ (walk|factors|segments) ", result.stdout)
    assert re.search(r"masks +\d+ by ", result.stdout)


def test_mask_says_how_far_the_end_is(model_folder: Path) -> None:
    command = ("mask", "-r", "one [0-9]{6}", "-v", model_folder)
    assert "in 4 tokens, such as one ␣" in call(*command).stdout
    assert re.search(r"in 1 token, such as (12|34) ", call(*command, "-t", "one 1234").stdout)
    assert "to finish" not in call(*command, "-t", "one 123456").stdout


def test_mask_of_a_refused_text(model_folder: Path) -> None:
    result = call("mask", "-r", "one [0-9]+", "-t", "one twelve", "-v", model_folder)
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    place = next(index for index, line in enumerate(lines) if "one␣tw" in line)
    assert lines[place + 1].index("^") == lines[place].index("tw")
    assert "expected '0'–'9'" in result.stdout
    assert "refused at token 3" in result.stdout


def test_mask_from_a_list_of_tokens_without_a_tokenizer(tmp_path: Path) -> None:
    """No encoder to ask: the text is cut by taking the longest token each time."""
    from tokamata.cli.tokens import encode

    vocabulary = tk.Vocabulary.load([b"a", b"ab", b"abc", b"c", None], stop=[4])
    assert encode(tmp_path / "none.model", vocabulary, "abcabac")[0] == [2, 1, 0, 3]
    with pytest.raises(tk.VocabularyError, match="b'd'"):
        encode(tmp_path / "none.model", vocabulary, "abd")


def test_mask_of_an_empty_text_and_of_a_complete_one(model_folder: Path) -> None:
    assert call("mask", "-r", "ab", "-v", model_folder).exit_code == 0
    result = call("mask", "-r", "ab", "-t", "ab", "-v", model_folder)
    assert "<eos>" in result.stdout


@pytest.mark.parametrize("columns", [24, 40, 100])
@pytest.mark.parametrize("command", [("mask",), ("generate", "-p", "x")])
def test_errors_are_panels_with_the_caret_in_place(command: tuple[str, ...], columns: int) -> None:
    pattern = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa(b"
    result = call(*command, "-r", pattern, columns=columns)
    assert result.exit_code == 2
    assert "Traceback" not in result.output
    assert "PatternSyntaxError" in result.stderr
    lines = result.stderr.splitlines()
    caret = next(index for index, line in enumerate(lines) if "^" in line)
    assert lines[caret - 1][lines[caret].index("^")] == "("


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("generate", "-p", "x", "-m", "/nowhere"), "not a folder"),
        (("mask", "-v", "/nowhere"), "nowhere"),
        (("mask", "-v", __file__), "Vocabulary"),
    ],
)
def test_wrong_paths(arguments: tuple[str, ...], what: str) -> None:
    result = call(*arguments, "-r", "a", columns=200)
    assert result.exit_code == 2
    assert what in result.stderr
    assert "Traceback" not in result.output


def test_an_empty_folder(tmp_path: Path) -> None:
    result = call("generate", "-r", "a", "-p", "x", "-m", tmp_path, columns=200)
    assert result.exit_code == 2
    assert "can load" in result.stderr


def test_whether_a_text_matches_is_asked_of_the_engine() -> None:
    vocabulary = tk.Vocabulary.load([b"a", b"ab", b"b", b"\xc3", b"\xa9", None, None], stop=[6])

    def matches(pattern: str, *tokens: int, healed: str = "") -> bool:
        result = tk.Generation("", list(tokens), None, 0.0, "length", [], healed, 0, tk.Timing())
        return generate_command.matches(result, tk.regex(pattern), vocabulary)

    assert matches("ab|é", 1)
    assert matches("ab|é", 0, 2)
    assert matches("ab|é", 3, 4)
    assert not matches("(?s).", 3)  # half a code point
    assert not matches("(?s).*", 0, 5)  # a control token is no text
    assert matches("b*", 1, 2, healed="a")
    assert not matches("b*", 0, 1, healed="a")


def test_what_is_written_cannot_steer_the_terminal() -> None:
    assert shown_text("a\x1b[2J\n\t\x7f\u202e") == "a␛[2J\n\t␡<U+202E>"
    assert shown_bytes(b" a\n\xf0\x9f\x00") == "␣a␊<F0><9F>␀"


def test_marks_without_unicode(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen()
    monkeypatch.setattr(type(screen.out), "encoding", "cp1252")
    assert [screen.mark(good).plain for good in (True, False)] == ["yes", "no"]


def test_as_a_module() -> None:
    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "tokamata", *arguments], capture_output=True, text=True, check=False
        )

    assert run("--version").stdout == f"tokamata {tk.__version__}\n"
    refused = run("mask", "--regex", "(")
    assert refused.returncode == 2
    assert "PatternSyntaxError" in refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_missing_packages_are_named(missing: str) -> None:
    code = (
        f"import runpy, sys; sys.modules[{missing!r}] = None; "
        "runpy.run_module('tokamata', run_name='__main__', alter_sys=True)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert "pip install 'tokamata[cli]'" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.fixture(scope="session")
def byte_folder(model: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tokenizer with merges, in a folder."""
    from tests.support.models.fakes import byte_level

    folder = tmp_path_factory.mktemp("tokenizer")
    byte_level(["a b", "ab c", "Ġ ab"]).save_pretrained(folder)
    return folder


def test_mask_with_canonical_tokens(byte_folder: Path) -> None:
    command = ("mask", "-r", "[abc]{2}", "-t", "a", "-v", byte_folder)
    anything, own = call(*command), call(*command, "--tokenization", "canonical")
    assert anything.exit_code == own.exit_code == 0
    assert "allowed next: 3 of" in plain(anything.stdout)
    assert "allowed next: 2 of" in plain(own.stdout)  # b would be joined with a
    refused = call("mask", "-r", "x", "-t", "x", "-v", byte_folder, "--tokenization", "never")
    assert refused.exit_code == 2


def test_foreign_tokens_are_told(byte_folder: Path) -> None:
    from tests.support.models.fakes import byte_level, token_id
    from tokamata.cli.tokens import foreign_tokens

    tokenizer = byte_level(["a b", "ab c", "Ġ ab"])
    vocabulary = tk.Vocabulary.load(tokenizer, stop=[0])
    a, b, ab, c = (token_id(tokenizer, piece) for piece in ("a", "b", "ab", "c"))
    assert foreign_tokens(tokenizer, vocabulary, [ab], [ab]) == set()
    assert foreign_tokens(tokenizer, vocabulary, [], [c, a, b]) == {1, 2}
    assert foreign_tokens(tokenizer, vocabulary, [ab], [c, ab]) == {0}


def test_compare_marks_foreign_tokens(model_folder: Path) -> None:
    compared = in_colour("generate", "-r", WORDS, "-p", "x", "-m", model_folder, "--seed", "1", "--compare")
    assert compared.exit_code == 0, compared.output
    assert "not canonical" in plain(compared.stdout)


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["mask", "-r", "a", "--text", "a", "--model", "x"], "--vocabulary"),
        (["mask", "-r", "a", "--text", "a", "-m", "x"], "--vocabulary"),
        (["mask", "-r", "a", "--text", "a", "--vocabulry", "x"], "--vocabulary"),
        (["generate", "-r", "a", "-p", "x", "--vocabulary", "x"], "--model"),
    ],
)
def test_an_option_of_another_command(arguments: list[str], meant: str) -> None:
    result = call(*arguments)
    assert result.exit_code == 2
    assert f"(Possible options: {meant})" in result.output


def test_mask_without_the_default_model_names_the_vocabulary(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)
    result = call("mask", "--regex", "a", "--text", "a", columns=400)
    assert result.exit_code == 2
    assert "--vocabulary" in result.output
    assert "tokamata[demo]" in result.output


def test_slips_in_a_schema_are_shown() -> None:
    result = CliRunner().invoke(
        app, ["repair", "--schema", '{"type": "string", "minLenght": 3}'], input='"a"', env={"COLUMNS": "200"}
    )
    assert result.exit_code == 0
    assert "did you mean 'minLength'?" in result.stderr
    assert "typer" not in result.stderr
    assert result.stdout == '"a"'
