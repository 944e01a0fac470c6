# SPDX-License-Identifier: MIT
"""Finds the routes and error handlers for a request, and holds the settings of an app."""
