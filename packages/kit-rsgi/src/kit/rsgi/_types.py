# SPDX-License-Identifier: MIT
"""Types for the objects of an RSGI server, and for the served app."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any, Literal, Protocol, TypeAlias

Message: TypeAlias = dict[str, Any]

Application: TypeAlias = Callable[[Any, Any, Any], Awaitable[None]]
"""An ASGI 3 application, such as a `Kit`."""

HeaderPairs: TypeAlias = list[tuple[str, str]]
"""Names and values of response headers, in order."""


class RsgiHeaders(Protocol):
    """The headers of a request by lower-case name.

    granian leaves out values with characters other than visible ASCII.
    """

    def __contains__(self, key: str) -> bool:
        """Returns whether there is a header of this name."""

    def __getitem__(self, key: str) -> str:
        """Returns the first value of a header.

        Raises:
            KeyError: If there is none.
        """

    def __iter__(self) -> Iterator[str]:
        """Iterates over the distinct names."""

    def __len__(self) -> int:
        """Returns the number of names."""

    def get(self, key: str, default: None = None) -> str | None:
        """Returns the first value of a header, or None."""

    def get_all(self, key: str) -> list[str]:
        """Returns all values of a header, in order."""

    def items(self) -> list[tuple[str, str]]:
        """Returns the header lines; a name may occur several times."""

    def keys(self) -> list[str]:
        """Returns the distinct names."""

    def values(self) -> list[str]:
        """Returns the values of all header lines."""


class RsgiScope(Protocol):
    """A request, or the handshake of a WebSocket.

    SPEC: RSGI 1.6, "HTTP connection scope" and "Websocket connection scope".
    """

    @property
    def proto(self) -> Literal["http", "ws"]:
        """`ws` for the handshake of a WebSocket."""

    @property
    def rsgi_version(self) -> str:
        """The version of the specification, such as `1.6`."""

    @property
    def http_version(self) -> str:
        """`1` for HTTP/1.0, `1.1` or `2`."""

    @property
    def server(self) -> str:
        """The address that the server listens on: `0.0.0.0:8000`, or the path of a Unix socket."""

    @property
    def client(self) -> str:
        """The address of the client, such as `127.0.0.1:50000` or `[::1]:50000`."""

    @property
    def scheme(self) -> str:
        """`http` or `https`, for WebSockets too."""

    @property
    def method(self) -> str:
        """The method, in upper case."""

    @property
    def path(self) -> str:
        """The decoded path."""

    @property
    def query_string(self) -> str:
        """The query after the `?`, undecoded."""

    @property
    def headers(self) -> RsgiHeaders:
        """The headers."""

    @property
    def authority(self) -> str | None:
        """Host and port of an HTTP/2 request, which may lack the header `host`."""


class RsgiTransport(Protocol):
    """Sends the chunks of a streamed response, or the messages of a WebSocket.

    granian ends the response once nothing refers to the transport.
    """

    def send_bytes(self, data: bytes, /) -> Awaitable[None]:
        """Sends bytes; raises RuntimeError if the client has disconnected."""

    def send_str(self, data: str, /) -> Awaitable[None]:
        """Sends text; raises RuntimeError if the client has disconnected."""


class RsgiHttp(Protocol):
    """Reads the body of a request, and sends the response.

    SPEC: RSGI 1.6, "HTTP protocol interface".
    """

    def __call__(self) -> Awaitable[bytes]:
        """Reads the whole body."""

    def __aiter__(self) -> AsyncIterator[bytes]:
        """Reads the body in chunks."""

    def client_disconnect(self) -> Awaitable[None]:
        """Waits until the client has disconnected."""

    def response_empty(self, status: int, headers: HeaderPairs, /) -> None:
        """Sends a response without a body."""

    def response_str(self, status: int, headers: HeaderPairs, body: str, /) -> None:
        """Sends a response with text as its body."""

    def response_bytes(self, status: int, headers: HeaderPairs, body: bytes, /) -> None:
        """Sends a response with bytes as its body."""

    def response_file(self, status: int, headers: HeaderPairs, file: str, /) -> None:
        """Sends a response with a file, named by its path, as its body."""

    def response_file_range(
        self, status: int, headers: HeaderPairs, file: str, start: int, end: int, /
    ) -> None:
        """Sends a response with the bytes of a file from `start` up to, not including, `end`."""

    def response_stream(self, status: int, headers: HeaderPairs, /) -> RsgiTransport:
        """Starts a streamed response, and returns the transport that sends its chunks."""


class RsgiMessage(Protocol):
    """A message of a WebSocket."""

    @property
    def kind(self) -> int:
        """0 if the WebSocket was closed, 1 for bytes, 2 for text."""

    @property
    def data(self) -> bytes | str:
        """The content; a message of kind 0 has none."""


class RsgiWebSocketTransport(RsgiTransport, Protocol):
    """An accepted WebSocket."""

    def receive(self) -> Awaitable[RsgiMessage]:
        """Waits for a message; raises RuntimeError if the connection was lost."""


class RsgiWebSocket(Protocol):
    """The handshake of a WebSocket.

    SPEC: RSGI 1.6, "Websocket protocol interface".
    """

    def accept(self) -> Awaitable[RsgiWebSocketTransport]:
        """Accepts the handshake."""

    def close(self, status: int | None = None, /) -> None:
        """Closes the WebSocket, or refuses it with this status if it isn't accepted yet."""
