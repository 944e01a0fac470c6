# SPDX-License-Identifier: MIT
"""The app that routes are added to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from kit.interface import App

__all__ = ("RoutingApp",)


class RoutingApp(App, Protocol):
    """An app that registers routes. `kit.Kit` is one."""

    @property
    def get(self) -> Callable[..., Any]:
        """Registers handlers for GET."""
        ...

    @property
    def post(self) -> Callable[..., Any]:
        """Registers handlers for POST."""
        ...
