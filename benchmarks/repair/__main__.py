"""Repairs of broken texts: how often what was meant comes back, how soon, and proven, beside the peers.

python -m benchmarks.repair --jsonrepair FOLDER    # where `npm install jsonrepair@3.15.0` was run
python -m benchmarks.repair --quick

JSON texts are instances of MaskBench with mistakes (corruptions.py) from the half of the schemas on which
costs were not tuned, texts of Gemma 3 270M for schemas, the cases of the peers' own tests, and texts by kind
of mistake (kind_rows.py).  Programs are made by a seed (programs.py).
"""

from __future__ import annotations

import sys
from argparse import Namespace
from importlib.metadata import version
from pathlib import Path

from benchmarks.common import environment
from benchmarks.common.program import parser_for, run
from benchmarks.common.report import Report, ranks
from benchmarks.repair.compat_rows import add_compat, add_streams
from benchmarks.repair.corruption_rows import add_corruptions
from benchmarks.repair.engines import OURS, Answer, Engine, node_peer, ours, python_peer
from benchmarks.repair.instances import load
from benchmarks.repair.kept_rows import add_truncated, add_written
from benchmarks.repair.kind_rows import add_kinds
from benchmarks.repair.large_schemas import add_large_schema
from benchmarks.repair.library_rows import add_libraries, add_valid_texts
from benchmarks.repair.search_rows import add_kilobytes, add_long_texts, add_programs
from benchmarks.repair.stream_rows import add_followed_texts


def main() -> int:
    """The program; its exit status is 1 if an answer of ours is not JSON."""
    parser = parser_for(__doc__ or "")
    parser.add_argument(
        "--jsonrepair", type=Path, metavar="FOLDER", help="where npm has installed jsonrepair"
    )
    parser.add_argument("--deadline", type=float, default=1.0, metavar="S", help="seconds for a repair (1)")
    parser.add_argument("--training", action="store_true", help="the half on which costs are tuned")
    return run(measure, parser.parse_args())


def measure(options: Namespace, work: Path) -> Report:
    """All tables."""
    count = options.count or (5 if options.quick else 100)
    most = 20 if options.quick else None
    instances = load(options.schemas, is_training=options.training)
    facts = environment.describe()
    facts["peers"] = f"json_repair {version('json_repair')}"
    facts["instances"] = f"{len(instances)} of {options.schemas.name}, {count} texts of each row"
    report = Report(facts)
    engines: dict[str, Engine] = {OURS: ours(options.deadline), "json_repair": python_peer(False)}
    with_schema = {**engines, "json_repair, schema": python_peer(True)}
    if options.jsonrepair is not None:
        engines["jsonrepair"] = with_schema["jsonrepair"] = node_peer(options.jsonrepair.resolve())
    _add_times(report, add_corruptions(report, instances, engines, with_schema, options, count))
    add_truncated(report, instances, engines, with_schema, options, 2 * count)
    add_written(report, with_schema, options, most)
    add_libraries(report, {**engines, "json_repair": python_peer(True)}, most)
    add_kinds(report, with_schema, 1 if options.quick else None)
    add_valid_texts(report, instances, engines, most)
    add_kilobytes(report, options, count)
    add_compat(report, instances, options, count)
    add_streams(report, instances, options, max(count // 2, 5))
    add_long_texts(report, instances, options, 2 if options.quick else 10)
    add_large_schema(report, options)
    add_programs(report, options, 3 if options.quick else count)
    add_followed_texts(report, instances, options, count)
    return report


def _add_times(report: Report, answers: list[Answer]) -> None:
    found = {
        f"{what} {rank}": us
        for what, samples in (
            ("first", [one.first_ns for one in answers]),
            ("whole", [one.ns for one in answers]),
        )
        for rank, us in ranks(samples, ["p50", "p99"]).items()
    }
    found["proven %"] = 100 * sum(one.is_proven for one in answers) / max(len(answers), 1)
    report.add("Mistakes without a schema: times of tokamata, µs", [found])


if __name__ == "__main__":
    sys.exit(main())
