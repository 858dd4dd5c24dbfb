"""Makes the engine's tables (``core/canonical``) from a pipeline.

The engine combines three automata: hypotheses about pre-tokens, the normal form, and added tokens.  They
share classes of code points.  Two code points are in one class if no regex, no normal form and no vocabulary
distinguishes them; there are a few dozen to a few hundred classes.

Code points are those of decoded text.  If a tokenizer writes ``▁`` for a space, the tables have the space in
the classes of ``▁``; ``▁`` itself is in no canonical text, since its token would be decoded to a space.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

import tokamata._core as _core
from tokamata.errors import UnsupportedTokenizerError
from tokamata.tokenization.added_kinds import Texts, seen_by_lone, texts_tables
from tokamata.tokenization.continued_texts import continued_texts_tables
from tokamata.tokenization.pipelines.cluster_forms import FormAutomaton, cluster_form, pair_form
from tokamata.tokenization.pipelines.normal_forms import normal_form, unchanged_points
from tokamata.tokenization.pipelines.pipeline import (
    BytePairs,
    Normalizer,
    Pipeline,
    Spacing,
    Unigram,
    WordPieces,
    contradictions_refused,
)
from tokamata.tokenization.pretokenizers.classes import CODE_POINTS, ranges_of
from tokamata.tokenization.pretokenizers.enclosed_letters import enclose
from tokamata.tokenization.pretokenizers.machine import (
    Cut,
    Hypotheses,
    hypotheses,
    without_end,
    without_matches,
)
from tokamata.tokenization.pretokenizers.matching import DEAD, Matching, matching
from tokamata.tokenization.pretokenizers.regex import classes_of, compile_regex
from tokamata.tokenization.pretokenizers.spaced_words import spaced_words
from tokamata.tokenization.pretokenizers.word_machine import Symbol, WordDefinition, word_hypotheses

if TYPE_CHECKING:
    from tokamata.tokenization.pipelines.charsmaps import Charsmap
    from tokamata.tokenization.pretokenizers.classes import Flags
    from tokamata.vocabulary import Vocabulary

DEAD_CLASS = 0xFFFF  # of code points in no text
Tables = dict[str, Any]


def make_tables(pipeline: Pipeline, vocabulary: Vocabulary) -> Tables:
    """The engine's tables: arrays by name, and a few numbers.

    Raises:
        UnsupportedTokenizerError: a part of the pipeline is not supported.
    """
    model = pipeline.model
    if isinstance(model, WordPieces):  # the automaton of words has its own first tokens
        never_first = np.zeros(0, dtype=np.uint32)
        return {**_word_text_tables(pipeline, model), **_word_tables(model), "never_first": never_first}
    pipeline = _without_decoded_sign(pipeline, model)
    if not (isinstance(model, BytePairs) and model.spacing is not None):  # a word brings its space with it
        _check_first_space(pipeline.normalizer, vocabulary)
    own = _unigram_tables(model, vocabulary) if isinstance(model, Unigram) else _model_tables(model)
    return {**_text_tables(pipeline, model), **own, "never_first": _never_first(vocabulary)}


def _check_first_space(normalizer: Normalizer, vocabulary: Vocabulary) -> None:
    """Refuses a decoder that removes a space which nobody adds, or that keeps the one which is added.

    The tables of a text are those of a space and the text, or of the text alone.  With such a decoder a text
    that is decoded from its own tokens would be in neither.
    """
    first = vocabulary.start_tokens() or vocabulary.tokens
    spaced = [
        (text, at_start)
        for text, at_start in zip(vocabulary.tokens, first, strict=True)
        if text is not None and text[:1] == b" "
    ]
    is_removed = any(text != at_start for text, at_start in spaced)
    is_added = normalizer.prefix != "none" and normalizer.prefix_is_decoded
    begins_with_none = normalizer.white is not None and normalizer.strips[0] and normalizer.white[0x20]
    if is_removed and not is_added and not begins_with_none:
        raise UnsupportedTokenizerError(
            "decoder", "it removes a space at the start of a text, and the tokenizer puts none there"
        )
    if spaced and is_added and not is_removed:
        raise UnsupportedTokenizerError("decoder", "it keeps the space that the tokenizer puts before a text")


def _never_first(vocabulary: Vocabulary) -> npt.NDArray[np.uint32]:
    """The tokens of which the decoder removes more than one space at the start of a text."""
    pairs = enumerate(zip(vocabulary.tokens, vocabulary.start_tokens() or (), strict=False))
    lost = [token for token, (text, first) in pairs if text and first not in (text, text[1:])]
    return np.array(lost, dtype=np.uint32)


# ---- texts --------------------------------------------------------------------------------------


def _writes_sign(normalizer: Normalizer, model: BytePairs | Unigram) -> bool:
    """Whether the sign for spaces has no token, so that its bytes are written, which decode to no space.

    If one is always put before a text, each text gets one more, so none is canonical.
    """
    return bool(normalizer.spaces and model.lacks[ord(normalizer.spaces)]) and normalizer.prefix != "always"


def _without_decoded_sign(pipeline: Pipeline, model: BytePairs | Unigram) -> Pipeline:
    """The pipeline; if the bytes of the sign for spaces are written, the decoder keeps them."""
    if not _writes_sign(pipeline.normalizer, model):
        return pipeline
    return replace(pipeline, normalizer=replace(pipeline.normalizer, prefix_is_decoded=False))


def _text_tables(pipeline: Pipeline, model: BytePairs | Unigram) -> Tables:
    normalizer = pipeline.normalizer
    live = ~model.unknown
    live[0xD800:0xE000] = False
    if normalizer.keeps is not None:
        live &= unchanged_points(normalizer.keeps)
    space = 0x20  # the code point that a text may begin with where the tokenizer puts a space before it
    if _writes_sign(normalizer, model):
        if normalizer.has_contexts:
            what = "it writes the bytes of the sign for spaces, which the normalizer may change"
            raise UnsupportedTokenizerError("normalizer", what)
        space = ord(normalizer.spaces)
    elif normalizer.spaces:
        live[ord(normalizer.spaces)] = False

    # Matches of a normalizer are found before a sign is written for spaces.
    splits = (*normalizer.absent, *pipeline.splits)
    programs = []
    # Classes that a split has of its own may have one name in several.
    members: dict[tuple[int, str], Flags] = {}
    for number, split in enumerate(splits):
        program = compile_regex(split.regex, pipeline.engine.dollar_is_end)
        programs.append(program)
        is_spelled = number >= len(normalizer.absent)
        for cls in classes_of(program):
            flags = split.members[cls] if cls in split.members else pipeline.engine.members(cls)
            members[number, cls] = _as_spelled(flags, normalizer) if is_spelled else flags
    names = list(members)
    is_space, is_white = (np.zeros(CODE_POINTS, dtype=bool) for _ in range(2))
    is_space[space] = True
    if normalizer.white is not None:
        is_white = normalizer.white
    seen = [*(members[name] for name in names), is_space, is_white]
    spacing = model.spacing if isinstance(model, BytePairs) else None
    if spacing is not None:
        seen += [spacing.outer, spacing.inner]
    elif any(added.is_lone for added in pipeline.added):
        seen += seen_by_lone(pipeline.added)
    letters = sorted(set("".join(model.enclosing))) if isinstance(model, Unigram) else []
    seen += [np.arange(CODE_POINTS) == ord(letter) for letter in letters]
    tables, kinds = _class_tables(pipeline, live, seen, model.lacks)
    columns = {name: kinds[:, i].tolist() for i, name in enumerate(names)}
    cuts = []
    absent = []
    for number, (split, program) in enumerate(zip(splits, programs, strict=True)):
        is_spelled = number >= len(normalizer.absent)
        own = {cls: columns[number, cls] for cls in classes_of(program)}
        automaton = matching(program, own, len(kinds))
        if not is_spelled:
            absent.append(automaton)
        elif not automaton.never_matches:
            cuts.append(Cut(automaton, split.keeps_gaps, split.keeps_matches))
        elif not split.keeps_gaps:
            raise UnsupportedTokenizerError("pre-tokenizer", f"{split.regex!r:.100} leaves out every text")
    others = kinds[:, len(names) :]  # the space, white space, and where words have spaces
    if spacing is not None:
        texts = _spaced_texts(cuts, absent, spacing, others)
        return {**tables, "added_are_apart": spacing.side == "before", **texts_tables(texts, pipeline.added)}
    if normalizer.goes_on:  # only SentencePiece's, which has no splits
        is_put, removes = normalizer.prefix == "always", any(normalizer.strips)
        found = continued_texts_tables(pipeline.added, others[:, 0].tolist(), is_put, removes)
        return {**tables, "added_are_apart": False, **found}
    texts = _texts(normalizer, hypotheses(cuts, len(kinds)), absent, others[:, 0], others[:, 1])
    if letters and isinstance(model, Unigram):
        is_letter = others[:, -len(letters) :]
        symbols = {letter: int(np.argmax(is_letter[:, number])) for number, letter in enumerate(letters)}
        words = [[symbols[letter] for letter in piece] for piece in model.enclosing]
        texts = Texts(*enclose(texts.found, texts.starts, words, {symbols[each] for each in model.enclosed}))
    return {**tables, "added_are_apart": False, **texts_tables(texts, pipeline.added, others[:, 2:4])}


def _unguarded(pipeline: Pipeline) -> str:
    """Why the guard proves nothing of the tokenizer; ``""`` if it does."""
    normalizer, splits, model = pipeline.normalizer, pipeline.splits, pipeline.model
    reasons = {
        pipeline.unguarded: bool(pipeline.unguarded),
        "its model is Unigram": isinstance(model, Unigram),
        "its normalizer has a charsmap": normalizer.charsmap is not None,
        "its normalizer replaces what matches a pattern": bool(normalizer.absent),
        "its normalizer removes white space at the ends of texts": any(normalizer.strips),
        "its pre-tokenizer leaves out white space": any(
            split.members and not split.keeps_gaps for split in splits
        ),
        "its pre-tokenizer removes parts of texts": not all(split.keeps_matches for split in splits),
        "some of its added tokens are single words": any(added.is_lone for added in pipeline.added),
        "its texts go on after user-defined pieces": normalizer.goes_on,
        "its normalizer changes code points before their normal form": not normalizer.form_is_first,
    }
    return next((reason for reason, is_so in reasons.items() if is_so), "")


def _class_tables(
    pipeline: Pipeline, live: Flags, seen: list[npt.NDArray[Any]], lacks: Flags
) -> tuple[Tables, npt.NDArray[Any]]:
    """The classes of code points, and for each symbol of the hypotheses its columns: ``[symbols, seen]``."""
    zeros = np.zeros(CODE_POINTS, dtype=np.uint16)
    combining: npt.NDArray[Any] = zeros
    second: npt.NDArray[Any] = zeros
    starter: npt.NDArray[Any] = zeros
    composes = np.zeros((1, 1), dtype=bool)
    automaton: FormAutomaton | None = None
    if pipeline.normalizer.form is not None:
        form = normal_form(pipeline.normalizer.form)
        live = live & form.stable
        combining = form.combining
        if form.composes.any():
            second, starter, composes = form.second, form.starter, form.composes
    if pipeline.normalizer.charsmap is not None:
        live, automaton = _charsmap_form(pipeline.normalizer, pipeline.normalizer.charsmap, live)
    if automaton is not None:
        if pipeline.normalizer.form is not None and (combining[live].any() or composes.any()):
            raise UnsupportedTokenizerError(
                "normalizer", "a normal form and a charsmap, which both join marks"
            )
        combining, second, starter, composes = (
            zeros,
            automaton.columns,
            zeros,
            np.zeros((1, automaton.targets.shape[1]), dtype=bool),
        )
    firsts, classes = ranges_of([live, *seen, combining, second, starter, lacks])

    representative = np.zeros(int(classes.max()) + 1, dtype=np.int64)
    representative[classes] = firsts
    is_live = live[representative]
    renumbered = np.cumsum(is_live) - 1
    kept = representative[is_live]
    signatures = np.stack([column[kept] for column in seen], axis=1)
    kinds, symbols = np.unique(signatures, axis=0, return_inverse=True)
    tables = {
        "range_firsts": firsts.astype(np.uint32),
        "range_classes": np.where(is_live[classes], renumbered[classes], DEAD_CLASS).astype(np.uint16),
        "class_symbols": symbols.reshape(-1).astype(np.uint16),
        "class_starters": starter[kept].astype(np.uint16),
        "class_seconds": second[kept].astype(np.uint16),
        "class_combining": combining[kept].astype(np.uint8),
        "class_lacking": lacks[kept].astype(np.uint8),
        "seconds": composes.shape[1],
        "composes": composes.astype(np.uint8).reshape(-1),
        "form_targets": zeros[:0] if automaton is None else automaton.targets.reshape(-1),
        "form_states": np.zeros(0, dtype=np.uint8) if automaton is None else automaton.kinds,
        "symbols": len(kinds),
        "unguarded": np.frombuffer(_unguarded(pipeline).encode(), dtype=np.uint8),
        "added_tokens": np.array([added.token for added in pipeline.added], dtype=np.uint32),
        "added_texts": [added.text for added in pipeline.added],
        "added_lone": np.array([added.is_lone for added in pipeline.added], dtype=np.uint8),
        "forbidden_tokens": np.array(
            [added.token for added in pipeline.added for _ in added.forbidden], dtype=np.uint32
        ),
        "forbidden_texts": [text for added in pipeline.added for text in added.forbidden],
    }
    return tables, kinds


def _charsmap_form(
    normalizer: Normalizer, charsmap: Charsmap, live: Flags
) -> tuple[Flags, FormAutomaton | None]:
    """The code points that a charsmap leaves alone too, and the form of texts over them."""
    if normalizer.by_clusters is not None:
        live = live & unchanged_points(normalizer.by_clusters)
        return live, cluster_form(normalizer.by_clusters, charsmap.short_keys_over(live), live)
    live = live.copy()
    live[[ord(key) for key, result in charsmap.single_keys().items() if key != result]] = False
    return live, pair_form(charsmap.pairs_over(live))


def _as_spelled(flags: Flags, normalizer: Normalizer) -> Flags:
    """The flags of decoded text: the space has those of the character that is written for it."""
    if not normalizer.spaces:
        return flags
    spelled = flags.copy()
    spelled[0x20] = flags[ord(normalizer.spaces)]
    return spelled


def _spaced_texts(
    cuts: list[Cut], absent: list[Matching], spacing: Spacing, columns: npt.NDArray[Any]
) -> Texts:
    """The hypotheses where words have spaces beside them.

    Args:
        cuts: the splits.
        absent: what may not match in a text.
        spacing: where the spaces are.
        columns: for each symbol, whether it is the space, whether it is white space, and the two properties
            of ``spacing``.
    """
    spaces = np.flatnonzero(columns[:, 0]).tolist()
    base = hypotheses([replace(cut, shows_gaps=True) for cut in cuts], len(columns))
    outer, inner = (columns[:, number].astype(bool).tolist() for number in (2, 3))
    found = spaced_words(base, spacing.side, spaces, outer, inner)
    text, added = ([start] for start in found.starts)
    starts = {"text_starts": text, "added_starts": added, "control_starts": added}
    if absent:
        # The space before the first word of a text is none of its own.
        hidden = frozenset(text) if spacing.side == "before" else frozenset[int]()
        found, starts = without_matches(found, starts, hidden, absent, len(columns))
    return Texts(found, starts)


def _texts(
    normalizer: Normalizer,
    found: Hypotheses,
    absent: list[Matching],
    is_space: npt.NDArray[np.bool_],
    is_white: npt.NDArray[np.bool_],
) -> Texts:
    if normalizer.strips[1]:
        found = without_end(found, is_white.tolist())
    starts = list(found.starts)
    tables = {"text_starts": starts, "control_starts": starts, "added_starts": starts}
    targets, ends = [list(row) for row in found.targets], [list(row) for row in found.ends]
    may_end = list(found.may_end)
    machine = (found, targets, ends, may_end)
    # After the prefix, if there is one: the text may have it itself.
    white = np.flatnonzero(is_white) if normalizer.strips[0] else np.zeros(0, dtype=np.int64)
    if normalizer.strips[0] and (normalizer.prefix == "none" or normalizer.prefix_once):
        no_white = [_without(*machine, start, white, ends[start], may_end[start]) for start in starts]
        tables = {"text_starts": no_white, "control_starts": no_white, "added_starts": no_white}
    if normalizer.prefix != "none":
        spaces = np.flatnonzero(is_space)
        tables["text_starts"] = _prefixed(
            *machine, spaces, white, normalizer.prefix_is_decoded, normalizer.prefix == "missing"
        )
        if not normalizer.prefix_once:
            # The decoder removes nothing here.  If only a missing space is added, a text must begin with one.
            # If one is always added, it is decoded as text, so no text after an added token is canonical.
            tables["added_starts"] = (
                _prefixed(*machine, spaces, white, is_decoded=False, is_single=False)
                if normalizer.prefix == "missing"
                else _prefixed(*machine, spaces[:0], white, is_decoded=False, is_single=False)
            )
            # But a control token begins a text.
            tables["control_starts"] = (
                tables["added_starts"] if normalizer.prefix == "missing" else tables["text_starts"]
            )
    is_hidden = normalizer.prefix != "none" and normalizer.prefix_is_decoded
    hidden = frozenset(tables["text_starts"] if is_hidden else ())
    made = Hypotheses((), tuple(map(tuple, targets)), tuple(map(tuple, ends)), tuple(may_end))
    if absent:
        made, tables = without_matches(made, tables, hidden, absent, len(is_space))
        hidden = frozenset(tables["text_starts"] if is_hidden else ())
    return Texts(made, tables, hidden)


def _prefixed(
    found: Hypotheses,
    targets: list[list[int]],
    ends: list[list[int]],
    may_end: list[int],
    spaces: npt.NDArray[np.int64],
    white: npt.NDArray[np.int64],
    is_decoded: bool,
    is_single: bool,
) -> list[int]:
    """Start states of a text that begins with a space, which the tokenizer adds or the text has.

    Args:
        found, targets, ends, may_end: the automaton, and its tables, to which states are added.
        spaces: the symbols of a space.
        white: the symbols that may not follow it.
        is_decoded: the decoder removes the space: alone it is the empty text, which has no tokens.
        is_single: the tokenizer adds no space before a space, so a second one cannot follow.
    """
    width = len(targets[0])
    starts = []
    kept_out = np.union1d(white, spaces) if is_single else white

    def copied(state: int, ends_here: list[int], ends_text: int) -> int:
        return _without(found, targets, ends, may_end, state, kept_out, ends_here, ends_text)

    for start in found.starts:
        row = [DEAD] * width
        for space in spaces:
            after = found.targets[start][space]
            if after == DEAD:
                continue
            row[space] = after
            if is_decoded or len(white):
                borders = [copied(end, [], found.may_end[end]) for end in found.ends[after]]
                row[space] = copied(after, borders, False)
        starts.append(len(targets))
        targets.append(row)
        ends.append([])
        may_end.append(True)
    return starts


def _without(
    found: Hypotheses,
    targets: list[list[int]],
    ends: list[list[int]],
    may_end: list[int],
    state: int,
    symbols: npt.NDArray[np.int64],
    ends_here: Sequence[int],
    ends_text: int,
) -> int:
    """A new state like another one, where these symbols may not follow."""
    row = list(found.targets[state])
    for symbol in symbols:
        row[symbol] = DEAD
    targets.append(row)
    ends.append(list(ends_here))
    may_end.append(ends_text)
    return len(targets) - 1


# ---- words ---------------------------------------------------------------------------------------


def _word_text_tables(pipeline: Pipeline, model: WordPieces) -> Tables:
    mark_index = np.zeros(CODE_POINTS, dtype=np.uint16)
    for character in model.mark:
        mark_index[ord(character)] = 1 + model.mark.index(character)
    live = model.begins | model.continues
    live[0x20] = True
    lacks = np.zeros(CODE_POINTS, dtype=bool)
    points = np.where(live & (model.lexicon is not None), np.arange(CODE_POINTS), 0)
    seen = [model.kinds, model.alone, model.begins, model.continues, mark_index, points]
    tables, kinds = _class_tables(pipeline, live, seen, lacks)
    symbols = [
        Symbol(
            int(kind),
            bool(alone),
            bool(begins),
            bool(continues),
            int(index),
            chr(point).encode() if point else b"",
        )
        for kind, alone, begins, continues, index, point in kinds
    ]
    mark = [int(mark_index[ord(character)]) for character in model.mark]
    mark_kind = int(model.kinds[ord(model.mark[0])]) if model.mark else 0
    found = word_hypotheses(
        symbols, WordDefinition(model.most, mark, mark_kind, model.lexicon, model.after_mark)
    )
    text, added = ([start] for start in found.starts)
    starts = {"text_starts": text, "added_starts": added, "control_starts": added}
    return {
        **tables,
        **texts_tables(Texts(found, starts), pipeline.added),
        "added_are_apart": True,
        # For the seams between texts; the engine does not read them.
        "symbol_kinds": kinds[:, 0].astype(np.uint16),
        "symbol_alone": kinds[:, 1].astype(np.uint8),
        "separators": np.array(list(map(ord, model.separators)), dtype=np.uint32),
        "has_late_names": model.has_late_names,
        "looked_up": np.array(model.looked_up, dtype=np.uint32),
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
        # The end of a word alone, a space, is no token.
        "rest_is_written": model.spacing is None or model.spacing.side == "before",
    }


def _unigram_tables(model: Unigram, vocabulary: Vocabulary) -> Tables:
    tables = {
        "scores": model.scores.whole,
        "floats": model.scores.floats,
        "unknown_score": model.scores.unknown,
        "units": model.scores.units,
        "are_single": model.scores.are_single,
        "byte_tokens": np.array(sorted(model.byte_tokens.values()), dtype=np.uint32),
    }
    with contradictions_refused():
        return {**tables, **_core.unigram_sets(vocabulary.core, tables)}
