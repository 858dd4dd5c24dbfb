"""Parts of terminals on disk: masks are the same with them, without them, and where they are damaged."""

from __future__ import annotations

import hashlib
import multiprocessing
import random
from pathlib import Path

import pytest

import tokamata as tk
from tests.support.masks import has
from tests.support.vocabularies import BYTES
from tokamata.vocabulary import kept_segments

SCHEMAS = (
    '{"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer", "maximum": 300}}}',
    '{"type": "array", "items": {"type": "string", "maxLength": 5}}',
    '{"enum": ["alpha", "beta", 3]}',
    '{"type": "string", "format": "email"}',
    '{"type": "object", "patternProperties": {"^x-": {"type": "number"}}, "additionalProperties": false}',
)
_TOKENS = [*BYTES, b'":', b'": "', b'",', b'{"', b"ab", b"abc", b"12", b'"}', b'",x', "é".encode(), b"al"]
_TOKENS.append(b"@a.b")


@pytest.fixture(autouse=True)
def folder(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder in which everything is kept, however fast it is made."""
    monkeypatch.setattr(kept_segments, "_LEAST_SECONDS", 0.0)
    return cache


def segments_in(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.segment"))


def masks(seed: int = 0, extra: tuple[bytes | None, ...] = ()) -> str:
    """The masks along random walks through all schemas, for a vocabulary of their own, as a digest."""
    vocabulary = tk.Vocabulary.load([*_TOKENS, *extra], stop=())
    digest, draw = hashlib.sha256(), random.Random(seed)
    for schema in SCHEMAS:
        compiled = tk.json_schema(schema).compile(vocabulary)
        for _ in range(3):
            matcher = compiled.matcher()
            for _ in range(25):
                mask = matcher.mask
                digest.update(mask.tobytes())
                allowed = [token for token in range(len(_TOKENS)) if has(mask, token)]
                if not allowed:
                    break
                matcher.advance(draw.choice(allowed))
    return digest.hexdigest()


def test_masks_are_the_same_with_and_without(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = masks()
    files = segments_in(folder)
    assert len(files) > 5
    assert all(file.is_relative_to(folder / "tokamata-derived") for file in files)  # what is trimmed
    before = {file: file.stat().st_mtime_ns for file in files}
    assert masks() == made
    assert {file: file.stat().st_mtime_ns for file in segments_in(folder)} == before  # none was made anew
    monkeypatch.setenv("TOKAMATA_CACHE", "off")
    assert masks() == made


def test_parts_are_what_they_say_and_not_what_they_are_called(folder: Path) -> None:
    made = masks()
    files = segments_in(folder)
    contents = [file.read_bytes() for file in files]
    for file, content in zip(files, contents[1:] + contents[:1], strict=True):
        file.write_bytes(content)
    assert masks() == made
    for file in files:
        file.write_bytes(contents[0])
    assert masks() == made
    assert [file.read_bytes() for file in segments_in(folder)] == contents  # made anew, and written over


def test_nothing_is_kept_where_it_is_off(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKAMATA_CACHE", "off")
    masks()
    assert not folder.exists()


def test_damaged_files_are_made_anew(folder: Path) -> None:
    made = masks()
    draw = random.Random(7)
    contents = {file: file.read_bytes() for file in segments_in(folder)}
    for _ in range(8):
        for file, content in contents.items():
            damaged = bytearray(content)
            for _ in range(draw.randint(1, 3)):
                damaged[draw.randrange(len(damaged))] ^= 1 << draw.randrange(8)
            file.write_bytes(draw.choice([damaged, damaged[: draw.randrange(len(damaged))], b""]))
        assert masks() == made
        assert {file: file.read_bytes() for file in segments_in(folder)} == contents


def test_other_vocabularies_and_other_versions_have_parts_of_their_own(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = masks()
    masks(extra=(b"xyz",))
    monkeypatch.setattr("tokamata.version.__version__", "0.0.0")
    assert masks() == made
    assert len(list((folder / "tokamata-derived" / "terminals").iterdir())) == 3


def test_a_folder_that_cannot_be_written_to(folder: Path) -> None:
    folder.write_text("a file, where a folder should be")
    assert masks() == masks()
    assert folder.is_file()


def _walk(seed: int, found: multiprocessing.Queue[str]) -> None:
    kept_segments._LEAST_SECONDS = 0.0
    found.put(masks(seed % 2))


def test_several_processes_at_once(folder: Path) -> None:
    context = multiprocessing.get_context("spawn")
    found: multiprocessing.Queue[str] = context.Queue()
    processes = [context.Process(target=_walk, args=(seed, found)) for seed in range(4)]
    for process in processes:
        process.start()
    digests = [found.get(timeout=120) for _ in processes]
    for process in processes:
        process.join()
        assert process.exitcode == 0
    assert set(digests) == {masks(0), masks(1)}
    assert not list(folder.rglob("*.unfinished"))
