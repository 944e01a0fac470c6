# SPDX-License-Identifier: MIT
"""The ASGI entry with a hand-written server: messages, scopes, paths, bodies, cancellation.

SPEC: ASGI 3.0, HTTP & WebSocket message format 2.4. All of it runs on asyncio and on trio.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import unquote, urlsplit

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import URL, Context, HTTPException, Kit, Limits, Response

BACKENDS = ("asyncio", "trio")


@pytest.fixture(scope="module")
def serve(client: Any) -> Any:
    """Serves one request, whose response must be complete: `await serve(app, scope, *messages)`."""

    async def serve(app: Any, scope: dict[str, Any], *received: dict[str, Any]) -> Any:
        server = client(*received)
        await app(scope, server.receive, server.send)
        return server.check()

    return serve


def body(data: bytes, more: bool = False) -> dict[str, Any]:
    return {"type": "http.request", "body": data, "more_body": more}


# --- content-length, HEAD, statuses without a body ---------------------------------------------


RESPONSES = [
    pytest.param(lambda c: c.text("é"), 200, b"\xc3\xa9", b"2", id="text"),
    pytest.param(lambda c: c.json({"a": 1}), 200, b'{"a":1}', b"7", id="json"),
    pytest.param(lambda c: c.text("x", 201, {"x-a": "1"}), 201, b"x", b"1", id="slow path"),
    pytest.param(lambda c: c.body(None), 200, b"", b"0", id="no body"),
    pytest.param(lambda c: c.body(b""), 200, b"", b"0", id="empty body"),
    pytest.param(lambda c: c.redirect("/x"), 302, b"", b"0", id="redirect"),
    pytest.param(lambda c: c.body(None, 205), 205, b"", b"0", id="205"),
    pytest.param(lambda c: c.body(None, 204), 204, b"", None, id="204"),
    pytest.param(lambda c: c.body(None, 304), 304, b"", None, id="304"),
    pytest.param(
        lambda c: c.text("abc", headers={"content-length": "99"}), 200, b"abc", b"3", id="wrong"
    ),
    pytest.param(
        lambda c: c.text("abc", headers={"Content-Length": ["1", "2"]}), 200, b"abc", b"3", id="two"
    ),
    pytest.param(lambda c: Response("raw"), 200, b"raw", b"3", id="raw Response"),
    pytest.param(lambda c: c.not_found(), 404, b"404 Not Found", b"13", id="404"),
    pytest.param(lambda c: c.nothing, 500, b"Internal Server Error", b"21", id="500"),
    pytest.param(lambda c: c.body(["ab", "", b"c"]), 200, b"abc", None, id="stream"),
    pytest.param(
        lambda c: c.body(["abc"], headers={"content-length": "3"}), 200, b"abc", b"3", id="known"
    ),
]


@pytest.mark.parametrize(("handler", "status", "content", "length"), RESPONSES)
@pytest.mark.parametrize("around", [False, True], ids=["alone", "in a chain"])
def test_response(
    run: Any,
    http_scope: Any,
    serve: Any,
    handler: Any,
    status: int,
    content: bytes,
    length: bytes | None,
    around: bool,
) -> None:
    app = Kit()
    if around:

        @app.use("*")
        async def middleware(c: Context, next: Any) -> None:
            await next()
            c.header("x-around", "1")

    app.get("/", handler)
    get = run(serve, app, http_scope())
    assert (get.status, get.body) == (status, content)
    assert get.header("content-length") == ([] if length is None else [length])
    head = run(serve, app, http_scope(method="HEAD"))
    assert (head.status, head.body) == (status, b"")
    if content:
        assert sorted(head.lines) == sorted(get.lines)
    if around:
        assert get.header("x-around") == head.header("x-around") == [b"1"]


@pytest.mark.parametrize("around", [False, True], ids=["alone", "in a chain"])
@pytest.mark.parametrize("make", ["text", "json", "html"])
def test_headers_of_res_are_those_of_the_response_made_after_it(
    run: Any, http_scope: Any, serve: Any, make: str, around: bool
) -> None:
    app = Kit()
    if around:
        app.use(pass_on)

    @app.get("/")
    def handler(c: Context) -> Response:
        c.res.headers.set("x-own", "1")
        response: Response = getattr(c, make)("ok")
        return response

    assert run(serve, app, http_scope()).header("x-own") == [b"1"]


async def pass_on(c: Context, next: Any) -> None:
    await next()


def test_head_keeps_the_length_that_a_handler_gives(run: Any, http_scope: Any, serve: Any) -> None:
    app = Kit().get("/", lambda c: c.body(None, 200, {"content-length": "1000"}))
    head = run(serve, app, http_scope(method="HEAD"))
    assert head.header("content-length") == [b"1000"]
    assert run(serve, app, http_scope()).header("content-length") == [b"0"]


def test_204_has_no_content_length_even_if_a_handler_sets_one(
    run: Any, http_scope: Any, serve: Any
) -> None:
    app = Kit().get("/", lambda c: c.body(None, 204, {"content-length": "5"}))
    assert run(serve, app, http_scope()).header("content-length") == []


def test_304_may_keep_its_content_length(run: Any, http_scope: Any, serve: Any) -> None:
    app = Kit().get("/", lambda c: c.body(None, 304, {"content-length": "5", "etag": '"x"'}))
    assert run(serve, app, http_scope()).header("content-length") == [b"5"]


def test_a_kept_response_answers_again_and_again(run: Any, http_scope: Any, serve: Any) -> None:
    kept = Response("kept")
    app = Kit().get("/", lambda c: kept)
    for method in ("GET", "HEAD", "GET"):
        assert run(serve, app, http_scope(method=method)).header("content-length") == [b"4"]


def test_duplicate_headers_both_ways(run: Any, http_scope: Any, serve: Any) -> None:
    app = Kit()

    @app.get("/")
    def handler(c: Context) -> Response:
        c.header("set-cookie", "a=1", append=True)
        c.header("set-cookie", "b=2", append=True)
        return c.json([c.req.header("x-a"), c.req.raw.headers.get_all("x-a"), c.req.header("X-B")])

    lines = [(b"x-a", b"1"), (b"host", b"h"), (b"x-a", b"2"), (b"x-b", b"\xe9")]
    answer = run(serve, app, http_scope(headers=lines))
    assert answer.body.decode() == '["1, 2",["1","2"],"é"]'
    assert answer.header("set-cookie") == [b"a=1", b"b=2"]


def test_a_response_whose_body_was_read_is_a_500_and_logged(
    run: Any, http_scope: Any, serve: Any, caplog: pytest.LogCaptureFixture
) -> None:
    app = Kit()

    @app.use("*")
    async def reader(c: Context, next: Any) -> None:
        await next()
        await c.res.text()

    app.get("/", lambda c: c.text("text"))
    assert run(serve, app, http_scope()).status == 500
    assert len(caplog.records) == 1


# --- the path ----------------------------------------------------------------------------------


PATHS = [
    pytest.param({"path": "/a b", "raw_path": b"/a%20b"}, "/a b", id="encoded blank"),
    pytest.param({"path": "/é", "raw_path": b"/%C3%A9"}, "/é", id="encoded UTF-8"),
    pytest.param({"path": "/a/b", "raw_path": b"/a%2Fb"}, "/a%2Fb", id="encoded slash"),
    pytest.param({"path": "/%41", "raw_path": b"/%2541"}, "/%2541", id="encoded percent"),
    pytest.param({"path": "/plain", "raw_path": None}, "/plain", id="raw_path None"),
    pytest.param({"path": "/a b%?#", "raw_path": None}, "/a b%25%3F%23", id="None, to encode"),
    pytest.param({"path": "", "raw_path": b""}, "/", id="empty"),
    pytest.param({"path": "//x", "raw_path": b"//x"}, "//x", id="two slashes"),
    pytest.param({"path": "/r/x", "raw_path": b"/r/x", "root_path": "/r"}, "/x", id="root_path"),
    pytest.param({"path": "/r", "raw_path": b"/r", "root_path": "/r"}, "/", id="root alone"),
    pytest.param({"path": "/rx", "raw_path": b"/rx", "root_path": "/r"}, "/rx", id="not below"),
    pytest.param({"path": "/x", "raw_path": b"/x", "root_path": "/r"}, "/x", id="taken off"),
    pytest.param(
        {"path": "/r/x", "raw_path": b"/r/x", "root_path": "/r/"}, "/x", id="slash at end"
    ),
    pytest.param(
        {"path": "/a b/é", "raw_path": b"/a%20b/%C3%A9", "root_path": "/a b"}, "/é", id="root, both"
    ),
    pytest.param(
        {"path": "/r/a/b", "raw_path": b"/r/a%2Fb", "root_path": "/r"}, "/a%2Fb", id="root, slash"
    ),
    pytest.param(
        {"path": "/r%/x", "raw_path": b"/r%25/x", "root_path": "/r%"}, "/x", id="root, percent"
    ),
]


@pytest.mark.parametrize(("more", "path"), PATHS)
@pytest.mark.parametrize("strict", [True, False])
def test_routing_path(
    run: Any, http_scope: Any, serve: Any, more: dict[str, Any], path: str, strict: bool
) -> None:
    app = Kit(strict=strict).get("/*", lambda c: c.text(c.req.path))
    assert run(serve, app, http_scope(**more)).body.decode() == path


@pytest.mark.parametrize("missing", ["raw_path", "root_path"])
def test_optional_keys_of_the_scope(run: Any, http_scope: Any, serve: Any, missing: str) -> None:
    scope = http_scope("/a/b")
    del scope[missing]
    app = Kit().get("/a/:x", lambda c: c.text(c.req.param("x")))
    assert run(serve, app, scope).body == b"b"


def test_method_is_as_sent_and_query_is_left_alone(run: Any, http_scope: Any, serve: Any) -> None:
    app = Kit().on("PURGE", "/p", lambda c: c.text(f"{c.req.method} {c.req.query('q')}"))
    scope = http_scope("/p?q=%20+%C3%A9", "PURGE")
    assert run(serve, app, scope).body.decode() == "PURGE   é"
    assert run(serve, app, http_scope("/p", "purge")).status == 404


@pytest.mark.parametrize(
    ("host", "url"),
    [
        (b"example.com:8080", "http://example.com:8080/x?q=1"),
        (b"[::1]:80", "http://[::1]/x?q=1"),
        (b"", "http://10.0.0.1:81/x?q=1"),
        (b"evil/path", "http://10.0.0.1:81/x?q=1"),
        (b"a b", "http://10.0.0.1:81/x?q=1"),
        (b"example.com:99999", "http://10.0.0.1:81/x?q=1"),
        (b"256.256.256.256", "http://10.0.0.1:81/x?q=1"),
    ],
)
def test_url_whatever_the_host_header_is(
    run: Any, http_scope: Any, serve: Any, host: bytes, url: str
) -> None:
    scope = http_scope("/x?q=1", headers=[(b"host", host)], server=("10.0.0.1", 81))
    app = Kit().get("/x", lambda c: c.text(c.req.url))
    assert run(serve, app, scope).body.decode() == url


@pytest.mark.parametrize("has_raw_path", [True, False])
@pytest.mark.parametrize("target", ["/ad%0Amin", "/a%09/%0D", "/a%20", "/%00", "/%20%1F"])
def test_url_has_every_character_of_the_path(
    run: Any, http_scope: Any, serve: Any, target: str, has_raw_path: bool
) -> None:
    app = Kit().get("/*", lambda c: c.text(c.req.url))
    scope = http_scope(unquote(target), raw_path=target.encode() if has_raw_path else None)
    assert urlsplit(run(serve, app, scope).body.decode()).path == target


def test_hash_sign_is_part_of_the_query(run: Any, http_scope: Any, serve: Any) -> None:
    """A request has no fragment; some servers take a `#` in the target all the same."""
    app = Kit().get("/*", lambda c: c.text(f"{c.req.path} {c.req.url}"))
    scope = http_scope("/a", raw_path=b"/a", query_string=b"q=1#2")
    path, url = run(serve, app, scope).body.decode().split(" ")
    assert (path, url.partition("/a")[1:]) == ("/a", ("/a", "?q=1%232"))
    assert run(serve, app, http_scope("/a#/b", raw_path=b"/a#/b")).status == 400


def test_get_path_gets_the_request_of_the_scope(run: Any, http_scope: Any, serve: Any) -> None:
    seen: list[Any] = []

    def get_path(request: Any) -> str:
        seen.append(request)
        return "/" + URL(request.url).hostname

    app = Kit(get_path=get_path).get(
        "/example.com", lambda c: seen.append(c.req.raw) or c.text("y")
    )
    scope = http_scope("/any")
    assert run(serve, app, scope).body == b"y"
    assert seen[0] is seen[1]
    assert seen[0].scope is scope


def test_get_path_that_raises_is_a_500(
    run: Any, http_scope: Any, serve: Any, caplog: pytest.LogCaptureFixture
) -> None:
    def get_path(request: Any) -> str:
        raise ValueError("get_path fails")

    app = Kit(get_path=get_path)
    assert run(serve, app, http_scope()).status == 500
    assert [str(r.exc_info[1]) for r in caplog.records if r.exc_info] == ["get_path fails"]


@given(
    raw=st.binary(max_size=12).map(lambda data: b"/" + data.replace(b"?", b"")),
    backend=st.sampled_from(BACKENDS),
)
def test_every_raw_path_gets_a_whole_answer(
    http_scope: Any, serve: Any, raw: bytes, backend: str
) -> None:
    app = Kit().get("/:a/*", lambda c: c.json([c.req.path, c.req.param("a"), c.req.url]))
    scope = http_scope(path=raw.decode("utf-8", "replace"), raw_path=raw)
    answer = anyio.run(serve, app, scope, backend=backend)
    assert answer.status in ((400,) if b"#" in raw else (200, 404))
    assert answer.header("content-length") == [b"%d" % len(answer.body)]


# --- the body of the request -------------------------------------------------------------------


def echo_app(**options: Any) -> Kit:
    async def echo(c: Context) -> Response:
        return c.body(await c.req.bytes())

    return Kit(**options).post("/", echo)


@pytest.mark.parametrize(
    "messages",
    [
        pytest.param([body(b"abc")], id="one message"),
        pytest.param([body(b"a", True), body(b"", True), body(b"bc", False)], id="three"),
        pytest.param([body(b"abc", True), body(b"")], id="empty end"),
        pytest.param([{"type": "http.request", "body": b"abc"}], id="no more_body"),
        pytest.param([body(b"abc", True), {"type": "http.request"}], id="bare end"),
    ],
)
def test_request_body(run: Any, http_scope: Any, serve: Any, messages: Any) -> None:
    assert run(serve, echo_app(), http_scope(method="POST"), *messages).body == b"abc"


def test_disconnect_in_the_body_is_no_fault(
    run: Any, http_scope: Any, serve: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    calls: list[Any] = []
    app = echo_app().on_error(lambda error, c: calls.append(error) or c.text("x"))
    run(serve, app, http_scope(method="POST"), body(b"a", True), {"type": "http.disconnect"})
    assert (calls, caplog.records) == ([], [])


def test_disconnect_seen_by_a_handler_lets_it_clean_up(
    run: Any, http_scope: Any, serve: Any
) -> None:
    trace: list[str] = []
    app = Kit()

    @app.post("/")
    async def handler(c: Context) -> Response:
        try:
            return c.text(await c.req.text())
        finally:
            trace.append("cleaned up")

    run(serve, app, http_scope(method="POST"), {"type": "http.disconnect"})
    assert trace == ["cleaned up"]


def test_body_beyond_the_limit_is_413_and_leaves_no_generator_open(
    run: Any, http_scope: Any, serve: Any
) -> None:
    # Under trio, a generator that is dropped half-way is a ResourceWarning.
    app = echo_app(limits=Limits(max_body_size_bytes=3))
    answer = run(serve, app, http_scope(method="POST"), body(b"ab", True), body(b"cd", True))
    assert (answer.status, answer.body) == (413, b"The body is larger than 3 bytes")


def test_handler_that_never_reads_the_body_answers(run: Any, http_scope: Any, serve: Any) -> None:
    app = Kit().post("/", lambda c: c.text("done"))
    assert run(serve, app, http_scope(method="POST"), body(b"a", True)).body == b"done"


# --- other scopes ------------------------------------------------------------------------------


def test_unknown_scope_type(run: Any, serve: Any) -> None:
    with pytest.raises(RuntimeError) as caught:
        run(serve, Kit(), {"type": "telepathy"})
    assert str(caught.value) == "Kit can't serve the ASGI scope type 'telepathy'"


# --- cancellation and a server that fails ------------------------------------------------------


def test_cancellation_by_the_server_passes_through_and_closes_the_form(
    run: Any, http_scope: Any, serve: Any
) -> None:
    kept: list[Any] = []
    trace: list[str] = []
    app = Kit(limits=Limits(spool_size_bytes=1))

    @app.post("/")
    async def handler(c: Context) -> Response:
        form = await c.req.form_data()
        kept.append(form.get("f"))
        try:
            await anyio.sleep_forever()
        finally:
            trace.append("finally")
        return c.text("never")

    content = (
        b'--B\r\ncontent-disposition: form-data; name="f"; filename="f"\r\n\r\n'
        + b"x" * 100
        + b"\r\n--B--\r\n"
    )
    headers = [(b"content-type", b"multipart/form-data; boundary=B")]

    async def main() -> bool:
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as group:

                async def request() -> None:
                    await serve(app, http_scope(method="POST", headers=headers), body(content))

                group.start_soon(request)
                while not kept:
                    await anyio.lowlevel.checkpoint()
                scope.cancel()
        with pytest.raises(ValueError, match="is gone"):
            await kept[0].bytes()
        return scope.cancelled_caught

    assert run(main)
    assert trace == ["finally"]


def test_send_raising_oserror_passes_and_closes(run: Any, http_scope: Any) -> None:
    class GoneError(OSError):
        pass

    async def main() -> None:
        async def receive() -> dict[str, Any]:
            return body(b"")

        async def send(message: dict[str, Any]) -> None:
            raise GoneError

        app = Kit().get("/", lambda c: c.text("x")).on_error(lambda e, c: c.text("never"))
        with pytest.raises(GoneError):
            await app(http_scope(), receive, send)

    run(main)


def test_requests_side_by_side_do_not_see_each_other(run: Any, http_scope: Any, serve: Any) -> None:
    app = Kit()

    @app.use("*")
    async def middleware(c: Context, next: Any) -> None:
        c.set("id", c.req.query("id"))
        await next()
        c.header("x-id", c.get("id"))

    @app.get("/:id")
    async def handler(c: Context) -> Response:
        await anyio.sleep(0)
        if c.get("id") == "7":
            raise HTTPException(418, "seven")
        return c.text(f"{c.get('id')} {c.req.param('id')}")

    answers: dict[int, Any] = {}

    async def one(number: int) -> None:
        answers[number] = await serve(app, http_scope(f"/{number}?id={number}"))

    async def main() -> None:
        async with anyio.create_task_group() as group:
            for number in range(20):
                group.start_soon(one, number)

    run(main)
    for number, answer in answers.items():
        assert answer.header("x-id") == [b"%d" % number]
        assert answer.body == (b"seven" if number == 7 else b"%d %d" % (number, number))


def test_get_path_that_gives_no_path_is_told(
    run: Any, http_scope: Any, serve: Any, caplog: pytest.LogCaptureFixture
) -> None:
    app = Kit(get_path=lambda request: request.url.encode())  # type: ignore[arg-type,return-value]
    assert run(serve, app, http_scope()).status == 500
    [error] = [str(r.exc_info[1]) for r in caplog.records if r.exc_info and r.exc_info[1]]
    assert error.endswith("returned bytes, expected a str")


async def _spoil(message: dict[str, Any]) -> None:
    """What a server may do with a message once it has it."""
    message.pop("body", None)
    message.get("headers", []).append((b"x-server", b"1"))
    message["type"] = "spoiled"


@pytest.mark.parametrize("path", ["/", "/stream", "/nothing"])
async def test_messages_belong_to_the_server(http_scope: Any, path: str) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        yield b"a"
        yield b"b"

    app = Kit().get("/", lambda c: c.text("x")).get("/stream", lambda c: c.body(chunks()))
    answers = []
    for _ in range(2):
        kept: list[dict[str, Any]] = []

        async def send(message: dict[str, Any], kept: Any = kept) -> None:
            kept.append({**message, "headers": list(message.get("headers", []))})
            await _spoil(message)

        await app(http_scope(path), _no_message, send)
        answers.append(kept)
    assert answers[0] == answers[1]


async def test_streamed_messages_stay_as_they_were_sent(http_scope: Any, serve: Any) -> None:
    app = Kit().get("/", lambda c: c.body(iter([b"a", b"b", b"c"])))
    answer = await serve(app, http_scope())
    assert [message["body"] for message in answer.sent[1:]] == [b"a", b"b", b"c", b""]


async def _no_message() -> dict[str, Any]:
    raise AssertionError("nothing is to be received")


def test_head_of_a_stream_receives_nothing(run: Any, http_scope: Any) -> None:
    closed = []

    async def chunks() -> AsyncIterator[bytes]:
        yield b"a"

    class Body:
        def __aiter__(self) -> AsyncIterator[bytes]:
            return chunks()

        def close(self) -> None:
            closed.append(True)

    async def send(message: dict[str, Any]) -> None:
        await anyio.lowlevel.checkpoint()
        sent.append(message)

    sent: list[dict[str, Any]] = []
    app = Kit().get("/", lambda c: c.body(Body()))
    run(app, http_scope(method="HEAD"), _no_message, send)
    assert [message.get("body") for message in sent] == [None, b""]
    assert closed == [True]


class _Unfinished(Response):
    """A response that has no body, headers or status, as its class forgot to make them."""

    def __init__(self) -> None: ...


async def test_what_setting_a_response_raises_is_a_500(http_scope: Any, serve: Any) -> None:
    async def middleware(c: Context, next: Any) -> Response:
        c.res.headers.set("x-seen", "1")
        return _Unfinished()

    app = Kit().use(middleware).get("/", lambda c: c.text("x"))
    answer = await serve(app, http_scope())
    assert (answer.status, answer.body) == (500, b"Internal Server Error")


async def test_what_setting_a_response_raises_is_for_the_part_it_came_from(
    http_scope: Any, serve: Any
) -> None:
    async def middleware(c: Context, next: Any) -> Response:
        c.res.headers.set("x-seen", "1")
        return _Unfinished()

    part = Kit().use(middleware).on_error(lambda error, c: c.text("of the part", 500))
    answer = await serve(Kit().route("/part", part), http_scope("/part"))
    assert (answer.status, answer.body) == (500, b"of the part")
