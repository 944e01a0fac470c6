# SPDX-License-Identifier: MIT
"""Hostile forms: each is refused with a message, in bounded memory, and nothing of it is logged."""

from __future__ import annotations

import contextlib
import gc
import json
import logging
import select
import tracemalloc
from collections.abc import Iterator
from typing import Any

import pytest
from asgi_peer import http_scope
from form_app import make_app
from hostile_forms import CASES, MIB, Hostile
from serving import ServedApp
from wire import exchange, request, responses

MOST_BYTES = 10 * MIB
PATIENCE_S = 20  # how long anything may take before the test gives up
READERS = ("form_data", "parse_body", "raw")

EVERY_CASE = pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES])


class Sender:
    """An ASGI server with one request.

    Attributes:
        status: Of the answer.
        headers: Of the answer.
        body: Of the answer.
    """

    def __init__(self, case: Hostile) -> None:
        self._chunks = case.chunks()
        self._is_over = False
        self.status = 0
        self.headers: dict[bytes, bytes] = {}
        self.body = b""

    async def receive(self) -> dict[str, Any]:
        chunk = next(self._chunks, None)
        self._is_over = chunk is None
        return {"type": "http.request", "body": chunk or b"", "more_body": not self._is_over}

    async def send(self, message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = dict(message["headers"])
        self.body += message.get("body", b"")

    async def ask(self, path: str, content_type: str) -> None:
        headers = [(b"content-type", content_type.encode("latin-1"))]
        scope = http_scope(path, "POST", headers=headers)
        await make_app()(scope, self.receive, self.send)


@EVERY_CASE
@pytest.mark.parametrize("reader", READERS)
async def test_it_is_refused(case: Hostile, reader: str, caplog: pytest.LogCaptureFixture) -> None:
    sender = Sender(case)
    with caplog.at_level(logging.DEBUG):
        await sender.ask(f"/{reader}", case.content_type)
    assert (sender.status, sender.body.decode()) == (case.status, case.message)
    assert sender.headers[b"content-type"] == b"text/plain; charset=UTF-8"
    assert [record for record in caplog.records if record.name != "asyncio"] == []


@EVERY_CASE
async def test_it_takes_little_memory(case: Hostile) -> None:
    await Sender(case).ask("/form_data", case.content_type)  # what is imported first is not counted
    gc.collect()
    tracemalloc.start()
    try:
        sender = Sender(case)
        await sender.ask("/form_data", case.content_type)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert sender.status == case.status
    assert most < MOST_BYTES


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedApp]:
    log = tmp_path_factory.mktemp("uvicorn") / "log"
    options = ("--factory", "--log-level=warning")
    with ServedApp("uvicorn", "form_app:measured", log, *options) as running:
        yield running


def sent(served: ServedApp, head: bytes, chunks: Iterator[bytes]) -> bytes:
    """Sends a request in chunks, as long as there is no answer; gives the answer."""
    with served.connect(PATIENCE_S) as connection:
        # A server that has refused may close the connection while there is still something to send.
        with contextlib.suppress(ConnectionError):
            connection.sendall(head)
            for chunk in chunks:
                if select.select([connection], [], [], 0)[0]:
                    break
                if chunk:
                    connection.sendall(b"%x\r\n%b\r\n" % (len(chunk), chunk))
            else:
                connection.sendall(b"0\r\n\r\n")
        return exchange(connection, b"")


def peak(served: ServedApp) -> dict[str, int]:
    with served.connect(PATIENCE_S) as connection:
        [response] = responses(exchange(connection, request(b"/peak")))
    found: dict[str, int] = json.loads(response.body)
    return found


@EVERY_CASE
def test_it_is_refused_by_a_server(served: ServedApp, case: Hostile) -> None:
    before = peak(served)["now"]
    content_type = b"content-type: " + case.content_type.encode("latin-1")
    lines = (content_type, b"transfer-encoding: chunked")
    head = request(b"/form_data", *lines, method=b"POST")
    [response] = responses(sent(served, head, case.chunks()))
    assert (response.status, response.body.decode()) == (case.status, case.message)
    assert peak(served)["most"] - before < MOST_BYTES
    assert served.printed() == ""
