"""Reward functions for TRL's GRPOTrainer, called as its ``_calculate_rewards`` calls them (TRL 1.16)."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

import tokamata as tk
from tokamata.integrations.trl import RewardFunction, text_reward, token_reward

UNIT = tk.EditCosts(other=1)
DIGITS = tk.regex("[0-9]{4}")
TOKENS = [*(str(digit).encode() for digit in range(10)), b"12", b"x", None]
STOP = 12


def called(function: RewardFunction, completions: list[Any], **columns: Any) -> list[float | None]:
    """As the trainer does: by keyword, with a list for each column, and with objects of its own."""
    count = len(completions)
    ids = columns.pop("completion_ids", [[] for _ in range(count)])
    found = function(
        prompts=["p"] * count, completions=completions, completion_ids=ids, **columns,
        trainer_state=object(), log_extra=print, log_metric=print,
    )  # fmt: skip
    assert isinstance(found, list)
    assert len(found) == count
    assert all(reward is None or type(reward) is float for reward in found)
    return found


def test_texts_and_chats_have_their_rewards() -> None:
    function = text_reward(DIGITS, costs=UNIT)
    texts = ["2026", "202", "2026 it is", "", "x"]
    expected = [float(DIGITS.reward(text, costs=UNIT)) for text in texts]
    assert expected[:2] == [1.0, 1 - 1 / 7]
    assert called(function, texts) == expected
    assert called(function, [[{"role": "assistant", "content": text}] for text in texts]) == expected
    assert called(function, [[{"content": text}] for text in texts]) == expected
    parts = [[{"role": "assistant", "content": [{"type": "text", "text": text}]}] for text in texts]
    assert called(function, parts) == expected
    turns = [
        [{"role": "assistant", "content": None, "tool_calls": []}, {"role": "tool", "content": "1"},
         {"role": "assistant", "content": text}]
        for text in texts
    ]  # fmt: skip
    assert called(function, turns) == expected
    assert called(function, [[{"role": "assistant", "content": None}]]) == [0.0]
    assert called(function, []) == []
    assert function.__name__ == "constraint_reward"


def test_each_sample_may_have_its_own_constraint() -> None:
    made: list[str] = []

    def make(schema: str) -> tk.Constraint | None:
        made.append(schema)
        return tk.json_schema(json.loads(schema)) if schema else None

    schemas = ['{"type": "integer"}', '{"type": "string"}', '{"type": "integer"}', ""]
    found = called(text_reward(make, column="schema"), ["12", "12", '"12"', "12"], schema=schemas)
    assert found[0] == 1
    assert found[3] is None
    assert all(reward is not None and 0 <= reward < 1 for reward in found[1:3])
    assert made == ['{"type": "integer"}', '{"type": "string"}', ""]


def test_threads_change_nothing() -> None:
    names: set[str] = set()

    def noted(schema: dict[str, Any]) -> tk.Constraint:
        names.add(threading.current_thread().name)
        return tk.json_schema(schema)

    texts = ['{"a": [1, 2, "b": 3}', '{"a": ', "[1 2]", "{'a': 1}"] * 10
    schemas = [{"type": "object"}] * 40
    alone, shared = (
        called(text_reward(noted, column="schema", threads=threads), texts, schema=schemas)
        for threads in (1, 4)
    )
    assert alone == shared
    assert called(text_reward(tk.json(), threads=3), texts) == called(
        text_reward(tk.json(), threads=1), texts
    )


def test_a_deadline_gives_what_is_proven() -> None:
    """Nothing, where there is no answer in time; no error ends the training."""
    function = text_reward(tk.json(), deadline_seconds=0)
    found = called(function, ["[1]", "[" * 1_000_000])
    assert found == [1.0, 0.0]
    with pytest.raises(tk.EmptyConstraintError):
        called(text_reward(tk.json_schema(False)), ["1"])


def test_shares_of_tokens() -> None:
    vocabulary = tk.Vocabulary.load(TOKENS, stop=[STOP])
    function = token_reward(DIGITS.compile(vocabulary))
    rows = {
        (2, 0, 2, 6, STOP): 1.0,
        (10, 10): 1.0,
        (2, 0, 2, 6, STOP, STOP, 11): 1.0,  # padding after the end
        (2, 0): 2 / 3,  # one token, "12", is missing
        (2, 11, 2, 6): 1 / 6,  # one allowed, three from the refused one on, two to be written
        (11, 2): 0.0,
        (2, 0, 2, 6, 6): 4 / 5,
        (2, STOP): 1 / 4,
        (): 0.0,
    }
    assert called(function, ["?"] * len(rows), completion_ids=[list(row) for row in rows]) == list(
        rows.values()
    )
    assert called(function, []) == []
    assert called(
        token_reward(tk.regex("[0-9]*").compile(vocabulary)), ["", "1"], completion_ids=[[], []]
    ) == [1, 1]
    assert function.__name__ == "token_share"


@pytest.mark.parametrize(
    "call",
    [
        lambda: text_reward("[0-9]+"),  # type: ignore[arg-type]
        lambda: text_reward(DIGITS, column="schema"),
        lambda: text_reward(tk.json_schema),
        lambda: text_reward(DIGITS, costs={}),  # type: ignore[arg-type]
        lambda: text_reward(DIGITS, threads=0),
        lambda: text_reward(DIGITS, deadline_seconds=-1),
        lambda: text_reward(DIGITS)(prompts=[], completions="text"),
        lambda: text_reward(DIGITS)(prompts=[], completions=[5]),
        lambda: text_reward(DIGITS)(prompts=[], completions=[[]]),
        lambda: text_reward(DIGITS)(prompts=[], completions=[[{"content": 5}]]),
        lambda: text_reward(tk.json_schema, column="schema")(prompts=[], completions=["1"]),
        lambda: text_reward(tk.json_schema, column="schema")(completions=["1"], schema=[True, True]),
        lambda: text_reward(lambda schema: 5, column="schema")(completions=["1"], schema=[1]),  # type: ignore[arg-type, return-value]
        lambda: token_reward(DIGITS),  # type: ignore[arg-type]
        lambda: token_reward(DIGITS.compile(tk.Vocabulary.load(TOKENS)))(completions=["1"]),
    ],
)
def test_bad_arguments_are_named(call: Any) -> None:
    with pytest.raises(tk.ArgumentError):
        call()
