"""The entry point of vLLM: which versions it refuses, how it fails, which requests it refuses."""

from __future__ import annotations

import ast
import sys
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

import tokamata as tk
import tokamata_vllm
from tests.support import vllm_host
from tests.support.vllm_host import StructuredOutputsParams, VLLMValidationError
from tokamata.integrations.vllm import slot
from tokamata.integrations.vllm.backend import TokamataBackend
from tokamata.integrations.vllm.versions import HostError

NO_STRING = {"type": "string", "minLength": 2, "maxLength": 1}
ENFORCER = "vllm.v1.structured_output.backend_lm_format_enforcer"


def host(patch: pytest.MonkeyPatch, version: str = "0.32.0") -> dict[str, ModuleType]:
    modules = vllm_host.modules(version)
    for name, module in modules.items():
        patch.setitem(sys.modules, name, module)
    return modules


def test_vllm_finds_the_entry_point() -> None:
    (entry,) = (entry for entry in entry_points(group="vllm.general_plugins") if entry.name == "tokamata")
    assert entry.load() is tokamata_vllm.register


def test_the_entry_point_imports_nothing() -> None:
    """vLLM only logs an entry point that cannot be imported, and goes on."""
    tree = ast.parse(Path(tokamata_vllm.__file__).read_text(encoding="utf-8"))
    imported = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    assert [ast.unparse(node) for node in imported] == ["from __future__ import annotations"]


def test_register_takes_the_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    modules = host(monkeypatch)
    for _ in range(2):  # each process may do it more than once
        tokamata_vllm.register()
        assert modules[ENFORCER].LMFormatEnforcerBackend is TokamataBackend
        assert modules[ENFORCER].validate_structured_output_request_lm_format_enforcer is slot.validate
    manager = modules["vllm.v1.structured_output"].StructuredOutputManager
    assert not hasattr(manager.__init__.__wrapped__, "__wrapped__")  # wrapped once
    assert modules["vllm.plugins"].plugins_loaded is True


@pytest.mark.parametrize("version", ["0.31.2", "0.33.0", "0.320.0", "1.32", "dev", "0.3"])
def test_other_versions_are_refused(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    modules = host(monkeypatch, version)
    with pytest.raises(HostError, match=f"not with {version}; install one of these"):
        tokamata_vllm.register()
    assert modules[ENFORCER].LMFormatEnforcerBackend is object
    # vLLM asks its plug-ins once in a process, unless this says that it has not yet.
    assert modules["vllm.plugins"].plugins_loaded is False


@pytest.mark.parametrize("version", ["0.32.0", "0.32.1.dev3+cpu", "0.32"])
def test_tried_versions(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    host(monkeypatch, version)
    tokamata_vllm.register()


def test_a_part_of_vllm_that_has_moved(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LMFormatEnforcerBackend", "validate_structured_output_request_lm_format_enforcer"):
        modules = host(monkeypatch)
        delattr(modules[ENFORCER], name)
        with pytest.raises(AttributeError, match=name):
            tokamata_vllm.register()
        assert modules["vllm.plugins"].plugins_loaded is False


def test_a_method_that_we_lack(monkeypatch: pytest.MonkeyPatch) -> None:
    modules = host(monkeypatch)

    class Grown(vllm_host.StructuredOutputGrammar):
        @vllm_host.abstractmethod
        def fork(self) -> None: ...

    modules["vllm.v1.structured_output.backend_types"].StructuredOutputGrammar = Grown  # type: ignore[attr-defined]
    with pytest.raises(HostError, match="Grown has methods that tokamata lacks: fork"):
        tokamata_vllm.register()


def test_tokamata_cannot_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    modules = host(monkeypatch)
    monkeypatch.setitem(sys.modules, "tokamata.integrations.vllm.slot", None)
    with pytest.raises(ImportError):
        tokamata_vllm.register()
    assert modules["vllm.plugins"].plugins_loaded is False


def config(tokenizer: Any, backend: str = "lm-format-enforcer", skip: bool = False) -> Any:
    return SimpleNamespace(
        tokenizer=tokenizer,
        structured_outputs_config=SimpleNamespace(backend=backend),
        model_config=SimpleNamespace(
            skip_tokenizer_init=skip, get_vocab_size=lambda: len(tokenizer) + 5, max_model_len=50
        ),
    )


def test_the_backend_is_made_with_the_engine(monkeypatch: pytest.MonkeyPatch, tokenizer: Any) -> None:
    modules = host(monkeypatch)
    tokamata_vllm.register()
    manager = modules["vllm.v1.structured_output"].StructuredOutputManager
    made = manager(config(tokenizer)).backend
    assert type(made) is TokamataBackend
    assert isinstance(made, vllm_host.StructuredOutputBackend)
    made.destroy()
    assert manager(config(tokenizer, backend="auto")).backend is None
    assert manager(config(tokenizer, skip=True)).backend is None


def test_a_grammar_knows_how_short_and_how_long_its_text_may_be(
    monkeypatch: pytest.MonkeyPatch, tokenizer: Any
) -> None:
    modules = host(monkeypatch)
    tokamata_vllm.register()
    manager = modules["vllm.v1.structured_output"].StructuredOutputManager(config(tokenizer))
    key = vllm_host.StructuredOutputOptions.REGEX, "a*", {1}
    request = SimpleNamespace(
        key=key,
        max_tokens=20,
        num_output_tokens=0,
        num_tokens=10,
        sampling_params=SimpleNamespace(min_tokens=3),
    )
    grammar = manager._create_grammar(request)
    assert len(grammar.validate_tokens([1])) == 0
    assert grammar.left() == 20
    request.num_output_tokens, request.num_tokens = 4, 45
    assert grammar.left() == 5  # of the model's context
    request.num_tokens = 14
    assert grammar.left() == 16
    manager.backend.destroy()


def check(**wanted: Any) -> None:
    slot.validate(SimpleNamespace(structured_outputs=StructuredOutputsParams(**wanted)))


@pytest.mark.parametrize(
    "wanted",
    [
        {"json": {"type": "integer"}},
        {"json": '{"type": "integer"}'},
        {"json_object": True},
        {"regex": ""},
        {"regex": "a+"},
        {"choice": ["a", "b"]},
        {"grammar": 'start: "a"'},
        {"grammar": 'start: <|tool|> "a"'},  # which control tokens there are, only the engine knows
        {"grammar": 'root ::= "a"'},
    ],
    ids=str,
)
def test_requests_that_pass(monkeypatch: pytest.MonkeyPatch, wanted: dict[str, Any]) -> None:
    host(monkeypatch)
    check(**wanted)


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"json": {"properties": {"a": {"type": "int"}}}}, "/properties/a.*'type'"),
        ({"json": {"type": "object", "properties": {"a": NO_STRING}, "required": ["a"]}},
         "leave no value together.*/properties/a"),
        ({"json": False}, "no text"),
        ({"json": '{"type": '}, "JSON"),
        ({"json": ""}, "JSON"),
        ({"json_object": False}, "No valid structured output"),
        ({"regex": "(a"}, "position 0"),
        ({"regex": r"(a)\1"}, "position 3"),
        ({"regex": "a(?<=b)"}, "no text"),
        ({"choice": []}, "at least one"),
        ({"choice": "[1"}, "the JSON text of a list"),
        ({"choice": [1]}, "an option must be"),
        ({"grammar": "start: x"}, "x"),
        ({"grammar": 'root ::= "a'}, "line 1, column 10"),
        ({"structural_tag": "{}"}, "a format"),
        ({"regex": "a", "whitespace_pattern": " "}, "whitespace_pattern must be left out"),
        ({"regex": "a", "disable_any_whitespace": True}, "disable_any_whitespace must be left out"),
        ({"regex": "a", "disable_additional_properties": True}, "disable_additional_properties must be"),
    ],
    ids=str,
)  # fmt: skip
def test_requests_that_are_refused(
    monkeypatch: pytest.MonkeyPatch, wanted: dict[str, Any], message: str
) -> None:
    """In the front end, with the status 400; a second time too, though checks are cached."""
    host(monkeypatch)
    for _ in range(2):
        with pytest.raises(VLLMValidationError, match=f"(?s)^tokamata: .*(?:{message})") as caught:
            check(**wanted)
        assert isinstance(caught.value.__cause__, (tk.TokamataError, ValueError, RecursionError))


def test_a_schema_deeper_than_the_stack(monkeypatch: pytest.MonkeyPatch) -> None:
    host(monkeypatch)
    schema: dict[str, Any] = {}
    for _ in range(100_000):
        schema = {"not": schema}
    with pytest.raises(VLLMValidationError, match=r"^tokamata: .*(recursion|depth|deep)"):
        check(json=schema)
    with pytest.raises(VLLMValidationError, match=r"^tokamata: the limit depth=1000"):
        check(json='{"not":' * 100_000 + "{}" + "}" * 100_000)


def test_requests_without_a_constraint(monkeypatch: pytest.MonkeyPatch) -> None:
    host(monkeypatch)
    slot.validate(SimpleNamespace(structured_outputs=None))
