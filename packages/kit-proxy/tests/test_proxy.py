# SPDX-License-Identifier: MIT
"""`proxy`: one request is passed on to a URL."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import anyio
import httpx
import pytest
from upstream_peer import Upstream, http_scope, serve

from kit import Context, Kit, Response
from kit.proxy import proxy, reverse_proxy


def collect_failures(app: Kit) -> list[Exception]:
    """Returns a list of the exceptions that handlers raise from now on."""
    failures: list[Exception] = []

    def handle(error: Exception, c: Context) -> Response:
        failures.append(error)
        return c.text("", 500)

    app.on_error(handle)
    return failures


def app_of(upstream: Upstream, url: str = "http://backend/x", **options: Any) -> Kit:
    app = Kit()
    app.all("*", lambda c: proxy(c, url, client=upstream.client, **options))
    return app


def test_method_fields_and_body_are_passed_on(run: Any) -> None:
    async def main() -> None:
        upstream = Upstream()
        response = await app_of(upstream).request(
            "/any?a=1",
            method="PUT",
            body="hello",
            headers={"cookie": "a=1", "authorization": "Bearer t", "accept-encoding": "zstd"},
        )
        assert response.status == 200
        seen = upstream.last
        assert (seen.method, str(seen.url), seen.content) == ("PUT", "http://backend/x", b"hello")
        assert seen.headers["cookie"] == "a=1"
        assert seen.headers["authorization"] == "Bearer t"
        assert seen.headers["accept-encoding"] == "zstd"
        assert seen.headers["content-length"] == "5"
        assert seen.headers["host"] == "backend"
        assert "x-of-client" not in seen.headers

    run(main)


def test_nothing_is_added_that_the_client_did_not_send(run: Any) -> None:
    async def main() -> None:
        upstream = Upstream()
        await app_of(upstream, add_forwarded=False, via=None).request("/")
        assert [name for name, _ in upstream.last.headers.items()] == ["host"]

    run(main)


def test_the_response_is_passed_on_as_it_is_encoded(run: Any) -> None:
    async def respond(request: httpx.Request) -> httpx.Response:
        return httpx.Response(
            203,
            headers=[
                ("content-encoding", "br"),
                ("set-cookie", "a=1"),
                ("set-cookie", "b=2; Path=/"),
                ("date", "Thu, 01 Jan 1970 00:00:00 GMT"),
                ("content-length", "3"),
            ],
            stream=httpx.ByteStream(b"abc"),
        )

    async def main() -> None:
        response = await app_of(Upstream(respond)).request("/")
        assert response.status == 203
        assert await response.bytes() == b"abc"
        assert response.headers.get("content-encoding") == "br"
        assert response.headers.get("content-length") == "3"
        assert response.headers.get_set_cookie() == ["a=1", "b=2; Path=/"]
        assert response.headers.get("date") is None  # the server of the app sends its own

    run(main)


@pytest.mark.parametrize(("method", "status"), [("HEAD", 200), ("GET", 204), ("GET", 304)])
def test_responses_without_content(run: Any, method: str, status: int) -> None:
    async def respond(request: httpx.Request) -> httpx.Response:
        assert request.method == method
        return httpx.Response(status, headers={"content-length": "9", "etag": '"a"'})

    async def main() -> None:
        response = await app_of(Upstream(respond)).request("/", method=method)
        assert (response.status, await response.bytes()) == (status, b"")
        assert response.headers.get("etag") == '"a"'
        if method == "HEAD":
            assert response.headers.get("content-length") == "9"

    run(main)


def test_redirects_are_not_followed(run: Any) -> None:
    async def respond(request: httpx.Request) -> httpx.Response:
        return httpx.Response(302, headers={"location": "http://169.254.169.254/"})

    async def main() -> None:
        upstream = Upstream(respond)
        client = httpx.AsyncClient(transport=upstream, follow_redirects=True)
        app = Kit().get("/", lambda c: proxy(c, "http://backend/", client=client))
        response = await app.request("/")
        assert response.status == 302
        assert response.headers.get("location") == "http://169.254.169.254/"
        assert len(upstream.requests) == 1

    run(main)


def test_fields_are_replaced_and_removed(run: Any) -> None:
    async def by_function(c: Context) -> dict[str, str | None]:
        return {"X-User": c.req.query("user"), "cookie": None}

    async def main() -> None:
        for headers in ({"X-User": "ada", "Cookie": None}, by_function):
            upstream = Upstream()
            await app_of(upstream, headers=headers).request(
                "/?user=ada", headers={"x-user": "mallory", "cookie": "a=1"}
            )
            assert upstream.last.headers.get_list("x-user") == ["ada"]
            assert "cookie" not in upstream.last.headers

    run(main)


def test_a_function_that_returns_a_wrong_value_is_a_fault(run: Any) -> None:
    async def main() -> None:
        app = app_of(Upstream(), headers=lambda c: {"x": "a\nb"})
        failures = collect_failures(app)
        assert (await app.request("/")).status == 500
        assert "can't be sent" in str(failures[0])

    run(main)


def test_method_and_body_can_be_given(run: Any) -> None:
    async def chunks() -> AsyncIterator[bytes]:
        yield b"new"

    async def main() -> None:
        for body, content in ((b"new", b"new"), (None, b""), (chunks(), b"new")):
            upstream = Upstream()
            await app_of(upstream, method="POST", body=body).request(
                "/", method="PUT", body="old body"
            )
            assert (upstream.last.method, upstream.last.content) == ("POST", content)

    run(main)


def test_a_body_that_was_read_is_passed_on(run: Any) -> None:
    async def main() -> None:
        upstream = Upstream()
        app = Kit()

        @app.post("/")
        async def read_first(c: Context) -> Response:
            assert await c.req.json() == [1]
            return await proxy(c, "http://backend/", client=upstream.client)

        await app.request("/", method="POST", body="[1]")
        assert upstream.last.content == b"[1]"

    run(main)


def test_the_host_of_the_client(run: Any) -> None:
    async def main() -> None:
        upstream = Upstream()
        await app_of(upstream, preserve_host=True).request("/", headers={"host": "public.example"})
        assert upstream.last.headers.get_list("host") == ["public.example"]
        assert upstream.last.url.host == "backend"

    run(main)


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (httpx.ConnectError("no"), 502),
        (httpx.ConnectTimeout("no"), 504),
        (httpx.ReadTimeout("no"), 504),
        (httpx.ReadError("no"), 502),
        (httpx.RemoteProtocolError("no"), 502),
        (httpx.PoolTimeout("no"), 503),
    ],
)
def test_failures_of_the_upstream_server(run: Any, error: Exception, status: int) -> None:
    async def respond(request: httpx.Request) -> httpx.Response:
        raise error

    async def main() -> None:
        response = await app_of(Upstream(respond)).request("/")
        assert response.status == status
        assert "backend" not in await response.text()

    run(main)


@pytest.mark.parametrize("backends", [("trio", "asyncio"), ("asyncio", "trio")])
def test_one_app_on_both_event_loops(unused_port: int, backends: tuple[str, str]) -> None:
    """As in tests that run once on each."""
    url = f"http://127.0.0.1:{unused_port}"
    app = Kit().all("/one", lambda c: proxy(c, url)).all("/all/*", reverse_proxy(url))

    async def main() -> None:
        for path in ("/one", "/all/x"):
            assert (await app.request(path)).status == 502

    for backend in backends:
        anyio.run(main, backend=backend)


@pytest.mark.parametrize("method", ["CONNECT", "TRACE", "trace"])
def test_methods_that_would_return_keys_or_open_tunnels(run: Any, method: str) -> None:
    async def main() -> None:
        upstream = Upstream()
        app = Kit().get("*", lambda c: proxy(c, "http://b", client=upstream.client, method=method))
        assert (await app.request("/")).status == 501
        app = Kit().all("*", reverse_proxy("http://b", client=upstream.client))
        status, _ = await serve(app, http_scope(method=method))
        assert status in (404, 501)
        assert upstream.requests == []

    run(main)


def test_other_errors_are_faults_of_the_app(run: Any) -> None:
    async def respond(request: httpx.Request) -> httpx.Response:
        raise KeyError("bug")

    async def main() -> None:
        assert (await app_of(Upstream(respond)).request("/")).status == 500

    run(main)


def test_a_protocol_switch_that_nobody_asked_for(run: Any) -> None:
    async def respond(request: httpx.Request) -> httpx.Response:
        return httpx.Response(101)

    async def main() -> None:
        assert (await app_of(Upstream(respond)).request("/")).status == 502

    run(main)


@pytest.mark.parametrize(
    "url",
    [
        *("backend", "ftp://backend/", "//backend/", "http://", "http:///x", "http://a@b/"),
        *("http://a\\@b/", "http://b%40c/", "http://b:99999/", "http://b:0/", "http://b c/", ""),
    ],
)
def test_urls_that_cannot_be_used(run: Any, url: str) -> None:
    async def main() -> None:
        app = app_of(Upstream(), url)
        failures = collect_failures(app)
        assert (await app.request("/")).status == 500
        assert isinstance(failures[0], ValueError)
        assert "upstream server" in str(failures[0])

    run(main)


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        ({"client": "x"}, TypeError),
        ({"headers": ["a"]}, TypeError),
        ({"headers": {"a b": "c"}}, ValueError),
        ({"headers": {"a": "c\r\nd"}}, ValueError),
        ({"via": "a b"}, ValueError),
        ({"read_timeout": 0}, ValueError),
        ({"read_timeout": "1"}, TypeError),
        ({"preserve_host": 1}, TypeError),
        ({"max_message_size_bytes": 0}, ValueError),
        ({"method": "a b"}, ValueError),
        ({"path": b"/a"}, TypeError),
        ({"body": "text"}, TypeError),
        ({"unknown": 1}, TypeError),
    ],
)
def test_options_are_checked(run: Any, options: Any, kind: type[Exception]) -> None:
    async def main() -> None:
        app = Kit()
        failures = collect_failures(app)
        app.get("/", lambda c: proxy(c, "http://backend/", **options))
        await app.request("/")
        assert type(failures[0]) is kind
        assert next(iter(options)) in str(failures[0])

    run(main)
