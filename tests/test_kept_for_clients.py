# SPDX-License-Identifier: MIT
"""What clients choose isn't kept for the life of the process, whatever its number and length."""

from __future__ import annotations

import sys

import client_values
import pytest
from commands import run

# Some of it is noise. If they were kept, many values would take 450 KB, and the long ones 1.2 MB.
MOST_GROWTH_BYTES = 250_000


def grown(kind: str, values: str) -> int:
    """Returns the growth in a new process: in an old one, tables of Python itself may grow too."""
    return int(run(sys.executable, client_values.__file__, kind, values))


@pytest.mark.slow
@pytest.mark.parametrize("kind", client_values.KINDS)
def test_many_values_are_not_kept(kind: str) -> None:
    assert grown(kind, "many") < MOST_GROWTH_BYTES


@pytest.mark.parametrize("kind", client_values.KINDS)
def test_long_values_are_not_kept(kind: str) -> None:
    assert grown(kind, "long") < MOST_GROWTH_BYTES
