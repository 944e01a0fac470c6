# SPDX-License-Identifier: MIT
"""The parts of a request: where values come from, and their documentation."""
