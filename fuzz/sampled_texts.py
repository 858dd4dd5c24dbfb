"""Texts sampled at random from the masks of many schemas, in real vocabularies: all parse and are valid.

Schemas are those of MaskBench where its file is, of the part of the JSON Schema Test Suite that lies in
tests/data, our own (``schema_cases.json``), and random ones up to the number of ``--schemas``; their order is
drawn by the seed, so that any number of them is a fair sample.  A text is drawn token by token from the
masks, some tokens freely, then towards an end; exact budgets would take a hundred times as long in
vocabularies of this size.  It is judged by what knows no engine: it is UTF-8 and JSON, no object has a name
twice, it is in the style, and the value is valid to the meaning of the table that the schema becomes, and to
`jsonschema` and `jsonschema-rs`, with their own checks of formats.

    python -m fuzz.sampled_texts [--schemas 10000] [--texts 2] [--seed 1] [--seconds S]
    python -m fuzz.sampled_texts --only "random draft7 55"       one again, by its name
"""

from __future__ import annotations

import argparse
import json
import random
import re
import resource
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import tokamata as tk
from fuzz.fuzz_schemas import names, open_string
from fuzz.schema_exactness import SHARED, hugging_face, load
from tests.support.guarded import Died, Guarded
from tests.support.masks import has
from tests.support.paths import DATA
from tests.support.schemas import json_texts
from tests.support.schemas.random_schemas import DRAFTS, RandomSchemas
from tests.support.schemas.schema_judges import Judges, asked
from tests.support.schemas.schema_suite import in_draft

VOCABULARIES = {"llama-3.1": "<|eot_id|>", "gemma-3": "<eos>", "qwen3": "<|im_end|>"}
LIMITS = tk.Limits(seconds=5.0)
HUNG_S = 120.0
FREE = (0, 3, 10, 30, 60)  # tokens that are chosen freely, before an end is looked for
MOST_STEPS = 250  # towards the end
ATTEMPTS = 4  # to find one
_PARTS = re.compile(rb'"(?:[^"\\]|\\.)*("?)|[{}\[\]:,]', re.DOTALL)
SIGNS = frozenset(b'{}[]":, \n01')


@dataclass(frozen=True)
class Source:
    """A schema, and where it is from: a name by which it is found again."""

    name: str
    schema: Any


@dataclass
class Outcome:
    """What became of one schema in one vocabulary.

    Attributes:
        name: of the schema, and of the vocabulary.
        left_out: why there are no texts of it, or not all: the kind of the error, and its message.
        texts, tokens: how many there are.
        unjudged: verdicts that a judge could not give, by the reason.
        failures: what is wrong: the kind, and the text.
    """

    name: str
    left_out: tuple[str, str] | None = None
    texts: int = 0
    tokens: int = 0
    unjudged: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[str, str]] = field(default_factory=list)


class Unfinished(Exception):
    """No end of a text was found in so many steps, though there may be one."""


class Drawn:
    """A vocabulary, and which of its tokens are written in JSON's own signs."""

    def __init__(self, vocabulary: tk.Vocabulary) -> None:
        self.vocabulary = vocabulary
        texts = [vocabulary[token] for token in range(vocabulary.width)]
        signs = np.fromiter((bool(text) and SIGNS.issuperset(text or b"") for text in texts), bool)
        self._signs = np.resize(signs, -(-len(signs) // 32) * 32)
        self._signs[len(signs) :] = False
        self._ids = {text: token for token, text in enumerate(texts) if text}

    def choose(self, row: npt.NDArray[np.int32], chooser: random.Random, signs: bool) -> int | None:
        """A token of the mask, all alike; with ``signs``, one of signs where there is one."""
        live = np.unpackbits(row.view(np.uint8), bitorder="little").astype(bool)
        among = live & self._signs if signs and bool((live & self._signs).any()) else live
        tokens = np.flatnonzero(among)
        return int(tokens[chooser.randrange(len(tokens))]) if len(tokens) else None

    def towards_the_end(self, matcher: tk.Matcher, hints: Hints, chooser: random.Random) -> int | None:
        """A token that closes something, or goes on with a name that is missing; any where none does."""
        row, written = matcher.mask, matcher.text
        begun, used = open_string(written), names_written(written)
        if used is None:
            wanted = [b'"'] if begun else [b"}", b"]", b'"', b":", b",", b"0", b"1", b"null", b"true"]
        else:
            wanted = [] if begun else [b"}"]
            for hint in hints.unused(used, chooser):
                if hint.startswith(begun):
                    wanted += [hint[len(begun) : end] for end in range(len(hint), len(begun), -1)]
            wanted.append(b'"')
        if chooser.random() < 0.05:  # else it may go round in circles
            wanted = []
        for text in wanted:
            token = self._ids.get(text)
            if token is not None and has(row, token):
                return token
        return self.choose(row, chooser, signs=chooser.random() < 0.5)


class Hints:
    """Names of a schema, as JSON text, by which an end is found sooner."""

    def __init__(self, schema: Any) -> None:
        self._required = set(_required(schema))
        self._others = names(schema) - self._required

    def unused(self, used: set[bytes], chooser: random.Random) -> list[bytes]:
        """Those that are not in the object yet; those that some object requires come first."""
        return [
            name
            for group in (self._required, self._others)
            for name in chooser.sample(sorted(group - used), len(group - used))
        ]


def _required(schema: Any) -> Iterator[bytes]:
    if isinstance(schema, (dict, list)):
        for part in schema.values() if isinstance(schema, dict) else schema:
            yield from _required(part)
    if isinstance(schema, dict) and isinstance(schema.get("required"), list):
        yield from names({"required": schema["required"]})


def names_written(text: bytes) -> set[bytes] | None:
    """The names of the object in which the text ends, where a name comes next or is begun; else ``None``."""
    open_objects: list[set[bytes] | None] = []  # None is an array
    name_next = False
    for match in _PARTS.finditer(text):
        part = match[0]
        if match[1] == b"":
            break  # a string that is not closed yet
        if part in b"{[":
            open_objects.append(set() if part == b"{" else None)
        elif part in b"}]":
            open_objects.pop()
        used = open_objects[-1] if open_objects else None
        if name_next and used is not None and part.startswith(b'"'):
            used.add(part)
        name_next = used is not None and part in b"{,"
    return open_objects[-1] if open_objects and name_next else None


def sources(count: int, seed: int, maskbench: Path) -> list[Source]:
    """So many, in an order of the seed."""
    found = [Source(f"own {case['id']}", case["schema"]) for case in _json(DATA / "schema_cases.json")]
    suite = DATA / "json_schema_test_suite" / "tests"
    for path in sorted(suite.rglob("*.json")):
        draft = path.parent.name
        for number, case in enumerate(_json(path)):
            found.append(Source(f"suite {draft}/{path.name} {number}", in_draft(case["schema"], draft)))
    if maskbench.exists():
        found += [Source(f"maskbench {case['id']}", case["schema"]) for case in load(maskbench)]
    for number in range(max(0, count - len(found))):
        draft = list(DRAFTS)[number % len(DRAFTS)]
        found.append(Source(f"random {draft} {number}", RandomSchemas(number, draft).schema()))
    return random.Random(seed).sample(found, min(count, len(found)))


def sample(source: Source, key: str, drawn: Drawn, order: Any, texts: int, seed: int) -> Outcome:
    """Texts of one schema; ``key`` is the name of the vocabulary."""
    found = Outcome(f"{source.name} in {key}, property_order={order}, seed {seed}")
    try:
        constraint = tk.json_schema(source.schema, property_order=order)
        compiled = constraint.compile(drawn.vocabulary, limits=LIMITS)
        judges = Judges(source.schema, formats=True)
    except Exception as error:  # what is not of tokamata's own is a failure, and the next schema is none
        _stopped(found, error, b"")
        return found
    hints = Hints(source.schema)
    for number in range(texts):
        for attempt in range(ATTEMPTS):
            chooser = random.Random(f"{seed} {source.name} {key} {number} {attempt}")
            matcher = compiled.matcher()
            try:
                _draw(matcher, drawn, chooser, hints, signs=number % 2 == 1)
            except Unfinished as error:
                found.left_out = ("unfinished", f"{error}: {matcher.text!r}")
                continue
            except Exception as error:
                _stopped(found, error, matcher.text)
                return found
            found.left_out = None
            found.texts += 1
            found.tokens += len(matcher.tokens)
            found.failures += _judged(matcher.text, constraint.style, judges, found.unjudged)
            break
        if found.left_out:
            break
    return found


def _stopped(found: Outcome, error: Exception, text: bytes) -> None:
    kind = type(error).__name__
    if isinstance(error, tk.TokamataError):
        found.left_out = (kind, str(error))
    else:
        found.failures.append((kind, f"{error}, after {text!r}"))


def _draw(matcher: tk.Matcher, drawn: Drawn, chooser: random.Random, hints: Hints, signs: bool) -> None:
    """Leads the matcher to an accepted text.

    Args:
        matcher: at its start.
        drawn: its vocabulary.
        chooser: of the tokens.
        hints: names of the schema, by which an end is found sooner.
        signs: half of the tokens are chosen among JSON's own signs, where the mask has some; without, few
            texts nest, since nearly all tokens are text of strings.

    Raises:
        AssertionError: a mask and the matcher contradict each other.
        Unfinished: no end was found.
        TokamataError: the work came to a limit.
    """
    free = chooser.choice(FREE)
    for step in range(free + MOST_STEPS):
        if step < free:
            token = drawn.choose(matcher.mask, chooser, signs and chooser.random() < 0.5)
        elif matcher.is_accepting:
            return
        else:
            token = drawn.towards_the_end(matcher, hints, chooser)
        assert token is not None, "a mask is empty"
        assert matcher.advance(token), f"token {token} is in the mask and refused"
        if token in drawn.vocabulary.stop:
            return
    raise Unfinished(f"no end in {len(matcher.tokens)} tokens")


def _judged(text: bytes, style: Any, judges: Judges, unjudged: Counter[str]) -> Iterator[tuple[str, str]]:
    """What is wrong with a text."""
    try:
        value = json_texts.read(text.decode())
        json.loads(text)
    except (AssertionError, ValueError) as error:
        yield "does not parse", str(error)
        return
    try:
        json_texts.check_style(text.decode(), style)
    except AssertionError as error:
        yield "not in the style", str(error)
    for judge in (judges.by_table, judges.by_validators):
        if asked(judge, value, unjudged) is False:
            yield f"invalid {judge.__name__}", repr(text)


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def summary(outcomes: list[Outcome], schemas: int) -> str:
    """The table."""
    counts: Counter[str] = Counter()
    left_out: Counter[str] = Counter()
    for one in outcomes:
        counts["texts"] += one.texts
        counts["tokens"] += one.tokens
        for reason, number in one.unjudged.items():
            counts[f"texts: {reason}"] += number
        for kind, _ in one.failures:
            counts[f"failures: {kind}"] += 1
        if one.left_out:
            left_out[f"left out: {one.left_out[0]}"] += 1
    rows = {"schemas": schemas, "schemas by vocabularies": len(outcomes), **counts}
    rows.update(sorted(left_out.items()))
    return "\n".join(["| | |", "|---|---:|", *(f"| {name} | {count:,} |" for name, count in rows.items())])


def run(
    chosen: list[Source], loaded: Mapping[str, Drawn], texts: int, seed: int, seconds: float
) -> Iterator[Outcome]:
    """Each schema in each vocabulary, until the time (of this and its children) is up; orders alternate."""

    def work(argument: tuple[int, str, int]) -> Outcome:
        number, key, turn = argument
        order = ("schema", "any")[(number + turn) % 2]
        return sample(chosen[number], key, loaded[key], order, texts, seed)

    start = time.monotonic()
    with Guarded(work, HUNG_S) as guarded:
        for number, source in enumerate(chosen):
            if time.monotonic() - start > seconds:
                return
            for turn, key in enumerate(loaded):
                try:
                    yield guarded((number, key, turn))
                except Died as error:
                    yield Outcome(f"{source.name} in {key}", failures=[("died", str(error))])


def _progress(done: int, of: int, failed: int, start: float) -> None:
    """A bar on one line of the terminal."""
    share = done / of
    left = (time.monotonic() - start) / share * (1 - share)
    bar = "#" * int(share * 30)
    line = f"[{bar:30}] {done:,} of {of:,}, {failed} failures, {left:,.0f} s left"
    print(f"\r{line}  ", end="", file=sys.stderr)


def main() -> int:
    """The program; its exit status is 1 where a text fails."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--schemas", type=int, default=10_000)
    parser.add_argument("--texts", type=int, default=2, help="of each schema in each vocabulary")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="no schema is begun after them")
    parser.add_argument("--maskbench", type=Path, default=SHARED / "maskbench-dev.jsonl.xz")
    parser.add_argument("--tokenizers", type=Path, default=SHARED / "tokenizers", help="where they lie")
    parser.add_argument("--vocabularies", nargs="+", choices=list(VOCABULARIES), default=list(VOCABULARIES))
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these schemas")
    parser.add_argument("--verbose", action="store_true", help="print what is left out, too")
    options = parser.parse_args()
    chosen = sources(options.schemas, options.seed, options.maskbench)
    if options.only:
        chosen = [source for source in chosen if source.name in options.only]
    loaded = {
        key: Drawn(hugging_face(options.tokenizers / f"{key}.json.gz", VOCABULARIES[key])[0])
        for key in options.vocabularies
    }
    outcomes: list[Outcome] = []
    failed, start = 0, time.monotonic()
    for one in run(chosen, loaded, options.texts, options.seed, options.seconds):
        outcomes.append(one)
        failed += len(one.failures)
        _progress(len(outcomes), len(chosen) * len(loaded), failed, start)
        for kind, text in one.failures:
            print(f"{one.name}: {kind}: {text[:600]}", flush=True)
        if one.left_out and options.verbose:
            print(f"{one.name}: left out: {': '.join(one.left_out)[:300]}", flush=True)
    print(file=sys.stderr)
    print(summary(outcomes, -(-len(outcomes) // len(loaded))))
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{used.ru_utime + used.ru_stime:,.0f} s of the processor")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
