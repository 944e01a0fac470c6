# SPDX-License-Identifier: MIT
"""Document and page as they are served: paths, prefixes, caching, content security policies."""

from __future__ import annotations

import gzip
import html
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kit import Context, Kit, Response
from kit.asgi import from_asgi
from kit.interface import Next
from kit.openapi import openapi

Run = Callable[..., Any]


def app_with(**options: Any) -> Kit:
    app = Kit()
    app.get("/books/:id", lambda c: c.json({}))
    return openapi(app, **options)


def get(run: Run, app: Kit, path: str, **headers: str) -> tuple[Response, bytes]:
    async def ask() -> tuple[Response, bytes]:
        response = await app.request(
            path, headers={name.replace("_", "-"): each for name, each in headers.items()}
        )
        return response, await response.bytes()

    return run(ask)  # type: ignore[no-any-return]


def document(run: Run, app: Kit, path: str) -> Any:
    async def ask() -> Any:
        return await (await app.request(path)).json()

    return run(ask)


def links(page: bytes) -> list[str]:
    return re.findall(r'(?:src|href)="([^"]*)"', page.decode())


def test_document_is_served_and_made_once(run: Run) -> None:
    app = app_with()
    app.get("/later", lambda c: c.json({}))
    response, body = get(run, app, "/openapi.json")
    assert response.status == 200
    assert response.headers.get("content-type") == "application/json"
    assert response.headers.get("cache-control") == "no-cache"
    assert b'"/later"' in body
    etag = response.headers.get("etag") or ""
    assert get(run, app, "/openapi.json", if_none_match=f'"x", W/{etag}')[0].status == 304
    # A comma within a tag separates nothing (RFC 9110 section 5.6.1): this is another one.
    assert get(run, app, "/openapi.json", if_none_match=f'"x, {etag}, y"')[0].status == 200
    assert get(run, app, "/openapi.json", if_none_match='"x"')[0].status == 200
    assert document(run, app, "/openapi.json")["servers"] == [{"url": "/"}]


def test_own_routes_are_not_in_the_document(run: Run) -> None:
    assert [*document(run, app_with(), "/openapi.json")["paths"]] == ["/books/{id}"]


def test_app_is_returned() -> None:
    app = Kit()
    assert openapi(app) is app


@pytest.mark.parametrize("ui", ["swagger", "scalar"])
def test_page_and_all_it_loads(run: Run, ui: Any) -> None:
    app = app_with(ui=ui, info={"title": "<Books> & co"})
    response, page = get(run, app, "/docs")
    assert response.status == 200
    assert response.headers.get("content-type") == "text/html; charset=utf-8"
    assert b"<title>&lt;Books&gt; &amp; co</title>" in page
    assert b"http" not in page.replace(b"https://", b"http")
    assert b"<script>" not in page
    assert b"style=" not in page
    loaded = [link for link in links(page) if "/ui/" in link]
    assert len(loaded) >= 3
    for link in loaded:
        assert link.startswith("docs/ui/")
        response, body = get(run, app, f"/{link}")
        assert response.status == 200
        assert response.headers.get("cache-control") == "public, max-age=31536000, immutable"
        assert response.headers.get("x-content-type-options") == "nosniff"
        assert response.headers.get("vary") == "Accept-Encoding"
        kinds = {"js": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8"}
        suffix = link.partition("?")[0].rpartition(".")[2]
        assert response.headers.get("content-type") == kinds.get(suffix, "image/png")
        packed, packed_body = get(run, app, f"/{link}", accept_encoding="br, gzip;q=0.5")
        assert packed.headers.get("content-encoding") == "gzip"
        assert packed.headers.get("etag") != response.headers.get("etag")
        assert gzip.decompress(packed_body) == body


def test_caching_of_files(run: Run) -> None:
    app = app_with()
    response, _ = get(run, app, "/docs/ui/swagger-ui.css")
    assert response.headers.get("cache-control") == "no-cache"
    etag = response.headers.get("etag") or ""
    response, body = get(run, app, "/docs/ui/swagger-ui.css", if_none_match=etag)
    assert (response.status, body) == (304, b"")
    assert response.headers.get("vary") == "Accept-Encoding"
    response, _ = get(run, app, "/docs/ui/swagger-ui.css", accept_encoding="gzip;q=0, br")
    assert response.headers.get("content-encoding") is None


@pytest.mark.parametrize("name", ["index.html", "..%2f__init__.py", "no.js", "%2fetc%2fpasswd"])
def test_other_files_are_not_served(run: Run, name: str) -> None:
    assert get(run, app_with(), f"/docs/ui/{name}")[0].status == 404


@pytest.mark.parametrize(
    ("path", "docs", "page", "root", "document"),
    [
        ("/openapi.json", "/docs", "/docs", "./", "openapi.json"),
        ("/openapi.json", "/", "/", "./", "openapi.json"),
        ("/api/openapi.json", "/docs", "/docs", "./", "api/openapi.json"),
        ("/openapi.json", "/api/docs", "/api/docs", "../", "../openapi.json"),
        ("/api/v1.json", "/api/docs", "/api/docs", "../", "v1.json"),
    ],
)
def test_links_are_relative(
    run: Run, path: str, docs: str, page: str, root: str, document: str
) -> None:
    app = app_with(path=path, docs=docs)
    _, body = get(run, app, page)
    assert f'data-root="{root}"' in body.decode()
    assert f'data-document="{document}"' in body.decode()
    for link in links(body):
        if "/ui/" in f"/{link}":
            target = page.rpartition("/")[0] + "/" + link
            assert get(run, app, target)[0].status == 200


def test_odd_paths_are_escaped(run: Run) -> None:
    app = app_with(path="/a\"b&c 'd.json", docs='/x"y&amp z')
    response, page = get(run, app, "/x%22y&amp%20z")
    assert response.status == 200
    assert b'"y' not in page
    assert b'data-document="a%22b&amp;c%20&#x27;d.json"' in page
    for link in map(html.unescape, links(page)):
        if link.startswith("x"):
            assert get(run, app, f"/{link}")[0].status == 200
    assert get(run, app, "/a%22b&c%20'd.json")[0].status == 200


def test_title_is_escaped(run: Run) -> None:
    app = app_with(info={"title": "</title><script>", "version": "1"})
    _, page = get(run, app, "/docs")
    assert b"<title>&lt;/title&gt;&lt;script&gt;</title>" in page


def test_head(run: Run) -> None:
    app = app_with()
    _, page = get(run, app, "/docs")
    for path in ("/docs", "/openapi.json", f"/{links(page)[0]}"):

        async def ask(path: str = path) -> tuple[Response, bytes]:
            response = await app.request(path, method="HEAD")
            return response, await response.bytes()

        response, body = run(ask)
        assert (response.status, body) == (200, b"")
        assert response.headers.get("content-type") == (
            get(run, app, path)[0].headers.get("content-type")
        )


def test_page_with_a_slash_at_its_end(run: Run) -> None:
    app = Kit(strict=False)
    openapi(app)
    _, body = get(run, app, "/docs/")
    assert 'data-document="../openapi.json"' in body.decode()
    assert 'data-root=".././"' in body.decode()
    assert all(link.startswith("../") for link in links(body))


def test_part_of_another_app(run: Run) -> None:
    app = Kit()
    app.route("/tenants/:tenant", app_with())
    found = document(run, app, "/tenants/a%20b/openapi.json")
    assert found["servers"] == [{"url": "/tenants/a%20b"}]
    assert [*found["paths"]] == ["/books/{id}"]
    assert document(run, app, "/tenants/c/openapi.json")["servers"] == [{"url": "/tenants/c"}]
    _, page = get(run, app, "/tenants/a/docs")
    assert 'data-root="./"' in page.decode()


def test_part_by_base_path_is_documented_alone(run: Run) -> None:
    app = Kit()
    app.get("/v1/books", lambda c: c.json({}))
    app.get("/v10/books", lambda c: c.json({}))
    app.get("/v2/books", lambda c: c.json({}))
    for version in ("/v1", "/v2"):
        openapi(app.base_path(version), info={"title": version})
    found = document(run, app, "/v1/openapi.json")
    assert [*found["paths"]] == ["/v1/books"]
    assert found["servers"] == [{"url": "/"}]
    assert document(run, app, "/v2/openapi.json")["info"]["title"] == "/v2"
    _, page = get(run, app, "/v1/docs")
    assert 'data-root="../"' in page.decode()
    assert 'data-document="openapi.json"' in page.decode()


def test_mounted_app(run: Run) -> None:
    app = Kit()
    app.mount("/shelf", from_asgi(app_with()))
    assert document(run, app, "/shelf/openapi.json")["servers"] == [{"url": "/shelf"}]


@pytest.mark.parametrize(
    ("tenant", "server"),
    [("a", "/a"), ("a%20b", "/a%20b"), ("%2Fevil.example", "/evil.example"), ("sub", "/sub")],
)
def test_app_mounted_below_a_parameter(run: Run, tenant: str, server: str) -> None:
    inner = Kit()
    inner.route("/sub", app_with())
    app = Kit().mount("/:tenant", inner.fetch)
    found = document(run, app, f"/{tenant}/sub/openapi.json")
    assert found["servers"] == [{"url": f"{server}/sub"}]


@pytest.mark.parametrize("path", ["/behind/openapi.json", "/openapi.json"])
def test_root_path_of_a_proxy(run: Run, path: str) -> None:
    app = app_with()
    sent: list[dict[str, Any]] = []

    async def ask() -> None:
        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "root_path": "/behind",
            "query_string": b"",
            "headers": [(b"host", b"api.test")],
            "server": ("api.test", 80),
            "client": ("127.0.0.1", 1),
        }
        await app(scope, receive, send)

    run(ask)
    assert b'"servers":[{"url":"/behind"}]' in sent[1]["body"]


def test_app_that_routes_by_the_host(run: Run) -> None:
    app = Kit(get_path=lambda request: "/tenant" + request.url.removeprefix("http://localhost"))
    part = app.base_path("/tenant")
    part.get("/books", lambda c: c.json({}))
    openapi(part)
    found = document(run, app, "/openapi.json")
    assert [*found["paths"]] == ["/tenant/books"]
    assert found["servers"] == [{"url": "/"}]


def test_servers_that_are_given_stay(run: Run) -> None:
    app = Kit()
    app.route("/v1", app_with(servers=[{"url": "https://api.example.com/x"}, {"url": "/y"}]))
    found = document(run, app, "/v1/openapi.json")
    assert [each["url"] for each in found["servers"]] == ["https://api.example.com/x", "/y"]
    response, page = get(run, app, "/v1/docs")
    assert b" data-servers>" in page
    policy = response.headers.get("content-security-policy") or ""
    assert "connect-src 'self' https://api.example.com;" in policy


def test_policy_of_the_page(run: Run) -> None:
    response, _ = get(run, app_with(), "/docs")
    assert response.headers.get("content-security-policy") == (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "font-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'self'"
    )


def test_policy_of_a_page_whose_scripts_add_styles(run: Run) -> None:
    app = app_with(ui="scalar")
    nonces = set()
    for _ in range(2):
        response, page = get(run, app, "/docs")
        [nonce] = {*re.findall(r' nonce="([^"]+)"', page.decode())}
        assert response.headers.get("content-security-policy") == (
            f"default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; "
            "img-src 'self' data:; font-src 'self' data:; connect-src 'self'; base-uri 'none'; "
            "form-action 'none'; frame-ancestors 'self'"
        )
        nonces.add(nonce)
    assert len(nonces) == 2
    assert all(len(nonce) >= 22 for nonce in nonces)  # 128 bits


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("https://api.example.com:8443/v1", "https://api.example.com:8443"),
        ("https://{name}.example.com/{version}", "https://*.example.com"),
        ("https://api-{name}.example.com", "https:"),
        ("https://api.example.com:{port}", "https:"),
        ("{scheme}://api.example.com", "http: https:"),
        ("https://a.com; script-src *", ""),
        ("/v1", ""),
    ],
)
def test_servers_in_the_policy(run: Run, url: str, allowed: str) -> None:
    response, _ = get(run, app_with(servers=[{"url": url}]), "/docs")
    policy = response.headers.get("content-security-policy") or ""
    rules = dict(each.split(" ", 1) for each in policy.split("; "))
    assert rules["connect-src"] == f"'self' {allowed}".rstrip()
    assert rules["script-src"] == "'self'"


@pytest.mark.parametrize("ui", ["swagger", "scalar"])
def test_policy_and_nonce_of_the_app(run: Run, ui: Any) -> None:
    async def secure(c: Context, next: Next) -> None:
        c.set("secure_headers_nonce", 'a"b')
        c.header("content-security-policy", "script-src 'nonce-x'")
        await next()

    app = Kit()
    app.use(secure)
    openapi(app, ui=ui)
    response, page = get(run, app, "/docs")
    assert response.headers.get("content-security-policy") == "script-src 'nonce-x'"
    assert page.count(b' nonce="a&quot;b"') == 4


def test_files_of_ones_own(run: Run, tmp_path: Path) -> None:
    (tmp_path / "swagger-ui-bundle.js").write_text("let a;")
    (tmp_path / "swagger-ui.css").write_text("a {}")
    (tmp_path / "swagger-ui.css.gz").write_bytes(gzip.compress(b"a {} "))
    app = app_with(assets=tmp_path)
    assert get(run, app, "/docs/ui/swagger-ui-bundle.js")[1] == b"let a;"
    _, body = get(run, app, "/docs/ui/swagger-ui.css", accept_encoding="gzip")
    assert gzip.decompress(body) == b"a {} "
    _, page = get(run, app, "/docs")
    assert b"favicon" not in page


def test_files_at_another_address(run: Run) -> None:
    app = app_with(assets="https://static.example.com/swagger/")
    response, page = get(run, app, "/docs")
    assert "https://static.example.com/swagger/swagger-ui-bundle.js" in links(page)
    assert any(link.startswith("docs/ui/kit-openapi.js") for link in links(page))
    policy = response.headers.get("content-security-policy") or ""
    assert "script-src 'self' https://static.example.com;" in policy
    assert get(run, app, "/docs/ui/swagger-ui.css")[0].status == 404


def test_no_page(run: Run) -> None:
    assert get(run, app_with(docs=None), "/docs")[0].status == 404


def test_guards_in_front_cover_document_and_page(run: Run) -> None:
    async def refuse(c: Context, next: Next) -> Response:
        return c.text("no", 403)

    app = Kit()
    app.use(refuse)
    openapi(app)
    for path in ("/openapi.json", "/docs", "/docs/ui/swagger-ui.css"):
        assert get(run, app, path)[0].status == 403
