# SPDX-License-Identifier: MIT
"""The processor time of another process, as Linux counts it."""

from __future__ import annotations

import os
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
