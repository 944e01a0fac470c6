# SPDX-License-Identifier: MIT
"""What a call of the test client raises that fits no route."""

from __future__ import annotations

from collections.abc import Iterable

from kit.interface import METHOD_NAME_ALL, KitError

_MOST_LINES = 20


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Gives a question with the nearest name, with a blank in front; empty if none is near."""
    import difflib

    nearest = difflib.get_close_matches(name, list(names), n=1)
    return f" Did you mean {nearest[0]!r}?" if nearest else ""


class RouteNotFoundError(KitError, LookupError):
    """No route of the app has the path that a call of the test client names.

    Args:
        call: The call, e.g. `client.psts.get()`.
        path: The path it names.
        routes: The routes there are, as the client writes them, nearest first.
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
    """The path is there, but not with the method that a call of the test client names.

    Args:
        call: The call, e.g. `client.posts.put()`.
        path: The path of the routes, e.g. `/posts`.
        method: The method, upper case; None if the call names a path and no method.
        methods: The methods there are, upper case.
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
        hint = did_you_mean(self.method.lower(), names) or " Any request can be made by app.request"
        return f"{text}, but {there_are}.{hint}"


class ParameterError(KitError, TypeError):
    """A call of the test client lacks a parameter of the path, or has one that the path has not.

    Args:
        call: The call, e.g. `client.posts[":id"].get()`.
        path: The path of the route, e.g. `/posts/:id`.
        missing: The parameters that were not given.
        unknown: The parameters that were given and are none.
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
