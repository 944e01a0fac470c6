# SPDX-License-Identifier: MIT
"""Patterns as an app takes them: of other frameworks, with braces, optional before the end."""

from __future__ import annotations

from typing import Any

import pytest

from kit import Context, Kit, Response
from kit.interface import Next, UnsupportedPathError
from kit.route import base_route_path, route_path
from kit.router import LinearRouter, PatternRouter, RegExpRouter, TrieRouter
from kit.testing import test_client

ROUTERS = [None, LinearRouter, PatternRouter, RegExpRouter, TrieRouter]
VERBS = ("get", "post", "put", "delete", "patch", "options", "all")


def ok(c: Context) -> Response:
    return c.text("ok")


def shown(c: Context) -> Response:
    return c.json([route_path(c), c.req.param()])


async def passing(c: Context, next: Next) -> None:
    await next()


def app_with(router: Any) -> Kit:
    return Kit() if router is None else Kit(router=router())


async def answer(app: Kit, path: str) -> Any:
    response = await app.request(path)
    return await response.json() if response.status == 200 else response.status


def refused(register: Any) -> str:
    with pytest.raises(ValueError, match=r"^Unsupported route") as caught:
        register()
    assert type(caught.value) is UnsupportedPathError
    return str(caught.value)


# --- patterns of other frameworks --------------------------------------------------------------

IS_FOREIGN = "is no parameter of Kit"


@pytest.mark.parametrize("pattern", ["/users/{id}", "/files/{rest:path}", "/:shop/<int:id>"])
@pytest.mark.parametrize("handlers", [(ok,), ()], ids=["handler", "decorator"])
@pytest.mark.parametrize("verb", VERBS)
def test_pattern_of_another_framework(pattern: str, handlers: Any, verb: str) -> None:
    app = Kit()
    method = "ALL" if verb == "all" else verb.upper()
    text = refused(lambda: getattr(app, verb)(pattern, *handlers))
    assert text.startswith(f"Unsupported route {method} {pattern!r}: ")
    assert IS_FOREIGN in text
    assert app.routes == []


@pytest.mark.parametrize(
    "register",
    [
        pytest.param(lambda app, path: app.use(path, passing), id="use"),
        pytest.param(lambda app, path: app.use(path), id="use as decorator"),
        pytest.param(lambda app, path: app.on("purge", path, ok), id="on"),
        pytest.param(lambda app, path: app.on(["PUT", "GET"], [path]), id="on, lists"),
        pytest.param(lambda app, path: app.route(path, Kit().get("/", ok)), id="route"),
        pytest.param(lambda app, path: app.route(path, Kit()), id="route of an empty app"),
        pytest.param(lambda app, path: app.base_path(path), id="base_path"),
        pytest.param(lambda app, path: app.mount(path, lambda r: None), id="mount"),
    ],
)
def test_pattern_of_another_framework_in_every_method(register: Any) -> None:
    app = Kit()
    assert IS_FOREIGN in refused(lambda: register(app, "/users/{id:int}"))
    assert app.routes == []


async def test_own_expressions_are_taken() -> None:
    app = Kit().get("/:id{[0-9]{2}}/:name{(?:a|b)}", shown)
    assert await answer(app, "/12/a") == [
        "/:id{[0-9]{2}}/:name{(?:a|b)}",
        {"id": "12", "name": "a"},
    ]


# --- literal braces ----------------------------------------------------------------------------


@pytest.mark.parametrize("router", ROUTERS)
async def test_escaped_literals(router: Any) -> None:
    app = app_with(router)
    app.get("/users/%7Bid%7D", shown).get("/a%7bb/:x", shown).get("/%3Cid%3E", shown)
    app.get("/at/:id{[0-9]{2}}/%7B%7D", shown).get("/rest%7D/*", shown)
    for path in ("/users/{id}", "/users/%7Bid%7D", "/users/%7bid}"):
        assert await answer(app, path) == ["/users/%7Bid%7D", {}]
    assert await answer(app, "/users/7") == 404
    assert await answer(app, "/a{b/1") == ["/a%7bb/:x", {"x": "1"}]
    for path in ("/<id>", "/%3Cid%3E"):
        assert await answer(app, path) == ["/%3Cid%3E", {}]
    assert await answer(app, "/at/12/{}") == ["/at/:id{[0-9]{2}}/%7B%7D", {"id": "12"}]
    assert await answer(app, "/at/1/{}") == 404
    assert await answer(app, "/rest}/a/b") == ["/rest%7D/*", {}]


async def test_escaped_literals_in_prefixes() -> None:
    app = Kit()
    app.base_path("/%7Bv1%7D").get("/a", shown)
    app.route("/%7Bv2%7D", Kit().get("/b", shown))
    app.mount("/%7Bv3%7D", lambda request, *_: Response.json([request.url]))
    assert await answer(app, "/{v1}/a") == ["/%7Bv1%7D/a", {}]
    assert await answer(app, "/{v2}/b") == ["/%7Bv2%7D/b", {}]
    assert await answer(app, "/{v3}/c?d") == ["http://localhost/c?d"]
    assert (await app.request("/{v1}/none")).status == 404


async def test_escapes_that_paths_keep() -> None:
    # %2F is what a decoded path holds of an encoded slash.
    app = Kit().get("/c%2Fd", shown).get("/e%257B", shown).get("/100%", shown)
    assert await answer(app, "/c%2Fd") == ["/c%2Fd", {}]
    assert await answer(app, "/e%257B") == ["/e%257B", {}]
    assert await answer(app, "/100%") == ["/100%", {}]


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("/a%20b", ": paths are decoded before they are matched: write 'a b'"),
        ("/%40private/*", ": paths are decoded before they are matched: write '@private'"),
        ("/a%3Ab", ": paths are decoded before they are matched: write 'a:b'"),
        ("/a%2fb", ": paths are decoded before they are matched: write 'a%2Fb'"),
        ("/%ff", ": paths are decoded before they are matched: write '%FF'"),
        ("/caf%C3%A9/*", ": paths are decoded before they are matched: write 'café'"),
        ("/a?b", ": a path can't contain '?' or '#'"),
        ("/search?q=:q", ": a path can't contain '?' or '#'"),
        ("/a#b", ": a path can't contain '?' or '#'"),
    ],
)
def test_literals_that_no_path_contains(pattern: str, reason: str) -> None:
    async def guard(c: Context, next: Next) -> None:
        await next()

    assert refused(lambda: Kit().get(pattern, ok)) == f"Unsupported route GET {pattern!r}{reason}"
    assert refused(lambda: Kit().use(pattern, guard)) == (
        f"Unsupported route ALL {pattern!r}{reason}"
    )


async def test_routing_paths_of_a_function_may_contain_anything() -> None:
    app = Kit(get_path=lambda request: request.url.removeprefix("http://localhost"))
    app.get("/a%20b?c", shown)
    assert await answer(app, "/a%20b?c") == ["/a%20b?c", {}]


async def test_name_and_expression_of_a_parameter_are_left_alone() -> None:
    app = Kit().get("/:id%7B1%7D", shown)
    assert await answer(app, "/x") == ["/:id%7B1%7D", {"id%7B1%7D": "x"}]


@pytest.mark.parametrize("pattern", ["/a%7B/b%7D", "/%7B/%7D", "/x/%7Ba/:id/b%7D"])
def test_literal_braces_around_a_slash(pattern: str) -> None:
    assert refused(lambda: Kit().get(pattern, ok)) == (
        f"Unsupported route {pattern!r}: "
        "a literal { and the next literal } have to be in one segment"
    )


async def test_test_client_finds_them() -> None:
    client = test_client(Kit().get("/users/%7Bid%7D", shown))
    response = await client.users["%7Bid%7D"].get()
    assert await response.json() == ["/users/%7Bid%7D", {}]


# --- optional parameters before the end --------------------------------------------------------


@pytest.mark.parametrize("router", ROUTERS)
async def test_optional_parameter_before_the_end(router: Any) -> None:
    app = app_with(router).get("/a/:x?/b", shown)
    assert [route.path for route in app.routes] == ["/a/b", "/a/:x/b"]
    assert await answer(app, "/a/b") == ["/a/b", {}]
    assert await answer(app, "/a/1/b") == ["/a/:x/b", {"x": "1"}]
    for path in ("/a", "/a/1", "/a//b", "/a/1/2/b", "/a/b/c"):
        assert await answer(app, path) == 404


@pytest.mark.parametrize(
    ("pattern", "paths"),
    [
        ("/:lang?/about", ["/about", "/:lang/about"]),
        ("/:lang{[a-z]{2}}?/about", ["/about", "/:lang{[a-z]{2}}/about"]),
        ("/:path{.+}?/raw", ["/raw", "/:path{.+}/raw"]),
        ("/:a/:b?/:c", ["/:a/:c", "/:a/:b/:c"]),
        ("/:a?/posts/:id{[0-9]+}", ["/posts/:id{[0-9]+}", "/:a/posts/:id{[0-9]+}"]),
        ("/a/:x?/", ["/a/", "/a/:x/"]),
        ("/a/:x?", ["/a/:x?"]),
        ("/:x?/:y?", ["/:x?/:y?"]),
        ("/a/:x?/%7B%7D", ["/a/%7B%7D", "/a/:x/%7B%7D"]),
    ],
)
def test_what_a_pattern_stands_for(pattern: str, paths: list[str]) -> None:
    assert [route.path for route in Kit().get(pattern, ok).routes] == paths
    assert [route.path for route in Kit().route("/", Kit().get(pattern, ok)).routes] == paths


async def test_optional_parameter_in_a_prefix() -> None:
    def prefix(c: Context) -> Response:
        return c.json([route_path(c), base_route_path(c)])

    below = Kit()
    below.base_path("/:lang?").get("/about", prefix).get("/", prefix)
    part = Kit().route("/:lang?", Kit().get("/about", prefix).get("/", prefix))
    for app in (below, part):
        assert await answer(app, "/about") == ["/about", "/"]
        assert await answer(app, "/de/about") == ["/:lang/about", "/:lang"]
        assert await answer(app, "/") == ["/:lang?", "/:lang?"]
        assert await answer(app, "/de") == ["/:lang?", "/:lang?"]


async def test_middleware_with_an_optional_parameter_runs_once() -> None:
    ran: list[str | None] = []

    async def guard(c: Context, next: Next) -> None:
        ran.append(c.req.param("shop"))
        await next()

    app = Kit().use("/:shop?/admin", guard).get("/:shop?/admin", ok)
    for path, shop in (("/admin", None), ("/rome/admin", "rome"), ("/admin/admin", "admin")):
        ran.clear()
        assert (await app.request(path)).status == 200
        assert ran == [shop]


@pytest.mark.parametrize(
    ("pattern", "parameter", "forms"),
    [
        ("/a/:x?/*", ":x?", ("/a/*", "/a/:x/*")),
        ("/:x?/files*", ":x?", ("/files*", "/:x/files*")),
        ("/:x?/:path{.+}", ":x?", ("/:path{.+}", "/:x/:path{.+}")),
        ("/:path{.+}/:x?/b", ":x?", ("/:path{.+}/b", "/:path{.+}/:x/b")),
        ("/:x?/a/:y?/b", ":x?", ("/a/:y?/b", "/:x/a/:y?/b")),
        ("/:x?/a/:y?", ":x?", ("/a/:y?", "/:x/a/:y?")),
    ],
)
def test_pattern_whose_forms_overlap(pattern: str, parameter: str, forms: tuple[str, str]) -> None:
    text = (
        f"Unsupported route GET {pattern!r}: a path could match both with and without "
        f"{parameter!r}, which is not at the end: register what is meant, e.g. "
        f"{forms[0]!r} and {forms[1]!r}"
    )
    assert refused(lambda: Kit().get(pattern, ok)) == text
    assert refused(lambda: Kit().route(pattern, Kit().get("/", ok))) == text
    assert refused(lambda: Kit().base_path(pattern)) == text.replace("GET ", "", 1)
