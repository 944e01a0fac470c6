# SPDX-License-Identifier: MIT
"""What responses depend on besides the request headers that handlers read."""

from __future__ import annotations

import asyncio
from typing import Any

from kit import Context, Kit, Response
from kit.authoring.vary import depend_on, get_vary


def test_what_was_noted_is_a_value_of_vary() -> None:
    found: list[str | None] = []
    app: Kit[Any, Any] = Kit()

    async def answer(c: Context) -> Response:
        found.append(get_vary(c))
        depend_on(c, "Cookie")
        found.append(get_vary(c))
        depend_on(c, "Accept, X-A")
        found.append(get_vary(c))
        return c.text("")

    app.get("/", answer)
    response = asyncio.run(_asked(app))
    assert found == [None, "Cookie", "Cookie, Accept, X-A"]
    assert response.headers.get("vary") is None


async def _asked(app: Kit[Any, Any]) -> Response:
    return await app.request("/")
