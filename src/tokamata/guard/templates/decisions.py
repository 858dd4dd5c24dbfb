"""A run: one path through a template, with the answers to its questions and a budget.

A template asks questions about texts that it does not know: is the content empty, does it contain
``</think>``?  A run answers from a script.  Where the script ends it answers *no* and goes on; the caller
then repeats the run with each of these answers turned, so that all paths are taken, depth first::

    script ()           answers no, no      then try (yes), (no, yes)
    script (no, yes)    answers no, yes

An answer that others imply is not asked: that a text which is empty contains nothing, that a text without
``</think>`` does not begin with it.  Rules for that are sound and incomplete, so that some paths have
conditions that no text satisfies.  They cost time and no exactness.

The budget bounds steps, the length of texts, the size of containers and the depth of calls, wherever a
template works: a thread cannot be stopped from outside.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from tokamata.guard.templates.pieces import Condition, Piece, Slot, Source, Unsettled, decided
from tokamata.guard.templates.steps import STRIPS
from tokamata.resources.limits import Watch

__all__ = ["MOST_ITEMS", "MOST_LENGTH", "MOST_NUMBER", "OverBudget", "Run", "Trace", "Unfollowed"]

MOST_STEPS = 300_000  # operations of one run; 5 turns of the longest known template take some 20,000
MOST_LENGTH = 1_000_000  # code points of one text
MOST_ITEMS = 100_000  # items of a container, with those within
MOST_NUMBER = 100_000  # arguments that are numbers, such as widths; bits of a number
MOST_DEPTH = 50  # calls of macros within each other; the interpreter bears some 100
MOST_PIECES = 20_000
MOST_QUESTIONS = 200  # of one path
_STEPS_OF_A_CHECK = 16


class Unfollowed(BaseException):
    """The template does something with a slot that is not followed; no ``except Exception`` may catch it."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


class OverBudget(BaseException):
    """A template takes too much time or memory."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


class Trace:
    """The state of a template at the head of each iteration over the messages.

    Variables that a loop sets end with its iteration, and lists cannot be changed; only variables of the top
    level last, with the namespaces that they hold.

    Attributes:
        heads: the index of a message, what lasts, how much is written and how many questions were asked, as
            its iteration begins.
        written: counts what is written at the top level.
        indices: the indices of messages, by the identity of the dictionary.
        reads_from_the_end: whether a message was read by a negative index.
    """

    def __init__(self, describe: Callable[[Any, Any, int], Any]) -> None:
        self.heads: list[tuple[int, Any, int, int]] = []
        self.written: Callable[[], int] = int
        self.indices: dict[int, int] = {}
        self.reads_from_the_end = False
        self._describe = describe

    def enter(self, item: Any, variables: dict[str, Any], asked: int) -> None:
        """Notes the state if the item is a message."""
        index = self.indices.get(id(item))
        if index is not None:
            state = self._describe(self, variables, index)
            self.heads.append((index, state, self.written(), asked))

    def note_negative(self, items: list[Any]) -> None:
        """Notes that an item of a list was read by a negative index."""
        self.reads_from_the_end |= any(id(item) in self.indices for item in items)


class Run:
    """The state of one path.

    Attributes:
        conditions: the answers that were asked, in order.
        depth: calls within each other that are under way.
        trace: what the loops over the conversation leave behind, where that is needed.
        namespaces: those that the template has made.
        written: what was put out, outside of blocks whose text is captured.
        begin: how much was written when the first loop that writes came to the message in the focus.
        has_other_begin: whether another loop that writes came to it as well.
        gaps: how many loops have left out iterations.
        walks: what loops go through that have begun and have no item yet.
        phase: distinguishes two conversations that are rendered in one run, of which one is longer.
        reads_from_the_end: whether a message was read by a negative index.
        focus: the index of the message that a conversation of any length is seen around; otherwise -1.
    """

    def __init__(self, script: tuple[bool, ...], watch: Watch, line: Callable[[], int]) -> None:
        self.conditions: list[Condition] = []
        self.depth = 0
        self.namespaces: list[Any] = []
        self.written: list[Any] = []
        self.walks: list[Any] = []
        self.gaps = 0
        self.begin: int | None = None
        self.has_other_begin = False
        self.phase = ""
        self.reads_from_the_end = False
        self.focus = -1
        self._terms: dict[Hashable, int] = {}
        self.trace: Trace | None = None
        self._answers: dict[tuple[str, tuple[Piece, ...], Any], bool] = {}
        self._constants: dict[Slot, str] = {}
        self._script = script
        self._watch = watch
        self._line = line
        self._steps = 0

    @property
    def line(self) -> int:
        """The line of the template that is at work."""
        return self._line()

    def unsettled(self, error: Unfollowed, line: int) -> Unsettled:
        """What an operation leaves open."""
        return Unsettled(error.what, line)

    def tick(self, steps: int = 1) -> None:
        """Counts steps.

        Raises:
            OverBudget: they are too many.
            LimitExceeded, Cancelled: by the caller's limits.
        """
        before, self._steps = self._steps, self._steps + steps
        if self._steps > MOST_STEPS:
            raise OverBudget(f"it takes more than {MOST_STEPS:,} steps")
        if before // _STEPS_OF_A_CHECK != self._steps // _STEPS_OF_A_CHECK:
            self._watch.check()

    def admit(self, length: int, what: str = "a text", most: int = MOST_LENGTH) -> None:
        """Counts the work of making a text, or another value, of a size.

        Raises:
            OverBudget: it is too long.
        """
        if length > most:
            raise OverBudget(f"it makes {what} longer than {most:,}")
        self.tick(1 + length // 1000)

    def known(self, kind: str, subject: tuple[Piece, ...], argument: Any) -> bool | None:
        """The answer if it was given or is implied; otherwise ``None``."""
        subject = self._with_constants(subject)
        if not any(isinstance(piece, Slot) for piece in subject) and not isinstance(argument, tuple):
            return decided(Condition(kind, subject, argument), {})
        answer = self._answers.get((kind, subject, argument))
        if answer is None and len(subject) == 1 and not isinstance(argument, tuple):
            answer = self._implied(kind, subject, argument)
        return answer

    def ask(self, kind: str, subject: tuple[Piece, ...], argument: Any) -> bool:
        """The answer to a question about a text, on this path."""
        self.tick()
        answer = self.known(kind, subject, argument)
        if answer is not None:
            return answer
        if kind == "contains":
            kind, subject, argument = _simplified(kind, subject, argument)
            answer = self.known(kind, subject, argument)
            if answer is not None:
                return answer
        subject = self._with_constants(subject)
        asked = len(self.conditions)
        if asked == MOST_QUESTIONS:
            raise Unfollowed(f"more than {MOST_QUESTIONS} questions about texts")
        answer = self._script[asked] if asked < len(self._script) else False
        self.conditions.append(Condition(kind, subject, argument, answer, self.line))
        self._answers[kind, subject, argument] = answer
        if kind == "equals" and answer and len(subject) == 1 and isinstance(argument, str):
            (slot,) = subject
            assert isinstance(slot, Slot)
            self._constants[slot] = argument
        return answer

    def unknown(self, term: Hashable = None) -> bool:
        """An answer that nothing determines: both are tried, once for each term, or each time anew."""
        number = self.number_of(term)
        return self.ask("is true", (Slot(Source("unknown", number, "", "")),), None)

    def number_of(self, term: Hashable = None) -> int:
        """The number of a term, or a new one."""
        if term is None:
            term = ("unknown", len(self._terms))
        return self._terms.setdefault(term, len(self._terms))

    def _with_constants(self, subject: tuple[Piece, ...]) -> tuple[Piece, ...]:
        """The text with what is known in place of slots."""
        if not self._constants:
            return subject
        pieces: list[Piece] = []
        for piece in subject:
            known = self._constant(piece) if isinstance(piece, Slot) else piece
            if isinstance(known, str) and pieces and isinstance(pieces[-1], str):
                pieces[-1] += known
            elif known != "":
                pieces.append(known)
        return tuple(pieces) or ("",)

    def _constant(self, slot: Slot) -> Piece:
        for count in range(len(slot.steps), -1, -1):
            text = self._constants.get(Slot(slot.source, slot.steps[:count]))
            if text is not None:
                for step in slot.steps[count:]:
                    try:
                        text = step.apply(text)
                    except IndexError:  # this path is impossible, which another answer will show
                        return slot
                return text
        return slot

    def _implied(self, kind: str, subject: tuple[Piece, ...], argument: Any) -> bool | None:
        """The answer about one slot that follows from others about it."""
        if not isinstance(argument, str):
            return None
        for (known, about, fact), answer in self._answers.items():
            if not isinstance(fact, str) or about != subject:
                continue
            if answer:
                if kind == "equals" and not _agrees(known, fact, argument):
                    return False
                if kind == "contains" and argument in fact:  # the fact is part of the text, whatever its kind
                    return True
                if kind == known == "starts with" and not _either(str.startswith, fact, argument):
                    return False
                if kind == known == "ends with" and not _either(str.endswith, fact, argument):
                    return False
                if kind == known and kind.endswith("with") and getattr(fact, _METHODS[kind])(argument):
                    return True
            elif (known == "contains" and fact in argument) or (
                kind == known and kind.endswith("with") and getattr(argument, _METHODS[kind])(fact)
            ):  # each kind says that the argument is in the text
                return False
        if kind == "equals" and any(
            fact not in argument
            for (known, about, fact), answer in self._answers.items()
            if answer and known == "contains" and _simplified(known, subject, fact)[1] == about
        ):
            return False
        return None


_METHODS = {"starts with": "startswith", "ends with": "endswith"}


def _agrees(kind: str, fact: str, text: str) -> bool:
    """Whether a text has a property."""
    return decided(Condition(kind, (text,), fact), {})


def _either(method: Callable[[str, str], bool], one: str, other: str) -> bool:
    return method(one, other) or method(other, one)


def _simplified(kind: str, subject: tuple[Piece, ...], argument: Any) -> tuple[str, tuple[Piece, ...], Any]:
    """The same question about less: trimming a text neither adds nor removes a needle without white space."""
    if kind != "contains" or len(subject) != 1:
        return kind, subject, argument
    (slot,) = subject
    while isinstance(slot, Slot) and isinstance(slot.source, Source) and slot.steps:
        last = slot.steps[-1]
        if last.name not in STRIPS or argument.strip(*last.arguments) != argument:
            break
        slot = Slot(slot.source, slot.steps[:-1])
    return kind, (slot,), argument
