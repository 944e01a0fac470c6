# SPDX-License-Identifier: MIT
"""Registers handlers and mounted applications, and checks them."""
