"""What the chat template of a tokenizer lets the texts of a conversation do.

Problem.  A chat template makes one text of a conversation, and the tokenizer makes tokens of it.  Three
fears:

- *control*: a text of a user, of a tool or of the assistant becomes a control token, which closes its turn or
  begins another one;
- *appending*: another turn changes tokens of the turns before it, so that prefix caches miss, and training
  sees other tokens than were sampled;
- *unchanged*: the template trims a text, changes it or leaves it out.

Example.  ChatML: a user's ``<|im_end|>`` becomes a control token where the rendered text is encoded as a
whole; an appended turn changes nothing; ``content | trim`` changes ``" a"``.

How.  Short conversations are tried first (:mod:`tokamata.guard.tried_conversations`): most claims are false,
and a witness is a conversation that the template itself renders.  What is not refuted is proved from what the
template writes for all texts, as literal texts and slots (:mod:`tokamata.guard.templates`), in two ways:

1. around one message of a conversation of any length (:meth:`Template.around`), which is fast and enough for
   most templates;
2. for conversations that suffice for all lengths (:meth:`Template.conversations`), where the first proves
   nothing.

Each claim is then a question about the texts of a slot, or about the seams of a stretch
(:mod:`tokamata.guard.seams`).

Whatever the template does that is not followed is named, and what depends on it is not settled.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tokamata.constraints.text_constraints import literal
from tokamata.errors import ArgumentError, LimitExceeded, shown_argument
from tokamata.guard.appended_turns import AppendedTurns
from tokamata.guard.slot_seams import SlotSeams
from tokamata.guard.slot_texts import is_possible
from tokamata.guard.template_sources import TemplateSource, template_source
from tokamata.guard.templates.languages import slot_language
from tokamata.guard.templates.pieces import Piece, Rendering, Slot, Source, sources_of
from tokamata.guard.templates.reading import Conversations, Template, read_template
from tokamata.guard.templates.shapes import Shape
from tokamata.guard.templates.unknowns import is_tainted
from tokamata.guard.token_edges import TokenEdges
from tokamata.guard.tried_conversations import CORE, Tried
from tokamata.guard.verdicts import Outcome, Verdict, Witness, worst
from tokamata.resources.limits import CancelToken, Limits

__all__ = ["ChatTemplate", "RoleVerdicts", "template"]

_ROLES = ("system", "user", "assistant", "tool")
# Of a search for conversations that suffice; of those for 537 pairs that end, the longest takes 820.
_MOST_RUNS = 1000


@dataclass(frozen=True)
class RoleVerdicts:
    """What is known of the texts of one role.

    Attributes:
        role: the role of the messages.
        control: no text of the role becomes a control token where the rendered text is encoded as a whole.
        apart: its texts can be encoded apart, as :func:`tokamata.guard.encode` does: the tokens are the same.
        unchanged: each text stands in the rendering as it is.
    """

    role: str
    control: Verdict
    apart: Verdict
    unchanged: Verdict

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """All of them."""
        return self.control, self.apart, self.unchanged


@dataclass(frozen=True)
class ChatTemplate:
    """What is known of a chat template with a tokenizer.

    Attributes:
        roles: by role; without roles that the template refuses.
        appending: an appended turn changes no token of the turns before it.
        unsettled: what the template does that was not followed.
    """

    roles: tuple[RoleVerdicts, ...]
    appending: Verdict
    unsettled: tuple[str, ...]

    @property
    def outcome(self) -> Outcome:
        """The outcome of all claims together."""
        return worst([self.appending, *(verdict for role in self.roles for verdict in role.verdicts)])

    def of_role(self, role: str) -> RoleVerdicts:
        """The verdicts of one role.

        Raises:
            KeyError: the template refuses the role.
        """
        return {each.role: each for each in self.roles}[role]


def template(
    tokenizer: object,
    source: str | None = None,
    *,
    roles: Sequence[str] = _ROLES,
    bos_token: str | None = None,
    eos_token: str | None = None,
    limits: Limits | None = None,
    cancel: CancelToken | None = None,
) -> ChatTemplate:
    """What the texts of a conversation can do, for all texts and all lengths.

    ::

        found = guard.template(tokenizer)
        found.of_role("user").control.witness     # the shortest text that becomes a control token
        found.appending                           # proved: an appended turn changes no token before it

    Args:
        tokenizer: a tokenizer of transformers, or the folder of one; with ``source`` any source that
            ``Vocabulary.load`` takes.
        source: the template, in jinja2's language; the tokenizer's own if not given.
        roles: the roles of the messages.
        bos_token, eos_token: texts of these variables; the tokenizer's own if not given.
        limits: bounds on each search, by default 2 s and 300,000 states; what meets one is not settled.
        cancel: stops the work.

    Raises:
        TemplateError: there is no template, or it does not parse.
        ArgumentError: an argument has another type.
        UnsupportedTokenizerError: the tokenizer has a part that canonical tokenization does not support.
        TokenizerMismatchError: a live tokenizer writes other tokens than its definition says.
        MissingExtraError: jinja2 is not installed.
        Cancelled: ``cancel`` was cancelled.
    """
    if isinstance(roles, str) or not all(isinstance(role, str) for role in roles) or not roles:
        raise ArgumentError("roles", shown_argument(roles), "a list of roles")
    given = template_source(tokenizer, source, bos_token, eos_token)
    bounds = limits or Limits(states=300_000, seconds=2.0)
    return _Judge(tokenizer, given, tuple(roles), bounds, cancel).judged()


@dataclass(frozen=True)
class _Case:
    """A rendering, and the messages in it that a claim is about.

    Attributes:
        rendering: what the template writes.
        contents: the contents of the messages.
    """

    rendering: Rendering
    contents: tuple[Source, ...]

    def slots(self) -> Iterator[Slot]:
        """Where texts of the messages may stand."""
        messages = {(source.origin, source.index) for source in self.contents}
        for slot in self.rendering.slots:
            if is_tainted(slot) or any((one.origin, one.index) in messages for one in sources_of((slot,))):
                yield slot


@dataclass(frozen=True)
class _Cases:
    """What is to be examined for a claim about a role.

    Attributes:
        cases: the renderings.
        why_not_all: why they do not suffice for all conversations, or ``""``.
    """

    cases: Sequence[_Case]
    why_not_all: str


class _Judge:
    """The verdicts about one template."""

    def __init__(
        self,
        tokenizer: object,
        given: TemplateSource,
        roles: tuple[str, ...],
        limits: Limits,
        cancel: CancelToken | None,
    ) -> None:
        self._roles, self._limits, self._cancel = roles, limits, cancel
        self._edges = TokenEdges.of(tokenizer, "text")
        self._template: Template = read_template(
            given.source,
            bos_token=given.bos_token,
            eos_token=given.eos_token,
            special_tokens=given.special_tokens,
        )
        self._outside = self._template.why_outside()  # of what can be proved
        self._tried = Tried(self._template, self._edges, roles, limits, cancel)
        self._seams = SlotSeams(self._edges, limits, cancel)
        self._found: dict[bool, Conversations | str] = {}
        self._renderings: list[tuple[Shape, Rendering]] | None = None
        self._around: dict[str, _Cases] = {}
        self._begins: dict[Piece | None, None] = {}
        self._unsettled: dict[str, None] = {}

    def judged(self) -> ChatTemplate:
        if self._outside:
            self._unsettled[self._outside] = None
        admitted = [role for role in self._roles if self._is_admitted(role)]
        roles = tuple(
            RoleVerdicts(role, self._control(role), self._apart(role), self._unchanged(role))
            for role in admitted
        )
        return ChatTemplate(roles, self._appending(), tuple(self._unsettled))

    # ---- conversations ------------------------------------------------------------------------------

    def _is_admitted(self, role: str) -> bool:
        # Conversations around a message may be many; one that was tried is enough.
        if not self._outside and self._tried.admits(role):
            return True
        cases = self._cases_around(role)
        return bool(cases.cases) or cases.why_not_all not in ("", self._outside)

    def _cases_around(self, role: str) -> _Cases:
        """Conversations of any length, seen around one message of a role."""
        if role not in self._around:
            try:
                found = self._template.around(
                    self._tried.turn(role), limits=self._limits, cancel=self._cancel
                )
            except LimitExceeded as error:
                self._around[role] = _Cases((), f"the limit {error.limit} was met")
            else:
                self._begins.update(
                    dict.fromkeys(piece for each in found if each.content.index for piece in each.begins)
                )
                cases = [
                    _Case(rendering, (each.content,))
                    for each in found
                    for rendering in each.renderings
                    if rendering.refused is None and is_possible(rendering.conditions)
                ]
                self._around[role] = _Cases(cases, self._outside)
        return self._around[role]

    def _is_cut(self) -> bool:
        """Whether what is written for a message that is not the first begins with a token, or is nothing."""
        if any(cases.why_not_all for cases in self._around.values()):
            return False
        if any(self._cases_around(role).why_not_all for role in self._roles):
            return False
        # Only now they are known for all roles.
        return all(
            isinstance(piece, str) and (not piece or self._seams.begins_with_token(piece))
            for piece in self._begins
        )

    def _cases_of_shapes(self, role: str) -> _Cases:
        """Conversations that suffice for all lengths, with those messages of a role."""
        prompts = (False, True) if self._template.reads_generation_prompt else (False,)
        found = [self._conversations(prompt) for prompt in prompts]
        if why_not := next((each for each in found if isinstance(each, str)), ""):
            return _Cases((), why_not)
        if self._renderings is None:
            try:
                self._renderings = [
                    each for one in found if isinstance(one, Conversations) for each in self._rendered(one)
                ]
            except LimitExceeded as error:
                self._found[False] = why_not = f"the limit {error.limit} was met"
                return _Cases((), why_not)
        return _Cases(
            [
                _Case(
                    rendering,
                    tuple(
                        Source("message", index, role, turn.text_field)
                        for index, turn in enumerate(shape.turns)
                        if turn.role == role
                    ),
                )
                for shape, rendering in self._renderings
                if any(turn.role == role for turn in shape.turns)
            ],
            "",
        )

    def _conversations(self, prompt: bool) -> Conversations | str:
        """Shapes that suffice for all lengths, with a generation prompt or without; or why there are none."""
        if self._outside:
            return self._outside
        if prompt not in self._found:
            turns = [self._tried.turn(role) for role in self._roles]
            try:
                found = self._template.conversations(
                    turns,
                    add_generation_prompt=prompt,
                    most_runs=_MOST_RUNS,
                    limits=self._limits,
                    cancel=self._cancel,
                )
                self._found[prompt] = found if found.unsettled is None else str(found.unsettled)
            except LimitExceeded as error:
                self._found[prompt] = f"the limit {error.limit} was met"
        return self._found[prompt]

    def _rendered(self, found: Conversations) -> Iterator[tuple[Shape, Rendering]]:
        for shape in found.shapes:
            for rendering in found.template.renderings(shape, limits=self._limits, cancel=self._cancel):
                if rendering.refused is None and is_possible(rendering.conditions):
                    yield shape, rendering

    # ---- claims about a role ------------------------------------------------------------------------

    def _proved(
        self, claim: str, role: str, reason: str, ask: Callable[[_Case, str], Verdict | str]
    ) -> Verdict:
        """The verdict about a claim that no tried conversation refutes.

        Args:
            claim, role: the claim.
            reason: how it is proved if each case has it.
            ask: for a case, and why the cases before it leave no proof: ``""`` if it has what is claimed, why
                that is not known, or a witness.
        """
        why_not = ""
        for cases_of in (self._cases_around, self._cases_of_shapes):
            cases = cases_of(role)
            why = cases.why_not_all
            for case in cases.cases:
                if case.rendering.unsettled is not None:
                    self._unsettled[str(case.rendering.unsettled)] = None
                    why = why or str(case.rendering.unsettled)
                    continue
                answer = ask(case, why)
                if isinstance(answer, Verdict):
                    return answer
                why = why or answer
                if why.startswith("the limit"):  # the others would meet it as well
                    break
            if not why:
                return Verdict(claim, "proved", reason=reason)
            why_not = why_not or why
        return Verdict(claim, "not settled", reason=why_not)

    def _control(self, role: str) -> Verdict:
        claim = f"no text of the role {role} becomes a control token"
        names = self._edges.added_names
        if not names:
            return Verdict(claim, "proved", reason="the tokenizer reads no control token in a text")
        witness = self._tried.injected(role)
        if witness is not None:
            return Verdict(claim, "witness", witness)

        def ask(case: _Case, _: str) -> str:
            for slot in case.slots():
                if is_tainted(slot):
                    return "the text may be within what was not followed"
                texts = slot_language(slot, case.rendering.conditions).texts
                for name in names:
                    if not (texts & literal(name)).is_empty():
                        return f"texts of {slot} may have the name {name!r}, and none was found"
                return f"texts of {slot} may have names of control tokens within them"
            return ""

        return self._proved(claim, role, "no text of its slots has the name of a control token", ask)

    def _apart(self, role: str) -> Verdict:
        claim = f"the texts of the role {role} can be encoded apart"
        witness = self._tried.joined(role)
        if witness is not None:
            return Verdict(claim, "witness", witness)

        def ask(case: _Case, known: str) -> Verdict | str:
            own = set(case.slots())
            why = "the text may be within what was not followed" if any(map(is_tainted, own)) else ""
            for stretch in self._seams.stretches(case.rendering.pieces):
                if own.isdisjoint(stretch.slots):
                    continue
                if any(one.origin == "unknown" for one in sources_of(stretch.slots)):
                    # It shows no witness, so that nothing is gained where there is no proof.
                    why = (
                        why
                        or known
                        or self._seams.why_not_between(stretch, own, case.rendering.conditions, self._is_cut)
                    )
                    continue
                verdict, parts = self._seams.verdict(stretch, case.rendering.conditions)
                if verdict.witness is not None:
                    if self._tried.has_stretch(role, stretch, parts):
                        return Verdict(claim, "witness", verdict.witness, verdict.reason)
                    # Other slots, such as the date, may be what is joined with what stands around them.
                    if not known and not self._seams.why_not_between(
                        stretch, own, case.rendering.conditions, lambda: False
                    ):
                        continue
                    return f"no conversation was found with the text {verdict.witness.text!r:.80}"
                if not verdict:
                    why = why or verdict.reason
                elif _has_texts_side_by_side(stretch.pieces):
                    why = why or "texts of two messages stand side by side"
            return why

        found = self._proved(claim, role, "no seam around them changes a token", ask)
        witness = self._tried.joined_further(role) if found.outcome == "not settled" else None
        return found if witness is None else Verdict(claim, "witness", witness)

    def _unchanged(self, role: str) -> Verdict:
        claim = f"each text of the role {role} stands in the rendering as it is"

        def ask(case: _Case, _: str = "") -> str:
            for content in case.contents:
                own = [slot for slot in case.rendering.slots if slot.source == content]
                if not any(slot.effect == "identity" for slot in own) and not _is_written(
                    content, case.rendering
                ):
                    return f"{content} is written as {', '.join(map(str, own)) or 'nothing'}"
            return ""

        if role not in self._around:  # what a few conversations refute need not be run around a message
            witness = self._tried.changed(role, is_quick=True)
            if witness is not None:
                return Verdict(claim, "witness", witness)
        around = self._cases_around(role)
        if around.why_not_all or any(case.rendering.unsettled or ask(case) for case in around.cases):
            witness = self._tried.changed(role)
            if witness is not None:
                return Verdict(claim, "witness", witness)
        found = self._proved(claim, role, "each of its slots is the text itself", ask)
        if found.outcome == "not settled":
            failing = (case for case in around.cases if ask(case))
            texts = (_fitting(each, case.rendering) for case in failing for each in case.contents)
            witness = self._tried.changed_by(role, list(dict.fromkeys(texts)))
            if witness is not None:
                return Verdict(claim, "witness", witness)
        return found

    # ---- appended turns -----------------------------------------------------------------------------

    def _appending(self) -> Verdict:
        claim = "an appended turn changes no token before it"
        witness = self._tried.appended()
        if witness is not None:
            return Verdict(claim, "witness", witness)
        why = self._why_not_last()
        if not why:
            return Verdict(claim, "proved", reason="by induction over the turns")
        found = self._conversations(prompt=False)
        if isinstance(found, str):
            return Verdict(claim, "not settled", reason=why)
        turns = self._turns(found.template)
        try:
            answer = turns.why_not(found.shapes)
        except LimitExceeded as error:
            answer = f"the limit {error.limit} was met"
        if isinstance(answer, Witness):
            return Verdict(claim, "witness", answer)
        if answer:
            return Verdict(claim, "not settled", reason=answer)
        return Verdict(claim, "proved", reason="by induction over the turns")

    def _why_not_last(self) -> str:
        """Why the last message of a conversation of any length does not prove it."""
        for role in self._roles:
            cases = self._cases_around(role)
            unsettled = next(
                (each.rendering.unsettled for each in cases.cases if each.rendering.unsettled), None
            )
            if cases.why_not_all or unsettled is not None:
                return cases.why_not_all or str(unsettled)
        try:
            turns = [self._tried.turn(role) for role in self._roles]
            return self._turns(self._template).why_not_last(turns, tuple(self._begins))
        except LimitExceeded as error:
            return f"the limit {error.limit} was met"

    def _turns(self, template: Template) -> AppendedTurns:
        return AppendedTurns(template, self._edges, self._seams, self._tried, self._limits, self._cancel)


def _fitting(content: Source, rendering: Rendering) -> str:
    """A text that may satisfy what the conditions of a rendering say that a text has."""
    parts = {"starts with": "", "contains": "", "ends with": ""}
    for condition in rendering.conditions:
        if not (condition.holds and isinstance(condition.argument, str)):
            continue
        if content not in sources_of(condition.subject):
            continue
        if condition.kind == "equals":
            return condition.argument
        if condition.kind in parts:
            parts[condition.kind] += condition.argument
    return f"{parts['starts with']}{parts['contains']}{CORE}{parts['ends with']}"


def _has_texts_side_by_side(pieces: Sequence[Piece]) -> bool:
    """Whether two messages may write nothing in a row, and longer conversations more of them.

    What is written around a message is represented, up to the next one that writes something.
    """
    return any(
        isinstance(one, Slot)
        and isinstance(other, Slot)
        and {*_messages_of(one)}.isdisjoint(_messages_of(other))
        for one, other in itertools.pairwise(pieces)
    )


def _messages_of(slot: Slot) -> Iterator[int]:
    return (source.index for source in sources_of((slot,)) if source.origin == "message")


def _is_written(content: Source, rendering: Rendering) -> bool:
    """Whether the only text that a message may have stands in the literals, as the empty text always does."""
    return any(
        condition.holds
        and condition.kind == "equals"
        and condition.subject == (Slot(content),)
        and isinstance(condition.argument, str)
        and any(condition.argument in piece for piece in ("", *rendering.pieces) if isinstance(piece, str))
        for condition in rendering.conditions
    )
