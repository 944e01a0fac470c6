# SPDX-License-Identifier: MIT
"""The processor time of other processes, and where they run, as Linux has it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PROC = Path("/proc")


def processor_seconds(pid: int) -> float:
    """Seconds that a process and its children had a processor; 0 where there is no `/proc`."""
    try:
        # The name of the program, in parentheses, may hold blanks.
        fields = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
        children = [
            int(child)
            for listed in (_PROC / str(pid) / "task").glob("*/children")
            for child in listed.read_text().split()
        ]
    except (OSError, ValueError):
        return 0.0
    own = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return own + sum(map(processor_seconds, children))


@contextmanager
def apart() -> Iterator[set[int] | None]:
    """Keeps this process, and those that it starts meanwhile, on one processor.

    Gives the others, for processes that this one is not to disturb; None where there are none, or
    a process can't choose.
    """
    try:
        own = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(own)} if len(own) > 1 else own)
    except (AttributeError, OSError):  # not Linux, or not allowed
        yield None
        return
    try:
        yield own - {min(own)} or None
    finally:
        os.sched_setaffinity(0, own)
