# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from typing import Any, assert_type

import httpx

from kit import Context as KitContext
from kit import Kit, Response
from kit.interface import Context, Handler
from kit.proxy import HeadersOption, ProxyOptions, ReverseProxy, proxy, reverse_proxy


async def show(c: Context[Any, Any]) -> Response:
    assert_type(await proxy(c, "http://backend"), Response)
    return await proxy(c, "http://backend", path=c.req.path, method="GET", via=None, body=b"")


async def headers_of(c: KitContext) -> dict[str, str | None]:
    return {"x-user": c.req.query("user")}


headers: HeadersOption = headers_of
options: ProxyOptions = {"preserve_host": True, "headers": {"cookie": None}}
handler: Handler = show
backend = reverse_proxy("http://backend", keep_prefix=True, **options)
reverse_proxy("http://backend", client=httpx.AsyncClient(), ssl_context=None)
assert_type(backend, ReverseProxy)
app = Kit()
app.all("/api/*", backend)
app.use("/used/*", backend)
app.mount("/mounted", backend)
app.not_found(backend)
