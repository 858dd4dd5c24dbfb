"""The command line, with a small model in a model_folder, at several widths and without colours."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
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
from tokamata.matching.masks import allowed_tokens

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
        (("generate", "-p", "x", "-m", "/nowhere"), "there is no file or folder /nowhere; pass a folder"),
        (("generate", "-p", "x", "-m", __file__), "not a tokenizer.json"),
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
    assert "has no tokenizer: no file tokenizer*" in result.stderr


@pytest.mark.parametrize("option", ["--model", "--vocabulary"])
def test_a_gguf_file_is_no_model_of_transformers(option: str, tmp_path: Path) -> None:
    file = tmp_path / "model.GGUF"
    file.write_bytes(b"GGUF\x03\0\0\0\xff\xff")
    result = call("generate", "-r", "a", "-p", "x", option, file, columns=200)
    assert result.exit_code == 2
    assert "is a GGUF file" in result.stderr
    assert "Vocabulary.load" in result.stderr


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


def struck(result: Result) -> list[str]:
    """The texts that the last frame of a comparison strikes through."""
    return re.findall(r"\x1b\[[0-9;]*(?<![0-9])9;[0-9;]*m([^\x1b]*)", last_frame(result))


def test_compare_strikes_what_the_mask_refuses_and_nothing_else(model_folder: Path) -> None:
    command = ("generate", "-p", "x", "-m", model_folder, "--compare", "--max-new-tokens", "12")
    for seed in ("1", "2"):  # the first token of the second text has nothing to show
        compared = in_colour(*command, "-r", WORDS, "--seed", seed, columns=240)
        assert compared.exit_code == 0, compared.output
        assert re.search(r"[1-9] not canonical", plain(compared.stdout))  # of the text that is accepted
        free = plain(last_frame(compared)).splitlines()[1].split("│")[1].strip()
        assert struck(compared) == [free[0]]  # no word begins so


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["audit", "-e", "tokamata", "-s", "true", "--model", "x"], "--vocabulary"),
        (["audit", "-e", "tokamata", "-s", "true", "-m", "x"], "--vocabulary"),
        (["mask", "-r", "a", "--text", "a", "--vocabulry", "x"], "--vocabulary"),
    ],
)
def test_an_option_of_another_command(arguments: list[str], meant: str) -> None:
    result = call(*arguments)
    assert result.exit_code == 2
    assert f"(Possible options: {meant})" in result.output


@pytest.mark.parametrize(
    ("command", "option"),
    [(("mask", "--text", "a"), "--vocabulary"), (("generate", "--prompt", "a"), "--model")],
)
def test_without_the_default_model_an_option_is_named(
    monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...], option: str
) -> None:
    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)
    result = call(*command, "--regex", "a", columns=400)
    assert result.exit_code == 2
    assert f"pass {option} with" in result.output
    assert "tokamata[demo]" in result.output


@pytest.mark.parametrize("ending", ["", "\n", "\r\n"])
def test_prompts_of_standard_input_and_of_files(model_folder: Path, tmp_path: Path, ending: str) -> None:
    file = tmp_path / "prompt.txt"
    file.write_bytes(f"the one{ending}".encode())
    command = ["generate", "-r", WORDS, "-m", str(model_folder), "--json", "--quiet"]
    direct, piped, read = (
        CliRunner().invoke(app, [*command, *options], input=file.read_bytes())
        for options in (("-p", "the one"), ("-p", "-"), ("--prompt-file", str(file)))
    )
    assert direct.exit_code == piped.exit_code == read.exit_code == 0, direct.output
    expected = json.loads(direct.stdout)["prompt_tokens"]
    assert json.loads(piped.stdout)["prompt_tokens"] == expected
    assert json.loads(read.stdout)["prompt_tokens"] == expected


@pytest.mark.parametrize(
    ("options", "data", "what"),
    [
        ((), b"", "give --prompt or --prompt-file: the text that the model goes on from"),
        (("-p", "x", "--prompt-file", "y"), b"", "--prompt-file, not both"),
        (("-p", "-"), b"a\xff", "the prompt of standard input is not UTF-8: byte 1 is wrong"),
        (("--prompt-file", "/nowhere"), b"", "'/nowhere' cannot be read: No such file or directory"),
    ],
)
def test_prompts_that_cannot_be_read(options: tuple[str, ...], data: bytes, what: str) -> None:
    command = ["generate", "-r", "a", "-m", "/nowhere", *options]
    result = CliRunner().invoke(app, command, input=data, env={"COLUMNS": "200"})
    assert result.exit_code == 2
    assert what in result.stderr
    assert result.stdout == ""


def test_generate_in_json(model_folder: Path) -> None:
    vocabulary = tk.Vocabulary.load(model_folder)
    command = ("generate", "-r", "the one [0-9]{2}", "-p", "x", "-m", model_folder, "--seed", "1")
    result = call(*command, "--json", "--quiet")
    assert (result.exit_code, result.stderr) == (0, "")
    found = json.loads(result.stdout)
    text_keys = [
        *("text", "matches", "finish_reason", "tokens", "stop_token", "log_probability", "prompt_tokens"),
        *("healed", "jumped", "timing"),
    ]
    assert list(found) == [*text_keys, "refused", "steps", "without"]
    assert found["text"] + "\n" == call(*command).stdout
    assert b"".join(vocabulary[token] or b"" for token in found["tokens"]).decode() == found["text"]
    assert (found["matches"], found["refused"], found["steps"], found["without"]) == (True, None, None, None)
    whole = json.loads(call(*command, "--json", "--why", "--compare").stdout)
    assert [step["token"] for step in whole["steps"]] == whole["tokens"] == found["tokens"]
    assert all(0 < step["legal_mass"] <= 1 for step in whole["steps"])
    assert list(whole["without"]) == text_keys
    assert whole["without"]["matches"] is False


def test_quiet_leaves_the_result_alone(model_folder: Path) -> None:
    for command in (
        ("generate", "-r", WORDS, "-p", "x", "-m", model_folder, "--seed", "1"),
        ("mask", "-r", WORDS, "-t", "one", "-v", model_folder),
    ):
        loud, quiet = call(*command), call(*command, "--quiet")
        assert quiet.exit_code == loud.exit_code == 0
        assert quiet.stdout == loud.stdout
        assert loud.stderr != quiet.stderr == ""
        assert in_colour(*command).stderr != in_colour(*command, "--quiet").stderr == ""  # no bar either
    failed = call("mask", "-r", "(", "-v", model_folder, "-q")
    assert failed.exit_code == 2
    assert "PatternSyntaxError" in failed.stderr


def test_mask_in_one_line(model_folder: Path) -> None:
    def line(text: str) -> tuple[int, str]:
        result = call("mask", "-r", "one [0-9]+", "-t", text, "-v", model_folder, "--summary", columns=30)
        return result.exit_code, result.stdout

    code, taken = line("one ")
    assert code == 0
    assert re.fullmatch(r"✓ taken so far, 2 tokens; \d+ tokens may follow\n", taken)
    code, accepted = line("one 12")
    assert code == 0
    assert re.fullmatch(r"✓ accepted, 3 tokens; \d+ tokens may follow\n", accepted)
    code, refused = line("one twelve")
    assert code == 1
    assert re.fullmatch(r"✗ refused at token 3 of \d+: token \d+ \(b'tw'\) is refused: .*'0'–'9'\n", refused)


def test_mask_in_json(model_folder: Path) -> None:
    vocabulary = tk.Vocabulary.load(model_folder)
    command = ("mask", "-r", "one [0-9]+", "-v", model_folder, "--json", "--quiet")
    result = call(*command, "-t", "one 12")
    assert (result.exit_code, result.stderr) == (0, "")
    found = json.loads(result.stdout)
    assert list(found) == [
        *("taken", "accepted", "width", "tokens", "positions", "refusal", "allowed", "shortest_completion"),
    ]
    assert (found["taken"], found["accepted"], found["refusal"]) == (True, True, None)
    assert [one["text"] for one in found["tokens"]] == ["one", " ", "12"]
    matcher = tk.regex("one [0-9]+").compile(vocabulary).matcher()
    for one, position in zip(found["tokens"], found["positions"][:-1], strict=True):
        assert position["allowed"] == len(allowed_tokens(matcher.mask))
        assert (position["forced"], position["mask"]) == (matcher.forced_text().decode(), None)
        assert matcher.advance(one["token"])
    assert found["allowed"] == allowed_tokens(matcher.mask).tolist()
    refused = call(*command, "-t", "one twelve", "--why")
    assert refused.exit_code == 1
    found = json.loads(refused.stdout)
    assert (found["taken"], found["accepted"]) == (False, False)
    assert list(found["refusal"]) == ["index", "token", "offset", "rule", "says"]
    assert (found["refusal"]["index"], found["refusal"]["offset"], found["refusal"]["rule"]) == (2, 0, "byte")
    assert all(position["mask"]["seconds"] >= 0 for position in found["positions"])
    both = call(*command, "--summary")
    assert both.exit_code == 2
    assert "give one of them" in both.stderr


def test_both_commands_take_a_model_and_a_vocabulary(
    model_folder: Path, tokenizer: Any, tmp_path: Path
) -> None:
    by_model = call("mask", "-r", "one", "-m", model_folder)
    assert by_model.exit_code == 0, by_model.output
    assert by_model.stdout == call("mask", "-r", "one", "-v", model_folder).stdout
    both = call("mask", "-r", "one", "-m", "/nowhere", "-v", model_folder)
    assert both.stdout == by_model.stdout
    alone = tmp_path / "model"
    alone.mkdir()
    for file in model_folder.iterdir():
        if not file.name.startswith(("tokenizer", "special_tokens")):
            (alone / file.name).write_bytes(file.read_bytes())
    command = ("generate", "-r", WORDS, "-p", "x", "--seed", "1", "-m")
    assert "has no tokenizer" in call(*command, alone, columns=400).stderr
    expected = call(*command, model_folder).stdout
    for source in (model_folder, model_folder / "tokenizer.json"):
        result = call(*command, alone, "-v", source)
        assert result.exit_code == 0, result.output
        assert result.stdout == expected
    wrong = call(*command, model_folder, "-v", __file__, columns=200)
    assert wrong.exit_code == 2
    assert "is not a tokenizer.json" in wrong.stderr


def test_names_that_transformers_resolves(model_folder: Path, tmp_path: Path) -> None:
    """From the cache of the Hub, laid out by hand: no network is needed."""
    folder = tmp_path / "models--someone--small"
    (folder / "refs").mkdir(parents=True)
    (folder / "refs" / "main").write_text("0" * 40)
    shutil.copytree(model_folder, folder / "snapshots" / ("0" * 40))
    env = {**os.environ, "HF_HUB_CACHE": str(tmp_path), "HF_HUB_OFFLINE": "1", "COLUMNS": "200"}

    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "tokamata", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False, env=env)

    by_name = run("generate", "-r", WORDS, "-p", "x", "--seed", "1", "-m", "someone/small")
    assert by_name.returncode == 0, by_name.stderr
    by_folder = call("generate", "-r", WORDS, "-p", "x", "--seed", "1", "-m", model_folder)
    assert by_name.stdout == by_folder.stdout
    mask = run("mask", "-r", "one", "-t", "one", "-m", "someone/small", "--summary", "--quiet")
    assert (mask.returncode, mask.stderr) == (0, "")
    assert re.fullmatch(r"✓ accepted, 1 token; 1 token may follow\n", mask.stdout)
    unknown = run("generate", "-r", "a", "-p", "x", "-m", "someone/else")
    assert unknown.returncode == 2
    assert "someone/else is neither a folder nor the name of a tokenizer" in unknown.stderr


def test_slips_in_a_schema_are_shown() -> None:
    result = CliRunner().invoke(
        app, ["repair", "--schema", '{"type": "string", "minLenght": 3}'], input='"a"', env={"COLUMNS": "200"}
    )
    assert result.exit_code == 0
    assert "did you mean 'minLength'?" in result.stderr
    assert "typer" not in result.stderr
    assert result.stdout == '"a"'


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("generate", "--regx", "a"), "(Possible options: --regex)"),
        (("generate", "--max-tokens", "5"), "(Possible options: --max-new-tokens)"),
        (("generate", "--text", "a"), "(Possible options: --prompt)"),
        (("mask", "--prompt", "a"), "(Possible options: --text)"),
        (
            ("generate", "Hello"),
            "(Hello); a text stands after its option, such as --prompt",
        ),
        (("mask", "Hello"), "a text stands after its option, such as --text"),
    ],
)
def test_options_of_other_names(arguments: tuple[str, ...], what: str) -> None:
    result = call(*arguments, columns=200)
    assert result.exit_code == 2
    assert what in result.stderr


def test_an_option_that_is_near_none_is_answered_with_none() -> None:
    result = call("generate", "--summary", columns=200)
    assert result.exit_code == 2
    assert "No such option: --summary" in result.stderr
    assert "Possible" not in result.stderr


def test_a_model_without_its_weights_and_configuration(model_folder: Path, tmp_path: Path) -> None:
    for file in model_folder.glob("tokenizer*"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    result = call("generate", "-r", "a", "-p", "x", "-m", tmp_path, columns=200)
    assert result.exit_code == 2
    assert "has no language model: no file config.json" in result.stderr
