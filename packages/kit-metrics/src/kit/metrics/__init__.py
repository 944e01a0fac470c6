# SPDX-License-Identifier: MIT
"""Request metrics for Prometheus."""

from ._exposition import expose
from ._middleware import metrics

__all__ = ("expose", "metrics")
