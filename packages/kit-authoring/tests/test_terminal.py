# SPDX-License-Identifier: MIT
"""Whether colours are welcome: environment first, then the stream."""

from __future__ import annotations

import io
from typing import Any

import pytest

from kit.authoring.terminal import supports_color


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environment", "stream", "expected"),
    [
        pytest.param({}, Terminal(), True, id="terminal"),
        pytest.param({}, io.StringIO(), False, id="no terminal"),
        pytest.param({}, None, False, id="no stream"),
        pytest.param({}, object(), False, id="no isatty"),
        pytest.param({"NO_COLOR": "1"}, Terminal(), False, id="NO_COLOR"),
        pytest.param({"NO_COLOR": ""}, Terminal(), True, id="empty NO_COLOR"),
        pytest.param({"FORCE_COLOR": "1"}, io.StringIO(), True, id="FORCE_COLOR"),
        pytest.param({"FORCE_COLOR": "1", "NO_COLOR": "1"}, Terminal(), False, id="both"),
        pytest.param({"TERM": "dumb"}, Terminal(), False, id="dumb terminal"),
        pytest.param({"TERM": "dumb", "FORCE_COLOR": "1"}, Terminal(), True, id="dumb but forced"),
    ],
)
def test_colours(
    environment: dict[str, str], stream: Any, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert supports_color(stream) is expected


def test_closed_stream() -> None:
    stream = io.StringIO()
    stream.close()
    assert supports_color(stream) is False
