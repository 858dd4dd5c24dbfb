"""vLLM itself, with the model of the demo.  `make test-vllm` runs these tests in an environment of their own.

The engine runs in the process of the tests, so that they see the grammars in it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.vllm.serving import Server

os.environ.setdefault("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

DRAFT = 3  # tokens


@pytest.fixture(scope="session")
def folder() -> Path:
    """The model, in the format of transformers."""
    return Path(os.environ["TOKAMATA_VLLM_MODEL"])


@pytest.fixture(scope="session", autouse=True)
def plugins() -> None:
    """What vLLM does when it starts."""
    from vllm.plugins import load_general_plugins

    load_general_plugins()


class Servers:
    """At most one server runs at a time: each takes five gigabytes."""

    def __init__(self, folder: Path, logs: Path) -> None:
        self._folder = folder
        self._logs = logs
        self._running: Server | None = None

    def __getitem__(self, parser: str) -> Server:
        """The server with a parser of tool calls, which runs already or is started."""
        if self._running is None or self._running.parser != parser:
            self.close()
            self._running = Server(self._folder, self._logs / f"{parser}.log", parser)
            self._running.wait()
        return self._running

    def close(self) -> None:
        """End the one that runs."""
        if self._running is not None:
            self._running.close()
        self._running = None


@pytest.fixture(scope="session")
def servers(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    made = Servers(folder, tmp_path_factory.mktemp("servers"))
    yield made
    made.close()


@pytest.fixture
def server(servers: Servers) -> Server:
    """vLLM's own server."""
    return servers["hermes"]


@pytest.fixture(params=["hermes", "qwen3_coder"], scope="session")
def tool_server(request: pytest.FixtureRequest, servers: Servers) -> Server:
    """One whose calls have JSON, and one whose calls have XML."""
    return servers[request.param]


@pytest.fixture(scope="session")
def tokenizer(folder: Path) -> Any:
    from vllm.tokenizers import get_tokenizer

    return get_tokenizer(str(folder))


@pytest.fixture(scope="session")
def new_manager(tokenizer: Any) -> Iterator[Callable[..., Any]]:
    """Makes vLLM's manager without an engine."""
    import vllm.v1.structured_output as module

    made: list[Any] = []

    def make(
        backend: str = "lm-format-enforcer",
        reasoner: Any = None,
        width: int = 262144,
        in_threads: bool = False,
    ) -> Any:
        # Grammars are compiled at once with this executor, and in a thread with the others.
        executor = "mp" if in_threads else "external_launcher"
        config = SimpleNamespace(
            parallel_config=SimpleNamespace(distributed_executor_backend=executor),
            scheduler_config=SimpleNamespace(max_num_seqs=4),
            model_config=SimpleNamespace(
                skip_tokenizer_init=False,
                get_vocab_size=lambda: width,
                is_diffusion=False,
                max_model_len=512,
                hf_config=SimpleNamespace(model_type="gemma3_text"),
            ),
            structured_outputs_config=SimpleNamespace(
                backend=backend,
                reasoning_parser_plugin="",
                reasoning_parser="",
                enable_in_reasoning=False,
                disable_any_whitespace=False,
                disable_additional_properties=False,
            ),
            speculative_config=SimpleNamespace(num_speculative_tokens=DRAFT),
            num_speculative_tokens=DRAFT,
        )
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "cached_tokenizer_from_config", lambda model_config: tokenizer)
            manager = module.StructuredOutputManager(config)
        manager.reasoner_cls = reasoner
        made.append(manager)
        return manager

    yield make
    for manager in made:
        manager.clear_backend()


@pytest.fixture(scope="session")
def manager(new_manager: Callable[..., Any]) -> Any:
    """Served by tokamata."""
    return new_manager()


class Requests:
    """Makes requests and gives them to a manager."""

    def __init__(self) -> None:
        self._count = 0

    def __call__(
        self,
        manager: Any,
        prompt: tuple[int, ...] = (2,),
        stop: tuple[int, ...] = (1,),
        most: int = 100,
        **wanted: Any,
    ) -> Any:
        from vllm.sampling_params import SamplingParams, StructuredOutputsParams
        from vllm.v1.structured_output.request import StructuredOutputRequest

        asked = StructuredOutputsParams(**wanted)
        asked._backend = manager.vllm_config.structured_outputs_config.backend
        parameters = SamplingParams(structured_outputs=asked)
        parameters._all_stop_token_ids = set(stop)
        self._count += 1
        request = SimpleNamespace(
            request_id=str(self._count),
            sampling_params=parameters,
            structured_output_request=StructuredOutputRequest(params=asked),
            use_structured_output=True,
            prompt_token_ids=list(prompt),
            all_token_ids=list(prompt),
            max_tokens=most,
            num_output_tokens=0,
            num_tokens=len(prompt),
        )
        manager.grammar_init(request)
        return request


@pytest.fixture
def new_request() -> Requests:
    return Requests()


def allowed(manager: Any, request: Any, drafts: list[int]) -> list[set[int]]:
    """The tokens of each row that the manager makes for a request and its drafts."""
    name = request.request_id
    rows = manager.grammar_bitmask({name: request}, [name], {name: drafts} if drafts else {})
    rows = rows[: len(drafts) + 1]  # vLLM 0.33 has a block of rows for each request, of one length
    bits = np.unpackbits(rows.view(np.uint8), axis=1, bitorder="little")
    return [set(np.flatnonzero(row).tolist()) for row in bits]
