# SPDX-License-Identifier: MIT
"""Nothing is kept of a request when it is over: many of each kind, each a little different."""

from __future__ import annotations

import gc
import logging
import tracemalloc
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import anyio
import everything_answers as answers
import everything_bodies as bodies
import pytest
from anyio.lowlevel import checkpoint
from asgi_peer import http_scope
from everything_faults import PlannedError, broken_generator, left_open
from everything_foreign import asgi_app, fetch_handler, wsgi_app

from kit import Context, HTTPException, Kit, Limits, in_thread
from kit.asgi import from_asgi, from_wsgi
from kit.bearer_auth import bearer_auth
from kit.cookie import get_cookie, set_cookie
from kit.logger import logger as access_log
from kit.trailing_slash import trim_trailing_slash

pytestmark = pytest.mark.slow

WARM_UP, MANY, SOME = 60, 6_000, 150
WINDOWS = 6
# Kit keeps the names of headers that it has seen, up to 1,000 of them.
HEADER_NAMES = 1_000
# One object that is kept of each request of a window takes more.
MOST_GROWTH_BYTES = 1_000


def make_app() -> Kit:
    app = Kit(limits=Limits(spool_size_bytes=100))
    app.get("/text", lambda c: c.text("hello"))
    app.get("/users/:id{[0-9]+}", lambda c: c.json({"id": c.req.param("id"), "q": c.req.query()}))
    app.get("/head", lambda c: c.text(c.req.header(f"x-{c.req.query('n')}") or ""))
    app.get("/url", lambda c: c.text(c.req.url))
    app.get("/cookie", lambda c: (set_cookie(c, "a", "b"), c.json(get_cookie(c)))[1])
    app.get("/raise", raising(HTTPException)).get("/fault", raising(PlannedError))
    app.use("/around/*", access_log(lambda line: None), trim_trailing_slash())
    app.use("/around/*", bearer_auth(token="t"))
    app.get("/around/x", lambda c: c.text("x"))
    app.post("/json", bodies.read_json)
    app.post("/checked/json", *json_checked())
    app.post("/read/:how", bodies.read)
    app.post("/together", bodies.read_together)
    app.mount("/fetch", fetch_handler).mount("/asgi", from_asgi(asgi_app))
    app.mount("/wsgi", from_wsgi(wsgi_app, workers=1))
    app.get("/in-thread/:x", in_thread(lambda c: c.text(c.req.param("x") or "")))
    app.get("/broken", broken_generator)
    app.get("/shown/:a", answers.shown)
    app.get("/later", bodies.later)
    bodies.add_streams(app, "")
    app.use("/loud/*", loud)
    bodies.add_streams(app, "/loud")
    return app


async def loud(c: Context, next: Any) -> None:
    await next()
    c.res = c.body(bodies.louder(c.res.body)) if c.res.body is not None else c.res


def raising(kind: Any) -> Callable[[Context], None]:
    def handler(c: Context) -> None:
        raise kind(400)

    return handler


def json_checked() -> Any:
    from kit.validator import validator

    return validator("json", bodies.Book), bodies.checked


class Request:
    """One kind of request; `%d` in it is its number."""

    def __init__(
        self,
        target: str,
        *headers: tuple[str, str],
        method: str = "GET",
        body: bytes = b"",
        status: int = 200,
        leaves_after: int | None = None,
    ) -> None:
        self.target = target
        self.status = status
        self.headers = headers
        self.method = method
        self.body = body
        self.leaves_after = leaves_after
        self.has_names = any("%d" in name for name, _ in headers)

    async def play_all(self, app: Any, numbers: range) -> None:
        """Sends one for each number."""
        for number in numbers:
            await self._play(app, number)

    async def _play(self, app: Any, number: int) -> None:
        target = self.target.replace("%d", str(number))
        lines = [
            (name.replace("%d", str(number)).encode(), value.replace("%d", str(number)).encode())
            for name, value in self.headers
        ]
        scope = http_scope(target, self.method, headers=lines)
        messages = [{"type": "http.request", "body": self.body.replace(b"%d", b"%d" % number)}]
        gone = anyio.Event()
        sent = 0
        status = None

        async def receive() -> dict[str, Any]:
            if messages:
                return messages.pop()
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            nonlocal sent, status
            sent += 1
            status = message.get("status", status)
            if sent == self.leaves_after:
                gone.set()

        try:
            await app(scope, receive, send)
        except PlannedError:
            assert self.target == "/broken"
        assert (status, sent >= 2) == (self.status, True)
        await checkpoint()  # the event loop drops what it was told to do and then not to do


MULTIPART = ("content-type", "multipart/form-data; boundary=B")
PART = b'--B\r\ncontent-disposition: form-data; name="f%d"; filename="f"\r\n\r\n'

KINDS = [
    pytest.param(Request("/text"), MANY, id="text"),
    pytest.param(Request("/users/%d?a%d=%d"), SOME, id="param and query"),
    pytest.param(Request("/head?n=%d", ("x-%d", "%d")), SOME, id="header"),
    pytest.param(Request("/url?%d", ("host", "h%d.example")), SOME, id="url"),
    pytest.param(Request("/cookie", ("cookie", "c%d=%d")), SOME, id="cookie"),
    pytest.param(Request("/nothing/%d", status=404), SOME, id="not found"),
    pytest.param(Request("/text", method="M%d", status=404), SOME, id="method"),
    pytest.param(Request("/text", method="HEAD"), SOME, id="HEAD"),
    pytest.param(Request("/raise", status=400), SOME, id="HTTPException"),
    pytest.param(
        Request("/json", method="POST", body=b'{"title":"%d"}', status=201), SOME, id="JSON"
    ),
    pytest.param(
        Request("/json", method="POST", body=b'{"title":%d,', status=400),
        SOME,
        id="JSON that is none",
    ),
    pytest.param(
        Request(
            "/checked/json",
            ("content-type", "application/json"),
            method="POST",
            body=b'{"t":"%d"}',
            status=400,
        ),
        SOME,
        id="JSON that does not fit",
    ),
    pytest.param(Request("/shown/%d?%d=%d", ("x-%d", "a")), SOME, id="all of a head"),
    pytest.param(Request("/around/x", ("authorization", "Bearer t")), SOME, id="middleware"),
    pytest.param(
        Request("/around/x", ("authorization", "Bearer %d"), status=401), SOME, id="refused"
    ),
    pytest.param(
        Request("/around/%d/", ("authorization", "Bearer t"), status=301), SOME, id="redirected"
    ),
    pytest.param(Request("/fault", status=500), SOME, id="fault"),
    pytest.param(
        Request("/read/form+bytes", MULTIPART, method="POST", body=PART + b"a\r\n--B--"),
        SOME,
        id="form",
    ),
    pytest.param(
        Request("/read/form", MULTIPART, method="POST", body=PART + b"x" * 200 + b"\r\n--B--"),
        SOME,
        id="file on disk",
    ),
    pytest.param(
        Request("/read/form", MULTIPART, method="POST", body=PART + b"x" * 200),
        SOME,
        id="half a file",
    ),
    pytest.param(Request("/read/clone+bytes", method="POST", body=b"%d"), SOME, id="clone"),
    pytest.param(Request("/together", method="POST", body=b"%d"), SOME, id="two readers"),
    pytest.param(Request("/stream/counted"), SOME, id="generator"),
    pytest.param(Request("/stream/endless", leaves_after=5), SOME, id="generator left"),
    pytest.param(Request("/stream/written"), SOME, id="callback"),
    pytest.param(Request("/stream/endlessly-written", leaves_after=5), SOME, id="callback left"),
    pytest.param(Request("/stream/events"), SOME, id="events"),
    pytest.param(Request("/loud/stream/written"), SOME, id="callback read by middleware"),
    pytest.param(
        Request("/loud/stream/endless", leaves_after=5), SOME, id="left behind middleware"
    ),
    pytest.param(Request("/broken"), SOME, id="broken"),
    pytest.param(Request("/later"), SOME, id="tasks"),
    pytest.param(Request("/fetch/%d"), SOME, id="mounted"),
    pytest.param(Request("/asgi/%d", method="POST", body=b"%d"), SOME, id="mounted ASGI"),
    pytest.param(Request("/asgi/endless", leaves_after=5), SOME, id="mounted ASGI left"),
    pytest.param(Request("/wsgi/%d", method="POST", body=b"%d"), SOME, id="mounted WSGI"),
    pytest.param(Request("/in-thread/%d"), SOME, id="thread"),
]


@pytest.fixture
def traced() -> Iterator[None]:
    # What pytest keeps of the log would be counted.
    logger = logging.getLogger("kit")
    logger.setLevel(logging.CRITICAL)
    tracemalloc.start()
    yield
    tracemalloc.stop()
    logger.setLevel(logging.NOTSET)


async def memory_bytes() -> int:
    """What is in use once all is over that runs on its own."""
    for _ in range(20):
        await checkpoint()
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


@pytest.mark.parametrize(("request_kind", "count"), KINDS)
def test_nothing_is_kept(traced: None, request_kind: Request, count: int) -> None:
    app = make_app()

    async def growths() -> list[int]:
        number = WARM_UP + (HEADER_NAMES if request_kind.has_names else 0)
        await request_kind.play_all(app, range(number))
        sizes = [await memory_bytes()]
        for _ in range(WINDOWS):
            await request_kind.play_all(app, range(number, number + count // WINDOWS))
            number += count // WINDOWS
            sizes.append(await memory_bytes())
        return [after - before for before, after in pairwise(sizes)]

    # Tables of the event loop and the interpreter grow in some windows and shrink in others; what
    # is kept is seen in each.
    assert min(anyio.run(growths)) < MOST_GROWTH_BYTES
    assert left_open() == {}
