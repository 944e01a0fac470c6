# SPDX-License-Identifier: MIT
"""Does what a curl command of the docs does, against an app of this process."""

from __future__ import annotations

import argparse
import asyncio
import base64
import mimetypes
from contextlib import AbstractAsyncContextManager, nullcontext
from pathlib import Path
from typing import Any, TypeVar

import httpx

from kit import Kit

_ClientT = TypeVar("_ClientT", bound="httpx.Client | httpx.AsyncClient")
ORIGINS = ("http://127.0.0.1:8000", "http://localhost:8000")

_parser = argparse.ArgumentParser("curl", exit_on_error=False)
_parser.add_argument("url")
_parser.add_argument("-X", "--request", dest="method")
_parser.add_argument("-H", "--header", action="append", default=[])
_parser.add_argument("-d", "--data", "--data-binary")
_parser.add_argument("--json")
_parser.add_argument("-F", "--form", action="append", default=[])
_parser.add_argument("-b", "--cookie")
_parser.add_argument("-u", "--user")
_parser.add_argument("-i", "--include", action="store_true")
_parser.add_argument("-I", "--head", action="store_true")
_parser.add_argument("-g", "--globoff", action="store_true")
_parser.add_argument("-s", "--silent", action="store_true")
_parser.add_argument("-N", "--no-buffer", action="store_true")


def curl(arguments: list[str], app: Any, folder: Path) -> tuple[int, str]:
    """Returns the status of the answer and what curl prints of it."""
    options = _parser.parse_args(arguments)
    assert options.url.startswith(ORIGINS), f"{options.url} is not where the app is served"
    method, request = _request(options, folder)
    if hasattr(app, "wsgi_app"):
        with httpx.Client(transport=httpx.WSGITransport(app, raise_app_exceptions=False)) as client:
            response = _plain(client).request(method, options.url, **request)
    else:
        response = asyncio.run(_ask(app, method, options.url, request))
    printed = response.text
    if options.include or options.head:
        head = [f"HTTP/1.1 {response.status_code} {response.reason_phrase}"]
        head += [f"{n.decode('latin-1')}: {v.decode('latin-1')}" for n, v in response.headers.raw]
        printed = "\n".join([*head, "", "" if options.head else printed])
    return response.status_code, printed


def _request(options: argparse.Namespace, folder: Path) -> tuple[str, dict[str, Any]]:
    """The method and what else httpx takes for the request."""
    headers = [tuple(line.split(":", 1)) for line in options.header]
    headers = [(name, value.strip()) for name, value in headers]
    names = {name.lower() for name, _ in headers}
    content: dict[str, Any] = {}
    if options.data is not None:
        content["content"] = options.data
        if "content-type" not in names:
            headers.append(("content-type", "application/x-www-form-urlencoded"))
    if options.json is not None:
        content["content"] = options.json
        headers.append(("content-type", "application/json"))
    if options.cookie:
        headers.append(("cookie", options.cookie))
    if options.user:
        encoded = base64.b64encode(options.user.encode()).decode()
        headers.append(("authorization", f"Basic {encoded}"))
    if options.form:
        content["files"] = [_part(part, folder) for part in options.form]
    method = options.method or ("HEAD" if options.head else "POST" if content else "GET")
    return method, {"headers": headers, **content}


async def _ask(app: Any, method: str, url: str, request: dict[str, Any]) -> httpx.Response:
    async with _running(app) as state:

        async def served(scope: Any, receive: Any, send: Any) -> None:
            # As a server does it with what a lifespan of Starlette yields.
            await app({**scope, "state": dict(state or {})}, receive, send)

        transport = httpx.ASGITransport(
            served, raise_app_exceptions=False, client=("127.0.0.1", 50_000)
        )
        async with httpx.AsyncClient(transport=transport) as client:
            return await _plain(client).request(method, url, **request)


def _plain(client: _ClientT) -> _ClientT:
    """Takes away what httpx sends of its own accord and curl does not."""
    client.headers.clear()
    client.headers.update({"accept": "*/*", "user-agent": "curl/8.0.0"})
    return client


def _part(part: str, folder: Path) -> tuple[str, Any]:
    """A field of a form, or a file, which is made if there is none."""
    name, _, value = part.partition("=")
    if not value.startswith("@"):
        return name, (None, value)
    file, *attributes = value[1:].split(";")
    path = folder / file
    if not path.exists():
        path.write_bytes(b"0123456789")
    kind = dict(each.split("=") for each in attributes).get("type")
    kind = kind or mimetypes.guess_type(file)[0] or "application/octet-stream"
    return name, (path.name, path.read_bytes(), kind)


def _running(app: Any) -> AbstractAsyncContextManager[Any]:
    """Runs the lifespan of an app of Kit, Starlette or FastAPI."""
    if isinstance(app, Kit):
        return app.running()
    router = getattr(app, "router", None)
    lifespan = getattr(router, "lifespan_context", None)
    return lifespan(app) if lifespan is not None else nullcontext()
