"""A server of files on loopback that understands ranges, and fails when it is told to."""

import contextlib
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class RangeServer:
    """What was requested, and how to answer."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.requests: list[tuple[str, str]] = []  # path, Range header
        self.failures = 0  # the next requests that get status 503
        self.ranges = True  # whether it understands ranges
        self.breaks = -1  # offset in every file behind which the connection breaks; -1: never
        self.most = 0  # requests at the same time
        self.now = 0
        self.lock = threading.Lock()
        self.url = ""


@contextlib.contextmanager
def serve(root: Path) -> Iterator[RangeServer]:
    state = RangeServer(root)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self.answer(body=False)

        def do_GET(self) -> None:
            with state.lock:
                state.now += 1
                state.most = max(state.most, state.now)
            try:
                self.answer(body=True)
            finally:
                with state.lock:
                    state.now -= 1

        def answer(self, body: bool) -> None:
            wanted = self.headers.get("Range", "")
            if body:
                state.requests.append((self.path, wanted))
            with state.lock:
                failing = state.failures > 0
                state.failures -= failing
            path = state.root / self.path.lstrip("/")
            if failing or not path.is_file():
                self.send(503 if failing else 404, b"", {})
                return
            data = path.read_bytes()
            found = re.fullmatch(r"bytes=(\d+)-(\d*)", wanted) if state.ranges else None
            if found is None:
                self.send(200, data if body else b"", {"Content-Length": str(len(data)), **self.kind()})
                return
            start, last = int(found[1]), min(int(found[2] or len(data)), len(data) - 1)
            if start >= len(data):
                self.send(416, b"", {"Content-Range": f"bytes */{len(data)}"})
                return
            part = data[start : last + 1]
            self.close_connection = 0 <= state.breaks <= last
            sent = part[: max(state.breaks - start, 0)] if self.close_connection else part
            head = {"Content-Length": str(len(part)), "Content-Range": f"bytes {start}-{last}/{len(data)}"}
            self.send(206, sent, {**head, **self.kind()})

        def kind(self) -> dict[str, str]:
            return {"Accept-Ranges": "bytes"} if state.ranges else {}

        def send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
