"""The tables of ``canonical.py``, from its figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from canonical_accuracy import Accuracy
from canonical_figures import (
    CanonicalFigures,
    SizeFigures,
    TimesFigures,
    VocabularyFigures,
    WalkFigures,
    median_of,
)
from canonical_genlm import NAME
from canonical_tables import ANYTHING
from canonical_walks import BY_FREQUENCY, LONGEST, TOKENIZATIONS, UNIFORM
from report import Table, us
from targets import target_table
from timing import Summary

_EXAMPLES = 4
_COLUMNS = ("p50", "p90", "p99", "p99.9", "largest")


def all_tables(figures: CanonicalFigures) -> list[Table]:
    """Every table for which there are figures, in the order of reading."""
    found = []
    for one in figures.vocabularies:
        found += [_steps_table(one), _firsts_table(one)]
    if figures.vocabularies:
        found.append(_accuracy_table(figures.vocabularies))
    if figures.sizes:
        found += [_tables_table(figures), _masks_table(figures.sizes)]
    for number, table in enumerate(found, 1):
        table.title = f"{number}. {table.title}"
    return [target_table(figures.targets()), *found]


def _five(summary: Summary | None) -> list[str]:
    if summary is None:
        return ["–"] * 5
    values = (summary.median_us, summary.p90_us, summary.p99_us, summary.p999_us, summary.largest_us)
    return [us(value) for value in values]


def _steps_table(one: VocabularyFigures) -> Table:
    table = Table(
        f"{one.title}: masks along random walks (µs)",
        ("pattern", "tokens drawn", "mask of", *_COLUMNS, "masks", "advance, p50", "p99"),
        left=3,
        notes=[
            "The mask alone, into the caller's row, at each new place of a walk; first masks of a constraint "
            "are in the next table. A text begins anew where it can only end, or after "
            f"{LONGEST} tokens; both tokenizations are led along the same tokens.",
            _newness(one.walks),
        ],
    )
    for walk in one.walks:
        table.groups([list(_steps_rows(walk))])
    said = {what: said for walk in one.walks for what, said in walk.refused.items()}
    table.notes += [f"Not taken: `{what}`: {reason}" for what, reason in said.items()]
    table.notes.append(f"{NAME}: {one.genlm}")
    if any(walk.genlm is not None for walk in one.walks):
        table.notes.append(
            f"{NAME}'s filter looks at the token before alone, and at no pattern. It was measured at some "
            "places of the same walks, spread evenly."
        )
    return table


def _newness(walks: Iterable[WalkFigures]) -> str:
    constraints, masks = 0, 0
    for walk in walks:
        summary = walk.times["canonical"].masks
        constraints += walk.constraints
        masks += walk.constraints + (summary.runs if summary else 0)
    share = constraints / masks if masks else 0.0
    return f"Constraints were new, compiled for the walk, at {constraints:,} of {masks:,} masks: {share:.2%}."


def _steps_rows(walk: WalkFigures) -> Iterator[list[str]]:
    for name, times in walk.times.items():
        advances = times.advances
        yield [
            walk.pattern, walk.kind, name, *_five(times.masks), _runs(times.masks),
            us(median_of(advances)), us(advances and advances.p99_us),
        ]  # fmt: skip
    if walk.genlm is not None:
        yield [walk.pattern, walk.kind, NAME, *_five(walk.genlm), _runs(walk.genlm), "–", "–"]


def _runs(summary: Summary | None) -> str:
    return "0" if summary is None else f"{summary.runs:,}"


def _firsts_table(one: VocabularyFigures) -> Table:
    table = Table(
        f"{one.title}: the first mask of a new constraint (µs)",
        (
            "pattern", "mask of", "constraints", "compile, p50", "largest",
            *(f"first mask, {name}" if name == "p50" else name for name in _COLUMNS),
        ),
        notes=[
            "compile: of a constraint at hand, with the tokenizer's tables made. First mask: from there, "
            "matcher() and fill_mask.",
        ],
    )  # fmt: skip
    for pattern, by_name in one.firsts.items():
        table.groups([[_first_row(pattern, name, times) for name, times in by_name.items()]])
    return table


def _first_row(pattern: str, name: str, times: TimesFigures) -> list[str]:
    compiling = times.compiling
    return [
        pattern, name, _runs(times.first), us(median_of(compiling)), us(compiling and compiling.largest_us),
        *_five(times.first),
    ]  # fmt: skip


def _accuracy_table(vocabularies: Sequence[VocabularyFigures]) -> Table:
    table = Table(
        "Right and wrong, on canonical encodings of paragraphs",
        (
            "tokenizer", "filter", "canonical next tokens", "forbidden", "share", "random allowed tokens",
            "not canonical", "share",
        ),
        notes=[
            "By the tokenizer's own program. A random allowed token, drawn uniformly at each place, is "
            "canonical if a text is found whose encoding begins with the tokens before it and it, among "
            "short continuations; control tokens are not drawn."
        ],
    )  # fmt: skip
    for one in vocabularies:
        table.groups([[_accuracy_row(one.title, name, found) for name, found in one.accuracy.items()]])
        if one.left_out:
            table.notes.append(
                f"{one.title}: {one.left_out} paragraphs left out; it does not give them back."
            )
    for one in vocabularies:
        for name, found in one.accuracy.items():
            kinds = (("forbids", found.forbidden_examples), ("allows", found.wrong_examples))
            for verb, examples in kinds if name != "tokamata, any" else ():
                if examples:
                    table.notes.append(f"{one.title}: {name} {verb} {'; '.join(_some(examples))}.")
    return table


def _some(examples: Sequence[str]) -> list[str]:
    """A few, from all over."""
    return list(examples[:: -(-len(examples) // _EXAMPLES)])


def _accuracy_row(title: str, name: str, found: Accuracy) -> list[str]:
    return [
        title, name, f"{found.asked:,}", f"{found.forbidden:,}", _share(found.forbidden, found.asked),
        f"{found.drawn:,}", f"{found.wrong:,}", _share(found.wrong, found.drawn),
    ]  # fmt: skip


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.2%}" if whole else "–"


def _tables_table(figures: CanonicalFigures) -> Table:
    table = Table(
        "A tokenizer's tables",
        (
            "tokenizer", "tokens", "built, s", "largest", "from disk, s", "on disk, MB", "in memory, MB",
            "after the walks, MB", "first mask, ms",
        ),
        left=1,
        notes=[
            'The first compile(…, tokenization="canonical") for a vocabulary whose trie is made: with an '
            "empty cache folder, and again with what that left there. Medians; a dash where nothing is kept.",
            "First mask: the first matcher of all and its mask, when memos are empty. After the walks: those "
            "of the next table, when memos are full.",
        ],
    )  # fmt: skip
    for size in figures.sizes:
        table.rows.append(
            (
                size.title, f"{size.width:,}", *(_scaled(value, 1e6) for value in _built(size)),
                _scaled(median_of(size.kept), 1e6),
                f"{size.file_bytes / 1e6:.1f}" if size.file_bytes else "–", f"{size.memory_bytes / 1e6:.1f}",
                f"{size.walked_bytes / 1e6:.1f}", _scaled(median_of(size.first_mask), 1e3),
            )
        )  # fmt: skip
    table.notes += [f"{size.title}: {size.refused}" for size in figures.sizes if size.refused]
    table.notes += [
        f"{one.title}: {one.memory_bytes / 1e6:.1f} MB after all the walks and paragraphs above."
        for one in figures.vocabularies
    ]
    return table


def _built(size: SizeFigures) -> tuple[float | None, float | None]:
    return median_of(size.built), None if size.built is None else size.built.largest_us


def _scaled(value_us: float | None, by: float) -> str:
    return "–" if value_us is None else us(value_us / by)


def _masks_table(sizes: Sequence[SizeFigures]) -> Table:
    kinds = (UNIFORM, BY_FREQUENCY)
    table = Table(
        f"Masks of {ANYTHING} by the vocabulary (µs)",
        ("tokenizer", "tokens drawn", "tokens", "canonical, p50", "p99", "any, p50", "p99", "masks of each"),
    )
    for size in sizes:
        rows = []
        for kind in kinds:
            if kind not in size.walks:
                continue
            masks = [size.walks[kind].times[name].masks for name in TOKENIZATIONS]
            values = [us(value) for one in masks for value in (median_of(one), one and one.p99_us)]
            rows.append([size.title, kind, f"{size.width:,}", *values, _runs(masks[0])])
        table.groups([rows])
    return table
