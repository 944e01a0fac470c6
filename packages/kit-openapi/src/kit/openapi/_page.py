# SPDX-License-Identifier: MIT
"""The page that shows a document, and its files. It loads nothing from other hosts."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Sequence
from functools import partial
from html import escape
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from anyio import to_thread

from kit.http.conditional import evaluate
from kit.http.encodings import choose_encoding
from kit.http.vary import add_vary
from kit.interface import Context, Response
from kit.interface.metadata import attach

from ._document import Documentation
from ._serving import UI, RoutingApp, entity_tag, find_websocket_pages

_FOREVER = "public, max-age=31536000, immutable"
_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".png": "image/png",
}
_VARIABLE = re.compile(r"\{[^{}]*\}")
_NOT_IN_POLICIES = re.compile(r"[\s;,]")
_SCRIPT = "kit-openapi.js"
_STYLE = "kit-openapi.css"
# Unescaped characters in a URL path, except `:`, which would end the scheme of a relative URL.
_SAFE = "/%!$&'()*+,;=@"


class _Interface(NamedTuple):
    """A user interface for documents.

    Attributes:
        scripts: Its scripts.
        styles: Its style sheets.
        icon: Its icon.
        preparation: A script of this package that runs before its own.
        adds_styles: Whether its scripts add styles, which a policy allows by a nonce.
    """

    scripts: Sequence[str]
    styles: Sequence[str] = ()
    icon: str = ""
    preparation: str = ""
    adds_styles: bool = False


_INTERFACES: dict[UI, _Interface] = {
    "swagger": _Interface(["swagger-ui-bundle.js"], ["swagger-ui.css"], "favicon-32x32.png"),
    "scalar": _Interface(["standalone.js"], preparation="kit-scalar.js", adds_styles=True),
}


class _File(NamedTuple):
    """A file of the page, ready to send.

    Attributes:
        body: Its content.
        packed: The content compressed with gzip.
        media_type: Its Content-Type.
        etag: Its entity tag; the tag of the packed form has a suffix.
    """

    body: bytes
    packed: bytes
    media_type: str
    etag: str


class Pages:
    """The routes of a page.

    Args:
        documented: The document to show.
        ui: The user interface.
        path: Path of the document.
        docs: Path of the page.
        assets: A folder, a URL, or None for kit-openapi-ui.

    Raises:
        ModuleNotFoundError: If kit-openapi-ui is needed and not installed.
    """

    def __init__(
        self, documented: Documentation, *, ui: UI, path: str, docs: str, assets: Path | str | None
    ) -> None:
        self._documented = documented
        self._ui = ui
        self._interface = interface = _INTERFACES[ui]
        self._docs = docs
        self._path = path
        self._url = assets if isinstance(assets, str) else None
        names = [*interface.scripts, *interface.styles, *filter(None, [interface.icon])]
        # None for those of this package.
        own = filter(None, [interface.preparation, _SCRIPT, _STYLE])
        self._sources: dict[str, Path | None] = dict.fromkeys(own)
        if self._url is None:
            folder = _find_bundled(ui) if assets is None else Path(assets)
            present = [name for name in names if (folder / name).is_file()]
            self._sources.update({name: folder / name for name in present})
            _check_files(folder, [*interface.scripts, *interface.styles])
        self._loaded: dict[str, _File] = {}
        self._versions: dict[str, str] = {}
        self._root = ""
        self._base = ""
        self._app: RoutingApp | None = None

    def register(self, app: RoutingApp, document_path: str) -> None:
        """Registers the routes.

        Args:
            app: The app.
            document_path: The full path of the document.
        """
        self._app = app
        self._base = base = document_path.removesuffix(self._path)
        depth = len([each for each in f"{base}{self._docs}".split("/") if each])
        self._root = "../" * max(0, depth - 1) or "./"

        async def openapi_page(c: Context[Any, Any]) -> Response:
            return await self._answer_page(c)

        async def openapi_asset(c: Context[Any, Any]) -> Response:
            return await self._answer_file(c)

        hide = partial(attach, describes={"hidden": True})
        app.get(self._docs, hide(openapi_page))
        app.get(f"{self._docs.rstrip('/')}/ui/:file", hide(openapi_asset))

    async def _answer_page(self, c: Context[Any, Any]) -> Response:
        # A browser resolves links against the path up to its last slash.
        steps = c.req.url.partition("?")[0]
        up = "../" if steps.endswith("/") and self._docs != "/" else ""
        nonce = c.get("secure_headers_nonce")
        if not isinstance(nonce, str):
            nonce = os.urandom(16).hex() if self._interface.adds_styles else ""
        headers = {"content-type": "text/html; charset=utf-8", "cache-control": "no-cache"}
        if not c.res.headers.has("content-security-policy"):
            headers["content-security-policy"] = self._policy(nonce)
        return c.body(await self._page(up, nonce), 200, headers)

    async def _page(self, up: str, nonce: str) -> str:
        mark = f' nonce="{escape(nonce)}"' if nonce else ""
        interface = self._interface
        styles = [await self._link(name, up) for name in (*interface.styles, _STYLE)]
        names = filter(None, [interface.preparation, *interface.scripts, _SCRIPT])
        scripts = [await self._link(name, up) for name in names]
        icon = '<link rel="icon" href="data:,">\n'
        if interface.icon in self._sources:
            icon = f'<link rel="icon" href="{await self._link(interface.icon, up)}">\n'
        title = escape(str(self._documented.info["title"]))
        folder = posixpath.dirname(self._docs)
        document = up + quote(posixpath.relpath(self._path, folder or "/"), safe=_SAFE)
        servers = " data-servers" if self._documented.servers else ""
        return (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>{title}</title>\n{icon}"
            + "".join(f'<link rel="stylesheet" href="{each}"{mark}>\n' for each in styles)
            + f"</head>\n<body>\n{self._websocket_link(up)}"
            f'<div id="docs" data-ui="{self._ui}" data-document="{escape(document)}" '
            f'data-root="{up}{self._root}"{servers}>'
            f'<noscript>This page needs JavaScript. The document is at <a href="{escape(document)}"'
            f">{escape(document)}</a>.</noscript></div>\n"
            + "".join(f'<script src="{each}"{mark}></script>\n' for each in scripts)
            + "</body>\n</html>\n"
        )

    def _websocket_link(self, up: str) -> str:
        """Returns a link to the page of `asyncapi`, if the app has one."""
        pages = [] if self._app is None else find_websocket_pages(self._app)
        for page in pages:
            if page.startswith(f"{self._base}/"):
                folder = posixpath.dirname(f"{self._base}{self._docs}") or "/"
                link = up + quote(posixpath.relpath(page, folder), safe=_SAFE)
                return f'<nav class="kit-pages"><a href="{escape(link)}">WebSockets</a></nav>\n'
        return ""

    async def _link(self, name: str, up: str) -> str:
        if name not in self._sources:
            return escape(f"{self._url}/{name}")
        loaded = await self._load(name)
        folder = posixpath.join(self._docs.rsplit("/", 1)[-1], "ui")
        return escape(f"{up}{quote(folder, safe=_SAFE)}/{name}?v={loaded.etag[1:13]}")

    async def _answer_file(self, c: Context[Any, Any]) -> Response:
        name = c.req.param("file") or ""
        if name not in self._sources:
            return await c.not_found()
        loaded = await self._load(name)
        is_versioned = c.req.query("v") == loaded.etag[1:13]
        is_packed = choose_encoding(c.req.header("accept-encoding"), ("gzip",)) == "gzip"
        etag = f'{loaded.etag[:-1]}-gzip"' if is_packed else loaded.etag
        headers = {
            "etag": etag,
            "cache-control": _FOREVER if is_versioned else "no-cache",
            "x-content-type-options": "nosniff",
        }
        if evaluate(c.req.method, c.req.header, etag=etag) == 304:
            response = c.body(None, 304, headers)
        else:
            headers["content-type"] = loaded.media_type
            if is_packed:
                headers["content-encoding"] = "gzip"
            response = c.body(loaded.packed if is_packed else loaded.body, 200, headers)
        add_vary(response.headers, "Accept-Encoding")
        return response

    async def _load(self, name: str) -> _File:
        if name not in self._loaded:
            # In a thread: the largest file has 5 MB, and compressing it takes a while.
            self._loaded[name] = await to_thread.run_sync(_read, self._sources[name], name)
        return self._loaded[name]

    def _policy(self, nonce: str) -> str:
        """Returns the policy of the page (CSP Level 3), which allows only what it needs."""
        origins = {_origin(each.get("url", "")) for each in self._documented.servers}
        files_from = _origin(self._url or "")
        own = " ".join(filter(None, ["'self'", files_from]))
        rules = {
            "default-src": "'none'",
            "script-src": own,
            "style-src": f"{own} 'nonce-{nonce}'" if self._interface.adds_styles else own,
            "img-src": f"{own} data:",
            "font-src": f"{own} data:",
            "connect-src": " ".join(["'self'", *sorted(origins - {""})]),
            "base-uri": "'none'",
            "form-action": "'none'",
            "frame-ancestors": "'self'",
        }
        return "; ".join(f"{name} {value}" for name, value in rules.items())


def _find_bundled(ui: UI) -> Path:
    try:
        from kit.openapi_ui import find_assets
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "openapi(docs=...) needs kit-openapi-ui, which is not installed: "
            "pip install 'kit-openapi[ui]', or pass docs=None for only the document"
        ) from None
    return find_assets(ui)


def _check_files(folder: Path, names: Sequence[str]) -> None:
    for name in names:
        if not (folder / name).is_file():
            raise ValueError(f"openapi(assets=...) has no file {name!r}: looked in {folder}")


def _read(source: Path | None, name: str) -> _File:
    # Imported here: an app that starts needs none of it.
    import gzip
    from importlib.resources import files

    own = files("kit.openapi") / "_assets" / name
    body = (own if source is None else source).read_bytes()
    packed_file = None if source is None else source.parent / f"{name}.gz"
    if packed_file is not None and packed_file.is_file():
        packed = packed_file.read_bytes()
    else:
        packed = gzip.compress(body, 6, mtime=0)
    suffix = name[name.rindex(".") :]
    return _File(body, packed, _TYPES[suffix], entity_tag(body))


def _origin(url: str) -> str:
    """Returns the policy source for a server; variables in its URL match anything."""
    address = _VARIABLE.sub("*", url)
    if address.startswith("*://"):
        return "http: https:"
    parts = urlsplit(address)
    if not parts.scheme or not parts.netloc or _NOT_IN_POLICIES.search(parts.netloc):
        return ""
    # A policy supports `*` only as the first label of a host.
    if "*" in parts.netloc.removeprefix("*."):
        return f"{parts.scheme}:"
    return f"{parts.scheme}://{parts.netloc}"
