# SPDX-License-Identifier: MIT
"""`from_asgi`: what an application is told, and the response that comes of what it says.

Small applications, on asyncio and trio, in process and served. How a request ends, lifespans and
`from_wsgi` are in test_from_asgi_end.py; other frameworks and real servers are in
tests/servers/test_foreign_apps.py of the workspace.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from contextvars import ContextVar
from typing import Any
from urllib.parse import unquote

import anyio
import pytest

from kit import Context, File, Kit, Request, Response
from kit.asgi import from_asgi
from kit.request import clone_raw_request

Send = Callable[[dict[str, Any]], Awaitable[None]]
Receive = Callable[[], Awaitable[dict[str, Any]]]

START: dict[str, Any] = {"type": "http.response.start", "status": 200, "headers": []}


def mounted(app: Any, path: str = "/m") -> Kit:
    return Kit().mount(path, from_asgi(app))


def sending(*messages: dict[str, Any]) -> Any:
    """An application that sends messages, whatever it is asked."""

    async def app(scope: Any, receive: Receive, send: Send) -> None:
        for message in messages:
            await send(message)

    return app


def body(chunk: bytes, *, more: bool = False) -> dict[str, Any]:
    return {"type": "http.response.body", "body": chunk, "more_body": more}


# --- what the application is told --------------------------------------------------------------


class Telling:
    """An application that keeps the scope of its last request."""

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        self.scope = scope
        await sending(START, body(b""))(scope, receive, send)


async def scope_of(request: Request) -> dict[str, Any]:
    app = Telling()
    await from_asgi(app)(request)
    return app.scope


async def test_scope_of_a_request_made_in_process() -> None:
    request = Request("http://[::1]:8080/a%20b/%C3%A9?q=%20", method="patch", body="abc")
    assert await scope_of(request) == {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "PATCH",
        "scheme": "http",
        "path": "/a b/é",
        "raw_path": b"/a%20b/%C3%A9",
        "query_string": b"q=%20",
        "root_path": "",
        "headers": [
            (b"host", b"[::1]:8080"),
            (b"content-type", b"text/plain;charset=UTF-8"),
            (b"content-length", b"3"),
        ],
        "client": None,
        "server": ("::1", 8080),
        "extensions": {},
        "state": {},
    }
    assert (await scope_of(Request("https://example.com")))["server"] == ("example.com", 443)


async def test_a_mounted_application_knows_in_process_where_it_is_mounted() -> None:
    app = Telling()
    inner = Kit().mount("/:x/deep", from_asgi(app))
    seen: list[tuple[str, ...]] = []
    for path in ("/v1/caf%C3%A9/deep/a%3Fb?q=1", "/v1/x/deep"):
        await Kit().route("/v1", inner).request(path)
        seen.append(tuple(app.scope[key] for key in ("root_path", "path", "raw_path")))
    assert seen == [
        ("/v1/café/deep", "/v1/café/deep/a?b", b"/v1/caf%C3%A9/deep/a%3Fb"),
        ("/v1/x/deep", "/v1/x/deep/", b"/v1/x/deep/"),
    ]


def handing_on(app: Any, **options: Any) -> Kit:
    """Hands a request on as it is, which `mount` does not."""
    handler = from_asgi(app, **options)
    return Kit().all("*", lambda c: handler(c.req.raw))


async def test_scope_of_a_served_request_is_that_of_the_server(
    client: Any, http_scope: Any
) -> None:
    around = http_scope(
        "/m/a",
        extensions={"tls": {"version": 1}, "http.response.pathsend": {}},
        state={"a": 1},
        session={"user": "ada"},
        app="the app around",
        router="its router",
        app_root_path="",
        path_params={"a": "b"},
    )
    app = Telling()
    await handing_on(app)(around, client().receive, client().send)
    seen = app.scope
    kept = ("http_version", "method", "scheme", "path", "client", "server", "headers", "session")
    for name in kept:
        assert seen[name] == around[name]
    assert seen["extensions"] == {"tls": {"version": 1}}
    assert seen["state"] == {"a": 1}
    assert seen["asgi"]["spec_version"] == "2.3"
    assert not {"app", "router", "app_root_path", "path_params"} & seen.keys()
    # Both are its own to change.
    assert seen["state"] is not around["state"]
    assert seen["headers"] is not around["headers"]


@pytest.mark.parametrize(
    ("make", "around", "path", "raw_path", "root_path"),
    [
        pytest.param(handing_on, {}, "/m/a", b"/m/a", "", id="nothing cut"),
        pytest.param(mounted, {}, "/m/a", b"/m/a", "/m", id="cut"),
        pytest.param(mounted, {"path": "/m"}, "/m/", b"/m/", "/m", id="the root"),
        pytest.param(mounted, {"path": "/m/"}, "/m/", b"/m/", "/m", id="slash"),
        pytest.param(mounted, {"raw_path": None}, "/m/a", None, "/m", id="no raw_path"),
        pytest.param(
            lambda app: mounted(app, "/:any"),
            {"path": "/a/b/x y", "raw_path": b"/a%2Fb/x%20y"},
            "/a/b/x y",
            b"/a%2Fb/x%20y",
            "/a/b",
            id="encoded",
        ),
        pytest.param(
            mounted,
            {"path": "/m/~é", "raw_path": b"/m/%7E%c3%a9"},
            "/m/~é",
            b"/m/%7E%c3%a9",
            "/m",
            id="encoded in another way",
        ),
        pytest.param(
            lambda app: handing_on(app, ambiguous_paths=True),
            {"path": "/m/x/../a"},
            "/m/x/../a",
            b"/m/x/../a",
            "",
            id="dots stay, or a middleware could be passed by them",
        ),
        pytest.param(
            mounted, {"path": "/r/m/a", "root_path": "/r"}, "/r/m/a", b"/r/m/a", "/r/m", id="root"
        ),
        pytest.param(
            handing_on,
            {"path": "/r/m/a", "root_path": "/r/"},
            "/r/m/a",
            b"/r/m/a",
            "/r",
            id="a root path before, nothing cut",
        ),
        pytest.param(
            mounted, {"root_path": "/r"}, "/r/m/a", b"/r/m/a", "/r/m", id="a root path apart"
        ),
        pytest.param(
            lambda app: Kit().mount(
                "/m",
                from_asgi(app),
                replace_request=lambda _: Request("https://example.com/other/a%20b"),
            ),
            {},
            "/other/a b",
            b"/other/a%20b",
            "",
            id="rewritten",
        ),
    ],
)
async def test_paths(
    client: Any,
    make: Callable[[Any], Kit],
    around: dict[str, Any],
    path: str,
    raw_path: bytes,
    root_path: str,
) -> None:
    app = Telling()
    await client().ask(make(app), **around)
    seen = app.scope
    assert (seen["path"], seen["raw_path"], seen["root_path"]) == (path, raw_path, root_path)


async def test_query_stays_as_it_was_sent_unless_it_was_rewritten(client: Any) -> None:
    app = Telling()
    await client().ask(mounted(app), query_string=b"a='&b=%7e")
    assert app.scope["query_string"] == b"a='&b=%7e"
    other = Request("https://example.com/m/a?c=%27")
    kit = Kit().mount("/m", from_asgi(app), replace_request=lambda _: other)
    await client().ask(kit, query_string=b"a='&b=%7e")
    assert app.scope["query_string"] == b"c=%27"


async def test_length_of_a_body_that_was_read_before(client: Any) -> None:
    async def read(c: Context, next: Any) -> None:
        await c.req.text()
        await next()

    app = Telling()
    headers = [(b"content-length", b"1000"), (b"transfer-encoding", b"chunked")]
    kit = Kit().use("*", read).mount("/m", from_asgi(app))
    await client(b"ab", b"c").ask(kit, headers=headers)
    assert app.scope["headers"] == [(b"host", b"192.0.2.2"), (b"content-length", b"3")]


def test_root_path_below_a_mount(run: Any, client: Any) -> None:
    async def app(scope: Any, receive: Receive, send: Send) -> None:
        text = f"{scope['root_path']} {scope['path']}".encode()
        await sending(START, body(text))(scope, receive, send)

    handler = from_asgi(app)
    inner = Kit().mount("/in", handler)
    kit = Kit().mount("/m", handler).route("/:tenant", inner)
    kit.mount("/whole", handler, replace_request=False)
    kit.mount("/kit", from_asgi(Kit().mount("/n", handler)))

    async def main() -> None:
        for path, expected in [
            ("/m/a", "/m /m/a"),
            ("/acme/in/a/b", "/acme/in /acme/in/a/b"),
            ("/whole/a", " /whole/a"),
            ("/kit/n/a", "/kit/n /kit/n/a"),
        ]:
            assert (await client().ask(kit, path)).body.decode() == expected

    run(main)


def test_context_variables_flow_in(run: Any, client: Any) -> None:
    variable: ContextVar[str] = ContextVar("variable")

    async def app(scope: Any, receive: Receive, send: Send) -> None:
        await sending(START, body(variable.get().encode()))(scope, receive, send)

    def handler(c: Context) -> Any:
        variable.set("set")
        return from_asgi(app)(c.req.raw)

    assert run(client().ask, Kit().all("*", handler)).body == b"set"


# --- the body of the request -------------------------------------------------------------------


async def echo(scope: Any, receive: Receive, send: Send) -> None:
    await send(START)
    more = True
    while more:
        message = await receive()
        assert message["type"] == "http.request"
        more = message["more_body"]
        await send(body(message["body"], more=more))


@pytest.mark.parametrize("chunks", [(b"",), (b"abc",), (b"a", b"", b"b", b"c")])
def test_body_of_a_served_request(run: Any, client: Any, chunks: tuple[bytes, ...]) -> None:
    answer = run(client(*chunks).ask, mounted(echo))
    assert (answer.body, answer.complete) == (b"".join(chunks), True)


def test_body_of_a_request_made_in_process(run: Any) -> None:
    async def chunks() -> AsyncIterator[str]:
        yield "a"
        yield "b"

    async def main() -> None:
        for given, text in [("ab", "ab"), (chunks(), "ab"), ([b"a", b"b"], "ab"), (None, "")]:
            response = await mounted(echo).request("/m", {"method": "POST", "body": given})
            assert await response.text() == text

    run(main)


def test_body_after_a_middleware_has_read_it(run: Any, client: Any) -> None:
    app = Kit()

    @app.use()
    async def read(c: Context, next: Any) -> None:
        assert await c.req.text() == "abc"
        await next()

    app.mount("/m", from_asgi(echo))
    assert run(client(b"a", b"bc").ask, app).body == b"abc"


async def test_a_form_that_a_handler_has_read() -> None:
    """It is written anew, with the length that it has then."""
    form = (
        b"--XX\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n"
        b'--XX\r\ncontent-disposition: form-data; name="f"; filename="n.txt"\r\n'
        b"x-other: 1\r\n\r\nfile\r\n--XX--\r\n"
    )
    kind = {"content-type": "multipart/form-data; boundary=XX"}
    telling, echoing = Telling(), from_asgi(echo)
    kit = Kit()

    @kit.post("/")
    async def forward(c: Context) -> Response:
        assert (await c.req.parse_body())["a"] == "1"
        await from_asgi(telling)(await clone_raw_request(c.req))
        return await echoing(await clone_raw_request(c.req))

    headers = {**kind, "content-length": str(len(form))}
    answer = await (
        await kit.request("/", {"method": "POST", "headers": headers, "body": [form]})
    ).bytes()
    assert dict(telling.scope["headers"])[b"content-length"] == b"%d" % len(answer)
    sent = await Response(answer, headers=kind).form_data()
    file = sent.get("f")
    assert isinstance(file, File)
    assert (sent.get("a"), file.name, await file.text()) == ("1", "n.txt", "file")


def test_body_is_read_no_faster_than_the_application_takes_it(run: Any, client: Any) -> None:
    async def app(scope: Any, receive: Receive, send: Send) -> None:
        for _ in range(2):
            await receive()
        await anyio.wait_all_tasks_blocked()
        left.append(len(asking.received))
        await sending(START, body(b""))(scope, receive, send)

    left: list[int] = []
    asking = client(*(b"%d" % number for number in range(9)))
    run(asking.ask, mounted(app))
    assert left[0] >= 9 - 2 - 2  # one waits to be taken, one to be put there


def test_a_cancelled_receive_loses_nothing(run: Any, client: Any) -> None:
    """As Starlette's `is_disconnected` does it."""

    async def app(scope: Any, receive: Receive, send: Send) -> None:
        for _ in range(3):
            with anyio.CancelScope() as scope_of_look:
                scope_of_look.cancel()
                got.append(await receive())
            await anyio.wait_all_tasks_blocked()
        while not got or got[-1]["more_body"]:
            got.append(await receive())
        await sending(START, body(b""))(scope, receive, send)

    got: list[dict[str, Any]] = []
    run(client(b"a", b"b", b"c").ask, mounted(app))
    assert b"".join(message["body"] for message in got) == b"abc"


def test_a_body_that_breaks_off_is_raised_where_it_is_received(run: Any) -> None:
    async def chunks() -> AsyncIterator[str]:
        yield "a"
        raise ValueError("broken off")

    async def app(scope: Any, receive: Receive, send: Send) -> None:
        await receive()
        with pytest.raises(ValueError, match="broken off"):
            await receive()
        await sending(START, body(b"seen"))(scope, receive, send)

    async def main() -> str:
        response = await from_asgi(app)(Request("http://x/", method="POST", body=chunks()))
        return await response.text()

    assert run(main) == "seen"


async def test_a_body_that_was_read_is_refused() -> None:
    request = Request("http://x/", method="POST", body="abc")
    await request.text()
    with pytest.raises(TypeError, match=r"^The body was already read; it can be read once$"):
        await from_asgi(echo)(request)


def test_disconnect_after_the_response(run: Any, client: Any) -> None:
    async def app(scope: Any, receive: Receive, send: Send) -> None:
        await sending(START, body(b"abc"))(scope, receive, send)
        got.append((await receive())["type"])

    got: list[str] = []
    run(client(b"never", b"read").ask, mounted(app))
    assert got == ["http.disconnect"]


# --- the response ------------------------------------------------------------------------------


def test_status_and_headers(run: Any, client: Any) -> None:
    headers = [(b"Set-Cookie", b"a=1"), (b"set-cookie", b"b=2"), (b"x-a", b"\xe9")]
    app = sending({**START, "status": 418, "headers": headers}, body(b"tea"))

    async def main() -> None:
        response = await mounted(app).request("/m")
        assert (response.status, await response.text()) == (418, "tea")
        assert response.headers.get_set_cookie() == ["a=1", "b=2"]
        assert response.headers["x-a"] == "é"
        answer = await client().ask(mounted(app))
        assert answer.sent == [
            {
                "type": "http.response.start",
                "status": 418,
                "headers": [
                    (b"set-cookie", b"a=1"),
                    (b"set-cookie", b"b=2"),
                    (b"x-a", b"\xe9"),
                    (b"content-length", b"3"),
                ],
            },
            {"type": "http.response.body", "body": b"tea"},
        ]

    run(main)


@pytest.mark.parametrize("status", [204, 304])
@pytest.mark.parametrize("more", [False, True])
def test_statuses_without_a_body(run: Any, client: Any, status: int, more: bool) -> None:
    end = [body(b"x" * 10, more=True)] * 3 + [body(b"")] if more else [body(b"")]
    app = sending({**START, "status": status, "headers": [(b"etag", b"x")]}, *end)
    answer = run(client().ask, mounted(app))
    assert (answer.status, answer.body, answer.complete) == (status, b"", True)
    assert answer.sent[0]["headers"] == [(b"etag", b"x")]


@pytest.mark.parametrize("end", [[b""], [b"abc"], [b"a", b"bc"]])
def test_head(run: Any, client: Any, end: list[bytes]) -> None:
    """Some frameworks leave the body out by themselves, others leave that to the server."""
    chunks = [body(chunk, more=chunk is not end[-1]) for chunk in end]
    app = sending({**START, "headers": [(b"content-length", b"3")]}, *chunks)

    async def main() -> None:
        answer = await client().ask(mounted(app), method="HEAD")
        assert (answer.body, answer.complete) == (b"", True)
        assert answer.sent[0]["headers"] == [(b"content-length", b"3")]
        response = await mounted(app).request("/m", {"method": "HEAD"})
        assert (response.headers["content-length"], await response.text()) == ("3", "")

    run(main)


def test_response_is_streamed_as_it_is_read(run: Any) -> None:
    async def app(scope: Any, receive: Receive, send: Send) -> None:
        await send(START)
        await anyio.wait_all_tasks_blocked()
        for number in range(9):
            await send(body(b"%d" % number, more=True))
            sent.append(number)
        await send(body(b"end"))

    sent: list[int] = []

    async def main() -> None:
        response = await from_asgi(app)(Request("http://x/"))
        assert response.body is not None
        count = 0
        async for _ in response.body:
            await anyio.wait_all_tasks_blocked()
            count += 1
            assert len(sent) <= count + 1  # one ahead
        assert count == 10

    run(main)


@pytest.mark.parametrize(
    ("messages", "problem"),
    [
        ([], "ended without sending a response"),
        ([{**START, "status": 99}], "sent an invalid http.response.start: Invalid response status"),
        ([{**START, "status": "200"}], "sent an invalid http.response.start: Invalid response"),
        ([{"type": START["type"]}], "sent an invalid http.response.start: 'status'"),
        ([{**START, "headers": [("a", "b")]}], "sent an invalid http.response.start: string arg"),
        ([{**START, "headers": [(b"a", b"b\nc")]}], "sent an invalid http.response.start: Invalid"),
    ],
)
def test_no_response(run: Any, messages: Any, problem: str) -> None:
    with pytest.raises(RuntimeError) as caught:
        run(from_asgi(sending(*messages)), Request("http://x/"))
    text = str(caught.value)
    assert text.startswith(f"sending.<locals>.app ({__file__}:")
    assert f") {problem}" in text


@pytest.mark.parametrize(
    ("messages", "text"),
    [
        ([body(b"a")], "sent 'http.response.body' before its response"),
        ([START, START], "sent 'http.response.start' in the middle of its response"),
        ([START, body(b""), body(b"")], "sent 'http.response.body' after the end of its response"),
        (
            [{**START, "trailers": True}, {"type": "http.response.trailers", "headers": []}],
            "sent 'http.response.trailers' in the middle of its response",
        ),
        ([START, {"type": "http.response.body", "body": "a"}], "sent a body of str, expected by"),
    ],
)
def test_messages_that_are_refused(run: Any, messages: Any, text: str) -> None:
    async def app(scope: Any, receive: Receive, send: Send) -> None:
        with pytest.raises((RuntimeError, TypeError)) as caught:
            await sending(*messages)(scope, receive, send)
        refused.append(str(caught.value))
        await sending(START, body(b""))(scope, receive, send)

    refused: list[str] = []

    async def main() -> None:
        response = await from_asgi(app)(Request("http://x/"))
        await response.bytes()

    with suppress(RuntimeError):  # where START was sent before
        run(main)
    assert text in refused[0]


# --- paths that lead past middleware -------------------------------------------------------------


def guarded(handler: Any) -> Kit:
    def deny(c: Context, next: Any) -> Response:
        return c.text("denied", 403)

    return Kit().use("/api/admin/*", deny).mount("/api", handler)


def target(raw: str) -> dict[str, Any]:
    return {"path": unquote(raw), "raw_path": raw.encode()}


@pytest.mark.parametrize("raw", ["/api/api/admin/x", "/api/%61pi/admin/x", "/api/api"])
async def test_a_path_that_repeats_the_prefix_is_below_it(client: Any, raw: str) -> None:
    app = Telling()
    await client().ask(guarded(from_asgi(app)), **target(raw))
    assert (app.scope["path"], app.scope["root_path"]) == (unquote(raw), "/api")
    await guarded(from_asgi(app)).request(raw)
    assert (app.scope["path"], app.scope["root_path"]) == (unquote(raw), "/api")


@pytest.mark.parametrize("again", ["/api/api/x", "/api/x"])
async def test_prefix_within_the_same_prefix(client: Any, again: str) -> None:
    app = Telling()
    inner = Kit().mount("/api", from_asgi(app))
    answer = await client().ask(Kit().mount("/api", inner.fetch), **target(again))
    if again == "/api/x":
        assert answer.status == 404
    else:
        assert (app.scope["path"], app.scope["root_path"]) == ("/api/api/x", "/api/api")


AMBIGUOUS = [
    "/api/admin%2Fx",
    "/api/admin%2fx",
    "/api/admin%5Cx",
    "/api//admin/x",
    "/api/%2Fadmin/x",
    "/api/x%2f..%2fadmin/x",
    "/api/%2e%2fadmin/x",
    "/api/admin%00x",
    "/api/x/../admin/x",
    "/api/x/%2E./admin/x",
    "/api/.",
]
# In process, a URL resolves them.
RESOLVED = [raw for raw in AMBIGUOUS if re.search(r"/(\.|%2e){1,2}(/|$)", raw, re.IGNORECASE)]


def deny(c: Context, next: Any) -> Response:
    return c.text("denied", 403)


MODES = {
    "default": lambda handler: guarded(handler),
    "unchanged": lambda handler: (
        Kit().use("/api/admin/*", deny).mount("/api", handler, replace_request=False)
    ),
    "function": lambda handler: (
        Kit().use("/api/admin/*", deny).mount("/api", handler, replace_request=lambda each: each)
    ),
    "called": lambda handler: (
        Kit().use("/api/admin/*", deny).all("/api/*", lambda c: handler(c.req.raw))
    ),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("raw", AMBIGUOUS)
async def test_ambiguous_paths_are_refused(client: Any, raw: str, mode: str) -> None:
    app = Telling()
    around = MODES[mode](from_asgi(app))
    assert (await client().ask(around, **target(raw))).status == 400
    response = await around.request(raw)
    assert response.status == (400 if raw not in RESOLVED else 403 if "admin" in raw else 200)
    assert not hasattr(app, "scope") or raw == "/api/."


@pytest.mark.parametrize("raw", ["/api/admin%2Fx", "/api//admin/x"])
async def test_ambiguous_paths_may_be_allowed(client: Any, raw: str) -> None:
    app = Telling()
    await client().ask(guarded(from_asgi(app, ambiguous_paths=True)), **target(raw))
    assert (app.scope["path"], app.scope["raw_path"]) == (unquote(raw), raw.encode())


@pytest.mark.parametrize(
    "raw", ["/api/", "/api", "/api/a/", "/api/a.b/..c/%20/%3F/%25", "/api/admin%2%46x"]
)
async def test_other_paths_are_handed_on(client: Any, raw: str) -> None:
    app = Telling()
    await client().ask(guarded(from_asgi(app)), **target(raw))
    assert app.scope["path"] == unquote(raw) + ("/" if raw == "/api" else "")


@pytest.mark.parametrize(
    "raw", ["/%2Fevil.example/x", "/%5Cevil.example/x", "/%09%2Fevil/x", "/%0Aevil/x"]
)
async def test_a_parameter_can_not_make_another_host_of_the_root_path(
    client: Any, raw: str
) -> None:
    app = Telling()
    answer = await client().ask(Kit().mount("/:tenant", from_asgi(app)), **target(raw))
    assert answer.status == 400
    assert not hasattr(app, "scope")
