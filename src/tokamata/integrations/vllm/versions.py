"""Which vLLM this integration was written for.

The slot is no public interface of vLLM.  A version that was not tried is refused, loudly: an engine that
starts all the same would serve requests with another library than its user believes.
"""

from __future__ import annotations

import re
from typing import Any

from tokamata.errors import TokamataError

__all__ = ["TRIED", "HostError", "check_interface", "check_version"]

TRIED = ("0.32",)


class HostError(TokamataError, RuntimeError):
    """A version of vLLM that tokamata does not support."""


def check_version(version: str) -> None:
    """Refuse versions that were not tried.

    Raises:
        HostError: the version is another one.
    """
    match = re.match(r"\d+\.\d+(?=\.|$)", version)
    if match is None or match[0] not in TRIED:
        raise HostError(
            f"tokamata was tried with vLLM {', '.join(TRIED)}, not with {version}; install one of these, or "
            "leave the plug-in out: set VLLM_PLUGINS to the names of the plug-ins that you need"
        )


def check_interface(ours: type[Any], theirs: type[Any]) -> None:
    """Refuse an interface with methods that we do not have.

    Raises:
        HostError: ``theirs``, an abstract class of vLLM, declares a further abstract method.
    """
    lacking = sorted(name for name in theirs.__abstractmethods__ if not hasattr(ours, name))
    if lacking:
        raise HostError(f"vLLM's {theirs.__name__} has methods that tokamata lacks: {', '.join(lacking)}")
