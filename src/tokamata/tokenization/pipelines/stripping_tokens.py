r"""Added tokens that swallow white space: ``lstrip`` and ``rstrip``.

Problem.  The program cuts out ``<mask>`` with the flag ``lstrip`` together with the white space before it,
and decodes it without.  So in a canonical text no white space stands before ``<mask>``, except as the end of
another added token, which was cut out before.  ``rstrip`` is the same for white space after it.

Example, RoBERTa: ``a <mask>`` becomes ``a``, ``<mask>``, which is decoded to ``a<mask>``.  So ``a``, ``Ġ``,
``<mask>`` is never written, and neither is ``aĠ``, ``<mask>``.

How.  The engine finds the texts of added tokens in a text, and refuses tokens that spell one.  It also does
so for texts that belong to no token: here a white space and ``<mask>``.  As it follows matches across the
tokens that begin within them, a ``<mask>`` after a white space completes such a text, and is refused.

White space is what the program's regex ``\s`` matches, 25 code points (Unicode's White_Space, which has not
changed since version 6.3).

Order.  Tokens with ``normalized`` are found later than others, in the text between them.  So a later token
that ends with white space loses it to a ``<mask>`` that was found earlier, and is not found: ``NM`` is a
forbidden text for such an ``N``.  If both are found at the same time, the white space stays with ``N``.
Where the forbidden texts cannot say this, because another token is a beginning of one, the tokenizer is
refused.

Prefix.  Llama 2's tokenizers put a space before each text, so what stands after an added token gets one at
each encoding, and is not canonical.  But a token with ``rstrip`` swallows the space that was decoded (Phi-3's
``</s>``): after it a text begins anew, as after a control token, and its own first character is no white
space.

Rejected: start states for after and before such tokens in the automaton of pre-tokens, which would have twice
the states, and whose ends would depend on the token that follows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tokamata.errors import UnsupportedTokenizerError
from tokamata.tokenization.pipelines.pipeline import Normalizer

__all__ = ["WHITE_SPACE", "forbidden_texts"]

WHITE_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
)

# Each is compared with all others; Gemma 3 has 6,415, none of which swallows white space.
_MOST_ENTRIES = 2_000


def forbidden_texts(
    entry: dict[str, Any],
    entries: Sequence[dict[str, Any]],
    normalizer: Normalizer,
    keeps_spaces: bool = True,
) -> tuple[bytes, ...]:
    """The texts that stand in no canonical text since an added token swallows white space.

    Args:
        entry: the token, as listed in ``added_tokens``.
        entries: all added tokens, itself among them.
        normalizer: what happens to the text between added tokens.
        keeps_spaces: whether the white space of a text is in its tokens.  Else it is lost anyway, and a token
            that swallows it is like any other.

    Raises:
        UnsupportedTokenizerError: no set of texts says where the token stands.
    """
    if not (entry.get("lstrip") or entry.get("rstrip")):
        return ()
    if not keeps_spaces:
        for other in entries:
            if other["content"][0] in WHITE_SPACE or other["content"][-1] in WHITE_SPACE:
                raise _refused(entry, f"swallows white space, and {other['content']!r:.40} has some")
        return ()
    if len(entries) > _MOST_ENTRIES:
        raise _refused(entry, f"swallows white space, and is one of more than {_MOST_ENTRIES:,} added tokens")
    if entry.get("normalized") and normalizer.spaces:
        raise _refused(entry, "is found in a text whose spaces are other characters")
    texts = _before(entry, entries) if entry.get("lstrip") else []
    if entry.get("rstrip"):
        texts += _after(entry, entries, normalizer)
    return tuple(text.encode() for text in dict.fromkeys(texts))


def _before(entry: dict[str, Any], entries: Sequence[dict[str, Any]]) -> list[str]:
    later = [other for other in entries if _is_later(other, entry)]
    ends = [other["content"] for other in later if other["content"][-1] in WHITE_SPACE]
    texts = [end + entry["content"] for end in [*WHITE_SPACE, *ends]]
    for other in entries:
        if not _is_later(other, entry) and any(_is_beginning(other["content"], text) for text in texts):
            raise _refused(entry, f"is lstrip, and {other['content']!r:.40} may begin in the space before it")
        if _is_beginning(entry["content"], other["content"]):
            raise _refused(entry, f"is lstrip, and {other['content']!r:.40} begins with it")
    return texts


def _after(entry: dict[str, Any], entries: Sequence[dict[str, Any]], normalizer: Normalizer) -> list[str]:
    for other in entries:
        if other["content"][0] in WHITE_SPACE and not _is_later(other, entry):
            raise _refused(entry, f"is rstrip, and {other['content']!r:.40} begins with white space")
    space = ""
    if normalizer.prefix != "none" and not normalizer.prefix_once:
        # Where one is always put, a text begins anew after the token, which swallows the decoded one.
        if normalizer.prefix == "missing":
            raise _refused(entry, "is rstrip, and the tokenizer puts a space before the text after it")
        space = " "
    return [entry["content"] + space + each for each in WHITE_SPACE]


def _is_later(first: dict[str, Any], second: dict[str, Any]) -> bool:
    """Whether the first token is looked for only between tokens such as the second."""
    return bool(first.get("normalized")) and not second.get("normalized")


def _is_beginning(text: str, longer: str) -> bool:
    return len(text) < len(longer) and longer.startswith(text)


def _refused(entry: dict[str, Any], what: str) -> UnsupportedTokenizerError:
    return UnsupportedTokenizerError("added tokens", f"{entry['content']!r:.40} {what}")
