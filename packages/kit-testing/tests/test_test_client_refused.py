# SPDX-License-Identifier: MIT
"""`test_client`: what it refuses, what it shows, and how it stands being looked at."""

from __future__ import annotations

import copy
import inspect
import pickle
import subprocess
import sys
from typing import Any

import pytest

from kit import Context, Kit, Response
from kit.testing import MethodNotFoundError, ParameterError, RouteNotFoundError, test_client


def app_with(*routes: str) -> Kit:
    """An app with routes such as `GET /posts`."""
    app = Kit()
    for route in routes:
        app.on(*route.split(" ", 1), answer)
    return app


def answer(c: Context) -> Response:
    return c.text("x")


BLOG = app_with("GET /posts", "POST /posts", "GET /posts/:id", "DELETE /posts/:id", "ALL /any")
LISTED = """
  client.posts  GET, POST
  client.posts[':id']  GET, DELETE
  client.any  ALL"""


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (
            lambda c: c.pots.get(),
            RouteNotFoundError,
            "client.pots.get(): no route has the path '/pots'. The app has, nearest first:"
            + LISTED,
        ),
        (lambda c: c.posts[":idd"].url(), RouteNotFoundError, "no route has the path"),
        (lambda c: c.get(), RouteNotFoundError, "no route has the path '/'. The app has"),
        (lambda c: c.posts.put(), MethodNotFoundError, "'/posts' has no PUT, but get, post."),
        (lambda c: c.posts.pots(), MethodNotFoundError, "'/posts' has no POTS, but get, post."),
        (
            lambda c: c.posts[":id"](param={"id": 1}),
            MethodNotFoundError,
            "'/posts/:id' is a path; call a method of it, such as",
        ),
        (lambda c: c.any(), MethodNotFoundError, "'/any' is a path; call a method of it, such"),
        (lambda c: c.any.gett(), MethodNotFoundError, "'/any' has no GETT; it takes any"),
        (lambda c: c.any.all(), MethodNotFoundError, "'/any' has no ALL, but any other"),
        (lambda c: c.posts[":id"].get(), ParameterError, "'/posts/:id' lacks its parameter"),
        (
            lambda c: c.posts[":id"].get(param={"id": None}),
            ParameterError,
            "'/posts/:id' lacks its parameter 'id': call it with param={'id': ...}",
        ),
        (
            lambda c: c.posts[":id"].get(param={"idd": 1}),
            ParameterError,
            "'/posts/:id' has no parameter 'idd', but 'id'. Did you mean 'id'?",
        ),
        (
            lambda c: c.posts.get(param={"id": 1, "x": 2}),
            ParameterError,
            "client.posts.get(): '/posts' has no parameter 'id', 'x', and no other",
        ),
        (lambda c: c.posts[":id"].get(param="1"), TypeError, "param takes a mapping, not '1'"),
        (
            lambda c: c.posts[":id"].get(param={"id": ["1"]}),
            TypeError,
            "the parameter 'id' must be a str or a single value, not ['1']",
        ),
        (
            lambda c: c.posts[":id"].get(param={"id": b"1"}),
            TypeError,
            "client.posts[':id'].get(): the parameter 'id' must be a str, not bytes",
        ),
        (
            lambda c: c.posts[":id"].get(param={"id": ""}),
            ValueError,
            "the parameter 'id' is empty: no route matches an empty segment there",
        ),
        (
            lambda c: c.posts[":id"].get(param={"id": ".."}),
            ValueError,
            "the parameter 'id' can't be sent: a URL drops the segment '..' (WHATWG URL",
        ),
        (
            lambda c: c.posts[":id"].get(param={"id": "\ud800"}),
            ValueError,
            "the parameter 'id' can't be sent: '\\ud800' has a lone surrogate",
        ),
        (lambda c: c.posts.get(heders={}), TypeError, "there is no keyword 'heders', but"),
        (lambda c: c.posts.get(params={"a": 1}), TypeError, "there is no keyword 'params'"),
        (lambda c: c.posts.get(header={}, headers={}), TypeError, "headers is given twice, as"),
        (lambda c: c.posts[":id"].get("7"), TypeError, "a call that names a route takes"),
        (lambda c: c.posts.ws("/chat"), TypeError, "a call that names a route takes keywords"),
        (lambda c: c.get("posts"), ValueError, "a path begins with a slash: write '/posts'"),
        (lambda c: c.get(7), TypeError, "expected a path such as '/books', not 7"),
        (lambda c: c.get("https://example.com/posts"), ValueError, "the client sends requests"),
        (lambda c: c.get("/posts/7", param={"id": 7}), TypeError, "param is for calls that"),
        (lambda c: c.get("/posts", json={}), TypeError, "A GET request can't have a body"),
        (lambda c: c.pots("/posts"), TypeError, "no route has the method POTS"),
        (
            lambda c: c.websocket_connect("/chat"),
            TypeError,
            "no route has the method WEBSOCKET_CONNECT",
        ),
        (lambda c: c.request(5, "/posts"), TypeError, "the method comes first, e.g."),
        (lambda c: c.post("/posts", content={"a": 1}), TypeError, "content takes str, bytes"),
        (lambda c: c.cookies.post("/posts"), AttributeError, "client.cookies has the cookies"),
        (lambda c: c.cookies.get(), TypeError, "takes the name of a cookie; write"),
        (
            lambda c: c.cookies.set("a", "b", domain="example.com"),
            ValueError,
            "The cookie 'a' can't have the domain 'example.com': the client sends",
        ),
        (
            lambda c: c.cookies.set("a", "b", path="a; Secure"),
            ValueError,
            "The cookie 'a' takes a path such as '/' and a domain such as 'example.com'",
        ),
        (lambda c: c.posts[5].get(), TypeError, "client.posts[5]: a segment is named as the"),
        (lambda c: c.posts.post(json={}, form={}), TypeError, "A request has one body: give"),
        (lambda c: c.posts.get(json={}), TypeError, "A GET request can't have a body"),
        (lambda c: c.posts.get(query="a=1"), TypeError, "query takes a mapping, or pairs of a"),
        (lambda c: c.posts.get(query={"a": {}}), TypeError, "The query 'a' must be a str or a"),
        (
            lambda c: c.posts.post(form={"a": float("nan")}),
            TypeError,
            "The form field 'a' must be a str or a single value, not nan",
        ),
    ],
)
def test_refused_at_the_call(call: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind) as caught:
        call(test_client(BLOG))
    assert text in str(caught.value)


def test_errors_are_what_a_caller_would_catch() -> None:
    assert issubclass(RouteNotFoundError, LookupError)
    assert issubclass(MethodNotFoundError, LookupError)
    assert issubclass(ParameterError, TypeError)
    with pytest.raises(RouteNotFoundError) as route:
        test_client(Kit()).x.get()
    assert str(route.value) == "client.x.get(): no route has the path '/x'. The app has no routes"
    assert (route.value.path, route.value.routes) == ("/x", ())


@pytest.mark.parametrize(
    "error",
    [
        RouteNotFoundError("client.x.get()", "/x", ("client.a  GET",)),
        MethodNotFoundError("client.x.put()", "/x", "PUT", ("GET",)),
        ParameterError("client.x.get()", "/:a", ("a",), (), ("a",)),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_survive_pickle_and_copy(error: Exception) -> None:
    for other in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        assert (type(other), str(other), vars(other)) == (type(error), str(error), vars(error))


def test_long_lists_are_cut() -> None:
    app = app_with(*(f"GET /r{number}" for number in range(25)))
    with pytest.raises(RouteNotFoundError) as caught:
        test_client(app).r7x.get()
    lines = str(caught.value).splitlines()
    assert (len(lines), lines[1], lines[-1]) == (
        22,
        "  client.r7  GET",
        "  and 5 more; repr(client) shows all",
    )


@pytest.mark.parametrize("app", [None, lambda scope, receive, send: None])
def test_what_is_no_app(app: Any) -> None:
    with pytest.raises(TypeError, match=r"^test_client\(\) takes a Kit app, or ASGI "):
        test_client(app)


def test_decorator_without_its_function_is_named() -> None:
    app = Kit()
    app.get("/x")
    client = test_client(app)
    assert repr(client) == "<client: no route>"
    with pytest.raises(RuntimeError, match=r"@app\.get\('/x'\) at .*never used as a decorator"):
        client.x.get()


def test_header_of_the_client_is_checked() -> None:
    with pytest.raises(ValueError, match="CR, LF and NUL"):
        test_client(Kit(), headers={"a": "b\nc"})


# --- looking at it -----------------------------------------------------------------------------


def test_repr_shows_the_routes() -> None:
    client = test_client(Kit().use("*", lambda c, following: following()).route("/", BLOG))
    assert repr(client) == "<client: 3 routes" + LISTED + ">"
    assert repr(client.posts) == (
        "<client.posts: 2 routes\n  client.posts  GET, POST\n  client.posts[':id']  GET, DELETE>"
    )
    assert repr(client.posts.post) == "<client.posts.post: POST /posts>"
    assert repr(client["posts"]["$post"]) == "<client.posts['$post']: POST /posts>"
    assert repr(client.nothing) == "<client.nothing: no route>"
    both = test_client(app_with("DELETE /posts", "GET /posts/delete")).posts.delete
    assert repr(both) == ("<client.posts.delete: DELETE /posts\n  client.posts.delete  GET>")


def test_completion_shows_the_routes() -> None:
    def shown(walk: Any) -> list[str]:
        return [name for name in dir(walk) if not name.startswith("_")]

    client = test_client(BLOG)
    assert shown(client) == ["any", "cookies", "posts", "request"]
    assert shown(client.posts) == ["get", "path", "post", "url"]
    assert client.posts._ipython_key_completions_() == [":id"]
    assert shown(client.posts[":id"]) == ["delete", "get", "path", "url"]
    methods = ["delete", "get", "patch", "post", "put", "query"]
    assert shown(client.any) == sorted([*methods, "path", "url"])
    own = test_client(app_with("GET /", "GET /_internal", "PURGE /a b", "GET /:id"))
    assert shown(own) == ["cookies", "get", "index", "path", "request", "url"]
    assert own._ipython_key_completions_() == ["a b", ":id"]
    assert "_internal" in dir(own)


@pytest.mark.parametrize(
    "name",
    [
        "__wrapped__",
        "__deepcopy__",
        "__iter_x__",
        "__private",
        "_pytestfixturefunction",
        "_is_coroutine",
        "_repr_html_",
        "_ipython_display_",
        "_kit_other",
    ],
)
def test_what_looks_for_a_protocol_finds_none(name: str) -> None:
    client: Any = test_client(BLOG)
    for walk in (client, client.posts, client.posts.get):
        assert not hasattr(walk, name)
    with pytest.raises(AttributeError) as caught:
        getattr(client.posts, name)
    assert str(caught.value) == (
        f"'Step' object has no attribute {name!r}; a segment of that name is written [{name!r}]"
    )


async def test_dunder_segment_is_written_in_brackets() -> None:
    client = test_client(app_with("GET /__health__"))
    assert (await client["__health__"].get()).status == 200
    assert repr(client) == "<client: 1 route\n  client['__health__']  GET>"


async def test_introspection_is_not_confused() -> None:
    client: Any = test_client(BLOG)
    assert inspect.unwrap(client) is client
    assert not callable(client)
    assert not inspect.iscoroutinefunction(client.posts.get)
    assert client.__test__ is client.posts.__test__ is False
    assert test_client.__test__ is False  # type: ignore[attr-defined]
    copied = copy.copy(client)
    assert (await copied.posts.get()).status == 200
    assert repr(copy.copy(client.posts.get)) == "<client.posts.get: GET /posts>"
    with pytest.raises(TypeError, match="not iterable"):
        iter(client)
    with pytest.raises(TypeError):
        "posts" in client  # noqa: B015
    with pytest.raises(AttributeError):
        client.headers = {}


def test_import_is_left_to_who_wants_it() -> None:
    code = (
        "import sys, kit\n"
        "assert 'kit.testing' not in sys.modules\n"
        "import kit.testing\n"
        "print([name for name in ('anyio', 'asyncio', 'pytest') if name in sys.modules])"
    )
    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert output.stdout == "[]\n"
