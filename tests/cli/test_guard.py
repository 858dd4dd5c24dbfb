"""``tokamata guard``: verdicts, drawings, JSON, exit codes; the proofs themselves have tests of their own."""

from __future__ import annotations

import hashlib
import json
import re
import string
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer
from typer.testing import CliRunner, Result

from tests.support.tokenizers.real_tokenizers import REAL
from tests.support.tokenizers.small_tokenizers import FUSE, added, document
from tokamata.cli import guard as command
from tokamata.cli.app import app
from tokamata.errors import TokenizerMismatchError
from tokamata.guard.manifest import Manifest, cheap_facts
from tokamata.guard.manifests.subject import Subject
from tokamata.tokenization.self_test import SelfTest

pytestmark = pytest.mark.usefixtures("plain_terminal")

TEMPLATE = "{% for m in messages %}{{ m.role }}:{{ m.content | trim }}<|end|>{% endfor %}"


def call(*arguments: str | Path, columns: int = 100, **env: str) -> Result:
    return CliRunner().invoke(
        app, ["guard", *map(str, arguments)], env={"COLUMNS": str(columns), "NO_COLOR": "1", **env}
    )


def words(result: Result) -> str:
    """The report without its frames and line breaks."""
    return " ".join(re.sub("[│╭╮╰╯─]", " ", result.output).split())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tokenizer of printable ASCII, in which only ``}<`` is merged, and ten control tokens."""
    path = tmp_path_factory.mktemp("small")
    vocab = {c: token for token, c in enumerate([*string.printable[:95], "\n", "}<"])}
    names = ["<|end|>", *(f"<|c{'x' * size}|>" for size in range(1, 10))]
    control = tuple(added(len(vocab) + index, name) for index, name in enumerate(names))
    made = document(vocab, FUSE, control, merges=[["}", "<"]])
    (path / "tokenizer.json").write_text(json.dumps(made))
    return path


@pytest.fixture
def with_template(folder: Path, tmp_path: Path) -> Path:
    (tmp_path / "tokenizer.json").write_bytes((folder / "tokenizer.json").read_bytes())
    (tmp_path / "chat_template.jinja").write_text(TEMPLATE)
    return tmp_path


@pytest.fixture
def boundaries(tmp_path: Path) -> Any:
    def written(*lines: str) -> Path:
        path = tmp_path / "boundaries.txt"
        path.write_text("\n".join(lines), encoding="utf-8")
        return path

    return written


def test_all_is_proved(folder: Path, boundaries: Any) -> None:
    result = call(folder, "-b", boundaries("{", '"'))
    assert result.exit_code == 0, result.output
    assert "✓ proved  no token crosses the left border" in result.stdout
    assert "witness" not in result.stdout.replace(str(folder), "")
    assert re.search(r"self-test +✓ passed: tokenizers .* texts", result.stdout)
    assert result.stdout.index("self-test") < result.stdout.index("proved")


def test_a_witness_is_drawn_with_a_caret_under_the_border(folder: Path, boundaries: Any) -> None:
    result = call(folder / "tokenizer.json", "-b", boundaries("</a"))
    assert result.exit_code == 1, result.output
    lines = result.stdout.splitlines()
    at = next(index for index, line in enumerate(lines) if "}</a" in line)
    assert lines[at + 1].index("^") == lines[at].index("}</a") + 1
    assert "the token '}<' crosses a border of '</a'" in lines[at + 2]
    assert "}< 96  / 76  a 10  (written so by its own program)" in lines[at + 3]


def test_tokens_alternate_in_colour_and_words_say_the_same(folder: Path, boundaries: Any) -> None:
    colour = {"FORCE_COLOR": "1", "COLORTERM": "truecolor", "TERM": "xterm-256color"}
    result = CliRunner().invoke(app, ["guard", str(folder), "-b", str(boundaries("</a"))], env=colour)
    drawn = next(line for line in result.stdout.splitlines() if "48;2" in line and "96" not in line)
    shown = re.findall(r"48;2;([0-9;]+)m([^\x1b]+)", drawn)
    assert [text for _, text in shown] == ["}", "<", "/", "a"]
    colours = [colour for colour, _ in shown]
    assert colours[0] == colours[1] == colours[3] != colours[2]


def test_what_is_not_settled(folder: Path, boundaries: Any) -> None:
    result = call(folder, "-b", boundaries("é"))
    assert result.exit_code == 2, result.output
    assert "not settled some text with it is reproduced" in words(result)
    assert "every text with it is decoded to another text" in words(result)


def test_a_line_for_each_boundary(folder: Path, with_template: Path, boundaries: Any) -> None:
    file = boundaries("{", "</a", "é")
    result = call(folder, "-b", file, "--summary", "--quiet", columns=30)
    assert (result.exit_code, result.stderr) == (1, "")
    first, *lines = result.stdout.splitlines()
    assert re.fullmatch(r"self-test  ✓ passed: tokenizers \S+ writes [\d,]+ texts with our tokens", first)
    assert lines == [
        "✓ proved  boundary { · token 90",
        "✗ witness  boundary </a · no token of its own",
        "? not settled  boundary é · no token of its own",
        "✗ witness  in all",
    ]
    proved = call(folder, "-b", boundaries("{"), "--summary")
    assert (proved.exit_code, proved.stdout.splitlines()[-1]) == (0, "✓ proved  in all")
    template = call(with_template, "--template", "-b", boundaries("{"), "--summary")
    assert template.stdout.splitlines()[2:-1] == [
        *(f"✗ witness  role {role}" for role in ("system", "user", "assistant", "tool")),
        "✓ proved  another turn",
    ]
    both = call(folder, "--summary", "--json")
    assert both.exit_code == 2
    assert "give one of them" in words(both)


def test_usual_boundaries(folder: Path, with_template: Path) -> None:
    result = call(folder, "--json")
    shown = [each["boundary"] for each in json.loads(result.stdout)["boundaries"]]
    assert shown == [
        *("<|cx|>", "<|cxx|>", "<|end|>", *(f"<|c{'x' * size}|>" for size in range(3, 8)) ,),
        *("</think>", "```", "{", '"'),
    ]  # fmt: skip
    result = call(with_template, "--json")
    shown = [each["boundary"] for each in json.loads(result.stdout)["boundaries"]]
    assert shown == ["<|end|>", "</think>", "```", "{", '"']
    assert call(with_template, "--json").stdout == result.stdout


def test_lines_may_be_json_strings(folder: Path, boundaries: Any) -> None:
    file = boundaries("", '"\\n"', '"ab"\r', " a", '"', "\\n", '"c', "{", "{")
    result = call(folder, "-b", file, "--json")
    shown = [each["boundary"] for each in json.loads(result.stdout)["boundaries"]]
    assert shown == ["\n", "ab", " a", '"', "\\n", '"c', "{"]


def test_json(with_template: Path) -> None:
    result = call(with_template, "--template", "--json")
    assert result.exit_code == 1, result.output
    assert result.stderr == ""
    found = json.loads(result.stdout)
    assert list(found) == ["tokenizer", "outcome", "self_test", "boundaries", "template"]
    assert found["outcome"] == "witness"
    assert found["self_test"]["passed"] is True
    own = Tokenizer.from_file(str(with_template / "tokenizer.json"))
    verdicts = [value for each in found["boundaries"] for value in each.values() if isinstance(value, dict)]
    witnesses = [verdict["witness"] for verdict in verdicts if verdict["witness"]]
    assert witnesses
    for witness in witnesses:
        assert own.encode(witness["text"], add_special_tokens=False).ids == witness["tokens"]
        assert b"".join(map(bytes.fromhex, witness["pieces"])) == witness["text"].encode()
    template = found["template"]
    assert list(template["roles"]) == ["system", "user", "assistant", "tool"]
    user = template["roles"]["user"]
    assert user["unchanged"]["outcome"] == "witness"  # trimmed
    control = user["control"]["witness"]
    assert own.encode(control["text"], add_special_tokens=False).ids.count(97) == 2
    assert template["appending"]["outcome"] == "proved"


def test_the_report_of_a_template(with_template: Path, boundaries: Any) -> None:
    result = call(with_template, "--template", "-b", boundaries("{"))
    assert result.exit_code == 1, result.output
    said = words(result)
    for role in ("system", "user", "assistant", "tool"):
        assert f"role {role}" in said
    assert "the text '<|end|>' becomes the control token '<|end|>'" in said
    assert "the text ' a' is written as 'a'" in said
    assert "proved an appended turn changes no token before it" in said
    assert "guard.encode and tokamata.generate do so" in said


def test_what_is_not_followed_is_named(with_template: Path, boundaries: Any) -> None:
    source = "{% for m in messages %}{{ m.content | sort | join }}<|end|>{% endfor %}"
    (with_template / "chat_template.jinja").write_text(source)
    result = call(with_template, "--template", "-b", boundaries("{"))
    assert result.exit_code == 1, result.output  # texts are changed, which is a witness
    assert "not followed line 1: the filter sort of a slot's text" in words(result)
    assert "? not settled an appended turn changes no token before it" in words(result)
    result = call(with_template, "--template", "-b", boundaries("{"), "--json")
    assert json.loads(result.stdout)["template"]["not_followed"] == [
        "line 1: the filter sort of a slot's text"
    ]


def test_the_manifest_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def measured(path: Path) -> Manifest:  # the whole one takes seconds
        subject = Subject(path)
        return Manifest(subject.digest(), {}, {}, cheap_facts(subject))

    monkeypatch.setattr(command, "manifest", measured)
    result = call(folder, "--manifest")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert result.stdout == json.dumps(found, indent=1) + "\n"
    assert found["digest"] == hashlib.sha256((folder / "tokenizer.json").read_bytes()).hexdigest()
    assert found["facts"]["family"]["value"] == "tokenizer.json"
    assert result.stderr == ""
    result = call(folder, "--manifest", "--json")
    assert result.exit_code == 2
    assert "leave out other options" in words(result)


def test_no_proof_counts_where_the_program_writes_other_tokens(
    folder: Path, boundaries: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    mismatch = TokenizerMismatchError("tokenizers 0", "ab", 0, 1, 2, "it was changed")
    monkeypatch.setattr(command, "self_test", lambda *_: SelfTest("tokenizers 0", 5, mismatch=mismatch))
    result = call(folder, "-b", boundaries("{"))
    assert result.exit_code == 2, result.output
    assert "failed, so that no proof below holds" in words(result)
    found = json.loads(call(folder, "-b", boundaries("{"), "--json").stdout)
    assert found["outcome"] == "not settled"
    assert "it was changed" in found["self_test"]["mismatch"]


def test_a_tokenizer_without_a_program(
    folder: Path, boundaries: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "self_test", lambda *_: SelfTest("", reason="no program to test with"))
    result = call(folder, "-b", boundaries("{"))
    assert result.exit_code == 0, result.output
    assert "not tested: no program to test with" in words(result)


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (["{", '""'], "line 2: a boundary is not the empty text"),
        (['"\\ud800"'], "line 1: half of a surrogate pair is no text"),
        ([""], "has no boundary"),
    ],
)
def test_files_of_boundaries_that_are_wrong(
    folder: Path, boundaries: Any, lines: list[str], says: str
) -> None:
    result = call(folder, "-b", boundaries(*lines))
    assert result.exit_code == 2
    assert says in words(result)


def test_files_of_boundaries_that_cannot_be_read(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "b"
    for data, says in ((b"a\xff", "is not UTF-8: byte 1"), (b"a" * (1 << 20) + b"b", "is larger than")):
        file.write_bytes(data)
        result = call(folder, "-b", file)
        assert result.exit_code == 2
        assert says in words(result)
    result = call(folder, "-b", tmp_path / "none")
    assert result.exit_code == 2
    assert "cannot be read" in words(result)


def test_tokenizers_that_cannot_be_used(folder: Path, tmp_path: Path) -> None:
    def refused(says: str, *arguments: str | Path) -> None:
        result = call(*arguments)
        assert result.exit_code == 2, result.output
        assert says in words(result), result.output
        assert result.stdout == ""
        assert "Traceback" not in result.output

    refused("VocabularyError", tmp_path / "none.json")
    whole = (folder / "tokenizer.json").read_bytes()
    cut_off = tmp_path / "tokenizer.json"
    cut_off.write_bytes(whole[: len(whole) // 2])
    refused("VocabularyError", cut_off)
    refused("VocabularyError", cut_off, "--manifest")
    made = json.loads(whole)
    made["pre_tokenizer"] = {"type": "Unheard"}
    cut_off.write_text(json.dumps(made))
    refused("Unheard", cut_off)
    refused("has no chat template", folder, "--template")
    (tmp_path / "chat_template.jinja").write_text("{% for %}")
    cut_off.write_bytes(whole)
    refused("TemplateError", cut_off, "--template", "--json")


def test_narrow_windows_and_long_texts(folder: Path, boundaries: Any) -> None:
    for columns in (20, 40, 80):
        result = call(folder, "-b", boundaries("<" + "漢" * 3 + "a" * 500), columns=columns)
        assert result.exit_code in (1, 2), result.output
        result = call(folder, "-b", boundaries("<" + "a" * 500), columns=columns)
        assert result.exit_code == 1, result.output
        assert max(map(len, result.stdout.splitlines())) <= columns
        lines = result.stdout.splitlines()
        at = next(index for index, line in enumerate(lines) if "}<a" in line)
        assert lines[at + 1].index("^") == lines[at].index("}<a") + 1


def test_a_real_tokenizer(boundaries: Any) -> None:
    path = next(real for real in REAL if real.name == "llama-2").path()
    result = call(path, "-b", boundaries("</s>"))
    assert result.exit_code == 1, result.output
    said = words(result)
    assert "</s> · token 2" in said
    for claim in ("no token crosses the left border", "each occurrence is one whole token"):
        assert f"✓ proved {claim}" in said
    assert "✗ witness no text becomes the added token of this name" in said
    assert "tokens </s> 2 (written so by its own program)" in said
