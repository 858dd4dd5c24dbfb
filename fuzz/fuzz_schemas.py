"""Samples texts from the masks of JSON Schemas, in every style, and lets others judge them.

    python -m fuzz.fuzz_schemas --seconds 3600 --seed 1

Schemas are random ones (``tests/support/schemas/random_schemas.py``) and those of MaskBench.  A text is
drawn token by token from the masks, at random and then towards an end.  It must be JSON, have no
name twice in an object, be in the style, and be valid to all judges (``schema_judges.py``).  On the way no
mask is empty; a bit is set if and only if ``advance`` takes the token; ``rollback`` and ``fork`` change
no bit; a matcher of the same schema compiled anew, which has seen nothing else, has the same masks, and so
has one of the schema written differently.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

import tokamata as tk
from fuzz import timed
from tests.support.masks import allowed, bits
from tests.support.paths import MASKBENCH
from tests.support.schemas import json_texts
from tests.support.schemas.schema_judges import Judges, asked
from tests.support.schemas.schema_sources import Schemas, written_differently
from tests.support.vocabularies import BYTES

LIMITS = tk.Limits(states=100_000, memory_bytes=1 << 27, seconds=3.0)
PIECES = [
    b'{"', b'": ', b'", "', b'"}', b"}}", b'"]', b"[]", b"{}", b"], ", b'":', b'","', b"\n  ", b"\n\t", b"  ",
    b"10", b"1.5", b"e+", b"0.", b"-1", b"true", b"false", b"null", b'"a"', b'"a": ', b'"ab', b"abc",
    b"\\u00", b"\\n", b"d83d", "é".encode(), "😀".encode(), b"\xf0\x9f", b"}\n", b'"},"',
    b"aaaaaaaa", b"2024-", b"://", b'{"a": 1}',
]  # fmt: skip
VOCABULARIES: list[list[bytes | None]] = [
    [*BYTES],
    [*BYTES, *PIECES, b"", None],
    [*(bytes([one]) for one in b'{}[]":, \nabc0123456789-.truefalsn'), *PIECES],
]
STEPS = 40
MOST_STEPS = 200  # towards the end, before a shortest way is searched
STYLES = [
    {"property_order": order, "whitespace": whitespace, "spelling": spelling}
    for order in ("schema", "any")
    for whitespace in ("compact", "natural", "any")
    for spelling in ("plain", "any")
]

Mask = npt.NDArray[np.int32]


@dataclass
class Tally(timed.Tally):
    """What was done.

    Attributes:
        tried, refused, empty, limited: schemas; those that were not taken, that have no text in the
            vocabulary, or came to a limit.
        texts, unfinished: texts that were sampled; those whose end could not be found within the limits.
        judged: verdicts of the table, and of the validators.
        unsaid: verdicts that were not given, by the reason.
        compared: masks that were compared with those of another compilation.
    """

    tried: int = 0
    refused: int = 0
    empty: int = 0
    limited: int = 0
    texts: int = 0
    unfinished: int = 0
    judged: int = 0
    compared: int = 0
    unsaid: Counter[str] = field(default_factory=Counter)


def check_place(matcher: tk.Matcher, live: set[int], chooser: random.Random) -> None:
    """What must hold wherever a matcher stands."""
    vocabulary = matcher.compiled.vocabulary
    before, mask, tokens = np.array(matcher.mask), matcher.mask, matcher.tokens
    assert live or matcher.is_accepting, f"a dead end after {matcher.text!r}"
    assert bool(live & set(vocabulary.stop)) == matcher.is_accepting
    probes = {chooser.randrange(vocabulary.width) for _ in range(4)}
    for token in probes | set(chooser.sample(sorted(live), min(3, len(live)))):
        forked = matcher.fork()
        assert forked.advance(token) == (token in live), (matcher.text, token, token in live)
        if token in live:
            assert allowed(forked) or forked.is_accepting, f"a dead end after {forked.text!r}"
            forked.rollback(1)
        assert np.array_equal(forked.mask, before), (matcher.text, token, "rollback")
        assert matcher.tokens == tokens
    assert np.array_equal(matcher.mask, before)
    assert np.array_equal(mask, before), "a view has changed"


def sample(matcher: tk.Matcher, chooser: random.Random, hints: list[bytes]) -> tuple[list[Mask], bool]:
    """Draws a text: its masks, and whether its end was found.  ``hints`` are names of the schema."""
    vocabulary = matcher.compiled.vocabulary
    masks: list[Mask] = []
    for step in range(chooser.randrange(STEPS)):
        live = allowed(matcher)
        masks.append(matcher.mask)
        if step % 4 == 0:
            check_place(matcher, live, chooser)
        choices = sorted(live - set(vocabulary.stop))
        if not choices or (matcher.is_accepting and chooser.random() < 0.3):
            return masks, True
        # Half of the time those that are written in JSON's own signs, since names and strings have no end.
        signs = [token for token in choices if not set(vocabulary[token] or b"a") - set(b'{}[]":, 01')]
        pool = signs if signs and chooser.random() < 0.5 else choices
        assert matcher.advance(chooser.choice(pool)), f"refused, and in the mask, after {matcher.text!r}"
    for _ in range(MOST_STEPS):
        if matcher.is_accepting:
            return masks, True
        live = allowed(matcher)
        assert live, f"a dead end after {matcher.text!r}"
        masks.append(matcher.mask)
        assert matcher.advance(towards_the_end(matcher, live, chooser, hints))
    try:
        completion = matcher.shortest_completion()
    except tk.LimitExceeded:
        return masks, False
    for token in completion:
        masks.append(matcher.mask)
        assert matcher.advance(token), (matcher.text, completion)
    assert matcher.is_accepting
    return masks, True


def towards_the_end(matcher: tk.Matcher, live: set[int], chooser: random.Random, hints: list[bytes]) -> int:
    """A token that goes on with a name of the schema, or closes something; one at random where none does."""
    vocabulary = matcher.compiled.vocabulary
    by_text = {vocabulary[token]: token for token in live}
    begun = open_string(matcher.text)
    if not begun and (b"}" in by_text or b"]" in by_text):
        return by_text.get(b"}") or by_text[b"]"]
    for rest in (hint[len(begun) :] for hint in hints if hint.startswith(begun)):
        for length in range(len(rest), 0, -1):
            if rest[:length] in by_text:
                return by_text[rest[:length]]
    for closing in (b'"', b":", b",", b"0", b"1"):
        if closing in by_text:
            return by_text[closing]
    return chooser.choice(sorted(live))


def open_string(text: bytes) -> bytes:
    """The string that is not closed yet, from its quote on; empty where there is none."""
    start, escaped = -1, False
    for place, byte in enumerate(text):
        if escaped:
            escaped = False
        elif byte == ord("\\") and start >= 0:
            escaped = True
        elif byte == ord('"'):
            start = place if start < 0 else -1
    return text[start:] if start >= 0 else b""


def names(schema: Any) -> set[bytes]:
    """Names that the schema has, as JSON text."""
    if isinstance(schema, list):
        return {name for part in schema for name in names(part)}
    if not isinstance(schema, dict):
        return set()
    required = schema.get("required")
    found = [*schema.get("properties", ()), *(required if isinstance(required, list) else ())]
    own = {json.dumps(name, ensure_ascii=False).encode("utf-8", "replace") for name in found}
    return own.union(*(names(part) for part in schema.values()))


def compare(compiled: tk.CompiledConstraint, tokens: list[int], masks: list[Mask], what: str) -> int:
    """A matcher that has seen nothing but these tokens has these masks; how many were compared."""
    matcher = compiled.matcher()
    for place, (token, mask) in enumerate(zip(tokens, masks, strict=False)):
        if not np.array_equal(matcher.mask, mask):
            ours = allowed(matcher)
            theirs = bits(mask)
            shown = [compiled.vocabulary[one] for one in sorted(ours ^ theirs)[:8]]
            raise AssertionError(f"{what}: after {matcher.text!r} ({place} tokens) masks differ at {shown}")
        assert matcher.advance(token)
    return min(len(tokens), len(masks))


def trial(schema: Any, chooser: random.Random, tally: Tally, loaded: list[tk.Vocabulary]) -> None:
    """One schema in one style and vocabulary: some texts."""
    options: dict[str, Any] = {**chooser.choice(STYLES), "formats": chooser.choice(["assert", "annotate"])}
    vocabulary = chooser.choice(loaded)

    def compiled(one: Any) -> tk.CompiledConstraint:
        return tk.json_schema(one, **options).compile(vocabulary, limits=LIMITS)

    first = compiled(schema)
    judges = Judges(schema, options["formats"] == "assert")
    style = tk.json_schema(schema, **options).style
    hints = sorted(names(schema))
    for _ in range(3):
        matcher = first.matcher()
        masks, ended = sample(matcher, chooser, hints)
        tokens = [token for token in matcher.tokens if token not in vocabulary.stop]
        if not ended:
            tally.unfinished += 1
        elif not matcher.is_accepting:
            raise AssertionError(f"a dead end after {matcher.text!r}")
        else:
            tally.texts += 1
            text = matcher.text.decode()
            value = json_texts.read(text)
            json_texts.check_style(text, style)
            if style.property_order == "schema":
                json_texts.check_order(schema, value)
            for judge in (judges.by_table, judges.by_validators):
                verdict = asked(judge, value, tally.unsaid)
                assert verdict is not False, f"invalid {judge.__name__}: {text!r}"
                tally.judged += verdict is not None
        tally.compared += compare(compiled(schema), tokens, masks, "compiled anew")
        if style.property_order == "any":
            other = written_differently(schema, chooser)
            if other is not None:
                tally.compared += compare(compiled(other), tokens, masks, f"written as {other}")


def vocabularies() -> list[tk.Vocabulary]:
    """The small ones."""
    return [
        tk.Vocabulary.load([*tokens, None, None], stop=[len(tokens), len(tokens) + 1], width=len(tokens) + 5)
        for tokens in VOCABULARIES
    ]


def real_vocabularies() -> list[tk.Vocabulary]:
    """Llama 3.1 and Gemma 3, where they are."""
    from fuzz.schema_exactness import hugging_face  # late: it needs the package tokenizers

    folder = MASKBENCH.parent / "tokenizers"
    known = (("llama-3.1", "<|eot_id|>"), ("gemma-3", "<eos>"))
    paths = [(folder / f"{name}.json.gz", stop) for name, stop in known]
    return [hugging_face(path, stop)[0] for path, stop in paths if path.exists()]


def run(
    seconds: float,
    seed: int,
    loaded: list[tk.Vocabulary] | None = None,
    source: Callable[[random.Random], Any] | None = None,
) -> Tally:
    """Fuzzes for so long; returns what was done.

    Args:
        seconds: for how long.
        seed: of everything.
        loaded: vocabularies; by default small ones, and real ones where they are on the machine.
        source: of schemas; by default random ones, and MaskBench's where they are.
    """
    loaded, source = loaded or [*vocabularies(), *real_vocabularies()], source or Schemas(MASKBENCH)
    tally = Tally()
    for turn in timed.turns(seconds):
        tally.tried = turn
        chooser = random.Random(f"{seed} {turn}")
        schema = source(chooser)
        with timed.naming(f"seed {seed}, schema {turn}", schema):
            try:
                trial(schema, chooser, tally, loaded)
            except (tk.EmptyConstraintError, tk.UnspellableError):
                tally.empty += 1
            except tk.LimitExceeded:
                tally.limited += 1
            except tk.TokamataError:
                tally.refused += 1
    return tally


if __name__ == "__main__":
    timed.main(__doc__, run)
