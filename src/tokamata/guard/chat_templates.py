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

How.  The template is read for all texts (:mod:`tokamata.guard.templates`): renderings of literal texts and
slots, for conversations that suffice for all lengths.  Each claim is then a question about the texts of a
slot, or about the seams of a stretch (:mod:`tokamata.guard.seams`).  A witness is a conversation: it is
rendered with its texts, and its tokens are compared.

Whatever the template does that is not followed is named, and what depends on it is not settled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tokamata.constraints.constraint import Constraint
from tokamata.constraints.text_constraints import literal
from tokamata.errors import ArgumentError, LimitExceeded, TokamataError, shown_argument
from tokamata.guard.byte_languages import ByteLanguage
from tokamata.guard.seams import joined_literals, seams
from tokamata.guard.template_sources import TemplateSource, template_source
from tokamata.guard.templates.languages import slot_language
from tokamata.guard.templates.pieces import Piece, Rendering, Slot, Source, concretized, sources_of
from tokamata.guard.templates.reading import Template, read_template
from tokamata.guard.templates.shapes import Shape, Turn
from tokamata.guard.token_edges import TokenEdges, not_settled
from tokamata.guard.verdicts import Outcome, Verdict, Witness, worst
from tokamata.resources.limits import CancelToken, Limits

__all__ = ["ChatTemplate", "RoleVerdicts", "template"]

_ROLES = ("system", "user", "assistant", "tool")
_MOST_TURNS = 3  # of conversations where it is not known which suffice
# Texts that templates change, for witnesses; the first that fits is taken.
_CHANGED = (
    " a",
    "a ",
    "\na",
    "a\n",
    " a ",
    "a</think>b",
    "<think>a</think>b",
    "a",
    "",
    '"',
    "<",
    "A",
    "a\nb",
    "é",
)
_PLAIN = ("a", "", " ", "b", "</think>", "<think>a</think>b", "a</think>b", "/a", "1", "x" * 20)


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
        limits: bounds on each search, by default 5 s and 300,000 states; what meets one is not settled.
        cancel: stops the work.

    Raises:
        TemplateError: there is no template, or it does not parse.
        ArgumentError: an argument has another type.
        UnsupportedTokenizerError: the tokenizer has a part that canonical tokenization does not support.
        MissingExtraError: jinja2 is not installed.
        Cancelled: ``cancel`` was cancelled.
    """
    if isinstance(roles, str) or not all(isinstance(role, str) for role in roles) or not roles:
        raise ArgumentError("roles", shown_argument(roles), "a list of roles")
    given = template_source(tokenizer, source, bos_token, eos_token)
    bounds = limits or Limits(states=300_000, seconds=5.0)
    return _Judge(tokenizer, given, tuple(roles), bounds, cancel).judged()


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
        self._tokenizer, self._roles, self._limits, self._cancel = tokenizer, roles, limits, cancel
        self._edges = TokenEdges.of(tokenizer, "text")
        self._own: Template = read_template(
            given.source,
            bos_token=given.bos_token,
            eos_token=given.eos_token,
            special_tokens=given.special_tokens,
        )
        self._template = self._own
        self._seams: dict[Any, Verdict] = {}
        self._texts: dict[tuple[Slot, Any], Constraint[Any]] = {}
        self._unsettled: dict[str, None] = {}

    def judged(self) -> ChatTemplate:
        turns = [Turn(role) for role in self._roles]
        found = self._own.conversations(turns, limits=self._limits, cancel=self._cancel)
        if found.unsettled is None and found.template is self._own:
            return self._of_shapes(self._prompting(list(found.shapes)), "")
        # What holds for the widened template holds for the template; what is wrong there may be right here.
        widened = None
        if found.unsettled is None:
            self._template = found.template
            widened = self._of_shapes(self._prompting(list(found.shapes)), "")
            self._template = self._own
            self._unsettled.clear()
        reason = str(found.unsettled or "the template reads the whole conversation before it writes")
        if found.unsettled is not None:
            self._unsettled[reason] = None
        shapes = [Shape((turn,)) for turn in turns]
        for shape in shapes:  # grows
            if len(shape.turns) < _MOST_TURNS:
                shapes += [Shape((*shape.turns, turn)) for turn in turns]
        own = self._of_shapes(self._prompting(shapes), reason)
        return own if widened is None else _united(own, widened)

    def _of_shapes(self, shapes: list[Shape], why_not_all: str) -> ChatTemplate:
        """The verdicts by some conversations; ``why_not_all``: why they do not suffice for all, or ``""``."""
        renderings = [
            (shape, rendering)
            for shape in shapes
            for rendering in self._renderings(shape)
            if rendering.refused is None and self._is_possible(rendering)
        ]
        written = {turn.role for shape, _ in renderings for turn in shape.turns}
        roles = tuple(
            RoleVerdicts(
                role,
                self._control(role, renderings, why_not_all),
                self._apart(role, renderings, why_not_all),
                self._unchanged(role, renderings, why_not_all),
            )
            for role in self._roles
            if role in written
        )
        return ChatTemplate(roles, self._appending(shapes, why_not_all), tuple(self._unsettled))

    # ---- conversations ------------------------------------------------------------------------------

    @staticmethod
    def _prompting(shapes: list[Shape]) -> list[Shape]:
        return [*shapes, *(Shape(shape.turns, add_generation_prompt=True) for shape in shapes)]

    def _renderings(self, shape: Shape) -> list[Rendering]:
        found = self._template.renderings(shape, limits=self._limits, cancel=self._cancel)
        for rendering in found:
            if rendering.unsettled is not None:
                self._unsettled[str(rendering.unsettled)] = None
        return list(found)

    def _is_possible(self, rendering: Rendering) -> bool:
        """Whether texts may have the conditions of a rendering; those that none has are left out."""
        for source in {
            source for condition in rendering.conditions for source in sources_of(condition.subject)
        }:
            if source.kind != "text":
                continue
            try:
                if slot_language(Slot(source), rendering.conditions).texts.is_empty():
                    return False
            except TokamataError:
                continue
        return True

    # ---- control tokens -----------------------------------------------------------------------------

    def _control(self, role: str, renderings: list[tuple[Shape, Rendering]], why_not_all: str) -> Verdict:
        claim = f"no text of the role {role} becomes a control token"
        names = self._edges.added_names
        if not names:
            return Verdict(claim, "proved", reason="the tokenizer reads no control token in a text")
        reason = why_not_all
        for _, rendering in sorted(renderings, key=lambda each: len(each[1].pieces)):
            written = "".join(piece for piece in rendering.pieces if isinstance(piece, str))
            own = [name for name in names if name in written]
            for slot in self._slots(rendering, role):
                for name in sorted(own, key=len) + sorted(self._edges.control_names, key=len)[:4]:
                    witness = self._injected(rendering, slot, name, names[name])
                    if witness is not None:
                        return Verdict(claim, "witness", witness)
                reason = reason or self._may_name(slot, rendering, names)
            if rendering.unsettled is not None:
                reason = reason or str(rendering.unsettled)
        return (
            Verdict(claim, "not settled", reason=reason)
            if reason
            else Verdict(claim, "proved", reason="no text of its slots has the name of a control token")
        )

    def _injected(self, rendering: Rendering, slot: Slot, name: str, token: int) -> Witness | None:
        if not isinstance(slot.source, Source):
            return None
        for text in (name, f"a{name}a"):
            values = self._values(rendering, {slot.source: text})
            if values is None:
                continue
            whole = concretized(rendering.pieces, values)
            plain = self._values(rendering, {slot.source: "a"})
            if plain is None or whole.count(name) <= concretized(rendering.pieces, plain).count(name):
                continue
            position = whole.encode().find(name.encode())
            running = self._edges.running
            ids = None if running is None else running.encode(whole)
            replayed = (
                None
                if ids is None
                else ids.count(token)
                > (running.encode(concretized(rendering.pieces, plain)).count(token) if running else 0)
            )
            if replayed is False:
                continue
            says = f"the text {text!r} becomes the control token {name!r}"
            pieces = () if ids is None else self._edges.pieces_of(ids)
            return Witness(whole.encode(), tuple(ids or ()), pieces, position, says, replayed)
        return None

    def _may_name(self, slot: Slot, rendering: Rendering, names: Mapping[str, int]) -> str:
        """Why it is not known that no text of a slot has the name of a control token."""
        language = slot_language(slot, rendering.conditions)
        for name in names:
            if not (language.texts & literal(name)).is_empty():
                return f"texts of {slot} may have the name {name!r}, and none was found"
        return f"texts of {slot} may have names of control tokens within them"

    # ---- seams --------------------------------------------------------------------------------------

    def _apart(self, role: str, renderings: list[tuple[Shape, Rendering]], why_not_all: str) -> Verdict:
        claim = f"the texts of the role {role} can be encoded apart"
        reason = why_not_all
        for _, rendering in renderings:
            if rendering.unsettled is not None:
                reason = reason or str(rendering.unsettled)
                continue
            for verdict in self._stretches(rendering, role):
                if verdict.outcome == "witness":
                    return Verdict(claim, "witness", verdict.witness, verdict.reason)
                if not verdict:
                    reason = reason or verdict.reason
        if reason:
            return Verdict(claim, "not settled", reason=reason)
        return Verdict(claim, "proved", reason="no seam around them changes a token")

    def _stretches(self, rendering: Rendering, role: str) -> Iterator[Verdict]:
        """The verdicts of the stretches with a slot of a role."""
        for parts, slots in self._cut(rendering):
            if any(self._is_of(slot, role) for slot in slots):
                yield self._seam(parts)

    def _cut(self, rendering: Rendering) -> Iterator[tuple[list[str | Constraint[Any]], list[Slot]]]:
        """The stretches of a rendering, each with the control tokens around it."""
        parts: list[str | Constraint[Any]] = []
        slots: list[Slot] = []
        for piece in rendering.pieces:
            if isinstance(piece, Slot):
                parts.append(self._texts_of(piece, rendering))
                slots.append(piece)
                continue
            for text, is_control in self._edges.split_controls(piece):
                parts.append(text)
                if is_control:
                    yield parts, slots
                    parts, slots = [text], []
        yield parts, slots

    def _texts_of(self, slot: Slot, rendering: Rendering) -> Constraint[Any]:
        key = slot, rendering.conditions
        if key not in self._texts:
            self._texts[key] = slot_language(slot, rendering.conditions).texts
        return self._texts[key]

    def _seam(self, parts: list[str | Constraint[Any]]) -> Verdict:
        try:
            key = tuple(part if isinstance(part, str) else self._key_of(part) for part in parts)
        except LimitExceeded as error:
            return not_settled("", error)
        if key not in self._seams:
            try:
                found = seams(self._tokenizer, parts, limits=self._limits, cancel=self._cancel)
                self._seams[key] = found.stretches[0].verdict
            except LimitExceeded as error:
                self._seams[key] = not_settled("", error)
        return self._seams[key]

    def _key_of(self, texts: Constraint[Any]) -> Any:
        """Equal for equal languages alone: what a constraint shows is cut off."""
        language = ByteLanguage.of("template", texts, self._limits)
        rows = tuple(tuple(sorted(row.items())) for row in language.rows)
        return language.classes, rows, language.accepting

    # ---- changes ------------------------------------------------------------------------------------

    def _unchanged(self, role: str, renderings: list[tuple[Shape, Rendering]], why_not_all: str) -> Verdict:
        claim = f"each text of the role {role} stands in the rendering as it is"
        reason = why_not_all
        for shape, rendering in renderings:
            if rendering.unsettled is not None:
                reason = reason or str(rendering.unsettled)
                continue
            for index, turn in enumerate(shape.turns):
                if turn.role != role:
                    continue
                source = Source("message", index, role, "content")
                slots = [slot for slot in self._slots(rendering, role) if slot.source == source]
                if any(slot.effect == "identity" for slot in slots):
                    continue
                witness = self._changed(rendering, source, slots)
                if witness is not None:
                    return Verdict(claim, "witness", witness)
                reason = reason or f"{source} is written as {', '.join(map(str, slots)) or 'nothing'}"
        if reason:
            return Verdict(claim, "not settled", reason=reason)
        return Verdict(claim, "proved", reason="each of its slots is the text itself")

    def _changed(self, rendering: Rendering, source: Source, slots: list[Slot]) -> Witness | None:
        for text in _CHANGED:
            values = self._values(rendering, {source: text})
            if values is None or not text:
                continue
            whole = concretized(rendering.pieces, values)
            if text in whole and slots and concretized((slots[0],), values) == text:
                continue
            written = concretized((slots[0],), values) if slots else ""
            says = (
                f"the text {text!r} is written as {written!r}" if slots else f"the text {text!r} is left out"
            )
            before = rendering.pieces[: rendering.pieces.index(slots[0])] if slots else ()
            return Witness(whole.encode(), (), (), len(concretized(before, values).encode()), says)
        return None

    # ---- appended turns -----------------------------------------------------------------------------

    def _appending(self, shapes: list[Shape], why_not_all: str) -> Verdict:
        claim = "an appended turn changes no token before it"
        reason = why_not_all
        for shape in shapes:
            if len(shape.turns) < 2 or shape.add_generation_prompt:
                continue
            for before, after in self._template.pairs(shape, limits=self._limits, cancel=self._cancel):
                if before.refused or after.refused or not self._is_possible(after):
                    continue
                unsettled = before.unsettled or after.unsettled
                if unsettled is not None:
                    reason = reason or str(unsettled)
                    continue
                verdict = self._appended(before, after)
                if verdict.outcome == "witness":
                    return Verdict(claim, "witness", verdict.witness)
                if not verdict:
                    reason = reason or verdict.reason
        if reason:
            return Verdict(claim, "not settled", reason=reason)
        return Verdict(claim, "proved", reason="by induction over the turns")

    def _appended(self, before: Rendering, after: Rendering) -> Verdict:
        first, second = _characters(before.pieces), _characters(after.pieces)
        if second[: len(first)] != first:
            witness = self._rewritten(before, after)
            if witness is not None:
                return Verdict("", "witness", witness)
            return Verdict("", "not settled", reason="another turn changes what was written before it")
        if self._has_control_across(first, second[len(first) :]):
            witness = self._rewritten(before, after)
            if witness is not None:
                return Verdict("", "witness", witness)
            return Verdict("", "not settled", reason="a control token is written across the end of a turn")
        # The stretch around the end of the first turns, in two parts.
        one = self._language_of(first, after, from_end=True)
        other = self._language_of(second[len(first) :], after, from_end=False)
        return Verdict("", "proved") if one is None or other is None else self._seam([*one, *other])

    def _has_control_across(self, first: list[Any], rest: list[Any]) -> bool:
        """Whether the name of an added token begins before a place in the literals, and ends after it."""
        left, right = joined_literals(first)[-1:], joined_literals(rest)[:1]
        if not left or not right or not isinstance(left[0], str) or not isinstance(right[0], str):
            return False
        whole = left[0] + right[0]
        return any(
            whole.find(name, max(0, len(left[0]) - len(name) + 1), len(left[0]) + len(name) - 1) >= 0
            for name in self._edges.added_names
        )

    def _language_of(
        self, items: list[Any], rendering: Rendering, from_end: bool
    ) -> list[str | Constraint[Any]] | None:
        """The part of a stretch at one end of a rendering, with the control token at its other end.

        ``None`` if a control token stands at that end.
        """
        pieces = joined_literals(items)
        cut = list(self._cut(Rendering(tuple(pieces), rendering.conditions)))
        parts, _ = cut[-1] if from_end else cut[0]
        controls = self._edges.control_names
        own = [part for part in parts if not (isinstance(part, str) and part in controls)]
        if not own:
            return None
        whole = _concatenated(own)
        control = [part for part in parts if isinstance(part, str) and part in controls]
        return [*control, whole] if from_end else [whole, *control]

    def _rewritten(self, before: Rendering, after: Rendering) -> Witness | None:
        for text in _PLAIN:
            values = self._values(after, dict.fromkeys(sources_of(after.pieces), text))
            if values is None:
                continue
            try:
                one, other = concretized(before.pieces, values), concretized(after.pieces, values)
            except (KeyError, IndexError):
                continue
            position = next(
                (i for i, (a, b) in enumerate(zip(one.encode(), other.encode(), strict=False)) if a != b),
                min(len(one.encode()), len(other.encode())),
            )
            running = self._edges.running
            tokens = None if running is None else running.encode(one)
            longer = None if running is None else running.encode(other)
            replayed = None if tokens is None or longer is None else longer[: len(tokens)] != tokens
            if replayed is False or (replayed is None and other.startswith(one)):
                continue
            says = f"with another turn, {one[-30:]!r} is no longer encoded as before"
            pieces = () if tokens is None else self._edges.pieces_of(tokens)
            return Witness(one.encode(), tuple(tokens or ()), pieces, position, says, replayed)
        return None

    # ---- values -------------------------------------------------------------------------------------

    def _values(self, rendering: Rendering, given: Mapping[Source, str]) -> dict[Source, Any] | None:
        """Values of all sources that satisfy the conditions of a rendering; ``None`` if none were found."""
        sources = list(dict.fromkeys(self._all_sources(rendering)))
        values: dict[Source, Any] = {source: {} if source.kind == "json" else "a" for source in sources}
        values.update(given)
        free = [source for source in sources if source not in given and source.kind == "text"]
        for _ in range(3):
            wrong = [each for each in rendering.conditions if not self._holds(each, values)]
            if not wrong:
                return values
            for source in free:
                if not any(source in set(sources_of(each.subject)) for each in wrong):
                    continue
                for text in _PLAIN:
                    trial = {**values, source: text}
                    about = [e for e in rendering.conditions if source in set(sources_of(e.subject))]
                    if all(self._holds(each, trial) for each in about):
                        values = trial
                        break
        return values if all(self._holds(each, values) for each in rendering.conditions) else None

    @staticmethod
    def _holds(condition: Any, values: Mapping[Source, Any]) -> bool:
        try:
            return bool(condition.is_true_of(values))
        except (KeyError, IndexError):
            return False

    @staticmethod
    def _all_sources(rendering: Rendering) -> Iterator[Source]:
        yield from sources_of(rendering.pieces)
        for condition in rendering.conditions:
            yield from sources_of(condition.subject)
            if isinstance(condition.argument, tuple) and condition.kind == "equals":
                yield from sources_of(condition.argument)

    def _slots(self, rendering: Rendering, role: str) -> list[Slot]:
        return [piece for piece in rendering.pieces if isinstance(piece, Slot) and self._is_of(piece, role)]

    @staticmethod
    def _is_of(slot: Slot, role: str) -> bool:
        return any(source.role == role for source in sources_of((slot,)))


def _united(own: ChatTemplate, widened: ChatTemplate) -> ChatTemplate:
    """What is proved for the widened template, and else what is known of the template itself."""
    proofs = {each.role: each for each in widened.roles}

    def better(one: Verdict, other: Verdict) -> Verdict:
        return other if other and one.outcome == "not settled" else one

    roles = tuple(
        RoleVerdicts(each.role, *map(better, each.verdicts, proofs[each.role].verdicts))
        if each.role in proofs
        else each
        for each in own.roles
    )
    return ChatTemplate(roles, better(own.appending, widened.appending), own.unsettled)


def _characters(pieces: Iterable[Piece]) -> list[Any]:
    """Literal texts one character at a time, so that renderings can be compared."""
    return [item for piece in pieces for item in (piece if isinstance(piece, str) else [piece])]


def _concatenated(parts: list[str | Constraint[Any]]) -> Constraint[Any]:
    whole = [literal(part) if isinstance(part, str) else part for part in parts]
    found = whole[0]
    for part in whole[1:]:
        found = found + part
    return found
