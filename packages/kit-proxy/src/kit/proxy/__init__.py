# SPDX-License-Identifier: MIT
"""Passes requests and WebSocket connections on to another server.

    from kit.proxy import proxy, reverse_proxy

    app.all("/api/*", reverse_proxy("http://backend:8080/v1"))
    app.get("/avatar/:id", lambda c: proxy(c, f"http://images/{c.req.param('id')}.png"))

`reverse_proxy` returns a handler that appends the rest of the path to a base URL: nothing that a
client sends changes scheme, host or port, or leads out of the base path. `proxy` sends one request
to a URL, as Hono's `proxy` does.

Bodies are streamed in both directions, as fast as the slower side reads, and stay encoded as they
are. If the client disconnects, the request to the upstream server ends.

SPEC: RFC 9110, sections 7.6 (Message Forwarding) and 15.6 (502, 504); RFC 7239 (Forwarded).
"""

from ._options import HeadersOption, ProxyOptions
from ._proxy import proxy
from ._reverse_proxy import ReverseProxy, reverse_proxy

__all__ = ("HeadersOption", "ProxyOptions", "ReverseProxy", "proxy", "reverse_proxy")

# The public classes show the module that they are imported from: kit.proxy.
for _class in (ProxyOptions, ReverseProxy):
    _class.__module__ = __name__
