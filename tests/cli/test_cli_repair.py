"""``tokamata repair``: texts of files, folders and standard input, what is reported, and exit codes."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import re
import stat
import time
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner, Result

import tokamata as tk
from tests.support.paths import ROOT
from tokamata.cli.app import app
from tokamata.cli.console import Bar
from tokamata.cli.differences import difference, edit_table, margin_of, proof_of
from tokamata.cli.files import write
from tokamata.repair.differences import grouped
from tokamata.repair.edits import Edit
from tokamata.repair.results import Margin, Repair

EXAMPLES = ROOT / "examples"
PERSON = '{"name": "Paul Klee", "born": 1879, "languages": ["German"]}'
BROKEN = '{"name": "Paul Klee", "born": "1879", "languages": ["German"'

pytestmark = pytest.mark.usefixtures("plain_terminal")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(*arguments: str | Path, text: str | bytes = "", columns: int = 160, **env: str) -> Result:
    command = ["repair", *map(str, arguments)]
    return CliRunner().invoke(app, command, input=text, env={"COLUMNS": str(columns), **env})


def written(path: str, text: str | bytes) -> Path:
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


# ---- one text ---------------------------------------------------------------------------------


@pytest.mark.parametrize("inputs", [(), ("-",)])
def test_standard_input_to_standard_output(inputs: tuple[str, ...]) -> None:
    result = call(*inputs, text='{"a": [1, 2')
    assert result.exit_code == 0, result.output
    assert result.stdout == '{"a": [1, 2]}'
    assert "standard input: repaired, 1 edit, cost 80, proven optimal" in result.stderr
    assert '{"a": [1, 2{+]}+}' in result.stderr
    assert re.search(r"│ 1:12 │ insert +│ +│ \]} +│ +80 │", result.stderr)


@pytest.mark.parametrize("text", ['{ "b" : 1.50,\r\n "a":[ ] }', "[1e3]\n", "\n null", ' "\\u0041"\n\n'])
def test_valid_json_comes_back_byte_for_byte(text: str) -> None:
    for options in ((), ("--schema", "true"), ("--schema", '{"properties": {"a": {}, "b": {}}}')):
        result = call(*options, text=text.encode())
        assert result.exit_code == 0, result.output
        assert result.stdout_bytes == text.encode()
        assert result.stderr == "standard input: unchanged\n"


@pytest.mark.parametrize(
    ("options", "broken", "repaired"),
    [
        (("--schema", EXAMPLES / "person.json"), BROKEN, PERSON),
        (("--schema", '{"type": "array"}'), "[1, 2,]", "[1, 2]"),
        (("--schema", '{"enum": ["red", "blue"]}'), '"bleu"\n', '"blue"\n'),
        (("--type", f"{EXAMPLES / 'painter.py'}:Style", "--syntax", "python"), "Style.CUBSM", "Style.CUBISM"),
        (("--regex", r"\d{4}-\d\d"), "2026-1", "2026-1[0-9]"),
        (("--grammar", EXAMPLES / "query.lark"), "SELECT name FROM painters", "SELECT name FROM painters;"),
    ],
)
def test_constraints(options: tuple[str | Path, ...], broken: str, repaired: str) -> None:
    result = call(*options, text=broken)
    assert result.exit_code == 0, result.output
    assert result.stdout == repaired or re.fullmatch(repaired, result.stdout)
    assert "proven optimal" in result.stderr
    again = call(*options, text=result.stdout)
    assert (again.exit_code, again.stdout) == (0, result.stdout)


def test_the_order_of_properties_is_kept() -> None:
    properties = '"properties": {"a": {"const": 1}, "b": {"const": 2}}, "additionalProperties": false'
    schema = f'{{"type": "object", {properties}, "required": ["a", "b"]}}'
    kept = call("--schema", schema, text='{"b": 2, "a": 1,}')
    assert kept.stdout == '{"b": 2, "a": 1}'


def test_types_show_their_value_and_validators_may_refuse_it() -> None:
    painter = f"{EXAMPLES / 'painter.py'}:Painter"
    broken = '{"name": "Paul Klee", "born": "1879-12-18", "style": "cubism", "died": null'
    result = call("--type", painter, text=broken)
    assert result.exit_code == 0, result.output
    assert result.stdout == broken + "}"
    assert "style=<Style.CUBISM: 'cubism'>" in result.stderr
    written(
        "never.py",
        "import dataclasses\n@dataclasses.dataclass\nclass Never:\n    flag: bool\n"
        "    def __post_init__(self) -> None:\n        raise ValueError('never right')\n",
    )
    refused = call("--type", "never.py:Never", text='{"flag": true')
    assert refused.exit_code == 2
    assert refused.stdout == ""
    assert "ValueError: never right" in refused.stderr


def test_a_line_break_at_the_end_of_json_belongs_to_the_file() -> None:
    for ending in ("\n", "\r\n"):
        for broken, repaired in (("[1,2", "[1,2]"), ('{"a": "b', '{"a": "b"}'), ("[1]", "[1]")):
            result = call(text=f"{broken}{ending}".encode())
            assert (result.exit_code, result.stdout_bytes) == (0, f"{repaired}{ending}".encode())
            assert call(text=broken).stdout == repaired
    result = call("--schema", '{"type": "integer"}', text='"12"\n\n')
    assert result.stdout == "12\n\n"


def test_a_line_break_that_no_text_ends_with_belongs_to_the_file() -> None:
    for ending in ("\n", "\r\n"):
        same = call("--regex", r"\d{4}", text=f"2026{ending}".encode())
        assert (same.exit_code, same.stdout_bytes) == (0, f"2026{ending}".encode())
        changed = call("--regex", r"\d{4}", text=f"20x26{ending}".encode())
        assert (changed.exit_code, changed.stdout_bytes) == (0, f"2026{ending}".encode())
    needed = call("--regex", r"(\d{4}\n)+", text="2026\n20x26\n")
    assert (needed.exit_code, needed.stdout) == (0, "2026\n2026\n")
    missing = call("--regex", r"(\d{4}\n)+", text="2026")
    assert (missing.exit_code, missing.stdout) == (0, "2026\n")


def test_bytes_that_are_no_text() -> None:
    result = call(text=b'["a\xff\x1b[2J"]')
    assert result.exit_code == 0
    assert json.loads(result.stdout) == ["a\x1b[2J"]  # escaped
    assert "<FF>" in result.stderr
    assert "␛" in result.stderr
    assert "\x1b" not in result.stderr


# ---- what is reported -------------------------------------------------------------------------


def test_what_was_lost_and_invented() -> None:
    result = call("--schema", EXAMPLES / "person.json", text='So: {"name": "Paul Klee", "born": 1879 // ok\n')
    assert result.exit_code == 0, result.output
    assert re.search(r"1:1 │ lost +│ prose +│ +│ So +│ +│", result.stderr)
    assert re.search(r"│ lost +│ text +│ \$ +│ ok +│ +│", result.stderr)
    assert re.search(r'│ invented │ member │ \$\.languages +│ +│ "languages":\[.*\] │', result.stderr)
    none = call(text="{a: 1,}")
    assert "no content was lost, invented or changed" in none.stderr
    same = call(text="[1]")
    assert "content" not in same.stderr


def test_margins() -> None:
    result = call("--schema", '{"enum": ["cat", "bat"]}', "--margin", text='"at"')
    assert "the next value costs 0 more" in result.stderr
    accepted = call("--margin", text="[1]")
    assert (accepted.exit_code, accepted.stdout) == (0, "[1]")
    assert re.search(r"unchanged\nthe next value costs [\d,]+ more", accepted.stderr)
    assert "no other value is accepted" in call("--regex", "a", "--margin", text="b").stderr
    several = call("--lines", "--margin", text="[1\n").stderr.splitlines()
    assert re.fullmatch(
        r"standard input:1: repaired, 1 edit, cost \d+, proven optimal, the next value costs [\d,]+ more",
        several[0],
    )
    assert margin_of(Margin(1200, False)) == "the next value costs at least 1,200 more"
    assert "the next value" not in call(text="[1,").stderr


def test_reports_in_json() -> None:
    result = call("--json", "--margin", "--lines", text=b'["a\xff"\n\n[1]\n{"a": 1} x\n')
    assert result.exit_code == 0
    records = [json.loads(line) for line in result.stdout.splitlines()]
    assert [record["place"] for record in records] == [f"standard input:{line}" for line in (1, 3, 4)]
    first, second, third = records
    assert first["text"] == '["a"]'
    assert first["lost"][0] == {
        "begin": 3, "end": 4, "removed": "\\xff", "written": "", "path": [0], "kind": "text", "size": 1,
    }  # fmt: skip
    assert (second["edits"], second["lost"], second["cost"], second["optimal"]) == ([], [], 0, True)
    assert [one["removed"] for one in third["lost"]] == ["x"]
    assert set(third["margin"]) == {"cost", "is_exact"}
    for record in records:
        repair = tk.json().repair(record["text"])
        assert repair.cost == 0
        assert record["cost"] == sum(edit["cost"] for edit in record["edits"])
    assert result.stderr == ""
    failed = call("--json", "--regex", r"\d{4}\n?", "--deadline", "0", text=b"x" * 100_000)
    assert failed.exit_code == 2
    assert list(json.loads(failed.stdout)) == ["place", "error"]
    assert "impossible within limits" in failed.stderr


def test_json_beside_files() -> None:
    file = written("a.json", "[1, 2")
    result = call("--json", "-i", file)
    assert file.read_text() == "[1, 2]"
    assert json.loads(result.stdout)["text"] == "[1, 2]"


def shown(broken: str | bytes, edits: list[Edit], **console: object) -> str:
    """The difference, as it is written to a console."""
    target = Console(file=io.StringIO(), width=200, **console)  # type: ignore[arg-type]
    given = broken.encode() if isinstance(broken, str) else broken
    target.print(difference(target, given, edits))
    assert isinstance(target.file, io.StringIO)
    return target.file.getvalue()


def test_differences_in_colours_and_without() -> None:
    edits = [
        Edit("x", 1, 2, b"'", b'"', 1),
        Edit("a quote", 2, 3, b"!", b"!", 2),
        Edit("y", 4, 5, b"\n", b"", 3),
    ]
    assert shown("a'!b\nc", edits) == "a[-'-]{+\"+}!b[-␊-]c\n"
    coloured = shown("a'!b\nc", edits, force_terminal=True, color_system="standard")
    parts = re.findall(r"\x1b\[([\d;]+)m(.*?)\x1b\[0m", coloured)
    assert [text for _, text in parts] == ["'", '"', "!", "␊"]
    assert [style for style, _ in parts] == ["9;37;41", "30;42", "30;43", "9;37;41"]
    assert shown("a'!b\nc", edits, force_terminal=True, no_color=True) == shown("a'!b\nc", edits)


def test_differences_leave_out_what_is_far_from_edits() -> None:
    text = "x" * 500
    found = shown(
        text, [Edit("remove", 250, 251, b"x", b"", 1), Edit("insert", 252, 252, b"", b"y" * 200, 1)]
    )
    near = "x" * 40
    assert found == f"…{near}[-x-]x{{+{'y' * 30}…{'y' * 30}+}}{near}…\n"
    assert "<C3>" in shown(b"\xc3(", [Edit("remove", 1, 2, b"(", b"", 1)])


def test_edits_of_single_bytes_are_joined_and_their_costs_added() -> None:
    edits = tk.literal("a语b").repair("aèb").edits
    assert sorted(edit.name for edit in edits) == ["drop a character", *["insert"] * 3]
    joined = grouped(edits)
    assert {edit.written.decode() or edit.removed.decode() for edit in joined} == {"语", "è"}
    assert sum(edit.cost for edit in joined) == sum(edit.cost for edit in edits)
    assert b"".join(edit.written for edit in joined) == b"".join(edit.written for edit in edits)
    named = [
        Edit("x", 0, 1, b"a", b"b", 1),
        Edit("x", 1, 2, b"a", b"b", 1),
        Edit("insert", 2, 2, b"", b"b", 1),
    ]
    assert grouped(named) == named


def test_places_are_lines_and_columns() -> None:
    text = "é\nab\n\nö?"
    edits = [
        Edit("e", len(text[:n].encode()), len(text[: n + 1].encode()), b"", b"x", 1) for n in (0, 1, 3, 7)
    ]
    table = edit_table(text.encode(), edits, 5)
    assert list(table.columns[0].cells) == ["5:1", "5:2", "6:2", "8:2"]


def test_how_near_it_is() -> None:
    def repair(cost: int, bound: int) -> Repair[object]:
        found = tk.json().repair("1")
        return dataclasses.replace(found, cost=cost, lower_bound=bound, optimal=cost == bound)

    assert proof_of(repair(5, 5)) == "proven optimal"
    assert proof_of(repair(1001, 1000)) == "at most 0.10% above the optimum"
    assert proof_of(repair(150, 100)) == "at most 50% above the optimum"
    assert proof_of(repair(5, 0)) == "no lower bound is proven"


def test_bytes_in_doubt_that_are_kept() -> None:
    result = call("--regex", "'a.*", text="'a\n")
    assert "standard input: unchanged" in result.stderr
    kept = call(text="{'a': 'x', y'}\n")
    assert "an apostrophe, kept" in kept.stderr


def test_a_bar_appears_after_a_second_and_only_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tokamata.cli.console.LATE_S", 0.01)
    for is_terminal in (True, False):
        file = io.StringIO()
        with Bar(Console(file=file, force_terminal=is_terminal, width=120)) as bar:
            bar.grow(100)
            bar.describe("repairing \x1b[2J")
            bar.advance(40)
            time.sleep(0.3)
            with bar.paused(True):
                file.write("|")
        before, _, after = file.getvalue().partition("|")
        assert ("40%" in before) is ("40%" in after) is is_terminal
        assert ("repairing ␛[2J" in before) is is_terminal
    monkeypatch.setattr("tokamata.cli.console.LATE_S", 60)
    file = io.StringIO()
    with Bar(Console(file=file, force_terminal=True, width=120)) as bar:
        bar.describe("quick")
    assert "quick" not in file.getvalue()


# ---- several texts ----------------------------------------------------------------------------


def test_json_lines() -> None:
    lines = b'{"a": 1,}\r\n\n{"b": 2}\n  \n[3'
    for arguments, given in (
        ((written("x.jsonl", lines),), b""),
        (("--lines",), lines),
        (("-l", "-"), lines),
    ):
        result = call(*arguments, text=given)
        assert result.exit_code == 0, result.output
        assert result.stdout_bytes == b'{"a": 1}\r\n\n{"b": 2}\n  \n[3]'
        place = arguments[0] if isinstance(arguments[0], Path) else "standard input"
        assert result.stderr.splitlines() == [
            f"{place}:1: repaired, 1 edit, cost 1, proven optimal",
            f"{place}:5: repaired, 1 edit, cost 40, proven optimal",
            "3 texts: 2 repaired, 1 unchanged",
        ]


def test_the_numbers_say_of_how_many_texts_content_was_lost_and_invented() -> None:
    point = '{"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}'
    lines = 'Sure: {"x": 1}\n{"x": 2}\n{"x": 3,}\n{\n{"x":'
    for option in ("--quiet", "--summary", "--json"):
        result = call("--lines", "--schema", point, option, text=lines)
        assert result.exit_code == 0
        shown = "5 texts: 4 repaired (1 with content lost, 2 with content invented), 1 unchanged\n"
        assert result.stderr == (shown if option == "--summary" else "")


def test_lines_that_cannot_be_repaired_stay_as_they_are() -> None:
    result = call("--lines", "--regex", r"a\n?b", text="ab\na\n")
    assert result.exit_code == 0
    assert result.stdout == "ab\nab\n"
    broken = call("--lines", "--regex", r"a\nb", text="ab\na\n")
    assert broken.exit_code == 2
    assert broken.stdout == "ab\na\n"
    assert broken.stderr.splitlines() == [
        *(
            f"standard input:{line}: not repaired: the repaired text has a line break, so it is not one line"
            for line in (1, 2)
        ),
        "2 texts: 2 not repaired",
    ]
    assert call("--lines", text="\n\n").exit_code == 0


def test_each_of_many_repairs_is_one_line_however_narrow_the_window() -> None:
    broken = "".join(
        f'{{"number": {number}, "a key that is long": "a value",}} so\n' for number in range(200)
    )
    result = call("--lines", text=broken, columns=30)
    assert result.exit_code == 0, result.output
    assert [json.loads(line)["number"] for line in result.stdout.splitlines()] == list(range(200))
    lines = result.stderr.splitlines()
    assert len(lines) == 201
    for number, line in enumerate(lines[:-1], 1):
        assert re.fullmatch(
            rf"standard input:{number}: repaired, \d edits, cost \d+, proven optimal, 1 lost", line
        )
    assert lines[-1] == "200 texts: 200 repaired (200 with content lost)"
    assert (
        call("--lines", "--summary", text=broken).stderr
        == "200 texts: 200 repaired (200 with content lost)\n"
    )
    assert call("--lines", "--quiet", text=broken).stderr == ""


def test_a_summary_and_silence_of_a_single_text() -> None:
    short = call("--summary", text="{a: 1,}")
    assert (short.exit_code, short.stdout) == (0, '{"a": 1}')
    assert re.fullmatch(r"standard input: repaired, \d edits, cost \d+, proven optimal\n", short.stderr)
    assert call("--summary", text="[1]").stderr == "standard input: unchanged\n"
    quiet = call("-q", text="[1")
    assert (quiet.exit_code, quiet.stdout, quiet.stderr) == (0, "[1]", "")
    slip = call("-q", "--schema", '{"type": "string", "minLenght": 3}', text='"a"')
    assert (slip.exit_code, slip.stdout, slip.stderr) == (0, '"a"', "")
    failed = call("-q", "--deadline", "0", text='{"a": 1 ' * 50_000)
    assert (failed.exit_code, failed.stdout) == (2, "")
    assert "impossible within limits" in failed.stderr


def test_check_writes_no_text_and_says_whether_one_would_change() -> None:
    file = written("a.json", "[1")
    result = call("--check", file)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "a.json: repaired, 1 edit, cost 40, proven optimal" in result.stderr
    assert file.read_text() == "[1"
    assert call("--check", "--quiet", text="[1,]").output == ""
    same = call("--check", text="[1]")
    assert (same.exit_code, same.stdout, same.stderr) == (0, "", "standard input: unchanged\n")
    lines = call("--check", "--lines", "--json", text="[1]\n[2")
    assert lines.exit_code == 1
    assert [json.loads(line)["text"] for line in lines.stdout.splitlines()] == ["[1]", "[2]"]
    impossible = call("--check", "--lines", "--regex", r"a\nb", text="ab\n")
    assert impossible.exit_code == 2


def test_several_files_to_standard_output() -> None:
    result = call(written("a.json", "[1"), written("b.json", "[2]\n"), "-", text="[3")
    assert result.exit_code == 0
    assert result.stdout == "[1]\n[2]\n[3]\n"
    assert "3 texts: 2 repaired, 1 unchanged" in result.stderr


def folder() -> Path:
    for path, text in {
        "in/a.json": "[1",
        "in/sub/b.json": "[2]",
        "in/c.jsonl": "[3\n[4]\n",
        "in/notes.txt": "no JSON",
        "in/.hidden.json": "[",
        "in/.hidden/d.json": "[",
    }.items():
        written(path, text)
    return Path("in")


def test_a_folder_in_place() -> None:
    folder()
    times = {path: os.utime(path, (1, 1)) or 1 for path in Path("in").rglob("*.*")}
    result = call("in", "--in-place")
    assert result.exit_code == 0, result.output
    assert result.stdout == ""
    texts = {path.name: path.read_text() for path in times if path.is_file()}
    assert texts == {
        "a.json": "[1]",
        "b.json": "[2]",
        "c.jsonl": "[3]\n[4]\n",
        "notes.txt": "no JSON",
        ".hidden.json": "[",
        "d.json": "[",
    }
    untouched = {path.name for path in times if path.is_file() and path.stat().st_mtime == 1}
    assert untouched == {"b.json", "notes.txt", ".hidden.json", "d.json"}
    assert call("in", "--in-place").exit_code == 0


def test_a_folder_into_another() -> None:
    Path("out/new").mkdir(parents=True)
    result = call(folder(), "--output", "out/new")
    assert result.exit_code == 0, result.output
    texts = {str(path.relative_to("out/new")): path.read_text() for path in Path("out").rglob("*.*")}
    assert texts == {"a.json": "[1]", os.path.join("sub", "b.json"): "[2]", "c.jsonl": "[3]\n[4]\n"}
    assert Path("in/a.json").read_text() == "[1"


def test_all_files_of_a_folder_where_texts_are_no_json() -> None:
    written("in/a.txt", "2x026\n")
    written("in/b", "2027")
    assert call("in", "--regex", r"\d{4}", "-i").exit_code == 0
    assert (Path("in/a.txt").read_text(), Path("in/b").read_text()) == ("2026\n", "2027")


def test_output_into_a_file_or_a_folder() -> None:
    file = written("a.json", "[1")
    missing = call(file, "-o", "new/b.json")
    assert missing.exit_code == 2
    assert "the folder 'new' of --output does not exist; make it first" in missing.stderr
    assert not Path("new").exists()
    Path("new").mkdir()
    assert call(file, "-o", "new/b.json").exit_code == 0
    assert Path("new/b.json").read_text() == "[1]"
    assert call(file, "-o", "new").exit_code == 0
    assert Path("new/a.json").read_text() == "[1]"
    assert call("-o", "c.json", text="[2]").exit_code == 0  # what needs no repair is written too
    assert Path("c.json").read_text() == "[2]"
    assert call(file, "-o", file).exit_code == 0
    assert file.read_text() == "[1]"


def test_files_keep_their_permissions_and_links_lead_on() -> None:
    file = written("real/a.json", "[1")
    file.chmod(0o640)
    Path("link.json").symlink_to(file)
    assert call("link.json", "-i").exit_code == 0
    assert Path("link.json").is_symlink()
    assert file.read_text() == "[1]"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert list(Path("real").iterdir()) == [file]
    write(Path("/dev/null"), b"not a file")
    assert not Path("/dev/null").is_file()


# ---- what goes wrong --------------------------------------------------------------------------


def test_links_that_lead_out_of_a_folder_are_named_and_never_followed() -> None:
    outside = written("outside.json", "[1")
    other = written("other/inner.json", "[1")
    inside = written("folder/deep/a.json", "[1")
    hidden = written("folder/.hidden/b.json", "[1")
    links = {
        "folder/link.json": outside.resolve(),
        "folder/deep/up.json": Path("../../outside.json"),
        "folder/deep/chain.json": Path("../link.json"),
        "folder/same.json": Path("deep/a.json"),
        "folder/shown.json": Path(".hidden/b.json"),
        "folder/broken.json": Path("nowhere.json"),
        "folder/subfolder": other.parent.resolve(),
    }
    for link, target in links.items():
        Path(link).symlink_to(target)
    result = call("-i", "folder")
    assert result.exit_code == 0, result.output
    assert (outside.read_text(), other.read_text()) == ("[1", "[1")
    assert (inside.read_text(), hidden.read_text()) == ("[1]", "[1]")
    assert all(Path(link).is_symlink() for link in links)
    assert re.findall("left out: (.*?) is a link", result.stderr) == [
        "folder/deep/chain.json",
        "folder/deep/up.json",
        "folder/link.json",
    ]
    Path("linked").symlink_to("folder")  # a folder that is named is meant, wherever it is
    inside.write_text("[2")
    assert call("-i", "linked").exit_code == 0
    assert inside.read_text() == "[2]"


def test_a_folder_with_nothing_but_links_that_lead_out_of_it() -> None:
    outside = written("outside.json", "[1")
    Path("folder").mkdir()
    Path("folder/link.json").symlink_to(outside.resolve())
    result = call("-i", "folder")
    assert result.exit_code == 2
    assert "links that lead out of it" in result.stderr.replace("\n", " ")
    assert outside.read_text() == "[1"


def test_nothing_is_written_through_a_link_that_leads_out_of_the_output() -> None:
    outside, elsewhere = written("outside.json", "precious"), written("elsewhere/kept", "").parent
    written("folder/a.json", "[1")
    written("folder/sub/b.json", "[1")
    for link, target in {"first/a.json": outside, "second/sub": elsewhere}.items():
        Path(link).parent.mkdir()
        Path(link).symlink_to(target.resolve())
        result = call("folder", "-o", Path(link).parent)
        assert result.exit_code == 2
        assert "leads out of --output" in result.stderr.replace("\n", " ")
    assert outside.read_text() == "precious"
    assert [path.name for path in elsewhere.iterdir()] == ["kept"]


@pytest.mark.parametrize("options", [(), ("-i",), ("-o", "out.json")])
def test_impossible_within_limits(options: tuple[str, ...]) -> None:
    """Nothing is written, above all not the text that gives up all of the broken one."""
    broken = '{"a": 1 ' * 50_000
    file = written("a.json", broken)
    result = call(file, "--deadline", "0", *options)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert "a.json: not repaired" in result.stderr
    assert "impossible within limits" in result.stderr
    assert "use a greater --deadline" in result.stderr
    assert "Traceback" not in result.output
    assert file.read_text() == broken
    assert not Path("out.json").exists()


def test_the_answer_that_gives_up_the_whole_text_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is better than none in a program, which sees that it is not proven; in a file it destroys."""
    found = tk.json().repair('{"a": 1,}')
    given_up = dataclasses.replace(found, text="0", optimal=False, first_feasible_us=None)
    monkeypatch.setattr(tk.Constraint, "repairs", lambda *args, **options: iter([given_up]))
    file = written("a.json", '{"a": 1,}')
    result = call(file, "-i")
    assert result.exit_code == 2
    assert "no repair was found that keeps a part of the text; any costs at least 1" in result.stderr
    assert file.read_text() == '{"a": 1,}'
    optimal = dataclasses.replace(found, text="0", first_feasible_us=None)
    monkeypatch.setattr(tk.Constraint, "repairs", lambda *args, **options: iter([optimal]))
    assert call(file, "-i").exit_code == 0


def test_a_deadline_that_suffices() -> None:
    result = call("--deadline", "30", text="[1")
    assert (result.exit_code, result.stdout) == (0, "[1]")


def test_one_file_that_cannot_be_read_does_not_stop_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = written("a.json", "[1"), written("b.json", "[2")
    read = Path.read_bytes

    def fails(path: Path) -> bytes:
        if path.name == "a.json":
            raise PermissionError(13, "Permission denied")
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", fails)
    result = call(first, second, "-i")
    assert result.exit_code == 2
    assert "'a.json' cannot be read: Permission denied" in result.stderr
    assert second.read_text() == "[2]"
    assert "2 texts: 1 repaired, 1 not repaired" in result.stderr


def test_a_file_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    file = written("a.json", "[1")

    def fails(path: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fails)
    result = call(file, "-i")
    assert result.exit_code == 2
    assert "cannot be written: No space left" in result.stderr
    assert file.read_text() == "[1"
    assert list(Path().iterdir()) == [file]  # no unfinished file either


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("nowhere.json",), "there is no file or folder 'nowhere.json'"),
        (("-", "-"), "standard input can be read once"),
        (("-", "-i"), "standard input has no place"),
        (("a.json", "-i", "-o", "b.json"), "both where to write"),
        (
            ("a.json", "empty", "-o", "sub"),
            "the folder 'empty' has no file that ends in .json, .jsonl, .ndjson",
        ),
        (("empty", "-r", "a"), "the folder 'empty' has no file; name the files"),
        (("a.json", "sub/a.json", "-o", "out"), "the folder 'out' of --output does not exist"),
        (("a.json", "sub/a.json", "-o", "empty"), "two of the files would be written"),
        (("a.json", "--check", "-i"), "--check writes no text"),
        (("a.json", "--check", "-o", "b.json"), "--check writes no text"),
        (("--json", "--summary"), "--json has all that --summary has"),
        (("a.json", "sub/a.json", "-o", "b.json"), "several files go into a folder"),
        (("-r", "a", "-s", "true"), "both --regex and --schema"),
        (("--order", "any"), "No such option"),
        (("--syntax", "python"), "goes with --type"),
        (("--lexer", "basic"), "goes with --grammar"),
        (("-r", "("), "PatternSyntaxError"),
        (("-s", "false"), "EmptyConstraintError"),
    ],
)
def test_wrong_options(arguments: tuple[str, ...], what: str) -> None:
    for path in ("a.json", "sub/a.json", "b.json"):
        written(path, "[1")
    Path("empty").mkdir()
    result = call(*arguments, text="[1")
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert what in result.stderr
    assert "Traceback" not in result.output
    assert {path.read_text() for path in Path().rglob("*.json")} == {"[1"}


def test_help_names_options_and_defaults() -> None:
    for command in ("repair", "generate", "mask"):
        result = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "160"})
        for option in ("--regex", "--schema", "--type", "--grammar", "--lexer", "--syntax"):
            assert option in result.stdout
        for default in ("dynamic", "json"):
            assert f"(default: {default})" in result.stdout
    for option in ("--lines", "--in-place", "--output", "--deadline", "--check", "--summary", "--quiet"):
        assert option in CliRunner().invoke(app, ["repair", "--help"], env={"COLUMNS": "160"}).stdout


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_is_no_text(encoding: str) -> None:
    """As PowerShell writes files."""
    Path("a.json").write_bytes(("\ufeff" + '{"a": 1').encode(encoding))
    result = call("a.json")
    assert result.exit_code == 2
    assert "'a.json' is UTF-16; save it as UTF-8" in result.stderr
    assert result.stdout == ""
