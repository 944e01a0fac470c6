# SPDX-License-Identifier: MIT
"""One app that uses every feature of Kit, for tests that send it whatever a client can send.

Its answers depend on the request alone, so the same request has the same answer. Its faults are
planned: a `PlannedError`, or one of a path below `/misuse`. Any other one is a fault of Kit.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import everything_answers as answers
import everything_bodies as bodies
from everything_faults import PlannedError, add_faults, held, is_planned, left_open, raising
from everything_foreign import asgi_app, fetch_handler, wsgi_app

from kit import Context, HTTPException, Kit, Limits, Response, in_thread
from kit.asgi import from_asgi, from_wsgi
from kit.bearer_auth import bearer_auth
from kit.logger import logger as access_log
from kit.trailing_slash import append_trailing_slash, trim_trailing_slash

LIMITS = Limits(
    max_fields=20,
    max_files=5,
    max_field_size_bytes=1000,
    spool_size_bytes=500,
    max_body_size_bytes=20_000,
)
TOKEN = "s3cret"


@asynccontextmanager
async def lifespan(app: Any) -> AsyncIterator[dict[str, Any]]:
    """The lifespan of each of the apps."""
    with held("lifespan"):
        yield {"name": "everything"}


async def stamp(c: Context, next: Any) -> None:
    """Middleware that works before and after the handlers."""
    c.set("stamp", "kit")
    c.header("x-before", "1")
    await next()
    c.header("x-after", str(c.get("stamp")))
    if c.error is not None:
        c.header("x-error", type(c.error).__name__)


async def shouting(c: Context, next: Any) -> None:
    """Middleware that puts another body in the place of what the handler gave."""
    await next()
    if c.res.body is not None:
        c.res = Response(bodies.louder(c.res.body), status=c.res.status)


def on_error(error: Exception, c: Context) -> Response:
    """The error handler of the app as a whole."""
    if isinstance(error, HTTPException):
        if error.res is not None:
            return error.res  # type: ignore[return-value]  # made by this app
        body = error.message if error.body is None else error.body
        return c.body(body, error.status, dict(error.headers or {}))
    if str(error) == "on_error":
        raise PlannedError("of the error handler")
    if not is_planned(error, c.req.path):
        raise error  # to the log
    return c.text(type(error).__name__, 500)


def on_error_of_part(error: Exception, c: Context) -> Response:
    """The error handler of a part: it leaves answers to the one of the whole."""
    if isinstance(error, HTTPException) or not is_planned(error, c.req.path):
        raise error
    return c.json({"api": type(error).__name__}, 500)


def not_found(c: Context) -> Response:
    """The answer where there is no route."""
    return c.text(f"nothing at {c.req.path.encode('ascii', 'replace').decode()}", 404)


def api(router: str | None, on_error: Any) -> Kit:
    """An app that is part of another one, with an error handler and a lifespan of its own."""
    app = Kit(router=router, lifespan=lifespan).on_error(on_error)
    app.use("/secret/*", bearer_auth(token=[TOKEN, "other"], realm="everything"))
    app.get("/secret/:what", answers.shown)
    app.get(
        "/asked/:what", bearer_auth(verify_token=lambda token, c: token == TOKEN), answers.shown
    )
    app.get("/boom", bodies.boom)
    app.get("/teapot", bodies.teapot)
    app.post("/json", bodies.read_json)
    return app


def lenient(router: str | None) -> Kit:
    """An app that takes `/x/` for `/x`, and routes by the host as well."""

    def get_path(request: Any) -> str:
        host = request.headers.get("host") or ""
        path = "/" + request.url.split("://", 1)[1].split("/", 1)[1].partition("?")[0]
        return f"/tenant{path}" if host.startswith("tenant.") else path

    app = Kit(strict=False, get_path=get_path, lifespan=lifespan, router=router)
    app.use(append_trailing_slash(skip=lambda path: "." in path))
    app.get("/tenant/*", answers.shown).get("/lenient/about", answers.shown)
    # One response for all: it must not be used up, or changed, by the first that it answers.
    shared = Response("shared", status=400, headers={"x-kind": "shared"})
    app.get("/lenient/shared", raising(lambda: HTTPException(451, res=shared)))
    app.get("/lenient/group", raising(lambda: ExceptionGroup("one", [HTTPException(418, "one")])))
    return app


def make_app(router: str | None = None, *, with_wsgi: bool = True) -> Kit:
    """Makes the app.

    Args:
        router: The name of its router.
        with_wsgi: Whether a WSGI application is mounted in it, which needs asyncio.
    """
    lines: deque[str] = deque(maxlen=100)
    app = Kit(router=router, lifespan=lifespan, limits=LIMITS, method_not_allowed=True)
    app.use(access_log(lines.append))
    app.use(trim_trailing_slash())
    app.use(stamp)
    app.on_error(on_error).not_found(not_found)

    app.get("/", lambda c: c.text("hello"))
    app.get("/left-open", lambda c: c.json(left_open("lifespan")))
    app.get("/users/me", lambda c: c.text("me"))
    app.get("/users/:id{[0-9]+}", answers.shown).get("/users/:name", answers.shown)
    app.get("/optional/:a?", answers.shown)
    app.get("/text/:name{[a-z]+\\.txt}", answers.shown)
    app.get("/files/*", answers.shown)
    app.all("/all/:a/:b", answers.shown)
    app.on(["PURGE", "REPORT"], ["/cache", "/cache/:key"], answers.shown)
    app.options("/options", lambda c: c.body(None, 204, {"allow": "OPTIONS"}))
    app.get("/directory/", answers.shown)
    app.put("/users/:id", answers.shown).patch("/users/:id", answers.shown)
    app.delete("/users/:id", lambda c: c.body(None, 204))
    app.get("/in-thread/:x", in_thread(answers.shown))
    app.get("/thread-not-found", in_thread(lambda c: c.not_found()))
    answers.add_answers(app)
    bodies.add_bodies(app)
    app.use("/loud/*", shouting)
    bodies.add_streams(app, "/loud")
    app.mount("/loud/asgi", from_asgi(asgi_app))
    add_faults(app)

    for prefix in ("/api", "/tenants/:tenant/api"):
        app.route(prefix, api(router, on_error_of_part))
    app.base_path("/v1").get("/things/:id", answers.shown).post("/json", bodies.read_json)
    app.mount("/fetch", fetch_handler)
    app.mount("/as-it-is", fetch_handler, replace_request=False)
    app.mount("/options-of", fetch_handler, option_handler=lambda c: [c.req.path])
    app.mount("/asgi", from_asgi(asgi_app))
    app.mount("/kit/:part", from_asgi(api(router, on_error)))
    app.mount("/lenient", from_asgi(lenient(router)), replace_request=False)
    if with_wsgi:
        app.mount("/wsgi", from_wsgi(wsgi_app, workers=2))
    app.get("/fetch/*", lambda c: c.text("left by the mounted handler"))
    return app


app = make_app()
"""What servers are told to serve: `everything:app`."""
