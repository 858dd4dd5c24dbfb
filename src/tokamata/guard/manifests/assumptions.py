"""The paper's assumptions about tokenizers (004, assumption 1), each as a fact.

``True`` means that nothing measured here refutes it, ``False`` comes with a witness, and ``None`` says that
it was not measured or does not apply.  ``True`` is an observation, not a proof: see ``how``.

    (i)     pairs of neighbours are merged under a total order
    (ii)    ties are broken in the same way, run after run
    (iii)   the ranks of merges are stable within a version
    (iv)    control tokens are verbatim, and outside of merges
    (v)     the declared normalizer comes before everything else
    (vi)    no control characters are filtered without being declared
    (vii)   the pre-tokenizer is what the file declares
    (viii)  WordPiece: the mark of continuations is part of tokens, and no token crosses a word

Most real tokenizers break some of them.  With ``ignore_merges``, a piece of text that is a token becomes that
token whatever the merges say (i).  The added tokens of Hugging Face's `tokenizers` are cut out before the
text is normalized (v): ``<|im_end|>`` U+0338 has its control token, and the normalized text has none.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from itertools import islice
from typing import Any

from tokamata.guard.manifests.code_points import CodePoints
from tokamata.guard.manifests.controls import behaviors
from tokamata.guard.manifests.facts import Fact, not_measured
from tokamata.guard.manifests.subject import Subject
from tokamata.guard.probe_texts import texts
from tokamata.tokenization.running import ProgramFailed, RunningTokenizer

__all__ = [
    "assumption_facts",
    "declared_filters",
    "declared_pre_tokens",
    "marks_of_words",
    "normalized_first",
    "stable_ranks",
    "stable_ties",
    "total_order",
    "verbatim_controls",
]

_TEXTS = 400
_SEED = 4
_MARKS = ("\u0338", "\u0301", "\u0308")


def assumption_facts(subject: Subject, facts: dict[str, Fact], points: CodePoints | None) -> dict[str, Fact]:
    """The eight assumptions.

    Args:
        subject: the tokenizer.
        facts: what was measured already.
        points: what its program does to code points.
    """
    if subject.program is None:
        none = not_measured(subject.no_program)
        return dict.fromkeys(("i", "ii", "iii", "iv", "v", "vi", "vii", "viii"), none)
    questions: dict[str, Callable[[], Fact]] = {
        "i": lambda: total_order(subject, facts),
        "ii": lambda: stable_ties(facts),
        "iii": lambda: stable_ranks(subject, facts),
        "iv": lambda: verbatim_controls(subject),
        "v": lambda: normalized_first(subject, facts),
        "vi": lambda: declared_filters(subject, points),
        "vii": lambda: declared_pre_tokens(subject, facts),
        "viii": lambda: marks_of_words(subject),
    }
    return {name: _measured(question) for name, question in questions.items()}


def _measured(question: Callable[[], Fact]) -> Fact:
    try:
        return question()
    except ProgramFailed as error:
        return not_measured(str(error))


def total_order(subject: Subject, facts: dict[str, Fact]) -> Fact:
    """(i): whether the program merges the best pair, whatever else there is."""
    greedy, ignore, duplicates = facts["greedy"], facts["ignore_merges"], facts["duplicate_ranks"]
    if subject.model != "BPE":
        return not_measured(f"the model is {subject.model}, which merges no pairs")
    if facts["stochastic"].value:
        return Fact(False, "merges are left out by chance", witness=facts["stochastic"].witness)
    if greedy.value is None:
        return greedy
    if not greedy.value:
        return greedy
    if ignore.value:
        return Fact(
            False, "a piece of text that is a token becomes that token: " + ignore.how, witness=ignore.witness
        )
    if subject.sentence_piece is not None and duplicates.value:
        first: dict[float, str] = {}
        scores = subject.sentence_piece.scores
        for piece, token in subject.sentence_piece.pieces.items():
            if (other := first.setdefault(scores[token], piece)) != piece:
                how = (
                    f"{duplicates.value} pieces have the score of another piece: {piece!a} that of {other!a}"
                )
                return Fact(False, how)
    if subject.family == "tokenizer.json":
        return Fact(True, greedy.how)
    return Fact(
        True, greedy.how + "; pairs that make the same token share its rank, and the leftmost is first"
    )


def stable_ties(facts: dict[str, Fact]) -> Fact:
    """(ii): whether a text has the same tokens each time."""
    chance, settings = facts["stochastic"], facts["stochastic_settings"]
    if chance.value is None:
        return Fact(None, chance.how)
    if chance.value is False and settings.value:
        return Fact(False, f"the settings make it random, although {chance.how} showed no difference")
    return Fact(not chance.value, chance.how, witness=chance.witness)


def stable_ranks(subject: Subject, facts: dict[str, Fact]) -> Fact:
    """(iii): whether a second program that is made of the same file or object writes the same tokens."""
    if facts["stochastic"].value:
        return Fact(False, "the tokens change from call to call", witness=facts["stochastic"].witness)
    assert subject.program is not None
    second = _second_program(subject)
    sample = list(islice(texts(_SEED, list(subject.vocabulary.tokens)), _TEXTS))
    how = f"{_TEXTS} texts of seed {_SEED}, by two programs made of the same file"
    if second.inner is subject.program.inner:
        how = f"{_TEXTS} texts of seed {_SEED}, twice by the same object"
    pairs = zip(sample, subject.program.encode_many(sample), second.encode_many(sample), strict=True)
    for text, one, other in pairs:
        if one != other:
            return Fact(
                False, how, witness=subject.witness(text, "a second program writes other tokens", 0, one)
            )
    return Fact(True, how)


def _second_program(subject: Subject) -> RunningTokenizer:
    """A program that is made of the same file or object; it may be the same object."""
    inner: Any = subject.program.inner if subject.program is not None else None
    if subject.content is not None and type(inner).__module__.partition(".")[0] == "tokenizers":
        return RunningTokenizer(type(inner).from_buffer(subject.content))
    return RunningTokenizer(subject.source)


def verbatim_controls(subject: Subject) -> Fact:
    """(iv): whether the name of each control token becomes it, whatever is around, and nothing else does."""
    program = subject.program
    assert program is not None
    special = [one for one in subject.control_tokens if one.special and one.name]
    special = [one for one in special if one.token != program.unknown]  # that one stands for other texts
    if not special:
        return not_measured("there are no control tokens with a name, or only the unknown token")
    found = behaviors(program, special)
    how = f"the names of {len(special):,} control tokens, between letters and spaces, and as ordinary text"
    if not any(found[one.token].alone for one in special if one.token in found):
        return Fact(True, how + "; no text becomes one, and they are outside of merges")
    for one in special:
        behavior = found.get(one.token)
        if behavior is None:
            continue
        if not behavior.inside:
            says = f"the name of {one.token} does not become it here"
            return Fact(False, how, witness=subject.witness(f"a{one.name}b", says, 1))
        if behavior.strips:
            says = f"the control token takes the spaces on its {' and '.join(behavior.strips)} into itself"
            return Fact(False, how, witness=subject.witness(f"a {one.name} b", says, 2))
        if behavior.as_text:
            says = "the model itself makes the control token of its name"
            ids = program.encode_text(f"a{one.name}b")
            return Fact(False, how, witness=subject.witness(f"a{one.name}b", says, 1, ids))
    return Fact(True, how)


def normalized_first(subject: Subject, facts: dict[str, Fact]) -> Fact:
    """(v): whether the tokens of a text are those of the text in normal form."""
    program, form = subject.program, facts["normal_form"].value
    assert program is not None
    if form == "none":
        return Fact(True, "there is no normalizer: " + facts["normal_form"].how)
    if facts["normal_form"].differs:
        return Fact(False, facts["normal_form"].how, witness=facts["normal_form"].witness)
    if form not in ("NFC", "NFD", "NFKC", "NFKD"):
        return not_measured("the normalizer is none of the four forms, so unicodedata is no judge")
    probes = [f"a{mark}" for mark in _MARKS]
    probes += [one.name + mark for one in subject.control_tokens[:64] if one.name for mark in _MARKS]
    probes += list(islice(texts(_SEED, []), _TEXTS))
    normal: list[str] = [unicodedata.normalize(form, text) for text in probes]
    how = f"{len(probes):,} texts and their {form}: names of tokens with marks, and texts of seed {_SEED}"
    for text, after, one, other in zip(
        probes, normal, program.encode_many(probes), program.encode_many(normal), strict=True
    ):
        if one != other:
            says = f"added tokens are found before the text is normalized; its {form} is {after!a:.120}"
            if program.normalize_many([text]) == program.normalize_many([after]):
                return Fact(False, how, witness=subject.witness(text, says, 0, one))
    return Fact(True, how)


def declared_filters(subject: Subject, points: CodePoints | None) -> Fact:
    """(vi): whether control and format characters vanish in the declared normalizer alone.

    A model that drops characters it has no token for, or a regex between whose matches text is lost, filters
    without declaring it.
    """
    program = subject.program
    if points is None or program is None:
        return not_measured("the code points were not measured")
    hidden = [point for point in points.vanishing if unicodedata.category(chr(point)) in ("Cc", "Cf", "Co")]
    if not hidden:
        return Fact(True, f"none vanishes: {points.how}")
    normal = program.normalize_many([points.framed(""), *(points.framed(chr(point)) for point in hidden)])
    kept = (
        hidden
        if normal is None
        else [p for p, text in zip(hidden, normal[1:], strict=True) if text != normal[0]]
    )
    how = f"{len(hidden):,} control, format and private characters vanish; "
    if not kept:
        witness = subject.witness(
            points.framed(chr(hidden[0])), f"the normalizer removes U+{hidden[0]:04X}", 1
        )
        return Fact(True, how + "the declared normalizer removes them", witness=witness)
    says = f"U+{kept[0]:04X} vanishes after the normalizer"
    how += f"{len(kept):,} of them after the normalizer"
    return Fact(False, how, witness=subject.witness(points.framed(chr(kept[0])), says, 1))


def declared_pre_tokens(subject: Subject, facts: dict[str, Fact]) -> Fact:
    """(vii): whether the program cuts texts as the file declares, by the engine's automaton of the file."""
    engine, reason = subject.tables
    program = subject.program
    assert program is not None
    if engine is None:
        return not_measured(reason)
    if facts["stochastic"].value:
        return not_measured("the tokens change from call to call")
    sample = list(islice(texts(_SEED, list(subject.vocabulary.tokens)), _TEXTS))
    written = program.encode_many(sample)
    again = program.encode_many(program.decode_many(written))
    kept = [(text, one) for text, one, other in zip(sample, written, again, strict=True) if one == other]
    controls = {one.token for one in subject.control_tokens if one.special}
    controls |= {program.unknown} if program.unknown is not None else set()
    kept = [(text, ids) for text, ids in kept if controls.isdisjoint(ids)]
    how = f"{len(kept)} texts of seed {_SEED} that come back as the same tokens, by the automaton of the file"
    for text, ids in kept:
        if (place := engine.first_noncanonical(ids)) is not None:
            position = len(b"".join(map(subject.piece, ids[:place])))
            says = f"by our tables of the file, token {place} does not come here"
            return Fact(False, how, witness=subject.witness(text, says, position, ids))
    return Fact(True, how)


def marks_of_words(subject: Subject) -> Fact:
    """(viii): whether tokens stay within words, and continuations follow other tokens."""
    if subject.model != "WordPiece":
        return not_measured(f"the model is {subject.model}")
    program = subject.program
    assert program is not None
    mark = subject.part("model").get("continuing_subword_prefix", "##")
    sample = list(islice(texts(_SEED, list(subject.vocabulary.tokens)), _TEXTS))
    backend = getattr(program.inner, "backend_tokenizer", program.inner)
    how = f"{_TEXTS} texts of seed {_SEED}: no token has a space, and none with {mark!r} begins a text"
    for text, ids in zip(sample, program.encode_many(sample), strict=True):
        try:
            names = [backend.id_to_token(token) for token in ids]
        except Exception as error:
            raise ProgramFailed(program.program, f"{ids[:8]}", str(error)) from None
        if names and names[0].startswith(mark) and names[0] != mark:
            return Fact(False, how, witness=subject.witness(text, "a continuation begins the text", 0, ids))
        if any(" " in name for name in names):
            return Fact(False, how, witness=subject.witness(text, "a token has a space", 0, ids))
    return Fact(True, how)
