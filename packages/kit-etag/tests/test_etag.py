# SPDX-License-Identifier: MIT
"""Entity tags, and the answers to conditional requests."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from kit import Context, HTTPException, Kit, Response
from kit.etag import etag
from kit.interface import plugins

Run = Callable[..., Any]

BODY = "Momo"
SHA1 = hashlib.sha1(BODY.encode(), usedforsecurity=False).hexdigest()
DATE = "Sun, 06 Nov 1994 08:49:37 GMT"
BEFORE = "Sun, 06 Nov 1994 08:49:36 GMT"


def app_with(handler: Callable[[Context], Any], **options: Any) -> Kit:
    app = Kit()
    app.use(etag(**options))
    app.on(["GET", "POST", "QUERY", "PUT"], "/", handler)
    return app


def text(c: Context) -> Response:
    return c.text(BODY)


def tagged(c: Context) -> Response:
    return c.text(BODY, headers={"ETag": '"own"', "Last-Modified": DATE})


def ask(run: Run, app: Kit, method: str = "GET", **headers: str) -> Response:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return run(app.request, "/", {"method": method, "headers": sent})


@pytest.mark.parametrize("method", ["GET", "HEAD", "QUERY"])
def test_a_representation_gets_the_digest_of_its_body(run: Run, method: str) -> None:
    response = ask(run, app_with(text), method)
    assert (response.status, response.headers.get("etag")) == (200, f'"{SHA1}"')


def test_a_weak_etag(run: Run) -> None:
    assert ask(run, app_with(text, weak=True)).headers.get("etag") == f'W/"{SHA1}"'


def test_large_bodies_have_the_digest_of_all_bytes(run: Run) -> None:
    body = bytes(range(256)) * 2048
    expected = hashlib.sha1(body, usedforsecurity=False).hexdigest()
    response = ask(run, app_with(lambda c: c.body(body)))
    assert response.headers.get("etag") == f'"{expected}"'


@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_the_answer_to_another_method_is_no_representation(run: Run, method: str) -> None:
    response = ask(run, app_with(text), method, If_None_Match="*")
    assert (response.status, response.headers.get("etag")) == (200, None)


@pytest.mark.parametrize("status", [201, 203, 206, 404, 500])
def test_other_statuses_are_left_alone(run: Run, status: int) -> None:
    app = app_with(lambda c: c.text(BODY, status, {"Last-Modified": DATE}))
    response = ask(run, app, If_None_Match="*", If_Modified_Since=DATE)
    assert (response.status, response.headers.get("etag")) == (status, None)


def test_errors_and_absent_pages_are_left_alone(run: Run) -> None:
    def refuse(c: Context) -> Response:
        raise HTTPException(403, "no")

    assert not ask(run, app_with(refuse), If_None_Match="*").headers.has("etag")
    assert run(app_with(text).request, "/absent").status == 404


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"If_None_Match": f'"{SHA1}"'}, 304),
        ({"If_None_Match": f'W/"{SHA1}"'}, 304),
        ({"If_None_Match": f'"a,b", "{SHA1}"'}, 304),
        ({"If_None_Match": "*"}, 304),
        ({"If_None_Match": f'"a, {SHA1}"'}, 200),
        ({"If_None_Match": SHA1}, 200),
        ({"If_Match": f'"{SHA1}"'}, 200),
        ({"If_Match": "*"}, 200),
        ({"If_Match": '"other"'}, 412),
        ({"If_Match": f'W/"{SHA1}"'}, 412),
        ({"If_Match": '"other"', "If_None_Match": f'"{SHA1}"'}, 412),
        # Without Last-Modified, dates say nothing.
        ({"If_Modified_Since": DATE}, 200),
        ({"If_Unmodified_Since": BEFORE}, 200),
    ],
)
def test_preconditions_on_the_digest(run: Run, headers: dict[str, str], status: int) -> None:
    for method in ("GET", "HEAD"):
        assert ask(run, app_with(text), method, **headers).status == status


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"If_None_Match": '"own"'}, 304),
        ({"If_None_Match": f'"{SHA1}"'}, 200),
        ({"If_Modified_Since": DATE}, 304),
        ({"If_Modified_Since": BEFORE}, 200),
        ({"If_Modified_Since": DATE, "If_None_Match": '"other"'}, 200),
        ({"If_Unmodified_Since": DATE}, 200),
        ({"If_Unmodified_Since": BEFORE}, 412),
    ],
)
def test_preconditions_on_the_handlers_own_headers(
    run: Run, headers: dict[str, str], status: int
) -> None:
    response = ask(run, app_with(tagged), **headers)
    assert response.status == status
    assert status == 412 or response.headers.get("etag") == '"own"'


def test_a_weak_etag_never_matches_if_match(run: Run) -> None:
    app = app_with(text, weak=True)
    assert ask(run, app, If_Match=f'W/"{SHA1}"').status == 412
    assert ask(run, app, If_None_Match=f'"{SHA1}"').status == 304


def test_a_304_has_no_body_and_keeps_what_does_not_describe_it(run: Run) -> None:
    def handler(c: Context) -> Response:
        c.header("Set-Cookie", "seen=1", append=True)
        c.header("Set-Cookie", "again=2", append=True)
        return c.text(
            BODY,
            headers={
                "Access-Control-Allow-Origin": "https://a.example",
                "Cache-Control": "no-cache",
                "Content-Digest": "sha-256=:AAAA:",
                "Content-Language": "de",
                "Content-Location": "/momo",
                "Content-Security-Policy": "default-src 'none'",
                "Expires": DATE,
                "Last-Modified": DATE,
                "Vary": "Origin",
                "X-Request-Id": "7",
            },
        )

    response = ask(run, app_with(handler), If_None_Match="*")
    assert response.status == 304
    assert run(response.bytes) == b""
    assert response.headers.get_set_cookie() == ["seen=1", "again=2"]
    response.headers.delete("set-cookie")
    assert dict(response.headers) == {
        "access-control-allow-origin": "https://a.example",
        "cache-control": "no-cache",
        "content-location": "/momo",
        "content-security-policy": "default-src 'none'",
        "etag": f'"{SHA1}"',
        "expires": DATE,
        "vary": "Origin",
        "x-request-id": "7",
    }


def test_a_304_keeps_further_headers_that_are_named(run: Run) -> None:
    def handler(c: Context) -> Response:
        return c.text(BODY, headers={"Content-Language": "de"})

    app = app_with(handler, retained_headers=["content-LANGUAGE"])
    response = ask(run, app, If_None_Match="*")
    assert response.headers.get("content-language") == "de"
    assert not response.headers.has("content-type")


def test_a_304_without_an_etag_keeps_last_modified(run: Run) -> None:
    app = app_with(
        lambda c: c.text(BODY, headers={"Last-Modified": DATE}), generate_digest=lambda body: None
    )
    response = ask(run, app, If_Modified_Since=DATE)
    assert (response.status, response.headers.get("last-modified")) == (304, DATE)
    assert not response.headers.has("etag")


class Chunks:
    """A stream that notes what is read of it, and that it was closed."""

    def __init__(self) -> None:
        self.read = 0
        self.closed = False

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for _ in range(3):
            self.read += 1
            yield b"chunk"

    async def aclose(self) -> None:
        self.closed = True


def test_a_response_that_is_returned_again_is_not_changed(run: Run) -> None:
    always = Response(BODY)
    app = app_with(lambda c: always)
    for sent in ({}, {"If_None_Match": "*"}):
        assert ask(run, app, **sent).headers.has("etag")
        assert dict(always.headers) == {"content-type": "text/plain;charset=UTF-8"}


def test_streams_pass_unread(run: Run) -> None:
    chunks = Chunks()

    async def conversation() -> tuple[int, Any, int, bytes]:
        response = await app_with(lambda c: c.body(chunks)).request(
            "/", {"headers": {"If-None-Match": "*", "If-Match": '"a"'}}
        )
        read = chunks.read
        return response.status, response.headers.get("etag"), read, await response.bytes()

    assert run(conversation) == (200, None, 0, b"chunk" * 3)


@pytest.mark.parametrize(
    ("sent", "status"), [({"If_None_Match": '"v1"'}, 304), ({"If_Match": '"v2"'}, 412)]
)
def test_a_stream_with_an_etag_of_its_own_is_closed_unread(
    run: Run, sent: dict[str, str], status: int
) -> None:
    chunks = Chunks()
    app = app_with(lambda c: c.body(chunks, headers={"ETag": '"v1"'}))
    assert ask(run, app, **sent).status == status
    assert (chunks.read, chunks.closed) == (0, True)


def test_an_empty_body_has_no_etag(run: Run) -> None:
    for app in (app_with(lambda c: c.text("")), app_with(lambda c: c.body(None))):
        response = ask(run, app, If_None_Match="*")
        assert (response.status, response.headers.get("etag")) == (200, None)


def test_an_etag_of_its_own_counts_without_a_body(run: Run) -> None:
    app = app_with(lambda c: c.body(None, headers={"ETag": '"v1"'}))
    assert ask(run, app, If_None_Match='"v1"').status == 304


def test_a_digest_of_ones_own(run: Run) -> None:
    bodies = []

    def crc(body: bytes) -> bytes:
        bodies.append(body)
        return b"\x01\xab"

    assert ask(run, app_with(text, generate_digest=crc)).headers.get("etag") == '"01ab"'
    assert bodies == [b"Momo"]


def test_an_async_digest_of_ones_own(run: Run) -> None:
    async def version(body: bytes) -> bytes:
        return b"\xff"

    response = ask(run, app_with(text, generate_digest=version, weak=True))
    assert response.headers.get("etag") == 'W/"ff"'


def test_a_digest_may_be_left_out(run: Run) -> None:
    response = ask(run, app_with(text, generate_digest=lambda body: None), If_None_Match="*")
    assert (response.status, response.headers.get("etag")) == (200, None)


@pytest.mark.parametrize("made", ["abc", b"", 7])
def test_a_wrong_digest_is_a_fault(run: Run, made: Any) -> None:
    errors: list[Exception] = []
    app = app_with(text, generate_digest=lambda body: made)

    @app.on_error
    def note(error: Exception, c: Context) -> Response:
        errors.append(error)
        return c.text("fault", 500)

    assert ask(run, app).status == 500
    (error,) = errors
    assert isinstance(error, TypeError)
    assert str(error) == (
        f"etag(generate_digest=...) returned {made!r}: expected a digest as bytes, "
        "or None for no ETag"
    )


def test_the_inner_one_of_two_decides(run: Run) -> None:
    app = Kit()
    app.use(etag(weak=True))
    app.use(etag())
    app.get("/", text)
    assert ask(run, app).headers.get("etag") == f'"{SHA1}"'
    assert ask(run, app, If_None_Match="*").status == 304


def test_an_unmet_precondition_reaches_on_error(run: Run) -> None:
    app = app_with(text)

    @app.on_error
    def show(error: Exception, c: Context) -> Response:
        assert isinstance(error, HTTPException)
        return c.json({"status": error.status}, error.status)

    response = ask(run, app, If_Match='"other"')
    assert (response.status, run(response.json)) == (412, {"status": 412})
    assert not response.headers.has("etag")


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"weak": 1}, TypeError, "etag(weak=...) takes a bool, not 1"),
        ({"retained_headers": 7}, TypeError, "takes a str or a list of them, not 7"),
        ({"retained_headers": ["a b"]}, ValueError, "expected a header name such as"),
        ({"generate_digest": "sha1"}, TypeError, "takes a function (body), not 'sha1'"),
        ({"generate_digest": lambda: b""}, TypeError, "takes a function (body): got the"),
    ],
)
def test_wrong_options_are_refused(
    options: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error) as raised:
        etag(**options)
    assert text in str(raised.value)


def test_it_is_found_by_its_name() -> None:
    assert plugins.load("kit.middleware", "etag") is etag
