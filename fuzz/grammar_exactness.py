"""Texts sampled from the masks of grammars, in real vocabularies: lark parses all of them.

    python -m fuzz.grammar_exactness [--texts 100000] [--seed 1] [--seconds S]

A text is drawn token by token from the masks, each token either uniformly or by its rank, since tokenizers
number frequent tokens first.  After some tokens it is completed by the shortest completion, within a budget
that is checked.  Each difference is printed with what draws it again.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

import tokamata as tk
from fuzz.schema_exactness import hugging_face
from tests.support.lark_grammars import Judge, judge_of
from tests.support.paths import DATA, SHARED
from tests.support.vocabularies import bytes_and

FOLDER = DATA / "grammars"
FILES = (
    "syncode/json.lark",
    "syncode/c.lark",
    "syncode/java.lark",
    "syncode/calc.lark",
    "lark/examples/standalone/json.lark",
    "lark/examples/composition/csv.lark",
    "lark/examples/advanced/template_lark.lark",
)
VOCABULARIES = {"llama-3.1": "<|eot_id|>", "gemma-3": "<eos>"}
FREE = (0, 1, 3, 10, 25)  # tokens before the completion
LOADING = tk.Limits(seconds=300.0)  # this program may run beside others
# Parsing takes lark a second for some longer texts.
MOST_CHARACTERS = 300


@dataclass
class Findings:
    """What was done, and what was wrong.

    Attributes:
        texts: by file and lexer, the texts that were judged.
        skipped: of these, those that were too long for lark.
        failures: what lark refuses, what is over its budget, or what needed more than the limits allow.
    """

    texts: Counter[str] = field(default_factory=Counter)
    skipped: int = 0
    failures: list[str] = field(default_factory=list)


def vocabularies() -> dict[str, tk.Vocabulary]:
    """Those of two models where they are at hand; and the bytes with some longer tokens."""
    found = {"bytes": bytes_and(b"int ", b"if (", b"){\n", b"; ", b'": "', b"*/", b" /*", b'",', b"}\n")}
    for name, stop in VOCABULARIES.items():
        path = SHARED / "tokenizers" / f"{name}.json.gz"
        if path.exists():
            found[name] = hugging_face(path, stop)[0]
    return found


def drawn(tokens: np.ndarray, by_rank: bool, draw: random.Random) -> int:
    """One of the tokens: each alike, or the token numbered t with a weight of 1 / (t + 100)."""
    if not by_rank:
        return int(tokens[draw.randrange(len(tokens))])
    weights = np.cumsum(1 / (tokens + 100))
    return int(tokens[min(np.searchsorted(weights, draw.random() * weights[-1]), len(tokens) - 1)])


def sampled(compiled: tk.CompiledConstraint, draw: random.Random) -> tuple[bytes, bool]:
    """A text that masks lead to, and whether it kept to its budget."""
    matcher = compiled.matcher()
    stops = list(compiled.vocabulary.stop)
    free, by_rank = draw.choice(FREE), draw.random() < 0.5
    mask = np.zeros(len(matcher.mask), dtype=np.int32)

    def tokens() -> np.ndarray:
        """The tokens of the mask, in ascending order; without stop tokens."""
        found = np.flatnonzero(np.unpackbits(mask.view(np.uint8), bitorder="little"))
        return found[~np.isin(found, stops)]

    for _ in range(free):
        matcher.fill_mask(mask)
        if not len(tokens()):
            break
        assert matcher.advance(drawn(tokens(), by_rank, draw))
    needed = len(matcher.shortest_completion()) + draw.choice((0, 0, 1, 5))
    for left in range(needed, 0, -1):
        matcher.fill_mask(mask, budget=left)
        if not len(tokens()):
            break
        assert matcher.advance(drawn(tokens(), False, draw))
    return matcher.text, matcher.is_accepting


def run(texts: int, seed: int, seconds: float) -> Findings:
    """Samples texts of all files, lexers and vocabularies in turn."""
    found = Findings()
    end = time.monotonic() + seconds
    judges: dict[tuple[str, str], Judge] = {}
    compiled: dict[tuple[str, str, str], tk.CompiledConstraint] = {}
    known = vocabularies()
    for turn in range(texts):
        if time.monotonic() > end:
            break
        draw = random.Random(f"{seed}.{turn}")
        file, lexer, vocabulary = (
            draw.choice(FILES),
            draw.choice(("dynamic", "basic", "contextual")),
            draw.choice(list(known)),
        )
        source = (FOLDER / file).read_text(encoding="utf-8")
        if (file, lexer) not in judges:
            judges[file, lexer] = judge_of(source, lexer)
        key = (file, lexer, vocabulary)
        if key not in compiled:
            constraint = tk.grammar(source, lexer=lexer, limits=LOADING)  # type: ignore[arg-type]
            compiled[key] = constraint.compile(known[vocabulary])
        where = f"turn {turn} of seed {seed}: {file}, {lexer}, {vocabulary}"
        found.texts[f"{file}, {lexer}"] += 1
        try:
            data, is_complete = sampled(compiled[key], draw)
        except tk.LimitExceeded as error:
            found.failures.append(f"{where}: {error}")
            continue
        text = data.decode()
        if not is_complete:
            found.failures.append(f"{where}: over its budget: {text!r}")
        elif len(text) > MOST_CHARACTERS:
            found.skipped += 1
        elif not judges[file, lexer](text):
            found.failures.append(f"{where}: lark refuses {text!r}")
    return found


def main() -> None:
    """Prints how many texts of each grammar were judged, and what was wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--texts", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    arguments = parser.parse_args()
    found = run(arguments.texts, arguments.seed, arguments.seconds)
    for name, count in sorted(found.texts.items()):
        print(f"{count:8,}  {name}")
    print(f"{found.texts.total():8,} texts; {found.skipped:,} too long for lark")
    print(f"{len(found.failures):8,} failures")
    for failure in found.failures[:20]:
        print(failure)
    sys.exit(bool(found.failures))


if __name__ == "__main__":
    main()
