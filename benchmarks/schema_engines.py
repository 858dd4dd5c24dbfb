"""The engines with JSON Schemas: each gets the schema as JSON text, through its own documented interface.

What a library does by default stays as it is, but for xgrammar's ``strict_mode``, in which objects are closed
where a schema does not say so.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from engines import (
    Engine,
    Glrmask,
    GlrmaskTrie,
    Llguidance,
    OutlinesCore,
    RefusedError,
    Row,
    Session,
    Xgrammar,
    _GlrmaskSession,
    _LlguidanceSession,
    _row,
    _TokamataSession,
    _XgrammarSession,
)
from tokenizer import Tokenizer

import tokamata as tk


class TokamataSchemas:
    """``tk.json_schema(text).compile(vocabulary).matcher()``, ``fill_mask``, ``advance``."""

    package = "tokamata"

    name = "tokamata"

    def __init__(
        self, vocabulary: tk.Vocabulary, row: Row, order: Any = "schema", tokenization: Any = "any"
    ) -> None:
        self._vocabulary, self.row = vocabulary, row
        self._order, self._tokenization = order, tokenization

    @classmethod
    def of(cls, tokenizer: Tokenizer, **options: Any) -> TokamataSchemas:
        """With a row of its own."""
        return cls(tokenizer.vocabulary, _row(tokenizer), **options)

    def compile(self, pattern: str) -> Session:
        """From the text of a schema to a matcher."""
        try:
            constraint = tk.json_schema(pattern, property_order=self._order)
            compiled = constraint.compile(self._vocabulary, tokenization=self._tokenization)
        except tk.TokamataError as error:
            raise RefusedError(f"{type(error).__name__}: {error}") from None
        return _TokamataSession(compiled, self.row)


class LlguidanceSchemas(Llguidance):
    """``LLMatcher`` of ``grammar_from_json_schema``."""

    def compile(self, pattern: str) -> Session:
        """From the text of a schema to a matcher."""
        matcher = self._matcher(self._tokenizer, self._matcher.grammar_from_json_schema(pattern))
        if matcher.is_error():
            raise RefusedError(matcher.get_error())
        return _LlguidanceSession(matcher, self._address, self._size)


class XgrammarSchemas(Xgrammar):
    """``GrammarMatcher`` of ``compile_json_schema(strict_mode=False)``, with its compiler's cache off."""

    def compile(self, pattern: str) -> Session:
        """From the text of a schema to a matcher."""
        compiled = self._compiler.compile_json_schema(pattern, strict_mode=False)
        return _XgrammarSession(self._matcher(compiled), self._bitmask)


class _GlrmaskSchemas:
    """``ConstraintState`` of ``Grammar.from_json_schema``."""

    _vocabulary: Any
    _strategy: Any
    row: Any

    def compile(self, pattern: str) -> Session:
        """From the text of a schema to a matcher."""
        import glrmask

        grammar = glrmask.Grammar.from_json_schema(pattern)
        return _GlrmaskSession(grammar.compile(self._vocabulary, mask_strategy=self._strategy), self.row)


class OutlinesCoreSchemas(OutlinesCore):
    """``Guide`` of the ``Index`` of ``json_schema.build_regex_from_schema``."""

    def compile(self, pattern: str) -> Session:
        """From the text of a schema to a matcher."""
        from outlines_core import json_schema

        return super().compile(json_schema.build_regex_from_schema(pattern))


class GlrmaskSchemas(_GlrmaskSchemas, Glrmask):
    """With its default strategy."""


class GlrmaskTrieSchemas(_GlrmaskSchemas, GlrmaskTrie):
    """With ``MaskStrategy.TOKEN_TRIE``."""


TOKAMATA = "tokamata"
ANY_ORDER = "tokamata, any order"
CANONICAL = "tokamata, canonical"
CANONICAL_ANY_ORDER = "tokamata, canonical, any order"


def with_schemas(engine: Engine) -> Engine:
    """An engine for regexes as one for schemas, with the same tokenizer object and row."""
    if engine.name == TOKAMATA:
        return TokamataSchemas(engine._vocabulary, engine.row)  # type: ignore[attr-defined]
    kind = {
        Llguidance: LlguidanceSchemas,
        Xgrammar: XgrammarSchemas,
        OutlinesCore: OutlinesCoreSchemas,
        Glrmask: GlrmaskSchemas,
        GlrmaskTrie: GlrmaskTrieSchemas,
    }[type(engine)]  # type: ignore[index]
    made: Engine = kind.__new__(kind)  # type: ignore[call-overload]
    made.__dict__.update(engine.__dict__)
    return made


ENGINES: dict[str, tuple[str, Callable[[Tokenizer], Engine]]] = {
    TOKAMATA: ("tokamata", TokamataSchemas.of),
    ANY_ORDER: ("tokamata", partial(TokamataSchemas.of, order="any")),
    CANONICAL: ("tokamata", partial(TokamataSchemas.of, tokenization="canonical")),
    CANONICAL_ANY_ORDER: ("tokamata", partial(TokamataSchemas.of, order="any", tokenization="canonical")),
    "llguidance": ("llguidance", LlguidanceSchemas),
    "glrmask": ("glrmask", GlrmaskSchemas),
    "glrmask-trie": ("glrmask", GlrmaskTrieSchemas),
    "xgrammar": ("xgrammar", XgrammarSchemas),
}
"""By name: the package that has to be installed, and what makes the engine."""
