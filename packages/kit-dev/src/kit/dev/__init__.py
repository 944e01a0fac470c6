# SPDX-License-Identifier: MIT
"""What helps to develop an app: its routes, shown or listed, and how it is found by name.

The `kit` command is in `kit.dev.cli`; this module needs nothing that the command needs.
"""

from ._errors import AppError
from ._inspection import RouteData, get_router_name, inspect_routes
from ._loading import default_app, load_app
from ._table import show_routes

__all__ = (
    "AppError",
    "RouteData",
    "default_app",
    "get_router_name",
    "inspect_routes",
    "load_app",
    "show_routes",
)

# Names are shown as they are imported.
for _name in __all__:
    globals()[_name].__module__ = __name__
