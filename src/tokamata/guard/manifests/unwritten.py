"""Tokens that no text yields, and tokens that are no whole code points.

A model may write every token of its vocabulary, but its tokenizer never writes some of them, so the model has
hardly seen them.  Such tokens are known as glitch tokens.  Others find them by trial: a token is decoded, the
text is encoded, and something else comes back.  That is neither sound nor complete: ``##ing`` comes back
differently and is written all the time.  Here a token is

- *written*, if the engine's automaton admits it at the start of a text or after a context, or if the program
  wrote it when it was given all code points;
- *never written*, if there is a proof:

      no UTF-8          its bytes are in no UTF-8 text, such as C0 or F5
      merges            byte-pair encoding of its own bytes makes other tokens.  A token that occurs in a text
                        was merged from its bytes alone, in the same order, so it would occur alone as well.
                        (With ``ignore_merges``: and its bytes are no whole code points, so no piece of text)
      byte              it stands for a byte of code points without a token, and each code point with that
                        byte has a token
      added tokens      it contains the name of an added token, which is cut out of a text before all else
      normal form       the normalizer changes it, and all parts of a normalized text are normalized
      pre-tokens        it has neighbours that the pre-tokenizer never leaves in one piece: no state of its
                        automaton survives them
      words             it is in no word (WordPiece)

- *not settled* otherwise.

Example: Qwen's tokens of Thai with vowels in their midst.  ``\\p{L}`` has no vowels of Thai, so the regex
cuts before each of them.

Cost: some milliseconds for 100,000 tokens, and some 10 µs for each that is not written at the start.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

import tokamata._core as _core
from tokamata.errors import TokamataError
from tokamata.guard.manifests.chance import settings_of_chance
from tokamata.guard.manifests.code_points import CodePoints, sampled_points
from tokamata.guard.manifests.facts import Fact, counted, not_measured
from tokamata.guard.manifests.merges import joined
from tokamata.guard.manifests.subject import Subject
from tokamata.tokenization.pipelines.normal_forms import unchanged_points
from tokamata.tokenization.pipelines.pipeline import BytePairs, Pipeline, WordPieces
from tokamata.tokenization.pretokenizers.classes import CODE_POINTS, ranges_of
from tokamata.tokenization.pretokenizers.machine import Cut, hypotheses
from tokamata.tokenization.pretokenizers.matching import DEAD, matching
from tokamata.tokenization.pretokenizers.regex import classes_of, compile_regex
from tokamata.tokenization.running import RunningTokenizer

__all__ = ["code_point_ranges", "fate_facts", "fates", "is_in_utf8", "partial_fact", "proofs"]

_CONTEXTS = (
    *(
        "a",
        "1",
        " ",
        "\n",
        "'",
        "!",
        "-",
        "_",
        "=",
        "/",
        ".",
        "中",
        "A",
        "é",
        "а",
        "م",
        "x1",
        "ab",
        "a ",
        "1 ",
    ),
    *("!\n", "a\n", "\t", "\r", "  ", "a'", "日本", "\u200d", "\u0301", '{"', "<|", "한"),
)
_MOST_PAIRS = 1_000_000  # contexts times tokens
_MOST_ALIKE = 4  # contexts that end with the same bytes of a code point
_MOST_TRIED = 50_000  # tokens for which proofs are looked for
_MOST_NAMES = 1000  # names of added tokens that are looked for in them
_LONGEST = 1024  # bytes of such a token
_MOST_MERGED = 2_000_000  # steps of the plain encoder; what is left then is not settled


def partial_fact(subject: Subject) -> Fact:
    """Tokens whose bytes are no whole code points."""
    tokens = subject.vocabulary.tokens
    partial = [token for token, value in enumerate(tokens) if value and not _is_utf8(value)]
    lines = [f"{token} {(tokens[token] or b'').hex()}" for token in partial]
    value = counted(lines, lines)
    value["in_no_utf8"] = sum(not is_in_utf8(tokens[token] or b"") for token in partial)
    return Fact(value, f"the bytes of {len(tokens):,} tokens")


def fate_facts(subject: Subject, points: CodePoints | None) -> dict[str, Fact]:
    """The facts ``never_written`` and ``unsettled_tokens``.

    Args:
        subject: the tokenizer.
        points: what its program does to code points, with the tokens that it wrote.

    Raises:
        ProgramFailed: the program raised an error.
    """
    if subject.program is None or subject.tables[0] is None:
        why = subject.no_program if subject.program is None else subject.tables[1]
        return {"never_written": not_measured(why), "unsettled_tokens": not_measured(why)}
    proved, rest = fates(subject, set() if points is None else points.ids)
    text_tokens = sum(1 for value in subject.vocabulary.tokens if value)
    how = (
        f"{text_tokens:,} tokens of text: written at the start of a text, after {len(_CONTEXTS)} contexts or "
        "after incomplete tokens, by the engine's automaton, or by the program for a code point"
    )
    lines = [f"{token} {_shown(subject.piece(token))}: {name}" for token, name in proved.items()]
    found = counted(lines, lines)
    found["proofs"] = dict(sorted(Counter(proved.values()).items()))
    shown = [f"{token} {_shown(subject.piece(token))}" for token in rest]
    return {
        "never_written": Fact(found, how + "; of the others, those with a proof"),
        "unsettled_tokens": Fact(counted(shown, shown), how + "; of the others, those without a proof"),
    }


def _shown(data: bytes) -> str:
    """The text of a token, or its bytes in hexadecimal; the same in all versions of Python."""
    return data.decode() if _is_utf8(data) else f"<{data.hex(' ')}>"


def fates(subject: Subject, seen: set[int]) -> tuple[dict[int, str], list[int]]:
    """The tokens of text that no text yields, each with its proof, and those that are not settled.

    Args:
        subject: a tokenizer that the engine supports, with its program.
        seen: tokens that the program has been seen to write.

    Raises:
        ProgramFailed: the program raised an error.
    """
    engine, program = subject.tables[0], subject.program
    assert engine is not None
    assert program is not None
    left = _unwritten_by_engine(subject, engine, program, seen)
    known = proofs(subject)
    proved: dict[int, str] = {}
    for token in left[:_MOST_TRIED]:
        value = subject.vocabulary[token] or b""
        if len(value) > _LONGEST:
            continue
        name = next((name for name, holds in known if holds(token, value)), None)
        if name is not None:
            proved[token] = name
    return proved, [token for token in left if token not in proved]


# The automaton of UTF-8: for each state, ranges of bytes and the next state.  State 0 is between code points.
_UTF8 = (
    (
        *(
            (0x00, 0x7F, 0),
            (0xC2, 0xDF, 1),
            (0xE0, 0xE0, 2),
            (0xE1, 0xEC, 3),
            (0xED, 0xED, 4),
            (0xEE, 0xEF, 3),
        ),
        *((0xF0, 0xF0, 5), (0xF1, 0xF3, 6), (0xF4, 0xF4, 7)),
    ),
    ((0x80, 0xBF, 0),),
    ((0xA0, 0xBF, 1),),
    ((0x80, 0xBF, 1),),
    ((0x80, 0x9F, 1),),
    ((0x90, 0xBF, 3),),
    ((0x80, 0xBF, 3),),
    ((0x80, 0x8F, 3),),
)


def is_in_utf8(data: bytes) -> bool:
    """Whether bytes are part of some UTF-8 text."""
    states = set(range(len(_UTF8)))  # each can be reached, and each leads back to state 0
    for byte in data:
        states = {after for state in states for first, last, after in _UTF8[state] if first <= byte <= last}
    return bool(states)


def code_point_ranges(data: bytes) -> list[tuple[int, int]]:
    """For each code point that begins in these bytes, which code points it may be: the first and the last.

    It is one if all its bytes are there.  The bytes must be part of a UTF-8 text.
    """
    found, at = [], 0
    while at < len(data) and 0x80 <= data[at] < 0xC0:
        at += 1
    while at < len(data):
        lead = data[at]
        size = 1 if lead < 0x80 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
        part = data[at : at + size]
        if len(part) == size:
            found.append((ord(part.decode()), ord(part.decode())))
        else:
            number = lead & (0x7F >> size)
            for byte in part[1:]:
                number = number << 6 | byte & 0x3F
            bits = 6 * (size - len(part))
            least = (0, 0, 0x80, 0x800, 0x10000)[size]
            first, last = max(number << bits, least), min((number + 1 << bits) - 1, CODE_POINTS - 1)
            found.append((first, 0xD7FF if part == b"\xed" else last))
        at += size
    return found


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _whole(data: bytes) -> str:
    """The whole code points in bytes that are part of a UTF-8 text."""
    return data.decode("utf-8", "ignore")


# ---- the engine ------------------------------------------------------------------------------------


def _unwritten_by_engine(
    subject: Subject, engine: _core.Tokenization, program: RunningTokenizer, seen: set[int]
) -> list[int]:
    """The tokens of text that the engine admits after no context that is tried, and that were not seen."""
    tokens = subject.vocabulary.tokens

    def admitted(sequence: Sequence[int]) -> bool:
        return engine.first_noncanonical(list(sequence)) in (None, len(sequence))

    left = [
        token for token, value in enumerate(tokens) if value and token not in seen and not admitted([token])
    ]
    contexts = [ids for ids in program.encode_many(_CONTEXTS) if ids and admitted(ids)]
    left = [token for token in left if not any(admitted([*ids, token]) for ids in contexts)]
    # What begins within a code point can only follow tokens that end within one.
    inner = {token for token in left if 0x80 <= (tokens[token] or b"\0")[0] < 0xC0}
    partial = [token for token, value in enumerate(tokens) if value and _is_open(value)] if inner else []
    single = [token for token in partial if len(tokens[token] or b"") == 1]
    single += [t for t, value in enumerate(tokens) if value and len(value) == 1 and 0x80 <= value[0] < 0xC0]
    befores: list[Sequence[int]] = [(), *contexts]
    ways = [next(([*ids, t] for ids in befores if admitted([*ids, t])), None) for t in partial]
    open_ended = [way for way in ways if way is not None]
    for _ in range(3):  # the bytes of a code point before its last
        open_ended = _few_of_each(open_ended, tokens)
        if not inner or len(inner) * len(open_ended) > _MOST_PAIRS:
            break
        found = {token for token in inner if any(admitted([*ids, token]) for ids in open_ended)}
        left = [token for token in left if token not in found]
        inner -= found
        if len(open_ended) * len(single) > _MOST_PAIRS:
            break
        longer = ([*ids, t] for ids in open_ended for t in single)
        open_ended = [ids for ids in longer if admitted(ids)] if inner else []
    return left


def _few_of_each(contexts: list[list[int]], tokens: Sequence[bytes | None]) -> list[list[int]]:
    """Some contexts for each beginning of a code point that they end with."""
    counts: Counter[bytes] = Counter()
    kept = []
    for ids in contexts:
        data = b"".join(tokens[token] or b"" for token in ids[-4:])
        begin = next(back for back in (1, 2, 3) if data[-back] >= 0xC0)
        counts[data[-begin:]] += 1
        if counts[data[-begin:]] <= _MOST_ALIKE:
            kept.append(ids)
    return kept


def _is_open(data: bytes) -> bool:
    """Whether bytes end within a code point."""
    return is_in_utf8(data) and not is_in_utf8(data + b"a")


# ---- proofs ----------------------------------------------------------------------------------------

Proof = tuple[str, Callable[[int, bytes], bool]]


def proofs(subject: Subject) -> list[Proof]:
    """The proofs that no text yields a token: each a name, and whether it holds for a token and its bytes.

    None are tried where their premises may fail: for models that choose tokens by chance, and for those that
    may write ``<0x21>`` for these six characters.
    """
    pipeline, program = subject.pipeline, subject.program
    if pipeline is None or program is None or settings_of_chance(subject):
        return []
    model = pipeline.model
    added = {one.token for one in pipeline.added}
    found: list[Proof] = []
    if isinstance(model, WordPieces):
        roles = model.roles
        if _is_idempotent(program):
            found.append(("words", lambda token, value: bool(roles[token] == _core.WordRole.NONE.value)))
    elif isinstance(model, BytePairs) and not _spells_bytes(model):
        found += [
            ("no UTF-8", lambda token, value: not is_in_utf8(value)),
            ("byte", _byte_proof(model)),
            ("merges", _merge_proof(model)),
        ]
        if names := _names_that_are_cut_out(subject, pipeline):
            found.append(("added tokens", lambda token, value: any(name in value for name in names)))
        normalizer = pipeline.normalizer
        if normalizer.form is not None and normalizer.keeps is None and not normalizer.has_contexts:
            found.append(("normal form", _form_proof(normalizer.form)))
        if (cut := _pre_token_proof(pipeline)) is not None:
            found.append(("pre-tokens", cut))

    def except_added(holds: Callable[[int, bytes], bool]) -> Callable[[int, bytes], bool]:
        return lambda token, value: token not in added and holds(token, value)

    return [(name, except_added(holds)) for name, holds in found]


def _spells_bytes(model: BytePairs) -> bool:
    """Whether the tokens of single bytes may be written for their names, or be parts of others."""
    tokens = list(model.byte_tokens.values())
    parts = (model.left, model.right, model.result)
    return bool(tokens) and (model.ignore_merges or any(np.isin(part, tokens).any() for part in parts))


def _is_idempotent(program: RunningTokenizer) -> bool:
    """Whether the normalizer leaves alone what it has written, apart from spaces.

    Then no normalized text has a code point that it changes.  (WordPiece is supported only with normalizers
    that change each code point on its own, apart from the order of marks.)  After ``Lowercase``, NFKC makes
    an upper-case H of U+210C: these two are not.
    """
    once = program.normalize_many(["\n".join(map(chr, sampled_points()))])
    twice = None if once is None else program.normalize_many(once)
    return once is not None and twice is not None and once[0].split() == twice[0].split()


def _byte_proof(model: BytePairs) -> Callable[[int, bytes], bool]:
    bytes_of = {token: byte for byte, token in model.byte_tokens.items()}
    lacks = model.lacks.copy()
    lacks[0xD800:0xE000] = False
    points = np.flatnonzero(lacks) if bytes_of else np.zeros(0, dtype=np.int64)
    lacking = set(points.astype("<u4").tobytes().decode("utf-32-le").encode())
    return lambda token, value: token in bytes_of and bytes_of[token] not in lacking


def _merge_proof(model: BytePairs) -> Callable[[int, bytes], bool]:
    """Whether byte-pair encoding makes other tokens of a token's own atoms."""
    columns = (model.left.tolist(), model.right.tolist(), model.rank.tolist(), model.result.tolist())
    merges = {(left, right): (rank, made) for left, right, rank, made in zip(*columns, strict=True)}
    spent = 0

    def is_not_made(token: int, value: bytes) -> bool:
        nonlocal spent
        atoms = model.atoms[model.atom_offsets[token] : model.atom_offsets[token + 1]].tolist()
        if model.ignore_merges and _is_utf8(value):
            return False  # it may be a piece of its own
        if not atoms:
            return not model.ignore_merges
        spent += len(atoms) ** 2
        if spent > _MOST_MERGED:
            return False
        return joined(atoms, lambda left, right: merges.get((left, right))) != [token]

    return is_not_made


def _form_proof(form: Callable[[str], str]) -> Callable[[int, bytes], bool]:
    """Whether a token has a part that no text in a normal form has."""
    kept_points = cache(lambda: unchanged_points(form))

    def is_changed(token: int, value: bytes) -> bool:
        if form(text := _whole(value)) != text:
            return True
        kept = kept_points()
        return any(not kept[first : last + 1].any() for first, last in code_point_ranges(value))

    return is_changed


def _names_that_are_cut_out(subject: Subject, pipeline: Pipeline) -> list[bytes]:
    """The names of added tokens that no text given to the model contains.

    The program cuts out matches from left to right, so no name is whole between two matches.  This holds
    for the text in which it looks: the normalized one for tokens with the flag ``normalized``, else the raw
    one, which the normalizer may still change into one with the name.
    """
    normalizer = pipeline.normalizer
    changes = normalizer.form is not None or normalizer.keeps is not None
    spaces = {" ", normalizer.spaces} if normalizer.spaces else set()
    return [
        one.name.encode()
        for one in subject.control_tokens[:_MOST_NAMES]
        if one.name
        and not {"lstrip", "rstrip", "single_word"} & set(one.flags)
        and ("normalized" in one.flags or not changes)
        and spaces.isdisjoint(one.name)
        and subject.family == "tokenizer.json"
    ]


def _pre_token_proof(pipeline: Pipeline) -> Callable[[int, bytes], bool] | None:
    """Whether a token has neighbours that no pre-token has.

    The automaton of pre-tokens is run from each of its states on the token's code points, without an end of a
    pre-token between them.  Text between matches counts as a piece, so all states are there that any text
    leads to.
    """
    programs, members = [], {}
    for split in pipeline.splits:
        program = compile_regex(split.regex, pipeline.engine.dollar_is_end)
        programs.append(program)
        for cls in classes_of(program):
            flags = split.members[cls] if cls in split.members else pipeline.engine.members(cls)
            if pipeline.normalizer.spaces:
                flags = flags.copy()
                flags[0x20] = flags[ord(pipeline.normalizer.spaces)]
            members[cls] = flags
    names = list(members)
    if not names:
        return None
    firsts, classes = ranges_of([members[name] for name in names])
    symbols = int(classes.max()) + 1
    representative: npt.NDArray[Any] = np.zeros(symbols, dtype=np.int64)
    representative[classes] = firsts
    of_symbol = {name: members[name][representative].tolist() for name in names}
    try:
        automata = [matching(program, of_symbol, symbols) for program in programs]
        found = hypotheses([Cut(one) for one in automata if not one.never_matches], symbols)
    except TokamataError:
        return None
    targets = np.array(found.targets, dtype=np.int64)

    def is_cut(token: int, value: bytes) -> bool:
        states = np.arange(len(targets))
        for begin, end in code_point_ranges(value):
            first, last = np.searchsorted(firsts, [begin, end], side="right") - 1
            states = np.unique(targets[np.ix_(states, np.unique(classes[first : last + 1]))])
            states = states[states != DEAD]
        return len(states) == 0

    return is_cut
