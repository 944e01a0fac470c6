# SPDX-License-Identifier: MIT
"""Middleware that cancels handlers if they take too long, or if their client has disconnected."""

from ._disconnect import cancel_on_disconnect
from ._timeout import ExceptionFunction, timeout

__all__ = ("ExceptionFunction", "cancel_on_disconnect", "timeout")
