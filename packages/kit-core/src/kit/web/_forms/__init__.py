# SPDX-License-Identifier: MIT
"""Reads and writes forms, in memory and on disk."""
