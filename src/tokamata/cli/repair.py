"""``tokamata repair``: texts of files as the constraint accepts them, with every change shown."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.panel import Panel
from rich.pretty import Pretty
from rich.text import Text

from tokamata.cli.console import Bar, Form, Screen
from tokamata.cli.constraints import OptionError, Requested
from tokamata.cli.differences import margin_of, show_content, show_edits, verdict_of
from tokamata.cli.files import Source, destinations, read, sources_of, write
from tokamata.cli.repair_json import as_json
from tokamata.constraints.json_constraints import JsonConstraint
from tokamata.constraints.text_constraints import regex
from tokamata.display.texts import shown_text
from tokamata.errors import LimitExceeded
from tokamata.repair.results import Margin, Repair
from tokamata.repair.searching import LEAST_SECONDS
from tokamata.resources.limits import Limits

__all__ = ["Destination", "Report", "run"]

_UNCHANGED, _REPAIRED, _IMPOSSIBLE = "unchanged", "repaired", "not repaired"  # what came of a text
_CONTENT = ("lost", "invented", "changed")  # attributes of a repair

_BEYOND = "impossible within limits"


class Destination(NamedTuple):
    """Where repaired texts go: none of the three, to standard output.

    Attributes:
        in_place: into the files themselves.
        output: into this file, or this folder.
        check: nowhere; the exit code says whether a text would be repaired.
    """

    in_place: bool
    output: Path | None
    check: bool


class Report(NamedTuple):
    """What is reported about each repair.

    Attributes:
        margin: how much dearer the next value is.
        form: with ``"json"`` standard output gets a line of JSON for each text, and not the text.
    """

    margin: bool
    form: Form


class _Part(NamedTuple):
    """A text of a source, and what stands after it and is none of it: the end of a line.

    Attributes:
        text: the text.
        ending: the bytes after it.
        place: the source, and the line where each line is a text.
        line: the number of its first line.
    """

    text: bytes
    ending: bytes
    place: str
    line: int


def run(
    screen: Screen,
    requested: Requested,
    inputs: Sequence[Path],
    has_lines: bool,
    to: Destination,
    deadline_seconds: float | None,
    report: Report,
) -> int:
    """Repair all texts of the inputs; returns the exit code.

    Args:
        screen: where reports go.
        requested: the constraint.
        inputs: files, folders, and ``-``.
        has_lines: each line of every file is a text.
        to: where the texts go.
        deadline_seconds: the time for each text; ``None`` for that of ``Limits``.
        report: what is reported about each repair.
    """
    sources, left_out = sources_of(inputs, has_lines, isinstance(requested.constraint, JsonConstraint))
    if to.check and (to.in_place or to.output is not None):
        raise OptionError("--check writes no text; leave out --in-place and --output")
    targets = destinations(sources, inputs, to.in_place, to.output)
    for link in left_out:
        screen.show_line((f"left out: {link} is a link that leads out of the folder", "yellow"))
    with screen.late_bar() as bar:
        writes_out = targets is None and not to.check
        work = _Repairing(screen, bar, requested, deadline_seconds, sources, writes_out, report)
        for number, source in enumerate(sources):
            try:
                data = work.repaired_source(source)
                if targets is not None and data is not None and (work.has_changed or not to.in_place):
                    write(targets[number], data)
            except OptionError as error:  # of this file; the others are repaired all the same
                work.fail(source.name, str(error))
    if not work.is_single and report.form != "json":
        screen.show_line(_summary(work.outcomes, work.content))
    if _IMPOSSIBLE in work.outcomes:
        return 2
    return 1 if to.check and _REPAIRED in work.outcomes else 0


def _summary(outcomes: Sequence[str], content: Mapping[str, int]) -> str:
    """How many texts were repaired, and with how many of them content went or came, in one line."""
    counts = ((what, outcomes.count(what)) for what in (_REPAIRED, _UNCHANGED, _IMPOSSIBLE))
    parts = [f"{count:,} {what}" for what, count in counts if count]
    touched = ", ".join(f"{content[what]:,} with content {what}" for what in _CONTENT if content[what])
    if touched:
        parts[0] += f" ({touched})"
    return f"{len(outcomes):,} text{'s' * (len(outcomes) != 1)}: {', '.join(parts)}" if parts else "no texts"


def _content_of(answer: Repair[Any]) -> str:
    """How many pieces of content a repair has lost, invented and changed; nothing where there are none."""
    counts = ((what, len(getattr(answer, what))) for what in _CONTENT)
    return "".join(f", {count:,} {what}" for what, count in counts if count)


class _NotRepairedError(Exception):
    """There is no repair that can be written; the message says why."""


class _Repairing:
    """The work on all sources, and what came of it.

    Attributes:
        is_single: there is one text in all, which is reported even if nothing changes.  Of several, those
            that change or fail have a line each.
        outcomes: what came of each text so far.
        content: of how many texts content was lost, invented, changed.
        has_changed: whether a text of the last source was repaired.
    """

    def __init__(
        self,
        screen: Screen,
        bar: Bar,
        requested: Requested,
        deadline_seconds: float | None,
        sources: Sequence[Source],
        writes_out: bool,
        report: Report,
    ) -> None:
        """``writes_out``: texts go to standard output."""
        self._report_on = report
        self._screen, self._bar = screen, bar
        self._requested, self._deadline_seconds = requested, deadline_seconds
        self._writes_out = writes_out and report.form != "json"
        self._separates = len(sources) > 1
        self._texts_end_in_breaks: bool | None = None  # not known yet
        self.is_single = len(sources) == 1 and not sources[0].has_lines
        self.outcomes: list[str] = []
        self.content: Counter[str] = Counter()
        self.has_changed = False
        if not self.is_single:
            bar.grow(sum(source.path.stat().st_size for source in sources if source.path is not None))

    def repaired_source(self, source: Source) -> bytes | None:
        """All of a source after its repairs; ``None`` if it is one text that cannot be repaired.

        Where each line is a text, blank lines and lines that cannot be repaired stay as they are.

        Raises:
            OptionError: it cannot be read.
        """
        data, self.has_changed = read(source), False
        if source.path is None and not self.is_single:
            self._bar.grow(len(data))
        pieces: list[bytes] = []
        for part in self._parts(source, data):
            is_blank = source.has_lines and not part.text.strip()
            text = part.text if is_blank else self._repaired(part, source.has_lines)
            if text is None and not source.has_lines:
                return None
            pieces.append((part.text if text is None else text) + part.ending)
            if self._writes_out:
                self._write_out(pieces.pop())
            self._bar.advance(len(part.text) + len(part.ending))
        return b"".join(pieces)

    def _parts(self, source: Source, data: bytes) -> Iterator[_Part]:
        if not source.has_lines:
            text, ending = self._without_last_break(data)
            yield _Part(text, ending, source.name, 1)
            return
        lines = data.split(b"\n")
        for number, line in enumerate(lines, 1):
            text = line.removesuffix(b"\r")
            ending = line[len(text) :] + (b"\n" if number < len(lines) else b"")
            if line or ending:
                yield _Part(text, ending, f"{source.name}:{number}", number)

    def _without_last_break(self, data: bytes) -> tuple[bytes, bytes]:
        """A text and the line break at its end, if that belongs to the file, as ``echo`` writes one.

        In JSON it always does: it may stand after every value.  Otherwise it does where no text of the
        constraint can end in one.  Where the limits do not suffice to know, it is part of the text: at worst
        an edit removes it.
        """
        if not data.endswith(b"\n"):
            return data, b""
        constraint = self._requested.constraint
        if self._texts_end_in_breaks is None and isinstance(constraint, JsonConstraint):
            self._texts_end_in_breaks = False
        if self._texts_end_in_breaks is None:
            try:
                self._texts_end_in_breaks = not (constraint & regex(r"(?s).*\n")).is_empty()
            except LimitExceeded:
                self._texts_end_in_breaks = True
        if self._texts_end_in_breaks:
            return data, b""
        text = data[:-1].removesuffix(b"\r")
        return text, data[len(text) :]

    def _repaired(self, part: _Part, is_line: bool) -> bytes | None:
        """The repaired text, reported; ``None`` if there is none."""
        self._bar.describe(f"repairing {part.place}")
        try:
            answer = self._answer(part)
            text = answer.text.encode()
            if is_line and b"\n" in text:
                raise _NotRepairedError("the repaired text has a line break, so it is not one line")
            value = self._value(answer)
        except _NotRepairedError as error:
            self.fail(part.place, str(error))
            return None
        self._report(part, answer)
        if self.is_single and self._requested.what == "type" and self._report_on.form == "report":
            self._screen.err.print(Pretty(value))
        return text

    def _answer(self, part: _Part) -> Repair[Any]:
        """The best repair within the limits, unless it gives up the whole text for want of time."""
        try:
            for answer in self._requested.constraint.repairs(
                part.text, deadline_seconds=self._deadline_seconds
            ):
                proven = f"cost {answer.cost:,}, at least {answer.lower_bound:,}"
                self._bar.describe(f"repairing {part.place}: {proven}")
        except LimitExceeded as error:
            over = (
                "the time was over"
                if error.limit == "seconds"
                else f"{error.limit}={error.bound:,} was passed"
            )
            advice = "; use a greater --deadline" if error.limit == "seconds" else ""
            raise _NotRepairedError(f"{_BEYOND}: {over} before any repair was found{advice}") from None
        if answer.first_feasible_us is None and not answer.optimal:
            raise _NotRepairedError(
                f"{_BEYOND}: no repair was found that keeps a part of the text; any costs at "
                f"least {answer.lower_bound:,}; use a greater --deadline"
            )
        return answer

    def _value(self, answer: Repair[Any]) -> Any:
        """The value, where the constraint is of a type; its validators may refuse it."""
        if self._requested.what != "type":
            return None
        try:
            return answer.value
        except Exception as error:  # whatever the caller's own classes raise
            raise _NotRepairedError(f"{type(error).__name__}: {error}") from None

    def _report(self, part: _Part, answer: Repair[Any]) -> None:
        """Show what has changed, how near the text is to the optimum, and what was lost and invented."""
        has_changed = answer.text.encode() != part.text
        self.outcomes.append(_REPAIRED if has_changed else _UNCHANGED)
        self.has_changed |= has_changed
        self.content.update(what for what in _CONTENT if getattr(answer, what))
        margin = self._margin(answer) if self._report_on.margin else None
        form = self._report_on.form
        if form == "json":
            self._write_json(as_json(part.place, answer, margin, ""))
        elif self.is_single or (has_changed and form == "report"):
            self._show(part, answer, has_changed, margin)

    def _show(self, part: _Part, answer: Repair[Any], has_changed: bool, margin: Margin | None) -> None:
        """One line; of a single text also its edits."""
        says = f"repaired, {verdict_of(answer)}" if has_changed else "unchanged"
        is_whole = self.is_single and self._report_on.form == "report"
        if not is_whole:
            says += _content_of(answer)
            says += "" if margin is None else f", {margin_of(margin)}"
        self._screen.show_line((part.place, "bold"), f": {says}")
        if is_whole and has_changed:
            show_edits(self._screen.err, answer, part.line)
            show_content(self._screen.err, answer, part.line)
        if is_whole and margin is not None:
            self._screen.show_line(margin_of(margin))

    def _margin(self, answer: Repair[Any]) -> Margin | None:
        """The margin within the deadline; ``None``: it was over before anything was known."""
        seconds = self._deadline_seconds
        limits = Limits() if seconds is None else Limits(seconds=max(seconds, LEAST_SECONDS))
        try:
            return answer.margin(limits=limits)
        except LimitExceeded:
            return None

    def _write_json(self, record: dict[str, Any]) -> None:
        self._write_bytes(json.dumps(record, ensure_ascii=False).encode("utf-8", "replace") + b"\n")

    def fail(self, place: str, why: str) -> None:
        """Report a text that is not repaired."""
        self.outcomes.append(_IMPOSSIBLE)
        errors = self._screen.errors
        if self._report_on.form == "json":
            self._write_json(as_json(place, None, None, why))
        if self.is_single:
            title = Text.assemble((place, "bold"), ": not repaired")
            errors.print(Panel(Text(shown_text(why)), title=title, title_align="left", border_style="red"))
        else:
            self._screen.show_line((place, "bold"), (": not repaired: ", "red"), why, console=errors)

    def _write_out(self, data: bytes) -> None:
        """Write to standard output: exactly the text, with a line break where something follows it."""
        is_terminal = self._screen.out.is_terminal
        if (self._separates or is_terminal) and not data.endswith(b"\n"):
            data += b"\n"
        self._write_bytes(data)

    def _write_bytes(self, data: bytes) -> None:
        with self._bar.paused(self._screen.out.is_terminal):
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
