# SPDX-License-Identifier: MIT
"""kit-opentelemetry and the access log of kit-logger under real servers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from serving import ServedApp

PATIENCE_S = 15

pytestmark = pytest.mark.once


@pytest.fixture(scope="module", params=["uvicorn", "granian"])
def client(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[httpx.Client]:
    log = tmp_path_factory.mktemp("observed") / "log"
    with ServedApp(request.param, "observed_app:app", log) as served:
        base_url = f"http://127.0.0.1:{served.port}"
        with httpx.Client(base_url=base_url, timeout=PATIENCE_S, verify=False) as client:
            yield client


def seen(
    client: httpx.Client, path: str, *, count: int = 1
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The spans and the lines of the requests for a path, once there are so many."""

    def found() -> tuple[list[Any], list[Any]] | None:
        everything = client.get("/seen").json()
        spans = [span for span in everything["spans"] if span["url.path"].startswith(path)]
        lines = [line for line in everything["lines"] if line["path"].startswith(path)]
        return (spans, lines) if len(spans) >= count and len(lines) >= count else None

    spans, lines = eventually(found)
    assert (len(spans), len(lines)) == (count, count)
    return spans, lines


def eventually(find: Callable[[], Any]) -> Any:
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        result = find()
        if result is not None:
            return result
        time.sleep(0.02)  # the server runs in a process of its own
    raise AssertionError("it was not seen in time")


def test_stream(client: httpx.Client) -> None:
    response = client.get("/short?token=secret", headers={"user-agent": "me"})
    [span], [line] = seen(client, "/short")
    assert response.text == span["trace_id"] == line["trace_id"]
    assert line["response_bytes"] == 32
    assert span["url.query"] == "token=REDACTED"
    assert span["user_agent.original"] == line["user_agent"] == "me"
    assert span["client.address"] == line["client"] == "127.0.0.1"
    assert span["server.address"] == "127.0.0.1"
    assert span["server.port"] == client.base_url.port
    assert span["network.protocol.version"] == "1.1"
    assert isinstance(span["network.peer.port"], int)
    assert "query" not in line


@pytest.mark.parametrize("path", ["/endless", "/pushed"])
def test_client_leaves(client: httpx.Client, path: str) -> None:
    # A client of its own, whose connection is closed.
    with (
        httpx.Client(base_url=client.base_url, timeout=PATIENCE_S, verify=False) as leaving,
        leaving.stream("GET", path) as response,
    ):
        next(response.iter_raw(3))
    [span], [line] = seen(client, path)
    assert line["ended"] == "client disconnected"
    assert line["response_bytes"] >= 3
    assert line["status"] == span["http.response.status_code"] == 200
    assert span["error.type"] == "client_disconnected"


def test_failure(client: httpx.Client) -> None:
    assert client.get("/fails").status_code == 500
    [span], [line] = seen(client, "/fails")
    assert span["error.type"] == line["error"] == "ValueError"
    assert "secret" not in str(line)


def test_concurrent_requests_do_not_mix(client: httpx.Client) -> None:
    count = 100

    def ask(number: int) -> str:
        traceparent = f"00-{number:032x}-00000000000000aa-01"
        return client.get(f"/trace/{number}", headers={"traceparent": traceparent}).text

    with ThreadPoolExecutor(8) as pool:
        answers = [*pool.map(ask, range(1, count + 1))]
    assert answers == [f"{number:032x}" for number in range(1, count + 1)]
    spans, lines = seen(client, "/trace/", count=count)
    for each in spans:
        assert each["trace_id"] == f"{int(each['url.path'].rpartition('/')[2]):032x}"
    for each in lines:
        assert each["trace_id"] == f"{int(each['path'].rpartition('/')[2]):032x}"
