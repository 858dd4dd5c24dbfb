"""Patterns promoted to the encodings of a byte-pair tokenizer: how machines grow, and all merges at once.

    python benchmarks/bpe_promotion.py --markdown bpe.md --plot bpe.svg
    python benchmarks/bpe_promotion.py --quick                      # fewer, to see that it works

The first part applies merges one after the other as 000, equation 5 does, and counts states: minimized after
each merge, and in the product of gadgets without projecting or minimizing in between, beside the bounds.
The second applies all merges of real tokenizers to the four regexes of 002 and to some of schemas, by
DirectMerge with rows of its own for each copy of a state, and with shared ones.  Nothing is asserted
about time.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import environment
from cases import PAPER
from report import Table
from running import Progress, add_output_options, publish, say
from schema_patterns import FILE, collect, sample
from tokenizer import KNOWN, NoTokenizerError, add_folder_option, load_known

import tokamata as tk
from tokamata.automata import Acceptor, minimize
from tokamata.tokenization import (
    Merge,
    compose_failing,
    direct_merge,
    gadget,
    in_tokens,
    merge_list,
    merge_shared,
    promotions,
)
from tokamata.vocabulary.byte_alphabet import byte_level_bytes

TOKENIZERS = "llama-3.1,o200k,deepseek-v3"
GROWING = ("[a-z]+", "[a-z]{1,4}", "(the|that|other|there)+", "[0-9a-f]{2}(:[0-9a-f]{2}){5}")
_BYTES = tk.Vocabulary.load([bytes([value]) for value in range(256)], stop=[])
_NAIVE_STATES = 30_000


@dataclass
class Growth:
    """How the machines of one pattern grow.

    Attributes:
        pattern: the regex.
        states: of the minimal acceptor before any merge, and after each that applies.
        tokens: characters and tokens that the pattern can read, at the same times.
        naive: states of the product without minimizing, as far as it was made.
        seconds: of all merges that apply, minimizing after each.
    """

    pattern: str
    states: list[int] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    naive: list[int] = field(default_factory=list)
    seconds: float = 0.0


@dataclass
class AllMerges:
    """All merges of a tokenizer over one pattern.

    Attributes:
        tokenizer, merges: which, and how many.
        pattern: the regex.
        before: states and transitions of the pattern's acceptor.
        shared_s: seconds of DirectMerge with shared rows.
        edges: that it made.
        separate_s: seconds of DirectMerge with rows of their own, or until it passed a limit.
        after: states and transitions of its result; ``None`` where it passed a limit.
    """

    tokenizer: str
    merges: int
    pattern: str
    before: tuple[int, int]
    shared_s: float
    edges: int
    separate_s: float
    after: tuple[int, int] | None


@dataclass
class Figures:
    """What a run has measured, and where."""

    facts: dict[str, str]
    growth: list[Growth] = field(default_factory=list)
    all_merges: list[AllMerges] = field(default_factory=list)

    def as_json(self) -> dict[str, object]:
        """Everything in plain types."""
        return asdict(self)

    def tables(self) -> list[Table]:
        """Every table, in the order of reading."""
        return [self._growth_table(), self._naive_table(), self._all_merges_table()]

    def _growth_table(self) -> Table:
        table = Table(
            "1. States, minimized after every merge (000, equation 5)",
            ("pattern", "|A|", "merges k", "tokens |Γ|", "states", "|A|·(1+|Γ|)", "k·|A|³", "seconds"),
            left=1,
        )
        for one in self.growth:
            count = len(one.states) - 1
            points = sorted({count * step // 4 for step in range(1, 5)} - {0})
            table.groups([[_growth_row(one, point) for point in points]])
        table.notes.append(
            "k counts the merges that change the machine. Tokens: the pattern's characters, and one for "
            "each merge."
        )
        return table

    def _naive_table(self) -> Table:
        counts = [0, *(1 << power for power in range(6))]
        table = Table(
            "2. States of the product of gadgets, nothing projected or minimized in between",
            ("pattern", "", *(f"k = {count}" for count in counts)),
            notes=[f"The product is given up past {_NAIVE_STATES:,} states."],
        )
        for one in self.growth:
            rows = ((one.pattern, "product", one.naive), ("", "minimized", one.states))
            table.groups([[[name, what, *_at(values, counts)] for name, what, values in rows]])
        return table

    def _all_merges_table(self) -> Table:
        table = Table(
            "3. All merges of a tokenizer (seconds)",
            (
                "tokenizer", "pattern", "merges", "states", "transitions", "shared rows", "edges",
                "separate rows", "states after", "transitions after",
            ),
            notes=[
                "Separate rows: 001's DirectMerge as printed, each state with its own transitions. "
                f"'limit': it passed the limits of tokamata.Limits() ({tk.Limits().memory_bytes >> 20} MB) "
                "after so many seconds.",
                "Shared rows: the same, the copies of a state sharing theirs.",
            ],
        )  # fmt: skip
        by_tokenizer: dict[str, list[AllMerges]] = {}
        for one in self.all_merges:
            by_tokenizer.setdefault(one.tokenizer, []).append(one)
        table.groups([_all_merges_row(one) for one in group] for group in by_tokenizer.values())
        return table


def _at(values: list[int], counts: list[int]) -> list[str]:
    """The values after so many merges, as far as there are any."""
    return [f"{values[count]:,}" if count < len(values) else "–" for count in counts]


def _growth_row(one: Growth, count: int) -> list[str]:
    states, tokens = one.states[0], one.tokens[count]
    return [
        one.pattern, f"{states:,}", f"{count:,}", f"{tokens:,}", f"{one.states[count]:,}",
        f"{states * (1 + tokens):,}", f"{count * states**3:,}",
        f"{one.seconds:.2f}" if count == len(one.states) - 1 else "",
    ]  # fmt: skip


def _all_merges_row(one: AllMerges) -> list[str]:
    after = ("limit", "–") if one.after is None else tuple(f"{count:,}" for count in one.after)
    pattern = one.pattern if len(one.pattern) <= 50 else one.pattern[:49] + "…"
    return [
        one.tokenizer, f"`{pattern}`", f"{one.merges:,}", *(f"{count:,}" for count in one.before),
        f"{one.shared_s:.2f}", f"{one.edges:,}", f"{one.separate_s:.2f}", *after,
    ]  # fmt: skip


def main() -> int:
    """The program; returns its exit status: 2 without tokenizers or schemas."""
    options = _options()
    try:
        figures = _measure(options)
    except (NoTokenizerError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    publish(figures.tables(), figures.facts, figures.as_json(), options)
    if options.plot is not None:
        _plot(figures, options.plot)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--quick", action="store_true", help="one tokenizer, few merges and patterns, to see that it works")
    add("--merges", type=int, metavar="N", help="that apply, in the first part (default 60, quick 12)")
    add("--vocabularies", metavar="NAMES", help=f"which, with commas (default {TOKENIZERS})")
    add("--schemas", type=Path, default=FILE, metavar="FILE", help=f".jsonl or .jsonl.xz (default: {FILE})")
    add("--count", type=int, metavar="N", help="regexes of schemas (default 10, quick 2)")
    add("--seed", type=int, default=0, metavar="N", help="of their sample")
    add_folder_option(parser)
    add_output_options(parser)
    add("--plot", type=Path, metavar="FILE", help="draw the first part (.svg, .png)")
    options = parser.parse_args()
    options.merges = options.merges or (12 if options.quick else 60)
    options.count = options.count or (2 if options.quick else 10)
    options.vocabularies = options.vocabularies or (TOKENIZERS.split(",")[0] if options.quick else TOKENIZERS)
    options.vocabularies = options.vocabularies.split(",")
    return options


def _measure(options: argparse.Namespace) -> Figures:
    if not options.schemas.exists():
        raise FileNotFoundError(f"{options.schemas}: no such file; pass --schemas with MaskBench's schemas")
    figures = Figures(environment.describe("one thread"))
    found = sample(collect(options.schemas), options.count, options.seed)
    patterns = [(case.name, tk.regex(case.pattern)) for case in PAPER]
    patterns += [(one.pattern, tk.regex(one.pattern, dialect="ecma")) for one in found]
    total = len(GROWING) + len(options.vocabularies) * len(patterns)
    with (
        tempfile.TemporaryDirectory(prefix="tokamata-benchmark-") as work,
        Progress("merges", total) as progress,
    ):
        for number, name in enumerate(options.vocabularies):
            title = KNOWN[name].title if name in KNOWN else name
            vocabulary, merges = _merges(name, options.tokenizers, Path(work))
            figures.facts[f"merges, {title}"] = f"{len(merges):,}"
            if number == 0:
                for pattern in GROWING:
                    figures.growth.append(_grow(pattern, vocabulary, merges, options.merges))
                    progress.step(pattern)
            for shown, constraint in patterns:
                acceptor = in_tokens(_byte_acceptor(constraint), vocabulary)
                figures.all_merges.append(_all(title, shown, acceptor, merges))
                progress.step(shown)
    say("")
    return figures


def _byte_acceptor(constraint: tk.Constraint) -> Acceptor:
    return constraint.compile(_BYTES).token_automaton().to_acceptor()


def _merges(name: str, folder: Path, work: Path) -> tuple[dict[int, bytes], list[Merge]]:
    """The texts of a byte-level tokenizer, and its merges as its file has them."""
    text = load_known(name, folder, work).json_text
    if text is None:
        raise NoTokenizerError(f"{name}: a tokenizer.json is needed, for its merges")
    model = json.loads(text)["model"]
    vocabulary = {token: byte_level_bytes(shown) for shown, token in model["vocab"].items()}
    pairs = [pair.split(" ") if isinstance(pair, str) else pair for pair in model["merges"]]
    return vocabulary, merge_list(((byte_level_bytes(a), byte_level_bytes(b)) for a, b in pairs), vocabulary)


def _grow(pattern: str, vocabulary: dict[int, bytes], merges: list[Merge], most: int) -> Growth:
    """The first merges that change the pattern's machine, one after the other."""
    growth = Growth(pattern)
    machine = minimize(in_tokens(_byte_acceptor(tk.regex(pattern)), vocabulary))
    product, is_made = machine, True
    growth.states.append(machine.states)
    growth.tokens.append(len(machine.symbols))
    growth.naive.append(machine.states)
    for merge in merges:
        if not {merge.left, merge.right} <= machine.symbols:
            continue
        began = time.perf_counter()
        *_, after = promotions(machine, [merge])
        growth.seconds += time.perf_counter() - began
        if after == machine:
            continue
        machine = after
        growth.states.append(machine.states)
        growth.tokens.append(max(growth.tokens[-1] + 1, len(machine.symbols)))
        if is_made:
            try:
                symbols = {label[1] for row in _rows(product) for label, _ in row} | {merge.left, merge.right}
                product = compose_failing(
                    product, gadget(merge, symbols - {-1}), tk.Limits(states=_NAIVE_STATES)
                )
                growth.naive.append(product.states)
            except tk.LimitExceeded:
                is_made = False
        if len(growth.states) > most:
            break
    return growth


def _rows(machine: Any) -> Any:
    """Rows with labels of two symbols, of either kind of machine."""
    from tokamata.automata.compose import as_transducer

    return as_transducer(machine).rows


def _all(tokenizer: str, shown: str, pattern: Acceptor, merges: list[Merge]) -> AllMerges:
    began = time.perf_counter()
    shared = merge_shared(pattern, merges)
    shared_s = time.perf_counter() - began
    after: tuple[int, int] | None = None
    began = time.perf_counter()
    try:
        direct = direct_merge(pattern, merges)
        after = (direct.states, direct.size)
    except tk.LimitExceeded:
        pass
    return AllMerges(
        tokenizer, len(merges), shown, (pattern.states, pattern.size), shared_s, shared.transitions,
        time.perf_counter() - began, after,
    )  # fmt: skip


def _plot(figures: Figures, path: Path) -> None:
    """States by merges, on a logarithmic scale, a picture for each pattern."""
    try:
        from growth_plot import COLOURS, INK, _prepared
    except ImportError as error:
        print(f"no picture: {error}; pip install -r benchmarks/requirements.txt", file=sys.stderr)
        return
    pyplot = _prepared()
    picture, axes = pyplot.subplots(2, 2, figsize=(10, 7), layout="constrained")
    for axis, one in zip(axes.flat, figures.growth, strict=False):
        merges, first = range(len(one.states)), one.states[0]
        lines = (
            ("minimized after every merge", one.states, "-"),
            ("product of gadgets", one.naive, "-"),
            ("bound |A|·(1+|Γ|)", [first * (1 + tokens) for tokens in one.tokens], "--"),
            ("bound k·|A|³ (000, theorem 5.1)", [max(1, k) * first**3 for k in merges], ":"),
        )
        for colour, (name, values, style) in zip(COLOURS, lines, strict=False):
            axis.plot(range(len(values)), values, style, color=colour, label=name, linewidth=1.5)
        axis.set_yscale("log")
        axis.set_title(one.pattern, fontsize=9, loc="left")
        axis.set_xlabel("merges that apply")
        axis.set_ylabel("states")
        axis.grid(which="major", color=INK, alpha=0.25, linewidth=0.5)
    axes.flat[0].legend(fontsize=7.5, frameon=False)
    picture.supxlabel(f"{figures.facts['processor']}, {figures.facts['date']}", fontsize=7)
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


if __name__ == "__main__":
    sys.exit(main())
