# SPDX-License-Identifier: MIT
"""An app with guards in front of everything that can answer, and what must have run before.

Each answer says which path the answering code read, in its simplest form, and which guards ran.
"""

from __future__ import annotations

import json
import os
import posixpath
from collections.abc import Iterable, Iterator
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from starlette.applications import Starlette
from starlette.staticfiles import StaticFiles

from kit import Context, Kit, Next, Request, Response
from kit.asgi import from_asgi, from_wsgi
from kit.http.paths import parse_url_path
from kit.serve_static import serve_static
from kit.websocket import upgrade_websocket

NAMES = ("private", "@admin", "x:y", "a b", "é", "50%", "$&+,;=")
"""Names with a guard on `/<place>/<name>/*`."""

FOLDERS = ("static", "moved", "starlette")
"""The places where files are found: a folder, one without the prefix, and one of Starlette's."""

MOUNTS = ("kit", "route", "asgi", "asgi-whole", "asgi-direct", "wsgi", "function", "whole", "own")
PLACES = ("handler", *FOLDERS, *MOUNTS)
GUARD = "x-guard"


def make_files(folder: Path) -> None:
    """Makes files that contain the path that leads to them."""
    for name, place in product((*NAMES, "open"), FOLDERS):
        path = folder / place / name
        path.mkdir(parents=True, exist_ok=True)
        (path / "s.txt").write_text(told(f"/{place}/{name}/s.txt"), "utf-8")


def simplest(path: str) -> str:
    """What a careless application makes of a decoded path."""
    return posixpath.normpath("/" + path.replace("\\", "/").partition("\0")[0].lstrip("/"))


async def careless_asgi(scope: Any, receive: Any, send: Any) -> None:
    """An application that takes many paths for the same one."""
    body = told(simplest(scope["path"])).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def careless_wsgi(environ: Any, start_response: Any) -> list[bytes]:
    """The same for WSGI."""
    path = environ.get("SCRIPT_NAME", "") + environ.get("PATH_INFO", "")
    body = told(simplest(path.encode("latin-1").decode("utf-8", "replace"))).encode()
    start_response("200 OK", [("content-type", "application/json")])
    return [body]


def told(path: str) -> str:
    return json.dumps({"path": path})


def function(request: Request, *_: Any) -> Response:
    """A function that reads the path of a URL, in which dot segments are resolved."""
    seen = request.root_path if request.is_below_root_path else ""
    return Response(told(seen + parse_url_path(request.url)))


def make_app(folder: Path, router: Any = None) -> Kit:
    app = Kit(router=router)
    for place, name in product(PLACES, NAMES):
        pattern = f"/{place}/{name.replace('%', '%25')}/*"
        app.use(pattern, guard(f"/{place}/{name}"))

    def tell(c: Context) -> Response:
        return c.text(told(c.req.path))

    inner = Kit()
    inner.get("/*", lambda c: c.text(told("/kit" + c.req.path)))
    routed = Kit()
    routed.get("/*", tell)
    app.get("/handler/*", tell)
    app.use("/static/*", serve_static(folder, allow_percent_in_path=True))
    app.use(
        "/moved/*",
        serve_static(
            folder / "moved",
            rewrite_request_path=lambda path: path.removeprefix("/moved"),
            allow_percent_in_path=True,
        ),
    )
    files = Starlette()
    files.mount("/", StaticFiles(directory=folder / "starlette"))
    app.mount("/starlette", from_asgi(files))
    app.mount("/kit", inner.fetch)
    app.route("/route", routed)
    app.mount("/asgi", from_asgi(careless_asgi))
    app.mount("/asgi-whole", from_asgi(careless_asgi), replace_request=False)
    direct = from_asgi(careless_asgi)
    app.all("/asgi-direct/*", lambda c: direct(c.req.raw))
    app.mount("/wsgi", from_wsgi(careless_wsgi))
    app.mount("/function", function)
    app.mount("/whole", function, replace_request=False)
    app.mount("/own", function, replace_request=lambda request: request.replace(url=request.url))
    app.get("*", upgrade_websocket(lambda socket: socket.close()))
    return app


def guard(name: str) -> Any:
    async def guarded(c: Context, next: Next) -> None:
        await next()
        c.header(GUARD, quote(name), append=True)

    return guarded


def missing(status: int, body: str, guards: Iterable[str]) -> set[str]:
    """The guards that cover the path that was answered for, but didn't run."""
    if status != 200:
        return set()
    ran = {unquote(each.strip()) for line in guards for each in line.split(",")}
    path = json.loads(body)["path"].replace("%25", "%") + "/"
    needed = {f"/{place}/{name}" for place, name in product(PLACES, NAMES)}
    return {each for each in needed if path.startswith(each + "/")} - ran


def nasty_paths(*names: str) -> list[str]:
    """A few hundred paths, each in every place once, with these names among others."""
    return [*dict.fromkeys(_nasty_paths(names))]


def _nasty_paths(names: Iterable[str]) -> Iterator[str]:
    spellings = {name: [*_spellings(name)] for name in names}
    for place in PLACES:
        for name in names:
            yield from (f"/{place}/{each}/s.txt" for each in spellings[name])
        for before in (
            "/",
            "//",
            "/./",
            "/%2e/",
            "/open/../",
            "/open/%2E%2e/",
            "/%2f",
            "/%5c",
            "\\",
        ):
            yield f"/{place}{before}private/s.txt"
        for between in ("//", "/./", "%2f", "%2F", "%5C", "\\", "/%2e/", "%252f", ";/", "%00/"):
            yield f"/{place}/private{between}s.txt"
            yield f"/{place}/open/..{between}private/s.txt"
        yield f"//{place}/private/s.txt"
        yield f"/%{ord(place[0]):02x}{place[1:]}/private/s.txt"
        yield f"/open/../{place}/private/s.txt"
        yield f"/{place}/%70rivate%FF/s.txt"
        yield f"/{place}/PRIVATE/s.txt"
        yield f"/{place}/private/s.txt/"


def _spellings(name: str) -> Iterator[str]:
    encoded = "".join(f"%{byte:02X}" for byte in name.encode())
    yield quote(name)
    yield quote(name, safe="@:$&+,;=")
    yield encoded
    yield encoded.lower()
    yield encoded.replace("%", "%25")


ODD_TARGETS = (
    b"private/s.txt",
    b"handler/private/s.txt",
    b"asgi/x/asgi/private/s.txt",
    b"%2Fhandler/private/s.txt",
    b"@example.com/private/s.txt",
    b"\\handler\\private",
    b"*",
    b"http:/handler/private",
    b"/handler/private#/../open",
    b"/handler#/private",
)
"""Request targets that aren't paths, or not alone."""

app: Kit | None = None
if folder := os.environ.get("ONE_READING_FOLDER"):
    app = make_app(Path(folder))
