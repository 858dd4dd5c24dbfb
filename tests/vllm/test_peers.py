"""What vLLM asks of a grammar beside masks: tokamata and xgrammar answer alike, except where this says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.vllm.conftest import Requests, allowed

STOP = 1
WIDTH = 262144


@pytest.fixture(scope="module", params=["lm-format-enforcer", "xgrammar"])
def served(request: pytest.FixtureRequest, new_manager: Callable[..., Any]) -> Any:
    """A manager with tokamata, and one with xgrammar."""
    return new_manager(backend=request.param)


def begin(manager: Any, new_request: Requests, tokenizer: Any) -> tuple[Any, Any, list[int]]:
    request = new_request(manager, regex="[0-9]{4}")
    text = list(tokenizer.encode("2026", add_special_tokens=False))
    return request, request.structured_output_request.grammar, text


def test_terminated_only_after_a_stop_token(served: Any, new_request: Requests, tokenizer: Any) -> None:
    request, grammar, text = begin(served, new_request, tokenizer)
    assert grammar.accept_tokens("r", text)
    assert not grammar.is_terminated()
    assert allowed(served, request, []) == [{STOP}]
    assert grammar.accept_tokens("r", [STOP])
    assert grammar.is_terminated()
    assert [len(row) for row in allowed(served, request, [])] == [WIDTH]


def test_tokens_after_a_stop_token_are_accepted(served: Any, new_request: Requests, tokenizer: Any) -> None:
    """With ignore_eos, vLLM goes on: the text is free after the stop token."""
    _, grammar, text = begin(served, new_request, tokenizer)
    assert grammar.accept_tokens("r", [*text, STOP])
    assert grammar.accept_tokens("r", [7, 9])
    assert grammar.is_terminated()
    assert grammar.validate_tokens([7]) == []


def test_a_draft_ends_with_the_stop_token(served: Any, new_request: Requests, tokenizer: Any) -> None:
    _, grammar, text = begin(served, new_request, tokenizer)
    assert grammar.validate_tokens([*text, STOP, STOP]) == [*text, STOP]
    assert grammar.validate_tokens([7, *text]) == []


def test_a_refused_run(new_manager: Callable[..., Any], new_request: Requests, tokenizer: Any) -> None:
    """tokamata takes all tokens of a run or none; xgrammar keeps those before the refused one."""
    results = []
    for backend in ("lm-format-enforcer", "xgrammar"):
        manager = new_manager(backend=backend)
        request, grammar, text = begin(manager, new_request, tokenizer)
        assert not grammar.accept_tokens("r", [*text[:2], 7])
        results.append(text[0] in allowed(manager, request, [])[0] and grammar.accept_tokens("r", text))
    assert results == [True, False]
