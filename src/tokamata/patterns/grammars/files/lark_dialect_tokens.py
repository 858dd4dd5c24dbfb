"""The tokens of a Lark file with the constructs that llguidance adds to it.

    start: <think> TEXT{1,3} @answer      start · : · <think> · TEXT · {1,3} · @answer

Texts and expressions are one token each, as in lark, so that nothing is found inside of them; so is a JSON
object after ``%json``, and a grammar after ``%lark``.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from tokamata.errors import GrammarError
from tokamata.resources.limits import Watch

__all__ = ["DialectToken", "number_in", "tokens_of"]

_TOKENS = re.compile(
    r"""
      (?P<comment>\s*//[^\n]*|\s*\#[^\n]*)
    | (?P<newline>(?:\r?\n)+\s*(?P<goes_on>\|)?)
    | (?P<blank>[ \t\f]+|\\[ ]*\n)
    | (?P<text>"(?:\\"|\\\\|[^"\n])*?"i?)
    | (?P<regex>/(?!/)(?:\\/|\\\\|[^/])*?/[a-z]*)
    | (?P<control><\[[^\]\n]*\]>|<[^<>\s\[][^<>\s]*>)
    | (?P<name>_?[A-Za-z][A-Za-z0-9_]*(?:-[A-Za-z0-9_]+)*)
    | (?P<embedded>@[A-Za-z_][A-Za-z0-9_-]*)
    | (?P<word>%[a-z]+)
    | (?P<number>[0-9]+(?![.][0-9]))
    | (?P<count>\{\s*(?:[0-9]+\s*(?:,\s*[0-9]*\s*)?|,\s*[0-9]+\s*)\})
    | (?P<sign>->|::|\.\.|.)
    """,
    re.VERBOSE,
)


_AS_JSON = 'write it as JSON, with names and texts in double quotes: {"type": "string"}'
_BLANKS = re.compile(r"[ \t\r\n]*")


class DialectToken(NamedTuple):
    """A token, and where the file has it.

    Attributes:
        kind: ``text``, ``regex``, ``control``, ``name``, ``embedded``, ``word``, ``number``, ``count``,
            ``sign``, ``newline``, ``blank`` (comments too), ``json`` or ``lark``.
        text: as the file writes it.
        position: its offset.
        value: the object of a ``json`` token.
    """

    kind: str
    text: str
    position: int
    value: Any = None


def tokens_of(text: str, watch: Watch) -> list[DialectToken]:
    """The tokens of a file; a line that goes on with ``|`` does not end a statement.

    Raises:
        GrammarError: an object after ``%json`` is none, or a grammar after ``%lark`` has no end.
    """
    found: list[DialectToken] = []
    position = 0
    while position < len(text):
        watch.check()
        match = _TOKENS.match(text, position)
        if match is None:  # a line break of another kind
            found.append(DialectToken("blank", text[position], position))
            position += 1
            continue
        kind, end = str(match.lastgroup), match.end()
        if match["newline"] is not None:
            goes_on = match["goes_on"] is not None
            end -= goes_on
            kind = "blank" if goes_on else "newline"
        elif kind == "comment":
            kind = "blank"
        found.append(DialectToken(kind, text[position:end], position))
        position = end
        if kind == "word" and match["word"] in ("%json", "%regex", "%llguidance"):
            begin = _BLANKS.match(text, end).end()  # type: ignore[union-attr]
            value, position = json_at(text, begin)
            found.append(DialectToken("json", text[begin:position], begin, value))
        elif kind == "word" and match["word"] == "%lark":
            position = _end_of_grammar(text, end, watch)
            found.append(DialectToken("lark", text[end:position], end))
    return found


def number_in(digits: str) -> int:
    """The number that some digits write; of more than any bound permits, a large one."""
    return int(digits) if len(digits) < 12 else 10**12


def json_at(text: str, position: int) -> tuple[Any, int]:
    """The JSON value at a position, and where it ends."""
    try:
        return json.JSONDecoder().raw_decode(text, position)
    except json.JSONDecodeError as error:
        reason = f"a JSON object is expected here: {error.msg.lower()}"
        raise GrammarError(text, min(error.pos, len(text)), reason, _AS_JSON) from None
    except ValueError:
        raise GrammarError(text, position, "this JSON has a number of too many digits") from None
    except RecursionError:
        raise GrammarError(text, position, "this JSON nests too deep") from None


def _end_of_grammar(text: str, position: int, watch: Watch) -> int:
    """Where the braces end in which a grammar stands."""
    depth, begin = 0, position
    while position < len(text):
        watch.check()
        match = _TOKENS.match(text, position)
        end = match.end() if match else position + 1
        token = text[position:end]
        if token == "{":
            depth += 1
        elif token == "}":
            depth -= 1
        elif depth == 0 and token.strip():
            raise GrammarError(text, position, "a grammar in braces is expected here", "write %lark { … }")
        if depth == 0 and token == "}":
            return end
        position = end
    raise GrammarError(text, begin, "the grammar after %lark has no closing brace")
