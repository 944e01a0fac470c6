# SPDX-License-Identifier: MIT
"""The public surface of kit.interface, and that importing it is cheap."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from types import FunctionType
from unittest.mock import Mock

import pytest

import kit.interface
from kit import Request, Response
from kit.interface import RouterRoute, is_cacheable, is_response

# What third parties build on: a change here is a decision about a public standard.
NAMES = {
    "kit.interface": (
        "METHOD_NAME_ALL",
        "AnyContext",
        "App",
        "AsyncMiddleware",
        "Blob",
        "BodyProgress",
        "Cleanup",
        "ClientDisconnectedError",
        "Codecs",
        "Context",
        "ErrorHandler",
        "ExecutionContext",
        "FieldError",
        "File",
        "FormData",
        "HTTPException",
        "Handler",
        "HandlerError",
        "HandlerResult",
        "Headers",
        "KitError",
        "KitRequest",
        "Middleware",
        "MissingBindingError",
        "Next",
        "ParamIndexMap",
        "ParamStash",
        "Params",
        "PathBody",
        "Problem",
        "ProblemError",
        "Request",
        "RequestValidationError",
        "Response",
        "Result",
        "Router",
        "RouterClosedError",
        "RouterRoute",
        "UnsupportedPathError",
        "ValidationProblem",
        "ValidationTarget",
        "is_cacheable",
        "is_response",
        "plugins",
    ),
    "kit.interface.generics": ("TypeVar", "fill_arguments"),
    "kit.interface.hooks": ("Bindable", "BindableWebSocket"),
    "kit.interface.metadata": (
        "Facts",
        "Scheme",
        "attach",
        "combine_security",
        "get_facts",
        "get_return_type",
        "merge_descriptions",
    ),
    "kit.interface.plugins": (
        "InstalledPlugin",
        "PluginConflictError",
        "PluginError",
        "PluginLoadError",
        "PluginNotFoundError",
        "installed",
        "load",
    ),
    "kit.interface.websocket": (
        "CloseEvent",
        "ErrorEvent",
        "MessageEvent",
        "OnClose",
        "OnError",
        "OnMessage",
        "OnOpen",
        "OpenEvent",
        "ReadyState",
        "WSEvents",
        "WebSocket",
        "WebSocketDisconnectedError",
        "check_close",
    ),
}


def test_public_names() -> None:
    folder = Path(kit.interface.__path__[0])
    modules = {f"kit.interface.{path.stem}" for path in folder.glob("[!_]*.py")}
    assert {"kit.interface", *modules} == set(NAMES)
    for name, names in NAMES.items():
        module = importlib.import_module(name)
        assert module.__all__ == names
        assert all(hasattr(module, each) for each in names)


def test_what_is_a_response() -> None:
    class Own:
        """One of another implementation, whose properties must not be read to tell."""

        @property
        def status(self) -> int:
            raise AssertionError("read")

        headers = body_used = status

    assert is_response(Response("x"))
    assert is_response(Own())
    for value in (None, "x", {"status": 200}, Request("http://localhost/"), Mock(), Response):
        assert not is_response(value)


def test_route_compares_by_value() -> None:
    def handler() -> None: ...

    route = RouterRoute("/", "/a", "GET", handler, takes_next=False)
    assert route == RouterRoute("/", "/a", "GET", handler, takes_next=False)
    assert hash(route) == hash(RouterRoute("/", "/a", "GET", handler, takes_next=False))
    assert route != RouterRoute("/", "/b", "GET", handler, takes_next=False)
    assert route != "/a"
    assert repr(route).startswith("RouterRoute(base_path='/', path='/a', method='GET', handler=<f")


@pytest.mark.parametrize("module", NAMES)
def test_import_is_cheap_and_asks_for_nothing_but_typing_extensions(module: str) -> None:
    """The package's files are run without kit-core, whose import of its own is not looked at."""
    folder = kit.interface.__path__[0]
    code = f"""
import sys, types
kit = types.ModuleType("kit")
kit.__path__ = [{folder!r} + "/.."]
sys.modules["kit"] = kit
before = set(sys.modules)
import {module}
new = set(sys.modules) - before
roots = {{name.partition(".")[0] for name in new}}
print(sorted(roots - sys.stdlib_module_names - {{"kit", "typing_extensions"}}))
heavy = {{"asyncio", "dataclasses", "importlib.metadata", "json", "logging"}}
if sys.version_info >= (3, 13):  # typing_extensions imports it
    heavy.add("inspect")
print(sorted(new & heavy))
"""
    output = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert output.splitlines() == ["[]", "[]"]


def test_public_names_have_docstrings() -> None:
    for name in NAMES:
        module = importlib.import_module(name)
        for public in module.__all__:
            value = getattr(module, public)
            if isinstance(value, (type, FunctionType)):
                assert value.__doc__, f"{name}.{public}"


class _Router:
    cacheable = True

    def match(self) -> None:
        """Finds nothing."""


class _Subclass(_Router):
    def add(self) -> None:
        """Has the `match` of a cacheable router."""


class _OtherMatch(_Subclass):
    def match(self) -> None:
        """May be anything."""


class _PureAgain(_OtherMatch):
    cacheable = True

    def match(self) -> None:
        """Is cacheable, too."""


class _Deciding(_Router):
    def __init__(self, decision: object) -> None:
        self._decision = decision

    @property
    def cacheable(self) -> object:  # type: ignore[override]
        return self._decision

    def match(self) -> None:
        """Is as cacheable as it says."""


class _MatchOfItsOwn(_Router):
    def __init__(self) -> None:
        self.match = super().match  # type: ignore[method-assign]


class _PureMatchOfItsOwn(_MatchOfItsOwn):
    def __init__(self) -> None:
        super().__init__()
        self.cacheable = True


def test_which_routers_are_pure() -> None:
    assert [is_cacheable(cls()) for cls in (_Router, _Subclass, _PureAgain)] == [True] * 3
    assert is_cacheable(_Deciding(True))
    assert is_cacheable(_PureMatchOfItsOwn())
    for router in (_OtherMatch(), _MatchOfItsOwn(), _Deciding(False), _Deciding("yes"), object()):
        assert not is_cacheable(router)
