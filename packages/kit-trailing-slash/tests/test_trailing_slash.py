# SPDX-License-Identifier: MIT
"""Which requests are redirected, and where to."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

import kit.trailing_slash
from kit import URL, Context, HTTPException, Kit, Response
from kit.trailing_slash import append_trailing_slash, trim_trailing_slash

METHODS = ("POST", "PUT", "DELETE", "PATCH", "OPTIONS", "PURGE")
paths = st.lists(
    st.sampled_from(["/", "//", "a", "b.c", "%2F", "%zz", "é", ".", "..", "\\", "@x", ":", "%20"])
).map(lambda parts: "/" + "".join(parts))
queries = st.sampled_from(["", "?", "?q=1", "?q=/", "?a/b?c/", "?q=%2F&&x", "?q=é", "#/", "?x#y/"])


def ok(c: Context) -> Response:
    return c.text("ok")


async def ok_after(c: Context, next: Callable[[], Awaitable[None]]) -> None:
    await next()


def missing_file(c: Context) -> Response:
    raise HTTPException(404)


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


async def followed(app: Kit[Any, Any], url: str) -> str | None:
    """Where a client goes that requests a URL; None if it isn't redirected."""
    url = URL(url, "http://localhost").href
    status, location = await answer(app, url)
    if location is None:
        return None
    assert status == 301
    assert location.startswith(("./", "../"))
    return URL(location, url).href


async def served(
    app: Kit[Any, Any],
    raw_path: bytes,
    root_path: str = "",
    query: bytes = b"",
    host: bytes = b"here.example",
) -> tuple[int, str | None]:
    """Status and Location of a GET request through ASGI."""
    scope: dict[str, Any] = {
        "type": "http",
        "method": "GET",
        "scheme": "https",
        "path": unquote(raw_path.decode()),
        "raw_path": raw_path,
        "root_path": root_path,
        "query_string": query,
        "headers": [(b"host", host)],
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
    assert await answer(app, "/about/", method) == (301, "../about")
    assert await answer(app, "/a/b/", method) == (301, "../b")
    assert await answer(app, "/about", method) == (200, None)
    assert await answer(app, "/", method) == (200, None)
    # Also where there is nothing at the other path.
    assert await answer(app, "/none/", method) == (301, "../none")
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
    assert await answer(app, "/about/") == (301, "../about")
    assert await answer(app, "/files/a/") == (301, "../a")


async def test_trim_removes_one_slash() -> None:
    app = app_with(trim_trailing_slash(), "/a")
    assert await answer(app, "/a///") == (301, "../")
    assert await answer(app, "/a//") == (301, "../")
    assert await answer(app, "//") == (301, "../")


async def test_trim_never_redirects_the_root() -> None:
    for always in (False, True):
        app = app_with(trim_trailing_slash(always_redirect=always))
        for url in ("/", "/?q=1/", "/#x/", "http://other.example/", "http://other.example"):
            assert await answer(app, url) == (404, None)


async def test_trim_where_both_paths_are_one_route() -> None:
    app = app_with(trim_trailing_slash(), "/about", strict=False)
    assert await answer(app, "/about/") == (200, None)
    assert await answer(app, "/none/") == (404, None)
    app = app_with(trim_trailing_slash(always_redirect=True), "/about", "/", strict=False)
    assert await answer(app, "/about/?page=2") == (301, "../about?page=2")
    assert await answer(app, "/about") == (200, None)
    assert await answer(app, "/about/", "POST") == (200, None)
    assert await answer(app, "/none/") == (301, "../none")
    assert await answer(app, "/") == (200, None)
    assert await served(app, b"/app/", "/app") == (200, None)
    assert await served(app, b"/app/about/", "/app") == (301, "../about")


# --- append -------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("always", [False, True])
async def test_append(always: bool, method: str) -> None:
    app = app_with(append_trailing_slash(always_redirect=always), "/", "/about/", "/a/b/")
    assert await answer(app, "/about", method) == (301, "./about/")
    assert await answer(app, "/a/b", method) == (301, "./b/")
    assert await answer(app, "/about/", method) == (200, None)
    assert await answer(app, "/", method) == (200, None)
    assert await answer(app, "/none", method) == (301, "./none/")
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
    assert await answer(app, "/about") == (301, "./about/")
    assert await answer(app, "/files/a") == (301, "./a/")


@pytest.mark.parametrize("always", [False, True])
async def test_append_skip(always: bool) -> None:
    seen: list[str] = []

    def skip(path: str) -> bool:
        seen.append(path)
        return path.endswith(".html")

    app = app_with(append_trailing_slash(always_redirect=always, skip=skip))
    assert await answer(app, "/caf%C3%A9.html?q") == (404, None)
    assert await answer(app, "/about") == (301, "./about/")
    assert await answer(app, "/about/") == (404, None)
    assert await answer(app, "/about", "POST") == (404, None)
    assert seen == ["/café.html", "/about"]


@pytest.mark.parametrize("always", [False, True])
async def test_append_does_not_loop_where_both_paths_are_one_route(always: bool) -> None:
    app = app_with(append_trailing_slash(always_redirect=always), "/x", strict=False)
    assert await answer(app, "/x/") == (200, None)
    assert await answer(app, "/none/") == (404, None)
    expected = (301, "./x/") if always else (200, None)
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
        assert await followed(app, url) == location
    # The way back.
    path, mark, rest = location, "", ""
    for each in "?#":
        if each in location and (not mark or location.index(each) < location.index(mark)):
            path, mark, rest = location.partition(each)
    for always in (False, True):
        app = app_with(append_trailing_slash(always_redirect=always))
        assert await followed(app, location) == f"{path}/{mark}{rest}"


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
        url = "http://localhost" + path
        assert await followed(app, url) == location
        status, found = await served(app, path.encode())
        assert status == 301
        assert str(found).startswith("../")
        # A backslash may be a slash to the client, but the redirect doesn't leave the host.
        assert URL(str(found), url).host == "localhost"
        assert "\\" in path or URL(str(found), url).href == location
        app = app_with(append_trailing_slash(always_redirect=always))
        status, found = await served(app, path.encode()[:-1])
        assert status == 301
        assert URL(str(found), url[:-1]).host == "localhost"
        assert "\\" in path or URL(str(found), url[:-1]).href == location + "/"
        assert str(found).startswith("./")


@pytest.mark.parametrize("path", [b"@evil.example/x", b".evil.example/x", b"http://evil.example/x"])
async def test_a_target_without_a_slash_at_its_start_is_not_redirected(path: bytes) -> None:
    for always in (False, True):
        app = app_with(trim_trailing_slash(always_redirect=always))
        assert await served(app, path + b"/") == (400, None)
        app = app_with(append_trailing_slash(always_redirect=always))
        assert await served(app, path) == (400, None)


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
                assert location.startswith(("./", "../"))
                url = URL(location, url).href
                assert url.startswith("http://localhost/")
            else:
                pytest.fail(f"{url} is redirected without end")


@given(path=paths, query=queries)
async def test_trim_and_append_undo_each_other(path: str, query: str) -> None:
    trim, append = (
        app_with(make(always_redirect=True))
        for make in (trim_trailing_slash, append_trailing_slash)
    )
    appended = await followed(append, "http://localhost" + path + query)
    if appended is not None:
        trimmed = await followed(trim, appended)
        assert trimmed is not None
        assert await followed(append, trimmed) == appended


# --- served, mounted, with a path of its own ----------------------------------------------------


async def test_below_a_root_path() -> None:
    for always in (False, True):
        app = app_with(trim_trailing_slash(always_redirect=always))
        assert await served(app, b"/app/x/", "/app", b"q=1") == (301, "../x?q=1")
        # The root of the app, which a host may well redirect the other way.
        assert await served(app, b"/app/", "/app") == (404, None)
        app = app_with(append_trailing_slash(always_redirect=always))
        assert await served(app, b"/app/x", "/app", b"q=1") == (301, "./x/?q=1")
        assert await served(app, b"/app", "/app") == (404, None)


async def test_get_path() -> None:
    def with_host(request: Any) -> str:
        parts = urlsplit(request.url)
        return f"/{parts.netloc}{parts.path}"

    for always in (False, True):
        app = app_with(trim_trailing_slash(always_redirect=always), get_path=with_host)
        assert await answer(app, "/a/") == (301, "../a")
        for root in ("/", "/?q=/a/", "/#/a/"):
            assert await answer(app, root) == (404, None)


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
    assert await answer(app, "/a/") == (301, "../a")
    assert ran == runs


async def raising(c: Context) -> Response:
    raise HTTPException(404, "unknown user")


async def passing_on(c: Context) -> Response:
    return await c.not_found()


@pytest.mark.parametrize(
    "handler", [lambda c: c.json({"error": "unknown"}, 404), raising, passing_on, missing_file]
)
@pytest.mark.parametrize(
    ("middleware", "pattern", "path"),
    [
        (trim_trailing_slash(), "/users/:id/", "/users/1/"),
        (trim_trailing_slash(), "/users/*", "/users/1/"),
        (trim_trailing_slash(), "/users/:path{.+}", "/users/1/"),
        (append_trailing_slash(), "/users/:id", "/users/1"),
        (append_trailing_slash(), "*", "/users/1"),
    ],
)
@pytest.mark.parametrize("around", [[], [ok_after]])
async def test_a_404_of_a_handler_stays(
    middleware: Any, pattern: str, path: str, around: list[Any], handler: Any
) -> None:
    app = Kit()
    app.use(middleware)
    app.all(pattern, *around, handler)
    for method in ("GET", "HEAD"):
        assert await answer(app, path, method) == (404, None)


async def test_a_404_of_middleware_is_redirected_only_where_no_route_is() -> None:
    async def hide(c: Context, next: Callable[[], Awaitable[None]]) -> Response:
        return c.text("nothing here", 404)

    app = Kit()
    app.use(trim_trailing_slash())
    app.use("/hidden/*", hide)
    app.get("/hidden/a/", ok)
    assert await answer(app, "/hidden/a/") == (404, None)
    assert await answer(app, "/hidden/b/") == (301, "../b")


async def test_other_answers_of_middleware_stay() -> None:
    """Such as files: no route handles the request, but it isn't missing either."""

    async def files(c: Context, next: Callable[[], Awaitable[None]]) -> Response | None:
        if c.req.path.startswith("/files/"):
            return c.text("file")
        if c.req.path.startswith("/secret/"):
            raise HTTPException(401)
        await next()
        return None

    for middleware, end in ((trim_trailing_slash(), "/"), (append_trailing_slash(), "")):
        app = Kit()
        app.use(middleware)
        app.use(files)
        assert await answer(app, f"/files/a{end}") == (200, None)
        assert await answer(app, f"/secret/a{end}") == (401, None)
        assert (await answer(app, f"/none/a{end}"))[0] == 301


async def test_a_mounted_app_answers_for_itself() -> None:
    inner = Kit()
    inner.use(trim_trailing_slash())
    inner.get("/x", ok)
    inner.get("/own/", lambda c: c.text("none", 404))
    silent = Kit()
    app = Kit()
    app.use(append_trailing_slash())
    app.mount("/k", inner.fetch)
    app.mount("/silent", silent.fetch)
    assert await answer(app, "/k/own/") == (404, None)
    assert await answer(app, "/silent/a") == (404, None)
    assert await answer(app, "/none") == (301, "./none/")


@pytest.mark.parametrize("always", [False, True])
@pytest.mark.parametrize("root", ["", "/root"])
@pytest.mark.parametrize("prefix", ["/k", "/:tenant", "/a/b", "/k%20é"])
async def test_a_redirect_of_a_mounted_app_keeps_the_prefix(
    always: bool, root: str, prefix: str
) -> None:
    middle, outer = Kit(), Kit()
    trimming = app_with(trim_trailing_slash(always_redirect=always), "/x", "/x/y")
    appending = app_with(append_trailing_slash(always_redirect=always), "/x/", "/x/y/")
    middle.mount("/in", trimming.fetch)
    middle.mount("/out", appending.fetch)
    outer.mount(prefix.replace("%20", " "), middle.fetch)
    at = root + prefix.replace(":tenant", "acme").replace("é", "%C3%A9")
    for path in ("/x", "/x/y"):
        for start, end, other in (("/in", "/", ""), ("/out", "", "/")):
            target = f"{at}{start}{path}{end}"
            status, location = await served(outer, target.encode(), root, b"q=/1/")
            assert status == 301
            went = URL(str(location), f"http://host{target}").href
            assert went == f"http://host{at}{start}{path}{other}?q=/1/"
            assert (await served(outer, f"{at}{start}{path}{other}".encode(), root))[0] == 200


@pytest.mark.parametrize("host", [b"evil.example", b"internal:8000", b"a.example/..", b""])
async def test_host_and_scheme_make_no_difference(host: bytes) -> None:
    for middleware, path in ((trim_trailing_slash(), b"/a/"), (append_trailing_slash(), b"/a")):
        status, location = await served(app_with(middleware), path, host=host)
        assert (status, location) == (301, "../a" if path == b"/a/" else "./a/")


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
    assert response.headers.get_all("location") == ["./a/"]


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
    assert await answer(app, "/docs/a/") == (301, "../a")
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
    assert await answer(trim, f"{url}/?page=2") == (301, "../about?page=2")
    assert await answer(trim, url) == (200, None)
    assert await answer(append, "/docs/a") == (301, "./a/")
    assert await answer(append, "/docs/a.png") == (200, None)
    assert await answer(append, "/docs/a/") == (200, None)
