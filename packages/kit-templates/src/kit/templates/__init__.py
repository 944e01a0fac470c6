# SPDX-License-Identifier: MIT
"""Middleware that renders HTML pages from Jinja templates."""

from ._factory import layout, templates
from ._templates import ContextFunction, Templates

__all__ = ("ContextFunction", "Templates", "layout", "templates")
