"""Classes of code points, as the engine that runs a tokenizer's regexes understands them.

Problem.  What ``\\p{L}`` and ``\\s`` hold depends on the engine's Unicode tables: those of Oniguruma in
Hugging Face's tokenizers differ from Python's on 9,272 code points, and ``(?i:s)`` holds U+017F.  A mask that
asks other tables is wrong on such texts.  So the engine itself is asked, by running a class over every
code point there is, once for each class.

Code points that no version of Unicode assigns yet stand for each other: one of each plane is asked.  (Tests
hold all of them against the engines.)

Cost: some 10 ms for each class.  The results are kept for the life of the process, and in the tables that
are made from them (``tables.py``).  Not taken: asking a pre-tokenizer, which also says where it has cut, in
six times the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from tokamata.errors import MissingExtraError, UnsupportedTokenizerError

if TYPE_CHECKING:
    Flags = npt.NDArray[np.bool_]

CODE_POINTS = 0x110000
_SURROGATES = range(0xD800, 0xE000)
# Up to here, and in the second range, code points are assigned in Unicode 17.
_ASSIGNED = (range(0x33480), range(0xE0000, 0xE0200))


class Engine(Protocol):
    """What runs the regexes of a tokenizer.

    Attributes:
        name: the engine and its version, for the key of what is kept on disk.
        dollar_is_end: whether ``$`` is the end of the text alone.
    """

    name: str
    dollar_is_end: bool

    def members(self, cls: str) -> Flags:
        """Which code points are of a class: ``bool[0x110000]``, false for surrogates."""
        ...


class HuggingFaceEngine:
    """The engine of Hugging Face's `tokenizers` (Oniguruma)."""

    dollar_is_end = False

    def __init__(self) -> None:
        self.package = hugging_face_tokenizers()
        self.name = f"tokenizers {self.package.__version__}"

    def members(self, cls: str) -> Flags:
        """Which code points are of a class."""
        return _hugging_face_members(cls)

    def runs_of(self, pre_tokenizer: Any) -> Flags:
        """Which code points a pre-tokenizer of runs tells from the first ones, control characters."""
        flags = np.zeros(CODE_POINTS, dtype=bool)
        for number, (_, (begin, end)) in enumerate(pre_tokenizer.pre_tokenize_str(asked_text())):
            flags[asked_points()[begin:end]] = number % 2 == 1
        return spread(flags)


class TiktokenEngine:
    """The engine of tiktoken (fancy-regex)."""

    dollar_is_end = True

    def __init__(self) -> None:
        self.name = f"tiktoken {tiktoken().__version__}"

    def members(self, cls: str) -> Flags:
        """Which code points are of a class."""
        return _tiktoken_members(cls)


def hugging_face_tokenizers() -> Any:
    """The package `tokenizers`.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        import tokenizers
    except ImportError:
        raise MissingExtraError(
            "tokenizers", "tokenizers", "canonical tokenization with this tokenizer"
        ) from None
    return tokenizers


def tiktoken() -> Any:
    """The package `tiktoken`.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        import tiktoken
    except ImportError:
        raise MissingExtraError(
            "tiktoken", "tiktoken", "canonical tokenization with this tokenizer"
        ) from None
    return tiktoken


@cache
def asked_points() -> npt.NDArray[np.int32]:
    """The code points that are asked, in order."""
    rest = [point for plane in range(17) for point in (plane << 16 | 0xFFF0, plane << 16 | 0xFFFE)]
    points = {*rest, *_ASSIGNED[0], *_ASSIGNED[1]} - set(_SURROGATES)
    return np.array(sorted(points), dtype=np.int32)


@cache
def asked_text() -> str:
    """All of them."""
    return _text_of(asked_points())


def _text_of(points: npt.NDArray[np.int32]) -> str:
    return points.astype("<u4").tobytes().decode("utf-32-le")


def _flags_of(text: str) -> Flags:
    flags = np.zeros(CODE_POINTS, dtype=bool)
    flags[np.frombuffer(text.encode("utf-32-le"), dtype="<u4")] = True
    return flags


def spread(flags: Flags) -> Flags:
    """Lets the code points that were asked speak for those that were not."""
    for plane in range(3, 17):
        first, last = plane << 16, (plane << 16) + 0x10000
        known = [r for r in _ASSIGNED if r.stop > first and r.start < last]
        low = max([first, *[r.stop for r in known]])
        flags[low : last - 2] = flags[plane << 16 | 0xFFF0]
        flags[last - 2 : last] = flags[plane << 16 | 0xFFFE]
    return flags


@cache
def _hugging_face_members(cls: str) -> Flags:
    tokenizers = hugging_face_tokenizers()
    try:
        regex = tokenizers.Regex(f"(?:{cls})+")
    except Exception as error:  # the package raises a bare Exception for a regex that does not compile
        raise UnsupportedTokenizerError(
            "pre-tokenizer", f"its engine refuses {cls!r:.100}: {error}"
        ) from None
    others = tokenizers.normalizers.Replace(regex, "").normalize_str(asked_text())
    flags = spread(_flags_of(asked_text()) & ~_flags_of(others))
    flags.flags.writeable = False
    return flags


@cache
def _tiktoken_members(cls: str) -> Flags:
    single = {bytes([byte]): byte for byte in range(256)}
    try:
        encoding = tiktoken().Encoding(
            "class", pat_str=f"(?:{cls})", mergeable_ranks=single, special_tokens={}
        )
    except ValueError as error:
        raise UnsupportedTokenizerError(
            "pre-tokenizer", f"its engine refuses {cls!r:.100}: {error}"
        ) from None
    # What does not match is left out of what is encoded.
    matched = encoding.decode_bytes(encoding.encode_ordinary(asked_text())).decode()
    flags = spread(_flags_of(matched))
    flags.flags.writeable = False
    return flags


def ranges_of(columns: Sequence[npt.NDArray[Any]]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The code points cut into ranges on which all columns are constant, and a class for each.

    Args:
        columns: arrays of ``0x110000`` numbers.

    Returns:
        The first code point of each range, and the number of its class: ranges on which all columns are
        equal have one class.
    """
    changes = np.zeros(CODE_POINTS, dtype=bool)
    changes[0] = True
    for column in columns:
        changes[1:] |= column[1:] != column[:-1]
    firsts = np.flatnonzero(changes)
    rows = np.stack([column[firsts].astype(np.int64) for column in columns], axis=1)
    _, classes = np.unique(rows, axis=0, return_inverse=True)
    return firsts, classes.reshape(-1)
