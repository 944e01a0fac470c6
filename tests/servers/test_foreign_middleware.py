# SPDX-License-Identifier: MIT
"""ASGI middleware of other libraries in an app, under real servers."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import brotli
import httpx
import pytest
from servers import SERVERS
from serving import ServedApp
from websockets.sync.client import connect

pytestmark = pytest.mark.once

PATIENCE_S = 15  # how long anything may take before the test gives up
ONE_OF_EACH = [each for each in SERVERS if each != "hypercorn-trio"]  # OpenTelemetry needs asyncio


class Served(NamedTuple):
    """The app, and the folder where its middleware keeps what they report.

    Attributes:
        client: Sends requests.
        address: Host and port.
        folder: What the middleware have reported, in a file for each.
    """

    client: httpx.Client
    address: str
    folder: Path

    def reported(self, name: str, *, least: int) -> list[Any]:
        """Waits for reports, and returns them."""
        file = self.folder / name
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            lines = file.read_text().splitlines() if file.exists() else []
            if len(lines) >= least:
                return [json.loads(line) for line in lines]
            time.sleep(0.05)
        raise AssertionError(f"fewer than {least} reports of {name}")


@pytest.fixture(scope="module", params=ONE_OF_EACH)
def served(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("kept")
    target = "foreign_middleware_app:app"
    kept = {"KIT_KEPT": str(folder)}
    with ServedApp(request.param, target, folder / "log", environment=kept) as app:
        address = f"127.0.0.1:{app.port}"
        with httpx.Client(base_url=f"http://{address}", timeout=PATIENCE_S) as client:
            yield Served(client, address, folder)


def test_what_handlers_see(served: Served) -> None:
    own = str(uuid.uuid4())
    response = served.client.get(
        "/users/7",
        headers={
            "x-request-id": own,
            "x-forwarded-for": "192.0.2.7",
            "x-forwarded-proto": "https",
        },
    )
    assert response.headers["x-request-id"] == own
    assert response.json() == {
        "id": "7",
        "url": f"https://{served.address}/users/7",
        "address": "192.0.2.7",
        "correlation": own,
    }


def test_reports_are_grouped_by_route(served: Served) -> None:
    for number in range(3):
        assert served.client.get(f"/users/{number}").status_code == 200
        failed = served.client.get(f"/boom/{number}")
        assert (failed.status_code, failed.text) == (500, "Internal Server Error")
        assert "x-request-id" in failed.headers
    spans = served.reported("spans", least=6)
    names = {each["name"] for each in spans if each["route"]}
    assert names >= {"GET /users/:id", "GET /boom/:id"}
    assert not any(digit in name for name in names for digit in "012")
    reports = served.reported("sentry", least=9)
    names = {each["transaction"] for each in reports}
    assert names >= {"/users/:id", "/boom/:id"}
    assert {each["source"] for each in reports} == {"route"}
    errors = [each for each in reports if each["type"] == "event"]
    assert [each["exceptions"] for each in errors] == [["LookupError"]] * 3


@pytest.mark.parametrize("path", ["/page/kit", "/page/stream/kit"])
def test_bodies_are_compressed(served: Served, path: str) -> None:
    with served.client.stream("GET", path, headers={"accept-encoding": "br"}) as response:
        assert response.headers["content-encoding"] == "br"
        body = b"".join(response.iter_raw())
    assert brotli.decompress(body) == b"kit " * 500


def test_a_form_needs_its_token(served: Served) -> None:
    served.client.cookies.clear()
    token = served.client.get("/form/new").text
    refused = served.client.post("/form/new", data={"title": "Emma"})
    assert refused.status_code == 403
    sent = served.client.post("/form/new", data={"title": "Emma", "csrftoken": token})
    assert sent.json() == {"title": "Emma"}


def test_connections(served: Served) -> None:
    with connect(f"ws://{served.address}/echo/a") as ws:
        assert ws.recv(timeout=PATIENCE_S) != "none"
        ws.send("hi")
        assert ws.recv(timeout=PATIENCE_S) == "hi"
