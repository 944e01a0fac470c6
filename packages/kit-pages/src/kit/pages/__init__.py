# SPDX-License-Identifier: MIT
"""Pages of results for the Kit web framework: cursors, filters, sorts and Link headers."""

from ._filters import Filter
from ._lists import paginate
from ._requests import (
    CursorPages,
    NumberedPageRequest,
    NumberedPages,
    PageRequest,
    cursor_pages,
    numbered_pages,
)
from ._results import NumberedPage, Page

__all__ = (
    "CursorPages",
    "Filter",
    "NumberedPage",
    "NumberedPageRequest",
    "NumberedPages",
    "Page",
    "PageRequest",
    "cursor_pages",
    "numbered_pages",
    "paginate",
)

# Public classes show the module that users import them from.
for _class in (CursorPages, Filter, NumberedPageRequest, NumberedPages, PageRequest):
    _class.__module__ = __name__
