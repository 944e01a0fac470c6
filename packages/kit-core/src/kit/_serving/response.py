# SPDX-License-Identifier: MIT
"""Sends a response to an ASGI server."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from kit._support.late import import_late
from kit.web import Response
from kit.web._body import USED, peek, put
from kit.web._header_lines import FRAMING_NAMES, HOP_BY_HOP, HeaderLine
from kit.web._response import WITHOUT_CONTENT, lines_of
from kit.web._streams import close_stream

if TYPE_CHECKING:
    from .stream import send_stream
    from .types import Message, Send
else:
    import_late(globals(), "kit._serving.stream", "send_stream")

_logger = logging.getLogger("kit")

NOT_FOUND_BODY = b"404 Not Found"
NOT_FOUND_LINES = (
    (b"content-type", b"text/plain; charset=UTF-8"),
    (b"content-length", b"%d" % len(NOT_FOUND_BODY)),
)


def plain_not_found() -> tuple[Message, ...]:
    """Returns the messages of the plain 404. They are new each time, as a server may change them.

    SPEC: ASGI HTTP & WebSocket message format, "Response Start" and "Response Body".
    """
    return (
        {"type": "http.response.start", "status": 404, "headers": [*NOT_FOUND_LINES]},
        {"type": "http.response.body", "body": NOT_FOUND_BODY},
    )


def lines_to_send(response: Response, *, is_stream: bool = False) -> Sequence[HeaderLine]:
    """Returns the header lines of a response without those that belong to the server.

    The server frames the body and manages the connection. An app that passes on the headers of an
    upstream has fields of another connection among them.

    SPEC: RFC 9110 section 7.6.1; RFC 9113 section 8.2.2 forbids them in HTTP/2.

    Args:
        response: The response.
        is_stream: Whether its body is streamed. Its Content-Length is then sent, so it must be one.
    """
    lines = lines_of(response)
    if lines.__class__ is tuple:  # PERF: nearly every one; no tuple has such lines
        return lines
    names = {name for name, _ in lines}
    dropped = names & HOP_BY_HOP
    if b"connection" in dropped:
        for name, value in lines:
            if name == b"connection":
                named = {each.strip().lower() for each in value.split(b",")}
                dropped |= named & names - _NEVER_NAMED
    if response.status == 426:
        # SPEC: RFC 9110 sections 7.8 and 15.5.22: a 426 has Upgrade, and Connection names it.
        dropped -= {b"upgrade"}
        if {value.lower() for name, value in lines if name == b"connection"} == {b"upgrade"}:
            dropped -= {b"connection"}
    if is_stream and b"content-length" in names and not _has_length(lines):
        dropped |= {b"content-length"}
    if not dropped:
        return lines
    for name in dropped:
        _warn(name)
    return [line for line in lines if line[0] not in dropped]


# SPEC: RFC 9110 section 7.6.1: fields for the recipient, which no Connection should name.
_NEVER_NAMED = frozenset((b"cache-control", b"content-length", b"content-type", b"set-cookie"))


def _has_length(lines: Sequence[HeaderLine]) -> bool:
    """Returns whether the lines have one Content-Length, and a valid one (RFC 9110 section 8.6)."""
    lengths = {value for name, value in lines if name == b"content-length"}
    return len(lengths) == 1 and lengths.pop().isdigit()


_warned: set[bytes] = set()


def _warn(name: bytes) -> None:
    """Warns of a header that isn't sent, once for each name; once for those of one Connection."""
    known = name if name in FRAMING_NAMES else b""
    if known in _warned:
        return
    _warned.add(known)
    if name == b"content-length":
        reason = "it is no single number"
    else:
        reason = "it belongs to a connection, which the server manages"
    _logger.warning(
        "The response header %r isn't sent: %s. If you pass on the response of another server, "
        "leave it out",
        name.decode("latin-1"),
        reason,
    )


def send_response(
    response: Response,
    send: Send,
    wait_for_disconnect: Callable[[], Awaitable[bool]],
    method: str,
    extensions: Mapping[str, Any] | None = None,
) -> Awaitable[None]:
    """Sends any response.

    Args:
        response: The response. A streamed body is closed, even if it is not sent.
        send: Sends messages to the server.
        wait_for_disconnect: Waits until the client disconnects; see `Request.wait_for_disconnect`.
        method: The method of the request.
        extensions: The ASGI extensions that the server offers.

    Raises:
        Exception: When awaited, the exception that a streamed body raised. The response has
            started by then, so the server closes the connection.
    """
    body = peek(response)
    if body is None or isinstance(body, bytes):
        return _send_whole(response, body, send, is_head=method == "HEAD")
    put(response, USED)
    head = {
        "type": "http.response.start",
        "status": response.status,
        "headers": [*lines_to_send(response, is_stream=True)],
    }
    if method == "HEAD":
        return _send_unread(head, {"type": "http.response.body", "body": b""}, body, send)
    if extensions and "http.response.pathsend" in extensions:
        path = getattr(body, "send_path", None)  # see kit.interface.PathBody
        if path is not None:
            end = {"type": "http.response.pathsend", "path": path}
            return _send_unread(head, end, body, send)
    return send_stream(head, body, send, wait_for_disconnect)


async def _send_whole(response: Response, body: bytes | None, send: Send, *, is_head: bool) -> None:
    """Sends a response whose body is in memory.

    SPEC: RFC 9110 section 8.6 for Content-Length; section 9.3.2 for HEAD.
    """
    status = response.status
    lines = [*lines_to_send(response)]
    content = body or b""
    if status in WITHOUT_CONTENT:
        content = b""
        if status != 304:
            lines[:] = [line for line in lines if line[0] != b"content-length"]
    elif not is_head or body is not None:
        lines[:] = [line for line in lines if line[0] != b"content-length"]
        lines.append((b"content-length", b"%d" % len(content)))
    await send({"type": "http.response.start", "status": status, "headers": lines})
    await send({"type": "http.response.body", "body": b"" if is_head else content})


async def _send_unread(head: Message, end: Message, body: object, send: Send) -> None:
    """Sends a streamed response without reading its body, which is closed."""
    try:
        await send(head)
        await send(end)
    finally:
        await close_stream(body)
