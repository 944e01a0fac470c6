# SPDX-License-Identifier: MIT
"""Request ids in log records."""

from __future__ import annotations

import logging

from ._request_id import current_request_id


class RequestIdFilter(logging.Filter):
    """Sets `request_id` on each log record, for formats such as `%(request_id)s`.

    Add it to handlers rather than loggers: the filter of a logger doesn't see the records of its
    child loggers. If records go through a `QueueHandler`, add it to that, since it runs in the
    request. A record that already has a `request_id`, from `extra`, keeps it.

    Args:
        name: As for `logging.Filter`: only records of this logger and its child loggers pass.
        default: The value outside requests.

    Raises:
        TypeError: If `default` is not a str.

    Example:
        handler.addFilter(RequestIdFilter())
    """

    def __init__(self, name: str = "", *, default: str = "-") -> None:
        super().__init__(name)
        if not isinstance(default, str):
            raise TypeError(f"RequestIdFilter(default=...) takes a str, not {default!r:.100}")
        self._default = default

    def filter(self, record: logging.LogRecord) -> bool:
        """Sets `record.request_id`; returns whether the record passes."""
        if not hasattr(record, "request_id"):
            record.request_id = current_request_id() or self._default
        return bool(super().filter(record))
