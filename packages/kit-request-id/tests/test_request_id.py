# SPDX-License-Identifier: MIT
"""Which ids requests get, and where they are found."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from typing import Any
from uuid import UUID, uuid4

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import Context, Kit, Next, Response, in_thread
from kit.interface import plugins
from kit.interface.metadata import get_facts
from kit.request_id import current_request_id, request_id
from kit.streaming import StreamingApi, stream
from kit.testing import test_client

SAFE = re.compile(r"[A-Za-z0-9_=-]{1,255}")
IDS = ["abc-123", "abc_DEF=", "0", "-", "x" * 255, "==", "550e8400-e29b-41d4-a716-446655440000"]


def fail(c: Context) -> Response:
    raise ValueError("a fault")


def app_with(**options: Any) -> Kit:
    app = Kit()
    app.use(request_id(**options))
    app.get("/", lambda c: c.text(c.get("request_id")))
    app.get("/fault", fail)
    return app


async def ask(app: Kit, path: str = "/", **headers: str) -> tuple[str | None, str]:
    """The id in the header of the response, and the body."""
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    response = await app.request(path, headers=fields)
    return response.headers.get("x-request-id"), await response.text()


# --- ids of clients -----------------------------------------------------------------------------


@pytest.mark.parametrize("value", IDS)
def test_an_id_of_the_client_is_taken(run: Callable[..., Any], value: str) -> None:
    assert run(lambda: ask(app_with(), x_request_id=value)) == (value, value)


@pytest.mark.parametrize(
    "value", ["", "a b", "a,b", "dot.ted", "<script>", "a;b", "a%0Ab", "é", "x" * 256, "\xb2"]
)
def test_any_other_is_replaced(run: Callable[..., Any], value: str) -> None:
    header, body = run(lambda: ask(app_with(), x_request_id=value))
    assert header == body != value
    assert UUID(body).version == 4


def test_an_id_that_comes_twice_is_replaced(run: Callable[..., Any]) -> None:
    fields = [("x-request-id", "a"), ("x-request-id", "b")]
    response = run(lambda: app_with(generator=lambda c: "new").request("/", headers=fields))
    assert response.headers["x-request-id"] == "new"


@given(st.text(max_size=300))
def test_log_injection_whatever_a_client_sends_ids_are_safe(value: str) -> None:
    """What is logged has no line ends, quotation marks, blanks or escape sequences in it."""

    async def main() -> str:
        found: list[str] = []
        app = Kit().use(request_id())
        app.get("/", lambda c: found.append(str(current_request_id())) or c.text("x"))
        raw = value.encode("utf-8", "replace")
        sent: list[Any] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request"}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        http = {"type": "http", "method": "GET", "path": "/", "raw_path": b"/", "root_path": ""}
        await app({**http, "query_string": b"", "headers": [(b"x-request-id", raw)]}, receive, send)
        assert (b"x-request-id", found[0].encode()) in sent[0]["headers"]
        return found[0]

    assert SAFE.fullmatch(anyio.run(main))


@pytest.mark.parametrize(("limit", "expected"), [(3, "abc"), (2, "new"), (0, "new")])
def test_the_length_is_limited(run: Callable[..., Any], limit: int, expected: str) -> None:
    app = app_with(limit_length=limit, generator=lambda c: "new")
    assert run(lambda: ask(app, x_request_id="abc")) == (expected, expected)


def test_the_header_is_an_option(run: Callable[..., Any]) -> None:
    app = app_with(header_name="X-Trace-Id")
    response = run(lambda: app.request("/", headers={"x-trace-id": "t", "x-request-id": "r"}))
    assert (response.headers["x-trace-id"], run(response.text)) == ("t", "t")
    assert not response.headers.has("x-request-id")


def test_no_header_at_all(run: Callable[..., Any]) -> None:
    app = app_with(header_name="")
    header, body = run(lambda: ask(app, x_request_id="abc"))
    assert header is None
    assert UUID(body).version == 4


# --- new ids ------------------------------------------------------------------------------------


def test_new_ids_are_random_uuids(run: Callable[..., Any]) -> None:
    async def main() -> set[str]:
        app = app_with()
        return {(await ask(app))[1] for _ in range(500)}

    ids = run(main)
    assert len(ids) == 500
    for value in ids:
        uuid = UUID(value)
        assert (str(uuid), uuid.version, uuid.variant) == (value, 4, "specified in RFC 4122")


@pytest.mark.parametrize("path", ["/", "/absent", "/fault"])
def test_every_response_has_it(run: Callable[..., Any], path: str) -> None:
    header, _ = run(lambda: ask(app_with(), path, x_request_id="abc"))
    assert header == "abc"


def seeded(c: Context) -> str:
    return f"id {c.req.header('x-seed')}"


async def seeded_later(c: Context) -> str:
    await anyio.lowlevel.checkpoint()
    return seeded(c)


@pytest.mark.parametrize("generator", [seeded, seeded_later])
def test_a_generator(run: Callable[..., Any], generator: Any) -> None:
    app = app_with(generator=generator)
    assert run(lambda: ask(app, x_seed="s")) == ("id s", "id s")
    assert run(lambda: ask(app, x_seed="s", x_request_id="abc")) == ("abc", "abc")


CANT_BE_SENT = (
    "which can't be sent in a header: "
    "expected latin-1 text without control characters or surrounding spaces"
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (7, "request_id(generator=...) returned 7: expected a str, the new id"),
        (None, "request_id(generator=...) returned None: expected a str, the new id"),
        ("a\nb", rf"request_id(generator=...) returned 'a\nb', {CANT_BE_SENT}"),
        (" a", f"request_id(generator=...) returned ' a', {CANT_BE_SENT}"),
        ("☃", f"request_id(generator=...) returned '☃', {CANT_BE_SENT}"),
    ],
)
@pytest.mark.parametrize("header_name", ["x-request-id", ""])
@pytest.mark.parametrize("is_async", [False, True])
def test_what_a_generator_may_not_return(
    run: Callable[..., Any], value: Any, text: str, header_name: str, is_async: bool
) -> None:
    async def later(c: Context) -> Any:
        return value

    generator = later if is_async else lambda c: value
    app = app_with(header_name=header_name, generator=generator)
    app.on_error(lambda error, c: c.text(str(error), 500))
    assert run(ask, app) == (None, text)


# --- current_request_id -------------------------------------------------------------------------


async def chunks() -> AsyncIterator[str]:
    yield f"{current_request_id()} "
    await anyio.lowlevel.checkpoint()
    yield f"{current_request_id()}"


def everywhere() -> Kit:
    app = Kit().use(request_id())
    app.get("/handler", lambda c: c.text(str(current_request_id())))
    app.get("/generator", lambda c: c.body(chunks()))
    app.get("/thread", in_thread(lambda c: c.text(str(current_request_id()))))
    app.get("/fault", fail)
    app.on_error(lambda error, c: c.text(str(current_request_id())))
    app.not_found(lambda c: c.text(str(current_request_id())))

    @app.get("/callback")
    def callback(c: Context) -> Response:
        async def write(api: StreamingApi) -> None:
            async for chunk in chunks():
                await api.write(chunk)

        return stream(c, write)

    return app


@pytest.mark.parametrize(
    "path", ["/handler", "/generator", "/callback", "/thread", "/fault", "/absent"]
)
def test_the_current_id(run: Callable[..., Any], path: str) -> None:
    header, body = run(lambda: ask(everywhere(), path, x_request_id="abc"))
    assert (header, {*body.split()}) == ("abc", {"abc"})


def test_it_is_none_outside_of_requests(run: Callable[..., Any]) -> None:
    async def main() -> None:
        assert current_request_id() is None
        await everywhere().request("/handler")
        assert current_request_id() is None

    run(main)


def test_requests_side_by_side_have_their_own(run: Callable[..., Any]) -> None:
    async def main() -> None:
        app = Kit().use(request_id())
        met = anyio.Event()

        @app.get("/:n")
        async def handler(c: Context) -> Response:
            met.set() if c.req.param("n") == "2" else await met.wait()
            await anyio.lowlevel.checkpoint()
            return c.text(str(current_request_id()))

        async def one(number: str) -> None:
            assert await ask(app, f"/{number}", x_request_id=f"id{number}") == (f"id{number}",) * 2

        async with anyio.create_task_group() as group:
            group.start_soon(one, "1")
            group.start_soon(one, "2")

    run(main)


def test_work_after_the_response(run: Callable[..., Any]) -> None:
    seen: list[str | None] = []

    async def work() -> None:
        seen.append(current_request_id())

    app = Kit().use(request_id())

    @app.get("/")
    def handler(c: Context) -> Response:
        c.execution_ctx.wait_until(work())
        return c.text("x")

    async def main() -> None:
        await test_client(app).get(header={"x-request-id": "abc"})

    run(main)
    assert seen == ["abc"]


def test_middleware_outside_of_it_sees_the_variable(run: Callable[..., Any]) -> None:
    seen: list[Any] = []

    async def outer(c: Context, next: Next) -> None:
        await next()
        seen.append(c.get("request_id"))

    app = Kit().use(outer, request_id())
    run(lambda: ask(app, x_request_id="abc"))
    assert seen == ["abc"]


# --- options ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"limit_length": "9"}, TypeError, "request_id(limit_length=...) takes an int, not '9'"),
        ({"limit_length": True}, TypeError, "request_id(limit_length=...) takes an int, not True"),
        ({"limit_length": -1}, ValueError, "expected at least 0 characters"),
        ({"header_name": None}, TypeError, "request_id(header_name=...) takes a str, not None"),
        ({"header_name": "X Id"}, ValueError, "expected a header name such as 'X-Request-Id'"),
        ({"generator": "uuid4"}, TypeError, "takes a function (c), not 'uuid4'"),
        ({"generator": uuid4}, TypeError, "takes a function (c): got the signature uuid4()"),
    ],
)
def test_wrong_options(options: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error) as caught:
        request_id(**options)
    assert text in str(caught.value)


def test_what_tools_see() -> None:
    middleware = request_id()
    assert getattr(middleware, "__name__", None) == "request_id"
    assert get_facts(middleware).provides == {"request_id": str}
    assert plugins.load("kit.middleware", "request-id") is request_id
