"""The baseline of paper 002: its environment, the process in it, and what is asked of that.

outlines 0.0.34 needs packages of its time, so that it cannot live beside the other engines.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from cases import Case
from child import Child
from timing import Summary, summarize
from tokenizer import Tokenizer

ENVIRONMENT = Path(__file__).resolve().parents[1] / "build/environments/outlines-0.0.34"
TRIVIAL = "x"
"""The regex whose time is subtracted (appendix C.2)."""
_REQUIREMENTS = Path(__file__).with_name("requirements-outlines.txt")
_WORKER = Path(__file__).with_name("outlines_worker.py")
_READY_S = 900.0
_ANSWER_S = 600.0


class NoEnvironmentError(Exception):
    """The environment is not there; the message says how it is made."""


def make_environment(folder: Path, python: str, say: Callable[[str], None]) -> None:
    """Makes the environment, or brings one that is there up to date.

    Args:
        folder: where to.
        python: the interpreter: 3.10 to 3.12.
        say: told what happens.

    Raises:
        subprocess.CalledProcessError: it could not be made; what pip says is on the terminal.
    """
    say(f"making {folder} (1.5 GB; minutes)")
    subprocess.run([python, "-m", "venv", str(folder)], check=True)
    pip = [str(_python(folder)), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "-r", str(_REQUIREMENTS)], check=True)
    say(f"made {folder}")


def _python(folder: Path) -> Path:
    return folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")


@dataclass
class OutlinesFigures:
    """What outlines was measured at, for one constraint.

    Attributes:
        compiling: ``outlines.generate.regex`` of the constraint, nanoseconds.
        trivial: the same of the trivial regex, in turns with it.
        steps: one step from the start state, nanoseconds, by reading; see ``outlines_worker``.
        allowed: the tokens that it allows at the start.
    """

    compiling: list[int] = field(default_factory=list)
    trivial: list[int] = field(default_factory=list)
    steps: dict[str, list[float]] = field(default_factory=dict)
    allowed: list[int] = field(default_factory=list)

    @property
    def compile(self) -> Summary | None:
        """Of the constraint, less the median of the trivial regex, as the paper does."""
        trivial = summarize(self.trivial)
        return None if trivial is None else summarize(self.compiling, trivial.median_us * 1e3)


class Outlines:
    """outlines 0.0.34 in its environment, with one tokenizer."""

    name = "outlines 0.0.34"

    def __init__(self, folder: Path, tokenizer: Tokenizer, say: Callable[[str], None]) -> None:
        """Starts it.

        Raises:
            NoEnvironmentError: it is not installed.
            ChildError: it does not start.
        """
        if not _python(folder).exists():
            raise NoEnvironmentError(
                f"outlines 0.0.34 has no environment: {folder} is not there; pass --make-environments"
            )
        eos = _token_name(tokenizer, tokenizer.vocabulary.stop[0])
        say(f"outlines 0.0.34: converting {tokenizer.title}")
        # -I: it shall see neither this folder nor what this process was told to see.
        command = [str(_python(folder)), "-I", "-W", "ignore", str(_WORKER), str(tokenizer.path), eos]
        self._child = Child(command, self.name)
        ready = self._child.receive(_READY_S)
        versions = ", ".join(f"{name} {version}" for name, version in ready["versions"].items())
        self.versions = f"Python {ready['python']}, {versions}"

    def measure(self, case: Case, runs: int, step: Callable[[str], None]) -> OutlinesFigures:
        """Compiles the constraint and the trivial regex in turns, ``runs`` times each, and then steps."""
        found = OutlinesFigures()
        for run in range(runs):
            for pattern, times in ((TRIVIAL, found.trivial), (case.pattern, found.compiling)):
                is_schema = case.is_schema and pattern != TRIVIAL
                request = {"do": "compile", "pattern": pattern, "is_schema": is_schema}
                times.append(self._child.ask(request, _ANSWER_S)["ns"])
            step(f"{self.name}, {case.name}, {run + 1} of {runs}")
        request = {"do": "step", "pattern": case.pattern, "is_schema": case.is_schema}
        request |= {"calls": 500, "runs": runs}
        answer = self._child.ask(request, _ANSWER_S)
        found.allowed = answer.pop("allowed")
        found.steps = answer
        return found

    def close(self) -> None:
        """Ends it."""
        self._child.close()


def _token_name(tokenizer: Tokenizer, token: int) -> str:
    """What ``tokenizer.json`` calls an added token."""
    assert tokenizer.json_text is not None
    added = json.loads(tokenizer.json_text)["added_tokens"]
    return next(str(one["content"]) for one in added if one["id"] == token)
