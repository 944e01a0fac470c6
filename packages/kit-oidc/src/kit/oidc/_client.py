# SPDX-License-Identifier: MIT
"""The client that an app is to its provider, and how it authenticates (OIDC Core, section 9)."""

from __future__ import annotations

import time
from base64 import b64encode
from collections.abc import Collection
from hashlib import sha256
from secrets import token_urlsafe
from typing import Any, Literal, NamedTuple, TypeAlias
from urllib.parse import quote_plus

from kit.authoring.options import OptionChecks
from kit.jwt import sign

__all__ = ("AUTH_METHODS", "AuthMethod", "Client", "check_client")

AuthMethod: TypeAlias = Literal[
    "client_secret_basic", "client_secret_post", "private_key_jwt", "none"
]
"""How the app authenticates at the token endpoint."""
AUTH_METHODS = ("client_secret_basic", "client_secret_post", "private_key_jwt", "none")

_ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
_ASSERTION_S = 60


class Client(NamedTuple):
    """A client, as it is registered at the provider.

    Attributes:
        id: Its id.
        secret: Its secret, for two of the methods.
        key: Its private key, for `private_key_jwt`.
        key_alg: The algorithm of that key.
        method: How it authenticates; None for the method that the provider supports.
    """

    id: str
    secret: str | None
    key: Any
    key_alg: Any
    method: AuthMethod | None

    def __repr__(self) -> str:
        # APPSEC: a repr ends up in logs and in error pages.
        return f"Client(id={self.id!r}, method={self.method!r})"

    def key_at(self, issuer: str) -> str:
        """Returns a text that identifies the client among those of all providers."""
        return sha256(f"{issuer} {self.id}".encode()).hexdigest()[:32]

    def authenticate(
        self, audience: str, supported: Collection[str] | None
    ) -> tuple[dict[str, str], dict[str, str]]:
        """Returns the parameters and headers that authenticate the client.

        Args:
            audience: Who gets an assertion.
            supported: The methods in the metadata of the provider.
        """
        method = self._method(supported)
        if method == "client_secret_basic":
            # SPEC: RFC 6749 section 2.3.1: both are encoded as in a form first.
            pair = f"{quote_plus(self.id)}:{quote_plus(self.secret or '')}"
            encoded = b64encode(pair.encode()).decode()
            return {}, {"Authorization": f"Basic {encoded}"}
        if method == "client_secret_post":
            return {"client_id": self.id, "client_secret": self.secret or ""}, {}
        if method == "private_key_jwt":
            now = int(time.time())
            claims = {
                "iss": self.id,
                "sub": self.id,
                "aud": audience,
                "jti": token_urlsafe(16),
                "iat": now,
                "exp": now + _ASSERTION_S,
            }
            assertion = sign(claims, self.key, self.key_alg)
            return {
                "client_id": self.id,
                "client_assertion_type": _ASSERTION,
                "client_assertion": assertion,
            }, {}
        return {"client_id": self.id}, {}

    def _method(self, supported: Collection[str] | None) -> str:
        if self.method is not None:
            return self.method
        if self.key is not None:
            return "private_key_jwt"
        if self.secret is None:
            return "none"
        # SPEC: OpenID Connect Discovery section 3: client_secret_basic if none is named.
        if supported and "client_secret_basic" not in supported:
            return "client_secret_post"
        return "client_secret_basic"


def check_client(
    check: OptionChecks,
    client_id: Any,
    client_secret: Any,
    client_key: Any,
    client_key_alg: Any,
    auth_method: Any,
) -> Client:
    """Checks the options of a client.

    Raises:
        TypeError: If an option has the wrong type.
        ValueError: If one is empty, they contradict each other, or the key can't sign.
    """
    check.text("client_id", client_id, r"[ -~]+", "the id of the app at the provider")
    # APPSEC: the errors must not show the secret.
    if client_secret is not None and not isinstance(client_secret, str):
        kind = type(client_secret).__name__
        raise TypeError(f"{check.factory}(client_secret=...) takes a str, not {kind}")
    if client_secret == "":
        raise ValueError(
            f"{check.factory}(client_secret=...) can't be used: expected a str that isn't empty"
        )
    if auth_method is not None:
        check.choice("auth_method", auth_method, AUTH_METHODS)
    needs = {
        "client_secret_basic": client_secret is not None,
        "client_secret_post": client_secret is not None,
        "private_key_jwt": client_key is not None,
    }
    if not needs.get(auth_method, True):
        option = "client_key" if auth_method == "private_key_jwt" else "client_secret"
        raise ValueError(f"{check.factory}(auth_method={auth_method!r}) needs {option}=...")
    if client_key is not None:
        try:
            sign({}, client_key, client_key_alg)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{check.factory}(client_key=...) can't be used: {error}") from None
        if str(client_key_alg or "").startswith("HS"):
            check.unusable("client_key_alg", client_key_alg, "the algorithm of a private key")
    elif client_key_alg is not None:
        raise ValueError(
            f"{check.factory}(client_key_alg={client_key_alg!r:.100}) needs client_key=..."
        )
    return Client(client_id, client_secret, client_key, client_key_alg, auth_method)
