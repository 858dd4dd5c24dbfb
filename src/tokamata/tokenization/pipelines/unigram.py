"""The pipeline of a ``tokenizer.json`` whose model is Unigram: T5, XLNet, XLM-R and others.

Each piece has a score, and the model writes the pieces of a pre-token with the largest sum.  A code point
that is no piece is written as unknown, with the least score less 10; neighbours that are unknown become one
text, which is looked up as a piece, then as bytes (``byte_fallback``), and is the unknown token otherwise.

What cannot occur is no piece here: a text with a space where a sign is written for spaces, and one that has
the name of an added token, which is cut out before.  Byte pieces are pieces of the literal text ``<0x0A>``
too, and win
there: then that text is decoded to another one, so it is in no canonical text.  It is refused by name if
another piece might win.
"""

from __future__ import annotations

import math
import re

import numpy as np

from tokamata.tokenization.pipelines.byte_pairs import (
    check_added,
    check_decoder,
    read_pre_tokenizer,
    with_bytes,
)
from tokamata.tokenization.pipelines.pipeline import AddedToken, Normalizer, Pipeline, Splitting, Unigram
from tokamata.tokenization.pipelines.tokenizer_json_normalizer import read_normalizer
from tokamata.tokenization.pipelines.tokenizer_json_parts import added_tokens, refusal
from tokamata.tokenization.pipelines.unigram_scores import NO_PIECE, UNKNOWN_PENALTY, scores_of
from tokamata.tokenization.pretokenizers.classes import CODE_POINTS, HuggingFaceEngine
from tokamata.vocabulary.sections import Section, flattened, refuse

__all__ = ["unigram_pipeline"]

_MOST_COMPARED = 1 << 27  # places; 250,000 pieces of ten bytes have 25 million
_LONGEST = 256  # bytes of a piece; SentencePiece makes none of more than 16 characters by default
_MOST_SCORE = 1e300  # so that sums are finite
_BYTE_NAMES = [f"<0x{byte:02X}>" for byte in range(256)]
_ANY_BYTE = "<0x[0-9A-F][0-9A-F]>"


def unigram_pipeline(file: Section, tokens: list[bytes | None]) -> Pipeline:
    """The pipeline of a parsed ``tokenizer.json`` whose model is Unigram.

    Arguments and errors are those of :func:`.tokenizer_json.pipeline_from_tokenizer_json`.
    """
    engine = HuggingFaceEngine()
    parts = flattened(file, "pre_tokenizer", "pretokenizers")
    if any(part.kind == "ByteLevel" for part in parts):
        raise refusal("pre-tokenizer", "ByteLevel before Unigram")
    splits, normalizer = read_pre_tokenizer(parts, read_normalizer(file, engine), engine)
    added = added_tokens(file, tokens, normalizer)
    section = file.section("model")
    pieces = _pieces(section)
    model = _unigram(section, pieces, tokens, normalizer, added)
    if model.byte_tokens:
        _check_byte_names(pieces)
        splits.append(Splitting(_ANY_BYTE, keeps_matches=False))  # within a pre-token
    names = set(_BYTE_NAMES) if model.byte_tokens else set()
    written = {text: token for token, (text, _) in enumerate(pieces) if text not in names}
    check_decoder(
        {text: token for text, token in written.items() if token < len(tokens) and _is_piece(model, token)},
        tokens,
        {},
        normalizer,
    )
    check_added(added, tokens, model.scores.whole != NO_PIECE)
    return Pipeline(engine, normalizer, tuple(splits), model, added)


def _is_piece(model: Unigram, token: int) -> bool:
    return bool(model.scores.whole[token] != NO_PIECE)


def _pieces(model: Section) -> list[tuple[str, float]]:
    """The pieces with their scores, by token."""
    found: list[tuple[str, float]] = []
    known: dict[str, int] = {}
    for token, entry in enumerate(model.items("vocab")):
        path = f"{model.path_of('vocab')}[{token}]"
        if not isinstance(entry, list) or len(entry) != 2 or not isinstance(entry[0], str):
            refuse(path, entry, "a list of a text and a score")
        text, score = entry
        is_number = isinstance(score, (int, float)) and not isinstance(score, bool)
        if not is_number or not abs(score) < _MOST_SCORE:
            refuse(path, entry, "a list of a text and a finite score")
        if not text:
            raise refusal("model", f"piece {token} is empty")
        if text in known:
            raise refusal("model", f"pieces {known[text]} and {token} are both {text!r:.40}")
        known[text] = token
        found.append((text, float(score)))
    if not found:
        raise refusal("model", "it has no pieces")
    # Each place of a piece is compared with all that begin before it.
    sizes = [len(text.encode("utf-8", "surrogatepass")) for text, _ in found]
    if max(sizes) > _LONGEST or sum(size * size for size in sizes) > _MOST_COMPARED:
        raise refusal("model", f"its pieces are too long: up to {max(sizes):,} bytes")
    return found


def _unigram(
    model: Section,
    pieces: list[tuple[str, float]],
    tokens: list[bytes | None],
    normalizer: Normalizer,
    added: tuple[AddedToken, ...],
) -> Unigram:
    unknown_score = min(score for _, score in pieces) - UNKNOWN_PENALTY
    if unknown_score >= 0:  # then several unknown code points would score more than a piece that they make
        raise refusal("model", f"its least score is {unknown_score + UNKNOWN_PENALTY}")
    unknown_id = model.fields.get("unk_id")
    if unknown_id is not None and model.whole("unk_id") >= len(pieces):
        model.refuse("unk_id", f"a piece, below {len(pieces):,}")
    byte_tokens: dict[int, int] = {}
    if model.flag("byte_fallback", False):
        ids = {text: token for token, (text, _) in enumerate(pieces)}
        byte_tokens = {byte: ids[name] for byte, name in enumerate(_BYTE_NAMES) if name in ids}
    names = re.compile("|".join(re.escape(one.text.decode()) for one in added) or "(?!)")
    of_bytes = set(byte_tokens.values())
    scores = np.full(len(tokens), np.nan)
    lacks = np.ones(CODE_POINTS, dtype=bool)
    lacks[0xD800:0xE000] = False
    parts: set[str] = set()
    for token, (text, score) in enumerate(pieces):
        if len(text) == 1:
            lacks[ord(text)] = False
        if (normalizer.spaces and " " in text) or names.search(text) or token in of_bytes:
            continue
        if token >= len(tokens) or tokens[token] is None:
            raise refusal(
                "model", f"it may write {text!r:.40} for that text, which is not a token with a text"
            )
        scores[token] = score
        parts.update(text)
    if unknown_id is None:  # then the program refuses a text with a code point that is no piece
        unwritten = lacks.copy()
    else:
        unwritten = with_bytes(set(range(256)) - set(byte_tokens))
        if lost := sorted(letter for letter in parts if lacks[ord(letter)]):
            raise refusal("model", f"{lost[0]!r} is in pieces, and is no piece itself")
    if normalizer.spaces:  # without its token, its bytes are written, which do not decode to a space
        unwritten[0x20] = lacks[0x20] = lacks[ord(normalizer.spaces)]
    return Unigram(scores_of(scores, unknown_score), byte_tokens, lacks & ~unwritten, lacks & unwritten)


def _check_byte_names(pieces: list[tuple[str, float]]) -> None:
    """Refuses pieces that might win against a byte piece where its name is in a text.

    A path through a text that does not use the name of a byte as a piece enters it by a piece from the left,
    or at its start; goes on by pieces inside it; and leaves it likewise.  What stands outside could be
    written by itself in place of the pieces that cross.  So the path loses if, for all of these, the score of
    the crossing pieces less the best score of their outer parts, and of the pieces inside, is less than that
    of the name.
    """
    scores = dict(pieces)
    names = [name for name in _BYTE_NAMES if name in scores]
    least = min(scores.values()) - UNKNOWN_PENALTY
    longest = max(map(len, scores))

    def best(text: str) -> float:
        reached = [0.0] + [-math.inf] * len(text)
        for at in range(len(text)):
            for end in range(at + 1, min(len(text), at + longest) + 1):
                score = scores.get(text[at:end], least if end == at + 1 else -math.inf)
                reached[end] = max(reached[end], reached[at] + score)
        return reached[-1]

    # By the part of a name that a piece has: what it gains over its outer part.
    entering: dict[str, float] = {"": 0.0}
    leaving: dict[str, float] = {"": 0.0}
    for text, score in scores.items():
        if any(name in text and name != text for name in names):
            raise refusal("model", f"the piece {text!r:.40} has the name of a byte in it")
        for size in range(1, min(6, len(text))):
            if (part := text[-size:])[0] == "<" and any(name.startswith(part) for name in names):
                entering[part] = max(entering.get(part, -math.inf), score - best(text[:-size]))
            if (part := text[:size])[-1] == ">" and any(name.endswith(part) for name in names):
                leaving[part] = max(leaving.get(part, -math.inf), score - best(text[size:]))
    for name in names:
        reached = [entering.get(name[:at], -math.inf) for at in range(len(name) + 1)]
        for at in range(len(name)):
            for end in range(at + 1, len(name) + 1):
                if end - at < len(name):
                    score = scores.get(name[at:end], least if end == at + 1 else -math.inf)
                    reached[end] = max(reached[end], reached[at] + score)
        rival = max(reached[at] + leaving.get(name[at:], -math.inf) for at in range(len(name) + 1))
        if not rival < scores[name] - 1e-6 * (1 + abs(rival)):
            raise refusal("model", f"other pieces may win where {name} is in a text, which stands for a byte")
