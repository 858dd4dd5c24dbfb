"""What errors say about a call: arguments of other names, left out, too many, or in another order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tokamata as tk
from tests.support.vocabularies import BYTES
from tokamata.integrations.transformers import ConstraintLogitsProcessor

given: Any = tk  # mistakes are mistakes to a type checker as well
R: Any = tk.regex("a")
VOCABULARY = tk.Vocabulary.load([*BYTES, None], stop=[256])
COMPILED: Any = R.compile(VOCABULARY)


class Painter:
    """A class, in place of something else."""


class OfOpenAI:
    """As the client of a server is."""

    __module__ = "openai"


_processor: Any = ConstraintLogitsProcessor


def generate(constraint: Any, **settings: Any) -> Any:
    return given.generate(None, None, "x", constraint, **settings)


def model_error(model: Any) -> Any:
    """Generates with a constraint that is compiled, so that nothing but the model is wrong."""
    return given.generate(model, None, [97], COMPILED)


CALLS: dict[str, tuple[Callable[[], Any], tuple[str, ...]]] = {
    "stop_sequences": (lambda: generate(R, stop_sequences=["x"]), ("did you mean stop?",)),
    "n": (lambda: generate(R, n=2), ("call tokamata.sample",)),
    "num_return_sequences": (lambda: generate(R, num_return_sequences=2), ("sample",)),
    "num_beams, generate": (lambda: generate(R, num_beams=2), ("tokamata.beam_search",)),
    "stream=True": (lambda: generate(R, stream=True), ("call tokamata.stream",)),
    "messages": (lambda: generate(R, messages=[]), ("did you mean prompt?",)),
    "regex=": (lambda: generate(None, regex="a"), ("did you mean constraint?",)),
    "logprobs": (lambda: generate(R, logprobs=True), ("did you mean probabilities?",)),
    "eos_token_id": (
        lambda: generate(R, eos_token_id=1),
        ("Vocabulary.load(tokenizer, stop",),
    ),
    "repetition_penalty": (
        lambda: generate(R, repetition_penalty=1.2),
        ("ConstraintLogitsProcessor",),
    ),
    "skip_special_tokens": (
        lambda: generate(R, skip_special_tokens=True),
        ("no special tokens",),
    ),
    "limits": (
        lambda: generate(R, limits=tk.Limits()),
        ("compile the constraint with it",),
    ),
    "on_text, stream": (
        lambda: given.stream(None, None, "x", R, on_text=print),
        ("tokamata.generate",),
    ),
    "top_p, sample": (
        lambda: given.sample(None, None, "x", R, 2, top_p=0.5),
        ("leave it",),
    ),
    # Of functions that make constraints, and of classes.
    "regex(regex=)": (lambda: given.regex(regex="a"), ("did you mean pattern?",)),
    "regex(ignore_case)": (
        lambda: given.regex("a", ignore_case=True),
        ("flags=re.IGNORECASE",),
    ),
    "json_schema(indent)": (lambda: given.json_schema({}, indent=2), ('whitespace="any"',)),
    "json(schema=)": (lambda: given.json(schema={}), ("tokamata.json_schema",)),
    "grammar(parser)": (
        lambda: given.grammar("start: /a/", parser="lalr"),
        ("leave it out",),
    ),
    "think_first(max_tokens)": (
        lambda: given.think_first(Painter, max_tokens=9),
        ("think_first()", "did you mean most_tokens?"),
    ),
    "EditCosts(delete)": (lambda: given.EditCosts(delete={}), ("did you mean remove?",)),
    "Policy(retries)": (
        lambda: given.Policy(retries=2),
        ("argument of tokamata.generate",),
    ),
    "load(eos_token_id)": (
        lambda: given.Vocabulary.load([b"a"], eos_token_id=0),
        ("Vocabulary.load()", "did you mean stop?"),
    ),
    "matcher(max_new_tokens)": (
        lambda: given.regex("a").compile(VOCABULARY).matcher(max_new_tokens=5),
        ("fill_mask(row, budget)",),
    ),
    "repair(max_edits)": (lambda: R.repair("b", max_edits=1), ("at_most=",)),
    "processor(max_tokens)": (
        lambda: _processor(COMPILED, max_tokens=3),
        ("ConstraintLogitsProcessor()", "did you mean max_new_tokens?"),
    ),
    # What was left out, and what is too much.
    "generate without constraint": (
        lambda: given.generate(None, None, "x"),
        ("the argument constraint of generate() must be given", "None leaves the text free"),
    ),
    "generate(model, class)": (
        lambda: given.generate(None, Painter),
        ("the argument prompt of generate()", "the order is model, tokenizer, prompt, constraint"),
    ),
    "stream without constraint": (
        lambda: given.stream(None, None, "x"),
        ("the argument constraint of stream()",),
    ),
    "sample without n": (
        lambda: given.sample(None, None, "x", R),
        ("the argument n of sample()", "number of samples"),
    ),
    "compile without vocabulary": (lambda: R.compile(), ("Vocabulary.load(tokenizer)",)),
    "load without vocabulary": (
        lambda: given.load("tokenizer.json"),
        ("compiled.save", "Vocabulary.load reads a tokenizer"),
    ),
    "Constraint(text)": (lambda: given.Constraint("a+"), ("tokamata.regex(…)",)),
    "CompiledConstraint(a, v)": (
        lambda: given.CompiledConstraint(R, VOCABULARY),
        ("constraint.compile(vocabulary)",),
    ),
    "repairs(count)": (lambda: R.repairs("b", count=2), ("n=3 with distinct=True",)),
    "prepare(threads)": (lambda: COMPILED.prepare(threads=2), ("in a thread of your own",)),
    "tag without end": (lambda: given.tag("<a>", R), ("the argument end of tag()",)),
    "list without delimiter": (lambda: given.delimited_list(R), ("tokamata.literal",)),
    "choice(a, b)": (lambda: given.choice("a", "b"), ("pass a list: choice(['red'",)),
    "literal(a, b)": (lambda: given.literal("a", "b"), ("tokamata.choice",)),
    "type(a, b)": (lambda: given.type(int, str), ("A | B",)),
    "json(dict)": (lambda: given.json({}), ("tokamata.json_schema takes a schema",)),
    # Models, tokenizers and prompts.
    "model: name": (lambda: model_error("gpt2"), ("AutoModelForCausalLM.from_pretrained",)),
    "model: class": (lambda: model_error(Painter), ("AutoModelForCausalLM",)),
    "model: None": (lambda: model_error(None), ("model must be a causal language model",)),
    "model: client": (lambda: model_error(OfOpenAI()), ("a server does not give",)),
    "model: without logits": (
        lambda: model_error(lambda input_ids, **options: object()),
        ("whose output has logits", "AutoModelForCausalLM"),
    ),
    "tokenizer: name": (
        lambda: given.generate(None, "gpt2", "x", R),
        ("AutoTokenizer.from_pretrained",),
    ),
    "tokenizer: class": (
        lambda: given.generate(None, dict, "x", R),
        ("not the class dict", "AutoTokenizer.from_pretrained"),
    ),
    "tokenizer: vocabulary": (
        lambda: given.generate(None, VOCABULARY, "x", R),
        ("the tokenizer that the vocabulary was loaded from",),
    ),
    "prompt: constraint": (
        lambda: given.generate(None, None, R, "x"),
        ("the constraint stands after the prompt",),
    ),
    "prompt: class": (
        lambda: given.generate(None, None, Painter, "x"),
        ("the constraint stands after the prompt",),
    ),
    "prompts: one bad": (
        lambda: given.generate(None, None, ["a", None], R),
        ("prompt 1: ", "not None"),
    ),
    "prompts: pairs": (
        lambda: given.generate(None, None, [("user", "x")], R),
        ('a message is {"role"',),
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_what_is_said(name: str) -> None:
    call, wanted = CALLS[name]
    with pytest.raises(tk.ArgumentError) as caught:
        call()
    for words in wanted:
        assert words in str(caught.value)


def test_a_name_that_is_near_none_is_answered_with_all_names() -> None:
    with pytest.raises(
        tk.ArgumentError, match=r"one of banned_tokens, .*, validators, not 'wibble'"
    ) as caught:
        generate(R, wibble=3)
    assert caught.value.hint == ""


def test_methods_do_not_count_their_object() -> None:
    matcher: Any = COMPILED.matcher
    with pytest.raises(tk.ArgumentError, match=r"CompiledConstraint\.matcher\(\) by position .* not 9"):
        matcher(*range(9))


def test_arguments_may_be_given_by_name() -> None:
    assert given.choice(options=["a"]).accepts("a")
    assert given.Sampling(0.5).temperature == 0.5
    assert R.compile(vocabulary=VOCABULARY).matcher().advance(97)


@pytest.mark.parametrize("given", ["9" * 1_000_000, "inf", "nan", "1_000"])
def test_texts_that_are_no_short_number_are_not_advised(given: str) -> None:
    """Schemas come from strangers: a message stays short, whatever they wrote."""
    with pytest.raises(tk.SchemaError) as caught:
        tk.json_schema({"minimum": given})
    assert "write" not in str(caught.value)
    assert len(str(caught.value)) < 500


def test_a_long_name_of_an_argument_is_clipped() -> None:
    with pytest.raises(tk.ArgumentError) as caught:
        tk.literal("a", **{"x" * 10_000: 1})  # type: ignore[call-arg]
    assert len(str(caught.value)) < 500
