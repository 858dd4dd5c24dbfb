"""Saves and loads compiled constraints: whole files give the same masks, and changed ones do no harm.

    python -m fuzz.fuzz_kept --seconds 3600 --seed 1

Half of the constraints are random patterns, the others random JSON Schemas, MaskBench's, and some that keep
what was written.  Each is used along random texts, saved and loaded, and then read along texts beside one
that was compiled afresh.  Then the file is changed: its bytes, the bytes of its masks and the JSON of its
recipe, the last two with digests that fit.  Each such file is loaded, or raises an error of tokamata; a
constraint that is loaded answers every call.

All of it happens in a process of its own, since what is looked for ends processes.
"""

from __future__ import annotations

import json
import random
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tokamata as tk
from fuzz import timed
from fuzz.fuzz_limits import OPEN
from fuzz.fuzz_schemas import vocabularies
from tests.support.guarded import Guarded
from tests.support.kept import file_of, mutated_steps, sections, try_everything, walks
from tests.support.paths import MASKBENCH
from tests.support.patterns.judged import random_judged
from tests.support.schemas.schema_sources import Schemas

HUNG_S = 120.0
MEMORY_BYTES = 4 << 30  # of the process
LIMITS = tk.Limits(seconds=5.0, memory_bytes=1 << 27)
CHANGES = 30  # of a file


@dataclass
class Tally(timed.Tally):
    """What was done: constraints, those that are none; changed files, those that were read."""

    tried: int = 0
    skipped: int = 0
    changed: int = 0
    read: int = 0


def main() -> None:
    """The program."""
    timed.main(__doc__ or "", run)


def run(seconds: float, seed: int) -> Tally:
    """Saves and loads for so many seconds; raises what fails."""
    tally = Tally()
    schemas = Schemas(MASKBENCH)
    loaded = vocabularies()
    with Guarded(lambda number: _checked(number, seed, schemas, loaded), HUNG_S, MEMORY_BYTES) as guarded:
        for number in timed.turns(seconds):
            with timed.naming(f"seed {seed}, constraint {number}", number):
                found = guarded(number)
            tally.tried += 1
            tally.skipped += found is None
            if found is not None:
                tally.changed += found[0]
                tally.read += found[1]
    return tally


def _checked(number: int, seed: int, schemas: Schemas, loaded: list[tk.Vocabulary]) -> tuple[int, int] | None:
    """How many changed files there were, and how many of them were read; ``None``: no constraint."""
    warnings.simplefilter("ignore")
    draw = random.Random(f"{seed} {number}")
    try:
        constraint = _constraint(draw, schemas)
        compiled = constraint.compile(vocabulary := draw.choice(loaded), limits=LIMITS)
        walks(compiled, 1)
    except tk.TokamataError:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kept")
        compiled.save(path)
        twin = tk.load(path, vocabulary, limits=LIMITS)
        for one in (1, 2):
            try:
                expected = walks(constraint.compile(vocabulary, limits=LIMITS), one)
            except tk.LimitExceeded:
                break
            if walks(twin, one) != expected:
                raise AssertionError(f"other masks after loading: {constraint!r}")
        data = path.read_bytes()
        read = sum(_is_read(_changed(data, draw), path, vocabulary, draw) for _ in range(CHANGES))
    return CHANGES, read


def _constraint(draw: random.Random, schemas: Schemas) -> tk.Constraint[Any]:
    if draw.random() < 0.5:
        return random_judged(draw, draw.choice([0, 0, 1])).constraint
    schema = draw.choice(OPEN) if draw.random() < 0.3 else schemas(draw)
    return tk.json_schema(schema, strict=False, limits=LIMITS)


def _changed(data: bytes, draw: random.Random) -> bytes:
    which = draw.randrange(3)
    if which == 0:
        return _changed_bytes(data, draw)
    recipe, masks = sections(data)
    if which == 1:
        return file_of(recipe, _changed_bytes(masks, draw))
    recipe["steps"] = mutated_steps(json.loads(json.dumps(recipe["steps"])), draw)
    return file_of(recipe, masks)


def _changed_bytes(data: bytes, draw: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 5))):
        changed[draw.randrange(len(changed))] = draw.choice((0, 1, 2, 0x7F, 0x80, 0xFF, draw.randrange(256)))
    return bytes(changed[: draw.randrange(len(changed))] if draw.random() < 0.1 else changed)


def _is_read(data: bytes, path: Path, vocabulary: tk.Vocabulary, draw: random.Random) -> bool:
    path.write_bytes(data)
    try:
        compiled = tk.load(path, vocabulary, limits=LIMITS)
        try_everything(compiled, draw)
    except tk.TokamataError:
        return False
    return True


if __name__ == "__main__":
    main()
