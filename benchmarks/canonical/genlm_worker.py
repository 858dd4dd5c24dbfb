"""genlm-control's filter for canonical tokenization; runs in an environment of its own.

    python -I genlm_worker.py TOKENIZER_JSON EOS

Answers lines of JSON on stdin with lines on stdout: first one that says that it is ready and how long the
filter took to make, or why there is none.  Then for ``{"do": "time", "lasts": [...]}`` the nanoseconds of
the mask behind each of these tokens, and for ``{"do": "look", "lasts": [...], "nexts": [...], "draws": n,
"seed": s}`` whether each next token is allowed behind the last, and ``n`` random tokens that are.

The filter is that of the potential ``CanonicalTokenization``, called as its ``logw_next`` does, which
besides asks it anew for every token of the context.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from importlib import metadata

import numpy as np
from genlm.control.potential.built_in.canonical import FastCanonicalityFilterBPE
from transformers import PreTrainedTokenizerFast

_PACKAGES = ("genlm-control", "genlm-backend", "torch", "numpy", "scipy", "transformers", "tokenizers")


class Worker:
    """The filter for one tokenizer."""

    def __init__(self, path: str, eos: str) -> None:
        tokenizer = PreTrainedTokenizerFast(tokenizer_file=path, eos_token=eos)
        start = time.perf_counter_ns()
        self._filter = FastCanonicalityFilterBPE.from_tokenizer(tokenizer)
        self.build_s = (time.perf_counter_ns() - start) / 1e9
        self._tokens = self._filter._decode

    def time(self, lasts: list[int]) -> dict[str, object]:
        """The mask behind each of these tokens; one more warms up."""
        contexts = [(None, self._tokens[last]) for last in lasts]
        self._filter(contexts[0])
        taken = []
        for context in contexts:
            start = time.perf_counter_ns()
            self._filter(context)
            taken.append(time.perf_counter_ns() - start)
        return {"ns": taken}

    def look(self, lasts: list[int], nexts: list[int], draws: int, seed: int) -> dict[str, object]:
        """What its masks say."""
        rng = np.random.default_rng(seed)
        allowed, drawn = [], []
        for last, following in zip(lasts, nexts, strict=True):
            mask = self._filter((None, self._tokens[last]))
            allowed.append(bool(mask[following]))
            drawn.append(rng.choice(np.flatnonzero(mask), draws).tolist())
        return {"allowed": allowed, "drawn": drawn}


def main() -> None:
    """The program."""
    try:
        worker = Worker(*sys.argv[1:])
    except Exception as error:  # whatever it is, the other side has to know
        print(json.dumps({"error": f"{type(error).__name__}: {error}"}), flush=True)
        return
    versions = {name: metadata.version(name) for name in _PACKAGES}
    ready = {"python": sys.version.split()[0], "versions": versions, "build_s": worker.build_s}
    print(json.dumps(ready), flush=True)
    calls: dict[str, Callable[..., dict[str, object]]] = {"time": worker.time, "look": worker.look}
    for line in sys.stdin:
        request = json.loads(line)
        what = request.pop("do")
        try:
            answer = calls[what](**request)
        except Exception as error:  # as above
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
