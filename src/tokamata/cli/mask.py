"""``tokamata mask``: how a constraint takes a text, token by token, and what is allowed next."""

from __future__ import annotations

import json
from pathlib import Path

from rich.console import Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from tokamata.cli.console import Form, Screen
from tokamata.cli.constraints import Requested
from tokamata.cli.loading import load_vocabulary
from tokamata.cli.mask_json import as_json
from tokamata.cli.mask_rows import Row, row_of
from tokamata.cli.tokens import Samples, encode
from tokamata.display.texts import shown_bytes
from tokamata.matching.compositions import Tokenization
from tokamata.matching.matchers import Matcher
from tokamata.vocabulary import Vocabulary

__all__ = ["run"]

_NARROW = 72  # columns of a terminal on which the table leaves out its examples
_MOST_LISTED = 24  # tokens that may come next
_MOST_OF_ENDING = 8  # tokens of a shortest end


def run(
    screen: Screen,
    requested: Requested,
    text: str,
    sources: tuple[str | None, Path | None],
    tokenization: Tokenization = "any",
    why: bool = False,
    form: Form = "report",
) -> bool:
    """Follow ``text`` and show the steps; returns whether the constraint takes all of it.

    Args:
        requested: the constraint.
        text: what is followed.
        sources: the model, a folder or a name on the Hub, and the vocabulary's file or folder; ``None`` for
            the default model, and for the model's own vocabulary.
        tokenization: see :meth:`tokamata.Constraint.compile`.
        why: whether to show how the masks came about.
        form: how the result is shown.
    """
    with screen.progress() as progress:
        vocabulary, source = load_vocabulary(sources[1], progress, sources[0])
        progress(f"compiling the {requested.what}", 0.0)
        matcher = requested.constraint.compile(vocabulary, tokenization=tokenization).matcher()
        progress("cutting the text into tokens", 0.0)
        tokens, how = encode(source, vocabulary, text)
        samples = Samples(vocabulary)
        rows = [row_of(None, matcher)]
        taken = 0
        for token in tokens:
            if not matcher.advance(token):
                break
            taken += 1
            rows.append(row_of(token, matcher))
    if form == "json":
        document = as_json(vocabulary, matcher, tokens, rows, why)
        screen.out.out(json.dumps(document, indent=1), highlight=False)
        return taken == len(tokens)
    if form == "summary":
        _show_summary(screen, matcher, tokens, rows)
        return taken == len(tokens)
    screen.out.print(_heading(requested, vocabulary, how))
    screen.out.print(_table(screen, vocabulary, rows, samples, why))
    if taken < len(tokens):
        screen.out.print(_refusal(screen, vocabulary, matcher, tokens, taken))
    screen.out.print(_next(screen, vocabulary, rows[-1], samples, matcher.shortest_completion()))
    if why:
        whole = Text(str(matcher.compiled.mask_report()))
        screen.out.print(Panel(whole, title="all masks", title_align="left"))
    return taken == len(tokens)


def _show_summary(screen: Screen, matcher: Matcher, tokens: list[int], rows: list[Row]) -> None:
    """One line: whether the text is taken, whether it is whole, and how much may follow."""
    taken, allowed = len(rows) - 1, len(rows[-1].allowed)
    if taken < len(tokens):
        why = " ".join(str(matcher.explain(tokens[taken])).split())
        says, mark = f" refused at token {taken + 1} of {len(tokens):,}: {why}", screen.mark(False)
    else:
        state = "accepted" if rows[-1].accepting else "taken so far"
        counts = f"{_count(len(tokens))}; {_count(allowed)} may follow"
        says, mark = f" {state}, {counts}", screen.mark(True)
    screen.show_line((mark.plain, str(mark.style)), says, console=screen.out)


def _count(tokens: int) -> str:
    return f"{tokens:,} token{'s' * (tokens != 1)}"


def _heading(requested: Requested, vocabulary: Vocabulary, how: str) -> Text:
    size = f"{len(vocabulary):,} tokens"
    if vocabulary.width > len(vocabulary):
        size += f", logits {vocabulary.width:,} wide"
    return Text.assemble(
        (f"{requested.what:12}", "dim"),
        (requested.given, "bold"),
        "\n",
        ("vocabulary  ", "dim"),
        size,
        "\n",
        ("text        ", "dim"),
        how,
    )


def _table(screen: Screen, vocabulary: Vocabulary, rows: list[Row], samples: Samples, why: bool) -> Table:
    wide = screen.out.width >= _NARROW
    table = Table(header_style="bold", expand=False)
    table.add_column("#", justify="right", style="dim")
    table.add_column("token", overflow="fold")
    table.add_column("id", justify="right", style="dim")
    table.add_column("accepted", justify="center")
    table.add_column("allowed next", justify="right")
    if why:
        table.add_column("mask by", overflow="fold")
        table.add_column("µs", justify="right")
        table.add_column("segments made", justify="right")
        table.add_column("nodes", justify="right")
    if wide:
        table.add_column("for example", overflow="ellipsis", no_wrap=True, ratio=None, max_width=40)
        table.add_column("must go on with", overflow="fold")
    for index, row in enumerate(rows):
        if row.token is None:
            token, number = Text("start", style="dim italic"), ""
        else:
            token = Text(_shown(vocabulary, row.token), style=screen.token_style(index))
            number = str(row.token)
        cells: list[Text | str] = [
            str(index),
            token,
            number,
            screen.mark(True) if row.accepting else Text("·", style="dim"),
            f"{len(row.allowed):,}",
        ]
        if why:
            made = row.report
            by = ", ".join(made.masks) or ("one alike" if made.alike else "known")
            cells += [by, f"{1e6 * made.seconds:,.1f}", f"{made.segments_made:,}", f"{made.nodes:,}"]
        if wide:
            few = samples.typical(row.allowed, 4)
            cells += [_listing(screen, vocabulary, few, len(row.allowed)), Text(shown_bytes(row.forced))]
        table.add_row(*cells)
    return table


def _refusal(
    screen: Screen, vocabulary: Vocabulary, matcher: Matcher, tokens: list[int], taken: int
) -> Panel:
    """Show the refused token, its position in the text, and the reason."""
    token = tokens[taken]
    explanation = matcher.explain(token)
    before = b"".join(vocabulary[t] or b"" for t in tokens[:taken])
    data = vocabulary[token] or b""
    fits, rest = before + data[: explanation.offset], data[explanation.offset :]
    # Columns are counted in the text as shown, so that the caret stands under the byte.
    room = max(8, screen.out.width - 12)
    shown_fits = shown_bytes(fits)
    if len(shown_fits) > room // 2:
        shown_fits = "…" + shown_fits[-(room // 2) + 1 :]
    shown_rest = shown_bytes(rest)[: room - len(shown_fits)]
    shown = Text.assemble(
        (shown_fits, "green"),
        (shown_rest, "bold red"),
        "\n",
        " " * Text(shown_fits).cell_len,
        ("^", "bold red"),
    )
    title = Text.assemble(screen.mark(False), f" refused at token {taken + 1}: ", _shown(vocabulary, token))
    return Panel(Group(shown, Text(str(explanation))), title=title, title_align="left", border_style="red")


def _next(screen: Screen, vocabulary: Vocabulary, row: Row, samples: Samples, shortest: list[int]) -> Panel:
    """List what may come next: the most typical tokens, the longest, the stop tokens, a shortest end."""
    total = len(row.allowed)
    stops = [token for token in vocabulary.stop if token in row.allowed]
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column()
    others = [int(token) for token in row.allowed if token not in stops] if total <= _MOST_LISTED else []
    if others:
        grid.add_row("all", _with_ids(screen, vocabulary, others))
    elif total > _MOST_LISTED:
        typical = samples.typical(row.allowed, _MOST_LISTED, stops=False)
        grid.add_row("typical", _listing(screen, vocabulary, typical, total))
        longest = samples.longest(row.allowed, 6)
        if longest:
            grid.add_row("longest", _listing(screen, vocabulary, longest, total))
    if stops:
        grid.add_row("stop", Text(" ".join(vocabulary.name(token) for token in stops), style="bold green"))
    if row.forced:
        grid.add_row("forced", Text(shown_bytes(row.forced), style="bold"))
    if shortest:
        few = _listing(screen, vocabulary, shortest[:_MOST_OF_ENDING], len(shortest))
        count = f"in {len(shortest):,} " + ("token" if len(shortest) == 1 else "tokens")
        grid.add_row("to finish", Text.assemble((count, "bold"), ", such as ", few))
    title = Text(f"allowed next: {total:,} of {vocabulary.width:,}")
    body = grid if total else Text("nothing: the text is complete, and the vocabulary has no stop token")
    return Panel(body, title=title, title_align="left")


def _with_ids(screen: Screen, vocabulary: Vocabulary, tokens: list[int]) -> Text:
    """Return tokens side by side, each with its id, since several may have the same bytes."""
    listing = Text()
    for index, token in enumerate(tokens):
        listing.append("  " if index else "")
        listing.append(_shown(vocabulary, token), style=screen.token_style(index))
        listing.append(f" {token}", style="dim")
    return listing


def _listing(screen: Screen, vocabulary: Vocabulary, tokens: list[int], total: int) -> Text:
    """Return tokens side by side, their borders shown by colour; ``…`` where there are more."""
    listing = Text()
    for index, token in enumerate(tokens):
        if index:
            listing.append(" ")
        listing.append(_shown(vocabulary, token), style=screen.token_style(index))
    if len(tokens) < total:
        listing.append(" …", style="dim")
    return listing


def _shown(vocabulary: Vocabulary, token: int) -> str:
    data = vocabulary[token]
    return vocabulary.name(token) if data is None else shown_bytes(data)
