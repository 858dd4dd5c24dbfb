"""A server that looks like vLLM's to the playground, and a browser that looks at the playground."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.support.paths import ROOT

FILES = {
    "/playground": ROOT / "docs" / "playground" / "index.html",
    "/harness": Path(__file__).with_name("harness.html"),
}
_SEEN_S = 60.0
Steps = list[list[str]]


class Server(ThreadingHTTPServer):
    """Answers requests of the playground with the chunks that a test gives.

    Attributes:
        chunks: the objects of the stream; ``None`` stands for a wait until the client has gone.
        refusal: a status and an object, in place of the stream.
        cut: the number of bytes that are sent at once; 0 sends each event as a whole.
        requests: the path and the body of each request so far.
    """

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.chunks: list[Any] = []
        self.refusal: tuple[int, Any] | None = None
        self.cut = 0
        self.requests: list[tuple[str, Any]] = []
        self.steps: Steps = []
        self.seen: queue.Queue[Any] = queue.Queue()

    @property
    def base(self) -> str:
        """The URL of the server."""
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: Server

    def log_message(self, format: str, *values: Any) -> None:
        """Write no log."""

    def do_GET(self) -> None:
        if self.path in FILES:
            self._send("text/html; charset=utf-8", FILES[self.path].read_bytes())
        elif self.path == "/steps":
            self._send("application/json", json.dumps(self.server.steps).encode())
        elif self.path == "/v1/models":
            self._send("application/json", b'{"data": [{"id": "served"}, {"id": "other"}]}')
        else:
            self.send_error(404)

    def do_POST(self) -> None:
        given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/seen":
            self._send("application/json", b"{}")
            self.server.seen.put(given)
            return
        self.server.requests.append((self.path, given | {"key": self.headers.get("Authorization")}))
        if self.server.refusal is not None:
            status, answer = self.server.refusal
            self._send("application/json", json.dumps(answer).encode(), status)
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for chunk in [*self.server.chunks, "[DONE]"]:
            if chunk is None:
                self._wait_for_the_end()
                return
            data = chunk if isinstance(chunk, str) else json.dumps(chunk, ensure_ascii=False)
            self._write(f"data: {data}\n\n".encode())

    def _write(self, data: bytes) -> None:
        step = self.server.cut or len(data)
        for begin in range(0, len(data), step):
            self.wfile.write(data[begin : begin + step])
            self.wfile.flush()

    def _wait_for_the_end(self) -> None:
        self.connection.settimeout(_SEEN_S)
        self.connection.recv(1)  # returns when the client closes the connection

    def _send(self, type: str, data: bytes, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", type)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def serving() -> Iterator[Server]:
    """A server on a free port."""
    server = Server()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def look(server: Server, browser: str, folder: Path, steps: Steps, width: int = 1200) -> dict[str, Any]:
    """What the playground shows in a browser after some steps."""
    server.steps = [["fill", "base", f"{server.base}/v1"], *steps]
    command = [
        browser,
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        f"--user-data-dir={folder}",
        f"--window-size={width},900",
        f"{server.base}/harness",
    ]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        found: dict[str, Any] = server.seen.get(timeout=_SEEN_S)
    finally:
        process.terminate()
        process.wait(timeout=_SEEN_S)
    assert "error" not in found, found
    return found
