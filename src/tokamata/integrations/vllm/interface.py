"""What tokamata needs of vLLM, and the check that it is there.

The slot is no public interface of vLLM, so a release may move any part of it.  The check runs when the
plug-in is loaded.  It imports each module, and compares names, parameters, abstract methods and the kinds of
requests with what the integration uses.  Something missing is an error that lists all of it: an engine that
started without it would serve requests with another library than its user believes.

The number of the version alone decides nothing.  A version that was not tried, but has all parts, is served,
with a warning: two versions with the same names can still call them differently.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from tokamata.errors import TokamataError

__all__ = ["BACKEND", "TRIED", "HostError", "HostWarning", "check_interface", "require"]

TRIED = ("0.32", "0.33")
BACKEND = "lm-format-enforcer"

_OUTPUT = "vllm.v1.structured_output"
SLOT = f"{_OUTPUT}.backend_lm_format_enforcer"
SLOT_CLASS = "LMFormatEnforcerBackend"
SLOT_CHECK = "validate_structured_output_request_lm_format_enforcer"


class HostError(TokamataError, RuntimeError):
    """vLLM lacks something that tokamata needs.

    Attributes:
        version: of vLLM.
        missing: what it lacks, one sentence part for each.
    """

    def __init__(self, version: str, missing: Sequence[str]) -> None:
        super().__init__(version, tuple(missing))
        self.version = version
        self.missing = tuple(missing)

    def _message(self) -> str:
        return (
            f"vLLM {self.version} lacks what tokamata needs: {'; '.join(self.missing)}; install vLLM "
            f"{' or '.join(TRIED)}, or leave the plug-in out: set VLLM_PLUGINS to the names of the plug-ins "
            "that you need"
        )


class HostWarning(TokamataError, UserWarning):
    """A version of vLLM that tokamata was not tried with, though it has all that is needed; a warning.

    Attributes:
        version: of vLLM.
    """

    def __init__(self, version: str) -> None:
        super().__init__(version)
        self.version = version

    def _message(self) -> str:
        return (
            f"tokamata was tried with vLLM {' and '.join(TRIED)}, not with {self.version}; it has all "
            "that tokamata needs, and requests are served; try yours before you rely on it"
        )


class _Part(NamedTuple):
    """Something of vLLM that tokamata uses.

    Attributes:
        module: where it is.
        name: of the class or function.
        calls: parameters by which tokamata calls it, or vLLM its replacement; ``None``: neither does.
        attributes: those that its objects have.
        methods: those that tokamata calls or replaces, with their parameters.
    """

    module: str
    name: str
    calls: tuple[str, ...] | None = None
    attributes: tuple[str, ...] = ()
    methods: tuple[tuple[str, tuple[str, ...]], ...] = ()


_PARTS = (
    _Part(SLOT, SLOT_CLASS, calls=("vllm_config", "tokenizer", "vocab_size")),
    _Part(SLOT, SLOT_CHECK, calls=("params",)),
    _Part(
        _OUTPUT,
        "StructuredOutputManager",
        calls=("vllm_config",),
        methods=(("grammar_init", ("request",)), ("_create_grammar", ("request",))),
    ),
    _Part(f"{_OUTPUT}.request", "get_structured_output_key", calls=("params",)),
    _Part("vllm.exceptions", "VLLMValidationError"),
    _Part("vllm.v1.request", "Request", attributes=("num_tokens", "num_output_tokens")),
    _Part("vllm.sampling_params", "SamplingParams", attributes=("min_tokens", "all_stop_token_ids")),
)
_TYPES = f"{_OUTPUT}.backend_types"
_KINDS = "StructuredOutputOptions"


def check_interface(version: str, ours: dict[str, type[Any]], kinds: Sequence[str]) -> None:
    """Compare vLLM with what tokamata needs.

    Args:
        version: of vLLM.
        ours: the class of tokamata for each abstract class of vLLM's ``backend_types``, by its name.
        kinds: the kinds of requests that tokamata serves, in capital letters.

    Raises:
        HostError: something is missing.

    Warns:
        HostWarning: nothing is, but this version was not tried.
    """
    missing = [fault for part in _PARTS for fault in _faults(part)]
    for name, own in ours.items():
        missing += _faults_of_abstract(own, name)
    missing += _faults_of_kinds(kinds)
    missing += _early_imports()
    require(version, missing)
    match = re.match(r"\d+\.\d+(?=[.a-z]|$)", version)
    if match is None or match[0] not in TRIED:
        warnings.warn(HostWarning(version), stacklevel=2)


def require(version: str, missing: Sequence[str]) -> None:
    """Raise if something is missing.

    Raises:
        HostError: it is.
    """
    if missing:
        raise HostError(version, missing)


def _found(module: str, name: str) -> tuple[Any, list[str]]:
    """A part of vLLM, or why it is not there."""
    try:
        loaded = importlib.import_module(module)
    except ImportError as error:
        return None, [f"the module {module} ({error})"]
    if not hasattr(loaded, name):
        return None, [f"{name} in {module}"]
    return getattr(loaded, name), []


def _faults(part: _Part) -> Iterator[str]:
    found, faults = _found(part.module, part.name)
    yield from faults
    if faults:
        return
    for attribute in part.attributes:
        if not hasattr(found, attribute):
            yield f"{part.name}.{attribute}"
    called = [("", part.calls)] if part.calls is not None else []
    for method, expected in [*called, *part.methods]:
        name = f"{part.name}.{method}" if method else part.name
        call = getattr(found, method, None) if method else found
        if not callable(call):
            yield name
        elif (given := _parameters(call))[: len(expected)] != expected:
            yield f"{name}({', '.join(expected)}): its parameters are ({', '.join(given)})"


def _faults_of_abstract(ours: type[Any], name: str) -> Iterator[str]:
    """An abstract method that we lack, or that vLLM calls otherwise than ours."""
    theirs, faults = _found(_TYPES, name)
    yield from faults
    if faults:
        return
    for method in sorted(theirs.__abstractmethods__):
        own = getattr(ours, method, None)
        if own is None:
            yield f"{name} without {method}, a method that tokamata lacks"
            continue
        given = _parameters(getattr(theirs, method))
        known = _parameters(own)
        if given != known[: len(given)] or _required(own) > len(given):
            yield f"{name}.{method}({', '.join(known)}): its parameters are ({', '.join(given)})"


def _faults_of_kinds(kinds: Sequence[str]) -> Iterator[str]:
    found, faults = _found(_TYPES, _KINDS)
    yield from faults
    members = getattr(found, "__members__", {})
    lacking = [kind for kind in kinds if kind not in members]
    if lacking and not faults:
        yield f"{_KINDS} with {', '.join(lacking)}"


def _early_imports() -> Iterator[str]:
    """Modules that hold the names of the slot already, so that replacing them there would have no effect."""
    slot = sys.modules.get(SLOT)
    for module_name, module in list(sys.modules.items()):
        if module is slot or not module_name.startswith("vllm."):
            continue
        for name in (SLOT_CLASS, SLOT_CHECK):
            held = vars(module).get(name)
            if held is not None and held is getattr(slot, name, None):
                yield f"an import of {name} where it is used ({module_name} imports it at its top)"


def _parameters(call: Any) -> tuple[str, ...]:
    """Without ``self``."""
    try:
        names = tuple(inspect.signature(call).parameters)
    except (TypeError, ValueError):  # written in C
        return ()
    return names[1:] if names[:1] == ("self",) else names


def _required(call: Any) -> int:
    """The number of parameters without a default."""
    parameters = list(inspect.signature(call).parameters.values())
    return sum(one.default is one.empty and one.name != "self" for one in parameters)
