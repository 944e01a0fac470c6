# SPDX-License-Identifier: MIT
"""Measures Kit beside its peers; `python -m benchmarks` runs all of it."""
