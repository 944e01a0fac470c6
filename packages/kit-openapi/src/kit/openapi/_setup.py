# SPDX-License-Identifier: MIT
"""Registers the routes of document and page."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, get_args
from urllib.parse import quote, unquote

from kit.authoring.options import OptionChecks
from kit.interface import App, Codecs, Context, Response, RouterRoute
from kit.interface.metadata import attach, get_facts

from ._document import AppOperations, Documentation
from ._options import DEFAULT_INFO, check_assets, check_paths, documentation
from ._selection import OperationFilter
from ._serving import UI, KeptDocuments, RoutingApp
from ._versions import Version

__all__ = ("build_document", "documentations", "find_operations", "openapi")

_log = logging.getLogger("kit.openapi")


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
    webhooks: Mapping[str, Any] | None = None,
    external_docs: str | Mapping[str, str] | None = None,
    security: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    extensions: Mapping[str, Any] | None = None,
    include: OperationFilter | None = None,
    exclude: OperationFilter | None = None,
    transform: Callable[[dict[str, Any]], Mapping[str, Any]] | None = None,
    version: Version = "3.1",
    separate_input_output: bool = False,
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
        webhooks: Requests that the app sends to URLs that its users registered elsewhere, by name
            (section 4.8.1). Each is the type of the body of a POST, `describe(...)`, a typed or
            described function, or a Path Item Object (section 4.8.9), in which these may stand for
            Operation Objects, and types for schemas.
        external_docs: The URL of more documentation, or an External Documentation Object (section
            4.8.11).
        security: Security Scheme Objects, or requirements that name `security_schemes`, of the
            operations for which neither a guard nor `describe` says more.
        extensions: Other members of the document, whose names begin with `x-`.
        include: The operations of the document: tags, patterns such as `/v1/*`, or a function that
            gets a `RouteOperation` and returns whether to include it. Default: all. A client or a
            page sees only these, and the document has only their types.
        exclude: The operations to leave out, like `include`.
        transform: Called once with the finished document; returns the one to serve.
        version: The version of OpenAPI. 3.2 describes routes for QUERY and other methods, and the
            items of streams; in a document of 3.1, these are extensions such as `x-query`, which
            most tools ignore.
        separate_input_output: Whether a type with defaults that is sent and received has two
            schemas, `Book-Input` and `Book-Output`: fields with a default may be left out of a
            request, but responses always have them. Default: one schema, `Book`, so that a client
            can change what it was sent, and send it back.

    Returns:
        The app.

    Raises:
        TypeError: If an option has the wrong type.
        ValueError: If an option can't be used, or if the app has a document or a page at the path.
            At startup, if a tag or pattern of `include` or `exclude` means no operation, or a
            description doesn't fit its routes.
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
        webhooks=webhooks,
        external_docs=external_docs,
        security=security,
        extensions=extensions,
        include=include,
        exclude=exclude,
        transform=transform,
        version=version,
        separate_input_output=separate_input_output,
    )
    check_paths(path, docs)
    OptionChecks("openapi").choice("ui", ui, get_args(UI))
    folder_or_url = check_assets(assets)
    pages = None
    if docs is not None:
        from ._page import Pages

        pages = Pages(documented, ui=ui, path=path, docs=docs, assets=folder_or_url)
    served = _ServedDocument(documented, path)
    others = documentations(app)
    app.get(path, served)
    own = next(route for route in app.routes if route.handler in (served, served.handler))
    documented.base_path = own.base_path
    documented.docs_path = None if docs is None else own.path.removesuffix(path) + docs
    _check_others("path", path, own.path, [each for each, _ in others])
    _check_others("docs", docs, documented.docs_path, [each.docs_path for _, each in others])
    if pages is not None:
        pages.register(app, own.path)
    return app


def _check_others(option: str, given: Any, path: str | None, others: Sequence[str | None]) -> None:
    """Rejects a path at which the app already has another document, or its page."""
    if path is not None and path in others:
        OptionChecks("openapi").unusable(
            option, given, f"a path other than that of another document of the app, {path!r}"
        )


def build_document(
    app: App,
    *,
    info: Mapping[str, Any] | None = None,
    servers: Sequence[Mapping[str, Any]] = (),
    tags: Sequence[Mapping[str, Any]] = (),
    errors: Any = None,
    security_schemes: Mapping[str, Mapping[str, Any]] | None = None,
    webhooks: Mapping[str, Any] | None = None,
    external_docs: str | Mapping[str, str] | None = None,
    security: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    extensions: Mapping[str, Any] | None = None,
    include: OperationFilter | None = None,
    exclude: OperationFilter | None = None,
    transform: Callable[[dict[str, Any]], Mapping[str, Any]] | None = None,
    version: Version = "3.1",
    separate_input_output: bool = False,
) -> dict[str, Any]:
    """Builds the document of an app, without registering routes.

    Args:
        app: The app.
        info: See `openapi`.
        servers: See `openapi`.
        tags: See `openapi`.
        errors: See `openapi`.
        security_schemes: See `openapi`.
        webhooks: See `openapi`.
        external_docs: See `openapi`.
        security: See `openapi`.
        extensions: See `openapi`.
        include: See `openapi`.
        exclude: See `openapi`.
        transform: See `openapi`.
        version: See `openapi`.
        separate_input_output: See `openapi`.

    Returns:
        The document, ready for `json.dumps`.

    Raises:
        TypeError: If an argument has the wrong type, or `transform` returns no document.
        ValueError: If an argument can't be used, or a description doesn't fit its routes.
    """
    return documentation(
        "build_document",
        app,
        info=info,
        servers=servers,
        tags=tags,
        errors=errors,
        security_schemes=security_schemes,
        webhooks=webhooks,
        external_docs=external_docs,
        security=security,
        extensions=extensions,
        include=include,
        exclude=exclude,
        transform=transform,
        version=version,
        separate_input_output=separate_input_output,
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
        handler: The handler that the app runs, see `kit.interface.hooks`. When the app starts, it
            checks the descriptions of the routes.
    """

    def __init__(self, documented: Documentation, path: str) -> None:
        self._documented = documented
        self._path = path
        self._kept = KeptDocuments(self._place)
        self._is_told = False  # what the document lacks, in the log

        async def openapi_document(c: Context[Any, Any]) -> Response:
            return await self._answer(c)

        def check(before: Sequence[RouterRoute], route: RouterRoute | None) -> None:
            documented.check()

        openapi_document.__dict__["__kit_check__"] = check
        facts: Any = {"describes": {"hidden": True}, "openapi_documentation": documented}
        self.handler = attach(openapi_document, **facts)
        attach(self, **facts)

    def __kit_bind__(
        self, method: str, pattern: str, codecs: Codecs
    ) -> Callable[[Context[Any, Any]], Awaitable[Response]]:
        """Returns the handler."""
        return self.handler

    def __call__(self, c: Context[Any, Any]) -> Awaitable[Response]:
        """Runs the handler, for apps without hooks."""
        return self.handler(c)

    async def _answer(self, c: Context[Any, Any]) -> Response:
        return await self._kept.respond(c, find_prefix(c, self._documented.base_path, self._path))

    def _place(self, prefix: str) -> Mapping[str, Any]:
        """Returns the document as it is below a prefix."""
        document = self._documented.document()
        if not self._is_told:
            self._is_told = True
            for note in self._documented.undescribed:
                _log.warning("The document %s accepts any value: %s", self._path, note)
        if prefix and not self._documented.servers:
            return {**document, "servers": [{"url": prefix}]}
        return document


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
