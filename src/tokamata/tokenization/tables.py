"""From a pipeline to the tables that the engine runs (``core/canonical``).

Three automata meet in the engine: hypotheses about pre-tokens, the normal form, and added tokens; what
they have in common are classes of code points.  Two code points are of one class where no regex, no
normal form and no vocabulary tells them apart: a few dozen to a few hundred classes.

A code point is named by what tokens spell.  Where a tokenizer writes ``▁`` for a space, the space stands
for it, and is asked about under that name; ``▁`` itself is in no canonical text, since it would come back
as a space.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tokamata import _core
from tokamata.tokenization.pipelines.normal_forms import normal_form, unchanged_points
from tokamata.tokenization.pipelines.pipeline import (
    BytePairs,
    Normalizer,
    Pipeline,
    WordPieces,
    contradictions_refused,
)
from tokamata.tokenization.pretokenizers.classes import CODE_POINTS, ranges_of
from tokamata.tokenization.pretokenizers.machine import Cut, Hypotheses, hypotheses
from tokamata.tokenization.pretokenizers.matching import DEAD, matching
from tokamata.tokenization.pretokenizers.regex import classes_of, compile_regex
from tokamata.tokenization.pretokenizers.word_machine import Symbol, Words, word_hypotheses

if TYPE_CHECKING:
    from tokamata.tokenization.pretokenizers.classes import Flags
    from tokamata.vocabulary import Vocabulary

_DEAD_CLASS = 0xFFFF
_DEAD_GUESS = 0xFFFF

Tables = dict[str, Any]


def make_tables(pipeline: Pipeline, vocabulary: Vocabulary) -> Tables:
    """The engine's tables: arrays by name, and a few numbers.

    Raises:
        UnsupportedTokenizerError: the pipeline has a part that cannot be followed.
    """
    model = pipeline.model
    if isinstance(model, WordPieces):  # whose texts say what is first
        never_first = np.zeros(0, dtype=np.uint32)
        return {**_word_text_tables(pipeline, model), **_word_tables(model), "never_first": never_first}
    return {**_text_tables(pipeline, model), **_model_tables(model), "never_first": _never_first(vocabulary)}


def _never_first(vocabulary: Vocabulary) -> npt.NDArray[np.uint32]:
    """Tokens of which the decoder takes more than one space away where they are the first of a text."""
    pairs = enumerate(zip(vocabulary.tokens, vocabulary.start_tokens() or (), strict=False))
    lost = [token for token, (text, first) in pairs if text and first not in (text, text[1:])]
    return np.array(lost, dtype=np.uint32)


# ---- texts --------------------------------------------------------------------------------------


def _text_tables(pipeline: Pipeline, model: BytePairs) -> Tables:
    normalizer = pipeline.normalizer
    alive = ~model.unknown
    alive[0xD800:0xE000] = False
    if normalizer.keeps is not None:
        alive &= unchanged_points(normalizer.keeps)
    if normalizer.spaces:
        alive[ord(normalizer.spaces)] = False

    programs, members = [], {}
    for split in pipeline.splits:
        program = compile_regex(split.regex, pipeline.engine.dollar_is_end)
        programs.append(program)
        for cls in classes_of(program):
            flags = split.members[cls] if cls in split.members else pipeline.engine.members(cls)
            members[cls] = _as_spelled(flags, normalizer)
    names = list(members)
    is_space = np.zeros(CODE_POINTS, dtype=bool)
    is_space[0x20] = True
    seen = [members[name] for name in names] + [is_space]
    tables, kinds = _class_tables(pipeline, alive, seen, model.lacks)
    guesses = _guesses(
        pipeline, programs, {name: kinds[:, i].tolist() for i, name in enumerate(names)}, kinds[:, -1]
    )
    return {**tables, "added_are_apart": False, **guesses}


def _class_tables(
    pipeline: Pipeline, alive: Flags, seen: list[npt.NDArray[Any]], lacks: Flags
) -> tuple[Tables, npt.NDArray[Any]]:
    """The classes of code points, and what the hypotheses see of each: ``[symbols, seen]``."""
    zeros = np.zeros(CODE_POINTS, dtype=np.uint16)
    combining: npt.NDArray[Any] = zeros
    second: npt.NDArray[Any] = zeros
    starter: npt.NDArray[Any] = zeros
    composes = np.zeros((1, 1), dtype=bool)
    if pipeline.normalizer.form is not None:
        form = normal_form(pipeline.normalizer.form)
        alive = alive & form.stable
        combining = form.combining
        if form.composes.any():
            second, starter, composes = form.second, form.starter, form.composes
    firsts, classes = ranges_of([alive, *seen, combining, second, starter, lacks])

    representative = np.zeros(int(classes.max()) + 1, dtype=np.int64)
    representative[classes] = firsts
    is_alive = alive[representative]
    renumbered = np.cumsum(is_alive) - 1
    kept = representative[is_alive]
    signatures = np.stack([column[kept] for column in seen], axis=1)
    kinds, symbols = np.unique(signatures, axis=0, return_inverse=True)
    tables = {
        "range_firsts": firsts.astype(np.uint32),
        "range_classes": np.where(is_alive[classes], renumbered[classes], _DEAD_CLASS).astype(np.uint16),
        "class_symbols": symbols.reshape(-1).astype(np.uint16),
        "class_starters": starter[kept].astype(np.uint16),
        "class_seconds": second[kept].astype(np.uint16),
        "class_combining": combining[kept].astype(np.uint8),
        "class_lacking": lacks[kept].astype(np.uint8),
        "seconds": composes.shape[1],
        "composes": composes.astype(np.uint8).reshape(-1),
        "symbols": len(kinds),
        "added_tokens": np.array([added.token for added in pipeline.added], dtype=np.uint32),
        "added_texts": [added.text for added in pipeline.added],
    }
    return tables, kinds


def _as_spelled(flags: Flags, normalizer: Normalizer) -> Flags:
    """The same, asked under the name that tokens spell."""
    if not normalizer.spaces:
        return flags
    spelled = flags.copy()
    spelled[0x20] = flags[ord(normalizer.spaces)]
    return spelled


def _guesses(
    pipeline: Pipeline, programs: list[Any], members: dict[str, list[bool]], is_space: npt.NDArray[np.bool_]
) -> Tables:
    symbols = len(is_space)
    cuts = []
    for split, program in zip(pipeline.splits, programs, strict=True):
        automaton = matching(program, members, symbols)
        if not automaton.never_matches:
            cuts.append(Cut(automaton, split.keeps_gaps))
    found = hypotheses(cuts, symbols)
    starts = list(found.starts)
    tables = {"text_starts": starts, "control_starts": starts, "added_starts": starts}
    targets, ends = [list(row) for row in found.targets], [list(row) for row in found.ends]
    may_end = list(found.may_end)
    normalizer = pipeline.normalizer
    if normalizer.prefix != "none":
        machine = (found, targets, ends, may_end)
        spaces = np.flatnonzero(is_space)
        tables["text_starts"] = _prefixed(
            *machine, spaces, normalizer.prefix_is_decoded, normalizer.prefix == "missing"
        )
        if not normalizer.prefix_once:
            # The decoder takes nothing away here.  A space that is there already may be the prefix; one that
            # is always put there comes back as text, and a second one is put before it.
            tables["added_starts"] = (
                _prefixed(*machine, spaces, is_decoded=False, is_single=False)
                if normalizer.prefix == "missing"
                else _prefixed(*machine, spaces[:0], is_decoded=False, is_single=False)
            )
            # But a control token begins a text.
            tables["control_starts"] = (
                tables["added_starts"] if normalizer.prefix == "missing" else tables["text_starts"]
            )
    return {**_hypotheses_tables(targets, ends, may_end), **_starts(tables)}


def _hypotheses_tables(
    targets: Sequence[Sequence[int]], ends: Sequence[Sequence[int]], may_end: Sequence[bool]
) -> Tables:
    offsets = np.cumsum([0, *map(len, ends)])
    table = np.array(targets, dtype=np.int64).reshape(-1)
    return {
        "targets": np.where(table == DEAD, _DEAD_GUESS, table).astype(np.uint16),
        "end_offsets": offsets.astype(np.uint32),
        "ends": np.array([end for row in ends for end in row], dtype=np.uint16),
        "may_end": np.array(may_end, dtype=np.uint8),
    }


def _starts(tables: dict[str, list[int]]) -> Tables:
    return {name: np.array(states, dtype=np.uint16) for name, states in tables.items()}


def _prefixed(
    found: Hypotheses,
    targets: list[list[int]],
    ends: list[list[int]],
    may_end: list[bool],
    spaces: npt.NDArray[np.int64],
    is_decoded: bool,
    is_single: bool,
) -> list[int]:
    """Starts of a text that begins with a space, put there by the tokenizer or found.

    Args:
        found, targets, ends, may_end: the automaton, and its tables, which states are added to.
        spaces: the symbols of a space.
        is_decoded: the decoder takes it away: a text of it alone is empty, and the empty text has no tokens.
        is_single: the tokenizer puts none before a space: a second one would have been the first.
    """
    width = len(targets[0])
    starts = []

    def copied(state: int, ends_here: list[int], ends_text: bool) -> int:
        row = list(found.targets[state])
        if is_single:
            for space in spaces:
                row[space] = DEAD
        targets.append(row)
        ends.append(ends_here)
        may_end.append(ends_text)
        return len(targets) - 1

    for start in found.starts:
        row = [DEAD] * width
        for space in spaces:
            after = found.targets[start][space]
            if after == DEAD:
                continue
            row[space] = after
            if is_decoded:
                borders = [copied(end, [], found.may_end[end]) for end in found.ends[after]]
                row[space] = copied(after, borders, False)
        starts.append(len(targets))
        targets.append(row)
        ends.append([])
        may_end.append(True)
    return starts


# ---- words ---------------------------------------------------------------------------------------


def _word_text_tables(pipeline: Pipeline, model: WordPieces) -> Tables:
    place = np.zeros(CODE_POINTS, dtype=np.uint16)
    for character in model.mark:
        place[ord(character)] = 1 + model.mark.index(character)
    alive = model.begins | model.continues
    alive[0x20] = True
    lacks = np.zeros(CODE_POINTS, dtype=bool)
    points = np.where(alive & (model.lexicon is not None), np.arange(CODE_POINTS), 0)
    seen = [model.kinds, model.alone, model.begins, model.continues, place, points]
    tables, kinds = _class_tables(pipeline, alive, seen, lacks)
    symbols = [
        Symbol(
            int(kind),
            bool(alone),
            bool(begins),
            bool(continues),
            int(at),
            chr(point).encode() if point else b"",
        )
        for kind, alone, begins, continues, at, point in kinds
    ]
    mark = [int(place[ord(character)]) for character in model.mark]
    mark_kind = int(model.kinds[ord(model.mark[0])]) if model.mark else 0
    found = word_hypotheses(symbols, Words(model.most, mark, mark_kind, model.lexicon))
    text, added = ([start] for start in found.starts)
    return {
        **tables,
        **_hypotheses_tables(found.targets, found.ends, found.may_end),
        **_starts({"text_starts": text, "added_starts": added, "control_starts": added}),
        "added_are_apart": True,
    }


def _word_tables(model: WordPieces) -> Tables:
    return {
        "roles": model.roles,
        "mark": model.mark.encode(),
        "byte_tokens": np.zeros(0, dtype=np.uint32),
    }


# ---- models -------------------------------------------------------------------------------------


def _model_tables(model: BytePairs) -> Tables:
    merges = (model.left, model.right, model.result, model.rank)
    with contradictions_refused():
        tables = _core.merge_tables(*merges, model.atom_offsets, model.atoms)
    return {
        **tables,
        "in_model": model.in_model,
        "byte_tokens": np.array(sorted(model.byte_tokens.values()), dtype=np.uint32),
        "ignore_merges": model.ignore_merges,
    }
