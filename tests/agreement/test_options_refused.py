# SPDX-License-Identifier: MIT
"""Every option of every public factory looks at its value: one of a wrong type is refused at once.

The table is found, not written: all that the public modules of all packages export, and every
parameter with a default. An option that is added is in it, and fails here if it takes anything.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_origin

import pytest
from workspace import ROOT

from kit import Context, Kit, Response
from kit.oidc.providers import google
from kit.session.stores import MemoryStore

PACKAGES = ROOT / "packages"


class Wrong:
    """Fits no option: it isn't callable, can't be iterated, and has no truth to rely on."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<wrong>"


def an_app() -> Any:
    return Kit().get("/", lambda c: c.text("x"))


async def a_context() -> Any:
    found: list[Any] = []

    def handler(c: Context) -> Response:
        found.append(c)
        return c.text("x")

    await Kit().get("/", handler).request("/")
    return found[0]


CONTEXT = asyncio.run(a_context())


async def an_asgi_app(scope: Any, receive: Any, send: Any) -> None: ...


async def callback(stream: Any) -> None: ...


SECRET = "s" * 32
ISSUER = "https://id.example"
# The arguments that a factory needs before it looks at an option.
GIVEN: dict[str, Callable[[], tuple[tuple[Any, ...], dict[str, Any]]]] = {
    "kit.URL": lambda: (("http://x/",), {}),
    "kit.File": lambda: (([], "a"), {}),
    "kit.Request": lambda: (("http://x/",), {"method": "POST"}),
    "kit.accepts.accepts": lambda: (
        (CONTEXT,),
        {"header": "accept", "supports": ["text/plain"], "default": "text/plain"},
    ),
    "kit.Blob": lambda: ((), {}),
    "kit.asgi.from_asgi": lambda: ((an_asgi_app,), {}),
    "kit.asgi.from_wsgi": lambda: ((lambda environ, start_response: [],), {}),
    "kit.asgi.to_wsgi": lambda: ((an_asgi_app,), {}),
    "kit.basic_auth.basic_auth": lambda: ((), {"username": "ada", "password": "pw"}),
    "kit.bearer_auth.bearer_auth": lambda: ((), {"token": "t"}),
    "kit.body_limit.body_limit": lambda: ((1,), {}),
    "kit.cache.redis.RedisStore": lambda: (("redis://127.0.0.1",), {}),
    "kit.cache.sqlite.SQLiteStore": lambda: (("cache.db",), {}),
    "kit.channels.RedisBackend": lambda: (("redis://127.0.0.1",), {}),
    "kit.cookie.get_cookie": lambda: ((CONTEXT,), {}),
    "kit.cookie.get_signed_cookie": lambda: ((CONTEXT, SECRET), {}),
    "kit.cookie.parse_cookies": lambda: (("a=b",), {}),
    "kit.dev.show_routes": lambda: ((an_app(),), {}),
    "kit.jwk.KeySource": lambda: ((), {"jwks_uri": "https://x.example/jwks"}),
    "kit.jwk.jwk": lambda: ((), {"jwks_uri": "https://x.example/jwks", "alg": ["RS256"]}),
    "kit.jwt.jwt": lambda: ((), {"secret": SECRET, "alg": "HS256"}),
    "kit.jwt.sign": lambda: (({}, SECRET), {}),
    "kit.jwt.verify": lambda: (("t", SECRET), {"alg": "HS256"}),
    "kit.mcp.mcp": lambda: ((an_app(),), {}),
    "kit.method_not_allowed.method_not_allowed": lambda: ((), {"app": an_app()}),
    "kit.method_override.method_override": lambda: ((), {"app": an_app()}),
    "kit.oidc.access_token": lambda: ((), {"issuer": ISSUER, "audience": "a"}),
    "kit.oidc.logins": lambda: ((google(client_id="a", client_secret="b"),), {}),
    "kit.oidc.oauth2": lambda: (
        (),
        {
            "issuer": ISSUER,
            "authorization_endpoint": f"{ISSUER}/authorize",
            "token_endpoint": f"{ISSUER}/token",
            "fetch_claims": lambda get: {},
            "client_id": "a",
            "client_secret": "b",
        },
    ),
    "kit.oidc.oidc": lambda: ((), {"issuer": ISSUER, "client_id": "a", "client_secret": "b"}),
    "kit.oidc.protected_resource": lambda: (
        (an_app(),),
        {"resource": "https://api.example", "issuer": ISSUER},
    ),
    "kit.oidc.providers.github": lambda: ((), {"client_id": "a", "client_secret": "b"}),
    "kit.oidc.providers.gitlab": lambda: ((), {"client_id": "a", "client_secret": "b"}),
    "kit.oidc.providers.google": lambda: ((), {"client_id": "a", "client_secret": "b"}),
    "kit.oidc.providers.microsoft": lambda: (
        (),
        {"client_id": "a", "client_secret": "b", "tenant": "common"},
    ),
    "kit.openapi.asyncapi": lambda: ((an_app(),), {}),
    "kit.openapi.build_asyncapi": lambda: ((an_app(),), {}),
    "kit.openapi.build_document": lambda: ((an_app(),), {}),
    "kit.openapi.openapi": lambda: ((an_app(),), {}),
    "kit.pages.cursor_pages": lambda: ((MemoryStore,), {"key": "get"}),
    "kit.pages.numbered_pages": lambda: ((MemoryStore,), {"key": "get"}),
    "kit.problem_details.problem_details": lambda: ((an_app(),), {}),
    "kit.proxy.proxy": lambda: ((CONTEXT, "http://backend/"), {}),
    "kit.proxy.reverse_proxy": lambda: (("http://backend/",), {}),
    "kit.rate_limit.RedisStore": lambda: (("redis://127.0.0.1",), {}),
    "kit.rate_limit.rate_limit": lambda: (("100/minute",), {}),
    "kit.serve_static.send_file": lambda: ((CONTEXT, "a"), {}),
    "kit.serve_static.serve_static": lambda: ((), {"root": str(Path(__file__).parent)}),
    "kit.session.redis.RedisStore": lambda: (("redis://127.0.0.1",), {}),
    "kit.session.session": lambda: ((), {"secret": SECRET}),
    "kit.session.sqlite.SQLiteStore": lambda: (("sessions.db",), {}),
    "kit.streaming.stream": lambda: ((CONTEXT, callback), {}),
    "kit.streaming.stream_sse": lambda: ((CONTEXT, callback), {}),
    "kit.streaming.stream_text": lambda: ((CONTEXT, callback), {}),
    "kit.templates.templates": lambda: ((), {"directory": str(Path(__file__).parent)}),
    "kit.testing.sync_test_client": lambda: ((an_app(),), {}),
    "kit.testing.test_client": lambda: ((an_app(),), {}),
    "kit.timeout.timeout": lambda: ((1,), {}),
    "kit.route.base_path": lambda: ((CONTEXT,), {}),
    "kit.route.base_route_path": lambda: ((CONTEXT,), {}),
    "kit.route.route_path": lambda: ((CONTEXT,), {}),
    "kit.session.revoke_sessions": lambda: ((MemoryStore(), "ada"), {}),
    "kit.timing.end_timer": lambda: ((CONTEXT, "a"), {}),
    "kit.timing.set_metric": lambda: ((CONTEXT, "a"), {"value": 1.0}),
    "kit.timing.start_timer": lambda: ((CONTEXT, "a"), {}),
}
# The factories that look at an option instead of the one that they otherwise use.
INSTEAD = {
    "kit.jwk.jwk.keys": lambda: ((), {"alg": ["RS256"]}),
    "kit.serve_static.serve_static.package": lambda: ((), {}),
    "kit.serve_static.serve_static.directory": lambda: ((), {"package": "kit"}),
    "kit.serve_static.serve_static.root": lambda: ((), {}),
    "kit.templates.templates.loader": lambda: ((), {}),
    "kit.bearer_auth.bearer_auth.verify_token": lambda: ((), {}),
    "kit.basic_auth.basic_auth.verify_user": lambda: ((), {}),
    "kit.timing.set_metric.value": lambda: ((CONTEXT, "a"), {}),
}
# Errors never show these.
SECRET_VALUES = {"kit.jwk.KeySource.keys", "kit.jwk.jwk.keys"}
# What isn't in the table, and why: a module (with a dot at its end), a name, or an option.
LEFT_OUT = {
    "kit.authoring.": "tools for packages, whose callers are typed; OptionChecks is tested itself",
    "kit.http.": "functions for any program, whose callers are typed",
    "kit.interface.": "what third parties build on, whose callers are typed",
    "kit.router.patterns.": "tools for routers, whose callers are typed",
    "kit.router.route_patterns.": "tools for apps, whose callers are typed",
    "kit.router.path_matcher": "takes patterns alone, which tests/test_path_matcher.py refuses",
    "kit.router.testing.": "the suite for authors of routers",
    "kit.lifespan.": "made by apps",
    "kit.Context": "made by apps",
    "kit.KitRequest": "made by apps; its `match_result` is whatever a router returns",
    "kit.asgi.AsgiHandler": "made by from_asgi and from_wsgi, which check",
    "kit.cache.Variants": "what a store keeps",
    "kit.context_storage.path_to": "works within a request, as its own tests show",
    "kit.conninfo.RemoteAddress": "the address that a server reports",
    "kit.conninfo.": "what servers report",
    "kit.oidc.User": "made by logins",
    "kit.oidc.testing.": "tools for tests, whose callers are typed",
    "kit.openapi.AppOperation": "what app_operations returns",
    "kit.pages.NumberedPage": "made by paginate",
    "kit.pages.NumberedPageRequest": "made by numbered_pages",
    "kit.pages.Page": "made by paginate",
    "kit.pages.PageRequest": "made by cursor_pages",
    "kit.proxy.ReverseProxy": "made by reverse_proxy, which checks",
    "kit.session.Session": "made by the middleware",
    "kit.session.get_session": "reads what the middleware has made",
    "kit.session.stores.SessionRecord": "what a store keeps",
    "kit.streaming.SSEStreamingApi": "made by stream_sse",
    "kit.testing.SyncTestClient": "made by sync_test_client, which checks",
    "kit.validator.schemas.": "tools for packages",
    "kit.websocket.Handshake": "made by apps",
    "kit.websocket.WebSocket": "made by apps",
    "kit.websocket.ReadyState": "an enum",
    "kit.language.detect_from_cookie": "called with each request, by functions with types",
    "kit.language.detect_from_header": "the same",
    "kit.language.detect_from_path": "the same",
    "kit.language.detect_from_query": "the same",
    "kit.secure_headers.NONCE": "called by the middleware",
    "kit.typed.dishka.": "the marker is dishka's",
    "kit.typed.ServerSentEvent.data": "any value is sent as JSON",
    "kit.basic_auth.basic_auth.invalid_user_message": "any value is sent as JSON",
    "kit.serve_static.safe_segments": "called for each request, by packages",
    "kit.timing.wrap_time": "takes an awaitable; its options are those of set_metric",
    "kit.jwk.verify_with_jwks": "checks with a token, in a test of its own",
}


def modules() -> Iterator[str]:
    for source in sorted(PACKAGES.glob("*/src")):
        for file in sorted(source.rglob("*.py")):
            parts = file.relative_to(source).with_suffix("").parts
            parts = parts[:-1] if parts[-1] == "__init__" else parts
            if not any(part.startswith("_") for part in parts):
                yield ".".join(parts)


def is_left_out(name: str) -> bool:
    return any(name == each or (each.endswith(".") and name.startswith(each)) for each in LEFT_OUT)


def factories() -> dict[str, Any]:
    found: dict[int, tuple[str, Any]] = {}
    for module in modules():
        imported = importlib.import_module(module)
        for name in getattr(imported, "__all__", ()):
            made = getattr(imported, name)
            is_error = isinstance(made, type) and issubclass(made, BaseException)
            is_type = isinstance(made, type) and getattr(made, "_is_protocol", False)
            if callable(made) and get_origin(made) is None and not (is_error or is_type):
                found.setdefault(id(made), (f"{module}.{name}", made))
    return {name: made for name, made in found.values() if not is_left_out(name)}


def options() -> Iterator[tuple[str, Any, str]]:
    for name, made in factories().items():
        with contextlib.suppress(ValueError, TypeError):  # no signature
            for parameter in inspect.signature(made).parameters.values():
                has_default = parameter.default is not parameter.empty
                is_named = parameter.kind in (
                    parameter.KEYWORD_ONLY,
                    parameter.POSITIONAL_OR_KEYWORD,
                )
                if has_default and is_named and not is_left_out(f"{name}.{parameter.name}"):
                    yield name, made, parameter.name


def nothing() -> tuple[tuple[Any, ...], dict[str, Any]]:
    return (), {}


def call(made: Any, *arguments: Any, **keywords: Any) -> None:
    """Calls a factory, or a function that may be async."""
    result = made(*arguments, **keywords)
    if inspect.iscoroutine(result):
        asyncio.run(result)


TABLE = [*options()]


def test_table_has_the_factories_of_all_packages() -> None:
    seen = {name.split(".")[1] for name, _, _ in TABLE}
    assert {"jwt", "session", "cors", "cookie", "openapi", "typed", "testing", "dev"} <= seen
    assert len(TABLE) > 300
    assert {name for name, _, _ in TABLE} >= {*GIVEN}


@pytest.mark.parametrize(
    ("name", "made", "option"), TABLE, ids=[f"{name}-{option}" for name, _, option in TABLE]
)
def test_value_of_a_wrong_type_is_refused(name: str, made: Any, option: str) -> None:
    arguments, keywords = INSTEAD.get(f"{name}.{option}", GIVEN.get(name, nothing))()
    with pytest.raises((TypeError, ValueError)) as caught:
        call(made, *arguments, **{**keywords, option: Wrong()})
    if f"{name}.{option}" not in SECRET_VALUES:
        assert "wrong" in str(caught.value).lower(), "the error has to show the value or its type"


@pytest.mark.parametrize("name", sorted({name for name, _, _ in TABLE}))
def test_unknown_option_is_refused(name: str) -> None:
    made = next(each for full, each, _ in TABLE if full == name)
    arguments, keywords = GIVEN.get(name, nothing)()
    with pytest.raises((TypeError, ValueError)) as caught:
        call(made, *arguments, **keywords, nonesuch=1)
    assert "nonesuch" in str(caught.value)
