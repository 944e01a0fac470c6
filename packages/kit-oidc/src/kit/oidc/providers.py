# SPDX-License-Identifier: MIT
"""Logins at well-known providers, with what is special about each of them.

    login = google(client_id="...", client_secret="...")

Each function takes the options of `kit.oidc.oidc`, or of `kit.oidc.oauth2`, besides its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kit.authoring.options import OptionChecks

from ._client import check_client
from ._factory import WELL_KNOWN, make_openid_login, oauth2, oidc
from ._login import Login
from ._provider import GetJson
from ._settings import check_scopes

__all__ = ("github", "gitlab", "google", "keycloak", "microsoft")

_TENANTS = ("common", "organizations", "consumers")
_MICROSOFT = "https://login.microsoftonline.com"
_GUID = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"


def github(
    *,
    client_id: str,
    client_secret: str,
    scopes: str | Iterable[str] = ("read:user", "user:email"),
    **options: Any,
) -> Login[Any]:
    """Returns a login at GitHub.

    GitHub has no ID tokens, so the user comes from its API: `sub` is the number of the account,
    which never changes, `email` the primary address, if GitHub has verified it.

    Args:
        client_id: The id of the OAuth app.
        client_secret: Its secret.
        scopes: The scopes. Without `user:email`, there is no e-mail address.
        **options: Options of `oauth2`.
    """

    async def fetch_claims(get: GetJson) -> Mapping[str, Any]:
        found = await get("https://api.github.com/user")
        claims = {
            "sub": str(found["id"]),
            "name": found.get("name") or found["login"],
            "preferred_username": found["login"],
            "picture": found.get("avatar_url"),
            "profile": found.get("html_url"),
        }
        if "user:email" in scopes:
            for each in await get("https://api.github.com/user/emails"):
                if each["primary"] and each["verified"]:
                    claims |= {"email": each["email"], "email_verified": True}
        return claims

    settings: dict[str, Any] = {"name": "github", **options}
    return oauth2(
        # GitHub names itself so in `iss` (RFC 9207) and in its metadata (RFC 8414).
        issuer="https://github.com/login/oauth",
        authorization_endpoint="https://github.com/login/oauth/authorize",
        token_endpoint="https://github.com/login/oauth/access_token",  # noqa: S106 - an address
        auth_method="client_secret_post",
        fetch_claims=fetch_claims,
        client_id=client_id,
        client_secret=client_secret,
        scopes=scopes,
        **settings,
    )


def google(
    *, client_id: str, client_secret: str, hosted_domain: str | None = None, **options: Any
) -> Login[Any]:
    """Returns a login at Google.

    Args:
        client_id: The id of the app.
        client_secret: Its secret.
        hosted_domain: Accepts only accounts of this Google Workspace domain: the claim `hd`.
        **options: Options of `oidc`. For refresh tokens, `parameters={"access_type": "offline"}`.
    """
    settings: dict[str, Any] = {"name": "google", **options}
    if hosted_domain is not None:
        OptionChecks("google").text("hosted_domain", hosted_domain, r"[a-z0-9.-]+", "a domain")
        settings["parameters"] = {**settings.get("parameters", {}), "hd": hosted_domain}
        # APPSEC: the parameter only preselects accounts: the claim decides.
        settings["required_claims"] = {"hd": hosted_domain}
    return oidc(
        issuer="https://accounts.google.com",
        client_id=client_id,
        client_secret=client_secret,
        **settings,
    )


def microsoft(
    *,
    client_id: str,
    client_secret: str | None = None,
    tenant: str,
    tenants: str | Iterable[str] | None = None,
    client_key: Any = None,
    client_key_alg: Any = None,
    auth_method: Any = None,
    scopes: str | Iterable[str] = ("openid", "profile", "email"),
    **options: Any,
) -> Login[Any]:
    """Returns a login at Microsoft Entra ID.

    The e-mail address of an Entra user isn't verified: never find an account by it.

    Args:
        client_id: The id of the app registration.
        client_secret: Its secret.
        tenant: The id of the tenant, a GUID; or `common`, `organizations` or `consumers` for the
            accounts of all tenants, which then need `tenants`, or a check in `on_login`.
        tenants: The ids of the accepted tenants, for an app of several tenants. Default: all.
        client_key: As for `oidc`.
        client_key_alg: As for `oidc`.
        auth_method: As for `oidc`.
        scopes: As for `oidc`.
        **options: Further options of `oidc`.
    """
    check = OptionChecks("microsoft")
    check.text("tenant", tenant)
    is_shared = tenant in _TENANTS
    if not is_shared:
        check.text("tenant", tenant, _GUID, "the GUID of a tenant, or 'common'")
    accepted = None
    if tenants is not None:
        if not is_shared:
            raise ValueError("microsoft(tenants=...) is for tenant='common' or 'organizations'")
        accepted = check.texts("tenants", tenants)
        for each in accepted:
            check.text("tenants", each, _GUID, "GUIDs of tenants")
    discovery = f"{_MICROSOFT}/{tenant}/v2.0{WELL_KNOWN}"
    # SPEC: the metadata of shared endpoints has this placeholder; that of consumers names a tenant.
    name = "{tenantid}" if tenant in ("common", "organizations") else tenant
    if tenant == "consumers":
        name = "9188040d-6c67-4c5b-b112-36a304b66dad"
    client = check_client(check, client_id, client_secret, client_key, client_key_alg, auth_method)
    defaults: dict[str, Any] = {
        **(oidc.__kwdefaults__ or {}),
        "name": "microsoft",
        "userinfo": False,
    }
    for option in ("client_secret", "client_key", "client_key_alg", "auth_method", "scopes"):
        del defaults[option]
    for option in options:
        if option not in defaults:
            raise TypeError(f"microsoft() has no option {option!r}")
    return make_openid_login(
        check,
        f"{_MICROSOFT}/{name}/v2.0",
        discovery,
        client=client,
        scopes=check_scopes(check, scopes),
        tenants=accepted,
        asserts_to_endpoint=True,
        **{**defaults, **options},
    )


def gitlab(
    *, client_id: str, client_secret: str, url: str = "https://gitlab.com", **options: Any
) -> Login[Any]:
    """Returns a login at GitLab.

    Args:
        client_id: The id of the application.
        client_secret: Its secret.
        url: The URL of a GitLab of your own.
        **options: Options of `oidc`.
    """
    OptionChecks("gitlab").text("url", url)
    settings: dict[str, Any] = {"name": "gitlab", **options}
    return oidc(
        issuer=url.removesuffix("/"), client_id=client_id, client_secret=client_secret, **settings
    )


def keycloak(*, client_id: str, url: str, realm: str, **options: Any) -> Login[Any]:
    """Returns a login at a Keycloak.

    Args:
        client_id: The id of the client.
        url: The URL of the server, such as `https://keycloak.example`.
        realm: The realm.
        **options: Options of `oidc`, such as `client_secret`.
    """
    check = OptionChecks("keycloak")
    check.text("url", url)
    check.text("realm", realm, r"[A-Za-z0-9._-]+", "the name of a realm")
    settings: dict[str, Any] = {"name": "keycloak", **options}
    return oidc(issuer=f"{url.removesuffix('/')}/realms/{realm}", client_id=client_id, **settings)
