"""Takes over vLLM's backend ``"lm-format-enforcer"``.

vLLM names its backends in three places: the manager in the engine, the check of requests in the front end,
and offline beam search.  For this backend all three import two names of one module when they need them.
Replacing these two names replaces the backend in all three places.
"""

# vLLM is not installed where types are checked, hence `Any` for what comes from it.

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from tokamata.errors import TokamataError
from tokamata.integrations.vllm.backend import TokamataBackend
from tokamata.integrations.vllm.constraints import KINDS, check_options, check_request
from tokamata.integrations.vllm.grammar import TokamataGrammar
from tokamata.integrations.vllm.interface import BACKEND, SLOT, SLOT_CLASS, check_interface, require

__all__ = ["take_over", "validate"]

_OURS: dict[str, type[Any]] = {
    "StructuredOutputGrammar": TokamataGrammar,
    "StructuredOutputBackend": TokamataBackend,
}


def take_over() -> None:
    """Replace the backend; a second call does nothing.

    Raises:
        HostError: vLLM lacks something that tokamata needs.

    Warns:
        HostWarning: tokamata was not tried with this version of vLLM.
    """
    loaded = sys.modules.get(SLOT)
    if getattr(loaded, SLOT_CLASS, None) is TokamataBackend:
        return
    check_interface(_version(), _OURS, KINDS)
    from vllm.v1.structured_output import StructuredOutputManager, backend_types
    from vllm.v1.structured_output import backend_lm_format_enforcer as slot

    for name, ours in _OURS.items():
        getattr(backend_types, name).register(ours)
    slot.LMFormatEnforcerBackend = TokamataBackend
    slot.validate_structured_output_request_lm_format_enforcer = validate
    StructuredOutputManager.__init__ = _with_backend(StructuredOutputManager.__init__)
    StructuredOutputManager._create_grammar = _with_lengths(StructuredOutputManager._create_grammar)


def validate(params: Any) -> None:
    """Check a request in the front end; vLLM answers it with the status 400.

    Args:
        params: vLLM's ``SamplingParams``.

    Raises:
        vllm.exceptions.VLLMValidationError: tokamata cannot enforce the request; no text satisfies it; it
            has an option that vLLM hands to no backend.
    """
    from vllm.exceptions import VLLMValidationError
    from vllm.v1.structured_output.request import get_structured_output_key

    wanted = params.structured_outputs
    if wanted is None:
        return
    try:
        check_options(wanted)
        kind, text = get_structured_output_key(wanted)
        check_request(kind.name.lower(), text)
    except (TokamataError, ValueError, TypeError, RecursionError, MemoryError) as error:
        raise VLLMValidationError(f"tokamata: {error}") from error


def _version() -> str:
    import vllm

    return str(getattr(vllm, "__version__", "(of an unknown version)"))


def _with_backend(construct: Callable[..., None]) -> Callable[..., None]:
    """The manager's constructor, which makes the backend at once.

    vLLM makes it at the first request, which would wait for the vocabulary: 0.6 to 2.3 seconds.  vLLM 0.33
    also notes the backend's name, by which it refuses requests for another one.
    """

    @functools.wraps(construct)
    def constructed(manager: Any, vllm_config: Any, *args: Any, **keywords: Any) -> None:
        construct(manager, vllm_config, *args, **keywords)
        has_tokenizer = not vllm_config.model_config.skip_tokenizer_init
        if vllm_config.structured_outputs_config.backend == BACKEND and has_tokenizer:
            lacking = [name for name in ("backend", "tokenizer") if not hasattr(manager, name)]
            require(_version(), [f"StructuredOutputManager.{name}" for name in lacking])
            width = vllm_config.model_config.get_vocab_size()
            manager.backend = TokamataBackend(vllm_config, tokenizer=manager.tokenizer, vocab_size=width)
            if hasattr(manager, "backend_name"):
                manager.backend_name = BACKEND

    return constructed


def _with_lengths(create: Callable[..., Any]) -> Callable[..., Any]:
    """The manager's method that makes grammars, which tells ours how short and how long the text may be.

    vLLM tells a backend neither ``min_tokens`` nor ``max_tokens`` nor the length of the prompt.
    """

    @functools.wraps(create)
    def created(manager: Any, request: Any) -> Any:
        grammar = create(manager, request)
        if isinstance(grammar, TokamataGrammar):
            longest = manager.vllm_config.model_config.max_model_len

            def left() -> int:
                of_text = request.max_tokens - request.num_output_tokens
                return int(min(of_text, longest - request.num_tokens))

            left()  # here an error ends this request alone; while a row is made, it would end the engine
            grammar.left = left
            grammar.set_least(request.sampling_params.min_tokens)
        return grammar

    return created
