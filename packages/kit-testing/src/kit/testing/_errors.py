# SPDX-License-Identifier: MIT
"""The errors of test client calls that match no route."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kit.interface import METHOD_NAME_ALL, KitError

_MOST_LINES = 20


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Returns a question with the closest name, after a space; an empty string if none is close."""
    import difflib

    nearest = difflib.get_close_matches(name, list(names), n=1)
    return f" Did you mean {nearest[0]!r}?" if nearest else ""


class RouteNotFoundError(KitError, LookupError):
    """No route of the app has the path of a test client call.

    Args:
        call: The call, e.g. `client.psts.get()`.
        path: The path of the call.
        routes: The app's routes as the client writes them, closest first.
    """

    def __init__(self, call: str, path: str, routes: tuple[str, ...]) -> None:
        super().__init__(call, path, routes)
        self.call = call
        self.path = path
        self.routes = routes

    def __str__(self) -> str:
        text = f"{self.call}: no route has the path {self.path!r}."
        if not self.routes:
            return f"{text} The app has no routes"
        more = len(self.routes) - _MOST_LINES
        lines = ["The app has, nearest first:", *self.routes[:_MOST_LINES]]
        if more > 0:
            lines.append(f"and {more} more; repr(client) shows all")
        return f"{text} " + "\n  ".join(lines)


class MethodNotFoundError(KitError, LookupError):
    """The path of a test client call exists, but not with the method of the call.

    Args:
        call: The call, e.g. `client.posts.put()`.
        path: The path of the routes, e.g. `/posts`.
        method: The method in upper case; None if the call names a path without a method.
        methods: The methods of the path, in upper case.
    """

    def __init__(self, call: str, path: str, method: str | None, methods: tuple[str, ...]) -> None:
        super().__init__(call, path, method, methods)
        self.call = call
        self.path = path
        self.method = method
        self.methods = methods

    def __str__(self) -> str:
        takes_all = METHOD_NAME_ALL in self.methods
        names = [m.lower() for m in self.methods if m != METHOD_NAME_ALL]
        if self.method is None:
            called = f"{self.call.removesuffix('()')}.{names[0] if names else 'get'}()"
            return f"{self.call}: {self.path!r} is a path; call a method of it, such as {called}"
        text = f"{self.call}: {self.path!r} has no {self.method}"
        if takes_all and self.method != METHOD_NAME_ALL:
            return f"{text}; it takes any method, but write ['${self.method.lower()}'] for this one"
        there_are = "any other method" if takes_all else ", ".join(names)
        path = repr(self.path) if ":" not in self.path and "*" not in self.path else "'/...'"
        method = "GET" if self.method == METHOD_NAME_ALL else self.method
        any_request = f" Any request can be sent by client.request({method!r}, {path})"
        hint = did_you_mean(self.method.lower(), names) or any_request
        return f"{text}, but {there_are}.{hint}"


class WebSocketRefusedError(KitError):
    """The app answered the handshake of a WebSocket with another response.

    Args:
        response: The response: a `Response`, or a `SyncResponse` of the synchronous client.
        body: Its body.
    """

    def __init__(self, response: Any, body: bytes = b"") -> None:
        super().__init__(response, body)
        self.response = response
        self.body = body

    @property
    def status(self) -> int:
        """HTTP status code of the response."""
        return int(self.response.status)

    def __str__(self) -> str:
        said = self.body.decode("utf-8", "replace")
        return f"The WebSocket handshake was answered with {self.status}" + (
            f": {said:.200}" if said else ""
        )


class ParameterError(KitError, TypeError):
    """A test client call lacks a parameter of the path, or has an unknown one.

    Args:
        call: The call, e.g. `client.posts[":id"].get()`.
        path: The path of the route, e.g. `/posts/:id`.
        missing: Parameters of the path that the call doesn't give.
        unknown: Parameters of the call that the path doesn't have.
        names: The parameters of the path.
    """

    def __init__(
        self,
        call: str,
        path: str,
        missing: tuple[str, ...],
        unknown: tuple[str, ...],
        names: tuple[str, ...],
    ) -> None:
        super().__init__(call, path, missing, unknown, names)
        self.call = call
        self.path = path
        self.missing = missing
        self.unknown = unknown
        self.names = names

    def __str__(self) -> str:
        if self.unknown:
            text = f"{self.call}: {self.path!r} has no parameter {_listed(self.unknown)}"
            if not self.names:
                return f"{text}, and no other"
            return f"{text}, but {_listed(self.names)}." + did_you_mean(self.unknown[0], self.names)
        example = ", ".join(f"{name!r}: ..." for name in self.missing)
        return (
            f"{self.call}: {self.path!r} lacks its parameter {_listed(self.missing)}: "
            f"call it with param={{{example}}}"
        )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))
