"""What the tests of the guard say of a few real tokenizers, for all of them.

    python -m fuzz.real_tokenizers [qwen-3 gemma-3 ...]

For each tokenizer of ``tests/tokenizer-packages.txt``: it passes its self-test, verdicts about its normalizer
are true of its own program, its program writes what the judge writes, and its manifest in
``tests/data/manifests`` is of this file.  Takes two minutes, most of them for loading.  A tokenizer that is
not installed is named, and the program exits with 1 if one fails.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Callable
from functools import partial

import pytest

from tests.guard import test_manifest_files, test_normalization, test_running, test_self_test
from tests.support.tokenizers.canonical_tokenizers import SOURCES
from tests.support.tokenizers.manifest_sources import NAMES
from tests.support.tokenizers.real_tokenizers import REAL


def checks() -> list[tuple[str, str, Callable[[], None]]]:
    """The name of each tokenizer, what is checked, and the check."""
    found: list[tuple[str, str, Callable[[], None]]] = []
    for source in SOURCES:
        found.append((source.name, "self-test", partial(test_self_test.test_real_tokenizers_pass, source)))
        running = partial(test_running.test_it_writes_what_the_judge_writes, source.name)
        found.append((source.name, "program", running))
    for real in REAL:
        found.append((real.name, "normalizer", partial(test_normalization.test_real_tokenizers, real)))
    for name in NAMES:
        found.append(
            (name, "manifest", partial(test_manifest_files.test_the_others_are_of_these_files, name))
        )
    return sorted(found, key=lambda each: each[:2])


def main() -> int:
    """Run the checks."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="the tokenizers; all if none is given")
    given = parser.parse_args()
    failed = 0
    for name, what, check in checks():
        if given.names and name not in given.names:
            continue
        try:
            check()
            said = "holds"
        except pytest.skip.Exception as skipped:
            said = f"not run: {skipped}"
        except AssertionError:
            said = f"FAILS\n{traceback.format_exc()}"
            failed += 1
        print(f"{name:16} {what:12} {said}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
