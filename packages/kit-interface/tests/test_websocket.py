# SPDX-License-Identifier: MIT
"""Close codes and reasons, and the types of WebSocket handlers."""

from __future__ import annotations

from typing import Any

import pytest

import kit.interface.websocket
from kit.interface.websocket import ReadyState, WSEvents, check_close


def test_public_names() -> None:
    assert kit.interface.websocket.__all__ == (
        "CloseEvent",
        "ErrorEvent",
        "MessageEvent",
        "OnClose",
        "OnError",
        "OnMessage",
        "OnOpen",
        "OpenEvent",
        "ReadyState",
        "WSEvents",
        "WebSocket",
        "WebSocketDisconnectedError",
        "check_close",
    )


SENDABLE = {*range(1000, 1004), *range(1007, 1015), *range(3000, 5000)}


def is_sendable(code: int) -> bool:
    try:
        check_close(code)
    except ValueError:
        return False
    return True


def test_codes_that_may_be_sent() -> None:
    """RFC 6455 section 7.4, and the registry of close codes."""
    assert {code for code in range(-1, 6000) if is_sendable(code)} == SENDABLE
    assert SENDABLE.isdisjoint({1004, 1005, 1006, 1015, 2999})


@pytest.mark.parametrize("code", [1005, 1015, 999, 5000, "1000", 1000.0, None, True])
def test_code_that_can_not_be_sent(code: Any) -> None:
    with pytest.raises(ValueError, match="close code") as caught:
        check_close(code)
    assert str(caught.value).startswith(f"The close code {code!r} can't be sent")


@pytest.mark.parametrize("reason", ["", "going away", "x" * 123, "é" * 61])
def test_reason(reason: str) -> None:
    check_close(1000, reason)
    assert len(reason.encode()) <= 123


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        ("x" * 124, "The close reason has 124 bytes of UTF-8: expected at most 123"),
        ("é" * 62, "The close reason has 124 bytes of UTF-8: expected at most 123"),
        ("\ud800", "The close reason '\\ud800' can't be sent: expected text that UTF-8 can"),
        (None, "The close reason None can't be sent: expected text that UTF-8 can encode"),
        (b"x", "The close reason b'x' can't be sent: expected text that UTF-8 can encode"),
    ],
)
def test_reason_that_can_not_be_sent(reason: Any, text: str) -> None:
    with pytest.raises(ValueError, match="close reason") as caught:
        check_close(1000, reason)
    assert text in str(caught.value)


def test_ready_states_are_those_of_the_web() -> None:
    assert [*ReadyState] == [0, 1, 2, 3]
    assert ReadyState(1) is ReadyState.OPEN
    assert [state.name for state in ReadyState] == ["CONNECTING", "OPEN", "CLOSING", "CLOSED"]


def test_events_are_given_by_name() -> None:
    def echo(event: Any, ws: Any) -> None: ...

    assert WSEvents(on_message=echo) == {"on_message": echo}
    assert WSEvents.__optional_keys__ == {"on_open", "on_message", "on_close", "on_error"}
