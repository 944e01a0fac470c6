# SPDX-License-Identifier: MIT
"""The book club."""
