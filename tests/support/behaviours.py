# SPDX-License-Identifier: MIT
"""What an app does on every server: requests, their responses, and their effects in the app.

An expectation is one line of text, so the docs can show what a server does instead beside it.
`behaviours_differences` lists those differences.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from behaviours_modes import Mode
from behaviours_wire import Request


@dataclass(frozen=True)
class Behaviour:
    """One behaviour.

    Attributes:
        group: Its section of the page.
        name: Its row there.
        expected: What is observed unless a server differs.
        see: Observes it in a mode.
        needs: What a mode must support for it, see `Mode.lacks`.
    """

    group: str
    name: str
    expected: str
    see: Callable[[Any], Any]
    needs: str = ""


BEHAVIOURS: list[Behaviour] = []
ENDINGS: list[Behaviour] = []  # all observed in one shutdown of the server


def asked(
    group: str,
    name: str,
    expected: str,
    target: str,
    *shown: str,
    method: str = "GET",
    headers: tuple[tuple[str, str], ...] = (),
    body: bytes = b"",
    is_chunked: bool = False,
    needs: str = "",
) -> None:
    """Adds a behaviour that takes one request to observe.

    Args:
        group: As of `Behaviour`.
        name: As of `Behaviour`.
        expected: Status and body, then each of the headers in `shown`.
        target: Path and query, as on the wire.
        *shown: Names of response headers.
        method: The method.
        headers: Further header lines.
        body: The body.
        is_chunked: Whether the body is sent in chunks, without a Content-Length.
        needs: As of `Behaviour`.
    """
    request = Request(target, method, headers, body, is_chunked)

    def see(mode: Mode) -> str:
        return mode.ask(request).shown(*shown)

    BEHAVIOURS.append(Behaviour(group, name, expected, see, needs))


def seen(
    group: str, name: str, expected: str, needs: str = "connection"
) -> Callable[[Callable[[Any], str]], Callable[[Any], str]]:
    """Adds a behaviour that takes more than one request to observe."""

    def add(see: Callable[[Any], str]) -> Callable[[Any], str]:
        BEHAVIOURS.append(Behaviour(group, name, expected, see, needs))
        return see

    return add
