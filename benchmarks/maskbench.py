"""MaskBench: JSON Schemas from schema to first mask and between masks, beside the peers.

    python benchmarks/maskbench.py                                   # 600 schemas, Llama 3.1
    python benchmarks/maskbench.py --quick                           # few, to see that it works

Each engine runs in a process of its own, so that one that takes too long for a schema can be stopped, and
they take turns, some schemas each.  See README.md beside it for what each figure means.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import environment
from child import Child, ChildError
from maskbench_cases import FILE, SchemaCase, load
from maskbench_figures import EngineRun, MaskBenchFigures
from maskbench_worker import Compiled, Replayed
from running import Progress, add_output_options, add_sample_options, is_installed, measured, say
from schema_engines import ANY_ORDER, CANONICAL_ANY_ORDER, ENGINES, TOKAMATA
from tokenizer import NoTokenizerError, Tokenizer, add_folder_option, load_known

import tokamata as tk

_ENGINES = "tokamata;tokamata, any order;tokamata, canonical, any order;llguidance;glrmask"
_TURN = 25  # schemas of an engine before the next has its turn
_READY_S = 300.0
_WORKER = Path(__file__).with_name("maskbench_worker.py")


def main() -> int:
    """The program; returns its exit status: 1 where tokamata accepts what is invalid, 2 without data."""
    figures = measured(_measure, _options(), (NoTokenizerError, ChildError, OSError), "maskbench_plot")
    if figures is None:
        return 2
    ours = [figures.engines[name] for name in (TOKAMATA, ANY_ORDER) if name in figures.engines]
    return int(any(run.outcomes(figures.cases, set())["false accepts"] for run in ours))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--quick", action="store_true", help="few schemas, to see that it works")
    add_sample_options(parser, FILE, "schemas (default 600, quick 20)", seed="of the sample")
    add("--engines", default=_ENGINES, metavar="NAMES", help=f"parted by semicolons (default {_ENGINES})")
    add(
        "--timeout", type=float, default=10.0, metavar="S", help="seconds for a schema to its first mask (10)"
    )
    add("--replay-timeout", type=float, default=60.0, metavar="S", help="seconds for its instances (60)")
    add("--memory", type=float, default=16.0, metavar="GB", help="of an engine (default 16)")
    add(
        "--prepare",
        type=float,
        metavar="S",
        help="tokamata: compiled.prepare(seconds=S) after the first mask",
    )
    add("--plot", type=Path, metavar="FILE", help="draw the times (.svg, .png)")
    add_folder_option(parser)
    add_output_options(parser)
    options = parser.parse_args()
    options.count = options.count or (20 if options.quick else 600)
    unknown = [name for name in _names(options) if name not in ENGINES]
    if unknown:
        parser.error(f"no engine is called {unknown[0]!r}; known are {'; '.join(ENGINES)}")
    return options


def _names(options: argparse.Namespace) -> list[str]:
    return [name.strip() for name in options.engines.split(";") if name.strip()]


def _measure(options: argparse.Namespace) -> MaskBenchFigures:
    if not options.schemas.exists():
        raise FileNotFoundError(f"{options.schemas}: no such file; pass --schemas with MaskBench's schemas")
    facts = environment.describe()
    facts["limits"] = (
        f"{options.timeout:g} s to the first mask, {options.replay_timeout:g} s for the instances, "
        f"{options.memory:g} GB for an engine"
    )
    with tempfile.TemporaryDirectory(prefix="tokamata-benchmark-") as work:
        tokenizer = load_known("llama-3.1", options.tokenizers, Path(work))
        cases = load(options.schemas, options.count, options.seed, tokenizer)
        instances = sum(len(case.texts) for case in cases)
        facts["schemas"] = (
            f"{len(cases)} of {options.schemas.name}, seed {options.seed}; {instances:,} instances"
        )
        if options.prepare is not None:
            facts["prepared"] = f"tokamata, for at most {options.prepare:g} s after the first mask"
        facts["vocabulary"] = f"{tokenizer.vocabulary!r}, from {tokenizer.origin}"
        figures = MaskBenchFigures(facts, cases)
        installed = [name for name in _names(options) if is_installed(name, ENGINES[name][0])]
        turns = [Turns(name, tokenizer, options) for name in installed]
        with Progress("MaskBench", len(turns) * len(cases)) as progress:
            for start in range(0, len(cases), _TURN):
                shift = start // _TURN % len(turns)
                for turn in [*turns[shift:], *turns[:shift]]:
                    for number in range(start, min(start + _TURN, len(cases))):
                        turn.measure(number, cases[number])
                        progress.step(turn.engine)
        for turn in turns:
            turn.close()
            figures.engines[turn.engine] = turn.run
            if _is_ordered(turn.engine):
                turn.run.refused_order = _refused_order(turn.run, cases, tokenizer.vocabulary)
    say("")
    return figures


def _is_ordered(engine: str) -> bool:
    """Whether it takes members in the order of the schema alone."""
    return engine.startswith("tokamata") and engine not in (ANY_ORDER, CANONICAL_ANY_ORDER)


def _refused_order(
    run: EngineRun, cases: list[SchemaCase], vocabulary: tk.Vocabulary
) -> set[tuple[int, int]]:
    """The valid instances that it refuses, and tokamata accepts in any order: by schema and instance.

    The data are in the order of a peer.  Only these instances are read again, so that the report does not
    depend on which engines run.
    """
    found = set()
    for number, (case, replayed) in enumerate(zip(cases, run.replayed, strict=True)):
        if replayed is None or replayed.problem is not None:
            continue
        for index, accepted in enumerate(replayed.accepted):
            if case.valid[index] and not accepted and _accepts_in_any_order(case, index, vocabulary):
                found.add((number, index))
    return found


def _accepts_in_any_order(case: SchemaCase, index: int, vocabulary: tk.Vocabulary) -> bool:
    try:
        matcher = tk.json_schema(case.text, property_order="any").compile(vocabulary).matcher()
        return all(matcher.advance(token) for token in case.texts[index]) and matcher.is_accepting
    except tk.TokamataError:
        return False


class Turns:
    """An engine's process, started again where it has died."""

    def __init__(self, engine: str, tokenizer: Tokenizer, options: argparse.Namespace) -> None:
        self.engine = engine
        self._timeout_s: float = options.timeout
        self._replay_s: float = options.replay_timeout
        memory = str(int(options.memory * 1e9))
        self._command = [sys.executable, str(_WORKER), engine, "llama-3.1", str(tokenizer.path), memory]
        if options.prepare is not None:
            self._command.append(str(options.prepare))
        self._child: Child | None = None
        self.run = EngineRun()

    def _start(self) -> Child:
        say(f"{self.engine}: starting")
        self._child = Child(self._command, self.engine)
        self.run.clock_ns = self._child.receive(_READY_S)["clock_ns"]
        return self._child

    def measure(self, number: int, case: SchemaCase) -> None:
        """Has its turn with one schema."""
        texts = case.ordered if _is_ordered(self.engine) else case.texts
        compiled, replayed = None, None
        child = self._child or self._start()
        try:
            compiled = Compiled(**child.ask({"schema": case.text}, self._timeout_s))
            if compiled.refused is None:
                replayed = Replayed(**child.ask({"texts": texts}, self._replay_s))
        except ChildError as error:
            child.close()
            self._child = None
            self.run.failures[number] = str(error)
        self.run.compiled.append(compiled)
        self.run.replayed.append(replayed)

    def close(self) -> None:
        """Ends the process."""
        if self._child is not None:
            self._child.close()


if __name__ == "__main__":
    sys.exit(main())
