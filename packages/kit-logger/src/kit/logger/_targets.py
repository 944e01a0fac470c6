# SPDX-License-Identifier: MIT
"""The targets and formats of log lines."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Mapping
from json import JSONEncoder
from json.encoder import encode_basestring_ascii as quoted
from math import isfinite
from typing import Any

from kit.authoring.maybe_await import plain_result
from kit.authoring.options import OptionChecks
from kit.authoring.signatures import is_async

from ._logger import visible

__all__ = ("Target", "json_line", "target_of_option", "text_line")

Line = Callable[[str, str, Mapping[str, Any]], str]

_EXPECTED = (
    "a plain function (line), a logging.Logger, or a logger with methods such as "
    "info(event, **fields)"
)
_LEVELS = {"info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
_FAILED = "access_log(%s=...) failed; the request was not affected"
# The attributes of log records, which `extra` must not contain.
_OF_RECORDS = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime"}
# The parameters of structlog's methods: a field with such a name can't be passed.
_OF_METHODS = frozenset(("event", "method_name", "self"))
_EVENT = "request"
_logger = logging.getLogger("kit")


class Target:
    """Writes lines, and logs the first of consecutive failures.

    Args:
        write: Called with the level, the time and the fields.
    """

    __slots__ = ("_fields_fail", "_is_failing", "_write")

    def __init__(self, write: Callable[[str, str, Mapping[str, Any]], object]) -> None:
        self._write = write
        self._is_failing = False
        self._fields_fail = False

    def write(self, level: str, time: str, fields: Mapping[str, Any]) -> None:
        """Writes a line."""
        try:
            self._write(level, time, fields)
        except Exception as error:
            if not self._is_failing:
                self._is_failing = True
                _logger.error(_FAILED, "to", exc_info=error)
        else:
            self._is_failing = False

    def has_fields(self, error: Exception | None) -> None:
        """Logs that the app's fields failed, unless those of the previous request did too.

        Args:
            error: Why they failed; None if they didn't.
        """
        if error is None:
            self._fields_fail = False
        elif not self._fields_fail:
            self._fields_fail = True
            _logger.error(_FAILED, "fields", exc_info=error)


def target_of_option(check: OptionChecks, to: Any, format: str) -> Target:
    """Returns the target for the option `to`.

    Raises:
        TypeError: If lines can't be written to it.
    """
    line = _whole(json_line if format == "json" else text_line)
    if to is None:
        return Target(_to_output(line))
    if isinstance(to, (logging.Logger, logging.LoggerAdapter)):
        return Target(_to_logger(to, line))
    if all(callable(getattr(to, level, None)) for level in _LEVELS):
        return Target(_to_structured(to))
    if not callable(to) or is_async(to):
        check.wrong_type("to", to, _EXPECTED)
    check.function("to", to, "(line)")

    def write(level: str, time: str, fields: Mapping[str, Any]) -> None:
        plain_result(to(line(level, time, fields)), to, "access_log(to=...)")

    return Target(write)


def _whole(line: Line) -> Line:
    """Returns a function that writes a line even if a value of the app can't be encoded."""

    def write(level: str, time: str, fields: Mapping[str, Any]) -> str:
        try:
            return line(level, time, fields)
        except Exception:
            shown = {name: _shown(value) for name, value in fields.items()}
            return line(level, time, shown)

    return write


def _shown(value: Any) -> Any:
    """Returns a value if JSON can encode it, otherwise a text that describes it."""
    try:
        _encode(_finite(value))
        return value
    except Exception:
        try:
            return repr(value)
        except Exception:
            return f"<{type(value).__qualname__}>"


def _to_output(line: Line) -> Callable[..., None]:
    def write(level: str, time: str, fields: Mapping[str, Any]) -> None:
        # Looked up each time, since output may be redirected. A single write, so that lines aren't
        # interleaved.
        sys.stdout.write(line(level, time, fields) + "\n")
        sys.stdout.flush()

    return write


def _to_logger(logger: Any, line: Line) -> Callable[..., None]:
    def write(level: str, time: str, fields: Mapping[str, Any]) -> None:
        number = _LEVELS[level]
        if logger.isEnabledFor(number):
            extra = {
                f"{name}_" if name in _OF_RECORDS else name: value for name, value in fields.items()
            }
            logger.log(number, "%s", line(level, time, fields), extra=extra)

    return write


def _to_structured(logger: Any) -> Callable[..., None]:
    def write(level: str, time: str, fields: Mapping[str, Any]) -> None:
        if not _OF_METHODS.isdisjoint(fields):
            fields = {
                f"{name}_" if name in _OF_METHODS else name: value for name, value in fields.items()
            }
        method = getattr(logger, level)
        result = method(_EVENT, **fields)
        if result is not None:
            plain_result(result, method, "access_log(to=...)")

    return write


def json_line(level: str, time: str, fields: Mapping[str, Any]) -> str:
    """Returns a line as a JSON object in ASCII (RFC 8259), without line breaks."""
    text = f'{{"time":"{time}","level":"{level}"'
    if "level" in fields or "time" in fields:
        # The app's own fields replace them: names should be unique (RFC 8259, section 4).
        rest = dict(fields)
        text = _encode({"time": rest.pop("time", time), "level": rest.pop("level", level)})[:-1]
        fields = rest
    for name, value in fields.items():
        text += _beginning_of(name) or _beginning(name)
        kind = value.__class__
        # PERF: takes half the time of encoding the whole object.
        if kind is str:
            text += quoted(value)
        elif kind is int:
            text += str(value)
        elif kind is float:
            text += repr(value) if isfinite(value) else "null"
        else:
            text += _encode(_finite(value))
    return text + "}"


def _beginning(name: str) -> str:
    return f",{quoted(name)}:"


# PERF: for the fields that every line has.
_beginning_of = {
    name: _beginning(name)
    for name in (
        "client",
        "duration_ms",
        "method",
        "path",
        "request_bytes",
        "request_id",
        "response_bytes",
        "route",
        "span_id",
        "status",
        "trace_id",
        "user_agent",
    )
}.get
_encode = JSONEncoder(separators=(",", ":"), allow_nan=False, default=str).encode


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not isfinite(value) else value


def text_line(level: str, time: str, fields: Mapping[str, Any]) -> str:
    """Returns a human-readable line: the standard fields, and the app's fields as `name=value`."""
    rest = dict(fields)
    target = str(rest.pop("path", "-"))
    if "query" in rest:
        target += f"?{rest.pop('query')}"
    duration = rest.pop("duration_ms", "-")
    parts = [
        str(rest.pop("method", "-")),
        target,
        str(rest.pop("status", "-")),
        f"{duration:.1f}ms" if isinstance(duration, (int, float)) else str(duration),
        f"{rest.pop('response_bytes', 0)}B",
        str(rest.pop("client", "-")),
    ]
    for name in ("route", "request_bytes", "user_agent"):
        rest.pop(name, None)
    parts += [f"{name}={value}" for name, value in rest.items()]
    return " ".join(visible(part) for part in parts)
