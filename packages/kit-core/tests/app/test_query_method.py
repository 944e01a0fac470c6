# SPDX-License-Identifier: MIT
"""Routes for QUERY (RFC 10008)."""

from __future__ import annotations

from typing import Any

import pytest

from kit import Context, Kit, Response


async def search(c: Context) -> Response:
    """A query string and a body: `c.req.query` is not the method."""
    return c.json({"q": c.req.query("q"), "body": await c.req.text(), "method": c.req.method})


QUERY: Any = {"method": "QUERY", "headers": {"content-type": "text/plain"}, "body": "all"}


@pytest.mark.parametrize("path", ["/books", "/shop/books", "/part/books"])
async def test_everything_that_registers_routes_has_it(path: str) -> None:
    app, part = Kit(), Kit()
    app.query("/books", search).base_path("/shop").query("/books", search)
    part.query("/books")(search)
    app.route("/part", part)
    response = await app.request(f"{path}?q=dune", QUERY)
    assert await response.json() == {"q": "dune", "body": "all", "method": "QUERY"}
    for method in ("GET", "HEAD", "POST"):
        assert (await app.request(path, method=method)).status == 404


async def test_it_takes_what_other_methods_take() -> None:
    app = Kit()

    async def adds(c: Context, next: Any) -> None:
        await next()
        c.header("x-added", "yes")

    assert repr(app.query) == "<app.query>"
    assert app.get("/books", search).query(adds, search) is app  # the path of the call before
    response = await app.request("/books", QUERY)
    assert response.headers["x-added"] == "yes"
    assert [(route.method, route.path) for route in app.routes[1:]] == [("QUERY", "/books")] * 2
    with pytest.raises(TypeError, match="QUERY '/x'"):
        app.query("/x", lambda: None)  # type: ignore[arg-type, misc, return-value]


async def test_other_methods_get_a_405_that_allows_it() -> None:
    app = Kit(method_not_allowed=True)
    app.query("/books", search)
    refused = await app.request("/books")
    assert (refused.status, refused.headers["allow"]) == (405, "OPTIONS, QUERY")
    asked = await app.request("/books", method="OPTIONS")
    assert (asked.status, asked.headers["allow"]) == (204, "OPTIONS, QUERY")
    assert not asked.headers.has("accept-query")  # the handler doesn't tell what it reads
