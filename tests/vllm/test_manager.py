"""vLLM's manager of structured outputs, with tokamata and without an engine."""

from __future__ import annotations

import json
import random
import sys
from concurrent.futures import Future
from typing import Any

import numpy as np
import pytest

import tokamata as tk
from tests.vllm.conftest import DRAFT, Requests, allowed

STOP = 1
WIDTH = 262144


def ids(tokenizer: Any, text: str) -> list[int]:
    return list(tokenizer.encode(text, add_special_tokens=False))


def grammar_of(request: Any) -> Any:
    return request.structured_output_request.grammar


def test_the_slot_is_ours(manager: Any, new_request: Requests) -> None:
    from tokamata.integrations.vllm.backend import TokamataBackend
    from tokamata.integrations.vllm.grammar import TokamataGrammar

    assert type(manager.backend) is TokamataBackend  # before any request
    assert getattr(manager, "backend_name", "lm-format-enforcer") == "lm-format-enforcer"  # vLLM 0.33
    assert type(grammar_of(new_request(manager, regex="a"))) is TokamataGrammar


def test_the_stand_in_for_the_interface_is_the_interface() -> None:
    """tests/support/vllm_host.py, with which `make test` runs."""
    import vllm.v1.structured_output.backend_types as real

    from tests.support import vllm_host

    for name in ("StructuredOutputGrammar", "StructuredOutputBackend"):
        ours, theirs = getattr(vllm_host, name), getattr(real, name)
        assert ours.__abstractmethods__ == theirs.__abstractmethods__
    members = [member.name for member in real.StructuredOutputOptions]
    assert members == [member.name for member in vllm_host.StructuredOutputOptions]


def test_a_draft(manager: Any, tokenizer: Any, new_request: Requests) -> None:
    request = new_request(manager, regex="[a-z]{3}-[0-9]{2}")
    text = ids(tokenizer, "ics-10")
    assert manager.validate_tokens(request, [*text, STOP, STOP]) == [*text, STOP]
    assert manager.validate_tokens(request, [*text[:2], 5, text[2]]) == text[:2]
    # As the scheduler pads it.
    rows = allowed(manager, request, [*text[:2], -1])
    assert len(rows) == DRAFT + 1
    assert text[0] in rows[0]
    assert text[1] in rows[1]
    assert text[2] in rows[2]
    assert len(rows[3]) == WIDTH  # after the padding; nothing is sampled there
    assert all(len(row) < WIDTH for row in rows[:3])
    assert manager.accept_tokens(request, text)
    assert allowed(manager, request, []) == [{STOP}]
    assert not grammar_of(request).is_terminated()
    assert manager.accept_tokens(request, [STOP])
    assert grammar_of(request).is_terminated()


def test_rows_of_a_draft_are_those_without(manager: Any, tokenizer: Any, new_request: Requests) -> None:
    schema = json.dumps(
        {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"enum": ["x", None]}}}
    )
    text = [*ids(tokenizer, '{"a": 1203, "b": "x"}'), STOP]
    plain, drafted = (new_request(manager, json=schema) for _ in range(2))
    draw = random.Random(7)
    place = 0
    while place < len(text):
        proposed = [*text[place : place + draw.randint(0, DRAFT)]]
        if proposed and draw.random() < 0.4:
            proposed[draw.randrange(len(proposed))] = draw.randrange(WIDTH)
        valid = manager.validate_tokens(drafted, proposed)
        assert valid == proposed[: len(valid)]
        rows = allowed(manager, drafted, valid)
        taken = 0  # as many as the model confirms, and one of its own
        while taken < len(valid) and valid[taken] == text[place + taken]:
            taken += 1
        new = text[place : place + taken + 1]
        for row, token in zip(rows, new, strict=False):
            assert row == allowed(manager, plain, [])[0]
            assert manager.accept_tokens(plain, [token])
        assert manager.accept_tokens(drafted, new)
        place += len(new)
    assert grammar_of(drafted).is_terminated()


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        ({"json": {"type": "array", "items": {"type": "integer"}}}, "[1, 2]"),
        ({"json_object": True}, '{"a": []}'),
        ({"regex": r"\d{4}-\d\d"}, "2026-11"),
        ({"choice": ["yes", "no, \u00e9"]}, "no, \u00e9"),
        ({"grammar": 'start: "x"+ y\ny: /[0-9]+/'}, "xx12"),
        ({"grammar": 'root ::= "a" b\nb ::= [0-9]+'}, "a12"),
    ],
    ids=["json", "json_object", "regex", "choice", "lark", "gbnf"],
)
def test_kinds(
    manager: Any, tokenizer: Any, new_request: Requests, wanted: dict[str, Any], text: str
) -> None:
    request = new_request(manager, **wanted)
    for token in [*ids(tokenizer, text), STOP]:
        assert token in allowed(manager, request, [])[0]
        assert manager.accept_tokens(request, [token])
    assert grammar_of(request).is_terminated()


AGES = {"type": "object", "properties": {"age": {"type": "integer"}}, "required": ["age"]}
TAGS = {
    "older": {
        "structures": [
            {"begin": "<f=age>", "schema": AGES, "end": "</f>"},
            {"begin": "<f=flag>", "schema": {"type": "boolean"}, "end": "</f>"},
        ],
        "triggers": ["<f="],
    },
    "newer": {
        "type": "structural_tag",
        "format": {
            "type": "triggered_tags",
            "triggers": ["<f="],
            "tags": [
                {
                    "type": "tag",
                    "begin": f"<f={name}>",
                    "content": {"type": "json_schema", "json_schema": schema},
                    "end": "</f>",
                }
                for name, schema in (("age", AGES), ("flag", {"type": "boolean"}))
            ],
        },
    },
}
TAGGED = 'So: <f=age>{"age": 12}</f> and <f=flag>true</f>, done'


@pytest.mark.parametrize("form", TAGS)
def test_structural_tags(manager: Any, tokenizer: Any, new_request: Requests, form: str) -> None:
    """Text is free until a trigger, constrained from it to the end of its tag, and free again."""
    request = new_request(manager, structural_tag=json.dumps(TAGS[form]))
    tokens = ids(tokenizer, TAGGED)
    written = ""
    for token in tokens:
        (row,) = allowed(manager, request, [])
        assert token in row
        in_tag = written.count("<f=") > written.count("</f>")
        assert (STOP in row) is not in_tag
        assert (len(row) < WIDTH / 2) or not in_tag
        assert manager.accept_tokens(request, [token])
        written += tokenizer.decode([token])
    assert written == TAGGED
    assert manager.accept_tokens(request, [STOP])
    assert grammar_of(request).is_terminated()


@pytest.mark.parametrize("form", TAGS)
@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("no tags < f=", "no tags < f="),
        ("<f=name>", "<f="),
        ('<f=flag>{"age"', "<f=flag>"),
        ('<f=age>{"age": "', '<f=age>{"age": '),
        ("<f=flag>false</g>", "<f=flag>false</"),
    ],
)
def test_drafts_of_tags(
    manager: Any, tokenizer: Any, new_request: Requests, form: str, text: str, valid: str
) -> None:
    """The part of a draft that is not allowed is cut off, also where the draft has the trigger."""
    request = new_request(manager, structural_tag=json.dumps(TAGS[form]))
    draft = [token for byte in text for token in ids(tokenizer, byte)]  # character by character
    assert tokenizer.decode(draft) == text
    found: list[int] = []
    while len(found) < len(draft):
        step = manager.validate_tokens(request, draft[len(found) : len(found) + DRAFT])
        rows = allowed(manager, request, step)
        assert all(token in row for token, row in zip(step, rows, strict=False))
        assert manager.accept_tokens(request, step)
        found += step
        if len(step) < DRAFT:
            break
    assert tokenizer.decode(found) == valid


def test_a_token_may_complete_a_trigger_and_go_on(
    manager: Any, tokenizer: Any, new_request: Requests
) -> None:
    """In one token, only the text of a tag may follow the trigger."""
    form = {
        "structures": [{"begin": "=list", "schema": {"type": "array"}, "end": "."}],
        "triggers": ["="],
    }
    request = new_request(manager, structural_tag=json.dumps(form))
    (row,) = allowed(manager, request, [])
    texts = {token: tokenizer.decode([token]) for token in (*ids(tokenizer, "==="), *ids(tokenizer, 'a="'))}
    for token, text in texts.items():
        expected = "=" not in text or "=list".startswith(text[text.index("=") :])
        assert (token in row) is expected, text


def test_stop_tokens_are_those_of_the_request(manager: Any, tokenizer: Any, new_request: Requests) -> None:
    turn = tokenizer.convert_tokens_to_ids("<end_of_turn>")
    first, second = (new_request(manager, regex="ok", stop=stop) for stop in ((1,), (1, turn)))
    for request, expected in ((first, {1}), (second, {1, turn})):
        assert manager.accept_tokens(request, ids(tokenizer, "ok"))
        assert allowed(manager, request, []) == [expected]


def test_a_failed_grammar_fails_alone(manager: Any, new_request: Requests) -> None:
    request = new_request(manager, json={"type": "string", "minLength": 3, "maxLength": 2})
    assert isinstance(grammar_of(request), Exception)


class Reasoner:
    """Thinks until the token 107, a line break."""

    END = 107

    def __init__(self, tokenizer: Any) -> None:
        pass

    def is_reasoning_end(self, input_ids: list[int]) -> bool:
        return self.END in input_ids

    def is_reasoning_end_streaming(self, input_ids: list[int], delta_ids: list[int]) -> bool:
        return self.END in delta_ids


def test_reasoning_ends_within_a_draft(new_manager: Any, tokenizer: Any, new_request: Requests) -> None:
    """Tokens of the thinking are free, also within the draft; the text after it is constrained."""
    manager = new_manager(reasoner=Reasoner)
    request = new_request(manager, regex="[0-9]{2}")
    thought, digits = ids(tokenizer, "hm")[0], ids(tokenizer, "42")
    drafts = [thought, Reasoner.END, digits[0]]
    assert manager.validate_tokens(request, drafts) == drafts
    assert manager.validate_tokens(request, [thought, Reasoner.END, thought]) == drafts[:2]
    rows = allowed(manager, request, drafts)
    assert [len(row) for row in rows[:2]] == [WIDTH, WIDTH]
    assert digits[0] in rows[2]
    assert thought not in rows[2]
    assert digits[1] in rows[3]
    request.all_token_ids += drafts
    assert manager.accept_tokens(request, drafts)
    assert digits[1] in allowed(manager, request, [])[0]
    assert manager.accept_tokens(request, [digits[1]])
    assert allowed(manager, request, []) == [{STOP}]


def test_masks_are_as_wide_as_the_model(new_manager: Any, tokenizer: Any, new_request: Requests) -> None:
    """Logits are padded to a round number; no text needs the padding."""
    width = len(tokenizer) + 50
    manager = new_manager(width=width)
    request = new_request(manager, regex=".*")
    rows = manager.grammar_bitmask({request.request_id: request}, [request.request_id], {})
    assert len(rows) in (1, DRAFT + 1)  # vLLM 0.33 has a block of rows for each request
    assert rows.shape[1] == (width + 31) // 32
    assert rows.dtype == np.int32
    assert max(allowed(manager, request, [])[0]) < len(tokenizer)
    assert not manager.accept_tokens(request, [width - 1])


def test_rows_of_several_requests(manager: Any, tokenizer: Any, new_request: Requests) -> None:
    """vLLM 0.33 has a block of rows for each request; 0.32 has as many rows as there are drafts."""
    first, second = new_request(manager, regex="[0-9]{4}"), new_request(manager, regex="[a-z]+")
    digits, letters = ids(tokenizer, "2026"), ids(tokenizer, "ab")
    names = [first.request_id, second.request_id]
    drafts = {names[0]: manager.validate_tokens(first, digits[:2])}
    rows = manager.grammar_bitmask({names[0]: first, names[1]: second}, names, drafts)
    assert len(rows) in (4, 2 * (DRAFT + 1))
    of_second = len(rows) // 2 if len(rows) > 4 else 3

    def has(row: int, token: int) -> bool:
        return bool(rows[row][token // 32] >> token % 32 & 1)

    assert [has(row, digits[row]) for row in range(3)] == [True] * 3
    assert not any(has(row, letters[0]) for row in range(3))
    assert has(of_second, letters[0])
    assert not has(of_second, digits[0])


def test_ends_of_reasoning_that_the_constraint_does_not_allow(
    new_manager: Any, tokenizer: Any, new_request: Requests
) -> None:
    """vLLM 0.33 asks for single tokens while a model thinks, and forbids those that are refused."""
    from vllm.parser.engine.adapters import ParserEngineReasoningAdapter

    digit, letter = ids(tokenizer, "4")[0], ids(tokenizer, "a")[0]

    class Parser(ParserEngineReasoningAdapter):
        reasoning_end_token_ids = frozenset({digit, letter})
        implicit_reasoning_end_token_ids = reasoning_end_token_ids

        def __init__(self, tokenizer: Any) -> None:
            pass

        def is_reasoning_end(self, input_ids: Any) -> bool:
            return False

    manager = new_manager(reasoner=Parser)
    if not hasattr(manager, "_masked_reasoning_ends"):
        pytest.skip("vLLM 0.32 forbids no ends of reasoning")
    request = new_request(manager, regex="[0-9]{2}")
    (row,) = allowed(manager, request, [])
    assert len(row) == WIDTH - 1
    assert letter not in row
    assert grammar_of(request).validate_tokens([digit]) == [digit]  # the state is as it was


def schema_of_a_megabyte(prefix: str) -> str:
    return json.dumps({"enum": [f"{prefix}{number:07d}-" + "x" * 40 for number in range(20_000)]})


def test_a_schema_of_a_megabyte(manager: Any, tokenizer: Any, new_request: Requests) -> None:
    schema = schema_of_a_megabyte("a")
    assert len(schema) > 1_000_000
    request = new_request(manager, json=schema)
    text = ids(tokenizer, json.loads(schema)["enum"][12345].join(['"', '"']))
    for token in [*text, STOP]:
        assert token in allowed(manager, request, [])[0]
        assert manager.accept_tokens(request, [token])


def test_a_request_that_is_given_up_while_its_grammar_is_made(
    new_manager: Any, tokenizer: Any, new_request: Requests
) -> None:
    """vLLM forgets it; others are served, and the manager ends."""
    manager = new_manager(in_threads=True)
    given_up = new_request(manager, json=schema_of_a_megabyte("b"))
    assert isinstance(given_up.structured_output_request._grammar, Future)
    del given_up
    other = new_request(manager, regex="ok")
    assert other.structured_output_request._grammar.result(timeout=60).validate_tokens([STOP]) == []
    assert other.structured_output_request.is_grammar_ready
    assert manager.accept_tokens(other, ids(tokenizer, "ok"))
    last = new_request(manager, json=schema_of_a_megabyte("c"))
    manager.clear_backend()
    assert manager.backend is None
    assert last.structured_output_request._grammar.done()


@pytest.mark.parametrize("token", [-1, WIDTH, WIDTH + 5, 2**31 - 1, 2**40])
def test_tokens_out_of_range(manager: Any, tokenizer: Any, new_request: Requests, token: int) -> None:
    """They are not allowed; the request goes on."""
    request = new_request(manager, regex="ok")
    grammar = grammar_of(request)
    text = ids(tokenizer, "ok")
    assert not manager.accept_tokens(request, [token])
    assert grammar.validate_tokens([token]) == []
    assert grammar.validate_tokens([*text, token]) == text
    assert manager.accept_tokens(request, [*text, STOP])
    assert grammar.is_terminated()


def test_a_control_token_that_the_tokenizer_lacks(
    manager: Any, new_request: Requests, caplog: pytest.LogCaptureFixture
) -> None:
    """Only the engine can know: the request fails alone, and is logged once."""
    caplog.set_level("ERROR")
    request = new_request(manager, grammar='start: <|no_such_token|> "a"')
    error = grammar_of(request)
    assert isinstance(error, tk.UnknownTokenError)
    assert (
        sum("no_such_token" in record.getMessage() + str(record.exc_info) for record in caplog.records) <= 1
    )
    assert not isinstance(grammar_of(new_request(manager, regex="a")), Exception)


def test_an_extra_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The front end refuses the request, and names the package."""
    from vllm.exceptions import VLLMValidationError
    from vllm.sampling_params import SamplingParams, StructuredOutputsParams

    from tokamata.integrations.vllm.slot import validate

    monkeypatch.setitem(sys.modules, "lark", None)
    wanted = StructuredOutputsParams(grammar='start: "not seen before" /[0-9]/')
    with pytest.raises(VLLMValidationError, match=r"tokamata: .*'lark', which is not installed"):
        validate(SamplingParams(structured_outputs=wanted))
