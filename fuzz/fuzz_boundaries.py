"""Throws small tokenizers at the guard; judged by all texts of up to six characters.

    python -m fuzz.fuzz_boundaries --tokenizers 500 --seed 1

For each family (``tests/support/tokenizers/tokenizer_families.py``) so many tokenizers.  For each of them
all texts over at most four characters are encoded by the tokenizer's own program, with names of special
tokens read, and as ordinary text.  Against these are held, in both readings: ``guard.boundary`` for texts,
names of added tokens and small sets of texts, for any text and within some; ``guard.seams`` for literal texts
around one slot or two, after a control token too; and the automaton and the masks of canonical tokenization.

- A proof that a text refutes, and a witness that the program does not write so, are *faults*; the program
  ends with 1.  Within a finite set of texts, the verdict must be exact.
- A witness that is longer than a text that refutes the claim is counted, and so is what is not settled.

Seams: a text that the tokenizer does not reproduce alone is outside of the claim, except for models of words;
how many of those differ is counted too.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from tokenizers import Tokenizer

import tokamata as tk
from fuzz import timed
from tests.support.constraints import up_to
from tests.support.masks import bits
from tests.support.texts import all_texts
from tests.support.tokenizers.random_tokenizers import PATTERNS
from tests.support.tokenizers.tokenizer_families import FAMILIES, of_family
from tests.support.tokenizers.written_texts import Question, WrittenTexts, is_violated, occurrences
from tokamata import guard
from tokamata.guard.token_edges import ControlTokens, TokenEdges

LONGEST = 6
LIMITS = tk.Limits(states=300_000, seconds=20.0)
_ANY = "(?s:.*)"
_SLOTS = [_ANY, _ANY, r"(?s:\S(?:.*\S)?)?", r"(?s:.+)", r"(?s:[^\s].*)?", *PATTERNS]
_MEMBERS = ["a[ab]?", "[ab ]{2}", "ab|b", " ?a", "a|aa|b ", r"<.?>?", "(?s:.){2}"]
_SETTLED = ("proved", "witness")


@dataclass
class Tally(timed.Tally):
    """What was done, and what was found.

    Attributes:
        tokenizers: by family.
        unsupported: by family, tokenizers that canonical tokenization refuses.
        refusals: why, by family and part.
        texts: encoded by the tokenizers' programs.
        outcomes: of verdicts, by question and outcome.
        longer: witnesses that are longer than a text that refutes the claim, by question.
        outside: slots of proved seams with texts that are not reproduced alone and that differ.
        sequences, masks: of canonical tokenization, compared.
        faults: by question; they are printed.
    """

    tokenizers: Counter[str] = field(default_factory=Counter)
    unsupported: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    texts: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    longer: Counter[str] = field(default_factory=Counter)
    unsettled: Counter[str] = field(default_factory=Counter)
    outside: int = 0
    sequences: int = 0
    masks: int = 0
    faults: Counter[str] = field(default_factory=Counter)

    def counted(self, question: str, verdict: guard.Verdict) -> None:
        """Counts one verdict."""
        self.outcomes[f"{question}: {verdict.outcome}"] += 1
        if verdict.outcome == "not settled":
            self.unsettled[f"{question}: {_without_texts(verdict.reason):.90}"] += 1


def _without_texts(reason: str) -> str:
    return re.sub("b?[\"'].*[\"']|<.*>", "…", reason)


class _Trial:
    """One tokenizer, in one reading."""

    def __init__(self, tokenizer: Tokenizer, alphabet: str, reading: ControlTokens, where: str) -> None:
        self.tokenizer, self.alphabet, self.reading = tokenizer, alphabet, reading
        self.edges = TokenEdges.of(tokenizer, reading)
        self.written = WrittenTexts(tokenizer, alphabet, LONGEST, reading == "text", self._pieces_of)
        self.added = {entry.content: token for token, entry in tokenizer.get_added_tokens_decoder().items()}
        self.normalizer = normalizer_of(tokenizer)
        self.where = f"{where}, control tokens {reading}"

    def encoded(self, text: str) -> list[int]:
        """The ids of any text."""
        return self.written.encoded([text])[0]

    def _pieces_of(self, ids: list[int]) -> tuple[bytes, ...]:
        """The bytes of tokens; control tokens have none where their names are ordinary text."""
        tokens = self.edges.vocabulary.tokens
        if self.reading == "text" and any(tokens[token] is None for token in ids):
            return ()
        return self.edges.pieces_of(ids)


class Campaign:
    """Holds verdicts against texts.

    Args:
        tally: counts what is done.
        boundaries, templates: how many are drawn for each tokenizer and reading.
    """

    def __init__(self, tally: Tally, boundaries: int = 7, templates: int = 6) -> None:
        self.tally, self._boundaries, self._templates = tally, boundaries, templates

    def tokenizer(self, family: str, seed: int) -> None:
        """Draws a tokenizer and asks everything of it."""
        tokenizer, alphabet = of_family(family, seed)
        where = f"of_family({family!r}, {seed})"
        draw = random.Random(seed)
        try:
            text = _Trial(tokenizer, alphabet, "text", where)
            # Without names of control tokens the two readings are the same.
            read = _Trial(tokenizer, alphabet, "read", where) if text.edges.control_names else text
        except (tk.UnsupportedTokenizerError, tk.VocabularyError) as error:
            self.tally.unsupported[family] += 1
            self.tally.refusals[f"{family}: {_without_texts(str(error)):.110}"] += 1
            return
        except tk.TokenizerMismatchError as error:  # nobody has changed it
            self.tally.faults["self-test"] += 1
            print(f"FAULT {where}: {error}", flush=True)
            return
        self.tally.tokenizers[family] += 1
        for trial in dict.fromkeys([read, text]):
            self.tally.texts += len(trial.written.ids)
            tokens = trial.edges.vocabulary.tokens
            for one in trial.written.differing:
                ids = trial.written.ids[one]
                if all(tokens[token] is not None for token in ids):  # the decoder changes some names
                    self._fault(trial, f"decoding of {one!r}: {ids} are decoded otherwise")
            for b in self._drawn_boundaries(trial, draw):
                with self._no_error(trial, f"boundary of {b!r}"):
                    self.boundary(trial, b, draw)
        for _ in range(self._templates):
            template = self._drawn_template(text, draw)
            with self._no_error(text, f"seams of {template!r}"):
                self.seams(read, text, template)
        with self._no_error(read, "canonical of all texts"):
            self.canonical(read, draw)

    @contextmanager
    def _no_error(self, trial: _Trial, what: str) -> Iterator[None]:
        """An error is a fault, too."""
        try:
            yield
        except Exception as error:
            self._fault(trial, f"error in {what}: {type(error).__name__}: {error!s:.200}")

    def _fault(self, trial: _Trial, what: str) -> None:
        self.tally.faults[what.partition(" of ")[0]] += 1
        print(f"FAULT {trial.where}: {what}", flush=True)

    # ---- boundaries ---------------------------------------------------------------------------------

    def _drawn_boundaries(self, trial: _Trial, draw: random.Random) -> Iterator[str | re.Pattern[str]]:
        yield from {name for name in trial.added if set(name) <= set(trial.alphabet)}
        for size in (1, 1, 2, 2, 3, 3, 4)[: self._boundaries - 1]:
            yield "".join(draw.choices(trial.alphabet, k=size))
        yield re.compile(draw.choice(_MEMBERS))

    def boundary(self, trial: _Trial, b: str | re.Pattern[str], draw: random.Random) -> None:
        """One boundary, in any text and in short ones, against all short texts."""
        written = trial.written
        value: str | tk.Constraint[Any]
        if isinstance(b, str):
            members, value = [b], b
        else:
            members = [text for text in all_texts(trial.alphabet, LONGEST, 1) if b.fullmatch(text)]
            value = tk.regex(b.pattern)
            if not members:
                return
        ask: dict[str, Any] = {"control_tokens": trial.reading, "limits": LIMITS}
        anywhere = guard.boundary(trial.tokenizer, value, **ask)
        pattern = draw.choice([None, None, None, "", *PATTERNS])
        within = None if pattern is None else tk.regex(pattern) if pattern else up_to(trial.alphabet, LONGEST)
        inside = None if within is None else guard.boundary(trial.tokenizer, value, within=within, **ask)
        found = [
            (text, borders, spans)
            for text, borders in written.reproduced.items()
            if (spans := list(occurrences(text, members)))
        ]
        questions: dict[str, Question] = {
            "crossed_left": "left",
            "crossed_right": "right",
            "one_token": "one token",
        }
        for name, question in questions.items():
            refuting = [
                text
                for text, borders, spans in found
                if any(is_violated(borders, *s, question) for s in spans)
            ]
            self._judge(trial, b, name, getattr(anywhere, name), refuting, members, question, False)
            if inside is not None:
                chosen = [text for text in refuting if not pattern or re.fullmatch(pattern, text)]
                verdict = getattr(inside, name)
                self._judge(trial, b, f"{name} within", verdict, chosen, members, question, not pattern)
        self._judge_reproduced(trial, b, "reproduced", anywhere.reproduced, members, False)
        if inside is not None and not pattern:
            self._judge_reproduced(trial, b, "reproduced within", inside.reproduced, members, True)
        if isinstance(b, str):
            self._judge_from_text(trial, b, anywhere)
            self._judge_normalized(trial, b, anywhere)

    def _judge(
        self,
        trial: _Trial,
        b: Any,
        name: str,
        verdict: guard.Verdict,
        refuting: list[str],
        members: list[str],
        question: Question,
        is_exact: bool,
    ) -> None:
        self.tally.counted(name, verdict)
        said = f"{name} of {b!r}: {verdict.outcome}"
        if verdict.outcome == "proved" and refuting:
            self._fault(trial, f"{said}, but {refuting[0]!r} is written {self._shown(trial, refuting[0])}")
        witness = verdict.witness
        if witness is None:
            return
        text = witness.text.decode()
        ids = trial.encoded(text)
        borders = trial.written.borders_of(text, ids)
        found = list(occurrences(text, members))
        if not isinstance(b, str):  # its other members
            found = [
                (len(text[:i].encode()), len(text[:j].encode()))
                for i, j in itertools.combinations(range(len(text) + 1), 2)
                if b.fullmatch(text[i:j])
            ]
        if (
            ids != list(witness.tokens)
            or borders is None
            or not any(is_violated(borders, *span, question) for span in found)
        ):
            self._fault(trial, f"{said}, {witness}, but the program writes {ids}")
        if refuting and len(witness.text) > len(refuting[0].encode()):
            self.tally.longer[name] += 1
        if is_exact and not refuting:
            self._fault(trial, f"{said}, {witness}, but no short text refutes it")

    def _shown(self, trial: _Trial, text: str) -> tuple[bytes, ...]:
        return trial.edges.pieces_of(trial.written.ids[text])

    def _judge_reproduced(
        self, trial: _Trial, b: Any, name: str, verdict: guard.Verdict, members: list[str], is_exact: bool
    ) -> None:
        self.tally.counted(name, verdict)
        texts = trial.written.reproduced
        some = next((text for text in texts if any(member in text for member in members)), None)
        if some is not None and "decoded to another" in verdict.reason:
            self._fault(trial, f"{name} of {b!r}: {verdict.reason}, but {some!r} is reproduced")
        if is_exact and verdict.outcome == "proved" and some is None:
            self._fault(trial, f"{name} of {b!r}: {verdict.reason}, but no short text is")

    def _judge_from_text(self, trial: _Trial, b: str, found: guard.Boundary) -> None:
        verdict = found.from_text
        self.tally.counted("from_text", verdict)
        token = trial.added.get(b)
        written = [text for text, ids in trial.written.ids.items() if token is not None and token in ids]
        if verdict.outcome == "proved" and written:
            text = written[0]
            self._fault(trial, f"from_text of {b!r}: proved, but {text!r} is {trial.written.ids[text]}")
        if verdict.witness is not None and token not in trial.encoded(verdict.witness.text.decode()):
            self._fault(trial, f"from_text of {b!r}: {verdict.witness}, but the program does not write it")

    def _judge_normalized(self, trial: _Trial, b: str, found: guard.Boundary) -> None:
        change, prefix = trial.normalizer
        self.tally.counted("kept", found.kept)
        self.tally.counted("not_made", found.not_made)
        names = sorted(trial.edges.cut_names, key=len, reverse=True)
        name = re.compile(f"({'|'.join(map(re.escape, names))})" if names else "(?!)")
        is_cut_out = "cut out" in found.kept.reason

        def is_lost(text: str) -> bool:
            """Added tokens are cut out, leftmost and longest; what is between them is normalized."""
            if is_cut_out or found.kept.witness is not None:
                pieces = (piece if piece in names else change(piece) for piece in name.split(text))
                changed = "".join(pieces)
                if len(_overlapping(b, changed)) < len(_overlapping(b, text)):
                    return True
            return not is_cut_out and any(
                change(text) != change(text[:at]) + b + change(text[at + len(b) :])
                for at in _overlapping(b, text)
            )

        def is_made(text: str) -> bool:
            return b not in text and b in prefix(change(text))

        texts = list(trial.written.ids)
        if found.kept:
            lost = next((text for text in texts if b in text and is_lost(text)), None)
            if lost is not None:
                self._fault(trial, f"kept of {b!r}: {found.kept.reason}, but not in {lost!r}")
        elif found.kept.witness is not None:
            text = found.kept.witness.text.decode()
            if b not in text or not is_lost(text) or (b in names and trial.added[b] in trial.encoded(text)):
                self._fault(trial, f"kept of {b!r}: {found.kept.witness}, but it is kept there")
        if found.not_made:
            made = next(filter(is_made, texts), None)
            if made is not None:
                self._fault(trial, f"not_made of {b!r}: {found.not_made.reason}, but {made!r} becomes it")
        elif found.not_made.witness is not None and not is_made(found.not_made.witness.text.decode()):
            self._fault(trial, f"not_made of {b!r}: {found.not_made.witness}, but it is not made there")

    # ---- seams --------------------------------------------------------------------------------------

    def _drawn_template(self, trial: _Trial, draw: random.Random) -> list[str]:
        """Literal texts, and slots as patterns, in turn."""
        names = [name for name in trial.edges.control_names if set(name) <= set(trial.alphabet)]

        def literal() -> str:
            return "".join(draw.choices(trial.alphabet, k=draw.choice([0, 1, 1, 2])))

        parts = [literal(), draw.choice(_SLOTS), literal()]
        if draw.random() < 0.3:
            parts += [draw.choice(_SLOTS), literal()]
        if names and draw.random() < 0.4:
            parts[0] = draw.choice(names) + parts[0]
        return parts

    def seams(self, read: _Trial, text_trial: _Trial, template: list[str]) -> None:
        """One template whose parts are literal texts and patterns of slots, in turn."""
        names = text_trial.edges.control_names
        first = next(iter(text_trial.edges.split_controls(template[0])), ("", False))
        control = first[0] if first[1] else None
        rest = template[0][len(control or "") :]
        literals = [rest, *template[2::2]]
        if any(name in literal for name in names for literal in literals):
            return  # other stretches
        slots = [tk.regex(pattern) for pattern in template[1::2]]
        given = [part if number % 2 == 0 else slots[number // 2] for number, part in enumerate(template)]
        found = guard.seams(text_trial.tokenizer, given, limits=LIMITS)
        verdict = found.stretches[-1].verdict
        name = f"seams of {len(slots)} slots" + (" after a control token" if control else "")
        self.tally.counted(name, verdict)
        if verdict.outcome == "proved":
            self._judge_proved(read, text_trial, control, literals, template[1::2], template)
        if verdict.witness is not None:
            self._judge_witness(read, text_trial, control, template, verdict.witness)

    def _judge_proved(
        self,
        read: _Trial,
        trial: _Trial,
        control: str | None,
        literals: list[str],
        patterns: list[str],
        template: list[str],
    ) -> None:
        known = trial.written
        room = LONGEST - sum(map(len, literals))
        choices = [
            [text for text in known.ids if len(text) <= room and re.fullmatch(pattern, text)]
            for pattern in patterns
        ]
        cases = (
            [values for values in itertools.product(*choices) if sum(map(len, values)) <= room]
            if len(patterns) > 1
            else [(value,) for value in choices[0]]
        )
        lists = [self._interleaved(literals, values) for values in cases]
        wholes = ["".join(parts) for parts in lists]
        if control is None:
            encoded = [known.ids[whole] for whole in wholes]
            before = []
        else:
            token = trial.edges.control_names[control]
            before = [token]
            kept = [
                number
                for number, whole in enumerate(wholes)
                if list(trial.edges.split_controls(control + whole))
                == [(control, True), (whole, False)][: 1 + bool(whole)]
            ]
            lists, wholes = [lists[n] for n in kept], [wholes[n] for n in kept]
            encoded = read.written.encoded([control + whole for whole in wholes])
        self.tally.texts += len(wholes)
        for parts, ids in zip(lists, encoded, strict=True):
            expected = [*before, *(token for part in parts for token in known.ids[part])]
            if ids == expected:
                continue
            # The claim about words holds for all texts.
            if trial.edges.letters is not None or all(part in known.reproduced for part in parts):
                self._fault(trial, f"seams of {template!r}: proved, but {parts}: {ids} is not {expected}")
                return
            self.tally.outside += 1

    @staticmethod
    def _interleaved(literals: list[str], values: tuple[str, ...]) -> list[str]:
        parts = [literals[0]]
        for value, literal in zip(values, literals[1:], strict=True):
            parts += [value, literal]
        return [part for part in parts if part]

    def _judge_witness(
        self, read: _Trial, trial: _Trial, control: str | None, template: list[str], witness: guard.Witness
    ) -> None:
        """Some way to cut its text into parts, whose tokens are not those of the whole."""
        text = witness.text.decode()
        literals = [template[0][len(control or "") :], *template[2::2]]
        patterns = template[1::2]
        cuts = list(_cuts(text, literals, patterns))
        parts = [part for cut in cuts for part in cut]
        alone = dict(zip(parts, trial.written.encoded(parts), strict=True))
        if control is None:
            whole = trial.encoded(text)
            before = []
        else:
            whole = read.encoded(control + text)
            before = [trial.edges.control_names[control]]
            if control in text or any(
                name in control + text for name in trial.edges.control_names if name != control
            ):
                return  # the whole would be read otherwise
        if not any(whole != [*before, *(token for part in cut for token in alone[part])] for cut in cuts):
            self._fault(trial, f"seams of {template!r}: {witness}, but the program writes {whole}")

    # ---- canonical tokenization ---------------------------------------------------------------------

    def canonical(self, trial: _Trial, draw: random.Random) -> None:
        """The automaton of all short texts, and masks."""
        tokens = trial.edges.vocabulary.tokens
        expected = {
            tuple(ids)
            for text, ids in trial.written.ids.items()
            if text in trial.written.reproduced and all(tokens[token] is not None for token in ids)
        }
        try:
            compiled = up_to(trial.alphabet, LONGEST).compile(
                trial.edges.vocabulary, tokenization="canonical", limits=LIMITS
            )
        except (tk.NoncanonicalError, tk.EmptyConstraintError, tk.UnspellableError):
            if expected:
                self._fault(trial, f"canonical: nothing, but {min(expected)}")
            return
        automaton = compiled.token_automaton()
        rows = [dict(row) for row in automaton.to_acceptor().rows]
        accepting = automaton.accepting.tolist()
        for ids in expected:
            state: int | None = automaton.start
            for token in ids:
                state = None if state is None else rows[state].get(token)
            if state is None or not accepting[state]:
                self._fault(trial, f"canonical: {ids} is not accepted")
                return
        count = _count(rows, accepting, automaton.start)
        if count != len(expected):
            self._fault(trial, f"canonical: {count} sequences, and not {len(expected)}")
        self.tally.sequences += len(expected)
        following: dict[tuple[int, ...], set[int]] = {}
        for ids in expected:
            for size in range(len(ids)):
                following.setdefault(ids[:size], set()).add(ids[size])
        places = draw.sample(sorted(following), min(10, len(following)))
        for place in places:
            matcher = compiled.matcher()
            if not all(map(matcher.advance, place)) or bits(matcher.mask) != following[place]:
                self._fault(trial, f"canonical: the mask after {place}")
            self.tally.masks += 1


def _cuts(text: str, literals: list[str], patterns: list[str]) -> Iterator[list[str]]:
    """Every way to write a text as literals and texts of slots in turn, without the empty parts."""
    if not text.startswith(literals[0]):
        return
    first, rest = [literals[0]] * bool(literals[0]), text[len(literals[0]) :]
    if not patterns:
        if not rest:
            yield first
        return
    for end in range(len(rest) + 1):
        if re.fullmatch(patterns[0], rest[:end]):
            for after in _cuts(rest[end:], literals[1:], patterns[1:]):
                yield [*first, *[rest[:end]] * bool(end), *after]


def _overlapping(b: str, text: str) -> list[int]:
    return [match.start() for match in re.finditer(f"(?={re.escape(b)})", text)]


def _count(rows: list[dict[int, int]], accepting: list[bool], start: int) -> int:
    """How many sequences an acyclic automaton accepts."""
    counts: dict[int, int] = {}

    def count(state: int) -> int:
        if state not in counts:
            counts[state] = accepting[state] + sum(map(count, rows[state].values()))
        return counts[state]

    return count(start)


def normalizer_of(tokenizer: Tokenizer) -> tuple[Any, Any]:
    """What a tokenizer does to a text, ``▁`` as a space: without the space before it, and that space."""
    document = json.loads(tokenizer.to_str())
    shown = json.dumps([document["normalizer"], document["pre_tokenizer"]], ensure_ascii=False)
    prepends = '"Prepend"' in shown
    metaspace = '"Metaspace"' in shown and '"prepend_scheme": "never"' not in shown
    byte_level = '"add_prefix_space": true' in shown

    @lru_cache(1 << 15)
    def change(text: str) -> str:
        if tokenizer.normalizer is not None:
            text = tokenizer.normalizer.normalize_str(text)
            text = text.removeprefix("\u2581") if prepends else text
        return text.replace("\u2581", " ") if "\u2581" in shown else text

    def prefix(text: str) -> str:
        is_missing = (metaspace or byte_level) and not text.startswith(" ")
        return " " + text if text and (prepends or is_missing) else text

    return change, prefix


def run(
    seconds: float,
    seed: int,
    tokenizers: int | None = None,
    families: Sequence[str] = tuple(FAMILIES),
    **sizes: int,
) -> Tally:
    """Asks of so many tokenizers of each family in turn, or for so long; returns what was found."""
    tally = Tally()
    campaign = Campaign(tally, **sizes)
    began = printed = time.monotonic()
    for number, family in ((n, family) for n in itertools.count() for family in families):
        refused = [each for each in families if tally.unsupported[each] > 50 > 50 * tally.tokenizers[each]]
        missing = [each for each in families if tally.tokenizers[each] != tokenizers and each not in refused]
        if not missing or time.monotonic() - began > seconds:
            break
        if family not in missing:
            continue
        campaign.tokenizer(family, seed * 1_000_000 + number)
        if time.monotonic() - printed > 120:
            printed = time.monotonic()
            print(
                f"{printed - began:.0f} s: {dict(tally.tokenizers)}, {tally.faults.total()} faults",
                flush=True,
            )
    return tally


def main() -> int:
    """Runs the program; 1 if there is a fault."""
    parser = argparse.ArgumentParser(prog="fuzz.fuzz_boundaries", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--tokenizers", type=int, help="of each family; by default as many as the time allows"
    )
    parser.add_argument("--families", nargs="+", choices=FAMILIES, default=list(FAMILIES))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=3600.0)
    arguments = parser.parse_args()
    tally = run(arguments.seconds, arguments.seed, arguments.tokenizers, arguments.families)
    for name, value in vars(tally).items():
        print(f"{name}:", *(sorted(value.items()) if isinstance(value, Counter) else [value]), sep="\n  ")
    return 1 if tally.faults else 0


if __name__ == "__main__":
    sys.exit(main())
