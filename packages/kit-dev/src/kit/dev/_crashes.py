# SPDX-License-Identifier: MIT
"""Says how a process of an app ended that nobody had asked to end."""

from __future__ import annotations

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
        during = "It ended while it started"
    elif not running:
        during = "It ended while no request was running"
    elif len(running) == 1:
        during = f"It ended during {running[0]}"
    else:
        during = f"It ended during one of {', '.join(running)}"
    text = f"{during} ({ending})."
    return Problem("The app crashed", text, from_their_frames(stack, folder), _advice(again))


def _advice(again: bool) -> str:
    return _AGAIN if again else _WAITS


def from_their_frames(stack: str, folder: Path) -> str:
    """Returns what faulthandler wrote, up to the outermost call of the user's code.

    Args:
        stack: What it wrote, most recent call first.
        folder: Where the user's code is.
    """
    head, _, rest = stack.partition("Current thread")
    if not rest:
        return ""
    lines = rest.partition("\n\n")[0].splitlines()[1:]
    theirs = [at for at, line in enumerate(lines) if f'File "{folder}' in line]
    shown = lines[: theirs[-1] + 1] if theirs else lines
    return "\n".join([head.strip(), "Most recent call first:", *shown])
