# SPDX-License-Identifier: MIT
"""HTTP standards for any program that uses HTTP: fields, media types, conditions, origins.

No function uses Kit objects: they take and return text, numbers and plain callables.
"""
