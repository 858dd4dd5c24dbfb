"""``tokamata audit``: whose masks are wrong by a JSON Schema, with witnesses that a validator judged."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from tokamata.audit.apart import Apart, Broken
from tokamata.audit.auditing import Auditor
from tokamata.audit.engines import ENGINES, Engine, TokamataInAnyStyle, checked_engine, version_of
from tokamata.audit.findings import Audit, Finding, Kind
from tokamata.audit.judging import Judge
from tokamata.audit.sides import Bounds, Process, Side
from tokamata.cli.console import Form, Screen
from tokamata.cli.constraints import OptionError, schema_text
from tokamata.cli.loading import load_vocabulary
from tokamata.display.texts import shown_bytes
from tokamata.errors import MissingExtraError, VocabularyWarning
from tokamata.integrations.models import Progress
from tokamata.vocabulary import Vocabulary
from tokamata.vocabulary.end_of_generation import ENDS

__all__ = ["run"]

_PEERS = ("llguidance", "xgrammar")  # whom tokamata is compared with: the first that is installed
_MOST_ROWS = 12  # errors of one kind that are listed
_CALL_SECONDS = 10.0
_COMPILE_SECONDS = 60.0
_INTERRUPTED = 130


class _Named(NamedTuple):
    name: str
    make: Callable[[Vocabulary], Engine]


def run(
    screen: Screen, engine: str, schema: str, path: Path | None, seconds: float, seed: int, form: Form
) -> int:
    """Audit one engine by one schema, and show what was found; returns the exit code.

    Args:
        screen: where it is shown.
        engine: a name in :data:`tokamata.audit.engines.ENGINES`.
        schema: JSON Schema, as a file or as text.
        path: the vocabulary's file or folder; ``None`` for that of the default model.
        seconds: for the comparison.
        seed: of all that is drawn.
        form: how the result is shown.

    Returns:
        1 where an error was found; 2 where nothing can be said, since the engine or the judge refuses the
        schema; 130 where it was interrupted before; else 0.

    Raises:
        OptionError: the engine has no such name, the schema cannot be read, or an engine does not start.
        MissingExtraError: a package of the engine, or the judge, is not installed.
    """
    if engine not in ENGINES:
        raise OptionError(f"--engine is one of {', '.join(ENGINES)}, not {engine!r:.100}")
    candidate = _Named(version_of(engine), checked_engine(engine).make)
    reference = _reference(engine)
    text = schema_text(schema)
    try:
        json.loads(text)
    except ValueError as error:
        raise OptionError(f"--schema {schema!r:.200} is no JSON: {error}") from None
    Judge()  # raises where it is not installed
    with screen.progress() as progress:
        vocabulary = _vocabulary(path, progress)
        sides = [Side.apart(one.name, one.make, vocabulary) for one in (candidate, reference)]

        def compared(share: float) -> None:
            progress("comparing masks", max(share, 0.01))

        auditor = Auditor(sides[0], sides[1], Apart(Judge), vocabulary, seed, compared)
        try:
            for side in sides:
                progress(f"starting {side.name}", 0.0)
                _start(side.process, side.name)
            progress("compiling the schema", 0.0)
            audit = auditor.audit(text, Bounds(seconds, _COMPILE_SECONDS, _CALL_SECONDS))
        except KeyboardInterrupt:  # before the audit
            return _INTERRUPTED
        finally:
            auditor.close()
    if form == "json":
        screen.out.print_json(json.dumps(audit.as_json()), ensure_ascii=False)
    elif form == "summary":
        _show_summary(screen, audit)
    else:
        _show(screen, audit, vocabulary, schema)
    if audit.findings:
        return 1
    if audit.refused or audit.judge_refused:
        return 2
    return _INTERRUPTED if audit.is_interrupted else 0


def _vocabulary(path: Path | None, progress: Progress) -> Vocabulary:
    """With stop tokens, which engines need; of a file that names none, those with the usual names.

    Raises:
        OptionError: there are none.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VocabularyWarning)
        vocabulary, source = load_vocabulary(path, progress)
    if vocabulary.stop:
        return vocabulary
    names = sorted(
        ENDS & {vocabulary.name(token) for token in range(len(vocabulary)) if not vocabulary[token]}
    )
    if not names:
        raise OptionError(
            "this vocabulary names no stop token; pass --vocabulary with the folder of the model"
        )
    progress(f"stop tokens, of which the file names none: {', '.join(names)}", 0.0)
    return Vocabulary.load(source, stop=names)


def _reference(engine: str) -> _Named:
    """Whom the engine is compared with: tokamata in any style, or of tokamata itself a peer."""
    for peer in _PEERS if engine == "tokamata" else ():
        try:
            return _Named(version_of(peer), checked_engine(peer).make)
        except MissingExtraError:
            continue
    return _Named(f"{version_of('tokamata')} in any style", TokamataInAnyStyle)


def _start(process: Process, name: str) -> None:
    try:
        process.start()
    except Broken as error:
        raise OptionError(f"{name} cannot be used with this vocabulary: {error}") from error


# ---- showing ----------------------------------------------------------------------------------


def _show_summary(screen: Screen, audit: Audit) -> None:
    """One line: how many errors there are of each kind, or why nothing can be said."""
    kinds = ((kind, audit.count(kind)) for kind in Kind)
    found = ", ".join(f"{count:,} × {kind.value}" for kind, count in kinds if count)
    if found:
        mark, says = screen.mark(False), found
    elif refused := audit.refused or audit.judge_refused:
        mark, says = Text("?", style="bold yellow"), f"the schema is refused: {' '.join(refused.split())}"
    else:
        mark = screen.mark(True)
        says = "no error found" + (" before it was interrupted" if audit.is_interrupted else "")
    counts = f"{audit.texts:,} texts, {audit.masks:,} masks compared with {audit.reference}"
    screen.show_line((mark.plain, str(mark.style)), f" {audit.engine}: {says}; {counts}", console=screen.out)


def _show(screen: Screen, audit: Audit, vocabulary: Vocabulary, schema: str) -> None:
    screen.out.print(_heading(audit, vocabulary, schema))
    if audit.refused:
        screen.out.print(Text.assemble(("refused     ", "dim"), f"{audit.engine}: {audit.refused}"))
        return
    screen.out.print(_counts(audit))
    if audit.findings:
        screen.out.print(_findings(audit, audit.findings, "errors of " + audit.engine))
    else:
        verdict = "no error found" + (" before it was interrupted" if audit.is_interrupted else "")
        screen.out.print(Text.assemble(screen.mark(True), f" {audit.engine}: {verdict}"))
    if audit.reference_findings:
        screen.out.print(_findings(audit, audit.reference_findings, "errors of " + audit.reference))


def _heading(audit: Audit, vocabulary: Vocabulary, schema: str) -> Text:
    lines = [
        ("engine      ", audit.engine),
        ("compared to ", audit.reference + (" (refuses the schema)" if audit.reference_refused else "")),
        ("judge       ", "jsonschema-rs" + (f" ({audit.judge_refused})" if audit.judge_refused else "")),
        ("schema      ", schema if len(schema) < 200 else schema[:199] + "…"),
        ("vocabulary  ", f"{len(vocabulary):,} tokens"),
    ]
    return Text("\n").join(Text.assemble((title, "dim"), value) for title, value in lines)


def _counts(audit: Audit) -> Table:
    table = Table(show_header=False, expand=False)
    table.add_column(style="dim")
    table.add_column(justify="right")
    rows: list[tuple[str, int]] = [
        ("texts", audit.texts),
        ("masks compared", audit.masks),
        ("bits that it refuses and the other allows", audit.refused_bits),
        ("bits that it allows and the other refuses", audit.allowed_bits),
        ("texts judged", audit.judged),
    ]
    rows += [(f"no error: {reason}", count) for reason, count in audit.differences.most_common()]
    rows += [(f"unjudged: {reason}", count) for reason, count in audit.unjudged.most_common(4)]
    for title, count in rows:
        table.add_row(Text(title), f"{count:,}")
    return table


def _findings(audit: Audit, found: list[Finding], title: str) -> Panel:
    grid = Table(header_style="bold", expand=False, box=None, padding=(0, 2, 0, 0))
    grid.add_column("error", style="red", no_wrap=True)
    grid.add_column("witness", overflow="fold", ratio=2)
    grid.add_column("judge", overflow="fold", ratio=1)
    for one in sorted(found, key=lambda one: len(one.witness))[:_MOST_ROWS]:
        grid.add_row(one.kind.value, _witness(one), Text(one.reason))
    more = len(found) - _MOST_ROWS
    subtitle = f"{more} more" if more > 0 else None
    return Panel(grid, title=Text(title), title_align="left", subtitle=subtitle, border_style="red")


def _witness(one: Finding) -> Text:
    """The text, with the token whose bit is wrong in colour."""
    before, token = one.prefix, one.token_text
    if not one.witness.startswith(before + token) or one.token is None:
        return Text(shown_bytes(one.witness))
    rest = one.witness[len(before) + len(token) :]
    return Text.assemble(
        (shown_bytes(before), "green"), (shown_bytes(token), "bold red"), (shown_bytes(rest), "dim")
    )
