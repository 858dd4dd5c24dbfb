"""``tokamata generate``: a text token by token, in colours that show where tokens meet."""

# transformers has no usable types for models and tokenizers, hence `Any` for the two.

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.pretty import Pretty
from rich.text import Text

from tokamata.cli.console import Screen
from tokamata.cli.constraints import Requested
from tokamata.cli.generate_json import as_json
from tokamata.cli.loading import chat_tokens, load_all
from tokamata.cli.tokens import foreign_tokens
from tokamata.cli.wanted import wanted_table
from tokamata.constraints.constraint import Constraint
from tokamata.constraints.text_constraints import literal
from tokamata.decoding import Generation, Settings, Step, Stream, stream
from tokamata.display.texts import shown_text
from tokamata.errors import TokamataError
from tokamata.vocabulary import Vocabulary

__all__ = ["Job", "View", "compare", "matches", "result_of", "run", "show_value"]

_NARROW = 72  # columns of a terminal that shows texts below each other


@dataclass
class Job:
    """Everything that a generation needs, except the constraint.

    Attributes:
        model: as transformers has it.
        tokenizer: that of the model.
        prompt: as text, or as tokens.
        vocabulary: of the tokenizer.
        settings: of :func:`tokamata.decoding.stream`.
    """

    model: Any
    tokenizer: Any
    prompt: str | list[int]
    vocabulary: Vocabulary
    settings: Settings

    def start(self, constraint: Constraint[Any] | None) -> Stream[Any]:
        """Begin to write what the constraint allows; anything where it is ``None``."""
        return stream(self.model, self.tokenizer, self.prompt, constraint, **self.settings)


class View(NamedTuple):
    """What is shown.

    Attributes:
        beside: also what the model writes without the constraint.
        as_json: whether standard output gets JSON.
    """

    beside: bool
    as_json: bool


def run(
    screen: Screen,
    requested: Requested,
    prompt: str,
    sources: tuple[str | None, Path | None],
    settings: Settings,
    view: View,
    *,
    chat: bool | None,
) -> bool:
    """Generate and show; returns ``False`` if the constraint is of a type and its validators refuse the text.

    Args:
        requested: the constraint.
        prompt: what the model goes on from.
        sources: the model, a folder or a name on the Hub, and its tokenizer; ``None`` for the default model,
            and for the model's own tokenizer.
        settings: of :func:`tokamata.decoding.stream`.
        view: what is shown.
        chat: whether to use the chat template; ``None`` uses it if the tokenizer has one.
    """
    with screen.progress() as progress:
        model, tokenizer, vocabulary = load_all(sources[0], progress, sources[1])
        progress(f"compiling the {requested.what}", 0.0)
        job = Job(model, tokenizer, chat_tokens(tokenizer, prompt, chat), vocabulary, settings)
        steps = job.start(requested.constraint)
    if view.as_json:
        return _write_json(screen, requested, job, steps, view.beside)
    if view.beside:
        sides = {f"without the {requested.what}": job.start(None), f"with the {requested.what}": steps}
        written = compare(screen, job, requested.constraint, sides)
    else:
        written = _write(screen, job, steps, prompt)
    if settings.get("probabilities"):
        screen.err.print(wanted_table(screen, written))
    return requested.what != "type" or show_value(screen, result_of(steps))


def _write_json(screen: Screen, requested: Requested, job: Job, steps: Stream[Any], beside: bool) -> bool:
    """Write everything as one JSON document; returns as :func:`run` does."""
    written = list(steps)
    result = result_of(steps)
    refusal = _refusal(result) if requested.what == "type" else None
    free = None
    if beside:
        others = job.start(None)
        for _ in others:
            pass
        free = result_of(others)
    document = as_json(
        result,
        written if job.settings.get("probabilities") else None,
        refusal,
        free,
        lambda text: matches(text, requested.constraint, job.vocabulary),
    )
    screen.out.out(json.dumps(document, indent=1), highlight=False)
    return refusal is None


def _refusal(result: Generation[Any]) -> str | None:
    """Why validators in Python refuse the text; ``None`` where they take it."""
    try:
        result.parse()
    except TokamataError:
        raise
    except Exception as error:  # whatever the caller's own classes raise
        return f"{type(error).__name__}: {error}"
    return None


def _write(screen: Screen, job: Job, steps: Stream[Any], prompt: str) -> list[Step]:
    """Write the text, and a line about it; returns its steps."""
    written: list[Step] = []
    if screen.out.is_terminal:
        written = _show(screen, steps, prompt if isinstance(job.prompt, str) else "")
    else:
        for step in steps:
            written.append(step)
            screen.out.file.write(step.text)
            screen.out.file.flush()
        screen.out.print()
    screen.err.print(_summary(steps))
    return written


def show_value(screen: Screen, result: Generation[Any]) -> bool:
    """Show what the text stands for; returns whether validators in Python take it."""
    try:
        value = result.parse()
    except TokamataError:
        raise
    except Exception as error:  # whatever the caller's own classes raise
        screen.show_error(error)
        return False
    screen.err.print(Pretty(value, expand_all=False))
    return True


def matches(result: Generation[Any], constraint: Constraint[Any], vocabulary: Vocabulary) -> bool:
    """Whether what was written matches the constraint, as the engine has it, token by token."""
    return _followed(result, constraint, vocabulary)[1]


def _followed(
    result: Generation[Any], constraint: Constraint[Any], vocabulary: Vocabulary
) -> tuple[int | None, bool]:
    """The index of the first token that the masks of the constraint refuse, and whether the text matches."""
    if result.healed:
        constraint = literal(result.healed) + constraint
    matcher = constraint.compile(vocabulary).matcher()
    for index, token in enumerate(result.tokens):
        if not matcher.advance(token):
            return index, False
    return None, matcher.is_accepting


def _show(screen: Screen, steps: Stream[Any], prompt: str) -> list[Step]:
    """Write on a terminal: the text while it grows, and below it how many tokens are left."""
    text, written = Text(shown_text(prompt), style="dim", end=""), list[Step]()
    with Live(console=screen.out, auto_refresh=False) as live:
        for index, step in enumerate(steps):
            written.append(step)
            text = Text.assemble(text, Text(shown_text(step.text), style=screen.token_style(index)))
            live.update(Group(_end_of(screen, text), _left(steps)), refresh=True)
        live.update(text, refresh=True)
    return written


def _end_of(screen: Screen, text: Text) -> Text:
    """Return as much of the end of a text as the terminal has room for, with a line to spare."""
    lines = text.wrap(screen.out, screen.out.width)
    return Text("\n").join(lines[-max(1, screen.out.height - 2) :])


def _left(steps: Stream[Any]) -> Text:
    """How many tokens are left, and how many it takes at least."""
    left = f"{steps.tokens_left} tokens left"
    return Text(f"{left}, {steps.tokens_needed} needed" if steps.is_constrained else left, style="dim")


@dataclass
class _Column:
    """One side of the comparison, while it grows."""

    title: str
    text: Text = field(default_factory=lambda: Text(overflow="fold"))
    verdict: Text = field(default_factory=Text)
    summary: Text = field(default_factory=Text)
    left: Text = field(default_factory=Text)

    def panel(self, width: int) -> Panel:
        parts: list[RenderableType] = [self.text]
        if self.summary:
            parts += ["", self.summary]
        title = Text.assemble(self.title, " ", self.verdict)
        subtitle = self.left or None
        return Panel(Group(*parts), title=title, title_align="left", subtitle=subtitle, width=width)


def compare(
    screen: Screen, job: Job, constraint: Constraint[Any], sides: dict[str, Stream[Any]]
) -> list[Step]:
    """Write one text after the other, each in a panel; the panels stand side by side where there is room.

    Args:
        screen: where to draw.
        job: what the texts have in common.
        constraint: each text is marked by whether it matches this, held to it or not.
        sides: the texts to be written, by the titles of their panels.

    Returns:
        The steps of the last text.
    """
    written: list[Step] = []
    columns = [_Column(title) for title in sides]
    width = screen.out.width

    def draw() -> RenderableType:
        if width < _NARROW:
            return Group(*(side.panel(width) for side in columns))
        return Columns([side.panel(width // len(columns)) for side in columns], padding=0)

    with Live(console=screen.out, auto_refresh=False) as live:
        for side, steps in zip(columns, sides.values(), strict=True):
            shown: list[str] = []
            written = []
            for index, step in enumerate(steps):
                written.append(step)
                shown.append(shown_text(step.text))
                side.text.append(shown[-1], style=screen.token_style(index))
                side.left = _left(steps)
                live.update(draw(), refresh=screen.out.is_terminal)
            result = result_of(steps)
            refused, is_match = _followed(result, constraint, job.vocabulary)
            foreign = foreign_tokens(job.tokenizer, job.vocabulary, result.prompt_tokens, result.tokens)
            # A token that completes no code point is shown with a later one.
            is_shown = range(len(shown) if refused is None else refused, len(shown))
            struck = set([index for index in is_shown if shown[index]][:1])
            if job.settings.get("tokenization") == "canonical":  # then masks refuse these as well
                struck |= foreign or set()
            side.text = _marked(screen, shown, struck)
            side.verdict = screen.mark(is_match)
            side.summary, side.left = _summary(steps, len(foreign or ())), Text()
            live.update(draw(), refresh=screen.out.is_terminal)
    if not screen.out.is_terminal:
        screen.out.print()  # a line that Live ends on a terminal alone
    return written


def _marked(screen: Screen, shown: Sequence[str], struck: set[int]) -> Text:
    """The text by its tokens, those of some indices struck through."""
    text = Text(overflow="fold")
    for index, part in enumerate(shown):
        is_struck = index in struck
        text.append(part, style=screen.refused_style(index) if is_struck else screen.token_style(index))
    return text


def result_of(steps: Stream[Any]) -> Generation[Any]:
    """What was written, when all of it was."""
    assert steps.generation is not None  # set when the iteration has ended
    return steps.generation


def _summary(steps: Stream[Any], foreign: int = 0) -> Text:
    """One line: how much, how probable, how fast, and what the constraint cost.

    Args:
        foreign: how many tokens are not the tokenizer's own, if they were counted.
    """
    result = result_of(steps)
    timing = result.timing
    drawn = max(1, len(result.tokens) + (result.stop_token is not None))
    total = timing.prompt_seconds + timing.model_seconds + timing.sampling_seconds + timing.constraint_seconds
    after_first = timing.model_seconds + timing.sampling_seconds + timing.constraint_seconds
    parts = [f"{len(result.tokens)} tokens", f"{steps.tokens_left} left"]
    if foreign:
        parts.append(f"{foreign} not canonical")
    if result.jumped:
        parts.append(f"{result.jumped} jumped")
    parts += [_ending(steps), f"log-probability {result.log_probability:.2f}"]
    if drawn > 1 and after_first > 0:
        parts.append(f"{(drawn - 1) / after_first:.1f} tokens/s")
    if steps.is_constrained:
        spent = timing.constraint_seconds
        parts.append(f"constraint {1e6 * spent / drawn:.0f} µs per token ({spent / total:.2%} of the time)")
    return Text(" · ".join(parts), style="dim")


def _ending(steps: Stream[Any]) -> str:
    cut = "the budget is used up" if steps.is_constrained else "cut off"
    return {"complete": "complete", "stop": "stopped by the model", "length": cut}[
        result_of(steps).finish_reason
    ]
