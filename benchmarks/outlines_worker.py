"""outlines 0.0.34, measured as appendix C of Koo, Liu & He does; runs in an environment of its own.

    python -I outlines_worker.py TOKENIZER_JSON EOS

Answers lines of JSON on stdin with lines on stdout: first one that says that it is ready, then for
``{"do": "compile", "pattern": p, "is_schema": b}`` the nanoseconds of ``outlines.generate.regex``, or
of ``json``; for ``{"do": "step", …}`` with ``"calls": n, "runs": r`` besides, those of one step from
the start state.

The cache on disk is off, as in the paper.  Two things are made as outlines does not make them, for
outside of what is timed they need the network or a package that it does not require: the tokenizer
object comes from a file, and is its own hash (outlines hashes all of a tokenizer on every call, by the
package ``datasets``).  The second makes outlines faster.
"""

from __future__ import annotations

import json
import math
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import metadata
from types import SimpleNamespace
from typing import Any

import numpy as np
import outlines
import outlines.generate
import torch
from outlines.generate.generator import bias_logits, get_allowed_tokens, get_next_fsm_states
from outlines.models.transformers import TransformerTokenizer
from transformers import PreTrainedTokenizerFast

_PACKAGES = ("outlines", "torch", "numpy", "numba", "interegular", "transformers", "tokenizers")
_WARM_UP = "[ab]c"


class FileTokenizer(TransformerTokenizer):  # type: ignore[misc]  # it has no types
    """What ``TransformerTokenizer`` makes of a model's name, made of a ``tokenizer.json``."""

    def __init__(self, path: str, eos: str) -> None:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
        # outlines asks for tokens and their texts alone, and the merges have a form that is newer than it.
        content["model"]["merges"] = []
        special = [token["content"] for token in content["added_tokens"] if token["special"]]
        with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
            json.dump(content, file)
            file.flush()
            self.tokenizer = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
                tokenizer_file=file.name, eos_token=eos, additional_special_tokens=special
            )
        self.eos_token, self.eos_token_id = eos, self.tokenizer.eos_token_id
        self.pad_token, self.pad_token_id = self.eos_token, self.eos_token_id
        self.special_tokens = set(self.tokenizer.all_special_tokens)
        self.vocabulary = self.tokenizer.get_vocab()
        self.is_llama = False

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


class Worker:
    """outlines with one tokenizer."""

    def __init__(self, path: str, eos: str) -> None:
        outlines.disable_cache()
        torch.set_num_threads(1)
        tokenizer = FileTokenizer(path, eos)
        self._model = SimpleNamespace(tokenizer=tokenizer, device="cpu")
        self._width = max(tokenizer.vocabulary.values()) + 1
        # The vocabulary is converted, and numba compiles, in the first call.
        outlines.generate.regex(self._model, _WARM_UP)

    def compile(self, pattern: str, is_schema: bool) -> dict[str, object]:
        """One call of ``outlines.generate.regex``, or ``json``."""
        start = time.perf_counter_ns()
        self._generator(pattern, is_schema)
        return {"ns": time.perf_counter_ns() - start}

    def _generator(self, pattern: str, is_schema: bool) -> Any:
        made = outlines.generate.json if is_schema else outlines.generate.regex
        return made(self._model, pattern)

    def step(self, pattern: str, is_schema: bool, calls: int, runs: int) -> dict[str, object]:
        """Appendix C.3: the tokens allowed at the start, a vector that marks them, the state after the first.

        Three readings of "a vector": ``float``, one of -inf and 0, as is added to logits; ``own``, what
        outlines itself does when it generates, which is to copy logits; ``bool``, the least that one
        could do.  Each is nanoseconds a call, of ``runs`` loops of ``calls``.
        """
        fsm = self._generator(pattern, is_schema).fsm
        width, start_state = self._width, fsm.first_state
        logits = torch.zeros((1, width))

        def as_float() -> None:
            tokens = fsm.allowed_token_ids(start_state)
            vector = torch.full((width,), -math.inf)
            vector[tokens] = 0.0
            fsm.next_state(start_state, tokens[0])

        def own() -> None:
            tokens = get_allowed_tokens([fsm], [start_state])
            bias_logits(logits, tokens)
            get_next_fsm_states([fsm], [start_state], [[tokens[0][0]]])

        def as_bool() -> None:
            tokens = fsm.allowed_token_ids(start_state)
            vector = np.zeros(width, dtype=np.bool_)
            vector[tokens] = True
            fsm.next_state(start_state, tokens[0])

        found: dict[str, list[float]] = {"float": [], "own": [], "bool": []}
        for _ in range(runs + 1):
            for name, call in (("float", as_float), ("own", own), ("bool", as_bool)):
                start = time.perf_counter_ns()
                for _ in range(calls):
                    call()
                found[name].append((time.perf_counter_ns() - start) / calls)
        allowed = sorted(map(int, fsm.allowed_token_ids(start_state)))
        return {"allowed": allowed, **{name: values[1:] for name, values in found.items()}}


def main() -> None:
    """The program."""
    worker = Worker(*sys.argv[1:])
    versions = {name: metadata.version(name) for name in _PACKAGES}
    print(json.dumps({"ready": True, "python": sys.version.split()[0], "versions": versions}), flush=True)
    calls: dict[str, Callable[..., dict[str, object]]] = {"compile": worker.compile, "step": worker.step}
    for line in sys.stdin:
        request = json.loads(line)
        what = request.pop("do")
        try:
            answer = calls[what](**request)
        except Exception as error:  # whatever it is, the other side has to know
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
