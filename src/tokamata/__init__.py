"""tokamata makes a language model write exactly what a pattern allows.

    import tokamata as tk

    vocabulary = tk.Vocabulary.load("tokenizer.json")
    compiled = tk.regex(r"\\d{4}-\\d{2}-\\d{2}").compile(vocabulary)
    matcher = compiled.matcher()
    matcher.mask            # which tokens may come next
    matcher.advance(token)  # the one that was chosen

Importing this package imports numpy and nothing else of weight; hosts such as torch and
transformers are imported by the functions that need them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tokamata.compiled import CompiledConstraint
from tokamata.constraint import Constraint, regex
from tokamata.errors import (
    Cancelled,
    EmptyConstraintError,
    GenerationError,
    LimitExceeded,
    MaskError,
    MissingExtraError,
    NoStopTokenError,
    NotRegularError,
    PatternError,
    PatternSyntaxError,
    RollbackError,
    TokamataError,
    TokenIdError,
    UnspellableError,
    UnsupportedPatternError,
    VocabularyError,
)
from tokamata.limits import CancelToken, Limits
from tokamata.masks import apply_mask
from tokamata.matcher import Explanation, Matcher
from tokamata.vocabulary import Vocabulary

if TYPE_CHECKING:
    from tokamata.decoding import Generation, generate

__version__ = "0.1.0"

__all__ = [
    "CancelToken",
    "Cancelled",
    "CompiledConstraint",
    "Constraint",
    "EmptyConstraintError",
    "Explanation",
    "Generation",
    "GenerationError",
    "LimitExceeded",
    "Limits",
    "MaskError",
    "Matcher",
    "MissingExtraError",
    "NoStopTokenError",
    "NotRegularError",
    "PatternError",
    "PatternSyntaxError",
    "RollbackError",
    "TokamataError",
    "TokenIdError",
    "UnspellableError",
    "UnsupportedPatternError",
    "Vocabulary",
    "VocabularyError",
    "apply_mask",
    "generate",
    "regex",
]


def __getattr__(name: str) -> Any:
    # Generation stands on a host (torch, transformers); it is imported when it is asked for.
    if name in ("generate", "Generation"):
        return getattr(import_module("tokamata.decoding"), name)
    raise AttributeError(f"module 'tokamata' has no attribute {name!r}")
