# SPDX-License-Identifier: MIT
"""Logs failures of a store once per outage, not once per request."""

from __future__ import annotations

import logging
from time import monotonic

_logger = logging.getLogger("kit.cache")
# An overloaded store fails and works in turn.
_QUIET_S = 60.0


class Failures:
    """The failures of one operation of a store.

    Args:
        operation: What it does, such as `read`.
        level: Level of the record at the start of an outage.
        consequence: What happens during the outage.
    """

    __slots__ = ("_consequence", "_is_failing", "_level", "_operation", "_quiet_until")

    def __init__(self, operation: str, level: int, consequence: str) -> None:
        self._operation = operation
        self._level = level
        self._consequence = consequence
        self._is_failing = False
        self._quiet_until = 0.0

    def failed(self, group: str) -> None:
        """Logs the exception that is being handled, if it begins an outage.

        Args:
            group: The group of the key.
        """
        if self._is_failing or monotonic() < self._quiet_until:
            return
        self._is_failing = True
        self._quiet_until = monotonic() + _QUIET_S
        _logger.log(
            self._level,
            "The store failed to %s %s: until it recovers, %s",
            self._operation,
            ascii(group)[1:-1],
            self._consequence,
            exc_info=True,
        )

    def worked(self) -> None:
        """Logs that an outage is over, if there was one."""
        if self._is_failing:
            self._is_failing = False
            _logger.info("The store can %s again", self._operation)
