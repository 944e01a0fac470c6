# SPDX-License-Identifier: MIT
"""`get_content`: content from a function, as in Hono; tests/conformance has more of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from kit import Context, Kit, Response
from kit.serve_static import serve_static

FILES: dict[str, Any] = {
    "site/a.txt": b"text of a",
    "site/empty.txt": b"",
    "site/app.js": "app()",
    "site/app.js.br": b"br of app",
    "site/app.js.gz": b"gz of app",
    "site/only.css": b"css",
    "site/docs/index.html": "<h1>Docs</h1>",
    "site/.env": b"SECRET=1",
    "site/%41.txt": b"percent",
    "site/pic.png": b"png",
}


def get_content(path: str, c: Context) -> Any:
    return FILES.get(path)


async def get_later(path: str, c: Context) -> Any:
    return FILES.get(path)


def app_with(**options: Any) -> Kit:
    app = Kit()
    app.use("/*", serve_static("./site", **{"get_content": get_content, **options}))
    app.get("/app.css", lambda c: c.text("behind"))
    return app


@pytest.mark.parametrize("source", [get_content, get_later])
def test_content_is_sent(ask: Callable[..., Any], source: Any) -> None:
    app = app_with(get_content=source)
    found = ask(app, "/a.txt")
    assert (found.status, found.body) == (200, b"text of a")
    assert found.headers["content-type"] == "text/plain; charset=utf-8"
    assert ask(app, "/app.css").body == b"behind"
    assert ask(app, "/empty.txt").status == 200
    assert ask(app, "/a.txt", "POST").status == 404


def test_a_fixed_path_and_the_default_root(ask: Callable[..., Any]) -> None:
    app = Kit()
    app.get("/x", serve_static(path="site/a.txt", get_content=get_content))
    assert ask(app, "/x").body == b"text of a"


@pytest.mark.parametrize(
    "path",
    ["/..%2fa.txt", "//a.txt", "/.env", "/%2541.txt", "/a.txt%00", "/x/%5c../a.txt", "/b%5ca.txt"],
)
def test_refused_paths_are_not_asked_for(ask: Callable[..., Any], path: str) -> None:
    seen: list[str] = []
    missing: list[str] = []

    def source(path: str, c: Context) -> Any:
        seen.append(path)
        return b"content"

    app = app_with(get_content=source, on_not_found=lambda path, c: missing.append(path))
    assert ask(app, "http://localhost" + path).status == 404
    assert not seen
    assert len(missing) == 1


@pytest.mark.parametrize("path", ["/./a.txt", "/x/../a.txt", "/.", "/x/.."])
def test_dot_segments_that_a_server_passes_on_lead_nowhere(path: str) -> None:
    """A guard was matched with the path as it is; joined, it would be another one."""
    seen: list[str] = []
    sent: list[Any] = []

    def source(path: str, c: Context) -> Any:
        seen.append(path)
        return b"content"

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.5"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": [(b"host", b"example.com")],
        "client": None,
        "server": None,
    }
    asyncio.run(app_with(get_content=source)(scope, receive, send))
    assert sent[0]["status"] == 404
    assert not seen


def test_function_for_missing_files_gets_an_ambiguous_path_as_it_was_routed(
    ask: Callable[..., Any],
) -> None:
    missing: list[str] = []
    app = app_with(on_not_found=lambda path, c: missing.append(path))
    assert ask(app, "/b%5Ca.txt").status == 404
    assert missing == ["/b\\a.txt"]


def test_options_lift_refusals(ask: Callable[..., Any]) -> None:
    assert ask(app_with(dotfiles=True), "/.env").body == b"SECRET=1"
    assert ask(app_with(allow_percent_in_path=True), "/%2541.txt").body == b"percent"


@pytest.mark.parametrize("is_async", [False, True])
def test_folders(ask: Callable[..., Any], is_async: bool) -> None:
    async def later(path: str) -> bool:
        return path.rstrip("/") == "site/docs"

    app = app_with(is_dir=later if is_async else lambda path: path.rstrip("/") == "site/docs")
    assert ask(app, "/docs").body == b"<h1>Docs</h1>"
    assert ask(app, "/docs/").body == b"<h1>Docs</h1>"
    assert ask(app_with(is_dir=lambda path: True, index=None), "/a.txt").body == b"text of a"


def test_a_root_with_dots_is_resolved(ask: Callable[..., Any]) -> None:
    app = Kit()
    app.use("/*", serve_static("./other/../site/", get_content=get_content))
    assert ask(app, "/a.txt").body == b"text of a"


def test_paths_may_be_joined_otherwise(ask: Callable[..., Any]) -> None:
    app = app_with(
        join=lambda root, path: f"{root}|{path}",
        path_resolve=lambda path: path.replace("./site|/", "site/"),
        rewrite_request_path=lambda path: path.removeprefix("/up"),
    )
    assert ask(app, "/up/a.txt").body == b"text of a"


@pytest.mark.parametrize(
    ("removed", "path", "dotfiles"),
    [
        ("/assets", "/assets../secret.txt", False),
        ("/assets", "/assets../secret.txt", True),
        ("x", "/.x./secret.txt", True),
        ("%", "/.%25./secret.txt", True),
        ("x", "/deep/.x./.x./secret.txt", True),
        ("/assets/", "/assets/.env", False),
        ("x", "/x.env", False),
    ],
)
def test_a_rewritten_path_is_checked_again(
    ask: Callable[..., Any], removed: str, path: str, dotfiles: bool
) -> None:
    seen: list[str] = []
    missing: list[str] = []

    def source(path: str, c: Context) -> Any:
        seen.append(path)
        return b"TOP SECRET"

    app = Kit()
    app.use(
        "/*",
        serve_static(
            "srv/public",
            get_content=source,
            allow_percent_in_path=True,
            dotfiles=dotfiles,
            rewrite_request_path=lambda path: path.replace(removed, ""),
            on_not_found=lambda path, c: missing.append(path),
        ),
    )
    assert ask(app, "http://localhost" + path).status == 404
    assert not seen
    # Even this function gets no path outside the root.
    assert len(missing) == 1
    assert missing[0].startswith("srv/public/")


def test_a_rewritten_path_may_have_single_dots_and_further_slashes(ask: Callable[..., Any]) -> None:
    app = app_with(rewrite_request_path=lambda path: f"./docs///.{path}")
    assert ask(app, "/index.html").body == b"<h1>Docs</h1>"


def test_a_rewritten_path_is_a_str(ask: Callable[..., Any]) -> None:
    raised: list[Exception] = []
    app = app_with(rewrite_request_path=lambda path: None)

    def note(error: Exception, c: Context) -> Response:
        raised.append(error)
        return c.text("failed", 500)

    app.on_error(note)
    assert ask(app, "/a.txt").status == 500
    assert [f"{type(each).__name__}: {each}" for each in raised] == [
        "TypeError: serve_static(rewrite_request_path=...) returned None: expected a path"
    ]


def test_a_fixed_path_may_be_outside_the_root(ask: Callable[..., Any]) -> None:
    app = Kit()
    app.get("/x", serve_static("site/docs", "../a.txt", get_content=get_content))
    assert ask(app, "/x").body == b"text of a"


def test_precompressed_content(ask: Callable[..., Any]) -> None:
    found: list[str] = []
    app = app_with(precompressed=True, on_found=lambda path, c: found.append(path))
    encoded = ask(app, "/app.js", accept_encoding="br;q=0.5, gzip")
    assert (encoded.body, encoded.headers["content-encoding"]) == (b"gz of app", "gzip")
    plain = ask(app, "/only.css", accept_encoding="br, gzip")
    assert (plain.body, plain.headers["vary"]) == (b"css", "Accept-Encoding")
    assert ask(app, "/app.js").body == b"app()"
    assert "vary" not in ask(app, "/pic.png", accept_encoding="br").headers
    assert found == ["site/app.js", "site/only.css", "site/app.js", "site/pic.png"]


def test_cache_control(ask: Callable[..., Any]) -> None:
    assert ask(app_with(cache_control="no-cache"), "/a.txt").headers["cache-control"] == "no-cache"
    app = app_with(cache_control=lambda path: "no-store" if path == "site/a.txt" else None)
    assert ask(app, "/a.txt").headers["cache-control"] == "no-store"
    assert "cache-control" not in ask(app, "/pic.png").headers


def test_a_response_is_sent_as_it_is(ask: Callable[..., Any]) -> None:
    def source(path: str, c: Context) -> Response:
        return Response(b"own", status=203, headers=[("X-Own", "1"), ("Set-Cookie", "a=b")])

    app = Kit()

    async def first(c: Context, next: Any) -> None:
        c.header("X-Early", "yes")
        await next()

    app.use("*", first, serve_static(get_content=source))
    found = ask(app, "/a.txt")
    assert (found.status, found.body) == (203, b"own")
    assert (found.headers["x-own"], found.headers["x-early"]) == ("1", "yes")


def test_content_may_be_a_stream(ask: Callable[..., Any]) -> None:
    async def chunks() -> Any:
        yield b"one "
        yield b"two"

    assert ask(app_with(get_content=lambda path, c: chunks()), "/a.txt").body == b"one two"
