# SPDX-License-Identifier: MIT
"""The client that receives a streamed body."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from kit.authoring.cancellation import Cancellation
from kit.web._struct import Struct

_logger = logging.getLogger("kit")


class Client(Struct, eq=False):
    """The client that receives a body: waits for it to disconnect, and logs this once.

    Args:
        body: The body.
        wait_for_disconnect: Waits until the client disconnects; see `Request.wait_for_disconnect`.

    Attributes:
        is_gone: Whether sending to the client has failed.
        is_served: Whether the body is complete, so that the server only has to end the response.
            hypercorn reports a disconnect while it closes the connection to do so, which must not
            be cancelled.
        cancellation: Cancels the body where it waits, on asyncio.
    """

    _body: Any
    _wait_for_disconnect: Callable[[], Awaitable[bool]]
    is_gone: bool = False
    is_served: bool = False
    cancellation: Cancellation | None = None
    _is_logged: bool = False

    def mark_disconnected(self, error: OSError) -> None:
        """Records the exception that `send` raised because the client disconnected."""
        self.is_gone = True
        self._log(f": {error!r}")

    def cancel_body(self) -> None:
        """Cancels the body where it waits, because sending has failed."""
        if self.cancellation is not None:
            self.cancellation.request()

    async def wait_until_gone(self) -> bool:
        """Waits until the client disconnects; returns False if the server stops reporting it."""
        if not await self._wait_for_disconnect() or self.is_served:
            return False
        self._log("")
        client_left = getattr(self._body, "client_left", None)
        if client_left is not None:
            from anyio import CancelScope

            with CancelScope(shield=True):
                await client_left()
        return not hasattr(self._body, "write_to")  # a PushBody ends its own work

    def _log(self, how: str) -> None:
        # A PushBody logs it itself.
        if not (self._is_logged or getattr(self._body, "gone", False)):
            _logger.debug("The client disconnected during a streamed response%s", how)
        self._is_logged = True
