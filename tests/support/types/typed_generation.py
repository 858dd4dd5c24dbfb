"""What type checkers know of generate: the value of the constraint, and one result or several."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tokamata as tk


@dataclass
class Painter:
    name: str


if TYPE_CHECKING:
    from typing_extensions import assert_type


def generations(
    model: Any,
    tokenizer: Any,
    number: tk.Constraint[int],
    text: tk.CompiledConstraint[str],
    ids: list[int],
    chat: list[dict[str, str]],
    texts: list[str],
) -> None:
    assert_type(tk.generate(model, tokenizer, "x", number), "tk.Generation[int]")
    assert_type(tk.generate(model, tokenizer, "x", number, seed=1, on_text=print).parse(), int)
    assert_type(tk.generate(model, tokenizer, ids, text).parse(), str)
    assert_type(tk.generate(model, tokenizer, chat, number).parse(), int)
    assert_type(tk.generate(model, tokenizer, [{"role": "user", "content": "x"}], text).parse(), str)
    assert_type(tk.generate(model, tokenizer, "x", None), "tk.Generation[Any]")
    assert_type(tk.generate(model, tokenizer, texts, number), "list[tk.Generation[int]]")
    assert_type(tk.generate(model, tokenizer, ["a", "b"], [number, number]), "list[tk.Generation[int]]")
    assert_type(tk.generate(model, tokenizer, [ids, ids], text, max_new_tokens=5)[0].parse(), str)
    assert_type(tk.generate(model, tokenizer, [chat], number)[0].parse(), int)
    assert_type(tk.generate(model, tokenizer, ["a", ids, chat], number)[0].parse(), int)
    assert_type(tk.generate(model, tokenizer, ["a", "b"], [number, None]), "list[tk.Generation[Any]]")
    assert_type(tk.generate(model, tokenizer, ["a", "b"], None), "list[tk.Generation[Any]]")


def given(model: Any, tokenizer: Any, schema: dict[str, Any], texts: list[str], policy: tk.Policy) -> None:
    assert_type(tk.generate(model, tokenizer, "x", Painter), "tk.Generation[Painter]")
    assert_type(
        tk.generate(model, tokenizer, "x", Painter, policy=policy), "tk.Generation[Painter] | tk.Abstention"
    )
    assert_type(tk.generate(model, tokenizer, "x", list[int]).parse(), list[int])
    assert_type(tk.generate(model, tokenizer, "x", schema), "tk.Generation[Any]")
    assert_type(tk.generate(model, tokenizer, texts, Painter), "list[tk.Generation[Painter]]")
    assert_type(tk.generate(model, tokenizer, texts, [Painter, Painter]), "list[tk.Generation[Painter]]")
    assert_type(tk.generate(model, tokenizer, texts, [Painter, schema]), "list[tk.Generation[Any]]")
    assert_type(tk.generate(model, tokenizer, texts, schema), "list[tk.Generation[Any]]")
    assert_type(tk.stream(model, tokenizer, "x", Painter), "tk.Stream[Painter]")
    assert_type(tk.stream(model, tokenizer, "x", schema, seed=1), "tk.Stream[Any]")
    assert_type(tk.stream(model, tokenizer, "x", None), "tk.Stream[Any]")
    assert_type(tk.sample(model, tokenizer, "x", Painter, 3), "tk.Samples[Painter]")
    assert_type(tk.sample(model, tokenizer, "x", schema, 3), "tk.Samples[Any]")
    assert_type(tk.beam_search(model, tokenizer, "x", Painter), "tk.Beams[Painter]")
    assert_type(tk.probabilities(model, tokenizer, "x", bool), "tk.ValueProbabilities[bool]")
    assert_type(tk.probabilities(model, tokenizer, "x", Literal["a"]), "tk.ValueProbabilities[Any]")
    assert_type(tk.sample(model, tokenizer, "x", Literal["a"], 3), "tk.Samples[Any]")
    assert_type(tk.beam_search(model, tokenizer, "x", Literal["a"]), "tk.Beams[Any]")
    assert_type(tk.choice(["none", Painter]), tk.Constraint[Any])
    assert_type(tk.think_first(Painter).parse("").answer, Any)
    assert_type(tk.think_first(Painter).parse("")[1], Painter)
    assert_type(tk.think_first(Literal["a"]).parse("")[1], Any)
    assert_type(tk.generate(model, tokenizer, "x", Literal["a", "b"]), "tk.Generation[Any]")
    assert_type(tk.generate(model, tokenizer, texts, Annotated[int, "x"]), "list[tk.Generation[Any]]")
    assert_type(tk.stream(model, tokenizer, "x", int | None), "tk.Stream[Any]")
    assert_type(tk.choice([Literal["a"], Annotated[int, "x"]]), tk.Constraint[Any])
    assert_type(tk.delimited_list(Painter, tk.literal(", ")).parse(""), list[Painter])


def steps(model: Any, tokenizer: Any, number: tk.Constraint[int], chat: list[dict[str, str]]) -> None:
    stream = tk.stream(model, tokenizer, chat, number)
    assert_type(stream, "tk.Stream[int]")
    assert stream.generation is not None
    assert_type(stream.generation.parse(), int)


def beams(model: Any, tokenizer: Any, number: tk.Constraint[int]) -> None:
    assert_type(tk.beam_search(model, tokenizer, "x", number), "tk.Beams[int]")
    assert_type(tk.beam_search(model, tokenizer, "x", number, beams=2)[0].parse(), int)
    careful = tk.beam_search(model, tokenizer, "x", number, policy=tk.Policy(), banned_tokens=[1])
    assert_type(careful, "tk.Beams[int] | tk.Abstention")
