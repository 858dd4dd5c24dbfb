"""Streams: values and events of steps, closing, and the same in a thread for asyncio."""

from __future__ import annotations

import asyncio
import contextvars
import pickle
import threading
from typing import Any, Literal

import pytest
import torch

import tokamata as tk
from tests.support.models.fakes import Constant, Random
from tests.support.models.scripted import Scripted
from tests.values.test_streamed_events import merged, weather, weather_of_all
from tokamata.values.events import EventReader
from tokamata.values.forms import Reading

pydantic = pytest.importorskip("pydantic")


class Painter(pydantic.BaseModel):
    name: str
    styles: list[Literal["cubism", "expressionism"]]
    born: int = pydantic.Field(ge=1000, le=2000)


STOP = tk.control_token("<end_of_turn>")
CONSTRAINTS: list[tk.Constraint[Any]] = [
    tk.type(Painter),
    tk.tool_calls([weather, weather_of_all]),
    tk.tool_calls([weather, weather_of_all], tool_choice="required", parallel=False),
    tk.tool_calls([weather, weather_of_all], tool_choice="required", parallel=False, format="qwen3_coder"),
    tk.think_first(tk.type(Painter), most_characters=30),
    tk.regex("[a-d]{2,9};").captured("letters") + tk.json_schema({"type": "array", "maxItems": 2}),
]


def events_at_once(constraint: tk.Constraint[Any], text: str) -> list[tk.Event]:
    reader = EventReader(constraint._form, Reading("", tk.Limits(), None, has_deltas=True))
    return [*reader.feed(text.encode()), *reader.end()]


@pytest.mark.parametrize("number", range(len(CONSTRAINTS)))
def test_events_do_not_depend_on_the_tokens(tokenizer: Any, number: int) -> None:
    """Random models write random texts in random tokens; the events are those of the whole text."""
    constraint = CONSTRAINTS[number]
    compared = 0
    for seed in range(8):
        model = Random(len(tokenizer), seed)
        steps = tk.stream(model, tokenizer, "x", constraint, seed=seed, max_new_tokens=90)
        events = [event for step in steps for event in step.events]
        assert steps.generation is not None
        expected = merged(events_at_once(constraint, steps.generation.text))
        found = merged(events)
        if steps.generation.finish_reason == "complete":
            assert found == expected
            compared += 1
        else:  # the end of the text closes the rest
            cut = found[:-1] if found and found[-1][4] else found
            assert cut == expected[: len(cut)]
    assert compared > 0 or number == 1  # free text with calls can always go on


def test_values_do_not_depend_on_the_tokens(tokenizer: Any) -> None:
    for seed in range(8):
        model = Random(len(tokenizer), seed)
        with tk.stream(model, tokenizer, "x", Painter, seed=seed, max_new_tokens=90) as steps:
            written = [(step.data, step.value) for step in steps]
        assert steps.generation is not None
        whole = b""
        for data, value in written:
            whole += data
            again = tk.partial_value(whole)
            if value is None:
                assert not whole.strip()
                continue
            assert type(value) is tk.partial(Painter)
            name = (again or {}).get("name")
            assert value.name == name
            assert value.born in (None, (again or {}).get("born"))
        assert written[-1][1].model_dump() == steps.generation.parse().model_dump()


def test_texts_that_control_tokens_split(tokenizer: Any) -> None:
    constraint = tk.regex("[a-c]{2,4}").captured("first") + STOP + tk.regex("[a-c]{2}").captured("second")
    steps = tk.stream(Random(len(tokenizer), 1), tokenizer, "x", constraint, seed=1)
    events = [event for step in steps for event in step.events]
    assert steps.generation is not None
    value = steps.generation.parse()
    for name in ("first", "second"):
        mine = [event for event in events if event.pointer == f"/{name}"]
        assert "".join(event.value for event in mine if event.is_delta) == mine[-1].value
        assert mine[-1].value == getattr(value, name)


@pytest.mark.parametrize("end", [STOP, "<end_of_turn>"], ids=["control token", "its name"])
def test_values_of_thoughts_that_a_control_token_ends(tokenizer: Any, end: Any) -> None:
    """No byte of the text says where the answer begins."""
    constraint = tk.think_first(Painter, end=end, most_characters=20)
    for seed in range(4):
        steps = tk.stream(Random(len(tokenizer), seed), tokenizer, "x", constraint, seed=seed)
        written = list(steps)
        assert steps.generation is not None
        expected = steps.generation.parse()
        value = written[-1].value
        assert value.reasoning == expected.reasoning
        assert Painter(**value.answer.model_dump()) == expected.answer
        again = pickle.loads(pickle.dumps(written))
        for step, same in zip(written, again, strict=True):
            assert expected.reasoning.startswith(step.value.reasoning)
            assert step.value.answer is None or expected.answer.name.startswith(step.value.answer.name or "")
            assert same.value == step.value


def test_a_text_without_values(tokenizer: Any) -> None:
    steps = list(tk.stream(Random(len(tokenizer), 1), tokenizer, "x", None, seed=1, max_new_tokens=6))
    assert steps[-1].value == b"".join(step.data for step in steps).decode(errors="ignore")
    assert [step.events for step in steps] == [()] * len(steps)
    free = tk.stream(Random(len(tokenizer), 1), tokenizer, "x", tk.regex("[a-z]{3}"), seed=1)
    written = [*free]
    assert written[-1].value == free.generation.text  # type: ignore[union-attr]


def test_a_text_that_was_held_back_for_a_stop_text(tokenizer: Any) -> None:
    model = Scripted(tokenizer, lambda prompt: "[1, 2]\n\nmore", "A: ")
    steps = tk.stream(model, tokenizer, "A: ", tk.regex(r"(?s:.*)"), stop="\n\nm")
    written = list(steps)
    assert written[-1].value == "[1, 2]"
    assert steps.generation is not None
    assert steps.generation.text == "[1, 2]"
    # A stop text has no events, nor has what may be one.
    told = "".join(event.value for step in written for event in step.events if event.is_delta)
    assert told == "[1, 2]"
    held = Scripted(tokenizer, lambda prompt: "a\n\n", "A: ")
    steps = tk.stream(held, tokenizer, "A: ", tk.regex(r"(?s:.*)"), stop="\n\nm")
    written = list(steps)
    told = "".join(event.value for step in written for event in step.events if event.is_delta)
    assert told == "".join(step.text for step in written) == written[-1].value == "a\n\n"


def test_steps_pickle_with_their_values(tokenizer: Any) -> None:
    steps = list(tk.stream(Random(len(tokenizer), 3), tokenizer, "x", Painter, seed=3))
    again = pickle.loads(pickle.dumps(steps))
    assert again == steps
    assert [step.value for step in again] == [step.value for step in steps]


def test_closing(tokenizer: Any) -> None:
    steps = tk.stream(Random(len(tokenizer), 1), tokenizer, "x", Painter, seed=1)
    with steps as same:
        assert same is steps
        next(steps)
    assert list(steps) == []
    assert steps.generation is None
    assert steps.abstention is None
    steps.close()
    closed_before = tk.stream(Random(len(tokenizer), 1), tokenizer, "x", Painter, seed=1)
    closed_before.close()
    assert list(closed_before) == []


def test_a_stream_refuses_retries(tokenizer: Any) -> None:
    for call in (tk.stream, tk.astream):
        for name in ("retries", "max_retries"):
            with pytest.raises(tk.ArgumentError, match=r"call tokamata\.generate"):
                call(None, tokenizer, "x", Painter, **{name: 2})  # type: ignore[call-overload]


# ---- asyncio ----------------------------------------------------------------------------------------


class Slow:
    """A model of which each call waits until it is let go; it notes its threads."""

    def __init__(self, model: Any, lets_go: int | None = None) -> None:
        self.model, self.config = model, model.config
        self.threads: list[int] = []
        self.begun, self.gate = threading.Event(), threading.Semaphore(lets_go or 0)
        self.is_free = lets_go is None

    def __call__(self, **inputs: Any) -> Any:
        self.threads.append(threading.get_ident())
        self.begun.set()
        if not self.is_free:
            assert self.gate.acquire(timeout=60)
        return self.model(**inputs)


def test_the_same_steps(tokenizer: Any) -> None:
    width = len(tokenizer)
    expected = tk.stream(Random(width, 5), tokenizer, "x", Painter, seed=5)
    wanted = [*expected]
    model = Slow(Random(width, 5))

    async def main() -> None:
        async with tk.astream(model, tokenizer, "x", Painter, seed=5) as steps:
            assert steps.generation is None
            assert [step async for step in steps] == wanted
        assert steps.generation is not None
        assert expected.generation is not None
        assert steps.generation.tokens == expected.generation.tokens
        assert steps.abstention is None
        assert [step async for step in steps] == []
        with pytest.raises(tk.PicklingError, match="generation"):
            pickle.dumps(steps)

    asyncio.run(main())
    assert len(set(model.threads)) == 1
    assert threading.get_ident() not in model.threads


def test_steps_are_made_in_the_context_of_the_task(tokenizer: Any) -> None:
    request: contextvars.ContextVar[str] = contextvars.ContextVar("request", default="none")
    read = []

    class Observed(Random):
        def __call__(self, *arguments: Any, **settings: Any) -> Any:
            read.append(request.get())
            return super().__call__(*arguments, **settings)

    async def main() -> None:
        async with tk.astream(Observed(len(tokenizer), 5), tokenizer, "x", Painter, seed=5) as steps:
            for name in ("one", "two"):
                request.set(name)
                await anext(steps)

    asyncio.run(main())
    assert read == ["one", "two"]


def test_the_event_loop_goes_on_while_the_model_works(tokenizer: Any) -> None:
    model = Slow(Random(len(tokenizer), 5), lets_go=0)

    async def main() -> None:
        steps = tk.astream(model, tokenizer, "x", Painter, seed=5)
        first = asyncio.ensure_future(anext(steps))
        while not model.begun.is_set():  # the loop turns, and the model waits
            await asyncio.sleep(0.001)
        assert not first.done()
        model.gate.release()
        assert isinstance(await first, tk.Step)
        await steps.aclose()

    asyncio.run(main())
    assert len(model.threads) == 1


def test_a_cancelled_task_ends_the_work(tokenizer: Any) -> None:
    model = Slow(Random(len(tokenizer), 5), lets_go=2)

    async def main() -> None:
        steps = tk.astream(model, tokenizer, "x", Painter, seed=5)

        async def read() -> None:
            async with steps:
                async for _ in steps:
                    pass

        task = asyncio.ensure_future(read())
        while len(model.threads) < 3:  # the third call waits
            await asyncio.sleep(0.001)
        task.cancel()
        await asyncio.sleep(0.01)
        model.gate.release()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert [step async for step in steps] == []
        assert steps.generation is None

    asyncio.run(main())
    assert len(model.threads) == 3
    for thread in [one for one in threading.enumerate() if one.ident in model.threads]:
        thread.join(timeout=60)
        assert not thread.is_alive()


def test_closing_waits_for_the_model(tokenizer: Any) -> None:
    model = Slow(Random(len(tokenizer), 5), lets_go=1)

    async def main() -> None:
        steps = tk.astream(model, tokenizer, "x", Painter, seed=5)
        await anext(steps)
        second = asyncio.ensure_future(anext(steps))
        while len(model.threads) < 2:
            await asyncio.sleep(0.001)
        closing = asyncio.ensure_future(steps.aclose())
        await asyncio.sleep(0.01)
        assert not closing.done()
        model.gate.release()
        await closing
        await second
        with pytest.raises(StopAsyncIteration):
            await anext(steps)
        await steps.aclose()

    asyncio.run(main())
    assert len(model.threads) == 2


def test_errors_end_it(tokenizer: Any) -> None:
    async def main() -> None:
        for settings, error in (
            ({"max_new_tokens": 1}, tk.BudgetError),
            ({"temperature": "hot"}, tk.ArgumentError),
        ):
            steps = tk.astream(Random(len(tokenizer), 5), tokenizer, "x", Painter, **settings)
            with pytest.raises(error):
                await anext(steps)
            with pytest.raises(StopAsyncIteration):
                await anext(steps)
        nothing = torch.full((len(tokenizer),), float("nan"))
        broken = tk.astream(Constant(nothing), tokenizer, "x", Painter)
        with pytest.raises(tk.NoTokenError):
            _ = [step async for step in broken]
        await broken.aclose()

    asyncio.run(main())


def test_many_at_once(tokenizer: Any) -> None:
    width = len(tokenizer)

    async def one(seed: int) -> str:
        text = ""
        async with tk.astream(Random(width, seed), tokenizer, "x", Painter, seed=seed) as steps:
            async for step in steps:
                text += step.text
        assert steps.generation is not None
        assert text == steps.generation.text
        return text

    async def main() -> list[str]:
        return await asyncio.gather(*map(one, range(4)))

    texts = asyncio.run(main())
    for seed, text in enumerate(texts):
        assert tk.generate(Random(width, seed), tokenizer, "x", Painter, seed=seed).text == text


def in_asyncio(statement: str, made: Any) -> Any:
    """Runs a coroutine that uses a stream with a statement."""
    source = {
        "await": "await made",
        "async for": "[step async for step in made]",
        "async with": "async with made: pass",
    }
    names: dict[str, Any] = {}
    exec(f"async def use(made):\n    {source[statement]}", names)
    return asyncio.run(names["use"](made))


@pytest.mark.parametrize("statement", ["for", "next", "with", "await"])
def test_an_async_stream_says_how_it_is_used(tokenizer: Any, statement: str) -> None:
    steps: Any = tk.astream(Random(len(tokenizer), 0), tokenizer, "x", tk.regex("[ab]{3}"))
    use = {
        "for": lambda: [*steps],
        "next": lambda: next(steps),
        "with": lambda: steps.__enter__(),
        "await": lambda: in_asyncio("await", steps),
    }[statement]
    advice = "its .generation is the result" if statement == "await" else "call tokamata.stream"
    with pytest.raises(tk.ArgumentError, match=f"must be used with async for.*, not {statement}.*{advice}"):
        use()


@pytest.mark.parametrize("statement", ["async for", "async with"])
def test_a_stream_says_that_it_is_not_for_asyncio(tokenizer: Any, statement: str) -> None:
    steps = tk.stream(Random(len(tokenizer), 0), tokenizer, "x", tk.regex("[ab]{3}"))
    with pytest.raises(tk.ArgumentError, match=f"not {statement}; for asyncio call tokamata.astream"):
        in_asyncio(statement, steps)
    assert len("".join(step.text for step in steps)) == 3  # it can still be used


def test_attributes_that_a_stream_and_its_result_do_not_have(tokenizer: Any) -> None:
    steps: Any = tk.stream(Random(len(tokenizer), 0), tokenizer, "x", tk.regex("[ab]{3}"))
    with pytest.raises(AttributeError, match=r"'Stream' .* 'parse'; .*steps\.generation\.parse\(\)"):
        steps.parse()
    assert len("".join(step.text for step in steps)) == 3
    for name, advice in (("value", "call parse()"), ("parsed", "call parse()"), ("content", "its text")):
        with pytest.raises(AttributeError) as caught:
            getattr(steps.generation, name)
        assert advice in str(caught.value)
    assert not hasattr(steps.generation, "wibble")
    assert pickle.loads(pickle.dumps(steps.generation)) == steps.generation
