"""The figures that a run reports, and their targets."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field

import cases
from agreement import Difference
from alone import COPY, FILL, FILL_STEP, VIEW, VIEW_STEP, Loading
from cases import LARGE_BOUND, SMALL_BOUND
from targets import Target, as_json
from timing import Summary, summarize
from trials import Result


@dataclass(frozen=True)
class EngineFigures:
    """One engine with one pattern, in microseconds; see ``trials.Result``."""

    compile_and_mask: Summary | None
    compile: Summary | None
    first_mask: Summary | None
    after_others: Summary | None
    whole: Summary | None
    first_call_us: float | None
    cold_fill: Summary | None
    cold_step: Summary | None
    warm_fill: Summary | None
    warm_step: Summary | None
    refused: str | None
    wrong: str | None


def reduce(result: Result, clock_ns: float) -> EngineFigures:
    """The summaries of all trials, less what reading the clock costs."""
    return EngineFigures(
        compile_and_mask=summarize(result.both, 2 * clock_ns),
        compile=summarize(result.compiling, clock_ns),
        first_mask=summarize(result.mask, clock_ns),
        after_others=summarize(result.after_others, 2 * clock_ns),
        whole=summarize(result.whole),
        first_call_us=None if result.first is None else result.first / 1e3,
        cold_fill=summarize(result.cold.fill, clock_ns),
        cold_step=summarize(result.cold.step, 2 * clock_ns),
        warm_fill=summarize(result.warm.fill, clock_ns),
        warm_step=summarize(result.warm.step, 2 * clock_ns),
        refused=result.refused,
        wrong=result.wrong,
    )


@dataclass
class Figures:
    """What a run has measured.

    Attributes:
        facts: date, machine, versions, where the vocabulary comes from.
        clock_ns: the cost of reading the clock, which was taken off.
        paper: the four regexes and two like them, by name, then by engine.
        wide: the wide states, by pattern, then by engine.
        differences: where first masks differ.
        seen: masks of states seen before, by width of the vocabulary, then by what was called.
        steps: steps in states seen before, by pattern, then by what was called.
        bounds: small and large bound, by pattern.
        bound_fill, bound_step: a walk in the large bound.
        loading: of the vocabulary.
        importing: of packages, in a fresh process, by program.
        is_json: whether the vocabulary was loaded from a ``tokenizer.json``.
    """

    facts: dict[str, str]
    clock_ns: float
    is_json: bool
    paper: dict[str, dict[str, EngineFigures]] = field(default_factory=dict)
    wide: dict[str, dict[str, EngineFigures]] = field(default_factory=dict)
    differences: list[Difference] = field(default_factory=list)
    seen: dict[int, dict[str, Summary]] = field(default_factory=dict)
    steps: dict[str, dict[str, Summary]] = field(default_factory=dict)
    bounds: dict[str, EngineFigures] = field(default_factory=dict)
    bound_fill: Summary | None = None
    bound_step: Summary | None = None
    loading: Loading | None = None
    importing: dict[str, Summary] = field(default_factory=dict)

    def as_json(self) -> dict[str, object]:
        """Everything in plain types, targets included; ids of differing tokens by their number."""
        content = asdict(self)
        for found in content["differences"]:
            for key in ("only_ours", "only_theirs"):
                found[key] = len(found[key])
        content["targets"] = as_json(self.targets())
        return content

    def targets(self) -> list[Target]:
        """Each target and the value that was measured."""
        return [
            *self._compile_targets(),
            *self._seen_targets(),
            *self._bound_targets(),
            *self._loading_targets(),
        ]

    def _compile_targets(self) -> list[Target]:
        found = []
        for case in cases.PAPER:
            value = _median(self.paper[case.name]["tokamata"].compile_and_mask)
            found.append(Target(f"compile + first mask: {case.name}", value, cases.COMPILE_AND_MASK_US, "µs"))
        for pattern in cases.WIDE_WITH_TARGET:
            if pattern in self.wide:
                value = _median(self.wide[pattern]["tokamata"].compile_and_mask)
                found.append(
                    Target(f"the same, wide state: {pattern}", value, cases.WIDE_FIRST_MASK_US, "µs")
                )
        return found

    def _seen_targets(self) -> list[Target]:
        found = []
        for width, by_call in self.seen.items():
            fill, copy, view = (_median(by_call.get(name)) for name in (FILL, COPY, VIEW))
            over = None if fill is None or copy is None else fill - copy
            found += [
                Target(f"fill_mask beyond np.copyto, {width:,} tokens", over, cases.FILL_OVER_COPY_US, "µs"),
                Target(f"m.mask, {width:,} tokens", view, cases.MASK_VIEW_US, "µs"),
            ]
        for case, by_call in self.steps.items():
            fill, view = (_median(by_call.get(name)) for name in (FILL_STEP, VIEW_STEP))
            found += [
                Target(f"fill_mask + advance: {case}", fill, cases.FILL_AND_ADVANCE_US, "µs"),
                Target(f"m.mask + advance: {case}", view, cases.VIEW_AND_ADVANCE_US, "µs"),
            ]
        return found

    def _bound_targets(self) -> list[Target]:
        if not self.bounds:
            return []
        small, large = (_median(self.bounds[pattern].compile) for pattern in (SMALL_BOUND, LARGE_BOUND))
        value = None if not small or large is None else large / small
        return [Target(f"compile {LARGE_BOUND} / compile {SMALL_BOUND}", value, cases.BOUND_RATIO, "times")]

    def _loading_targets(self) -> list[Target]:
        found = []
        if self.loading is not None:
            whole, trie = _median(self.loading.whole), _median(self.loading.trie)
            seconds = whole / 1e6 if whole is not None and self.is_json else None
            found += [
                Target("load tokenizer.json, trie included", seconds, cases.LOAD_S, "s"),
                Target("of which the trie", None if trie is None else trie / 1e3, cases.TRIE_MS, "ms"),
                Target("size of the trie", self.loading.trie_bytes / 1e6, cases.TRIE_MB, "MB"),
            ]
        importing = _median(self.importing.get("import tokamata"))
        milliseconds = None if importing is None else importing / 1e3
        return [*found, Target("import tokamata", milliseconds, cases.IMPORT_MS, "ms")]


def best_peer(by_engine: dict[str, EngineFigures], figure: str) -> tuple[str, Summary] | None:
    """The peer with the smallest median of a figure (a name of a field of ``EngineFigures``)."""
    found = [
        (name, summary)
        for name, figures in by_engine.items()
        if name != "tokamata" and (summary := getattr(figures, figure)) is not None
    ]
    return min(found, key=lambda pair: pair[1].median_us, default=None)


def _median(summary: Summary | None) -> float | None:
    return None if summary is None else summary.median_us
