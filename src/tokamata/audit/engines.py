"""The engines that can be audited, each through its own documented Python interface.

Each is used as its documentation says and with its defaults, except for what would make it refuse valid
instances by an option of its own: xgrammar's ``strict_mode`` closes objects that a schema leaves open, and is
off.  Where engines differ in how they mark the end of a text, the adapters say it alike: ``may_end``, after a
mask was made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import metadata
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tokamata.constraints.json_constraints import json_schema
from tokamata.errors import MissingExtraError, TokamataError
from tokamata.matching.masks import allocate_mask
from tokamata.resources.limits import Limits
from tokamata.vocabulary import Vocabulary

__all__ = [
    "ENGINES",
    "Engine",
    "KnownEngine",
    "RefusedError",
    "Session",
    "TokamataInAnyStyle",
    "checked_engine",
    "version_of",
]

Row = npt.NDArray[np.int32]

# Far above what an instance takes: what is refused for a limit would be no finding.
_LIMITS = Limits(memory_bytes=1 << 31, seconds=600.0)


class RefusedError(Exception):
    """The engine does not take a schema; the message is its own."""


class Session(Protocol):
    """One compiled schema, and where a text of it has come to."""

    def restart(self) -> None:
        """Go back to the start of a text."""

    def mask(self) -> Row:
        """The mask, as ``int32`` words; the array may be written again by the next call."""

    def may_end(self) -> bool:
        """Whether the text may end here; called after :meth:`mask`."""

    def advance(self, token: int) -> bool:
        """Take a token; whether it was taken."""


class Engine(Protocol):
    """A library, ready for one vocabulary."""

    def compile(self, schema: str) -> Session:
        """From the text of a JSON Schema to a session.

        Raises:
            Exception: the engine does not take the schema.
        """


def _has(row: Row, token: int) -> bool:
    return bool(int(row[token >> 5]) >> (token & 31) & 1)


# ---- tokamata ---------------------------------------------------------------------------------


class _TokamataSession:
    def __init__(self, schema: str, vocabulary: Vocabulary, style: dict[str, Any]) -> None:
        constraint = json_schema(schema, limits=_LIMITS, unknown="ignore", **style)
        self._compiled = constraint.compile(vocabulary, limits=_LIMITS)
        self._row: Row = allocate_mask(1, vocabulary.width)[0]
        self.restart()

    def restart(self) -> None:
        self._matcher = self._compiled.matcher()

    def mask(self) -> Row:
        self._matcher.fill_mask(self._row)
        return self._row

    def may_end(self) -> bool:
        return self._matcher.is_accepting

    def advance(self, token: int) -> bool:
        return self._matcher.advance(token)

    def completion(self) -> list[int]:
        """Tokens that finish the text, as few as possible."""
        return self._matcher.shortest_completion()


class Tokamata:
    """``tk.json_schema(schema)``, with its defaults."""

    style: dict[str, Any] = {}  # noqa: RUF012

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary

    def compile(self, schema: str) -> Session:
        """Read and compile."""
        try:
            return _TokamataSession(schema, self._vocabulary, self.style)
        except TokamataError as error:
            raise RefusedError(str(error)) from error


class TokamataInAnyStyle(Tokamata):
    """The same in any order, white space and spelling: no style is a reason to refuse a text."""

    style = {"property_order": "any", "whitespace": "any", "spelling": "any"}  # noqa: RUF012


# ---- llguidance -------------------------------------------------------------------------------


class _GreedyTokenizer:
    """What llguidance needs of a tokenizer: its tokens, and one tokenization of each text."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        tokens = vocabulary.tokens
        self.eos_token_id = vocabulary.stop[0]
        self.bos_token_id = None
        # Control tokens are marked by a byte that no UTF-8 has.
        self.tokens = [b"\xff<%d>" % i if value is None else value for i, value in enumerate(tokens)]
        self.special_token_ids = [i for i, value in enumerate(tokens) if value is None]
        self._ids = {value: i for i, value in enumerate(tokens) if value}
        self._longest = max(map(len, self._ids))

    def __call__(self, text: str | bytes) -> list[int]:
        data = text.encode() if isinstance(text, str) else text
        found, start = [], 0
        while start < len(data):
            lengths = range(min(self._longest, len(data) - start), 0, -1)
            length = next((n for n in lengths if data[start : start + n] in self._ids), 0)
            if length:
                found.append(self._ids[data[start : start + length]])
            start += length or 1
        return found


class _LlguidanceSession:
    def __init__(self, matcher: Any, vocabulary: Vocabulary) -> None:
        self._matcher, self._stop = matcher, vocabulary.stop
        self._row: Row = allocate_mask(1, vocabulary.width)[0]
        self._address, self._size = self._row.ctypes.data, self._row.nbytes

    def restart(self) -> None:
        self._matcher.reset()

    def mask(self) -> Row:
        self._matcher.unsafe_compute_mask_ptr(self._address, self._size)
        if self._matcher.is_error():
            raise RuntimeError(self._matcher.get_error())
        return self._row

    def may_end(self) -> bool:
        return any(_has(self._row, token) for token in self._stop)

    def advance(self, token: int) -> bool:
        return bool(self._matcher.consume_token(token))


class Llguidance:
    """``LLMatcher`` of ``grammar_from_json_schema``."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        from llguidance import LLMatcher, LLTokenizer, TokenizerWrapper

        wrapper = TokenizerWrapper(_GreedyTokenizer(vocabulary))
        stop = list(vocabulary.stop)
        self._tokenizer = LLTokenizer(wrapper, n_vocab=vocabulary.width, eos_token=stop)
        self._matcher: Any = LLMatcher
        self._vocabulary = vocabulary

    def _grammar(self, schema: str) -> str:
        return str(self._matcher.grammar_from_json_schema(schema))

    def compile(self, schema: str) -> Session:
        """One ``LLMatcher``."""
        matcher = self._matcher(self._tokenizer, self._grammar(schema))
        if matcher.is_error():
            raise RefusedError(matcher.get_error())
        return _LlguidanceSession(matcher, self._vocabulary)


class VllmGuidance(Llguidance):
    """llguidance with the grammar that vLLM's backend ``guidance`` makes of a schema."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        from vllm.v1.structured_output.backend_guidance import serialize_guidance_grammar
        from vllm.v1.structured_output.backend_types import StructuredOutputOptions

        super().__init__(vocabulary)
        self._serialize, self._kind = serialize_guidance_grammar, StructuredOutputOptions.JSON

    def _grammar(self, schema: str) -> str:
        return str(self._serialize(self._kind, schema))


# ---- xgrammar ---------------------------------------------------------------------------------


class _XgrammarSession:
    def __init__(self, matcher: Any, bitmask: Any, stop: tuple[int, ...]) -> None:
        self._matcher, self._bitmask, self._stop = matcher, bitmask, stop
        self._row: Row = bitmask[0].numpy()

    def restart(self) -> None:
        self._matcher.reset()

    def mask(self) -> Row:
        self._bitmask.fill_(-1)  # it writes nothing where every token is allowed
        self._matcher.fill_next_token_bitmask(self._bitmask)
        return self._row

    def may_end(self) -> bool:
        return any(_has(self._row, token) for token in self._stop)

    def advance(self, token: int) -> bool:
        return bool(self._matcher.accept_token(token))


class Xgrammar:
    """``GrammarMatcher`` of ``compile_json_schema(strict_mode=False)``."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        import torch
        import xgrammar

        torch.set_num_threads(1)
        self._stop = vocabulary.stop
        info = xgrammar.TokenizerInfo(
            [value or b"" for value in vocabulary.tokens],  # it never allows an empty token
            vocab_size=vocabulary.width,
            stop_token_ids=list(vocabulary.stop),
        )
        self._compiler = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False)
        self._matcher = xgrammar.GrammarMatcher
        self._bitmask = xgrammar.allocate_token_bitmask(1, vocabulary.width)

    def compile(self, schema: str) -> Session:
        """One ``GrammarMatcher``."""
        compiled = self._compiler.compile_json_schema(schema, strict_mode=False)
        return _XgrammarSession(self._matcher(compiled), self._bitmask, self._stop)


# ---- outlines-core ----------------------------------------------------------------------------


class _OutlinesSession:
    def __init__(self, guide: Any, vocabulary: Vocabulary) -> None:
        self._guide = guide
        self._row: Row = allocate_mask(1, vocabulary.width)[0]
        self._address, self._words = self._row.ctypes.data, self._row.size

    def restart(self) -> None:
        self._guide.reset()

    def mask(self) -> Row:
        self._guide.write_mask_into(self._address, self._words, 4)
        return self._row

    def may_end(self) -> bool:
        return bool(self._guide.is_finished())

    def advance(self, token: int) -> bool:
        self._guide.advance(token, return_tokens=False)
        return True


class OutlinesCore:
    """``Guide`` of the ``Index`` of ``build_regex_from_schema``.  Its vocabulary has a single stop token."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        import outlines_core
        from outlines_core import json_schema as schemas

        ids: dict[bytes, list[int]] = {}
        for token, value in enumerate(vocabulary.tokens):
            if value:
                ids.setdefault(value, []).append(token)
        self._own = outlines_core.Vocabulary(vocabulary.stop[0], ids)
        self._index, self._guide = outlines_core.Index, outlines_core.Guide
        self._regex = schemas.build_regex_from_schema
        self._vocabulary = vocabulary

    def compile(self, schema: str) -> Session:
        """A regular expression, its index, and a guide."""
        return _OutlinesSession(self._guide(self._index(self._regex(schema), self._own)), self._vocabulary)


# ---- glrmask ----------------------------------------------------------------------------------


class _GlrmaskSession:
    def __init__(self, constraint: Any, vocabulary: Vocabulary) -> None:
        self._constraint = constraint
        self._row: Row = allocate_mask(1, vocabulary.width)[0]
        self.restart()

    def restart(self) -> None:
        self._state = self._constraint.start()

    def mask(self) -> Row:
        self._state.fill_mask(self._row)
        return self._row

    def may_end(self) -> bool:
        return bool(self._state.is_accepting())

    def advance(self, token: int) -> bool:
        return self._state.commit_token(token) is not False


class Glrmask:
    """``ConstraintState`` of ``Grammar.from_json_schema``.  It has no notion of stop tokens."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        import glrmask

        tokens = {i: value for i, value in enumerate(vocabulary.tokens) if value}
        self._own = glrmask.Vocab.from_id_to_bytes(tokens)
        self._grammar = glrmask.Grammar
        self._vocabulary = vocabulary

    def compile(self, schema: str) -> Session:
        """One ``Constraint``."""
        constraint = self._grammar.from_json_schema(schema).compile(self._own)
        return _GlrmaskSession(constraint, self._vocabulary)


# ---- all of them ------------------------------------------------------------------------------


@dataclass(frozen=True)
class KnownEngine:
    """An engine that can be named.

    Attributes:
        package: its name on PyPI, whose version is reported.
        needs: the modules that must be importable, with the packages that install them.
        make: makes the engine of a vocabulary.
    """

    package: str
    needs: Mapping[str, str]
    make: Callable[[Vocabulary], Engine]


ENGINES: dict[str, KnownEngine] = {
    "xgrammar": KnownEngine("xgrammar", {"xgrammar": "xgrammar", "torch": "torch"}, Xgrammar),
    "llguidance": KnownEngine("llguidance", {"llguidance": "llguidance"}, Llguidance),
    "outlines-core": KnownEngine("outlines-core", {"outlines_core": "outlines-core"}, OutlinesCore),
    "glrmask": KnownEngine("glrmask", {"glrmask": "glrmask"}, Glrmask),
    "vllm-guidance": KnownEngine("vllm", {"vllm": "vllm", "llguidance": "llguidance"}, VllmGuidance),
    "tokamata": KnownEngine("tokamata", {}, Tokamata),
}


def checked_engine(name: str) -> KnownEngine:
    """The engine of this name.

    Raises:
        MissingExtraError: a package of it is not installed.
    """
    known = ENGINES[name]
    for module, package in known.needs.items():
        if find_spec(module) is None:
            raise MissingExtraError(
                package, "", f"auditing {name}", f"install it with: pip install {package}"
            )
    return known


def version_of(name: str) -> str:
    """The name with the version of its package."""
    package = ENGINES[name].package
    try:
        return f"{name} {metadata.version(package)}"
    except metadata.PackageNotFoundError:
        return name
