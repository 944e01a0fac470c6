# SPDX-License-Identifier: MIT
"""The same app, written for each framework the way its documentation shows, and without extras.

Each module has functions, which make ASGI apps:

- `rows_app()`: the routes of `rows.py`.
- `middleware_app(count)`: the text route behind so many middleware that pass everything through.
- `table_app(paths)`: a route for each path, at most one parameter `:id` in it.
- `more_app()`: routes of further rows, which would make the table of `rows_app` longer.
- `validated_app()`: a route with a typed model, in and out.
- `nested_app()`: a route with a parameter, in an app within an app within an app.

Handlers are async functions wherever a framework takes both kinds. JSON is orjson's where a
framework documents how to use it, and its own where it does not.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType
from typing import Any

from ..rows import AppKey, table_paths

APP_VARIABLE = "KIT_BENCHMARKS_APP"
RAW, KIT = "raw", "kit"
_LARGE_BYTES = 31 << 20

NEEDED: dict[str, tuple[str, ...]] = {
    RAW: ("msgspec", "multipart"),
    KIT: ("kit-core",),
    "starlette": ("starlette", "orjson", "python-multipart"),
    "fastapi": ("fastapi", "python-multipart"),
    "litestar": ("litestar",),
    "falcon": ("falcon", "orjson"),
    "blacksheep": ("blacksheep", "orjson"),
    "sanic": ("sanic", "orjson"),
    "quart": ("quart", "orjson"),
    "muffin": ("muffin", "orjson"),
}
"""Distributions of each peer, its own first; peers in the order of the columns."""

WAITING_FOR_END = ("quart",)
"""Peers that wait in all rows until they are told that the response is complete; from 0.23 on."""
_NO_MODELS = "validates JSON with another package"
WITHOUT: dict[str, dict[str, str]] = {
    "validated JSON, new values": dict.fromkeys(
        ("starlette", "sanic", "quart", "muffin"), _NO_MODELS
    ),
    "405, new values": {"blacksheep": "responds with 404"},
    "nested, new values": {
        "falcon": "has no apps within apps",
        "blacksheep": "doesn't find an app within a mounted app",
    },
}
"""By row, the peers that don't have what it measures, and why."""


def load(name: str) -> ModuleType:
    """Imports a peer.

    Raises:
        ImportError: If its framework is not installed.
    """
    return import_module(f"{__name__}.{name}")


def make(name: str, app: AppKey) -> Any:
    """Makes an app of a peer."""
    function, count = app
    argument = table_paths(count) if function == "table_app" else count
    return getattr(load(name), function)(argument)


def settle_allocator() -> None:
    """Allocates a lot, and frees it.

    glibc gives large blocks back to the system at once, until it has seen a larger one; the same
    upload takes several times as long before that, and when it comes is chance.
    """
    bytes(_LARGE_BYTES)


def app_of_environment() -> Any:
    """Makes the app that `$KIT_BENCHMARKS_APP` names, for a server: peer, function and argument."""
    settle_allocator()
    name, function, count = os.environ[APP_VARIABLE].split()
    return make(name, (function, int(count)))


def versions(names: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Which peers are installed, with their versions, and which are not, with the reason."""
    installed: dict[str, str] = {}
    missing: dict[str, str] = {}
    for name in names:
        try:
            found = [version(distribution) for distribution in NEEDED[name]]
        except PackageNotFoundError as error:
            missing[name] = f"{error.name} is not installed"
        else:
            installed[name] = "" if name == RAW else found[0]
    return installed, missing


def write_parameters(path: str, before: str, after: str) -> str:
    """Writes `:id` in a path as a framework does, e.g. as `{id}`."""
    return re.sub(r":(\w+)", rf"{before}\1{after}", path)
