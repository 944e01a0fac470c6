# SPDX-License-Identifier: MIT
"""Dependencies as middleware: what they read, when they run, what they refuse and share."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

import anyio
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kit import Context, HTTPException, Kit, Next, Response
from kit.bearer_auth import bearer_auth
from kit.combine import every, except_, some
from kit.interface import ValidationProblem
from kit.interface.metadata import attach, get_facts
from kit.openapi import build_document
from kit.testing import WebSocketRefusedError, test_client
from kit.typed import Cookie, Depends, Env, Header, Path, Query, Var, override, typed
from kit.websocket import WebSocket, upgrade_websocket

trace: list[Any] = []


@pytest.fixture(autouse=True)
def _clear() -> None:
    trace.clear()


class User(msgspec.Struct):
    name: str
    roles: list[str] = []


class Book(msgspec.Struct):
    title: str


USERS = {"ada": User("ada", ["admin"]), "bob": User("bob")}


async def get_user(x_user: Annotated[str | None, Header()] = None) -> User:
    trace.append("get_user")
    if x_user not in USERS:
        raise HTTPException(401, "Log in")
    return USERS[x_user]


attach(get_user, security={"type": "apiKey", "in": "header", "name": "X-User"})

CurrentUser = Annotated[User, Depends(get_user)]


def require(role: str) -> Callable[..., None]:
    def check(user: CurrentUser) -> None:
        if role not in user.roles:
            raise HTTPException(403, f"Needs the role {role}")

    return check


def as_user(name: str) -> dict[str, str]:
    return {"x-user": name}


async def status(app: Kit[Any, Any], path: str, method: str = "GET", **options: Any) -> int:
    return (await app.request(path, method=method, **options)).status


async def text(app: Kit[Any, Any], path: str, method: str = "GET", **options: Any) -> str:
    return await (await app.request(path, method=method, **options)).text()


async def test_runs_before_parameters_and_body_are_read() -> None:
    app = Kit()

    @app.put("/books/:id", use=Depends(require("admin")))
    @typed
    async def update(id: int, book: Book, dry: bool = False) -> Book:
        return book

    path, body = "/books/x?dry=perhaps", "not json"
    headers = {"content-type": "application/json"}
    for name, expected in (("", 401), ("bob", 403), ("ada", 400)):
        request = {"headers": headers | as_user(name), "body": body}
        assert await status(app, path, "PUT", **request) == expected


async def test_unread_bodies_are_not_read_by_a_refusal() -> None:
    async def chunks() -> AsyncIterator[bytes]:
        trace.append("read")
        yield b"{}"

    app = Kit()
    app.use(Depends(get_user))

    @app.post("/")
    @typed
    async def create(book: Book) -> Book:
        return book

    assert await status(app, "/", "POST", body=chunks()) == 401
    assert trace == ["get_user"]


@pytest.mark.parametrize("place", ["use", "list", "app.use", "positional", "base_path", "sub-app"])
async def test_places(place: str) -> None:
    def one() -> None:
        trace.append("one")

    async def middleware(c: Context, next: Next) -> None:
        trace.append("middleware")
        await next()

    guards = [middleware, Depends(one), Depends(get_user)]
    app, inner = Kit(), Kit()
    handler = typed(lambda: "fine")
    if place == "use":
        app.get("/v1/x", use=Depends(get_user))(handler)
    elif place == "list":
        app.get("/v1/x", use=guards)(handler)
    elif place == "app.use":
        app.use("/v1/*", *guards).get("/v1/x", handler)
    elif place == "positional":
        app.get("/v1/x", Depends(get_user), handler)
    elif place == "base_path":
        app.base_path("/v1").use(Depends(get_user)).get("/x", handler)
    else:
        app.route("/v1", inner.use(Depends(get_user)).get("/x", handler))
    app.get("/open", lambda c: c.text("open"))
    assert await status(app, "/v1/x") == 401
    assert await text(app, "/v1/x", headers=as_user("bob")) == '"fine"'
    assert await status(app, "/open") == 200
    if place in ("list", "app.use"):
        assert trace == ["middleware", "one", "get_user"] * 2


async def test_every_kind_of_parameter() -> None:
    class Parts:
        def __init__(self, user: CurrentUser, session: Annotated[str, Cookie()]) -> None:
            trace.append((user.name, session))

    async def set_tenant(c: Context, next: Next) -> None:
        c.set("tenant", "t1")
        await next()

    def check(
        id: int,
        c: Context,
        parts: Annotated[Parts, Depends()],
        pool: Annotated[str, Env()],
        tenant: Annotated[str, Var()],
        page: Annotated[int, Query(ge=1)] = 1,
    ) -> None:
        trace.append((id, c.req.path, pool, tenant, page))

    @asynccontextmanager
    async def lifespan(app: Kit) -> AsyncIterator[dict[str, str]]:
        yield {"pool": "p"}

    app = Kit(lifespan=lifespan)
    app.use(attach(set_tenant, provides={"tenant": str}))
    app.get("/books/:id", use=Depends(check))(lambda c: c.text("fine"))
    request: dict[str, Any] = {"headers": as_user("ada") | {"cookie": "session=s"}}
    request["env"] = {"pool": "p"}
    assert await text(app, "/books/7?page=2", **request) == "fine"
    assert trace == ["get_user", ("ada", "s"), (7, "/books/7", "p", "t1", 2)]
    response = await app.request("/books/x?page=0", **request)
    assert response.status == 400
    found = {(each["target"], each["path"]) for each in (await response.json())["errors"]}
    assert found == {("param", "id"), ("query", "page")}


def refuse_unless(allowed: bool) -> None:
    if not allowed:
        raise HTTPException(403)


async def asynchronous(allowed: bool = False) -> None:
    refuse_unless(allowed)


class Checked:
    def __init__(self, allowed: bool = False) -> None:
        refuse_unless(allowed)


class Checker:
    def __call__(self, allowed: bool = False) -> None:
        refuse_unless(allowed)


def generator(allowed: bool = False) -> Iterator[None]:
    refuse_unless(allowed)
    yield


@asynccontextmanager
async def manager(allowed: bool = False) -> AsyncIterator[None]:
    refuse_unless(allowed)
    yield


@pytest.mark.parametrize(
    "function",
    [asynchronous, Checked, Checker(), generator, manager, functools.partial(asynchronous)],
)
async def test_kinds_of_functions(function: Callable[..., Any]) -> None:
    app = Kit()
    app.get("/", use=Depends(function))(lambda c: c.text("fine"))
    assert await status(app, "/") == 403
    assert await status(app, "/?allowed=true") == 200


async def test_results() -> None:
    def answer(kind: str = "none") -> Any:
        if kind == "response":
            return Response("moved", status=303, headers={"location": "/login"})
        return {"none": None, "false": False, "true": True, "zero": 0, "text": ""}[kind]

    app = Kit()
    app.get("/", use=Depends(answer))(lambda c: c.text("passed"))
    assert [await status(app, f"/?kind={kind}") for kind in ("response", "false")] == [303, 403]
    for kind in ("none", "true", "zero", "text"):
        assert await text(app, f"/?kind={kind}") == "passed"


async def test_a_check_that_returns_nothing_true_refuses() -> None:
    def find_user(name: str = "") -> User | None:
        return USERS.get(name)

    def is_admin(user: Annotated[User | None, Depends(find_user)]) -> bool:
        return user and "admin" in user.roles  # type: ignore[return-value]

    async def yielding(user: Annotated[User | None, Depends(find_user)]) -> AsyncIterator[bool]:
        yield user and "admin" in user.roles  # type: ignore[misc]

    def refuse() -> bool | Response:
        return Response("no", status=402)

    app = Kit()
    app.get("/", use=Depends(is_admin))(lambda c: c.text("passed"))
    app.get("/refused", use=Depends(refuse))(lambda c: c.text("passed"))
    app.get("/closed", use=Depends(is_admin, scope="function"))(lambda c: c.text("passed"))
    app.get("/yielding", use=Depends(yielding))(lambda c: c.text("passed"))
    names = ("", "bob", "ada")
    assert [await status(app, f"/yielding?name={name}") for name in names] == [403, 403, 200]
    assert [await status(app, f"/?name={name}") for name in names] == [403, 403, 200]
    assert [await status(app, f"/closed?name={name}") for name in names] == [403, 403, 200]
    assert await status(app, "/refused") == 402
    with override(app, {is_admin: lambda: None}):
        assert await status(app, "/") == 200


async def test_any_exception_refuses() -> None:
    def fail() -> None:
        raise KeyError("bug")

    app = Kit()

    @app.get("/", use=Depends(fail))
    def handler(c: Context) -> Response:
        trace.append("passed")
        return c.text("passed")

    assert await status(app, "/") == 500
    assert trace == []


@pytest.mark.parametrize("scope", ["request", "function"])
async def test_a_suppressed_exception_refuses(scope: Any) -> None:
    def suppress() -> Iterator[None]:
        try:
            yield
        except HTTPException:
            trace.append("suppressed")

    def check(session: Annotated[None, Depends(suppress, scope=scope)]) -> None:
        raise HTTPException(403)

    app = Kit()
    app.use(Depends(lambda: None))
    app.get("/", use=Depends(check, scope=scope))(lambda c: c.text("passed"))
    assert await status(app, "/") == (500 if scope == "function" else 403)


async def test_exits() -> None:
    def session() -> Iterator[str]:
        try:
            yield "s"
        except ValueError:
            trace.append("rolled back")
            raise
        else:
            trace.append("committed")

    def check(value: Annotated[str, Depends(session, scope="function")]) -> None:
        trace.append("checked")

    app = Kit()

    @app.use
    async def outermost(c: Context, next: Next) -> None:
        await next()
        trace.append(c.res.status)

    @app.get("/:kind", use=Depends(check))
    def handler(c: Context) -> Response:
        if c.req.param("kind") == "bad":
            raise ValueError("bad")
        return c.text("fine")

    assert await status(app, "/good") == 200
    assert trace == ["checked", "committed", 200]
    trace.clear()
    assert await status(app, "/bad") == 500
    assert trace == ["checked", "rolled back", 500]


async def test_an_exit_that_fails_before_the_response_replaces_it() -> None:
    def commit() -> Iterator[None]:
        yield
        raise HTTPException(409, "Conflict")

    def translate() -> Iterator[None]:
        try:
            yield
        except ValueError as error:
            raise HTTPException(422, str(error)) from error

    app = Kit()
    app.get("/", use=Depends(commit, scope="function"))(lambda c: c.text("fine"))
    assert await text(app, "/") == "Conflict"

    app = Kit()

    @app.get("/", use=Depends(translate, scope="function"))
    @typed
    def fail() -> None:
        raise ValueError("bad")

    assert (await status(app, "/"), await text(app, "/")) == (422, "bad")


async def test_values_are_shared_within_a_request() -> None:
    app = Kit()
    app.use("/admin/*", Depends(get_user))

    @app.get("/admin/:page", use=[Depends(require("admin")), Depends(require("admin"))])
    @typed
    async def page(page: str, user: CurrentUser) -> list[str]:
        return [page, user.name]

    assert await text(app, "/admin/x", headers=as_user("ada")) == '["x","ada"]'
    assert trace == ["get_user"]
    await text(app, "/admin/x", headers=as_user("ada"))
    assert trace == ["get_user"] * 2


async def test_without_a_cache_it_is_called_again() -> None:
    app = Kit()

    @app.get("/", use=Depends(get_user))
    @typed
    async def me(user: Annotated[User, Depends(get_user, use_cache=False)]) -> str:
        return user.name

    assert await text(app, "/", headers=as_user("ada")) == '"ada"'
    assert trace == ["get_user"] * 2


async def test_resources_are_shared_until_they_close() -> None:
    opened: list[list[str]] = []

    def get_session() -> Iterator[list[str]]:
        session: list[str] = []
        opened.append(session)
        try:
            yield session
        finally:
            session.append("closed")

    def begin(session: Annotated[list[str], Depends(get_session, scope="function")]) -> None:
        session.append("guard")
        if len(opened) == 1:
            raise HTTPException(403)

    app = Kit()

    @app.get("/", use=some(Depends(begin), Depends(begin)))
    @typed
    def handler(session: Annotated[list[str], Depends(get_session, scope="function")]) -> list[str]:
        return [*session, "handler"]

    assert await text(app, "/") == '["guard","handler"]'
    assert opened == [["guard", "closed"], ["guard", "closed"]]


@pytest.mark.parametrize(
    ("guard", "route", "path", "is_shared"),
    [
        ("/books/:id", "/books/:id", "/books/7", True),
        ("/books/:id/*", "/books/:id/pages", "/books/7/pages", True),
        ("/:id/*", "/books/:id", "/books/7", False),
        ("/:a{.+}/:id/*", "/:a{.+}/:id/x", "/1/2/3/x", False),
    ],
)
async def test_only_the_same_path_parameter_is_shared(
    guard: str, route: str, path: str, is_shared: bool
) -> None:
    def find(id: str) -> str:
        trace.append(id)
        return id

    app = Kit()
    app.use(guard, Depends(find))

    def read(id: str, c: Context, found: Annotated[str, Depends(find)]) -> bool:
        return found == id

    app.get(route, typed(read))
    assert await text(app, path) == "true"
    assert len(trace) == (1 if is_shared else 2)


async def test_functions_of_the_context_share_where_the_parameters_are_the_same() -> None:
    def find(c: Context) -> str | None:
        trace.append(c.req.param("id"))
        return c.req.param("id")

    app = Kit()
    app.use("/v1/*", Depends(find))

    def read(found: Annotated[str | None, Depends(find)], c: Context) -> str | None:
        return found

    app.get("/v1/books/:id", typed(read))
    app.get("/v1/latest", typed(read))
    assert await text(app, "/v1/books/7") == '"7"'
    assert trace == [None, "7"]
    trace.clear()
    await text(app, "/v1/latest")
    assert trace == [None]


@given(st.permutations(["/a/*", "/a/:x/*", "/a/:x/:y", "/:x/*", "/*"]), st.booleans())
@settings(max_examples=60, deadline=None)
def test_shared_values_are_those_of_the_endpoint(patterns: list[str], is_deep: bool) -> None:
    """Whatever guards run before, an endpoint gets what it would get without them."""

    def first(x: Annotated[str, Path()] = "") -> str:
        return x

    def of_context(c: Context) -> str:
        return str(sorted(c.req.param().items()))

    def both(one: Annotated[str, Depends(first)], c: Context) -> str:
        return f"{one} {c.req.path}"

    def read(
        one: Annotated[str, Depends(both)],
        two: Annotated[str, Depends(of_context)],
    ) -> list[str]:
        return [one, two]

    guarded, plain = Kit(), Kit()
    for pattern in patterns:
        has_x = ":x" in pattern
        for function in (of_context, *((first, both) if has_x else ())):
            guarded.use(pattern, Depends(function))
    route = "/a/:x/:y" if is_deep else "/a/:x"
    for app in (guarded, plain):
        app.get(route, typed(read))
    path = "/a/1/2" if is_deep else "/a/1"

    async def main() -> None:
        assert await text(guarded, path) == await text(plain, path)

    anyio.run(main)


async def test_override() -> None:
    app = Kit()

    @app.get("/", use=Depends(require("admin")))
    @typed
    async def me(user: CurrentUser) -> str:
        return user.name

    async def fake() -> User:
        trace.append("fake")
        return User("fake", ["admin"])

    check = require("admin")
    app.get("/checked", use=some(every(Depends(check))))(lambda c: c.text("passed"))
    assert await status(app, "/") == 401
    with override(app, {get_user: fake}):
        assert await text(app, "/") == '"fake"'
        assert trace == ["get_user", "fake"]
        assert await text(app, "/checked") == "passed"
    with override(app, {check: lambda: None}):
        assert await text(app, "/checked") == "passed"
        assert await status(app, "/") == 401
    assert await status(app, "/checked") == 401


async def test_an_override_between_guard_and_endpoint_is_not_mixed() -> None:
    app = Kit()

    def fake() -> User:
        return User("fake")

    app.use(Depends(get_user))

    @app.use
    async def meanwhile(c: Context, next: Next) -> None:
        with override(app, {get_user: fake}):
            await next()

    @app.get("/")
    @typed
    async def me(user: CurrentUser) -> str:
        return user.name

    assert await text(app, "/", headers=as_user("ada")) == '"fake"'


def test_document() -> None:
    class Problem(msgspec.Struct):
        reason: str

    def check_key(x_key: Annotated[str, Header(min_length=3)]) -> bool:
        if x_key == "old":
            raise HTTPException(410, "The key has expired")
        return x_key == "key"

    attach(check_key, responses={418: Problem})
    app = Kit()
    app.use("/books/*", Depends(check_key))

    @app.get("/books/:id", use=Depends(require("admin")))
    @typed
    async def read(id: int, user: CurrentUser) -> Book:
        return Book("Dune")

    app.get("/open", typed(lambda: "open"))
    paths = build_document(app)["paths"]
    operation = paths["/books/{id}"]["get"]
    assert [each["name"] for each in operation["parameters"]] == ["id", "x-key", "x-user"]
    assert operation["parameters"][1]["schema"]["minLength"] == 3
    assert operation["parameters"][1]["required"] is True
    assert {*operation["responses"]} == {"200", "400", "401", "403", "410", "418"}
    assert operation["responses"]["410"]["description"] == "The key has expired"
    assert operation["responses"]["401"]["description"] == "Log in"
    assert operation["security"] == [{"X-User": []}]
    assert paths["/open"]["get"]["security"] == []
    assert {*paths["/open"]["get"]["responses"]} == {"200"}


def test_document_of_combinations() -> None:
    def one(x_one: Annotated[str, Header()]) -> None:
        raise HTTPException(409)

    def two(x_two: Annotated[str, Header()]) -> None:
        raise HTTPException(410)

    app = Kit()
    app.get("/every", use=every(Depends(one), Depends(two)))(typed(lambda: "x"))
    app.get("/some", use=some(Depends(get_user), bearer_auth(token="s3cret")))(typed(lambda: "x"))
    app.use("/except/*", except_("/except/open", Depends(get_user)))
    app.get("/except/open", typed(lambda: "x"))
    app.get("/except/closed", typed(lambda: "x"))
    paths = build_document(app)["paths"]
    operation = paths["/every"]["get"]
    assert [each["name"] for each in operation["parameters"]] == ["x-one", "x-two"]
    assert {"400", "409", "410"} < {*operation["responses"]}
    assert paths["/some"]["get"]["security"] == [{"X-User": []}, {"bearer": []}]
    assert "401" in paths["/some"]["get"]["responses"]
    assert paths["/except/open"]["get"]["security"] == []
    assert paths["/except/closed"]["get"]["security"] == [{"X-User": []}]


async def test_within_some_and_every() -> None:
    async def set_name(c: Context, next: Next) -> None:
        c.set("name", c.req.header("x-name") or "nobody")
        await next()

    def check_name(name: Annotated[str, Var()]) -> bool:
        return name == "ada"

    app = Kit()
    app.get("/some", use=some(Depends(require("admin")), bearer_auth(token="s3cret")))(
        lambda c: c.text("passed")
    )
    named = attach(set_name, provides={"name": str})
    app.get("/every/:id", use=every(lambda c: True, named, Depends(check_name)))(
        lambda c: c.text("passed")
    )
    app.use("/except/*", except_("/except/open", Depends(get_user)))
    app.get("/except/:page", lambda c: c.text("passed"))

    assert await status(app, "/some") == 401
    assert await status(app, "/some", headers=as_user("bob")) == 401
    assert await status(app, "/some", headers=as_user("ada")) == 200
    assert await status(app, "/some", headers={"authorization": "Bearer s3cret"}) == 200
    assert await status(app, "/every/1") == 403
    assert await status(app, "/every/1", headers={"x-name": "ada"}) == 200
    assert await status(app, "/except/open") == 200
    assert await status(app, "/except/closed") == 401


async def test_within_another_middleware() -> None:
    """Middleware that calls a guard, rather than an app, gets the same one."""
    guard = Depends(require("admin"))

    @functools.wraps(guard, assigned=())
    async def audited(c: Context, next: Next) -> Response | None:
        trace.append("audit")
        result: Response | None = await guard(c, next)
        return result

    async def unknown(c: Context, next: Next) -> Response | None:
        result: Response | None = await guard(c, next)
        return result

    for middleware in (audited, unknown):
        app = Kit()
        app.get("/:id", use=middleware)(lambda c: c.text("passed"))
        assert await status(app, "/1") == 401
        assert await text(app, "/1", headers=as_user("ada")) == "passed"
    app = Kit()
    app.get("/:id", use=audited)(lambda c: c.text("passed"))
    with override(app, {get_user: lambda: User("x", ["admin"])}):
        assert await text(app, "/1") == "passed"


async def test_a_guard_may_read_the_body() -> None:
    class Signed(msgspec.Struct):
        signature: str

    def check(signed: Signed) -> None:
        if signed.signature != "s":
            raise HTTPException(403)

    app = Kit()

    @app.post("/", use=Depends(check))
    @typed
    async def create(data: dict[str, str]) -> dict[str, str]:
        return data

    headers = {"content-type": "application/json"}
    for body, expected in (("", 400), ('{"signature": "x"}', 403), ('{"signature": "s"}', 200)):
        assert await status(app, "/", "POST", headers=headers, body=body) == expected
    with pytest.raises(TypeError, match=r"signed.*GET"):
        Kit().get("/", use=Depends(check))(lambda c: c.text(""))


async def test_websockets() -> None:
    app = Kit()
    closed: list[bool] = []

    def session() -> Iterator[list[str]]:
        opened = ["open"]
        yield opened
        opened.clear()
        closed.append(True)

    app.use("/chat/*", Depends(session, scope="function"))

    @app.get("/chat/:room", use=Depends(require("admin")))
    @upgrade_websocket
    @typed
    async def chat(
        ws: WebSocket,
        room: str,
        user: CurrentUser,
        opened: Annotated[list[str], Depends(session, scope="function")],
    ) -> None:
        await ws.send(f"{room} {user.name} {opened}")

    async with test_client(app) as client:
        for name, expected in (("", 401), ("bob", 403)):
            with pytest.raises(WebSocketRefusedError) as refused:
                async with client.chat[":room"].ws(param={"room": "a"}, headers=as_user(name)):
                    pass
            assert refused.value.status == expected
        trace.clear()
        async with client.chat[":room"].ws(param={"room": "a"}, headers=as_user("ada")) as ws:
            assert await ws.receive() == "a ada ['open']"
    assert trace == ["get_user"]


async def test_read_path_parameters() -> None:
    def reads(id: int) -> None:
        trace.append(id)

    def by_name(number: Annotated[int, Path("id")]) -> None:
        trace.append(number)

    app = Kit()
    app.use("/v/:id/*", Depends(by_name))
    app.get("/books/:id", use=Depends(reads))(typed(lambda: "fine"))
    app.get("/v/:id/x", typed(lambda: "fine"))
    assert await text(app, "/books/7") == await text(app, "/v/8/x") == '"fine"'
    assert trace == [7, 8]

    app = Kit()
    app.get("/books/:id", use=Depends(get_user))(typed(lambda: "fine"))
    with pytest.raises(TypeError, match=r"':id', which no parameter reads"):
        await app.request("/books/7")


async def test_a_parameter_of_the_path_is_never_read_from_the_query() -> None:
    def check_owner(book_id: int) -> None:
        trace.append(book_id)

    app = Kit()
    app.use("/books/*", Depends(check_owner))
    app.get("/books/:book_id", lambda c: c.text(c.req.param("book_id")))
    with pytest.raises(TypeError, match=r"'book_id' is read from the query.*'/books/:book_id'"):
        await app.request("/books/1?book_id=2")

    for guarded, path, url in (
        ("/books/:name/parts", "/books/:book_id/:part", "/books/1/parts"),
        ("/books/*/parts", "/books/:book_id/:part?", "/books/1/parts"),
        ("/books/*", "/:kind{books|maps}/:book_id", "/books/1"),
        ("/:rest{.+}", "/books/:book_id", "/books/1"),
    ):
        app = Kit()
        app.use(guarded, Depends(check_owner))
        app.get(path, lambda c: c.text(c.req.param("book_id")))
        with pytest.raises(TypeError, match="'book_id' is read from the query"):
            await app.request(f"{url}?book_id=2")
    # The guard's pattern has determined the parameter, or never guards the route.
    for guarded, path, url in (
        ("/books/mine/*", "/books/:book_id/parts", "/books/mine/parts"),
        ("/maps/*", "/books/:book_id", "/maps"),
    ):
        app = Kit()
        app.use(guarded, Depends(check_owner))
        app.get(path, lambda c: c.text(c.req.param("book_id")))
        assert await status(app, url) in (400, 404)
    assert not trace

    guard = Depends(check_owner)

    async def wrapping(c: Context, next: Next) -> Any:
        return await guard(c, next)

    app = Kit()
    app.use("/books/*", wrapping)
    app.get("/books/:book_id", lambda c: c.text(c.req.param("book_id")))
    assert await status(app, "/books/1?book_id=2") == 500
    assert not trace

    app = Kit()
    app.use("/books/:book_id/*", Depends(check_owner))
    app.get("/books/:book_id", lambda c: c.text(c.req.param("book_id")))
    assert await status(app, "/books/1?book_id=2") == 200
    assert trace == [1]

    def explicit(book_id: Annotated[int, Query()]) -> None:
        trace.append(book_id)

    app = Kit()
    app.use("/books/*", Depends(explicit))
    app.get("/books/:book_id", lambda c: c.text(c.req.param("book_id")))
    assert await status(app, "/books/1?book_id=2") == 200


async def test_mistakes() -> None:
    app = Kit()

    def untyped(user) -> None:  # type: ignore[no-untyped-def]
        pass

    def wants_path(id: Annotated[int, Path()]) -> None:
        raise AssertionError

    def wants_variable(user: Annotated[User, Var()]) -> None:
        raise AssertionError

    async def middleware(c: Context, next: Next) -> None:
        await next()

    with pytest.raises(TypeError, match="'user' has no annotation"):
        app.use(Depends(untyped))
    with pytest.raises(TypeError, match=r"without a function.*annotation"):
        app.get("/", use=Depends())(lambda c: c.text("passed"))
    with pytest.raises(TypeError, match=r"takes middleware"):
        app.get("/", use=Depends)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"check.*Depends\(check\)"):
        app.get("/", use=require("admin"))
    with pytest.raises(TypeError, match="next"):
        app.use(Depends(middleware))
    assert app.routes == []
    for function, problem in ((wants_path, "doesn't have"), (wants_variable, "provides")):
        broken = Kit()
        broken.use("/x/*", Depends(function))
        broken.get("/x/:id", lambda c: c.text("passed"))
        with pytest.raises(TypeError, match=problem):
            await broken.request("/x/1")


def test_facts() -> None:
    app = Kit()
    app.use("/x/:id", Depends(require("admin")))
    facts = get_facts(app.routes[0].handler)
    assert facts.responses == {400: ValidationProblem}
    assert {*facts.validates} == {"header"}
    assert facts.source.splitlines()[1:] == [
        "user = get_user(x_user)",
        "value = check(user)",
        "Depends(value)",
    ]
