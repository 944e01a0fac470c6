# SPDX-License-Identifier: MIT
"""Runs the exits of a request, which release what its handlers use."""

from __future__ import annotations

import logging

from kit.authoring.cancellation import find_fault
from kit.authoring.maybe_await import settle
from kit.interface import Cleanup

_logger = logging.getLogger("kit")


async def run_exits(exits: list[Cleanup], error: BaseException | None) -> None:
    """Runs exits, last first, shielded from cancellation, and empties the list.

    PERF: a cancel scope costs more than all the rest, and a plain function needs none.

    Args:
        exits: The functions; functions that they add run as well.
        error: The exception that ended the request, or None.

    Raises:
        BaseException: An exception of an exit other than Exception, such as KeyboardInterrupt,
            after the other exits have run; but not `error` itself.
    """
    interrupt: BaseException | None = None
    while exits:
        run = exits.pop()
        try:
            result = run(error)
            if result is not None and not isinstance(result, bool):
                from anyio import CancelScope

                with CancelScope(shield=True):
                    result = await settle(result, run)
            if result:
                error = None
        except BaseException as raised:
            if raised is error:
                continue
            try:
                error = find_fault(raised)
            except BaseException:
                error = interrupt = raised
            else:
                _logger.error(
                    "An exit of a request failed; its response was sent before", exc_info=error
                )
    if interrupt is not None:
        raise interrupt
