"""The ``decoder`` section of a ``tokenizer.json``, as a function of one token.

A decoder is a pipeline over the list of token texts.  For a single token it has three parts, each
optional, always in this order:

1. steps on the token's text, some of which treat the first token of a text differently
   (``Replace``, ``Strip``, ``Metaspace``, ``WordPiece``, ``BPEDecoder``);
2. the step from text to bytes (``ByteLevel``, ``ByteFallback``; otherwise UTF-8);
3. after ``Fuse`` the text is one string, so ``Strip`` concerns the start of the text.

Example: Llama 2 has ``Replace ▁→space, ByteFallback, Fuse, Strip one leading space``, so the bytes
of ``▁the`` are `` the`` in mid-text and ``the`` at the start, and those of ``<0x0A>`` a line feed.
A decoder that does not fit this scheme is not a function of single tokens; it is refused by name,
like an unknown one.

Clean-up of spaces (``cleanup`` of WordPiece) concerns several tokens at once; it is off here.
``BPEDecoder`` omits the last word's space at the end of a text; here, every token is in mid-text.

Behaviour follows Hugging Face's `tokenizers` 0.23 (Apache-2.0), against which it is tested.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

from tokamata.errors import VocabularyError
from tokamata.vocabulary.byte_alphabet import byte_level_bytes

Texts = list[str]

# Rust's integer parser, which reads these digits, takes a leading plus sign.
_BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2}|\+[0-9A-Fa-f])>")


# Stands between texts that are changed together, which takes a quarter of the time of one after the other.
_BETWEEN = "\0"


@dataclass(frozen=True)
class TextStep:
    """One step on token texts.

    Attributes:
        mid_text: the step for tokens in the middle of a text.
        at_start: the step for the first token of a text, or ``None`` if it is the same.
    """

    mid_text: Callable[[Texts], Texts]
    at_start: Callable[[Texts], Texts] | None = None


@dataclass(frozen=True)
class Decoding:
    """A decoder, as a function of a single token.

    Attributes:
        steps: the steps on its text, in order.
        to_bytes: from texts to bytes.
        stripped: an ASCII character that is dropped once at the start of a text, or ``b""``.
    """

    steps: tuple[TextStep, ...]
    to_bytes: Callable[[Texts], list[bytes]]
    stripped: bytes

    @property
    def has_start_rule(self) -> bool:
        """Whether the first token of a text is treated differently."""
        return bool(self.stripped) or any(step.at_start for step in self.steps)

    def mid_text(self, texts: Texts) -> list[bytes]:
        """The bytes of tokens in the middle of a text."""
        for step in self.steps:
            texts = step.mid_text(texts)
        return self.to_bytes(texts)

    def at_start(self, texts: Texts) -> list[bytes]:
        """The bytes of tokens, each as the first of a text."""
        for step in self.steps:
            texts = (step.at_start or step.mid_text)(texts)
        tokens = self.to_bytes(texts)
        if self.stripped:
            tokens = [token.removeprefix(self.stripped) for token in tokens]
        return tokens


def read_decoder(section: object, where: str) -> Decoding:
    """The ``decoder`` section of a ``tokenizer.json``; ``None`` joins tokens with spaces.

    Raises:
        VocabularyError: for a decoder that is unknown, malformed, or not a function of single tokens.
    """
    if section is None:
        return Decoding((TextStep(_space_before, _unchanged),), _utf8, b"")
    steps: list[TextStep] = []
    to_bytes: Callable[[Texts], list[bytes]] = _utf8
    stripped = b""
    stage = "text"  # then "bytes", then "fused"
    decoders = list(islice(_flattened(section, where), _MAX_DECODERS + 1))
    if len(decoders) > _MAX_DECODERS:
        raise VocabularyError(f"{where}: more than {_MAX_DECODERS} decoders; the file is damaged")
    for decoder in decoders:
        name = _type_name(decoder, where)
        if name == "Fuse":
            stage = "fused"
        elif name == "Strip" and stage == "fused":
            stripped = _strip_of_fused(decoder, stripped, where)
        elif name in ("ByteLevel", "ByteFallback") and stage == "text":
            to_bytes = _byte_level if name == "ByteLevel" else _byte_fallback
            stage = "fused" if name == "ByteLevel" else "bytes"
        elif name in _TEXT_STEPS and stage == "text":
            steps.append(_TEXT_STEPS[name](decoder, where))
        elif name in _TEXT_STEPS or name in ("ByteLevel", "ByteFallback"):
            raise VocabularyError(
                f"{where}: decoder {name!r} comes after the step to bytes or after Fuse, where it is not a "
                f"function of single tokens; {_ADVICE}"
            )
        else:
            raise VocabularyError(f"{where}: decoder {name!r:.80} is not known to tokamata; {_ADVICE}")
    return Decoding(tuple(steps), to_bytes, stripped)


# Bounds against hostile files: real ones have up to five decoders, and no text grows.
_MAX_DECODERS = 16
_MAX_CHARACTERS = 1 << 27  # of all tokens together

_ADVICE = "pass a list of each token's bytes to Vocabulary.load instead"


def _flattened(section: object, where: str, depth: int = 0) -> Iterator[dict[str, object]]:
    """The decoders of a section in order, with Sequences flattened."""
    if not isinstance(section, dict) or depth > 8:
        raise VocabularyError(f"{where}: the section 'decoder' is malformed: {section!r:.80}")
    if section.get("type") != "Sequence":
        yield section
        return
    decoders = section.get("decoders")
    if not isinstance(decoders, list):
        raise VocabularyError(f"{where}: the decoder Sequence has no list of decoders: {decoders!r:.80}")
    for decoder in decoders:
        yield from _flattened(decoder, where, depth + 1)


def _type_name(decoder: dict[str, object], where: str) -> str:
    name = decoder.get("type")
    if not isinstance(name, str):
        raise VocabularyError(f"{where}: a decoder names no type: {decoder!r:.80}")
    return name


# From texts to bytes.


def _utf8(texts: Texts) -> list[bytes]:
    try:
        joined = _BETWEEN.join(texts).encode()
        if joined.count(_BETWEEN.encode()) == len(texts) - 1:
            return joined.split(_BETWEEN.encode())
    except UnicodeEncodeError:
        pass  # the loop raises it again, with the text that has a lone surrogate
    return [text.encode() for text in texts]


def _byte_level(texts: Texts) -> list[bytes]:
    return list(map(byte_level_bytes, texts))


def _byte_fallback(texts: Texts) -> list[bytes]:
    tokens = _utf8(texts)
    for index in (index for index, size in enumerate(map(len, texts)) if size == 6):
        if match := _BYTE_TOKEN.fullmatch(texts[index]):
            tokens[index] = bytes([int(match[1], 16)])
    return tokens


# Steps on texts.


def _replaced(texts: Texts, old: str, new: str) -> Texts:
    joined = _BETWEEN.join(texts)
    if _BETWEEN in old + new or joined.count(_BETWEEN) != len(texts) - 1:
        return [text.replace(old, new) for text in texts]
    return joined.replace(old, new).split(_BETWEEN)


def _unchanged(texts: Texts) -> Texts:
    return texts


def _space_before(texts: Texts) -> Texts:
    return [" " + text for text in texts]


def _replace(decoder: dict[str, object], where: str) -> TextStep:
    pattern = decoder.get("pattern")
    if isinstance(pattern, dict) and "Regex" in pattern:
        raise VocabularyError(f"{where}: decoder 'Replace' with a regular expression is refused; {_ADVICE}")
    old = pattern.get("String") if isinstance(pattern, dict) else None
    new = decoder.get("content")
    if not isinstance(old, str) or not old or not isinstance(new, str):
        raise VocabularyError(f"{where}: decoder 'Replace' is malformed: {decoder!r:.120}")

    def replace(texts: Texts) -> Texts:
        if len(new) > len(old):
            size = sum(map(len, texts))
            if size + size // len(old) * (len(new) - len(old)) > _MAX_CHARACTERS:
                raise VocabularyError(f"{where}: decoder 'Replace' could make the tokens too long")
        return _replaced(texts, old, new)

    return TextStep(replace)


def _strip(decoder: dict[str, object], where: str) -> TextStep:
    """``Strip`` before ``Fuse``: drops characters from both ends of each token."""
    content, start, stop = _strip_fields(decoder, where)

    def strip(text: str) -> str:
        text = text[min(start, len(text) - len(text.lstrip(content))) :]
        return text[: len(text) - min(stop, len(text) - len(text.rstrip(content)))]

    return TextStep(lambda texts: [strip(text) for text in texts])


def _strip_of_fused(decoder: dict[str, object], stripped: bytes, where: str) -> bytes:
    """``Strip`` after ``Fuse``: drops characters from both ends of the whole text."""
    content, start, stop = _strip_fields(decoder, where)
    if start == 0 and stop == 0:
        return stripped
    # More than one would reach into the second token; the end of a text has no rule for single tokens.
    if start != 1 or stop != 0 or stripped or not content.isascii():
        raise VocabularyError(
            f"{where}: decoder 'Strip' with content={content!r}, start={start}, stop={stop} after Fuse is "
            f"refused: only one ASCII character at the start of the text can be dropped; {_ADVICE}"
        )
    return content.encode()


def _strip_fields(decoder: dict[str, object], where: str) -> tuple[str, int, int]:
    content, start, stop = decoder.get("content"), decoder.get("start"), decoder.get("stop")
    if (
        not (isinstance(content, str) and len(content) == 1)
        or not (type(start) is int and 0 <= start <= 1000)
        or not (type(stop) is int and 0 <= stop <= 1000)
    ):
        raise VocabularyError(f"{where}: decoder 'Strip' is malformed: {decoder!r:.120}")
    return content, start, stop


def _metaspace(decoder: dict[str, object], where: str) -> TextStep:
    """Replacement marks are spaces; in the first token all of them are dropped, not only the leading one."""
    mark = decoder.get("replacement")
    scheme = decoder.get("prepend_scheme")
    if decoder.get("add_prefix_space") is False and scheme is None:
        scheme = "never"  # files from before prepend_scheme existed
    if not (isinstance(mark, str) and len(mark) == 1) or scheme not in ("always", "first", "never", None):
        raise VocabularyError(f"{where}: decoder 'Metaspace' is malformed: {decoder!r:.120}")
    spaces = TextStep(lambda texts: _replaced(texts, mark, " "))
    if scheme == "never":
        return spaces
    return TextStep(spaces.mid_text, lambda texts: _replaced(texts, mark, ""))


def _word_piece(decoder: dict[str, object], where: str) -> TextStep:
    """``##x`` continues a word; any other token begins one, with a space unless it is the first.

    The first token is unchanged, including its ``##``, as in the decoder.
    """
    prefix = decoder.get("prefix", "##")
    if not isinstance(prefix, str):
        raise VocabularyError(f"{where}: decoder 'WordPiece' is malformed: {decoder!r:.120}")
    size = len(prefix)

    def mid_text(texts: Texts) -> Texts:
        return [text[size:] if text.startswith(prefix) else " " + text for text in texts]

    return TextStep(mid_text, _unchanged)


def _bpe(decoder: dict[str, object], where: str) -> TextStep:
    suffix = decoder.get("suffix", "</w>")
    if not isinstance(suffix, str) or not suffix:
        raise VocabularyError(f"{where}: decoder 'BPEDecoder' is malformed: {decoder!r:.120}")
    return TextStep(lambda texts: _replaced(texts, suffix, " "))


_TEXT_STEPS: dict[str, Callable[[dict[str, object], str], TextStep]] = {
    "Replace": _replace,
    "Strip": _strip,
    "Metaspace": _metaspace,
    "WordPiece": _word_piece,
    "BPEDecoder": _bpe,
}
