# SPDX-License-Identifier: MIT
"""Which answers are indented, and what becomes of their headers."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from decimal import Decimal
from typing import Any

import anyio
import pytest
from anyio.lowlevel import checkpoint
from hypothesis import given
from hypothesis import strategies as st

from kit import Context, Kit, Response
from kit.interface import plugins
from kit.pretty_json import pretty_json

TEXT = '{"b":[1,2.50],"a":{}}'
PRETTY = '{\n  "b": [\n    1,\n    2.50\n  ],\n  "a": {}\n}'


def app_with(
    body: Any = TEXT,
    headers: dict[str, str] | None = None,
    status: int = 200,
    content_type: str | None = "application/json",
    **options: Any,
) -> Kit:
    app = Kit()
    app.use(pretty_json(**options))
    fields = {} if content_type is None else {"Content-Type": content_type}
    app.get("/", lambda c: c.body(body, status, {**fields, **(headers or {})}))
    return app


async def text_of(app: Kit, url: str = "/?pretty", method: str = "GET") -> str:
    return await (await app.request(url, {"method": method})).text()


async def served(app: Kit, query: bytes = b"", method: str = "GET") -> tuple[dict[str, str], bytes]:
    """The headers and the body as a server is given them."""
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": method,
        "scheme": "http",
        "path": "/",
        "raw_path": b"/",
        "root_path": "",
        "query_string": query,
        "headers": [(b"host", b"localhost")],
    }
    await app(scope, receive, send)
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return headers, b"".join(message.get("body", b"") for message in sent[1:])


# --- when ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("url", ["/?pretty", "/?pretty=", "/?pretty=false", "/?a=1&pretty=1&b"])
def test_the_query_asks_for_it(run: Callable[..., Any], url: str) -> None:
    assert run(text_of, app_with(), url) == PRETTY


@pytest.mark.parametrize("url", ["/", "/?", "/?PRETTY", "/?prettyx", "/?a=pretty"])
def test_nothing_else_does(run: Callable[..., Any], url: str) -> None:
    assert run(text_of, app_with(), url) == TEXT


def test_the_name_of_the_parameter_is_an_option(run: Callable[..., Any]) -> None:
    assert run(text_of, app_with(query="läsbar"), "/?l%C3%A4sbar") == PRETTY
    assert run(text_of, app_with(query="fmt"), "/?pretty") == TEXT


def test_it_can_be_forced(run: Callable[..., Any]) -> None:
    assert run(text_of, app_with(force=True), "/") == PRETTY


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json",
        "APPLICATION/JSON",
        "application/json; charset=utf-8",
        "application/json ;charset=utf-8",
        "application/problem+json",
        "application/vnd.a+b!c+json",
        "application/vnd.api.v1_2-x+json; a=b",
    ],
)
def test_types_that_are_indented(run: Callable[..., Any], content_type: str) -> None:
    assert run(text_of, app_with(content_type=content_type)) == PRETTY


@pytest.mark.parametrize(
    "content_type",
    [
        "text/plain",
        "text/json",
        "application/jsonp",
        "application/x-json",
        "application/json5",
        "application/json-seq",
        "model/gltf+json",
        "application/+json",
        "xapplication/json",
        "text/plain, application/json",
    ],
)
def test_types_that_are_not(run: Callable[..., Any], content_type: str) -> None:
    assert run(text_of, app_with(content_type=content_type)) == TEXT


def test_an_answer_without_a_type_is_left_alone(run: Callable[..., Any]) -> None:
    assert run(text_of, app_with(TEXT.encode(), content_type=None)) == TEXT


def test_errors_and_not_found_are_indented_too(run: Callable[..., Any]) -> None:
    app = Kit()
    app.use(pretty_json())
    app.on_error(lambda error, c: c.json({"error": str(error)}, 500))
    app.not_found(lambda c: c.json([404], 404))

    @app.get("/fault")
    def fault(c: Context) -> Response:
        raise ValueError("x")

    assert run(text_of, app, "/fault?pretty") == '{\n  "error": "x"\n}'
    assert run(text_of, app, "/absent?pretty") == "[\n  404\n]"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"not json",
        b'{"a":1',
        b'{"a":1}}',
        b"[1,]",
        b"[,1]",
        b'{"a"}',
        b'{"a":}',
        b'{"a":1,}',
        b"{,}",
        b"{1:2}",
        b'{"a":1 "b":2}',
        b"[1 2]",
        b"[1}",
        b"]",
        b"1 2",
        b":",
        b",",
        b"01",
        b"1.",
        b".5",
        b"+1",
        b"-",
        b"1e",
        b"NaN",
        b"Infinity",
        b"nul",
        b"truefalse",
        b"'a'",
        b'"a',
        b'"\\x"',
        b'"\\u12g4"',
        b'"a\nb"',
        b'"\x00"',
        b"[1,2] // comment",
        b"\xa0[1]",
        b'"\xff"',
        b"\xff\xfe[\x001\x00]\x00",
        b"\x1f\x8b\x08",
    ],
)
def test_what_is_not_json_is_left_as_it_is(run: Callable[..., Any], body: bytes) -> None:
    headers, sent = run(served, app_with(body, {"ETag": '"x"'}), b"pretty")
    assert sent == body
    assert headers["etag"] == '"x"'


def test_streams_stay_streams(run: Callable[..., Any]) -> None:
    chunks = ["[1", ",2]"]
    closed = []

    async def stream() -> AsyncIterator[str]:
        try:
            for chunk in chunks:
                yield chunk
        finally:
            closed.append(True)

    app = Kit()
    app.use(pretty_json(force=True))
    app.get("/", lambda c: c.body(stream(), headers={"Content-Type": "application/json"}))
    headers, body = run(served, app)
    assert body == b"[1,2]"
    assert "content-length" not in headers
    assert closed == [True]


def test_parts_of_a_range_are_left_alone(run: Callable[..., Any]) -> None:
    headers = {"Content-Range": "bytes 0-3/9", "ETag": '"x"'}
    fields, body = run(served, app_with("1234", headers, 206), b"pretty")
    assert body == b"1234"
    assert fields["etag"] == '"x"'


# --- headers ------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_the_length_is_that_of_the_new_body(run: Callable[..., Any], method: str) -> None:
    length = {"Content-Length": str(len(TEXT))}
    headers, body = run(served, app_with(headers=length), b"pretty", method)
    assert headers["content-length"] == str(len(PRETTY))
    assert body == (PRETTY.encode() if method == "GET" else b"")
    headers, body = run(served, app_with(headers=length), b"", method)
    assert headers["content-length"] == str(len(TEXT))


@pytest.mark.parametrize(("etag", "sent"), [('"x"', 'W/"x"'), ('W/"x"', 'W/"x"'), ("x", "x")])
def test_a_strong_etag_becomes_weak(run: Callable[..., Any], etag: str, sent: str) -> None:
    headers, _ = run(served, app_with(headers={"ETag": etag}), b"pretty")
    assert headers["etag"] == sent
    headers, _ = run(served, app_with(headers={"ETag": etag}))
    assert headers["etag"] == etag


def test_so_does_that_of_a_304(run: Callable[..., Any]) -> None:
    app = app_with(None, {"ETag": '"x"'}, 304, None)
    assert run(served, app, b"pretty") == ({"etag": 'W/"x"'}, b"")
    assert run(served, app) == ({"etag": '"x"'}, b"")


def test_digests_of_the_old_bytes_are_dropped(run: Callable[..., Any]) -> None:
    headers = {
        "Content-Digest": "sha-256=:AA==:",
        "Repr-Digest": "sha-256=:AA==:",
        "Digest": "sha-256=AA==",
        "Content-MD5": "AA==",
        "X-Other": "1",
    }
    fields, _ = run(served, app_with(headers=headers), b"pretty")
    assert fields.keys() == {"content-type", "content-length", "x-other"}
    fields, _ = run(served, app_with(headers=headers))
    assert fields.keys() == {"content-type", "content-length", "x-other", *map(str.lower, headers)}


def test_cookies_and_status_are_kept(run: Callable[..., Any]) -> None:
    app = Kit()
    app.use(pretty_json())

    @app.get("/")
    def handler(c: Context) -> Response:
        c.header("Set-Cookie", "a=1", append=True)
        c.header("Set-Cookie", "b=2", append=True)
        return c.json([1], 201)

    response = run(app.request, "/?pretty")
    assert response.status == 201
    assert response.headers.get_set_cookie() == ["a=1", "b=2"]


def test_a_response_that_requests_share_is_left_as_it_is(run: Callable[..., Any]) -> None:
    shared = Response(TEXT, headers={"Content-Type": "application/json", "ETag": '"x"'})
    app = Kit()
    app.use(pretty_json())
    app.get("/", lambda c: shared)
    for _ in range(2):
        headers, body = run(served, app, b"pretty")
        assert (headers["etag"], body) == ('W/"x"', PRETTY.encode())
    assert run(served, app) == (
        {"content-type": "application/json", "etag": '"x"', "content-length": str(len(TEXT))},
        TEXT.encode(),
    )


# --- the text -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("space", "expected"),
    [
        (0, '{"b":[1,2.50],"a":{}}'),
        (1, '{\n "b": [\n  1,\n  2.50\n ],\n "a": {}\n}'),
        (2, PRETTY),
        (10, PRETTY.replace("  ", " " * 10)),
        (11, PRETTY.replace("  ", " " * 10)),
        (10**30, PRETTY.replace("  ", " " * 10)),
    ],
)
def test_space(run: Callable[..., Any], space: int, expected: str) -> None:
    body = ' {\t"b" :\r\n[ 1 ,2.50],"a":{ } }\n'
    assert run(text_of, app_with(body, space=space)) == expected


@pytest.mark.parametrize(
    "value",
    [
        "12345678901234567890123",
        "9" * 5000,
        "-0",
        "-0.0",
        "1.10",
        "1E400",
        "1e-7",
        "0.1e+02",
        r'"\u00e9\/é\ud800\n"',
        '"😀\u2028\x7f"',
        "true",
        "false",
        "null",
        '""',
        "{}",
        "[]",
    ],
)
def test_values_are_kept_as_they_are_written(run: Callable[..., Any], value: str) -> None:
    assert run(text_of, app_with(value)) == value
    assert run(text_of, app_with(f"[{value}]")) == f"[\n  {value}\n]"


def test_repeated_names_and_their_order_are_kept(run: Callable[..., Any]) -> None:
    expected = '{\n  "b": 1,\n  "10": 2,\n  "2": 3,\n  "b": 4\n}'
    assert run(text_of, app_with('{"b":1,"10":2,"2":3,"b":4}')) == expected


def test_a_byte_order_mark_is_dropped(run: Callable[..., Any]) -> None:
    assert run(text_of, app_with(b"\xef\xbb\xbf[1]")) == "[\n  1\n]"


def test_depth_has_no_limit_of_its_own(run: Callable[..., Any]) -> None:
    body = "[" * 100 + "]" * 100
    assert run(text_of, app_with(body)) == json.dumps(json.loads(body), indent=2)
    deep = "[" * 200_000 + "]" * 200_000
    assert run(text_of, app_with(deep, space=0)) == deep


@pytest.mark.parametrize(
    "body", ["[" * 20_000 + "]" * 20_000, "[" * 400 + "1" + ",1" * 200_000 + "]" * 400]
)
def test_an_answer_that_would_grow_beyond_measure_is_left_as_it_is(
    run: Callable[..., Any], body: str
) -> None:
    assert run(text_of, app_with(body)) == body


scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
values = st.recursive(
    scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=30
)


@given(values, st.integers(0, 12), st.booleans())
def test_it_agrees_with_the_standard_library(value: Any, space: int, ascii_only: bool) -> None:
    import asyncio

    body = json.dumps(value, ensure_ascii=ascii_only, allow_nan=True)
    if "Infinity" in body or not _encodable(body):
        return
    expected = json.dumps(
        value,
        ensure_ascii=ascii_only,
        indent=min(space, 10) or None,
        separators=(",", ": " if space else ":"),
    )
    assert asyncio.run(text_of(app_with(body, space=space))) == expected


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


pieces = st.lists(
    st.sampled_from([*'[]{},:"', "1", "-", "0", ".", "e", "true", "nul", " ", '"a"', '"\\', "a"])
)


@given(pieces.map("".join))
def test_it_takes_what_the_standard_library_takes(body: str) -> None:
    import asyncio

    try:
        expected = json.loads(body, parse_float=Decimal, object_pairs_hook=list)
    except ValueError:
        assert asyncio.run(text_of(app_with(body))) == body
    else:
        got = asyncio.run(text_of(app_with(body, space=1)))
        assert json.loads(got, parse_float=Decimal, object_pairs_hook=list) == expected
        if isinstance(expected, list) and expected and body.lstrip()[0] == "[":
            assert got.startswith("[\n ")


# --- options ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"space": "  "}, TypeError, "pretty_json(space=...) takes an int, not '  '"),
        ({"space": True}, TypeError, "pretty_json(space=...) takes an int, not True"),
        ({"space": 2.0}, TypeError, "pretty_json(space=...) takes an int, not 2.0"),
        ({"space": -1}, ValueError, "pretty_json(space=-1) can't be used: expected at least 0"),
        ({"query": None}, TypeError, "pretty_json(query=...) takes a str, not None"),
        ({"query": ""}, ValueError, "expected the name of a query parameter, e.g. 'pretty'"),
        ({"force": 1}, TypeError, "pretty_json(force=...) takes a bool, not 1"),
    ],
)
def test_wrong_options_are_refused(
    options: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error) as raised:
        pretty_json(**options)
    assert text in str(raised.value)


def test_it_is_found_by_its_name() -> None:
    assert plugins.load("kit.middleware", "pretty-json") is pretty_json


def test_other_tasks_go_on_while_a_large_body_is_indented(run: Callable[..., Any]) -> None:
    app = app_with("[" + "1.5," * 100_000 + "1]")
    ticks = 0

    async def ask() -> int:
        nonlocal ticks
        async with anyio.create_task_group() as group:

            async def tick() -> None:
                nonlocal ticks
                while True:
                    await checkpoint()
                    ticks += 1

            group.start_soon(tick)
            text = await text_of(app)
            group.cancel_scope.cancel()
        assert text.startswith("[\n  1.5,\n  1.5,")
        return ticks

    # It takes some turns of the loop to handle a request; without a thread, none besides.
    assert run(ask) > 100


@pytest.mark.parametrize("size", [8 * 1024 - 1, 8 * 1024, 8 * 1024 + 1])
def test_bodies_of_all_sizes_are_indented_alike(run: Callable[..., Any], size: int) -> None:
    text = '["' + "a" * (size - 4) + '"]'
    assert run(text_of, app_with(text)) == f"[\n  {text[1:-1]}\n]"
    assert run(text_of, app_with(text[:-1] + ",")) == text[:-1] + ","
