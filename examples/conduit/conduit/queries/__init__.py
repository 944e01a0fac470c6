# SPDX-License-Identifier: MIT
"""The SQL. A list takes a fixed number of statements, however long it is."""
