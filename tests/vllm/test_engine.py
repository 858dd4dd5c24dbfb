"""An engine of vLLM on Gemma 3 270M, with drafts by prompt look-up."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 30},
        "ages": {"type": "array", "items": {"type": "integer"}},
    },
    "required": ["name", "ages"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def engine(folder: Path) -> Any:
    from vllm import LLM

    return LLM(
        str(folder),
        dtype="bfloat16",
        enforce_eager=True,
        max_model_len=256,
        max_num_seqs=4,
        structured_outputs_config={"backend": "lm-format-enforcer"},
        speculative_config={"method": "ngram", "num_speculative_tokens": 3, "prompt_lookup_max": 3},
    )


def write(
    engine: Any, prompt: str, most: int = 60, options: dict[str, Any] | None = None, **wanted: Any
) -> Any:
    from vllm import SamplingParams
    from vllm.sampling_params import StructuredOutputsParams

    parameters = SamplingParams(
        max_tokens=most,
        structured_outputs=StructuredOutputsParams(**wanted),
        **({"temperature": 0.0} | (options or {})),
    )
    (output,) = engine.generate(prompt, parameters, use_tqdm=False)
    return output.outputs[0]


def test_texts_are_complete_and_valid(engine: Any) -> None:
    from vllm import SamplingParams
    from vllm.sampling_params import StructuredOutputsParams

    wanted = [
        ({"json": SCHEMA}, 24),
        ({"json": SCHEMA}, 40),
        ({"regex": r"\d{4}-\d\d-\d\d"}, 12),
        ({"choice": ["yes", "no"]}, 4),
        ({"grammar": 'root ::= [a-z]+ ("," root)?'}, 9),
        ({"json_object": True}, 20),
    ]
    parameters = [
        SamplingParams(
            temperature=1.0, seed=seed, max_tokens=most, structured_outputs=StructuredOutputsParams(**kind)
        )
        for seed in (1, 2)
        for kind, most in wanted
    ]
    prompt = "A person as JSON with a name and ages, then a person as JSON with a name and ages: "
    found = [
        output.outputs[0]
        for output in engine.generate([prompt] * len(parameters), parameters, use_tqdm=False)
    ]
    assert [text.finish_reason for text in found] == ["stop"] * len(found)
    for text, asked in zip(found, parameters, strict=True):
        kind = asked.structured_outputs
        if kind.json is not None:
            jsonschema.validate(json.loads(text.text), kind.json)
        elif kind.regex is not None:
            assert re.fullmatch(kind.regex, text.text)
        elif kind.choice is not None:
            assert text.text in kind.choice
        elif kind.grammar is not None:
            assert re.fullmatch("[a-z]+(,[a-z]+)*", text.text)
        else:
            assert type(json.loads(text.text)) is dict


def test_structural_tags(engine: Any) -> None:
    """Free text, and within the tags JSON of their schema; the model has to write a tag at least once."""
    tag = {
        "type": "tag",
        "begin": "<person>",
        "content": {"type": "json_schema", "json_schema": SCHEMA},
        "end": "</person>",
    }
    form = {
        "type": "triggered_tags",
        "triggers": ["<per"],
        "tags": [tag],
        "at_least_one": True,
        "stop_after_first": True,
    }
    older = {
        "structures": [{"begin": "<person>", "schema": SCHEMA, "end": "</person>"}],
        "triggers": ["<per"],
    }
    written_form = json.dumps({"type": "structural_tag", "format": form})
    text = write(engine, "A person: ", most=40, structural_tag=written_form)
    assert text.finish_reason == "stop"
    match = re.fullmatch("(?s:.*?)<person>(.*)</person>", text.text)
    assert match is not None, text.text
    jsonschema.validate(json.loads(match[1]), SCHEMA)
    free = write(engine, "<person><person><person>", most=40, structural_tag=json.dumps(older))
    assert free.finish_reason in ("stop", "length")
    for content in re.findall("(?s)<person>(.*?)</person>", free.text):
        jsonschema.validate(json.loads(content), SCHEMA)
    assert free.text.count("<per") == free.text.count("</person>")


def test_a_refused_schema_leaves_the_engine_as_it_was(engine: Any) -> None:
    from vllm.exceptions import VLLMValidationError

    with pytest.raises(VLLMValidationError, match=r"tokamata: .*/properties/a"):
        write(engine, "x", json={"properties": {"a": {"type": "int"}}})
    assert write(engine, "x", regex="ok").text == "ok"


def test_a_text_that_does_not_fit_is_cut_off(engine: Any) -> None:
    """As with every backend; nothing fails."""
    text = write(engine, "x", most=3, regex="[0-9]{20}")
    assert text.finish_reason == "length"
    assert re.fullmatch("[0-9]{1,20}", text.text)


def test_least_numbers_of_tokens(engine: Any) -> None:
    """vLLM forbids stop tokens below min_tokens, except where nothing else is allowed."""
    assert len(write(engine, "a", regex="a*", options={"min_tokens": 12}).token_ids) >= 12
    assert write(engine, "a", regex="ab", options={"min_tokens": 12}).text == "ab"


def test_ignoring_the_end(engine: Any) -> None:
    """The text is free after the stop token, as with vLLM's own backends."""
    text = write(engine, "x", most=10, regex="ab", options={"ignore_eos": True, "skip_special_tokens": False})
    assert len(text.token_ids) == 10
    assert text.text.startswith("ab<eos>")


def test_further_stop_tokens(engine: Any) -> None:
    tokenizer = engine.get_tokenizer()
    (comma,) = tokenizer.encode(",", add_special_tokens=False)
    text = write(engine, "1,2,3,4,", regex="[0-9,]{0,20}", options={"stop_token_ids": [comma]})
    assert text.finish_reason == "stop"
    assert "," not in text.text


def test_beams(engine: Any) -> None:
    """Offline beam search makes a grammar for each beam and step; the cache compiles it once."""
    from vllm.sampling_params import BeamSearchParams, StructuredOutputsParams

    asked = BeamSearchParams(
        beam_width=2,
        max_tokens=12,
        structured_outputs=StructuredOutputsParams(choice=["yes", "no", "perhaps"]),
    )
    (output,) = engine.beam_search([{"prompt": "Is it true? "}], asked)
    assert output.sequences
    for sequence in output.sequences:
        assert re.search(r"Is it true\? (yes|no|perhaps)(<eos>)?$", sequence.text), sequence.text


def test_what_vllm_lacks_is_loud(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each time, though vLLM loads its plug-ins once in a process."""
    import vllm.plugins
    import vllm.v1.structured_output.backend_lm_format_enforcer as slot
    import vllm.v1.structured_output.backend_types as types

    from tokamata.integrations.vllm.interface import HostError

    class Other:
        def __init__(self, vllm_config: Any, tokenizer: Any, vocab_size: int) -> None: ...

    monkeypatch.setattr(slot, "LMFormatEnforcerBackend", Other)
    monkeypatch.delattr(types, "StructuredOutputOptions")
    monkeypatch.setattr(vllm.plugins, "plugins_loaded", False)
    for _ in range(2):
        with pytest.raises(HostError, match="StructuredOutputOptions in vllm"):
            vllm.plugins.load_general_plugins()
