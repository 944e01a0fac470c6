# SPDX-License-Identifier: MIT
"""Which requests are redirected, and where to."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kit.trailing_slash
from kit import Context, Kit, Response
from kit.trailing_slash import append_trailing_slash, trim_trailing_slash

METHODS = ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "PURGE")
paths = st.lists(
    st.sampled_from(["/", "//", "a", "b.c", "%2F", "%zz", "é", ".", "..", "\\", "@x", ":", "%20"])
).map(lambda parts: "/" + "".join(parts))
queries = st.sampled_from(["", "?", "?q=1", "?q=/", "?a/b?c/", "?q=%2F&&x", "?q=é", "#/", "?x#y/"])


def ok(c: Context) -> Response:
    return c.text("ok")


def app_with(middleware: Any, *routes: str, **options: Any) -> Kit[Any, Any]:
    app: Kit[Any, Any] = Kit(**options)
    app.use(middleware)
    for route in routes:
        app.all(route, ok)
    return app


async def answer(app: Kit[Any, Any], url: str, method: str = "GET") -> tuple[int, str | None]:
    """Status and Location."""
    response = await app.request(url, {"method": method})
    return response.status, response.headers.get("location")


async def served(
    app: Kit[Any, Any], raw_path: bytes, root_path: str = "", query: bytes = b""
) -> tuple[int, str | None]:
    """Status and Location of a GET request through ASGI."""
    scope: dict[str, Any] = {
        "type": "http",
        "method": "GET",
        "scheme": "https",
        "path": raw_path.decode("latin-1"),
        "raw_path": raw_path,
        "root_path": root_path,
        "query_string": query,
        "headers": [(b"host", b"here.example")],
    }
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    await app(scope, receive, send)
    location = dict(sent[0]["headers"]).get(b"location")
    return sent[0]["status"], None if location is None else location.decode("latin-1")


# --- trim ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("always", [False, True])
async def test_trim(always: bool, method: str) -> None:
    app = app_with(trim_trailing_slash(always_redirect=always), "/", "/about", "/a/b")
    assert await answer(app, "/about/", method) == (301, "http://localhost/about")
    assert await answer(app, "/a/b/", method) == (301, "http://localhost/a/b")
    assert await answer(app, "/about", method) == (200, None)
    assert await answer(app, "/", method) == (200, None)
    # Also where there is nothing at the other path.
    assert await answer(app, "/none/", method) == (301, "http://localhost/none")
    assert await answer(app, "/none", method) == (404, None)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("always", [False, True])
async def test_trim_leaves_other_methods_alone(always: bool, method: str) -> None:
    app = app_with(trim_trailing_slash(always_redirect=always), "/about")
    assert await answer(app, "/about/", method) == (404, None)


async def test_trim_leaves_a_route_with_a_slash_alone_unless_always() -> None:
    app = app_with(trim_trailing_slash(), "/about/", "/files/*")
    assert await answer(app, "/about/") == (200, None)
    assert await answer(app, "/files/a/") == (200, None)
    app = app_with(trim_trailing_slash(always_redirect=True), "/about/", "/files/*")
    assert await answer(app, "/about/") == (301, "http://localhost/about")
    assert await answer(app, "/files/a/") == (301, "http://localhost/files/a")


async def test_trim_removes_one_slash() -> None:
    app = app_with(trim_trailing_slash(), "/a")
    assert await answer(app, "/a///") == (301, "http://localhost/a//")
    assert await answer(app, "/a//") == (301, "http://localhost/a/")
    assert await answer(app, "//") == (301, "http://localhost/")


async def test_trim_never_redirects_the_root() -> None:
    for always in (False, True):
        app = app_with(trim_trailing_slash(always_redirect=always))
        for url in ("/", "/?q=1/", "/#x/", "http://other.example/", "http://other.example"):
            assert await answer(app, url) == (404, None)


async def test_trim_is_silent_where_both_paths_are_one_route() -> None:
    for always in (False, True):
        app = app_with(trim_trailing_slash(always_redirect=always), "/about", strict=False)
        assert await answer(app, "/about/") == (200, None)
        assert await answer(app, "/none/") == (404, None)


# --- append -------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("always", [False, True])
async def test_append(always: bool, method: str) -> None:
    app = app_with(append_trailing_slash(always_redirect=always), "/", "/about/", "/a/b/")
    assert await answer(app, "/about", method) == (301, "http://localhost/about/")
    assert await answer(app, "/a/b", method) == (301, "http://localhost/a/b/")
    assert await answer(app, "/about/", method) == (200, None)
    assert await answer(app, "/", method) == (200, None)
    assert await answer(app, "/none", method) == (301, "http://localhost/none/")
    assert await answer(app, "/none/", method) == (404, None)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("always", [False, True])
async def test_append_leaves_other_methods_alone(always: bool, method: str) -> None:
    app = app_with(append_trailing_slash(always_redirect=always), "/about/")
    assert await answer(app, "/about", method) == (404, None)


async def test_append_leaves_a_route_without_a_slash_alone_unless_always() -> None:
    app = app_with(append_trailing_slash(), "/about", "/files/*")
    assert await answer(app, "/about") == (200, None)
    assert await answer(app, "/files/a") == (200, None)
    app = app_with(append_trailing_slash(always_redirect=True), "/about", "/files/*")
    assert await answer(app, "/about") == (301, "http://localhost/about/")
    assert await answer(app, "/files/a") == (301, "http://localhost/files/a/")


@pytest.mark.parametrize("always", [False, True])
async def test_append_skip(always: bool) -> None:
    seen: list[str] = []

    def skip(path: str) -> bool:
        seen.append(path)
        return path.endswith(".html")

    app = app_with(append_trailing_slash(always_redirect=always, skip=skip))
    assert await answer(app, "/caf%C3%A9.html?q") == (404, None)
    assert await answer(app, "/about") == (301, "http://localhost/about/")
    assert await answer(app, "/about/") == (404, None)
    assert await answer(app, "/about", "POST") == (404, None)
    assert seen == ["/café.html", "/about"]


@pytest.mark.parametrize("always", [False, True])
async def test_append_does_not_loop_where_both_paths_are_one_route(always: bool) -> None:
    app = app_with(append_trailing_slash(always_redirect=always), "/x", strict=False)
    assert await answer(app, "/x/") == (200, None)
    assert await answer(app, "/none/") == (404, None)
    expected = (301, "http://localhost/x/") if always else (200, None)
    assert await answer(app, "/x") == expected


# --- Location -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "location"),
    [
        ("/a/?q=1&q=2", "http://localhost/a?q=1&q=2"),
        ("/a/?", "http://localhost/a?"),
        ("/a/?q=%2F&&x=%zz&=", "http://localhost/a?q=%2F&&x=%zz&="),
        ("/a/?q=/", "http://localhost/a?q=/"),
        ("/a/?q=é", "http://localhost/a?q=%C3%A9"),
        ("/a/?next=http://other.example/", "http://localhost/a?next=http://other.example/"),
        ("/a/#frag/", "http://localhost/a#frag/"),
        ("/a/?q=1#frag?/", "http://localhost/a?q=1#frag?/"),
        ("/a/#x?y", "http://localhost/a#x?y"),
        ("/caf%C3%A9/", "http://localhost/caf%C3%A9"),
        ("/あ/", "http://localhost/%E3%81%82"),
        ("/a%2Fb%3F%23%00/", "http://localhost/a%2Fb%3F%23%00"),
        ("/a%2F/", "http://localhost/a%2F"),
        ("https://other.example:8443/a/?q", "https://other.example:8443/a?q"),
        ("http://[::1]:80/a/", "http://[::1]/a"),
    ],
)
async def test_location(url: str, location: str) -> None:
    for always in (False, True):
        app = app_with(trim_trailing_slash(always_redirect=always))
        assert await answer(app, url) == (301, location)
    # The way back.
    path, mark, rest = location, "", ""
    for each in "?#":
        if each in location and (not mark or location.index(each) < location.index(mark)):
            path, mark, rest = location.partition(each)
    for always in (False, True):
        app = app_with(append_trailing_slash(always_redirect=always))
        assert await answer(app, location) == (301, f"{path}/{mark}{rest}")


@pytest.mark.parametrize(
    ("path", "location"),
    [
        ("//evil.example/", "http://localhost//evil.example"),
        ("///evil.example/", "http://localhost///evil.example"),
        ("/\\evil.example/", "http://localhost//evil.example"),
        ("/%5Cevil.example/", "http://localhost/%5Cevil.example"),
        ("/%2Fevil.example/", "http://localhost/%2Fevil.example"),
        ("/@evil.example/", "http://localhost/@evil.example"),
        ("/https://evil.example/", "http://localhost/https://evil.example"),
    ],
)
async def test_never_to_another_host(path: str, location: str) -> None:
    for always in (False, True):
        app = app_with(trim_trailing_slash(always_redirect=always))
        assert await answer(app, "http://localhost" + path) == (301, location)
        served_location = location.replace("http://localhost", "https://here.example")
        assert await served(app, path.encode()) == (301, served_location)
        app = app_with(append_trailing_slash(always_redirect=always))
        assert await served(app, path.encode()[:-1]) == (301, served_location + "/")


@pytest.mark.parametrize("path", [b"@evil.example/x", b".evil.example/x", b"http://evil.example/x"])
async def test_a_target_without_a_slash_at_its_start_is_not_redirected(path: bytes) -> None:
    for always in (False, True):
        app = app_with(trim_trailing_slash(always_redirect=always))
        assert await served(app, path + b"/") == (404, None)
        app = app_with(append_trailing_slash(always_redirect=always))
        assert await served(app, path) == (404, None)


@given(path=paths, query=queries)
async def test_redirects_stay_on_the_host_and_come_to_an_end(path: str, query: str) -> None:
    for make in (trim_trailing_slash, append_trailing_slash):
        for options in ({"strict": True}, {"strict": False}):
            app = app_with(make(always_redirect=True), **options)
            url = "http://localhost" + path + query
            for _ in range(len(path) + 2):
                status, location = await answer(app, url)
                if location is None:
                    break
                assert status == 301
                parts = urlsplit(location)
                assert (parts.scheme, parts.netloc) == ("http", "localhost")
                url = location
            else:
                pytest.fail(f"{url} is redirected without end")


@given(path=paths, query=queries)
async def test_trim_and_append_undo_each_other(path: str, query: str) -> None:
    trim, append = (
        app_with(make(always_redirect=True))
        for make in (trim_trailing_slash, append_trailing_slash)
    )
    _, appended = await answer(append, "http://localhost" + path + query)
    if appended is not None:
        _, trimmed = await answer(trim, appended)
        assert trimmed is not None
        assert await answer(append, trimmed) == (301, appended)


# --- served, mounted, with a path of its own ----------------------------------------------------


async def test_below_a_root_path() -> None:
    for always in (False, True):
        app = app_with(trim_trailing_slash(always_redirect=always))
        assert await served(app, b"/app/x/", "/app", b"q=1") == (
            301,
            "https://here.example/app/x?q=1",
        )
        # The root of the app, which a host may well redirect the other way.
        assert await served(app, b"/app/", "/app") == (404, None)
        app = app_with(append_trailing_slash(always_redirect=always))
        assert await served(app, b"/app/x", "/app", b"q=1") == (
            301,
            "https://here.example/app/x/?q=1",
        )
        assert await served(app, b"/app", "/app") == (404, None)


async def test_get_path() -> None:
    def with_host(request: Any) -> str:
        parts = urlsplit(request.url)
        return f"/{parts.netloc}{parts.path}"

    for always in (False, True):
        app = app_with(trim_trailing_slash(always_redirect=always), get_path=with_host)
        assert await answer(app, "/a/") == (301, "http://localhost/a")
        assert await answer(app, "/") == (404, None)


# --- around other handlers ----------------------------------------------------------------------


@pytest.mark.parametrize(("always", "runs"), [(False, ["/a/"]), (True, [])])
async def test_always_redirect_goes_before_the_handlers(always: bool, runs: list[str]) -> None:
    ran: list[str] = []

    async def remember(c: Context, next: Callable[[], Awaitable[None]]) -> None:
        ran.append(c.req.path)
        await next()

    app = Kit()
    app.use(trim_trailing_slash(always_redirect=always))
    app.use(remember)
    assert await answer(app, "/a/") == (301, "http://localhost/a")
    assert ran == runs


async def test_a_404_of_a_handler_is_redirected_too() -> None:
    app = Kit()
    app.use(trim_trailing_slash())
    app.get("/users/:id/", lambda c: c.json({"error": "unknown"}, 404))
    assert await answer(app, "/users/1/") == (301, "http://localhost/users/1")


async def test_the_redirect_takes_the_place_of_the_not_found_answer() -> None:
    async def mark(c: Context, next: Callable[[], Awaitable[None]]) -> None:
        c.header("X-Mark", "1")
        await next()

    app = Kit()
    app.use(mark)
    app.use(append_trailing_slash())
    app.not_found(lambda c: c.json({"error": "not found"}, 404))
    response = await app.request("/a")
    assert response.status == 301
    assert await response.text() == ""
    assert response.headers["x-mark"] == "1"
    assert response.headers.get_all("location") == ["http://localhost/a/"]


async def test_errors_are_not_redirected() -> None:
    def fail(c: Context) -> Response:
        raise RuntimeError("boom")

    app = Kit()
    app.use(trim_trailing_slash())
    app.get("/a/", fail)
    app.on_error(lambda error, c: c.text(str(error), 500))
    assert await answer(app, "/a/") == (500, None)


async def test_on_a_part_of_the_app() -> None:
    app = Kit()
    app.use("/docs/*", trim_trailing_slash())
    assert await answer(app, "/docs/a/") == (301, "http://localhost/docs/a")
    assert await answer(app, "/other/a/") == (404, None)


# --- creation -----------------------------------------------------------------------------------


async def async_skip(path: str) -> bool:
    return True


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: trim_trailing_slash(always_redirect="yes"),  # type: ignore[arg-type]
            "trim_trailing_slash(always_redirect=...) takes a bool, not 'yes'",
        ),
        (
            lambda: append_trailing_slash(always_redirect=1),  # type: ignore[arg-type]
            "append_trailing_slash(always_redirect=...) takes a bool, not 1",
        ),
        (
            lambda: append_trailing_slash(skip="*.html"),  # type: ignore[arg-type]
            "append_trailing_slash(skip=...) takes a function, not '*.html'",
        ),
        (
            lambda: append_trailing_slash(skip=lambda: True),  # type: ignore[arg-type, misc]
            "append_trailing_slash(skip=...) takes a function (path): "
            "got the signature <lambda>.<locals>.<lambda>()",
        ),
        (
            lambda: append_trailing_slash(skip=async_skip),  # type: ignore[arg-type]
            "append_trailing_slash(skip=...) takes a plain function, not an async one",
        ),
    ],
)
def test_mistakes_are_errors_at_creation(make: Callable[[], Any], text: str) -> None:
    with pytest.raises(TypeError) as caught:
        make()
    assert str(caught.value) == text


@pytest.mark.parametrize("make", [trim_trailing_slash, append_trailing_slash])
def test_middleware_bears_the_name_of_its_factory(make: Any) -> None:
    assert make().__name__ == make.__name__
    with pytest.raises(TypeError):
        make(True)


def test_public_names() -> None:
    assert kit.trailing_slash.__all__ == ("append_trailing_slash", "trim_trailing_slash")
    assert all(hasattr(kit.trailing_slash, name) for name in kit.trailing_slash.__all__)


# --- README ----------------------------------------------------------------------------------


def readme_app(number: int) -> Kit[Any, Any]:
    """The app of a Python block of the README."""
    readme = (Path(__file__).resolve().parent.parent / "README.md").read_text()
    block = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)[number]
    namespace: dict[str, Any] = {}
    exec(compile(block, "README.md", "exec"), namespace)
    app = namespace["app"]
    assert isinstance(app, Kit)
    return app


async def test_readme() -> None:
    trim, append = readme_app(0), readme_app(1)
    url = "http://127.0.0.1:8000/about"
    assert await answer(trim, f"{url}/?page=2") == (301, f"{url}?page=2")
    assert await answer(trim, url) == (200, None)
    assert await answer(append, "/docs/a") == (301, "http://localhost/docs/a/")
    assert await answer(append, "/docs/a.png") == (200, None)
    assert await answer(append, "/docs/a/") == (200, None)
