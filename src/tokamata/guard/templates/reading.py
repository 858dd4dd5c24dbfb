"""Reads a chat template: what it writes for a conversation, with a slot for every text that it does not know.

**Problem.**  A claim about all texts of a turn, such as "no user's text becomes a control token", cannot be
tested by examples.  It can be proved from the renderings of the template: sequences of literal texts and
slots, each for the texts that satisfy some conditions.

**Method.**  jinja2 itself runs the template, on values that stand for unknown texts
(:mod:`tokamata.guard.templates.texts`).  Where the template asks about such a text, the run is repeated for
each answer (:mod:`tokamata.guard.templates.decisions`).  Whatever cannot be followed exactly makes its
rendering *not settled* and is named with its line; nothing is guessed.

**Example.**  ::

    template = read_template("{% for m in messages %}<{{ m.role }}>{{ m.content | trim }}{% endfor %}")
    for rendering in template.renderings(Shape.of("user")):
        print(rendering)    # '<user>' + {message 0: user content | strip(None)}

**Cost.**  One run of the template for each path; 2 to 20 for most templates and plain conversations.

**Rejected.**  An interpreter of our own for jinja2's syntax tree: scopes of loops, macros and namespaces
would have to be written again, and each difference would be a wrong proof.  A subclass of ``str``: C code
reads its buffer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from tokamata.errors import ArgumentError, LimitExceeded, MissingExtraError, shown_argument
from tokamata.guard.templates.decisions import Run, Trace
from tokamata.guard.templates.pieces import (
    Condition,
    Piece,
    Rendering,
    Slot,
    Source,
    Unsettled,
    concretized,
    sources_of,
)
from tokamata.guard.templates.shapes import Shape, Turn
from tokamata.guard.templates.texts import JsonObject, Symbolic, Text, joined
from tokamata.resources.limits import CancelToken, Limits, Watch
from tokamata.resources.locks import kept_property

if TYPE_CHECKING:
    from tokamata.guard.templates.jinja_conversations import Reads
    from tokamata.guard.templates.jinja_runs import Compiled, Outcome

__all__ = ["Around", "Conversations", "Template", "read_template"]

MOST_PATHS = 1024  # for one shape; for plain conversations of 6 turns, 4 of 786 public templates have more
# Around a message in one position; of those that 537 pairs have fewer of, the most are 720.
MOST_AROUND = 768
MOST_SHAPES = 2000  # of one search for conversations
MOST_RUNS = 4000  # likewise
MOST_TURNS = 12
_POSITIONS = (0, 1, 2)  # of a message in a conversation; 2 stands for all from there on
_DAY = datetime(2026, 1, 31)  # of conversations with known texts

_Path = tuple[tuple[Condition, ...], tuple["Outcome", ...]]


def _merged(paths: list[_Path], asked: int = 0) -> list[_Path]:
    """The same without questions whose answer changes nothing.

    The paths are the leaves of a tree of questions.  A question is left out if both of its subtrees are
    equal.
    """
    if len(paths) == 1:
        return paths
    sides = [
        _merged([path for path in paths if path[0][asked].holds is holds], asked + 1)
        for holds in (False, True)
    ]
    below = [[(conditions[asked + 1 :], outcomes) for conditions, outcomes in side] for side in sides]
    if below[0] != below[1]:
        return [*sides[0], *sides[1]]
    return [((*conditions[:asked], *conditions[asked + 1 :]), outcomes) for conditions, outcomes in sides[0]]


@dataclass(frozen=True)
class Conversations:
    """Shapes that suffice for claims about conversations of any length.

    Attributes:
        shapes: the shapes, shorter ones first; each of one turn less is among them.
        template: the template whose renderings of these shapes suffice.  It is the template itself, or a
            widened one, whose renderings are a superset: a proof holds for the template, and a witness has to
            be replayed on it.
        unsettled: why no finite number of shapes is known to suffice; otherwise ``None``.
    """

    shapes: tuple[Shape, ...]
    template: Template
    unsettled: Unsettled | None


@dataclass(frozen=True)
class Around:
    """What a template writes for conversations around a message.

    Attributes:
        content: the source of its content.
        renderings: what is written.
        begins: the first pieces that are written from the iteration for the message on; ``""`` stands for
            nothing, ``None`` where that is not known: no loop that writes has an iteration for the message,
            or several have, or a rendering is not settled.
    """

    content: Source
    renderings: tuple[Rendering, ...]
    begins: tuple[Piece | None, ...]


def _first_piece(run: Run) -> Piece | None:
    if run.begin is None or run.has_other_begin:
        return None
    from tokamata.guard.templates.unknowns import is_gap

    written = joined(run, run.written[run.begin :])
    first = written.pieces[0] if isinstance(written, Text) else written
    # What is written for the messages after it is nothing of its own.
    return "" if isinstance(first, Slot) and is_gap(first) else first


class Template:
    """A chat template that was read; made by :func:`read_template`.

    Attributes:
        source: its text.
        special_tokens: names and texts of the variables for control tokens.
        variables: the names of all variables that it reads, but ``messages`` and those that a template has
            without a caller; any that a shape does not give is undefined.
    """

    def __init__(self, source: str, special_tokens: Mapping[str, str], compiled: Compiled) -> None:
        self.source = source
        self.special_tokens = dict(special_tokens)
        self._compiled = compiled

    @kept_property
    def _any_length(self) -> Compiled:
        from tokamata.guard.templates.jinja_runs import compiled

        return compiled(self.source, any_length=True)

    @property
    def reads_generation_prompt(self) -> bool:
        """Whether it may write something else with a generation prompt."""
        from jinja2 import nodes

        return any(one.name == "add_generation_prompt" for one in self._compiled.tree.find_all(nodes.Name))

    @property
    def variables(self) -> frozenset[str]:
        """The names of variables that the caller may pass."""
        from jinja2.meta import find_undeclared_variables

        own = {"messages", "tools", "documents", "add_generation_prompt", "raise_exception", "strftime_now"}
        own |= {"namespace", "dict", "range", "cycler", "joiner", "lipsum", "loop", *self.special_tokens}
        return frozenset(find_undeclared_variables(self._compiled.tree)) - own

    def why_outside(self) -> str:
        """Why no claim about conversations of any length is proved of it; ``""`` if it may be."""
        from tokamata.guard.templates.jinja_subset import why_outside

        found = why_outside(self._compiled.tree, self.source)
        return "" if found is None else str(found)

    def renderings(
        self, shape: Shape, *, limits: Limits | None = None, cancel: CancelToken | None = None
    ) -> tuple[Rendering, ...]:
        """What the template writes for conversations of a shape, one rendering for each path.

        The conditions of two renderings exclude each other; together they cover all texts.  If there are more
        than ``MOST_PATHS`` paths, the last rendering is not settled and stands for the others.

        Raises:
            TemplateError: the template takes too much time or memory.
            LimitExceeded, Cancelled: by ``limits.seconds`` or ``cancel``.
        """
        return tuple(rendering for (rendering,) in self._paths((shape,), Watch(limits, cancel)))

    def pairs(
        self, shape: Shape, *, limits: Limits | None = None, cancel: CancelToken | None = None
    ) -> tuple[tuple[Rendering, Rendering], ...]:
        """Renderings of all turns but the last, and of all turns, for the same answers about the same texts.

        The first of a pair is rendered without a generation prompt.  Both have the conditions of both.  Where
        the first is a prefix of the second, the last turn changes nothing that was written before.

        Raises:
            ArgumentError: the shape has one turn.
            TemplateError, LimitExceeded, Cancelled: as :meth:`renderings`.
        """
        if len(shape.turns) < 2:
            raise ArgumentError("shape", f"a shape of {len(shape.turns)} turn", "a shape of at least 2 turns")
        before = shape.first(len(shape.turns) - 1)
        before = Shape(before.turns, before.tools, False, before.variables, before.text_variables)
        return tuple((one, other) for one, other in self._paths((before, shape), Watch(limits, cancel)))

    def text(
        self,
        shape: Shape,
        values: Mapping[Source, Any],
        *,
        limits: Limits | None = None,
        cancel: CancelToken | None = None,
    ) -> str | None:
        """What the template writes for one conversation: it is run on the texts themselves.

        ``None`` if the template refuses the conversation, or if that depends on the date.

        Args:
            shape: the conversation without its texts.
            values: the value of each source of the shape, as :meth:`Shape.inputs` asks for them.
            limits, cancel: as for :meth:`renderings`.

        Raises:
            TemplateError, LimitExceeded, Cancelled: as :meth:`renderings`.
        """
        run = Run((), Watch(limits, cancel), self._compiled.line)
        inputs = {**self.special_tokens, **shape.inputs(lambda source: values[source])}
        pieces, refused, unsettled = self._compiled.rendering(run, inputs)
        if refused is not None or unsettled is not None or run.conditions:
            return None
        dates = {source: _DAY.strftime(source.field) for source in sources_of(pieces)}
        return concretized(pieces, dates)

    def around(
        self, turn: Turn, *, limits: Limits | None = None, cancel: CancelToken | None = None
    ) -> tuple[Around, ...]:
        """What the template writes for conversations of any length that have a turn somewhere.

        Each rendering of each conversation with such a message is among the renderings, with some text for
        each slot whose source is *unknown* (:mod:`tokamata.guard.templates.unknowns`).  The reverse is not
        true.  The other turns are messages of any kind, with or without a generation prompt.

        Returns:
            One for each position of the message; up to one that has more than ``MOST_AROUND`` paths, which is
            not settled, and so are the others.

        Raises:
            TemplateError, LimitExceeded, Cancelled: as :meth:`renderings`.
        """
        from tokamata.guard.templates.unknowns import numbered

        template = self._any_length
        found = []
        for before in _POSITIONS:
            begins: dict[Piece | None, None] = {}

            def outcomes(run: Run, before: int = before, begins: Any = begins) -> tuple[Outcome, ...]:
                outcome = template.rendering(run, self._around(run, turn, before, None))
                if outcome[1] is None and outcome[2] is None:
                    begins[_first_piece(run)] = None
                return (outcome,)

            watch = Watch(limits, cancel)
            paths = self._explored(outcomes, template.line, watch, 1, MOST_AROUND)
            has_all = len(paths) <= MOST_AROUND
            renderings = map(numbered, paths if has_all else paths[-1:])
            source = Source("message", before, turn.role, turn.text_field)
            every = tuple(dict.fromkeys(rendering for (rendering,) in renderings))
            if any(rendering.unsettled is not None for rendering in every):
                begins[None] = None
            found.append(Around(source, every, tuple(begins)))
            if not has_all:
                break
        return tuple(found)

    def appended(
        self, turn: Turn, *, limits: Limits | None = None, cancel: CancelToken | None = None
    ) -> tuple[tuple[tuple[Rendering, Rendering], ...], bool]:
        """What the template writes for conversations of any length that end in a turn, and with another one.

        The answers are the same in both renderings of a pair, and unknown slots of both that are equal stand
        for the same text: what other iterations write is the same in both if they read the same.  The first
        rendering is without a generation prompt.

        Returns:
            The pairs, and whether that is so: it is not if a message was read by a negative index, since the
            first message may then have read the last one.

        Raises:
            TemplateError, LimitExceeded, Cancelled: as :meth:`renderings`.
        """
        from tokamata.guard.templates.unknowns import numbered

        template = self._any_length
        runs: list[Run] = []
        pairs: list[tuple[Rendering, Rendering]] = []
        for before in _POSITIONS:

            def outcomes(run: Run, before: int = before) -> tuple[Outcome, ...]:
                runs.append(run)
                found = []
                for is_last in (True, False):
                    run.phase = "shorter" if is_last else "longer"
                    found.append(template.rendering(run, self._around(run, turn, before, is_last)))
                return tuple(found)

            watch = Watch(limits, cancel)
            paths = self._explored(outcomes, template.line, watch, 2, MOST_PATHS)
            pairs += ((one, other) for one, other in map(numbered, paths))
        return tuple(dict.fromkeys(pairs)), not any(run.reads_from_the_end for run in runs)

    def _around(self, run: Run, turn: Turn, before: int, is_last: bool | None) -> dict[str, Any]:
        """The variables for a conversation around a turn; ``is_last``: whether this is the last."""
        from tokamata.guard.templates.unknowns import Messages, Unknown

        run.focus = before

        def unknown(source: Source) -> Symbolic:
            own = replace(source, index=before)
            return Text(run, (Slot(own),)) if own.kind == "text" else JsonObject(run, Slot(own))

        (message,) = Shape((turn,)).inputs(unknown)["messages"]
        return {
            **self.special_tokens,
            **Shape((turn,)).inputs(lambda _: None),
            "messages": Messages(run, message, before, is_last),
            "add_generation_prompt": not is_last and Unknown(run, ("generation prompt",), False),
        }

    def conversations(
        self,
        turns: Sequence[Turn],
        *,
        first: Sequence[Turn] = (),
        add_generation_prompt: bool = False,
        tools: int | tuple[Mapping[str, Any], ...] = 0,
        variables: Mapping[str, Any] | None = None,
        most_runs: int = MOST_RUNS,
        limits: Limits | None = None,
        cancel: CancelToken | None = None,
    ) -> Conversations:
        """Shapes that show all that the template does with conversations of some turns, of any length.

        :mod:`tokamata.guard.templates.jinja_conversations` states and argues what they suffice for.

        Args:
            turns: the kinds of turns, such as ``[Turn("user"), Turn("assistant")]``; a conversation is any
                sequence of them.
            first: kinds of turns that may also stand at the beginning, such as ``[Turn("system")]``.
            add_generation_prompt, tools, variables: as in a :class:`Shape`, the same for all conversations.
            most_runs: how often the template is run in one search, of which there are two.
            limits: its ``seconds`` bound the search.
            cancel: stops the search.

        Raises:
            TemplateError, LimitExceeded, Cancelled: as :meth:`renderings`.
        """
        from tokamata.guard.templates.jinja_conversations import Outside
        from tokamata.guard.templates.jinja_runs import compiled
        from tokamata.guard.templates.jinja_widening import widen

        def widen_it(tree: Any) -> None:
            if not widen(tree):  # the search would go as before
                raise Outside(unsettled.what, unsettled.line)

        watch = Watch(limits, cancel)
        empty = Shape((Turn(""),), tools, add_generation_prompt, variables or {})
        try:
            shapes = self._represented(turns, first, empty, most_runs, watch)
        except Outside as error:
            unsettled = Unsettled(error.what, error.line)
        else:
            return Conversations(tuple(shapes), self, None)
        try:
            widened = Template(self.source, self.special_tokens, compiled(self.source, widen_it))
            shapes = widened._represented(turns, first, empty, most_runs, watch)
        except (Outside, LimitExceeded):
            return Conversations((), self, unsettled)
        return Conversations(tuple(shapes), widened, None)

    def _represented(
        self, turns: Sequence[Turn], first: Sequence[Turn], empty: Shape, most_runs: int, watch: Watch
    ) -> list[Shape]:
        """The shapes that suffice for this template, if the theorem is about it."""
        from tokamata.guard.templates.jinja_conversations import reads_of

        reads = reads_of(self._compiled.tree)
        found = self._representatives(turns, first, empty, reads, 1, most_runs, watch)
        if found is None:
            found = self._representatives(turns, first, empty, reads, 2, most_runs, watch)
        assert found is not None
        return found

    def _representatives(
        self,
        turns: Sequence[Turn],
        first: Sequence[Turn],
        empty: Shape,
        reads: Reads,
        neighbours: int,
        most_runs: int,
        watch: Watch,
    ) -> list[Shape] | None:
        """The search; ``None`` if messages write nothing and one neighbour is therefore too few."""
        from tokamata.guard.templates.jinja_conversations import Outside, configuration, described, is_silent

        shapes: list[Shape] = []
        seen: set[Any] = set()
        runs = 0
        pending: list[tuple[Turn, ...]] = [(turn,) for turn in dict.fromkeys([*first, *turns])]
        while pending:
            longer: list[tuple[Turn, ...]] = []
            for sequence in pending:
                shape = replace(empty, turns=sequence)
                shapes.append(shape)
                if len(shapes) > MOST_SHAPES or len(sequence) > MOST_TURNS:
                    raise Outside("namespaces whose values go on to change", 0)
                keys = set()
                for run, refused in self._traced(shape, watch, partial(described, back=reads.back)):
                    runs += 1
                    if runs > most_runs:
                        raise Outside("too many combinations of turns and answers", 0)
                    if neighbours == 1 and is_silent(run):
                        return None
                    if not (refused and self._is_final(shape, run, reads)):
                        keys.add(configuration(shape, run, reads, neighbours))
                if not keys <= seen:
                    seen |= keys
                    longer += [(*sequence, turn) for turn in turns]
            pending = longer
        return shapes

    @staticmethod
    def _is_final(shape: Shape, run: Run, reads: Reads) -> bool:
        """Whether a message before the last caused the refusal of a run; longer ones are refused as well."""
        assert run.trace is not None
        length, heads = len(shape.turns), run.trace.heads
        return length > reads.most and bool(heads) and heads[-1][0] < length - 1

    def _traced(
        self, shape: Shape, watch: Watch, describe: Callable[[Any, Any, int], Any]
    ) -> Iterator[tuple[Run, bool]]:
        """A run of each path, with what its loop leaves behind, and whether it is refused."""
        pending: list[tuple[bool, ...]] = [()]
        for _ in range(MOST_PATHS):
            if not pending:
                return
            script = pending.pop()
            watch.check()
            run = Run(script, watch, self._compiled.line)
            run.trace = Trace(describe)
            _, refused, unsettled = self._compiled.rendering(run, self._inputs(run, shape))
            if unsettled is not None:
                raise _outside(unsettled)
            answers = tuple(condition.holds for condition in run.conditions)
            for asked in range(len(script), len(answers)):
                pending.append((*answers[:asked], not answers[asked]))
            yield run, refused is not None
        raise _outside(Unsettled(f"more than {MOST_PATHS:,} combinations of answers", 0))

    def _paths(self, shapes: tuple[Shape, ...], watch: Watch) -> list[tuple[Rendering, ...]]:
        """The renderings of some shapes on each path."""

        def outcomes(run: Run) -> tuple[Outcome, ...]:
            return tuple(self._compiled.rendering(run, self._inputs(run, shape)) for shape in shapes)

        return self._explored(outcomes, self._compiled.line, watch, len(shapes), MOST_PATHS)

    @staticmethod
    def _explored(
        outcomes: Callable[[Run], tuple[Outcome, ...]],
        line: Callable[[], int],
        watch: Watch,
        count: int,
        most: int,
    ) -> list[tuple[Rendering, ...]]:
        """So many renderings on each path of a run; of more paths than ``most`` the last is not settled."""
        pending: list[tuple[bool, ...]] = [()]
        paths: list[_Path] = []
        while pending and len(paths) < most:
            script = pending.pop()
            watch.check()
            run = Run(script, watch, line)
            written = outcomes(run)
            conditions = tuple(run.conditions)
            answers = tuple(condition.holds for condition in conditions)
            for asked in range(len(script), len(answers)):
                pending.append((*answers[:asked], not answers[asked]))
            paths.append((conditions, written))
        if not pending:
            paths = _merged(paths)
        found = [
            tuple(
                Rendering(pieces, _of_texts(conditions), refused, unsettled)
                for pieces, refused, unsettled in written
            )
            for conditions, written in paths
        ]
        if pending:
            unsettled = Unsettled(f"more than {most:,} combinations of answers", 0)
            found.append((Rendering((), (), None, unsettled),) * count)
        return found

    def _inputs(self, run: Run, shape: Shape) -> dict[str, Any]:
        def unknown(source: Source) -> Symbolic:
            return Text(run, (Slot(source),)) if source.kind == "text" else JsonObject(run, Slot(source))

        inputs = {**self.special_tokens, **shape.inputs(unknown)}
        if run.trace is not None:
            run.trace.indices = {id(message): index for index, message in enumerate(inputs["messages"])}
        return inputs


def _of_texts(conditions: tuple[Condition, ...]) -> tuple[Condition, ...]:
    """The conditions without the answers that a widened template leaves open."""
    return tuple(
        condition
        for condition in conditions
        if all(source.origin != "unknown" for source in sources_of(condition.subject))
    )


def _outside(unsettled: Unsettled) -> Exception:
    from tokamata.guard.templates.jinja_conversations import Outside

    return Outside(unsettled.what, unsettled.line)


def read_template(
    source: str,
    *,
    bos_token: str | None = None,
    eos_token: str | None = None,
    special_tokens: Mapping[str, str] | None = None,
) -> Template:
    """Reads a chat template as transformers renders it.

    Args:
        source: the template, in jinja2's language.
        bos_token: the text of the variable ``bos_token``; ``None`` leaves it undefined, as transformers does
            for a tokenizer without one.
        eos_token: likewise.
        special_tokens: texts of other such variables, such as ``{"pad_token": "<pad>"}``.

    Raises:
        TemplateError: it does not parse, needs other templates, or nests too deeply.
        MissingExtraError: jinja2 is not installed.
    """
    if not isinstance(source, str):
        raise ArgumentError("source", shown_argument(source), "the text of a template")
    tokens = {"bos_token": bos_token, "eos_token": eos_token, **(special_tokens or {})}
    for name, text in tokens.items():
        if not (text is None or isinstance(text, str)):
            raise ArgumentError(name, shown_argument(text), "a text")
    try:
        import jinja2  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("jinja2", "guard", "reading a chat template") from error
    from tokamata.guard.templates.jinja_runs import compiled

    return Template(
        source, {name: text for name, text in tokens.items() if text is not None}, compiled(source)
    )
