"""A server in a process of its own: the child of ``server.py``.

    python server_worker.py TOKENIZER_FILE

Says first how long loading took (:class:`Started`), then answers lines of JSON on stdin with lines on stdout:
for ``{"schema": text, "texts": [[t, …], …]}`` what :class:`Served` has.  Nothing is warmed up.
"""

from __future__ import annotations

import json
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from maskbench_worker import compile_schema, memory_mb, replay
from running import use_one_thread
from schema_engines import TokamataSchemas
from timing import clock, clock_cost_ns
from tokenizer import KNOWN, load_file


@dataclass
class Started:
    """Loading; times in nanoseconds.

    Attributes:
        load: reading the tokenizer's file.
        trie: the engine's form of the vocabulary, and looking for what is kept on disk.
        clock_ns: what reading the clock costs.
        memory_mb: what the process occupies before the first schema.
    """

    load: int
    trie: int
    clock_ns: float
    memory_mb: float


@dataclass
class Served:
    """A schema and its instance; times in nanoseconds.

    Attributes:
        first_mask: from the schema's text to the first mask; ``None`` where the schema is refused.
        masks: how many followed.
        all_masks: how long they took.
        slowest: how long the slowest of them took.
        memory_mb: what the process occupies behind it.
    """

    first_mask: int | None
    masks: int
    all_masks: int
    slowest: int
    memory_mb: float


def main() -> None:
    """The program."""
    use_one_thread()
    with tempfile.TemporaryDirectory(prefix="tokamata-benchmark-") as work:
        start = clock()
        tokenizer = load_file(Path(sys.argv[1]), KNOWN["llama-3.1"], Path(work))
        loaded = clock()
        tokenizer.vocabulary.core  # noqa: B018  # made when it is asked for
        made = clock()
    engine = TokamataSchemas.of(tokenizer)
    started = Started(loaded - start, made - loaded, clock_cost_ns(), memory_mb())
    print(json.dumps(asdict(started)), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(asdict(_served(engine, request["schema"], request["texts"]))), flush=True)


def _served(engine: TokamataSchemas, schema: str, texts: list[list[int]]) -> Served:
    session, compiled = compile_schema(engine, schema)
    if session is None or compiled.compiling is None or compiled.mask is None:
        return Served(None, 0, 0, 0, memory_mb())
    fill = replay(session, engine.row, texts).fill
    del session  # all of it is given up
    return Served(compiled.compiling + compiled.mask, len(fill), sum(fill), max(fill, default=0), memory_mb())


if __name__ == "__main__":
    main()
