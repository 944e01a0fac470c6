# SPDX-License-Identifier: MIT
"""Importing the tools for authors is cheap, and needs no other library."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path
from types import FunctionType

import pytest

import kit.authoring

FOLDER = Path(kit.authoring.__path__[0])
MODULES = sorted(f"kit.authoring.{path.stem}" for path in FOLDER.glob("[!_]*.py"))
# Those that apps import when they start.
AT_STARTUP = (
    "caller_frame",
    "fork_safety",
    "maybe_await",
    "models",
    "options",
    "route_hooks",
    "signatures",
)


@pytest.mark.parametrize("module", MODULES)
def test_import_needs_no_other_library(module: str) -> None:
    code = f"""
import sys
import kit
before = set(sys.modules)
import {module}
new = set(sys.modules) - before
print(sorted({{name.partition(".")[0] for name in new}} - sys.stdlib_module_names - {{"kit"}}))
if {module!r}.rpartition(".")[2] in {AT_STARTUP!r}:
    print(sorted(new & {{"asyncio", "dataclasses", "inspect", "json", "logging"}}))
"""
    output = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert set(output.splitlines()) == {"[]"}


@pytest.mark.parametrize("module", [*MODULES, "kit.conninfo"])
def test_public_names_have_docstrings(module: str) -> None:
    found = importlib.import_module(module)
    for public in found.__all__:
        value = getattr(found, public)
        if isinstance(value, (type, FunctionType)):
            assert value.__doc__, public
