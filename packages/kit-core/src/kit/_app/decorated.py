# SPDX-License-Identifier: MIT
"""Detects whether the result of a registering call is mistakenly used as a decorator."""

from __future__ import annotations

from collections.abc import Sequence
from types import FrameType

from kit._state.route import Route
from kit.authoring.caller_frame import find_caller_frame


class Call:
    """A call that registered handlers and returned the app.

    Args:
        text: The call, e.g. `post('/books')`.
        routes: The routes that it registered.
    """

    __slots__ = ("_code", "_instruction", "_lacks_handler", "_line", "routes", "text")

    def __init__(self, text: str, routes: Sequence[Route]) -> None:
        frame, _ = find_caller_frame()
        self.text = text
        self.routes = routes
        self._lacks_handler = all(route.takes_next for route in routes) and text[:4] != "use("
        # The frame itself would keep all its variables.
        self._code = frame.f_code
        self._instruction = frame.f_lasti
        self._line = frame.f_lineno

    @property
    def with_use(self) -> str:
        """The call with middleware in `use`, e.g. `post('/books', use=[...])`."""
        start = self.text.removesuffix(")")
        return f"{start}{'' if start.endswith('(') else ', '}use=[...])"

    def decorates(self) -> bool:
        """Returns whether the running call into Kit uses the result of this call.

        It does if this call is part of its expression, as for a decorator; or if this call, in the
        same function or module, registered middleware without a handler.
        """
        frame, _ = find_caller_frame()
        if frame.f_code is not self._code:
            return False
        if self._lacks_handler:
            return True
        inner, outer = _position(frame, self._instruction), _position(frame, frame.f_lasti)
        if inner is None or outer is None:
            return frame.f_lineno == self._line
        return outer[0] <= inner[0] and inner[1] <= outer[1]


def _position(frame: FrameType, instruction: int) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Returns start and end of an instruction's expression, as lines and columns.

    None if the interpreter doesn't store positions (`-X no_debug_ranges`).
    """
    positions = [*frame.f_code.co_positions()]
    line, last_line, column, last_column = positions[instruction // 2]
    if line is None or last_line is None or column is None or last_column is None:
        return None
    return (line, column), (last_line, last_column)
