"""Measures how many chat templates are read, and judges the renderings by transformers.

    python -m benchmarks.guard.template_reading FOLDER [--draws 20] [--seed 1] [--tools] [--lengths 2] [--json
    FILE]

FOLDER holds templates, one a file (``*.jinja``).  For each template and each shape, every rendering is
settled or not; a cause that is not settled is counted once for each template.  Drawn texts are rendered by
transformers and compared: a difference ends the program with exit code 1.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

from tests.support.templates.judge import Differs, compare, draws
from tokamata.errors import TokamataError
from tokamata.guard.templates.reading import Template, read_template
from tokamata.guard.templates.shapes import Shape, Turn
from tokamata.resources.limits import Limits

PLAIN = [
    Shape.of("user"),
    Shape.of("user", add_generation_prompt=True),
    Shape.of("system", "user", add_generation_prompt=True),
    Shape.of("user", "assistant"),
    Shape.of("system", "user", "assistant"),
    Shape.of("user", "assistant", "user", add_generation_prompt=True),
    Shape.of("system", "user", "assistant", "user", "assistant"),
    Shape.of("system", "user", "assistant", "user", "assistant", "user", add_generation_prompt=True),
]
TOOL = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "The weather of a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string", "description": "Its name."}},
            "required": ["city"],
        },
    },
}
CALL = Turn("assistant", tool_calls=1, arguments=("city",))
WITH_TOOLS = [
    Shape((Turn("system"), Turn("user")), tools=(TOOL,), add_generation_prompt=True),
    Shape((Turn("user"), Turn("assistant", "text", tool_calls=1)), tools=1),
    Shape((Turn("user"), replace(CALL, content=None)), tools=(TOOL,)),
    Shape((Turn("user"), CALL, Turn("tool"), Turn("assistant")), tools=(TOOL,)),
    Shape((Turn("user"), Turn("assistant", reasoning=True), Turn("user")), add_generation_prompt=True),
    Shape((Turn("user", ("text",)), Turn("assistant", ("text", "text")))),
]


def _lengths(template: Template, seconds: float) -> str:
    """Whether finitely many shapes represent all plain conversations, or why that is not known."""
    user, assistant, system = Turn("user"), Turn("assistant"), Turn("system")
    found = template.conversations([user, assistant], first=[system], limits=Limits(seconds=seconds))
    if found.unsettled is not None:
        return found.unsettled.what
    return "represented" if found.template is template else "represented by a widened template"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--draws", type=int, default=20, help="of each template and shape")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tools", action="store_true", help="shapes with tools, reasoning and parts")
    parser.add_argument("--lengths", type=float, default=0.0, help="seconds for conversations of all lengths")
    parser.add_argument("--only", default="", help="part of the names of files")
    parser.add_argument("--json", type=Path, help="where to write what was found")
    options = parser.parse_args()
    chooser = random.Random(options.seed)
    files = [file for file in sorted(options.folder.glob("*.jinja")) if options.only in file.name]
    shapes = WITH_TOOLS if options.tools else PLAIN
    causes: Counter[str] = Counter()
    lengths: Counter[str] = Counter()
    examples: dict[str, str] = {}
    errors: dict[str, str] = {}
    settled = compared = differences = renderings_of_all = unsettled_of_all = refused_everywhere = 0
    untaken = 0
    times: list[float] = []
    most_paths = (0, "")
    for file in files:
        begin = time.perf_counter()
        try:
            template = read_template(file.read_text(encoding="utf-8"), bos_token="<s>", eos_token="</s>")
            found = [(shape, template.renderings(shape)) for shape in shapes]
            if options.lengths:
                lengths.update([_lengths(template, options.lengths)])
        except TokamataError as error:
            errors[file.name] = str(error)
            continue
        times.append(time.perf_counter() - begin)
        every = [rendering for _, renderings in found for rendering in renderings]
        own = {str(one.unsettled.what): str(one.unsettled) for one in every if one.unsettled is not None}
        causes.update(own.keys())
        for cause, shown in own.items():
            examples.setdefault(cause, f"{file.name} {shown}")
        settled += not own
        renderings_of_all += len(every)
        unsettled_of_all += sum(one.unsettled is not None for one in every)
        refused_everywhere += all(one.refused is not None for one in every)
        most_paths = max(most_paths, (max(len(renderings) for _, renderings in found), file.name))
        for shape, renderings in found:
            taken = set()
            for values in draws(shape, renderings, chooser, options.draws):
                try:
                    taken.add(id(compare(template, shape, renderings, values)))
                except Differs as difference:
                    differences += 1
                    print(f"DIFFERENCE {file.name}\n{difference}\n", file=sys.stderr)
                    break
                compared += 1
            untaken += len(renderings) - len(taken)
    summary = {
        "templates": len(files),
        "read": len(files) - len(errors),
        "every rendering settled": settled,
        "refused for every shape": refused_everywhere,
        "renderings": renderings_of_all,
        "renderings not settled": unsettled_of_all,
        "most renderings of a shape": most_paths,
        "draws compared": compared,
        "differences": differences,
        "renderings that no draw took": untaken,
        "ms per template, median": round(1000 * statistics.median(times or [0]), 1),
        "ms per template, most": round(1000 * max(times, default=0), 1),
        "conversations of all lengths": dict(lengths.most_common()),
        "seed": options.seed,
        "errors": errors,
        "causes": [(count, cause, examples[cause]) for cause, count in causes.most_common()],
    }
    for name, value in summary.items():
        if isinstance(value, (list, dict)):
            print(f"{name}: {len(value)}")
            for item in value if isinstance(value, list) else value.items():
                print("   ", *item)
        else:
            print(f"{name}: {value}")
    if options.json:
        options.json.write_text(json.dumps(summary, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return 1 if differences else 0


if __name__ == "__main__":
    raise SystemExit(main())
