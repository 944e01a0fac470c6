# SPDX-License-Identifier: MIT
"""Request metrics for Prometheus."""

from ._exposition import expose
from ._metrics import metrics

__all__ = ("expose", "metrics")
