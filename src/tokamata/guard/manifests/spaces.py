"""Spaces: those that a tokenizer adds before a text, and those that it loses.

encode("a"), encode(" a")      a space is added always, if the text does not begin with one, or never
encode("N" + "a")              the same after a control token N
decode(encode("a , b ."))      clean-up removes spaces before punctuation
decode(encode("1  1"))         runs of spaces become one
"""

from __future__ import annotations

from tokamata.guard.manifests.facts import Fact, Json, not_measured
from tokamata.guard.manifests.subject import Subject
from tokamata.tokenization.running import RunningTokenizer
from tokamata.vocabulary.sections import Section, flattened

__all__ = ["space_facts"]


def space_facts(subject: Subject) -> dict[str, Fact]:
    """The facts about spaces.

    Raises:
        ProgramFailed: the program raised an error.
    """
    program, stated = subject.program, _stated(subject)
    names = ("add_prefix_space", "prefix_after_control", "clean_up_tokenization_spaces", "runs_of_spaces")
    if program is None:
        return {name: not_measured(subject.no_program, stated.get(name)) for name in names}
    facts = {
        "clean_up_tokenization_spaces": _clean_up(subject, program, stated),
        "runs_of_spaces": _runs(subject, program),
    }
    if subject.model in ("WordPiece", "WordLevel"):
        reason = f"{subject.model} writes no spaces; words are apart"
        return {**dict.fromkeys(names, not_measured(reason)), **facts}
    if any(program.unknown in ids for ids in program.encode_many(["a", " a"])):
        reason = "the tokenizer has no token for a or for a space"
        return {**dict.fromkeys(names, not_measured(reason)), **facts}
    prefix = _prefix(subject, program, "")
    facts["add_prefix_space"] = Fact(
        prefix, "'a' and ' a': the spaces before the a in the tokens", stated.get("add_prefix_space")
    )
    control = next(
        (
            one.name
            for one in subject.control_tokens
            if one.special and one.name and _is_read(program, one.name, one.token)
        ),
        None,
    )
    facts["prefix_after_control"] = (
        not_measured("no control token is read from a text")
        if control is None
        else Fact(_prefix(subject, program, control), f"the same after {control!r:.80}")
    )
    return facts


def _is_read(program: RunningTokenizer, name: str, token: int) -> bool:
    return program.encode(name)[-1:] == [token]


def _prefix(subject: Subject, program: RunningTokenizer, before: str) -> str:
    """``"always"``, ``"missing"`` or ``"never"``: when a space is put before a text."""
    skipped = len(program.encode(before)) if before else 0
    pieces = [b"".join(map(subject.piece, program.encode(before + text)[skipped:])) for text in ("a", " a")]
    counts = [len(piece) - len(piece.lstrip(b" ")) for piece in pieces]
    if counts == [1, 2]:
        return "always"
    if counts == [1, 1]:
        return "missing"
    return "never" if counts == [0, 1] else f"{counts[0]} and {counts[1]} spaces"


def _clean_up(subject: Subject, program: RunningTokenizer, stated: dict[str, Json]) -> Fact:
    text = "a , b . c ! d 's e"
    back = program.decode(program.encode(text))
    cleaned = back.replace(" ", "") == text.replace(" ", "") and back.count(" ") < text.count(" ")
    witness = subject.witness(text, f"it is decoded to {back!r}") if cleaned else None
    return Fact(
        cleaned, f"{text!r}, encoded and decoded", stated.get("clean_up_tokenization_spaces"), witness
    )


def _runs(subject: Subject, program: RunningTokenizer) -> Fact:
    text = "1  1   1"
    back = program.decode(program.encode(text))
    kept = "   " in back
    witness = None if kept else subject.witness(text, f"it is decoded to {back!r}")
    return Fact("kept" if kept else "shortened", f"{text!r}, encoded and decoded", None, witness)


def _stated(subject: Subject) -> dict[str, Json]:
    found: dict[str, Json] = {}
    clean = getattr(subject.source, "clean_up_tokenization_spaces", None)
    if isinstance(clean, bool):
        found["clean_up_tokenization_spaces"] = clean
    if subject.sentence_piece is not None:
        if subject.sentence_piece.adds_space:  # superfluous spaces are removed first
            found["add_prefix_space"] = "missing" if subject.sentence_piece.removes_spaces else "always"
        elif not subject.sentence_piece.removes_spaces:
            found["add_prefix_space"] = "never"
    if subject.family in ("tiktoken", "tekken"):
        found["add_prefix_space"] = "never"
    if not subject.part("model"):
        return found
    file = Section(subject.document, "")
    decoder = subject.part("decoder")
    if decoder.get("type") == "WordPiece" and "clean_up_tokenization_spaces" not in found:
        found["clean_up_tokenization_spaces"] = decoder.get("cleanup", True)
    prefix = "never"
    for part in flattened(file, "normalizer", "normalizers"):
        if part.fields.get("type") == "Prepend":
            prefix = "always"
    for part in flattened(file, "pre_tokenizer", "pretokenizers"):
        kind = part.fields.get("type")
        if kind == "ByteLevel" and part.fields.get("add_prefix_space", True):
            prefix = "missing"
        scheme = "always" if part.fields.get("add_prefix_space", True) else "never"
        if kind == "Metaspace" and part.fields.get("prepend_scheme", scheme) != "never":
            prefix = "missing"
    found["add_prefix_space"] = prefix
    return found
