# SPDX-License-Identifier: MIT
"""Runs the exits of a request, which release what its handlers use."""

from __future__ import annotations

import logging

from kit.interface import Exit

_logger = logging.getLogger("kit")


async def run_exits(exits: list[Exit], error: BaseException | None) -> None:
    """Runs exits, last first, shielded from cancellation; the list is empty then.

    Args:
        exits: The functions; those that one of them adds run as well.
        error: The exception that ended the request, or None.

    Raises:
        BaseException: What an exit raises that is no Exception, such as KeyboardInterrupt, unless
            that is `error`.
    """
    from anyio import CancelScope

    with CancelScope(shield=True):
        while exits:
            run = exits.pop()
            try:
                if await run(error):
                    error = None
            except BaseException as raised:
                if raised is error:
                    continue
                if not isinstance(raised, Exception):
                    raise
                _logger.exception("An exit of a request failed; its response was sent before")
                error = raised
