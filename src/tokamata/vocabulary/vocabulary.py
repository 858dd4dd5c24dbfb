"""``Vocabulary``: the bytes of every token."""

from __future__ import annotations

import itertools
import operator
import os
import time
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from tokamata.calls.arguments import checked_instance, checked_list
from tokamata.calls.keywords import checked_call
from tokamata.calls.recipes import Shared
from tokamata.errors import ArgumentError, TokenIdError, UnknownTokenError, VocabularyError, shown_argument
from tokamata.resources.locks import kept_property
from tokamata.resources.logs import LOG
from tokamata.vocabulary.kept_segments import keep_segments
from tokamata.vocabulary.misfits import warn_if_far_wider, warn_without_stop
from tokamata.vocabulary.packed_tokens import packed, unpacked
from tokamata.vocabulary.sources import read_source
from tokamata.vocabulary.stop_tokens import check_stop, resolve_stop
from tokamata.vocabulary.token_table import MAX_TOKENS, PipelineSource, TokenBytes, TokenTable, shown_int
from tokamata.vocabulary.token_types import TextsOfTokens, TokenTypes

if TYPE_CHECKING:
    import tokamata._core as _core

# Forty times the bytes of the largest vocabulary known; the engine's trie takes about twenty times as much.
_MAX_BYTES = 1 << 26


class Vocabulary:
    """The exact bytes of every token of a tokenizer.

    ::

        vocabulary = tokamata.Vocabulary.load("tokenizer.json")
        vocabulary[278]                # b' the': bytes, in the middle of a text
        vocabulary[vocabulary.stop[0]] # None: a control token, which no text produces
        vocabulary.name(1)             # '<eos>'

    A token's bytes are those it adds in mid-text, with clean-up of spaces off.  An id has no
    bytes (``None``) where no text produces it: control tokens, stop tokens, holes in the ids,
    and the padding where a model's logits are wider than its tokenizer.  Bytes need not be
    valid UTF-8, several ids may share them, and a token may have none at all (``b""``; no mask
    ever allows it).  A vocabulary does not change; share one among all constraints and threads.
    """

    def __init__(self, table: TokenTable, width: int | None = None) -> None:
        checked_instance("table", table, TokenTable, "a TokenTable", "call Vocabulary.load(…)")
        size = len(table.tokens)
        if size == 0:
            raise VocabularyError("the vocabulary has no tokens; pass a tokenizer that has some")
        if (total := sum(map(len, filter(None, table.tokens)))) > _MAX_BYTES:
            raise VocabularyError(
                f"the tokens have {total:,} bytes together, more than the {_MAX_BYTES:,} that are allowed; "
                "the source is damaged, or not a tokenizer"
            )
        self._width = _checked_width(width, table.tokens)
        check_stop(table.stop, self._width)
        tokens = table.tokens[: self._width]
        size = len(tokens)
        self._names = {token: name for token, name in table.names.items() if token < size}
        self._stop = table.stop
        # A stop token ends the text instead of adding to it, whatever its own text is.
        for token in table.stop:
            if token < size and (value := tokens[token]) is not None:
                self._names[token] = value.decode("utf-8", "backslashreplace")
                tokens[token] = None
        self._tokens = tuple(tokens)
        self._start_rule = table.start_rule
        self._pipeline = table.pipeline

    @classmethod
    @checked_call
    def load(
        cls,
        source: object,
        stop: int | str | Sequence[int | str] | None = None,
        width: int | None = None,
        control_tokens: Mapping[str, int] | None = None,
    ) -> Vocabulary:
        """The vocabulary of any tokenizer.

        Args:
            source: one of

                - a path to a ``tokenizer.json`` (Hugging Face), a tekken file (mistral-common), a
                  SentencePiece ``.model``, a tiktoken rank file or a GGUF file, or to a folder that holds
                  one; the contents of a file decide which it is;
                - a ``tokenizers.Tokenizer``, a transformers tokenizer (fast or slow), a
                  ``tiktoken.Encoding``, a ``sentencepiece.SentencePieceProcessor``, a mistral-common
                  ``Tekkenizer``, or a ``llama_cpp.Llama``;
                - a list with the bytes of each token, ``None`` for control tokens.
            stop: the stop tokens, by id, or by the name of a control token or the whole text of a
                token; one or a sequence.  ``None`` takes those that the source names, for files also
                those next to it: ``generation_config.json`` or ``config.json``, and
                ``tokenizer_config.json`` or ``special_tokens_map.json``.  Of a GGUF file, those at which
                llama.cpp stops.  Without any, there is a :class:`VocabularyWarning`.
            width: number of logits of the model, where that is not the tokenizer's number of ids.  As a
                rule it is more, padded to a round number; if it is far more, there is a
                :class:`VocabularyWarning`.  It may be less where the ids beyond spell no text: Gemma 3's
                tokenizer ends with one control token for which the model has no logit.
            control_tokens: the ids of control tokens by their names, for a list, which has no names.

                    tokens = [bytes([byte]) for byte in range(256)] + [None, None]
                    Vocabulary.load(tokens, stop="<end>", control_tokens={"<image>": 256, "<end>": 257})

        Raises:
            VocabularyError: for a source that cannot be read, or arguments that do not fit it.
            MissingExtraError: where reading it needs a package that is not installed.
        """
        begin = time.perf_counter()
        table = read_source(source, want_stop=stop is None, control_tokens=control_tokens)
        stops = table.stop if stop is None else resolve_stop(stop, table)
        try:
            made = cls(replace(table, stop=stops), width)
        except VocabularyError as error:
            if isinstance(source, (str, os.PathLike)):
                raise VocabularyError(f"{_shown_source(source)}: {error}") from None
            raise
        if stop is None and not stops:
            warn_without_stop(table, _shown_source(source))
        warn_if_far_wider(len(made), made.width)
        what = source if isinstance(source, (str, os.PathLike)) else type(source).__name__
        LOG.debug("read %d tokens of %.200s in %.3f s", len(made), what, time.perf_counter() - begin)
        return made

    def __len__(self) -> int:
        """Number of ids of the tokenizer, holes included, at most ``self.width``."""
        return len(self._tokens)

    @property
    def width(self) -> int:
        """Number of logits that the model gives, at least ``len(self)``; a mask has a bit for each."""
        return self._width

    @property
    def stop(self) -> tuple[int, ...]:
        """Ids of the stop tokens; empty where the source names none."""
        return self._stop

    @property
    def tokens(self) -> Sequence[bytes | None]:
        """The bytes of every id below ``len(self)``, ``None`` where no text produces it."""
        return self._tokens

    def __getitem__(self, token: int) -> bytes | None:
        """The bytes of one token, ``None`` where no text produces it.

        Raises:
            TokenIdError: for an id outside ``range(self.width)``.
        """
        index = self._checked_id(token)
        return self._tokens[index] if index < len(self._tokens) else None

    def name(self, token: int) -> str:
        """How to show a token: the name of a control token, or the text of the token in quotes.

        Text that is not UTF-8 is shown as bytes; ids without a name are ``<unused 5>`` (a hole in
        the ids) or ``<padding 262150>`` (beyond the tokenizer).

        Raises:
            TokenIdError: for an id outside ``range(self.width)``.
        """
        value = self[token]
        if value is not None:
            try:
                return repr(value.decode())
            except UnicodeDecodeError:
                return repr(value)
        index = operator.index(token)
        kind = "unused" if index < len(self._tokens) else "padding"
        return self._names.get(index, f"<{kind} {index}>")

    def _shown(self, token: int) -> bytes | str:
        """The bytes of a token, or its name if it has none."""
        return self[token] or self.name(token)

    def control_token(self, name: str) -> int:
        """The id of a control token, by its name.

        Raises:
            UnknownTokenError: no control token below ``self.width`` has that name; it lists similar names.
        """
        checked_instance("name", name, str, "the name of a control token")
        if (token := self._control_ids.get(name)) is not None:
            return token
        from difflib import get_close_matches

        known_names = [self._names[token] for token in sorted(self._names)][:10_000]
        close = tuple(get_close_matches(name[:100], known_names, n=3, cutoff=0.5))
        raise UnknownTokenError(name, f"the vocabulary has {len(self._names):,} other names", close)

    @kept_property
    def _control_ids(self) -> dict[str, int]:
        """The ids of control tokens by name; where several have one name, the first."""
        ids: dict[str, int] = {}
        for token, name in self._names.items():
            if self._tokens[token] is None:
                ids.setdefault(name, token)
        return ids

    def start_tokens(self) -> list[bytes | None] | None:
        """The bytes of every id below ``len(self)`` as the first token of a text.

        ``None`` if the decoder treats the start of a text like any other position.  Llama 2 drops
        one leading space, Metaspace drops all of them, WordPiece sets no space before its first word.
        """
        start = self._start_tokens
        return None if start is None else list(start)

    @kept_property
    def _start_tokens(self) -> TokenBytes | None:
        if self._start_rule is None:
            return None
        start = self._start_rule()[: len(self._tokens)]
        for token in self._stop:
            if token < len(start):
                start[token] = None
        return None if tuple(start) == self._tokens else start

    def without(self, tokens: Iterable[int]) -> Vocabulary:
        """The vocabulary less some tokens: their ids stay, and no text has them.

        Masks for it are exact as for any other vocabulary: each token that they allow leads to a text without
        the tokens that were taken out.  It says nothing of the tokenizer, which still writes these tokens, so
        ``tokenization="canonical"`` is refused.

        Equal calls give the same vocabulary, as long as it is one of the last four.

        Args:
            tokens: the ids; stop tokens and control tokens may be among them.

        Raises:
            TokenIdError: an id is outside ``range(self.width)``.
        """
        given = checked_list("tokens", tokens, "a list of token ids")
        banned = frozenset(self._checked_id(token) for token in given)
        if not banned:
            return self
        return self._narrowed.get(banned, lambda: self._less(banned))

    @kept_property
    def _narrowed(self) -> Shared[Vocabulary]:
        return Shared(4)

    def _less(self, banned: frozenset[int]) -> Vocabulary:
        def kept(tokens: Iterable[bytes | None]) -> TokenBytes:
            return [None if token in banned else value for token, value in enumerate(tokens)]

        start = self._start_tokens
        table = TokenTable(
            kept(self._tokens),
            {token: name for token, name in self._names.items() if token not in banned},
            tuple(token for token in self._stop if token not in banned),
            None if start is None else partial(kept, start),
        )
        return Vocabulary(table, self._width)

    def types(self, types: Mapping[str, TextsOfTokens]) -> TokenTypes:
        """Types of tokens: for each name the tokens whose whole text a constraint accepts.

            types = vocabulary.types({"number": tk.regex("[0-9]+"), "space": tk.regex(r"\\s+")})
            types.of(17)                    # ("number",)
            types["number"]                 # the ids

        A token may have several types, or none.  Tokens that are no whole code points, and control tokens,
        have none.

        Args:
            types: a constraint for each name.

        Raises:
            ArgumentError: the argument is no such mapping.
            LimitExceeded, Cancelled: the work of a constraint was stopped.
        """
        return TokenTypes(self, types)

    @property
    def pipeline(self) -> PipelineSource | None:
        """The source of the tokenizer's pipeline, for canonical tokenization; not public."""
        return self._pipeline

    @kept_property
    def core(self) -> _core.Vocabulary:
        """The engine's form of this vocabulary, made when first used."""
        core = _core_vocabulary(list(self._tokens), self._stop, self._width)
        keep_segments(core)
        return core

    @kept_property
    def start_core(self) -> _core.Vocabulary | None:
        """The engine's form of ``start_tokens()``, or ``None`` if it is the same as ``core``."""
        start = self._start_tokens
        return None if start is None else _core_vocabulary(start, self._stop, self._width)

    @kept_property
    def _number(self) -> int:
        """Distinguishes it from all other vocabularies of this process."""
        return next(_numbers)

    @kept_property
    def _mask_digest(self) -> str:
        """The digest of all that masks depend on: tokens, stop tokens, the width, names of control tokens."""
        import json

        start = self.start_core
        parts = [self.core.content, b"" if start is None else start.content]
        parts.append(json.dumps(sorted(self._names.items())).encode())
        return _digest(b"".join(len(part).to_bytes(8, "little") + part for part in parts)).hex()

    def __reduce__(self) -> tuple[Callable[..., Vocabulary], tuple[bytes, bytes, bytes | None]]:
        """For pickling: everything travels, so that another process needs no file.

        Raises:
            VocabularyError: the file of the tokenizer has changed since it was loaded, or is gone.
        """
        digest, tokens, pipeline = self._travelling
        _SHARED.note(digest, self)
        return _arrived, (digest, tokens, pipeline)

    def __copy__(self) -> Vocabulary:
        return self

    def __deepcopy__(self, memo: dict[int, object]) -> Vocabulary:
        return self

    @kept_property
    def _travelling(self) -> tuple[bytes, bytes, bytes | None]:
        """What pickle writes: a digest, and what :func:`_vocabulary_of` reads."""
        start = self._start_tokens
        source = self._pipeline
        content = b"" if source is None else source.content()
        rest = {
            "names": [*self._names.items()],
            "stop": self._stop,
            "width": self._width,
            # those that differ from the tokens in mid-text; each character is a byte
            "start": None
            if start is None
            else [
                (token, None if value is None else value.decode("latin-1"))
                for token, value in enumerate(start)
                if value != self._tokens[token]
            ],
            "family": None if source is None else source.family,
            "is_written": source is not None and source.is_written,
            "content": _digest(content).hex(),
        }
        body = packed(self._tokens, rest)
        tokens, pipeline = zlib.compress(body, 1), None if source is None else zlib.compress(content, 1)
        return _digest(body), tokens, pipeline

    def _checked_id(self, token: int) -> int:
        try:
            index = operator.index(token)
        except TypeError:
            raise ArgumentError("token", shown_argument(token), "a token id, a whole number") from None
        if not 0 <= index < self._width:
            raise TokenIdError(
                f"token id {shown_int(index)} is outside the vocabulary, which has ids 0 to {self._width - 1}"
            )
        return index

    def __repr__(self) -> str:
        stop = ", ".join(f"{token} {self.name(token)}" for token in self._stop[:4])
        if len(self._stop) > 4:
            stop += f" and {len(self._stop) - 4} more"
        padding = f", {self._width - len(self):,} of padding" if self._width > len(self) else ""
        return f"<Vocabulary of {len(self):,} tokens{padding}, stop: {stop or 'none'}>"


def _shown_source(source: object) -> str:
    if isinstance(source, (str, os.PathLike)):
        return f"{os.fspath(source)!s:.200}"
    return "the list of tokens" if isinstance(source, (list, tuple)) else f"the {type(source).__name__}"


_numbers = itertools.count()

# Vocabularies that pickles of this process stand for.  A model has one, so few are in use.
_SHARED: Shared[Vocabulary] = Shared(2)


def _arrived(digest: bytes, tokens: bytes, pipeline: bytes | None) -> Vocabulary:
    """The vocabulary that was pickled; the same one for all pickles with this digest."""
    return _SHARED.get(digest, lambda: _vocabulary_of(digest, tokens, pipeline))


def _vocabulary_of(digest: bytes, packed_tokens: bytes, pipeline: bytes | None) -> Vocabulary:
    """The vocabulary that was pickled.

    Raises:
        VocabularyError: the pickle is damaged.
    """
    body = _inflated(packed_tokens, digest)
    tokens, rest = unpacked(body)
    start_rule: Callable[[], TokenBytes] | None = None
    if rest["start"] is not None:
        start = list(tokens)
        for token, value in rest["start"]:
            start[token] = None if value is None else value.encode("latin-1")
        start_rule = partial(list, start)
    source = None
    if pipeline is not None:
        content = partial(_inflated, pipeline, bytes.fromhex(rest["content"]))  # as a rule not needed
        source = PipelineSource(rest["family"], content, is_written=bool(rest["is_written"]))
    table = TokenTable(tokens, dict(rest["names"]), tuple(rest["stop"]), start_rule, source)
    return Vocabulary(table, rest["width"])


def _inflated(data: bytes, digest: bytes) -> bytes:
    """What was compressed.

    Raises:
        VocabularyError: it is not what the digest is of.
    """
    try:
        content = zlib.decompress(data)
    except zlib.error:
        content = b""
    if _digest(content) != digest:
        raise VocabularyError("the pickled vocabulary is damaged: its digest differs; pickle it again")
    return content


def _digest(content: bytes) -> bytes:
    import hashlib

    return hashlib.sha256(content).digest()


def _checked_width(width: int | None, tokens: TokenBytes) -> int:
    size = len(tokens)
    if width is None:
        return size
    try:
        value = operator.index(width)
    except TypeError:
        raise VocabularyError(f"width must be an integer, not {width!r:.80}") from None
    # The model cannot write an id without a logit; that is harmless if no text needs the id.
    if value > MAX_TOKENS or value < 1 or any(token is not None for token in tokens[value:]):
        raise VocabularyError(
            f"width={shown_int(value)} does not fit a tokenizer of {size:,} ids (at most {MAX_TOKENS:,} are "
            "allowed, and ids beyond the width must be no text); pass the number of logits of the model"
        )
    return value


def _core_vocabulary(tokens: TokenBytes, stop: tuple[int, ...], width: int) -> _core.Vocabulary:
    import tokamata._core as _core  # late, so that reading tokenizers works without the compiled part

    return _core.Vocabulary(tokens, list(stop), width)
