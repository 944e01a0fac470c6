# SPDX-License-Identifier: MIT
"""Finds what to run for a request: the routes that match, and the chain of their handlers."""
