# SPDX-License-Identifier: MIT
"""Compressed answers over sockets, decoded by httpx, Node and Chromium."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from compressed_app import EVENTS, HUGE_CHUNK_BYTES, HUGE_CHUNKS, LARGE, TEXT
from content_codings import Decoder, decode
from serving import ServedApp

NEGOTIATED = ("zstd", "br", "gzip")
PATIENCE_S = 30.0
# Reads event after event, and tells the server of each: it sends the next one only then.
NODE = """
const [base, codings] = JSON.parse(process.argv[1]);
const told = {};
for (const coding of codings) {
  const headers = {"Accept-Encoding": coding};
  const text = await fetch(`${base}/text`, {headers});
  const large = await fetch(`${base}/large`, {headers});
  const events = await fetch(`${base}/events/node-${coding}`, {headers});
  const decoder = new TextDecoder();
  const seen = [];
  for await (const chunk of events.body) {
    seen.push(decoder.decode(chunk, {stream: true}));
    await fetch(`${base}/received/node-${coding}`, {method: "POST"});
  }
  told[coding] = {
    coding: [text, large, events].map((each) => each.headers.get("content-encoding")),
    text: await text.text(),
    large: (await large.text()).length,
    events: seen,
  };
}
console.log(JSON.stringify(told));
"""
CHROMIUM = """
const text = await fetch("/text");
const large = await fetch("/large");
const seen = await new Promise((resolve, reject) => {
  const source = new EventSource("/events/chromium");
  const seen = [];
  source.onmessage = async ({data}) => {
    seen.push(data);
    if (seen.length === args[0]) source.close();
    await fetch("/received/chromium", {method: "POST"});
    if (seen.length === args[0]) resolve(seen);
  };
});
return {
  coding: text.headers.get("content-encoding"),
  text: await text.text(),
  large: (await large.text()).length,
  events: seen,
};
"""


@pytest.fixture(scope="module", params=["uvicorn", "granian"])
def served(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServedApp]:
    log: Path = tmp_path_factory.mktemp("served") / "log"
    with ServedApp(request.param, "compressed_app:app", log) as served:
        yield served


@pytest.fixture
def url(served: ServedApp) -> str:
    return f"http://127.0.0.1:{served.port}"


@pytest.fixture
def client(url: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=url, timeout=PATIENCE_S, verify=False) as client:
        yield client


@pytest.mark.parametrize("coding", NEGOTIATED)
def test_bodies_come_whole(client: httpx.Client, coding: str) -> None:
    for path, text, etag in (("/text", TEXT, 'W/"v1"'), ("/large", LARGE, None)):
        with client.stream("GET", path, headers={"Accept-Encoding": coding}) as response:
            data = b"".join(response.iter_raw())
        assert response.headers["content-encoding"] == coding
        assert response.headers["vary"] == "Accept-Encoding"
        assert response.headers.get("etag") == etag
        assert len(data) < len(text) / 4
        assert decode(coding, data).decode() == text


def test_httpx_decodes_them(client: httpx.Client) -> None:
    for coding in ("gzip", "br"):
        response = client.get("/text", headers={"Accept-Encoding": coding})
        assert (response.headers["content-encoding"], response.text) == (coding, TEXT)


def test_head_has_the_headers_of_get(client: httpx.Client) -> None:
    varying = {"date", "server"}
    for path in ("/text", "/tagged"):
        get, head = client.get(path), client.head(path)
        kept = [{k: v for k, v in each.headers.items() if k not in varying} for each in (get, head)]
        assert kept[0] == kept[1]
        assert head.content == b""


def test_what_the_client_has_is_not_sent_again(client: httpx.Client) -> None:
    first = client.get("/tagged", headers={"Accept-Encoding": "gzip"})
    tag = first.headers["etag"]
    assert tag.startswith('W/"')
    again = client.get("/tagged", headers={"Accept-Encoding": "gzip", "If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")
    assert (again.headers["etag"], again.headers["vary"]) == (tag, "Accept-Encoding")
    assert client.get("/tagged", headers={"If-Match": '"other"'}).status_code == 412


@pytest.mark.parametrize("coding", NEGOTIATED)
def test_the_client_has_each_event_before_the_next_is_sent(
    client: httpx.Client, coding: str
) -> None:
    decoder = Decoder(coding)
    seen = []
    name = f"httpx-{coding}"
    with client.stream("GET", f"/events/{name}", headers={"Accept-Encoding": coding}) as response:
        assert response.headers["content-encoding"] == coding
        for chunk in response.iter_raw():
            if text := decoder.feed(chunk).decode():
                seen.append(text)
                client.post(f"/received/{name}")
    assert seen == [f"data: event {number}\n\n" for number in range(EVENTS)]


@pytest.mark.parametrize("coding", NEGOTIATED)
def test_a_stream_ends_when_the_client_leaves(client: httpx.Client, coding: str) -> None:
    with client.stream("GET", f"/endless/{coding}", headers={"Accept-Encoding": coding}) as stream:
        assert Decoder(coding).feed(next(stream.iter_raw())) == b"begun"
    assert client.get(f"/ended/{coding}").text == "CancelledError"


@pytest.mark.slow
@pytest.mark.parametrize("coding", NEGOTIATED)
def test_memory_does_not_grow_with_a_stream(
    client: httpx.Client, served: ServedApp, coding: str
) -> None:
    client.get("/text", headers={"Accept-Encoding": coding})
    before = served.memory_bytes()
    decoder = Decoder(coding)
    size = 0
    with client.stream("GET", "/huge", headers={"Accept-Encoding": coding}) as response:
        assert response.headers["content-encoding"] == coding
        for chunk in response.iter_raw():
            size += len(decoder.feed(chunk))
    assert size == HUGE_CHUNKS * HUGE_CHUNK_BYTES
    assert served.memory_bytes() - before < size / 8


@pytest.mark.once
@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node")
def test_node_decodes_them(url: str) -> None:
    codings = ["gzip", "br", "deflate"]
    ended = subprocess.run(
        ["node", "--input-type=module", "-e", NODE, json.dumps([url, codings])],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    told = json.loads(ended.stdout)
    # The app doesn't offer deflate, which is long out of use.
    for coding, sent in (("gzip", "gzip"), ("br", "br"), ("deflate", None)):
        assert told[coding] == {
            "coding": [sent] * 3,
            "text": TEXT,
            "large": len(LARGE),
            "events": [f"data: event {number}\n\n" for number in range(EVENTS)],
        }


@pytest.mark.slow
@pytest.mark.once
def test_chromium_decodes_them(browser: Any, url: str) -> None:
    browser.open(f"{url}/page")
    assert browser.run(CHROMIUM, EVENTS) == {
        # The browser asks for it on the loopback interface, as it does over TLS.
        "coding": "zstd",
        "text": TEXT,
        "large": len(LARGE),
        "events": [f"event {number}" for number in range(EVENTS)],
    }
