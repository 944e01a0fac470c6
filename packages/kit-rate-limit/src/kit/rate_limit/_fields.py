# SPDX-License-Identifier: MIT
"""The fields RateLimit-Policy and RateLimit, and the response to a client over a limit.

SPEC: draft-ietf-httpapi-ratelimit-headers-10, sections 3, 4 and 5.1.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import Any

from kit.interface import Context, ProblemError

from ._limits import Limit
from ._stores import RateLimitState

__all__ = ("field_writer", "policy_names", "quota_exceeded", "retry_after")

_QUOTA_EXCEEDED = "https://iana.org/assignments/http-problem-types#quota-exceeded"


def policy_names(name: str | None, limits: tuple[Limit, ...]) -> list[str]:
    """Returns the names of the policies, e.g. `100/minute`, or `login:100/minute`."""
    return [f"{name}:{limit}" if name else str(limit) for limit in limits]


def field_writer(
    names: list[str], limits: tuple[Limit, ...]
) -> Callable[[Context[Any, Any], RateLimitState], None]:
    """Returns the function that adds both fields to the response.

    Args:
        names: Names of the policies, without quotes and backslashes.
        limits: Their limits.
    """
    pairs = list(zip(names, limits, strict=True))
    policies = ", ".join(f'"{name}";q={limit.amount};w={limit.seconds}' for name, limit in pairs)
    starts = [f'"{name}";r=' for name in names]

    def write(c: Context[Any, Any], state: RateLimitState) -> None:
        # Appended to those of inner limiters.
        c.header("RateLimit-Policy", policies, append=True)
        items = [
            f"{start}{window.remaining};t={ceil(window.reset)}"
            for start, window in zip(starts, state.windows, strict=True)
        ]
        c.header("RateLimit", ", ".join(items), append=True)

    return write


def retry_after(state: RateLimitState) -> int:
    """Returns the value of Retry-After in seconds, at least 1 (RFC 9110, section 10.2.3)."""
    return max(1, ceil(state.retry_after))


def quota_exceeded(state: RateLimitState, names: list[str] | None) -> ProblemError:
    """Returns the response to a client over a limit (RFC 6585, section 4).

    Args:
        state: The state of its limits.
        names: Names of the policies; None to leave them out.
    """
    seconds = retry_after(state)
    members: dict[str, Any] = {}
    if names is not None:
        exceeded = [
            name for name, window in zip(names, state.windows, strict=True) if window.exceeded
        ]
        members["violated-policies"] = exceeded
    return ProblemError(
        429,
        "Too Many Requests",
        f"Try again in {seconds} {'second' if seconds == 1 else 'seconds'}",
        type=_QUOTA_EXCEEDED,
        headers={"Retry-After": str(seconds)},
        **members,
    )
