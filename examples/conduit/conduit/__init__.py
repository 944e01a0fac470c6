# SPDX-License-Identifier: MIT
"""Conduit: a blogging API, as the RealWorld project specifies it."""
