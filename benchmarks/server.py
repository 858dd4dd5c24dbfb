"""What a server sees: many different schemas in one process, and processes that have just started.

    python benchmarks/server.py                       # 1,000 schemas, Llama 3.1
    python benchmarks/server.py --quick               # few, to see that it works

Everything runs in processes of its own, with a cache folder of its own.  See README.md beside it for
what each figure means.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import environment
from child import Child, ChildError
from maskbench_cases import FILE, SchemaCase
from running import Progress, add_output_options, add_sample_options, measured, say
from server_cases import draw_cases
from server_figures import FIRST, SECOND, WARM, ServerFigures
from server_worker import Served, Started
from tokenizer import NoTokenizerError, Tokenizer, add_folder_option, load_known

_WORKER = Path(__file__).with_name("server_worker.py")
_READY_S, _ANSWER_S = 300.0, 120.0
_CACHE = "TOKAMATA_CACHE"


def main() -> int:
    """The program; returns its exit status: 2 where it cannot run."""
    reasons = (NoTokenizerError, ChildError, OSError)
    return 2 if measured(_measure, _options(), reasons, "server_plot") is None else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--quick", action="store_true", help="few schemas, to see that it works")
    add_sample_options(
        parser, FILE, "schemas one after another (default 1000, quick 40)", seed="of the sample"
    )
    add("--probes", type=int, metavar="N", help="of these, in processes of their own (default 40, quick 3)")
    add("--plot", type=Path, metavar="FILE", help="draw times and memory (.svg, .png)")
    add_folder_option(parser)
    add_output_options(parser)
    options = parser.parse_args()
    options.count = options.count or (40 if options.quick else 1000)
    options.probes = options.probes or (3 if options.quick else 40)
    return options


def _measure(options: argparse.Namespace) -> ServerFigures:
    maskbench: Path | None = options.schemas
    if maskbench is not None and not maskbench.exists():
        say(f"{maskbench}: no such file; the schemas of the tests, and random ones, are taken alone")
        maskbench = None
    facts = environment.describe()
    with tempfile.TemporaryDirectory(prefix="tokamata-benchmark-") as work:
        tokenizer = load_known("llama-3.1", options.tokenizers, Path(work))
        cases = draw_cases(maskbench, options.count, options.seed, tokenizer)
        facts["schemas"] = (
            f"{len(cases):,}, seed {options.seed}: {maskbench.name + ', ' if maskbench else ''}"
            "those of the tests, random ones"
        )
        facts["vocabulary"] = f"{tokenizer.vocabulary!r}, from {tokenizer.origin}"
        return _run(facts, cases, options.probes, tokenizer, Path(work))


def _run(
    facts: dict[str, str], cases: list[SchemaCase], probes: int, tokenizer: Tokenizer, work: Path
) -> ServerFigures:
    figures = ServerFigures(facts)
    shared = work / "kept"
    with Progress("server", len(cases) + 3 * probes) as progress:
        with _Server(tokenizer, shared) as server:
            for case in cases:
                figures.served.append(server.serve(case))
                progress.step(case.name)
            figures.kept_mb = sum(file.stat().st_size for file in shared.rglob("*.part")) / (1 << 20)
            taken = (case for case, one in zip(cases, figures.served, strict=True) if one.masks)
            chosen = [case for case, _ in zip(taken, range(probes), strict=False)]
            figures.probes[WARM] = _asked(server, chosen, progress)
        for number, case in enumerate(chosen):
            for kind, folder in ((FIRST, work / f"empty-{number}"), (SECOND, shared)):
                with _Server(tokenizer, folder) as server:
                    figures.started.setdefault(kind, []).append(server.started)
                    figures.probes.setdefault(kind, []).extend(_asked(server, [case], progress))
    return figures


def _asked(server: _Server, cases: Sequence[SchemaCase], progress: Progress) -> list[Served]:
    found = []
    for case in cases:
        found.append(server.serve(case))
        progress.step(case.name)
    return found


class _Server:
    """A process, with what is kept on disk in a folder."""

    def __init__(self, tokenizer: Tokenizer, folder: Path) -> None:
        # The child gets the environment of this process, which keeps nothing itself any more.
        os.environ[_CACHE] = str(folder)
        self._child = Child([sys.executable, str(_WORKER), str(tokenizer.path)], "server")
        self.started = Started(**self._child.receive(_READY_S))

    def serve(self, case: SchemaCase) -> Served:
        """One schema, and its instance."""
        return Served(**self._child.ask({"schema": case.text, "texts": case.ordered}, _ANSWER_S))

    def __enter__(self) -> _Server:
        return self

    def __exit__(self, *_: object) -> None:
        self._child.close()


if __name__ == "__main__":
    sys.exit(main())
