# SPDX-License-Identifier: MIT
"""Registers the routes of document and page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args
from urllib.parse import quote, unquote

from anyio import to_thread

from kit.authoring.options import OptionChecks
from kit.http.conditional import evaluate
from kit.interface import App, Context, Response
from kit.interface.metadata import attach, get_facts

from ._document import AppOperations, Documentation
from ._options import DEFAULT_INFO, check_assets, check_paths, documentation
from ._serving import UI, RoutingApp, entity_tag
from ._versions import Version

__all__ = ("build_document", "documentations", "find_operations", "openapi")

_MOST_PREFIXES = 64


AppT = TypeVar("AppT", bound=RoutingApp)


def openapi(
    app: AppT,
    *,
    info: Mapping[str, Any] | None = None,
    servers: Sequence[Mapping[str, Any]] = (),
    tags: Sequence[Mapping[str, Any]] = (),
    path: str = "/openapi.json",
    docs: str | None = "/docs",
    ui: UI = "swagger",
    assets: Path | str | None = None,
    errors: Any = None,
    security_schemes: Mapping[str, Mapping[str, Any]] | None = None,
    version: Version = "3.1",
) -> AppT:
    """Serves an OpenAPI document of an app, and a page that shows it.

    The document is built when it is first requested, so call this before or after the routes are
    registered. Middleware registered before it also covers the document and the page.

    If the app was returned by `base_path`, only the routes below that prefix are documented.

    Args:
        app: The app.
        info: The Info Object (OpenAPI 3.1.1, section 4.8.2): `title`, `version`, `description`,
            etc. Default: the title `API`, the version `0.1.0`.
        servers: Server Objects, e.g. `[{"url": "https://api.example.com"}]`. Default: the URL that
            served the document, including the prefixes of proxies.
        tags: Tag Objects, for their order and descriptions. Other tags of operations follow.
        path: Path of the document.
        docs: Path of the page; None for no page.
        ui: The tool that shows the document: `swagger` or `scalar`.
        assets: The files of the page: a folder as `pathlib.Path`, or the URL of a folder that is
            already served, as str. Default: the package kit-openapi-ui, which the extra `ui`
            installs.
        errors: The type of the bodies that the app's `on_error` returns, or a mapping of media
            types to types. Default: Kit's problem documents, and no body for other errors.
        security_schemes: Security Scheme Objects by name, for `describe(security=...)`.
        version: The version of OpenAPI. 3.2 describes routes for QUERY and other methods, and the
            items of streams; in a document of 3.1, these are extensions such as `x-query`, which
            most tools ignore.

    Returns:
        The app.

    Raises:
        TypeError: If an option has the wrong type.
        ValueError: If an option can't be used.
        ModuleNotFoundError: If the page needs kit-openapi-ui, but it isn't installed.

    Example:
        ```python
        app = Kit()
        openapi(app, info={"title": "Bookshelf", "version": "1.0.0"})
        ```
    """
    documented = documentation(
        "openapi",
        app,
        info=info,
        servers=servers,
        tags=tags,
        errors=errors,
        security_schemes=security_schemes,
        version=version,
    )
    check_paths(path, docs)
    OptionChecks("openapi").choice("ui", ui, get_args(UI))
    folder_or_url = check_assets(assets)
    pages = None
    if docs is not None:
        from ._page import Pages

        pages = Pages(documented, ui=ui, path=path, docs=docs, assets=folder_or_url)
    served = _ServedDocument(documented, path)
    app.get(path, served.handler)
    own = next(route for route in app.routes if route.handler is served.handler)
    documented.base_path = own.base_path
    if pages is not None:
        pages.register(app, own.path)
    return app


def build_document(
    app: App,
    *,
    info: Mapping[str, Any] | None = None,
    servers: Sequence[Mapping[str, Any]] = (),
    tags: Sequence[Mapping[str, Any]] = (),
    errors: Any = None,
    security_schemes: Mapping[str, Mapping[str, Any]] | None = None,
    version: Version = "3.1",
) -> dict[str, Any]:
    """Builds the document of an app, without registering routes.

    Args:
        app: The app.
        info: See `openapi`.
        servers: See `openapi`.
        tags: See `openapi`.
        errors: See `openapi`.
        security_schemes: See `openapi`.
        version: See `openapi`.

    Returns:
        The document, ready for `json.dumps`.

    Raises:
        TypeError: If an argument has the wrong type.
        ValueError: If an argument can't be used.
    """
    return documentation(
        "build_document",
        app,
        info=info,
        servers=servers,
        tags=tags,
        errors=errors,
        security_schemes=security_schemes,
        version=version,
    ).document()


def find_operations(app: App) -> AppOperations:
    """Finds the operations of an app, for tools that offer its routes in another form.

    It doesn't register routes. Routes with `describe(hidden=True)` are left out.

    Args:
        app: The app, with all its routes registered.

    Returns:
        The operations, each with the handler of its route, and the document as `build_document`
        returns it for OpenAPI 3.2, which has all methods.
    """
    return Documentation(app, info=DEFAULT_INFO, version="3.2").operations()


def documentations(app: App) -> list[tuple[str, Documentation]]:
    """Lists the documents that `openapi` registered in an app.

    Args:
        app: The app.

    Returns:
        The path of each document, with its `Documented` object.
    """
    found = []
    for route in app.routes:
        served = get_facts(route.handler).others.get("openapi_documentation")
        if isinstance(served, Documentation):
            found.append((route.path, served))
    return found


class _ServedDocument:
    """The route of a document.

    Args:
        documented: The document and its options.
        path: Its path, within its app.

    Attributes:
        handler: The handler of the route.
    """

    def __init__(self, documented: Documentation, path: str) -> None:
        self._documented = documented
        self._path = path
        self._bodies: dict[str, tuple[bytes, str]] = {}

        async def openapi_document(c: Context[Any, Any]) -> Response:
            return await self._answer(c)

        self.handler = attach(
            openapi_document, describes={"hidden": True}, openapi_documentation=documented
        )

    async def _answer(self, c: Context[Any, Any]) -> Response:
        prefix = find_prefix(c, self._documented.base_path, self._path)
        found = self._bodies.get(prefix)
        if found is None:
            # In a thread: a large app takes a while, once.
            found = await to_thread.run_sync(self._made, prefix)
            # A prefix with parameters depends on the client's request.
            if len(self._bodies) < _MOST_PREFIXES:
                self._bodies[prefix] = found
        body, etag = found
        headers = {"etag": etag, "cache-control": "no-cache"}
        if evaluate(c.req.method, c.req.header, etag=etag) == 304:
            return c.body(None, 304, headers)
        return c.body(body, 200, {**headers, "content-type": "application/json"})

    def _made(self, prefix: str) -> tuple[bytes, str]:
        import msgspec  # here, since it isn't needed at startup

        document = self._documented.document()
        if prefix and not self._documented.servers:
            document = {**document, "servers": [{"url": prefix}]}
        body = msgspec.json.encode(document)
        return body, entity_tag(body)


def find_prefix(c: Context[Any, Any], base_path: str, path: str) -> str:
    """Returns the prefix of a document's paths in the URL of a request.

    Args:
        c: The context of a request for a route of `openapi`.
        base_path: The prefix that the paths of the document already have.
        path: The path of the route, without that prefix.

    Returns:
        The prefix, percent-encoded; empty if there is none.
    """
    own = f"{base_path.rstrip('/')}{path}"
    # APPSEC: not by urlsplit(), which keeps the URLs that it has split.
    url = c.req.url.partition("://")[2].partition("?")[0]
    segments = url.rstrip("/").split("/")[1:]
    count = len([each for each in own.split("/") if each])
    root = c.req.raw.root_path.rstrip("/")
    # A parameter in the prefix of a mount could begin with a slash, and so become another host.
    encoded_root = root and "/" + quote(root.lstrip("/"))
    if unquote("/".join(segments[-1:])) != path.rsplit("/", 1)[-1] or count > len(segments):
        return encoded_root  # the app doesn't route only by path
    prefix = "".join(f"/{each}" for each in segments[: len(segments) - count])
    # Some servers leave the prefix of a proxy out of the path, as mounts leave out theirs.
    has_root = not c.req.raw.is_below_root_path
    if has_root and f"{unquote(prefix)}/".startswith(f"{root}/"):
        return prefix
    return encoded_root + prefix
