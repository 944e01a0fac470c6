# SPDX-License-Identifier: MIT
"""Registering routes and answering by them."""
