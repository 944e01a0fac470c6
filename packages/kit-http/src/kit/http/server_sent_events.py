# SPDX-License-Identifier: MIT
"""Server-sent events: the format of `text/event-stream` (WHATWG HTML, section 9.2)."""

from __future__ import annotations

import re
from typing import Protocol

__all__ = (
    "KEEP_ALIVE",
    "EventHeaders",
    "check_event_field",
    "check_retry",
    "encode_event",
    "set_event_headers",
)

KEEP_ALIVE = b": keep-alive\n"
"""A comment, which keeps proxies from closing an idle connection (section 9.2.7)."""

# SPEC: section 9.2.5: only these end a line; str.splitlines() splits at others, too.
_LINE_END = re.compile(r"\r\n|\r|\n")
# SPEC: section 9.2.6: clients ignore an id that contains NUL.
_FORBIDDEN = {"event": re.compile(r"[\r\n]"), "id": re.compile(r"[\r\n\0]")}
_EVENT_HEADERS = (
    ("cache-control", "no-cache"),
    # nginx holds a response back until its buffer is full, unless this is `no`.
    ("x-accel-buffering", "no"),
)


class EventHeaders(Protocol):
    """Headers that `set_event_headers` can change; names are case-insensitive."""

    def has(self, name: str, /) -> bool:
        """Returns whether a header is set."""

    def set(self, name: str, value: str, /) -> None:
        """Replaces all values of a header."""


def encode_event(
    data: str | None = None,
    *,
    event: str | None = None,
    id: str | None = None,
    retry: int | None = None,
    comment: str | None = None,
) -> bytes:
    r"""Encodes an event (section 9.2.6).

    Clients dispatch no event without data; its id and retry still count. The values aren't checked;
    see `check_event_field` and `check_retry`.

    Args:
        data: The data. Its lines arrive joined with LF, whatever their line ends. None: no data.
        event: The type of the event. None: `message`.
        id: The id, which a reconnecting client sends as Last-Event-ID. `""` resets it.
        retry: Milliseconds after which a client reconnects.
        comment: Text that clients ignore.

    Returns:
        The lines of the event in UTF-8, with the empty line at its end; b"" if nothing is given.

    Raises:
        UnicodeEncodeError: If a text contains a lone surrogate.
    """
    lines: list[str] = []
    if comment is not None:
        lines += [f": {line}" for line in _split_lines(comment)]
    if event is not None:
        lines.append(f"event: {event}")
    if data is not None:
        lines += [f"data: {line}" for line in _split_lines(data)]
    if id is not None:
        lines.append(f"id: {id}")
    if retry is not None:
        lines.append(f"retry: {retry}")
    return ("\n".join(lines) + "\n\n").encode() if lines else b""


def _split_lines(text: str) -> list[str]:
    # PERF: JSON has no line ends, and looking for them takes a third of the time of splitting.
    return _LINE_END.split(text) if "\n" in text or "\r" in text else [text]


def check_event_field(taker: str, name: str, value: object) -> None:
    """Checks the `event` or `id` of an event.

    Args:
        taker: What the value was given to, for the error, e.g. `write_sse()`.
        name: `event` or `id`.
        value: The value.

    Raises:
        TypeError: If it isn't a str.
        ValueError: If it contains CR or LF, or an id NUL.
    """
    if not isinstance(value, str):
        raise TypeError(f"{taker} takes {name} as a str, not {type(value).__name__}")
    if _FORBIDDEN[name].search(value):
        what = "CR, LF and NUL" if name == "id" else "CR and LF"
        raise ValueError(f"Invalid {name} {value!r} of an event: {what} are not allowed")


def check_retry(taker: str, value: object) -> None:
    """Checks the `retry` of an event.

    Args:
        taker: What the value was given to, for the error.
        value: The value.

    Raises:
        TypeError: If it isn't an int.
        ValueError: If it is negative.
    """
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(
            f"{taker} takes retry as an int of milliseconds, not {type(value).__name__}"
        )
    if value < 0:
        raise ValueError(f"Invalid retry {value!r} of an event: expected 0 or more")


def set_event_headers(headers: EventHeaders) -> None:
    """Sets the headers with which events arrive one by one.

    Args:
        headers: The headers of the response. Cache-Control and X-Accel-Buffering are kept if they
            are set.
    """
    headers.set("content-type", "text/event-stream")
    for name, value in _EVENT_HEADERS:
        if not headers.has(name):
            headers.set(name, value)
