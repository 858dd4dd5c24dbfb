"""What matchers do besides masks, on grammars of every kind and under every lexer."""

from __future__ import annotations

import random
import threading
from typing import Any

import pytest

import tokamata as tk
from tests.support.masks import allowed, bits, has
from tests.support.matchers import step, takes, write
from tests.support.texts import all_texts
from tests.support.vocabularies import BYTE_VOCABULARY, bytes_and

VOCABULARY = bytes_and(b"ab", b"((", b"))", b"a)", b"+a", b" a", b"if", b"ifa", b"\n  ", b"1+", b"(a")
STOP = set(VOCABULARY.stop)
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "recursive": ('start: "(" start ")" | "a"', {}),
    "left-recursive": ('start: start "+" term | term\nterm: "a" | "(" start ")"', {}),
    "cyclic": ('start: other | "a"\nother: start | start "b"', {}),
    "nullable": ('start: x* y?\nx: "a" | "(" x? ")"\ny: "b" y?', {"lexer": "characters"}),
    "ambiguous": ('start: start start | "a" | start "+" start', {}),
    "right-recursive": ('start: "a" start | "b"', {"lexer": "basic"}),
    "palindromes": ('root ::= "a" root "a" | "b" root "b" | "" | "+"', {"syntax": "gbnf"}),
    "keywords": ('start: "if" NAME | NAME "+" NAME\nNAME: /[a-z]+/\n%ignore " "', {}),
    "keywords, basic": ('start: "if" NAME | NAME "+" NAME\nNAME: /[a-z]+/\n%ignore " "', {"lexer": "basic"}),
    "keywords, contextual": (
        'start: "if" NAME | NAME "+" NAME\nNAME: /[a-z]+/\n%ignore " "',
        {"lexer": "contextual"},
    ),
    "keywords, longest": (
        'start: "if" NAME | NAME "+" NAME\nNAME: /[a-z]+/\n%ignore " "',
        {"lexer": "longest"},
    ),
    "blocks": (
        "start: item+\nitem: /[ab]/ _NL [_INDENT item+ _DEDENT]\n_NL: /(\\n[ ]*)+/\n%declare _INDENT _DEDENT",
        {},
    ),
    "within a regular set": ('start: "(" start ")" | "a"', {"within": r"(\(\()*a\)*"}),
}


def constraint_of(kind: str) -> tk.Constraint[Any]:
    source, options = KINDS[kind]
    within = options.get("within")
    grammar = tk.grammar(source, **{key: value for key, value in options.items() if key != "within"})
    return grammar if within is None else grammar & tk.regex(within)


def compiled(kind: str, **options: Any) -> tk.CompiledConstraint[Any]:
    return constraint_of(kind).compile(VOCABULARY, **options)


@pytest.mark.parametrize("kind", KINDS)
def test_rollbacks_and_forks_lead_to_the_state_of_the_text(kind: str) -> None:
    draw = random.Random(kind)
    used = compiled(kind)
    matcher = used.matcher()
    for _ in range(150):
        choice = draw.random()
        if choice < 0.3 and matcher.tokens:
            matcher.rollback(draw.randint(1, len(matcher.tokens)))
        elif choice < 0.4:
            before, fork = matcher.tokens, matcher.fork()
            step(fork, draw)
            assert matcher.tokens == before
        else:
            step(matcher, draw)
        fresh = compiled(kind).matcher() if draw.random() < 0.1 else used.matcher()
        for token in matcher.tokens:
            assert fresh.advance(token)
        assert allowed(fresh) == allowed(matcher), matcher.text
        assert fresh.is_accepting == matcher.is_accepting


@pytest.mark.parametrize("kind", KINDS)
def test_explanations_agree_with_masks_and_with_bytes(kind: str) -> None:
    draw = random.Random(kind)
    matcher = compiled(kind).matcher()
    for _ in range(12):
        mask = allowed(matcher)
        bytes_after: dict[bytes, set[int]] = {}
        for token, text in enumerate(VOCABULARY.tokens):
            why = matcher.explain(token)
            assert why.allowed == (token in mask)
            if text is None or why.rule != "byte":
                continue
            assert not matcher.fork().advance(token)
            before = text[: why.offset]
            if before not in bytes_after:
                fork = matcher.fork()
                assert all(map(fork.advance, before))
                bytes_after[before] = {byte for byte in range(256) if fork.fork().advance(byte)}
            assert set(why.expected) == bytes_after[before]
            assert text[why.offset] not in why.expected
        if not step(matcher, draw):
            break


@pytest.mark.parametrize("kind", KINDS)
def test_forced_text_is_the_only_way(kind: str) -> None:
    draw = random.Random(kind)
    matcher = compiled(kind).matcher()
    for _ in range(15):
        forced = matcher.forced_text()
        fork = matcher.fork()
        for byte in forced:
            nexts = {code for code in range(256) if fork.fork().advance(code)}
            assert nexts == {byte}
            assert not fork.is_accepting
            assert fork.advance(byte)
        nexts = {code for code in range(256) if fork.fork().advance(code)}
        assert len(nexts) != 1 or fork.is_accepting
        if not step(matcher, draw):
            break


@pytest.mark.parametrize("kind", KINDS)
def test_a_shortest_completion_is_shortest(kind: str) -> None:
    """Compared with all sequences of tokens, the shorter ones first."""
    draw = random.Random(kind)
    matcher = compiled(kind).matcher()
    for _ in range(8):
        completion = matcher.shortest_completion()
        assert takes(matcher, completion)
        layer = [matcher.fork()]
        for length in range(min(len(completion), 3)):
            assert not any(one.is_accepting for one in layer), (matcher.text, completion, length)
            nexts: dict[bytes, tk.Matcher] = {}
            for one in layer:
                for token in allowed(one) - STOP:
                    fork = one.fork()
                    assert fork.advance(token)
                    nexts.setdefault(fork.text, fork)
            layer = list(nexts.values())[:400]
        if not step(matcher, draw):
            break


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_texts_end_within_their_budget(kind: str, seed: int) -> None:
    draw = random.Random(seed)
    matcher = compiled(kind).matcher()
    budget = len(matcher.shortest_completion()) + draw.randint(0, 12)
    for left in range(budget, 0, -1):
        row = matcher.mask.copy()
        matcher.fill_mask(row, budget=left)
        tokens = sorted(bits(row) - STOP)
        assert bits(row) <= allowed(matcher)
        for token in tokens:  # each of them leaves enough for an end
            fork = matcher.fork()
            assert fork.advance(token)
            assert len(fork.shortest_completion()) <= left - 1
        for token in allowed(matcher) - bits(row) - STOP:  # and no other does
            fork = matcher.fork()
            assert fork.advance(token)
            assert len(fork.shortest_completion()) > left - 1
        if not tokens:
            break
        assert matcher.advance(draw.choice(tokens))
    assert matcher.is_accepting


@pytest.mark.parametrize("kind", KINDS)
def test_the_whole_is_an_event_at_the_end(kind: str) -> None:
    constraint = constraint_of(kind)
    matcher = constraint.compile(VOCABULARY).matcher()
    found = matcher.events()
    for token in matcher.shortest_completion():
        assert matcher.advance(token)
        found += matcher.events()
    assert matcher.advance(next(iter(STOP)))
    found += matcher.events()
    assert [event.pointer for event in found] == [""]


@pytest.mark.parametrize("kind", KINDS)
def test_what_masks_hold_is_what_texts_allow(kind: str) -> None:
    """Each token from each short text, by its bytes one after the other."""
    matcher_of = compiled(kind)
    for text in all_texts("a(+", 3):
        matcher = matcher_of.matcher()
        if not all(map(matcher.advance, text.encode())):
            continue
        for token, written in enumerate(VOCABULARY.tokens):
            if written is not None:
                assert has(matcher.mask, token) == _leads_on(matcher, written), (text, written)


def _leads_on(matcher: tk.Matcher, text: bytes) -> bool:
    fork = matcher.fork()
    return all(map(fork.advance, text))


@pytest.mark.parametrize(
    "kind", ["recursive", "left-recursive", "ambiguous", "nullable", "keywords, contextual", "blocks"]
)
def test_limits_end_every_call(kind: str) -> None:
    """A limit that is too small is an error of its own, and what was there before it goes on."""
    for states in (1, 3, 10, 30):
        matcher = None
        try:
            matcher = compiled(kind, limits=tk.Limits(states=states)).matcher()
            draw = random.Random(states)
            while len(matcher.tokens) < 30 and step(matcher, draw):
                matcher.forced_text()
                matcher.shortest_completion()
        except tk.LimitExceeded as error:
            limit = error.limit
        else:
            limit = "states"  # it was enough
        assert limit == "states"
        if matcher is not None:
            assert _takes_up_to(compiled(kind).matcher(), matcher.tokens) == matcher.is_accepting


def _takes_up_to(matcher: tk.Matcher, tokens: list[int]) -> bool:
    assert all(map(matcher.advance, tokens))
    return matcher.is_accepting


def _load_and_compile(cancel: tk.CancelToken) -> None:
    options = "|".join(f'"{number:06}" start "x"' for number in range(1_000))
    while True:
        tk.grammar(f'start: {options} | "y"', cancel=cancel).compile(BYTE_VOCABULARY, cancel=cancel)


def test_a_call_is_cancelled_from_another_thread() -> None:
    token = tk.CancelToken()
    timer = threading.Timer(0.05, token.cancel)
    timer.start()
    with pytest.raises(tk.Cancelled):
        _load_and_compile(token)
    timer.join()


def test_a_hundred_thousand_brackets() -> None:
    """No depth of a text is too much, and each further bracket costs the same."""
    matcher = compiled("left-recursive").matcher()
    write(matcher, b"(" * 100_000)
    assert ord("a") in allowed(matcher)
    matcher.rollback(50_000)
    write(matcher, b"a" + b")" * 50_000)
    assert matcher.is_accepting
    assert ord(")") not in allowed(matcher)
