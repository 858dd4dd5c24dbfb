"""Names of control tokens in a text.

Problem.  The text of a tag, ``<|channel|>final<|message|>``, names two control tokens of gpt-oss, and none of
other models.  A model writes each name as its control token, but may also spell it.  A constraint does not
know the vocabulary.

How.  When a constraint is compiled, a text is cut from left to right, at each position by the longest name
that begins there, as tokenizers find their added tokens.  Each name is then its control token or its letters,
independently of the others.  Stop tokens end a text, so none of them stands for its name.

Example.  With the names ``ab`` and ``abc``: ``xabcab`` is ``x``, ``abc``, ``ab``, and has four spellings.

Cost.  For each position of a text, the number of different lengths of names that begin with its character.
The expression is linear in the text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import tokamata._core as _core
from tokamata.patterns.extensions import EngineTokens, one_of

if TYPE_CHECKING:
    from tokamata.vocabulary import Vocabulary

__all__ = ["ControlNames", "VocabularyTokens"]


class ControlNames:
    """The control tokens of a vocabulary that may stand in a text for their names."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._names = {
            name for name, token in vocabulary._control_ids.items() if name and token not in vocabulary.stop
        }
        lengths: dict[str, set[int]] = {}
        for name in self._names:
            lengths.setdefault(name[0], set()).add(len(name))
        self._lengths = {first: sorted(some, reverse=True) for first, some in lengths.items()}

    def cut(self, text: str) -> list[str]:
        """The text in pieces; those with odd numbers are names of control tokens."""
        pieces, begin, at = [], 0, 0
        while at < len(text):
            for length in self._lengths.get(text[at], ()):
                name = text[at : at + length]
                if name in self._names:
                    pieces += [text[begin:at], name]
                    at = begin = at + length
                    break
            else:
                at += 1
        return [*pieces, text[begin:]]

    def spelled(self, texts: Sequence[str], control: Callable[[str], _core.Expression]) -> _core.Expression:
        """One of some texts, in which control tokens may stand for their names.

        ``control`` makes the control token of a name.
        """
        named = [self._named(pieces, control) for text in texts if len(pieces := self.cut(text)) > 1]
        return _core.union([one_of(texts), *named]) if named else one_of(texts)

    def named(self, text: str, control: Callable[[str], _core.Expression]) -> _core.Expression:
        """A text in which one or more control tokens stand for their names."""
        return self._named(self.cut(text), control)

    @staticmethod
    def _named(pieces: list[str], control: Callable[[str], _core.Expression]) -> _core.Expression:
        """From the end on: what follows a name, with any of its names as tokens, and with one or more."""
        either, some = _core.literal(pieces[-1].encode()), _core.empty()
        for at in range(len(pieces) - 3, -1, -2):
            before, name = _core.literal(pieces[at].encode()), pieces[at + 1]
            spelled = _core.literal(name.encode())
            some = _core.union(
                [_core.concat([before, control(name), either]), _core.concat([before, spelled, some])]
            )
            both = _core.union([control(name), spelled])
            either = _core.concat([before, both, either])
        return some


class VocabularyTokens(EngineTokens):
    """Tokens as the engine has them, with the control tokens of a vocabulary."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._names = ControlNames(vocabulary)

    def spelled(self, texts: Sequence[str]) -> _core.Expression:
        """One of some texts; control tokens may stand in it for their names."""
        return self._names.spelled(texts, _by_key)

    def named(self, text: str) -> _core.Expression:
        """A text in which one or more control tokens stand for their names."""
        return self._names.named(text, _by_key)


def _by_key(name: str) -> _core.Expression:
    return _core.control_token(f"name:{name}")
