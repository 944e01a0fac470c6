# SPDX-License-Identifier: MIT
"""Times one request in process: Kit, peers, and a raw ASGI callable, in interleaved rounds.

    uv run --group bench python benchmarks/in_process.py [--rounds 15] [--requests 5000]

Each app does the same work, and its answer is verified first. Absolute times depend on the
machine; read the ratios.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import time
from collections.abc import Callable
from typing import Any

ROWS: dict[str, tuple[str, str, bytes]] = {
    "text": ("GET", "/", b"Hello, World!"),
    "json": ("GET", "/json", b'{"id":1,"name":"kit"}'),
    "param": ("GET", "/users/42", b"42"),
    "middleware": ("GET", "/five", b"Hello, World!"),
}


def raw() -> Any:
    answers = {path: (body, b"%d" % len(body)) for _, path, body in ROWS.values()}

    async def app(scope: Any, receive: Any, send: Any) -> None:
        body, length = answers[scope["path"]]
        headers = [(b"content-type", b"text/plain; charset=UTF-8"), (b"content-length", length)]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    return app


def kit() -> Any:
    from kit import Context, Kit

    app = Kit()

    async def through(c: Context, next: Any) -> None:
        await next()

    async def text(c: Context) -> Any:
        return c.text("Hello, World!")

    async def as_json(c: Context) -> Any:
        return c.json({"id": 1, "name": "kit"})

    async def param(c: Context) -> Any:
        return c.text(c.req.param("id") or "")

    app.get("/", text).get("/json", as_json).get("/users/:id", param)
    app.get("/five", through, through, through, through, through, text)
    return app


def starlette() -> Any:
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.responses import JSONResponse, PlainTextResponse
    from starlette.routing import Route

    class Through:
        def __init__(self, app: Any) -> None:
            self.app = app

        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            await self.app(scope, receive, send)

    async def text(request: Any) -> Any:
        return PlainTextResponse("Hello, World!")

    async def as_json(request: Any) -> Any:
        return JSONResponse({"id": 1, "name": "kit"})

    async def param(request: Any) -> Any:
        return PlainTextResponse(request.path_params["id"])

    five = Route("/five", text, middleware=[Middleware(Through)] * 5)
    routes = [Route("/", text), Route("/json", as_json), Route("/users/{id}", param), five]
    return Starlette(routes=routes)


def falcon() -> Any:
    import falcon
    import falcon.asgi

    class Text:
        async def on_get(self, request: Any, response: Any) -> None:
            response.content_type = "text/plain"
            response.text = "Hello, World!"

    class Json:
        async def on_get(self, request: Any, response: Any) -> None:
            response.data = json.dumps({"id": 1, "name": "kit"}, separators=(",", ":")).encode()

    class Param:
        async def on_get(self, request: Any, response: Any, id: str) -> None:
            response.content_type = "text/plain"
            response.text = id

    async def before(request: Any, response: Any, resource: Any, params: Any) -> None:
        return None

    class Five(Text):
        on_get = Text.on_get
        for _ in range(5):
            on_get = falcon.before(before)(on_get)

    app = falcon.asgi.App()
    for path, resource in (("/", Text), ("/json", Json), ("/users/{id}", Param), ("/five", Five)):
        app.add_route(path, resource())
    return app


def blacksheep() -> Any:
    from blacksheep import Application, Router, text
    from blacksheep import json as as_json
    from blacksheep.server.normalization import ensure_response

    def make(five: bool) -> Any:
        app = Application(router=Router())

        async def through(request: Any, handler: Any) -> Any:
            return ensure_response(await handler(request))

        if five:
            for _ in range(5):
                app.middlewares.append(through)

        @app.router.get("/five" if five else "/")
        async def hello(request: Any) -> Any:
            return text("Hello, World!")

        @app.router.get("/json")
        async def json_(request: Any) -> Any:
            return as_json({"id": 1, "name": "kit"})

        @app.router.get("/users/:id")
        async def param(request: Any) -> Any:
            return text(request.route_values["id"])

        asyncio.get_event_loop().run_until_complete(app.start())
        return app

    # Its middleware is for the whole app, so the row that has some is an app of its own.
    plain, with_five = make(False), make(True)
    return lambda s, r, w: (with_five if s["path"] == "/five" else plain)(s, r, w)


PEERS: dict[str, Callable[[], Any]] = {
    "raw": raw,
    "kit": kit,
    "starlette": starlette,
    "falcon": falcon,
    "blacksheep": blacksheep,
}


def scope_of(method: str, path: str) -> dict[str, Any]:
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": [(b"host", b"localhost"), (b"accept", b"*/*"), (b"user-agent", b"bench")],
        "client": ("127.0.0.1", 5000),
        "server": ("127.0.0.1", 80),
    }


async def receive() -> dict[str, Any]:
    return {"type": "http.request", "body": b"", "more_body": False}


async def answer(app: Any, row: str) -> bytes:
    """The body that an app sends, with the status checked."""
    method, path, _ = ROWS[row]
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await app(scope_of(method, path), receive, send)
    assert sent[0]["status"] == 200, (row, sent)
    return b"".join(message.get("body", b"") for message in sent[1:])


async def seconds(app: Any, row: str, requests: int) -> float:
    method, path, _ = ROWS[row]

    async def send(message: dict[str, Any]) -> None:
        return None

    scope = scope_of(method, path)
    start = time.perf_counter()
    for _ in range(requests):
        await app(dict(scope), receive, send)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--requests", type=int, default=5000)
    parser.add_argument("--json", action="store_true", help="print medians as JSON")
    args = parser.parse_args()

    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    apps = {}
    for name, make in PEERS.items():
        try:
            apps[name] = make()
        except ImportError as error:
            print(f"{name}: left out, {error}")
    times: dict[str, dict[str, list[float]]] = {row: {n: [] for n in apps} for row in ROWS}
    for row, (_, _, expected) in ROWS.items():
        for name, app in apps.items():
            got = loop.run_until_complete(answer(app, row))
            assert got == expected, f"{name} answers {row} with {got!r}"
    for _ in range(args.rounds):
        for row in ROWS:
            for name, app in apps.items():
                taken = loop.run_until_complete(seconds(app, row, args.requests))
                times[row][name].append(taken / args.requests)

    # Ratios are taken round by round, so that a slow moment of the machine touches both sides.
    ratios = {
        row: {
            name: statistics.median(t / k for t, k in zip(each, by_name["kit"], strict=True))
            for name, each in by_name.items()
        }
        for row, by_name in times.items()
    }
    if args.json:
        print(json.dumps(ratios, indent=2))
        return
    print(f"time per request, as a multiple of Kit's (median of {args.rounds} rounds)\n")
    print(f"{'row':12}" + "".join(f"{name:>12}" for name in apps) + f"{'kit, µs (min)':>16}")
    for row, by_name in ratios.items():
        cells = "".join(f"{by_name[name]:12.2f}" for name in apps)
        print(f"{row:12}{cells}{min(times[row]['kit']) * 1e6:16.2f}")


if __name__ == "__main__":
    main()
