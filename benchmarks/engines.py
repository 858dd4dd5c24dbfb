"""The engines, each through its own documented Python interface, as it is meant to be used for speed.

What can be made once per vocabulary is made outside of all timing: the engine's own tokenizer object,
and the row that masks are written to (with its address, for those that want one).  Caches that
would hand out an earlier result for the same pattern are off.  Each engine runs on one thread.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt
from tokenizer import Tokenizer

import tokamata as tk

Row = npt.NDArray[np.int32]


class RefusedError(Exception):
    """An engine does not take a pattern; the message is its own."""


class Session(Protocol):
    """One compiled pattern, and a matcher of it."""

    fill: Callable[[], object]
    """Writes the mask of where the matcher is into the engine's row."""
    advance: Callable[[int], object]
    """Takes a token; ``False`` or an exception where it is refused."""

    def restart(self) -> None:
        """Goes back to the start of a text; what was learned of the pattern's states is kept."""

    def is_accepting(self) -> bool:
        """Whether the text so far matches."""


class Engine(Protocol):
    """A library, ready for one vocabulary."""

    name: str
    package: str
    """The distribution whose version is reported."""
    row: Row
    """What ``fill`` writes to: bit ``t % 32`` of word ``t // 32`` is token ``t``."""

    def compile(self, pattern: str) -> Session:
        """From the text of a pattern to a matcher."""


def _row(tokenizer: Tokenizer) -> Row:
    return np.zeros((tokenizer.vocabulary.width + 31) // 32, dtype=np.int32)


# ---- tokamata ---------------------------------------------------------------------------------


class _TokamataSession:
    def __init__(self, compiled: tk.CompiledConstraint, row: Row) -> None:
        self._compiled, self._row = compiled, row
        self.restart()

    def restart(self) -> None:
        self._matcher = self._compiled.matcher()
        self.fill: Callable[[], object] = partial(self._matcher.fill_mask, self._row)
        self.advance: Callable[[int], object] = self._matcher.advance

    def is_accepting(self) -> bool:
        return self._matcher.is_accepting

    def prepare(self, seconds: float) -> None:
        """Computes what the texts are likely to need."""
        self._compiled.prepare(seconds=seconds)


Dialect = Literal["python", "ecma"]


class Tokamata:
    """``tk.regex(p).compile(vocabulary).matcher()``, ``fill_mask``, ``advance``."""

    name = package = "tokamata"

    def __init__(self, tokenizer: Tokenizer, dialect: Dialect = "python") -> None:
        self._vocabulary = tokenizer.vocabulary
        self._dialect = dialect
        self.row = _row(tokenizer)

    def compile(self, pattern: str) -> Session:
        """From the text of a pattern to a matcher."""
        constraint = tk.regex(pattern, dialect=self._dialect)
        return _TokamataSession(constraint.compile(self._vocabulary), self.row)


# ---- llguidance -------------------------------------------------------------------------------


class _LlguidanceSession:
    def __init__(self, matcher: Any, address: int, size: int) -> None:
        self._matcher = matcher
        self.fill: Callable[[], object] = partial(matcher.unsafe_compute_mask_ptr, address, size)
        self.advance: Callable[[int], object] = matcher.consume_token

    def restart(self) -> None:
        self._matcher.reset()

    def is_accepting(self) -> bool:
        return bool(self._matcher.is_accepting())


class _GreedyTokenizer:
    """What llguidance asks of a tokenizer, for a vocabulary that has no ``tokenizer.json``."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        tokens = tokenizer.vocabulary.tokens
        self._encode = tokenizer.encode
        self.eos_token_id = tokenizer.vocabulary.stop[0]
        self.bos_token_id = None
        # Control tokens are marked by a byte that no UTF-8 has.
        self.tokens = [b"\xff<%d>" % i if value is None else value for i, value in enumerate(tokens)]
        self.special_token_ids = [i for i, value in enumerate(tokens) if value is None]

    def __call__(self, text: str | bytes) -> list[int]:
        return self._encode(text)


class Llguidance:
    """``LLMatcher`` of ``grammar_from_regex``; masks by ``unsafe_compute_mask_ptr``.

    That is its fastest way in place; the numpy helper around it costs a microsecond or two more,
    for the address of the row.
    """

    name = package = "llguidance"

    def __init__(self, tokenizer: Tokenizer) -> None:
        from llguidance import LLMatcher, LLTokenizer, TokenizerWrapper

        source = tokenizer.json_text or TokenizerWrapper(_GreedyTokenizer(tokenizer))
        vocabulary = tokenizer.vocabulary
        self._tokenizer = LLTokenizer(source, n_vocab=vocabulary.width, eos_token=list(vocabulary.stop))
        self._matcher = LLMatcher
        self.row = _row(tokenizer)
        self._address, self._size = self.row.ctypes.data, self.row.nbytes

    def compile(self, pattern: str) -> Session:
        """From the text of a pattern to a matcher."""
        matcher = self._matcher(self._tokenizer, self._matcher.grammar_from_regex(pattern))
        if matcher.is_error():
            raise RefusedError(matcher.get_error())
        return _LlguidanceSession(matcher, self._address, self._size)


# ---- xgrammar ---------------------------------------------------------------------------------


class _XgrammarSession:
    def __init__(self, matcher: Any, bitmask: Any) -> None:
        self._matcher = matcher
        self.fill: Callable[[], object] = partial(matcher.fill_next_token_bitmask, bitmask)
        self.advance: Callable[[int], object] = matcher.accept_token

    def restart(self) -> None:
        self._matcher.reset()

    def is_accepting(self) -> bool:
        return bool(self._matcher.is_completed())


class Xgrammar:
    """``GrammarMatcher`` of ``compile_regex``, with its compiler's cache off, into a torch tensor."""

    name = package = "xgrammar"

    def __init__(self, tokenizer: Tokenizer) -> None:
        import torch
        import xgrammar

        torch.set_num_threads(1)
        vocabulary = tokenizer.vocabulary
        info = xgrammar.TokenizerInfo(
            [value or b"" for value in vocabulary.tokens],  # it never allows an empty token
            vocab_size=vocabulary.width,
            stop_token_ids=list(vocabulary.stop),
        )
        self._compiler = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False)
        self._matcher = xgrammar.GrammarMatcher
        self._bitmask = xgrammar.allocate_token_bitmask(1, vocabulary.width)
        self.row = self._bitmask[0].numpy()

    def compile(self, pattern: str) -> Session:
        """From the text of a pattern to a matcher."""
        return _XgrammarSession(self._matcher(self._compiler.compile_regex(pattern)), self._bitmask)


# ---- outlines-core ----------------------------------------------------------------------------


class _OutlinesSession:
    def __init__(self, guide: Any, address: int, words: int) -> None:
        self._guide = guide
        self.fill: Callable[[], object] = partial(guide.write_mask_into, address, words, 4)
        # Without this argument it returns a list of every token allowed next.
        self.advance: Callable[[int], object] = partial(guide.advance, return_tokens=False)

    def restart(self) -> None:
        self._guide.reset()

    def is_accepting(self) -> bool:
        return bool(self._guide.is_finished())


class OutlinesCore:
    """``Guide`` of ``Index``; masks by ``write_mask_into``, steps by ``advance(t, return_tokens=False)``.

    Its vocabulary knows a single stop token.
    """

    name = package = "outlines-core"

    def __init__(self, tokenizer: Tokenizer) -> None:
        import outlines_core

        ids: dict[bytes, list[int]] = {}
        for token, value in enumerate(tokenizer.vocabulary.tokens):
            if value:
                ids.setdefault(value, []).append(token)
        self._vocabulary = outlines_core.Vocabulary(tokenizer.vocabulary.stop[0], ids)
        self._index, self._guide = outlines_core.Index, outlines_core.Guide
        self.row = _row(tokenizer)
        self._address, self._words = self.row.ctypes.data, self.row.size

    def compile(self, pattern: str) -> Session:
        """From the text of a pattern to a matcher."""
        guide = self._guide(self._index(pattern, self._vocabulary))
        return _OutlinesSession(guide, self._address, self._words)


# ---- glrmask ----------------------------------------------------------------------------------


class _GlrmaskSession:
    def __init__(self, constraint: Any, row: Row) -> None:
        self._constraint, self._row = constraint, row
        self.restart()

    def restart(self) -> None:
        self._state = self._constraint.start()
        self.fill: Callable[[], object] = partial(self._state.fill_mask, self._row)
        self.advance: Callable[[int], object] = self._state.commit_token

    def is_accepting(self) -> bool:
        return bool(self._state.is_accepting())


class Glrmask:
    """``ConstraintState`` of a Lark grammar of one terminal: the pattern.

    It has no notion of stop tokens.
    """

    name = package = "glrmask"
    strategy = "AUTO"

    def __init__(self, tokenizer: Tokenizer) -> None:
        import glrmask

        tokens = {i: value for i, value in enumerate(tokenizer.vocabulary.tokens) if value}
        self._vocabulary = glrmask.Vocab.from_id_to_bytes(tokens)
        self._from_lark = glrmask.Grammar.from_lark
        self._strategy = getattr(glrmask.MaskStrategy, self.strategy)
        self.row = _row(tokenizer)

    def compile(self, pattern: str) -> Session:
        """From the text of a pattern to a matcher."""
        grammar = self._from_lark("start: /" + pattern.replace("/", r"\/") + "/")
        return _GlrmaskSession(grammar.compile(self._vocabulary, mask_strategy=self._strategy), self.row)


class GlrmaskTrie(Glrmask):
    """The same with ``MaskStrategy.TOKEN_TRIE``: faster to compile, slower masks."""

    name = "glrmask-trie"
    strategy = "TOKEN_TRIE"


PEERS: tuple[type[Engine], ...] = (Llguidance, Xgrammar, OutlinesCore, Glrmask, GlrmaskTrie)


def start_engine(name: str, tokenizer: Tokenizer, dialect: Dialect) -> Engine:
    """The engine of that name; ``dialect`` is for tokamata.

    Raises:
        ImportError: it is not installed.
        ValueError: there is none of that name.
    """
    if name == Tokamata.name:
        return Tokamata(tokenizer, dialect)
    kind = {kind.name: kind for kind in PEERS}.get(name)
    if kind is None:
        raise ValueError(f"no engine is called {name!r}")
    return kind(tokenizer)  # type: ignore[call-arg]  # a protocol has no say in __init__


def start_engines(tokenizer: Tokenizer, wanted: list[str] | None, say: Callable[[str], None]) -> list[Engine]:
    """tokamata and every peer that is installed, in that order.

    Args:
        tokenizer: the vocabulary for all of them.
        wanted: the names of the peers to take; ``None`` takes all.
        say: told how long each took, and which are not installed.
    """
    engines: list[Engine] = []
    kinds: tuple[type[Engine], ...] = (Tokamata, *PEERS)
    for kind in kinds:
        if wanted is not None and kind is not Tokamata and kind.name not in wanted:
            continue
        try:
            importlib.import_module(kind.package.replace("-", "_"))
            start = time.perf_counter()
            engines.append(kind(tokenizer))  # type: ignore[call-arg]  # a protocol has no say in __init__
            say(f"{kind.name}: tokenizer object made in {time.perf_counter() - start:.2f} s")
        except ImportError as error:
            say(f"{kind.name}: left out, {error}; pip install -r benchmarks/requirements.txt")
    return engines
