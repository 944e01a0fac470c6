# SPDX-License-Identifier: MIT
"""Runs ASGI and WSGI applications under `Kit.mount`, and ASGI middleware in a Kit app.

    from kit.asgi import asgi_middleware, from_asgi, from_wsgi

    app.use("*", asgi_middleware(CorrelationIdMiddleware))
    app.mount("/api", from_asgi(fastapi_app))
    app.mount("/admin", from_wsgi(django_wsgi_app))

The application receives the path as the client sent it, and the prefix that leads to it as
`root_path` (`SCRIPT_NAME` for WSGI), so that it builds correct URLs. Request and response are
streamed. The application runs in a separate task: it sees the context variables of the request, but
variables that it sets stay in its task. A Kit app runs the application's lifespan together with its
own. `max_body_size_bytes` is the only one of the `Limits` that applies.

An ASGI application also receives the WebSocket connections below its path. Their handshakes go
through the middleware of the Kit app, which may reject them or add headers to the response.

Conversely, `to_wsgi` runs a Kit app, or another ASGI application, on a WSGI server.

SPEC: ASGI 3.0, HTTP & WebSocket message format 2.3; PEP 3333.
"""

from ._handler import AsgiHandler, from_asgi, from_wsgi, to_wsgi
from ._middleware import AsgiMiddleware, asgi_middleware
from ._to_wsgi import WsgiApplication

__all__ = (
    "AsgiHandler",
    "AsgiMiddleware",
    "WsgiApplication",
    "asgi_middleware",
    "from_asgi",
    "from_wsgi",
    "to_wsgi",
)

# The public classes show the module that they are imported from: kit.asgi.
for _class in (AsgiHandler, AsgiMiddleware, WsgiApplication):
    _class.__module__ = __name__
