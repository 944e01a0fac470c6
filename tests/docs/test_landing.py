# SPDX-License-Identifier: MIT
"""The landing page's figures are those of the benchmarks, and its claims about others are true."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import documents
import pytest
from documents import ROOT

from kit import Context, HTTPException, Kit, Response
from kit.asgi import from_asgi
from kit.cors import cors
from kit.openapi import openapi
from kit.timeout import cancel_on_disconnect
from kit.typed import typed

pytestmark = pytest.mark.once

BENCHMARKS = (ROOT / "benchmarks/README.md").read_text()
TIMES = "\N{MULTIPLICATION SIGN}"
PEERS = ("starlette", "litestar", "fastapi")


def recorded(title: str, row: str) -> dict[str, str]:
    """A row of the first table behind a text of the benchmarks' README, by column.

    Where two runs differ, a cell has the figures of both; the page shows those of the first.
    """
    table = BENCHMARKS[BENCHMARKS.index(title) :].partition("\n| ")[2].splitlines()
    names = [each.strip() for each in table[0].strip("|").split("|")]
    cells = next(line for line in table if re.match(rf"\| {row} +\|", line)).strip("|").split("|")
    return dict(zip(names, (each.partition(" · ")[0].strip() for each in cells), strict=False))


def started(row: str) -> list[str]:
    """What a framework needs up to the first answer: milliseconds and MiB."""
    found = recorded("Up to the first answer", row)
    return [f"{found['ms']} ms", f"{found['MiB']} MiB"]


def test_figures_are_those_of_the_benchmarks() -> None:
    page = documents.read("docs/index.md").prose
    rows = [
        [cell.strip(" *") for cell in line.strip("|").split("|")]
        for line in page[page.index("| measured |") :].splitlines()
        if line.startswith("|")
    ]
    in_process = {"text": "text", "JSON": "json"}
    in_process["a path parameter, a new value in each request"] = "param, new values"
    in_process["five middleware"] = "five middleware"
    expected = [["measured", "Kit", "Starlette", "Litestar", "FastAPI"]]
    for shown, row in in_process.items():
        found = recorded("### In process", row)
        factors = [f"{TIMES} {found[peer]}" for peer in PEERS]
        expected.append([shown, f"{found['kit, µs']} µs", *factors])
    query = recorded("The tests of TechEmpower's benchmarks, with", "one query")
    factors = [f"{TIMES} {float(query[peer]):.2f}" for peer in PEERS]
    expected.append(["one query to PostgreSQL", f"{float(query['kit, µs']):.0f} µs", *factors])
    columns = [started(name) for name in ("kit", *PEERS)]
    expected.append(["first response of a new process", *(each[0] for each in columns)])
    expected.append(["its memory", *(each[1] for each in columns)])
    assert [rows[0], *rows[2 : len(expected) + 1]] == expected


class Asked:
    """Apps with the same routes: one fails, one waits, one raises a 404, and one app is mounted."""

    def __init__(self) -> None:
        self.started = False
        self.finished = False

    @asynccontextmanager
    async def lifespan(self, app: Any) -> AsyncIterator[None]:
        self.started = True
        yield

    async def wait(self) -> str:
        await asyncio.sleep(0.05)
        self.finished = True
        return "done"

    def kit(self) -> Any:
        app = Kit()
        app.use(cors(), cancel_on_disconnect())
        openapi(app)

        @app.get("/wait")
        async def wait(c: Context) -> Response:
            return c.text(await self.wait())

        @app.get("/fail")
        async def fail(c: Context) -> Response:
            raise RuntimeError("fails")

        @app.get("/item/:id")
        @typed
        async def item(id: int) -> str:
            raise HTTPException(404, "There is no such item")

        app.mount("/sub", from_asgi(Kit(lifespan=self.lifespan)))
        return app

    def starlette(self) -> Any:
        from starlette.applications import Starlette
        from starlette.middleware import Middleware
        from starlette.middleware.cors import CORSMiddleware
        from starlette.requests import Request
        from starlette.responses import PlainTextResponse
        from starlette.routing import Mount, Route

        async def wait(request: Request) -> PlainTextResponse:
            return PlainTextResponse(await self.wait())

        async def fail(request: Request) -> PlainTextResponse:
            raise RuntimeError("fails")

        mounted = Mount("/sub", Starlette(lifespan=self.lifespan))
        middleware = [Middleware(CORSMiddleware, allow_origins=["*"])]
        return Starlette(
            routes=[Route("/wait", wait), Route("/fail", fail), mounted], middleware=middleware
        )

    def fastapi(self) -> Any:
        import fastapi
        from fastapi.middleware.cors import CORSMiddleware

        app = fastapi.FastAPI()
        app.add_middleware(CORSMiddleware, allow_origins=["*"])
        app.get("/wait")(self.wait)

        @app.get("/fail")
        async def fail() -> None:
            raise RuntimeError("fails")

        @app.get("/item/{id}")
        async def item(id: int) -> str:
            raise fastapi.HTTPException(404)

        app.mount("/sub", fastapi.FastAPI(lifespan=self.lifespan))
        return app

    def litestar(self) -> Any:
        from litestar import Litestar, asgi, get
        from litestar.config.cors import CORSConfig
        from litestar.exceptions import NotFoundException
        from litestar.openapi import OpenAPIConfig

        async def wait() -> str:
            return await self.wait()

        async def fail() -> str:
            raise RuntimeError("fails")

        async def item(item_id: int) -> str:
            raise NotFoundException

        mounted = Litestar([], lifespan=[self.lifespan])
        return Litestar(
            [
                get("/wait")(wait),
                get("/fail")(fail),
                get("/item/{item_id:int}")(item),
                asgi("/sub", is_mount=True, copy_scope=True)(mounted),
            ],
            cors_config=CORSConfig(),
            openapi_config=OpenAPIConfig(title="Asked", version="1", path="/docs"),
        )


async def request(app: Any, path: str, *, leaves: bool = False) -> list[dict[str, Any]]:
    """What an ASGI app sends for GET; the client stays, or leaves at once."""
    sent: list[dict[str, Any]] = []
    messages = iter([{"type": "http.request", "body": b"", "more_body": False}])

    async def receive() -> dict[str, Any]:
        if (message := next(messages, None)) is not None:
            return message
        if not leaves:
            await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "method": "GET",
        "http_version": "1.1",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "scheme": "http",
        "server": ("test", 80),
        "client": ("::1", 1),
        "headers": [(b"host", b"test"), (b"origin", b"http://other")],
        "state": {},
    }
    # Starlette raises what the handler raised, after it has responded.
    with suppress(RuntimeError):
        await app(scope, receive, send)
    return sent


async def start(app: Any) -> None:
    """Runs the lifespan of an ASGI app."""
    messages: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    answers: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    scope = {"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}
    await messages.put({"type": "lifespan.startup"})
    running = asyncio.create_task(app(scope, messages.get, answers.put))
    assert await answers.get() == {"type": "lifespan.startup.complete"}
    await messages.put({"type": "lifespan.shutdown"})
    await running


def text(sent: list[dict[str, Any]]) -> str:
    return b"".join(message.get("body", b"") for message in sent).decode()


APPS = [
    pytest.param(Asked.kit, True, id="kit"),
    pytest.param(Asked.starlette, False, id="starlette"),
    pytest.param(Asked.fastapi, False, id="fastapi"),
    pytest.param(Asked.litestar, False, id="litestar"),
]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(("make", "can"), APPS)
async def test_claims_about_others(make: Callable[[Asked], Any], can: bool) -> None:
    """True of Kit, and of none of the others."""
    asked = Asked()
    app = make(asked)
    await start(app)
    assert asked.started is can
    await request(app, "/wait", leaves=True)
    assert asked.finished is not can
    failed = (await request(app, "/fail"))[0]
    assert failed["status"] == 500
    if make is not Asked.litestar:  # which the page doesn't name here
        assert (b"access-control-allow-origin" in dict(failed["headers"])) is can
    if make is not Asked.starlette:  # which has no documents
        paths = ("/docs", "/docs/openapi.json" if make is Asked.litestar else "/openapi.json")
        page, document = [text(await request(app, each)) for each in paths]
        assert "/item/" in document
        assert ("https://" not in page) is can
        assert ('"404"' in document) is can
