"""Compiles a template in the environment of unknown texts, and runs it once."""

from __future__ import annotations

import bisect
import functools
import sys
from collections.abc import Callable, Mapping
from types import FrameType, TracebackType
from typing import Any

import jinja2
from jinja2 import nodes

from tokamata.errors import TemplateError, TokamataError
from tokamata.guard.templates.decisions import OverBudget, Run, Unfollowed
from tokamata.guard.templates.jinja_any_length import AnyLength
from tokamata.guard.templates.jinja_environment import RUN, Environment, TemplateRefuses
from tokamata.guard.templates.pieces import Piece, Unsettled, sources_of
from tokamata.guard.templates.texts import Raises, Text, joined

__all__ = ["Compiled", "Outcome", "compiled"]

# The pieces, the message if it is refused, what could not be followed.
Outcome = tuple[tuple[Piece, ...], str | None, Unsettled | None]

_FILE = "<chat template>"
_MOST_SOURCE = 150_000  # code points; the longest of 786 public templates has 45,602
_OTHERS = (nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)
# What refuses a conversation of any length; whatever else is raised, its unknown values may be the cause.
_REFUSALS = (TemplateRefuses, jinja2.UndefinedError)
_ADVICE = "correct the template; it must render in transformers' apply_chat_template"


@functools.cache
def _environment() -> Environment:
    return Environment()


@functools.cache
def _any_length() -> Environment:
    return AnyLength()


class Compiled:
    """A compiled template.

    Attributes:
        tree: its syntax tree.
    """

    def __init__(self, template: jinja2.Template, tree: nodes.Template, any_length: bool) -> None:
        self.tree = tree
        self._any_length = any_length
        self._template = template
        # The lines of the code, increasing, with those of the template.
        self._lines = [(code, own) for own, code in template.debug_info]

    def line(self) -> int:
        """The line of the template at work, 0 if none is."""
        frame: FrameType | None = sys._getframe()
        while frame is not None and frame.f_code.co_filename != _FILE:
            frame = frame.f_back
        return 0 if frame is None else self._own_line(frame.f_lineno)

    def _own_line(self, code: int) -> int:
        """The line of the template for one of the code."""
        at = bisect.bisect_right(self._lines, (code, sys.maxsize))
        return self._lines[at - 1][1] if at else 1

    def rendering(self, run: Run, inputs: Mapping[str, Any]) -> Outcome:
        """The pieces that one run writes; the message if it is refused; what could not be followed.

        Raises:
            TemplateError: it takes too much time or memory.
        """
        token = RUN.set(run)
        parts: list[str | Text] = []
        run.written, run.namespaces, run.walks, run.gaps = parts, [], [], 0
        run.begin, run.has_other_begin = None, False
        if run.trace is not None:
            run.trace.written = lambda: sum(1 for part in parts if not isinstance(part, str) or part)
        try:
            for part in self._template.root_render_func(self._template.new_context(dict(inputs))):
                parts.append(part)
                run.admit(len(parts), "a sequence of outputs")
            return _pieces(run, parts), None, None
        except Unfollowed as error:
            unsettled = Unsettled(error.what, self._line_of(error.__traceback__))
            return _pieces(run, parts), None, unsettled
        except (Raises, jinja2.TemplateError) as error:
            if self._any_length and not isinstance(error, _REFUSALS):
                what = (
                    f"{type(error).__name__}: {error}"  # the values of the conversation itself may not raise
                )
                return _pieces(run, parts), None, Unsettled(what[:200], self._line_of(error.__traceback__))
            return _pieces(run, parts), str(error) or type(error).__name__, None
        except (OverBudget, RecursionError, MemoryError) as error:
            what = error.what if isinstance(error, OverBudget) else f"it ends in a {type(error).__name__}"
            asked = (source for each in run.conditions for source in sources_of(each.subject))
            if any(source.origin == "unknown" for source in asked):  # it may be a path of no conversation
                return (), None, Unsettled(what, self._line_of(error.__traceback__))
            raise _too_much(self._line_of(error.__traceback__), what) from None
        except TokamataError:  # a limit of the caller
            raise
        except Exception as error:  # unknown values meet code of jinja2 and Python that was not foreseen
            what = f"{type(error).__name__}: {error}"
            return _pieces(run, parts), None, Unsettled(what[:200], self._line_of(error.__traceback__))
        finally:
            RUN.reset(token)

    def _line_of(self, traceback: TracebackType | None) -> int:
        line = 0
        while traceback is not None:
            if traceback.tb_frame.f_code.co_filename == _FILE:
                line = traceback.tb_lineno
            traceback = traceback.tb_next
        return self._own_line(line) if line else 0


def _too_much(line: int, what: str) -> TemplateError:
    return TemplateError(line, what, "simplify the template; these bounds are fixed")


def _pieces(run: Run, parts: list[str | Text]) -> tuple[Piece, ...]:
    try:
        text = joined(run, parts)
    except OverBudget as error:
        raise _too_much(0, error.what) from None
    return text.pieces if isinstance(text, Text) else (text,) if text else ()


def compiled(
    source: str, change: Callable[[nodes.Template], None] | None = None, *, any_length: bool = False
) -> Compiled:
    """A template, compiled; ``change`` changes its syntax tree before.

    Args:
        source: its text.
        change: changes its syntax tree.
        any_length: whether it is to be run on a conversation of any length, seen around one message.

    Raises:
        TemplateError: it does not parse, or needs other templates.
    """
    if len(source) > _MOST_SOURCE:
        raise TemplateError(0, f"it is longer than {_MOST_SOURCE:,} characters", _ADVICE)
    environment = _any_length() if any_length else _environment()
    try:
        tree = environment.parse(source)
        changed = environment.parse(source)
        if change is not None:
            change(changed)
        for node in tree.find_all((*_OTHERS, nodes.ScopedEvalContextModifier)):
            if isinstance(node, _OTHERS):
                name = type(node).__name__.lower()
                raise TemplateError(
                    node.lineno, f"it needs another template ({name}); there is none", _ADVICE
                )
            raise TemplateError(node.lineno, "it switches autoescape, which is not read", _ADVICE)
        code = environment.compile(changed, filename=_FILE)
        template = jinja2.Template.from_code(environment, code, environment.make_globals(None))
    except TemplateError:
        raise
    except jinja2.TemplateSyntaxError as error:
        raise TemplateError(error.lineno, error.message or "a syntax error", _ADVICE) from None
    except (RecursionError, MemoryError) as error:
        raise TemplateError(0, f"it nests too deeply ({type(error).__name__})", _ADVICE) from None
    except (SyntaxError, ValueError, OverflowError, UnicodeError) as error:
        raise TemplateError(0, f"it cannot be compiled: {error}"[:300], _ADVICE) from None
    if change is not None:
        change(tree)
    return Compiled(template, tree, any_length)
