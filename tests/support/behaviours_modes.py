# SPDX-License-Identifier: MIT
"""The ways to serve an app whose behaviours are compared."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from pathlib import Path
from threading import Lock
from typing import IO, Any, ClassVar, Self

import behaviours_lambda
import behaviours_wire
from behaviours_wire import Answer, Request
from serving import HERE, SHUTDOWN_S, ServedApp

PATIENCE_S = 10.0
APP = "behaviours_app:app"
_CONNECTION = "AWS holds the connection and calls the function with one complete request"
_WSGI = "WSGI has no WebSockets"
_BUSY = (
    "not tested: hypercorn 0.18 on trio may exit, dropping all connections, if app and client "
    "close a WebSocket at the same time (`trio.BusyResourceError`)"
)
_THREAD = "a WSGI server notices a disconnect only when it sends"


class Mode(ABC):
    """One way to serve the app.

    Args:
        folder: An empty folder of its own.

    Attributes:
        name: Its name.
        lacks: The needs of behaviours that it can't meet, each with the reason.
        is_once: Whether testing it on one Python version is enough.
        is_slow: Whether it is tested with the slow tests alone.
    """

    name: str
    lacks: ClassVar[dict[str, str]] = {}
    is_once = True
    is_slow = False

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._trace = folder / "trace"
        self._trace.touch()
        files = folder / "files"
        files.mkdir()
        (files / "ten.txt").write_text("0123456789")

    @abstractmethod
    def __enter__(self) -> Self:
        """Starts serving."""

    @abstractmethod
    def __exit__(self, *error: object) -> None:
        """Kills all processes."""

    @abstractmethod
    def ask(self, request: Request) -> Answer:
        """Sends a request."""

    @property
    def environment(self) -> dict[str, str]:
        """The environment variables of the app."""
        return {"KIT_TRACE": str(self._trace)}

    @property
    def trace(self) -> list[str]:
        """The lines that the app wrote to its trace."""
        return self._trace.read_text().splitlines()

    def until_noted(self, text: str) -> str:
        """Waits until the trace has a line; returns the line, or what went wrong."""
        end = time.monotonic() + PATIENCE_S
        while text not in self.trace:
            if time.monotonic() > end:
                return f"{text}: not within {PATIENCE_S:.0f} s"
            time.sleep(0.01)
        return text


class Served(Mode):
    """A server that listens on a port."""

    target = APP

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.server = self._served(folder / "log")

    def _served(self, log: Path, **environment: str) -> ServedApp:
        variables = self.environment | environment
        return ServedApp(self.name, self.target, log, environment=variables)

    def __enter__(self) -> Self:
        self.server.__enter__()
        self.until_noted("startup")
        return self

    def __exit__(self, *error: object) -> None:
        self.server.kill()

    def ask(self, request: Request) -> Answer:
        with self.connect() as connection:
            return behaviours_wire.ask(connection, request)

    def connect(self) -> socket.socket:
        """Opens a connection."""
        return self.server.connect(PATIENCE_S)

    def end(self) -> str:
        """Sends SIGTERM, as a service manager does; returns the exit code as text."""
        self.server.process.terminate()
        return f"exit code {self.server.process.wait(SHUTDOWN_S)}"

    def failing_start(self) -> str:
        """Returns how the server exits if the startup of the lifespan fails."""
        log = self.folder / "failing"
        served = self._served(log, KIT_START_FAILS="1")
        try:
            with served:  # some listen before they start the app
                code = served.process.wait(SHUTDOWN_S)
        except RuntimeError:
            code = served.process.wait(SHUTDOWN_S)
        except subprocess.TimeoutExpired:
            return "runs on"
        told = "no database at startup" in log.read_text(errors="replace")
        return f"{'fails' if code else 'exit code 0'}, {'says' if told else 'does not say'} why"


class Uvicorn(Served):
    name = "uvicorn"
    is_once = False


class UvicornH11(Served):
    name = "uvicorn-h11"


class Hypercorn(Served):
    name = "hypercorn"


class HypercornTrio(Served):
    name = "hypercorn-trio"
    lacks: ClassVar[dict[str, str]] = {"websocket": _BUSY}


class Granian(Served):
    name = "granian"
    is_once = False


class GranianRsgi(Served):
    name = "granian-rsgi"
    is_once = False


class UvicornZttp(Served):
    name = "uvicorn-zttp"
    is_slow = True


class GunicornAsgi(Served):
    name = "gunicorn-asgi"
    is_slow = True


class Anycorn(Served):
    name = "anycorn"
    is_slow = True


class AnycornTrio(Served):
    name = "anycorn-trio"
    is_slow = True


class Gunicorn(Served):
    name = "gunicorn"
    target = "behaviours_wsgi:application"
    lacks: ClassVar[dict[str, str]] = {"noticing": _THREAD, "websocket": _WSGI}


class Wsgiref(Served):
    name = "wsgiref"
    target = "behaviours_wsgi"
    lacks: ClassVar[dict[str, str]] = {
        "noticing": _THREAD,
        "websocket": _WSGI,
        "keep-alive": "wsgiref closes the connection after each response",
    }


class Function(Mode):
    """A function of AWS Lambda."""

    lacks: ClassVar[dict[str, str]] = {
        "connection": _CONNECTION,
        "keep-alive": _CONNECTION,
        "noticing": _CONNECTION,
        "streaming": "mangum returns a response whole, without streaming",
        "concurrency": "an instance handles one call at a time",
        "signals": "an instance is frozen and later discarded, so there is no shutdown",
        "size": "requests and responses are limited to 6 MB, behind a load balancer to 1 MB",
        "websocket": "API Gateway passes WebSocket messages in another kind of event",
    }
    kind: str

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._process: subprocess.Popen[str] | None = None
        self._lock = Lock()

    def __enter__(self) -> Self:
        self._log: IO[bytes] = (self.folder / "log").open("wb")
        self._process = subprocess.Popen(
            [sys.executable, "behaviours_lambda.py"],
            cwd=HERE,
            env={**os.environ, **self.environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )
        return self

    def __exit__(self, *error: object) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.communicate(timeout=SHUTDOWN_S)
        self._log.close()

    def ask(self, request: Request) -> Answer:
        event = behaviours_lambda.event_of(self.kind, request)
        return behaviours_lambda.answer_of(self.call(event))

    def call(self, event: dict[str, Any]) -> dict[str, Any]:
        """Calls the function."""
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        with self._lock:
            process.stdin.write(json.dumps(event) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        assert line, (self.folder / "log").read_text()
        returned: dict[str, Any] = json.loads(line)
        return returned


class LambdaRest(Function):
    name, kind = "lambda-rest", "rest"


class LambdaHttp(Function):
    name, kind = "lambda-http", "http"


class LambdaAlb(Function):
    name, kind = "lambda-alb", "alb"


class LambdaAlbMulti(Function):
    name, kind = "lambda-alb-multi", "alb-multi"


class LambdaUrl(Function):
    name, kind = "lambda-url", "url"


MODES: tuple[type[Mode], ...] = (
    Uvicorn,
    UvicornH11,
    Hypercorn,
    HypercornTrio,
    Granian,
    GranianRsgi,
    UvicornZttp,
    GunicornAsgi,
    Anycorn,
    AnycornTrio,
    Gunicorn,
    Wsgiref,
    LambdaRest,
    LambdaHttp,
    LambdaAlb,
    LambdaAlbMulti,
    LambdaUrl,
)
