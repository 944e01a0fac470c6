# SPDX-License-Identifier: MIT
"""Passes a WebSocket connection on: messages, subprotocols and close codes, in both directions."""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from ssl import SSLContext
from typing import Any

from kit.authoring.event_loops import running_trio
from kit.authoring.tasks import DetachedTask, Signal
from kit.http.addresses import parse_address
from kit.interface import Context, HTTPException, Request, Response
from kit.interface.websocket import check_close
from kit.websocket import Handshake, get_handshake

from ._exchange import Target, build_lines, select_response_lines
from ._fields import Line, group_lines
from ._options import Options

try:
    from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus
except ImportError as error:
    raise ImportError(
        'kit.proxy needs websockets to pass on WebSockets: pip install "kit-proxy[websocket]"'
    ) from error

__all__ = ("relay",)

_logger = logging.getLogger("kit")

_SCHEMES = {"http": "ws", "https": "wss"}
_NOT_MODIFIED = 304
_OF_HANDSHAKE = "sec-websocket-"
# SPEC: RFC 3986 section 3.2.2, without a user.
_HOST = re.compile(
    r"(?:[0-9A-Za-z._~-]+|\[(?P<v6>[0-9A-Fa-f]*:[0-9A-Fa-f:.]+)\])(?::(?P<port>[0-9]{1,5}))?"
)
_LAST_PORT = 65535
# SPEC: RFC 6455 section 7.4.1, and the registry of IANA for 1014.
_NORMAL, _GOING_AWAY, _NO_CODE, _LOST = 1000, 1001, 1005, 1006
_TOO_LARGE, _FAULT, _BAD_GATEWAY = 1009, 1011, 1014

_Receive = Callable[[], Awaitable[dict[str, Any]]]
_Send = Callable[[dict[str, Any]], Awaitable[None]]


async def relay(
    c: Context[Any, Any],
    request: Request,
    target: Target,
    options: Options,
    ssl_context: SSLContext | None,
) -> Response:
    """Opens a connection to the upstream server, and returns the response to the handshake.

    Args:
        c: The context.
        request: The request of the handshake.
        target: Where it is sent.
        options: The options.
        ssl_context: The TLS configuration; None for the default.

    Returns:
        The response that accepts the connection. If the upstream server refuses it: its response.

    Raises:
        HTTPException: 502 if the upstream server can't be reached, 504 if it takes too long.
    """
    handshake = get_handshake(request)
    assert handshake is not None  # noqa: S101 - it made the request
    lines = await build_lines(c, target, options)
    connect = _connect(target, lines, handshake, options, ssl_context)
    return await _Relay(c, handshake, connect, target, options).respond()


def _connect(
    target: Target,
    lines: list[Line],
    handshake: Handshake,
    options: Options,
    ssl_context: SSLContext | None,
) -> AbstractAsyncContextManager[Any]:
    """Returns the connection to the upstream server, which opens when it is entered."""
    url = target.url
    scheme = _SCHEMES[url.scheme]
    netloc = url.netloc.decode("ascii")
    place: dict[str, Any] = {}
    host = next((value for name, value in lines if name == "host"), None)
    if host is not None:
        if not _is_host(host):
            raise HTTPException(400, "The Host is invalid")
        # The library writes the host of the URL to Host, and connects to this place.
        place = {"host": url.host, "port": url.port or (443 if scheme == "wss" else 80)}
        if scheme == "wss":
            place["server_hostname"] = url.host
        netloc = host
    if ssl_context is not None and scheme == "wss":
        place["ssl"] = ssl_context
    connection: AbstractAsyncContextManager[Any] = _connect_class()(
        f"{scheme}://{netloc}{url.raw_path.decode('ascii')}",
        subprotocols=[*handshake.scope.get("subprotocols", ())] or None,
        additional_headers=[
            (name, value)
            for name, value in lines
            if name != "host" and not name.startswith(_OF_HANDSHAKE)
        ],
        user_agent_header=None,
        compression=None,
        proxy=None,
        open_timeout=options.connect_timeout,
        max_size=options.max_message_size_bytes,
        **place,
    )
    return connection


def _is_host(text: str) -> bool:
    """Returns whether a Host can be a part of a URL, as the library expects it."""
    found = _HOST.fullmatch(text)
    if found is None or int(found["port"] or 0) > _LAST_PORT:
        return False
    return found["v6"] is None or parse_address(found["v6"]) is not None


def _connect_class() -> Any:
    """Returns the class that connects on the running event loop, and follows no redirects."""
    base: Any
    if running_trio() is None:
        from websockets.asyncio.client import connect as base
    else:
        from websockets.trio.client import connect as base

    class Connect(base):  # type: ignore[misc]
        def process_redirect(self, exc: Exception) -> Exception:
            return exc  # APPSEC: a redirect may lead to any host

    return Connect


class _Relay:
    """Passes on one connection, from the handshake until it ends.

    The connection to the upstream server is held by its own task: it is opened during the
    handshake, and used once middleware has run and the client's connection is accepted.
    """

    def __init__(
        self,
        c: Context[Any, Any],
        handshake: Handshake,
        connect: AbstractAsyncContextManager[Any],
        target: Target,
        options: Options,
    ) -> None:
        self._c = c
        self._handshake = handshake
        self._connect = connect
        self._target = target
        self._options = options
        self._changed = Signal()
        self._upstream: Any = None
        self._channel: tuple[_Receive, _Send] | None = None
        self._is_refused = False
        self._has_left = False
        self._task: DetachedTask | None = None

    async def respond(self) -> Response:
        """See `relay`."""
        task = self._task = DetachedTask(self._run, changed=self._changed)
        try:
            while self._upstream is None and not task.over:
                await self._changed.wait()
        except BaseException:
            await task.cancel_and_wait()
            raise
        upstream = self._upstream
        if upstream is None:
            return self._refuse(task.failure)
        return self._handshake.accept(
            self._converse,
            protocol=upstream.subprotocol or "",
            headers=[
                (name.encode("latin-1"), value.encode("latin-1"))
                for name, value in self._select_lines(upstream.response)
            ],
            on_refusal=self._stop,
        )

    def _refuse(self, failure: Exception | None) -> Response:
        """Returns the response of an upstream server that refuses the connection."""
        if isinstance(failure, InvalidStatus):
            response = failure.response
            headers = group_lines(self._select_lines(response))
            if response.status_code >= 300:
                body = None if response.status_code == _NOT_MODIFIED else response.body or b""
                return self._c.body(body, response.status_code, headers)
        status, message = 502, "The upstream server can't be reached"
        if isinstance(failure, TimeoutError):
            status, message = 504, "The upstream server takes too long"
        elif isinstance(failure, InvalidHandshake):
            message = "The upstream server accepts no WebSockets"
        elif not isinstance(failure, (OSError, EOFError)):
            raise failure or RuntimeError("The task of the connection was cancelled")
        url = self._target.url
        _logger.warning("%s: %s://%s: %r", message, url.scheme, url.host, failure)
        raise HTTPException(status, message) from failure

    def _select_lines(self, response: Any) -> list[Line]:
        received = [(name.lower(), value) for name, value in response.headers.raw_items()]
        lines = select_response_lines(received, "1.1", self._target, self._options)
        return [
            (name, value)
            for name, value in lines
            if name != "content-length" and not name.startswith(_OF_HANDSHAKE)
        ]

    def _stop(self) -> None:
        """Ends the task if middleware has refused the connection."""
        self._is_refused = True
        self._changed.tell()

    async def _converse(self, receive: _Receive, send: _Send) -> Exception | None:
        """Starts to pass messages on, and waits until the connection has ended."""
        task = self._task
        assert task is not None  # noqa: S101 - it has accepted the connection
        self._channel = receive, send
        self._changed.tell()
        try:
            await task.wait()
        except BaseException:
            await task.cancel_and_wait()
            raise
        if task.failure is not None:
            _logger.error("Exception while a WebSocket was passed on", exc_info=task.failure)
        return task.failure

    async def _run(self) -> None:
        async with self._connect as upstream:
            self._upstream = upstream
            self._changed.tell()
            while self._channel is None and not self._is_refused:
                await self._changed.wait()
            if self._channel is None:
                await _close(upstream, _GOING_AWAY, "")
                return
            receive, send = self._channel
            # Not a task group: it would keep the cancelled task, and thereby the connection, which
            # granian closes once nothing refers to it.
            reading = DetachedTask(partial(self._read_client, upstream, receive))
            try:
                closing = await self._pass_to_client(upstream, send)
            finally:
                await reading.cancel_and_wait()
            if reading.failure is not None:
                raise reading.failure
            # At the end, since granian closes no connection while a task receives from it.
            if closing is not None and not self._has_left:
                await _close_client(send, *closing)

    async def _read_client(self, upstream: Any, receive: _Receive) -> None:
        """Passes on what the client sends; a fault ends the other direction as well."""
        try:
            await self._pass_to_upstream(upstream, receive)
        except Exception:
            await _close(upstream, _FAULT, "")
            raise

    async def _pass_to_upstream(self, upstream: Any, receive: _Receive) -> None:
        """Passes on the client's messages, and how the client closes the connection."""
        most = self._options.max_message_size_bytes
        while True:
            message = await receive()
            if message["type"] == "websocket.disconnect":
                self._has_left = True
                code = message.get("code") or _NO_CODE
                code = _GOING_AWAY if code == _LOST else code
                await _close(upstream, *_as_sendable(code, message.get("reason") or ""))
                return
            data = message.get("text")
            if data is None:
                data = message["bytes"]
            if most is not None and len(data) > most // 4:  # a character has up to 4 bytes
                size = len(data.encode()) if isinstance(data, str) else len(data)
                if size > most:  # the other direction passes it on
                    await _close(upstream, _TOO_LARGE, "")
                    return
            try:
                await upstream.send(data)
            except ConnectionClosed:  # the other direction passes it on
                return

    async def _pass_to_client(self, upstream: Any, send: _Send) -> tuple[int, str] | None:
        """Passes on the messages of the upstream server.

        Returns:
            How it closed the connection; None if the client has left.
        """
        try:
            while True:
                data = await upstream.recv()
                kind = "text" if isinstance(data, str) else "bytes"
                await send({"type": "websocket.send", kind: data})
        except ConnectionClosed as closed:
            frame = closed.rcvd or closed.sent
            if frame is None:
                return _BAD_GATEWAY, ""
            return _as_sendable(frame.code, frame.reason)
        except OSError:
            await _close(upstream, _GOING_AWAY, "")
            return None


async def _close_client(send: _Send, code: int, reason: str) -> None:
    """Closes the connection to the client."""
    try:
        await send({"type": "websocket.close", "code": code, "reason": reason})
    except OSError:
        _logger.debug("The client had left before the connection was closed")


async def _close(upstream: Any, code: int, reason: str) -> None:
    """Closes a connection of either event loop."""
    close = getattr(upstream, "aclose", None) or upstream.close
    await close(code, reason)


def _as_sendable(code: int, reason: str) -> tuple[int, str]:
    """Returns a close code and a reason that may be sent (RFC 6455, section 7.4.1)."""
    if code == _NO_CODE:
        return _NORMAL, ""
    try:
        check_close(code, reason)
    except ValueError:
        return _FAULT, ""
    return code, reason
