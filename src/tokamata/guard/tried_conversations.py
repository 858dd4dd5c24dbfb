"""Short conversations with texts that templates trip over: what one refutes, nobody has to prove.

Problem.  A claim about a chat template holds for all conversations, and most claims are false.  A
counterexample is worth more than a proof, and is found faster: one of some twenty conversations, with the
same text in one turn or in all of them.

Example.  Qwen 3 drops the reasoning of an answer when another turn is appended.  The conversation of a
user, an assistant and a user with the text ``"</think>a"`` shows it.

How.  The template itself is run on the texts (:meth:`Template.text`), and the tokenizer's own program encodes
what it writes.  Where there is no program, the texts are compared, and the witness is not replayed.

What neither these refute nor a proof settles is tried further: in all conversations of three turns, and with
texts that have what the conditions of a rendering ask for, or of which the template writes a part.

Cost: about a millisecond for a conversation.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tokamata.guard.slot_seams import RenderingStretch
from tokamata.guard.templates.pieces import Source
from tokamata.guard.templates.reading import Template
from tokamata.guard.templates.shapes import Shape, Turn
from tokamata.guard.token_edges import TokenEdges
from tokamata.guard.verdicts import Witness
from tokamata.resources.limits import CancelToken, Limits
from tokamata.resources.locks import kept_property
from tokamata.tokenization.running import RunningTokenizer

__all__ = ["CORE", "Tried"]

# By their first letters: system, user, assistant, tool.  Those that most templates admit come first.
_CONVERSATIONS = (
    *(
        "u",
        "su",
        "ua",
        "sua",
        "uau",
        "suau",
        "uat",
        "uatu",
        "ut",
        "uta",
        "uata",
        "suata",
        "uaua",
        "s",
        "a",
        "t",
    ),
    *("us", "usu", "uas", "uasu", "uu", "uaa", "uatt", "utu", "ss", "at", "sa", "st", "sau"),
)
_PLAIN = "a"
# Texts that templates change; the core stands for a text that no template writes.
_CHANGED = (
    *(" {}", "{} ", "\n{}", "{}\n", " {} ", "\n{}\n"),
    *(" {}\n", "{}</think>{}", "<think>{}</think>{}", "<think>\n{}\n</think>\n\n{}", "{}"),
    *('{}"', "{}<", "{}\n{}", "{}é"),
)
CORE = "\u2603"
_CORES = ("a", "qx", "zj7", CORE)
_FEW = 6  # conversations
_SEARCHED = ("\n {} \n", "<think>\n{}\n</think>\n\n{}", "{}")
# More white space than templates have, none but white space, and an end of thoughts within thoughts.
_SEARCHED_LAST = ("\n\n\n\t {} \t\n\n\n", "\t \t", "{}</think>{}</think>{}")
_MOST_GIVEN = 8
_MOST_RARER = 4**3
# Texts that tokens join with what stands around them.
_JOINED = ("\n", "a", " ", "\n\n", " a", "a\n", "a ", "1", "s", ">", "<", "'s", "\n\n\n", "  ", "\t")
# Texts of which templates that know thoughts write a part, and what that part may be.
_THOUGHTS_END = "</think>"
_WITH_THOUGHTS = ("a</think>{}", "{}</think>a", "<think>{}</think>a")
_JOINED_WITHIN = ("", "\t\na", *_JOINED)
# Texts of all turns, for what another turn changes.
_APPENDED = (
    *(
        "a",
        "<think>\na\n</think>\n\nb",
        "a</think>b",
        " a ",
        "",
        "\n",
        "a\n\n",
        "<think>a</think>",
        "1",
        "/a",
    ),
)


class Tried:
    """The short conversations of a template with a tokenizer.

    Args:
        template: the template.
        edges: the tokenizer.
        roles: the roles of the messages; others are not tried.
        limits, cancel: of each run.
    """

    def __init__(
        self,
        template: Template,
        edges: TokenEdges,
        roles: Sequence[str],
        limits: Limits | None,
        cancel: CancelToken | None,
    ) -> None:
        self._template, self._edges, self._limits, self._cancel = template, edges, limits, cancel
        self._roles = tuple(dict.fromkeys(roles))
        self._texts: dict[tuple[tuple[Turn, ...], bool, tuple[str, ...]], str | None] = {}
        self._seams: dict[tuple[tuple[str, ...], bool], Witness | None] = {}
        # What the program writes for a text, read as a whole and without control tokens.  Most conversations
        # have the same texts around a turn.
        self._read_ids: dict[str, list[int]] = {}
        self._text_ids: dict[str, list[int] | None] = {}
        self.content: str | tuple[str, ...] = "text"
        self.shapes = list(_shapes(roles, self.content))
        if not self._is_written():
            self.content = ("text",)
            self.shapes = list(_shapes(roles, self.content))
            if not self._is_written():
                self.content = "text"
                self.shapes = list(_shapes(roles, self.content))

    # ---- claims -------------------------------------------------------------------------------------

    def injected(self, role: str) -> Witness | None:
        """A conversation in which a text of a role becomes an added token that the tokenizer reads."""
        names, controls = self._edges.added_names, self._edges.control_names
        for shape, index, texts in self._with_role(role):
            base = self.text(shape, texts)
            if base is None:
                continue
            own = sorted((name for name in names if name in base), key=len)
            others = sorted(controls, key=len)[:4] or sorted(names, key=len)[:4]
            for name in dict.fromkeys([*own, *others]):
                for text in (name, f"a{name}a"):
                    witness = self._read(shape, (*texts[:index], text, *texts[index + 1 :]), base, name, text)
                    if witness is not None:
                        return witness
        return None

    def admits(self, role: str) -> bool:
        """Whether the template writes a conversation with a role."""
        return any(self.text(shape, texts) is not None for shape, _, texts in self._with_role(role))

    def changed(self, role: str, *, is_quick: bool = False) -> Witness | None:
        """A conversation in which a text of a role does not stand as it is.

        Args:
            role: the role.
            is_quick: whether to try the first few conversations alone.
        """
        every = len(self.shapes)
        all_searches = ((_SEARCHED, every), (_CHANGED, 8), (_SEARCHED_LAST, every))
        for forms, most in ((_SEARCHED, _FEW),) if is_quick else all_searches:
            tried = 0
            for shape, index, texts in self._with_role(role):
                if tried == most:
                    break
                marked = self.text(shape, (*texts[:index], _CORES[-1], *texts[index + 1 :]))
                if marked is None:
                    continue
                tried += 1
                core = next(
                    (
                        one
                        for one in _CORES
                        if not any(form.replace("{}", one) in marked for form in _CHANGED[:4])
                    ),
                    "",
                )
                for form in forms:
                    if self._is_changed(shape, index, texts, form.replace("{}", core)):
                        simple = (each.replace("{}", core) for each in _CHANGED)
                        found = (each for each in simple if self._is_changed(shape, index, texts, each))
                        text = next(found, form.replace("{}", core))
                        whole = self.text(shape, (*texts[:index], text, *texts[index + 1 :])) or ""
                        return self._change(shape, texts, index, text, whole)
        return None

    def changed_by(self, role: str, given: Sequence[str]) -> Witness | None:
        """The same with given texts, in conversations that the model is to go on with, too."""
        for prompt in (False, True):
            shapes = [replace(shape, add_generation_prompt=prompt) for shape in self.shapes]
            for text in given[:_MOST_GIVEN]:
                for shape, index, texts in self._with_role(role, shapes):
                    if self._is_changed(shape, index, texts, text):
                        whole = self.text(shape, (*texts[:index], text, *texts[index + 1 :])) or ""
                        return self._change(shape, texts, index, text, whole)
        return None

    def _is_changed(self, shape: Shape, index: int, texts: tuple[str, ...], text: str) -> bool:
        whole = self.text(shape, (*texts[:index], text, *texts[index + 1 :]))
        return whole is not None and text not in whole

    def joined(self, role: str) -> Witness | None:
        """A conversation whose tokens are not those of a text of a role and of what stands around it."""
        return self._joined_as(role, "{}", _JOINED)

    def joined_further(self, role: str) -> Witness | None:
        """The same for conversations that are rarer, and texts of which the template writes a part."""
        witness = self._joined_as(role, "{}", _JOINED, self._rarer)
        if witness is not None or _THOUGHTS_END not in self._template.source:
            return witness
        found = (self._joined_as(role, form, _JOINED_WITHIN) for form in _WITH_THOUGHTS)
        return next((witness for witness in found if witness is not None), None)

    def _joined_as(
        self, role: str, form: str, joined: Sequence[str], shapes: Sequence[Shape] | None = None
    ) -> Witness | None:
        """The same for contents of a form, of which the template writes the text in it, once and as it is."""
        if self._edges.running is None:
            return None
        for shape, index, texts in self._with_role(role, shapes):

            def content(
                text: str, shape: Shape = shape, index: int = index, texts: tuple[str, ...] = texts
            ) -> str | None:
                return self.text(shape, (*texts[:index], form.replace("{}", text), *texts[index + 1 :]))

            marked = content(_CORES[-1])
            if marked is None or marked.count(_CORES[-1]) != 1:
                continue
            before, _, after = marked.partition(_CORES[-1])
            left, right = self._pieces(before), self._pieces(after)
            follows = len(left) > 1 or bool(left and left[-1][1])
            ends = [piece for piece, is_control in (left[-1:] + right[:1]) if not is_control]
            start = left[-1][0] if left and not left[-1][1] else ""
            end = right[0][0] if right and not right[0][1] else ""
            if not ends and not follows:
                continue
            for text in joined:
                # The seam is asked first, since it is the same in most conversations.
                witness = self._seam((start, text, end), follows)
                if witness is not None and content(text) == before + text + after:
                    return witness
        return None

    def _seam(self, parts: tuple[str, ...], follows: bool) -> Witness | None:
        """The witness that a stretch is, if its tokens are not those of its parts."""
        key = parts, follows
        if key not in self._seams:
            assert self._edges.running is not None
            self._seams[key] = self._seam_of(self._edges.running, parts, follows)
        return self._seams[key]

    def _seam_of(self, running: RunningTokenizer, parts: tuple[str, ...], follows: bool) -> Witness | None:
        stretch = "".join(parts)
        whole, *each = self._encoded_texts(running, [stretch, *(part for part in parts if part)])
        if follows and self._edges.hides_space and whole is not None:
            # A space before the text is hidden at the start of a text alone.
            control = min(self._edges.control_names, key=len)
            whole = (
                None
                if any(one for _, one in self._pieces(stretch))
                else self._encoded(running, control + stretch)[1:]
            )
        if whole is None or any(one is None for one in each):
            return None
        apart = [token for one in each if one is not None for token in one]
        if whole == apart:
            return None
        says = f"the parts are encoded as {apart[:12]}, the whole as {whole[:12]}"
        pieces = self._edges.pieces_of(whole, not follows)
        at = next((at for at, (a, b) in enumerate(zip(whole, [*apart, -1], strict=False)) if a != b), 0)
        return Witness(stretch.encode(), tuple(whole), pieces, sum(map(len, pieces[:at])), says, True)

    def _encoded(self, running: RunningTokenizer, text: str) -> list[int]:
        if text not in self._read_ids:
            self._read_ids[text] = running.encode(text)
        return self._read_ids[text]

    def _encoded_texts(self, running: RunningTokenizer, texts: list[str]) -> list[list[int] | None]:
        """The ids of each text, in which names of control tokens are ordinary text."""
        unknown = [text for text in dict.fromkeys(texts) if text not in self._text_ids]
        if unknown:  # in one call, which looks once whether the tokenizer has changed
            found = running.encode_text_many(unknown)
            self._text_ids.update(
                dict.fromkeys(unknown) if found is None else zip(unknown, found, strict=True)
            )
        return [self._text_ids[text] for text in texts]

    def _pieces(self, text: str) -> list[tuple[str, bool]]:
        return list(self._edges.split_controls(text))

    def has_stretch(self, role: str, stretch: RenderingStretch, parts: Sequence[bytes]) -> bool:
        """Whether a conversation has the text of a stretch, with one text of a role in its slot."""
        texts = {
            text.decode()
            for piece, text in zip(stretch.pieces, parts, strict=False)
            if not isinstance(piece, str)
        }
        if len(texts) != 1 or len(parts) != len(stretch.pieces):
            return False
        (own,), wanted = texts, b"".join(parts).decode()
        for shape, index, plain in self._with_role(role):
            whole = self.text(shape, (*plain[:index], own, *plain[index + 1 :]))
            if whole is not None and wanted in whole and wanted in self._stretches(whole):
                return True
        return False

    def _stretches(self, text: str) -> set[str]:
        """The texts between control tokens."""
        return {piece for piece, is_control in self._edges.split_controls(text) if not is_control}

    def appended(self) -> Witness | None:
        """A conversation whose tokens change when a turn is appended."""
        for text in _APPENDED:
            for shape in self.shapes:
                if len(shape.turns) < 2:
                    continue
                texts = (text,) * len(shape.turns)
                one = self.text(shape.first(len(shape.turns) - 1), texts[:-1])
                other = self.text(shape, texts) if one is not None else None
                if one is None or other is None:
                    continue
                witness = self.rewritten(one, other)
                if witness is not None:
                    return witness
        return None

    def rewritten(self, one: str, other: str) -> Witness | None:
        """The witness that a text and the same with another turn are, if tokens change."""
        running = self._edges.running
        position = next(
            (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
            min(len(one), len(other)),
        )
        says = f"with another turn, {one[-30:]!r} is no longer encoded as before"
        place = len(one[:position].encode())
        if running is None:
            return None if other.startswith(one) else Witness(one.encode(), (), (), place, says)
        tokens, longer = self._encoded(running, one), self._encoded(running, other)
        if longer[: len(tokens)] == tokens:
            return None
        return Witness(one.encode(), tuple(tokens), self._edges.pieces_of(tokens), place, says, True)

    # ---- conversations ------------------------------------------------------------------------------

    def text(self, shape: Shape, texts: tuple[str, ...]) -> str | None:
        """What the template writes for texts of all turns; ``None`` if it refuses them."""
        key = shape.turns, shape.add_generation_prompt, texts
        if key not in self._texts:
            values = {
                Source("message", index, turn.role, turn.text_field): text
                for index, (turn, text) in enumerate(zip(shape.turns, texts, strict=True))
            }
            self._texts[key] = self._template.text(shape, values, limits=self._limits, cancel=self._cancel)
        return self._texts[key]

    def turn(self, role: str) -> Turn:
        """A message as the template takes it: with a text as its content, or a list with one text."""
        return Turn(role, self.content)

    def _is_written(self) -> bool:
        """Whether the template writes the text of some message."""
        written = (self.text(shape, (_CORES[-1],) * len(shape.turns)) for shape in self.shapes)
        return any(text is not None and _CORES[-1] in text for text in written)

    @kept_property
    def _rarer(self) -> list[Shape]:
        """All conversations of three turns that are not tried for each claim."""
        turns = [self.turn(role) for role in self._roles]
        every = (Shape(three) for three in itertools.product(turns, repeat=3))
        return [shape for shape in itertools.islice(every, _MOST_RARER) if shape not in self.shapes]

    def _with_role(
        self, role: str, shapes: Sequence[Shape] | None = None
    ) -> Iterator[tuple[Shape, int, tuple[str, ...]]]:
        """Conversations with a role, the index of a turn of it, and plain texts."""
        for shape in self.shapes if shapes is None else shapes:
            for index, turn in enumerate(shape.turns):
                if turn.role == role:
                    yield shape, index, (_PLAIN,) * len(shape.turns)

    def _read(self, shape: Shape, texts: tuple[str, ...], base: str, name: str, text: str) -> Witness | None:
        """The witness that a text is, if its name becomes a token."""
        whole = self.text(shape, texts)
        if whole is None or whole.count(name) <= base.count(name):
            return None
        running, token = self._edges.running, self._edges.added_names[name]
        place = next(
            (at for at, (a, b) in enumerate(zip(whole, base, strict=False)) if a != b),
            min(len(whole), len(base)),
        )
        position = len(whole[: max(0, whole.find(name, max(0, place - len(name))))].encode())
        says = f"the text {text!r} becomes the control token {name!r}"
        if running is None:
            return Witness(whole.encode(), (), (), position, says)
        ids = self._encoded(running, whole)
        if ids.count(token) <= self._encoded(running, base).count(token):
            return None
        return Witness(whole.encode(), tuple(ids), self._edges.pieces_of(ids), position, says, True)

    def _change(self, shape: Shape, texts: tuple[str, ...], index: int, text: str, whole: str) -> Witness:
        """The witness that a text is, with what is written in its place, if that can be seen."""
        marked = self.text(shape, (*texts[:index], _CORES[-1], *texts[index + 1 :])) or ""
        before, mark, after = marked.partition(_CORES[-1])
        position, says = 0, f"the text {text!r} is left out"
        if (
            mark
            and len(whole) >= len(before) + len(after)
            and whole.startswith(before)
            and whole.endswith(after)
        ):
            position = len(before.encode())
            says = f"the text {text!r} is written as {whole[len(before) : len(whole) - len(after)]!r}"
        elif mark:
            says = f"the text {text!r} is changed"
        running = self._edges.running
        tokens = [] if running is None else running.encode(whole)
        return Witness(
            whole.encode(),
            tuple(tokens),
            self._edges.pieces_of(tokens),
            position,
            says,
            running is not None or None,
        )


def _shapes(roles: Sequence[str], content: str | tuple[str, ...]) -> Iterator[Shape]:
    """The conversations of some roles; another role than the usual ones stands beside these."""
    usual = {"s": "system", "u": "user", "a": "assistant", "t": "tool"}
    for letters in _CONVERSATIONS:
        names = [usual[letter] for letter in letters]
        if all(name in roles for name in names):
            yield Shape(tuple(Turn(name, content) for name in names))
    for role in roles:
        if role not in usual.values():
            for others in ((), ("user",), ("assistant",), ("user", "assistant")):
                if all(name in roles for name in others):
                    yield Shape(tuple(Turn(name, content) for name in (*others, role)))
                    yield Shape(tuple(Turn(name, content) for name in (role, *others)))
