# SPDX-License-Identifier: MIT
"""The middleware `jwt`: which requests are let through, and what the others are answered."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from typing import Any, TypedDict

import msgspec
import pytest
from jwt_keys import ASYMMETRIC, SECRET, jwk_of, pem, private_key, public_jwk
from pydantic import BaseModel

import kit.jwt
from kit import Context, HTTPException, Kit
from kit.authoring.vary import get_vary
from kit.cookie import format_cookie, set_signed_cookie
from kit.interface.metadata import get_facts
from kit.jwt import (
    JwtAlgorithmMismatchError,
    JwtPayloadInvalidError,
    JwtTokenExpiredError,
    JwtTokenRevokedError,
    decode_header,
    jwt,
    sign,
)
from kit.testing import WebSocketRefusedError, sync_test_client
from kit.websocket import WebSocket, upgrade_websocket

TOKEN = sign({"sub": "ann"}, SECRET)
OTHER = sign({"sub": "ann"}, SECRET[::-1])
URL = "http://localhost/x"
Answer = tuple[int, str | None, str]


def app_with(**options: Any) -> Kit[Any, Any]:
    app: Kit[Any, Any] = Kit()
    app.use("/*", jwt(**{"secret": SECRET, "alg": "HS256", **options}))
    app.all("/*", lambda c: c.text(f"{c.get('jwt_payload')}"))
    return app


async def answer(app: Kit[Any, Any], headers: Any = ()) -> Answer:
    """Status, challenge and body."""
    response = await app.request("/x", {"headers": headers})
    return response.status, response.headers.get("www-authenticate"), await response.text()


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def b64(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()


def refusal(error: str, description: str, scheme: str = "Bearer", realm: str = URL) -> Answer:
    challenge = f'{scheme} realm="{realm}",error="{error}",error_description="{description}"'
    return 401, challenge, "Unauthorized"


ABSENT = refusal("invalid_request", "no authorization included in request")
MALFORMED = refusal("invalid_request", "invalid credentials structure")
REFUSED = refusal("invalid_token", "token verification failure")
INSIDE = (200, None, "{'sub': 'ann'}")


# --- the header ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param(f"Bearer {TOKEN}", INSIDE, id="right"),
        pytest.param(f"bearer {TOKEN}", INSIDE, id="scheme in lower case"),
        pytest.param(f"BEARER {TOKEN}", INSIDE, id="scheme in upper case"),
        pytest.param(f"Bearer \t {TOKEN}", INSIDE, id="several blanks"),
        pytest.param(f"  Bearer {TOKEN} ", INSIDE, id="blanks around"),
        pytest.param("", ABSENT, id="empty"),
        pytest.param("Bearer", MALFORMED, id="scheme alone"),
        pytest.param("Bearer ", MALFORMED, id="scheme and blank"),
        pytest.param(TOKEN, MALFORMED, id="token alone"),
        pytest.param(f"Basic {TOKEN}", MALFORMED, id="other scheme"),
        pytest.param(f"XBearer {TOKEN}", MALFORMED, id="something before the scheme"),
        pytest.param(f"Bearer {TOKEN} x", MALFORMED, id="something behind the token"),
        pytest.param(f"Bearer\xa0{TOKEN}", MALFORMED, id="no-break space"),
        pytest.param(f"Bearer {TOKEN}, Bearer {TOKEN}", MALFORMED, id="two in one line"),
        pytest.param(f"Bearer {TOKEN},", REFUSED, id="comma"),
        pytest.param(f"Bearer {TOKEN}=", REFUSED, id="padding"),
        pytest.param(f"Bearer {OTHER}", REFUSED, id="other key"),
        pytest.param("Bearer x", REFUSED, id="no token"),
    ],
)
async def test_header(value: str, expected: Answer) -> None:
    assert await answer(app_with(), {"Authorization": value}) == expected


async def test_no_header() -> None:
    assert await answer(app_with()) == ABSENT


@pytest.mark.parametrize("other", [f"Bearer {TOKEN}", f"Bearer {OTHER}", "Bearer x", "Basic x", ""])
@pytest.mark.parametrize("first", [True, False])
async def test_header_that_comes_twice(other: str, first: bool) -> None:
    lines = [f"Bearer {TOKEN}", other]
    headers = [("Authorization", line) for line in (lines if first else reversed(lines))]
    assert (await answer(app_with(), headers))[0] == 401


async def test_other_scheme_and_header() -> None:
    app = app_with(scheme="Token", header_name="X-Login", realm="api")
    assert await answer(app, {"X-Login": f"Token {TOKEN}"}) == INSIDE
    assert await answer(app, {"X-Login": f"token {TOKEN}"}) == INSIDE
    malformed = refusal("invalid_request", "invalid credentials structure", "Token", "api")
    assert await answer(app, {"X-Login": f"Bearer {TOKEN}"}) == malformed
    assert (await answer(app, bearer(TOKEN)))[0] == 401


@pytest.mark.parametrize(
    ("realm", "shown"), [("", ""), ("api", "api"), ('say "hi"', r"say \"hi\""), ("a\\b", r"a\\b")]
)
async def test_realm(realm: str, shown: str) -> None:
    _, challenge, _ = await answer(app_with(realm=realm))
    assert challenge is not None
    assert challenge.startswith(f'Bearer realm="{shown}",error=')


async def test_the_realm_of_a_long_url_is_cut() -> None:
    response = await app_with().request(f"{URL}?q={'x' * 70_000}")
    challenge = response.headers.get("www-authenticate") or ""
    assert challenge.startswith(f'Bearer realm="{URL}?q=xxx')
    assert len(challenge) < 1200


async def test_refusals_are_text_and_have_a_cause() -> None:
    seen: list[Any] = []
    app = app_with()

    @app.on_error()
    def on_error(error: Exception, c: Context) -> Any:
        assert isinstance(error, HTTPException)
        seen.append((error.status, error.message, type(error.__cause__)))
        return error.res

    response = await app.request("/x", {"headers": bearer(sign({"exp": 1}, SECRET))})
    assert response.headers["content-type"] == "text/plain; charset=UTF-8"
    await answer(app, bearer(sign({}, SECRET, "HS512")))
    await answer(app)
    assert seen == [
        (401, "token verification failure", JwtTokenExpiredError),
        (401, "token verification failure", JwtAlgorithmMismatchError),
        (401, "no authorization included in request", type(None)),
    ]


async def test_every_method() -> None:
    for method in ("POST", "OPTIONS", "HEAD", "PURGE"):
        assert (await app_with().request("/x", {"method": method})).status == 401


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({}, None),
        ({"header_name": "authorization"}, None),
        ({"header_name": "X-Token"}, "X-Token"),
        ({"cookie": "token"}, "Cookie"),
        ({"header_name": "X-Token", "cookie": "token"}, "X-Token, Cookie"),
    ],
)
async def test_headers_that_caches_are_told_of(options: Any, names: str | None) -> None:
    app: Kit[Any, Any] = Kit()
    app.use(jwt(secret=SECRET, alg="HS256", **options))
    app.get("/x", lambda c: c.json(get_vary(c)))
    header = options.get("header_name", "Authorization")
    response = await app.request("/x", {"headers": {header: f"Bearer {TOKEN}"}})
    assert await response.json() == names


# --- cookies -------------------------------------------------------------------------------------


def cookie(name: str, value: str) -> dict[str, str]:
    return {"Cookie": format_cookie(name, value)}


def signed_cookie(name: str, value: str, secret: str) -> dict[str, str]:
    app: Kit[Any, Any] = Kit()
    made: list[str] = []

    def handler(c: Context) -> Any:
        set_signed_cookie(c, name, value, secret)
        made.extend(c.res.headers.get_set_cookie())
        return c.text("")

    app.get("/", handler)
    import asyncio

    asyncio.run(app.request("/"))
    return {"Cookie": made[0].partition(";")[0]}


@pytest.mark.parametrize(
    ("option", "name"),
    [
        ("auth", "auth"),
        ({"key": "auth"}, "auth"),
        ({"key": "auth", "prefix_options": "secure"}, "__Secure-auth"),
        ({"key": "auth", "prefix_options": "host"}, "__Host-auth"),
    ],
)
async def test_cookie(option: Any, name: str) -> None:
    app = app_with(cookie=option)
    assert await answer(app, cookie(name, TOKEN)) == INSIDE
    assert await answer(app, cookie(name, OTHER)) == REFUSED
    assert await answer(app, cookie(name + "x", TOKEN)) == ABSENT
    assert await answer(app, cookie(name, "")) == ABSENT
    assert await answer(app) == ABSENT
    # The header counts, whatever the cookie has.
    assert await answer(app, {**bearer(OTHER), **cookie(name, TOKEN)}) == REFUSED
    assert await answer(app, {"Authorization": "Basic x", **cookie(name, TOKEN)}) == MALFORMED
    assert await answer(app, {**bearer(TOKEN), **cookie(name, OTHER)}) == INSIDE
    assert await answer(app, {"Authorization": "", **cookie(name, TOKEN)}) == INSIDE
    assert await answer(app_with(), cookie(name, TOKEN)) == ABSENT


def test_signed_cookie(run: Any) -> None:
    app = app_with(cookie={"key": "auth", "secret": "cookie secret"})
    right = signed_cookie("auth", TOKEN, "cookie secret")
    wrong = signed_cookie("auth", TOKEN, "other secret")
    assert run(answer, app, right) == INSIDE
    assert run(answer, app, wrong) == ABSENT
    assert run(answer, app, cookie("auth", TOKEN)) == ABSENT


# --- keys and claims -----------------------------------------------------------------------------


@pytest.mark.parametrize("alg", ASYMMETRIC)
async def test_public_keys(alg: Any) -> None:
    token = sign({"sub": "ann"}, private_key(alg), alg)
    # A private key verifies by its public half.
    for key in (pem(private_key(alg)), pem(private_key(alg).public_key()), public_jwk(alg)):
        app = app_with(secret=key, alg=alg)
        assert await answer(app, bearer(token)) == INSIDE
        assert await answer(app, bearer(TOKEN)) == REFUSED


async def test_json_web_key_names_the_algorithm() -> None:
    key = public_jwk("ES256", alg="ES256")
    token = sign({"sub": "ann"}, private_key("ES256"), "ES256")
    app = app_with(secret=key, alg=None)
    assert await answer(app, bearer(token)) == INSIDE


async def test_secret_that_is_replaced() -> None:
    new, old = SECRET.upper(), SECRET
    for secrets in ([new, old], (new, old.encode()), [new, {"kty": "oct", "k": b64(old)}]):
        app = app_with(secret=secrets)
        assert await answer(app, bearer(TOKEN)) == INSIDE
        assert await answer(app, bearer(sign({"sub": "ann"}, secrets, "HS256"))) == INSIDE
        assert await answer(app, bearer(OTHER)) == REFUSED
        assert await answer(app_with(secret=new), bearer(TOKEN)) == REFUSED


async def test_key_pair_that_is_replaced() -> None:
    keys = [jwk_of(private_key("ES256", name), alg="ES256", kid=name) for name in ("new", "old")]
    app = app_with(secret=keys, alg=None)
    for key in (keys, keys[0], keys[1]):
        assert await answer(app, bearer(sign({"sub": "ann"}, key))) == INSIDE
    assert decode_header(sign({}, keys))["kid"] == "new"
    stranger = sign({"sub": "ann"}, private_key("ES256", "stranger"), "ES256")
    assert await answer(app, bearer(stranger)) == REFUSED
    assert await answer(app, bearer(sign({"sub": "ann"}, SECRET))) == REFUSED


async def test_verification() -> None:
    app = app_with(verification={"iss": "me", "aud": re.compile("^api"), "required": ["sub"]})
    good = {"iss": "me", "aud": "api-1", "sub": "ann"}
    assert (await answer(app, bearer(sign(good, SECRET))))[0] == 200
    for name in good:
        without = {key: value for key, value in good.items() if key != name}
        assert await answer(app, bearer(sign(without, SECRET))) == REFUSED


async def test_short_secret_if_it_is_allowed() -> None:
    app = app_with(secret="a-secret", allow_short_secret=True)
    token = sign({"sub": "ann"}, "a-secret", allow_short_secret=True)
    assert await answer(app, bearer(token)) == INSIDE


async def test_allow_anon() -> None:
    app = app_with(allow_anon=True)
    assert await answer(app) == (200, None, "None")
    assert await answer(app, bearer(TOKEN)) == INSIDE
    assert await answer(app, bearer(OTHER)) == REFUSED
    assert await answer(app, {"Authorization": "Basic x"}) == MALFORMED


# --- typed payloads ------------------------------------------------------------------------------


class Claims(msgspec.Struct):
    sub: str
    admin: bool = False


@dataclass
class DataClaims:
    sub: str
    admin: bool = False


class DictClaims(TypedDict):
    sub: str
    admin: bool


class ModelClaims(BaseModel):
    sub: str
    admin: bool = False


@pytest.mark.parametrize("kind", [Claims, DataClaims, DictClaims, ModelClaims])
async def test_typed_payload(kind: Any) -> None:
    app: Kit[Any, Any] = Kit()
    app.use(jwt(secret=SECRET, alg="HS256", type=kind))

    def handler(c: Context) -> Any:
        payload = c.get("jwt_payload")
        assert isinstance(payload, dict if kind is DictClaims else kind)
        return c.json(payload)

    app.get("/x", handler)
    status, _, body = await answer(app, bearer(sign({"sub": "ann", "admin": True}, SECRET)))
    assert (status, body) == (200, '{"sub":"ann","admin":true}')
    assert await answer(app, bearer(sign({"sub": 7, "admin": True}, SECRET))) == REFUSED
    assert await answer(app, bearer(sign({"admin": True}, SECRET))) == REFUSED


async def test_payload_that_does_not_fit_has_a_cause() -> None:
    app = app_with(type=Claims)
    causes: list[Any] = []

    @app.on_error()
    def on_error(error: Exception, c: Context) -> Any:
        causes.append(error.__cause__)
        return c.text("", 401)

    await answer(app, bearer(sign({"name": "ann"}, SECRET)))
    assert isinstance(causes[0], JwtPayloadInvalidError)
    assert "ann" not in str(causes[0])


# --- revoked tokens ------------------------------------------------------------------------------


@pytest.mark.parametrize("is_async", [False, True])
async def test_is_revoked(is_async: bool) -> None:
    asked: list[Any] = []

    def plain(payload: Any, c: Any) -> bool:
        asked.append((payload, c.req.path, c.get("jwt_payload")))
        return bool(payload["jti"] == "2")

    async def later(payload: Any, c: Any) -> bool:
        return plain(payload, c)

    app = app_with(is_revoked=later if is_async else plain)
    assert (await answer(app, bearer(sign({"jti": "1"}, SECRET))))[0] == 200
    assert await answer(app, bearer(sign({"jti": "2"}, SECRET))) == REFUSED
    assert await answer(app, bearer(sign({"jti": "1"}, SECRET[::-1]))) == REFUSED
    assert asked == [({"jti": "1"}, "/x", None), ({"jti": "2"}, "/x", None)]


async def test_a_refused_token_leaves_no_payload() -> None:
    app = app_with(is_revoked=lambda payload, c: True)

    @app.on_error()
    def on_error(error: Exception, c: Context) -> Any:
        assert isinstance(error.__cause__, JwtTokenRevokedError)
        return c.text(f"{c.get('jwt_payload')}", 401)

    assert await answer(app, bearer(TOKEN)) == (401, None, "None")


async def test_failing_is_revoked_lets_nobody_through() -> None:
    def is_revoked(payload: Any, c: Any) -> bool:
        raise ConnectionError("no database")

    assert (await answer(app_with(is_revoked=is_revoked), bearer(TOKEN)))[0] == 500


async def test_is_revoked_without_a_return_lets_nobody_through() -> None:
    def is_revoked(payload: Any, c: Any) -> None:
        payload.get("jti")

    assert (await answer(app_with(is_revoked=is_revoked), bearer(TOKEN)))[0] == 500


# --- mistakes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"secret": None}, ValueError, "jwt() needs secret=..., the key to verify tokens with"),
        ({"secret": []}, ValueError, "expected at least one key"),
        ({"secret": [SECRET, None]}, ValueError, "HS256 needs a secret as str or bytes, not"),
        ({"secret": [SECRET, "short"]}, ValueError, "HS256 needs a secret of at least 32"),
        (
            {"secret": [{"kty": "oct", "k": "", "alg": "HS256"}, {"kty": "EC"}], "alg": None},
            ValueError,
            "jwt(secret=...) can't be used: the JSON Web Key is not a valid key for HS256",
        ),
        ({"alg": None}, ValueError, "jwt() needs alg=..., the algorithm of the tokens"),
        ({"alg": "none"}, ValueError, "expected 'HS256', 'HS384', 'HS512', 'RS256', 'RS384'"),
        ({"secret": "a-secret"}, ValueError, "HS256 needs a secret of at least 32 bytes (RFC"),
        (
            {"secret": pem(private_key("RS256").public_key())},
            ValueError,
            "HS256 needs a secret as str or bytes, but this is a public or private key",
        ),
        ({"allow_short_secret": 1}, TypeError, "jwt(allow_short_secret=...) takes a bool, not 1"),
        ({"allow_anon": 1}, TypeError, "jwt(allow_anon=...) takes a bool, not 1"),
        ({"header_name": "a b"}, ValueError, "expected a header name such as 'Authorization'"),
        ({"scheme": ""}, ValueError, "expected a scheme such as 'Bearer'"),
        ({"realm": 7}, TypeError, "jwt(realm=...) takes a str, not 7"),
        ({"realm": "a\nb"}, ValueError, "expected latin-1 text without control characters"),
        ({"cookie": 7}, TypeError, "jwt(cookie=...) takes a str or a mapping with 'key', not 7"),
        ({"cookie": {}}, TypeError, "jwt: cookie(key=...) takes a str, not None"),
        ({"cookie": {"name": "a"}}, ValueError, "has the unknown key 'name': expected 'key'"),
        ({"cookie": "a b"}, ValueError, "expected the name of a cookie"),
        (
            {"cookie": {"key": "a", "prefix_options": "lax"}},
            ValueError,
            "jwt: cookie(prefix_options='lax') can't be used: expected None, 'secure' or 'host'",
        ),
        ({"cookie": {"key": "a", "secret": 7}}, ValueError, "expected a str that isn't empty"),
        ({"cookie": {"key": "a", "secret": ""}}, ValueError, "expected a str that isn't empty"),
        ({"verification": {"issuer": "me"}}, ValueError, "has the unknown key 'issuer'"),
        ({"verification": {"exp": 1}}, TypeError, "jwt: verification(exp=...) takes a bool, not 1"),
        ({"is_revoked": True}, TypeError, "takes a function (payload, c), not True"),
        ({"load": lambda payload: None}, TypeError, "takes a function (payload, c): got the"),
        ({"user_variable": "account"}, ValueError, "needs load=..., which returns the user"),
        (
            {"user_variable": "", "load": lambda payload, c: None},
            ValueError,
            "jwt(user_variable='') can't be used: expected a name such as 'user'",
        ),
        (
            {"allow_anon": True, "load": lambda payload, c: None},
            ValueError,
            "can't be used with load=...: register .optional of the result of jwt()",
        ),
    ],
)
def test_mistakes_are_errors_at_creation(
    options: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error) as caught:
        jwt(**{"secret": SECRET, "alg": "HS256", **options})
    assert text in str(caught.value)


def test_type_that_can_not_be_decoded() -> None:
    with pytest.raises(TypeError, match=r"^jwt\(type=.*\) can't be used: "):
        jwt(secret=SECRET, alg="HS256", type=dict[Any, list[int | str | Claims | DataClaims]])


def test_options_are_keyword_only() -> None:
    with pytest.raises(TypeError):
        jwt(SECRET, "HS256")  # type: ignore[call-overload]


def test_public_names() -> None:
    assert all(hasattr(kit.jwt, name) for name in kit.jwt.__all__)
    assert jwt(secret=SECRET, alg="HS256").__name__ == "jwt"


# --- facts ---------------------------------------------------------------------------------------

BEARER = {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}


@pytest.mark.parametrize(
    ("options", "security"),
    [
        ({}, (BEARER,)),
        ({"scheme": "Token"}, ({"type": "http", "scheme": "token"},)),
        ({"header_name": "X-Login"}, ({"type": "apiKey", "in": "header", "name": "X-Login"},)),
        (
            {"cookie": {"key": "auth", "prefix_options": "host"}},
            (BEARER, {"type": "apiKey", "in": "cookie", "name": "__Host-auth"}),
        ),
        ({"allow_anon": True}, (BEARER, ())),
    ],
)
def test_facts_for_tools(options: Any, security: Any) -> None:
    facts = get_facts(jwt(**{"secret": SECRET, "alg": "HS256", **options}))
    assert facts.security == security
    anon = "allow_anon" in options
    assert facts.responses == {401: "An invalid token" if anon else "No token, or an invalid token"}
    payload = dict[str, Any]
    assert facts.provides == {"jwt_payload": payload | None if anon else payload}


def test_type_of_the_payload_is_told() -> None:
    facts = get_facts(jwt(secret=SECRET, alg="HS256", type=Claims))
    assert facts.provides == {"jwt_payload": Claims}


def test_websocket_handshakes() -> None:
    app: Kit[Any, Any] = Kit()
    user = jwt(secret=SECRET, alg="HS256", cookie="auth", load=lambda payload, c: payload["sub"])
    app.use("/*", user.required)

    @app.get("/x")
    @upgrade_websocket
    async def handler(c: Context, ws: WebSocket) -> None:
        await ws.send(f"{user(c)} {c.get('jwt_payload')}")

    with sync_test_client(app) as client:
        for headers in (bearer(TOKEN), cookie("auth", TOKEN)):
            with client.x.ws(header=headers) as ws:
                assert ws.receive() == "ann {'sub': 'ann'}"
        for headers in ({}, bearer(OTHER), cookie("auth", OTHER)):
            with pytest.raises(WebSocketRefusedError) as refused, client.x.ws(header=headers):
                pass
            assert refused.value.status == 401
            assert refused.value.response.headers["www-authenticate"].startswith("Bearer realm=")


async def test_apps_within_the_app() -> None:
    def show(c: Context) -> Any:
        return c.text(f"{c.get('jwt_payload')}")

    inner: Kit[Any, Any] = Kit()
    inner.get("/x", show)
    app: Kit[Any, Any] = Kit()
    app.use("/routed/*", jwt(secret=SECRET, alg="HS256"))
    app.use("/mounted/*", jwt(secret=SECRET, alg="HS256"))
    app.route("/routed", inner)
    app.mount("/mounted", inner.fetch)
    # Variables don't reach a mounted app, which is an app of its own.
    for path, body in (("/routed/x", INSIDE[2]), ("/mounted/x", "None")):
        response = await app.request(path, {"headers": bearer(TOKEN)})
        assert (response.status, await response.text()) == (200, body)
    for path in ("/routed/x", "/mounted/x", "/%72outed/x", "/mounted/%78", "/mounted//x"):
        assert (await app.request(path)).status == 401


async def test_header_has_no_say_about_the_key() -> None:
    header = {
        "jwk": {"kty": "oct", "k": b64(SECRET[::-1])},
        "jku": "https://attacker.example/jwks",
        "x5u": "https://attacker.example/x5u",
        "x5c": ["AAAA"],
        "kid": "../../dev/null' OR 1=1 --",
    }
    assert await answer(app_with(), bearer(sign({}, SECRET[::-1], header=header))) == REFUSED
    assert await answer(app_with(), bearer(sign({"sub": "ann"}, SECRET, header=header))) == INSIDE


async def test_two_in_one_app() -> None:
    app: Kit[Any, Any] = Kit()
    app.use(jwt(secret=SECRET, alg="HS256", header_name="X-Outer"))
    app.use(jwt(secret=jwk_of(private_key("ES256")), alg="ES256"))
    app.get("/x", lambda c: c.text(c.get("jwt_payload")["sub"]))
    inner = sign({"sub": "bob"}, private_key("ES256"), "ES256")
    assert (await answer(app, {"X-Outer": f"Bearer {TOKEN}", **bearer(inner)}))[2] == "bob"
    assert await answer(app, bearer(inner)) == ABSENT
