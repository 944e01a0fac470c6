# SPDX-License-Identifier: MIT
"""Exception groups, as raised by task groups."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ("leaves",)


def leaves(error: Exception) -> Iterator[Exception]:
    """Yields the exceptions in a group and in its nested groups, or the exception itself."""
    if isinstance(error, ExceptionGroup):
        for inner in error.exceptions:
            yield from leaves(inner)
    else:
        yield error
