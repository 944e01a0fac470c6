# SPDX-License-Identifier: MIT
"""Applications of other frameworks, for `Kit.mount`.

    from kit.asgi import from_asgi, from_wsgi

    app.mount("/api", from_asgi(fastapi_app))
    app.mount("/admin", from_wsgi(django_wsgi_app))

The application is given the path as the client sent it, and as `root_path` (`SCRIPT_NAME` for WSGI)
the part of it that leads to the application, so the URLs that it makes of its routes are right.
Request and response are streamed. It runs in a task of its own: it sees the context variables of
the request, but what it sets stays there. A Kit app runs its lifespan along with its own. It gets
no WebSocket connections, as Kit has none, and `Limits` don't bound what it reads.

SPEC: ASGI 3.0, HTTP & WebSocket message format 2.3; PEP 3333.
"""

from ._handler import AsgiHandler, from_asgi, from_wsgi

__all__ = ("AsgiHandler", "from_asgi", "from_wsgi")

# The name is shown as it is imported: kit.asgi.AsgiHandler.
AsgiHandler.__module__ = __name__
