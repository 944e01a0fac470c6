# SPDX-License-Identifier: MIT
"""The page that shows an AsyncAPI document. It loads nothing from other hosts."""

from __future__ import annotations

import posixpath
from functools import partial
from html import escape
from importlib.resources import files
from typing import Any
from urllib.parse import quote

from anyio import to_thread

from kit.http.conditional import evaluate
from kit.interface import Context, Response
from kit.interface.metadata import attach

from .._serving import RoutingApp, entity_tag
from .document import AsyncDocumentation

__all__ = ("AsyncPage",)

_TYPES = {
    "asyncapi.css": "text/css; charset=utf-8",
    "asyncapi.js": "text/javascript; charset=utf-8",
}
# Unescaped characters in a URL path, except `:`, which would end the scheme of a relative URL.
_SAFE = "/%!$&'()*+,;=@"


class AsyncPage:
    """The routes of a page.

    Args:
        documented: The document to show.
        path: Path of the document.
        docs: Path of the page.
    """

    def __init__(self, documented: AsyncDocumentation, path: str, docs: str) -> None:
        self._documented = documented
        self._path = path
        self._docs = docs
        self._root = ""
        self._bodies: dict[str, tuple[bytes, str]] = {}

    def register(self, app: RoutingApp) -> None:
        """Registers the routes of page, script and style sheet."""

        async def asyncapi_page(c: Context[Any, Any]) -> Response:
            return await self._respond(c)

        async def asyncapi_asset(c: Context[Any, Any]) -> Response:
            return await self._respond_file(c)

        hide = partial(attach, describes={"hidden": True})
        page = hide(asyncapi_page, asyncapi_page=True)
        app.get(self._docs, page)
        app.get(f"{self._docs.rstrip('/')}/ui/:file", hide(asyncapi_asset))
        full = next(route.path for route in app.routes if route.handler is page)
        depth = len([each for each in full.split("/") if each])
        self._root = "../" * max(0, depth - 1) or "./"

    async def _respond(self, c: Context[Any, Any]) -> Response:
        # A browser resolves links against the path up to its last slash.
        up = "../" if c.req.url.partition("?")[0].endswith("/") and self._docs != "/" else ""
        nonce = c.get("secure_headers_nonce")
        mark = f' nonce="{escape(nonce)}"' if isinstance(nonce, str) else ""
        headers = {"content-type": "text/html; charset=utf-8", "cache-control": "no-cache"}
        if not c.res.headers.has("content-security-policy"):
            headers["content-security-policy"] = self._policy()
        # In a thread: building the document of a large app takes a while, once.
        document = await to_thread.run_sync(self._documented.document)
        return c.body(self._write(document, up, mark), 200, headers)

    def _write(self, document: dict[str, Any], up: str, mark: str) -> str:
        from .page_content import write_content

        folder = up + quote(posixpath.join(self._docs.rsplit("/", 1)[-1], "ui"), safe=_SAFE)
        link = posixpath.relpath(self._path, posixpath.dirname(self._docs) or "/")
        link = up + quote(link, safe=_SAFE)
        servers = document.get("servers", {})
        addresses = " ".join(
            f"{each['protocol']}://{each['host']}{each.get('pathname', '')}"
            for each in servers.values()
        )
        return (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            '<meta name="color-scheme" content="light dark">\n'
            f"<title>{escape(str(document['info']['title']))}: WebSockets</title>\n"
            '<link rel="icon" href="data:,">\n'
            f'<link rel="stylesheet" href="{escape(folder)}/asyncapi.css"{mark}>\n</head>\n'
            f'<body data-root="{escape(up + self._root)}" data-servers="{escape(addresses)}">\n'
            + write_content(document, link)
            + f'<script src="{escape(folder)}/asyncapi.js"{mark}></script>\n</body>\n</html>\n'
        )

    async def _respond_file(self, c: Context[Any, Any]) -> Response:
        name = c.req.param("file") or ""
        if name not in _TYPES:
            return await c.not_found()
        if name not in self._bodies:
            body = (files("kit.openapi") / "_assets" / name).read_bytes()
            self._bodies[name] = body, entity_tag(body)
        body, etag = self._bodies[name]
        headers = {"etag": etag, "cache-control": "no-cache", "x-content-type-options": "nosniff"}
        if evaluate(c.req.method, c.req.header, etag=etag) == 304:
            return c.body(None, 304, headers)
        return c.body(body, 200, {**headers, "content-type": _TYPES[name]})

    def _policy(self) -> str:
        """Returns the policy of the page (CSP Level 3), which allows only what it needs."""
        hosts = [
            f"{each['protocol']}://{each['host']}"
            for each in self._documented.servers.values()
            if not any(character in each["host"] for character in " ;,{}'\"")
        ]
        rules = {
            "default-src": "'none'",
            "script-src": "'self'",
            "style-src": "'self'",
            "img-src": "data:",
            "connect-src": " ".join(["'self'", *sorted({*hosts})]),
            "base-uri": "'none'",
            "form-action": "'none'",
            "frame-ancestors": "'self'",
        }
        return "; ".join(f"{name} {value}" for name, value in rules.items())
