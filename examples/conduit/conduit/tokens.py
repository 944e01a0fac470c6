# SPDX-License-Identifier: MIT
"""Who sends a request: tokens, and the guards that read them."""

from __future__ import annotations

import time
from typing import Annotated, Final

from msgspec import Struct

from conduit.database import Session
from conduit.settings import Settings
from conduit.tables import User
from kit import Context, Next
from kit.interface.metadata import attach
from kit.jwt import jwt, sign
from kit.openapi import describe
from kit.typed import Env, Var

ALGORITHM: Final = "HS256"
# As RealWorld's document has it: OpenAPI knows no scheme `Token` of the header.
SCHEME = {
    "type": "apiKey",
    "in": "header",
    "name": "Authorization",
    "description": "`Token`, a space, and the token of a login",
}


class Claims(Struct):
    """What a token says: who it was made for."""

    sub: str


class Tokens:
    """Signs the tokens of users, and checks them."""

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
    session: Session = c.get("db")
    return await session.get(User, int(claims.sub))


def tokens_of(c: Context) -> Tokens:
    found: Tokens = c.env["tokens"]
    return found


@describe(security=[{"Token": []}])
async def required(c: Context, next: Next) -> None:
    """Refuses requests without a token. It has to run behind `in_transaction`."""
    await tokens_of(c).user.required(c, next)


@describe(security=[{}, {"Token": []}])
async def optional(c: Context, next: Next) -> None:
    """Refuses wrong tokens alone, so that a client notices when its login has ended."""
    await tokens_of(c).user.optional(c, next)


attach(required, provides={"user": User}, responses={401: "No token, or a refused one"})
attach(optional, provides={"user": User | None}, responses={401: "A refused token"})

# What endpoints ask for: the user behind `required`, and the one behind `optional`, if any.
CurrentUser = Annotated[User, Var("user")]
Reader = Annotated[User | None, Var("user")]
Signer = Annotated[Tokens, Env("tokens")]
