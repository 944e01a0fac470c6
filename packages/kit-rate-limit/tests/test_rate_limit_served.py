# SPDX-License-Identifier: MIT
"""Limits of an app on real servers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import http_sf
import httpx
import pytest
from serving import ServedApp


@pytest.fixture(params=["uvicorn", "hypercorn-trio", "granian"])
def client(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[httpx.Client]:
    with (
        ServedApp(request.param, "rate_limit_app:app", tmp_path / "log") as served,
        httpx.Client(
            base_url=f"http://127.0.0.1:{served.port}", timeout=30, verify=False
        ) as client,
    ):
        yield client


@pytest.mark.once
def test_clients_of_a_real_server_are_limited(client: httpx.Client) -> None:
    responses = [client.get("/direct") for _ in range(5)]
    assert [response.status_code for response in responses] == [200] * 3 + [429] * 2
    fields = [
        http_sf.parse(each.headers["RateLimit"].encode(), tltype="list") for each in responses
    ]
    assert [[params["r"] for _, params in items] for items in fields] == [
        *([2, 9], [1, 8], [0, 7], [0, 7], [0, 7])
    ]
    assert 0 < int(responses[-1].headers["Retry-After"]) <= 3600
    assert responses[-1].json()["violated-policies"] == ["direct:3/hour"]

    def proxied(*forwarded: str) -> int:
        headers = [("X-Forwarded-For", each) for each in forwarded]
        return client.get("/proxied", headers=headers).status_code

    assert proxied("192.0.2.1, 10.0.0.1") == 200
    assert proxied("203.0.113.1", "192.0.2.1", "10.0.0.2") == 429
    assert proxied("192.0.2.2:4711, 10.0.0.1") == 200
    assert proxied("192.0.2.3") == 200
    assert proxied() == 429
