# SPDX-License-Identifier: MIT
"""An application and the stream around it, which both listen for the client to leave."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from kit import Context, Kit, Response
from kit.asgi import from_asgi
from kit.streaming import StreamingApi, stream


class Listener:
    """An application that reads its request and waits until the client leaves."""

    def __init__(self, heard: list[str]) -> None:
        self.heard = heard
        self.body = b""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        more = True
        while more:
            message = await receive()
            self.body += message["body"]
            more = message["more_body"]
        assert (await receive())["type"] == "http.disconnect"
        self.heard.append("application")


def kit_of(listen: Any, write: Any) -> Kit:
    """Streams a response, after it has given `listen` a clone of the request."""
    app = Kit()

    @app.all("*")
    async def handler(c: Context) -> Response:
        listen(c.req.raw.clone())
        return stream(c, lambda api: write(c, api))

    return app


def test_the_application_is_cancelled(run: Any, client: Any) -> None:
    async def main() -> None:
        async def write(c: Context, api: StreamingApi) -> None:
            await api.write("begun")
            await anyio.wait_all_tasks_blocked()
            inner.cancel_scope.cancel()
            await anyio.wait_all_tasks_blocked()
            asking.gone.set()
            try:
                await anyio.sleep_forever()
            finally:
                heard.append("stream")

        heard: list[str] = []
        asking = client(b"a", b"b")
        async with anyio.create_task_group() as outer, anyio.create_task_group() as inner:
            app = from_asgi(Listener(heard))
            kit = kit_of(lambda request: inner.start_soon(app, request), write)
            outer.start_soon(asking.ask, kit)
            await anyio.sleep_forever()
        assert heard == ["stream"]

    run(main)


def test_the_stream_comes_to_its_end(run: Any, client: Any) -> None:
    async def main() -> None:
        async def write(c: Context, api: StreamingApi) -> None:
            await api.write("begun")
            await anyio.wait_all_tasks_blocked()

        async def listen(request: Any) -> None:
            with pytest.raises(
                Exception, match=r"^The client disconnected before it was answered$"
            ):
                await from_asgi(Listener(heard))(request)

        heard: list[str] = []
        asking = client(b"a", b"b")
        async with anyio.create_task_group() as group:
            await asking.ask(kit_of(lambda request: group.start_soon(listen, request), write))
            assert asking.complete
            await anyio.wait_all_tasks_blocked()
            assert heard == []
            asking.gone.set()
        assert heard == ["application"]

    run(main)


def test_both_read_the_body_first(run: Any, client: Any) -> None:
    async def main() -> None:
        async def write(c: Context, api: StreamingApi) -> None:
            read.append(await c.req.bytes())
            await anyio.wait_all_tasks_blocked()
            assert heard == []
            asking.gone.set()
            try:
                await anyio.sleep_forever()
            finally:
                heard.append("stream")

        async def listen(request: Any) -> None:
            with pytest.raises(
                Exception, match=r"^The client disconnected before it was answered$"
            ):
                await from_asgi(listener)(request)
            read.append(listener.body)

        heard: list[str] = []
        read: list[bytes] = []
        listener = Listener(heard)
        asking = client(b"a", b"b", b"c")
        async with anyio.create_task_group() as group:
            await asking.ask(kit_of(lambda request: group.start_soon(listen, request), write))
        assert sorted(heard) == ["application", "stream"]
        assert read == [b"abc", b"abc"]

    run(main)


def test_a_server_that_repeats_the_end_of_the_body(run: Any, client: Any) -> None:
    """Both stop listening: asking again and again would only take the server's time."""

    class Repeating(client):
        asked = 0

        async def receive(self) -> dict[str, Any]:
            self.asked += 1
            await anyio.lowlevel.checkpoint()
            return {"type": "http.request", "body": b"", "more_body": False}

    async def main() -> None:
        async def write(c: Context, api: StreamingApi) -> None:
            await api.write("begun")
            await anyio.wait_all_tasks_blocked()
            inner.cancel_scope.cancel()
            await api.write(" and done")

        asking = Repeating()
        async with anyio.create_task_group() as outer, anyio.create_task_group() as inner:
            app = from_asgi(Listener([]))
            kit = kit_of(lambda request: inner.start_soon(app, request), write)
            outer.start_soon(asking.ask, kit)
            await anyio.sleep_forever()
        assert asking.body == b"begun and done"
        assert asking.asked <= 3

    run(main)
