"""What an OpenAI client relies on, of vLLM's own server with tokamata: the answers keep their promises.

The model is small and untrained for any of this, so that nothing but the masks makes the texts right.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from typing import Any

import jsonschema
import openai
import pydantic
import pytest

from tests.vllm.serving import MODEL, Server

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 20},
        "ages": {
            "type": "array",
            "items": {"type": "integer", "minimum": 0, "maximum": 120},
            "maxItems": 3,
        },
    },
    "required": ["name", "ages"],
    "additionalProperties": False,
}
FORMAT: Any = {"type": "json_schema", "json_schema": {"name": "person", "schema": SCHEMA, "strict": True}}
PERSON = "A person as JSON with name and ages."

Chat = Callable[..., Any]

pytestmark = pytest.mark.timeout(900)  # the first test waits for the server


@pytest.fixture
def client(server: Server) -> openai.OpenAI:
    return openai.OpenAI(base_url=server.base, api_key="x", timeout=120, max_retries=0)


@pytest.fixture
def chat(client: openai.OpenAI) -> Chat:
    """Ask for a text, drawn with a seed."""

    def ask(prompt: str = PERSON, **options: Any) -> Any:
        wanted = {"max_tokens": 60, "temperature": 1.0, "seed": 1} | options
        messages: Any = [{"role": "user", "content": prompt}]
        return client.chat.completions.create(model=MODEL, messages=messages, **wanted)

    return ask


def outputs(**wanted: Any) -> dict[str, Any]:
    """The field of a request that is vLLM's own."""
    return {"structured_outputs": wanted}


def text_of(answer: Any) -> str:
    """The only text of an answer, which has ended by itself."""
    (choice,) = answer.choices
    assert choice.finish_reason == "stop", choice
    assert isinstance(choice.message.content, str)
    return choice.message.content


def check_person(text: str) -> None:
    jsonschema.validate(json.loads(text), SCHEMA)


def test_a_schema(chat: Chat) -> None:
    check_person(text_of(chat(response_format=FORMAT)))


def test_a_schema_within_few_tokens(chat: Chat) -> None:
    check_person(text_of(chat(response_format=FORMAT, max_tokens=16)))


def test_any_object(chat: Chat) -> None:
    text = text_of(chat(response_format={"type": "json_object"}, max_tokens=30))
    assert isinstance(json.loads(text), dict)


def test_a_stream(chat: Chat) -> None:
    parts, reasons, usage = [], [], None
    for chunk in chat(response_format=FORMAT, stream=True, stream_options={"include_usage": True}):
        for choice in chunk.choices:
            parts.append(choice.delta.content or "")
            reasons += [choice.finish_reason] if choice.finish_reason else []
        usage = chunk.usage or usage
    check_person("".join(parts))
    assert len(parts) > 2
    assert reasons == ["stop"]
    assert usage is not None
    assert usage.completion_tokens > 2


@pytest.mark.parametrize(
    ("wanted", "pattern"),
    [
        ({"regex": r"\d{4}-\d\d-\d\d"}, r"\d{4}-\d\d-\d\d"),
        ({"choice": ["yes", "no"]}, "yes|no"),
        ({"grammar": 'root ::= [a-c]+ ("," root)?'}, "[a-c]+(,[a-c]+)*"),
        ({"grammar": 'start: W ("," W)*\nW: /[a-c]+/'}, "[a-c]+(,[a-c]+)*"),
    ],
    ids=["regex", "choice", "gbnf", "lark"],
)
def test_structured_outputs(chat: Chat, wanted: dict[str, Any], pattern: str) -> None:
    assert re.fullmatch(pattern, text_of(chat(extra_body=outputs(**wanted), max_tokens=20)))


def test_a_structural_tag(chat: Chat) -> None:
    content = {"type": "json_schema", "json_schema": SCHEMA}
    form = {"type": "tag", "begin": "<p>", "content": content, "end": "</p>"}
    text = text_of(chat(response_format={"type": "structural_tag", "format": form}))
    match = re.fullmatch("<p>(.*)</p>", text, re.DOTALL)
    assert match is not None, text
    check_person(match[1])


def test_a_schema_that_cannot_be_enforced(chat: Chat, server: Server) -> None:
    """The status 400, with the JSON Pointer."""
    schema = {"properties": {"a": {"type": "int"}}}
    with pytest.raises(openai.BadRequestError, match=r"tokamata: in the schema at /properties/a: .*'type'"):
        chat(response_format={"type": "json_schema", "json_schema": {"name": "x", "schema": schema}})
    assert server.is_healthy()


def test_a_schema_without_values(chat: Chat) -> None:
    with pytest.raises(openai.BadRequestError, match="matches no text"):
        chat(response_format={"type": "json_schema", "json_schema": {"name": "x", "schema": {"enum": []}}})


def test_a_field_of_older_versions_is_ignored_by_vllm(chat: Chat) -> None:
    """Not by tokamata, which does not see it: the text is free."""
    (choice,) = chat(extra_body={"guided_json": SCHEMA}, max_tokens=4).choices
    assert not choice.message.content.lstrip().startswith('{"name"')


def test_log_probabilities(chat: Chat) -> None:
    """vLLM sends -9999 for what a mask forbids; JSON has no infinity."""
    answer = chat(response_format=FORMAT, logprobs=True, top_logprobs=3)
    check_person(text_of(answer))
    written = answer.choices[0].logprobs.content
    assert "".join(token.token for token in written).startswith(answer.choices[0].message.content)
    assert all(token.logprob > -1000 for token in written)
    found = [other.logprob for token in written for other in token.top_logprobs]
    assert all(-9999.0 <= value <= 0.0 for value in found)


def test_several_texts(chat: Chat) -> None:
    answer = chat(response_format=FORMAT, n=3)
    assert len(answer.choices) == 3
    for choice in answer.choices:
        assert choice.finish_reason == "stop"
        check_person(choice.message.content)


def test_a_stop_string(chat: Chat) -> None:
    """vLLM cuts the text there."""
    text = text_of(chat(response_format=FORMAT, stop=["ages"]))
    assert text.endswith('"')
    assert "ages" not in text


def test_biased_tokens(chat: Chat) -> None:
    check_person(text_of(chat(response_format=FORMAT, logit_bias={"236761": -100})))


def test_responses(client: openai.OpenAI) -> None:
    form: Any = {"type": "json_schema", "name": "person", "schema": SCHEMA, "strict": True}
    answer = client.responses.create(
        model=MODEL, input=PERSON, max_output_tokens=60, text={"format": form}, temperature=1.0
    )
    assert answer.status == "completed"
    check_person(answer.output_text)


def test_completions(client: openai.OpenAI) -> None:
    answer = client.completions.create(
        model=MODEL, prompt="Date: ", max_tokens=20, extra_body=outputs(regex=r"\d\d")
    )
    assert re.fullmatch(r"\d\d", answer.choices[0].text)


def test_a_class_of_pydantic(client: openai.OpenAI) -> None:
    class Person(pydantic.BaseModel):
        name: str
        ages: list[int]

    messages: Any = [{"role": "user", "content": PERSON}]
    answer = client.chat.completions.parse(
        model=MODEL, messages=messages, response_format=Person, max_tokens=60, temperature=1.0, seed=1
    )
    assert isinstance(answer.choices[0].message.parsed, Person)


def test_many_requests_of_which_some_are_given_up(server: Server) -> None:
    """A third is aborted after its first token; the others are as if alone."""

    async def one(client: openai.AsyncOpenAI, number: int) -> None:
        messages: Any = [{"role": "user", "content": PERSON}]
        options: dict[str, Any] = {"model": MODEL, "messages": messages, "seed": number, "temperature": 1.0}
        if number % 3 == 0:
            answer = await client.chat.completions.create(max_tokens=50, response_format=FORMAT, **options)
            check_person(text_of(answer))
        elif number % 3 == 1:
            wanted = outputs(regex=f"{number}x[a-z]*")
            answer = await client.chat.completions.create(max_tokens=20, extra_body=wanted, **options)
            assert re.fullmatch(f"{number}x[a-z]*", text_of(answer))
        else:
            stream = await client.chat.completions.create(
                max_tokens=50, response_format=FORMAT, stream=True, **options
            )
            async for _ in stream:
                break
            await stream.close()

    async def all_of_them() -> None:
        client = openai.AsyncOpenAI(base_url=server.base, api_key="x", timeout=120, max_retries=0)
        await asyncio.gather(*(one(client, number) for number in range(24)))

    asyncio.run(all_of_them())
    assert server.is_healthy()


def large(prefix: str) -> dict[str, Any]:
    """A schema of more than a megabyte."""
    return {"enum": [f"{prefix}{number:07d}-" + "x" * 40 for number in range(20_000)]}


def test_large_schemas(chat: Chat, server: Server) -> None:
    """A megabyte of choices is served; vLLM refuses a schema that nests too deep."""
    schema = large("a")
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}
    assert json.loads(text_of(chat(response_format=form, max_tokens=100))) in schema["enum"]
    nested = '{"type": "array", "items": ' * 5000 + "{}" + "}" * 5000
    with pytest.raises(openai.BadRequestError, match="nested too deeply"):
        chat(extra_body=outputs(json=nested))
    assert server.is_healthy()


def test_a_request_is_given_up_while_its_grammar_is_made(server: Server, chat: Chat) -> None:
    """Other requests are served meanwhile, and after it."""

    async def give_up() -> None:
        client = openai.AsyncOpenAI(base_url=server.base, api_key="x", timeout=0.5, max_retries=0)
        messages: Any = [{"role": "user", "content": "x"}]
        with pytest.raises(openai.APITimeoutError):
            await client.chat.completions.create(
                model=MODEL, messages=messages, max_tokens=400, extra_body=outputs(json=large("b"))
            )

    asyncio.run(give_up())
    assert text_of(chat(extra_body=outputs(regex="ok"))) == "ok"
    assert server.is_healthy()


def test_tokens_out_of_range(chat: Chat, server: Server) -> None:
    """As stop tokens; vLLM checks the others itself."""
    body = outputs(regex="ok") | {"stop_token_ids": [5, 262_143, 300_000]}
    assert text_of(chat(extra_body=body)) == "ok"
    assert server.is_healthy()
