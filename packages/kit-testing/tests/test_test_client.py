# SPDX-License-Identifier: MIT
"""`test_client`: the walk to a route, and the path that comes of it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import URL, Context, Kit, Response
from kit.router.linear_router import LinearRouter
from kit.router.pattern_router import PatternRouter
from kit.router.trie_router import TrieRouter
from kit.testing import MethodNotFoundError, ParameterError, test_client


def app_with(*routes: str) -> Kit:
    """An app with routes such as `GET /posts`, which say what the request was."""
    app = Kit()
    for route in routes:
        app.on(*route.split(" ", 1), seen)
    return app


def seen(c: Context) -> Response:
    return c.json({"did": f"{c.req.method} {c.req.path}", "param": c.req.param()})


async def did(call: Any) -> str:
    response = await call
    assert response.status == 200
    return str((await response.json())["did"])


SHOP = app_with(
    "GET /",
    "GET /api/users",
    "POST /api/users",
    "GET /posts",
    "DELETE /posts",
    "GET /posts/delete",
    "GET /posts/:id",
    "GET /users/:id{[0-9]+}",
    "GET /users/:id{[0-9]+}/:b",
    "GET /my-page",
    "GET /class/import",
    "GET /about/",
    "GET /files/*",
    "GET /a/*/b",
    "GET /opt/:a?",
    "GET /two/:a?/:b{[a-z]+}?",
    "PURGE /cache",
    "M-SEARCH /cache",
    "ALL /any",
    "GET /url/path/get",
    "GET /_internal",
    "GET /é/a b",
    "GET /half/100%",
    "GET /half/a%2Fb",
)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda c: c.api.users.get(), "GET /api/users"),
        (lambda c: c.api.users.post(), "POST /api/users"),
        (lambda c: c.api.users["$post"](), "POST /api/users"),
        (lambda c: c["api"]["users"]["get"](), "GET /api/users"),
        (lambda c: c.api.users.GET(), "GET /api/users"),
        (lambda c: c["my-page"].get(), "GET /my-page"),
        (lambda c: c["class"]["import"].get(), "GET /class/import"),
        # The root, and trailing slashes.
        (lambda c: c.index.get(), "GET /"),
        (lambda c: c.get(), "GET /"),
        (lambda c: c["$get"](), "GET /"),
        (lambda c: c.about.index.get(), "GET /about/"),
        (lambda c: c.about[""].get(), "GET /about/"),
        # The last name is the method, all before are segments.
        (lambda c: c.posts.delete(), "DELETE /posts"),
        (lambda c: c.posts.delete.get(), "GET /posts/delete"),
        (lambda c: c.url.path.get.get(), "GET /url/path/get"),
        # Parameters, by their names or as they are written.
        (lambda c: c.posts[":id"].get(param={"id": "7"}), "GET /posts/7"),
        (lambda c: c.users[":id{[0-9]+}"].get(param={"id": 7}), "GET /users/7"),
        (lambda c: c.users[":id"].get(param={"id": 7}), "GET /users/7"),
        (lambda c: c.users[":id"][":b"].get(param={"id": 7, "b": "x"}), "GET /users/7/x"),
        (lambda c: c.opt.get(), "GET /opt"),
        (lambda c: c.opt[":a?"].get(), "GET /opt"),
        (lambda c: c.opt[":a?"].get(param={"a": None}), "GET /opt"),
        (lambda c: c.opt[":a?"].get(param={"a": 1}), "GET /opt/1"),
        (lambda c: c.opt[":a"].get(param={"a": 1}), "GET /opt/1"),
        (lambda c: c.two.get(), "GET /two"),
        (lambda c: c.two[":a?"][":b?"].get(), "GET /two"),
        (lambda c: c.two[":a"].get(param={"a": 1}), "GET /two/1"),
        (lambda c: c.two[":a?"][":b?"].get(param={"a": 1}), "GET /two/1"),
        (lambda c: c.two[":a"][":b{[a-z]+}?"].get(param={"a": 1, "b": "x"}), "GET /two/1/x"),
        # What a wildcard stands for.
        (lambda c: c.files["*"].get(param={"*": "a/b c.txt"}), "GET /files/a/b c.txt"),
        (lambda c: c.files["*"].get(param={"*": ""}), "GET /files/"),
        (lambda c: c.a["*"].b.get(param={"*": "x/y"}), "GET /a/x%2Fy/b"),
        # Methods of the app's own, and of `all`.
        (lambda c: c.cache.purge(), "PURGE /cache"),
        (lambda c: c.cache["$purge"](), "PURGE /cache"),
        (lambda c: c.cache["m-search"](), "M-SEARCH /cache"),
        (lambda c: c.any.put(), "PUT /any"),
        (lambda c: c.any.purge(), "PURGE /any"),
        (lambda c: c.any["$propfind"](), "PROPFIND /any"),
        # Segments that are encoded, or look like something else.
        (lambda c: c._internal.get(), "GET /_internal"),
        (lambda c: c.é["a b"].get(), "GET /é/a b"),
        (lambda c: c.half["100%"].get(), "GET /half/100%"),
        (lambda c: c.half["a%2Fb"].get(), "GET /half/a%2Fb"),
    ],
)
async def test_walk(call: Any, expected: str) -> None:
    assert await did(call(test_client(SHOP))) == expected


async def test_what_repr_shows_can_be_called() -> None:
    client = test_client(SHOP)
    lines = repr(client).removesuffix(">").splitlines()[1:]
    assert len(lines) == len({route.path for route in SHOP.routes})
    for line in lines:
        walk, methods = line.strip().split("  ")
        path = eval(walk, {"client": client})
        names = re.findall(r"(?<=:)\w+|\*", walk)
        param = {name: "x" if name == "b" else "1" for name in names}
        for method in methods.replace("ALL", "DELETE").split(", "):
            assert (await did(path[method.lower()](param=param))).startswith(f"{method} /")


async def test_index_may_be_a_route_of_its_own() -> None:
    client = test_client(app_with("GET /", "GET /index", "GET /a/", "GET /a/index"))
    assert await did(client.index.get()) == "GET /index"
    assert await did(client.get()) == "GET /"
    assert await did(client[""].get()) == "GET /"
    assert await did(client.a.index.get()) == "GET /a/index"
    assert await did(client.a[""].get()) == "GET /a/"
    assert repr(client).splitlines()[1:] == [
        "  client['']  GET",
        "  client.index  GET",
        "  client.a['']  GET",
        "  client.a.index  GET>",
    ]


async def test_optional_parameter_of_the_root() -> None:
    client = test_client(app_with("GET /:page?"))
    assert await did(client.index.get()) == "GET /"
    assert await did(client.get()) == "GET /"
    assert await did(client[":page?"].get()) == "GET /"
    assert await did(client[":page"].get(param={"page": 2})) == "GET /2"


async def test_nested_apps_and_base_paths() -> None:
    books = Kit().get("/", seen).get("/:id", seen)
    api = Kit().route("/books", books)
    app = Kit().route("/api", api)
    v1 = app.base_path("/v1/:tenant").get("/users", seen)
    for client in (test_client(app), test_client(v1)):
        assert await did(client.api.books.get()) == "GET /api/books"
        assert await did(client.api.books[":id"].get(param={"id": 1})) == "GET /api/books/1"
        users = client.v1[":tenant"].users
        assert await did(users.get(param={"tenant": "acme"})) == "GET /v1/acme/users"


async def test_mounted_app_is_called_by_its_wildcard() -> None:
    app = Kit().mount("/legacy", lambda request, env, context: Response(request.url))
    response = await test_client(app).legacy["*"].get(param={"*": "a/b"}, query={"q": 1})
    assert await response.text() == "http://localhost/a/b?q=1"


async def refuse(c: Context, following: Any) -> Response:
    return c.text("no", 401)


async def test_path_of_middleware_alone_can_be_called_but_is_not_listed() -> None:
    app = Kit().use("/admin/*", refuse)
    app.on(["POST", "PUT"], "/api/*", refuse)
    app.on("POST", "/own", refuse)
    client = test_client(app)
    assert (await client.admin["*"].get(param={"*": "x"})).status == 401
    assert (await client.api["*"].put(param={"*": "x"})).status == 401
    assert (await client.own.post()).status == 401
    assert repr(client) == "<client: 1 route\n  client.own  POST>"


async def test_head_and_options() -> None:
    app = app_with("GET /a", "POST /b").use("*", lambda c, following: following())
    client = test_client(app)
    response = await client.a.head()
    assert (response.status, await response.bytes()) == (200, b"")
    assert (await client.a.options()).status == 404  # middleware could have answered
    with pytest.raises(MethodNotFoundError):
        client.b.head()
    allowing = Kit(method_not_allowed=True).get("/a", seen)
    response = await test_client(allowing).a.options()
    assert (response.status, response.headers["allow"]) == (204, "GET, HEAD, OPTIONS")


async def test_routes_added_later_are_found() -> None:
    app = Kit()
    client = test_client(app)
    app.get("/late", seen)
    assert await did(client.late.get()) == "GET /late"


def test_url_and_path() -> None:
    client = test_client(SHOP)
    users = client.users[":id"]
    url = users.url(param={"id": 7}, query={"q": "é &", "n": [1, 2]})
    assert isinstance(url, URL)
    assert str(url) == "http://localhost/users/7?q=%C3%A9+%26&n=1&n=2"
    assert users.path(param={"id": 7}) == "/users/7"
    assert users["$path"](param={"id": 7}) == "/users/7"
    assert str(users["$url"](param={"id": 7})) == "http://localhost/users/7"
    assert client.posts[":id"].path(param={"id": "a/é ?"}) == "/posts/a%2F%C3%A9%20%3F"
    assert client.index.path() == client.path() == "/"
    assert client.cache.path() == "/cache"


def test_path_has_its_query() -> None:
    path = test_client(SHOP).posts[":id"].path(param={"id": "a/b"}, query={"x": "y"})
    assert path == "/posts/a%2Fb?x=y"


# --- parameters --------------------------------------------------------------------------------


@given(st.text(min_size=1).filter(lambda text: text not in (".", "..")))
async def test_parameter_comes_back_as_it_was(value: str) -> None:
    for app in PARAMETER_APPS:
        response = await test_client(app).x[":v"].y.get(param={"v": value})
        assert await response.json() == value


@given(st.text(min_size=1).filter(lambda text: text not in (".", "..")))
async def test_parameter_that_takes_slashes_comes_back_as_it_was(value: str) -> None:
    for app in REST_APPS:
        response = await test_client(app).rest[":v{.*}"].get(param={"v": value})
        assert await response.json() == value


def parameter_apps(path: str) -> list[Kit]:
    routers = [None, TrieRouter(), LinearRouter(), PatternRouter()]
    apps = [Kit(router=router) for router in routers] + [Kit(strict=False)]
    return [app.get(path, lambda c: c.json(c.req.param("v"))) for app in apps]


PARAMETER_APPS = parameter_apps("/x/:v/y")
REST_APPS = parameter_apps("/rest/:v{.*}")


@pytest.mark.parametrize(
    ("pattern", "value", "path"),
    [
        (":v{.+}", "a/b", "/f/a/b"),
        (":v{[a-z]+/[0-9]+}", "a/1", "/f/a/1"),
        (":v{[^x]+}", "é/b c", "/f/é/b c"),
        (":v{@[a-z]+}", "@ada", "/f/@ada"),
        # A URL would resolve the dots, and strict=False take the slash away.
        (":v{.+}", "a/../b", "/f/a%2F..%2Fb"),
        (":v{.+}", "a//b", "/f/a%2F%2Fb"),
        (":v{.+}", "a/", "/f/a%2F"),
    ],
)
@pytest.mark.parametrize("strict", [True, False])
async def test_expression_sees_what_it_must_match(
    pattern: str, value: str, path: str, strict: bool
) -> None:
    app = Kit(strict=strict).get(f"/f/{pattern}", seen)
    response = await test_client(app).f[":v"].get(param={"v": value})
    assert await response.json() == {"did": f"GET {path}", "param": {"v": value}}


def test_expression_that_only_another_router_understands() -> None:
    class Router:
        name = "Own"

        def add(self, method: str, path: str, handler: Any) -> None:
            pass

        def match(self, method: str, path: str) -> Any:
            return ([],)

    app = Kit(router=Router()).get(r"/x/:v{\p{L}+}", seen)
    assert test_client(app).x[":v"].path(param={"v": "a/b"}) == "/x/a%2Fb"


async def test_value_that_the_expression_refuses_is_for_the_app_to_answer() -> None:
    assert (await test_client(SHOP).users[":id"].get(param={"id": "x"})).status == 404


async def test_empty_value_where_the_expression_takes_it() -> None:
    response = await test_client(REST_APPS[0]).rest[":v"].get(param={"v": ""})
    assert await response.json() == ""


def test_optional_parameter_behind_an_absent_one() -> None:
    with pytest.raises(ParameterError) as caught:
        test_client(SHOP).two[":a?"][":b?"].get(param={"b": "x"})
    assert caught.value.missing == ("a",)


def test_optional_parameter_named_without_its_question_mark_is_needed() -> None:
    with pytest.raises(ParameterError):
        test_client(SHOP).opt[":a"].get()
