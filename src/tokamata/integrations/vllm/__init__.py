"""Structured outputs of vLLM, served by tokamata.

    LLM(model, structured_outputs_config={"backend": "lm-format-enforcer"})

vLLM has no registry of backends.  It imports the module of the backend ``"lm-format-enforcer"`` where it
needs it, so two assignments to that module replace the backend (``slot``).  No file of vLLM is changed.  vLLM
finds the plug-in by an entry point (``tokamata_vllm``).

| module | idea |
|---|---|
| ``constraints`` | the constraint of a request, and the check of a request in the front end |
| ``grammar`` | one request in the engine: a matcher, and the rows of a draft |
| ``warm_up`` | masks that are computed before the first request |
| ``reading`` | whether vLLM reads tokens as tokamata does |
| ``backend`` | all requests of an engine |
| ``interface`` | what of vLLM is needed, and the check that it is there |
| ``slot`` | the two assignments |

Only ``slot`` and ``interface`` import vLLM.  docs/vllm.md is for users.
"""
