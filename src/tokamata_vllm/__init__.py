"""The entry point of tokamata in vLLM, of the group ``vllm.general_plugins``.

This package imports nothing when it is imported.  vLLM logs the error of an entry point that it cannot
import, and goes on: the engine would serve requests with another library than its user believes.  An entry
point that raises when it is called ends the engine.  So everything that can fail happens in the call.

:mod:`tokamata.integrations.vllm` has all the rest.
"""

from __future__ import annotations


def register() -> None:
    """Let tokamata serve the structured outputs of vLLM's backend ``"lm-format-enforcer"``.

    vLLM calls this in the front end, in the engine and in each worker.

    Raises:
        tokamata.integrations.vllm.interface.HostError: vLLM lacks something that tokamata needs.
        ImportError: tokamata cannot be imported.
    """
    import vllm.plugins

    try:
        from tokamata.integrations.vllm.slot import take_over

        take_over()
    except Exception:
        # vLLM has already noted that its plug-ins are loaded.  Without this, a second engine in the same
        # process would start, with the real lm-format-enforcer.
        vllm.plugins.plugins_loaded = False
        raise
