# SPDX-License-Identifier: MIT
"""The metadata by which clients of an API, such as MCP, find access tokens (RFC 9728)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from kit.authoring.options import OptionChecks
from kit.http.secure_uris import is_secure_uri
from kit.interface import AsyncMiddleware, Context, Response
from kit.interface.metadata import attach
from kit.jwt import AsymmetricAlgorithm

from ._access_tokens import bearer_guard
from ._factory import ALGORITHMS
from ._routing_app import RoutingApp
from ._settings import check_scopes

if TYPE_CHECKING:
    import httpx

__all__ = ("protected_resource",)

_WELL_KNOWN = "/.well-known/oauth-protected-resource"


def protected_resource(
    app: RoutingApp,
    *,
    resource: str,
    issuer: str,
    scopes: str | Iterable[str] = (),
    scopes_supported: str | Iterable[str] = (),
    name: str | None = None,
    algorithms: AsymmetricAlgorithm | Sequence[AsymmetricAlgorithm] = ALGORITHMS,
    leeway: float = 30,
    timeout: float = 10,
    transport: httpx.AsyncBaseTransport | None = None,
) -> AsyncMiddleware:
    """Adds the metadata of an API to an app, and returns the guard of the API.

    The metadata is at `/.well-known/oauth-protected-resource`, followed by the path of the
    resource. The guard is that of `access_token`, with the resource as audience, and names the
    metadata in its challenges. That is what MCP requires of a server with authorization.

    Args:
        app: The outermost app. Call this before the guard covers all paths: the metadata is public.
        resource: The URL of the API, as clients know it, such as `https://books.example/mcp`.
        issuer: Who issues the tokens, exactly as its metadata names it.
        scopes: The scopes that a token needs, all of them.
        scopes_supported: All scopes of the API, for clients. Default: `scopes`.
        name: The name of the API, for users.
        algorithms: As for `access_token`.
        leeway: As for `access_token`.
        timeout: As for `access_token`.
        transport: As for `access_token`.

    Returns:
        The guard, for `app.use(path, ...)`.

    Raises:
        TypeError: If an option has the wrong type.
        ValueError: If an option is invalid.

    SPEC: RFC 9728; Model Context Protocol 2025-11-25, "Authorization".

    Example:
        guard = protected_resource(app, resource="https://books.example/mcp", issuer=ISSUER)
        app.use(guard)
    """
    check = OptionChecks("protected_resource")
    check.text("resource", resource)
    if not is_secure_uri(resource) or "?" in resource or "#" in resource:
        check.unusable("resource", resource, "an https URL such as 'https://books.example/mcp'")
    parts = urlsplit(resource)
    # SPEC: RFC 9728 section 3.1: a slash right after the host is left out, no other one.
    path = _WELL_KNOWN + ("" if parts.path == "/" else parts.path)
    guard = bearer_guard(
        check,
        issuer=issuer,
        audience=resource,
        scopes=scopes,
        algorithms=algorithms,
        leeway=leeway,
        resource_metadata=f"{parts.scheme}://{parts.netloc}{path}",
        timeout=timeout,
        transport=transport,
    )
    if name is not None:
        check.text("name", name)
    supported = check_scopes(check, scopes_supported or scopes)
    metadata: dict[str, Any] = {
        "resource": resource,
        "authorization_servers": [issuer],
        "bearer_methods_supported": ["header"],
    }
    if supported:
        metadata["scopes_supported"] = list(supported)
    if name is not None:
        metadata["resource_name"] = name

    async def describe_resource(c: Context[Any, Any]) -> Response:
        # Clients in browsers read it from any origin; it has no secret.
        headers = {"Access-Control-Allow-Origin": "*", "Cache-Control": "public, max-age=3600"}
        return c.json(metadata, 200, headers)

    app.get(path, attach(describe_resource, describes={"hidden": True}))
    return guard
