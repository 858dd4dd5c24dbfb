"""Writes the answers of every arm into a file, which ``python -m benchmarks.answers`` makes tables of.

    python -m benchmarks.answers.write --answers build/answers.jsonl

A run continues the file: it writes what is missing there, batch by batch, so one that ends early loses one
batch.  It needs tokamata, torch, transformers, tokenizers, llguidance and xgrammar, and no network.
"""

from __future__ import annotations

import json
import sys
import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch

from benchmarks.answers.arms import ARMS, masks_of
from benchmarks.answers.batches import Job, accepts, write_all
from benchmarks.answers.questions import DIGEST, Question, all_questions, digest
from benchmarks.common import environment
from benchmarks.common.program import say
from tokamata.decoding.hosts import vocabulary_of
from tokamata.demo import default_model_folder
from tokamata.integrations.models import load_model

# A text may have so many tokens: those of the known answer in the spelling of the examples, and room for
# another spelling.
_TIMES, _MORE = 2, 16
_BATCH = {"cuda": 512, "cpu": 16}


def main() -> int:
    """The program."""
    parser = ArgumentParser(description=__doc__.partition("\n")[0])
    add = parser.add_argument
    add(
        "--answers",
        type=Path,
        default=Path("build/answers.jsonl"),
        metavar="FILE",
        help="to write or continue",
    )
    add("--model", type=Path, metavar="FOLDER", help="default: Gemma 3 270M, from the package of `make demo`")
    add("--device", default="cuda" if torch.cuda.is_available() else "cpu", help="of the model: cpu, cuda")
    add("--dtype", default="float32", choices=("float32", "bfloat16"), help="of the model")
    add("--batch", type=int, metavar="N", help="texts at once")
    add("--count", type=int, metavar="N", help="questions of each kind (default: all)")
    add("--arms", default="", metavar="NAMES", help="with semicolons (default: all)")
    options = parser.parse_args()
    questions = all_questions()
    if digest(questions) != DIGEST:
        print(f"these are other questions: {digest(questions)}, not {DIGEST}", file=sys.stderr)
        return 2
    names = [name.strip() for name in options.arms.split(";") if name.strip()]
    chosen = [arm for arm in ARMS if not names or arm.name in names]
    if unknown := set(names) - {arm.name for arm in ARMS}:
        print(
            f"no arm is called {', '.join(unknown)}; they are {'; '.join(arm.name for arm in ARMS)}",
            file=sys.stderr,
        )
        return 2
    _write(chosen, _first(questions, options.count), options)
    return 0


def _first(questions: Sequence[Question], count: int | None) -> list[Question]:
    """The first of each kind."""
    seen: Counter[str] = Counter()
    first = []
    for question in questions:
        seen[question.kind] += 1
        if count is None or seen[question.kind] <= count:
            first.append(question)
    return first


def _write(arms: Sequence[Any], questions: Sequence[Question], options: Namespace) -> None:
    folder = options.model or default_model_folder()
    model, tokenizer = load_model(folder)
    model = model.to(device=options.device, dtype=getattr(torch, options.dtype))
    vocabulary = vocabulary_of(model, tokenizer)
    jobs = [_job(question, tokenizer) for question in questions]
    done = _done(options.answers)
    row = np.zeros((vocabulary.width + 31) // 32, dtype=np.int32)
    options.answers.parent.mkdir(parents=True, exist_ok=True)
    with options.answers.open("a", encoding="utf-8") as file:

        def keep(line: dict[str, Any]) -> None:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")

        keep({"facts": _facts(folder, options)})
        for arm in arms:
            missing = [job for job in jobs if (arm.name, job.id) not in done]
            start = time.perf_counter()
            masks = masks_of(arm, vocabulary, folder / "tokenizer.json") if missing else None
            if masks is not None:
                keep({"accepts": {job.id: accepts(job, masks, row) for job in missing}, "of": arm.name})
            for written in write_all(
                model, vocabulary, missing, masks, options.batch or _BATCH[torch.device(options.device).type]
            ):
                keep({"arm": arm.name} | asdict(written))
                file.flush()
            say(f"{arm.name}: {len(missing)} answers, {time.perf_counter() - start:.1f} s")


def _job(question: Question, tokenizer: Any) -> Job:
    known = tokenizer(question.answer, add_special_tokens=False)["input_ids"]
    prompt = tokenizer(question.prompt)["input_ids"]
    return Job(question.id, prompt, question.schema, _TIMES * len(known) + _MORE, known)


def _done(path: Path) -> set[tuple[str, str]]:
    """What the file has: arms and questions.  A last line that was cut off is completed by a line break."""
    done = set()
    if path.exists():
        text = path.read_text("utf-8")
        if text and not text.endswith("\n"):
            path.write_text(text[: text.rfind("\n") + 1], "utf-8")
        for line in text.splitlines():
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if "arm" in row:
                done.add((row["arm"], row["id"]))
    return done


def _facts(folder: Path, options: Namespace) -> dict[str, str]:
    """What the answers depend on."""
    device = torch.device(options.device)
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else "the processor"
    return environment.describe(f"torch has {torch.get_num_threads()} threads") | {
        "model": f"{folder.name}, {options.dtype}, on {name}",
        "questions": DIGEST,
    }


if __name__ == "__main__":
    raise SystemExit(main())
