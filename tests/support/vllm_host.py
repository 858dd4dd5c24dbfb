"""A stand-in for what vLLM 0.32 and 0.33 give a backend: interfaces, kinds of requests, calls.

`make test-vllm` compares the interfaces with vLLM's own.
"""

from __future__ import annotations

import enum
import json
from abc import ABC, abstractmethod
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np


class StructuredOutputOptions(enum.Enum):
    JSON = enum.auto()
    JSON_OBJECT = enum.auto()
    REGEX = enum.auto()
    GRAMMAR = enum.auto()
    CHOICE = enum.auto()
    STRUCTURAL_TAG = enum.auto()


class StructuredOutputGrammar(ABC):
    @abstractmethod
    def accept_tokens(self, request_id: str, tokens: list[int]) -> bool: ...

    @abstractmethod
    def validate_tokens(self, tokens: list[int]) -> list[int]: ...

    @abstractmethod
    def rollback(self, num_tokens: int) -> None: ...

    @abstractmethod
    def fill_bitmask(self, bitmask: Any, batch_index: int) -> None: ...

    @abstractmethod
    def is_terminated(self) -> bool: ...

    @abstractmethod
    def reset(self) -> None: ...


@dataclass
class StructuredOutputBackend(ABC):
    vllm_config: Any
    tokenizer: Any
    vocab_size: int

    @abstractmethod
    def compile_grammar(
        self, request_type: StructuredOutputOptions, grammar_spec: str, stop_token_ids: set[int] | None = None
    ) -> StructuredOutputGrammar: ...

    @abstractmethod
    def allocate_token_bitmask(self, max_num_seqs: int) -> Any: ...

    @abstractmethod
    def destroy(self) -> None: ...


class Scheduler:
    """The calls that vLLM's scheduler makes for one request, in its order.

    Args:
        grammar: of the request.
        bitmask: torch's, with at least as many rows as a step has.
    """

    def __init__(self, grammar: Any, bitmask: Any) -> None:
        self.grammar = grammar
        self.bitmask = bitmask
        self.errors: list[str] = []

    def rows(self, drafts: list[int]) -> list[set[int] | None]:
        """A step: the drafts are checked, padded with -1, and a row is made for each and one after them.

        Returns:
            The tokens of each row, ``None`` for a row that is left open.
        """
        valid = self.grammar.validate_tokens(drafts) if drafts else []
        padded = valid + [-1] * (len(drafts) - len(valid))
        found: list[set[int] | None] = []
        accepted = 0
        is_padding = False
        for token in padded:
            found.append(self._row(len(found), is_padding))
            if token == -1:
                is_padding = True
            elif not is_padding:
                if not self.grammar.is_terminated() and self.grammar.accept_tokens("r", [token]):
                    accepted += 1
                else:
                    self.errors.append(f"draft {token} was refused")
        found.append(self._row(len(found), is_padding))
        if accepted:
            self.grammar.rollback(accepted)
        return found

    def _row(self, index: int, is_open: bool) -> set[int] | None:
        if is_open or self.grammar.is_terminated():
            self.bitmask[index] = -1
            return None
        self.grammar.fill_bitmask(self.bitmask, index)
        bits = np.unpackbits(self.bitmask[index].numpy().view(np.uint8), bitorder="little")
        return set(np.flatnonzero(bits).tolist())


@dataclass
class StructuredOutputsParams:
    """What a request wants; exactly one of the first six is given."""

    json: Any = None
    json_object: bool | None = None
    regex: str | None = None
    choice: list[str] | None = None
    grammar: str | None = None
    structural_tag: str | None = None
    disable_any_whitespace: bool = False
    disable_additional_properties: bool = False
    whitespace_pattern: str | None = None


class VLLMValidationError(ValueError):
    pass


def get_structured_output_key(params: StructuredOutputsParams) -> tuple[StructuredOutputOptions, str]:
    for name in ("json", "regex", "choice", "grammar", "structural_tag"):
        if (given := getattr(params, name)) is not None:
            text = given if isinstance(given, str) else json.dumps(given)
            return StructuredOutputOptions[name.upper()], text
    if params.json_object:
        return StructuredOutputOptions.JSON_OBJECT, ""
    raise ValueError("No valid structured output parameter found")


def modules(version: str = "0.32.0") -> dict[str, ModuleType]:
    """Modules of the names under which vLLM's are imported, for ``sys.modules``."""

    class Manager:
        def __init__(self, vllm_config: Any) -> None:
            self.backend = None
            self.backend_name = None  # since 0.33
            self.tokenizer = vllm_config.tokenizer
            self.vllm_config = vllm_config

        def grammar_init(self, request: Any) -> None: ...

        def _create_grammar(self, request: Any) -> Any:
            return self.backend.compile_grammar(*request.key)

    class EnforcerBackend:
        def __init__(self, vllm_config: Any, tokenizer: Any, vocab_size: int) -> None: ...

    def validate(params: Any) -> None: ...

    class Request:
        num_tokens = property(len)
        num_output_tokens = property(len)

    class SamplingParams:
        min_tokens = 0
        all_stop_token_ids = property(len)

    contents: dict[str, dict[str, Any]] = {
        "vllm": {"__version__": version},
        "vllm.plugins": {"plugins_loaded": True},
        "vllm.exceptions": {"VLLMValidationError": VLLMValidationError},
        "vllm.v1": {},
        "vllm.v1.structured_output": {"StructuredOutputManager": Manager},
        "vllm.v1.structured_output.backend_types": {
            "StructuredOutputGrammar": StructuredOutputGrammar,
            "StructuredOutputBackend": StructuredOutputBackend,
            "StructuredOutputOptions": StructuredOutputOptions,
        },
        "vllm.v1.request": {"Request": Request},
        "vllm.sampling_params": {"SamplingParams": SamplingParams},
        "vllm.v1.structured_output.request": {"get_structured_output_key": get_structured_output_key},
        "vllm.v1.structured_output.backend_lm_format_enforcer": {
            "LMFormatEnforcerBackend": EnforcerBackend,
            "validate_structured_output_request_lm_format_enforcer": validate,
        },
    }
    made: dict[str, ModuleType] = {}
    for name, content in contents.items():
        module = made[name] = ModuleType(name)
        module.__path__ = []
        vars(module).update(content)
        parent, _, last = name.rpartition(".")
        if parent:
            setattr(made[parent], last, module)
    return made
