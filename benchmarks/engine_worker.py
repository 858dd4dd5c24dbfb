"""One engine in a process of its own: a regex, the time to its first mask, and the times between masks.

    python engine_worker.py ENGINE TOKENIZER_NAME TOKENIZER_FILE DIALECT MEMORY_BYTES

Answers lines of JSON on stdin with lines on stdout: first one that says that it is ready, then for
``{"pattern": p, "texts": [[t, …], …]}`` what ``Answer`` has.  The process may be ended at any time: an engine
that takes too long for a regex cannot be stopped otherwise.
"""

from __future__ import annotations

import gc
import hashlib
import json
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path

from agreement import bits_of
from engines import Engine, RefusedError, Session, start_engine
from running import use_one_thread
from timing import clock, clock_cost_ns
from tokenizer import KNOWN, Tokenizer, load_file

WARM_UP = ("[a-z]+", r"\d{2}", "(a|b)*c")
_COLLECT_EVERY = 25
_AGAIN_BELOW_NS = 50_000_000


@dataclass
class Answer:
    """What became of a regex; times in nanoseconds.

    Attributes:
        compiling: pattern text to matcher, seen for the first time.
        mask: the first mask after that.
        again: both together, a second time right after; ``None`` where the first took over 50 ms.
        advance: of each token of the texts, one after another.
        fill: the mask after each of them.
        refused: what the engine says where it does not take the pattern.
        wrong: numbers of the texts that it does not accept.
        first_mask: a digest of the first mask, stop tokens left out.
    """

    compiling: int | None = None
    mask: int | None = None
    again: int | None = None
    advance: list[int] = field(default_factory=list)
    fill: list[int] = field(default_factory=list)
    refused: str | None = None
    wrong: list[int] = field(default_factory=list)
    first_mask: str | None = None


def measure(engine: Engine, tokenizer: Tokenizer, pattern: str, texts: list[list[int]]) -> Answer:
    """One regex.  Texts share what is learned of its states, as the requests of a server do."""
    answer = Answer()
    start = clock()
    try:
        session = engine.compile(pattern)
        compiled = clock()
        session.fill()
        end = clock()
    except (RefusedError, RuntimeError, ValueError) as error:
        answer.refused = " ".join(str(error).split())[:300] or type(error).__name__
        return answer
    answer.compiling, answer.mask = compiled - start, end - compiled
    answer.first_mask = hashlib.sha256(bits_of(engine.row, tokenizer).tobytes()).hexdigest()
    for number, tokens in enumerate(texts):
        session.restart()
        if not _walk(session, tokens, answer):
            answer.wrong.append(number)
    if end - start < _AGAIN_BELOW_NS:
        del session
        start = clock()
        session = engine.compile(pattern)
        session.fill()
        answer.again = clock() - start
    return answer


def _walk(session: Session, tokens: list[int], answer: Answer) -> bool:
    """Follows a text; returns whether it was accepted."""
    session.fill()  # the first mask, which is not one between two
    fill, advance = session.fill, session.advance
    for token in tokens:
        try:
            start = clock()
            taken = advance(token)
            advanced = clock()
            fill()
            end = clock()
        except (RuntimeError, ValueError):
            return False
        if taken is False:
            return False
        answer.advance.append(advanced - start)
        answer.fill.append(end - advanced)
    return session.is_accepting()


def _limit_memory(most_bytes: int) -> None:
    """So that a pattern that explodes ends this process, and not the machine."""
    try:
        import resource
    except ImportError:
        return  # this system has no such limit
    resource.setrlimit(resource.RLIMIT_AS, (most_bytes, most_bytes))


def main() -> None:
    """The program."""
    name, known, path, dialect, memory = sys.argv[1:]
    use_one_thread()
    _limit_memory(int(memory))
    with tempfile.TemporaryDirectory(prefix="tokamata-benchmark-") as work:
        tokenizer = load_file(Path(path), KNOWN[known], Path(work))
    tokenizer.vocabulary.core  # noqa: B018  # made here, so that no regex pays for it
    engine = start_engine(name, tokenizer, "ecma" if dialect == "ecma" else "python")
    for pattern in WARM_UP:
        measure(engine, tokenizer, pattern, [])
    gc.collect()
    gc.freeze()  # what is loaded now stays, and need not be looked at again
    gc.disable()
    print(json.dumps({"ready": True, "clock_ns": clock_cost_ns()}), flush=True)
    for count, line in enumerate(sys.stdin):
        answer = measure(engine, tokenizer, **json.loads(line))
        print(json.dumps(asdict(answer)), flush=True)
        if count % _COLLECT_EVERY == _COLLECT_EVERY - 1:
            gc.collect()


if __name__ == "__main__":
    main()
