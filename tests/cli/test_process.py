"""The command line as a process: interrupts, full disks, encodings, and texts that are no UTF-8."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")

from tokamata.cli import main as entry
from tokamata.cli.constraints import OptionError
from tokamata.cli.prompts import prompt_of

MAIN = "from tokamata.cli.main import main; main()"


def test_an_interrupt_while_modules_are_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(entry, "_run", interrupted)
    with pytest.raises(SystemExit) as caught:
        entry.main()
    assert caught.value.code == 130


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
@pytest.mark.parametrize("is_buffered", [True, False])
def test_a_full_disk_is_an_error_without_a_traceback(tmp_path: Path, is_buffered: bool) -> None:
    environment = os.environ | {"PYTHONUNBUFFERED": "" if is_buffered else "1"}
    file = tmp_path / "a.json"
    file.write_text("[1", encoding="utf-8")
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-c", MAIN, "repair", str(file)]
        done = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, env=environment
        )
    assert done.returncode == 2
    assert done.stderr.count("No space left") == 1
    assert "Traceback" not in done.stderr


def test_pipes_get_utf_8_in_every_locale(tmp_path: Path) -> None:
    code = f"import sys; sys.argv = ['tokamata', '--version']\ntry:\n    {MAIN}\nfinally:\n    print('é')"
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, env=env, check=True)
    assert done.stdout.decode().splitlines()[-1] == "é"


def test_a_prompt_that_is_no_utf_8() -> None:
    with pytest.raises(OptionError, match="UTF-8"):
        prompt_of(b"a\xff".decode("utf-8", "surrogateescape"), None)
