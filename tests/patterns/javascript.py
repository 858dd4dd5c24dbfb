"""A real JavaScript engine as the judge of the dialect ``"ecma"``: one Node.js process, fed line by line.

Texts and patterns travel as JSON, escaped down to ASCII, so that nothing depends on encodings.

V8 begins to search in the middle of surrogate pairs, which ECMA-262 does not under flag ``u``:
``/(?![^])(?!$)/u`` finds something in ``"😀"``.  So each pattern is searched for by ``^[^]*?(?:…)``, which
means the same and steps over whole code points.
"""

from __future__ import annotations

import json
import subprocess

_SCRIPT = """
const lines = require('readline').createInterface({input: process.stdin});
lines.on('line', line => {
  const [pattern, flags, texts] = JSON.parse(line);
  let answer;
  try {
    new RegExp(pattern, flags);
    const judge = new RegExp(`^[^]*?(?:${pattern})`, flags);
    answer = texts.map(text => judge.test(text));
  } catch (error) {
    answer = escape(error.message);
  }
  console.log(JSON.stringify(answer));
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
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([pattern, unicode + flags, texts]) + "\n")
        self._process.stdin.flush()
        answer: list[bool] | str = json.loads(self._process.stdout.readline())
        return answer

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(10)
