# SPDX-License-Identifier: MIT
"""Notifies tasks that something has changed."""

from __future__ import annotations

from typing import Any


class Signal:
    """Wakes every task that waits for a change; each then checks whether the change concerns it.

    Unlike an event it has no state, so it can be used repeatedly.
    """

    __slots__ = ("_event",)

    def __init__(self) -> None:
        self._event: Any = None

    def tell(self) -> None:
        """Wakes every waiting task."""
        if self._event is not None:
            self._event.set()
            self._event = None

    async def wait(self) -> None:
        """Waits for the next `tell`."""
        if self._event is None:
            from anyio import Event

            self._event = Event()
        await self._event.wait()
