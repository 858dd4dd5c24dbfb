"""The merges of a tokenizer: whether their order is proper and total, and whether the program follows it.

    merges of the file ─▶ first improper one, pairs that are listed twice, tokens of equal rank
    a plain encoder that joins the pair with the best merge, one at a time, the leftmost first
        ─▶ the same tokens as the program's model?  (a sample of its tokens, and of two of them in a row)

A token that the merges do not make is interesting: with ``ignore_merges`` (and always in tiktoken) a piece of
text that is such a token becomes that token all the same.  So the sample is searched for these first.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

import tokamata._core as _core
from tokamata.errors import VocabularyError
from tokamata.guard.manifests.chance import settings_of_chance
from tokamata.guard.manifests.facts import Fact, not_measured, shown_bytes
from tokamata.guard.manifests.subject import Subject
from tokamata.guard.verdicts import Witness
from tokamata.tokenization.papers.merges import Merge, first_improper
from tokamata.tokenization.pipelines.ranks import merges_of_ranks

__all__ = ["joined", "merge_facts"]

_Unit = TypeVar("_Unit")
MergeOf = Callable[[_Unit, _Unit], "tuple[int, _Unit] | None"]
_SAMPLED = 3000  # tokens, and as many pairs of tokens
_SEED = 49
_OPTIONS = ("dropout", "continuing_subword_prefix", "end_of_word_suffix")
_LONGEST = 64  # characters of a sampled token


class _Merges(NamedTuple):
    """The merges in order, and what they join: texts of the model, or bytes."""

    ids: list[Merge]
    ranks: list[int]
    texts: dict[int, Any]
    listed: int  # entries of the file, before those listed twice became one


def merge_facts(subject: Subject) -> dict[str, Fact]:
    """The facts about merges.

    Raises:
        ProgramFailed: the program raised an error.
    """
    names = ("merges", "duplicate_ranks", "ignore_merges", "greedy")
    if subject.model != "BPE":
        reason = f"the model is {subject.model}, which has no merges"
        return {name: not_measured(reason) for name in names}
    try:
        merges = _merges(subject)
    except VocabularyError as error:
        return {name: not_measured(str(error)) for name in names}
    if merges is None:
        reason = "the source has no merges"
        return {name: not_measured(reason) for name in names}
    return {
        "merges": _proper(subject, merges),
        "duplicate_ranks": _duplicates(subject, merges),
        **_followed(subject, merges),
    }


def _merges(subject: Subject) -> _Merges | None:
    if subject.family == "tokenizer.json":
        model = subject.part("model")
        vocab, pairs = model.get("vocab"), model.get("merges")
        if not isinstance(vocab, dict) or not isinstance(pairs, list):
            return None
        left, right, result = _core.merge_ids(pairs, vocab)
        if len(left) < len(pairs):
            raise VocabularyError(f"merge {len(left)} of the file is no pair of tokens that makes a token")
        ids = [Merge(*one) for one in zip(left.tolist(), right.tolist(), result.tolist(), strict=True)]
        return _Merges(ids, list(range(len(ids))), {token: text for text, token in vocab.items()}, len(ids))
    ids_of, ranks_of = _ranked(subject)
    if not ids_of:
        return None
    left, right, result, rank = merges_of_ranks(ids_of, ranks_of)
    order = np.lexsort((result, rank))
    columns = (column[order].tolist() for column in (left, right, result, rank))
    merged = list(zip(*columns, strict=True))
    return _Merges(
        [Merge(*one[:3]) for one in merged],
        [one[3] for one in merged],
        {token: text for text, token in ids_of.items()},
        len(ids_of),
    )


def _ranked(subject: Subject) -> tuple[dict[Any, int], dict[Any, int]]:
    """The ids and the ranks of the tokens of a family that has ranks instead of merges."""
    if subject.encoding is not None:
        return subject.encoding.ranks, subject.encoding.ranks
    if subject.sentence_piece is not None:
        pieces, scores = subject.sentence_piece.pieces, subject.sentence_piece.scores
        by_score = {score: rank for rank, score in enumerate(sorted(set(scores.values()), reverse=True))}
        return pieces, {piece: by_score[scores[token]] for piece, token in pieces.items()}
    if subject.family == "tekken":
        tokens = subject.vocabulary.tokens
        found = {text: token for token, text in enumerate(tokens) if text is not None}
        return found, found
    return {}, {}


def _proper(subject: Subject, merges: _Merges) -> Fact:
    """Whether each merge comes after those that make its parts."""
    if subject.family == "tokenizer.json":
        how = f"all {len(merges.ids):,} merges in their order"
    else:
        how = f"all {len(merges.ids):,} pairs of tokens that make a token, in the order of its rank"
    number = first_improper(merges.ids)
    if number is None:
        return Fact({"count": len(merges.ids), "proper": True}, how)
    last_made = {merge.token: place for place, merge in enumerate(merges.ids)}
    merge = merges.ids[number]
    part = max(merge.left, merge.right, key=lambda token: last_made.get(token, -1))
    improper = {
        "merge": number,
        "left": _shown(merges.texts[merge.left]),
        "right": _shown(merges.texts[merge.right]),
        "part": _shown(merges.texts[part]),
        "made_by": last_made[part],
    }
    return Fact({"count": len(merges.ids), "proper": False, "first_improper": improper}, how)


def _duplicates(subject: Subject, merges: _Merges) -> Fact:
    """Pairs that are listed twice, or tokens whose ranks are equal."""
    if subject.family == "tokenizer.json":
        count = len(merges.ids) - len({(merge.left, merge.right) for merge in merges.ids})
        return Fact(count, f"pairs that are listed again, of {len(merges.ids):,} merges")
    ids_of, ranks_of = _ranked(subject)
    count = len(ids_of) - len(set(ranks_of.values()))
    return Fact(count, f"tokens whose rank another token has, of {len(ids_of):,}")


def _shown(text: Any) -> Any:
    return shown_bytes(text) if isinstance(text, bytes) else text


# ---- the program ----------------------------------------------------------------------------------


def joined(units: Sequence[_Unit], merge_of: MergeOf[_Unit]) -> list[_Unit]:
    """A plain encoder: the pair with the lowest rank is joined, the leftmost of these, until none has a rank.

    Args:
        units: what is joined: characters, or ids of tokens.
        merge_of: the rank of a pair and what it becomes, or ``None``.

    Cost: the square of the number of units.
    """
    parts = list(units)
    while True:
        best: tuple[int, int, _Unit] | None = None
        for place in range(len(parts) - 1):
            merge = merge_of(parts[place], parts[place + 1])
            if merge is not None and (best is None or merge[0] < best[0]):
                best = merge[0], place, merge[1]
        if best is None:
            return parts
        parts[best[1] : best[1] + 2] = [best[2]]


def _followed(subject: Subject, merges: _Merges) -> dict[str, Fact]:
    """Whether the program's model does what the merges say."""
    stated = subject.part("model").get("ignore_merges") if subject.family == "tokenizer.json" else None
    if subject.family == "tokenizer.json" and stated is None:
        stated = False
    run, can_be_piece = _model_of(subject), _pieces_of(subject)
    if run is None:
        reason = subject.no_program or "the program does not show its model"
        return {"ignore_merges": not_measured(reason, stated), "greedy": not_measured(reason)}
    odd = [name for name in _OPTIONS if subject.part("model").get(name)]
    if odd or settings_of_chance(subject):
        reason = f"the model has the option {odd[0]}" if odd else "the program chooses tokens by chance"
        return {"ignore_merges": not_measured(reason, stated), "greedy": not_measured(reason)}
    merge_of = _merge_function(subject, merges)
    known = _units(merges)
    texts = [
        text
        for text in merges.texts.values()
        if 1 < len(text) <= _LONGEST and all(text[i : i + 1] in known for i in range(len(text)))
    ]
    texts = [text for text in texts if can_be_piece(text)]
    draw = random.Random(_SEED)
    draw.shuffle(texts)
    apart = [text for text in texts if (made := _joined(text, merge_of)) and len(made) > 1][:_SAMPLED]
    sample = [*apart[:100], *texts[:_SAMPLED]]
    both = (draw.choice(texts) + draw.choice(texts) for _ in range(_SAMPLED if texts else 0))
    sample += [text for text in both if can_be_piece(text)]
    kept = [text for text in apart[:100] if run(text) == [text]]
    takes_whole = bool(kept)
    ids = {text: token for token, text in merges.texts.items()}
    wrong = None
    for text in sample:
        expected = [text] if takes_whole and text in ids else _joined(text, merge_of)
        if (found := run(text)) != expected:
            wrong = text, found, expected
            break
    how = (
        f"{len(sample):,} pieces of text, tokens and pairs of tokens, seed {_SEED}: by the program's model "
        "and by a plain encoder that joins the best pair, one at a time"
    )
    if wrong is None:
        greedy = Fact(True, how)
    else:
        greedy = Fact(
            False, how, witness=_witness(subject, wrong[1], ids, f"the merges make {wrong[2]!r:.200}")
        )
    if not apart:
        ignore = Fact(False, f"no difference: the merges make each of {len(texts):,} tokens", None)
    else:
        how = (
            f"{len(apart):,} tokens that the merges do not make, of {len(texts):,}; "
            f"{len(apart[:100])} of them by the program's model"
        )
        witness = _witness(subject, kept[:1], ids, "the merges do not make this token") if kept else None
        ignore = Fact(takes_whole, how, stated, witness)
    return {"ignore_merges": ignore, "greedy": greedy}


def _joined(text: Any, merge_of: MergeOf[Any]) -> list[Any]:
    return joined([text[i : i + 1] for i in range(len(text))], merge_of)


def _units(merges: _Merges) -> set[Any]:
    return {text for text in merges.texts.values() if len(text) == 1}


def _merge_function(subject: Subject, merges: _Merges) -> MergeOf[Any]:
    if subject.family == "tokenizer.json":
        texts = merges.texts
        pairs = {  # a pair that is listed twice has the rank of its last entry, as in the program
            (texts[merge.left], texts[merge.right]): (rank, texts[merge.token])
            for merge, rank in zip(merges.ids, merges.ranks, strict=True)
        }
        return lambda left, right: pairs.get((left, right))
    ranks = _ranked(subject)[1]

    def merge_of(left: Any, right: Any) -> tuple[int, Any] | None:
        rank = ranks.get(left + right)
        return None if rank is None else (rank, left + right)

    return merge_of


def _model_of(subject: Subject) -> Callable[[Any], list[Any]] | None:
    """The program's model alone, from a piece of text to the texts of its tokens."""
    program = subject.program
    if program is None:
        return None
    inner = program.inner
    backend = getattr(inner, "backend_tokenizer", inner)
    encoding = getattr(inner, "_model", inner)
    run: Callable[[Any], list[Any]]
    if subject.family == "tokenizer.json" and hasattr(backend, "model"):
        model = backend.model

        def run(text: Any) -> list[Any]:
            return [token.value for token in model.tokenize(text)]

    elif subject.family in ("tiktoken", "tekken") and hasattr(encoding, "_encode_single_piece"):

        def run(text: Any) -> list[Any]:
            return list(encoding.decode_tokens_bytes(encoding._encode_single_piece(text)))

    elif subject.sentence_piece is not None:
        added = "▁" if subject.sentence_piece.adds_space else ""

        def run(text: Any) -> list[Any]:
            given = text.removeprefix(added).replace("▁", " ")
            return [inner.id_to_piece(token) for token in program.encode(given)]

    else:
        return None

    def guarded(text: Any) -> list[Any]:
        with program.failing([text]):
            return run(text)

    return guarded


def _pieces_of(subject: Subject) -> Callable[[Any], bool]:
    """Which texts the model can be given: SentencePiece puts a space before them, and normalizes them."""
    piece_model, program = subject.sentence_piece, subject.program
    if piece_model is None or program is None:
        return lambda text: True
    added = "▁" if piece_model.adds_space else ""

    def can_be_piece(text: Any) -> bool:
        given = text.removeprefix(added).replace("▁", " ")
        return text.startswith(added) and program.normalize_many([given]) == [text]

    return can_be_piece


def _witness(subject: Subject, pieces: Sequence[Any], ids: dict[Any, int], says: str) -> Witness:
    """A piece of text, as the tokens that the program's model makes of it."""
    tokens = tuple(ids[piece] for piece in pieces if piece in ids)
    texts = tuple(map(subject.piece, tokens))
    return Witness(b"".join(texts), tokens, texts, 0, says, True)
