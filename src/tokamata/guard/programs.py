"""Programs: a tokenizer's own encoder and decoder, run as users run it.

    program = program_of("tokenizer.json")
    program.program                       # 'tokenizers 0.23.3'
    program.encode("a<|im_end|>b")        # control tokens that the text spells are read as such
    program.encode_text("a<|im_end|>b")   # the same letters as ordinary text

The guard says nothing about a tokenizer that it has not seen there.  No control tokens are added at either
end, and nothing is cut off or padded.

Programs come from strangers as well: they are written in Rust, C++ or Python, and raise whatever they like.
All that they raise becomes :class:`ProgramFailed`, panics of Rust included.  A program that never returns
cannot be stopped from here, so callers hand it short texts only.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tokamata.errors import MissingExtraError, TokamataError, VocabularyError

__all__ = ["Program", "ProgramFailed", "program_of"]

_AT_ONCE = 4096  # texts in one call of a program, so that a list of results stays small


class ProgramFailed(TokamataError, RuntimeError):
    """A tokenizer's own program raised an error.

    Attributes:
        program: the program, such as ``"tokenizers 0.23.3"``.
        given: the text or the tokens that it was given, shortened.
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


class Program(ABC):
    """The running program of one tokenizer.

    Attributes:
        program: the package and its version.
        inner: the object that runs: a ``tokenizers.Tokenizer``, a ``tiktoken.Encoding`` and so on.
        unknown: the id that stands for text that the program cannot write, if it has one.
    """

    def __init__(self, package: str, inner: Any, unknown: int | None = None) -> None:
        self.program = f"{package} {_version(package)}"
        self.inner = inner
        self.unknown = unknown

    def encode(self, text: str) -> list[int]:
        """The tokens of a text; control tokens in it are read as such where the program does so.

        Raises:
            ProgramFailed: the program raised an error.
        """
        return self.encode_many([text])[0]

    def encode_many(self, texts: Sequence[str]) -> list[list[int]]:
        """The same for many texts."""
        return self._in_parts(self._encode, texts)

    def encode_text(self, text: str) -> list[int] | None:
        """The tokens of a text in which names of control tokens are ordinary text.

        ``None`` where the program has no such mode.

        Raises:
            ProgramFailed: the program raised an error.
        """
        many = self.encode_text_many([text])
        return None if many is None else many[0]

    def encode_text_many(self, texts: Sequence[str]) -> list[list[int]] | None:
        """The same for many texts."""
        return self._in_parts(self._encode_text, texts) if self.has_text_mode else None

    has_text_mode = True

    def decode(self, ids: Sequence[int]) -> str:
        """The text of tokens, control tokens by their names; bytes that are not UTF-8 become U+FFFD.

        Raises:
            ProgramFailed: the program raised an error.
        """
        return self.decode_many([ids])[0]

    def decode_many(self, many: Sequence[Sequence[int]]) -> list[str]:
        """The same for many sequences."""
        return self._in_parts(self._decode, many)

    def normalize_many(self, texts: Sequence[str]) -> list[str] | None:
        """What the program's normalizer makes of texts; ``None`` if it does not show that.

        Raises:
            ProgramFailed: the program raised an error.
        """
        return self._in_parts(self._normalize, texts) if self.shows_normalizer else None

    shows_normalizer = True

    def _in_parts(self, run: Callable[[Sequence[Any]], list[Any]], items: Sequence[Any]) -> list[Any]:
        found: list[Any] = []
        for begin in range(0, len(items), _AT_ONCE):
            part = items[begin : begin + _AT_ONCE]
            with self.failing(part):
                found += run(part)
        return found

    @contextmanager
    def failing(self, items: Sequence[Any]) -> Iterator[None]:
        """What a call of the program raises becomes :class:`ProgramFailed`; ``items``: what it was given."""
        try:
            yield
        except Exception as error:
            raise ProgramFailed(
                self.program, _shown(items), f"{type(error).__name__}: {error!s:.200}"
            ) from None
        except BaseException as error:  # panics of Rust are no Exception
            if type(error).__name__ != "PanicException":
                raise
            raise ProgramFailed(self.program, _shown(items), f"a panic: {error!s:.200}") from None

    @abstractmethod
    def _encode(self, texts: Sequence[str]) -> list[list[int]]: ...

    def _encode_text(self, texts: Sequence[str]) -> list[list[int]]:
        return self._encode(texts)  # where a program has no such mode it is not asked

    @abstractmethod
    def _decode(self, many: Sequence[Sequence[int]]) -> list[str]: ...

    def _normalize(self, texts: Sequence[str]) -> list[str]:
        return list(texts)  # where a program shows no normalizer it is not asked


def _shown(items: Sequence[Any]) -> str:
    return f"{items[0]!r:.80}" if len(items) == 1 else f"one of {len(items)} texts from {items[0]!r:.60}"


def program_of(source: object) -> tuple[Program | None, str]:
    """The running program of a source that ``Vocabulary.load`` takes, or why there is none.

    Returns:
        The program and ``""``, or ``None`` and the reason.

    Raises:
        VocabularyError: the file cannot be read by its program, or the object is no tokenizer.
    """
    try:
        if isinstance(source, (str, os.PathLike)):
            return _of_path(Path(source))
        return _of_object(source)
    except MissingExtraError as error:
        return None, f"the package {error.package!r} is not installed"


def _of_path(path: Path) -> tuple[Program | None, str]:
    # Reading the vocabulary first has found out what the file is, and refused what is none.
    from tokamata.vocabulary.sources import read_source

    pipeline = read_source(path, want_stop=False).pipeline
    if pipeline is None:
        return None, (
            "the file has the tokens, but not how a text is cut into them; pass the object that encodes"
        )
    content = pipeline.content()
    if pipeline.family == "tokenizer.json":
        return _HuggingFace.of_file(content), ""
    if pipeline.family == "sentencepiece":
        return _SentencePiece(_made("sentencepiece", "SentencePieceProcessor", model_proto=content)), ""
    if pipeline.family == "tekken":
        return _Tekken.of_file(path), ""
    return None, f"a file of the family {pipeline.family} has no program"


def _of_object(source: object) -> tuple[Program | None, str]:
    if isinstance(source, (list, tuple)):
        return None, "a list of bytes has no program"
    makers: dict[str, Callable[[Any], Program]] = {
        "tokenizers": _HuggingFace.of_object,
        "transformers": _Transformers,
        "tiktoken": _Tiktoken,
        "sentencepiece": _SentencePiece,
        "mistral_common": _Tekken.of_object,
    }
    for cls in type(source).__mro__:
        if (make := makers.get(cls.__module__.partition(".")[0])) is not None:
            return make(source), ""
    return None, f"how to run a {type(source).__name__} is not known"


def _made(package: str, name: str, **arguments: Any) -> Any:
    """An object of an optional package."""
    import importlib

    try:
        cls = getattr(importlib.import_module(package), name)
    except ImportError:
        raise MissingExtraError(package, package, "running this tokenizer") from None
    try:
        return cls(**arguments)
    except Exception as error:  # packages document no types
        raise VocabularyError(f"{package} cannot read the file: {error!s:.200}; it is damaged") from None


def _version(package: str) -> str:
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "of unknown version"


class _HuggingFace(Program):
    """A ``tokenizers.Tokenizer``, or a copy of one that neither cuts nor pads."""

    def __init__(self, tokenizer: Any, as_text: Any) -> None:
        super().__init__("tokenizers", tokenizer)
        name = getattr(tokenizer.model, "unk_token", None)
        self.unknown = tokenizer.token_to_id(name) if isinstance(name, str) else None
        self._as_text = as_text  # a second tokenizer that reads control tokens as text; or None
        self.has_text_mode = as_text is not None

    @classmethod
    def of_file(cls, content: bytes) -> _HuggingFace:
        from tokamata.tokenization.pretokenizers.classes import hugging_face_tokenizers

        package = hugging_face_tokenizers()
        text = content.decode("utf-8-sig")
        try:
            made = [package.Tokenizer.from_str(text) for _ in range(2)]
        except Exception as error:  # the package raises a bare Exception
            raise VocabularyError(
                f"the package tokenizers cannot read the file: {error!s:.200}; it is damaged"
            ) from None
        return cls._of_two(made, False)

    @classmethod
    def of_object(cls, tokenizer: Any) -> _HuggingFace:
        try:
            text = tokenizer.to_str()
            made = [type(tokenizer).from_str(text) for _ in range(2)]
        except Exception:  # a part written in Python cannot be written; then the object itself runs
            return cls(tokenizer, None)
        return cls._of_two(made, tokenizer.encode_special_tokens)

    @classmethod
    def _of_two(cls, made: list[Any], reads_as_text: bool) -> _HuggingFace:
        for one in made:
            one.no_padding()
            one.no_truncation()
        made[0].encode_special_tokens = reads_as_text
        made[1].encode_special_tokens = True
        return cls(*made)

    def _encode(self, texts: Sequence[str]) -> list[list[int]]:
        return _hugging_face_ids(self.inner, texts)

    def _encode_text(self, texts: Sequence[str]) -> list[list[int]]:
        return _hugging_face_ids(self._as_text, texts)

    def _decode(self, many: Sequence[Sequence[int]]) -> list[str]:
        return list(self.inner.decode_batch([list(ids) for ids in many], skip_special_tokens=False))

    def _normalize(self, texts: Sequence[str]) -> list[str]:
        normalizer = self.inner.normalizer
        return list(texts) if normalizer is None else [normalizer.normalize_str(text) for text in texts]


def _hugging_face_ids(tokenizer: Any, texts: Sequence[str]) -> list[list[int]]:
    return [one.ids for one in tokenizer.encode_batch(list(texts), add_special_tokens=False)]


class _Transformers(Program):
    """A tokenizer of the package `transformers`, fast or slow."""

    def __init__(self, tokenizer: Any) -> None:
        super().__init__("transformers", tokenizer, getattr(tokenizer, "unk_token_id", None))
        self.shows_normalizer = getattr(tokenizer, "backend_tokenizer", None) is not None

    def _encode(self, texts: Sequence[str]) -> list[list[int]]:
        return [list(ids) for ids in self.inner(list(texts), add_special_tokens=False)["input_ids"]]

    def _encode_text(self, texts: Sequence[str]) -> list[list[int]]:
        backend = getattr(self.inner, "backend_tokenizer", None)
        before = getattr(backend, "encode_special_tokens", None)
        try:
            made = self.inner(list(texts), add_special_tokens=False, split_special_tokens=True)
        finally:  # transformers leaves it as the last call set it
            if backend is not None and before is not None:
                backend.encode_special_tokens = before
        return [list(ids) for ids in made["input_ids"]]

    def _decode(self, many: Sequence[Sequence[int]]) -> list[str]:
        return [self.inner.decode(list(ids)) for ids in many]

    def _normalize(self, texts: Sequence[str]) -> list[str]:
        normalizer = self.inner.backend_tokenizer.normalizer
        return list(texts) if normalizer is None else [normalizer.normalize_str(text) for text in texts]


class _Tiktoken(Program):
    """A ``tiktoken.Encoding``."""

    shows_normalizer = False

    def __init__(self, encoding: Any) -> None:
        super().__init__("tiktoken", encoding)

    def _encode(self, texts: Sequence[str]) -> list[list[int]]:
        return [self.inner.encode(text, allowed_special="all") for text in texts]

    def _encode_text(self, texts: Sequence[str]) -> list[list[int]]:
        return [self.inner.encode_ordinary(text) for text in texts]

    def _decode(self, many: Sequence[Sequence[int]]) -> list[str]:
        return [self.inner.decode(list(ids)) for ids in many]


class _SentencePiece(Program):
    """A ``SentencePieceProcessor``, which reads no control token from a text."""

    def __init__(self, processor: Any) -> None:
        super().__init__("sentencepiece", processor, processor.unk_id())

    def _encode(self, texts: Sequence[str]) -> list[list[int]]:
        return [
            list(ids) for ids in self.inner.encode(list(texts), out_type=int, add_bos=False, add_eos=False)
        ]

    _encode_text = _encode

    def _decode(self, many: Sequence[Sequence[int]]) -> list[str]:
        return [str(self.inner.decode(list(ids))) if ids else "" for ids in many]

    def _normalize(self, texts: Sequence[str]) -> list[str]:
        return [str(text) for text in self.inner.normalize(list(texts))]


class _Tekken(Program):
    """A ``Tekkenizer`` of mistral-common, which reads no control token from a text."""

    shows_normalizer = False

    def __init__(self, tekkenizer: Any) -> None:
        super().__init__("mistral-common", tekkenizer)

    @classmethod
    def of_file(cls, path: Path) -> _Tekken:
        try:
            from mistral_common.tokens.tokenizers.tekken import Tekkenizer
        except ImportError:
            raise MissingExtraError(
                "mistral-common", "", "running this tokenizer", "install it with: pip install mistral-common"
            ) from None
        if path.is_dir():
            path = next(iter(sorted(path.glob("tekken*.json"))))
        try:
            return cls(Tekkenizer.from_file(path))
        except Exception as error:  # it raises whatever its fields raise
            raise VocabularyError(
                f"{path!s:.200}: mistral-common cannot read it: {error!s:.200}; it is damaged"
            ) from None

    @classmethod
    def of_object(cls, tokenizer: Any) -> _Tekken:
        while (wrapped := getattr(tokenizer, "instruct_tokenizer", None)) is not None:
            tokenizer = wrapped.tokenizer
        return cls(tokenizer)

    def _encode(self, texts: Sequence[str]) -> list[list[int]]:
        return [list(self.inner.encode(text, bos=False, eos=False)) for text in texts]

    _encode_text = _encode

    def _decode(self, many: Sequence[Sequence[int]]) -> list[str]:
        from mistral_common.tokens.tokenizers.base import SpecialTokenPolicy

        return [str(self.inner.decode(list(ids), SpecialTokenPolicy.KEEP)) for ids in many]
