"""vLLM's own servers, each in a process of its own, with tokamata's plug-in."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path

TEMPLATE = Path(__file__).with_name("chat.jinja")
_READY_S = 800.0
_END_S = 60.0

ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "OMP_WAIT_POLICY": "passive",  # threads that wait are to sleep: two servers share the processors
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_ENABLE_V1_MULTIPROCESSING": "1",
    "VLLM_NO_USAGE_STATS": "1",
}
ENGINE = (
    "--dtype=bfloat16",
    "--enforce-eager",
    "--max-model-len=1024",
    "--max-num-seqs=8",
    '--structured-outputs-config={"backend": "lm-format-enforcer"}',
)
MODEL = "gemma"


class Server:
    """An OpenAI-compatible server of vLLM on a free port.

    Args:
        folder: of the model.
        log: where it writes.
        parser: of tool calls.

    Attributes:
        base: the URL of its API.
        parser: as given.
    """

    def __init__(self, folder: Path, log: Path, parser: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.base = f"http://127.0.0.1:{port}/v1"
        self.parser = parser
        self._log = log
        self._health = f"http://127.0.0.1:{port}/health"
        command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", f"--model={folder}", *ENGINE]
        command += [f"--served-model-name={MODEL}", "--host=127.0.0.1", f"--port={port}"]
        command += [f"--chat-template={TEMPLATE}", "--enable-auto-tool-choice"]
        command += [f"--tool-call-parser={parser}", "--tool-strict-level=parameter"]
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                command,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=os.environ | ENVIRONMENT,
                start_new_session=True,  # so that its engine can be ended with it
            )

    def wait(self) -> None:
        """Return when it answers.

        Raises:
            RuntimeError: it has ended, or takes too long.
        """
        end = time.monotonic() + _READY_S
        while not self.is_healthy():
            if self._process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"the server has not started:\n{self.written()[-4000:]}")
            time.sleep(0.5)

    def is_healthy(self) -> bool:
        """Whether it answers, and its engine runs."""
        try:
            with urllib.request.urlopen(self._health, timeout=10) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def written(self) -> str:
        """Its log."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    def close(self) -> None:
        """End it, with its engine."""
        self._process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_S)
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
