# SPDX-License-Identifier: MIT
"""Files of a folder: what is found, with which headers, and what isn't."""

from __future__ import annotations

import asyncio
import errno
import gc
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from kit import Context, Kit, Response
from kit.http.dates import format_http_date, parse_http_date
from kit.interface import plugins
from kit.serve_static import serve_static

TEXT = "text/plain; charset=utf-8"
HTML = "text/html; charset=utf-8"


@pytest.mark.parametrize(
    ("path", "content_type", "body"),
    [
        ("/a.txt", TEXT, b"text of a"),
        ("/css/site.css", "text/css; charset=utf-8", b"body{color:red}"),
        ("/docs/deep/er/page.html", HTML, b"deep"),
        ("/noext", "application/octet-stream", b"no extension"),
        ("/empty.txt", TEXT, b""),
        ("/sp%20ace.txt", TEXT, b"space"),
        ("/caf%C3%A9.txt", TEXT, "café".encode()),
        ("/what%3F.txt", TEXT, b"question"),
        ("/a%23b.txt", TEXT, b"hash"),
        ("/%61.txt", TEXT, b"text of a"),
        ("/UPPER.TXT", TEXT, b"upper"),
        ("/a..b.txt", TEXT, b"two dots"),
        ("/a.txt?v=1", TEXT, b"text of a"),
        ("/", HTML, b"<h1>Home</h1>"),
        ("/docs/", HTML, b"<h1>Docs</h1>"),
        ("/.well-known/security.txt", TEXT, b"Contact: mailto:a@example.com"),
    ],
)
def test_a_file_is_found(
    site: Callable[..., Kit], ask: Callable[..., Any], path: str, content_type: str, body: bytes
) -> None:
    found = ask(site(), path)
    assert (found.status, found.body) == (200, body)
    assert found.headers == {
        "accept-ranges": "bytes",
        "content-type": content_type,
        "etag": found.headers["etag"],
        "last-modified": "Tue, 14 Nov 2023 22:13:20 GMT",
    }


@pytest.mark.parametrize(
    "path",
    [
        "/absent.txt",
        "/absent/a.txt",
        "/a.txt/",
        "/a.txt/b",
        "/bare",
        "/bare/",
        "/A.TXT",
        "/.env",
        "/.git/config",
        "/docs/.hidden.txt",
        "/docs/.well-known/x",
        "/100%25.txt",
        "/100%.txt",
        "/%zz.txt",
        "/a.txt%00",
        "/a.txt%0a",
        "/css%2Fsite.css",
        "/css%5Csite.css",
        "/css//site.css",
        "//a.txt",
        "/" + "x" * 300,
        "/" + "d/" * 3000 + "x",
    ],
)
def test_what_is_not_found_goes_on(
    site: Callable[..., Kit], ask: Callable[..., Any], path: str
) -> None:
    app = site()
    app.get("*", lambda c: c.text("behind", 418))
    found = ask(app, path)
    assert (found.status, found.body) == (418, b"behind")
    assert "etag" not in found.headers


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "QUERY"])
def test_other_methods_go_on(
    site: Callable[..., Kit], ask: Callable[..., Any], method: str
) -> None:
    assert ask(site(), "/a.txt", method).status == 404


def test_head_has_the_headers_of_get(site: Callable[..., Kit], ask: Callable[..., Any]) -> None:
    app = site()
    get, head = ask(app, "/a.txt"), ask(app, "/a.txt", "HEAD")
    assert (head.status, head.body) == (200, b"")
    assert head.headers == {**get.headers, "content-length": "9"}


@pytest.mark.parametrize(
    ("url", "location"),
    [
        ("/docs", "./docs/"),
        ("/docs?a=1&b=/x", "./docs/?a=1&b=/x"),
        ("/d%6Fcs#part", "./d%6Fcs/#part"),
    ],
)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_folder_without_slash_is_redirected(
    site: Callable[..., Kit], ask: Callable[..., Any], url: str, location: str, method: str
) -> None:
    found = ask(site(), url, method)
    assert (found.status, found.headers["location"]) == (301, location)


def test_a_redirect_never_leads_to_another_host(folder: Path, ask: Callable[..., Any]) -> None:
    (folder / "evil.example").mkdir()
    (folder / "evil.example" / "index.html").write_text("x")
    app = Kit()
    app.use("/*", serve_static(folder, rewrite_request_path=lambda path: path.lstrip("/")))
    for path in ("http://localhost//evil.example", "http://localhost/evil.example"):
        location = ask(app, path).headers.get("location", "./")
        assert location.startswith("./")


def test_index(site: Callable[..., Kit], ask: Callable[..., Any]) -> None:
    assert ask(site(index="file.txt"), "/bare/").body == b"a folder without an index"
    assert ask(site(index="file.txt"), "/bare").status == 301
    assert ask(site(index=None), "/").status == 404
    assert ask(site(index=None), "/docs").status == 404


def test_an_index_that_is_a_folder_is_none(
    folder: Path, site: Callable[..., Kit], ask: Callable[..., Any]
) -> None:
    (folder / "odd" / "index.html").mkdir(parents=True)
    assert ask(site(), "/odd/").status == 404
    assert ask(site(), "/odd").status == 404


def test_dotfiles_are_served_if_wanted(site: Callable[..., Kit], ask: Callable[..., Any]) -> None:
    app = site(dotfiles=True)
    assert ask(app, "/.env").body == b"SECRET=1"
    assert ask(app, "/.git/config").body == b"SECRET"


def test_percent_signs_are_served_if_wanted(
    site: Callable[..., Kit], ask: Callable[..., Any]
) -> None:
    assert ask(site(allow_percent_in_path=True), "/100%25.txt").body == b"percent"


def test_rewritten_paths(folder: Path, ask: Callable[..., Any]) -> None:
    async def later(path: str) -> str:
        return path.removeprefix("/static")

    app = Kit()
    app.use("/static/*", serve_static(folder, rewrite_request_path=later))
    app.use("/up/*", serve_static(folder, rewrite_request_path=lambda path: "/../secret.txt"))
    app.use("/odd/*", serve_static(folder, rewrite_request_path=lambda path: 7))
    assert ask(app, "/static/a.txt").body == b"text of a"
    assert ask(app, "/static/").body == b"<h1>Home</h1>"
    assert ask(app, "/static").headers["location"] == "./static/"
    assert ask(app, "/up/x").status == 404
    assert ask(app, "/odd/x").status == 500


def test_a_rewriting_function_never_sees_a_path_that_is_refused(
    folder: Path, ask: Callable[..., Any]
) -> None:
    seen: list[str] = []

    def rewrite(path: str) -> str:
        seen.append(path)
        return path

    app = Kit()
    app.use("/*", serve_static(folder, rewrite_request_path=rewrite))
    for path in ("/%5C..%5Csecret.txt", "/x%2F..%2Fy", "/.env", "/a.txt"):
        ask(app, path)
    assert seen == ["/a.txt"]


def test_a_fixed_path(folder: Path, ask: Callable[..., Any]) -> None:
    app = Kit()
    app.get("/favicon.ico", serve_static(folder, "a.txt"))
    app.get("/docs-here", serve_static(folder, path="docs"))
    app.get("/gone", serve_static(folder, path="gone.txt"))
    assert ask(app, "/favicon.ico").body == b"text of a"
    assert ask(app, "/docs-here").body == b"<h1>Docs</h1>"
    assert ask(app, "/gone").status == 404


def test_mimes(site: Callable[..., Kit], ask: Callable[..., Any]) -> None:
    app = site(mimes={"txt": "text/x-mine", ".CSS": "text/css; charset=latin-1"})
    assert ask(app, "/a.txt").headers["content-type"] == "text/x-mine"
    assert ask(app, "/css/site.css").headers["content-type"] == "text/css; charset=latin-1"


def test_functions_are_told(
    folder: Path, site: Callable[..., Kit], ask: Callable[..., Any]
) -> None:
    told: list[Any] = []

    async def found(path: str, c: Context) -> None:
        c.header("X-Found", "yes")
        told.append(("found", path))

    def missing(path: str, c: Context) -> None:
        told.append(("missing", path))

    app = site(on_found=found, on_not_found=missing)
    assert ask(app, "/docs/").headers["x-found"] == "yes"
    assert ask(app, "/nothing").status == 404
    assert told == [("found", str(folder / "docs" / "index.html")), ("missing", "/nothing")]


def test_a_response_that_is_there_is_left_alone(
    folder: Path, run: Callable[..., Any], ask: Callable[..., Any]
) -> None:
    app = Kit()

    async def first(c: Context, next: Any) -> None:
        c.res = c.text("already")
        await next()

    app.use("*", first)
    app.use("*", serve_static(folder))
    assert ask(app, "/a.txt").body == b"already"


def test_vary_of_middleware_is_kept(folder: Path, ask: Callable[..., Any]) -> None:
    app = Kit()

    async def first(c: Context, next: Any) -> None:
        c.header("Vary", "Origin")
        await next()

    app.use("*", first)
    app.use("*", serve_static(folder, precompressed=True))
    assert ask(app, "/a.txt").headers["vary"] == "Origin, Accept-Encoding"


def test_a_file_that_changes_is_never_stale(
    folder: Path, site: Callable[..., Kit], ask: Callable[..., Any]
) -> None:
    app = site()
    before = ask(app, "/a.txt")
    (folder / "a.txt").write_text("another text")
    after = ask(app, "/a.txt")
    assert after.body == b"another text"
    assert after.headers["etag"] != before.headers["etag"]
    (folder / "a.txt").unlink()
    assert ask(app, "/a.txt").status == 404


def test_a_root_that_is_a_link_may_be_switched(tmp_path: Path, ask: Callable[..., Any]) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "version.txt").write_text(name)
    (tmp_path / "current").symlink_to("one")
    app = Kit()
    app.use("/*", serve_static(tmp_path / "current"))
    assert ask(app, "/version.txt").body == b"one"
    (tmp_path / "next").symlink_to("two")
    (tmp_path / "next").rename(tmp_path / "current")
    assert ask(app, "/version.txt").body == b"two"


@pytest.mark.parametrize("modified_s", [-5, 0, 1, 315_532_801, 946_684_800])
def test_dates_that_reproducible_builds_give_to_all_files_say_nothing(
    folder: Path, site: Callable[..., Kit], ask: Callable[..., Any], modified_s: int
) -> None:
    path = folder / "a.txt"
    os.utime(path, (modified_s, modified_s))
    found = ask(site(), "/a.txt", if_modified_since="Tue, 14 Nov 2023 22:13:20 GMT")
    assert found.status == 200
    assert "last-modified" not in found.headers
    tag = found.headers["etag"]
    assert ask(site(), "/a.txt", if_none_match=tag).status == 304
    changed_ns = path.stat().st_ctime_ns
    while path.stat().st_ctime_ns == changed_ns:  # the next build, of the same size and date
        path.write_bytes(b"next of a")
        os.utime(path, (modified_s, modified_s))
    assert ask(site(), "/a.txt", if_none_match=tag).body == b"next of a"


def test_a_date_to_come_counts_as_that_of_the_last_change(
    folder: Path, site: Callable[..., Kit], ask: Callable[..., Any]
) -> None:
    path = folder / "a.txt"
    os.utime(path, (1 << 33, 1 << 33))  # in 2242
    app = site()
    sent = ask(app, "/a.txt").headers["last-modified"]
    # It doesn't depend on the time of the request, so it matches in later ones, too.
    changed_s = int(path.stat().st_ctime)
    assert parse_http_date(sent) == changed_s
    assert changed_s <= time.time()
    before = format_http_date(changed_s - 1)
    assert ask(app, "/a.txt", if_unmodified_since=sent).status == 200
    assert ask(app, "/a.txt", range="bytes=0-1", if_unmodified_since=sent).status == 206
    assert ask(app, "/a.txt", if_unmodified_since=before).status == 412
    assert ask(app, "/a.txt", if_modified_since=sent).status == 304
    assert ask(app, "/a.txt", if_modified_since=before).status == 200


def test_what_is_no_regular_file_is_not_found(
    folder: Path, site: Callable[..., Kit], ask: Callable[..., Any]
) -> None:
    os.mkfifo(folder / "pipe")
    assert ask(site(), "/pipe").status == 404


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.EILSEQ, "not a name for this file system"),
        UnicodeEncodeError("ascii", "caf\xe9", 3, 4, "not a name for this locale"),
    ],
)
def test_a_name_that_the_system_can_not_have_is_not_found(
    site: Callable[..., Kit],
    ask: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
) -> None:
    def refuse(*args: Any, **options: Any) -> int:
        raise error

    app = site()
    monkeypatch.setattr(os, "open", refuse)
    assert ask(app, "/caf%C3%A9.txt").status == 404


def test_a_file_that_may_not_be_read_is_not_found(
    folder: Path,
    site: Callable[..., Kit],
    ask: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*args: Any, **kwargs: Any) -> int:
        raise PermissionError(13, "Permission denied")

    app = site()
    monkeypatch.setattr(os, "open", refuse)
    assert ask(app, "/a.txt").status == 404


def test_too_many_open_files_are_a_fault(
    folder: Path,
    site: Callable[..., Kit],
    ask: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*args: Any, **kwargs: Any) -> int:
        raise OSError(24, "Too many open files")

    app = site()
    monkeypatch.setattr(os, "open", refuse)
    assert ask(app, "/a.txt").status == 500


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts open files in /proc")
def test_no_file_stays_open(
    folder: Path, site: Callable[..., Kit], ask: Callable[..., Any]
) -> None:
    (folder / "large.bin").write_bytes(bytes(3_000_000))
    app = site(precompressed=True)
    requests: list[tuple[str, str, dict[str, str]]] = [
        ("/large.bin", "GET", {}),
        ("/large.bin", "GET", {"range": "bytes=0-0,200000-1999999,2100000-2999999"}),
        ("/large.bin", "HEAD", {}),
        ("/large.bin", "GET", {"range": "bytes=4000000-"}),
        ("/large.bin", "GET", {"if_match": '"other"'}),
        ("/a.txt", "GET", {"accept_encoding": "br"}),
        ("/docs/deep/er/page.html", "GET", {}),
        ("/docs", "GET", {}),
        ("/bare/", "GET", {}),
        ("/a.txt/", "GET", {}),
    ]
    for path, method, headers in requests:
        ask(app, path, method, **headers)
    before = open_files()
    for path, method, headers in requests:
        ask(app, path, method, **headers)
    assert open_files() == before


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts open files in /proc")
def test_a_stream_that_is_dropped_closes_its_file(
    folder: Path, site: Callable[..., Kit], run: Callable[..., Any]
) -> None:
    (folder / "large.bin").write_bytes(bytes(6_000_000))
    app = site()

    async def drop() -> tuple[int, int]:
        await (await app.request("/a.txt")).bytes()
        before = open_files()
        response = await app.request("/large.bin")
        body: Any = response.body
        assert len(await anext(body)) > 0
        await body.aclose()
        with pytest.raises(TypeError, match="already read"):
            await response.bytes()
        return before, open_files()

    before, after = run(drop)
    assert after == before


def refuse_to_read_now(*args: Any) -> int:
    raise BlockingIOError(11, "Resource temporarily unavailable")


@pytest.fixture(params=["now", "in threads", "in small pieces", "by seeking"])
def reading(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """How a file is read: as systems and file systems differ."""
    pread = os.pread
    if request.param in ("in threads", "in small pieces"):
        monkeypatch.setattr(os, "preadv", refuse_to_read_now)
    if request.param == "in small pieces":
        monkeypatch.setattr(
            os, "pread", lambda fd, size, start: pread(fd, min(size, 50_000), start)
        )
    if request.param == "by seeking":  # as on Windows
        monkeypatch.delattr(os, "RWF_NOWAIT")
        monkeypatch.delattr(os, "pread")
    return str(request.param)


def test_large_files_are_whole(
    reading: str, folder: Path, site: Callable[..., Kit], ask: Callable[..., Any]
) -> None:
    content = os.urandom(3_000_003)
    (folder / "large.bin").write_bytes(content)
    found = ask(site(), "/large.bin")
    assert found.body == content
    assert found.headers["content-length"] == "3000003"
    part = ask(site(), "/large.bin", range="bytes=7-2900000")
    assert part.body == content[7:2_900_001]
    assert ask(site(), "/large.bin", range="bytes=7-9").body == content[7:10]


def test_a_file_that_becomes_shorter_breaks_the_response(
    reading: str, folder: Path, site: Callable[..., Kit], run: Callable[..., Any]
) -> None:
    path = folder / "large.bin"
    path.write_bytes(bytes(6_000_000))
    app = site()

    async def shorten() -> None:
        response = await app.request("/large.bin")
        body: Any = response.body
        await anext(body)
        with path.open("r+b") as file:
            file.truncate(3_000_000)
        async for _ in body:
            pass

    with pytest.raises(OSError, match=r"shrank while it was being sent: \d+ bytes are missing"):
        run(shorten)


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="counts open files in /proc")
def test_a_file_stays_open_while_a_thread_reads_it(
    folder: Path,
    site: Callable[..., Kit],
    run: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Otherwise the thread could read from what gets its descriptor next."""
    (folder / "large.bin").write_bytes(bytes(6_000_000))
    monkeypatch.setattr(os, "preadv", refuse_to_read_now)
    pread = os.pread
    is_reading, may_read = threading.Event(), threading.Event()

    def read_late(fd: int, size: int, start: int) -> bytes:
        is_reading.set()
        may_read.wait()
        return pread(fd, size, start)

    app = site()

    async def leave() -> None:
        await (await app.request("/a.txt")).bytes()  # starts a thread, if that takes a file
        before = open_files()
        response = await app.request("/large.bin")
        monkeypatch.setattr(os, "pread", read_late)
        body: Any = response.body
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(anext, body)
            while not is_reading.is_set():
                await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()
        assert open_files() == before + 1
        may_read.set()
        while open_files() != before:
            await anyio.lowlevel.checkpoint()

    run(leave)


async def served(app: Kit, path: str, **scope: Any) -> list[dict[str, Any]]:
    """What a server is told to send."""
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    async def receive() -> dict[str, Any]:
        await anyio.sleep_forever()
        raise AssertionError("unreachable")

    await app(
        {
            "type": "http",
            "method": "GET",
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "root_path": "",
            "headers": scope.pop("headers", []),
            **scope,
        },
        receive,
        send,
    )
    return sent


def test_path_send(folder: Path, site: Callable[..., Kit], run: Callable[..., Any]) -> None:
    (folder / "large.bin").write_bytes(bytes(3_000_000))
    offered = {"http.response.pathsend": {}}

    async def ask(app: Kit, **scope: Any) -> dict[str, Any]:
        messages = await served(app, "/large.bin", **scope)
        assert (b"content-length", b"3000000") in messages[0]["headers"] or "headers" in scope
        return messages[1]

    async def ask_all() -> list[dict[str, Any]]:
        willing, plain = site(pathsend=True), site()
        some = [(b"range", b"bytes=0-1999999")]
        return [
            await ask(willing, extensions=offered),
            await ask(willing),
            await ask(willing, extensions=offered, headers=some),
            await ask(plain, extensions=offered),
        ]

    by_path, *others = run(ask_all)
    assert by_path == {"type": "http.response.pathsend", "path": str(folder / "large.bin")}
    assert [each["type"] for each in others] == ["http.response.body"] * 3


def test_middleware_sees_a_stream(
    folder: Path, run: Callable[..., Any], ask: Callable[..., Any]
) -> None:
    (folder / "large.bin").write_bytes(b"abc" * 1_000_000)
    app = Kit()

    async def upper(c: Context, next: Any) -> None:
        await next()
        body: Any = c.res.body

        async def changed() -> Any:
            async for chunk in body:
                yield chunk.upper()

        c.res = c.res.replace(body=changed())

    app.use("*", upper)
    app.use("*", serve_static(folder, pathsend=True))
    assert ask(app, "/large.bin").body == b"ABC" * 1_000_000


def test_below_a_mounted_prefix(folder: Path, ask: Callable[..., Any]) -> None:
    inner = Kit()
    inner.use(
        "/files/*",
        serve_static(folder, rewrite_request_path=lambda path: path.removeprefix("/shop/files")),
    )
    app = Kit()
    app.route("/shop", inner)
    assert ask(app, "/shop/files/a.txt").body == b"text of a"
    assert ask(app, "/shop/files/docs").headers["location"] == "./docs/"


def test_it_may_be_a_handler(folder: Path, ask: Callable[..., Any]) -> None:
    app = Kit()
    app.get("/a.txt", serve_static(folder))

    @app.get("/b.txt")
    def own(c: Context) -> Response:
        return c.text("own")

    assert ask(app, "/a.txt").body == b"text of a"
    assert ask(app, "/b.txt").body == b"own"


def test_it_is_found_by_its_name() -> None:
    assert plugins.load("kit.middleware", "serve-static") is serve_static


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="descriptors are read from /proc")
def test_two_thousand_requests_that_end_early_leave_no_file_open(folder: Path) -> None:
    """Cancelled, disconnected or failing while sending, each at another point."""
    (folder / "large.bin").write_bytes(b"x" * 1_500_000)
    app = Kit()
    app.use("/*", serve_static(folder, precompressed=True))
    ends: set[str] = set()

    async def ask(number: int) -> None:
        left = number % 7

        async def receive() -> dict[str, Any]:
            for _ in range(number % 11):
                await asyncio.sleep(0)
            return {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            nonlocal left
            await asyncio.sleep(0)
            left -= 1
            if left == 0 and number % 3 == 0:
                raise OSError("the connection is lost")

        headers = [(b"range", b"bytes=0-699999,800000-1499999")] if number % 5 == 0 else []
        scope = {
            "type": "http",
            "method": "GET",
            "scheme": "http",
            "path": "/large.bin",
            "raw_path": b"/large.bin",
            "query_string": b"",
            "headers": headers,
        }
        task = asyncio.ensure_future(app(scope, receive, send))
        if number % 2:
            for _ in range(number % 13):
                await asyncio.sleep(0)
            task.cancel()
        await asyncio.wait([task])
        ends.add("cancelled" if task.cancelled() else repr(task.exception()))

    async def ask_all() -> None:
        for first in range(0, 2_000, 50):
            await asyncio.gather(*(ask(first + n) for n in range(50)))

    gc.disable()  # it would hide what is closed only by chance
    try:
        before = open_files()
        asyncio.run(ask_all())
        assert open_files() == before
    finally:
        gc.enable()
    assert {"cancelled", "None"} <= ends


def test_index_of_a_folder_in_an_app_that_is_not_strict(
    folder: Path, ask: Callable[..., Any]
) -> None:
    """The routing path has no slash at the end there, but the path of the URL has."""
    (folder / "guide").mkdir()
    (folder / "guide" / "index.html").write_text("guide")
    app = Kit(strict=False).use("/*", serve_static(folder))
    found = ask(app, "/guide")
    assert (found.status, found.headers["location"]) == (301, "./guide/")
    found = ask(app, "/guide/?a=1")
    assert (found.status, found.body) == (200, b"guide")
