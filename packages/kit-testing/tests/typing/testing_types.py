# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from typing import assert_type

from kit import Kit, Response
from kit.testing import (
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
        async with client.chat["general"].ws(protocols=["v1"]) as ws:
            assert_type(ws, TestWebSocket)
            assert_type(await ws.receive(), str | bytes)
            assert_type(await ws.receive_json(type=list[int]), list[int])


def in_a_plain_test() -> None:
    with sync_test_client(app, env={"db": "none"}) as client:
        response = client.books.post(json={"title": "Momo"})
        assert_type(response, SyncResponse)
        assert_type(response.status, int)
        with client.ws.ws(query={"a": 1}) as ws:
            assert_type(ws, SyncTestWebSocket)
            assert_type(ws.receive(), str | bytes)
