"""MaskBench: JSON Schemas from schema to first mask and between masks, beside the peers.

python -m benchmarks.maskbench                     # 600 schemas, Llama 3.1
python -m benchmarks.maskbench --quick
"""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

import tokamata as tk
from benchmarks.common import environment
from benchmarks.common.engines import ANY_ORDER, CANONICAL, CANONICAL_ANY_ORDER, ENGINES, TOKAMATA
from benchmarks.common.program import add_engines, parser_for, run
from benchmarks.common.replaying import Case, EngineRun, run_engines
from benchmarks.common.report import Report
from benchmarks.common.schemas import SchemaCase, load
from benchmarks.common.tokenizers import load_known
from benchmarks.maskbench.figures import Figures

_ENGINES = f"{TOKAMATA};{ANY_ORDER};{CANONICAL_ANY_ORDER};llguidance;glrmask"


def main() -> int:
    """The program; its exit status is 1 if tokamata accepts an invalid instance."""
    parser = parser_for(__doc__)
    add = parser.add_argument
    add_engines(parser, ENGINES, _ENGINES)
    add(
        "--timeout", type=float, default=10.0, metavar="S", help="seconds for a schema to its first mask (10)"
    )
    add("--replay-timeout", type=float, default=60.0, metavar="S", help="seconds for its instances (60)")
    add("--memory", type=float, default=16.0, metavar="GB", help="of an engine (16)")
    add("--prepare", type=float, metavar="S", help="compiled.prepare(seconds=S) after the first mask")
    return run(measure, parser.parse_args())


def measure(options: Namespace, work: Path) -> Report:
    """All schemas in all engines."""
    tokenizer = load_known("llama-3.1", options.tokenizers, work)
    schemas = load(options.schemas, options.count or (20 if options.quick else 600), options.seed, tokenizer)
    facts = environment.describe()
    facts["limits"] = (
        f"{options.timeout:g} s to the first mask, {options.replay_timeout:g} s for the instances, "
        f"{options.memory:g} GB for an engine"
    )
    instances = sum(len(schema.texts) for schema in schemas)
    facts["schemas"] = (
        f"{len(schemas)} of {options.schemas.name}, seed {options.seed}; {instances:,} instances"
    )
    if options.prepare is not None:
        facts["prepared"] = f"tokamata, for at most {options.prepare:g} s after the first mask"
    facts["vocabulary"] = f"{tokenizer.vocabulary!r}, from {tokenizer.origin}"
    runs = run_engines(
        options.engines, [_case(schema) for schema in schemas], "llama-3.1", tokenizer, options
    )
    refused_order = {
        name: _refused_order(run, schemas, tokenizer.vocabulary)
        for name, run in runs.items()
        if _is_ordered(name)
    }
    return Figures(facts, schemas, runs, refused_order, options.prepare is not None).report()


def _case(schema: SchemaCase) -> Case:
    def texts(engine: str) -> list[list[int]]:
        return schema.ordered if _is_ordered(engine) else schema.texts

    return Case(schema.name, "schema", lambda engine: schema.text, texts)


def _is_ordered(engine: str) -> bool:
    """Whether it takes members in the order of the schema alone."""
    return engine in (TOKAMATA, CANONICAL)


def _refused_order(
    run: EngineRun, schemas: Sequence[SchemaCase], vocabulary: tk.Vocabulary
) -> set[tuple[int, int]]:
    """The valid instances that it refuses, and tokamata accepts in any order: by schema and instance.

    The data are in the order of a peer.  Only these instances are read again, so that the report does not
    depend on which engines run.
    """
    found = set()
    for number, (schema, replayed) in enumerate(zip(schemas, run.replayed, strict=True)):
        if replayed is None or replayed.problem is not None:
            continue
        for index, accepted in enumerate(replayed.accepted):
            if schema.valid[index] and not accepted and _accepts_in_any_order(schema, index, vocabulary):
                found.add((number, index))
    return found


def _accepts_in_any_order(schema: SchemaCase, index: int, vocabulary: tk.Vocabulary) -> bool:
    try:
        matcher = tk.json_schema(schema.text, property_order="any").compile(vocabulary).matcher()
        return all(matcher.advance(token) for token in schema.texts[index]) and matcher.is_accepting
    except tk.TokamataError:
        return False


if __name__ == "__main__":
    sys.exit(main())
