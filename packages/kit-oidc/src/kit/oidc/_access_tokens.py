# SPDX-License-Identifier: MIT
"""Guards for programs that call an API with an access token of the provider (RFC 9068)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from kit.authoring.options import OptionChecks
from kit.http.fields import quoted_string
from kit.http.secure_uris import is_secure_uri
from kit.interface import AsyncMiddleware, Context, HTTPException, Next
from kit.interface.metadata import attach
from kit.jwk import JwksUnavailableError, KeySource
from kit.jwt import AsymmetricAlgorithm, JwtError

from ._errors import ProviderError
from ._factory import (
    ALGORITHMS,
    WELL_KNOWN,
    check_algorithms,
    check_issuer,
    check_transport,
)
from ._http import HttpClient
from ._metadata import Discovery, IssuerMetadata
from ._provider import fetch_keys
from ._settings import check_scopes
from ._user import AccessToken

if TYPE_CHECKING:
    import httpx

__all__ = ("access_token", "bearer_guard", "require_scopes")

_VARIABLE = "access_token"
# SPEC: RFC 9068 section 2.2: the claims that a token must have.
_REQUIRED = ("iss", "exp", "aud", "sub", "client_id", "iat", "jti")


class _Challenges:
    """The responses to requests without a sufficient token (RFC 6750, section 3).

    Args:
        scopes: The scopes that every request needs, for clients that don't know them.
        metadata_url: Where clients learn who issues tokens (RFC 9728, section 5.1); None for none.
    """

    def __init__(self, scopes: Iterable[str], metadata_url: str | None) -> None:
        self._scope = " ".join(scopes)
        self._members: dict[str, str] = {}
        if metadata_url is not None:
            self._members["resource_metadata"] = metadata_url

    def refuse(self, status: int, message: str, **members: str) -> HTTPException:
        """Returns the exception for a request, with a challenge of these members."""
        scope = {"scope": self._scope} if self._scope else {}
        listed = {**scope, **members, **self._members}
        text = ", ".join(f"{name}={quoted_string(value)}" for name, value in listed.items())
        value = f"Bearer {text}" if text else "Bearer"
        return HTTPException(status, message, headers={"WWW-Authenticate": value})

    def insufficient(self, scopes: Iterable[str]) -> HTTPException:
        """Returns the 403 for a token without these scopes."""
        return self.refuse(403, "Forbidden", error="insufficient_scope", scope=" ".join(scopes))


def access_token(
    *,
    issuer: str,
    audience: str | Iterable[str],
    scopes: str | Iterable[str] = (),
    algorithms: AsymmetricAlgorithm | Sequence[AsymmetricAlgorithm] = ALGORITHMS,
    leeway: float = 30,
    resource_metadata: str | None = None,
    timeout: float = 10,
    transport: httpx.AsyncBaseTransport | None = None,
) -> AsyncMiddleware:
    """Returns middleware that lets requests with a valid access token of a provider through.

    The token is a JSON Web Token with the type `at+jwt` in `Authorization: Bearer`. Its keys are
    found through the metadata of the issuer. It is in `c.get("access_token")`. Any other request
    gets a 401; a token without the scopes a 403; 503 if the keys can't be fetched.

    Args:
        issuer: Who issues the tokens, exactly as its metadata names it.
        audience: This API: the `aud` of the tokens must contain it, or one of several.
        scopes: The scopes that a token needs, all of them.
        algorithms: The allowed algorithms; only public-key algorithms.
        leeway: Seconds by which clocks may differ.
        resource_metadata: The URL of the metadata of this API, see `protected_resource`.
        timeout: Seconds that a request to the issuer may take.
        transport: The transport of httpx for these requests. Default: the network.

    Returns:
        The middleware, for `app.use(path, ...)`. It declares its security scheme and its statuses.

    Raises:
        TypeError: If an option has the wrong type.
        ValueError: If an option is invalid.

    SPEC: RFC 9068, section 4; RFC 6750; RFC 9728, section 5.1.

    Example:
        app.use("/api/*", access_token(issuer="https://id.example", audience="https://api.example"))
    """
    return bearer_guard(
        OptionChecks("access_token"),
        issuer=issuer,
        audience=audience,
        scopes=scopes,
        algorithms=algorithms,
        leeway=leeway,
        resource_metadata=resource_metadata,
        timeout=timeout,
        transport=transport,
    )


def bearer_guard(
    check: OptionChecks,
    *,
    issuer: Any,
    audience: Any,
    scopes: Any,
    algorithms: Any,
    leeway: Any,
    resource_metadata: Any,
    timeout: Any,
    transport: Any,
) -> AsyncMiddleware:
    """Returns the middleware of `access_token` for the options of any factory."""
    check_issuer(check, issuer)
    audiences = check.texts("audience", audience)
    if not audiences or "" in audiences:
        check.unusable("audience", audience, "the identifier of this API")
    needed = check_scopes(check, scopes)
    check.number("leeway", leeway, least=0, most=300, unit="seconds", whole=False)
    if resource_metadata is not None and not is_secure_uri(resource_metadata):
        check.unusable("resource_metadata", resource_metadata, "an https URL")
    http = check_transport(check, transport, timeout)
    verify = _source(http, issuer).verifier(
        check_algorithms(check, algorithms),
        {
            "iss": issuer,
            "aud": list(audiences),
            "typ": "at+jwt",
            "leeway": leeway,
            "required": list(_REQUIRED),
        },
    )
    challenges = _Challenges(needed, resource_metadata)

    async def access_token(c: Context[Any, Any], next: Next) -> None:
        found = await _authenticate(c, verify, challenges)
        if not found.scopes.issuperset(needed):
            raise challenges.insufficient(needed)
        c.set(_VARIABLE, found)
        c.set(_CHALLENGES, challenges)
        await next()

    scheme = {"type": "openIdConnect", "openIdConnectUrl": issuer.removesuffix("/") + WELL_KNOWN}
    if needed:
        scheme["description"] = f"Needs the scopes {', '.join(needed)}."
    statuses = {401: "No access token, or an invalid one", 503: "The keys can't be fetched"}
    if needed:
        statuses[403] = "The access token lacks a scope"
    return attach(
        access_token, provides={_VARIABLE: AccessToken}, security=scheme, responses=statuses
    )


async def _authenticate(
    c: Context[Any, Any],
    verify: Callable[[str, Any], Awaitable[dict[str, Any]]],
    challenges: _Challenges,
) -> AccessToken:
    """Returns the token of a request; raises the exception that refuses it."""
    scheme, _, token = (c.req.header("Authorization") or "").partition(" ")
    if scheme.lower() != "bearer":
        # SPEC: RFC 6750 section 3.1: no error for a request without credentials.
        raise challenges.refuse(401, "Unauthorized")
    try:
        return _read(await verify(token.strip(" "), c))
    except JwtError as error:
        raise challenges.refuse(401, "Unauthorized", error="invalid_token") from error
    except (JwksUnavailableError, ProviderError) as error:
        raise HTTPException(503, "Service Unavailable", headers={"Retry-After": "5"}) from error


def require_scopes(*scopes: str) -> AsyncMiddleware:
    """Returns middleware that needs more scopes of the token that `access_token` accepted.

    Args:
        *scopes: The scopes, all of which the token needs.

    Raises:
        TypeError: If a scope isn't a str.
        ValueError: If there is none, or one is invalid.

    Example:
        app.post("/books", require_scopes("books:write"), create_book)
    """
    check = OptionChecks("require_scopes")
    needed = check_scopes(check, scopes)
    if not needed:
        check.unusable("scopes", scopes, "at least one scope")

    async def require_scopes(c: Context[Any, Any], next: Next) -> None:
        found = c.get(_VARIABLE)
        if not isinstance(found, AccessToken):
            raise RuntimeError(
                "There is no access token yet: register access_token(...) before require_scopes"
            )
        if not found.scopes.issuperset(needed):
            raise c.get(_CHALLENGES).insufficient(needed)
        await next()

    return attach(require_scopes, responses={403: "The access token lacks a scope"})


_CHALLENGES = "kit.oidc.challenges"


def _source(http: HttpClient, issuer: str) -> KeySource:
    parts = urlsplit(issuer)
    path = parts.path.removesuffix("/")
    # SPEC: RFC 8414 section 3.1: its well-known path stands before the path of the issuer.
    oauth = f"{parts.scheme}://{parts.netloc}/.well-known/oauth-authorization-server{path}"
    urls = [issuer.removesuffix("/") + WELL_KNOWN, oauth]
    discovery = Discovery(http, IssuerMetadata, issuer, urls)

    async def find_jwks_uri(c: Any) -> str:
        return (await discovery.get()).jwks_uri

    async def fetch(uri: str) -> Any:
        return await fetch_keys(http, uri)

    return KeySource(jwks_uri=find_jwks_uri, fetch=fetch)


def _read(claims: Mapping[str, Any]) -> AccessToken:
    sub, client_id, scope = claims["sub"], claims["client_id"], claims.get("scope", "")
    if not all(isinstance(each, str) for each in (sub, client_id, scope)):
        raise JwtError("sub, client_id or scope of the token is not a str")
    # SPEC: RFC 6749 section 3.3: only U+0020 separates scopes, not whatever Unicode calls a space.
    scopes = frozenset(each for each in scope.split(" ") if each)
    return AccessToken(sub, client_id, scopes, dict(claims))
