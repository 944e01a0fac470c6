# SPDX-License-Identifier: MIT
"""The contents of a log line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from time import gmtime, perf_counter, strftime, time
from typing import Any, TypeAlias

from kit.authoring.instrumentation import Outcome, redact_query, split_target
from kit.conninfo import ConnInfo
from kit.interface import Context
from kit.route import endpoint

from ._logger import visible
from ._targets import Target

__all__ = ("Entry", "Fields", "Reader")

Fields: TypeAlias = Mapping[str, Any]
"""Names and values of a line."""

# The maximum length of logged client input, in characters.
_LONGEST_TARGET = 2048
_LONGEST = 256
_ENDINGS = {
    "failed": "response failed",
    "disconnected": "client disconnected",
    "cancelled": "cancelled",
}
_SWITCHING_PROTOCOLS = 101


class Reader:
    """Reads the logged data from requests.

    Args:
        query: Whether to log the query.
        conn_info: Returns the address of the client; None uses the address the server reports.
    """

    __slots__ = ("conn_info", "query")

    def __init__(
        self, query: bool, conn_info: Callable[[Context[Any, Any]], ConnInfo] | None
    ) -> None:
        self.query = query
        self.conn_info = conn_info


class Entry:
    """The line of one request.

    Args:
        c: The context of the request.
        reader: Reads the request.
        target: Where to write the line.

    Attributes:
        own: The fields of the app.
    """

    __slots__ = ("_began_s", "_c", "_reader", "_target", "_trace", "own")

    def __init__(self, c: Context[Any, Any], reader: Reader, target: Target) -> None:
        self._c = c
        self._reader = reader
        self._target = target
        self._trace: tuple[str, str] | None = None
        self.own: Fields | None = None
        self._began_s = perf_counter()

    def responded(self) -> None:
        """Records the trace, since its span may no longer be current when the line is written."""
        trace = sys.modules.get("opentelemetry.trace")
        if trace is not None:
            context = trace.get_current_span().get_span_context()
            if context.is_valid:
                self._trace = f"{context.trace_id:032x}", f"{context.span_id:016x}"

    def write(self, outcome: Outcome) -> None:
        """Writes the line."""
        duration_ms = round((perf_counter() - self._began_s) * 1000, 3)
        level = _level(outcome)
        fields = self._fields(outcome, duration_ms)
        if self.own is not None:
            fields.update(self.own)
            fields = {name: value for name, value in fields.items() if value is not None}
        self._target.write(level, _now(), fields)

    def _fields(self, outcome: Outcome, duration_ms: float) -> dict[str, Any]:
        c = self._c
        req = c.req
        raw = req.raw
        path, query = split_target(raw)
        fields: dict[str, Any] = {
            "method": visible(req.method)[:_LONGEST],
            "path": visible(path)[:_LONGEST_TARGET],
        }
        if query and self._reader.query:
            fields["query"] = visible(redact_query(query))[:_LONGEST_TARGET]
        route = endpoint(c)
        if route is not None:
            fields["route"] = raw.root_pattern + route.path
        if outcome.status is not None:
            fields["status"] = outcome.status
        fields["duration_ms"] = duration_ms
        length = req.header("content-length")
        if length is not None and length.isdecimal() and len(length) < 19:
            fields["request_bytes"] = int(length)
        # The messages of a WebSocket connection aren't a response body.
        if outcome.status != _SWITCHING_PROTOCOLS:
            fields["response_bytes"] = outcome.size_bytes
        self._add_origin(fields)
        if outcome.ending != "complete":
            fields["ended"] = _ENDINGS[outcome.ending]
        if outcome.error is not None:
            fields["error"] = _describe_class(outcome.error)
        return fields

    def _add_origin(self, fields: dict[str, Any]) -> None:
        """Adds the client, the request ID and the trace."""
        c = self._c
        conn_info = self._reader.conn_info
        client: str | None
        if conn_info is not None:
            client = conn_info(c).remote.address
        else:
            # PERF: the same as get_conn_info would return.
            client = ((c.req.raw.scope or {}).get("client") or ("",))[0]
        if client:
            fields["client"] = client
        agent = c.req.header("user-agent")
        if agent is not None:
            fields["user_agent"] = agent if len(agent) <= _LONGEST else f"{agent[:_LONGEST]}..."
        request_id = c.get("request_id")
        if isinstance(request_id, str):
            fields["request_id"] = request_id
        if self._trace is not None:
            fields["trace_id"], fields["span_id"] = self._trace


def _level(outcome: Outcome) -> str:
    if outcome.ending == "failed" or (outcome.status is not None and outcome.status >= 500):
        return "error"
    return "warning" if outcome.ending == "cancelled" else "info"


def _describe_class(error: BaseException) -> str:
    kind = type(error)
    module = kind.__module__
    return kind.__qualname__ if module == "builtins" else f"{module}.{kind.__qualname__}"


# PERF: the second of the last line, and its text.
_second: tuple[int, str] = (-1, "")


def _now() -> str:
    """Returns the time in UTC with milliseconds (RFC 3339, section 5.6)."""
    global _second
    now = time()
    seconds = int(now)
    kept, text = _second
    if seconds != kept:
        text = strftime("%Y-%m-%dT%H:%M:%S", gmtime(seconds))
        _second = seconds, text
    return f"{text}.{int((now - seconds) * 1000):03d}Z"
