# SPDX-License-Identifier: MIT
"""`mount`: requests handed on to another framework."""

from __future__ import annotations

from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote

import pytest

from kit import Context, Kit, Limits, Request, Response
from kit.interface import Next


def tell(request: Request, *arguments: Any) -> Response:
    return Response(f"{request.method} {request.url} {len(arguments)}")


async def get(app: Kit, path: str, init: Any = None, env: Any = None) -> str:
    return await (await app.request(path, init, env)).text()


@pytest.mark.parametrize(
    ("path", "url"),
    [
        ("/m", "/"),
        ("/m/", "/"),
        ("/m/a/b", "/a/b"),
        ("/m/a/?q=1&q=%20#f", "/a/?q=1&q=%20#f"),
        ("/m/caf%C3%A9/a%2Fb/%25", "/caf%C3%A9/a%2Fb/%25"),
        ("/m//x.example/y", "//x.example/y"),
        ("/m/a%3Fb", "/a%3Fb"),
    ],
)
@pytest.mark.parametrize("prefix", ["/m", "/m/", "m"])
async def test_the_url_begins_behind_the_prefix(prefix: str, path: str, url: str) -> None:
    app = Kit().mount(prefix, tell)
    assert await get(app, path) == f"GET http://localhost{url} 2"


async def test_what_is_beside_is_not_handed_on() -> None:
    app = Kit().mount("/m", tell)
    assert (await app.request("/mx")).status == 404


async def test_below_prefixes_with_parameters() -> None:
    app = Kit().route("/:tenant", Kit().mount("/m", tell))
    app.base_path("/v1/:x{[0-9]+}").mount("/n", tell)
    assert await get(app, "/acme/m/a") == "GET http://localhost/a 2"
    assert await get(app, "/v1/123/n/a") == "GET http://localhost/a 2"


@pytest.mark.parametrize(
    ("prefix", "path", "rest"),
    [
        ("/a/:b{.+}", "/a/x/y", "/"),
        ("/a/:b{.+}", "/a/x%2Fy/", "/"),
        ("/a/:b{[a-z/]+}/m", "/a/x/y/m/q/r", "/q/r"),
        ("/a/:b{[a-z]+/[0-9]+}/m", "/a/x/1/m/q", "/q"),
        ("/a/:b{[a-z]+}/m", "/a/x/m/q", "/q"),
    ],
)
async def test_expressions_in_the_prefix_that_match_slashes(
    prefix: str, path: str, rest: str
) -> None:
    app = Kit().mount(prefix, tell)
    assert await get(app, path) == f"GET http://localhost{rest} 2"


async def test_a_body_that_is_declared_too_large_is_not_handed_on() -> None:
    app = Kit(limits=Limits(max_body_size_bytes=3)).mount("/m", tell)
    for body, answer in (("abcd", "The body is larger than 3 bytes"), ("abc", "POST http")):
        headers = {"content-length": str(len(body))}
        text = await get(app, "/m", {"method": "POST", "body": body, "headers": headers})
        assert text.startswith(answer)


async def test_methods_headers_and_body_are_handed_on() -> None:
    async def echo(request: Request, *_: Any) -> Response:
        return Response(f"{request.method} {request.headers['x-a']} {await request.text()}")

    app = Kit().mount("/m", echo)
    for method in ("POST", "PUT", "PURGE"):
        init = {"method": method, "headers": {"x-a": "1"}, "body": "body"}
        assert await get(app, "/m/x", init) == f"{method} 1 body"


async def test_body_that_middleware_has_read_is_handed_on() -> None:
    async def echo(request: Request, *_: Any) -> Response:
        return Response(await request.bytes())

    async def peek(c: Context, next: Next) -> None:
        assert await c.req.json() == {"a": 1}
        await next()

    app = Kit().use("*", peek).mount("/m", echo)
    assert await get(app, "/m", {"method": "POST", "body": '{"a": 1}'}) == '{"a": 1}'


async def test_a_body_is_not_read_ahead_of_the_mounted() -> None:
    read: list[bytes] = []

    async def chunks() -> AsyncIterator[bytes]:
        read.append(b"x")
        yield b"x"

    app = Kit().mount("/m", tell)
    await get(app, "/m", {"method": "POST", "body": chunks()})
    assert not read


async def test_a_body_that_middleware_took_from_the_request_is_used() -> None:
    async def take(c: Context, next: Next) -> None:
        await c.req.raw.bytes()
        await next()

    app = Kit().use(take).mount("/m", lambda request, *_: Response(str(request.body_used)))
    assert await get(app, "/m", {"method": "POST", "body": "body"}) == "True"


async def test_body_that_the_mounted_left_alone_is_there_for_the_next() -> None:
    app = Kit().mount("/m", lambda request, *_: None)

    @app.post("/m/:x")
    async def after(c: Context) -> Response:
        return c.text(await c.req.text())

    assert await get(app, "/m/a", {"method": "POST", "body": "still here"}) == "still here"


async def test_body_that_the_mounted_has_read_does_not_stop_the_next() -> None:
    read: list[str] = []

    async def mounted(request: Request, *_: Any) -> None:
        read.append(await request.text())

    app = Kit().mount("/m", mounted).post("/m/:x", lambda c: c.text("next"))
    assert await get(app, "/m/a", {"method": "POST", "body": "gone"}) == "next"
    assert read == ["gone"]


async def test_nothing_means_the_next() -> None:
    app = Kit().mount("/m", lambda request, *_: None).get("/m/a", lambda c: c.text("next"))
    assert await get(app, "/m/a") == "next"
    assert (await app.request("/m/b")).status == 404


async def test_arguments_are_env_and_execution_context() -> None:
    seen: list[Any] = []

    def handler(request: Request, *arguments: Any) -> Response:
        seen.extend(arguments)
        return Response("")

    app = Kit().mount("/m", handler)
    await app.request("/m", None, {"a": 1})
    assert seen == [{"a": 1}, None]
    seen.clear()
    context = SimpleNamespace(wait_until=lambda awaitable: None)
    await app.request("/m", None, {"a": 1}, context)
    assert seen == [{"a": 1}, context]


@pytest.mark.parametrize(
    ("option", "arguments"),
    [([1, 2], [1, 2]), ((1, 2), [1, 2]), (1, [1]), (None, [None]), ([], []), ("ab", ["ab"])],
)
async def test_option_handler(option: Any, arguments: list[Any]) -> None:
    seen: list[Any] = []

    def handler(request: Request, *given: Any) -> Response:
        seen.extend(given)
        return Response("")

    app = Kit().mount("/m", handler, option_handler=lambda c: option)
    await app.request("/m")
    assert seen == arguments


async def test_replace_request() -> None:
    app = Kit().mount("/a", tell, replace_request=False)
    app.mount("/b", tell, replace_request=lambda request: Request("http://other/x", method="PUT"))
    assert await get(app, "/a/x?q") == "GET http://localhost/a/x?q 2"
    assert await get(app, "/b/x?q") == "PUT http://other/x 2"


async def test_plain_async_and_wrong_answers() -> None:
    async def later(request: Request, *_: Any) -> Response:
        return Response("later")

    def wrong(request: Request, *_: Any) -> Any:
        return "text"

    app = Kit().mount("/a", later).mount("/b", wrong)
    app.on_error(lambda e, c: c.text(str(e), 500))
    assert await get(app, "/a") == "later"
    assert "wrong" in await get(app, "/b")
    assert "returned str, expected a Response" in await get(app, "/b")


async def test_errors_reach_on_error() -> None:
    def fail(request: Request, *_: Any) -> Response:
        raise ValueError("boom")

    app = Kit().mount("/m", fail).on_error(lambda e, c: c.text(f"caught {e}", 500))
    assert await get(app, "/m") == "caught boom"


async def test_another_kit_by_its_fetch() -> None:
    other = Kit().get("/a/:id", lambda c: c.json([c.req.param("id"), c.env]))
    app = Kit().mount("/m", other.fetch)
    assert await get(app, "/m/a/1", None, {"x": 1}) == '["1",{"x":1}]'


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (None, r"takes a function \(request, ...\), not None"),
        ("x", r"takes a function \(request, ...\), not 'x'"),
        (Kit(), r"was given a Kit app: use route\(\), or mount its fetch method"),
    ],
)
def test_what_can_be_mounted(given: Any, message: str) -> None:
    with pytest.raises(TypeError, match=rf"mount\('/m', ...\) {message}"):
        Kit().mount("/m", given)


def test_asgi_applications_need_from_asgi() -> None:
    async def function(scope: Any, receive: Any, send: Any) -> None: ...

    class Application:
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None: ...

    for given in (function, Application()):
        with pytest.raises(TypeError, match=r"put kit.asgi.from_asgi\(\) around it"):
            Kit().mount("/m", given)


@pytest.mark.parametrize("name", ["option_handler", "replace_request"])
def test_options_are_functions(name: str) -> None:
    options: Any = {name: 1}
    with pytest.raises(TypeError, match=rf"{name} must be a function, not 1"):
        Kit().mount("/m", tell, **options)


async def test_connection_of_a_served_request_is_known_below(client: Any) -> None:
    def handler(request: Request, *_: Any) -> Response:
        assert request.scope is not None
        return Response(str(request.scope["client"]))

    app = Kit().mount("/m", handler)
    answer = await client().ask(app, "/m/a", client=("1.2.3.4", 5))
    assert answer.body == b"('1.2.3.4', 5)"


@pytest.mark.parametrize(
    "target",
    ["/m/x/../admin/y", "/m/x/%2e%2E/admin/y", "/m/./admin", "/m/x\\..\\admin/y", "/m/a/.."],
)
async def test_no_path_leads_past_middleware(client: Any, target: str) -> None:
    """A server hands on the path as the client sent it; a URL made of it would resolve the dots."""

    def deny(c: Context, next: Next) -> Response:
        return c.text("denied", 403)

    app = Kit().use("/m/admin/*", deny).mount("/m", tell)
    path = target.replace("%2e%2E", "..")
    answer = await client().ask(app, path, raw_path=target.encode())
    assert answer.status in (400, 403)


async def test_the_path_that_a_server_received_counts_beside_a_get_path(client: Any) -> None:
    app = Kit(get_path=lambda request: "/m/x").mount("/m", tell)
    answers = [await client().ask(app, path) for path in ("/x", "/x/../admin")]
    assert [answer.status for answer in answers] == [200, 400]


@pytest.mark.parametrize(
    "target",
    [
        "/ad%0Amin",
        "/ad%0Dmin",
        "/ad%09min",
        "/admin%20",
        "/admin%00",
        "/x/.%09./admin",
        "/%20",
        "/%1F",
    ],
)
@pytest.mark.parametrize("has_raw_path", [True, False])
async def test_characters_that_url_parsers_drop_are_handed_on(
    client: Any, target: str, has_raw_path: bool
) -> None:
    """Without them, the path would be one that middleware wasn't matched with."""

    def deny(c: Context, next: Next) -> Response:
        return c.text("denied", 403)

    app = Kit().use("/m/admin/*", deny).mount("/m", tell)
    assert await get(app, "/m" + target) == f"GET http://localhost{target} 2"
    raw_path = f"/m{target}".encode() if has_raw_path else None
    answer = await client().ask(app, unquote("/m" + target), raw_path=raw_path)
    assert answer.body.decode().split("/", 3)[3] == f"{target[1:]} 2"


async def test_a_handler_may_have_locals_called_like_those_of_asgi() -> None:
    def handler(request: Request, *_: Any) -> Response:
        scope = receive = send = None
        return Response(str((scope, receive, send)))

    assert await get(Kit().mount("/m", handler), "/m") == "(None, None, None)"


async def test_what_replaces_a_request_need_not_be_one() -> None:
    def replaced(request: Request) -> Any:
        return SimpleNamespace(path=request.url)

    def other(request: Any, *_: Any) -> Response:
        return Response(request.path)

    app = Kit().mount("/m", other, replace_request=replaced)
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": "/m/a", "query_string": b"", "headers": []}
    await app(scope, SimpleNamespace, send)
    assert (sent[0]["status"], sent[1]["body"][-4:]) == (200, b"/m/a")
