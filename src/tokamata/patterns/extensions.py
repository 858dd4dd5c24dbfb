"""The extensions of *Automata-based constraints for language model decoding* (2024), section 2.5, table 1.

Each is an expression, and a specially named group of regular expressions:

==========================================  ==========================================================
``(?P<QUOTED_TEXT>)``                       a string in double quotes, with backslash escapes, on one line
``(?P<UNQUOTED_TEXT>)``                     a plain scalar as YAML has it: no quotes needed, on one line
``(?P<IMAGE>)``                             an image: the control tokens that begin it, make it up and end it
``(?P<CONTROL_TOKEN>name)``                 a control token, by its name or its id in digits
``(?P<TEXT_TOKEN>)``                        one text token; ``(?P<TEXT_TOKEN>+)``, ``*``, ``{2,5}``: so many
``(?P<PARAGRAPH_TOKEN>)``                   one text token without a newline; quantifiers as above
``(?P<TEXT_UNTIL>phrase)``                  text that ends where the phrase appears first, phrase included
``(?P<SUBSTRING_OF>text)``                  any substring of the text, the empty one too
``(?P<DELIMITED_LIST>d|item)``              one or more items with ``d`` between them
``(?P<DELIMITED_SUBSEQUENCE_OF>d|a|b|c)``   one or more of the items, in their order, with ``d`` between them
==========================================  ==========================================================

The paper lets a state have edges for tokens and edges for whole masks, and where a token is on both it
follows the token's own edge by a heuristic, which may lose accepted texts.  Here both ways are
followed, so that a mask is exact.

Delimiters and items are patterns; a ``|`` in a delimiter needs parentheses.  Phrases and texts stand
for themselves, escapes aside.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Protocol

import tokamata._core as _core
from tokamata.patterns.regex import DIALECTS, to_expression
from tokamata.resources.limits import CancelToken, Limits, core_limits

if TYPE_CHECKING:
    from tokamata.patterns.regex import ExtensionCall

__all__ = [
    "EXTENSIONS",
    "IMAGE_FAMILIES",
    "EngineTokens",
    "Tokens",
    "any_token",
    "control_token",
    "delimited_list",
    "delimited_subsequence_of",
    "image",
    "named_text",
    "named_token",
    "one_of",
    "paragraph_token",
    "quoted_text",
    "spelled_text",
    "substring_of",
    "text_token",
    "text_until",
    "token_but",
    "unquoted_text",
]

MOST_ITEMS = 1000  # of a delimited subsequence, whose expression grows with their square

_QUOTED = r'"(?:[^"\\\n\r]|\\[^\n\r])*"'

# YAML 1.2, rule 126 and those below it, in one line: what stands first is no indicator, or one of - ? :
# with something right after it; a colon has something right after it; a # has something right before it.
_VISIBLE = r"\s\x00-\x1f\x7f-\x9f\ufeff\ufffe\uffff"
_PLAIN_REST = rf"(?: *(?::*[^{_VISIBLE}:#]|:+#)|#)*"
_PLAIN_FIRST = rf"[^{_VISIBLE}\-?:,\[\]{{}}#&*!|>'\"%@`]|:+[^{_VISIBLE}:]|[\-?](?::*[^{_VISIBLE}:#]|:*#)"
_PLAIN = f"(?:{_PLAIN_FIRST}){_PLAIN_REST}"

# The control tokens that begin an image, make it up, and end it, as families of models name them.
IMAGE_FAMILIES = (
    ("<start_of_image>", "<image_soft_token>", "<end_of_image>"),  # Gemma 3
    ("<|vision_start|>", "<|image_pad|>", "<|vision_end|>"),  # Qwen
    ("<|image_start|>", "<|patch|>", "<|image_end|>"),  # Llama 4
)

_QUANTIFIER = re.compile(r"(?P<sign>[+*?]?)|\{(?P<low>\d{1,7})(?P<range>,(?P<high>\d{0,7}))?\}")
_SIGNS = {"": (1, 1), "+": (1, None), "*": (0, None), "?": (0, 1)}


# ---- expressions ------------------------------------------------------------------------------


@cache
def quoted_text() -> _core.Expression:
    """A string in double quotes on one line; a backslash escapes any one character but a line break."""
    return to_expression(_QUOTED)


@cache
def unquoted_text() -> _core.Expression:
    """A plain scalar as YAML has it in a block, on one line, without spaces at either end."""
    return to_expression(_PLAIN)


class Tokens(Protocol):
    """How single tokens are written in an expression: as tokens, or as marks in a text.

    Attributes:
        are_marks: whether they are marks.
    """

    are_marks: bool

    def control(self, key: str) -> _core.Expression:
        """The control tokens of a key."""

    def named_text(self, name: str) -> _core.Expression:
        """A text token of this text."""

    def text_but(self, names: Sequence[str]) -> _core.Expression:
        """Any other text token."""

    def spelled(self, texts: Sequence[str]) -> _core.Expression:
        """One of some texts; control tokens may stand in it for their names."""

    def named(self, text: str) -> _core.Expression:
        """A text in which one or more control tokens stand for their names."""


class EngineTokens:
    """Tokens as the engine has them, before a vocabulary says which names are those of control tokens."""

    are_marks = False

    def control(self, key: str) -> _core.Expression:
        """The control tokens of a key."""
        return _core.control_token(key)

    def named_text(self, name: str) -> _core.Expression:
        """A text token of this text."""
        return _core.intersect([text_token(), _core.literal(name.encode())])

    def text_but(self, names: Sequence[str]) -> _core.Expression:
        """Any other text token."""
        if not names:
            return text_token()
        return _core.intersect([text_token(), _core.complement(_core.strings(list(names)))])

    def spelled(self, texts: Sequence[str]) -> _core.Expression:
        """One of some texts."""
        return one_of(texts)

    def named(self, text: str) -> _core.Expression:
        """Nothing: no control token is known."""
        return _core.empty()


def one_of(texts: Sequence[str]) -> _core.Expression:
    """One of some texts."""
    return _core.literal(texts[0].encode()) if len(texts) == 1 else _core.strings(list(texts))


_ENGINE = EngineTokens()


def control_token(token: str | int, tokens: Tokens = _ENGINE) -> _core.Expression:
    """A control token itself, never text that looks like it; by name, or by id."""
    return tokens.control(f"id:{token}" if isinstance(token, int) else f"name:{token}")


def spelled_text(texts: Sequence[str], tokens: Tokens = _ENGINE) -> _core.Expression:
    """One of some texts, in which a control token of the vocabulary may stand for its name."""
    return tokens.spelled(texts)


def named_text(text: str, tokens: Tokens = _ENGINE) -> _core.Expression:
    """A text in which one or more control tokens of the vocabulary stand for their names."""
    return tokens.named(text)


def named_token(name: str, tokens: Tokens = _ENGINE) -> _core.Expression:
    """The one token of this name: a control token, or, where the vocabulary has it as text, a text token."""
    return _core.union([tokens.named_text(name), tokens.control(f"if text:{name}")])


def token_but(names: Sequence[str], ids: Sequence[int], tokens: Tokens = _ENGINE) -> _core.Expression:
    """One token, control tokens included, except those of some names, and control tokens of some ids."""
    key = f"not:{json.dumps([*names, *([token, token] for token in ids)])}"
    return _core.union([tokens.text_but(names), tokens.control(key)])


def any_token(but: Sequence[str | tuple[int, int]] = ()) -> _core.Expression:
    """Any token: a text token, or a control token that is not left out by name, or by a range of ids."""
    return _core.union([text_token(), _core.control_token(f"not:{json.dumps(but)}")])


def image() -> _core.Expression:
    """An image: the token that begins one, those that make it up, the token that ends it.

    Which tokens these are is decided for each vocabulary, among ``IMAGE_FAMILIES``.
    """
    content = _core.repeat(_core.control_token("image:1"), 1, None)
    return _core.concat([_core.control_token("image:0"), content, _core.control_token("image:2")])


def text_token() -> _core.Expression:
    """One text token, whatever its bytes."""
    return _core.one_token([(0, 255)])


def paragraph_token() -> _core.Expression:
    """One text token without a line feed or a carriage return."""
    return _core.one_token([(0, 9), (11, 12), (14, 255)])


def text_until(phrase: str) -> _core.Expression:
    """Text that ends with ``phrase``, which appears nowhere in it before."""
    return _core.until(phrase)


def substring_of(
    text: str, limits: Limits | None = None, cancel: CancelToken | None = None
) -> _core.Expression:
    """Any substring of ``text``, the empty one too; linear in its length."""
    return _core.substrings(text, core_limits(limits or Limits()), cancel)


def delimited_list(
    item: _core.Expression, delimiter: _core.Expression, minimum: int, maximum: int | None
) -> _core.Expression:
    """``minimum`` to ``maximum`` items, one at least, with the delimiter between each two."""
    more = _core.concat([delimiter, item])
    return _core.concat([item, _core.repeat(more, minimum - 1, None if maximum is None else maximum - 1)])


def delimited_subsequence_of(
    items: Sequence[_core.Expression], delimiter: _core.Expression
) -> _core.Expression:
    """One or more of the items, in their order, each at most once, with the delimiter between each two."""
    more = [
        _core.union([_core.epsilon(), _core.concat([delimiter, item])]) for item in items
    ]  # shared by all of the ways below
    return _core.union([_core.concat([item, *more[i + 1 :]]) for i, item in enumerate(items)])


# ---- groups -----------------------------------------------------------------------------------


def _without_argument(call: ExtensionCall) -> None:
    if call.argument:
        raise call.error(f"{call.name} takes no argument", f"write (?P<{call.name}>)")


def _argument(call: ExtensionCall, example: str) -> str:
    if not call.argument:
        raise call.error(f"{call.name} needs an argument", f"write, for example, (?P<{call.name}>{example})")
    return call.argument


def _quoted(call: ExtensionCall) -> _core.Expression:
    _without_argument(call)
    return quoted_text()


def _unquoted(call: ExtensionCall) -> _core.Expression:
    _without_argument(call)
    return unquoted_text()


def _image(call: ExtensionCall) -> _core.Expression:
    _without_argument(call)
    return image()


def _control(call: ExtensionCall) -> _core.Expression:
    name = call.unescape(_argument(call, "<end_of_turn>"), 0)
    return control_token(int(name) if name.isascii() and name.isdigit() and len(name) < 10 else name)


def _tokens(call: ExtensionCall) -> _core.Expression:
    match = _QUANTIFIER.fullmatch(call.argument)
    if not match:
        hint = f"write (?P<{call.name}>), (?P<{call.name}>+) or (?P<{call.name}>{{2,5}})"
        raise call.error(f"{call.name} takes a quantifier alone", hint)
    low: int
    high: int | None
    if match["low"] is None:
        low, high = _SIGNS[match["sign"]]
    else:
        low = int(match["low"])
        high = low if match["range"] is None else int(match["high"]) if match["high"] else None
    if high is not None and low > high:
        raise call.error(f"{call.name} has a minimum above its maximum", "swap the two")
    token = text_token() if call.name == "TEXT_TOKEN" else paragraph_token()
    return token if (low, high) == (1, 1) else _core.repeat(token, low, high, call.position)


def _until(call: ExtensionCall) -> _core.Expression:
    return text_until(call.unescape(_argument(call, "END"), 0))


def _substring(call: ExtensionCall) -> _core.Expression:
    return substring_of(call.unescape(_argument(call, "some text"), 0))


def split_at_bars(argument: str, tokens: re.Pattern[str]) -> list[str]:
    """The parts of an argument between its bars, those in groups, classes, escapes and comments aside.

    ``tokens`` cuts it as the dialect does: in that of ECMA-262 the class ``[^]`` has an end.

    >>> split_at_bars("[|]|(a|b)", DIALECTS["python"].tokens)
    ['[|]', '(a|b)']
    """
    parts, begin, depth = [], 0, 0
    for found in tokens.finditer(argument):
        token = found.group()
        if token == "|" and depth == 0:
            parts.append(argument[begin : found.start()])
            begin = found.end()
        elif token == ")":
            depth -= 1
        elif token[:1] == "(" and token[-1] != ")":  # (?i) and comments are whole tokens
            depth += 1
    return [*parts, argument[begin:]]


def _parts(call: ExtensionCall, example: str) -> list[_core.Expression]:
    """The delimiter and the items, which bars at the top level part."""
    dialect = DIALECTS[call.dialect]
    tokens = (dialect.verbose_tokens if call.flags & dialect.verbose else None) or dialect.tokens
    texts = split_at_bars(_argument(call, example), tokens)
    if len(texts) < 2:
        raise call.error(f"{call.name} needs a delimiter and an item", f"write (?P<{call.name}>{example})")
    parts = []
    offset = 0
    for text in texts:
        parts.append(call.compile(text, offset))
        offset += len(text) + 1
    return parts


def _list(call: ExtensionCall) -> _core.Expression:
    delimiter, *items = _parts(call, ", |[a-z]+")
    return delimited_list(_core.union(items), delimiter, 1, None)


def _subsequence(call: ExtensionCall) -> _core.Expression:
    delimiter, *items = _parts(call, ", |red|green|blue")
    if len(items) > MOST_ITEMS:
        raise call.error(f"{call.name} has {len(items):,} items", f"give it {MOST_ITEMS:,} at most")
    return delimited_subsequence_of(items, delimiter)


EXTENSIONS = {
    "QUOTED_TEXT": _quoted,
    "UNQUOTED_TEXT": _unquoted,
    "IMAGE": _image,
    "CONTROL_TOKEN": _control,
    "TEXT_TOKEN": _tokens,
    "PARAGRAPH_TOKEN": _tokens,
    "TEXT_UNTIL": _until,
    "SUBSTRING_OF": _substring,
    "DELIMITED_LIST": _list,
    "DELIMITED_SUBSEQUENCE_OF": _subsequence,
}
