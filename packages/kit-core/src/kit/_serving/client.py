# SPDX-License-Identifier: MIT
"""The client that receives a streamed body."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from kit._struct import Struct
from kit.authoring.cancellation import Cancellation

_logger = logging.getLogger("kit")


class Client(Struct, eq=False):
    """The client that receives a body: waits for it to disconnect, and logs that once.

    Args:
        body: The body.
        wait_for_disconnect: Waits until the client disconnects; see `Request.wait_for_disconnect`.

    Attributes:
        is_gone: Whether sending to it has failed.
        is_served: Whether the body is complete: all that is left to do is for the server to end the
            response. hypercorn reports the disconnect while it closes the connection for that,
            which must not be cancelled.
        cancellation: Cancels the body where it waits, on asyncio.
    """

    _body: Any
    _wait_for_disconnect: Callable[[], Awaitable[bool]]
    is_gone: bool = False
    is_served: bool = False
    cancellation: Cancellation | None = None
    _is_logged: bool = False

    def mark_disconnected(self, error: OSError) -> None:
        """Notes the exception that `send` raised because the client has disconnected."""
        self.is_gone = True
        self._log(f": {error!r}")

    def cancel_body(self) -> None:
        """Cancels the body where it waits, since sending has failed meanwhile."""
        if self.cancellation is not None:
            self.cancellation.request()

    async def wait_until_gone(self) -> bool:
        """Waits until the client disconnects; returns False if that is no longer reported."""
        if not await self._wait_for_disconnect() or self.is_served:
            return False
        self._log("")
        client_left = getattr(self._body, "client_left", None)
        if client_left is not None:
            from anyio import CancelScope

            with CancelScope(shield=True):
                await client_left()
        return not hasattr(self._body, "write_to")  # such a body ends its own work

    def _log(self, how: str) -> None:
        # A PushBody logs it itself.
        if not (self._is_logged or getattr(self._body, "gone", False)):
            _logger.debug("The client disconnected during a streamed response%s", how)
        self._is_logged = True
