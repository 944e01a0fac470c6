# SPDX-License-Identifier: MIT
"""Registers the routes of an AsyncAPI document and its page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar
from urllib.parse import unquote

from kit.authoring.options import OptionChecks
from kit.interface import App, Context, Response
from kit.interface.metadata import attach, get_facts

from .._options import DEFAULT_INFO, check_app, check_paths, check_schemes
from .._serving import KeptDocuments, RoutingApp
from .document import AsyncDocumentation

__all__ = ("async_documentations", "asyncapi", "build_asyncapi")

_INFO = ("title", "version", "description", "termsOfService", "contact", "license", "tags")
_PROTOCOLS = {"ws": "http", "wss": "https"}

AppT = TypeVar("AppT", bound=RoutingApp)


def asyncapi(
    app: AppT,
    *,
    info: Mapping[str, Any] | None = None,
    servers: Mapping[str, Mapping[str, Any]] | None = None,
    path: str = "/asyncapi.json",
    docs: str | None = "/docs/websockets",
    security_schemes: Mapping[str, Mapping[str, Any]] | None = None,
) -> AppT:
    """Serves an AsyncAPI 3.0 document of the WebSockets of an app, and a page that shows it.

    The document is built when it is first requested, so call this before or after the routes are
    registered. Middleware registered before it also covers the document and the page. The page of
    `openapi` links to the page, on which people can connect, and send messages.

    If the app was returned by `base_path`, only the WebSockets below that prefix are documented.

    Args:
        app: The app.
        info: The Info Object (AsyncAPI 3.0.0): `title`, `version`, `description`, etc. Default: the
            title `API`, the version `0.1.0`.
        servers: Server Objects by name, e.g. `{"production": {"host": "api.example.com",
            "protocol": "wss"}}`. Default: the server that served the document.
        path: Path of the document.
        docs: Path of the page; None for no page.
        security_schemes: Security Scheme Objects of OpenAPI by name, for `describe(security=...)`.

    Returns:
        The app.

    Raises:
        TypeError: If an option has the wrong type.
        ValueError: If an option can't be used.

    Example:
        ```python
        app = Kit()
        asyncapi(app, info={"title": "Chat", "version": "1.0.0"})
        ```
    """
    documented = async_documentation("asyncapi", app, info, servers, security_schemes)
    check_paths(path, docs, "asyncapi")
    served = _ServedDocument(documented)
    app.get(path, served.handler)
    own = next(route for route in app.routes if route.handler is served.handler)
    documented.base_path = own.base_path
    served.path = own.path
    if docs is not None:
        from .page import AsyncPage

        AsyncPage(documented, path, docs).register(app)
    return app


def build_asyncapi(
    app: App,
    *,
    info: Mapping[str, Any] | None = None,
    servers: Mapping[str, Mapping[str, Any]] | None = None,
    security_schemes: Mapping[str, Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """Builds the AsyncAPI document of an app, without registering routes.

    Args:
        app: The app.
        info: See `asyncapi`.
        servers: See `asyncapi`. Default: none.
        security_schemes: See `asyncapi`.

    Returns:
        The document, ready for `json.dumps`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If an argument can't be used.
    """
    return async_documentation("build_asyncapi", app, info, servers, security_schemes).document()


def async_documentations(app: App) -> list[tuple[str, AsyncDocumentation]]:
    """Lists the documents that `asyncapi` registered in an app, with their paths."""
    found = []
    for route in app.routes:
        documented = get_facts(route.handler).others.get("asyncapi_documentation")
        if isinstance(documented, AsyncDocumentation):
            found.append((route.path, documented))
    return found


def async_documentation(
    factory: str,
    app: App,
    info: Mapping[str, Any] | None,
    servers: Mapping[str, Mapping[str, Any]] | None,
    security_schemes: Mapping[str, Mapping[str, Any]] | None,
) -> AsyncDocumentation:
    """Checks the options of a document.

    Args:
        factory: Name of the called function.
        app: The app.
        info: See `asyncapi`.
        servers: See `asyncapi`.
        security_schemes: See `asyncapi`.

    Raises:
        TypeError: If an option has the wrong type.
        ValueError: If an option can't be used.
    """
    check = OptionChecks(factory)
    check_app(factory, app)
    schemes = check_schemes(check, security_schemes)
    return AsyncDocumentation(
        app,
        info=_info(check, info),
        servers=_servers(check, servers),
        security_schemes=schemes,
    )


def _info(check: OptionChecks, info: Any) -> dict[str, Any]:
    if info is None:
        return dict(DEFAULT_INFO)
    own = (
        {name: each for name, each in info.items() if not str(name).startswith("x-")}
        if isinstance(info, Mapping)
        else info
    )
    check.keys("info", own, _INFO)
    for name in ("title", "version"):
        if not isinstance(info.get(name, ""), str):
            check.wrong_type(f"info[{name!r}]", info[name], "a str")
    return {**DEFAULT_INFO, **info}


def _servers(check: OptionChecks, servers: Any) -> Mapping[str, Any]:
    expected = "a mapping such as {'production': {'host': 'api.example.com', 'protocol': 'wss'}}"
    if servers is None:
        return {}
    if not isinstance(servers, Mapping):
        check.wrong_type("servers", servers, expected)
    for name, server in servers.items():
        if not isinstance(name, str) or not isinstance(server, Mapping):
            check.wrong_type("servers", servers, expected)
        if not isinstance(server.get("host"), str) or "/" in server["host"]:
            check.unusable(f"servers[{name!r:.100}]['host']", server.get("host"), "a host")
        check.choice(f"servers[{name!r:.100}]['protocol']", server.get("protocol"), [*_PROTOCOLS])
    return servers


class _ServedDocument:
    """The route of a document.

    Args:
        documented: The document and its options.

    Attributes:
        handler: The handler of the route.
        path: The full path of the document, once it is registered.
    """

    def __init__(self, documented: AsyncDocumentation) -> None:
        self._documented = documented
        self._kept = KeptDocuments(self._place)
        self.path = ""

        async def asyncapi_document(c: Context[Any, Any]) -> Response:
            return await self._respond(c)

        self.handler = attach(
            asyncapi_document, describes={"hidden": True}, asyncapi_documentation=documented
        )

    async def _respond(self, c: Context[Any, Any]) -> Response:
        return await self._kept.respond(c, find_server(c, self.path))

    def _place(self, server: tuple[str, str]) -> Mapping[str, Any]:
        """Returns the document as it is for a server: its origin, and the prefix of the app."""
        document = self._documented.document()
        if "servers" in document:
            return document
        origin, prefix = server
        protocol, _, host = origin.partition("://")
        described = {"host": host, "protocol": "wss" if protocol == "https" else "ws"}
        if prefix:
            described["pathname"] = prefix
        first = {name: document[name] for name in ("asyncapi", "info", "defaultContentType")}
        return {**first, "servers": {"default": described}, **document}


def find_server(c: Context[Any, Any], path: str) -> tuple[str, str]:
    """Returns the origin of a request, and the prefix of the app's paths in its URL.

    Args:
        c: The context of a request for the document or the page.
        path: The full path of its route.
    """
    from .._setup import find_prefix

    scheme, _, rest = c.req.url.partition("://")
    host = rest.partition("/")[0].partition("?")[0]
    return f"{scheme}://{host}", unquote(find_prefix(c, "/", path))


# Names are shown as they are imported.
for _function in (asyncapi, build_asyncapi):
    _function.__module__ = "kit.openapi"
