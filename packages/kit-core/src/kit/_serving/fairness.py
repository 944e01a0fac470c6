# SPDX-License-Identifier: MIT
"""Limits how long a stream may run before the other tasks of the event loop run."""

from __future__ import annotations

# In seconds. A stream that never waits lets other tasks run after this time. Several chunks that
# took less count as quick.
SHORT_S = 0.001


async def let_others_run() -> None:
    """Lets the other tasks run.

    Neither a body nor `send` has to wait, especially once the client is gone. Without this call, no
    other task might run until the end of the body.
    """
    from anyio.lowlevel import checkpoint

    await checkpoint()
