# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Literal, Protocol, TypedDict, assert_type

import kit
from kit import interface
from kit.accepts import Accepted, AcceptsOptions, accepts
from kit.html import TemplateString, html, raw
from kit.interface import websocket as interface_websocket
from kit.websocket import MessageEvent, WebSocket, WSEvents, upgrade_websocket

# The classes of kit-core are what the protocols of kit-interface ask for.


def core(
    app: kit.Kit,
    c: kit.Context,
    req: kit.KitRequest,
    request: kit.Request,
    response: kit.Response,
    headers: kit.Headers,
    form: kit.FormData,
    file: kit.File,
    blob: kit.Blob,
) -> tuple[object, ...]:
    an_app: interface.App = app
    context: interface.Context = c
    kit_request: interface.KitRequest = req
    web_request: interface.Request = request
    web_response: interface.Response = response
    web_headers: interface.Headers = headers
    form_data: interface.FormData = form
    web_file: interface.File = file
    web_blob: interface.Blob = blob
    return (
        an_app,
        context,
        kit_request,
        web_request,
        web_response,
        web_headers,
        form_data,
        web_file,
        web_blob,
    )


# Middleware and handlers on the interface alone are what an app takes.


async def forgetful(c: interface.Context, next: interface.Next) -> None:
    next()  # type: ignore[unused-coroutine]


async def middleware(c: interface.Context, next: interface.Next) -> interface.Response | None:
    await next()
    return None


def handler(c: interface.Context) -> interface.Response:
    return c.text("hello")


app = kit.Kit()
app.use(middleware)
app.get("/", handler)


# An app is an ASGI application, however a server or framework types one.

Message = MutableMapping[str, Any]


class HTTPScope(TypedDict):
    type: Literal["http"]
    path: str


class HTTPEvent(TypedDict):
    type: str


def by_mappings(
    app: Callable[
        [Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]],
        Awaitable[None],
    ],
) -> None:
    print(app)


class ByTypedDicts(Protocol):
    async def __call__(
        self,
        scope: HTTPScope,
        receive: Callable[[], Awaitable[HTTPEvent]],
        send: Callable[[HTTPEvent], Awaitable[None]],
    ) -> None: ...


by_mappings(app)
asgi: ByTypedDicts = app


# What accepts() chooses, by a function or without.


def last(accepted: list[Accepted], options: AcceptsOptions) -> str:
    return accepted[-1].type if accepted else options.default


async def later(accepted: list[Accepted], options: AcceptsOptions) -> str:
    return last(accepted, options)


async def chosen(c: kit.Context, plain: interface.Context) -> None:
    assert_type(accepts(c, "Accept", ["a/b"], "a/b"), str)
    assert_type(accepts(plain, header="Accept", supports=("a",), default="a", match=last), str)
    assert_type(accepts(c, "Accept", ["a/b"], "a/b", later), Awaitable[str] | str)


# HTML is a str, for c.html.


def page(c: interface.Context, template: TemplateString, name: str) -> interface.Response:
    heading = html("<h1>{name}</h1>", name=name)
    text: str = html("{heading}{rest}{rule}", heading=heading, rest=[None, 1], rule=raw("<hr>"))
    return c.html(text + html(template))


# WebSockets: both forms of upgrade_websocket, as decorators and called.


class Bindings(TypedDict):
    db: str


@upgrade_websocket
async def echo(c: kit.Context[Bindings], ws: WebSocket) -> None:
    async for message in ws:
        assert_type(message, str | bytes)
        assert_type(await ws.receive_json(), Any)
        assert_type(await ws.receive_json(type=list[int]), list[int])
        as_interface: interface_websocket.WebSocket = ws
        await as_interface.send(message)


@upgrade_websocket(origins=["https://example.com"], protocols="v1", cancel_on_disconnect=True)
async def chat(c: kit.Context, ws: WebSocket) -> None:
    await ws.close(4000, ws.protocol)


def create_events(c: kit.Context) -> WSEvents:
    async def on_message(event: MessageEvent, ws: WebSocket) -> None:
        await ws.send(event.data)

    return WSEvents(on_message=on_message, on_open=lambda event, ws: None)


sockets = kit.Kit()
sockets.get("/echo", echo)
sockets.get("/chat", chat)
sockets.get("/events", upgrade_websocket(create_events, origins="*"))
sockets.get("/lambda", upgrade_websocket(lambda c: WSEvents(on_close=lambda event, ws: None)))
upgrade_websocket(origins=1)  # type: ignore


linked = kit.Kit()
linked.get("/echo/:name", echo)
assert_type(linked.path_to(echo, name="a", query={"page": 2, "tag": ["a", "b"]}), str)
assert_type(linked.path_to("echo", **{"book-id": 7}), str)
assert_type(linked.link(echo, "echo"), kit.Kit)
linked.path_to(7)  # type: ignore
linked.link(7)  # type: ignore


def redirect(c: kit.Context) -> kit.Response:
    as_interface: interface.Context = c
    assert_type(as_interface.path_to(redirect), str)
    return c.redirect(c.path_to(redirect, id=7), 303)
