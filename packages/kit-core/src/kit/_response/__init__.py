# SPDX-License-Identifier: MIT
"""Builds the responses of `c.text`, `c.json` and the other context methods."""
