# SPDX-License-Identifier: MIT
"""Request logging as middleware: two lines per request, or one structured line."""

from ._access_log import access_log
from ._logger import logger

__all__ = ("access_log", "logger")
