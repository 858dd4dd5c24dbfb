"""The normalizer of a ``tokenizer.json``: which texts it leaves alone.

A text that the normalizer changes is spelled by no canonical sequence.  So of each part only the *fixed set*
is
read: the texts that it leaves alone.  ``normalizer_sequences.py`` says when the fixed set of a sequence is
what the fixed sets of its parts have in common, and refuses other sequences.

- ``Lowercase``, ``StripAccents``, ``Nmt``, ``Replace`` of one character and ``BertNormalizer`` change code
  points by
  themselves: the package is run on all of them.
- ``NFC``, ``NFD``, ``NFKC``, ``NFKD``: ``normal_forms.py``.
- ``Precompiled``: ``charsmaps.py`` and ``cluster_forms.py``.
- ``Replace`` of a longer text or of a regex: a text has no match.
- ``Strip``: a text has no white space at its ends.  Ends are those of what stands between added tokens.
- ``BertNormalizer`` puts spaces around Chinese characters, which changes a text.  If white space is lost, and
  the decoder writes a space between words (GPT-1), then each of them is a word.
- ``Replace`` of a space by ``\u2581`` and ``Prepend`` are undone by the decoder: they are no changes of a
  text.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from tokamata.errors import VocabularyError
from tokamata.tokenization.pipelines.charsmaps import Charsmap
from tokamata.tokenization.pipelines.normal_forms import changed_points
from tokamata.tokenization.pipelines.normalizer_sequences import Part, check_sequence
from tokamata.tokenization.pipelines.pipeline import Normalizer, Splitting
from tokamata.tokenization.pipelines.tokenizer_json_parts import refusal
from tokamata.tokenization.pretokenizers.classes import CODE_POINTS, HuggingFaceEngine, spread
from tokamata.tokenization.pretokenizers.regex import escaped, least_length
from tokamata.vocabulary.sections import Section, flattened

if TYPE_CHECKING:
    from tokamata.tokenization.pretokenizers.classes import Flags

__all__ = ["read_normalizer"]

_FORMS = ("NFC", "NFD", "NFKC", "NFKD")
_WORDS = ("BertPreTokenizer", "Whitespace", "WhitespaceSplit")  # they leave out all white space


def read_normalizer(file: Section, engine: HuggingFaceEngine, writes_spaces: bool = False) -> Normalizer:
    """The normalizer of a parsed ``tokenizer.json``.

    Args:
        file: the parsed file.
        engine: runs its parts.
        writes_spaces: whether the decoder writes the space between words.

    Raises:
        UnsupportedTokenizerError: a part is not supported.
        VocabularyError: a charsmap is damaged.
    """
    found = flattened(file, "normalizer", "normalizers")
    parts = flattened(file, "pre_tokenizer", "pretokenizers")
    # Spaces that are put into a text are lost if nothing sees them before they are left out.
    is_lost = writes_spaces and len(found) == 1 and bool(parts) and parts[0].kind in _WORDS
    reading = _Reading(engine, is_lost)
    for one in found:
        reading.add(one)
    signs = [one.character("replacement") for one in parts if one.kind == "Metaspace"]
    return reading.result(signs[0] if signs else "")


class _Reading:
    """The parts that were read so far."""

    def __init__(self, engine: HuggingFaceEngine, spaces_are_lost: bool) -> None:
        self._spaces_are_lost = spaces_are_lost
        self._isolated: Flags | None = None
        self._package = engine.package.normalizers
        self._engine = engine
        self._parts: list[Part] = []
        self._single: list[Any] = []  # the programs of parts that change single code points
        self._absent: list[Splitting] = []
        self._strips = [False, False]
        self._spaces = self._prefix = ""

    def add(self, one: Section) -> None:
        """Reads one part."""
        kind = one.kind
        if kind in _FORMS:
            self._parts.append(Part(kind, _form(kind), "form"))
        elif kind in ("Lowercase", "StripAccents", "Nmt"):
            self._add_single(kind, getattr(self._package, kind)())
        elif kind == "BertNormalizer":
            self._add_bert(one)
        elif kind == "Replace":
            self._add_replace(one)
        elif kind == "Strip":
            self._refuse_after_spaces(one)
            left, right = one.flag("strip_left"), one.flag("strip_right")
            self._strips = [self._strips[0] or left, self._strips[1] or right]
            self._parts.append(Part(kind, self._package.Strip(left, right).normalize_str, "ends"))
        elif kind == "Precompiled":
            self._add_charsmap(one)
        elif kind == "Prepend" and not self._spaces:
            self._prefix = one.text("prepend")
        else:
            raise refusal("normalizer", f"{kind} {one!r:.200}")

    def result(self, sign: str) -> Normalizer:
        """The normalizer of all parts; the pre-tokenizer writes a sign for spaces, or ``""``."""
        prefix, spaces, parts = self._prefix, self._spaces, self._parts
        if prefix and prefix != (spaces or " "):
            raise refusal("normalizer", f"it prepends {prefix!r:.40}, which is not a space")
        if prefix and (self._absent or any(self._strips)):
            raise refusal("normalizer", "it prepends a space, and replaces or removes others")
        check_sequence(parts, spaces or sign)
        keeps = self._package.Sequence(self._single).normalize_str if self._single else None
        forms = {part.name for part in parts if part.role == "form"}
        if len({form[-1] for form in forms}) > 1:
            raise refusal("normalizer", " and ".join(sorted(forms)))
        # What NFKC leaves as it is, NFC does as well.
        form = _form(max(forms, key=len)) if forms else None
        found = next((part for part in parts if part.charsmap is not None), None)
        roles = [part.role for part in parts if part.role in ("form", "points")]
        return Normalizer(
            form,
            keeps,
            form_is_first="points" not in roles or "form" not in roles[roles.index("points") :],
            spaces=spaces,
            prefix="always" if prefix else "none",
            charsmap=found.charsmap if found else None,
            by_clusters=found.change if found else None,
            absent=tuple(self._absent),
            strips=(self._strips[0], self._strips[1]),
            white=self._engine.stripped() if any(self._strips) else None,
            isolated=self._isolated,
        )

    def _add_single(self, name: str, program: Any) -> None:
        self._single.append(program)
        self._parts.append(Part(name, program.normalize_str, "points"))

    def _add_bert(self, one: Section) -> None:
        """Its steps, each as a part: cleaning, spaces around signs, accents, case."""
        lowers = one.flag("lowercase", True)
        strips = lowers if one.fields.get("strip_accents") is None else one.flag("strip_accents")

        def step(**flags: bool) -> Any:
            none = dict.fromkeys(("clean_text", "handle_chinese_chars", "strip_accents", "lowercase"), False)
            return self._package.BertNormalizer(**{**none, **flags})

        for name in ("clean_text", "handle_chinese_chars"):
            if one.flag(name, True) and name == "handle_chinese_chars" and self._spaces_are_lost:
                self._isolated = _chinese_characters()
            elif one.flag(name, True):
                self._add_single(f"BertNormalizer with {name}", step(**{name: True}))
        if strips:
            self._parts.append(Part("NFD", _form("NFD"), "form"))
            self._add_single("BertNormalizer with strip_accents", step(strip_accents=True))
        if lowers:
            self._add_single("BertNormalizer with lowercase", step(lowercase=True))

    def _add_replace(self, one: Section) -> None:
        pattern, content = one.section("pattern"), one.text("content")
        if pattern.fields == {"String": " "} and len(content) == 1 and content != " ":
            if self._spaces:
                raise refusal("normalizer", "it replaces spaces twice")
            self._spaces = content
            return
        is_text = "String" in pattern.fields
        text = pattern.text("String" if is_text else "Regex")
        if not text:
            raise refusal("normalizer", f"Replace {one!r:.200} of the empty text")
        self._refuse_after_spaces(one)
        name = f"Replace of {text!r:.40}"
        if not is_text and text == r"\s+" and content == " ":  # CLIP's: a single space stays
            self._add_single(name, self._package.Replace(self._engine.package.Regex(r"\s"), " "))
            is_text, text = True, "  "
        if is_text and len(text) == 1:
            self._add_single(name, self._package.Replace(text, content))
            return
        regex = escaped(text) if is_text else text
        # Then no match becomes itself, and none is in what is written.
        if len(content) >= least_length(regex):
            raise refusal("normalizer", f"{name}, by {content!r:.40}, which may be as long")
        self._absent.append(Splitting(regex, keeps_matches=False))
        self._parts.append(Part(name, str, "pattern", content=content))

    def _add_charsmap(self, one: Section) -> None:
        self._refuse_after_spaces(one)
        if any(part.charsmap is not None for part in self._parts):
            raise refusal("normalizer", "two charsmaps")
        try:
            blob = base64.b64decode(one.text("precompiled_charsmap"), validate=True)
        except (ValueError, binascii.Error):
            raise VocabularyError(
                f"{one.path_of('precompiled_charsmap')} is not Base64; the file is damaged, download it again"
            ) from None
        charsmap = Charsmap(blob)
        try:
            change = self._package.Precompiled(blob).normalize_str
        except Exception as error:  # the package raises a bare Exception
            raise VocabularyError(f"{one.path_of('precompiled_charsmap')} is refused: {error}") from None
        self._parts.append(Part("Precompiled", change, "clusters", charsmap))

    def _refuse_after_spaces(self, one: Section) -> None:
        if self._spaces:
            raise refusal("normalizer", f"{one.kind} after a sign is written for spaces")


@cache
def _chinese_characters() -> Flags:
    """The code points that ``BertNormalizer`` puts spaces around."""
    others = dict.fromkeys(("clean_text", "strip_accents", "lowercase"), False)
    program = HuggingFaceEngine().package.normalizers.BertNormalizer(handle_chinese_chars=True, **others)
    flags = np.zeros(CODE_POINTS, dtype=bool)
    flags[list(changed_points(program.normalize_str))] = True
    flags = spread(flags)
    flags.flags.writeable = False
    return flags


@cache
def _form(kind: str) -> Callable[[str], str]:
    """A normal form, one object for each: :func:`.normal_forms.normal_form` keeps its tables."""
    normalize: Callable[[str], str] = getattr(HuggingFaceEngine().package.normalizers, kind)().normalize_str
    return normalize
