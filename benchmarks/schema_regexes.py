"""Random regexes of the kind found in schemas: time to first mask and between masks, beside the peers.

    python benchmarks/schema_regexes.py                              # 500 regexes, Gemma 3 and Llama 3.1
    python benchmarks/schema_regexes.py --count 40 --seed 2          # fewer, others

Each engine runs in a process of its own, so that one that takes too long for a regex can be stopped, and
they take turns, some regexes each.  See README.md beside it for what each figure means.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import environment
from child import Child, ChildError
from engine_worker import Answer
from engines import PEERS
from running import Progress, add_output_options, add_sample_options, is_installed, measured, say
from schema_figures import EngineRun, SchemaFigures, VocabularyRun
from schema_patterns import FILE, SchemaPattern, collect, sample
from schema_texts import references
from tokenizer import KNOWN, NoTokenizerError, Tokenizer, add_folder_option, load_known

VOCABULARIES = "gemma-3,llama-3.1"
_PEERS = "llguidance,xgrammar"
_TURN = 25  # regexes of an engine before the next has its turn
_READY_S = 300.0
_WORKER = Path(__file__).with_name("engine_worker.py")


def main() -> int:
    """The program; returns its exit status: 1 where tokamata refuses a text, 2 without data."""
    figures = measured(_measure, _options(), (NoTokenizerError, ChildError, OSError))
    if figures is None:
        return 2
    return int(any(_is_wrong(run) for run in figures.vocabularies))


def _is_wrong(run: VocabularyRun) -> bool:
    """Whether tokamata does not accept a text, whoever made it."""
    return any(answer is not None and bool(answer.wrong) for answer in run.engines["tokamata"].answers)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add_sample_options(
        parser, FILE, "regexes (default 500)", seed="of the sample, and of texts that are made"
    )
    add(
        "--dialect",
        choices=("ecma", "python"),
        default="ecma",
        help="tokamata's: ecma takes patterns as they are, python as the peers get them",
    )
    peers = ", ".join(kind.name for kind in PEERS)
    add("--peers", default=_PEERS, metavar="NAMES", help=f"of {peers} (default {_PEERS})")
    add("--vocabularies", default=VOCABULARIES, metavar="NAMES", help=f"default {VOCABULARIES}")
    add("--timeout", type=float, default=10.0, metavar="S", help="seconds for a regex (default 10)")
    add("--memory", type=float, default=12.0, metavar="GB", help="of an engine (default 12)")
    add_folder_option(parser)
    add_output_options(parser)
    options = parser.parse_args()
    if options.count is None:
        options.count = 500
    if options.count < 1:
        parser.error("--count must be at least 1")
    return options


def _measure(options: argparse.Namespace) -> SchemaFigures:
    if not options.schemas.exists():
        raise FileNotFoundError(f"{options.schemas}: no such file; pass --schemas with MaskBench's schemas")
    found = collect(options.schemas)
    chosen = sample(found, options.count, options.seed)
    facts = environment.describe()
    facts["regexes"] = (
        f"{len(chosen)} of {len(found):,} different ones in {options.schemas.name}, seed {options.seed}; "
        f"tokamata's dialect: {options.dialect}"
    )
    facts["limits"] = f"{options.timeout:g} s for a regex, {options.memory:g} GB for an engine"
    figures = SchemaFigures(facts)
    with tempfile.TemporaryDirectory(prefix="tokamata-benchmark-") as work:
        for name in options.vocabularies.split(","):
            tokenizer = load_known(name.strip(), options.tokenizers, Path(work))
            facts[f"vocabulary, {tokenizer.title}"] = f"{tokenizer.vocabulary!r}, from {tokenizer.origin}"
            figures.vocabularies.append(_vocabulary(name.strip(), tokenizer, chosen, options))
    say("")
    return figures


def _vocabulary(
    name: str, tokenizer: Tokenizer, chosen: list[SchemaPattern], options: argparse.Namespace
) -> VocabularyRun:
    say(f"{tokenizer.title}: making texts for {len(chosen)} regexes")
    made = references(chosen, tokenizer, options.dialect, options.seed)
    run = VocabularyRun(tokenizer.title, tokenizer.vocabulary.width, made)
    requests = [[tokenizer.encode_as_model(text) for text in reference.texts] for reference in made]
    turns = [
        _Turns(engine, name, tokenizer, options)
        for engine in ("tokamata", *(peer.strip() for peer in options.peers.split(",") if peer.strip()))
        if _is_installed(engine)
    ]
    with Progress(tokenizer.title, len(turns) * len(made)) as progress:
        for start in range(0, len(made), _TURN):
            shift = start // _TURN % len(turns)
            for turn in [*turns[shift:], *turns[:shift]]:
                for number in range(start, min(start + _TURN, len(made))):
                    pattern = made[number].pattern_for(turn.engine, options.dialect)
                    turn.measure(number, pattern, requests[number])
                    progress.step(turn.engine)
    for turn in turns:
        turn.close()
        run.engines[turn.engine] = turn.run
    return run


def _is_installed(engine: str) -> bool:
    package = next((kind.package for kind in PEERS if kind.name == engine), engine)
    return is_installed(engine, package.replace("-", "_"))


class _Turns:
    """An engine's process, started again where it has died."""

    def __init__(self, engine: str, known: str, tokenizer: Tokenizer, options: argparse.Namespace) -> None:
        assert known in KNOWN
        self.engine = engine
        self._timeout_s: float = options.timeout
        memory = str(int(options.memory * 1e9))
        self._command = [
            sys.executable, str(_WORKER), engine, known, str(tokenizer.path), options.dialect, memory,
        ]  # fmt: skip
        self._child: Child | None = None
        self.run = EngineRun(0.0)
        self._start()

    def _start(self) -> Child:
        say(f"{self.engine}: starting")
        self._child = Child(self._command, self.engine)
        self.run.clock_ns = self._child.receive(_READY_S)["clock_ns"]
        return self._child

    def measure(self, number: int, pattern: str, texts: list[list[int]]) -> None:
        """Has its turn with one regex."""
        child = self._child or self._start()
        try:
            answer = child.ask({"pattern": pattern, "texts": texts}, self._timeout_s)
            self.run.answers.append(Answer(**answer))
        except ChildError as error:
            child.close()
            self._child = None
            self.run.answers.append(None)
            self.run.failures[number] = str(error)

    def close(self) -> None:
        """Ends the process."""
        if self._child is not None:
            self._child.close()


if __name__ == "__main__":
    sys.exit(main())
