# SPDX-License-Identifier: MIT
"""HTML pages from Jinja templates as middleware for the Kit web framework."""

from ._middleware import layout, templates
from ._templates import ContextFunction, Templates

__all__ = ("ContextFunction", "Templates", "layout", "templates")
