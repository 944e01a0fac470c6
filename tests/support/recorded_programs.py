# SPDX-License-Identifier: MIT
"""Recorded programs behind one ASGI entry; the header `x-kit-program` tells which is meant.

The header is taken off before the program sees the request. What the runner passes as `env` comes
from a lifespan here.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent.parent / "conformance"


def load(name: str) -> Any:
    """Loads a module of the conformance folder."""
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@asynccontextmanager
async def bindings(app: Any) -> AsyncIterator[dict[str, str]]:
    """The lifespan of every program."""
    yield {"ENV": "e1"}


class Programs:
    """Builds each program when it is first asked for.

    Args:
        runner: The runner of the programs, whose `build` makes an app.
        cases: The file of the programs.
    """

    def __init__(self, runner: str, cases: str) -> None:
        self.runner = load(runner)
        programs = load("compare").read_lines(HERE / cases)
        self.programs = {program["id"]: program["app"] for program in programs}
        self.apps: dict[str, Any] = {}
        self.running: list[Any] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serves one request by the program that it names."""
        if scope["type"] == "lifespan":
            for kind in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{kind}.complete"})
            return
        headers = [(name, value) for name, value in scope["headers"] if name != b"x-kit-program"]
        [name] = [value for name, value in scope["headers"] if name == b"x-kit-program"]
        app = await self.app(name.decode())
        await app({**scope, "headers": headers}, receive, send)

    async def app(self, name: str) -> Any:
        """Returns the app of a program, with its lifespan running."""
        app = self.apps.get(name)
        if app is None:
            app = self.runner.build(self.programs[name])
            # Never left: it ends with the process.
            self.running.append(app.running())
            await self.running[-1].__aenter__()
            self.apps[name] = app
        return app
