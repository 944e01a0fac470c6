# SPDX-License-Identifier: MIT
"""Prints a response."""

from __future__ import annotations

import contextlib
import json
import sys
from http import HTTPStatus

import click

from kit.authoring.terminal import supports_color

from ._calling import Header
from ._style import CYAN, FAINT, GREEN, RED, YELLOW, painted

_COLORS = {2: GREEN, 3: CYAN, 4: YELLOW, 5: RED}
_PHRASES = {each.value: each.phrase for each in HTTPStatus}


class Printer:
    """Prints a response while it comes.

    On a terminal JSON is spread over lines, and what is no text is not printed.

    Args:
        version: Version of HTTP, for the status line.
        body_only: Whether to print the body alone.

    Attributes:
        status: Status of the response; 0 before there is one.
    """

    def __init__(self, version: str, *, body_only: bool) -> None:
        self.status = 0
        # What the app itself prints meanwhile goes elsewhere, see `_commands.request`.
        self._stream = sys.stdout
        self._version = version
        self._body_only = body_only
        self._is_terminal = self._stream.isatty()
        self._colorize = supports_color(self._stream)
        self._type = ""
        self._kept: list[bytes] | None = None
        self._last = b"\n"
        self._hidden = 0

    def head(self, status: int, headers: list[Header]) -> None:
        """Prints status line and headers."""
        self.status = status
        self._type = next((value for name, value in headers if name == "content-type"), "")
        media_type = self._type.partition(";")[0].strip().lower()
        if self._is_terminal and (media_type.endswith(("/json", "+json"))):
            self._kept = []
        if self._body_only:
            return
        shown = f"{status} {_PHRASES.get(status, '')}".rstrip()
        self._line(f"HTTP/{self._version} {self._painted(shown, _COLORS.get(status // 100))}")
        for name, value in headers:
            self._line(f"{self._painted(f'{name}:', FAINT)} {value}")
        self._line("")

    def chunk(self, data: bytes) -> None:
        """Prints a part of the body."""
        if self._kept is not None:
            self._kept.append(data)
        elif self._hidden or (self._is_terminal and b"\0" in data):
            self._hidden += len(data)
        else:
            self._last = data[-1:]
            click.echo(data, self._stream, nl=False)

    def message(self, data: str | bytes) -> None:
        """Prints a message of a WebSocket: text in a line of its own, binary as its size."""
        shown = data if isinstance(data, str) else f"({len(data)} bytes)"
        click.echo(shown, self._stream)

    def end(self) -> None:
        """Prints what is left."""
        if self._kept:
            data = b"".join(self._kept)
            with contextlib.suppress(ValueError):  # it may only say that it is JSON
                data = json.dumps(json.loads(data), indent=2, ensure_ascii=False).encode()
            click.echo(data, self._stream, nl=False)
            self._last = data[-1:]
        if self._is_terminal and self._last != b"\n":
            click.echo(file=self._stream)
        if self._hidden:
            what = self._type or "what is no text"
            click.echo(f"({self._hidden} bytes of {what} are not shown on a terminal)", err=True)

    def _painted(self, text: str, color: int | None) -> str:
        return painted(text, color) if color is not None and self._colorize else text

    def _line(self, text: str) -> None:
        click.echo(text, self._stream, color=self._colorize)
