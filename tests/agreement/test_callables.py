# SPDX-License-Identifier: MIT
"""Every option that takes a function: what it returns is awaited, or refused, whatever its shape.

For each option of each package, the plain function shows what should happen. A lambda that calls an
async function, a partial, an object, a mock or a function that returns a task has to do the same;
or, where nothing can be awaited, it is an error, at registration if the shape is known to be async.
"""

from __future__ import annotations

import asyncio
import functools
import gc
import inspect
import json
import logging
import sys
import types
import unittest.mock
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator
from contextlib import asynccontextmanager
from typing import Annotated, Any, NamedTuple

import msgspec
import pytest
from anyio import sleep_forever
from callable_options import callable_options
from jinja2 import DictLoader
from jwt_keys import jwk_of, private_key
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client import CollectorRegistry
from prometheus_client.openmetrics.exposition import generate_latest

from kit import Context, HTTPException, Kit, Request, Response, in_thread
from kit.accepts import accepts
from kit.asgi import from_asgi, from_wsgi
from kit.basic_auth import basic_auth
from kit.bearer_auth import bearer_auth
from kit.body_limit import body_limit
from kit.cache import cache
from kit.combine import every, except_, some
from kit.compress import compress
from kit.cors import cors
from kit.csrf import csrf
from kit.etag import etag
from kit.factory import create_factory, create_middleware
from kit.health import health
from kit.interface import ProblemError
from kit.ip_restriction import ip_restriction
from kit.jwk import KeySource, jwk, verify_with_jwks
from kit.jwt import jwt, sign
from kit.language import language_detector
from kit.logger import access_log, logger
from kit.mcp import mcp
from kit.method_not_allowed import method_not_allowed
from kit.metrics import metrics
from kit.oidc import oauth2, oidc
from kit.oidc.testing import TestProvider
from kit.opentelemetry import opentelemetry
from kit.problem_details import problem_details
from kit.rate_limit import MemoryStore, rate_limit
from kit.request_id import request_id
from kit.secure_headers import secure_headers
from kit.serve_static import serve_static
from kit.session import get_session, require_user, session
from kit.session.stores import MemoryStore as SessionMemory
from kit.streaming import stream, stream_sse, stream_text
from kit.templates import templates
from kit.testing import test_client as client_of
from kit.timeout import timeout
from kit.timing import timing
from kit.trailing_slash import append_trailing_slash
from kit.typed import Depends, override, typed
from kit.validator import validator
from kit.websocket import WSEvents, upgrade_websocket

# --- the shapes -----------------------------------------------------------------------------------

Run = Callable[..., Any]


def of_arity(count: int, run: Run) -> Any:
    """A plain function with exactly so many parameters."""
    return (
        lambda: run(),
        lambda a: run(a),
        lambda a, b: run(a, b),
        lambda a, b, c: run(a, b, c),
    )[count]


def async_of_arity(count: int, run: Run) -> Any:
    async def none() -> Any:
        return run()

    async def one(a: Any) -> Any:
        return run(a)

    async def two(a: Any, b: Any) -> Any:
        return run(a, b)

    async def three(a: Any, b: Any, c: Any) -> Any:
        return run(a, b, c)

    return (none, one, two, three)[count]


def decorated(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return wrapper


def partial_of(count: int, run: Run) -> Any:
    later = async_of_arity(count, run)

    async def with_more(more: str, /, *args: Any) -> Any:
        return await later(*args)

    with_more.__signature__ = inspect.signature(  # type: ignore[attr-defined]
        (
            None,
            lambda more: None,
            lambda more, a: None,
            lambda more, a, b: None,
            lambda more, a, b, c: None,
        )[count + 1]
    )
    return functools.partial(with_more, "more")


def object_of(count: int, run: Run) -> Any:
    later = async_of_arity(count, run)

    class Callables:
        class Nothing:
            async def __call__(self) -> Any:
                return await later()

        class One:
            async def __call__(self, a: Any) -> Any:
                return await later(a)

        class Two:
            async def __call__(self, a: Any, b: Any) -> Any:
                return await later(a, b)

        class Three:
            async def __call__(self, a: Any, b: Any, c: Any) -> Any:
                return await later(a, b, c)

    return (Callables.Nothing, Callables.One, Callables.Two, Callables.Three)[count]()


def method_of(count: int, run: Run) -> Any:
    return type(object_of(count, run)).__call__.__get__(object_of(count, run))


class Later:
    """An awaitable that is no coroutine."""

    def __init__(self, run: Run, *args: Any) -> None:
        self._work = (run, args)

    def __await__(self) -> Generator[Any, Any, Any]:
        yield from asyncio.sleep(0).__await__()
        run, args = self._work
        return run(*args)


@types.coroutine
def generator_based(run: Run, *args: Any) -> Generator[Any, Any, Any]:
    yield from asyncio.sleep(0).__await__()
    return run(*args)


async def coroutine_of(run: Run, *args: Any) -> Any:
    await asyncio.sleep(0)
    return run(*args)


def future_of(run: Run, *args: Any) -> asyncio.Future[Any]:
    future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    future.set_result(run(*args))
    return future


def task_of(run: Run, *args: Any) -> asyncio.Task[Any]:
    return asyncio.get_running_loop().create_task(coroutine_of(run, *args))


def returning(later: Callable[..., Any]) -> Callable[[int, Run], Any]:
    return lambda count, run: of_arity(count, lambda *args: later(run, *args))


SHAPES: dict[str, Callable[[int, Run], Any]] = {
    "async def": async_of_arity,
    "lambda of an async function": returning(coroutine_of),
    "async behind a plain decorator": lambda n, run: decorated(async_of_arity(n, run)),
    "partial of an async function": partial_of,
    "object with async __call__": object_of,
    "bound async method": method_of,
    "Mock": lambda n, run: unittest.mock.Mock(side_effect=run),
    "Mock of a function": lambda n, run: unittest.mock.Mock(spec=of_arity(n, run), side_effect=run),
    "Mock of an async function": lambda n, run: unittest.mock.Mock(
        spec=async_of_arity(n, run), side_effect=run
    ),
    "AsyncMock": lambda n, run: unittest.mock.AsyncMock(side_effect=run),
    "autospec of an async function": lambda n, run: unittest.mock.create_autospec(
        async_of_arity(n, run), side_effect=run
    ),
    "returns a Future": returning(future_of),
    "returns a Task": returning(task_of),
    "returns an object with __await__": returning(Later),
    "returns a coroutine of types.coroutine": returning(generator_based),
    "async, returns a coroutine": lambda n, run: async_of_arity(
        n, lambda *args: coroutine_of(run, *args)
    ),
}
KNOWN_TO_BE_ASYNC = (
    "async def",
    "partial of an async function",
    "object with async __call__",
    "bound async method",
    "Mock of an async function",
    "AsyncMock",
    "async, returns a coroutine",
    # Which says that it is async since then.
    *(["autospec of an async function"] if sys.version_info >= (3, 13) else []),
)
PLAIN_SHAPES = ("Mock", "Mock of a function")


# --- what a user sees -----------------------------------------------------------------------------


async def seen(app: Any, path: str = "/", *, env: Any = None, **init: Any) -> str:
    """Status, headers and body of a response."""
    response = await app.request(path, init, env)
    headers = {
        name: value
        for name, value in response.headers.items()
        if name.lower() not in ("date", "server-timing", "content-length")
    }
    timed = " timed" if "server-timing" in response.headers else ""
    return f"{response.status}{timed} {headers} {await response.text()}"


def guarded(middleware: Any, handler: Any = lambda c: c.text("inside")) -> Kit[Any, Any]:
    app: Kit[Any, Any] = Kit()
    app.use(middleware)
    app.all("/*", handler)
    return app


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


BASIC = {"authorization": "Basic YWRhOnB3"}  # ada:pw
SECRET = "s3cret" * 10
TOKEN = sign({"sub": "ada"}, SECRET)


# --- the options ----------------------------------------------------------------------------------


class Option(NamedTuple):
    """How to use an option.

    Attributes:
        name: The option, as `callable_options` names it, and a part of it in brackets.
        arity: The number of arguments of its function.
        results: What the function returns, for one run each; functions make new objects.
        ask: Uses a function, and returns what a user sees.
        is_plain: Whether nothing can await its result.
        is_async: Whether it has to be async.
        in_handler: Whether it is given while a request is handled, so a mistake is a 500.
        skips: Shapes that can't work there.
    """

    name: str
    arity: int
    results: tuple[Any, ...]
    ask: Callable[[Any], Awaitable[str]]
    is_plain: bool = False
    is_async: bool = False
    in_handler: bool = False
    skips: tuple[str, ...] = ()


OPTIONS: list[Option] = []


def option(
    name: str,
    arity: int,
    *results: Any,
    plain: bool = False,
    only_async: bool = False,
    in_handler: bool = False,
    skips: tuple[str, ...] = (),
) -> Callable[[Callable[[Any], Awaitable[str]]], None]:
    def add(ask: Callable[[Any], Awaitable[str]]) -> None:
        OPTIONS.append(Option(name, arity, results, ask, plain, only_async, in_handler, skips))

    return add


def made(make: Callable[[], Any]) -> Any:
    """Marks a result that is made for each call."""
    return Made(make)


class Made(NamedTuple):
    make: Callable[[], Any]


def simply(name: str, arity: int, *results: Any, via: Callable[[Any], Any], **asked: Any) -> None:
    """Adds an option of middleware that one request shows."""

    async def ask(function: Any) -> str:
        return await seen(guarded(via(function)), **asked)

    OPTIONS.append(Option(name, arity, results, ask))


response = made(lambda: Response("told", status=418))

# kit-basic-auth, kit-bearer-auth
simply(
    "kit.basic_auth:basic_auth(verify_user)",
    3,
    True,
    False,
    via=lambda f: basic_auth(verify_user=f),
    headers=BASIC,
)
simply(
    "kit.basic_auth:basic_auth(hash_function)",
    1,
    "same",
    None,
    via=lambda f: basic_auth(username="ada", password="pw", hash_function=f),
    headers=BASIC,
)
simply(
    "kit.basic_auth:basic_auth(invalid_user_message)",
    1,
    "no",
    {"no": 1},
    response,
    via=lambda f: basic_auth(username="ada", password="pw", invalid_user_message=f),
)


simply(
    "kit.basic_auth:basic_auth(on_auth_success)",
    2,
    None,
    via=lambda f: basic_auth(username="ada", password="pw", on_auth_success=f),
    headers=BASIC,
)
simply(
    "kit.bearer_auth:bearer_auth(verify_token)",
    2,
    True,
    None,
    via=lambda f: bearer_auth(verify_token=f),
    headers=bearer("x"),
)
simply(
    "kit.bearer_auth:bearer_auth(hash_function)",
    1,
    "same",
    None,
    via=lambda f: bearer_auth(token="x", hash_function=f),
    headers=bearer("x"),
)
for key, headers in (
    ("no_authentication_header", {}),
    ("invalid_authentication_header", {"authorization": "?"}),
    ("invalid_token", bearer("y")),
):
    simply(
        f"kit.bearer_auth:bearer_auth({key})",
        1,
        "no",
        {"no": 1},
        response,
        via=lambda f, key=key: bearer_auth(token="x", **{key: {"message": f}}),
        headers=headers,
    )
    simply(
        f"kit.bearer_auth:bearer_auth({key})[www_authenticate_header]",
        1,
        "Own",
        {"a": "b"},
        via=lambda f, key=key: bearer_auth(token="x", **{key: {"www_authenticate_header": f}}),
        headers=headers,
    )

# kit-jwt
simply(
    "kit.jwt:jwt(is_revoked)",
    2,
    True,
    False,
    via=lambda f: jwt(secret=SECRET, alg="HS256", is_revoked=f),
    headers=bearer(TOKEN),
)
simply(
    "kit.jwt:jwt(load)",
    2,
    "ada",
    None,
    via=lambda f: jwt(secret=SECRET, alg="HS256", load=f).required,
    headers=bearer(TOKEN),
)
KEY = private_key("ES256")
SIGNED = sign({"sub": "ada"}, KEY, "ES256", header={"kid": "1"})
KEYS = [jwk_of(KEY.public_key(), kid="1")]
URI = "https://issuer.example/jwks.json"


def by_jwk(**options: Any) -> Any:
    return jwk(alg="ES256", **options)


simply("kit.jwk:jwk(keys)", 1, KEYS, [], via=lambda f: by_jwk(keys=f), headers=bearer(SIGNED))
simply(
    "kit.jwk:jwk(fetch)",
    1,
    KEYS,
    {"keys": KEYS},
    headers=bearer(SIGNED),
    via=lambda f: by_jwk(jwks_uri=URI, fetch=f),
)
simply(
    "kit.jwk:jwk(jwks_uri)",
    1,
    URI,
    headers=bearer(SIGNED),
    via=lambda f: by_jwk(jwks_uri=f, fetch=lambda uri: KEYS),
)
simply(
    "kit.jwk:jwk(is_revoked)",
    2,
    True,
    False,
    headers=bearer(SIGNED),
    via=lambda f: by_jwk(keys=KEYS, is_revoked=f),
)
simply(
    "kit.jwk:jwk(load)",
    2,
    "ada",
    None,
    headers=bearer(SIGNED),
    via=lambda f: by_jwk(keys=KEYS, load=f).required,
)


@option("kit.jwk:verify_with_jwks(fetch)", 1, KEYS)
async def _(function: Any) -> str:
    return str(
        await verify_with_jwks(SIGNED, jwks_uri=URI, allowed_algorithms="ES256", fetch=function)
    )


@option("kit.jwk:KeySource(fetch)", 1, KEYS)
async def _(function: Any) -> str:
    return str(await KeySource(jwks_uri=URI, fetch=function).verifier("ES256")(SIGNED, None))


@option("kit.jwk:KeySource(jwks_uri)", 1, URI)
async def _(function: Any) -> str:
    source = KeySource(jwks_uri=function, fetch=lambda uri: KEYS)
    return str(await source.verifier("ES256")(SIGNED, None))


# kit-oidc
async def after_login(login: Any, **answer: Any) -> str:
    """The responses of the callback, and of a page behind the login."""
    app: Kit[Any, Any] = Kit()
    app.use(session(store=SessionMemory()))
    login.register(app)
    app.get("/me", login.required, lambda c: c.text(str(c.get("user"))))
    with TestProvider(login) as provider:
        provider.faults.authorization_response = answer
        async with client_of(app) as client:
            back = await provider.log_in(client)
            page = await client.get("/me")
            return f"{back.status} {await back.text()} {page.status} {await page.text()}"


def by_oidc(**options: Any) -> Any:
    return oidc(issuer="https://issuer.example", client_id="a", client_secret="b", **options)


def by_oauth2(**options: Any) -> Any:
    return oauth2(
        **{
            "issuer": "https://issuer.example",
            "authorization_endpoint": "https://issuer.example/authorize",
            "token_endpoint": "https://issuer.example/token",
            "fetch_claims": lambda get: {"sub": "ada"},
            "client_id": "a",
            "client_secret": "b",
            **options,
        }
    )


for make in (by_oidc, by_oauth2):
    kind = make.__name__.removeprefix("by_")
    option(f"kit.oidc:{kind}(load)", 2, "ada", None)(
        lambda f, make=make: after_login(make(load=f))  # type: ignore[misc]
    )
    option(f"kit.oidc:{kind}(on_login)", 2, None, response)(
        # The user has a random claim, so that a page says only that there is one.
        lambda f, make=make: after_login(make(on_login=f, load=lambda user, c: user.sub))  # type: ignore[misc]
    )
    option(f"kit.oidc:{kind}(on_error)", 2, response)(
        lambda f, make=make: after_login(make(on_error=f), code=None, error="access_denied")  # type: ignore[misc]
    )
option("kit.oidc:oauth2(fetch_claims)", 1, {"sub": "ada"})(
    lambda f: after_login(by_oauth2(fetch_claims=f))
)

# Guards
simply(
    "kit.body_limit:body_limit(on_error)",
    1,
    response,
    via=lambda f: body_limit(max_size=1, on_error=f),
    method="POST",
    body="long",
)
simply("kit.combine:some(middleware)", 1, True, False, via=lambda f: some(f))
simply("kit.combine:every(middleware)", 1, True, False, via=lambda f: every(f))
simply(
    "kit.combine:except_(condition)",
    1,
    True,
    False,
    via=lambda f: except_(f, basic_auth(username="a", password="b")),
)
simply("kit.combine:except_(middleware)", 1, True, False, via=lambda f: except_("/public", f))
CROSS = {"origin": "https://other.example", "content-type": "text/plain"}
simply(
    "kit.csrf:csrf(origin)",
    2,
    True,
    False,
    via=lambda f: csrf(origin=f),
    method="POST",
    headers=CROSS,
)
simply(
    "kit.csrf:csrf(sec_fetch_site)",
    2,
    True,
    False,
    via=lambda f: csrf(sec_fetch_site=f),
    method="POST",
    headers={**CROSS, "sec-fetch-site": "cross-site"},
)
simply(
    "kit.cors:cors(origin)",
    2,
    "https://other.example",
    None,
    via=lambda f: cors(origin=f),
    headers=CROSS,
)
simply(
    "kit.cors:cors(allow_methods)",
    2,
    ["PUT"],
    via=lambda f: cors(allow_methods=f),
    method="OPTIONS",
    headers={**CROSS, "access-control-request-method": "PUT"},
)
simply(
    "kit.ip_restriction:ip_restriction(get_ip)",
    1,
    "192.0.2.1",
    "192.0.2.2",
    via=lambda f: ip_restriction(f, allow_list=["192.0.2.1"]),
)
simply(
    "kit.ip_restriction:ip_restriction(allow_list)",
    1,
    True,
    False,
    via=lambda f: ip_restriction(lambda c: "192.0.2.1", allow_list=[f]),
)
simply(
    "kit.ip_restriction:ip_restriction(deny_list)",
    1,
    True,
    False,
    via=lambda f: ip_restriction(lambda c: "192.0.2.1", deny_list=[f]),
)
simply(
    "kit.ip_restriction:ip_restriction(rules)",
    1,
    True,
    False,
    via=lambda f: ip_restriction(lambda c: "192.0.2.1", {"deny_list": [f]}),
)
simply(
    "kit.ip_restriction:ip_restriction(on_error)",
    2,
    response,
    via=lambda f: ip_restriction(lambda c: "192.0.2.1", deny_list=["*"], on_error=f),
)
option("kit.timeout:timeout(exception)", 1, made(lambda: HTTPException(503, "late")))(
    lambda f: seen(guarded(timeout(0.001, f), lambda c: sleep_forever()))
)


@option("kit.session:require_user(on_missing)", 1, response)
async def _(function: Any) -> str:
    app: Kit[Any, Any] = Kit()
    app.use(session("s" * 32), require_user(on_missing=function))
    app.get("/", lambda c: c.text("inside"))
    return await seen(app)


class Cart(msgspec.Struct):
    items: list[int] = []


@option("kit.session:get_session(on_invalid)", 1, made(Cart), plain=True, in_handler=True)
async def _(function: Any) -> str:
    async def read(c: Context) -> Response:
        found = await get_session(c, Cart, on_invalid=function)
        return c.text(str(found.data.items))

    async def write(c: Context) -> Response:
        (await get_session(c))["items"] = "no list"
        return c.text("")

    app: Kit[Any, Any] = Kit()
    app.use(session("s" * 32))
    app.get("/", read)
    app.post("/", write)
    cookie = (await app.request("/", {"method": "POST"})).headers["set-cookie"].partition(";")[0]
    response = await app.request("/", {"headers": {"cookie": cookie}})
    return f"{response.status} {await response.text()}"


@option("kit.session:Session.update(function)", 1, None, plain=True, in_handler=True)
async def _(function: Any) -> str:
    async def change(c: Context) -> Response:
        (await get_session(c)).update(function)
        return c.text("changed")

    app: Kit[Any, Any] = Kit()
    app.use(session("s" * 32))
    app.get("/", change)
    return await seen(app)


# Limits and caches
def exhausted(on_limit: Any) -> Any:
    limit = rate_limit("1/minute", key=lambda c: "k", on_limit=on_limit)
    return every(limit, limit)


def limited(**options: Any) -> Any:
    return rate_limit("2/minute", **{"key": lambda c: "k", **options})


simply("kit.rate_limit:rate_limit(key)", 1, "ada", None, via=lambda f: limited(key=f))
simply("kit.rate_limit:rate_limit(cost)", 1, 1, 2, via=lambda f: limited(cost=f))
simply("kit.rate_limit:rate_limit(exempt)", 1, True, False, via=lambda f: limited(exempt=f))
simply(
    "kit.rate_limit:rate_limit(on_limit)",
    2,
    response,
    via=exhausted,
)
option("kit.rate_limit:MemoryStore(clock)", 0, 1.0, plain=True)(
    lambda f: seen(guarded(limited(store=MemoryStore(clock=f))))
)


@option("kit.cache:cache(cache_name)", 1, "pages")
async def _(function: Any) -> str:
    app = cached(cache_name=function)
    return await seen(app) + await seen(app)


@option("kit.cache:cache(key_generator)", 1, "key")
async def _(function: Any) -> str:
    app = cached(key_generator=function)
    return await seen(app, "/?a") + await seen(app, "/?b")


@option("kit.cache:cache(clock)", 0, 1_700_000_000.0, plain=True)
async def _(function: Any) -> str:
    return await seen(cached(clock=function))


def cached(**options: Any) -> Kit[Any, Any]:
    numbers = iter(range(9))
    handler = lambda c: c.text(str(next(numbers)))  # noqa: E731
    return guarded(cache(cache_control="max-age=60", **options), handler)


# Headers and content
simply("kit.etag:etag(generate_digest)", 1, b"digest", None, via=lambda f: etag(generate_digest=f))
LONG = "text " * 1000


def compressed(**options: Any) -> Any:
    return compress(encodings=["gzip"], **options)


for name, arity in (("content_type_filter", 1), ("skip", 1)):
    option(f"kit.compress:compress({name})", arity, True, False)(
        lambda f, name=name: seen_encoding(guarded(compressed(**{name: f}), lambda c: c.text(LONG)))
    )


async def seen_encoding(app: Any) -> str:
    got = await app.request("/", {"headers": {"accept-encoding": "gzip"}})
    return f"{got.status} {got.headers.get('content-encoding')}"


simply(
    "kit.language:language_detector(convert_detected_language)",
    1,
    "de",
    "xx",
    via=lambda f: language_detector(supported_languages=["en", "de"], convert_detected_language=f),
    headers={"accept-language": "fr"},
)
simply("kit.request_id:request_id(generator)", 1, "id-1", via=lambda f: request_id(generator=f))
for name in ("content_security_policy", "content_security_policy_report_only"):
    simply(
        f"kit.secure_headers:secure_headers({name})",
        2,
        "'self'",
        via=lambda f, name=name: secure_headers(**{name: {"default_src": [f], "report_to": ["x"]}}),
    )
simply("kit.timing:timing(enabled)", 1, True, False, via=lambda f: timing(enabled=f))
simply(
    "kit.timing:timing(cross_origin)",
    1,
    "https://a.example",
    None,
    via=lambda f: timing(cross_origin=f),
)
option("kit.trailing_slash:append_trailing_slash(skip)", 1, True, plain=True)(
    lambda f: seen(routed(append_trailing_slash(skip=f)), "/x")
)


def routed(middleware: Any) -> Kit[Any, Any]:
    app: Kit[Any, Any] = Kit()
    app.use(middleware)
    app.get("/x/", lambda c: c.text("x"))
    return app


@option("kit.method_not_allowed:method_not_allowed(on_method_not_allowed)", 2, response)
async def _(function: Any) -> str:
    app: Kit[Any, Any] = Kit()
    app.use(method_not_allowed(app=app, on_method_not_allowed=function))
    app.get("/", lambda c: c.text("inside"))
    return await seen(app, method="POST")


# Observers
def said(name: str) -> list[str]:
    lines: list[str] = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(self.format(record))

    logging.getLogger(name).handlers[:] = [Handler()]
    return lines


option("kit.logger:logger(fn)", 1, None, plain=True)(lambda f: seen(guarded(logger(f))))


# A mock has the methods of a logger.
@option("kit.logger:access_log(to)", 1, None, plain=True, skips=("Mock", "AsyncMock"))
async def _(function: Any) -> str:
    lines = said("kit")
    text = await seen(guarded(access_log(to=function)))
    return "500" if lines else text


@option("kit.logger:access_log(fields)", 1, {"user": "ada"})
async def _(function: Any) -> str:
    lines: list[str] = []
    await seen(guarded(access_log(to=lines.append, fields=function)))
    return str('"user":"ada"' in lines[0])


@option("kit.logger:access_log(exclude)", 1, True, False)
async def _(function: Any) -> str:
    lines: list[str] = []
    await seen(guarded(access_log(to=lines.append, exclude=function)))
    return str(len(lines))


async def counted(**options: Any) -> str:
    registry = CollectorRegistry()
    app = guarded(metrics(registry=registry, **options))
    await seen(app)
    text = generate_latest(registry).decode()
    lines = [line for line in text.splitlines() if line.startswith("http_requests_total")]
    return str([line.rpartition(" ")[0] if "# {" in line else line for line in lines])


option("kit.metrics:metrics(labels)", 1, "acme", None)(lambda f: counted(labels={"tenant": f}))
option("kit.metrics:metrics(exclude)", 1, True, False)(lambda f: counted(exclude=f))
option("kit.metrics:metrics(exemplars)", 1, {"trace_id": "1"}, None)(lambda f: counted(exemplars=f))


async def traced(**options: Any) -> str:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    app = guarded(opentelemetry(provider, **options))
    await seen(app, headers={"traceparent": f"00-{'1' * 32}-{'2' * 16}-01"})
    spans = exporter.get_finished_spans()
    return str([span.parent is not None for span in spans])


option("kit.opentelemetry:opentelemetry(exclude)", 1, True, False)(lambda f: traced(exclude=f))
option("kit.opentelemetry:opentelemetry(trust_incoming)", 1, True, False)(
    lambda f: traced(trust_incoming=f)
)


# A check runs in a thread, which has no event loop, unless it is known to be async.
@option("kit.health:health(checks)", 1, None, skips=("returns a Future", "returns a Task"))
async def _(function: Any) -> str:
    response = await guarded(health({"database": function})).request("/readyz")
    return str(response.status)


# Files and pages
def files(**options: Any) -> Any:
    return serve_static(**{"get_content": lambda path, c: f"content of {path}", **options})


simply(
    "kit.serve_static:serve_static(get_content)",
    2,
    "text",
    None,
    via=lambda f: files(get_content=f),
    path="/a.txt",
)
simply(
    "kit.serve_static:serve_static(is_dir)",
    1,
    True,
    False,
    via=lambda f: files(is_dir=f),
    path="/a",
)
simply(
    "kit.serve_static:serve_static(cache_control)",
    1,
    "no-cache",
    None,
    via=lambda f: files(cache_control=f),
    path="/a.txt",
)
simply(
    "kit.serve_static:serve_static(rewrite_request_path)",
    1,
    "/b.txt",
    via=lambda f: files(rewrite_request_path=f),
    path="/a.txt",
)
simply(
    "kit.serve_static:serve_static(on_found)",
    2,
    None,
    via=lambda f: files(on_found=f),
    path="/a.txt",
)
simply(
    "kit.serve_static:serve_static(on_not_found)",
    2,
    None,
    via=lambda f: files(get_content=lambda path, c: None, on_not_found=f),
    path="/a.txt",
)
simply(
    "kit.serve_static:serve_static(join)", 2, "b.txt", via=lambda f: files(join=f), path="/a.txt"
)
simply(
    "kit.serve_static:serve_static(path_resolve)",
    1,
    "b.txt",
    via=lambda f: files(path_resolve=f),
    path="/a.txt",
)


def paged(text: str, **options: Any) -> Kit[Any, Any]:
    app: Kit[Any, Any] = Kit()
    app.use(templates(loader=DictLoader({"page.html": text}), **options))
    app.get("/", lambda c: c.render("page.html"))
    return app


option("kit.templates:templates(context)", 1, {"name": "ada"})(
    lambda f: seen(paged("{{ name }}", context=f))
)
option("kit.templates:templates(filters)", 1, "ada")(
    lambda f: seen(paged("{{ 'x' | f }}", filters={"f": f}, enable_async=True))
)
option("kit.templates:templates(filters)[plain]", 1, "ada", plain=True)(
    lambda f: seen(paged("{{ 'x' | f }}", filters={"f": f}))
)
option("kit.templates:templates(tests)", 1, True, False, plain=True)(
    lambda f: seen(paged("{{ 'yes' if 'x' is f else 'no' }}", tests={"f": f}))
)
option("kit.templates:templates(globals)", 0, "ada", plain=True)(
    lambda f: seen(paged("{{ f() }}", globals={"f": f}))
)


# The core
def routing(path: str) -> Kit[Any, Any]:
    app: Kit[Any, Any] = Kit()
    app.get(path, lambda c: c.text("inside"))
    return app


@option("kit:Kit(get_path)", 1, "/other", plain=True)
async def _(function: Any) -> str:
    app: Kit[Any, Any] = Kit(get_path=function)
    app.get("/other", lambda c: c.text("other"))
    return await seen(app)


@option("kit:Kit(encoders)", 1, "told", {"told": 1}, plain=True)
async def _(function: Any) -> str:
    app: Kit[Any, Any] = Kit(encoders={complex: function})
    return await seen(app.get("/", lambda c: c.json([1j])))


@option("kit:Kit(decoders)", 1, 1j, plain=True)
async def _(function: Any) -> str:
    app: Kit[Any, Any] = Kit(decoders={complex: function})
    return await seen(app.get("/", lambda c: c.text(str(c.req.query("a", complex)))), "/?a=1j")


@option("kit.factory:create_factory(init_app)", 1, None, plain=True)
async def _(function: Any) -> str:
    app = create_factory(function).create_app()
    app.get("/", lambda c: c.text("made"))
    return await seen(app)


def core(name: str, arity: int, *results: Any) -> Any:
    """Adds an option for which the decorated function prepares an app."""

    def add(prepare: Callable[[Kit[Any, Any], Any], Any]) -> None:
        async def ask(function: Any) -> str:
            app: Kit[Any, Any] = Kit()
            prepare(app, function)
            return await seen(app)

        OPTIONS.append(Option(name, arity, results, ask))

    return add


def fail(c: Context) -> Response:
    raise ValueError("broken")


core("kit:Kit.on(handlers)", 1, response)(lambda app, f: app.on("GET", "/", f))
core("kit:Kit.on(handler)", 1, response)(lambda app, f: app.on("GET", "/")(f))
core("kit:Kit.on(use)", 2, response)(lambda app, f: app.on("GET", "/", fail, use=[f]))
core("kit:Kit.get", 1, response)(lambda app, f: app.get("/", f))
core("kit:Kit.use(middleware)", 2, response)(lambda app, f: app.use(f))
core("kit:Kit.use(more)", 2, response)(lambda app, f: app.use(lambda c, n: n(), f))
core("kit:Kit.use(use)", 2, response)(lambda app, f: app.use("/*", f))
core("kit:Kit.not_found(handler)", 1, response)(lambda app, f: app.not_found(f))
core("kit:Kit.on_error(handler)", 2, response)(lambda app, f: (app.get("/", fail), app.on_error(f)))
core("kit:Kit.mount(application_handler)", 1, response)(
    lambda app, f: app.mount("/", f, option_handler=lambda c: [])
)
core("kit:Kit.mount(option_handler)", 1, ["a"])(
    lambda app, f: app.mount("/", lambda request, a: Response(a), option_handler=f)
)
core("kit:Kit.mount(replace_request)", 1, made(lambda: Request("https://a.example/b")))(
    lambda app, f: app.mount("/", lambda request, *a: Response(request.url), replace_request=f)
)
core("kit.factory:create_middleware(middleware)", 2, response)(
    lambda app, f: app.use(create_middleware(f))
)
core("kit.factory:Factory.create_middleware(middleware)", 2, response)(
    lambda app, f: app.use(create_factory().create_middleware(f))
)
core("kit.factory:Factory.create_handlers(handlers)", 1, response)(
    lambda app, f: app.get("/", *create_factory().create_handlers(f))
)
core("kit.validator:validator(fn_or_type)", 2, {"a": 1}, response)(
    lambda app, f: app.get("/", validator("query", f), lambda c: c.json(c.req.valid("query")))
)


@option("kit:Context.set_renderer(renderer)", 1, response)
async def _(function: Any) -> str:
    async def render(c: Context, next: Any) -> None:
        c.set_renderer(function)
        await next()

    return await seen(guarded(render, lambda c: c.render("x")))


@option("kit:Context.add_cleanup(cleanup)", 1, None, True)
async def _(function: Any) -> str:
    def handler(c: Context) -> Response:
        c.add_cleanup(lambda error: lines.append(str(error)))
        c.add_cleanup(function)
        raise ValueError("broken")

    lines: list[str] = []
    app: Kit[Any, Any] = Kit()
    app.get("/", handler)
    return await seen(app) + str(lines)


@option("kit:Context.execution_ctx.wait_until", 0, None)
async def _(function: Any) -> str:
    def handler(c: Context) -> Response:
        work = function()
        if hasattr(type(work), "__await__") or isinstance(work, types.GeneratorType):
            c.execution_ctx.wait_until(work)
        return c.text("")

    return await served(handler)


async def served(handler: Any) -> str:
    """Calls an app as a server does, until the work after the response has ended."""
    app: Kit[Any, Any] = Kit()
    app.get("/", handler)
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request"}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": []}
    await app(scope, receive, send)
    return str(sent[0]["status"])


@option("kit:Context.after_success(function)", 0, None)
async def _(function: Any) -> str:
    def handler(c: Context) -> Response:
        c.after_success(function)
        return c.text("")

    return await served(handler)


@option("kit:Kit.format_errors(function)", 2, made(lambda: HTTPException(418)), None, plain=True)
async def _(function: Any) -> str:
    return await seen(Kit[Any, Any]().get("/", fail).format_errors(function))


@option(
    "kit.problem_details:problem_details(types)", 2, made(lambda: ProblemError(418)), plain=True
)
async def _(function: Any) -> str:
    app: Kit[Any, Any] = Kit().get("/", fail)
    problem_details(app, types={ValueError: function})
    return await seen(app)


@option(
    "kit:KitRequest.limit_body(refuse)",
    0,
    made(lambda: ValueError("large")),
    plain=True,
    in_handler=True,
)
async def _(function: Any) -> str:
    async def read(c: Context) -> Response:
        c.req.limit_body(1, function)
        try:
            await c.req.text()
        except ValueError as error:
            return c.text(str(error))
        return c.text("read")

    app: Kit[Any, Any] = Kit()
    app.post("/", read)
    return await seen(app, method="POST", body="long")


@option("kit.accepts:accepts(match)", 2, "de")
async def _(function: Any) -> str:
    async def handler(c: Context) -> Response:
        found: Any = accepts(c, "Accept-Language", ["de"], "en", function)
        while not isinstance(found, str):
            found = await found
        return c.text(found)

    return await seen(guarded(handler), headers={"accept-language": "de"})


@option("kit:Kit(lifespan)", 1, made(lambda: yielding()), plain=True)
async def _(function: Any) -> str:
    app: Kit[Any, Any] = Kit(lifespan=function)
    app.get("/", lambda c: c.text(str(c.env["db"])))
    async with app.running():
        return await seen(app)


@asynccontextmanager
async def yielding() -> AsyncIterator[dict[str, str]]:
    yield {"db": "pool"}


# Streams and sockets
class Told(NamedTuple):
    """A first argument that a function of a test gets."""


for name, make in (("stream", stream), ("stream_text", stream_text), ("stream_sse", stream_sse)):
    option(f"kit.streaming:{name}(callback)", 1, None, only_async=True)(
        lambda f, make=make: seen(guarded_by(lambda c: make(c, f)))
    )
    option(f"kit.streaming:{name}(on_error)", 2, None)(lambda f, make=make: broken_stream(make, f))


def guarded_by(handler: Any) -> Kit[Any, Any]:
    app: Kit[Any, Any] = Kit()
    app.get("/", handler)
    return app


async def broken_stream(make: Any, on_error: Any) -> str:
    async def write(api: Any) -> None:
        raise ValueError("broken")

    try:
        return await seen(guarded_by(lambda c: make(c, write, on_error)))
    except Exception as error:
        return type(error).__name__


async def talk(handler: Any, **options: Any) -> str:
    app: Kit[Any, Any] = Kit()
    app.get("/ws", upgrade_websocket(handler, **options))
    lines = said("kit")
    async with client_of(app) as client:
        try:
            async with client.ws("/ws", headers={"origin": "https://other.example"}) as ws:
                await ws.send("hello")
                await ws.close()
        except Exception as error:
            return type(error).__name__
    return str(lines)


option("kit.websocket:upgrade_websocket(origins)", 2, True, False)(
    lambda f: talk(converse, origins=f)
)
option("kit.websocket:upgrade_websocket(handler)", 2, None, only_async=True)(
    lambda f: talk(f, origins="*")
)
# What takes any arguments is a handler (c, ws).
option(
    "kit.websocket:upgrade_websocket(create_events)",
    1,
    made(lambda: WSEvents()),
    skips=("Mock", "Mock of a function", "Mock of an async function", "AsyncMock"),
)(lambda f: talk(f, origins="*"))
for name in ("on_open", "on_message", "on_close"):
    option(f"kit.websocket:WSEvents({name})", 2, None)(
        lambda f, name=name: talk(lambda c: {name: f}, origins="*")
    )
option("kit.websocket:WSEvents(on_error)", 2, None)(
    lambda f: talk(lambda c: {"on_message": broken_event, "on_error": f}, origins="*")
)


async def converse(c: Context, ws: Any) -> None:
    async for _ in ws:
        pass


def broken_event(event: Any, ws: Any) -> None:
    raise ValueError("broken")


# Dependencies
def dependency() -> Any:
    return "real"


core("kit.typed:Depends(dependency)", 0, "ada", None)(lambda app, f: app.get("/", endpoint_of(f)))
core("kit.typed:Depends(dependency)[scope]", 0, "ada", None)(
    lambda app, f: app.get("/", endpoint_of(f, scope="function"))
)


@option("kit.typed:override(dependencies)", 0, "ada", None)
async def _(function: Any) -> str:
    app: Kit[Any, Any] = Kit()
    app.get("/", endpoint_of(dependency))
    with override(app, {dependency: function}):
        text = await seen(app)
    assert "real" in await seen(app)
    return text


@option("kit.typed:typed(function)", 0, {"a": 1}, response)
async def _(function: Any) -> str:
    app: Kit[Any, Any] = Kit()
    app.get("/", typed(function))
    return await seen(app)


def endpoint_of(function: Any, **options: Any) -> Any:
    @typed
    def endpoint(value: Annotated[Any, Depends(function, **options)]) -> Any:
        return {"value": value}

    return endpoint


# MCP
@option("kit.mcp:mcp(identify)", 1, "ada")
async def _(function: Any) -> str:
    app: Kit[Any, Any] = Kit()
    mcp(app, stateless=False, json_response=True, identify=function)
    parameters = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": parameters}
    async with app.running():
        got = await app.request(
            "/mcp",
            {
                "method": "POST",
                "body": json.dumps(message),
                "headers": {
                    "content-type": "application/json",
                    "accept": "application/json, text/event-stream",
                    "mcp-protocol-version": "2025-06-18",
                },
            },
        )
        return f"{got.status} {'mcp-session-id' in got.headers}"


# --- the table ------------------------------------------------------------------------------------


async def outcome(each: Option, shape: Any, result: Any) -> tuple[str, bool]:
    """What a user sees with a function of a shape, and whether the function has run."""
    calls = []

    def run(*args: Any) -> Any:
        calls.append(args)
        return result.make() if isinstance(result, Made) else result

    text = await each.ask(shape(each.arity, run))
    return text, bool(calls)


@pytest.mark.parametrize("each", OPTIONS, ids=lambda each: each.name)
async def test_every_shape_of_function_does_the_same(each: Option) -> None:
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        faults = []
        for result in each.results:
            reference = async_of_arity if each.is_async else of_arity
            expected = await outcome(each, reference, result)
            assert expected[1], "the function isn't called: this tests nothing"
            for name, shape in SHAPES.items():
                if name in each.skips or (each.is_async and name in PLAIN_SHAPES):
                    continue
                try:
                    got = await outcome(each, shape, result)
                except (TypeError, ValueError) as error:
                    got = (f"refused: {error}", False)
                if not each.is_plain or name in PLAIN_SHAPES:
                    is_right = got == expected
                elif name in KNOWN_TO_BE_ASYNC and not each.in_handler:
                    is_right = got[0].startswith("refused")
                else:
                    is_right = got[0].startswith(("refused", "500"))
                if not is_right:
                    faults.append(f"{name} -> {result}: {got}, expected {expected}")
        gc.collect()
    faults += [str(each.message) for each in warned if "awaited" in str(each.message)]
    assert not faults, "\n".join(faults)


# --- generators -----------------------------------------------------------------------------------


# What they yield is used.
MAY_YIELD = (
    "cors(allow_methods)",
    "serve_static(get_content)",
    "templates(filters)",
    "templates(globals)",
)


def yields(*args: Any) -> Iterator[Any]:
    yield True


async def yields_later(*args: Any) -> AsyncIterator[Any]:
    yield True


@pytest.mark.parametrize(
    "each",
    [each for each in OPTIONS if not each.name.startswith(("kit:", "kit.typed", "kit.streaming"))],
    ids=lambda each: each.name,
)
@pytest.mark.parametrize("function", [yields, yields_later], ids=lambda each: each.__name__)
async def test_a_generator_function_is_refused_or_an_error(each: Option, function: Any) -> None:
    """None of its code would run, and its result is always true."""
    allowed = (await outcome(each, of_arity, each.results[0]))[0]
    for shape in (lambda count, run: function, lambda count, run: of_arity(count, function)):
        try:
            got = (await outcome(each, shape, None))[0]
        except Exception:  # refused
            continue
        assert got != allowed


# --- what has rules of its own --------------------------------------------------------------------


@pytest.mark.parametrize("name", SHAPES)
async def test_in_thread(name: str) -> None:
    """A function that is known to be async is refused; the awaitable of another one is awaited.

    A mock takes any arguments, so also `next`, which is refused.
    """
    function = SHAPES[name](1, lambda c: Response("told", status=418))
    if name in (*KNOWN_TO_BE_ASYNC, *PLAIN_SHAPES):
        with pytest.raises(TypeError, match=r"takes a (plain function|handler)"):
            in_thread(function)
    elif not name.startswith(("returns a Future", "returns a Task")):  # a thread has no loop
        app: Kit[Any, Any] = Kit()
        app.get("/", in_thread(function))
        assert (await app.request("/")).status == 418


async def asgi(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 418, "headers": []})
    await send({"type": "http.response.body", "body": b"told"})


@pytest.mark.parametrize(
    "application",
    [
        decorated(asgi),
        functools.partial(asgi),
        lambda scope, receive, send: asgi(scope, receive, send),
        lambda scope, receive, send: task_of(lambda: asgi(scope, receive, send)),
        lambda scope, receive, send: Later(lambda: asgi(scope, receive, send)),
    ],
)
async def test_asgi_applications(application: Any) -> None:
    app: Kit[Any, Any] = Kit()
    app.mount("/", from_asgi(application))
    got = await app.request("/")
    assert (got.status, await got.text()) == (418, "told")


async def test_wsgi_applications_cannot_be_async() -> None:
    async def application(environ: Any, start_response: Any) -> list[bytes]:
        return [b"never"]

    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        for shape in (application, lambda e, s: application(e, s)):
            try:
                app: Kit[Any, Any] = Kit()
                app.mount("/", from_wsgi(shape))
            except TypeError:
                continue
            assert (await app.request("/")).status == 500
        gc.collect()
    assert not [str(each.message) for each in warned if "awaited" in str(each.message)]


# What takes a function, but isn't an option of the kind above.
_TOOL = "a tool for packages: they give it functions of their own"
_SAME = "the same option as that of the factory that makes it"
_OF_DOCUMENT = "plain, called while the document is built; others are refused"
_ASGI = "an ASGI application"
_LINKED = "a registered handler, which a link doesn't call"
NOT_IN_THE_TABLE = {
    "kit.asgi:AsgiHandler(app)": _SAME,
    "kit.asgi:AsgiHandler(wsgi_app)": _SAME,
    "kit.asgi:AsgiMiddleware(create)": _SAME,
    "kit.asgi:asgi_middleware(middleware)": "returns an ASGI application, anything else is refused",
    "kit.openapi:build_document(exclude)": _OF_DOCUMENT,
    "kit.openapi:build_document(include)": _OF_DOCUMENT,
    "kit.openapi:build_document(transform)": _OF_DOCUMENT,
    "kit.openapi:openapi(exclude)": _OF_DOCUMENT,
    "kit.openapi:openapi(include)": _OF_DOCUMENT,
    "kit.openapi:openapi(transform)": _OF_DOCUMENT,
    "kit.serving:serve_rest(next)": _TOOL,
    "kit.testing:sync_test_client(app)": _ASGI,
    "kit.testing:test_client(app)": _ASGI,
    "kit.asgi:WsgiApplication(app)": _SAME,
    "kit.asgi:from_asgi(asgi_app)": "an application, see test_asgi_applications",
    "kit.asgi:from_wsgi(wsgi_app)": "an application, see test_wsgi_applications_cannot_be_async",
    "kit.asgi:to_wsgi(asgi_app)": "an application, see test_asgi_applications",
    "kit.channels.testing:BackendConformance.run(test)": _TOOL,
    "kit.channels:Subscription(enter)": _TOOL,
    "kit.channels:Subscription(leave)": _TOOL,
    "kit.concurrency:ResumableRead(start)": _TOOL,
    "kit.rsgi:serve(app)": _TOOL,
    "kit.rsgi:start_lifespan(app)": _TOOL,
    "kit.factory:Factory(default_app_options)": "options of Kit",
    "kit.factory:Factory(init_app)": _SAME,
    "kit.factory:Factory.create_app(options)": "options of Kit",
    "kit.factory:create_factory(default_app_options)": "options of Kit",
    "kit.authoring.codecs:TypeCodecs(decoders)": "options of Kit",
    "kit.authoring.codecs:TypeCodecs(encoders)": "options of Kit",
    "kit.authoring.bodies:read_within(current)": _TOOL,
    "kit.authoring.bodies:read_within(enter)": _TOOL,
    "kit.authoring.maybe_await:call(function)": _TOOL,
    "kit.authoring.tasks:DetachedTask(on_end)": _TOOL,
    "kit.authoring.tasks:DetachedTask(work)": _TOOL,
    "kit.authoring.tasks:start_task(work)": _TOOL,
    "kit.http.conditional:evaluate(get)": _TOOL,
    "kit.http.conditional:range_applies(get)": _TOOL,
    "kit.authoring.credentials:compare_by_hash_function(hash_function)": _SAME,
    "kit.authoring.request_var:RequestVar.run(next)": _TOOL,
    "kit.authoring.models:with_defaults(load)": _TOOL,
    "kit.authoring.recursive_types:with_parts(hook)": _TOOL,
    "kit.authoring.whole_numbers:decode_again(decode)": _TOOL,
    "kit.authoring.numerals:checked(load)": _TOOL,
    "kit.authoring.instrumentation:Observation(report)": _TOOL,
    "kit.authoring.instrumentation:unless(excludes)": _TOOL,
    "kit.authoring.instrumentation:unless(middleware)": _TOOL,
    "kit.authoring.options:OptionChecks.redis(from_url)": _TOOL,
    "kit.authoring.options:OptionChecks.redis(of_client)": _TOOL,
    "kit.authoring.redis:PerLoop(create)": _TOOL,
    "kit.interface:RouterRoute(handler)": "a handler, registered before",
    "kit.jwt:CurrentUser(optional)": _SAME,
    "kit.jwt:CurrentUser(required)": _SAME,
    "kit.lifespan:Lifespan(open)": _TOOL,
    "kit.lifespan:Lifespan.mount(open)": _TOOL,
    "kit.oidc.testing:Faults(id_token)": "a tool for tests",
    "kit.pages:NumberedPage.map(function)": "plain, as that of map()",
    "kit.pages:Page.map(function)": "plain, as that of map()",
    "kit.proxy:proxy(options)": "`headers`, which the package tests plain and async",
    "kit.proxy:reverse_proxy(options)": "the same option as that of proxy",
    "kit.session.testing:SessionStoreConformance.run(test)": _TOOL,
    "kit.session:Session(on_invalid)": _SAME,
    "kit.streaming:SSEStreamingApi.on_abort(callback)": "called like the callback of a stream",
    "kit.templates:Templates(context)": _SAME,
    "kit.typed:Socket(encode)": _TOOL,
    "kit.typed:Typed(function)": _SAME,
    "kit.websocket:Handshake(receive)": _TOOL,
    "kit.websocket:Handshake(send)": _TOOL,
    "kit.websocket:WebSocket(receive)": _TOOL,
    "kit.websocket:WebSocket(send)": _TOOL,
    "kit.websocket:Handshake.accept(conversation)": _TOOL,
    "kit.websocket:Handshake.accept(on_refusal)": _TOOL,
    "kit.websocket:Handshake.end_with(on_end)": _TOOL,
    "kit.websocket:upgrade_websocket(options)": "each of them is in the table",
    "kit:in_thread(handler)": "see test_in_thread",
    "kit:Context.path_to(handler)": _LINKED,
    "kit:Kit.link(handlers)": _LINKED,
    "kit:Kit.path_to(handler)": _LINKED,
    "kit.context_storage:path_to(handler)": _LINKED,
}


def test_the_table_has_every_option_of_every_package() -> None:
    known = {each.name.partition("[")[0] for each in OPTIONS}
    assert {*callable_options()} - known - {*NOT_IN_THE_TABLE} == set()
    assert {*NOT_IN_THE_TABLE} <= {*callable_options()}
