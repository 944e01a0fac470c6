# SPDX-License-Identifier: MIT
"""Dependencies: kinds, caching, exits after the response, and what stands in for them in tests."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import itertools
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from typing import Annotated, Any, Generic, TypeVar

import anyio
import attrs
import msgspec
import pydantic
import pytest

from kit import Context, HTTPException, Kit, Response, in_thread
from kit.interface.metadata import attach, get_facts
from kit.streaming import stream_sse
from kit.typed import Depends, Env, Header, Query, override, typed

T = TypeVar("T")

trace: list[Any] = []


@pytest.fixture(autouse=True)
def _clear() -> None:
    trace.clear()


def plain(q: int = 1) -> int:
    trace.append("plain")
    return q


async def asynchronous(q: int = 1) -> int:
    await anyio.lowlevel.checkpoint()
    return q


def generator(q: int = 1) -> Iterator[int]:
    trace.append("begin generator")
    try:
        yield q
    except BaseException as error:
        trace.append(type(error).__name__)
        raise
    finally:
        trace.append("end generator")


async def async_generator(q: int = 1) -> AsyncIterator[int]:
    trace.append("begin async")
    try:
        yield q
    except BaseException as error:
        trace.append(type(error).__name__)
        raise
    finally:
        await anyio.lowlevel.checkpoint()
        trace.append("end async")


class Manager:
    def __init__(self, q: int = 1) -> None:
        self.q = q

    def __enter__(self) -> int:
        return self.q

    def __exit__(self, *error: object) -> None:
        trace.append("exit")


class AsyncManager(Manager):
    async def __aenter__(self) -> int:
        return self.q

    async def __aexit__(self, *error: object) -> None:
        trace.append("aexit")


class Paging:
    def __init__(self, q: int = 1, limit: int = 10) -> None:
        self.q = q
        self.limit = limit

    def __index__(self) -> int:
        return self.q


class Callme:
    def __call__(self, q: int = 1) -> int:
        return q


class CallmeAsync:
    async def __call__(self, q: int = 1) -> int:
        return q


def returning(q: int = 1) -> AbstractAsyncContextManager[int]:
    return asynccontextmanager(async_generator)(q)


KINDS = [
    plain,
    asynchronous,
    generator,
    async_generator,
    contextmanager(generator),
    asynccontextmanager(async_generator),
    returning,
    Manager,
    AsyncManager,
    Paging,
    Callme(),
    CallmeAsync(),
    Callme().__call__,
    functools.partial(plain),
    functools.partial(asynchronous),
    typed(plain),
]


@pytest.mark.parametrize("scope", ["request", "function"])
@pytest.mark.parametrize(
    "dependency", KINDS, ids=[re.sub(" at 0x[0-9a-f]+", "", repr(each)) for each in KINDS]
)
def test_kinds(run: Any, dependency: Any, scope: Any) -> None:
    app = Kit()

    @app.get("/")
    @typed
    async def endpoint(value: Annotated[Any, Depends(dependency, scope=scope)]) -> str:
        return str(int(value) if not isinstance(value, Paging) else value.q)

    @app.get("/plain")
    @typed
    def plain_endpoint(value: Any = Depends(dependency, scope=scope)) -> str:  # noqa: B008
        return str(int(value) if not isinstance(value, Paging) else value.q)

    async def main() -> None:
        for path in ("/", "/plain"):
            assert await (await app.request(f"{path}?q=3")).json() == "3"
            response = await app.request(f"{path}?q=x")
            assert [each["path"] for each in (await response.json())["errors"]] == ["q"]

    run(main)


async def test_the_annotation_is_the_dependency() -> None:
    app = Kit()

    @app.get("/")
    @typed
    def endpoint(paging: Annotated[Paging, Depends()]) -> list[int]:
        return [paging.q, paging.limit]

    assert await (await app.request("/?limit=4")).json() == [1, 4]


class StructPaging(msgspec.Struct):
    q: int = 1
    limit: Annotated[int, Query("most", ge=2)] = 10


@dataclasses.dataclass
class DataPaging:
    q: int = 1
    limit: Annotated[int, Query("most", ge=2)] = 10


@attrs.define
class AttrsPaging:
    q: int = 1
    limit: Annotated[int, Query("most", ge=2)] = 10


class OwnPaging(DataPaging):
    pass


@pytest.mark.parametrize("kind", [StructPaging, DataPaging, AttrsPaging, OwnPaging])
async def test_classes_with_fields(kind: Any) -> None:
    def endpoint(paging: Annotated[Any, Depends(kind)]) -> list[int]:
        assert isinstance(paging, kind)
        return [paging.q, paging.limit]

    app = Kit().get("/", typed(endpoint))
    assert await (await app.request("/?q=2&most=4&limit=5")).json() == [2, 4]
    assert (await app.request("/?most=1")).status == 400


async def test_called_once_per_request() -> None:
    count = 0

    def counted() -> int:
        nonlocal count
        count += 1
        return count

    def first(n: Annotated[int, Depends(counted)]) -> int:
        return n

    def second(n: Annotated[int, Depends(counted, use_cache=False)]) -> int:
        return n

    app = Kit()

    @app.get("/")
    @typed
    def endpoint(
        a: Annotated[int, Depends(counted)],
        b: Annotated[int, Depends(first)],
        d: Annotated[int, Depends(second)],
        e: Annotated[int, Depends(counted, use_cache=False)],
    ) -> list[int]:
        return [a, b, d, e]

    assert await (await app.request("/")).json() == [1, 1, 2, 3]
    assert await (await app.request("/")).json() == [4, 4, 5, 6]


async def test_parameters_of_dependencies_are_the_endpoint_s() -> None:
    async def user(id: int, authorization: Annotated[str, Header()]) -> str:
        return f"{id} {authorization}"

    def same_name(limit: str = "all") -> str:
        return limit

    app = Kit()

    @app.get("/:id")
    @typed
    def endpoint(
        id: int,
        who: Annotated[str, Depends(user)],
        text: Annotated[str, Depends(same_name)],
        limit: int = 5,
    ) -> list[Any]:
        return [id, who, text, limit]

    response = await app.request("/7", headers={"authorization": "a"})
    assert await response.json() == [7, "7 a", "all", 5]
    response = await app.request("/7?limit=9", headers={"authorization": "a"})
    assert await response.json() == [7, "7 a", "9", 9]
    response = await app.request("/x?limit=y")
    assert [(e["path"], e["target"]) for e in (await response.json())["errors"]] == [
        ("id", "param"),
        ("authorization", "header"),
        ("limit", "query"),
    ]
    validates = get_facts(app.routes[0].handler).validates
    assert {key: kind.__struct_encode_fields__ for key, kind in validates.items()} == {
        "param": ("id",),
        "header": ("authorization",),
        "query": ("limit",),
    }


def app_with_exits(answer: Callable[[Context], Any], scope: Any = "request") -> Kit:
    app = Kit()

    @app.get("/")
    @typed
    async def endpoint(
        c: Context,
        first: Annotated[int, Depends(generator, scope=scope)],
        second: Annotated[int, Depends(async_generator, scope=scope)],
    ) -> Any:
        result = answer(c)
        return await result if hasattr(result, "__await__") else result

    return app


async def serve(app: Kit, *, method: str = "GET") -> None:
    async def receive() -> Any:
        if not sent_request:
            sent_request.append(True)
            return {"type": "http.request", "body": b"", "more_body": False}
        return await anyio.sleep_forever()

    async def send(message: Any) -> None:
        await anyio.lowlevel.checkpoint()
        kind = message["type"].removeprefix("http.response.")
        trace.append(message["status"] if kind == "start" else kind)

    sent_request: list[bool] = []
    scope = {
        "type": "http",
        "method": method,
        "path": "/",
        "raw_path": b"/",
        "root_path": "",
        "query_string": b"",
        "headers": [],
    }
    await app(scope, receive, send)


BEGIN = ["begin generator", "begin async"]
END = ["end async", "end generator"]


def test_exits_run_after_the_response(run: Any) -> None:
    run(serve, app_with_exits(lambda c: {}))
    assert trace == [*BEGIN, 200, "body", *END]


def test_exits_run_after_a_stream(run: Any) -> None:
    async def chunks() -> AsyncIterator[str]:
        yield "a"
        trace.append("streamed")

    run(serve, app_with_exits(lambda c: c.body(chunks())))
    assert trace == [*BEGIN, 200, "body", "streamed", "body", *END]


def test_exits_run_after_server_sent_events(run: Any) -> None:
    async def events(out: Any) -> None:
        await out.write_sse({"data": "a"})
        trace.append("streamed")

    run(serve, app_with_exits(lambda c: stream_sse(c, events)))
    assert trace == [*BEGIN, 200, "body", "streamed", "body", *END]


@pytest.mark.parametrize("error", [KeyError("x"), HTTPException(403)])
def test_exceptions_of_the_endpoint_are_thrown_in(run: Any, error: Exception) -> None:
    def answer(c: Context) -> None:
        raise error

    run(serve, app_with_exits(answer))
    name = type(error).__name__
    status = getattr(error, "status", 500)
    assert trace == [*BEGIN, status, "body", name, END[0], name, END[1]]


def test_exceptions_of_later_dependencies_are_thrown_in(run: Any) -> None:
    def failing() -> int:
        raise HTTPException(401)

    app = Kit()

    @app.get("/")
    @typed
    def endpoint(
        first: Annotated[int, Depends(generator)], second: Annotated[int, Depends(failing)]
    ) -> None:
        raise AssertionError

    run(serve, app)
    assert trace == [BEGIN[0], 401, "body", "HTTPException", END[1]]


def test_exits_run_when_the_request_is_cancelled(run: Any) -> None:
    async def main() -> None:
        async def answer(c: Context) -> None:
            scope.cancel()
            await anyio.sleep_forever()

        with anyio.CancelScope() as scope:
            await serve(app_with_exits(answer))

    run(main)
    assert [each for each in trace if "ancel" not in each] == [*BEGIN, *END]
    assert len(trace) == 6


def test_function_scope_ends_before_the_response_is_sent(run: Any) -> None:
    run(serve, app_with_exits(lambda c: {}, "function"))
    assert trace == [*BEGIN, *END, 200, "body"]
    trace.clear()

    def answer(c: Context) -> None:
        raise HTTPException(409)

    run(serve, app_with_exits(answer, "function"))
    assert trace == [*BEGIN, "HTTPException", END[0], "HTTPException", END[1], 409, "body"]


def test_an_exception_of_a_function_exit_is_the_answer(run: Any) -> None:
    def transaction() -> Iterator[int]:
        yield 1
        raise HTTPException(409)

    app = Kit()

    @app.get("/")
    @typed
    def endpoint(x: Annotated[int, Depends(transaction, scope="function")]) -> int:
        return x

    run(serve, app)
    assert trace == [409, "body"]


async def test_an_exit_of_the_scope_function_that_suppresses_the_exception(
    caplog: pytest.LogCaptureFixture,
) -> None:
    @contextmanager
    def swallowing() -> Iterator[int]:
        try:
            yield 1
        except KeyError:
            trace.append("swallowed")

    app = Kit()

    @app.get("/")
    @typed
    def endpoint(x: Annotated[int, Depends(swallowing, scope="function")]) -> int:
        raise KeyError

    assert (await app.request("/")).status == 500
    assert "suppressed an exception, so there is no response" in str(
        caplog.records[0].exc_info and caplog.records[0].exc_info[1]
    )


async def test_in_process_exits_run_too() -> None:
    app = app_with_exits(lambda c: {})
    await app.request("/")
    assert trace == [*BEGIN, *END]
    trace.clear()
    response = await app_with_exits(lambda c: c.body(iter(["a"]))).request("/")
    assert trace == BEGIN
    assert await response.text() == "a"
    assert trace == [*BEGIN, *END]


async def test_mixed_scopes() -> None:
    def needs(x: Annotated[int, Depends(generator)]) -> Iterator[int]:
        yield x
        trace.append("end inner")

    app = Kit()

    @app.get("/")
    @typed
    async def endpoint(
        x: Annotated[int, Depends(needs, scope="function")],
        y: Annotated[int, Depends(async_generator)],
    ) -> Response:
        trace.append("endpoint")
        raise HTTPException(400)

    await app.request("/")
    assert trace[:3] == [*BEGIN, "endpoint"]


async def get_pool(dsn: Annotated[str, Env()], q: int = 0) -> AsyncIterator[str]:
    yield f"{dsn} {q}"
    trace.append("closed")


def get_user(pool: Annotated[str, Depends(get_pool)]) -> str:
    return f"user of {pool}"


async def test_override() -> None:
    app = Kit()
    sub = Kit()

    @sub.get("/sub")
    @typed
    def in_sub(pool: Annotated[str, Depends(get_pool)]) -> str:
        return pool

    @app.get("/user")
    @typed
    def endpoint(user: Annotated[str, Depends(get_user)]) -> str:
        return user

    @app.get("/other")
    @typed
    def other() -> str:
        return "other"

    app.route("/", sub)
    env = {"dsn": "real"}

    async def ask(path: str, **options: Any) -> Any:
        return await (await app.request(path, env=env, **options)).json()

    assert await ask("/user") == "user of real 0"
    with override(app, {get_pool: lambda: "fake"}):
        assert await ask("/user") == "user of fake"
        assert await ask("/sub") == "fake"
        assert await ask("/other") == "other"

        async def with_parameters(token: Annotated[str, Query()] = "none") -> AsyncIterator[str]:
            yield token
            trace.append("fake closed")

        with override(app, {get_pool: with_parameters}):
            assert await ask("/user?token=t") == "user of t"
            assert trace == ["closed", "fake closed"]
            with override(app, {get_user: lambda: "ada"}):
                assert await ask("/user") == "ada"
                assert await ask("/sub") == "none"
        assert await ask("/sub") == "fake"
    assert await ask("/user?q=3") == "user of real 3"


@pytest.mark.parametrize("is_async", [True, False])
async def test_override_by_a_function_of_another_kind(is_async: bool) -> None:
    async def asynchronous() -> str:
        return "async"

    def plain_name() -> str:
        return "plain"

    given, other = (asynchronous, plain_name) if is_async else (plain_name, asynchronous)
    app = Kit()

    @app.get("/")
    @typed
    def endpoint(name: Annotated[str, Depends(given)]) -> str:
        return name

    expected = ["async", "plain"] if is_async else ["plain", "async"]
    assert await (await app.request("/")).json() == expected[0]
    with override(app, {given: other}):
        assert await (await app.request("/")).json() == expected[1]
    assert await (await app.request("/")).json() == expected[0]


def test_wrong_overrides() -> None:
    app = Kit().get("/", typed(get_user))
    with (
        pytest.raises(LookupError, match=r"^override\(\) was given .*, which no route uses$"),
        override(app, {plain: plain}),
    ):
        pass

    def needs_body(body: dict[str, int]) -> str:
        return ""

    with pytest.raises(TypeError, match="a JSON body"), override(app, {get_pool: needs_body}):
        pass


def test_guards_among_dependencies_are_needed_together() -> None:
    bearer = {"type": "http", "scheme": "bearer"}
    basic = {"type": "http", "scheme": "basic"}
    key = {"type": "apiKey", "in": "header", "name": "x-key"}

    def user() -> str:
        return ""

    def client() -> str:
        return ""

    def flag() -> str:
        return ""

    attach(user, security=[bearer, basic])
    attach(client, security=key)

    app = Kit()

    @app.get("/")
    @typed
    def endpoint(
        a: Annotated[str, Depends(user)],
        b: Annotated[str, Depends(client)],
        c: Annotated[str, Depends(flag)],
    ) -> None: ...

    assert get_facts(app.routes[0].handler).security == ((bearer, key), (basic, key))

    def guarded(b: Annotated[str, Depends(client)]) -> None: ...

    app.get("/own", typed(attach(guarded, security=bearer)))
    assert get_facts(app.routes[1].handler).security == ((bearer, key),)


def test_facts_of_dependencies() -> None:
    bearer = {"type": "http", "scheme": "bearer"}

    def guard() -> str:
        return ""

    attach(guard, responses={401: "Unauthorized"}, security=bearer)

    def inner(x: Annotated[str, Depends(guard)]) -> str:
        return x

    app = Kit()

    @app.get("/")
    @typed
    def endpoint(x: Annotated[str, Depends(inner)]) -> dict[str, int]:
        return {}

    facts = get_facts(app.routes[0].handler)
    assert facts.responses == {401: "Unauthorized", 200: dict[str, int]}
    assert facts.security == (bearer,)
    assert facts.validates == {}
    assert inner in facts.others["typed_calls"]


async def test_a_plain_function_has_no_scope_of_its_own() -> None:
    def short() -> Iterator[int]:
        trace.append("begin")
        yield 1
        trace.append("end")

    def between(x: Annotated[int, Depends(short, scope="function")]) -> int:
        trace.append("between")
        return x + 1

    @typed
    def endpoint(
        x: Annotated[int, Depends(between)],
        y: Annotated[int, Depends(between, scope="function")],
    ) -> int:
        return x + y

    response = await Kit().get("/", endpoint).request("/")
    assert await response.json() == 4
    assert trace == ["begin", "between", "end"]


def test_what_ends_early_is_found_behind_plain_functions() -> None:
    def between(x: Annotated[int, Depends(generator, scope="function")]) -> int:
        return x

    def long(x: Annotated[int, Depends(between)]) -> Iterator[int]:
        yield x

    def endpoint(a: Annotated[int, Depends(between)], b: Annotated[int, Depends(long)]) -> int:
        return a + b

    with pytest.raises(TypeError, match=r"^@typed .*long .*'x' has the scope 'function', so it"):
        Kit().get("/", typed(endpoint))


async def test_awaitables_of_plain_functions_run_before_the_exit_of_the_scope_function() -> None:
    def short() -> Iterator[int]:
        yield 1
        trace.append("end")

    async def later() -> str:
        trace.append("run")
        return "done"

    @typed
    def endpoint(x: Annotated[int, Depends(short, scope="function")]) -> Any:
        return later()

    response = await Kit().get("/", endpoint).request("/")
    assert await response.json() == "done"
    assert trace == ["run", "end"]


class ModelOfFactories(pydantic.BaseModel):
    q: int = 1
    x: list[int] = pydantic.Field(default_factory=lambda: [next(numbers)], alias="X")


class StructOfFactories(msgspec.Struct):
    q: int = 1
    X: list[int] = msgspec.field(default_factory=lambda: [next(numbers)])


@dataclasses.dataclass
class DataOfFactories:
    q: int = 1
    X: list[int] = dataclasses.field(default_factory=lambda: [next(numbers)])


@attrs.define
class AttrsOfFactories:
    q: int = 1
    X: list[int] = attrs.field(factory=lambda: [next(numbers)])


numbers = itertools.count()


@pytest.mark.parametrize(
    "kind", [ModelOfFactories, StructOfFactories, DataOfFactories, AttrsOfFactories]
)
@pytest.mark.parametrize("wrap", [lambda each: each, functools.partial])
async def test_classes_whose_defaults_are_made(kind: Any, wrap: Any) -> None:
    def endpoint(it: Any) -> list[Any]:
        return [it.q, it.x if kind is ModelOfFactories else it.X]

    endpoint.__annotations__["it"] = Annotated[kind, Depends(wrap(kind))]
    app = Kit().get("/", typed(endpoint))
    assert await (await app.request("/?X=7&X=8")).json() == [1, [7, 8]]
    one, two = [await (await app.request("/?q=5")).json() for _ in range(2)]
    assert one[0] == two[0] == 5
    assert one[1][0] < two[1][0]


def test_defaults_that_are_made_from_other_fields() -> None:
    class Model(pydantic.BaseModel):
        a: int = 1
        b: int = pydantic.Field(default_factory=lambda data: data["a"])

    def endpoint(it: Any) -> None: ...

    endpoint.__annotations__["it"] = Annotated[Model, Depends()]
    with pytest.raises(TypeError, match=r"the default of 'b' is made from other fields: read all"):
        typed(endpoint)


@dataclasses.dataclass
class Unhashable:
    role: str

    def __call__(self, q: int = 1) -> str:
        trace.append(self.role)
        return f"{self.role} {q}"


async def test_dependencies_without_a_hash() -> None:
    admin = Unhashable("admin")

    @typed
    def endpoint(
        a: Annotated[str, Depends(admin)],
        b: Annotated[str, Depends(admin)],
        other: Annotated[str, Depends(Unhashable("admin"))],
    ) -> list[str]:
        return [a, b, other]

    response = await Kit().get("/", endpoint).request("/?q=2")
    assert await response.json() == ["admin 2"] * 3
    assert trace == ["admin"] * 2


async def test_no_client_changes_what_a_partial_passes() -> None:
    def who(name: str, is_admin: bool, limit: int = 5) -> list[Any]:
        return [name, is_admin, limit]

    app = Kit().get("/", typed(functools.partial(who, is_admin=False)))
    response = await app.request("/?name=ada&is_admin=true&limit=7")
    assert await response.json() == ["ada", False, 7]


def passing(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(*arguments: Any, **named: Any) -> Any:
        return function(*arguments, **named)

    return wrapper


def collecting(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(*arguments: Any, **named: Any) -> Any:
        return [*function(*arguments, **named)]

    return wrapper


@pytest.mark.parametrize("scope", ["request", "function"])
async def test_decorated_generators(scope: Any) -> None:
    log: list[str] = []

    def numbers(x: int) -> Iterator[int]:
        yield x
        log.append("plain")

    async def numbers_later(x: int) -> AsyncIterator[int]:
        yield x
        log.append("async")

    def endpoint(**values: Any) -> Any:
        return [*values.values()]

    parameters = {
        "one": Annotated[int, Depends(passing(passing(numbers)), scope=scope)],
        "two": Annotated[int, Depends(passing(numbers_later), scope=scope)],
        "three": Annotated[list[int], Depends(collecting(numbers), scope=scope)],
    }
    endpoint.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation)
            for name, annotation in parameters.items()
        ]
    )
    response = await Kit().get("/", typed(endpoint)).request("/?x=1")
    assert await response.json() == [1, 1, [1]]
    assert log == ["plain", "async", "plain"]  # the first one in `collecting`


def test_generators_in_threads_are_refused() -> None:
    @in_thread
    def numbers() -> Iterator[int]:
        yield 1

    def endpoint(x: Annotated[int, Depends(numbers)]) -> None: ...

    problem = (
        "it is an async function around a generator, such as that of @in_thread, so its value "
        "would be the generator: write an async generator, and call in_thread(function)() in it "
        "for what blocks"
    )
    for function in (endpoint, numbers):
        with pytest.raises(TypeError, match=re.escape(problem)):
            typed(function)


class Repository(Generic[T]):
    def __init__(self, x: int) -> None:
        self.x = x


async def test_a_generic_class_with_its_arguments() -> None:
    def endpoint(repository: Annotated[Any, Depends(Repository[str])]) -> Any:
        return repository.x

    assert await (await Kit().get("/", typed(endpoint)).request("/?x=1")).json() == 1


async def test_an_override_that_depends_on_what_it_replaces() -> None:
    def real() -> str:
        return "real"

    def decorated(name: Annotated[str, Depends(real)]) -> str:
        return f"[{name}]"

    def endpoint(name: Annotated[str, Depends(real)]) -> str:
        return name

    app = Kit().get("/", typed(endpoint))
    problem = r"decorated .*: it replaces a dependency in override\(\), but depends on it itself$"
    with pytest.raises(TypeError, match=problem), override(app, {real: decorated}):
        pass
    assert await (await app.request("/")).json() == "real"
