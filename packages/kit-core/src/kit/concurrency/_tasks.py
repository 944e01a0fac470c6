# SPDX-License-Identifier: MIT
"""Calls into a running event loop from any thread, on asyncio and trio."""

from __future__ import annotations

from collections.abc import Callable

from kit.authoring.event_loops import running_trio


def threadsafe_call() -> Callable[[Callable[[], object]], object]:
    """Returns a function that runs another one in the running event loop, from any thread.

    The returned function raises RuntimeError once the event loop has ended.
    """
    trio = running_trio()
    if trio is not None:
        return trio.lowlevel.current_trio_token().run_sync_soon  # type: ignore[no-any-return]
    import asyncio

    return asyncio.get_running_loop().call_soon_threadsafe
