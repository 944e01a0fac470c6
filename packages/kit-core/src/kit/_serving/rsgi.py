# SPDX-License-Identifier: MIT
"""Finds kit-rsgi, which serves apps through RSGI."""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def import_rsgi() -> Any:
    """Imports `kit.rsgi` when a server needs it.

    Raises:
        ModuleNotFoundError: If kit-rsgi is not installed.
    """
    try:
        import kit.rsgi
    except ModuleNotFoundError as error:
        if error.name != "kit.rsgi":
            raise
        raise ModuleNotFoundError(
            "Serving by RSGI, the default of granian, needs kit-rsgi: pip install kit-rsgi. "
            "Or serve by ASGI: granian --interface asgi",
            name=error.name,
        ) from None
    return kit.rsgi
