"""The program of a tokenizer, as it runs now: the judge of what this package knows of the tokenizer.

Problem.  The tables of a tokenizer are made from its definition.  What it does with a text is decided by its
program: ``tokenizers``, ``tiktoken``, ``sentencepiece`` or ``mistral_common``, in the version that is
installed here, with the flags that the object has at this moment.

Example.  For Qwen 3, ``RunningTokenizer("tokenizer.json").encode("a<|im_end|>")`` is ``[64, 151645]``: the
control token is read from the text, since this program does so.  ``encode_text`` of it is ``[64, 27, 91, 318,
6213, 91, 29]``: there the name is ordinary text.

How.  Each package has an adapter that asks its public functions.  An object of the caller is never changed:
where a flag would have to be set, or truncation and padding to be switched off, a second object is used,
which shares the model of the first.  A class derived from one of a package is asked by the functions that it
overrides.

Cost: one call of the program for each text, 25 µs for a short one; never more than one thread, since
`tokenizers` warns in every process that is forked after it has used several.  The second object takes 2 to 50
ms, for up to 6,000 added tokens, and is kept until the first one changes.

Rejected: setting ``encode_special_tokens`` and setting it back, because other threads encode meanwhile; and
copying a tokenizer by its text, which takes seconds.
"""

# The packages have no usable types for tokenizers, hence `Any`.

from __future__ import annotations

import copy
import importlib
import operator
import os
import sys
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Any, Protocol

from tokamata.calls.arguments import checked_text
from tokamata.errors import MissingExtraError, VocabularyError
from tokamata.vocabulary.sources import file_in_folder, read_source
from tokamata.vocabulary.tokenizer_state import TokenizerState

__all__ = ["RunningTokenizer", "package_of"]

_SAMPLED = 64  # tokens whose texts are compared


class RunningTokenizer:
    """A tokenizer's own program.

    ::

        running = RunningTokenizer("tokenizer.json")
        running.program           # 'tokenizers 0.23.3'
        running.encode("A b")     # the ids that it writes, without tokens added at the ends

    Args:
        source: a path to a ``tokenizer.json``, a tekken file or a SentencePiece model, or to a folder with
            one; or a tokenizer of `tokenizers`, `transformers`, `tiktoken`, `sentencepiece` or
            `mistral_common`.  It is not changed.

    Attributes:
        program: the packages that run, with their versions.
        is_of_package: whether the class of the tokenizer is one of these packages, and runs no others, so
            that the versions say what the program is.

    Raises:
        VocabularyError: there is no program for this source, or it cannot read the file.
        MissingExtraError: the package of a file is not installed.
    """

    def __init__(self, source: object) -> None:
        given = _loaded(source) if isinstance(source, (str, os.PathLike)) else source
        package = package_of(given)
        if package is None:
            raise VocabularyError(f"{type(given).__name__} is no tokenizer that can run; pass {_KNOWN}")
        self._adapter: _Adapter = _ADAPTERS[package](given)
        self.program = ", ".join(map(_with_version, self._adapter.packages))
        is_known = self._adapter.packages != ("transformers",)  # one in Python may run any other package
        self.is_of_package = is_known and type(given).__module__.partition(".")[0] == package

    def encode(self, text: str) -> list[int]:
        """The ids of a text; control tokens that it spells are read as such where the program does so.

        Raises:
            ArgumentError: the text is not a ``str``, or contains a surrogate.
            VocabularyError: the program raises an error, or writes something else than ids.
        """
        checked_text(text)
        return self._called(self._adapter.encode, text)

    def encode_text(self, text: str) -> list[int] | None:
        """The ids of a text in which names of control tokens are ordinary text.

        Returns:
            The ids; ``None`` if the program has no such mode.

        Raises as :meth:`encode` does.
        """
        checked_text(text)
        encode = self._adapter.text_encoder()
        return None if encode is None else self._called(encode, text)

    def decode(self, ids: Sequence[int]) -> str:
        """The text of ids, control tokens by their names.

        It is without the clean-up of spaces that transformers adds; a decoder of WordPiece may have its own.
        What is not UTF-8 is shown as U+FFFD.

        Raises:
            VocabularyError: the program raises an error.
        """
        try:
            return str(self._adapter.decode(list(ids)))
        except BaseException as error:
            raise _program_error(error, f"{self.program} cannot decode {list(ids)[:20]}") from None

    def facts(self) -> Hashable:
        """What can be read of its state in a millisecond; it differs after most changes of the tokenizer."""
        return self._adapter.facts()

    def _called(self, encode: Callable[[str], Any], text: str) -> list[int]:
        try:
            return list(map(operator.index, encode(text)))
        except BaseException as error:
            raise _program_error(error, f"{self.program} cannot encode {text!r:.80}") from None


class _Adapter(Protocol):
    """One package; ``given`` is a tokenizer of it."""

    packages: tuple[str, ...]

    def encode(self, text: str) -> Any: ...

    def text_encoder(self) -> Callable[[str], Any] | None: ...

    def decode(self, ids: list[int]) -> str: ...

    def facts(self) -> Hashable: ...


class _Backend:
    """A ``tokenizers.Tokenizer``."""

    packages = ("tokenizers",)

    def __init__(self, given: Any) -> None:
        self._given = given
        self._second: dict[bool, tuple[TokenizerState, _SameModel]] = {}  # by encode_special_tokens

    def encode(self, text: str) -> Any:
        given = self._given
        encoding = given.encode(text, add_special_tokens=False)
        if encoding.overflowing:  # truncated
            return self._other(bool(given.encode_special_tokens)).encode(text)
        if all(encoding.attention_mask):
            return encoding.ids
        return [
            token for token, is_text in zip(encoding.ids, encoding.attention_mask, strict=True) if is_text
        ]

    def text_encoder(self) -> Callable[[str], Any]:
        return self._other(True).encode

    def decode(self, ids: list[int]) -> str:
        return str(self._given.decode(ids, skip_special_tokens=False))

    def facts(self) -> Hashable:
        given = self._given
        return TokenizerState(given).digest(), bool(given.encode_special_tokens)

    def _other(self, keeps_names: bool) -> _SameModel:
        known = self._second.get(keeps_names)
        if known is None or not known[0].is_of(self._given):
            known = TokenizerState(self._given), _SameModel(self._given, keeps_names)
            self._second[keeps_names] = known
        return known[1]


class _SameModel:
    """A second ``tokenizers.Tokenizer`` with the model and the parts of the first, and flags of its own."""

    def __init__(self, backend: Any, keeps_names: bool) -> None:
        from tokenizers import Tokenizer

        added = backend.get_added_tokens_decoder()
        second = Tokenizer(backend.model)
        for part in ("normalizer", "pre_tokenizer", "decoder"):
            if getattr(backend, part) is not None:
                setattr(second, part, getattr(backend, part))
        second.add_tokens(list(added.values()))
        # The second numbers its added tokens without holes.
        self._ids = {second.token_to_id(entry.content): token for token, entry in added.items()}
        others = [new for new, old in self._ids.items() if new != old]
        if len(self._ids) != len(added) or any(second.model.id_to_token(new) is not None for new in others):
            second = Tokenizer.from_str(backend.to_str())
            second.no_truncation()
            second.no_padding()
            self._ids = {}
        second.encode_special_tokens = keeps_names
        self.tokenizer = second

    def encode(self, text: str) -> list[int]:
        return [
            self._ids.get(token, token) for token in self.tokenizer.encode(text, add_special_tokens=False).ids
        ]


class _Transformers:
    """A tokenizer of `transformers`, fast or slow."""

    def __init__(self, given: Any) -> None:
        self._given = given
        backend = getattr(given, "backend_tokenizer", None)
        self._backend = None if backend is None else _Backend(backend)
        self.packages = ("transformers",) if backend is None else ("transformers", "tokenizers")
        names = ("__call__", "encode", "_encode_plus", "_batch_encode_plus", "tokenize", "_tokenize")
        classes = [cls for cls in type(given).__mro__ if cls.__module__.partition(".")[0] != "transformers"]
        self._is_overridden = any(name in vars(cls) for cls in [*classes[:-1], given] for name in names)

    def encode(self, text: str) -> Any:
        given, backend = self._given, self._backend
        if backend is None:
            return given(text, add_special_tokens=False)["input_ids"]
        if not self._is_overridden:
            return backend.encode(text)
        if not self._leaves_flags(given.backend_tokenizer):
            # transformers sets the flags of the backend in each call.
            given = copy.copy(given)
            given._tokenizer = backend._other(bool(getattr(given, "split_special_tokens", False))).tokenizer
        return given(text, add_special_tokens=False)["input_ids"]

    def _leaves_flags(self, backend: Any) -> bool:
        splits = bool(getattr(self._given, "split_special_tokens", False))
        return (
            backend.truncation is None
            and backend.padding is None
            and bool(backend.encode_special_tokens) == splits
        )

    def text_encoder(self) -> Callable[[str], Any] | None:
        if self._backend is not None:
            return self._backend.text_encoder()
        if hasattr(getattr(self._given, "tokenizer", None), "instruct_tokenizer"):
            return self.encode  # one of mistral_common, which never reads a control token from a text
        if not hasattr(self._given, "split_special_tokens"):
            return None
        return lambda text: self._given(text, add_special_tokens=False, split_special_tokens=True)[
            "input_ids"
        ]

    def decode(self, ids: list[int]) -> str:
        return str(self._given.decode(ids, skip_special_tokens=False, clean_up_tokenization_spaces=False))

    def facts(self) -> Hashable:
        splits = bool(getattr(self._given, "split_special_tokens", False))
        if self._backend is not None:
            return self._backend.facts(), splits
        return TokenizerState(self._given).digest(), splits


class _Tiktoken:
    """A ``tiktoken.Encoding``.  By default it refuses texts that spell a special token; here it reads
    them."""

    packages = ("tiktoken",)

    def __init__(self, given: Any) -> None:
        self._given = given

    def encode(self, text: str) -> Any:
        return self._given.encode(text, allowed_special="all")

    def text_encoder(self) -> Callable[[str], Any]:
        return lambda text: self._given.encode(text, allowed_special=set(), disallowed_special=())

    def decode(self, ids: list[int]) -> str:
        return str(self._given.decode(ids))

    def facts(self) -> Hashable:
        given = self._given
        ranks = given._mergeable_ranks
        sampled = [_or_none(given.decode_single_token_bytes, token) for token in _spread(len(ranks))]
        names = tuple(sorted(given._special_tokens.items()))
        return given._pat_str, names, len(ranks), tuple(sampled)


class _SentencePiece:
    """A ``SentencePieceProcessor``, which never reads a control token from a text."""

    packages = ("sentencepiece",)

    def __init__(self, given: Any) -> None:
        self._given = given

    def encode(self, text: str) -> Any:
        return self._given.encode(text, add_bos=False, add_eos=False, reverse=False)

    def text_encoder(self) -> Callable[[str], Any]:
        return self.encode

    def decode(self, ids: list[int]) -> str:
        return str(self._given.decode(ids))

    def facts(self) -> Hashable:
        given = self._given
        size = given.get_piece_size()
        flags = tuple(getattr(given, name, None) for name in ("_enable_sampling", "_nbest_size", "_alpha"))
        return (
            size,
            flags,
            tuple((given.id_to_piece(token), given.get_score(token)) for token in _spread(size)),
        )


class _MistralCommon:
    """A ``Tekkenizer``, or a ``MistralTokenizer`` around one; control tokens are never read from a text."""

    packages = ("mistral_common",)

    def __init__(self, given: Any) -> None:
        while (wrapped := getattr(given, "instruct_tokenizer", None)) is not None:
            given = wrapped.tokenizer
        self._given = given

    def encode(self, text: str) -> Any:
        return self._given.encode(text, bos=False, eos=False)

    def text_encoder(self) -> Callable[[str], Any]:
        return self.encode

    def decode(self, ids: list[int]) -> str:
        from mistral_common.tokens.tokenizers.base import SpecialTokenPolicy

        return str(self._given.decode(ids, SpecialTokenPolicy.KEEP))

    def facts(self) -> Hashable:
        given = self._given
        sampled = [given.id_to_piece(token) for token in _spread(given.n_words)]
        return given.n_words, given.num_special_tokens, tuple(sampled)


_ADAPTERS: dict[str, Callable[[Any], Any]] = {
    "tokenizers": _Backend,
    "transformers": _Transformers,
    "tiktoken": _Tiktoken,
    "sentencepiece": _SentencePiece,
    "mistral_common": _MistralCommon,
}
_KNOWN = f"a tokenizer of {', '.join(_ADAPTERS)}, or a path to a file of one"


def package_of(tokenizer: object) -> str | None:
    """The package that runs a tokenizer, by the modules of its classes; ``None`` if none is known."""
    packages = (cls.__module__.partition(".")[0] for cls in type(tokenizer).__mro__)
    return next((package for package in packages if package in _ADAPTERS), None)


def _with_version(package: str) -> str:
    return f"{package} {getattr(sys.modules.get(package), '__version__', '')}".rstrip()


def _spread(size: int) -> list[int]:
    return [size * place // _SAMPLED for place in range(_SAMPLED)] if size else []


def _or_none(read: Callable[[int], Any], token: int) -> Any:
    try:
        return read(token)
    except KeyError:  # a hole
        return None


def _loaded(source: str | os.PathLike[str]) -> Any:
    """The tokenizer of a file, by its own package.

    The file is read as a vocabulary first, so that no program gets one that this package refuses.
    """
    path = Path(source)
    pipeline = read_source(path, want_stop=False).pipeline
    if pipeline is None:
        raise VocabularyError(
            f"{path!s:.200}: no program can run it, since the file does not say how a text is cut into "
            f"tokens; pass {_KNOWN}"
        )
    if (program := pipeline.program()) is not None:
        return program
    file = file_in_folder(path) if path.is_dir() else path
    package, load = _LOADERS[pipeline.family]
    try:
        return load(str(file))
    except ImportError:
        extra = "" if package == "mistral_common" else package
        advice = "" if extra else "install it with: pip install mistral-common"
        raise MissingExtraError(package, extra, f"running the tokenizer {file.name!r:.80}", advice) from None
    except BaseException as error:
        raise _program_error(error, f"{file!s:.200}: {package} cannot read this") from None


def _program_error(error: BaseException, what: str) -> VocabularyError:
    """What a program raised, as an error of this package; not what stops the process."""
    if not isinstance(error, Exception) and type(error).__name__ != "PanicException":  # that is one of Rust
        raise error
    return VocabularyError(f"{what}: {type(error).__name__}: {str(error)[:200]}")


def _tokenizer_json(path: str) -> Any:
    return importlib.import_module("tokenizers").Tokenizer.from_file(path)


def _tekken(path: str) -> Any:
    return importlib.import_module("mistral_common.tokens.tokenizers.tekken").Tekkenizer.from_file(path)


# SentencePiece models were loaded when they were read.
_LOADERS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "tokenizer.json": ("tokenizers", _tokenizer_json),
    "tekken": ("mistral_common", _tekken),
}
