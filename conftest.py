# SPDX-License-Identifier: MIT
"""What holds for all tests."""

from __future__ import annotations

import gc


def pytest_collection_finish() -> None:
    """Takes what was imported out of the garbage collector's sight.

    Many tests collect garbage, to hear of what was dropped half-way. The modules of all tests make
    each collection take a hundred times as long as what the test itself made.
    """
    gc.collect()
    gc.freeze()


def pytest_sessionfinish() -> None:
    """Lets plugins that look for who refers to something find it again."""
    gc.unfreeze()
