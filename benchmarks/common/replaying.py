"""One engine in a process of its own, which compiles patterns and replays texts, and its side in the program.

An engine that takes too long, or too much memory, cannot be stopped otherwise.  Run as a program, this module
is the engine's process:

    python -m benchmarks.common.replaying ENGINE VOCABULARY TOKENIZER_FILE MEMORY_BYTES warm|cold

It answers lines of JSON on stdin with lines on stdout: first that it is ready, then :class:`Compiled` for
``{"kind": …, "pattern": …}``, and :class:`Replayed` for ``{"texts": [[token, …], …]}`` of the same pattern.
"""

from __future__ import annotations

import gc
import hashlib
import json
import resource
import sys
import tempfile
from argparse import Namespace
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.common.child import Child, ChildError
from benchmarks.common.engines import ENGINES, Engine, RefusedError, Session
from benchmarks.common.masks import bits_of
from benchmarks.common.program import is_installed, progress, say, use_one_thread
from benchmarks.common.timing import clock, clock_cost_ns
from benchmarks.common.tokenizers import KNOWN, Tokenizer, load_file

_TURN = 25  # patterns of an engine before the next one has its turn
_READY_S = 300.0
_AGAIN_BELOW_NS = 50_000_000
_WARM_UP = {
    "schema": ('{"properties": {"a": {"type": "string"}}, "required": ["a"]}', '{"enum": [1, "a"]}'),
    "regex": ("[a-z]+", r"\d{2}", "(a|b)*c"),
    "grammar": ('start: "a" NAME\nNAME: /[a-z]+/', 'start: NUMBER+\nNUMBER: /[0-9]+/\n%ignore " "'),
}


@dataclass
class Compiled:
    """A pattern; times in nanoseconds.

    Attributes:
        compiling: from its text to a matcher, seen for the first time.
        mask: the first mask after that.
        again: both together once more; ``None`` if the first time took over 50 ms, and counts for both.
        preparing: ``compiled.prepare`` after that, where it is called.
        refused: what the engine says if it does not take the pattern.
        first_mask: a digest of the first mask without stop tokens.
        memory_mb: what the process occupies now.
    """

    compiling: int = 0
    mask: int = 0
    again: int | None = None
    preparing: int | None = None
    refused: str | None = None
    first_mask: str = ""
    memory_mb: float = 0.0


@dataclass
class Replayed:
    """The texts of a pattern; times in nanoseconds.

    Attributes:
        advance: each token.
        fill: the mask after each token; the first mask of a text is not among them.
        accepted: whether each text was accepted, all of it.
        problem: what the engine raised, or that it refused a token that its mask allows.
        peak_mb: the most that the process has ever occupied.
    """

    advance: list[int] = field(default_factory=list)
    fill: list[int] = field(default_factory=list)
    accepted: list[bool] = field(default_factory=list)
    problem: str | None = None
    peak_mb: float = 0.0


@dataclass
class Case:
    """A pattern and its texts.

    Attributes:
        name: what reports call it.
        kind: ``"schema"``, ``"regex"`` or ``"grammar"``.
        pattern: what each engine gets, by its name.
        texts: in tokens, by the name of the engine.
    """

    name: str
    kind: str
    pattern: Callable[[str], str]
    texts: Callable[[str], list[list[int]]]


@dataclass
class EngineRun:
    """One engine with all cases, in their order.

    Attributes:
        clock_ns: what reading the clock costs in its process.
        compiled, replayed: ``None`` where there was no answer.
        failures: why not, by number of the case: out of time, or the process died.
    """

    clock_ns: float = 0.0
    compiled: list[Compiled | None] = field(default_factory=list)
    replayed: list[Replayed | None] = field(default_factory=list)
    failures: dict[int, str] = field(default_factory=dict)

    def compiles(self, number: int) -> bool:
        """Whether it took a pattern, within the time."""
        one = self.compiled[number]
        return one is not None and one.refused is None

    def accepts(self, number: int) -> bool:
        """Whether it took a pattern, and accepted all of its texts."""
        one = self.replayed[number]
        return self.compiles(number) and one is not None and one.problem is None and all(one.accepted)

    def samples(self, what: str, among: Collection[int]) -> list[float]:
        """Times in nanoseconds, over some of the cases.

        Args:
            what: ``TTFM`` (from the text of a pattern to its first mask), ``compile``, ``again``,
                ``prepare``, ``TBM`` (from a token to the mask after it), ``commit`` (the token) or ``fill``.
            among: numbers of cases.
        """
        firsts = [one for number in among if (one := self.compiled[number]) and not one.refused]
        texts = [one for number in among if (one := self.replayed[number])]
        found: Any = {
            "TTFM": lambda: (one.compiling + one.mask for one in firsts),
            "compile": lambda: (one.compiling for one in firsts),
            "again": lambda: (one.again or one.compiling + one.mask for one in firsts),
            "prepare": lambda: (one.preparing for one in firsts if one.preparing is not None),
            "TBM": lambda: (sum(step) for one in texts for step in zip(one.advance, one.fill, strict=True)),
            "commit": lambda: (time for one in texts for time in one.advance),
            "fill": lambda: (time for one in texts for time in one.fill),
        }[what]()
        return [max(0.0, time - self.clock_ns) for time in found]

    def peak_mb(self) -> float:
        """The most memory that its processes have occupied."""
        return max((one.peak_mb for one in self.replayed if one is not None), default=0.0)


def common(runs: dict[str, EngineRun], took: Callable[[EngineRun, int], bool]) -> list[int]:
    """Numbers of the cases that every engine took."""
    count = min(len(run.compiled) for run in runs.values())
    return [number for number in range(count) if all(took(run, number) for run in runs.values())]


def run_engines(
    names: Sequence[str], cases: Sequence[Case], vocabulary: str, tokenizer: Tokenizer, options: Namespace
) -> dict[str, EngineRun]:
    """All cases in all engines that are installed; they take turns, some cases each.

    Args:
        names: of :data:`.engines.ENGINES`.
        cases: the patterns.
        vocabulary: the name of the tokenizer.
        tokenizer: that tokenizer.
        options: ``timeout`` and ``replay_timeout`` in seconds, ``memory`` in GB, ``prepare`` in seconds.
    """
    turns = [
        _Turns(name, vocabulary, tokenizer, options) for name in names if is_installed(name, ENGINES[name][0])
    ]
    with progress(tokenizer.title, len(turns) * len(cases)) as step:
        for start in range(0, len(cases), _TURN):
            shift = start // _TURN % len(turns)
            for turn in [*turns[shift:], *turns[:shift]]:
                for number, case in enumerate(cases[start : start + _TURN], start):
                    turn.measure(number, case)
                    step(turn.engine)
    for turn in turns:
        turn.close()
    return {turn.engine: turn.run for turn in turns}


def start_child(
    engine: str,
    vocabulary: str,
    tokenizer: Tokenizer,
    memory_gb: float,
    *,
    cold: bool = False,
    environment: Mapping[str, str] | None = None,
) -> tuple[Child, dict[str, Any]]:
    """A process of an engine, and its first answer; ``cold``: it has compiled nothing yet."""
    command = [sys.executable, "-m", "benchmarks.common.replaying", engine, vocabulary, str(tokenizer.path)]
    command += [str(int(memory_gb * 1e9)), "cold" if cold else "warm"]
    child = Child(command, engine, environment)
    return child, child.receive(_READY_S)


class _Turns:
    """An engine's process, started again after it has died."""

    def __init__(self, engine: str, vocabulary: str, tokenizer: Tokenizer, options: Namespace) -> None:
        self.engine, self.run = engine, EngineRun()
        self._vocabulary, self._tokenizer, self._options = vocabulary, tokenizer, options
        self._child: Child | None = None

    def measure(self, number: int, case: Case) -> None:
        """Has its turn with one case."""
        compiled, replayed = None, None
        try:
            if self._child is None:
                memory = self._options.memory
                self._child, ready = start_child(self.engine, self._vocabulary, self._tokenizer, memory)
                self.run.clock_ns = ready["clock_ns"]
            request = {
                "kind": case.kind,
                "pattern": case.pattern(self.engine),
                "prepare": self._options.prepare,
            }
            compiled = Compiled(**self._child.ask(request, self._options.timeout))
            if compiled.refused is None:
                texts = {"texts": case.texts(self.engine)}
                replayed = Replayed(**self._child.ask(texts, self._options.replay_timeout))
        except ChildError as error:
            self.close()
            self.run.failures[number] = str(error)
            say(f"{self.engine}, {case.name}: {error}")
        self.run.compiled.append(compiled)
        self.run.replayed.append(replayed)

    def close(self) -> None:
        """Ends the process."""
        if self._child is not None:
            self._child.close()
            self._child = None


# ---- the engine's process ---------------------------------------------------------------------


def compile_pattern(
    engine: Engine, tokenizer: Tokenizer, kind: str, pattern: str, prepare: float | None = None
) -> tuple[Session | None, Compiled]:
    """From the text of a pattern to its first mask; with ``prepare``, tokamata then prepares for so long."""
    make = getattr(engine, kind)
    found = Compiled()
    try:
        start = clock()
        session = make(pattern)
        compiled = clock()
        session.fill()
        end = clock()
        found.first_mask = hashlib.sha256(bits_of(engine.row, tokenizer).tobytes()).hexdigest()
        if prepare is not None and hasattr(session, "prepare"):
            begun = clock()
            session.prepare(prepare)
            found.preparing = clock() - begun
        elif kind != "schema" and end - start < _AGAIN_BELOW_NS:
            begun = clock()
            make(pattern).fill()
            found.again = clock() - begun
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
    fill()  # the first mask, which is not one between two tokens
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


def memory_mb() -> float:
    """What the process occupies now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / (1 << 20)


def peak_mb() -> float:
    """The most that the process has ever occupied; ``ru_maxrss`` includes its parent."""
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) / 1024


def main() -> None:
    """The engine's process."""
    name, known, path, memory, warm_up = sys.argv[1:]
    use_one_thread()
    resource.setrlimit(resource.RLIMIT_AS, (int(memory), int(memory)))
    begun = clock()
    with tempfile.TemporaryDirectory(prefix="tokamata-benchmark-") as work:
        tokenizer = load_file(Path(path), KNOWN[known], Path(work))
    loaded = clock()
    tokenizer.vocabulary.core  # noqa: B018  # made here, so that no pattern pays for it
    made = clock()
    engine = ENGINES[name][1](tokenizer)
    is_warm = warm_up == "warm"
    if is_warm:
        for kind, patterns in _WARM_UP.items():
            for pattern in patterns:
                compile_pattern(engine, tokenizer, kind, pattern)
        gc.collect()
        gc.freeze()  # what is loaded now stays, and need not be examined again
        gc.disable()
    times = {
        "load": loaded - begun,
        "trie": made - loaded,
        "clock_ns": clock_cost_ns(),
        "memory_mb": memory_mb(),
    }
    print(json.dumps(times), flush=True)
    session = None
    for count, line in enumerate(sys.stdin):
        request = json.loads(line)
        if "pattern" in request:
            session = None
            session, compiled = compile_pattern(engine, tokenizer, **request)
            compiled.memory_mb = memory_mb()
            print(json.dumps(asdict(compiled)), flush=True)
        else:
            assert session is not None
            replayed = replay(session, engine.row, request["texts"])
            replayed.peak_mb = peak_mb()
            print(json.dumps(asdict(replayed)), flush=True)
        if is_warm and count % _TURN == _TURN - 1:
            gc.collect()


if __name__ == "__main__":
    main()
