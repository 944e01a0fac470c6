# SPDX-License-Identifier: MIT
"""HTTP by its standards, for any program that speaks it: fields, media types, conditions, origins.

Nothing in it is of Kit: the functions take and return text, numbers and plain callables.
"""
