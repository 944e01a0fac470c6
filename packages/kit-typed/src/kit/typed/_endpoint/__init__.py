# SPDX-License-Identifier: MIT
"""Endpoints and guards: what their values come from, and how they are run."""
