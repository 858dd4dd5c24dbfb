"""The manifests in ``tests/data/manifests`` are what is measured."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

import pytest

from tests.support.tokenizers.manifest_sources import MANIFESTS, NAMES, tokenizer_of
from tests.support.tokenizers.real_tokenizers import MADE
from tokamata.guard.manifest import cheap_facts, differences, manifest
from tokamata.guard.manifests.subject import Subject

# What depends on the tables of Python's version.
OF_UNICODEDATA = {"normal_form", "normalized_points", "form_differences", "inert_points", "lowercase"}
OF_UNICODEDATA |= {"strip_accents", "filtered", "unknown", "changed_points", "round_trip"}
# Their files take a second and more to make or to load; fuzz/real_tokenizers.py compares them.
LARGE = {real.name for real in MADE} - {"llama-2"} | {"o200k", "llama-4", "tekken-2407", "tekken-2409"}
CHEAP = ["gpt2", "anthropic", "minilm", "mistral-sp"]


def kept(name: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads((MANIFESTS / f"{name}.json").read_bytes())
    return value


def comparable(value: dict[str, Any], same_unicode: bool) -> dict[str, Any]:
    """A manifest without versions, and without what another version of Unicode changes."""
    facts = {
        name: fact for name, fact in value["facts"].items() if same_unicode or name not in OF_UNICODEDATA
    }
    assumptions = value["assumptions"] if same_unicode else {}
    return {**value, "versions": {}, "facts": facts, "assumptions": assumptions}


def test_each_tokenizer_has_one() -> None:
    assert {path.stem for path in MANIFESTS.iterdir()} == set(NAMES)
    assert sum(path.stat().st_size for path in MANIFESTS.iterdir()) < 300_000


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_left_open_or_contradicted(name: str) -> None:
    """Every fact is measured or says why not, each false assumption has its witness, and no file lies."""
    value = kept(name)
    facts = value["facts"]
    assert not [fact for fact in facts.values() if fact.get("differs")]
    assert facts["unsettled_tokens"]["value"]["count"] == 0
    for fact in [*facts.values(), *value["assumptions"].values()]:
        assert (fact["value"] is None) == fact["how"].startswith("not measured: ")
    for number, fact in value["assumptions"].items():
        if fact["value"] is False:
            assert "witness" in fact or (name, number) == ("mistral-sp", "i"), (name, number)
            assert fact.get("witness", {}).get("replayed", True)


def test_llama_2_is_what_is_measured() -> None:
    found, value = manifest(tokenizer_of("llama-2")), kept("llama-2")
    same_unicode = value["versions"]["unicodedata"] == unicodedata.unidata_version
    assert not differences(
        comparable(value, same_unicode), comparable(json.loads(found.to_json()), same_unicode)
    )


@pytest.mark.parametrize("name", CHEAP)
def test_cheap_facts_are_what_is_measured(name: str) -> None:
    subject, value = Subject(tokenizer_of(name)), kept(name)
    assert value["digest"] == subject.digest()
    found = {fact: one.to_json() for fact, one in cheap_facts(subject).items()}
    assert not differences({"facts": {fact: value["facts"][fact] for fact in found}}, {"facts": found})


@pytest.mark.parametrize("name", [name for name in NAMES if name not in {"llama-2", *CHEAP, *LARGE}])
def test_the_others_are_of_these_files(name: str) -> None:
    from tokamata import Vocabulary

    source = Vocabulary.load(tokenizer_of(name), stop=()).pipeline
    import hashlib

    assert source is not None
    assert kept(name)["digest"] == hashlib.sha256(source.content()).hexdigest()
