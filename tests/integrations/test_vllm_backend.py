"""What vLLM's engine asks of the backend: grammars, their cache, stop tokens, the bitmask."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

import tokamata as tk
from tests.support.vllm_host import Scheduler, StructuredOutputOptions
from tokamata.integrations.vllm import warm_up
from tokamata.integrations.vllm.backend import TokamataBackend

WIDTH_OF_PADDING = 37


@pytest.fixture
def backend(tokenizer: Any) -> Iterator[TokamataBackend]:
    made = TokamataBackend(None, tokenizer=tokenizer, vocab_size=len(tokenizer) + WIDTH_OF_PADDING)
    yield made
    made.destroy()


OLDER_TAGS = json.dumps(
    {
        "type": "structural_tag",
        "structures": [
            {"begin": "<f>", "schema": {"type": "array", "items": {"type": "integer"}}, "end": "</f>"}
        ],
        "triggers": ["<f"],
    }
)
TAG = json.dumps(
    {
        "type": "structural_tag",
        "format": {
            "type": "tag",
            "begin": "<f>",
            "content": {"type": "regex", "pattern": "[0-9]+"},
            "end": "</f>",
        },
    }
)
REQUESTS = [
    (StructuredOutputOptions.JSON, '{"type": "array", "items": {"type": "integer"}}', "[1, 2]", "[true]"),
    (StructuredOutputOptions.JSON_OBJECT, "", '{"a": []}', "[1]"),
    (StructuredOutputOptions.REGEX, r"\d{4}", "2026", "20261"),
    (StructuredOutputOptions.CHOICE, json.dumps(["yes", "no, é"]), "no, é", "no"),
    (StructuredOutputOptions.GRAMMAR, 'start: "x"+ y  // a "::=" in a comment\ny: /[0-9]+/', "xx12", "12"),
    (StructuredOutputOptions.GRAMMAR, 'start: "::=" /[0-9]/', "::=1", "1"),
    (StructuredOutputOptions.GRAMMAR, '# GBNF\nroot ::= "a" b-c\nb-c ::= [0-9]+', "a12", "a"),
    (StructuredOutputOptions.STRUCTURAL_TAG, OLDER_TAGS, "so: <f>[1, 2]</f>.", "so: <f>[a]</f>"),
    (StructuredOutputOptions.STRUCTURAL_TAG, TAG, "<f>12</f>", "12"),
]


@pytest.mark.parametrize(("kind", "spec", "right", "wrong"), REQUESTS)
def test_kinds(
    backend: TokamataBackend, tokenizer: Any, kind: StructuredOutputOptions, spec: str, right: str, wrong: str
) -> None:
    for text, expected in ((right, True), (wrong, False)):
        grammar = backend.compile_grammar(kind, spec, {1})
        assert grammar.accept_tokens("r", [*tokenizer.encode(text, add_special_tokens=False), 1]) is expected
        assert grammar.is_terminated() is expected


def test_stop_tokens_are_those_of_the_request(backend: TokamataBackend, tokenizer: Any) -> None:
    kind, spec, other = StructuredOutputOptions.REGEX, "ab", tokenizer.convert_tokens_to_ids("a")
    text = tokenizer.encode("ab", add_special_tokens=False)
    too_large = backend.vocab_size  # such as that of a token without a logit
    for given, expected in (({1}, {1}), ({0, 1, too_large}, {0, 1}), (None, {1}), (set(), {1})):
        grammar = backend.compile_grammar(kind, spec, given)
        assert grammar.accept_tokens("r", text)
        assert Scheduler(grammar, backend.allocate_token_bitmask(1)).rows([]) == [expected]
    # A stop token ends the text instead of adding to it, whatever its own text is.
    grammar = backend.compile_grammar(kind, "a*b", {other})
    assert other not in (Scheduler(grammar, backend.allocate_token_bitmask(1)).rows([])[0] or {other})


def test_without_any_stop_token() -> None:
    backend = TokamataBackend(None, tokenizer=[bytes([byte]) for byte in range(256)], vocab_size=256)
    with pytest.raises(tk.NoStopTokenError, match="stop_token_ids"):
        backend.compile_grammar(StructuredOutputOptions.REGEX, "a", None)
    backend.destroy()


def test_what_is_computed_before_the_first_request(tokenizer: Any) -> None:
    """Along a value of each schema, to its end."""
    vocabulary = tk.Vocabulary.load(tokenizer, width=len(tokenizer))
    tokens = tokenizer.encode(warm_up.VALUE, add_special_tokens=False)
    for schema in warm_up._SCHEMAS:
        matcher = tk.json_schema(schema).compile(vocabulary).matcher()
        assert matcher.advance_all(tokens)
        assert matcher.is_accepting
    warm_up.warm_up(vocabulary, tokens, tk.CancelToken())
    cancel = tk.CancelToken()
    cancel.cancel()
    with pytest.raises(tk.Cancelled):
        warm_up.warm_up(vocabulary, tokens, cancel)


def test_many_requests_at_once_are_prepared_in_turn(
    backend: TokamataBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None of them waits for the whole preparation of those before it."""
    seconds: list[float] = []
    prepare = tk.CompiledConstraint.prepare

    def noted(compiled: tk.CompiledConstraint[Any], **options: Any) -> Any:
        seconds.append(options["seconds"])
        return prepare(compiled, **options)

    monkeypatch.setattr(tk.CompiledConstraint, "prepare", noted)
    gate = threading.Event()
    backend._preparing.submit(gate.wait)
    for number in range(3):
        backend.compile_grammar(StructuredOutputOptions.JSON, json.dumps({"const": number}), {1})
    gate.set()
    backend._preparing.submit(int).result()
    assert seconds == [0.005, 0.005, 0.05]


def test_bitmask(backend: TokamataBackend) -> None:
    import torch

    mask = backend.allocate_token_bitmask(3)
    assert mask.shape == (3, (backend.vocab_size + 31) // 32)
    assert mask.dtype == torch.int32
    assert bool((mask == -1).all())


@pytest.mark.shared_states
def test_a_constraint_is_compiled_once(backend: TokamataBackend) -> None:
    kind = StructuredOutputOptions.JSON
    first, second = (backend.compile_grammar(kind, '{"type": "integer"}', {1}) for _ in range(2))
    assert (first._compiled._is_first, second._compiled._is_first) == (True, False)
    assert first._compiled._composed is second._compiled._composed
    other = backend.compile_grammar(StructuredOutputOptions.REGEX, '{"type": "integer"}', {1})
    assert other._compiled._composed is not first._compiled._composed


def test_errors_are_not_cached(backend: TokamataBackend) -> None:
    for _ in range(2):
        with pytest.raises(tk.EmptyConstraintError):
            backend.compile_grammar(StructuredOutputOptions.REGEX, "a(?<=b)", {1})


def test_masks_are_prepared(backend: TokamataBackend) -> None:
    grammar = backend.compile_grammar(StructuredOutputOptions.JSON, '{"type": "object"}', {1})
    backend._preparing.shutdown(wait=True)
    assert grammar._compiled.states > 3


def test_a_deadline_for_rows_is_read_from_the_additional_config(tokenizer: Any) -> None:
    def made(given: object) -> TokamataBackend:
        config = SimpleNamespace(additional_config={"tokamata": given, "other": 5})
        return TokamataBackend(config, tokenizer=tokenizer, vocab_size=len(tokenizer))

    backend = made({"mask_deadline_seconds": 0.5})
    try:
        assert backend._deadline_seconds == 0.5
    finally:
        backend.destroy()
    for given in (5, {"deadline": 1}, {"mask_deadline_seconds": "soon"}, {"mask_deadline_seconds": -1}):
        with pytest.raises(tk.ArgumentError):
            made(given)
