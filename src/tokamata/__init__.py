"""tokamata makes a language model write exactly what a pattern allows.

    import tokamata as tk

    vocabulary = tk.Vocabulary.load("tokenizer.json")
    compiled = tk.regex(r"\\d{4}-\\d{2}-\\d{2}").compile(vocabulary)
    matcher = compiled.matcher()
    matcher.mask            # which tokens may come next
    matcher.advance(token)  # the chosen token

Importing this package is fast: numpy, torch and transformers are imported by the functions that need them.
"""

from __future__ import annotations

from tokamata.constraints.constraint import Answer, Concatenation, Constraint
from tokamata.constraints.extension_constraints import (
    control_token,
    delimited_list,
    delimited_subsequence_of,
    image,
    paragraph_token,
    quoted_text,
    substring_of,
    text_token,
    text_until,
    unquoted_text,
)
from tokamata.constraints.grammar_constraints import GrammarConstraint, grammar
from tokamata.constraints.grammar_rules import Phrase, Rule, rule
from tokamata.constraints.json_constraints import JsonConstraint, json_schema
from tokamata.constraints.json_constraints import json as json
from tokamata.constraints.reasoning import think_first
from tokamata.constraints.structural_tags import structural_tag
from tokamata.constraints.text_constraints import choice, literal, regex
from tokamata.constraints.tool_calls import tool_calls
from tokamata.constraints.tool_constraints import ToolCall, response_format, tool_call
from tokamata.constraints.tool_formats import ToolFormat
from tokamata.constraints.trigger_constraints import Tag, TagConstraint, tag, text_without, triggered
from tokamata.constraints.type_constraints import type as type
from tokamata.decoding import (
    Abstention,
    AsyncStream,
    Beam,
    Beams,
    FieldProbabilities,
    FieldProbability,
    Generation,
    Policy,
    Probability,
    Refusal,
    Sample,
    Samples,
    Sampling,
    Step,
    Stream,
    Switch,
    Timing,
    ValueProbabilities,
    Wanted,
    astream,
    beam_search,
    generate,
    probabilities,
    sample,
    stream,
)
from tokamata.errors import (
    AlgebraError,
    ArgumentError,
    BudgetError,
    BusyError,
    Cancelled,
    CompiledFileError,
    ContextError,
    EmptyConstraintError,
    ForkError,
    GenerationError,
    GrammarError,
    LengthError,
    LimitExceeded,
    MachineError,
    MaskError,
    MissingExtraError,
    NoncanonicalError,
    NoRepairError,
    NoStopTokenError,
    NoTokenError,
    NotRegularError,
    NoValuesError,
    ParseError,
    PatternError,
    PatternSyntaxError,
    PicklingError,
    RefusedError,
    RepairRefusedError,
    RollbackError,
    SamplingStopped,
    SchemaError,
    SchemaWarning,
    SeamError,
    TemplateError,
    TokamataError,
    TokenIdError,
    TokenizerMismatchError,
    TokenizerMismatchWarning,
    TooManyTextsError,
    UnknownTokenError,
    UnspellableError,
    UnsupportedPatternError,
    UnsupportedSchemaError,
    UnsupportedTokenizerError,
    UnsupportedTypeError,
    VocabularyError,
    VocabularyWarning,
)
from tokamata.matching.batches import fill_draft_masks, fill_masks
from tokamata.matching.compositions import forget_constraints
from tokamata.matching.explanation import Explanation
from tokamata.matching.load_compiled import load
from tokamata.matching.mask_reports import MaskReport
from tokamata.matching.masks import apply_mask
from tokamata.matching.matchers import CompiledConstraint, Matcher, Preparation
from tokamata.matching.process_rewards import ProcessRewards
from tokamata.patterns.grammars import Derivation, Determinism
from tokamata.repair.costs import (
    Doubt,
    EditCosts,
    EditMode,
    FoundRewrite,
    Rewrite,
    RewriteFinder,
)
from tokamata.repair.coupled_certificates import CoupledCertificate
from tokamata.repair.default_costs import DEFAULT_COSTS
from tokamata.repair.distinct import NearestValues
from tokamata.repair.edits import Edit
from tokamata.repair.losses import ContentChange
from tokamata.repair.programs import Program
from tokamata.repair.repair_bounds import RepairBounds
from tokamata.repair.results import Certificate, Margin, Repair
from tokamata.repair.rewards import Reward
from tokamata.repair.streams import RepairStream
from tokamata.repair.tokens import TokenCertificate, TokenCosts, TokenEdit, TokenRepair
from tokamata.resources.limits import CancelToken, Limits
from tokamata.values.json_events import Event
from tokamata.values.partial_values import partial, partial_value
from tokamata.values.parts import Captures, Match, Parts
from tokamata.version import __version__ as __version__
from tokamata.vocabulary import TokenTypes, Vocabulary

# `type` and `json` are public but missing here: `from tokamata import *` would hide the built-in function and
# the module of the standard library.
__all__ = [
    "DEFAULT_COSTS",
    "Abstention",
    "AlgebraError",
    "Answer",
    "ArgumentError",
    "AsyncStream",
    "Beam",
    "Beams",
    "BudgetError",
    "BusyError",
    "CancelToken",
    "Cancelled",
    "Captures",
    "Certificate",
    "CompiledConstraint",
    "CompiledFileError",
    "Concatenation",
    "Constraint",
    "ContentChange",
    "ContextError",
    "CoupledCertificate",
    "Derivation",
    "Determinism",
    "Doubt",
    "Edit",
    "EditCosts",
    "EditMode",
    "EmptyConstraintError",
    "Event",
    "Explanation",
    "FieldProbabilities",
    "FieldProbability",
    "ForkError",
    "FoundRewrite",
    "Generation",
    "GenerationError",
    "GrammarConstraint",
    "GrammarError",
    "JsonConstraint",
    "LengthError",
    "LimitExceeded",
    "Limits",
    "MachineError",
    "Margin",
    "MaskError",
    "MaskReport",
    "Match",
    "Matcher",
    "MissingExtraError",
    "NearestValues",
    "NoRepairError",
    "NoStopTokenError",
    "NoTokenError",
    "NoValuesError",
    "NoncanonicalError",
    "NotRegularError",
    "ParseError",
    "Parts",
    "PatternError",
    "PatternSyntaxError",
    "Phrase",
    "PicklingError",
    "Policy",
    "Preparation",
    "Probability",
    "ProcessRewards",
    "Program",
    "Refusal",
    "RefusedError",
    "Repair",
    "RepairBounds",
    "RepairRefusedError",
    "RepairStream",
    "Reward",
    "Rewrite",
    "RewriteFinder",
    "RollbackError",
    "Rule",
    "Sample",
    "Samples",
    "Sampling",
    "SamplingStopped",
    "SchemaError",
    "SchemaWarning",
    "SeamError",
    "Step",
    "Stream",
    "Switch",
    "Tag",
    "TagConstraint",
    "TemplateError",
    "Timing",
    "TokamataError",
    "TokenCertificate",
    "TokenCosts",
    "TokenEdit",
    "TokenIdError",
    "TokenRepair",
    "TokenTypes",
    "TokenizerMismatchError",
    "TokenizerMismatchWarning",
    "TooManyTextsError",
    "ToolCall",
    "ToolFormat",
    "UnknownTokenError",
    "UnspellableError",
    "UnsupportedPatternError",
    "UnsupportedSchemaError",
    "UnsupportedTokenizerError",
    "UnsupportedTypeError",
    "ValueProbabilities",
    "Vocabulary",
    "VocabularyError",
    "VocabularyWarning",
    "Wanted",
    "apply_mask",
    "astream",
    "beam_search",
    "choice",
    "control_token",
    "delimited_list",
    "delimited_subsequence_of",
    "fill_draft_masks",
    "fill_masks",
    "forget_constraints",
    "generate",
    "grammar",
    "image",
    "json_schema",
    "literal",
    "load",
    "paragraph_token",
    "partial",
    "partial_value",
    "probabilities",
    "quoted_text",
    "regex",
    "response_format",
    "rule",
    "sample",
    "stream",
    "structural_tag",
    "substring_of",
    "tag",
    "text_token",
    "text_until",
    "text_without",
    "think_first",
    "tool_call",
    "tool_calls",
    "triggered",
    "unquoted_text",
]
