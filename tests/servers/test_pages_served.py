# SPDX-License-Identifier: MIT
"""Templates and the cache by the word of real servers and a client."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
import servers
from serving import ServedApp

LARGE = "<title>Large</title>" + "".join(f"<i>{number}</i>" for number in range(20_000))


@pytest.fixture(scope="module", params=servers.SERVERS)
def client(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[httpx.Client]:
    log: Path = tmp_path_factory.mktemp("log") / "server.log"
    with (
        ServedApp(request.param, "pages_app:app", log) as served,
        httpx.Client(
            base_url=f"http://127.0.0.1:{served.port}", timeout=20, verify=False
        ) as client,
    ):
        yield client


def test_a_page(client: httpx.Client) -> None:
    response = client.get("/page?q=<b>")
    assert response.headers["content-type"] == "text/html; charset=UTF-8"
    assert response.text.startswith("<title>Page</title><p>")
    assert response.text.endswith(" &lt;b&gt;</p>")


@pytest.mark.parametrize("path", ["/large", "/cached/large"])
def test_a_large_page_is_streamed(client: httpx.Client, path: str) -> None:
    response = client.get(path)
    assert "content-length" not in response.headers
    assert response.text == LARGE


def test_a_streamed_page_is_cached(client: httpx.Client) -> None:
    assert client.get("/cached/large?stream").text == LARGE
    response = client.get("/cached/large?stream")
    assert response.headers["cache-status"].startswith("Kit; hit")
    assert response.headers["content-length"] == str(len(LARGE))
    assert response.text == LARGE


def test_a_cached_page(client: httpx.Client) -> None:
    first = client.get("/cached/page?q=1")
    again = client.get("/cached/page?q=1")
    assert again.text == first.text
    assert again.headers["cache-status"].startswith("Kit; hit")
    head = client.head("/cached/page?q=1")
    assert head.headers["content-length"] == str(len(first.content))
    assert head.headers["cache-status"].startswith("Kit; hit")
    etag = first.headers["etag"]
    unchanged = client.get("/cached/page?q=1", headers={"If-None-Match": etag})
    assert (unchanged.status_code, unchanged.content) == (304, b"")
    assert unchanged.headers["etag"] == etag
    assert client.post("/cached/page").text == "changed"
    assert client.get("/cached/page?q=1").text != first.text


def test_many_clients_get_one_response(client: httpx.Client) -> None:
    with ThreadPoolExecutor(16) as threads:
        texts = [*threads.map(lambda _: client.get("/cached/page?q=many").text, range(100))]
    assert len({*texts}) == 1


def test_a_stale_response_is_fetched_anew_in_the_background(client: httpx.Client) -> None:
    first = client.get("/cached/swr")
    second = client.get("/cached/swr")
    assert second.text == first.text
    assert second.headers["cache-status"].startswith("Kit; hit")
    for _ in range(1000):  # the next one, or one of those after it, has what is new
        if client.get("/cached/swr").text != first.text:
            return
    raise AssertionError("it was never fetched anew")
