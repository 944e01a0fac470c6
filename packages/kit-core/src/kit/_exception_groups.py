# SPDX-License-Identifier: MIT
"""Exception groups, such as task groups raise."""

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
