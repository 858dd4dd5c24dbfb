"""Every error that tokamata raises on purpose.

An error has its facts as attributes; the message is derived from them and ends with the next
step.  All errors derive from :class:`TokamataError`, and from the built-in exception that a
caller would otherwise expect (``ValueError``, ``IndexError``, ...).
"""

from tokamata.errors.arguments import ArgumentError, MaskError, RollbackError, TokenIdError
from tokamata.errors.base import TokamataError, about
from tokamata.errors.constraints import (
    AlgebraError,
    BudgetError,
    EmptyConstraintError,
    LengthError,
    TooManyTextsError,
    UnspellableError,
)
from tokamata.errors.decoding import GenerationError, NoTokenError, RefusedError, SamplingStopped
from tokamata.errors.installation import InstallationError, MissingExtraError
from tokamata.errors.machines import (
    EndlessStackError,
    MachineError,
    MachineFileError,
    NondeterministicError,
    NotSubsequentialError,
)
from tokamata.errors.patterns import (
    GrammarError,
    NotRegularError,
    PatternError,
    PatternSyntaxError,
    UnknownPropertyError,
    UnsupportedPatternError,
)
from tokamata.errors.saving import CompiledFileError, PicklingError
from tokamata.errors.schemas import SchemaError, SchemaWarning, UnsupportedSchemaError, UnsupportedTypeError
from tokamata.errors.showing import caret, shown_argument, shown_count
from tokamata.errors.stops import MOST_DEPTH, BusyError, Cancelled, ForkError, LimitExceeded
from tokamata.errors.templates import SeamError, TemplateError
from tokamata.errors.texts import NoRepairError, NoValuesError, ParseError, RepairRefusedError
from tokamata.errors.tokenizations import (
    ContextError,
    NoncanonicalError,
    OverlappingSpansError,
    TokenizerMismatchError,
    TokenizerMismatchWarning,
    UnsupportedTokenizerError,
)
from tokamata.errors.vocabularies import (
    NoStopTokenError,
    UnigramModelError,
    UnknownTokenError,
    VocabularyError,
    VocabularyWarning,
)

__all__ = [
    "MOST_DEPTH",
    "AlgebraError",
    "ArgumentError",
    "BudgetError",
    "BusyError",
    "Cancelled",
    "CompiledFileError",
    "ContextError",
    "EmptyConstraintError",
    "EndlessStackError",
    "ForkError",
    "GenerationError",
    "GrammarError",
    "InstallationError",
    "LengthError",
    "LimitExceeded",
    "MachineError",
    "MachineFileError",
    "MaskError",
    "MissingExtraError",
    "NoRepairError",
    "NoStopTokenError",
    "NoTokenError",
    "NoValuesError",
    "NoncanonicalError",
    "NondeterministicError",
    "NotRegularError",
    "NotSubsequentialError",
    "OverlappingSpansError",
    "ParseError",
    "PatternError",
    "PatternSyntaxError",
    "PicklingError",
    "RefusedError",
    "RepairRefusedError",
    "RollbackError",
    "SamplingStopped",
    "SchemaError",
    "SchemaWarning",
    "SeamError",
    "TemplateError",
    "TokamataError",
    "TokenIdError",
    "TokenizerMismatchError",
    "TokenizerMismatchWarning",
    "TooManyTextsError",
    "UnigramModelError",
    "UnknownPropertyError",
    "UnknownTokenError",
    "UnspellableError",
    "UnsupportedPatternError",
    "UnsupportedSchemaError",
    "UnsupportedTokenizerError",
    "UnsupportedTypeError",
    "VocabularyError",
    "VocabularyWarning",
    "about",
    "caret",
    "shown_argument",
    "shown_count",
]

# Tracebacks and pickles name a class as its importers do.  So it may move between the files of this package.
for _name in __all__:
    if isinstance(_class := globals()[_name], type):
        _class.__module__ = __name__
