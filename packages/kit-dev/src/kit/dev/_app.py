# SPDX-License-Identifier: MIT
"""What an app has to have for these helpers; the core is not imported to tell."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from kit.interface import Router, RouterRoute


class App(Protocol):
    """An app whose routes can be read. `kit.Kit` is one."""

    @property
    def routes(self) -> Sequence[RouterRoute]:
        """All registered routes, in order."""

    @property
    def router(self) -> Router[Any]:
        """The router in use."""


class ServedApp(App, Protocol):
    """An app that can be called in process. `kit.Kit` is one."""

    def running(self) -> AbstractAsyncContextManager[None]:
        """Runs the lifespan around what is done within."""

    def __call__(
        self,
        scope: dict[str, Any],
        receive: Callable[[], Awaitable[dict[str, Any]]],
        send: Callable[[dict[str, Any]], Awaitable[None]],
        /,
    ) -> Awaitable[None]:
        """Answers one ASGI 3 request."""
