"""The entry point of vLLM: which versions it refuses, how it fails, which requests it refuses."""

from __future__ import annotations

import ast
import enum
import pickle
import sys
import warnings
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
from tokamata.integrations.vllm.interface import HostError, HostWarning

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


@pytest.mark.parametrize("version", ["0.31.2", "0.34.0", "0.320.0", "1.32", "dev", "0.3"])
def test_an_untried_version_with_all_parts_is_served(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    modules = host(monkeypatch, version)
    with pytest.warns(HostWarning, match=f"not with {version}; it has all") as caught:
        tokamata_vllm.register()
    assert modules[ENFORCER].LMFormatEnforcerBackend is TokamataBackend
    (warning,) = caught
    assert isinstance(warning.message, HostWarning)
    assert warning.message.version == version
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tokamata_vllm.register()  # one warning in a process


def test_a_version_without_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    modules = host(monkeypatch)
    del modules["vllm"].__version__
    with pytest.warns(HostWarning, match="of an unknown version"):
        tokamata_vllm.register()


@pytest.mark.parametrize("version", ["0.32.0", "0.32.1.dev3+cpu", "0.32", "0.33.0", "0.33rc1"])
def test_tried_versions(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    host(monkeypatch, version)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tokamata_vllm.register()


OUTPUT = "vllm.v1.structured_output"


@pytest.mark.parametrize(
    ("module", "name"),
    [
        (ENFORCER, "LMFormatEnforcerBackend"),
        (ENFORCER, "validate_structured_output_request_lm_format_enforcer"),
        (OUTPUT, "StructuredOutputManager"),
        (f"{OUTPUT}.backend_types", "StructuredOutputGrammar"),
        (f"{OUTPUT}.backend_types", "StructuredOutputBackend"),
        (f"{OUTPUT}.backend_types", "StructuredOutputOptions"),
        (f"{OUTPUT}.request", "get_structured_output_key"),
        ("vllm.exceptions", "VLLMValidationError"),
        ("vllm.v1.request", "Request"),
        ("vllm.sampling_params", "SamplingParams"),
    ],
)
def test_a_part_of_vllm_that_has_moved(monkeypatch: pytest.MonkeyPatch, module: str, name: str) -> None:
    """The version does not matter: what is missing is named, and the slot stays as it was."""
    modules = host(monkeypatch)
    delattr(modules[module], name)
    before = dict(vars(modules[ENFORCER]))
    with pytest.raises(HostError, match=f"lacks what tokamata needs: {name} in {module}; install") as caught:
        tokamata_vllm.register()
    assert caught.value.missing == (f"{name} in {module}",)
    # vLLM asks its plug-ins once in a process, unless this says that it has not yet.
    assert modules["vllm.plugins"].plugins_loaded is False
    assert dict(vars(modules[ENFORCER])) == before


def test_a_module_that_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the slot will be in vLLM 0.35: everything that is missing is in one message."""
    host(monkeypatch)
    monkeypatch.setitem(sys.modules, ENFORCER, None)
    with pytest.raises(HostError, match=f"the module {ENFORCER}") as caught:
        tokamata_vllm.register()
    assert len(caught.value.missing) == 2
    assert "VLLM_PLUGINS" in str(caught.value)


def renamed(self: Any, wanted: Any) -> None: ...


@pytest.mark.parametrize(
    ("module", "owner", "name", "changed", "fault"),
    [
        (ENFORCER, None, "LMFormatEnforcerBackend", type("Other", (), {"__init__": renamed}),
         r"LMFormatEnforcerBackend\(vllm_config, tokenizer, vocab_size\): its parameters are \(wanted\)"),
        (ENFORCER, None, "validate_structured_output_request_lm_format_enforcer", renamed,
         r"enforcer\(params\): its parameters are \(wanted\)"),
        (f"{OUTPUT}.request", None, "get_structured_output_key", lambda request, params: None,
         r"get_structured_output_key\(params\): its parameters are \(request, params\)"),
        (OUTPUT, "StructuredOutputManager", "_create_grammar", renamed,
         r"_create_grammar\(request\): its parameters are \(wanted\)"),
        (OUTPUT, "StructuredOutputManager", "_create_grammar", None, "Manager._create_grammar;"),
        ("vllm.v1.request", None, "Request", type("Empty", (), {}), "Request.num_tokens; Request.num_output"),
    ],
)  # fmt: skip
def test_a_part_that_is_called_otherwise(
    monkeypatch: pytest.MonkeyPatch, module: str, owner: str | None, name: str, changed: Any, fault: str
) -> None:
    place: Any = host(monkeypatch)[module]
    monkeypatch.setattr(place if owner is None else getattr(place, owner), name, changed)
    with pytest.raises(HostError, match=fault):
        tokamata_vllm.register()


def test_a_method_that_we_lack(monkeypatch: pytest.MonkeyPatch) -> None:
    modules = host(monkeypatch)

    class Grown(vllm_host.StructuredOutputGrammar):
        @vllm_host.abstractmethod
        def fork(self) -> None: ...

    modules[f"{OUTPUT}.backend_types"].StructuredOutputGrammar = Grown  # type: ignore[attr-defined]
    with pytest.raises(HostError, match="Grammar without fork, a method that tokamata lacks"):
        tokamata_vllm.register()


def test_a_method_with_other_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    modules = host(monkeypatch)

    class Grown(vllm_host.StructuredOutputGrammar):
        @vllm_host.abstractmethod
        def accept_tokens(self, request_id: str, tokens: list[int], final: bool) -> bool: ...

        @vllm_host.abstractmethod
        def rollback(self) -> None: ...  # type: ignore[override]

    modules[f"{OUTPUT}.backend_types"].StructuredOutputGrammar = Grown  # type: ignore[attr-defined]
    with pytest.raises(HostError) as caught:
        tokamata_vllm.register()
    assert caught.value.missing == (
        "StructuredOutputGrammar.accept_tokens(request_id, tokens): its parameters are "
        "(request_id, tokens, final)",
        "StructuredOutputGrammar.rollback(num_tokens): its parameters are ()",
    )


def test_a_kind_of_request_that_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    modules = host(monkeypatch)
    kinds = enum.Enum("StructuredOutputOptions", ["JSON", "JSON_OBJECT", "REGEX", "GRAMMAR", "FURTHER"])
    modules[f"{OUTPUT}.backend_types"].StructuredOutputOptions = kinds  # type: ignore[attr-defined]
    with pytest.raises(HostError, match="StructuredOutputOptions with CHOICE, STRUCTURAL_TAG;"):
        tokamata_vllm.register()


def test_an_import_that_our_assignment_would_not_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    modules = host(monkeypatch)
    name = "LMFormatEnforcerBackend"
    monkeypatch.setattr(modules[OUTPUT], name, getattr(modules[ENFORCER], name), raising=False)
    with pytest.raises(HostError, match=f"{name} where it is used .{OUTPUT} imports it at its top"):
        tokamata_vllm.register()


def test_errors_and_warnings_travel() -> None:
    for made in (HostError("0.40", ["a", "b"]), HostWarning("0.40")):
        twin = pickle.loads(pickle.dumps(made))
        assert type(twin) is type(made)
        assert str(twin) == str(made)
        assert vars(twin) == vars(made)


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
    managed = manager(config(tokenizer))
    made = managed.backend
    assert managed.backend_name == "lm-format-enforcer"  # vLLM 0.33 refuses requests for another one
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


def test_a_manager_that_has_changed(monkeypatch: pytest.MonkeyPatch, tokenizer: Any) -> None:
    """What only its objects have is checked when one is made."""
    modules = host(monkeypatch)
    manager: Any = modules["vllm.v1.structured_output"].StructuredOutputManager

    def construct(self: Any, vllm_config: Any) -> None:
        self.backend, self.vllm_config = None, vllm_config

    monkeypatch.setattr(manager, "__init__", construct)
    tokamata_vllm.register()
    with pytest.raises(HostError, match=r"tokamata needs: StructuredOutputManager\.tokenizer"):
        manager(config(tokenizer))


def test_a_request_that_has_changed(monkeypatch: pytest.MonkeyPatch, tokenizer: Any) -> None:
    """It fails when its grammar is made, alone, and not later in the engine's step."""
    modules = host(monkeypatch)
    tokamata_vllm.register()
    manager = modules["vllm.v1.structured_output"].StructuredOutputManager(config(tokenizer))
    request = SimpleNamespace(
        key=(vllm_host.StructuredOutputOptions.REGEX, "a*", {1}),
        num_output_tokens=0,
        num_tokens=10,
        sampling_params=SimpleNamespace(min_tokens=0),
    )
    with pytest.raises(AttributeError, match="max_tokens"):
        manager._create_grammar(request)
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
