# SPDX-License-Identifier: MIT
"""Probes of real servers, above all while these end."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from serving import SHUTDOWN_S, ServedApp

pytestmark = pytest.mark.once

APP = "health_app:app"
PATIENCE_S = 30.0


def until(look: Callable[[], int], expected: int) -> None:
    end = time.monotonic() + PATIENCE_S
    while look() != expected:
        assert time.monotonic() < end, f"it never became {expected}"


def client_of(served: ServedApp) -> httpx.Client:
    """A client that opens a connection for each request, as load balancers do for probes."""
    limits = httpx.Limits(max_keepalive_connections=0)
    return httpx.Client(
        base_url=f"http://127.0.0.1:{served.port}", timeout=30, limits=limits, verify=False
    )


def test_after_sigterm_it_answers_but_is_not_ready_and_a_thread_that_hangs_doesnt_hold_it(
    tmp_path: Path,
) -> None:
    with ServedApp("uvicorn", APP, tmp_path / "log") as served, client_of(served) as client:
        assert client.get("/readyz").status_code == 200
        assert client.get("/hanging").status_code == 503
        served.process.send_signal(signal.SIGTERM)
        until(lambda: client.get("/readyz").status_code, 503)
        assert client.get("/livez").status_code == 200
        assert client.get("/").text == "Hello"
        # uvicorn ends as if the signal, which it has caught, had ended it.
        assert served.process.wait(SHUTDOWN_S) in (0, -signal.SIGTERM)


def test_a_file_drains_all_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "draining"
    monkeypatch.setenv("DRAIN_FILE", str(file))
    with (
        ServedApp("granian", APP, tmp_path / "log", "--workers=2") as served,
        client_of(served) as client,
    ):
        assert {client.get("/readyz").status_code for _ in range(20)} == {200}
        file.touch()
        assert {client.get("/readyz").status_code for _ in range(20)} == {503}
        assert client.get("/livez").status_code == 200
