"""Chance: whether a tokenizer makes the same tokens of the same text each time.

Merges that are left out by chance (the dropout of BPE) and sampling of segmentations (Unigram's
``enable_sampling``, ``alpha``, ``nbest_size``) are meant for training.  Under them nothing can be said of a
tokenizer's tokens.  They are found by encoding some texts again and again.  A small probability may escape
that, so the settings that the program shows are reported beside it.
"""

from __future__ import annotations

from typing import Any

from tokamata.guard.manifests.facts import Fact, Json, not_measured
from tokamata.guard.manifests.subject import Subject
from tokamata.tokenization.adversarial_texts import CORPUS

__all__ = ["chance_facts", "settings_of_chance"]

_TIMES = 8


def chance_facts(subject: Subject) -> dict[str, Fact]:
    """Whether the tokens of a text change from call to call, and the settings for that.

    Raises:
        ProgramFailed: the program raised an error.
    """
    settings = settings_of_chance(subject)
    shown = Fact(settings, "as the program or the file shows them")
    program = subject.program
    if program is None:
        return {"stochastic": not_measured(subject.no_program), "stochastic_settings": shown}
    texts = list(CORPUS)
    first = program.encode_many(texts)
    how = f"{len(texts)} texts, encoded {_TIMES} times"
    for _ in range(_TIMES - 1):
        again = program.encode_many(texts)
        for text, one, other in zip(texts, first, again, strict=True):
            if one != other:
                place = next(
                    (i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
                    min(len(one), len(other)),
                )
                position = len(b"".join(map(subject.piece, one[:place])))
                witness = subject.witness(text, "the next call makes other tokens here", position, one)
                return {"stochastic": Fact(True, how, bool(settings), witness), "stochastic_settings": shown}
    return {"stochastic": Fact(False, how, bool(settings)), "stochastic_settings": shown}


def settings_of_chance(subject: Subject) -> dict[str, Json]:
    """The settings that make a tokenizer random; empty if there are none."""
    inner = None if subject.program is None else subject.program.inner
    backend = getattr(inner, "backend_tokenizer", inner)
    found: dict[str, Json] = {}
    dropout = subject.part("model").get("dropout")
    if dropout is None:
        dropout = getattr(getattr(backend, "model", None), "dropout", None)
    if dropout:
        found["dropout"] = dropout
    processor: Any = getattr(inner, "sp_model", inner)
    if getattr(processor, "_enable_sampling", False) is True:
        found.update(enable_sampling=True, alpha=processor._alpha, nbest_size=processor._nbest_size)
    return found
