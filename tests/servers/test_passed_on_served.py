# SPDX-License-Identifier: MIT
"""Headers of another connection, passed on by an app: the server frames, so they aren't sent."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import pytest
import servers
from exchanges import by_asgi, by_rsgi
from passed_on_app import UPSTREAM, app
from wire import responses
from workspace import ROOT

from kit import Kit, Response

SUPPORT = ROOT / "tests" / "support"
PATHS = (
    *("/whole", "/stream", "/length", "/short", "/by-c", "/by-argument", "/by-set-headers"),
    "/afterwards",
)
PATIENCE_S = 20


@pytest.fixture(params=servers.SERVERS)
def port(request: pytest.FixtureRequest, serve_command: Callable[..., Any]) -> int:
    served = serve_command(
        lambda port: servers.command(request.param, "passed_on_app:app", port),
        PYTHONPATH=str(SUPPORT),
    )
    return served.port


@pytest.mark.slow
@pytest.mark.once
def test_responses_are_framed_by_the_server(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), PATIENCE_S) as connection:
        for index, path in enumerate(PATHS):  # on one connection, which stays usable
            last = index == len(PATHS) - 1
            head = f"GET {path} HTTP/1.1\r\nHost: localhost\r\n"
            connection.sendall(
                f"{head}{'Connection: close' + chr(13) + chr(10) if last else ''}\r\n".encode()
            )
        raw = b""
        while part := connection.recv(65536):
            raw += part
    found = responses(raw)
    assert [(each.status, each.body) for each in found] == [(200, b"upstream")] * len(PATHS)
    for each in found:
        assert dict(each.headers).get(b"x-end") == b"1"
        assert not {b"x-hop", b"keep-alive", b"upgrade", b"trailer"} & {n for n, _ in each.headers}


@pytest.mark.parametrize("engine", [by_asgi, by_rsgi])
@pytest.mark.parametrize("path", PATHS)
async def test_fields_of_a_connection_are_dropped(path: str, engine: Any) -> None:
    status, lines, content = await engine(app, path)
    assert (status, content) == (200, b"upstream")
    assert {name for name, _ in lines} <= {"content-type", "content-length", "x-end"}
    assert ("x-end", "1") in lines
    assert dict(lines).get("content-length", "8") == "8"


async def test_fields_that_connection_must_not_name_are_sent() -> None:
    headers = {"connection": "set-cookie, content-type", "set-cookie": "a=1", "content-type": "a/b"}
    for engine in (by_asgi, by_rsgi):
        _, lines, _ = await engine(Kit().get("/", lambda c: Response(b"x", headers=headers)), "/")
        assert {name for name, _ in lines} == {"set-cookie", "content-type", "content-length"}


async def test_426_says_what_to_upgrade_to() -> None:
    app = Kit().get(
        "/", lambda c: c.text("no", 426, {"upgrade": "websocket", "connection": "upgrade"})
    )
    for engine in (by_asgi, by_rsgi):
        _, lines, _ = await engine(app, "/")
        assert ("upgrade", "websocket") in lines


async def test_each_name_is_warned_of_once(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kit._engine.framing._warned", set())
    for _ in range(2):
        for path in PATHS:
            await by_asgi(app, path)
    names = [record.args[0] for record in caplog.records if record.args]
    assert sorted(names) == sorted([*(UPSTREAM.keys() - {"x-end"}), "content-length"])
