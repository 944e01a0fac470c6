# SPDX-License-Identifier: MIT
"""The parts of a client that are the same for every document: `runtime.ts`."""

from __future__ import annotations

import importlib.resources
import re
from collections.abc import Collection, Mapping

_REGION = re.compile(r"\s*// #region (\w+)")
_PLACE = re.compile(r"\s*/\* kit: ([\w ]+) \*/")


def write_runtime(regions: Collection[str], places: Mapping[str, list[str]]) -> list[str]:
    """Returns the lines of `runtime.ts`.

    Args:
        regions: The names of the regions that the client needs; others are left out.
        places: The lines for each place, by its name.
    """
    source = importlib.resources.files(__package__).joinpath("runtime.ts")
    lines: list[str] = []
    is_left_out = False
    for line in source.read_text(encoding="utf-8").splitlines():
        if region := _REGION.fullmatch(line):
            is_left_out = region[1] not in regions
        elif line.strip() == "// #endregion":
            is_left_out = False
        elif is_left_out:
            continue
        elif place := _PLACE.fullmatch(line):
            lines += places[place[1]]
        else:
            lines.append(line)
    return lines
