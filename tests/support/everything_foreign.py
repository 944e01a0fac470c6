# SPDX-License-Identifier: MIT
"""Applications that are no Kit apps, to be mounted in one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import anyio
from everything_faults import PlannedError, held

from kit import Request, Response


async def fetch_handler(request: Request, *arguments: Any) -> Response | None:
    """A handler on requests and responses; paths that begin with `/next` it leaves to others."""
    path = request.url.split("://", 1)[1].partition("/")[2].partition("?")[0]
    if path.startswith("next"):
        return None
    if path.startswith("boom"):
        raise PlannedError("mounted")
    body = await request.bytes()
    method = request.method.replace("HEAD", "GET")  # so that both have one length
    return Response(f"{method} {request.url} {len(arguments)} ".encode() + body)


async def asgi_app(scope: Any, receive: Any, send: Any) -> None:
    """A raw ASGI application; the end of the path says what it does, by default an echo."""
    if scope["type"] != "http":
        await _lifespan(receive, send)
        return
    with held("asgi app"):
        what = _WAYS.get(scope["path"].rsplit("/", 1)[-1], _echo)
        await what(scope, receive, send)


async def _start(send: Any, *lines: tuple[bytes, bytes], status: int = 200) -> None:
    headers = [(b"x-app", b"asgi"), *lines]
    await send({"type": "http.response.start", "status": status, "headers": headers})


async def _send_some(send: Any, chunk: bytes) -> None:
    await send({"type": "http.response.body", "body": chunk, "more_body": True})


async def _echo(scope: Any, receive: Any, send: Any) -> None:
    await _start(send)
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        await _send_some(send, message.get("body", b""))
        if not message.get("more_body", False):
            break
    await send({"type": "http.response.body", "body": scope["root_path"].encode()})


async def _boom(scope: Any, receive: Any, send: Any) -> None:
    raise PlannedError("asgi")


async def _broken(scope: Any, receive: Any, send: Any) -> None:
    await _start(send)
    await _send_some(send, b"some")
    raise PlannedError("asgi, in the middle")


async def _empty(scope: Any, receive: Any, send: Any) -> None:
    await _start(send, status=204)
    await send({"type": "http.response.body"})


async def _sized(scope: Any, receive: Any, send: Any) -> None:
    await _start(send, (b"content-length", b"4"))
    await _send_some(send, b"ab")
    await send({"type": "http.response.body", "body": b"cd"})


async def _later(scope: Any, receive: Any, send: Any) -> None:
    await _echo(scope, receive, send)
    await anyio.sleep(0)


async def _endless(scope: Any, receive: Any, send: Any) -> None:
    await _start(send)
    async with anyio.create_task_group() as group:
        group.start_soon(_tick, send)
        message = {"type": "http.request"}
        while message["type"] != "http.disconnect":
            message = await receive()
        group.cancel_scope.cancel()


async def _tick(send: Any) -> None:
    while True:
        await _send_some(send, b"tick")
        await anyio.sleep(0)


_WAYS = {
    "boom": _boom,
    "broken": _broken,
    "empty": _empty,
    "endless": _endless,
    "later": _later,
    "sized": _sized,
}


async def _lifespan(receive: Any, send: Any) -> None:
    with held("asgi lifespan"):
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})


def wsgi_app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    """A WSGI application that sends back what it got."""
    body = environ["wsgi.input"].read(1000)
    start_response("200 OK", [("content-type", "text/plain")])
    return [environ["REQUEST_METHOD"].replace("HEAD", "GET").encode(), b" ", body]
