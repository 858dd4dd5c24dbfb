"""The byte-level alphabet: one printable character for each of the 256 bytes.

GPT-2's tokenizer writes token bytes as text, so that a JSON file can contain them: bytes that
are printable in Latin-1 stand for themselves, the 68 others are U+0100 to U+0143 in order.
Thus `` the`` (0x20 0x74 0x68 0x65) is written ``Ġthe``, since U+0120 is the 33rd of those.
Source: Radford et al., "Language Models are Unsupervised Multitask Learners" (2019), the
encoder published with it; the fallback is that of the decoder in Hugging Face's `tokenizers`.
"""

from __future__ import annotations

_PRINTABLE = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
_OTHERS = [b for b in range(0x100) if b not in _PRINTABLE]

# Byte by code point of the alphabet.  Latin-1 code points outside the alphabet become U+FFFF, which Latin-1
# cannot encode: so `byte_level_bytes` detects them at the speed of `str.translate`.
_BYTE_OF = {
    **{b: b for b in _PRINTABLE},
    **dict.fromkeys(_OTHERS, 0xFFFF),
    **{0x100 + n: b for n, b in enumerate(_OTHERS)},
}

_ALPHABET = frozenset(map(chr, [*_PRINTABLE, *range(0x100, 0x100 + len(_OTHERS))]))


def is_byte_level_text(text: str) -> bool:
    """Whether all characters of a text are in the byte-level alphabet."""
    return _ALPHABET.issuperset(text)


def byte_level_bytes(text: str) -> bytes:
    """The bytes that ``text`` spells in the byte-level alphabet.

    A text with a character outside the alphabet (an added token such as ``<｜User｜>``) is not
    written in it, and becomes its own UTF-8.

    Raises:
        UnicodeEncodeError: for a lone surrogate.
    """
    try:
        return text.translate(_BYTE_OF).encode("latin-1")
    except UnicodeEncodeError:
        return text.encode()
