"""Measures tokenizers, and writes their manifests.

    python -m tools.make_manifests                    those of tests/data/manifests: what `make test` installs
    python -m tools.make_manifests gpt2 llama-2       some of them
    python -m tools.make_manifests --folder DIR --into DIR    every tokenizer file in a folder, .gz included

What has changed since the last time is printed, one value a line.  A tokenizer takes 5 to 30 seconds.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.support.tokenizers.manifest_sources import MANIFESTS, NAMES, tokenizer_of
from tokamata.errors import TokamataError
from tokamata.guard.manifest import differences, manifest

__all__ = ["main"]


def main() -> int:
    """Run the program; 1 if a tokenizer could not be measured."""
    parser = argparse.ArgumentParser(prog="tools.make_manifests", description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", help="tokenizers of tests/data/manifests; all if none is named")
    parser.add_argument("--folder", type=Path, help="measure the files of this folder instead")
    parser.add_argument("--into", type=Path, default=MANIFESTS, help="where the manifests go")
    arguments = parser.parse_args()
    if arguments.folder is not None and arguments.into == MANIFESTS:
        parser.error("--folder needs --into: manifests of other files are not part of the repository")
    if unknown := set(arguments.names) - set(NAMES):
        parser.error(f"unknown names {sorted(unknown)}; known are {', '.join(NAMES)}")
    arguments.into.mkdir(parents=True, exist_ok=True)
    failed = 0
    named = ((name, tokenizer_of(name)) for name in arguments.names or NAMES)
    for name, tokenizer in named if arguments.folder is None else _files(arguments.folder):
        try:
            found = manifest(tokenizer)
        except TokamataError as error:
            print(f"{name}: {error}", file=sys.stderr)
            failed += 1
            continue
        path = arguments.into / f"{name}.json"
        changes = [] if not path.exists() else differences(json.loads(path.read_bytes()), found)
        path.write_text(found.to_json(), encoding="ascii")
        print(f"{name}: {len(changes)} changes", *changes, sep="\n  ", flush=True)
    return 1 if failed else 0


def _files(folder: Path) -> Iterator[tuple[str, object]]:
    """The tokenizer files of a folder, unpacked where they are packed."""
    with tempfile.TemporaryDirectory() as unpacked:
        for path in sorted(folder.iterdir()):
            if path.suffix == ".gz":
                target = Path(unpacked) / path.stem
                target.write_bytes(gzip.decompress(path.read_bytes()))
                yield target.name, target
            elif path.is_file():
                yield path.name, path


if __name__ == "__main__":
    sys.exit(main())
