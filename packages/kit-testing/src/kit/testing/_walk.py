# SPDX-License-Identifier: MIT
"""Turns attributes and subscripts of a test client into the path and method of a call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from kit.testing._inputs import Values
from kit.testing._paths import Names
from kit.testing._routes import expression, is_attribute
from kit.web import URL

if TYPE_CHECKING:
    from kit.testing._caller import Caller

_StepT = TypeVar("_StepT")


class Walk(Generic[_StepT]):
    """A client, or a step that its names lead to."""

    # An attribute of this class can't be a segment of a path, so there are few, with a prefix.
    __slots__ = ("_kit_caller", "_kit_names")

    __test__ = False  # keeps pytest from collecting it

    __iter__ = None  # else __getitem__ would make it iterable, with numbers as names

    def __init__(self, caller: Caller, names: Names = ()) -> None:
        self._kit_caller = caller
        self._kit_names = names

    if TYPE_CHECKING:
        # For completion in editors; at run time __getattr__ finds every name.
        delete: _StepT
        get: _StepT
        head: _StepT
        index: _StepT
        options: _StepT
        patch: _StepT
        post: _StepT
        put: _StepT
        query: _StepT

        @property
        def path(self) -> PathStep[_StepT]:
            """Returns the path and query when called."""

        @property
        def url(self) -> UrlStep[_StepT]:
            """Returns the URL when called."""

    def __getattr__(self, name: str) -> _StepT:
        # copy, pickle, pytest, IPython and debuggers look for protocols by names that begin with an
        # underscore, and must not find one.
        if name.startswith("_") and (
            name.startswith(("__", "_kit_"))
            or not self._kit_caller.routes.has((*self._kit_names, name))
        ):
            raise AttributeError(
                f"{type(self).__name__!r} object has no attribute {name!r}; "
                f"a segment of that name is written [{name!r}]"
            )
        return self[name]

    def __getitem__(self, name: str) -> _StepT:
        if not isinstance(name, str):
            raise TypeError(
                f"{expression(self._kit_names)}[{name!r:.100}]: a segment is named as the route "
                "does, by a str; the value of a parameter is given at the call, in param={...}"
            )
        caller = self._kit_caller
        kind = caller.ws_step if name in ("ws", "$ws") else _LAST_STEPS.get(name, caller.step)
        step: _StepT = kind(caller, (*self._kit_names, name))
        return step

    def __dir__(self) -> list[str]:
        names = filter(is_attribute, self._kit_next())
        return [*object.__dir__(self), *names]

    def _ipython_key_completions_(self) -> list[str]:
        return [name for name in self._kit_next() if not is_attribute(name)]

    def _kit_next(self) -> list[str]:
        routes, names = self._kit_caller.routes, self._kit_names
        methods = [method.lower() for method in routes.methods(names)]
        if "all" in methods:
            methods = ["get", "post", "put", "delete", "patch", "query"]
        return [*routes.next_names(names), *methods, *(("url", "path") if methods else ())]

    def __repr__(self) -> str:
        routes, names = self._kit_caller.routes, self._kit_names
        name = expression(names)
        lines = routes.lines(names)
        head = f"{len(lines)} route{'s' if len(lines) != 1 else ''}" if lines else "no route"
        if names and names[-1].removeprefix("$").upper() in routes.methods(names[:-1]):
            path = "/" + "/".join(names[:-1])
            head = f"{names[-1].removeprefix('$').upper()} {path}"
        return f"<{name}: " + "\n  ".join([head, *lines]) + ">"


class UrlStep(Walk[_StepT]):
    """A step whose last name is `url`."""

    __slots__ = ()

    def __call__(
        self, *, param: Mapping[str, Any] | None = None, query: Values | None = None
    ) -> URL:
        """Returns the URL of the path before `url`.

        Args:
            param: Parameters of the path.
            query: Parameters of the query.

        Raises:
            RouteNotFoundError: If no route has the path.
            ParameterError: If a parameter is missing or unknown.
        """
        options = {"param": param, "query": query}
        return URL(self._kit_caller.origin + self._kit_caller.path(self._kit_names, options))


class PathStep(Walk[_StepT]):
    """A step whose last name is `path`."""

    __slots__ = ()

    def __call__(
        self, *, param: Mapping[str, Any] | None = None, query: Values | None = None
    ) -> str:
        """Returns path and query, percent-encoded; arguments and exceptions as for `UrlStep`."""
        options = {"param": param, "query": query}
        return self._kit_caller.path(self._kit_names, options)


_LAST_STEPS: dict[str, Any] = {
    "url": UrlStep,
    "$url": UrlStep,
    "path": PathStep,
    "$path": PathStep,
}
