"""Constraints: sets of texts, before any vocabulary."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tokamata import _core
from tokamata.compiled import CompiledConstraint
from tokamata.limits import CancelToken, Limits
from tokamata.patterns.regex import to_expression

if TYPE_CHECKING:
    from tokamata.vocabulary import Vocabulary


class Constraint:
    """A set of valid UTF-8 texts, independent of any vocabulary; immutable.

    Made by :func:`tokamata.regex`; turned into masks by :meth:`compile`.

    Attributes:
        pattern: the text that the constraint was made from.
    """

    __slots__ = ("_expression", "pattern")

    def __init__(self, expression: _core.Expression, pattern: str) -> None:
        self._expression = expression
        self.pattern = pattern

    def compile(
        self,
        vocabulary: Vocabulary,
        *,
        limits: Limits | None = None,
        cancel: CancelToken | None = None,
        start_of_text: bool = False,
    ) -> CompiledConstraint:
        """Composes the constraint with a vocabulary.

        Cheap: states and masks are made when they are asked for.

        Args:
            vocabulary: the tokens that a text is to be written in.
            limits: what compiling, and the work of each matcher, may cost; ``Limits()`` by default.
            cancel: stops any work under way, from another thread.
            start_of_text: the text is the first thing that the tokenizer decodes, so that its
                decoder's rule for the start holds (Llama 2 drops a space there).

        Raises:
            EmptyConstraintError: no text matches.
            UnspellableError: no text that matches can be spelled by the vocabulary.
            LimitExceeded, Cancelled: compiling was stopped.
        """
        return CompiledConstraint(
            self._expression, self.pattern, vocabulary, limits or Limits(), cancel, start_of_text
        )

    def __repr__(self) -> str:
        return f"tokamata.regex({self.pattern!r})"


def regex(pattern: str, flags: re.RegexFlag | int = 0) -> Constraint:
    r"""The texts that a regular expression matches as a whole.

    The syntax is that of Python's ``re``, with ``\p{…}`` for Unicode properties besides; the
    language is that of ``re.fullmatch``.  Unicode classes and case come from one version of the
    tables, ``tokamata.patterns.unicode.UNICODE_VERSION``, whatever Python runs it.

    Args:
        pattern: the regular expression.
        flags: ``re.IGNORECASE``, ``re.DOTALL``, ``re.VERBOSE``, ``re.ASCII``, or 0.

    Raises:
        PatternSyntaxError: it does not parse.
        NotRegularError: it uses what no regular language can say (backreferences, conditionals).
        UnsupportedPatternError: it uses what tokamata cannot express yet (lookaround, ``\b``).
    """
    return Constraint(to_expression(pattern, flags), pattern)
