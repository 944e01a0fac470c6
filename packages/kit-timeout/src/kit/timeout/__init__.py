# SPDX-License-Identifier: MIT
"""Cancels handlers that take too long, or whose client has disconnected, as middleware."""

from ._disconnect import cancel_on_disconnect
from ._timeout import ExceptionFunction, timeout

__all__ = ("ExceptionFunction", "cancel_on_disconnect", "timeout")
