"""Every engine audited by MaskBench's schemas: errors that `jsonschema-rs`, or the masks themselves, prove.

python -m benchmarks.audit --records audit.jsonl                 # all schemas, all engines; hours
python -m benchmarks.audit --records audit.jsonl --count 600     # the first 600 of the seed's order
python -m benchmarks.audit --records audit.jsonl --only-report   # the tables of what is recorded

Each pair of an engine and a schema is recorded as a line once it is done, and skipped where it is recorded.
So a run can be stopped and continued, and several runs may write one file, each with other ``--engines``.
"""

from __future__ import annotations

import json
import lzma
import os
import random
import sys
from argparse import Namespace
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

from benchmarks.audit.tables import report_of
from benchmarks.common import environment
from benchmarks.common.program import add_engines, is_installed, parser_for, progress, run, say
from benchmarks.common.report import Report
from benchmarks.common.tokenizers import load_known
from tokamata.audit.apart import Apart
from tokamata.audit.auditing import Auditor, Instance
from tokamata.audit.engines import ENGINES, TokamataInAnyStyle
from tokamata.audit.judging import Judge
from tokamata.audit.sides import Bounds, Side
from tokamata.vocabulary import Vocabulary

_ENGINES = "tokamata;llguidance;glrmask;xgrammar;outlines-core"
# Whom a candidate is compared with.  tokamata's reference is a peer, so that it is not its own judge.
_PEER = "llguidance"
_TURN = 10  # schemas of an engine before the next one has its turn
_MOST_SHOWN = 2000  # bytes of a text that are recorded


def main() -> int:
    """The program; its exit status is 1 if an error of tokamata was found."""
    parser = parser_for(__doc__)
    add = parser.add_argument
    add(
        "--records", type=Path, required=True, metavar="FILE", help="where results are appended, line by line"
    )
    add_engines(parser, ENGINES, _ENGINES)
    add("--rounds", type=int, default=3, metavar="N", help="texts that each engine writes by each schema (3)")
    add("--seconds", type=float, default=20.0, metavar="S", help="for each schema and engine, at most (20)")
    add("--timeout", type=float, default=10.0, metavar="S", help="processor time for compiling (10)")
    add("--only-report", action="store_true", help="run nothing")
    return run(measure, parser.parse_args())


def measure(options: Namespace, work: Path) -> Report:
    """Audit what is not recorded yet, and report all that is."""
    cases = _cases(options.schemas, options.seed)
    total = len(cases)
    cases = cases[: options.count or (10 if options.quick else total)]
    if not options.only_report:
        tokenizer = load_known("llama-3.1", options.tokenizers, work)
        names = [
            name
            for name in options.engines
            if all(is_installed(name, module) for module in ENGINES[name].needs)
        ]
        _Audits(names, tokenizer.vocabulary, options).run(cases)
    facts = environment.describe("each engine in a process of its own")
    facts["schemas"] = (
        f"{options.schemas.name}, {total:,} schemas, in an order drawn with seed {options.seed}"
    )
    facts["bounds"] = (
        f"by each schema, its instances and {options.rounds} texts of each engine, "
        f"within {options.seconds:g} s; {options.timeout:g} s of processor time for compiling"
    )
    facts["vocabulary"] = "Llama 3.1"
    facts["judge"] = f"jsonschema-rs {metadata.version('jsonschema-rs')}"
    ids = {case["id"] for case in cases}
    return report_of(facts, [one for one in _recorded(options.records) if one["id"] in ids])


def _cases(path: Path, seed: int) -> list[dict[str, Any]]:
    """All schemas, in an order that depends on the seed alone: a smaller count is a part of a larger one."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    random.Random(seed).shuffle(found)
    return found


def _recorded(path: Path) -> Iterator[dict[str, Any]]:
    if not path.exists():
        return
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.endswith("\n"):  # a run that was ended may have left half a line
                yield json.loads(line)


class _Audits:
    """The engines in turns, some schemas each: all have had the same ones wherever a run is stopped."""

    def __init__(self, names: list[str], vocabulary: Vocabulary, options: Namespace) -> None:
        self._options = options
        self._bounds = Bounds(options.seconds, options.timeout, enough=3, rounds=options.rounds)
        judge = Apart(Judge)
        references: dict[str, Side] = {}
        self._auditors: dict[str, Auditor] = {}
        self._peers: dict[str, str] = {}
        for name in names:
            is_ours = name == "tokamata"
            self._peers[name] = peer = _PEER if is_ours and is_installed(_PEER, _PEER) else ""
            if peer not in references:
                other = ENGINES[peer].make if peer else TokamataInAnyStyle
                references[peer] = Side.apart(peer or "tokamata in any style", other, vocabulary)
            candidate = Side.apart(name, ENGINES[name].make, vocabulary)
            self._auditors[name] = Auditor(candidate, references[peer], judge, vocabulary, options.seed)

    def run(self, cases: list[dict[str, Any]]) -> None:
        """Audit what is not recorded yet."""
        done = {(one["engine"], one["id"]) for one in _recorded(self._options.records)}
        left = sum((name, case["id"]) not in done for name in self._auditors for case in cases)
        try:
            with progress("audits", left) as step:
                for start in range(0, len(cases), _TURN):
                    for name, auditor in self._auditors.items():
                        for case in cases[start : start + _TURN]:
                            if (name, case["id"]) not in done:
                                self._audit(name, auditor, case)
                                step(name)
        finally:
            for auditor in self._auditors.values():
                auditor.close()

    def _audit(self, name: str, auditor: Auditor, case: dict[str, Any]) -> None:
        schema = json.dumps(case["schema"], ensure_ascii=False)
        instances = [Instance(test["data"], test["valid"]) for test in case["tests"]]
        audit = auditor.audit(schema, self._bounds, instances)
        if audit.is_interrupted:
            raise KeyboardInterrupt
        _record(self._options.records, {"id": case["id"], **_clipped(audit.as_json())})
        peer = self._peers[name]
        ours = audit.findings if name == "tokamata" else audit.reference_findings
        for found in ours if peer or name != "tokamata" else ():
            said = f"{found.kind.value}: {found.witness[:200]!r}: {found.reason}"
            say(f"tokamata, {case['id']}, beside {peer or name}: {said}")


def _clipped(value: Any) -> Any:
    if isinstance(value, str):
        return value[:_MOST_SHOWN]
    if isinstance(value, list):
        return [_clipped(one) for one in value]
    return {key: _clipped(one) for key, one in value.items()} if isinstance(value, dict) else value


def _record(path: Path, line: dict[str, Any]) -> None:
    """One write to the end of the file, so that lines of several runs do not mix."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(descriptor, (json.dumps(line) + "\n").encode())
    finally:
        os.close(descriptor)


if __name__ == "__main__":
    sys.exit(main())
