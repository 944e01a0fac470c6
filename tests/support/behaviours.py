# SPDX-License-Identifier: MIT
"""What an app does under every server: requests, and what is answered or happens.

An expectation is a line of text, so that what a server does instead can stand beside it in the
docs. `behaviours_differences` has these.
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
        group: The part of the table that it is in.
        name: What it is about.
        expected: What is seen.
        see: Looks.
        needs: What a mode has to have for it, see `Mode.lacks`.
    """

    group: str
    name: str
    expected: str
    see: Callable[[Any], Any]
    needs: str = ""


BEHAVIOURS: list[Behaviour] = []
ENDINGS: list[Behaviour] = []  # what is seen at the end of the server, in one go


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
    """Adds a behaviour that one request shows.

    Args:
        group: As of `Behaviour`.
        name: As of `Behaviour`.
        expected: Status and body, and each of the headers `shown`.
        target: As of `Request`, as are those below.
        *shown: Names of headers.
        method: The method.
        headers: The header lines.
        body: The body.
        is_chunked: Whether it has no length.
        needs: As of `Behaviour`.
    """
    request = Request(target, method, headers, body, is_chunked)

    def see(mode: Mode) -> str:
        return mode.ask(request).shown(*shown)

    BEHAVIOURS.append(Behaviour(group, name, expected, see, needs))


def seen(
    group: str, name: str, expected: str, needs: str = "connection"
) -> Callable[[Callable[[Any], str]], Callable[[Any], str]]:
    """Adds a behaviour that takes more than a request to see."""

    def add(see: Callable[[Any], str]) -> Callable[[Any], str]:
        BEHAVIOURS.append(Behaviour(group, name, expected, see, needs))
        return see

    return add
