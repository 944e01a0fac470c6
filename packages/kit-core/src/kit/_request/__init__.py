# SPDX-License-Identifier: MIT
"""Reads the body and the fields of a request."""
