# SPDX-License-Identifier: MIT
"""The format of server-sent events."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kit.http.server_sent_events import (
    KEEP_ALIVE,
    check_event_field,
    check_retry,
    encode_event,
    set_event_headers,
)


def parse_stream(text: str) -> list[tuple[str, str]]:
    """Parses a stream (WHATWG HTML, section 9.2.6), and returns the dispatched events."""
    events: list[tuple[str, str]] = []
    kind, data = "", []
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if not line:
            if data:
                events.append((kind or "message", "\n".join(data)))
            kind, data = "", []
        elif name == "event":
            kind = value
        elif name == "data":
            data.append(value)
    return events


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, b""),
        ({"data": ""}, b"data: \n\n"),
        ({"data": "a\r\nb\rc\nd"}, b"data: a\ndata: b\ndata: c\ndata: d\n\n"),
        (
            {"data": "x", "event": "tick", "id": "7", "retry": 0, "comment": "one\ntwo"},
            b": one\n: two\nevent: tick\ndata: x\nid: 7\nretry: 0\n\n",
        ),
        ({"comment": "open"}, b": open\n\n"),
        ({"id": ""}, b"id: \n\n"),
    ],
)
def test_encode_event(fields: dict[str, Any], expected: bytes) -> None:
    assert encode_event(**fields) == expected


LINES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"))


@given(st.lists(LINES, min_size=1), LINES.filter(lambda each: not each.startswith(" ")))
def test_no_data_leaves_its_event(lines: list[str], kind: str) -> None:
    sent = encode_event("\n".join(lines), event=kind, comment="\n\ndata: no") + KEEP_ALIVE
    assert parse_stream(sent.decode()) == [(kind or "message", "\n".join(lines))]


@pytest.mark.parametrize("value", ["a\nb", "a\rb"])
@pytest.mark.parametrize("name", ["event", "id"])
def test_line_ends_are_refused(name: str, value: str) -> None:
    with pytest.raises(ValueError, match=f"Invalid {name} "):
        check_event_field("it", name, value)


def test_an_id_with_nul_is_refused() -> None:
    check_event_field("it", "event", "a\0b")
    with pytest.raises(ValueError, match="NUL"):
        check_event_field("it", "id", "a\0b")


@pytest.mark.parametrize("value", [1.0, "1", True])
def test_retry_of_another_type_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="it takes retry as an int"):
        check_retry("it", value)


def test_negative_retry_is_refused() -> None:
    with pytest.raises(ValueError, match="expected 0 or more"):
        check_retry("it", -1)


class Fields(dict[str, str]):
    def has(self, name: str) -> bool:
        return name in self

    def set(self, name: str, value: str) -> None:
        self[name] = value


def test_headers_that_are_set_are_kept() -> None:
    headers = Fields({"cache-control": "no-store", "content-type": "text/plain"})
    set_event_headers(headers)
    assert headers == {
        "cache-control": "no-store",
        "content-type": "text/event-stream",
        "x-accel-buffering": "no",
    }
