# SPDX-License-Identifier: MIT
"""What is set on `c` before there is a response is sent, wherever the response comes from."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any, TypeAlias

import pytest
from exchanges import Lines, by_asgi, by_request, by_rsgi

from kit import Context, HTTPException, Kit, Response
from kit.streaming import stream_sse, stream_text

Engine: TypeAlias = Callable[[Kit, str], Awaitable[tuple[int, Lines, bytes]]]
ENGINES: list[Engine] = [by_request, by_asgi, by_rsgi]
SET = [
    ("x-frame-options", "DENY"),
    ("x-request-id", "42"),
    ("set-cookie", "session=1; Path=/; HttpOnly"),
    ("vary", "Origin"),
    ("access-control-allow-origin", "https://a.example"),
]
KEPT = Response("kept", headers={"x-own": "1"})
FAULT = Response("fault", status=418)


def inner() -> Kit:
    app = Kit()
    app.get("/in", lambda c: c.text("inner", headers={"x-inner": "1"}))
    return app


async def chunks() -> AsyncIterator[str]:
    yield "a"
    yield "b"


async def other_app(c: Context) -> Response:
    return await inner().fetch(c.req.raw.replace(url="http://localhost/in"))


async def built_here(c: Context) -> Response:
    return c.text("text")


async def built_before(c: Context) -> Response:
    response = c.text("early")
    set_all(c)
    return response


def fail(error: Exception) -> Any:
    def handler(c: Context) -> Response:
        raise error

    return handler


async def sets_res(c: Context) -> None:
    c.res = Response("set")


async def sets_res_without(c: Context) -> Any:
    c.res = Response("set")
    return c.res


class Own(Response):
    """A response of a class of its own."""


def set_all(c: Context) -> None:
    for name, value in SET:
        c.header(name, value, append=name == "set-cookie")


SOURCES: dict[str, Any] = {
    "c.text": built_here,
    "c.text, headers after": built_before,
    "c.json": lambda c: c.json({}, 201, {"x-own": "1"}),
    "c.body": lambda c: c.body(b"x"),
    "c.redirect": lambda c: c.redirect("/there"),
    "c.not_found": lambda c: c.not_found(),
    "a Response": lambda c: Response("raw"),
    "a Response of bytes": lambda c: Response(b"raw"),
    "an empty Response": lambda c: Response(None, status=204),
    "a Response of a stream": lambda c: Response(chunks()),
    "a Response with headers": lambda c: Response("x", headers={"x-own": "1"}),
    "Response.json": lambda c: Response.json({"a": 1}),
    "Response.redirect": lambda c: Response.redirect("/there"),
    "a subclass": lambda c: Own("own"),
    "one that is kept": lambda c: KEPT,
    "a copy": lambda c: KEPT.replace(status=201),
    "a clone": lambda c: KEPT.clone(),
    "another app": other_app,
    "stream_text": lambda c: stream_text(c, lambda out: out.write("a")),
    "stream_sse": lambda c: stream_sse(c, lambda out: out.write_sse("a")),
    "c.res": sets_res,
    "c.res, returned": sets_res_without,
    "an exception": fail(ValueError("boom")),
    "HTTPException": fail(HTTPException(403, "no", headers={"x-own": "1"})),
    "HTTPException with a response": fail(HTTPException(403, res=Response("no"))),
    "an error that on_error answers": fail(KeyError("boom")),
    "an error that on_error answers with a kept response": fail(IndexError("boom")),
    "nothing": lambda c: None,
    "no response": lambda c: 5,
}


def app_of(source: Any, *, alone: bool, middleware: Any = None) -> Kit:
    app = Kit()
    app.on_error(KeyError, lambda error, c: Response("handled", status=409))
    app.on_error(IndexError, lambda error, c: FAULT)
    app.not_found(lambda c: Response("nowhere", status=404))
    if alone:
        app.get("/", lambda c: (set_all(c), source(c))[1])
    else:

        @app.use()
        async def before(c: Context, next: Any) -> None:
            set_all(c)
            await next()

        if middleware is not None:
            app.use(middleware)
        app.get("/", source)
        app.mount("/mounted", inner().fetch)
    return app


@pytest.fixture(autouse=True)
def _kept_responses_stay_as_they_are() -> Iterator[None]:
    yield
    assert [*KEPT.headers.items()] == [
        ("content-type", "text/plain;charset=UTF-8"),
        ("x-own", "1"),
    ]
    assert [*FAULT.headers.items()] == [("content-type", "text/plain;charset=UTF-8")]


def assert_all_sent(lines: Lines) -> None:
    for name, value in SET:
        assert [v for n, v in lines if n == name] == [value], name


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize("source", SOURCES)
async def test_headers_are_sent_wherever_the_response_comes_from(
    source: str, alone: bool, engine: Engine
) -> None:
    app = app_of(SOURCES[source], alone=alone)
    for _ in range(2):  # the second time with responses that were sent before
        _, lines, _ = await engine(app, "/")
        assert_all_sent(lines)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("path", ["/mounted/in", "/missing"])
async def test_mounted_apps_and_missing_routes(path: str, engine: Engine) -> None:
    status, lines, _ = await engine(app_of(built_here, alone=False), path)
    assert status == (200 if path == "/mounted/in" else 404)
    assert_all_sent(lines)


@pytest.mark.parametrize("engine", ENGINES)
async def test_middleware_that_answers_itself(engine: Engine) -> None:
    async def guard(c: Context, next: Any) -> Response:
        return Response("stop", status=401)

    status, lines, _ = await engine(app_of(built_here, alone=False, middleware=guard), "/")
    assert status == 401
    assert_all_sent(lines)


@pytest.mark.parametrize("engine", ENGINES)
async def test_headers_set_on_res_before_there_is_a_response(engine: Engine) -> None:
    def handler(c: Context) -> Response:
        c.res.headers.set("x-early", "1")
        return Response("raw")

    _, lines, _ = await engine(Kit().get("/", handler), "/")
    assert ("x-early", "1") in lines


# --- which line wins ---------------------------------------------------------------------------


async def sent(
    set_before: list[tuple[str, str]], own: Any, *, body: Any = b"x", status: int = 200
) -> Lines:
    def handler(c: Context) -> Response:
        for name, value in set_before:
            c.header(name, value, append=True)
        return Response(body, status=status, headers=own)

    responses = [await engine(Kit().get("/", handler), "/") for engine in ENGINES]
    lines = [[line for line in each[1] if line[0] != "content-length"] for each in responses]
    assert lines[0] == lines[1] == lines[2]
    return lines[0]


@pytest.mark.parametrize(
    "name", ["x-a", "cache-control", "content-security-policy", "allow", "location"]
)
async def test_own_line_of_a_single_name_wins(name: str) -> None:
    assert await sent([(name, "before")], {name: "own"}) == [(name, "own")]


@pytest.mark.parametrize(
    "name", ["link", "www-authenticate", "server-timing", "cache-status", "via"]
)
async def test_lines_that_may_stand_several_times_are_joined(name: str) -> None:
    lines = await sent([(name, "a"), (name, "b")], {name: "b"})
    assert lines == [(name, "a"), (name, "b")]


@pytest.mark.parametrize(
    ("before", "own", "expected"),
    [
        ("Origin", "Accept", {"origin", "accept"}),
        ("Origin, ACCEPT", "accept, Cookie", {"origin", "accept", "cookie"}),
        ("Origin", "*", {"*"}),
        ("origin", "Origin", {"origin"}),
    ],
)
async def test_vary_has_the_names_of_both(before: str, own: str, expected: set[str]) -> None:
    lines = await sent([("vary", before)], {"vary": own})
    members = [m.strip().lower() for _, value in lines for m in value.split(",")]
    assert sorted(members) == sorted(expected)


async def test_cookies_of_both_are_sent_and_the_own_one_of_a_name() -> None:
    before = ["a=1", "b=1; Path=/", "b=1; path=/x", "c=1; Domain=.A.example"]
    own = ["b=2; HttpOnly; path=/", "c=2; domain=a.example"]
    lines = await sent(
        [("set-cookie", value) for value in before], [("set-cookie", value) for value in own]
    )
    assert lines == [("set-cookie", value) for value in ("a=1", "b=1; path=/x", *own)]


@pytest.mark.parametrize("body", [b"x", "x"])
async def test_content_type_set_before_is_that_of_a_response_without_one(body: Any) -> None:
    assert await sent([("content-type", "image/png")], {}, body=body) == [
        ("content-type", "image/png")
    ]
    own = {"content-type": "text/plain;charset=UTF-8"}
    assert await sent([("content-type", "image/png")], own, body=body) == [*own.items()]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("body", [b"four", "four", None, "stream"])
async def test_content_length_set_before_is_never_that_of_another_body(
    body: Any, engine: Engine
) -> None:
    def handler(c: Context) -> Response:
        c.header("content-length", "99")
        return Response(chunks() if body == "stream" else body)

    _, lines, content = await engine(Kit().get("/", handler), "/")
    length = dict(lines).get("content-length")
    assert length in (None, str(len(content)))


@pytest.mark.parametrize("engine", ENGINES)
async def test_headers_that_describe_no_error_are_dropped_by_one(engine: Engine) -> None:
    def handler(c: Context) -> Response:
        for name in ("etag", "last-modified", "content-disposition", "content-encoding", "expires"):
            c.header(name, "x")
        c.header("cache-control", "public, max-age=60")
        c.header("x-kept", "1")
        raise HTTPException(404, "no")

    status, lines, _ = await engine(Kit().get("/", handler), "/")
    assert (status, sorted(name for name, _ in lines if name != "content-length")) == (
        404,
        ["content-type", "x-kept"],
    )


@pytest.mark.parametrize(
    ("set_before", "sent_with_error"),
    [
        ("no-store", "no-store"),
        ("private, max-age=60", "private"),
        ("max-age=60, No-Cache", "No-Cache"),
        ("public, immutable", None),
    ],
)
async def test_error_stays_out_of_caches_as_was_asked(
    set_before: str, sent_with_error: str | None
) -> None:
    def handler(c: Context) -> Response:
        c.header("cache-control", set_before)
        raise HTTPException(404)

    response = await Kit().get("/", handler).request("/")
    assert response.headers.get("cache-control") == sent_with_error


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("alone", [True, False])
async def test_lists_have_the_lines_of_both_if_the_response_is_raised(
    alone: bool, engine: Engine
) -> None:
    """A response has the same headers whether it is returned, or raised in an HTTPException."""
    before = {"vary": "Origin", "link": "</a>", "server-timing": "a", "x-one": "before"}
    own = {"vary": "Cookie", "link": "</b>", "server-timing": "b", "x-one": "own"}

    async def prepare(c: Context, next: Any) -> None:
        c.set_headers(before)
        await next()

    def raising(c: Context) -> Response:
        if alone:
            c.set_headers(before)
        raise HTTPException(403, res=Response("no", headers=own))

    app = Kit().get("/", raising) if alone else Kit().use(prepare).get("/", raising)
    _, lines, _ = await engine(app, "/")
    for name in before:
        texts = [value for each, value in lines if each == name]
        assert texts == ([before[name], own[name]] if name != "x-one" else ["own"])


# --- what is removed ---------------------------------------------------------------------------


async def test_header_that_the_response_removes_stays_removed() -> None:
    def by_argument(c: Context) -> Response:
        return c.text("x", headers={"x-frame-options": []})

    def by_method(c: Context) -> Response:
        response = c.text("x")
        response.headers.delete("x-frame-options")
        return response

    for handler in (by_argument, by_method):
        for engine in ENGINES:
            _, lines, _ = await engine(app_of(handler, alone=False), "/")
            names = [name for name, _ in lines]
            assert "x-frame-options" not in names
            assert "x-request-id" in names


async def test_none_removes_what_was_set() -> None:
    async def reset(c: Context, next: Any) -> None:
        await next()
        c.res = None
        c.res = Response("new")

    for engine in ENGINES:
        _, lines, content = await engine(app_of(built_here, alone=False, middleware=reset), "/")
        assert content == b"new"
        assert {name for name, _ in lines} <= {"content-type", "content-length"}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize(
    "response", [lambda c: Response("new"), lambda c: c.text("new"), lambda c: c.body("new")]
)
async def test_response_after_none_is_the_first_one(
    response: Any, alone: bool, engine: Engine
) -> None:
    async def handler(c: Context) -> Response:
        c.header("x-old", "1")
        c.res = Response("old", headers={"x-old": "1"})
        c.res = None
        c.header("x-new", "1")
        made: Response = response(c)
        return made

    app = Kit().get("/", handler) if alone else Kit().use(passing).get("/", handler)
    status, lines, content = await engine(app, "/")
    assert (status, content) == (200, b"new")
    assert {name for name, _ in lines} - {"content-type", "content-length"} == {"x-new"}


# --- replaced responses ------------------------------------------------------------------------

OF_A_FILE = {
    "cache-control": "public, immutable",
    "etag": '"a"',
    "content-encoding": "gzip",
    "content-range": "bytes 0-1/2",
    "last-modified": "Sat, 28 Nov 2026 00:00:00 GMT",
    "content-disposition": "attachment",
    "content-type": "image/png",
    "accept-ranges": "bytes",
}
OF_THE_EXCHANGE = {"x-a": "1", "vary": "Accept-Encoding", "set-cookie": "a=1", "x-request-id": "7"}
REPLACEMENTS: dict[str, Any] = {
    "Response": lambda c: Response("down", status=503),
    "c.text": lambda c: c.text("down", 503),
    "c.json": lambda c: c.json("down", 503, {"retry-after": "1"}),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("replacement", REPLACEMENTS)
async def test_headers_of_a_representation_go_with_it(replacement: str, engine: Engine) -> None:
    app = Kit()

    @app.use()
    async def replace(c: Context, next: Any) -> None:
        await next()
        c.res = REPLACEMENTS[replacement](c)

    app.get("/", lambda c: c.body(b"file", headers={**OF_A_FILE, **OF_THE_EXCHANGE}))
    status, lines, _ = await engine(app, "/")
    found = dict(lines)
    assert status == 503
    assert found.pop("content-type").startswith(("text/plain", "application/json"))
    assert {k: v for k, v in found.items() if k not in ("content-length", "retry-after")} == (
        OF_THE_EXCHANGE
    )


async def test_304_in_place_of_a_response_has_its_validators() -> None:
    app = Kit()

    @app.use()
    async def not_modified(c: Context, next: Any) -> None:
        await next()
        c.res = Response(None, status=304)

    app.get("/", lambda c: c.body(b"file", headers=OF_A_FILE))
    headers = dict((await app.request("/")).headers.items())
    names = ("cache-control", "etag", "last-modified")
    assert headers == {name: OF_A_FILE[name] for name in names}


# --- a second response -------------------------------------------------------------------------

SECOND = (
    "returned a Response after `await next()` or after setting c.res, which would be ignored: "
    "write c.res = response to replace the one there is, and return nothing"
)


async def late(c: Context, next: Any) -> Response:
    await next()
    return c.text("late")


async def late_raw(c: Context, next: Any) -> Response:
    await next()
    return Response("late")


def late_plain(c: Context, next: Any) -> Any:
    async def rest() -> Response:
        await next()
        return Response("late")

    return rest()


async def both(c: Context) -> Response:
    c.res = Response("one")
    return Response("two")


async def passing(c: Context, next: Any) -> None:
    await next()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "handlers",
    [
        [late, built_here],
        [late_raw, built_here],
        [late_plain, built_here],
        [passing, late, built_here],
        [passing, passing, late, built_here],
        [late],
        [passing, late],
        [both],
        [passing, both],
    ],
)
async def test_second_response_is_an_error(handlers: list[Any], engine: Engine) -> None:
    app = Kit()
    errors: list[str] = []

    @app.on_error()
    def on_error(error: Exception, c: Context) -> Response:
        errors.append(str(error))
        return c.text("refused", 500)

    app.get("/", *handlers)
    status, _, content = await engine(app, "/")
    assert (status, content) == (500, b"refused")
    [error] = errors
    assert error.endswith(SECOND)


async def test_response_that_is_there_may_be_returned() -> None:
    async def same(c: Context, next: Any) -> Response:
        await next()
        return c.res

    async def equal(c: Context, next: Any) -> Response:
        await next()
        return c.res.replace()

    for middleware in (same, equal):
        for engine in ENGINES:
            status, _, content = await engine(
                app_of(built_here, alone=False, middleware=middleware), "/"
            )
            assert (status, content) == (200, b"text")


# --- streams that are replaced -----------------------------------------------------------------


class Upstream:
    """A stream that notes when it is closed."""

    def __init__(self) -> None:
        self.closed = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield b"upstream"

    async def aclose(self) -> None:
        self.closed += 1


async def _wrap(body: Any) -> AsyncIterator[bytes]:
    async for chunk in body:
        yield chunk.upper()


async def by_res(c: Context) -> None:
    c.res = Response("new")


async def by_none(c: Context) -> None:
    c.res = None


async def by_none_first(c: Context) -> None:
    c.res = None
    c.res = Response("new")


async def by_replace(c: Context) -> None:
    c.res = c.res.replace(body=b"new")


async def by_wrapping(c: Context) -> None:
    c.res = c.res.replace(body=_wrap(c.res.body))


async def by_error(c: Context) -> None:
    raise ValueError


async def by_another_stream(c: Context) -> None:
    c.res = Response(chunks())


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "replace",
    [by_res, by_none, by_none_first, by_replace, by_wrapping, by_error, by_another_stream],
)
async def test_stream_that_is_replaced_is_closed(replace: Any, engine: Engine) -> None:
    upstream = Upstream()
    app = Kit()

    @app.use()
    async def middleware(c: Context, next: Any) -> None:
        await next()
        await replace(c)

    app.get("/", lambda c: Response(upstream))
    _, _, content = await engine(app, "/")
    assert upstream.closed == 1
    assert content == {by_wrapping: b"UPSTREAM", by_none: b""}.get(
        replace, b"ab" if replace is by_another_stream else content
    )


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("body", [b"new", "new", None, "stream"])
async def test_stream_that_a_handler_replaces_is_closed(body: Any, engine: Engine) -> None:
    upstream = Upstream()

    def handler(c: Context) -> Response:
        return Response(upstream).replace(body=chunks() if body == "stream" else body)

    await engine(Kit().get("/", handler), "/")
    assert upstream.closed == 1


@pytest.mark.parametrize("engine", ENGINES)
async def test_stream_of_a_second_response_is_closed(engine: Engine) -> None:
    upstream = Upstream()
    app = Kit()

    @app.use()
    async def late_stream(c: Context, next: Any) -> Response:
        await next()
        return Response(upstream)

    app.get("/", built_here)
    status, _, _ = await engine(app, "/")
    assert (status, upstream.closed) == (500, 1)


def test_second_response_is_an_error_in_a_new_process() -> None:
    """Modules that are imported at first use haven't been, unlike in the tests above."""
    code = """
from asyncio import run
from kit import Kit, Response
from kit.interface import HandlerError

class Upstream:
    closed = False
    def __aiter__(self): return self
    async def __anext__(self): raise StopAsyncIteration
    async def aclose(self): Upstream.closed = True

async def late(c, next):
    await next()
    return Response(Upstream())

app = Kit().use(late).get("/", lambda c: c.text("x"))
app.on_error(HandlerError, lambda error, c: c.text("refused", 500))
response = run(app.request("/"))
print(run(response.text()), Upstream.closed)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["refused", "True"]


@pytest.mark.parametrize("engine", ENGINES)
async def test_stream_that_the_response_of_an_error_replaces_is_closed(engine: Engine) -> None:
    upstream = Upstream()

    def refuse(c: Context) -> Response:
        raise HTTPException(403, res=Response(upstream).replace(body="no"))

    status, _, content = await engine(Kit().get("/", refuse), "/")
    assert (status, content, upstream.closed) == (403, b"no", 1)


@pytest.mark.parametrize("engine", ENGINES)
async def test_generator_that_is_replaced_runs_its_finally(engine: Engine) -> None:
    ended: list[str] = []

    async def stream() -> AsyncIterator[str]:
        try:
            yield "a"
            yield "b"
        finally:
            ended.append("finally")

    async def middleware(c: Context, next: Any) -> None:
        await next()
        c.res = Response("new")

    body = stream()
    await anext(body)
    await engine(Kit().use(middleware).get("/", lambda c: Response(body)), "/")
    assert ended == ["finally"]
