# SPDX-License-Identifier: MIT
"""Responses that a callback writes piece by piece: `stream`, `stream_text` and `stream_sse`.

    @app.get("/clock")
    def clock(c: Context) -> Response:
        async def tick(stream: SSEStreamingApi) -> None:
            while True:
                await stream.write_sse(data=time.ctime(), event="tick")
                await stream.sleep(1)

        return stream_sse(c, tick)

The response is returned at once; the callback runs while the body is sent, in the task of the
request. If a middleware or a test reads the body instead, the callback runs in its own task, which
ends when reading ends. The callback sees the context variables of the handler. A write waits until
the server, or another reader, accepts more data.

When the client disconnects, the callback is cancelled where it waits, by the rules of anyio:
`finally` blocks run, and a clean-up that waits needs `with anyio.CancelScope(shield=True):`. An
exception in the callback is passed to `on_error`, or logged. Then the connection is aborted, so
that the client doesn't mistake the response for a complete one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from kit.authoring.maybe_await import is_awaitable, settle
from kit.authoring.signatures import describe
from kit.context import Context
from kit.http.server_sent_events import KEEP_ALIVE, set_event_headers
from kit.web import Response

from ._api import SSEStreamingApi, StreamingApi
from ._body import CallbackBody, StreamAbortedError, StreamClosedError

__all__ = (
    "SSEStreamingApi",
    "StreamAbortedError",
    "StreamClosedError",
    "StreamingApi",
    "stream",
    "stream_sse",
    "stream_text",
)

# Public classes show the module that users import them from.
for _class in (SSEStreamingApi, StreamAbortedError, StreamClosedError, StreamingApi):
    _class.__module__ = __name__

_Api = TypeVar("_Api", bound=StreamingApi)


class _KeepAlive:
    """Writes a comment to an event stream whenever nothing else was sent for a while.

    SPEC: WHATWG HTML section 9.2.7: proxies close idle connections.
    """

    _quiet_since: float

    def __init__(self, body: CallbackBody, interval_s: float) -> None:
        self._body = body
        self._interval_s = interval_s
        self._between_lines = True

    async def around(self, write: Callable[[], Awaitable[None]]) -> None:
        """Runs the callback of the stream, and writes comments until it returns."""
        from anyio import create_task_group, current_time

        self._quiet_since = current_time()
        self._body.on_sent = self._note
        failure: Exception | None = None
        async with create_task_group() as group:
            group.start_soon(self._comment)
            try:
                await write()
            except Exception as error:  # raised below, since a task group would wrap it
                failure = error
            async with self._body.lock:  # wait until a comment is sent completely
                group.cancel_scope.cancel()
        if failure is not None:
            raise failure

    async def _comment(self) -> None:
        from anyio import sleep_until

        with suppress(StreamClosedError):
            while True:
                await sleep_until(self._quiet_since + self._interval_s)
                await self._body.put(KEEP_ALIVE, self._is_due)

    def _note(self, chunk: bytes) -> None:
        from anyio import current_time

        self._quiet_since = current_time()
        self._between_lines = chunk.endswith(b"\n")

    def _is_due(self) -> bool:
        from anyio import current_time

        now = current_time()
        if now < self._quiet_since + self._interval_s:
            return False
        self._quiet_since = now
        # write() may have sent the start of a line; a comment would become part of that line.
        return self._between_lines


def stream(
    c: Context[Any, Any],
    callback: Callable[[StreamingApi], Awaitable[object]],
    on_error: Callable[[Exception, StreamingApi], object] | None = None,
) -> Response:
    """Returns a response whose body a callback writes.

    Args:
        c: The context. Its status and headers are used for the response.
        callback: An async function that is called with the stream to write to.
        on_error: Called with an exception of the callback, and the stream; may be async. It may
            write a last message. The connection is then aborted, unless `on_error` or the callback
            called `stream.close()`. Default: the error is logged.

    Returns:
        The response. The callback runs when the body is sent or read; for a HEAD request, it
        doesn't run.

    Raises:
        TypeError: If `callback` or `on_error` is not a function, or the status set on `c` allows
            no body.
    """
    return _respond(c, "stream", StreamingApi(), callback, on_error)


def stream_text(
    c: Context[Any, Any],
    callback: Callable[[StreamingApi], Awaitable[object]],
    on_error: Callable[[Exception, StreamingApi], object] | None = None,
) -> Response:
    """Returns a text/plain response whose body a callback writes.

    Browsers show the text as it arrives: `X-Content-Type-Options: nosniff` keeps them from waiting
    for enough data to guess a type.

    Args:
        c: As for `stream`.
        callback: As for `stream`.
        on_error: As for `stream`.

    Returns:
        The response, see `stream`.

    Raises:
        TypeError: As for `stream`.
    """
    response = _respond(c, "stream_text", StreamingApi(), callback, on_error)
    headers = response.headers
    headers.set("content-type", "text/plain; charset=UTF-8")
    headers.set("x-content-type-options", "nosniff")
    return response


def stream_sse(
    c: Context[Any, Any],
    callback: Callable[[SSEStreamingApi], Awaitable[object]],
    on_error: Callable[[Exception, SSEStreamingApi], object] | None = None,
    *,
    keep_alive: float | None = None,
) -> Response:
    """Returns a stream of server-sent events for an `EventSource` in a browser.

    SPEC: WHATWG HTML section 9.2.

    Args:
        c: As for `stream`. Cache-Control and X-Accel-Buffering set on it are kept; the defaults
            are `no-cache` and `no`.
        callback: An async function that is called with the stream to write events to.
        on_error: As for `stream`. The client sees only the data that `on_error` writes, and then
            reconnects, unless an event told it not to.
        keep_alive: Seconds without an event after which a comment is sent, so that proxies don't
            close an idle connection. None: never.

    Returns:
        The response, see `stream`.

    Raises:
        TypeError: As for `stream`.
        ValueError: If `keep_alive` is not above 0.
    """
    if keep_alive is not None and not keep_alive > 0:
        raise ValueError(
            f"Invalid keep_alive {keep_alive!r} of stream_sse(): expected seconds above 0, or None"
        )
    value = c.req.header("last-event-id")
    # SPEC: WHATWG HTML section 9.2.3: clients send the id as UTF-8; headers are decoded as latin-1.
    last_event_id = value and value.encode("latin-1").decode("utf-8", "replace")
    api = SSEStreamingApi(last_event_id, c.codecs)
    response = _respond(c, "stream_sse", api, callback, on_error, keep_alive)
    set_event_headers(response.headers)
    return response


def _respond(
    c: Context[Any, Any],
    name: str,
    api: _Api,
    callback: Callable[[_Api], Awaitable[object]],
    on_error: Callable[[Exception, _Api], object] | None,
    keep_alive_s: float | None = None,
) -> Response:
    """Returns a response whose body the callback writes to `api`."""
    if not callable(callback):
        raise TypeError(f"{name}() takes an async function as callback, not {callback!r:.100}")
    if on_error is not None and not callable(on_error):
        raise TypeError(f"{name}() takes a function as on_error, not {on_error!r:.100}")

    async def write() -> None:
        result = callback(api)
        if not is_awaitable(result):
            raise TypeError(
                f"{name}() takes an async function, which awaits stream.write(): "
                f"{describe(callback)} returned {type(result).__name__}"
            )
        await settle(result, callback)

    place = f"{name}() for {c.req.method} {ascii(c.req.path)[1:-1]}"
    report = None if on_error is None else lambda error: on_error(error, api)
    body = CallbackBody(place, write, report)
    if keep_alive_s is not None:
        body.callback = partial(_KeepAlive(body, keep_alive_s).around, write)
    api._body = body
    # NOTE: Hono sets Transfer-Encoding here, and Connection for events. Both concern a single
    # connection (RFC 9112 section 6.1, RFC 9110 section 7.6.1), which is the ASGI server's job: it
    # adds "chunked" if there is no Content-Length, and HTTP/2 has neither.
    return c.new_response(body)
