# SPDX-License-Identifier: MIT
"""Which tables Hono's RegExpRouter refuses: it decides whether a `*` in the middle takes nothing.

The answers are those that were recorded of Hono 4.13 (`tests/conformance` of the workspace).
"""

from __future__ import annotations

import pytest

from kit.router import RegExpRouter
from kit.router.testing import resolve

TAKEN = [
    "GET /:name{(a|b)}/:name{(?:create|update)}",
    "ALL /*, ALL /v1",
    "GET /new/*/:type?, GET /v1",
    "GET /:type/me, GET /:type/me, GET /:id{[^/]+}",
    "ALL /, PUT /:name{[0-9]{2}}/me, GET /users/v1/api, GET *",
    "GET /users/:id, GET /users/:id/posts",
    "GET /:a/:b, POST /posts/:id",
    "GET /:a/:b, ACL /posts/:id",
    "GET /, GET /*, GET *, GET /x, GET /x/*",
    "GET /user/:userId{[^/]+}/*, GET /user/:id/profile",
    "GET /user/:id/profile, GET /user/:userId{[^/]+}/*",
    "PUT /b/:id, GET /b/:id/api/:other?, PURGE /b/*/api, ALL /posts/:id/*, PURGE /posts/*/v1",
    "GET /posts/:x{[a-z]+}/b, GET /:f{.*}*",
    "GET /entry, GET /:x{[0-9]*}*",
    "POST /a-b/:slug/x.y, POST /:type{x}/users*/*/*",
    "GET /:x{a}, GET /a/:id{[0-9]{1,3}}",
    "GET /x:y, GET /x/:z",
]
REFUSED = [
    "GET /:id{.*}",
    "GET /files/:name{.*}",
    "GET /:x{[0-9]*}",
    "GET /me/:x{a?}/c",
    "GET /:x{a|}",
    "GET /:x{.}",
    "GET /js/:filename{[a-z0-9/]+.js}, GET /js/main.js",
    "GET /:id/:action, GET /posts/:id",
    "GET /posts/:id, GET /:id/:action",
    "GET /:type/:id, GET /:class/:id",
    "GET /foo/:a, ALL /foo/:b",
    "GET /:user/entries, GET /entry/:name",
    "GET /reg-exp/router, GET /reg-exp/:id",
    "ALL /reg-exp/router, GET /reg-exp/:id",
    "GET /:x{a}, GET /a",
    "GET /:id/:action{create|update}, GET /:id/:action{delete}",
    "GET /users/:id, GET /:x{[^/]+}/x.y",
    "ALL /*/posts/posts, GET /me/posts, ALL *",
    "ALL /:slug{.+}/:slug{[0-9]+}, ALL /new, GET /:slug{.+}/:slug{[0-9]+}",
]


@pytest.mark.parametrize(
    ("table", "refused"),
    [*((table, False) for table in TAKEN), *((table, True) for table in REFUSED)],
)
def test_empty_segment_is_taken_where_the_table_is_refused(table: str, refused: bool) -> None:
    """A method of its own, so that the `*` there stands beside the routes of `ALL` alone."""
    router: RegExpRouter[str] = RegExpRouter()
    for number, route in enumerate(table.split(", ")):
        router.add(*route.split(" ", 1), f"{number}")
    router.add("PURGE", "/qqq/*/end", "middle")
    found = [handler for handler, _ in resolve(router.match("PURGE", "/qqq//end"))]
    assert ("middle" in found) == refused
    assert "middle" in [handler for handler, _ in resolve(router.match("PURGE", "/qqq/1/end"))]


def test_pattern_with_a_character_that_no_path_has() -> None:
    router: RegExpRouter[str] = RegExpRouter()
    router.add("GET", "/a\0{0}/:x", "odd")
    router.add("GET", "/*/x", "middle")
    assert [handler for handler, _ in resolve(router.match("GET", "/b/x"))] == ["middle"]
