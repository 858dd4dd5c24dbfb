"""What is compared: free text, tokamata with each option alone, the peers with theirs.

An :class:`Arm` is a name and the options that differ from the defaults.  :func:`masks_of` makes of it what
fills the masks of a text.  Every schema is compiled once for each arm; every text has a matcher of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Protocol, get_args

import numpy as np
import numpy.typing as npt

import tokamata as tk
from tokamata.constraints.json_options import JsonOptions, PropertyOrder, Spelling, Whitespace

__all__ = ["ARMS", "FREE", "OURS", "Arm", "Masks", "Matcher", "Refusal", "masks_of"]

Row = npt.NDArray[np.int32]

FREE, OURS, LLGUIDANCE, XGRAMMAR = "unconstrained", "tokamata", "llguidance", "xgrammar"


@dataclass(frozen=True)
class Arm:
    """One way to write all answers.

    Attributes:
        engine: who makes the masks; :data:`FREE` for nobody.
        options: those of the engine that are not its defaults.
    """

    engine: str
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """For tables and files."""
        return ", ".join([self.engine, *(f"{name}={value}" for name, value in self.options.items())])


def _each_option() -> list[Arm]:
    """tokamata with one option of JSON changed: each value that differs from the default."""
    default = JsonOptions()
    values = {"spelling": Spelling, "whitespace": Whitespace, "property_order": PropertyOrder}
    return [
        Arm(OURS, {name: value})
        for name, choices in values.items()
        for value in get_args(choices)
        if value != getattr(default, name)
    ]


ARMS: Sequence[Arm] = (
    Arm(FREE),
    Arm(OURS),
    Arm(LLGUIDANCE),
    Arm(XGRAMMAR),
    *_each_option(),
    # Options of the peers that a user with these questions would try.
    Arm(LLGUIDANCE, {"json_allow_general_unicode_escapes": True}),
    Arm(XGRAMMAR, {"any_order": True}),
    Arm(OURS, {"tokenization": "canonical"}),
)
"""The most important first, and the slowest last: a run that ends early loses the last."""


class Refusal(Exception):
    """An engine does not take a schema, or refuses a token of its own mask; the message is its own."""


class Matcher(Protocol):
    """The state of one text."""

    def fill(self, row: Row, left: int) -> None:
        """Writes the mask, where ``left`` tokens may still be written; raises :class:`Refusal`."""

    def advance(self, token: int) -> None:
        """Takes a token of the mask; raises :class:`Refusal`."""


Masks = Callable[[str, list[int]], Matcher]
"""A matcher for a schema, after the tokens of a prompt; raises :class:`Refusal`."""


def masks_of(arm: Arm, vocabulary: tk.Vocabulary, tokenizer_file: Path) -> Masks | None:
    """What makes the matchers of an arm; ``None`` for free text."""
    if arm.engine == FREE:
        return None
    if arm.engine == OURS:
        return _tokamata(vocabulary, arm.options)
    if arm.engine == LLGUIDANCE:
        return _llguidance(vocabulary, tokenizer_file, arm.options)
    return _xgrammar(vocabulary, arm.options)


# ---- tokamata ---------------------------------------------------------------------------------


class _Tokamata:
    def __init__(self, matcher: tk.Matcher) -> None:
        self._matcher = matcher

    def fill(self, row: Row, left: int) -> None:
        """Within the budget, as ``tk.generate`` does."""
        try:
            self._matcher.fill_mask(row, left)
        except tk.TokamataError as error:
            raise Refusal(str(error)) from error

    def advance(self, token: int) -> None:
        if not self._matcher.advance(token):
            raise Refusal(f"token {token} of the mask is refused")


def _tokamata(vocabulary: tk.Vocabulary, given: Mapping[str, Any]) -> Masks:
    options = dict(given)
    tokenization = options.pop("tokenization", "any")

    @cache
    def compiled(schema: str) -> tk.CompiledConstraint[Any]:
        return tk.json_schema(schema, **options).compile(vocabulary, tokenization=tokenization)

    def make(schema: str, prompt: list[int]) -> Matcher:
        try:
            return _Tokamata(compiled(schema).matcher(prompt))
        except tk.TokamataError as error:
            raise Refusal(str(error)) from error

    return make


# ---- llguidance -------------------------------------------------------------------------------


class _Llguidance:
    def __init__(self, matcher: Any) -> None:
        self._matcher = matcher

    def fill(self, row: Row, left: int) -> None:
        self._matcher.unsafe_compute_mask_ptr(row.ctypes.data, row.nbytes)
        self._check()

    def advance(self, token: int) -> None:
        self._matcher.consume_token(token)
        self._check()

    def _check(self) -> None:
        if self._matcher.is_error():
            raise Refusal(self._matcher.get_error())


def _llguidance(vocabulary: tk.Vocabulary, tokenizer_file: Path, options: Mapping[str, Any]) -> Masks:
    from llguidance import LLMatcher, LLTokenizer

    tokenizer = LLTokenizer(
        tokenizer_file.read_text("utf-8"), n_vocab=vocabulary.width, eos_token=list(vocabulary.stop)
    )

    @cache
    def first(schema: str) -> Any:
        return LLMatcher(tokenizer, LLMatcher.grammar_from_json_schema(schema, overrides=dict(options)))

    def make(schema: str, prompt: list[int]) -> Matcher:
        matcher = first(schema)
        if matcher.is_error():
            raise Refusal(matcher.get_error())
        return _Llguidance(matcher.deep_copy())

    return make


# ---- xgrammar ---------------------------------------------------------------------------------


class _Xgrammar:
    def __init__(self, matcher: Any) -> None:
        self._matcher = matcher

    def fill(self, row: Row, left: int) -> None:
        import torch

        self._matcher.fill_next_token_bitmask(torch.from_numpy(row[None]))

    def advance(self, token: int) -> None:
        if not self._matcher.accept_token(token):
            raise Refusal(f"token {token} of the mask is refused")


def _xgrammar(vocabulary: tk.Vocabulary, options: Mapping[str, Any]) -> Masks:
    """With ``strict_mode=False``: otherwise it closes objects that a schema leaves open."""
    import xgrammar

    info = xgrammar.TokenizerInfo(
        [value or b"" for value in vocabulary.tokens],
        vocab_size=vocabulary.width,
        stop_token_ids=list(vocabulary.stop),
    )
    compiler = xgrammar.GrammarCompiler(info)

    @cache
    def compiled(schema: str) -> Any:
        return compiler.compile_json_schema(schema, strict_mode=False, **options)

    def make(schema: str, prompt: list[int]) -> Matcher:
        try:
            return _Xgrammar(xgrammar.GrammarMatcher(compiled(schema)))
        except (RuntimeError, ValueError) as error:
            raise Refusal(str(error)) from error

    return make
