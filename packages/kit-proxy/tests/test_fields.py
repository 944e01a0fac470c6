# SPDX-License-Identifier: MIT
"""Fields: those of one connection never pass; who asked is told by the proxy alone."""

from __future__ import annotations

from typing import Any

import anyio
import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from upstream_peer import Upstream, http_scope, serve

from kit import Kit
from kit.proxy import reverse_proxy

HOP_BY_HOP = (
    *("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection"),
    *("proxy-authentication-info", "te", "trailer", "transfer-encoding", "upgrade", "proxy"),
    "http2-settings",
)
OTHERS = ("x-a", "x-b", "cookie", "accept", "cache-control", "x-kept-connection", "etag")
NAMES = st.sampled_from(HOP_BY_HOP + OTHERS)
VALUES = st.sampled_from(("close", "keep-alive, x-a", "x-b", '"x-a', ", ,X-B ,", "a=1", "trailers"))
LINES = st.lists(st.tuples(NAMES, VALUES), max_size=8)


def is_named(name: str, lines: list[tuple[str, str]]) -> bool:
    return any(
        name == each.strip().lower()
        for field, value in lines
        if field == "connection"
        for each in value.split(",")
    )


@given(LINES, LINES, st.booleans())
def test_fields_of_a_connection_never_pass(
    sent: list[tuple[str, str]], returned: list[tuple[str, str]], strict: bool
) -> None:
    async def respond(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers=returned)

    async def main() -> None:
        upstream = Upstream(respond)
        app = Kit().all(
            "*",
            reverse_proxy(
                "http://backend", client=upstream.client, strict_connection_processing=strict
            ),
        )
        headers = [(b"host", b"public"), *((n.encode(), v.encode()) for n, v in sent)]
        _, received = await serve(app, http_scope(headers=headers))
        passed = {name.lower() for name in upstream.last.headers}
        assert not passed & set(HOP_BY_HOP)
        assert not set(received) & (set(HOP_BY_HOP) - {"transfer-encoding"})
        for name in OTHERS:
            if not any(field == name for field, _ in sent):
                assert name not in passed
            elif not any('"' in value for field, value in sent if field == "connection"):
                assert (name in passed) is not (strict and is_named(name, sent))

    anyio.run(main)


def test_lines_stay_lines(run: Any) -> None:
    async def main() -> None:
        upstream = Upstream()
        app = Kit().all("*", reverse_proxy("http://backend", client=upstream.client))
        headers = [
            (b"cookie", b"a=1"),
            (b"x-a", b"1"),
            (b"cookie", b"b=2"),
            (b"x-a", b"2"),
            (b"x-latin", b"caf\xe9"),
        ]
        await serve(app, http_scope(headers=headers))
        assert upstream.last.headers.get_list("x-a") == ["1", "2"]
        assert upstream.last.headers.get_list("cookie") == ["a=1; b=2"]
        assert (b"x-latin", b"caf\xe9") in upstream.last.headers.raw

    run(main)


SPOOFED = [
    (b"host", b"public.example"),
    (b"forwarded", b"for=203.0.113.1"),
    (b"x-forwarded-for", b"203.0.113.1"),
    (b"x-forwarded-proto", b"https"),
    (b"x-forwarded-host", b"evil.example"),
    (b"x-forwarded-user", b"admin"),
    (b"x-real-ip", b"203.0.113.1"),
]


def forwarded(request: httpx.Request) -> dict[str, str]:
    return {
        name: value
        for name, value in request.headers.items()
        if name == "forwarded" or name.startswith(("x-forwarded", "x-real"))
    }


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (
            {},
            {
                "forwarded": "for=192.0.2.7;host=public.example;proto=http",
                "x-forwarded-for": "192.0.2.7",
                "x-forwarded-host": "public.example",
                "x-forwarded-proto": "http",
                "x-forwarded-prefix": "/api",
            },
        ),
        (
            {"trust_forwarded": True},
            {
                "forwarded": "for=203.0.113.1, for=192.0.2.7;host=public.example;proto=http",
                "x-forwarded-for": "203.0.113.1, 192.0.2.7",
                "x-forwarded-host": "evil.example",
                "x-forwarded-proto": "https",
                "x-forwarded-user": "admin",
                "x-real-ip": "203.0.113.1",
                "x-forwarded-prefix": "/api",
            },
        ),
        ({"add_forwarded": False}, {}),
    ],
)
def test_who_asked(run: Any, options: Any, expected: dict[str, str]) -> None:
    async def main() -> None:
        upstream = Upstream()
        app = Kit().all(
            "/api/*", reverse_proxy("http://backend", client=upstream.client, **options)
        )
        await serve(app, http_scope(b"/api/x", headers=SPOOFED))
        assert forwarded(upstream.last) == expected

    run(main)


@pytest.mark.parametrize(
    ("client", "host", "expected"),
    [
        (("2001:db8::1", 1), b"a:80", 'for="[2001:db8::1]";host="a:80";proto=http'),
        (None, b"a", "for=unknown;host=a;proto=http"),
        (("testclient", 1), b"a", "for=unknown;host=a;proto=http"),
        (("192.0.2.1", 1), b"[::1]", 'for=192.0.2.1;host="[::1]";proto=http'),
    ],
)
def test_the_element_of_forwarded(run: Any, client: Any, host: bytes, expected: str) -> None:
    async def main() -> None:
        upstream = Upstream()
        app = Kit().all("*", reverse_proxy("http://backend", client=upstream.client))
        await serve(app, http_scope(headers=[(b"host", host)], client=client))
        assert upstream.last.headers["forwarded"] == expected

    run(main)


def test_via_is_appended_in_both_directions(run: Any) -> None:
    async def respond(request: httpx.Request) -> httpx.Response:
        return httpx.Response(
            200, headers={"via": "1.1 inner"}, extensions={"http_version": b"HTTP/2"}
        )

    async def main() -> None:
        upstream = Upstream(respond)
        for via, sent, returned in (
            ("shop", "1.0 outer, 2 shop", "1.1 inner, 2 shop"),
            (None, "1.0 outer", "1.1 inner"),
        ):
            app = Kit().all("*", reverse_proxy("http://backend", client=upstream.client, via=via))
            scope = http_scope(headers=[(b"via", b"1.0 outer")], http_version="2")
            _, received = await serve(app, scope)
            assert upstream.last.headers["via"] == sent
            assert received["via"] == returned

    run(main)


def test_expect_is_the_servers(run: Any) -> None:
    async def main() -> None:
        upstream = Upstream()
        app = Kit().all("*", reverse_proxy("http://backend", client=upstream.client))
        headers = [(b"expect", b"100-continue"), (b"content-length", b"2")]
        await serve(app, http_scope(headers=headers, method="POST"), b"ab")
        assert "expect" not in upstream.last.headers
        assert upstream.last.headers["content-length"] == "2"

    run(main)


@pytest.mark.parametrize("trusts", [False, True])
def test_names_that_cgi_and_wsgi_servers_confuse(run: Any, trusts: bool) -> None:
    """To them, X_Real_IP is X-Real-IP."""

    async def main() -> None:
        upstream = Upstream()
        proxy = reverse_proxy(
            "http://backend",
            client=upstream.client,
            trust_forwarded=trusts,
            headers={"x-user": "guest", "x-key": None},
        )
        confused = ("x_user", "x_key", "x_forwarded_for", "x-real_ip", "content_length")
        sent = (*confused, "transfer_encoding", "proxy_authorization", "x_other")
        headers = [(name.encode(), b"1") for name in sent]
        await serve(Kit().all("*", proxy), http_scope(headers=headers))
        assert {*upstream.last.headers} & {*sent} == {"x_other"}
        assert upstream.last.headers["x-user"] == "guest"

    run(main)


def test_chunks_override_a_length(run: Any) -> None:
    async def main() -> None:
        upstream = Upstream()
        app = Kit().all("*", reverse_proxy("http://backend", client=upstream.client))
        headers = [(b"content-length", b"1"), (b"transfer-encoding", b"chunked")]
        await serve(app, http_scope(headers=headers, method="POST"), b"abc")
        assert "content-length" not in upstream.last.headers
        assert upstream.last.headers["transfer-encoding"] == "chunked"

    run(main)


def test_connection_hides_nothing_that_a_trusted_proxy_sends(run: Any) -> None:
    async def main() -> None:
        upstream = Upstream()
        app = Kit().all(
            "*", reverse_proxy("http://backend", client=upstream.client, trust_forwarded=True)
        )
        named = ", ".join(name.decode() for name, _ in SPOOFED)
        await serve(app, http_scope(headers=[*SPOOFED, (b"connection", named.encode())]))
        passed = forwarded(upstream.last)
        assert passed["x-forwarded-for"] == "203.0.113.1, 192.0.2.7"
        assert passed["x-forwarded-user"] == "admin"
        assert passed["x-real-ip"] == "203.0.113.1"

    run(main)
