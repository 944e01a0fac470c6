# SPDX-License-Identifier: MIT
"""Shows browsers the traceback of an exception that the app answers with a plain 500.

A page also gets the script that reloads it, so that it shows the app again once it is mended.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any, TypeAlias

from ._problems import Problem
from ._tracebacks import from_their_code

Message: TypeAlias = dict[str, Any]
Send: TypeAlias = Callable[[Message], Awaitable[None]]

_PLAIN = b"Internal Server Error"
_ADVICE = "Kit loads the app again when its code changes."
# What is about the body that is replaced, or forbids what is in the page.
_REPLACED = (
    b"cache-control",
    b"content-type",
    b"content-length",
    b"content-security-policy",
    b"etag",
)
# APPSEC: with CORS headers of the app, pages of other origins could read the code in the page.
_CORS = b"access-control-"

_current: ContextVar[FaultPage | None] = ContextVar("kit_dev_fault_page", default=None)


class FaultPage:
    """Sends a response, and a page in place of the plain 500.

    Args:
        send: Sends to the client.
        scope: The request.
        request: Its method and path, to be shown.
    """

    def __init__(self, send: Send, scope: Message, request: str) -> None:
        self._send = send
        self._scope = scope
        self._request = request
        self._start: Message | None = None
        self.error: BaseException | None = None
        _current.set(self)

    async def send(self, message: Message) -> None:
        """Takes a message of the app."""
        if self.error is not None and message.get("status") == 500:
            self._start = message  # until it is known whether the body is the plain one
            return
        if self._start is not None:
            start, self._start = self._start, None
            start, message = self._replaced(start, message)
            await self._send(start)
        await self._send(message)

    def _replaced(self, start: Message, body: Message) -> tuple[Message, Message]:
        accept = b", ".join(value for name, value in self._scope["headers"] if name == b"accept")
        if self.error is None or body.get("body") != _PLAIN:
            return start, body
        trace = from_their_code(self.error)
        problem = Problem("An exception was raised", self._request, trace, _ADVICE)
        kind, page = problem.body(accept.decode("latin-1"))
        if not kind.startswith(b"text/html"):
            return start, body
        headers = [
            *(each for each in start["headers"] if _is_kept(each[0].lower())),
            (b"content-type", kind),
            (b"content-length", b"%d" % len(page)),
            (b"cache-control", b"no-store"),
        ]
        return {**start, "headers": headers}, {**body, "body": page}


def _is_kept(name: bytes) -> bool:
    return name not in _REPLACED and not name.startswith(_CORS)


def note_faults() -> None:
    """Has exceptions noted that Kit logs when it answers with the plain 500."""
    # A filter, as a handler would keep logging from writing to the terminal by itself.
    logging.getLogger("kit").addFilter(_note)


def _note(record: logging.LogRecord) -> bool:
    page = _current.get()
    if page is not None and record.exc_info and record.msg == "Exception in %s %s":
        page.error = record.exc_info[1]
    return True
