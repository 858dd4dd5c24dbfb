"""tokamata, guidance and xgrammar inside vLLM, on schemas that the engine has not seen; Gemma 3 270M.

    make bench-vllm                                   # everything, under ten minutes
    .venv/bin/python -m benchmarks.vllm --quick       # a few schemas of each

Each back end has an engine in a process of its own.  The engines take turns; meanwhile the others sleep.
"""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.common import environment
from benchmarks.common.child import Child, ChildError
from benchmarks.common.program import parser_for, progress, run, say
from benchmarks.common.report import Report
from benchmarks.vllm.cases import Case, draw_cases
from benchmarks.vllm.tables import add_tables
from benchmarks.vllm.worker import BACKENDS, CONTEXT, MOST_AT_ONCE
from tests.support.paths import ROOT
from tokamata.demo import default_model_folder

_ENVIRONMENT = ROOT / "build/environments/vllm"
_WORKER = Path(__file__).with_name("worker.py")
_READY_S = 400.0
_ANSWER_S = 400.0
_DRAFTED = 3  # tokens


@dataclass
class Written:
    """What a back end has written.

    Attributes:
        backend: its name.
        batch: how many requests ran at once.
        drafted: whether with drafts.
        cases: the schemas.
        answer: of the worker, for them.
    """

    backend: str
    batch: int
    drafted: bool
    cases: list[Case]
    answer: dict[str, Any] = field(repr=False)


def main() -> int:
    """The program."""
    parser = parser_for(__doc__)
    add = parser.add_argument
    add("--backends", default=",".join(BACKENDS), metavar="NAMES", help="which, separated by commas")
    add("--most", type=int, default=96, metavar="N", help="the largest number of tokens of a text")
    add("--environment", type=Path, default=_ENVIRONMENT, metavar="FOLDER", help="with vLLM")
    return run(measure, parser.parse_args())


def measure(options: Namespace, work: Path) -> Report:
    """Batches of one and of eight, without drafts and with them."""
    maskbench: Path | None = options.schemas
    if maskbench is not None and not maskbench.exists():
        say(f"{maskbench}: no such file; the schemas of the tests are taken")
        maskbench = None
    count = options.count or (6 if options.quick else 24)
    cases = draw_cases(maskbench, count, options.seed)
    names = options.backends.split(",")
    alone = cases[: max(len(cases) // 3, 1)]
    groups = [[case] for case in alone]
    others = cases[len(alone) :]
    groups += [others[i : i + MOST_AT_ONCE] for i in range(0, len(others), MOST_AT_ONCE)]
    facts = environment.describe(threads="each engine uses them all")
    facts["schemas"] = f"{len(cases)}, seed {options.seed}, {maskbench.name if maskbench else 'of the tests'}"
    facts["texts"] = f"Gemma 3 270M, bfloat16, greedy, at most {options.most} tokens; context {CONTEXT}"
    written: list[Written] = []
    with progress("vllm", 2 * len(groups) * len(names)) as step:
        for drafted in (0, _DRAFTED):
            engines, versions = _started(names, drafted, options.environment)
            facts["packages of vLLM"] = versions
            try:
                for turn, group in enumerate(groups):
                    for place in range(len(names)):
                        name = names[(turn + place) % len(names)]
                        written.append(_write(engines[name], name, group, bool(drafted), options.most))
                        step(name)
            finally:
                for engine in engines.values():
                    engine.close()
    report = Report(facts)
    add_tables(report, written)
    return report


def _started(names: list[str], drafted: int, folder: Path) -> tuple[dict[str, Child], str]:
    """An engine for each back end, and the versions of what they run on."""
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    if not python.exists():
        raise ChildError(f"{python}: no such file; run make bench-vllm, which makes the environment of vLLM")
    say(f"starting {len(names)} engines, {'with' if drafted else 'without'} drafts")
    kept = {
        name: value for name, value in os.environ.items() if name not in ("OMP_NUM_THREADS", "PYTHONPATH")
    }
    model = str(default_model_folder())
    engines: dict[str, Child] = {}
    try:
        for name in names:
            engines[name] = Child([str(python), str(_WORKER), model, name, str(drafted)], name, kept)
        ready = [engine.receive(_READY_S) for engine in engines.values()]
    except BaseException:
        for engine in engines.values():
            engine.close()
        raise
    versions = ready[0]["versions"]
    return engines, ", ".join(f"{name} {version}" for name, version in versions.items())


def _write(engine: Child, name: str, group: list[Case], drafted: bool, most: int) -> Written:
    requests = [{"schema": case.schema, "prompt": case.prompt, "most": most} for case in group]
    answer = engine.ask({"requests": requests}, _ANSWER_S)
    return Written(name, len(group), drafted, group, answer)


if __name__ == "__main__":
    sys.exit(main())
