"""The engines, each through its own documented Python interface, as it is meant to be used for speed.

Each takes regular expressions and JSON Schemas, and most take Lark grammars.  What a library does by default
stays as it is, except for xgrammar's ``strict_mode``, which closes objects that a schema leaves open.

What can be made once per vocabulary is made outside of all timing: the engine's own tokenizer object,
and the row that masks are written to (with its address, for those that want one).  Caches that
would hand out an earlier result for the same pattern are off.  Each engine runs on one thread.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

import tokamata as tk
from benchmarks.common.tokenizers import Tokenizer

Row = npt.NDArray[np.int32]


class RefusedError(Exception):
    """An engine does not take a pattern or a schema; the message is its own."""


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

    row: Row
    """What ``fill`` writes to: bit ``t % 32`` of word ``t // 32`` is token ``t``."""

    def regex(self, pattern: str) -> Session:
        """From the text of a pattern to a matcher.

        Raises:
            RefusedError, RuntimeError, ValueError: the engine does not take it.
        """

    def schema(self, schema: str) -> Session:
        """From the text of a JSON Schema to a matcher; raises as :meth:`regex` does."""


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


class Tokamata:
    """``compile(vocabulary).matcher()``, ``fill_mask``, ``advance``, with the options of its name."""

    def __init__(
        self, tokenizer: Tokenizer, dialect: Any = "python", order: Any = "schema", tokenization: Any = "any"
    ) -> None:
        self._vocabulary = tokenizer.vocabulary
        self._dialect, self._order, self._tokenization = dialect, order, tokenization
        self._grammars: dict[str, tk.Constraint[Any]] = {}
        self.row = _row(tokenizer)

    def regex(self, pattern: str) -> Session:
        """``tk.regex(pattern)``."""
        return self._session(tk.regex(pattern, dialect=self._dialect))

    def schema(self, schema: str) -> Session:
        """``tk.json_schema(text)``."""
        try:
            return self._session(tk.json_schema(schema, property_order=self._order))
        except tk.TokamataError as error:
            raise RefusedError(str(error)) from error

    def grammar(self, text: str) -> Session:
        """``tk.grammar(text)``, which is kept: lark's loading counts the first time alone."""
        if text not in self._grammars:
            self._grammars[text] = tk.grammar(text)
        return self._session(self._grammars[text])

    def _session(self, constraint: tk.Constraint[Any]) -> Session:
        compiled = constraint.compile(self._vocabulary, tokenization=self._tokenization)
        tk.forget_constraints()  # the next one is to be compiled, equal or not
        return _TokamataSession(compiled, self.row)


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
    """``LLMatcher``; masks by ``unsafe_compute_mask_ptr``.

    That is its fastest way in place; the numpy helper around it costs a microsecond or two more,
    for the address of the row.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        from llguidance import LLMatcher, LLTokenizer, TokenizerWrapper

        source = tokenizer.json_text or TokenizerWrapper(_GreedyTokenizer(tokenizer))
        vocabulary = tokenizer.vocabulary
        self._tokenizer = LLTokenizer(source, n_vocab=vocabulary.width, eos_token=list(vocabulary.stop))
        self._matcher = LLMatcher
        self.row = _row(tokenizer)
        self._address, self._size = self.row.ctypes.data, self.row.nbytes

    def regex(self, pattern: str) -> Session:
        """``grammar_from_regex``."""
        return self._session(self._matcher.grammar_from_regex(pattern))

    def schema(self, schema: str) -> Session:
        """``grammar_from_json_schema``."""
        return self._session(self._matcher.grammar_from_json_schema(schema))

    def grammar(self, text: str) -> Session:
        """``grammar_from_lark``."""
        return self._session(self._matcher.grammar_from_lark(text))

    def _session(self, grammar: str) -> Session:
        matcher = self._matcher(self._tokenizer, grammar)
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
    """``GrammarMatcher``, with its compiler's cache off, into a torch tensor."""

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
        self._from_lark = partial(xgrammar.Grammar.from_lark, tokenizer_info=info)
        self._bitmask = xgrammar.allocate_token_bitmask(1, vocabulary.width)
        self.row = self._bitmask[0].numpy()

    def regex(self, pattern: str) -> Session:
        """``compile_regex``."""
        return _XgrammarSession(self._matcher(self._compiler.compile_regex(pattern)), self._bitmask)

    def schema(self, schema: str) -> Session:
        """``compile_json_schema(strict_mode=False)``."""
        compiled = self._compiler.compile_json_schema(schema, strict_mode=False)
        return _XgrammarSession(self._matcher(compiled), self._bitmask)

    def grammar(self, text: str) -> Session:
        """``Grammar.from_lark``."""
        compiled = self._compiler.compile_grammar(self._from_lark(text))
        return _XgrammarSession(self._matcher(compiled), self._bitmask)


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

    def regex(self, pattern: str) -> Session:
        """``Guide(Index(pattern))``."""
        guide = self._guide(self._index(pattern, self._vocabulary))
        return _OutlinesSession(guide, self._address, self._words)

    def schema(self, schema: str) -> Session:
        """The same with the regex of ``build_regex_from_schema``."""
        from outlines_core import json_schema

        return self.regex(json_schema.build_regex_from_schema(schema))


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

    def __init__(self, tokenizer: Tokenizer, strategy: str = "AUTO") -> None:
        import glrmask

        tokens = {i: value for i, value in enumerate(tokenizer.vocabulary.tokens) if value}
        self._vocabulary = glrmask.Vocab.from_id_to_bytes(tokens)
        self._grammar = glrmask.Grammar
        self._strategy = getattr(glrmask.MaskStrategy, strategy)
        self.row = _row(tokenizer)

    def regex(self, pattern: str) -> Session:
        """A Lark grammar of one terminal, the pattern."""
        return self._session(self._grammar.from_lark("start: /" + pattern.replace("/", r"\/") + "/"))

    def schema(self, schema: str) -> Session:
        """``Grammar.from_json_schema``."""
        return self._session(self._grammar.from_json_schema(schema))

    def grammar(self, text: str) -> Session:
        """``Grammar.from_lark``."""
        return self._session(self._grammar.from_lark(text))

    def _session(self, grammar: Any) -> Session:
        return _GlrmaskSession(grammar.compile(self._vocabulary, mask_strategy=self._strategy), self.row)


TOKAMATA = "tokamata"
ANY_ORDER = "tokamata, any order"
CANONICAL = "tokamata, canonical"
CANONICAL_ANY_ORDER = "tokamata, canonical, any order"
ECMA = "tokamata, ecma"
OURS = (TOKAMATA, ANY_ORDER, CANONICAL, CANONICAL_ANY_ORDER, ECMA)

ENGINES: dict[str, tuple[str, Callable[[Tokenizer], Engine]]] = {
    TOKAMATA: ("tokamata", Tokamata),
    ANY_ORDER: ("tokamata", partial(Tokamata, order="any")),
    CANONICAL: ("tokamata", partial(Tokamata, tokenization="canonical")),
    CANONICAL_ANY_ORDER: ("tokamata", partial(Tokamata, order="any", tokenization="canonical")),
    ECMA: ("tokamata", partial(Tokamata, dialect="ecma")),
    "llguidance": ("llguidance", Llguidance),
    "xgrammar": ("xgrammar", Xgrammar),
    "outlines-core": ("outlines_core", OutlinesCore),
    "glrmask": ("glrmask", Glrmask),
    "glrmask-trie": ("glrmask", partial(Glrmask, strategy="TOKEN_TRIE")),
}
"""By name: the package that has to be installed, and what makes the engine."""
