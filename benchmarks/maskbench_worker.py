"""One engine in a process of its own, which replays instances of JSON Schemas: the child of ``maskbench.py``.

    python maskbench_worker.py ENGINE VOCABULARY TOKENIZER_FILE MEMORY_BYTES [PREPARE_SECONDS]

Answers lines of JSON on stdin with lines on stdout: first one that says that it is ready, then for
``{"schema": text}`` what :class:`Compiled` has, and for ``{"texts": [[t, …], …]}``, of the same schema,
what :class:`Replayed` has.  The process may be ended at any time.
"""

from __future__ import annotations

import gc
import json
import resource
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from engines import Engine, RefusedError, Session
from running import use_one_thread
from schema_engines import ENGINES
from timing import clock, clock_cost_ns
from tokenizer import KNOWN, load_file

WARM_UP = (
    '{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}',
    '{"enum": [1, "a"]}',
)
_COLLECT_EVERY = 25


@dataclass
class Compiled:
    """A schema; times in nanoseconds.

    Attributes:
        compiling: from its text to a matcher.
        mask: the first mask after that.
        preparing: ``compiled.prepare`` after that, where it is called.
        refused: what the engine says where it does not take it.
        memory_mb: what the process occupies now.
        peak_mb: the most it has ever occupied.
    """

    compiling: int | None = None
    mask: int | None = None
    preparing: int | None = None
    refused: str | None = None
    memory_mb: float = 0.0
    peak_mb: float = 0.0


@dataclass
class Replayed:
    """The instances; times in nanoseconds.

    Attributes:
        fill: the mask after each token; the first mask of a text is not among them.
        advance: each token.
        accepted: whether each instance was accepted, all of it.
        problem: what the engine raised, or that it refused a token that its mask allows.
        peak_mb: the most that the process has ever occupied.
    """

    fill: list[int] = field(default_factory=list)
    advance: list[int] = field(default_factory=list)
    accepted: list[bool] = field(default_factory=list)
    problem: str | None = None
    peak_mb: float = 0.0


def compile_schema(
    engine: Engine, schema: str, prepare_s: float | None = None
) -> tuple[Session | None, Compiled]:
    """From a schema's text to the first mask; with ``prepare_s``, tokamata then prepares for so long."""
    found = Compiled()
    start = clock()
    try:
        session = engine.compile(schema)
        compiled = clock()
        session.fill()
        end = clock()
        if prepare_s is not None and hasattr(session, "prepare"):
            session.prepare(prepare_s)
            found.preparing = clock() - end
    except (RefusedError, RuntimeError, ValueError, TypeError, MemoryError) as error:
        found.refused = " ".join(str(error).split())[:300] or type(error).__name__
        return None, found
    found.compiling, found.mask = compiled - start, end - compiled
    return session, found


def replay(session: Session, row: Any, texts: list[list[int]]) -> Replayed:
    """Each text from the start, until its end or a token that the mask does not have."""
    found = Replayed()
    for tokens in texts:
        session.restart()
        try:
            found.accepted.append(_walk(session, row, tokens, found))
        except (RuntimeError, ValueError, MemoryError) as error:
            found.accepted.append(False)
            found.problem = " ".join(str(error).split())[:300] or type(error).__name__
    return found


def _walk(session: Session, row: Any, tokens: list[int], found: Replayed) -> bool:
    fill, advance = session.fill, session.advance
    fill()  # the first mask, which is not one between two
    for token in tokens:
        if not row[token >> 5] >> (token & 31) & 1:
            return False
        start = clock()
        taken = advance(token)
        advanced = clock()
        fill()
        end = clock()
        if taken is False:
            found.problem = f"token {token} is in the mask, and refused"
            return False
        found.advance.append(advanced - start)
        found.fill.append(end - advanced)
    return session.is_accepting()


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def memory_mb() -> float:
    """What the process occupies now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / (1 << 20)


def main() -> None:
    """The program."""
    name, known, path, memory, *prepare = sys.argv[1:]
    prepare_s = float(prepare[0]) if prepare else None
    use_one_thread()
    resource.setrlimit(resource.RLIMIT_AS, (int(memory), int(memory)))
    with tempfile.TemporaryDirectory(prefix="tokamata-benchmark-") as work:
        tokenizer = load_file(Path(path), KNOWN[known], Path(work))
    tokenizer.vocabulary.core  # noqa: B018  # made here, so that no schema pays for it
    engine = ENGINES[name][1](tokenizer)
    for schema in WARM_UP:
        session, _ = compile_schema(engine, schema)
    gc.collect()
    gc.freeze()  # what is loaded now stays, and need not be looked at again
    gc.disable()
    print(json.dumps({"ready": True, "clock_ns": clock_cost_ns()}), flush=True)
    session = None
    for count, line in enumerate(sys.stdin):
        request = json.loads(line)
        if "schema" in request:
            session = None
            session, compiled = compile_schema(engine, request["schema"], prepare_s)
            compiled.memory_mb, compiled.peak_mb = memory_mb(), _peak_mb()
            print(json.dumps(asdict(compiled)), flush=True)
        else:
            assert session is not None
            replayed = replay(session, engine.row, request["texts"])
            replayed.peak_mb = _peak_mb()
            print(json.dumps(asdict(replayed)), flush=True)
        if count % _COLLECT_EVERY == _COLLECT_EVERY - 1:
            gc.collect()


if __name__ == "__main__":
    main()
