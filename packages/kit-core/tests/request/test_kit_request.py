# SPDX-License-Identifier: MIT
"""`c.req`: parameters, query, headers, and readers in any order."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any, TypedDict

import msgspec
import pytest

from kit import Context, File, HTTPException, Kit, KitRequest, Limits, Request, Response


def request_of(body: Any = None, kind: str | None = None, url: str = "http://x/") -> KitRequest:
    headers = {"content-type": kind} if kind else {}
    method = "GET" if body is None else "POST"
    return KitRequest(Request(url, method=method, headers=headers, body=body))


# Expected values are what Hono 4.13 gives.
@pytest.mark.parametrize(
    ("query", "first", "every"),
    [
        ("", {}, {}),
        ("a=1&a=2", {"a": "1"}, {"a": ["1", "2"]}),
        ("a", {"a": ""}, {"a": [""]}),
        ("=1&&b=2", {"b": "2"}, {"b": ["2"]}),
        ("a=b=c", {"a": "b=c"}, {"a": ["b=c"]}),
        ("a==1", {"a": "=1"}, {"a": ["=1"]}),
        ("a+b=c+d%20e", {"a b": "c d e"}, {"a b": ["c d e"]}),
        ("a=%zz&b=%E3%81", {"a": "%zz", "b": "%E3%81"}, {"a": ["%zz"], "b": ["%E3%81"]}),
        ("a=%E3%81%82%zz", {"a": "あ%zz"}, {"a": ["あ%zz"]}),
        ("a;b=1", {"a;b": "1"}, {"a;b": ["1"]}),
        ("%61=1", {"a": "1"}, {"a": ["1"]}),
        ("__proto__=1", {"__proto__": "1"}, {"__proto__": ["1"]}),
    ],
)
def test_query(query: str, first: dict[str, str], every: dict[str, list[str]]) -> None:
    req = request_of(url=f"http://x/p?{query}#a=9")
    assert (req.query(), req.queries()) == (first, every)
    for name, value in first.items():
        assert (req.query(name), req.queries(name)) == (value, every[name])
    assert (req.query("none"), req.queries("none"), req.query("")) == (None, None, None)


def test_first_value_wins_however_its_name_is_written() -> None:
    req = request_of(url="http://x/?%61=1&a=2")
    assert (req.query("a"), req.query()) == ("1", {"a": "1"})


@pytest.mark.parametrize(
    ("text", "path", "component"),
    [
        ("/a%20b", "/a b", "/a b"),
        ("/%E3%81%82", "/あ", "/あ"),
        ("/a%2Fb%3f", "/a%2Fb%3F", "/a/b?"),
        ("/%25", "/%25", "/%"),
        ("/%2541", "/%2541", "/%41"),
        ("/%zz%41", "/%zzA", "/%zzA"),
        ("/%E3%81x%41", "/%E3%81xA", "/%E3%81xA"),
        ("/%41%2F%42", "/A%2FB", "/A/B"),
        ("/%ff%41", "/%FFA", "/%ff%41"),
        ("/%ED%A0%80", "/%ED%A0%80", "/%ED%A0%80"),
        ("/+", "/+", "/+"),
    ],
)
async def test_decoding(text: str, path: str, component: str) -> None:
    app = Kit().get("/*", lambda c: c.text(c.req.path))
    assert await (await app.request(text)).text() == path
    req = KitRequest(Request("http://x/"), match_result=([("handler", {"p": text})],))
    assert req.param("p") == component


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("http://x", "/"),
        ("http://x/", "/"),
        ("http://x/a?b/c", "/a"),
        ("http://x/a#b?c", "/a"),
        ("http://x//a//b/", "//a//b/"),
        ("https://x:1/%41", "/A"),
    ],
)
async def test_path_of_a_url(url: str, path: str) -> None:
    app = Kit().get("*", lambda c: c.text(c.req.path))
    assert await (await app.request(url)).text() == path


@pytest.mark.parametrize(
    ("base", "path", "merged"),
    [
        ("/", "/a", "/a"),
        ("/", "a", "/a"),
        ("/", "*", "/*"),
        ("/", "/", "/"),
        ("/", "", "/"),
        ("/a", "/b", "/a/b"),
        ("/a/", "/b", "/a/b"),
        ("a", "b", "/a/b"),
        ("/a", "/", "/a"),
        ("/a/", "/", "/a/"),
        ("/a", "", "/a/"),
        ("/a", "/b/", "/a/b/"),
    ],
)
def test_a_path_below_a_base_path(base: str, path: str, merged: str) -> None:
    [route] = Kit().base_path(base).get(path, lambda c: c.text("")).routes
    assert route.path == merged


async def test_parameters_are_those_of_the_running_route() -> None:
    app = Kit()
    seen: list[Any] = []

    @app.use("/:kind/*")
    async def outer(c: Context, next: Any) -> None:
        seen.append((c.req.param(), c.req.param("kind"), c.req.param("id")))
        await next()

    app.get("/users/:id{.+}", lambda c: c.json([c.req.param(), c.req.param("kind")]))
    response = await app.request("/users/a%2Fb%20%zz")
    assert await response.json() == [{"id": "a/b %zz"}, None]
    assert seen == [({"kind": "users"}, "users", None)]


def test_headers() -> None:
    lines = [("X-A", "1"), ("x-a", "2"), ("B", "é")]
    req = KitRequest(Request("http://x/", headers=lines))
    assert (req.header("X-a"), req.header("b"), req.header("none")) == ("1, 2", "é", None)
    assert req.header() == {"x-a": "1, 2", "b": "é"}
    assert (req.method, req.url, req.path, req.param()) == ("GET", "http://x/", "/", {})


READERS = ("text", "json", "bytes", "array_buffer", "blob")


@pytest.mark.parametrize("order", list(itertools.permutations(READERS, 2)), ids="-".join)
async def test_every_reader_after_every_other(order: tuple[str, ...]) -> None:
    req = request_of('{"a": "é"}', "application/json")
    data = '{"a": "é"}'.encode()
    expected = {"text": data.decode(), "json": {"a": "é"}, "bytes": data, "array_buffer": data}
    for name in (*order, *order):
        got = await getattr(req, name)()
        assert (await got.bytes() if name == "blob" else got) == expected.get(name, data)
    assert await req.json() is not await req.json()


async def test_readers_after_a_form() -> None:
    req = request_of("a=1&b=2", "application/x-www-form-urlencoded")
    assert await req.parse_body() == {"a": "1", "b": "2"}
    assert await req.text() == "a=1&b=2"
    assert list(await req.form_data()) == [("a", "1"), ("b", "2")]
    data = b'--XX\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--XX--\r\n'
    req = request_of(data, "multipart/form-data; boundary=XX")
    form = await req.form_data()
    assert await req.form_data() is form
    assert 'name="a"\r\n\r\n1\r\n' in await req.text()  # written anew, by another boundary
    req = request_of(data, "multipart/form-data; boundary=XX")
    assert await req.bytes() == data
    assert await req.parse_body() == {"a": "1"}


async def test_raw_that_was_read_directly() -> None:
    req = request_of("x", "text/plain")
    assert await req.raw.text() == "x"
    with pytest.raises(TypeError, match="already read"):
        await req.text()


@pytest.mark.parametrize(
    ("body", "options", "expected"),
    [
        ("a=1&a=2", {}, {"a": "2"}),
        ("a=1&a=2", {"all": True}, {"a": ["1", "2"]}),
        ("a=1", {"all": True}, {"a": "1"}),
        ("a[]=1", {}, {"a[]": ["1"]}),
        ("a[]=1&a[]=2", {}, {"a[]": ["1", "2"]}),
        ("a.b=1&a.c.d=2", {"dot": True}, {"a": {"b": "1", "c": {"d": "2"}}}),
        ("a.b=1", {}, {"a.b": "1"}),
        ("a=1&a.b=2", {"dot": True}, {"a": {"b": "2"}}),
        ("a.b=1&a.b=2", {"dot": True, "all": True}, {"a": {"b": ["1", "2"]}}),
        ("__proto__.x=1", {"dot": True}, {}),
        ("a.=1&.b=2", {"dot": True}, {"a": {"": "1"}, "": {"b": "2"}}),
    ],
)
async def test_parse_body(body: str, options: Any, expected: Any) -> None:
    req = request_of(body, "application/x-www-form-urlencoded")
    assert await req.parse_body(**options) == expected


async def test_limits_of_one_form() -> None:
    req = request_of("a=1&b=2", "application/x-www-form-urlencoded")
    with pytest.raises(HTTPException, match="413"):
        await req.parse_body(max_fields=1)
    assert await req.parse_body() == {"a": "1", "b": "2"}
    wrong: Any = {"no_such_limit": 1}
    with pytest.raises(TypeError, match="no_such_limit"):
        await req.parse_body(**wrong)


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded"])
async def test_body_beyond_its_limit(kind: str) -> None:
    app = Kit(limits=Limits(max_body_size_bytes=5))

    @app.post("/")
    async def handler(c: Context) -> Response:
        await c.req.parse_body()
        return c.text(await c.req.text())

    for body, status in (("12345", 200), ("123456", 413)):
        init: Any = {"method": "POST", "body": body, "headers": {"content-type": kind}}
        response = await app.request("/", init)
        assert response.status == status
    assert await response.text() == "The body is larger than 5 bytes"


@dataclass
class Point:
    x: int
    y: int = 0


class Struct(msgspec.Struct):
    x: int


class Typed(TypedDict):
    x: int


async def test_json_as_a_type() -> None:
    assert await request_of('{"x": 1}').json(type=Point) == Point(1)
    assert await request_of('{"x": 1}').json(type=Struct) == Struct(1)
    assert await request_of('{"x": 1}').json(type=Typed) == {"x": 1}
    assert await request_of("[1, 2]").json(type=list[int]) == [1, 2]


@pytest.mark.parametrize(
    ("body", "type", "message"),
    [
        ("", None, "Malformed JSON in the request body: Input data was truncated"),
        ("{", None, "Malformed JSON in the request body: Input data was truncated"),
        (
            '{"a" 1}',
            None,
            "Malformed JSON in the request body: JSON is malformed: expected ':' (byte 5)",
        ),
        ("NaN", None, "Malformed JSON in the request body: JSON is malformed: invalid character"),
        (b'"\xff"', None, "Malformed JSON in the request body: "),
        ("[" * 100_000, None, "Malformed JSON in the request body: it is nested too deeply"),
        ("{}", Point, "Unexpected JSON in the request body: Object missing required field `x`"),
        (
            '{"x": "1"}',
            Point,
            "Unexpected JSON in the request body: Expected `int`, got `str` - at `$.x`",
        ),
    ],
)
async def test_json_that_is_none(body: Any, type: Any, message: str) -> None:
    req = request_of(body)
    with pytest.raises(HTTPException) as caught:
        await req.json(type=type)
    assert caught.value.status == 400
    assert (caught.value.message or "").startswith(message)
    assert await req.bytes() == (body.encode() if isinstance(body, str) else body)


async def test_file_in_a_dict() -> None:
    data = (
        b'--XX\r\nContent-Disposition: form-data; name="f"; filename="n"\r\n'
        b"Content-Type: a/b\r\n\r\nbytes\r\n--XX--\r\n"
    )
    form = await request_of(data, "multipart/form-data; boundary=XX").parse_body()
    file = form["f"]
    assert isinstance(file, File)
    assert (file.name, file.type, await file.text()) == ("n", "a/b", "bytes")
