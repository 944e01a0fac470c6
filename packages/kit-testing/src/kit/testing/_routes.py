# SPDX-License-Identifier: MIT
"""Finds the routes of an app by the names of test client calls."""

from __future__ import annotations

from collections.abc import Iterator
from keyword import iskeyword
from typing import Any, NamedTuple

from kit.interface import METHOD_NAME_ALL, RouterRoute
from kit.testing._errors import MethodNotFoundError, RouteNotFoundError
from kit.testing._paths import Names, Variant, begins, parse_values, variants

STANDARD_METHODS = ("GET", "POST", "PUT", "DELETE", "PATCH", "QUERY", "OPTIONS", "HEAD")


# Attributes of a client, which hide the first segment of that name.
_OF_CLIENT = ("cookies",)


class Found(NamedTuple):
    """A route with the requested path, and the variant of its path that matches."""

    route: RouterRoute
    variant: Variant


def expression(names: Names) -> str:
    """Returns the names of a path as a Python expression: `client.posts[':id']`."""
    return "client" + "".join(
        f".{name}" if is_attribute(name) and (index or name not in _OF_CLIENT) else f"[{name!r}]"
        for index, name in enumerate(names)
    )


def is_attribute(name: str) -> bool:
    """Returns whether a name can be written after a dot."""
    return name.isidentifier() and not iskeyword(name) and not name.startswith("__")


class Routes:
    """The routes of an app, looked up by the names of test client calls.

    Args:
        app: The app.
    """

    def __init__(self, app: Any) -> None:
        self._app = app

    def find(self, names: Names, method: str, *, any_method: bool) -> Variant:
        """Returns the route path that a call asks for.

        Args:
            names: All names of the call, the last of which is the method.
            method: The method in upper case.
            any_method: Whether a route for all methods also accepts a method that is neither
                standard nor registered.

        Raises:
            RouteNotFoundError: If no route has the path.
            MethodNotFoundError: If no route with the path has the method.
        """
        found = self._having(names)
        by_method: dict[str, Variant] = {}
        for each in found:
            by_method.setdefault(each.route.method, each.variant)
        variant = by_method.get(method)
        if variant is None and method == "HEAD":
            variant = by_method.get("GET")
        if variant is None and (any_method or method in self._known_methods()):
            variant = by_method.get(METHOD_NAME_ALL)
        if variant is None and method == "OPTIONS":
            # CORS middleware responds to OPTIONS, and so does an app with method_not_allowed.
            variant = found[0].variant
        if variant is None or method == METHOD_NAME_ALL:
            self._refuse_path_as_method(names)
            path = found[0].route.path
            raise MethodNotFoundError(expression(names) + "()", path, method, tuple(by_method))
        return variant

    def find_path(self, names: Names) -> Variant:
        """Returns the route path of all names but the last, which is not a method.

        Raises:
            RouteNotFoundError: If no route has it.
        """
        return self._having(names)[0].variant

    def find_values(self, names: Names, method: str) -> tuple[Variant, dict[str, str]] | None:
        """Finds the path of a route whose parameters may have names of a call as their values.

        Args:
            names: The names of the path.
            method: The method in upper case.

        Returns:
            The path and these values, or None.
        """
        for route in self._app.routes:
            if route.method in (method, METHOD_NAME_ALL) and not is_middleware(route):
                for variant in variants(route.path):
                    values = parse_values(variant, names)
                    if values is not None:
                        return variant, values
        return None

    def _having(self, names: Names) -> list[Found]:
        found = self._matching(names[:-1], self._app.routes)
        if not found:
            self._refuse_path_as_method(names)
            asked = "/" + "/".join(names[:-1])
            raise RouteNotFoundError(expression(names) + "()", asked, self._nearest(asked))
        # Middleware counts only if no other route matches.
        return [f for f in found if not is_middleware(f.route)] or found

    def _refuse_path_as_method(self, names: Names) -> None:
        """Raises an error if the names are a complete path, so the method is missing."""
        found = self._matching(names, self._app.routes)
        listed = [f.route for f in found if not is_middleware(f.route)]
        if listed:
            methods = tuple(dict.fromkeys(route.method for route in listed))
            call = expression(names) + "()"
            raise MethodNotFoundError(call, listed[0].path, None, methods)

    def _matching(self, names: Names, routes: list[RouterRoute]) -> list[Found]:
        names = names or ("",)
        found = [
            Found(route, variant)
            for route in routes
            for variant in variants(route.path)
            if len(variant) == len(names) and begins(variant, names)
        ]
        if names[-1] == "index":
            return [f for f in found if f.variant[-1].text == "index"] or found
        return found

    def knows(self, method: str) -> bool:
        """Returns whether a method is standard, or that of a route."""
        return method in self._known_methods()

    def _known_methods(self) -> set[str]:
        return {*STANDARD_METHODS, *(route.method for route in self._app.routes)}

    def _nearest(self, path: str) -> tuple[str, ...]:
        from difflib import SequenceMatcher

        matcher = SequenceMatcher(b=path)

        def likeness(item: tuple[str, Any]) -> float:
            matcher.set_seq1(item[0])
            return -matcher.ratio()

        return tuple(line for _, line in sorted(self._lines(()), key=likeness))

    # The methods below serve repr() and dir(): they must not raise, whatever state the app is in.

    def lines(self, names: Names) -> list[str]:
        """Returns a line for each route at or below the path of these names, with its methods."""
        return [line for _, line in self._lines(names)]

    def _lines(self, names: Names) -> Iterator[tuple[str, str]]:
        methods: dict[str, dict[str, None]] = {}
        for route in self._listed():
            if any(begins(variant, names) for variant in variants(route.path)):
                methods.setdefault(route.path, {})[route.method] = None
        for path, those in methods.items():
            yield path, f"{expression(self._address(path))}  {', '.join(those)}"

    def _address(self, path: str) -> Names:
        names = tuple(segment.text for segment in variants(path)[-1])
        if names[-1]:
            return names
        by_index = (*names[:-1], "index")
        found = self._matching(by_index, self._listed())
        return by_index if any(f.route.path == path for f in found) else names

    def methods(self, names: Names) -> list[str]:
        """Returns the methods of the path of these names, in upper case."""
        found = self._matching(names, self._listed())
        return list(dict.fromkeys(f.route.method for f in found))

    def next_names(self, names: Names) -> list[str]:
        """Returns the segments that may follow these names."""
        depth = len(names)
        found: dict[str, None] = {}
        for route in self._listed():
            for variant in variants(route.path):
                if len(variant) > depth and begins(variant, names):
                    found[variant[depth].text or "index"] = None
        return list(found)

    def has(self, names: Names) -> bool:
        """Returns whether any route, middleware included, begins with these names."""
        routes = self._registered()
        return any(begins(v, names) for route in routes for v in variants(route.path))

    def _registered(self) -> list[RouterRoute]:
        try:
            return list(self._app.routes)
        except RuntimeError:  # a route decorator has not yet been given its function
            return []

    def _listed(self) -> list[RouterRoute]:
        return [route for route in self._registered() if not is_middleware(route)]


def is_middleware(route: RouterRoute) -> bool:
    """Returns whether a route looks like that of middleware; so does that of `mount`."""
    below = route.path.endswith("*")
    takes_next: bool = getattr(route, "takes_next", False)
    return takes_next and (below or route.method == METHOD_NAME_ALL)
