"""tokamata makes a language model write exactly what a pattern allows.

    import tokamata as tk

    vocabulary = tk.Vocabulary.load("tokenizer.json")
    compiled = tk.regex(r"\\d{4}-\\d{2}-\\d{2}").compile(vocabulary)
    matcher = compiled.matcher()
    matcher.mask            # which tokens may come next
    matcher.advance(token)  # the one that was chosen

Importing this package imports nothing of weight; numpy, and hosts such as torch and transformers,
are imported by the functions that need them.
"""

from __future__ import annotations

from tokamata.compiled import CompiledConstraint
from tokamata.constraint import Constraint, regex
from tokamata.decoding import Generation, Sampling, Step, Stream, Timing, generate, stream
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
    "Sampling",
    "Step",
    "Stream",
    "Timing",
    "TokamataError",
    "TokenIdError",
    "UnspellableError",
    "UnsupportedPatternError",
    "Vocabulary",
    "VocabularyError",
    "apply_mask",
    "generate",
    "regex",
    "stream",
]

