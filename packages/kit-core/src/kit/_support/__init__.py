# SPDX-License-Identifier: MIT
"""Helpers for all packages of the core: JSON, limits, paths, fast Structs."""
