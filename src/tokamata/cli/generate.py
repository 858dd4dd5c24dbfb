"""``tokamata generate``: a text token by token, in colours that show where tokens meet."""

# transformers has no usable types for models and tokenizers, hence `Any` for the two.

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from tokamata.cli.console import Screen, shown_text
from tokamata.cli.loading import chat_tokens, load_all
from tokamata.compiled import CompiledConstraint
from tokamata.constraint import Constraint, regex
from tokamata.decoding.generate import Generation, Stream, stream
from tokamata.vocabulary import Vocabulary

__all__ = ["run", "text_matches"]

_NARROW = 72


@dataclass
class _Job:
    """Everything a generation needs but the constraint."""

    model: Any
    tokenizer: Any
    prompt: str | list[int]
    settings: dict[str, Any]

    def start(self, constraint: CompiledConstraint | None) -> Stream:
        return stream(self.model, self.tokenizer, self.prompt, constraint, **self.settings)


def run(
    screen: Screen,
    pattern: str,
    prompt: str,
    path: Path | None,
    settings: dict[str, Any],
    *,
    compare: bool,
    chat: bool | None,
) -> bool:
    """Generate and show; returns whether the text matches the pattern.

    Args:
        path: the model's folder; ``None`` for the default model.
        settings: of :func:`tokamata.decoding.stream`.
        compare: also generate without the pattern, and show both.
        chat: use the chat template; ``None`` where there is one.
    """
    constraint = regex(pattern)  # a mistake in it is told before the model is loaded
    with screen.progress() as progress:
        model, tokenizer, vocabulary = load_all(path, progress)
        progress("compiling the pattern", 0.0)
        compiled = constraint.compile(vocabulary)
    job = _Job(model, tokenizer, chat_tokens(tokenizer, prompt, chat), settings)
    if compare:
        return _compare(screen, job, constraint, compiled)
    if screen.out.is_terminal and isinstance(job.prompt, str):
        screen.out.print(Text(shown_text(prompt), style="dim"), end="", soft_wrap=True)
    steps = job.start(compiled)
    for index, step in enumerate(steps):
        if screen.out.is_terminal:
            screen.out.print(Text(shown_text(step.text), screen.token_style(index)), end="", soft_wrap=True)
        else:
            screen.out.file.write(step.text)
            screen.out.file.flush()
    screen.out.print()
    result = _result(steps)
    screen.err.print(_summary(result))
    if result.finish_reason == "length":
        screen.err.print(_cut_off(result))
    return result.finish_reason != "length"


def text_matches(constraint: Constraint, text: str) -> bool:
    """Whether the whole of ``text`` matches, as the engine itself has it."""
    matcher = constraint.compile(Vocabulary.load([bytes([byte]) for byte in range(256)])).matcher()
    return (
        all(matcher.advance(byte) for byte in text.encode("utf-8", "surrogatepass")) and matcher.is_accepting
    )


@dataclass
class _Column:
    """One side of the comparison, while it grows."""

    title: str
    text: Text = field(default_factory=Text)
    verdict: Text = field(default_factory=Text)
    summary: Text = field(default_factory=Text)

    def panel(self, width: int) -> Panel:
        parts: list[RenderableType] = [self.text]
        if self.summary:
            parts += ["", self.summary]
        title = Text.assemble(self.title, " ", self.verdict)
        return Panel(Group(*parts), title=title, title_align="left", width=width)


def _compare(screen: Screen, job: _Job, constraint: Constraint, compiled: CompiledConstraint) -> bool:
    """Write without the pattern, then with it, in two panels; returns whether the latter matches."""
    sides = (_Column("without the pattern"), _Column("with the pattern"))
    width = screen.out.width
    matches = False

    def draw() -> RenderableType:
        if width < _NARROW:
            return Group(*(side.panel(width) for side in sides))
        return Columns([side.panel(width // 2) for side in sides], padding=0)

    with Live(console=screen.out, auto_refresh=False) as live:
        for side, limit in zip(sides, (None, compiled), strict=True):
            steps = job.start(limit)
            for part in _coloured(screen, steps):
                side.text.append_text(part)
                live.update(draw(), refresh=screen.out.is_terminal)
            result = _result(steps)
            matches = text_matches(constraint, result.text)
            side.verdict = screen.mark(matches)
            side.summary = _summary(result, constrained=limit is not None)
            live.update(draw(), refresh=screen.out.is_terminal)
    return matches


def _coloured(screen: Screen, steps: Stream) -> Iterator[Text]:
    for index, step in enumerate(steps):
        yield Text(shown_text(step.text), style=screen.token_style(index))


def _result(steps: Stream) -> Generation:
    assert steps.generation is not None  # set when the iteration has ended
    return steps.generation


def _summary(result: Generation, constrained: bool = True) -> Text:
    """One line: how much, how probable, how fast, and what the constraint cost."""
    timing = result.timing
    drawn = max(1, len(result.tokens) + (result.stop_token is not None))
    total = timing.prompt_seconds + timing.model_seconds + timing.sampling_seconds + timing.constraint_seconds
    after_first = timing.model_seconds + timing.sampling_seconds + timing.constraint_seconds
    parts = [f"{len(result.tokens)} tokens", _ending(result), f"log-probability {result.log_probability:.2f}"]
    if drawn > 1 and after_first > 0:
        parts.append(f"{(drawn - 1) / after_first:.1f} tokens/s")
    if constrained:
        spent = timing.constraint_seconds
        parts.append(f"constraint {1e6 * spent / drawn:.0f} µs per token ({spent / total:.2%} of the time)")
    return Text(" · ".join(parts), style="dim")


def _ending(result: Generation) -> str:
    return {"complete": "complete", "stop": "stopped by the model", "length": "cut off"}[result.finish_reason]


def _cut_off(result: Generation) -> Table:
    grid = Table.grid(padding=(0, 1))
    grid.add_row(
        Text("!", style="bold yellow"),
        Text(
            f"cut off after {len(result.tokens)} tokens before its end; raise --max-new-tokens",
            style="yellow",
        ),
    )
    return grid
