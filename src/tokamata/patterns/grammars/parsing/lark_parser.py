"""Texts of a Lark file, read by lark's own parser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tokamata.errors import ParseError, TokamataError
from tokamata.patterns.grammars.files.lark_calls import FAILURES, by_lark
from tokamata.patterns.grammars.files.lark_dialect import Translation
from tokamata.patterns.grammars.files.lark_files import LoadedFile
from tokamata.resources.bounded_steps import bounded
from tokamata.resources.later import Later
from tokamata.resources.limits import Watch

if TYPE_CHECKING:
    import lark

__all__ = ["LarkParser"]


class LarkParser:
    """lark's own parser of a file, made when it first reads a text.

    Args:
        loaded: the file.
        lexer: one of lark's.
    """

    def __init__(self, loaded: LoadedFile, lexer: str) -> None:
        self._made: Later[lark.Lark] = Later(lambda watch: _parser_of(loaded, lexer, watch))

    def read(self, text: str, watch: Watch) -> Any:
        """The ``lark.Tree`` of a text, with positions; of several, lark chooses by priorities.

        ``None`` if lark's parser fails.  It does for some texts of grammars in which a rule derives itself.

        Raises:
            ParseError: the text is none of the grammar's.
            LimitExceeded, Cancelled: the reading was stopped.
        """
        import lark
        import lark.indenter

        made = self._made(watch)
        try:
            with bounded(watch):
                return made.parse(text)
        except TokamataError:
            raise
        except lark.UnexpectedInput as error:
            end = len(text) if error.pos_in_stream is None else error.pos_in_stream
            place = f"byte {len(text[:end].encode())}"
            raise ParseError(
                place, f"the grammar has no text that goes on with {text[end : end + 20]!r}"
            ) from None
        except (lark.indenter.DedentError, RuntimeError, *FAILURES) as error:
            if made.options.postlex is None:
                return None
            raise ParseError("", f"the lines are not indented as the grammar wants it: {error}") from None


def _parser_of(loaded: LoadedFile, lexer: str, watch: Watch) -> lark.Lark:
    from tokamata.patterns.grammars.files.lark_loader import parser_of
    from tokamata.patterns.grammars.parsing.lark_matching import match_in_linear_time

    text = loaded.translation.text
    with by_lark(Translation(text), text, watch):
        parser = parser_of(loaded.definitions, loaded.indentation, loaded.start, lexer)
        match_in_linear_time(parser, watch)
        return parser
