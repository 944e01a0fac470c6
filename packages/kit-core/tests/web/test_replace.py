# SPDX-License-Identifier: MIT
"""Requests and responses like others, with some parts changed; and bodies as they are."""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator
from typing import Any

import pytest

from kit import Context, File, FormData, Kit, Request, Response


async def streamed() -> AsyncIterator[bytes]:
    yield b"a"
    yield b"b"


async def test_response_with_another_body() -> None:
    response = Response("old", status=201, headers={"content-type": "a/b", "content-length": "3"})
    other = response.replace(body=b"newer")
    assert (other.status, await other.bytes()) == (201, b"newer")
    assert dict(other.headers.items()) == {"content-type": "a/b"}
    assert await response.text() == "old"


async def test_response_with_another_status_and_headers() -> None:
    response = Response("old", status_text="Fine", headers={"x-a": "1"})
    other = response.replace(status=203, headers={"x-b": "2"})
    assert (other.status, other.status_text, await other.text()) == (203, "Fine", "old")
    assert dict(other.headers.items()) == {"x-b": "2"}
    assert response.headers["x-a"] == "1"


async def test_a_streamed_body_moves_to_the_other_response() -> None:
    response = Response(streamed())
    other = response.replace(status=202)
    assert response.body_used
    assert (other.status, await other.text()) == (202, "ab")


def test_response_refuses_what_can_not_be() -> None:
    with pytest.raises(TypeError, match="A response with status 204 has no body: give None"):
        Response("x").replace(status=204)
    with pytest.raises(ValueError, match="Invalid response status 99"):
        Response("x").replace(status=99)
    assert Response("x").replace(body=None, status=204).status == 204


async def test_request_with_other_parts() -> None:
    request = Request("http://x/a", method="POST", body="old", headers={"x-a": "1"})
    other = request.replace(method="put", url="http://y/b", root_path="/r", body=b"new")
    assert (other.method, other.url, other.root_path) == ("PUT", "http://y/b", "/r")
    assert await other.text() == "new"
    assert (request.method, request.url, await request.text()) == ("POST", "http://x/a", "old")
    with pytest.raises(ValueError, match="Invalid method 'a b'"):
        request.replace(method="a b")
    with pytest.raises(ValueError, match="Invalid URL"):
        request.replace(url="nowhere")


async def test_a_body_moves_to_the_other_request() -> None:
    request = Request("http://x/", method="POST", body=streamed())
    other = request.replace(method="PUT")
    assert request.body_used
    assert await other.text() == "ab"


async def test_a_form_as_the_body_brings_its_content_type() -> None:
    old = FormData([("a", "1"), ("a", "2"), ("f", File([b"x"], "x.txt")), ("gone", "3")])
    request = Request("http://x/", method="POST", body=old, headers={"x-kept": "1"})
    form = copy.copy(old)
    form.delete("gone")
    other = request.replace(body=form)
    boundaries = {each.headers["content-type"] for each in (request, other)}
    assert len(boundaries) == 2
    assert other.headers["x-kept"] == "1"
    read = await other.form_data()
    assert [name for name, _ in read] == ["a", "a", "f"]
    assert read.get_all("a") == ["1", "2"]
    assert (await request.form_data()).get("gone") == "3"


def test_a_copy_of_a_form_is_changed_alone() -> None:
    form = FormData([("a", "1"), ("b", "2")])
    other = copy.copy(form)
    other.append("c", "3")
    other.delete("a")
    form.append("d", "4")
    assert [*form.keys()] == ["a", "b", "d"]
    assert [*other.keys()] == ["b", "c"]


async def test_root_path_is_carried_by_copies() -> None:
    request = Request("http://x/a").replace(root_path="/outer")
    assert request.clone().root_path == "/outer"
    assert Request(request).root_path == "/outer"
    assert request.replace(url="http://x/b").root_path == "/outer"


async def test_place_below_a_root_path_is_carried_by_copies() -> None:
    seen: list[Any] = []

    def place(request: Request) -> tuple[str, str, bool]:
        return request.root_path, request.root_pattern, request.is_below_root_path

    async def foreign(request: Request, *rest: Any) -> Response:
        copies = (request, request.clone(), Request(request), request.replace(method="PUT"))
        seen.extend(place(each) for each in copies)
        return Response("ok")

    inner = Kit().mount("/n", foreign)
    await Kit().mount("/:tenant", inner.fetch).request("/acme/n/a")
    assert seen == [("/acme/n", "/:tenant/n", True)] * 4
    assert place(Request("http://x/a")) == ("", "", False)


async def test_mounted_request_keeps_its_root_path_when_it_is_cloned() -> None:
    seen: list[str] = []

    async def foreign(request: Request, *rest: Any) -> Response:
        seen.extend([request.root_path, request.clone().root_path, Request(request).root_path])
        return Response("ok")

    await Kit().mount("/legacy", foreign).request("/legacy/a")
    assert seen == ["/legacy"] * 3


async def test_a_request_knows_whether_its_url_was_set(client: Any) -> None:
    seen: list[bool] = []
    app = Kit()

    @app.get("/")
    async def show(c: Context) -> Response:
        raw = c.req.raw
        moved = raw.replace(url="http://x/b")
        below = raw.replace(root_path="/a")
        requests = [raw, raw.replace(method="PUT"), moved, moved.clone(), below]
        seen.extend(each.is_moved for each in requests)
        return c.text("")

    await client().ask(app)
    assert seen == [False, False, True, True, True]


async def test_copy_keeps_the_status_text() -> None:
    response = Response("x", status_text="Fine")
    assert copy.copy(response).status_text == "Fine"
    app = Kit()

    @app.use()
    async def late(c: Context, next: Any) -> None:
        await next()
        c.header("x-late", "1")

    app.get("/", lambda c: response)
    answer = await app.request("/")
    assert (answer.headers["x-late"], answer.status_text) == ("1", "Fine")
    assert not response.headers.has("x-late")


async def test_body_in_memory_is_bytes() -> None:
    response = Response("text")
    assert response.body == b"text"
    assert isinstance(response.body, bytes)
    assert not response.body_used
    assert [chunk async for chunk in response.body] == [b"text"]
    assert response.body_used
    empty: Any = Response("").body
    assert [chunk async for chunk in empty] == []
    assert Response(None).body is None


async def test_streamed_body_is_closed_unread() -> None:
    closed: list[str] = []

    class Stream:
        def __aiter__(self) -> AsyncIterator[bytes]:
            return streamed()

        async def aclose(self) -> None:
            closed.append("closed")

    response = Response(Stream())
    body: Any = response.body
    assert not response.body_used
    await body.aclose()
    assert (closed, response.body_used) == (["closed"], True)


async def test_nobody_leaves_a_request_made_in_process() -> None:
    assert await Request("http://x/").wait_for_disconnect() is False


def test_a_handler_waits_for_the_client_to_leave(run: Any, client: Any) -> None:
    app = Kit()
    seen: list[bool] = []

    @app.get("/")
    async def handler(c: Context) -> Response:
        gone.gone.set()
        seen.append(await c.req.raw.wait_for_disconnect())
        return c.text("nobody reads this")

    async def ask() -> None:
        nonlocal gone
        gone = client()
        await gone.ask(app)

    gone: Any = None
    run(ask)
    assert seen == [True]


@pytest.mark.parametrize("headers", [[], [("x-a", "1")]])
async def test_a_replaced_stream_is_closed_when_the_response_was_sent(
    headers: list[tuple[str, str]],
) -> None:
    closed: list[str] = []

    class Stream:
        def __aiter__(self) -> AsyncIterator[bytes]:
            return streamed()

        async def aclose(self) -> None:
            closed.append("closed")

    def handler(c: Context) -> Response:
        for name, value in headers:
            c.header(name, value)
        return Response(Stream()).replace(body=b"x")

    async def receive() -> dict[str, Any]:
        return {"type": "http.request"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    sent: list[dict[str, Any]] = []
    scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": []}
    await Kit().get("/", handler)(scope, receive, send)
    assert (sent[-1]["body"], closed) == (b"x", ["closed"])
