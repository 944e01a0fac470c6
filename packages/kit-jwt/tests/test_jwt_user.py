# SPDX-License-Identifier: MIT
"""The user of a request, which `load` returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
import pytest
from jwt_keys import SECRET, private_key, public_jwk

from kit import Context, HTTPException, Kit, Response
from kit.interface.metadata import get_facts
from kit.jwk import jwk
from kit.jwt import JwtTokenRevokedError, jwt, sign


@dataclass
class User:
    name: str


class Claims(msgspec.Struct):
    sub: str


USERS = {"ann": User("ann")}


def plain(payload: dict[str, Any], c: Any) -> User | None:
    assert c.get("jwt_payload") is None
    return USERS.get(payload["sub"])


async def later(payload: dict[str, Any], c: Any) -> User | None:
    return plain(payload, c)


def bearer(sub: str) -> dict[str, Any]:
    return {"headers": {"Authorization": f"Bearer {sign({'sub': sub}, SECRET)}"}}


@pytest.mark.parametrize("load", [plain, later])
async def test_required_and_optional(load: Any) -> None:
    user = jwt(secret=SECRET, alg="HS256", load=load)
    app: Kit[Any, Any] = Kit()
    app.get("/me", user.required, lambda c: c.text(f"{user(c).name} {user.get(c) is user(c)}"))
    app.get("/", user.optional, lambda c: c.text(f"{user.get(c)} {c.get('user')}"))
    response = await app.request("/me", bearer("ann"))
    assert await response.text() == "ann True"
    assert (await app.request("/me")).status == 401
    assert (await app.request("/me", bearer("bob"))).status == 401
    assert (
        await (await app.request("/", bearer("ann"))).text() == "User(name='ann') User(name='ann')"
    )
    assert await (await app.request("/")).text() == "None None"
    # A token that is refused is an error, so that a client learns of it.
    assert (await app.request("/", bearer("bob"))).status == 401


async def test_no_user_is_the_cause() -> None:
    user = jwt(secret=SECRET, alg="HS256", load=plain)
    app: Kit[Any, Any] = Kit()
    app.get("/me", user.required, lambda c: c.text(""))
    causes: list[Any] = []

    @app.on_error()
    def on_error(error: Exception, c: Context) -> Any:
        causes.append(error.__cause__)
        return c.text("", 401)

    await app.request("/me", bearer("bob"))
    assert isinstance(causes[0], JwtTokenRevokedError)
    assert str(causes[0]) == "There is no user for the token"


@pytest.mark.parametrize("guard", ["required", "optional"])
@pytest.mark.parametrize(
    ("loaded", "status"), [(None, 401), (False, 401), (0, 200), ("", 200), ([], 200)]
)
async def test_what_refuses_a_token(loaded: Any, status: int, guard: str) -> None:
    user = jwt(secret=SECRET, alg="HS256", load=lambda payload, c: loaded)
    app: Kit[Any, Any] = Kit()
    app.get("/", getattr(user, guard), lambda c: c.json([user(c), user.get(c)]))
    response = await app.request("/", bearer("ann"))
    assert response.status == status
    if status == 200:
        assert await response.json() == [loaded, loaded]


async def test_call_behind_optional_demands_a_login() -> None:
    user = jwt(secret=SECRET, alg="HS256", load=plain, realm="api")
    app: Kit[Any, Any] = Kit()
    app.get("/", user.optional, lambda c: c.text(user(c).name))
    assert await (await app.request("/", bearer("ann"))).text() == "ann"
    response = await app.request("/")
    assert response.status == 401
    assert response.headers["www-authenticate"] == (
        'Bearer realm="api",error="invalid_request",'
        'error_description="no authorization included in request"'
    )


@pytest.mark.parametrize("read", ["call", "get"])
async def test_route_without_the_middleware(read: str) -> None:
    user = jwt(secret=SECRET, alg="HS256", load=plain)
    other = jwt(secret=SECRET, alg="HS256", load=plain)
    errors: list[Exception] = []
    app: Kit[Any, Any] = Kit()
    app.use("/other", other.required)
    app.all("/*", lambda c: c.text(str(user(c) if read == "call" else user.get(c))))

    @app.on_error()
    def on_error(error: Exception, c: Context) -> Any:
        errors.append(error)
        return c.text("", 500)

    await app.request("/", bearer("ann"))
    await app.request("/other", bearer("ann"))
    assert [str(error) for error in errors] == [
        "There is no user yet: neither .required nor .optional of jwt(load=...) has run. Register "
        "one of them for the route, before the handler"
    ] * 2
    assert {type(error) for error in errors} == {RuntimeError}


async def test_typed_payload_and_name_of_the_variable() -> None:
    def load(payload: Claims, c: Any) -> User:
        return User(payload.sub)

    user = jwt(secret=SECRET, alg="HS256", type=Claims, load=load, user_variable="account")
    app: Kit[Any, Any] = Kit()
    app.get("/", user.required, lambda c: c.text(f"{user(c)} {c.get('account')} {c.get('user')}"))
    response = await app.request("/", bearer("bob"))
    assert await response.text() == "User(name='bob') User(name='bob') None"


async def test_revoked_tokens_load_nobody() -> None:
    loaded: list[Any] = []

    def load(payload: Any, c: Any) -> User:
        loaded.append(payload)
        return User("x")

    user = jwt(secret=SECRET, alg="HS256", load=load, is_revoked=lambda payload, c: True)
    app: Kit[Any, Any] = Kit()
    app.get("/", user.required, lambda c: c.text(""))
    assert (await app.request("/", bearer("ann"))).status == 401
    assert not loaded


async def test_load_may_answer_by_itself() -> None:
    def load(payload: Any, c: Any) -> User:
        raise HTTPException(403, "Not in this house")

    user = jwt(secret=SECRET, alg="HS256", load=load)
    app: Kit[Any, Any] = Kit()
    app.get("/", user.required, lambda c: c.text(""))
    response = await app.request("/", bearer("ann"))
    assert (response.status, await response.text()) == (403, "Not in this house")


async def yields(payload: Any, c: Any) -> Any:
    yield None


@pytest.mark.parametrize(
    ("load", "kind"),
    [
        (lambda payload, c: HTTPException(403), "HTTPException"),
        (lambda payload, c: Response("no", status=403), "Response"),
    ],
)
async def test_what_is_no_user_lets_nobody_in(load: Any, kind: str) -> None:
    user = jwt(secret=SECRET, alg="HS256", load=load)
    app: Kit[Any, Any] = Kit()
    app.get("/", user.required, lambda c: c.text("inside"))
    app.on_error(lambda error, c: c.text(str(error), 500))
    response = await app.request("/", bearer("ann"))
    assert (response.status, await response.text()) == (
        500,
        f"load returned {kind}: expected a user or None; "
        "await coroutines, raise exceptions, and write return, not yield",
    )


async def test_what_yields_no_user_lets_nobody_in() -> None:
    with pytest.raises(TypeError, match="yields, so none of it would run"):
        jwt(secret=SECRET, alg="HS256", load=yields)
    for load in (lambda payload, c: yields(payload, c), lambda payload, c: (n for n in ())):
        user = jwt(secret=SECRET, alg="HS256", load=load)
        app: Kit[Any, Any] = Kit()
        app.get("/", user.required, lambda c: c.text("inside"))
        app.on_error(lambda error, c: c.text(str(error), 500))
        response = await app.request("/", bearer("ann"))
        assert response.status == 500
        assert "returned a generator, of which nothing has run" in await response.text()


async def test_user_of_a_key_set() -> None:
    user = jwk(keys=[public_jwk("ES256", kid="1")], alg="ES256", load=later)
    app: Kit[Any, Any] = Kit()
    app.get("/", user.required, lambda c: c.text(user(c).name))
    token = sign({"sub": "ann"}, private_key("ES256"), "ES256", header={"kid": "1"})
    response = await app.request("/", {"headers": {"Authorization": f"Bearer {token}"}})
    assert await response.text() == "ann"


def untyped(payload, c):  # type: ignore[no-untyped-def]
    return None


def test_facts_for_tools() -> None:
    user = jwt(secret=SECRET, alg="HS256", load=later)
    assert get_facts(user.required).provides == {"jwt_payload": dict[str, Any], "user": User}
    scheme = {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}
    assert get_facts(user.required).security == (scheme,)
    optional = get_facts(user.optional)
    assert optional.provides == {"jwt_payload": dict[str, Any] | None, "user": User | None}
    assert optional.security == (scheme, ())
    assert optional.responses == {401: "An invalid token"}
    other = jwt(secret=SECRET, alg="HS256", load=untyped, user_variable="account")
    assert get_facts(other.optional).provides["account"] is Any
