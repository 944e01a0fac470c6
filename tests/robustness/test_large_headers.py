# SPDX-License-Identifier: MIT
"""Headers of megabytes, as some servers let through: what reads them is quick, small, or a 431.

Memory is measured in place of time: an expression that backtracks keeps 100 bytes and more for each
character, and one that takes more than linear time doesn't end before the limit of a test.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import anyio
import pytest

from kit import Context, Kit, Limits, Response
from kit.accepts import accepts
from kit.basic_auth import basic_auth
from kit.bearer_auth import bearer_auth
from kit.cache import cache
from kit.compress import compress
from kit.conninfo import forwarded_conn_info
from kit.cookie import get_cookie
from kit.cors import cors
from kit.csrf import csrf
from kit.etag import etag
from kit.http import dates, encodings, entity_tags, fields, media_types, origins
from kit.http.addresses import parse_address
from kit.ip_restriction import ip_restriction
from kit.jwt import jwt
from kit.language import language_detector
from kit.logger import access_log
from kit.rate_limit import rate_limit
from kit.request_id import request_id
from kit.serve_static import serve_static
from kit.session import get_session, session
from kit.trusted_hosts import trusted_hosts
from kit.typed import Header, typed
from kit.validator import validator

SECRET = "RkhqYzM5c0VxN2tVd1pQb1lUMmxCdkF4TmdJbVE4ZUQ"
SIZE = 4 * 1024 * 1024

# What is long: a single member, so that nothing but an expression takes memory.
LONG = {
    "one token": "a" * SIZE,
    "blanks": "a" + " " * SIZE + "a",
    "dots": "a." * (SIZE // 2),
    "open quotation": '"' + "a" * SIZE,
    "quotation": '"' + "a" * SIZE + '"',
    "quotes": '"' * SIZE,
    "quotations": '"a"' * (SIZE // 3),
    "backslashes": '"' + "\\" * SIZE,
    "escaped quotes": '"' + '\\"' * (SIZE // 2),
    "parameter": 'a;q="' + "a" * SIZE,
    "colons": "[" + ":" * SIZE,
    "digits": "1" * SIZE,
}
# What is made of many members, of which a list of some kind is made.
MANY = {
    "commas": "," * SIZE,
    "members": "ab," * (SIZE // 3),
    "members with quotes": '"a",' * (SIZE // 4),
    "parameters": "a=b;" * (SIZE // 4),
    "pairs": 'a="b";' * (SIZE // 6),
}
HELPERS: dict[str, Callable[[str], object]] = {
    "choose_encoding": lambda value: encodings.choose_encoding(value, ("gzip", "br")),
    "is_compressible": media_types.is_compressible,
    "is_entity_tag": entity_tags.parse_entity_tag,
    "is_field_value": fields.is_field_value,
    "is_json": media_types.is_json,
    "is_origin": origins.is_origin,
    "is_own_origin": lambda value: origins.is_own_origin(value, "https://example.com/"),
    "is_token": fields.is_token,
    "list_members": fields.list_members,
    "media_type": media_types.media_type,
    "parse_accept": fields.parse_accept,
    "parse_address": parse_address,
    "parse_entity_tags": entity_tags.parse_entity_tags,
    "parse_http_date": dates.parse_http_date,
    "weaken": entity_tags.weaken,
}


@contextmanager
def within(times: float) -> Iterator[None]:
    """Checks that what runs here takes no more memory than so many times `SIZE`."""
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= times * SIZE


@pytest.mark.parametrize("shape", LONG)
@pytest.mark.parametrize("name", HELPERS)
def test_what_reads_a_long_value_takes_a_few_times_its_memory(name: str, shape: str) -> None:
    with within(5):
        HELPERS[name](LONG[shape])


@pytest.mark.parametrize("shape", MANY)
@pytest.mark.parametrize("name", HELPERS)
def test_what_reads_many_members_takes_no_more_than_a_list_of_them(name: str, shape: str) -> None:
    if name == "parse_entity_tags" and shape == "members with quotes":
        pytest.skip("each is an EntityTag")
    with within(28):
        HELPERS[name](MANY[shape])


def covered(middleware: Any) -> Callable[[Kit[Any, Any]], object]:
    def build(app: Kit[Any, Any]) -> None:
        app.use(middleware)
        app.all("/", lambda c: c.json({}, 200, {"ETag": '"x"'}))

    return build


def with_session(app: Kit[Any, Any]) -> None:
    async def count(c: Context) -> Response:
        return c.json(len(await get_session(c)))

    app.use(session(SECRET))
    app.get("/", count)


def with_form(app: Kit[Any, Any]) -> None:
    async def count(c: Context) -> Response:
        return c.json(len(await c.req.parse_body()))

    app.post("/", count)


def with_json(app: Kit[Any, Any]) -> None:
    app.post("/", lambda c: c.json({}), use=validator("json", dict[str, Any]))


def with_typed_header(app: Kit[Any, Any]) -> None:
    @app.get("/")
    @typed
    async def endpoint(x: Annotated[str, Header()] = "", y: Annotated[list[int], Header()] = []):  # noqa: B006
        return x[:1]


def with_files(app: Kit[Any, Any]) -> None:
    app.use("/*", serve_static(root=Path(__file__).parent))


CASES: list[tuple[str, Callable[[Kit[Any, Any]], object], dict[str, Any]]] = [
    ("If-None-Match", covered(etag()), {}),
    ("If-Match", covered(etag()), {}),
    ("If-Modified-Since", covered(etag()), {}),
    ("Cache-Control", covered(cache(cache_control="max-age=60", client_directives=True)), {}),
    ("X-Tenant", covered(cache(cache_control="max-age=60", vary=["X-Tenant"])), {}),
    ("Host", covered(trusted_hosts("example.com", "*.example.com")), {}),
    ("Origin", covered(cors(origin="https://example.com")), {}),
    (
        "Access-Control-Request-Headers",
        covered(cors()),
        {"method": "OPTIONS", "Access-Control-Request-Method": "PUT"},
    ),
    ("Origin", covered(csrf()), {"method": "POST"}),
    ("Content-Type", covered(csrf()), {"method": "POST"}),
    ("Authorization", covered(basic_auth("ada", "secret")), {}),
    ("Authorization", covered(bearer_auth(token="abc")), {}),
    ("Authorization", covered(jwt(secret=SECRET, alg="HS256")), {}),
    ("Cookie", covered(jwt(secret=SECRET, alg="HS256", cookie="token")), {}),
    ("Cookie", with_session, {}),
    ("Cookie", lambda app: app.get("/", lambda c: c.json(len(get_cookie(c)))), {}),
    ("Cookie", lambda app: app.get("/", lambda c: c.json(get_cookie(c, "a"))), {}),
    ("Accept-Language", covered(language_detector(supported_languages=["en", "de"])), {}),
    ("Accept-Encoding", covered(compress(threshold=0)), {}),
    (
        "Accept",
        lambda app: app.get("/", lambda c: c.json(accepts(c, "Accept", ["a/b"], "a/b"))),
        {},
    ),
    ("X-Forwarded-For", covered(ip_restriction(forwarded_conn_info(), allow_list=["::1"])), {}),
    (
        "Forwarded",
        covered(ip_restriction(forwarded_conn_info(header="Forwarded"), allow_list=["::1"])),
        {},
    ),
    ("X-Forwarded-For", covered(rate_limit("5/minute", trusted_hops=1)), {}),
    ("X-Request-Id", covered(request_id()), {}),
    ("User-Agent", covered(access_log()), {}),
    ("Content-Type", with_form, {"method": "POST"}),
    ("Content-Disposition", with_form, {"method": "POST"}),
    ("Content-Type", with_json, {"method": "POST"}),
    ("X", with_typed_header, {}),
    ("Y", with_typed_header, {}),
    ("Range", with_files, {}),
    ("If-Range", with_files, {"Range": "bytes=0-1"}),
    ("If-None-Match", with_files, {}),
    ("Accept-Encoding", with_files, {}),
]


@pytest.mark.parametrize(
    "case", CASES, ids=[f"{n}-{header}" for n, (header, *_) in enumerate(CASES)]
)
def test_a_large_header_is_refused_or_takes_little_memory(case: Any) -> None:
    header, build, more = case
    app: Kit[Any, Any] = Kit()
    build(app)
    rest = {name: value for name, value in more.items() if name != "method"}
    method = more.get("method", "GET")
    path = "/test_large_headers.py" if build is with_files else "/"
    scheme = {"Authorization": "Basic " if "basic" in str(build) else "Bearer "}.get(header, "")

    async def ask() -> None:
        for shape, value in {**LONG, **MANY}.items():
            headers = {header: scheme + value, **rest}
            with within(9):
                response = await app.request(path, method=method, headers=headers)
            assert response.status in (200, 204, 206, 400, 401, 403, 412, 416, 429, 431), shape

    anyio.run(ask)


def test_a_header_beyond_the_limit_is_a_431() -> None:
    app: Kit[Any, Any] = Kit(limits=Limits(max_header_size_bytes=10))
    app.get("/one", lambda c: c.json(c.req.header("x-one")))
    app.get("/all", lambda c: c.json(sorted(c.req.header())))
    app.get("/none", lambda c: c.json("unread"))

    async def ask(path: str, *lines: tuple[str, str]) -> tuple[int, str]:
        response = await app.request(path, headers=lines)
        return response.status, await response.text()

    async def check() -> None:
        refused = (431, "The header x-one is larger than 10 bytes")
        assert await ask("/one", ("x-one", "a" * 10)) == (200, '"aaaaaaaaaa"')
        assert await ask("/one", ("x-one", "a" * 11)) == refused
        # Several lines mean one with commas (RFC 9110, section 5.3).
        assert await ask("/one", ("x-one", "aaaaa"), ("x-one", "aaaa")) == refused
        assert await ask("/all", ("x-one", "aaaaa"), ("x-one", "aaaa")) == refused
        assert await ask("/all", ("x-one", "a" * 11)) == refused
        assert await ask("/one", ("x-other", "a" * 11)) == (200, "null")
        assert await ask("/none", ("x-one", "a" * 11)) == (200, '"unread"')

    anyio.run(check)


def test_the_limit_is_no_limit_of_a_form() -> None:
    app: Kit[Any, Any] = Kit()

    async def read(c: Context) -> Response:
        with pytest.raises(TypeError, match=r"parse_body\(\) has no limit 'max_header_size_bytes'"):
            await c.req.parse_body(max_header_size_bytes=1)  # type: ignore[arg-type]
        return c.text("refused")

    app.post("/", read)

    async def check() -> None:
        response = await app.request("/", method="POST", body="a")
        assert await response.text() == "refused"

    anyio.run(check)


def test_the_default_is_64_kib() -> None:
    assert Limits().max_header_size_bytes == 64 * 1024
    with pytest.raises(TypeError, match="takes an int, not None"):
        Limits(max_header_size_bytes=None)  # type: ignore[arg-type]
