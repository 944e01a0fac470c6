# SPDX-License-Identifier: MIT
"""Server-Timing: shows in the browser's developer tools how long the parts of a request took."""

from ._metrics import end_timer, set_metric, start_timer, wrap_time
from ._timing import timing

__all__ = ("end_timer", "set_metric", "start_timer", "timing", "wrap_time")
