# SPDX-License-Identifier: MIT
"""The user as the provider describes them, access tokens, and what a session keeps of a login."""

# The annotations are evaluated here, since the public class shows another module as its own.
from collections.abc import Mapping
from typing import Any

import msgspec

__all__ = ("AccessToken", "LoginRecord", "Tokens", "User", "user_from_claims")


class User(msgspec.Struct, frozen=True, kw_only=True):
    """The user who is logged in, as the provider describes them.

    Only `id` identifies a user. Anybody can set a name, and at some providers also an e-mail
    address that isn't theirs.

    Attributes:
        issuer: The provider.
        sub: The user's identifier at the provider, which never changes.
        name: The full name.
        username: The name for logging in (`preferred_username`).
        email: The e-mail address.
        email_verified: Whether the provider has verified that it belongs to the user.
        picture: The URL of a picture.
        claims: All claims of the ID token and of UserInfo.
    """

    issuer: str
    sub: str
    name: str | None = None
    username: str | None = None
    email: str | None = None
    email_verified: bool = False
    picture: str | None = None
    claims: dict[str, Any] = {}

    @property
    def id(self) -> str:
        """Identifies the user among those of all providers: issuer, space, `sub`."""
        return f"{self.issuer} {self.sub}"


def user_from_claims(issuer: str, sub: str, claims: Mapping[str, Any]) -> User:
    """Returns the user with these claims; claims of a wrong type are left to `User.claims`."""

    def text(name: str) -> str | None:
        value = claims.get(name)
        return value if isinstance(value, str) else None

    return User(
        issuer=issuer,
        sub=sub,
        name=text("name"),
        username=text("preferred_username"),
        email=text("email"),
        # Some providers send it as a string, and "false" must not be true.
        email_verified=claims.get("email_verified") is True
        or claims.get("email_verified") == "true",
        picture=text("picture"),
        claims=dict(claims),
    )


class AccessToken(msgspec.Struct, frozen=True):
    """A valid access token.

    Attributes:
        sub: Whom it stands for: a user, or the client itself.
        client_id: The program that sent it.
        scopes: What it allows.
        claims: All claims.
    """

    sub: str
    client_id: str
    scopes: frozenset[str]
    claims: dict[str, Any]


class Tokens(msgspec.Struct, frozen=True, omit_defaults=True):
    """The tokens of a login.

    Attributes:
        access_token: The access token.
        expires_at: When it expires, in seconds since the epoch; None if the provider doesn't say.
        refresh_token: The refresh token.
        id_token: The ID token, for `id_token_hint`.
        scope: The granted scopes, separated by spaces.
    """

    access_token: str
    expires_at: float | None = None
    refresh_token: str | None = None
    id_token: str | None = None
    scope: str | None = None

    def __repr__(self) -> str:
        # APPSEC: a repr ends up in logs and in error pages.
        return f"Tokens(expires_at={self.expires_at!r}, scope={self.scope!r})"


class LoginRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a session keeps of a login.

    Attributes:
        client: The provider and the client that the login is for; see `ClientSettings.key`.
        user: The user.
        tokens: The tokens.
        nonce: The nonce of the login.
        auth_time: When the user was authenticated, in seconds since the epoch.
        acr: How the user was authenticated.
    """

    client: str
    user: User
    tokens: Tokens
    nonce: str | None = None
    auth_time: float | None = None
    acr: str | None = None

    def __repr__(self) -> str:
        return f"LoginRecord(client={self.client!r}, user={self.user!r}, tokens={self.tokens!r})"
