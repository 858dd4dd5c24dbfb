"""Token edges under canonical tokenization: ``TEXT_TOKEN`` and ``PARAGRAPH_TOKEN``, against all texts.

The judge has two parts, and neither is the engine: the tokenizer's own program writes the one token sequence
of each text, and ``re`` decides whether the sequence is one of the pattern, on a spelling that shows where
tokens begin and end (``|a|ab|``).
"""

from __future__ import annotations

import os
import random
import re
from typing import Any

import pytest

import tokamata as tk
from tests.support.masks import bits
from tests.support.texts import all_texts
from tests.support.tokenizers.canonical_tokenizers import SOURCES
from tests.support.tokenizers.exhaustive_cases import LONGEST, Tokens, at
from tests.support.tokenizers.random_tokenizers import random_tokenizer

_CASES = int(os.environ.get("TOKAMATA_CASES", "10"))
_PLACES = int(os.environ.get("TOKAMATA_PLACES", "30"))  # of one pattern

# A token in that spelling, from bar to bar; and characters, whose bytes any tokens may spell.
T = r"\|[^|]+(?=\|)"
P = r"\|[^|\n\r]+(?=\|)"
A, B, AB = r"\|?a", r"\|?b", r"(?:\|?[ab])"
ANY = r"(?:\|?[\x00-\x7b\x7d-\x7f]|\|?[\xc2-\xdf]\|?[\x80-\xbf]|\|?[\xe0-\xef](?:\|?[\x80-\xbf]){2})"
PATTERNS = {
    "(?P<TEXT_TOKEN>{2})": f"{T}{T}",
    "(?P<TEXT_TOKEN>+)": f"(?:{T})+",
    "(?P<TEXT_TOKEN>{1,3})b": f"(?:{T}){{1,3}}{B}",
    "a(?P<TEXT_TOKEN>)": f"{A}{T}",
    "a(?P<TEXT_TOKEN>)b": f"{A}{T}{B}",
    "(?P<PARAGRAPH_TOKEN>+)": f"(?:{P})+",
    "(?P<PARAGRAPH_TOKEN>)\n(?P<PARAGRAPH_TOKEN>*)": f"{P}\\|?\n(?:{P})*",
    "(?s:.)*(?P<TEXT_TOKEN>)a": f"{ANY}*{T}{A}",
    "(?:(?P<TEXT_TOKEN>)b)*": f"(?:{T}{B})*",
    "[ab]{1,2}(?P<TEXT_TOKEN>)[ab]?": f"{AB}{{1,2}}{T}{AB}?",
    "ab|(?P<TEXT_TOKEN>)b|(?P<TEXT_TOKEN>{3})": f"{A}{B}|{T}{B}|(?:{T}){{3}}",
    "(?s:.){0,2}(?P<TEXT_TOKEN>{2,})": f"{ANY}{{0,2}}(?:{T}){{2,}}",
}


class Case:
    """A tokenizer, a pattern with edges, and all sequences that are canonical for one of its texts."""

    def __init__(
        self, seed: int, pattern: str, texts: dict[Tokens, str], letters: str, vocabulary: tk.Vocabulary
    ):
        self.vocabulary = vocabulary
        self.name = f"{seed}: {pattern!r}"
        # Finite over this alphabet.
        self.constraint = tk.regex(f"(?=[{letters}]{{0,{LONGEST}}}\\Z)(?:{pattern})")
        judge = re.compile(rf"(?:{PATTERNS[pattern]})\|?", re.DOTALL)
        self.sequences = {tokens for tokens, written in texts.items() if judge.fullmatch(written)}
        self.following: dict[Tokens, set[int]] = {}
        for sequence in self.sequences:
            for size in range(len(sequence)):
                self.following.setdefault(sequence[:size], set()).add(sequence[size])
            self.following.setdefault(sequence, set())

    def text(self, before: Tokens, rest: Tokens) -> bytes:
        """What a rest adds to the text."""
        start = self.vocabulary.start_tokens() or self.vocabulary.tokens
        tables = [self.vocabulary.tokens if before or place else start for place in range(len(rest))]
        return b"".join(table[token] or b"" for table, token in zip(tables, rest, strict=True))

    def compiled(self) -> tk.CompiledConstraint[Any] | None:
        """``None`` where nothing is canonical."""
        try:
            compiled = self.constraint.compile(self.vocabulary, tokenization="canonical")
            compiled.matcher()
        except (tk.NoncanonicalError, tk.EmptyConstraintError, tk.UnspellableError):
            return None
        return compiled


def written_sequences(seed: int) -> tuple[dict[Tokens, str], str, tk.Vocabulary]:
    """All canonical sequences of short texts, as ``re`` reads them; the alphabet; the vocabulary."""
    tokenizer, alphabet = random_tokenizer(seed)
    vocabulary = tk.Vocabulary.load(tokenizer, stop=())
    start = vocabulary.start_tokens() or vocabulary.tokens
    found = {}
    for text in all_texts(alphabet, LONGEST):
        tokens = tokenizer.encode(text, add_special_tokens=False).ids
        if tokenizer.decode(tokens, skip_special_tokens=False) != text:
            continue
        if any(vocabulary[token] is None for token in tokens):
            continue
        pieces = [(vocabulary.tokens if place else start)[token] or b"" for place, token in enumerate(tokens)]
        # A first token of which the decoder leaves nothing is no token of the text.
        found[tuple(tokens)] = "|" + "".join(piece.decode("latin-1") + "|" for piece in pieces if piece)
    return found, "".join(map(re.escape, alphabet)), vocabulary


def cases(seed: int) -> list[Case]:
    texts, letters, vocabulary = written_sequences(seed)
    return [Case(seed, pattern, texts, letters, vocabulary) for pattern in PATTERNS]


@pytest.mark.parametrize("seed", range(_CASES))
def test_every_mask(seed: int) -> None:
    draw = random.Random(seed)
    for case in cases(seed):
        compiled = case.compiled()
        assert (compiled is not None) == bool(case.sequences), case.name
        if compiled is None:
            continue
        start = compiled.matcher()
        # In no order: what one place has left in the memos changes no answer of another.
        for place in draw.sample(sorted(case.following), min(len(case.following), _PLACES)):
            following = case.following[place]
            matcher = at(start, place)
            assert bits(matcher.mask) == following, (case.name, place)
            assert matcher.is_accepting == (place in case.sequences), (case.name, place)
            for token in {*following, *draw.sample(range(len(case.vocabulary)), 8)}:
                allowed = token in following
                assert matcher.explain(token).allowed == allowed, (case.name, place, token)
                assert matcher.advance(token) == allowed, (case.name, place, token)
                if allowed:
                    matcher.rollback(1)


@pytest.mark.parametrize("seed", range(1000, 1000 + _CASES // 2))
def test_budgets_and_what_is_forced(seed: int) -> None:
    draw = random.Random(seed)
    for case in cases(seed):
        compiled = case.compiled()
        if compiled is None:
            continue
        start = compiled.matcher()
        row = compiled.allocate_mask()[0]
        for place in draw.sample(sorted(case.following), min(len(case.following), _PLACES // 2)):
            matcher = at(start, place)
            rests = [rest[len(place) :] for rest in case.sequences if rest[: len(place)] == place]
            shortest = min(map(len, rests))
            completion = matcher.shortest_completion()
            assert tuple(completion) in rests, (case.name, place)
            assert len(completion) == shortest, (case.name, place)
            for budget in range(1, LONGEST + 2):
                if shortest > budget:
                    with pytest.raises(tk.BudgetError):
                        matcher.fill_mask(row, budget)
                else:
                    matcher.fill_mask(row, budget)
                    fits = {rest[0] for rest in rests if rest and len(rest) <= budget}
                    assert bits(row) == fits, (case.name, place, budget)
            forced = tuple(matcher.forced_tokens())
            assert all(rest[: len(forced)] == forced for rest in rests), (case.name, place)
            texts = [case.text(place, rest) for rest in rests]
            assert matcher.forced_text() == os.path.commonprefix(texts), (case.name, place)  # noqa: RUF071


@pytest.mark.parametrize("seed", range(2000, 2000 + _CASES // 2))
def test_the_closed_form(seed: int) -> None:
    """The product of the canonical automaton of the texts alone and the plain automaton of the edges."""
    draw = random.Random(seed)
    for case in cases(seed):
        compiled = case.compiled()
        if compiled is None:
            continue
        automaton = compiled.token_automaton()
        plain = case.constraint.compile(case.vocabulary, start_of_text=True).token_automaton()
        for sequence in draw.sample(sorted(case.following), min(len(case.following), 2 * _PLACES)):
            is_accepted = sequence in case.sequences
            assert automaton.accepts(sequence) == is_accepted, (case.name, sequence)
            if is_accepted and (not sequence or case.text((), sequence[:1])):
                assert plain.accepts(sequence), (case.name, sequence)
            longer = (*sequence, draw.randrange(len(case.vocabulary)))
            assert automaton.accepts(longer) == (longer in case.sequences), (case.name, longer)


REAL = {
    "(?P<TEXT_TOKEN>{3})": f"(?:{T}){{3}}",
    "[^|]{0,3}(?P<TEXT_TOKEN>)[^|]{0,4}": f"{ANY}{{0,3}}{T}{ANY}{{0,4}}",
    "the(?P<TEXT_TOKEN>{1,2})ing": rf"\|?t\|?h\|?e(?:{T}){{1,2}}\|?i\|?n\|?g",
    "(?P<PARAGRAPH_TOKEN>{2,5})\n(?P<PARAGRAPH_TOKEN>*)\\.": f"(?:{P}){{2,5}}\\|?\n(?:{P})*\\|?\\.",
}


@pytest.mark.parametrize(
    ("name", "pattern"), [("gpt2", pattern) for pattern in REAL] + [("bert", "(?P<TEXT_TOKEN>{3})")]
)
def test_walks_on_real_tokenizers(name: str, pattern: str) -> None:
    """Each bit that is asked is proven by a text: its tokens are those that the tokenizer writes."""
    judged = next(source for source in SOURCES if source.name == name).judged()
    vocabulary = judged.vocabulary
    judge = re.compile(rf"(?:{REAL[pattern]})\|?", re.DOTALL)
    draw = random.Random(7)
    # Texts of ASCII without a bar, which the judge's spelling has.
    constraint = tk.regex(pattern) & tk.regex(r"[\n -{}~]*")
    compiled = constraint.compile(vocabulary, tokenization="canonical")
    for _ in range(4):
        matcher = compiled.matcher()
        for _ in range(6):
            following = sorted(bits(matcher.mask) - set(vocabulary.stop))
            if not following:
                break
            for token in draw.sample(following, min(len(following), 5)):
                fork = matcher.fork()
                assert fork.advance(token)
                whole = [*fork.tokens, *fork.shortest_completion()]
                assert judged.is_canonical(whole), whole
                pieces = [(vocabulary.start_tokens() or vocabulary.tokens)[whole[0]]]
                pieces += [vocabulary[token] for token in whole[1:]]
                assert None not in pieces
                written = "|" + "".join((piece or b"").decode("latin-1") + "|" for piece in pieces if piece)
                assert judge.fullmatch(written), written
            assert matcher.advance(draw.choice(following))


def test_control_tokens_between_text_tokens() -> None:
    judged = next(source for source in SOURCES if source.name == "gpt2").judged()
    end = judged.vocabulary.control_token("<|endoftext|>")
    constraint = tk.text_token() + tk.control_token("<|endoftext|>") + tk.text_token().repeat(2, 2)
    compiled = constraint.compile(judged.vocabulary, tokenization="canonical")
    for text, is_accepted in [
        ("a<|endoftext|>b c", True),
        ("a<|endoftext|>b", False),
        (" a b<|endoftext|>b c", False),
    ]:
        tokens = judged.encode(text)
        assert end in tokens
        matcher = compiled.matcher()
        assert (matcher.advance_all(tokens) and matcher.is_accepting) == is_accepted, text
    matcher = compiled.matcher()
    assert matcher.advance_all(judged.encode("a"))
    assert bits(matcher.mask) == {end}
    assert matcher.forced_tokens() == [end]


def test_after_a_context() -> None:
    """The tokens of the text continue those of the context: `hi` may not follow where `thi` is one token."""
    judged = next(source for source in SOURCES if source.name == "gpt2").judged()
    compiled = tk.text_token().compile(judged.vocabulary, tokenization="canonical")
    for context in ("", "t", "Once upon", "a ", "\n\n", "don'"):
        tokens = judged.encode(context)
        matcher = compiled.matcher(tokens)
        draw = random.Random(len(context))
        for token in draw.sample(range(len(judged.vocabulary)), 300):
            whole = [*tokens, token]
            is_text = judged.vocabulary[token] and judged.decode(whole) is not None
            expected = bool(is_text) and judged.is_canonical(whole)
            assert matcher.fork().advance(token) == expected, (context, token)
