# SPDX-License-Identifier: MIT
"""Links: finds the routes of a handler, and builds their paths."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import date, time
from decimal import Decimal
from enum import Enum
from functools import partial
from os import PathLike, fspath
from types import MethodType
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import quote, urlencode
from uuid import UUID

from kit.authoring.route_hooks import find_bound
from kit.authoring.signatures import describe
from kit.router.patterns import PathBuilder, path_builders
from kit.router.route_patterns import for_router

if TYPE_CHECKING:
    from .route import Route

Texts: TypeAlias = "dict[str, str | list[str]]"
Query: TypeAlias = list[tuple[str, str]]

_HOOK = "__kit_link__"
# Modules whose classes have one text, `str(value)`.
_MODULES_OF_TEXTS = ("ipaddress", "zoneinfo")


class Links:
    """The routes of an app by their handlers.

    Args:
        routes: The routes.
        encode: Encodes a value of another class, see `TypeCodecs.enc_hook`.

    Attributes:
        count: The number of routes.
    """

    def __init__(self, routes: Iterable[Route], encode: Callable[[Any], Any]) -> None:
        self.count = 0
        self._encode = encode
        self._registered: dict[Any, list[Route]] = {}
        self._wrapped: dict[Any, list[Route]] = {}
        self._named: dict[str, list[tuple[str, Route]]] = {}
        self._builders: dict[str, list[PathBuilder]] = {}
        for route in routes:
            self.count += 1
            if not route.takes_next:
                self._add(route)

    def _add(self, route: Route) -> None:
        registered = _registered(route)
        self._registered.setdefault(_key(registered), []).append(route)
        layers = [*_layers(registered), *_layers(route.handler)]
        for key in dict.fromkeys(map(_key, layers)):
            self._wrapped.setdefault(key, []).append(route)
        named = next((each for each in layers if isinstance(_name(each), str)), None)
        if named is not None:
            whole = f"{named.__module__}.{named.__qualname__}"
            self._named.setdefault(named.__name__, []).append((whole, route))

    def find(self, handler: Any) -> list[Route]:
        """Returns the routes of a handler.

        Args:
            handler: The registered object, a function that it wraps, or its name: `read_book`, or
                with the names around it, such as `books.read_book`.

        Raises:
            LookupError: If it has no route, or several handlers have the name.
            TypeError: If it is neither a name nor a handler.
        """
        if isinstance(handler, str):
            return self._find_name(handler)
        if not callable(handler):
            raise TypeError(f"path_to() takes a handler or its name, not {handler!r:.100}")
        found = self._registered.get(_key(handler)) or next(
            (self._wrapped[key] for key in map(_key, _layers(handler)) if key in self._wrapped),
            None,
        )
        if not found:
            raise LookupError(f"{describe(handler)} is the handler of no route of the app")
        return found

    def _find_name(self, name: str) -> list[Route]:
        known = self._named.get(name.rpartition(".")[2], ())
        routes = [route for whole, route in known if f".{whole}".endswith(f".{name}")]
        handlers = {_key(each): each for each in map(_registered, routes)}
        if len(handlers) > 1:
            listed = ", ".join(sorted(map(describe, handlers.values())))
            raise LookupError(
                f"{name!r} is the name of several handlers, {listed}: put the name of the module "
                "before it, or give the handler itself"
            )
        if not routes:
            raise LookupError(f"{name!r} is the name of no handler of the app")
        return routes

    def path_to(self, handler: Any, query: Any, values: Mapping[str, Any]) -> str:
        """Returns the path of a handler's route, with the query.

        Args:
            handler: As for `find`.
            query: The query as a mapping; None for no query. Otherwise, the value of a parameter
                with this name.
            values: The values of the parameters.

        Raises:
            LookupError: As for `find`, or if the values don't decide between several routes.
            TypeError: If a value is missing or has the wrong type, or nothing has its name.
            ValueError: If a value can't be in the path, or the endpoint would refuse it.
        """
        routes = {route.path: route for route in self.find(handler)}
        if query is not None and not isinstance(query, Mapping):
            values, query = {**values, "query": query}, None  # the value of a parameter
        texts = {
            name: _text_or_list(name, value, self._encode)
            for name, value in values.items()
            if value is not None
        }
        pairs = _query(query, self._encode)
        found: dict[str, str] = {}
        errors: list[Exception] = []
        for pattern, route in routes.items():
            try:
                found[pattern] = self._build(route, texts, pairs)
            except (TypeError, ValueError) as error:
                errors.append(error)
        if len(found) == 1:
            return next(iter(found.values()))
        name = handler if isinstance(handler, str) else describe(handler)
        if found:
            raise LookupError(
                f"path_to(): {name} has the routes {_listed(found)}, and the values don't decide "
                "between them: register another function at one of them"
            )
        if len(errors) == 1:
            raise type(errors[0])(f"path_to(): {name}: {errors[0]}") from errors[0]
        raise _common_type(errors)(
            f"path_to(): {name} has the routes {_listed(routes)}, and none has a path for "
            f"{_listed(texts) or 'no values'}: {'; '.join(dict.fromkeys(map(str, errors)))}"
        )

    def _build(self, route: Route, texts: Texts, query: Query) -> str:
        for hook in find_bound(route.handler, _HOOK):
            texts, query = hook(texts, query)
        builders = self._builders.get(route.path)
        if builders is None:
            builders = self._builders[route.path] = path_builders(for_router(route.path))
        for name, text in texts.items():
            if not isinstance(text, str):
                raise TypeError(f"{name} is a list, but {route.path!r} takes one value")
        builder = next((each for each in builders if {*each.names} == texts.keys()), None)
        if builder is None:
            raise TypeError(_mismatch(route.path, builders, texts))
        path = builder.build(texts)  # type: ignore[arg-type]  # checked above
        return f"{path}?{urlencode(query)}" if query else path


def _mismatch(pattern: str, builders: list[PathBuilder], texts: Texts) -> str:
    """Returns why the names of the values fit no variant of a pattern."""
    known = {name for each in builders for name in each.names}
    unknown = [name for name in texts if name not in known]
    if unknown:
        return (
            f"{pattern!r} has no parameter {_listed(unknown)}: for the query, write "
            f"query={{{unknown[0]!r}: ...}}"
        )
    missing = min(([n for n in each.names if n not in texts] for each in builders), key=len)
    return f"{pattern!r} needs a value for {_listed(missing)}"


def encode_root(root: str) -> str:
    """Returns a root path, which is decoded, as the beginning of a path."""
    if not root:
        return ""
    # APPSEC: a path that begins with two slashes would be the name of a host.
    return "/" + quote(root.strip("/"), safe="/!$&'()*+,;=:@")


def _registered(route: Route) -> Any:
    return route.handler if route.unbound is None else route.unbound[0]


def _layers(handler: Any) -> Iterator[Any]:
    """Yields a handler, and the functions that it wraps."""
    waiting, seen = [handler], set()
    while waiting:
        each = waiting.pop(0)
        if each is None or _key(each) in seen:
            continue
        seen.add(_key(each))
        yield each
        if isinstance(each, partial):
            waiting.append(each.func)
        own = getattr(each, "__dict__", {})
        waiting += [own.get("__wrapped__"), own.get("__kit_origin__")]


def _key(handler: Any) -> Any:
    # Each access to a method creates an object.
    if isinstance(handler, MethodType):
        return id(handler.__self__), id(handler.__func__)
    return id(handler)


def _name(handler: Any) -> Any:
    return getattr(handler, "__qualname__", None) and getattr(handler, "__name__", None)


def _query(query: Any, encode: Callable[[Any], Any]) -> Query:
    if query is None:
        return []
    pairs: Query = []
    for name, value in query.items():
        if not isinstance(name, str):
            raise TypeError(f"path_to(query=...) has the name {name!r:.100}, expected a str")
        if value is not None:
            text = _text_or_list(name, value, encode)
            pairs += [(name, each) for each in (text if isinstance(text, list) else [text])]
    return pairs


def _text_or_list(name: str, value: Any, encode: Callable[[Any], Any]) -> str | list[str]:
    if isinstance(value, (list, tuple)):
        return [_text(name, each, encode) for each in value]
    return _text(name, value, encode)


def _text(name: str, value: Any, encode: Callable[[Any], Any]) -> str:
    """Returns the text of a value, as it is read from paths and queries.

    Raises:
        TypeError: If its class has no such text.
    """
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float, Decimal, UUID)):
        return str(value)
    if isinstance(value, (date, time)):
        return value.isoformat()
    if isinstance(value, PathLike):
        return str(fspath(value))
    if type(value).__module__ in _MODULES_OF_TEXTS:
        return str(value)
    with suppress(TypeError):  # the class has no encoder
        encoded = encode(value)
        if isinstance(encoded, (str, int, float)):
            return _text(name, encoded, encode)
    raise TypeError(
        f"path_to({name}=...) takes a str, a number, a date or the like, not {value!r:.100}"
    )


def _common_type(errors: list[Exception]) -> type[Exception]:
    return ValueError if any(isinstance(each, ValueError) for each in errors) else TypeError


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names))
