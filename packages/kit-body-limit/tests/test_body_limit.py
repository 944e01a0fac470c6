# SPDX-License-Identifier: MIT
"""Which bodies are refused, when, and with which answer."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from typing import Any, NamedTuple

import anyio
import pytest
from anyio.lowlevel import checkpoint
from hypothesis import given
from hypothesis import strategies as st

import kit.body_limit
from kit import Context, HTTPException, Kit, Limits, Next, Response
from kit.asgi import from_asgi
from kit.body_limit import body_limit
from kit.interface import plugins
from kit.interface.metadata import get_facts

URLENCODED = ("content-type", "application/x-www-form-urlencoded")
MULTIPART = ("content-type", "multipart/form-data; boundary=X")
CHUNKED = ("transfer-encoding", "chunked")
TOO_LARGE = (413, "Payload Too Large")


class Served(NamedTuple):
    """What a client and its server saw of a request.

    Attributes:
        status: Status of the answer.
        body: Its body.
        received: How many messages of the request body the app took.
    """

    status: int
    body: str
    received: int


async def served(
    app: Any,
    chunks: list[bytes],
    *headers: tuple[str, str],
    method: str = "POST",
    path: str = "/",
) -> Served:
    """Serves a request whose body comes in chunks; the client then stays."""
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers],
        "client": ("127.0.0.1", 1234),
        "server": ("127.0.0.1", 80),
    }
    left = list(chunks)
    sent: list[dict[str, Any]] = []
    complete = anyio.Event()

    async def receive() -> dict[str, Any]:
        await checkpoint()
        if left:
            return {"type": "http.request", "body": left.pop(0), "more_body": bool(left)}
        await complete.wait()
        return {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        await checkpoint()
        sent.append(message)
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            complete.set()

    await app(scope, receive, send)
    body = b"".join(message.get("body", b"") for message in sent[1:])
    return Served(sent[0]["status"], body.decode(), len(chunks) - len(left))


def part(size: int) -> bytes:
    """A multipart form with one file."""
    head = b'--X\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n'
    return head + b"x" * size + b"\r\n--X--\r\n"


def pieces(data: bytes, size: int = 7) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


async def text(c: Context) -> Response:
    return c.json(len(await c.req.text()))


async def content(c: Context) -> Response:
    return c.json(len(await c.req.bytes()))


async def blob(c: Context) -> Response:
    return c.json((await c.req.blob()).size)


async def raw_bytes(c: Context) -> Response:
    return c.json(len(await c.req.raw.bytes()))


async def raw_stream(c: Context) -> Response:
    body: Any = c.req.raw.body
    return c.json(sum([len(chunk) async for chunk in body]))


async def clone(c: Context) -> Response:
    copy = c.req.raw.clone()
    return c.json([len(await copy.bytes()), len(await c.req.bytes())][0])


async def form_data(c: Context) -> Response:
    await c.req.form_data()
    return c.json("form")


async def parse_body(c: Context) -> Response:
    await c.req.parse_body()
    return c.json("form")


async def json_value(c: Context) -> Response:
    return c.json(len(await c.req.json()))


READERS = [text, content, blob, raw_bytes, raw_stream, clone]
by_reader = pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.__name__)


def too_large(c: Context) -> Response:
    return c.text(TOO_LARGE[1], TOO_LARGE[0])


with_and_without_on_error = pytest.mark.parametrize("on_error", [None, too_large])


def app_with(handler: Any, max_size: int = 20, on_error: Any = None, **options: Any) -> Kit:
    app = Kit(**options)
    app.all("/*", body_limit(max_size, on_error), handler)
    return app


# --- bytes are counted ---------------------------------------------------------------------------


@by_reader
@pytest.mark.parametrize("size", [0, 1, 19, 20])
def test_a_body_up_to_the_limit_is_read(run: Callable[..., Any], reader: Any, size: int) -> None:
    for chunks in ([b"x" * size], pieces(b"x" * size) or [b""]):
        answer = run(served, app_with(reader), chunks)
        assert answer == (200, str(size), len(chunks))


@by_reader
def test_one_byte_more_is_refused(run: Callable[..., Any], reader: Any) -> None:
    assert run(served, app_with(reader), [b"x" * 21])[:2] == TOO_LARGE
    # 7, 14 and 21 bytes: nothing after them is read.
    answer = run(served, app_with(reader), pieces(b"x" * 70))
    assert answer == (*TOO_LARGE, 3)


@with_and_without_on_error
@by_reader
def test_cve_2026_44456_chunked_body(run: Callable[..., Any], reader: Any, on_error: Any) -> None:
    for chunks in ([b"x" * 21], pieces(b"x" * 21)):
        assert run(served, app_with(reader, on_error=on_error), chunks, CHUNKED)[:2] == TOO_LARGE
        # Beside Transfer-Encoding the length counts for nothing.
        answer = run(
            served, app_with(reader, on_error=on_error), chunks, CHUNKED, ("content-length", "1")
        )
        assert answer[:2] == TOO_LARGE


@with_and_without_on_error
@by_reader
def test_cve_2026_54288_understated_length(
    run: Callable[..., Any], reader: Any, on_error: Any
) -> None:
    for declared in ("0", "5", "20"):
        for chunks in ([b"x" * 21], pieces(b"x" * 21)):
            answer = run(
                served, app_with(reader, on_error=on_error), chunks, ("content-length", declared)
            )
            assert answer[:2] == TOO_LARGE


@with_and_without_on_error
@pytest.mark.parametrize("reader", [parse_body, form_data], ids=["parse_body", "form_data"])
def test_cve_2026_54283_urlencoded_form(
    run: Callable[..., Any], reader: Any, on_error: Any
) -> None:
    form = b"a=1&b=" + b"2" * 15
    for chunks in ([form], pieces(form)):
        answer = run(served, app_with(reader, 21, on_error), chunks, URLENCODED)
        assert answer == (200, '"form"', len(chunks))
        assert run(served, app_with(reader, 20, on_error), chunks, URLENCODED)[:2] == TOO_LARGE


@pytest.mark.parametrize("reader", [parse_body, form_data], ids=["parse_body", "form_data"])
def test_multipart_forms(run: Callable[..., Any], reader: Any) -> None:
    form = part(3_000_000)  # beyond what is kept in memory
    chunks = pieces(form, 65_536)
    assert run(served, app_with(reader, len(form)), chunks, MULTIPART)[:2] == (200, '"form"')
    refused = run(served, app_with(reader, 1_500_000), chunks, MULTIPART)
    assert refused == (*TOO_LARGE, 1_500_000 // 65_536 + 1)
    small = part(5)
    assert run(served, app_with(reader, len(small)), [small], MULTIPART)[:2] == (200, '"form"')
    assert run(served, app_with(reader, len(small) - 1), [small], MULTIPART)[:2] == TOO_LARGE


def test_json(run: Callable[..., Any]) -> None:
    assert run(served, app_with(json_value), [b'{"a": 1, "b": "xxx"}'])[:2] == (200, "2")
    assert run(served, app_with(json_value), [b'{"a": 1, "b": "xxxx"}'])[:2] == TOO_LARGE


@given(chunks=st.lists(st.binary(max_size=9), min_size=1, max_size=9), limit=st.integers(0, 40))
async def test_any_chunks(chunks: list[bytes], limit: int) -> None:
    size = sum(map(len, chunks))
    for reader in (content, raw_stream):
        answer = await served(app_with(reader, limit), chunks)
        assert answer[:2] == ((200, str(size)) if size <= limit else TOO_LARGE)


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "QUERY"])
def test_every_method(run: Callable[..., Any], method: str) -> None:
    async def ask() -> Any:
        return await served(app_with(content), [b"x" * 21], method=method)

    assert run(ask)[:2] == TOO_LARGE


async def chunks_of(count: int, seen: list[int]) -> AsyncIterator[bytes]:
    for number in range(count):
        seen.append(number)
        yield b"xxxxxxx"


@by_reader
def test_a_stream_of_a_request_made_in_process(run: Callable[..., Any], reader: Any) -> None:
    async def ask(count: int, limit: int) -> tuple[int, str, int]:
        seen: list[int] = []
        app = app_with(reader, limit)
        response = await app.request("/", {"method": "POST", "body": chunks_of(count, seen)})
        return response.status, await response.text(), len(seen)

    assert run(ask, 3, 21) == (200, "21", 3)
    assert run(ask, 9, 20) == (*TOO_LARGE, 3)


def test_bytes_of_a_request_made_in_process(run: Callable[..., Any]) -> None:
    ran: list[str] = []

    def unread(c: Context) -> Response:
        ran.append(c.req.path)
        return c.text("did not look")

    async def ask(size: int) -> tuple[int, str]:
        init = {"method": "POST", "body": "x" * size}
        response = await app_with(unread).request("/", init)  # type: ignore[arg-type]
        return response.status, await response.text()

    # The size is known, so nothing has to be read for it.
    assert run(ask, 21) == TOO_LARGE
    assert ran == []
    assert run(ask, 20) == (200, "did not look")


def test_a_refused_body_stays_refused(run: Callable[..., Any]) -> None:
    found: list[Any] = []

    async def stubborn(c: Context) -> Response:
        for read in (c.req.text, c.req.bytes, c.req.form_data, c.req.blob, c.req.text):
            try:
                found.append(await read())
            except HTTPException as error:
                found.append(error.status)
        return c.text("at last")

    for chunks in ([b"x" * 21], pieces(b"x" * 70)):
        found.clear()
        assert run(served, app_with(stubborn), chunks)[:2] == (200, "at last")
        assert found == [413] * 5


def test_a_stream_stays_a_stream(run: Callable[..., Any]) -> None:
    """The handler gets each chunk before the next one was received."""
    taken: list[int] = []

    async def main() -> None:
        left = pieces(b"x" * 70)

        async def receive() -> dict[str, Any]:
            taken.append(len(left))
            return {"type": "http.request", "body": left.pop(0), "more_body": True}

        async def send(message: dict[str, Any]) -> None:
            pass

        def check(left: list[bytes]) -> None:
            assert taken[-1] == len(left) + 1

        async def look(c: Context) -> Response:
            body: Any = c.req.raw.body
            with pytest.raises(HTTPException):
                [check(left) async for _ in body]
            assert len(taken) == 3
            return c.text("seen")

        scope = {
            "type": "http", "method": "POST", "path": "/", "query_string": b"", "headers": [],
        }  # fmt: skip
        await app_with(look)(scope, receive, send)

    run(main)


# --- what is refused before it is read -----------------------------------------------------------


@pytest.mark.parametrize(
    "declared", ["21", "0021", "9" * 5000, "1" + "0" * 40, "21, 21", "0" * 5000 + "21"]
)
def test_a_declared_length_is_refused_unread(run: Callable[..., Any], declared: str) -> None:
    ran: list[str] = []

    async def handler(c: Context) -> Response:
        ran.append(c.req.path)
        return c.text("ran")

    answer = run(served, app_with(handler), [b"x" * 21], ("content-length", declared))
    assert answer == (*TOO_LARGE, 0)
    assert ran == []


@pytest.mark.parametrize("declared", ["20", "0", "00020", "20,20", "0" * 5000])
def test_a_declared_length_within_the_limit(run: Callable[..., Any], declared: str) -> None:
    answer = run(served, app_with(content), [b"x" * 20], ("content-length", declared))
    assert answer[:2] == (200, "20")


@pytest.mark.parametrize(
    "declared", ["abc", "", "-1", "+5", "1e9", "5abc", "0x10", "1.0", "²", "5, 6", "5,", "٣"]
)
def test_a_length_that_is_no_number(run: Callable[..., Any], declared: str) -> None:
    async def ask() -> Any:
        header = ("content-length", declared.encode().decode("latin-1"))
        return await served(app_with(content), [b"x"], header)

    assert run(ask) == (400, "Invalid Content-Length", 0)


@pytest.mark.parametrize("declared", ["\xb2", "5\xb9", "5,\xb3"])
def test_a_length_with_a_superscript_digit(run: Callable[..., Any], declared: str) -> None:
    answer = run(served, app_with(content), [b"x"], ("content-length", declared))
    assert answer == (400, "Invalid Content-Length", 0)


def test_two_lines_of_different_lengths(run: Callable[..., Any]) -> None:
    headers = (("content-length", "5"), ("content-length", "500"))
    answer = run(served, app_with(content), [b"x"], *headers)
    assert answer == (400, "Invalid Content-Length", 0)


def test_a_body_that_nothing_reads_is_not_received(run: Callable[..., Any]) -> None:
    answer = run(served, app_with(lambda c: c.text("no need")), pieces(b"x" * 70))
    assert answer == (200, "no need", 0)


# --- on_error ------------------------------------------------------------------------------------


def over(c: Context) -> Response:
    return c.text(f"over {c.req.path}", 400)


async def over_later(c: Context) -> Response:
    return over(c)


@pytest.mark.parametrize("on_error", [over, over_later])
def test_on_error_answers(run: Callable[..., Any], on_error: Any) -> None:
    app = app_with(content, on_error=on_error)
    assert run(served, app, [b"x" * 20])[:2] == (200, "20")
    assert run(served, app, [b"x" * 21])[:2] == (400, "over /")
    assert run(served, app, pieces(b"x" * 70)) == (400, "over /", 3)
    assert run(served, app, [b"x"], ("content-length", "21")) == (400, "over /", 0)

    async def in_process() -> Any:
        return (await app.request("/", method="POST", body="x" * 21)).status

    assert run(in_process) == 400


def test_on_error_is_not_asked_by_other_errors(run: Callable[..., Any]) -> None:
    def refuse(c: Context) -> Response:
        raise HTTPException(413, "another limit")

    app = app_with(refuse, on_error=over)
    assert run(served, app, [b"x"])[:2] == (413, "another limit")
    assert run(served, app, [b"x"], ("content-length", "x"))[:2] == (400, "Invalid Content-Length")


def test_a_handler_may_answer_itself(run: Callable[..., Any]) -> None:
    async def handler(c: Context) -> Response:
        try:
            return await content(c)
        except HTTPException as error:
            return c.text(f"caught {error.status}", 422)

    for on_error in (None, over):
        answer = run(served, app_with(handler, on_error=on_error), [b"x" * 21])
        assert answer[:2] == (422, "caught 413")


def test_on_error_may_raise(run: Callable[..., Any]) -> None:
    def refuse(c: Context) -> Response:
        raise HTTPException(429, "slow down")

    app = app_with(content, on_error=refuse)
    assert run(served, app, [b"x" * 21])[:2] == (429, "slow down")
    assert run(served, app, [b"x"], ("content-length", "99"))[:2] == (429, "slow down")


def test_the_handler_for_errors_of_the_app_sees_it(
    run: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    app = app_with(content)
    app.on_error(HTTPException, lambda error, c: c.json({"status": error.status}, error.status))
    for headers in ([], [("content-length", "21")]):
        assert run(served, app, [b"x" * 21], *headers)[:2] == (413, '{"status":413}')
    assert [each for each in caplog.records if each.levelno > logging.DEBUG] == []


def test_the_answer_keeps_headers_of_other_middleware(run: Callable[..., Any]) -> None:
    async def mark(c: Context, next: Next) -> None:
        c.header("x-mark", "1")
        await next()

    async def ask(on_error: Any, body: Any) -> tuple[int, str | None]:
        app = Kit()
        app.use(mark, body_limit(20, on_error))
        app.post("/", content)
        response = await app.request("/", method="POST", body=body)
        return response.status, response.headers.get("x-mark")

    for body in ("x" * 21, [b"x" * 21]):
        assert run(ask, None, body) == (413, "1")
        assert run(ask, over, body) == (400, "1")


# --- several limits, other limits, other places --------------------------------------------------


@pytest.mark.parametrize(
    ("outer", "inner", "size", "expected"),
    [
        (10, 20, 11, (400, "over /")),
        (20, 10, 11, TOO_LARGE),
        (20, 10, 21, (400, "over /")),
        (10, 10, 11, (400, "over /")),
        (20, 10, 10, (200, "10")),
    ],
)
def test_each_of_several_limits_holds(
    run: Callable[..., Any], outer: int, inner: int, size: int, expected: tuple[int, str]
) -> None:
    app = Kit()
    app.use(body_limit(outer, over))
    app.post("/", body_limit(inner), content)
    assert run(served, app, [b"x" * size])[:2] == expected
    length = ("content-length", str(size))
    assert run(served, app, [b"x" * size], length)[:2] == expected

    async def in_process(body: Any) -> tuple[int, str]:
        response = await app.request("/", method="POST", body=body)
        return response.status, await response.text()

    assert run(in_process, b"x" * size) == expected
    assert run(in_process, [b"x" * size]) == expected


def test_limits_of_the_app_hold_besides(run: Callable[..., Any]) -> None:
    app = app_with(content, 20, limits=Limits(max_body_size_bytes=10))
    assert run(served, app, [b"x" * 10])[:2] == (200, "10")
    assert run(served, app, [b"x" * 11])[:2] == (413, "The body is larger than 10 bytes")
    app = app_with(content, 20, limits=Limits(max_memory_size_bytes=10))
    assert run(served, app, [b"x" * 11])[:2] == (413, "The body is larger than 10 bytes")
    app = app_with(raw_stream, 20, limits=Limits(max_memory_size_bytes=10))
    assert run(served, app, [b"x" * 20])[:2] == (200, "20")
    app = app_with(content, 10, limits=Limits(max_body_size_bytes=20))
    assert run(served, app, [b"x" * 11])[:2] == TOO_LARGE


def test_only_where_it_is_registered(run: Callable[..., Any]) -> None:
    async def ask(path: str) -> Any:
        app = Kit()
        app.use("/small/*", body_limit(20))
        app.post("/*", content)
        return (await served(app, [b"x" * 21], path=path))[:2]

    assert run(ask, "/small/x") == TOO_LARGE
    assert run(ask, "/large") == (200, "21")


async def peek(c: Context, next: Next) -> None:
    await c.req.text()
    await next()


async def peek_form(c: Context, next: Next) -> None:
    await c.req.form_data()
    await next()


def test_a_body_that_was_read_before(run: Callable[..., Any]) -> None:
    app = Kit()
    app.use(peek, body_limit(20))
    app.post("/", content)
    for size, expected in ((20, (200, "20")), (21, TOO_LARGE)):
        assert run(served, app, [b"x" * size])[:2] == expected
        assert run(served, app, pieces(b"x" * size))[:2] == expected
    form = part(100)
    for limit, status in ((len(form), 200), (len(form) - 1, 413)):
        app = Kit()
        app.use(peek_form, body_limit(limit))
        app.post("/", form_data)
        assert run(served, app, [form], MULTIPART)[0] == status
        assert run(served, app, pieces(form), MULTIPART)[0] == status


def test_it_fails_closed_where_the_size_is_unknown(run: Callable[..., Any]) -> None:
    async def read_raw(c: Context, next: Next) -> None:
        await c.req.raw.bytes()
        await next()

    app = Kit()
    app.use(read_raw, body_limit(20))
    app.post("/", lambda c: c.text("ran"))

    async def ask() -> int:
        return (await app.request("/", method="POST", body=[b"x"])).status

    assert run(ask) == 500
    # A server's body is counted, also where it was read directly.
    assert run(served, app, [b"x" * 20])[:2] == (200, "ran")
    assert run(served, app, [b"x" * 21])[:2] == TOO_LARGE


async def echo_length(scope: Any, receive: Any, send: Any) -> None:
    """A plain ASGI application."""
    size, more = 0, True
    while more:
        message = await receive()
        size += len(message.get("body", b""))
        more = message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(size).encode()})


@pytest.mark.parametrize("mounted", [from_asgi(echo_length), app_with(content, 1000).fetch])
def test_mounted_applications(run: Callable[..., Any], mounted: Any) -> None:
    async def ask(chunks: list[bytes]) -> Any:
        app = Kit()
        app.use(body_limit(20))
        app.mount("/inner", mounted)
        return (await served(app, chunks, path="/inner/x"))[:2]

    for size, expected in ((20, (200, "20")), (21, TOO_LARGE)):
        assert run(ask, [b"x" * size]) == expected
        assert run(ask, pieces(b"x" * size)) == expected


def test_below_a_mount_the_limit_of_the_inner_app_holds(run: Callable[..., Any]) -> None:
    async def ask(chunks: list[bytes]) -> Any:
        app = Kit()
        app.mount("/inner", app_with(content).fetch)
        return (await served(app, chunks, path="/inner/x"))[:2]

    assert run(ask, pieces(b"x" * 20)) == (200, "20")
    assert run(ask, pieces(b"x" * 21)) == TOO_LARGE


# --- creation ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (("1mb",), TypeError, "body_limit(max_size=...) takes an int, not '1mb'"),
        ((1.5,), TypeError, "body_limit(max_size=...) takes an int, not 1.5"),
        ((True,), TypeError, "body_limit(max_size=...) takes an int, not True"),
        ((None,), TypeError, "body_limit(max_size=...) takes an int, not None"),
        ((-1,), ValueError, "body_limit(max_size=-1) can't be used: expected at least 0 bytes"),
        ((10, "Too large"), TypeError, "takes a function (c), not 'Too large'"),
        ((10, 413), TypeError, "body_limit(on_error=...) takes a function (c), not 413"),
        ((10, lambda: None), TypeError, "takes a function (c): got the signature <lambda>()"),
    ],
)
def test_wrong_calls(arguments: tuple[Any, ...], error: type[Exception], text: str) -> None:
    with pytest.raises(error) as raised:
        body_limit(*arguments)
    assert text in str(raised.value)


def test_public_names() -> None:
    assert kit.body_limit.__all__ == ("OnError", "body_limit")
    assert plugins.load("kit.middleware", "body-limit") is body_limit


@pytest.mark.parametrize("on_error", [None, over])
def test_facts_and_name(on_error: Any) -> None:
    middleware: Any = body_limit(10, on_error)
    assert middleware.__name__ == "body_limit"
    assert get_facts(middleware).responses == {413: "The body is too large"}
