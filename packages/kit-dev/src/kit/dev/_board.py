# SPDX-License-Identifier: MIT
"""Notes which requests an app is handling where another process can read it after a crash."""

from __future__ import annotations

import ctypes
import multiprocessing

# So many requests at a time are noted, each with so many bytes.
_SLOTS = 32
_BYTES = 200


class Board:
    """Memory that a worker shares with its parent.

    It is handed to a process when that is started.
    """

    def __init__(self) -> None:
        spawn = multiprocessing.get_context("spawn")
        self._memory = spawn.RawArray(ctypes.c_char, _SLOTS * _BYTES)
        self._has_begun = spawn.RawValue(ctypes.c_bool, False)
        self._free = list(range(_SLOTS))

    @property
    def has_begun(self) -> bool:
        """Whether the app has been given a request."""
        return self._has_begun.value

    @property
    def _view(self) -> memoryview:
        return memoryview(self._memory).cast("B")

    def begin(self, request: str) -> int | None:
        """Notes a request.

        Returns:
            What `end` takes; None if there are too many to note another.
        """
        self._has_begun.value = True
        if not self._free:
            return None
        slot = self._free.pop()
        text = request.encode("ascii", "replace")[:_BYTES]
        self._view[slot * _BYTES : (slot + 1) * _BYTES] = text.ljust(_BYTES, b"\0")
        return slot

    def end(self, slot: int | None) -> None:
        """Removes a request."""
        if slot is not None:
            self._view[slot * _BYTES] = 0
            self._free.append(slot)

    def running(self) -> list[str]:
        """Returns the requests that have begun and not ended."""
        view = self._view
        slots = (bytes(view[at : at + _BYTES]) for at in range(0, _SLOTS * _BYTES, _BYTES))
        texts = (slot.partition(b"\0")[0].decode("ascii", "replace") for slot in slots)
        return [text for text in texts if text]
