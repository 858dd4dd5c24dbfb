"""What canonical tokenization is good for: Gemma 3 270M writes with it and without, and judges both.

    python benchmarks/canonical_study.py --markdown study.md --plot study.svg --json study.json
    python benchmarks/canonical_study.py --quick                     # few texts, to see that it works
    python benchmarks/canonical_study.py --from study.json --plot study.svg     # tables and plot again

The model writes texts under constraints that people use: with any tokens that spell the text, the same with
the prompt healed, and with the tokenizer's own tokens alone; one greedy text for each prompt, and samples at
temperature 1.  The tokenizer's program says which texts are in its own tokens, and the model, without a
constraint, how probable it holds both.  Nothing is timed.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import environment
import torch
from canonical_study_cases import CASES, StudyCase
from canonical_study_figures import CaseFigures, StudyFigures
from canonical_study_report import all_tables
from canonical_study_scoring import Judged, judge
from canonical_study_writing import WAYS, Output, write
from running import Progress, add_output_options, draw, publish, use_one_thread

import tokamata as tk
from tokamata.decoding.hosts import vocabulary_of
from tokamata.integrations.models import default_model_folder, load_model


def main() -> int:
    """The program; returns its exit status: 1 where a canonical text is not, 2 where it cannot run."""
    options = _options()
    use_one_thread()
    torch.set_num_threads(1)
    try:
        model, tokenizer = load_model(options.model or default_model_folder())
        vocabulary = vocabulary_of(model, tokenizer)
        stored = options.stored
        figures = _measure(options, model, tokenizer, vocabulary) if stored is None else _read(stored)
    except (tk.TokamataError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    publish(all_tables(figures, vocabulary), figures.facts, figures.as_json(), options)
    draw("canonical_study_plot", "draw", figures, options.plot)
    for line in figures.wrong:
        print(f"wrong: {line}", file=sys.stderr)
    return int(bool(figures.wrong))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--quick", action="store_true", help="two prompts, two samples, to see that it works")
    add("--prompts", type=int, metavar="N", help="of each constraint (default all, quick 2)")
    add("--samples", type=int, metavar="N", help="behind each prompt, in each way (default 5, quick 2)")
    add("--constraints", metavar="NAMES", help="which, with commas (default all)")
    add("--seed", type=int, default=0, metavar="N", help="of the samples")
    add("--model", type=Path, metavar="FOLDER", help="in transformers' form (default: Gemma 3 270M)")
    add("--from", dest="stored", type=Path, metavar="FILE", help="of --json: measure nothing")
    add_output_options(parser)
    add("--plot", type=Path, metavar="FILE", help="draw the figures (.svg, .png)")
    options = parser.parse_args()
    options.samples = options.samples or (2 if options.quick else 5)
    options.prompts = options.prompts or (2 if options.quick else None)
    names = {case.name for case in CASES}
    asked = names if options.constraints is None else set(options.constraints.split(","))
    if asked - names:
        parser.error(f"no constraint {sorted(asked - names)[0]!r}; there are: {', '.join(sorted(names))}")
    options.cases = [case for case in CASES if case.name in asked]
    return options


def _measure(
    options: argparse.Namespace, model: Any, tokenizer: Any, vocabulary: tk.Vocabulary
) -> StudyFigures:
    model = model.float()  # sums of many logarithms, which are to differ by what they mean alone
    facts = environment.describe() | {
        "model": f"{Path(model.name_or_path).name}, computed in float32",
        "texts": f"of each prompt, in each way: 1 greedy, {options.samples} samples at temperature 1, "
        f"seed {options.seed}",
    }
    figures = StudyFigures(facts, [])
    prompts = [case.prompts[: options.prompts] for case in options.cases]
    with Progress("writing", sum(map(len, prompts))) as progress:
        for case, some in zip(options.cases, prompts, strict=True):
            found = CaseFigures(case.name, case.pattern, some, case.budget, [])
            for prompt in some:
                found.judged.append(_judged(case, prompt, options, model, tokenizer, vocabulary))
                progress.step(case.name)
            figures.cases.append(found)
    return figures


def _judged(
    case: StudyCase,
    prompt: str,
    options: argparse.Namespace,
    model: Any,
    tokenizer: Any,
    vocabulary: tk.Vocabulary,
) -> dict[str, list[Judged]]:
    outputs = write(model, tokenizer, vocabulary, case, prompt, options.samples, options.seed)
    judged = judge(model, tokenizer, vocabulary, prompt, outputs)
    return {way: [one for one in judged if one.output.way == way] for way in WAYS}


def _read(path: Path) -> StudyFigures:
    """The figures that ``--json`` stored."""
    content = json.loads(path.read_text(encoding="utf-8"))
    cases = [
        CaseFigures(
            **case | {"judged": [{way: list(map(_one, by[way])) for way in WAYS} for by in case["judged"]]}
        )
        for case in content["cases"]
    ]
    return StudyFigures(content["facts"], cases)


def _one(content: dict[str, Any]) -> Judged:
    return Judged(**content | {"output": Output(**content["output"])})


if __name__ == "__main__":
    sys.exit(main())
