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
            that is `error`; after the others have run.
    """
    from anyio import CancelScope

    interrupt: BaseException | None = None
    with CancelScope(shield=True):
        while exits:
            run = exits.pop()
            try:
                if await run(error):
                    error = None
            except BaseException as raised:
                if raised is error:
                    continue
                if isinstance(raised, Exception):
                    _logger.exception("An exit of a request failed; its response was sent before")
                else:
                    interrupt = raised
                error = raised
        if interrupt is not None:
            raise interrupt
