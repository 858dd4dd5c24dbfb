"""tiktoken: rank files, one ``base64 rank`` a line, and ``tiktoken.Encoding`` objects.

A rank file has only text tokens.  Its special tokens are defined by the code that uses it, so
their ids are holes or beyond the end of the file: pass ``stop=`` and ``width=``.
OpenAI's files for Whisper write the empty token as ``= 50256``.
"""

from __future__ import annotations

import binascii
import json
from typing import Any, NamedTuple

from tokamata.errors import VocabularyError
from tokamata.vocabulary.token_table import (
    MAX_TOKENS,
    PipelineSource,
    TokenBytes,
    TokenTable,
    check_ids,
    shown_int,
)

# Far more than any line needs: the longest known token has 128 bytes.
_LONGEST_LINE = 1 << 16


def looks_like_ranks(head: bytes) -> bool:
    """Whether a file that begins with ``head`` has ``base64 rank`` as its first line."""
    return _parsed_line(head.split(b"\n", 1)[0]) is not None


def table_from_ranks(data: bytes, where: str) -> TokenTable:
    """The tokens of a rank file.

    Raises:
        VocabularyError: for a line that is not ``base64 rank``, and for ranks that repeat.
    """
    if data.count(b"\n") > 2 * MAX_TOKENS:
        raise VocabularyError(f"{where}: more lines than the {MAX_TOKENS:,} tokens that are allowed")
    ranks: list[int] = []
    values: list[bytes] = []
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line or line == b"\r":
            continue
        parsed = _parsed_line(line)
        if parsed is None:
            raise VocabularyError(
                f"{where}: line {number} is not 'base64 rank': {line[:60]!r}; the file is damaged, or not a "
                "tiktoken rank file"
            )
        values.append(parsed[0])
        ranks.append(parsed[1])
    check_ids(ranks, where)
    tokens: TokenBytes = [None] * (max(ranks, default=-1) + 1)
    for rank, value in zip(ranks, values, strict=True):
        tokens[rank] = value
    return TokenTable(tokens)


def _parsed_line(line: bytes) -> tuple[bytes, int] | None:
    encoded, separator, rank = line.rstrip(b"\r").partition(b" ")
    if not separator or not rank.isdigit() or len(line) > _LONGEST_LINE or len(rank) > 20:
        return None
    if encoded == b"=":
        return b"", int(rank)
    try:
        return binascii.a2b_base64(encoded, strict_mode=True), int(rank)
    except TypeError:  # Python 3.10 has no strict mode
        return _decoded_strictly(encoded, int(rank))
    except binascii.Error:
        return None


def _decoded_strictly(encoded: bytes, rank: int) -> tuple[bytes, int] | None:
    try:
        value = binascii.a2b_base64(encoded)
    except binascii.Error:
        return None
    return (value, rank) if binascii.b2a_base64(value, newline=False) == encoded else None


class Ranks(NamedTuple):
    """What determines how an encoding cuts a text into tokens.

    Attributes:
        pattern: cuts a text into pieces.
        special: the ids of special tokens.
        ranks: the ids of all others, which are their ranks.
    """

    pattern: str
    special: dict[str, int]
    ranks: dict[bytes, int]

    @classmethod
    def parse(cls, content: bytes) -> Ranks:
        """Those of a :meth:`content`."""
        pattern, special, ranks = json.loads(content)
        return cls(pattern, dict(special), {text.encode("latin-1"): rank for text, rank in ranks})

    def content(self) -> bytes:
        """All of it."""
        ranks = sorted(self.ranks.items(), key=lambda item: item[1])
        texts = [(text.decode("latin-1"), rank) for text, rank in ranks]
        return json.dumps([self.pattern, sorted(self.special.items()), texts]).encode()


def table_from_encoding(encoding: Any, where: str) -> TokenTable:
    """The tokens of a ``tiktoken.Encoding``.

    Its special tokens are control tokens; ``<|endoftext|>``, if it has one, is the stop token.
    """
    size = encoding.max_token_value + 1
    if not 0 <= size <= MAX_TOKENS:
        raise VocabularyError(f"{where}: its largest id, {shown_int(size - 1)}, is out of bounds")
    names = {encoding.encode_single_token(name): name for name in encoding.special_tokens_set}
    tokens: TokenBytes = [None] * size
    for token in range(size):
        if token not in names:
            try:
                tokens[token] = encoding.decode_single_token_bytes(token)
            except KeyError:
                continue  # a hole
    stop = next(((token,) for token, name in names.items() if name == "<|endoftext|>"), ())
    ranks = Ranks(encoding._pat_str, encoding._special_tokens, encoding._mergeable_ranks)
    source = PipelineSource("tiktoken", ranks.content, lambda: encoding)
    return TokenTable(tokens, dict(sorted(names.items())), stop, pipeline=source)
