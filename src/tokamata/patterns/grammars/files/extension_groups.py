r"""Groups of terminals that regular expressions of tokamata read as extensions, and lark as ordinary groups.

``(?P<TEXT_UNTIL>END)`` is a text that ends with the first ``END`` for :func:`tokamata.regex`, and ``END``
alone for lark.  A terminal is read by both: masks follow the one, lark's own parser the other.  So such a
group is refused.  The extension can stand in a rule, as a constraint::

    T: /(?P<TEXT_UNTIL>END)/     start: @until     constraints={"until": tk.text_until("END")}

Rejected: writing extensions as expressions that lark reads.  Some are no regular languages (tokens), and a
substring is one whose expression grows with the square of the text.
"""

from __future__ import annotations

import re

from tokamata.errors import GrammarError
from tokamata.patterns.extensions import EXTENSIONS
from tokamata.patterns.grammars.files.lark_dialect_tokens import tokens_of
from tokamata.patterns.regex import DIALECTS
from tokamata.patterns.regex.extension import OPENING
from tokamata.resources.limits import Watch

__all__ = ["group_refused", "refuse_groups"]

_CAPITALS = re.compile("[A-Z][A-Z0-9_]+")
_PYTHON = DIALECTS["python"]


def refuse_groups(text: str, watch: Watch) -> None:
    """Raises for the first expression of a Lark file with a group that is named as an extension.

    Raises:
        GrammarError: there is one.
        LimitExceeded, Cancelled: the reading was stopped.
    """
    if OPENING not in text:
        return
    for token in tokens_of(text, watch):
        if token.kind == "regex":
            end = token.text.rindex("/")
            found = group_refused(token.text[1:end], "x" in token.text[end:])
            if found is not None:
                offset, reason, hint = found
                raise GrammarError(text, token.position + 1 + offset, reason, hint)


def group_refused(regex: str, is_verbose: bool) -> tuple[int, str, str] | None:
    """Where an expression has such a group, why it is refused, and what to do."""
    if OPENING not in regex:
        return None
    tokens = _PYTHON.verbose_tokens if is_verbose and _PYTHON.verbose_tokens else _PYTHON.tokens
    for found in tokens.finditer(regex):
        if not found.group().startswith(OPENING):
            continue
        name = found.group()[len(OPENING) : -1]
        if name in EXTENSIONS:
            reason = f"the extension {OPENING}{name}>…) cannot stand in a terminal"
            hint = (
                'write @name in a rule, and pass constraints={"name": tk.regex(…)}; '
                "for an ordinary group, write (?:…)"
            )
            return found.start(), reason, hint
        if _CAPITALS.fullmatch(name) and regex.startswith(")", found.end()):
            hint = f"the extensions are {', '.join(sorted(EXTENSIONS))}, and none can stand in a terminal"
            return found.start(), f"unknown extension {name[:40]!r}", hint
    return None
