# SPDX-License-Identifier: MIT
"""The responses that the methods of the context build, and how they replace each other."""
