# SPDX-License-Identifier: MIT
"""What `routers.py` compares: a table of routes, and routers behind the same two methods.

An adapter does what its framework does between the path of a request and the handler with its
parameters, and no more. Most routers make a dict of the parameters; Kit's give the match itself,
out of which an app reads those that a handler asks for.
"""

from __future__ import annotations

import itertools
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, ClassVar, NamedTuple, TypeAlias

import blacksheep.server.routing
import falcon.routing
import http_router
import litestar
import litestar.enums
import litestar.exceptions
import litestar.routes
import sanic_routing
import sanic_routing.exceptions
import starlette.routing
import werkzeug.exceptions
import werkzeug.routing

from kit.interface import Router
from kit.router import LinearRouter, PatternRouter, RegExpRouter, SmartRouter, TrieRouter

SECTIONS = """
    accounts admin analytics assets audit billing calendar catalog chat content customers delivery
    devices directory events exports finance forms games health imports inventory jobs learning
    library loans mail maps market media metrics orders payroll places projects returns sales
    search shipping support
"""
NOUNS = """
    addresses alerts articles badges batches boards campaigns cards carts categories channels
    comments companies contacts contracts coupons credits documents drafts entries files folders
    groups images invoices items keys labels ledgers lists members messages milestones notes offers
    orders pages payments people plans products profiles reports reviews roles routes rules sessions
    tags users
"""
PARTS = "changes children history links owners shares tasks votes"

Handler: TypeAlias = Callable[[], None]
Answer: TypeAlias = tuple[Any, Mapping[str, Any]] | None


class Route(NamedTuple):
    """A route of a table; parameters in its path are written as Kit writes them, `:id`."""

    method: str
    path: str
    handler: Handler


def make_table(count: int) -> list[Route]:
    """The routes of REST resources: of 10 routes 3 are static, 5 have one parameter, 2 have two."""
    sections, nouns, parts = SECTIONS.split(), NOUNS.split(), PARTS.split()
    routes: list[Route] = []
    for number in itertools.count():
        turn, section = divmod(number, len(sections))
        again, noun = divmod(turn, len(nouns))
        base = f"/{sections[section]}/{nouns[noun]}" + (f"-{again + 1}" if again else "")
        one = f"{base}/:id"
        part = f"{one}/{parts[number % len(parts)]}"
        two = f"{part}/:item_id"
        if (turn + section) % 2 == 0:
            added = f"GET {base} POST {base} GET {base}/recent GET {one} DELETE {one}".split()
        else:
            added = f"GET {one} PATCH {one} POST {part} GET {two} DELETE {two}".split()
        for method, path in zip(added[::2], added[1::2], strict=True):
            if len(routes) == count:
                return routes
            routes.append(Route(method, path, make_handler()))
    raise AssertionError("unreachable: the numbers don't end")


def make_handler() -> Handler:
    """A function of its own for each route, since that is what the peers take."""

    def handler() -> None:
        return None

    return handler


class Contestant(ABC):
    """A router, filled once and then asked.

    Attributes:
        name: The heading of its column.
        is_lazy: Whether parts of it are built only when a path that needs them comes.
    """

    name: ClassVar[str]
    is_lazy: ClassVar[bool] = False

    @abstractmethod
    def build(self, routes: Sequence[Route]) -> None:
        """Adds the routes, and does what the framework does before its first request."""

    @abstractmethod
    def match(self, method: str, path: str) -> Any:
        """Finds what the framework goes on with; this is what is timed."""

    def answer(self, found: Any) -> Answer:
        """Reads what `match` gave: the handler and its parameters, None if there is none."""
        return found  # type: ignore[no-any-return]  # most give it so

    def forget(self) -> None:  # noqa: B027
        """Empties the cache of answers, of those that have one."""


class _KitRouter(Contestant):
    @abstractmethod
    def make(self) -> Router[Handler]:
        """Makes the empty router."""

    def build(self, routes: Sequence[Route]) -> None:
        self._router = self.make()
        for method, path, handler in routes:
            self._router.add(method, path, handler)

    def match(self, method: str, path: str) -> Any:
        return self._router.match(method, path)

    def answer(self, found: Any) -> Answer:
        if not found[0]:
            return None
        handler, params = found[0][0]
        if len(found) == 1:
            return handler, params
        return handler, {name: found[1][index] for name, index in params.items()}


class KitSmart(_KitRouter):
    """The default router of an app."""

    name = "Smart"
    is_lazy = True

    def make(self) -> Router[Handler]:
        return SmartRouter(routers=[RegExpRouter(), TrieRouter()])


class KitRegExp(_KitRouter):
    name = "RegExp"
    is_lazy = True

    def make(self) -> Router[Handler]:
        return RegExpRouter()


class KitTrie(_KitRouter):
    name = "Trie"

    def make(self) -> Router[Handler]:
        return TrieRouter()


class KitLinear(_KitRouter):
    name = "Linear"

    def make(self) -> Router[Handler]:
        return LinearRouter()


class KitPattern(_KitRouter):
    name = "Pattern"

    def make(self) -> Router[Handler]:
        return PatternRouter()


class Starlette(Contestant):
    """The loop of `Router.app`; not its second one, which looks for a path to redirect to."""

    name = "starlette"

    def build(self, routes: Sequence[Route]) -> None:
        made = [
            starlette.routing.Route(braced(path), handler, methods=[method])
            for method, path, handler in routes
        ]
        self._router = starlette.routing.Router(made)

    def match(self, method: str, path: str) -> Answer:
        scope = {"type": "http", "method": method, "path": path}
        for route in self._router.routes:
            match, child_scope = route.matches(scope)
            if match is starlette.routing.Match.FULL:
                return child_scope["endpoint"], child_scope["path_params"]
        return None


class Werkzeug(Contestant):
    """`MapAdapter.match`; Flask makes an adapter for each request, here one is kept."""

    name = "werkzeug"

    def build(self, routes: Sequence[Route]) -> None:
        rules = [
            werkzeug.routing.Rule(angled(path), endpoint=handler, methods=[method])
            for method, path, handler in routes
        ]
        self._adapter = werkzeug.routing.Map(rules).bind("localhost")

    def match(self, method: str, path: str) -> Answer:
        try:
            return self._adapter.match(path, method)
        except werkzeug.exceptions.HTTPException:
            return None


class Falcon(Contestant):
    """`CompiledRouter.find`, then the responder for the method."""

    name = "falcon"

    def build(self, routes: Sequence[Route]) -> None:
        self._router = falcon.routing.CompiledRouter()
        responders: dict[str, dict[str, Handler]] = {}
        for method, path, handler in routes:
            responders.setdefault(path, {})[f"on_{method.lower()}"] = handler
        for path, by_name in responders.items():
            self._router.add_route(braced(path), SimpleNamespace(**by_name))

    def match(self, method: str, path: str) -> Answer:
        found = self._router.find(path)
        if found is None:
            return None
        _, responders, params, _ = found
        return responders[method], params


class BlackSheep(Contestant):
    """`Router.get_match`, without the request that it takes the method and the path from."""

    name = "blacksheep"

    def build(self, routes: Sequence[Route]) -> None:
        self._router = blacksheep.server.routing.Router()
        for method, path, handler in routes:
            self._router.add(method, path, handler)
        self._router.apply_routes()
        self._router.sort_routes()  # type: ignore[no-untyped-call]

    def match(self, method: str, path: str) -> Answer:
        found = self._router.get_match_by_method_and_path(method, path)
        return None if found is None else (found.handler, found.values or {})

    def forget(self) -> None:
        self._router.get_match_by_method_and_path.cache_clear()


class Litestar(Contestant):
    """`ASGIRouter.handle_routing`, which searches the trie behind a cache.

    An app registers its handlers one by one, in a time that grows with the square of their number:
    over a minute for 10,000. Here they are registered together, so its build time is not an app's.
    """

    name = "litestar"

    def build(self, routes: Sequence[Route]) -> None:
        app = litestar.Litestar(openapi_config=None)
        handlers: dict[str, list[Any]] = {}
        for method, path, function in routes:
            path = re.sub(r":(\w+)", r"{\1:str}", path)
            methods = [litestar.enums.HttpMethod(method)]
            decorate = litestar.route(path, http_method=methods, sync_to_thread=False)
            handlers.setdefault(path, []).append(decorate(function))
        for path, of_path in handlers.items():
            route = litestar.routes.HTTPRoute(path=path, route_handlers=of_path)
            for handler in of_path:
                handler.owner = app
                handler.on_registration(app)
            route.create_handler_map()
            app.routes.append(route)
        self._router = app.asgi_router
        self._router.construct_routing_trie()

    def match(self, method: str, path: str) -> Answer:
        try:
            _, handler, _, params, _ = self._router.handle_routing(path=path, method=method)
        except litestar.exceptions.HTTPException:
            return None
        return handler.fn, params

    def forget(self) -> None:
        self._router.handle_routing.cache_clear()


class _Sanic(sanic_routing.BaseRouter):
    def get(self, **kwargs: Any) -> Any:
        return self.resolve(**kwargs)


class SanicRouting(Contestant):
    """`BaseRouter.resolve`; Sanic itself keeps the last 1,024 answers."""

    name = "sanic"

    def build(self, routes: Sequence[Route]) -> None:
        self._router = _Sanic()
        for method, path, handler in routes:
            self._router.add(re.sub(r":(\w+)", r"<\1:str>", path), handler, methods=[method])
        self._router.finalize()

    def match(self, method: str, path: str) -> Answer:
        try:
            _, handler, params = self._router.resolve(path, method=method)
        except sanic_routing.exceptions.BaseException:
            return None
        return handler, params


class HttpRouter(Contestant):
    """`Router.__call__`."""

    name = "http-router"

    def build(self, routes: Sequence[Route]) -> None:
        # Paths of ASGI are decoded before.
        self._router = http_router.Router(unquote_params=False)
        for method, path, handler in routes:
            self._router.bind(handler, braced(path), methods=[method])

    def match(self, method: str, path: str) -> Answer:
        try:
            found = self._router(path, method)
        except http_router.RouterError:
            return None
        return found.target, found.params or {}

    def forget(self) -> None:
        self._router.match.cache_clear()


def braced(path: str) -> str:
    """Writes the parameters of a path as `{id}`."""
    return re.sub(r":(\w+)", r"{\1}", path)


def angled(path: str) -> str:
    """Writes the parameters of a path as `<id>`."""
    return re.sub(r":(\w+)", r"<\1>", path)


KIT: tuple[type[Contestant], ...] = (KitSmart, KitRegExp, KitTrie, KitLinear, KitPattern)
CONTESTANTS: tuple[type[Contestant], ...] = (
    *KIT,
    Starlette,
    Werkzeug,
    Falcon,
    BlackSheep,
    Litestar,
    SanicRouting,
    HttpRouter,
)
