"""vLLM's batches without a server: a file of requests, a file of answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.vllm.serving import ENGINE, ENVIRONMENT, MODEL, TEMPLATE

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 12}, "age": {"type": "integer", "maximum": 120}},
    "required": ["name", "age"],
    "additionalProperties": False,
}


def line(number: int, schema: Any) -> str:
    form = {"type": "json_schema", "json_schema": {"name": "person", "schema": schema}}
    body = {
        "model": MODEL,
        "messages": [{"role": "user", "content": f"Person {number} as JSON"}],
        "max_tokens": 30,
        "temperature": 1.0,
        "seed": number,
        "response_format": form,
    }
    return json.dumps(
        {"custom_id": str(number), "method": "POST", "url": "/v1/chat/completions", "body": body}
    )


@pytest.mark.timeout(900)
def test_a_file_of_requests(folder: Path, tmp_path: Path, servers: Any) -> None:
    """All are complete; the one that cannot be enforced fails alone, with the status 400 and the pointer."""
    servers.close()  # for its memory
    schemas = [SCHEMA] * 7 + [{"properties": {"a": {"type": "int"}}}]
    requests, answers = tmp_path / "requests.jsonl", tmp_path / "answers.jsonl"
    requests.write_text("\n".join(line(number, schema) for number, schema in enumerate(schemas)))
    run = subprocess.run(
        [
            *(sys.executable, "-m", "vllm.entrypoints.openai.run_batch"),
            *("-i", str(requests), "-o", str(answers)),
            *(f"--model={folder}", f"--served-model-name={MODEL}", f"--chat-template={TEMPLATE}", *ENGINE),
        ],
        env=os.environ | ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-4000:]
    found = {answer["custom_id"]: answer for answer in map(json.loads, answers.read_text().splitlines())}
    assert len(found) == len(schemas)
    for number in range(7):
        (choice,) = found[str(number)]["response"]["body"]["choices"]
        assert choice["finish_reason"] == "stop"
        jsonschema.validate(json.loads(choice["message"]["content"]), SCHEMA)
    refused = json.dumps(found["7"])
    assert "/properties/a" in refused
    assert "400" in refused
