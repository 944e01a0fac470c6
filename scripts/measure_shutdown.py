# SPDX-License-Identifier: MIT
"""Measures what SIGTERM does to the open connections of a server, for docs/deployment.md.

    python scripts/measure_shutdown.py [SERVER ...]

Each server runs an app in one process. At SIGTERM, four connections are open: a request that takes
two seconds, an endless stream, a WebSocket and an idle connection. Another one is opened right
after the signal. Prints a table: how each connection ended, after how many seconds, and when the
process exited. A server that still runs after 60 seconds is killed.
"""

from __future__ import annotations

import contextlib
import http.client
import os
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

LIMIT_S = 60
APP = textwrap.dedent(
    """
    import anyio

    from kit import Kit
    from kit.asgi import to_wsgi
    from kit.websocket import upgrade_websocket

    app = Kit().get("/", lambda c: c.text("hello"))


    @app.get("/slow")
    async def slow(c):
        await anyio.sleep(2)
        return c.text("slow")


    @app.get("/stream")
    def stream(c):
        async def ticks():
            while True:
                yield "tick"
                await anyio.sleep(0.1)

        return c.body(ticks())


    @app.get("/ws")
    @upgrade_websocket(origins="*")
    async def echo(c, ws):
        async for message in ws:
            await ws.send(message)


    application = to_wsgi(app)
    """
)
SERVERS = {
    "kit serve": ["kit", "serve", "app.py", "--port={port}"],
    "kit serve --server granian": ["kit", "serve", "app.py", "--port={port}", "--server=granian"],
    "uvicorn": ["uvicorn", "app:app", "--port={port}"],
    "uvicorn, 5 s": ["uvicorn", "app:app", "--port={port}", "--timeout-graceful-shutdown=5"],
    "hypercorn": ["hypercorn", "app:app", "--bind=127.0.0.1:{port}"],
    "granian": ["granian", "--interface=asgi", "app:app", "--port={port}"],
    "granian, 5 s": [
        *("granian", "--interface=asgi", "app:app", "--port={port}"),
        "--workers-kill-timeout=5",
    ],
    "gunicorn": ["gunicorn", "--threads=8", "--bind=127.0.0.1:{port}", "app:application"],
}


def measure(name: str) -> list[str]:
    """Returns the cells of a server's row."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    command = [part.format(port=port) for part in SERVERS[name]]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(6) as pool:
        (Path(folder) / "app.py").write_text(APP)
        process = subprocess.Popen(
            [sys.executable, "-m", *command],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            _until_it_answers(port)
            looks = [_slow, _stream, _websocket, _idle]
            running = [pool.submit(look, port) for look in looks]
            time.sleep(0.5)
            begun = time.monotonic()
            process.send_signal(signal.SIGTERM)
            time.sleep(0.2)
            new = _new(port)
            try:
                process.wait(LIMIT_S)
                ended = f"{time.monotonic() - begun:.1f} s"
            except subprocess.TimeoutExpired:
                ended = f"not in {LIMIT_S} s"
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        cells = [_cell(each.result(), begun) for each in running]
    return [*cells, new, ended]


def _cell(result: tuple[str, float], begun: float) -> str:
    what, at = result
    return f"{what} {max(at - begun, 0.0):.1f} s"


def _until_it_answers(port: int) -> None:
    end = time.monotonic() + LIMIT_S
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            if _get(port, "/")[0] == "answered":
                return
        time.sleep(0.1)
    raise RuntimeError("the server did not start")


def _get(port: int, path: str) -> tuple[str, float]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2 * LIMIT_S)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        response.read()
        return "answered" if response.status == 200 else str(response.status), time.monotonic()
    except (OSError, http.client.HTTPException):
        return "cut off", time.monotonic()
    finally:
        connection.close()


def _slow(port: int) -> tuple[str, float]:
    return _get(port, "/slow")


def _stream(port: int) -> tuple[str, float]:
    return "ends", _end_of(port, b"GET /stream HTTP/1.1\r\nhost: a\r\n\r\n")


def _idle(port: int) -> tuple[str, float]:
    return "closed", _end_of(port, b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")


def _end_of(port: int, request: bytes) -> float:
    with socket.create_connection(("127.0.0.1", port), timeout=2 * LIMIT_S) as connection:
        connection.sendall(request)
        with contextlib.suppress(OSError):
            while connection.recv(65536):
                pass
    return time.monotonic()


def _websocket(port: int) -> tuple[str, float]:
    from websockets.exceptions import ConnectionClosed, InvalidStatus
    from websockets.sync.client import connect

    try:
        with connect(f"ws://127.0.0.1:{port}/ws", proxy=None) as ws:
            ws.recv()
    except ConnectionClosed as closed:
        return str(closed.rcvd.code if closed.rcvd else "cut off"), time.monotonic()
    except InvalidStatus:
        pass
    return "none", time.monotonic()


def _new(port: int) -> str:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=2).close()
    except OSError:
        return "refused"
    return "accepted"


def main(names: list[str]) -> None:
    """Prints the table."""
    heads = ("request of 2 s", "endless stream", "WebSocket", "idle", "new", "process ends")
    print(f"| | {' | '.join(heads)} |")
    print("|---|" + "---|" * len(heads))
    for name in names or SERVERS:
        print(f"| {name} | {' | '.join(measure(name))} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
