# SPDX-License-Identifier: MIT
"""OpenTelemetry tracing and metrics middleware for the Kit web framework."""

from ._middleware import opentelemetry

__all__ = ("opentelemetry",)
