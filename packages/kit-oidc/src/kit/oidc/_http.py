# SPDX-License-Identifier: MIT
"""Sends requests to providers: within a time, of a bounded size, without redirects."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import anyio
import msgspec

from kit.http.media_types import media_type
from kit.http.secure_uris import is_secure_uri

from ._errors import ProviderError

if TYPE_CHECKING:
    import ssl

    import httpx

__all__ = ("Answer", "HttpClient")

T = TypeVar("T")

_MOST_BYTES = 512 * 1024
_HEADERS = {
    "Accept": "application/json",
    # A compressed body could be a thousand times as large as what is read.
    "Accept-Encoding": "identity",
    "User-Agent": "kit-oidc",
}


class Answer(NamedTuple):
    """A response.

    Attributes:
        status: The status.
        media_type: The media type in lower case, without parameters.
        body: The body.
        url: Where it comes from, without the query; for errors.
    """

    status: int
    media_type: str
    body: bytes
    url: str

    def decode(self, kind: type[T]) -> T:
        """Decodes the body, which must be JSON of a type.

        Raises:
            ProviderError: If it isn't.
        """
        try:
            return msgspec.json.decode(self.body, type=kind)
        except (ValueError, RecursionError) as error:
            # APPSEC: the error of msgspec names types and fields, never values.
            raise ProviderError(
                f"{self.url} sent no valid JSON with the status {self.status}: {error}",
                "invalid_token",
            ) from None


class HttpClient:
    """Sends requests with httpx.

    Args:
        transport: The transport of httpx, which isn't closed; None for the network.
        timeout_s: Seconds that a request may take as a whole.
    """

    def __init__(self, transport: httpx.AsyncBaseTransport | None, timeout_s: float) -> None:
        self.transport = transport
        self.timeout_s = timeout_s

    async def get(self, url: str, headers: Mapping[str, str] | None = None) -> Answer:
        """Sends a GET request; returns a response with the status 200.

        Raises:
            ProviderError: If it fails, or there is another status.
        """
        answer = await self.send("GET", url, headers=headers)
        if answer.status != 200:
            raise ProviderError(f"{answer.url} has the status {answer.status}, expected 200")
        return answer

    async def send(
        self,
        method: str,
        url: str,
        *,
        form: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Sends a request.

        Raises:
            ProviderError: If it fails, or the response is too large or compressed.
        """
        import httpx

        shown = url.partition("?")[0][:200]
        # APPSEC: addresses come from the metadata of the provider.
        if not is_secure_uri(url):
            raise ProviderError(f"{shown!r} is neither https nor on this machine")
        try:
            with anyio.fail_after(self.timeout_s):
                async with (
                    self._client() as client,
                    client.stream(
                        method, url, data=form, headers={**_HEADERS, **(headers or {})}
                    ) as response,
                ):
                    body = await _read(response, shown)
        except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL, OSError) as error:
            # Without the text, which may quote what the network sent.
            raise ProviderError(f"{shown} can't be reached: {type(error).__name__}") from error
        kind = media_type(response.headers.get("content-type"))
        return Answer(response.status_code, kind, body, shown)

    def _client(self) -> httpx.AsyncClient:
        import httpx

        options: dict[str, Any] = (
            {"verify": _tls()}
            if self.transport is None
            else {"transport": _kept_open(self.transport)}
        )
        return httpx.AsyncClient(follow_redirects=False, timeout=self.timeout_s, **options)


async def _read(response: httpx.Response, shown: str) -> bytes:
    if response.headers.get("content-encoding", "identity") != "identity":
        raise ProviderError(f"{shown} sent a compressed response, which was not asked for")
    body = bytearray()
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > _MOST_BYTES:
            raise ProviderError(f"{shown} sent more than {_MOST_BYTES} bytes")
    return bytes(body)


@cache
def _tls() -> ssl.SSLContext:
    """Loading the certificates takes as long as a request."""
    import httpx

    return httpx.create_ssl_context()


def _kept_open(transport: httpx.AsyncBaseTransport) -> httpx.AsyncBaseTransport:
    """Returns a transport that a client can't close."""
    import httpx

    class KeptOpen(httpx.AsyncBaseTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            return await transport.handle_async_request(request)

    return KeptOpen()
