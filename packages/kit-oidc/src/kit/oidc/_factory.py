# SPDX-License-Identifier: MIT
"""The functions that return a login."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, get_args, overload

from kit.authoring.options import OptionChecks
from kit.http.secure_uris import is_secure_uri
from kit.jwt import AsymmetricAlgorithm, SignatureAlgorithm, SignatureKey

from ._client import AuthMethod, check_client
from ._errors import LoginError
from ._http import HttpClient
from ._login import Login
from ._metadata import ProviderMetadata
from ._provider import FetchClaims, OAuthProvider, OpenIDProvider
from ._settings import Prompt, check_scopes, check_settings
from ._user import User

if TYPE_CHECKING:
    import httpx

__all__ = ("ALGORITHMS", "check_algorithms", "check_issuer", "check_transport", "oauth2", "oidc")

UserT = TypeVar("UserT")

ALGORITHMS: tuple[AsymmetricAlgorithm, ...] = get_args(AsymmetricAlgorithm)
WELL_KNOWN = "/.well-known/openid-configuration"


def check_issuer(check: OptionChecks, issuer: Any) -> str:
    """Checks an issuer (OpenID Connect Core, section 2): https, without query and fragment.

    Raises:
        TypeError: If it isn't a str. A function can't choose it, since the request could.
        ValueError: If it isn't secure.
    """
    check.text("issuer", issuer)
    if not is_secure_uri(issuer) or "?" in issuer or "#" in issuer:
        check.unusable("issuer", issuer, "an https URL such as 'https://id.example'")
    return str(issuer)


def check_algorithms(check: OptionChecks, algorithms: Any) -> tuple[AsymmetricAlgorithm, ...]:
    """Checks the allowed algorithms, which must have public keys.

    Raises:
        TypeError: If they are neither a str nor a list of them.
        ValueError: If there is none, or one is unknown, `none`, or one with a secret.
    """
    found: tuple[Any, ...] = check.texts("algorithms", algorithms)
    for each in found:
        check.choice("algorithms", each, ALGORITHMS)
    if not found:
        check.unusable("algorithms", algorithms, "at least one, such as 'RS256'")
    return found


def check_transport(check: OptionChecks, transport: Any, timeout: Any) -> HttpClient:
    """Checks the options for requests to the provider.

    Raises:
        TypeError: If an option has the wrong type.
        ValueError: If the timeout is too short.
    """
    if transport is not None and not callable(getattr(transport, "handle_async_request", None)):
        check.wrong_type("transport", transport, "an httpx.AsyncBaseTransport")
    check.number("timeout", timeout, least=0.001, unit="seconds", whole=False)
    return HttpClient(transport, timeout)


@overload
def oidc(
    *,
    issuer: str,
    client_id: str,
    client_secret: str | None = None,
    client_key: SignatureKey | None = None,
    client_key_alg: SignatureAlgorithm | None = None,
    auth_method: AuthMethod | None = None,
    scopes: str | Iterable[str] = ("openid", "profile", "email"),
    name: str = "oidc",
    algorithms: AsymmetricAlgorithm | Sequence[AsymmetricAlgorithm] = ALGORITHMS,
    leeway: float = 30,
    userinfo: bool = True,
    trusted_audiences: str | Iterable[str] = (),
    required_claims: Mapping[str, Any] | None = None,
    parameters: Mapping[str, str] | None = None,
    prompt: Prompt | None = None,
    max_age: float | None = None,
    acr_values: str | Iterable[str] = (),
    on_login: Callable[[User, Any], Any] | None = None,
    on_error: Callable[[LoginError, Any], Any] | None = None,
    load: Callable[[User, Any], Awaitable[UserT | None]],
    origin: str | None = None,
    after_login: str = "/",
    after_logout: str = "/",
    logout_at_provider: bool = True,
    timeout: float = 10,
    transport: httpx.AsyncBaseTransport | None = None,
) -> Login[UserT]: ...
@overload
def oidc(
    *,
    issuer: str,
    client_id: str,
    client_secret: str | None = None,
    client_key: SignatureKey | None = None,
    client_key_alg: SignatureAlgorithm | None = None,
    auth_method: AuthMethod | None = None,
    scopes: str | Iterable[str] = ("openid", "profile", "email"),
    name: str = "oidc",
    algorithms: AsymmetricAlgorithm | Sequence[AsymmetricAlgorithm] = ALGORITHMS,
    leeway: float = 30,
    userinfo: bool = True,
    trusted_audiences: str | Iterable[str] = (),
    required_claims: Mapping[str, Any] | None = None,
    parameters: Mapping[str, str] | None = None,
    prompt: Prompt | None = None,
    max_age: float | None = None,
    acr_values: str | Iterable[str] = (),
    on_login: Callable[[User, Any], Any] | None = None,
    on_error: Callable[[LoginError, Any], Any] | None = None,
    load: None = None,
    origin: str | None = None,
    after_login: str = "/",
    after_logout: str = "/",
    logout_at_provider: bool = True,
    timeout: float = 10,
    transport: httpx.AsyncBaseTransport | None = None,
) -> Login[User]: ...
def oidc(
    *,
    issuer: str,
    client_id: str,
    client_secret: str | None = None,
    client_key: Any = None,
    client_key_alg: Any = None,
    auth_method: Any = None,
    scopes: Any = ("openid", "profile", "email"),
    name: str = "oidc",
    algorithms: Any = ALGORITHMS,
    leeway: float = 30,
    userinfo: bool = True,
    trusted_audiences: Any = (),
    required_claims: Any = None,
    parameters: Any = None,
    prompt: Any = None,
    max_age: Any = None,
    acr_values: Any = (),
    on_login: Any = None,
    on_error: Any = None,
    load: Any = None,
    origin: Any = None,
    after_login: str = "/",
    after_logout: str = "/",
    logout_at_provider: bool = True,
    timeout: float = 10,
    transport: Any = None,
) -> Any:
    """Returns a login at a provider of OpenID Connect, by the code flow with PKCE.

    Args:
        issuer: The provider, exactly as its metadata names it; https, or http on this machine. The
            metadata is at `{issuer}/.well-known/openid-configuration`.
        client_id: The id of the app at the provider.
        client_secret: Its secret.
        client_key: Its private key, as PEM or JSON Web Key, for `private_key_jwt`.
        client_key_alg: The algorithm of the key. Default: `alg` of the JSON Web Key.
        auth_method: How the app authenticates at the token endpoint. Default: with the key or the
            secret if there is one, by a method that the provider supports.
        scopes: What the app asks for; `openid` must be one of them. With `offline_access`, most
            providers send a refresh token.
        name: The name of the login, if there are several.
        algorithms: The allowed algorithms of tokens; only public-key algorithms.
        leeway: Seconds by which clocks may differ.
        userinfo: Whether to ask the provider's UserInfo for more claims at a login.
        trusted_audiences: Other audiences that ID tokens may have beside this app.
        required_claims: Claims that ID tokens must have, with these values, such as `{"hd":
            "example.com"}`; any other user is refused with a 403.
        parameters: Further parameters of authorization requests, such as `access_type`.
        prompt: What the provider asks the user.
        max_age: How long ago the user may have been authenticated at a login, in seconds.
        acr_values: How the user has to be authenticated at a login: one of these.
        on_login: Function `(user, c)`, plain or async, called at each login before the user is in.
            It returns None, or a response to refuse the login, or raises an HTTPException.
        on_error: Function `(error, c)`, plain or async, that returns the response to a failed
            login. Default: `error.message` as a text.
        load: Async function `(user, c)` that returns the app's own user in each request that asks
            for it, or None for a 403.
        origin: The origin of the app, such as `https://app.example`, if requests don't have it,
            e.g. behind a proxy. Default: that of the request.
        after_login: The path that a login returns to, unless it was started for another one.
        after_logout: The path that a logout returns to.
        logout_at_provider: Whether a logout also logs the user out at the provider.
        timeout: Seconds that a request to the provider may take.
        transport: The transport of httpx for requests to the provider. Default: the network.

    Returns:
        The login. `login.register(app)` adds its routes, `login.required` guards others.

    Raises:
        TypeError: If an option has the wrong type.
        ValueError: If an option is invalid, or options contradict each other.

    SPEC: OpenID Connect Core 1.0, Discovery 1.0, RP-Initiated Logout 1.0, Back-Channel Logout 1.0;
    RFC 6749, 7636, 9207, 9700.

    Example:
        login = oidc(issuer="https://id.example", client_id="books", client_secret=SECRET)
    """
    check = OptionChecks("oidc")
    issuer = check_issuer(check, issuer)
    asked = check_scopes(check, scopes)
    if "openid" not in asked:
        check.unusable("scopes", scopes, "'openid' among them (OpenID Connect Core 3.1.2.1)")
    return make_openid_login(
        check,
        issuer,
        issuer.removesuffix("/") + WELL_KNOWN,
        client=check_client(
            check, client_id, client_secret, client_key, client_key_alg, auth_method
        ),
        scopes=asked,
        algorithms=algorithms,
        leeway=leeway,
        userinfo=userinfo,
        trusted_audiences=trusted_audiences,
        required_claims=required_claims,
        timeout=timeout,
        transport=transport,
        name=name,
        parameters=parameters,
        prompt=prompt,
        max_age=max_age,
        acr_values=acr_values,
        on_login=on_login,
        on_error=on_error,
        load=load,
        origin=origin,
        after_login=after_login,
        after_logout=after_logout,
        logout_at_provider=logout_at_provider,
    )


def make_openid_login(
    check: OptionChecks,
    issuer: str,
    discovery_url: str,
    *,
    client: Any,
    scopes: tuple[str, ...],
    algorithms: Any,
    leeway: Any,
    userinfo: Any,
    trusted_audiences: Any,
    required_claims: Any,
    timeout: Any,
    transport: Any,
    tenants: Any = None,
    asserts_to_endpoint: bool = False,
    **options: Any,
) -> Login[Any]:
    """Checks the options of a login with OpenID Connect, and returns the login."""
    check.number("leeway", leeway, least=0, most=300, unit="seconds", whole=False)
    if required_claims is not None:
        check.keys("required_claims", required_claims, tuple(required_claims))
    provider = OpenIDProvider(
        issuer,
        discovery_url,
        client.id,
        check_transport(check, transport, timeout),
        algorithms=check_algorithms(check, algorithms),
        trusted_audiences=check.texts("trusted_audiences", trusted_audiences),
        required_claims=required_claims or {},
        leeway_s=leeway,
        asks_userinfo=check.flag("userinfo", userinfo),
        tenants=tenants,
        asserts_to_endpoint=asserts_to_endpoint,
    )
    settings = check_settings(
        check,
        provider,
        client,
        scopes=scopes,
        leeway=leeway,
        accepts=(sorted((required_claims or {}).items()), sorted(tenants or ())),
        **options,
    )
    return Login(settings)


def oauth2(
    *,
    issuer: str,
    authorization_endpoint: str,
    token_endpoint: str,
    fetch_claims: FetchClaims,
    client_id: str,
    client_secret: str | None = None,
    auth_method: AuthMethod | None = None,
    scopes: str | Iterable[str] = (),
    name: str = "oauth2",
    parameters: Mapping[str, str] | None = None,
    on_login: Callable[[User, Any], Any] | None = None,
    on_error: Callable[[LoginError, Any], Any] | None = None,
    load: Callable[[User, Any], Any] | None = None,
    origin: str | None = None,
    after_login: str = "/",
    after_logout: str = "/",
    timeout: float = 10,
    transport: httpx.AsyncBaseTransport | None = None,
) -> Login[Any]:
    """Returns a login at a provider of OAuth 2 that has no OpenID Connect, such as GitHub.

    Args:
        issuer: The name of the provider, an https URL; part of the id of its users.
        authorization_endpoint: Where users log in.
        token_endpoint: Where tokens are issued.
        fetch_claims: Async function `(get)` that returns the claims of the user, among them the str
            `sub`; `await get(url)` sends a request with the access token, and returns JSON.
        client_id: As for `oidc`.
        client_secret: As for `oidc`.
        auth_method: As for `oidc`.
        scopes: As for `oidc`.
        name: As for `oidc`.
        parameters: As for `oidc`.
        on_login: As for `oidc`.
        on_error: As for `oidc`.
        load: As for `oidc`.
        origin: As for `oidc`.
        after_login: As for `oidc`.
        after_logout: As for `oidc`.
        timeout: As for `oidc`.
        transport: As for `oidc`.

    Returns:
        The login.

    Raises:
        TypeError: If an option has the wrong type.
        ValueError: If an option is invalid.
    """
    check = OptionChecks("oauth2")
    issuer = check_issuer(check, issuer)
    for option, url in (
        ("authorization_endpoint", authorization_endpoint),
        ("token_endpoint", token_endpoint),
    ):
        if not is_secure_uri(url):
            check.unusable(option, url, "an https URL")
    check.function("fetch_claims", fetch_claims, "(get)")
    asked = check_scopes(check, scopes)
    metadata = ProviderMetadata(
        issuer=issuer,
        authorization_endpoint=authorization_endpoint,
        token_endpoint=token_endpoint,
    )
    provider = OAuthProvider(
        metadata, check_transport(check, transport, timeout), fetch_claims, asked
    )
    settings = check_settings(
        check,
        provider,
        check_client(check, client_id, client_secret, None, None, auth_method),
        name=name,
        scopes=asked,
        parameters=parameters,
        prompt=None,
        max_age=None,
        acr_values=(),
        leeway=0,
        on_login=on_login,
        on_error=on_error,
        load=load,
        origin=origin,
        after_login=after_login,
        after_logout=after_logout,
        logout_at_provider=False,
    )
    return Login(settings)
