# SPDX-License-Identifier: MIT
"""How the body and the fields of a request are read."""
