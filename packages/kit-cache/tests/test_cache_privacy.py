# SPDX-License-Identifier: MIT
"""Responses that are made for one client, by handlers that middleware before the cache serves."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from kit import Context, Kit, Response
from kit.asgi import asgi_middleware
from kit.authoring.vary import depend_on
from kit.bearer_auth import bearer_auth
from kit.cache import cache
from kit.compress import compress
from kit.jwt import jwt, sign
from kit.language import language_detector
from kit.secure_headers import NONCE, secure_headers
from kit.session import Session, get_session, session

SECRET = "RkhqYzM5c0VxN2tVd1pQb1lUMmxCdkF4TmdJbVE4ZUQ"


async def asked(app: Kit[Any, Any], path: str, headers: Mapping[str, str]) -> Response:
    return await app.request(path, {"headers": headers})


async def text(app: Kit[Any, Any], path: str, headers: Mapping[str, str]) -> str:
    return await (await asked(app, path, headers)).text()


def app_of(guard: Any, answer: Any, control: str = "max-age=60") -> Kit[Any, Any]:
    app: Kit[Any, Any] = Kit()
    app.use(guard)
    app.use(cache(cache_control=control))
    app.get("/", answer)
    return app


@pytest.mark.parametrize("own", ["", "max-age=60", "public, max-age=60"])
@pytest.mark.parametrize("is_first", [True, False])
def test_what_is_made_of_a_session_is_not_stored(run: Any, is_first: bool, own: str) -> None:
    app: Kit[Any, Any] = Kit()
    both: list[Any] = [session(SECRET, secure=False), cache(cache_control="max-age=60")]
    for each in both if is_first else reversed(both):
        app.use(each)

    async def log_in(c: Context) -> Response:
        found: Session[Any] = await get_session(c)
        found["name"] = c.req.param("name")
        return c.text("")

    async def greet(c: Context) -> Response:
        found: Session[Any] = await get_session(c)
        # A response of its own, which has no header that was set on c before.
        return Response(f"Hello {found.get('name')}", headers={"Cache-Control": own} if own else {})

    app.get("/login/:name", log_in)
    app.get("/", greet)

    async def ask() -> None:
        cookie = (await asked(app, "/login/ann", {})).headers.get("set-cookie").split(";")[0]
        response = await asked(app, "/", {"Cookie": cookie})
        assert await response.text() == "Hello ann"
        assert response.headers.get("cache-control") == (own or "private")
        assert await text(app, "/", {}) == "Hello None"

    run(ask)


def test_a_language_that_was_detected_before_tells_responses_apart(run: Any) -> None:
    detector = language_detector(supported_languages=["en", "de"], caches=False)
    app = app_of(detector, lambda c: c.text(c.get("language")))

    async def ask() -> None:
        assert await text(app, "/", {"Accept-Language": "de"}) == "de"
        assert await text(app, "/", {"Accept-Language": "en"}) == "en"
        again = await asked(app, "/", {"Accept-Language": "de"})
        assert await again.text() == "de"
        assert "hit" in (again.headers.get("cache-status") or "")

    run(ask)


def token_of(name: str) -> str:
    return sign({"sub": name}, SECRET, "HS256")


@pytest.mark.parametrize(
    ("guard", "header", "value_for"),
    [
        (jwt(secret=SECRET, alg="HS256", cookie="token"), "Cookie", "token={token}"),
        (jwt(secret=SECRET, alg="HS256", header_name="X-Token"), "X-Token", "Bearer {token}"),
        (
            bearer_auth(
                verify_token=lambda token, c: {"sub": token},
                header_name="X-Token",
                user_variable="jwt_payload",
            ),
            "X-Token",
            "Bearer {name}",
        ),
    ],
)
def test_credentials_outside_of_authorization_tell_responses_apart(
    run: Any, guard: Any, header: str, value_for: str
) -> None:
    app = app_of(guard, lambda c: c.text(c.get("jwt_payload")["sub"]))

    async def ask() -> None:
        for name in ("ann", "bob"):
            value = value_for.format(name=name, token=token_of(name))
            assert await text(app, "/", {header: value}) == name

    run(ask)


def test_own_middleware_says_what_it_depends_on(run: Any) -> None:
    async def tenant(c: Context, next: Any) -> None:
        depend_on(c, "X-Tenant")
        depend_on(c, "X-Part")
        await next()

    app = app_of(tenant, lambda c: c.text(c.req.header("x-tenant") + c.req.header("x-part")))

    async def ask() -> None:
        for tenant, part in [("a", "1"), ("b", "1"), ("b", "2"), ("a", "1")]:
            asked = {"X-Tenant": tenant, "X-Part": part}
            assert await text(app, "/", asked) == tenant + part

    run(ask)


@pytest.mark.parametrize("directive", ["public", "must-revalidate", "s-maxage=60"])
def test_the_option_declares_nothing_fresh_that_is_for_one(run: Any, directive: str) -> None:
    async def pass_on(c: Context, next: Any) -> None:
        await next()

    headers: dict[str, str] = {}
    app = app_of(
        pass_on,
        lambda c: c.text(c.req.header("authorization") or "nobody", headers=headers),
        f"max-age=60, {directive}",
    )

    async def ask() -> None:
        response = await asked(app, "/", {"Authorization": "Bearer a"})
        assert await response.text() == "Bearer a"
        assert response.headers.get("cache-control") is None
        assert await text(app, "/", {"Authorization": "Bearer b"}) == "Bearer b"
        for header, value in [
            ("Set-Cookie", "a=b"),
            ("Cache-Control", "private"),
            ("Cache-Control", "no-store"),
            ("Cache-Control", "no-cache"),
            ("Vary", "*"),
        ]:
            headers.clear()
            headers[header] = value
            response = await asked(app, "/", {})
            control = value if header == "Cache-Control" else None
            assert response.headers.get("cache-control") == control

    run(ask)


async def streamed(text: str) -> AsyncIterator[bytes]:
    yield text.encode()


@pytest.mark.parametrize("kind", ["whole", "stream", "compressed", "not used"])
@pytest.mark.parametrize("is_first", [True, False])
def test_a_nonce_is_not_sent_twice(run: Any, is_first: bool, kind: str) -> None:
    calls = []
    app: Kit[Any, Any] = Kit()
    both: list[Any] = [
        secure_headers(content_security_policy={"script_src": [NONCE]}),
        cache(cache_control="max-age=60"),
    ]
    for each in both if is_first else reversed(both):
        app.use(each)
    if kind == "compressed":
        app.use(compress(threshold=0))

    def answer(c: Context) -> Response:
        calls.append(1)
        if kind == "not used":
            return c.text("no script")
        page = f"<script nonce='{c.get('secure_headers_nonce')}'></script>"
        return c.html(page) if kind != "stream" else c.body(streamed(page))

    app.get("/", answer)

    async def ask() -> None:
        for _ in range(2):
            response = await asked(app, "/", {"Accept-Encoding": "gzip"})
            await response.bytes()
            if kind == "whole":
                assert response.headers.get("cache-control") is None
        # A page without the nonce can be stored unless the header that has it would be, too.
        assert len(calls) == (1 if kind == "not used" and is_first else 2)

    run(ask)


@pytest.mark.parametrize("name", ["authorization", "cookie"])
@pytest.mark.parametrize("streams", [False, True])
def test_what_middleware_takes_from_the_request_counts(run: Any, name: str, streams: bool) -> None:
    class Identify:
        """Moves who the client is from a header to the scope."""

        def __init__(self, app: Any) -> None:
            self.app = app

        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
                return
            taken = dict(scope["headers"]).get(name.encode(), b"nobody").decode()
            rest = [line for line in scope["headers"] if line[0] != name.encode()]
            await self.app({**scope, "headers": rest, "user": taken}, receive, send)

    app: Kit[Any, Any] = Kit()
    app.use(cache(cache_control="max-age=60"))
    app.use(asgi_middleware(Identify))

    async def greet(c: Context) -> Response:
        c.header("vary", "cookie")
        user = (c.req.raw.scope or {})["user"].encode()

        async def chunks() -> AsyncIterator[bytes]:
            yield user

        return c.body(chunks() if streams else user)

    app.get("/", greet)

    async def ask() -> None:
        assert await text(app, "/", {name: "ada"}) == "ada"
        assert await text(app, "/", {}) == "nobody"
        assert await text(app, "/", {name: "bob"}) == "bob"

    run(ask)
