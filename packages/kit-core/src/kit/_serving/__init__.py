# SPDX-License-Identifier: MIT
"""Runs the app under an ASGI server."""
