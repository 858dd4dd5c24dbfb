r"""Words as an automaton over texts that consist of words with tokens, separated by single spaces.

Problem: a tokenizer of words loses the text between them, since the decoder writes one space there.  So a
canonical text consists of words with a space between each two; the pre-tokenizer does not cut a word, and the
model finds tokens for it.  BERT encodes ``the cat!`` as ``the``, ``cat``, ``!``, which decode to
``the cat !``; that text is the canonical one.

Method: all code points of a word have one kind (``WordPieces.kinds``), and their number is bounded.  So a
state is the kind of the word and the number of its code points so far::

    border ─space─▶ space ─letter─▶ letter 1 ─letter─▶ letter 2 ─ ... ─▶ letter 100
                      └────mark───▶ alone

At the end of a word, the next one may begin with its space, as a hypothesis (``ends``).  The first word of a
text has no space, but its token is read as if it had one.

Mark: the model looks up the beginning of a word literally.  If ``##ing`` can be a word, it becomes the token
of that name, which decodes to ``ing``, joined to the word before.  It is canonical only as the first token of
a text, where the decoder keeps the mark; that token is read as ``ing``, and distinguished from the others by
having no space.  All tokens of that word continue one (``after_mark``).  Elsewhere a word that begins with
the mark may not continue after it.

Words without tokens: usually every code point of a token is a token by itself, so longest match never gets
stuck.  Otherwise, states also have the node of the failure trie (``failure_trie.py``) that the word has
reached.  With the tokens ``ab``, ``a``, ``##c`` the word ``abc`` has tokens and ``acb`` has none.

Cost: the longest word times the kinds, 104 states for BERT; times the nodes of the trie if it is needed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from tokamata.errors import UnsupportedTokenizerError
from tokamata.tokenization.papers.failure_trie import failure_trie
from tokamata.tokenization.pretokenizers.machine import Hypotheses
from tokamata.tokenization.pretokenizers.matching import DEAD

_MOST_TARGETS = 2_000_000  # entries of the table: states times symbols
_MOST_STATES = 65_000  # the engine numbers them with 16 bits


@dataclass(frozen=True)
class Symbol:
    """A class of code points that no word distinguishes.

    Attributes:
        kind: see ``WordPieces``; 0 for the space.
        alone, begins, continues: see ``WordPieces``.
        mark_index: the first index of the code point in the mark, from 1; 0 if it is not in it.
        text: the code point if there is a lexicon, else ``b""``.
    """

    kind: int
    alone: bool
    begins: bool
    continues: bool
    mark_index: int
    text: bytes


class Lexicon:
    """The words that have tokens, by longest match, and are decoded to themselves.

    Args:
        first: the tokens that words begin with, by id, as the model looks them up: including those with a
            mark, if words can begin with it.
        rest: the tokens that continue words, by id, without their marks.
        never_first: tokens that begin no word that is decoded to itself.
    """

    def __init__(
        self, first: Mapping[int, bytes], rest: Mapping[int, bytes], never_first: Collection[int]
    ) -> None:
        self._trie = failure_trie(first, rest)
        self._never_first = frozenset(never_first)
        self._begun = {self._trie.start}
        pending = [self._trie.start]
        while pending:
            children = self._trie.children[pending.pop()].values()
            self._begun.update(children)
            pending.extend(children)
        self.start = self._trie.start

    def read(self, node: int, text: bytes) -> int | None:
        """The node after a code point; ``None`` if no word with tokens continues with it."""
        reached: int | None = node
        for byte in text:
            while reached is not None and byte not in self._trie.children[reached]:
                reached = self._settled(reached)
            if reached is None:
                return None
            reached = self._trie.children[reached][byte]
        return reached

    def may_end(self, node: int) -> bool:
        """Whether the word so far has tokens."""
        reached: int | None = node
        while reached is not None and reached != self._trie.rest:
            reached = self._settled(reached)
        return reached is not None

    def _settled(self, node: int) -> int | None:
        # A word whose first token has a mark is decoded without it.
        if node in self._begun and not self._never_first.isdisjoint(self._trie.pops[node][:1]):
            return None
        return self._trie.link[node]


@dataclass(frozen=True)
class _State:
    """A state: at the start of a text, at a border between words, after a space, or in a word."""

    name: str
    kind: int = 0
    size: int = 0
    node: int | None = None  # of the lexicon


_START, _BORDER, _SPACE, _ALONE = map(_State, ("start", "border", "space", "alone"))


@dataclass(frozen=True)
class WordDefinition:
    """The definition of words.

    Attributes:
        most: the largest number of code points of a word.
        mark: the mark of continuations, each code point by its ``mark_index``; empty if no word can have it.
        mark_kind: the kind of its code points.
        lexicon: decides which words have tokens; ``None`` if the code points alone do.
        after_mark: the same for what follows the mark, where the first token continues words.
    """

    most: int
    mark: Sequence[int]
    mark_kind: int
    lexicon: Lexicon | None = None
    after_mark: Lexicon | None = None

    def lexicon_of(self, state: _State) -> Lexicon | None:
        """The one whose node a state has."""
        return self.after_mark if state.name == "rest" else self.lexicon


def word_hypotheses(symbols: Sequence[Symbol], words: WordDefinition) -> Hypotheses:
    """The automaton of words, with two starts: of a text, and after an added token.

    Args:
        symbols: the classes of code points; one of kind 0 is the space.
        words: the definition of words.

    Raises:
        UnsupportedTokenizerError: it has too many states.
    """
    order: list[_State] = [_START, _BORDER]
    numbers = {state: number for number, state in enumerate(order)}
    targets, ends, may_end = [], [], []
    for state in order:  # grows as states are found
        if len(order) * len(symbols) > _MOST_TARGETS or len(order) > _MOST_STATES:
            raise UnsupportedTokenizerError("model", "deciding which words have tokens takes too many states")
        row = []
        for symbol in symbols:
            after = _read(words, state, symbol)
            if after is not None and after not in numbers:
                numbers[after] = len(order)
                order.append(after)
            row.append(DEAD if after is None else numbers[after])
        lexicon = words.lexicon_of(state)
        is_whole = state != _SPACE and (state.node is None or lexicon is None or lexicon.may_end(state.node))
        targets.append(tuple(row))
        ends.append((1,) if is_whole and state not in (_START, _BORDER) else ())
        may_end.append(is_whole)
    return Hypotheses((0, 1), tuple(targets), tuple(ends), tuple(may_end))


def _read(words: WordDefinition, state: _State, symbol: Symbol) -> _State | None:
    if state == _ALONE:
        return None
    if state in (_START, _BORDER):
        if symbol.kind == 0:
            return _SPACE
        # The rest of a first token, whose mark the decoder keeps.
        size = len(words.mark) + 1
        fits = size > 1 and symbol.continues and symbol.kind == words.mark_kind and size <= words.most
        if not fits or state != _START:
            return None
        if words.after_mark is None:
            return _State("rest", symbol.kind, size)
        node = words.after_mark.read(words.after_mark.start, symbol.text)
        return None if node is None else _State("rest", symbol.kind, size, node)
    if state == _SPACE:
        return _begun(words, symbol)
    if symbol.kind != state.kind or not symbol.continues or state.size == words.most:
        return None
    is_mark = state.name == "mark"
    if is_mark and state.size == len(words.mark):
        return None
    node = None
    lexicon = words.lexicon_of(state)
    if state.node is not None and lexicon is not None:
        node = lexicon.read(state.node, symbol.text)
        if node is None:
            return None
    if is_mark and symbol.mark_index != words.mark[state.size]:
        return _State("word", state.kind, state.size + 1, node)
    return _State(state.name, state.kind, state.size + 1, node)


def _begun(words: WordDefinition, symbol: Symbol) -> _State | None:
    if not symbol.begins or words.most == 0:
        return None
    if symbol.alone:
        return _ALONE
    if words.lexicon is not None:
        node = words.lexicon.read(words.lexicon.start, symbol.text)
        return None if node is None else _State("word", symbol.kind, 1, node)
    is_mark = bool(words.mark) and symbol.mark_index == words.mark[0]
    return _State("mark" if is_mark else "word", symbol.kind, 1)
