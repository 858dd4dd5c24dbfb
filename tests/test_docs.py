"""The examples of docs/ do what they say.

Every block of a page that is marked ``python`` is run, in order, in one namespace for each page and
in a folder of its own.  A block of ``>>>`` lines is run as a doctest; any other is run as it stands,
so what it claims it has to assert.
"""

from __future__ import annotations

import doctest
import re
from pathlib import Path
from typing import Any

import pytest

import tokamata as tk

DOCS = Path(__file__).parent.parent / "docs"
README = DOCS.parent / "README.md"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = [page for page in sorted(DOCS.glob("*.md")) if BLOCK.search(page.read_text(encoding="utf-8"))]


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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run(page.read_text(encoding="utf-8"), str(page), {"__name__": "__main__"})


def test_examples_of_json_in_the_readme(
    model: Any, tokenizer: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those of the section on JSON: others want a real model."""
    vocabulary = tk.Vocabulary.load([*(bytes([byte]) for byte in range(256)), None], stop=[256])
    namespace = {"tk": tk, "model": model, "tokenizer": tokenizer, "vocabulary": vocabulary}
    section = README.read_text(encoding="utf-8").split("\n## JSON\n")[1].split("\n## ")[0]
    run(section, str(README), namespace)
    result, person = namespace["result"], namespace["person"]
    assert isinstance(result.parse(), namespace["Person"])
    assert result.text in capsys.readouterr().out
    assert (person.name, person.born, person.languages) == ("Paul Klee", 1879, {"German"})
    assert {entry.status for entry in namespace["records"].report()} == {"enforced"}
    for text, good in (('{"id": 7}', True), ('{"id": 7, "tags": []}', False), ('{"id": 0}', False)):
        matcher = namespace["flat"].compile(vocabulary).matcher()
        taken = all(map(matcher.advance, text.encode()))
        assert (taken and matcher.is_accepting) == good


def test_examples_that_are_wrong_fail() -> None:
    for code, error in (
        ("assert 1 == 2", AssertionError),
        (">>> 1 + 1\n3", doctest.DocTestFailure),
        (">>> 1 / 0", doctest.UnexpectedException),
    ):
        with pytest.raises(error):
            run(f"```python\nx = 1\n```\n\n```python\n{code}\n```\n", "page", {})


def test_blocks_share_a_namespace_and_know_their_lines() -> None:
    run(
        "```python\nx = 1\n```\n```python\n>>> y = x + 1\n>>> y\n2\n```\n```python\nassert y == 2\n```\n",
        "page",
        {},
    )
    with pytest.raises(ZeroDivisionError) as caught:
        run("words\n```python\nx = 1\n\nx / 0\n```\n", "page", {})
    assert caught.traceback[-1].lineno + 1 == 5
