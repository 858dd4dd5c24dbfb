"""Clients that people use, unchanged, against vLLM's own server with tokamata.

Each makes an object of a class of pydantic, in every way that it has.  The clients are in two environments,
since instructor and LlamaIndex need a version of the package openai that the others do not allow.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.vllm.serving import MODEL, Server

CLIENTS = {
    "clients": [
        "langchain-json_schema",
        "langchain-function_calling",
        "pydantic_ai-tool",
        "pydantic_ai-native",
        "haystack",
        "dspy",
    ],
    "clients-openai2": ["instructor-json_schema", "instructor-tools", "instructor-partial", "llama_index"],
}
_CALLS = Path(__file__).with_name("client_calls.py")
_MOST_S = 800.0

pytestmark = pytest.mark.timeout(900)


@pytest.fixture(scope="session")
def environments() -> Path:
    """The folder of the environments of the clients."""
    return Path(os.environ["TOKAMATA_CLIENTS"])


@pytest.fixture(scope="session")
def called() -> dict[str, dict[str, Any]]:
    """What was made so far; all calls of an environment are made at once, by both environments together."""
    return {}


@pytest.mark.parametrize("name", [name for names in CLIENTS.values() for name in names])
def test_a_person(server: Server, environments: Path, called: dict[str, dict[str, Any]], name: str) -> None:
    if not called:
        called.update(call_all(server, environments))
    assert "error" not in called[name], called[name]["error"]
    person = called[name]["person"]
    assert len(person["name"]) <= 20
    assert len(person["ages"]) <= 3


def call_all(server: Server, environments: Path) -> dict[str, dict[str, Any]]:
    """Each result by the name of its call."""
    running = [
        subprocess.Popen(
            [str(environments / folder / "bin/python"), str(_CALLS), server.base, MODEL, *names],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
        )
        for folder, names in CLIENTS.items()
    ]
    found: dict[str, dict[str, Any]] = {}
    for process in running:
        output, errors = process.communicate(timeout=_MOST_S)
        assert process.returncode == 0, errors[-3000:]
        lines = [json.loads(line) for line in output.splitlines() if line.startswith('{"call"')]
        found.update({line["call"]: line for line in lines})
    return found
