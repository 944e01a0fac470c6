# SPDX-License-Identifier: MIT
"""fetch and request in process: input, environment, HEAD, routing path, options of Kit."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit import URL, Context, Headers, Kit, Request, Response
from kit.router import TrieRouter


def echo(c: Context) -> Response:
    return c.json({"method": c.req.method, "path": c.req.path, "url": c.req.url})


async def post_echo(c: Context) -> Response:
    return c.json({"text": await c.req.text(), "type": c.req.header("content-type")})


@pytest.fixture
def app() -> Kit:
    return Kit().all("/*", echo)


# --- request: what it takes --------------------------------------------------------------------


class PathLike:
    def __str__(self) -> str:
        return "https://example.com/object?x=1"


@pytest.mark.parametrize(
    ("input", "url"),
    [
        pytest.param("/a", "http://localhost/a", id="path"),
        pytest.param("a/b", "http://localhost/a/b", id="path without slash"),
        pytest.param("", "http://localhost/", id="empty"),
        pytest.param("/a?x=1&y=%20", "http://localhost/a?x=1&y=%20", id="query"),
        pytest.param("?x=1", "http://localhost/?x=1", id="query alone"),
        pytest.param("//a//b/", "http://localhost//a//b/", id="slashes"),
        pytest.param("http://example.com", "http://example.com/", id="URL without path"),
        pytest.param("https://example.com:8443/a#f", "https://example.com:8443/a#f", id="URL"),
        pytest.param(URL("https://example.com/u"), "https://example.com/u", id="kit.URL"),
        pytest.param(PathLike(), "https://example.com/object?x=1", id="any URL object"),
        pytest.param(Request("http://example.com/r"), "http://example.com/r", id="Request"),
    ],
)
async def test_request_input(app: Kit, input: Any, url: str) -> None:
    response = await app.request(input)
    assert (await response.json())["url"] == url


async def test_request_init() -> None:
    app = Kit().post("/x", post_echo)
    response = await app.request(
        "/x", {"method": "post", "headers": {"Content-Type": "text/x"}, "body": "höh"}
    )
    assert await response.json() == {"text": "höh", "type": "text/x"}
    made = Request("http://localhost/x", method="POST", body="one")
    response = await app.request(made, {"body": b"two", "headers": {"content-type": "b"}})
    assert await response.json() == {"text": "two", "type": "b"}


@pytest.mark.parametrize(
    ("input", "init", "error", "text"),
    [
        pytest.param(
            "/",
            {"body": "x"},
            TypeError,
            "request('/', ...) is a GET request, which can't have a body: add method='POST'",
            id="GET with body",
        ),
        pytest.param(
            "/",
            {"method": "HEAD", "body": "x"},
            TypeError,
            "request('/', ...) is a HEAD request, which can't have a body: add method='POST'",
            id="HEAD with body",
        ),
        pytest.param(
            "/",
            {"method": "G T"},
            ValueError,
            "Invalid method 'G T': expected a token such as GET",
            id="method",
        ),
        pytest.param(
            "http://",
            None,
            ValueError,
            "Invalid URL 'http://': expected an absolute one",
            id="URL without host",
        ),
        pytest.param(
            "/",
            {"headers": {"x": "a\nb"}},
            ValueError,
            "Invalid value 'a\\nb' of header 'x': CR, LF and NUL are not allowed",
            id="header",
        ),
    ],
)
async def test_request_refuses(app: Kit, input: Any, init: Any, error: Any, text: str) -> None:
    with pytest.raises(error) as caught:
        await app.request(input, init)
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("input", "options", "text", "kind"),
    [
        pytest.param(
            "/x", {"method": "POST", "json": {"a": [1]}}, '{"a":[1]}', "application/json", id="json"
        ),
        pytest.param(
            "/x", {"method": "POST", "json": 0}, "0", "application/json", id="json that is false"
        ),
        pytest.param(
            "/x",
            {"init": {"method": "POST"}, "json": {"a": 1}, "headers": {"x": "y"}},
            '{"a":1}',
            "application/json",
            id="json beside init",
        ),
        pytest.param(
            "/x",
            {"method": "POST", "json": {}, "headers": {"Content-Type": "application/x+json"}},
            "{}",
            "application/x+json",
            id="Content-Type",
        ),
        pytest.param(
            "/x",
            {"init": {"method": "POST", "headers": [("content-type", "a/b")]}, "json": {}},
            "{}",
            "a/b",
            id="Content-Type of init",
        ),
        pytest.param(
            Request("http://localhost/x", method="POST", body="one"),
            {"json": {}},
            "{}",
            "application/json",
            id="json in place of the body of a Request",
        ),
        pytest.param("/x", {"method": "POST", "json": None}, "", None, id="json None"),
        pytest.param(
            "/x",
            {"method": "POST", "body": "a", "headers": {"content-type": "a/b"}},
            "a",
            "a/b",
            id="body and headers",
        ),
        pytest.param(
            "/x",
            {"init": {"method": "POST"}, "body": b"a"},
            "a",
            None,
            id="body beside init",
        ),
        pytest.param(
            Request("http://localhost/x", headers={"content-type": "c/d"}),
            {"method": "POST"},
            "",
            "c/d",
            id="method in place of that of a Request",
        ),
    ],
)
async def test_request_keywords(input: Any, options: Any, text: str, kind: str | None) -> None:
    response = await Kit().post("/x", post_echo).request(input, **options)
    assert response.status == 200
    assert await response.json() == {"text": text, "type": kind}


async def test_request_keeps_what_it_was_given() -> None:
    source = Request("http://localhost/x", method="POST", headers={"a": "b"})
    init: Any = {"method": "POST", "headers": {"a": "b"}}
    app = Kit().post("/x", lambda c: c.json(c.req.header()))
    expected = {"a": "b", "content-type": "application/json"}
    assert await (await app.request(source, json={})).json() == expected
    assert await (await app.request("/x", init, json={})).json() == expected
    assert dict(source.headers) == {"a": "b"}
    assert init == {"method": "POST", "headers": {"a": "b"}}


NO_BODY = "request('/x', ...) is a GET request, which can't have a body: add method='POST'"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"json": {}}, NO_BODY),
        ({"json": {}, "method": "get"}, NO_BODY),
        ({"body": "a"}, NO_BODY),
        ({"init": {"headers": {}}, "json": {}}, NO_BODY),
        ({"method": "POST", "json": {}, "body": "a"}, "request('/x', ...) was given body and"),
        ({"init": {"method": "POST", "body": "a"}, "json": {}}, "request('/x', ...) was given"),
        ({"init": {"method": "POST"}, "method": "PUT"}, "request('/x', ...) was given method"),
        ({"init": {"method": "POST", "json": {}}}, "request('/x', ...): init has method"),
        ({"init": {"header": {}}}, "request('/x', ...): init has method, headers, body, not"),
        ({"method": "POST", "json": {"a": object}}, "Can't encode type as JSON, at $['a']"),
    ],
)
async def test_request_refuses_keywords(app: Kit, options: Any, text: str) -> None:
    with pytest.raises(TypeError) as caught:
        await app.request("/x", **options)
    assert text in str(caught.value)


async def test_fetch_takes_the_request_as_it_is() -> None:
    seen = []
    app = Kit().post("/x", lambda c: seen.append(c.req.raw) or c.text("ok"))
    request = Request("http://localhost/x", method="POST", body="b")
    assert (await app.fetch(request)).status == 200
    assert seen == [request]
    assert not request.body_used


# --- env ---------------------------------------------------------------------------------------


async def env_of(app: Kit, env: Mapping[str, Any] | None = None) -> Any:
    seen: list[Any] = []
    app.get("/", lambda c: seen.append(c.env) or c.text("ok"))
    await app.request("/", None, env)
    return seen[0]


async def test_env_is_empty_without_any() -> None:
    assert await env_of(Kit()) == {}


async def test_env_given_is_passed_itself() -> None:
    env = {"db": object()}
    assert await env_of(Kit(), env) is env


async def test_env_reaches_fetch_as_well() -> None:
    app = Kit().get("/", lambda c: c.text(c.env["name"]))
    request = Request("http://localhost/")
    assert await (await app.fetch(request, {"name": "n"})).text() == "n"


async def test_what_a_request_puts_into_an_empty_env_is_not_seen_by_the_next() -> None:
    app = Kit()

    @app.get("/")
    def handler(c: Context) -> Response:
        c.env["user"] = c.env.get("user", 0) + 1
        return c.json(c.env)

    assert await (await app.request("/")).json() == {"user": 1}
    assert await (await app.request("/")).json() == {"user": 1}


# --- execution context -------------------------------------------------------------------------


async def test_execution_ctx_given_is_what_the_handler_gets() -> None:
    class Ctx:
        def __init__(self) -> None:
            self.left: list[Any] = []

        def wait_until(self, awaitable: Any, /) -> None:
            self.left.append(awaitable)

    ctx = Ctx()
    app = Kit().get("/", lambda c: c.execution_ctx.wait_until(5) or c.text("ok"))
    await app.request("/", None, None, ctx)
    await app.fetch(Request("http://localhost/"), None, ctx)
    assert ctx.left == [5, 5]


async def test_execution_ctx_absent() -> None:
    app = Kit()

    @app.get("/")
    def handler(c: Context) -> Response:
        with pytest.raises(RuntimeError) as caught:
            _ = c.execution_ctx
        return c.text(str(caught.value))

    assert "no execution context" in await (await app.request("/")).text()


# --- HEAD --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "handler",
    [
        pytest.param(lambda c: c.text("hello", 201, {"x-a": ["1", "2"]}), id="text"),
        pytest.param(lambda c: c.json({"a": 1}), id="json"),
        pytest.param(lambda c: c.body(None, 204), id="no content"),
        pytest.param(lambda c: c.redirect("/x"), id="redirect"),
        pytest.param(lambda c: c.body(["a", "b"]), id="stream"),
        pytest.param(lambda c: Response("r", headers={"content-length": "1"}), id="length"),
        pytest.param(lambda c: c.not_found(), id="not found"),
        pytest.param(lambda c: c.nothing, id="error"),
    ],
)
async def test_head_is_get_without_body(handler: Any) -> None:
    app = Kit().get("/", handler)
    get = await app.request("/")
    head = await app.request("/", {"method": "HEAD"})
    assert (head.status, head.headers) == (get.status, get.headers)
    assert await head.bytes() == b""
    assert head.body is None


async def test_head_sees_its_own_method() -> None:
    app = Kit().post("/x", echo).get("/y", lambda c: c.text("", headers={"m": c.req.method}))
    assert (await app.request("/x", {"method": "HEAD"})).status == 404
    assert (await app.request("/y", {"method": "HEAD"})).headers["m"] == "HEAD"
    assert (await app.request("/none", {"method": "HEAD"})).status == 404


async def test_head_closes_the_streamed_body_that_nobody_reads() -> None:
    closed = []

    class Rows:
        def __iter__(self) -> Any:
            return iter(["row"])

        def close(self) -> None:
            closed.append(True)

    await Kit().get("/", lambda c: c.body(Rows())).request("/", {"method": "HEAD"})
    assert closed == [True]


async def test_head_does_not_take_the_body_of_a_response_that_is_kept() -> None:
    kept = Response("kept")
    app = Kit().get("/", lambda c: kept)
    await app.request("/", {"method": "HEAD"})
    assert await (await app.request("/")).text() == "kept"


async def test_options_and_wrong_method_are_404() -> None:
    app = Kit().get("/", echo)
    for method in ("OPTIONS", "POST", "FOO"):
        assert (await app.request("/", {"method": method})).status == 404


# --- routing path ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "path"),
    [
        pytest.param("/a%20b", "/a b", id="blank"),
        pytest.param("/%C3%A9", "/é", id="UTF-8"),
        pytest.param("/é", "/é", id="not encoded"),
        pytest.param("/a%2Fb%2f", "/a%2Fb%2F", id="slash stays"),
        pytest.param("/%25%2541", "/%25%2541", id="percent stays"),
        pytest.param("/%3f%23%3B%40", "/%3F%23;@", id="only delimiters stay"),
        pytest.param("/%E3%81", "/%E3%81", id="no UTF-8"),
        pytest.param("/%zz%", "/%zz%", id="no escape"),
        pytest.param("/a+b", "/a+b", id="plus"),
        pytest.param("//a//b/", "//a//b/", id="slashes"),
    ],
)
async def test_path_is_decoded_once_but_for_what_is_reserved(app: Kit, url: str, path: str) -> None:
    assert (await (await app.request(url)).json())["path"] == path


async def test_parameters_are_decoded_once_more() -> None:
    app = Kit().get("/users/:id", lambda c: c.text(c.req.param("id")))
    for sent, value in [("a%2Fb", "a/b"), ("%2541", "%41"), ("%E3%81", "%E3%81"), ("a+b", "a+b")]:
        assert await (await app.request(f"/users/{sent}")).text() == value


@pytest.mark.parametrize(
    ("strict", "registered", "path", "status"),
    [
        (True, "/about", "/about", 200),
        (True, "/about", "/about/", 404),
        (True, "/about/", "/about/", 200),
        (False, "/about", "/about", 200),
        (False, "/about", "/about/", 200),
        (False, "/about", "/about//", 404),
        (False, "/", "/", 200),
        (False, "/about/", "/about/", 200),
    ],
)
async def test_strict(strict: bool, registered: str, path: str, status: int) -> None:
    app = Kit(strict=strict).get(registered, echo)
    assert (await app.request(path)).status == status


@pytest.mark.parametrize("strict", [True, False])
async def test_get_path(strict: bool) -> None:
    app = Kit(
        strict=strict,
        get_path=lambda request: "/" + URL(request.url).host + URL(request.url).pathname,
    )
    app.get("/a.example/x", lambda c: c.text("a " + c.req.path))
    assert await (await app.request("http://a.example/x")).text() == "a /a.example/x"
    assert (await app.request("http://b.example/x")).status == 404
    assert (await app.request("http://a.example/x/")).status == (404 if strict else 200)


async def test_router_may_be_given_as_object() -> None:
    router: TrieRouter[Any] = TrieRouter()
    assert Kit(router=router).router is router
    assert Kit().router.name == "SmartRouter"


async def test_two_apps_share_nothing() -> None:
    one, two = Kit().get("/", lambda c: c.text("one")), Kit().get("/", lambda c: c.text("two"))
    one.not_found(lambda c: c.text("missing", 404))
    assert await (await one.request("/")).text() == "one"
    assert await (await two.request("/")).text() == "two"
    assert await (await two.request("/x")).text() == "404 Not Found"


async def test_variables_belong_to_one_request() -> None:
    app = Kit()

    @app.get("/set")
    def set_it(c: Context) -> Response:
        c.set("user", 1)
        return c.json(dict(c.var))

    app.get("/get", lambda c: c.json([c.get("user"), dict(c.var)]))
    assert await (await app.request("/set")).json() == {"user": 1}
    assert await (await app.request("/get")).json() == [None, {}]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"strict": "x"}, "Kit(strict=...) takes True or False, not 'x'"),
        ({"method_not_allowed": 1}, "Kit(method_not_allowed=...) takes True or False, not 1"),
        ({"limits": 5}, "Kit(limits=...) takes Limits(...), not 5"),
        ({"get_path": 5}, "Kit(get_path=...) takes a function, not 5"),
        ({"lifespan": "x"}, "Kit(lifespan=...) takes a function, not 'x'"),
        ({"router": 5}, "Kit(router=...) takes a Router or a name, not 5"),
    ],
)
def test_wrong_arguments_of_kit(arguments: Any, text: str) -> None:
    with pytest.raises(TypeError) as caught:
        Kit(**arguments)
    assert str(caught.value) == text


# --- whatever comes ----------------------------------------------------------------------------

path_text = st.text(st.characters(blacklist_categories=["Cs"]), max_size=20)


@given(path_text)
def test_every_path_has_an_answer(path: str) -> None:
    import asyncio

    app = Kit().get("/:a/*", lambda c: c.json([c.req.path, c.req.param("a")]))
    response = asyncio.run(app.request("/" + path))
    assert response.status in (200, 404)


@given(st.lists(st.tuples(st.sampled_from(["x-a", "X-A", "x-b"]), st.sampled_from("123"))))
def test_header_of_context_is_a_mapping_of_lists(lines: list[tuple[str, str]]) -> None:
    import asyncio

    expected: dict[str, list[str]] = {}
    app = Kit()

    @app.get("/")
    def handler(c: Context) -> Response:
        for number, (name, value) in enumerate(lines):
            c.header(name, value, append=bool(number % 2))
            kept = expected.setdefault(name.lower(), [])
            if not number % 2:
                kept.clear()
            kept.append(value)
        return c.text("ok")

    headers: Headers = asyncio.run(app.request("/")).headers
    for name in ("x-a", "x-b"):
        assert headers.get_all(name) == expected.get(name, [])


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (([], "/x"), "The method of on([], '/x') is an empty list: nothing would be registered"),
        (("GET", []), "The path of on('GET', []) is an empty list: nothing would be registered"),
    ],
)
def test_on_takes_no_empty_list(arguments: tuple[Any, Any], text: str) -> None:
    with pytest.raises(TypeError) as caught:
        Kit().on(*arguments, echo)
    assert str(caught.value) == text


def test_installation_without_the_interface_says_what_to_do() -> None:
    """As where another distribution of the same import name is in the way."""
    program = "import sys; sys.modules['kit.interface'] = None; import kit"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 1
    assert "ImportError: The package 'kit' found here is not complete" in done.stderr
    assert "pip install kit-core" in done.stderr
