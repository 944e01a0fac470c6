# SPDX-License-Identifier: MIT
"""What clients choose isn't kept for the life of the process, whatever its number and length."""

from __future__ import annotations

import json
import sys

import client_values
import pytest
from commands import run

# Some of it is noise. If they were kept, many values would take 450 KB, and the long ones 1.2 MB.
MOST_GROWTH_BYTES = 250_000


def grown(values: str, *kinds: str) -> dict[str, int]:
    """Returns the growth in bytes with each kind of values, of all kinds by default."""
    told: dict[str, int] = json.loads(run(sys.executable, client_values.__file__, values, *kinds))
    return told


@pytest.mark.slow
@pytest.mark.parametrize("kind", client_values.KINDS)
def test_many_values_are_not_kept(kind: str) -> None:
    assert grown("many", kind)[kind] < MOST_GROWTH_BYTES


def test_long_values_are_not_kept() -> None:
    growths = grown("long")
    assert growths.keys() == client_values.KINDS.keys()
    assert {kind: size for kind, size in growths.items() if size >= MOST_GROWTH_BYTES} == {}
