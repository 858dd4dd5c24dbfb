"""A regular language over bytes, as an explicit deterministic automaton."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from tokamata.calls.arguments import checked_text
from tokamata.constraints.constraint import Constraint
from tokamata.errors import ArgumentError, shown_argument
from tokamata.resources.limits import Limits
from tokamata.vocabulary.single_bytes import single_bytes

__all__ = ["ByteLanguage"]


@dataclass(frozen=True)
class ByteLanguage:
    """A deterministic automaton over bytes; every state reaches acceptance.

    Attributes:
        shown: the language, for messages.
        classes: the class of each byte, 256 of them; bytes of one class have the same transitions.
        rows: by state, the target of each class that has one.  State 0 is the start.
        accepting: by state.
    """

    shown: str
    classes: tuple[int, ...]
    rows: tuple[dict[int, int], ...]
    accepting: tuple[bool, ...]

    @classmethod
    def of(cls, argument: str, value: Any, limits: Limits | None) -> ByteLanguage:
        """The language of a text or a constraint.

        Raises:
            ArgumentError: it is neither.
            AlgebraError, NotRegularError: the constraint has no closed form over bytes.
            LimitExceeded: the closed form passes a limit.
        """
        if isinstance(value, str):
            return cls.of_bytes(checked_text(value, argument))
        if not isinstance(value, Constraint):
            raise ArgumentError(argument, shown_argument(value), "a text or a regular constraint")
        automaton = value.compile(single_bytes(), limits=limits).token_automaton()
        classes = tuple(int(automaton.class_of_token[byte]) + 1 for byte in range(256))
        rows = tuple(_row(*automaton.row(state)) for state in range(automaton.states))
        return cls(str(value), classes, rows, tuple(map(bool, automaton.accepting)))

    @classmethod
    def of_bytes(cls, text: bytes) -> ByteLanguage:
        """The language of one text."""
        names = {byte: number + 1 for number, byte in enumerate(sorted(set(text)))}
        rows: tuple[dict[int, int], ...] = tuple({names[byte]: i + 1} for i, byte in enumerate(text))
        accepting = (False,) * len(text) + (True,)
        classes = tuple(names.get(byte, 0) for byte in range(256))
        return cls(repr(text.decode("utf-8", "replace")), classes, (*rows, {}), accepting)

    def ends(self, text: bytes, start: int) -> Iterator[int]:
        """Where words of the language end that begin at an offset of a text."""
        state: int | None = 0
        for end in range(start, len(text) + 1):
            assert state is not None
            if self.accepting[state]:
                yield end
            state = self.rows[state].get(self.classes[text[end]]) if end < len(text) else None
            if state is None:
                return

    def may_end_with(self, text: bytes) -> bool:
        """Whether a word of the language may end with a text; every state is taken to be reached."""
        return any(self._accepts(self._read(state, text)) for state in range(len(self.rows)))

    def shortest(self) -> bytes:
        """A shortest word, not empty if the language has another one."""
        words = [word for state, word in self._reached(0).items() if self.accepting[state]]
        return min(words, key=lambda word: (len(word), word), default=b"")

    def _reached(self, start: int) -> dict[int, bytes]:
        """A shortest text, not empty, that leads from a state to each that one leads to."""
        members = self._members()
        reached: dict[int, bytes] = {}
        pending = [(start, b"")]
        for state, text in pending:  # grows
            for name, target in sorted(self.rows[state].items()):
                if target not in reached and members[name]:
                    reached[target] = text + members[name][:1]
                    pending.append((target, reached[target]))
        return reached

    def _members(self) -> list[bytes]:
        """The bytes of each class."""
        members = [bytearray() for _ in range(257)]
        for byte, name in enumerate(self.classes):
            members[name].append(byte)
        return list(map(bytes, members))

    def _read(self, state: int, text: bytes) -> int | None:
        at: int | None = state
        for byte in text:
            at = self.rows[at].get(self.classes[byte]) if at is not None else None
        return at

    def shortest_with(self, texts: Iterable[bytes], at_start: bool) -> bytes | None:
        """A shortest word that begins or ends with the first of some texts of which there is one."""
        reached = {} if at_start else {**self._reached(0), 0: b""}
        for text in texts:
            if at_start:
                state = self._read(0, text)
                if state is None:
                    continue
                after = {**self._reached(state), state: b""}
                words = [text + word for end, word in after.items() if self.accepting[end]]
            else:
                words = [
                    word + text for state, word in reached.items() if self._accepts(self._read(state, text))
                ]
            if words:
                return min(words, key=lambda word: (len(word), word))
        return None

    def _accepts(self, state: int | None) -> bool:
        return state is not None and self.accepting[state]

    def has_only(self, points: Collection[int], at_start: bool) -> bool:
        """Whether each word but the empty one begins or ends with one of some code points.

        Words that are not UTF-8 do not count.
        """
        tries: dict[int, Any] = {}
        for point in points:
            node = tries
            for byte in chr(point).encode():
                node = node.setdefault(byte, {})
        members = self._members()
        known: dict[tuple[int, int, int], bool] = {}

        def is_another(state: int, node: dict[int, Any] | None, rest: int) -> bool:
            """Whether a code point that is not given goes on with so many bytes."""
            if rest == 0:
                return node is None and (at_start or self.accepting[state])
            key = state, id(node), rest
            if key not in known:
                known[key] = any(
                    is_another(target, None if node is None else node.get(byte), rest - 1)
                    for name, target in self.rows[state].items()
                    for byte in members[name]
                    if 0x80 <= byte < 0xC0
                )
            return known[key]

        for state in range(1 if at_start else len(self.rows)):
            for name, target in self.rows[state].items():
                for byte in members[name]:
                    rest = 0 if byte < 0x80 else 1 if byte < 0xE0 else 2 if byte < 0xF0 else 3
                    if not 0x80 <= byte < 0xC0 and is_another(target, tries.get(byte), rest):
                        return False
        return True

    def after(self, text: bytes) -> ByteLanguage:
        """The words of this language after a text."""
        first = ByteLanguage.of_bytes(text)
        pairs = sorted(set(zip(first.classes, self.classes, strict=True)))
        numbers = {pair: number for number, pair in enumerate(pairs)}
        classes = tuple(numbers[pair] for pair in zip(first.classes, self.classes, strict=True))
        before = [
            {number: target for (own, _), number in numbers.items() if (target := row.get(own)) is not None}
            for row in first.rows[:-1]
        ]
        rest = [
            {
                number: target + len(text)
                for (_, own), number in numbers.items()
                if (target := row.get(own)) is not None
            }
            for row in self.rows
        ]
        accepting = (False,) * len(text) + self.accepting
        return ByteLanguage(self.shown, classes, (*before, *rest), accepting)

    def occurrences(self, text: bytes) -> Iterator[tuple[int, int]]:
        """Where words of the language stand in a text: offsets of begin and end."""
        for start in range(len(text)):
            state: int | None = 0
            for end in range(start, len(text)):
                assert state is not None
                state = self.rows[state].get(self.classes[text[end]])
                if state is None:
                    break
                if self.accepting[state]:
                    yield start, end + 1


def _row(classes: Iterable[int], targets: Iterable[int]) -> dict[int, int]:
    return {int(name) + 1: int(target) for name, target in zip(classes, targets, strict=True)}
