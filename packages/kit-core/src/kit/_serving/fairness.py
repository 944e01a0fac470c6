# SPDX-License-Identifier: MIT
"""How long a stream may run before the other tasks of the event loop have their turn."""

from __future__ import annotations

# In seconds. A stream that never waits lets other tasks run once it has taken this long. Several
# chunks have come quickly if they took less.
SHORT_S = 0.001


async def let_others_run() -> None:
    """Lets the other tasks run.

    Neither a body nor `send` has to wait, above all once the client is gone; without this, no other
    task would run until the end of the body.
    """
    from anyio.lowlevel import checkpoint

    await checkpoint()
