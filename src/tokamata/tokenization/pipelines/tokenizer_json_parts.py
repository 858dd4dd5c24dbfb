"""Common parts of the pipelines of a ``tokenizer.json``, for all models."""

from __future__ import annotations

from collections.abc import Callable

from tokamata.errors import UnsupportedTokenizerError
from tokamata.tokenization.pipelines.lone_tokens import check_lone_tokens
from tokamata.tokenization.pipelines.normal_forms import normal_form
from tokamata.tokenization.pipelines.pipeline import AddedToken, Normalizer, first_shared
from tokamata.tokenization.pipelines.stripping_tokens import forbidden_texts
from tokamata.vocabulary.sections import Section

__all__ = ["added_tokens", "kind_of", "refusal", "vocab_of"]


def kind_of(model: Section) -> str:
    """The type of a model."""
    if model.fields.get("type") is None:
        if isinstance(model.fields.get("vocab"), list):
            return "Unigram"
        return "WordPiece" if "max_input_chars_per_word" in model.fields else "BPE"
    return model.kind


def vocab_of(model: Section) -> dict[str, int]:
    """The tokens of a model and their ids, which reading the vocabulary has checked."""
    return model.section("vocab").fields


def added_tokens(
    document: Section, tokens: list[bytes | None], normalizer: Normalizer, keeps_spaces: bool = True
) -> tuple[AddedToken, ...]:
    """The added tokens of a file that can occur in a text.

    Args:
        document: the parsed file.
        tokens: the bytes of every token.
        normalizer: what happens to the text between added tokens.
        keeps_spaces: whether the white space of a text is in its tokens.
    """
    found, normalized = [], set()
    entries = [entry for entry in document.fields.get("added_tokens") or () if entry["content"]]
    check_lone_tokens(document, entries, normalizer, keeps_spaces)
    for entry in entries:
        content, token = entry["content"], entry["id"]
        if token >= len(tokens):
            continue
        if normalizer.spaces and normalizer.spaces in content:
            continue  # the normalizer writes this character for a space, so it never occurs itself
        if content.startswith(" ") and normalizer.prefix != "none":
            what = f"{content!r:.40} begins with a space, and the tokenizer puts a space before each text"
            raise refusal("added tokens", what)
        if entry.get("normalized"):
            if normalizer.has_contexts:  # it sees what stands around the token
                raise refusal("added tokens", f"{content!r:.40} is found in normalized texts")
            if normalizer.prefix == "always":
                raise refusal("added tokens", f"{content!r:.40} is matched after a prefix")
            for change in filter(None, (normalizer.form, normalizer.keeps)):
                if change(content) != content:
                    what = f"{content!r:.40} is normalized, and found in other texts"
                    raise refusal("added tokens", what)
            if normalizer.form is not None and _meets_marks(content, normalizer.form):
                what = f"{content!r:.40} is found in normalized texts, where a mark beside it may change it"
                raise refusal("added tokens", what)
            normalized.add(content.encode())
        forbidden = forbidden_texts(entry, entries, normalizer, keeps_spaces)
        begins = bool(entry.get("rstrip")) and normalizer.prefix == "always"
        is_late, is_lone = bool(entry.get("normalized")), bool(entry.get("single_word"))
        bars_white = bool(entry.get("lstrip")) and is_lone, bool(entry.get("rstrip")) and is_lone
        # Where a lone one is not cut out, it swallows nothing: the automaton of texts says where that is.
        forbidden = () if is_lone else forbidden
        found.append(AddedToken(token, content.encode(), forbidden, begins, is_late, is_lone, bars_white))
    others = [one.text for one in found if one.text not in normalized]
    if shared := first_shared(sorted(normalized), others):
        later, first = (each.decode() for each in shared)
        what = f"{first!r:.40} may share characters with {later!r:.40}, which is normalized, so found later"
        raise refusal("added tokens", what)
    return tuple(found)


def _meets_marks(content: str, form: Callable[[str], str]) -> bool:
    """Whether a normal form may change the ends of a text, or move them, by what stands beside it."""
    table = normal_form(form)
    first, last = ord(content[0]), ord(content[-1])
    return bool(table.combining[first] or table.second[first] or table.combining[last] or table.starter[last])


def refusal(part: str, reason: str) -> UnsupportedTokenizerError:
    """The error for a part that is not supported."""
    return UnsupportedTokenizerError(part, reason)
