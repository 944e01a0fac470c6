# SPDX-License-Identifier: MIT
"""The checked options of a login."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import Any, Literal, NamedTuple, TypeAlias

from kit.authoring.options import OptionChecks
from kit.authoring.origins import check_origins

from ._client import Client
from ._provider import Provider
from ._return_path import is_return_path

__all__ = ("Prompt", "Settings", "check_parameters", "check_scopes", "check_settings")

Prompt: TypeAlias = Literal["none", "login", "consent", "select_account", "create"]
"""What the provider asks the user (OIDC Core, section 3.1.2.1; `create`: Prompt Create 1.0)."""
_PROMPTS = ("none", "login", "consent", "select_account", "create")
OWN_PARAMETERS = (
    "response_type",
    "response_mode",
    "client_id",
    "redirect_uri",
    "scope",
    "state",
    "nonce",
    "code_challenge",
    "code_challenge_method",
    "max_age",
    "acr_values",
    "prompt",
    "request",
    "request_uri",
)
"""The parameters of an authorization request that have options of their own, or can't be set."""


class Settings(NamedTuple):
    """The checked options of a login; see `oidc`.

    Attributes:
        provider: The provider.
        client: The client.
        key: Identifies the login: provider, client, name, and whom it accepts.
        name: The option.
        scope: The scopes, separated by spaces.
        parameters: The option.
        prompt: The option.
        max_age: The option.
        acr_values: The option.
        leeway_s: Seconds by which clocks may differ.
        on_login: The option.
        on_error: The option.
        load: The option.
        origin: The option.
        after_login: The option.
        after_logout: The option.
        ends_at_provider: Whether users are logged out at the provider, too.
    """

    provider: Provider
    client: Client
    key: str
    name: str
    scope: str
    parameters: Mapping[str, str]
    prompt: Prompt | None
    max_age: float | None
    acr_values: tuple[str, ...]
    leeway_s: float
    on_login: Callable[..., Any] | None
    on_error: Callable[..., Any] | None
    load: Callable[..., Any] | None
    origin: str | None
    after_login: str
    after_logout: str
    ends_at_provider: bool


def check_settings(
    check: OptionChecks,
    provider: Provider,
    client: Client,
    *,
    name: Any,
    scopes: tuple[str, ...],
    parameters: Any,
    prompt: Any,
    max_age: Any,
    acr_values: Any,
    leeway: float,
    on_login: Any,
    on_error: Any,
    load: Any,
    origin: Any,
    after_login: Any,
    after_logout: Any,
    logout_at_provider: Any,
    accepts: object = None,
) -> Settings:
    """Checks the options that every kind of login has.

    `accepts` is whom the login accepts, if not every user of the provider.

    Raises:
        TypeError: If an option has the wrong type.
        ValueError: If an option is invalid.
    """
    check.text("name", name, r"[a-z0-9][a-z0-9-]{0,63}", "a name such as 'google'")
    parameters = check_parameters(check, parameters)
    if prompt is not None:
        check.choice("prompt", prompt, _PROMPTS)
    if max_age is not None:
        check.number("max_age", max_age, least=0, unit="seconds", whole=False)
    for option, function, arguments in (
        ("on_login", on_login, "(user, c)"),
        ("on_error", on_error, "(error, c)"),
        ("load", load, "(user, c)"),
    ):
        if function is not None:
            check.function(option, function, arguments)
    if origin is not None:
        check.text("origin", origin)
        check_origins(check, "origin", origin)
    for option, path in (("after_login", after_login), ("after_logout", after_logout)):
        if not is_return_path(path):
            check.unusable(option, path, "a path of this site such as '/'")
    return Settings(
        provider=provider,
        client=client,
        # APPSEC: a login for everybody must not open what a stricter one of the same client guards.
        key=sha256(f"{client.key_at(provider.issuer)} {name} {accepts}".encode()).hexdigest()[:32],
        name=name,
        scope=" ".join(scopes),
        parameters=parameters,
        prompt=prompt,
        max_age=max_age,
        acr_values=check.texts("acr_values", acr_values),
        leeway_s=leeway,
        on_login=on_login,
        on_error=on_error,
        load=load,
        origin=origin,
        after_login=after_login,
        after_logout=after_logout,
        ends_at_provider=check.flag("logout_at_provider", logout_at_provider),
    )


def check_parameters(check: OptionChecks, parameters: Any) -> dict[str, str]:
    """Checks further parameters of authorization requests.

    Raises:
        TypeError: If they aren't a mapping of texts.
        ValueError: If one has an option of its own, or would change how the response is sent.
    """
    if parameters is None:
        return {}
    found = check.keys("parameters", parameters, tuple(parameters))
    for name, value in found.items():
        if name in OWN_PARAMETERS:
            check.unusable("parameters", name, "parameters that have no option of their own")
        check.text("parameters", value)
    return dict(found)


def check_scopes(check: OptionChecks, scopes: Any) -> tuple[str, ...]:
    """Checks scopes (RFC 6749, section 3.3).

    Raises:
        TypeError: If they are neither a str nor a list of them.
        ValueError: If one of them is invalid.
    """
    found = check.texts("scopes", scopes)
    for each in found:
        check.text("scopes", each, r"[!#-\[\]-~]+", "scopes such as ['openid', 'email']")
    return found
