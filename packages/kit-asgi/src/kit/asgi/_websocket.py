# SPDX-License-Identifier: MIT
"""Runs one WebSocket connection through a mounted ASGI application."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from kit.concurrency import DetachedTask, Signal
from kit.interface import HandlerError
from kit.interface.websocket import WebSocketDisconnectedError
from kit.web import Headers, Request, Response
from kit.websocket import Handshake, get_handshake

from ._exchange import call_app
from ._types import Message, Receive, Scope, Send

_logger = logging.getLogger("kit")

_SCHEMES = {"http": "ws", "https": "wss"}
# The response that denies a handshake is sent in one piece, not streamed.
_MOST_DENIAL_BYTES = 1024 * 1024
_NORMAL, _BROKE_OFF, _FAULT = 1000, 1006, 1011  # RFC 6455, section 7.4.1


class _ClientLeftError(OSError):
    """The server can't send, since the client has left.

    SPEC: ASGI HTTP & WebSocket message format, "Disconnected Client - send exception": a subclass
    of OSError of the server. With a class of its own, a failure by it differs from other faults.
    """


def open_exchange(
    app: Callable[..., Any], name: str, scope: Scope, request: Request
) -> WebSocketExchange:
    """Returns the exchange for the connection that a request opens.

    Args:
        app: The application.
        name: Its name in error messages.
        scope: The scope of the request.
        request: The request.
    """
    handshake = get_handshake(request)
    assert handshake is not None  # noqa: S101 - it made the request
    return WebSocketExchange(app, name, _websocket_scope(scope, handshake), handshake)


def _websocket_scope(scope: Scope, handshake: Handshake) -> Scope:
    """Returns the scope of a connection, derived from the scope of the GET request that opens it.

    SPEC: ASGI WebSocket, "WebSocket Connection Scope"; "WebSocket Denial Response".
    """
    del scope["method"]
    return {
        **scope,
        "type": "websocket",
        "scheme": _SCHEMES.get(scope["scheme"], scope["scheme"]),
        "subprotocols": [*handshake.scope.get("subprotocols", ())],
        "extensions": {**scope["extensions"], "websocket.http.response": {}},
    }


class WebSocketExchange:
    """Runs an ASGI application for one connection, from the handshake until it ends.

    The application runs in a separate task. Its reply to the handshake is a response that goes
    through middleware. If it accepts the handshake, it continues after that response was sent.

    Args:
        app: The application.
        name: Its name in error messages.
        scope: The scope.
        handshake: The handshake.

    Attributes:
        scope: The scope.
        failure_of_handlers: The exception that ended the connection within the handlers after ASGI
            middleware, already logged; None if there is none.
    """

    def __init__(
        self, app: Callable[..., Any], name: str, scope: Scope, handshake: Handshake
    ) -> None:
        self._app = app
        self._name = name
        self.scope = scope
        self.failure_of_handlers: Exception | None = None
        self._handshake = handshake
        self._changed = Signal()
        self._response: Response | None = None
        self._denial: Message | None = None
        self._body = bytearray()
        self._was_asked = False
        self._is_refused = False
        self._is_closed = False
        self._channel: tuple[Receive, Send] | None = None
        self._task: DetachedTask | None = None

    async def respond(self) -> Response:
        """Starts the application, and returns its response to the handshake.

        Raises:
            Exception: The exception that the application raised before it responded.
            HandlerError: If it ended without a response, or its response is invalid.
        """
        task = self._task = DetachedTask(self._run, changed=self._changed)
        try:
            while self._response is None and not task.over:
                await self._changed.wait()
            if self._is_refused:
                await task.wait()
        except BaseException:
            await task.cancel_and_wait()
            raise
        if self._response is None:
            raise task.failure or HandlerError(self._name, "ended without answering the handshake")
        return self._response

    async def _run(self) -> None:
        await call_app(self._app, self._name, self.scope, self._receive, self._send)

    async def _converse(self, receive: Receive, send: Send) -> Exception | None:
        """Lets the application continue after the acceptance, and waits for it to end."""
        task = self._task
        assert task is not None  # noqa: S101 - it has accepted the connection
        self._channel = receive, send
        self._changed.tell()
        try:
            await task.wait()
        except BaseException:
            await task.cancel_and_wait()
            raise
        failure = task.failure
        if failure is not None and _is_of_departure(failure):
            left = WebSocketDisconnectedError(_BROKE_OFF)
            left.__cause__ = failure
            return left
        if failure is not None:
            _logger.error(
                "Exception in %s during its WebSocket connection at %s",
                self._name,
                ascii(self.scope["path"])[1:-1],
                exc_info=failure,
            )
        if not self._is_closed:
            code = _NORMAL if failure is None else _FAULT
            try:
                await send({"type": "websocket.close", "code": code})
            except OSError:
                _logger.debug("The client had left before the connection was closed")
        return failure or self.failure_of_handlers

    def _refuse(self) -> None:
        """Records that the connection was not accepted, whatever the application replied."""
        self._is_refused = True
        self._changed.tell()

    async def _receive(self) -> Message:
        """Returns the next message; SPEC: ASGI WebSocket, the receive events."""
        if not self._was_asked:
            self._was_asked = True
            return {"type": "websocket.connect"}
        while self._channel is None and not self._is_refused:
            await self._changed.wait()
        if self._channel is None:
            return {"type": "websocket.disconnect", "code": _BROKE_OFF}
        message = await self._channel[0]()
        if message["type"] == "websocket.disconnect":
            self._is_closed = True
        return message

    async def _send(self, message: Message) -> None:
        """Handles a message that the application sends; SPEC: ASGI WebSocket, the send events.

        Raises:
            OSError: If the client has left, or the connection was not accepted.
        """
        if self._channel is not None:
            if message["type"] == "websocket.close":
                self._is_closed = True
            try:
                await self._channel[1](message)
            except OSError as error:
                self._is_closed = True
                raise _ClientLeftError(*error.args) from error
        elif self._is_refused:
            raise OSError("The WebSocket handshake was rejected")
        else:
            await self._answer(message)

    async def _answer(self, message: Message) -> None:
        kind = message["type"]
        if kind == "websocket.accept" and self._denial is None:
            self._response = self._handshake.accept(
                self._converse,
                protocol=message.get("subprotocol") or "",
                headers=self._parse_headers(message).raw,
                on_refusal=self._refuse,
            )
            self._changed.tell()
            while self._channel is None and not self._is_refused:
                await self._changed.wait()
        elif kind == "websocket.close" and self._denial is None:
            self._deny(Response(None, status=403))
        elif kind == "websocket.http.response.start" and self._denial is None:
            self._denial = message
        elif kind == "websocket.http.response.body" and self._denial is not None:
            self._body += message.get("body", b"")
            if len(self._body) > _MOST_DENIAL_BYTES:
                problem = f"denied a handshake with more than {_MOST_DENIAL_BYTES} bytes"
                raise HandlerError(self._name, problem)
            if not message.get("more_body", False):
                self._deny(self._make_denial(self._denial))
        else:
            raise RuntimeError(f"{self._name} sent {kind!r} instead of a response to the handshake")

    def _make_denial(self, head: Message) -> Response:
        headers = self._parse_headers(head)
        try:
            return Response(bytes(self._body) or None, status=head["status"], headers=headers)
        except (KeyError, TypeError, ValueError) as error:
            raise self._invalid(head, error) from error

    def _parse_headers(self, message: Message) -> Headers:
        try:
            return Headers(
                (bytes(name).decode("latin-1"), bytes(value).decode("latin-1"))
                for name, value in message.get("headers", ())
            )
        except (TypeError, ValueError) as error:
            raise self._invalid(message, error) from error

    def _invalid(self, message: Message, error: Exception) -> HandlerError:
        return HandlerError(self._name, f"sent an invalid {message['type']}: {error}")

    def _deny(self, response: Response) -> None:
        self._response = response
        self._refuse()


def _is_of_departure(error: BaseException) -> bool:
    """Returns whether an application ended only because the client had left."""
    if isinstance(error, BaseExceptionGroup):
        return all(_is_of_departure(each) for each in error.exceptions)
    return isinstance(error, _ClientLeftError) or isinstance(error.__cause__, _ClientLeftError)
