# SPDX-License-Identifier: MIT
"""Hooks of handlers that are built for the route they are registered at.

A handler with `__kit_bind__(method, pattern, codecs)` isn't run itself: an app calls the hook for
each method and whole pattern under which it is registered, and runs the result. It calls the hook
again if the pattern changes because the app becomes part of another one. `kit.typed` uses this to
read parameters, since the pattern determines which of them are in the path.

The result of the hook may have `__kit_check__(before, route)`. An app calls it at startup, and at
the first request, with the routes registered before the handler and the handler's own route; an
exception prevents the startup. It may have `__kit_check_env__(env)`, which an app calls with the
mapping that its lifespan has yielded, once a server has started it. Its `__kit_origin__` is the
function to name in errors.

It may have `__kit_link__(values, query)`, which `path_to` calls for a link to the handler: with the
values by name, each a text or a list of texts, and with the pairs of the query. It returns the
values of the path by the names of the pattern, and the pairs of the whole query. A TypeError or a
ValueError refuses them.

A middleware is bound in the same way if its class has `__kit_takes_next__ = True`; the result of
the hook is called with `(c, next)`. It may have `__kit_check_after__(after)`, which an app calls
with `__kit_check__`, with the routes registered after the middleware. A middleware that runs other
bound ones has them as `__kit_parts__`, a tuple: for hooks that it doesn't have itself, an app calls
those of its parts. A middleware whose class has `__kit_runs__ = False` only has facts for the
routes that it covers: it is one of the app's routes, but no request runs it.

A handler or middleware may have `__kit_lifespan__()`, which returns an async context manager. The
app enters it within its own lifespan, once for each registration, also for `not_found`.

A handler for `mount` may have `__kit_options__(c)`, in place of the argument `option_handler`.

A WebSocket handler has `__kit_bind_websocket__(method, pattern, codecs)`, which the function that
accepts connections, such as `upgrade_websocket`, calls in its own `__kit_bind__`. The result of
that hook is called with the context of the handshake and returns a function of the connection, or
an awaitable of one; that function is called once the connection is accepted. A handler that only
works with a connection raises in `__kit_bind__`, since nothing above it accepts connections.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from ._codecs import Codecs

__all__ = ("Bindable", "BindableWebSocket")


class Bindable(Protocol):
    """A handler that is built for the route it is registered at."""

    def __kit_bind__(self, method: str, pattern: str, codecs: Codecs, /) -> Callable[..., Any]:
        """Returns the handler for a route.

        Args:
            method: Upper-case method, or `ALL`.
            pattern: The whole pattern, including prefixes of apps. Optional parameters keep their
                `?`, even if the app registers several patterns for them.
            codecs: The encoders and decoders of the app.

        Raises:
            TypeError: If it can't be registered there.
        """


class BindableWebSocket(Protocol):
    """A WebSocket handler that is built for the route it is registered at."""

    def __kit_bind_websocket__(
        self, method: str, pattern: str, codecs: Codecs, /
    ) -> Callable[..., Any]:
        """Like `Bindable.__kit_bind__`; the result takes a context, and returns the handler."""
