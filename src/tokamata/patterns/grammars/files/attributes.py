"""The attributes of a rule: ``answer[lazy, max_tokens=20]: TEXT "."``.

=========================  ==================================================================
``lazy``                   a text of the body that has no shorter one at its beginning
``suffix=T``               likewise, of the body followed by ``T``
``stop=T``                 a text of the body in which ``T`` has not appeared; ``T`` is not part of it
``max_tokens=N``           a text of the body of at most ``N`` tokens, which begins and ends between tokens
``capture``, ``capture=N``  ``parse`` returns the text by the name of the rule, or by the text ``N``
``stop_capture``, ``temperature``   refused: they change no text, and a caller would miss them
=========================  ==================================================================

``T`` is a text, an expression or the name of a terminal.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import NamedTuple

from tokamata.errors import GrammarError
from tokamata.patterns.grammars.files.lark_dialect_tokens import DialectToken, number_in

__all__ = ["Attributes", "attributes_of"]

_VALUES = {  # the kinds of tokens that are the value of an attribute; none: it takes no value
    "lazy": (),
    "suffix": ("text", "regex", "name"),
    "stop": ("text", "regex", "name"),
    "max_tokens": ("number",),
    "capture": ("text",),
}
_OPTIONAL = ("capture",)  # they need no value
_REFUSED = {
    "stop_capture": "the stop is not part of the rule's text",
    "temperature": "set it where tokens are sampled",
}


class Attributes(NamedTuple):
    """The attributes of a rule.

    Attributes:
        is_lazy: whether its text ends where it may end first.
        suffix, stop: the terminal that ends it: its source.
        max_tokens: how many tokens it may have.
        capture: the name of its text among the captured values; ``""``: that of the rule.
    """

    is_lazy: bool = False
    suffix: str | None = None
    stop: str | None = None
    max_tokens: int | None = None
    capture: str | None = None

    @property
    def change_texts(self) -> bool:
        """Whether the texts of the rule are others than those of its body."""
        return self.is_lazy or bool(self.suffix or self.stop) or self.max_tokens is not None


def attributes_of(
    tokens: list[DialectToken], fault: Callable[[DialectToken, str, str], GrammarError]
) -> Attributes:
    """The attributes between the brackets; ``tokens`` ends with the closing one.

    Raises:
        GrammarError: one of them does not exist, or has another value.
    """
    found: dict[str, DialectToken | None] = {}
    at = 0
    while tokens[at].text != "]":
        name = tokens[at]
        if name.text in _REFUSED:
            raise fault(name, f"the attribute {name.text} is not supported", _REFUSED[name.text])
        if name.text not in _VALUES:
            raise fault(name, f"there is no attribute {name.text!r:.40}", f"there are {', '.join(_VALUES)}")
        if name.text in found:
            raise fault(name, f"the attribute {name.text} is given twice", "remove one of them")
        at, kinds, value = at + 1, _VALUES[name.text], None
        if tokens[at].text == "=":
            value, at = tokens[at + 1], at + 2
            if value.kind not in kinds:
                what = " or ".join(kinds) or "no value"
                raise fault(value, f"{name.text} takes {what}, not {value.text!r:.40}", "")
        elif kinds and name.text not in _OPTIONAL:
            raise fault(name, f"{name.text} needs a value", f"write {name.text}=…")
        found[name.text] = value
        if tokens[at].text == ",":
            at += 1
        elif tokens[at].text != "]":
            raise fault(tokens[at], "',' or ']' is expected here", "")
    if "suffix" in found and "stop" in found:
        raise fault(tokens[at], "a rule has a suffix or a stop, not both", "remove one of them")
    values = {name: value.text for name, value in found.items() if value is not None}
    most, stop = values.get("max_tokens"), values.get("stop")
    return Attributes(
        "lazy" in found,
        values.get("suffix"),
        None if stop == '""' else stop,  # "" stands for the end of the text
        None if most is None else number_in(most),
        _captured(values.get("capture", '""')) if "capture" in found else None,
    )


def _captured(literal: str) -> str:
    """The name that a text of the grammar writes."""
    name = ast.literal_eval(literal)
    return name if isinstance(name, str) else ""
