# SPDX-License-Identifier: MIT
"""The public surface of kit.interface, and that importing it is cheap."""

from __future__ import annotations

import subprocess
import sys

import kit.interface
from kit.interface import RouterRoute


def test_names() -> None:
    assert kit.interface.__all__ == (
        "METHOD_NAME_ALL",
        "Context",
        "ErrorHandler",
        "ExecutionContext",
        "HTTPException",
        "Handler",
        "HandlerResult",
        "Headers",
        "KitError",
        "KitRequest",
        "Middleware",
        "Next",
        "ParamIndexMap",
        "ParamStash",
        "Params",
        "Request",
        "Response",
        "Result",
        "Router",
        "RouterClosedError",
        "RouterRoute",
        "UnsupportedPathError",
        "ValidationTarget",
        "plugins",
        "supports_color",
    )
    assert all(hasattr(kit.interface, name) for name in kit.interface.__all__)


def test_route_compares_by_value() -> None:
    def handler() -> None: ...

    route = RouterRoute("/", "/a", "GET", handler)
    assert route == RouterRoute("/", "/a", "GET", handler)
    assert hash(route) == hash(RouterRoute("/", "/a", "GET", handler))
    assert route != RouterRoute("/", "/b", "GET", handler)
    assert route != "/a"
    assert repr(route).startswith("RouterRoute(base_path='/', path='/a', method='GET', handler=<f")


def test_import_asks_for_nothing_but_typing_extensions() -> None:
    """The package's files are run without kit-core, whose import of its own is not looked at."""
    folder = kit.interface.__path__[0]
    code = f"""
import sys, types
kit = types.ModuleType("kit")
kit.__path__ = [{folder!r} + "/.."]
sys.modules["kit"] = kit
before = set(sys.modules)
import kit.interface
new = {{name.partition(".")[0] for name in set(sys.modules) - before}}
print(sorted(new - sys.stdlib_module_names - {{"kit", "typing_extensions"}}))
print("importlib.metadata" in sys.modules)
"""
    output = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert output.splitlines() == ["[]", "False"]
