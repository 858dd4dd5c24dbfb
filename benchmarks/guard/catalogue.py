"""Which boundaries need the detectors Det_4, Det_5 or more, and how frequent they are, by vocabulary.

python -m benchmarks.guard.catalogue
python -m benchmarks.guard.catalogue --quick --only gpt2,llama-3.1

Paper 004 says that three consecutive tokens show nearly every violation, and that fewer than 0.01 % of the
cases need four (section 3.3, appendix A).  For each tokenizer with merges and each boundary this program
computes, inside one pre-token:

- whether any text has a token across a border of the boundary: exactly, by the two-neighbour theorem;
- the least number L of tokens that spell a text in which it happens: the L of the first detector that
  rejects the boundary.  Texts are searched that overlap the boundary, those of fewest tokens first.

A search that meets its limit is counted as *not settled*.  Boundaries are strings such as ``<|im_end|>``,
structural punctuation, words of many scripts, and random texts.
"""

from __future__ import annotations

import random
import string
import sys
from argparse import Namespace
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.common import environment
from benchmarks.common.program import run
from benchmarks.common.report import Report
from benchmarks.guard.chosen import chosen_merges, parser_with_only
from benchmarks.guard.real_merges import RealMerges
from benchmarks.guard.windows import Windows
from tokamata.tokenization.adversarial_texts import CORPUS

_CHECKED = 300  # tokens of a vocabulary whose neighbours are also tried one by one

CONTROLS = [
    *(
        "<|im_start|>",
        "<|im_end|>",
        "<|eot_id|>",
        "<|endoftext|>",
        "<|begin_of_text|>",
        "<|start_header_id|>",
    ),
    *("<|end_header_id|>", "<start_of_turn>", "<end_of_turn>", "<s>", "</s>", "<bos>", "<eos>", "<pad>"),
    *("[INST]", "[/INST]", "<<SYS>>", "<</SYS>>", "<think>", "</think>", "<tool_call>", "</tool_call>"),
    *("<tool_response>", "</tool_response>", "<|channel|>", "<|message|>", "<|return|>", "<|user|>"),
    *("<|assistant|>", "<|system|>", "[TOOL_CALLS]", "[AVAILABLE_TOOLS]", "<|fim_prefix|>", "<|fim_middle|>"),
    *("<|fim_suffix|>", "<image>", "[SEP]", "[CLS]", "[MASK]", "### Instruction:", "USER:", "ASSISTANT:"),
]
STRUCTURE = [
    *string.punctuation,
    *('":', '",', '"}', '{"', '"]', '["', "},", "}}", "{{", "[[", "]]", '": "', '", "', "::=", "->", "=>"),
    *("==", "!=", "<=", ">=", "&&", "||", "//", "/*", "*/", "</", "/>", "<!--", "-->", "```", "'''", '"""'),
    *("\\n", '\\"', "\n", "\n\n", "\r\n", "\t", "\n```\n", "();", "){", ");", "---"),
]


def main() -> int:
    """The program; its exit status is 1 if the tables and the encoder disagree about two tokens."""
    return run(measure, parser_with_only(__doc__).parse_args())


def measure(options: Namespace, work: Path) -> Report:
    """One row for each tokenizer and class of boundaries."""
    report = Report(environment.describe())
    classes = boundaries(options.count or (100 if options.quick else 1_000), options.seed)
    report.facts["boundaries"] = ", ".join(f"{len(texts):,} {name}" for name, texts in classes.items())
    report.facts["seed"] = str(options.seed)
    rows, needs, notes = [], [], []
    for tokenizer, merges in chosen_merges("catalogue", options):
        if merges is None:
            notes.append(f"{tokenizer} has no merges.")
            continue
        wrong = disagreements(merges, random.Random(options.seed))
        report.is_wrong |= bool(wrong)
        for name, texts in classes.items():
            row, longest = _row(merges, texts)
            rows.append({"tokenizer": tokenizer, "boundaries": name, **row})
            needs += [{"tokenizer": tokenizer, "boundary": text, "L": found} for text, found in longest]
    report.add("Least L of a detector that rejects", rows, notes)
    report.add("Examples that need the largest L", needs)
    return report


def boundaries(count: int, seed: int) -> dict[str, list[str]]:
    """The boundaries by class; ``count`` words and as many random texts of each kind."""
    draw = random.Random(seed)
    words = sorted({word for text in CORPUS for word in text.split() if 1 < len(word) < 40})
    letters = ["".join(draw.choices(string.ascii_letters, k=draw.randint(1, 12))) for _ in range(count // 2)]
    printable = [
        "".join(draw.choices(string.printable[:95], k=draw.randint(1, 12))) for _ in range(count // 2)
    ]
    return {
        "control strings": CONTROLS,
        "structure": STRUCTURE,
        "words": draw.sample(words, min(count, len(words))),
        "random texts": letters + printable,
    }


def _row(merges: RealMerges, texts: list[str]) -> tuple[dict[str, Any], list[tuple[str, int]]]:
    windows = Windows(merges.texts, merges.schedules)
    least: Counter[int | None] = Counter()
    by_text: list[tuple[str, int]] = []
    unwritten = never = 0
    for text in texts:
        inside = merges.in_characters(text)
        if inside is None:
            unwritten += 1
        elif not merges.is_crossed(merges.schedules.leftmost(inside)):
            never += 1
        else:
            found = windows.least(inside)
            least[found] += 1
            if found is not None:
                by_text.append((text, found))
    crossed = sum(least.values())
    more = sum(count for found, count in least.items() if found is not None and found > 3)
    row = {
        "written": len(texts) - unwritten,
        "never crossed": never,
        **{f"L = {size}": least[size] for size in (1, 2, 3, 4, 5)},
        "L > 5": sum(count for found, count in least.items() if found is not None and found > 5),
        "not settled": least[None],
        "L > 3, %": 100 * more / crossed if crossed else float("nan"),
    }
    by_text.sort(key=lambda one: -one[1])
    return row, by_text[:1]


def disagreements(merges: RealMerges, draw: random.Random) -> list[tuple[int, int]]:
    """Pairs of tokens of which the engine's tables and the encoder say different things; there are none.

    Tokens that every token may stand beside, by the tables, with random neighbours.
    """
    before, after = merges.open_tokens
    texts, encode = merges.texts, merges.schedules.leftmost
    made = [
        token
        for token in draw.sample(sorted(texts), min(len(texts), 5 * _CHECKED))
        if encode(texts[token]) == [token]
    ]
    wrong = []
    for token in made[:_CHECKED]:
        for other in draw.sample(made, 20):
            for pair, is_open in (((other, token), token in before), ((token, other), token in after)):
                if not is_open and encode(texts[pair[0]] + texts[pair[1]]) != list(pair):
                    wrong.append(pair)
    return wrong


if __name__ == "__main__":
    sys.exit(main())
