# SPDX-License-Identifier: MIT
"""Compares what is stored with the word of hishel, a cache for clients that can be a shared one."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from hishel import CacheMiss, CacheOptions, CouldNotBeStored, Headers, Request, Response
from hypothesis import given
from hypothesis import strategies as st

from kit import Context, Kit
from kit.cache import cache

pytestmark = pytest.mark.once

DIRECTIVES = st.sampled_from(
    [
        "max-age=0",
        "max-age=60",
        "s-maxage=60",
        "public",
        "private",
        'private="x-a"',
        "no-store",
        "no-cache",
        'no-cache="x-a"',
        "must-revalidate",
        "proxy-revalidate",
        "x",
    ]
)


@given(st.lists(DIRECTIVES, max_size=5), st.booleans(), st.sampled_from(["GET", "HEAD", "POST"]))
def test_nothing_is_stored_that_hishel_would_not_store(
    directives: list[str], authorized: bool, method: str
) -> None:
    control = ", ".join(directives)
    request_headers = {"Authorization": "Bearer a"} if authorized else {}
    app: Kit[Any, Any] = Kit()
    app.use(cache())

    async def answer(c: Context) -> Any:
        return c.text("", headers={"Cache-Control": control} if control else {})

    app.on(["GET", "POST"], "/", answer)

    async def is_stored() -> bool:
        init = {"headers": request_headers}
        await app.request("/", {**init, "method": method})
        found = await app.request("/", init)
        return "hit" in (found.headers.get("cache-status") or "")

    options = CacheOptions(shared=True)
    request = Request(method, "http://localhost/", Headers(request_headers))
    response = Response(200, Headers({"Cache-Control": control} if control else {}))
    decided = CacheMiss(options=options, request=request).next(response)
    if isinstance(decided, CouldNotBeStored):
        assert not anyio.run(is_stored)
