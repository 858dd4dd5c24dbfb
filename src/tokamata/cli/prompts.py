"""The prompt of a command: in the option itself, from standard input, or in a file."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from tokamata.cli.constraints import OptionError

__all__ = ["prompt_of"]

_STANDARD_INPUT = "-"


def prompt_of(given: str | None, file: Path | None) -> str:
    """The prompt that one of the options names.

    A line break at the end of standard input or of a file is not part of the prompt, as ``echo`` and editors
    write one.

    Args:
        given: the option ``--prompt``: the prompt itself, or ``-`` for standard input.
        file: the option ``--prompt-file``.

    Raises:
        OptionError: both options were given, or none; or the file cannot be read; or the prompt is not UTF-8.
    """
    if (given is None) == (file is None):
        one = "--prompt or --prompt-file" + ("" if given is None else ", not both")
        raise OptionError(f"give {one}: the text that the model goes on from")
    if given is not None and given != _STANDARD_INPUT:
        if any("\ud800" <= c <= "\udfff" for c in given):  # what Python makes of bytes that are no UTF-8
            raise OptionError("the text of --prompt is not UTF-8")
        return given
    name = "the prompt of standard input" if file is None else f"--prompt-file {str(file)!r:.200}"
    try:
        text = (sys.stdin.buffer.read() if file is None else file.read_bytes()).decode("utf-8-sig")
    except OSError as error:
        raise OptionError(f"{name} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise OptionError(f"{name} is not UTF-8: byte {error.start} is wrong") from None
    return re.sub(r"\r?\n\Z", "", text)
