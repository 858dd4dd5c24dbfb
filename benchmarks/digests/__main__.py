"""Bit digests: whether two states of the library give the same masks, before and after a change of its rooms.

python -m benchmarks.digests --write before.json       # on the state before
python -m benchmarks.digests --compare before.json     # on the state after; exit status 1 if a bit differs
python -m benchmarks.digests --quick --compare before.json     # few, beside the same of before.json

Walks along instances of MaskBench's schemas, texts of grammars and regular expressions over Llama 3.1, with
any and with canonical tokenization.  At each step of a walk the mask goes into the digest of its case; at
some steps also the masks within budgets and of drafts, the shortest completion, the forced text, and
explanations of tokens.  An error goes in by its type and its text.
"""

from __future__ import annotations

import hashlib
import json
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import tokamata as tk
from benchmarks.common.program import parser_for, progress, use_one_thread
from benchmarks.common.schemas import load
from benchmarks.common.tokenizers import Tokenizer, load_known
from benchmarks.digests.walks import Walk, digest

GRAMMARS = Path(__file__).parents[2] / "tests" / "data" / "grammars" / "syncode"
TEXTS = Path(__file__).parents[1] / "grammars" / "texts"
REGEXES = {  # with a text of each
    r"[a-z]{3,12}@[a-z]+\.(com|org)": "anna@example.org",
    r"(?:\d{1,3}\.){3}\d{1,3}": "192.168.10.1",
    r'"(?:[^"\\]|\\.)*"': r'"a \" b"',
    r"(?i)yes|no|maybe( not)?": "Maybe not",
    r"(?:\p{Lu}\p{Ll}+ ){1,4}\p{Lu}\p{Ll}+": "Ada Lovelace King",
    r"(?=.*\d)(?=.*[a-z]).{8,16}": "abc12345",
    r"(?s:.*)": "Ça va?",
}


def main() -> int:
    """The program; its exit status is 1 if a digest differs from the stored one."""
    parser = parser_for(__doc__ or "")
    parser.add_argument("--write", type=Path, metavar="FILE", help="store the digests")
    parser.add_argument("--compare", type=Path, metavar="FILE", help="with digests that were stored")
    options = parser.parse_args()
    use_one_thread()
    with TemporaryDirectory(prefix="tokamata-digests-") as work:
        found = dict(_digests(options, Path(work)))
    groups: dict[str, list[str]] = {}
    for name, value in found.items():
        groups.setdefault(name.split("/")[0], []).append(value)
    for group, values in groups.items():
        print(
            f"{group:28} {len(values):5} cases  {hashlib.sha256(''.join(values).encode()).hexdigest()[:16]}"
        )
    if options.write is not None:
        options.write.write_text(json.dumps(found, indent=0), encoding="utf-8")
    if options.compare is None:
        return 0
    before = json.loads(options.compare.read_text("utf-8"))
    if options.quick or options.count:
        before = {name: value for name, value in before.items() if name in found}
    return _differences(before, found)


def _differences(before: dict[str, str], found: dict[str, str]) -> int:
    names = before.keys() | found.keys()
    different = [name for name in names if before.get(name) != found.get(name)]
    for name in sorted(different):
        print(f"differs: {name}", file=sys.stderr)
    print(f"{len(names) - len(different)} of {len(names)} digests are equal")
    return int(bool(different))


def _digests(options: Namespace, work: Path) -> Iterator[tuple[str, str]]:
    tokenizer = load_known("llama-3.1", options.tokenizers, work)
    cases = list(_cases(options, tokenizer))
    with progress("digests", len(cases)) as step:
        for name, make, texts, walk in cases:
            step(name)
            yield name, digest(make, texts, walk, tokenizer.vocabulary)


Case = tuple[str, Callable[[], "tk.Constraint[Any]"], "list[list[int]]", Walk]


def _cases(options: Namespace, tokenizer: Tokenizer) -> Iterator[Case]:
    canonical = Walk(tokenization="canonical")
    for pattern, text in REGEXES.items():
        tokens = [tokenizer.encode_as_model(text)]
        yield f"regexes/{pattern}", lambda pattern=pattern: tk.regex(pattern), tokens, Walk(every=1)
        yield f"regexes, canonical/{pattern}", lambda pattern=pattern: tk.regex(pattern), tokens, canonical
    for name in ("json", "c", "java"):
        text = (TEXTS / f"{name}.txt").read_text(encoding="utf-8").rstrip()
        tokens = [tokenizer.encode_as_model(text)]
        make = lambda name=name: tk.grammar(GRAMMARS / f"{name}.lark")  # noqa: E731
        yield f"grammars/{name}", make, tokens, Walk(every=40)
        yield f"grammars, canonical/{name}", make, tokens, canonical
    count = options.count or (20 if options.quick else 600)
    for number, schema in enumerate(load(options.schemas, count, options.seed, tokenizer)):
        make = lambda schema=schema: tk.json_schema(schema.text)  # noqa: E731
        free = lambda schema=schema: tk.json_schema(schema.text, property_order="any", whitespace="any")  # noqa: E731
        yield f"schemas/{schema.name}", make, schema.ordered, Walk(every=0 if number % 4 else 7)
        yield f"schemas, any order/{schema.name}", free, schema.texts[:2], Walk(every=0 if number % 8 else 11)
        if number % 4 == 0:
            yield f"schemas, canonical/{schema.name}", make, schema.ordered[:2], canonical


if __name__ == "__main__":
    sys.exit(main())
