# SPDX-License-Identifier: MIT
"""Authentication: tokens, and guards that check them."""

from __future__ import annotations

import time
from typing import Annotated, Final

from msgspec import Struct
from sqlalchemy.ext.asyncio import AsyncSession

from conduit.settings import Settings
from conduit.tables import User
from kit import Context, Next
from kit.interface.metadata import attach
from kit.jwt import jwt, sign
from kit.openapi import describe
from kit.typed import Env, Var

ALGORITHM: Final = "HS256"
# As in RealWorld's document: OpenAPI can't describe the scheme `Token` in another way.
SCHEME = {
    "type": "apiKey",
    "in": "header",
    "name": "Authorization",
    "description": "`Token`, a space, and the token from a login",
}


class Claims(Struct):
    """The claims of a token."""

    sub: str


class Tokens:
    """Signs and verifies tokens."""

    def __init__(self, settings: Settings) -> None:
        self._secret = settings.secret
        self._lifetime_s = settings.token_lifetime_s
        self.user = jwt(
            secret=settings.secret,
            alg=ALGORITHM,
            scheme="Token",
            realm="conduit",
            verification={"required": ["exp", "sub"]},
            type=Claims,
            load=load_user,
        )

    def sign(self, user: User) -> str:
        claims = {"sub": str(user.id), "exp": int(time.time()) + self._lifetime_s}
        return sign(claims, self._secret, ALGORITHM)


async def load_user(claims: Claims, c: Context) -> User | None:
    """Finds the user of a token, in the transaction of the request."""
    session: AsyncSession = c.get("db")
    return await session.get(User, int(claims.sub))


def tokens_of(c: Context) -> Tokens:
    found: Tokens = c.env["tokens"]
    return found


@describe(security=[{"Token": []}])
async def required(c: Context, next: Next) -> None:
    """Rejects requests without a valid token. Register `in_transaction` before it."""
    await tokens_of(c).user.required(c, next)


@describe(security=[{}, {"Token": []}])
async def optional(c: Context, next: Next) -> None:
    """Rejects invalid tokens, so that clients notice expired logins; a token is optional."""
    await tokens_of(c).user.optional(c, next)


attach(required, provides={"user": User}, responses={401: "No valid token"})
attach(optional, provides={"user": User | None}, responses={401: "An invalid token"})

# Parameter types of endpoints: the user after `required`, and the user, if any, after `optional`.
CurrentUser = Annotated[User, Var("user")]
Reader = Annotated[User | None, Var("user")]
Signer = Annotated[Tokens, Env("tokens")]
