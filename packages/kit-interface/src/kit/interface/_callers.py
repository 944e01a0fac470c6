# SPDX-License-Identifier: MIT
"""The former place of `kit.interface.callers`."""

from .callers import calling_frame

__all__ = ("calling_frame",)
