# SPDX-License-Identifier: MIT
"""Tracebacks as their readers want them: from their own code on."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

_OURS = ("kit", "asyncio", "anyio", "concurrent", "contextlib", "importlib", "uvicorn")


def their_code(error: BaseException) -> TracebackType | None:
    """The part of a traceback that begins with the user's code; None if that is not in it."""
    place = error.__traceback__
    while place is not None and _is_ours(place):
        place = place.tb_next
    return place


def from_their_code(error: BaseException) -> str:
    """The text of an exception and its traceback, without the calls that lead to the user's code.

    A traceback that has nothing but such calls is shown whole.
    """
    place = their_code(error) or error.__traceback__
    return "".join(traceback.format_exception(type(error), error, place)).rstrip()


@contextmanager
def cut_in_log() -> Iterator[None]:
    """Cuts tracebacks that are logged meanwhile, unless the app has set up logging by itself."""
    handler = logging.lastResort
    if handler is None:  # it was taken away, so nothing is shown
        yield
        return
    before = handler.formatter
    handler.setFormatter(_Formatter())
    try:
        yield
    finally:
        handler.formatter = before


class _Formatter(logging.Formatter):
    """Formats a record as is done without logging set up, but for the traceback."""

    def formatException(self, ei: Any) -> str:  # noqa: N802 - the name is that of logging
        return from_their_code(ei[1])


def _is_ours(place: TracebackType) -> bool:
    module = str(place.tb_frame.f_globals.get("__name__"))
    return module.partition(".")[0] in _OURS
