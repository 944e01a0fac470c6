# SPDX-License-Identifier: MIT
"""Trace ids in log records."""

from __future__ import annotations

import logging

from opentelemetry.trace import format_span_id, format_trace_id, get_current_span

__all__ = ("TraceIdFilter",)


class TraceIdFilter(logging.Filter):
    """Sets `trace_id` and `span_id` on each log record, for formats such as `%(trace_id)s`.

    They are the ids of the current span in hexadecimal, as in W3C Trace Context. Add the
    filter to handlers rather than loggers: the filter of a logger doesn't see the records of its
    child loggers. If records go through a `QueueHandler`, add it to that, since it runs in the
    request. A record that already has one of them, from `extra`, keeps it.

    Args:
        name: As for `logging.Filter`: only records of this logger and its child loggers pass.
        default: The value if there is no current span.

    Raises:
        TypeError: If `default` is not a str.

    Example:
        handler.addFilter(TraceIdFilter())
    """

    def __init__(self, name: str = "", *, default: str = "-") -> None:
        super().__init__(name)
        if not isinstance(default, str):
            raise TypeError(f"TraceIdFilter(default=...) takes a str, not {default!r:.100}")
        self._default = default

    def filter(self, record: logging.LogRecord) -> bool:
        """Sets `record.trace_id` and `record.span_id`; returns whether the record passes."""
        context = get_current_span().get_span_context()
        is_valid = context.is_valid
        if not hasattr(record, "trace_id"):
            record.trace_id = format_trace_id(context.trace_id) if is_valid else self._default
        if not hasattr(record, "span_id"):
            record.span_id = format_span_id(context.span_id) if is_valid else self._default
        return bool(super().filter(record))
