# SPDX-License-Identifier: MIT
"""What the routes of document and page have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from kit.interface import App


class RoutingApp(App, Protocol):
    """An app that takes routes. `kit.Kit` is one."""

    @property
    def get(self) -> Callable[..., Any]:
        """Registers handlers for GET."""
        ...


def entity_tag(body: bytes) -> str:
    """Returns a strong entity tag (RFC 9110 section 8.8.3)."""
    import hashlib  # here, as an app that starts needs none of it

    return f'"{hashlib.sha256(body).hexdigest()[:32]}"'
