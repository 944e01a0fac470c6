# SPDX-License-Identifier: MIT
"""Reloads pages in browsers when the app has changed.

A page gets a script, which asks this process who it is by server-sent events. When the process is
another one than made the page, the script reloads the page. So it doesn't matter when the change
came, or whether the connection was open then.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeAlias

from ._csp import script_attributes
from ._style import YELLOW, say

Message: TypeAlias = dict[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
_Headers: TypeAlias = list[tuple[bytes, bytes]]

_FOLDER = "/__kit_dev/"
_SCRIPT = f"{_FOLDER}reload.js"
_EVENTS = f"{_FOLDER}events"
# What a response has that must not be changed: it is compressed, a part, a download, or signed.
_FIXED = (b"content-encoding", b"content-range", b"content-digest", b"repr-digest")
_PAGES = (b"document", b"iframe", b"frame")
# Without a body, or with a part of one.
_BODILESS = (204, 205, 206, 304)

# A page that comes from a cache keeps the name of the process that made it: it is reloaded once.
# Hidden pages hold no connection, since browsers open few to a server at a time.
_JAVASCRIPT = b"""\
(() => {
  if (window.__kitDev) return;
  window.__kitDev = true;
  const { src, dataset: { run } } = document.currentScript;
  const key = `kit dev ${location.pathname}${location.search}`;
  let events;
  const close = () => { events?.close(); events = undefined; };
  const open = () => {
    close();
    if (document.hidden) return;
    events = new EventSource(new URL("events", src));
    events.onmessage = ({ data }) => {
      if (data === run || sessionStorage.getItem(key) === data) return;
      sessionStorage.setItem(key, data);
      close();
      location.reload();
    };
    events.onerror = () => {
      if (events?.readyState === EventSource.CLOSED) setTimeout(open, 500);
    };
  };
  document.addEventListener("visibilitychange", open);
  addEventListener("pageshow", (event) => { if (event.persisted) open(); });
  open();
})();
"""


class BrowserReload:
    """What one process serves for it."""

    def __init__(self) -> None:
        self._run = secrets.token_hex(8)
        self._has_ended = asyncio.Event()
        self._has_warned = False

    def end(self) -> None:
        """Ends the connections of pages: they wait for the next process."""
        self._has_ended.set()

    def is_for(self, scope: Message) -> bool:
        """Whether a request is for this, not for the app."""
        return scope["type"] == "http" and _path(scope) in (_SCRIPT, _EVENTS)

    async def serve(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answers with the script or with events."""
        is_script = _path(scope) == _SCRIPT
        kind = b"text/javascript; charset=utf-8" if is_script else b"text/event-stream"
        headers = [(b"content-type", kind), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        if is_script:
            await send({"type": "http.response.body", "body": _JAVASCRIPT})
            return
        event = f"retry: 100\ndata: {self._run}\n\n".encode()
        await send({"type": "http.response.body", "body": event, "more_body": True})
        waiting = {
            asyncio.ensure_future(self._has_ended.wait()),
            asyncio.ensure_future(_disconnected(receive)),
        }
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waiting:
                each.cancel()
        await send({"type": "http.response.body", "body": b""})

    def page(self, scope: Message, send: Send) -> tuple[Message, Page | None]:
        """Prepares to add the script to the response to a request.

        Returns:
            The scope for the app, and what sends the response; None if no page is asked for.
        """
        headers = dict(scope["headers"])
        target = headers.get(b"sec-fetch-dest")
        if scope["method"] != "GET" or b"hx-request" in headers or is_of_page(scope):
            return scope, None
        # Other clients, such as curl, get what the app sends.
        if target is None and b"text/html" not in headers.get(b"accept", b""):
            return scope, None
        # A compressed page can't be added to.
        kept = [each for each in scope["headers"] if each[0] != b"accept-encoding"]
        scope = {**scope, "headers": kept}
        return scope, Page(send, self, scope, is_document=target is not None)

    def tag(self, scope: Message, headers: Sequence[tuple[bytes, bytes]]) -> bytes:
        """Returns the element that loads the script; nothing if the page's policy forbids it."""
        policies = [
            value.decode("latin-1")
            for name, value in headers
            if name.lower() == b"content-security-policy"
        ]
        attributes = script_attributes(policies)
        if attributes is None:
            if not self._has_warned:
                self._has_warned = True
                say(
                    f"{scope['path']} isn't reloaded in the browser: its Content-Security-Policy "
                    "allows no script or no connection of 'self'",
                    YELLOW,
                )
            return b""
        src = f"{scope.get('root_path', '')}{_SCRIPT}"
        return f'<script src="{src}" data-run="{self._run}"{attributes}></script>\n'.encode()


class Page:
    """Sends a response, with the script at its end if it is a page.

    Args:
        send: Sends to the client.
        reload: Makes the element.
        scope: The request.
        is_document: Whether a browser said that it asks for a page. Otherwise one is known by its
            beginning, as a fragment of HTML is none.
    """

    def __init__(
        self, send: Send, reload: BrowserReload, scope: Message, *, is_document: bool
    ) -> None:
        self._send = send
        self._reload = reload
        self._scope = scope
        self._is_document = is_document
        self._start: Message | None = None
        self._tag = b""

    async def send(self, message: Message) -> None:
        """Takes a message of the app."""
        kind = message["type"]
        if kind == "http.response.start" and _is_html(message):
            self._start = message  # until it is known how the body begins
            return
        if kind == "http.response.body":
            message = await self._with_tag(message)
        await self._send(message)

    async def finish(self) -> None:
        """Sends what the app left unfinished."""
        if self._start is not None:
            await self._send(self._start)

    async def _with_tag(self, message: Message) -> Message:
        body = message.get("body", b"")
        if self._start is not None:
            start, self._start = self._start, None
            if self._is_document or _begins_page(body):
                self._tag = self._reload.tag(self._scope, start["headers"])
            await self._send(_lengthened(start, len(self._tag)))
        if message.get("more_body") or not self._tag:
            return message
        return {**message, "body": bytes(body) + self._tag}


def is_of_page(scope: Message) -> bool:
    """Whether a browser said that a page makes this request, and that it is not for a page.

    SPEC: Fetch Metadata, section 2.1.
    """
    target = dict(scope["headers"]).get(b"sec-fetch-dest")
    return target is not None and target not in _PAGES


def _path(scope: Message) -> str:
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", ""))


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _is_html(start: Message) -> bool:
    """Whether a response is HTML that may be added to."""
    headers = {name.lower(): value for name, value in start.get("headers", ())}
    kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    return (
        kind == b"text/html"
        and start["status"] not in _BODILESS
        and not headers.get(b"content-disposition", b"").startswith(b"attachment")
        and not any(name in headers for name in _FIXED)
    )


def _begins_page(body: bytes) -> bool:
    begin = bytes(body[:200]).lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    return begin.startswith((b"<!doctype html", b"<html"))


def _lengthened(start: Message, by: int) -> Message:
    headers: _Headers = [
        (name, b"%d" % (int(value) + by) if name.lower() == b"content-length" else value)
        for name, value in start["headers"]
    ]
    return {**start, "headers": headers}
