# SPDX-License-Identifier: MIT
"""Sends requests of httpx to the provider for tests, without a network."""

from __future__ import annotations

import httpx
import msgspec

from ._asgi import Handle

__all__ = ("ProviderTransport",)


class ProviderTransport(httpx.AsyncBaseTransport):
    """Sends requests of httpx to the provider.

    Args:
        handle: Returns the status of a response, and its JSON, or the location of a redirect.
    """

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        body = await request.aread()
        headers = {name.lower(): value for name, value in request.headers.items()}
        status, answer = await self._handle(request.method, str(request.url), headers, body)
        if 300 <= status < 400:
            stream = httpx.ByteStream(b"")
            return httpx.Response(status, headers={"location": answer}, stream=stream)
        if isinstance(answer, httpx.Response):
            return answer
        # Not `content=`, since the client reads what the network would send.
        content = msgspec.json.encode(answer)
        kind = {"content-type": "application/json"}
        return httpx.Response(status, headers=kind, stream=httpx.ByteStream(content))
