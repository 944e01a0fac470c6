# SPDX-License-Identifier: MIT
"""The common parts of the routes of document and page."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, Generic, Literal, Protocol, TypeAlias, TypeVar

from anyio import to_thread

from kit.http.conditional import evaluate
from kit.interface import App, Context, Response
from kit.interface.metadata import get_facts

UI: TypeAlias = Literal["swagger", "scalar"]
"""The tools that can show a document: Swagger UI and Scalar."""


PlaceT = TypeVar("PlaceT", bound=Hashable)

_MOST_PLACES = 64


class RoutingApp(App, Protocol):
    """An app that accepts routes, such as `kit.Kit`."""

    @property
    def get(self) -> Callable[..., Any]:
        """Registers handlers for GET."""
        ...


class KeptDocuments(Generic[PlaceT]):
    """The bodies of a document by the place where it is served, each encoded once.

    Args:
        encode: Returns the document for a place.
    """

    def __init__(self, encode: Callable[[PlaceT], Mapping[str, Any]]) -> None:
        self._encode = encode
        self._bodies: dict[PlaceT, tuple[bytes, str]] = {}

    async def respond(self, c: Context[Any, Any], place: PlaceT) -> Response:
        """Returns the response with the document for a place, or a 304."""
        found = self._bodies.get(place)
        if found is None:
            # In a thread: a large app takes a while, once.
            found = await to_thread.run_sync(self._make, place)
            # APPSEC: a client can choose the host, and parameters of the prefix.
            if len(self._bodies) < _MOST_PLACES:
                self._bodies[place] = found
        body, etag = found
        headers = {"etag": etag, "cache-control": "no-cache"}
        if evaluate(c.req.method, c.req.header, etag=etag) == 304:
            return c.body(None, 304, headers)
        return c.body(body, 200, {**headers, "content-type": "application/json"})

    def _make(self, place: PlaceT) -> tuple[bytes, str]:
        import msgspec  # here, since it isn't needed at startup

        body = msgspec.json.encode(self._encode(place))
        return body, entity_tag(body)


def entity_tag(body: bytes) -> str:
    """Returns a strong entity tag (RFC 9110 section 8.8.3)."""
    import hashlib  # here, since it isn't needed at startup

    return f'"{hashlib.sha256(body).hexdigest()[:32]}"'


def find_websocket_pages(app: App) -> list[str]:
    """Returns the paths of the pages that `asyncapi` registered in an app."""
    return [
        route.path for route in app.routes if get_facts(route.handler).others.get("asyncapi_page")
    ]
