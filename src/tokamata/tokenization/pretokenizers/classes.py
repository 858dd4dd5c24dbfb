"""Classes of code points, as defined by the engine that runs a tokenizer's regexes.

Problem: the members of ``\\p{L}`` and ``\\s`` depend on the engine's Unicode tables.  Those of Oniguruma in
Hugging Face's tokenizers differ from Python's on 9,272 code points, and ``(?i:s)`` contains U+017F.  With
other tables, masks are wrong on such texts.  So the engine itself runs each class once over the code points.

Code points that no version of Unicode assigns yet behave alike, so each plane has a few samples.  (Tests
compare all code points with the engines.)

Cost: about 10 ms for each class.  The results are kept until the process ends, and in the tables that are
made from them (``tables.py``).  Rejected: running a pre-tokenizer and reading its cuts, which takes six times
as long.
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
    """Runs the regexes of a tokenizer.

    Attributes:
        name: the engine and its version, for the key of tables on disk.
        dollar_is_end: whether ``$`` matches only at the end of the text, and not at line ends.
    """

    name: str
    dollar_is_end: bool

    def members(self, cls: str) -> Flags:
        """Which code points are in a class: ``bool[0x110000]``, false for surrogates."""
        ...


class HuggingFaceEngine:
    """The engine of Hugging Face's `tokenizers` (Oniguruma)."""

    dollar_is_end = False

    def __init__(self) -> None:
        self.package = hugging_face_tokenizers()
        self.name = f"tokenizers {self.package.__version__}"

    def members(self, cls: str) -> Flags:
        """Which code points are in a class."""
        return _hugging_face_members(cls)

    def runs_of(self, pre_tokenizer: Any) -> Flags:
        """The members of the class that a pre-tokenizer of runs isolates; U+0000 must not be one."""
        flags = np.zeros(CODE_POINTS, dtype=bool)
        for number, (_, (begin, end)) in enumerate(pre_tokenizer.pre_tokenize_str(sample_text())):
            flags[sample_points()[begin:end]] = number % 2 == 1
        return spread(flags)

    def stripped(self) -> Flags:
        """The white space that the normalizer ``Strip`` removes from the ends of a text."""
        strip = self.package.normalizers.Strip(True, True).normalize_str
        white = self.removed_by(self.package.pre_tokenizers.WhitespaceSplit())
        flags = np.zeros(CODE_POINTS, dtype=bool)
        for point in sample_points().tolist():
            if white[point] or point < 0x20 or chr(point).isspace():
                flags[point] = not strip(chr(point))
        return flags

    def removed_by(self, pre_tokenizer: Any) -> Flags:
        """The code points that a pre-tokenizer removes, wherever they stand."""
        flags = np.zeros(CODE_POINTS, dtype=bool)
        flags[sample_points()] = True
        for _, (begin, end) in pre_tokenizer.pre_tokenize_str(sample_text()):
            flags[sample_points()[begin:end]] = False
        return spread(flags)

    def words_of(self, pre_tokenizer: Any) -> Flags:
        """The code points that a pre-tokenizer leaves in one piece with an ``a`` before them."""
        flags = np.zeros(CODE_POINTS, dtype=bool)
        for piece, (begin, end) in pre_tokenizer.pre_tokenize_str(sample_text()):
            flags[sample_points()[begin:end]] = len(pre_tokenizer.pre_tokenize_str("a" + piece[0])) == 1
        return spread(flags)


class TiktokenEngine:
    """The engine of tiktoken (fancy-regex)."""

    dollar_is_end = True

    def __init__(self) -> None:
        self.name = f"tiktoken {tiktoken().__version__}"

    def members(self, cls: str) -> Flags:
        """Which code points are in a class."""
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
def sample_points() -> npt.NDArray[np.int32]:
    """The code points that the engines are run on, in order: the assigned ones, and samples of the rest."""
    is_sample = np.zeros(CODE_POINTS, dtype=bool)
    for points in _ASSIGNED:
        is_sample[points.start : points.stop] = True
    is_sample[[point for plane in range(17) for point in (plane << 16 | 0xFFF0, plane << 16 | 0xFFFE)]] = True
    is_sample[_SURROGATES.start : _SURROGATES.stop] = False
    return np.flatnonzero(is_sample).astype(np.int32)


@cache
def sample_text() -> str:
    """The text of :func:`sample_points`."""
    return _text_of(sample_points())


def _text_of(points: npt.NDArray[np.int32]) -> str:
    return points.astype("<u4").tobytes().decode("utf-32-le")


def _flags_of(text: str) -> Flags:
    flags = np.zeros(CODE_POINTS, dtype=bool)
    flags[np.frombuffer(text.encode("utf-32-le"), dtype="<u4")] = True
    return flags


def spread(flags: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Copies the flags of the samples to the unassigned code points of each plane."""
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
    others = tokenizers.normalizers.Replace(regex, "").normalize_str(sample_text())
    flags = spread(_flags_of(sample_text()) & ~_flags_of(others))
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
    # The encoding drops text that does not match.
    matched = encoding.decode_bytes(encoding.encode_ordinary(sample_text())).decode()
    flags = spread(_flags_of(matched))
    flags.flags.writeable = False
    return flags


def ranges_of(columns: Sequence[npt.NDArray[Any]]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Ranges of code points on which all columns are constant, each with the number of its class.

    Args:
        columns: arrays of ``0x110000`` numbers from 0.

    Returns:
        The first code point of each range, and the number of its class: ranges have the same class if all
        columns are equal on them.
    """
    changes = np.zeros(CODE_POINTS, dtype=bool)
    changes[0] = True
    for column in columns:
        changes[1:] |= column[1:] != column[:-1]
    firsts = np.flatnonzero(changes)
    classes = np.zeros(len(firsts), dtype=np.int64)
    for column in columns:  # one after the other: rows of numbers take twenty times as long
        numbers = column[firsts].astype(np.int64)
        classes = _in_order(classes * (int(numbers.max()) + 1) + numbers)
    return firsts, classes


def _in_order(numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The place of each number among the different ones, in order."""
    most = int(numbers.max()) + 1
    if most > 4 * CODE_POINTS:
        return np.unique(numbers, return_inverse=True)[1].reshape(-1)
    is_there = np.zeros(most, dtype=bool)
    is_there[numbers] = True
    places: npt.NDArray[np.int64] = (np.cumsum(is_there) - 1)[numbers]
    return places
