"""The invariants of the design, as properties of random patterns, vocabularies and walks.

The first two (what a bit means; advance and bits agree) are decided against brute force in
test_oracle.py; here are those that relate one run of the engine to another.
"""

from __future__ import annotations

import random

from hypothesis import assume, given, settings
from hypothesis import strategies as st

import tokamata as tk
from tests.support.masks import allowed
from tests.support.patterns.finite_patterns import ALPHABET, tokens

vocabularies = st.lists(tokens, min_size=1, max_size=6)
seeds = st.integers(0, 2**32)


@st.composite
def patterns(draw: st.DrawFn, depth: int = 3) -> str:
    """A pattern over ALPHABET, bounded or not."""
    kind = draw(st.sampled_from(["literal", "class", "any", "join", "either", "repeat"]))
    if depth == 0 or kind in ("literal", "class", "any"):
        members = "".join(sorted(draw(st.sets(st.sampled_from(ALPHABET), min_size=1))))
        return {"literal": members[0], "any": "."}.get(kind, f"[{members}]")
    first = draw(patterns(depth - 1))
    if kind == "repeat":
        return f"(?:{first})" + draw(
            st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{0,9}", "{3,}", "{2,70}"])
        )
    second = draw(patterns(depth - 1))
    return first + second if kind == "join" else f"(?:{first}|{second})"


def compiled(pattern: str, texts: list[bytes | None], **options: object) -> tk.CompiledConstraint:
    vocabulary = tk.Vocabulary.load([*texts, None], stop=len(texts))
    try:
        return tk.regex(pattern).compile(vocabulary, **options)  # type: ignore[arg-type]
    except tk.UnspellableError:
        assume(False)
        raise


def walk(matcher: tk.Matcher, seed: int, steps: int = 8) -> list[set[int]]:
    """Advances at random; the masks met, the last included.  No mask is ever empty on the way."""
    chooser = random.Random(seed)
    masks = [allowed(matcher)]
    while masks[-1] and len(masks) <= steps:
        token = chooser.choice(sorted(masks[-1]))
        assert matcher.advance(token)
        masks.append(allowed(matcher))
        assert masks[-1] or matcher.is_accepting, "a dead end"
    return masks


@given(patterns(), vocabularies, seeds)
def test_refused_tokens_change_nothing(pattern: str, texts: list[bytes | None], seed: int) -> None:
    matcher = compiled(pattern, texts).matcher()
    walk(matcher, seed, 3)
    live, before = allowed(matcher), (matcher.tokens, matcher.text)
    for token in set(range(len(texts) + 1)) - live:
        assert not matcher.advance(token)
        assert (matcher.tokens, matcher.text) == before
    assert allowed(matcher) == live


@given(patterns(), vocabularies, seeds)
def test_rollback_restores_the_masks(pattern: str, texts: list[bytes | None], seed: int) -> None:
    matcher = compiled(pattern, texts).matcher()
    masks = walk(matcher, seed)
    for mask in reversed(masks[:-1]):
        matcher.rollback(1)
        assert allowed(matcher) == mask
    assert walk(matcher, seed) == masks


@given(patterns(), vocabularies, seeds, seeds)
def test_forks_share_nothing(pattern: str, texts: list[bytes | None], seed: int, other: int) -> None:
    matcher = compiled(pattern, texts).matcher()
    walk(matcher, seed, 3)
    live, text = allowed(matcher), matcher.text
    fork = matcher.fork()
    walk(fork, other)
    assert (allowed(matcher), matcher.text) == (live, text)
    again = matcher.fork()
    walk(matcher, seed)
    assert (allowed(again), again.text) == (live, text)


@given(patterns(), vocabularies, seeds, st.lists(seeds, max_size=4))
def test_masks_do_not_depend_on_what_was_visited(
    pattern: str, texts: list[bytes | None], seed: int, visits: list[int]
) -> None:
    shared = compiled(pattern, texts)
    for visit in visits:
        walk(shared.matcher(), visit)
    tight = compiled(pattern, texts, limits=tk.Limits(memory_bytes=60_000))
    expected = walk(compiled(pattern, texts).matcher(), seed)
    assert walk(shared.matcher(), seed) == expected
    try:
        assert walk(tight.matcher(), seed) == expected
    except tk.LimitExceeded:
        assume(False)


@settings(max_examples=200)
@given(patterns(), patterns(), vocabularies, seeds, st.integers(0, 7))
def test_equal_constraints_give_equal_masks(
    first: str, second: str, texts: list[bytes | None], seed: int, law: int
) -> None:
    x, y = f"(?:{first})", f"(?:{second})"
    left, right = [
        (f"{x}|{y}", f"{y}|{x}"),
        (f"{x}|{x}", x),
        (f"{x}*", f"{x}*{x}*"),
        (f"(?:{x}*)*", f"{x}*"),
        (f"{x}{{2,4}}", f"{x}{x}(?:{x}{x}?)?"),
        (f"{x}+", f"{x}{x}*"),
        (f"(?:{x}{{1,3}}){{2,5}}", f"{x}{{2,15}}"),
        (f"(?:{x}|{y})*", f"(?:{x}*{y}*)*"),
    ][law]
    assert walk(compiled(left, texts).matcher(), seed) == walk(compiled(right, texts).matcher(), seed)
