"""Texts in the languages of the grammars, some hundred for each.

Java: the sources of JPype that the grammar reads, from its source distribution, which pip downloads once.
JSON: instances of MaskBench's schemas, every other one indented.  C: the grammar has a small part of the
language, without a preprocessor, pointers and arrays, and reads no program that people have written; so
programs of that part are drawn.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tarfile
from pathlib import Path

from benchmarks.common.schemas import instances

__all__ = ["texts"]

_JAVA = "jpype1==1.7.1"
_ARCHIVES = Path(__file__).parents[2] / "build" / "benchmarks"
_INSTANCES, _PROGRAMS = 400, 100
_NAMES = (
    "add", "area", "base", "buffer_size", "check_sum", "count", "digits", "distance", "factor",
    "find_largest", "first", "gcd", "height", "index", "is_prime", "item_count", "left", "length",
    "limit", "max_value", "middle", "next_row", "number", "offset", "parse_line", "power", "print_row",
    "product", "rate", "read_byte", "result", "reverse", "right", "scale", "second", "size",
    "sort_values", "speed", "step", "sum", "swap", "temperature", "total", "update", "value", "weight",
    "width", "write_block", "x", "y",
)  # fmt: skip


def texts(name: str, schemas: Path, seed: int) -> list[str]:
    """The texts for a grammar; of Java, also those that the grammar does not read.

    Raises:
        OSError: pip could not download the distribution, or there is no MaskBench.
    """
    if name == "java":
        return _java()
    if name == "c":
        return [_Program(random.Random(seed + number)).written() for number in range(_PROGRAMS)]
    values = [value for value in instances(schemas, _INSTANCES, seed) if isinstance(value, (dict, list))]
    written = [json.dumps(value, indent=2 * (number % 2) or None) for number, value in enumerate(values)]
    # In the grammar, a string ends at its first quote, and no name is empty.
    return [text for text in written if '\\"' not in text and '"":' not in text]


def _java() -> list[str]:
    archive = _ARCHIVES / f"{_JAVA.replace('==', '-')}.tar.gz"
    if not archive.exists():
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", "jpype1"]
        if subprocess.run([*command, "--dest", str(_ARCHIVES), _JAVA], check=False).returncode:
            raise OSError(f"pip could not download the source distribution {_JAVA}")
    with tarfile.open(archive) as opened:
        members = [one for one in opened.getmembers() if one.isfile() and one.name.endswith(".java")]
        files = [opened.extractfile(one) for one in sorted(members, key=lambda one: one.name)]
        return [file.read().decode().rstrip() for file in files if file is not None]


class _Program:
    """A program of a few functions, in the layout of most C."""

    def __init__(self, draw: random.Random) -> None:
        self._draw = draw
        self._names = draw.sample(_NAMES, 12)

    def written(self) -> str:
        return "\n\n".join(self._function() for _ in range(self._draw.randint(2, 6)))

    def _name(self) -> str:
        return self._draw.choice(self._names)

    def _type(self) -> str:
        return self._draw.choice(("int", "int", "float", "char"))

    def _function(self) -> str:
        parameters = ", ".join(f"{self._type()} {self._name()}" for _ in range(self._draw.randint(0, 3)))
        begin, end = f"{self._type()} {self._name()}({parameters}) {{", f"    return {self._expression(1)};"
        return "\n".join([begin, *self._block(1), end, "}"])

    def _block(self, depth: int) -> list[str]:
        count = self._draw.randint(1, 4)
        return [f"    {line}" for _ in range(count) for line in self._statement(depth)]

    def _statement(self, depth: int) -> list[str]:
        kind = self._draw.randrange(11 if depth < 3 else 7)
        if kind < 2:
            return [f"{self._type()} {self._name()} = {self._expression(2)};"]
        if kind < 4:
            return [f"{self._name()} = {self._expression(2)};"]
        if kind < 6:
            return [f"{self._name()}({self._arguments(1)});"]
        if kind == 6:
            return [f"/* The {self._name()} of the {self._name()}. */"]
        body = self._block(depth + 1)
        if kind < 9:
            other = ["} else {", *self._block(depth + 1)] if self._draw.random() < 0.4 else []
            return [f"if ({self._condition()}) {{", *body, *other, "}"]
        if kind == 9:
            return [f"while ({self._condition()}) {{", *body, "}"]
        index = self._draw.choice("ijk")
        return [f"for (int {index} = 0; {index} < {self._name()}; {index} = {index} + 1) {{", *body, "}"]

    def _condition(self) -> str:
        relation = self._draw.choice(("<", "<=", "==", "!=", ">", ">="))
        return f"{self._expression(1)} {relation} {self._expression(1)}"

    def _arguments(self, depth: int) -> str:
        return ", ".join(self._expression(depth) for _ in range(self._draw.randint(0, 3)))

    def _expression(self, depth: int) -> str:
        kind = self._draw.randrange(8 if depth else 4)
        if kind < 3:
            return self._name()
        if kind == 3:
            return str(self._draw.choice((0, 1, 2, 10, 100, self._draw.randrange(1000))))
        if kind < 6:
            return f"{self._expression(depth - 1)} {self._draw.choice('+-*/')} {self._expression(depth - 1)}"
        if kind == 6:
            return f"{self._name()}({self._arguments(depth - 1)})"
        return f"({self._expression(depth - 1)})"
