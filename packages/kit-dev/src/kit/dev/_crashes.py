# SPDX-License-Identifier: MIT
"""Says how a process of an app ended that nobody had asked to end."""

from __future__ import annotations

from itertools import takewhile
from pathlib import Path

from ._problems import Problem

_AGAIN = "The app was started again: the next request gets its response."
_WAITS = "Kit waits for a change of the code, and then starts the app again."


def crash(
    ending: str, running: list[str], stack: str, folder: Path, *, has_started: bool, again: bool
) -> Problem:
    """Describes a crash.

    Args:
        ending: The exit code or signal, in words.
        running: The requests that were running.
        stack: What Python wrote about the stack, if it came to that.
        folder: Where the code of the app is.
        has_started: Whether the app had started.
        again: Whether it is started again.
    """
    if not has_started:
        when = "while it started"
    elif not running:
        when = "while no request was running"
    elif len(running) == 1:
        when = f"while it answered {running[0]}"
    else:
        when = f"while it answered one of {', '.join(running)}"
    text = f"{ending}, {when}"
    advice = _AGAIN if again else _WAITS
    return Problem("The app crashed", text, from_their_frames(stack, folder), advice)


def from_their_frames(stack: str, folder: Path) -> str:
    """Returns what faulthandler wrote, up to the outermost call of the user's code.

    Args:
        stack: What it wrote, most recent call first.
        folder: Where the user's code is.
    """
    head, _, rest = stack.partition(" (most recent call first):\n")
    lines = list(takewhile(lambda line: line.startswith("  File "), rest.splitlines()))
    if not lines:
        return ""
    theirs = [at for at, line in enumerate(lines) if f'File "{folder}' in line]
    shown = lines[: theirs[-1] + 1] if theirs else lines
    return "\n".join([head.partition("\n")[0], "Most recent call first:", *shown])
