# SPDX-License-Identifier: MIT
"""`from_wsgi`, with small applications; tests/servers/test_foreign_apps.py has Flask and Django."""

from __future__ import annotations

import asyncio
import builtins
import threading
from collections.abc import Iterator
from typing import Any

import anyio
import pytest

from kit import Kit, Request
from kit.asgi import from_wsgi


@pytest.fixture(autouse=True)
def a2wsgi() -> Any:
    return pytest.importorskip("a2wsgi")


def wsgi_echo(environ: dict[str, Any], start_response: Any) -> Iterator[bytes]:
    names = ("SCRIPT_NAME", "PATH_INFO", "QUERY_STRING")
    told = " ".join(str(environ.get(name)) for name in names)
    start_response("201 Created", [("Set-Cookie", "a=1"), ("Set-Cookie", "b=2")])
    return iter([told.encode(), b" ", environ["wsgi.input"].read()])


async def test_wsgi_application() -> None:
    kit = Kit().mount("/m", from_wsgi(wsgi_echo))
    response = await kit.request("/m/caf%C3%A9?q=1", {"method": "POST", "body": "body"})
    assert (response.status, response.headers.get_set_cookie()) == (201, ["a=1", "b=2"])
    # SPEC: PEP 3333, "Unicode Issues": bytes, each as a character.
    assert await response.bytes() == "/m /caf\xc3\xa9 q=1 body".encode()


async def test_headers_as_variables(client: Any) -> None:
    def app(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        start_response("200 OK", [])
        names = ("HTTP_COOKIE", "HTTP_ACCEPT", "HTTP_X_USER", "QUERY_STRING")
        return [" | ".join(str(environ.get(name)) for name in names).encode()]

    headers = [
        (b"cookie", b"a=1"),
        (b"accept", b"text/html"),
        (b"x_user", b"root"),  # what a proxy lets through that checks X-User alone
        (b"cookie", b"b=2"),  # as HTTP/2 has them
        (b"accept", b"*/*"),
    ]
    kit = Kit().mount("/m", from_wsgi(app))
    answer = await client().ask(kit, headers=headers, query_string="q=é".encode())
    assert answer.body == b"a=1; b=2 | text/html,*/* | None | q=%C3%A9"


async def test_wsgi_response_that_is_not_read_to_its_end_is_closed() -> None:
    closed = threading.Event()
    made: list[int] = []

    def app(environ: Any, start_response: Any) -> Iterator[bytes]:
        def chunks() -> Iterator[bytes]:
            try:
                for number in range(1_000_000):
                    made.append(number)
                    yield b"x"
            finally:
                closed.set()

        start_response("200 OK", [])
        return chunks()

    response = await from_wsgi(app, workers=1)(Request("http://x/"))
    body = response.body
    assert body is not None
    await anext(body)
    assert not closed.is_set()
    await body.aclose()
    assert await anyio.to_thread.run_sync(closed.wait, 10)
    assert len(made) < 100


@pytest.mark.parametrize("sent", [False, True])
def test_an_event_loop_that_ends_waits_for_the_thread(sent: bool) -> None:
    """It would never end, and Python with it, if it waited for an event loop that is not there."""
    begun, ended, let_go = threading.Event(), threading.Event(), threading.Event()

    def app(environ: Any, start_response: Any) -> Iterator[bytes]:
        def chunks() -> Iterator[bytes]:
            try:
                while True:
                    yield b"x"
                    begun.set()
            finally:
                ended.set()

        if not sent:
            begun.set()
            let_go.wait(10)
        start_response("200 OK", [])
        return chunks()

    async def main() -> None:
        task = asyncio.ensure_future(from_wsgi(app)(Request("http://x/")))
        await asyncio.to_thread(begun.wait, 10)
        if sent:
            await task  # and nobody reads it
        asyncio.get_running_loop().call_later(0.05, let_go.set)

    asyncio.run(main())
    assert ended.is_set()


async def test_a_request_that_is_cancelled_before_there_is_a_thread() -> None:
    let_go = threading.Event()
    called: list[str] = []

    def app(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        called.append(environ["PATH_INFO"])
        let_go.wait(10)
        start_response("200 OK", [])
        return [b"ok"]

    handler = from_wsgi(app, workers=1)
    first = asyncio.ensure_future(handler(Request("http://x/first")))
    while not called:
        await asyncio.sleep(0.001)
    second = asyncio.ensure_future(handler(Request("http://x/second")))
    await anyio.wait_all_tasks_blocked()
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    let_go.set()
    assert await (await first).text() == "ok"
    assert await (await handler(Request("http://x/third"))).text() == "ok"
    assert called == ["/first", "/third"]


async def test_wsgi_errors_go_to_on_error() -> None:

    def app(environ: Any, start_response: Any) -> Iterator[bytes]:
        raise LookupError("lost")

    kit = Kit().mount("/m", from_wsgi(app)).on_error(lambda error, c: c.text(repr(error), 502))
    response = await kit.request("/m")
    assert (response.status, await response.text()) == (502, "LookupError('lost')")


async def test_wsgi_upload_that_breaks_off(client: Any) -> None:
    errors: list[str] = []

    def app(environ: Any, start_response: Any) -> list[bytes]:
        try:
            environ["wsgi.input"].read()
        except OSError as error:
            errors.append(str(error))
        start_response("200 OK", [])
        return []

    asking = client(b"half", more=True)
    asking.gone.set()
    await asking.ask(Kit().mount("/m", from_wsgi(app)))
    assert errors == ["The client disconnected before its body was complete"]


async def test_a_small_upload_that_stalls_occupies_no_thread(client: Any) -> None:
    kit = Kit().mount("/m", from_wsgi(wsgi_echo, workers=1))
    with anyio.fail_after(10):
        async with anyio.create_task_group() as group:
            stalled = client(b"half", more=True)
            lines = [(b"content-length", b"100")]
            group.start_soon(lambda: stalled.ask(kit, headers=lines))
            await anyio.wait_all_tasks_blocked()
            answer = await client(b"who", b"le").ask(kit, headers=[(b"content-length", b"5")])
            assert (answer.status, answer.body) == (201, b"/m /a  whole")
            stalled.gone.set()
    assert not stalled.sent


def nothing(environ: Any, start_response: Any) -> list[bytes]:
    return []


async def asgi(scope: Any, receive: Any, send: Any) -> None:
    pass


def test_what_is_no_wsgi_application() -> None:
    takes = "from_wsgi() takes a WSGI application (environ, start_response), not "
    with pytest.raises(TypeError) as caught:
        from_wsgi(1)  # type: ignore[arg-type]
    assert str(caught.value) == takes + "1"
    with pytest.raises(TypeError) as caught:
        from_wsgi(asgi)  # type: ignore[arg-type]
    assert str(caught.value) == (
        takes + "asgi(scope: 'Any', receive: 'Any', send: 'Any') -> 'None': "
        "use from_asgi() for an ASGI one"
    )
    with pytest.raises(ValueError, match=r"^from_wsgi\(workers=0\) can't be used: expected"):
        from_wsgi(nothing, workers=0)

    async def on_trio() -> None:
        with pytest.raises(RuntimeError, match="a2wsgi does not run on trio"):
            await from_wsgi(nothing)(Request("http://x/"))

    anyio.run(on_trio, backend="trio")


def test_without_a2wsgi(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "a2wsgi":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    real = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(
        ImportError, match=r'^from_wsgi\(\) needs .* a2wsgi: pip install "kit-asgi\[wsgi\]"$'
    ):
        from_wsgi(nothing)
