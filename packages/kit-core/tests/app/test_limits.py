# SPDX-License-Identifier: MIT
"""How much of a request an app takes: before its body is read, and in memory."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

from kit import Context, File, FormData, HTTPException, Kit, Limits, Request, Response

TOO_LARGE = "The body is larger than 5 bytes"


def reading(limits: Limits, read: list[str]) -> Kit:
    """Notes which middleware and handlers run; the handler reads no body."""
    app = Kit(limits=limits)

    @app.use()
    async def around(c: Context, next: Any) -> None:
        read.append("middleware")
        await next()
        c.header("x-around", "1")

    @app.post("/")
    async def handler(c: Context) -> Response:
        read.append("handler")
        return c.text("taken")

    return app


async def length(app: Kit, value: str, method: str = "POST") -> Response:
    return await app.request("/", {"method": method, "headers": {"content-length": value}})


@pytest.mark.parametrize("value", ["6", "0006", "9" * 5000])
async def test_a_declared_length_beyond_the_limit_is_refused_before_the_handler(value: str) -> None:
    ran: list[str] = []
    response = await length(reading(Limits(max_body_size_bytes=5), ran), value)
    assert (response.status, await response.text()) == (413, TOO_LARGE)
    assert response.headers["x-around"] == "1"
    assert ran == ["middleware"]


@pytest.mark.parametrize("value", ["5", "0", "", "abc", "-6", "6, 6", "٦"])
async def test_what_declares_no_more_goes_on(value: str) -> None:
    ran: list[str] = []
    if value.isascii():
        response = await length(reading(Limits(max_body_size_bytes=5), ran), value)
        assert (response.status, ran) == (200, ["middleware", "handler"])
    else:
        with pytest.raises(ValueError, match="only latin-1"):
            await length(reading(Limits(max_body_size_bytes=5), ran), value)


async def test_on_error_sees_a_length_that_is_refused() -> None:
    seen: list[Exception] = []

    def on_error(error: Exception, c: Context) -> Response:
        seen.append(error)
        return c.text("too much", 413)

    app = reading(Limits(max_body_size_bytes=5), []).on_error(on_error)
    assert await (await length(app, "6")).text() == "too much"
    [error] = seen
    assert isinstance(error, HTTPException)
    assert (error.status, error.message) == (413, TOO_LARGE)


async def test_it_is_refused_whatever_the_path() -> None:
    app = Kit(limits=Limits(max_body_size_bytes=5))
    response = await app.request("/none", {"method": "POST", "headers": {"content-length": "6"}})
    assert (response.status, await response.text()) == (413, TOO_LARGE)


def test_a_served_request_is_refused_unread(run: Any, client: Any) -> None:
    served = client(b"123456")
    app = reading(Limits(max_body_size_bytes=5), [])
    headers = [(b"host", b"x"), (b"content-length", b"6")]
    asked = run(served.ask, app, "/", "POST", headers=headers)
    assert (asked.status, asked.body) == (413, TOO_LARGE.encode())
    assert len(served.received) == 1  # the server still has it


READERS = {
    "bytes": lambda req: req.bytes(),
    "text": lambda req: req.text(),
    "json": lambda req: req.json(),
    "blob": lambda req: req.blob(),
    "array_buffer": lambda req: req.array_buffer(),
}


@pytest.mark.parametrize("chunks", [[b"1" * 9], [b"1" * 4, b"1" * 5]], ids=["whole", "chunked"])
@pytest.mark.parametrize("reader", READERS)
def test_a_body_that_is_read_into_memory_is_bounded(
    run: Any, client: Any, reader: str, chunks: list[bytes]
) -> None:
    app = Kit(limits=Limits(max_memory_size_bytes=8))

    @app.post("/")
    async def handler(c: Context) -> Response:
        await READERS[reader](c.req)
        return c.text("read")

    asked = run(client(*chunks).ask, app, "/")
    assert (asked.status, asked.body) == (413, b"The body is larger than 8 bytes")


def test_a_stream_is_bounded_by_the_body(run: Any, client: Any) -> None:
    """A body without a Content-Length is counted as it is read."""
    app = Kit(limits=Limits(max_body_size_bytes=8))
    read = bytearray()

    @app.post("/")
    async def handler(c: Context) -> Response:
        async for chunk in c.req.raw.body or ():
            read.extend(chunk)
        return c.text("read")

    assert run(client(b"1" * 5, b"2" * 3).ask, app, "/").body == b"read"
    asked = run(client(b"1" * 5, b"2" * 4, b"3").ask, app, "/")
    assert (asked.status, asked.body) == (413, b"The body is larger than 8 bytes")
    assert read == b"1111122211111"


@pytest.mark.parametrize("size", [8, 9])
def test_a_request_in_memory_is_bounded(run: Any, size: int) -> None:
    app = Kit(limits=Limits(max_body_size_bytes=8))
    app.post("/", lambda c: c.text("not read"))

    async def ask() -> int:
        # No header tells the size.
        response = await app.fetch(Request("http://x/", method="POST", body=b"1" * size))
        return response.status

    assert run(ask) == (200 if size == 8 else 413)


def test_a_stream_is_not_bounded_by_memory(run: Any, client: Any) -> None:
    app = Kit(limits=Limits(max_memory_size_bytes=8))

    @app.post("/")
    async def handler(c: Context) -> Response:
        size = 0
        async for chunk in c.req.raw.body or ():
            size += len(chunk)
        return c.json(size)

    assert run(client(b"1" * 8, b"1" * 8).ask, app, "/").body == b"16"


def test_a_file_is_not_bounded_by_memory(run: Any, client: Any) -> None:
    app = Kit(limits=Limits(max_memory_size_bytes=8))

    @app.post("/")
    async def handler(c: Context) -> Response:
        form = await c.req.parse_body()
        return c.json(form["f"].size)

    part = b'--b\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n'
    headers = [(b"host", b"x"), (b"content-type", b"multipart/form-data; boundary=b")]
    body = part + b"1" * 64 + b"\r\n--b--\r\n"
    for chunks in ([body], [body[:40], body[40:]]):
        assert run(client(*chunks).ask, app, "/", headers=headers).body == b"64"


async def test_a_file_of_a_request_in_process_is_not_bounded_by_memory() -> None:
    app = Kit(limits=Limits(max_memory_size_bytes=8))

    @app.post("/")
    async def handler(c: Context) -> Response:
        form = await c.req.form_data()
        return c.json({name: value.size for name, value in form})

    form = FormData({"f": File([b"1" * 64], "f")})
    response = await app.request("/", method="POST", body=form)
    assert await response.json() == {"f": 64}


def test_memory_is_bounded_by_default() -> None:
    assert Limits().max_memory_size_bytes == 64 * 1024 * 1024
    assert Limits().most_in_memory == 64 * 1024 * 1024
    assert Limits(max_body_size_bytes=5).most_in_memory == 5
    assert Limits(max_memory_size_bytes=None).most_in_memory is None


def test_limits_are_immutable_values() -> None:
    limits = Limits(max_files=3)
    with pytest.raises(AttributeError):
        limits.max_files = 4  # type: ignore[misc]  # what is tested
    with pytest.raises(TypeError, match="max_fiels"):
        Limits(max_fiels=3)  # type: ignore[call-arg]  # what is tested
    assert limits == Limits(max_files=3) != Limits()
    assert len({limits, Limits(max_files=3)}) == 1
    assert copy.copy(limits) == pickle.loads(pickle.dumps(limits)) == limits
    assert "max_files=3" in repr(limits)


@pytest.mark.parametrize(
    ("limits", "kind", "text"),
    [
        ({"max_files": "3"}, TypeError, "Limits(max_files=...) takes an int, not '3'"),
        ({"max_files": None}, TypeError, "Limits(max_files=...) takes an int, not None"),
        ({"max_fields": True}, TypeError, "Limits(max_fields=...) takes an int, not True"),
        ({"max_body_size_bytes": 1.5}, TypeError, "takes an int or None, not 1.5"),
        ({"spool_size_bytes": -1}, ValueError, "it must be 0 or more"),
    ],
)
def test_limits_that_can_not_be_used(limits: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind) as caught:
        Limits(**limits)
    assert text in str(caught.value)
    with pytest.raises(kind):
        Limits().but(**limits)


def test_limits_can_be_copied_with_changes() -> None:
    limits = Limits(max_files=3)
    assert limits.but(max_fields=5) == Limits(max_files=3, max_fields=5)
    assert limits == Limits(max_files=3)
    with pytest.raises(TypeError, match="max_fiels"):
        limits.but(max_fiels=3)


def test_a_copy_of_limits_has_their_class() -> None:
    class Own(Limits, frozen=True):
        max_photos: int = 3

    assert Own(max_photos=4).but(max_files=1) == Own(max_files=1, max_photos=4)


@pytest.mark.parametrize("path", ["/api/books", "/api/nowhere"])
async def test_too_large_body_below_a_base_path(path: str) -> None:
    app = Kit(limits=Limits(max_body_size_bytes=2))
    api = app.base_path("/api")
    api.on_error(lambda error, c: c.text(f"api: {error}", 413))
    api.post("/books", lambda c: c.text("taken"))
    app.on_error(lambda error, c: c.text(f"app: {error}", 413))
    response = await app.request(path, method="POST", body="four")
    assert (await response.text()).startswith("api: 413")
    response = await app.request("/elsewhere", method="POST", body="four")
    assert (await response.text()).startswith("app: 413")


async def test_too_large_body_of_an_app_within_another() -> None:
    inner = Kit().post("/books", lambda c: c.text("taken"))
    inner.on_error(lambda error, c: c.text("inner", 413))
    app = Kit(limits=Limits(max_body_size_bytes=2)).route("/api", inner)
    assert await (await app.request("/api/books", method="POST", body="four")).text() == "inner"
