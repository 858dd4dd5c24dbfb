"""genlm-control beside tokamata: its environment, the process in it, and the requests to that process."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from benchmarks.common.child import Child, ChildError
from benchmarks.common.program import say
from benchmarks.common.tokenizers import Tokenizer

_ENVIRONMENT = Path(__file__).resolve().parents[2] / "build/environments/genlm"
_PYTHON = _ENVIRONMENT / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
NAME = "genlm-control"
_REQUIREMENTS = Path(__file__).with_name("requirements-genlm.txt")
_WORKER = Path(__file__).with_name("genlm_worker.py")
_READY_S = 300.0
_ANSWER_S = 300.0


def make_environment(python: str) -> None:
    """Makes the environment, or brings it up to date; ``python``: the interpreter, 3.11 or newer."""
    say(f"making {_ENVIRONMENT} (2 GB; minutes)")
    subprocess.run([python, "-m", "venv", str(_ENVIRONMENT)], check=True)
    pip = [str(_PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    # torch first and alone, so that nothing else asks for another build of it.
    torch = next(line for line in _REQUIREMENTS.read_text().splitlines() if line.startswith("torch=="))
    subprocess.run([*pip, torch], check=True)
    subprocess.run([*pip, "-r", str(_REQUIREMENTS)], check=True)


class Genlm:
    """Its filter for one tokenizer.

    Attributes:
        versions: of what it runs on.
        build_s: how long making the filter took, in seconds.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        """Starts it.

        Raises:
            ChildError: it is not installed, does not start, or does not take the tokenizer.
        """
        if not _PYTHON.exists():
            raise ChildError("it has no environment; pass --make-environments")
        say(f"{NAME}: making its filter for {tokenizer.title}")
        command = [str(_PYTHON), "-I", "-W", "ignore", str(_WORKER), str(tokenizer.path)]
        self._child = Child([*command, _stop_name(tokenizer)], NAME)
        try:
            ready = self._child.receive(_READY_S)
        except Exception:
            self._child.close()
            raise
        versions = ", ".join(f"{name} {version}" for name, version in ready["versions"].items())
        self.versions = f"Python {ready['python']}, {versions}"
        self.build_s: float = ready["build_s"]

    def time(self, lasts: list[int]) -> list[float]:
        """Nanoseconds of its mask after each of these tokens."""
        if not lasts:
            return []
        return [float(taken) for taken in self._child.ask({"do": "time", "lasts": lasts}, _ANSWER_S)["ns"]]

    def look(
        self, lasts: list[int], nexts: list[int], draws: int, seed: int
    ) -> tuple[list[bool], list[list[int]]]:
        """Whether it allows each next token after the last, and random tokens that it allows there."""
        request = {"do": "look", "lasts": lasts, "nexts": nexts, "draws": draws, "seed": seed}
        answer = self._child.ask(request, _ANSWER_S)
        return answer["allowed"], answer["drawn"]

    def close(self) -> None:
        """Ends it."""
        self._child.close()


def _stop_name(tokenizer: Tokenizer) -> str:
    """What ``tokenizer.json`` calls the first stop token."""
    assert tokenizer.json_text is not None
    added = json.loads(tokenizer.json_text)["added_tokens"]
    stop = tokenizer.vocabulary.stop[0]
    return next(str(one["content"]) for one in added if one["id"] == stop)
