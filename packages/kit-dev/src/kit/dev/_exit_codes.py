# SPDX-License-Identifier: MIT
"""The exit codes of processes that serve an app."""

LOAD_FAILED = 1
LIFESPAN_FAILED = 3
