# SPDX-License-Identifier: MIT
"""The middleware `jwk` with keys that are given, and `verify_with_jwks`."""

from __future__ import annotations

from typing import Any

import pytest
from jwt_keys import ASYMMETRIC, jwk_of, pem, private_key, public_jwk, rsa_key

import kit.jwk
from kit import Kit
from kit.interface.metadata import get_facts
from kit.jwk import jwk, verify_with_jwks
from kit.jwt import (
    JwtAlgorithmNotAllowedError,
    JwtError,
    JwtHeaderRequiresKidError,
    JwtKeyNotFoundError,
    JwtTokenExpiredError,
    JwtTokenSignatureMismatchedError,
    sign,
)

KEYS = [
    public_jwk("RS256", kid="rsa", alg="RS256", use="sig"),
    public_jwk("ES256", kid="ec"),
    public_jwk("EdDSA", kid="ed", key_ops=["verify"]),
    {"kty": "oct", "kid": "oct", "k": "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY"},
]


def token(alg: Any, kid: Any = None, name: str = "", **payload: Any) -> str:
    header = {} if kid is None else {"kid": kid}
    return sign({"sub": "ann", **payload}, private_key(alg, name), alg, header=header)


async def status(app: Kit[Any, Any], value: str | None = None) -> int:
    headers = {} if value is None else {"Authorization": f"Bearer {value}"}
    return (await app.request("/x", {"headers": headers})).status


def app_with(**options: Any) -> Kit[Any, Any]:
    app: Kit[Any, Any] = Kit()
    app.use(jwk(**{"keys": KEYS, "alg": ["RS256", "ES256", "EdDSA"], **options}))
    app.get("/x", lambda c: c.json(c.get("jwt_payload")))
    return app


async def refusal(value: str, keys: Any = KEYS, algorithms: Any = ASYMMETRIC) -> type[JwtError]:
    with pytest.raises(JwtError) as caught:
        await verify_with_jwks(value, keys=keys, allowed_algorithms=algorithms)
    return type(caught.value)


# --- which key -----------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["list", "set", "function", "async function"])
async def test_keys(form: str) -> None:
    asked: list[str] = []

    def function(c: Any) -> Any:
        asked.append(c.req.path)
        return KEYS

    async def later(c: Any) -> Any:
        return {"keys": function(c)}

    forms = {"list": KEYS, "set": {"keys": KEYS}, "function": function, "async function": later}
    app = app_with(keys=forms[form])
    for alg, kid in (("RS256", "rsa"), ("ES256", "ec"), ("EdDSA", "ed")):
        assert await status(app, token(alg, kid)) == 200
        assert await status(app, token(alg, kid)[:-8] + "AAAAAAAA") == 401
    assert await status(app, token("RS256", "ec")) == 401
    assert await status(app, token("RS256", "nobody")) == 401
    assert await status(app, token("RS256")) == 401
    assert await status(app) == 401
    assert len(asked) == (0 if form in ("list", "set") else 9)


async def test_why_tokens_are_refused() -> None:
    assert await refusal(token("RS256")) is JwtHeaderRequiresKidError
    assert await refusal(token("RS256", "nobody")) is JwtKeyNotFoundError
    assert await refusal(token("RS256", "ec")) is JwtKeyNotFoundError
    assert await refusal(token("PS256", "rsa")) is JwtKeyNotFoundError
    assert await refusal(token("RS256", "rsa"), algorithms="ES256") is JwtAlgorithmNotAllowedError
    assert await refusal(token("ES384", "ec")) is JwtKeyNotFoundError
    assert await refusal(token("RS256", "rsa", exp=1)) is JwtTokenExpiredError
    stranger = token("RS256", "rsa", "stranger")
    assert await refusal(stranger) is JwtTokenSignatureMismatchedError


async def test_verify_with_jwks() -> None:
    claims = await verify_with_jwks(
        token("ES256", "ec", iss="me"),
        keys={"keys": KEYS},
        allowed_algorithms=["ES256"],
        verification={"iss": "me"},
    )
    assert claims == {"sub": "ann", "iss": "me"}


async def test_keys_without_id() -> None:
    keys = [public_jwk("RS256"), public_jwk("ES256", "other"), public_jwk("ES256")]
    app = app_with(keys=keys)
    assert await status(app, token("ES256")) == 200
    assert await status(app, token("ES256", name="other")) == 200
    assert await status(app, token("ES256", name="third")) == 401
    assert await status(app, token("RS256")) == 200
    # An id that no key has is not a question of trying the rest.
    assert await status(app, token("RS256", "rsa")) == 401
    assert await status(app, token("EdDSA")) == 401


async def test_id_that_comes_twice() -> None:
    # RFC 7517 section 4.5: keys of different kinds may share one, as alternatives.
    keys = [
        public_jwk("RS256", kid="1", use="enc"),
        public_jwk("RS256", "second", kid="1"),
        public_jwk("RS256", "third", kid="1"),
        public_jwk("ES256", kid="1"),
    ]
    app = app_with(keys=keys)
    assert await status(app, token("ES256", "1")) == 200
    assert await status(app, token("RS256", "1", "second")) == 200
    assert await status(app, token("RS256", "1", "third")) == 401
    assert await status(app, token("RS256", "1")) == 401


@pytest.mark.parametrize(
    "key",
    [
        public_jwk("RS256", kid="1", use="enc"),
        public_jwk("RS256", kid="1", key_ops=["encrypt"]),
        public_jwk("RS256", kid="1", key_ops=[]),
        public_jwk("RS256", kid="1", alg="RS512"),
        public_jwk("RS256", kid="1", alg="RSA-OAEP"),
        public_jwk("RS256", kid="2"),
        public_jwk("ES256", kid="1"),
        {**public_jwk("RS256", kid="1"), "kty": "EC"},
        {**public_jwk("RS256", kid="1"), "n": "AQAB"},
        {"kty": "RSA", "kid": "1"},
        {**public_jwk("RS256"), "kid": 1},
        {"kid": "1"},
        "key",
        None,
    ],
)
async def test_keys_for_something_else(key: Any) -> None:
    if isinstance(key, dict):
        assert await status(app_with(keys=[key]), token("RS256", "1")) == 401
    assert await status(app_with(keys=lambda c: [key]), token("RS256", "1")) == 401


async def test_weak_keys() -> None:
    small = rsa_key("small", 1024)
    value = sign_with_small_key()
    key = jwk_of(small.public_key(), kid="1")
    assert await refusal(value, [key]) is JwtKeyNotFoundError


def sign_with_small_key() -> str:
    """A token that `sign` would not make."""
    import jwt as pyjwt

    with pytest.warns(match="below the minimum recommended"):
        return pyjwt.encode({"a": 1}, rsa_key("small", 1024), "RS256", headers={"kid": "1"})


async def test_secrets_in_a_key_set_are_never_used() -> None:
    app = app_with()
    known = "0123456789abcdef0123456789abcdef"
    assert await status(app, sign({}, known, header={"kid": "oct"})) == 401
    keys = [{**KEYS[3], "alg": "RS256"}]
    assert await refusal(token("RS256", "oct"), keys) is JwtKeyNotFoundError


async def test_private_keys_verify_by_their_public_half() -> None:
    keys = [jwk_of(private_key("RS256"), kid="1")]
    assert await status(app_with(keys=keys), token("RS256", "1")) == 200


async def test_allow_anon() -> None:
    app = app_with(allow_anon=True)
    assert await status(app) == 200
    assert await status(app, token("RS256", "rsa")) == 200
    assert await status(app, token("RS256", "nobody")) == 401


async def test_challenge_and_cookie() -> None:
    app = app_with(cookie="auth", realm="api", scheme="Token")
    response = await app.request("/x", {"headers": {"Cookie": f"auth={token('ES256', 'ec')}"}})
    assert response.status == 200
    response = await app.request("/x", {"headers": {"Authorization": "Token x"}})
    assert response.headers["www-authenticate"] == (
        'Token realm="api",error="invalid_token",error_description="token verification failure"'
    )


@pytest.mark.parametrize(
    ("returned", "error"),
    [(None, TypeError), ({"key": []}, TypeError), ("[]", TypeError), ([{}] * 101, ValueError)],
)
async def test_functions_that_return_no_keys(returned: Any, error: type[Exception]) -> None:
    errors: list[Exception] = []
    app = app_with(keys=lambda c: returned)

    @app.on_error()
    def on_error(problem: Exception, c: Any) -> Any:
        errors.append(problem)
        return c.text("", 500)

    assert await status(app, token("RS256", "rsa")) == 500
    assert [type(problem) for problem in errors] == [error]


# --- mistakes ------------------------------------------------------------------------------------

URI = "https://issuer.example/jwks"


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"alg": "RS256"}, ValueError, "needs keys=... or jwks_uri=..., the keys to verify"),
        ({"keys": []}, ValueError, "jwk() needs alg=..., the allowed algorithms"),
        ({"keys": [], "alg": []}, ValueError, "expected at least one algorithm, such as"),
        ({"keys": [], "alg": ["RS256", "HS256"]}, ValueError, "expected public-key"),
        ({"keys": [], "alg": "none"}, ValueError, "expected 'RS256', 'RS384', 'RS512'"),
        ({"keys": "key", "alg": "RS256"}, TypeError, "jwk(keys=...): expected a JSON Web Key"),
        *(
            ({"keys": keys, "alg": "RS256"}, TypeError, "jwk(keys=...): expected a JSON Web Key")
            for keys in (7, iter(KEYS), {}, {"keys": None}, {"keys": {"kty": "RSA"}})
        ),
        (
            {"keys": [*KEYS, pem(private_key("RS256"))], "alg": "RS256"},
            TypeError,
            "jwk(keys=...): expected JSON Web Keys, which are mappings, not str; use",
        ),
        ({"keys": [{}] * 101, "alg": "RS256"}, ValueError, "jwk(keys=...): a key set has at"),
        ({"keys": lambda: KEYS, "alg": "RS256"}, TypeError, "takes a function (c): got the"),
        ({"jwks_uri": lambda: URI, "alg": "RS256"}, TypeError, "takes a function (c): got the"),
        ({"jwks_uri": 7, "alg": "RS256"}, TypeError, "jwk(jwks_uri=...) takes a str, not 7"),
        *(
            (
                {"jwks_uri": uri, "alg": "RS256"},
                ValueError,
                f"jwk(jwks_uri={uri!r}) can't be used: expected an https URI such as "
                "'https://issuer.example/jwks', without a user",
            )
            for uri in (
                "http://issuer.example/jwks",
                "http://127.0.0.1.example/jwks",
                "ftp://issuer.example/jwks",
                "file:///etc/jwks",
                "https:///jwks",
                "https://[::1/jwks",
                "https://issuer.example:port/jwks",
                "https://user:password@issuer.example/jwks",
                "http://issuer.localhost/jwks",
                "https://issuer.example/j wks",
                "https://issuer.example/jwks\n",
                "https://bücher.example/jwks",
                "/jwks",
                "",
            )
        ),
        (
            {"jwks_uri": URI, "alg": "RS256", "fetch": "get"},
            TypeError,
            "jwk(fetch=...) takes a function (uri), not 'get'",
        ),
        (
            {"jwks_uri": URI, "alg": "RS256", "lifetime": -1},
            ValueError,
            "jwk(lifetime=-1) can't be used: expected at least 0 seconds",
        ),
        (
            {"jwks_uri": URI, "alg": "RS256", "cooldown": None},
            TypeError,
            "jwk(cooldown=...) takes a number, not None",
        ),
        (
            {"jwks_uri": URI, "alg": "RS256", "max_stale": float("inf")},
            ValueError,
            "jwk(max_stale=inf) can't be used: expected a finite number",
        ),
        (
            {"jwks_uri": URI, "alg": "RS256", "timeout": 0},
            ValueError,
            "jwk(timeout=0) can't be used: expected at least 0.001 seconds",
        ),
    ],
)
def test_mistakes_are_errors_at_creation(
    options: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error) as caught:
        jwk(**options)
    assert text in str(caught.value)


async def test_mistakes_of_verify_with_jwks() -> None:
    with pytest.raises(ValueError, match=r"^verify_with_jwks\(\) needs keys=\.\.\. or jwks_uri"):
        await verify_with_jwks("", allowed_algorithms="RS256")
    with pytest.raises(ValueError, match=r"^verify_with_jwks\(allowed_algorithms='HS256'\)"):
        await verify_with_jwks("", keys=[], allowed_algorithms="HS256")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "uri", ["http://localhost/a", "http://127.9.9.9:1/a", "http://[::1]/a", URI]
)
def test_uris_that_can_be_used(uri: str) -> None:
    facts = get_facts(jwk(jwks_uri=uri, alg="RS256"))
    assert facts.responses == {
        401: "No token, or an invalid token",
        503: "The keys of the issuer can't be fetched",
    }


def test_facts_for_tools() -> None:
    facts = get_facts(jwk(keys=[], alg="RS256", allow_anon=True))
    assert facts.security == ({"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}, ())
    assert facts.responses == {401: "An invalid token"}


def test_public_names() -> None:
    assert all(hasattr(kit.jwk, name) for name in kit.jwk.__all__)
    assert jwk(keys=[], alg="RS256").__name__ == "jwk"
