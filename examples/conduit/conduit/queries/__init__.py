# SPDX-License-Identifier: MIT
"""The SQL. Lists take a fixed number of statements, however long they are."""
