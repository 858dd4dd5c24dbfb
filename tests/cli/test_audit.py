"""``tokamata audit``: tables, JSON, exit codes; the auditing itself has tests of its own."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from tests.audit import wrong_engines
from tests.audit.here import Here
from tokamata.audit import engines, sides
from tokamata.audit.engines import KnownEngine
from tokamata.cli import audit
from tokamata.cli.app import app

pytestmark = pytest.mark.usefixtures("plain_terminal")

SMALL = '{"type": "integer", "minimum": 0, "maximum": 120}'


def call(*arguments: str | Path, columns: int = 110, **env: str) -> Result:
    return CliRunner().invoke(
        app, ["audit", *map(str, arguments)], env={"COLUMNS": str(columns), "NO_COLOR": "1", **env}
    )


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing runs in a process of its own, which takes a second to start."""
    for module in (audit, sides):
        monkeypatch.setattr(module, "Apart", Here)


@pytest.fixture
def wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    made: Any = wrong_engines.IgnoresMaximum
    monkeypatch.setitem(engines.ENGINES, "xgrammar", KnownEngine("numpy", {}, made))


def test_errors_are_shown_with_witnesses(wrong: None, model_folder: Path) -> None:
    result = call("-e", "xgrammar", "-s", SMALL, "-v", model_folder, "--seconds", "0.6")
    assert result.exit_code == 1, result.output
    assert "accepts an invalid instance" in result.stdout
    assert "is greater than the maximum of 120" in " ".join(result.stdout.replace("│", " ").split())
    assert "masks compared" in result.stdout


def test_errors_in_one_line(wrong: None, here: None, model_folder: Path) -> None:
    options = ("-v", model_folder, "--seconds", "0.6", "--summary")
    result = call("-e", "xgrammar", "-s", SMALL, *options, columns=40)
    assert result.exit_code == 1, result.output
    pattern = (
        r"✗ xgrammar \S+: \d+ × accepts an invalid instance; [\d,]+ texts, [\d,]+ masks compared with .*\n"
    )
    assert re.fullmatch(pattern, result.stdout)
    both = call("-e", "xgrammar", "-s", SMALL, *options, "--json")
    assert both.exit_code == 2
    assert "give one of them" in both.stderr


def test_errors_as_json(wrong: None, here: None, model_folder: Path) -> None:
    result = call("-e", "xgrammar", "-s", SMALL, "-v", model_folder, "--seconds", "0.6", "--json")
    assert result.exit_code == 1, result.output
    found = json.loads(result.stdout)
    assert list(found) == [
        *("engine", "reference", "refused", "reference_refused", "judge_refused", "compile_seconds"),
        *("seconds", "texts", "masks", "refused_bits", "allowed_bits", "judged", "findings", "differences"),
        *("unjudged", "examples", "reference_findings", "is_interrupted"),
    ]
    assert found["engine"].startswith("xgrammar ")
    assert found["masks"] > 0
    [first, *_] = found["findings"]
    assert first["kind"] == "accepts an invalid instance"
    assert int(json.loads(first["witness"])) > 120
    assert first["witness"].startswith(first["prefix"] + first["token_text"])


def test_no_error(here: None, model_folder: Path) -> None:
    result = call("-e", "tokamata", "-s", SMALL, "-v", model_folder, "--seconds", "0.4")
    assert result.exit_code == 0, result.output
    assert "no error found" in result.stdout
    short = call("-e", "tokamata", "-s", SMALL, "-v", model_folder, "--seconds", "0.4", "--summary", "-q")
    assert (short.exit_code, short.stderr) == (0, "")
    pattern = r"✓ tokamata \S+: no error found; [\d,]+ texts, [\d,]+ masks compared with .*\n"
    assert re.fullmatch(pattern, short.stdout)


def test_usage(here: None, model_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = call("-e", "nothing", "-s", SMALL, "-v", model_folder)
    assert result.exit_code == 2
    assert "--engine is one of" in result.stderr
    result = call("-e", "tokamata", "-s", "none.json", "-v", model_folder)
    assert result.exit_code == 2
    assert "cannot be read" in result.stderr
    missing = KnownEngine("no-such-package", {"no_such_module": "no-such-package"}, wrong_engines.Refuses)
    monkeypatch.setitem(engines.ENGINES, "glrmask", missing)
    result = call("-e", "glrmask", "-s", SMALL, "-v", model_folder)
    assert result.exit_code == 2
    assert "pip install no-such-package" in " ".join(result.stderr.replace("│", " ").split())
    monkeypatch.setitem(sys.modules, "jsonschema_rs", None)
    result = call("-e", "tokamata", "-s", SMALL, "-v", model_folder)
    assert result.exit_code == 2
    assert "tokamata[audit]" in result.stderr


def test_control_c_shows_what_was_found(
    here: None, model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tokamata.audit.auditing import _Run

    def interrupted(_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(_Run, "_round", interrupted)
    result = call("-e", "tokamata", "-s", SMALL, "-v", model_folder)
    assert result.exit_code == 130, result.output
    assert "no error found before it was interrupted" in result.stdout


def test_a_refused_schema(here: None, model_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(engines.ENGINES, "xgrammar", KnownEngine("numpy", {}, wrong_engines.Refuses))
    result = call("-e", "xgrammar", "-s", SMALL, "-v", model_folder)
    assert result.exit_code == 2, result.output  # nothing can be said
    assert "no such keyword" in result.stdout
    short = call("-e", "xgrammar", "-s", SMALL, "-v", model_folder, "--summary", "--quiet")
    assert (short.exit_code, short.stderr) == (2, "")
    assert re.fullmatch(
        r"\? xgrammar \S+: the schema is refused: .*no such keyword.*; 0 texts, 0 masks compared with .*\n",
        short.stdout,
    )


def test_a_schema_that_is_no_json_is_refused_before_anything_starts(
    model_folder: Path, tmp_path: Path
) -> None:
    cut = tmp_path / "cut.json"
    cut.write_text('{"type": "nu')
    result = call("-e", "tokamata", "-s", cut, "-v", model_folder)
    assert result.exit_code == 2
    assert "is no JSON" in result.stderr
    assert "starting tokamata" not in result.stderr


def test_peers_are_imported_by_their_processes_alone() -> None:
    code = (
        "import sys, tokamata.cli.audit; print({'torch', 'jsonschema_rs', 'llguidance'} & set(sys.modules))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "set()\n"
