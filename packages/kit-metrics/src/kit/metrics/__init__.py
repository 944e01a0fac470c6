# SPDX-License-Identifier: MIT
"""Metrics of requests for Prometheus."""

from ._exposition import expose
from ._middleware import metrics

__all__ = ("expose", "metrics")
