"""Questions about the token edges of one tokenizer, asked of the engine, and replayed on its own program.

Two readings of a text are distinguished.  A tokenizer *reads* the names of control tokens in a text as these
tokens; where a text comes from somebody else, its names are ordinary *text*.
"""

from __future__ import annotations

import os
import re
from collections.abc import Hashable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal

import tokamata._core as _core
from tokamata.errors import LimitExceeded, MissingExtraError, UnsupportedTokenizerError, VocabularyError
from tokamata.guard.edge_machines import EdgeMachine
from tokamata.guard.verdicts import Verdict, Witness
from tokamata.resources.limits import CancelToken, Limits, core_limits
from tokamata.resources.locks import Lock, kept_property
from tokamata.tokenization.adapters import package_of
from tokamata.tokenization.canonical import (
    WordLetters,
    added_names,
    is_decided_by_neighbours,
    may_write,
    merged_ones,
    tokenization_after_mark,
    why_unguarded,
    word_letters,
    word_mark,
)
from tokamata.tokenization.running import RunningTokenizer
from tokamata.tokenization.self_test import tested_text_tokenization, tested_tokenization
from tokamata.vocabulary import Vocabulary
from tokamata.vocabulary.sources import file_in_folder, read_source

__all__ = ["ControlTokens", "TokenEdges", "not_settled"]

ControlTokens = Literal["read", "text"]
"""Whether the names of control tokens in a text are read as such, or are ordinary text."""

_MOST_KEPT = 8  # tokenizers; one of 262,145 tokens takes about 100 MB


class _ReadTokenizer:
    """A tokenizer that was read, with all that both readings of control tokens share.

    Attributes:
        source: where it is from.
        vocabulary: its tokens.
        hides_space: whether the first token of a text has a space that the decoder takes away.
        edges: its token edges, by the reading of control tokens.
    """

    def __init__(self, source: object) -> None:
        self.source = source
        self._live: RunningTokenizer | None = None
        if package_of(source) is not None:
            self._live = RunningTokenizer(source)
        self._state = self._state_now()  # before it is read, so that a change meanwhile is noticed
        self.vocabulary = source if isinstance(source, Vocabulary) else _vocabulary(source)
        self.hides_space = _has_hidden_space(self.vocabulary)
        self.edges: dict[ControlTokens, TokenEdges] = {}

    @kept_property
    def running(self) -> tuple[RunningTokenizer | None, str]:
        """Its own program, or why there is none.  That of a file is loaded when it is first needed."""
        if self._live is not None:
            return self._live, ""
        if not isinstance(self.source, (str, os.PathLike)):
            return None, f"a {type(self.source).__name__} has no program; pass the tokenizer itself"
        try:
            running = RunningTokenizer(self.source)
        except (VocabularyError, MissingExtraError) as error:
            return None, str(error)
        return (None, "its file has changed since it was read") if self.has_changed() else (running, "")

    def has_changed(self) -> bool:
        """Whether the file is another one, or the object has changed as far as a millisecond shows."""
        return self._state_now() != self._state

    def _state_now(self) -> Hashable:
        if self._live is not None:
            return self._live.facts()
        if not isinstance(self.source, (str, os.PathLike)):
            return None
        try:
            path = Path(self.source)
            file = file_in_folder(path) if path.is_dir() else path
            stat = file.stat()
        except (OSError, ValueError, VocabularyError):
            return None  # reading it says what is wrong
        return (
            str(file.absolute()),
            stat.st_dev,
            stat.st_ino,
            stat.st_size,
            stat.st_mtime_ns,
            stat.st_ctime_ns,
        )


def _vocabulary(source: object) -> Vocabulary:
    """The tokens of a source; if it is a tokenizer, its content is read once for them and for the tables."""
    if package_of(source) is None:
        return Vocabulary.load(source, stop=())
    return Vocabulary(replace(read_source(source, want_stop=False, is_whole=True), stop=()))


_lock = Lock()
_kept: list[_ReadTokenizer] = []  # the last ones, the latest at the end


def _read(source: object) -> _ReadTokenizer:
    """A tokenizer as it is now: the kept one, if it is kept and has not changed."""
    known = next((each for each in list(_kept) if _is_same(each.source, source)), None)
    read = _ReadTokenizer(source) if known is None or known.has_changed() else known
    with _lock:
        _kept[:] = [*(each for each in _kept if each is not known), read][-_MOST_KEPT:]
    return read


def _is_same(first: object, second: object) -> bool:
    if isinstance(first, (str, os.PathLike)) and isinstance(second, (str, os.PathLike)):
        return os.fspath(first) == os.fspath(second)
    return first is second


class TokenEdges:
    """One tokenizer, in one reading of control tokens.

    Args:
        source: any source that ``Vocabulary.load`` takes, a vocabulary, or a tokenizer that was read.
        control_tokens: how names of control tokens in a text are read.

    Attributes:
        vocabulary: its tokens.
        control_tokens: as given.

    Raises:
        UnsupportedTokenizerError: canonical tokenization does not support the tokenizer, and names the part.
        TokenizerMismatchError: the tokenizer is a live one, and writes other tokens than our tables say.
        VocabularyError, MissingExtraError: the source cannot be read.
    """

    def __init__(self, source: object, control_tokens: ControlTokens) -> None:
        self._tokenizer = source if isinstance(source, _ReadTokenizer) else _ReadTokenizer(source)
        self.vocabulary = self._tokenizer.vocabulary
        self.control_tokens = control_tokens
        make = tested_tokenization if control_tokens == "read" else tested_text_tokenization
        if reason := why_unguarded(self.vocabulary):
            raise UnsupportedTokenizerError("pipeline", f"{reason}, of which the guard proves nothing")
        self.tokenization = make(self.vocabulary)
        self._search = _core.EdgeSearch(self.tokenization, self.hides_space)
        self._mark = word_mark(self.vocabulary)

    @classmethod
    def of(cls, source: object, control_tokens: ControlTokens = "read") -> TokenEdges:
        """The same.

        The last eight tokenizers are kept, objects and files, as long as they do not change.
        """
        tokenizer = _read(source)
        known = tokenizer.edges.get(control_tokens)
        return known or tokenizer.edges.setdefault(control_tokens, cls(tokenizer, control_tokens))

    @property
    def running(self) -> RunningTokenizer | None:
        """Its own program; ``None`` if there is none here."""
        return self._tokenizer.running[0]

    @property
    def why_not_running(self) -> str:
        """Why there is no program; ``""`` if there is one."""
        return self._tokenizer.running[1]

    @property
    def hides_space(self) -> bool:
        """Whether the first token of a text has a space that the decoder takes away.

        The tokenizer puts it there, or it stands for the border before a word.
        """
        return self._tokenizer.hides_space

    @kept_property
    def letters(self) -> WordLetters | None:
        """The letters of words; ``None`` if the model is not one of words."""
        return word_letters(self.vocabulary)

    @property
    def is_decided_by_neighbours(self) -> bool:
        """Whether a pre-token is written right if each two neighbours are."""
        return is_decided_by_neighbours(self.vocabulary)

    @property
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
    def merged_control(self) -> str:
        """A control token that merges make, so that the model may write it, by name; ``""`` if there is none.

        What such a text is written as is in no table, since it is not reproduced.
        """
        names = self.control_names
        made = merged_ones(self.vocabulary, list(names.values()))
        return next((name for name, token in names.items() if token in made), "")

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
        bounds = core_limits(limits)
        found = self._search.shortest(machine.automaton(), before, bounds, cancel, shown)
        if not self._mark or before != _core.Before.NOTHING:
            return found
        rest = self._after_mark.shortest(machine.after(self._mark).automaton(), before, bounds, cancel, shown)
        texts = [text for text in (found, None if rest is None else self._mark + rest) if text is not None]
        return min(texts, key=len, default=None)

    @kept_property
    def _after_mark(self) -> _core.EdgeSearch:
        """Searches for the rest of a text that begins with the mark of a token that continues words.

        Such a token may stand first in a text, where the decoder keeps its mark.
        """
        tokenization = tokenization_after_mark(self.vocabulary, self.control_tokens == "text")
        return _core.EdgeSearch(tokenization, False)

    def tokens_of(
        self,
        text: bytes,
        limits: Limits,
        cancel: CancelToken | None,
        before: _core.Before = _core.Before.NOTHING,
    ) -> list[int] | None:
        """What the tokenizer writes for a text, by our tables; ``None`` if it does not reproduce the text."""
        hidden = b" " if self.hides_space and before != _core.Before.NOTHING else b""
        shown, bounds = text.decode("utf-8", "replace"), core_limits(limits)
        tokens = self._search.tokens_of(hidden + text, before, bounds, cancel, shown)
        is_marked = bool(self._mark) and before == _core.Before.NOTHING and text.startswith(self._mark)
        if tokens is not None or not is_marked:
            return tokens
        return self._after_mark.tokens_of(text.removeprefix(self._mark), before, bounds, cancel, shown)

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

    Tokens that continue words have a mark at the start of a text alone (``TokenEdges._after_mark``).  Others
    begin with a space, even if there are none.

    Raises:
        UnsupportedTokenizerError: the decoder changes the first token in another way.
    """
    first = vocabulary.start_tokens()
    if first is None:
        return False
    hides = False
    mark = b""
    for token, (text, at_start) in enumerate(zip(vocabulary.tokens, first, strict=True)):
        if text is None or at_start is None or text == at_start:
            continue
        if text[:1] == b" ":
            hides = hides or at_start == text[1:]
            continue
        mark = mark or at_start.removesuffix(text)
        if at_start != mark + text:
            raise UnsupportedTokenizerError(
                "decoder",
                f"token {token} is decoded to {at_start!r:.80} at the start of a text, and to {text!r:.80} "
                "elsewhere",
            )
    return hides or bool(mark)
