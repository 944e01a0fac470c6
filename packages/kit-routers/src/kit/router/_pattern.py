# SPDX-License-Identifier: MIT
"""The former place of `kit.interface.patterns`."""

from kit.interface.patterns import compile_expression, parse_parameter, split_pattern

__all__ = ("compile_expression", "parse_parameter", "split_pattern")
