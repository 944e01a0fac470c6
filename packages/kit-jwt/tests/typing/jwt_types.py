# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypedDict, assert_type

from kit.interface import AsyncMiddleware, Context
from kit.jwk import jwk, verify_with_jwks
from kit.jwt import (
    CurrentUser,
    DecodedToken,
    VerifyOptions,
    decode,
    decode_header,
    jwt,
    sign,
    verify,
)


@dataclass
class User:
    name: str


@dataclass
class Claims:
    sub: str


class DictClaims(TypedDict):
    sub: str


def find(payload: dict[str, Any], c: Context[Any, Any]) -> User | None:
    return User(payload["sub"])


async def find_later(payload: dict[str, Any], c: Context[Any, Any]) -> User | None:
    return find(payload, c)


async def find_always(payload: Claims, c: Context[Any, Any]) -> User:
    return User(payload.sub)


async def is_revoked(payload: Claims, c: Context[Any, Any]) -> bool:
    return payload.sub == "bob"


async def keys(c: Context[Any, Any]) -> list[Mapping[str, Any]]:
    return []


async def fetch(uri: str) -> bytes:
    return uri.encode()


options: VerifyOptions = {"iss": re.compile("^https:"), "aud": ["api"], "leeway": 5, "exp": True}

assert_type(jwt(secret="s", alg="HS256"), AsyncMiddleware)
assert_type(jwt(secret=["new", b"old"], alg="HS256"), AsyncMiddleware)
assert_type(jwt(secret=b"s", alg="RS256", cookie="auth", realm="api"), AsyncMiddleware)
assert_type(jwt(secret={"kty": "oct"}, cookie={"key": "auth", "secret": "s"}), AsyncMiddleware)
assert_type(
    jwt(secret="s", alg="HS256", type=Claims, is_revoked=is_revoked, verification=options),
    AsyncMiddleware,
)
assert_type(jwt(secret="s", alg="HS256", type=DictClaims, allow_anon=True), AsyncMiddleware)

plain = jwt(secret="s", alg="HS256", load=find)
later = jwt(secret="s", alg="HS256", load=find_later, user_variable="account")
typed = jwt(secret="s", alg="HS256", type=Claims, load=find_always)
assert_type(typed.required, AsyncMiddleware)
assert_type(typed.optional, AsyncMiddleware)


assert_type(jwk(keys=[{"kty": "EC"}], alg="ES256"), AsyncMiddleware)
assert_type(jwk(keys=keys, alg=["RS256", "EdDSA"], allow_anon=True), AsyncMiddleware)
assert_type(
    jwk(jwks_uri="https://issuer.example", alg="RS256", fetch=fetch, lifetime=60, cooldown=1.5),
    AsyncMiddleware,
)
remote = jwk(keys={"keys": []}, alg="RS256", load=find_later)
remote_typed = jwk(keys=[], alg="RS256", type=Claims, load=find_always)
reader: CurrentUser[User | None] = plain

assert_type(sign({"sub": "ann"}, "secret"), str)
assert_type(verify("token", "secret", "HS256", aud="api", required=["exp"]), dict[str, Any])
assert_type(verify("token", ("new", "old"), "HS256"), dict[str, Any])
assert_type(sign({}, [{"kty": "oct"}]), str)
assert_type(decode("token"), DecodedToken)
assert_type(decode("token").payload, dict[str, Any])
assert_type(decode_header("token"), dict[str, Any])


async def check() -> None:
    claims = await verify_with_jwks("token", keys=[], allowed_algorithms=["ES256"])
    assert_type(claims, dict[str, Any])


def handler(c: Context[Any, Any]) -> None:
    assert_type(later(c), User)
    assert_type(later.get(c), User | None)
    assert_type(plain(c), User)
    assert_type(plain.get(c), User | None)
    assert_type(typed(c), User)
    assert_type(typed.get(c), User | None)
    assert_type(remote(c), User)
    assert_type(remote_typed.get(c), User | None)
    assert_type(reader(c), User)
