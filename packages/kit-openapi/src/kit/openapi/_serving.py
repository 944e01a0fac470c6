# SPDX-License-Identifier: MIT
"""The common parts of the routes of document and page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Protocol, TypeAlias

from kit.interface import App
from kit.interface.metadata import get_facts

UI: TypeAlias = Literal["swagger", "scalar"]
"""The tools that can show a document: Swagger UI and Scalar."""


class RoutingApp(App, Protocol):
    """An app that accepts routes, such as `kit.Kit`."""

    @property
    def get(self) -> Callable[..., Any]:
        """Registers handlers for GET."""
        ...


def entity_tag(body: bytes) -> str:
    """Returns a strong entity tag (RFC 9110 section 8.8.3)."""
    import hashlib  # here, since it isn't needed at startup

    return f'"{hashlib.sha256(body).hexdigest()[:32]}"'


def find_websocket_pages(app: App) -> list[str]:
    """Returns the paths of the pages that `asyncapi` registered in an app."""
    return [
        route.path for route in app.routes if get_facts(route.handler).others.get("asyncapi_page")
    ]
