"""Tries the tokamata that is installed for this Python: constraints, and the command line.

    python tools/try_wheel.py

It needs only tokamata's own dependencies.  With the extra ``cli``, the command line must run; without it,
the command must print how to install it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from importlib import metadata, util
from pathlib import Path

import numpy as np

import tokamata as tk

STOP = 256
VOCABULARY = tk.Vocabulary.load([*(bytes([byte]) for byte in range(STOP)), None], stop=[STOP])


def first_text(constraint: tk.Constraint) -> str:
    """A text of the constraint: the lowest byte of each mask, until the text may stop."""
    matcher = constraint.compile(VOCABULARY).matcher()
    text = bytearray()
    while True:
        bits = np.unpackbits(np.asarray(matcher.mask).view(np.uint8), bitorder="little")
        if bits[STOP]:
            return text.decode()
        text.append(int(bits.argmax()))
        matcher.advance(text[-1])


def try_constraints() -> None:
    """Tries the engine, the tables of Unicode, those of internationalized names, and Python types."""
    expect(first_text(tk.regex(r"\d{4}-\d{2}")), "0000-00")
    expect(first_text(tk.regex(r"\p{Lu}{3}")), "AAA")
    schema = {
        "type": "object",
        "properties": {"done": {"type": "boolean"}},
        "required": ["done"],
        "additionalProperties": False,
    }
    expect(first_text(tk.json_schema(schema, whitespace="compact")), '{"done":false}')
    names = tk.json_schema({"type": "string", "format": "idn-hostname"}).compile(VOCABULARY).matcher()
    for byte in '"bücher.example"'.encode():
        names.advance(byte)
    expect(names.is_accepting, True)
    expect(tk.type(list[int]).parse("[1, 2]"), [1, 2])


def try_command_line() -> None:
    """Checks that ``tokamata`` and ``python -m tokamata`` do the same."""
    command = Path(sysconfig.get_path("scripts")) / "tokamata"
    has_extra = all(util.find_spec(name) for name in ("rich", "typer"))
    for start in ([str(command)], [sys.executable, "-m", "tokamata"]):
        result = subprocess.run(
            [*start, "--help"],
            env=os.environ | {"PYTHONUTF8": "1"},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        if has_extra:
            expect(result.returncode, 0, result.stderr)
            expect("Usage: tokamata" in result.stdout, True, result.stdout)
        else:
            expect(result.returncode, 2, result.stderr)
            expect("pip install 'tokamata[cli]'" in result.stderr, True, result.stderr)


def expect(found: object, wanted: object, about: str = "") -> None:
    """Stop if the two differ."""
    if found != wanted:
        raise SystemExit(f"the wheel does not work: {found!r} instead of {wanted!r}\n{about}")


def main() -> None:
    """Run all checks."""
    expect(tk.__version__, metadata.version("tokamata"))
    try_constraints()
    try_command_line()
    print(f"tokamata {tk.__version__} works with Python {sys.version.split()[0]}: {Path(tk.__file__).parent}")


if __name__ == "__main__":
    main()
