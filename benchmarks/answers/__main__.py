"""Answers under masks: whether tokamata, its options and its peers lead a model into other values.

python -m benchmarks.answers.write --answers build/answers.jsonl    # first: needs the model, best a GPU
python -m benchmarks.answers --answers build/answers.jsonl
"""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from pathlib import Path

from benchmarks.answers.questions import DIGEST, all_questions, digest
from benchmarks.answers.tables import fill_report, judged
from benchmarks.common.program import parser_for, run
from benchmarks.common.report import Report


def main() -> int:
    """The program; its exit status is 1 if an answer of tokamata is not valid."""
    parser = parser_for(__doc__)
    parser.add_argument(
        "--answers", type=Path, default=Path("build/answers.jsonl"), metavar="FILE", help="of write"
    )
    return run(measure, parser.parse_args())


def measure(options: Namespace, work: Path) -> Report:
    """Judges the answers of a file.

    Raises:
        OSError: there is no such file, or it answers other questions.
    """
    if not options.answers.exists():
        raise OSError(f"{options.answers} does not exist; first: python -m benchmarks.answers.write")
    lines = [json.loads(line) for line in options.answers.read_text("utf-8").splitlines()]
    facts = [line["facts"] for line in lines if "facts" in line]
    questions = {question.id: question for question in all_questions()}
    if {digest(all_questions()), *(one["questions"] for one in facts)} != {DIGEST}:
        raise OSError(f"{options.answers} answers other questions than those of {DIGEST}")
    report = Report(dict(facts[-1]))
    accepted: dict[str, dict[str, bool]] = {}
    for line in lines:
        if "accepts" in line:
            accepted.setdefault(line["of"], {}).update(line["accepts"])
    answers = judged([line for line in lines if "arm" in line], accepted, questions)
    if not answers.arms:
        raise OSError(f"{options.answers} has no answers")
    fill_report(answers, report, options.seed)
    return report


if __name__ == "__main__":
    sys.exit(main())
