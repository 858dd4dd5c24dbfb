"""The calls that vLLM's manager of structured outputs makes of a grammar, without an engine or a model.

    .venv/bin/python -m benchmarks.vllm_calls           # after make bench-vllm or make test-vllm

Each back end has the real manager in a process of its own, in the environment of vLLM, with Gemma 3's
tokenizer.  The manager is called as the scheduler calls it, along valid values of MaskBench's schemas.  All
times are processor time of the thread that calls it, so another program on the machine changes little.
"""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.common import environment
from benchmarks.common.child import Child, ChildError
from benchmarks.common.program import parser_for, progress, run, say
from benchmarks.common.report import Report, Target, ranks
from benchmarks.vllm.cases import Case, draw_cases
from benchmarks.vllm_calls.worker import BACKENDS, MOST_AT_ONCE
from tests.support.paths import ROOT
from tokamata.demo import default_model_folder

_ENVIRONMENT = ROOT / "build/environments/vllm"
_WORKER = Path(__file__).with_name("worker.py")
_ANSWER_S = 200.0
_OURS, _PEER = "tokamata", "guidance"


@dataclass(frozen=True)
class Setting:
    """How the texts are written.

    Attributes:
        name: for the tables.
        at_once: how many texts are written together.
        spare: ``max_tokens`` beyond the tokens of the text; ``None``: as many as the context has.
        drafted: how many tokens are drafted in each step.
    """

    name: str
    at_once: int
    spare: int | None = None
    drafted: int = 0


_SETTINGS = [
    Setting("one at once", 1),
    Setting("eight at once", MOST_AT_ONCE),
    Setting("eight at once, 8 tokens to spare", MOST_AT_ONCE, spare=8),
    Setting("eight at once, drafts of 4", MOST_AT_ONCE, drafted=4),
]


@dataclass
class Replayed:
    """What a back end has done with all texts in a setting; times in nanoseconds."""

    backend: str
    setting: Setting
    tokens: int = 0
    compile: list[int] = field(default_factory=list)
    prepare: list[int] = field(default_factory=list)
    all: int = 0
    calls: dict[str, list[int]] = field(default_factory=dict)

    def add(self, answer: dict[str, Any]) -> None:
        """The answer of a worker."""
        self.tokens += answer["tokens"]
        self.compile += answer["compile"]
        self.prepare.append(answer["prepare"])
        self.all += answer["all"]
        for name, times in answer["calls"].items():
            self.calls.setdefault(name, []).extend(times)

    @property
    def mask_us(self) -> float:
        """All calls of the grammar, for each token."""
        return sum(map(sum, self.calls.values())) / max(self.tokens, 1) / 1e3


def main() -> int:
    """The program."""
    parser = parser_for(__doc__)
    add = parser.add_argument
    add("--backends", default=",".join(BACKENDS), metavar="NAMES", help="which, separated by commas")
    add("--environment", type=Path, default=_ENVIRONMENT, metavar="FOLDER", help="with vLLM")
    return run(measure, parser.parse_args())


def measure(options: Namespace, work: Path) -> Report:
    """Each setting with schemas of its own, so that no schema was seen before."""
    names = options.backends.split(",")
    count = options.count or (8 if options.quick else 96)
    needed = count * len(_SETTINGS)
    facts = environment.describe(threads="one is timed")
    drawn = draw_cases(options.schemas if options.schemas.exists() else None, 2 * needed, options.seed)
    cases, refused = _accepted_by_all([case for case in drawn if case.text], names, options.environment, work)
    share = min(count, len(cases) // len(_SETTINGS))
    children = {name: _started(name, options.environment, work) for name in names}
    try:
        versions = [child.receive(_ANSWER_S)["versions"] for child in children.values()]
        replayed = []
        with progress("vllm_calls", len(_SETTINGS)) as step:
            for number, setting in enumerate(_SETTINGS):
                replayed += _replay(cases[number * share : (number + 1) * share], setting, children)
                step(setting.name)
    finally:
        for child in children.values():
            child.close()
    facts["packages of vLLM"] = ", ".join(f"{name} {version}" for name, version in versions[0].items())
    facts["schemas"] = f"{share} for each setting, seed {options.seed}, that all back ends serve"
    facts["texts"] = "a valid value of each, with Gemma 3's tokens"
    return _report(facts, replayed, refused)


def _accepted_by_all(
    cases: list[Case], names: list[str], folder: Path, work: Path
) -> tuple[list[Case], dict[str, int]]:
    """The cases whose text every back end accepts, and how many each does not; by processes of their own."""
    found = cases
    counts: dict[str, int] = {}
    for name in names:
        with _started(name, folder, work) as child:
            child.receive(_ANSWER_S)
            wrong = set()
            for begin in range(0, len(cases), MOST_AT_ONCE):
                group = cases[begin : begin + MOST_AT_ONCE]
                answer = _ask(child, group, _SETTINGS[1])
                wrong |= {case.name for case, why in zip(group, answer["refused"], strict=True) if why}
        counts[name] = len(wrong)
        found = [case for case in found if case.name not in wrong]
    return found, counts


def _replay(cases: list[Case], setting: Setting, children: dict[str, Child]) -> list[Replayed]:
    """All back ends in turns."""
    names = list(children)
    replayed = {name: Replayed(name, setting) for name in names}
    for turn, begin in enumerate(range(0, len(cases), setting.at_once)):
        for place in range(len(names)):
            name = names[(turn + place) % len(names)]
            replayed[name].add(_ask(children[name], cases[begin : begin + setting.at_once], setting))
    return list(replayed.values())


def _started(name: str, folder: Path, work: Path) -> Child:
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    if not python.exists():
        raise ChildError(f"{python}: no such file; run make test-vllm, which makes the environment of vLLM")
    say(f"starting {name}")
    # An empty cache: nothing of an earlier process helps.
    cache = work / f"cache-{len(list(work.iterdir()))}"
    cache.mkdir()
    variables = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    command = [str(python), str(_WORKER), str(default_model_folder()), name]
    return Child(command, name, variables | {"TOKAMATA_CACHE": str(cache)})


def _ask(child: Child, cases: list[Case], setting: Setting) -> dict[str, Any]:
    requests = [{"schema": case.schema, "text": case.text, "spare": setting.spare} for case in cases]
    return child.ask({"requests": requests, "drafted": setting.drafted}, _ANSWER_S)


def _report(facts: dict[str, str], replayed: list[Replayed], refused: dict[str, int]) -> Report:
    report = Report(facts)
    report.add(
        "Masks: processor time (µs)",
        [_masks(one) for one in replayed],
        [
            "Mean of a token: all calls of the grammar (rows, tokens read, drafts checked and taken back) "
            "for each token of the texts. Row: one call that fills a row. No schema was seen before."
        ],
    )
    report.add(
        "Schemas: from their text to a grammar (ms)",
        [_compile(one) for one in replayed],
        [
            "In the background: processor time of other threads, in the 50 ms in which a model would read "
            "the prompts."
        ],
    )
    rows = [{"back end": name, "refused": count} for name, count in refused.items()]
    report.add("Texts refused, and left out for all", rows)
    by_name = {(one.backend, one.setting): one for one in replayed}
    for setting in _SETTINGS:
        ours, peer = by_name.get((_OURS, setting)), by_name.get((_PEER, setting))
        if ours and peer:
            what = f"mask time of a token, mean, of guidance's: {setting.name}"
            report.targets.append(Target(what, ours.mask_us / peer.mask_us, 0.1, "times"))
    return report


def _masks(one: Replayed) -> dict[str, Any]:
    rows = ranks(one.calls["fill_bitmask"], ("p50", "mean", "p99", "largest"))
    return {
        "texts": one.setting.name,
        "back end": one.backend,
        "tokens": one.tokens,
        "mean of a token": one.mask_us,
        **{f"row, {name}": value for name, value in rows.items()},
        "with the manager": one.all / max(one.tokens, 1) / 1e3,
    }


def _compile(one: Replayed) -> dict[str, Any]:
    return {
        "texts": one.setting.name,
        "back end": one.backend,
        **ranks([taken / 1e3 for taken in one.compile], ("p50", "p90", "largest")),
        "in the background, mean": sum(one.prepare) / max(len(one.compile), 1) / 1e6,
    }


if __name__ == "__main__":
    sys.exit(main())
