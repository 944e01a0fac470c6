# SPDX-License-Identifier: MIT
"""Prints how many bytes memory grows by with values of clients, by their kinds, as JSON.

client_values.py many|long
"""

from __future__ import annotations

import gc
import json
import os
import sys
import tracemalloc
from collections.abc import Callable, Mapping
from typing import Any

import anyio

from kit import Context, Kit, Response
from kit.basic_auth import basic_auth
from kit.bearer_auth import bearer_auth
from kit.cache import MemoryStore, cache
from kit.compress import compress
from kit.conninfo import forwarded_conn_info
from kit.cookie import get_cookie
from kit.cors import cors
from kit.csrf import csrf
from kit.etag import etag
from kit.interface import Next
from kit.ip_restriction import ip_restriction
from kit.jwt import jwt
from kit.language import language_detector
from kit.openapi import openapi
from kit.request_id import request_id
from kit.session import get_session, session
from kit.trusted_hosts import trusted_hosts

SECRET = "RkhqYzM5c0VxN2tVd1pQb1lUMmxCdkF4TmdJbVE4ZUQ"
# More than the largest of the bounded caches holds; then as many again.
NUMBER = 3_000
LONG = 4_000

Headers = Mapping[str, str]
Ask = Callable[[str], tuple[str, str, Headers]]


def answer(c: Context) -> Response:
    return c.json({}, 200, {"ETag": '"x"'})


def covered(*middleware: Any) -> Kit[Any, Any]:
    app: Kit[Any, Any] = Kit()
    for each in middleware:
        app.use(each)
    app.all("/*", answer)
    return app


async def reading_cookies(c: Context, next: Next) -> None:
    get_cookie(c)
    await next()


def with_session() -> Kit[Any, Any]:
    app: Kit[Any, Any] = Kit()
    app.use(session(SECRET))

    async def read(c: Context) -> Response:
        return c.json(len(await get_session(c)))

    app.get("/", read)
    return app


def with_documents() -> Kit[Any, Any]:
    app: Kit[Any, Any] = Kit()
    app.get("/", answer)
    openapi(app)
    return app


def refreshing() -> Kit[Any, Any]:
    """An app whose cache asks the app again, by requests that it builds itself."""
    app: Kit[Any, Any] = Kit()
    store = MemoryStore(max_size=100_000)
    control = "max-age=0, stale-while-revalidate=1000"
    app.use(cache(app=app, store=store, cache_control=control))
    app.get("/*", answer)
    return app


def passing_on() -> Kit[Any, Any]:
    """An app that hands a request with copied headers to another one."""
    inner = covered()
    app: Kit[Any, Any] = Kit()

    async def pass_on(c: Context) -> Response:
        return await inner.fetch(c.req.raw.replace(headers=c.req.header()))

    app.all("/*", pass_on)
    return app


def in_header(name: str, text: str = "{}", method: str = "GET", **more: str) -> Ask:
    return lambda value: (method, "/", {name: text.format(value), **more})


KINDS: dict[str, tuple[Callable[[], Kit[Any, Any]], Ask]] = {
    "path": (covered, lambda value: ("GET", f"/{value}", {})),
    "query": (covered, lambda value: ("GET", f"/?{value}", {})),
    "method": (covered, lambda value: (f"X{value}", "/", {})),
    "name of a header": (covered, lambda value: ("GET", "/", {f"x-{value}": "1"})),
    "name of a header, passed on": (passing_on, lambda value: ("GET", "/", {f"x-{value}": "1"})),
    "name of a header, refreshed": (refreshing, lambda value: ("GET", "/", {f"x-{value}": "1"})),
    "path, cached": (refreshing, lambda value: ("GET", f"/{value}", {})),
    "host": (lambda: covered(trusted_hosts("*.example")), in_header("Host", "{}.example")),
    "host, in documents": (with_documents, in_header("Host", "{}.example")),
    "query, in documents": (with_documents, lambda value: ("GET", f"/docs?{value}", {})),
    "origin": (
        lambda: covered(cors(origin="https://a.example")),
        in_header("Origin", "https://{}.x"),
    ),
    "origin of a form": (lambda: covered(csrf()), in_header("Origin", "https://{}.x", "POST")),
    "wanted headers": (
        lambda: covered(cors()),
        in_header(
            "Access-Control-Request-Headers",
            "x-{}",
            "OPTIONS",
            **{"Access-Control-Request-Method": "PUT"},
        ),
    ),
    "password": (lambda: covered(basic_auth("a", "b")), in_header("Authorization", "Basic {}")),
    "token": (lambda: covered(bearer_auth(token="a")), in_header("Authorization", "Bearer {}")),
    "signed token": (
        lambda: covered(jwt(secret=SECRET, alg="HS256")),
        in_header("Authorization", "Bearer {}.a.b"),
    ),
    "cookie": (
        lambda: covered(reading_cookies),
        in_header("Cookie", "{0}=1; a={0}"),
    ),
    "session": (with_session, in_header("Cookie", "session={}")),
    "language": (
        lambda: covered(language_detector(supported_languages=["en"])),
        in_header("Accept-Language", "{}, en;q=0.5"),
    ),
    "coding": (lambda: covered(compress(threshold=0)), in_header("Accept-Encoding", "{}, gzip")),
    "entity tag": (lambda: covered(etag()), in_header("If-None-Match", '"{}"')),
    "date": (lambda: covered(etag()), in_header("If-Modified-Since")),
    "address": (
        lambda: covered(ip_restriction(forwarded_conn_info(), deny_list=["::1"])),
        in_header("X-Forwarded-For", "2001:db8::{}"),
    ),
    "request id": (lambda: covered(request_id()), in_header("X-Request-Id")),
}


async def grown(app: Kit[Any, Any], ask: Ask, before: list[str], values: list[str]) -> int:
    """Returns by how many bytes memory grows with requests with these values, after others."""

    async def send(value: str) -> None:
        method, path, headers = ask(value)
        tasks: list[Any] = []

        class Execution:
            def wait_until(self, awaitable: Any) -> None:
                tasks.append(awaitable)

            def pass_through_on_exception(self) -> None: ...

        response = await app.request(
            path, method=method, headers=headers, execution_ctx=Execution()
        )
        await response.bytes()
        for task in tasks:
            await task

    tracemalloc.start()
    try:
        # Fills the bounded caches, whose values are replaced afterwards.
        for value in before:
            await send(value)
        gc.collect()
        size = tracemalloc.get_traced_memory()[0]
        for value in values:
            await send(value)
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - size
    finally:
        tracemalloc.stop()


def many() -> tuple[list[str], list[str]]:
    values = [f"{number:x}" for number in range(2 * NUMBER)]
    return values[:NUMBER], values[NUMBER:]


def long() -> tuple[list[str], list[str]]:
    before = [f"{number:x}" for number in range(100)]
    return before, [f"{number:04x}" * (LONG // 4) for number in range(300)]


def grown_in_a_process(kind: str, values: tuple[list[str], list[str]]) -> int:
    """Returns the growth in a new process: in an old one, tables of Python itself may grow too."""
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        build, ask = KINDS[kind]
        os.write(writing, str(anyio.run(grown, build(), ask, *values)).encode())
        os._exit(0)
    os.close(writing)
    with open(reading) as told:
        growth = told.read()
    os.waitpid(child, 0)
    return int(growth)


if __name__ == "__main__":
    chosen = {"many": many, "long": long}[sys.argv[1]]()
    # The processes have what this one has imported.
    print(json.dumps({kind: grown_in_a_process(kind, chosen) for kind in sys.argv[2:] or KINDS}))
