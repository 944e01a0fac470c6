# SPDX-License-Identifier: MIT
"""Registers routes and handles requests with them."""
