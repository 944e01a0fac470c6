# SPDX-License-Identifier: MIT
"""Sends one request to an upstream server, and passes on its response."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from typing import Any, NamedTuple

import httpx
from anyio import CancelScope, create_task_group, current_time, fail_after

from kit.interface import Context, HTTPException, Request, Response

from ._fields import Line, group_lines, name_in_cgi, read_lines, select_end_to_end
from ._forwarded import add_forwarded, add_via, drop_forwarded
from ._options import Options

__all__ = ("Target", "build_lines", "pass_on", "select_response_lines", "version_of")

_logger = logging.getLogger("kit")

# The status in access logs for a client that closed the request; it is never sent.
_CLIENT_CLOSED_REQUEST = 499
_SWITCHING_PROTOCOLS = 101
# APPSEC: TRACE returns the request, with the keys that the app has added; CONNECT opens a tunnel.
_REFUSED_METHODS = frozenset(("CONNECT", "TRACE"))
_WITHOUT_CONTENT = frozenset((204, 205, 304))
# SPEC: RFC 9110, section 8.6; 304 may tell the length of what it stands for.
_WITHOUT_LENGTH = frozenset((204, 205))
# The server has answered `100-continue` itself; the others are set from the body and the target.
_NOT_SENT = frozenset(("expect", "content-length", "host"))
# The server of the app adds its own.
_OF_THE_SERVER = frozenset(("date", "server"))


class Target(NamedTuple):
    """Where a request is sent.

    Attributes:
        url: The URL.
        prefix: The part of the client's path that isn't passed on; may be empty.
        rewrite_location: Changes a Location of the upstream server; None to pass it on unchanged.
    """

    url: httpx.URL
    prefix: str = ""
    rewrite_location: Callable[[str], str] | None = None


async def build_lines(c: Context[Any, Any], target: Target, options: Options) -> list[Line]:
    """Returns the lines of the request to the upstream server, except those of its body.

    Args:
        c: The context of the client's request.
        target: Where the request is sent.
        options: The options.
    """
    raw = c.req.raw
    received = read_lines(raw.headers)
    lines = select_end_to_end(received, strict=options.strict_connection_processing)
    lines = [(name, value) for name, value in lines if name_in_cgi(name) not in _NOT_SENT]
    lines = drop_forwarded(lines, trusted=options.trust_forwarded)
    if options.add_forwarded:
        lines = add_forwarded(lines, c, target.prefix)
    if options.via is not None:
        lines = add_via(lines, version_of(raw), options.via)
    host = c.req.header("host") if options.preserve_host else None
    if host is not None:
        lines.insert(0, ("host", host))
    return await options.replace_lines(lines, c)


async def pass_on(
    c: Context[Any, Any],
    request: Request,
    method: str,
    body: Any,
    length: str | None,
    target: Target,
    client: httpx.AsyncClient,
    options: Options,
) -> Response:
    """Sends a request, and returns the response as soon as its head has arrived.

    Args:
        c: The context.
        request: The client's request, which tells whether the client disconnects.
        method: The method.
        body: bytes, a stream to read once, or None.
        length: The Content-Length of a stream, if it is known.
        target: Where the request is sent.
        client: The client that sends it.
        options: The options.

    Raises:
        HTTPException: 501 for CONNECT and TRACE, 502 if the upstream server can't be reached or its
            response is invalid, 503 if all connections are in use, 504 if it takes too long.
    """
    if method.upper() in _REFUSED_METHODS:
        raise HTTPException(501, f"{method.upper()} isn't passed on")
    lines = await build_lines(c, target, options)
    if length is not None and length != "0":
        lines.append(("content-length", length))
    deadline = None if options.total_timeout is None else current_time() + options.total_timeout
    try:
        with _until(deadline):  # the client may send its first chunk late, or never
            content = await _prepare_upload(body, length)
    except TimeoutError as error:
        raise _as_http_error(error, target.url) from error
    upstream_request = httpx.Request(
        method,
        target.url,
        headers=[(name.encode("latin-1"), value.encode("latin-1")) for name, value in lines],
        content=content,
        extensions={
            "timeout": {
                "connect": options.connect_timeout,
                "pool": options.connect_timeout,
                "read": options.read_timeout,
                "write": options.read_timeout,
            }
        },
    )
    response = await _send(client, upstream_request, request, deadline)
    if response is None:
        _logger.debug("The client disconnected; the request to the upstream server was cancelled")
        return c.body(None, _CLIENT_CLOSED_REQUEST)
    try:
        return await _convert(c, response, method, target, options, deadline)
    except BaseException:
        with CancelScope(shield=True):
            await response.aclose()
        raise


async def _convert(
    c: Context[Any, Any],
    response: httpx.Response,
    method: str,
    target: Target,
    options: Options,
    deadline: float | None,
) -> Response:
    """Returns the response to the client.

    Raises:
        HTTPException: 502 if its status or a field can't be passed on.
    """
    status = response.status_code
    if status == _SWITCHING_PROTOCOLS:
        raise HTTPException(502, "The upstream server switched to another protocol")
    received = [
        (name.decode("latin-1").lower(), value.decode("latin-1"))
        for name, value in response.headers.raw
    ]
    version = response.http_version.rpartition("/")[2]
    headers = group_lines(select_response_lines(received, version, target, options))
    # APPSEC: Transfer-Encoding overrides it (RFC 9112, section 6.3); passed on, it would split the
    # response for the client.
    if status in _WITHOUT_LENGTH or any(name == "transfer-encoding" for name, _ in received):
        headers.pop("content-length", None)
    is_empty = method == "HEAD" or status in _WITHOUT_CONTENT
    if is_empty:
        await response.aclose()
    try:
        return c.body(None if is_empty else _Download(response, deadline), status, headers)
    except ValueError as error:
        _logger.warning("A response of %s can't be passed on: %s", target.url.host, error)
        raise HTTPException(502, "The response of the upstream server is invalid") from error


def select_response_lines(
    received: list[Line], version: str, target: Target, options: Options
) -> list[Line]:
    """Returns the lines of a response that are passed on.

    Args:
        received: The lines that the upstream server sent.
        version: The version of HTTP in which they were received.
        target: Where the request was sent.
        options: The options.
    """
    lines = select_end_to_end(received, strict=options.strict_connection_processing)
    lines = [(name, value) for name, value in lines if name not in _OF_THE_SERVER]
    rewrite = target.rewrite_location
    if rewrite is not None:
        lines = [
            (name, rewrite(value) if name in ("location", "content-location") else value)
            for name, value in lines
        ]
    if options.via is not None:
        lines = add_via(lines, version, options.via)
    return lines


def version_of(request: Request) -> str:
    """Returns the version of HTTP in which a request was received, e.g. `1.1`."""
    return str((request.scope or {}).get("http_version", "1.1"))


async def _send(
    client: httpx.AsyncClient,
    upstream_request: httpx.Request,
    request: Request,
    deadline: float | None,
) -> httpx.Response | None:
    """Sends a request; returns None if the client disconnects before the response arrives."""
    response: httpx.Response | None = None
    # Raised below: a task group would wrap it.
    failure: Exception | None = None
    is_gone = False

    async def watch() -> None:
        nonlocal is_gone, failure
        try:
            is_gone = await request.wait_for_disconnect()
        except Exception as error:
            failure = error
        if is_gone or failure is not None:
            group.cancel_scope.cancel()

    try:
        async with create_task_group() as group:
            group.start_soon(watch)
            try:
                with _until(deadline):
                    response = await client.send(
                        upstream_request, stream=True, follow_redirects=False
                    )
            except Exception as error:
                failure = _as_http_error(error, upstream_request.url)
            group.cancel_scope.cancel()
        if failure is not None:
            raise failure
    except BaseException:
        if response is not None:
            with CancelScope(shield=True):
                await response.aclose()
        raise
    if response is not None and is_gone:
        await response.aclose()
        return None
    return response


def _until(deadline: float | None) -> Any:
    """Returns a block that raises TimeoutError at a deadline."""
    if deadline is None:
        return CancelScope()
    return fail_after(max(0.0, deadline - current_time()))


def _as_http_error(error: Exception, url: httpx.URL) -> Exception:
    """Returns the exception for a client whose request failed; others are of its own request."""
    status, message = 502, "The upstream server can't be reached"
    if isinstance(error, httpx.PoolTimeout):
        status, message = 503, "All connections to the upstream server are in use"
    elif isinstance(error, (httpx.TimeoutException, TimeoutError)):
        status, message = 504, "The upstream server takes too long"
    elif isinstance(error, httpx.RemoteProtocolError):
        message = "The response of the upstream server is invalid"
    elif not isinstance(error, httpx.TransportError):
        return error
    _logger.warning("%s: %s://%s: %r", message, url.scheme, url.netloc.decode("ascii"), error)
    problem = HTTPException(status, message)
    problem.__cause__ = error
    return problem


async def _prepare_upload(body: Any, length: str | None) -> Any:
    """Returns the body of a request as httpx expects it.

    Servers give every request a stream. One without a length may be empty, such as that of a GET
    request, and is then no body: it would be sent as a chunked one.
    """
    if body is None or isinstance(body, bytes):
        return body
    if length == "0":
        return b""
    chunks = aiter(body)
    if length is not None:
        return _Upload(b"", chunks)
    async for chunk in chunks:
        if chunk:
            return _Upload(chunk, chunks)
    return None


class _Upload:
    """A streamed body of a request, of which the first chunk may have been read."""

    def __init__(self, first: bytes, chunks: AsyncIterator[bytes]) -> None:
        self._first = first
        self._chunks = chunks

    async def __aiter__(self) -> AsyncIterator[bytes]:
        first, self._first = self._first, b""
        if first:
            yield first
        async for chunk in self._chunks:
            yield chunk


class _Download(AsyncIterator[bytes]):
    """The body of a response, encoded as the upstream server sent it.

    A class, since closing an async generator before its start would not close the response.
    """

    def __init__(self, response: httpx.Response, deadline: float | None) -> None:
        self._response = response
        self._deadline = deadline
        # Not `aiter_raw`: it raises if a response of a mock has its content already.
        self._chunks = aiter(response.stream)  # type: ignore[arg-type]

    async def __anext__(self) -> bytes:
        if self._deadline is None:
            return await anext(self._chunks)
        with _until(self._deadline):
            return await anext(self._chunks)

    async def aclose(self) -> None:
        close = getattr(self._chunks, "aclose", None)
        if close is not None:
            await close()
        await self._response.aclose()
