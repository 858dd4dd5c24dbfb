"""Compiled constraints in files: how one is made, and the masks that were computed for it.

Problem.  A server that starts again computes all masks of its schemas again.  Pickles have no masks, and run
whatever their writer likes.

How.  A file has two sections, each with a digest::

    MAGIC | length, digest | recipe          JSON (written_recipes.py), options, digest of the vocabulary
          | lengths, digest | masks          zlib; core/matching/kept_masks.hpp says what is in it

Loading compiles the recipe as ever, and then gives the masks to the engine, which reads the bytes that lead
to each state by itself.  So a file cannot say anything about which texts a constraint has; its masks are
trusted.

Either section may be damaged.  Without its recipe a file is no constraint, and loading raises
:class:`CompiledFileError`.  Without its masks it is one: they count as absent, as they do if another version
of tokamata or of Unicode wrote them.

Bounds.  The recipe takes a sixteenth of ``Limits.memory_bytes`` at most.  Masks are decompressed up to that
limit, and the engine keeps as many of them as fit into three quarters of it.

Cost.  benchmarks/results/kept.md.

Not taken.  A file for each state, as segments have: they are thousands, and needed at once.  A memory map:
masks are rebuilt with rows that they share, and a file that changes meanwhile would change masks in use.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
import zlib
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from tokamata.calls.arguments import checked_choice, checked_flag, checked_whole
from tokamata.calls.recipes import steps_of
from tokamata.errors import (
    ArgumentError,
    Cancelled,
    CompiledFileError,
    LimitExceeded,
    TokamataError,
    shown_argument,
)
from tokamata.matching.written_recipes import Unreadable, Unwritable, made_of, written
from tokamata.resources.limits import CancelToken, Limits, Watch
from tokamata.resources.logs import LOG
from tokamata.values.denotation import Denotation
from tokamata.version import __version__

if TYPE_CHECKING:
    from tokamata.vocabulary import Vocabulary

__all__ = ["read", "save"]

_MAGIC = b"tokamata compiled constraint 1\n\x00"  # and the form of what follows
_DIGEST = 32
_NUMBER = 8
_SHARE_OF_RECIPE = 16  # of Limits.memory_bytes
_LEVEL = 1  # of zlib: higher ones take three times as long for a tenth of the size
_AGAIN = "save the compiled constraint again"


class _Head(NamedTuple):
    """What the first section says.

    Attributes:
        writer: the versions that the masks depend on.
        vocabulary: a digest.
        options: of ``compile``.
        steps: of the recipe.
    """

    writer: list[str]
    vocabulary: str
    options: dict[str, Any]
    steps: list[Any]


def save(compiled: Any, path: str | os.PathLike[str], cancel: CancelToken | None) -> None:
    """Writes a file; :meth:`CompiledConstraint.save`."""
    target = _checked_path(path)
    try:
        steps = written(steps_of(compiled.constraint))
    except Unwritable as error:
        advice = (
            "save a constraint of texts, schemas and grammars, such as json_schema() of the type's schema"
        )
        raise CompiledFileError(str(target), f"a file cannot have {error}", advice) from None
    options = {"start_of_text": compiled._start_of_text, "tokenization": compiled.tokenization}
    head = _Head(_writer(), compiled.vocabulary._mask_digest, options, steps)
    recipe = json.dumps(head._asdict(), separators=(",", ":")).encode()
    masks = compiled._core.kept_masks(cancel)
    packed = zlib.compress(masks, _LEVEL)
    own = _digest(recipe)
    parts = (
        *(_MAGIC, _number(len(recipe)), own, recipe),
        *(_number(len(masks)), _number(len(packed)), _digest(own, packed), packed),
    )
    _write(target, parts)


class Kept(NamedTuple):
    """What a file holds.

    Attributes:
        constraint: to be compiled.
        options: of ``compile``.
        masks: for the engine; ``None`` if they are damaged, or of another version.
    """

    constraint: Any
    options: dict[str, Any]
    masks: bytes | None


def read(path: str | os.PathLike[str], vocabulary: Vocabulary, watch: Watch, given: Limits | None) -> Kept:
    """Reads a file.

    Args:
        path: of the file.
        vocabulary: that it should be for.
        watch: stops the reading.
        given: the caller's limits, for the functions that make the constraint.

    Raises:
        OSError, CompiledFileError, ArgumentError, LimitExceeded, Cancelled: as for :func:`tokamata.load`.
    """
    source = _checked_path(path)
    if not stat.S_ISREG(source.stat().st_mode):
        raise CompiledFileError(str(source), "it is not a regular file", "name a file that save() wrote")
    with source.open("rb") as file:
        own, recipe = _recipe_of(file, source, watch)
        head = _head_of(recipe, source)
        if head.vocabulary != vocabulary._mask_digest:
            reason = "it was saved for another vocabulary"
            raise CompiledFileError(str(source), reason, f"load that one, or {_AGAIN} for this one")
        is_ours = head.writer == _writer()
        masks = _masks_of(file, own, watch) if is_ours else None
    if masks is None:
        why = "damaged or too large" if is_ours else "of another version"
        LOG.warning("the masks in %s are %s; they are computed again", source, why)
    _, cancel = watch.remaining(watch.limits)
    return Kept(_constraint_of(head, source, given, cancel), head.options, masks)


# ---- sections ----------------------------------------------------------------------------------


def _recipe_of(file: IO[bytes], source: Path, watch: Watch) -> tuple[bytes, bytes]:
    """The digest of the first section, and its content."""
    damaged = CompiledFileError(str(source), "it is damaged or has another form", _AGAIN)
    start = file.read(len(_MAGIC) + _NUMBER + _DIGEST)
    if len(start) != len(_MAGIC) + _NUMBER + _DIGEST or not start.startswith(_MAGIC):
        raise damaged
    length, own = _number_of(start[len(_MAGIC) :]), start[-_DIGEST:]
    if length > _left(file):
        raise damaged
    if length * _SHARE_OF_RECIPE > watch.limits.memory_bytes:
        raise LimitExceeded("memory_bytes", watch.limits.memory_bytes)
    recipe = file.read(length)
    if len(recipe) != length or _digest(recipe) != own:
        raise damaged
    return own, recipe


def _masks_of(file: IO[bytes], own: bytes, watch: Watch) -> bytes | None:
    """The content of the second section; ``None`` if it is damaged, or larger than the limit."""
    start = file.read(2 * _NUMBER + _DIGEST)
    if len(start) != 2 * _NUMBER + _DIGEST:
        return None
    length, packed_length = _number_of(start), _number_of(start[_NUMBER:])
    most = watch.limits.memory_bytes
    if packed_length != _left(file) or length > most or packed_length > most:
        return None
    packed = file.read(packed_length)
    if _digest(own, packed) != start[-_DIGEST:]:
        return None
    watch.check()
    unpacking = zlib.decompressobj()
    try:
        masks = unpacking.decompress(packed, length + 1)
    except zlib.error:
        return None
    return masks if len(masks) == length and unpacking.eof else None


def _left(file: IO[bytes]) -> int:
    """The bytes of a file that were not read yet."""
    return os.fstat(file.fileno()).st_size - file.tell()


def _head_of(recipe: bytes, source: Path) -> _Head:
    """What the first section says.

    Raises:
        CompiledFileError: it says something else.
    """
    try:
        head = _Head(**json.loads(recipe))
        checked_flag("start_of_text", head.options["start_of_text"])
        checked_choice("tokenization", head.options["tokenization"], ("any", "canonical"))
        checked_whole("options", len(head.options), 2, 3)
    except (ValueError, TypeError, LookupError, RecursionError):
        raise CompiledFileError(str(source), "its first section has another form", _AGAIN) from None
    return head


def _constraint_of(head: _Head, source: Path, limits: Limits | None, cancel: CancelToken | None) -> Any:
    """The constraint of a recipe, to be compiled."""
    try:
        made = made_of(head.steps, limits, cancel)
        if isinstance(made, Denotation):
            _ = made._expression, made._form  # a chain makes them when they are first needed
    except (LimitExceeded, Cancelled):
        raise
    except Unreadable as error:
        raise CompiledFileError(str(source), f"its recipe makes no constraint: {error}", _AGAIN) from None
    except Exception as error:  # calls with arguments that no caller gives
        if isinstance(error, TokamataError) and not isinstance(error, ArgumentError):
            raise
        reason = f"its recipe makes no constraint: {type(error).__name__}"
        raise CompiledFileError(str(source), reason, _AGAIN) from error
    if not isinstance(made, Denotation):
        raise CompiledFileError(str(source), "its recipe makes no constraint", _AGAIN)
    return made


# ---- what a file depends on ---------------------------------------------------------------------


def _writer() -> list[str]:
    """The versions that decide which masks a recipe has."""
    from tokamata.patterns.unicode import UNICODE_VERSION

    return [__version__, UNICODE_VERSION]


def _digest(*parts: bytes) -> bytes:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.digest()


def _number(value: int) -> bytes:
    return value.to_bytes(_NUMBER, "little")


def _number_of(data: bytes) -> int:
    return int.from_bytes(data[:_NUMBER], "little")


# ---- files --------------------------------------------------------------------------------------


def _checked_path(path: Any) -> Path:
    expected = "a path of a file"
    try:
        checked = Path(path)
    except TypeError:
        raise ArgumentError("path", shown_argument(path), expected) from None
    if "\0" in str(checked):
        raise ArgumentError("path", shown_argument(path), expected, "leave out the null character")
    return checked


def _write(target: Path, parts: tuple[bytes, ...]) -> None:
    """Writes a file, the whole or nothing; not through a link.

    Raises:
        CompiledFileError: there is a link, or something that is not a file.
        OSError: it cannot be written.
    """
    if target.is_symlink():
        reason = f"it is a link to {os.readlink(target)!r:.200}"
        raise CompiledFileError(str(target), reason, "save to the file that it leads to, or remove the link")
    if target.exists() and not target.is_file():
        raise CompiledFileError(str(target), "it is not a regular file", "save to another name")
    if not target.parent.exists():  # or the error would name the unfinished file
        raise FileNotFoundError(errno.ENOENT, "the folder does not exist; make it first", str(target.parent))
    unfinished = target.with_name(f".{target.name[:100]}-{os.urandom(8).hex()}.unfinished")
    try:
        with unfinished.open("xb") as file:  # with the permissions of new files
            for part in parts:
                file.write(part)
        os.replace(unfinished, target)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
