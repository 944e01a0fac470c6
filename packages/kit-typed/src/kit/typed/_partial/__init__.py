# SPDX-License-Identifier: MIT
"""The changes in the body of a PATCH request."""
