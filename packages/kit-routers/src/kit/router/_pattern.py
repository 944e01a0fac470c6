# SPDX-License-Identifier: MIT
"""Re-exports `kit.interface.patterns` under its former name."""

from kit.interface.patterns import compile_expression, parse_parameter, split_pattern

__all__ = ("compile_expression", "parse_parameter", "split_pattern")
