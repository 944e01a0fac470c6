# SPDX-License-Identifier: MIT
"""Calls: what becomes of arguments, responses, credentials and hostile requests."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import anyio
import pytest
from anyio.from_thread import start_blocking_portal
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp_peer import call, list_tools, message, post, text_of
from msgspec import Struct, defstruct

from kit import Context, HTTPException, Kit
from kit.bearer_auth import bearer_auth
from kit.context_storage import context_storage, get_context
from kit.mcp import mcp, tool
from kit.openapi import describe
from kit.request_id import request_id
from kit.typed import ServerSentEvent, typed
from kit.validator import validator

JSON = {"content-type": "application/json"}


def app_of(handler: Any, path: str = "/a", method: str = "GET", **options: Any) -> Kit:
    """An app whose only tool is `handler`, called `ask`."""
    app: Kit[Any, Any] = Kit()
    mcp(app, **options)
    app.on(method, path, tool(name="ask")(handler))
    return app


def responding(*arguments: Any, **more: Any) -> Kit:
    """An app whose tool sends one response; the arguments are those of `c.body`."""

    async def respond(c: Context[Any, Any]) -> Any:
        return c.body(*arguments, **more)

    return app_of(respond)


async def call_newest(app: Any, arguments: Any) -> Any:
    """Calls the tool `ask` by the version of the protocol that has no sessions."""
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    headers = {
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "ask",
    }
    params = {"name": "ask", "arguments": arguments, "_meta": meta}
    body = json.dumps(message("tools/call", params))
    response = await app.request("/mcp", method="POST", body=body, headers=headers)
    return (await response.json())["result"]


async def closed_stream(events: list[str], chunks: int) -> Any:
    try:
        for _ in range(chunks):
            yield b"x" * 10
    finally:
        events.append("closed")


# --- Arguments --------------------------------------------------------------------------------

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
SETTINGS = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


class Noted(Struct):
    """Headers that are declared, and so are arguments."""

    x_note: str = ""
    x_list: str = ""


DECLARED = validator("header", Noted)


def echoing() -> Kit:
    app: Kit[Any, Any] = Kit()
    mcp(app, json_response=True)

    class Query(Struct):
        one: str = ""
        many: list[str] = []

    @app.post("/echo/:part/:rest", use=[validator("query", Query), validator("json", Any)])
    @tool()
    async def echo(c: Context[Any, Any]) -> Any:
        query = c.req.valid("query")
        parts = [c.req.param("part"), c.req.param("rest")]
        return c.json([c.req.valid("json"), query.one, query.many, *parts])

    return app


@pytest.fixture(scope="module")
def echo_tool() -> Iterator[Callable[[Any], Any]]:
    """Calls the tool `echo` of a running app."""
    app = echoing()
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(app.running()):
        yield lambda arguments: portal.call(call, app, "echo", arguments)


text = st.text(st.characters(exclude_categories=["Cs"]), min_size=1)
segment = text.filter(lambda each: each not in (".", ".."))


@SETTINGS
@given(body=values, one=text, many=st.lists(text, max_size=3), part=segment, rest=segment)
def test_every_argument_reaches_the_handler_as_it_was_sent(
    echo_tool: Callable[[Any], Any], body: Any, one: str, many: list[str], part: str, rest: str
):
    arguments = {"body": body, "one": one, "many": many, "part": part, "rest": rest}
    result = echo_tool(arguments)
    assert result["structuredContent"] == {"result": [body, one, many, part, rest]}


def refusing() -> Kit:
    app: Kit[Any, Any] = Kit()
    mcp(app)
    app.get("/books/admin", lambda c: c.text("secret"))

    @app.get("/books/:id", use=DECLARED)
    @tool(name="ask")
    async def read_book(c: Context[Any, Any]) -> Any:
        return c.json([c.req.param("id"), c.req.header("x-note")])

    app.get("/", lambda c: c.text("secret"))
    return app


REFUSING = refusing()
PLAIN = app_of(lambda c: c.text(""))


async def test_fields_of_the_body_and_parameters_go_their_ways():
    class Body(Struct):
        title: str
        year: int | None = 1

    app: Kit[Any, Any] = Kit()
    mcp(app)

    @app.put("/books/:id{[0-9]+}", use=validator("json", Body))
    @tool(name="ask")
    async def put_book(c: Context[Any, Any]) -> Any:
        return c.json([c.req.param("id"), await c.req.json()])

    result = await call(app, "ask", {"id": "7", "title": "Emma", "year": None})
    assert result["structuredContent"] == {"result": ["7", {"title": "Emma", "year": None}]}
    refused = await call(app, "ask", {"id": "x", "title": "Emma"})
    assert text_of(refused) == "These arguments lead to another route of the app"


async def test_a_body_that_is_left_out_is_not_sent():
    body = {"content": {"application/json": {}}}

    async def put(c: Context[Any, Any]) -> Any:
        return c.json([await c.req.text(), c.req.header("content-type")])

    app = app_of(describe(request_body=body)(put), method="PUT")
    assert (await call(app, "ask"))["structuredContent"] == {"result": ["", None]}
    sent = await call(app, "ask", {"body": [1]})
    assert sent["structuredContent"] == {"result": ["[1]", "application/json"]}


async def test_numbers_and_bools_are_sent_as_json_has_them_and_null_is_left_out():
    async def ask_for(c: Context[Any, Any]) -> Any:
        c.req.query("number", float), c.req.query("flag", bool), c.req.header("x-list")
        c.req.query("none", str)
        return c.json([c.req.raw.url.partition("?")[2], c.req.header("x-list")])

    app: Kit[Any, Any] = Kit()
    mcp(app)
    app.get("/a", tool(name="ask")(ask_for), use=DECLARED)
    arguments = {"number": 1.5, "flag": True, "x-list": ["a", 1], "none": None}
    result = await call(app, "ask", arguments)
    assert result["structuredContent"] == {"result": ["number=1.5&flag=true", "a, 1"]}


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({}, "The argument id is missing"),
        ({"id": "."}, "An argument that is part of a path can't be '.' or '..'"),
        ({"id": ".."}, "An argument that is part of a path can't be '.' or '..'"),
        ({"id": ""}, "The argument id is part of a path: expected a single value"),
        ({"id": None}, "The argument id can't be sent: expected strings or numbers"),
        ({"id": {}}, "The argument id can't be sent: expected strings or numbers"),
        ({"id": ["a", "b"]}, "The argument id is part of a path: expected a single value"),
        ({"id": "admin"}, "These arguments lead to another route of the app"),
        (
            {"id": "7", "no": 1},
            "There is no argument 'no': expected id, x-note, x-list",
        ),
        (
            {"id": "7", "x-note": "a\r\nhost: b"},
            "The argument x-note is sent in a header: expected latin-1 text without control "
            "characters and without leading or trailing blanks",
        ),
    ],
)
async def test_arguments_that_cannot_be_sent_are_refused(arguments: Any, error: str):
    result = await call(REFUSING, "ask", arguments)
    assert result["isError"] is True
    assert text_of(result) == error


@pytest.mark.parametrize("value", ["../admin", "a/../../admin", "%2e%2e", "..%2Fadmin", "a\\..\\b"])
async def test_no_argument_leaves_its_segment_of_the_path(value: str):
    async def read_book(c: Context[Any, Any]) -> Any:
        return c.text(c.req.param("id"))

    assert text_of(await call(app_of(read_book, "/books/:id"), "ask", {"id": value})) == value


async def test_text_that_results_cannot_have_is_an_embedded_resource():
    kind = "text/plain; charset=utf-7"
    result = await call(responding(b"+2AA-", 200, {"content-type": kind}), "ask")
    assert b64decode(result["content"][0]["resource"]["blob"]) == b"+2AA-"


@pytest.mark.parametrize("number", ["NaN", "1e999", "-Infinity"])
async def test_numbers_that_are_no_json_are_refused(number: str):
    params = {"name": "echo", "arguments": {"body": "here", "part": "a", "rest": "b"}}
    body = json.dumps(message("tools/call", params)).replace('"here"', number)
    headers = {"accept": "application/json, text/event-stream", **JSON}
    response = await echoing().request("/mcp", method="POST", body=body, headers=headers)
    assert text_of((await response.json())["result"]) == (
        "The argument body has a number that JSON can't express"
    )


async def test_an_unpaired_surrogate_is_refused():
    async def search(c: Context[Any, Any]) -> Any:
        return c.text(c.req.query("q"))

    result = await call_newest(app_of(search), {"q": "\ud800"})
    assert text_of(result) == "The argument q has an unpaired surrogate"


async def test_another_route_of_a_mounted_app_is_not_reached():
    app: Kit[Any, Any] = Kit()
    mcp(app)
    app.mount("/books/old", lambda request, *_: Kit().fetch(request))
    app.get("/books/:id", tool(name="ask")(lambda c: c.text("mine")))
    assert text_of(await call(app, "ask", {"id": "new"})) == "mine"
    result = await call(app, "ask", {"id": "old"})
    assert text_of(result) == "These arguments lead to another route of the app"


async def test_routes_are_found_by_get_path_as_well():
    app: Kit[Any, Any] = Kit(get_path=lambda request: "/v1" + request.url.partition("/a")[1])
    mcp(app, path="/v1")
    app.get("/v1/:id", tool(name="ask")(lambda c: c.text(c.req.path)))
    tools = await list_tools(app, path="/")
    assert list(tools) == ["ask"]


# --- Responses --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((b'{"a":1}', 200, JSON), {"a": 1}),
        ((b"[1]", 200, {"content-type": "application/vnd.api+json"}), {"result": [1]}),
        ((b"null", 201, JSON), {"result": None}),
        ((b'["\\ud83d\\ude00"]', 200, JSON), {"result": ["\U0001f600"]}),
    ],
)
async def test_json_is_structured_content_and_text(arguments: Any, expected: Any):
    result = await call(responding(*arguments), "ask")
    assert result == {
        "content": [{"type": "text", "text": arguments[0].decode()}],
        "structuredContent": expected,
        "isError": False,
    }


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("héllo", 200, {"content-type": "text/plain; charset=utf-8"}), "héllo"),
        ((b"h\xe9llo", 200, {"content-type": 'text/plain; charset="latin-1"'}), "héllo"),
        (("a: 1", 200, {"content-type": "application/yaml"}), "a: 1"),
        (("a", 200, {"content-type": "text/plain; format=flowed"}), "a"),
        (("<svg/>", 200, {"content-type": "image/svg+xml"}), "<svg/>"),
        ((None, 204), "204 No Content"),
        ((None, 299), "299"),
        ((None, 303, {"location": "/books/7"}), "303 See Other: /books/7"),
    ],
)
async def test_text_and_empty_bodies_are_text(arguments: Any, expected: str):
    result = await call(responding(*arguments), "ask")
    assert result["isError"] is False
    assert text_of(result) == expected


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("image/png", {"type": "image", "mimeType": "image/png"}),
        ("audio/wav", {"type": "audio", "mimeType": "audio/wav"}),
    ],
)
async def test_images_and_audio_are_such(kind: str, expected: Any):
    result = await call(responding(b"\x00\xff", 200, {"content-type": kind}), "ask")
    (content,) = result["content"]
    assert b64decode(content.pop("data")) == b"\x00\xff"
    assert content == expected


@pytest.mark.parametrize(
    "kind",
    [
        "application/pdf",
        "text/plain",
        "text/plain; charset=no",
        "text/plain; charset=hex",
        "text/plain; charset=undefined",
    ],
)
async def test_other_bytes_are_an_embedded_resource(kind: str):
    result = await call(responding(b"\x00\xff", 200, {"content-type": kind}), "ask")
    (content,) = result["content"]
    resource = content["resource"]
    assert b64decode(resource.pop("blob")) == b"\x00\xff"
    assert resource == {"uri": "http://localhost/a", "mimeType": kind.partition(";")[0]}


async def test_items_of_a_stream_are_text():
    @typed
    async def items() -> AsyncIterator[ServerSentEvent[int]]:
        yield ServerSentEvent(1)
        yield ServerSentEvent(2)

    assert text_of(await call(app_of(items), "ask")) == "1\n2\n"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((b'{"title":"No"}', 404, {"content-type": "application/problem+json"}), '{"title":"No"}'),
        ((None, 403), "403 Forbidden"),
        (("Later", 429, {"content-type": "text/plain"}), "429 Too Many Requests: Later"),
        ((b"{", 200, JSON), "The response is not valid JSON, although it is declared as JSON"),
        ((b"[NaN]", 200, JSON), "The response is not valid JSON, although it is declared as JSON"),
        (
            (b'["\\uD800"]', 200, JSON),
            "The response is not valid JSON, although it is declared as JSON",
        ),
        (
            (b"", 200, {"content-type": "text/event-stream"}),
            "The response is a stream of events, which no tool can return",
        ),
        (
            (None, 200, {"content-type": "text/event-stream"}),
            "The response is a stream of events, which no tool can return",
        ),
        (
            (b"", 200, {"content-encoding": "gzip"}),
            "The response is compressed, although no compression was requested",
        ),
    ],
)
async def test_errors_are_told(arguments: Any, expected: str):
    result = await call(responding(*arguments), "ask")
    assert result["isError"] is True
    assert text_of(result) == expected


async def test_an_exception_of_a_handler_is_an_error_without_its_text():
    async def fail(c: Context[Any, Any]) -> Any:
        raise RuntimeError("secret")

    result = await call(app_of(fail), "ask")
    assert result["isError"] is True
    assert text_of(result) == "500 Internal Server Error: Internal Server Error"


@pytest.mark.parametrize("json_response", [False, True])
async def test_a_body_that_breaks_off_is_an_error_without_its_text(json_response: bool):
    async def breaking() -> Any:
        yield b"x"
        raise RuntimeError("secret")

    async def fail(c: Context[Any, Any]) -> Any:
        return c.body(breaking(), headers={"content-type": "text/plain"})

    result = await call(app_of(fail, json_response=json_response), "ask")
    assert result["isError"] is True
    assert text_of(result) == "The response failed before its end"


async def test_a_response_that_is_not_what_was_described_is_an_error():
    app: Kit[Any, Any] = Kit()
    mcp(app)

    @app.get("/a")
    @tool(name="ask")
    @describe(responses={200: dict[str, int]})
    async def none(c: Context[Any, Any]) -> Any:
        return c.body(None, 204)

    result = await call(app, "ask")
    assert text_of(result) == (
        "The response isn't JSON, although the app declares it: 204 No Content"
    )


@pytest.mark.parametrize("chunks", [2, 3])
async def test_streams_are_collected_up_to_a_size_and_closed(chunks: int):
    events: list[str] = []

    body = closed_stream(events, chunks)  # kept, so that it isn't closed for want of references

    async def stream(c: Context[Any, Any]) -> Any:
        return c.body(body, headers={"content-type": "text/plain"})

    result = await call(app_of(stream, max_result_size=20), "ask")
    assert events == ["closed"]
    expected = "x" * 20 if chunks == 2 else "The response has more than 20 bytes: request less data"
    assert text_of(result) == expected


async def test_a_body_in_memory_has_a_bound_too():
    async def large(c: Context[Any, Any]) -> Any:
        return c.text("x" * 21)

    result = await call(app_of(large, max_result_size=20), "ask")
    assert text_of(result) == "The response has more than 20 bytes: request less data"


async def test_a_call_that_takes_too_long_is_cancelled():
    events: list[str] = []

    async def slow(c: Context[Any, Any]) -> Any:
        try:
            await anyio.sleep_forever()
        finally:
            events.append("cancelled")

    result = await call(app_of(slow, timeout=0.01), "ask")
    assert result["isError"] is True
    assert text_of(result) == "The tool took more than 0.01 seconds"
    assert events == ["cancelled"]


# --- Rights -----------------------------------------------------------------------------------


async def test_a_call_passes_all_middleware_with_the_credentials_of_the_client():
    app: Kit[Any, Any] = Kit()
    mcp(app)
    app.use("/private/*", bearer_auth(token="t"))
    app.get("/private/a", tool(name="ask")(lambda c: c.text("secret")))
    assert text_of(await call(app, "ask", headers={"authorization": "Bearer t"})) == "secret"
    refused = await call(app, "ask")
    assert refused["isError"] is True
    assert text_of(refused).startswith("401 Unauthorized")


@pytest.mark.parametrize("cookies", [False, True])
async def test_headers_are_those_of_the_mcp_request_but_for_what_describes_that(cookies: bool):
    async def headers(c: Context[Any, Any]) -> Any:
        return c.json(c.req.header())

    app = app_of(headers, forward_cookies=cookies)
    sent = {
        "authorization": "Bearer t",
        "cookie": "a=1",
        "traceparent": "00-1",
        "x-forwarded-for": "192.0.2.1",
        "origin": "http://localhost",
        "if-none-match": "*",
        "range": "bytes=0-1",
        "x-http-method-override": "DELETE",
        "mcp-session-id": "s",
        "content-language": "en",
    }
    result = await call(app, "ask", headers=sent)
    kept = ["authorization", "traceparent", "x-forwarded-for", "origin", *["cookie"] * cookies]
    expected = {name: sent[name] for name in kept}
    found = {**result["structuredContent"]}
    accept = "application/json, application/jsonl, text/*;q=0.9, */*;q=0.8"
    assert found.pop("accept") == accept
    assert found == expected


async def test_a_model_cannot_change_a_header_that_the_client_sets():
    async def tenant(c: Context[Any, Any]) -> Any:
        return c.text(c.req.header("x-tenant") or "none")

    app: Kit[Any, Any] = Kit()
    mcp(app)
    kind = defstruct("Header", [("tenant", str, "")], rename={"tenant": "X-Tenant"})
    app.get("/a", tool(name="ask")(tenant), use=validator("header", kind))
    assert text_of(await call(app, "ask", {"X-Tenant": "b"})) == "b"
    result = await call(app, "ask", {"X-Tenant": "b"}, headers={"x-tenant": "a"})
    assert text_of(result) == "Leave X-Tenant out: the MCP client sets this header itself"


@pytest.mark.parametrize("sent", [{}, {"x-request-id": "from-the-client"}])
async def test_a_call_has_the_request_id_of_the_mcp_request(sent: dict[str, str]):
    app: Kit[Any, Any] = Kit()
    app.use(request_id(generator=lambda c: "made-here"))
    mcp(app)
    app.get("/a", tool(name="ask")(lambda c: c.text(c.get("request_id"))))
    expected = "from-the-client" if sent else "made-here"
    assert text_of(await call(app, "ask", headers=sent)) == expected


async def test_a_call_has_its_own_context():
    app: Kit[Any, Any] = Kit()
    app.use(context_storage())
    mcp(app)

    async def path(c: Context[Any, Any]) -> Any:
        return c.text(get_context().req.path)

    app.get("/a", tool(name="ask")(path))
    assert text_of(await call(app, "ask")) == "/a"


async def test_bindings_and_background_work_are_those_of_the_mcp_request():
    async def ask_for(c: Context[Any, Any]) -> Any:
        return c.text(c.env["database"])

    app = app_of(ask_for)
    body = message("tools/call", {"name": "ask", "arguments": {}})
    headers = {"accept": "application/json, text/event-stream"}
    response = await app.request(
        "/mcp", method="POST", json=body, headers=headers, env={"database": "books"}
    )
    assert '"text":"books"' in await response.text()


async def test_an_app_that_is_part_of_another_one_has_no_server():
    part = app_of(lambda c: c.text("secret"))
    for path in ("/part", "/"):
        whole: Kit[Any, Any] = Kit()
        errors: list[str] = []

        @whole.on_error
        def told(error: Exception, c: Any, errors: list[str] = errors) -> Any:
            errors.append(str(error))
            return c.text("no", 500)

        whole.route(path, part)
        response = await post(whole, message("tools/list"), path=path.rstrip("/") + "/mcp")
        assert response.status == 500
        assert errors == [
            "mcp() got an app that is part of another app, so its calls would skip the "
            "middleware of that app: pass the outermost app"
        ]


# --- Hosts and origins ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:8000", "LOCALHOST.", "127.0.0.1:80", "[::1]:8000"]
)
async def test_loopback_hosts_are_allowed(host: str):
    assert await list_tools(PLAIN, headers={"host": host})


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "localhost:80@evil",
        "localhost..",
        "localhost, localhost",
        "[::1",
        "[::1%25eth0]",
        "[::2]",
        "",
    ],
)
async def test_cve_2025_66416_dns_rebinding_is_refused(host: str):
    for method in ("tools/list", "initialize"):
        response = await post(PLAIN, message(method), headers={"host": host})
        assert response.status == 421
        assert await response.text() == (
            f"This MCP server does not accept requests for the host {host!r}: "
            "its operator can add it to mcp(allowed_hosts=...)"
        )


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "",
        "http://localhost:6274",
        "http://localhost.:8000",
        "http://[::1]:8000",
        "http://localhost:8000, http://localhost:8000",
    ],
)
async def test_cve_2025_66416_other_origins_are_refused(origin: str):
    headers = {"host": "localhost:8000", "origin": origin}
    response = await post(PLAIN, message("tools/list"), headers=headers)
    assert response.status == 403
    assert await response.text() == (
        f"This MCP server does not accept requests from the origin {origin!r}: "
        "its operator can add it to mcp(allowed_origins=...)"
    )


async def test_hosts_and_origins_can_be_allowed():
    handler = tool(name="ask")(lambda c: c.text(""))
    app: Kit[Any, Any] = Kit()
    mcp(app, allowed_hosts="books.example", allowed_origins="http://localhost:6274")
    mcp(app, path="/any", allowed_hosts="*")
    app.get("/a", handler)
    headers = {"host": "Books.example:443", "origin": "http://localhost:6274"}
    assert await list_tools(app, headers=headers)
    own = {"origin": "https://books.example"}
    assert await list_tools(app, path="https://books.example/mcp", headers=own)
    assert await list_tools(app, path="/any", headers={"host": "other.example"})


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE"])
async def test_no_stream_is_held_open_without_sessions(method: str):
    accept = {"accept": "text/event-stream"}
    async with PLAIN.running():
        with anyio.fail_after(20):
            response = await PLAIN.request("/mcp", method=method, headers=accept)
    assert response.status == 405
    assert response.headers["allow"] == "POST"


async def test_paths_below_the_server_are_left_to_others():
    app = app_of(lambda c: c.text(""))
    app.get("/mcp/docs", lambda c: c.text("docs"))
    assert await (await app.request("/mcp/docs")).text() == "docs"
    assert (await app.request("/mcp/no")).status == 404


# --- Sessions ---------------------------------------------------------------------------------

OPENING = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


async def opened(app: Any, **headers: str) -> str:
    response = await post(app, message("initialize", OPENING), headers=headers)
    assert response.status == 200
    await response.text()
    return str(response.headers["mcp-session-id"])


async def status(app: Any, session: str, **headers: str) -> int:
    headers["mcp-session-id"] = session
    response = await post(app, message("tools/list"), headers=headers)
    await response.text()
    return int(response.status)


async def test_a_session_is_only_for_the_credentials_that_opened_it():
    app = app_of(lambda c: c.text(""), stateless=False, json_response=True, forward_cookies=True)
    async with app.running():
        session = await opened(app, authorization="Bearer ada")
        assert await status(app, session, authorization="Bearer ada") == 200
        assert await status(app, session, authorization="Bearer bob") == 404
        assert await status(app, session) == 404
        assert await status(app, session, authorization="Bearer ada", cookie="a=1") == 404
        anonymous = await opened(app)
        assert await status(app, anonymous) == 200
        assert await status(app, anonymous, authorization="Bearer bob") == 404


@pytest.mark.parametrize("name", ["proxy-authorization", "x-key"])
async def test_a_session_is_bound_to_every_header_that_holds_credentials(name: str):
    key = {"type": "apiKey", "in": "header", "name": "X-Key"}
    handler = describe(security=key)(lambda c: c.text(""))
    app = app_of(handler, stateless=False, json_response=True)
    async with app.running():
        session = await opened(app, **{name: "ada"})
        assert await status(app, session, **{name: "ada"}) == 200
        assert await status(app, session, **{name: "bob"}) == 404


async def test_a_session_is_only_for_the_one_that_identify_names():
    async def identify(c: Any) -> str | None:
        return c.req.header("x-user")  # type: ignore[no-any-return]

    app = app_of(lambda c: c.text(""), stateless=False, json_response=True, identify=identify)
    async with app.running():
        session = await opened(app, **{"x-user": "ada", "authorization": "1"})
        assert await status(app, session, **{"x-user": "ada", "authorization": "2"}) == 200
        assert await status(app, session, **{"x-user": "bob", "authorization": "1"}) == 404


async def test_a_call_has_the_credentials_of_its_own_request_not_those_that_opened_the_session():
    async def token(c: Context[Any, Any]) -> Any:
        return c.text(c.req.header("authorization"))

    app = app_of(token, stateless=False, json_response=True, identify=lambda c: "ada")
    async with app.running():
        session = await opened(app, authorization="old")
        headers = {"mcp-session-id": session, "authorization": "new"}
        assert text_of(await call(app, "ask", headers=headers)) == "new"


async def test_a_stream_needs_a_session():
    app = app_of(lambda c: c.text(""), stateless=False)
    async with app.running():
        accept = {"accept": "text/event-stream"}
        for headers, status in ((accept, 400), ({**accept, "mcp-session-id": "no"}, 404)):
            assert (await app.request("/mcp", headers=headers)).status == status


async def test_identify_must_return_a_text():
    app = app_of(lambda c: c.text(""), stateless=False, identify=lambda c: 7)
    errors: list[str] = []
    app.on_error(lambda error, c: errors.append(str(error)) or c.text("no", 500))
    response = await post(app, message("initialize", OPENING))
    assert response.status == 500
    assert errors == ["mcp(identify=...) returned int: expected str or None"]


async def test_sessions_are_bounded_and_can_be_ended():
    app = app_of(lambda c: c.text(""), stateless=False, json_response=True, max_sessions=1)
    async with app.running():
        session = await opened(app)
        assert (await post(app, message("initialize", OPENING))).status == 503
        await app.request("/mcp", method="DELETE", headers={"mcp-session-id": session})
        assert await status(app, session) == 404
        await opened(app)


async def test_sessions_need_the_lifespan():
    app = app_of(lambda c: c.text(""), stateless=False)
    errors: list[str] = []
    app.on_error(lambda error, c: errors.append(str(error)) or c.text("no", 500))
    assert (await post(app, message("initialize", OPENING))).status == 500
    assert errors == [
        "mcp(stateless=False) keeps sessions from the startup of the app to its shutdown: use a "
        "server with lifespan events, or 'async with app.running()'"
    ]


async def test_the_lifespan_can_be_run_again():
    app = app_of(lambda c: c.text("yes"), stateless=False, json_response=True)
    for _ in range(2):
        async with app.running():
            assert await status(app, await opened(app)) == 200


def test_it_works_on_trio():
    async def main() -> None:
        app = app_of(lambda c: c.text("yes"))
        assert text_of(await call(app, "ask")) == "yes"
        async with app.running():
            assert text_of(await call(app, "ask")) == "yes"

    anyio.run(main, backend="trio")


async def test_the_newest_version_of_the_protocol_is_spoken():
    result = await call_newest(app_of(lambda c: c.text("yes")), {})
    assert text_of(result) == "yes"


async def test_http_exceptions_reach_the_model():
    async def refuse(c: Context[Any, Any]) -> Any:
        raise HTTPException(409, "Taken")

    assert text_of(await call(app_of(refuse), "ask")) == "409 Conflict: Taken"
