"""Questions about the token edges of one tokenizer, asked of the engine, and replayed on its own program.

Two readings of a text are distinguished.  A tokenizer *reads* the names of control tokens in a text as these
tokens; where a text comes from somebody else, its names are ordinary *text*.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal
from weakref import WeakKeyDictionary

import tokamata._core as _core
from tokamata.errors import LimitExceeded, MissingExtraError, UnsupportedTokenizerError, VocabularyError
from tokamata.guard.edge_machines import EdgeMachine
from tokamata.guard.verdicts import Verdict, Witness
from tokamata.resources.limits import CancelToken, Limits, core_limits
from tokamata.resources.locks import Lock, kept_property
from tokamata.tokenization.canonical import (
    added_names,
    is_decided_by_neighbours,
    may_write,
    text_tokenization_of,
    tokenization_of,
)
from tokamata.tokenization.running import RunningTokenizer
from tokamata.vocabulary import Vocabulary

__all__ = ["ControlTokens", "TokenEdges", "not_settled"]

ControlTokens = Literal["read", "text"]
"""Whether the names of control tokens in a text are read as such, or are ordinary text."""

_lock = Lock()
_kept: WeakKeyDictionary[Any, dict[ControlTokens, TokenEdges]] = WeakKeyDictionary()


class TokenEdges:
    """One tokenizer, in one reading of control tokens.

    Args:
        source: any source that ``Vocabulary.load`` takes, or a vocabulary.
        control_tokens: how names of control tokens in a text are read.

    Attributes:
        vocabulary: its tokens.
        control_tokens: as given.
        running: its own program; ``None`` if there is none here.
        why_not_running: why not.

    Raises:
        UnsupportedTokenizerError: canonical tokenization does not support the tokenizer, and names the part.
        VocabularyError, MissingExtraError: the source cannot be read.
    """

    def __init__(self, source: object, control_tokens: ControlTokens) -> None:
        self.vocabulary = source if isinstance(source, Vocabulary) else Vocabulary.load(source, stop=())
        self.control_tokens = control_tokens
        self._has_hidden_space = _has_hidden_space(self.vocabulary)
        if self._has_hidden_space and any(name.startswith(" ") for name in self.added_names):
            what = "one begins with a space, and the tokenizer puts a space before each text"
            raise UnsupportedTokenizerError("added tokens", what)
        make = tokenization_of if control_tokens == "read" else text_tokenization_of
        self.tokenization = make(self.vocabulary)
        self._search = _core.EdgeSearch(self.tokenization, self._has_hidden_space)
        self.running: RunningTokenizer | None = None
        self.why_not_running = "a vocabulary has no program; pass the tokenizer itself"
        if not isinstance(source, Vocabulary):
            try:
                self.running = RunningTokenizer(source)
                self._facts = self.running.facts()
            except (VocabularyError, MissingExtraError) as error:
                self.why_not_running = str(error)

    @classmethod
    def of(cls, source: object, control_tokens: ControlTokens = "read") -> TokenEdges:
        """The same; kept as long as the source exists, if it is an object, and has not changed."""
        try:
            with _lock:
                kept = _kept.setdefault(source, {})
        except TypeError:  # a path, or an object without weak references
            return cls(source, control_tokens)
        known = kept.get(control_tokens)
        if known is None or known._has_changed():
            known = kept[control_tokens] = cls(source, control_tokens)
        return known

    def _has_changed(self) -> bool:
        return self.running is not None and self.running.facts() != self._facts

    @property
    def hides_space(self) -> bool:
        """Whether the tokenizer puts a space before a text, which its decoder takes away."""
        return self._has_hidden_space

    @kept_property
    def is_decided_by_neighbours(self) -> bool:
        """Whether a pre-token is written right if each two neighbours are."""
        return is_decided_by_neighbours(self.vocabulary)

    @kept_property
    def added_names(self) -> dict[str, int]:
        """The added tokens that the tokenizer reads in a text, control tokens among them, by text."""
        return added_names(self.vocabulary)

    @kept_property
    def control_names(self) -> dict[str, int]:
        """The control tokens that the tokenizer reads in a text, by name."""
        tokens = self.vocabulary.tokens
        return {name: token for name, token in self.added_names.items() if tokens[token] is None}

    @property
    def cut_names(self) -> dict[str, int]:
        """The added tokens that are cut out of a text in this reading, by text."""
        if self.control_tokens == "read":
            return self.added_names
        return {name: token for name, token in self.added_names.items() if name not in self.control_names}

    def may_write(self, token: int) -> bool:
        """Whether the model itself may write the token of an added token; its name is ordinary text."""
        return may_write(self.vocabulary, token)

    @kept_property
    def _controls(self) -> re.Pattern[str] | None:
        names = sorted(self.control_names, key=len, reverse=True)
        return re.compile("|".join(map(re.escape, names))) if names else None

    def split_controls(self, text: str) -> Iterator[tuple[str, bool]]:
        """The pieces of a text, and whether they name control tokens: leftmost first, then longest."""
        end = 0
        for match in self._controls.finditer(text) if self._controls else ():
            if match.start() > end:
                yield text[end : match.start()], False
            yield match.group(), True
            end = match.end()
        if end < len(text):
            yield text[end:], False

    def shortest(
        self,
        machine: EdgeMachine,
        limits: Limits,
        cancel: CancelToken | None,
        shown: str,
        before: _core.Before = _core.Before.NOTHING,
    ) -> bytes | None:
        """A shortest text with the token edges of a machine, in UTF-8; ``None`` proves that there is none.

        Raises:
            LimitExceeded, Cancelled: before an answer was found.
        """
        return self._search.shortest(machine.automaton(), before, core_limits(limits), cancel, shown)

    def tokens_of(
        self,
        text: bytes,
        limits: Limits,
        cancel: CancelToken | None,
        before: _core.Before = _core.Before.NOTHING,
    ) -> list[int] | None:
        """What the tokenizer writes for a text, by our tables; ``None`` if it does not reproduce the text."""
        hidden = b" " if self._has_hidden_space and before != _core.Before.NOTHING else b""
        shown = text.decode("utf-8", "replace")
        return self._search.tokens_of(hidden + text, before, core_limits(limits), cancel, shown)

    def witness(
        self, text: bytes, position: int, says: str, limits: Limits, cancel: CancelToken | None
    ) -> Witness | None:
        """A text as the tokenizer writes it; ``None`` if its own program writes it otherwise."""
        tokens = self.tokens_of(text, limits, cancel)
        if tokens is None:
            return None
        replayed = self.replayed(text, tokens)
        if replayed is False:
            return None
        return Witness(text, tuple(tokens), self.pieces_of(tokens), position, says, replayed)

    def replayed(self, text: bytes, tokens: list[int]) -> bool | None:
        """Whether the tokenizer's own program writes these tokens; ``None`` if there is none."""
        if self.running is None:
            return None
        encode = self.running.encode if self.control_tokens == "read" else self.running.encode_text
        ids = encode(text.decode())
        return None if ids is None else ids == tokens

    def pieces_of(self, tokens: list[int], at_start: bool = True) -> tuple[bytes, ...]:
        """The bytes of each token; of a control token, those of its name."""
        first = self.vocabulary.start_tokens() if at_start and tokens else None
        pieces = [self._piece(token) for token in tokens]
        if first is not None and first[tokens[0]] is not None:
            pieces[0] = first[tokens[0]] or b""
        return tuple(pieces)

    def _piece(self, token: int) -> bytes:
        text = self.vocabulary.tokens[token]
        return self.vocabulary.name(token).encode() if text is None else text


def not_settled(claim: str, error: LimitExceeded) -> Verdict:
    """The verdict of a search that met a limit."""
    return Verdict(claim, "not settled", reason=f"the limit {error.limit} was met")


def _has_hidden_space(vocabulary: Vocabulary) -> bool:
    """Whether the first token of each text has a space that the decoder takes away.

    Raises:
        UnsupportedTokenizerError: the decoder changes the first token in another way.
    """
    first = vocabulary.start_tokens()
    if first is None:
        return False
    hides = False
    for token, (text, at_start) in enumerate(zip(vocabulary.tokens, first, strict=True)):
        if text is None or at_start is None or text == at_start:
            continue
        if text[:1] != b" ":
            raise UnsupportedTokenizerError(
                "decoder",
                f"token {token} is decoded to {at_start!r:.80} at the start of a text, and to {text!r:.80} "
                "elsewhere",
            )
        hides = hides or at_start == text[1:]
    return hides
