# SPDX-License-Identifier: MIT
"""Combines middleware: some part, every part, or all requests except some."""

from ._except import except_
from ._parts import Condition, UnmetConditionError
from ._some_every import every, some

__all__ = ("Condition", "UnmetConditionError", "every", "except_", "some")

UnmetConditionError.__module__ = __name__  # shown as it is imported
