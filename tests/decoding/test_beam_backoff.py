"""Backoff for each beam: a cause is injected after one prefix, and that beam alone takes a detour.

The oracle follows every token sequence of a finite language by itself, detours included.  It uses no code of
the library: what may follow is read off the texts.
"""

from __future__ import annotations

import functools
import itertools
import math
import pickle
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
import torch
import transformers

import tokamata as tk
from tests.support.models.fakes import Constant, byte_level, token_id
from tests.support.models.path_judge import PathJudge
from tests.support.models.small_models import KINDS, config_of
from tokamata.decoding.beams.beginnings import Beginning
from tokamata.decoding.beams.finished import FinishedTexts
from tokamata.decoding.hosts import vocabulary_of

LEGAL = ("a", "b", "c", "ab", "ba", "aba", "cc")
# No text has a z: tokens with one give bytes a probability where no legal token has one.
WORDS = byte_level(["a b", "b a", "ab a", "c c", *(f"{piece} z" for piece in LEGAL)])
WIDTH = len(WORDS)
PROMPT = "x"
LETTERS = "abc"
TOKENS = {token_id(WORDS, piece): piece for piece in (*LEGAL, *(piece + "z" for piece in LEGAL))}
AB, BA, CC = (token_id(WORDS, piece) for piece in ("ab", "ba", "cc"))
STOP = 0
ALL = 10_000  # beams

Ids = tuple[int, ...]


class Table:
    """A model whose logits are random for each prefix, with faults after some of them.

    ``true`` are the logits without faults.  It has no cache: it reads every text from its beginning.
    """

    def __init__(self, seed: int, faults: dict[Ids, str] | Callable[[Ids], str | None] | None = None) -> None:
        self.seed = seed
        self.fault_at = faults if callable(faults) else (faults or {}).get
        self.config = SimpleNamespace(vocab_size=WIDTH)
        self.prompt = len(WORDS(PROMPT)["input_ids"])

    def true(self, ids: Ids) -> torch.Tensor:
        draw = random.Random(f"{self.seed} {ids}")
        logits = torch.full((WIDTH,), -25.0)
        for token in (STOP, *TOKENS):
            logits[token] = draw.gauss(0, 1.5)
        return logits

    def logits(self, ids: Ids) -> torch.Tensor:
        logits, fault = self.true(ids).clone(), self.fault_at(ids)
        legal = [token for token, piece in TOKENS.items() if "z" not in piece]
        if fault == "nan":
            logits[:] = math.nan
        elif fault == "nan of legal tokens":
            logits[[STOP, *legal]] = math.nan
        elif fault == "plus infinity":
            logits[legal[0]] = math.inf
        elif fault == "minus infinity":
            logits[[STOP, *legal]] = -math.inf
        else:
            assert fault is None
        return logits

    def __call__(self, input_ids: torch.Tensor, **options: Any) -> Any:
        rows = [self.logits(tuple(ids[self.prompt :])) for ids in input_ids.tolist()]
        return SimpleNamespace(logits=torch.stack(rows).unsqueeze(1))


NAN_LIKE = ("nan", "nan of legal tokens", "plus infinity")


@dataclass
class Oracle:
    """Follows all token sequences of some texts within a budget.

    ``masses`` are of the model with detours, ``drawn`` of the sequences without detours alone, and
    ``detoured`` is what beginnings carried that took one.
    """

    model: Table
    texts: list[str]
    budget: int
    banned: frozenset[int] = frozenset()
    masses: dict[str, float] = field(default_factory=dict)
    drawn: dict[str, float] = field(default_factory=dict)
    detoured: float = 0.0

    def __post_init__(self) -> None:
        self.follow((), "", 1.0, True, 0)

    def fewest(self, text: str) -> float:
        """The least number of tokens that spell a text."""
        return _fewest(text, self.banned)

    def legal(self, prefix: str, left: int) -> dict[int, str]:
        return {
            token: piece
            for token, piece in TOKENS.items()
            if token not in self.banned
            and any(
                text.startswith(prefix + piece) and self.fewest(text[len(prefix + piece) :]) < left
                for text in self.texts
            )
        }

    def finish(self, text: str, mass: float, is_drawn: bool) -> None:
        self.masses[text] = self.masses.get(text, 0.0) + mass
        if is_drawn:
            self.drawn[text] = self.drawn.get(text, 0.0) + mass

    def follow(self, ids: Ids, prefix: str, mass: float, is_drawn: bool, detours: int) -> None:
        goes_on = any(text != prefix and text.startswith(prefix) for text in self.texts)
        left = self.budget - len(ids)
        if prefix in self.texts and (not goes_on or left == 0):
            self.finish(prefix, mass, is_drawn)
            return
        legal = self.legal(prefix, left)
        stops = {STOP} if prefix in self.texts and STOP not in self.banned else set()
        logits = self.model.logits(ids).double()
        if not legal and not stops:  # a text, and its stop token is banned
            assert prefix in self.texts
            self.finish(prefix, mass, is_drawn)
            return
        shares = torch.softmax(logits, 0)
        if not bool(shares.isnan().any()) and sum(float(shares[token]) for token in (*legal, *stops)) > 0:
            for token in stops:
                self.finish(prefix, mass * float(shares[token]), is_drawn)
            for token, piece in legal.items():
                if float(shares[token]) > 0:
                    self.follow((*ids, token), prefix + piece, mass * float(shares[token]), is_drawn, 0)
            return
        if is_drawn:
            self.detoured += mass
        if detours == 8 or not legal:
            return
        token, share = self.detour(logits, legal)
        self.follow((*ids, token), prefix + TOKENS[token], mass * share, False, detours + 1)

    def detour(self, logits: torch.Tensor, legal: dict[int, str]) -> tuple[int, float]:
        """The legal byte that most of the model's tokens begin with, and its share of them."""
        known = {
            token: float(logits[token])
            for token in range(1, WIDTH)
            if token not in self.banned and not math.isnan(float(logits[token]))
        }
        total = sum(math.exp(score) for score in known.values())
        best = []
        for piece in sorted(legal.values(), key=len):
            if all(other[0] != piece[0] for _, other in best):
                mass = sum(
                    math.exp(known[token])
                    for token, text in TOKENS.items()
                    if token in known and text.startswith(piece)
                )
                best.append((mass, piece))
        mass, piece = min(best, key=lambda one: (-one[0], len(one[1]), one[1]))
        assert mass > 0
        return next(token for token, text in legal.items() if text == piece), mass / total


@functools.cache
def _fewest(text: str, banned: frozenset[int]) -> float:
    if not text:
        return 0
    return 1 + min(
        (
            _fewest(text[len(piece) :], banned)
            for token, piece in TOKENS.items()
            if token not in banned and text.startswith(piece)
        ),
        default=math.inf,
    )


def some_texts(draw: random.Random) -> list[str]:
    count = draw.randint(1, 7)
    return sorted({"".join(draw.choices(LETTERS, k=draw.randint(1, 6))) for _ in range(count)})


def some_faults(draw: random.Random, kinds: tuple[str, ...]) -> Callable[[Ids], str | None]:
    """Faults after random prefixes, always the same for one prefix."""
    rate, salt = draw.choice([0.05, 0.2, 0.5]), draw.random()

    def fault(ids: Ids) -> str | None:
        own = random.Random(f"{salt} {ids}")
        return own.choice(kinds) if own.random() < rate else None

    return fault


def search(model: Any, texts: list[str], **settings: Any) -> Any:
    return tk.beam_search(model, WORDS, PROMPT, tk.choice(texts), **settings)


def check_beam(beam: tk.Beam[Any], budget: int, banned: frozenset[int] = frozenset()) -> None:
    """Text, tokens and switches agree, the budget is held, and no banned token is written."""
    vocabulary = tk.Vocabulary.load(WORDS)
    assert b"".join(vocabulary[token] or b"" for token in beam.tokens).decode() == beam.text
    assert len(beam.tokens) + (beam.stop_token is not None) <= budget
    assert not banned & {*beam.tokens, beam.stop_token}
    end = 0
    for switch in beam.switches:
        assert switch.where >= end
        end = switch.where + len(switch.data)
        assert beam.text.encode()[switch.where : end] == switch.data
        assert switch.log_probability <= 0


# ---- against the oracle ------------------------------------------------------------------------


@pytest.mark.parametrize("first", range(0, 120, 20))
def test_with_beams_enough_it_is_the_enumeration_with_detours(first: int) -> None:
    detours = 0
    for seed in range(first, first + 20):
        draw = random.Random(seed)
        texts = some_texts(draw)
        model = Table(seed, some_faults(draw, ("nan of legal tokens", "minus infinity")))
        banned = frozenset(draw.choice([(), (AB,), (BA, CC), (STOP,)]))
        budget = draw.randint(max(int(_fewest(text, banned)) for text in texts), 7)
        expected = Oracle(model, texts, budget, banned)
        found = search(
            model,
            texts,
            beams=ALL,
            candidates=None,
            max_new_tokens=budget,
            banned_tokens=sorted(banned),
            policy=tk.Policy(),
        )
        assert {beam.text for beam in found} == set(expected.masses)
        for beam in found:
            check_beam(beam, budget, banned)
            assert math.exp(beam.model_log_probability) == pytest.approx(expected.masses[beam.text], rel=1e-4)
            detours += len(beam.switches)
            if beam.sequences == 1:
                assert bool(beam.switches) == (beam.text not in expected.drawn)
        assert math.exp(found.unexplored_log_probability) == pytest.approx(expected.detoured, rel=1e-4)
        scores = [beam.model_log_probability for beam in found]
        assert scores == sorted(scores, reverse=True)
    assert detours > 10


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_what_few_beams_say_of_the_model_is_true_whatever_a_fault_hides(first: int) -> None:
    """Behind NaN stand the logits that the model would have had: the bounds hold for these."""
    certain = switched = 0
    for seed in range(first, first + 50):
        draw = random.Random(seed)
        texts = some_texts(draw)
        faults = some_faults(draw, (*NAN_LIKE, "minus infinity"))
        model = Table(seed, faults)
        true = Table(
            seed, lambda ids, faults=faults: "minus infinity" if faults(ids) == "minus infinity" else None
        )
        budget, beams = draw.randint(6, 8), draw.randint(1, 4)
        masses = Oracle(true, texts, budget).drawn
        found = search(
            model,
            texts,
            beams=beams,
            candidates=draw.choice([1, 2, 64, None]),
            max_new_tokens=budget,
            policy=tk.Policy(),
        )
        assert 1 <= len(found) <= beams
        assert len({beam.text for beam in found}) == len(found)
        lost = math.exp(found.unexplored_log_probability)
        for beam in found:
            check_beam(beam, budget)
            assert beam.text in texts
            said, mass = math.exp(beam.model_log_probability), masses.get(beam.text, 0.0)
            assert abs(said - mass) <= lost + 1e-4
            if not any(one.switches for one in found) and lost == 0:
                assert said == pytest.approx(mass, rel=1e-3)
            switched += bool(beam.switches)
        least = math.exp(found[-1].model_log_probability) if len(found) == beams else 0.0
        for text in set(masses) - {beam.text for beam in found}:
            assert masses[text] <= (least + lost) * (1 + 1e-4)
        if found.is_best_certain:
            assert not found[0].switches
            assert masses[found[0].text] >= max(masses.values()) * (1 - 1e-4)
            certain += 1
    assert certain > 5
    assert switched > 5


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_canonical_texts_with_banned_tokens_and_faults(first: int) -> None:
    switched = 0
    for seed in range(first, first + 20):
        draw = random.Random(seed)
        texts = some_texts(draw)
        model = Table(seed, some_faults(draw, (*NAN_LIKE, "minus infinity")))
        banned = frozenset(draw.choice([(AB,), (BA, CC), (AB, BA)]))
        budget = draw.randint(max(int(_fewest(text, banned)) for text in texts), 9)
        found = search(
            model,
            texts,
            beams=draw.randint(1, 4),
            max_new_tokens=budget,
            banned_tokens=sorted(banned),
            tokenization="canonical",
            heal=False,
            policy=tk.Policy(),
        )
        if isinstance(found, tk.Abstention):
            assert found.code in ("banned", "logits")
            assert any(text.startswith(found.partial) for text in texts)
            continue
        for beam in found:
            assert beam.text in texts
            check_beam(beam, budget, banned)
            switched += bool(beam.switches)
            if not beam.switches:
                assert beam.tokens == WORDS(beam.text)["input_ids"]
    assert switched > 5


@pytest.mark.parametrize("tokenization", ["any", "canonical"])
def test_a_policy_changes_nothing_where_no_beam_needs_it(tokenization: Any) -> None:
    for seed in range(20):
        draw = random.Random(seed)
        texts = some_texts(draw)
        settings: dict[str, Any] = {"beams": draw.randint(1, 5), "tokenization": tokenization, "heal": False}
        plain = search(Table(seed), texts, **settings)
        careful = search(Table(seed), texts, policy=tk.Policy(), **settings)
        assert [(one.tokens, one.model_log_probability) for one in plain] == [
            (one.tokens, one.model_log_probability) for one in careful
        ]
        assert plain.unexplored_log_probability == careful.unexplored_log_probability
        assert plain.is_best_certain == careful.is_best_certain
        assert not any(one.switches for one in careful)


# ---- one beam alone ----------------------------------------------------------------------------

A, B, C = (token_id(WORDS, piece) for piece in LETTERS)
TEXTS = ["acbc", "acca", "bcbc", "bcca", "cbcb"]


@pytest.mark.parametrize("fault", [*NAN_LIKE, "minus infinity"])
def test_a_fault_after_one_prefix_leaves_the_other_beams_alone(fault: str) -> None:
    """They have the texts, tokens and probabilities of a search without the fault."""
    for seed in range(10):
        settings: dict[str, Any] = {"beams": 8, "candidates": None}
        expected = {beam.text: beam for beam in search(Table(seed), TEXTS, **settings)}
        found = search(Table(seed, {(A,): fault}), TEXTS, policy=tk.Policy(), **settings)
        switched = [beam for beam in found if beam.text.startswith("a")]
        assert switched
        for beam in switched:
            [switch] = beam.switches
            assert (switch.state, switch.cause, switch.where) == ("shadow", "logits", 1)
            assert switch.data in (b"c", b"cc")  # the model says nothing: the shortest completion's token
            assert switch.data == b"c" or fault in ("nan", "plus infinity")
        carried = torch.log_softmax(Table(seed).true(()).double(), 0)[A]
        assert found.unexplored_log_probability == pytest.approx(float(carried), abs=1e-5)
        for beam in found:
            if not beam.text.startswith("a"):
                assert beam.switches == ()
                assert beam.tokens == expected[beam.text].tokens
                assert beam.model_log_probability == expected[beam.text].model_log_probability


def test_without_a_policy_a_beam_is_dropped_or_an_error_names_it() -> None:
    model = Table(3, {(A,): "minus infinity"})
    found = search(model, TEXTS, beams=8, candidates=None)
    assert {beam.text for beam in found} == {text for text in TEXTS if text[0] != "a"}
    assert found.unexplored_log_probability == -math.inf  # the model gives what is missing no probability
    with pytest.raises(tk.NoTokenError, match="policy=") as caught:
        search(Table(3, {(A,): "nan"}), TEXTS, beams=8)
    assert (caught.value.cause, caught.value.where, caught.value.partial) == ("logits", 1, "a")
    assert "NaN" in str(caught.value)
    with pytest.raises(tk.NoTokenError, match="probability 0") as caught:
        search(model, TEXTS[:2], beams=8)
    assert (caught.value.cause, caught.value.where, caught.value.partial) == ("logits", 1, "a")
    canonical: dict[str, Any] = {"tokenization": "canonical", "heal": False, "banned_tokens": [AB]}
    with pytest.raises(tk.NoTokenError, match="banned") as caught:
        search(Table(3), ["cab"], **canonical)
    assert (caught.value.cause, caught.value.partial) == ("banned", "c")
    assert [beam.text for beam in search(Table(3), ["cab", "cb"], **canonical)] == ["cb"]


def test_a_banned_canonical_token_is_written_by_bytes() -> None:
    found = search(
        Table(1),
        ["cabcc", "bcc"],
        tokenization="canonical",
        heal=False,
        banned_tokens=[AB],
        policy=tk.Policy(),
    )
    by_text = {beam.text: beam for beam in found}
    assert set(by_text) == {"cabcc", "bcc"}
    assert by_text["cabcc"].tokens == [C, A, B, CC]
    [switch] = by_text["cabcc"].switches
    assert (switch.state, switch.cause, switch.where, switch.data) == ("shadow", "banned", 1, b"ab")
    assert by_text["bcc"].switches == ()
    # By the logits at the detour, banned tokens apart: how many of the tokens begin with "ab".
    scores = {token: math.exp(Table(1).true((C,))[token]) for token in TOKENS if token != AB}
    begun = sum(score for token, score in scores.items() if TOKENS[token].startswith("ab"))
    assert math.exp(switch.log_probability) == pytest.approx(begun / sum(scores.values()), rel=1e-4)
    assert pickle.loads(pickle.dumps(by_text["cabcc"])).switches == (switch,)


def test_room_for_a_detour_is_kept_and_what_that_costs_is_counted() -> None:
    """After ``b`` a mask allows the banned ``ab``; the long text would leave no room for a detour."""
    model = Table(5)
    texts = ["bab", "bc", "bb" + 4 * "cb"]
    settings: dict[str, Any] = {"tokenization": "canonical", "heal": False, "banned_tokens": [AB], "beams": 4}
    roomy = search(model, texts, max_new_tokens=20, policy=tk.Policy(), **settings)
    assert {beam.text for beam in roomy} == set(texts[1:])
    assert roomy.unexplored_log_probability == -math.inf
    tight = search(model, texts, max_new_tokens=10, policy=tk.Policy(), **settings)
    assert {beam.text for beam in tight} == {"bc"}
    lost = [torch.log_softmax(model.true(ids).double(), 0)[B] for ids in ((), (B,))]
    assert tight.unexplored_log_probability == pytest.approx(float(sum(lost)), abs=1e-5)
    # Without a policy there are no detours, so no room is kept.
    assert {beam.text for beam in search(model, texts, max_new_tokens=10, **settings)} == set(texts[1:])


@pytest.mark.parametrize("kind", [*KINDS, "no cache"])
def test_every_cache_reads_the_tokens_of_detours(kind: str) -> None:
    """Of each sequence, what the model drew has the probabilities of a judge that reads it by itself."""
    torch.manual_seed(7)
    plain = transformers.AutoModelForCausalLM.from_config(
        config_of("learned positions" if kind == "no cache" else kind, WIDTH)
    ).eval()
    plain.generation_config.eos_token_id = STOP
    model = Hidden(plain) if kind == "no cache" else plain
    prompt = "a longer prompt than the window: "
    vocabulary = vocabulary_of(plain, WORDS)
    tokens = [vocabulary[token] for token in range(vocabulary.width)]
    judge = PathJudge(plain, WORDS(prompt)["input_ids"], tokens, vocabulary.stop)
    found = tk.beam_search(
        model,
        WORDS,
        prompt,
        tk.regex("(cabc|bb|acb){2,3}"),
        beams=50,
        candidates=None,
        tokenization="canonical",
        heal=False,
        banned_tokens=[AB],
        policy=tk.Policy(),
    )
    assert isinstance(found, tk.Beams)
    assert {len(beam.switches) for beam in found} >= {0, 1, 2}
    for beam in found:
        check_beam(beam, 256, frozenset({AB}))
        if beam.sequences == 1:
            score = sum(switch.log_probability for switch in beam.switches)
            place = 0
            for count, token in enumerate(beam.tokens):
                inside = any(one.where <= place < one.where + len(one.data) for one in beam.switches)
                place += len(vocabulary[token] or b"")
                if not inside:
                    before = tuple(beam.tokens[:count])
                    score += judge.log_probability((*before, token)) - judge.log_probability(before)
            if beam.stop_token is not None:
                score += math.log(judge.stop_probability(tuple(beam.tokens)))
            assert beam.model_log_probability == pytest.approx(score, abs=1e-3)


class Hidden:
    """A model that hides its cache."""

    def __init__(self, model: Any) -> None:
        self.model, self.config, self.generation_config = model, model.config, model.generation_config

    def __call__(self, **inputs: Any) -> Any:
        return SimpleNamespace(logits=self.model(**inputs).logits)


# ---- no text at all ----------------------------------------------------------------------------


def test_a_model_that_says_nothing_any_more_ends_in_a_closing_or_an_abstention() -> None:
    def dead(ids: Ids) -> str | None:
        return "nan" if len(ids) >= 2 else None

    constraint = tk.regex("[abc]{40}")
    closed = tk.beam_search(Table(1, dead), WORDS, PROMPT, constraint, beams=2, policy=tk.Policy())
    assert isinstance(closed, tk.Beams)
    [beam] = closed
    assert constraint.accepts(beam.text)
    check_beam(beam, 256)
    assert beam.finish_reason == "policy"
    assert [one.state for one in beam.switches] == ["shadow"] * 8 + ["closing"]
    assert not closed.is_best_certain
    strict = tk.Policy(repair=False)
    result = tk.beam_search(Table(1, dead), WORDS, PROMPT, constraint, beams=2, policy=strict)
    assert isinstance(result, tk.Abstention)
    assert (result.code, result.where) == ("logits", len(result.partial))
    assert result.partial == b"".join(tk.Vocabulary.load(WORDS)[t] or b"" for t in result.tokens).decode()
    assert len(result.switches) == 8
    assert result.shortest_completion is not None
    assert constraint.accepts(result.partial + result.shortest_completion)
    at_once = tk.Policy(shadow_bytes=0, repair=False)
    result = tk.beam_search(Table(1, dead), WORDS, PROMPT, constraint, beams=2, policy=at_once)
    assert isinstance(result, tk.Abstention)
    assert result.switches == ()


def test_a_dropped_beam_is_counted_and_not_closed_while_others_have_texts() -> None:
    model = Table(2, {(A,): "nan"})
    found = search(model, TEXTS, beams=8, candidates=None, policy=tk.Policy(shadow_bytes=0))
    assert {beam.text for beam in found} == {text for text in TEXTS if text[0] != "a"}
    carried = torch.log_softmax(model.true(()).double(), 0)[A]
    assert found.unexplored_log_probability == pytest.approx(float(carried), abs=1e-5)


def test_an_accepted_text_that_the_model_cannot_end_is_closed_as_it_is() -> None:
    model = Table(4, {(A,): "minus infinity"})
    found = search(model, ["a", "ab"], beams=1, banned_tokens=[AB], policy=tk.Policy(shadow_bytes=0))
    assert [(beam.text, beam.finish_reason, beam.switches) for beam in found] == [("a", "policy", ())]
    assert not found.is_best_certain


def test_a_text_whose_stop_token_is_banned_ends_where_nothing_else_may_follow() -> None:
    settings: dict[str, Any] = {"tokenization": "canonical", "heal": False, "banned_tokens": [STOP, B]}
    for policy in (None, tk.Policy()):
        found = search(Table(4), ["c", "cb"], policy=policy, **settings)
        assert [(beam.text, beam.finish_reason) for beam in found] == [("c", "length")]


def test_a_limit_drops_one_beam_or_leads_to_an_abstention() -> None:
    vocabulary = tk.Vocabulary.load(WORDS, stop=[STOP])
    hard = tk.regex("b|(a|c)*a(a|c){12}b").compile(vocabulary, limits=tk.Limits(states=12))
    settings: dict[str, Any] = {"beams": 4, "max_new_tokens": 60}
    found = tk.beam_search(Table(0), WORDS, PROMPT, hard, policy=tk.Policy(), **settings)
    assert isinstance(found, tk.Beams)
    assert [beam.text for beam in found] == ["b"]
    assert found.unexplored_log_probability > -math.inf
    with pytest.raises(tk.LimitExceeded):
        tk.beam_search(Table(0), WORDS, PROMPT, hard, **settings)
    # Of the beams of one step, some need new states and others do not.
    loop = tk.regex("b*|(a|c)*a(a|c){12}b").compile(vocabulary, limits=tk.Limits(states=8))
    found = tk.beam_search(Table(0), WORDS, PROMPT, loop, policy=tk.Policy(), **settings)
    assert isinstance(found, tk.Beams)
    assert {beam.text.strip("b") for beam in found} == {""}
    assert found.unexplored_log_probability > -math.inf
    harder = tk.regex("(a|c)*a(a|c){12}b").compile(vocabulary, limits=tk.Limits(states=12))
    result = tk.beam_search(Table(0), WORDS, PROMPT, harder, policy=tk.Policy(), **settings)
    assert isinstance(result, tk.Abstention)
    assert result.code == "limits"


# ---- healing, ties, settings -------------------------------------------------------------------


def test_a_detour_over_the_healed_end_of_the_prompt() -> None:
    """The first token repeats the ``a`` of the prompt: its byte is no part of the text or its switches."""
    model = Table(6, lambda ids: "minus infinity" if len(ids) < 2 else None)
    found = tk.beam_search(model, WORDS, PROMPT + "a", tk.choice(["bc", "cb"]), heal=True, policy=tk.Policy())
    assert isinstance(found, tk.Beams)
    [beam] = found
    assert beam.healed == "a"
    assert beam.text in ("bc", "cb")
    [switch] = beam.switches
    assert (switch.where, switch.data) == (0, beam.text[:1].encode())


def test_equal_beginnings_are_pruned_in_shortlex_order() -> None:
    logits = torch.full((WIDTH,), -math.inf)
    logits[[A, B, C]] = 0.0
    texts = ["".join(letters) for letters in itertools.product(LETTERS, repeat=3)]
    for beams in (1, 2, 5, 9):
        found = search(Constant(logits), texts, beams=beams)
        assert [beam.text for beam in found] == texts[:beams]


class Written:
    """A model whose tokens after each prefix are equally probable; it knows no others."""

    def __init__(self, tokens: dict[Ids, list[int]]) -> None:
        self.tokens, self.config = tokens, SimpleNamespace(vocab_size=WIDTH)
        self.prompt = len(WORDS(PROMPT)["input_ids"])

    def __call__(self, input_ids: torch.Tensor, **options: Any) -> Any:
        logits = torch.full((len(input_ids), 1, WIDTH), -math.inf)
        for row, ids in zip(logits[:, 0], input_ids.tolist(), strict=True):
            row[self.tokens[tuple(ids[self.prompt :])]] = 0.0
        return SimpleNamespace(logits=logits)


def test_detours_are_pruned_in_shortlex_order_too() -> None:
    """Three beginnings of probability 1/4 for two places.

    After ``a`` no legal token has a probability, and half of the bytes are ``c``.  With canonical
    tokenization the detour has two tokens, and is the last; otherwise it has one, and is the first by ids.
    """
    bz, cz = (token_id(WORDS, piece) for piece in ("bz", "cz"))
    after: dict[Ids, list[int]] = {(): [A, B], (A,): [bz, cz], (B,): [B, C], (B, B): [C], (B, C): [B]}
    after |= {(B, B, C): [B], (B, C, B): [C], (A, C): [B], (A, C, B): [C], (A, C, B, C): [B]}
    texts = ["accb", "bbcb", "bcbc"]
    settings: dict[str, Any] = {"beams": 2, "policy": tk.Policy()}
    found = search(
        Written(after), texts, tokenization="canonical", heal=False, banned_tokens=[CC], **settings
    )
    assert [beam.tokens for beam in found] == [[B, B, C, B], [B, C, B, C]]
    assert found.unexplored_log_probability == pytest.approx(-math.log(2))
    texts = ["acbcb", "bbcb", "bcbc"]
    found = search(Written(after), texts, **settings)
    assert sorted(beam.tokens for beam in found) == [[A, C, B, C, B], [B, B, C, B]]
    assert math.exp(found.unexplored_log_probability) == pytest.approx(3 / 4)


def test_of_equal_sequences_of_a_text_the_first_in_shortlex_order_is_best() -> None:
    vocabulary = vocabulary_of(Table(0), WORDS)
    matcher = tk.literal("cc").compile(vocabulary).matcher()
    start = Beginning(None, -1, 0.0, 0.0, matcher, b"")
    short = start.drawn(CC, -1.0, 0.0, matcher, b"cc")
    low, high = (start.drawn(token, -0.5, 0.0, matcher, b"c") for token in (C, CC))
    ends = [each.drawn(C, -0.5, 0.0, matcher, b"c") for each in (low, high)]
    for order in itertools.permutations([short, *ends]):
        for count in (2, 3):
            finished = FinishedTexts(1)
            for end in order[:count]:
                finished.add(end, "complete")
            [text] = finished.best(1)
            expected = min(order[:count], key=lambda end: (end.depth, end.tokens()))
            assert text.best is expected


def test_a_detour_waits_until_the_others_are_as_long() -> None:
    """After ``c`` the text goes on with ``a`` and ``b``, two tokens; they are read one by one."""
    logits = torch.full((WIDTH,), -math.inf)
    logits[[A, B, C]] = 0.0
    model = Recording(logits)
    found = search(
        model,
        ["cabcb", "bcbcb", "bbcbc"],
        beams=3,
        tokenization="canonical",
        heal=False,
        banned_tokens=[AB],
        policy=tk.Policy(),
    )
    assert {beam.text for beam in found} == {"cabcb", "bcbcb", "bbcbc"}
    [switched] = [beam for beam in found if beam.switches]
    assert switched.tokens == [C, A, B, C, B]
    assert switched.switches[0].data == b"ab"
    # The detour by "a" has a third of the bytes; of "ab" nothing is known.  It costs less than two tokens.
    assert switched is found[0]
    assert switched.model_log_probability == pytest.approx(-4 * math.log(3), abs=1e-6)
    for rows in model.read:
        assert len({len(row) for row in rows}) == 1
    assert [C, A] in model.read[2]
    assert [C, A, B] in model.read[3]


class Recording(Constant):
    """Always gives the same logits, and records what it has read after the prompt."""

    def __init__(self, logits: torch.Tensor) -> None:
        super().__init__(logits)
        self.read: list[list[list[int]]] = []

    def __call__(self, input_ids: torch.Tensor, **options: Any) -> Any:
        prompt = len(WORDS(PROMPT)["input_ids"])
        self.read.append([ids[prompt:] for ids in input_ids.tolist()])
        return super().__call__(input_ids=input_ids)


def test_bans_without_a_cause() -> None:
    for seed in range(20):
        found = search(Table(seed), ["ab", "abab", "ba"], banned_tokens=[AB], candidates=None, beams=9)
        for beam in found:
            check_beam(beam, 256, frozenset({AB}))
        assert {beam.text for beam in found} == {"ab", "abab", "ba"}
    with pytest.raises(tk.UnspellableError):
        search(Table(0), ["a"], banned_tokens=[A])
    with pytest.raises(tk.TokenIdError):
        search(Table(0), ["a"], banned_tokens=[1 << 20])
