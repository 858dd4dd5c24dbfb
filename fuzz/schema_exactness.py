"""MaskBench against the engine: every schema compiled, every instance fed token by token.

An instance is written as ``json.dumps(ensure_ascii=False)`` writes it, cut into tokens by the tokenizer
itself, and led through a matcher: before each token its bit is read, and ``advance`` must agree.  The judge
is what the data say of the instance; where the engine says otherwise, `jsonschema` is asked too.  Each
difference is printed with what is known of it, from ``tests/data/maskbench_differences.json``.

    python -m fuzz.schema_exactness [PATH] [--sample 300] [--seed 1] [--only ID ...]
    python -m fuzz.schema_exactness --tokenizer bytes      byte by byte
"""

from __future__ import annotations

import argparse
import gzip
import json
import lzma
import os
import random
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jsonschema
from jsonschema.validators import validator_for

import tokamata as tk
from tests.support.guarded import Died, Guarded
from tests.support.masks import has
from tests.support.paths import DATA, SHARED
from tests.support.vocabularies import BYTE_VOCABULARY

EXPLANATIONS = DATA / "maskbench_differences.json"
LIMITS = tk.Limits(seconds=20.0)
HUNG_S = 600.0  # an instance may take the whole of LIMITS
SLOW_COMPILE_MS = 50.0
SLOW_MASK_MS = 20.0

Encode = Callable[[str], list[int]]


@dataclass
class Difference:
    """An instance of which the engine does not say what the data say.

    Attributes:
        kind: ``false accept``, ``false reject``, ``error``, or ``bit`` where a mask and ``advance`` disagree.
        instance: its number.
        detail: where it was refused, or what was raised.
        upstream: what `jsonschema` says, without formats and with them.
    """

    kind: str
    instance: int
    detail: str
    upstream: str = ""


@dataclass
class Outcome:
    """What became of one schema; times in milliseconds.

    Attributes:
        name: its id in the data.
        refused: why it does not compile; empty where it does.
        died: how the process ended that had it; empty where it did not.
        instances: how many were fed.
        skipped: how many have text that UTF-8 cannot write.
        tokens: of all instances, as far as they were fed.
        compile_ms, mask_ms: compiling, and the slowest mask of all.
        memory_mb: the most that its process has ever occupied.
        differences: what is wrong.
    """

    name: str
    refused: str = ""
    died: str = ""
    instances: int = 0
    skipped: int = 0
    tokens: int = 0
    compile_ms: float = 0.0
    mask_ms: float = 0.0
    memory_mb: float = 0.0
    differences: list[Difference] = field(default_factory=list)

    @property
    def all_right(self) -> bool:
        """Whether the schema was compiled, and every instance judged as the data say."""
        return not (self.refused or self.died or self.differences)


def judge(
    case: dict[str, Any],
    vocabulary: tk.Vocabulary,
    encode: Encode,
    limits: tk.Limits = LIMITS,
    **style: Any,
) -> Outcome:
    """One schema and its instances; ``style`` is for ``tk.json_schema``."""
    found = Outcome(case["id"])
    start = time.perf_counter()
    try:
        compiled = tk.json_schema(case["schema"], **style).compile(vocabulary, limits=limits)
    except Exception as error:  # one that is not of tokamata's own is a defect, and no less worth a line
        found.refused = f"{type(error).__name__}: {error}"
        return found
    finally:
        found.compile_ms = (time.perf_counter() - start) * 1e3
    for number, test in enumerate(case["tests"]):
        text = json.dumps(test["data"], ensure_ascii=False)
        if any("\ud800" <= one <= "\udfff" for one in text):
            found.skipped += 1
            continue
        found.instances += 1
        difference = _feed(compiled, encode(text), test["valid"], found)
        if difference is not None:
            difference.instance = number
            difference.upstream = upstream(case["schema"], test["data"])
            found.differences.append(difference)
    found.memory_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return found


def _feed(
    compiled: tk.CompiledConstraint, tokens: list[int], valid: bool, found: Outcome
) -> Difference | None:
    """Leads one instance through a matcher; what is wrong, if anything is."""
    refused = ""
    try:
        matcher = compiled.matcher()
        for place, token in enumerate(tokens):
            start = time.perf_counter()
            mask = matcher.mask
            found.mask_ms = max(found.mask_ms, (time.perf_counter() - start) * 1e3)
            found.tokens += 1
            bit = has(mask, token)
            if matcher.advance(token) != bit:
                return Difference("bit", 0, f"bit {bit}, and advance otherwise, after {matcher.text[-80:]!r}")
            if not bit:
                refused = f"after {matcher.text[-80:]!r} ({place} tokens): {matcher.explain(token)}"
                break
        else:
            if not matcher.is_accepting:
                refused = f"not accepted at its end, after {matcher.text[-80:]!r}"
    except Exception as error:  # one that is not of tokamata's own is a defect, and no less worth a line
        return Difference("error", 0, f"{type(error).__name__}: {error}, after {matcher.text[-80:]!r}")
    if valid and refused:
        return Difference("false reject", 0, refused)
    if not valid and not refused:
        return Difference("false accept", 0, "")
    return None


def upstream(schema: Any, value: Any) -> str:
    """What `jsonschema` says, without formats and with them; 2020-12 where the schema names no draft."""
    try:
        kind = validator_for(schema, default=jsonschema.Draft202012Validator)
        verdicts = [
            "valid" if kind(schema, format_checker=checker).is_valid(value) else "invalid"
            for checker in (None, kind.FORMAT_CHECKER)
        ]
    except Exception as error:  # it raises what re, referencing and others do
        return f"{type(error).__name__}: {str(error)[:80]}"
    return verdicts[0] if verdicts[0] == verdicts[1] else f"{verdicts[0]}, with formats {verdicts[1]}"


def load(path: Path) -> list[dict[str, Any]]:
    """The lines of the data."""
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def explanations() -> dict[str, str]:
    """What is known of differences: by ``ID#INSTANCE``, or by ``ID`` for all of a schema."""
    found: dict[str, str] = (
        json.loads(EXPLANATIONS.read_text(encoding="utf-8")) if EXPLANATIONS.exists() else {}
    )
    return found


def summary(outcomes: Iterable[Outcome]) -> str:
    """The table."""
    counts: Counter[str] = Counter()
    tokens, memory = 0, 0.0
    for one in outcomes:
        counts["schemas"] += 1
        counts["compiled"] += not one.refused and not one.died
        counts["refused"] += bool(one.refused)
        counts["crashed or hung"] += bool(one.died)
        counts["all instances right"] += one.all_right
        counts["instances"] += one.instances
        counts["instances that UTF-8 cannot write"] += one.skipped
        for difference in one.differences:
            counts[f"instances: {difference.kind}"] += 1
        for kind in {difference.kind for difference in one.differences}:
            counts[f"schemas with {kind}"] += 1
        counts[f"compiling over {SLOW_COMPILE_MS:g} ms"] += one.compile_ms > SLOW_COMPILE_MS
        counts[f"a mask over {SLOW_MASK_MS:g} ms"] += one.mask_ms > SLOW_MASK_MS
        tokens += one.tokens
        memory = max(memory, one.memory_mb)
    schemas = max(1, counts["schemas"])
    lines = ["| | | |", "|---|---:|---:|"]
    for name, count in counts.items():
        share = "" if name.startswith("instances") else f"{count / schemas:.2%}"
        lines.append(f"| {name} | {count:,} | {share} |")
    return "\n".join([*lines, f"| tokens fed | {tokens:,} | |", f"| peak MB | {memory:,.0f} | |"])


def details(outcomes: Iterable[Outcome], known: dict[str, str]) -> Iterable[str]:
    """Lines for each schema that is refused or slow, and each difference, with its explanation."""
    for one in outcomes:
        if one.refused or one.died:
            yield f"{one.name}: {one.died or 'refused: ' + one.refused}"[:400]
            yield f"    {known.get(one.name, 'UNEXPLAINED')}"
        if one.compile_ms > SLOW_COMPILE_MS or one.mask_ms > SLOW_MASK_MS:
            yield f"{one.name}: slow: compiling {one.compile_ms:,.1f} ms, slowest mask {one.mask_ms:,.1f} ms"
        for found in one.differences:
            reason = known.get(f"{one.name}#{found.instance}") or known.get(one.name) or "UNEXPLAINED"
            yield f"{one.name}#{found.instance}: {found.kind}: {found.detail}"[:400]
            yield f"    jsonschema: {found.upstream}; {reason}"


def hugging_face(path: Path, stop: str = "<|eot_id|>") -> tuple[tk.Vocabulary, Encode]:
    """A ``tokenizer.json``, or the same with gzip: its vocabulary, and the tokenizer's own program."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    import tempfile

    from tokenizers import Tokenizer

    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "tokenizer.json").write_bytes(text)
        vocabulary = tk.Vocabulary.load(Path(folder) / "tokenizer.json", stop=[stop])
        vocabulary.core  # noqa: B018  # made before the processes that share it
    own = Tokenizer.from_str(text.decode())
    return vocabulary, lambda line: list(own.encode(line, add_special_tokens=False).ids)


def single_bytes() -> tuple[tk.Vocabulary, Encode]:
    """Every byte a token, and a stop token."""
    return BYTE_VOCABULARY, lambda text: list(text.encode())


def main() -> int:
    """The program; its exit status is 1 where a difference is not explained."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("path", type=Path, nargs="?", default=SHARED / "maskbench-dev.jsonl.xz")
    parser.add_argument(
        "--tokenizer",
        type=Path,
        default=SHARED / "tokenizers/llama-3.1.json.gz",
        help="a tokenizer.json, the same with gzip, or 'bytes' (default: %(default)s)",
    )
    parser.add_argument("--sample", type=int, help="so many schemas, drawn by the seed (default: all)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="+", metavar="ID", help="these schemas")
    parser.add_argument("--property-order", choices=("any", "schema"), default="any")
    parser.add_argument("--spelling", choices=("plain", "any"), default="plain")
    options = parser.parse_args()
    cases = load(options.path)
    if options.only:
        cases = [case for case in cases if case["id"] in options.only]
    elif options.sample:
        cases = random.Random(options.seed).sample(cases, min(options.sample, len(cases)))
    made = single_bytes() if str(options.tokenizer) == "bytes" else hugging_face(options.tokenizer)
    vocabulary, encode = made
    style = {"property_order": options.property_order, "spelling": options.spelling}
    known = explanations()
    outcomes: list[Outcome] = []
    with Guarded(lambda case: judge(case, vocabulary, encode, **style), HUNG_S) as guarded:
        for number, case in enumerate(cases):
            try:
                outcomes.append(guarded(case))
            except Died as error:
                outcomes.append(Outcome(case["id"], died=str(error)))
            for line in details(outcomes[-1:], known):
                print(line, flush=True)
            if number % 100 == 99:
                print(f"{number + 1:,} of {len(cases):,}", file=sys.stderr, flush=True)
    print(summary(outcomes))
    unexplained = any(
        one.died
        or any(f"{one.name}#{d.instance}" not in known and one.name not in known for d in one.differences)
        for one in outcomes
    )
    return int(unexplained)


if __name__ == "__main__":
    sys.exit(main())
