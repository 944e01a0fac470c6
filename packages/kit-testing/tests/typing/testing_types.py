# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from typing import assert_type

from kit import Kit, Response
from kit.testing import (
    Cookies,
    SyncResponse,
    SyncTestWebSocket,
    TestWebSocket,
    sync_test_client,
    test_client,
)

app = Kit().get("/books", lambda c: c.json([]))


async def in_a_loop() -> None:
    async with test_client(app) as client:
        assert_type(await client.books.get(query={"size": 10}), Response)
        assert_type(client.books.path(), str)
        assert_type(await client.get("/books/1", headers={"x-a": "b"}), Response)
        assert_type(await client.request("PURGE", "/books", content=b"raw"), Response)
        assert_type(client.cookies, Cookies)
        async with client.chat["general"].ws(protocols=["v1"]) as ws:
            assert_type(ws, TestWebSocket)
            assert_type(await ws.receive(), str | bytes)
            assert_type(await ws.receive_json(type=list[int]), list[int])


def in_a_plain_test() -> None:
    with sync_test_client(app, env={"db": "none"}, cookies={"a": "b"}) as client:
        response = client.books.post(json={"title": "Momo"})
        assert_type(response, SyncResponse)
        assert_type(response.status, int)
        assert_type(response.cookies, dict[str, str])
        assert_type(client.post("/books", content=["a", b"b"]), SyncResponse)
        assert_type(client.request("GET", "/nowhere", follow_redirects=True), SyncResponse)
        assert_type(client.cookies["session"], str)
        client.cookies["theme"] = "dark"
        with client.ws.ws(query={"a": 1}) as ws:
            assert_type(ws, SyncTestWebSocket)
            assert_type(ws.receive(), str | bytes)
