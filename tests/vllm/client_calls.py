"""What clients of OpenAI-compatible servers make of a class: runs in an environment of theirs, not of vLLM.

    python client_calls.py BASE MODEL CALL …

Writes a line of JSON for each call: its name, and the person that it has made, or the error.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any

os.environ |= {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "HAYSTACK_TELEMETRY_ENABLED": "False"}

from pydantic import BaseModel, Field

PROMPT = "A person"
TOKENS = 60


class Person(BaseModel):
    """A person."""

    name: str = Field(max_length=20)
    ages: list[int] = Field(max_length=3)


def langchain(base: str, model: str, method: Any) -> Any:
    from langchain_openai import ChatOpenAI

    chat = ChatOpenAI(base_url=base, api_key="x", model=model, max_tokens=TOKENS, temperature=1, seed=1)
    return chat.with_structured_output(Person, method=method).invoke(PROMPT)


def pydantic_ai(base: str, model: str, is_native: bool) -> Any:
    from pydantic_ai import Agent, NativeOutput
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    chat = OpenAIChatModel(model, provider=OpenAIProvider(base_url=base, api_key="x"))
    output: Any = NativeOutput(Person) if is_native else Person
    agent = Agent(chat, output_type=output, model_settings={"max_tokens": TOKENS, "seed": 1})
    return agent.run_sync(PROMPT).output


def haystack(base: str, model: str) -> Any:
    from haystack.components.generators.chat import OpenAIChatGenerator
    from haystack.dataclasses import ChatMessage
    from haystack.utils import Secret

    generator = OpenAIChatGenerator(
        api_base_url=base,
        api_key=Secret.from_token("x"),
        model=model,
        generation_kwargs={"max_tokens": TOKENS, "response_format": Person},
    )
    return Person.model_validate_json(generator.run([ChatMessage.from_user(PROMPT)])["replies"][0].text)


def dspy(base: str, model: str) -> Any:
    """DSPy sends no schema to a model of which it does not know that it takes one, so this says it."""
    import dspy as library
    from dspy.lm15 import (
        AccessPolicy,
        EndpointSupport,
        ModelSupport,
        OpenAIChatCompat,
        ProviderDefinition,
        register_provider,
    )

    access = AccessPolicy("my-vllm", supports=EndpointSupport(complete=True, stream=True), base_url=base)
    register_provider(
        ProviderDefinition.chat(access, compat=OpenAIChatCompat.preset("vllm")),
        supports=ModelSupport(response_schema=True, function_calling=True),
    )

    class Read(library.Signature):
        """Read a person from the text."""

        text: str = library.InputField()
        person: Person = library.OutputField()

    chat = library.LM(f"my-vllm/{model}", api_base=base, api_key="x", max_tokens=80, cache=False)
    with library.context(lm=chat, adapter=library.JSONAdapter()):
        return library.Predict(Read)(text="Ann is 4").person


def instructor(base: str, model: str, mode: str, is_partial: bool = False) -> Any:
    import instructor as library
    import openai

    client = library.from_openai(openai.OpenAI(base_url=base, api_key="x"), mode=library.Mode[mode])
    messages: Any = [{"role": "user", "content": PROMPT}]
    wanted: Any = {
        "model": model,
        "messages": messages,
        "response_model": Person,
        "max_tokens": TOKENS,
        "seed": 1,
    }
    if not is_partial:
        return client.chat.completions.create(max_retries=0, **wanted)
    parts = list(client.chat.completions.create_partial(**wanted))
    assert len(parts) > 2, parts
    return Person.model_validate(parts[-1].model_dump())


def llama_index(base: str, model: str) -> Any:
    from llama_index.llms.openai_like import OpenAILike

    chat = OpenAILike(
        model=model,
        api_base=base,
        api_key="x",
        is_chat_model=True,
        is_function_calling_model=True,
        max_tokens=TOKENS,
        should_use_structured_outputs=True,
    )
    return chat.as_structured_llm(Person).complete(PROMPT).raw


CALLS: dict[str, Callable[[str, str], Any]] = {
    "langchain-json_schema": lambda base, model: langchain(base, model, "json_schema"),
    "langchain-function_calling": lambda base, model: langchain(base, model, "function_calling"),
    "pydantic_ai-tool": lambda base, model: pydantic_ai(base, model, False),
    "pydantic_ai-native": lambda base, model: pydantic_ai(base, model, True),
    "haystack": haystack,
    "dspy": dspy,
    "instructor-json_schema": lambda base, model: instructor(base, model, "JSON_SCHEMA"),
    "instructor-tools": lambda base, model: instructor(base, model, "TOOLS"),
    "instructor-partial": lambda base, model: instructor(base, model, "JSON_SCHEMA", is_partial=True),
    "llama_index": llama_index,
}
"""What is called: each takes the URL of the server and the name of the model."""


def main() -> None:
    """Make the calls, one after another; an error of one is its result."""
    base, model, *names = sys.argv[1:]
    for name in names:
        result: dict[str, Any] = {"call": name}
        try:
            person = CALLS[name](base, model)
            result["person"] = Person.model_validate(person).model_dump()
        except Exception as error:  # what a client raises is what the test shows
            result["error"] = f"{type(error).__name__}: {error}"[:2000]
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
