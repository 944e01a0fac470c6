# SPDX-License-Identifier: MIT
"""Each option of an app that is added to another one has an effect there, or is refused."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest

from kit import Context, Kit, Limits, Request, Response
from kit.interface import Next
from kit.router import LinearRouter, TrieRouter


async def read(c: Context) -> Response:
    return c.text(f"{len(await c.req.bytes())}")


def read_header(c: Context) -> Response:
    return c.text(f"{len(c.req.header('x-id') or '')}")


async def read_form(c: Context) -> Response:
    return c.json([*(await c.req.parse_body())])


def missing(name: str) -> Callable[[Context], Response]:
    return lambda c: c.text(f"{name}: nothing", 404)


def by_header(request: Request) -> str:
    return request.headers.get("x-path") or "/"


def lifespan_of(**bindings: Any) -> Callable[[Any], AbstractAsyncContextManager[Any]]:
    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[Any]:
        yield bindings

    return lifespan


async def get(app: Kit, path: str, method: str = "GET", **options: Any) -> str:
    response = await app.request(path, method=method, **options)
    return f"{response.status} {await response.text()}"


async def serve(app: Kit, path: str, body: bytes) -> int:
    """The status of a POST, served by ASGI, without a Content-Length."""
    messages = [{"type": "http.request", "body": body, "more_body": False}]
    sent: list[Any] = []

    async def receive() -> Any:
        return messages.pop(0) if messages else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": [],
    }
    await app(scope, receive, send)
    return sent[0]["status"]  # type: ignore[no-any-return]


# --- limits ------------------------------------------------------------------------------------


async def test_limits_apply_to_the_routes() -> None:
    part = Kit(limits=Limits(max_body_size_bytes=5)).post("/upload", read)
    app = Kit().post("/other", read).route("/part", part)
    assert await get(app, "/part/upload", "POST", body="12345") == "200 5"
    assert (await get(app, "/part/upload", "POST", body="123456")).startswith("413 ")
    assert await get(app, "/other", "POST", body="123456") == "200 6"
    assert await serve(app, "/part/upload", b"12345") == 200
    assert await serve(app, "/part/upload", b"123456") == 413
    assert await serve(app, "/other", b"123456") == 200


async def test_limits_of_an_app_within_an_app_within_an_app() -> None:
    inner = Kit(limits=Limits(max_memory_size_bytes=5)).post("/read", read)
    middle = Kit(limits=Limits(max_body_size_bytes=8)).route("/inner", inner).post("/read", read)
    app = Kit(limits=Limits(max_body_size_bytes=10)).route("/middle", middle).post("/read", read)
    for path, most in (("/middle/inner/read", 5), ("/middle/read", 8), ("/read", 10)):
        assert await get(app, path, "POST", body="x" * most) == f"200 {most}"
        assert (await get(app, path, "POST", body="x" * (most + 1))).startswith("413 ")


async def test_limit_of_headers_applies_to_the_routes() -> None:
    part = Kit(limits=Limits(max_header_size_bytes=5)).get("/header", read_header)
    app = Kit().get("/header", read_header).route("/part", part)
    assert await get(app, "/part/header", headers={"x-id": "12345"}) == "200 5"
    assert (await get(app, "/part/header", headers={"x-id": "123456"})).startswith("431 ")
    assert await get(app, "/header", headers={"x-id": "123456"}) == "200 6"
    with pytest.raises(ValueError, match="max_header_size_bytes"):
        Kit(limits=Limits(max_header_size_bytes=4)).route("/", part)


async def test_limits_through_base_path() -> None:
    part = Kit(limits=Limits(max_body_size_bytes=5))
    part.base_path("/v1").post("/read", read)
    app = Kit()
    app.base_path("/api").route("/part", part)
    below = app.base_path("/api")
    for served in (app, below):
        assert (await get(served, "/api/part/v1/read", "POST", body="123456")).startswith("413 ")


async def test_larger_limit_than_the_default_applies() -> None:
    form = "&".join(f"f{number}=1" for number in range(1200))
    headers = {"content-type": "application/x-www-form-urlencoded"}
    part = Kit(limits=Limits(max_fields=1300)).post("/form", read_form)
    app = Kit().route("/part", part).post("/form", read_form)
    response = await app.request("/part/form", method="POST", headers=headers, body=form)
    assert len(await response.json()) == 1200
    assert (await get(app, "/form", "POST", headers=headers, body=form)).startswith("413 ")


async def test_limits_of_middleware_of_a_part_apply_to_what_it_runs_for() -> None:
    async def pass_on(c: Context, next: Next) -> None:
        await next()

    part = Kit(limits=Limits(max_body_size_bytes=5)).use("*", pass_on)
    app = Kit().route("/", part).post("/read", read)
    assert (await get(app, "/read", "POST", body="123456")).startswith("413 ")


async def test_error_of_the_limit_goes_to_the_app_that_has_it() -> None:
    part = Kit(limits=Limits(max_body_size_bytes=5)).post("/read", read)
    part.on_error(lambda error, c: c.text("part", 413))
    app = Kit().route("/part", part).on_error(lambda error, c: c.text("app", 500))
    assert await get(app, "/part/read", "POST", body="123456") == "413 part"


def test_larger_limit_than_that_around_it_is_refused() -> None:
    app = Kit(limits=Limits(max_body_size_bytes=5))
    with pytest.raises(ValueError, match="max_body_size_bytes") as caught:
        app.route("/part", Kit(limits=Limits(max_body_size_bytes=6)))
    assert str(caught.value).startswith("route('/part', ...) was given an app with")
    inner = Kit(limits=Limits(max_memory_size_bytes=None)).get("/", read)
    with pytest.raises(ValueError, match=r"Limits\(max_memory_size_bytes=None\), but this app has"):
        Kit(limits=Limits(max_memory_size_bytes=5)).route("/", Kit().route("/inner", inner))
    assert app.routes == []


# --- not_found and method_not_allowed ----------------------------------------------------------


async def test_not_found_applies_below_the_prefix() -> None:
    part = Kit().get("/a", lambda c: c.not_found()).not_found(missing("part"))
    app = Kit().route("/x", part).not_found(missing("app")).get("/b", lambda c: c.not_found())
    for path in ("/x/a", "/x/no", "/x"):
        assert await get(app, path) == "404 part: nothing"
    for path in ("/", "/b", "/xy"):
        assert await get(app, path) == "404 app: nothing"


@pytest.mark.parametrize("given", [True, False])
async def test_method_not_allowed_applies_below_the_prefix(given: bool) -> None:
    part = Kit(method_not_allowed=given).post("/a", read)
    silent = Kit().post("/a", read)
    app = Kit(method_not_allowed=not given).post("/a", read)
    app.route("/part", part).route("/silent", silent)
    for path, allowed in (("/part/a", given), ("/silent/a", not given), ("/a", not given)):
        response = await app.request(path)
        assert response.status == (405 if allowed else 404)
        assert response.headers.get("allow") == ("OPTIONS, POST" if allowed else None)


async def test_errors_of_paths_without_a_route_go_to_the_apps_they_lie_below() -> None:
    part = Kit(method_not_allowed=True).post("/a", read)
    part.on_error(lambda error, c: c.text(f"part: {error}", 500))

    @part.not_found()
    def fail(c: Context) -> Response:
        raise RuntimeError("lost")

    app = Kit().route("/part", part).on_error(lambda error, c: c.text("app", 500))
    assert await get(app, "/part/none") == "500 part: lost"
    assert (await get(app, "/part/a")).startswith("500 part: 405")


async def test_apps_within_apps_within_apps() -> None:
    deep = Kit().not_found(missing("deep"))
    part = Kit().route("/deep", deep).not_found(missing("part"))
    app = Kit().not_found(missing("app"))
    below = app.base_path("/api").route("/:part", part)
    assert await get(app, "/api/x/deep/none") == "404 deep: nothing"
    assert await get(below, "/api/x/none") == "404 part: nothing"
    assert await get(app, "/api") == "404 app: nothing"
    assert await get(part, "/deep/none") == "404 deep: nothing"
    assert await get(deep, "/none") == "404 deep: nothing"


@pytest.mark.parametrize("first", [True, False])
def test_two_of_them_for_the_same_paths_are_refused(first: bool) -> None:
    app, part = Kit(), Kit().not_found(missing("part"))
    if first:
        app.not_found(missing("app"))
    else:
        app.route("/", part)
    add = (lambda: app.route("/", part)) if first else (lambda: app.not_found(missing("app")))
    with pytest.raises(ValueError, match="not_found") as caught:
        add()
    text = str(caught.value)
    assert text.startswith(
        "Two apps have a not_found() for the paths below '/', so one would never"
    )
    assert f"route('/') at {__file__}" in text
    assert "this app" in text


def test_two_parts_with_one_for_the_same_paths_are_refused() -> None:
    app = Kit().route("/:a/x", Kit().not_found(missing("first")))
    with pytest.raises(
        ValueError, match=r"^Two apps have a not_found\(\) for the paths below '/:b/x"
    ):
        app.route("/:b/x/", Kit().not_found(missing("second")))
    app.route("/:b/y", Kit().not_found(missing("second")))


# --- what finds the routes ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "around", "text"),
    [
        ({"strict": False}, {}, "strict=False, but this app has True"),
        ({"strict": True}, {"strict": False}, "strict=True, but this app has False"),
        ({"get_path": by_header}, {}, "get_path=<function by_header at "),
        ({"router": "linear"}, {}, "router='LinearRouter', but this app has 'SmartRouter'"),
        (
            {"router": TrieRouter()},
            {"router": LinearRouter()},
            "router='TrieRouter', but this app has 'LinearRouter'",
        ),
    ],
)
def test_other_ways_to_find_routes_are_refused(options: Any, around: Any, text: str) -> None:
    part = Kit(**options).get("/", read)
    app = Kit(**around)
    with pytest.raises(ValueError, match="was given an app with") as caught:
        app.route("/part", part)
    assert str(caught.value).startswith(f"route('/part', ...) was given an app with {text}")
    assert app.routes == []


@pytest.mark.parametrize(
    "options", [{"strict": False}, {"get_path": by_header}, {"router": "trie"}, {"router": "smart"}]
)
def test_the_same_way_is_no_conflict(options: Any) -> None:
    app = Kit(**options).route("/given", Kit(**options)).route("/silent", Kit())
    app.base_path("/below").route("/given", Kit(**options))


def test_option_of_an_inner_app_is_known_further_out() -> None:
    inner = Kit(strict=True).get("/a/", read)
    with pytest.raises(ValueError, match="strict=True, but this app has False"):
        Kit(strict=False).route("/x", Kit().route("/y", inner))


# --- lifespan ----------------------------------------------------------------------------------


async def test_two_parts_that_yield_one_name_are_refused() -> None:
    app = Kit().route("/a", Kit(lifespan=lifespan_of(db=1)))
    app.route("/b", Kit(lifespan=lifespan_of(db=2)))
    with pytest.raises(RuntimeError, match=r"yield 'db' with different values"):
        async with app.running():
            raise AssertionError("unreachable: it doesn't start")


async def test_value_of_the_app_around_replaces_those_of_its_parts() -> None:
    app = Kit(lifespan=lifespan_of(db=3)).get("/", lambda c: c.json(c.env["db"]))
    app.route("/a", Kit(lifespan=lifespan_of(db=1))).route("/b", Kit(lifespan=lifespan_of(db=2)))
    async with app.running():
        assert await get(app, "/") == "200 3"


async def test_parts_may_yield_one_value() -> None:
    pool = object()
    app = Kit().route("/a", Kit(lifespan=lifespan_of(db=pool)))
    app.route("/b", Kit(lifespan=lifespan_of(db=pool)).get("/", lambda c: c.text(str(len(c.env)))))
    async with app.running():
        assert await get(app, "/b") == "200 1"


async def test_lifespan_of_an_app_that_is_mounted_by_its_fetch_method() -> None:
    part = Kit(lifespan=lifespan_of(db="part")).get("/", lambda c: c.text(c.env["db"]))
    app = Kit(lifespan=lifespan_of(name="app")).mount("/part", part.fetch)
    app.get("/", lambda c: c.json(c.env))
    async with app.running():
        assert await get(app, "/part") == "200 part"
        assert await get(app, "/") == '200 {"name":"app"}'


# --- the table ---------------------------------------------------------------------------------

OPTIONS: dict[str, Any] = {
    "strict": False,
    "router": "linear",
    "get_path": by_header,
    "lifespan": lifespan_of(name="part"),
    "limits": Limits(max_body_size_bytes=2),
    "method_not_allowed": True,
    "encoders": {complex: str},
    "decoders": {complex: complex},
    "validation_status": 422,
}


async def observed(app: Kit, prefix: str) -> tuple[str, ...]:
    """What the options of the table can change about an app."""
    async with app.running():
        return (
            await get(app, f"{prefix}/a/"),
            await get(app, "/", headers={"x-path": f"{prefix}/a"}),
            await get(app, prefix, headers={"x-path": "/a"}),
            await get(app, f"{prefix}/env"),
            await get(app, f"{prefix}/read", "POST", body="123"),
            await get(app, f"{prefix}/read", "PUT"),
            await get(app, f"{prefix}/none"),
            await get(app, f"{prefix}/encoded"),
            await get(app, f"{prefix}/decoded?a=1j"),
            await get(app, f"{prefix}/int/x"),
        )


def made(**options: Any) -> Kit:
    app: Kit = Kit(**options)
    app.get("/a", lambda c: c.text("a")).post("/read", read)
    app.get("/env", lambda c: c.json([*c.env])).get("/encoded", lambda c: c.json(1j))
    app.get("/decoded", lambda c: c.text(str(c.req.query("a", complex))))
    app.get("/int/:number", lambda c: c.json(c.req.param("number", int)))
    return app


@pytest.mark.parametrize("name", [*inspect.signature(Kit).parameters])
async def test_every_option_has_an_effect_or_is_refused(name: str) -> None:
    option = {name: OPTIONS[name]}  # an option that is added needs a line above
    plain = await observed(Kit().route("/p", made()), "/p")
    try:
        app = Kit().route("/p", made(**option))
    except ValueError as error:
        assert f"{name}=" in str(error)  # noqa: PT017 - one of the two outcomes
    else:
        assert await observed(app, "/p") != plain
    if name == "router":
        return  # all of them find the same routes
    mounted = Kit().mount("/p", made().fetch)
    assert await observed(Kit().mount("/p", made(**option).fetch), "/p") != await observed(
        mounted, "/p"
    )
    below = Kit(**option).base_path("/p")
    below.get("/a", lambda c: c.text("a")).post("/read", read)
    below.get("/env", lambda c: c.json([*c.env]))
    below.get("/int/:number", lambda c: c.json(c.req.param("number", int)))
    assert await observed(below, "/p") != plain
