# SPDX-License-Identifier: MIT
"""No path of a client changes the host of the upstream server, or leads out of the base path."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote, urlsplit

import anyio
import httpx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from upstream_peer import Upstream, http_scope, serve

from kit import Kit
from kit.proxy import proxy, reverse_proxy

# A base with a path, and one without, where nothing lies between the host and the client's path.
BASES = ("http://backend:8080/base/v1", "http://backend:8080")
PARTS = (
    *(
        "/",
        "//",
        "\\",
        "%5c",
        "%5C",
        "%2f",
        "%2F",
        "%252f",
        "%255c",
        ".",
        "..",
        "%2e",
        "%2E",
        "%252e",
    ),
    *(
        "%25252e",
        "@",
        ":",
        "evil.example",
        "http://evil.example",
        ";",
        ";a=b",
        "%3b",
        "%00",
        "%0d%0a",
    ),
    *("?", "#", "%3f", "%23", "%", "%%32e", "a", "b", "é", "%e9", "%c3%a9", " ", "%20", "[", "]"),
    *("%c0%ae", "[::1]", "\t", "~", "$", "\x7f", "%ef%bc%8e"),
)
TARGETS = st.lists(st.sampled_from(PARTS), max_size=8).map("".join) | st.text(
    st.characters(max_codepoint=0xFF), max_size=12
)


def is_inside(url: httpx.URL, base: str) -> bool:
    """Returns whether a URL is below a base for every server that decodes or resolves its path."""
    expected = urlsplit(base)
    if (url.scheme, url.host, url.port) != ("http", "backend", 8080) or url.userinfo:
        return False
    path = url.raw_path.decode("ascii").partition("?")[0]
    for _ in range(4):
        segments: list[str] = []
        for segment in re.split(r"[/\\]", path)[1:]:
            name = segment.partition(";")[0]
            if name == "..":
                if not segments:
                    return False
                segments.pop()
            elif name != ".":
                segments.append(segment)
        resolved = "/" + "/".join(segments)
        if not f"{resolved}/".startswith(f"{expected.path}/") or re.search(r"[\r\n\0]", path):
            return False
        path = unquote(path, "latin-1")
    return True


async def ask(app: Kit, target: str) -> int:
    path = "/api/" + target
    status, _ = await serve(app, http_scope(path.encode("utf-8", "replace")))
    return status


@pytest.mark.parametrize("base", BASES)
@given(target=TARGETS)
@example("../../admin")
@example("..%2f..%2fadmin")
@example("%2e%2e/%2e%2e/admin")
@example("..\\..\\admin")
@example("..;/..;/manager")
@example("%252e%252e/%252e%252e/admin")
@example("@evil.example/")
@example("/evil.example/")
@example("a%0d%0aHost:%20evil.example")
def test_any_path_stays_below_the_base(base: str, target: str) -> None:
    async def main() -> None:
        upstream = Upstream()
        client = upstream.client
        app = Kit()
        app.all("/api/*", reverse_proxy(base, client=client))
        status = await ask(app, target)
        assert status in (200, 400, 404)
        assert all(is_inside(request.url, base) for request in upstream.requests)
        assert bool(upstream.requests) is (status == 200)

        by_path = Kit().all("*", lambda c: proxy(c, base, path=c.req.path, client=client))
        assert await ask(by_path, target) in (200, 400)
        by_text = Kit().all("*", lambda c: proxy(c, f"{base}{c.req.path}", client=client))
        assert await ask(by_text, target) in (200, 400)
        assert all(is_inside(request.url, base) for request in upstream.requests)

    anyio.run(main)


@given(path=st.text(max_size=12) | st.lists(st.sampled_from(PARTS), max_size=6).map("".join))
def test_any_text_as_path_stays_below_the_base(path: str) -> None:
    async def main() -> None:
        for base in BASES:
            upstream = Upstream()
            app = Kit().get(
                "/", lambda c, b=base, u=upstream: proxy(c, b, path=path, client=u.client)
            )
            status, _ = await serve(app, http_scope())
            assert status in (200, 400)
            assert all(is_inside(request.url, base) for request in upstream.requests)

    anyio.run(main)


@pytest.mark.parametrize(
    "path",
    [
        *(
            "/..%2fx",
            "/%2e%2e%2fx",
            "/a/..%2f..%2fx",
            "/..%5cx",
            "/%252e%252e/x",
            "/..;/x",
            "/..;a=b/x",
        ),
        *("/.%2e/x", "/%2e", "/a%00b", "/a%0d%0ab", "/..%3b/x", "/..%255cx", "/..%3fx", "/..%2523"),
    ],
)
def test_paths_that_could_lead_out_are_refused(run: Any, path: str) -> None:
    async def main() -> None:
        upstream = Upstream()
        app = Kit().all("/api/*", reverse_proxy(BASES[0], client=upstream.client))
        status, _ = await serve(app, http_scope(b"/api" + path.encode()))
        assert status in (400, 404)  # 404: routing has resolved it
        assert upstream.requests == []

    run(main)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("//evil.example/x", "/base/v1//evil.example/x"),
        ("/@evil.example", "/base/v1/@evil.example"),
        ("/http://evil.example/", "/base/v1/http://evil.example/"),
        ("/a%2Fb", "/base/v1/a%2Fb"),
        ("/a%5Cb", "/base/v1/a%5Cb"),
        ("/...", "/base/v1/..."),
        ("/.well-known/..x", "/base/v1/.well-known/..x"),
        ("/100%25", "/base/v1/100%25"),
        ("/a+b%2Bc;d=e%3B", "/base/v1/a+b%2Bc;d=e%3B"),
        ("/%E9", "/base/v1/%E9"),
    ],
)
def test_other_paths_arrive_as_they_were_sent(run: Any, path: str, expected: str) -> None:
    async def main() -> None:
        upstream = Upstream()
        app = Kit().all("/api/*", reverse_proxy(BASES[0], client=upstream.client))
        status, _ = await serve(app, http_scope(b"/api" + path.encode() + b"?q=%2F+&q"))
        assert status == 200
        assert upstream.last.url.raw_path.decode() == f"{expected}?q=%2F+&q"

    run(main)


def test_a_path_that_middleware_or_get_path_changed(run: Any) -> None:
    async def main() -> None:
        upstream = Upstream()
        app = Kit(get_path=lambda request: "/api/räum e%2F?x")
        app.all("/api/*", reverse_proxy(BASES[0], client=upstream.client))
        await serve(app, http_scope(b"/something/else"))
        assert upstream.last.url.raw_path == b"/base/v1/r%C3%A4um%20e%2F%3Fx"

    run(main)


def test_queries_cannot_end_the_request_line(run: Any) -> None:
    async def main() -> None:
        upstream = Upstream()
        app = Kit().all("/api/*", reverse_proxy(BASES[0], client=upstream.client))
        scope = http_scope(b"/api/x", query_string=b"a=1 HTTP/1.1\r\nHost: evil\r\n#\xff")
        assert (await serve(app, scope))[0] == 200
        assert upstream.last.url.raw_path.startswith(b"/base/v1/x?a=1%20HTTP/1.1%0D%0AHost:%20evil")

    run(main)
