"""The examples of README.md and docs/ do what they say.

Every block that is marked ``python`` is run, in order, in one namespace for each page and in a folder of its
own.  A block of ``>>>`` lines is run as a doctest.  Any other block is run as it stands, so what it claims it
has to assert.  In README.md, which loads a real model, the comment after a ``print`` is what it prints.  The
page about the guard finds Qwen 3's ``tokenizer.json`` in its folder.

Every command in a shell block is checked: a target of make exists, an extra of pip is declared, a file is
there, and the options of ``tokamata`` parse.  The commands on the page about the command line are run.
"""

from __future__ import annotations

import doctest
import logging
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.models.margins import CLEAR, margins
from tests.support.paths import ROOT
from tests.support.tokenizers.real_tokenizers import REAL
from tokamata import demo

DOCS = ROOT / "docs"
README = ROOT / "README.md"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHELL_BLOCK = re.compile(r"^```(sh|)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PRINT = re.compile(r"^print\(.*?\)(?: +# (.*))?$", re.MULTILINE)
PAGES = [page for page in sorted(DOCS.glob("*.md")) if BLOCK.search(page.read_text(encoding="utf-8"))]
GUARD = DOCS / "guard.md"


def run(text: str, name: str, namespace: dict[str, Any]) -> None:
    """Run the blocks of a page; errors show its lines."""
    for block in BLOCK.finditer(text):
        line = text.count("\n", 0, block.start(1))
        code = block.group(1)
        if re.search(r"^>>> ", code, re.MULTILINE):
            test = doctest.DocTestParser().get_doctest(code, namespace, name, name, line)
            doctest.DebugRunner(optionflags=doctest.ELLIPSIS).run(test, clear_globs=False)
            namespace.update(test.globs)
        else:
            exec(compile("\n" * line + code, name, "exec", dont_inherit=True), namespace)


@pytest.fixture
def logging_as_before() -> Iterator[None]:
    """An example turns logging on for its whole process."""
    root, ours = logging.getLogger(), logging.getLogger("tokamata")
    handlers = list(root.handlers)
    yield
    root.handlers[:] = handlers
    ours.setLevel(logging.NOTSET)


@pytest.mark.usefixtures("logging_as_before")
@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=pytest.mark.slow) if page == GUARD else page for page in PAGES],
    ids=lambda page: page.name,
)
@pytest.mark.shared_states
def test_examples(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if page == GUARD:
        shutil.copy(next(real for real in REAL if real.name == "qwen-3").path(), "tokenizer.json")
    run(page.read_text(encoding="utf-8"), str(page), {"__name__": "__main__"})


@pytest.mark.parametrize("page", [README, *sorted(DOCS.glob("*.md"))], ids=lambda page: page.name)
def test_python_is_marked(page: Path) -> None:
    """No example escapes the tests for want of a mark."""
    blocks = re.findall(
        r"^```([^\n]*)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    for language, code in blocks:
        assert language in ("python", "sh", ""), f"```{language}: mark it python or sh, or leave the mark out"
        assert language == "python" or not re.search(
            r"^(import|from|>>>|assert)|\btk\.", code, re.MULTILINE
        ), code


def run_readme() -> tuple[dict[str, Any], list[tuple[str, str]]]:
    """Run all of README.md; returns its names, and what each ``print`` claims and prints."""
    text = README.read_text(encoding="utf-8")
    printed: list[str] = []
    namespace: dict[str, Any] = {"__name__": "__main__", "print": lambda value: printed.append(str(value))}
    run(text, str(README), namespace)
    claims = [claim for block in BLOCK.findall(text) for claim in PRINT.findall(block)]
    return namespace, list(zip(claims, printed, strict=True))


def test_the_readme_with_a_small_model(model_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "default_model_folder", lambda: model_folder)
    namespace, _ = run_readme()
    assert isinstance(namespace["klee"].parse(), namespace["Painter"])


@pytest.mark.slow
def test_the_readme_as_printed(gemma_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the model that it names; no printed word hangs on how a processor rounds."""
    monkeypatch.setattr(demo, "default_model_folder", lambda: gemma_folder)
    with margins() as found:
        _, prints = run_readme()
    assert prints
    assert len(found) > 60
    assert min(found) >= CLEAR
    for claim, printed in prints:
        want = claim.replace("…", "...")
        assert not claim or doctest.OutputChecker().check_output(want, printed, doctest.ELLIPSIS), printed


def commands(page: Path) -> list[list[str]]:
    """The commands in the shell blocks of a page; in blocks without a language, those of tokamata alone."""
    found = []
    for language, block in SHELL_BLOCK.findall(page.read_text(encoding="utf-8")):
        for line in block.splitlines():
            if (line and not line.startswith("#") and language) or line.startswith("tokamata "):
                found.append(shlex.split(line, comments=True))
    return found


def command_pages() -> list[Path]:
    pages = [README, ROOT / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md"))]
    return [page for page in pages if commands(page)]


@pytest.mark.parametrize("page", command_pages(), ids=lambda page: page.name)
def test_commands(page: Path) -> None:
    for command in commands(page):
        while "=" in command[0]:  # variables of the environment
            command.pop(0)
        check_command(command)


def check_command(command: list[str]) -> None:
    """Whether a command can be what it looks like, without running it."""
    program, *rest = command
    if program == "make":
        makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
        for target in rest:
            variable, is_set, _ = target.partition("=")
            place = rf"\$\({variable}\)" if is_set else rf"^{target}:"
            assert re.search(place, makefile, re.MULTILINE), command
    elif program == "pip":
        declared = extras()
        assert rest[0] in ("install", "wheel"), command
        for package in rest[1:]:
            for extra in re.findall(r"(?:\.|tokamata)\[(.*?)\]", package):
                assert set(extra.split(",")) <= declared, command
    elif program == "tokamata":
        parse_options(rest)
    elif program.endswith("python"):
        assert rest[0] in ("-m", "-c") or (ROOT / rest[0]).is_file(), command
    else:
        assert program.startswith(("build/", "tools/")), f"say in check_command what {program} is"


def extras() -> set[str]:
    """The extras that pyproject.toml declares; Python 3.10 has no reader of TOML."""
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    section = project.split("[project.optional-dependencies]")[1].split("\n[")[0]
    return set(re.findall(r"^([a-z-]+) = \[", section, re.MULTILINE))


def parse_options(arguments: list[str]) -> None:
    """Let the command line read the options of one command; errors are those of click."""
    import typer

    from tokamata.cli.app import app

    group: Any = typer.main.get_command(app)
    group.commands[arguments[0]].make_context(arguments[0], arguments[1:])


RUN = [command for command in commands(DOCS / "command_line.md") if command[0] == "tokamata"]


@pytest.mark.parametrize("command", RUN, ids=lambda command: " ".join(command[1:3]))
def test_commands_run(
    command: list[str], model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from typer.testing import CliRunner

    from tokamata.cli.app import app

    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(demo, "default_model_folder", lambda progress: model_folder)
    if "path/to/model" in command:  # one with a chat template
        folder = shutil.copytree(model_folder, tmp_path / "model")
        template = "{% for message in messages %}{{ message.content }}<eos>{% endfor %}"
        (folder / "chat_template.jinja").write_text(template)
    arguments = [str(tmp_path / "model") if word == "path/to/model" else word for word in command[1:]]
    result = CliRunner().invoke(app, arguments)
    is_guard = command[1] == "guard" and "--manifest" not in command
    fails = "2026-1x" in command or is_guard
    assert result.exit_code == (1 if fails else 0), result.output


def test_examples_that_are_wrong_fail() -> None:
    for code, error in (
        ("assert 1 == 2", AssertionError),
        (">>> 1 + 1\n3", doctest.DocTestFailure),
        (">>> 1 / 0", doctest.UnexpectedException),
    ):
        with pytest.raises(error):
            run(f"```python\nx = 1\n```\n\n```python\n{code}\n```\n", "page", {})


def test_commands_that_are_wrong_fail() -> None:
    for command in ("make nothing", "pip install '.[nothing]'", "python tests/nothing.py", "nothing"):
        with pytest.raises(AssertionError):
            check_command(shlex.split(command))
    with pytest.raises(Exception, match="No such option"):
        check_command(["tokamata", "mask", "--nothing"])


def test_blocks_share_a_namespace_and_know_their_lines() -> None:
    run(
        "```python\nx = 1\n```\n```python\n>>> y = x + 1\n>>> y\n2\n```\n```python\nassert y == 2\n```\n",
        "page",
        {},
    )
    with pytest.raises(ZeroDivisionError) as caught:
        run("words\n```python\nx = 1\n\nx / 0\n```\n", "page", {})
    assert caught.traceback[-1].lineno + 1 == 5
