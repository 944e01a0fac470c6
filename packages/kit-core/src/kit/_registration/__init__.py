# SPDX-License-Identifier: MIT
"""Registers routes, and handles requests in process."""
