"""Calls of lark: their work is bounded, and its errors become those of a grammar."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tokamata.errors import GrammarError, LimitExceeded, MissingExtraError, TokamataError
from tokamata.patterns.grammars.files.grammar_files import LeadsOut
from tokamata.patterns.grammars.files.lark_dialect import Translation
from tokamata.patterns.grammars.files.lark_messages import (
    bad_expression,
    error_of_lark,
    not_imported,
    not_read,
)
from tokamata.resources.bounded_steps import bounded
from tokamata.resources.limits import Watch

__all__ = ["FAILURES", "by_lark", "position_of"]

# What lark raises, besides its own errors: its loader for some files that are no grammars, its Indenter, and
# its parsers for some texts of grammars in which a rule derives itself.
FAILURES = (ValueError, TypeError, AttributeError, AssertionError, LookupError)


@contextmanager
def by_lark(file: Translation, text: str, watch: Watch) -> Iterator[None]:
    """Bounds the work of lark's loader, and turns its errors into those of a grammar."""
    try:
        import lark
    except ImportError as error:
        raise MissingExtraError("lark", "lark", "a grammar with syntax='lark'") from error
    from tokamata.patterns.grammars.files.lark_loader import GroupsTooLarge, TerminalTooLong

    try:
        with bounded(watch):
            yield
    except TokamataError:
        raise
    except TerminalTooLong as error:
        position = position_of(error.name, text)
        raise LimitExceeded("memory_bytes", error.bound, text, position, is_fixed=True) from error
    except GroupsTooLarge as error:
        reason = f"lark's LALR parser cannot distribute the groups of {error.rule}: they are too many"
        hint = "let groups be rules of their own, or choose lexer='basic'"
        raise GrammarError(text, position_of(error.rule, text), reason, hint) from error
    except lark.exceptions.LarkError as error:
        found = error_of_lark(error, file.text)
        position = min(file.position(found.position), len(text))
        raise GrammarError(text, position, found.reason, found.hint) from error
    except LeadsOut as error:
        reason = f"the grammar {error} cannot be imported: it is a link that leads out of the folder"
        hint = "copy the file into the folder of the grammar that is loaded"
        raise GrammarError(text, max(text.find("%import"), 0), reason, hint) from error
    except OSError as error:
        raise not_imported(text, Path(str(error.filename or error)).name) from error
    except _regex_errors() as error:
        given = error.pattern if isinstance(error.pattern, str) else ""  # type: ignore[attr-defined]
        raise bad_expression(text, given, str(error)) from error
    except RecursionError as error:
        raise GrammarError(text, 0, "groups nest too deep for lark's loader") from error
    except ImportError as error:
        advice = "install it with: pip install regex"
        raise MissingExtraError("regex", "", "a grammar with \\p{…}", advice) from error
    except FAILURES as error:
        raise not_read(text, error) from error


def _regex_errors() -> tuple[type[Exception], ...]:
    """The errors of ``re``, and of ``regex``, which lark uses where it is installed."""
    import lark.utils

    module = getattr(lark.utils, "regex", re)
    return re.error, module.error


def position_of(reason: str, text: str) -> int:
    """Where a grammar has the name that a message is about: one in quotes, or the last word that it has."""
    names = re.findall(r"'([A-Za-z_][A-Za-z0-9_]*)'", reason)
    for name in [*names, *reversed(re.findall(r"[A-Za-z_][A-Za-z0-9_]*", reason))]:
        if found := re.search(rf"(?<![A-Za-z0-9_]){name}(?![A-Za-z0-9_])", text):
            return found.start()
    return 0
