"""One process of ``boundaries.py``: the calls for one tokenizer, and how long they take.

It imports nothing but what is measured, so its memory is that of the calls.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tokamata as tk
from benchmarks.guard.real_merges import RealMerges
from benchmarks.guard.windows import Windows
from tests.support.tokenizers.manifest_sources import tokenizer_of
from tokamata import guard
from tokamata.tokenization import MergeGraph, detect_crossing
from tokamata.tokenization.canonical import _pipeline
from tokamata.tokenization.pipelines.pipeline import BytePairs

_AGAIN = 20
_GRAPHS = 3


def measured(mode: str, name: str, file: str, texts: list[str]) -> dict[str, Any]:
    """Times in milliseconds.

    Args:
        mode: one of those of ``boundaries.py``.
        name: of a tokenizer of the tests.
        file: its file, or ``""``.
        texts: the boundaries.
    """
    source: object = file or tokenizer_of(name)
    live = _live(Path(file)) if file and mode != "file" else source
    if mode == "load":
        return {"load": _timed(lambda: tk.Vocabulary.load(live, stop=()))[0]}
    if mode == "Det_3":
        return _detector(tk.Vocabulary.load(live, stop=()), texts)
    calls = [_timed(lambda text=text: guard.boundary(live, text)) for text in texts]
    again = [_timed(lambda: guard.boundary(live, texts[-1]))[0] for _ in range(_AGAIN)]
    verdicts = [[verdict.outcome for verdict in found.verdicts] for _, found in calls]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    cold, *warm = (each for each, _ in calls)
    return {"cold": cold, "warm": warm, "again": again, "verdicts": verdicts, "MB": peak}


def _timed(call: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.perf_counter()
    found = call()
    return 1e3 * (time.perf_counter() - begin), found


def _live(path: Path) -> object:
    """The tokenizer of a file, as an object of its own package."""
    with path.open("rb") as file:
        is_json = file.read(1) == b"{"
    if is_json and "tekken" not in path.name:
        from tokenizers import Tokenizer

        return Tokenizer.from_file(str(path))
    return guard.RunningTokenizer(path).inner


def _detector(vocabulary: Any, texts: list[str]) -> dict[str, Any]:
    """Det_3 of a vocabulary with merges; nothing for others."""
    source = vocabulary.pipeline
    model = _pipeline(source, source.content(), list(vocabulary.tokens)).model
    if not isinstance(model, BytePairs):
        return {}
    build, merges = _timed(lambda: RealMerges(vocabulary, model))
    sort, windows = _timed(lambda: Windows(merges.texts, merges.schedules))
    inside = [found for text in texts if (found := merges.in_characters(text)) is not None]
    checks = [_timed(lambda text=text: windows.least(text))[0] for text in inside]
    graphs, limits = [], set()
    for text in inside[:_GRAPHS]:
        limit = tk.Limits(states=1_000_000, seconds=5)
        took, graph = _timed(
            lambda text=text, limit=limit: MergeGraph(
                merges.characters, merges.merges, 3, merges.ranks, text, limit
            )
        )
        graphs.append(took + detect_crossing(graph, text).milliseconds)
        limits.add(str(graph.limit or "none"))
    return {"build": build + sort, "check": checks, "graph": graphs, "limit": ", ".join(sorted(limits))}


if __name__ == "__main__":
    os.environ |= dict.fromkeys(("RAYON_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    request = json.loads(sys.argv[1])
    print(json.dumps(measured(request["mode"], request["name"], request["file"], request["boundaries"])))
