"""The manifest of a tokenizer: what it does, measured on its running program.

    from tokamata import guard

    found = guard.manifest("tokenizer.json")
    found.facts["normal_form"].value          # 'NFC'
    found.assumptions["v"].witness            # a text whose added token is found before it is normalized
    print(found.to_json())
    guard.differences(old, found)             # what has changed since an earlier manifest

Paper 004 has a table of such properties, written by hand, and three of its four rows are wrong
(docs/errata.md, table 1).  So nothing here is taken from documentation: each value says how it was measured,
and what the tokenizer's file states stands beside it.

A fact that cannot be measured has no value and a reason: the package that runs the tokenizer is not
installed, the source has no program (a GGUF file, a list of bytes), or the program raised an error.

Cost: 5 to 15 s for a tokenizer with 150,000 tokens, most of it the program's own.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tokamata import version
from tokamata.errors import ArgumentError, TokamataError, shown_argument
from tokamata.guard.manifests.assumptions import assumption_facts
from tokamata.guard.manifests.chance import chance_facts
from tokamata.guard.manifests.code_points import CodePoints, code_point_facts, code_points
from tokamata.guard.manifests.controls import control_facts
from tokamata.guard.manifests.facts import Fact, Json, not_measured
from tokamata.guard.manifests.merges import merge_facts
from tokamata.guard.manifests.normal_form import normal_form_facts
from tokamata.guard.manifests.round_trip import round_trip_fact
from tokamata.guard.manifests.spaces import space_facts
from tokamata.guard.manifests.subject import Subject
from tokamata.guard.manifests.unwritten import fate_facts, partial_fact
from tokamata.tokenization.running import ProgramFailed

__all__ = ["Manifest", "cheap_facts", "differences", "manifest"]

_FORMAT = 1  # of the JSON
_RARE = ("\U0001f9ff", "\U0002a6b2", "\U0001e945", "\U00012399", "\U0010fffd", "\U000e0fff")
_BYTE_NAME = re.compile("<0x[0-9A-F]{2}>")
_MOST_PROSE = 600  # characters of a regex that are shown


@dataclass(frozen=True)
class Manifest:
    """What was measured of one tokenizer.

    Attributes:
        digest: the SHA-256 of its file, or of all that its pipeline depends on; ``None`` if neither is known.
        versions: the versions of the packages that were used, by name.
        assumptions: the assumptions (i) to (viii) of paper 004, by their numbers.
        facts: all other facts, by name.
    """

    digest: str | None
    versions: Mapping[str, str]
    assumptions: Mapping[str, Fact]
    facts: Mapping[str, Fact]

    def to_json(self) -> str:
        """The manifest as JSON in ASCII, in a fixed order, one value a line, so that two can be compared."""
        return json.dumps(self.to_value(), indent=1, ensure_ascii=True) + "\n"

    def to_value(self) -> dict[str, Json]:
        """The manifest as a value of JSON."""
        return {
            "format": _FORMAT,
            "digest": self.digest,
            "versions": dict(sorted(self.versions.items())),
            "assumptions": {name: fact.to_json() for name, fact in self.assumptions.items()},
            "facts": {name: fact.to_json() for name, fact in sorted(self.facts.items())},
        }

    @property
    def contradictions(self) -> list[str]:
        """The facts in which the program does something else than its file states."""
        return sorted(name for name, fact in self.facts.items() if fact.differs)


def manifest(tokenizer: object) -> Manifest:
    """Measure a tokenizer.

    Args:
        tokenizer: any source that ``Vocabulary.load`` takes: a path, or a tokenizer of tokenizers,
            transformers, tiktoken, sentencepiece or mistral-common.

    Raises:
        VocabularyError: for a source that cannot be read.
        MissingExtraError: reading it needs a package that is not installed.
    """
    subject = Subject(tokenizer)
    facts = cheap_facts(subject)
    points: CodePoints | None = None
    reason = subject.no_program
    if subject.program is not None:
        try:
            points = code_points(subject.program)
        except ProgramFailed as error:
            reason = str(error)
    for names, measure in (
        (_POINTS, lambda: code_point_facts(subject, points, reason)),
        (_FORM, lambda: normal_form_facts(subject)),
        (_MERGES, lambda: merge_facts(subject)),
        (("round_trip",), lambda: {"round_trip": round_trip_fact(subject, points)}),
        (("never_written", "unsettled_tokens"), lambda: fate_facts(subject, points)),
    ):
        facts.update(_measured(names, measure))
    assumptions = _measured(_ASSUMPTIONS, lambda: assumption_facts(subject, facts, points))
    return Manifest(subject.digest(), _versions(subject), assumptions, facts)


def cheap_facts(subject: Subject) -> dict[str, Fact]:
    """The facts that take less than a second, by name."""
    facts = _descriptions(subject)
    for names, measure in (
        (_CONTROLS, lambda: control_facts(subject)),
        (_SPACES, lambda: space_facts(subject)),
        (("stochastic", "stochastic_settings"), lambda: chance_facts(subject)),
        (("byte_fallback", "rare_points"), lambda: _bytes(subject)),
        (("split_special_tokens",), lambda: {"split_special_tokens": _split_special(subject)}),
    ):
        facts.update(_measured(names, measure))
    return {**facts, "truncation": _truncation(subject), "partial_tokens": partial_fact(subject)}


_POINTS = ("filtered", "unknown", "changed_points")
_FORM = (
    *("normal_form", "normalized_points", "form_differences", "inert_points", "lowercase", "strip_accents"),
)
_MERGES = ("merges", "duplicate_ranks", "ignore_merges", "greedy")
_CONTROLS = ("control_tokens", "empty_names", "control_behavior", "overlapping")
_SPACES = ("add_prefix_space", "prefix_after_control", "clean_up_tokenization_spaces", "runs_of_spaces")
_ASSUMPTIONS = ("i", "ii", "iii", "iv", "v", "vi", "vii", "viii")


def _measured(names: tuple[str, ...], measure: Callable[[], dict[str, Fact]]) -> dict[str, Fact]:
    """The facts of one question, or why they were not measured: the program or the file may be broken."""
    try:
        return measure()
    except ProgramFailed as error:
        reason = str(error)
    except TokamataError as error:
        reason = f"the file cannot be analysed: {error}"
    return dict.fromkeys(names, not_measured(reason))


def differences(first: Manifest | Mapping[str, Json], second: Manifest | Mapping[str, Json]) -> list[str]:
    """What differs between two manifests: one line for each value, with its path and both values.

    Args:
        first, second: manifests, or what ``json.loads`` makes of their JSON.

    Raises:
        ArgumentError: one of them is no manifest.
    """
    values = []
    for name, given in (("first", first), ("second", second)):
        value = given.to_value() if isinstance(given, Manifest) else given
        if not isinstance(value, Mapping) or not isinstance(value.get("facts"), Mapping):
            raise ArgumentError(name, shown_argument(given), "a Manifest, or the parsed JSON of one")
        values.append(value)
    return list(_different("", values[0], values[1]))


def _different(path: str, first: Json, second: Json) -> Iterator[str]:
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        for name in dict.fromkeys([*first, *second]):
            inner = f"{path}.{name}" if path else str(name)
            if name not in first or name not in second:
                yield f"{inner}: only in the {'first' if name in first else 'second'}"
            else:
                yield from _different(inner, first[name], second[name])
    elif first != second:
        yield f"{path}: {_beginning(first)} and {_beginning(second)}"


def _beginning(value: Json) -> str:
    return f"{json.dumps(value, ensure_ascii=True):.120}"


def _versions(subject: Subject) -> dict[str, str]:
    import unicodedata

    found = {"tokamata": version.__version__, "unicodedata": unicodedata.unidata_version}
    if subject.program is not None:
        for each in subject.program.program.split(", "):
            package, _, found[package] = each.partition(" ")
    return found


# ---- what the file and the program say of themselves ---------------------------------------------------


def _descriptions(subject: Subject) -> dict[str, Fact]:
    tokens = subject.vocabulary.tokens
    backend = None if subject.program is None else subject.program.inner
    backend = getattr(backend, "backend_tokenizer", backend)
    running = type(getattr(backend, "model", None)).__name__ if hasattr(backend, "model") else None
    stated = subject.part("model").get("type")
    texts = hashlib.sha256()
    for value in tokens:
        texts.update(b"-" if value is None else len(value).to_bytes(4, "little") + value)
    return {
        "family": Fact(subject.family, "by the contents of the source"),
        "model": Fact(running or subject.model, "the program's model, or else the file's", stated),
        "tokens": Fact(
            {
                "ids": len(tokens),
                "of_text": sum(1 for value in tokens if value),
                "empty": sum(value == b"" for value in tokens),
                "without_text": sum(value is None for value in tokens),
                "sha256": texts.hexdigest(),
            },
            "all tokens of the vocabulary",
        ),
        "normalizer": Fact(_shown_part(subject, "normalizer"), "as the file declares it"),
        "pre_tokenizer": Fact(_shown_part(subject, "pre_tokenizer"), "as the file declares it"),
    }


def _shown_part(subject: Subject, name: str) -> Json:
    """A declared part: the types of its steps and a digest of the whole."""
    if subject.encoding is not None or subject.family == "tekken":
        pattern = (
            subject.encoding.pattern
            if subject.encoding is not None
            else str(subject.document.get("config", {}).get("pattern", ""))
        )
        return [{"type": "regex", "pattern": pattern[:_MOST_PROSE]}] if name == "pre_tokenizer" else []
    if subject.sentence_piece is not None:
        model = subject.sentence_piece
        if name == "pre_tokenizer":
            return []
        return {
            "table_of_replacements": model.has_rules,
            "adds_space": model.adds_space,
            "removes_spaces": model.removes_spaces,
        }
    if not subject.document:
        return "unknown"
    part = subject.document.get(name)
    if part is None:
        return []
    text = json.dumps(part, sort_keys=True)
    if len(text) <= _MOST_PROSE:
        return part
    return {"beginning": text[:_MOST_PROSE], "sha256": hashlib.sha256(text.encode()).hexdigest()}


def _truncation(subject: Subject) -> Fact:
    """Whether the program, as it was given, cuts long texts."""
    stated = subject.document.get("truncation") if subject.family == "tokenizer.json" else None
    longest = stated.get("max_length") if isinstance(stated, dict) else None
    shown: Any = getattr(subject.source, "truncation", None)
    if isinstance(shown, dict):
        longest = shown.get("max_length")
    return Fact(longest or False, "as the file or the object declares it; here texts are never cut")


def _bytes(subject: Subject) -> dict[str, Fact]:
    """How code points without a token are written, and whether tokens named ``<0xF0>`` write them."""
    program = subject.program
    stated: Json = None
    if subject.family == "tokenizer.json" and subject.model == "BPE":
        stated = subject.part("model").get("byte_fallback") is True
    elif subject.sentence_piece is not None:
        stated = len(subject.sentence_piece.bytes) == 256
    elif subject.family in ("tiktoken", "tekken"):
        stated = False
    if program is None:
        return {
            "byte_fallback": not_measured(subject.no_program, stated),
            "rare_points": not_measured(subject.no_program),
        }
    ways: set[str] = set()
    falls_back = False
    for text, ids in zip(_RARE, program.encode_many(_RARE), strict=True):
        pieces = [subject.piece(token) for token in ids]
        falls_back |= any(_BYTE_NAME.fullmatch(subject.name_in_file(token)) for token in ids)
        if program.unknown is not None and program.unknown in ids:
            ways.add("unknown token")
        elif b"".join(pieces).strip(b" ") != text.encode():
            ways.add("another text")
        else:
            ways.add("bytes" if any(len(piece) == 1 for piece in pieces) else "larger tokens")
    single = {value for value in subject.vocabulary.tokens if value is not None and len(value) == 1}
    how = f"{len(_RARE)} rare code points, by the program"
    return {
        "byte_fallback": Fact(falls_back, how + ": whether tokens named as '<0xF0>' write them", stated),
        "rare_points": Fact({"written_as": sorted(ways), "single_bytes": len(single)}, how),
    }


def _split_special(subject: Subject) -> Fact:
    """Whether the program reads the names of control tokens as ordinary text."""
    program = subject.program
    stated = getattr(subject.source, "split_special_tokens", None)
    if stated is None:
        stated = getattr(subject.source, "encode_special_tokens", None)
    if program is None:
        return not_measured(subject.no_program, stated)
    special = [one for one in subject.control_tokens if one.special and one.name][:64]
    if not special:
        return not_measured("there are no control tokens with a name", stated)
    read = [
        one.token in ids
        for one, ids in zip(special, program.encode_many([o.name for o in special]), strict=True)
    ]
    return Fact(not any(read), f"the names of {len(special)} control tokens", stated)
