r"""Words as an automaton: which texts are words with single spaces between them, each with tokens.

Problem.  A tokenizer of words loses what stands between them: the decoder puts one space there, and no
token brings anything else back.  So a canonical text is words with a space between each two, and each is
such that the pre-tokenizer leaves it whole and the model finds tokens for it.  BERT makes of ``the cat!``
the tokens ``the``, ``cat``, ``!``, which come back as ``the cat !``; that text is the canonical one.

How.  A word goes on only with code points of one kind (``WordPieces.kinds``), and has a bounded number of
them.  So a state is the kind of the word and how many code points of it were read::

    border ─space─▶ space ─letter─▶ letter 1 ─letter─▶ letter 2 ─ ... ─▶ letter 100
                      └────mark───▶ alone

The end of a word is a place where the next one may be guessed to begin (``ends``), with its space.  The
first word of a text has none, but its token is read as if it had.

The mark.  The model looks a word's beginning up as it is written.  So a word ``##ing``, where such a word can
be, is the token of that name, which comes back as ``ing``, joined to the word before.  It is canonical as
the first token of a text alone, where the decoder leaves it as it is; that token is read as ``ing``, and is
told from the others by having no space.  Elsewhere a word that begins with the mark may not go on behind it.

Words without tokens.  As a rule every code point is a token by itself wherever tokens have it, so that
longest match never gets stuck.  Where that is not so, states also hold the node of the failure trie
(``failure_trie.py``) that the word has come to.  With the tokens ``ab``, ``a``, ``##c`` the word ``abc`` has
tokens and ``acb`` has none.

Cost: the longest word times the kinds, 104 states for BERT; times the nodes of the trie where it is needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tokamata.errors import UnsupportedTokenizerError
from tokamata.tokenization.papers.failure_trie import failure_trie
from tokamata.tokenization.pretokenizers.machine import Hypotheses
from tokamata.tokenization.pretokenizers.matching import DEAD

_MOST_TARGETS = 2_000_000


@dataclass(frozen=True)
class Symbol:
    """A class of code points, as words see it.

    Attributes:
        kind: see ``WordPieces``; 0 for the space.
        alone, begins, continues: see ``WordPieces``.
        place: where in the mark the code point first is, counted from 1; 0 where it is not in it.
        text: the code point, where there is a lexicon; ``b""`` where there is none.
    """

    kind: int
    alone: bool
    begins: bool
    continues: bool
    place: int
    text: bytes


class Lexicon:
    """Which words have tokens, by longest match, and come back as they were.

    Args:
        first: the tokens that words begin with, by id, as the model looks them up: those with a mark too,
            with their mark, where a word can have it.
        rest: the tokens that continue words, by id, without their marks.
    """

    def __init__(self, first: Mapping[int, bytes], rest: Mapping[int, bytes]) -> None:
        self._trie = failure_trie(first, rest)
        self._marked = frozenset(rest)
        self._begun = {self._trie.start}
        pending = [self._trie.start]
        while pending:
            children = self._trie.children[pending.pop()].values()
            self._begun.update(children)
            pending.extend(children)
        self.start = self._trie.start

    def read(self, node: int, text: bytes) -> int | None:
        """The node behind a code point; ``None`` where no word with tokens goes on so."""
        reached: int | None = node
        for byte in text:
            while reached is not None and byte not in self._trie.children[reached]:
                reached = self._settled(reached)
            if reached is None:
                return None
            reached = self._trie.children[reached][byte]
        return reached

    def may_end(self, node: int) -> bool:
        """Whether the word has tokens as it is."""
        reached: int | None = node
        while reached is not None and reached != self._trie.rest:
            reached = self._settled(reached)
        return reached is not None

    def _settled(self, node: int) -> int | None:
        # A word whose first token has a mark comes back without it.
        if node in self._begun and not self._marked.isdisjoint(self._trie.pops[node][:1]):
            return None
        return self._trie.link[node]


@dataclass(frozen=True)
class _State:
    """Where a text stands: at its start, at a border between words, behind a space, or in a word."""

    name: str
    kind: int = 0
    size: int = 0
    node: int | None = None  # of the lexicon


_START, _BORDER, _SPACE, _ALONE = map(_State, ("start", "border", "space", "alone"))


@dataclass(frozen=True)
class Words:
    """What words are.

    Attributes:
        most: the most code points of one.
        mark: the mark of continuations, each code point by its ``place``; empty where no word can have it.
        mark_kind: the kind of its code points.
        lexicon: which words have tokens, where that is more than which code points they have.
    """

    most: int
    mark: Sequence[int]
    mark_kind: int
    lexicon: Lexicon | None = None


def word_hypotheses(symbols: Sequence[Symbol], words: Words) -> Hypotheses:
    """The automaton of words, with two starts: of a text, and behind a token that was added.

    Args:
        symbols: the classes of code points, of which one of kind 0 is the space.
        words: what words are.

    Raises:
        UnsupportedTokenizerError: it has too many states.
    """
    order: list[_State] = [_START, _BORDER]
    numbers = {state: number for number, state in enumerate(order)}
    targets, ends, may_end = [], [], []
    for state in order:  # grows as states are found
        if len(order) * len(symbols) > _MOST_TARGETS:
            raise UnsupportedTokenizerError(
                "model", "it takes too many states to say which words have tokens"
            )
        row = []
        for symbol in symbols:
            after = _read(words, state, symbol)
            if after is not None and after not in numbers:
                numbers[after] = len(order)
                order.append(after)
            row.append(DEAD if after is None else numbers[after])
        is_whole = state != _SPACE and (
            state.node is None or words.lexicon is None or words.lexicon.may_end(state.node)
        )
        targets.append(tuple(row))
        ends.append((1,) if is_whole and state not in (_START, _BORDER) else ())
        may_end.append(is_whole)
    return Hypotheses((0, 1), tuple(targets), tuple(ends), tuple(may_end))


def _read(words: Words, state: _State, symbol: Symbol) -> _State | None:
    if state == _ALONE:
        return None
    if state in (_START, _BORDER):
        if symbol.kind == 0:
            return _SPACE
        # The rest of a token whose mark was left standing.
        size = len(words.mark) + 1
        fits = size > 1 and symbol.continues and symbol.kind == words.mark_kind and size <= words.most
        return _State("word", symbol.kind, size) if fits and state == _START else None
    if state == _SPACE:
        return _begun(words, symbol)
    if symbol.kind != state.kind or not symbol.continues or state.size == words.most:
        return None
    is_mark = state.name == "mark"
    if is_mark and state.size == len(words.mark):
        return None
    node = None
    if state.node is not None and words.lexicon is not None:
        node = words.lexicon.read(state.node, symbol.text)
        if node is None:
            return None
    goes_on = is_mark and symbol.place == words.mark[state.size]
    return _State("mark" if goes_on else "word", state.kind, state.size + 1, node)


def _begun(words: Words, symbol: Symbol) -> _State | None:
    if not symbol.begins or words.most == 0:
        return None
    if symbol.alone:
        return _ALONE
    if words.lexicon is not None:
        node = words.lexicon.read(words.lexicon.start, symbol.text)
        return None if node is None else _State("word", symbol.kind, 1, node)
    is_mark = bool(words.mark) and symbol.place == words.mark[0]
    return _State("mark" if is_mark else "word", symbol.kind, 1)
