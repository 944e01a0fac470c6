# SPDX-License-Identifier: MIT
"""What is compressed, what is left alone, and what the headers say about it."""

from __future__ import annotations

import asyncio
import re
import threading
import zlib
from collections.abc import Callable
from typing import Any

import pytest
from content_codings import CODINGS, decode
from hypothesis import given
from hypothesis import strategies as st

from kit import Context, Kit, Response
from kit.compress import compress
from kit.etag import etag
from kit.interface import plugins

Run = Callable[..., Any]

TEXT = "Momo and the grey gentlemen. " * 100
BROWSER = "gzip, deflate, br, zstd"


def app_with(handler: Callable[[Context], Any] | None = None, **options: Any) -> Kit:
    app = Kit()
    app.use(compress(**options))
    app.on(["GET", "POST"], "/", handler or (lambda c: c.text(TEXT)))
    return app


def ask(run: Run, app: Kit, accept: str | None = BROWSER, method: str = "GET", **more: str) -> Any:
    headers = {name.replace("_", "-"): value for name, value in more.items()}
    if accept is not None:
        headers["Accept-Encoding"] = accept
    return run(app.request, "/", {"method": method, "headers": headers})


def encoding(response: Response) -> str | None:
    return response.headers.get("content-encoding")


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("size", [1024, 40_000, 2_000_000])
def test_bodies_are_compressed(run: Run, coding: str, size: int) -> None:
    body = bytes(range(256)) * (size // 256 + 1)
    app = app_with(lambda c: c.body(body, headers={"Content-Type": "text/x"}), encoding=coding)
    response = ask(run, app, coding)
    assert (response.status, encoding(response)) == (200, coding)
    assert response.headers.get("vary") == "Accept-Encoding"
    data = run(response.bytes)
    assert len(data) < size / 2
    assert decode(coding, data) == body


@pytest.mark.parametrize(
    ("accept", "coding"),
    [
        (BROWSER, "zstd"),
        ("gzip, deflate, br", "br"),
        ("gzip, deflate", "gzip"),
        ("gzip;q=1, br;q=0.5", "gzip"),
        ("*", "zstd"),
        ("*, zstd;q=0", "br"),
        ("deflate", None),
        ("identity, gzip;q=0.5", None),
        ("gzip;q=0", None),
        # Refusing everything is disregarded (RFC 9110, section 12.5.3).
        ("*;q=0", None),
        ("", None),
        (None, None),
    ],
)
def test_the_client_chooses(run: Run, accept: str | None, coding: str | None) -> None:
    response = ask(run, app_with(), accept)
    assert (response.status, encoding(response)) == (200, coding)
    assert response.headers.get("vary") == "Accept-Encoding"
    data = run(response.bytes)
    assert (decode(coding, data) if coding else data) == TEXT.encode()


def test_the_order_of_encodings_is_that_of_preference(run: Run) -> None:
    app = app_with(encodings=["gzip", "br"])
    assert encoding(ask(run, app)) == "gzip"
    assert encoding(ask(run, app, "zstd, br")) == "br"


@pytest.mark.parametrize(
    ("size", "options", "compressed"),
    [
        (1023, {}, False),
        (1024, {}, True),
        (99, {"threshold": 100}, False),
        (100, {"threshold": 100}, True),
        (1, {"threshold": 0}, True),
        (0, {"threshold": 0}, False),
    ],
)
def test_small_bodies_are_sent_as_they_are(
    run: Run, size: int, options: dict[str, Any], compressed: bool
) -> None:
    response = ask(run, app_with(lambda c: c.text("a" * size), **options))
    assert (encoding(response) is not None) is compressed
    # Nothing depends on Accept-Encoding where nothing would be compressed.
    assert response.headers.has("vary") is compressed


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Content-Encoding": "br"}, 200),
        ({"Content-Encoding": "identity"}, 200),
        ({"Transfer-Encoding": "gzip"}, 200),
        ({"Content-Range": "bytes 0-99/100"}, 206),
        ({"Content-Range": "bytes 0-99/10000"}, 200),
        ({"Content-Type": "multipart/byteranges; boundary=a"}, 206),
        ({"Cache-Control": "no-transform"}, 200),
        ({"Cache-Control": "public, No-Transform, max-age=60"}, 200),
        ({"Content-Type": "image/png"}, 200),
        ({"Content-Type": "application/octet-stream"}, 200),
    ],
)
def test_what_is_left_alone(run: Run, headers: dict[str, str], status: int) -> None:
    sent = {"Content-Type": "text/plain", "ETag": '"a"', "Accept-Ranges": "bytes", **headers}
    response = ask(run, app_with(lambda c: c.body(TEXT, status, sent)))
    assert {name.lower(): value for name, value in sent.items()} == dict(response.headers)
    assert run(response.text) == TEXT


@pytest.mark.parametrize(
    ("headers", "options", "varies"),
    [
        ({"Content-Range": "bytes 0-9/12000"}, {}, True),
        ({"Content-Range": "bytes 0-9/*"}, {}, True),
        ({"Content-Range": "bytes 0-9/1024"}, {}, True),
        ({"Content-Range": "bytes 0-9/1023"}, {}, False),
        ({"Content-Range": "bytes 0-9/20"}, {"threshold": 20}, True),
        ({}, {}, False),
        ({"Content-Range": "bytes 0-9/12000", "Content-Type": "image/png"}, {}, False),
        ({"Content-Range": "bytes 0-9/12000", "Content-Encoding": "br"}, {}, False),
        ({"Content-Range": "bytes 0-9/12000", "Cache-Control": "no-transform"}, {}, False),
        ({"Content-Range": "bytes 0-9/12000"}, {"skip": lambda c: True}, False),
        ({"Content-Range": "bytes 0-9/12000"}, {"content_type_filter": re.compile("image")}, False),
    ],
)
def test_a_range_has_the_vary_of_the_whole(
    run: Run, headers: dict[str, str], options: dict[str, Any], varies: bool
) -> None:
    sent = {"Content-Type": "text/plain", "ETag": '"a"', **headers}
    for body in (b"0123456789", TEXT.encode()):
        app = app_with(lambda c, body=body: c.body(body, 206, sent), **options)
        for accept in (BROWSER, None):
            response = ask(run, app, accept)
            expected = {"vary": "Accept-Encoding"} if varies else {}
            assert dict(response.headers) == expected | {
                name.lower(): value for name, value in sent.items()
            }
            assert run(response.bytes) == body


def test_a_response_without_a_type_is_left_alone(run: Run) -> None:
    assert encoding(ask(run, app_with(lambda c: c.body(TEXT.encode())))) is None


@pytest.mark.parametrize("value", ["private", 'x="no-transform"', "not-no-transform"])
def test_other_cache_control_does_not_matter(run: Run, value: str) -> None:
    app = app_with(lambda c: c.text(TEXT, headers={"Cache-Control": value}))
    assert encoding(ask(run, app)) == "zstd"


@pytest.mark.parametrize("status", [200, 201, 404, 500])
def test_answers_of_every_status_are_compressed(run: Run, status: int) -> None:
    response = ask(run, app_with(lambda c: c.text(TEXT, status)))
    assert (response.status, encoding(response)) == (status, "zstd")


def test_errors_are_compressed(run: Run) -> None:
    def fail(c: Context) -> Response:
        raise ValueError("a fault")

    app = app_with(fail)
    app.on_error(lambda error, c: c.text(TEXT, 500))
    assert encoding(ask(run, app)) == "zstd"


def test_an_answer_without_a_body_is_left_alone(run: Run) -> None:
    response = ask(run, app_with(lambda c: c.body(None, 204)))
    assert (response.status, dict(response.headers)) == (204, {})


def test_the_headers_follow_the_bytes(run: Run) -> None:
    app = app_with(
        lambda c: c.text(
            TEXT,
            headers={
                "Accept-Ranges": "bytes",
                "Content-Digest": "sha-256=:AAAA:",
                "Content-Length": str(len(TEXT)),
                "Content-MD5": "AAAA",
                "Digest": "sha-256=AAAA",
                "ETag": '"v1"',
                "Repr-Digest": "sha-256=:AAAA:",
                "Set-Cookie": "a=b",
                "Vary": "Origin",
                "X-Kept": "1",
            },
        )
    )
    assert dict(ask(run, app).headers) == {
        "content-encoding": "zstd",
        "content-type": "text/plain; charset=UTF-8",
        "etag": 'W/"v1"',
        "set-cookie": "a=b",
        "vary": "Origin, Accept-Encoding",
        "x-kept": "1",
    }
    plain = ask(run, app, None).headers
    assert (plain.get("etag"), plain.get("vary")) == ('"v1"', "Origin, Accept-Encoding")
    assert plain.has("repr-digest")


def test_a_response_that_is_returned_again_is_not_changed(run: Run) -> None:
    always = Response(TEXT, headers={"ETag": '"a"', "Digest": "sha-256=AAAA"})
    headers = dict(always.headers)
    for accept, coding in (("gzip", "gzip"), (None, None), ("br", "br")):
        response = ask(run, app_with(lambda c: always), accept)
        assert (encoding(response), response.headers.get("vary")) == (coding, "Accept-Encoding")
        assert dict(always.headers) == headers
    unchanged = Response(None, status=304, headers={"ETag": '"a"'})
    response = ask(run, app_with(lambda c: unchanged), If_None_Match='W/"a"')
    assert response.headers.get("etag") == 'W/"a"'
    assert dict(unchanged.headers) == {"etag": '"a"'}


@pytest.mark.parametrize(("own", "vary"), [("*", "*"), ("accept-encoding", "accept-encoding")])
def test_vary_is_not_repeated(run: Run, own: str, vary: str) -> None:
    for accept in (BROWSER, None):
        response = ask(run, app_with(lambda c: c.text(TEXT, headers={"Vary": own})), accept)
        assert response.headers.get_all("vary") == [vary]


@pytest.mark.parametrize("own", ['W/"a"', "unquoted"])
def test_other_etags_stay(run: Run, own: str) -> None:
    response = ask(run, app_with(lambda c: c.text(TEXT, headers={"ETag": own})))
    assert response.headers.get("etag") == own


def test_head_has_the_headers_of_get(run: Run) -> None:
    app = app_with(lambda c: c.text(TEXT, headers={"ETag": '"a"'}))
    for accept in (BROWSER, None):
        head, get = ask(run, app, accept, "HEAD"), ask(run, app, accept)
        assert dict(head.headers) == dict(get.headers)
        assert head.headers.get("vary") == "Accept-Encoding"


@pytest.mark.parametrize(("length", "coding"), [("1024", "zstd"), ("1023", None), (None, None)])
def test_head_without_a_body_goes_by_its_content_length(
    run: Run, length: str | None, coding: str | None
) -> None:
    app = Kit()
    app.use(compress())

    @app.use
    async def answer_head(c: Context, next: Any) -> None:
        await next()
        headers = {"Content-Type": "text/plain", "ETag": '"a"'}
        c.res = c.body(None, 200, headers | ({"Content-Length": length} if length else {}))

    app.get("/", lambda c: c.text(""))
    response = ask(run, app, BROWSER, "HEAD")
    assert encoding(response) == coding
    assert response.headers.get("content-length") == (None if coding else length)
    assert response.headers.get("etag") == ('W/"a"' if coding else '"a"')
    assert encoding(ask(run, app)) is None


@pytest.mark.parametrize(
    ("if_none_match", "answered"),
    [
        # The client has the compressed response, whose ETag was weakened.
        ('W/"a"', 'W/"a"'),
        ('"b", W/"a"', 'W/"a"'),
        ('"a"', '"a"'),
        ('W/"a", "a"', '"a"'),
        ("*", '"a"'),
    ],
)
def test_a_304_has_the_headers_that_the_200_had(
    run: Run, if_none_match: str, answered: str
) -> None:
    app = Kit()
    app.use(compress())
    app.use(etag())
    app.get("/", lambda c: c.text(TEXT, headers={"ETag": '"a"'}))
    response = ask(run, app, If_None_Match=if_none_match)
    assert (response.status, response.headers.get("etag")) == (304, answered)
    assert response.headers.get("vary") == "Accept-Encoding"


@pytest.mark.parametrize("own", ['W/"a"', "a", None])
def test_a_304_with_another_etag_keeps_it(run: Run, own: str | None) -> None:
    headers = {"ETag": own} if own else {}
    app = app_with(lambda c: c.body(None, 304, headers))
    assert ask(run, app, If_None_Match='W/"a"').headers.get("etag") == own


def test_a_304_that_is_not_to_be_transformed_is_left_alone(run: Run) -> None:
    headers = {"ETag": '"a"', "Cache-Control": "no-transform"}
    app = app_with(lambda c: c.body(None, 304, headers))
    response = ask(run, app, If_None_Match='W/"a"')
    assert dict(response.headers) == {"etag": '"a"', "cache-control": "no-transform"}


def test_etag_further_out_is_that_of_the_compressed_bytes(run: Run) -> None:
    app = Kit()
    app.use(etag())
    app.use(compress())
    app.get("/", lambda c: c.text(TEXT))
    tags = {ask(run, app, accept).headers.get("etag") for accept in ("gzip", "br", None)}
    assert len(tags) == 3
    assert all(tag and tag.startswith('"') for tag in tags)


def test_what_is_compressed_once_is_not_compressed_again(run: Run) -> None:
    app = Kit()
    app.use(compress(encoding="br"))
    app.use(compress(encoding="gzip"))
    app.get("/", lambda c: c.text(TEXT))
    response = ask(run, app)
    assert encoding(response) == "gzip"
    assert decode("gzip", run(response.bytes)) == TEXT.encode()


async def is_csv(content_type: str) -> bool:
    return content_type.startswith("text/csv")


@pytest.mark.parametrize(
    "only_csv",
    [re.compile("csv"), lambda content_type: content_type == "text/csv; a=b", is_csv],
    ids=["pattern", "function", "async function"],
)
def test_a_filter_of_ones_own(run: Run, only_csv: Any) -> None:
    for kind, coding in (("text/csv; a=b", "zstd"), ("text/plain", None)):
        app = app_with(
            lambda c, kind=kind: c.body(TEXT, headers={"Content-Type": kind}),
            content_type_filter=only_csv,
        )
        response = ask(run, app)
        assert (encoding(response), response.headers.has("vary")) == (coding, coding is not None)


async def has_cookies(c: Context) -> bool:
    return c.res.headers.has("set-cookie")


@pytest.mark.parametrize("skip", [has_cookies, lambda c: c.res.headers.has("set-cookie")])
def test_responses_can_be_skipped(run: Run, skip: Any) -> None:
    app = app_with(lambda c: c.text(TEXT, headers={"Set-Cookie": "a=b"}), skip=skip)
    response = ask(run, app)
    assert (encoding(response), response.headers.has("vary")) == (None, False)
    assert encoding(ask(run, app_with(skip=skip))) == "zstd"


@pytest.mark.parametrize(
    ("coding", "least", "most"), [("gzip", 1, 9), ("br", 0, 11), ("zstd", 1, 19), ("deflate", 1, 9)]
)
def test_levels(run: Run, coding: str, least: int, most: int) -> None:
    text = " ".join(f"{number:b} {number * 7919 % 10007}" for number in range(1000))
    sizes = []
    for level in (least, {coding: most}):
        app = app_with(lambda c: c.text(text), encoding=coding, level=level)
        data = run(ask(run, app, coding).bytes)
        assert decode(coding, data) == text.encode()
        sizes.append(len(data))
    assert sizes[0] > sizes[1]


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd"])
def test_a_level_for_all_codings(run: Run, coding: str) -> None:
    text = " ".join(f"{number:b} {number * 7919 % 10007}" for number in range(1000))
    sizes = []
    for level in (1, 9):
        app = app_with(lambda c: c.text(text), level=level)
        sizes.append(len(run(ask(run, app, coding).bytes)))
    assert sizes[0] > sizes[1]


def test_large_bodies_are_compressed_in_a_thread(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    compress_by_zlib = zlib.compress
    threads = []

    def noted(*args: Any) -> bytes:
        threads.append(threading.current_thread())
        return compress_by_zlib(*args)

    monkeypatch.setattr(zlib, "compress", noted)
    for size in (2_000, 200_000):
        ask(run, app_with(lambda c, size=size: c.text("a" * size)), "gzip")
    small, large = threads
    assert small is threading.current_thread()
    assert large is not threading.current_thread()


@given(st.binary(max_size=4096), st.sampled_from(CODINGS))
def test_any_bytes_come_back(body: bytes, coding: str) -> None:
    app = app_with(
        lambda c: c.body(body, headers={"Content-Type": "text/plain"}),
        encoding=coding,
        threshold=0,
    )

    async def received() -> bytes:
        response = await app.request("/", {"headers": {"Accept-Encoding": coding}})
        return await response.bytes()

    data = asyncio.run(received())
    assert (decode(coding, data) if body else data) == body


def test_it_is_found_by_its_name() -> None:
    assert plugins.load("kit.middleware", "compress") is compress
