# SPDX-License-Identifier: MIT
"""Precompressed files, the fallback of single-page apps, and Cache-Control."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kit import Context, Kit, Response
from kit.serve_static import IMMUTABLE, hashed_names, serve_static

PAGE = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.fixture
def compressed(folder: Path) -> Path:
    """The folder with precompressed files."""
    for name in ("app.js", "app.js.br", "app.js.zst", "app.js.gz", "only.css", "only.css.gz"):
        (folder / name).write_text(f"content of {name}")
    for name in ("pic.png", "pic.png.br", "data.json"):
        (folder / name).write_text(f"content of {name}")
    (folder / "odd.txt").write_text("odd")
    (folder / "odd.txt.br").mkdir()
    return folder


@pytest.mark.parametrize(
    ("accept", "name", "encoding"),
    [
        ("gzip, br, zstd", "app.js.br", "br"),
        ("gzip, zstd", "app.js.zst", "zstd"),
        ("gzip", "app.js.gz", "gzip"),
        ("x-gzip", "app.js.gz", "gzip"),
        ("GZIP", "app.js.gz", "gzip"),
        ("*", "app.js.br", "br"),
        ("br;q=0.1, gzip", "app.js.gz", "gzip"),
        ("br;q=0, *", "app.js.zst", "zstd"),
        ("identity", "app.js", None),
        ("deflate", "app.js", None),
        ("gzip;q=0", "app.js", None),
        ("gzip;q=0.5, identity", "app.js", None),
        ("*;q=0", "app.js", None),
        ("", "app.js", None),
    ],
)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_what_the_client_accepts(
    compressed: Path,
    site: Callable[..., Kit],
    ask: Callable[..., Any],
    accept: str,
    name: str,
    encoding: str | None,
    method: str,
) -> None:
    app = site(precompressed=True)
    found = ask(app, "/app.js", method, accept_encoding=accept)
    assert found.body == (f"content of {name}".encode() if method == "GET" else b"")
    assert found.headers.get("content-encoding") == encoding
    assert found.headers["content-type"] == "text/javascript; charset=utf-8"
    assert found.headers["vary"] == "Accept-Encoding"


def test_without_accept_encoding(
    compressed: Path, site: Callable[..., Kit], ask: Callable[..., Any]
) -> None:
    found = ask(site(precompressed=True), "/app.js")
    assert found.body == b"content of app.js"
    assert found.headers["vary"] == "Accept-Encoding"


def test_each_encoding_has_an_etag_of_its_own(
    compressed: Path, site: Callable[..., Kit], ask: Callable[..., Any]
) -> None:
    app = site(precompressed=True)
    tags = {
        accept: ask(app, "/app.js", accept_encoding=accept).headers["etag"]
        for accept in ("identity", "br", "zstd", "gzip")
    }
    assert len(set(tags.values())) == 4
    assert tags["br"].endswith('-br"')
    for accept, tag in tags.items():
        assert ask(app, "/app.js", accept_encoding=accept, if_none_match=tag).status == 304
    found = ask(app, "/app.js", accept_encoding="br", if_none_match=tags["gzip"])
    assert found.status == 200


def test_ranges_are_those_of_the_encoding(
    compressed: Path, site: Callable[..., Kit], ask: Callable[..., Any]
) -> None:
    found = ask(site(precompressed=True), "/app.js", accept_encoding="br", range="bytes=-3")
    assert (found.status, found.body) == (206, b".br")
    assert found.headers["content-encoding"] == "br"


def test_the_next_best_where_a_file_is_missing(
    compressed: Path, site: Callable[..., Kit], ask: Callable[..., Any]
) -> None:
    app = site(precompressed=True)
    found = ask(app, "/only.css", accept_encoding="br, zstd, gzip;q=0.1")
    assert found.body == b"content of only.css.gz"
    assert ask(app, "/data.json", accept_encoding="br, gzip").body == b"content of data.json"
    assert ask(app, "/odd.txt", accept_encoding="br").body == b"odd"


def test_what_is_compressed_already_has_no_variants(
    compressed: Path, site: Callable[..., Kit], ask: Callable[..., Any]
) -> None:
    found = ask(site(precompressed=True), "/pic.png", accept_encoding="br")
    assert found.body == b"content of pic.png"
    assert "vary" not in found.headers


def test_the_order_is_an_option(
    compressed: Path, site: Callable[..., Kit], ask: Callable[..., Any]
) -> None:
    app = site(precompressed=["zstd", "gzip"])
    found = ask(app, "/app.js", accept_encoding="br, gzip, zstd")
    assert found.headers["content-encoding"] == "zstd"
    assert ask(site(precompressed="gzip"), "/app.js", accept_encoding="br, gzip").body == (
        b"content of app.js.gz"
    )


def test_a_precompressed_file_may_be_asked_for_itself(
    compressed: Path, site: Callable[..., Kit], ask: Callable[..., Any]
) -> None:
    found = ask(site(precompressed=True), "/app.js.gz", accept_encoding="gzip")
    assert found.headers["content-type"] == "application/gzip"
    assert "content-encoding" not in found.headers


# ---- fallback -----------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/", "/books", "/books/7/edit", "/users/ada.lovelace", "/x.html"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_navigations_get_the_fallback(
    site: Callable[..., Kit], ask: Callable[..., Any], path: str, method: str
) -> None:
    found = ask(site(fallback="index.html"), path, method, **PAGE)
    assert found.status == 200
    assert found.headers["content-type"] == "text/html; charset=utf-8"
    assert found.body == (b"<h1>Home</h1>" if method == "GET" else b"")
    assert (found.headers.get("vary") == "Accept, Sec-Fetch-Mode") == (path != "/")


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/assets/gone.js", PAGE),
        ("/pic.png", PAGE),
        ("/books", {}),
        ("/books", {"accept": "*/*"}),
        ("/books", {"accept": "application/json"}),
        ("/books", {"accept": "text/html;q=0, */*"}),
        ("/books", {**PAGE, "sec_fetch_mode": "cors"}),
        ("/books", {**PAGE, "sec_fetch_mode": "no-cors"}),
        ("/.env", PAGE),
        ("/a%5Cb", PAGE),
    ],
)
def test_all_others_are_not_found(
    site: Callable[..., Kit], ask: Callable[..., Any], path: str, headers: dict[str, str]
) -> None:
    found = ask(site(fallback="index.html"), path, **headers)
    assert found.status == 404
    assert (found.headers.get("vary") == "Accept, Sec-Fetch-Mode") == (path == "/books")


def test_a_navigation_by_fetch_metadata(site: Callable[..., Kit], ask: Callable[..., Any]) -> None:
    found = ask(site(fallback="index.html"), "/books", **PAGE, sec_fetch_mode="navigate")
    assert found.status == 200


def test_other_routes_come_before_the_fallback(folder: Path, ask: Callable[..., Any]) -> None:
    app = Kit()
    app.use("/*", serve_static(folder, fallback="index.html"))
    app.get("/api/*", lambda c: c.json({"error": "no such book"}, 404))
    app.get("/about", lambda c: c.text("about"))
    assert ask(app, "/about", **PAGE).body == b"about"
    found = ask(app, "/api/books/9", **PAGE)
    assert (found.status, found.body) == (404, b'{"error":"no such book"}')
    assert ask(app, "/elsewhere", **PAGE).body == b"<h1>Home</h1>"


def test_later_middleware_gets_the_request_instead_of_the_fallback(
    folder: Path, ask: Callable[..., Any]
) -> None:
    """It may have an answer; as the docs say, all other middleware goes before the fallback."""

    async def answer(c: Context, next: Any) -> Response | None:
        if c.req.path == "/books":
            return c.text("by middleware")
        await next()
        return None

    app = Kit()
    app.use("/*", serve_static(folder, fallback="index.html"))
    app.use("/*", answer)
    assert ask(app, "/books", **PAGE).body == b"by middleware"
    assert ask(app, "/elsewhere", **PAGE).status == 404
    assert ask(app, "/docs/", **PAGE).body == b"<h1>Docs</h1>"


def test_a_response_that_a_handler_returns_again_is_not_changed(
    folder: Path, ask: Callable[..., Any]
) -> None:
    absent = Response("absent", status=404, headers={"Vary": "Cookie"})
    app = Kit()
    app.use("/*", serve_static(folder, fallback="index.html"))
    app.get("/books", lambda c: absent)
    assert ask(app, "/books").headers["vary"] == "Cookie, Accept, Sec-Fetch-Mode"
    assert absent.headers.get("vary") == "Cookie"


def test_a_fallback_has_validators_and_may_be_missing(
    folder: Path, site: Callable[..., Kit], ask: Callable[..., Any]
) -> None:
    app = site(fallback="docs/index.html", precompressed=True)
    (folder / "docs" / "index.html.gz").write_bytes(b"gz")
    found = ask(app, "/books", **PAGE, accept_encoding="gzip")
    assert (found.body, found.headers["content-encoding"]) == (b"gz", "gzip")
    assert found.headers["vary"] == "Accept, Sec-Fetch-Mode, Accept-Encoding"
    tag = found.headers["etag"]
    again = ask(app, "/books", **PAGE, accept_encoding="gzip", if_none_match=tag)
    assert again.status == 304
    (folder / "docs" / "index.html").unlink()
    assert ask(app, "/books", **PAGE).status == 404


# ---- Cache-Control ------------------------------------------------------------------------------


def test_one_value_for_all(site: Callable[..., Kit], ask: Callable[..., Any]) -> None:
    app = site(cache_control="public, max-age=60", fallback="index.html")
    for path in ("/a.txt", "/docs/", "/books"):
        assert ask(app, path, **PAGE).headers["cache-control"] == "public, max-age=60"
    assert "cache-control" not in ask(app, "/gone.js").headers


@pytest.mark.parametrize("is_async", [False, True])
def test_a_function_of_the_path(
    site: Callable[..., Kit], ask: Callable[..., Any], is_async: bool
) -> None:
    seen: list[str] = []

    def by_path(path: str) -> str | None:
        seen.append(path)
        return "no-store" if path.startswith("docs/") else None

    async def later(path: str) -> str | None:
        return by_path(path)

    app = site(cache_control=later if is_async else by_path)
    assert ask(app, "/docs/").headers["cache-control"] == "no-store"
    assert "cache-control" not in ask(app, "/css/site.css").headers
    assert seen == ["docs/index.html", "css/site.css"]


@pytest.mark.parametrize(
    "path",
    [
        "app.3f2a9c1b.js",  # webpack
        "main.a1b2c3d4e5f60718.chunk.css",
        "static/base.27e20196a850.css",  # Django
        "assets/index-BzqK3d9f.js",  # Vite
        "assets/index-D1_x-9Zk.css",
        "chunk-7QH2ABCD.js",  # esbuild
        "logo-5d41402abc4b2a76b9719d911017c592.png",
        "app-3f2a9c1b.js.map",
        "a_0cc175b9c0f1b6a8.txt",
    ],
)
def test_hashed_names(path: str) -> None:
    assert hashed_names()(path) == IMMUTABLE


@pytest.mark.parametrize(
    "path",
    [
        "index.html",
        "app.js",
        "jquery-3.6.0.min.js",
        "report-20241231.pdf",
        "photo.1234567890.jpg",
        "my-facade.js",
        "deadbeef.js",
        "3f2a9c1b.d/app.js",
        "3f2a9c1b/index.html",
        "font-Bold2024.woff",
        "guide-Chapter1.pdf",
        "a-ISO88591.txt",
        "bundle-abcdefgh.js",
        "icon-ABCDEFGH.svg",
        "noextension-3f2a9c1b",
        "assets/index-Overview.html",
    ],
)
def test_names_without_a_digest(path: str) -> None:
    assert hashed_names()(path) == "no-cache"


def test_hashed_names_options() -> None:
    assert hashed_names(None)("index.html") is None
    assert hashed_names("no-store")("index.html") == "no-store"
    by_folder = hashed_names(pattern="^assets/")
    assert by_folder("assets/app.js") == IMMUTABLE
    assert by_folder("index.html") == "no-cache"


def test_hashed_names_when_served(
    folder: Path, site: Callable[..., Kit], ask: Callable[..., Any]
) -> None:
    (folder / "app.3f2a9c1b.js").write_text("x")
    app = site(cache_control=hashed_names())
    assert ask(app, "/app.3f2a9c1b.js").headers["cache-control"] == IMMUTABLE
    assert ask(app, "/").headers["cache-control"] == "no-cache"


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"otherwise": 7}, TypeError, "hashed_names(otherwise=...) takes a str, not 7"),
        ({"otherwise": "a\nb"}, ValueError, "expected latin-1 text without control characters"),
        ({"pattern": 7}, TypeError, "hashed_names(pattern=...) takes a pattern of str, not 7"),
    ],
)
def test_wrong_arguments_of_hashed_names(
    arguments: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error) as raised:
        hashed_names(**arguments)
    assert text in str(raised.value)
