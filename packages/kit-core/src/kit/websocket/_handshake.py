# SPDX-License-Identifier: MIT
"""The handshake of a WebSocket connection, which passes through middleware as a GET request."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, TypeAlias

from kit.interface import Request as AnyRequest
from kit.web import Response
from kit.web._response import build_response

Message: TypeAlias = dict[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
Conversation: TypeAlias = Callable[[Receive, Send], Awaitable[Exception | None]]

_logger = logging.getLogger("kit")

KEY = "kit.websocket"
# SPEC: ASGI WebSocket, "WebSocket Connection Scope": servers may leave these out.
_OPTIONAL = {"headers": (), "query_string": b"", "root_path": "", "scheme": "ws"}
_SCHEMES = {"ws": "http", "wss": "https"}
# SPEC: RFC 6455 section 4.2.2: the server writes some of these itself; the others describe a body.
_NOT_SENT = frozenset(
    (
        b"connection",
        b"content-length",
        b"content-type",
        b"sec-websocket-accept",
        b"sec-websocket-extensions",
        b"sec-websocket-protocol",
        b"transfer-encoding",
        b"upgrade",
    )
)


class Handshake:
    """A pending handshake, for packages that forward connections, and for hosts.

    A host, such as a server or a test client, creates a handshake and handles a request with its
    `scope`. If `is_accepted` is True, the host runs `converse`; otherwise, it sends the response
    and awaits `end`. On an earlier failure or cancellation, it calls `close` and awaits `end` with
    the exception. A handler calls `accept` and returns its response.

    Args:
        scope: The ASGI scope of type `websocket`.
        receive: Receives messages from the server, after `websocket.connect`.
        send: Sends messages to the server.

    Attributes:
        scope: The scope with the method GET and the scheme `http` or `https`, for the request.
    """

    def __init__(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        self.scope: dict[str, Any] = {**_OPTIONAL, **scope}
        scheme = self.scope["scheme"]
        self.scope["method"] = "GET"
        self.scope["scheme"] = _SCHEMES.get(scheme, scheme)
        self.scope[KEY] = self
        self._receive = receive
        self._send = send
        self._conversation: Conversation | None = None
        self._protocol = ""
        self._on_refusal: Callable[[], object] | None = None
        self._on_end: list[Callable[[BaseException | None], Awaitable[None]]] = []
        self._body_given = False

    def accept(
        self,
        conversation: Conversation,
        *,
        protocol: str = "",
        headers: Iterable[tuple[bytes, bytes]] = (),
        on_refusal: Callable[[], object] | None = None,
    ) -> Response:
        """Returns the response that accepts the connection, unless middleware replaces it.

        Args:
            conversation: Called with ASGI's `(receive, send)` once the connection is accepted; the
                connection ends when it returns. It returns the exception that ended the
                connection, or None.
            protocol: The subprotocol.
            headers: Header lines of the response.
            on_refusal: Called if the connection is not accepted in the end.

        Returns:
            A response with the status 101.
        """
        begin(self, conversation, protocol)
        self._on_refusal = on_refusal
        return build_response(None, 101, list(headers))

    def is_accepted(self, response: Response) -> bool:
        """Returns whether the final response accepts the connection.

        If not, `on_refusal` is called.

        Args:
            response: The response after all middleware.
        """
        if self._conversation is not None and response.status == 101:
            return True
        self.close()
        return False

    def close(self) -> None:
        """Notifies a handler that accepted the connection that no conversation will run."""
        refuse, self._on_refusal = self._on_refusal, None
        self._conversation = None
        if refuse is not None:
            refuse()

    async def converse(self, response: Response) -> Exception | None:
        """Accepts the connection and runs the conversation.

        Args:
            response: The final response, whose headers are sent.

        Returns:
            The exception that ended the conversation, already logged, or None.

        Raises:
            RuntimeError: If no handler has accepted the connection.
        """
        try:
            failure = await self._converse(response)
        except BaseException as error:
            await self.end(error)
            raise
        await self.end(failure)
        return failure

    async def _converse(self, response: Response) -> Exception | None:
        conversation = self._conversation
        if conversation is None:
            raise RuntimeError("converse() was called for a connection that no handler accepted")
        lines = [line for line in response._lines if line[0] not in _NOT_SENT]
        protocol = self._protocol or None
        try:
            await self._send(
                {"type": "websocket.accept", "subprotocol": protocol, "headers": lines}
            )
        except OSError:
            _logger.debug("The client had left before its WebSocket was accepted")
            self.close()
            return None
        except BaseException:
            self.close()
            raise
        self._on_refusal = None
        return await conversation(self._receive, self._send)

    def end_with(self, on_end: Callable[[BaseException | None], Awaitable[None]]) -> None:
        """Adds a function that `end` calls; for `Kit.fetch`, whose request lasts until then.

        Args:
            on_end: Called with the exception that ended the conversation or the handshake, or None.
        """
        self._on_end.append(on_end)

    async def end(self, failure: BaseException | None = None) -> None:
        """Ends the `Kit.fetch` requests that handled the handshake; `converse` does this itself.

        Args:
            failure: The exception that ended the conversation or the handshake, or None.
        """
        ends, self._on_end = self._on_end, []
        for on_end in ends:  # the innermost app first
            await on_end(failure)

    async def receive_http(self) -> Message:
        """Receives the messages of the handshake's GET request: an empty body, then the end.

        SPEC: ASGI HTTP, "Request - receive event" and "Disconnect - receive event".
        """
        # Once the connection is accepted, only the conversation may receive its messages.
        if self._body_given and self._conversation is None:
            message = await self._receive()
            if message["type"] == "websocket.disconnect":
                return {"type": "http.disconnect"}
        self._body_given = True
        return {"type": "http.request", "body": b"", "more_body": False}

    async def refuse(self) -> None:
        """Closes the connection; the server then sends a 403 (ASGI, "Close - send event")."""
        await self._send({"type": "websocket.close", "code": 1000})


def begin(handshake: Handshake, conversation: Conversation, protocol: str) -> None:
    """Accepts a connection like `Handshake.accept`, for a handler that creates the response."""
    if handshake._on_refusal is not None:  # another handler has already accepted it
        handshake.close()
    handshake._conversation = conversation
    handshake._protocol = protocol


def get_handshake(request: AnyRequest) -> Handshake | None:
    """Returns the handshake of a request, or None if it is an ordinary request.

    Args:
        request: The request, e.g. `c.req.raw`.
    """
    scope = request.scope
    return None if scope is None else scope.get(KEY)
