"""The program of a tokenizer, as it runs now: the judge of what this package knows of the tokenizer.

Problem.  The tables of a tokenizer are made from its definition.  What it does with a text is decided by its
program: ``tokenizers``, ``tiktoken``, ``sentencepiece`` or ``mistral_common``, in the version that is
installed here, with the flags that the object has at this moment.

Example.  For Qwen 3, ``RunningTokenizer("tokenizer.json").encode("a<|im_end|>")`` is ``[64, 151645]``: the
control token is read from the text, since this program does so.  ``encode_text`` of it is ``[64, 27, 91, 318,
6213, 91, 29]``: there the name is ordinary text.

How.  Each package has an adapter that asks its public functions (:mod:`.adapters`).

Programs come from strangers as well: they are written in Rust, C++ or Python, and raise whatever they like.
All that they raise becomes :class:`ProgramFailed`, panics of Rust included.  A program that never returns
cannot be stopped from here, so callers hand it short texts only.

Cost: one call of the program for each text, 25 µs for a short one.  Many texts in one call
(:meth:`RunningTokenizer.encode_many`) take less, but `tokenizers` uses several threads for them, and then
warns in every process that is forked; so only the manifest does that.  The second object takes 2 to 50 ms,
for up to 6,000 added tokens, and is kept until the first one changes.
"""

# The packages have no usable types for tokenizers, hence `Any`.

from __future__ import annotations

import importlib
import operator
import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from tokamata.calls.arguments import checked_text
from tokamata.errors import MissingExtraError, VocabularyError
from tokamata.tokenization.adapters import ADAPTERS, Adapter, package_of, with_version
from tokamata.vocabulary.sources import file_in_folder, read_source

__all__ = ["ProgramFailed", "RunningTokenizer"]

_AT_ONCE = 4096  # texts in one call of a program, so that a list of results stays small

_Item = TypeVar("_Item")
_Made = TypeVar("_Made")


class ProgramFailed(VocabularyError):
    """A tokenizer's own program raised an error.

    Attributes:
        program: the program, such as ``"tokenizers 0.23.3"``.
        given: the text, the tokens or the file that it was given, shortened.
        reason: what it raised.
    """

    def __init__(self, program: str, given: str, reason: str) -> None:
        super().__init__(program, given, reason)
        self.program = program
        self.given = given
        self.reason = reason

    def _message(self) -> str:
        return (
            f"{self.program} fails on {self.given}: {self.reason}; "
            "report it to the authors of the tokenizer, and keep such texts from it"
        )


class RunningTokenizer:
    """A tokenizer's own program, run as users run it.

    ::

        running = RunningTokenizer("tokenizer.json")
        running.program                       # 'tokenizers 0.23.3'
        running.encode("a<|im_end|>b")        # control tokens that the text spells are read as such
        running.encode_text("a<|im_end|>b")   # the same letters as ordinary text

    No control tokens are added at either end, and nothing is cut off or padded.

    Args:
        source: a path to a ``tokenizer.json``, a tekken file or a SentencePiece model, or to a folder with
            one; or a tokenizer of `tokenizers`, `transformers`, `tiktoken`, `sentencepiece` or
            `mistral_common`, or a ``llama_cpp.Llama``.  It is not changed.

    Attributes:
        program: the packages that run, with their versions.
        inner: the object that runs: a ``tokenizers.Tokenizer``, a ``tiktoken.Encoding`` and so on.
        unknown: the id that stands for text that the program cannot write, if it has one.
        is_of_package: whether the class of the tokenizer is one of these packages, and runs no others, so
            that the versions say what the program is.

    Raises:
        VocabularyError: there is no program for this source, or it cannot read the file.
        MissingExtraError: the package of a file is not installed.
    """

    def __init__(self, source: object) -> None:
        given = _loaded(Path(source)) if isinstance(source, (str, os.PathLike)) else source
        package = package_of(given)
        if package is None:
            raise VocabularyError(f"a {type(given).__name__} has no program; pass {_KNOWN}")
        self._adapter: Adapter = ADAPTERS[package](given)
        self.inner = self._adapter.given
        self.unknown = self._adapter.unknown()
        self.program = ", ".join(map(with_version, self._adapter.packages))
        is_known = self._adapter.packages != ("transformers",)  # one in Python may run any other package
        self.is_of_package = is_known and type(given).__module__.partition(".")[0] == package

    def encode(self, text: str) -> list[int]:
        """The ids of a text; control tokens that it spells are read as such where the program does so.

        Raises:
            ArgumentError: the text is not a ``str``, or contains a surrogate.
            ProgramFailed: the program raises an error, or writes something else than ids.
        """
        checked_text(text)
        return self._called(self._adapter.encode, text)

    def encode_many(self, texts: Sequence[str]) -> list[list[int]]:
        """The same for many texts; the program may use several threads."""
        return self._in_parts(self._adapter.encode_many, texts)

    def encode_text(self, text: str) -> list[int] | None:
        """The ids of a text in which names of control tokens are ordinary text.

        Returns:
            The ids; ``None`` if the program has no such mode.

        Raises as :meth:`encode` does.
        """
        checked_text(text)
        encode = self._adapter.text_encoder()
        return None if encode is None else self._called(encode, text)

    def encode_text_many(self, texts: Sequence[str]) -> list[list[int]] | None:
        """The same for many texts."""
        encode = self._adapter.text_encoder()
        return None if encode is None else [self._called(encode, text) for text in texts]

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ids, control tokens by their names, with the clean-up of spaces that the tokenizer has.

        What is not UTF-8 is shown as U+FFFD.

        Raises:
            ProgramFailed: the program raises an error.
        """
        return self.decode_many([ids])[0]

    def decode_many(self, many: Sequence[Sequence[int]]) -> list[str]:
        """The same for many sequences."""
        return self._in_parts(self._adapter.decode_many, [list(ids) for ids in many])

    @property
    def shows_normalizer(self) -> bool:
        """Whether the program shows what its normalizer makes of a text."""
        return self._adapter.normalizer() is not None

    def normalize_many(self, texts: Sequence[str]) -> list[str] | None:
        """What the program's normalizer makes of texts; ``None`` if it does not show that.

        Raises:
            ProgramFailed: the program raises an error.
        """
        normalize = self._adapter.normalizer()
        return None if normalize is None else self._in_parts(lambda part: list(map(normalize, part)), texts)

    def facts(self) -> Hashable:
        """What can be read of its state in a millisecond; it differs after most changes of the tokenizer."""
        return self._adapter.facts()

    @contextmanager
    def failing(self, items: Sequence[Any]) -> Iterator[None]:
        """What a call of the program raises becomes :class:`ProgramFailed`; ``items``: what it was given."""
        try:
            yield
        except BaseException as error:
            raise _failure(error, self.program, _shown(items)) from None

    def _called(self, encode: Callable[[str], Any], text: str) -> list[int]:
        with self.failing([text]):
            return list(map(operator.index, encode(text)))

    def _in_parts(
        self, run: Callable[[Sequence[_Item]], Iterable[_Made]], items: Sequence[_Item]
    ) -> list[_Made]:
        found: list[_Made] = []
        for begin in range(0, len(items), _AT_ONCE):
            part = items[begin : begin + _AT_ONCE]
            with self.failing(part):
                found += run(part)
        return found


def _shown(items: Sequence[Any]) -> str:
    return f"{items[0]!r:.80}" if len(items) == 1 else f"one of {len(items)} texts from {items[0]!r:.60}"


_KNOWN = f"a tokenizer of {', '.join(ADAPTERS)}, or a path to a file of one"


def _loaded(path: Path) -> Any:
    """The tokenizer of a file, by its own package.

    The file is read as a vocabulary first, so that no program gets one that this package refuses.
    """
    pipeline = read_source(path, want_stop=False).pipeline
    if pipeline is None:
        raise VocabularyError(
            f"{path!s:.200}: the file has the tokens, but not how a text is cut into them; "
            f"pass the object that encodes, {_KNOWN}"
        )
    if (program := pipeline.program()) is not None:
        return program
    if pipeline.family not in _LOADERS:
        raise VocabularyError(
            f"{path!s:.200}: a GGUF file is run by a model; pass the llama_cpp.Llama that was loaded from it"
        )
    content = pipeline.content()
    file = file_in_folder(path) if path.is_dir() else path
    package, load = _LOADERS[pipeline.family]
    try:
        return load(file, content)
    except ImportError:
        extra = "" if package == "mistral_common" else package
        advice = "" if extra else "install it with: pip install mistral-common"
        raise MissingExtraError(package, extra, f"running the tokenizer {file.name!r:.80}", advice) from None
    except BaseException as error:
        raise _failure(error, with_version(package), f"the file {file!s:.200}") from None


def _failure(error: BaseException, program: str, given: str) -> ProgramFailed:
    """What a program raised, as an error of this package; not what stops the process."""
    name = type(error).__name__
    if not isinstance(error, Exception) and name != "PanicException":  # that of Rust is no Exception
        raise error
    return ProgramFailed(program, given, f"{name}: {error!s:.200}")


def _tokenizer_json(file: Path, content: bytes) -> Any:
    package = importlib.import_module("tokenizers")
    tokenizer = package.Tokenizer.from_buffer(content.removeprefix(b"\xef\xbb\xbf"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _tekken(file: Path, content: bytes) -> Any:
    return importlib.import_module("mistral_common.tokens.tokenizers.tekken").Tekkenizer.from_file(str(file))


# SentencePiece models were loaded when they were read.
_LOADERS: dict[str, tuple[str, Callable[[Path, bytes], Any]]] = {
    "tokenizer.json": ("tokenizers", _tokenizer_json),
    "tekken": ("mistral_common", _tekken),
}
