# SPDX-License-Identifier: MIT
"""Forms: reading and writing them, in memory and on disk."""
