"""The normalizer of a ``tokenizer.json``: which texts it leaves alone."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from tokamata.tokenization.pipelines.pipeline import Normalizer
from tokamata.tokenization.pipelines.tokenizer_json_parts import refusal
from tokamata.tokenization.pretokenizers.classes import HuggingFaceEngine
from tokamata.vocabulary.sections import Section, flattened

__all__ = ["read_normalizer"]


def read_normalizer(file: Section, engine: HuggingFaceEngine) -> Normalizer:
    """The normalizer of a parsed ``tokenizer.json``.

    Raises:
        UnsupportedTokenizerError: a part is not supported.
    """
    normalizers = engine.package.normalizers
    forms: list[str] = []
    single: list[Any] = []
    spaces = prefix = ""
    for one in flattened(file, "normalizer", "normalizers"):
        kind = one.kind
        if kind in ("NFC", "NFKC"):
            if single:
                raise refusal("normalizer", f"{kind} after {type(single[-1]).__name__}")
            forms.append(kind)
        elif kind == "Lowercase":
            single.append(normalizers.Lowercase())
        elif kind == "Replace" and _is_space(one.section("pattern")) and len(one.text("content")) == 1:
            spaces = one.text("content")
        elif kind == "Prepend" and not spaces:
            prefix = one.text("prepend")
        else:
            raise refusal("normalizer", f"{kind} {one!r:.200}")
    if prefix and prefix != (spaces or " "):
        raise refusal("normalizer", f"it prepends {prefix!r:.40}, which is not a space")
    keeps = normalizers.Sequence(single).normalize_str if single else None
    # What NFKC leaves as it is, NFC does as well.
    form = _form("NFKC" if "NFKC" in forms else "NFC") if forms else None
    return Normalizer(form, keeps, spaces, "always" if prefix else "none")


@cache
def _form(kind: str) -> Callable[[str], str]:
    """NFC or NFKC, one object for each: :func:`.normal_forms.normal_form` keeps its tables."""
    normalize: Callable[[str], str] = getattr(HuggingFaceEngine().package.normalizers, kind)().normalize_str
    return normalize


def _is_space(pattern: Section) -> bool:
    return pattern.fields == {"String": " "}
