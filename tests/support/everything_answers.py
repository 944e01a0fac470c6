# SPDX-License-Identifier: MIT
"""Handlers whose answers are made of the head of the request: path, query, headers, cookies."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from kit import Context, Headers, Kit, Response
from kit.conninfo import get_conn_info
from kit.cookie import (
    delete_cookie,
    get_cookie,
    get_signed_cookie,
    set_cookie,
    set_signed_cookie,
)
from kit.route import base_path, base_route_path, matched_routes, route_path
from kit.validator import validator

# Kit refuses CR, LF and NUL in headers; what else no response should hold is for the app to refuse.
CONTROL = re.compile(r"[\x01-\x08\x0b\x0c\x0e-\x1f\x7f]")
KEY = b"a key for tests that is long enough"


@dataclass
class Query:
    """What `/validated` takes as query."""

    n: int
    tags: list[str]
    flag: bool = False


@dataclass
class Params:
    """What `/validated` takes as path parameters."""

    id: int


def shown(c: Context) -> Response:
    """Answers with all there is to know about the head of a request."""
    req = c.req
    return c.json(
        {
            "method": req.method.replace("HEAD", "GET"),  # so that both have one length
            "path": req.path,
            "url": req.url,
            "param": req.param(),
            "query": req.query(),
            "queries": req.queries(),
            "first": req.query("a"),
            "header": req.header(),
            "cookies": get_cookie(c),
            "signed": get_signed_cookie(c, KEY),
            "routes": [[route.method, route.path] for route in matched_routes(c)],
            "route": [route_path(c), base_route_path(c), base_path(c)],
            "from": get_conn_info(c).remote.transport,
            "env": sorted(c.env),
            "var": dict(c.var),
        }
    )


def cookies(c: Context) -> Response:
    """Sets and deletes cookies of names and values that the client gives."""
    for name, value in c.req.query().items():
        try:
            set_cookie(c, name, value, path="/", http_only=True, same_site="Lax")
            set_signed_cookie(c, name, value, KEY, secure=True, prefix="host", path="/")
            delete_cookie(c, name)
        except ValueError as error:
            return c.text(str(error), 400)
    return c.json(get_cookie(c))


def copied(c: Context) -> Response:
    """Takes all header lines over by name, as a proxy would."""
    return c.json(len(Headers(dict(c.req.raw.headers.items()))))


def redirected(c: Context) -> Response:
    """Redirects to wherever the client says."""
    to = c.req.query("to") or "/"
    if CONTROL.search(to):
        return c.text("control character", 400)
    try:
        return c.redirect(to)
    except ValueError as error:
        return c.text(str(error), 400)


def reflected(c: Context) -> Response:
    """Sends back headers of names and values that the client gives."""
    for name, values in c.req.queries().items():
        for value in values:
            if CONTROL.search(value):
                return c.text("control character", 400)
            try:
                c.header(f"x-{name}", value, append=True)
            except ValueError as error:
                return c.text(str(error), 400)
    return c.text("reflected")


def with_status(c: Context) -> Response:
    """Answers with the status that the client gives."""
    try:
        code = int(c.req.param("code") or "")
        if code == 101:  # no server can send it as an answer
            return c.text("101", 400)
        if c.req.query("text") is None:
            return c.body(None, code)
        c.status(code)
        return c.text(c.req.query("text") or "")
    except (ValueError, TypeError) as error:
        return c.text(str(error), 400)


async def checked(c: Context) -> Response:
    """Answers with what the validators returned for the head."""
    query: Query = c.req.valid("query")
    params: Params = c.req.valid("param")
    return c.json([query, params, c.req.valid("header"), c.req.valid("cookie")])


def rendered(c: Context) -> Any:
    """A page in a layout."""
    c.set_renderer(lambda content, title: c.html(f"<title>{title}</title>{content}"))
    return c.render("<p>page</p>", title="everything")


def add_answers(app: Kit) -> None:
    """Adds the routes."""
    app.get("/cookies", cookies)
    app.get("/copied", copied)
    app.get("/misuse/redirect", redirected)
    app.get("/misuse/reflected", reflected)
    app.get("/status/:code", with_status)
    app.get(
        "/validated/:id",
        validator("param", Params),
        validator("query", Query),
        validator("header", lambda value, c: sorted(value)),
        validator("cookie", dict[str, str]),
        checked,
    )
    app.get("/rendered", rendered)
    app.get("/gone", lambda c: c.not_found())
    app.get("/no-content", lambda c: c.body(None, 204, {"content-length": "5"}))
    app.get("/unchanged", lambda c: c.body(None, 304, {"etag": '"x"'}))
    app.get("/large", lambda c: c.body(b"x" * 300_000))
