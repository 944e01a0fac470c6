# SPDX-License-Identifier: MIT
"""Helpers that all packages of the core use: JSON, limits, paths, fast Structs."""
