# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from typing import assert_type

from kit import Kit, Response
from kit.testing import SyncResponse, sync_test_client, test_client

app = Kit().get("/books", lambda c: c.json([]))


async def in_a_loop() -> None:
    async with test_client(app) as client:
        assert_type(await client.books.get(query={"size": 10}), Response)
        assert_type(client.books.path(), str)


def in_a_plain_test() -> None:
    with sync_test_client(app, env={"db": "none"}) as client:
        response = client.books.post(json={"title": "Momo"})
        assert_type(response, SyncResponse)
        assert_type(response.status, int)
