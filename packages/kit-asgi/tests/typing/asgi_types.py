# SPDX-License-Identifier: MIT
"""Checked by mypy, pyright and ty against the installed wheels; never run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from wsgiref.types import WSGIApplication

from kit import Kit
from kit.asgi import WsgiApplication, from_asgi, from_wsgi, to_wsgi


async def asgi_app(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 204, "headers": []})


def wsgi_app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    start_response("204 No Content", [])
    return []


app = Kit()
app.mount("/asgi", from_asgi(asgi_app)).mount("/wsgi", from_wsgi(wsgi_app, workers=2))

application: WsgiApplication = to_wsgi(app, shutdown_timeout=2.5)
for_servers: WSGIApplication = application
application.start()
application.close()
