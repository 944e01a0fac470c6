# SPDX-License-Identifier: MIT
"""The context of the current request, for functions that aren't passed it."""

from ._context_storage import context_storage, get_context, path_to, try_get_context

__all__ = ("context_storage", "get_context", "path_to", "try_get_context")
