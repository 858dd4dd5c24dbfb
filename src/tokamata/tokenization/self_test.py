"""The self-test: the tables of a tokenizer against its own program, on texts that try both.

Problem.  Canonical masks are exact for the tokenizer that its definition describes.  A program of another
version, a flag that was set later, an added token, a filter that no definition mentions, BPE dropout: then
the masks are those of another tokenizer, and nothing says so.

Example.  A normalizer ``Lowercase`` was set after the vocabulary was loaded.  The program writes for ``"Ab"``
the one token of ``ab``; by the tables there are tokens that spell ``Ab``, so the test fails, with this text.

How.  The program encodes each text ``x`` of :mod:`.adversarial_texts`, to tokens ``t``.  By the definition of
canonical tokenization (``t`` is canonical iff ``encode(decode(t)) == t``) the tables must then say:

* ``t`` spells ``x``: ``t`` is canonical.  Only one canonical sequence spells a text, so the tables write it;
* ``t`` spells another text ``y``, or holds a control token: no canonical tokens spell ``x``.  And ``t`` is
  canonical iff the program makes ``t`` of ``y``, too.

If the program refuses ``x`` with an error, as a Unigram model without ``unk_id`` does with an unknown
character, no canonical tokens spell ``x``.

So a program that differs on a text of the test is found, whichever of the two is wrong.  What is not tested
is not known: the test of 10,000 tokens meets each of them, that of 262,145 every thirtieth.  One other merge
among 500,000 is found if a text has its tokens.  Later calls go on with other texts, some in each call
(:func:`check_running`).

When.  A vocabulary of a live tokenizer is tested when it is first compiled with ``tokenization="canonical"``,
again when the tokenizer has changed, and :func:`tokamata.generate` tests the tokenizer that it is given.  The
guard tests a live tokenizer before it proves anything of it; where names of control tokens are ordinary text,
it tests the program in this mode.  A vocabulary from a file is not tested: nothing runs there beside the
tables, and importing `tokenizers` takes as long as the test.  ``guard.self_test(path)`` tests a file.
``tokenization="any"`` needs no tables and is never tested.

Cost: 0.13 s for 2,600 texts of 90,000 characters at 262,145 tokens, most of it the program's; 0.3 ms where a
file on disk says that it was passed; 1 ms for a later call; less than 1 MB.  Texts that the program changes
cost more, so 256 of them are judged in full.

Rejected: encoding each token's text, which takes 3 s; comparing whole definitions (``to_str``), which takes
0.5 s, and finds no bug of a program.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import tokamata._core as _core
from tokamata.errors import (
    LimitExceeded,
    NoncanonicalError,
    TokenizerMismatchError,
    UnspellableError,
    VocabularyError,
)
from tokamata.resources.limits import Limits, core_limits
from tokamata.tokenization import kept_verdicts
from tokamata.tokenization.adapters import package_of
from tokamata.tokenization.adversarial_texts import adversarial_texts, drawn_texts
from tokamata.tokenization.canonical import keyed_tokenization, text_tokenization_of
from tokamata.tokenization.running import RunningTokenizer

if TYPE_CHECKING:
    from tokamata.vocabulary import Vocabulary

__all__ = ["SelfTest", "check_running", "self_test", "tested_text_tokenization", "tested_tokenization"]

_SEED = 7
_DRAWN = 2000
_TEXTS_VERSION = 2  # changes whenever the texts do
_MOST_CHANGED = 256  # texts that the program changes or refuses, and that are judged in full
_AT_ONCE = 32  # of these in one search for canonical tokens
_PROBES = 8  # texts of later calls
_REPEATS = 8  # of a text on which the two differ

_Encode = Callable[[str], list[int]]
_Item = TypeVar("_Item")


@dataclass(frozen=True)
class SelfTest:
    """The outcome of a test.

    Attributes:
        program: the package that ran, with its version.
        texts: how many texts were encoded.
        tokens: how many tokens the program wrote for them.
        changed: how many of the texts its tokens do not spell: it changes them, or reads control tokens.
        mismatch: the first text on which the two differ; ``None`` if there is none.
        seconds: how long it took.
        reason: why there is no program to test with; ``""`` if there is one.
    """

    program: str
    texts: int = 0
    tokens: int = 0
    changed: int = 0
    mismatch: TokenizerMismatchError | None = None
    seconds: float = 0.0
    reason: str = ""

    def __bool__(self) -> bool:
        """Whether the tokenizer was tested, and has passed."""
        return self.mismatch is None and not self.reason


def self_test(vocabulary: Vocabulary, running: RunningTokenizer, further: Iterable[str] = ()) -> SelfTest:
    """Tests the tables of a vocabulary against a program, now; nothing is kept.

    Args:
        vocabulary: the tokens, from a source with a pipeline.
        running: the program that should write these tokens.
        further: texts besides those of :mod:`.adversarial_texts`.

    Raises:
        UnsupportedTokenizerError, MissingExtraError, VocabularyError: there are no tables of this tokenizer.
    """
    return _judged(vocabulary, keyed_tokenization(vocabulary)[0], running, running.encode, further)


def _judged(
    vocabulary: Vocabulary,
    tables: _core.Tokenization,
    running: RunningTokenizer,
    encode: _Encode,
    further: Iterable[str] = (),
) -> SelfTest:
    """The test of tables against one mode of a program."""
    begin = time.perf_counter()
    before = running.facts()
    texts = adversarial_texts(vocabulary.tokens, _names(vocabulary), _SEED, _DRAWN)
    judge = _Judge(vocabulary, tables, running.program, encode)
    mismatch = judge.first_mismatch([*texts, *further])
    if mismatch is None and running.facts() != before:
        reason = "it was changed while it was tested; test it when nothing changes it any more"
        mismatch = TokenizerMismatchError(running.program, "", None, None, None, reason)
    counts = judge.texts, judge.tokens, judge.changed
    return SelfTest(running.program, *counts, mismatch, time.perf_counter() - begin)


def tested_tokenization(vocabulary: Vocabulary) -> _core.Tokenization:
    """The tables of a vocabulary; if it was read from a live tokenizer, that has passed the test.

    Raises:
        TokenizerMismatchError: it has not.
        UnsupportedTokenizerError, MissingExtraError, VocabularyError: there are no tables.
    """
    tables, _ = keyed_tokenization(vocabulary)
    source = vocabulary.pipeline
    program = None if source is None else source.program()
    if program is not None and package_of(program) is not None:
        _tested(vocabulary, program)
    return tables


def tested_text_tokenization(vocabulary: Vocabulary) -> _core.Tokenization:
    """The same where names of control tokens are ordinary text; programs without this mode are not tested.

    Raises as :func:`tested_tokenization` does, and as :func:`.canonical.text_tokenization_of`.
    """
    tables = text_tokenization_of(vocabulary)
    source = vocabulary.pipeline
    program = None if source is None else source.program()
    if program is None or package_of(program) is None:
        return tables
    running = RunningTokenizer(program)
    if running.encode_text("") is None:
        return tables

    def encode(text: str) -> list[int]:
        return running.encode_text(text) or []

    key = _key(vocabulary, program, running, running.facts(), b"text")
    if key is None or kept_verdicts.load(key) is None:
        outcome = _judged(vocabulary, tables, running, encode)
        if outcome.mismatch is not None:
            raise outcome.mismatch
        _keep(key, outcome)
    return tables


def check_running(vocabulary: Vocabulary, program: object) -> None:
    """Tests that a live tokenizer writes the tokens of a vocabulary, when a call uses both.

    The first time, and after a change that can be noticed in a millisecond, the whole test runs.  Each other
    time some texts more are tested, which takes a millisecond: in the long run that also finds a change that
    cannot be noticed, such as another merge.  A text that has shown one is in each further test.

    Raises:
        TokenizerMismatchError: it does not.
        UnsupportedTokenizerError, MissingExtraError, VocabularyError: there are no tables of the vocabulary.
    """
    if package_of(program) is None or _tested(vocabulary, program):
        return
    known = _known.get(vocabulary)
    number = 1 if known is None else next(known.probes)  # none: another thread has just seen a mismatch
    texts = [text for text in drawn_texts(vocabulary.tokens, _SEED + number, _PROBES) if text]
    running = RunningTokenizer(program)
    judge = _Judge(vocabulary, keyed_tokenization(vocabulary)[0], running.program, running.encode)
    mismatch = judge.first_mismatch(texts)
    if mismatch is not None:
        _known.pop(vocabulary, None)
        _telling[vocabulary] = mismatch.text
        raise mismatch


class _Known(NamedTuple):
    """What a program has passed in this process."""

    program: Callable[[], object | None]  # weak: hosts keep a vocabulary as long as its tokenizer exists
    facts: Hashable
    probes: Iterator[int]


# The program that was tested last for each vocabulary.
_known: WeakKeyDictionary[Vocabulary, _Known] = WeakKeyDictionary()
# The last text of a later call that showed a change.
_telling: WeakKeyDictionary[Vocabulary, str] = WeakKeyDictionary()


def _tested(vocabulary: Vocabulary, program: object) -> bool:
    """Whether the whole test was run, or read from disk, now; raises the mismatch if there is one."""
    running = RunningTokenizer(program)
    facts = running.facts()
    known = _known.get(vocabulary)
    if known is not None and known.program() is program and known.facts == facts:
        return False
    telling = _telling.get(vocabulary)
    # What an earlier process has tested is not what has changed without being noticed.
    key = _key(vocabulary, program, running, facts, b"") if telling is None else None
    if key is None or kept_verdicts.load(key) is None:
        outcome = self_test(vocabulary, running, () if telling is None else (telling,))
        if outcome.mismatch is not None:
            _known.pop(vocabulary, None)
            raise outcome.mismatch
        _keep(key, outcome)
    _known[vocabulary] = _Known(_weak(program), facts, count(1))
    return True


def _keep(key: str | None, outcome: SelfTest) -> None:
    """Keeps on disk that a test was passed."""
    if key is not None:
        counts = {"texts": outcome.texts, "tokens": outcome.tokens, "changed": outcome.changed}
        kept_verdicts.keep(key, counts)


def _weak(program: object) -> Callable[[], object | None]:
    try:
        return weakref.ref(program)
    except TypeError:  # tokenizers of old versions, which the vocabulary holds anyway
        return lambda: program


def _key(
    vocabulary: Vocabulary, program: object, running: RunningTokenizer, facts: Hashable, mode: bytes
) -> str | None:
    """The name of the test on disk, a hash of all that its outcome depends on; ``None`` if not all is known.

    The tables of the tokenizer's own vocabulary are named after its whole definition.  Of another tokenizer
    only some facts can be read in a millisecond, and of a class that overrides methods, not what these do.
    """
    source = vocabulary.pipeline
    if source is None or program is not source.program() or not running.is_of_package:
        return None
    tables = keyed_tokenization(vocabulary)[1]
    stop = repr((vocabulary.stop, len(vocabulary)))
    parts = (tables, stop, running.program, type(program).__qualname__, repr(facts))
    return kept_verdicts.key_of([b"%d" % _TEXTS_VERSION, *(part.encode() for part in parts), mode])


def _names(vocabulary: Vocabulary) -> dict[int, str]:
    return {token: name for name, token in vocabulary._control_ids.items()}


class _Judge:
    """Judges what a program writes for texts, by the tables of a vocabulary.

    Attributes:
        texts: how many texts were encoded.
        tokens: how many tokens the program wrote for them.
        changed: how many of the texts its tokens do not spell.
    """

    def __init__(
        self, vocabulary: Vocabulary, tables: _core.Tokenization, program: str, encode: _Encode
    ) -> None:
        self._vocabulary, self._tables, self._program, self._encode = vocabulary, tables, program, encode
        self._tokens = vocabulary.tokens
        self._first = vocabulary._start_tokens or vocabulary.tokens
        self.texts = self.tokens = self.changed = 0

    def first_mismatch(self, texts: Sequence[str]) -> TokenizerMismatchError | None:
        """The first text on which the two differ, or ``None``."""
        changed: list[tuple[str, list[int]]] = []
        failed: dict[str, str] = {}
        for text in texts:
            self.texts += 1
            try:
                theirs = self._encode(text)
            except VocabularyError as error:
                failed[text] = str(error)
                continue
            self.tokens += len(theirs)
            if self._spelled(theirs) != text.encode():
                changed.append((text, theirs))
            elif self._tables.first_noncanonical(theirs) is not None:
                return self._differing(text, theirs)
        self.changed += len(changed)
        return self._first_of_failed(failed) or self._first_of_changed(_some_of(changed))

    def _first_of_failed(self, failed: dict[str, str]) -> TokenizerMismatchError | None:
        """The first of the texts that the program refuses which tokens spell by the tables."""
        texts = _some_of(list(failed))
        for begin in range(0, len(texts), _AT_ONCE):
            group = texts[begin : begin + _AT_ONCE]
            if self._canonical(group) is None:
                continue
            for text in group:
                ours = self._canonical([text])
                if ours is not None and self._spelled(ours) == text.encode():
                    return self._mismatch(text, None, failed[text])
        return None

    def _first_of_changed(self, changed: list[tuple[str, list[int]]]) -> TokenizerMismatchError | None:
        """The first of the texts that the program changes for which the tables do not say so."""
        for begin in range(0, len(changed), _AT_ONCE):
            group = changed[begin : begin + _AT_ONCE]
            # Of many texts together the search may end early, and suppose that there are such tokens.
            if self._canonical([text for text, _ in group]) is None:
                continue
            for text, theirs in group:
                ours = self._canonical([text])
                if ours is not None and self._spelled(ours) == text.encode() and ours != theirs:
                    return self._differing(text, theirs)
        for _, theirs in changed:
            spelled = self._spelled(theirs)
            text = "" if spelled is None else spelled.decode("utf-8", "replace")
            if spelled is None or text.encode() != spelled:
                continue
            try:
                again = self._encode(text)
            except VocabularyError as error:
                if self._tables.first_noncanonical(theirs) is None:
                    return self._mismatch(text, None, str(error))
                continue
            if (again == theirs) != (self._tables.first_noncanonical(theirs) is None):
                return self._differing(text, again)
        return None

    def _spelled(self, tokens: Sequence[int]) -> bytes | None:
        """The bytes of tokens; ``None`` if one has none, or is not of the vocabulary."""
        size = len(self._tokens)
        if not tokens:
            return b""
        if min(tokens) < 0 or max(tokens) >= size:
            return None
        first = self._first[tokens[0]]
        rest = [self._tokens[token] for token in tokens[1:]]
        if first is None or None in rest:
            return None
        return first + b"".join(rest)  # type: ignore[arg-type]  # just checked

    def _canonical(self, texts: list[str]) -> list[int] | None:
        """What canonical tokens of one of the texts begin with, by the tables; ``None`` if there are none.

        Those of one text are all of them.  Empty if a limit ended the search.
        """
        vocabulary, limits = self._vocabulary, core_limits(Limits(seconds=1.0))
        name = f"{len(texts)} texts of the self-test"
        try:
            shared = _core.SharedConstraint(
                _core.strings(texts),
                vocabulary.core,
                vocabulary.start_core,
                {},
                limits,
                None,
                name,
                True,
                self._tables,
            )
            constraint = _core.Constraint(shared, limits, None, name, True, 0.0)
            return _core.Matcher(constraint, [], [], [], None, 0).forced_tokens()
        except (NoncanonicalError, UnspellableError):
            return None
        except LimitExceeded:
            return []

    def _differing(self, text: str, theirs: list[int]) -> TokenizerMismatchError:
        """The error for a text for which the program writes tokens that are not those of the tables."""
        try:
            again = [self._encode(text) for _ in range(_REPEATS)]
        except VocabularyError as error:
            return self._mismatch(text, theirs, f"at one time it writes tokens, and at another: {error}")
        if other := next((each for each in again if each != theirs), None):
            reason = (
                f"it is not deterministic: for the same text it writes {_shown(theirs)}, and {_shown(other)}"
            )
            return self._mismatch(text, theirs, reason)
        size, name = len(self._tokens), self._vocabulary.name
        for place, token in enumerate(theirs):
            if not 0 <= token < size:
                reason = f"it writes token {token} at {place}, which the vocabulary of {size:,} tokens lacks"
                return self._mismatch(text, theirs, reason)
        ours = self._canonical([text])
        spelled = self._spelled(theirs)
        if spelled is None:
            place = next(place for place, token in enumerate(theirs) if self._tokens[token] is None)
            reason = f"it writes the control token {name(theirs[place])} at {place}"
        elif spelled != text.encode():
            reason = f"it changes the text to {spelled.decode('utf-8', 'replace')[:80]!r}"
        else:
            reason = "it cuts the text into other tokens"
        if ours is None:
            reason += ", and by the tables no tokens spell this text"
        elif (at := _first_difference(ours, theirs)) is not None and at < min(len(ours), len(theirs)):
            reason += f": at {at} the token {name(theirs[at])}, and not {name(ours[at])}"
        return self._mismatch(text, theirs, reason)

    def _mismatch(self, text: str, theirs: list[int] | None, reason: str) -> TokenizerMismatchError:
        ours = self._canonical([text])
        at = None if theirs is None else _first_difference(ours or [], theirs)
        own = None if ours is None else tuple(ours)
        return TokenizerMismatchError(
            self._program, text, at, own, None if theirs is None else tuple(theirs), reason
        )


def _some_of(items: list[_Item]) -> list[_Item]:
    """Of many items, some from all over the list."""
    size = min(len(items), _MOST_CHANGED)
    return [items[number * len(items) // size] for number in range(size)]


def _first_difference(first: Sequence[int], second: Sequence[int]) -> int | None:
    """The first index at which two lists differ; ``None`` if they are equal."""
    if list(first) == list(second):
        return None
    pairs = zip(first, second, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(first), len(second)))


def _shown(tokens: Sequence[int]) -> str:
    shown = ", ".join(map(str, tokens[:12]))
    return f"[{shown}, … {len(tokens)} in all]" if len(tokens) > 12 else f"[{shown}]"
