# SPDX-License-Identifier: MIT
"""`reverse_proxy`: what is appended to the URL, where it can be registered, and its client."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from upstream_peer import Upstream, http_scope, serve

from kit import Context, Kit, Response
from kit.proxy import reverse_proxy


def backend(upstream: Upstream, url: str = "http://backend/base", **options: Any) -> Any:
    return reverse_proxy(url, client=upstream.client, **options)


@pytest.mark.parametrize(
    ("pattern", "target", "expected"),
    [
        ("/api/*", "/api/users/7?page=2&a=%20", "/base/users/7?page=2&a=%20"),
        ("/api/*", "/api", "/base"),
        ("/api/*", "/api/", "/base/"),
        ("/api/*", "/api/a%2Fb%40c/%E2%82%AC", "/base/a%2Fb%40c/%E2%82%AC"),
        ("/api/*", "/api//a//", "/base//a//"),
        ("/:tenant/api/*", "/x/api/y", "/base/y"),
        ("/*", "/a/b", "/base/a/b"),
        ("*", "/a/b", "/base/a/b"),
        ("/health", "/health", "/base"),
    ],
)
def test_the_rest_is_appended(run: Any, pattern: str, target: str, expected: str) -> None:
    async def main() -> None:
        upstream = Upstream()
        app = Kit().all(pattern, backend(upstream))
        for root in ("", "/shop"):
            scope = http_scope(root.encode() + target.encode(), root_path=root)
            assert (await serve(app, scope))[0] == 200
            assert upstream.last.url.raw_path == expected.encode()
            assert upstream.last.url.host == "backend"

    run(main)


def test_where_it_can_be_registered(run: Any) -> None:
    async def main() -> None:
        upstream = Upstream()
        part = Kit().all("/in/*", backend(upstream))
        app = Kit()
        app.use("/used/*", backend(upstream))
        app.mount("/mounted", backend(upstream))
        app.route("/part", part)
        app.get("/wrapped/*", lambda c: backend(upstream)(c))
        app.mount("/kit", Kit().all("/deep/*", backend(upstream)).fetch)
        app.not_found(backend(upstream))
        for path, expected in (
            ("/used/a", "/base/a"),
            ("/mounted/a", "/base/a"),
            ("/part/in/a", "/base/a"),
            ("/wrapped/a", "/base/a"),
            ("/kit/deep/a", "/base/a"),
            ("/other/a", "/base/other/a"),
        ):
            assert (await app.request(f"{path}?q=1")).status == 200
            assert upstream.last.url.raw_path.decode() == f"{expected}?q=1"

    run(main)


def test_bodies_reach_a_mounted_proxy(run: Any) -> None:
    async def main() -> None:
        upstream = Upstream()
        app = Kit().mount("/m", backend(upstream))
        await app.request("/m/a", method="POST", body="hello")
        assert upstream.last.content == b"hello"

    run(main)


def test_keep_prefix(run: Any) -> None:
    async def main() -> None:
        upstream = Upstream()
        app = Kit().all("/:a{[a-z]+}/*", backend(upstream, keep_prefix=True))
        await app.request("/api/x")
        assert upstream.last.url.raw_path == b"/base/api/x"
        assert "x-forwarded-prefix" not in upstream.last.headers

    run(main)


@pytest.mark.parametrize("pattern", ["/:a{[a-z]+}/*", "/:a?", "/a/:rest{.+}"])
def test_patterns_whose_rest_is_unknown_are_refused(pattern: str) -> None:
    with pytest.raises(TypeError, match="keep_prefix"):
        Kit().all(pattern, reverse_proxy("http://backend"))


@pytest.mark.parametrize(
    "url",
    [
        *("backend", "http://user@backend", "http://backend?a=1", "http://backend/#a"),
        *("http://backend/a/../b", "http://backend/%2e%2e/", "http://back\\end", "ws://backend"),
    ],
)
def test_urls_that_cannot_be_used(url: str) -> None:
    with pytest.raises(ValueError, match="upstream server"):
        reverse_proxy(url)


@pytest.mark.parametrize("options", [{"max_connections": 0}, {"via": ""}, {"connect_timeout": -1}])
def test_values_that_cannot_be_used(options: Any) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        reverse_proxy("http://backend", **options)


@pytest.mark.parametrize(
    "options",
    [{"ssl_context": True}, {"keep_prefix": 1}, {"rewrite_location": "x"}, {"client": "x"}],
)
def test_types_that_are_wrong(options: Any) -> None:
    with pytest.raises(TypeError, match=next(iter(options))):
        reverse_proxy("http://backend", **options)


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("http://backend/base/a?b=1#c", "/shop/api/a?b=1#c"),
        ("http://backend:80/base/a", "/shop/api/a"),
        ("/base/a", "/shop/api/a"),
        ("/base", "/shop/api"),
        ("a", "a"),
        ("?a", "?a"),
        ("https://backend/base/a", "https://backend/base/a"),
        ("http://backend/other", "http://backend/other"),
        ("http://backend/basement", "http://backend/basement"),
        ("http://other/base/a", "http://other/base/a"),
        ("//backend/base/a", "//backend/base/a"),
        ("http://[bad", "http://[bad"),
        ("/base/a#%E2%82%AC%0d%0aX:1", "/shop/api/a#%E2%82%AC%0d%0aX:1"),
        # UTF-8, which header values carry as latin-1
        ("/base/caf\xc3\xa9?\xc3\xa9#\xc3\xa9", "/shop/api/caf%C3%A9?%C3%A9#%C3%A9"),
    ],
)
def test_redirects_lead_through_the_proxy(run: Any, location: str, expected: str) -> None:
    async def respond(request: httpx.Request) -> httpx.Response:
        return httpx.Response(302, headers={"location": location.encode("latin-1")})

    async def main() -> None:
        upstream = Upstream(respond)
        for rewrites, value in ((True, expected), (False, location)):
            app = Kit().all("/api/*", backend(upstream, rewrite_location=rewrites))
            scope = http_scope(b"/shop/api/x", root_path="/shop")
            _, headers = await serve(app, scope)
            assert headers["location"] == value

    run(main)


def test_redirects_do_not_lead_to_another_host(run: Any) -> None:
    async def respond(request: httpx.Request) -> httpx.Response:
        return httpx.Response(301, headers={"location": f"{request.url}/"})

    async def main() -> None:
        app = Kit().all("/*", backend(Upstream(respond), "http://backend"))
        _, headers = await serve(app, http_scope(b"//evil.example"))
        assert headers["location"] == "/.//evil.example/"
        _, headers = await serve(app, http_scope(b"/%5Cevil.example"))
        assert headers["location"] == "/%5Cevil.example/"

    run(main)


def test_its_own_client_lives_as_long_as_the_app(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[httpx.AsyncClient] = []
    original = httpx.AsyncClient

    def create(**options: Any) -> httpx.AsyncClient:
        upstream = Upstream()
        made.append(original(**{**options, "transport": upstream}))
        return made[-1]

    async def main() -> None:
        made.clear()
        app = Kit()
        app.all("/api/*", reverse_proxy("http://backend"))
        app.mount("/mounted", reverse_proxy("http://mounted"))
        app.not_found(reverse_proxy("http://other"))
        async with app.running():
            assert len(made) == 3
            for path in ("/api/x", "/mounted/x", "/x"):
                assert (await app.request(path)).status == 200
            assert len(made) == 3
            assert not any(each.is_closed for each in made)
        assert all(each.is_closed for each in made)
        assert (await app.request("/api/x")).status == 200  # without a lifespan
        assert len(made) == 4

    monkeypatch.setattr(httpx, "AsyncClient", create)
    run(main)


def test_a_client_of_the_user_stays_open(run: Any) -> None:
    async def main() -> None:
        client = Upstream().client
        app = Kit().all("/api/*", reverse_proxy("http://backend", client=client))
        async with app.running():
            await app.request("/api/x")
        assert not client.is_closed

    run(main)


def test_cookies_of_responses_are_not_kept(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[httpx.AsyncClient] = []
    original = httpx.AsyncClient

    async def respond(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, headers={"set-cookie": "secret=1"})

    def create(**options: Any) -> httpx.AsyncClient:
        made.append(original(**{**options, "transport": Upstream(respond)}))
        return made[-1]

    async def main() -> None:
        app = Kit().all("/api/*", reverse_proxy("http://backend.example"))
        async with app.running():
            response = await app.request("/api/x")
            assert response.headers.get_set_cookie() == ["secret=1"]
            assert len(made[-1].cookies) == 0

    monkeypatch.setattr(httpx, "AsyncClient", create)
    run(main)


def test_middleware_sees_the_response(run: Any) -> None:
    async def main() -> None:
        app = Kit()

        @app.all("/api/*")
        async def pass_on(c: Context) -> Response:
            response: Response = await backend(Upstream())(c)
            response.headers.set("x-checked", "1")
            return response

        assert (await app.request("/api/x")).headers.get("x-checked") == "1"

    run(main)
