# SPDX-License-Identifier: MIT
"""Warns of handlers that hold the event loop: while one does, no other request is answered.

A thread looks at the stack of the event loop's thread every few milliseconds. A function that is
found there again and again, while the loop takes no turn, holds it. The app itself is left as it
is, so nothing is slower and no traceback longer.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FrameType

from kit.interface import RouterRoute

from ._names import Place, describe_handler, find_code, layers
from ._table import shown_place

LIMIT_S = 0.05
_LOOK_S = 0.01
# A handler that holds the loop for so long is told of before it ends: it may never end.
_LONG_S = 1.0
# For so long a handler is not told of again.
_QUIET_S = 5.0
# An import is slow once; a debugger holds the loop on purpose.
_EXCUSED = ("<frozen importlib", "/pdb.py", "/bdb.py")
_INSTALLED = f"{os.sep}site-packages{os.sep}"


@dataclass
class _Hold:
    """A call that was found to hold the loop, since when, and where it was seen last."""

    frame: FrameType
    since: float
    place: str
    is_told: bool = False


class LoopWatch(threading.Thread):
    """Watches the event loop that it is made in.

    Args:
        routes: The routes of the app, to name their handlers.
        folder: Where the code of the app is. What else holds the loop from there, a task for
            instance, is named by the function that it began with.
        tell: Is given each warning, in a thread.
    """

    def __init__(
        self, routes: Iterable[RouterRoute], folder: Path, tell: Callable[[str], object]
    ) -> None:
        super().__init__(name="kit-loop-watch", daemon=True)
        self._loop = asyncio.get_running_loop()
        self._watched = threading.get_ident()
        self._names = names_by_code(routes)
        self._folder = f"{folder.resolve()}{os.sep}"
        self._tell = tell
        self._told: dict[CodeType, float] = {}
        self._hold: _Hold | None = None
        self._turned = threading.Event()
        self._before = self._cpu_before = math.inf

    def run(self) -> None:
        """Watches until the loop is closed."""
        while not self._loop.is_closed():
            time.sleep(_LOOK_S)
            self.look(time.perf_counter(), time.process_time())

    def look(self, now: float, cpu: float) -> None:
        """Looks what has the loop now, and warns if that has had it for too long.

        Args:
            now: The time in seconds.
            cpu: For how many seconds this process has been at work.
        """
        frame, place = self._running()
        hold = self._hold
        if hold is not None and (frame is not hold.frame or self._turned.is_set()):
            if now - hold.since >= LIMIT_S and not hold.is_told:
                self._warn(hold, f"held the event loop for {_ms(now - hold.since)} ms", now)
            hold = None
        if frame is not None and hold is None:
            # C code can keep this thread from looking. A machine that is busy with other
            # things does so too, but then this process was not at work meanwhile.
            was_kept = cpu - self._cpu_before >= LIMIT_S
            hold = _Hold(frame, self._before if was_kept else now, place)
            self._turned.clear()
            with contextlib.suppress(RuntimeError):  # it was closed meanwhile
                self._loop.call_soon_threadsafe(self._turned.set)
        elif hold is not None:
            hold.place = place
            if now - hold.since > _LONG_S and not hold.is_told:
                self._warn(hold, "has held the event loop for a second, and still does", now)
        self._hold = hold
        self._before, self._cpu_before = now, cpu

    def _running(self) -> tuple[FrameType | None, str]:
        """The call that has the loop now, None if none has; and the line that is running."""
        frame = sys._current_frames().get(self._watched)
        place: Place | None = None
        outermost: FrameType | None = None
        while frame is not None:
            code = frame.f_code
            if any(excuse in code.co_filename for excuse in _EXCUSED):
                return None, ""
            is_theirs = code.co_filename.startswith(self._folder)
            if is_theirs and _INSTALLED not in code.co_filename:
                outermost = frame
                place = place or Place(code.co_filename, frame.f_lineno)
            if code in self._names:
                place = place or Place(code.co_filename, frame.f_lineno)
                return frame, shown_place(place)
            frame = frame.f_back
        return outermost, shown_place(place)

    def _warn(self, hold: _Hold, what: str, now: float) -> None:
        hold.is_told = True
        code = hold.frame.f_code
        if now - self._told.get(code, -_QUIET_S) < _QUIET_S:
            return
        self._told[code] = now
        self._tell(
            f"Warning: {self._names.get(code) or code.co_qualname} {what} ({hold.place}). Nothing "
            "else is answered meanwhile: await what takes time, or put kit.in_thread() around it"
        )


def names_by_code(routes: Iterable[RouterRoute]) -> dict[CodeType, str]:
    """The names of handlers by the code that runs in them.

    Code that several handlers of different names share, as that of a wrapper, has no name here.
    """
    names: dict[CodeType, set[str]] = {}
    for route in routes:
        name = describe_handler(route.handler) or f"The handler of {route.method} {route.path}"
        for layer in layers(route.handler):
            code = find_code(layer)
            if code is not None:
                names.setdefault(code, set()).add(name)
    return {code: found.pop() for code, found in names.items() if len(found) == 1}


def _ms(seconds: float) -> int:
    return round(seconds * 1000)
