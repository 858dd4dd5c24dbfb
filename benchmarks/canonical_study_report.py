"""The tables of ``canonical_study.py``, from its figures."""

from __future__ import annotations

import statistics
import unicodedata
from collections.abc import Sequence

from canonical_study_figures import (
    ANY,
    CANONICAL,
    HEALED,
    WAYS,
    CaseFigures,
    Estimate,
    StudyFigures,
    differing,
    estimate,
    example,
    foreign,
    gains,
    left,
    per_code_point,
    preferences,
)
from canonical_study_scoring import Judged
from report import Table

import tokamata as tk

ALL = "all"
_OTHERS = (ANY, HEALED)
_SHAPES = ("tokens", "letters", "budget used up")


def all_tables(figures: StudyFigures, vocabulary: tk.Vocabulary) -> list[Table]:
    """Every table, in the order of reading."""
    tables = [
        _leaving(figures.cases),
        _gains(figures.cases),
        _preferences(figures.cases),
        _shapes(figures.cases),
        _examples(figures.cases, vocabulary),
        _constraints(figures.cases),
    ]
    for number, table in enumerate(tables, 1):
        table.title = f"{number}. {table.title}"
    return tables


def share(part: int, of: int) -> str:
    """A share in per cent, or a dash where there is nothing to take it of."""
    return f"{100 * part / of:.0f} %" if of else "–"


def signed(value: float) -> str:
    """A figure with its sign, to one digit; a dash where there is none."""
    return "–" if value != value else f"{value:+.1f}".replace("-", "−") if abs(value) >= 0.05 else "0.0"


def interval(value: Estimate) -> str:
    """The bounds of an estimate."""
    return "–" if value.mean != value.mean else f"{signed(value.low)} … {signed(value.high)}"


def _leaving(cases: Sequence[CaseFigures]) -> Table:
    table = Table(
        "How often the tokens written are not the tokenizer's own",
        (
            "constraint", "greedy: any", "any, healed", "sampled: any", "any, healed", "canonical",
            "tokens: any", "any, healed", "at the border: any", "any, healed",
        ),
        left=1,
        notes=[
            "Texts whose tokens, behind the prompt, are not those that the tokenizer's own program writes"
            " for prompt and text together. 'tokens' is the share of tokens written, in the samples, that"
            " it does not write there.",
            "'at the border': of the sampled texts that leave, those that do so at the end of the prompt.",
            "'any' does not heal the prompt, 'canonical' does: the defaults of tokamata.generate.",
        ],
    )  # fmt: skip
    rows = [_leaving_row(one.name, [one]) for one in cases]
    return table.groups([rows, [_leaving_row(ALL, cases)]])


def _leaving_row(name: str, cases: Sequence[CaseFigures]) -> list[str]:
    greedy, sampled = (
        {way: _groups(cases, way, greedy=is_greedy) for way in WAYS} for is_greedy in (True, False)
    )
    away = [[one for group in sampled[way] for one in group if not one.is_canonical] for way in _OTHERS]
    return [
        name,
        *(share(*left(greedy[way])) for way in _OTHERS),
        *(share(*left(sampled[way])) for way in WAYS),
        *(share(*foreign(sampled[way])) for way in _OTHERS),
        *(share(sum(one.parts_at_border for one in texts), len(texts)) for texts in away),
    ]


def _groups(cases: Sequence[CaseFigures], way: str, *, greedy: bool) -> list[list[Judged]]:
    return [group for case in cases for group in case.of(way, greedy=greedy)]


def _gains(cases: Sequence[CaseFigures]) -> Table:
    table = Table(
        "Log-probability of the tokens written less that of the tokenizer's own tokens (nats a text)",
        (
            "constraint", "way", "greedy, that left", "sampled, all", "95 %", "sampled, that left", "median",
            "lowest", "highest", "texts that left",
        ),
        notes=[
            "For the same text, by the model without a constraint, given the prompt. Below 0: the model "
            "holds the tokenizer's own tokens more probable than those that it wrote. −10 nats is a "
            "factor of 22,000.",
            "'all' counts 0 for texts in the tokenizer's own tokens. Lowest and highest: of the samples "
            "that left.",
        ],
    )  # fmt: skip
    for one in cases:
        rows = [_gain_row(one.name, way, [one]) for way in _OTHERS]
        table.groups([[row for row in rows if row[-1] != "0"]])
    return table.groups([[_gain_row(ALL, way, cases) for way in _OTHERS]])


def _gain_row(name: str, way: str, cases: Sequence[CaseFigures]) -> list[str]:
    greedy, sampled = (_groups(cases, way, greedy=is_greedy) for is_greedy in (True, False))
    every, away = estimate(gains(sampled)), estimate(gains(sampled, of_left=True))
    values = [value for group in gains(sampled, of_left=True) for value in group]
    return [
        name, way, signed(estimate(gains(greedy, of_left=True)).mean),
        signed(every.mean), interval(every), signed(away.mean), signed(_median(values)),
        signed(min(values, default=float("nan"))), signed(max(values, default=float("nan"))),
        str(len(values) + left(greedy)[0]),
    ]  # fmt: skip


def _preferences(cases: Sequence[CaseFigures]) -> Table:
    table = Table(
        "Log-probability of the texts, each in the tokenizer's own tokens (nats)",
        (
            "constraint", "any", "any, healed", "canonical",
            "canonical − any", "95 %", "canonical − any, healed", "95 %",
            "higher : same : lower", "greedy", "per letter: any", "any, healed", "canonical",
        ),
        left=1,
        notes=[
            "By the model without a constraint, given the prompt: how probable it holds the texts that it"
            " wrote, read as it reads all others. Means of the samples, a text; above 0: what was written"
            " canonically is more probable.",
            "'higher : same : lower' counts pairs of samples with the same random numbers, canonical "
            "beside any; 'greedy' is canonical − any of the greedy texts. 'per letter' is nats a code "
            "point of the text, since longer texts are less probable.",
        ],
    )  # fmt: skip
    rows = [_preference_row(one.name, [one]) for one in cases]
    return table.groups([rows, [_preference_row(ALL, cases)]])


def _preference_row(name: str, cases: Sequence[CaseFigures]) -> list[str]:
    groups = {way: _groups(cases, way, greedy=False) for way in WAYS}
    found = {
        way: [group for case in cases for group in preferences(case, way, greedy=False)] for way in _OTHERS
    }
    cells = []
    for way in _OTHERS:
        value = estimate(found[way])
        cells += [signed(value.mean), interval(value)]
    greedy = [group for case in cases for group in preferences(case, ANY, greedy=True)]
    pairs = [value for group in found[ANY] for value in group]
    higher, lower = sum(value > SAME for value in pairs), sum(value < -SAME for value in pairs)
    return [
        name,
        *(signed(estimate(_own(groups[way])).mean) for way in WAYS),
        *cells,
        f"{higher} : {len(pairs) - higher - lower} : {lower}",
        signed(estimate(greedy).mean),
        *(f"{per_code_point(groups[way]):.2f}".replace("-", "−") for way in WAYS),
    ]


SAME = 0.01
"""Nats within which two log-probabilities count as the same: they are sums in another order."""


def _own(groups: Sequence[Sequence[Judged]]) -> list[list[float]]:
    return [[one.own_log_probability for one in group] for group in groups]


def _shapes(cases: Sequence[CaseFigures]) -> Table:
    table = Table(
        "How the texts differ",
        (
            "constraint", "greedy texts that differ: any", "any, healed",
            *(f"{what}: {way}" if way == ANY else way for what in _SHAPES for way in WAYS),
        ),
        left=1,
        notes=[
            "Greedy texts that are not what was written canonically behind the same prompt. Tokens and "
            "letters (code points) are means of the samples; tokens count the end of a prompt that was "
            "healed. 'budget used up': samples that ended because"
            " no token was left; all others ended where the pattern or the model ended them.",
        ],
    )  # fmt: skip
    rows = [_shape_row(one.name, [one]) for one in cases]
    return table.groups([rows, [_shape_row(ALL, cases)]])


def _shape_row(name: str, cases: Sequence[CaseFigures]) -> list[str]:
    samples = {way: [one for group in _groups(cases, way, greedy=False) for one in group] for way in WAYS}
    prompts = sum(len(case.prompts) for case in cases)
    cells = [f"{sum(differing(case, way) for case in cases)} of {prompts}" for way in _OTHERS]
    cells += [
        f"{_mean([len(one.output.tokens) - one.output.start for one in samples[way]]):.1f}" for way in WAYS
    ]
    cells += [f"{_mean([len(one.output.text) for one in samples[way]]):.1f}" for way in WAYS]
    ended = {way: sum(one.output.finish_reason == "length" for one in samples[way]) for way in WAYS}
    return [name, *cells, *(share(ended[way], len(samples[way])) for way in WAYS)]


def _median(values: Sequence[float]) -> float:
    return statistics.median(values) if values else float("nan")


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else float("nan")


def _examples(cases: Sequence[CaseFigures], vocabulary: tk.Vocabulary) -> Table:
    table = Table(
        "Greedy texts side by side",
        ("constraint", "prompt", "any", "canonical", "written − own", "canonical − any"),
        left=4,
        notes=[
            "│ stands between tokens, ␣ for a space, ⏎ for the end of a line. Of each constraint the "
            "prompt behind which most tokens are not the tokenizer's own; constraints without one are "
            "left out. Where the prompt was healed, the text on the right begins with its end.",
            "'written − own' is that of table 2 for the text on the left, 'canonical − any' that of table 3.",
        ],
    )
    for case in cases:
        place = example(case)
        if place is None:
            continue
        other, ours = case.judged[place][ANY][0], case.judged[place][CANONICAL][0]
        prompt = case.prompts[place]
        row = (
            case.name,
            visible(prompt if len(prompt) <= 40 else "…" + prompt[-39:]),
            *(visible(in_tokens(one.output.tokens[one.output.start :], vocabulary)) for one in (other, ours)),
            signed(other.gain),
            signed(ours.own_log_probability - other.own_log_probability),
        )
        table.rows.append(row)
    return table


def in_tokens(tokens: Sequence[int], vocabulary: tk.Vocabulary) -> str:
    """A text with its borders shown; what is not a whole code point as a replacement character."""
    return "│".join((vocabulary[token] or b"").decode(errors="replace") for token in tokens)


def visible(text: str) -> str:
    """A text in one line whose white space can be seen, safe in a table of Markdown."""
    text = text.replace(" ", "␣").replace("\n", "⏎").replace("\t", "⇥")
    text = "".join("�" if unicodedata.category(c) in ("Cc", "Cf") else c for c in text)
    return "".join(f"\\{c}" if c in "\\`*_[]<>#~$" else c for c in text)


def _constraints(cases: Sequence[CaseFigures]) -> Table:
    table = Table(
        "The constraints", ("constraint", "pattern", "most tokens", "prompts"), left=2,
        notes=["The prompts are in benchmarks/canonical_study_cases.py."],
    )  # fmt: skip
    table.rows += [
        (case.name, f"`{case.pattern}`", str(case.budget), str(len(case.prompts))) for case in cases
    ]
    return table
