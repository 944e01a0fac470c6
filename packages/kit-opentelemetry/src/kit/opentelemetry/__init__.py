# SPDX-License-Identifier: MIT
"""OpenTelemetry: a span and metrics for each request, and trace ids in log records."""

from ._logging import TraceIdFilter
from ._opentelemetry import opentelemetry

__all__ = ("TraceIdFilter", "opentelemetry")
