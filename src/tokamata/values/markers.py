"""Control tokens in a text that is read for its value.

Problem.  A control token has no bytes, so the text of ``reasoning <control token> answer`` does not say where
the reasoning ends.  Its tokens do.

How.  For reading, each control token becomes a *marker*: a byte that UTF-8 lacks, the id in digits, and that
byte again.  The constraint is made a second time, with markers in place of control tokens (:func:`.remade`),
and splits the text with markers.  Strings are returned without them; texts of tags keep the names
of their control tokens.  A text token that a constraint names as a token is marked too, since its bytes may
also be spelled by others.

Rejected: offsets of control tokens beside the text, which every form would have to shift for its pieces.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence

import tokamata._core as _core
from tokamata.values.control_names import ControlNames

__all__ = ["MarkedText", "Markers"]

_MARKER = re.compile(rb"\xff(\d+)\xff")


class Markers:
    """The markers of a constraint's tokens.

    Args:
        ids: the control tokens that each key of the constraint stands for.
        tokens: the bytes of all tokens; ``None`` for a control token.
        stop: the stop tokens, which are not in a text.
        names: the control tokens that may stand for their names.
    """

    are_marks = True

    def __init__(
        self,
        ids: Mapping[str, Sequence[int]],
        tokens: Sequence[bytes | None],
        stop: Sequence[int],
        names: ControlNames,
    ) -> None:
        self._ids = ids
        self._control_names = names
        self._name_of = {
            token: key.removeprefix("name:").encode()
            for key, some in ids.items()
            if key.startswith("name:")
            for token in some
        }
        self._tokens = tokens
        self._stop = frozenset(stop)
        named: set[bytes] = set()
        for key in ids:
            scheme, _, rest = key.partition(":")
            if scheme == "if text":
                named.add(rest.encode())
            elif scheme == "not":
                named.update(entry.encode() for entry in json.loads(rest) if isinstance(entry, str))
        self._named: dict[bytes, list[int]] = {}
        for token, text in enumerate(tokens if named else ()):
            if text in named and text is not None:
                self._named.setdefault(text, []).append(token)

    def control(self, key: str) -> _core.Expression:
        """The markers of the control tokens of a key."""
        return self._any_of(self._ids[key])

    def named_text(self, name: str) -> _core.Expression:
        """The markers of the text tokens with this text."""
        return self._any_of(self._named.get(name.encode(), ()))

    def text_but(self, names: Sequence[str]) -> _core.Expression:
        """Part of a text token that is not marked."""
        return _core.code_points([(0, 0x10FFFF)])

    def spelled(self, texts: Sequence[str]) -> _core.Expression:
        """One of some texts; markers may stand in it for the names of control tokens."""
        return self._control_names.spelled(texts, self._by_name)

    def named(self, text: str) -> _core.Expression:
        """A text in which one or more markers stand for the names of control tokens."""
        return self._control_names.named(text, self._by_name)

    def text(self, plain: bytes, tokens: Sequence[int]) -> bytes:
        """A text with markers.

        Args:
            plain: the text; it may lack bytes of the first tokens.
            tokens: its tokens; a text may end with a stop token.
        """
        pieces: list[bytes] = []
        end = len(plain)
        for token in reversed(tokens):
            text = self._tokens[token] if token < len(self._tokens) else None
            begin = max(0, end - len(text or b""))
            if text is None and token not in self._stop:
                pieces.append(b"\xff%d\xff" % token)
            elif text is not None:
                is_named = text in self._named and end - begin == len(text)
                pieces.append(b"\xff%d\xff" % token if is_named else plain[begin:end])
            end = begin
        pieces.append(plain[:end])  # what the decoder writes at the start of a text alone
        return b"".join(reversed(pieces))

    def plain(self, text: bytes) -> bytes:
        """The text without markers."""
        if b"\xff" not in text:
            return text
        return _MARKER.sub(lambda found: self._tokens[int(found[1])] or b"", text)

    def lengths(self, text: bytes) -> list[tuple[int, int]]:
        """For each marker in a text with markers, where it ends, and how much longer it is than its token."""
        return [
            (found.end(), len(found[0]) - len(self._tokens[int(found[1])] or b""))
            for found in _MARKER.finditer(text)
        ]

    def spelled_out(self, text: bytes) -> bytes:
        """The text with the names of control tokens in place of markers."""
        return _MARKER.sub(lambda found: self._name_of.get(int(found[1]), b""), text)

    def pattern(self, text: str) -> tuple[bytes, int]:
        """A regular expression of the spellings of a text of a tag, and the length of the longest."""
        pattern, longest = b"", 0
        for number, piece in enumerate(self._control_names.cut(text)):
            spellings = [piece.encode()]
            if number % 2:
                spellings += [b"\xff%d\xff" % token for token in self._ids.get(f"name:{piece}", ())]
            pattern += b"(?:%b)" % b"|".join(map(re.escape, spellings))
            longest += max(map(len, spellings))
        return pattern, longest

    def _by_name(self, name: str) -> _core.Expression:
        return self._any_of(self._ids.get(f"name:{name}", ()))

    @staticmethod
    def _any_of(ids: Sequence[int]) -> _core.Expression:
        if not ids:
            return _core.empty()
        marks = _core.strings([str(token) for token in ids])
        return _core.concat([_core.literal(b"\xff"), marks, _core.literal(b"\xff")])


class MarkedText:
    """A text with markers that mostly grows: what was read is not read again."""

    def __init__(self, markers: Markers) -> None:
        self._markers = markers
        self._plain, self._text = b"", b""
        self._tokens: list[int] = []
        self._ends: list[int] = []  # of markers, in the text
        self._longer: list[int] = [0]  # up to each of them, by how many bytes the text is longer

    def moved(self, plain: bytes, tokens: list[int]) -> bytes:
        """The text with markers; arguments as in :meth:`Markers.text`."""
        known, read = len(self._tokens), len(self._plain)
        if not (read and plain.startswith(self._plain) and tokens[:known] == self._tokens):
            self._text, self._ends, self._longer = b"", [], [0]
            known = read = 0
        more = self._markers.text(plain[read:], tokens[known:])
        for end, longer in self._markers.lengths(more):
            self._ends.append(len(self._text) + end)
            self._longer.append(self._longer[-1] + longer)
        self._plain, self._tokens, self._text = plain, tokens, self._text + more
        return self._text

    def plain_offset(self, offset: int) -> int:
        """The place in the plain text of a place between two tokens."""
        return offset - self._longer[bisect_right(self._ends, offset)]
