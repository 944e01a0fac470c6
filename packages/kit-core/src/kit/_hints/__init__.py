# SPDX-License-Identifier: MIT
"""Hints at what to write in place of frequent mistakes."""
