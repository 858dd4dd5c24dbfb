"""Token automata as torch tensors, against the automata that they were made from."""

from __future__ import annotations

import pickle
import random
import sys

import numpy as np
import pytest

import tokamata as tk
from tests.support.automata.figures import STOP, foo_d, random_automata
from tokamata.automata import TokenAutomaton
from tokamata.errors import LimitExceeded, MissingExtraError

torch = pytest.importorskip("torch", reason="torch comes with the extra transformers")


def test_every_state_and_token() -> None:
    for _, _, automaton in random_automata(1, 100):
        tensors = automaton.to_torch("cpu")
        assert (tensors.start, tensors.ended, tensors.dead) == (0, automaton.states, automaton.states + 1)
        states = torch.arange(automaton.states + 2)
        masks = tensors.masks(states)
        words = tensors.mask_words(states)
        assert (masks.dtype, masks.shape) == (torch.bool, (automaton.states + 2, automaton.width))
        assert words.dtype == torch.int32
        for state in range(automaton.states + 2):
            assert words[state].tolist() == automaton.mask(state).tolist()
            tokens = torch.arange(automaton.width)
            after = tensors.next_states(torch.full_like(tokens, state), tokens).tolist()
            assert after == [automaton.step(state, token) for token in range(automaton.width)]
            # A token is in the mask if and only if it does not lead to the dead state.
            assert masks[state].tolist() == [s != automaton.dead for s in after]


def test_a_batch_of_texts_with_stop_tokens() -> None:
    tensors = foo_d().to_torch()
    texts = torch.tensor([[1, 3, 6, 8], [0, 4, 4, 3], [2, 6, 3, 6], [1, 1, 6, 6]])
    states = torch.full((4,), tensors.start)
    seen = []
    for step in range(4):
        states = tensors.next_states(states, texts[:, step])
        seen.append(states.tolist())
    dead, ended = tensors.dead, tensors.ended
    assert seen == [[2, 1, 3, 2], [3, 4, ended, 2], [ended, 2, dead, dead], [ended, 3, dead, dead]]
    assert tensors.masks(states)[:, list(STOP)].tolist() == [[True] * 2, [True] * 2, [False] * 2, [False] * 2]


def test_ids_outside_the_width_are_refused() -> None:
    tensors = foo_d().to_torch()
    tokens = torch.tensor([-1, -100, 9, 10, 1 << 40])
    assert tensors.next_states(torch.zeros(5, dtype=torch.int64), tokens).tolist() == [tensors.dead] * 5


def test_shapes_go_through() -> None:
    automaton = foo_d()
    tensors = automaton.to_torch()
    states = torch.tensor([[0, 1, 2], [3, 4, 5]])
    assert tensors.next_states(states, torch.ones_like(states)).tolist() == [
        [automaton.step(s, 1) for s in row] for row in states.tolist()
    ]
    assert tensors.masks(states).shape == (2, 3, 9)
    assert tensors.mask_words(states).shape == (2, 3, 1)
    assert tensors.next_states(torch.tensor(0), torch.tensor(1)).item() == 2


def test_they_can_be_pickled() -> None:
    tensors = foo_d().to_torch()
    twin = pickle.loads(pickle.dumps(tensors))
    states = torch.arange(tensors.dead + 1)
    assert torch.equal(twin.masks(states), tensors.masks(states))
    assert torch.equal(twin.mask_words(states), tensors.mask_words(states))
    assert (twin.start, twin.ended, twin.dead) == (tensors.start, tensors.ended, tensors.dead)


def test_words_are_what_apply_mask_takes() -> None:
    tensors = foo_d().to_torch()
    logits = torch.zeros(2, 9)
    tk.apply_mask(logits, tensors.mask_words(torch.tensor([0, 3])))
    allowed = [{t for t in range(9) if row[t] == 0} for row in logits.tolist()]
    assert allowed == [{0, 1, 2}, set(STOP)]


def thousand_states(classes: int, width: int = 262_145) -> TokenAutomaton:
    """1,000 states that differ, and as many classes of tokens."""
    states, each = 1000, classes // 10
    draw = np.random.default_rng(8)
    rows = np.stack([np.sort(draw.choice(classes, each, replace=False)) for _ in range(states)])
    return TokenAutomaton.from_rows(
        width,
        0,
        np.arange(states) % 3 == 0,
        np.append(np.arange(width - 1) % classes, -1),
        np.arange(states + 1) * each,
        rows.ravel(),
        draw.integers(0, states, states * each),
        [width - 1],
    )


def test_a_thousand_states_over_gemmas_vocabulary_stay_under_100_mb() -> None:
    automaton = thousand_states(20_000)
    assert (automaton.states, automaton.classes) == (1000, 20_000)
    tensors = automaton.to_torch()
    # Two bytes for each state and class, with two more of either; four for each token, with one more.
    assert tensors.memory_bytes == 2 * 1002 * 20_002 + 4 * 262_146 < 100e6
    draw = random.Random(9)
    states = torch.tensor([draw.randrange(1002) for _ in range(8)])
    masks = tensors.masks(states)
    for state, mask in zip(states.tolist(), masks, strict=True):
        packed = np.unpackbits(automaton.mask(state).view(np.uint8), bitorder="little")[:262_145]
        assert np.array_equal(packed.astype(bool), mask.numpy())


def test_states_beyond_16_bits() -> None:
    n = 1 << 15
    chain = TokenAutomaton.from_rows(
        2, 0, np.arange(n + 1) == n, [0, -1], [*range(n + 1), n], np.zeros(n, int), np.arange(1, n + 1), [1]
    )
    tensors = chain.to_torch()
    assert tensors.memory_bytes == 4 * (n + 3) * 3 + 4 * 3
    after = tensors.next_states(torch.tensor([n - 1, n, n, n + 1]), torch.tensor([0, 0, 1, 1]))
    assert after.tolist() == [n, n + 2, n + 1, n + 1]


def test_tables_are_bounded() -> None:
    with pytest.raises(LimitExceeded):
        thousand_states(2000, 5000).to_torch(limits=tk.Limits(memory_bytes=1 << 20))


def test_without_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"tokamata\[transformers\]"):
        foo_d().to_torch()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device here")
def test_on_another_device() -> None:
    automaton = foo_d()
    here, there = automaton.to_torch("cpu"), automaton.to_torch("cuda")
    states = torch.arange(automaton.states + 2)
    assert there.masks(states.cuda()).device.type == "cuda"
    assert torch.equal(there.masks(states.cuda()).cpu(), here.masks(states))
    assert torch.equal(there.mask_words(states.cuda()).cpu(), here.mask_words(states))
    ones = torch.ones_like(states)
    assert torch.equal(there.next_states(states.cuda(), ones.cuda()).cpu(), here.next_states(states, ones))
