# SPDX-License-Identifier: MIT
"""Metrics of real servers: in one process, and in several that share a folder."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from serving import ServedApp
from websockets.sync.client import connect

pytestmark = pytest.mark.once

APP = "metrics_app:app"
PATIENCE_S = 60.0
WORKERS = 4


def samples(client: httpx.Client, name: str) -> dict[tuple[str, str], float]:
    """The samples of a name, by route and status; those in progress have no status."""
    families = text_string_to_metric_families(client.get("/metrics").text)
    return {
        (sample.labels["route"], sample.labels.get("status", "")): sample.value
        for family in families
        for sample in family.samples
        if sample.name == name
    }


def until(look: Callable[[], Any], expected: Any) -> None:
    """Waits until something is as expected."""
    end = time.monotonic() + PATIENCE_S
    while (found := look()) != expected:
        assert time.monotonic() < end, f"{found} never became {expected}"


@pytest.fixture(scope="module")
def single(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedApp]:
    with ServedApp("uvicorn", APP, tmp_path_factory.mktemp("single") / "log") as served:
        yield served


@pytest.fixture
def client(single: ServedApp) -> Iterator[httpx.Client]:
    with httpx.Client(
        base_url=f"http://127.0.0.1:{single.port}", timeout=30, verify=False
    ) as client:
        yield client


def test_a_client_that_leaves_a_stream_counts_once(client: httpx.Client) -> None:
    with client.stream("GET", "/wait/1") as response:
        lines = response.iter_lines()
        first = next(lines)
        with httpx.Client(base_url=client.base_url, verify=False) as other:
            in_progress = samples(other, "http_requests_in_progress")
            assert in_progress["/wait/:number", ""] == 1
            assert ("/wait/:number", "200") not in samples(other, "http_requests_total")
    until(lambda: samples(client, "http_requests_in_progress")["/wait/:number", ""], 0)
    assert samples(client, "http_requests_total")["/wait/:number", "200"] == 1
    sent = samples(client, "http_response_size_bytes_sum")
    assert sent["/wait/:number", "200"] == len(first) + 1


def test_a_websocket_counts_with_its_handshake(client: httpx.Client, single: ServedApp) -> None:
    with connect(f"ws://127.0.0.1:{single.port}/echo") as websocket:
        websocket.send("hello")
        assert websocket.recv() == "hello"
        assert samples(client, "http_requests_total")["/echo", "101"] == 1
        assert samples(client, "http_requests_in_progress")["/echo", ""] == 0
    assert samples(client, "http_request_duration_seconds_count")["/echo", "101"] == 1


def test_the_sums_over_processes_are_what_a_client_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "values"
    folder.mkdir()
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(folder))
    with ServedApp("uvicorn", APP, tmp_path / "log", f"--workers={WORKERS}") as served:
        monkeypatch.undo()
        # Each request has a connection of its own, and the system chooses which process gets it.
        limits = httpx.Limits(max_keepalive_connections=0)
        base_url = f"http://127.0.0.1:{served.port}"
        with httpx.Client(base_url=base_url, timeout=30, limits=limits, verify=False) as client:
            counts = asked_of_all(client)
            count = sum(counts.values())
            sent = sum(len(pid) * times for pid, times in counts.items())
            assert samples(client, "http_requests_total")["/pid", "200"] == count
            assert samples(client, "http_request_duration_seconds_count")["/pid", "200"] == count
            assert samples(client, "http_response_size_bytes_sum")["/pid", "200"] == sent

            def in_progress() -> float | None:
                try:
                    found = samples(client, "http_requests_in_progress")
                except httpx.TransportError:  # it was meant for the process that was killed
                    return None
                return found.get(("/wait/:number", ""), 0)

            with client.stream("GET", "/wait/1") as response:
                lines = response.iter_lines()
                busy = int(next(lines))
                assert busy in served.pids()
                assert in_progress() == 1
                os.kill(busy, signal.SIGKILL)
                until(in_progress, 0)
            assert samples(client, "http_requests_total")["/pid", "200"] == count


def asked_of_all(client: httpx.Client) -> dict[str, int]:
    """Asks until each process has answered; how often each has."""
    counts: dict[str, int] = {}
    end = time.monotonic() + PATIENCE_S
    while len(counts) < WORKERS or sum(counts.values()) < 100:
        assert time.monotonic() < end, f"only {len(counts)} processes answer"
        pid = client.get("/pid").text
        counts[pid] = counts.get(pid, 0) + 1
    return counts
