# SPDX-License-Identifier: MIT
"""The processor time of other processes, and where they run, as Linux has it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PROC = Path("/proc")
_ALL_THREADS = 2
"""The kind of a process's clock, `CPUCLOCK_SCHED` of Linux."""


def processor_seconds(pid: int) -> float:
    """Seconds that a process and its children had a processor, with all threads of each.

    They are 0 on other systems than Linux.
    """
    try:
        # Its clock counts nanoseconds; that of `/proc/*/stat` ticks every 10 ms.
        own = time.clock_gettime(~pid << 3 | _ALL_THREADS)
        children = [
            int(child)
            for listed in (_PROC / str(pid) / "task").glob("*/children")
            for child in listed.read_text().split()
        ]
    except (AttributeError, OSError, ValueError):
        return 0.0
    return own + sum(map(processor_seconds, children))


def stay_on_one() -> None:
    """Keeps this process on the last of its processors, where it can choose.

    At any time, one processor of a machine may be slower than another, as the one that serves its
    devices is. Processes that take turns on the same one are slowed down alike.
    """
    with suppress(AttributeError, OSError):  # not Linux, or not allowed
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


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
