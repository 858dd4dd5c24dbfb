"""What each package of tokenizers offers, by its public functions, in one form.

:class:`.running.RunningTokenizer` asks the adapter of a tokenizer's package, and makes errors of what that
raises.  An object of the caller is never changed: where a flag would have to be set, or truncation and
padding to be switched off, a second object is used, which shares the model of the first.  A class derived
from one of a package is asked by the functions that it overrides.

Rejected: setting ``encode_special_tokens`` and setting it back, because other threads encode meanwhile; and
copying a tokenizer by its text, which takes seconds.
"""

# The packages have no usable types for tokenizers, hence `Any`.

from __future__ import annotations

import copy
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from tokamata.vocabulary.llama_cpp import text_of
from tokamata.vocabulary.tokenizer_state import TokenizerState

__all__ = ["ADAPTERS", "Adapter", "package_of", "with_version"]

_SAMPLED = 64  # tokens whose texts are compared


class Adapter(ABC):
    """One package; ``given`` is a tokenizer of it."""

    packages: tuple[str, ...]

    def __init__(self, given: Any) -> None:
        self.given = given

    @abstractmethod
    def encode(self, text: str) -> Any:
        """The ids of a text, with control tokens read where the package does so."""

    def encode_many(self, texts: Sequence[str]) -> list[list[int]]:
        """The same for many texts."""
        return [list(self.encode(text)) for text in texts]

    @abstractmethod
    def text_encoder(self) -> Callable[[str], Any] | None:
        """Encodes a text in which names of control tokens are ordinary text; ``None`` without such a mode."""

    @abstractmethod
    def decode(self, ids: list[int]) -> str:
        """The text of ids, control tokens by their names."""

    def decode_many(self, many: Sequence[list[int]]) -> list[str]:
        """The same for many sequences."""
        return [str(self.decode(ids)) for ids in many]

    def normalizer(self) -> Callable[[str], str] | None:
        """The normalizer; ``None`` if the package does not show it."""
        return None

    def unknown(self) -> int | None:
        """The id that stands for what cannot be written, if there is one."""
        return None

    @abstractmethod
    def facts(self) -> Hashable:
        """What can be read of the state in a millisecond."""


class _Backend(Adapter):
    """A ``tokenizers.Tokenizer``."""

    packages = ("tokenizers",)

    def __init__(self, given: Any) -> None:
        super().__init__(given)
        self._second: dict[bool, tuple[TokenizerState, _SameModel]] = {}  # by encode_special_tokens

    def encode(self, text: str) -> Any:
        given = self.given
        encoding = given.encode(text, add_special_tokens=False)
        if encoding.overflowing:  # truncated
            return self.other(bool(given.encode_special_tokens)).encode(text)
        if all(encoding.attention_mask):
            return encoding.ids
        return [
            token for token, is_text in zip(encoding.ids, encoding.attention_mask, strict=True) if is_text
        ]

    def encode_many(self, texts: Sequence[str]) -> list[list[int]]:
        given = self.given
        if given.truncation is not None or given.padding is not None:
            return self.other(bool(given.encode_special_tokens)).encode_many(texts)
        return _batch(given, texts)

    def text_encoder(self) -> Callable[[str], Any]:
        return self.other(True).encode

    def decode(self, ids: list[int]) -> str:
        return str(self.given.decode(ids, skip_special_tokens=False))

    def decode_many(self, many: Sequence[list[int]]) -> list[str]:
        return list(self.given.decode_batch(list(many), skip_special_tokens=False))

    def normalizer(self) -> Callable[[str], str]:
        normalizer = self.given.normalizer
        change: Callable[[str], str] = str if normalizer is None else normalizer.normalize_str
        return change

    def unknown(self) -> int | None:
        name = getattr(self.given.model, "unk_token", None)
        token: int | None = self.given.token_to_id(name) if isinstance(name, str) else None
        return token

    def facts(self) -> Hashable:
        given = self.given
        return TokenizerState(given).digest(), bool(given.encode_special_tokens)

    def other(self, keeps_names: bool) -> _SameModel:
        """A second tokenizer that neither cuts nor pads, and keeps names of control tokens as text or not."""
        known = self._second.get(keeps_names)
        if known is None or not known[0].is_of(self.given):
            known = TokenizerState(self.given), _SameModel(self.given, keeps_names)
            self._second[keeps_names] = known
        return known[1]


def _batch(tokenizer: Any, texts: Sequence[str]) -> list[list[int]]:
    return [one.ids for one in tokenizer.encode_batch(list(texts), add_special_tokens=False)]


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
        return self._renumbered(self.tokenizer.encode(text, add_special_tokens=False).ids)

    def encode_many(self, texts: Sequence[str]) -> list[list[int]]:
        return list(map(self._renumbered, _batch(self.tokenizer, texts)))

    def _renumbered(self, ids: list[int]) -> list[int]:
        return [self._ids.get(token, token) for token in ids]


class _Transformers(Adapter):
    """A tokenizer of `transformers`, fast or slow."""

    def __init__(self, given: Any) -> None:
        super().__init__(given)
        backend = getattr(given, "backend_tokenizer", None)
        self._backend = None if backend is None else _Backend(backend)
        self.packages = ("transformers",) if backend is None else ("transformers", "tokenizers")
        names = ("__call__", "encode", "_encode_plus", "_batch_encode_plus", "tokenize", "_tokenize")
        classes = [cls for cls in type(given).__mro__ if cls.__module__.partition(".")[0] != "transformers"]
        self._is_overridden = any(name in vars(cls) for cls in [*classes[:-1], given] for name in names)

    def encode(self, text: str) -> Any:
        if self._backend is None or self._is_overridden:
            return self._caller()(text, add_special_tokens=False)["input_ids"]
        return self._backend.encode(text)

    def encode_many(self, texts: Sequence[str]) -> list[list[int]]:
        if self._backend is None or self._is_overridden:
            return super().encode_many(texts)  # a class that overrides the call may take single texts only
        return self._backend.encode_many(texts)

    def _caller(self) -> Any:
        """The tokenizer, or a copy that may change its flags."""
        given, backend = self.given, self._backend
        if backend is not None and not self._leaves_flags(given.backend_tokenizer):
            # transformers sets the flags of the backend in each call.
            given = copy.copy(given)
            given._tokenizer = backend.other(bool(getattr(given, "split_special_tokens", False))).tokenizer
        return given

    def _leaves_flags(self, backend: Any) -> bool:
        splits = bool(getattr(self.given, "split_special_tokens", False))
        return (
            backend.truncation is None
            and backend.padding is None
            and bool(backend.encode_special_tokens) == splits
        )

    def text_encoder(self) -> Callable[[str], Any] | None:
        if self._backend is not None:
            return self._backend.text_encoder()
        if hasattr(getattr(self.given, "tokenizer", None), "instruct_tokenizer"):
            return self.encode  # one of mistral_common, which never reads a control token from a text
        if not hasattr(self.given, "split_special_tokens"):
            return None
        return lambda text: self.given(text, add_special_tokens=False, split_special_tokens=True)["input_ids"]

    def decode(self, ids: list[int]) -> str:
        return str(self.given.decode(ids, skip_special_tokens=False))

    def normalizer(self) -> Callable[[str], str] | None:
        return None if self._backend is None else self._backend.normalizer()

    def unknown(self) -> int | None:
        return getattr(self.given, "unk_token_id", None)

    def facts(self) -> Hashable:
        splits = bool(getattr(self.given, "split_special_tokens", False))
        if self._backend is not None:
            return self._backend.facts(), splits
        return TokenizerState(self.given).digest(), splits


class _Tiktoken(Adapter):
    """A ``tiktoken.Encoding``.  By default it refuses texts that spell a special token; here it reads
    them."""

    packages = ("tiktoken",)

    def encode(self, text: str) -> Any:
        return self.given.encode(text, allowed_special="all")

    def text_encoder(self) -> Callable[[str], Any]:
        return lambda text: self.given.encode(text, allowed_special=set(), disallowed_special=())

    def decode(self, ids: list[int]) -> str:
        return str(self.given.decode(ids))

    def facts(self) -> Hashable:
        given = self.given
        ranks = given._mergeable_ranks
        sampled = [_or_none(given.decode_single_token_bytes, token) for token in _spread(len(ranks))]
        names = tuple(sorted(given._special_tokens.items()))
        return given._pat_str, names, len(ranks), tuple(sampled)


class _SentencePiece(Adapter):
    """A ``SentencePieceProcessor``, which never reads a control token from a text."""

    packages = ("sentencepiece",)

    def encode(self, text: str) -> Any:
        return self.given.encode(text, add_bos=False, add_eos=False, reverse=False)

    def text_encoder(self) -> Callable[[str], Any]:
        return self.encode

    def decode(self, ids: list[int]) -> str:
        return str(self.given.decode(ids)) if ids else ""

    def normalizer(self) -> Callable[[str], str]:
        return lambda text: str(self.given.normalize(text))

    def unknown(self) -> int:
        return int(self.given.unk_id())

    def facts(self) -> Hashable:
        given = self.given
        size = given.get_piece_size()
        flags = tuple(getattr(given, name, None) for name in ("_enable_sampling", "_nbest_size", "_alpha"))
        return (
            size,
            flags,
            tuple((given.id_to_piece(token), given.get_score(token)) for token in _spread(size)),
        )


class _MistralCommon(Adapter):
    """A ``Tekkenizer``, or a ``MistralTokenizer`` around one; control tokens are never read from a text."""

    packages = ("mistral_common",)

    def __init__(self, given: Any) -> None:
        while (wrapped := getattr(given, "instruct_tokenizer", None)) is not None:
            given = wrapped.tokenizer
        super().__init__(given)

    def encode(self, text: str) -> Any:
        return self.given.encode(text, bos=False, eos=False)

    def text_encoder(self) -> Callable[[str], Any]:
        return self.encode

    def decode(self, ids: list[int]) -> str:
        from mistral_common.tokens.tokenizers.base import SpecialTokenPolicy

        return str(self.given.decode(ids, SpecialTokenPolicy.KEEP))

    def facts(self) -> Hashable:
        given = self.given
        sampled = [given.id_to_piece(token) for token in _spread(given.n_words)]
        return given.n_words, given.num_special_tokens, tuple(sampled)


class _LlamaCpp(Adapter):
    """A ``llama_cpp.Llama``."""

    packages = ("llama_cpp",)

    def encode(self, text: str) -> Any:
        return self.given.tokenize(text.encode(), add_bos=False, special=True)

    def text_encoder(self) -> Callable[[str], Any]:
        return lambda text: self.given.tokenize(text.encode(), add_bos=False, special=False)

    def decode(self, ids: list[int]) -> str:
        return text_of(self.given, ids).decode("utf-8", "replace")

    def facts(self) -> Hashable:
        given = self.given
        own = [(key, str(text)) for key, text in given.metadata.items() if key.startswith("tokenizer.ggml.")]
        return given.n_vocab(), tuple(sorted(own)), repr(type(getattr(given, "tokenizer_", None)))


ADAPTERS: dict[str, Callable[[Any], Any]] = {
    "tokenizers": _Backend,
    "transformers": _Transformers,
    "tiktoken": _Tiktoken,
    "sentencepiece": _SentencePiece,
    "mistral_common": _MistralCommon,
    "llama_cpp": _LlamaCpp,
}


def package_of(tokenizer: object) -> str | None:
    """The package that runs a tokenizer, by the modules of its classes; ``None`` if none is known."""
    packages = (cls.__module__.partition(".")[0] for cls in type(tokenizer).__mro__)
    return next((package for package in packages if package in ADAPTERS), None)


def with_version(package: str) -> str:
    """A package by its name in PyPI, with its version."""
    return f"{package.replace('_', '-')} {getattr(sys.modules.get(package), '__version__', '')}".rstrip()


def _spread(size: int) -> list[int]:
    return [size * place // _SAMPLED for place in range(_SAMPLED)] if size else []


def _or_none(read: Callable[[int], Any], token: int) -> Any:
    try:
        return read(token)
    except KeyError:  # a hole
        return None
